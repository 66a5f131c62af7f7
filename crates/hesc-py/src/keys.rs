use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use hesc_circuits::Layout;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::{Answer, Array, Counts, SeededArray};
use crate::encoder::BitStreams;
use crate::erased;
use crate::errors::{ParameterError, stochastic_to_py, to_py};
use crate::interrupt::interruptible;
use crate::key_files::{read_secret, write_key_file};
use crate::params::StreamParams;
use crate::workers::Compute;

fn layout_from(name: &str) -> PyResult<Layout> {
    match name {
        "one_per_block" => Ok(Layout::OnePerBlock),
        "side_by_side" => Ok(Layout::SideBySide),
        _ => Err(ParameterError::new_err(format!(
            "unknown layout {name:?}; choose one of one_per_block, side_by_side"
        ))),
    }
}

fn plaintext<'a>(
    streams: &'a BitStreams,
    layout: &str,
    row_length: usize,
) -> PyResult<hesc_circuits::Plaintext<'a>> {
    Ok(hesc_circuits::Plaintext {
        bits: streams.0.bits(),
        representation: streams.0.representation(),
        origin: streams.0.origin().map_err(stochastic_to_py)?,
        layout: layout_from(layout)?,
        row_length,
    })
}

#[pyclass(frozen, module = "hesc")]
pub struct StreamPublicKey(pub Arc<dyn erased::Public>);

#[pymethods]
impl StreamPublicKey {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, params: &StreamParams, data: &[u8]) -> PyResult<Self> {
        interruptible(py, || params.0.read_public(data), to_py).map(Self)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// One array for each batch of streams, all encrypted at once.
    fn encrypt(
        &self,
        py: Python<'_>,
        streams: Vec<PyRef<'_, BitStreams>>,
        layout: &str,
        row_length: usize,
    ) -> PyResult<Vec<Array>> {
        let plaintexts = streams
            .iter()
            .map(|streams| plaintext(streams, layout, row_length))
            .collect::<PyResult<Vec<_>>>()?;
        let arrays = interruptible(py, || self.0.encrypt(&plaintexts), to_py)?;
        Ok(arrays.into_iter().map(Array).collect())
    }

    fn rerandomise(&self, py: Python<'_>, array: &Array, row_length: usize) -> PyResult<Array> {
        let rerandomise = || self.0.rerandomise(array.0.as_ref(), row_length);
        interruptible(py, rerandomise, to_py).map(Array)
    }
}

/// No equality, no representation of its content, no pickling.
#[pyclass(frozen, module = "hesc")]
pub struct StreamSecretKey(pub Arc<dyn erased::Secret>);

#[pymethods]
impl StreamSecretKey {
    /// A new key pair.
    #[staticmethod]
    fn generate(py: Python<'_>, params: &StreamParams) -> PyResult<(Self, StreamPublicKey)> {
        let (secret, public) = py.compute(|| params.0.generate_keys()).map_err(to_py)?;
        Ok((Self(secret), StreamPublicKey(public)))
    }

    /// Reads a key from its file, without its bytes passing through Python.
    #[staticmethod]
    #[pyo3(signature = (params, path, passphrase))]
    fn from_file(
        py: Python<'_>,
        params: &StreamParams,
        path: PathBuf,
        passphrase: Option<&str>,
    ) -> PyResult<Self> {
        read_secret(py, &path, passphrase, |bytes| {
            params.0.read_secret(bytes).map(Self).map_err(to_py)
        })
    }

    /// Writes a new file that only its owner can read, under a passphrase if there is one; an
    /// existing file is never overwritten.
    #[pyo3(signature = (path, passphrase))]
    fn save(&self, py: Python<'_>, path: PathBuf, passphrase: Option<&str>) -> PyResult<()> {
        // Sealed before the file exists, and written where the stack is overwritten: calls that are bound late keep
        // registers there, with what was copied last.
        py.compute(|| write_key_file(path, &self.0.to_file(passphrase).map_err(to_py)?))
    }

    fn encrypt(
        &self,
        py: Python<'_>,
        streams: &BitStreams,
        layout: &str,
        row_length: usize,
    ) -> PyResult<SeededArray> {
        let plaintext = plaintext(streams, layout, row_length)?;
        interruptible(py, || self.0.encrypt(&plaintext), to_py).map(SeededArray)
    }

    fn decrypt(&self, py: Python<'_>, answer: &Answer) -> PyResult<Counts> {
        let counts = interruptible(py, || self.0.decrypt(answer.0.as_ref()), to_py)?;
        Ok(Counts(Mutex::new(Some(counts))))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a secret key is not pickled or copied; write it with hesc.save_secret_key",
        ))
    }
}
