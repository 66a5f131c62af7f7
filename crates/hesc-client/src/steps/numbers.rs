//! Functions of each number by itself, some with parameters of its column.

use super::functions::{Function, Power};
use super::quantiles::{NORMAL_ENDS, Output, quantile};
use super::range::{Range, clipped};

/// A function of each number by itself. Missing ones stay missing.
#[derive(Debug)]
pub(super) enum Each {
    /// `(x - centre) * factor`.
    Affine {
        centre: Vec<f64>,
        factor: Vec<f64>,
    },
    /// Less a centre, over a scale.
    Standard {
        centre: Vec<f64>,
        scale: Vec<f64>,
    },
    /// `x * factor + offset`.
    Stretch {
        factor: Vec<f64>,
        offset: Vec<f64>,
    },
    /// Numbers brought within limits.
    Clip {
        low: Vec<f64>,
        high: Vec<f64>,
    },
    Function {
        inputs: usize,
        function: Function,
    },
    Power {
        power: Power,
        lambdas: Vec<f64>,
    },
    /// The quantiles of each column one after the other, and the shares that they have.
    Quantiles {
        references: Vec<f64>,
        quantiles: Vec<f64>,
        output: Output,
    },
}

/// Changes every number by two parameters of its column.
#[inline(always)]
fn each(numbers: &mut [f64], a: &[f64], b: &[f64], of: impl Fn(f64, f64, f64) -> f64) {
    for row in numbers.chunks_exact_mut(a.len()) {
        for ((x, &a), &b) in row.iter_mut().zip(a).zip(b) {
            *x = of(*x, a, b);
        }
    }
}

/// In these very operations: bins behind it tell numbers apart by their last bits.
fn standard(x: f64, centre: f64, scale: f64) -> f64 {
    (x - centre) / scale
}

impl Each {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Affine { .. } => "affine",
            Self::Standard { .. } => "standard",
            Self::Stretch { .. } => "stretch",
            Self::Clip { .. } => "clip",
            Self::Function { function, .. } => function.name(),
            Self::Power { .. } => "power",
            Self::Quantiles { .. } => "quantiles",
        }
    }

    pub(super) fn width(&self) -> usize {
        match self {
            Self::Affine { centre: a, .. }
            | Self::Standard { centre: a, .. }
            | Self::Stretch { factor: a, .. }
            | Self::Clip { low: a, .. }
            | Self::Power { lambdas: a, .. } => a.len(),
            Self::Function { inputs, .. } => *inputs,
            Self::Quantiles { references, quantiles, .. } => quantiles.len() / references.len(),
        }
    }

    /// Changes rows in their place.
    pub(super) fn apply(&self, numbers: &mut [f64]) {
        match self {
            Self::Affine { centre, factor } => {
                each(numbers, centre, factor, |x, centre, factor| (x - centre) * factor)
            }
            Self::Standard { centre, scale } => each(numbers, centre, scale, standard),
            Self::Stretch { factor, offset } => {
                each(numbers, factor, offset, |x, factor, offset| x * factor + offset)
            }
            Self::Clip { low, high } => each(numbers, low, high, clipped),
            Self::Function { function, .. } => {
                let of = function.call();
                numbers.iter_mut().for_each(|x| *x = of(*x));
            }
            Self::Power { power, lambdas } => {
                each(numbers, lambdas, lambdas, |x, lambda, _| power.of(lambda, x))
            }
            Self::Quantiles { references, quantiles, output } => {
                for row in numbers.chunks_exact_mut(self.width()) {
                    for (x, own) in row.iter_mut().zip(quantiles.chunks_exact(references.len())) {
                        *x = quantile(*x, own, references, *output);
                    }
                }
            }
        }
    }

    /// Limits of a column after it.
    pub(super) fn limits(&self, column: usize, of: Range) -> Range {
        match self {
            Self::Affine { centre, factor } => {
                let (centre, factor) = (centre[column], factor[column]);
                of.scaled(factor, |x| (x - centre) * factor)
            }
            Self::Standard { centre, scale } => {
                let (centre, scale) = (centre[column], scale[column]);
                of.scaled(scale, |x| standard(x, centre, scale))
            }
            Self::Stretch { factor, offset } => {
                let (factor, offset) = (factor[column], offset[column]);
                of.scaled(factor, |x| x * factor + offset)
            }
            Self::Clip { low, high } => {
                Range { whole: false, ..of.within(low[column], high[column]) }
            }
            Self::Function { function, .. } => function.limits(of),
            Self::Power { power, lambdas } => of.monotone(|x| power.of(lambdas[column], x)),
            Self::Quantiles { output: Output::Uniform, .. } => Range::of(0.0, 1.0),
            Self::Quantiles { .. } => Range::of(NORMAL_ENDS[0], NORMAL_ENDS[1]),
        }
    }
}
