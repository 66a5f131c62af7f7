//! Linear scores of encrypted features by one product in the ring.

use hesc_circuits::ring_products::{
    self, Declared, EncryptedModel, Hiding, Model, Plan, Protection, Under,
};
use hesc_client::limits::RING_PLACES;
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods as _, PyReadonlyArrayDyn, ToPyArray as _};
use numpy::{PyUntypedArrayMethods as _, ndarray::IxDyn};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{ParameterError, plan_to_py};
use crate::inputs::{Any, Given, called, explained, misfit, real_array, whole, written};
use crate::plans::{self, Key, derived, detached, short};
use crate::vectors::{VectorPublicKey, VectorSecretKey};
use crate::workers::Compute;

type Numbers<'py> = PyReadonlyArrayDyn<'py, f64>;
type Array<'py> = Bound<'py, PyArrayDyn<f64>>;

const PACKAGE: &str = "hesc.ring_products.plans";
/// The keys that weights are encrypted under, by the names that Python has.
const UNDER: [(Under, &str); 2] = [(Under::Secret, "secret"), (Under::Public, "public")];

fn under_named(name: &str) -> PyResult<Under> {
    let found = UNDER.iter().find(|(_, own)| *own == name).map(|(under, _)| *under);
    found.ok_or_else(|| {
        let text = format!("weights are encrypted under {name:?}; choose secret or public");
        ParameterError::new_err(text)
    })
}

/// One number for each of so many, or one for all.
fn spread(values: &Any<'_>, count: usize, name: &str) -> PyResult<Vec<f64>> {
    let all: Numbers<'_> =
        called(values.py(), PACKAGE, "spread", (values, count, name))?.extract()?;
    Ok(all.as_slice()?.to_vec())
}

/// A row of weights for each output.
fn weight_rows<'py>(weights: &Any<'py>) -> PyResult<Numbers<'py>> {
    called(weights.py(), PACKAGE, "weight_rows", (weights,))?.extract()
}

/// A model and the ranges of its features, the wanted error aside.
fn declared_of_model(
    weights: &Any<'_>,
    intercepts: &Any<'_>,
    [low, high]: [&Any<'_>; 2],
    error: f64,
) -> PyResult<Declared> {
    let rows = weight_rows(weights)?;
    let (outputs, features) = (rows.shape()[0], rows.shape()[1]);
    let intercepts = spread(intercepts, outputs, "intercepts")?;
    let (low, high) = (spread(low, features, "low")?, spread(high, features, "high")?);
    Declared::of_model(rows.as_slice()?, &intercepts, &low, &high, error).map_err(plan_to_py)
}

/// What weights keep to, and the largest sum that they give at the middle of all ranges: sums of absolute values for each
/// output, the norm of all, and that sum.
#[pyfunction]
pub fn ring_product_bounds(
    weights: &Any<'_>,
    intercepts: &Any<'_>,
    low: &Any<'_>,
    high: &Any<'_>,
) -> PyResult<(f64, f64, f64)> {
    // The error has no part in it.
    let declared = declared_of_model(weights, intercepts, [low, high], 1.0)?;
    let offset = declared.centres.iter().fold(0.0, |most: f64, centre| most.max(centre.abs()));
    Ok((declared.weights_l1, declared.weights_l2, offset))
}

/// Ranges, bounds, sizes and scales of a ring product: public, and the same on both sides.
///
/// `of_model` makes one where the key owner may know the weights, `hiding` where not, `encrypted` where the server must
/// not. The smallest ring is taken in which scores have the wanted error, and in it the fewest bits of an answer; a score
/// is beyond its range, or decrypts wrongly, with a probability below 2^-128.
#[pyclass(frozen, module = "hesc.ring_products")]
pub struct RingProductPlan(pub Plan);

impl RingProductPlan {
    /// For weights known by their bounds: ranges, the wanted error, norms, offset and centres.
    fn bounded<'py>(
        py: Python<'py>,
        shape: &Any<'py>,
        [low, high, error, weights_l1, weights_l2]: [&Any<'py>; 5],
        [offset, centres]: [Given<'py>; 2],
        protection: Protection,
    ) -> PyResult<Self> {
        let both = shape.try_iter()?.take(3).collect::<PyResult<Vec<_>>>()?;
        let [outputs, features] = both.as_slice() else {
            return Err(ParameterError::new_err("a shape is two numbers: outputs and features"));
        };
        let outputs = whole(outputs, "outputs", 1, RING_PLACES)?;
        let features = whole(features, "features", 1, RING_PLACES)?;
        let declared = Declared {
            low: spread(low, features, "low")?,
            high: spread(high, features, "high")?,
            centres: spread(&centres.or(py, 0.0)?, outputs, "centres")?,
            offset: offset.or(py, 0.0)?.extract()?,
            weights_l1: weights_l1.extract()?,
            weights_l2: weights_l2.extract()?,
            error: error.extract()?,
            protection,
        };
        derived(py, declared).map(Self)
    }

    /// Weights row after row and intercepts, of the plan's shape.
    fn model<'py>(
        &self,
        weights: &Any<'py>,
        intercepts: &Any<'py>,
    ) -> PyResult<(Numbers<'py>, Vec<f64>)> {
        Ok((self.rows(weights)?, spread(intercepts, self.shape().0, "intercepts")?))
    }

    fn rows<'py>(&self, weights: &Any<'py>) -> PyResult<Numbers<'py>> {
        let (rows, (outputs, features)) = (weight_rows(weights)?, self.shape());
        if rows.shape() != [outputs, features] {
            let found = written(rows.shape());
            let text = "the plan is for weights of shape";
            return misfit(format!("{text} ({outputs}, {features}); got {found}"));
        }
        Ok(rows)
    }

    /// One sample or rows of them.
    fn samples<'py>(&self, samples: &Any<'py>) -> PyResult<Numbers<'py>> {
        let (rows, features) = (real_array(samples, "samples")?, self.shape().1);
        if !(1..=2).contains(&rows.ndim()) || rows.shape().last() != Some(&features) {
            let found = written(rows.shape());
            return misfit(format!(
                "samples are rows of {features} features; got the shape {found}"
            ));
        }
        Ok(rows)
    }
}

