//! Products of encrypted numbers as sums of their logarithms.

use hesc_circuits::logarithms::{
    self, Declared, EncryptionKey, LogarithmError, Operand, Recipes, Source, Sums,
};
use hesc_math::AesCtrRng;
use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{logarithm_to_py, scheme_to_py};
use crate::vectors::{VectorParams, VectorPublicKey, VectorSecretKey, generator};
use crate::workers::Compute;

type Numbers<'py> = PyReadonlyArray1<'py, f64>;
type Array<'py> = Bound<'py, PyArray1<f64>>;
type Indices<'py> = PyReadonlyArray1<'py, u32>;
/// A source's name, whether it serves all samples, shape, bounds; where recipes end, their elements and powers.
type Description<'py> =
    (String, bool, Vec<u32>, Numbers<'py>, Indices<'py>, Indices<'py>, Indices<'py>);

const SOURCES: [(&str, Source); 3] =
    [("secret", Source::Secret), ("public", Source::Public), ("clear", Source::Clear)];

/// Runs an operation with a new generator, without the interpreter lock.
fn detached<T: Send>(
    py: Python<'_>,
    operation: impl FnOnce(&mut AesCtrRng) -> Result<T, LogarithmError> + Send,
) -> PyResult<T> {
    let mut rng = generator().map_err(scheme_to_py)?;
    py.compute(|| operation(&mut rng)).map_err(logarithm_to_py)
}

fn operand(description: Description<'_>) -> PyResult<Operand> {
    let (name, shared, shape, bounds, ends, elements, powers) = description;
    let impossible = |name, remedy| logarithm_to_py(LogarithmError::Declared { name, remedy });
    let source = SOURCES.iter().find(|source| source.0 == name);
    let Some(&(_, source)) = source else {
        return Err(impossible("source", "take secret, public or clear"));
    };
    let (elements, powers) = (elements.as_slice()?, powers.as_slice()?);
    let named: Vec<(u32, u32)> = elements.iter().copied().zip(powers.iter().copied()).collect();
    let recipes = Recipes::of_ends(ends.as_slice()?.to_vec(), named)
        .ok_or_else(|| impossible("recipes", "they end one after the other, the last with all"))?;
    Ok(Operand { source, shared, shape, bounds: bounds.as_slice()?.to_vec(), recipes })
}

/// What all sides agree upon.
#[pyclass(frozen, module = "hesc")]
pub struct LogarithmPlan(logarithms::Plan);

#[pymethods]
impl LogarithmPlan {
    #[staticmethod]
    fn declared(
        py: Python<'_>,
        operands: Vec<Description<'_>>,
        shape: Vec<u32>,
        terms: (Indices<'_>, Indices<'_>, Numbers<'_>),
        error: f64,
    ) -> PyResult<Self> {
        let operands = operands.into_iter().map(operand).collect::<PyResult<Vec<_>>>()?;
        let (outputs, products, weights) =
            (terms.0.as_slice()?, terms.1.as_slice()?, terms.2.as_slice()?);
        let pairs = outputs.iter().zip(products).zip(weights);
        let terms = pairs.map(|((&output, &product), &weight)| (output, product, weight)).collect();
        let declared = Declared { operands, sums: Sums { shape, terms }, error };
        let plan = py.compute(|| logarithms::Plan::new(declared));
        plan.map(Self).map_err(logarithm_to_py)
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let plan = py.compute(|| logarithms::Plan::from_bytes(data));
        plan.map(Self).map_err(logarithm_to_py)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// The set that its keys are of.
    #[getter]
    fn params(&self) -> VectorParams {
        VectorParams(self.0.products().scheme().clone())
    }
    /// Source, whether it serves all samples, and axes of each operand.
    #[getter]
    fn operands(&self) -> Vec<(&'static str, bool, Vec<u32>)> {
        let operands = self.0.declared().operands.iter();
        let named = |operand: &Operand| {
            let source = SOURCES.iter().find(|source| source.1 == operand.source);
            (source.map_or("", |source| source.0), operand.shared, operand.shape.clone())
        };
        operands.map(named).collect()
    }
    /// Bounds of an operand's elements.
    fn bounds<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.0.operand(number).map_err(logarithm_to_py)?.bounds.to_pyarray(py))
    }
    /// Axes of the outputs.
    #[getter]
    fn shape(&self) -> Vec<u32> {
        self.0.declared().sums.shape.clone()
    }
    /// Products of a sample.
    #[getter]
    fn products(&self) -> usize {
        self.0.layout().products
    }
    /// Samples of a ciphertext, and of an upload at most.
    #[getter]
    fn samples(&self) -> (usize, usize) {
        (self.0.layout().capacity(), self.0.most_samples())
    }
    /// Bits of the plaintext modulus, octaves, steps to an octave, bits of an answer's coefficients.
    #[getter]
    fn code(&self) -> (u32, u32, u64, u32) {
        let code = self.0.code();
        (code.bits, code.octaves, code.step, self.0.answer_bits())
    }
    #[getter]
    fn error(&self) -> f64 {
        self.0.error()
    }

