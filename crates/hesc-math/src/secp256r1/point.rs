//! Projective points with the complete formulas of J. Renes, C. Costello and L. Batina, *Complete
//! addition formulas for prime order elliptic curves* (Eurocrypt 2016), for `a = -3`.

use std::sync::OnceLock;

use zeroize::Zeroizing;

use super::WINDOWS;
use super::field::{self, Element, LIMBS};
use crate::lanes::{Kernel, LANE_BITS, LANES, Lanes, Octet, dispatch, replace_where};
use crate::wide::WINDOW_BITS;

/// Octets of eight points: three coordinates.
pub const POINT_OCTETS: usize = 3 * LIMBS;
const ENTRIES: usize = 1 << WINDOW_BITS;

/// The curve's constant and its generator, `R` times (SEC 2, section 2.4.2).
pub(super) const B: [u64; LIMBS] =
    [0xdf6229c4bddfd, 0xca8843090d89c, 0x212ed6acf005c, 0x83415a220abf7, 0x0c30061dd4874];
pub(super) const ONE: [u64; LIMBS] =
    [0x0000000000010, 0xf000000000000, 0xfffffffffffff, 0xffeffffffffff, 0x00000000fffff];
const GENERATOR: [[u64; LIMBS]; 3] = [
    [0x30d418a9143c1, 0xc4fedb60179e7, 0x62251075ba95f, 0x5c669fb732b77, 0x08905f76b5375],
    [0x5357ce95560a8, 0x43a19e45cddf2, 0x21f3258b4ab8e, 0xd8552e88688dd, 0x0571ff18a5885],
    ONE,
];
const NEUTRAL: [[u64; LIMBS]; 3] = [[0; LIMBS], ONE, [0; LIMBS]];

/// Eight points `(X : Y : Z)`.
#[derive(Clone, Copy)]
pub(super) struct Point<V> {
    pub x: Element<V>,
    pub y: Element<V>,
    pub z: Element<V>,
}

#[inline(always)]
pub(super) fn load<L: Lanes>(l: L, a: &[Octet]) -> Point<L::Vector> {
    Point {
        x: field::load(l, a),
        y: field::load(l, &a[LIMBS..]),
        z: field::load(l, &a[2 * LIMBS..]),
    }
}

#[inline(always)]
fn store<L: Lanes>(l: L, out: &mut [Octet], a: &Point<L::Vector>) {
    field::store(l, out, &a.x);
    field::store(l, &mut out[LIMBS..], &a.y);
    field::store(l, &mut out[2 * LIMBS..], &a.z);
}

#[inline(always)]
fn splat<L: Lanes>(l: L, a: &[[u64; LIMBS]; 3]) -> Point<L::Vector> {
    Point { x: field::splat(l, &a[0]), y: field::splat(l, &a[1]), z: field::splat(l, &a[2]) }
}

#[inline(always)]
fn select<L: Lanes>(
    l: L,
    mask: L::Mask,
    a: &Point<L::Vector>,
    b: &Point<L::Vector>,
) -> Point<L::Vector> {
    Point {
        x: field::select(l, mask, &a.x, &b.x),
        y: field::select(l, mask, &a.y, &b.y),
        z: field::select(l, mask, &a.z, &b.z),
    }
}

/// `p + q`: algorithm 4, its registers kept.
#[inline(always)]
pub(super) fn sum<L: Lanes>(l: L, p: &Point<L::Vector>, q: &Point<L::Vector>) -> Point<L::Vector> {
    use field::{add, mul, sub};
    let b = field::splat(l, &B);
    let t0 = mul(l, &p.x, &q.x);
    let t1 = mul(l, &p.y, &q.y);
    let t2 = mul(l, &p.z, &q.z);
    // X1 Y2 + X2 Y1, Y1 Z2 + Y2 Z1, X1 Z2 + X2 Z1.
    let t3 = mul(l, &add(l, &p.x, &p.y), &add(l, &q.x, &q.y));
    let t3 = sub(l, &t3, &add(l, &t0, &t1));
    let t4 = mul(l, &add(l, &p.y, &p.z), &add(l, &q.y, &q.z));
    let t4 = sub(l, &t4, &add(l, &t1, &t2));
    let y3 = mul(l, &add(l, &p.x, &p.z), &add(l, &q.x, &q.z));
    let y3 = sub(l, &y3, &add(l, &t0, &t2));
    let x3 = sub(l, &y3, &mul(l, &b, &t2));
    let x3 = add(l, &add(l, &x3, &x3), &x3);
    let z3 = sub(l, &t1, &x3);
    let x3 = add(l, &t1, &x3);
    let t2 = add(l, &add(l, &t2, &t2), &t2);
    let y3 = sub(l, &sub(l, &mul(l, &b, &y3), &t2), &t0);
    let y3 = add(l, &add(l, &y3, &y3), &y3);
    let t0 = sub(l, &add(l, &add(l, &t0, &t0), &t0), &t2);
    Point {
        x: sub(l, &mul(l, &t3, &x3), &mul(l, &t4, &y3)),
        y: add(l, &mul(l, &x3, &z3), &mul(l, &t0, &y3)),
        z: add(l, &mul(l, &t4, &z3), &mul(l, &t3, &t0)),
    }
}

