//! Encrypted bits and the evaluation of gate circuits on them.

use std::sync::Arc;

use hesc_circuits::Streams;
use hesc_circuits::gates::{Evaluator as OfPrograms, Monitor, Packed};
use hesc_circuits::vectors::Integers;
use hesc_schemes::SchemeError;
use hesc_schemes::streams::tfhe::{
    self, Bits, Ciphertexts, CompactCiphertexts, SeededEvaluationKey, Tfhe,
};
use hesc_schemes::streams::{Combine, Compact, Decrypt, Encrypt};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::Array;
use crate::erased::{PublicOf, SecretOf, os_rng};
use crate::errors::{OutOfRangeError, ParameterError, ShapeError, scheme_to_py, to_py};
use crate::gates::{Program, check_precision};
use crate::interrupt::{interruptible, watched};
use crate::keys::{StreamPublicKey, StreamSecretKey};
use crate::params::StreamParams;
use crate::workers::Compute;

pub fn other_scheme() -> PyErr {
    ParameterError::new_err(
        "single bits need the scheme tfhe; take hesc.Params.recommended(\"tfhe\")",
    )
}

/// Bits as they travel, in blocks, or as what circuits work on.
#[derive(Clone)]
enum Form {
    Blocks(Arc<Ciphertexts>),
    Samples(Arc<Bits>),
}

/// An array; the last axis is what circuits have as wires.
#[pyclass(frozen, module = "hesc")]
#[derive(Clone)]
pub struct EncryptedBits {
    scheme: Tfhe,
    form: Form,
    shape: Vec<usize>,
}

/// Compact blocks that can only be decrypted.
#[pyclass(frozen, module = "hesc")]
pub struct BitAnswer {
    scheme: Tfhe,
    bits: Packed<CompactCiphertexts>,
}

impl EncryptedBits {
    fn of(scheme: &Tfhe, bits: Bits, shape: Vec<usize>) -> Self {
        Self { scheme: scheme.clone(), form: Form::Samples(Arc::new(bits)), shape }
    }

    fn count(&self) -> usize {
        self.shape.iter().product()
    }

    fn samples(&self) -> Result<Arc<Bits>, SchemeError> {
        match &self.form {
            Form::Samples(bits) => Ok(Arc::clone(bits)),
            Form::Blocks(blocks) => {
                let positions: Vec<usize> = (0..self.count()).collect();
                self.scheme.extract(blocks, &positions).map(Arc::new)
            }
        }
    }

    fn packed(&self) -> Option<Packed<Ciphertexts>> {
        match &self.form {
            Form::Samples(_) => None,
            Form::Blocks(blocks) => {
                Some(Packed { blocks: blocks.as_ref().clone(), shape: self.shape.clone() })
            }
        }
    }

    /// The same sum on blocks, where both are blocks, or on samples.
    fn sum(&self, other: &Self) -> Result<Form, SchemeError> {
        if let (Form::Blocks(a), Form::Blocks(b)) = (&self.form, &other.form) {
            return Ok(Form::Blocks(Arc::new(self.scheme.combine(a, b)?)));
        }
        let (a, b) = (self.samples()?, other.samples()?);
        Ok(Form::Samples(Arc::new(self.scheme.exclusive_or(&[&a, &b])?)))
    }
}

