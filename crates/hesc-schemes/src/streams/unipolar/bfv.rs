//! BFV with multiplication for unipolar streams: a bit in each slot, products slot by slot.
//!
//! Products are not relinearised, so that whoever multiplies needs no key and public keys stay small;
//! a product of `k` factors has `k + 1` parts. Factors of one product are paired as in a tournament,
//! which costs the least noise.

use std::sync::Arc;

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::rlwe::{self, Rlwe, SchemeKind, Spec};
use crate::streams::count_blocks;
use crate::wire::{Kind, Reader, SchemeId, Writer};
use crate::{Assurance, BitProduct, Fingerprint, KeyId, Packing, Scheme, SchemeError, Tag};

/// Unipolar HESC on the slots of BFV.
#[derive(Debug, Clone)]
pub struct UnipolarBfv(Rlwe);

/// A batch of ciphertexts, at least one, under one key pair; copies share memory.
#[derive(Clone)]
pub struct Ciphertexts(Vec<Arc<rlwe::Ciphertext>>);

/// A batch from the secret key.
#[derive(Clone)]
pub struct SeededCiphertexts(Vec<Arc<rlwe::SeededCiphertext>>);

impl UnipolarBfv {
    /// Checks a specification of BFV with slots. Special primes are of no use: nothing switches keys.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for another scheme, a plaintext modulus without slots or special
    /// primes, and as [`Rlwe::new`].
    pub fn new(spec: Spec, assurance: Assurance) -> Result<Self, SchemeError> {
        let refuse =
            |name, value: String, remedy| Err(SchemeError::Parameter { name, value, remedy });
        if spec.scheme != SchemeKind::Bfv {
            return refuse("scheme", spec.scheme.to_string(), "conjunctions are products in BFV");
        }
        if !spec.special_moduli.is_empty() {
            return refuse(
                "special_moduli",
                format!("{:?}", spec.special_moduli),
                "give none: products are not relinearised; put all primes into coeff_moduli",
            );
        }
        let scheme = Rlwe::new(spec, assurance)?;
        // Slots must exist.
        scheme.encode_integers(&[])?;
        Ok(Self(scheme))
    }

    /// The specification.
    pub fn spec(&self) -> &Spec {
        self.0.spec()
    }

    /// The parameter set's wire form.
    pub fn spec_to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::params(SchemeId::UnipolarBfv);
        writer.nested(&self.spec().to_bytes());
        writer.finish()
    }

    /// Reads the wire form of a parameter set; it is still to be checked.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes.
    pub fn spec_from_bytes(bytes: &[u8]) -> Result<Spec, SchemeError> {
        let mut reader = Reader::open_params(bytes, SchemeId::UnipolarBfv)?;
        let spec = Spec::from_bytes(reader.nested()?)?;
        reader.finish()?;
        Ok(spec)
    }

    /// A plaintext for each block of bits.
    fn encode(&self, bits: &[u64]) -> Result<Vec<rlwe::Plaintext>, SchemeError> {
        count_blocks(bits, self.block_length())?;
        bits.chunks_exact(self.block_length() / 64)
            .map(|block| {
                let slots = block.iter().flat_map(|word| (0..64).map(move |i| word >> i & 1));
                let slots = Zeroizing::new(slots.map(|bit| bit as i64).collect::<Vec<_>>());
                self.0.encode_integers(&slots)
            })
            .collect()
    }

    /// A plaintext for each ciphertext.
    fn encode_for(
        &self,
        a: &Ciphertexts,
        bits: &[u64],
    ) -> Result<Vec<rlwe::Plaintext>, SchemeError> {
        self.check(a)?;
        let plaintexts = self.encode(bits)?;
        let (expected, found) = (a.0.len(), plaintexts.len());
        if expected == found {
            Ok(plaintexts)
        } else {
            Err(SchemeError::BlockCount { expected, found })
        }
    }

    fn check(&self, a: &Ciphertexts) -> Result<Tag, SchemeError> {
        let tag = a.0.first().ok_or(SchemeError::Empty)?.tag();
        tag.check(self.fingerprint(), None)?;
        Ok(tag)
    }

    /// Refuses no batches, and batches of other sets or of several key pairs.
    fn check_parts(&self, parts: &[&Ciphertexts]) -> Result<(), SchemeError> {
        let first = self.check(parts.first().ok_or(SchemeError::Empty)?)?;
        parts.iter().try_for_each(|part| self.check(part)?.check(self.fingerprint(), Some(first)))
    }

    fn block(a: &Ciphertexts, index: usize) -> Result<&Arc<rlwe::Ciphertext>, SchemeError> {
        let blocks = a.0.len();
        a.0.get(index).ok_or(SchemeError::BlockIndex { index, blocks })
    }

    /// The conjunction of a row, pair by pair.
    fn conjunction(
        &self,
        mut row: Vec<Arc<rlwe::Ciphertext>>,
    ) -> Result<Arc<rlwe::Ciphertext>, SchemeError> {
        while row.len() > 1 {
            row = row
                .chunks(2)
                .map(|pair| match pair {
                    [a, b] => self.0.multiply_parts(a, b).map(Arc::new),
                    _ => Ok(pair[0].clone()),
                })
                .collect::<Result<_, _>>()?;
        }
        row.pop().ok_or(SchemeError::Empty)
    }
}

