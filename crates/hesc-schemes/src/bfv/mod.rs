//! BFV (Fan and Vercauteren 2012), additions and plaintext products: exact counts modulo `t`.
//!
//! A count `m` is encoded as `round(q m / t)`, in the coefficients (any `t` from 2 on) or in the
//! slots (`t` a prime that is 1 modulo `2N`). With `t = 2` a position reveals the parity and
//! nothing else, which is all that inverted-bipolar products need.

mod encoding;

pub use encoding::BfvEncoding;

/// BFV over words of 32 or 64 bits.
pub type Bfv<W> = crate::rlwe::Rlwe<W, BfvEncoding>;
