use zeroize::Zeroizing;

use super::RingIndex;
use crate::residues::Reducer;
use crate::{Modulus, Word};

/// The transform of an odd squarefree index modulo a prime, axis by axis.
///
/// In the basis of [`RingIndex::exponents`] the values at the roots are a cyclic convolution along
/// each axis, of length `n = p - 1`: with `w` of order `p`,
/// `E[t] = sum_s a[s] w^(g^(t - s))` and `a[s] = sum_t E[t] (w^(-g^(t - s)) - 1) / p`, the second
/// factor being the dual basis. Here both are computed as they stand, in `phi(m) sum (p - 1)` products.
#[derive(Debug, Clone)]
pub(crate) struct AxisTransforms {
    reducer: Reducer,
    axes: Vec<Convolutions>,
}

/// The convolutions of one axis.
#[derive(Debug, Clone)]
struct Convolutions {
    length: usize,
    /// Words from one place of the axis to the next.
    step: usize,
    forward: Vec<u64>,
    inverse: Vec<u64>,
}

/// Products of residues below 2^61 that 128 bits hold the sum of, with one more residue.
const TERMS: usize = 64;

impl AxisTransforms {
    /// For a prime that is 1 modulo the index.
    pub(crate) fn new(index: RingIndex, reducer: Reducer) -> Self {
        let q = reducer.modulus();
        let convolutions = |axis: super::index::Axis| {
            let (length, prime) = (axis.powers.len(), axis.prime as u64);
            let root = root_of_prime_order(q, prime);
            let by_prime = q.inverse(prime);
            let dual = |exponent: u64| {
                q.mul(q.add(q.pow(root, prime - exponent), q.value() - 1), by_prime)
            };
            // What a line is multiplied with for the value at place t begins at length - t.
            let forward = |i: usize| q.pow(root, axis.powers[(2 * length - i) % length] as u64);
            let inverse = |i: usize| dual(axis.powers[i % length] as u64);
            Convolutions {
                length,
                step: axis.step,
                forward: (0..2 * length).map(forward).collect(),
                inverse: (0..2 * length).map(inverse).collect(),
            }
        };
        Self { reducer, axes: index.axes().into_iter().map(convolutions).collect() }
    }

    /// Coefficients to evaluations, in place.
    pub(crate) fn forward<W: Word>(&self, limb: &mut [W]) {
        self.convolve(limb, |axis| &axis.forward);
    }

    /// Evaluations to coefficients, in place.
    pub(crate) fn inverse<W: Word>(&self, limb: &mut [W]) {
        self.convolve(limb, |axis| &axis.inverse);
    }

    /// `a *= b` place by place.
    pub(crate) fn multiply_assign<W: Word>(&self, a: &mut [W], b: &[W]) {
        for (a, b) in a.iter_mut().zip(b) {
            *a = W::from_u64(self.reducer.product(a.to_u64(), b.to_u64()));
        }
    }

    fn convolve<W: Word>(&self, limb: &mut [W], factors: impl Fn(&Convolutions) -> &[u64]) {
        let longest = self.axes.iter().map(|axis| axis.length).max().unwrap_or(0);
        // A line of a secret is secret.
        let mut line = Zeroizing::new(vec![0; longest]);
        for axis in &self.axes {
            let line = &mut line[..axis.length];
            for block in limb.chunks_exact_mut(axis.length * axis.step) {
                for first in 0..axis.step {
                    for (x, word) in line.iter_mut().zip(block[first..].iter().step_by(axis.step)) {
                        *x = word.to_u64();
                    }
                    let words = block[first..].iter_mut().step_by(axis.step);
                    for (place, word) in words.enumerate() {
                        let factors = &factors(axis)[axis.length - place..];
                        *word = W::from_u64(self.sum_of_products(line, factors));
                    }
                }
            }
        }
    }

    fn sum_of_products(&self, line: &[u64], factors: &[u64]) -> u64 {
        line.chunks(TERMS).zip(factors.chunks(TERMS)).fold(0, |sum, (line, factors)| {
            let products = line.iter().zip(factors);
            let add = |sum, (&x, &f)| sum + u128::from(x) * u128::from(f);
            self.reducer.reduce(products.fold(u128::from(sum), add))
        })
    }
}

/// A root of unity of prime order `p` modulo a prime that is 1 modulo it.
fn root_of_prime_order(q: Modulus, p: u64) -> u64 {
    (2..).map(|x| q.pow(x, (q.value() - 1) / p)).find(|&root| root != 1).unwrap_or(1)
}
