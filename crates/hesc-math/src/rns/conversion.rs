use crate::Modulus;
use crate::residues::{Factor, Reducer, kernels};
use crate::ring::Prime;
use hesc_kernels::vectorised;

/// From residues modulo some primes to residues modulo others, of the centred representative.
///
/// With `D` the product of the source primes and `y_i = [x_i (D / q_i)^-1]_(q_i)`, the number is
/// `x = sum_i y_i (D / q_i) - v D` with `v = round(sum_i y_i / q_i)` in floating point (Halevi,
/// Polyakov and Shoup 2019, section 2.2). Where `x / D` is within `2^-48` of one half, `v` may be
/// off by one, which gives the representative on the other side: harmless in rounding, and excluded
/// where the number is known to be smaller.
///
/// Constants on both sides come for free: the result is `after * [before * x]_D`.
#[derive(Debug)]
pub struct Conversion {
    from: Vec<Prime>,
    to: Vec<Reducer>,
    /// `before (D / q_i)^-1` modulo `q_i`.
    lifts: Vec<Factor>,
    reciprocals: Vec<f64>,
    /// For each target, `after (D / q_i)` for each source and `-after D`.
    factors: Vec<Vec<u64>>,
    narrow: bool,
}

/// Sources have at most this many bits where targets use the 52-bit multipliers.
const NARROW_BITS: u32 = 50;

impl Conversion {
    /// The conversion without constants.
    pub fn new(from: &[Prime], to: &[Reducer]) -> Self {
        Self::with_constants(from, to, |_| 1, |_| 1)
    }

    /// The conversion of `before * x`, multiplied by `after`; both as residues of the prime given.
    pub fn with_constants(
        from: &[Prime],
        to: &[Reducer],
        before: impl Fn(Modulus) -> u64,
        after: impl Fn(Modulus) -> u64,
    ) -> Self {
        let punctured = |at: usize, q: Modulus| {
            let others = from.iter().enumerate().filter(|(i, _)| *i != at);
            others.fold(1, |product, (_, other)| q.mul(product, other.value() % q.value()))
        };
        let lift = |(i, prime): (usize, &Prime)| {
            let q = prime.modulus();
            prime.factor(q.mul(q.inverse(punctured(i, q)), before(q)))
        };
        let row = |target: &Reducer| {
            let q = target.modulus();
            let after = after(q) % q.value();
            let mut row: Vec<u64> =
                (0..from.len()).map(|i| q.mul(after, punctured(i, q))).collect();
            // Past the end nothing is left out.
            row.push(q.neg(q.mul(after, punctured(from.len(), q))));
            row
        };
        Self {
            from: from.to_vec(),
            to: to.to_vec(),
            lifts: from.iter().enumerate().map(lift).collect(),
            reciprocals: from.iter().map(|prime| 1.0 / prime.value() as f64).collect(),
            factors: to.iter().map(row).collect(),
            narrow: from.iter().all(|prime| prime.value() >> NARROW_BITS == 0),
        }
    }

    /// Words that preparing `N` coefficients takes: blocks of some columns, in each a row for each
    /// source and one more.
    pub fn prepared_words(&self, ring_degree: usize) -> usize {
        (self.from.len() + 1) * ring_degree
    }

    /// Words of one block of a prepared number.
    pub fn block_words(&self, ring_degree: usize) -> usize {
        (self.from.len() + 1) * Self::columns(ring_degree)
    }

    /// Columns of a block: a divisor of the degree, so that all blocks are alike.
    fn columns(ring_degree: usize) -> usize {
        let whole = |columns: &usize| ring_degree.is_multiple_of(*columns);
        (LEAST_COLUMNS..=COLUMNS.min(ring_degree)).rev().find(whole).unwrap_or(ring_degree)
    }

    /// What all targets need of one block: the `y_i` and `v`. `residues(i)` are the coefficients modulo
    /// the `i`-th source. Returns the largest `|x| / D` of the centred `before * x`, up to `2^-48`.
    pub fn prepare_block<'a>(
        &self,
        prepared: &mut [u64],
        block: usize,
        residues: impl Fn(usize) -> &'a [u64],
    ) -> f64 {
        let columns = prepared.len() / (self.from.len() + 1);
        let (rows, quotients) = prepared.split_at_mut(self.from.len() * columns);
        let sources = self.from.iter().zip(&self.lifts).enumerate();
        for (row, (i, (prime, &lift))) in rows.chunks_exact_mut(columns).zip(sources) {
            kernels::scale_into(row, &residues(i)[block * columns..][..columns], lift, prime);
        }
        round_quotients(quotients, rows, &self.reciprocals)
    }

    /// [`Self::prepare_block`] for all blocks.
    pub fn prepare<'a>(&self, prepared: &mut [u64], residues: impl Fn(usize) -> &'a [u64]) -> f64 {
        let n = prepared.len() / (self.from.len() + 1);
        let blocks = prepared.chunks_exact_mut(self.block_words(n)).enumerate();
        let distances = blocks.map(|(block, words)| self.prepare_block(words, block, &residues));
        distances.fold(0.0, f64::max)
    }

    /// The residues modulo one target.
    pub fn row(&self, out: &mut [u64], target: usize, prepared: &[u64]) {
        let columns = Self::columns(out.len());
        let q = &self.to[target];
        let blocks = prepared.chunks_exact(self.block_words(out.len()));
        for (out, block) in out.chunks_exact_mut(columns).zip(blocks) {
            let mut rows = [&prepared[..0]; MAX_SOURCES];
            for (row, words) in rows.iter_mut().zip(block.chunks_exact(columns)) {
                *row = words;
            }
            let rows = &rows[..=self.from.len()];
            kernels::combine(out, rows, &self.factors[target], self.narrow, q);
        }
    }
}

