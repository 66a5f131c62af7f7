use std::collections::HashSet;

use super::GateError;

/// Wires of a circuit, at most: readers allocate no more.
pub(super) const MOST_WIRES: usize = 1 << 28;

/// A wire: an input, or the output of a gate. Inputs come first, then gates in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wire(pub(super) u32);

impl Wire {
    /// Its number.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) fn new(index: usize) -> Self {
        Self(index as u32)
    }
}

/// Gates of two inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinaryGate {
    /// Both.
    And,
    /// At least one.
    Or,
    /// One of them.
    Xor,
    /// Not both.
    Nand,
    /// None.
    Nor,
    /// Both or none.
    Xnor,
}

impl BinaryGate {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::And, Self::Or, Self::Xor, Self::Nand, Self::Nor, Self::Xnor];

    /// The gate's name: `AND`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::And => "AND",
            Self::Or => "OR",
            Self::Xor => "XOR",
            Self::Nand => "NAND",
            Self::Nor => "NOR",
            Self::Xnor => "XNOR",
        }
    }

    /// Its value on 64 lanes.
    #[inline(always)]
    pub const fn apply(self, a: u64, b: u64) -> u64 {
        match self {
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
            Self::Nand => !(a & b),
            Self::Nor => !(a | b),
            Self::Xnor => !(a ^ b),
        }
    }
}

/// A gate with the wires it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gate {
    /// Always the same bit.
    Constant(bool),
    /// The other bit.
    Not(Wire),
    /// A gate of two inputs.
    Binary(BinaryGate, Wire, Wire),
    /// `one` where `choice` is set, `zero` elsewhere.
    Mux {
        /// Which.
        choice: Wire,
        /// For a one.
        one: Wire,
        /// For a zero.
        zero: Wire,
    },
}

impl Gate {
    /// The wires it reads.
    pub fn operands(&self) -> impl Iterator<Item = Wire> + use<> {
        let wires = match *self {
            Self::Constant(_) => [None; 3],
            Self::Not(a) => [Some(a), None, None],
            Self::Binary(_, a, b) => [Some(a), Some(b), None],
            Self::Mux { choice, one, zero } => [Some(choice), Some(one), Some(zero)],
        };
        wires.into_iter().flatten()
    }

    /// The same gate on other wires.
    pub(super) fn map(&self, wire: impl Fn(Wire) -> Wire) -> Self {
        match *self {
            Self::Constant(bit) => Self::Constant(bit),
            Self::Not(a) => Self::Not(wire(a)),
            Self::Binary(gate, a, b) => Self::Binary(gate, wire(a), wire(b)),
            Self::Mux { choice, one, zero } => {
                Self::Mux { choice: wire(choice), one: wire(one), zero: wire(zero) }
            }
        }
    }
}

/// How many gates of each kind there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Gates of two inputs, in the order of [`BinaryGate::ALL`].
    by_gate: [usize; 6],
    /// Multiplexers.
    pub mux: usize,
    /// Inverters.
    pub not: usize,
    /// Constants.
    pub constant: usize,
}

impl Counts {
    /// Gates of one kind.
    pub fn of(&self, gate: BinaryGate) -> usize {
        self.by_gate[gate as usize]
    }

    /// All gates of two inputs: what `hsiao2022sche` counts.
    pub fn binary(&self) -> usize {
        self.by_gate.iter().sum()
    }
}

/// A circuit: gates in an order in which each can be computed. Immutable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Netlist {
    pub(super) inputs: Vec<usize>,
    pub(super) gates: Vec<Gate>,
    pub(super) outputs: Vec<Vec<Wire>>,
}

/// What drives a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Definition {
    /// A gate.
    Gate(Gate),
    /// Another wire.
    Copy(Wire),
}

impl Definition {
    fn operands(&self) -> impl Iterator<Item = Wire> + use<> {
        let (gate, copy) = match *self {
            Self::Gate(gate) => (Some(gate), None),
            Self::Copy(wire) => (None, Some(wire)),
        };
        gate.into_iter().flat_map(|gate| gate.operands()).chain(copy)
    }
}

