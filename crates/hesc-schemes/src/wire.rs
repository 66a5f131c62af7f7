//! The frame of every serialised object, and strict reading.
//!
//! ```text
//! "HESC" | version u8 | kind u8 | body length u64 | body | first 16 bytes of BLAKE3 over all before
//! ```
//! Numbers are little-endian. The hash detects damage; it is no authentication. Readers compare
//! every length with what is there before they allocate, refuse residues that are not reduced,
//! set padding bits and left-over bytes.

use hesc_math::{RngSeed, Word};

use crate::kinds::SchemeId;
use crate::{Fingerprint, KeyId, SchemeError, Tag};

const MAGIC: &[u8; 4] = b"HESC";
/// Version of the wire format.
pub const VERSION: u8 = 1;
const HEADER: usize = 14;
const CHECKSUM: usize = 16;
/// Bytes of the names of a parameter set and of a key pair.
pub const TAG: usize = 32;
/// Bytes of a small number.
pub(crate) const BYTE: usize = size_of::<u8>();
/// Bytes of a count, an index or an exponent.
pub(crate) const COUNT: usize = size_of::<u32>();
/// Bytes of a word or a double.
pub(crate) const WORD: usize = size_of::<u64>();
/// Bytes of a seed.
pub(crate) const SEED: usize = size_of::<RngSeed>();

/// Bytes of a frame whose body has so many.
pub const fn framed(body: usize) -> usize {
    HEADER + body + CHECKSUM
}

/// Bytes that an object of so many takes in the body of another.
pub const fn nested(object: usize) -> usize {
    WORD + object
}

/// Bytes of `count` values of `bits` bits each.
pub const fn packed(count: usize, bits: u32) -> usize {
    (count * bits as usize).div_ceil(8)
}

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A parameter set.
    Params = 1,
    /// A secret key.
    SecretKey = 2,
    /// A public key.
    PublicKey = 3,
    /// A batch of ciphertexts.
    Ciphertexts = 4,
    /// A batch of seeded ciphertexts.
    SeededCiphertexts = 5,
    /// A batch of compact ciphertexts.
    CompactCiphertexts = 6,
    /// A secret key under a passphrase.
    SealedSecretKey = 7,
    /// The keys that a key owner gives away.
    PublicKeys = 8,
    /// A relinearisation key.
    RelinKey = 35,
    /// Keys for rotations.
    GaloisKeys = 36,
    /// A key that brings ciphertexts under another secret.
    SwitchKey = 37,
    /// A ciphertext of a scheme with multiplication.
    VectorCiphertext = 38,
    /// A seeded one.
    SeededVectorCiphertext = 39,
    /// A ciphertext with what is known of the vector in it.
    Vector = 43,
    /// A ciphertext with what the slots of an odd ring hold.
    Slots = 44,
    /// The bits of integers in slots, a ciphertext each.
    Integers = 45,
    /// Numbers under a stream cipher.
    Message = 46,
    /// Binary codes, bit by bit.
    EncryptedCodes = 56,
    /// The same under the secret key.
    SeededCodes = 57,
    /// Distances of binary codes.
    CodeDistances = 58,
    /// What evaluates circuits on encrypted bits.
    EvaluationKey = 40,
    /// An array of encrypted bits.
    EncryptedBits = 41,
    /// Encrypted bits that go back to the key owner.
    BitAnswer = 42,
    /// Integers whose bits are an array of encrypted bits, or of those that go back.
    BitIntegers = 47,
    /// What both sides of a ring product agree upon.
    RingProductPlan = 60,
    /// Encrypted features for a ring product.
    RingProductQuery = 61,
    /// Encrypted scores of a ring product.
    RingProductAnswer = 62,
    /// Encrypted weights for ring products.
    RingProductModel = 63,
    /// What both sides of comparisons with an encrypted gallery agree upon.
    GalleryPlan = 64,
    /// Encrypted codes to be found.
    Gallery = 65,
    /// Encrypted codes to be looked for.
    Probes = 66,
    /// Encrypted distances of both.
    GalleryDistances = 67,
    /// What both sides of scores of trees agree upon.
    ForestPlan = 73,
    /// Encrypted bits for scores of trees.
    ForestQuery = 74,
    /// Encrypted numbers of leaves.
    ForestAnswer = 75,
    /// Bits less the random numbers of a preparation.
    ForestMaskedQuery = 76,
    /// Numbers of leaves less what a preparation gave.
    ForestMaskedAnswer = 77,
    /// What one side keeps of a preparation.
    ForestShare = 78,
    /// What both sides of a search agree upon.
    SearchPlan = 79,
    /// An encrypted vector that is looked for.
    SearchQuery = 80,
    /// Encrypted scores of all records.
    SearchAnswer = 81,
    /// What all sides of products by logarithms agree upon.
    LogarithmPlan = 70,
    /// Encrypted logarithms of one side's numbers.
    LogarithmUpload = 71,
    /// Encrypted logarithms of products.
    LogarithmAnswer = 72,
    /// Streams over ciphertexts, with layout and identities.
    Streams = 16,
    /// Seeded streams.
    SeededStreams = 17,
    /// What goes back to the key owner.
    Answer = 18,
}

