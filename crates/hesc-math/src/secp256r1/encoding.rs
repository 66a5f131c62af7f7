//! Affine points: their encodings and comparisons.

use super::field::{self, Element, LIMBS};
use super::point::{B, FixedBase, ONE, POINT_OCTETS, add, load, neutral};
use crate::lanes::{Kernel, LANES, Lanes, Octet, dispatch, mask_to_bits};
use crate::wide::{be_from_limbs, limbs_from_be};

/// Bytes of a point: compressed as in SEC 1, section 2.3.3, but the neutral one is zeros.
pub const ENCODED_BYTES: usize = 33;
const COORDINATE: usize = 32;
/// Octets of eight affine points.
const AFFINE: usize = 2 * LIMBS;

/// `R^2` modulo the prime.
const RADIX_SQUARED: [u64; LIMBS] =
    [0x0000000000300, 0xffffffff00000, 0xffffefffffffb, 0xfdfffffffffff, 0x0000004ffffff];
const ZERO: [u64; LIMBS] = [0; LIMBS];
/// Once, not in Montgomery's form.
const UNIT: [u64; LIMBS] = [1, 0, 0, 0, 0];

/// Affine coordinates, reduced and in Montgomery's form, of all points with one inversion: the
/// neutral point becomes (0, 0), which is on no curve.
struct ToAffine<'a> {
    out: &'a mut [Octet],
    points: &'a [Octet],
    /// Room for a coordinate of each group.
    products: &'a mut [Octet],
}

impl Kernel for ToAffine<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (one, zero) = (field::splat(l, &ONE), field::splat(l, &ZERO));
        let mut product = one;
        let points = self.points.chunks_exact(POINT_OCTETS);
        for (point, before) in points.clone().zip(self.products.chunks_exact_mut(LIMBS)) {
            field::store(l, before, &product);
            let z = field::reduce(l, &load(l, point).z);
            let z = field::select(l, field::equal(l, &z, &zero), &z, &one);
            product = field::mul(l, &product, &z);
        }
        let mut inverse = field::invert(l, &product);
        let outs = self.out.chunks_exact_mut(AFFINE).rev();
        let before = self.products.chunks_exact(LIMBS).rev();
        for ((out, point), before) in outs.zip(points.rev()).zip(before) {
            let point = load(l, point);
            let z = field::reduce(l, &point.z);
            let none = field::equal(l, &z, &zero);
            let z = field::select(l, none, &z, &one);
            let inverted = field::mul(l, &inverse, &field::load(l, before));
            inverse = field::mul(l, &inverse, &z);
            let x = field::reduce(l, &field::mul(l, &point.x, &inverted));
            let y = field::reduce(l, &field::mul(l, &point.y, &inverted));
            field::store(l, out, &field::select(l, none, &x, &zero));
            field::store(l, &mut out[LIMBS..], &field::select(l, none, &y, &zero));
        }
    }
}

fn to_affine(points: &[Octet]) -> Vec<Octet> {
    let groups = points.len() / POINT_OCTETS;
    let mut out = vec![Octet::ZERO; groups * AFFINE];
    dispatch(ToAffine { out: &mut out, points, products: &mut vec![Octet::ZERO; groups * LIMBS] });
    out
}

/// Out of Montgomery's form, below the prime.
struct FromMontgomery<'a>(&'a mut [Octet]);

impl Kernel for FromMontgomery<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let unit = field::splat(l, &UNIT);
        for x in self.0.chunks_exact_mut(LIMBS) {
            let value = field::mul(l, &field::load(l, x), &unit);
            field::store(l, x, &field::reduce(l, &value));
        }
    }
}

/// The encodings of whole groups.
pub fn encode(points: &[Octet]) -> Vec<u8> {
    let mut affine = to_affine(points);
    dispatch(FromMontgomery(&mut affine));
    let mut bytes = Vec::with_capacity(points.len() / POINT_OCTETS * LANES * ENCODED_BYTES);
    for group in affine.chunks_exact(AFFINE) {
        for lane in 0..LANES {
            let (x, y) = group.split_at(LIMBS);
            let neutral = group.iter().all(|limb| limb.0[lane] == 0);
            bytes.push(if neutral { 0 } else { 2 + (y[0].0[lane] & 1) as u8 });
            let start = bytes.len();
            bytes.resize(start + COORDINATE, 0);
            be_from_limbs(
                &mut bytes[start..],
                &std::array::from_fn::<_, LIMBS, _>(|i| x[i].0[lane]),
            );
        }
    }
    bytes
}

