//! How bits and leaves are cut into ciphertexts, and what noise does there.

use std::f64::consts::{LN_2, PI};

use hesc_schemes::rlwe::flooding::LARGEST_LONG_GAUSSIAN;
use hesc_schemes::rlwe::noise::{TAILS, secret_key_deviation};
use hesc_schemes::wire::Writer;

use super::declared::Declared;
use crate::plans::portable::{hypot, ln, ln_about};
use crate::plans::{Derived, FRAME, MOST_WORDS, SEED};

/// Bytes that say what a query is for, and those of a name.
const PURPOSE: usize = 1;
pub(super) const NAME: usize = 16;
/// Ring degrees and bits of both primes that plans choose among: few, so that a key serves many plans.
const SETS: [(usize, [u32; 2]); 13] = [
    (2048, [27, 26]),
    (4096, [28, 27]),
    (4096, [28, 28]),
    (4096, [29, 28]),
    (4096, [29, 29]),
    (4096, [30, 29]),
    (4096, [30, 30]),
    (4096, [32, 32]),
    (4096, [34, 34]),
    (4096, [37, 37]),
    (4096, [41, 41]),
    (4096, [46, 46]),
    (8192, [58, 58]),
];
/// The deviation of multipliers, in units of the plaintext modulus.
pub(super) const MULTIPLIER: f64 = 4.0;
/// Magnitudes of multipliers, in units of the plaintext modulus, are below this: 14 deviations.
const LARGEST_QUOTIENT: f64 = 64.0;
/// Deviations of what is added for the encryption of zero, in units of its largest singular value.
const HINTS: f64 = 16.0;
/// Answers are as far from answers that know nothing of a model as `2^-58` for each ciphertext, if the error of the query is
/// within bounds that it is beyond with a probability of `2^-50`.
const DISTANCE_BITS: f64 = 60.0;
const QUERY_BITS: f64 = 50.0;
/// The same of noise that decryption bears, as [`TAILS`] has it: its natural logarithm.
const FAILURE: f64 = 90.0;

/// What follows from what is declared.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizes {
    pub ring_degree: usize,
    pub prime_bits: [u32; 2],
    /// The prime above the largest cost of a leaf.
    pub of_costs: u64,
    /// The prime above twice the largest score.
    pub of_values: u64,
    /// Ciphertexts of a query.
    pub blocks: usize,
    /// Edges in each, and coefficients of a leaf.
    pub width: usize,
    /// Coefficients of a ciphertext's first part that travel: no more than a leaf's own where an answer has one leaf.
    pub coefficients: usize,
    /// Leaves in a ciphertext of an answer.
    pub rows: usize,
    /// Ciphertexts of an answer.
    pub answers: usize,
    /// Bits of a coefficient of an answer's second part.
    pub bits: u32,
    /// Bits of a number of its first part, whose rounding is not multiplied with the secret.
    pub number_bits: u32,
    /// Of the noise that is added to each number.
    pub deviation: f64,
}

impl Sizes {
    /// Of the fewest bytes of a query and its answer.
    pub fn smallest(declared: &Declared) -> Option<Self> {
        let mut best: Option<(usize, Self)> = None;
        let moduli = declared.moduli();
        for (ring_degree, prime_bits) in SETS {
            let most = (declared.edges as usize).min(1 << 10);
            for blocks in 1..=most {
                let Some(found) = Self::of(declared, moduli, ring_degree, prime_bits, blocks)
                else {
                    continue;
                };
                let bytes = found.query_bytes() + found.answer_bytes(declared);
                if best.as_ref().is_none_or(|(least, _)| bytes < *least) {
                    best = Some((bytes, found));
                }
            }
        }
        best.map(|(_, found)| found)
    }

    /// Bytes of a query.
    pub fn query_bytes(&self) -> usize {
        let rows = self.prime_bits.iter().map(|&bits| packed(self.coefficients, bits));
        FRAME + PURPOSE + self.blocks * (SEED + rows.sum::<usize>())
    }

    /// Bytes of an answer.
    pub fn answer_bytes(&self, declared: &Declared) -> usize {
        FRAME
            + PURPOSE
            + NAME
            + packed(self.answers * self.ring_degree, self.bits)
            + packed(declared.leaves(), self.number_bits)
    }

    /// In a set, with so many ciphertexts of a query, if there is room; None where fewer ciphertexts hold as many bits as well.
    fn of(
        declared: &Declared,
        (of_costs, of_values): (u64, u64),
        ring_degree: usize,
        prime_bits: [u32; 2],
        blocks: usize,
    ) -> Option<Self> {
        let edges = declared.edges as usize;
        let width = edges.div_ceil(blocks);
        if width > ring_degree || edges.div_ceil(width) != blocks {
            return None;
        }
        let rows = (ring_degree / width).min(declared.leaves());
        let noise = Noise::new(ring_degree, blocks, width);
        let t = (of_costs * of_values) as f64;
        // The largest primes of so many bits, which are below by a part in thousands.
        let q = prime_bits.map(|bits| f64::from(bits).exp2() * 0.999).iter().product::<f64>();
        let share = noise.reach(t) / q;
        // Of the second part, to the answer's bits: for the worst secret, which has no zeros. Of the first one half.
        let rounding = TAILS * (1.04 * ring_degree as f64 / 12.0).sqrt();
        let most = prime_bits.iter().sum::<u32>() - ring_degree.ilog2() - 2;
        let room = |bits: u32, number_bits: u32| {
            let second = rounding / f64::from(bits).exp2();
            share + second + 0.5 / f64::from(number_bits).exp2() < 0.5 / t
        };
        let bits = (2..=most.min(40)).find(|&bits| room(bits, bits))?;
        let number_bits = (2..=bits).find(|&number_bits| room(bits, number_bits))?;
        // Multipliers are below each prime.
        if t * LARGEST_QUOTIENT >= f64::from(*prime_bits.iter().min().unwrap_or(&0)).exp2() {
            return None;
        }
        let (answers, deviation) = (declared.leaves().div_ceil(rows), noise.deviation(t));
        if answers.max(blocks) * ring_degree > MOST_WORDS {
            return None;
        }
        Some(Self {
            ring_degree,
            prime_bits,
            of_costs,
            of_values,
            blocks,
            width,
            coefficients: if rows == 1 { width } else { ring_degree },
            rows,
            answers,
            bits,
            number_bits,
            deviation,
        })
    }
}

