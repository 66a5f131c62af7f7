use std::cell::Cell;

use zeroize::Zeroize;

use super::RingIndex;
use super::convolution::{kernels, reversed, root_of_order, spectrum};
use crate::Word;
use crate::negacyclic::u64::Plan;
use crate::residues::{Factor, Reducer};

/// The transform of any odd squarefree index modulo a prime, axis by axis: a cyclic convolution along each, in
/// one of three ways.
#[derive(Debug, Clone)]
pub(crate) struct AxisTransforms {
    reducer: Reducer,
    axes: Vec<Axis>,
}

#[derive(Debug, Clone)]
struct Axis {
    length: usize,
    /// Words from one place of the axis to the next.
    step: usize,
    way: Way,
}

#[derive(Debug, Clone)]
enum Way {
    /// As it stands: short axes.
    Direct(Direct),
    /// By frequencies: lengths that are powers of two.
    Cyclic(Cyclic),
    /// Inside a negacyclic convolution of twice the length and more: all others.
    Padded(Box<Padded>),
}

/// Which way a transform goes.
#[derive(Debug, Clone, Copy)]
enum To {
    Evaluations,
    Coefficients,
}

/// What goes along with one way and the other.
#[derive(Debug, Clone)]
struct Both<T> {
    forward: T,
    inverse: T,
}

impl<T> Both<T> {
    fn of(&self, to: To) -> &T {
        match to {
            To::Evaluations => &self.forward,
            To::Coefficients => &self.inverse,
        }
    }
}