/// Columns that are prepared together: they stay in the first cache.
const COLUMNS: usize = 1024;
/// Fewer columns are not worth the loops over blocks; degrees without a divisor between are one block.
const LEAST_COLUMNS: usize = 256;
/// Most rows of a prepared block: 881 bits in primes of 30 bits and more.
const MAX_SOURCES: usize = 64;

vectorised! {
    /// `v = round(sum_i y_i / q_i)`, and the largest distance of a sum from it. Adding `2^52` rounds to
    /// the nearest integer and leaves it in the low bits.
    fn round_quotients(out: &mut [u64], rows: &[u64], reciprocals: &[f64]) -> f64 {
        const ROUNDER: f64 = 4_503_599_627_370_496.0;
        const BLOCK: usize = 64;
        let n = out.len();
        let mut distances = [0.0f64; BLOCK];
        for (at, out) in out.chunks_mut(BLOCK).enumerate() {
            let mut sums = [0.0; BLOCK];
            for (row, reciprocal) in rows.chunks_exact(n).zip(reciprocals) {
                for (sum, &y) in sums.iter_mut().zip(&row[at * BLOCK..]) {
                    // Below 2^61: the conversion of a signed number is one instruction on more machines.
                    *sum += y as i64 as f64 * reciprocal;
                }
            }
            for ((out, sum), distance) in out.iter_mut().zip(&sums).zip(&mut distances) {
                let rounded = sum + ROUNDER;
                let off = (sum - (rounded - ROUNDER)).abs();
                *distance = if off > *distance { off } else { *distance };
                *out = rounded.to_bits() & 0xF_FFFF;
            }
        }
        distances.into_iter().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use proptest::prelude::*;

    use super::*;
    use crate::RingIndex;

    fn primes(bits: u32, skip: usize, count: usize) -> Vec<Prime> {
        let index = RingIndex::power_of_two(256).unwrap();
        let all = index.ntt_primes(bits, skip + count).unwrap();
        all[skip..].iter().map(|&q| Prime::new(index, q).unwrap()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn conversion_takes_the_number_next_to_zero(
            bits in prop::sample::select(vec![30u32, 49, 50, 55, 60]),
            sources in 1usize..20,
            seed: u64,
        ) {
            let from = primes(bits, 2, sources);
            let mut to = primes(bits, 0, 2);
            to.extend(primes(27, 0, 1));
            let product: BigInt = from.iter().map(|p| BigInt::from(p.value())).product();
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state
            };
            let numbers: Vec<BigInt> = (0..256)
                .map(|_| {
                    let raw: BigInt = (0..sources).fold(BigInt::from(0), |x, _| (x << 64) + next());
                    raw % &product - (&product >> 1)
                })
                .collect();
            let residues = |primes: &[Prime]| -> Vec<u64> {
                let of = |p: &Prime, x: &BigInt| {
                    let q = BigInt::from(p.value());
                    u64::try_from(((x % &q) + &q) % &q).unwrap()
                };
                primes.iter().flat_map(|p| numbers.iter().map(|x| of(p, x)).collect::<Vec<_>>()).collect()
            };
            let (before, after) = (3u64, 5u64);
            // The result is that of x itself.
            let targets: Vec<Reducer> = to.iter().map(|p| **p).collect();
            let conversion =
                Conversion::with_constants(&from, &targets, |q| q.inverse(before), |_| after);
            let scaled: Vec<u64> = residues(&from)
                .chunks_exact(256)
                .zip(&from)
                .flat_map(|(row, p)| row.iter().map(|&x| p.modulus().mul(x, before)).collect::<Vec<_>>())
                .collect();
            let mut prepared = vec![0; conversion.prepared_words(256)];
            let distance = conversion.prepare(&mut prepared, |i| &scaled[i * 256..][..256]);
            prop_assert!((0.0..=0.5).contains(&distance));
            let expected = residues(&to);
            for (target, p) in to.iter().enumerate() {
                let mut row = vec![0; 256];
                conversion.row(&mut row, target, &prepared);
                for (x, &y) in row.iter().zip(&expected[target * 256..]) {
                    prop_assert_eq!(*x, p.modulus().mul(y, after));
                }
            }
        }
    }
}
