use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hesc_stochastic as stochastic;
use hesc_stochastic::{
    EncoderConfig, ErrorLaw, Estimate, Factor, Generator, Operand, Origin, Representation,
    SelectionLaw, StochasticError, UNKNOWN_ROW, sums,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::{CorrelationError, ShapeError, stochastic_to_py};
use crate::workers::Compute;

pub type Pair<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Values and standard errors as two arrays.
pub fn estimates_to_py<'py>(py: Python<'py>, estimates: &[stochastic::Estimate]) -> Pair<'py> {
    let values = estimates.iter().map(|estimate| estimate.value);
    let errors = estimates.iter().map(|estimate| estimate.standard_error);
    (PyArray1::from_iter(py, values), PyArray1::from_iter(py, errors))
}

fn slice<'a>(array: &'a PyReadonlyArray1<'_, f64>) -> PyResult<&'a [f64]> {
    array.as_slice().map_err(|e| ShapeError::new_err(e.to_string()))
}

#[pyclass(frozen, module = "hesc")]
pub struct BitStreams {
    pub streams: stochastic::BitStreams,
    pub representation: Representation,
    /// Where the factors come from.
    origins: Vec<Origin>,
    /// The factors that they have the law of. Sums have none: their bits follow a circuit, and no
    /// product takes them.
    law: Option<Vec<Factor>>,
    /// Whether these are the complements of streams of that law.
    mirrored: bool,
    /// Variances of the values apart from the law's, one for each stream; empty for none.
    variances: Vec<f64>,
    /// Whether the errors of the streams are independent of each other.
    independent: bool,
    /// Whether these are an encoder's streams, unchanged.
    fresh: bool,
}

/// Factors with the law of independent bits, which no gate on structured streams exceeds.
fn bits() -> Vec<Factor> {
    let origin = Origin::Draw { generator: Generator::Bernoulli, source: 0, draw: 0 };
    vec![Factor { origin, row: UNKNOWN_ROW }]
}

impl BitStreams {
    fn encoded(
        (streams, origin): (stochastic::BitStreams, Origin),
        representation: Representation,
    ) -> Self {
        // Streams in the clear do not remember which of a call they are.
        let law = Some(vec![Factor { origin, row: UNKNOWN_ROW }]);
        // All streams of the plain sequence, and of deterministic factors, have the same errors.
        let alike = matches!(
            origin,
            Origin::Deterministic { .. }
                | Origin::Dimension { generator: Generator::PlainSobol, .. }
        );
        Self {
            streams,
            representation,
            origins: vec![origin],
            law,
            mirrored: false,
            variances: Vec::new(),
            independent: !alike,
            fresh: true,
        }
    }

    /// The draw of streams that may be encrypted.
    pub fn origin(&self) -> PyResult<Origin> {
        match self.origins[..] {
            [origin] if self.fresh => Ok(origin),
            _ => Err(CorrelationError::new_err(
                "these streams were computed and have no draw of their own; encrypt what an \
                 Encoder returned, and compute on the ciphertexts",
            )),
        }
    }

    fn computed(&self, streams: stochastic::BitStreams) -> Self {
        Self {
            streams,
            representation: self.representation,
            origins: self.origins.clone(),
            law: self.law.clone(),
            mirrored: self.mirrored,
            variances: self.variances.clone(),
            independent: self.independent,
            fresh: false,
        }
    }

    /// Streams without a law, whose errors are known: what a circuit makes.
    fn summed(&self, streams: stochastic::BitStreams, variances: Vec<f64>) -> Self {
        Self { law: None, variances, ..self.computed(streams) }
    }

    /// The variance of a stream apart from its law's.
    fn variance(&self, stream: usize) -> f64 {
        self.variances.get(stream).copied().unwrap_or(0.0)
    }

