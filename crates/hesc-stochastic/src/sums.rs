//! Sums of streams in the clear: what circuits of the literature do, for comparison with the sums
//! that ciphertexts can have. Groups are consecutive streams of a batch.

use crate::{BitStreams, Estimate, Origin, Representation, Selector, StochasticError};

/// The number of groups.
fn groups(streams: &BitStreams, group: usize) -> Result<usize, StochasticError> {
    let count = streams.streams();
    if group == 0 || !count.is_multiple_of(group) {
        return Err(StochasticError::Group { streams: count, group });
    }
    Ok(count / group)
}

/// `sum_k p_k x_k / sum_k p_k` of each group by random selection: at each position the bit of one
/// stream passes, the `k`-th with a chance in proportion to `probabilities[k]` (`koseki2022hesc`
/// Algorithm 3).
///
/// # Errors
/// [`StochasticError::Group`], [`StochasticError::Probability`].
pub fn multiplexed_sum(
    streams: &BitStreams,
    probabilities: &[f64],
    selector: &mut Selector,
) -> Result<(BitStreams, Origin), StochasticError> {
    let group = probabilities.len();
    let sums = groups(streams, group)?;
    let (masks, origin) = selector.choose(probabilities, sums, streams.stream_length())?;
    let mut result = BitStreams::zeros(sums, streams.stream_length());
    let words = streams.words_per_stream();
    for (sum, row) in result.words_mut().chunks_exact_mut(words).enumerate() {
        for k in sum * group..(sum + 1) * group {
            for ((out, bits), mask) in row.iter_mut().zip(streams.row(k)).zip(masks.row(k)) {
                *out |= bits & mask;
            }
        }
    }
    Ok((result, origin))
}

/// The streams of each group one after the other: the mean, exactly, in a stream `group` times as
/// long (`koseki2022hesc` §3.2.2).
///
/// # Errors
/// [`StochasticError::Group`], [`StochasticError::StreamLength`] beyond the longest stream.
pub fn concatenated_sum(streams: &BitStreams, group: usize) -> Result<BitStreams, StochasticError> {
    let (sums, length) = (groups(streams, group)?, streams.stream_length());
    crate::bit_streams::check_length(length * group)?;
    Ok(BitStreams::from_bits(sums, length * group, |sum, at| {
        streams.bit(sum * group + at / length, at % length)
    }))
}

/// The mean of each group by an accumulator: it collects the ones of every position and pays one
/// out whenever it holds `group` of them. Exact to one bit, whatever the correlation; sequential,
/// so that no ciphertext can do it.
///
/// # Errors
/// [`StochasticError::Group`].
pub fn scaled_sum(streams: &BitStreams, group: usize) -> Result<BitStreams, StochasticError> {
    let sums = groups(streams, group)?;
    let mut held = 0;
    Ok(BitStreams::from_bits(sums, streams.stream_length(), |sum, at| {
        // Half a payment ahead, so that the rest is not always lost.
        if at == 0 {
            held = group / 2;
        }
        held += ones_at(streams, sum, group, at);
        let pays = held >= group;
        held -= if pays { group } else { 0 };
        pays
    }))
}

/// The sum of each group cut to the representation's range, by a saturating accumulator. Exact to a
/// few bits for sums inside the range; near its ends some are lost. Sequential, as
/// [`scaled_sum`].
///
/// # Errors
/// [`StochasticError::Group`].
pub fn saturating_sum(
    streams: &BitStreams,
    group: usize,
    representation: Representation,
) -> Result<BitStreams, StochasticError> {
    let sums = groups(streams, group)?;
    // In halves of a one. Inverted bipolar values of zero have a half at each position: the sum of
    // n streams has n - 1 halves too many.
    let surplus = match representation {
        Representation::Unipolar => 0,
        Representation::InvertedBipolar => group as i64 - 1,
    };
    let mut held = 0i64;
    Ok(BitStreams::from_bits(sums, streams.stream_length(), |sum, at| {
        if at == 0 {
            held = 0;
        }
        held += 2 * ones_at(streams, sum, group, at) as i64 - surplus;
        let pays = held > 0;
        held -= if pays { 2 } else { 0 };
        pays
    }))
}

