use hesc_stochastic as stochastic;
use hesc_stochastic::{
    EncoderConfig, ErrorLaw, Origin, Relation, Representation, StochasticError, sums,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::{CorrelationError, ShapeError, stochastic_to_py};

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
    law: ErrorLaw,
    /// Whether these are an encoder's streams, unchanged.
    fresh: bool,
}

impl BitStreams {
    fn encoded(
        (streams, origin): (stochastic::BitStreams, Origin),
        representation: Representation,
    ) -> Self {
        let law = ErrorLaw::of(&origin, streams.stream_length());
        Self { streams, representation, origins: vec![origin], law, fresh: true }
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
        let Self { representation, law, .. } = *self;
        Self { streams, representation, origins: self.origins.clone(), law, fresh: false }
    }

    fn with(
        &self,
        other: &Self,
        streams: Result<stochastic::BitStreams, StochasticError>,
    ) -> PyResult<Self> {
        let mut computed = self.computed(streams.map_err(stochastic_to_py)?);
        computed.origins.extend(&other.origins);
        // Streams in the clear do not remember which product they belong to.
        let joint = |origin: &Origin| matches!(origin, Origin::Joint { .. });
        let together = self.origins.iter().any(joint) && other.origins.iter().any(joint);
        let relation = if together { Relation::SameProduct } else { Relation::Independent };
        computed.law = self.law.times(other.law, relation);
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
        let values = py.detach(|| self.streams.values(self.representation));
        PyArray1::from_vec(py, values)
    }

    fn decode<'py>(&self, py: Python<'py>) -> Pair<'py> {
        let estimates = py.detach(|| self.streams.decode(self.representation, self.law));
        estimates_to_py(py, &estimates)
    }

    fn multiply(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let shared =
            self.origins.iter().any(|a| other.origins.iter().any(|b| a.correlated_with(b)));
        if shared {
            return Err(CorrelationError::new_err(
                "correlated product: both factors contain one draw; encode an independent copy \
                 with another call, or decorrelate one with shuffled()",
            ));
        }
        let product = py.detach(|| match self.representation {
            Representation::Unipolar => self.streams.and(&other.streams),
            Representation::InvertedBipolar => self.streams.xor(&other.streams),
        });
        self.with(other, product)
    }

    fn xor(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.with(other, py.detach(|| self.streams.xor(&other.streams)))
    }

    fn and_(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.with(other, py.detach(|| self.streams.and(&other.streams)))
    }

    fn or_(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.with(other, py.detach(|| self.streams.or(&other.streams)))
    }

    fn complement(&self) -> Self {
        self.computed(self.streams.complement())
    }

    fn select(&self, positions: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        let positions = positions.as_slice().map_err(|e| ShapeError::new_err(e.to_string()))?;
        let indices: Vec<usize> = positions.iter().map(|&i| i as usize).collect();
        let streams = self.streams.select(&indices).map_err(stochastic_to_py)?;
        Ok(Self { fresh: self.fresh, ..self.computed(streams) })
    }

    fn delayed(&self, py: Python<'_>, positions: usize) -> Self {
        self.computed(py.detach(|| self.streams.delayed(positions)))
    }

    fn shuffled(&self, py: Python<'_>, random_state: u64) -> Self {
        let shuffled = py.detach(|| self.streams.shuffled(random_state));
        Self { fresh: false, ..Self::encoded(shuffled, self.representation) }
    }

    fn multiplexed_sum(
        &self,
        py: Python<'_>,
        probabilities: PyReadonlyArray1<'_, f64>,
        selector: &mut Selector,
    ) -> PyResult<Self> {
        let probabilities = slice(&probabilities)?;
        let (streams, origin) = py
            .detach(|| sums::multiplexed_sum(&self.streams, probabilities, &mut selector.0))
            .map_err(stochastic_to_py)?;
        let mut sum = self.computed(streams);
        sum.origins.push(origin);
        let chosen = ErrorLaw::of(&origin, sum.streams.stream_length());
        sum.law = sum.law.times(chosen, Relation::Independent);
        Ok(sum)
    }

    fn concatenated_sum(&self, py: Python<'_>, group: usize) -> PyResult<Self> {
        let sum = py.detach(|| sums::concatenated_sum(&self.streams, group));
        sum.map(|sum| self.computed(sum)).map_err(stochastic_to_py)
    }

    fn scaled_sum(&self, py: Python<'_>, group: usize) -> PyResult<Self> {
        let sum = py.detach(|| sums::scaled_sum(&self.streams, group));
        sum.map(|sum| self.computed(sum)).map_err(stochastic_to_py)
    }

    fn saturating_sum(&self, py: Python<'_>, group: usize) -> PyResult<Self> {
        let sum = py.detach(|| sums::saturating_sum(&self.streams, group, self.representation));
        sum.map(|sum| self.computed(sum)).map_err(stochastic_to_py)
    }

    fn approximate_parallel_count<'py>(
        &self,
        py: Python<'py>,
        group: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let representation = self.representation;
        let sums =
            py.detach(|| sums::approximate_parallel_count(&self.streams, group, representation));
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
        py.detach(|| stochastic::scc(&a.streams, &b.streams)).map_err(stochastic_to_py)?;
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

#[pyclass(module = "hesc")]
pub struct Encoder(stochastic::Encoder);

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
        Ok(Self(stochastic::Encoder::new(config)))
    }

    #[getter]
    fn next_dimension(&self) -> u32 {
        self.0.next_dimension()
    }

    fn encode(
        &mut self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<BitStreams> {
        let values = slice(&values)?;
        let encoder = &mut self.0;
        let encoded = py.detach(|| encoder.encode(values)).map_err(stochastic_to_py)?;
        Ok(BitStreams::encoded(encoded, self.0.config().representation))
    }

    fn encode_factors(
        &mut self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, f64>,
        factors: usize,
    ) -> PyResult<Vec<BitStreams>> {
        let values = slice(&values)?;
        let encoder = &mut self.0;
        let encoded =
            py.detach(|| encoder.encode_factors(values, factors)).map_err(stochastic_to_py)?;
        let representation = self.0.config().representation;
        Ok(encoded.into_iter().map(|of| BitStreams::encoded(of, representation)).collect())
    }

    fn error_bound(&self, factors: u32, failure_probability: f64) -> PyResult<Option<f64>> {
        let config = EncoderConfig { first_dimension: self.0.next_dimension(), ..*self.0.config() };
        stochastic::error_bound(&config, factors, failure_probability).map_err(stochastic_to_py)
    }

    /// Standard deviation of products of these values and so many factors, by the law.
    fn predicted_error<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray1<'_, f64>,
        factors: u32,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let config = self.0.config();
        let law = ErrorLaw { factors, ..self.0.law() };
        let length = config.stream_length as f64;
        let errors = slice(&values)?
            .iter()
            .map(|&value| law.variance(value, length, config.representation).sqrt());
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
