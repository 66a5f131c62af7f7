use zeroize::Zeroizing;

use super::modulus::{WideModulus, limbs_from_be};
use super::product::{self, ROWS, Reduction};
use crate::MathError;
use crate::lanes::{Kernel, LANES, Lanes, Octet, dispatch};

/// Bits of an exponent that meet the table at once. A scan over 32 entries costs an eighth of the
/// product that follows; one over 64 would cost as much as the products it saves.
pub const WINDOW_BITS: u32 = 5;
const ENTRIES: usize = 1 << WINDOW_BITS;
/// Limbs selected together: as many as there are registers to hold them.
const CHUNK: usize = 20;

/// The windows of a big-endian exponent, lowest first: `exponent_bits` of it.
pub fn windows_of(bytes: &[u8], exponent_bits: u32) -> Zeroizing<Vec<u8>> {
    let bit = |i: u32| {
        let at = bytes.len().checked_sub(1 + i as usize / 8);
        at.map_or(0, |at| bytes[at] >> (i % 8) & 1)
    };
    Zeroizing::new(
        (0..exponent_bits.div_ceil(WINDOW_BITS))
            .map(|w| (0..WINDOW_BITS).fold(0, |digit, i| digit | bit(WINDOW_BITS * w + i) << i))
            .collect(),
    )
}

/// Powers of one base: an exponentiation is a product for each window, and no squaring.
#[derive(Clone)]
pub struct FixedBase {
    /// `base^(digit 2^(5 window))` in Montgomery's form: window, digit, limb.
    table: Vec<u64>,
    windows: usize,
}

/// The entry of each lane's digit, found by looking at all of them.
#[inline(always)]
fn select_entry<L: Lanes>(l: L, out: &mut [Octet], entries: &[u64], digits: &Octet) {
    let (len, digits) = (out.len(), l.load(digits));
    for (at, out) in out.chunks_mut(CHUNK).enumerate() {
        let mut chosen = [l.zero(); CHUNK];
        for (digit, entry) in entries.chunks_exact(len).enumerate() {
            let mask = l.equal(digits, l.splat(digit as u64));
            for (chosen, &limb) in chosen.iter_mut().zip(&entry[at * CHUNK..]) {
                *chosen = l.select(mask, *chosen, l.splat(limb));
            }
        }
        for (out, chosen) in out.iter_mut().zip(&chosen) {
            l.store(out, *chosen);
        }
    }
}

impl FixedBase {
    /// The table for exponents of `exponent_bits` bits. Cost: a squaring for each bit and four
    /// products for each window; memory: `32 * limbs` words for each window.
    ///
    /// # Errors
    /// [`MathError::Residue`] if the base is zero or not below the modulus.
    pub fn new(
        modulus: &WideModulus,
        base_be: &[u8],
        exponent_bits: u32,
    ) -> Result<Self, MathError> {
        let (limbs, length) = (modulus.limbs(), modulus.byte_length());
        let windows = exponent_bits.div_ceil(WINDOW_BITS) as usize;
        let mut group = vec![Octet::ZERO; limbs];
        if base_be.len() > length {
            return Err(MathError::Residue);
        }
        let mut number = vec![0; length];
        number[length - base_be.len()..].copy_from_slice(base_be);
        if !modulus.read_be(&mut group, &number.repeat(LANES)) {
            return Err(MathError::Residue);
        }
        modulus.to_montgomery(&mut group);
        let mut table = vec![0; windows * ENTRIES * limbs];
        let one = modulus.one();
        // Eight windows at a time, one a lane.
        for (octet, table) in table.chunks_mut(LANES * ENTRIES * limbs).enumerate() {
            let mut bases = group.clone();
            for lane in 0..LANES.min(windows - octet * LANES) {
                bases.iter_mut().zip(&group).for_each(|(b, g)| b.0[lane] = g.0[lane]);
                (0..WINDOW_BITS).for_each(|_| modulus.square_assign(&mut group));
            }
            let mut power = one.clone();
            for digit in 0..ENTRIES {
                for (lane, window) in table.chunks_exact_mut(ENTRIES * limbs).enumerate() {
                    let entry = &mut window[digit * limbs..][..limbs];
                    entry.iter_mut().zip(&power).for_each(|(e, p)| *e = p.0[lane]);
                }
                modulus.mul_assign(&mut power, &bases);
            }
        }
        Ok(Self { table, windows })
    }

    /// Windows of an exponent.
    pub fn windows(&self) -> usize {
        self.windows
    }

