use hesc_math::Modulus;
use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Ciphertext, RelinKey, Rlwe};

use super::{Numbers, polynomial};

/// The largest base: polynomials have its degree.
const MOST_BASE: u64 = 13;

/// Digits of the numbers in slots modulo a prime power `p^r` ([Halevi and Shoup 2015][hs], section 5), in BFV or BGV and odd rings. Digits
/// are 0 and 1 modulo 2, and `-(p - 1) / 2` to `(p - 1) / 2` otherwise.
///
/// There is a polynomial `F` of degree `p` with `F(d + p^i x) = d` modulo `p^(i + 1)` for all digits `d` and all `i`: `X^p` is `d^p`
/// there, and what is missing is a multiple of `p` that depends on `d` modulo `p^i` alone, hence `p` times a polynomial through `p`
/// points. The lowest digit is taken off and the rest divided, `k` times for digit `k`, each time with as much of the digits
/// below as is needed: these cost one more `F` each.
///
/// [hs]: https://eprint.iacr.org/2014/873
pub struct Digits {
    base: u64,
    /// Modulo `p^r`, `p^(r - 1)`, and so on down to `p`.
    sets: Vec<Rlwe>,
    /// `F`, modulo `p^r`, centred.
    lift: Vec<i64>,
}

impl Digits {
    /// Of numbers in the slots of a set. Cost: that of a set for each digit.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for a base beyond 13; [`SchemeError::NotInScheme`] for CKKS; those of [`Rlwe::field_slots`] for a ring
    /// whose index is a power of two, and a plaintext modulus that is no power of a prime.
    pub fn new(scheme: &Rlwe) -> Result<Self, SchemeError> {
        let ring = scheme.field_slots()?.ring();
        let (base, digits) = (ring.prime(), ring.exponent());
        if base > MOST_BASE {
            let remedy = "polynomials have the degree of the base: 13 is the largest";
            return Err(SchemeError::Parameter { name: "base", value: base.to_string(), remedy });
        }
        let lower = (1..digits).rev().map(|i| scheme.with_plain_modulus(base.pow(i)));
        let sets = std::iter::once(Ok(scheme.clone())).chain(lower).collect::<Result<_, _>>()?;
        Ok(Self { base, sets, lift: lifting(base, digits) })
    }

    /// The set that digits are in: plaintexts modulo `p`.
    pub fn set(&self) -> &Rlwe {
        &self.sets[self.sets.len() - 1]
    }

    /// Products of ciphertexts one after the other that a digit takes: the logarithm of the base for each digit below it, so
    /// that all bits modulo `2^r` take `r - 1`.
    pub fn depth(&self, digit: usize) -> u32 {
        Self::depth_in_base(self.base, digit)
    }

    fn depth_in_base(base: u64, digit: usize) -> u32 {
        digit as u32 * base.next_power_of_two().ilog2()
    }

    /// [`Self::depth`] of all digits of numbers in the slots of a set, before anything is made for them.
    ///
    /// # Errors
    /// As [`Rlwe::field_slots`].
    pub fn depths(scheme: &Rlwe) -> Result<Vec<u32>, SchemeError> {
        let ring = scheme.field_slots()?.ring();
        let digits = 0..ring.exponent() as usize;
        Ok(digits.map(|digit| Self::depth_in_base(ring.prime(), digit)).collect())
    }

    /// All digits of each number, the lowest first, as numbers of [`Self::set`]. Cost: for each pair of digits a polynomial
    /// of degree `p`.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for other sets and pairs; [`SchemeError::NoiseBudget`] for
    /// more digits than there is room for.
    pub fn extract(
        &self,
        relin: &RelinKey,
        a: &Ciphertext,
    ) -> Result<Vec<Ciphertext>, SchemeError> {
        let first = &self.sets[0];
        let mut below: Vec<(RelinKey, Ciphertext)> = Vec::new();
        let mut digits = Vec::with_capacity(self.sets.len());
        for set in &self.sets {
            let mut rest = a.clone();
            for (j, (key, digit)) in below.iter_mut().enumerate() {
                let own = &self.sets[j];
                *digit = self.lifted(own, key, digit)?;
                rest = self.sets[j + 1].divided(own, &own.sum(&rest, digit, true)?)?;
            }
            digits.push(self.set().reduced(set, &rest)?);
            below.push((set.relin_key_of(first, relin)?, rest));
        }
        Ok(digits)
    }

    /// `F` of numbers.
    fn lifted(
        &self,
        set: &Rlwe,
        relin: &RelinKey,
        a: &Ciphertext,
    ) -> Result<Ciphertext, SchemeError> {
        if self.base == 2 {
            return set.product(relin, a, None);
        }
        let q = Modulus::new(set.spec().plaintext.modulus());
        let own: Vec<i64> = self.lift.iter().map(|&x| q.centre(q.reduce_signed(x))).collect();
        polynomial(set, relin, a, Numbers::Integers(&own), set.slot_count())
    }
}

/// The coefficients of `F`, from the lowest: `X^p + p f`, `f(d) = (d - d^p) / p` for all digits `d`. It is odd where `p` is, for
/// digits are centred.
fn lifting(base: u64, digits: u32) -> Vec<i64> {
    let (p, q) = (base as i64, Modulus::new(base.pow(digits)));
    let first = if base == 2 { 0 } else { -(p - 1) / 2 };
    let points: Vec<i64> = (first..first + p).collect();
    let mut sum = vec![0; base as usize + 1];
    sum[base as usize] = 1;
    for &d in &points {
        // Lagrange's polynomial of the point, times its value.
        let others = points.iter().filter(|&&x| x != d);
        let mut own = vec![1];
        let mut at_point = 1;
        for &x in others {
            at_point = q.mul(at_point, q.reduce_signed(d - x));
            own.push(0);
            for i in (0..own.len()).rev() {
                let below = if i == 0 { 0 } else { own[i - 1] };
                own[i] = q.add(below, q.mul(own[i], q.reduce_signed(-x)));
            }
        }
        let missing = q.reduce_signed(d - d.pow(base as u32));
        let inverse = q.inverse_of_unit(at_point).expect("digits differ modulo the base");
        let by = q.mul(missing, inverse);
        for (sum, &x) in sum.iter_mut().zip(&own) {
            *sum = q.add(*sum, q.mul(by, x));
        }
    }
    sum.into_iter().map(|x| q.centre(x)).collect()
}
