use std::sync::{Arc, Mutex, PoisonError};

use hesc_circuits::Fusion;
use hesc_schemes::streams::{Encryptions, Form};
use hesc_schemes::wire::{Kind, Reader};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::encoder::{BitStreams, Pair, Selector, estimates_to_py};
use crate::erased::{self, ErasedAnswer, ErasedSeeded, Operation};
use crate::errors::{FusionError, ShapeError, stochastic_to_py, to_py};
use crate::interrupt::interruptible;
use crate::params::StreamParams;
use crate::workers::Compute;

/// An array of indices or numbers as a slice.
fn slice<'a, T: numpy::Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|e| ShapeError::new_err(e.to_string()))
}

fn indices(array: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    // Negative indices were resolved by numpy; one that is left becomes too large and is refused.
    Ok(slice(array)?.iter().map(|&i| i as usize).collect())
}

fn pairs(
    left: &PyReadonlyArray1<'_, i64>,
    right: &PyReadonlyArray1<'_, i64>,
) -> PyResult<Vec<(usize, usize)>> {
    Ok(indices(left)?.into_iter().zip(indices(right)?).collect())
}

#[pyclass(frozen, module = "hesc")]
pub struct Array(pub erased::Array);

impl Array {
    /// What makes no ciphertexts, and is done at once.
    fn apply(&self, operation: Operation<'_>) -> PyResult<Self> {
        self.0.apply(operation).map(Self).map_err(to_py)
    }

    /// What computes on ciphertexts, without Python's lock and until it is interrupted.
    fn run(&self, py: Python<'_>, operation: Operation<'_>) -> PyResult<Self> {
        interruptible(py, || self.0.apply(operation), to_py).map(Self)
    }
}

#[pymethods]
impl Array {
    /// An array from its wire form, seeded or not.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, params: &StreamParams, data: &[u8]) -> PyResult<Self> {
        let read = || {
            if Reader::says(data, Kind::SeededStreams) {
                return params.0.read_seeded(data)?.expand();
            }
            params.0.read_streams(data)
        };
        interruptible(py, read, to_py).map(Self)
    }

    #[getter]
    fn elements(&self) -> usize {
        self.0.shape().elements
    }

    #[getter]
    fn terms_per_element(&self) -> usize {
        self.0.shape().terms_per_element
    }

    #[getter]
    fn blocks(&self) -> usize {
        self.0.blocks()
    }

    #[getter]
    fn stream_length(&self) -> usize {
        self.0.shape().stream_length
    }

    #[getter]
    fn representation(&self) -> String {
        self.0.shape().representation.to_string()
    }

    #[getter]
    fn max_count(&self) -> u64 {
        self.0.shape().max_count
    }

    #[getter]
    fn capacity(&self) -> u64 {
        self.0.capacity()
    }

    #[getter]
    fn noise_budget(&self) -> f64 {
        self.0.noise_budget()
    }

    fn multiply(
        &self,
        py: Python<'_>,
        other: &Self,
        left: PyReadonlyArray1<'_, i64>,
        right: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Self> {
        let pairs = pairs(&left, &right)?;
        self.run(py, Operation::Multiply(other.0.as_ref(), &pairs))
    }

    fn add(
        &self,
        py: Python<'_>,
        other: &Self,
        left: PyReadonlyArray1<'_, i64>,
        right: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Self> {
        let pairs = pairs(&left, &right)?;
        self.run(py, Operation::Add(other.0.as_ref(), &pairs))
    }

    fn prefix_products(&self, py: Python<'_>, others: Vec<PyRef<'_, Self>>) -> PyResult<Vec<Self>> {
        let others: Vec<_> = others.iter().map(|other| other.0.as_ref()).collect();
        let products = interruptible(py, || self.0.prefix_products(&others), to_py)?;
        Ok(products.into_iter().map(Self).collect())
    }

    fn weighted_sum(
        &self,
        others: Vec<PyRef<'_, Self>>,
        weights: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let others: Vec<_> = others.iter().map(|other| other.0.as_ref()).collect();
        self.apply(Operation::WeightedSum(&others, slice(&weights)?))
    }

    fn append(&self, other: &Self) -> PyResult<Self> {
        self.apply(Operation::Append(other.0.as_ref()))
    }

    fn negate(&self, py: Python<'_>) -> PyResult<Self> {
        self.run(py, Operation::Negate)
    }

    fn multiply_bits(&self, py: Python<'_>, constants: &BitStreams) -> PyResult<Self> {
        let origin = constants.0.origin().map_err(stochastic_to_py)?;
        let representation = constants.0.representation();
        self.run(py, Operation::MultiplyBits(constants.0.bits(), representation, origin))
    }

    fn scale(&self, factors: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        self.apply(Operation::Scale(slice(&factors)?))
    }

    fn add_constants(&self, constants: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        self.apply(Operation::AddConstants(slice(&constants)?))
    }

    fn select(&self, positions: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        self.apply(Operation::Select(&indices(&positions)?))
    }

    fn sum_groups(&self, group: usize) -> PyResult<Self> {
        self.apply(Operation::SumGroups(group))
    }

    fn multiplexed(
        &self,
        py: Python<'_>,
        coefficients: PyReadonlyArray1<'_, f64>,
        selector: &mut Selector,
    ) -> PyResult<Self> {
        self.run(py, Operation::Multiplexed(slice(&coefficients)?, &mut selector.0))
    }

    fn allocated(
        &self,
        py: Python<'_>,
        coefficients: PyReadonlyArray1<'_, f64>,
        pieces: PyReadonlyArray1<'_, i64>,
        granularity: usize,
    ) -> PyResult<Self> {
        let (coefficients, pieces) = (slice(&coefficients)?, indices(&pieces)?);
        self.run(py, Operation::Allocated(coefficients, &pieces, granularity))
    }

    #[pyo3(signature = (*, bases, compact))]
    fn answer(&self, py: Python<'_>, bases: Option<Vec<u64>>, compact: bool) -> PyResult<Answer> {
        let fusion = match bases {
            Some(bases) if bases.contains(&1) => {
                if bases.iter().any(|&base| base != 1) {
                    return Err(FusionError::new_err(
                        "base 1 adds positions and cannot be mixed with digits of other bases",
                    ));
                }
                Some(Fusion::Ones)
            }
            Some(bases) => Some(Fusion::Digits { bases }),
            None => None,
        };
        interruptible(py, || self.0.answer(fusion.as_ref(), compact), to_py).map(Answer)
    }

    /// Bytes that the wire form has under other parameters of the same block length, with blocks combined of so many
    /// encryptions under the secret key and under the public one.
    fn length_under(&self, params: &StreamParams, secret: usize, public: usize) -> PyResult<usize> {
        let envelope = self.0.envelope().map_err(to_py)?;
        params.length(&envelope, Form::Full, Encryptions { secret, public })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &py.compute(|| self.0.to_bytes()).map_err(to_py)?))
    }
}

