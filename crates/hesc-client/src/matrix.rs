//! Products of rows with a matrix, each sum in one order whatever rows there are beside it.

/// Outputs that are summed side by side: one where a page would fetch loops for each number of them.
const WIDE: usize = if cfg!(target_family = "wasm") { 1 } else { 8 };
/// Rows that are summed at once.
const HIGH: usize = 4;

/// A matrix that rows are multiplied with: an output for each row of its own.
///
/// Sums go over the inputs in their order, one output at a time, and each product is added to one without being rounded
/// before: a sample's numbers do not depend on how many others it comes with, nor on the processor.
#[derive(Debug)]
pub(crate) struct Matrix {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Groups of up to `WIDE` outputs one after the other; in a group all outputs of an input lie side by side.
    groups: Vec<f64>,
}

impl Matrix {
    /// A matrix of rows with so many inputs.
    pub(crate) fn new(rows: &[f64], inputs: usize) -> Self {
        let mut groups = Vec::with_capacity(rows.len());
        for group in rows.chunks(WIDE * inputs) {
            for input in 0..inputs {
                groups.extend(group.iter().skip(input).step_by(inputs));
            }
        }
        Self { inputs, outputs: rows.len() / inputs, groups }
    }

    /// Multiplies rows.
    pub(crate) fn times(&self, rows: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; rows.len() / self.inputs * self.outputs];
        let groups = self.groups.chunks(WIDE * self.inputs);
        for (first, group) in (0..self.outputs).step_by(WIDE).zip(groups) {
            let size = [self.inputs, self.outputs, first];
            match group.len() / self.inputs {
                _ if WIDE == 1 => sums::<1>(rows, group, &mut out, size),
                8 => eight(rows, group, &mut out, size),
                count => fewer(rows, group, &mut out, size, count),
            }
        }
        out
    }
}

hesc_kernels::vectorised! {
    /// Eight outputs of all rows.
    fn eight(rows: &[f64], group: &[f64], out: &mut [f64], size: [usize; 3]) {
        sums::<8>(rows, group, out, size)
    }

    /// Fewer outputs of all rows.
    fn fewer(rows: &[f64], group: &[f64], out: &mut [f64], size: [usize; 3], count: usize) {
        match count {
            7 => sums::<7>(rows, group, out, size),
            6 => sums::<6>(rows, group, out, size),
            5 => sums::<5>(rows, group, out, size),
            4 => sums::<4>(rows, group, out, size),
            3 => sums::<3>(rows, group, out, size),
            2 => sums::<2>(rows, group, out, size),
            _ => sums::<1>(rows, group, out, size),
        }
    }
}

/// Outputs of all rows, which begin at the third number of `size`.
#[inline(always)]
fn sums<const N: usize>(rows: &[f64], group: &[f64], out: &mut [f64], size: [usize; 3]) {
    let [inputs, outputs, first] = size;
    let (group, _) = group.as_chunks::<N>();
    let mut blocks = rows.chunks_exact(HIGH * inputs);
    let mut places = out.chunks_exact_mut(HIGH * outputs);
    for (block, places) in (&mut blocks).zip(&mut places) {
        let (a, rest) = block.split_at(inputs);
        let (b, rest) = rest.split_at(inputs);
        let (c, d) = rest.split_at(inputs);
        let mut sums = [[0.0; N]; HIGH];
        for ((((group, a), b), c), d) in group.iter().zip(a).zip(b).zip(c).zip(d) {
            for (sums, x) in sums.iter_mut().zip([a, b, c, d]) {
                for (sum, weight) in sums.iter_mut().zip(group) {
                    *sum = f64::mul_add(*x, *weight, *sum);
                }
            }
        }
        for (place, sums) in places.chunks_exact_mut(outputs).zip(&sums) {
            place[first..first + N].copy_from_slice(sums);
        }
    }
    let left = places.into_remainder().chunks_exact_mut(outputs);
    for (row, place) in blocks.remainder().chunks_exact(inputs).zip(left) {
        let mut sums = [0.0; N];
        for (group, x) in group.iter().zip(row) {
            for (sum, weight) in sums.iter_mut().zip(group) {
                *sum = f64::mul_add(*x, *weight, *sum);
            }
        }
        place[first..first + N].copy_from_slice(&sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_in_order_whatever_rows_there_are() {
        for (inputs, outputs) in [(1, 1), (3, 8), (5, 7), (30, 10), (2, 17), (9, 6)] {
            let matrix: Vec<f64> = (0..inputs * outputs).map(|i| 1.0 / (i as f64 + 3.0)).collect();
            let rows: Vec<f64> = (0..7 * inputs).map(|i| (i as f64 * 0.37).sin()).collect();
            let naive: Vec<f64> = rows
                .chunks(inputs)
                .flat_map(|row| {
                    matrix.chunks(inputs).map(move |weights| {
                        row.iter().zip(weights).fold(0.0, |s, (x, w)| x.mul_add(*w, s))
                    })
                })
                .collect();
            assert_eq!(Matrix::new(&matrix, inputs).times(&rows), naive);
        }
    }
}
