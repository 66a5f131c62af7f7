//! Products of encrypted numbers as sums of their logarithms.

use hesc_circuits::logarithms::{
    self, Declared, EncryptionKey, Evaluator, Operand, Plan, Recipes, Source, Sums,
};
use numpy::ndarray::IxDyn;
use numpy::{PyArray1, ToPyArray as _};
use numpy::{PyArrayDyn, PyArrayMethods as _, PyReadonlyArrayDyn, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyList, PyTuple};

use crate::errors::{OutOfRangeError, ParameterError, ShapeError, plan_to_py};
use crate::inputs::{
    Any, Given, called, explained, misfit, one_name, real_array, whole, whole_array, written,
};
use crate::plans::{self, Key, detached, short};
use crate::vectors::VectorSecretKey;
use crate::workers::Compute;

type Numbers<'py> = PyReadonlyArrayDyn<'py, f64>;
type Array<'py> = Bound<'py, PyArrayDyn<f64>>;
/// A factor's number, and numbers one after the other, sample after sample.
type Numbered<'py> = (usize, Numbers<'py>);

const NAMES: [&str; 3] = ["secret", "public", "clear"];
const SOURCES: [Source; 3] = [Source::Secret, Source::Public, Source::Clear];
const SIZES: &str = "hesc.logarithms.sizes";
/// Axes and numbers of a factor, at most, and products of a plan.
const AXES: usize = 8;
const ELEMENTS: usize = 1 << 20;
/// The largest power of an element in a monomial.
const MOST_POWER: i64 = 64;

/// The numbers of one side: their shape and bounds, and how they come. Public.
///
/// Args:
///     shape: of the numbers of one sample: a length, or axes; `()` for one number.
///     bound: the largest absolute value, of each number or one for all. It is declared: numbers beyond are refused when they
///         are encrypted, and whoever takes it from data to be hidden publishes what he saw. The wider, the larger the errors.
///     source: "secret" for numbers that the key owner encrypts, "public" for those that others encrypt under his public keys,
///         "clear" for those that whoever computes knows; these serve all samples.
///     shared: whether one set of numbers serves all samples, such as a model's weights.
///
/// Raises:
///     ParameterError: another source.
///     ShapeError, OutOfRangeError: shapes or bounds that cannot be.
#[pyclass(frozen, module = "hesc.logarithms")]
pub struct Factor(Operand);

impl Factor {
    /// What it multiplies each product with.
    fn operand(&self, recipes: Recipes) -> Operand {
        Operand { recipes, ..self.0.clone() }
    }

    fn of(operand: &Operand) -> Self {
        let &Operand { source, shared, ref shape, ref bounds, .. } = operand;
        let (shape, bounds, recipes) = (shape.clone(), bounds.clone(), Recipes::new([]));
        Self(Operand { source, shared, shape, bounds, recipes })
    }

    fn dimensions(&self) -> Vec<usize> {
        self.0.shape.iter().map(|&axis| axis as usize).collect()
    }

    /// Numbers one after the other: those of one sample, or of samples along a further axis.
    fn rows<'py>(&self, values: &Any<'py>, name: &str) -> PyResult<Numbers<'py>> {
        let (array, own) = (real_array(values, name)?, self.dimensions());
        let samples = || array.ndim() == own.len() + 1 && array.shape()[1..] == own;
        if array.shape() == own || !self.0.shared && samples() {
            return Ok(array);
        }
        let before = if self.0.shared { "" } else { ", or that of samples before it" };
        let (own, found) = (written(&own), written(array.shape()));
        misfit(format!("{name} has the shape {own}{before}; got {found}"))
    }
}

