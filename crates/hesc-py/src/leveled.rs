//! BFV, BGV and CKKS with multiplication. An object keeps its parameter set, so that every method
//! finds its tables.

use std::path::PathBuf;

use hesc_circuits::vectors as circuits;
use hesc_circuits::vectors::{Label, Numbers};
use hesc_math::AesCtrRng;
use hesc_schemes::rlwe::{self, Rlwe, SchemeKind, Spec};
use hesc_schemes::rlwe::{PlaintextSpace, PrimeSet};
use hesc_schemes::{Complex64, SchemeError, SharedSoFar, Sharing, sealing};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zeroize::Zeroizing;

use crate::errors::{ParameterError, scheme_to_py};
use crate::keys::{open_key_file, write_key_file};
use crate::params::{assurance_from, power_of_two};
use crate::presets;
use crate::workers::Compute;

fn generator() -> Result<AesCtrRng, SchemeError> {
    Ok(AesCtrRng::from_os()?)
}

fn scheme_from(name: &str) -> PyResult<SchemeKind> {
    [SchemeKind::Bfv, SchemeKind::Bgv, SchemeKind::Ckks]
        .into_iter()
        .find(|kind| kind.name() == name)
        .ok_or_else(|| {
            ParameterError::new_err(format!("unknown scheme {name:?}; choose bfv, bgv or ckks"))
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

#[pyclass(frozen, module = "hesc")]
pub struct LeveledPublicKey(Rlwe, rlwe::PublicKey);

#[pymethods]
impl LeveledPublicKey {
    fn encrypt(&self, py: Python<'_>, plaintext: &LeveledPlaintext) -> PyResult<LeveledCiphertext> {
        let a = detached(py, || self.0.encrypt(&self.1, &plaintext.1, &mut generator()?))?;
        Ok(LeveledCiphertext(self.0.clone(), a))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.compute(|| self.0.public_key_to_bytes(&self.1)))
    }
}

#[pyclass(frozen, module = "hesc")]
pub struct RelinKey(Rlwe, rlwe::RelinKey);

#[pymethods]
impl RelinKey {
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.compute(|| self.0.relin_key_to_bytes(&self.1)))
    }
}

#[pyclass(frozen, module = "hesc")]
pub struct GaloisKeys(Rlwe, rlwe::GaloisKeys);

#[pymethods]
impl GaloisKeys {
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

/// No equality, no representation of its content, no pickling.
#[pyclass(frozen, module = "hesc")]
pub struct LeveledSecretKey(Rlwe, rlwe::SecretKey, SharedSoFar);

#[pymethods]
impl LeveledSecretKey {
    fn relin_key(&self, py: Python<'_>) -> PyResult<RelinKey> {
        let key = detached(py, || self.0.generate_relin_key(&self.1, &mut generator()?))?;
        Ok(RelinKey(self.0.clone(), key))
    }

    /// Keys for rotations by these steps and, if asked for, for conjugates or swapped rows.
    fn galois_keys(
        &self,
        py: Python<'_>,
        steps: Vec<i64>,
        conjugate: bool,
    ) -> PyResult<GaloisKeys> {
        let keys = detached(py, || {
            let elements = steps.iter().map(|&step| self.0.rotation_element(step));
            let mut elements = elements.collect::<Result<Vec<_>, _>>()?;
            if conjugate {
                elements.push(self.0.ring().value() - 1);
            }
            self.0.generate_galois_keys(&self.1, &elements, &mut generator()?)
        })?;
        Ok(GaloisKeys(self.0.clone(), keys))
    }

