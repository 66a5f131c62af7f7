use std::borrow::Cow;

use super::encryption::add_bits;
use super::noise::PARITY_WEIGHT;
use super::{Ciphertexts, PARITY, Tfhe, noise, polynomial};
use crate::streams::count_blocks;
use crate::{Scheme, SchemeError};

impl Tfhe {
    fn block_words(&self) -> usize {
        2 * self.ring_degree()
    }

    fn block<'a>(&self, a: &'a Ciphertexts, index: usize) -> Result<&'a [u64], SchemeError> {
        let blocks = self.blocks(a);
        let at = index.min(blocks) * self.block_words();
        a.words[at..].get(..self.block_words()).ok_or(SchemeError::BlockIndex { index, blocks })
    }

    /// Batches of one key pair that agree in their plaintext modulus: all become parities if one is.
    fn alike<'a>(
        &self,
        parts: &[&'a Ciphertexts],
    ) -> Result<Vec<Cow<'a, Ciphertexts>>, SchemeError> {
        let first = parts.first().ok_or(SchemeError::Empty)?.tag;
        for part in parts {
            part.tag.check(self.fingerprint(), Some(first))?;
        }
        let parities = parts.iter().any(|part| part.plain_modulus == PARITY);
        let unify = |part: &&'a Ciphertexts| {
            if !parities || part.plain_modulus == PARITY {
                return Cow::Borrowed(*part);
            }
            let words = part.words.iter().map(|word| word.wrapping_mul(PARITY_WEIGHT)).collect();
            let variance = noise::of_sum([(PARITY_WEIGHT, part.variance)]);
            Cow::Owned(Ciphertexts { words, variance, plain_modulus: PARITY, ..**part })
        };
        Ok(parts.iter().map(unify).collect())
    }

    /// A batch of words, if its noise leaves room.
    fn batch(
        &self,
        like: &Ciphertexts,
        words: Vec<u64>,
        count: u64,
        variance: f64,
    ) -> Result<Ciphertexts, SchemeError> {
        self.check_room(variance, like.plain_modulus)?;
        Ok(Ciphertexts { words, count, variance, ..*like })
    }

    pub(super) fn check_room(&self, variance: f64, plain_modulus: u64) -> Result<(), SchemeError> {
        let budget = noise::budget(variance, plain_modulus);
        if budget >= 0.0 { Ok(()) } else { Err(SchemeError::NoiseBudget { needed_bits: -budget }) }
    }

    pub(super) fn add_blocks(
        &self,
        a: &Ciphertexts,
        b: &Ciphertexts,
    ) -> Result<Ciphertexts, SchemeError> {
        let (expected, found) = (self.blocks(a), self.blocks(b));
        if expected != found {
            return Err(SchemeError::BlockCount { expected, found });
        }
        let pairs: Vec<_> = (0..expected).map(|i| (i, i)).collect();
        self.add_block_pairs(a, b, &pairs)
    }

    pub(super) fn add_block_pairs(
        &self,
        a: &Ciphertexts,
        b: &Ciphertexts,
        pairs: &[(usize, usize)],
    ) -> Result<Ciphertexts, SchemeError> {
        let operands = self.alike(&[a, b])?;
        let (a, b) = (&*operands[0], &*operands[1]);
        if pairs.is_empty() {
            return Err(SchemeError::Empty);
        }
        let mut words = Vec::with_capacity(pairs.len() * self.block_words());
        for &(i, j) in pairs {
            let sums = self.block(a, i)?.iter().zip(self.block(b, j)?);
            words.extend(sums.map(|(x, y)| x.wrapping_add(*y)));
        }
        let variance = noise::of_sum([(1, a.variance), (1, b.variance)]);
        self.batch(a, words, a.count.saturating_add(b.count), variance)
    }

    pub(super) fn add_plain_bits(
        &self,
        a: &mut Ciphertexts,
        bits: &[u64],
    ) -> Result<(), SchemeError> {
        a.tag.check(self.fingerprint(), None)?;
        let (expected, found) = (self.blocks(a), count_blocks(bits, self.block_length())?);
        if expected != found {
            return Err(SchemeError::BlockCount { expected, found });
        }
        let (n, plain_modulus) = (self.ring_degree(), a.plain_modulus);
        for (block, bits) in a.words.chunks_exact_mut(2 * n).zip(bits.chunks_exact(n / 64)) {
            add_bits(&mut block[n..], bits, plain_modulus);
        }
        a.count = a.count.saturating_add(1);
        Ok(())
    }

    /// The other bits, or the other parities of counts, for free: bits stay bits.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for blocks of another set.
    pub fn invert_blocks(&self, a: &Ciphertexts) -> Result<Ciphertexts, SchemeError> {
        a.tag.check(self.fingerprint(), None)?;
        let mut inverted = a.clone();
        // One minus a bit; of a count all that matters is the parity, and counts only go up.
        if a.holds_bits() {
            inverted.words.iter_mut().for_each(|word| *word = word.wrapping_neg());
        } else {
            inverted.count = a.count.saturating_add(1);
        }
        let n = self.ring_degree();
        for block in inverted.words.chunks_exact_mut(2 * n) {
            add_bits(&mut block[n..], &vec![u64::MAX; n / 64], a.plain_modulus);
        }
        Ok(inverted)
    }

    pub(super) fn horner_rows(
        &self,
        parts: &[&Ciphertexts],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<Ciphertexts, SchemeError> {
        let parts = self.alike(parts)?;
        if rows.is_empty() {
            return Err(SchemeError::Empty);
        }
        let size = self.block_words();
        let mut words = vec![0u64; rows.len() * size];
        let (mut count, mut variance) = (0u64, 0f64);
        for (sum, row) in words.chunks_exact_mut(size).zip(rows) {
            if row.is_empty() || row.len() > bases.len() + 1 {
                let (expected, found) = (bases.len() + 1, row.len());
                return Err(SchemeError::BlockCount { expected, found });
            }
            let (mut ones, mut spread) = (0u64, 0f64);
            for (k, &(part, index)) in row.iter().enumerate() {
                let part = parts.get(part).ok_or(SchemeError::BlockIndex { index, blocks: 0 })?;
                let base = if k == 0 { 0 } else { bases[k - 1] };
                if base != 1 {
                    sum.iter_mut().for_each(|word| *word = word.wrapping_mul(base));
                }
                polynomial::add_assign(sum, self.block(part, index)?);
                ones = ones.saturating_mul(base).saturating_add(part.count);
                spread = noise::of_sum([(base, spread), (1, part.variance)]);
            }
            (count, variance) = (count.max(ones), variance.max(spread));
        }
        self.batch(&parts[0], words, count, variance)
    }

    pub(super) fn select_blocks(
        &self,
        a: &Ciphertexts,
        blocks: &[usize],
    ) -> Result<Ciphertexts, SchemeError> {
        a.tag.check(self.fingerprint(), None)?;
        if blocks.is_empty() {
            return Err(SchemeError::Empty);
        }
        let mut words = Vec::with_capacity(blocks.len() * self.block_words());
        for &index in blocks {
            words.extend_from_slice(self.block(a, index)?);
        }
        Ok(Ciphertexts { words, ..*a })
    }

    pub(super) fn concatenate_blocks(
        &self,
        parts: &[&Ciphertexts],
    ) -> Result<Ciphertexts, SchemeError> {
        let parts = self.alike(parts)?;
        let words = parts.iter().flat_map(|part| &part.words).copied().collect();
        let count = parts.iter().map(|part| part.count).max().unwrap_or(0);
        let variance = parts.iter().map(|part| part.variance).fold(0.0, f64::max);
        self.batch(&parts[0], words, count, variance)
    }
}