#[pymethods]
impl EncryptedBits {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, params: &StreamParams, data: &[u8]) -> PyResult<Self> {
        let scheme = params.tfhe().ok_or_else(other_scheme)?.clone();
        let Packed { blocks, shape } = py
            .compute(|| Packed::<Ciphertexts>::from_bytes(&scheme, data))
            .map_err(scheme_to_py)?;
        Ok(Self { scheme, form: Form::Blocks(Arc::new(blocks)), shape })
    }

    /// The bits of encrypted streams, element after element.
    #[staticmethod]
    fn from_array(py: Python<'_>, array: &Array) -> PyResult<Self> {
        let streams: &Streams<Tfhe> = array.0.as_any().downcast_ref().ok_or_else(other_scheme)?;
        let bits = py.compute(|| streams.bits()).map_err(to_py)?;
        let length = streams.stream_length() * streams.terms_per_element();
        Ok(Self::of(streams.scheme(), bits, vec![streams.elements(), length]))
    }

    /// All bits of arrays one after the other, in this shape.
    #[staticmethod]
    fn concatenate(
        py: Python<'_>,
        parts: Vec<PyRef<'_, Self>>,
        shape: Vec<usize>,
    ) -> PyResult<Self> {
        let scheme = parts.first().ok_or_else(|| scheme_to_py(SchemeError::Empty))?.scheme.clone();
        let parts: Vec<Self> = parts.iter().map(|part| (**part).clone()).collect();
        let joined = py.compute(|| {
            let parts = parts.iter().map(|part| Ok(part.samples()?.as_ref().clone()));
            scheme.concatenate_bits(parts.collect::<Result<_, SchemeError>>()?)
        });
        joined.map(|bits| Self::of(&scheme, bits, shape)).map_err(scheme_to_py)
    }

    /// Integers of bits, and whether they have signs and whether they are truth values.
    #[staticmethod]
    fn integers_from_bytes(
        py: Python<'_>,
        params: &StreamParams,
        data: &[u8],
    ) -> PyResult<(Self, bool, bool)> {
        let scheme = params.tfhe().ok_or_else(other_scheme)?.clone();
        let (of, Packed { blocks, shape }) = py
            .compute(|| Packed::<Ciphertexts>::integers_from_bytes(&scheme, data))
            .map_err(scheme_to_py)?;
        Ok((Self { scheme, form: Form::Blocks(Arc::new(blocks)), shape }, of.signed, of.boolean))
    }

    /// The wire form of blocks; none for samples.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let bits = self.packed()?;
        Some(PyBytes::new(py, &py.compute(|| bits.to_bytes(&self.scheme))))
    }

    /// That of integers, whose bits they are: an array of (count, width).
    fn integers_to_bytes<'py>(
        &self,
        py: Python<'py>,
        signed: bool,
        boolean: bool,
    ) -> Option<Bound<'py, PyBytes>> {
        let (bits, of) = (self.packed()?, integers(&self.shape, signed, boolean));
        Some(PyBytes::new(py, &py.compute(|| bits.integers_to_bytes(&self.scheme, of))))
    }

    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.shape.clone()
    }

    #[getter]
    fn is_packed(&self) -> bool {
        matches!(self.form, Form::Blocks(..))
    }

    /// Whether circuits take them without refreshing them first.
    #[getter]
    fn are_bits(&self) -> bool {
        match &self.form {
            Form::Samples(bits) => bits.are_bits(),
            Form::Blocks(blocks) => blocks.holds_bits(),
        }
    }

    /// The same bits in another shape of the same size.
    fn reshape(&self, shape: Vec<usize>) -> PyResult<Self> {
        let (found, expected) = (shape.iter().product::<usize>(), self.count());
        if found != expected {
            return Err(ShapeError::new_err(format!("{expected} bits do not fit {shape:?}")));
        }
        Ok(Self { shape, ..self.clone() })
    }

    fn exclusive_or(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        if self.shape != other.shape {
            return Err(ShapeError::new_err(format!(
                "bits of shapes {:?} and {:?} are not combined; give arrays of one shape",
                self.shape, other.shape
            )));
        }
        let form = py.compute(|| self.sum(other)).map_err(scheme_to_py)?;
        Ok(Self { form, ..self.clone() })
    }

    fn invert(&self, py: Python<'_>) -> PyResult<Self> {
        let form = py.compute(|| match &self.form {
            Form::Samples(bits) => {
                let inverted = self.scheme.invert(bits.as_ref().clone(), |_| true);
                Ok(Form::Samples(Arc::new(inverted)))
            }
            Form::Blocks(blocks) => Ok(Form::Blocks(Arc::new(self.scheme.invert_blocks(blocks)?))),
        });
        Ok(Self { form: form.map_err(scheme_to_py)?, ..self.clone() })
    }

    /// The other bits where the mask, of as many bytes, is not zero: bits stay bits.
    fn invert_where(&self, py: Python<'_>, mask: PyReadonlyArray1<'_, u8>) -> PyResult<Self> {
        let mask = mask.as_array().to_vec();
        if mask.len() != self.count() {
            return Err(ShapeError::new_err(format!(
                "{} public bits do not fit {} encrypted ones",
                mask.len(),
                self.count()
            )));
        }
        let bits = py.compute(|| {
            let samples = self.samples()?.as_ref().clone();
            Ok(self.scheme.invert(samples, |at| mask[at] != 0))
        });
        Ok(Self::of(&self.scheme, bits.map_err(scheme_to_py)?, self.shape.clone()))
    }

    /// Public bits in this shape, for circuits that take them beside these.
    fn public(
        &self,
        py: Python<'_>,
        bits: PyReadonlyArray1<'_, u8>,
        shape: Vec<usize>,
    ) -> PyResult<Self> {
        let (found, expected) = (bits.len()?, shape.iter().product::<usize>());
        if found != expected {
            return Err(ShapeError::new_err(format!("{found} bits do not fit {shape:?}")));
        }
        let bits: Vec<bool> = bits.as_array().iter().map(|&bit| bit != 0).collect();
        let made = py.compute(|| {
            let like = self.samples()?;
            Ok(self.scheme.public_bits(&like, bits.into_iter()))
        });
        made.map(|bits| Self::of(&self.scheme, bits, shape)).map_err(scheme_to_py)
    }

    /// The bits at these places of the flat array, in this shape.
    fn select(
        &self,
        py: Python<'_>,
        indices: PyReadonlyArray1<'_, u64>,
        shape: Vec<usize>,
    ) -> PyResult<Self> {
        let indices: Vec<usize> = indices.as_array().iter().map(|&i| i as usize).collect();
        let chosen = py.compute(|| match &self.form {
            Form::Samples(bits) => self.scheme.select_bits(bits, &indices),
            Form::Blocks(blocks) => self.scheme.extract(blocks, &indices),
        });
        chosen.map(|bits| Self::of(&self.scheme, bits, shape)).map_err(scheme_to_py)
    }
}

