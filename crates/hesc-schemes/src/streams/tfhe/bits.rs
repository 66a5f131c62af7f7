use ::tfhe::core_crypto::prelude::{
    GlweCiphertext, GlweCiphertextOwned, LweCiphertext, LweCiphertextList, LweSize, MonomialDegree,
    PolynomialSize, extract_lwe_sample_from_glwe_ciphertext, keyswitch_lwe_ciphertext,
    par_keyswitch_lwe_ciphertext_list_and_pack_in_glwe_ciphertext,
};
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::decryption::mean_square;
use super::keys::{MODULUS, RING};
use super::noise::{self, PARITY_WEIGHT};
use super::{Ciphertexts, EvaluationKey, GRID, PARITY, SecretKey, Tfhe, Torus, polynomial};
use crate::streams::{Batch, Encrypt};
use crate::{SchemeError, Tag, checkpoint};

/// Samples that each thread packs between two questions whether to go on.
const PACKED: usize = 16;

/// A ciphertext for each bit: the random part's `N` words and the body. What bootstraps work on; 16 kB a
/// bit at a ring degree of 2048, so they travel packed ([`Tfhe::pack`]).
#[derive(Clone)]
pub struct Bits {
    pub(super) tag: Tag,
    pub(super) words: Vec<u64>,
    /// [`GRID`] for bits, [`PARITY`] for parities.
    pub(super) plain_modulus: u64,
    pub(super) variance: f64,
}

impl Bits {
    /// Whether they are bits, which bootstraps can look up; parities are refreshed first.
    pub fn are_bits(&self) -> bool {
        self.plain_modulus == GRID
    }

    /// Of the noise, at most, in units of the torus.
    pub fn variance(&self) -> f64 {
        self.variance
    }
}

impl Tfhe {
    /// The number of bits.
    pub fn len(&self, a: &Bits) -> usize {
        a.words.len() / self.sample_words()
    }

