//! What the compiler makes of a circuit: lookups, each a bootstrap, and sums, which cost none.

use super::GateError;

/// Positions of the torus that lookups tell apart: a bit weighs one of them.
pub const GRID: usize = 16;
/// Half of them: a table's length, for the other half has the inverse bits (bootstraps are
/// negacyclic).
pub const HALF_GRID: usize = GRID / 2;
/// Outputs of a lookup, at most.
pub const MOST_TABLES: usize = 2;

/// What encrypted bits and bootstraps do to noise: variances in units of the torus.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Of a bit, fresh or from a bootstrap, whichever is larger.
    pub bit: f64,
    /// What a bootstrap adds before it looks up, with one table and with two.
    pub lookup: [f64; MOST_TABLES],
    /// `log2` of the probability of a wrong output that is allowed for the whole circuit.
    pub log2_failure: f64,
}

impl Precision {
    /// No noise: for circuits in the clear.
    pub const EXACT: Self =
        Self { bit: 0.0, lookup: [0.0; MOST_TABLES], log2_failure: f64::NEG_INFINITY };

    /// Whether programs for this noise are right for another.
    pub fn covers(&self, bit: f64, lookup: [f64; MOST_TABLES]) -> bool {
        bit <= self.bit && lookup.iter().zip(&self.lookup).all(|(found, allowed)| found <= allowed)
    }
}

/// An encrypted bit of a program: an input, or a table's output; inputs come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub(super) u32);

impl Value {
    /// Its number.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Bits by position; positions that no input reaches are free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Table {
    pub(super) reached: u8,
    pub(super) bits: u8,
}

impl Table {
    /// The bit at a position below [`GRID`], if some input reaches it or the opposite one.
    pub fn at(&self, position: usize) -> Option<bool> {
        let place = position % HALF_GRID;
        let reached = self.reached >> place & 1 == 1;
        reached.then_some((self.bits >> place & 1 == 1) != (position >= HALF_GRID))
    }

    /// Sets the bit at a position, and its inverse at the opposite one.
    pub(super) fn place(&mut self, position: usize, bit: bool) {
        let place = position % HALF_GRID;
        self.reached |= 1 << place;
        self.bits &= !(1 << place);
        self.bits |= u8::from(bit != (position >= HALF_GRID)) << place;
    }

    /// The distance of the closest positions with different bits, in halves of a position: what
    /// noise must stay below, in those halves.
    pub fn margin(&self) -> u32 {
        // Once around, from a reached position back to it: only neighbours can be closest.
        let mut last: Option<(usize, bool)> = None;
        let mut least = GRID;
        for position in 0..2 * GRID {
            let Some(bit) = self.at(position % GRID) else { continue };
            if let Some((before, other)) = last
                && other != bit
            {
                least = least.min(position - before);
            }
            last = Some((position, bit));
        }
        least as u32
    }
}

/// One bootstrap: the weighted sum of bits, modulo [`GRID`], is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookup {
    /// Bits and weights below [`GRID`].
    pub terms: Vec<(Value, u8)>,
    /// A table for each output; the outputs are the next values.
    pub tables: Vec<Table>,
}

/// What a program gives back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// A bit known beforehand.
    Constant(bool),
    /// The exclusive or of bits, inverted or not: a sum of ciphertexts.
    Parity {
        /// The bits, at least one.
        terms: Vec<Value>,
        /// Whether it is inverted.
        inverted: bool,
    },
}

/// A circuit as lookups and sums.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    pub(super) inputs: Vec<usize>,
    pub(super) lookups: Vec<Lookup>,
    pub(super) outputs: Vec<Vec<Output>>,
    /// The noise it was made for.
    pub(super) precision: Precision,
    pub(super) log2_failure: f64,
}

impl Program {
    /// Wires of each input.
    pub fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// All input bits.
    pub fn input_bits(&self) -> usize {
        self.inputs.iter().sum()
    }

    /// The lookups, in an order in which each can be computed.
    pub fn lookups(&self) -> &[Lookup] {
        &self.lookups
    }

    /// Groups of outputs.
    pub fn outputs(&self) -> &[Vec<Output>] {
        &self.outputs
    }

    /// Bootstraps it takes.
    pub fn bootstraps(&self) -> usize {
        self.lookups.len()
    }

    /// The noise it was made for.
    pub fn precision(&self) -> &Precision {
        &self.precision
    }

    /// `log2` of the probability that any output is wrong, at most; minus infinity without
    /// encryption.
    pub fn log2_failure(&self) -> f64 {
        self.log2_failure
    }

    /// Lookups that depend on none of each other, one layer after the other: what can run side by
    /// side.
    pub fn layers(&self) -> Vec<Vec<usize>> {
        let mut depth = vec![0; self.input_bits()];
        let mut layers: Vec<Vec<usize>> = Vec::new();
        for (at, lookup) in self.lookups.iter().enumerate() {
            let layer =
                lookup.terms.iter().map(|(value, _)| depth[value.index()]).max().unwrap_or(0);
            if layer == layers.len() {
                layers.push(Vec::new());
            }
            layers[layer].push(at);
            depth.extend(std::iter::repeat_n(layer + 1, lookup.tables.len()));
        }
        layers
    }

    /// What it computes in the clear, laid out as in [`super::Netlist::evaluate`].
    ///
    /// # Errors
    /// [`GateError::Inputs`] for inputs of another length.
    pub fn evaluate(&self, inputs: &[u64], words: usize) -> Result<Vec<u64>, GateError> {
        let expected = self.input_bits().saturating_mul(words);
        if inputs.len() != expected {
            return Err(GateError::Inputs { what: "words", expected, found: inputs.len() });
        }
        let lanes = 64 * words;
        let bit = |row: &[u64], lane: usize| row[lane / 64] >> (lane % 64) & 1;
        let mut values: Vec<Vec<u64>> = if words == 0 {
            vec![Vec::new(); self.input_bits()]
        } else {
            inputs.chunks_exact(words).map(<[u64]>::to_vec).collect()
        };
        for lookup in &self.lookups {
            let mut results = vec![vec![0u64; words]; lookup.tables.len()];
            for lane in 0..lanes {
                let term = |(value, weight): &(Value, u8)| {
                    bit(&values[value.index()], lane) as usize * usize::from(*weight)
                };
                let position = lookup.terms.iter().map(term).sum::<usize>() % GRID;
                for (table, result) in lookup.tables.iter().zip(&mut results) {
                    let set = table.at(position).unwrap_or(false);
                    result[lane / 64] |= u64::from(set) << (lane % 64);
                }
            }
            values.extend(results);
        }
        let mut found = Vec::new();
        for output in self.outputs.iter().flatten() {
            let mut row = match output {
                Output::Constant(bit) => vec![u64::from(*bit).wrapping_neg(); words],
                Output::Parity { inverted, .. } => {
                    vec![u64::from(*inverted).wrapping_neg(); words]
                }
            };
            if let Output::Parity { terms, .. } = output {
                for term in terms {
                    row.iter_mut().zip(&values[term.index()]).for_each(|(sum, bit)| *sum ^= bit);
                }
            }
            found.extend(row);
        }
        Ok(found)
    }
}
