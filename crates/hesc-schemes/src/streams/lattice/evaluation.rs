use hesc_math::{Coeff, Poly, Word, kernels, rounding};
use rayon::prelude::*;

use super::{Ciphertexts, CompactCiphertexts, Encoding, Lattice, Precision, Rounded};
use crate::error::refuse;
use crate::rlwe::noise;
use crate::streams::{
    Batch, Combine, Compact, Encrypt, MaskPositions, WeightedSums, bases_of_one, check_parts,
    rows_of,
};
use crate::threads::several_threads;
use crate::{BitProduct, SchemeError};

/// Words above which an addition is worth a second thread: it is bound by memory.
const PARALLEL_WORDS: usize = 1 << 21;

impl<W: Word, E: Encoding<W>> Lattice<W, E> {
    /// The first of some batches, if all are of one set, key pair and scale.
    fn check_operands<'a>(
        &self,
        parts: &[&'a Ciphertexts<W>],
    ) -> Result<&'a Ciphertexts<W>, SchemeError> {
        let first = check_parts(parts, self.0.fingerprint)?;
        let expected = first.state.scale;
        match parts.iter().map(|part| part.state.scale).find(|found| *found != expected) {
            Some(found) => Err(SchemeError::ScaleMismatch { expected, found }),
            None => Ok(first),
        }
    }

    /// The largest compact modulus: its words have 32 bits, and the product with the secret must
    /// stay below the first prime.
    pub(super) fn most_compact_bits(&self) -> u32 {
        let ring = self.first_ring();
        (ring.moduli()[0].value().ilog2() - ring.ring_degree().ilog2()).min(31)
    }

    /// Bits of the smallest modulus `2^bits` at which `reach` deviations stay below the limit of the noise; `sum` is the
    /// deviation of noise and rounding together.
    pub(super) fn compact_bits(
        &self,
        Precision { deviation, scale }: Precision,
        reach: f64,
        sum: impl Fn(f64, f64) -> f64,
    ) -> Result<u32, SchemeError> {
        let (n, whole) = (self.ring().ring_degree(), self.log2_modulus().exp2());
        let relative_scale = scale / whole;
        let fits = |bits: &u32| {
            let modulus = f64::from(*bits).exp2();
            let deviation = sum(deviation * modulus / whole, noise::rounding_deviation(n));
            noise::budget(deviation, reach, relative_scale * modulus) >= 0.0
        };
        (2..=self.most_compact_bits())
            .find(fits)
            .ok_or(SchemeError::CannotCompact { ring_degree: n })
    }

    /// Switches to the smallest modulus `2^bits` at which `reach` deviations stay below the limit of the noise; `sum` is
    /// the deviation of noise and rounding together.
    pub(super) fn compact_within(
        &self,
        a: &Ciphertexts<W>,
        reach: f64,
        sum: impl Fn(f64, f64) -> f64,
    ) -> Result<CompactCiphertexts, SchemeError> {
        a.tag.check(self.0.fingerprint, None)?;
        let ring = self.ring();
        let n = ring.ring_degree();
        let bits = self.compact_bits(a.state, reach, sum)?;
        let relative_scale = a.state.scale / self.log2_modulus().exp2();
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
        let state = Rounded { bits, relative_scale };
        Ok(Batch { tag: a.tag, words, blocks: a.blocks, state })
    }
}

impl<W: Word, E: Encoding<W>> Combine for Lattice<W, E> {
    fn bit_product(&self) -> BitProduct {
        BitProduct::ExclusiveOr
    }

    fn parity_survives_wrap(&self) -> bool {
        self.encoding().parity_survives_wrap()
    }

    fn combine_pairs(
        &self,
        a: &Ciphertexts<W>,
        b: &Ciphertexts<W>,
        pairs: &[(usize, usize)],
    ) -> Result<Ciphertexts<W>, SchemeError> {
        let Batch { tag, state, .. } = *self.check_operands(&[a, b])?;
        let operands = a.pairs(b, pairs)?;
        let deviation = a.state.deviation + b.state.deviation;
        let state = Precision { deviation, ..state };
        self.check_noise(state)?;
        let size = 2 * self.ring().poly_len();
        let mut words = Vec::new();
        if pairs.len() * size < PARALLEL_WORDS || !several_threads() {
            words.reserve_exact(pairs.len() * size);
            for (a, b) in operands {
                kernels::append_sum(&mut words, a, b, self.ring());
            }
        } else {
            words.resize(pairs.len() * size, W::zeroed());
            words.par_chunks_exact_mut(size).zip(operands).for_each(|(out, (a, b))| {
                out.copy_from_slice(a);
                kernels::add_assign(out, b, self.ring());
            });
        }
        Ok(Batch { tag, words, blocks: pairs.len(), state })
    }

    fn combine_rows(
        &self,
        parts: &[&Ciphertexts<W>],
        rows: &[Vec<(usize, usize)>],
    ) -> Result<Ciphertexts<W>, SchemeError> {
        self.horner(parts, rows, &bases_of_one(rows))
    }

