use zeroize::Zeroizing;

use super::{Gate, GateError, Netlist};

/// Words of each wire that are computed together: the wires of a thousand gates stay in the cache.
const CHUNK: usize = 8;

impl Netlist {
    /// The output wires' values on any number of lanes, 64 in a word: `words` words for each input
    /// wire one after the other, as many for each output wire.
    ///
    /// # Errors
    /// [`GateError::Inputs`] for inputs of another length.
    pub fn evaluate(&self, inputs: &[u64], words: usize) -> Result<Vec<u64>, GateError> {
        let wires = self.input_wires();
        let expected = wires.saturating_mul(words);
        if inputs.len() != expected {
            return Err(GateError::Inputs { what: "words", expected, found: inputs.len() });
        }
        let outputs: Vec<usize> = self.outputs.iter().flatten().map(|wire| wire.index()).collect();
        let mut result = vec![0; outputs.len() * words];
        // Inputs may be keys.
        let mut values = Zeroizing::new(vec![[0u64; CHUNK]; self.wires()]);
        for start in (0..words).step_by(CHUNK) {
            let width = CHUNK.min(words - start);
            for (wire, value) in values[..wires].iter_mut().enumerate() {
                value[..width].copy_from_slice(&inputs[wire * words + start..][..width]);
            }
            self.fill(&mut values);
            for (place, &wire) in outputs.iter().enumerate() {
                result[place * words + start..][..width].copy_from_slice(&values[wire][..width]);
            }
        }
        Ok(result)
    }

    /// The values of all gates from those of the inputs.
    fn fill(&self, values: &mut [[u64; CHUNK]]) {
        let first = self.input_wires();
        for (at, gate) in self.gates.iter().enumerate() {
            let (known, rest) = values.split_at_mut(first + at);
            let out = &mut rest[0];
            match *gate {
                Gate::Constant(bit) => *out = [u64::from(bit).wrapping_neg(); CHUNK],
                Gate::Not(a) => *out = known[a.index()].map(|a| !a),
                Gate::Binary(gate, a, b) => {
                    let (a, b) = (&known[a.index()], &known[b.index()]);
                    *out = std::array::from_fn(|i| gate.apply(a[i], b[i]));
                }
                Gate::Mux { choice, one, zero } => {
                    let wire = |wire: super::Wire| &known[wire.index()];
                    let (choice, one, zero) = (wire(choice), wire(one), wire(zero));
                    *out = std::array::from_fn(|i| zero[i] ^ (choice[i] & (one[i] ^ zero[i])));
                }
            }
        }
    }

    /// The outputs as numbers, lowest bits first: a list for each input, a list for each output.
    ///
    /// # Errors
    /// [`GateError::Inputs`] for another number of lists or lists of different lengths,
    /// [`GateError::Number`] for a number that does not fit, [`GateError::Size`] for a group of more
    /// than 64 wires.
    pub fn evaluate_numbers(&self, inputs: &[&[u64]]) -> Result<Vec<Vec<u64>>, GateError> {
        let (expected, found) = (self.inputs.len(), inputs.len());
        if expected != found {
            return Err(GateError::Inputs { what: "inputs", expected, found });
        }
        let groups = self.inputs.iter().copied().chain(self.outputs.iter().map(Vec::len));
        if let Some(value) = groups.max().filter(|&width| width > 64) {
            let what = "the width of a number";
            return Err(GateError::Size { what, value, least: 0, most: 64 });
        }
        let lanes = inputs.first().map_or(0, |numbers| numbers.len());
        let words = lanes.div_ceil(64);
        let mut bits = Vec::with_capacity(self.input_wires() * words);
        for (input, (&width, numbers)) in self.inputs.iter().zip(inputs).enumerate() {
            if numbers.len() != lanes {
                let what = "numbers of an input";
                return Err(GateError::Inputs { what, expected: lanes, found: numbers.len() });
            }
            let fits = |&&value: &&u64| width < 64 && value >> width != 0;
            if let Some(&value) = numbers.iter().find(fits) {
                return Err(GateError::Number { value, width, input });
            }
            for bit in 0..width {
                bits.extend(numbers.chunks(64).map(|lanes| {
                    let set = |(i, &value): (usize, &u64)| (value >> bit & 1) << i;
                    lanes.iter().enumerate().map(set).sum::<u64>()
                }));
            }
        }
        let found = self.evaluate(&bits, words)?;
        let mut rows = found.chunks_exact(words.max(1));
        let mut number = |width: usize| -> Vec<u64> {
            let group: Vec<&[u64]> = rows.by_ref().take(width).collect();
            let bit = |row: &[u64], lane: usize| row[lane / 64] >> (lane % 64) & 1;
            let value = |lane: usize| {
                group.iter().enumerate().map(|(i, row)| bit(row, lane) << i).sum::<u64>()
            };
            (0..lanes).map(value).collect()
        };
        Ok(self.outputs.iter().map(|group| number(group.len())).collect())
    }
}
