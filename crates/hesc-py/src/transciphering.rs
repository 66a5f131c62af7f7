//! Data under a stream cipher, for a server that has the cipher's key in encrypted form.

use std::sync::Arc;

use hesc_circuits::gates::ciphers::Cipher;
use hesc_circuits::transciphering::{self, KEY_BYTES, Shape};
use hesc_circuits::vectors::Integers;
use numpy::{PyArray2, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{ParameterError, gate_to_py, scheme_to_py};
use crate::gates::{Circuit, make};
use crate::vectors::{VectorSecretKey, generator};
use crate::workers::Compute;

/// A key of Kreyvium: no equality, no representation of its content.
#[pyclass(frozen, subclass, module = "hesc")]
pub struct CipherKey(Arc<transciphering::CipherKey>);

#[pymethods]
impl CipherKey {
    /// The same key, which subclasses start from; its bytes are not copied.
    #[new]
    fn new(of: &Self) -> Self {
        Self(Arc::clone(&of.0))
    }

    #[staticmethod]
    fn generate(py: Python<'_>) -> PyResult<Self> {
        let made = py.compute(|| Ok(transciphering::CipherKey::generate(&mut generator()?)));
        made.map(Arc::new).map(Self).map_err(scheme_to_py)
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        let Ok(bytes) = data.try_into() else {
            let problem = format!("a key has {KEY_BYTES} bytes; got {}", data.len());
            return Err(ParameterError::new_err(problem));
        };
        Ok(Self(Arc::new(transciphering::CipherKey::new(bytes))))
    }

    /// The cipher's 16 secret bytes: whoever has them reads every message.
    fn secret_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.secret_bytes())
    }

    /// The key under a secret key, in the wire form of integers.
    fn encrypted_under<'py>(
        &self,
        py: Python<'py>,
        secret: &VectorSecretKey,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let made = py.compute(|| self.0.encrypt_key(&secret.0, &secret.1, &mut generator()?));
        Ok(PyBytes::new(py, &made.map_err(scheme_to_py)?))
    }

    /// Rows of bits under the key and a new nonce: see `Message`.
    #[expect(clippy::too_many_arguments, reason = "what a message says of its numbers")]
    fn encrypt_rows(
        &self,
        py: Python<'_>,
        rows: &[u8],
        count: usize,
        width: usize,
        signed: bool,
        boolean: bool,
        shape: (u32, u32),
    ) -> PyResult<Message> {
        let integers = Integers { count, width, signed, boolean };
        let shape = Shape { slots: shape.0, blocks: shape.1 };
        let mut rng = generator().map_err(scheme_to_py)?;
        let made = py.compute(|| self.0.encrypt(integers, shape, rows, &mut rng));
        made.map(Arc::new).map(Message).map_err(gate_to_py)
    }

    /// The rows of bits of a message.
    fn decrypt_rows<'py>(
        &self,
        py: Python<'py>,
        message: &Message,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let rows = py.compute(|| self.0.decrypt(&message.0)).map_err(gate_to_py)?;
        Ok(PyBytes::new(py, &rows))
    }
}

/// Numbers under the cipher.
#[pyclass(frozen, subclass, module = "hesc")]
pub struct Message(Arc<transciphering::Message>);

#[pymethods]
impl Message {
    /// The same message, which subclasses start from.
    #[new]
    fn new(of: &Self) -> Self {
        Self(Arc::clone(&of.0))
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        let message = transciphering::Message::from_bytes(data);
        message.map(Arc::new).map(Self).map_err(scheme_to_py)
    }

    /// The wire form: 67 bytes, and rows of the numbers' bits, each rounded up to bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// How many numbers, their width, whether they are signed, whether they are truth values.
    #[getter]
    fn integers(&self) -> (usize, usize, bool, bool) {
        let Integers { count, width, signed, boolean } = self.0.integers;
        (count, width, signed, boolean)
    }

    /// Slots, and numbers of a stream.
    #[getter]
    fn shape(&self) -> (u32, u32) {
        (self.0.shape.slots, self.0.shape.blocks)
    }

    /// Twelve bytes, drawn for each message.
    #[getter]
    fn nonce<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.nonce)
    }

    /// How often all streams are taken.
    #[getter]
    fn runs(&self) -> usize {
        self.0.runs()
    }

    /// What a run takes beside the key: initial values, then the message's bits; a row of a bit for each slot.
    fn public_rows<'py>(
        &self,
        py: Python<'py>,
        run: usize,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let rows = py.compute(|| self.0.public_rows(run)).map_err(gate_to_py)?;
        let slots = self.0.shape.slots as usize;
        let flat: Vec<bool> = rows.concat();
        flat.to_pyarray(py).reshape([flat.len() / slots, slots])
    }
}

/// What a server computes of the key's bits and `Message.public_rows`.
#[pyfunction]
pub fn decipherer(py: Python<'_>, bits: usize) -> PyResult<Circuit> {
    make(py.compute(|| transciphering::decipherer(bits)))
}

/// The keystream of a cipher, of its key and the initial value.
#[pyfunction]
pub fn keystream(py: Python<'_>, cipher: &str, bits: usize) -> PyResult<Circuit> {
    let cipher = match cipher {
        "insecure_trivium" => Cipher::InsecureTrivium,
        "kreyvium" => Cipher::Kreyvium,
        _ => return Err(ParameterError::new_err(format!("there is no cipher {cipher:?}"))),
    };
    make(py.compute(|| cipher.keystream(bits)))
}