#[pymethods]
impl RingProductPlan {
    /// A plan for weights that the key owner may know: from the plan he learns their norms.
    ///
    /// Args:
    ///     weights: a row for each output, (outputs, features), or one row.
    ///     intercepts: what is added to each output, or one number for all.
    ///     low: the least declared value of each feature, or one for all. Features beyond are refused when they are
    ///         encrypted; the wider the ranges, the more bits an error takes. Whoever takes them from data to be hidden
    ///         publishes what he saw.
    ///     high: the greatest.
    ///     error: the root mean square of a score's error that is wanted, in units of the scores, over servers as the
    ///         attribute `error` is. What it is beside is the exact score of these doubles, however much of weights times
    ///         features cancels.
    ///
    /// Raises:
    ///     NoiseBudgetError: no set reaches this error.
    ///     ParameterError, ShapeError: ranges or shapes that cannot be.
    #[staticmethod]
    #[pyo3(
        signature = (weights, intercepts=Given(None), *, low, high, error),
        text_signature = "(weights, intercepts=0.0, *, low, high, error)"
    )]
    fn of_model<'py>(
        py: Python<'py>,
        weights: &Any<'py>,
        intercepts: Given<'py>,
        low: &Any<'py>,
        high: &Any<'py>,
        error: &Any<'py>,
    ) -> PyResult<Self> {
        explained(py, "RingProductPlan.of_model", || {
            let (intercepts, error) = (intercepts.or(py, 0.0)?, error.extract()?);
            let declared = declared_of_model(weights, &intercepts, [low, high], error)?;
            derived(py, declared).map(Self)
        })
    }

    /// A plan for weights that are hidden from the key owner, by bounds that are public.
    ///
    /// With `h` half the width of each feature's range, declare for a model that may change bounds that it will keep, such
    /// as powers of two (`Bounds.of_model` finds the least):
    ///
    /// Args:
    ///     shape: outputs and features.
    ///     low: the least declared value of each feature, or one for all.
    ///     high: the greatest.
    ///     error: as for `of_model`; the noise that hides weights counts.
    ///     weights_l1: what the sum of `abs(w) * h` stays within for each output.
    ///     weights_l2: what the root of the sum of `(w * h)**2` over all outputs stays within.
    ///     answers: numbers that the model gives in all its life (samples times outputs): more of them need more noise. It
    ///         counts them, and gives no more.
    ///     offset: what each output at the middle of all ranges, intercept included, stays within, less its centre.
    ///     centres: public numbers that are added to the outputs after decryption.
    ///     statistical_bits: `s`, at least 40: with and without what it hides, noise differs by a divergence of
    ///         `2**-s / 24` over all answers, a statistical distance of `2**-(s / 2 + 3)`: `2**-23` for 40.
    ///
    /// **As many scores as a model has numbers give it away, whatever hides them**: `features + 1` samples and a linear
    /// solver do. Let `answers` and whom you serve be less than that.
    ///
    /// Raises:
    ///     NoiseBudgetError: no set reaches this error beside the noise.
    ///     ParameterError, ShapeError: bounds or shapes that cannot be.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "keywords of the Python function")]
    #[pyo3(
        signature = (shape, *, low, high, error, weights_l1, weights_l2, answers, offset=Given(None),
                     centres=Given(None), statistical_bits=Given(None)),
        text_signature = "(shape, *, low, high, error, weights_l1, weights_l2, answers, offset=0.0, centres=0.0, statistical_bits=40)"
    )]
    fn hiding<'py>(
        py: Python<'py>,
        shape: &Any<'py>,
        low: &Any<'py>,
        high: &Any<'py>,
        error: &Any<'py>,
        weights_l1: &Any<'py>,
        weights_l2: &Any<'py>,
        answers: &Any<'py>,
        offset: Given<'py>,
        centres: Given<'py>,
        statistical_bits: Given<'py>,
    ) -> PyResult<Self> {
        explained(py, "RingProductPlan.hiding", || {
            let answers = whole(answers, "answers", 1, 1 << 50)? as u64;
            let bits = whole(&statistical_bits.or(py, 40)?, "statistical_bits", 40, 128)?;
            let hiding = Hiding { answers, statistical_bits: bits as u32 };
            let given = [low, high, error, weights_l1, weights_l2];
            Self::bounded(py, shape, given, [offset, centres], Protection::Hidden(hiding))
        })
    }

    /// A plan for weights that the server must not see, by bounds that are public.
    ///
    /// The server then has an `EncryptedModel` and multiplies two ciphertexts. **The owner of the key finds the weights in
    /// the answers**: this is for models of his own, or for owners of models who keep them from servers alone.
    ///
    /// Args:
    ///     shape: outputs and features.
    ///     low: the least declared value of each feature, or one for all.
    ///     high: the greatest.
    ///     error: as for `of_model`.
    ///     weights_l1: what the sum of `abs(w) * h` stays within for each output, `h` half the width of each feature's
    ///         range.
    ///     weights_l2: what the root of the sum of `(w * h)**2` over all outputs stays within.
    ///     offset: what each output at the middle of all ranges, intercept included, stays within, less its centre. More
    ///         than zero: a second ciphertext comes with the model.
    ///     centres: public numbers that are added to the outputs after decryption.
    ///     under: "secret" where who asks encrypts the model himself (`secret.encrypt_model`); "public" where somebody else
    ///         does (`EncryptedModel.encrypt`): more noise, and answers with a third part, of more than twice the bytes.
    ///
    /// Raises:
    ///     NoiseBudgetError: no set reaches this error.
    ///     ParameterError, ShapeError: bounds or shapes that cannot be.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "keywords of the Python function")]
    #[pyo3(
        signature = (shape, *, low, high, error, weights_l1, weights_l2, offset=Given(None),
                     centres=Given(None), under=Given(None)),
        text_signature = "(shape, *, low, high, error, weights_l1, weights_l2, offset=0.0, centres=0.0, under='secret')"
    )]
    fn encrypted<'py>(
        py: Python<'py>,
        shape: &Any<'py>,
        low: &Any<'py>,
        high: &Any<'py>,
        error: &Any<'py>,
        weights_l1: &Any<'py>,
        weights_l2: &Any<'py>,
        offset: Given<'py>,
        centres: Given<'py>,
        under: Given<'py>,
    ) -> PyResult<Self> {
        explained(py, "RingProductPlan.encrypted", || {
            let under = under_named(&under.or(py, "secret")?.extract::<String>()?)?;
            let given = [low, high, error, weights_l1, weights_l2];
            Self::bounded(py, shape, given, [offset, centres], Protection::Encrypted(under))
        })
    }

    /// A plan from its wire form. What it says of sizes and scales must follow from the rest.
    ///
    /// Raises:
    ///     WireError: damaged bytes, or another object's.
    #[staticmethod]
    fn from_bytes(data: &Any<'_>) -> PyResult<Self> {
        plans::read(data).map(Self)
    }

    /// The wire form: what the server is given, or gives.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Any<'py>, (Bound<'py, PyBytes>,))> {
        plans::reduced::<Self, _>(py, &self.0)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (outputs, features) = self.shape();
        let kept = match (self.answers(), self.encrypted_under()) {
            (Some(answers), _) => format!(", hidden for {answers} answers"),
            (_, Some(under)) => format!(", weights under the {under} key"),
            _ => String::new(),
        };
        Ok(format!(
            "<hesc.ring_products.RingProductPlan: {features} features to {outputs} outputs, error {}, N = {}, \
             {} bits back{kept}>",
            short(py, self.error())?,
            self.0.ring_degree(),
            self.answer_bits()
        ))
    }

    /// The set that keys are made for; plans of one set share keys.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        plans::params(py, &self.0)
    }

    /// Outputs and features, as weights have them.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.0.layout().outputs, self.0.layout().features)
    }

    /// The root mean square of a score's error, at features and weights where it is largest.
    ///
    /// Over the noise of queries and keys, and over servers: each rounds or encrypts its weights once, and all its rows share
    /// these roundings. `deployment_error` is of one.
    #[getter]
    fn error(&self) -> f64 {
        self.0.error()
    }

    /// The root mean square of the errors of one server's rows, at most: with 99 % probability.
    ///
    /// However these rows are spread within their ranges, and for one key.
    #[getter]
    fn deployment_error(&self) -> f64 {
        self.0.deployment_error()
    }

    /// Bits of each coefficient of an answer.
    #[getter]
    fn answer_bits(&self) -> u32 {
        self.0.answer_bits()
    }

    /// Samples of one ciphertext: a query of fewer takes the same answer.
    #[getter]
    fn capacity(&self) -> usize {
        self.0.layout().capacity()
    }

    /// Samples of a query, at most.
    #[getter]
    fn most_samples(&self) -> usize {
        self.0.most_samples()
    }

    /// Numbers that a model gives in all its life; None where its weights are not hidden.
    #[getter]
    fn answers(&self) -> Option<u64> {
        self.0.declared().hiding().map(|hiding| hiding.answers)
    }

    /// The key that weights are encrypted under, "secret" or "public"; None: they are not.
    #[getter]
    fn encrypted_under(&self) -> Option<&'static str> {
        let under = self.0.declared().encrypted()?;
        UNDER.iter().find(|(own, _)| *own == under).map(|(_, name)| *name)
    }

    /// Bytes of an encrypted model; None where weights are not encrypted.
    #[getter]
    fn model_size(&self) -> Option<usize> {
        self.0.declared().encrypted().map(|_| ring_products::model_bytes(&self.0))
    }

    /// The least and the greatest value of each feature.
    #[getter]
    fn ranges<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>) {
        let Declared { low, high, .. } = self.0.declared();
        (low.to_pyarray(py), high.to_pyarray(py))
    }

    /// Bytes of a query of so many samples, and of its answer.
    ///
    /// Raises:
    ///     ShapeError, OutOfRangeError: no whole number from 1 to `most_samples`.
    #[pyo3(signature = (samples=Given(None)), text_signature = "($self, samples=1)")]
    fn sizes<'py>(&self, py: Python<'py>, samples: Given<'py>) -> PyResult<Any<'py>> {
        let samples = whole(&samples.or(py, 1)?, "samples", 1, self.0.most_samples())?;
        let up = ring_products::query_bytes(&self.0, samples);
        called(py, PACKAGE, "Sizes", (up, ring_products::answer_bytes(&self.0, samples)))
    }

    /// The law itself: the root mean square errors of scores, for these weights.
    ///
    /// Over the noise of encryption, keys and roundings, of weights among them, hence over servers; `error` is its largest
    /// value.
    ///
    /// Args:
    ///     weights: those of the model.
    ///     samples: one sample, or rows of up to `capacity` that share a ciphertext. Where weights are encrypted errors depend
    ///         on all of them.
    ///
    /// Raises:
    ///     OutOfRangeError: features beyond their ranges, weights beyond what the plan declares.
    ///     ShapeError: another shape.
    fn errors_of<'py>(
        &self,
        py: Python<'py>,
        weights: &Any<'py>,
        samples: &Any<'py>,
    ) -> PyResult<Array<'py>> {
        let (weights, samples) = (self.rows(weights)?, self.samples(samples)?);
        let errors = self.0.errors_of(weights.as_slice()?, samples.as_slice()?);
        let mut shape = samples.shape().to_vec();
        shape[samples.ndim() - 1] = self.shape().0;
        PyArray1::from_vec(py, errors.map_err(plan_to_py)?).reshape(IxDyn(&shape))
    }
}

