//! How vectors become whole numbers, as `python/hesc/protocols/search/vectors.py` makes them of records: to the last bit.

/// Numbers that numpy adds up eight side by side; more of them it halves.
const BLOCK: usize = 128;
/// The square of a length of one, in another order of its sum.
const ROUNDED: f64 = 1.0 + 1e-9;

/// The sum of numbers in numpy's order, so that lengths on the edge of what is declared are taken by both or by none.
pub(crate) fn sum(numbers: &[f64]) -> f64 {
    let count = numbers.len();
    if count < 8 {
        return numbers.iter().sum();
    }
    if count > BLOCK {
        let half = count / 2 - count / 2 % 8;
        let (a, b) = numbers.split_at(half);
        return sum(a) + sum(b);
    }
    let (blocks, rest) = numbers.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for block in blocks {
        sums.iter_mut().zip(block).for_each(|(sum, x)| *sum += x);
    }
    let [a, b, c, d, e, f, g, h] = sums;
    rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, x| sum + x)
}

/// The largest absolute value, and the vector divided by it: no square overflows or vanishes.
fn scaled(vector: &[f64]) -> (f64, Vec<f64>) {
    let largest = vector.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let by = if largest > 0.0 { largest } else { 1.0 };
    (largest, vector.iter().map(|x| x / by).collect())
}

fn squares(vector: &[f64]) -> f64 {
    sum(&vector.iter().map(|x| x * x).collect::<Vec<_>>())
}

/// The Euclidean length of a vector, infinite beyond all doubles.
pub(crate) fn length(vector: &[f64]) -> f64 {
    let (largest, scaled) = scaled(vector);
    largest * squares(&scaled).sqrt()
}

/// Whether a vector is longer than this by more than roundings.
pub(crate) fn is_beyond(vector: &[f64], norm: f64) -> bool {
    let share = length(vector) / norm;
    // What is no number is beyond.
    share.is_nan() || share * share > ROUNDED
}

/// The vector of length one in the same direction; none of zeros, which have no direction.
pub(crate) fn direction(vector: &[f64]) -> Option<Vec<f64>> {
    let (largest, mut scaled) = scaled(vector);
    let length = squares(&scaled).sqrt();
    scaled.iter_mut().for_each(|x| *x /= length);
    (largest > 0.0).then_some(scaled)
}

/// Entries in units of a step.
pub(crate) fn rounded(vector: &[f64], step: f64) -> Vec<i16> {
    vector.iter().map(|x| (x / step).round_ties_even() as i16).collect()
}

/// What the sum of squares of a rounded vector of so many entries is not above; none where entries would not hold it.
pub(crate) fn square_of(norm: f64, step: f64, dimensions: usize) -> Option<u64> {
    // Each entry is rounded by half a step at most.
    let length = norm / step + (dimensions as f64).sqrt() / 2.0;
    (length <= f64::from(i16::MAX)).then(|| (length * length) as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_any_size_have_lengths_and_directions() {
        for size in [1e-300, 1.0, 1e300] {
            assert_eq!(length(&[3.0 * size, 4.0 * size]), 5.0 * size);
            assert_eq!(direction(&[0.0, -2.0 * size]), Some(vec![0.0, -1.0]));
        }
        assert_eq!((length(&[0.0; 3]), direction(&[0.0; 3])), (0.0, None));
        assert_eq!(length(&[f64::MAX; 4]), f64::INFINITY);
        assert!(is_beyond(&[f64::MAX; 4], 1e100) && !is_beyond(&[1.0 + 1e-12], 1.0));
    }

    #[test]
    fn sums_are_those_of_all_numbers() {
        for count in [0, 1, 7, 8, 9, 127, 128, 129, 1000, 4096] {
            let numbers: Vec<f64> = (0..count).map(f64::from).collect();
            assert_eq!(sum(&numbers), f64::from(count * (count - 1).max(0) / 2));
        }
    }

    #[test]
    fn entries_are_rounded_to_even_numbers() {
        assert_eq!(rounded(&[0.5, 1.5, -2.5, 2.4], 1.0), [0, 2, -2, 2]);
        assert_eq!(square_of(1.0, 1.0 / 32767.0, 1), None);
        assert_eq!(square_of(2.0, 1.0, 4), Some(10));
    }
}