    /// Bytes of each operand's upload, and of the answer, of so many samples.
    fn bytes_of(&self, samples: usize) -> (Vec<usize>, usize) {
        let operands = self.0.declared().operands.iter();
        (
            operands.map(|operand| logarithms::upload_bytes(&self.0, operand, samples)).collect(),
            logarithms::answer_bytes(&self.0, samples),
        )
    }

    /// The law of errors of one sample's outputs, for the numbers of each operand.
    fn errors_of<'py>(
        &self,
        py: Python<'py>,
        numbers: Vec<Numbers<'_>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let slices =
            numbers.iter().map(|array| Ok(array.as_slice()?)).collect::<PyResult<Vec<_>>>()?;
        let errors = py.compute(|| self.0.errors_of(&slices));
        Ok(PyArray1::from_vec(py, errors.map_err(logarithm_to_py)?))
    }

    /// One operand's numbers under the public key.
    fn encrypt_public<'py>(
        &self,
        py: Python<'py>,
        number: usize,
        key: &VectorPublicKey,
        numbers: Numbers<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (key, numbers) = (EncryptionKey::Public(&key.1), numbers.as_slice()?);
        let upload = detached(py, |rng| logarithms::encrypt(&self.0, number, key, numbers, rng))?;
        Ok(PyBytes::new(py, &upload))
    }

    /// One operand's numbers under the secret key.
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        number: usize,
        key: &VectorSecretKey,
        numbers: Numbers<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (key, numbers) = (EncryptionKey::Secret(&key.1), numbers.as_slice()?);
        let upload = detached(py, |rng| logarithms::encrypt(&self.0, number, key, numbers, rng))?;
        Ok(PyBytes::new(py, &upload))
    }

    /// The products and the outputs of an answer, sample after sample.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        secret: &VectorSecretKey,
        answer: &[u8],
    ) -> PyResult<(Array<'py>, Array<'py>)> {
        let found = py.compute(|| logarithms::decrypt(&self.0, &secret.1, answer));
        let found = found.map_err(logarithm_to_py)?;
        Ok((found.products.to_pyarray(py), found.outputs.to_pyarray(py)))
    }
}

/// Whoever multiplies.
#[pyclass(frozen, module = "hesc")]
pub struct LogarithmEvaluator(logarithms::Evaluator);

#[pymethods]
impl LogarithmEvaluator {
    #[new]
    fn new(
        py: Python<'_>,
        plan: &LogarithmPlan,
        clear: Vec<(usize, Numbers<'_>)>,
        uploads: Vec<Bound<'_, PyBytes>>,
    ) -> PyResult<Self> {
        let numbers =
            |(number, array): &(usize, Numbers<'_>)| Ok((*number, array.as_slice()?.to_vec()));
        let clear = clear.iter().map(numbers).collect::<PyResult<Vec<_>>>()?;
        let clear: Vec<(usize, &[f64])> =
            clear.iter().map(|(number, numbers)| (*number, numbers.as_slice())).collect();
        let uploads: Vec<&[u8]> = uploads.iter().map(|bytes| bytes.as_bytes()).collect();
        detached(py, |rng| logarithms::Evaluator::new(&plan.0, &clear, &uploads, rng)).map(Self)
    }

    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        uploads: Vec<Bound<'py, PyBytes>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let uploads: Vec<&[u8]> = uploads.iter().map(|bytes| bytes.as_bytes()).collect();
        let answer = py.compute(|| self.0.evaluate(&uploads)).map_err(logarithm_to_py)?;
        Ok(PyBytes::new(py, &answer))
    }
}