    /// `base^exponent` for each residue, in Montgomery's form. Exponents come as digits below 32,
    /// lowest window first, [`FixedBase::windows`] octets a group. Cost: a product a window.
    pub fn power(&self, modulus: &WideModulus, digits: &[Octet]) -> Vec<Octet> {
        let limbs = modulus.limbs();
        assert!(digits.len().is_multiple_of(self.windows), "digits for each window");
        let groups = digits.len() / self.windows;
        let mut powers = vec![Octet::ZERO; groups * limbs];
        dispatch(FixedPower {
            powers: &mut powers,
            digits,
            base: self,
            n: modulus.reduction(),
            entry: &mut Zeroizing::new(vec![Octet::ZERO; limbs]),
            product: &mut Zeroizing::new(vec![Octet::ZERO; limbs]),
            columns: &mut Zeroizing::new(vec![Octet::ZERO; limbs + ROWS]),
        });
        powers
    }
}

struct FixedPower<'a> {
    powers: &'a mut [Octet],
    digits: &'a [Octet],
    base: &'a FixedBase,
    n: Reduction<'a>,
    entry: &'a mut [Octet],
    product: &'a mut [Octet],
    columns: &'a mut [Octet],
}

impl Kernel for FixedPower<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let limbs = self.n.modulus.len();
        // Windows outside, groups inside: the window's entries stay in the cache.
        for (w, entries) in self.base.table.chunks_exact(ENTRIES * limbs).enumerate() {
            for (g, power) in self.powers.chunks_exact_mut(limbs).enumerate() {
                let digits = &self.digits[g * self.base.windows + w];
                select_entry(l, self.entry, entries, digits);
                if w == 0 {
                    power.copy_from_slice(self.entry);
                } else {
                    product::mul(l, self.product, power, self.entry, self.n, self.columns);
                    power.copy_from_slice(self.product);
                }
            }
        }
    }
}

struct Power<'a> {
    a: &'a mut [Octet],
    windows: &'a [u8],
    one: &'a [Octet],
    n: Reduction<'a>,
    table: &'a mut [Octet],
    entry: &'a mut [Octet],
    product: &'a mut [Octet],
    columns: &'a mut [Octet],
}

impl Kernel for Power<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let limbs = self.n.modulus.len();
        for a in self.a.chunks_exact_mut(limbs) {
            self.table[..limbs].copy_from_slice(self.one);
            for digit in 1..ENTRIES {
                let (done, next) = self.table.split_at_mut(digit * limbs);
                let last = &done[(digit - 1) * limbs..];
                let columns = &mut self.columns[..limbs + ROWS];
                product::mul(l, &mut next[..limbs], last, a, self.n, columns);
            }
            a.copy_from_slice(self.one);
            for &window in self.windows.iter().rev() {
                for _ in 0..WINDOW_BITS {
                    product::square(l, a, self.n, self.columns);
                }
                let digit = l.splat(u64::from(window));
                for (limb, out) in self.entry.iter_mut().enumerate() {
                    let mut chosen = l.zero();
                    for (d, power) in self.table.chunks_exact(limbs).enumerate() {
                        let mask = l.equal(digit, l.splat(d as u64));
                        chosen = l.select(mask, chosen, l.load(&power[limb]));
                    }
                    l.store(out, chosen);
                }
                let columns = &mut self.columns[..limbs + ROWS];
                product::mul(l, self.product, a, self.entry, self.n, columns);
                a.copy_from_slice(self.product);
            }
        }
    }
}

impl WideModulus {
    /// `a^exponent` for each residue in Montgomery's form and one secret exponent, as
    /// [`windows_of`] gives it. Cost a residue: five squarings and a product for each window, and
    /// 30 products.
    pub fn power_assign(&self, a: &mut [Octet], windows: &[u8]) {
        self.check(a);
        let limbs = self.limbs();
        dispatch(Power {
            a,
            windows,
            one: &self.one(),
            n: self.reduction(),
            table: &mut Zeroizing::new(vec![Octet::ZERO; ENTRIES * limbs]),
            entry: &mut Zeroizing::new(vec![Octet::ZERO; limbs]),
            product: &mut Zeroizing::new(vec![Octet::ZERO; limbs]),
            columns: &mut Zeroizing::new(vec![Octet::ZERO; 2 * limbs]),
        });
    }

    /// One number in all residues of a group, in Montgomery's form.
    ///
    /// # Errors
    /// [`MathError::Residue`] if it is zero or not below the modulus.
    pub fn splat_be(&self, number_be: &[u8]) -> Result<Vec<Octet>, MathError> {
        if number_be.len() > self.byte_length() {
            return Err(MathError::Residue);
        }
        let limbs = limbs_from_be(number_be, self.limbs());
        let mut group = Self::splat(&limbs);
        if limbs.iter().all(|&limb| limb == 0) || !self.is_reduced(&group) {
            return Err(MathError::Residue);
        }
        self.to_montgomery(&mut group);
        Ok(group)
    }
}
