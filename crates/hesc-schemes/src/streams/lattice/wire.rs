use hesc_math::{RngSeed, Word};

use super::Lattice;
use super::ciphertext::{Ciphertexts, CompactCiphertexts, SeededCiphertexts};
use super::encoding::Encoding;
use crate::SchemeError;
use crate::rlwe::deviations;
use crate::rlwe::residues::{read_residues, write_residues};
use crate::wire::{Kind, Reader, Writer};

impl<W: Word, E: Encoding<W>> Lattice<W, E> {
    fn write_polys(&self, writer: &mut Writer, words: &[W]) {
        write_residues(writer, words, self.ring().ring_degree(), self.moduli());
    }

    /// The primes, over and over.
    fn moduli(&self) -> impl Iterator<Item = u64> {
        self.ring().moduli().iter().map(|q| q.value()).cycle()
    }

    fn read_polys(&self, reader: &mut Reader<'_>, polys: usize) -> Result<Vec<W>, SchemeError> {
        let ring = self.ring();
        read_residues(reader, ring.ring_degree(), self.moduli().take(polys * ring.limbs()))
    }

    /// Reads a noise deviation and a scale and refuses what no honest sender has.
    fn read_noise(&self, reader: &mut Reader<'_>) -> Result<(f64, f64), SchemeError> {
        let (deviation, scale) = (reader.f64()?, reader.f64()?);
        self.check_scale(reader, scale, 1.0)?;
        // Nothing has less noise than an encryption under the secret key: who claims it would have results
        // trusted that are none. Masks multiply noise and scale alike, at least.
        let least = self.secret_key_deviation() / self.encoding().fresh_scale();
        if deviation / scale < least {
            return Err(reader.error("it claims less noise than an encryption has"));
        }
        self.check_noise(deviation, scale)?;
        Ok((deviation, scale))
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

    pub(super) fn write_ciphertexts(&self, a: &Ciphertexts<W>) -> Vec<u8> {
        let mut writer = Writer::new(Kind::Ciphertexts);
        writer.tag(a.tag);
        writer.f64(a.deviation).f64(a.scale).u32(a.blocks as u32);
        self.write_polys(&mut writer, &a.words);
        writer.finish()
    }

    pub(super) fn read_ciphertexts(&self, bytes: &[u8]) -> Result<Ciphertexts<W>, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Ciphertexts)?;
        let tag = reader.tag(self.0.fingerprint)?;
        let (deviation, scale) = self.read_noise(&mut reader)?;
        let blocks = reader.blocks()?;
        let words = self.read_polys(&mut reader, 2 * blocks)?;
        reader.finish()?;
        Ok(Ciphertexts { tag, words, blocks, deviation, scale })
    }

    pub(super) fn write_seeded(&self, a: &SeededCiphertexts<W>) -> Vec<u8> {
        let mut writer = Writer::new(Kind::SeededCiphertexts);
        writer.tag(a.tag);
        writer.u32(a.blocks as u32).bytes(&a.seed);
        self.write_polys(&mut writer, &a.words);
        writer.finish()
    }

    pub(super) fn read_seeded(&self, bytes: &[u8]) -> Result<SeededCiphertexts<W>, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SeededCiphertexts)?;
        let tag = reader.tag(self.0.fingerprint)?;
        let blocks = reader.blocks()?;
        let seed: RngSeed = reader.array()?;
        let words = self.read_polys(&mut reader, blocks)?;
        reader.finish()?;
        Ok(SeededCiphertexts { tag, seed, words, blocks })
    }

    pub(super) fn write_compact(&self, a: &CompactCiphertexts) -> Vec<u8> {
        let mut writer = Writer::new(Kind::CompactCiphertexts);
        writer.tag(a.tag);
        writer.u32(a.blocks as u32).u8(a.bits as u8).f64(a.relative_scale);
        writer.packed(&a.words, a.bits);
        writer.finish()
    }

    pub(super) fn read_compact(&self, bytes: &[u8]) -> Result<CompactCiphertexts, SchemeError> {
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
        self.check_noise(deviations::rounding_deviation(n), scale)?;
        let words = reader.packed::<u32>(2 * blocks * n, bits)?;
        reader.finish()?;
        Ok(CompactCiphertexts { tag, words, blocks, bits, relative_scale })
    }
}
