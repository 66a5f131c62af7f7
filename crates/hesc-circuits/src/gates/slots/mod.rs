//! Circuits on slots: each ciphertext has one bit in each of its slots, so that a circuit is computed on as many
//! numbers at once.
//!
//! A netlist becomes sums of products, each relinearised once and brought down in the same division, and sums of
//! ciphertexts. Levels are chosen by the noise before anything is computed: a circuit that the parameters have no
//! room for is refused, and one that needs less runs at lower levels, where all is cheaper. With plaintext modulus 2
//! (rings of odd index) exclusive ors are sums; with an odd one they take a product, unless gates show that both bits
//! are never set.
//!
//! ```
//! use hesc_circuits::gates::integers::{Adder, adder};
//! use hesc_circuits::gates::slots::Plan;
//! use hesc_schemes::Assurance;
//! use hesc_schemes::presets::Preset;
//! use hesc_schemes::rlwe::Rlwe;
//!
//! let preset = Preset::named("bgv_13107").ok_or("no such preset")?;
//! let scheme = Rlwe::new(preset.vectors(1.0)?.ok_or("for streams")?, Assurance::Guidelines2024)?;
//! let plan = Plan::new(&adder(Adder::Sklansky, 8)?, &scheme, 0)?;
//! assert_eq!((plan.tensors(), plan.products(), plan.depth()), (25, 17, 4));
//! assert!(plan.start() < scheme.levels()); // Fewer primes than there are.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arithmetic;
mod disjoint;
mod machine;
mod plan;
mod publics;
mod steps;

pub use plan::Plan;
