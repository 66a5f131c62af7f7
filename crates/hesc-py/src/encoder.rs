use std::sync::{Mutex, MutexGuard, PoisonError};

use hesc_stochastic as stochastic;
use hesc_stochastic::{
    EncoderConfig, ErrorLaw, Factor, Generator, StochasticError, TracedStreams, sums,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::{ShapeError, stochastic_to_py};
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
pub struct BitStreams(pub TracedStreams);

impl BitStreams {
    /// What an operation makes of them, without Python's lock.
    fn made(
        py: Python<'_>,
        make: impl FnOnce() -> Result<TracedStreams, StochasticError> + Send,
    ) -> PyResult<Self> {
        py.compute(make).map(Self).map_err(stochastic_to_py)
    }
}

#[pymethods]
impl BitStreams {
    #[getter]
    fn stream_length(&self) -> usize {
        self.0.bits().stream_length()
    }

    #[getter]
    fn representation(&self) -> String {
        self.0.representation().to_string()
    }

    #[getter]
    fn origins(&self) -> Vec<String> {
        self.0.origins().iter().map(ToString::to_string).collect()
    }

    fn __len__(&self) -> usize {
        self.0.bits().streams()
    }

    fn words<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let bits = self.0.bits();
        PyArray1::from_slice(py, bits.words()).reshape([bits.streams(), bits.words_per_stream()])
    }

    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, py.compute(|| self.0.values()))
    }

    fn decode<'py>(&self, py: Python<'py>) -> Pair<'py> {
        let estimates = py.compute(|| self.0.estimates());
        estimates_to_py(py, &estimates)
    }

    fn multiply(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        Self::made(py, || self.0.multiply(&other.0))
    }

    fn xor(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        Self::made(py, || self.0.xor(&other.0))
    }

    fn and_(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        Self::made(py, || self.0.and(&other.0))
    }

    fn or_(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        Self::made(py, || self.0.or(&other.0))
    }

    fn complement(&self, py: Python<'_>) -> Self {
        Self(py.compute(|| self.0.complement()))
    }

    fn select(&self, py: Python<'_>, positions: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        let positions = positions.as_slice().map_err(|e| ShapeError::new_err(e.to_string()))?;
        let indices: Vec<usize> = positions.iter().map(|&i| i as usize).collect();
        Self::made(py, || self.0.select(&indices))
    }

    fn delayed(&self, py: Python<'_>, positions: usize) -> Self {
        Self(py.compute(|| self.0.delayed(positions)))
    }

    fn shuffled(&self, py: Python<'_>, random_state: u64) -> Self {
        Self(py.compute(|| self.0.shuffled(random_state)))
    }

    fn multiplexed_sum(
        &self,
        py: Python<'_>,
        probabilities: PyReadonlyArray1<'_, f64>,
        selector: &mut Selector,
    ) -> PyResult<Self> {
        let probabilities = slice(&probabilities)?;
        Self::made(py, || self.0.multiplexed_sum(probabilities, &mut selector.0))
    }

    fn concatenated_sum(&self, py: Python<'_>, group: usize) -> PyResult<Self> {
        Self::made(py, || self.0.concatenated_sum(group))
    }

    fn scaled_sum(&self, py: Python<'_>, group: usize) -> PyResult<Self> {
        Self::made(py, || self.0.scaled_sum(group))
    }

    fn saturating_sum(&self, py: Python<'_>, group: usize) -> PyResult<Self> {
        Self::made(py, || self.0.saturating_sum(group))
    }

    fn approximate_parallel_count<'py>(
        &self,
        py: Python<'py>,
        group: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let count =
            || sums::approximate_parallel_count(self.0.bits(), group, self.0.representation());
        Ok(PyArray1::from_vec(py, py.compute(count).map_err(stochastic_to_py)?))
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
        py.compute(|| stochastic::scc(a.0.bits(), b.0.bits())).map_err(stochastic_to_py)?;
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
#[pyclass(frozen, subclass, module = "hesc")]
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

    /// The dimension or draw of the next call.
    #[getter]
    fn next_dimension(&self, py: Python<'_>) -> u32 {
        self.state(py).next_dimension()
    }

    fn streams_of(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<BitStreams> {
        let values = slice(&values)?;
        let encoded = self.draw(py, 1, |encoder| encoder.encode(values))?;
        let representation = self.state(py).config().representation;
        Ok(BitStreams(TracedStreams::encoded(encoded, representation)))
    }

    /// `jointly`: by the joint generator, whichever this one is, for as long as it has dimensions.
    fn factors_of(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, f64>,
        factors: usize,
        jointly: bool,
    ) -> PyResult<Vec<BitStreams>> {
        let values = slice(&values)?;
        let draws = u32::try_from(factors).unwrap_or(u32::MAX);
        let encoded = self.draw(py, draws, |encoder| {
            if jointly {
                let encoded =
                    encoder.with_generator(Generator::Joint).encode_factors(values, factors);
                if !matches!(encoded, Err(StochasticError::Dimension { .. })) {
                    return encoded;
                }
            }
            encoder.encode_factors(values, factors)
        })?;
        let representation = self.state(py).config().representation;
        let traced = |of| BitStreams(TracedStreams::encoded(of, representation));
        Ok(encoded.into_iter().map(traced).collect())
    }

    fn proved_bound(
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
    fn expected_error<'py>(
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
