use hesc_math::sampling::{self, Noise};
use hesc_math::{AesCtrRng, Coeff, Eval, Poly, Word, kernels};
use rand_core::{CryptoRng, SeedableRng};
use rayon::prelude::*;
use zeroize::Zeroize;

use super::Lattice;
use super::ciphertext::{Ciphertexts, CompactCiphertexts, SeededCiphertexts};
use super::encoding::Encoding;
use crate::SchemeError;
use crate::rlwe::deviations;
use crate::rlwe::{PublicKey, SecretKey};
use crate::threads::several_threads;

/// Blocks that one thread takes at a time. Each such group has a generator of its own, so that
/// the result does not depend on the number of threads.
const GROUP: usize = 16;

/// Whether a second thread is there and has something to do.
fn worth_threads(blocks: usize) -> bool {
    blocks > GROUP && several_threads()
}

/// Calls `body(group, output)` for each group of blocks, in parallel if there are several.
fn for_each_group<T: Send>(
    out: &mut [T],
    words_per_block: usize,
    body: impl Fn(usize, &mut [T]) + Send + Sync,
) {
    let size = GROUP * words_per_block;
    if worth_threads(out.len() / words_per_block) {
        out.par_chunks_mut(size).enumerate().for_each(|(group, chunk)| body(group, chunk));
    } else {
        out.chunks_mut(size).enumerate().for_each(|(group, chunk)| body(group, chunk));
    }
}

/// A generator for each group.
fn group_generators(
    blocks: usize,
    rng: &mut impl CryptoRng,
) -> Vec<zeroize::Zeroizing<hesc_math::RngSeed>> {
    (0..blocks.div_ceil(GROUP)).map(|_| sampling::fresh_seed(rng).into()).collect()
}

