//! What is refused, as errors of JavaScript that bear the names of Python's.

use hesc_circuits::plans::PlanError;
use hesc_client::ClientError;
use hesc_schemes::SchemeError;
use wasm_bindgen::prelude::*;

/// What JavaScript gets, or an error that is thrown there.
pub type Refused<T> = Result<T, JsValue>;

/// An error to throw.
pub fn refused(error: ClientError) -> JsValue {
    let thrown = js_sys::Error::new(&error.to_string());
    thrown.set_name(name(&error));
    thrown.into()
}

/// What Python calls it: `crates/hesc-py/src/errors.rs` has the same names.
fn name(error: &ClientError) -> &'static str {
    match error {
        ClientError::Document { .. } => "WireError",
        ClientError::NoWords
        | ClientError::Keys
        | ClientError::NoQuery
        | ClientError::Size { .. }
        | ClientError::NoProbabilities => "ParameterError",
        ClientError::Shape { .. } | ClientError::Samples { .. } => "ShapeError",
        ClientError::Plan(error) => of_plan(error),
        _ => "OutOfRangeError",
    }
}

fn of_plan(error: &PlanError) -> &'static str {
    match error {
        PlanError::Scheme(error) => of_scheme(error),
        PlanError::Feature { .. } | PlanError::Number { .. } => "OutOfRangeError",
        PlanError::Count { .. } | PlanError::Samples { .. } | PlanError::Lengths { .. } => {
            "ShapeError"
        }
        _ => "ParameterError",
    }
}

fn of_scheme(error: &SchemeError) -> &'static str {
    match error {
        SchemeError::KeyMismatch { .. } => "KeyMismatchError",
        SchemeError::NotACount { .. }
        | SchemeError::NoiseTooLarge
        | SchemeError::Passphrase { .. } => "DecryptionError",
        SchemeError::Wire { .. } => "WireError",
        SchemeError::Math(_) | SchemeError::ParameterMismatch { .. } => "ParameterError",
        _ => "HescError",
    }
}
