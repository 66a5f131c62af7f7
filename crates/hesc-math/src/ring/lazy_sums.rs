//! Sums of products of residues below 2^30, which are reduced once for many terms: words of 32 bits hold twice the lanes of 64.

use hesc_kernels::vectorised;

/// Products that a sum takes before it is reduced: each is below 2^60.
pub const MOST_TERMS: usize = 15;
/// Moduli are below this power of two.
pub const BITS: u32 = 30;
/// What brings integers into the low bits of a double.
const MAGIC: f64 = (1u64 << 52) as f64;

vectorised! {
    /// `products = a b`, as integers.
    pub fn set_products(products: &mut [u64], a: &[u32], b: &[u32]) {
        for ((product, &a), &b) in products.iter_mut().zip(a).zip(b) {
            *product = u64::from(a) * u64::from(b);
        }
    }

    /// `sums += a b`, as integers.
    pub fn add_products(sums: &mut [u64], a: &[u32], b: &[u32]) {
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum += u64::from(a) * u64::from(b);
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
        let (a, mut sums) = (vec![q as u32 - 1; 40], vec![7; 40]);
        set_products(&mut sums, &a, &a);
        for _ in 1..MOST_TERMS {
            add_products(&mut sums, &a, &a);
        }
        reduce(&mut sums, q);
        assert_eq!(sums, vec![MOST_TERMS as u64; 40]);
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
