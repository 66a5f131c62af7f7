//! BFV and BGV with multiplication for unipolar streams: a bit in each slot, products slot by slot.
//!
//! Products are not relinearised, so that whoever multiplies needs no key and public keys stay small;
//! a product of `k` factors has `k + 1` parts. Factors of one product are paired as in a tournament,
//! which costs the least noise, and are brought to the level at which it has the most room.
//!
//! Which slots: those modulo a prime in a power-of-two ring, as many as coefficients, or those of an odd
//! ring, fewer and modulo 2, where noise grows least.

use std::sync::Arc;

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::error::refuse;
use crate::kinds::SchemeId;
use crate::rlwe::{self, Rlwe, SchemeKind, Spec};
use crate::streams::{
    Batch, Combine, Compact, Decrypt, Encrypt, Encryptions, Form, Lengths, MaskPositions, Wire,
    bases_of_one, check_parts, count_blocks, rows_of,
};
use crate::wire::{COUNT, Kind, Reader, Writer, framed, nested};
use crate::{Assurance, BitProduct, Fingerprint, Packing, SchemeError, Security, Tag};

/// Unipolar HESC on the slots of BFV or BGV.
#[derive(Debug, Clone)]
pub struct UnipolarSlots(Rlwe);

/// A ciphertext for each block; copies share memory.
pub type Ciphertexts = Batch<Arc<rlwe::Ciphertext>>;

/// The same from the secret key.
pub type SeededCiphertexts = Batch<Arc<rlwe::SeededCiphertext>>;

/// A parameter set's wire form.
pub(crate) fn spec_bytes(spec: &Spec) -> Vec<u8> {
    let mut writer = Writer::params(SchemeId::UnipolarSlots);
    writer.nested(&spec.to_bytes());
    writer.finish()
}

impl UnipolarSlots {
    /// Checks a specification of BFV or BGV with slots. Special primes are of no use: nothing switches keys.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for CKKS, a plaintext modulus without slots, slots that do not fill
    /// words of 64 bits and special primes, and as [`Rlwe::new`].
    pub fn new(spec: Spec, assurance: Assurance) -> Result<Self, SchemeError> {
        if spec.scheme == SchemeKind::Ckks {
            return refuse("scheme", spec.scheme, "conjunctions are products in BFV or BGV");
        }
        if !spec.special_moduli.is_empty() {
            return refuse(
                "special_moduli",
                format!("{:?}", spec.special_moduli),
                "give none: products are not relinearised; put all primes into coeff_moduli",
            );
        }
        let scheme = Rlwe::new(spec, assurance)?;
        // Before anything is made for them.
        if let Some(slots) = scheme.slots_expected().filter(|slots| !slots.is_multiple_of(64)) {
            let remedy =
                "blocks of streams are whole words: take an index with a multiple of 64 slots";
            return refuse("slots", slots, remedy);
        }
        // Slots must exist.
        scheme.encode_integers(&[])?;
        Ok(Self(scheme))
    }

    /// The specification.
    pub fn spec(&self) -> &Spec {
        self.0.spec()
    }

    /// Reads the wire form of a parameter set; it is still to be checked.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes.
    pub fn spec_from_bytes(bytes: &[u8]) -> Result<Spec, SchemeError> {
        let mut reader = Reader::open_params(bytes, SchemeId::UnipolarSlots)?;
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
        a.check_bits(self.fingerprint(), bits, self.block_length())?;
        self.encode(bits)
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
                    [a, b] => self.0.product_of_components(a, b).map(Arc::new),
                    _ => Ok(pair[0].clone()),
                })
                .collect::<Result<_, _>>()?;
        }
        row.pop().ok_or(SchemeError::Empty)
    }
}

