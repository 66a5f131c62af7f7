//! What a client of a plan does, in one place for every language that binds it: no input or output, no clock.
//!
//! - [`Steps`]: the transforms of a plan, as data: a [`Table`] of numbers and words becomes features;
//! - [`Plan`]: what client and server of a linear model agree upon, read strictly;
//! - [`Client`]: a plan and a secret key: samples encrypted, answers read;
//! - [`Link`], [`Calibration`], [`Concluding`], [`Classes`]: what follows from scores;
//! - [`message`]: the frame of what travels;
//! - [`limits`]: what documents and plans have at most;
//! - [`ClientError`]: what is refused, in texts that name places and no values.
//!
//! Randomness comes from generators that are passed in. What features, scores and answers are to Python is documented in
//! `python/hesc/models` and `python/hesc/protocols/linear`.

mod client;
mod columns;
mod conclusions;
mod document;
mod error;
mod fidelity;
mod json;
mod labels;
mod matrix;
pub mod message;
mod model_plan;
mod plan;
mod search;
pub mod steps;
mod table;
mod trees;
mod vectors;

pub use client::{Client, Query};
pub use columns::Columns;
pub use conclusions::{Calibration, Concluding, Conclusions, Link};
pub use error::{ClientError, Place};
pub use fidelity::Fidelity;
pub use labels::Classes;
pub use model_plan::ModelPlan;
pub use plan::{Plan, Protocol, Rings, rows};
pub use search::{Metric, Nearest, SearchPlan, Values, Voting};
pub use steps::{Letters, Prepared, Steps};
pub use table::{Kind, Table, Words};
pub use trees::TreesPlan;

/// What documents and plans have at most, for who writes them.
pub mod limits {
    pub use crate::document::NAME as NAME_LETTERS;
    pub use crate::json::{LARGEST as DOCUMENT_BYTES, MOST_PARTS as DOCUMENT_PARTS};
    pub use crate::labels::MOST as CLASSES;
    pub use crate::plan::{MOST_PARTS as RING_PRODUCTS, PLACES as RING_PLACES};
    pub use crate::steps::{MOST as STEPS, WIDEST as INPUTS};
}
