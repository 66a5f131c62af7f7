use hesc_math::{Coeff, Poly, Word, kernels, rounding};
use rayon::prelude::*;

use super::Lattice;
use super::ciphertext::{Ciphertexts, CompactCiphertexts};
use super::encoding::Encoding;
use crate::SchemeError;
use crate::rlwe::deviations;
use crate::threads::several_threads;

/// Words above which an addition is worth a second thread: it is bound by memory.
const PARALLEL_WORDS: usize = 1 << 21;

impl<W: Word, E: Encoding<W>> Lattice<W, E> {
    /// Refuses a deviation that does not fit the limit, and a scale that leaves no room for a count.
    pub(super) fn check_noise(&self, deviation: f64, scale: f64) -> Result<(), SchemeError> {
        if self.encoding().max_count(scale) == 0 {
            // A count of one and as much again, to either side of zero.
            let needed_bits = ((4.0 * scale).log2() - self.log2_modulus()).max(0.1);
            return Err(SchemeError::NoiseBudget { needed_bits });
        }
        let budget = deviations::budget(deviation, self.encoding().reach(), scale);
        if budget < 0.0 {
            return Err(SchemeError::NoiseBudget { needed_bits: -budget });
        }
        Ok(())
    }

    /// Refuses operands of different sets, keys or scales.
    fn check_operands(&self, a: &Ciphertexts<W>, b: &Ciphertexts<W>) -> Result<(), SchemeError> {
        self.check_tag(a.tag, None)?;
        self.check_tag(b.tag, Some(a.tag))?;
        if a.scale != b.scale {
            return Err(SchemeError::ScaleMismatch { expected: a.scale, found: b.scale });
        }
        Ok(())
    }

    fn check_same_blocks(a: &Ciphertexts<W>, b: &Ciphertexts<W>) -> Result<(), SchemeError> {
        if a.blocks != b.blocks {
            return Err(SchemeError::BlockCount { expected: a.blocks, found: b.blocks });
        }
        Ok(())
    }

    /// `a + b` for each pair of blocks.
    pub(super) fn add_block_pairs(
        &self,
        a: &Ciphertexts<W>,
        b: &Ciphertexts<W>,
        pairs: &[(usize, usize)],
    ) -> Result<Ciphertexts<W>, SchemeError> {
        self.check_operands(a, b)?;
        if pairs.is_empty() {
            return Err(SchemeError::Empty);
        }
        for &(i, j) in pairs {
            for (index, blocks) in [(i, a.blocks), (j, b.blocks)] {
                if index >= blocks {
                    return Err(SchemeError::BlockIndex { index, blocks });
                }
            }
        }
        let deviation = a.deviation + b.deviation;
        self.check_noise(deviation, a.scale)?;
        let size = 2 * self.ring().poly_len();
        let row = |block: usize| block * size..(block + 1) * size;
        let mut words = Vec::new();
        if pairs.len() * size < PARALLEL_WORDS || !several_threads() {
            words.reserve_exact(pairs.len() * size);
            for &(i, j) in pairs {
                let (a, b) = (&a.words[row(i)], &b.words[row(j)]);
                kernels::append_sum(&mut words, a, b, self.ring());
            }
        } else {
            words.resize(pairs.len() * size, W::zeroed());
            words.par_chunks_exact_mut(size).zip(pairs).for_each(|(out, &(i, j))| {
                out.copy_from_slice(&a.words[row(i)]);
                kernels::add_assign(out, &b.words[row(j)], self.ring());
            });
        }
        Ok(Ciphertexts { tag: a.tag, words, blocks: pairs.len(), deviation, scale: a.scale })
    }

    /// `a + b`, block by block.
    pub(super) fn add_blocks(
        &self,
        a: &Ciphertexts<W>,
        b: &Ciphertexts<W>,
    ) -> Result<Ciphertexts<W>, SchemeError> {
        Self::check_same_blocks(a, b)?;
        let pairs: Vec<_> = (0..a.blocks).map(|i| (i, i)).collect();
        self.add_block_pairs(a, b, &pairs)
    }

