//! Residue number systems of many primes: what schemes with multiplication are made of.
//!
//! A polynomial here is a slice of words, limb after limb, one limb for each [`Prime`]; which
//! primes those are is the caller's business, because multiplication and key switching move between
//! bases all the time. Whether limbs hold coefficients or evaluations is not in the type either;
//! [`crate::Poly`] keeps that for the schemes that only add.
//!
//! Kernels take 52-bit multipliers (AVX-512 IFMA) for primes below 2^50 and 64-bit multipliers
//! otherwise. None branches on the data.

mod composition;
mod conversion;
pub mod kernels;
mod prime;

pub use composition::Composition;
pub use conversion::Conversion;
pub use prime::{Factor, MAX_PRIME_BITS, Prime, Reducer};
