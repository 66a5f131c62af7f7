//! Square matrices of numbers modulo a prime power, row after row.

use crate::Modulus;

/// The inverse by Gauss and Jordan; none where there is none. A pivot is a unit: modulo a prime power every column
/// of an invertible matrix has one. Cost: `d^3` products.
pub(super) fn inverse(matrix: &[u64], d: usize, q: Modulus) -> Option<Vec<u64>> {
    let mut left = matrix.to_vec();
    let mut right = vec![0; d * d];
    (0..d).for_each(|i| right[i * d + i] = 1 % q.value());
    for column in 0..d {
        let unit = |row: usize| Some((row, q.inverse_of_unit(left[row * d + column])?));
        let (pivot, inverse) = (column..d).find_map(unit)?;
        for matrix in [&mut left, &mut right] {
            let (above, below) = matrix.split_at_mut(pivot * d);
            if pivot > column {
                above[column * d..][..d].swap_with_slice(&mut below[..d]);
            }
            matrix[column * d..][..d].iter_mut().for_each(|x| *x = q.mul(*x, inverse));
        }
        for row in (0..d).filter(|row| *row != column) {
            let factor = q.neg(left[row * d + column]);
            if factor != 0 {
                add_row(&mut left, row, column, factor, d, q);
                add_row(&mut right, row, column, factor, d, q);
            }
        }
    }
    Some(right)
}

/// One row plus a multiple of another.
fn add_row(matrix: &mut [u64], row: usize, other: usize, factor: u64, d: usize, q: Modulus) {
    for i in 0..d {
        let term = q.mul(factor, matrix[other * d + i]);
        matrix[row * d + i] = q.add(matrix[row * d + i], term);
    }
}

/// A row times a matrix.
pub(super) fn row_times(row: &[u64], matrix: &[u64], q: Modulus) -> Vec<u64> {
    let d = row.len();
    let mut product = vec![0; d];
    for (&x, row) in row.iter().zip(matrix.chunks_exact(d)).filter(|(x, _)| **x != 0) {
        for (sum, &y) in product.iter_mut().zip(row) {
            *sum = q.add(*sum, q.mul(x, y));
        }
    }
    product
}