/// `2 p`: algorithm 6, its registers kept.
#[inline(always)]
fn double<L: Lanes>(l: L, p: &Point<L::Vector>) -> Point<L::Vector> {
    use field::{add, mul, sub};
    let b = field::splat(l, &B);
    let t0 = mul(l, &p.x, &p.x);
    let t1 = mul(l, &p.y, &p.y);
    let t2 = mul(l, &p.z, &p.z);
    let t3 = mul(l, &p.x, &p.y);
    let t3 = add(l, &t3, &t3);
    let z3 = mul(l, &p.x, &p.z);
    let z3 = add(l, &z3, &z3);
    let y3 = sub(l, &mul(l, &b, &t2), &z3);
    let y3 = add(l, &add(l, &y3, &y3), &y3);
    let x3 = mul(l, &sub(l, &t1, &y3), &t3);
    let y3 = mul(l, &sub(l, &t1, &y3), &add(l, &t1, &y3));
    let t2 = add(l, &add(l, &t2, &t2), &t2);
    let z3 = sub(l, &sub(l, &mul(l, &b, &z3), &t2), &t0);
    let z3 = add(l, &add(l, &z3, &z3), &z3);
    let t0 = sub(l, &add(l, &add(l, &t0, &t0), &t0), &t2);
    let y3 = add(l, &y3, &mul(l, &t0, &z3));
    let t0 = mul(l, &p.y, &p.z);
    let t0 = add(l, &t0, &t0);
    let x3 = sub(l, &x3, &mul(l, &t0, &z3));
    let z3 = mul(l, &t0, &t1);
    let z3 = add(l, &z3, &z3);
    Point { x: x3, y: y3, z: add(l, &z3, &z3) }
}

/// `groups` times eight neutral points.
pub fn neutral(groups: usize) -> Vec<Octet> {
    NEUTRAL
        .as_flattened()
        .iter()
        .map(|&limb| Octet([limb; LANES]))
        .collect::<Vec<_>>()
        .repeat(groups)
}

/// `out = a + b`, point by point.
pub fn add(out: &mut [Octet], a: &[Octet], b: &[Octet]) {
    assert!(out.len() == a.len() && a.len() == b.len(), "batches have the same size");
    dispatch(Add { out, a, b });
}

struct Add<'a> {
    out: &'a mut [Octet],
    a: &'a [Octet],
    b: &'a [Octet],
}

impl Kernel for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let pairs = self.a.chunks_exact(POINT_OCTETS).zip(self.b.chunks_exact(POINT_OCTETS));
        for (out, (a, b)) in self.out.chunks_exact_mut(POINT_OCTETS).zip(pairs) {
            store(l, out, &sum(l, &load(l, a), &load(l, b)));
        }
    }
}

/// `a += G` where the bit is set: bit `i` of `bits[g]` for point `i` of group `g`.
pub fn add_generator_where(a: &mut [Octet], bits: &[u8]) {
    assert_eq!(a.len(), bits.len() * POINT_OCTETS, "there is a byte for each group");
    dispatch(AddGeneratorWhere { a, bits });
}

struct AddGeneratorWhere<'a> {
    a: &'a mut [Octet],
    bits: &'a [u8],
}

impl Kernel for AddGeneratorWhere<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (neutral, generator) = (splat(l, &NEUTRAL), splat(l, &GENERATOR));
        for (a, &bits) in self.a.chunks_exact_mut(POINT_OCTETS).zip(self.bits) {
            let mask = l.test(l.splat(u64::from(bits)), l.load(&LANE_BITS));
            let point = select(l, mask, &neutral, &generator);
            store(l, a, &sum(l, &load(l, a), &point));
        }
    }
}

/// The neutral point where the bit is not set.
pub fn keep_where(a: &mut [Octet], keep: &[u8]) {
    assert_eq!(a.len(), keep.len() * POINT_OCTETS, "there is a byte for each group");
    let replaced: Vec<u8> = keep.iter().map(|keep| !keep).collect();
    replace_where(a, &neutral(1), &replaced);
}

/// Multiples of one point: a product is an addition for each window, and no doubling.
pub struct FixedBase {
    /// `digit 32^window P`: window, digit, coordinate, limb.
    table: Vec<u64>,
}

