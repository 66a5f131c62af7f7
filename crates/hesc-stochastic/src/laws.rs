//! How far a product is from its value: the variance that readouts report.

use crate::generators::deterministic;
use crate::{Generator, Origin, Representation};

/// Most factors with constants of their own; more have the law of so many.
const MEASURED_FACTORS: usize = 10;

/// Constants `(c, a)` of the law `c L^-a` for products of 1 to 10 factors, in the unit of
/// [`ErrorLaw::variance`]; from `python -m scripts.error_laws`, which measures them for lengths
/// from 64 to 8192.
type Constants = [(f64, f64); MEASURED_FACTORS];

include!("../data/error_laws.rs");

/// Which law a stream follows, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// Prefixes of a jointly encoded product: weights are right to about a bit.
    Prefix,
    /// Deterministic products: exact but for the rounding of each factor to this many levels.
    Levels(u32),
    /// Measured for products of one structured generator.
    Measured(Generator),
    /// Random arrangements of exact weight; also bounds what meets such an arrangement.
    ExactWeight,
    /// Independent bits.
    Binomial,
}

/// How the factors of a product were encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Apart from each other.
    Independent,
    /// Together, as parts of one product that is not this one: no worse than exact weights.
    SameProduct,
    /// Together: a prefix of a product and its next factor.
    NextFactor,
}

/// A law and the number of factors of the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorLaw {
    /// The law.
    pub law: Law,
    /// Factors multiplied.
    pub factors: u32,
}

impl ErrorLaw {
    /// The law of a fresh stream.
    pub fn of(origin: &Origin, stream_length: usize) -> Self {
        let law = match *origin {
            Origin::Draw { generator: Generator::ExactWeight, .. } => Law::ExactWeight,
            Origin::Draw { .. } => Law::Binomial,
            Origin::Dimension { generator, .. } => Law::Measured(generator),
            Origin::Joint { .. } => Law::Prefix,
            Origin::Deterministic { generator, factors, .. } => {
                let levels = deterministic::split(generator, factors, stream_length);
                let least = levels.and_then(|levels| levels.into_iter().min());
                Law::Levels(least.unwrap_or(1) as u32)
            }
        };
        Self { law, factors: 1 }
    }

    /// The law of a product.
    pub fn times(self, other: Self, relation: Relation) -> Self {
        // Joint streams are Sobol streams for all but each other.
        let alone = |law| match law {
            Law::Prefix | Law::Measured(Generator::Joint | Generator::PlainSobol) => {
                Law::Measured(Generator::Sobol)
            }
            law => law,
        };
        let law = match (self.law, other.law) {
            (Law::Prefix, Law::Prefix) if relation == Relation::NextFactor => Law::Prefix,
            _ if relation != Relation::Independent => self.law.max(other.law).max(Law::ExactWeight),
            (Law::Levels(a), Law::Levels(b)) => Law::Levels(a.min(b)),
            (a, b) if alone(a) == alone(b) => alone(a),
            // A shift register is about as good as independent bits.
            (Law::Measured(Generator::Lfsr), _) | (_, Law::Measured(Generator::Lfsr)) => {
                Law::Binomial
            }
            (a, b) => a.max(b).max(Law::ExactWeight),
        };
        Self { law, factors: self.factors.saturating_add(other.factors) }
    }

    /// The law that holds for both.
    pub fn or(self, other: Self) -> Self {
        Self { law: self.law.max(other.law), factors: self.factors.max(other.factors) }
    }

