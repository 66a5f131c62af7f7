use hesc_math::{AesCtrRng, sampling};
use rand_core::{CryptoRng, SeedableRng};
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::keys::fill_uniform;
use super::polynomial::{self, Gaussian};
use super::{
    Ciphertexts, CompactCiphertexts, GRID, PublicKey, SecretKey, SeededCiphertexts, Tfhe, noise,
};
use crate::streams::count_blocks;
use crate::{Scheme, SchemeError};

/// Adds packed bits, scaled to one of `plain_modulus` plaintexts. Free of branches on bits.
pub(super) fn add_bits(body: &mut [u64], bits: &[u64], plain_modulus: u64) {
    let shift = 64 - plain_modulus.ilog2();
    for (words, bits) in body.chunks_exact_mut(64).zip(bits) {
        for (i, word) in words.iter_mut().enumerate() {
            *word = word.wrapping_add((bits >> i & 1) << shift);
        }
    }
}

/// The mean square of what phases are off the nearest plaintext, in units of the torus.
pub(super) fn mean_square(phases: &[u64], plain_modulus: u64) -> f64 {
    let shift = 64 - plain_modulus.ilog2();
    let half = 1u64 << (shift - 1);
    let error = |phase: &u64| {
        let error = phase.wrapping_add(half) & ((1 << shift) - 1);
        (error as f64 - half as f64) / 64f64.exp2()
    };
    phases.iter().map(|phase| error(phase).powi(2)).sum::<f64>() / phases.len() as f64
}