/// Variances of the values of summed streams: that of each group's operands, times `weight` for each
/// of them, and the square of what the circuit lost, the distance of the sum's stream from `exact` of
/// the sum of its operands' values. Errors of operands that are not `independent` add up in full.
///
/// # Errors
/// [`StochasticError::Group`].
pub fn sum_variances(
    operands: &[Estimate],
    sums: &[f64],
    exact: impl Fn(f64) -> f64,
    weight: f64,
    independent: bool,
) -> Result<Vec<f64>, StochasticError> {
    let (streams, group) = (operands.len(), operands.len() / sums.len().max(1));
    if group == 0 || !streams.is_multiple_of(group) {
        return Err(StochasticError::Group { streams, group });
    }
    let variance = |(of_sum, found): (&[Estimate], &f64)| {
        let errors = of_sum.iter().map(|operand| weight * operand.standard_error);
        let scatter = if independent {
            errors.map(|error| error * error).sum::<f64>()
        } else {
            errors.sum::<f64>().powi(2)
        };
        let total = of_sum.iter().map(|operand| operand.value).sum::<f64>();
        scatter + (exact(total) - found).powi(2)
    };
    Ok(operands.chunks_exact(group).zip(sums).map(variance).collect())
}

fn ones_at(streams: &BitStreams, sum: usize, group: usize, at: usize) -> usize {
    (sum * group..(sum + 1) * group).filter(|&stream| streams.bit(stream, at)).count()
}

/// The sum of each group by an approximate parallel counter (Kim, Lee and Choi 2015): its first
/// layer counts pairs of bits by one gate of weight two, an AND and an OR in turn, whose errors have
/// opposite signs. Returns values, not streams; a last stream without a partner counts exactly.
///
/// # Errors
/// [`StochasticError::Group`].
pub fn approximate_parallel_count(
    streams: &BitStreams,
    group: usize,
    representation: Representation,
) -> Result<Vec<f64>, StochasticError> {
    let sums = groups(streams, group)?;
    let length = streams.stream_length() as f64;
    let sum_of = |sum: usize| {
        let indices: Vec<usize> = (sum * group..(sum + 1) * group).collect();
        let mut ones = 0u64;
        for (pair, members) in indices.chunks(2).enumerate() {
            let first = streams.row(members[0]);
            ones += match members.get(1) {
                None => count(first.iter().copied()),
                Some(&second) => {
                    let both = first.iter().zip(streams.row(second));
                    2 * if pair % 2 == 0 {
                        count(both.map(|(a, b)| a & b))
                    } else {
                        count(both.map(|(a, b)| a | b))
                    }
                }
            };
        }
        // The sum of values is affine in the number of ones.
        group as f64 * representation.value(ones as f64 / (group as f64 * length))
    };
    Ok((0..sums).map(sum_of).collect())
}

