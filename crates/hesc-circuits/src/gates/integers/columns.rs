//! Sums of many bits of given weights: carries are saved, level by level.
//!
//! Sums of bits modulo 2 have no depth, so that one level of products turns a column of `h` bits into one
//! bit and `(h - 1) / 2` carries for the next column. The heights that columns are brought to are therefore
//! 2, 3, 5, 9, 17 and so on, where Dadda's (1965), whose sums take as long as carries, are 2, 3, 4, 6, 9.

use super::adders::{Adder, majority};
use super::{check, circuit};
use crate::gates::{Builder, GateError, Netlist, Wire};

/// A bit with the products behind it.
#[derive(Clone, Copy)]
struct Bit {
    wire: Wire,
    depth: usize,
}

/// Bits by their weights, `2^0` first.
pub(super) struct Columns(Vec<Vec<Bit>>);

impl Columns {
    /// None yet, for sums modulo `2^width`.
    pub(super) fn new(width: usize) -> Self {
        Self(vec![Vec::new(); width])
    }

    /// The width of the sum.
    pub(super) fn width(&self) -> usize {
        self.0.len()
    }

    /// Adds a bit of a weight; those of `2^width` and above vanish.
    pub(super) fn push(&mut self, weight: usize, wire: Wire, depth: usize) {
        if let Some(column) = self.0.get_mut(weight) {
            column.push(Bit { wire, depth });
        }
    }

    /// The sum of all bits.
    pub(super) fn sum(mut self, builder: &mut Builder, kind: Adder) -> Vec<Wire> {
        let highest = |columns: &Self| columns.0.iter().map(Vec::len).max().unwrap_or(0);
        let mut targets = vec![2];
        while targets[targets.len() - 1] < highest(&self) {
            targets.push(2 * targets[targets.len() - 1] - 1);
        }
        for &target in targets.iter().rev() {
            if highest(&self) > target {
                self.reduce(builder, target);
            }
        }
        self.add_rows(builder, kind)
    }

    /// One level: every column to this height, with what comes from the one below.
    fn reduce(&mut self, builder: &mut Builder, target: usize) {
        let mut carried: Vec<Bit> = Vec::new();
        for column in &mut self.0 {
            let into = std::mem::take(&mut carried);
            // The shallowest are added first.
            column.sort_by_key(|bit| std::cmp::Reverse(bit.depth));
            let mut excess = (column.len() + into.len()).saturating_sub(target);
            while excess > 0 && column.len() > 1 {
                let (a, b) = (pop(builder, column), pop(builder, column));
                let sum = builder.xor(a.wire, b.wire);
                let depth = a.depth.max(b.depth);
                let (sum, carry, depth) = if excess > 1 && !column.is_empty() {
                    let c = pop(builder, column);
                    excess -= 2;
                    let carry = majority(builder, a.wire, b.wire, c.wire);
                    (builder.xor(sum, c.wire), carry, depth.max(c.depth))
                } else {
                    excess -= 1;
                    (sum, builder.and(a.wire, b.wire), depth)
                };
                column.insert(0, Bit { wire: sum, depth });
                carried.push(Bit { wire: carry, depth: depth + 1 });
            }
            column.extend(into);
        }
    }

    /// The sum of columns of at most two bits. Those below the first pair carry nothing.
    fn add_rows(self, builder: &mut Builder, kind: Adder) -> Vec<Wire> {
        let zero = builder.constant(false);
        let row = |at: usize| {
            let wire = move |column: &Vec<Bit>| column.get(at).map_or(zero, |bit| bit.wire);
            self.0.iter().map(wire).collect::<Vec<_>>()
        };
        let (first, second) = (row(0), row(1));
        let start = self.0.iter().position(|column| column.len() > 1).unwrap_or(self.0.len());
        let mut sum = first[..start].to_vec();
        let mut rest = kind.add(builder, &first[start..], &second[start..], zero);
        rest.pop();
        sum.extend(rest);
        sum
    }
}

/// The last bit of a column; there is one.
fn pop(builder: &mut Builder, column: &mut Vec<Bit>) -> Bit {
    column.pop().unwrap_or_else(|| Bit { wire: builder.constant(false), depth: 0 })
}

/// The sum of `count` numbers of `width` bits without sign, with all of its bits.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096, a count outside 1 to 65536, or more than 2^20 bits in all.
pub fn sum(kind: Adder, count: usize, width: usize) -> Result<Netlist, GateError> {
    check("the count of numbers", count, 1, 1 << 16)?;
    circuit(&vec![width; count], |builder, numbers| {
        let bits = count.next_power_of_two().ilog2() as usize;
        let mut columns = Columns::new(width + bits);
        for number in numbers {
            for (weight, &wire) in number.iter().enumerate() {
                columns.push(weight, wire, 0);
            }
        }
        vec![columns.sum(builder, kind)]
    })
}

/// How many of `width` bits are set.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096.
pub fn popcount(kind: Adder, width: usize) -> Result<Netlist, GateError> {
    circuit(&[width], |builder, numbers| {
        let mut columns = Columns::new(width.ilog2() as usize + 1);
        for &wire in &numbers[0] {
            columns.push(0, wire, 0);
        }
        vec![columns.sum(builder, kind)]
    })
}
