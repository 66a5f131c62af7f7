use std::borrow::Cow;

use super::{BitCipher, Bitwise, Bounded, Ciphertexts, map_blocks};
use crate::streams::classical_sets::BLOCK_LENGTH;
use crate::streams::{
    Batch, Combine, Compact, MaskPositions, MovePositions, WeightedSums, bases_of_one, block_at,
    check_parts, rows_of,
};
use crate::{BitProduct, SchemeError};

impl<C: BitCipher> Bitwise<C> {
    /// The bound on counts of a result; refuses counts that decryption does not look for.
    pub(super) fn check_bound(&self, count: u64) -> Result<u64, SchemeError> {
        let max_count = self.cipher.max_count();
        if self.cipher.counts_parity() {
            return Ok(max_count);
        }
        if count > max_count {
            return Err(SchemeError::CountBound { count, max_count });
        }
        Ok(count)
    }

    /// What holds of blocks that may come from any of these parts, of which this is the first.
    fn state_of_all(
        &self,
        parts: &[&Ciphertexts<C>],
        first: &Ciphertexts<C>,
    ) -> Bounded<C::Context> {
        let bound = parts.iter().map(|part| part.state.bound).max().unwrap_or(1);
        Bounded { bound, ..first.state.clone() }
    }

    /// `base * a`, by doubling.
    fn times(&self, context: &C::Context, a: &C::Block, base: u64) -> C::Block {
        let mut result = a.clone();
        if base == 0 {
            self.cipher.mask(context, &mut result, 0);
            return result;
        }
        // The highest bit is there already.
        for bit in (0..u64::BITS - 1 - base.leading_zeros()).rev() {
            result = self.cipher.combine(context, &result, &result);
            if base >> bit & 1 == 1 {
                result = self.cipher.combine(context, &result, a);
            }
        }
        result
    }
}

impl<C: BitCipher> Combine for Bitwise<C> {
    fn bit_product(&self) -> BitProduct {
        self.cipher.bit_product()
    }

    fn parity_survives_wrap(&self) -> bool {
        self.cipher.counts_parity()
    }

    fn combine_rows(
        &self,
        parts: &[&Ciphertexts<C>],
        rows: &[Vec<(usize, usize)>],
    ) -> Result<Ciphertexts<C>, SchemeError> {
        self.horner(parts, rows, &bases_of_one(rows))
    }

    fn combine_bits_assign(&self, a: &mut Ciphertexts<C>, bits: &[u64]) -> Result<(), SchemeError> {
        a.check_bits(self.fingerprint, bits, BLOCK_LENGTH)?;
        a.state.bound = self.check_bound(a.state.bound + 1)?;
        for (block, &bits) in a.words.iter_mut().zip(bits) {
            self.cipher.combine_bits(&a.state.context, block, bits);
        }
        Ok(())
    }

    fn arrange(
        &self,
        parts: &[&Ciphertexts<C>],
        places: &[(usize, usize)],
    ) -> Result<Ciphertexts<C>, SchemeError> {
        let first = check_parts(parts, self.fingerprint)?;
        Batch::arranged(parts, places, self.state_of_all(parts, first))
    }

    fn masking(&self) -> Option<&dyn MaskPositions<Ciphertexts<C>>> {
        Some(self)
    }

    fn weighting(&self) -> Option<&dyn WeightedSums<Ciphertexts<C>>> {
        if self.cipher.counts_parity() { None } else { Some(self) }
    }

    fn moving(&self) -> Option<&dyn MovePositions<Ciphertexts<C>>> {
        Some(self)
    }
}

impl<C: BitCipher> MaskPositions<Ciphertexts<C>> for Bitwise<C> {
    /// Masks are public, so nothing is hidden by hiding which positions they keep.
    fn mask_assign(&self, a: &mut Ciphertexts<C>, bits: &[u64]) -> Result<(), SchemeError> {
        a.check_bits(self.fingerprint, bits, BLOCK_LENGTH)?;
        for (block, &bits) in a.words.iter_mut().zip(bits) {
            self.cipher.mask(&a.state.context, block, bits);
        }
        Ok(())
    }
}

impl<C: BitCipher> WeightedSums<Ciphertexts<C>> for Bitwise<C> {
    fn horner(
        &self,
        parts: &[&Ciphertexts<C>],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<Ciphertexts<C>, SchemeError> {
        let Batch { tag, state, .. } = check_parts(parts, self.fingerprint)?;
        let operands = rows_of(parts, rows, bases)?;
        let mut bound = 0;
        for row in rows {
            let mut sum = 0u64;
            for (k, &(part, _)) in row.iter().enumerate() {
                let base = if k == 0 { 0 } else { bases[k - 1] };
                sum = sum.saturating_mul(base).saturating_add(parts[part].state.bound);
            }
            bound = bound.max(sum);
        }
        let context = &state.context;
        let state = Bounded { bound: self.check_bound(bound)?, context: context.clone() };
        let words = map_blocks(&operands, |_, row| {
            let first = Cow::Borrowed(&row[0][0]);
            let digits = row[1..].iter().zip(bases);
            let sum = digits.fold(first, |sum, (block, &base)| {
                let sum = if base == 1 { sum } else { Cow::Owned(self.times(context, &sum, base)) };
                Cow::Owned(self.cipher.combine(context, &sum, &block[0]))
            });
            sum.into_owned()
        })?;
        Ok(Batch { tag: *tag, words, blocks: rows.len(), state })
    }
}

impl<C: BitCipher> MovePositions<Ciphertexts<C>> for Bitwise<C> {
    fn gather(
        &self,
        parts: &[&Ciphertexts<C>],
        sources: &[Option<(usize, usize)>],
    ) -> Result<Ciphertexts<C>, SchemeError> {
        let first = check_parts(parts, self.fingerprint)?;
        if sources.is_empty() {
            return Err(SchemeError::Empty);
        }
        let Batch { tag, state, .. } = first;
        let mut empty = first.words[0].clone();
        self.cipher.mask(&state.context, &mut empty, 0);
        let mut words = vec![empty; sources.len().div_ceil(BLOCK_LENGTH)];
        for (block, sources) in words.iter_mut().zip(sources.chunks(BLOCK_LENGTH)) {
            for (to, source) in sources.iter().enumerate() {
                let Some((part, at)) = *source else { continue };
                let source = block_at(parts, (part, at / BLOCK_LENGTH))?;
                self.cipher.place(block, to, &source[0], at % BLOCK_LENGTH);
            }
        }
        let (blocks, state) = (words.len(), self.state_of_all(parts, first));
        Ok(Batch { tag: *tag, words, blocks, state })
    }
}

impl<C: BitCipher> Compact for Bitwise<C> {
    /// A ciphertext is as small as it gets.
    type CompactCiphertexts = Ciphertexts<C>;

    fn compact(&self, a: &Ciphertexts<C>) -> Result<Ciphertexts<C>, SchemeError> {
        a.tag.check(self.fingerprint, None)?;
        Ok(a.clone())
    }
}
