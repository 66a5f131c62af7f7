use hesc_math::{RngSeed, Word};

use super::{
    Ciphertexts, CompactCiphertexts, Encoding, Lattice, Precision, Rounded, SeededCiphertexts,
};
use crate::SchemeError;
use crate::rlwe::residue_wire::{read_residues, residues_length, write_residues};
use crate::rlwe::{PublicKey, noise};
use crate::streams::{Batch, Encryptions, Form, Lengths, Wire};
use crate::wire::{BYTE, COUNT, Kind, Reader, SEED, TAG, WORD, Writer, framed, packed};

impl<W: Word, E: Encoding<W>> Lattice<W, E> {
    fn polys_length(&self, polys: usize) -> usize {
        let ring = self.ring();
        polys * residues_length(ring.ring_degree(), self.moduli().take(ring.rows()))
    }

    pub(super) fn full_length(&self, blocks: usize) -> usize {
        framed(TAG + WORD + WORD + COUNT + self.polys_length(2 * blocks))
    }

    fn seeded_length(&self, blocks: usize) -> usize {
        framed(TAG + COUNT + SEED + self.polys_length(blocks))
    }

    pub(super) fn compact_length(&self, blocks: usize, bits: u32) -> usize {
        framed(TAG + COUNT + BYTE + WORD + packed(2 * blocks * self.ring().ring_degree(), bits))
    }

    /// The precision of blocks that are combined of so many encryptions.
    pub(super) fn precision(&self, of: Encryptions) -> Precision {
        let deviation = of.secret as f64 * self.secret_key_deviation()
            + of.public as f64 * self.public_key_deviation();
        Precision { deviation, scale: self.encoding().fresh_scale() }
    }

    fn write_polys(&self, writer: &mut Writer, words: &[W]) {
        write_residues(writer, words, self.ring().ring_degree(), self.moduli());
    }

    /// The primes, over and over.
    fn moduli(&self) -> impl Iterator<Item = u64> {
        self.ring().moduli().iter().map(|q| q.value()).cycle()
    }

    fn read_polys(&self, reader: &mut Reader<'_>, polys: usize) -> Result<Vec<W>, SchemeError> {
        let ring = self.ring();
        read_residues(reader, ring.ring_degree(), self.moduli().take(polys * ring.rows()))
    }

    /// Reads a noise deviation and a scale and refuses what no honest sender has.
    fn read_precision(&self, reader: &mut Reader<'_>) -> Result<Precision, SchemeError> {
        let (deviation, scale) = (reader.f64()?, reader.f64()?);
        self.check_scale(reader, scale, 1.0)?;
        // Nothing has less noise than an encryption under the secret key: who claims it would have results
        // trusted that are none. Masks multiply noise and scale alike, at least.
        let least = self.secret_key_deviation() / self.encoding().fresh_scale();
        if deviation / scale < least {
            return Err(reader.error("it claims less noise than an encryption has"));
        }
        let state = Precision { deviation, scale };
        self.check_noise(state)?;
        Ok(state)
    }

    /// Refuses a scale, as a fraction of `unit`, that no operation gives.
    fn check_scale(&self, reader: &Reader<'_>, scale: f64, unit: f64) -> Result<(), SchemeError> {
        let scales = self.encoding().scales().map(|honest| honest / unit);
        if scales.take_while(|honest| *honest <= scale).any(|honest| honest == scale) {
            Ok(())
        } else {
            Err(reader.error("the scale is not the scheme's"))
        }
    }
}

impl<W: Word, E: Encoding<W>> Lengths for Lattice<W, E> {
    fn length(&self, form: Form, blocks: usize, of: Encryptions) -> Option<usize> {
        match form {
            Form::Full => Some(self.full_length(blocks)),
            Form::Seeded => Some(self.seeded_length(blocks)),
            Form::Compact => {
                let (precision, reach) = (self.precision(of), self.encoding().reach());
                let bits = self.compact_bits(precision, reach, |noise, rounding| noise + rounding);
                Some(self.compact_length(blocks, bits.ok()?))
            }
        }
    }