    /// Values and standard errors.
    fn estimates(&self) -> Vec<Estimate> {
        let length = self.streams.stream_length();
        let law = self.law.as_ref();
        let law = law.map(|factors| ErrorLaw::of(factors, self.representation, length, length));
        let estimate = |(stream, value): (usize, f64)| {
            let lawful = if self.mirrored { self.representation.complement(value) } else { value };
            let by_law = law.as_ref().map_or(0.0, |law| {
                law.variance_of_estimate(lawful, &[]) + law.bias(lawful).powi(2)
            });
            Estimate { value, standard_error: (by_law + self.variance(stream)).sqrt() }
        };
        self.streams.values(self.representation).into_iter().enumerate().map(estimate).collect()
    }

    /// Refuses operands whose ones mean different things.
    fn check_alike(&self, other: &Self) -> Result<(), StochasticError> {
        let (left, right) = (self.representation, other.representation);
        if left == right {
            return Ok(());
        }
        Err(StochasticError::Representations { left, right })
    }

    /// A sum of groups by a circuit; `exact` of the sum of the operands' values is what it stands for.
    fn sum(
        &self,
        streams: Result<stochastic::BitStreams, StochasticError>,
        exact: impl Fn(f64) -> f64,
        weight: f64,
    ) -> Result<Self, StochasticError> {
        let streams = streams?;
        let values = streams.values(self.representation);
        let variances =
            sums::sum_variances(&self.estimates(), &values, exact, weight, self.independent)?;
        Ok(self.summed(streams, variances))
    }

    fn with(
        &self,
        other: &Self,
        streams: Result<stochastic::BitStreams, StochasticError>,
        product: bool,
    ) -> Result<Self, StochasticError> {
        let mut computed = self.computed(streams?);
        computed.origins.extend(&other.origins);
        computed.independent = self.independent && other.independent;
        let (Some(own), Some(others)) = (&self.law, &other.law) else {
            // A gate on a sum: what independent bits scatter.
            let length = computed.streams.stream_length() as f64;
            let scatter = |stream| {
                let ones = f64::from(computed.streams.ones(stream));
                self.representation.variance(ones, length)
            };
            let variances = (0..computed.streams.streams()).map(scatter).collect();
            return Ok(Self { law: None, variances, ..computed });
        };
        // Gates take what products refuse.
        let apart =
            self.origins.iter().all(|a| other.origins.iter().all(|b| !a.correlated_with(b)));
        computed.law = Some(if product && apart { [&own[..], others].concat() } else { bits() });
        computed.mirrored = false;
        // Values are at most 1 in size: what each had of its own is no larger in the product.
        if !(self.variances.is_empty() && other.variances.is_empty()) {
            let streams = 0..computed.streams.streams();
            let both = streams.map(|stream| self.variance(stream) + other.variance(stream));
            computed.variances = both.collect();
        }
        Ok(computed)
    }
}

#[pymethods]
impl BitStreams {
    #[getter]
    fn stream_length(&self) -> usize {
        self.streams.stream_length()
    }

    #[getter]
    fn representation(&self) -> String {
        self.representation.to_string()
    }

    #[getter]
    fn origins(&self) -> Vec<String> {
        self.origins.iter().map(ToString::to_string).collect()
    }

    fn __len__(&self) -> usize {
        self.streams.streams()
    }

