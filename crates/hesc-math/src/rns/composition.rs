use crate::residues::{Factor, kernels};
use crate::ring::Prime;

/// From residues to the centred number itself, rounded to a double once.
///
/// The number is computed in full, so that small ones lose nothing beside a modulus of hundreds of
/// bits.
#[derive(Debug)]
pub struct Composition {
    primes: Vec<Prime>,
    lifts: Vec<Factor>,
    reciprocals: Vec<f64>,
    /// `Q / q_i`, and `Q`, in words of 64 bits.
    punctured: Vec<Vec<u64>>,
    product: Vec<u64>,
    half: Vec<u64>,
}

impl Composition {
    /// For residues modulo these primes.
    pub fn new(primes: &[Prime]) -> Self {
        let bits: f64 = primes.iter().map(|prime| (prime.value() as f64).log2()).sum();
        // Room for the sum of `y_i Q / q_i`, which is below the number of primes times Q.
        let words = (bits as usize + 8) / 64 + 1;
        let without = |at: usize| {
            let mut product = vec![0; words];
            product[0] = 1;
            for (_, prime) in primes.iter().enumerate().filter(|(i, _)| *i != at) {
                let mut carry = 0;
                for word in &mut product {
                    let wide = u128::from(*word) * u128::from(prime.value()) + carry;
                    (*word, carry) = (wide as u64, wide >> 64);
                }
            }
            product
        };
        let product = without(primes.len());
        let shifted = |i: usize| product.get(i + 1).map_or(0, |next| next << 63);
        let half = (0..words).map(|i| product[i] >> 1 | shifted(i)).collect();
        let lift = |(i, prime): (usize, &Prime)| {
            let q = prime.modulus();
            let others = primes.iter().enumerate().filter(|(k, _)| *k != i);
            let rest = others.fold(1, |p, (_, other)| q.mul(p, other.value() % q.value()));
            prime.factor(q.inverse(rest))
        };
        Self {
            lifts: primes.iter().enumerate().map(lift).collect(),
            reciprocals: primes.iter().map(|prime| 1.0 / prime.value() as f64).collect(),
            punctured: (0..primes.len()).map(without).collect(),
            primes: primes.to_vec(),
            product,
            half,
        }
    }

    /// The centred numbers; `residues`, row after row, are overwritten.
    ///
    /// # Panics
    /// If there is not a row for each prime.
    pub fn centred(&self, out: &mut [f64], residues: &mut [u64]) {
        let n = out.len();
        assert_eq!(residues.len(), n * self.primes.len(), "there is a row for each prime");
        for ((row, prime), &lift) in residues.chunks_exact_mut(n).zip(&self.primes).zip(&self.lifts)
        {
            kernels::scale(row, lift, prime);
        }
        // Loops over words are unrolled for the sizes there are.
        match self.product.len() {
            0..=2 => self.sums::<2>(out, residues),
            3..=4 => self.sums::<4>(out, residues),
            5..=8 => self.sums::<8>(out, residues),
            9..=16 => self.sums::<16>(out, residues),
            _ => self.sums::<MAX_WORDS>(out, residues),
        }
    }

    /// The centred numbers `sum_i y_i Q / q_i` modulo `Q`, in `W` words.
    fn sums<const W: usize>(&self, out: &mut [f64], residues: &[u64]) {
        let extended = |words: &[u64]| std::array::from_fn(|i| words.get(i).copied().unwrap_or(0));
        let punctured: Vec<[u64; W]> = self.punctured.iter().map(|x| extended(x)).collect();
        let (product, half) = (extended(&self.product), extended(&self.half));
        let n = out.len();
        for (i, out) in out.iter_mut().enumerate() {
            let (mut sum, mut quotient) = ([0; W], 0.0);
            let rows = residues.chunks_exact(n).zip(&punctured).zip(&self.reciprocals);
            for ((row, punctured), reciprocal) in rows {
                add_product(&mut sum, punctured, row[i]);
                quotient += row[i] as f64 * reciprocal;
            }
            // At most one off, to either side of zero.
            subtract_product(&mut sum, &product, quotient as u64);
            *out = signed(&mut sum, &product, &half);
        }
    }
}

