//! Gate circuits as data (`hsiao2022sche` §1, §2): what they are, how they look in a file, what they
//! compute in the clear, and how few bootstraps they take on encrypted bits.
//!
//! ```
//! use hesc_circuits::gates::integers::{self, Adder};
//! use hesc_circuits::gates::{BinaryGate, Builder};
//!
//! // A circuit of one's own ...
//! let (mut builder, inputs) = Builder::new(&[1, 1]);
//! let same = builder.binary(BinaryGate::Xnor, inputs[0][0], inputs[1][0]);
//! let circuit = builder.finish(vec![vec![same]])?;
//! assert_eq!(circuit.evaluate_numbers(&[&[0, 1, 1], &[0, 0, 1]])?, [[1, 0, 1]]);
//!
//! // ... or one of the library's.
//! let adder = integers::adder(Adder::Ripple, 4)?;
//! assert_eq!(adder.products(), 4);
//! assert_eq!(adder.evaluate_numbers(&[&[13, 7], &[11, 9]])?, [[24, 16]]);
//! # Ok::<(), hesc_circuits::gates::GateError>(())
//! ```

mod bristol;
mod builder;
pub mod ciphers;
mod compiler;
#[cfg(feature = "tfhe")]
mod encrypted;
mod error;
mod evaluate;
mod gatewise;
mod graph;
pub mod integers;
mod linear;
mod monitor;
mod netlist;
#[cfg(feature = "tfhe")]
mod packed;
mod program;
pub mod slots;
pub mod stochastic;
mod weights;

pub use builder::Builder;
#[cfg(feature = "tfhe")]
pub use encrypted::Evaluator;
pub use error::GateError;
pub use monitor::Monitor;
pub use netlist::{BinaryGate, Counts, Definition, Gate, Netlist, Wire};
#[cfg(feature = "tfhe")]
pub use packed::{Packed, integers_length};
pub use program::{GRID, HALF_GRID, Lookup, Output, Precision, Program, Table, Value};
