use rand_core::CryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::product::{self, ROWS, Reduction};
use crate::MathError;
use crate::lanes::{
    Kernel, LANE_BITS, LANES, LIMB_BITS, LIMB_MASK, Lanes, Octet, dispatch, mask_to_bits,
    replace_where,
};

/// An odd modulus `n` of 512 to 8192 bits.
///
/// Residues in a batch are below `2 n`; [`WideModulus::reduce_assign`] gives the one below `n`.
/// Products are Montgomery's, `a b R^-1` with `R = 2^(52 limbs)`. No `Debug`, wiped on drop: some
/// moduli are secret.
///
/// All methods on batches want whole groups: [`WideModulus::limbs`] octets for eight residues.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct WideModulus {
    limbs: Vec<u64>,
    negated_inverse: u64,
    /// `R^2` modulo `n`.
    radix_squared: Vec<u64>,
    #[zeroize(skip)]
    bits: u32,
}

/// Smallest and largest size of a modulus, in bits.
const SIZES: std::ops::RangeInclusive<u32> = 512..=8192;

/// A big-endian number in limbs of 52 bits.
pub(crate) fn limbs_from_be(bytes: &[u8], limbs: usize) -> Vec<u64> {
    let mut out = vec![0; limbs];
    for (i, &byte) in bytes.iter().rev().enumerate() {
        let (at, shift) = (8 * i / LIMB_BITS as usize, 8 * i as u32 % LIMB_BITS);
        let spread = u128::from(byte) << shift;
        // Leading zeros may lie beyond the last limb.
        if at < limbs {
            out[at] |= spread as u64 & LIMB_MASK;
        }
        if at + 1 < limbs {
            out[at + 1] |= (spread >> LIMB_BITS) as u64;
        }
    }
    out
}

/// As many big-endian bytes of a number as there is room for.
pub(crate) fn be_from_limbs(bytes: &mut [u8], limbs: &[u64]) {
    for (i, byte) in bytes.iter_mut().rev().enumerate() {
        let (at, shift) = (8 * i / LIMB_BITS as usize, 8 * i as u32 % LIMB_BITS);
        let high = limbs.get(at + 1).copied().unwrap_or(0);
        *byte = ((u128::from(limbs[at]) | u128::from(high) << LIMB_BITS) >> shift) as u8;
    }
}

/// `a - b`, and all bits set if `a < b`.
pub(super) fn subtract(a: &[u64], b: &[u64]) -> (Vec<u64>, u64) {
    let mut borrow = 0i64;
    let difference = a
        .iter()
        .zip(b)
        .map(|(&a, &b)| {
            let d = a as i64 - b as i64 + borrow;
            borrow = d >> LIMB_BITS;
            d as u64 & LIMB_MASK
        })
        .collect();
    (difference, borrow as u64)
}

/// `2 a` modulo `n`.
fn double(a: &mut [u64], n: &[u64]) {
    let mut carry = 0;
    for x in a.iter_mut() {
        let twice = 2 * *x + carry;
        carry = twice >> LIMB_BITS;
        *x = twice & LIMB_MASK;
    }
    let (difference, below) = subtract(a, n);
    let difference = Zeroizing::new(difference);
    for (x, d) in a.iter_mut().zip(&*difference) {
        *x = (*x & below) | (d & !below);
    }
}

