//! Bristol fashion, the text form that circuits for secure computation travel in: a line with the
//! numbers of gates and wires, one with the inputs' widths, one with the outputs', then a gate a line.
//! Output wires are the last ones, in order.

use std::fmt::Write;
use std::str::FromStr;

use super::{BinaryGate, Definition, Gate, GateError, Netlist, Wire};

/// Wires that a file may have whatever its length: inputs need no line.
const SMALL: usize = 1 << 16;

/// Lines with their numbers, empty ones left out.
struct Lines<'a> {
    rest: std::iter::Enumerate<std::str::Lines<'a>>,
    line: usize,
}

impl<'a> Lines<'a> {
    fn error(&self, problem: &'static str) -> GateError {
        GateError::Bristol { line: self.line, problem }
    }

    fn next_tokens(&mut self) -> Option<Vec<&'a str>> {
        for (at, text) in self.rest.by_ref() {
            self.line = at + 1;
            let tokens: Vec<&str> = text.split_ascii_whitespace().collect();
            if !tokens.is_empty() {
                return Some(tokens);
            }
        }
        None
    }

    fn numbers(&mut self) -> Result<Vec<usize>, GateError> {
        let tokens = self.next_tokens().ok_or_else(|| self.error("the header ends too early"))?;
        tokens.into_iter().map(|token| self.number(token)).collect()
    }

    fn number<N: FromStr>(&self, token: &str) -> Result<N, GateError> {
        // No signs, which `parse` would take.
        let digits = token.bytes().all(|byte| byte.is_ascii_digit());
        let parsed = digits.then(|| token.parse().ok()).flatten();
        parsed.ok_or_else(|| self.error("a number is expected"))
    }

    /// A line of widths, preceded by how many there are.
    fn widths(&mut self) -> Result<Vec<usize>, GateError> {
        match self.numbers()?.split_first() {
            Some((&count, widths)) if count == widths.len() => Ok(widths.to_vec()),
            _ => Err(self.error("a line of widths begins with their number")),
        }
    }
}

impl Netlist {
    /// Reads a circuit in Bristol fashion; gates may stand in any order.
    ///
    /// # Errors
    /// [`GateError::Bristol`] for text that is no circuit, [`GateError::UnknownGate`],
    /// [`GateError::Arity`], and as [`Netlist::from_definitions`].
    pub fn from_bristol(text: &str) -> Result<Self, GateError> {
        let mut lines = Lines { rest: text.lines().enumerate(), line: 0 };
        let [count, wires] = lines.numbers()?[..] else {
            return Err(lines.error("the first line has the numbers of gates and wires"));
        };
        let (inputs, outputs) = (lines.widths()?, lines.widths()?);
        if wires > text.len().max(SMALL) {
            return Err(lines.error("it has more wires than its length allows"));
        }
        let total =
            |widths: &[usize]| widths.iter().try_fold(0usize, |sum, &width| sum.checked_add(width));
        let (Some(first), Some(last)) = (total(&inputs), total(&outputs)) else {
            return Err(lines.error("a width is too large"));
        };
        if first > wires || last > wires {
            return Err(lines.error("it has fewer wires than inputs or outputs"));
        }
        let mut definitions = Vec::new();
        while let Some(tokens) = lines.next_tokens() {
            definitions.push(definition(&lines, &tokens, wires)?);
        }
        if definitions.len() != count {
            return Err(lines.error("the number of gates is not the header's"));
        }
        let mut next = wires - last;
        let groups: Vec<Vec<Wire>> = outputs
            .iter()
            .map(|&width| {
                next += width;
                (next - width..next).map(Wire::new).collect()
            })
            .collect();
        Self::from_definitions(inputs, &definitions, &groups)
    }

    /// The circuit in Bristol fashion. Gates that the format lacks become several.
    pub fn to_bristol(&self) -> String {
        let mut writer = Lowering { body: String::new(), gates: 0, wires: self.input_wires() };
        let mut places: Vec<usize> = (0..self.input_wires()).collect();
        for gate in self.gates() {
            places.push(writer.lower(gate, &places));
        }
        // Outputs come last, each a wire of its own.
        for wire in self.outputs().iter().flatten() {
            writer.gate("EQW", &[places[wire.index()]]);
        }
        let widths = |widths: &mut dyn Iterator<Item = usize>| {
            let widths: Vec<String> = widths.map(|width| width.to_string()).collect();
            format!("{} {}", widths.len(), widths.join(" "))
        };
        let inputs = widths(&mut self.inputs().iter().copied());
        let outputs = widths(&mut self.outputs().iter().map(Vec::len));
        format!("{} {}\n{inputs}\n{outputs}\n\n{}", writer.gates, writer.wires, writer.body)
    }
}

