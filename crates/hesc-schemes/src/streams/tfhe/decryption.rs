use rayon::prelude::*;
use zeroize::Zeroizing;

use super::{Ciphertexts, CompactCiphertexts, SecretKey, Tfhe, noise};
use crate::SchemeError;
use crate::streams::{Decrypt, Encrypt};
use crate::threads::note_shared;

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

impl Decrypt<Ciphertexts> for Tfhe {
    fn max_count(&self, a: &Ciphertexts) -> u64 {
        a.state.plain_modulus - 1
    }

    fn decrypt(&self, key: &SecretKey, a: &Ciphertexts) -> Result<Vec<u32>, SchemeError> {
        self.round(&self.phases(key, a)?, a.state.plain_modulus)
    }
}

impl Decrypt<CompactCiphertexts> for Tfhe {
    fn max_count(&self, a: &CompactCiphertexts) -> u64 {
        a.state.plain_modulus - 1
    }

    fn decrypt(&self, key: &SecretKey, a: &CompactCiphertexts) -> Result<Vec<u32>, SchemeError> {
        a.tag.check(self.fingerprint(), Some(key.tag))?;
        let shift = 64 - a.state.bits;
        let words: Vec<u64> = a.words.iter().map(|word| u64::from(*word) << shift).collect();
        self.round(&self.phases_of(key, &words), a.state.plain_modulus)
    }
}

impl Tfhe {
    /// What `b - a s` is, block by block.
    fn phases(&self, key: &SecretKey, a: &Ciphertexts) -> Result<Zeroizing<Vec<u64>>, SchemeError> {
        a.tag.check(self.fingerprint(), Some(key.tag))?;
        Ok(self.phases_of(key, &a.words))
    }

    fn phases_of(&self, key: &SecretKey, words: &[u64]) -> Zeroizing<Vec<u64>> {
        let n = self.ring_degree();
        let mut phases = Zeroizing::new(vec![0; words.len() / 2]);
        let secret = self.products().binary(&key.ring);
        note_shared();
        phases.par_chunks_exact_mut(n).zip(words.par_chunks_exact(2 * n)).for_each_init(
            || Zeroizing::new(vec![0; n]),
            |room, (phase, block)| {
                let (a, b) = block.split_at(n);
                self.products().multiply(phase, a, &secret, room);
                phase.iter_mut().zip(b).for_each(|(x, b)| *x = b.wrapping_sub(*x));
            },
        );
        phases
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
        Ok(blocks.map(|phases| mean_square(phases, a.state.plain_modulus)).fold(0.0, f64::max))
    }
}
