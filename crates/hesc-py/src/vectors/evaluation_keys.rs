//! Keys that a server computes with.

use hesc_schemes::rlwe::{self, Rlwe};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::{VectorParams, detached};
use crate::workers::Compute;

#[pyclass(frozen, module = "hesc")]
pub struct RelinKey(pub(super) Rlwe, pub(crate) rlwe::RelinKey);

#[pymethods]
impl RelinKey {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, params: &VectorParams, data: &[u8]) -> PyResult<Self> {
        let key = detached(py, || params.0.relin_key_from_bytes(data))?;
        Ok(Self(params.0.clone(), key))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.compute(|| self.0.relin_key_to_bytes(&self.1)))
    }

    /// The same key in a set that was made of its own by another plaintext modulus.
    fn in_set(&self, py: Python<'_>, params: &VectorParams) -> PyResult<Self> {
        let key = detached(py, || params.0.relin_key_of(&self.0, &self.1))?;
        Ok(Self(params.0.clone(), key))
    }
}

#[pyclass(frozen, module = "hesc")]
pub struct GaloisKeys(pub(super) Rlwe, pub(crate) rlwe::GaloisKeys);

#[pymethods]
impl GaloisKeys {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, params: &VectorParams, data: &[u8]) -> PyResult<Self> {
        let keys = detached(py, || params.0.galois_keys_from_bytes(data))?;
        Ok(Self(params.0.clone(), keys))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.compute(|| self.0.galois_keys_to_bytes(&self.1)))
    }

    #[getter]
    fn elements(&self) -> Vec<usize> {
        self.1.elements().collect()
    }

    /// Whether there is a key for rotations by so many steps; none is needed for none.
    fn rotates(&self, steps: i64) -> bool {
        let has = |wanted| wanted == 1 || self.1.elements().any(|element| element == wanted);
        self.0.rotation_element(steps).is_ok_and(has)
    }
}
