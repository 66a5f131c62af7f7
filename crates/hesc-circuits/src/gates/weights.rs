//! Weights that turn a function of a few bits into a lookup at a sum of them.

use std::collections::HashMap;

use super::program::{GRID, HALF_GRID, MOST_TABLES, Precision, Table};

/// Bits of a lookup with tables of its own; wide exclusive ors have more.
pub(super) const MOST_LEAVES: usize = 4;

/// A function of at most [`MOST_LEAVES`] bits: its value for each assignment.
pub(super) type Truth = u16;

/// All assignments of some bits.
pub(super) const fn assignments(leaves: usize) -> usize {
    1 << leaves
}

/// Weights and tables for some functions of the same bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Encoding {
    pub weights: Vec<u8>,
    pub tables: Vec<Table>,
    /// The sum of the weights' sizes.
    pub size: u32,
    /// The smallest margin of the tables.
    pub margin: u32,
}

/// How noisy a sum of bits is: `size^2 * term + own`, in squares of half a position. Deviations add, not
/// variances: a circuit's inputs may be copies of each other, and equal lookups of them have equal noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub term: f64,
    /// By the number of tables less one.
    pub own: [f64; MOST_TABLES],
}

/// The size of a weight; those above one half are negative ones.
pub(super) fn size(weight: u8) -> u32 {
    u32::from(weight.min(GRID as u8 - weight))
}

impl Spread {
    /// What programs for this noise reckon with.
    pub(super) fn of(precision: &Precision) -> Self {
        // From the torus to halves of a position.
        let unit = (2.0 * GRID as f64).powi(2);
        // Without noise, any: margins and weights still count.
        let floor = f64::MIN_POSITIVE;
        Self {
            term: (precision.bit * unit).max(floor),
            own: precision.lookup.map(|own| (own * unit).max(floor)),
        }
    }

    /// The square of the deviations that fit into a margin.
    pub(super) fn room(&self, margin: u32, size: u32, tables: usize) -> f64 {
        f64::from(margin).powi(2) / (f64::from(size).powi(2) * self.term + self.own[tables - 1])
    }

    /// Deviations that fit when so many bits are added and decrypted.
    pub(super) fn sum_deviations(&self, terms: usize) -> f64 {
        let encoding = exclusive_or(terms);
        f64::from(encoding.margin) / (f64::from(encoding.size) * self.term.sqrt())
    }
}

impl Encoding {
    /// Deviations that fit into the margin.
    pub(super) fn deviations(&self, spread: &Spread) -> f64 {
        spread.room(self.margin, self.size, self.tables.len()).sqrt()
    }
}

/// Finds encodings, and remembers them.
#[derive(Debug)]
pub(super) struct Weights {
    spread: Spread,
    known: HashMap<(usize, Vec<Truth>), Option<Encoding>>,
}

impl Weights {
    pub(super) fn new(spread: Spread) -> Self {
        Self { spread, known: HashMap::new() }
    }

    /// The encoding with the most deviations in its margin; none if no weights tell all values
    /// apart.
    pub(super) fn best(&mut self, leaves: usize, functions: &[Truth]) -> Option<&Encoding> {
        let key = (leaves, functions.to_vec());
        let spread = self.spread;
        self.known
            .entry(key)
            .or_insert_with(|| {
                let mut search = Search { leaves, functions, spread, most: 0.0, best: None };
                let empty = vec![Table { reached: 0, bits: 0 }; functions.len()];
                let mut positions = [0; assignments(MOST_LEAVES)];
                // With all bits zero the position is 0.
                let start = search.placed(&empty, &[0], 0);
                search.extend(&mut Vec::new(), &start.unwrap_or(empty), &mut positions, 0);
                search.best
            })
            .as_ref()
    }
}

/// Branch and bound over the weights, one bit after the other: positions that are taken stay taken,
/// so that margins only shrink and sizes only grow.
struct Search<'a> {
    leaves: usize,
    functions: &'a [Truth],
    spread: Spread,
    most: f64,
    best: Option<Encoding>,
}

