use super::{BinaryGate, Gate, GateError, Netlist, Wire};

/// Builds a circuit gate by gate.
#[derive(Debug, Clone)]
pub struct Builder {
    inputs: Vec<usize>,
    first: usize,
    gates: Vec<Gate>,
}

impl Builder {
    /// A circuit with inputs of these widths, and their wires, lowest bits first.
    pub fn new(inputs: &[usize]) -> (Self, Vec<Vec<Wire>>) {
        let mut first = 0;
        let wires = inputs
            .iter()
            .map(|&width| {
                first += width;
                (first - width..first).map(Wire::new).collect()
            })
            .collect();
        (Self { inputs: inputs.to_vec(), first, gates: Vec::new() }, wires)
    }

    /// A builder that goes on where a circuit ends.
    pub fn extend(circuit: &Netlist) -> Self {
        let (inputs, first) = (circuit.inputs().to_vec(), circuit.input_wires());
        Self { inputs, first, gates: circuit.gates().to_vec() }
    }

    /// Adds a gate.
    pub fn gate(&mut self, gate: Gate) -> Wire {
        self.gates.push(gate);
        Wire::new(self.first + self.gates.len() - 1)
    }

    /// Adds a gate of two inputs.
    pub fn binary(&mut self, gate: BinaryGate, a: Wire, b: Wire) -> Wire {
        self.gate(Gate::Binary(gate, a, b))
    }

    /// `a AND b`.
    pub fn and(&mut self, a: Wire, b: Wire) -> Wire {
        self.binary(BinaryGate::And, a, b)
    }

    /// `a OR b`.
    pub fn or(&mut self, a: Wire, b: Wire) -> Wire {
        self.binary(BinaryGate::Or, a, b)
    }

    /// `a XOR b`.
    pub fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        self.binary(BinaryGate::Xor, a, b)
    }

    /// `NOT a`.
    pub fn not(&mut self, a: Wire) -> Wire {
        self.gate(Gate::Not(a))
    }

    /// `one` where `choice` is set, `zero` elsewhere.
    pub fn mux(&mut self, choice: Wire, one: Wire, zero: Wire) -> Wire {
        self.gate(Gate::Mux { choice, one, zero })
    }

    /// A constant bit.
    pub fn constant(&mut self, bit: bool) -> Wire {
        self.gate(Gate::Constant(bit))
    }

    /// Another circuit's gates on these wires; its output wires.
    ///
    /// # Errors
    /// [`GateError::Inputs`] if they are not as many as it has inputs.
    pub fn append(
        &mut self,
        circuit: &Netlist,
        inputs: &[Wire],
    ) -> Result<Vec<Vec<Wire>>, GateError> {
        let (expected, found) = (circuit.input_wires(), inputs.len());
        if expected != found {
            return Err(GateError::Inputs { what: "input wires", expected, found });
        }
        let mut places = inputs.to_vec();
        for gate in circuit.gates() {
            let gate = gate.map(|wire| places[wire.index()]);
            places.push(self.gate(gate));
        }
        let group = |wires: &Vec<Wire>| wires.iter().map(|wire| places[wire.index()]).collect();
        Ok(circuit.outputs().iter().map(group).collect())
    }

    /// The circuit with these groups of outputs.
    ///
    /// # Errors
    /// [`GateError::Dangling`] or [`GateError::Order`] for wires of another builder.
    pub fn finish(self, outputs: Vec<Vec<Wire>>) -> Result<Netlist, GateError> {
        Netlist::new(self.inputs, self.gates, outputs)
    }
}