/// `y` of each `x`, both in Montgomery's form, odd where the bit of `odd` is set; the bits of the
/// result say whose `x` is below the prime and on the curve.
struct Decompress<'a> {
    /// `x` as read; becomes the point.
    point: &'a mut [Octet],
    odd: &'a Octet,
}

impl Kernel for Decompress<'_> {
    type Output = u8;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> u8 {
        let read = field::load(l, self.point);
        let in_range = field::equal(l, &field::reduce(l, &read), &read);
        let x = field::mul(l, &read, &field::splat(l, &RADIX_SQUARED));
        let cube = field::mul(l, &field::mul(l, &x, &x), &x);
        let thrice = field::add(l, &field::add(l, &x, &x), &x);
        let right = field::add(l, &field::sub(l, &cube, &thrice), &field::splat(l, &B));
        let right = field::reduce(l, &right);
        let y = field::square_root(l, &right);
        let square = field::reduce(l, &field::mul(l, &y, &y));
        let on_curve = field::equal(l, &square, &right);
        let plain = field::reduce(l, &field::mul(l, &y, &field::splat(l, &UNIT)));
        // The order is odd: no point has y = 0.
        let same = l.equal(l.and(plain.0[0], l.splat(1)), l.load(self.odd));
        let negative = field::sub(l, &field::splat(l, &ZERO), &y);
        field::store(l, self.point, &x);
        field::store(l, &mut self.point[LIMBS..], &field::select(l, same, &negative, &y));
        field::store(l, &mut self.point[2 * LIMBS..], &field::splat(l, &ONE));
        mask_to_bits(l, l.both(in_range, on_curve))
    }
}

/// Eight points as far as they can be read, and which are. The points are public.
fn read_group(group: &mut [Octet], encodings: &[u8]) -> u8 {
    let (mut odd, mut neutrals, mut malformed) = (Octet::ZERO, 0u8, 0u8);
    for (lane, encoding) in encodings.chunks_exact(ENCODED_BYTES).enumerate() {
        let (tag, x) = (encoding[0], &encoding[1..]);
        match tag {
            0 if x.iter().all(|&byte| byte == 0) => neutrals |= 1 << lane,
            2 | 3 => odd.0[lane] = u64::from(tag & 1),
            _ => malformed |= 1 << lane,
        }
        for (octet, limb) in group.iter_mut().zip(limbs_from_be(x, LIMBS)) {
            octet.0[lane] = limb;
        }
    }
    let valid = dispatch(Decompress { point: group, odd: &odd });
    // Where the bit is not set, the neutral point is.
    super::keep_where(group, &[!neutrals]);
    (valid | neutrals) & !malformed
}

/// Reads whole groups; `None` unless each is the one encoding of a point. The points are public.
pub fn decode(bytes: &[u8]) -> Option<Vec<Octet>> {
    const GROUP: usize = LANES * ENCODED_BYTES;
    assert!(bytes.len().is_multiple_of(GROUP), "whole groups");
    let mut points = neutral(bytes.len() / GROUP);
    let groups = points.chunks_exact_mut(POINT_OCTETS).zip(bytes.chunks_exact(GROUP));
    for (group, encodings) in groups {
        if read_group(group, encodings) != u8::MAX {
            return None;
        }
    }
    Some(points)
}

/// Which of eight encodings are points.
pub fn on_curve(encodings: &[u8; LANES * ENCODED_BYTES]) -> [bool; LANES] {
    let valid = read_group(&mut neutral(1), encodings);
    std::array::from_fn(|lane| valid >> lane & 1 == 1)
}

/// The first multiples of the generator, for the search of small logarithms.
pub struct Multiples {
    /// Affine: x, y; (0, 0) for none.
    affine: Vec<[u64; AFFINE]>,
}

