//! Scores of one encrypted vector with many clear ones, exact, in one round.
//!
//! Feature `j` of the query is an encrypted constant, feature `j` of `N` records a clear polynomial with a record in each
//! coefficient, kept as packed evaluations. The sum over features of the products has `N` scores in its `N` coefficients: one
//! pass over the records, no rotation of what is computed, two transforms back. The constants are a ciphertext each, or come out
//! of few by automorphisms, once for all records, if the client gives keys for that.
//!
//! Several blocks of `N` records may share the second part of their ciphertexts, under a secret each, if the client gives keys
//! for that too.
//!
//! Each record is multiplied with a public random sign, which the client undoes. Without signs records that are alike gather
//! noise at few roots of unity, where it depends on the key by factors (docs/adr/0039-search.md).
//!
//! Whoever asks sees every score, and as many independent queries as vectors have dimensions give every record away: records are
//! such as the client may have. Sizes follow from a [`Plan`] and the number of records alone.
//!
//! Sources: Angel, Chen, Laine and Setty 2018, and Chen, Chillotti and Ren 2019 (expansion); Peikert, Vaikuntanathan and Waters 2008 (shared second
//! parts).

mod client;
mod declared;
mod file;
mod index;
mod memory;
mod noise;
mod plan;
mod server;
mod signs;
mod sizes;
#[cfg(test)]
mod tests;
mod wire;

pub use client::{
    decrypt, decrypt_query, distance, encrypt, generate_keys, shared_secrets, signs_of_bits,
};
pub use declared::{Declared, Entries};
pub use index::Index;
pub use noise::noise_over_law;
pub use plan::Plan;
pub use server::{Asked, Keys, Part, View, read_keys};
pub use wire::{answer_bytes, join_answers, key_bytes, query_bytes};
