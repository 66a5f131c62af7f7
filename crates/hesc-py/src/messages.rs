//! The frame of messages between the parties of a plan: `python/hesc/protocols/message.py` has its layout.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::errors::{ParameterError, WireError};

const MAGIC: &[u8; 4] = b"HSCM";
const VERSION: u8 = 1;
/// Bytes before the checksum.
const SUMMED: usize = 44;
/// Bytes before the parts.
const HEAD: usize = SUMMED + 4;
/// Bytes of a query's name, and of a plan's digest as messages have it.
const NAME: usize = 16;
/// Bytes of a message, at most.
const LARGEST: usize = 1 << 30;

/// What a message is: its number, in words, and whether it names the query that it is of.
const KINDS: [(u8, &str, bool); 4] = [
    (1, "a query", false),
    (2, "an answer", true),
    (3, "a party's piece", true),
    (4, "the end of a file", false),
];

fn described(kind: u8) -> Option<&'static str> {
    KINDS.iter().find(|(number, ..)| *number == kind).map(|(_, words, _)| *words)
}

/// A kind of messages in words, for errors.
#[pyfunction]
pub fn message_kind(kind: u8) -> &'static str {
    described(kind).unwrap_or("of no kind that this hesc knows")
}

/// What a message says before its parts.
struct Head<'a> {
    query: &'a [u8],
    samples: u32,
    parts: usize,
}

fn number<const N: usize>(data: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|i| data[at + i])
}

impl<'a> Head<'a> {
    /// The head of a message of one kind and of the plan of this digest.
    fn read(data: &'a [u8], kind: u8, plan: &[u8]) -> PyResult<Self> {
        let words = message_kind(kind);
        if data.len() < HEAD || &data[..4] != MAGIC {
            let text = format!("this is no message of hesc, where {words} belongs");
            return Err(WireError::new_err(text));
        }
        let (version, found) = (data[4], data[5]);
        if version != VERSION {
            let text = format!("a message of version {version}; this hesc reads version {VERSION}");
            return Err(WireError::new_err(text));
        }
        if found != kind {
            return Err(WireError::new_err(format!(
                "this message is {}, where {words} belongs; check the order of the files",
                message_kind(found)
            )));
        }
        if !plan.starts_with(&data[6..6 + NAME]) {
            let noun = words.split_once(' ').map_or(words, |(_, noun)| noun);
            return Err(WireError::new_err(format!(
                "this {noun} is of another plan; give both sides the same one"
            )));
        }
        Ok(Self {
            query: &data[22..22 + NAME],
            samples: u32::from_le_bytes(number(data, 38)),
            parts: u16::from_le_bytes(number(data, 42)).into(),
        })
    }
}

/// The query's name, the samples and the number of parts that the head of a message says.
#[pyfunction]
pub fn message_head<'py>(
    py: Python<'py>,
    data: &[u8],
    kind: u8,
    plan: &[u8],
) -> PyResult<(Bound<'py, PyBytes>, u32, usize)> {
    let head = Head::read(data, kind, plan)?;
    Ok((PyBytes::new(py, head.query), head.samples, head.parts))
}

/// The query's name, the samples and the parts of a whole message, of so many parts where their number is given.
#[pyfunction]
pub fn read_message<'py>(
    data: &Bound<'py, PyAny>,
    kind: u8,
    plan: &[u8],
    parts: Option<usize>,
) -> PyResult<(Bound<'py, PyBytes>, u32, Bound<'py, PyTuple>)> {
    let words = message_kind(kind);
    let refused = |problem: &str| WireError::new_err(format!("{words} {problem}"));
    let data = data.cast::<PyBytes>().ok().filter(|data| data.as_bytes().len() <= LARGEST);
    let Some(data) = data else {
        return Err(refused(&format!("is bytes, up to {LARGEST} of them")));
    };
    let (py, data) = (data.py(), data.as_bytes());
    let head = Head::read(data, kind, plan)?;
    let (summed, behind) = (&data[..SUMMED], &data[HEAD..]);
    if checksum([summed, behind]) != u32::from_le_bytes(number(data, SUMMED)) {
        return Err(refused("is damaged; get it again"));
    }
    if parts.map_or(head.parts == 0, |parts| parts != head.parts) {
        return Err(refused("has other parts than its plan says"));
    }
    if head.samples == 0 {
        return Err(refused("is of no sample"));
    }
    let named = KINDS.iter().any(|&(number, _, named)| number == kind && named);
    if !named && head.query.iter().any(|&byte| byte != 0) {
        return Err(refused("names a query, which only answers do"));
    }
    let (mut found, mut rest) = (Vec::new(), behind);
    for _ in 0..head.parts {
        let part = rest
            .split_first_chunk::<4>()
            .and_then(|(length, rest)| rest.split_at_checked(u32::from_le_bytes(*length) as usize));
        let (part, behind) = part.ok_or_else(|| refused("ends before its parts do"))?;
        found.push(PyBytes::new(py, part));
        rest = behind;
    }
    if !rest.is_empty() {
        let text = format!("something follows the parts of {words}");
        return Err(WireError::new_err(text));
    }
    Ok((PyBytes::new(py, head.query), head.samples, PyTuple::new(py, found)?))
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
    let (Ok(samples), Ok(count)) = (samples.extract::<u32>(), u16::try_from(parts.len())) else {
        return Err(ParameterError::new_err(format!(
            "a message has up to {} samples and {} parts; send several",
            u32::MAX,
            u16::MAX
        )));
    };
    let size = HEAD + parts.iter().map(|part| 4 + part.as_bytes().len()).sum::<usize>();
    if size > LARGEST {
        return Err(ParameterError::new_err(format!(
            "a message of {size} bytes is longer than any reader takes"
        )));
    }
    let (Some(plan), NAME) = (plan.get(..NAME), query.len()) else {
        return Err(ParameterError::new_err(format!(
            "a plan's digest and a query's name have {NAME} bytes in a message"
        )));
    };
    PyBytes::new_with(py, size, |bytes| {
        let (head, behind) = bytes.split_at_mut(HEAD);
        head[..4].copy_from_slice(MAGIC);
        (head[4], head[5]) = (VERSION, kind);
        head[6..22].copy_from_slice(plan);
        head[22..38].copy_from_slice(query);
        head[38..42].copy_from_slice(&samples.to_le_bytes());
        head[42..44].copy_from_slice(&count.to_le_bytes());
        let mut rest = &mut *behind;
        for part in &parts {
            let part = part.as_bytes();
            let (length, content) = rest.split_at_mut(4);
            // What is below the largest size fits.
            length.copy_from_slice(&(part.len() as u32).to_le_bytes());
            let (content, behind) = content.split_at_mut(part.len());
            content.copy_from_slice(part);
            rest = behind;
        }
        let sum = checksum([&head[..SUMMED], behind]);
        head[SUMMED..].copy_from_slice(&sum.to_le_bytes());
        Ok(())
    })
}

fn checksum(pieces: [&[u8]; 2]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    pieces.iter().for_each(|piece| sum.update(piece));
    sum.finalize()
}
