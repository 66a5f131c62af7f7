use std::sync::Arc;

use crate::{MathError, Modulus, Word};

/// Smallest supported ring degree.
pub const MIN_RING_DEGREE: usize = 256;
/// Largest supported ring degree.
pub const MAX_RING_DEGREE: usize = 32768;

/// Refuses a degree that no ring here has.
pub(crate) fn check_ring_degree(ring_degree: usize) -> Result<(), MathError> {
    if ring_degree.is_power_of_two() && (MIN_RING_DEGREE..=MAX_RING_DEGREE).contains(&ring_degree) {
        return Ok(());
    }
    Err(MathError::RingDegree { ring_degree, min: MIN_RING_DEGREE, max: MAX_RING_DEGREE })
}

/// The negacyclic ring `Z_q[X]/(X^N + 1)`, `q` the product of one or several NTT primes that fit
/// the word `W`. Cheap to clone.
///
/// Building one computes the transform's tables: `O(N)` words a modulus, well under a millisecond
/// at the degrees of stochastic computing.
#[derive(Debug, Clone)]
pub struct Ring<W: Word>(Arc<Inner<W>>);

#[derive(Debug)]
struct Inner<W: Word> {
    ring_degree: usize,
    moduli: Vec<Modulus>,
    plans: Vec<W::Plan>,
    /// `(Q / q_i)^-1 mod q_i`, one a limb.
    crt_inverses: Vec<u64>,
    zeros: Vec<W>,
}

impl<W: Word> Ring<W> {
    /// The ring of this degree (a power of two, 256 to 32768) over the product of `moduli`.
    ///
    /// # Errors
    /// [`MathError::RingDegree`], [`MathError::NoModulus`], [`MathError::RepeatedModulus`], or
    /// [`MathError::Modulus`] for one that is not an NTT prime that fits the word.
    pub fn new(ring_degree: usize, moduli: &[u64]) -> Result<Self, MathError> {
        check_ring_degree(ring_degree)?;
        if moduli.is_empty() {
            return Err(MathError::NoModulus);
        }
        let mut plans = Vec::with_capacity(moduli.len());
        for (i, &modulus) in moduli.iter().enumerate() {
            if moduli[..i].contains(&modulus) {
                return Err(MathError::RepeatedModulus { modulus });
            }
            plans.push(W::plan(ring_degree, modulus).ok_or(MathError::Modulus {
                modulus,
                max_bits: W::MAX_MODULUS_BITS,
                two_n: 2 * ring_degree,
            })?);
        }
        let moduli: Vec<Modulus> = moduli.iter().copied().map(Modulus::new).collect();
        let crt_inverses = moduli
            .iter()
            .map(|&q| {
                let others = moduli.iter().filter(|&&other| other != q);
                q.inverse(others.fold(1, |product, other| q.mul(product, other.value())))
            })
            .collect();
        let zeros = vec![W::zeroed(); ring_degree];
        Ok(Self(Arc::new(Inner { ring_degree, moduli, plans, crt_inverses, zeros })))
    }

    /// The number of coefficients, `N`.
    pub fn ring_degree(&self) -> usize {
        self.0.ring_degree
    }

    /// The moduli, one a limb.
    pub fn moduli(&self) -> &[Modulus] {
        &self.0.moduli
    }

    /// The number of moduli.
    pub fn limbs(&self) -> usize {
        self.0.moduli.len()
    }

    /// Words in one polynomial: `limbs * N`.
    pub fn poly_len(&self) -> usize {
        self.limbs() * self.ring_degree()
    }

    /// Whether every word of these whole polynomials is below its modulus. Variable time: for
    /// public data from outside and for debug checks.
    pub fn is_reduced(&self, words: &[W]) -> bool {
        words
            .chunks_exact(self.ring_degree())
            .zip(self.moduli().iter().cycle())
            .all(|(limb, q)| limb.iter().all(|x| x.to_u64() < q.value()))
    }

    /// `log2` of the product of the moduli.
    pub fn log2_modulus(&self) -> f64 {
        self.moduli().iter().map(|q| (q.value() as f64).log2()).sum()
    }

    /// `(Q / q_i)^-1 mod q_i`.
    pub(crate) fn crt_inverse(&self, limb: usize) -> u64 {
        self.0.crt_inverses[limb]
    }

    /// `N` zeros.
    pub(crate) fn zeros(&self) -> &[W] {
        &self.0.zeros
    }

    /// The transform of one limb.
    pub(crate) fn plan(&self, limb: usize) -> &W::Plan {
        &self.0.plans[limb]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rns::Prime;

    /// A set from elsewhere may name any modulus.
    #[test]
    fn what_is_no_prime_is_refused_however_small_or_large() {
        let ends = [1 << 31, 1 << 61, 1 << 62, 1 << 63, u64::MAX];
        for modulus in (0..300).chain(ends.into_iter().flat_map(|end| [end - 1, end])) {
            assert!(Ring::<u32>::new(256, &[modulus]).is_err(), "{modulus}");
            assert!(Ring::<u64>::new(256, &[modulus]).is_err(), "{modulus}");
            assert!(Prime::new(256, modulus).is_err(), "{modulus}");
        }
    }
}
