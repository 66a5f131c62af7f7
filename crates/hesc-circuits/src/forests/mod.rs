//! Scores of ensembles of trees, exact, of encrypted features in one round and without evaluation keys.
//!
//! A client encrypts a bit for each public *edge*: whether its feature exceeds it. A server's leaf is a box, a list of
//! *conditions* on such bits, and its *cost* the number of those that do not hold. For each leaf the server computes one number
//! modulo `t = t_1 t_2` under encryption, linear in the bits: modulo `t_1` its cost times a random number other than zero, modulo
//! `t_2` its value, a mask of its tree, and a random multiple of each condition that does not hold. Of a leaf that is reached
//! the client finds zero and the masked value, of others a number other than zero and one that is uniform. Leaves of an output come
//! in one fresh order, and masks of its trees cancel: what is left is the sum of the values reached.
//!
//! What is multiplied with a bit is a number of a Gaussian law over its class modulo `t`, for every bit and leaf, used or not, and
//! what is sent has Gaussian noise: errors of encryptions then tell nothing of which bits a leaf looks at
//! (docs/adr/0038-trees.md has the theorem). Sizes follow from a [`Plan`] alone.
//!
//! Sources: Wu, Feng, Naehrig and Lauter 2016 and Tai, Ma, Zhao and Chow 2017 (costs of paths); Bourse, Del Pino, Minelli and Wee
//! 2016 and de Castro, Juvekar and Vaikuntanathan 2021 (Gaussian multipliers); Kim, Lee, Seo and Song 2023 (hints on errors).

mod client;
mod declared;
mod divisor;
mod model;
mod plan;
mod shares;
#[cfg(test)]
mod shares_tests;
mod sizes;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod transcripts;
mod wire;

pub use client::{decrypt, encrypt};
pub use declared::{Declared, Shape};
pub use model::{Condition, Leaf, Model};
pub use plan::Plan;
pub use shares::{ClientShare, ServerShare, prepare};
pub use wire::{
    PartKind, answer_bytes, part, prepared_answer_bytes, prepared_query_bytes, query_bytes,
};