    /// `a += bits`: only `c_0` changes; the noise grows by the rounding of the encoding.
    pub(super) fn add_plain(
        &self,
        a: &mut Ciphertexts<W>,
        bits: &[u64],
    ) -> Result<(), SchemeError> {
        self.check_tag(a.tag, None)?;
        self.check_block_count(bits, a.blocks)?;
        if a.scale != self.encoding().fresh_scale() {
            return Err(SchemeError::ScaleMismatch {
                expected: a.scale,
                found: self.encoding().fresh_scale(),
            });
        }
        let deviation = a.deviation + self.encoding().rounding();
        self.check_noise(deviation, a.scale)?;
        let ring = self.ring();
        let mut scratch = self.encoding().scratch();
        let rows = bits.chunks_exact(self.words_per_block());
        for (block, bits) in a.words.chunks_exact_mut(2 * ring.poly_len()).zip(rows) {
            let mut first = Poly::new(&mut block[..ring.poly_len()], ring);
            self.encoding().add_bits(&mut first, bits, &mut scratch, ring);
        }
        a.deviation = deviation;
        Ok(())
    }

    /// `a *= bits`, position by position. Cost a block: five transforms a limb.
    pub(super) fn multiply_masks(
        &self,
        a: &mut Ciphertexts<W>,
        bits: &[u64],
    ) -> Result<(), SchemeError> {
        self.check_tag(a.tag, None)?;
        self.check_block_count(bits, a.blocks)?;
        let ring = self.ring();
        let masks = bits
            .chunks_exact(self.words_per_block())
            .map(|bits| self.encoding().mask(bits, ring))
            .collect::<Result<Vec<_>, _>>()?;
        let (mut deviation, mut scale) = (0f64, a.scale);
        for mask in &masks {
            scale = a.scale * mask.scale;
            deviation = deviation.max(a.deviation * mask.value + scale * mask.rounding);
        }
        self.check_noise(deviation, scale)?;
        for (block, mask) in a.words.chunks_exact_mut(2 * ring.poly_len()).zip(masks) {
            let factor = mask.poly.forward(ring);
            for part in block.chunks_exact_mut(ring.poly_len()) {
                Poly::<W, Coeff, _>::new(part, ring).forward(ring).mul_inverse(&factor, ring);
            }
        }
        (a.deviation, a.scale) = (deviation, scale);
        Ok(())
    }

