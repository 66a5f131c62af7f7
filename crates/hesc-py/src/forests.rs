//! Exact scores of ensembles of trees.

use hesc_circuits::forests::{self, Condition, Declared, Leaf, Shape};
use hesc_circuits::plans::PlanError;
use hesc_schemes::SchemeError;
use numpy::{PyArray1, PyReadonlyArray1, ToPyArray as _};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{DecryptionError, ShapeError, plan_to_py};
use crate::inputs::Any;
use crate::plans;
use crate::vectors::{VectorPublicKey, VectorSecretKey};
use crate::workers::Compute;

type Counts<'py> = PyReadonlyArray1<'py, u32>;

/// Edges, trees and leaves of each output, and what bounds scores: public, and the same on both sides.
///
/// The set and the cut into ciphertexts follow: those of the fewest bytes of a query and its answer.
///
/// Args:
///     edges: bits of a sample.
///     outputs: for each output its trees, and the leaves of all of them.
///     most_conditions: of a leaf, at most.
///     reach: what sums of values stay within: largest absolute values of all trees, added up.
///
/// Raises:
///     ParameterError, NoiseBudgetError: what cannot be declared, or has room in no set.
#[pyclass(frozen, module = "hesc._native")]
pub struct ForestPlan(forests::Plan);

#[pymethods]
impl ForestPlan {
    #[new]
    fn new(
        py: Python<'_>,
        edges: u32,
        outputs: Vec<(u32, u32)>,
        most_conditions: u32,
        reach: u64,
    ) -> PyResult<Self> {
        let shapes = outputs.into_iter().map(|(trees, leaves)| Shape { trees, leaves });
        let outputs = shapes.collect();
        plans::derived(py, Declared { edges, outputs, most_conditions, reach }).map(Self)
    }

    /// A plan from its wire form. What it says beyond its declaration must follow from that.
    ///
    /// Raises:
    ///     WireError, ParameterError: damaged bytes, another object's, or what cannot be declared.
    #[staticmethod]
    fn from_bytes(data: &Any<'_>) -> PyResult<Self> {
        plans::read(data).map(Self)
    }

    /// The wire form.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Any<'py>, (Bound<'py, PyBytes>,))> {
        plans::reduced::<Self, _>(py, &self.0)
    }

    fn __repr__(&self) -> String {
        let declared = self.0.declared();
        let sum = |of: fn(&Shape) -> u32| declared.outputs.iter().map(of).sum::<u32>();
        format!(
            "<ForestPlan: {} trees of {} leaves in all, {} edges, N = {}>",
            sum(|shape| shape.trees),
            sum(|shape| shape.leaves),
            declared.edges,
            self.0.ring_degree()
        )
    }

    /// The set that keys are made for.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        plans::params(py, &self.0)
    }

    /// Bits of a sample.
    #[getter]
    fn edges(&self) -> u32 {
        self.0.declared().edges
    }

    /// For each output its trees and leaves.
    #[getter]
    fn outputs(&self) -> Vec<(u32, u32)> {
        self.0.declared().outputs.iter().map(|shape| (shape.trees, shape.leaves)).collect()
    }

    /// Conditions of a leaf, at most.
    #[getter]
    fn most_conditions(&self) -> u32 {
        self.0.declared().most_conditions
    }

    /// What sums stay within.
    #[getter]
    fn reach(&self) -> u64 {
        self.0.declared().reach
    }

    /// Bytes of a sample's query and of its answer.
    #[getter]
    fn sizes(&self) -> (usize, usize) {
        (forests::query_bytes(&self.0), forests::answer_bytes(&self.0))
    }

    /// Ciphertexts of a query and of its answer.
    #[getter]
    fn ciphertexts(&self) -> (usize, usize) {
        self.0.ciphertexts()
    }
}

/// Trees that are ready for queries; neither printed, copied nor pickled.
#[pyclass(frozen, module = "hesc")]
pub struct ForestModel(forests::Model);

/// Next so many of a list.
fn take<'a, T>(list: &mut &'a [T], count: u32) -> PyResult<&'a [T]> {
    let unfit = || ShapeError::new_err("counts of trees, leaves, conditions and bits do not fit");
    let (own, rest) = list.split_at_checked(count as usize).ok_or_else(unfit)?;
    *list = rest;
    Ok(own)
}

#[pymethods]
impl ForestModel {
    /// Counts stand one after the other: leaves of each tree, conditions of each leaf, bits of each condition.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the columns of a table")]
    fn new(
        py: Python<'_>,
        plan: &ForestPlan,
        leaves: Counts<'_>,
        values: PyReadonlyArray1<'_, i64>,
        conditions: Counts<'_>,
        negated: PyReadonlyArray1<'_, bool>,
        terms: Counts<'_>,
        edges: Counts<'_>,
    ) -> PyResult<Self> {
        let (mut leaves, mut values) = (leaves.as_slice()?, values.as_slice()?);
        let (mut conditions, mut negated) = (conditions.as_slice()?, negated.as_slice()?);
        let (mut terms, mut edges) = (terms.as_slice()?, edges.as_slice()?);
        let mut outputs = Vec::new();
        for shape in &plan.0.declared().outputs {
            let mut trees = Vec::new();
            for &count in take(&mut leaves, shape.trees)? {
                let counts = take(&mut conditions, count)?;
                let mut tree = Vec::with_capacity(counts.len());
                for (&value, &count) in take(&mut values, count)?.iter().zip(counts) {
                    let signs = take(&mut negated, count)?;
                    let mut own = Vec::with_capacity(signs.len());
                    for (&constant, &count) in signs.iter().zip(take(&mut terms, count)?) {
                        let bits = take(&mut edges, count)?.iter();
                        let terms = bits.map(|&edge| (edge, constant)).collect();
                        own.push(Condition { constant, terms });
                    }
                    tree.push(Leaf { value, conditions: own });
                }
                trees.push(tree);
            }
            outputs.push(trees);
        }
        let left = leaves.len() + values.len() + conditions.len() + negated.len();
        if left + terms.len() + edges.len() > 0 {
            return Err(ShapeError::new_err("there are more leaves or conditions than counts say"));
        }
        py.compute(|| forests::Model::new(&plan.0, outputs)).map(Self).map_err(plan_to_py)
    }

    /// The answer to one sample's query under these keys.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        query: &[u8],
        keys: &VectorPublicKey,
    ) -> PyResult<Bound<'py, PyBytes>> {
        plans::bytes(py, |rng| self.0.answer(query, &keys.1, rng))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a model is not pickled or copied"))
    }
}

/// A query of one sample's bits.
#[pyfunction]
pub fn encrypt_edges<'py>(
    py: Python<'py>,
    plan: &ForestPlan,
    secret: &VectorSecretKey,
    bits: PyReadonlyArray1<'_, bool>,
) -> PyResult<Bound<'py, PyBytes>> {
    let bits = bits.as_slice()?;
    plans::bytes(py, |rng| forests::encrypt(&plan.0, &secret.1, bits, rng))
}

/// A sum of values for each output.
#[pyfunction]
pub fn decrypt_sums<'py>(
    py: Python<'py>,
    plan: &ForestPlan,
    secret: &VectorSecretKey,
    answer: &[u8],
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let found = py.compute(|| forests::decrypt(&plan.0, &secret.1, answer));
    let sums = found.map_err(|error| match error {
        PlanError::Scheme(SchemeError::NoiseTooLarge) => DecryptionError::new_err(
            "no trees of this plan give such numbers: the answer is altered. Tell nobody who made it",
        ),
        other => plan_to_py(other),
    })?;
    Ok(sums.to_pyarray(py))
}
