//! Distances of encrypted codes to encrypted ones.

use hesc_circuits::codes::galleries;
use numpy::{PyArray1, PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{ShapeError, scheme_to_py};
use crate::interrupt::interruptible;
use crate::vectors::{VectorParams, VectorSecretKey, generator};
use crate::workers::Compute;

type Codes<'py> = PyReadonlyArray2<'py, u64>;

/// What both sides agree upon.
#[pyclass(frozen, module = "hesc")]
pub struct GalleryPlan(galleries::Plan);

impl GalleryPlan {
    /// Rows of the plan's bits.
    fn rows<'a>(&self, codes: &'a Codes<'_>) -> PyResult<&'a [u64]> {
        let bits = 64 * codes.as_array().ncols();
        if bits != self.0.bits() {
            return Err(ShapeError::new_err(format!(
                "codes of {bits} bits; the plan is for {}",
                self.0.bits()
            )));
        }
        codes.as_slice().map_err(|_| ShapeError::new_err("codes are not contiguous"))
    }
}

#[pymethods]
impl GalleryPlan {
    #[new]
    fn new(py: Python<'_>, bits: usize, piece: usize) -> PyResult<Self> {
        py.compute(|| galleries::Plan::new(bits, piece)).map(Self).map_err(scheme_to_py)
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        py.compute(|| galleries::Plan::from_bytes(data)).map(Self).map_err(scheme_to_py)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// The set that its keys are of.
    #[getter]
    fn params(&self) -> VectorParams {
        VectorParams(self.0.products().scheme().clone())
    }
    /// Bits of a code, of a piece, and of the coefficients of an answer; codes that share ciphertexts.
    #[getter]
    fn numbers(&self) -> (usize, usize, u32, usize) {
        (self.0.bits(), self.0.piece(), self.0.answer_bits(), self.0.capacity())
    }

    /// Bytes of a gallery, of probes, and of the distances of one probe in one part.
    fn bytes_of(&self, records: usize, probes: usize) -> (usize, usize, usize) {
        (
            galleries::gallery_bytes(&self.0, records),
            galleries::probes_bytes(&self.0, probes),
            galleries::distances_bytes(&self.0, records),
        )
    }

    fn encrypt_gallery<'py>(
        &self,
        py: Python<'py>,
        secret: &VectorSecretKey,
        codes: Codes<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let words = self.rows(&codes)?;
        let mut rng = generator().map_err(scheme_to_py)?;
        let work = || galleries::encrypt_gallery(&self.0, &secret.1, words, &mut rng);
        Ok(PyBytes::new(py, &interruptible(py, work, scheme_to_py)?))
    }

    fn encrypt_probes<'py>(
        &self,
        py: Python<'py>,
        secret: &VectorSecretKey,
        codes: Codes<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let words = self.rows(&codes)?;
        let mut rng = generator().map_err(scheme_to_py)?;
        let work = || galleries::encrypt_probes(&self.0, &secret.1, words, &mut rng);
        Ok(PyBytes::new(py, &interruptible(py, work, scheme_to_py)?))
    }

    /// Records, probes, which probe, the first record, and the distances from there on.
    #[expect(clippy::type_complexity, reason = "a tuple of Python's")]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        secret: &VectorSecretKey,
        answer: &[u8],
    ) -> PyResult<(usize, usize, usize, usize, Bound<'py, PyArray1<u32>>)> {
        let found = py.compute(|| galleries::decrypt(&self.0, &secret.1, answer));
        let found = found.map_err(scheme_to_py)?;
        let distances = found.distances.to_pyarray(py);
        Ok((found.records, found.probes, found.probe, found.first, distances))
    }
}

/// Encrypted codes to be looked for.
#[pyclass(frozen, module = "hesc")]
pub struct GalleryProbes(galleries::Probes);

#[pymethods]
impl GalleryProbes {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, plan: &GalleryPlan, data: &[u8]) -> PyResult<Self> {
        let read = py.compute(|| galleries::Probes::from_bytes(&plan.0, data));
        read.map(Self).map_err(scheme_to_py)
    }

    fn __len__(&self) -> usize {
        self.0.count()
    }
}

/// Encrypted codes that probes are compared to.
#[pyclass(frozen, module = "hesc")]
pub struct EncryptedGallery(galleries::Gallery);

#[pymethods]
impl EncryptedGallery {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, plan: &GalleryPlan, data: &[u8]) -> PyResult<Self> {
        let read = py.compute(|| galleries::Gallery::from_bytes(&plan.0, data));
        read.map(Self).map_err(scheme_to_py)
    }

    fn __len__(&self) -> usize {
        self.0.records()
    }

    /// Blocks of codes that share ciphertexts.
    #[getter]
    fn blocks(&self) -> usize {
        self.0.blocks()
    }

    fn compare<'py>(
        &self,
        py: Python<'py>,
        probes: &GalleryProbes,
        probe: usize,
        first: usize,
        blocks: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let work = || self.0.compare(&probes.0, probe, first, blocks);
        Ok(PyBytes::new(py, &interruptible(py, work, scheme_to_py)?))
    }
}