    fn words<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        PyArray1::from_slice(py, self.streams.words())
            .reshape([self.streams.streams(), self.streams.words_per_stream()])
    }

    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let values = py.compute(|| self.streams.values(self.representation));
        PyArray1::from_vec(py, values)
    }

    fn decode<'py>(&self, py: Python<'py>) -> Pair<'py> {
        let estimates = py.compute(|| self.estimates());
        estimates_to_py(py, &estimates)
    }

    fn multiply(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.check_alike(other).map_err(stochastic_to_py)?;
        let shared = |b: &&Origin| self.origins.iter().any(|a| a.correlated_with(b));
        if let Some(&origin) = other.origins.iter().find(shared) {
            return Err(stochastic_to_py(StochasticError::Correlated { origin }));
        }
        if self.law.is_none() || other.law.is_none() {
            return Err(stochastic_to_py(StochasticError::Ordered));
        }
        let product = py.compute(|| match self.representation {
            Representation::Unipolar => self.streams.and(&other.streams),
            Representation::InvertedBipolar => self.streams.xor(&other.streams),
        });
        self.with(other, product, true).map_err(stochastic_to_py)
    }

    fn xor(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.check_alike(other).map_err(stochastic_to_py)?;
        let product = self.representation == Representation::InvertedBipolar;
        let streams = py.compute(|| self.streams.xor(&other.streams));
        self.with(other, streams, product).map_err(stochastic_to_py)
    }

    fn and_(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.check_alike(other).map_err(stochastic_to_py)?;
        let product = self.representation == Representation::Unipolar;
        let streams = py.compute(|| self.streams.and(&other.streams));
        self.with(other, streams, product).map_err(stochastic_to_py)
    }

    fn or_(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.check_alike(other).map_err(stochastic_to_py)?;
        let streams = py.compute(|| self.streams.or(&other.streams));
        self.with(other, streams, false).map_err(stochastic_to_py)
    }

    fn complement(&self) -> Self {
        let mut complement = self.computed(self.streams.complement());
        complement.mirrored = !self.mirrored;
        let several = complement.law.as_ref().is_some_and(|factors| factors.len() > 1);
        if several && self.representation == Representation::Unipolar {
            // 1 - x is no product.
            (complement.law, complement.mirrored) = (Some(bits()), false);
        }
        complement
    }

    fn select(&self, positions: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        let positions = positions.as_slice().map_err(|e| ShapeError::new_err(e.to_string()))?;
        let indices: Vec<usize> = positions.iter().map(|&i| i as usize).collect();
        let streams = self.streams.select(&indices).map_err(stochastic_to_py)?;
        let once = indices.iter().collect::<HashSet<_>>().len() == indices.len();
        let mut selected = self.computed(streams);
        if !self.variances.is_empty() {
            selected.variances = indices.iter().map(|&index| self.variance(index)).collect();
        }
        Ok(Self { fresh: self.fresh, independent: self.independent && once, ..selected })
    }

    fn delayed(&self, py: Python<'_>, positions: usize) -> Self {
        let delayed = py.compute(|| self.streams.delayed(positions));
        let drawn =
            |origin: &Origin| matches!(origin, Origin::Draw { .. } | Origin::Selection { .. });
        if self.origins.iter().all(drawn) {
            return self.computed(delayed);
        }
        // Another order of a sequence than the one whose products are good.
        let variances = self.estimates().iter().map(|e| e.standard_error.powi(2)).collect();
        self.summed(delayed, variances)
    }

    fn shuffled(&self, py: Python<'_>, random_state: u64) -> Self {
        let (shuffled, origin) = py.compute(|| self.streams.shuffled(random_state));
        // The order is new, the number of ones is not.
        let variances = self.estimates().iter().map(|e| e.standard_error.powi(2)).collect();
        let new = Self::encoded((shuffled, origin), self.representation);
        Self { fresh: false, variances, independent: self.independent, ..new }
    }

    fn multiplexed_sum(
        &self,
        py: Python<'_>,
        probabilities: PyReadonlyArray1<'_, f64>,
        selector: &mut Selector,
    ) -> PyResult<Self> {
        let probabilities = slice(&probabilities)?;
        let (streams, origin) = py
            .compute(|| sums::multiplexed_sum(&self.streams, probabilities, &mut selector.0))
            .map_err(stochastic_to_py)?;
        let mut sum = self.computed(streams);
        let length = sum.streams.stream_length();
        // The law of the operands' errors is part of the selection's. Variances of their own share its
        // weight; those of sums are all there is.
        if let Some(factors) = &self.law {
            let operand = |(k, share): (usize, &f64)| {
                let of_call = |factor: &Factor| Factor { row: k as u32, ..*factor };
                (*share, factors.iter().map(of_call).collect())
            };
            let operands: Vec<Operand> = probabilities.iter().enumerate().map(operand).collect();
            let law = SelectionLaw::of(&operands, self.representation, length, length);
            let origin = origin.with_law(law);
            sum.origins.push(origin);
            sum.law = Some(vec![Factor { origin, row: UNKNOWN_ROW }]);
            sum.mirrored = false;
        } else {
            sum.origins.push(origin);
        }
        let total = probabilities.iter().sum::<f64>();
        let own = |number: usize| {
            let scatter = match self.law {
                Some(_) => 0.0,
                None => {
                    let ones = f64::from(sum.streams.ones(number));
                    self.representation.variance(ones, length as f64)
                }
            };
            let shares = probabilities.iter().enumerate();
            let of_operand =
                |(k, p): (usize, &f64)| p / total * self.variance(number * probabilities.len() + k);
            scatter + shares.map(of_operand).sum::<f64>()
        };
        if !self.variances.is_empty() {
            sum.variances = (0..sum.streams.streams()).map(own).collect();
        }
        Ok(sum)
    }

    fn concatenated_sum(&self, py: Python<'_>, group: usize) -> PyResult<Self> {
        let mean = |total: f64| total / group as f64;
        let sum =
            py.compute(|| self.sum(sums::concatenated_sum(&self.streams, group), mean, mean(1.0)));
        sum.map_err(stochastic_to_py)
    }

    fn scaled_sum(&self, py: Python<'_>, group: usize) -> PyResult<Self> {
        let mean = |total: f64| total / group as f64;
        let sum = py.compute(|| self.sum(sums::scaled_sum(&self.streams, group), mean, mean(1.0)));
        sum.map_err(stochastic_to_py)
    }

    fn saturating_sum(&self, py: Python<'_>, group: usize) -> PyResult<Self> {
        let representation = self.representation;
        let cut = |total: f64| total.clamp(representation.lowest(), 1.0);
        let sum = py.compute(|| {
            self.sum(sums::saturating_sum(&self.streams, group, representation), cut, 1.0)
        });
        sum.map_err(stochastic_to_py)
    }

    fn approximate_parallel_count<'py>(
        &self,
        py: Python<'py>,
        group: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let representation = self.representation;
        let sums =
            py.compute(|| sums::approximate_parallel_count(&self.streams, group, representation));
        Ok(PyArray1::from_vec(py, sums.map_err(stochastic_to_py)?))
    }
}

