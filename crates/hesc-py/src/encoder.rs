use hesc_stochastic as stochastic;
use hesc_stochastic::{EncoderConfig, Origin, Representation};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::{ShapeError, stochastic_to_py};

pub type Pair<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Values and standard errors as two arrays.
pub fn estimates_to_py<'py>(py: Python<'py>, estimates: &[stochastic::Estimate]) -> Pair<'py> {
    let values = estimates.iter().map(|estimate| estimate.value);
    let errors = estimates.iter().map(|estimate| estimate.standard_error);
    (PyArray1::from_iter(py, values), PyArray1::from_iter(py, errors))
}

#[pyclass(frozen, module = "hesc")]
pub struct BitStreams {
    pub streams: stochastic::BitStreams,
    pub representation: Representation,
    pub origin: Origin,
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
    fn origin(&self) -> String {
        self.origin.to_string()
    }

    fn __len__(&self) -> usize {
        self.streams.streams()
    }

    fn words<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        PyArray1::from_slice(py, self.streams.words())
            .reshape([self.streams.streams(), self.streams.words_per_stream()])
    }

    fn decode<'py>(&self, py: Python<'py>) -> Pair<'py> {
        let estimates = py.detach(|| self.streams.decode(self.representation));
        estimates_to_py(py, &estimates)
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
    #[pyo3(signature = (*, generator, representation, stream_length, first_dimension, random_state))]
    fn new(
        generator: &str,
        representation: &str,
        stream_length: usize,
        first_dimension: u32,
        random_state: u64,
    ) -> PyResult<Self> {
        let config = EncoderConfig {
            generator: generator.parse().map_err(stochastic_to_py)?,
            representation: representation.parse().map_err(stochastic_to_py)?,
            stream_length,
            first_dimension,
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
        let values = values.as_slice().map_err(|e| ShapeError::new_err(e.to_string()))?;
        let encoder = &mut self.0;
        let (streams, origin) = py.detach(|| encoder.encode(values)).map_err(stochastic_to_py)?;
        Ok(BitStreams { streams, representation: self.0.config().representation, origin })
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
