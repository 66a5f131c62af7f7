//! A circuit in a normal form: conjunctions, exclusive ors and multiplexers over edges that may be
//! inverted. Constants are folded, equal gates are one, what no output needs is gone.

use std::collections::HashMap;
use std::ops::Not;

use super::{BinaryGate, Builder, Gate, GateError, Netlist, Wire};

/// A node or its inverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Literal(u32);

impl Literal {
    /// Node 0 is the constant zero.
    pub(super) const ZERO: Self = Self(0);
    pub(super) const ONE: Self = Self(1);

    pub(super) fn of(node: usize) -> Self {
        Self((node as u32) << 1)
    }

    pub(super) fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(super) fn inverted(self) -> bool {
        self.0 & 1 == 1
    }

    /// Inverted if the bit is set.
    pub(super) fn flipped(self, bit: bool) -> Self {
        Self(self.0 ^ u32::from(bit))
    }
}

impl Not for Literal {
    type Output = Self;

    fn not(self) -> Self {
        self.flipped(true)
    }
}

/// What a node computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Zero,
    Input,
    And(Literal, Literal),
    /// Of nodes that are not inverted.
    Xor(Literal, Literal),
    /// `zero` is not inverted.
    Mux {
        choice: Literal,
        one: Literal,
        zero: Literal,
    },
}

impl Node {
    pub(super) fn operands(&self) -> impl Iterator<Item = Literal> + use<> {
        let literals = match *self {
            Self::Zero | Self::Input => [None; 3],
            Self::And(a, b) | Self::Xor(a, b) => [Some(a), Some(b), None],
            Self::Mux { choice, one, zero } => [Some(choice), Some(one), Some(zero)],
        };
        literals.into_iter().flatten()
    }
}

/// A circuit as such nodes, each after those it reads: the constant, the inputs, the others.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) outputs: Vec<Vec<Literal>>,
    inputs: Vec<usize>,
    known: HashMap<Node, u32>,
}

impl Graph {
    pub(super) fn new(circuit: &Netlist) -> Self {
        let wires = circuit.input_wires();
        let mut graph = Self::of_inputs(circuit.inputs().to_vec());
        let mut literals: Vec<Literal> = (1..=wires).map(Literal::of).collect();
        for gate in circuit.gates() {
            let at = |wire: Wire| literals[wire.index()];
            let literal = match *gate {
                Gate::Constant(bit) => Literal::ZERO.flipped(bit),
                Gate::Not(a) => !at(a),
                Gate::Binary(gate, a, b) => graph.binary(gate, at(a), at(b)),
                Gate::Mux { choice, one, zero } => graph.mux(at(choice), at(one), at(zero)),
            };
            literals.push(literal);
        }
        let group = |wires: &Vec<Wire>| wires.iter().map(|wire| literals[wire.index()]).collect();
        graph.outputs = circuit.outputs().iter().map(group).collect();
        graph
    }

    /// The constant and the inputs.
    fn of_inputs(inputs: Vec<usize>) -> Self {
        let mut nodes = vec![Node::Zero];
        nodes.resize(1 + inputs.iter().sum::<usize>(), Node::Input);
        Self { nodes, outputs: Vec::new(), inputs, known: HashMap::new() }
    }

    /// The same inputs, and nothing of them yet.
    pub(super) fn empty(&self) -> Self {
        Self::of_inputs(self.inputs.clone())
    }

    /// Input nodes come right after the constant.
    pub(super) fn input_nodes(&self) -> std::ops::Range<usize> {
        1..1 + self.inputs.iter().sum::<usize>()
    }

    fn node(&mut self, node: Node) -> Literal {
        let nodes = &mut self.nodes;
        let at = *self.known.entry(node).or_insert_with(|| {
            nodes.push(node);
            nodes.len() as u32 - 1
        });
        Literal::of(at as usize)
    }

    fn binary(&mut self, gate: BinaryGate, a: Literal, b: Literal) -> Literal {
        match gate {
            BinaryGate::And => self.and(a, b),
            BinaryGate::Or => !self.and(!a, !b),
            BinaryGate::Xor => self.xor(a, b),
            BinaryGate::Nand => !self.and(a, b),
            BinaryGate::Nor => self.and(!a, !b),
            BinaryGate::Xnor => !self.xor(a, b),
        }
    }

    pub(super) fn and(&mut self, a: Literal, b: Literal) -> Literal {
        let (a, b) = (a.min(b), a.max(b));
        match a {
            Literal::ZERO => Literal::ZERO,
            Literal::ONE => b,
            _ if a == b => a,
            _ if a == !b => Literal::ZERO,
            _ => self.node(Node::And(a, b)),
        }
    }

