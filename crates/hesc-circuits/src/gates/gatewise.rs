//! A bootstrap after each gate, as gate libraries and `hsiao2022sche` §2 have it: what the compiler is
//! measured against.

use super::compiler::{check_outputs, log2_failure};
use super::program::{Lookup, Output, Program, Value};
use super::weights::{Spread, Truth, Weights};
use super::{Gate, GateError, Netlist, Precision};

/// What a wire carries: a bit of the program, inverted or not, or one known beforehand.
#[derive(Debug, Clone, Copy)]
enum Signal {
    Known(bool),
    Bit { value: Value, inverted: bool },
}

struct Gatewise {
    weights: Weights,
    next: u32,
    lookups: Vec<Lookup>,
}

impl Netlist {
    /// The circuit with one bootstrap for each gate of two inputs and two for each multiplexer, even where
    /// inputs are known; inverters are free.
    ///
    /// # Errors
    /// [`GateError::NoRoom`] if a gate does not fit the noise, or all together fail too often.
    pub fn gate_by_gate(&self, precision: &Precision) -> Result<Program, GateError> {
        let spread = Spread::of(precision);
        let inputs = self.input_wires();
        let mut state =
            Gatewise { weights: Weights::new(spread), next: inputs as u32, lookups: Vec::new() };
        let mut wires: Vec<Signal> =
            (0..inputs as u32).map(|i| Signal::Bit { value: Value(i), inverted: false }).collect();
        for gate in self.gates() {
            let signal = match *gate {
                Gate::Constant(bit) => Signal::Known(bit),
                Gate::Not(a) => match wires[a.index()] {
                    Signal::Known(bit) => Signal::Known(!bit),
                    Signal::Bit { value, inverted } => Signal::Bit { value, inverted: !inverted },
                },
                Gate::Binary(gate, a, b) => {
                    let apply =
                        |bits: &[bool]| gate.apply(u64::from(bits[0]), u64::from(bits[1])) & 1 == 1;
                    state.push(&[wires[a.index()], wires[b.index()]], &apply)?
                }
                Gate::Mux { choice, one, zero } => {
                    let [choice, one, zero] = [choice, one, zero].map(|wire| wires[wire.index()]);
                    let chosen = state.push(&[choice, one], &|bits| bits[0] && bits[1])?;
                    // A bit that is chosen is never chosen against.
                    state.push(&[chosen, choice, zero], &|bits| bits[0] || (!bits[1] && bits[2]))?
                }
            };
            wires.push(signal);
        }
        let output = |wire: &super::Wire| match wires[wire.index()] {
            Signal::Known(bit) => Output::Constant(bit),
            Signal::Bit { value, inverted } => Output::Parity { terms: vec![value], inverted },
        };
        let group = |wires: &Vec<super::Wire>| wires.iter().map(output).collect();
        let mut program = Program {
            inputs: self.inputs().to_vec(),
            lookups: state.lookups,
            outputs: self.outputs().iter().map(group).collect(),
            precision: *precision,
            log2_failure: f64::NEG_INFINITY,
        };
        check_outputs(&spread, &program)?;
        program.log2_failure = log2_failure(&spread, precision, &program);
        if program.log2_failure > precision.log2_failure {
            let what =
                format!("all gates together fail with probability 2^{:.0}", program.log2_failure);
            return Err(GateError::NoRoom { what });
        }
        Ok(program)
    }
}

impl Gatewise {
    /// A bootstrap for a function of some wires.
    fn push(
        &mut self,
        wires: &[Signal],
        function: &dyn Fn(&[bool]) -> bool,
    ) -> Result<Signal, GateError> {
        // Each bit once, though several wires may carry it.
        let mut leaves: Vec<Value> = Vec::new();
        for wire in wires {
            if let Signal::Bit { value, .. } = wire
                && !leaves.contains(value)
            {
                leaves.push(*value);
            }
        }
        let mut truth: Truth = 0;
        for assignment in 0..1usize << leaves.len() {
            let bits: Vec<bool> = wires
                .iter()
                .map(|wire| match wire {
                    Signal::Known(bit) => *bit,
                    Signal::Bit { value, inverted } => {
                        let at = leaves.iter().position(|leaf| leaf == value).unwrap_or(0);
                        (assignment >> at & 1 == 1) != *inverted
                    }
                })
                .collect();
            truth |= Truth::from(function(&bits)) << assignment;
        }
        let encoding = self.weights.best(leaves.len(), &[truth]).ok_or_else(|| {
            GateError::NoRoom { what: "a gate does not fit one bootstrap".to_owned() }
        })?;
        let weighted = leaves.into_iter().zip(encoding.weights.iter().copied());
        let terms = weighted.filter(|&(_, weight)| weight != 0).collect();
        self.lookups.push(Lookup { terms, tables: encoding.tables.clone() });
        self.next += 1;
        Ok(Signal::Bit { value: Value(self.next - 1), inverted: false })
    }
}
