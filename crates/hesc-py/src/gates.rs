//! Gate circuits.

use std::sync::Arc;

use hesc_circuits::gates::{
    BinaryGate, Builder as GateBuilder, Gate, GateError, Netlist, Output, Precision,
    Program as GateProgram, Wire, stochastic,
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::errors::{OutOfRangeError, gate_to_py};
use crate::interrupt::interruptible;
use crate::workers::Compute;

/// Numbers of one list each.
type Numbers<'py> = Vec<Bound<'py, PyArray1<u64>>>;

/// Contiguous copies, so that Python's lock can be released.
fn owned(inputs: &[PyReadonlyArray1<'_, u64>]) -> Vec<Vec<u64>> {
    inputs.iter().map(|numbers| numbers.as_array().to_vec()).collect()
}

/// Gates, groups of inputs and of outputs; `hesc.gates.Circuit` knows signs besides.
#[pyclass(frozen, subclass, module = "hesc")]
pub struct Circuit(pub Arc<Netlist>);

pub fn make(circuit: Result<Netlist, GateError>) -> PyResult<Circuit> {
    circuit.map(|netlist| Circuit(Arc::new(netlist))).map_err(gate_to_py)
}

fn binary_gate(name: &str) -> PyResult<BinaryGate> {
    let found = BinaryGate::ALL.into_iter().find(|gate| gate.name() == name);
    found.ok_or_else(|| gate_to_py(GateError::UnknownGate { gate: name.to_owned() }))
}

/// Refuses variances and, negated, logarithms of probabilities that are none.
pub fn check_precision(numbers: &[f64]) -> PyResult<()> {
    if numbers.iter().all(|number| number.is_finite() && *number >= 0.0) {
        return Ok(());
    }
    Err(OutOfRangeError::new_err(
        "variances are finite and not negative, log2_failure is finite and not positive",
    ))
}

#[pymethods]
impl Circuit {
    /// The same circuit, which subclasses start from.
    #[new]
    fn new(of: &Self) -> Self {
        Self(Arc::clone(&of.0))
    }

    #[staticmethod]
    fn stream_multiplier(gate: &str, stream_length: usize) -> PyResult<Self> {
        make(stochastic::multiplier(binary_gate(gate)?, stream_length))
    }

    #[staticmethod]
    fn scaled_adder(stream_length: usize) -> PyResult<Self> {
        make(stochastic::scaled_adder(stream_length))
    }

    #[staticmethod]
    fn weighted_adder(stream_length: usize) -> PyResult<Self> {
        make(stochastic::weighted_adder(stream_length))
    }

    #[staticmethod]
    fn popcount(stream_length: usize) -> PyResult<Self> {
        make(stochastic::popcount(stream_length))
    }

    #[staticmethod]
    fn stream(width: usize) -> PyResult<Self> {
        make(stochastic::stream(width))
    }

    #[staticmethod]
    fn at_least(stream_length: usize, ones: usize) -> PyResult<Self> {
        make(stochastic::at_least(stream_length, ones))
    }

    #[staticmethod]
    fn relu(stream_length: usize) -> PyResult<Self> {
        make(stochastic::relu(stream_length))
    }

    #[staticmethod]
    fn sign(stream_length: usize) -> PyResult<Self> {
        make(stochastic::sign(stream_length))
    }

    #[staticmethod]
    fn from_bristol(py: Python<'_>, text: &str) -> PyResult<Self> {
        make(py.compute(|| Netlist::from_bristol(text)))
    }

    /// The circuit in Bristol fashion; gates that the format lacks become several.
    fn to_bristol(&self, py: Python<'_>) -> String {
        py.compute(|| self.0.to_bristol())
    }

    fn simplified(&self, py: Python<'_>) -> PyResult<Self> {
        make(py.compute(|| self.0.simplified()))
    }

    /// Wires of each input.
    #[getter]
    fn inputs(&self) -> Vec<usize> {
        self.0.inputs().to_vec()
    }

    /// Wires of each output.
    #[getter]
    fn outputs(&self) -> Vec<usize> {
        self.0.outputs().iter().map(Vec::len).collect()
    }

    /// Gates by name, those that occur.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = self.0.counts();
        let binary = BinaryGate::ALL.into_iter().map(|gate| (gate.name(), counts.of(gate)));
        binary
            .chain([("MUX", counts.mux), ("NOT", counts.not), ("CONSTANT", counts.constant)])
            .filter(|&(_, count)| count > 0)
            .into_py_dict(py)
    }

    /// Gates on the longest path; inverters and constants are free.
    #[getter]
    fn depth(&self) -> usize {
        self.0.depth()
    }

    /// Bootstraps gate by gate: one for each gate of two inputs, two for a multiplexer.
    #[getter]
    fn bootstraps(&self) -> usize {
        self.0.bootstraps()
    }

    /// Products where exclusive ors are sums, as modulo 2: all gates but XOR, XNOR and NOT.
    #[getter]
    fn products(&self) -> usize {
        self.0.products()
    }

    /// Products that follow each other on the path with most of them.
    #[getter]
    fn product_depth(&self) -> usize {
        self.0.product_depth()
    }

    /// Outputs in the clear of rows of words, one for each input; the bits of a word are its wires.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<PyReadonlyArray1<'py, u64>>,
    ) -> PyResult<Numbers<'py>> {
        let inputs = owned(&inputs);
        let found = py.compute(|| {
            let inputs: Vec<&[u64]> = inputs.iter().map(Vec::as_slice).collect();
            self.0.evaluate_numbers(&inputs)
        });
        let found = found.map_err(gate_to_py)?;
        Ok(found.into_iter().map(|numbers| PyArray1::from_vec(py, numbers)).collect())
    }

    /// The circuit as bootstraps and sums of ciphertexts, as few bootstraps as there need be.
    ///
    /// Args:
    ///     precision: the noise; `Precision.of` gives it for a parameter set.
    ///     gate_by_gate: a bootstrap for each gate instead, as gate libraries have it, for
    ///         comparison.
    ///
    /// Raises:
    ///     NoiseBudgetError: if the noise leaves no room for a gate, or for all together.
    ///
    #[pyo3(signature = (precision, *, gate_by_gate=false))]
    fn compile(&self, py: Python<'_>, precision: Noise, gate_by_gate: bool) -> PyResult<Program> {
        let Noise { bit, lookup, log2_failure } = precision;
        check_precision(&[bit, lookup[0], lookup[1], -log2_failure])?;
        let precision = Precision { bit, lookup, log2_failure };
        let compile = || match gate_by_gate {
            true => self.0.gate_by_gate(&precision),
            false => self.0.compile(&precision),
        };
        interruptible(py, compile, gate_to_py).map(Program)
    }
}

