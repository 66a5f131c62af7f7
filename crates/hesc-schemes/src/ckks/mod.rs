//! CKKS (Cheon, Kim, Kim and Song 2017), additions and plaintext products, for counts that are
//! rounded on decryption.
//!
//! Decryptions of CKKS must not be shown to anyone who could have chosen the ciphertext: the
//! unrounded error depends on the secret key (Li and Micciancio 2021). hesc returns rounded
//! counts only, and refuses values that lie between them.

mod encoding;

pub use encoding::CkksEncoding;

/// CKKS over words of 32 or 64 bits.
pub type Ckks<W> = crate::rlwe::Rlwe<W, CkksEncoding>;