/// A query: one sample, or rows of them.
#[pyfunction]
pub fn encrypt_features<'py>(
    py: Python<'py>,
    plan: &RingProductPlan,
    secret: &VectorSecretKey,
    samples: &Any<'py>,
) -> PyResult<Bound<'py, PyBytes>> {
    let samples = plan.samples(samples)?;
    let features = samples.as_slice()?;
    plans::bytes(py, |rng| ring_products::encrypt(&plan.0, &secret.1, features, rng))
}

/// The scores of an answer, a row for each sample.
#[pyfunction]
pub fn decrypt_scores<'py>(
    py: Python<'py>,
    plan: &RingProductPlan,
    secret: &VectorSecretKey,
    answer: &[u8],
) -> PyResult<Array<'py>> {
    let scores = py.compute(|| ring_products::decrypt(&plan.0, &secret.1, answer));
    let (scores, outputs) = (scores.map_err(plan_to_py)?, plan.shape().0);
    scores.to_pyarray(py).reshape(IxDyn(&[scores.len() / outputs, outputs]))
}

/// A model under either key.
#[pyfunction]
pub fn encrypt_model<'py>(
    py: Python<'py>,
    plan: &RingProductPlan,
    key: Key<'py>,
    weights: &Any<'py>,
    intercepts: &Any<'py>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (rows, added) = plan.model(weights, intercepts)?;
    let (plan, rows) = (&plan.0, rows.as_slice()?);
    match &key {
        Key::Secret(key) => {
            let key = &key.1;
            plans::bytes(py, |rng| ring_products::encrypt_model(plan, key, rows, &added, rng))
        }
        Key::Public(key) => {
            let key = &key.1;
            plans::bytes(py, |rng| {
                ring_products::encrypt_model_public(plan, key, rows, &added, rng)
            })
        }
    }
}

