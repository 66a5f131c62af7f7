//! Scrambled Sobol sequences.

use std::sync::LazyLock;

use rand_core::Rng;

use super::points::threshold;
use crate::{Generator, StochasticError};

/// Dimensions of the Sobol sequence: as many factors as a product can have.
pub const SOBOL_DIMENSIONS: u32 = 1024;

/// Bits of a point.
const BITS: usize = 32;

/// Direction numbers of a dimension; bit 31 is the first binary digit.
type Directions = [u32; BITS];

/// The table of Joe and Kuo (2008), from which scipy's sequence comes too.
static DIRECTIONS: LazyLock<Vec<Directions>> = LazyLock::new(|| {
    let table = include_str!("../../data/joe_kuo.txt");
    let first = std::array::from_fn(|k| 1 << (BITS - 1 - k));
    let rest = table.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let numbers: Vec<u32> = line.split(' ').filter_map(|n| n.parse().ok()).collect();
        directions(numbers[0], &numbers[1..])
    });
    std::iter::once(first).chain(rest).collect()
});

/// Direction numbers from a primitive polynomial and initial numbers (Bratley and Fox 1988).
fn directions(polynomial: u32, initial: &[u32]) -> Directions {
    let degree = initial.len();
    let mut v = [0; BITS];
    for k in 0..BITS {
        v[k] = match initial.get(k) {
            Some(m) => m << (BITS - 1 - k),
            None => (1..=degree)
                .filter(|i| polynomial >> (degree - i) & 1 == 1)
                .fold(v[k - degree] >> degree, |sum, i| sum ^ v[k - i]),
        };
    }
    v
}

fn direction_numbers(dimension: u32) -> Result<&'static Directions, StochasticError> {
    DIRECTIONS.get(dimension as usize).ok_or(StochasticError::Dimension {
        generator: Generator::Sobol,
        dimension,
        available: SOBOL_DIMENSIONS,
    })
}

/// The first `count` points of a dimension as fractions of 2^32, not scrambled, in natural order:
/// point `i` is the exclusive or of the direction numbers at the ones of `i`. (scipy returns the
/// same points in Gray code order: its point `i` is this point `i ^ (i >> 1)`.)
///
/// # Errors
/// [`StochasticError::Dimension`] from [`SOBOL_DIMENSIONS`] on.
pub fn sobol_points(dimension: u32, count: usize) -> Result<Vec<u32>, StochasticError> {
    Ok(plain(direction_numbers(dimension)?, count))
}

fn plain(v: &Directions, count: usize) -> Vec<u32> {
    (0..count)
        .map(|i| (0..BITS).filter(|k| i >> k & 1 == 1).fold(0, |point, k| point ^ v[k]))
        .collect()
}

/// Which bits of the index, of `m`, each of the first `m` digits of a dimension's points depends on.
pub(crate) fn index_digits(dimension: u32, m: usize) -> Vec<u32> {
    let v = &DIRECTIONS[dimension as usize];
    let digit = |r: usize| (0..m).fold(0, |row, k| row | (v[k] >> (BITS - 1 - r) & 1) << k);
    (0..m).map(digit).collect()
}

/// The least `t` for which the first `2^m` points of these dimensions are a `(t, m, s)`-net:
/// `m` minus the most leading digits, however divided among the dimensions, that are independent
/// functions of the index. Scrambles keep it.
///
/// # Errors
/// [`StochasticError::Dimension`].
pub(crate) fn strength_defect(dimensions: &[u32], m: u32) -> Result<u32, StochasticError> {
    let rows = dimensions
        .iter()
        .map(|&dimension| direction_numbers(dimension).map(|_| index_digits(dimension, m as usize)))
        .collect::<Result<Vec<Vec<u32>>, StochasticError>>()?;
    let independent = |digits: u32| independent_in_all_divisions(&rows, digits, &mut Vec::new());
    Ok(m - (1..=m).take_while(|digits| independent(*digits)).count() as u32)
}

/// Whether the chosen rows and `digits` more leading ones of the dimensions left are independent,
/// for every way to divide them.
fn independent_in_all_divisions(rows: &[Vec<u32>], digits: u32, chosen: &mut Vec<u32>) -> bool {
    let Some((of_dimension, rest)) = rows.split_first() else {
        return digits > 0 || are_independent(chosen.clone());
    };
    let range = if rest.is_empty() { digits..=digits } else { 0..=digits };
    range.into_iter().all(|here| {
        let before = chosen.len();
        chosen.extend_from_slice(&of_dimension[..here as usize]);
        let good = independent_in_all_divisions(rest, digits - here, chosen);
        chosen.truncate(before);
        good
    })
}