    /// Rows of blocks by Horner's rule; see [`crate::Scheme::horner`].
    pub(super) fn horner_rows(
        &self,
        parts: &[&Ciphertexts<W>],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<Ciphertexts<W>, SchemeError> {
        let first = *parts.first().ok_or(SchemeError::Empty)?;
        for part in parts {
            self.check_operands(first, part)?;
        }
        if rows.is_empty() {
            return Err(SchemeError::Empty);
        }
        if let Some(base) =
            bases.iter().find(|&&base| self.ring().moduli().iter().any(|q| q.value() <= base))
        {
            return Err(SchemeError::Parameter {
                name: "base",
                value: base.to_string(),
                remedy: "use a base below every prime of the ciphertext modulus",
            });
        }
        let mut deviation = 0f64;
        for row in rows {
            if row.is_empty() || row.len() > bases.len() + 1 {
                return Err(SchemeError::BlockCount {
                    expected: bases.len() + 1,
                    found: row.len(),
                });
            }
            let mut sum = 0f64;
            for (k, &(part, index)) in row.iter().enumerate() {
                let blocks = parts.get(part).map_or(0, |part| part.blocks);
                if index >= blocks {
                    return Err(SchemeError::BlockIndex { index, blocks });
                }
                let base = if k == 0 { 0 } else { bases[k - 1] };
                sum = sum * base as f64 + parts[part].deviation;
            }
            deviation = deviation.max(sum);
        }
        self.check_noise(deviation, first.scale)?;
        let size = 2 * self.ring().poly_len();
        let block = |(part, index): (usize, usize)| &parts[part].words[index * size..][..size];
        let mut words = Vec::with_capacity(rows.len() * size);
        for row in rows {
            let start = words.len();
            words.extend_from_slice(block(row[0]));
            for (&at, &base) in row[1..].iter().zip(bases) {
                kernels::mul_scalar_add(&mut words[start..], base, block(at), self.ring());
            }
        }
        Ok(Ciphertexts { words, blocks: rows.len(), deviation, ..*first })
    }

    /// Blocks by index.
    pub(super) fn select_blocks(
        &self,
        a: &Ciphertexts<W>,
        indices: &[usize],
    ) -> Result<Ciphertexts<W>, SchemeError> {
        self.check_tag(a.tag, None)?;
        if indices.is_empty() {
            return Err(SchemeError::Empty);
        }
        let size = 2 * self.ring().poly_len();
        let mut words = Vec::with_capacity(indices.len() * size);
        for &index in indices {
            if index >= a.blocks {
                return Err(SchemeError::BlockIndex { index, blocks: a.blocks });
            }
            words.extend_from_slice(&a.words[index * size..][..size]);
        }
        Ok(Ciphertexts { words, blocks: indices.len(), ..*a })
    }

    /// All blocks of all parts.
    pub(super) fn concatenate_blocks(
        &self,
        parts: &[&Ciphertexts<W>],
    ) -> Result<Ciphertexts<W>, SchemeError> {
        let first = *parts.first().ok_or(SchemeError::Empty)?;
        for part in parts {
            self.check_operands(first, part)?;
        }
        let mut words = Vec::with_capacity(parts.iter().map(|p| p.words.len()).sum());
        for part in parts {
            words.extend_from_slice(&part.words);
        }
        Ok(Ciphertexts {
            words,
            blocks: parts.iter().map(|p| p.blocks).sum(),
            deviation: parts.iter().map(|p| p.deviation).fold(0.0, f64::max),
            ..*first
        })
    }

    /// The largest compact modulus: its words have 32 bits, and the product with the secret must
    /// stay below the first prime.
    pub(super) fn most_compact_bits(&self) -> u32 {
        let ring = self.first_ring();
        (ring.moduli()[0].value().ilog2() - ring.ring_degree().ilog2()).min(31)
    }

    /// Switches to the smallest modulus `2^bits` that keeps the noise below its limit: every
    /// coefficient is multiplied by `2^bits / q` and rounded. Cost: one pass.
    pub(super) fn compact_blocks(
        &self,
        a: &Ciphertexts<W>,
    ) -> Result<CompactCiphertexts, SchemeError> {
        self.check_tag(a.tag, None)?;
        let ring = self.ring();
        let n = ring.ring_degree();
        let log2_modulus = self.log2_modulus();
        let relative_scale = a.scale / log2_modulus.exp2();
        let fits = |bits: &u32| {
            let modulus = f64::from(*bits).exp2();
            let deviation =
                a.deviation * modulus / log2_modulus.exp2() + deviations::rounding_deviation(n);
            let reach = self.encoding().reach();
            deviations::budget(deviation, reach, relative_scale * modulus) >= 0.0
        };
        let bits = (2..=self.most_compact_bits())
            .find(fits)
            .ok_or(SchemeError::CannotCompact { ring_degree: n })?;
        let modulus = f64::from(bits).exp2();
        let mut scratch = vec![W::zeroed(); ring.poly_len()];
        let mut fractions = vec![0f64; n];
        let mut words = vec![0u32; a.blocks * 2 * n];
        for (part, rounded) in a.words.chunks_exact(ring.poly_len()).zip(words.chunks_exact_mut(n))
        {
            scratch.copy_from_slice(part);
            kernels::fraction_of_modulus(&mut fractions, &mut scratch, ring);
            rounding::round_scaled(rounded, &fractions, modulus);
            for word in rounded {
                *word &= (1 << bits) - 1;
            }
        }
        Ok(CompactCiphertexts { tag: a.tag, words, blocks: a.blocks, bits, relative_scale })
    }
}
