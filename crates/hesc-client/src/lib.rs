//! What a client of a plan does, in one place for every language that binds it: no input or output, no clock.
//!
//! - [`Steps`]: the transforms of a plan, as data: a [`Table`] of numbers and words becomes features;
//! - [`ClientError`]: what is refused, in texts that name places and no values.
//!
//! What features, scores and answers are to Python is documented in `python/hesc/models/transforms.py`.

mod document;
mod error;
mod json;
mod matrix;
pub mod steps;
mod table;

pub use error::{ClientError, Place};
pub use steps::{Prepared, Steps};
pub use table::{Kind, Table, Words};
