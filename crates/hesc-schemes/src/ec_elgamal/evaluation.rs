use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::traits::Identity;
use rayon::prelude::*;

use super::encryption::lift;
use super::{BLOCK_LENGTH, Ciphertexts, EcElgamal, Pair};
use crate::SchemeError;
use crate::scheme::count_blocks;

/// Pairs from which an operation of a few additions each is worth a second thread.
const PARALLEL_PAIRS: usize = 1024;

fn sum(a: &Pair, b: &Pair) -> Pair {
    [a[0] + b[0], a[1] + b[1]]
}

/// `base * a` for a small public base.
fn times(a: &Pair, base: u64) -> Pair {
    let mut result = [RistrettoPoint::identity(); 2];
    for bit in (0..u64::BITS - base.leading_zeros()).rev() {
        result = sum(&result, &result);
        if base >> bit & 1 == 1 {
            result = sum(&result, a);
        }
    }
    result
}

impl EcElgamal {
    fn check_operands(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<(), SchemeError> {
        a.tag.check(self.fingerprint, None)?;
        b.tag.check(self.fingerprint, Some(a.tag))
    }

    /// The pairs of one block.
    fn block<'a>(&self, a: &'a Ciphertexts, index: usize) -> Result<&'a [Pair], SchemeError> {
        let blocks = a.pairs.len() / BLOCK_LENGTH;
        a.pairs
            .chunks_exact(BLOCK_LENGTH)
            .nth(index)
            .ok_or(SchemeError::BlockIndex { index, blocks })
    }

    /// `a + b` for each pair of blocks. Cost a position: two additions of points.
    pub(super) fn add_block_pairs(
        &self,
        a: &Ciphertexts,
        b: &Ciphertexts,
        blocks: &[(usize, usize)],
    ) -> Result<Ciphertexts, SchemeError> {
        self.check_operands(a, b)?;
        if blocks.is_empty() {
            return Err(SchemeError::Empty);
        }
        let bound = a.bound + b.bound;
        self.check_bound(bound)?;
        let operands = blocks
            .iter()
            .map(|&(i, j)| Ok((self.block(a, i)?, self.block(b, j)?)))
            .collect::<Result<Vec<_>, SchemeError>>()?;
        let add = |&(a, b): &(&[Pair], &[Pair])| -> Vec<Pair> {
            a.iter().zip(b).map(|(a, b)| sum(a, b)).collect()
        };
        let pairs = if operands.len() * BLOCK_LENGTH < PARALLEL_PAIRS {
            operands.iter().flat_map(add).collect()
        } else {
            operands.par_iter().flat_map_iter(add).collect()
        };
        Ok(Ciphertexts { tag: a.tag, pairs, bound })
    }

    /// `a += bits`.
    pub(super) fn add_plain(&self, a: &mut Ciphertexts, bits: &[u64]) -> Result<(), SchemeError> {
        self.check_bits(a, bits)?;
        let bound = a.bound + 1;
        self.check_bound(bound)?;
        for (i, pair) in a.pairs.iter_mut().enumerate() {
            pair[1] += lift(bits[i / BLOCK_LENGTH] >> (i % BLOCK_LENGTH));
        }
        a.bound = bound;
        Ok(())
    }

    /// `a *= bits`: a position that is masked becomes the encryption `(0, 0)` of zero. Masks are
    /// public, so nothing is hidden by hiding which.
    pub(super) fn multiply_masks(
        &self,
        a: &mut Ciphertexts,
        bits: &[u64],
    ) -> Result<(), SchemeError> {
        self.check_bits(a, bits)?;
        for (i, pair) in a.pairs.iter_mut().enumerate() {
            if bits[i / BLOCK_LENGTH] >> (i % BLOCK_LENGTH) & 1 == 0 {
                *pair = [RistrettoPoint::identity(); 2];
            }
        }
        Ok(())
    }

    fn check_bits(&self, a: &Ciphertexts, bits: &[u64]) -> Result<(), SchemeError> {
        a.tag.check(self.fingerprint, None)?;
        let (expected, found) = (a.pairs.len() / BLOCK_LENGTH, count_blocks(bits, BLOCK_LENGTH)?);
        if expected != found {
            return Err(SchemeError::BlockCount { expected, found });
        }
        Ok(())
    }

    /// Horner's rule over blocks; see [`crate::Scheme::horner`].
    pub(super) fn horner_blocks(
        &self,
        parts: &[&Ciphertexts],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<Ciphertexts, SchemeError> {
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
        self.check_bound(bound)?;
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
        let pairs = operands
            .par_iter()
            .flat_map_iter(|row| {
                (0..BLOCK_LENGTH).map(move |i| {
                    let digits = row[1..].iter().zip(bases);
                    digits.fold(row[0][i], |value, (block, &base)| {
                        sum(&times(&value, base), &block[i])
                    })
                })
            })
            .collect();
        Ok(Ciphertexts { tag: first.tag, pairs, bound })
    }

    /// The blocks of these indices.
    pub(super) fn select_blocks(
        &self,
        a: &Ciphertexts,
        blocks: &[usize],
    ) -> Result<Ciphertexts, SchemeError> {
        a.tag.check(self.fingerprint, None)?;
        if blocks.is_empty() {
            return Err(SchemeError::Empty);
        }
        let mut pairs = Vec::with_capacity(blocks.len() * BLOCK_LENGTH);
        for &index in blocks {
            pairs.extend_from_slice(self.block(a, index)?);
        }
        Ok(Ciphertexts { pairs, ..*a })
    }

    /// All blocks of all parts.
    pub(super) fn concatenate_blocks(
        &self,
        parts: &[&Ciphertexts],
    ) -> Result<Ciphertexts, SchemeError> {
        let first = *parts.first().ok_or(SchemeError::Empty)?;
        for part in parts {
            self.check_operands(first, part)?;
        }
        Ok(Ciphertexts {
            tag: first.tag,
            pairs: parts.iter().flat_map(|part| &part.pairs).copied().collect(),
            bound: parts.iter().map(|part| part.bound).max().unwrap_or(1),
        })
    }
}
