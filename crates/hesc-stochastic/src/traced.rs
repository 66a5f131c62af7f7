//! Streams in the clear that know where they come from: what products they allow, and what they err.

use std::collections::HashSet;

use crate::bit_streams::BitStreams;
use crate::sums;
use crate::{
    ErrorLaw, Estimate, Factor, Generator, Operand, Origin, Representation, SelectionLaw, Selector,
    StochasticError, UNKNOWN_ROW,
};

/// Streams of one call of an encoder, or what gates and sums made of such.
///
/// ```
/// use hesc_stochastic::{Encoder, EncoderConfig, Generator, Representation, TracedStreams};
///
/// let representation = Representation::InvertedBipolar;
/// let mut encoder = Encoder::new(EncoderConfig {
///     generator: Generator::Sobol,
///     representation,
///     stream_length: 1024,
///     first_dimension: 0,
///     factors: 2,
///     random_state: 7,
/// });
/// let x = TracedStreams::encoded(encoder.encode(&[0.5, -0.8])?, representation);
/// let y = TracedStreams::encoded(encoder.encode(&[0.25, 0.5])?, representation);
/// let product = &x.multiply(&y)?.estimates()[0];
/// assert!((product.value - 0.125).abs() < 4.0 * product.standard_error);
/// // One stream is no second sample of itself.
/// assert!(x.multiply(&x.complement()).is_err());
/// # Ok::<(), hesc_stochastic::StochasticError>(())
/// ```
#[derive(Debug, Clone)]
pub struct TracedStreams {
    bits: BitStreams,
    representation: Representation,
    /// Where the factors come from.
    origins: Vec<Origin>,
    /// The factors that they have the law of. Sums have none: their bits follow a circuit, and no
    /// product takes them.
    law: Option<Vec<Factor>>,
    /// Whether these are the complements of streams of that law.
    mirrored: bool,
    /// Variances of the values apart from the law's, one for each stream; empty for none.
    variances: Vec<f64>,
    /// Whether the errors of the streams are independent of each other.
    independent: bool,
    /// Whether these are an encoder's streams, unchanged.
    fresh: bool,
}

/// Factors with the law of independent bits, which no gate on structured streams exceeds.
fn independent_bits() -> Vec<Factor> {
    let origin = Origin::Draw { generator: Generator::Bernoulli, source: 0, draw: 0 };
    vec![Factor { origin, row: UNKNOWN_ROW }]
}

impl TracedStreams {
    /// What [`crate::Encoder::encode`] returned.
    pub fn encoded((bits, origin): (BitStreams, Origin), representation: Representation) -> Self {
        // Streams in the clear do not remember which of a call they are.
        let law = Some(vec![Factor { origin, row: UNKNOWN_ROW }]);
        // All streams of the plain sequence, and of deterministic factors, have the same errors.
        let alike = matches!(
            origin,
            Origin::Deterministic { .. }
                | Origin::Dimension { generator: Generator::PlainSobol, .. }
        );
        Self {
            bits,
            representation,
            origins: vec![origin],
            law,
            mirrored: false,
            variances: Vec::new(),
            independent: !alike,
            fresh: true,
        }
    }

    /// The bits.
    pub fn bits(&self) -> &BitStreams {
        &self.bits
    }

    /// What a share of ones means.
    pub fn representation(&self) -> Representation {
        self.representation
    }

    /// All draws that they depend on.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// The draw of streams that may be encrypted.
    ///
    /// # Errors
    /// [`StochasticError::Computed`] for what is not an encoder's.
    pub fn origin(&self) -> Result<Origin, StochasticError> {
        match self.origins[..] {
            [origin] if self.fresh => Ok(origin),
            _ => Err(StochasticError::Computed),
        }
    }

    /// The values.
    pub fn values(&self) -> Vec<f64> {
        self.bits.values(self.representation)
    }

