//! Distances of encrypted codes to encrypted ones.

use hesc_circuits::codes::galleries;
use numpy::{PyArray1, PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{ShapeError, scheme_to_py};
use crate::inputs::{Any, Given, called, whole};
use crate::interrupt::interruptible;
use crate::plans;
use crate::vectors::{VectorSecretKey, generator};
use crate::workers::Compute;

type Codes<'py> = PyReadonlyArray2<'py, u64>;

/// Bits of codes, how they lie in ciphertexts, and with it sizes: public, on both sides.
///
/// Args:
///     bits: of a code: a multiple of 64, up to 4096.
///     piece: bits of a code that lie side by side in one ciphertext; they make up a code. All of them (`piece=bits`) for one
///         comparison: a probe is one ciphertext. Fewer for a search: a ciphertext of the gallery then has `capacity` codes'
///         pieces, so that answers and the time for a record shrink, and a probe has `bits / piece` ciphertexts.
///
/// Raises:
///     ParameterError: bits that no set has room for, or pieces that do not make up a code.
///     ShapeError, OutOfRangeError: no whole numbers.
#[pyclass(frozen, module = "hesc.codes")]
pub struct GalleryPlan(galleries::Plan);

impl GalleryPlan {
    /// Rows of the plan's bits.
    fn rows<'a>(&self, codes: &'a Codes<'_>) -> PyResult<&'a [u64]> {
        let (bits, wanted) = (64 * codes.as_array().ncols(), self.bits());
        if bits != wanted {
            let text = format!("codes of {bits} bits; the plan is for {wanted}");
            return Err(ShapeError::new_err(text));
        }
        codes.as_slice().map_err(|_| ShapeError::new_err("codes are not contiguous"))
    }
}

#[pymethods]
impl GalleryPlan {
    #[new]
    #[pyo3(signature = (bits, *, piece=Given(None)), text_signature = "(bits, *, piece=64)")]
    fn new<'py>(py: Python<'py>, bits: &Any<'py>, piece: Given<'py>) -> PyResult<Self> {
        let bits = whole(bits, "bits", 0, usize::MAX >> 1)?;
        let piece = whole(&piece.or(py, 64)?, "piece", 0, usize::MAX >> 1)?;
        plans::derived(py, galleries::Declared { bits, piece }).map(Self)
    }

    /// A plan from its wire form. What it says beyond bits must follow from them.
    ///
    /// Raises:
    ///     WireError, ParameterError: damaged bytes, another object's, or bits that cannot be.
    #[staticmethod]
    fn from_bytes(data: &Any<'_>) -> PyResult<Self> {
        plans::read(data).map(Self)
    }

    /// The wire form.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Any<'py>, (Bound<'py, PyBytes>,))> {
        plans::reduced::<Self, _>(py, &self.0)
    }

    fn __repr__(&self) -> String {
        format!(
            "<hesc.codes.GalleryPlan: codes of {} bits in pieces of {}, N = {}, {} codes to a block>",
            self.bits(),
            self.piece(),
            self.0.ring_degree(),
            self.capacity()
        )
    }

    /// The set that keys are made for; plans of one set share keys.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        plans::params(py, &self.0)
    }

    /// Bits of a code.
    #[getter]
    fn bits(&self) -> usize {
        self.0.declared().bits
    }

    /// Bits of a code that lie side by side.
    #[getter]
    fn piece(&self) -> usize {
        self.0.declared().piece
    }

    /// Bits of each coefficient of an answer.
    #[getter]
    fn answer_bits(&self) -> u32 {
        self.0.answer_bits()
    }

    /// Codes of a gallery that share ciphertexts: a block.
    #[getter]
    fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Bytes of a gallery of so many records, of probes, and of one probe's distances.
    ///
    /// Raises:
    ///     ShapeError, OutOfRangeError: no whole numbers from 1 to what a gallery or a message takes.
    #[pyo3(
        signature = (records=Given(None), probes=Given(None)),
        text_signature = "($self, records=1, probes=1)"
    )]
    fn sizes<'py>(
        &self,
        py: Python<'py>,
        records: Given<'py>,
        probes: Given<'py>,
    ) -> PyResult<Any<'py>> {
        let records = whole(&records.or(py, 1)?, "records", 1, galleries::MOST_RECORDS)?;
        let probes = whole(&probes.or(py, 1)?, "probes", 1, galleries::MOST_PROBES)?;
        let bytes = (
            galleries::gallery_bytes(&self.0, records),
            galleries::probes_bytes(&self.0, probes),
            galleries::distances_bytes(&self.0, records),
        );
        called(py, "hesc.codes.galleries", "GallerySizes", bytes)
    }
}

/// A gallery under the secret key.
#[pyfunction]
pub fn encrypt_gallery<'py>(
    py: Python<'py>,
    plan: &GalleryPlan,
    secret: &VectorSecretKey,
    codes: Codes<'_>,
) -> PyResult<Bound<'py, PyBytes>> {
    let words = plan.rows(&codes)?;
    let mut rng = generator().map_err(scheme_to_py)?;
    let work = || galleries::encrypt_gallery(&plan.0, &secret.1, words, &mut rng);
    Ok(PyBytes::new(py, &interruptible(py, work, scheme_to_py)?))
}

/// Probes under the secret key.
#[pyfunction]
pub fn encrypt_probes<'py>(
    py: Python<'py>,
    plan: &GalleryPlan,
    secret: &VectorSecretKey,
    codes: Codes<'_>,
) -> PyResult<Bound<'py, PyBytes>> {
    let words = plan.rows(&codes)?;
    let mut rng = generator().map_err(scheme_to_py)?;
    let work = || galleries::encrypt_probes(&plan.0, &secret.1, words, &mut rng);
    Ok(PyBytes::new(py, &interruptible(py, work, scheme_to_py)?))
}

/// Records, probes, which probe, the first record, and the distances from there on.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "a tuple of Python's")]
pub fn decrypt_gallery_distances<'py>(
    py: Python<'py>,
    plan: &GalleryPlan,
    secret: &VectorSecretKey,
    answer: &[u8],
) -> PyResult<(usize, usize, usize, usize, Bound<'py, PyArray1<u32>>)> {
    let found = py.compute(|| galleries::decrypt(&plan.0, &secret.1, answer));
    let found = found.map_err(scheme_to_py)?;
    let distances = found.distances.to_pyarray(py);
    Ok((found.records, found.probes, found.probe, found.first, distances))
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
