//! BFV, BGV and CKKS with multiplication. An object keeps its parameter set, so that every method
//! finds its tables.

mod ciphertext;
mod evaluation_keys;
mod keys;

use std::path::PathBuf;

use hesc_circuits::vectors as circuits;
use hesc_circuits::vectors::Label;
use hesc_math::AesCtrRng;
use hesc_schemes::rlwe::{self, Rlwe, SchemeKind, Spec};
use hesc_schemes::rlwe::{PlaintextSpace, PrimeSet};
use hesc_schemes::{Complex64, SchemeError, SharedSoFar};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{ParameterError, scheme_to_py};
use crate::keys::open_key_file;
use crate::params::{assurance_from, power_of_two};
use crate::presets;
use crate::workers::Compute;

pub use ciphertext::{LeveledCiphertext, LeveledMatrix, dot_rotations, matrix_rotations};
pub use evaluation_keys::{GaloisKeys, RelinKey};
pub use keys::{LeveledPublicKey, LeveledSecretKey};

fn generator() -> Result<AesCtrRng, SchemeError> {
    Ok(AesCtrRng::from_os()?)
}

fn scheme_from(name: &str) -> PyResult<SchemeKind> {
    SchemeKind::named(name).ok_or_else(|| {
        let names: Vec<&str> = SchemeKind::ALL.iter().map(|kind| kind.name()).collect();
        ParameterError::new_err(format!(
            "unknown scheme {name:?}; choose one of {}",
            names.join(", ")
        ))
    })
}

/// Runs an operation without the interpreter lock.
fn detached<T: Send>(
    py: Python<'_>,
    operation: impl FnOnce() -> Result<T, SchemeError> + Send,
) -> PyResult<T> {
    py.compute(operation).map_err(scheme_to_py)
}

/// The largest primes of these sizes, none twice.
#[pyfunction]
pub fn primes_of_bits(ring_degree: usize, bits: Vec<u32>) -> PyResult<Vec<u64>> {
    let primes = power_of_two(ring_degree)?.ntt_primes_of_bits(&bits);
    primes.map_err(|error| scheme_to_py(error.into()))
}

#[pyclass(frozen, module = "hesc")]
pub struct LeveledParams(Rlwe);

#[pymethods]
impl LeveledParams {
    #[new]
    #[pyo3(signature = (*, scheme, ring_degree, coeff_moduli, levels, special_moduli, plain_modulus, scale, bound, assurance))]
    #[allow(clippy::too_many_arguments, reason = "keywords of the Python class")]
    fn new(
        py: Python<'_>,
        scheme: &str,
        ring_degree: usize,
        coeff_moduli: Vec<u64>,
        levels: Vec<Vec<usize>>,
        special_moduli: Vec<u64>,
        plain_modulus: Option<u64>,
        scale: Option<f64>,
        bound: f64,
        assurance: &str,
    ) -> PyResult<Self> {
        let plaintext = match (plain_modulus, scale) {
            (Some(plain_modulus), None) => PlaintextSpace::Integers { plain_modulus },
            (None, Some(scale)) => PlaintextSpace::Approximate { scale },
            _ => return Err(ParameterError::new_err("give either plain_modulus or scale")),
        };
        let scheme = scheme_from(scheme)?;
        let (ring, packing) = (power_of_two(ring_degree)?, None);
        if levels.iter().flatten().any(|&place| place >= coeff_moduli.len()) {
            return Err(ParameterError::new_err("levels are lists of places in coeff_moduli"));
        }
        let levels = levels.into_iter().map(PrimeSet::new).collect();
        let spec =
            Spec { scheme, ring, coeff_moduli, levels, special_moduli, plaintext, bound, packing };
        let assurance = assurance_from(assurance)?;
        detached(py, || Rlwe::new(spec, assurance)).map(Self)
    }

    /// A named set of vectors.
    #[staticmethod]
    fn preset(py: Python<'_>, name: &str, bound: f64) -> PyResult<Self> {
        let preset = presets::named(name, true)?;
        let spec = preset.vectors(bound).map_err(scheme_to_py)?;
        let spec = spec.ok_or_else(|| ParameterError::new_err("it is a set for streams"))?;
        detached(py, || Rlwe::new(spec, preset.assurance())).map(Self)
    }

