//! Linear scores of encrypted features by one product in the ring.

use hesc_circuits::ring_products::{self, Declared, Hiding, Protection, RingProductError, Under};
use hesc_math::AesCtrRng;
use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{ParameterError, ring_product_to_py, scheme_to_py};
use crate::vectors::{VectorParams, VectorPublicKey, VectorSecretKey, generator};
use crate::workers::Compute;

type Numbers<'py> = PyReadonlyArray1<'py, f64>;

/// Runs an operation with a new generator, without the interpreter lock.
fn detached<T: Send>(
    py: Python<'_>,
    operation: impl FnOnce(&mut AesCtrRng) -> Result<T, RingProductError> + Send,
) -> PyResult<T> {
    let mut rng = generator().map_err(scheme_to_py)?;
    py.compute(|| operation(&mut rng)).map_err(ring_product_to_py)
}

/// The keys that weights are encrypted under, by the names that Python has.
const UNDER: [(Under, &str); 2] = [(Under::Secret, "secret"), (Under::Public, "public")];

fn under_named(name: &str) -> PyResult<Under> {
    let found = UNDER.iter().find(|(_, own)| *own == name).map(|(under, _)| *under);
    found.ok_or_else(|| {
        let text = format!("weights are encrypted under {name:?}; choose secret or public");
        ParameterError::new_err(text)
    })
}

/// What both sides agree upon.
#[pyclass(frozen, module = "hesc")]
pub struct RingProductPlan(ring_products::Plan);

#[pymethods]
impl RingProductPlan {
    #[staticmethod]
    fn of_model(
        py: Python<'_>,
        weights: Numbers<'_>,
        intercepts: Numbers<'_>,
        low: Numbers<'_>,
        high: Numbers<'_>,
        error: f64,
    ) -> PyResult<Self> {
        let (weights, intercepts) = (weights.as_slice()?, intercepts.as_slice()?);
        let (low, high) = (low.as_slice()?, high.as_slice()?);
        let declared = Declared::of_model(weights, intercepts, low, high, error);
        let plan = py.compute(|| ring_products::Plan::new(declared?));
        plan.map(Self).map_err(ring_product_to_py)
    }

