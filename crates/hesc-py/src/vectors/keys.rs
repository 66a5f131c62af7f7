//! Secret and public keys for vectors.

use std::path::PathBuf;

use hesc_circuits::vectors as circuits;
use hesc_circuits::vectors::Label;
use hesc_schemes::rlwe::{self, Rlwe};
use hesc_schemes::{Complex64, SchemeError, SharedSoFar, Sharing, sealing};
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zeroize::Zeroizing;

use super::{
    Ciphertext, Described, GaloisKeys, Plaintext, RelinKey, VectorParams, content_from, described,
    detached, generator, layout_from,
};
use crate::errors::scheme_to_py;
use crate::key_files::{read_secret, write_key_file};
use crate::workers::Compute;

#[pyclass(frozen, module = "hesc")]
pub struct VectorPublicKey(pub(super) Rlwe, pub rlwe::PublicKey);

#[pymethods]
impl VectorPublicKey {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, params: &VectorParams, data: &[u8]) -> PyResult<Self> {
        let key = detached(py, || params.0.public_key_from_bytes(data))?;
        Ok(Self(params.0.clone(), key))
    }

    /// The public name of the key pair.
    #[getter]
    fn name(&self) -> [u8; 16] {
        self.1.key_id().to_bytes()
    }

    fn encrypt(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<Ciphertext> {
        let a = detached(py, || self.0.encrypt(&self.1, &plaintext.1, &mut generator()?))?;
        Ok(Ciphertext(self.0.clone(), a))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.compute(|| self.0.public_key_to_bytes(&self.1)))
    }
}

/// No equality, no representation of its content, no pickling.
#[pyclass(frozen, module = "hesc")]
pub struct VectorSecretKey(pub Rlwe, pub rlwe::SecretKey, pub(super) SharedSoFar);

#[pymethods]
impl VectorSecretKey {
    /// A new key pair.
    #[staticmethod]
    fn generate(py: Python<'_>, params: &VectorParams) -> PyResult<(Self, VectorPublicKey)> {
        let scheme = &params.0;
        let (secret, public) = detached(py, || Ok(scheme.generate_keys(&mut generator()?)))?;
        let secret = Self(scheme.clone(), secret, SharedSoFar::default());
        Ok((secret, VectorPublicKey(scheme.clone(), public)))
    }

    /// The public name of the key pair.
    #[getter]
    fn name(&self) -> [u8; 16] {
        self.1.key_id().to_bytes()
    }

    /// Reads a key from its file, without its bytes passing through Python, and what it has shared.
    #[staticmethod]
    fn from_file(
        py: Python<'_>,
        params: &VectorParams,
        path: PathBuf,
        passphrase: Option<&str>,
        shared: f64,
    ) -> PyResult<Self> {
        let shared = SharedSoFar::starting_at(shared).map_err(scheme_to_py)?;
        let key = read_secret(py, &path, passphrase, |bytes| {
            params.0.secret_key_from_bytes(bytes).map_err(scheme_to_py)
        })?;
        Ok(Self(params.0.clone(), key, shared))
    }

    fn relin_key(&self, py: Python<'_>) -> PyResult<RelinKey> {
        let key = detached(py, || self.0.generate_relin_key(&self.1, &mut generator()?))?;
        Ok(RelinKey(self.0.clone(), key))
    }

    /// Keys for rotations by these steps, for conjugates or swapped rows if asked for, and for automorphisms.
    fn galois_keys(
        &self,
        py: Python<'_>,
        steps: Vec<i64>,
        conjugate: bool,
        automorphisms: Vec<usize>,
    ) -> PyResult<GaloisKeys> {
        let keys = detached(py, || {
            let elements = steps.iter().map(|&step| self.0.rotation_element(step));
            let mut elements = elements.collect::<Result<Vec<_>, _>>()?;
            elements.extend(&automorphisms);
            if conjugate {
                elements.push(self.0.ring().value() - 1);
            }
            self.0.generate_galois_keys(&self.1, &elements, &mut generator()?)
        })?;
        Ok(GaloisKeys(self.0.clone(), keys))
    }

