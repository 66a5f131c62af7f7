//! Numbers in the clear, encoded.

use hesc_schemes::Complex64;
use hesc_schemes::rlwe::{self, Rlwe};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use super::{VectorParams, basis_from, detached};

#[pyclass(frozen, module = "hesc")]
pub struct Plaintext(pub(super) Rlwe, pub(super) rlwe::Plaintext);

#[pymethods]
impl Plaintext {
    #[staticmethod]
    fn encode_integers(
        py: Python<'_>,
        params: &VectorParams,
        values: PyReadonlyArray1<'_, i64>,
        coefficients: bool,
    ) -> PyResult<Self> {
        let values = values.as_slice()?;
        let plaintext = detached(py, || {
            if coefficients {
                params.0.encode_coefficients(values)
            } else {
                params.0.encode_integers(values)
            }
        })?;
        Ok(Self(params.0.clone(), plaintext))
    }

    /// Values of the slots of an odd ring by their coordinates, slot after slot.
    #[staticmethod]
    fn encode_slots(
        py: Python<'_>,
        params: &VectorParams,
        coordinates: PyReadonlyArray1<'_, u64>,
        basis: &str,
    ) -> PyResult<Self> {
        let (coordinates, basis) = (coordinates.as_slice()?, basis_from(basis)?);
        let plaintext = detached(py, || params.0.encode_slots(basis, coordinates))?;
        Ok(Self(params.0.clone(), plaintext))
    }

    /// An operand in the clear, which cannot be encrypted.
    #[staticmethod]
    fn encode_complex(
        py: Python<'_>,
        params: &VectorParams,
        values: PyReadonlyArray1<'_, Complex64>,
        scale: f64,
        level: usize,
    ) -> PyResult<Self> {
        let values = values.as_slice()?;
        let plaintext = detached(py, || params.0.encode_complex(values, scale, level))?;
        Ok(Self(params.0.clone(), plaintext))
    }

    /// Numbers to be encrypted, within a public bound.
    #[staticmethod]
    fn encode_bounded(
        py: Python<'_>,
        params: &VectorParams,
        values: PyReadonlyArray1<'_, Complex64>,
        bound: f64,
    ) -> PyResult<Self> {
        let values = values.as_slice()?;
        let (scale, level) = (params.0.default_scale(), params.0.levels());
        let plaintext = detached(py, || params.0.encode_bounded(values, scale, level, bound))?;
        Ok(Self(params.0.clone(), plaintext))
    }

    fn decode_integers<'py>(
        &self,
        py: Python<'py>,
        coefficients: bool,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let values = detached(py, || {
            if coefficients {
                self.0.decode_coefficients(&self.1)
            } else {
                self.0.decode_integers(&self.1)
            }
        })?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// The coordinates of the values in the slots of an odd ring, slot after slot.
    fn decode_slots<'py>(
        &self,
        py: Python<'py>,
        basis: &str,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let basis = basis_from(basis)?;
        let coordinates = detached(py, || self.0.decode_slots(basis, &self.1))?;
        Ok(PyArray1::from_vec(py, coordinates))
    }

    fn decode_complex<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        Ok(PyArray1::from_vec(py, detached(py, || self.0.decode_complex(&self.1))?))
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.1.words() * size_of::<u64>()
    }
    #[getter]
    fn scale(&self) -> f64 {
        self.1.scale()
    }
    #[getter]
    fn level(&self) -> Option<usize> {
        self.1.level()
    }
}