/// Gates being brought into an order.
struct Sorting {
    drivers: Vec<Option<Definition>>,
    /// The wires' numbers in that order, once they have one.
    numbers: Vec<Option<Wire>>,
    gates: Vec<Gate>,
    first: usize,
}

impl Sorting {
    /// The number of a wire, after those of all it depends on: depth first, with a stack of its own,
    /// for circuits are deeper than the machine's.
    fn number(&mut self, root: Wire) -> Result<Wire, GateError> {
        let dangling = |wire: Wire| GateError::Dangling { wire: u64::from(wire.0) };
        let known = |numbers: &[Option<Wire>], wire: Wire| {
            numbers.get(wire.index()).copied().ok_or_else(|| dangling(wire))
        };
        let mut open = HashSet::new();
        let mut stack = vec![root];
        while let Some(&wire) = stack.last() {
            if known(&self.numbers, wire)?.is_some() {
                stack.pop();
                continue;
            }
            let definition = self.drivers[wire.index()].ok_or_else(|| dangling(wire))?;
            open.insert(wire);
            let mut missing = None;
            for operand in definition.operands() {
                if known(&self.numbers, operand)?.is_none() {
                    missing = Some(operand);
                }
            }
            if let Some(operand) = missing {
                if open.contains(&operand) {
                    return Err(GateError::Cycle { wire: u64::from(operand.0) });
                }
                stack.push(operand);
                continue;
            }
            // All operands have numbers.
            let place = |wire: Wire| self.numbers[wire.index()].unwrap_or(wire);
            self.numbers[wire.index()] = Some(match definition {
                Definition::Copy(source) => place(source),
                Definition::Gate(gate) => {
                    let gate = gate.map(place);
                    self.gates.push(gate);
                    Wire::new(self.first + self.gates.len() - 1)
                }
            });
        }
        known(&self.numbers, root)?.ok_or_else(|| dangling(root))
    }
}

impl Netlist {
    /// A circuit of inputs with these widths, gates that read only wires before their own, and
    /// groups of output wires.
    ///
    /// # Errors
    /// [`GateError::Dangling`] for a wire that does not exist, [`GateError::Order`] for one that does
    /// later, [`GateError::Size`] for more than 2^28 wires.
    pub fn new(
        inputs: Vec<usize>,
        gates: Vec<Gate>,
        outputs: Vec<Vec<Wire>>,
    ) -> Result<Self, GateError> {
        let first = inputs.iter().try_fold(0usize, |sum, &width| sum.checked_add(width));
        let wires = first.and_then(|first| first.checked_add(gates.len())).unwrap_or(usize::MAX);
        if wires > MOST_WIRES {
            let what = "the number of wires";
            return Err(GateError::Size { what, value: wires, least: 0, most: MOST_WIRES });
        }
        let first = wires - gates.len();
        for (at, gate) in gates.iter().enumerate() {
            if let Some(wire) = gate.operands().find(|wire| wire.index() >= first + at) {
                let exists = wire.index() < wires;
                let wire = u64::from(wire.0);
                let (order, dangling) = (GateError::Order { wire }, GateError::Dangling { wire });
                return Err(if exists { order } else { dangling });
            }
        }
        if let Some(wire) = outputs.iter().flatten().find(|wire| wire.index() >= wires) {
            return Err(GateError::Dangling { wire: u64::from(wire.0) });
        }
        Ok(Self { inputs, gates, outputs })
    }