    /// The preset's name, or one that says how secure a set of one's own is.
    #[getter]
    fn name(&self) -> String {
        let assurance = self.0.spec().assurance().name();
        presets::name_of(&self.0.spec().to_bytes(), self.0.scheme().name(), assurance)
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8], assurance: &str) -> PyResult<Self> {
        let assurance = assurance_from(assurance)?;
        detached(py, || Rlwe::new(Spec::from_bytes(data)?, assurance)).map(Self)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.spec().to_bytes())
    }

    #[getter]
    fn scheme(&self) -> &'static str {
        self.0.scheme().name()
    }
    #[getter]
    fn is_approximate(&self) -> bool {
        self.0.is_approximate()
    }
    #[getter]
    fn ring_degree(&self) -> usize {
        self.0.ring_degree()
    }
    #[getter]
    fn coeff_moduli(&self) -> Vec<u64> {
        self.0.spec().coeff_moduli.clone()
    }
    /// The primes of each level, by their places in `coeff_moduli`.
    #[getter]
    fn levels(&self) -> Vec<Vec<usize>> {
        (1..=self.0.levels()).map(|level| self.0.primes_of(level).places().collect()).collect()
    }
    #[getter]
    fn special_moduli(&self) -> Vec<u64> {
        self.0.spec().special_moduli.clone()
    }
    #[getter]
    fn plain_modulus(&self) -> Option<u64> {
        match self.0.spec().plaintext {
            PlaintextSpace::Integers { plain_modulus } => Some(plain_modulus),
            PlaintextSpace::Approximate { .. } => None,
        }
    }
    #[getter]
    fn scale(&self) -> Option<f64> {
        match self.0.spec().plaintext {
            PlaintextSpace::Integers { .. } => None,
            PlaintextSpace::Approximate { scale } => Some(scale),
        }
    }
    #[getter]
    fn bound(&self) -> f64 {
        self.0.spec().bound
    }
    /// The smallest and the largest integer that plaintexts hold.
    #[getter]
    fn integer_range(&self) -> PyResult<(i64, i64)> {
        self.0.integer_range().map_err(scheme_to_py)
    }
    #[getter]
    fn slot_count(&self) -> usize {
        self.0.slot_count()
    }
    /// Products in sequence that it has room for.
    #[getter]
    fn depth(&self) -> usize {
        self.0.depth()
    }
    #[getter]
    fn assurance(&self) -> &'static str {
        self.0.spec().assurance().name()
    }
    #[getter]
    fn fingerprint(&self) -> String {
        self.0.fingerprint().to_string()
    }

    fn generate_keys(&self, py: Python<'_>) -> PyResult<(LeveledSecretKey, LeveledPublicKey)> {
        let (secret, public) = detached(py, || Ok(self.0.generate_keys(&mut generator()?)))?;
        let scheme = self.0.clone();
        let secret = LeveledSecretKey(scheme.clone(), secret, SharedSoFar::default());
        Ok((secret, LeveledPublicKey(scheme, public)))
    }

    fn encode_integers(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, i64>,
        coefficients: bool,
    ) -> PyResult<LeveledPlaintext> {
        let values = values.as_slice()?;
        let plaintext = detached(py, || {
            if coefficients {
                self.0.encode_coefficients(values)
            } else {
                self.0.encode_integers(values)
            }
        })?;
        Ok(LeveledPlaintext(self.0.clone(), plaintext))
    }

    /// An operand in the clear, which cannot be encrypted.
    fn encode_complex(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, Complex64>,
        scale: f64,
        level: usize,
    ) -> PyResult<LeveledPlaintext> {
        let values = values.as_slice()?;
        let plaintext = detached(py, || self.0.encode_complex(values, scale, level))?;
        Ok(LeveledPlaintext(self.0.clone(), plaintext))
    }

    /// Numbers to be encrypted, within a public bound.
    fn encode_bounded(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, Complex64>,
        bound: f64,
    ) -> PyResult<LeveledPlaintext> {
        let values = values.as_slice()?;
        let (scale, level) = (self.0.default_scale(), self.0.levels());
        let plaintext = detached(py, || self.0.encode_bounded(values, scale, level, bound))?;
        Ok(LeveledPlaintext(self.0.clone(), plaintext))
    }

    fn secret_key_from_file(
        &self,
        py: Python<'_>,
        path: PathBuf,
        passphrase: Option<&str>,
        shared: f64,
    ) -> PyResult<LeveledSecretKey> {
        let shared = SharedSoFar::starting_at(shared).map_err(scheme_to_py)?;
        let key = py.compute(|| {
            let bytes = open_key_file(path, passphrase)?;
            self.0.secret_key_from_bytes(&bytes).map_err(scheme_to_py)
        })?;
        Ok(LeveledSecretKey(self.0.clone(), key, shared))
    }

    fn public_key_from_bytes(&self, py: Python<'_>, data: &[u8]) -> PyResult<LeveledPublicKey> {
        let key = detached(py, || self.0.public_key_from_bytes(data))?;
        Ok(LeveledPublicKey(self.0.clone(), key))
    }

    fn relin_key_from_bytes(&self, py: Python<'_>, data: &[u8]) -> PyResult<RelinKey> {
        let key = detached(py, || self.0.relin_key_from_bytes(data))?;
        Ok(RelinKey(self.0.clone(), key))
    }

    fn galois_keys_from_bytes(&self, py: Python<'_>, data: &[u8]) -> PyResult<GaloisKeys> {
        let keys = detached(py, || self.0.galois_keys_from_bytes(data))?;
        Ok(GaloisKeys(self.0.clone(), keys))
    }

    /// A ciphertext alone, without what is known of the vector in it.
    fn ciphertext_from_bytes(&self, py: Python<'_>, data: &[u8]) -> PyResult<LeveledCiphertext> {
        let ciphertext = detached(py, || self.0.ciphertext_from_bytes(data))?;
        Ok(LeveledCiphertext(self.0.clone(), ciphertext))
    }

    /// A vector's ciphertext, its length, whether zeros are behind it, and whether it is complex.
    fn vector_from_bytes(
        &self,
        py: Python<'_>,
        data: &[u8],
    ) -> PyResult<(LeveledCiphertext, usize, bool, bool)> {
        let (label, a) = detached(py, || circuits::vector_from_bytes(&self.0, data))?;
        let Label { length, zeros_behind, complex } = label;
        Ok((LeveledCiphertext(self.0.clone(), a), length, zeros_behind, complex))
    }
}

#[pyclass(frozen, module = "hesc")]
pub struct LeveledPlaintext(Rlwe, rlwe::Plaintext);

#[pymethods]
impl LeveledPlaintext {
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
