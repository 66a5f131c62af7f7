//! Residue number systems of many primes: moving between bases, and back to numbers in full.
//!
//! A polynomial here is a slice of words, row after row, one row for each [`crate::ring::Prime`];
//! which primes those are is the caller's business, because multiplication and key switching move
//! between bases all the time. Whether rows hold coefficients or evaluations is not in the type
//! either; [`crate::Poly`] keeps that for the schemes that only add.

mod composition;
mod conversion;

pub use composition::Composition;
pub use conversion::Conversion;
