//! Polynomials from a cryptographic generator.
//!
//! Nothing here branches on a sampled value that is kept: rejections concern values that are
//! thrown away, and tell nothing of those that stay. Secret scratch space is the caller's
//! [`Sampler`], wiped on drop.

use bytemuck::{cast_slice, cast_slice_mut};
use hesc_kernels::vectorised;
use rand_core::CryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::ring::Reduction;
use crate::{Ring, RingIndex, Word};

/// Standard deviation of the noise: `sqrt(42 / 4) = 3.24`, a centred binomial of 42 coin tosses.
///
/// It is the least even number of tosses that reaches the 3.19 = 8 / sqrt(2 pi) of the
/// homomorphic encryption standard, and what SEAL uses.
pub const NOISE_STANDARD_DEVIATION: f64 = 3.240_370_349_203_93;
/// Coin tosses in one noise coefficient; its absolute value is at most half of them.
pub const NOISE_TOSSES: u32 = 42;

const CHUNK: usize = 256;

/// Scratch space for small secret polynomials: reused over a batch, wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Sampler {
    coefficients: Vec<i16>,
    random: Vec<u16>,
    /// For odd indices, with room for the coefficients before it.
    #[zeroize(skip)]
    reduction: Option<Reduction>,
    unreduced: Vec<i16>,
}

impl Sampler {
    /// Scratch space for one polynomial of this ring.
    pub fn new(index: RingIndex) -> Self {
        let reduction = (!index.is_power_of_two()).then(|| Reduction::new(index));
        let drawn = reduction.as_ref().map_or(0, Reduction::length);
        Self {
            coefficients: vec![0; index.degree()],
            random: vec![0; 3 * index.degree().max(drawn)],
            reduction,
            unreduced: vec![0; drawn],
        }
    }

    /// The coefficients sampled last.
    pub fn coefficients(&self) -> &[i16] {
        &self.coefficients
    }

    /// Centred binomial noise of standard deviation 3.24, in `[-21, 21]`. For odd indices so many
    /// coefficients as the index are drawn modulo `X^m - 1` and reduced: those of the result are sums of up
    /// to two such for each prime factor.
    ///
    /// A coefficient is the weight of 42 random bits less 21, taken from three 16-bit words with
    /// 6 bits unused: 6 bytes a coefficient keep the loop in 16-bit lanes.
    pub fn sample_centred_binomial(&mut self, rng: &mut impl CryptoRng) {
        rng.fill_bytes(cast_slice_mut(&mut self.random));
        match &self.reduction {
            None => weigh(&mut self.coefficients, &self.random),
            Some(reduction) => {
                weigh(&mut self.unreduced, &self.random);
                reduction.reduce(&mut self.coefficients, &mut self.unreduced);
            }
        }
    }

    /// Uniform over {-1, 0, 1}, exactly, each coefficient in the ring's basis.
    ///
    /// 2^16 = 3 * 21845 + 1, so that one value in 65536 is rejected; then the whole chunk of 256
    /// coefficients is drawn again, which keeps the loop free of compaction.
    pub fn sample_ternary(&mut self, rng: &mut impl CryptoRng) {
        for chunk in self.coefficients.chunks_mut(CHUNK) {
            let random = &mut self.random[..chunk.len()];
            loop {
                rng.fill_bytes(cast_slice_mut(random));
                if trits(chunk, random) {
                    break;
                }
            }
        }
    }
}

vectorised! {
    fn weigh(coefficients: &mut [i16], random: &[u16]) {
        let n = coefficients.len();
        let (a, rest) = random.split_at(n);
        let (b, c) = rest.split_at(n);
        for (((out, a), b), c) in coefficients.iter_mut().zip(a).zip(b).zip(c) {
            let weight = a.count_ones() + b.count_ones() + (c & 0x3FF).count_ones();
            *out = weight as i16 - (NOISE_TOSSES / 2) as i16;
        }
    }

    /// Maps words to {-1, 0, 1} by thirds; false if one word was the value that has no third.
    fn trits(coefficients: &mut [i16], random: &[u16]) -> bool {
        const THIRD: u16 = u16::MAX / 3;
        let mut largest = 0;
        for (out, &r) in coefficients.iter_mut().zip(random) {
            largest = largest.max(r);
            *out = i16::from(r >= THIRD) + i16::from(r >= 2 * THIRD) - 1;
        }
        largest != u16::MAX
    }
}

/// Uniform residues in every row, by rejection from masked words. For public polynomials and
/// masks: the number of rejections is visible, the values kept are not.
pub fn fill_uniform<W: Word>(poly: &mut [W], ring: &Ring<W>, rng: &mut impl CryptoRng) {
    for (words, modulus) in poly.chunks_exact_mut(ring.ring_degree()).zip(ring.moduli()) {
        fill_uniform_row(words, modulus.value(), rng);
    }
}

/// Uniform residues modulo `q` in one row, as [`fill_uniform`] does.
pub fn fill_uniform_row<W: Word>(words: &mut [W], q: u64, rng: &mut impl CryptoRng) {
    let mut random = [W::zeroed(); CHUNK];
    let mask = u64::MAX >> q.leading_zeros();
    let mut filled = 0;
    while filled < words.len() {
        // Exactly as many as are missing: the stream's use depends on the modulus alone.
        let wanted = (words.len() - filled).min(CHUNK);
        rng.fill_bytes(cast_slice_mut(&mut random[..wanted]));
        for &r in &random[..wanted] {
            let masked = r.to_u64() & mask;
            if masked < q {
                words[filled] = W::from_u64(masked);
                filled += 1;
            }
        }
    }
}

/// A 32-byte seed for public material that both sides expand.
pub fn fresh_seed(rng: &mut impl CryptoRng) -> crate::RngSeed {
    let mut words = [0u64; 4];
    rng.fill_bytes(cast_slice_mut(&mut words));
    let mut seed = crate::RngSeed::default();
    seed.copy_from_slice(cast_slice(&words));
    seed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_without_a_third_is_rejected() {
        let mut out = [0i16; CHUNK];
        let mut random = [0u16; CHUNK];
        random[0] = 21844;
        random[1] = 21845;
        random[2] = 43689;
        random[3] = 43690;
        random[4] = 65534;
        assert!(trits(&mut out, &random));
        assert_eq!(out[..6], [-1, 0, 0, 1, 1, -1]);
        random[200] = u16::MAX;
        assert!(!trits(&mut out, &random));
    }
}