    /// Values and standard errors. Cost: that of [`ErrorLaw::of`] once a process.
    pub fn estimates(&self) -> Vec<Estimate> {
        let length = self.bits.stream_length();
        let law = self.law.as_ref();
        let law = law.map(|factors| ErrorLaw::of(factors, self.representation, length, length));
        let estimate = |(stream, value): (usize, f64)| {
            let lawful = if self.mirrored { self.representation.complement(value) } else { value };
            let by_law = law.as_ref().map_or(0.0, |law| {
                law.variance_of_estimate(lawful, &[]) + law.bias(lawful).powi(2)
            });
            Estimate { value, standard_error: (by_law + self.variance(stream)).sqrt() }
        };
        self.values().into_iter().enumerate().map(estimate).collect()
    }

    /// Products of the representation: exclusive or, or conjunction.
    ///
    /// # Errors
    /// [`StochasticError::Representations`], [`StochasticError::Correlated`] for streams of one draw,
    /// [`StochasticError::Ordered`] for what a circuit ordered, [`StochasticError::Shape`].
    pub fn multiply(&self, other: &Self) -> Result<Self, StochasticError> {
        self.check_alike(other)?;
        let shared = |b: &&Origin| self.origins.iter().any(|a| a.correlated_with(b));
        if let Some(&origin) = other.origins.iter().find(shared) {
            return Err(StochasticError::Correlated { origin });
        }
        if self.law.is_none() || other.law.is_none() {
            return Err(StochasticError::Ordered);
        }
        let product = match self.representation {
            Representation::Unipolar => self.bits.and(&other.bits),
            Representation::InvertedBipolar => self.bits.xor(&other.bits),
        };
        self.with(other, product?, true)
    }

    /// Exclusive or, whatever depends on what.
    ///
    /// # Errors
    /// [`StochasticError::Representations`], [`StochasticError::Shape`].
    pub fn xor(&self, other: &Self) -> Result<Self, StochasticError> {
        self.check_alike(other)?;
        let product = self.representation == Representation::InvertedBipolar;
        self.with(other, self.bits.xor(&other.bits)?, product)
    }

    /// Conjunction, whatever depends on what.
    ///
    /// # Errors
    /// [`StochasticError::Representations`], [`StochasticError::Shape`].
    pub fn and(&self, other: &Self) -> Result<Self, StochasticError> {
        self.check_alike(other)?;
        let product = self.representation == Representation::Unipolar;
        self.with(other, self.bits.and(&other.bits)?, product)
    }

    /// Disjunction, whatever depends on what.
    ///
    /// # Errors
    /// [`StochasticError::Representations`], [`StochasticError::Shape`].
    pub fn or(&self, other: &Self) -> Result<Self, StochasticError> {
        self.check_alike(other)?;
        self.with(other, self.bits.or(&other.bits)?, false)
    }

    /// `-x` for inverted bipolar streams, `1 - x` for unipolar ones.
    pub fn complement(&self) -> Self {
        let mut complement = self.computed(self.bits.complement());
        complement.mirrored = !self.mirrored;
        let several = complement.law.as_ref().is_some_and(|factors| factors.len() > 1);
        if several && self.representation == Representation::Unipolar {
            // 1 - x is no product.
            (complement.law, complement.mirrored) = (Some(independent_bits()), false);
        }
        complement
    }

    /// Streams of these numbers, in this order.
    ///
    /// # Errors
    /// [`StochasticError::Index`].
    pub fn select(&self, indices: &[usize]) -> Result<Self, StochasticError> {
        let once = indices.iter().collect::<HashSet<_>>().len() == indices.len();
        let mut selected = self.computed(self.bits.select(indices)?);
        if !self.variances.is_empty() {
            selected.variances = indices.iter().map(|&index| self.variance(index)).collect();
        }
        Ok(Self { fresh: self.fresh, independent: self.independent && once, ..selected })
    }

    /// Every stream turned around by some positions.
    pub fn delayed(&self, positions: usize) -> Self {
        let delayed = self.bits.delayed(positions);
        let drawn =
            |origin: &Origin| matches!(origin, Origin::Draw { .. } | Origin::Selection { .. });
        if self.origins.iter().all(drawn) {
            return self.computed(delayed);
        }
        // Another order of a sequence than the one whose products are good.
        self.summed(delayed, self.squared_errors())
    }