    /// Encrypts under the secret key: the seeded wire form of a vector with zeros behind it.
    #[pyo3(signature = (plaintext, length, complex_values, bound))]
    fn encrypt_to_bytes<'py>(
        &self,
        py: Python<'py>,
        plaintext: &Plaintext,
        length: usize,
        complex_values: bool,
        bound: Option<u64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let label = Label { length, zeros_behind: true, complex: complex_values, bound };
        let bytes = detached(py, || {
            let seeded = self.0.encrypt_seeded(&self.1, &plaintext.1, &mut generator()?)?;
            Ok(circuits::seeded_vector_to_bytes(&self.0, label, &seeded))
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Encrypts slots under the secret key at a level: their seeded wire form.
    fn encrypt_slots_to_bytes<'py>(
        &self,
        py: Python<'py>,
        plaintext: &Plaintext,
        content: &str,
        level: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let content = content_from(content)?;
        let bytes = detached(py, || {
            let rng = &mut generator()?;
            let seeded = self.0.encrypt_seeded_at(&self.1, &plaintext.1, level, rng)?;
            Ok(circuits::seeded_slots_to_bytes(&self.0, content, &seeded))
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Encrypts the bits of integers under the secret key: their seeded wire form.
    fn encrypt_integers_to_bytes<'py>(
        &self,
        py: Python<'py>,
        bits: Vec<PyRef<'_, Plaintext>>,
        of: Described,
        layout: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bits: Vec<_> = bits.iter().map(|bit| &bit.1).collect();
        let integers = (described(of), layout_from(layout)?);
        let bytes = detached(py, || {
            let rng = &mut generator()?;
            let seeded = bits.iter().map(|bit| self.0.encrypt_seeded(&self.1, bit, rng));
            let seeded = seeded.collect::<Result<Vec<_>, SchemeError>>()?;
            Ok(circuits::seeded_integers_to_bytes(&self.0, integers, &seeded))
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Encrypts under the secret key, in full form.
    fn encrypt(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<Ciphertext> {
        let a = detached(py, || {
            self.0.expand(&self.0.encrypt_seeded(&self.1, &plaintext.1, &mut generator()?)?)
        })?;
        Ok(Ciphertext(self.0.clone(), a))
    }

    /// The same key in a set that was made of its own by another plaintext modulus.
    fn in_set(&self, py: Python<'_>, params: &VectorParams) -> PyResult<Self> {
        let key = detached(py, || params.0.secret_key_of(&self.0, &self.1))?;
        Ok(Self(params.0.clone(), key, SharedSoFar::default()))
    }

    fn decrypt(&self, py: Python<'_>, ciphertext: &Ciphertext) -> PyResult<Plaintext> {
        let plaintext = detached(py, || self.0.decrypt(&self.1, &ciphertext.1))?;
        Ok(Plaintext(self.0.clone(), plaintext))
    }

    /// Numbers as others may see them, with noise of this deviation.
    fn decrypt_shared<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &Ciphertext,
        expected: &Ciphertext,
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

    fn noise_budget(&self, py: Python<'_>, ciphertext: &Ciphertext) -> PyResult<f64> {
        detached(py, || self.0.measured_noise_budget(&self.1, &ciphertext.1))
    }

    fn save(&self, py: Python<'_>, path: PathBuf, passphrase: Option<&str>) -> PyResult<()> {
        let bytes = || {
            let bytes = self.0.secret_key_to_bytes(&self.1);
            match passphrase {
                Some(passphrase) => sealing::seal(&bytes, passphrase.as_bytes(), &mut generator()?)
                    .map(Zeroizing::new),
                None => Ok(bytes),
            }
        };
        py.compute(|| write_key_file(path, &bytes().map_err(scheme_to_py)?))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a secret key is not pickled or copied; write it with save"))
    }
}
