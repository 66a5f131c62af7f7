//! What a client does: tables of Python become features, scores become classes and probabilities.

use std::sync::Arc;

use hesc_client::{Calibration, Classes, ClientError, Concluding, Link, Table, Words};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArray2};
use numpy::{PyUntypedArrayMethods as _, ToPyArray as _};
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::errors::{ParameterError, ShapeError, client_to_py};
use crate::workers::Compute;

/// Work that is done before others could be told of it.
const MOMENT: usize = 1 << 14;

type Features<'py> = Bound<'py, PyArray2<f64>>;
/// Numbers one after the other.
pub type Row<'py> = Bound<'py, PyArray1<f64>>;

/// Steps of a plan, checked and ready.
#[pyclass(frozen, module = "hesc")]
pub struct Steps(pub Arc<hesc_client::Steps>);

/// A column of words, and None where one is missing.
fn words(column: &Bound<'_, PyAny>) -> PyResult<Words> {
    let mut found = Words::default();
    for word in column.cast::<PyList>()? {
        if word.is_none() {
            found.push(None);
            continue;
        }
        let text = word.cast::<PyString>()?;
        found.push(Some(text.to_str().map_err(|_| {
            ShapeError::new_err(
                "a word holds half a pair of surrogates, which is no letter; read the text anew",
            )
        })?));
    }
    Ok(found)
}

impl Steps {
    /// Computes on a table, without the interpreter lock where that takes longer than letting it go.
    fn on_table<T: Send>(
        &self,
        py: Python<'_>,
        numbers: &PyReadonlyArray2<'_, f64>,
        columns: &Bound<'_, PyList>,
        compute: impl FnOnce(Table<'_>) -> Result<T, ClientError> + Send,
    ) -> Result<T, Failed> {
        let columns = columns.iter().map(|column| words(&column));
        let words = columns.collect::<PyResult<Vec<_>>>().map_err(Failed::Table)?;
        let rows = numbers.shape()[0];
        let numbers = numbers.as_slice().map_err(|error| Failed::Table(error.into()))?;
        let table = Table { rows, numbers, words: &words };
        let found = if rows.saturating_mul(self.0.work()) <= MOMENT {
            compute(table)
        } else {
            py.compute(|| compute(table))
        };
        found.map_err(Failed::Cells)
    }
}

/// Why there are no features.
enum Failed {
    Table(PyErr),
    Cells(ClientError),
}

impl From<Failed> for PyErr {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Table(error) => error,
            Failed::Cells(error) => client_to_py(error),
        }
    }
}

#[pymethods]
impl Steps {
    #[new]
    fn new(py: Python<'_>, document: &[u8], inputs: usize) -> PyResult<Self> {
        let read = py.compute(|| hesc_client::Steps::from_bytes(document, inputs));
        read.map(|steps| Self(Arc::new(steps))).map_err(client_to_py)
    }

    #[getter]
    fn inputs(&self) -> usize {
        self.0.inputs()
    }

    #[getter]
    fn kinds(&self) -> Vec<&'static str> {
        self.0.kinds().iter().map(|kind| kind.name()).collect()
    }

    #[getter]
    fn width(&self) -> usize {
        self.0.width()
    }

    fn limits<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>) {
        let (low, high) = self.0.limits();
        (low.to_pyarray(py), high.to_pyarray(py))
    }

    fn transformed<'py>(
        &self,
        py: Python<'py>,
        numbers: PyReadonlyArray2<'py, f64>,
        words: &Bound<'py, PyList>,
    ) -> PyResult<Features<'py>> {
        let found = self.on_table(py, &numbers, words, |table| self.0.transformed(table))?;
        PyArray1::from_vec(py, found).reshape([numbers.shape()[0], self.0.width()])
    }

    /// Features within ranges, how many values were beyond, and whether each sample had such.
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn prepared<'py>(
        &self,
        py: Python<'py>,
        numbers: PyReadonlyArray2<'py, f64>,
        words: &Bound<'py, PyList>,
        names: &Bound<'py, PyList>,
        low: PyReadonlyArray1<'py, f64>,
        high: PyReadonlyArray1<'py, f64>,
        clip: bool,
    ) -> PyResult<(Features<'py>, usize, Bound<'py, PyArray1<bool>>)> {
        let ranges = [low.as_slice()?, high.as_slice()?];
        let compute = |table: Table<'_>| self.0.prepared(table, ranges, clip);
        match self.on_table(py, &numbers, words, compute) {
            Ok(found) => {
                let features = PyArray1::from_vec(py, found.features);
                let features = features.reshape([numbers.shape()[0], self.0.width()])?;
                Ok((features, found.values, found.which.to_pyarray(py)))
            }
            Err(Failed::Cells(error)) => {
                let names: Vec<String> = names.extract()?;
                Err(client_to_py(error.with_names(&names)))
            }
            Err(failed) => Err(failed.into()),
        }
    }
}

