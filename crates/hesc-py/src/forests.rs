//! Exact scores of ensembles of trees.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hesc_circuits::forests::{
    self, ClientShare, Condition, Declared, Leaf, PartKind, ServerShare, Shape,
};
use hesc_circuits::plans::PlanError;
use hesc_schemes::SchemeError;
use numpy::{PyArray1, PyReadonlyArray1, ToPyArray as _};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zeroize::Zeroizing;

use crate::errors::{DecryptionError, ParameterError, ShapeError, plan_to_py};
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

    /// Bytes of a sample's query and of its answer, which those of a preparation have too.
    #[getter]
    fn sizes(&self) -> (usize, usize) {
        (forests::query_bytes(&self.0), forests::answer_bytes(&self.0))
    }

    /// Bytes of a prepared query and of its answer.
    #[getter]
    fn prepared_sizes(&self) -> (usize, usize) {
        (forests::prepared_query_bytes(&self.0), forests::prepared_answer_bytes(&self.0))
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
                    tree.push(Leaf { value, conditions: own, slopes: Vec::new() });
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

    /// Linear forms of bits: what stands for an output where the client computes which leaves it reaches.
    ///
    /// Args:
    ///     plan: of one tree of one leaf for each output.
    ///     constants: of each output.
    ///     counts: how many slopes each output has.
    ///     edges: the bit of each slope.
    ///     slopes: what is added where the bit is one.
    #[staticmethod]
    fn of_forms(
        py: Python<'_>,
        plan: &ForestPlan,
        constants: PyReadonlyArray1<'_, i64>,
        counts: Counts<'_>,
        edges: Counts<'_>,
        slopes: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Self> {
        let (mut edges, mut slopes) = (edges.as_slice()?, slopes.as_slice()?);
        let mut outputs = Vec::new();
        for (&value, &count) in constants.as_slice()?.iter().zip(counts.as_slice()?) {
            let own = take(&mut edges, count)?.iter().copied();
            let slopes = own.zip(take(&mut slopes, count)?.iter().copied()).collect();
            outputs.push(vec![vec![Leaf { value, conditions: Vec::new(), slopes }]]);
        }
        if edges.len() + slopes.len() > 0 {
            return Err(ShapeError::new_err("there are more slopes than counts say"));
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

    /// The share that a server keeps of a preparation, and what it answers.
    fn prepare<'py>(
        &self,
        py: Python<'py>,
        preparation: &[u8],
        keys: &VectorPublicKey,
    ) -> PyResult<(ForestServerShare, Bound<'py, PyBytes>)> {
        let (share, answer) = plans::detached(py, |rng| self.0.prepare(preparation, &keys.1, rng))?;
        let share = ForestServerShare(self.0.plan().clone(), Mutex::new(Some(share)));
        Ok((share, PyBytes::new(py, &answer)))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a model is not pickled or copied"))
    }
}

/// What a server keeps of a preparation, **as secret as the model**: used once, neither printed, copied nor pickled.
#[pyclass(frozen, module = "hesc._native")]
pub struct ForestServerShare(forests::Plan, Mutex<Option<ServerShare>>);

/// What a client keeps of a preparation, **secret**: used once, neither printed, copied nor pickled.
#[pyclass(frozen, module = "hesc._native")]
pub struct ForestClientShare(forests::Plan, Mutex<Option<ClientShare>>);

/// What a share is, if it was not used before.
fn kept<T>(share: &Mutex<Option<T>>) -> PyResult<MutexGuard<'_, Option<T>>> {
    let kept = share.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.is_some() { Ok(kept) } else { Err(used()) }
}

fn taken<T>(share: &Mutex<Option<T>>) -> PyResult<T> {
    kept(share)?.take().ok_or_else(used)
}

fn used() -> PyErr {
    ParameterError::new_err("this share of a prepared query was used before; prepare others")
}

#[pymethods]
impl ForestServerShare {
    /// A share of this plan from its wire form.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, plan: &ForestPlan, data: &[u8]) -> PyResult<Self> {
        let share = py.compute(|| ServerShare::from_bytes(&plan.0, data)).map_err(plan_to_py)?;
        Ok(Self(plan.0.clone(), Mutex::new(Some(share))))
    }

    /// The wire form.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = kept(&self.1)?.as_ref().map(|share| Zeroizing::new(share.to_bytes(&self.0)));
        Ok(PyBytes::new(py, &bytes.ok_or_else(used)?))
    }

    /// The name of the preparation.
    #[getter]
    fn name(&self) -> PyResult<[u8; 16]> {
        Ok(kept(&self.1)?.as_ref().ok_or_else(used)?.name().to_bytes())
    }

    /// The answer to a prepared query. The share is used then.
    fn answer<'py>(&self, py: Python<'py>, query: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let share = taken(&self.1)?;
        Ok(PyBytes::new(py, &share.answer(&self.0, query).map_err(plan_to_py)?))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a share is used once: not pickled or copied"))
    }
}