impl Kind {
    const fn what(self) -> &'static str {
        match self {
            Self::Params => "parameters",
            Self::SecretKey => "a secret key",
            Self::PublicKey => "a public key",
            Self::Ciphertexts => "ciphertexts",
            Self::SeededCiphertexts => "seeded ciphertexts",
            Self::CompactCiphertexts => "compact ciphertexts",
            Self::SealedSecretKey => "a sealed secret key",
            Self::PublicKeys => "public keys",
            Self::RelinKey => "a relinearisation key",
            Self::GaloisKeys => "rotation keys",
            Self::SwitchKey => "a switching key",
            Self::VectorCiphertext => "a ciphertext of a scheme with multiplication",
            Self::SeededVectorCiphertext => "a seeded ciphertext of a scheme with multiplication",
            Self::Vector => "a vector of a scheme with multiplication",
            Self::Slots => "slots of a scheme with multiplication",
            Self::Integers => "integers in slots",
            Self::Message => "numbers under a stream cipher",
            Self::EncryptedCodes => "encrypted codes",
            Self::SeededCodes => "seeded encrypted codes",
            Self::CodeDistances => "distances of codes",
            Self::EvaluationKey => "an evaluation key",
            Self::EncryptedBits => "encrypted bits",
            Self::BitAnswer => "an answer of bits",
            Self::BitIntegers => "integers in bits",
            Self::RingProductPlan => "the plan of a ring product",
            Self::RingProductQuery => "a query of a ring product",
            Self::RingProductAnswer => "an answer of a ring product",
            Self::RingProductModel => "the encrypted model of a ring product",
            Self::GalleryPlan => "the plan of a gallery",
            Self::Gallery => "an encrypted gallery",
            Self::Probes => "encrypted probes",
            Self::GalleryDistances => "distances to a gallery",
            Self::ForestPlan => "the plan of a forest",
            Self::ForestQuery => "a query of a forest",
            Self::ForestAnswer => "an answer of a forest",
            Self::ForestMaskedQuery => "a prepared query of a forest",
            Self::ForestMaskedAnswer => "an answer to a prepared query of a forest",
            Self::ForestShare => "a share of a prepared query of a forest",
            Self::SearchPlan => "the plan of a search",
            Self::SearchQuery => "a query of a search",
            Self::SearchAnswer => "an answer of a search",
            Self::LogarithmPlan => "a plan of logarithms",
            Self::LogarithmUpload => "encrypted logarithms",
            Self::LogarithmAnswer => "an answer of logarithms",
            Self::Streams => "encrypted streams",
            Self::SeededStreams => "seeded encrypted streams",
            Self::Answer => "an answer",
        }
    }
}

/// Writes one frame.
pub struct Writer {
    bytes: Vec<u8>,
    /// The length that was announced.
    length: Option<usize>,
}

impl Writer {
    /// An empty frame of this kind.
    pub fn new(kind: Kind) -> Self {
        Self::with_capacity(kind, 0)
    }

    /// An empty frame of this kind with room for a body of this many bytes.
    pub fn with_capacity(kind: Kind, body: usize) -> Self {
        let mut bytes = Vec::with_capacity(HEADER + body + CHECKSUM);
        bytes.extend_from_slice(MAGIC);
        bytes.extend([VERSION, kind as u8]);
        bytes.extend([0; 8]);
        Self { bytes, length: None }
    }