    /// What a model keeps to, as it is: the sizes of an output's weights, the norm of all, and what they give at the middle
    /// of all ranges.
    #[staticmethod]
    fn bounds_of(
        weights: Numbers<'_>,
        intercepts: Numbers<'_>,
        low: Numbers<'_>,
        high: Numbers<'_>,
    ) -> PyResult<(f64, f64, f64)> {
        let (weights, intercepts) = (weights.as_slice()?, intercepts.as_slice()?);
        // The error has no part in it.
        let declared =
            Declared::of_model(weights, intercepts, low.as_slice()?, high.as_slice()?, 1.0);
        let Declared { weights_l1, weights_l2, centres, .. } =
            declared.map_err(ring_product_to_py)?;
        let offset = centres.iter().fold(0.0, |most: f64, centre| most.max(centre.abs()));
        Ok((weights_l1, weights_l2, offset))
    }

    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "keywords of the Python function")]
    #[pyo3(signature = (*, low, high, centres, offset, weights_l1, weights_l2, error, hiding, encrypted))]
    fn declared(
        py: Python<'_>,
        low: Numbers<'_>,
        high: Numbers<'_>,
        centres: Numbers<'_>,
        offset: f64,
        weights_l1: f64,
        weights_l2: f64,
        error: f64,
        hiding: Option<(u64, u32)>,
        encrypted: Option<&str>,
    ) -> PyResult<Self> {
        let [low, high, centres] =
            [low.as_slice()?, high.as_slice()?, centres.as_slice()?].map(<[f64]>::to_vec);
        let protection = match (hiding, encrypted) {
            (None, None) => Protection::Open,
            (Some((answers, statistical_bits)), None) => {
                Protection::Hidden(Hiding { answers, statistical_bits })
            }
            (None, Some(name)) => Protection::Encrypted(under_named(name)?),
            (Some(_), Some(_)) => {
                return Err(ParameterError::new_err("weights are hidden, or encrypted: not both"));
            }
        };
        let declared =
            Declared { low, high, centres, offset, weights_l1, weights_l2, error, protection };
        let plan = py.compute(|| ring_products::Plan::new(declared));
        plan.map(Self).map_err(ring_product_to_py)
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let plan = py.compute(|| ring_products::Plan::from_bytes(data));
        plan.map(Self).map_err(ring_product_to_py)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// The set that its keys are of.
    #[getter]
    fn params(&self) -> VectorParams {
        VectorParams(self.0.products().scheme().clone())
    }
    #[getter]
    fn features(&self) -> usize {
        self.0.layout().features
    }
    #[getter]
    fn outputs(&self) -> usize {
        self.0.layout().outputs
    }
    /// Samples of a ciphertext, and of a query at most.
    #[getter]
    fn samples(&self) -> (usize, usize) {
        (self.0.layout().capacity(), self.0.most_samples())
    }
    /// Scale of features, scale of weights, bits of an answer's coefficients.
    #[getter]
    fn scales(&self) -> (u64, f64, u32) {
        let scales = self.0.scales();
        (scales.feature_scale, scales.weight_scale, scales.bits)
    }
    #[getter]
    fn error(&self) -> f64 {
        self.0.error()
    }
    /// What the root mean square of one deployment's errors stays within with a probability of 99 %.
    #[getter]
    fn deployment_error(&self) -> f64 {
        self.0.deployment_error()
    }
    /// Numbers that a model gives, and bits of statistical security, where weights are hidden.
    #[getter]
    fn hiding(&self) -> Option<(u64, u32)> {
        self.0.declared().hiding().map(|hiding| (hiding.answers, hiding.statistical_bits))
    }
    /// Under which key weights are encrypted, where they are.
    #[getter]
    fn encrypted(&self) -> Option<&'static str> {
        let under = self.0.declared().encrypted()?;
        UNDER.iter().find(|(own, _)| *own == under).map(|(_, name)| *name)
    }
    #[getter]
    fn low<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.declared().low.to_pyarray(py)
    }
    #[getter]
    fn high<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.declared().high.to_pyarray(py)
    }
    #[getter]
    fn centres<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.declared().centres.to_pyarray(py)
    }

    /// Bytes of a query and of an answer of so many samples.
    fn bytes_of(&self, samples: usize) -> (usize, usize) {
        (
            ring_products::query_bytes(&self.0, samples),
            ring_products::answer_bytes(&self.0, samples),
        )
    }

    /// Bytes of an encrypted model.
    fn model_bytes(&self) -> usize {
        ring_products::model_bytes(&self.0)
    }

    /// The law of errors of the scores of samples that share a ciphertext.
    fn errors_of<'py>(
        &self,
        py: Python<'py>,
        weights: Numbers<'_>,
        features: Numbers<'_>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let errors = self.0.errors_of(weights.as_slice()?, features.as_slice()?);
        Ok(PyArray1::from_vec(py, errors.map_err(ring_product_to_py)?))
    }

    /// A model under the secret key.
    fn encrypt_model<'py>(
        &self,
        py: Python<'py>,
        secret: &VectorSecretKey,
        weights: Numbers<'_>,
        intercepts: Numbers<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (weights, intercepts) = (weights.as_slice()?, intercepts.as_slice()?);
        let model = detached(py, |rng| {
            ring_products::encrypt_model(&self.0, &secret.1, weights, intercepts, rng)
        })?;
        Ok(PyBytes::new(py, &model))
    }

    /// A model under the public key.
    fn encrypt_model_public<'py>(
        &self,
        py: Python<'py>,
        public: &VectorPublicKey,
        weights: Numbers<'_>,
        intercepts: Numbers<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (weights, intercepts) = (weights.as_slice()?, intercepts.as_slice()?);
        let model = detached(py, |rng| {
            ring_products::encrypt_model_public(&self.0, &public.1, weights, intercepts, rng)
        })?;
        Ok(PyBytes::new(py, &model))
    }

    /// A query of samples one after the other.
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        secret: &VectorSecretKey,
        features: Numbers<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let features = features.as_slice()?;
        let query = detached(py, |rng| ring_products::encrypt(&self.0, &secret.1, features, rng))?;
        Ok(PyBytes::new(py, &query))
    }

    /// The scores of an answer, sample after sample.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        secret: &VectorSecretKey,
        answer: &[u8],
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let scores = py.compute(|| ring_products::decrypt(&self.0, &secret.1, answer));
        Ok(scores.map_err(ring_product_to_py)?.to_pyarray(py))
    }
}

/// Weights that are ready for queries.
#[pyclass(frozen, subclass, module = "hesc")]
pub struct RingProductModel(ring_products::Model);

#[pymethods]
impl RingProductModel {
    #[new]
    fn new(
        py: Python<'_>,
        plan: &RingProductPlan,
        weights: Numbers<'_>,
        intercepts: Numbers<'_>,
        public: Option<PyRef<'_, VectorPublicKey>>,
    ) -> PyResult<Self> {
        let (weights, intercepts) = (weights.as_slice()?, intercepts.as_slice()?);
        let public = public.map(|key| key.1.clone());
        let model = detached(py, |rng| {
            ring_products::Model::new(&plan.0, weights, intercepts, public, rng)
        });
        model.map(Self)
    }

    fn evaluate<'py>(&self, py: Python<'py>, query: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &detached(py, |rng| self.0.evaluate(query, rng))?))
    }

    /// Numbers that it may still give, counted in this object; None where nothing is hidden.
    #[getter]
    fn answers_left(&self) -> Option<u64> {
        self.0.answers_left()
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a model is not pickled or copied: its count of answers would be too",
        ))
    }
}

/// Weights under encryption, ready for queries.
#[pyclass(frozen, module = "hesc")]
pub struct RingProductEncryptedModel(ring_products::EncryptedModel);

#[pymethods]
impl RingProductEncryptedModel {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, plan: &RingProductPlan, data: &[u8]) -> PyResult<Self> {
        let model = py.compute(|| ring_products::EncryptedModel::from_bytes(&plan.0, data));
        model.map(Self).map_err(ring_product_to_py)
    }

    fn evaluate<'py>(&self, py: Python<'py>, query: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let answer = py.compute(|| self.0.evaluate(query)).map_err(ring_product_to_py)?;
        Ok(PyBytes::new(py, &answer))
    }
}
