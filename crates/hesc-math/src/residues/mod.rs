//! Residues modulo one number, a row of them at a time: reductions without divisions and the loops on
//! them.
//!
//! Kernels take 52-bit multipliers (AVX-512 IFMA) for moduli below 2^50 and 64-bit multipliers
//! otherwise. None branches on the data.

mod correlation;
pub mod kernels;
pub mod packed;
mod reducer;
mod truncation;

pub use correlation::correlations;
pub use reducer::{Factor, MAX_PRIME_BITS, Reducer};
pub use truncation::Truncation;