    /// Only `c_0` changes; the noise grows by the rounding of the encoding.
    fn combine_bits_assign(&self, a: &mut Ciphertexts<W>, bits: &[u64]) -> Result<(), SchemeError> {
        a.check_bits(self.0.fingerprint, bits, self.block_length())?;
        let (expected, found) = (a.state.scale, self.encoding().fresh_scale());
        if expected != found {
            return Err(SchemeError::ScaleMismatch { expected, found });
        }
        let deviation = a.state.deviation + self.encoding().rounding();
        let state = Precision { deviation, ..a.state };
        self.check_noise(state)?;
        let ring = self.ring();
        let mut scratch = self.encoding().scratch();
        let rows = bits.chunks_exact(self.words_per_block());
        for (block, bits) in a.words.chunks_exact_mut(2 * ring.poly_len()).zip(rows) {
            let mut first = Poly::new(&mut block[..ring.poly_len()], ring);
            self.encoding().add_bits(&mut first, bits, &mut scratch, ring);
        }
        a.state = state;
        Ok(())
    }

    fn arrange(
        &self,
        parts: &[&Ciphertexts<W>],
        places: &[(usize, usize)],
    ) -> Result<Ciphertexts<W>, SchemeError> {
        let first = self.check_operands(parts)?;
        let deviation = parts.iter().map(|part| part.state.deviation).fold(0.0, f64::max);
        Batch::arranged(parts, places, Precision { deviation, ..first.state })
    }

    fn masking(&self) -> Option<&dyn MaskPositions<Ciphertexts<W>>> {
        Some(self)
    }

    fn weighting(&self) -> Option<&dyn WeightedSums<Ciphertexts<W>>> {
        Some(self)
    }
}

impl<W: Word, E: Encoding<W>> MaskPositions<Ciphertexts<W>> for Lattice<W, E> {
    fn mask_assign(&self, a: &mut Ciphertexts<W>, bits: &[u64]) -> Result<(), SchemeError> {
        a.check_bits(self.0.fingerprint, bits, self.block_length())?;
        let ring = self.ring();
        let masks = bits
            .chunks_exact(self.words_per_block())
            .map(|bits| self.encoding().mask(bits, ring))
            .collect::<Result<Vec<_>, _>>()?;
        let (mut deviation, mut scale) = (0f64, a.state.scale);
        for mask in &masks {
            scale = a.state.scale * mask.scale;
            deviation = deviation.max(a.state.deviation * mask.value + scale * mask.rounding);
        }
        let state = Precision { deviation, scale };
        self.check_noise(state)?;
        for (block, mask) in a.words.chunks_exact_mut(2 * ring.poly_len()).zip(masks) {
            let factor = mask.poly.forward(ring);
            for part in block.chunks_exact_mut(ring.poly_len()) {
                Poly::<W, Coeff, _>::new(part, ring).forward(ring).mul_inverse(&factor, ring);
            }
        }
        a.state = state;
        Ok(())
    }
}

impl<W: Word, E: Encoding<W>> WeightedSums<Ciphertexts<W>> for Lattice<W, E> {
    fn horner(
        &self,
        parts: &[&Ciphertexts<W>],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<Ciphertexts<W>, SchemeError> {
        let Batch { tag, state, .. } = *self.check_operands(parts)?;
        let operands = rows_of(parts, rows, bases)?;
        let below = |base: u64| self.ring().moduli().iter().all(|q| base < q.value());
        if let Some(base) = bases.iter().find(|base| !below(**base)) {
            return refuse("base", base, "use a base below every prime of the ciphertext modulus");
        }
        let mut deviation = 0f64;
        for row in rows {
            let mut sum = 0f64;
            for (k, &(part, _)) in row.iter().enumerate() {
                let base = if k == 0 { 0 } else { bases[k - 1] };
                sum = sum * base as f64 + parts[part].state.deviation;
            }
            deviation = deviation.max(sum);
        }
        let state = Precision { deviation, ..state };
        self.check_noise(state)?;
        let mut words = Vec::with_capacity(rows.len() * 2 * self.ring().poly_len());
        for row in operands {
            let start = words.len();
            words.extend_from_slice(row[0]);
            for (block, &base) in row[1..].iter().zip(bases) {
                kernels::mul_scalar_add(&mut words[start..], base, block, self.ring());
            }
        }
        Ok(Batch { tag, words, blocks: rows.len(), state })
    }
}

impl<W: Word, E: Encoding<W>> Compact for Lattice<W, E> {
    type CompactCiphertexts = CompactCiphertexts;

    /// Switches to the smallest modulus `2^bits` that keeps the noise below its limit: every
    /// coefficient is multiplied by `2^bits / q` and rounded. Cost: one pass.
    fn compact(&self, a: &Ciphertexts<W>) -> Result<CompactCiphertexts, SchemeError> {
        self.compact_within(a, self.encoding().reach(), |noise, rounding| noise + rounding)
    }
}