/// How clients make probabilities of scores, how they make numbers, and all that they make of scores.
pub fn add_links(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let those = |of: fn(Link) -> bool| {
        let links = Link::ALL.into_iter().filter(|&link| of(link)).map(Link::name);
        PyTuple::new(module.py(), links.collect::<Vec<_>>())
    };
    module.add("LINKS", those(|_| true)?)?;
    module.add("PROBABILITIES", those(Link::has_probabilities)?)?;
    module.add("INVERSES", those(Link::has_numbers)?)
}

/// Rows of scores: how many outputs there are, and the numbers.
fn rows<'a>(scores: &'a PyReadonlyArray2<'_, f64>) -> PyResult<(usize, &'a [f64])> {
    Ok((scores.shape()[1], scores.as_slice()?))
}

/// Points of functions, one after the other: how many each has, where they are, and the share at each.
type Points<'py> =
    (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>);

fn link_named(name: &str) -> PyResult<Link> {
    Link::named(name).ok_or_else(|| {
        ParameterError::new_err(format!("a link is one of {}", Link::NAMES.join(", ")))
    })
}

fn calibration_of(points: Option<Points<'_>>) -> PyResult<Option<Calibration>> {
    let made = points.map(|(counts, scores, shares)| {
        Calibration::new(counts.as_slice()?, scores.as_slice()?, shares.as_slice()?)
            .map_err(client_to_py)
    });
    made.transpose()
}

/// What is concluded from rows of scores: `classes` counts where these are of several models.
fn concluded<R>(
    link: &str,
    scores: &PyReadonlyArray2<'_, f64>,
    classes: usize,
    calibration: Option<Points<'_>>,
    conclude: impl FnOnce(Concluding<'_>, &[f64]) -> Result<R, ClientError>,
) -> PyResult<(usize, R)> {
    let (outputs, values) = rows(scores)?;
    let (link, calibration) = (link_named(link)?, calibration_of(calibration)?);
    let classes = if link.is_mean() { classes } else { outputs.max(2) };
    let calibration = calibration.as_ref();
    let concluding = Concluding { link, outputs, classes, calibration };
    if link.is_mean() {
        concluding.check().map_err(client_to_py)?;
    }
    Ok((classes, conclude(concluding, values).map_err(client_to_py)?))
}

/// Probabilities of all classes, a row for each row of scores.
#[pyfunction]
pub fn probabilities<'py>(
    py: Python<'py>,
    link: &str,
    scores: PyReadonlyArray2<'py, f64>,
    classes: usize,
    calibration: Option<Points<'py>>,
) -> PyResult<Features<'py>> {
    let conclude = |concluding: Concluding<'_>, values: &[f64]| concluding.probabilities(values);
    let (classes, found) = concluded(link, &scores, classes, calibration, conclude)?;
    PyArray1::from_vec(py, found).reshape([scores.shape()[0], classes])
}

/// Places of classes, one for each row of scores.
#[pyfunction]
pub fn class_places<'py>(
    py: Python<'py>,
    link: &str,
    scores: PyReadonlyArray2<'py, f64>,
    classes: usize,
    calibration: Option<Points<'py>>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let conclude = |concluding: Concluding<'_>, values: &[f64]| concluding.places(values);
    let (_, places) = concluded(link, &scores, classes, calibration, conclude)?;
    // There are fewer classes than 2^63.
    Ok(PyArray1::from_vec(py, places.into_iter().map(|place| place as i64).collect()))
}

/// A regressor's numbers for scores.
#[pyfunction]
pub fn link_numbers<'py>(
    py: Python<'py>,
    link: &str,
    scores: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let link = link_named(link)?;
    let found = scores.as_slice()?.iter().map(|&score| link.number(score)).collect();
    Ok(PyArray1::from_vec(py, found))
}

/// Refuses points that are no functions which rise from share to share.
#[pyfunction]
pub fn check_calibration(points: Points<'_>) -> PyResult<()> {
    calibration_of(Some(points)).map(drop)
}

/// Names of classes from a document of their own.
#[pyfunction]
pub fn read_classes<'py>(py: Python<'py>, document: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    classes_of(py, &Classes::from_bytes(document).map_err(client_to_py)?)
}

/// Names of classes, as a list of one kind.
pub fn classes_of<'py>(py: Python<'py>, classes: &Classes) -> PyResult<Bound<'py, PyAny>> {
    match classes {
        Classes::Truths(values) => values.into_bound_py_any(py),
        Classes::Wholes(values) => values.into_bound_py_any(py),
        Classes::Numbers(values) => values.into_bound_py_any(py),
        Classes::Texts(values) => values.into_bound_py_any(py),
    }
}
