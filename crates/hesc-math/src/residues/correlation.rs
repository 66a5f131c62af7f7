//! Correlations at every place of rows: many sums of the same products in other orders.

use super::Reducer;
use super::kernels;
use crate::lanes::{Kernel, LANES, Lanes};

/// Eight columns of a row.
type Words = [u64; LANES];
/// Outputs whose sums are kept in registers at a time: what is loaded serves all of them.
const TOGETHER: usize = 4;
/// Columns that are brought together before they are multiplied: rows lie a page apart and more.
const COLUMNS: usize = 8 * LANES;

/// For each output of shift `s` the sums `(sum_k a[k + s] b[k], sum_k a[k + s] c[k])`, `k + s` modulo the number of
/// rows `d`. Cost: `2 d` products of rows for each output.
///
/// # Panics
/// If there are not as many `b` and `c` as `a`, shifts as outputs, or words in a row as in another.
pub fn correlations(
    out: &mut [[&mut [u64]; 2]],
    shifts: &[usize],
    a: &[&[u64]],
    b: &[&[u64]],
    c: &[&[u64]],
    q: &Reducer,
) {
    assert!(a.len() == b.len() && a.len() == c.len(), "a factor for each factor");
    assert_eq!(out.len(), shifts.len(), "a shift for each output");
    let Some(length) = a.first().map(|row| row.len()) else {
        out.iter_mut().flatten().for_each(|row| row.fill(0));
        return;
    };
    let outputs = out.iter().flatten().map(|row| row.len());
    let rows = a.iter().chain(b).chain(c).map(|row| row.len());
    assert!(rows.chain(outputs).all(|x| x == length), "rows of one ring have one length");
    let (on_lanes, hardware) = q.lanes_of(length, COLUMNS);
    if let Some(hardware) = hardware {
        hardware.run(Correlations { out, shifts, a, b, c, q, columns: on_lanes });
    }
    if on_lanes < length {
        for ([first, second], &shift) in out.iter_mut().zip(shifts) {
            let shift = shift % a.len();
            let turned = a[shift..].iter().chain(&a[..shift]);
            let factors: Vec<&[u64]> = turned.map(|row| &row[on_lanes..]).collect();
            let [b, c]: [Vec<&[u64]>; 2] =
                [b, c].map(|rows| rows.iter().map(|row| &row[on_lanes..]).collect());
            let out = [&mut first[on_lanes..], &mut second[on_lanes..]];
            kernels::inner_products(out, &factors, &b, &c, q);
        }
    }
}

struct Correlations<'a, 'b> {
    out: &'a mut [[&'b mut [u64]; 2]],
    shifts: &'a [usize],
    a: &'a [&'a [u64]],
    b: &'a [&'a [u64]],
    c: &'a [&'a [u64]],
    q: &'a Reducer,
    columns: usize,
}

#[inline(always)]
fn words(row: &[u64], at: usize) -> Words {
    row[at..].first_chunk().copied().unwrap_or_default()
}

impl Kernel for Correlations<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        let (d, lines) = (self.a.len(), COLUMNS / LANES);
        // Line after line: all factors twice, so that every shift of them is a slice, and all pairs of others.
        let mut factors = vec![[0; LANES]; lines * 2 * d];
        let mut pairs = vec![[[0; LANES]; 2]; lines * d];
        for start in (0..self.columns).step_by(COLUMNS) {
            for k in 0..d {
                for line in 0..lines {
                    let at = start + line * LANES;
                    let factor = words(self.a[k], at);
                    factors[line * 2 * d + k] = factor;
                    factors[line * 2 * d + d + k] = factor;
                    pairs[line * d + k] = [words(self.b[k], at), words(self.c[k], at)];
                }
            }
            for line in 0..lines {
                let factors = &factors[line * 2 * d..][..2 * d];
                let pairs = &pairs[line * d..][..d];
                let at = start + line * LANES;
                for first in (0..self.out.len()).step_by(TOGETHER) {
                    self.outputs(l, first, at, factors, pairs);
                }
            }
        }
    }
}

