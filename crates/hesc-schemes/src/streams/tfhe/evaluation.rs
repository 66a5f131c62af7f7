use std::borrow::Cow;

use super::encryption::add_bits;
use super::noise::PARITY_WEIGHT;
use super::{Ciphertexts, CompactCiphertexts, PARITY, Rounded, Tfhe, Torus, noise, polynomial};
use crate::streams::{
    Batch, Combine, Compact, Encrypt, WeightedSums, bases_of_one, check_parts, rows_of,
};
use crate::{BitProduct, SchemeError};

impl Tfhe {
    /// Batches of one key pair that agree in their plaintext modulus: all become parities if one is.
    fn alike<'a>(
        &self,
        parts: &[&'a Ciphertexts],
    ) -> Result<Vec<Cow<'a, Ciphertexts>>, SchemeError> {
        check_parts(parts, self.fingerprint())?;
        let parities = parts.iter().any(|part| part.state.plain_modulus == PARITY);
        let unify = |part: &&'a Ciphertexts| {
            if !parities || part.state.plain_modulus == PARITY {
                return Cow::Borrowed(*part);
            }
            let words = part.words.iter().map(|word| word.wrapping_mul(PARITY_WEIGHT)).collect();
            let variance = noise::of_sum([(PARITY_WEIGHT, part.state.variance)]);
            let state = Torus { variance, plain_modulus: PARITY, ..part.state };
            Cow::Owned(Batch { tag: part.tag, words, blocks: part.blocks, state })
        };
        Ok(parts.iter().map(unify).collect())
    }

    pub(super) fn check_room(&self, variance: f64, plain_modulus: u64) -> Result<(), SchemeError> {
        let budget = noise::budget(variance, plain_modulus);
        if budget >= 0.0 { Ok(()) } else { Err(SchemeError::NoiseBudget { needed_bits: -budget }) }
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
            inverted.state.count = a.state.count.saturating_add(1);
        }
        let n = self.ring_degree();
        for block in inverted.words.chunks_exact_mut(2 * n) {
            add_bits(&mut block[n..], &vec![u64::MAX; n / 64], a.state.plain_modulus);
        }
        Ok(inverted)
    }
}

impl Combine for Tfhe {
    fn bit_product(&self) -> BitProduct {
        BitProduct::ExclusiveOr
    }

    fn parity_survives_wrap(&self) -> bool {
        true
    }

    fn combine_rows(
        &self,
        parts: &[&Ciphertexts],
        rows: &[Vec<(usize, usize)>],
    ) -> Result<Ciphertexts, SchemeError> {
        self.horner(parts, rows, &bases_of_one(rows))
    }

    fn combine_bits_assign(&self, a: &mut Ciphertexts, bits: &[u64]) -> Result<(), SchemeError> {
        a.check_bits(self.fingerprint(), bits, self.block_length())?;
        let (n, plain_modulus) = (self.ring_degree(), a.state.plain_modulus);
        for (block, bits) in a.words.chunks_exact_mut(2 * n).zip(bits.chunks_exact(n / 64)) {
            add_bits(&mut block[n..], bits, plain_modulus);
        }
        a.state.count = a.state.count.saturating_add(1);
        Ok(())
    }

    fn arrange(
        &self,
        parts: &[&Ciphertexts],
        places: &[(usize, usize)],
    ) -> Result<Ciphertexts, SchemeError> {
        let parts = self.alike(parts)?;
        let parts: Vec<&Ciphertexts> = parts.iter().map(Cow::as_ref).collect();
        let states = || parts.iter().map(|part| part.state);
        let state = Torus {
            plain_modulus: parts[0].state.plain_modulus,
            count: states().map(|state| state.count).max().unwrap_or(0),
            variance: states().map(|state| state.variance).fold(0.0, f64::max),
        };
        self.check_room(state.variance, state.plain_modulus)?;
        Batch::arranged(&parts, places, state)
    }

    fn weighting(&self) -> Option<&dyn WeightedSums<Ciphertexts>> {
        Some(self)
    }
}

impl WeightedSums<Ciphertexts> for Tfhe {
    fn horner(
        &self,
        parts: &[&Ciphertexts],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<Ciphertexts, SchemeError> {
        let parts = self.alike(parts)?;
        let parts: Vec<&Ciphertexts> = parts.iter().map(Cow::as_ref).collect();
        let operands = rows_of(&parts, rows, bases)?;
        let (tag, mut state) = (parts[0].tag, Torus { count: 0, variance: 0.0, ..parts[0].state });
        for row in rows {
            let (mut ones, mut spread) = (0u64, 0f64);
            for (k, &(part, _)) in row.iter().enumerate() {
                let base = if k == 0 { 0 } else { bases[k - 1] };
                ones = ones.saturating_mul(base).saturating_add(parts[part].state.count);
                spread = noise::of_sum([(base, spread), (1, parts[part].state.variance)]);
            }
            (state.count, state.variance) = (state.count.max(ones), state.variance.max(spread));
        }
        self.check_room(state.variance, state.plain_modulus)?;
        let mut words = Vec::with_capacity(rows.len() * 2 * self.ring_degree());
        for row in operands {
            let start = words.len();
            words.extend_from_slice(row[0]);
            let sum = &mut words[start..];
            for (block, &base) in row[1..].iter().zip(bases) {
                if base != 1 {
                    sum.iter_mut().for_each(|word| *word = word.wrapping_mul(base));
                }
                polynomial::add_assign(sum, block);
            }
        }
        Ok(Batch { tag, words, blocks: rows.len(), state })
    }
}

impl Tfhe {
    /// The fewest bits of compact ciphertexts that leave noise of this variance room.
    pub(super) fn compact_bits(
        &self,
        variance: f64,
        plain_modulus: u64,
    ) -> Result<u32, SchemeError> {
        let n = self.ring_degree();
        let fits =
            |bits: &u32| noise::budget(variance + noise::rounding(n, *bits), plain_modulus) >= 0.0;
        (2..=31).find(fits).ok_or(SchemeError::CannotCompact { ring_degree: n })
    }
}

impl Compact for Tfhe {
    type CompactCiphertexts = CompactCiphertexts;

    /// The fewest bits that leave the noise room. Cost: one pass.
    fn compact(&self, a: &Ciphertexts) -> Result<CompactCiphertexts, SchemeError> {
        a.tag.check(self.fingerprint(), None)?;
        let bits = self.compact_bits(a.state.variance, a.state.plain_modulus)?;
        let half = 1u64 << (63 - bits);
        let words =
            a.words.iter().map(|word| (word.wrapping_add(half) >> (64 - bits)) as u32).collect();
        let state = Rounded { bits, plain_modulus: a.state.plain_modulus };
        Ok(Batch { tag: a.tag, words, blocks: a.blocks, state })
    }
}
