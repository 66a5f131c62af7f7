use std::sync::Arc;

use crate::{MathError, Modulus, Word};

/// Smallest supported ring degree.
pub const MIN_RING_DEGREE: usize = 256;
/// Largest supported ring degree.
pub const MAX_RING_DEGREE: usize = 32768;

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
}

impl<W: Word> Ring<W> {
    /// The ring of this degree (a power of two, 256 to 32768) over the product of `moduli`.
    ///
    /// # Errors
    /// [`MathError::RingDegree`], [`MathError::NoModulus`], [`MathError::RepeatedModulus`], or
    /// [`MathError::Modulus`] for one that is not an NTT prime that fits the word.
    pub fn new(ring_degree: usize, moduli: &[u64]) -> Result<Self, MathError> {
        if !ring_degree.is_power_of_two()
            || !(MIN_RING_DEGREE..=MAX_RING_DEGREE).contains(&ring_degree)
        {
            return Err(MathError::RingDegree {
                ring_degree,
                min: MIN_RING_DEGREE,
                max: MAX_RING_DEGREE,
            });
        }
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
        Ok(Self(Arc::new(Inner {
            ring_degree,
            moduli: moduli.iter().copied().map(Modulus::new).collect(),
            plans,
        })))
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

    /// The transform of one limb.
    pub(crate) fn plan(&self, limb: usize) -> &W::Plan {
        &self.0.plans[limb]
    }
}
