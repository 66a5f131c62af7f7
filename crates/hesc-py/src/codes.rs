//! Encrypted binary codes and their distances. Sets are lattices with words of 32 bits: what `params` opens.

use std::sync::Arc;

use hesc_circuits::codes::{self, Distances};
use hesc_schemes::rlwe::{PublicKey as OfSet, SecretKey as SecretOfSet};
use hesc_schemes::streams::lattice::Hiding;
use hesc_schemes::wire::{Kind, Reader};
use hesc_schemes::{Bfv, SchemeError};
use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::erased::{PublicOf, SecretOf, os_rng};
use crate::errors::{ParameterError, ShapeError, scheme_to_py, to_py};
use crate::interrupt::interruptible;
use crate::keys::{StreamPublicKey, StreamSecretKey};
use crate::params::StreamParams;
use crate::workers::Compute;

fn unsuitable() -> PyErr {
    ParameterError::new_err(
        "distances of codes are computed by BFV in the coefficients of one or more primes of 31 bits at most; \
         take the set bfv_1024_distances, or another of these",
    )
}

fn scheme_of(params: &StreamParams) -> PyResult<&Bfv<u32>> {
    params.of_type().ok_or_else(unsuitable)
}

fn public_of(key: &StreamPublicKey) -> PyResult<(&Bfv<u32>, &OfSet<u32>)> {
    let key: Option<&PublicOf<Bfv<u32>>> = key.0.as_any().downcast_ref();
    key.map(|key| (&key.scheme, &key.key)).ok_or_else(unsuitable)
}

fn secret_of(key: &StreamSecretKey) -> PyResult<(&Bfv<u32>, &SecretOfSet<u32>)> {
    let key: Option<&SecretOf<Bfv<u32>>> = key.0.as_any().downcast_ref();
    key.map(|key| (&key.scheme, &key.key)).ok_or_else(unsuitable)
}

/// Bytes of so many codes under the secret key, and of their distances to so many records in the clear.
#[pyfunction]
pub fn codes_lengths(
    params: &StreamParams,
    codes: usize,
    bits: usize,
    records: usize,
) -> PyResult<(usize, usize)> {
    let scheme = scheme_of(params)?;
    scheme.check_codes(bits).map_err(scheme_to_py)?;
    // Those in the clear come in groups, those that are encrypted in slabs.
    let down = codes::distances_length(scheme, records, codes, bits);
    Ok((codes::seeded_length(scheme, codes, bits), down))
}

/// Packed rows and the bits of each.
fn rows<'a>(codes: &'a PyReadonlyArray2<'_, u64>) -> PyResult<(&'a [u64], usize)> {
    let words = codes.as_slice().map_err(|_| ShapeError::new_err("codes are not contiguous"))?;
    Ok((words, 64 * codes.as_array().ncols()))
}

/// Codes under the secret key.
#[pyclass(frozen, module = "hesc")]
pub struct SeededCodes(codes::SeededCodes);

#[pymethods]
impl SeededCodes {
    #[staticmethod]
    fn encrypt(
        py: Python<'_>,
        key: &StreamSecretKey,
        codes: PyReadonlyArray2<'_, u64>,
    ) -> PyResult<Self> {
        let (scheme, key) = secret_of(key)?;
        let (words, bits) = rows(&codes)?;
        let mut rng = os_rng().map_err(to_py)?;
        let made = py.compute(|| codes::SeededCodes::encrypt(scheme, key, words, bits, &mut rng));
        made.map(Self).map_err(scheme_to_py)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.compute(|| self.0.to_bytes());
        PyBytes::new(py, &bytes)
    }
}

/// Encrypted codes that others compare theirs to.
#[pyclass(frozen, subclass, module = "hesc")]
pub struct EncryptedCodes(Arc<codes::EncryptedCodes>);

#[pymethods]
impl EncryptedCodes {
    /// The same codes, which subclasses start from.
    #[new]
    fn new(of: &Self) -> Self {
        Self(Arc::clone(&of.0))
    }

    /// Codes under a public key, packed rows.
    #[staticmethod]
    fn of_rows(
        py: Python<'_>,
        key: &StreamPublicKey,
        codes: PyReadonlyArray2<'_, u64>,
    ) -> PyResult<Self> {
        let (scheme, key) = public_of(key)?;
        let (words, bits) = rows(&codes)?;
        let mut rng = os_rng().map_err(to_py)?;
        let made =
            py.compute(|| codes::EncryptedCodes::encrypt(scheme, key, words, bits, &mut rng));
        made.map(Self::of).map_err(scheme_to_py)
    }