/// A gate's line: numbers of inputs and outputs, their wires, its name.
fn definition(
    lines: &Lines<'_>,
    tokens: &[&str],
    wires: usize,
) -> Result<(Wire, Definition), GateError> {
    let (Some((&name, numbers)), true) = (tokens.split_last(), tokens.len() > 2) else {
        return Err(lines.error("a gate has numbers of inputs and outputs, wires and a name"));
    };
    let numbers: Vec<usize> =
        numbers.iter().map(|token| lines.number(token)).collect::<Result<_, _>>()?;
    let (inputs, outputs, operands) = (numbers[0], numbers[1], &numbers[2..]);
    if inputs.checked_add(outputs) != Some(operands.len()) {
        return Err(lines.error("a gate has another number of wires than it says"));
    }
    let expected = match name {
        "AND" | "XOR" => 2,
        "INV" | "EQ" | "EQW" => 1,
        _ => return Err(GateError::UnknownGate { gate: name.to_owned() }),
    };
    if (inputs, outputs) != (expected, 1) {
        return Err(GateError::Arity { gate: name.to_owned(), expected, inputs, outputs });
    }
    let wire = |index: usize| {
        if index < wires {
            Ok(Wire::new(index))
        } else {
            Err(lines.error("a wire is not below the number of wires"))
        }
    };
    let gate = match name {
        "AND" => Gate::Binary(BinaryGate::And, wire(operands[0])?, wire(operands[1])?),
        "XOR" => Gate::Binary(BinaryGate::Xor, wire(operands[0])?, wire(operands[1])?),
        "INV" => Gate::Not(wire(operands[0])?),
        "EQW" => return Ok((wire(operands[1])?, Definition::Copy(wire(operands[0])?))),
        _ => match operands[0] {
            bit @ 0..=1 => Gate::Constant(bit == 1),
            _ => return Err(lines.error("a constant is 0 or 1")),
        },
    };
    Ok((wire(operands[inputs])?, Definition::Gate(gate)))
}

/// Writes gates as the format's own.
struct Lowering {
    body: String,
    gates: usize,
    wires: usize,
}

impl Lowering {
    fn gate(&mut self, name: &str, operands: &[usize]) -> usize {
        let operands_text: Vec<String> = operands.iter().map(ToString::to_string).collect();
        let (count, wire) = (operands.len(), self.wires);
        // Writing to a string does not fail.
        let _ = writeln!(self.body, "{count} 1 {} {wire} {name}", operands_text.join(" "));
        self.gates += 1;
        self.wires += 1;
        wire
    }

    /// A gate on wires that have their places; its own.
    fn lower(&mut self, gate: &Gate, places: &[usize]) -> usize {
        let place = |wire: Wire| places[wire.index()];
        match *gate {
            Gate::Constant(bit) => self.gate("EQ", &[usize::from(bit)]),
            Gate::Not(a) => self.gate("INV", &[place(a)]),
            Gate::Binary(gate, a, b) => {
                let pair = [place(a), place(b)];
                let plain = match gate {
                    BinaryGate::And | BinaryGate::Nand => self.gate("AND", &pair),
                    BinaryGate::Xor | BinaryGate::Xnor => self.gate("XOR", &pair),
                    BinaryGate::Or | BinaryGate::Nor => {
                        let one = self.gate("XOR", &pair);
                        let both = self.gate("AND", &pair);
                        self.gate("XOR", &[one, both])
                    }
                };
                match gate {
                    BinaryGate::And | BinaryGate::Or | BinaryGate::Xor => plain,
                    BinaryGate::Nand | BinaryGate::Nor | BinaryGate::Xnor => {
                        self.gate("INV", &[plain])
                    }
                }
            }
            Gate::Mux { choice, one, zero } => {
                let differ = self.gate("XOR", &[place(one), place(zero)]);
                let chosen = self.gate("AND", &[place(choice), differ]);
                self.gate("XOR", &[chosen, place(zero)])
            }
        }
    }
}