    /// Every stream in a random order of its own: independent of all others.
    pub fn shuffled(&self, random_state: u64) -> Self {
        let new = Self::encoded(self.bits.shuffled(random_state), self.representation);
        // The order is new, the number of ones is not.
        let variances = self.squared_errors();
        Self { fresh: false, variances, independent: self.independent, ..new }
    }

    /// Means of groups by selection; see [`sums::multiplexed_sum`].
    ///
    /// # Errors
    /// [`StochasticError::Group`], [`StochasticError::Probability`].
    pub fn multiplexed_sum(
        &self,
        probabilities: &[f64],
        selector: &mut Selector,
    ) -> Result<Self, StochasticError> {
        let (bits, origin) = sums::multiplexed_sum(&self.bits, probabilities, selector)?;
        let mut sum = self.computed(bits);
        let length = sum.bits.stream_length();
        // The law of the operands' errors is part of the selection's. Variances of their own share its
        // weight; those of sums are all there is.
        if let Some(factors) = &self.law {
            let operand = |(k, share): (usize, &f64)| {
                let of_call = |factor: &Factor| Factor { row: k as u32, ..*factor };
                (*share, factors.iter().map(of_call).collect())
            };
            let operands: Vec<Operand> = probabilities.iter().enumerate().map(operand).collect();
            let law = SelectionLaw::of(&operands, self.representation, length, length);
            let origin = origin.with_law(law);
            sum.origins.push(origin);
            sum.law = Some(vec![Factor { origin, row: UNKNOWN_ROW }]);
            sum.mirrored = false;
        } else {
            sum.origins.push(origin);
        }
        let total = probabilities.iter().sum::<f64>();
        let own = |number: usize| {
            let scatter = match self.law {
                Some(_) => 0.0,
                None => sum.scatter(number),
            };
            let shares = probabilities.iter().enumerate();
            let of_operand =
                |(k, p): (usize, &f64)| p / total * self.variance(number * probabilities.len() + k);
            scatter + shares.map(of_operand).sum::<f64>()
        };
        if !self.variances.is_empty() {
            sum.variances = (0..sum.bits.streams()).map(own).collect();
        }
        Ok(sum)
    }

    /// Means of groups, streams one behind the other; see [`sums::concatenated_sum`].
    ///
    /// # Errors
    /// [`StochasticError::Group`].
    pub fn concatenated_sum(&self, group: usize) -> Result<Self, StochasticError> {
        let mean = |total: f64| total / group as f64;
        self.sum(sums::concatenated_sum(&self.bits, group)?, mean, mean(1.0))
    }

    /// Means of groups by a counter; see [`sums::scaled_sum`].
    ///
    /// # Errors
    /// [`StochasticError::Group`].
    pub fn scaled_sum(&self, group: usize) -> Result<Self, StochasticError> {
        let mean = |total: f64| total / group as f64;
        self.sum(sums::scaled_sum(&self.bits, group)?, mean, mean(1.0))
    }

    /// Sums of groups, cut at the ends of the range; see [`sums::saturating_sum`].
    ///
    /// # Errors
    /// [`StochasticError::Group`].
    pub fn saturating_sum(&self, group: usize) -> Result<Self, StochasticError> {
        let representation = self.representation;
        let cut = |total: f64| total.clamp(representation.lowest(), 1.0);
        self.sum(sums::saturating_sum(&self.bits, group, representation)?, cut, 1.0)
    }

    fn computed(&self, bits: BitStreams) -> Self {
        Self {
            bits,
            representation: self.representation,
            origins: self.origins.clone(),
            law: self.law.clone(),
            mirrored: self.mirrored,
            variances: self.variances.clone(),
            independent: self.independent,
            fresh: false,
        }
    }

    /// Streams without a law, whose errors are known: what a circuit makes.
    fn summed(&self, bits: BitStreams, variances: Vec<f64>) -> Self {
        Self { law: None, variances, ..self.computed(bits) }
    }

