//! How far a product is from its value: the variance that readouts report.

use std::ops::Range;
use std::sync::Arc;

use crate::Representation;
use crate::bands::{band, of_band};
use crate::factor::Factor;
use crate::measured::{self, Excess, Sizes};
use crate::plain_points::PlainPoints;
use crate::selection_law::{KNOTS, SelectionLaw};
use crate::source::Source;

/// The square of how many deviations from zero a value may be read of a product that is zero.
const EXPLAINED: f64 = 4.0;

/// The square of how many times what factors agree in is never read.
const REACHED: f64 = 16.0;

/// The least product for which factors are told apart; below, errors grow by no more than a seventh.
const LEAST_SEEN: f64 = 1e-3;

/// The law of the errors of one product of streams.
///
/// Independent bits and random arrangements have exact laws. All others are measured, by encoding
/// random values with these very dimensions: how well two dimensions go together differs from pair
/// to pair and from length to length by orders of magnitude.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorLaw {
    representation: Representation,
    /// Bits of the streams as they are, and as they were encoded.
    length: f64,
    encoded: f64,
    factors: f64,
    sizes: Sizes,
    /// How far the mean of the bits at hand is from that of all that were encoded.
    excess: Excess,
    /// What the factors agree in where they are next to zero: the mean square of what is read there.
    agreement: f64,
    /// The points of a stream that all rows compare with, and what all err in common where single values are
    /// not seen.
    points: Option<Arc<PlainPoints>>,
    bias: f64,
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
        let sizes = measured::sizes(&sources, representation, encoded, length, budget);
        let runs = (0..encoded / length).map(|piece| piece * length..(piece + 1) * length);
        let pieces = runs.map(|run| Vec::from([run]));
        let agreement =
            measured::agreement(&sources, representation, encoded, pieces.collect(), budget);
        let points = match sources[..] {
            // As long as its streams could be measured, its points can be sorted.
            [source] if encoded == length && sizes != Sizes::Binomial => {
                source.plain_dimension().and_then(|of| PlainPoints::of(of, length, representation))
            }
            _ => None,
        };
        // What is averaged over all pieces is measured with the pieces' scatter.
        let (encoded, length) = (length as f64, length as f64);
        let (factors, excess) = (factors.len().max(1) as f64, Excess::default());
        let bias = 0.0;
        Self { representation, length, encoded, factors, sizes, excess, agreement, points, bias }
    }

    /// The law of the mean over a part of streams that were encoded with `encoded` bits: these runs of
    /// positions, in order and apart. The budget is that of [`Self::within`].
    pub fn of_part(
        budget: &mut u64,
        factors: &[Factor],
        representation: Representation,
        encoded: usize,
        part: &[Range<usize>],
    ) -> Self {
        let whole = Self::within(budget, factors, representation, encoded, encoded);
        let length: usize = part.iter().map(Range::len).sum();
        if length == encoded || matches!(whole.sizes, Sizes::Binomial | Sizes::Selected(_)) {
            return Self { length: length as f64, ..whole };
        }
        let sources = Source::of(factors);
        let excess = measured::excess(&sources, representation, encoded, part, budget);
        let agreement =
            measured::agreement(&sources, representation, encoded, vec![part.to_vec()], budget);
        Self { length: length as f64, excess, agreement, points: None, ..whole }
    }

    /// What the means over two parts of the same streams err together: a law whose variance is their
    /// covariance. None for independent bits, selections and arrangements, of which [`Self::covariance`] tells,
    /// and where nothing is left of the budget.
    pub fn between_parts(
        budget: &mut u64,
        factors: &[Factor],
        representation: Representation,
        encoded: usize,
        parts: [&[Range<usize>]; 2],
    ) -> Option<Self> {
        let whole = Self::within(budget, factors, representation, encoded, encoded);
        let all = |part: &[Range<usize>]| part.iter().map(Range::len).sum::<usize>() == encoded;
        match whole.sizes {
            Sizes::Binomial | Sizes::Selected(_) => return None,
            _ if parts.iter().all(|part| all(part)) => return Some(whole),
            _ => {}
        }
        let sources = Source::of(factors);
        let spread = measured::excess_together(&sources, representation, encoded, parts, budget)?;
        let excess = Excess { rounding: 0.0, spread };
        Some(Self { excess, points: None, ..whole })
    }

    /// Whether the bits of the product are independent.
    pub fn is_binomial(&self) -> bool {
        self.sizes == Sizes::Binomial
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
    /// factors, which a readout does not know: the mean over factors that are spread evenly is taken,
    /// among all whose product is the value. Equal factors err up to a quarter more.
    pub fn variance(&self, value: f64) -> f64 {
        self.variance_knowing(value, &[])
    }

    /// The same where the factors' values are known, none for those that are not.
    pub fn variance_knowing(&self, value: f64, factors: &[f64]) -> f64 {
        self.variance_of_whole(value, factors) + self.variance_of_excess(value)
    }

    /// The covariance of the means over two parts of the same streams, of which `common` positions are
    /// the same, for streams that are not of independent bits. It is that of random arrangements: beyond
    /// the error of the whole, what the parts err against it has the correlation of two samples from one
    /// arrangement. Of a selection this is so for what its operands have in common with it; its own choices are
    /// independent from position to position.
    pub fn covariance(&self, other: &Self, common: usize, value: f64, factors: &[f64]) -> f64 {
        if let Sizes::Selected(law) = self.sizes {
            let share = law.share(value, self.representation.lowest());
            let of_bit = self.representation.variance_of_value(value.abs().min(1.0));
            return of_bit * (self.overlap(other, common) - (1.0 - share) / self.encoded);
        }
        let whole = self.variance_of_whole(value, factors);
        let excess = (self.variance_of_excess(value) * other.variance_of_excess(value)).sqrt();
        if excess == 0.0 {
            return whole;
        }
        let sampled = |law: &Self| 1.0 / law.length - 1.0 / self.encoded;
        let samples = sampled(self) * sampled(other);
        whole + excess * (self.overlap(other, common) - 1.0 / self.encoded) / samples.sqrt()
    }

    /// The covariance of two means of independent bits of variance 1, `common` of them the same.
    pub fn overlap(&self, other: &Self, common: usize) -> f64 {
        common as f64 / (self.length * other.length)
    }

    /// What was read may be what the factors agree in and nothing of their product: as far as the law of the
    /// product, of this variance, does not explain it.
    fn variance_of_agreement(&self, value: f64, explained: f64) -> f64 {
        match self.representation {
            Representation::Unipolar => self.agreement,
            Representation::InvertedBipolar => {
                let square = value * value;
                let reached = square <= REACHED * self.agreement;
                let left = (square - EXPLAINED * explained).max(0.0);
                if reached { self.agreement.min(left) } else { 0.0 }
            }
        }
    }

    fn variance_of_excess(&self, value: f64) -> f64 {
        if let Sizes::Selected(law) = self.sizes {
            // What operands err makes up for itself over the whole only.
            let share = law.share(value, self.representation.lowest());
            let missed = 1.0 - self.length / self.encoded;
            return (1.0 - share) * missed * self.variance_of_bits(value);
        }
        let Excess { rounding, spread } = self.excess;
        // As for independent bits, equal ones do not claim certainty.
        rounding + spread * self.length * self.variance_of_bits(value)
    }

    /// The variance where all bits are at hand that were encoded.
    fn variance_of_whole(&self, value: f64, factors: &[f64]) -> f64 {
        let m = value.abs().min(1.0);
        if let Some(points) = &self.points {
            return points.variance(value);
        }
        match self.sizes {
            Sizes::Binomial => self.representation.variance_of_value(m) / self.length,
            Sizes::Selected(law) => {
                let of_bits = self.representation.variance_of_value(m) / self.length;
                self.variance_of_selection(law, value, of_bits)
            }
            Sizes::Even { variance } => variance,
            Sizes::Single { rounding, spread } => {
                let square = rounding + spread * self.representation.variance_of_value(m);
                (square - self.bias.powi(2)).max(0.0)
            }
            Sizes::Product { singles, pairs, more, bands } => {
                let of_pairs = if factors.len() as f64 == self.factors {
                    measured::parts(factors, singles, self.representation, self.encoded)
                } else {
                    // A value that is read near one may have been less, and one that is read a little off
                    // zero is mostly that of a product nearer to zero and its error.
                    let most = pairs.max(more);
                    let below = m / (1.0 + 2.0 * (1.0 + most) / self.encoded);
                    let square = match self.representation {
                        Representation::Unipolar => below * below,
                        Representation::InvertedBipolar => {
                            below * below - 2.0 * most * (1.0 - below * below) / self.encoded
                        }
                    };
                    self.mean_parts(square.max(0.0).sqrt(), singles)
                };
                let [single, two, all] = of_pairs;
                let bit = measured::rounding(self.representation, self.encoded);
                let place = band(m, self.factors, self.representation);
                let share = of_band(&bands, place);
                single + share * (pairs * two + more * all) + bit
            }
        }
    }

    /// What roundings give, and random arrangements in parts of two and of more factors: its mean over
    /// factors that are spread evenly and have this product. Their logarithms are uniform on a simplex
    /// then, whose exponential moments are series.
    fn mean_parts(&self, product: f64, singles: f64) -> [f64; 3] {
        let (k, m) = (self.factors, product.max(LEAST_SEEN));
        // A bit's variance is `x^(2 - rate) - x^2`.
        let rate = match self.representation {
            Representation::Unipolar => 1.0,
            Representation::InvertedBipolar => 2.0,
        };
        let reach = -rate * m.ln();
        // Means of `x^-rate` of one factor and of the product of two.
        let (mut one, mut two, mut term, mut n) = (0.0, 0.0, 1.0, 0.0);
        while term > 1e-6 * one {
            one += term;
            two += (n + 1.0) * term;
            n += 1.0;
            term *= reach / (n + k - 1.0);
        }
        let square = m * m;
        let pairs = square * k * (k - 1.0) / 2.0 * (two - 2.0 * one + 1.0);
        let all = m.powf(2.0 - rate) - square - k * square * (one - 1.0);
        let single = singles * square.powf((k - 1.0) / k);
        [single, pairs.max(0.0) / self.encoded, (all - pairs).max(0.0) / self.encoded]
    }

    /// [`ErrorLaw::variance`] for a value that was read off streams: that of independent bits by
    /// Laplace's rule, so that equal bits do not claim certainty. `factors` as in
    /// [`Self::variance_knowing`].
    pub fn variance_of_estimate(&self, value: f64, factors: &[f64]) -> f64 {
        let of_bits = self.variance_of_bits(value);
        let seen = self.representation.variance_of_value(value.abs().min(1.0)) / self.length;
        let hidden = (of_bits - seen).max(0.0);
        let own = match self.sizes {
            Sizes::Binomial => of_bits,
            Sizes::Selected(law) => {
                self.variance_of_selection(law, value, of_bits) + self.variance_of_excess(value)
            }
            // Equal bits of a short stream do not claim certainty here either.
            Sizes::Single { spread, .. } if self.points.is_none() => {
                self.variance_knowing(value, factors) + spread * self.length * hidden
            }
            Sizes::Product { pairs, more, .. }
                if self.representation == Representation::Unipolar =>
            {
                self.variance_knowing(value, factors) + pairs.max(more).min(1.0) * hidden
            }
            _ => self.variance_knowing(value, factors),
        };
        own + self.variance_of_agreement(value, own)
    }

    /// The variance of a selection whose independent bits would have this one. Beyond the outermost values that a
    /// law is told at, next to an end of the range, independent bits scatter less and less; what a structured
    /// stream errs does not, and is no less than the rounding to whole bits.
    fn variance_of_selection(&self, law: SelectionLaw, value: f64, of_bits: f64) -> f64 {
        let lowest = self.representation.lowest();
        let share = law.share(value, lowest);
        let told =
            value.clamp(SelectionLaw::knot(0, lowest), SelectionLaw::knot(KNOTS - 1, lowest));
        let there = self.representation.variance_of_value(told.abs()) / self.length;
        let lost = if told == value { 0.0 } else { (there - of_bits).max(0.0) };
        let scatter = share * (of_bits + (1.0 - share) * lost);
        scatter.max(measured::rounding(self.representation, self.length))
    }

    /// The variance of the mean of independent bits by Laplace's rule.
    fn variance_of_bits(&self, value: f64) -> f64 {
        let share = match self.representation {
            Representation::Unipolar => value,
            Representation::InvertedBipolar => (1.0 - value) / 2.0,
        };
        self.representation.variance(share * self.length, self.length)
    }

    /// What a stream of the plain Sobol sequence errs for certain: all rows compare with the same points, so
    /// that a number of ones says between which of them the value is.
    pub fn bias(&self, value: f64) -> f64 {
        self.points.as_ref().map_or(self.bias, |points| points.bias(value))
    }

    /// The law of the mean of several streams, whose single values are not seen.
    #[must_use]
    pub fn merged(&self) -> Self {
        let bias = self.points.as_ref().map_or(0.0, |points| points.mean_bias());
        Self { points: None, bias, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factor::joint_prefix;
    use crate::{Generator, Origin};

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
        // The mean of (1 - x^2)(1 - y^2) for x uniform in logarithms: 1 + m^2 - (1 - m^2) / ln(1 / m).
        let spread = (1.0625 - 0.9375 / 4f64.ln()) / 1024.0;
        assert!((found / spread - 1.0).abs() < 0.02, "{found} {spread}");
        // Factors that are known are taken as they are.
        let known = law(Generator::ExactWeight, &[0, 1], 1024).variance_knowing(0.25, &[0.5, 0.5]);
        assert!((known / equal - 1.0).abs() < 0.02, "{known} {equal}");
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