/// Gaussian elimination over GF(2).
fn are_independent(mut rows: Vec<u32>) -> bool {
    while let Some(pivot) = rows.pop() {
        if pivot == 0 {
            return false;
        }
        let lowest = pivot & pivot.wrapping_neg();
        rows.iter_mut().filter(|row| **row & lowest != 0).for_each(|row| *row ^= pivot);
    }
    true
}

/// Digits of the index that matter for this many points.
fn digits_of(count: usize) -> usize {
    (count as u32).next_power_of_two().ilog2().max(6) as usize
}

/// One dimension.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sobol(&'static Directions);

impl Sobol {
    pub fn new(dimension: u32) -> Result<Self, StochasticError> {
        direction_numbers(dimension).map(Self)
    }

    /// In which order the scrambled points of each 64 positions lie.
    pub fn order(self, length: usize, rng: &mut impl Rng) -> Order {
        let v = scramble(self.0, digits_of(length), rng);
        let (_, index_of) = first_points(&v);
        let mut base = rng.next_u64() as u32;
        let shifts = (0..length.div_ceil(64))
            .map(|block| {
                let shift = index_of[(base >> 26) as usize];
                base = next_base(base, block, &v);
                shift
            })
            .collect();
        Order { index_of, shifts }
    }

    /// The first points as they are, equal for all rows: the sequence without scramble.
    pub fn plain_points(self, count: usize) -> Vec<u32> {
        plain(self.0, count)
    }

    /// Sets bit `i` where point `i`, scrambled, is below `p`.
    ///
    /// The scramble is a random lower triangular matrix and a digital shift, one for each row
    /// (Matousek 1998; as in scipy), so that the mean is exact and rows are independent. Of 64
    /// consecutive points exactly one falls in each 64th of the unit interval, whatever the
    /// scramble. So the word for a threshold is found once by table and then, block by block,
    /// only permuted by an exclusive or of its bit numbers; one comparison is left, in the 64th
    /// that holds the threshold.
    pub fn fill(self, row: &mut [u64], length: usize, p: f64, rng: &mut impl Rng) {
        let v = scramble(self.0, digits_of(length), rng);
        let threshold = threshold(p);
        let cell = (threshold >> 26) as usize;
        let (low, index_of) = first_points(&v);
        let below = index_of[..cell.min(64)].iter().fold(0u64, |word, &j| word | 1 << j);
        let mut base = rng.next_u64() as u32;
        for (block, word) in row.iter_mut().enumerate() {
            let shift = index_of[(base >> 26) as usize];
            let mut bits = permute(below, shift);
            if cell < 64 {
                let j = index_of[cell] ^ shift;
                bits |= u64::from(u64::from(base ^ low[usize::from(j)]) < threshold) << j;
            }
            *word = bits & (u64::MAX >> (64 - (length - 64 * block).min(64)));
            base = next_base(base, block, &v);
        }
    }
}

/// The positions of each block of 64 in the order of their points.
pub(crate) struct Order {
    /// Which of the first 64 points lies in each 64th of the unit interval.
    index_of: [u8; 64],
    /// What moves them to those of each block.
    shifts: Vec<u8>,
}

impl Order {
    /// The `count` positions of a block with the least points among those of `mask`.
    pub fn first_of(&self, block: usize, mask: u64, count: u32) -> u64 {
        let shift = self.shifts[block];
        let (mut chosen, mut left) = (0, count);
        for index in self.index_of {
            let bit = mask & 1 << (index ^ shift);
            if left > 0 && bit != 0 {
                chosen |= bit;
                left -= 1;
            }
        }
        chosen
    }
}

/// The first 64 points, and which of them lies in each 64th of the unit interval. Linear: points of
/// other blocks of 64 are those moved by an exclusive or.
fn first_points(v: &[u32]) -> ([u32; 64], [u8; 64]) {
    let (mut low, mut index_of) = ([0u32; 64], [0u8; 64]);
    for (bit, direction) in v[..6].iter().enumerate() {
        let (there, next) = low.split_at_mut(1 << bit);
        next.iter_mut().zip(there).for_each(|(next, point)| *next = *point ^ direction);
    }
    for (j, point) in low.iter().enumerate() {
        index_of[(point >> 26) as usize] = j as u8;
    }
    (low, index_of)
}

