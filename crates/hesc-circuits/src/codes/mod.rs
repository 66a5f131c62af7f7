//! Binary codes: Hamming distances of encrypted codes to clear ones, and to encrypted ones.
//!
//! Codes are rows of bits whose Hamming distance says how alike two things are: sign projections of vectors, keyed
//! sketches of records. One party encrypts its codes ([`EncryptedCodes`], a ciphertext for each bit of up to a
//! ring degree of records); another, with clear codes, adds ([`EncryptedCodes::distances_vartime`]); who has the
//! secret key reads the distances of every pair ([`Distances`]).
//!
//! Where the one who compares must not know either side's codes both are encrypted under one key: see [`galleries`].
//!
//! Distances alone tell much: who has many known codes compared to an unknown one solves for it. Whether their
//! noise tells more is a choice: see [`EncryptedCodes::hidden_distances_vartime`].

mod columns;
mod distances;
pub mod galleries;

pub use columns::{EncryptedCodes, SeededCodes, seeded_length};
pub use distances::{Distances, distances_length};

/// Codes that one thread takes at a time: few enough that their sums are small beside the columns, many enough that
/// tables pay.
const GROUP: usize = 256;
/// Records and codes of one object, at most.
const MOST_RECORDS: usize = 1 << 24;
/// Bits of a code, at most.
const MOST_BITS: usize = 1 << 16;