#[pymethods]
impl ForestClientShare {
    /// A share of a new preparation, and what the client sends for it.
    #[staticmethod]
    fn prepare<'py>(
        py: Python<'py>,
        plan: &ForestPlan,
        secret: &VectorSecretKey,
    ) -> PyResult<(Self, Bound<'py, PyBytes>)> {
        let (share, query) = plans::detached(py, |rng| forests::prepare(&plan.0, &secret.1, rng))?;
        Ok((Self(plan.0.clone(), Mutex::new(Some(share))), PyBytes::new(py, &query)))
    }

    /// A share of this plan from its wire form.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, plan: &ForestPlan, data: &[u8]) -> PyResult<Self> {
        let share = py.compute(|| ClientShare::from_bytes(&plan.0, data)).map_err(plan_to_py)?;
        Ok(Self(plan.0.clone(), Mutex::new(Some(share))))
    }

    /// The wire form.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = kept(&self.1)?.as_ref().map(|share| Zeroizing::new(share.to_bytes(&self.0)));
        Ok(PyBytes::new(py, &bytes.ok_or_else(used)?))
    }

    /// The name of the preparation.
    #[getter]
    fn name(&self) -> PyResult<[u8; 16]> {
        Ok(kept(&self.1)?.as_ref().ok_or_else(used)?.name().to_bytes())
    }

    /// Adds what the server answered; after an error the share is what it was.
    fn complete(&self, py: Python<'_>, secret: &VectorSecretKey, answer: &[u8]) -> PyResult<()> {
        let mut share = taken(&self.1)?;
        let found = py.compute(|| share.complete(&self.0, &secret.1, answer)).map_err(plan_to_py);
        *self.1.lock().unwrap_or_else(PoisonError::into_inner) = Some(share);
        found
    }

    /// A prepared query of a sample's bits; what is left of the share is for the answer.
    fn ask<'py>(
        &self,
        py: Python<'py>,
        bits: PyReadonlyArray1<'_, bool>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (share, bits) = (taken(&self.1)?, bits.as_slice()?);
        let (share, query) = share.ask(&self.0, bits).map_err(plan_to_py)?;
        *self.1.lock().unwrap_or_else(PoisonError::into_inner) = Some(share);
        Ok(PyBytes::new(py, &query))
    }

    /// A sum of values for each output, of the answer to a prepared query.
    fn read<'py>(&self, py: Python<'py>, answer: &[u8]) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let share = kept(&self.1)?;
        let found = share.as_ref().ok_or_else(used)?.scores(&self.0, answer);
        Ok(found.map_err(unread)?.to_pyarray(py))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a share is used once: not pickled or copied"))
    }
}

/// What a message's part says that it is, and the name of the query or preparation that it is, is to, or is under; None for other
/// bytes. Nothing is checked.
#[pyfunction]
pub fn forest_part(part: &[u8]) -> Option<(&'static str, [u8; 16])> {
    let (kind, name) = forests::part(part)?;
    let kind = match kind {
        PartKind::Query => "query",
        PartKind::Answer => "answer",
        PartKind::Preparation => "preparation",
        PartKind::Prepared => "prepared",
        PartKind::MaskedQuery => "masked query",
        PartKind::MaskedAnswer => "masked answer",
    };
    Some((kind, name.to_bytes()))
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
    Ok(found.map_err(unread)?.to_pyarray(py))
}

/// What is said of an answer that gives no scores.
fn unread(error: PlanError) -> PyErr {
    match error {
        PlanError::Scheme(SchemeError::NoiseTooLarge) => DecryptionError::new_err(
            "no trees of this plan give such numbers: the answer is altered. Tell nobody who made it",
        ),
        other => plan_to_py(other),
    }
}