/// Stochastic cross-correlation of each pair of streams: 0 for independent ones, 1 and -1 for the
/// largest and the least overlap that their shares of ones allow.
#[pyfunction]
pub fn scc<'py>(
    py: Python<'py>,
    a: &BitStreams,
    b: &BitStreams,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let correlations =
        py.compute(|| stochastic::scc(&a.streams, &b.streams)).map_err(stochastic_to_py)?;
    Ok(PyArray1::from_vec(py, correlations))
}

/// The first points of a Sobol dimension, not scrambled, as fractions of 2^32 in natural order.
#[pyfunction]
pub fn sobol_points(
    py: Python<'_>,
    dimension: u32,
    count: usize,
) -> PyResult<Bound<'_, PyArray1<u32>>> {
    let points = stochastic::sobol_points(dimension, count).map_err(stochastic_to_py)?;
    Ok(PyArray1::from_vec(py, points))
}

/// Threads may share it: each call takes its dimensions before it lets others run.
#[pyclass(frozen, module = "hesc")]
pub struct Encoder(Mutex<stochastic::Encoder>);

impl Encoder {
    /// Its state. Locked only by who holds Python's lock, as a process does that forks: no fork finds it
    /// locked.
    fn state(&self, _: Python<'_>) -> MutexGuard<'_, stochastic::Encoder> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Encodes with dimensions that nobody else takes; a call that fails gives them back if it can.
    fn draw<T: Send>(
        &self,
        py: Python<'_>,
        draws: u32,
        encode: impl FnOnce(&mut stochastic::Encoder) -> Result<T, StochasticError> + Send,
    ) -> PyResult<T> {
        let mut shared = self.state(py);
        let before = shared.clone();
        shared.skip(draws);
        let after = shared.next_dimension();
        drop(shared);
        let mut own = before.clone();
        let encoded = py.compute(|| encode(&mut own));
        let mut shared = self.state(py);
        if encoded.is_err() && shared.next_dimension() == after {
            *shared = before;
        }
        encoded.map_err(stochastic_to_py)
    }
}

#[pymethods]
impl Encoder {
    #[new]
    #[pyo3(signature = (*, generator, representation, stream_length, first_dimension, factors, random_state))]
    fn new(
        generator: &str,
        representation: &str,
        stream_length: usize,
        first_dimension: u32,
        factors: u32,
        random_state: u64,
    ) -> PyResult<Self> {
        let config = EncoderConfig {
            generator: generator.parse().map_err(stochastic_to_py)?,
            representation: representation.parse().map_err(stochastic_to_py)?,
            stream_length,
            first_dimension,
            factors,
            random_state,
        };
        Ok(Self(Mutex::new(stochastic::Encoder::new(config))))
    }

