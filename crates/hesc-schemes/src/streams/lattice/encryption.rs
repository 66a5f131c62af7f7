use hesc_math::sampling::{self, Sampler};
use hesc_math::{AesCtrRng, Coeff, Eval, Poly, RngSeed, Word, kernels};
use rand_core::{CryptoRng, SeedableRng};
use rayon::prelude::*;
use zeroize::{Zeroize, Zeroizing};

use super::{Ciphertexts, Encoding, Lattice, Precision, SeededCiphertexts};
use crate::rlwe::{PublicKey, SecretKey, Spec, key_pair, noise};
use crate::streams::{Batch, Combine, Encrypt, count_blocks};
use crate::threads::several_threads;
use crate::{Fingerprint, Packing, SchemeError, Security};

/// Blocks that one thread takes at a time. Each such group has a generator of its own, so that
/// the result does not depend on the number of threads.
pub(super) const GROUP: usize = 16;

/// Whether a second thread is there and has something to do.
pub(super) fn worth_threads(blocks: usize) -> bool {
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
fn group_generators(blocks: usize, rng: &mut impl CryptoRng) -> Vec<Zeroizing<RngSeed>> {
    (0..blocks.div_ceil(GROUP)).map(|_| sampling::fresh_seed(rng).into()).collect()
}

impl<W: Word, E: Encoding<W>> Encrypt for Lattice<W, E> {
    type SecretKey = SecretKey<W>;
    type PublicKey = PublicKey<W>;
    type Ciphertexts = Ciphertexts<W>;
    type SeededCiphertexts = SeededCiphertexts<W>;

    fn name(&self) -> &'static str {
        E::KIND.name()
    }

    fn spec_to_bytes(&self) -> Vec<u8> {
        self.spec().to_bytes()
    }

    fn security(&self) -> Security {
        Security::Of(self.spec().assurance())
    }

    fn lattice(&self) -> Option<&Spec> {
        Some(self.spec())
    }

    fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }

    fn block_length(&self) -> usize {
        self.encoding().block_length()
    }

    fn packing(&self) -> Packing {
        self.0.packing
    }

    fn generate_keys(&self, rng: &mut impl CryptoRng) -> (SecretKey<W>, PublicKey<W>) {
        let ring = self.ring();
        let add_noise = |words: &mut [W], noise: &[i16]| kernels::add_small(words, noise, ring);
        key_pair::generate(self.0.fingerprint, ring.index(), (ring, ring), add_noise, rng)
    }

    /// Public-key encryption: `(p_0 u + e_0 + m, p_1 u + e_1)`.
    ///
    /// Cost a block: three transforms, `18 N` random bytes less a few, no allocation.
    fn encrypt(
        &self,
        key: &PublicKey<W>,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts<W>, SchemeError> {
        key.tag.check(self.0.fingerprint, None)?;
        let blocks = count_blocks(bits, self.block_length())?;
        let ring = self.ring();
        let key_parts =
            key.components.each_ref().map(|part| Poly::<W, Eval, _>::new(&**part, ring));
        let seeds = group_generators(blocks, rng);
        let mut words = vec![W::zeroed(); blocks * 2 * ring.poly_len()];
        for_each_group(&mut words, 2 * ring.poly_len(), |group, out| {
            let mut rng = AesCtrRng::from_seed(*seeds[group]);
            let mut noise = Sampler::new(ring.index());
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
        let (deviation, scale) = (self.public_key_deviation(), self.encoding().fresh_scale());
        Ok(Batch { tag: key.tag, words, blocks, state: Precision { deviation, scale } })
    }

    /// Secret-key encryption: `(-(a s) + e + m, a)`, `a` from a seed. Cost a block: one transform.
    fn encrypt_seeded(
        &self,
        key: &SecretKey<W>,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<SeededCiphertexts<W>, SchemeError> {
        key.tag.check(self.0.fingerprint, None)?;
        let blocks = count_blocks(bits, self.block_length())?;
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
            let mut noise = Sampler::new(ring.index());
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
        Ok(Batch { tag: key.tag, words, blocks, state: seed })
    }

    /// The full form. Cost a block: one transform.
    fn expand(&self, seeded: &SeededCiphertexts<W>) -> Result<Ciphertexts<W>, SchemeError> {
        seeded.tag.check(self.0.fingerprint, None)?;
        let ring = self.ring();
        let n = ring.poly_len();
        let mut uniform = AesCtrRng::from_seed(seeded.state);
        let mut words = Vec::with_capacity(2 * seeded.words.len());
        for first in seeded.words.chunks_exact(n) {
            words.extend_from_slice(first);
            let start = words.len();
            words.resize(start + n, W::zeroed());
            sampling::fill_uniform(&mut words[start..], ring, &mut uniform);
            Poly::<W, Eval, _>::new(&mut words[start..], ring).inverse(ring);
        }
        let (deviation, scale) = (self.secret_key_deviation(), self.encoding().fresh_scale());
        let state = Precision { deviation, scale };
        Ok(Batch { tag: seeded.tag, words, blocks: seeded.blocks, state })
    }

    /// Adds fresh encryptions of zeros.
    fn rerandomise(
        &self,
        key: &PublicKey<W>,
        a: &Ciphertexts<W>,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts<W>, SchemeError> {
        let zeros = vec![0; a.blocks * self.words_per_block()];
        self.combine(a, &self.encrypt(key, &zeros, rng)?)
    }

    fn noise_budget(&self, a: &Ciphertexts<W>) -> f64 {
        noise::budget(a.state.deviation, self.encoding().reach(), a.state.scale)
    }

    fn measured_noise_budget(
        &self,
        key: &SecretKey<W>,
        a: &Ciphertexts<W>,
    ) -> Result<f64, SchemeError> {
        a.tag.check(self.0.fingerprint, Some(key.tag))?;
        // All primes: what a shortcut rounds is no noise.
        let (_, distance) = self.decrypt_exactly(key, a)?;
        Ok((noise::LIMIT / distance).log2())
    }

    fn secret_key_to_bytes(&self, key: &SecretKey<W>) -> Zeroizing<Vec<u8>> {
        key.to_bytes(self.ring())
    }

    fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<SecretKey<W>, SchemeError> {
        SecretKey::from_bytes(bytes, self.0.fingerprint, self.ring())
    }
}