/// The first point of the block after this one: counting up flips the trailing ones and the next
/// bit.
fn next_base(mut base: u32, block: usize, v: &[u32]) -> u32 {
    let flipped = (block + 1) ^ block;
    for (k, direction) in v[6..].iter().enumerate() {
        base ^= direction & ((flipped >> k & 1) as u32).wrapping_neg();
    }
    base
}

/// The first `count` direction numbers times a random lower triangular matrix.
fn scramble(directions: &Directions, count: usize, rng: &mut impl Rng) -> Vec<u32> {
    let mut columns = [0u32; BITS];
    for pair in columns.chunks_exact_mut(2) {
        let random = rng.next_u64();
        pair[0] = random as u32;
        pair[1] = (random >> 32) as u32;
    }
    // Column `b` moves digit `b` to itself and to digits after it.
    for (b, column) in columns.iter_mut().enumerate() {
        *column = (*column & ((1 << b) - 1)) | 1 << b;
    }
    directions[..count.min(BITS)]
        .iter()
        .map(|&direction| {
            let (mut rest, mut product) = (direction, 0);
            while rest != 0 {
                product ^= columns[rest.trailing_zeros() as usize];
                rest &= rest - 1;
            }
            product
        })
        .collect()
}

/// Moves bit `i` to bit `i ^ shift`: a swap of neighbours at each scale.
fn permute(mut word: u64, shift: u8) -> u64 {
    const MASKS: [u64; 6] = [
        0x5555_5555_5555_5555,
        0x3333_3333_3333_3333,
        0x0F0F_0F0F_0F0F_0F0F,
        0x00FF_00FF_00FF_00FF,
        0x0000_FFFF_0000_FFFF,
        0x0000_0000_FFFF_FFFF,
    ];
    for (k, mask) in MASKS.into_iter().enumerate() {
        let swapped = (word & mask) << (1 << k) | (word >> (1 << k)) & mask;
        let chosen = u64::from(shift >> k & 1).wrapping_neg();
        word ^= (word ^ swapped) & chosen;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::row_rng;

    /// The comparison of each point by itself.
    fn slowly(sobol: Sobol, length: usize, p: f64, rng: &mut impl Rng) -> Vec<bool> {
        let v = scramble(sobol.0, digits_of(length), rng);
        let shift = rng.next_u64() as u32;
        (0..length)
            .map(|i| {
                let point = (0..v.len()).filter(|k| i >> k & 1 == 1).fold(shift, |x, k| x ^ v[k]);
                f64::from(point) < (p * 32f64.exp2()).round()
            })
            .collect()
    }

    #[test]
    fn blocks_agree_with_single_comparisons() {
        for dimension in [0, 1, 2, 17, 500, 1023] {
            let sobol = Sobol::new(dimension).unwrap();
            for (case, length) in
                [1usize, 7, 63, 64, 65, 100, 128, 1000, 4096].into_iter().enumerate()
            {
                for p in [0.0, 1e-9, 0.1, 0.25, 0.5, 0.700_1, 0.999_999, 1.0] {
                    let seed = u64::from(dimension) << 8 | case as u64;
                    let mut row = vec![0; length.div_ceil(64)];
                    sobol.fill(&mut row, length, p, &mut row_rng(seed, 0, 0));
                    let expected = slowly(sobol, length, p, &mut row_rng(seed, 0, 0));
                    for (i, bit) in expected.iter().enumerate() {
                        assert_eq!(row[i / 64] >> (i % 64) & 1 == 1, *bit, "{length} {p} {i}");
                    }
                }
            }
        }
    }

    /// Joe and Kuo's own figures: dimensions 1 and 2 have t = 0, as has any one dimension.
    #[test]
    fn first_dimensions_are_nets_of_full_strength() {
        for m in [1, 5, 10, 13] {
            assert_eq!(strength_defect(&[0, 1], m).unwrap(), 0);
            assert_eq!(strength_defect(&[17], m).unwrap(), 0);
            // Sobol: the sum of the polynomials' degrees less one, 0 + 0 + 1.
            assert!(strength_defect(&[0, 1, 2], m).unwrap() <= 1);
        }
        assert!(strength_defect(&[SOBOL_DIMENSIONS], 3).is_err());
    }

    #[test]
    fn a_whole_power_of_two_has_the_weight_of_its_probability() {
        for element in 0..50 {
            let mut row = [0; 16];
            Sobol::new(3).unwrap().fill(&mut row, 1024, 0.375, &mut row_rng(1, 0, element));
            assert_eq!(row.iter().map(|w| w.count_ones()).sum::<u32>(), 384);
        }
    }
}
