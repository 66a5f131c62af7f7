//! Stochastic numbers: bit streams whose share of ones is the value. Knows no cryptography.
//!
//! ```
//! use hesc_stochastic::{Encoder, EncoderConfig, Generator, Representation};
//!
//! let mut encoder = Encoder::new(EncoderConfig {
//!     generator: Generator::Sobol,
//!     representation: Representation::InvertedBipolar,
//!     stream_length: 1024,
//!     first_dimension: 0,
//!     factors: 2,
//!     random_state: 7,
//! });
//! let (x, first) = encoder.encode(&[0.5, -0.8])?;
//! let (y, second) = encoder.encode(&[0.25, 0.5])?;
//! assert!(!first.correlated_with(&second));
//! // In inverted bipolar form a product is an exclusive or.
//! let products = x.xor(&y)?.values(Representation::InvertedBipolar);
//! assert!((products[0] - 0.125).abs() < 0.02);
//! assert!((products[1] + 0.4).abs() < 0.02);
//! # Ok::<(), hesc_stochastic::StochasticError>(())
//! ```

mod bands;
mod bit_streams;
mod bounds;
mod correlation;
mod decorrelation;
mod encoder;
mod error;
mod factor;
mod generators;
mod laws;
mod measured;
mod origin;
mod plain_points;
mod representation;
mod sample;
mod selected;
mod selection;
mod selection_law;
mod source;
pub mod sums;
mod traced;

pub use bit_streams::{BitStreams, MAX_STREAM_LENGTH};
pub use bounds::error_bound;
pub use correlation::scc;
pub use encoder::{Encoder, EncoderConfig};
pub use error::StochasticError;
pub use factor::{Factor, UNKNOWN_ROW, joint_prefix};
pub use generators::{
    Generator, HALTON_DIMENSIONS, LATTICE_DIMENSIONS, MAX_FACTORS, SOBOL_DIMENSIONS, sobol_points,
};
pub use laws::ErrorLaw;
pub use origin::Origin;
pub use representation::{Estimate, Representation};
pub use selected::Operand;
pub use selection::Selector;
pub use selection_law::SelectionLaw;
pub use traced::TracedStreams;