#[pymethods]
impl Factor {
    #[new]
    #[pyo3(
        signature = (shape=Given(None), *, bound=Given(None), source=Given(None), shared=Given(None)),
        text_signature = "(shape=(), *, bound=1.0, source='secret', shared=False)"
    )]
    fn new<'py>(
        py: Python<'py>,
        shape: Given<'py>,
        bound: Given<'py>,
        source: Given<'py>,
        shared: Given<'py>,
    ) -> PyResult<Self> {
        let shape = shape.or(py, PyTuple::empty(py))?;
        let axes = match shape.cast::<PyTuple>() {
            Ok(axes) => axes.iter().collect(),
            Err(_) => vec![shape],
        };
        if axes.len() > AXES {
            return misfit(format!("a factor has {AXES} axes at most; got {}", axes.len()));
        }
        let axis = |axis| whole(axis, "an axis of the shape", 1, ELEMENTS);
        let dimensions = axes.iter().map(axis).collect::<PyResult<Vec<_>>>()?;
        let own = written(&dimensions);
        let source = one_name(&source.or(py, "secret")?, "source", &NAMES)?;
        let source = SOURCES[NAMES.iter().position(|name| *name == source).unwrap_or(0)];
        let shared = shared.or(py, false)?;
        let wrong = format!("shared is True or False, not {}", shared.get_type());
        let shared: bool = shared.extract().map_err(|_| ParameterError::new_err(wrong))?;
        let given = real_array(&bound.or(py, 1.0)?, "bound")?;
        if given.ndim() > 0 && given.shape() != dimensions {
            let found = written(given.shape());
            let text = "bound is a number, or one for each of the shape";
            return misfit(format!("{text} {own}; got {found}"));
        }
        let count = elements_of(&dimensions);
        if count > ELEMENTS {
            return misfit(format!("a factor has {ELEMENTS} numbers at most; got the shape {own}"));
        }
        let bounds = given.as_slice()?.iter().copied().cycle().take(count).collect();
        let shape = dimensions.iter().map(|&axis| axis as u32).collect();
        let (shared, recipes) = (shared || source == Source::Clear, Recipes::new([]));
        Ok(Self(Operand { source, shared, shape, bounds, recipes }))
    }

    fn __repr__(&self) -> String {
        let shared = if self.0.shared { ", shared" } else { "" };
        let (own, source) = (written(&self.0.shape), self.source());
        format!("<hesc.logarithms.Factor: shape {own}, {source}{shared}>")
    }

    /// Axes of the numbers of one sample.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.shape)
    }

    /// Whose the numbers are: "secret", "public" or "clear".
    #[getter]
    fn source(&self) -> &'static str {
        NAMES[SOURCES.iter().position(|own| *own == self.0.source).unwrap_or(0)]
    }

    /// Whether one set of numbers serves all samples.
    #[getter]
    fn shared(&self) -> bool {
        self.0.shared
    }

    /// The largest absolute value of each number, of the factor's shape; read-only.
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let bounds = self.0.bounds.to_pyarray(py).reshape(IxDyn(&self.dimensions()))?;
        bounds.call_method1("setflags", (false,))?;
        Ok(bounds)
    }
}

/// Factors of a list or tuple of them.
fn factors_of<'py>(factors: &Any<'py>) -> PyResult<Vec<PyRef<'py, Factor>>> {
    let listed = factors.is_instance_of::<PyList>() || factors.is_instance_of::<PyTuple>();
    if !listed || factors.len()? == 0 {
        return Err(ParameterError::new_err("give a list with a factor for each side"));
    }
    let each = |factor: PyResult<Any<'py>>| {
        let factor = factor?;
        let kind = factor.get_type().name()?;
        factor.extract::<PyRef<'py, Factor>>().map_err(|_| {
            let text = format!("a factor is of the type {kind}; logarithms.Factor makes one");
            ParameterError::new_err(text)
        })
    };
    factors.try_iter()?.map(each).collect()
}

fn elements_of(shape: &[usize]) -> usize {
    shape.iter().fold(1, |count: usize, axis| count.saturating_mul(*axis))
}

/// The shape of all factors together, as numpy broadcasts them.
fn broadcast(py: Python<'_>, factors: &[PyRef<'_, Factor>]) -> PyResult<Vec<usize>> {
    let shapes = factors.iter().map(|factor| factor.shape(py)).collect::<PyResult<Vec<_>>>()?;
    let shapes = PyTuple::new(py, shapes)?;
    let wrong = |_| ShapeError::new_err(format!("the shapes {shapes} do not broadcast"));
    let shape = called(py, "numpy", "broadcast_shapes", shapes.clone()).map_err(wrong)?;
    let shape: Vec<usize> = shape.extract()?;
    if elements_of(&shape) > ELEMENTS {
        let found = written(&shape);
        return misfit(format!("a plan has {ELEMENTS} products at most; got the shape {found}"));
    }
    Ok(shape)
}