#[pyclass(frozen, module = "hesc")]
pub struct SeededArray(pub Arc<dyn ErasedSeeded>);

#[pymethods]
impl SeededArray {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, params: &StreamParams, data: &[u8]) -> PyResult<Self> {
        interruptible(py, || params.0.read_seeded(data), to_py).map(Self)
    }

    #[getter]
    fn elements(&self) -> usize {
        self.0.elements()
    }

    fn expand(&self, py: Python<'_>) -> PyResult<Array> {
        interruptible(py, || self.0.expand(), to_py).map(Array)
    }

    /// See `Array.length_under`.
    fn length_under(&self, params: &StreamParams, secret: usize, public: usize) -> PyResult<usize> {
        params.length(&self.0.envelope(), Form::Seeded, Encryptions { secret, public })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.compute(|| self.0.to_bytes()))
    }
}

#[pyclass(frozen, subclass, module = "hesc")]
pub struct Answer(pub Arc<dyn ErasedAnswer>);

#[pymethods]
impl Answer {
    /// The same answer, which subclasses start from.
    #[new]
    fn new(of: &Self) -> Self {
        Self(Arc::clone(&of.0))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, params: &StreamParams, data: &[u8]) -> PyResult<Self> {
        interruptible(py, || params.0.read_answer(data), to_py).map(Self)
    }

    /// Numbers in it.
    #[getter]
    fn elements(&self) -> usize {
        self.0.elements()
    }

    /// Ciphertexts.
    #[getter]
    fn blocks(&self) -> usize {
        self.0.blocks()
    }

    /// See `Array.length_under`.
    fn length_under(&self, params: &StreamParams, secret: usize, public: usize) -> PyResult<usize> {
        let (form, often) = self.0.form();
        let [secret, public] = [secret, public].map(|count| count * often as usize);
        params.length(&self.0.envelope(), form, Encryptions { secret, public })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.compute(|| self.0.to_bytes()))
    }
}

/// Taken by `separate`.
#[pyclass(frozen, module = "hesc")]
pub struct Counts(pub Mutex<Option<hesc_circuits::Counts>>);

#[pymethods]
impl Counts {
    fn separate(&self, py: Python<'_>) -> PyResult<Readout> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let counts = counts.ok_or_else(|| ShapeError::new_err("these counts were separated"))?;
        py.compute(|| counts.separate()).map(Readout).map_err(to_py)
    }
}

#[pyclass(frozen, module = "hesc")]
pub struct Readout(hesc_circuits::Readout);

#[pymethods]
impl Readout {
    fn counts<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, self.0.counts())
    }

    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, py.compute(|| self.0.values()))
    }

    fn estimates<'py>(&self, py: Python<'py>) -> Pair<'py> {
        let estimates = py.compute(|| self.0.estimates());
        estimates_to_py(py, &estimates)
    }
}
