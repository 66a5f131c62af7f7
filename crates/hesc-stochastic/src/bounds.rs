//! Bounds that no product exceeds, where one is proved.

use crate::generators::deterministic;
use crate::generators::dimensions::{any_dimension, good_dimension};
use crate::generators::halton::Halton;
use crate::generators::sobol::strength_defect;
use crate::{EncoderConfig, Generator, Representation, StochasticError};

/// Most Sobol dimensions whose joint quality is computed.
const MAX_NET_DIMENSIONS: u32 = 4;

/// A bound on the distance of a product of `factors` streams, encoded by as many calls of an
/// encoder of this configuration, from the product of their values. `None` where nothing smaller
/// than the range is proved.
///
/// It holds always for the structured generators, and with a probability of at least
/// `1 - failure_probability` for Bernoulli and exact-weight streams.
///
/// - Bernoulli: Hoeffding's inequality on the bits of the product.
/// - Exact weight: Hoeffding's inequality for sampling without replacement (1963, section 6), once
///   for each product; one bit of rounding for each factor.
/// - Sobol and its plain form: the first `2^m` points of `s` dimensions are a `(t, m, s)`-net, under
///   every scramble. Cutting the last coordinate of a box into elementary intervals leaves nets in
///   the others; by induction the signed sum over the boxes of a product errs by at most
///   `2^(t+1) sum_{i<s} C(m - t, i)` (Niederreiter 1992, theorem 4.6, is the same for one box). `t`
///   is computed. Other lengths are sums of such nets. `None` where random arrangements take the
///   place of dimensions.
/// - Halton, Hammersley, lattice, LFSR: single streams, and the first two dimensions of Hammersley.
/// - Deterministic: the rounding of each factor. Joint: `k` bits for a prefix of `k`.
///
/// # Errors
/// [`StochasticError::Factors`] for no factors, and what an encoder of this configuration refuses.
pub fn error_bound(
    config: &EncoderConfig,
    factors: u32,
    failure_probability: f64,
) -> Result<Option<f64>, StochasticError> {
    let EncoderConfig { generator, representation, stream_length, first_dimension: first, .. } =
        *config;
    crate::bit_streams::check_length(stream_length)?;
    if factors == 0 {
        return Err(StochasticError::Factors { factors, max: crate::SOBOL_DIMENSIONS });
    }
    if !(failure_probability > 0.0 && failure_probability < 1.0) {
        return Err(StochasticError::Probability { value: failure_probability });
    }
    // Errors are in ones; a one more or less changes an inverted bipolar value twice as much.
    let (slope, range) = match representation {
        Representation::Unipolar => (1.0, 1.0),
        Representation::InvertedBipolar => (2.0, 2.0),
    };
    let (length, k) = (stream_length as f64, f64::from(factors));
    let tail = |chance: f64| (2.0 / chance).ln();
    let ones = match generator {
        Generator::Bernoulli => Some((tail(failure_probability) * length / 2.0).sqrt()),
        Generator::ExactWeight => {
            // Of L positions at most half are drawn, or left: the overlap errs by at most
            // sqrt(L/2 tail / 2), and twice that counts in an exclusive or.
            let steps = k - 1.0;
            let overlap = (tail(failure_probability / steps.max(1.0)) * length / 4.0).sqrt();
            Some(k + steps * slope * overlap)
        }
        Generator::Joint if representation == Representation::InvertedBipolar => Some(k),
        Generator::Sobol | Generator::PlainSobol | Generator::Joint => {
            let slots = first..first.saturating_add(factors.min(MAX_NET_DIMENSIONS + 1));
            let dimensions: Option<Vec<u32>> = match generator {
                Generator::Sobol => slots.map(|slot| good_dimension(slot, stream_length)).collect(),
                Generator::Joint => slots.map(|slot| any_dimension(slot, stream_length)).collect(),
                _ => Some(slots.collect()),
            };
            match dimensions {
                Some(dimensions) => nets(stream_length, &dimensions)?,
                None => None,
            }
        }
        Generator::Halton if factors == 1 => Some(radical(first, stream_length)?),
        Generator::Hammersley if factors == 1 => match first.checked_sub(1) {
            None => Some(1.0),
            Some(dimension) => Some(radical(dimension, stream_length)?),
        },
        Generator::Hammersley if (first, factors) == (0, 2) && stream_length.is_power_of_two() => {
            // Ones of the first factor are a run of positions, at most 2 log2 L blocks of van der
            // Corput points, each right to one.
            Some(2.0 + 4.0 * f64::from(stream_length.ilog2()))
        }
        // Blocks of powers of two are equidistant, wherever the circle is cut.
        Generator::Lattice if factors == 1 => Some(f64::from(stream_length.count_ones())),
        Generator::Lfsr
            if factors == 1 && stream_length >= 256 && stream_length.is_power_of_two() =>
        {
            // All states once and one of them twice; rounding of the threshold.
            Some(2.0)
        }
        Generator::ClockDivision | Generator::Rotation | Generator::CoprimeLengths => {
            deterministic::split(generator, config.factors, stream_length)
                .and_then(|levels| levels.into_iter().min())
                .map(|levels| k * length / levels as f64)
        }
        _ => None,
    };
    // Thresholds are rounded to 2^-32.
    let bound = ones.map(|ones| slope * (ones / length + k * (-32f64).exp2()));
    Ok(bound.filter(|bound| *bound < range))
}