impl Tfhe {
    /// `(a r + e, b r + e')` plus the bits, for a fresh binary `r`. Cost a block: two products.
    pub(super) fn encrypt_public(
        &self,
        key: &PublicKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts, SchemeError> {
        key.tag.check(self.fingerprint(), None)?;
        let blocks = count_blocks(bits, self.block_length())?;
        let n = self.ring_degree();
        let log2_noise = self.spec().log2_ring_noise;
        let mut words = vec![0; blocks * 2 * n];
        let seeds: Vec<_> =
            (0..blocks).map(|_| Zeroizing::new(sampling::fresh_seed(rng))).collect();
        words.par_chunks_exact_mut(2 * n).zip(bits.par_chunks_exact(n / 64)).zip(&seeds).for_each(
            |((block, bits), seed)| {
                let rng = &mut AesCtrRng::from_seed(**seed);
                let mut r = Zeroizing::new(vec![0; n]);
                polynomial::fill_binary(&mut r, rng);
                let mut gaussian = Gaussian::new(rng);
                for (part, key) in block.chunks_exact_mut(n).zip(key.words.chunks_exact(n)) {
                    polynomial::multiply(part, key, &r);
                    gaussian.add(part, log2_noise);
                }
                add_bits(&mut block[n..], bits, GRID);
            },
        );
        Ok(Ciphertexts {
            tag: key.tag,
            words,
            plain_modulus: GRID,
            count: 1,
            variance: self.noise().public,
        })
    }

    /// `a s + e` plus the bits, for a uniform `a` of a seed. Cost a block: a product.
    pub(super) fn encrypt_secret(
        &self,
        key: &SecretKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<SeededCiphertexts, SchemeError> {
        key.tag.check(self.fingerprint(), None)?;
        let blocks = count_blocks(bits, self.block_length())?;
        let n = self.ring_degree();
        let seed = sampling::fresh_seed(rng);
        let mut masks = vec![0; blocks * n];
        fill_uniform(&mut masks, &mut AesCtrRng::from_seed(seed));
        let mut bodies = vec![0; blocks * n];
        let mut gaussian = Gaussian::new(rng);
        for ((body, mask), bits) in
            bodies.chunks_exact_mut(n).zip(masks.chunks_exact(n)).zip(bits.chunks_exact(n / 64))
        {
            polynomial::multiply(body, mask, &key.ring);
            gaussian.add(body, self.spec().log2_ring_noise);
            add_bits(body, bits, GRID);
        }
        Ok(SeededCiphertexts { tag: key.tag, seed, bodies })
    }

    pub(super) fn expand_blocks(
        &self,
        seeded: &SeededCiphertexts,
    ) -> Result<Ciphertexts, SchemeError> {
        seeded.tag.check(self.fingerprint(), None)?;
        let n = self.ring_degree();
        let mut masks = vec![0; seeded.bodies.len()];
        fill_uniform(&mut masks, &mut AesCtrRng::from_seed(seeded.seed));
        let blocks = masks.chunks_exact(n).zip(seeded.bodies.chunks_exact(n));
        let words = blocks.flat_map(|(mask, body)| [mask, body].concat()).collect();
        Ok(Ciphertexts {
            tag: seeded.tag,
            words,
            plain_modulus: GRID,
            count: 1,
            variance: self.noise().secret,
        })
    }

    /// What `b - a s` is, block by block.
    fn phases(&self, key: &SecretKey, a: &Ciphertexts) -> Result<Zeroizing<Vec<u64>>, SchemeError> {
        key.tag.check(self.fingerprint(), None)?;
        a.tag.check(self.fingerprint(), Some(key.tag))?;
        Ok(self.phases_of(key, &a.words))
    }

    fn phases_of(&self, key: &SecretKey, words: &[u64]) -> Zeroizing<Vec<u64>> {
        let n = self.ring_degree();
        let mut phases = Zeroizing::new(vec![0; words.len() / 2]);
        phases.par_chunks_exact_mut(n).zip(words.par_chunks_exact(2 * n)).for_each(
            |(phase, block)| {
                let (a, b) = block.split_at(n);
                polynomial::multiply(phase, a, &key.ring);
                phase.iter_mut().zip(b).for_each(|(x, b)| *x = b.wrapping_sub(*x));
            },
        );
        phases
    }

    pub(super) fn decrypt_blocks(
        &self,
        key: &SecretKey,
        a: &Ciphertexts,
    ) -> Result<Vec<u32>, SchemeError> {
        self.round(&self.phases(key, a)?, a.plain_modulus)
    }

    /// The nearest plaintexts; refuses phases that are too far from any, which only ciphertexts have
    /// that were altered.
    pub(super) fn round(
        &self,
        phases: &[u64],
        plain_modulus: u64,
    ) -> Result<Vec<u32>, SchemeError> {
        let shift = 64 - plain_modulus.ilog2();
        let half = 1 << (shift - 1);
        let limit = (noise::limit(plain_modulus) * 64f64.exp2()) as u64;
        for (block, phases) in phases.chunks(self.ring_degree()).enumerate() {
            // One verdict a block, whatever its positions are.
            let far = phases.iter().fold(false, |far, phase| {
                let error = phase.wrapping_add(half) & ((1 << shift) - 1);
                far | (error.abs_diff(half) > limit)
            });
            if far {
                return Err(SchemeError::NotACount { block });
            }
        }
        let plaintext = |phase: &u64| (phase.wrapping_add(half) >> shift) as u32;
        Ok(phases.iter().map(plaintext).collect())
    }

    /// The mean square of the noise, of the batch's worst block.
    pub(super) fn measured_variance(
        &self,
        key: &SecretKey,
        a: &Ciphertexts,
    ) -> Result<f64, SchemeError> {
        let phases = self.phases(key, a)?;
        let blocks = phases.chunks_exact(self.ring_degree());
        Ok(blocks.map(|phases| mean_square(phases, a.plain_modulus)).fold(0.0, f64::max))
    }

    /// The fewest bits that leave the noise room. Cost: one pass.
    pub(super) fn compact_blocks(
        &self,
        a: &Ciphertexts,
    ) -> Result<CompactCiphertexts, SchemeError> {
        a.tag.check(self.fingerprint(), None)?;
        let n = self.ring_degree();
        let fits = |bits: &u32| {
            let variance = a.variance + noise::rounding(n, *bits);
            noise::budget(variance, a.plain_modulus) >= 0.0
        };
        let bits = (2..=31).find(fits).ok_or(SchemeError::CannotCompact { ring_degree: n })?;
        let half = 1u64 << (63 - bits);
        let words =
            a.words.iter().map(|word| (word.wrapping_add(half) >> (64 - bits)) as u32).collect();
        Ok(CompactCiphertexts { tag: a.tag, words, bits, plain_modulus: a.plain_modulus })
    }

    pub(super) fn decrypt_compact_blocks(
        &self,
        key: &SecretKey,
        a: &CompactCiphertexts,
    ) -> Result<Vec<u32>, SchemeError> {
        key.tag.check(self.fingerprint(), None)?;
        a.tag.check(self.fingerprint(), Some(key.tag))?;
        let words: Vec<u64> =
            a.words.iter().map(|word| u64::from(*word) << (64 - a.bits)).collect();
        self.round(&self.phases_of(key, &words), a.plain_modulus)
    }
}