    /// Encrypts under the secret key: the seeded wire form of a vector with zeros behind it.
    fn encrypt_to_bytes<'py>(
        &self,
        py: Python<'py>,
        plaintext: &LeveledPlaintext,
        length: usize,
        complex_values: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let label = Label { length, zeros_behind: true, complex: complex_values };
        let bytes = detached(py, || {
            let seeded = self.0.encrypt_seeded(&self.1, &plaintext.1, &mut generator()?)?;
            Ok(circuits::seeded_vector_to_bytes(&self.0, label, &seeded))
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Encrypts under the secret key, in full form.
    fn encrypt(&self, py: Python<'_>, plaintext: &LeveledPlaintext) -> PyResult<LeveledCiphertext> {
        let a = detached(py, || {
            self.0.expand(&self.0.encrypt_seeded(&self.1, &plaintext.1, &mut generator()?)?)
        })?;
        Ok(LeveledCiphertext(self.0.clone(), a))
    }

    fn decrypt(
        &self,
        py: Python<'_>,
        ciphertext: &LeveledCiphertext,
    ) -> PyResult<LeveledPlaintext> {
        let plaintext = detached(py, || self.0.decrypt(&self.1, &ciphertext.1))?;
        Ok(LeveledPlaintext(self.0.clone(), plaintext))
    }

    /// Numbers as others may see them, with noise of this deviation.
    fn decrypt_shared<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &LeveledCiphertext,
        expected: &LeveledCiphertext,
        length: usize,
        answers: u64,
        statistical_bits: u32,
    ) -> PyResult<(Bound<'py, PyArray1<Complex64>>, f64)> {
        let sharing = Sharing { expected: &expected.1, answers, statistical_bits };
        let (a, so_far) = (&ciphertext.1, &self.2);
        let (values, deviation) = detached(py, || {
            self.0.decrypt_shared(&self.1, a, length, sharing, so_far, &mut generator()?)
        })?;
        Ok((PyArray1::from_vec(py, values), deviation))
    }

    #[getter]
    fn shared(&self) -> f64 {
        self.2.share()
    }

    fn noise_budget(&self, py: Python<'_>, ciphertext: &LeveledCiphertext) -> PyResult<f64> {
        detached(py, || self.0.measured_noise_budget(&self.1, &ciphertext.1))
    }

    fn save(&self, py: Python<'_>, path: PathBuf, passphrase: Option<&str>) -> PyResult<()> {
        let bytes = detached(py, || {
            let bytes = self.0.secret_key_to_bytes(&self.1);
            match passphrase {
                Some(passphrase) => sealing::seal(&bytes, passphrase.as_bytes(), &mut generator()?)
                    .map(Zeroizing::new),
                None => Ok(bytes),
            }
        })?;
        write_key_file(path, &bytes)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a secret key is not pickled or copied; write it with save"))
    }
}

#[pyclass(frozen, module = "hesc")]
pub struct LeveledCiphertext(Rlwe, rlwe::Ciphertext);

impl LeveledCiphertext {
    fn with(
        &self,
        py: Python<'_>,
        operation: impl FnOnce(&Rlwe) -> Result<rlwe::Ciphertext, SchemeError> + Send,
    ) -> PyResult<Self> {
        Ok(Self(self.0.clone(), detached(py, || operation(&self.0))?))
    }
}

#[pymethods]
impl LeveledCiphertext {
    fn add(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.with(py, |s| s.add(&self.1, &other.1))
    }
    fn sub(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.with(py, |s| s.sub(&self.1, &other.1))
    }
    fn negate(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |s| s.negate(&self.1))
    }
    fn add_plain(&self, py: Python<'_>, plaintext: &LeveledPlaintext) -> PyResult<Self> {
        self.with(py, |s| s.add_plain(&self.1, &plaintext.1))
    }
    fn multiply_plain(&self, py: Python<'_>, plaintext: &LeveledPlaintext) -> PyResult<Self> {
        self.with(py, |s| s.multiply_plain(&self.1, &plaintext.1))
    }
    /// A product with an operand that has [`Self::operand_scale`], which CKKS rescales.
    fn product_with_plain(&self, py: Python<'_>, plaintext: &LeveledPlaintext) -> PyResult<Self> {
        self.with(py, |s| s.product_with_plain(&self.1, &plaintext.1))
    }
    /// After a sum of products with plaintexts: rescaled in CKKS, itself in the other schemes.
    fn settled(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |s| s.settled(self.1.clone()))
    }
    fn multiply_scalar(&self, py: Python<'_>, scalar: i64) -> PyResult<Self> {
        self.with(py, |s| s.multiply_scalar(&self.1, scalar))
    }
    fn multiply_real(&self, py: Python<'_>, scalar: f64, scale: f64) -> PyResult<Self> {
        self.with(py, |s| s.multiply_real(&self.1, scalar, scale))
    }
    fn multiply(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.with(py, |s| s.multiply(&self.1, &other.1))
    }
    fn square(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |s| s.square(&self.1))
    }
    fn relinearise(&self, py: Python<'_>, key: &RelinKey) -> PyResult<Self> {
        self.with(py, |s| s.relinearise(&self.1, &key.1))
    }
    fn rotate(&self, py: Python<'_>, steps: i64, keys: &GaloisKeys) -> PyResult<Self> {
        self.with(py, |s| s.rotate(&self.1, steps, &keys.1))
    }
    fn rotate_many(
        &self,
        py: Python<'_>,
        steps: Vec<i64>,
        keys: &GaloisKeys,
    ) -> PyResult<Vec<Self>> {
        let rotated = detached(py, || self.0.rotate_many(&self.1, &steps, &keys.1))?;
        Ok(rotated.into_iter().map(|a| Self(self.0.clone(), a)).collect())
    }
    fn swap_or_conjugate(&self, py: Python<'_>, keys: &GaloisKeys) -> PyResult<Self> {
        self.with(py, |s| s.swap_or_conjugate(&self.1, &keys.1))
    }
    /// A sum, or a difference, brought to one level and scale.
    fn sum(&self, py: Python<'_>, other: &Self, subtract: bool) -> PyResult<Self> {
        self.with(py, |s| s.sum(&self.1, &other.1, subtract))
    }
    /// A product of two parts, by the one policy of levels; a square if there is no second factor.
    #[pyo3(signature = (other, key))]
    fn product(&self, py: Python<'_>, other: Option<&Self>, key: &RelinKey) -> PyResult<Self> {
        self.with(py, |s| s.product(&key.1, &self.1, other.map(|other| &other.1)))
    }
    /// A polynomial in each of `length` numbers.
    fn polynomial(
        &self,
        py: Python<'_>,
        key: &RelinKey,
        coefficients: Values<'_>,
        length: usize,
    ) -> PyResult<Self> {
        let numbers = coefficients.numbers()?;
        self.with(py, |s| circuits::polynomial(s, &key.1, &self.1, numbers, length))
    }
    fn inner_product(
        &self,
        py: Python<'_>,
        other: &Self,
        length: usize,
        relin: &RelinKey,
        galois: &GaloisKeys,
    ) -> PyResult<Self> {
        self.with(py, |s| {
            circuits::inner_product(s, &relin.1, &galois.1, &self.1, &other.1, length)
        })
    }
    fn mod_switch_to(&self, py: Python<'_>, level: usize) -> PyResult<Self> {
        self.with(py, |s| s.mod_switch_to(&self.1, level))
    }
    fn rescale(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |s| s.rescale(&self.1))
    }
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.compute(|| self.0.ciphertext_to_bytes(&self.1)))
    }
    fn vector_to_bytes<'py>(
        &self,
        py: Python<'py>,
        length: usize,
        zeros_behind: bool,
        complex_values: bool,
    ) -> Bound<'py, PyBytes> {
        let label = Label { length, zeros_behind, complex: complex_values };
        PyBytes::new(py, &py.compute(|| circuits::vector_to_bytes(&self.0, label, &self.1)))
    }
    #[getter]
    fn nbytes(&self) -> usize {
        self.1.words() * size_of::<u64>()
    }
    #[getter]
    fn level(&self) -> usize {
        self.1.level()
    }
    #[getter]
    fn size(&self) -> usize {
        self.1.size()
    }
    #[getter]
    fn scale(&self) -> f64 {
        self.1.scale()
    }
    /// The scale of operands in the clear for products with it.
    #[getter]
    fn operand_scale(&self) -> f64 {
        self.0.operand_scale(self.1.level())
    }
    #[getter]
    fn noise_budget(&self) -> f64 {
        self.0.noise_budget(&self.1)
    }
    #[getter]
    fn error_bound(&self) -> f64 {
        self.0.error_bound(&self.1)
    }
}