thread_local! {
    /// Memory for lines: fresh memory of this size costs a third of a transform.
    static ROOM: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

/// Axes shorter than this are convolved as they stand.
const SHORT: usize = 32;
/// Products of residues below 2^61 that 128 bits hold the sum of, with one more residue.
const TERMS: usize = 64;

impl AxisTransforms {
    /// For a prime that is 1 modulo [`RingIndex::modulus_step`].
    pub(crate) fn new(index: RingIndex, reducer: Reducer) -> Self {
        let of_axis = |axis: super::convolution::AxisKernels| {
            let (length, step) = (axis.forward.len(), axis.step);
            let kernels = Both { forward: axis.forward, inverse: axis.inverse };
            let way = if length.is_power_of_two() && length > 1 {
                Way::Cyclic(Cyclic::new(&kernels, &reducer))
            } else {
                let padded = if length < SHORT { None } else { Padded::new(&kernels, &reducer) };
                padded.map_or_else(|| Way::Direct(Direct::new(&kernels)), |p| Way::Padded(p.into()))
            };
            Axis { length, step, way }
        };
        let axes = kernels(index, reducer.modulus()).into_iter().map(of_axis).collect();
        Self { reducer, axes }
    }

    /// Coefficients to evaluations, in place.
    pub(crate) fn forward<W: Word>(&self, row: &mut [W]) {
        self.convolve(row, To::Evaluations);
    }

    /// Evaluations to coefficients, in place.
    pub(crate) fn inverse<W: Word>(&self, row: &mut [W]) {
        self.convolve(row, To::Coefficients);
    }

    /// `a *= b` place by place.
    pub(crate) fn multiply_assign<W: Word>(&self, a: &mut [W], b: &[W]) {
        for (a, b) in a.iter_mut().zip(b) {
            *a = W::from_u64(self.reducer.product(a.to_u64(), b.to_u64()));
        }
    }

    fn convolve<W: Word>(&self, row: &mut [W], to: To) {
        let words = self.axes.iter().map(|axis| axis.length + axis.way.room()).max().unwrap_or(0);
        let mut room = ROOM.take();
        room.resize(words.max(room.len()), 0);
        for axis in &self.axes {
            let (line, rest) = room.split_at_mut(axis.length);
            for block in row.chunks_exact_mut(axis.length * axis.step) {
                for first in 0..axis.step {
                    for (x, word) in line.iter_mut().zip(block[first..].iter().step_by(axis.step)) {
                        *x = word.to_u64();
                    }
                    match &axis.way {
                        Way::Direct(way) => way.convolve(line, rest, to, &self.reducer),
                        Way::Cyclic(way) => way.convolve(line, to, &self.reducer),
                        Way::Padded(way) => way.convolve(line, rest, to),
                    }
                    let words = block[first..].iter_mut().step_by(axis.step);
                    for (word, x) in words.zip(&*line) {
                        *word = W::from_u64(*x);
                    }
                }
            }
        }
        // A line of a secret is secret.
        room[..words].zeroize();
        ROOM.set(room);
    }
}

impl Way {
    /// Words of scratch space, beside the line.
    fn room(&self) -> usize {
        match self {
            Self::Direct(way) => way.0.forward.len(),
            Self::Cyclic(_) => 0,
            Self::Padded(way) => way.kernels.forward.len(),
        }
    }
}

/// The kernels twice in a row, reversed: what a line is multiplied with for place `t` begins at `length - 1 - t`.
#[derive(Debug, Clone)]
struct Direct(Both<Vec<u64>>);

impl Direct {
    fn new(kernels: &Both<Vec<u64>>) -> Self {
        let twice =
            |kernel: &[u64]| kernel.iter().rev().chain(kernel.iter().rev()).copied().collect();
        Self(Both { forward: twice(&kernels.forward), inverse: twice(&kernels.inverse) })
    }

    fn convolve(&self, line: &mut [u64], rest: &mut [u64], to: To, q: &Reducer) {
        let (kernel, copy) = (self.0.of(to), &mut rest[..line.len()]);
        copy.copy_from_slice(line);
        let last = line.len() - 1;
        for (place, x) in line.iter_mut().enumerate() {
            let factors = &kernel[last - place..];
            *x = copy.chunks(TERMS).zip(factors.chunks(TERMS)).fold(0, |sum, (line, factors)| {
                let products = line.iter().zip(factors);
                let add = |sum, (&x, &f)| sum + u128::from(x) * u128::from(f);
                q.reduce(products.fold(u128::from(sum), add))
            });
        }
    }
}

/// Frequencies by radix-2 butterflies.
#[derive(Debug, Clone)]
struct Cyclic {
    /// Powers of a root of the line's order, and of its inverse.
    roots: Vec<Factor>,
    inverse_roots: Vec<Factor>,
    /// By place: frequencies are met in bit-reversed order.
    spectra: Both<Vec<Factor>>,
}

impl Cyclic {
    fn new(kernels: &Both<Vec<u64>>, reducer: &Reducer) -> Self {
        let (q, length) = (reducer.modulus(), kernels.forward.len());
        let root = root_of_order(q, length);
        let powers = |root: u64| {
            let powers = std::iter::successors(Some(1), move |x| Some(q.mul(*x, root)));
            powers.take(length / 2).map(|w| reducer.factor(w)).collect()
        };
        let by_place = |kernel: &[u64]| {
            let spectrum = spectrum(kernel, root, reducer);
            (0..length).map(|i| reducer.factor(spectrum[reversed(i, length.ilog2())])).collect()
        };
        Self {
            roots: powers(root),
            inverse_roots: powers(q.inverse(root)),
            spectra: Both {
                forward: by_place(&kernels.forward),
                inverse: by_place(&kernels.inverse),
            },
        }
    }

    fn convolve(&self, line: &mut [u64], to: To, q: &Reducer) {
        let most = line.len() / 2;
        let halves = || {
            std::iter::successors(Some(1), |half| Some(2 * half)).take_while(|half| *half <= most)
        };
        for half in halves().collect::<Vec<_>>().into_iter().rev() {
            for pair in line.chunks_exact_mut(2 * half) {
                let (low, high) = pair.split_at_mut(half);
                let roots = self.roots.iter().step_by(most / half);
                for ((a, b), root) in low.iter_mut().zip(high).zip(roots) {
                    let difference = *a + q.value() - *b;
                    *a = q.once(*a + *b);
                    *b = q.scaled(difference, *root);
                }
            }
        }
        for (x, factor) in line.iter_mut().zip(self.spectra.of(to)) {
            *x = q.scaled(*x, *factor);
        }
        for half in halves() {
            for pair in line.chunks_exact_mut(2 * half) {
                let (low, high) = pair.split_at_mut(half);
                let roots = self.inverse_roots.iter().step_by(most / half);
                for ((a, b), root) in low.iter_mut().zip(high).zip(roots) {
                    let turned = q.scaled(*b, *root);
                    *b = q.once(*a + q.value() - turned);
                    *a = q.once(*a + turned);
                }
            }
        }
    }
}

/// A line of length `n` behind zeros' end meets a kernel of `2 n - 1` places: what wraps in a negacyclic
/// convolution of that length and more meets places that nobody reads.
#[derive(Debug, Clone)]
struct Padded {
    plan: Plan,
    /// Transformed.
    kernels: Both<Vec<u64>>,
}

impl Padded {
    /// None for primes without roots of unity for it.
    fn new(kernels: &Both<Vec<u64>>, reducer: &Reducer) -> Option<Self> {
        let length = kernels.forward.len();
        let size = (2 * length - 1).next_power_of_two();
        let plan = Plan::new(size, reducer.value())?;
        let transformed = |kernel: &[u64]| {
            // Place `length - 1 + u` of the convolution is that of the line's place `u`.
            let mut long: Vec<u64> = (1..2 * length).map(|i| kernel[i % length]).collect();
            long.resize(size, 0);
            plan.forward(&mut long);
            long
        };
        let both =
            Both { forward: transformed(&kernels.forward), inverse: transformed(&kernels.inverse) };
        Some(Self { kernels: both, plan })
    }

    fn convolve(&self, line: &mut [u64], rest: &mut [u64], to: To) {
        let kernel = self.kernels.of(to);
        let long = &mut rest[..kernel.len()];
        let (start, zeros) = long.split_at_mut(line.len());
        start.copy_from_slice(line);
        zeros.fill(0);
        self.plan.forward(long);
        self.plan.multiply_scaled(long, kernel);
        self.plan.inverse(long);
        line.copy_from_slice(&long[line.len() - 1..][..line.len()]);
    }
}
