//! Residues on the wire: each with as many bits as its prime has, polynomials as coefficients.

use hesc_math::Word;

use crate::SchemeError;
use crate::wire::{Reader, Writer, packed};

/// Bits of a residue modulo `q`.
fn residue_bits(q: u64) -> u32 {
    q.ilog2() + 1
}

/// Bytes of residue polynomials, one for each prime.
pub(crate) fn residues_length(ring_degree: usize, moduli: impl Iterator<Item = u64>) -> usize {
    moduli.map(|q| packed(ring_degree, residue_bits(q))).sum()
}

/// Writes residue polynomials, one for each prime.
pub(crate) fn write_residues<W: Word>(
    writer: &mut Writer,
    words: &[W],
    ring_degree: usize,
    moduli: impl Iterator<Item = u64>,
) {
    for (row, q) in words.chunks_exact(ring_degree).zip(moduli) {
        writer.packed(row, residue_bits(q));
    }
}

/// Reads a residue polynomial for each prime.
///
/// # Errors
/// [`SchemeError::Wire`] for residues that are not below their prime.
pub(crate) fn read_residues<W: Word>(
    reader: &mut Reader<'_>,
    ring_degree: usize,
    moduli: impl Iterator<Item = u64>,
) -> Result<Vec<W>, SchemeError> {
    // Grows only as bytes turn out to be there.
    let mut words = Vec::new();
    for q in moduli {
        let row = reader.packed::<W>(ring_degree, residue_bits(q))?;
        if row.iter().any(|x| x.to_u64() >= q) {
            return Err(reader.error("a residue is not below its modulus"));
        }
        words.extend(row);
    }
    Ok(words)
}