/// Weights that are ready for queries.
#[pyclass(frozen, subclass, module = "hesc")]
pub struct RingProductModel(Model);

#[pymethods]
impl RingProductModel {
    #[new]
    fn new(
        py: Python<'_>,
        plan: &RingProductPlan,
        weights: &Any<'_>,
        intercepts: &Any<'_>,
        public: Option<PyRef<'_, VectorPublicKey>>,
    ) -> PyResult<Self> {
        let (rows, added) = plan.model(weights, intercepts)?;
        let (rows, public) = (rows.as_slice()?, public.map(|key| key.1.clone()));
        detached(py, |rng| Model::new(&plan.0, rows, &added, public, rng)).map(Self)
    }

    fn evaluate<'py>(&self, py: Python<'py>, query: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        plans::bytes(py, |rng| self.0.evaluate(query, rng))
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
pub struct RingProductEncryptedModel(EncryptedModel);

#[pymethods]
impl RingProductEncryptedModel {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, plan: &RingProductPlan, data: &[u8]) -> PyResult<Self> {
        let model = py.compute(|| EncryptedModel::from_bytes(&plan.0, data));
        model.map(Self).map_err(plan_to_py)
    }

    fn evaluate<'py>(&self, py: Python<'py>, query: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let answer = py.compute(|| self.0.evaluate(query)).map_err(plan_to_py)?;
        Ok(PyBytes::new(py, &answer))
    }
}