/// Which of a factor's numbers stands at each place of a shape that it broadcasts to.
fn elements(own: &[usize], shape: &[usize]) -> Vec<u32> {
    let at = |mut place: usize| {
        let (mut element, mut stride) = (0, 1);
        // Axes that it does not have are before its own.
        for (&all, &own) in shape.iter().rev().zip(own.iter().rev()) {
            element += (place % all).min(own - 1) * stride;
            (place, stride) = (place / all, stride * own);
        }
        element as u32
    };
    (0..shape.iter().product()).map(at).collect()
}

/// Elements and powers of each monomial, from a row of exponents for each.
fn powers(at: usize, factor: &Factor, exponents: &Any<'_>) -> PyResult<Recipes> {
    let array = whole_array(exponents, "exponents")?;
    let own = factor.dimensions();
    if own.len() != 1 || array.ndim() != 2 || array.shape()[1..] != own {
        let (found, own) = (written(array.shape()), written(&own));
        return misfit(format!(
            "exponents of factor {at} are rows of one for each of its variables, which have one axis; got the shapes \
             {found} and {own}"
        ));
    }
    let all = array.as_slice()?;
    if all.is_empty() || all.iter().any(|power| !(0..=MOST_POWER).contains(power)) {
        let text = format!("exponents are whole numbers from 0 to {MOST_POWER}, one row or more");
        return Err(OutOfRangeError::new_err(text));
    }
    let row = |row: &[i64]| {
        let named = row.iter().zip(0..).filter(|(power, _)| **power > 0);
        named.map(|(&power, element)| (element, power as u32)).collect()
    };
    Ok(Recipes::new(all.chunks_exact(own[0]).map(row)))
}

/// Bounds, recipes, code and sizes of products by logarithms: public, the same on all sides.
///
/// `elementwise`, `sums` and `polynomial` make one. The coarsest code is taken with which outputs have the wanted error
/// whatever the numbers are within their bounds, the smallest ring that has room for it, and in it the fewest bits of an
/// answer; a product decrypts wrongly with a probability below 2^-128.
#[pyclass(frozen, module = "hesc.logarithms")]
pub struct LogarithmPlan(Plan);

impl LogarithmPlan {
    /// Products of each place of the factors' common shape.
    fn broadcasting(
        py: Python<'_>,
        factors: &[PyRef<'_, Factor>],
        shape: &[usize],
        sums: Sums,
        error: f64,
    ) -> PyResult<Self> {
        let operand = |factor: &PyRef<'_, Factor>| {
            factor.operand(Recipes::of_elements(elements(&factor.dimensions(), shape)))
        };
        let operands = factors.iter().map(operand).collect();
        plans::derived(py, Declared { operands, sums, error }).map(Self)
    }

    /// A factor's number, and numbers of it one after the other, sample after sample.
    fn numbers<'py>(&self, number: &Any<'_>, values: &Any<'py>) -> PyResult<Numbered<'py>> {
        let operands = &self.0.declared().operands;
        let whole = (!number.is_instance_of::<PyBool>()).then(|| number.extract::<usize>().ok());
        let number = whole.flatten().filter(|number| *number < operands.len());
        let Some(number) = number else {
            let last = operands.len() - 1;
            let text = format!("no such factor: the plan has factors 0 to {last}");
            return Err(ParameterError::new_err(text));
        };
        let rows = Factor::of(&operands[number]).rows(values, &format!("factor {number}"))?;
        Ok((number, rows))
    }

    fn dimensions(&self) -> Vec<usize> {
        self.0.declared().sums.shape.iter().map(|&axis| axis as usize).collect()
    }
}