impl WideModulus {
    /// A modulus from its big-endian bytes; leading zeros are allowed.
    ///
    /// # Errors
    /// [`MathError::WideModulus`] unless it is odd and of 512 to 8192 bits.
    pub fn from_be_bytes(bytes: &[u8]) -> Result<Self, MathError> {
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        let bytes = &bytes[zeros..];
        let bits = bytes.first().map_or(0, |top| 8 * bytes.len() as u32 - top.leading_zeros());
        let odd = bytes.last().is_some_and(|low| low % 2 == 1);
        if !odd || !SIZES.contains(&bits) {
            return Err(MathError::WideModulus { bits, odd });
        }
        // R > 4 n keeps products of residues below 2 n below 2 n.
        let len = (bits + 2).div_ceil(LIMB_BITS) as usize;
        let limbs = limbs_from_be(bytes, len.next_multiple_of(ROWS));
        // Newton's iteration: five correct bits at first, 80 after four doublings.
        let low = limbs[0];
        let mut inverse = 3u64.wrapping_mul(low) ^ 2;
        for _ in 0..4 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(low.wrapping_mul(inverse)));
        }
        let mut radix_squared = vec![0; limbs.len()];
        radix_squared[0] = 1;
        for _ in 0..2 * LIMB_BITS as usize * limbs.len() {
            double(&mut radix_squared, &limbs);
        }
        let negated_inverse = inverse.wrapping_neg() & LIMB_MASK;
        Ok(Self { limbs, negated_inverse, radix_squared, bits })
    }

    /// Octets of a group.
    pub fn limbs(&self) -> usize {
        self.limbs.len()
    }

    /// Bits of the modulus.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Bytes of a reduced residue.
    pub fn byte_length(&self) -> usize {
        self.bits.div_ceil(8) as usize
    }

    pub(super) fn reduction(&self) -> Reduction<'_> {
        Reduction { modulus: &self.limbs, negated_inverse: self.negated_inverse }
    }

    /// A group of eight times the same number.
    pub(super) fn splat(number: &[u64]) -> Vec<Octet> {
        number.iter().map(|&limb| Octet([limb; LANES])).collect()
    }

    /// `a = a b R^-1`, residue by residue.
    pub fn mul_assign(&self, a: &mut [Octet], b: &[Octet]) {
        self.check(a);
        assert_eq!(a.len(), b.len(), "factors come in batches of the same size");
        let columns = &mut Zeroizing::new(vec![Octet::ZERO; self.limbs() + ROWS]);
        let product = &mut Zeroizing::new(vec![Octet::ZERO; self.limbs()]);
        dispatch(MulAssign { a, b, n: self.reduction(), product, columns });
    }

    /// `out = a b R^-1`, residue by residue: products of public numbers without copying factors.
    pub fn mul(&self, out: &mut [Octet], a: &[Octet], b: &[Octet]) {
        self.check(a);
        assert!(a.len() == b.len() && a.len() == out.len(), "batches have the same size");
        let columns = &mut vec![Octet::ZERO; self.limbs() + ROWS];
        dispatch(Mul { out, a, b, n: self.reduction(), columns });
    }

    /// `a = a^2 R^-1`, residue by residue.
    pub fn square_assign(&self, a: &mut [Octet]) {
        self.check(a);
        let columns = &mut Zeroizing::new(vec![Octet::ZERO; 2 * self.limbs()]);
        dispatch(Square { a, n: self.reduction(), columns });
    }

    /// `a = a b R^-1` for one public number `b`.
    fn mul_by_number(&self, a: &mut [Octet], number: &[u64]) {
        let b = Self::splat(number);
        for a in a.chunks_exact_mut(self.limbs()) {
            self.mul_assign(a, &b);
        }
    }

    /// `a R`, the form in which [`WideModulus::mul_assign`] is multiplication.
    pub fn to_montgomery(&self, a: &mut [Octet]) {
        self.check(a);
        self.mul_by_number(a, &self.radix_squared);
    }

    /// `a R^-1`.
    pub fn from_montgomery(&self, a: &mut [Octet]) {
        self.check(a);
        let mut one = vec![0; self.limbs()];
        one[0] = 1;
        self.mul_by_number(a, &one);
    }

    /// A group of eight ones in Montgomery's form.
    pub fn one(&self) -> Vec<Octet> {
        let mut one = vec![Octet::ZERO; self.limbs()];
        one[0] = Octet([1; LANES]);
        self.to_montgomery(&mut one);
        one
    }

    /// The residues below `n`.
    pub fn reduce_assign(&self, a: &mut [Octet]) {
        self.check(a);
        let before = &mut Zeroizing::new(vec![Octet::ZERO; self.limbs()]);
        dispatch(Reduce { a, n: &self.limbs, before });
    }

    /// `2 n - a` where the bit of `negate` is set, `a` elsewhere, residue by residue; no residue is
    /// zero. Bit `i` of `negate[g]` concerns residue `i` of group `g`.
    pub fn negate_where(&self, a: &mut [Octet], negate: &[u8]) {
        self.check(a);
        assert_eq!(negate.len() * self.limbs(), a.len(), "there is a byte for each group");
        dispatch(NegateWhere { a, n: &self.limbs, negate });
    }

    /// `2 a` where the bit is set, `a` elsewhere, residue by residue below `n`.
    pub fn double_where(&self, a: &mut [Octet], double: &[u8]) {
        self.check(a);
        assert_eq!(double.len() * self.limbs(), a.len(), "there is a byte for each group");
        dispatch(DoubleWhere { a, limbs: self.limbs(), double });
    }

    /// One where the bit is not set, `a` elsewhere, residue by residue.
    pub fn keep_where(&self, a: &mut [Octet], keep: &[u8]) {
        self.check(a);
        assert_eq!(keep.len() * self.limbs(), a.len(), "there is a byte for each group");
        let mut one = vec![Octet::ZERO; self.limbs()];
        one[0] = Octet([1; LANES]);
        let replaced: Vec<u8> = keep.iter().map(|keep| !keep).collect();
        replace_where(a, &one, &replaced);
    }

    /// The modulus, big-endian.
    pub fn to_be_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(vec![0; self.byte_length()]);
        be_from_limbs(&mut bytes, &self.limbs);
        bytes
    }

    /// Uniform residues below `n`. Rejection tells nothing of those that stay.
    pub fn sample(&self, a: &mut [Octet], rng: &mut impl CryptoRng) {
        self.check(a);
        let top = (self.bits - 1) / LIMB_BITS;
        let top_mask = LIMB_MASK >> (LIMB_BITS * (top + 1) - self.bits);
        let mut again = Zeroizing::new(vec![0u64; self.limbs()]);
        for group in a.chunks_exact_mut(self.limbs()) {
            let used = &mut group[..=top as usize];
            rng.fill_bytes(bytemuck::cast_slice_mut(used));
            used.iter_mut().for_each(|limb| limb.0.iter_mut().for_each(|x| *x &= LIMB_MASK));
            used[top as usize].0.iter_mut().for_each(|x| *x &= top_mask);
            group[top as usize + 1..].fill(Octet::ZERO);
            loop {
                let accepted = self.below_modulus(group);
                if accepted == u8::MAX {
                    break;
                }
                for lane in (0..LANES).filter(|lane| accepted >> lane & 1 == 0) {
                    let again = &mut again[..=top as usize];
                    rng.fill_bytes(bytemuck::cast_slice_mut(again));
                    again[top as usize] &= top_mask;
                    for (limb, &word) in group.iter_mut().zip(again.iter()) {
                        limb.0[lane] = word & LIMB_MASK;
                    }
                }
            }
        }
    }

    /// Whether all residues of a group are below `n`.
    pub(super) fn is_reduced(&self, group: &[Octet]) -> bool {
        self.below_modulus(group) == u8::MAX
    }

    /// Which residues of a group are below `n`: bit `i` for residue `i`.
    fn below_modulus(&self, group: &[Octet]) -> u8 {
        dispatch(Below { group, n: &self.limbs })
    }

    /// Whether residues below `n` are equal: a byte for each group, bit `i` for residue `i`.
    pub fn equal(&self, a: &[Octet], b: &[Octet]) -> Vec<u8> {
        self.check(a);
        assert_eq!(a.len(), b.len(), "batches have the same size");
        let mut equal = vec![0; a.len() / self.limbs()];
        dispatch(Equal { equal: &mut equal, a, b, limbs: self.limbs() });
        equal
    }

    /// Reads big-endian residues of [`WideModulus::byte_length`] bytes each, eight a group; false
    /// if one is not below `n` or zero, which no group element is.
    pub fn read_be(&self, a: &mut [Octet], bytes: &[u8]) -> bool {
        self.check(a);
        let groups = a.len() / self.limbs();
        assert_eq!(bytes.len(), groups * LANES * self.byte_length(), "bytes for each residue");
        let mut numbers = bytes.chunks_exact(self.byte_length());
        let mut valid = true;
        for group in a.chunks_exact_mut(self.limbs()) {
            for (lane, number) in numbers.by_ref().take(LANES).enumerate() {
                let limbs = limbs_from_be(number, self.limbs());
                valid &= limbs.iter().any(|&limb| limb != 0);
                group.iter_mut().zip(limbs).for_each(|(octet, limb)| octet.0[lane] = limb);
            }
            valid &= self.below_modulus(group) == u8::MAX;
        }
        valid
    }

    /// Writes residues below `n` as [`WideModulus::read_be`] reads them.
    pub fn write_be(&self, bytes: &mut [u8], a: &[Octet]) {
        self.check(a);
        let mut numbers = bytes.chunks_exact_mut(self.byte_length());
        let mut limbs = vec![0; self.limbs()];
        for group in a.chunks_exact(self.limbs()) {
            for (lane, number) in numbers.by_ref().take(LANES).enumerate() {
                limbs.iter_mut().zip(group).for_each(|(limb, octet)| *limb = octet.0[lane]);
                be_from_limbs(number, &limbs);
            }
        }
    }

    /// Whole groups.
    pub(super) fn check(&self, a: &[Octet]) {
        assert!(a.len().is_multiple_of(self.limbs()), "a batch holds whole groups");
    }
}

