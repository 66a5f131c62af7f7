//! What the client of a linear plan does with it: the plan is read, features are encrypted, scores decrypted.

use std::sync::Arc;

use hesc_client::{Plan, Protocol, message};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray2};
use numpy::{PyUntypedArrayMethods as _, ToPyArray as _};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::client::{Row, Steps, classes_of};
use crate::errors::{ParameterError, ShapeError, WireError, client_to_py, scheme_to_py};
use crate::inputs::Any;
use crate::messages::whole_message;
use crate::ring_products::RingProductPlan;
use crate::vectors::{VectorSecretKey, generator};
use crate::workers::Compute;

/// A plan of linear scores as its client has it.
#[pyclass(frozen, module = "hesc")]
pub struct ClientPlan(Plan);

/// What was changed, rows, whether these are new, agreement, the share of the variance, and the difference of scores.
type Fidelity = (&'static str, u64, bool, Option<f64>, Option<f64>, f64);

#[pymethods]
impl ClientPlan {
    #[new]
    fn new(data: &Any<'_>, protocol: &str) -> PyResult<Self> {
        let Some(protocol) = Protocol::named(protocol) else {
            let text = format!("no plan of the protocol {protocol:?} is read here");
            return Err(ParameterError::new_err(text));
        };
        let Ok(bytes) = data.cast::<PyBytes>() else {
            let most = hesc_client::limits::DOCUMENT_BYTES;
            return Err(WireError::new_err(format!("a plan is bytes, up to {most} of them")));
        };
        let bytes = bytes.as_bytes();
        let read = data.py().compute(|| Plan::from_bytes(bytes, protocol));
        read.map(Self).map_err(client_to_py)
    }

    #[getter]
    fn digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.digest())
    }

    #[getter]
    fn inputs(&self) -> usize {
        self.0.columns().steps().inputs()
    }

    #[getter]
    fn names(&self) -> &[String] {
        self.0.columns().names()
    }

    #[getter]
    fn steps(&self) -> Steps {
        Steps(Arc::clone(self.0.columns().steps()))
    }

    #[getter]
    fn features(&self) -> usize {
        self.0.ring().features()
    }

    #[getter]
    fn rings(&self) -> Vec<RingProductPlan> {
        self.0.ring().parts().iter().cloned().map(RingProductPlan).collect()
    }

    #[getter]
    fn classes<'py>(&self, py: Python<'py>) -> PyResult<Option<Any<'py>>> {
        self.0.conclusions().classes().map(|classes| classes_of(py, classes)).transpose()
    }

    #[getter]
    fn link(&self) -> &'static str {
        self.0.conclusions().link().name()
    }

    #[getter]
    fn calibration<'py>(&self, py: Python<'py>) -> Option<(Row<'py>, Row<'py>, Row<'py>)> {
        let functions = self.0.conclusions().calibration()?.functions();
        let of = |place: usize| {
            let points = functions.iter().flatten().map(|point| point[place]);
            PyArray1::from_iter(py, points)
        };
        let counts = functions.iter().map(|points| points.len() as f64);
        Some((PyArray1::from_iter(py, counts), of(0), of(1)))
    }

    #[getter]
    fn fidelity(&self) -> Option<Fidelity> {
        let found = self.0.fidelity()?;
        let shares = (found.agreement, found.explained);
        Some((found.way, found.rows, found.unseen, shares.0, shares.1, found.apart))
    }

    /// A query of prepared features.
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        secret: &VectorSecretKey,
        features: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (width, found) = (self.0.columns().steps().width(), features.shape()[1]);
        if found != width {
            let text = format!("features are rows of {width} numbers; got {found} in a row");
            return Err(ShapeError::new_err(text));
        }
        let numbers = features.as_slice()?;
        let mut rng = generator().map_err(scheme_to_py)?;
        let data = py.compute(|| self.0.encrypt(&secret.1, numbers, &mut rng));
        Ok(PyBytes::new(py, &data.map_err(client_to_py)?))
    }

    /// Scores of an answer, a row for each sample.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        secret: &VectorSecretKey,
        answer: &Any<'py>,
        query: Option<&Any<'py>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let answer = whole_message(answer, message::ANSWER)?;
        let query = query.map(|query| whole_message(query, message::QUERY)).transpose()?;
        let scores = py.compute(|| self.0.decrypt(&secret.1, answer, query));
        let (scores, outputs) = (scores.map_err(client_to_py)?, self.0.conclusions().outputs());
        scores.to_pyarray(py).reshape([scores.len() / outputs, outputs])
    }
}

/// Samples of one query, at most, of so many ring products like this one.
#[pyfunction]
pub fn query_rows(first: &RingProductPlan, count: usize) -> PyResult<usize> {
    if count == 0 {
        return Err(ParameterError::new_err("a query is of one ring product or more"));
    }
    Ok(hesc_client::rows(&first.0, count))
}