    /// A circuit from definitions in any order: wires and what drives them. Inputs keep their
    /// numbers; other wires get new ones.
    ///
    /// # Errors
    /// [`GateError::Cycle`], [`GateError::Dangling`], [`GateError::DrivenTwice`], and as
    /// [`Self::new`].
    pub fn from_definitions(
        inputs: Vec<usize>,
        definitions: &[(Wire, Definition)],
        outputs: &[Vec<Wire>],
    ) -> Result<Self, GateError> {
        let first = inputs.iter().fold(0usize, |sum, &width| sum.saturating_add(width));
        let most = definitions.iter().map(|(wire, _)| wire.index() + 1).max().unwrap_or(0);
        let wires = first.max(most);
        if wires > MOST_WIRES {
            let what = "the number of wires";
            return Err(GateError::Size { what, value: wires, least: 0, most: MOST_WIRES });
        }
        let mut drivers: Vec<Option<Definition>> = vec![None; wires];
        for &(wire, definition) in definitions {
            let driver = &mut drivers[wire.index()];
            if wire.index() < first || driver.replace(definition).is_some() {
                return Err(GateError::DrivenTwice { wire: u64::from(wire.0) });
            }
        }
        let mut sorting = Sorting {
            drivers,
            numbers: (0..wires).map(|wire| (wire < first).then(|| Wire::new(wire))).collect(),
            gates: Vec::with_capacity(definitions.len()),
            first,
        };
        for (wire, _) in definitions {
            sorting.number(*wire)?;
        }
        let outputs = outputs
            .iter()
            .map(|group| group.iter().map(|&wire| sorting.number(wire)).collect())
            .collect::<Result<_, _>>()?;
        Self::new(inputs, sorting.gates, outputs)
    }

    /// Wires of each input.
    pub fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// All input wires.
    pub fn input_wires(&self) -> usize {
        self.inputs.iter().sum()
    }

    /// The gates; the wire of the `i`-th is the number of input wires plus `i`.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// Groups of output wires.
    pub fn outputs(&self) -> &[Vec<Wire>] {
        &self.outputs
    }

    /// All wires.
    pub fn wires(&self) -> usize {
        self.input_wires() + self.gates.len()
    }

    /// Gates by kind.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for gate in &self.gates {
            match gate {
                Gate::Constant(_) => counts.constant += 1,
                Gate::Not(_) => counts.not += 1,
                Gate::Binary(gate, ..) => counts.by_gate[*gate as usize] += 1,
                Gate::Mux { .. } => counts.mux += 1,
            }
        }
        counts
    }

    /// The sum of all gates' costs.
    pub fn cost(&self, cost: impl Fn(&Gate) -> f64) -> f64 {
        self.gates.iter().map(cost).sum()
    }

    /// The costliest path from an input to an output.
    pub fn critical_path(&self, cost: impl Fn(&Gate) -> f64) -> f64 {
        let first = self.input_wires();
        let mut reached = vec![0.0f64; self.wires()];
        for (at, gate) in self.gates.iter().enumerate() {
            let before = gate.operands().map(|wire| reached[wire.index()]).fold(0.0, f64::max);
            reached[first + at] = before + cost(gate);
        }
        self.outputs.iter().flatten().map(|wire| reached[wire.index()]).fold(0.0, f64::max)
    }

    /// Gates on the longest path; inverters and constants are free, as on encrypted bits.
    pub fn depth(&self) -> usize {
        let cost = |gate: &Gate| match gate {
            Gate::Constant(_) | Gate::Not(_) => 0.0,
            Gate::Binary(..) | Gate::Mux { .. } => 1.0,
        };
        self.critical_path(cost) as usize
    }

    /// Whether a gate takes a product where exclusive ors are sums: all but those, inverters and constants.
    fn is_product(gate: &Gate) -> bool {
        !matches!(
            gate,
            Gate::Constant(_) | Gate::Not(_) | Gate::Binary(BinaryGate::Xor | BinaryGate::Xnor, ..)
        )
    }

    /// Products that the circuit takes where exclusive ors are sums, as modulo 2.
    pub fn products(&self) -> usize {
        self.gates.iter().filter(|gate| Self::is_product(gate)).count()
    }

    /// Products on the path that has most of them.
    pub fn product_depth(&self) -> usize {
        self.critical_path(|gate| f64::from(u8::from(Self::is_product(gate)))) as usize
    }

    /// Bootstraps that the circuit takes gate by gate: one for each gate of two inputs, two for a
    /// multiplexer, as `hsiao2022sche` §2 and gate libraries do.
    pub fn bootstraps(&self) -> usize {
        self.counts().binary() + 2 * self.counts().mux
    }
}
