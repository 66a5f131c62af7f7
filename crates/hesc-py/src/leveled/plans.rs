//! Circuits on slots.

use hesc_circuits::gates::slots::Plan;
use hesc_circuits::gates::{GateError, Monitor};
use hesc_schemes::rlwe::{Encryption, Rlwe};
use numpy::PyReadonlyArray2;
use numpy::ndarray::ArrayView1;
use pyo3::prelude::*;

use super::{LeveledCiphertext, LeveledParams, RelinKey};
use crate::errors::gate_to_py;
use crate::gates::Circuit;
use crate::interrupt::watched;
use crate::workers::Compute;

/// A circuit for the slots of one parameter set.
#[pyclass(frozen, module = "hesc")]
pub struct SlotPlan {
    scheme: Rlwe,
    plan: Plan,
    seconds: f64,
}

#[pymethods]
impl SlotPlan {
    /// For inputs like these, wire after wire; for fresh encryptions without any, under the public key unless it is
    /// said that they are under the secret one. The last wires, so many, are public.
    #[new]
    #[pyo3(signature = (circuit, params, spare, inputs=None, *, public=0, under_secret_key=false))]
    fn new(
        py: Python<'_>,
        circuit: &Circuit,
        params: &LeveledParams,
        spare: usize,
        inputs: Option<Vec<PyRef<'_, LeveledCiphertext>>>,
        public: usize,
        under_secret_key: bool,
    ) -> PyResult<Self> {
        let scheme = params.0.clone();
        let outlines = match inputs {
            Some(all) => scheme.outlines(&all.iter().map(|a| &a.1).collect::<Vec<_>>()),
            None => {
                let under =
                    if under_secret_key { Encryption::SecretKey } else { Encryption::PublicKey };
                scheme.fresh_outlines(under, circuit.0.input_wires().saturating_sub(public))
            }
        };
        let made = py.compute(|| -> Result<_, GateError> {
            let plan = Plan::beside_public(&circuit.0, &scheme, spare, &outlines, public)?;
            let seconds = plan.seconds(&scheme.measured_speed());
            Ok((plan, seconds))
        });
        let (plan, seconds) = made.map_err(gate_to_py)?;
        Ok(Self { scheme, plan, seconds })
    }

    /// Sums of products, each relinearised once.
    #[getter]
    fn products(&self) -> usize {
        self.plan.products()
    }
    /// Products of ciphertexts.
    #[getter]
    fn tensors(&self) -> usize {
        self.plan.tensors()
    }
    #[getter]
    fn depth(&self) -> usize {
        self.plan.depth()
    }
    #[getter]
    fn levels(&self) -> Vec<usize> {
        self.plan.levels().to_vec()
    }
    /// Seconds on one thread, by operations counted and their measured speed.
    #[getter]
    fn seconds(&self) -> f64 {
        self.seconds
    }
    #[getter]
    fn peak_bytes(&self) -> usize {
        self.plan.peak_bytes()
    }

    /// Refuses inputs that `evaluate` would refuse.
    fn check(
        &self,
        py: Python<'_>,
        key: &RelinKey,
        inputs: Vec<PyRef<'_, LeveledCiphertext>>,
    ) -> PyResult<()> {
        let inputs: Vec<_> = inputs.iter().map(|a| &a.1).collect();
        py.compute(|| self.plan.check(&self.scheme, &key.1, &inputs)).map_err(gate_to_py)
    }

    /// Outputs wire after wire; public wires have a row of a truth value for each slot.
    #[pyo3(signature = (key, inputs, progress, public=None))]
    fn evaluate(
        &self,
        py: Python<'_>,
        key: &RelinKey,
        inputs: Vec<PyRef<'_, LeveledCiphertext>>,
        progress: Option<Py<PyAny>>,
        public: Option<PyReadonlyArray2<'_, u8>>,
    ) -> PyResult<Vec<LeveledCiphertext>> {
        let rows: Vec<Vec<bool>> = public.map_or_else(Vec::new, |rows| {
            let row = |row: ArrayView1<'_, u8>| row.iter().map(|&bit| bit != 0).collect();
            rows.as_array().outer_iter().map(row).collect()
        });
        let inputs: Vec<_> = inputs.iter().map(|a| &a.1).collect();
        let monitor = Monitor::default();
        let outputs = watched(py, progress.as_ref(), &monitor, || {
            self.plan.evaluate(&self.scheme, &key.1, &inputs, &rows, &monitor)
        })?;
        let bits = outputs.into_iter().flatten();
        Ok(bits.map(|bit| LeveledCiphertext(self.scheme.clone(), bit)).collect())
    }
}