    pub(super) fn xor(&mut self, a: Literal, b: Literal) -> Literal {
        let inverted = a.inverted() != b.inverted();
        let (a, b) = (a.flipped(a.inverted()), b.flipped(b.inverted()));
        let (a, b) = (a.min(b), a.max(b));
        let literal = match a {
            Literal::ZERO => b,
            _ if a == b => Literal::ZERO,
            _ => self.node(Node::Xor(a, b)),
        };
        literal.flipped(inverted)
    }

    pub(super) fn mux(&mut self, choice: Literal, one: Literal, zero: Literal) -> Literal {
        if choice.inverted() {
            return self.mux(!choice, zero, one);
        }
        match (choice, one, zero) {
            (Literal::ZERO, _, zero) => zero,
            (_, one, zero) if one == zero => one,
            (choice, one, zero) if one == !zero => !self.xor(choice, one),
            (choice, one, Literal::ZERO) => self.and(choice, one),
            (choice, one, Literal::ONE) => !self.and(choice, !one),
            (choice, Literal::ZERO, zero) => self.and(!choice, zero),
            (choice, Literal::ONE, zero) => !self.and(!choice, !zero),
            (choice, one, zero) => {
                let inverted = zero.inverted();
                let (one, zero) = (one.flipped(inverted), zero.flipped(inverted));
                self.node(Node::Mux { choice, one, zero }).flipped(inverted)
            }
        }
    }

    /// Which nodes some output needs.
    pub(super) fn live(&self) -> Vec<bool> {
        let mut live = vec![false; self.nodes.len()];
        for literal in self.outputs.iter().flatten() {
            live[literal.node()] = true;
        }
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if live[at] {
                node.operands().for_each(|operand| live[operand.node()] = true);
            }
        }
        live
    }

    /// As gates again.
    fn to_netlist(&self) -> Result<Netlist, GateError> {
        let (mut builder, inputs) = Builder::new(&self.inputs);
        let live = self.live();
        // By literal: a node and its inverse.
        let mut wires: Vec<[Option<Wire>; 2]> = vec![[None; 2]; self.nodes.len()];
        for (node, wire) in self.input_nodes().zip(inputs.into_iter().flatten()) {
            wires[node][0] = Some(wire);
        }
        let first = self.input_nodes().end;
        for (at, node) in self.nodes.iter().enumerate().skip(first).filter(|(at, _)| live[*at]) {
            let mut at_literal = |literal| wire_of(&mut builder, &mut wires, literal);
            let gate = match *node {
                Node::Zero | Node::Input => continue,
                Node::And(a, b) => Gate::Binary(BinaryGate::And, at_literal(a), at_literal(b)),
                Node::Xor(a, b) => Gate::Binary(BinaryGate::Xor, at_literal(a), at_literal(b)),
                Node::Mux { choice, one, zero } => Gate::Mux {
                    choice: at_literal(choice),
                    one: at_literal(one),
                    zero: at_literal(zero),
                },
            };
            wires[at][0] = Some(builder.gate(gate));
        }
        let mut at_literal = |&literal: &Literal| wire_of(&mut builder, &mut wires, literal);
        let outputs =
            self.outputs.iter().map(|group| group.iter().map(&mut at_literal).collect()).collect();
        builder.finish(outputs)
    }
}

/// The wire of a literal; constants and inverters are made where they are needed.
fn wire_of(builder: &mut Builder, wires: &mut [[Option<Wire>; 2]], literal: Literal) -> Wire {
    let [plain, inverse] = wires[literal.node()];
    match (literal.inverted(), plain, inverse) {
        (false, Some(wire), _) | (true, _, Some(wire)) => wire,
        (true, Some(wire), None) => {
            let wire = builder.not(wire);
            wires[literal.node()][1] = Some(wire);
            wire
        }
        // Only the constant has no wire yet.
        (inverted, ..) => {
            let wire = builder.constant(inverted);
            wires[literal.node()][usize::from(inverted)] = Some(wire);
            wire
        }
    }
}

impl Netlist {
    /// The same outputs with fewer gates: constants folded, equal gates shared, what no output needs
    /// left out. AND, XOR, MUX and NOT remain.
    ///
    /// # Errors
    /// None that a circuit could cause.
    pub fn simplified(&self) -> Result<Self, GateError> {
        Graph::new(self).to_netlist()
    }
}