struct MulAssign<'a> {
    a: &'a mut [Octet],
    b: &'a [Octet],
    n: Reduction<'a>,
    product: &'a mut [Octet],
    columns: &'a mut [Octet],
}

impl Kernel for MulAssign<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let limbs = self.n.modulus.len();
        for (a, b) in self.a.chunks_exact_mut(limbs).zip(self.b.chunks_exact(limbs)) {
            product::mul(l, self.product, a, b, self.n, self.columns);
            a.copy_from_slice(self.product);
        }
    }
}

struct Mul<'a> {
    out: &'a mut [Octet],
    a: &'a [Octet],
    b: &'a [Octet],
    n: Reduction<'a>,
    columns: &'a mut [Octet],
}

impl Kernel for Mul<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let limbs = self.n.modulus.len();
        let factors = self.a.chunks_exact(limbs).zip(self.b.chunks_exact(limbs));
        for (out, (a, b)) in self.out.chunks_exact_mut(limbs).zip(factors) {
            product::mul(l, out, a, b, self.n, self.columns);
        }
    }
}

struct Square<'a> {
    a: &'a mut [Octet],
    n: Reduction<'a>,
    columns: &'a mut [Octet],
}

impl Kernel for Square<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        for a in self.a.chunks_exact_mut(self.n.modulus.len()) {
            product::square(l, a, self.n, self.columns);
        }
    }
}

