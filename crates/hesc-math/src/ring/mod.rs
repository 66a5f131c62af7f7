//! Cyclotomic rings modulo one or several primes: which ring ([`RingIndex`]), its transforms,
//! automorphisms and norms, and polynomials whose domain is in their type.

mod automorphism;
#[cfg(not(target_family = "wasm"))]
mod axes;
#[cfg_attr(target_family = "wasm", expect(dead_code, reason = "most of it is of odd rings"))]
mod convolution;
#[cfg(test)]
pub(crate) mod definition;
#[cfg(not(target_family = "wasm"))]
mod embedding;
#[cfg(not(target_family = "wasm"))]
mod fermat;
mod group_algebra;
mod index;
pub mod kernels;
pub mod lazy_sums;
#[cfg(target_family = "wasm")]
mod no_odd_rings;
mod norms;
mod poly;
mod prime;
mod reduction;
mod roots;
mod transform;

use std::sync::Arc;

pub use automorphism::Automorphism;
pub use embedding::Embedding;
pub use group_algebra::{Convolver, GroupAlgebra};
pub use index::{MAX_RING_DEGREE, MIN_RING_DEGREE, RingIndex};
pub use poly::{Coeff, Domain, Eval, Poly};
pub use prime::Prime;
pub(crate) use reduction::Reduction;
pub use roots::{Roots, pairs, wipe};
pub use rustfft::num_complex::Complex64;
pub(crate) use transform::Transform;

use crate::{MathError, Modulus, Word};
#[cfg(target_family = "wasm")]
use no_odd_rings as axes;
#[cfg(target_family = "wasm")]
use no_odd_rings as embedding;
#[cfg(target_family = "wasm")]
use no_odd_rings as fermat;

/// The ring `Z_q[X]/Phi_m(X)`, `q` the product of one or several of its primes that fit the word `W`.
/// Cheap to clone.
///
/// Building one computes the transform's tables: `O(N)` words a modulus, well under a millisecond
/// at the degrees of stochastic computing.
#[derive(Debug, Clone)]
pub struct Ring<W: Word>(Arc<Inner<W>>);

#[derive(Debug)]
struct Inner<W: Word> {
    index: RingIndex,
    ring_degree: usize,
    moduli: Vec<Modulus>,
    transforms: Vec<Transform<W>>,
    /// `(Q / q_i)^-1 mod q_i`, one for each row.
    crt_inverses: Vec<u64>,
    zeros: Vec<W>,
}

impl<W: Word> Ring<W> {
    /// The ring of this index over the product of `moduli`.
    ///
    /// # Errors
    /// [`MathError::NoModulus`], [`MathError::RepeatedModulus`], or [`MathError::Modulus`] for one
    /// that is not a prime of the ring that fits the word.
    pub fn new(index: RingIndex, moduli: &[u64]) -> Result<Self, MathError> {
        if moduli.is_empty() {
            return Err(MathError::NoModulus);
        }
        let mut transforms = Vec::with_capacity(moduli.len());
        for (i, &modulus) in moduli.iter().enumerate() {
            if moduli[..i].contains(&modulus) {
                return Err(MathError::RepeatedModulus { modulus });
            }
            transforms.push(Transform::new(index, modulus)?);
        }
        let moduli: Vec<Modulus> = moduli.iter().copied().map(Modulus::new).collect();
        let crt_inverses = moduli
            .iter()
            .map(|&q| {
                let others = moduli.iter().filter(|&&other| other != q);
                q.inverse(others.fold(1, |product, other| q.mul(product, other.value())))
            })
            .collect();
        let ring_degree = index.degree();
        let zeros = vec![W::zeroed(); ring_degree];
        let inner = Inner { index, ring_degree, moduli, transforms, crt_inverses, zeros };
        Ok(Self(Arc::new(inner)))
    }

    /// Which ring it is.
    pub fn index(&self) -> RingIndex {
        self.0.index
    }

    /// The number of coefficients, `N`.
    pub fn ring_degree(&self) -> usize {
        self.0.ring_degree
    }

    /// The moduli, one for each row.
    pub fn moduli(&self) -> &[Modulus] {
        &self.0.moduli
    }

    /// The number of moduli.
    pub fn rows(&self) -> usize {
        self.0.moduli.len()
    }

    /// Words in one polynomial: `rows * N`.
    pub fn poly_len(&self) -> usize {
        self.rows() * self.ring_degree()
    }

    /// Whether every word of these whole polynomials is below its modulus. Variable time: for
    /// public data from outside and for debug checks.
    pub fn is_reduced(&self, words: &[W]) -> bool {
        words
            .chunks_exact(self.ring_degree())
            .zip(self.moduli().iter().cycle())
            .all(|(row, q)| row.iter().all(|x| x.to_u64() < q.value()))
    }

    /// `log2` of the product of the moduli.
    pub fn log2_modulus(&self) -> f64 {
        self.moduli().iter().map(|q| (q.value() as f64).log2()).sum()
    }

    /// `(Q / q_i)^-1 mod q_i`.
    pub(crate) fn crt_inverse(&self, row: usize) -> u64 {
        self.0.crt_inverses[row]
    }

    /// `N` zeros.
    pub(crate) fn zeros(&self) -> &[W] {
        &self.0.zeros
    }

    /// The transform of one row.
    pub(crate) fn transform(&self, row: usize) -> &Transform<W> {
        &self.0.transforms[row]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A set from elsewhere may name any modulus.
    #[test]
    fn what_is_no_prime_is_refused_however_small_or_large() {
        for index in [512, 255].map(|index| RingIndex::new(index).unwrap()) {
            let ends = [1 << 31, 1 << 61, 1 << 62, 1 << 63, u64::MAX];
            for modulus in (0..300).chain(ends.into_iter().flat_map(|end| [end - 1, end])) {
                assert!(Ring::<u32>::new(index, &[modulus]).is_err(), "{modulus}");
                assert!(Ring::<u64>::new(index, &[modulus]).is_err(), "{modulus}");
                assert!(Prime::new(index, modulus).is_err(), "{modulus}");
            }
        }
    }
}