fn count(words: impl Iterator<Item = u64>) -> u64 {
    words.map(|word| u64::from(word.count_ones())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoder, EncoderConfig, Generator};

    fn encoded(generator: Generator, representation: Representation, values: &[f64]) -> BitStreams {
        let mut encoder = Encoder::new(EncoderConfig {
            generator,
            representation,
            stream_length: 4096,
            first_dimension: 0,
            factors: 2,
            random_state: 5,
        });
        let mut words = Vec::new();
        for value in values {
            words.extend_from_slice(encoder.encode(&[*value]).unwrap().0.words());
        }
        BitStreams::from_words(words, 4096).unwrap()
    }

    fn values(streams: &BitStreams, representation: Representation) -> Vec<f64> {
        streams.values(representation)
    }

    #[test]
    fn every_sum_has_its_value() {
        use Representation::{InvertedBipolar, Unipolar};
        let x = [0.5, -0.25, 0.125, -0.75, 0.5, 0.25];
        let streams = encoded(Generator::Sobol, InvertedBipolar, &x);
        let (first, second) = (0.375 / 3.0, 0.0);
        let close = |found: Vec<f64>, expected: [f64; 2], tolerance: f64| {
            assert!(
                found.iter().zip(expected).all(|(f, e)| (f - e).abs() < tolerance),
                "{found:?} {expected:?}"
            );
        };
        let concatenated = concatenated_sum(&streams, 3).unwrap();
        assert_eq!(concatenated.stream_length(), 3 * 4096);
        close(values(&concatenated, InvertedBipolar), [first, second], 1e-3);
        close(values(&scaled_sum(&streams, 3).unwrap(), InvertedBipolar), [first, second], 1e-3);
        let (chosen, _) = multiplexed_sum(&streams, &[1.0; 3], &mut Selector::new(1)).unwrap();
        // Five standard deviations of 4096 independent bits.
        close(values(&chosen, InvertedBipolar), [first, second], 5.0 / 64.0);
        let (chosen, _) =
            multiplexed_sum(&streams, &[2.0, 0.0, 2.0], &mut Selector::new(1)).unwrap();
        close(values(&chosen, InvertedBipolar), [0.3125, -0.25], 5.0 / 64.0);
        let sums = saturating_sum(&streams, 3, InvertedBipolar).unwrap();
        close(values(&sums, InvertedBipolar), [0.375, 0.0], 0.03);
        let over = encoded(Generator::Sobol, InvertedBipolar, &[0.75, 0.75, -0.75, -0.75]);
        let sums = saturating_sum(&over, 2, InvertedBipolar).unwrap();
        close(values(&sums, InvertedBipolar), [1.0, -1.0], 0.03);

        let small = encoded(Generator::Sobol, Unipolar, &[0.1, 0.2, 0.05, 0.3]);
        let sums = saturating_sum(&small, 2, Unipolar).unwrap();
        close(values(&sums, Unipolar), [0.3, 0.35], 5e-3);
        let either = small.select(&[0, 2]).unwrap().or(&small.select(&[1, 3]).unwrap()).unwrap();
        close(values(&either, Unipolar), [0.28, 0.335], 5e-3);
    }

    #[test]
    fn the_parallel_counter_is_approximate_but_fair() {
        use Representation::Unipolar;
        let x = [0.5, 0.5, 0.5, 0.5, 0.25, 0.125, 0.75, 0.5];
        let streams = encoded(Generator::Sobol, Unipolar, &x);
        // Pairs of halves: AND gives 1/4, OR 3/4, twice each 2.
        let sums = approximate_parallel_count(&streams, 4, Unipolar).unwrap();
        assert!((sums[0] - 2.0).abs() < 0.02, "{sums:?}");
        // Pairs of unequal means keep a bias: 2 (xy) + 2 (z + w - zw).
        let expected = 2.0 * 0.25 * 0.125 + 2.0 * (0.75 + 0.5 - 0.375);
        assert!((sums[1] - expected).abs() < 0.02, "{sums:?}");
        let odd = approximate_parallel_count(&streams.select(&[0]).unwrap(), 1, Unipolar).unwrap();
        assert!((odd[0] - 0.5).abs() < 1e-3);
    }

    #[test]
    fn incomplete_groups_are_refused() {
        let streams = encoded(Generator::Sobol, Representation::Unipolar, &[0.5; 3]);
        for group in [0, 2] {
            assert!(concatenated_sum(&streams, group).is_err());
            assert!(scaled_sum(&streams, group).is_err());
            assert!(approximate_parallel_count(&streams, group, Representation::Unipolar).is_err());
        }
    }
}
