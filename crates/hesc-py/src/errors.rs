//! One place where errors of all layers become Python exceptions.

use hesc_circuits::CircuitError as OfCircuits;
use hesc_circuits::gates::GateError;
use hesc_circuits::plans::PlanError;
use hesc_client::ClientError;
use hesc_schemes::{AutomorphismKey, SchemeError};
use hesc_stochastic::StochasticError;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::panic::PanicException;
use pyo3::prelude::*;

create_exception!(hesc, HescError, PyValueError, "What hesc refuses; the message says what to do.");
create_exception!(hesc, OutOfRangeError, HescError, "A value that the encoding cannot hold.");
create_exception!(hesc, ShapeError, HescError, "Lengths, shapes or layouts that do not fit.");
create_exception!(hesc, CorrelationError, HescError, "A product of streams of one draw.");
create_exception!(hesc, ParameterError, HescError, "Parameters that do not work or differ.");
create_exception!(hesc, SecurityError, ParameterError, "Parameters below 128-bit security.");
create_exception!(hesc, KeyMismatchError, HescError, "Ciphertexts of different key pairs.");
create_exception!(hesc, NoiseBudgetError, HescError, "Decryption would fail after this operation.");
create_exception!(hesc, FusionError, HescError, "Digits that the plaintext modulus cannot hold.");
create_exception!(
    hesc,
    WireError,
    HescError,
    "Bytes that are damaged, truncated or of another kind."
);
create_exception!(hesc, CircuitError, HescError, "A gate circuit that is none.");
create_exception!(hesc, DecryptionError, HescError, "Ciphertexts that no honest party made.");

/// Makes a panic an exception like others. PyO3's derives from `BaseException` and would pass every
/// `except Exception` of a server; a fault of ours in one call is no reason to end it.
///
/// # Errors
/// Python's, if it does not allow that.
pub fn panics_are_exceptions(py: Python<'_>) -> PyResult<()> {
    let bases = (py.get_type::<PyRuntimeError>(),);
    py.get_type::<PanicException>().setattr("__bases__", bases)
}

fn of_stochastic(error: &StochasticError) -> PyErr {
    let text = error.to_string();
    match error {
        StochasticError::OutOfRange { .. } | StochasticError::Probability { .. } => {
            OutOfRangeError::new_err(text)
        }
        StochasticError::Empty
        | StochasticError::StreamLength { .. }
        | StochasticError::Shape { .. }
        | StochasticError::Structure { .. }
        | StochasticError::Index { .. }
        | StochasticError::Group { .. } => ShapeError::new_err(text),
        StochasticError::Name { .. }
        | StochasticError::Factors { .. }
        | StochasticError::Representations { .. }
        | StochasticError::JointUnipolar => ParameterError::new_err(text),
        StochasticError::Dimension { .. }
        | StochasticError::Correlated { .. }
        | StochasticError::Computed
        | StochasticError::Ordered => CorrelationError::new_err(text),
        StochasticError::Origin | StochasticError::Packing { .. } => WireError::new_err(text),
        _ => HescError::new_err(text),
    }
}

/// What asks for a key in Python.
fn argument(key: AutomorphismKey) -> String {
    match key {
        AutomorphismKey::Rotation(steps) => format!("rotations=[{steps}]"),
        AutomorphismKey::Inversion => "conjugate=True".into(),
        AutomorphismKey::Exponent(_) => "slot_rotations, unpacking or spreading".into(),
    }
}

