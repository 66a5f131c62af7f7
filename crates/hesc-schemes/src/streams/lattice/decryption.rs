use hesc_math::{Coeff, Eval, Poly, Word, kernels};
use rayon::prelude::*;
use zeroize::Zeroize;

use super::encryption::{GROUP, worth_threads};
use super::{Ciphertexts, CompactCiphertexts, Encoding, Lattice, Rounded};
use crate::SchemeError;
use crate::rlwe::{SecretKey, noise};
use crate::streams::Decrypt;

impl<W: Word, E: Encoding<W>> Decrypt<Ciphertexts<W>> for Lattice<W, E> {
    fn max_count(&self, a: &Ciphertexts<W>) -> u64 {
        self.encoding().max_count(a.state.scale)
    }

    /// By one prime of two where the noise leaves room for the rounding. Cost a block: two transforms a
    /// prime.
    fn decrypt(
        &self,
        key: &SecretKey<W>,
        ciphertexts: &Ciphertexts<W>,
    ) -> Result<Vec<u32>, SchemeError> {
        ciphertexts.tag.check(self.0.fingerprint, Some(key.tag))?;
        let (counts, _) = if self.first_prime_suffices(ciphertexts) {
            self.decrypt_by_first_prime(key, ciphertexts)?
        } else {
            self.decrypt_exactly(key, ciphertexts)?
        };
        Ok(counts)
    }
}

impl<W: Word, E: Encoding<W>> Decrypt<CompactCiphertexts> for Lattice<W, E> {
    fn max_count(&self, a: &CompactCiphertexts) -> u64 {
        self.encoding().max_count(a.state.relative_scale * self.log2_modulus().exp2())
    }

    /// The product with the ternary secret is below `N 2^(bits - 1)` in absolute value and computed exactly
    /// modulo the first prime. Cost a block: two transforms.
    fn decrypt(
        &self,
        key: &SecretKey<W>,
        compact: &CompactCiphertexts,
    ) -> Result<Vec<u32>, SchemeError> {
        compact.tag.check(self.0.fingerprint, Some(key.tag))?;
        let ring = self.first_ring();
        let n = ring.ring_degree();
        let q = ring.moduli()[0];
        let Rounded { bits, relative_scale } = compact.state;
        let modulus = 1u64 << bits;
        let reciprocal = 1.0 / modulus as f64;
        let secret = Poly::<W, Eval, _>::new(&key.words[..n], ring);
        let decoded =
            self.decode_blocks(compact.blocks, relative_scale, |block, phase, fractions| {
                let row = &compact.words[block * 2 * n..][..2 * n];
                let (first, second) = row.split_at(n);
                let phase = &mut phase[..n];
                // Centred representatives, lifted to residues: x - 2^bits + q for the upper half.
                let lift = q.value() - modulus;
                for (out, &x) in phase.iter_mut().zip(second) {
                    let x = u64::from(x);
                    *out = W::from_u64(x + lift * (x >> (bits - 1)));
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
            })?;
        Ok(decoded.0)
    }
}

impl<W: Word, E: Encoding<W>> Lattice<W, E> {
    /// Whether the modulus can be switched to the first of two primes before decryption.
    fn first_prime_suffices(&self, ciphertexts: &Ciphertexts<W>) -> bool {
        let [q, p] = self.ring().moduli() else { return false };
        let p_value = p.value() as f64;
        let rounding = noise::rounding_deviation(self.ring().ring_degree());
        let deviation = ciphertexts.state.deviation / p_value + rounding;
        let reach = self.encoding().reach();
        p.value() < 2 * q.value()
            && noise::budget(deviation, reach, ciphertexts.state.scale / p_value) >= 0.0
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
        let relative_scale = ciphertexts.state.scale / self.log2_modulus().exp2();
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

    /// Decrypts modulo all primes. Cost a block: two transforms a row.
    pub(super) fn decrypt_exactly(
        &self,
        key: &SecretKey<W>,
        ciphertexts: &Ciphertexts<W>,
    ) -> Result<(Vec<u32>, f64), SchemeError> {
        let ring = self.ring();
        let secret = Poly::<W, Eval, _>::new(&*key.words, ring);
        let relative_scale = ciphertexts.state.scale / self.log2_modulus().exp2();
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
        if let Some(block) = distances.iter().position(|&d| d > noise::LIMIT) {
            return Err(SchemeError::NotACount { block });
        }
        Ok((counts, distances.iter().copied().fold(0.0, f64::max)))
    }
}