/// Collects blocks that are made one after the other: each uses all cores itself.
fn collect<T>(
    tag: Tag,
    blocks: impl Iterator<Item = Result<T, SchemeError>>,
) -> Result<Batch<Arc<T>>, SchemeError> {
    let words = blocks.map(|block| block.map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
    Ok(Batch { tag, blocks: words.len(), words, state: () })
}

impl Encrypt for UnipolarSlots {
    type SecretKey = rlwe::SecretKey;
    type PublicKey = rlwe::PublicKey;
    type Ciphertexts = Ciphertexts;
    type SeededCiphertexts = SeededCiphertexts;

    fn name(&self) -> &'static str {
        match self.spec().scheme {
            SchemeKind::Bgv => "unipolar_bgv",
            _ => "unipolar_bfv",
        }
    }

    fn spec_to_bytes(&self) -> Vec<u8> {
        spec_bytes(self.spec())
    }

    fn security(&self) -> Security {
        Security::Of(self.spec().assurance())
    }

    fn lattice(&self) -> Option<&Spec> {
        Some(self.spec())
    }

    fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint()
    }

    fn block_length(&self) -> usize {
        self.0.slot_count()
    }

    fn packing(&self) -> Packing {
        Packing::Slots
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
        collect(key.tag, plaintexts.iter().map(|plaintext| self.0.encrypt(key, plaintext, rng)))
    }

    fn encrypt_seeded(
        &self,
        key: &rlwe::SecretKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<SeededCiphertexts, SchemeError> {
        let plaintexts = self.encode(bits)?;
        let encrypt = |plaintext| self.0.encrypt_seeded(key, plaintext, rng);
        collect(key.tag, plaintexts.iter().map(encrypt))
    }

    fn expand(&self, seeded: &SeededCiphertexts) -> Result<Ciphertexts, SchemeError> {
        collect(seeded.tag, seeded.words.iter().map(|block| self.0.expand(block)))
    }

    /// A fresh encryption of zeros is added, as integers: slots keep their bits.
    fn rerandomise(
        &self,
        key: &rlwe::PublicKey,
        a: &Ciphertexts,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts, SchemeError> {
        a.tag.check(self.fingerprint(), Some(key.tag))?;
        let zeros = self.0.encode_integers(&[])?;
        collect(
            a.tag,
            a.words.iter().map(|block| {
                let fresh = self.0.encrypt(key, &zeros, rng)?;
                self.0.sum(block, &fresh, false)
            }),
        )
    }

    fn noise_budget(&self, a: &Ciphertexts) -> f64 {
        a.words.iter().map(|block| self.0.noise_budget(block)).fold(f64::INFINITY, f64::min)
    }

    fn measured_noise_budget(
        &self,
        key: &rlwe::SecretKey,
        a: &Ciphertexts,
    ) -> Result<f64, SchemeError> {
        a.tag.check(self.fingerprint(), Some(key.tag))?;
        a.words.iter().try_fold(f64::INFINITY, |least, block| {
            Ok(self.0.measured_noise_budget(key, block)?.min(least))
        })
    }

    fn secret_key_to_bytes(&self, key: &rlwe::SecretKey) -> Zeroizing<Vec<u8>> {
        self.0.secret_key_to_bytes(key)
    }

    fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<rlwe::SecretKey, SchemeError> {
        self.0.secret_key_from_bytes(bytes)
    }
}

impl Decrypt<Ciphertexts> for UnipolarSlots {
    fn max_count(&self, _a: &Ciphertexts) -> u64 {
        1
    }

    fn decrypt(&self, key: &rlwe::SecretKey, a: &Ciphertexts) -> Result<Vec<u32>, SchemeError> {
        a.tag.check(self.fingerprint(), Some(key.tag))?;
        let mut counts = Vec::with_capacity(a.blocks * self.block_length());
        for (block, ciphertext) in a.words.iter().enumerate() {
            let plaintext = self.0.decrypt(key, ciphertext)?;
            let slots = match self.0.decode_integers(&plaintext) {
                // An element of an extension that is no number.
                Err(SchemeError::Parameter { .. }) => Err(SchemeError::NotACount { block }),
                slots => slots,
            }?;
            if slots.iter().any(|slot| !(0..=1).contains(slot)) {
                return Err(SchemeError::NotACount { block });
            }
            counts.extend(slots.into_iter().map(|slot| slot as u32));
        }
        Ok(counts)
    }
}

impl Combine for UnipolarSlots {
    fn bit_product(&self) -> BitProduct {
        BitProduct::Conjunction
    }

    fn parity_survives_wrap(&self) -> bool {
        true
    }

    fn combine_rows(
        &self,
        parts: &[&Ciphertexts],
        rows: &[Vec<(usize, usize)>],
    ) -> Result<Ciphertexts, SchemeError> {
        let tag = check_parts(parts, self.fingerprint())?.tag;
        let operands = rows_of(parts, rows, &bases_of_one(rows))?;
        let factors = operands.iter().map(|row| row.concat());
        let words = factors.map(|row| self.conjunction(row)).collect::<Result<_, _>>()?;
        Ok(Batch { tag, words, blocks: rows.len(), state: () })
    }

    fn combine_bits_assign(&self, a: &mut Ciphertexts, bits: &[u64]) -> Result<(), SchemeError> {
        let plaintexts = self.encode_for(a, bits)?;
        let blocks = a.words.iter().zip(&plaintexts);
        *a = collect(a.tag, blocks.map(|(block, bits)| self.0.multiply_plain(block, bits)))?;
        Ok(())
    }

    fn arrange(
        &self,
        parts: &[&Ciphertexts],
        places: &[(usize, usize)],
    ) -> Result<Ciphertexts, SchemeError> {
        check_parts(parts, self.fingerprint())?;
        Batch::arranged(parts, places, ())
    }

    fn masking(&self) -> Option<&dyn MaskPositions<Ciphertexts>> {
        Some(self)
    }
}

impl MaskPositions<Ciphertexts> for UnipolarSlots {
    /// `a m + (1 - m)`: ones where the mask is not set.
    fn mask_assign(&self, a: &mut Ciphertexts, bits: &[u64]) -> Result<(), SchemeError> {
        let masks = self.encode_for(a, bits)?;
        let inverted: Vec<u64> = bits.iter().map(|word| !word).collect();
        let ones = self.encode(&inverted)?;
        let blocks = a.words.iter().zip(masks.iter().zip(&ones));
        *a = collect(
            a.tag,
            blocks.map(|(block, (mask, ones))| {
                self.0.add_plain(&self.0.multiply_plain(block, mask)?, ones)
            }),
        )?;
        Ok(())
    }
}

impl Compact for UnipolarSlots {
    /// At the lowest level that decrypts.
    type CompactCiphertexts = Ciphertexts;

    /// Primes are dropped for as long as the noise fits: a product that has used up its budget has
    /// one level to lose for each prime's worth of noise.
    fn compact(&self, a: &Ciphertexts) -> Result<Ciphertexts, SchemeError> {
        a.tag.check(self.fingerprint(), None)?;
        collect(
            a.tag,
            a.words.iter().map(|block| {
                let mut lowest = (**block).clone();
                while lowest.level() > 1 {
                    match self.0.mod_switch(&lowest) {
                        Ok(lower) => lowest = lower,
                        Err(SchemeError::NoiseBudget { .. }) => break,
                        Err(error) => return Err(error),
                    }
                }
                Ok(lowest)
            }),
        )
    }
}

impl Wire<Ciphertexts> for UnipolarSlots {
    fn write(&self, a: &Ciphertexts) -> Vec<u8> {
        write_blocks(Kind::Ciphertexts, a, |block| self.0.ciphertext_to_bytes(block))
    }

    fn read(&self, bytes: &[u8]) -> Result<Ciphertexts, SchemeError> {
        let read = |bytes: &_| self.0.ciphertext_from_bytes(bytes);
        read_blocks(Kind::Ciphertexts, bytes, read, rlwe::Ciphertext::tag)
    }
}

impl Wire<SeededCiphertexts> for UnipolarSlots {
    fn write(&self, a: &SeededCiphertexts) -> Vec<u8> {
        write_blocks(Kind::SeededCiphertexts, a, |block| self.0.seeded_to_bytes(block))
    }

    fn read(&self, bytes: &[u8]) -> Result<SeededCiphertexts, SchemeError> {
        let read = |bytes: &_| self.0.seeded_from_bytes(bytes);
        read_blocks(Kind::SeededCiphertexts, bytes, read, rlwe::SeededCiphertext::tag)
    }
}

impl Wire<rlwe::PublicKey> for UnipolarSlots {
    fn write(&self, key: &rlwe::PublicKey) -> Vec<u8> {
        self.0.public_key_to_bytes(key)
    }

    fn read(&self, bytes: &[u8]) -> Result<rlwe::PublicKey, SchemeError> {
        self.0.public_key_from_bytes(bytes)
    }
}

/// Of fresh blocks: parts and level of others follow from their products.
impl Lengths for UnipolarSlots {
    fn length(&self, form: Form, blocks: usize, of: Encryptions) -> Option<usize> {
        let level = self.0.levels();
        let block = match form {
            Form::Full if of.count() == 1 => self.0.ciphertext_length(level, 2),
            Form::Seeded => self.0.seeded_length(level),
            _ => return None,
        };
        Some(blocks_length(std::iter::repeat_n(block, blocks)))
    }

    fn capacity(&self) -> u64 {
        1
    }
}

/// Bytes of the frame of blocks of these lengths.
fn blocks_length(blocks: impl Iterator<Item = usize>) -> usize {
    framed(COUNT + blocks.map(nested).sum::<usize>())
}

/// Blocks, each in a frame of its own.
fn write_blocks<C>(kind: Kind, a: &Batch<Arc<C>>, write: impl Fn(&C) -> Vec<u8>) -> Vec<u8> {
    let blocks: Vec<Vec<u8>> = a.words.iter().map(|block| write(block)).collect();
    let mut writer = Writer::of_length(kind, blocks_length(blocks.iter().map(Vec::len)));
    writer.u32(a.blocks as u32);
    for block in &blocks {
        writer.nested(block);
    }
    writer.finish()
}

/// Nested ciphertexts of one key pair. The vector grows only as bytes turn out to be there.
fn read_blocks<C>(
    kind: Kind,
    bytes: &[u8],
    read: impl Fn(&[u8]) -> Result<C, SchemeError>,
    tag: impl Fn(&C) -> Tag,
) -> Result<Batch<Arc<C>>, SchemeError> {
    let mut reader = Reader::open(bytes, kind)?;
    let blocks = reader.blocks()?;
    let first = read(reader.nested()?)?;
    let tag_of_all = tag(&first);
    let mut words = vec![Arc::new(first)];
    for _ in 1..blocks {
        let block = read(reader.nested()?)?;
        if tag(&block) != tag_of_all {
            return Err(reader.error("its ciphertexts belong to several key pairs"));
        }
        words.push(Arc::new(block));
    }
    reader.finish()?;
    Ok(Batch { tag: tag_of_all, words, blocks, state: () })
}
