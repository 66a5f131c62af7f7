//! Circuits on integers, by name of what they compute.

use hesc_circuits::gates::integers::{self, Adder, Division, Rows, Shift, Signs};
use hesc_circuits::gates::{GateError, Netlist};
use pyo3::prelude::*;

use crate::errors::ParameterError;
use crate::gates::{self, Circuit};
use crate::workers::Compute;

fn adder_named(name: &str) -> PyResult<Adder> {
    Adder::ALL.into_iter().find(|adder| adder.name() == name).ok_or_else(|| {
        let names = Adder::ALL.map(Adder::name).join(", ");
        ParameterError::new_err(format!("there is no adder {name:?}; choose one of {names}"))
    })
}

/// A circuit of one or two numbers, made without Python's lock.
fn made(
    py: Python<'_>,
    make: impl FnOnce() -> Result<Netlist, GateError> + Send,
) -> PyResult<Circuit> {
    gates::make(py.compute(make))
}

/// What is computed of numbers of one width, with an adder where one is needed.
#[pyfunction]
pub fn integer_circuit(
    py: Python<'_>,
    operation: &str,
    width: usize,
    adder: &str,
    signed: bool,
) -> PyResult<Circuit> {
    let kind = adder_named(adder)?;
    made(py, || match operation {
        "add" => integers::adder(kind, width),
        "subtract" => integers::subtractor(kind, width),
        "negate" => integers::negation(kind, width),
        "absolute" => integers::absolute(kind, width),
        "less" => integers::less(width, signed),
        "equal" => integers::equal(width),
        "select" => integers::selection(width),
        "minimum" => integers::minimum(width, signed),
        "maximum" => integers::maximum(width, signed),
        "popcount" => integers::popcount(kind, width),
        _ => Err(GateError::UnknownGate { gate: operation.to_owned() }),
    })
}

#[pyfunction]
pub fn integer_multiplier(
    py: Python<'_>,
    width: usize,
    result_width: usize,
    adder: &str,
    rows: &str,
    signed: bool,
) -> PyResult<Circuit> {
    let kind = adder_named(adder)?;
    let rows = Rows::ALL.into_iter().find(|known| known.name() == rows).ok_or_else(|| {
        ParameterError::new_err(format!("there are no rows of {rows:?}; choose bits or digits"))
    })?;
    let signs = if signed { Signs::Signed } else { Signs::Unsigned };
    made(py, || integers::multiplier(kind, rows, width, result_width, signs))
}

/// Digits of no bits stand for what is left being negative.
#[pyfunction]
pub fn integer_divider(
    py: Python<'_>,
    width: usize,
    digit: Option<u32>,
    table: bool,
    adder: &str,
) -> PyResult<Circuit> {
    let kind = adder_named(adder)?;
    let way = digit.map_or(Division::NonRestoring, |digit| match table {
        true => Division::Table { digit },
        false => Division::Restoring { digit },
    });
    made(py, || integers::divider(way, kind, width))
}

#[pyfunction]
pub fn integer_shifter(
    py: Python<'_>,
    width: usize,
    amount_width: usize,
    left: bool,
    signed: bool,
) -> PyResult<Circuit> {
    let way = match (left, signed) {
        (true, _) => Shift::Left,
        (false, false) => Shift::Right,
        (false, true) => Shift::SignedRight,
    };
    made(py, || integers::shifter(way, width, amount_width))
}

/// What is computed of many numbers.
#[pyfunction]
pub fn integers_circuit(
    py: Python<'_>,
    operation: &str,
    count: usize,
    width: usize,
    adder: &str,
    signed: bool,
) -> PyResult<Circuit> {
    let kind = adder_named(adder)?;
    made(py, || match operation {
        "sum" => integers::sum(kind, count, width),
        "sort" => integers::sorter(count, width, signed),
        "largest" => integers::largest(count, width, signed),
        _ => Err(GateError::UnknownGate { gate: operation.to_owned() }),
    })
}

/// A function of two numbers by its values, those of the first number next to each other.
#[pyfunction]
pub fn integer_table(
    py: Python<'_>,
    width: usize,
    result_width: usize,
    values: Vec<u64>,
) -> PyResult<Circuit> {
    made(py, || {
        let value = |a: u64, b: u64| values.get((a | b << width) as usize).copied().unwrap_or(0);
        integers::table(width, result_width, value)
    })
}