/// Words of the largest modulus: 64 primes of 61 bits.
const MAX_WORDS: usize = 64;

/// The double of a number in (-Q, 2Q), in two's complement, after subtracting Q where that
/// centres it.
fn signed<const W: usize>(sum: &mut [u64; W], product: &[u64; W], half: &[u64; W]) -> f64 {
    let negative = |words: &[u64; W]| words[W - 1] >> 63 == 1;
    for _ in 0..2 {
        if !negative(sum) && exceeds(sum, half) {
            subtract_product(sum, product, 1);
        }
    }
    let sign = if negative(sum) {
        let mut carry = true;
        for word in sum.iter_mut() {
            (*word, carry) = (!*word).overflowing_add(u64::from(carry));
        }
        -1.0
    } else {
        1.0
    };
    sign * sum.iter().rev().fold(0.0, |x, &word| x * 2f64.powi(64) + word as f64)
}

fn add_product<const W: usize>(sum: &mut [u64; W], a: &[u64; W], b: u64) {
    let mut carry = 0;
    for (sum, &a) in sum.iter_mut().zip(a) {
        let wide = u128::from(a) * u128::from(b) + u128::from(*sum) + carry;
        (*sum, carry) = (wide as u64, wide >> 64);
    }
}

fn subtract_product<const W: usize>(sum: &mut [u64; W], a: &[u64; W], b: u64) {
    let (mut carry, mut borrow) = (0, false);
    for (sum, &a) in sum.iter_mut().zip(a) {
        let wide = u128::from(a) * u128::from(b) + carry;
        carry = wide >> 64;
        let (first, under) = sum.overflowing_sub(wide as u64);
        let (second, again) = first.overflowing_sub(u64::from(borrow));
        (*sum, borrow) = (second, under | again);
    }
}

fn exceeds<const W: usize>(a: &[u64; W], b: &[u64; W]) -> bool {
    a.iter().rev().gt(b.iter().rev())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RingIndex;

    #[test]
    fn numbers_return() {
        let n = 256;
        for (bits, count) in [(36, 1), (36, 2), (49, 8), (49, 17), (60, 14)] {
            let index = RingIndex::power_of_two(n).unwrap();
            let primes = index.ntt_primes(bits, count).unwrap();
            let primes: Vec<Prime> =
                primes.into_iter().map(|q| Prime::new(index, q).unwrap()).collect();
            let composition = Composition::new(&primes);
            // Small, and as large as the modulus allows: multiples of powers of two.
            let top = (bits as usize * count - 2).min(1000);
            let number = |i: usize| {
                let sign = if i.is_multiple_of(3) { -1.0 } else { 1.0 };
                sign * (i as f64) * 2f64.powi((top * i / 300) as i32).max(1.0)
            };
            let residue = |q: crate::Modulus, i: usize| {
                let power = q.pow(2, (top * i / 300) as u64);
                let size = q.mul(i as u64 % q.value(), power);
                if i.is_multiple_of(3) { q.neg(size) } else { size }
            };
            let fits: Vec<usize> = (0..n)
                .filter(|&i| number(i).abs().max(1.0).log2() < f64::from(bits) * count as f64 - 1.5)
                .collect();
            assert!(fits.len() > n / 2);
            let mut residues: Vec<u64> = primes
                .iter()
                .flat_map(|p| {
                    let row = |i| if fits.contains(&i) { residue(p.modulus(), i) } else { 0 };
                    (0..n).map(row).collect::<Vec<_>>()
                })
                .collect();
            let mut out = vec![0.0; n];
            composition.centred(&mut out, &mut residues);
            for i in fits {
                assert_eq!(out[i], number(i), "{bits} bits, {count} primes, number {i}");
            }
        }
    }
}