impl Multiples {
    /// The multiples from 0 to `max`.
    pub fn new(max: u64) -> Self {
        let groups = (max as usize + 1).div_ceil(LANES);
        let mut points = Vec::with_capacity(groups * POINT_OCTETS);
        let mut digits = vec![Octet::ZERO; super::WINDOWS];
        for lane in 0..LANES {
            digits[0].0[lane] = lane as u64;
        }
        // 0 to 7, and then eight more each time.
        let mut group = FixedBase::generator().multiples(&digits);
        digits[0] = Octet([LANES as u64; LANES]);
        let eight = FixedBase::generator().multiples(&digits);
        for _ in 0..groups {
            points.extend_from_slice(&group);
            let this = group.clone();
            add(&mut group, &this, &eight);
        }
        let affine = to_affine(&points);
        let multiple = |m: usize| {
            let group = &affine[m / LANES * AFFINE..];
            std::array::from_fn(|i| group[i].0[m % LANES])
        };
        Self { affine: (0..=max as usize).map(multiple).collect() }
    }

    /// No multiple but zero times the generator.
    pub fn none() -> Self {
        Self { affine: vec![[0; AFFINE]] }
    }

    /// `m <= bound` with `a - b = m G` for each point, and a byte for each group whose bits say where
    /// there is one. Looks at every candidate.
    pub fn logarithms(&self, a: &[Octet], b: &[Octet], bound: u64) -> (Vec<u32>, Vec<u8>) {
        assert_eq!(a.len(), b.len(), "batches have the same size");
        let mut negative = b.to_vec();
        dispatch(Negate(&mut negative));
        let mut difference = neutral(a.len() / POINT_OCTETS);
        add(&mut difference, a, &negative);
        let affine = to_affine(&difference);
        let groups = a.len() / POINT_OCTETS;
        let (mut counts, mut found) = (vec![Octet::ZERO; groups], vec![0; groups]);
        dispatch(Find {
            counts: &mut counts,
            found: &mut found,
            affine: &affine,
            candidates: &self.affine[..=bound as usize],
        });
        (counts.iter().flat_map(|octet| octet.0.map(|m| m as u32)).collect(), found)
    }
}

struct Negate<'a>(&'a mut [Octet]);

impl Kernel for Negate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        for point in self.0.chunks_exact_mut(POINT_OCTETS) {
            let y = &mut point[LIMBS..2 * LIMBS];
            let negative = field::sub(l, &field::splat(l, &ZERO), &field::load(l, y));
            field::store(l, y, &negative);
        }
    }
}

struct Find<'a> {
    counts: &'a mut [Octet],
    found: &'a mut [u8],
    affine: &'a [Octet],
    candidates: &'a [[u64; AFFINE]],
}

impl Kernel for Find<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let groups = self.affine.chunks_exact(AFFINE).zip(self.counts).zip(self.found);
        for ((point, counts), found) in groups {
            let x: Element<L::Vector> = field::load(l, point);
            let y = field::load(l, &point[LIMBS..]);
            let (mut count, mut hits) = (l.zero(), l.zero());
            for (m, candidate) in self.candidates.iter().enumerate() {
                let mut different = l.zero();
                for i in 0..LIMBS {
                    let (p, q) = (l.splat(candidate[i]), l.splat(candidate[LIMBS + i]));
                    different = l.or(different, l.xor(x.0[i], p));
                    different = l.or(different, l.xor(y.0[i], q));
                }
                let hit = l.equal(different, l.zero());
                count = l.select(hit, count, l.splat(m as u64));
                hits = l.select(hit, hits, l.splat(1));
            }
            l.store(counts, count);
            *found = mask_to_bits(l, l.test(hits, hits));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_consistent() {
        // R^2 R^-1 = R, which is one in Montgomery's form; the generator is on the curve.
        let mut radix: Vec<Octet> = RADIX_SQUARED.iter().map(|&x| Octet([x; LANES])).collect();
        dispatch(FromMontgomery(&mut radix));
        assert!(radix.iter().zip(ONE).all(|(limb, one)| limb.0 == [one; LANES]));
        let mut digits = vec![Octet::ZERO; super::super::WINDOWS];
        digits[0] = Octet([1; LANES]);
        assert!(decode(&encode(&FixedBase::generator().multiples(&digits))).is_some());
    }
}
