use hesc_math::{Coeff, Poly, RngSeed, Word};
use zeroize::{Zeroize, Zeroizing};

use super::Lattice;
use super::ciphertext::{Ciphertexts, CompactCiphertexts, SeededCiphertexts};
use super::encoding::Encoding;
use super::keys::{PublicKey, SecretKey};
use crate::SchemeError;
use crate::rlwe::deviations;
use crate::wire::{Kind, Reader, Writer};

/// Bits of a residue modulo `q`.
fn residue_bits(q: u64) -> u32 {
    q.ilog2() + 1
}

impl<W: Word, E: Encoding<W>> Lattice<W, E> {
    fn write_polys(&self, writer: &mut Writer, words: &[W]) {
        let ring = self.ring();
        let moduli = ring.moduli().iter().cycle();
        for (limb, q) in words.chunks_exact(ring.ring_degree()).zip(moduli) {
            writer.packed(limb, residue_bits(q.value()));
        }
    }

    fn read_polys(&self, reader: &mut Reader<'_>, polys: usize) -> Result<Vec<W>, SchemeError> {
        let ring = self.ring();
        // Grows only as bytes turn out to be there.
        let mut words = Vec::new();
        for q in ring.moduli().iter().cycle().take(polys * ring.limbs()) {
            words.extend(reader.packed::<W>(ring.ring_degree(), residue_bits(q.value()))?);
        }
        if !ring.is_reduced(&words) {
            return Err(reader.error("a residue is not below its modulus"));
        }
        Ok(words)
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

    pub(super) fn write_public_key(&self, key: &PublicKey<W>) -> Vec<u8> {
        let mut writer = Writer::new(Kind::PublicKey);
        writer.tag(key.tag);
        writer.bytes(&key.seed);
        self.write_polys(&mut writer, key.parts[0].clone().inverse(self.ring()).words());
        writer.finish()
    }

    pub(super) fn read_public_key(&self, bytes: &[u8]) -> Result<PublicKey<W>, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::PublicKey)?;
        let tag = reader.tag(self.0.fingerprint)?;
        let seed = reader.array()?;
        let words = self.read_polys(&mut reader, 1)?;
        reader.finish()?;
        let first = Poly::<W, Coeff>::new(words, self.ring());
        Ok(PublicKey::from_parts(tag, first, seed, self.ring()))
    }

    pub(super) fn write_secret_key(&self, key: &SecretKey<W>) -> Zeroizing<Vec<u8>> {
        let trits = key.to_trits(self.ring());
        // Room for everything at once: a vector that grows leaves copies behind.
        let mut writer = Writer::with_capacity(Kind::SecretKey, 64 + self.ring().ring_degree());
        writer.tag(key.tag);
        writer.packed(trits.words(self.ring()), 2);
        Zeroizing::new(writer.finish())
    }

    pub(super) fn read_secret_key(&self, bytes: &[u8]) -> Result<SecretKey<W>, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SecretKey)?;
        let tag = reader.tag(self.0.fingerprint)?;
        let mut trits = reader.packed::<u32>(self.ring().ring_degree(), 2)?;
        let mut ternary: Vec<i16> = trits.iter().map(|&x| x as i16 - 1).collect();
        let valid = trits.iter().fold(true, |valid, &x| valid & (x < 3));
        let key = SecretKey::from_ternary(tag, &ternary, self.ring());
        trits.zeroize();
        ternary.zeroize();
        if !valid {
            return Err(reader.error("a coefficient is not ternary"));
        }
        reader.finish()?;
        Ok(key)
    }
}
