//! AES on an encrypted key, over slots of bytes.

use std::sync::Arc;

use hesc_circuits::aes::{self, AesPlan, BLOCK_BYTES, NONCE_BYTES};
use hesc_circuits::gates::Monitor;
use hesc_circuits::vectors::{Content, seeded_slots_to_bytes};
use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Basis, Rlwe};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::ParameterError;
use crate::interrupt::watched;
use crate::vectors::{
    Ciphertext, GaloisKeys, RelinKey, VectorParams, VectorSecretKey, detached, generator,
};
use crate::workers::Compute;

/// Blocks that counters of a nonce number.
const MOST_BLOCKS: u64 = 1 << 32;

fn nonce_from(nonce: &[u8]) -> PyResult<[u8; NONCE_BYTES]> {
    nonce.try_into().map_err(|_| {
        let problem = format!("a nonce has {NONCE_BYTES} bytes; got {}", nonce.len());
        ParameterError::new_err(problem)
    })
}

/// A key of AES-128: no equality, no representation of its content.
#[pyclass(frozen, subclass, module = "hesc")]
pub struct AesKey(Arc<aes::AesKey>);

#[pymethods]
impl AesKey {
    /// The same key, which subclasses start from; its bytes are not copied.
    #[new]
    fn new(of: &Self) -> Self {
        Self(Arc::clone(&of.0))
    }

    #[staticmethod]
    fn generate(py: Python<'_>) -> PyResult<Self> {
        Ok(Self(Arc::new(detached(py, || Ok(aes::AesKey::generate(&mut generator()?)))?)))
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        let Ok(bytes) = data.try_into() else {
            let problem = format!("a key has {BLOCK_BYTES} bytes; got {}", data.len());
            return Err(ParameterError::new_err(problem));
        };
        Ok(Self(Arc::new(aes::AesKey::new(bytes))))
    }

    /// The cipher's 16 secret bytes: whoever has them reads every message.
    fn secret_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.secret_bytes())
    }

    /// A new nonce.
    #[staticmethod]
    fn draw_nonce(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
        let nonce = detached(py, || Ok(aes::AesKey::draw_nonce(&mut generator()?)))?;
        Ok(PyBytes::new(py, &nonce))
    }

    /// Bytes with the keystream of a nonce: encrypted, or decrypted; by 1 to 10 rounds.
    fn with_keystream<'py>(
        &self,
        py: Python<'py>,
        nonce: &[u8],
        data: &[u8],
        rounds: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let nonce = nonce_from(nonce)?;
        if !(1..=aes::ROUNDS).contains(&rounds) {
            let problem = format!("AES-128 has 1 to {} rounds; got {rounds}", aes::ROUNDS);
            return Err(ParameterError::new_err(problem));
        }
        if data.len().div_ceil(BLOCK_BYTES) as u64 > MOST_BLOCKS {
            let problem = "a nonce is for 2^32 blocks; take several messages";
            return Err(ParameterError::new_err(problem));
        }
        let mut bytes = data.to_vec();
        py.compute(|| self.0.apply(rounds, &nonce, 0, &mut bytes));
        Ok(PyBytes::new(py, &bytes))
    }
}

/// How a set computes AES on an encrypted key.
#[pyclass(frozen, subclass, module = "hesc")]
pub struct AesDecipherer(Rlwe, AesPlan);

#[pymethods]
impl AesDecipherer {
    #[new]
    fn new(py: Python<'_>, params: &VectorParams, rounds: usize, spare: usize) -> PyResult<Self> {
        let plan = detached(py, || AesPlan::new(&params.0, rounds, spare))?;
        Ok(Self(params.0.clone(), plan))
    }

    #[getter]
    fn rounds(&self) -> usize {
        self.1.rounds()
    }
    /// Products in sequence.
    #[getter]
    fn depth(&self) -> usize {
        self.1.depth()
    }
    /// Further products in sequence that results have room for.
    #[getter]
    fn room(&self) -> usize {
        self.1.room()
    }
    /// Bits of noise budget that results have.
    #[getter]
    fn noise_budget(&self) -> f64 {
        self.1.noise_budget()
    }
    /// The level of each round's key.
    #[getter]
    fn key_levels(&self) -> Vec<usize> {
        self.1.key_levels().to_vec()
    }
    /// Bytes of a cipher's key under a secret one.
    #[getter]
    fn key_bytes(&self) -> usize {
        self.1.key_parts().map(|level| self.0.seeded_length(level)).sum()
    }
    /// Seconds of a run on one thread, by operations counted and their measured speed.
    #[getter]
    fn seconds(&self, py: Python<'_>) -> f64 {
        py.compute(|| self.1.seconds())
    }

    /// A key under a secret one, part by part in the wire form of slots.
    fn encrypt_key<'py>(
        &self,
        py: Python<'py>,
        key: &AesKey,
        secret: &VectorSecretKey,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let bytes = BLOCK_BYTES * self.1.rounds();
        let parts = detached(py, || {
            let parts = self.1.encrypt_key(&key.0, &secret.1, &mut generator()?)?;
            let content = |at| {
                if at < bytes { Content::Values(Basis::Normal) } else { Content::Numbers }
            };
            let parts = parts.iter().enumerate();
            let parts = parts.map(|(at, part)| seeded_slots_to_bytes(&self.0, content(at), part));
            Ok::<_, SchemeError>(parts.collect::<Vec<_>>())
        })?;
        Ok(parts.iter().map(|part| PyBytes::new(py, part)).collect())
    }

    /// The bits of bytes that the cipher has encrypted, from the block of a number on: a ciphertext for each bit of a block.
    #[expect(clippy::too_many_arguments, reason = "keys and messages come in parts")]
    fn deciphered_bits(
        &self,
        py: Python<'_>,
        relin: &RelinKey,
        galois: &GaloisKeys,
        key: Vec<PyRef<'_, Ciphertext>>,
        nonce: &[u8],
        first: u32,
        data: &[u8],
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Ciphertext>> {
        let nonce = nonce_from(nonce)?;
        let key: Vec<_> = key.iter().map(|part| &part.1).collect();
        let monitor = Monitor::default();
        let bits = watched(py, progress.as_ref(), &monitor, || {
            self.1.decipher((&relin.1, &galois.1), &key, (&nonce, first), data, &monitor)
        })?;
        Ok(bits.into_iter().map(|bit| Ciphertext(self.0.clone(), bit)).collect())
    }
}