    #[getter]
    fn next_dimension(&self, py: Python<'_>) -> u32 {
        self.state(py).next_dimension()
    }

    fn encode(&self, py: Python<'_>, values: PyReadonlyArray1<'_, f64>) -> PyResult<BitStreams> {
        let values = slice(&values)?;
        let encoded = self.draw(py, 1, |encoder| encoder.encode(values))?;
        Ok(BitStreams::encoded(encoded, self.state(py).config().representation))
    }

    fn encode_factors(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, f64>,
        factors: usize,
    ) -> PyResult<Vec<BitStreams>> {
        let values = slice(&values)?;
        let draws = u32::try_from(factors).unwrap_or(u32::MAX);
        let encoded = self.draw(py, draws, |encoder| encoder.encode_factors(values, factors))?;
        let representation = self.state(py).config().representation;
        Ok(encoded.into_iter().map(|of| BitStreams::encoded(of, representation)).collect())
    }

    fn error_bound(
        &self,
        py: Python<'_>,
        factors: u32,
        failure_probability: f64,
    ) -> PyResult<Option<f64>> {
        let state = self.state(py);
        let config = EncoderConfig { first_dimension: state.next_dimension(), ..*state.config() };
        stochastic::error_bound(&config, factors, failure_probability).map_err(stochastic_to_py)
    }

    /// Standard deviation of products of these values and so many factors, by the law.
    fn predicted_error<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray1<'_, f64>,
        factors: u32,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (config, origins) = {
            let state = self.state(py);
            (*state.config(), state.next_origins(factors))
        };
        let EncoderConfig { representation, stream_length: length, .. } = config;
        let origins = origins.map_err(stochastic_to_py)?;
        let of = |origin| Factor { origin, row: 0 };
        let factors: Vec<Factor> = origins.into_iter().map(of).collect();
        let law = py.compute(|| ErrorLaw::of(&factors, representation, length, length));
        let errors = slice(&values)?
            .iter()
            .map(|&value| (law.variance(value) + law.bias(value).powi(2)).sqrt());
        Ok(PyArray1::from_iter(py, errors))
    }
}

#[pyclass(module = "hesc")]
pub struct Selector(pub stochastic::Selector);

#[pymethods]
impl Selector {
    #[new]
    fn new(random_state: u64) -> Self {
        Self(stochastic::Selector::new(random_state))
    }
}
