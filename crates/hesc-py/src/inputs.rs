//! Arguments of public methods: of any type, and checked by the package's own functions, as those of its other methods are.

use std::fmt::Debug;

use numpy::{PyArrayDyn, PyArrayMethods as _, PyReadonlyArrayDyn, PyUntypedArrayMethods as _};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::{Borrowed, IntoPyObjectExt as _};

use crate::errors::{HescError, ParameterError, ShapeError};

const CHECKS: &str = "hesc._support.inputs";

pub type Any<'py> = Bound<'py, PyAny>;

/// What a caller gave in the place of a default, if anything.
pub struct Given<'py>(pub Option<Any<'py>>);

impl<'py> FromPyObject<'_, 'py> for Given<'py> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(Some(given.to_owned())))
    }
}

impl<'py> Given<'py> {
    pub fn or(self, py: Python<'py>, default: impl IntoPyObject<'py>) -> PyResult<Any<'py>> {
        self.0.map_or_else(|| default.into_bound_py_any(py), Ok)
    }
}

/// What a function of the package makes of these arguments.
pub fn called<'py>(
    py: Python<'py>,
    module: &str,
    function: &str,
    arguments: impl PyCallArgs<'py>,
) -> PyResult<Any<'py>> {
    py.import(module)?.getattr(function)?.call1(arguments)
}

/// Arguments of a type or size that nothing takes get an error of ours, which names the call.
pub fn explained<T>(py: Python<'_>, call: &str, make: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    make().map_err(|error| {
        let foreign = error.is_instance_of::<PyTypeError>(py)
            || error.is_instance_of::<PyOverflowError>(py)
            || error.is_instance_of::<PyValueError>(py);
        if !foreign || error.is_instance_of::<HescError>(py) {
            return error;
        }
        let said = error.value(py);
        ParameterError::new_err(format!("{call}: {said}; its help says what it takes"))
    })
}

/// Real numbers, contiguous.
pub fn real_array<'py>(values: &Any<'py>, name: &str) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    // What the function gives back as it is: a call of it takes a part of what encrypting one sample does.
    if let Ok(array) = values.cast_exact::<PyArrayDyn<f64>>()
        && array.is_c_contiguous()
        && array.is_aligned()
    {
        return Ok(array.try_readonly()?);
    }
    called(values.py(), CHECKS, "real_array", (values, name))?.extract()
}

/// Whole numbers, contiguous.
pub fn whole_array<'py>(values: &Any<'py>, name: &str) -> PyResult<PyReadonlyArrayDyn<'py, i64>> {
    called(values.py(), CHECKS, "whole_array", (values, name))?.extract()
}

/// A whole number in a range.
pub fn whole(value: &Any<'_>, name: &str, least: usize, most: usize) -> PyResult<usize> {
    called(value.py(), CHECKS, "whole", (value, name, least, most))?.extract()
}

/// One of some names.
pub fn one_name(value: &Any<'_>, name: &str, names: &[&str]) -> PyResult<String> {
    called(value.py(), CHECKS, "one_name", (value, name, names))?.extract()
}

/// Bytes of any type that holds them.
pub fn wire_bytes<'py>(data: &Any<'py>) -> PyResult<Bound<'py, PyBytes>> {
    Ok(called(data.py(), CHECKS, "wire_bytes", (data,))?.cast_into()?)
}

/// A shape as Python writes it.
pub fn written<T: Debug>(shape: &[T]) -> String {
    match shape {
        [length] => format!("({length:?},)"),
        _ => format!("{shape:?}").replace('[', "(").replace(']', ")"),
    }
}

/// Refuses a shape.
pub fn misfit<T>(text: String) -> PyResult<T> {
    Err(ShapeError::new_err(text))
}