#[pymethods]
impl LogarithmPlan {
    /// The product of all factors, element by element, broadcast as in numpy.
    ///
    /// Args:
    ///     factors: one for each side. What one side knows it multiplies in the clear first.
    ///     error: the root mean square of an output's error that is wanted, at the numbers within the bounds where it is
    ///         largest.
    ///
    /// Raises:
    ///     NoiseBudgetError: no set reaches this error.
    ///     ParameterError, ShapeError: factors that cannot be, or do not broadcast.
    #[staticmethod]
    #[pyo3(signature = (factors, *, error))]
    fn elementwise(py: Python<'_>, factors: &Any<'_>, error: &Any<'_>) -> PyResult<Self> {
        explained(py, "LogarithmPlan.elementwise", || {
            let factors = factors_of(factors)?;
            let shape = broadcast(py, &factors)?;
            let products = 0..shape.iter().product::<usize>() as u32;
            let terms = products.map(|product| (product, product, 1.0)).collect();
            let sums = Sums { shape: shape.iter().map(|&axis| axis as u32).collect(), terms };
            Self::broadcasting(py, &factors, &shape, sums, error.extract()?)
        })
    }

    /// The same as `elementwise`, summed over the last axis: inner products, a matrix times a vector.
    ///
    /// Args:
    ///     factors: as for `elementwise`; for a matrix times a vector of shapes `(m, n)` and `n`.
    ///     error: as for `elementwise`, of a sum.
    ///     weights: public numbers that products are multiplied with before they are added, one for each of the last axis, or
    ///         for all.
    ///
    /// Raises: as `elementwise`.
    #[staticmethod]
    #[pyo3(
        signature = (factors, *, error, weights=Given(None)),
        text_signature = "(factors, *, error, weights=1.0)"
    )]
    fn sums<'py>(
        py: Python<'py>,
        factors: &Any<'py>,
        error: &Any<'py>,
        weights: Given<'py>,
    ) -> PyResult<Self> {
        explained(py, "LogarithmPlan.sums", || {
            let factors = factors_of(factors)?;
            let shape = broadcast(py, &factors)?;
            let Some((&length, outputs)) = shape.split_last() else {
                let text = "factors have an axis to sum over; elementwise takes single numbers";
                return misfit(text.to_owned());
            };
            let weights = real_array(&weights.or(py, 1.0)?, "weights")?;
            if weights.ndim() > 0 && weights.shape() != [length] {
                let found = written(weights.shape());
                let text = format!("weights are a number, or {length} of them");
                return misfit(format!("{text}; got the shape {found}"));
            }
            let all = (0..shape.iter().product()).zip(weights.as_slice()?.iter().cycle());
            let term = |(at, &weight): (usize, &f64)| ((at / length) as u32, at as u32, weight);
            let terms = all.map(term).collect();
            let sums = Sums { shape: outputs.iter().map(|&axis| axis as u32).collect(), terms };
            Self::broadcasting(py, &factors, &shape, sums, error.extract()?)
        })
    }

    /// Polynomials by their monomials, which are the products.
    ///
    /// Args:
    ///     factors: one for each side, of as many variables as it has: one axis.
    ///     exponents: for each factor a row for each monomial, of whole numbers from 0 to 64, one for each variable. Each side
    ///         multiplies its own powers in the clear.
    ///     coefficients: public: a number for each monomial, or rows of them for several outputs. Secret coefficients are a
    ///         factor of their own, with exponents 0 and 1.
    ///     error: as for `elementwise`, of an output.
    ///
    /// Raises: as `elementwise`.
    #[staticmethod]
    #[pyo3(signature = (factors, exponents, coefficients, *, error))]
    fn polynomial(
        py: Python<'_>,
        factors: &Any<'_>,
        exponents: &Any<'_>,
        coefficients: &Any<'_>,
        error: &Any<'_>,
    ) -> PyResult<Self> {
        explained(py, "LogarithmPlan.polynomial", || {
            let factors = factors_of(factors)?;
            if exponents.len()? != factors.len() {
                let count = factors.len();
                return misfit(format!("{count} factors take as many arrays of exponents"));
            }
            let each = exponents.try_iter()?.zip(&factors).enumerate();
            let recipes = each.map(|(at, (given, factor))| powers(at, factor, &given?));
            let recipes = recipes.collect::<PyResult<Vec<_>>>()?;
            let (array, monomials) = (real_array(coefficients, "coefficients")?, recipes[0].len());
            if !(1..=2).contains(&array.ndim()) || array.shape().last() != Some(&monomials) {
                let found = written(array.shape());
                return misfit(format!(
                    "coefficients are {monomials} numbers, one for each row of exponents, or rows of them; got the \
                     shape {found}"
                ));
            }
            let outputs = array.shape()[..array.ndim() - 1].iter().map(|&axis| axis as u32);
            let shape = outputs.collect();
            // What is no number is there to be refused.
            let named = array.as_slice()?.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
            let term = |(at, &weight)| ((at / monomials) as u32, (at % monomials) as u32, weight);
            let sums = Sums { shape, terms: named.map(term).collect() };
            let operands = factors.iter().zip(recipes);
            let operands = operands.map(|(factor, recipes)| factor.operand(recipes)).collect();
            let declared = Declared { operands, sums, error: error.extract()? };
            plans::derived(py, declared).map(Self)
        })
    }

    /// A plan from its wire form. What it says of code and sizes must follow from the rest.
    ///
    /// Raises:
    ///     WireError: damaged bytes, or another object's.
    #[staticmethod]
    fn from_bytes(data: &Any<'_>) -> PyResult<Self> {
        plans::read(data).map(Self)
    }

    /// The wire form: what the other sides are given, or give.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Any<'py>, (Bound<'py, PyBytes>,))> {
        plans::reduced::<Self, _>(py, &self.0)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let code = self.0.code();
        Ok(format!(
            "<hesc.logarithms.LogarithmPlan: {} factors, {} products to the shape {}, error {}, {} bits: {} octaves \
             of {} steps, N = {}, {} bits back>",
            self.0.declared().operands.len(),
            self.products(),
            written(&self.0.declared().sums.shape),
            short(py, self.error())?,
            code.bits,
            code.octaves,
            code.step,
            self.0.ring_degree(),
            self.answer_bits()
        ))
    }

    /// The set that keys are made for; plans of one set share keys.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        plans::params(py, &self.0)
    }

    /// What each side multiplies with, in order.
    #[getter]
    fn factors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let factors = self.0.declared().operands.iter().map(Factor::of);
        PyTuple::new(py, factors.collect::<Vec<_>>())
    }

    /// The shape of the outputs of a sample.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.declared().sums.shape)
    }

    /// Products of a sample: what the key owner sees.
    #[getter]
    fn products(&self) -> usize {
        self.0.layout().products
    }

    /// The root mean square of an output's error, at most, for all numbers within the bounds.
    #[getter]
    fn error(&self) -> f64 {
        self.0.error()
    }

    /// How numbers are coded.
    #[getter]
    fn code<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        let code = self.0.code();
        called(py, SIZES, "Code", (code.bits, code.octaves, code.step))
    }

    /// Bits of each coefficient of an answer.
    #[getter]
    fn answer_bits(&self) -> u32 {
        self.0.answer_bits()
    }

    /// Samples of one ciphertext: an upload of fewer takes the same answer.
    #[getter]
    fn capacity(&self) -> usize {
        self.0.layout().capacity()
    }

    /// Samples of an upload, at most.
    #[getter]
    fn most_samples(&self) -> usize {
        self.0.most_samples()
    }

    /// Bytes of each upload of so many samples, and of the answer.
    ///
    /// Raises:
    ///     ShapeError, OutOfRangeError: no whole number from 1 to `most_samples`.
    #[pyo3(signature = (samples=Given(None)), text_signature = "($self, samples=1)")]
    fn sizes<'py>(&self, py: Python<'py>, samples: Given<'py>) -> PyResult<Any<'py>> {
        let samples = whole(&samples.or(py, 1)?, "samples", 1, self.0.most_samples())?;
        let operands = self.0.declared().operands.iter();
        let up = operands.map(|operand| logarithms::upload_bytes(&self.0, operand, samples));
        let up = PyTuple::new(py, up.collect::<Vec<_>>())?;
        called(py, SIZES, "LogarithmSizes", (up, logarithms::answer_bytes(&self.0, samples)))
    }

    /// The law itself: the root mean square errors of one sample's outputs, for these numbers of each factor.
    ///
    /// Over the roundings of all factors; it is never above `error`.
    ///
    /// Raises:
    ///     OutOfRangeError: numbers beyond their bounds.
    ///     ShapeError: other shapes than the factors have.
    #[pyo3(signature = (*values))]
    fn errors_of<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyTuple>,
    ) -> PyResult<Array<'py>> {
        let operands = &self.0.declared().operands;
        let (count, given) = (operands.len(), values.len());
        if given != count {
            return misfit(format!("the plan has {count} factors; got the numbers of {given}"));
        }
        let rows = values.iter().zip(operands).enumerate().map(|(at, (values, operand))| {
            let one = Operand { shared: true, ..Factor::of(operand).0 };
            Factor(one).rows(&values, &format!("factor {at}"))
        });
        let rows = rows.collect::<PyResult<Vec<_>>>()?;
        let slices = rows.iter().map(|row| Ok(row.as_slice()?)).collect::<PyResult<Vec<_>>>()?;
        let errors = py.compute(|| self.0.errors_of(&slices)).map_err(plan_to_py)?;
        PyArray1::from_vec(py, errors).reshape(IxDyn(&self.dimensions()))
    }
}

