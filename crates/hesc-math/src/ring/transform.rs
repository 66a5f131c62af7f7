use bytemuck::{cast_slice, cast_slice_mut};

use super::RingIndex;
use super::axes::AxisTransforms;
use super::fermat::FermatTransform;
use crate::primes::is_prime;
use crate::residues::{MAX_PRIME_BITS, Reducer, kernels};
use crate::{MathError, Word};

/// Primes from this power of two to the next have no transform.
const WRONG_BITS: u32 = 50;

/// The number-theoretic transform of a ring modulo one prime: between the coefficients in the basis
/// of [`RingIndex::exponents`] and the values at the primitive `m`-th roots of unity.
#[derive(Debug, Clone)]
#[cfg_attr(target_family = "wasm", expect(dead_code, reason = "nobody makes those of odd rings"))]
pub(crate) enum Transform<W: Word> {
    /// For powers of two.
    Negacyclic { plan: W::Plan, ring_degree: usize },
    /// For products of Fermat primes on vector lanes, words of 64 bits.
    Fermat { transform: Box<FermatTransform>, reducer: Reducer },
    /// For all odd indices.
    Axes(AxisTransforms),
}

impl<W: Word> Transform<W> {
    /// # Errors
    /// [`MathError::Modulus`] if the modulus is no prime of the ring that fits the word; for odd
    /// indices primes are below 2^61. [`MathError::WrongTransform`] for primes of 51 bits.
    pub(crate) fn new(index: RingIndex, modulus: u64) -> Result<Self, MathError> {
        let step = index.modulus_step();
        // tfhe-ntt 0.7.1 with AVX-512 transforms falsely modulo about half of the primes from 1.37 * 2^50 to 2^51.
        if modulus >> WRONG_BITS == 1 {
            return Err(MathError::WrongTransform { modulus });
        }
        if index.is_power_of_two() {
            let max_bits = W::MAX_MODULUS_BITS;
            let plan = W::plan(index.degree(), modulus);
            let plan = plan.ok_or(MathError::Modulus { modulus, max_bits, step })?;
            return Ok(Self::Negacyclic { plan, ring_degree: index.degree() });
        }
        let max_bits = W::MAX_MODULUS_BITS.min(MAX_PRIME_BITS);
        if modulus >> max_bits != 0 || modulus % step != 1 || !is_prime(modulus) {
            return Err(MathError::Modulus { modulus, max_bits, step });
        }
        Self::odd(index, modulus)
    }

    #[cfg(not(target_family = "wasm"))]
    fn odd(index: RingIndex, modulus: u64) -> Result<Self, MathError> {
        let reducer = Reducer::new(modulus);
        let wide = size_of::<W>() == size_of::<u64>();
        let on_lanes = if wide { FermatTransform::new(index, &reducer) } else { None };
        Ok(match on_lanes {
            Some(transform) => Self::Fermat { transform: Box::new(transform), reducer },
            None => Self::Axes(AxisTransforms::new(index, reducer)),
        })
    }

    #[cfg(target_family = "wasm")]
    fn odd(index: RingIndex, modulus: u64) -> Result<Self, MathError> {
        Err(MathError::Modulus { modulus, max_bits: 0, step: index.modulus_step() })
    }

    /// Coefficients to evaluations, in place.
    pub(crate) fn forward(&self, row: &mut [W]) {
        match self {
            Self::Negacyclic { plan, .. } => W::forward(plan, row),
            Self::Fermat { transform, .. } => transform.forward(cast_slice_mut(row)),
            Self::Axes(axes) => axes.forward(row),
        }
    }

    /// Evaluations to coefficients, in place.
    pub(crate) fn inverse(&self, row: &mut [W]) {
        if let Self::Negacyclic { plan, .. } = self {
            W::scale(plan, row);
        }
        self.inverse_unscaled(row);
    }

    /// Evaluations to coefficients times [`Self::unscaled_factor`], in place.
    pub(crate) fn inverse_unscaled(&self, row: &mut [W]) {
        match self {
            Self::Negacyclic { plan, .. } => W::inverse_unscaled(plan, row),
            Self::Fermat { transform, .. } => transform.inverse(cast_slice_mut(row)),
            Self::Axes(axes) => axes.inverse(row),
        }
    }

    /// What [`Self::inverse_unscaled`] leaves coefficients multiplied with.
    pub(crate) fn unscaled_factor(&self) -> u64 {
        match self {
            Self::Negacyclic { ring_degree, .. } => *ring_degree as u64,
            Self::Fermat { .. } | Self::Axes(_) => 1,
        }
    }