impl Correlations<'_, '_> {
    /// The sums of some outputs in eight columns.
    #[inline(always)]
    fn outputs<L: Lanes>(
        &mut self,
        l: L,
        first: usize,
        at: usize,
        factors: &[Words],
        pairs: &[[Words; 2]],
    ) {
        let (d, count) = (pairs.len(), TOGETHER.min(self.out.len() - first));
        // Fewer outputs at the end: the last one again.
        let mut rows = [factors; TOGETHER];
        for (o, row) in rows.iter_mut().enumerate() {
            *row = &factors[self.shifts[first + o.min(count - 1)] % d..][..d];
        }
        let terms = self.q.lane_terms();
        let mut sums = [[l.zero(); 2]; TOGETHER];
        for start in (0..d).step_by(terms) {
            let end = d.min(start + terms);
            let mut high = [[l.zero(); 2]; TOGETHER];
            for k in start..end {
                let (b, c) = (l.load_words(&pairs[k][0]), l.load_words(&pairs[k][1]));
                for o in 0..TOGETHER {
                    let a = l.load_words(&rows[o][k]);
                    sums[o][0] = l.add_low(sums[o][0], a, b);
                    sums[o][1] = l.add_low(sums[o][1], a, c);
                    high[o][0] = l.add_high(high[o][0], a, b);
                    high[o][1] = l.add_high(high[o][1], a, c);
                }
            }
            for o in 0..TOGETHER {
                for part in 0..2 {
                    sums[o][part] = self.q.lanes_reduce(l, sums[o][part], high[o][part]);
                }
            }
        }
        for (o, out) in self.out[first..][..count].iter_mut().enumerate() {
            for (part, out) in out.iter_mut().enumerate() {
                if let Some(out) = out[at..].first_chunk_mut() {
                    l.store_words(out, sums[o][part]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ntt_primes;

    /// For lengths that lanes leave words of, few and many outputs and rows, and largest residues.
    #[test]
    fn correlations_are_inner_products_of_turned_rows() {
        for (bits, length, d, outputs) in [
            (44, 200, 5, 9),
            (50, 130, 33, 3),
            (49, 64, 102, 4),
            (55, 64, 3, 2),
            (30, 70, 1, 1),
            (50, 64, 16, 16),
        ] {
            let q = Reducer::new(ntt_primes(bits, 256, 1).unwrap()[0]);
            for largest in [false, true] {
                let mut state = 7u64;
                let mut row = || -> Vec<u64> {
                    let mut next = || {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        if largest { q.value() - 1 } else { (state >> 3) % q.value() }
                    };
                    (0..length).map(|_| next()).collect()
                };
                let mut rows = || (0..d).map(|_| row()).collect::<Vec<_>>();
                let (a, b, c) = (rows(), rows(), rows());
                let [a, b, c] = [&a, &b, &c].map(|x| x.iter().map(|x| &x[..]).collect::<Vec<_>>());
                let shifts: Vec<usize> = (0..outputs).map(|o| 3 * o + 1).collect();
                let mut sums = vec![vec![1; length]; 2 * outputs];
                let mut out: Vec<[&mut [u64]; 2]> = sums
                    .chunks_exact_mut(2)
                    .map(|pair| {
                        let (x, y) = pair.split_at_mut(1);
                        [&mut x[0][..], &mut y[0][..]]
                    })
                    .collect();
                correlations(&mut out, &shifts, &a, &b, &c, &q);
                for (o, shift) in shifts.iter().enumerate() {
                    for (part, rows) in [&b, &c].into_iter().enumerate() {
                        for i in 0..length {
                            let term = |k: usize| {
                                let x = u128::from(a[(k + shift) % d][i]) * u128::from(rows[k][i]);
                                x % u128::from(q.value())
                            };
                            let expected = (0..d).map(term).sum::<u128>() % u128::from(q.value());
                            assert_eq!(
                                u128::from(sums[2 * o + part][i]),
                                expected,
                                "{bits} {o} {i}"
                            );
                        }
                    }
                }
            }
        }
    }
}