/// One factor's numbers under either key.
#[pyfunction]
pub fn encrypt_logarithms<'py>(
    py: Python<'py>,
    plan: &LogarithmPlan,
    factor: &Any<'py>,
    key: Key<'py>,
    values: &Any<'py>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (number, numbers) = plan.numbers(factor, values)?;
    let (plan, numbers) = (&plan.0, numbers.as_slice()?);
    let key = match &key {
        Key::Secret(key) => EncryptionKey::Secret(&key.1),
        Key::Public(key) => EncryptionKey::Public(&key.1),
    };
    plans::bytes(py, |rng| logarithms::encrypt(plan, number, key, numbers, rng))
}

/// Products and outputs of an answer, a row of products and an array of outputs for each sample.
#[pyfunction]
pub fn decrypt_logarithms<'py>(
    py: Python<'py>,
    plan: &LogarithmPlan,
    secret: &VectorSecretKey,
    answer: &[u8],
) -> PyResult<(Array<'py>, Array<'py>)> {
    let found = py.compute(|| logarithms::decrypt(&plan.0, &secret.1, answer));
    let found = found.map_err(plan_to_py)?;
    let products = IxDyn(&[found.samples, plan.products()]);
    let outputs = [&[found.samples], plan.dimensions().as_slice()].concat();
    Ok((
        found.products.to_pyarray(py).reshape(products)?,
        found.outputs.to_pyarray(py).reshape(IxDyn(&outputs))?,
    ))
}