#[pymethods]
impl BitAnswer {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, params: &StreamParams, data: &[u8]) -> PyResult<Self> {
        let scheme = params.tfhe().ok_or_else(other_scheme)?.clone();
        let bits = py.compute(|| Packed::<CompactCiphertexts>::from_bytes(&scheme, data));
        Ok(Self { bits: bits.map_err(scheme_to_py)?, scheme })
    }

    /// As [`EncryptedBits::integers_from_bytes`].
    #[staticmethod]
    fn integers_from_bytes(
        py: Python<'_>,
        params: &StreamParams,
        data: &[u8],
    ) -> PyResult<(Self, bool, bool)> {
        let scheme = params.tfhe().ok_or_else(other_scheme)?.clone();
        let (of, bits) = py
            .compute(|| Packed::<CompactCiphertexts>::integers_from_bytes(&scheme, data))
            .map_err(scheme_to_py)?;
        Ok((Self { scheme, bits }, of.signed, of.boolean))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.compute(|| self.bits.to_bytes(&self.scheme));
        PyBytes::new(py, &bytes)
    }

    /// As [`EncryptedBits::integers_to_bytes`].
    fn integers_to_bytes<'py>(
        &self,
        py: Python<'py>,
        signed: bool,
        boolean: bool,
    ) -> Bound<'py, PyBytes> {
        let of = integers(&self.bits.shape, signed, boolean);
        PyBytes::new(py, &py.compute(|| self.bits.integers_to_bytes(&self.scheme, of)))
    }

    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.bits.shape.clone()
    }
}

/// What travels with the bits of integers.
fn integers(shape: &[usize], signed: bool, boolean: bool) -> Integers {
    Integers { count: shape[0], width: shape[1], signed, boolean }
}