/// Numbers in the clear, as numpy has them: 64-bit integers for exact schemes, complex for CKKS.
#[derive(FromPyObject)]
enum Values<'py> {
    Integers(PyReadonlyArray1<'py, i64>),
    Complex(PyReadonlyArray1<'py, Complex64>),
}

impl Values<'_> {
    fn numbers(&self) -> PyResult<Numbers<'_>> {
        Ok(match self {
            Self::Integers(values) => Numbers::Integers(values.as_slice()?),
            Self::Complex(values) => Numbers::Complex(values.as_slice()?),
        })
    }
}

/// Steps of the rotations for inner products of this length.
#[pyfunction]
pub fn dot_rotations(length: usize) -> Vec<i64> {
    circuits::dot_rotations(length)
}

/// Steps of the rotations for matrices of this shape.
#[pyfunction]
pub fn matrix_rotations(rows: usize, columns: usize) -> Vec<i64> {
    circuits::matrix_rotations(rows, columns)
}

/// A matrix, encoded for vectors of one level or above.
#[pyclass(frozen, module = "hesc")]
pub struct LeveledMatrix(circuits::Matrix);

#[pymethods]
impl LeveledMatrix {
    #[new]
    fn new(
        py: Python<'_>,
        params: &LeveledParams,
        values: Values<'_>,
        shape: (usize, usize),
        level: usize,
    ) -> PyResult<Self> {
        let numbers = values.numbers()?;
        let matrix = detached(py, || circuits::Matrix::new(&params.0, numbers, shape, level))?;
        Ok(Self(matrix))
    }

    /// The lowest level of vectors that it takes; none if it takes all.
    #[getter]
    fn level(&self) -> Option<usize> {
        self.0.level()
    }

    fn multiply(
        &self,
        py: Python<'_>,
        vector: &LeveledCiphertext,
        keys: &GaloisKeys,
    ) -> PyResult<LeveledCiphertext> {
        vector.with(py, |s| self.0.multiply(s, &keys.1, &vector.1))
    }
}