/// Bytes of so many numbers of so many bits.
fn packed(numbers: usize, bits: u32) -> usize {
    (numbers * bits as usize).div_ceil(8)
}

/// Deviations and bounds of the noise of a number, in units of the plaintext modulus `t`.
///
/// A number's error is `sum e_j w_j`, `e` the query's error and `w` the multipliers, of deviation `4 t` over their classes;
/// what is added; and the encryption of zero. Gaussian numbers of a class are sub-Gaussian with their deviation.
///
/// That the first two together tell nothing but `e` takes `1 / 4^2 + s^2 / d^2 <= 1 / eta^2`: `d` the deviation of what is added, `s` a
/// bound on the largest singular value of the map from multipliers to numbers, `eta` the deviation from which integers are smooth
/// to `2^-60`. The encryption of zero wants a share of its own, of [`HINTS`] times the largest singular value of its map: what is
/// left of its law then is as wide as a query's error (docs/adr/0038-trees.md).
struct Noise {
    /// Of multipliers times the query's error: sub-Gaussian parameter.
    products: f64,
    /// The deviation of what is added for multipliers.
    added: f64,
    /// Of what is added for the encryption of zero, in units of one.
    hints: f64,
    /// Of the encryption of zero, in units of one: sub-Gaussian parameter.
    zero: f64,
}

impl Noise {
    fn new(ring_degree: usize, blocks: usize, width: usize) -> Self {
        let (n, count) = (ring_degree as f64, blocks as f64);
        let sigma = secret_key_deviation();
        // Numbers one half off: bits times `q / t`, as they are rounded.
        let rounded = 0.5 * width as f64 * count.sqrt();
        let row = norm(n * count) * sigma + rounded;
        let singular = (n * largest_of_roots(n, count)).sqrt() * sigma + rounded;
        let smooth = (ln(2.0 * n * count) + DISTANCE_BITS * LN_2).sqrt() / (PI * 2f64.sqrt());
        let added = singular / (smooth.powi(-2) - MULTIPLIER.powi(-2)).sqrt();
        let zero = MULTIPLIER * (sigma * sigma * norm(n).powi(2) + n).sqrt();
        let hints = HINTS * sigma * (n * largest_of_roots(n, 2.0)).sqrt();
        Self { products: MULTIPLIER * row, added, hints, zero }
    }

    /// The deviation of what is added to a number.
    fn deviation(&self, t: f64) -> f64 {
        hypot(self.added * t, self.hints)
    }

    /// What a number's error is beyond with a probability below `2^-128`.
    fn reach(&self, t: f64) -> f64 {
        let products = self.products * t;
        TAILS * hypot(products, self.zero) + LARGEST_LONG_GAUSSIAN * self.deviation(t) + 2.0
    }
}

/// What the norm of so many sub-Gaussian numbers of parameter one is beyond with a probability below `e^-90` (Hsu, Kakade and
/// Zhang 2012).
fn norm(count: f64) -> f64 {
    (count + 2.0 * (count * FAILURE).sqrt() + 2.0 * FAILURE).sqrt()
}

/// What the sum of so many independent exponential numbers of mean one is beyond with a probability below `2^-50` at all pairs of
/// roots together, by Chernoff's bound `exp(-(x - k - k ln(x / k)))`: squares of values of the query's errors at roots of unity, in
/// units of their mean.
fn largest_of_roots(ring_degree: f64, count: f64) -> f64 {
    let wanted = QUERY_BITS * LN_2 + ln(ring_degree / 2.0);
    let (mut low, mut high) = (count, 2.0 * (count + wanted) + 2.0 * (count * wanted).sqrt());
    for _ in 0..40 {
        let x = 0.5 * (low + high);
        if x - count - count * ln_about(x / count) < wanted { low = x } else { high = x }
    }
    high
}

impl Derived for Sizes {
    const BYTES: usize = 8 + 8 + 4 + 8 + 1;

    fn answer_bits(&self) -> u32 {
        self.bits
    }

    fn write(&self, writer: &mut Writer) {
        writer.u64(self.of_costs).u64(self.of_values).u32(self.blocks as u32).f64(self.deviation);
        writer.u8(self.number_bits as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chernoff_bounds_are_bounds() {
        // Erlang's law of one: exp(-x).
        let x = largest_of_roots(2.0, 1.0);
        assert!(x > 50.0 * LN_2 && x < 50.0 * LN_2 + 5.0, "{x}");
        // Mean and scale.
        let many = largest_of_roots(2.0, 1e6);
        assert!((many - 1e6) / 1e3 > 6.0 && (many - 1e6) / 1e3 < 10.0, "{many}");
    }
}
