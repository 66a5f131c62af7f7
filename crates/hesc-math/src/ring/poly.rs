use std::marker::PhantomData;

use zeroize::Zeroize;

use super::{Ring, kernels};
use crate::Word;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Coeff {}
    impl Sealed for super::Eval {}
}

/// The domain a polynomial is in.
pub trait Domain: sealed::Sealed + Send + Sync + 'static {}

/// Coefficients in the ring's basis, [`crate::RingIndex::exponents`]: of 1, X, X^2, ... for powers of two.
#[derive(Debug, Clone, Copy)]
pub enum Coeff {}
/// Evaluations at the primitive `m`-th roots of unity, in the transform's own order.
#[derive(Debug, Clone, Copy)]
pub enum Eval {}

impl Domain for Coeff {}
impl Domain for Eval {}

/// A polynomial of a [`Ring`], reduced, row after row: `rows * N` words.
///
/// The storage `S` is a `Vec` for a polynomial of its own, or a `&mut [W]` for a view into a
/// batch, so that hot loops need no allocation and keep the domain in the type. It has neither
/// `Debug` nor equality, because secrets are polynomials too, and is wiped when [`Zeroize`] asks
/// for it.
#[derive(Clone)]
pub struct Poly<W: Word, D: Domain, S = Vec<W>> {
    words: S,
    marker: PhantomData<(W, D)>,
}

impl<W: Word, D: Domain> Poly<W, D> {
    /// The zero polynomial.
    pub fn zero(ring: &Ring<W>) -> Self {
        Self::new(vec![W::zeroed(); ring.poly_len()], ring)
    }
}

impl<W: Word, D: Domain, S: AsRef<[W]>> Poly<W, D, S> {
    /// A polynomial from its reduced words, row after row.
    ///
    /// # Panics
    /// If there are not `rows * N` words; debug builds also check that they are reduced.
    pub fn new(words: S, ring: &Ring<W>) -> Self {
        assert_eq!(words.as_ref().len(), ring.poly_len(), "a polynomial has rows * N words");
        debug_assert!(ring.is_reduced(words.as_ref()), "a polynomial is reduced");
        Self { words, marker: PhantomData }
    }

    /// All words, row after row.
    pub fn words(&self) -> &[W] {
        self.words.as_ref()
    }

    /// The same words read in the other domain: for storage that is about to be overwritten.
    pub fn reuse<E: Domain>(self) -> Poly<W, E, S> {
        Poly { words: self.words, marker: PhantomData }
    }
}

impl<W: Word, D: Domain, S: AsRef<[W]> + AsMut<[W]>> Poly<W, D, S> {
    /// All words, row after row. Whoever writes keeps them reduced.
    pub fn words_mut(&mut self) -> &mut [W] {
        self.words.as_mut()
    }

    /// `self = other`.
    pub fn copy_from<T: AsRef<[W]>>(&mut self, other: &Poly<W, D, T>) {
        self.words_mut().copy_from_slice(other.words());
    }

    /// `self += other`.
    pub fn add_assign<T: AsRef<[W]>>(&mut self, other: &Poly<W, D, T>, ring: &Ring<W>) {
        kernels::add_assign(self.words_mut(), other.words(), ring);
    }

    /// `self = -self`.
    pub fn neg_assign(&mut self, ring: &Ring<W>) {
        kernels::neg_assign(self.words_mut(), ring);
    }
}

impl<W: Word, S: AsRef<[W]> + AsMut<[W]>> Poly<W, Coeff, S> {
    /// To evaluations, in place. Cost: one transform a row.
    pub fn forward(mut self, ring: &Ring<W>) -> Poly<W, Eval, S> {
        kernels::forward(self.words_mut(), ring);
        self.reuse()
    }

    /// `self = small`, `N` signed coefficients smaller than every modulus.
    pub fn set_small(&mut self, small: &[i16], ring: &Ring<W>) {
        self.words_mut().fill(W::zeroed());
        self.add_small(small, ring);
    }

    /// `self += small`, `N` signed coefficients smaller than every modulus.
    pub fn add_small(&mut self, small: &[i16], ring: &Ring<W>) {
        kernels::add_small(self.words_mut(), small, ring);
    }
}