    /// One ciphertext.
    pub fn sample<'a>(&self, a: &'a Bits, index: usize) -> &'a [u64] {
        &a.words[index * self.sample_words()..][..self.sample_words()]
    }

    /// Takes bits out of blocks, for free: bit `i` of a batch is position `i % N` of block `i / N`. Counts
    /// become their parities.
    ///
    /// # Errors
    /// [`SchemeError::BlockIndex`] for a position that is not there; [`SchemeError::NoiseBudget`] if
    /// parities have no room.
    pub fn extract(&self, a: &Ciphertexts, positions: &[usize]) -> Result<Bits, SchemeError> {
        a.tag.check(self.fingerprint(), None)?;
        let n = self.ring_degree();
        let blocks = a.blocks;
        if let Some(position) = positions.iter().find(|&&position| position / n >= blocks) {
            return Err(SchemeError::BlockIndex { index: position / n, blocks });
        }
        let mut words = vec![0; positions.len() * self.sample_words()];
        words.par_chunks_exact_mut(self.sample_words()).zip(positions).for_each(
            |(sample, position)| {
                let block = &a.words[position / n * 2 * n..][..2 * n];
                let block = GlweCiphertext::from_container(block, PolynomialSize(n), MODULUS);
                extract_lwe_sample_from_glwe_ciphertext(
                    &block,
                    &mut LweCiphertext::from_container(sample, MODULUS),
                    MonomialDegree(position % n),
                );
            },
        );
        let Torus { plain_modulus, variance, .. } = a.state;
        let taken = Bits { tag: a.tag, words, plain_modulus, variance };
        if plain_modulus == PARITY || a.holds_bits() { Ok(taken) } else { self.parities(taken) }
    }

    /// Bits or counts as parities, which have the most room for noise.
    fn parities(&self, mut a: Bits) -> Result<Bits, SchemeError> {
        if a.plain_modulus == PARITY {
            return Ok(a);
        }
        a.plain_modulus = PARITY;
        a.variance = noise::of_sum([(PARITY_WEIGHT, a.variance)]);
        self.check_room(a.variance, PARITY)?;
        a.words.iter_mut().for_each(|word| *word = word.wrapping_mul(PARITY_WEIGHT));
        Ok(a)
    }

    /// The exclusive or of batches, bit by bit: sums of ciphertexts, no bootstrap.
    ///
    /// # Errors
    /// [`SchemeError::BlockCount`] for batches of different lengths, [`SchemeError::KeyMismatch`],
    /// [`SchemeError::NoiseBudget`] for too many.
    pub fn exclusive_or(&self, parts: &[&Bits]) -> Result<Bits, SchemeError> {
        let first = *parts.first().ok_or(SchemeError::Empty)?;
        for part in parts {
            part.tag.check(self.fingerprint(), Some(first.tag))?;
            let (expected, found) = (self.len(first), self.len(part));
            if expected != found {
                return Err(SchemeError::BlockCount { expected, found });
            }
        }
        let variance = noise::of_sum(parts.iter().map(|part| (weight(part), part.variance)));
        self.check_room(variance, PARITY)?;
        let mut words: Vec<u64> = match parts {
            // The product of two streams, in one pass.
            [a, b, ..] => {
                let (v, w) = (weight(a), weight(b));
                let pairs = a.words.iter().zip(&b.words);
                pairs.map(|(x, y)| x.wrapping_mul(v).wrapping_add(y.wrapping_mul(w))).collect()
            }
            _ => first.words.iter().map(|x| x.wrapping_mul(weight(first))).collect(),
        };
        for part in parts.iter().skip(2) {
            polynomial::add_scaled(&mut words, weight(part), &part.words);
        }
        Ok(Bits { words, plain_modulus: PARITY, variance, ..*first })
    }

    /// Batches one after the other; all become parities if one is.
    ///
    /// # Errors
    /// [`SchemeError::Empty`], [`SchemeError::KeyMismatch`], [`SchemeError::NoiseBudget`].
    pub fn concatenate_bits(&self, parts: Vec<Bits>) -> Result<Bits, SchemeError> {
        let first = parts.first().ok_or(SchemeError::Empty)?.tag;
        for part in &parts {
            part.tag.check(self.fingerprint(), Some(first))?;
        }
        let parities = parts.iter().any(|part| !part.are_bits());
        parts
            .into_iter()
            .map(|part| if parities { self.parities(part) } else { Ok(part) })
            .reduce(|all, part| {
                let (mut all, part) = (all?, part?);
                all.words.extend(part.words);
                all.variance = all.variance.max(part.variance);
                Ok(all)
            })
            .ok_or(SchemeError::Empty)?
    }

    /// The other bits where `inverted` says so, for free: the exclusive or with public bits, which bits
    /// stay bits under.
    pub fn invert(&self, mut a: Bits, inverted: impl Fn(usize) -> bool) -> Bits {
        let n = self.ring_degree();
        let one = 1u64 << (64 - a.plain_modulus.ilog2());
        for (at, sample) in a.words.chunks_exact_mut(n + 1).enumerate() {
            if inverted(at) {
                sample.iter_mut().for_each(|word| *word = word.wrapping_neg());
                sample[n] = sample[n].wrapping_add(one);
            }
        }
        a
    }

    /// Bits that everyone knows, without noise or key: as many as `public`, beside others of `like`'s key.
    pub fn public_bits(&self, like: &Bits, public: impl ExactSizeIterator<Item = bool>) -> Bits {
        let n = self.ring_degree();
        let mut words = vec![0; public.len() * self.sample_words()];
        for (sample, bit) in words.chunks_exact_mut(n + 1).zip(public) {
            sample[n] = u64::from(bit) << (64 - GRID.ilog2());
        }
        Bits { words, plain_modulus: GRID, variance: 0.0, ..*like }
    }

    /// The bits at these places, in this order.
    ///
    /// # Errors
    /// [`SchemeError::BlockIndex`] for one that is not there.
    pub fn select_bits(&self, a: &Bits, indices: &[usize]) -> Result<Bits, SchemeError> {
        a.tag.check(self.fingerprint(), None)?;
        let blocks = self.len(a);
        let mut words = Vec::with_capacity(indices.len() * self.sample_words());
        for &index in indices {
            if index >= blocks {
                return Err(SchemeError::BlockIndex { index, blocks });
            }
            words.extend_from_slice(self.sample(a, index));
        }
        Ok(Bits { words, ..*a })
    }

    /// Refuses bits of another parameter set or key pair than an evaluation key's.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`].
    pub fn check_key(&self, key: &EvaluationKey, a: &Bits) -> Result<(), SchemeError> {
        a.tag.check(self.fingerprint(), Some(key.tag))
    }

    /// Refuses blocks of another parameter set or key pair than an evaluation key's.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`].
    pub fn check_blocks(&self, key: &EvaluationKey, a: &Ciphertexts) -> Result<(), SchemeError> {
        a.tag.check(self.fingerprint(), Some(key.tag))
    }

    /// A batch of this key pair's from samples that bootstraps gave.
    pub fn bits_from(&self, key: &EvaluationKey, words: Vec<u64>) -> Bits {
        Bits { tag: key.tag, words, plain_modulus: GRID, variance: self.noise().bit }
    }

    /// A batch of this key pair's from sums of samples, scaled to parities.
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`] if the noise leaves no room.
    pub fn parities_from(
        &self,
        key: &EvaluationKey,
        words: Vec<u64>,
        variance: f64,
    ) -> Result<Bits, SchemeError> {
        self.check_room(variance, PARITY)?;
        Ok(Bits { tag: key.tag, words, plain_modulus: PARITY, variance })
    }

    /// Packs bits into blocks, as parities: a block for `N` bits. Cost a bit: a quarter of a bootstrap.
    ///
    /// # Errors
    /// [`SchemeError::KeyMismatch`], [`SchemeError::Empty`]; [`SchemeError::NoiseBudget`] if the bits have
    /// no room.
    pub fn pack(&self, key: &EvaluationKey, a: &Bits) -> Result<Ciphertexts, SchemeError> {
        a.tag.check(self.fingerprint(), Some(key.tag))?;
        if a.words.is_empty() {
            return Err(SchemeError::Empty);
        }
        let weight = weight(a);
        let variance = noise::of_sum([(weight, a.variance)]) + self.noise().packing;
        self.check_room(variance, PARITY)?;
        let n = self.ring_degree();
        let blocks = self.len(a).div_ceil(n);
        let mut words = vec![0; blocks * 2 * n];
        let samples: Vec<&[u64]> = a.words.chunks_exact(self.sample_words()).collect();
        let group = PACKED * rayon::current_num_threads();
        for (block, samples) in words.chunks_exact_mut(2 * n).zip(samples.chunks(n)) {
            for (at, samples) in samples.chunks(group).enumerate() {
                let packed = self.packed(key, weight, samples);
                for (sum, part) in block.chunks_exact_mut(n).zip(packed.as_ref().chunks_exact(n)) {
                    polynomial::add_rotated(sum, part, at * group);
                }
                checkpoint()?;
            }
        }
        let state = Torus { plain_modulus: PARITY, count: 1, variance };
        Ok(Batch { tag: a.tag, words, blocks, state })
    }

    /// Samples times a weight in the first positions of a block.
    fn packed(
        &self,
        key: &EvaluationKey,
        weight: u64,
        samples: &[&[u64]],
    ) -> GlweCiphertextOwned<u64> {
        let (n, small) = (self.ring_degree(), self.spec().lwe_dimension + 1);
        let mut switched = vec![0; samples.len() * small];
        switched.par_chunks_exact_mut(small).zip(samples).for_each(|(out, sample)| {
            let scaled: Vec<u64> = sample.iter().map(|x| x.wrapping_mul(weight)).collect();
            keyswitch_lwe_ciphertext(
                &key.keyswitch,
                &LweCiphertext::from_container(scaled, MODULUS),
                &mut LweCiphertext::from_container(out, MODULUS),
            );
        });
        let mut block = GlweCiphertext::new(0, RING, PolynomialSize(n), MODULUS);
        par_keyswitch_lwe_ciphertext_list_and_pack_in_glwe_ciphertext(
            &key.packing,
            &LweCiphertextList::from_container(switched, LweSize(small), MODULUS),
            &mut block,
        );
        block
    }

    /// What the key owner reads: bits or parities.
    ///
    /// # Errors
    /// [`SchemeError::KeyMismatch`]; [`SchemeError::NotACount`] for ciphertexts that were altered.
    pub fn decrypt_bits(&self, key: &SecretKey, a: &Bits) -> Result<Vec<bool>, SchemeError> {
        key.tag.check(self.fingerprint(), None)?;
        a.tag.check(self.fingerprint(), Some(key.tag))?;
        let plaintexts = self.round(&self.sample_phases(key, a), a.plain_modulus)?;
        Ok(plaintexts.into_iter().map(|plaintext| plaintext & 1 == 1).collect())
    }

    /// The mean square of the noise.
    ///
    /// # Errors
    /// [`SchemeError::KeyMismatch`].
    pub fn measured_bit_variance(&self, key: &SecretKey, a: &Bits) -> Result<f64, SchemeError> {
        key.tag.check(self.fingerprint(), None)?;
        a.tag.check(self.fingerprint(), Some(key.tag))?;
        Ok(mean_square(&self.sample_phases(key, a), a.plain_modulus))
    }

    fn sample_phases(&self, key: &SecretKey, a: &Bits) -> Zeroizing<Vec<u64>> {
        let phase = |sample: &[u64]| {
            let (mask, body) = sample.split_at(self.ring_degree());
            let products = mask.iter().zip(&key.ring).map(|(a, s)| a.wrapping_mul(*s));
            body[0].wrapping_sub(products.fold(0, u64::wrapping_add))
        };
        Zeroizing::new(a.words.chunks_exact(self.sample_words()).map(phase).collect())
    }
}

/// What makes a parity of a bit.
fn weight(a: &Bits) -> u64 {
    if a.plain_modulus == PARITY { 1 } else { PARITY_WEIGHT }
}