    /// The pointwise product whose [`Self::inverse_unscaled`] is the true product, in `a`.
    pub(crate) fn mul_assign_scaled(&self, a: &mut [W], b: &[W]) {
        match self {
            Self::Negacyclic { plan, .. } => W::mul_assign_scaled(plan, a, b),
            Self::Fermat { reducer, .. } => {
                kernels::multiply_assign(cast_slice_mut(a), cast_slice(b), reducer);
            }
            Self::Axes(axes) => axes.multiply_assign(a, b),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::definition::{Definition, INDICES, random};
    use super::*;

    fn check<W: Word>(index: usize, bits: u32, seed: u64) {
        let ring = RingIndex::new(index).unwrap();
        let q = ring.ntt_primes(bits, 1).unwrap()[0];
        let (definition, n) = (Definition::new(index, q), ring.degree());
        let transform = Transform::<W>::new(ring, q).unwrap();
        let [a, b] = [random(n, q, seed), random(n, q, !seed)];
        let words = |x: &[u64]| x.iter().map(|&x| W::from_u64(x)).collect::<Vec<_>>();
        let wide = |x: &[W]| x.iter().map(|x| x.to_u64()).collect::<Vec<_>>();
        let [mut x, mut y] = [words(&a), words(&b)];
        transform.forward(&mut x);
        transform.forward(&mut y);
        let mut back = x.clone();
        transform.inverse(&mut back);
        assert_eq!(wide(&back), a, "{index}");
        transform.mul_assign_scaled(&mut x, &y);
        transform.inverse_unscaled(&mut x);
        let product = definition.product(&definition.element(&a), &definition.element(&b));
        assert_eq!(definition.element(&wide(&x)), product, "{index}");
        transform.inverse_unscaled(&mut y);
        let factor = transform.unscaled_factor();
        let scaled: Vec<u64> = b.iter().map(|&x| definition.q.mul(x, factor)).collect();
        assert_eq!(wide(&y), scaled, "{index}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn products_of_evaluations_are_products_in_the_ring(
            index in prop::sample::select(INDICES.to_vec()),
            seed: u64,
        ) {
            check::<u32>(index, 31, seed);
            check::<u64>(index, 31, seed);
            check::<u64>(index, 50, seed);
            check::<u64>(index, 61, seed);
        }
    }

    /// On lanes where there are any, and on words; primes that lanes do not take.
    #[test]
    fn the_ring_of_4369_is_one_of_them() {
        check::<u64>(4369, 50, 1);
        check::<u64>(4369, 52, 1);
        check::<u32>(4369, 31, 1);
    }

    /// Of all rings, on all machines: a set is one everywhere.
    #[test]
    fn primes_of_51_bits_are_refused() {
        for index in [512, 1024, 255, 4369, 8191] {
            let ring = RingIndex::new(index).unwrap();
            for bits in [50, 51, 52] {
                let modulus = ring.ntt_primes(bits, 1).unwrap()[0];
                let found = Transform::<u64>::new(ring, modulus).err();
                let expected = (bits == 51).then_some(MathError::WrongTransform { modulus });
                assert_eq!(found, expected, "{index}, {bits} bits");
            }
        }
    }

    /// The two ways agree where the definition takes too long: with axes of 3, of 5 and of both.
    #[test]
    fn lanes_and_words_agree() {
        for index in [13107, 21845, 65535] {
            let ring = RingIndex::new(index).unwrap();
            for bits in [30, 50] {
                let q = ring.ntt_primes(bits, 1).unwrap()[0];
                let transform = Transform::<u64>::new(ring, q).unwrap();
                let axes = AxisTransforms::new(ring, Reducer::new(q));
                for words in [random(ring.degree(), q, 7), vec![q - 1; ring.degree()]] {
                    let [mut x, mut y] = [words.clone(), words.clone()];
                    transform.forward(&mut x);
                    axes.forward(&mut y);
                    assert_eq!(x, y, "{index}");
                    transform.inverse(&mut x);
                    assert_eq!(x, words, "{index}");
                    axes.inverse(&mut y);
                    assert_eq!(y, words, "{index}");
                }
            }
        }
    }

    /// Sums of 64 products of the largest residues fit.
    #[test]
    fn largest_residues_do_not_overflow() {
        let ring = RingIndex::new(257).unwrap();
        let q = ring.ntt_primes(61, 1).unwrap()[0];
        let transform = Transform::<u64>::new(ring, q).unwrap();
        let mut words = vec![q - 1; 256];
        transform.forward(&mut words);
        // All basis elements together are -1.
        assert!(words.iter().all(|&x| x == 1));
        transform.inverse(&mut words);
        assert_eq!(words, vec![q - 1; 256]);
    }

    #[test]
    fn moduli_of_other_rings_are_refused() {
        for index in INDICES {
            let ring = RingIndex::new(index).unwrap();
            let [q, other] =
                [index, 13].map(|i| RingIndex::new(i).unwrap().ntt_primes(31, 1).unwrap()[0]);
            assert!(Transform::<u32>::new(ring, q).is_ok(), "{index}");
            for wrong in [other, q + ring.modulus_step(), (1 << 61) + 1, u64::MAX, 0, 1, 2] {
                let refused = Transform::<u64>::new(ring, wrong);
                let right = crate::is_prime(wrong) && wrong % ring.modulus_step() == 1;
                assert!(
                    right || matches!(refused, Err(MathError::Modulus { .. })),
                    "{index}: {wrong}"
                );
            }
            let large = ring.ntt_primes(62, 1).unwrap()[0];
            assert_eq!(Transform::<u64>::new(ring, large).is_ok(), index == 512);
        }
    }
}