struct Reduce<'a> {
    a: &'a mut [Octet],
    n: &'a [u64],
    before: &'a mut [Octet],
}

impl Kernel for Reduce<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        for a in self.a.chunks_exact_mut(self.n.len()) {
            self.before.copy_from_slice(a);
            let below = less(l, a, self.n);
            subtract_number(l, a, self.n);
            for (a, before) in a.iter_mut().zip(self.before.iter()) {
                l.store(a, l.select(below, l.load(a), l.load(before)));
            }
        }
    }
}

struct NegateWhere<'a> {
    a: &'a mut [Octet],
    n: &'a [u64],
    negate: &'a [u8],
}

impl Kernel for NegateWhere<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        for (a, &bits) in self.a.chunks_exact_mut(self.n.len()).zip(self.negate) {
            let mask = l.test(l.splat(u64::from(bits)), l.load(&LANE_BITS));
            let mut carry = l.zero();
            for (x, &n) in a.iter_mut().zip(self.n) {
                let value = l.load(x);
                let difference = l.add(l.sub(l.splat(2 * n), value), carry);
                carry = l.sar::<LIMB_BITS>(difference);
                let limb = l.and(difference, l.splat(LIMB_MASK));
                l.store(x, l.select(mask, value, limb));
            }
        }
    }
}

struct DoubleWhere<'a> {
    a: &'a mut [Octet],
    limbs: usize,
    double: &'a [u8],
}

impl Kernel for DoubleWhere<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        for (a, &bits) in self.a.chunks_exact_mut(self.limbs).zip(self.double) {
            let mask = l.test(l.splat(u64::from(bits)), l.load(&LANE_BITS));
            let mut carry = l.zero();
            for x in a {
                let value = l.load(x);
                let twice = l.add(l.add(value, value), carry);
                carry = l.shr::<LIMB_BITS>(twice);
                let limb = l.and(twice, l.splat(LIMB_MASK));
                l.store(x, l.select(mask, value, limb));
            }
        }
    }
}

struct Below<'a> {
    group: &'a [Octet],
    n: &'a [u64],
}

impl Kernel for Below<'_> {
    type Output = u8;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> u8 {
        mask_to_bits(l, less(l, self.group, self.n))
    }
}

struct Equal<'a> {
    equal: &'a mut [u8],
    a: &'a [Octet],
    b: &'a [Octet],
    limbs: usize,
}

impl Kernel for Equal<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let pairs = self.a.chunks_exact(self.limbs).zip(self.b.chunks_exact(self.limbs));
        for ((a, b), bits) in pairs.zip(self.equal) {
            let mut different = l.zero();
            for (a, b) in a.iter().zip(b) {
                different = l.or(different, l.xor(l.load(a), l.load(b)));
            }
            *bits = mask_to_bits(l, l.equal(different, l.zero()));
        }
    }
}

/// Whether each number of a group is below `n`.
#[inline(always)]
fn less<L: Lanes>(l: L, a: &[Octet], n: &[u64]) -> L::Mask {
    let mut borrow = l.zero();
    for (a, &n) in a.iter().zip(n) {
        borrow = l.sar::<LIMB_BITS>(l.add(l.sub(l.load(a), l.splat(n)), borrow));
    }
    l.test(borrow, borrow)
}

/// `a - n`, wrapped.
#[inline(always)]
fn subtract_number<L: Lanes>(l: L, a: &mut [Octet], n: &[u64]) {
    let mut borrow = l.zero();
    for (a, &n) in a.iter_mut().zip(n) {
        let difference = l.add(l.sub(l.load(a), l.splat(n)), borrow);
        borrow = l.sar::<LIMB_BITS>(difference);
        l.store(a, l.and(difference, l.splat(LIMB_MASK)));
    }
}
