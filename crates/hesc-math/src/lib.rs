//! The arithmetic of hesc: cyclotomic rings, first of all `Z_q[X]/(X^N + 1)` at the small parameters of
//! stochastic computing, and residues of thousands of bits.
//!
//! - [`Modulus`] and [`ntt_primes`]: word-sized moduli and NTT-friendly primes;
//! - [`RingIndex`]: which ring, a power of two of degree 256 to 32768 or an odd squarefree index;
//! - [`Ring`]: that over one or several moduli of 32- or 64-bit words, with number-theoretic
//!   transforms, from `tfhe-ntt` for powers of two;
//! - [`Poly`]: polynomials whose domain ([`Coeff`] or [`Eval`]) is part of their type, so that a
//!   product in the wrong domain does not compile;
//! - [`sampling`]: uniform, ternary and centred binomial polynomials from a cryptographic
//!   generator that the caller passes in;
//! - [`AesCtrRng`]: that generator, and [`KeyStream`], what it gives at any place;
//! - [`residues`]: rows of residues modulo one number and the loops on them;
//! - [`rns`]: residue number systems of many primes, for schemes with multiplication;
//! - [`finite_field`]: extensions of integers modulo a prime power, which slots of plaintexts are;
//! - `wide`: residues of thousands of bits, eight at a time, for the schemes on groups, and
//! - `secp256r1`: points of that curve, eight at a time; both with the feature `classical`.
//!
//! ```
//! use hesc_math::{Coeff, Poly, Ring, RingIndex};
//!
//! let index = RingIndex::power_of_two(1024)?;
//! let ring = Ring::<u32>::new(index, &index.ntt_primes(26, 1)?)?;
//! // X^1023 * X = -1 in the negacyclic ring.
//! let mut a = Poly::<u32, Coeff>::zero(&ring);
//! let mut b = Poly::<u32, Coeff>::zero(&ring);
//! a.words_mut()[1023] = 1;
//! b.words_mut()[1] = 1;
//! let product = a.forward(&ring).mul_inverse(&b.forward(&ring), &ring);
//! assert_eq!(u64::from(product.words()[0]), ring.moduli()[0].value() - 1);
//! # Ok::<(), hesc_math::MathError>(())
//! ```

pub mod discrete_gaussian;
mod error;
pub mod finite_field;
#[cfg_attr(
    not(feature = "classical"),
    allow(dead_code, reason = "numbers of thousands of bits take what is left")
)]
mod lanes;
mod modulus;
mod negacyclic;
mod primes;
pub mod residues;
pub mod ring;
mod rng;
pub mod rns;
pub mod rounding;
mod rows;
pub mod sampling;
#[cfg(feature = "classical")]
pub mod secp256r1;
#[cfg(feature = "system")]
mod system;
#[cfg(feature = "classical")]
pub mod wide;
mod word;

pub use error::MathError;
pub use finite_field::GaloisRing;
pub use modulus::Modulus;
pub use primes::{is_prime, ntt_primes};
pub use ring::{
    Coeff, Domain, Eval, MAX_RING_DEGREE, MIN_RING_DEGREE, Poly, Ring, RingIndex, kernels,
};
pub use rng::{AesCtrRng, KeyStream, RngSeed};
pub use word::Word;
