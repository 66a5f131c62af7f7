//! The frame of messages between the parties of a plan: `python/hesc/protocols/message.py` has its layout.

use hesc_client::message::{self, Head};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::errors::{ParameterError, WireError, client_to_py};

/// A kind of messages in words, for errors.
#[pyfunction]
pub fn message_kind(kind: u8) -> &'static str {
    message::described(kind)
}

/// The query's name, the samples and the number of parts that the head of a message says.
#[pyfunction]
pub fn message_head<'py>(
    py: Python<'py>,
    data: &[u8],
    kind: u8,
    plan: &[u8],
) -> PyResult<(Bound<'py, PyBytes>, u32, usize)> {
    let head = Head::read(data, kind, plan).map_err(client_to_py)?;
    Ok((PyBytes::new(py, head.query), head.samples, head.parts))
}

/// The bytes of what has to be a message of some kind.
pub fn whole_message<'a>(data: &'a Bound<'_, PyAny>, kind: u8) -> PyResult<&'a [u8]> {
    let Ok(bytes) = data.cast::<PyBytes>() else {
        let (words, most) = (message::described(kind), message::LARGEST);
        return Err(WireError::new_err(format!("{words} is bytes, up to {most} of them")));
    };
    Ok(bytes.as_bytes())
}

/// The query's name, the samples and the parts of a whole message, of so many parts where their number is given.
#[pyfunction]
pub fn read_message<'py>(
    data: &Bound<'py, PyAny>,
    kind: u8,
    plan: &[u8],
    parts: Option<usize>,
) -> PyResult<(Bound<'py, PyBytes>, u32, Bound<'py, PyTuple>)> {
    let (py, bytes) = (data.py(), whole_message(data, kind)?);
    let (head, parts) = message::read(bytes, kind, plan, parts).map_err(client_to_py)?;
    let parts = parts.into_iter().map(|part| PyBytes::new(py, part));
    Ok((PyBytes::new(py, head.query), head.samples, PyTuple::new(py, parts.collect::<Vec<_>>())?))
}

/// The wire form of a message.
#[pyfunction]
pub fn write_message<'py>(
    py: Python<'py>,
    kind: u8,
    plan: &[u8],
    query: &[u8],
    samples: &Bound<'py, PyAny>,
    parts: Vec<Bound<'py, PyBytes>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let Ok(samples) = samples.extract::<u32>() else {
        return Err(ParameterError::new_err(message::too_many()));
    };
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    let size = message::size(&parts).map_err(client_to_py)?;
    PyBytes::new_with(py, size, |bytes| {
        message::write(bytes, kind, plan, query, samples, &parts).map_err(client_to_py)
    })
}