    /// An empty frame of this kind that will have exactly this length, which is what others are told before there is
    /// anything to write.
    pub fn of_length(kind: Kind, length: usize) -> Self {
        let body = length - HEADER - CHECKSUM;
        Self { length: Some(length), ..Self::with_capacity(kind, body) }
    }

    /// A parameter set of this scheme, still without parameters.
    pub fn params(scheme: SchemeId) -> Self {
        let mut writer = Self::new(Kind::Params);
        writer.u8(scheme.byte());
        writer
    }

    /// Appends bytes as they are.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Appends a byte.
    #[inline]
    pub fn u8(&mut self, value: u8) -> &mut Self {
        self.bytes(&[value])
    }

    /// Appends four bytes.
    #[inline]
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends eight bytes.
    #[inline]
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends a double.
    #[inline]
    pub fn f64(&mut self, value: f64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends the names of a parameter set and of a key pair.
    pub fn tag(&mut self, tag: Tag) -> &mut Self {
        self.bytes(&tag.params.to_bytes()).bytes(&tag.key.to_bytes())
    }

    /// Appends a nested object with its length.
    pub fn nested(&mut self, bytes: &[u8]) -> &mut Self {
        self.u64(bytes.len() as u64).bytes(bytes)
    }

    /// Appends eight bytes for each word.
    pub fn words(&mut self, words: &[u64]) -> &mut Self {
        self.bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        self
    }

    /// Appends values of `bits` bits each without gaps, the last byte padded with zeros.
    pub fn packed<W: Word>(&mut self, values: &[W], bits: u32) -> &mut Self {
        pack(&mut self.bytes, values, bits);
        self
    }

    /// The whole frame.
    pub fn finish(mut self) -> Vec<u8> {
        let body = (self.bytes.len() - HEADER) as u64;
        self.bytes[6..HEADER].copy_from_slice(&body.to_le_bytes());
        let hash = checksum(&self.bytes);
        self.bytes.extend_from_slice(&hash);
        debug_assert_eq!(self.bytes.len(), self.length.unwrap_or(self.bytes.len()), "its length");
        self.bytes
    }
}

/// Appends values of `bits` bits each without gaps, the last byte padded with zeros, as [`Writer::packed`] does.
pub fn pack<W: Word>(bytes: &mut Vec<u8>, values: &[W], bits: u32) {
    bytes.reserve(packed_len(values.len(), bits).unwrap_or(0) + 8);
    let (mut pending, mut held) = (0u64, 0u32);
    for value in values {
        let value = value.to_u64();
        pending |= value << held;
        held += bits;
        if held >= 64 {
            bytes.extend_from_slice(&pending.to_le_bytes());
            held -= 64;
            // What did not fit; all of it was written if nothing is held.
            pending = if held == 0 { 0 } else { value >> (bits - held) };
        }
    }
    let tail = held.div_ceil(8) as usize;
    bytes.extend_from_slice(&pending.to_le_bytes()[..tail]);
}

/// The end of a frame: the first 16 bytes of BLAKE3 over all before.
pub fn checksum(framed: &[u8]) -> [u8; CHECKSUM] {
    let mut first = [0; CHECKSUM];
    first.copy_from_slice(&blake3::hash(framed).as_bytes()[..CHECKSUM]);
    first
}

/// The names of parameter set and key pair that the body of a frame begins with; none where it is shorter. They are
/// not checked.
pub(crate) fn tag_of(frame: &[u8]) -> Option<Tag> {
    let (params, rest) = frame.get(HEADER..)?.split_first_chunk::<16>()?;
    let (key, rest) = rest.split_first_chunk::<16>()?;
    let of = Tag { params: Fingerprint::from_bytes(*params), key: KeyId::from_bytes(*key) };
    (rest.len() >= CHECKSUM).then_some(of)
}

fn packed_len(count: usize, bits: u32) -> Option<usize> {
    Some(count.checked_mul(bits as usize)?.div_ceil(8))
}

/// Reads one frame.
pub struct Reader<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    /// Opens a frame of this kind: checks magic, version, kind, length and checksum.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes: too few, another magic, version or kind, a length or checksum that
    /// does not fit.
    pub fn open(bytes: &'a [u8], kind: Kind) -> Result<Self, SchemeError> {
        let what = kind.what();
        let fail = |problem| Err(SchemeError::Wire { what, problem });
        if bytes.len() < HEADER + CHECKSUM {
            return fail("fewer bytes than a frame has");
        }
        if &bytes[..4] != MAGIC {
            return fail("no hesc object");
        }
        if bytes[4] != VERSION {
            return fail("another version of the format");
        }
        if bytes[5] != kind as u8 {
            return fail("another kind of object");
        }
        let (framed, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        let mut reader = Self { rest: &framed[6..], what };
        if reader.u64()? != (framed.len() - HEADER) as u64 {
            return fail("the length in the header is not the length of the body");
        }
        if self::checksum(framed) != *checksum {
            return fail("the checksum does not match");
        }
        Ok(reader)
    }

    /// Opens a parameter set of this scheme.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for anything else.
    pub fn open_params(bytes: &'a [u8], scheme: SchemeId) -> Result<Self, SchemeError> {
        let mut reader = Self::open(bytes, Kind::Params)?;
        if reader.scheme()? != scheme {
            return Err(reader.error("it is the set of another scheme"));
        }
        Ok(reader)
    }

    /// The scheme of the parameter set that these bytes are the wire form of.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for anything but a parameter set of a scheme that is known.
    pub fn scheme_of(bytes: &'a [u8]) -> Result<SchemeId, SchemeError> {
        Self::open(bytes, Kind::Params)?.scheme()
    }

    /// Whether a frame says that it holds this; nothing else of it is looked at.
    #[must_use]
    pub fn says(bytes: &[u8], kind: Kind) -> bool {
        bytes.get(MAGIC.len() + 1) == Some(&(kind as u8))
    }

    /// What follows the names of parameters and key in a frame that says it is of this kind; nothing is checked.
    pub fn said(bytes: &[u8], kind: Kind) -> Option<&[u8]> {
        let body = bytes.get(HEADER..).filter(|_| Self::says(bytes, kind))?;
        body.get(size_of::<Tag>()..)
    }

    /// The scheme of a parameter set.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for one that is not known.
    pub fn scheme(&mut self) -> Result<SchemeId, SchemeError> {
        let id = self.u8()?;
        SchemeId::of_byte(id).ok_or_else(|| self.error("the scheme is unknown"))
    }

    /// An error about this object.
    pub fn error(&self, problem: &'static str) -> SchemeError {
        SchemeError::Wire { what: self.what, problem }
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] if fewer are left.
    #[inline]
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], SchemeError> {
        let (taken, rest) =
            self.rest.split_at_checked(count).ok_or_else(|| self.error("it ends too early"))?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next `N` bytes.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] if fewer are left.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], SchemeError> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N)?);
        Ok(array)
    }

    /// A byte.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] at the end of the body.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, SchemeError> {
        Ok(self.array::<1>()?[0])
    }

    /// Four bytes.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] if fewer bytes are left.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, SchemeError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Eight bytes.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] if fewer bytes are left.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, SchemeError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A finite double.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] if fewer bytes are left, and for infinities and what is no number.
    #[inline]
    pub fn f64(&mut self) -> Result<f64, SchemeError> {
        let value = f64::from_le_bytes(self.array()?);
        if value.is_finite() { Ok(value) } else { Err(self.error("a number is not finite")) }
    }

    /// The names of a parameter set and of a key pair; refuses another set before anything large
    /// is read.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] if fewer bytes are left, [`SchemeError::ParameterMismatch`] for the names of
    /// another set.
    pub fn tag(&mut self, params: Fingerprint) -> Result<Tag, SchemeError> {
        let found = Fingerprint::from_bytes(self.array()?);
        let tag = Tag { params: found, key: KeyId::from_bytes(self.array()?) };
        tag.check(params, None)?;
        Ok(tag)
    }

    /// A number of blocks, at least one.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] if fewer bytes are left, and for zero.
    pub fn blocks(&mut self) -> Result<usize, SchemeError> {
        match self.u32()? {
            0 => Err(self.error("the batch is empty")),
            blocks => Ok(blocks as usize),
        }
    }

    /// A nested object.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] if the length is beyond what is left.
    pub fn nested(&mut self) -> Result<&'a [u8], SchemeError> {
        let length = self.u64()?;
        let length = usize::try_from(length).map_err(|_| self.error("a length is too large"))?;
        self.bytes(length)
    }

    /// So many words of eight bytes, which are there before the words are allocated.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for fewer bytes, or a count beyond any memory.
    pub fn words(&mut self, count: usize) -> Result<Vec<u64>, SchemeError> {
        let length = count.checked_mul(8).ok_or_else(|| self.error("a count is too large"))?;
        let (words, _) = self.bytes(length)?.as_chunks::<8>();
        Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }

    /// `count` values of `bits` bits each. The bytes are there before the values are allocated.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] if fewer bytes are left than the values take, and for padding bits that are set.
    pub fn packed<W: Word>(&mut self, count: usize, bits: u32) -> Result<Vec<W>, SchemeError> {
        let length = packed_len(count, bits).ok_or_else(|| self.error("a count is too large"))?;
        let bytes = self.bytes(length)?;
        let mask = u64::MAX >> (64 - bits);
        let mut values = Vec::with_capacity(count);
        let mut chunks = bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        let (mut pending, mut held) = (0u64, 0u32);
        for _ in 0..count {
            let mut value = pending;
            if held < bits {
                // The length was checked: there is another chunk.
                pending = chunks.next().unwrap_or(0);
                value |= pending << held;
                // `bits - held` is at least 1 and at most 62.
                pending >>= bits - held;
                held += 64 - bits;
            } else {
                pending >>= bits;
                held -= bits;
            }
            values.push(W::from_u64(value & mask));
        }
        if pending != 0 {
            return Err(self.error("padding bits are set"));
        }
        Ok(values)
    }

    /// Refuses left-over bytes.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] if bytes are left.
    pub fn finish(self) -> Result<(), SchemeError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.error("bytes are left over")) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packed_values_return(bits in 1u32..=62, raw in prop::collection::vec(any::<u64>(), 0..70)) {
            let values: Vec<u64> = raw.iter().map(|x| x >> (64 - bits)).collect();
            let mut writer = Writer::new(Kind::Params);
            writer.packed(&values, bits);
            let bytes = writer.finish();
            prop_assert_eq!(bytes.len(), HEADER + CHECKSUM + (values.len() * bits as usize).div_ceil(8));
            let mut reader = Reader::open(&bytes, Kind::Params).unwrap();
            prop_assert_eq!(reader.packed::<u64>(values.len(), bits).unwrap(), values);
            reader.finish().unwrap();
        }

        #[test]
        fn every_flipped_bit_is_noticed(body in prop::collection::vec(any::<u8>(), 0..40), at: usize) {
            let mut writer = Writer::new(Kind::Streams);
            writer.bytes(&body);
            let mut bytes = writer.finish();
            let bit = at % (8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(Reader::open(&bytes, Kind::Streams).is_err());
        }
    }

    #[test]
    fn padding_and_left_over_bytes_are_refused() {
        let mut writer = Writer::new(Kind::Params);
        writer.bytes(&[0b1111_0101]);
        let bytes = writer.finish();
        let mut reader = Reader::open(&bytes, Kind::Params).unwrap();
        assert!(matches!(
            reader.packed::<u32>(1, 3),
            Err(SchemeError::Wire { problem: "padding bits are set", .. })
        ));
        let reader = Reader::open(&bytes, Kind::Params).unwrap();
        assert!(reader.finish().is_err());
        assert!(Reader::open(&bytes, Kind::Answer).is_err());
        assert!(Reader::open(&bytes[..20], Kind::Params).is_err());
    }

    #[test]
    fn a_huge_count_is_refused_before_it_is_allocated() {
        let bytes = Writer::new(Kind::Params).finish();
        let mut reader = Reader::open(&bytes, Kind::Params).unwrap();
        assert!(reader.packed::<u64>(usize::MAX, 62).is_err());
        assert!(reader.packed::<u64>(usize::MAX / 128, 62).is_err());
    }
}
