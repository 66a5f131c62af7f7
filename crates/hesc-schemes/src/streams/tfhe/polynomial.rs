//! Arithmetic of ring elements, and noise.

use hesc_math::{Coeff, Eval, MathError, Poly, Ring, RingIndex};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::gaussian::gaussian_pair;

/// Bits of the halves of a word.
const HALF: u32 = 32;
/// Of the prime: products of halves by bits are sums of 2^13 numbers of 32 bits at most, of either sign;
/// `tfhe-ntt` is fastest below 2^50.
const PRIME_BITS: u32 = 50;

/// Products with binary elements, modulo `X^N + 1` and `2^64`: exact ones of both halves of each word,
/// modulo a prime that is larger than twice what they can be.
#[derive(Debug)]
pub(super) struct Products(Ring<u64>);

/// A binary element, transformed. Wiped on drop.
pub(super) struct Binary(Zeroizing<Poly<u64, Eval>>);

impl Products {
    pub(super) fn new(ring_degree: usize) -> Result<Self, MathError> {
        let index = RingIndex::power_of_two(ring_degree)?;
        Ok(Self(Ring::new(index, &index.ntt_primes(PRIME_BITS, 1)?)?))
    }

    /// Of bits, one a word.
    pub(super) fn binary(&self, bits: &[u64]) -> Binary {
        Binary(Zeroizing::new(Poly::<_, Coeff>::new(bits.to_vec(), &self.0).forward(&self.0)))
    }

    /// `out = a b`. Free of branches on coefficients. Cost: four transforms.
    ///
    /// `high` is room for an element; it is left with what is as secret as `out`.
    pub(super) fn multiply(&self, out: &mut [u64], a: &[u64], b: &Binary, high: &mut [u64]) {
        let ring = &self.0;
        for ((low, high), a) in out.iter_mut().zip(high.iter_mut()).zip(a) {
            (*low, *high) = (a & u64::from(u32::MAX), a >> HALF);
        }
        for half in [&mut *out, &mut *high] {
            Poly::<_, Coeff, _>::new(half, ring).forward(ring).mul_inverse(&b.0, ring);
        }
        let q = ring.moduli()[0].value();
        // The residue nearest to zero, modulo 2^64.
        let centred = |x: u64| x.wrapping_sub(q & ((q / 2).wrapping_sub(x) >> 63).wrapping_neg());
        for (low, high) in out.iter_mut().zip(high) {
            *low = centred(*low).wrapping_add(centred(*high) << HALF);
        }
    }
}

/// `out += a`.
pub(super) fn add_assign(out: &mut [u64], a: &[u64]) {
    out.iter_mut().zip(a).for_each(|(out, a)| *out = out.wrapping_add(*a));
}

/// `out += weight a`.
pub(super) fn add_scaled(out: &mut [u64], weight: u64, a: &[u64]) {
    out.iter_mut().zip(a).for_each(|(out, a)| *out = out.wrapping_add(weight.wrapping_mul(*a)));
}

/// `out += a X^places`, modulo `X^N + 1`; `places` is below `N`.
pub(super) fn add_rotated(out: &mut [u64], a: &[u64], places: usize) {
    let (stay, wrap) = a.split_at(a.len() - places);
    add_assign(&mut out[places..], stay);
    add_scaled(&mut out[..places], u64::MAX, wrap);
}

/// Random bits, one a word.
pub(super) fn fill_binary(words: &mut [u64], rng: &mut impl CryptoRng) {
    for words in words.chunks_mut(64) {
        let bits = rng.next_u64();
        words.iter_mut().enumerate().for_each(|(i, word)| *word = bits >> i & 1);
    }
}

/// Noise of a larger deviation, in units of words, is a sum of two numbers.
const WIDE: f64 = (1u64 << 36) as f64;
/// The deviation of the narrower one: far above the last place of any double below 2^63.
const NARROW: f64 = (1u64 << 24) as f64;

/// Adds Gaussian noise of this deviation, in units of the torus: of at most 2^-5, so that words hold it.
///
/// Doubles from 2^53 on are even, then multiples of four, and so on, and rounding favours even numbers
/// below. What only even noise is added to is there in the clear modulo 2, and linear equations give the
/// secret away. The narrower number has the bits that the wider lacks.
pub(super) fn add_gaussian(words: &mut [u64], log2_deviation: f64, rng: &mut impl CryptoRng) {
    let deviation = (f64::from(u64::BITS) + log2_deviation).exp2();
    if deviation <= WIDE {
        return add_rounded(words, deviation, rng);
    }
    add_rounded(words, (deviation * deviation - NARROW * NARROW).sqrt(), rng);
    add_rounded(words, NARROW, rng);
}

fn add_rounded(words: &mut [u64], deviation: f64, rng: &mut impl CryptoRng) {
    for pair in words.chunks_mut(2) {
        let noise = gaussian_pair(rng);
        for (word, x) in pair.iter_mut().zip([noise.re, noise.im]) {
            *word = word.wrapping_add((x * deviation).round_ties_even() as i64 as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use hesc_math::AesCtrRng;
    use proptest::prelude::*;
    use rand_core::{Rng, SeedableRng};

    use super::*;

    /// By definition.
    fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
        let mut out = vec![0; a.len()];
        for (places, bit) in b.iter().enumerate() {
            let mut turned = vec![0; a.len()];
            add_rotated(&mut turned, a, places);
            add_scaled(&mut out, *bit, &turned);
        }
        out
    }

    /// Each count is off by six deviations with a probability below 1e-8; of some hundred.
    #[test]
    fn noise_has_its_deviation_and_uniform_lowest_bits() {
        let rng = &mut AesCtrRng::from_seed([10; 32]);
        for log2_deviation in (-62..=-5).map(f64::from).chain([-48.32, -18.749, -17.007]) {
            let mut words = vec![0; 1 << 14];
            add_gaussian(&mut words, log2_deviation, rng);
            let (count, deviation) = (words.len() as f64, (64.0 + log2_deviation).exp2());
            for bit in 0..((62.0 + log2_deviation) as u32).clamp(1, 16) {
                let ones = words.iter().filter(|word| **word >> bit & 1 == 1).count() as f64;
                let off = (2.0 * ones - count).abs() / count.sqrt();
                assert!(off < 6.0, "bit {bit} at {log2_deviation}: {ones}");
            }
            let square = |word: &u64| (*word as i64 as f64 / deviation).powi(2);
            // Rounding to words adds a twelfth.
            let variance = 1.0 + 1.0 / (12.0 * deviation * deviation);
            let squares = words.iter().map(square).sum::<f64>() / variance;
            assert!((squares - count).abs() < 6.0 * (2.0 * count).sqrt(), "{log2_deviation}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn products_are_exact(log2_degree in 8u32..=13, seed: [u8; 32], extreme in 0..4) {
            let n = 1 << log2_degree;
            let rng = &mut AesCtrRng::from_seed(seed);
            let (mut a, mut b) = (vec![0; n], vec![0; n]);
            a.iter_mut().for_each(|word| *word = rng.next_u64());
            fill_binary(&mut b, rng);
            // The largest sums that there can be, of either sign.
            if extreme & 1 == 1 {
                a.fill(u64::MAX);
            }
            if extreme & 2 == 2 {
                b.fill(1);
            }
            let products = Products::new(n).unwrap();
            let (mut out, mut room) = (vec![1; n], vec![1; n]);
            products.multiply(&mut out, &a, &products.binary(&b), &mut room);
            prop_assert_eq!(out, product(&a, &b));
        }
    }
}