impl Search<'_> {
    fn extend(
        &mut self,
        weights: &mut Vec<u8>,
        tables: &[Table],
        positions: &mut [u8; assignments(MOST_LEAVES)],
        total: u32,
    ) {
        let margin = tables.iter().map(Table::margin).min().unwrap_or(0);
        let room = self.spread.room(margin, total, tables.len());
        if room <= self.most {
            return;
        }
        let at = weights.len();
        if at == self.leaves {
            self.most = room;
            let (weights, tables) = (weights.clone(), tables.to_vec());
            self.best = Some(Encoding { weights, tables, size: total, margin });
            return;
        }
        for weight in 0..GRID as u8 {
            let known = assignments(at);
            for assignment in 0..known {
                positions[known + assignment] = (positions[assignment] + weight) % GRID as u8;
            }
            let Some(next) = self.placed(tables, &positions[known..2 * known], known) else {
                continue;
            };
            weights.push(weight);
            self.extend(weights, &next, positions, total + size(weight));
            weights.pop();
        }
    }

    /// The tables with further assignments at their positions; none if two with different values
    /// meet.
    fn placed(&self, tables: &[Table], positions: &[u8], first: usize) -> Option<Vec<Table>> {
        let mut tables = tables.to_vec();
        for (i, &position) in positions.iter().enumerate() {
            for (table, &function) in tables.iter_mut().zip(self.functions) {
                let bit = function >> (first + i) & 1 == 1;
                if table.at(usize::from(position)).is_some_and(|known| known != bit) {
                    return None;
                }
                table.place(usize::from(position), bit);
            }
        }
        Some(tables)
    }
}

/// The encoding of an exclusive or of any number of bits: each weighs half the torus.
pub(super) fn exclusive_or(leaves: usize) -> Encoding {
    let weight = HALF_GRID as u8;
    Encoding {
        weights: vec![weight; leaves],
        tables: vec![Table { reached: 1, bits: 0 }],
        size: leaves as u32 * size(weight),
        margin: HALF_GRID as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPREAD: Spread = Spread { term: 0.001, own: [0.01, 0.02] };

    fn check(leaves: usize, functions: &[Truth]) -> Encoding {
        let mut weights = Weights::new(SPREAD);
        let encoding = weights.best(leaves, functions).unwrap().clone();
        for assignment in 0..assignments(leaves) {
            let weight = |(i, &w): (usize, &u8)| (assignment >> i & 1) * usize::from(w);
            let position = encoding.weights.iter().enumerate().map(weight).sum::<usize>() % GRID;
            for (table, function) in encoding.tables.iter().zip(functions) {
                assert_eq!(table.at(position), Some(function >> assignment & 1 == 1));
            }
        }
        encoding
    }

    #[test]
    fn known_gates_find_their_known_encodings() {
        // As gate bootstrapping has it: an eighth of the torus for AND, a quarter for XOR.
        assert_eq!(check(2, &[0b1000]).margin, 4);
        assert_eq!(check(2, &[0b0110]).margin, 8);
        // The majority of three bits: an eighth.
        assert_eq!(check(3, &[0b1110_1000]).margin, 4);
        // A full adder at one sum.
        assert!(check(3, &[0b1001_0110, 0b1110_1000]).margin >= 1);
    }

    #[test]
    fn a_cell_of_the_array_multiplier_is_one_lookup() {
        let bit = |assignment: usize, i: usize| assignment >> i & 1;
        let total = |a: usize| (bit(a, 0) & bit(a, 1)) + bit(a, 2) + bit(a, 3);
        let function = |of: &dyn Fn(usize) -> usize| {
            (0..16).fold(0, |truth: Truth, a| truth | (of(total(a)) as Truth) << a)
        };
        let encoding = check(4, &[function(&|t| t & 1), function(&|t| t >> 1)]);
        assert_eq!(encoding.tables.len(), 2);
    }

    #[test]
    fn an_exclusive_or_has_the_widest_margin() {
        let encoding = exclusive_or(3);
        assert_eq!(encoding.tables[0].at(0), Some(false));
        assert_eq!(encoding.tables[0].at(8), Some(true));
        assert_eq!(encoding.tables[0].margin(), encoding.margin);
    }
}
