use super::{Ciphertexts, Pad, Sources, not_in_pads};
use crate::streams::{Batch, Combine, Encrypt, bases_of_one, check_parts, rows_of};
use crate::{BitProduct, SchemeError};

impl Combine for Pad {
    fn bit_product(&self) -> BitProduct {
        BitProduct::ExclusiveOr
    }

    fn parity_survives_wrap(&self) -> bool {
        true
    }

    fn combine_pairs(
        &self,
        a: &Ciphertexts,
        b: &Ciphertexts,
        pairs: &[(usize, usize)],
    ) -> Result<Ciphertexts, SchemeError> {
        let parts = [a, b];
        let tag = check_parts(&parts, self.fingerprint())?.tag;
        let operands = a.pairs(b, pairs)?;
        let state = Sources::combined(&parts, pairs.iter().map(|&(i, j)| [(0, i), (1, j)]))?;
        let mut words = Vec::with_capacity(pairs.len() * self.words());
        for (a, b) in operands {
            words.extend(a.iter().zip(b).map(|(x, y)| x ^ y));
        }
        Ok(Batch { tag, words, blocks: pairs.len(), state })
    }

    fn combine_rows(
        &self,
        parts: &[&Ciphertexts],
        rows: &[Vec<(usize, usize)>],
    ) -> Result<Ciphertexts, SchemeError> {
        let tag = check_parts(parts, self.fingerprint())?.tag;
        let operands = rows_of(parts, rows, &bases_of_one(rows))?;
        let state = Sources::combined(parts, rows.iter())?;
        let mut words = Vec::with_capacity(rows.len() * self.words());
        for row in operands {
            let start = words.len();
            words.extend_from_slice(row[0]);
            for block in &row[1..] {
                words[start..].iter_mut().zip(*block).for_each(|(x, y)| *x ^= y);
            }
        }
        Ok(Batch { tag, words, blocks: rows.len(), state })
    }

    fn combine_bits_assign(&self, a: &mut Ciphertexts, bits: &[u64]) -> Result<(), SchemeError> {
        a.check_bits(self.fingerprint(), bits, self.block_length())?;
        a.words.iter_mut().zip(bits).for_each(|(x, y)| *x ^= y);
        Ok(())
    }

    fn arrange(
        &self,
        parts: &[&Ciphertexts],
        places: &[(usize, usize)],
    ) -> Result<Ciphertexts, SchemeError> {
        check_parts(parts, self.fingerprint())?;
        let state = Sources::combined(parts, places.iter().map(|place| [*place]))?;
        Batch::arranged(parts, places, state)
    }

    fn refusal(&self, operation: &'static str) -> Option<SchemeError> {
        Some(not_in_pads(
            operation,
            "a pad lies on bits, not on counts, and on whole blocks: there are products and concatenated \
             sums; take a homomorphic scheme, bfv_1024_fusion for counts or bfv_2048_slots for masks",
        ))
    }
}
