//! How far a product is from its value: the variance that readouts report.

use crate::measured::{self, Sizes, Source};
use crate::{Origin, Representation};

/// The number of a stream that is not told.
pub const UNKNOWN_ROW: u32 = u32::MAX;

/// One factor of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Factor {
    /// Which draw it comes from.
    pub origin: Origin,
    /// Which of its streams it is, or [`UNKNOWN_ROW`].
    pub row: u32,
}

/// The law of the errors of one product of streams.
///
/// Independent bits and random arrangements have exact laws. All others are measured, by encoding
/// random values with these very dimensions: how well two dimensions go together differs from pair
/// to pair and from length to length by orders of magnitude.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorLaw {
    representation: Representation,
    /// Bits of the streams as they are.
    length: f64,
    factors: f64,
    sizes: Sizes,
    /// Factors whose points are the same for all rows.
    plain: f64,
}

impl ErrorLaw {
    /// The law of a product of these factors, of streams of `length` bits that are pieces of streams
    /// encoded with `encoded` bits. Factors of one jointly encoded product belong together if their
    /// rows are equal; where that is not told they have the law of random arrangements, which their
    /// products keep either way.
    ///
    /// Cost: where the law is measured, half a million bits of each factor (about a millisecond), or
    /// 32 streams of each if they are longer; once a process for each combination.
    pub fn of(
        factors: &[Factor],
        representation: Representation,
        encoded: usize,
        length: usize,
    ) -> Self {
        let mut budget = u64::MAX;
        Self::within(&mut budget, factors, representation, encoded, length)
    }

    /// As [`Self::of`], for factors and lengths that somebody else states: the bits that measuring
    /// encodes are taken from a budget. A law for which nothing is left is that of independent bits,
    /// to which no products of dimensions that encoders put together are inferior.
    pub fn within(
        budget: &mut u64,
        factors: &[Factor],
        representation: Representation,
        encoded: usize,
        length: usize,
    ) -> Self {
        let sources = Source::of(factors);
        let plain = sources.iter().filter(|source| source.is_plain()).count() as f64;
        let sizes = measured::sizes(&sources, representation, encoded, length, budget);
        let (length, factors) = (length as f64, factors.len().max(1) as f64);
        Self { representation, length, factors, sizes, plain }
    }

    /// Whether the bits of the product are independent.
    pub fn is_binomial(&self) -> bool {
        self.sizes == Sizes::Binomial
    }

    /// Whether this is the law of one stream, not of a product.
    pub fn is_single(&self) -> bool {
        self.factors == 1.0
    }

    /// Variance of a product whose value is `value`.
    ///
    /// Independent bits: `(1 - m^2) / L` inverted bipolar, `m (1 - m) / L` unipolar
    /// (`koseki2022hesc` Proposition 1, for the bits of the product).
    ///
    /// All others: the analysis of variance of a product has parts of one factor, which are the
    /// roundings of their weights, of two factors, and of more. The parts of two and of more are
    /// shares of those of random arrangements: with variances `v_i` and squared means `s_i` of the
    /// factors' bits, `sum over pairs of v_i v_j prod s` and so on, over `L`. They depend on the
    /// factors, which a readout does not know; equal ones make them largest, and factors spread
    /// uniformly have `k / (k + 1)` of that where they are large: a value in between is taken.
    pub fn variance(&self, value: f64) -> f64 {
        let (k, m) = (self.factors, value.abs().min(1.0));
        match self.sizes {
            Sizes::Binomial => self.bit_variance(m) / self.length,
            Sizes::Even { variance } => variance,
            Sizes::Single { rounding, spread } => {
                (rounding + spread * self.bit_variance(m) - self.bias(value).powi(2)).max(0.0)
            }
            Sizes::Product { singles, pairs, more } => {
                // A value that is read near one may have been less: its own error counts.
                let seen = m / (1.0 + 2.0 * (1.0 + pairs.max(more)) / self.length);
                let one = seen.powf(1.0 / k);
                let (square, variance) = (one * one, self.bit_variance(one));
                let others = square.powf(k - 2.0);
                let two = k * (k - 1.0) / 2.0 * variance * variance * others;
                let all = (variance + square).powf(k)
                    - square.powf(k)
                    - k * variance * square.powf(k - 1.0);
                let unequal = (k / (k + 1.0)).powf(0.25);
                let interplay = pairs * two + more * (all - two).max(0.0);
                let bit = measured::rounding(self.representation, self.length);
                unequal * interplay / self.length + singles * square.powf(k - 1.0) + bit
            }
        }
    }