    fn capacity(&self) -> u64 {
        self.encoding().max_count(self.encoding().fresh_scale())
    }
}

impl<W: Word, E: Encoding<W>> Wire<Ciphertexts<W>> for Lattice<W, E> {
    fn write(&self, a: &Ciphertexts<W>) -> Vec<u8> {
        let mut writer = Writer::of_length(Kind::Ciphertexts, self.full_length(a.blocks));
        writer.tag(a.tag);
        writer.f64(a.state.deviation).f64(a.state.scale).u32(a.blocks as u32);
        self.write_polys(&mut writer, &a.words);
        writer.finish()
    }

    fn read(&self, bytes: &[u8]) -> Result<Ciphertexts<W>, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Ciphertexts)?;
        let tag = reader.tag(self.0.fingerprint)?;
        let state = self.read_precision(&mut reader)?;
        let blocks = reader.blocks()?;
        let words = self.read_polys(&mut reader, 2 * blocks)?;
        reader.finish()?;
        Ok(Batch { tag, words, blocks, state })
    }
}

impl<W: Word, E: Encoding<W>> Wire<SeededCiphertexts<W>> for Lattice<W, E> {
    fn write(&self, a: &SeededCiphertexts<W>) -> Vec<u8> {
        let length = self.seeded_length(a.blocks);
        let mut writer = Writer::of_length(Kind::SeededCiphertexts, length);
        writer.tag(a.tag);
        writer.u32(a.blocks as u32).bytes(&a.state);
        self.write_polys(&mut writer, &a.words);
        writer.finish()
    }

    fn read(&self, bytes: &[u8]) -> Result<SeededCiphertexts<W>, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SeededCiphertexts)?;
        let tag = reader.tag(self.0.fingerprint)?;
        let blocks = reader.blocks()?;
        let seed: RngSeed = reader.array()?;
        let words = self.read_polys(&mut reader, blocks)?;
        reader.finish()?;
        Ok(Batch { tag, words, blocks, state: seed })
    }
}

impl<W: Word, E: Encoding<W>> Wire<CompactCiphertexts> for Lattice<W, E> {
    fn write(&self, a: &CompactCiphertexts) -> Vec<u8> {
        let length = self.compact_length(a.blocks, a.state.bits);
        let mut writer = Writer::of_length(Kind::CompactCiphertexts, length);
        writer.tag(a.tag);
        writer.u32(a.blocks as u32).u8(a.state.bits as u8).f64(a.state.relative_scale);
        writer.packed(&a.words, a.state.bits);
        writer.finish()
    }

    fn read(&self, bytes: &[u8]) -> Result<CompactCiphertexts, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::CompactCiphertexts)?;
        let tag = reader.tag(self.0.fingerprint)?;
        let blocks = reader.blocks()?;
        let bits = u32::from(reader.u8()?);
        let n = self.ring().ring_degree();
        if !(2..=self.most_compact_bits()).contains(&bits) {
            return Err(reader.error("the modulus is out of range"));
        }
        let relative_scale = reader.f64()?;
        self.check_scale(&reader, relative_scale, self.log2_modulus().exp2())?;
        let scale = relative_scale * f64::from(bits).exp2();
        self.check_noise(Precision { deviation: noise::rounding_deviation(n), scale })?;
        let words = reader.packed::<u32>(2 * blocks * n, bits)?;
        reader.finish()?;
        Ok(Batch { tag, words, blocks, state: Rounded { bits, relative_scale } })
    }
}

impl<W: Word, E: Encoding<W>> Wire<PublicKey<W>> for Lattice<W, E> {
    fn write(&self, key: &PublicKey<W>) -> Vec<u8> {
        key.to_bytes(self.ring())
    }

    fn read(&self, bytes: &[u8]) -> Result<PublicKey<W>, SchemeError> {
        PublicKey::from_bytes(bytes, self.0.fingerprint, self.ring())
    }
}
