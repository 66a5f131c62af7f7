//! Circuits on slots.

use hesc_circuits::gates::slots::Plan;
use hesc_circuits::gates::{GateError, Monitor};
use hesc_schemes::PlannedState;
use hesc_schemes::rlwe::{Encryption, Rlwe};
use numpy::PyReadonlyArray2;
use numpy::ndarray::ArrayView1;
use pyo3::prelude::*;

use super::{Ciphertext, RelinKey, VectorParams, detached};
use crate::errors::gate_to_py;
use crate::gates::Circuit;
use crate::interrupt::watched;
use crate::workers::Compute;

/// A circuit for the slots of one parameter set.
#[pyclass(frozen, subclass, module = "hesc")]
pub struct SlotPlan {
    scheme: Rlwe,
    plan: Plan,
    seconds: f64,
    from: usize,
}

#[pymethods]
impl SlotPlan {
    /// For inputs like these, wire after wire; for fresh encryptions without any, under the public key unless it is
    /// said that they are under the secret one, or for what is unpacked of so many. The last wires, so many, are public.
    #[new]
    #[pyo3(signature = (circuit, params, spare, inputs=None, *, public=0, under_secret_key=false, packed=0))]
    #[allow(clippy::too_many_arguments, reason = "what inputs may be")]
    fn new(
        py: Python<'_>,
        circuit: &Circuit,
        params: &VectorParams,
        spare: usize,
        inputs: Option<Vec<PyRef<'_, Ciphertext>>>,
        public: usize,
        under_secret_key: bool,
        packed: usize,
    ) -> PyResult<Self> {
        let scheme = params.0.clone();
        let wires = circuit.0.input_wires().saturating_sub(public);
        let states = match inputs {
            None if packed > 0 => detached(py, || scheme.planned_unpacked(wires, None))?,
            Some(all) => scheme.planned_all(&all.iter().map(|a| &a.1).collect::<Vec<_>>()),
            None => {
                let under =
                    if under_secret_key { Encryption::SecretKey } else { Encryption::PublicKey };
                scheme.planned_encryptions(under, wires)
            }
        };
        let first = states.first().map_or(0, PlannedState::level);
        let made = py.compute(|| -> Result<_, GateError> {
            let planned = |states: &[PlannedState]| {
                Plan::beside_public(&circuit.0, &scheme, spare, states, public)
            };
            let (mut plan, mut from) = (planned(&states)?, first);
            if packed > 0 && plan.start() < first {
                // Unpacked to where it begins: one division instead of two, of fewer primes.
                let there = scheme.planned_unpacked(wires, Some(plan.start()))?;
                if let Ok(lower) = planned(&there) {
                    from = plan.start();
                    plan = lower;
                }
            }
            let mut work = plan.work();
            if packed > 0 {
                let degree = scheme.field_slots()?.ring().degree();
                for outputs in (0..packed).map(|at| (wires - (at * degree).min(wires)).min(degree))
                {
                    work += scheme.work_of_unpacking(outputs, degree, scheme.levels(), from);
                }
            }
            Ok((plan, scheme.measured_speed().seconds(work), from))
        });
        let (plan, seconds, from) = made.map_err(gate_to_py)?;
        Ok(Self { scheme, plan, seconds, from })
    }

    /// Relinearisations of a run: sums of products, each relinearised once.
    #[getter]
    fn products(&self) -> usize {
        self.plan.products()
    }
    /// Products of ciphertexts.
    #[getter]
    fn tensors(&self) -> usize {
        self.plan.tensors()
    }
    /// Products in sequence.
    #[getter]
    fn depth(&self) -> usize {
        self.plan.depth()
    }
    /// The level before each product, and that of the outputs.
    #[getter]
    fn levels(&self) -> Vec<usize> {
        self.plan.levels().to_vec()
    }
    /// Seconds of a run on one thread, by operations counted and their measured speed.
    #[getter]
    fn seconds(&self) -> f64 {
        self.seconds
    }
    /// The level that inputs have.
    #[getter]
    fn input_level(&self) -> usize {
        self.from
    }
    /// Bits of room that all outputs have before an operation is refused.
    #[getter]
    fn room(&self) -> f64 {
        self.plan.room()
    }
    /// Memory of a run, beside its inputs.
    #[getter]
    fn peak_bytes(&self) -> usize {
        self.plan.peak_bytes()
    }

    /// Refuses inputs that `evaluate` would refuse.
    fn check(
        &self,
        py: Python<'_>,
        key: &RelinKey,
        inputs: Vec<PyRef<'_, Ciphertext>>,
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
        inputs: Vec<PyRef<'_, Ciphertext>>,
        progress: Option<Py<PyAny>>,
        public: Option<PyReadonlyArray2<'_, u8>>,
    ) -> PyResult<Vec<Ciphertext>> {
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
        Ok(bits.map(|bit| Ciphertext(self.scheme.clone(), bit)).collect())
    }
}