/// Encrypts bits, one in a byte.
#[pyfunction]
pub fn encrypt_bits(
    py: Python<'_>,
    public: &StreamPublicKey,
    bits: PyReadonlyArray1<'_, u8>,
    shape: Vec<usize>,
) -> PyResult<EncryptedBits> {
    let public: &PublicOf<Tfhe> = public.0.as_any().downcast_ref().ok_or_else(other_scheme)?;
    let (scheme, bits) = (&public.scheme, bits.as_array());
    let block_length = scheme.block_length();
    let mut packed = vec![0u64; bits.len().div_ceil(block_length) * block_length / 64];
    for (i, &bit) in bits.iter().enumerate() {
        if bit > 1 {
            return Err(OutOfRangeError::new_err(format!("{bit} is no bit; give 0 and 1")));
        }
        packed[i / 64] |= u64::from(bit) << (i % 64);
    }
    let blocks =
        py.compute(|| Ok(scheme.encrypt(&public.key, &packed, &mut os_rng()?)?)).map_err(to_py)?;
    let form = Form::Blocks(Arc::new(blocks));
    Ok(EncryptedBits { scheme: scheme.clone(), form, shape })
}

fn secret_of(secret: &StreamSecretKey) -> PyResult<&SecretOf<Tfhe>> {
    secret.0.as_any().downcast_ref().ok_or_else(other_scheme)
}

/// What others need to evaluate circuits on bits of this key.
#[pyfunction]
pub fn evaluation_key(py: Python<'_>, secret: &StreamSecretKey) -> PyResult<EvaluationKey> {
    let SecretOf { scheme, key } = secret_of(secret)?;
    let key = py.compute(|| Ok(scheme.generate_evaluation_key(key, &mut os_rng()?)?));
    Ok(EvaluationKey { scheme: scheme.clone(), key: key.map_err(to_py)? })
}

/// One bit in a byte.
#[pyfunction]
pub fn decrypt_bits<'py>(
    py: Python<'py>,
    secret: &StreamSecretKey,
    bits: &EncryptedBits,
) -> PyResult<Bound<'py, PyArray1<u8>>> {
    let SecretOf { scheme, key } = secret_of(secret)?;
    let found = py.compute(|| match &bits.form {
        Form::Samples(samples) => {
            Ok(scheme.decrypt_bits(key, samples)?.into_iter().map(u8::from).collect())
        }
        Form::Blocks(blocks) => Ok(parities(&scheme.decrypt(key, &**blocks)?, bits.count())),
    });
    Ok(PyArray1::from_vec(py, found.map_err(scheme_to_py)?))
}

/// As [`decrypt_bits`].
#[pyfunction]
pub fn decrypt_bit_answer<'py>(
    py: Python<'py>,
    secret: &StreamSecretKey,
    answer: &BitAnswer,
) -> PyResult<Bound<'py, PyArray1<u8>>> {
    let SecretOf { scheme, key } = secret_of(secret)?;
    let counts = py.compute(|| scheme.decrypt(key, &answer.bits.blocks));
    let counts = counts.map_err(scheme_to_py)?;
    Ok(PyArray1::from_vec(py, parities(&counts, answer.bits.count())))
}

fn parities(counts: &[u32], bits: usize) -> Vec<u8> {
    counts[..bits].iter().map(|count| (count & 1) as u8).collect()
}

/// The mean square of the noise of bits, and the most that the model allows, in units of the torus.
#[pyfunction]
pub fn bit_noise(
    py: Python<'_>,
    secret: &StreamSecretKey,
    bits: &EncryptedBits,
) -> PyResult<(f64, f64)> {
    let SecretOf { scheme, key } = secret_of(secret)?;
    py.compute(|| {
        let samples = bits.samples()?;
        Ok((scheme.measured_bit_variance(key, &samples)?, samples.variance()))
    })
    .map_err(scheme_to_py)
}

/// The form that travels.
#[pyclass(frozen, module = "hesc")]
pub struct EvaluationKey {
    scheme: Tfhe,
    key: SeededEvaluationKey,
}

