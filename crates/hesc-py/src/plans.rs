//! What plans that all sides derive have in common in Python.

use hesc_circuits::plans::{Declaration, Plan, PlanError};
use hesc_math::AesCtrRng;
use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat};

use crate::errors::{plan_to_py, scheme_to_py};
use crate::inputs::{Any, called, wire_bytes};
use crate::vectors::{VectorParams, VectorPublicKey, VectorSecretKey, generator};
use crate::workers::Compute;

/// What numbers are encrypted under.
#[derive(FromPyObject)]
pub enum Key<'py> {
    Secret(PyRef<'py, VectorSecretKey>),
    Public(PyRef<'py, VectorPublicKey>),
}

/// Derives a plan, without the interpreter lock.
pub fn derived<D: Declaration + Send>(py: Python<'_>, declared: D) -> PyResult<Plan<D>>
where
    Plan<D>: Send,
{
    py.compute(|| Plan::new(declared)).map_err(plan_to_py)
}

/// Reads a plan from bytes of any type, without the interpreter lock.
pub fn read<D: Declaration>(data: &Any<'_>) -> PyResult<Plan<D>>
where
    Plan<D>: Send,
{
    let data = wire_bytes(data)?;
    let bytes = data.as_bytes();
    data.py().compute(|| Plan::from_bytes(bytes)).map_err(plan_to_py)
}

/// What pickle and copy make a plan of: its class reads the wire form.
pub fn reduced<'py, T: PyTypeInfo, D: Declaration>(
    py: Python<'py>,
    plan: &Plan<D>,
) -> PyResult<(Any<'py>, (Bound<'py, PyBytes>,))> {
    Ok((py.get_type::<T>().getattr("from_bytes")?, (PyBytes::new(py, &plan.to_bytes()),)))
}

/// The public class of the set that a plan's keys are of.
pub fn params<'py, D: Declaration>(py: Python<'py>, plan: &Plan<D>) -> PyResult<Any<'py>> {
    let native = VectorParams(plan.products().scheme().clone());
    called(py, "hesc.params.vectors", "VectorParams", (native,))
}

/// Bytes that an operation makes with a new generator, without the interpreter lock.
pub fn bytes<'py>(
    py: Python<'py>,
    operation: impl FnOnce(&mut AesCtrRng) -> Result<Vec<u8>, PlanError> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &detached(py, operation)?))
}

/// Runs an operation with a new generator, without the interpreter lock.
pub fn detached<T: Send>(
    py: Python<'_>,
    operation: impl FnOnce(&mut AesCtrRng) -> Result<T, PlanError> + Send,
) -> PyResult<T> {
    let mut rng = generator().map_err(scheme_to_py)?;
    py.compute(|| operation(&mut rng)).map_err(plan_to_py)
}

/// A number with two digits, as Python writes it.
pub fn short(py: Python<'_>, number: f64) -> PyResult<String> {
    PyFloat::new(py, number).call_method1("__format__", (".2g",))?.extract()
}