fn of_scheme(error: &SchemeError) -> PyErr {
    let text = error.to_string();
    match error {
        SchemeError::MissingKey { what, key } => ParameterError::new_err(format!(
            "there is no key for {what}; the owner of the secret key makes it with {}",
            argument(*key)
        )),
        SchemeError::Security { .. } | SchemeError::Weak { .. } => {
            let named = "pass assurance=\"insecure\"";
            SecurityError::new_err(text.replace("name the weaker level explicitly", named))
        }
        SchemeError::Math(_)
        | SchemeError::Parameter { .. }
        | SchemeError::ParameterMismatch { .. }
        | SchemeError::NotInScheme { .. }
        | SchemeError::NoSuchLevel { .. }
        | SchemeError::NotShared { .. }
        | SchemeError::PackingCannot { .. } => ParameterError::new_err(text),
        SchemeError::KeyMismatch { .. } => KeyMismatchError::new_err(text),
        SchemeError::NoiseBudget { .. }
        | SchemeError::CountBound { .. }
        | SchemeError::ScaleMismatch { .. }
        | SchemeError::LastLevel { .. }
        | SchemeError::CannotCompact { .. } => NoiseBudgetError::new_err(text),
        SchemeError::NotACount { .. }
        | SchemeError::NoiseTooLarge
        | SchemeError::Passphrase { .. } => DecryptionError::new_err(text),
        SchemeError::Value { .. } => OutOfRangeError::new_err(text),
        SchemeError::Wire { .. } => WireError::new_err(text),
        SchemeError::LevelMismatch { .. }
        | SchemeError::NotRelinearised { .. }
        | SchemeError::TooManyComponents { .. }
        | SchemeError::TooManyValues { .. }
        | SchemeError::BlockCount { .. }
        | SchemeError::Empty
        | SchemeError::BlockIndex { .. } => ShapeError::new_err(text),
        _ => HescError::new_err(text),
    }
}

/// The exception for an error of any layer.
pub fn to_py(error: OfCircuits) -> PyErr {
    let text = error.to_string();
    match error {
        OfCircuits::Scheme(error) => of_scheme(&error),
        OfCircuits::Stochastic(error) => of_stochastic(&error),
        OfCircuits::Correlated { .. } => CorrelationError::new_err(text),
        OfCircuits::FusionOverflow { .. }
        | OfCircuits::FusionBase { .. }
        | OfCircuits::FusionOfOnes { .. }
        | OfCircuits::Fused => FusionError::new_err(text),
        OfCircuits::CountOverflow { .. } => NoiseBudgetError::new_err(text),
        OfCircuits::Count { .. } => DecryptionError::new_err(text),
        OfCircuits::Weight { .. } => OutOfRangeError::new_err(text),
        OfCircuits::Representation { .. } | OfCircuits::Representations { .. } => {
            ParameterError::new_err(text)
        }
        _ => ShapeError::new_err(text),
    }
}

/// The exception for an error of a gate circuit.
pub fn gate_to_py(error: GateError) -> PyErr {
    let text = error.to_string();
    match error {
        GateError::Bristol { .. } => WireError::new_err(text),
        GateError::Inputs { .. } => ShapeError::new_err(text),
        GateError::Number { .. } => OutOfRangeError::new_err(text),
        GateError::Size { .. } => ParameterError::new_err(text),
        GateError::NoRoom { .. } => NoiseBudgetError::new_err(text),
        GateError::Scheme(error) => of_scheme(&error),
        _ => CircuitError::new_err(text),
    }
}

/// The exception for what a plan refuses.
pub fn plan_to_py(error: PlanError) -> PyErr {
    let text = error.to_string();
    match error {
        PlanError::Scheme(error) => of_scheme(&error),
        PlanError::NoRoom { .. } => NoiseBudgetError::new_err(text),
        PlanError::Feature { .. }
        | PlanError::Number { .. }
        | PlanError::Norm { .. }
        | PlanError::Weights { .. } => OutOfRangeError::new_err(text),
        PlanError::Places { .. }
        | PlanError::Count { .. }
        | PlanError::Record { .. }
        | PlanError::Records { .. }
        | PlanError::Samples { .. }
        | PlanError::Lengths { .. } => ShapeError::new_err(text),
        _ => ParameterError::new_err(text),
    }
}

/// The exception for what a client refuses.
pub fn client_to_py(error: ClientError) -> PyErr {
    let text = error.to_string();
    match error {
        ClientError::Document { .. } => WireError::new_err(text),
        ClientError::NoWords
        | ClientError::Keys
        | ClientError::NoQuery
        | ClientError::Size { .. }
        | ClientError::NoProbabilities => ParameterError::new_err(text),
        ClientError::Shape { .. } | ClientError::Samples { .. } => ShapeError::new_err(text),
        ClientError::Plan(error) => plan_to_py(error),
        _ => OutOfRangeError::new_err(text),
    }
}

/// [`to_py`] for an error of a lower layer.
pub fn scheme_to_py(error: SchemeError) -> PyErr {
    of_scheme(&error)
}

/// [`to_py`] for an error of the encoders.
pub fn stochastic_to_py(error: StochasticError) -> PyErr {
    of_stochastic(&error)
}