impl FixedBase {
    /// The table of the first point of a group; the point is public.
    pub fn new(point: &[Octet]) -> Self {
        assert_eq!(point.len(), POINT_OCTETS, "one group");
        let mut table = vec![0; WINDOWS * ENTRIES * POINT_OCTETS];
        dispatch(MakeTable { table: &mut table, point });
        Self { table }
    }

    /// The table of the generator, made once a process.
    pub fn generator() -> &'static Self {
        static TABLE: OnceLock<FixedBase> = OnceLock::new();
        TABLE.get_or_init(|| {
            let limbs = GENERATOR.as_flattened();
            Self::new(&limbs.iter().map(|&limb| Octet([limb; LANES])).collect::<Vec<_>>())
        })
    }

    /// The multiples by scalars in digits below 32, lowest window first, [`WINDOWS`] octets a
    /// group. Cost: an addition for each window.
    pub fn multiples(&self, digits: &[Octet]) -> Vec<Octet> {
        assert!(digits.len().is_multiple_of(WINDOWS), "digits for each window");
        let mut points = neutral(digits.len() / WINDOWS);
        dispatch(FixedMultiples { points: &mut points, digits, table: &self.table });
        points
    }
}

struct MakeTable<'a> {
    table: &'a mut [u64],
    point: &'a [Octet],
}

impl Kernel for MakeTable<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut octets = [Octet::ZERO; POINT_OCTETS];
        let mut base = load(l, self.point);
        for window in self.table.chunks_exact_mut(ENTRIES * POINT_OCTETS) {
            let mut multiple = splat(l, &NEUTRAL);
            for entry in window.chunks_exact_mut(POINT_OCTETS) {
                store(l, &mut octets, &multiple);
                for (limb, octet) in entry.iter_mut().zip(&octets) {
                    *limb = octet.0[0];
                }
                multiple = sum(l, &multiple, &base);
            }
            // After the last digit it is 32 times the base.
            base = multiple;
        }
    }
}

struct FixedMultiples<'a> {
    points: &'a mut [Octet],
    digits: &'a [Octet],
    table: &'a [u64],
}

impl Kernel for FixedMultiples<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        // Windows outside, groups inside: the window's entries stay in the cache.
        for (w, entries) in self.table.chunks_exact(ENTRIES * POINT_OCTETS).enumerate() {
            for (g, out) in self.points.chunks_exact_mut(POINT_OCTETS).enumerate() {
                let digits = l.load(&self.digits[g * WINDOWS + w]);
                let mut chosen = splat(l, &NEUTRAL);
                for (d, entry) in entries.chunks_exact(POINT_OCTETS).enumerate().skip(1) {
                    let mask = l.equal(digits, l.splat(d as u64));
                    for i in 0..LIMBS {
                        chosen.x.0[i] = l.select(mask, chosen.x.0[i], l.splat(entry[i]));
                        chosen.y.0[i] = l.select(mask, chosen.y.0[i], l.splat(entry[LIMBS + i]));
                        chosen.z.0[i] =
                            l.select(mask, chosen.z.0[i], l.splat(entry[2 * LIMBS + i]));
                    }
                }
                store(l, out, &sum(l, &load(l, out), &chosen));
            }
        }
    }
}

/// `a = scalar a` for each point and one secret scalar in its windows. Cost a point: five doublings
/// and an addition for each window, and 31 additions.
pub fn multiply(a: &mut [Octet], windows: &[u8]) {
    assert!(a.len().is_multiple_of(POINT_OCTETS), "a batch holds whole groups");
    let table = &mut Zeroizing::new(vec![Octet::ZERO; ENTRIES * POINT_OCTETS]);
    dispatch(Multiply { a, windows, table });
}

struct Multiply<'a> {
    a: &'a mut [Octet],
    windows: &'a [u8],
    table: &'a mut [Octet],
}

impl Kernel for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        for a in self.a.chunks_exact_mut(POINT_OCTETS) {
            let base = load(l, a);
            let mut multiple = splat(l, &NEUTRAL);
            for entry in self.table.chunks_exact_mut(POINT_OCTETS) {
                store(l, entry, &multiple);
                multiple = sum(l, &multiple, &base);
            }
            let mut result = splat(l, &NEUTRAL);
            for &window in self.windows.iter().rev() {
                for _ in 0..WINDOW_BITS {
                    result = double(l, &result);
                }
                let digit = l.splat(u64::from(window));
                let mut chosen = splat(l, &NEUTRAL);
                for (d, entry) in self.table.chunks_exact(POINT_OCTETS).enumerate().skip(1) {
                    let mask = l.equal(digit, l.splat(d as u64));
                    chosen = select(l, mask, &chosen, &load(l, entry));
                }
                result = sum(l, &result, &chosen);
            }
            store(l, a, &result);
        }
    }
}