impl<W: Word, S: AsRef<[W]> + AsMut<[W]>> Poly<W, Eval, S> {
    /// To coefficients, in place. Cost: one transform and one pass a row.
    pub fn inverse(mut self, ring: &Ring<W>) -> Poly<W, Coeff, S> {
        kernels::inverse(self.words_mut(), ring);
        self.reuse()
    }

    /// The coefficients of `self * other`. Cost: one pass (the product kernel also divides by
    /// `N`) and one transform a row.
    pub fn mul_inverse<T: AsRef<[W]>>(
        mut self,
        other: &Poly<W, Eval, T>,
        ring: &Ring<W>,
    ) -> Poly<W, Coeff, S> {
        let n = ring.ring_degree();
        let rows = self.words_mut().chunks_exact_mut(n).zip(other.words().chunks_exact(n));
        for (row, (a, b)) in rows.enumerate() {
            ring.transform(row).mul_assign_scaled(a, b);
        }
        kernels::inverse_unscaled(self.words_mut(), ring);
        self.reuse()
    }
}

impl<W: Word, D: Domain, S: Zeroize> Zeroize for Poly<W, D, S> {
    fn zeroize(&mut self) {
        self.words.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::RingIndex;

    /// The product by its definition: `X^N = -1`.
    fn schoolbook(a: &[u64], b: &[u64], q: u64) -> Vec<u64> {
        let n = a.len();
        let mut product = vec![0i128; n];
        for (i, &x) in a.iter().enumerate() {
            for (j, &y) in b.iter().enumerate() {
                let term = i128::from(x) * i128::from(y) % i128::from(q);
                product[(i + j) % n] += if i + j < n { term } else { -term };
            }
        }
        product.iter().map(|x| x.rem_euclid(i128::from(q)) as u64).collect()
    }

    fn check_products<W: Word>(bits: u32, rows: usize, seed: u64) {
        let n = 256;
        let index = RingIndex::power_of_two(n).unwrap();
        let ring = Ring::<W>::new(index, &index.ntt_primes(bits, rows).unwrap()).unwrap();
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 1
        };
        let mut random = || {
            let mut p = Poly::<W, Coeff>::zero(&ring);
            for (l, q) in ring.moduli().iter().enumerate() {
                p.words_mut()[l * n..][..n].fill_with(|| W::from_u64(next() % q.value()));
            }
            p
        };
        let (a, b) = (random(), random());
        let direct = a.clone().forward(&ring).mul_inverse(&b.clone().forward(&ring), &ring);
        let round_trip = a.clone().forward(&ring).inverse(&ring);
        for (l, q) in ring.moduli().iter().enumerate() {
            let wide = |p: &Poly<W, Coeff>| -> Vec<u64> {
                p.words()[l * n..][..n].iter().map(|x| x.to_u64()).collect()
            };
            let expected = schoolbook(&wide(&a), &wide(&b), q.value());
            assert_eq!(wide(&direct), expected);
            assert_eq!(wide(&round_trip), wide(&a));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn products_are_negacyclic(seed: u64) {
            check_products::<u32>(18, 1, seed);
            check_products::<u32>(27, 2, seed);
            check_products::<u32>(31, 1, seed);
            check_products::<u64>(27, 1, seed);
            check_products::<u64>(50, 3, seed);
            check_products::<u64>(54, 1, seed);
            check_products::<u64>(62, 1, seed);
        }
    }

    #[test]
    fn rings_refuse_what_they_cannot_do() {
        use crate::MathError;
        for index in [2048, 255] {
            let index = RingIndex::new(index).unwrap();
            let refused = |moduli: &[u64]| Ring::<u32>::new(index, moduli).map(drop).unwrap_err();
            assert_eq!(refused(&[]), MathError::NoModulus);
            assert!(matches!(refused(&[67_104_767]), MathError::Modulus { .. }));
            let wide = index.ntt_primes(54, 1).unwrap();
            assert!(matches!(refused(&wide), MathError::Modulus { .. }));
            let q = index.ntt_primes(26, 1).unwrap()[0];
            assert_eq!(refused(&[q, q]), MathError::RepeatedModulus { modulus: q });
        }
    }
}