/// `hesc.gates.Precision`.
#[derive(FromPyObject)]
struct Noise {
    bit: f64,
    lookup: [f64; 2],
    log2_failure: f64,
}

/// A circuit as bootstraps and sums of ciphertexts; `Circuit.compile` makes one.
#[pyclass(frozen, module = "hesc.gates")]
pub struct Program(pub GateProgram);

#[pymethods]
impl Program {
    /// Wires of each input.
    #[getter]
    fn inputs(&self) -> Vec<usize> {
        self.0.inputs().to_vec()
    }

    /// Bootstraps it takes.
    #[getter]
    fn bootstraps(&self) -> usize {
        self.0.bootstraps()
    }

    /// Bootstraps that can run side by side, layer after layer.
    #[getter]
    fn layers(&self) -> Vec<usize> {
        self.0.layers().iter().map(Vec::len).collect()
    }

    /// `log2` of the probability that any output is wrong, at most.
    #[getter]
    fn log2_failure(&self) -> f64 {
        self.0.log2_failure()
    }

    /// Most ciphertexts that an output adds.
    #[getter]
    fn widest_sum(&self) -> usize {
        let terms = |output: &Output| match output {
            Output::Constant(_) => 0,
            Output::Parity { terms, .. } => terms.len(),
        };
        self.0.outputs().iter().flatten().map(terms).max().unwrap_or(0)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a Program is not pickled or copied; send the Circuit and compile it there",
        ))
    }

    fn __repr__(&self) -> String {
        format!(
            "<hesc.gates.Program: {} bootstraps in {} layers, wrong with probability below 2^{:.0}>",
            self.0.bootstraps(),
            self.0.layers().len(),
            self.0.log2_failure()
        )
    }
}

/// Builds a circuit; wires are their numbers.
#[pyclass(module = "hesc")]
pub struct Builder {
    builder: GateBuilder,
    wires: Vec<Wire>,
}

impl Builder {
    fn wire(&self, number: usize) -> PyResult<Wire> {
        let wire = number as u64;
        self.wires.get(number).copied().ok_or_else(|| gate_to_py(GateError::Dangling { wire }))
    }

    fn push(&mut self, gate: Gate) -> usize {
        self.wires.push(self.builder.gate(gate));
        self.wires.len() - 1
    }
}

#[pymethods]
impl Builder {
    #[new]
    fn new(inputs: Vec<usize>) -> PyResult<Self> {
        // As the circuit's own limit, before the wires are allocated.
        let wires = inputs.iter().fold(0usize, |sum, &width| sum.saturating_add(width));
        const MOST: usize = 1 << 24;
        if wires > MOST {
            let what = "the number of input wires";
            return Err(gate_to_py(GateError::Size { what, value: wires, least: 0, most: MOST }));
        }
        let (builder, groups) = GateBuilder::new(&inputs);
        Ok(Self { builder, wires: groups.into_iter().flatten().collect() })
    }

    fn binary(&mut self, gate: &str, a: usize, b: usize) -> PyResult<usize> {
        let gate = Gate::Binary(binary_gate(gate)?, self.wire(a)?, self.wire(b)?);
        Ok(self.push(gate))
    }

    fn inverter(&mut self, a: usize) -> PyResult<usize> {
        let gate = Gate::Not(self.wire(a)?);
        Ok(self.push(gate))
    }

    fn mux(&mut self, choice: usize, one: usize, zero: usize) -> PyResult<usize> {
        let [choice, one, zero] = [self.wire(choice)?, self.wire(one)?, self.wire(zero)?];
        Ok(self.push(Gate::Mux { choice, one, zero }))
    }

    fn constant(&mut self, bit: bool) -> usize {
        self.push(Gate::Constant(bit))
    }

    fn append(&mut self, circuit: &Circuit, inputs: Vec<usize>) -> PyResult<Vec<Vec<usize>>> {
        let inputs = inputs.into_iter().map(|i| self.wire(i)).collect::<PyResult<Vec<_>>>()?;
        let groups = self.builder.append(&circuit.0, &inputs).map_err(gate_to_py)?;
        Ok(groups
            .into_iter()
            .map(|group| {
                let first = self.wires.len();
                self.wires.extend(group);
                (first..self.wires.len()).collect()
            })
            .collect())
    }

    fn finish(&self, outputs: Vec<Vec<usize>>) -> PyResult<Circuit> {
        let group = |group: Vec<usize>| group.into_iter().map(|i| self.wire(i)).collect();
        let outputs = outputs.into_iter().map(group).collect::<PyResult<_>>()?;
        make(self.builder.clone().finish(outputs))
    }
}
