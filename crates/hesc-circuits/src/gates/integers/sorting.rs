//! Numbers in order, and the largest of them.

use super::comparisons::is_less;
use super::{check, circuit, select};
use crate::gates::{Builder, GateError, Netlist, Wire};

/// `count` numbers of `width` bits in ascending order, by Batcher's odd-even merge sort (1968):
/// `log2(count) (log2(count) + 1) / 2` rounds of comparisons for a power of two.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096, a count outside 1 to 1024, or more than 2^20 bits in all.
pub fn sorter(count: usize, width: usize, signed: bool) -> Result<Netlist, GateError> {
    check("the count of numbers", count, 1, 1024)?;
    circuit(&vec![width; count], |builder, numbers| {
        let mut numbers = numbers.to_vec();
        let mut run = 1;
        while run < count {
            let mut distance = run;
            while distance > 0 {
                for start in (distance % run..count.saturating_sub(distance)).step_by(2 * distance)
                {
                    for i in start..(start + distance).min(count - distance) {
                        // Only within one merged run.
                        if i / (2 * run) == (i + distance) / (2 * run) {
                            exchange(builder, &mut numbers, i, i + distance, signed);
                        }
                    }
                }
                distance /= 2;
            }
            run *= 2;
        }
        numbers
    })
}

/// The smaller one to the first place: a product a bit beside the comparison.
fn exchange(
    builder: &mut Builder,
    numbers: &mut [Vec<Wire>],
    low: usize,
    high: usize,
    signed: bool,
) {
    let swap = is_less(builder, &numbers[high], &numbers[low], signed);
    for bit in 0..numbers[low].len() {
        let (a, b) = (numbers[low][bit], numbers[high][bit]);
        let differ = builder.xor(a, b);
        let moved = builder.and(differ, swap);
        numbers[low][bit] = builder.xor(a, moved);
        numbers[high][bit] = builder.xor(b, moved);
    }
}

/// The largest of `count` numbers, and its place: the first, if there are several.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096, a count outside 1 to 65536, or more than 2^20 bits in all.
pub fn largest(count: usize, width: usize, signed: bool) -> Result<Netlist, GateError> {
    check("the count of numbers", count, 1, 1 << 16)?;
    circuit(&vec![width; count], |builder, numbers| {
        let bits = (count.next_power_of_two().ilog2() as usize).max(1);
        let mut place = |at: usize| -> Vec<Wire> {
            (0..bits).map(|bit| builder.constant(at >> bit & 1 == 1)).collect()
        };
        let mut rest: Vec<(Vec<Wire>, Vec<Wire>)> =
            numbers.iter().cloned().enumerate().map(|(at, number)| (number, place(at))).collect();
        while rest.len() > 1 {
            let winner = |pair: &[(Vec<Wire>, Vec<Wire>)]| match pair {
                [a, b] => {
                    let second = is_less(builder, &a.0, &b.0, signed);
                    (select(builder, second, &b.0, &a.0), select(builder, second, &b.1, &a.1))
                }
                _ => pair[0].clone(),
            };
            rest = rest.chunks(2).map(winner).collect();
        }
        rest.pop().map_or_else(Vec::new, |(number, place)| vec![number, place])
    })
}