    /// Codes from their wire form, seeded or not.
    #[staticmethod]
    fn read(py: Python<'_>, params: &StreamParams, data: &[u8]) -> PyResult<Self> {
        let scheme = scheme_of(params)?;
        let read = || {
            if Reader::says(data, Kind::SeededCodes) {
                return codes::SeededCodes::from_bytes(scheme, data)?.expand();
            }
            codes::EncryptedCodes::from_bytes(scheme, data)
        };
        py.compute(read).map(Self::of).map_err(scheme_to_py)
    }

    /// The wire form.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.compute(|| self.0.to_bytes());
        PyBytes::new(py, &bytes)
    }

    /// Records, and bits of each.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.0.records(), self.0.bits())
    }

    /// Coefficients that show the distances to so many codes.
    fn coefficients(&self, codes: usize) -> u64 {
        self.0.coefficients(codes)
    }

    /// Distances to clear codes, packed rows, which the noise tells.
    fn distances(
        &self,
        py: Python<'_>,
        codes: PyReadonlyArray2<'_, u64>,
    ) -> PyResult<EncryptedDistances> {
        let (words, _) = self.operand(&codes)?;
        let made = interruptible(py, || self.0.distances_vartime(words), scheme_to_py)?;
        Ok(EncryptedDistances(Arc::new(made)))
    }

    /// Distances to clear codes, packed rows, and nothing else.
    fn distances_hidden(
        &self,
        py: Python<'_>,
        key: &StreamPublicKey,
        codes: PyReadonlyArray2<'_, u64>,
        coefficients: u64,
        statistical_bits: u32,
    ) -> PyResult<EncryptedDistances> {
        let (_, key) = public_of(key)?;
        let (words, _) = self.operand(&codes)?;
        let hiding = Hiding { coefficients, statistical_bits };
        let mut rng = os_rng().map_err(to_py)?;
        let work = || self.0.hidden_distances_vartime(key, words, hiding, &mut rng);
        Ok(EncryptedDistances(Arc::new(interruptible(py, work, scheme_to_py)?)))
    }
}

impl EncryptedCodes {
    fn of(codes: codes::EncryptedCodes) -> Self {
        Self(Arc::new(codes))
    }

    /// Rows as long as these codes.
    fn operand<'a>(&self, codes: &'a PyReadonlyArray2<'_, u64>) -> PyResult<(&'a [u64], usize)> {
        let (words, bits) = rows(codes)?;
        if bits == self.0.bits() {
            return Ok((words, bits));
        }
        Err(ShapeError::new_err(format!(
            "codes of {bits} bits have no distance to those of {}; make both with one coder",
            self.0.bits()
        )))
    }
}

/// Encrypted distances.
#[pyclass(frozen, subclass, module = "hesc")]
pub struct EncryptedDistances(Arc<Distances>);

#[pymethods]
impl EncryptedDistances {
    /// The same distances, which subclasses start from.
    #[new]
    fn new(of: &Self) -> Self {
        Self(Arc::clone(&of.0))
    }

    /// Distances from their wire form.
    #[staticmethod]
    fn read(py: Python<'_>, params: &StreamParams, data: &[u8]) -> PyResult<Self> {
        let scheme = scheme_of(params)?;
        py.compute(|| Distances::from_bytes(scheme, data))
            .map(Arc::new)
            .map(Self)
            .map_err(scheme_to_py)
    }

    /// The wire form, whose length follows from the shape.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.compute(|| self.0.to_bytes());
        PyBytes::new(py, &bytes)
    }

    /// Clear codes, and encrypted ones.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.0.shape()
    }
}

/// Distances in the clear, a row for each clear code.
#[pyfunction]
pub fn decrypt_distances<'py>(
    py: Python<'py>,
    secret: &StreamSecretKey,
    distances: &EncryptedDistances,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let (_, key) = secret_of(secret)?;
    let rows: Result<_, SchemeError> = py.compute(|| distances.0.decrypt(key));
    let (codes, records) = distances.0.shape();
    rows.map_err(scheme_to_py)?.to_pyarray(py).reshape([codes, records])
}