/// The error in ones of a product of Sobol dimensions, for any length.
fn nets(length: usize, dimensions: &[u32]) -> Result<Option<f64>, StochasticError> {
    if dimensions.len() > MAX_NET_DIMENSIONS as usize {
        return Ok(None);
    }
    let mut total = 0.0;
    for m in (0..usize::BITS).filter(|m| length >> m & 1 == 1) {
        let t = strength_defect(dimensions, m)?;
        let mut term = 1.0;
        let mut boxes = 0.0;
        for i in 0..dimensions.len() as u32 {
            boxes += term;
            term *= f64::from((m - t).saturating_sub(i)) / f64::from(i + 1);
        }
        total += f64::from(t).exp2() * boxes;
    }
    Ok(Some(total))
}

/// The error in ones of one radical inverse: intervals of the digits are right to one, those of
/// digits that divide the length exactly.
fn radical(dimension: u32, length: usize) -> Result<f64, StochasticError> {
    let base = Halton::new(dimension)?.base() as usize;
    let (mut ones, mut power) = (1.0, base);
    while power < base * length {
        if !length.is_multiple_of(power) {
            ones += (base - 1) as f64;
        }
        power *= base;
    }
    Ok(ones)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(generator: Generator, stream_length: usize, factors: u32) -> EncoderConfig {
        EncoderConfig {
            generator,
            representation: Representation::InvertedBipolar,
            stream_length,
            first_dimension: 0,
            factors,
            random_state: 1,
        }
    }

    #[test]
    fn known_values() {
        let bound = |generator, length, factors| {
            error_bound(&config(generator, length, factors), factors, 1e-9).unwrap()
        };
        let close = |found: Option<f64>, expected: f64| {
            assert!((found.unwrap() - expected).abs() < 1e-8, "{found:?} {expected}");
        };
        // One dimension errs by less than one; two dimensions of Sobol are a (0, m, 2)-net: m + 1.
        close(bound(Generator::Sobol, 1024, 1), 2.0 / 1024.0);
        close(bound(Generator::Sobol, 1024, 2), 2.0 * 11.0 / 1024.0);
        close(bound(Generator::Sobol, 1024 + 256, 2), 2.0 * (11.0 + 9.0) / 1280.0);
        close(bound(Generator::Halton, 1024, 1), 2.0 / 1024.0);
        close(bound(Generator::Rotation, 1024, 2), 2.0 * 2.0 / 32.0);
        close(bound(Generator::Joint, 1024, 5), 10.0 / 1024.0);
        close(bound(Generator::Bernoulli, 1024, 3), (2.0 * 2e9f64.ln() / 1024.0).sqrt());
        assert_eq!(bound(Generator::Sobol, 1024, 5), None);
        assert_eq!(bound(Generator::Lattice, 1024, 2), None);
        assert!(error_bound(&config(Generator::Sobol, 64, 2), 0, 1e-9).is_err());
        assert!(error_bound(&config(Generator::Sobol, 64, 2), 1, 0.0).is_err());
    }
}
