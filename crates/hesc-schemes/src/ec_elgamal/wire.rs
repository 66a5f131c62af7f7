use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use rayon::prelude::*;
use zeroize::{Zeroize, Zeroizing};

use super::{BLOCK_LENGTH, Ciphertexts, EcElgamal, PublicKey, SecretKey, SeededCiphertexts};
use crate::SchemeError;
use crate::wire::{Kind, Reader, Writer};

/// Marks a parameter set over a group, where others have a ring degree.
const GROUP: u32 = 1;
/// ristretto255 among the groups.
const RISTRETTO255: u32 = 1;
const POINT: usize = 32;

pub(super) fn spec_bytes(max_count: u64) -> Vec<u8> {
    let mut writer = Writer::new(Kind::Params);
    writer.u32(GROUP).u32(RISTRETTO255).u64(max_count);
    writer.finish()
}

fn write_points(writer: &mut Writer, points: &[RistrettoPoint]) {
    let compressed: Vec<[u8; POINT]> =
        points.par_iter().map(|point| point.compress().to_bytes()).collect();
    writer.bytes(compressed.as_flattened());
}

/// Reads points; each must be the one encoding of a group element.
fn read_points(reader: &mut Reader<'_>, count: usize) -> Result<Vec<RistrettoPoint>, SchemeError> {
    let length = count.checked_mul(POINT).ok_or_else(|| reader.error("a count is too large"))?;
    let bytes = reader.bytes(length)?;
    bytes
        .par_chunks_exact(POINT)
        .map(|bytes| CompressedRistretto::from_slice(bytes).ok()?.decompress())
        .collect::<Option<_>>()
        .ok_or_else(|| reader.error("a point is not in the group"))
}

fn positions(reader: &Reader<'_>, blocks: usize) -> Result<usize, SchemeError> {
    blocks.checked_mul(BLOCK_LENGTH).ok_or_else(|| reader.error("a count is too large"))
}

pub(super) fn write_ciphertexts(a: &Ciphertexts) -> Vec<u8> {
    let mut writer = Writer::with_capacity(Kind::Ciphertexts, 48 + 2 * POINT * a.pairs.len());
    writer.tag(a.tag).u64(a.bound).u32((a.pairs.len() / BLOCK_LENGTH) as u32);
    write_points(&mut writer, a.pairs.as_flattened());
    writer.finish()
}

pub(super) fn write_seeded(a: &SeededCiphertexts) -> Vec<u8> {
    let mut writer = Writer::new(Kind::SeededCiphertexts);
    writer.tag(a.tag).u32((a.seconds.len() / BLOCK_LENGTH) as u32).bytes(&a.seed);
    write_points(&mut writer, &a.seconds);
    writer.finish()
}

pub(super) fn write_public_key(key: &PublicKey) -> Vec<u8> {
    let mut writer = Writer::new(Kind::PublicKey);
    writer.tag(key.tag);
    write_points(&mut writer, &[key.point]);
    writer.finish()
}

pub(super) fn write_secret_key(key: &SecretKey) -> Zeroizing<Vec<u8>> {
    // Room for everything at once: a vector that grows leaves copies behind.
    let mut writer = Writer::with_capacity(Kind::SecretKey, 64 + POINT);
    let mut bytes = key.scalar.to_bytes();
    writer.tag(key.tag).bytes(&bytes);
    bytes.zeroize();
    Zeroizing::new(writer.finish())
}

impl EcElgamal {
    /// The parameter set's wire form.
    pub fn spec_to_bytes(&self) -> Vec<u8> {
        spec_bytes(self.max_count())
    }

    /// Reads the wire form of a parameter set.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes, [`SchemeError::Parameter`] for values out of range.
    pub fn spec_from_bytes(bytes: &[u8]) -> Result<Self, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Params)?;
        if (reader.u32()?, reader.u32()?) != (GROUP, RISTRETTO255) {
            return Err(reader.error("it is the set of another scheme"));
        }
        let max_count = reader.u64()?;
        reader.finish()?;
        Self::new(max_count)
    }

    pub(super) fn read_ciphertexts(&self, bytes: &[u8]) -> Result<Ciphertexts, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Ciphertexts)?;
        let tag = reader.tag(self.fingerprint)?;
        let bound = reader.u64()?;
        if bound == 0 {
            return Err(reader.error("the bound on counts is zero"));
        }
        self.check_bound(bound)?;
        let blocks = reader.blocks()?;
        let points = 2 * positions(&reader, blocks)?;
        let points = read_points(&mut reader, points)?;
        reader.finish()?;
        let (pairs, _) = points.as_chunks::<2>();
        Ok(Ciphertexts { tag, pairs: pairs.to_vec(), bound })
    }

    pub(super) fn read_seeded(&self, bytes: &[u8]) -> Result<SeededCiphertexts, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SeededCiphertexts)?;
        let tag = reader.tag(self.fingerprint)?;
        let blocks = reader.blocks()?;
        let seed = reader.array()?;
        let count = positions(&reader, blocks)?;
        let seconds = read_points(&mut reader, count)?;
        reader.finish()?;
        Ok(SeededCiphertexts { tag, seed, seconds })
    }

    pub(super) fn read_public_key(&self, bytes: &[u8]) -> Result<PublicKey, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::PublicKey)?;
        let tag = reader.tag(self.fingerprint)?;
        let point = read_points(&mut reader, 1)?[0];
        if point == RistrettoPoint::identity() {
            return Err(reader.error("the key is the neutral element, which hides nothing"));
        }
        reader.finish()?;
        Ok(PublicKey::new(tag, point))
    }

    pub(super) fn read_secret_key(&self, bytes: &[u8]) -> Result<SecretKey, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SecretKey)?;
        let tag = reader.tag(self.fingerprint)?;
        let scalar_bytes = Zeroizing::new(reader.array::<POINT>()?);
        let scalar: Option<Scalar> = Scalar::from_canonical_bytes(*scalar_bytes).into();
        match scalar {
            Some(scalar) if scalar != Scalar::ZERO => {
                reader.finish()?;
                Ok(SecretKey { tag, scalar })
            }
            _ => Err(reader.error("the scalar is zero or not reduced")),
        }
    }
}
