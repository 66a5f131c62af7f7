//! Sums of products of residues below 2^30, which are reduced once for many terms: words of 32 bits hold twice the lanes of 64.

use hesc_kernels::vectorised;

/// Products that a sum takes before it is reduced: each is below 2^60.
pub const MOST_TERMS: usize = 15;
/// Moduli are below this power of two.
pub const BITS: u32 = 30;
/// What brings integers into the low bits of a double.
const MAGIC: f64 = (1u64 << 52) as f64;

#[inline(always)]
fn wide((&a, &b): (&u32, &u32)) -> u64 {
    u64::from(a) * u64::from(b)
}

vectorised! {
    /// `sums += a_0 b_0 + a_1 b_1 + ...`, as integers: rows `a` stand one after the other, and rows `b` this far apart. Sums are read
    /// and written once for four products.
    pub fn add_products(sums: &mut [u64], a: &[u32], b: &[u32], apart: usize) {
        let n = sums.len();
        let mut rows = a.chunks_exact(n).zip(b.chunks(apart).map(|row| &row[..n]));
        while let Some((a_0, b_0)) = rows.next() {
            match [rows.next(), rows.next(), rows.next()] {
                [Some((a_1, b_1)), Some((a_2, b_2)), Some((a_3, b_3))] => {
                    let first = a_0.iter().zip(b_0).zip(a_1.iter().zip(b_1));
                    let second = a_2.iter().zip(b_2).zip(a_3.iter().zip(b_3));
                    for (sum, (first, second)) in sums.iter_mut().zip(first.zip(second)) {
                        *sum += wide(first.0) + wide(first.1) + wide(second.0) + wide(second.1);
                    }
                }
                others => {
                    for (a, b) in [Some((a_0, b_0))].into_iter().chain(others).flatten() {
                        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, pair)| *sum += wide(pair));
                    }
                }
            }
        }
    }

    /// Sums modulo `q`, which is from 2^12 to 2^30.
    pub fn reduce(sums: &mut [u64], q: u64) {
        let inverse = 1.0 / q as f64;
        for sum in sums {
            // Off by one at most, for 2^64 q^-1 is within 52 bits: the remainder lies between -q and q.
            let quotient = (*sum as f64 * inverse + MAGIC).to_bits() & ((1 << 52) - 1);
            let rest = sum.wrapping_sub(quotient.wrapping_mul(q));
            *sum = rest.wrapping_add(q & ((rest as i64) >> 63) as u64);
        }
    }

    /// Adds fractions of one in units of 2^-64, modulo one: numbers below 2^32 times `unit`, which is in units of 2^-96.
    pub fn add_fractions(sums: &mut [u64], numbers: &[u64], unit: u128) {
        let [low, middle, high] = [0, 32, 64].map(|at| (unit >> at) as u32);
        for (sum, &x) in sums.iter_mut().zip(numbers) {
            let x = x as u32;
            let product = |part: u32| u64::from(x) * u64::from(part);
            let found = (product(low) >> 32).wrapping_add(product(middle));
            *sum = sum.wrapping_add(found.wrapping_add(product(high) << 32));
        }
    }

    /// Residues of integers between `-q` and `q`.
    pub fn residues(out: &mut [u32], integers: &[i64], q: u64) {
        for (out, &x) in out.iter_mut().zip(integers) {
            *out = (x as u64).wrapping_add(q & (x >> 63) as u64) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_reduced() {
        for q in [4097, (1 << 20) + 7, (1 << 27) - 39, (1 << 30) - 35] {
            let ends = [0, 1, q - 1, q, q + 1, 2 * q - 1, 16 * (q - 1) * (q - 1), u64::MAX];
            let near = (0..400u64).map(|i| (i * i).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let multiples = (1..200).map(|i| (u64::MAX / q - i) * q);
            let sums: Vec<u64> = ends
                .into_iter()
                .chain(near)
                .chain(multiples.flat_map(|x| [x - 1, x, x + 1]))
                .collect();
            let mut found = sums.clone();
            reduce(&mut found, q);
            for (sum, found) in sums.iter().zip(&found) {
                assert_eq!(sum % q, *found, "{sum} modulo {q}");
            }
        }
    }

    #[test]
    fn as_many_products_as_there_is_room_for() {
        let q = (1u64 << BITS) - 35;
        for terms in 1..=MOST_TERMS {
            let (a, b, mut sums) =
                (vec![q as u32 - 1; 40 * terms], vec![q as u32 - 1; 50 * terms], vec![7; 40]);
            add_products(&mut sums, &a, &b, 50);
            reduce(&mut sums, q);
            assert_eq!(sums, vec![7 + terms as u64; 40]);
        }
        let rows = |start: u32, width: u32| (start..start + 5 * width).collect::<Vec<u32>>();
        let (a, b, mut sums) = (rows(3, 40), rows(11, 60), vec![1; 40]);
        add_products(&mut sums, &a, &b, 60);
        for (i, sum) in (0..).zip(sums) {
            let product = |row: usize| u64::from(a[40 * row + i]) * u64::from(b[60 * row + i]);
            assert_eq!(sum, 1 + (0..5).map(product).sum::<u64>());
        }
        let unit = (1u128 << 96) / 12_289;
        let (numbers, mut fractions) = ([0, 1, 12_288, u64::from(u32::MAX)], [7; 4]);
        add_fractions(&mut fractions, &numbers, unit);
        for (x, found) in numbers.into_iter().zip(fractions) {
            assert_eq!(found, ((u128::from(x) * unit) >> 32) as u64 + 7, "{x}");
        }
        let mut out = vec![0; 4];
        residues(&mut out, &[0, -1, 1 - q as i64, q as i64 - 1], q);
        assert_eq!(out, [0, q as u32 - 1, 1, q as u32 - 1]);
    }
}