    /// [`ErrorLaw::variance`] for a value that was read off streams: that of independent bits by
    /// Laplace's rule, so that equal bits do not claim certainty.
    pub fn variance_of_estimate(&self, value: f64) -> f64 {
        if !self.is_binomial() {
            return self.variance(value);
        }
        let share = match self.representation {
            Representation::Unipolar => value,
            Representation::InvertedBipolar => (1.0 - value) / 2.0,
        };
        self.representation.variance(share * self.length, self.length)
    }

    /// What all products of these factors err in common: the plain Sobol sequence rounds every weight
    /// up, by half a one on average.
    pub fn bias(&self, value: f64) -> f64 {
        let one = value.abs().min(1.0).powf(1.0 / self.factors);
        let half = match self.representation {
            Representation::Unipolar => 0.5,
            Representation::InvertedBipolar => 1.0,
        };
        half * self.plain / self.length * one.powf(self.factors - 1.0)
    }

    /// Variance of what a bit contributes, of a stream of that value.
    fn bit_variance(&self, value: f64) -> f64 {
        match self.representation {
            Representation::Unipolar => value * (1.0 - value),
            Representation::InvertedBipolar => 1.0 - value * value,
        }
    }
}

/// How many factors of one jointly encoded product these are, if they are its first and no others:
/// the errors of such prefixes are differences of neighbours, so that those of `k` and `k + 1`
/// factors have a covariance of minus half their variance and others none.
pub fn joint_prefix(factors: &[Factor]) -> Option<u32> {
    let mut found = 0u64;
    let mut head = None;
    for Factor { origin, row } in factors {
        let Origin::Joint { source, first, factor, .. } = *origin else { return None };
        if *head.get_or_insert((source, first, *row)) != (source, first, *row)
            || *row == UNKNOWN_ROW
            || factor >= 64
        {
            return None;
        }
        found |= 1 << factor;
    }
    let count = factors.len() as u32;
    (count > 0 && found.trailing_ones() == count && found.count_ones() == count).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;

    fn law(generator: Generator, dimensions: &[u32], length: usize) -> ErrorLaw {
        let factor = |&dimension: &u32| Factor { origin: origin(generator, dimension), row: 0 };
        let factors: Vec<Factor> = dimensions.iter().map(factor).collect();
        ErrorLaw::of(&factors, Representation::InvertedBipolar, length, length)
    }

    fn origin(generator: Generator, dimension: u32) -> Origin {
        match generator {
            Generator::Bernoulli | Generator::ExactWeight => {
                Origin::Draw { generator, source: 0, draw: dimension.into() }
            }
            _ => Origin::Dimension { generator, dimension },
        }
    }

    /// Two factors: `(1 - x^2)(1 - y^2) / (L - 1)`, between equal and spread factors.
    #[test]
    fn exact_weights_have_the_law_of_random_arrangements() {
        let found = law(Generator::ExactWeight, &[0, 1], 1024).variance(0.25);
        let equal = 0.75f64.powi(2) / 1023.0;
        assert!(found < equal * 1.01 && found > equal * 0.8, "{found} {equal}");
        assert!(law(Generator::Bernoulli, &[0, 1], 1024).is_binomial());
    }

    #[test]
    fn the_law_knows_the_pair() {
        let at_zero = |a, b| law(Generator::Sobol, &[a, b], 256).variance(0.0).sqrt();
        assert!(at_zero(0, 1) < 0.025);
        // These are the same stream.
        assert!(at_zero(90, 112) > 0.25);
        assert!(law(Generator::Sobol, &[3], 1024).variance(0.3).sqrt() < 1.0 / 1024.0);
        // A thousand bits are six nets.
        assert!(law(Generator::Sobol, &[3], 1000).variance(0.3).sqrt() > 1.1 / 1024.0);
    }

    #[test]
    fn prefixes_are_known() {
        let joint = |first, factor, row| Factor {
            origin: Origin::Joint { source: 1, first, factor, dimension: factor },
            row,
        };
        assert_eq!(joint_prefix(&[joint(0, 1, 5), joint(0, 0, 5)]), Some(2));
        for other in [
            vec![],
            vec![joint(0, 1, 5)],
            vec![joint(0, 0, 5), joint(0, 2, 5)],
            vec![joint(0, 0, 5), joint(0, 1, 6)],
            vec![joint(0, 0, 5), joint(1, 1, 5)],
        ] {
            assert_eq!(joint_prefix(&other), None);
        }
    }
}