impl<W: Word, E: Encoding<W>> Lattice<W, E> {
    /// Public-key encryption: `(p_0 u + e_0 + m, p_1 u + e_1)`.
    ///
    /// Cost a block: three transforms, `18 N` random bytes less a few, no allocation.
    pub(super) fn encrypt_blocks(
        &self,
        key: &PublicKey<W>,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts<W>, SchemeError> {
        self.check_tag(key.tag, None)?;
        let blocks = self.count_blocks(bits)?;
        let ring = self.ring();
        let key_parts = key.parts.each_ref().map(|part| Poly::<W, Eval, _>::new(&**part, ring));
        let seeds = group_generators(blocks, rng);
        let mut words = vec![W::zeroed(); blocks * 2 * ring.poly_len()];
        for_each_group(&mut words, 2 * ring.poly_len(), |group, out| {
            let mut rng = AesCtrRng::from_seed(*seeds[group]);
            let mut noise = Noise::new(ring.index());
            let mut scratch = self.encoding().scratch();
            let mut mask = Poly::<W, Coeff>::zero(ring);
            let rows = bits.chunks_exact(self.words_per_block()).skip(group * GROUP);
            for (block, bits) in out.chunks_exact_mut(2 * ring.poly_len()).zip(rows) {
                noise.sample_ternary(&mut rng);
                mask.set_small(noise.coefficients(), ring);
                let evaluated = mask.forward(ring);
                let (first, second) = block.split_at_mut(ring.poly_len());
                for (part, key_part) in [&mut *first, second].into_iter().zip(&key_parts) {
                    let mut product = Poly::<W, Eval, _>::new(part, ring);
                    product.copy_from(&evaluated);
                    let mut product = product.mul_inverse(key_part, ring);
                    noise.sample_centred_binomial(&mut rng);
                    product.add_small(noise.coefficients(), ring);
                }
                let mut first = Poly::new(first, ring);
                self.encoding().add_bits(&mut first, bits, &mut scratch, ring);
                mask = evaluated.reuse();
            }
            mask.zeroize();
        });
        Ok(Ciphertexts {
            tag: key.tag,
            words,
            blocks,
            deviation: self.public_key_deviation(),
            scale: self.encoding().fresh_scale(),
        })
    }

    /// Secret-key encryption: `(-(a s) + e + m, a)`, `a` from a seed. Cost a block: one transform.
    pub(super) fn encrypt_blocks_seeded(
        &self,
        key: &SecretKey<W>,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<SeededCiphertexts<W>, SchemeError> {
        self.check_tag(key.tag, None)?;
        let blocks = self.count_blocks(bits)?;
        let ring = self.ring();
        let seed = sampling::fresh_seed(rng);
        let mut words = vec![W::zeroed(); blocks * ring.poly_len()];
        let mut uniform = AesCtrRng::from_seed(seed);
        for block in words.chunks_exact_mut(ring.poly_len()) {
            sampling::fill_uniform(block, ring, &mut uniform);
        }
        let secret = Poly::<W, Eval, _>::new(&*key.words, ring);
        let seeds = group_generators(blocks, rng);
        for_each_group(&mut words, ring.poly_len(), |group, out| {
            let mut rng = AesCtrRng::from_seed(*seeds[group]);
            let mut noise = Noise::new(ring.index());
            let mut scratch = self.encoding().scratch();
            let rows = bits.chunks_exact(self.words_per_block()).skip(group * GROUP);
            for (block, bits) in out.chunks_exact_mut(ring.poly_len()).zip(rows) {
                let uniform = Poly::<W, Eval, _>::new(block, ring);
                let mut first = uniform.mul_inverse(&secret, ring);
                first.neg_assign(ring);
                noise.sample_centred_binomial(&mut rng);
                first.add_small(noise.coefficients(), ring);
                self.encoding().add_bits(&mut first, bits, &mut scratch, ring);
            }
        });
        Ok(SeededCiphertexts { tag: key.tag, seed, words, blocks })
    }

    /// The full form. Cost a block: one transform.
    pub(super) fn expand_seeded(
        &self,
        seeded: &SeededCiphertexts<W>,
    ) -> Result<Ciphertexts<W>, SchemeError> {
        self.check_tag(seeded.tag, None)?;
        let ring = self.ring();
        let n = ring.poly_len();
        let mut uniform = AesCtrRng::from_seed(seeded.seed);
        let mut words = Vec::with_capacity(2 * seeded.words.len());
        for first in seeded.words.chunks_exact(n) {
            words.extend_from_slice(first);
            let start = words.len();
            words.resize(start + n, W::zeroed());
            sampling::fill_uniform(&mut words[start..], ring, &mut uniform);
            Poly::<W, Eval, _>::new(&mut words[start..], ring).inverse(ring);
        }
        Ok(Ciphertexts {
            tag: seeded.tag,
            words,
            blocks: seeded.blocks,
            deviation: self.secret_key_deviation(),
            scale: self.encoding().fresh_scale(),
        })
    }

    /// Counts, and the largest distance of a value from its count; by one prime of two where the
    /// noise leaves room for the rounding.
    pub(super) fn decrypt_blocks(
        &self,
        key: &SecretKey<W>,
        ciphertexts: &Ciphertexts<W>,
    ) -> Result<(Vec<u32>, f64), SchemeError> {
        self.check_tag(ciphertexts.tag, Some(key.tag))?;
        if self.first_prime_suffices(ciphertexts) {
            self.decrypt_by_first_prime(key, ciphertexts)
        } else {
            self.decrypt_exactly(key, ciphertexts)
        }
    }

    /// Whether the modulus can be switched to the first of two primes before decryption.
    fn first_prime_suffices(&self, ciphertexts: &Ciphertexts<W>) -> bool {
        let [q, p] = self.ring().moduli() else { return false };
        let p_value = p.value() as f64;
        let rounding = deviations::rounding_deviation(self.ring().ring_degree());
        let deviation = ciphertexts.deviation / p_value + rounding;
        let reach = self.encoding().reach();
        p.value() < 2 * q.value()
            && deviations::budget(deviation, reach, ciphertexts.scale / p_value) >= 0.0
    }

    /// Decrypts modulo the first of two primes, both parts divided by the second and rounded. Cost
    /// a block: two transforms.
    fn decrypt_by_first_prime(
        &self,
        key: &SecretKey<W>,
        ciphertexts: &Ciphertexts<W>,
    ) -> Result<(Vec<u32>, f64), SchemeError> {
        let (ring, first_ring) = (self.ring(), self.first_ring());
        let n = ring.ring_degree();
        let relative_scale = ciphertexts.scale / self.log2_modulus().exp2();
        let secret = Poly::<W, Eval, _>::new(&key.words[..n], first_ring);
        self.decode_blocks(ciphertexts.blocks, relative_scale, |block, phase, fractions| {
            let row = &ciphertexts.words[block * 2 * ring.poly_len()..][..2 * ring.poly_len()];
            let (first, second) = row.split_at(ring.poly_len());
            let (product, rounded) = phase.split_at_mut(n);
            kernels::divide_by_second(product, second, ring);
            kernels::divide_by_second(rounded, first, ring);
            let product = Poly::<W, Coeff, _>::new(&mut *product, first_ring);
            let mut sum = product.forward(first_ring).mul_inverse(&secret, first_ring);
            sum.add_assign(&Poly::<W, Coeff, _>::new(&*rounded, first_ring), first_ring);
            kernels::fraction_of_modulus(fractions, &mut phase[..n], first_ring);
        })
    }

    /// Decrypts modulo all primes. Cost a block: two transforms a limb.
    pub(super) fn decrypt_exactly(
        &self,
        key: &SecretKey<W>,
        ciphertexts: &Ciphertexts<W>,
    ) -> Result<(Vec<u32>, f64), SchemeError> {
        let ring = self.ring();
        let secret = Poly::<W, Eval, _>::new(&*key.words, ring);
        let relative_scale = ciphertexts.scale / self.log2_modulus().exp2();
        self.decode_blocks(ciphertexts.blocks, relative_scale, |block, phase, fractions| {
            let row = &ciphertexts.words[block * 2 * ring.poly_len()..][..2 * ring.poly_len()];
            let (first, second) = row.split_at(ring.poly_len());
            let mut product = Poly::<W, Coeff, _>::new(&mut *phase, ring);
            product.words_mut().copy_from_slice(second);
            let mut sum = product.forward(ring).mul_inverse(&secret, ring);
            sum.add_assign(&Poly::<W, Coeff, _>::new(first, ring), ring);
            kernels::fraction_of_modulus(fractions, phase, ring);
        })
    }

    /// Counts, and the largest distance of a value from its count, modulo `2^bits`: the product with the ternary secret is below
    /// `N 2^(bits - 1)` in absolute value and computed exactly modulo the first prime.
    pub(super) fn decrypt_compact_blocks(
        &self,
        key: &SecretKey<W>,
        compact: &CompactCiphertexts,
    ) -> Result<(Vec<u32>, f64), SchemeError> {
        self.check_tag(compact.tag, Some(key.tag))?;
        let ring = self.first_ring();
        let n = ring.ring_degree();
        let q = ring.moduli()[0];
        let modulus = 1u64 << compact.bits;
        let reciprocal = 1.0 / modulus as f64;
        let secret = Poly::<W, Eval, _>::new(&key.words[..n], ring);
        self.decode_blocks(compact.blocks, compact.relative_scale, |block, phase, fractions| {
            let row = &compact.words[block * 2 * n..][..2 * n];
            let (first, second) = row.split_at(n);
            let phase = &mut phase[..n];
            // Centred representatives, lifted to residues: x - 2^bits + q for the upper half.
            let lift = q.value() - modulus;
            for (out, &x) in phase.iter_mut().zip(second) {
                let x = u64::from(x);
                *out = W::from_u64(x + lift * (x >> (compact.bits - 1)));
            }
            let product = Poly::<W, Coeff, _>::new(&mut *phase, ring);
            let product = product.forward(ring).mul_inverse(&secret, ring);
            let half = q.value() / 2;
            for ((out, x), &c) in fractions.iter_mut().zip(product.words()).zip(first) {
                let x = x.to_u64();
                let negative = u64::from(x > half);
                let centred = x.wrapping_sub(q.value() * negative);
                *out = (centred.wrapping_add(u64::from(c)) & (modulus - 1)) as f64 * reciprocal;
            }
        })
    }

    /// Runs `phase(block, words, fractions)` for each block and decodes the fractions.
    fn decode_blocks(
        &self,
        blocks: usize,
        relative_scale: f64,
        phase: impl Fn(usize, &mut [W], &mut [f64]) + Send + Sync,
    ) -> Result<(Vec<u32>, f64), SchemeError> {
        let ring = self.ring();
        let length = self.encoding().block_length();
        let mut counts = vec![0u32; blocks * length];
        let mut distances = vec![0f64; blocks];
        let decode = |group: usize, counts: &mut [u32], distances: &mut [f64]| {
            let mut words = vec![W::zeroed(); ring.poly_len()];
            let mut fractions = vec![0f64; ring.ring_degree()];
            let mut scratch = self.encoding().scratch();
            let rows = counts.chunks_exact_mut(length).zip(distances);
            for (i, (counts, distance)) in rows.enumerate() {
                phase(group * GROUP + i, &mut words, &mut fractions);
                *distance =
                    self.encoding().decode(&mut fractions, relative_scale, counts, &mut scratch);
            }
            words.zeroize();
            fractions.zeroize();
        };
        let size = GROUP * length;
        if worth_threads(blocks) {
            counts
                .par_chunks_mut(size)
                .zip(distances.par_chunks_mut(GROUP))
                .enumerate()
                .for_each(|(group, (counts, distances))| decode(group, counts, distances));
        } else {
            let rows = counts.chunks_mut(size).zip(distances.chunks_mut(GROUP));
            for (group, (counts, distances)) in rows.enumerate() {
                decode(group, counts, distances);
            }
        }
        if let Some(block) = distances.iter().position(|&d| d > deviations::LIMIT) {
            return Err(SchemeError::NotACount { block });
        }
        Ok((counts, distances.iter().copied().fold(0.0, f64::max)))
    }
}