#[pymethods]
impl EvaluationKey {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, params: &StreamParams, data: &[u8]) -> PyResult<Self> {
        let scheme = params.tfhe().ok_or_else(other_scheme)?.clone();
        let key = py.compute(|| scheme.evaluation_key_from_bytes(data)).map_err(scheme_to_py)?;
        Ok(Self { scheme, key })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.compute(|| self.scheme.evaluation_key_to_bytes(&self.key));
        PyBytes::new(py, &bytes)
    }
}

#[pyclass(frozen, module = "hesc")]
pub struct Evaluator {
    scheme: Tfhe,
    key: tfhe::EvaluationKey,
}

#[pymethods]
impl Evaluator {
    #[new]
    fn new(py: Python<'_>, key: &EvaluationKey) -> PyResult<Self> {
        let scheme = key.scheme.clone();
        let key = py.compute(|| scheme.expand_evaluation_key(&key.key)).map_err(scheme_to_py)?;
        Ok(Self { scheme, key })
    }

    /// The outputs' bits for each lane, lane after lane.
    #[pyo3(signature = (program, inputs, lanes, progress))]
    fn evaluate(
        &self,
        py: Python<'_>,
        program: &Program,
        inputs: Vec<PyRef<'_, EncryptedBits>>,
        lanes: Vec<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<EncryptedBits>> {
        let inputs: Vec<EncryptedBits> = inputs.iter().map(|bits| (**bits).clone()).collect();
        let monitor = Monitor::default();
        let outputs = watched(py, progress.as_ref(), &monitor, || {
            let samples = inputs.iter().map(EncryptedBits::samples);
            let samples = samples.collect::<Result<Vec<_>, _>>()?;
            let inputs: Vec<&Bits> = samples.iter().map(Arc::as_ref).collect();
            OfPrograms::new(&self.scheme, &self.key, &monitor).evaluate(&program.0, &inputs)
        })?;
        let widths = program.0.outputs().iter().map(Vec::len);
        let outputs = outputs.into_iter().zip(widths);
        Ok(outputs
            .map(|(bits, width)| {
                let shape = lanes.iter().copied().chain([width]).collect();
                EncryptedBits::of(&self.scheme, bits, shape)
            })
            .collect())
    }

    /// Parities as bits, one bootstrap each.
    #[pyo3(signature = (bits, log2_failure, progress))]
    fn refresh(
        &self,
        py: Python<'_>,
        bits: &EncryptedBits,
        log2_failure: f64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<EncryptedBits> {
        check_precision(&[-log2_failure])?;
        let monitor = Monitor::default();
        let fresh = watched(py, progress.as_ref(), &monitor, || {
            let samples = bits.samples()?;
            OfPrograms::new(&self.scheme, &self.key, &monitor).refresh(&samples, log2_failure)
        })?;
        Ok(EncryptedBits::of(&self.scheme, fresh, bits.shape.clone()))
    }

    /// Bits in blocks, as they travel.
    fn pack(&self, py: Python<'_>, bits: &EncryptedBits) -> PyResult<EncryptedBits> {
        let blocks = interruptible(py, || self.packed(bits), scheme_to_py)?;
        Ok(EncryptedBits { form: Form::Blocks(Arc::new(blocks)), ..bits.clone() })
    }

    /// Bits in compact blocks, which only the key owner can use.
    fn answer(&self, py: Python<'_>, bits: &EncryptedBits) -> PyResult<BitAnswer> {
        let compact = || self.scheme.compact(&self.packed(bits)?);
        let blocks = interruptible(py, compact, scheme_to_py)?;
        let bits = Packed { blocks, shape: bits.shape.clone() };
        Ok(BitAnswer { scheme: self.scheme.clone(), bits })
    }
}

impl Evaluator {
    fn packed(&self, bits: &EncryptedBits) -> Result<Ciphertexts, SchemeError> {
        match &bits.form {
            Form::Blocks(blocks) => {
                self.scheme.check_blocks(&self.key, blocks)?;
                Ok(blocks.as_ref().clone())
            }
            Form::Samples(samples) => self.scheme.pack(&self.key, samples),
        }
    }
}
