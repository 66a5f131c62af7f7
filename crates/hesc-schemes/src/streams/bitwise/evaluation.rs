use hesc_math::AesCtrRng;
use rand_core::{CryptoRng, SeedableRng};

use super::{BLOCK_LENGTH, BitCipher, Bitwise, Ciphertexts, PublicKey, generators, map_blocks};
use crate::SchemeError;
use crate::streams::count_blocks;

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

    fn check_operands(&self, a: &Ciphertexts<C>, b: &Ciphertexts<C>) -> Result<(), SchemeError> {
        a.tag.check(self.fingerprint, None)?;
        b.tag.check(self.fingerprint, Some(a.tag))
    }

    /// The operands of a row, which must be there.
    fn block<'a>(&self, a: &'a Ciphertexts<C>, index: usize) -> Result<&'a C::Block, SchemeError> {
        let blocks = a.blocks.len();
        a.blocks.get(index).ok_or(SchemeError::BlockIndex { index, blocks })
    }

    /// `a + b` for each pair of blocks.
    pub(super) fn add_block_pairs(
        &self,
        a: &Ciphertexts<C>,
        b: &Ciphertexts<C>,
        pairs: &[(usize, usize)],
    ) -> Result<Ciphertexts<C>, SchemeError> {
        self.check_operands(a, b)?;
        if pairs.is_empty() {
            return Err(SchemeError::Empty);
        }
        let bound = self.check_bound(a.bound + b.bound)?;
        let operands = pairs
            .iter()
            .map(|&(i, j)| Ok((self.block(a, i)?, self.block(b, j)?)))
            .collect::<Result<Vec<_>, SchemeError>>()?;
        let blocks = map_blocks(&operands, |_, (x, y)| self.cipher.add(&a.context, x, y))?;
        Ok(Ciphertexts { tag: a.tag, context: a.context.clone(), blocks, bound })
    }

    /// `a += bits`.
    pub(super) fn add_plain(
        &self,
        a: &mut Ciphertexts<C>,
        bits: &[u64],
    ) -> Result<(), SchemeError> {
        self.check_bits(a, bits)?;
        a.bound = self.check_bound(a.bound + 1)?;
        for (block, &bits) in a.blocks.iter_mut().zip(bits) {
            self.cipher.add_bits(&a.context, block, bits);
        }
        Ok(())
    }

    /// `a *= bits`. Masks are public, so nothing is hidden by hiding which.
    pub(super) fn multiply_masks(
        &self,
        a: &mut Ciphertexts<C>,
        bits: &[u64],
    ) -> Result<(), SchemeError> {
        self.check_bits(a, bits)?;
        for (block, &bits) in a.blocks.iter_mut().zip(bits) {
            self.cipher.mask(&a.context, block, bits);
        }
        Ok(())
    }

    fn check_bits(&self, a: &Ciphertexts<C>, bits: &[u64]) -> Result<(), SchemeError> {
        a.tag.check(self.fingerprint, None)?;
        let (expected, found) = (a.blocks.len(), count_blocks(bits, BLOCK_LENGTH)?);
        if expected != found {
            return Err(SchemeError::BlockCount { expected, found });
        }
        Ok(())
    }

    /// Horner's rule over blocks; see [`crate::Scheme::horner`].
    pub(super) fn horner_blocks(
        &self,
        parts: &[&Ciphertexts<C>],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<Ciphertexts<C>, SchemeError> {
        let first = *parts.first().ok_or(SchemeError::Empty)?;
        for part in parts {
            self.check_operands(first, part)?;
        }
        if rows.is_empty() {
            return Err(SchemeError::Empty);
        }
        // What the largest counts of all digits add up to.
        let largest = parts.iter().map(|part| part.bound).max().unwrap_or(0);
        let mut bound = 0;
        for row in rows {
            if row.is_empty() || row.len() > bases.len() + 1 {
                return Err(SchemeError::BlockCount {
                    expected: bases.len() + 1,
                    found: row.len(),
                });
            }
            let fused = bases[..row.len() - 1]
                .iter()
                .fold(largest, |value, base| value.saturating_mul(*base).saturating_add(largest));
            bound = bound.max(fused);
        }
        let bound = self.check_bound(bound)?;
        let operands = rows
            .iter()
            .map(|row| {
                row.iter()
                    .map(|&(part, index)| {
                        let part =
                            parts.get(part).ok_or(SchemeError::BlockIndex { index, blocks: 0 })?;
                        self.block(part, index)
                    })
                    .collect::<Result<Vec<_>, SchemeError>>()
            })
            .collect::<Result<Vec<_>, SchemeError>>()?;
        let context = &first.context;
        let blocks = map_blocks(&operands, |_, row| {
            let digits = row[1..].iter().zip(bases);
            digits.fold(row[0].clone(), |value, (block, &base)| match base {
                1 => self.cipher.add(context, &value, block),
                _ => self.cipher.add(context, &self.cipher.times(context, &value, base), block),
            })
        })?;
        Ok(Ciphertexts { tag: first.tag, context: context.clone(), blocks, bound })
    }

    /// The same counts, fresh: the bound stays.
    pub(super) fn rerandomise_blocks(
        &self,
        key: &PublicKey<C>,
        a: &Ciphertexts<C>,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts<C>, SchemeError> {
        a.tag.check(self.fingerprint, Some(key.tag))?;
        let seeds = generators(a.blocks.len(), rng);
        let blocks = map_blocks(&a.blocks, |i, block| {
            let rng = &mut AesCtrRng::from_seed(*seeds[i]);
            self.cipher.rerandomise(&key.key, &a.context, block, rng)
        })?;
        Ok(Ciphertexts { tag: a.tag, context: a.context.clone(), blocks, bound: a.bound })
    }

    /// Single positions in new blocks; see [`crate::Scheme::gather`].
    pub(super) fn gather_positions(
        &self,
        parts: &[&Ciphertexts<C>],
        sources: &[Option<(usize, usize)>],
    ) -> Result<Ciphertexts<C>, SchemeError> {
        let first = *parts.first().ok_or(SchemeError::Empty)?;
        for part in parts {
            self.check_operands(first, part)?;
        }
        if sources.is_empty() {
            return Err(SchemeError::Empty);
        }
        let mut empty = self.block(first, 0)?.clone();
        self.cipher.mask(&first.context, &mut empty, 0);
        let mut blocks = vec![empty; sources.len().div_ceil(BLOCK_LENGTH)];
        for (block, sources) in blocks.iter_mut().zip(sources.chunks(BLOCK_LENGTH)) {
            for (to, source) in sources.iter().enumerate() {
                let Some((part, at)) = *source else { continue };
                let index = at / BLOCK_LENGTH;
                let part = parts.get(part).ok_or(SchemeError::BlockIndex { index, blocks: 0 })?;
                let source = self.block(part, index)?;
                self.cipher.place(block, to, source, at % BLOCK_LENGTH);
            }
        }
        let bound = parts.iter().map(|part| part.bound).max().unwrap_or(1);
        Ok(Ciphertexts { tag: first.tag, context: first.context.clone(), blocks, bound })
    }

    /// The blocks of these indices.
    pub(super) fn select_blocks(
        &self,
        a: &Ciphertexts<C>,
        indices: &[usize],
    ) -> Result<Ciphertexts<C>, SchemeError> {
        a.tag.check(self.fingerprint, None)?;
        if indices.is_empty() {
            return Err(SchemeError::Empty);
        }
        let blocks = indices
            .iter()
            .map(|&index| self.block(a, index).cloned())
            .collect::<Result<_, SchemeError>>()?;
        Ok(Ciphertexts { tag: a.tag, context: a.context.clone(), blocks, bound: a.bound })
    }

    /// All blocks of all parts.
    pub(super) fn concatenate_blocks(
        &self,
        parts: &[&Ciphertexts<C>],
    ) -> Result<Ciphertexts<C>, SchemeError> {
        let first = *parts.first().ok_or(SchemeError::Empty)?;
        for part in parts {
            self.check_operands(first, part)?;
        }
        Ok(Ciphertexts {
            tag: first.tag,
            context: first.context.clone(),
            blocks: parts.iter().flat_map(|part| &part.blocks).cloned().collect(),
            bound: parts.iter().map(|part| part.bound).max().unwrap_or(1),
        })
    }
}