    /// The variance of a stream apart from its law's.
    fn variance(&self, stream: usize) -> f64 {
        self.variances.get(stream).copied().unwrap_or(0.0)
    }

    fn squared_errors(&self) -> Vec<f64> {
        self.estimates().iter().map(|estimate| estimate.standard_error.powi(2)).collect()
    }

    /// What independent bits of a stream would scatter.
    fn scatter(&self, stream: usize) -> f64 {
        let ones = f64::from(self.bits.ones(stream));
        self.representation.variance(ones, self.bits.stream_length() as f64)
    }

    /// Refuses operands whose ones mean different things.
    fn check_alike(&self, other: &Self) -> Result<(), StochasticError> {
        let (left, right) = (self.representation, other.representation);
        if left == right {
            return Ok(());
        }
        Err(StochasticError::Representations { left, right })
    }

    /// A sum of groups by a circuit; `exact` of the sum of the operands' values is what it stands for.
    fn sum(
        &self,
        bits: BitStreams,
        exact: impl Fn(f64) -> f64,
        weight: f64,
    ) -> Result<Self, StochasticError> {
        let values = bits.values(self.representation);
        let variances =
            sums::sum_variances(&self.estimates(), &values, exact, weight, self.independent)?;
        Ok(self.summed(bits, variances))
    }

    fn with(&self, other: &Self, bits: BitStreams, product: bool) -> Result<Self, StochasticError> {
        let mut computed = self.computed(bits);
        computed.origins.extend(&other.origins);
        computed.independent = self.independent && other.independent;
        let streams = 0..computed.bits.streams();
        let (Some(own), Some(others)) = (&self.law, &other.law) else {
            // A gate on a sum.
            let variances = streams.map(|stream| computed.scatter(stream)).collect();
            return Ok(Self { law: None, variances, ..computed });
        };
        // Gates take what products refuse.
        let apart =
            self.origins.iter().all(|a| other.origins.iter().all(|b| !a.correlated_with(b)));
        let law = if product && apart { [&own[..], others].concat() } else { independent_bits() };
        (computed.law, computed.mirrored) = (Some(law), false);
        // Values are at most 1 in size: what each had of its own is no larger in the product.
        if !(self.variances.is_empty() && other.variances.is_empty()) {
            let both = streams.map(|stream| self.variance(stream) + other.variance(stream));
            computed.variances = both.collect();
        }
        Ok(computed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoder, EncoderConfig};

    fn streams(generator: Generator, dimension: u32, values: &[f64]) -> TracedStreams {
        let representation = Representation::Unipolar;
        let mut encoder = Encoder::new(EncoderConfig {
            generator,
            representation,
            stream_length: 256,
            first_dimension: dimension,
            factors: 2,
            random_state: 3,
        });
        TracedStreams::encoded(encoder.encode(values).unwrap(), representation)
    }

    /// What a stream errs its complement errs, at the other end of the range.
    #[test]
    fn complements_err_as_their_streams_do() {
        let x = streams(Generator::PlainSobol, 0, &[0.1, 0.37, 0.9]);
        let complement = x.complement();
        for (of, own) in complement.estimates().iter().zip(x.estimates()) {
            assert!((of.value - (1.0 - own.value)).abs() < 1e-12);
            assert!((of.standard_error - own.standard_error).abs() < 1e-12);
        }
        // Twice is once.
        assert_eq!(complement.complement().estimates(), x.estimates());
    }

    /// Only what an encoder made is encrypted, and no sum is a factor.
    #[test]
    fn what_was_computed_says_so() {
        let x = streams(Generator::Sobol, 0, &[0.1, 0.37]);
        let y = streams(Generator::Sobol, 5, &[0.5]);
        assert!(x.origin().is_ok() && x.select(&[1]).unwrap().origin().is_ok());
        assert_eq!(x.complement().origin(), Err(StochasticError::Computed));
        let sum = x.scaled_sum(2).unwrap();
        assert_eq!(sum.multiply(&y).err(), Some(StochasticError::Ordered));
        assert!(sum.shuffled(1).multiply(&y).is_ok());
    }
}