/// Whoever multiplies.
#[pyclass(frozen, module = "hesc")]
pub struct LogarithmEvaluator(Evaluator);

#[pymethods]
impl LogarithmEvaluator {
    #[new]
    fn new<'py>(
        py: Python<'py>,
        plan: &LogarithmPlan,
        clear: Vec<(Any<'py>, Any<'py>)>,
        uploads: Vec<Bound<'py, PyBytes>>,
    ) -> PyResult<Self> {
        let numbers = |(factor, values): &(Any<'py>, Any<'py>)| plan.numbers(factor, values);
        let numbers = clear.iter().map(numbers).collect::<PyResult<Vec<_>>>()?;
        let clear = numbers.iter().map(|(number, array)| Ok((*number, array.as_slice()?)));
        let clear = clear.collect::<PyResult<Vec<(usize, &[f64])>>>()?;
        let uploads: Vec<&[u8]> = uploads.iter().map(|bytes| bytes.as_bytes()).collect();
        detached(py, |rng| Evaluator::new(&plan.0, &clear, &uploads, rng)).map(Self)
    }

    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        uploads: Vec<Bound<'py, PyBytes>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let uploads: Vec<&[u8]> = uploads.iter().map(|bytes| bytes.as_bytes()).collect();
        let answer = py.compute(|| self.0.evaluate(&uploads)).map_err(plan_to_py)?;
        Ok(PyBytes::new(py, &answer))
    }
}