/// Collects blocks that are made one after the other: each uses all cores itself.
fn collect(
    blocks: impl Iterator<Item = Result<rlwe::Ciphertext, SchemeError>>,
) -> Result<Ciphertexts, SchemeError> {
    Ok(Ciphertexts(blocks.map(|block| block.map(Arc::new)).collect::<Result<_, _>>()?))
}

impl Scheme for UnipolarBfv {
    type SecretKey = rlwe::SecretKey;
    type PublicKey = rlwe::PublicKey;
    type Ciphertexts = Ciphertexts;
    type SeededCiphertexts = SeededCiphertexts;
    /// At the lowest level that decrypts.
    type CompactCiphertexts = Ciphertexts;

    fn name(&self) -> &'static str {
        "unipolar_bfv"
    }

    fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint()
    }

    fn block_length(&self) -> usize {
        self.0.ring_degree()
    }

    fn packing(&self) -> Packing {
        Packing::Slots
    }

    fn bit_product(&self) -> BitProduct {
        BitProduct::Conjunction
    }

    fn key_of(&self, a: &Ciphertexts) -> Result<KeyId, SchemeError> {
        Ok(self.check(a)?.key)
    }

    fn max_count(&self, _a: &Ciphertexts) -> u64 {
        1
    }

    fn compact_max_count(&self, _a: &Ciphertexts) -> u64 {
        1
    }

    fn parity_survives_wrap(&self) -> bool {
        true
    }

    fn generate_keys(&self, rng: &mut impl CryptoRng) -> (rlwe::SecretKey, rlwe::PublicKey) {
        self.0.generate_keys(rng)
    }

    fn encrypt(
        &self,
        key: &rlwe::PublicKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts, SchemeError> {
        let plaintexts = self.encode(bits)?;
        collect(plaintexts.iter().map(|plaintext| self.0.encrypt(key, plaintext, rng)))
    }

    fn encrypt_seeded(
        &self,
        key: &rlwe::SecretKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<SeededCiphertexts, SchemeError> {
        let plaintexts = self.encode(bits)?;
        let encrypt = |plaintext| self.0.encrypt_seeded(key, plaintext, rng).map(Arc::new);
        Ok(SeededCiphertexts(plaintexts.iter().map(encrypt).collect::<Result<_, _>>()?))
    }

    fn expand(&self, seeded: &SeededCiphertexts) -> Result<Ciphertexts, SchemeError> {
        collect(seeded.0.iter().map(|block| self.0.expand(block)))
    }

    fn decrypt(&self, key: &rlwe::SecretKey, a: &Ciphertexts) -> Result<Vec<u32>, SchemeError> {
        let mut counts = Vec::with_capacity(a.0.len() * self.block_length());
        for (block, ciphertext) in a.0.iter().enumerate() {
            let slots = self.0.decode_integers(&self.0.decrypt(key, ciphertext)?)?;
            if slots.iter().any(|slot| !(0..=1).contains(slot)) {
                return Err(SchemeError::NotACount { block });
            }
            counts.extend(slots.into_iter().map(|slot| slot as u32));
        }
        Ok(counts)
    }

    /// Primes are dropped for as long as the noise fits: a product that has used up its budget has
    /// one level to lose for each prime's worth of noise.
    fn compact(&self, a: &Ciphertexts) -> Result<Ciphertexts, SchemeError> {
        self.check(a)?;
        collect(a.0.iter().map(|block| {
            let mut lowest = (**block).clone();
            while lowest.level() > 1 {
                match self.0.mod_switch(&lowest) {
                    Ok(lower) => lowest = lower,
                    Err(SchemeError::NoiseBudget { .. }) => break,
                    Err(error) => return Err(error),
                }
            }
            Ok(lowest)
        }))
    }

    fn decrypt_compact(
        &self,
        key: &rlwe::SecretKey,
        a: &Ciphertexts,
    ) -> Result<Vec<u32>, SchemeError> {
        self.decrypt(key, a)
    }

    fn blocks(&self, a: &Ciphertexts) -> usize {
        a.0.len()
    }

    fn seeded_blocks(&self, seeded: &SeededCiphertexts) -> usize {
        seeded.0.len()
    }

    fn compact_blocks(&self, a: &Ciphertexts) -> usize {
        a.0.len()
    }

    fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, SchemeError> {
        let (expected, found) = (a.0.len(), b.0.len());
        if expected != found {
            return Err(SchemeError::BlockCount { expected, found });
        }
        collect(a.0.iter().zip(&b.0).map(|(a, b)| self.0.multiply_parts(a, b)))
    }

    fn add_pairs(
        &self,
        a: &Ciphertexts,
        b: &Ciphertexts,
        pairs: &[(usize, usize)],
    ) -> Result<Ciphertexts, SchemeError> {
        if pairs.is_empty() {
            return Err(SchemeError::Empty);
        }
        let operands = pairs
            .iter()
            .map(|&(i, j)| Ok((Self::block(a, i)?, Self::block(b, j)?)))
            .collect::<Result<Vec<_>, SchemeError>>()?;
        collect(operands.into_iter().map(|(a, b)| self.0.multiply_parts(a, b)))
    }

    fn add_bits_assign(&self, a: &mut Ciphertexts, bits: &[u64]) -> Result<(), SchemeError> {
        let plaintexts = self.encode_for(a, bits)?;
        let blocks = a.0.iter().zip(&plaintexts);
        *a = collect(blocks.map(|(block, bits)| self.0.multiply_plain(block, bits)))?;
        Ok(())
    }

    /// `a m + (1 - m)`: ones where the mask is not set.
    fn mask_assign(&self, a: &mut Ciphertexts, bits: &[u64]) -> Result<(), SchemeError> {
        let masks = self.encode_for(a, bits)?;
        let inverted: Vec<u64> = bits.iter().map(|word| !word).collect();
        let ones = self.encode(&inverted)?;
        let blocks = a.0.iter().zip(masks.iter().zip(&ones));
        *a = collect(blocks.map(|(block, (mask, ones))| {
            self.0.add_plain(&self.0.multiply_plain(block, mask)?, ones)
        }))?;
        Ok(())
    }

    /// Bases change nothing: a bit and itself, however often.
    fn horner(
        &self,
        parts: &[&Ciphertexts],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<Ciphertexts, SchemeError> {
        self.check_parts(parts)?;
        if rows.is_empty() {
            return Err(SchemeError::Empty);
        }
        let operands = rows
            .iter()
            .map(|row| {
                if row.is_empty() || row.len() > bases.len() + 1 {
                    let (expected, found) = (bases.len() + 1, row.len());
                    return Err(SchemeError::BlockCount { expected, found });
                }
                row.iter()
                    .map(|&(part, index)| {
                        let part =
                            parts.get(part).ok_or(SchemeError::BlockIndex { index, blocks: 0 })?;
                        Self::block(part, index).cloned()
                    })
                    .collect()
            })
            .collect::<Result<Vec<_>, SchemeError>>()?;
        let rows = operands.into_iter().map(|row| self.conjunction(row));
        Ok(Ciphertexts(rows.collect::<Result<_, _>>()?))
    }

    /// A fresh encryption of zeros is added, as integers: slots keep their bits.
    fn rerandomise(
        &self,
        key: &rlwe::PublicKey,
        a: &Ciphertexts,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts, SchemeError> {
        let zeros = self.0.encode_integers(&[])?;
        collect(a.0.iter().map(|block| self.0.add(block, &self.0.encrypt(key, &zeros, rng)?)))
    }

    fn select(&self, a: &Ciphertexts, blocks: &[usize]) -> Result<Ciphertexts, SchemeError> {
        self.check(a)?;
        if blocks.is_empty() {
            return Err(SchemeError::Empty);
        }
        let chosen = blocks.iter().map(|&index| Self::block(a, index).cloned());
        Ok(Ciphertexts(chosen.collect::<Result<_, _>>()?))
    }

    fn concatenate(&self, parts: &[&Ciphertexts]) -> Result<Ciphertexts, SchemeError> {
        self.check_parts(parts)?;
        Ok(Ciphertexts(parts.iter().flat_map(|part| &part.0).cloned().collect()))
    }

    fn noise_budget(&self, a: &Ciphertexts) -> f64 {
        a.0.iter().map(|block| self.0.noise_budget(block)).fold(f64::INFINITY, f64::min)
    }

    fn measured_noise_budget(
        &self,
        key: &rlwe::SecretKey,
        a: &Ciphertexts,
    ) -> Result<f64, SchemeError> {
        a.0.iter().try_fold(f64::INFINITY, |least, block| {
            Ok(self.0.measured_noise_budget(key, block)?.min(least))
        })
    }

    fn ciphertexts_to_bytes(&self, a: &Ciphertexts) -> Vec<u8> {
        self.write_batch(Kind::Ciphertexts, a)
    }

    fn ciphertexts_from_bytes(&self, bytes: &[u8]) -> Result<Ciphertexts, SchemeError> {
        self.read_batch(Kind::Ciphertexts, bytes)
    }

    fn seeded_to_bytes(&self, a: &SeededCiphertexts) -> Vec<u8> {
        let mut writer = Writer::new(Kind::SeededCiphertexts);
        writer.u32(a.0.len() as u32);
        for block in &a.0 {
            writer.nested(&self.0.seeded_to_bytes(block));
        }
        writer.finish()
    }

    fn seeded_from_bytes(&self, bytes: &[u8]) -> Result<SeededCiphertexts, SchemeError> {
        let blocks = read_blocks(
            Kind::SeededCiphertexts,
            bytes,
            |bytes| self.0.seeded_from_bytes(bytes),
            rlwe::SeededCiphertext::tag,
        )?;
        Ok(SeededCiphertexts(blocks))
    }

    fn compact_to_bytes(&self, a: &Ciphertexts) -> Vec<u8> {
        self.write_batch(Kind::CompactCiphertexts, a)
    }

    fn compact_from_bytes(&self, bytes: &[u8]) -> Result<Ciphertexts, SchemeError> {
        self.read_batch(Kind::CompactCiphertexts, bytes)
    }

    fn public_key_to_bytes(&self, key: &rlwe::PublicKey) -> Vec<u8> {
        self.0.public_key_to_bytes(key)
    }

    fn public_key_from_bytes(&self, bytes: &[u8]) -> Result<rlwe::PublicKey, SchemeError> {
        self.0.public_key_from_bytes(bytes)
    }

    fn secret_key_to_bytes(&self, key: &rlwe::SecretKey) -> Zeroizing<Vec<u8>> {
        self.0.secret_key_to_bytes(key)
    }

    fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<rlwe::SecretKey, SchemeError> {
        self.0.secret_key_from_bytes(bytes)
    }
}

impl UnipolarBfv {
    fn write_batch(&self, kind: Kind, a: &Ciphertexts) -> Vec<u8> {
        let mut writer = Writer::new(kind);
        writer.u32(a.0.len() as u32);
        for block in &a.0 {
            writer.nested(&self.0.ciphertext_to_bytes(block));
        }
        writer.finish()
    }

    fn read_batch(&self, kind: Kind, bytes: &[u8]) -> Result<Ciphertexts, SchemeError> {
        let read = |bytes: &_| self.0.ciphertext_from_bytes(bytes);
        read_blocks(kind, bytes, read, rlwe::Ciphertext::tag).map(Ciphertexts)
    }
}

/// Nested ciphertexts of one key pair. The vector grows only as bytes turn out to be there.
fn read_blocks<C>(
    kind: Kind,
    bytes: &[u8],
    read: impl Fn(&[u8]) -> Result<C, SchemeError>,
    tag: impl Fn(&C) -> Tag,
) -> Result<Vec<Arc<C>>, SchemeError> {
    let mut reader = Reader::open(bytes, kind)?;
    let mut blocks: Vec<Arc<C>> = Vec::new();
    for _ in 0..reader.blocks()? {
        let block = read(reader.nested()?)?;
        if blocks.first().is_some_and(|first| tag(first) != tag(&block)) {
            return Err(reader.error("its ciphertexts belong to several key pairs"));
        }
        blocks.push(Arc::new(block));
    }
    reader.finish()?;
    Ok(blocks)
}