    /// Variance of a product whose value is `value`.
    ///
    /// Independent bits: `(1 - m^2) / L` inverted bipolar, `m (1 - m) / L` unipolar
    /// (`koseki2022hesc` Proposition 1, for the bits of the product).
    ///
    /// Exact weight: `k` random arrangements have the variance `1 + (k - 1) m^2 - m^2 sum 1/x_i^2`
    /// over `L`, plus what the rounding of weights adds (the terms of the analysis of variance of
    /// two and more factors; those of one vanish). It depends on the factors, which a readout does
    /// not know; equal ones make it largest: `1 + (k - 1) m^2 - k |m|^(2 - 2/k)`. Unipolar:
    /// `m + (k - 1) m^2 - k m^(2 - 1/k)`.
    ///
    /// Structured generators: that shape times the square of the measured `c L^-a`.
    pub fn variance(self, value: f64, length: f64, representation: Representation) -> f64 {
        let k = f64::from(self.factors.max(1));
        let m = value.abs().min(1.0);
        let (slope, shape) = match representation {
            Representation::InvertedBipolar => {
                (2.0, 1.0 + (k - 1.0) * m * m - k * m.powf(2.0 - 2.0 / k))
            }
            Representation::Unipolar => (1.0, m + (k - 1.0) * m * m - k * m.powf(2.0 - 1.0 / k)),
        };
        // One bit rounded at random has a variance of at most a quarter.
        let rounding = slope * slope / 4.0 / (length * length);
        let arranged = shape.max(0.0);
        match self.law {
            Law::Prefix => rounding,
            Law::Levels(n) => k * slope * slope / 4.0 / f64::from(n).powi(2),
            Law::Measured(generator) => {
                let (c, a) =
                    constants(generator)[(self.factors.max(1) as usize).min(MEASURED_FACTORS) - 1];
                let size = if self.factors <= 1 { slope * slope / 4.0 } else { arranged };
                (c * length.powf(-a)).powi(2) * size + (k - 1.0) * rounding
            }
            Law::ExactWeight => arranged / (length - 1.0).max(1.0) + k * rounding,
            Law::Binomial => match representation {
                Representation::InvertedBipolar => (1.0 - m * m) / length,
                Representation::Unipolar => m * (1.0 - m) / length,
            },
        }
    }
}

/// The measured constants of a generator.
fn constants(generator: Generator) -> &'static Constants {
    match generator {
        Generator::Lfsr => &LFSR,
        Generator::PlainSobol => &PLAIN_SOBOL,
        Generator::Halton => &HALTON,
        Generator::Hammersley => &HAMMERSLEY,
        Generator::Lattice => &LATTICE,
        _ => &SOBOL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_take_the_worst_law_and_joint_prefixes_keep_theirs() {
        let law = |law| ErrorLaw { law, factors: 1 };
        let sobol = Law::Measured(Generator::Sobol);
        let halton = Law::Measured(Generator::Halton);
        let related = |a, b, relation| law(a).times(law(b), relation).law;
        let times = |a, b| related(a, b, Relation::Independent);
        assert_eq!(related(Law::Prefix, Law::Prefix, Relation::NextFactor), Law::Prefix);
        assert_eq!(related(Law::Prefix, Law::Prefix, Relation::SameProduct), Law::ExactWeight);
        assert_eq!(times(Law::Prefix, Law::Prefix), sobol);
        assert_eq!(times(Law::Prefix, sobol), sobol);
        assert_eq!(times(sobol, halton), Law::ExactWeight);
        assert_eq!(times(sobol, Law::Binomial), Law::Binomial);
        assert_eq!(times(Law::Levels(8), Law::Levels(4)), Law::Levels(4));
        assert_eq!(law(sobol).times(law(sobol), Relation::Independent).factors, 2);
        assert_eq!(law(sobol).or(law(Law::ExactWeight)).law, Law::ExactWeight);
    }

    /// Two factors: `(1 - x^2)(1 - y^2) / (L - 1)`, and nothing is larger than equal factors.
    #[test]
    fn the_exact_weight_law_bounds_all_factors_of_a_product() {
        for (x, y) in [(0.5, 0.5), (0.9, 0.1), (0.3, -0.8)] {
            let law = ErrorLaw { law: Law::ExactWeight, factors: 2 };
            let found = law.variance(x * y, 1024.0, Representation::InvertedBipolar);
            let exact = (1.0 - x * x) * (1.0 - y * y) / 1023.0 + 2.0 / 1024f64.powi(2);
            assert!(found >= exact * (1.0 - 1e-12), "{x} {y}: {found} {exact}");
            if x == y {
                assert!((found / exact - 1.0).abs() < 1e-12);
            }
        }
    }
}
