//! The frame of what a key owner gives away.

use hesc_schemes::public_keys::{self, Part};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::errors::{ParameterError, scheme_to_py};
use crate::workers::Compute;

fn named(name: &str) -> PyResult<Part> {
    Part::named(name).ok_or_else(|| {
        let names = Part::ALL.map(Part::name).join(", ");
        ParameterError::new_err(format!("there is no key {name:?}; choose among {names}"))
    })
}

/// One frame of keys by their names.
#[pyfunction]
pub fn join_keys<'py>(
    py: Python<'py>,
    parts: Vec<(String, PyBackedBytes)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let parts = parts.iter().map(|(name, key)| Ok((named(name)?, &**key)));
    let parts = parts.collect::<PyResult<Vec<_>>>()?;
    let bytes = py.compute(|| public_keys::join(&parts)).map_err(scheme_to_py)?;
    Ok(PyBytes::new(py, &bytes))
}

/// The keys in a frame, those that are asked for: names and wire forms, which are not opened yet.
#[pyfunction]
#[pyo3(signature = (data, only))]
pub fn split_keys<'py>(
    py: Python<'py>,
    data: &[u8],
    only: Option<Vec<String>>,
) -> PyResult<Vec<(&'static str, Bound<'py, PyBytes>)>> {
    let only = only.map(|names| names.iter().map(|name| named(name)).collect::<PyResult<Vec<_>>>());
    let only = only.transpose()?;
    let parts = py.compute(|| public_keys::split(data)).map_err(scheme_to_py)?;
    let wanted = |part: &Part| only.as_ref().is_none_or(|only| only.contains(part));
    let parts = parts.into_iter().filter(|(part, _)| wanted(part));
    Ok(parts.map(|(part, key)| (part.name(), PyBytes::new(py, key))).collect())
}
