//! What of the processor is used.

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

/// The vector instructions that this process takes.
#[pyfunction]
pub fn kernels() -> PyResult<&'static str> {
    let kernels = hesc_kernels::kernels();
    kernels
        .map(hesc_kernels::Kernels::name)
        .map_err(|error| PyImportError::new_err(error.to_string()))
}
