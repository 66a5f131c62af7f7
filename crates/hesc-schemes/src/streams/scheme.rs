use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::{Blocks, all_places};
use crate::rlwe::{Packing, Spec};
use crate::{Fingerprint, SchemeError, Security};

/// What combining ciphertexts does to the bits in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitProduct {
    /// Their exclusive or, read as a count's parity: the product of inverted-bipolar streams.
    ExclusiveOr,
    /// Their conjunction: the product of unipolar streams.
    Conjunction,
}

/// All that circuits on streams ask of a scheme: what has these parts is one.
pub trait Scheme:
    Combine
    + Compact
    + Decrypt<<Self as Encrypt>::Ciphertexts>
    + Decrypt<<Self as Compact>::CompactCiphertexts>
    + Wire<<Self as Encrypt>::Ciphertexts>
    + Wire<<Self as Encrypt>::SeededCiphertexts>
    + Wire<<Self as Compact>::CompactCiphertexts>
    + Wire<<Self as Encrypt>::PublicKey>
    + Lengths
{
}

impl<S> Scheme for S where
    S: Combine
        + Compact
        + Decrypt<<S as Encrypt>::Ciphertexts>
        + Decrypt<<S as Compact>::CompactCiphertexts>
        + Wire<<S as Encrypt>::Ciphertexts>
        + Wire<<S as Encrypt>::SeededCiphertexts>
        + Wire<<S as Compact>::CompactCiphertexts>
        + Wire<<S as Encrypt>::PublicKey>
        + Lengths
{
}

/// A parameter set with its keys and encryption: cheap to clone, immutable.
///
/// Bits go in packed: `blocks * block_length / 64` words, bit `i` of a block is bit `i % 64` of its
/// word `i / 64`. All operations work on whole batches. They check sets, keys, sizes and the noise
/// budget before they compute, and leave their operands as they were if they refuse.
pub trait Encrypt: Clone + Send + Sync + 'static {
    /// Decrypts. No `Debug`, no equality, wiped on drop.
    type SecretKey: Send + Sync;
    /// Encrypts.
    type PublicKey: Clone + Send + Sync;
    /// A batch of ciphertexts, one a block.
    type Ciphertexts: Blocks;
    /// A batch from the secret key, half the size on the wire: the random half is a seed.
    type SeededCiphertexts: Blocks;

    /// The scheme's name in the interface: `bfv`, `gm`, `plain`.
    fn name(&self) -> &'static str;
    /// The parameter set's wire form, which [`super::open`] reads.
    fn spec_to_bytes(&self) -> Vec<u8>;
    /// What the set keeps.
    fn security(&self) -> Security;
    /// The set of a lattice of BFV or CKKS, if it is one.
    fn lattice(&self) -> Option<&Spec> {
        None
    }
    /// The parameter set's hash, which every key and ciphertext carries.
    fn fingerprint(&self) -> Fingerprint;
    /// Positions in a block, a multiple of 64.
    fn block_length(&self) -> usize;
    /// Where they sit.
    fn packing(&self) -> Packing;

    /// A key pair under a new random name. Cost: an encryption or two, and a search for primes where
    /// factors are the secret.
    fn generate_keys(&self, rng: &mut impl CryptoRng) -> (Self::SecretKey, Self::PublicKey);

    /// Encrypts blocks of bits under the public key.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for another set's key, [`SchemeError::Empty`] for no bits,
    /// [`SchemeError::BlockCount`] for bits that are no whole blocks, [`SchemeError::Interrupted`].
    fn encrypt(
        &self,
        key: &Self::PublicKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Self::Ciphertexts, SchemeError>;

    /// Encrypts blocks of bits under the secret key, with less noise than under the public one.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for another set's key, [`SchemeError::Empty`] for no bits,
    /// [`SchemeError::BlockCount`] for bits that are no whole blocks, [`SchemeError::Interrupted`].
    fn encrypt_seeded(
        &self,
        key: &Self::SecretKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Self::SeededCiphertexts, SchemeError>;

    /// The full form of seeded ciphertexts. Cost: what their random halves take to draw, and on
    /// lattices a transform a block.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for a batch of another set, [`SchemeError::Interrupted`].
    fn expand(&self, seeded: &Self::SeededCiphertexts) -> Result<Self::Ciphertexts, SchemeError>;

    /// The same counts or bits in fresh ciphertexts. On groups they say nothing of `a`, not even to
    /// who holds the secret key, but the counts or bits themselves; on lattices noise remembers what
    /// was added. Cost: an encryption and an addition, and two powers a bit on groups where bits
    /// multiply.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`] for another pair's key,
    /// [`SchemeError::NoiseBudget`] if there is no room for an encryption's noise,
    /// [`SchemeError::Interrupted`].
    fn rerandomise(
        &self,
        key: &Self::PublicKey,
        a: &Self::Ciphertexts,
        rng: &mut impl CryptoRng,
    ) -> Result<Self::Ciphertexts, SchemeError>;

    /// Bits of room left before decryption is refused, from public data: `log2(limit / noise)`.
    /// Infinite where there is no noise.
    fn noise_budget(&self, a: &Self::Ciphertexts) -> f64;

    /// The same, measured with the secret key: what the noise really is. Cost: a decryption.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], and
    /// [`SchemeError::NotACount`] where a block holds no counts.
    fn measured_noise_budget(
        &self,
        key: &Self::SecretKey,
        a: &Self::Ciphertexts,
    ) -> Result<f64, SchemeError>;

    /// Wire form of the secret key: write it to private storage only.
    fn secret_key_to_bytes(&self, key: &Self::SecretKey) -> Zeroizing<Vec<u8>>;

    /// Reads a secret key.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes, [`SchemeError::ParameterMismatch`] for another set's key.
    fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<Self::SecretKey, SchemeError>;
}

/// Reads batches of a form.
pub trait Decrypt<B>: Encrypt {
    /// The largest count that a position of this batch can hold, from public data.
    fn max_count(&self, a: &B) -> u64;

    /// Decrypts to `blocks * block_length` counts. Without branches or indices on what is secret.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::NotACount`] for a
    /// block that holds something else, as altered ciphertexts do, [`SchemeError::Interrupted`].
    fn decrypt(&self, key: &Self::SecretKey, a: &B) -> Result<Vec<u32>, SchemeError>;
}

/// What travels in a strict wire form: a batch in one of its forms, a public key.
pub trait Wire<T>: Encrypt {
    /// The wire form. Its length depends on the set and the number of blocks.
    fn write(&self, object: &T) -> Vec<u8>;

    /// Reads the wire form. Memory is allocated for what is there, not for what lengths claim.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes and for noise or counts that no honest object has,
    /// [`SchemeError::ParameterMismatch`] for an object of another set, [`SchemeError::NoiseBudget`] and
    /// [`SchemeError::CountBound`] for a batch that could not be decrypted.
    fn read(&self, bytes: &[u8]) -> Result<T, SchemeError>;
}

/// A form that batches travel in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// What is computed on.
    Full,
    /// Fresh from the secret key.
    Seeded,
    /// What goes back to the key owner, see [`Compact`].
    Compact,
}

/// How many encryptions each block of a batch is combined of, by the key that they are under.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Encryptions {
    /// Under the secret key.
    pub secret: usize,
    /// Under the public key.
    pub public: usize,
}

impl Encryptions {
    /// All of them.
    pub fn count(self) -> usize {
        self.secret + self.public
    }
}

/// What batches take on the wire, told from public numbers before there are any.
pub trait Lengths: Encrypt {
    /// Bytes of so many blocks in a form, each combined of as many encryptions of different batches; without masks
    /// and weights. None where there is no such form, or where products decide more than that.
    fn length(&self, form: Form, blocks: usize, of: Encryptions) -> Option<usize>;

    /// The largest count that a position holds, as long as no mask has changed its scale.
    fn capacity(&self) -> u64;
}

/// Computes on blocks: combines them, position by position, and puts them in another order.
///
/// Fresh positions are bits. Where they combine to the exclusive or they become counts of ones, whose
/// parity it is; where to the conjunction they stay bits.
pub trait Combine: Decrypt<<Self as Encrypt>::Ciphertexts> {
    /// What combining ciphertexts does to their bits.
    fn bit_product(&self) -> BitProduct;
    /// Whether a position decrypts to its parity or its bit, whatever was combined: counts have no bound.
    fn parity_survives_wrap(&self) -> bool;

    /// `a[i]` with `b[j]` for each pair of blocks `(i, j)`. Cost a pair: an addition of ciphertexts,
    /// without copying operands first, or a product.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::Empty`] for no
    /// pair, [`SchemeError::BlockIndex`] for a block that is not there, [`SchemeError::ScaleMismatch`] for a
    /// masked and another batch of CKKS, [`SchemeError::NoiseBudget`], [`SchemeError::CountBound`] or
    /// [`SchemeError::TooManyComponents`] if there is no room, [`SchemeError::Interrupted`].
    fn combine_pairs(
        &self,
        a: &Self::Ciphertexts,
        b: &Self::Ciphertexts,
        pairs: &[(usize, usize)],
    ) -> Result<Self::Ciphertexts, SchemeError> {
        let rows: Vec<_> = pairs.iter().map(|&(i, j)| vec![(0, i), (1, j)]).collect();
        self.combine_rows(&[a, b], &rows)
    }

    /// `a` with `b`, block by block.
    ///
    /// # Errors
    /// [`SchemeError::BlockCount`] for other numbers of blocks, [`SchemeError::ParameterMismatch`],
    /// [`SchemeError::KeyMismatch`], [`SchemeError::ScaleMismatch`] for a masked and another batch of CKKS,
    /// [`SchemeError::NoiseBudget`], [`SchemeError::CountBound`] or [`SchemeError::TooManyComponents`] if there
    /// is no room, [`SchemeError::Interrupted`].
    fn combine(
        &self,
        a: &Self::Ciphertexts,
        b: &Self::Ciphertexts,
    ) -> Result<Self::Ciphertexts, SchemeError> {
        let (expected, found) = (a.blocks(), b.blocks());
        if expected != found {
            return Err(SchemeError::BlockCount { expected, found });
        }
        let pairs: Vec<_> = (0..expected).map(|i| (i, i)).collect();
        self.combine_pairs(a, b, &pairs)
    }

    /// One block for each row: all blocks of the row, given as pairs of a part and a block in it,
    /// combined. Cost: an addition or product for each block but a row's first.
    ///
    /// # Errors
    /// [`SchemeError::Empty`] for no part or no row, [`SchemeError::BlockCount`] for a row of nothing,
    /// [`SchemeError::BlockIndex`] for a block that is not there; [`SchemeError::ParameterMismatch`],
    /// [`SchemeError::KeyMismatch`] and [`SchemeError::ScaleMismatch`] for parts that do not belong together;
    /// [`SchemeError::NoiseBudget`], [`SchemeError::CountBound`] or [`SchemeError::TooManyComponents`] if there
    /// is no room; [`SchemeError::Interrupted`].
    fn combine_rows(
        &self,
        parts: &[&Self::Ciphertexts],
        rows: &[Vec<(usize, usize)>],
    ) -> Result<Self::Ciphertexts, SchemeError>;

    /// Combines each position of `a` with a public bit. Cost: less than an encryption.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::Empty`] and [`SchemeError::BlockCount`] for bits
    /// that are not one a position, [`SchemeError::ScaleMismatch`] for a masked batch of CKKS,
    /// [`SchemeError::NoiseBudget`] or [`SchemeError::CountBound`] if there is no room.
    fn combine_bits_assign(
        &self,
        a: &mut Self::Ciphertexts,
        bits: &[u64],
    ) -> Result<(), SchemeError>;

    /// The blocks at these places, pairs of a part and a block in it, in this order; repetitions are
    /// allowed. Bounds of noise and counts are those of all parts, used or not. Cost: a copy.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`] and [`SchemeError::ScaleMismatch`]
    /// for parts that do not belong together, [`SchemeError::Empty`] for no part or no place,
    /// [`SchemeError::BlockIndex`] for a block that is not there.
    fn arrange(
        &self,
        parts: &[&Self::Ciphertexts],
        places: &[(usize, usize)],
    ) -> Result<Self::Ciphertexts, SchemeError>;

    /// The blocks of these indices, in this order; repetitions are allowed. Cost: a copy.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::Empty`] for no index, [`SchemeError::BlockIndex`]
    /// for a block that is not there.
    fn select(
        &self,
        a: &Self::Ciphertexts,
        blocks: &[usize],
    ) -> Result<Self::Ciphertexts, SchemeError> {
        let places: Vec<_> = blocks.iter().map(|&block| (0, block)).collect();
        self.arrange(&[a], &places)
    }

    /// All blocks of all parts, in order. Cost: a copy.
    ///
    /// # Errors
    /// [`SchemeError::Empty`] for no part; [`SchemeError::ParameterMismatch`],
    /// [`SchemeError::KeyMismatch`] and [`SchemeError::ScaleMismatch`] for parts that do not belong together.
    fn concatenate(&self, parts: &[&Self::Ciphertexts]) -> Result<Self::Ciphertexts, SchemeError> {
        self.arrange(parts, &all_places(parts))
    }

    /// Why the scheme has no masks, weights or moves, where that is its nature and not its packing's.
    fn refusal(&self, _operation: &'static str) -> Option<SchemeError> {
        None
    }

    /// Products with masks, if the scheme has them.
    fn masking(&self) -> Option<&dyn MaskPositions<Self::Ciphertexts>> {
        None
    }

    /// Sums with weights, if positions hold counts.
    fn weighting(&self) -> Option<&dyn WeightedSums<Self::Ciphertexts>> {
        None
    }

    /// Moves of single positions, if each has a ciphertext of its own.
    fn moving(&self) -> Option<&dyn MovePositions<Self::Ciphertexts>> {
        None
    }
}

/// Products with public masks; [`Combine::masking`] says which schemes have them.
pub trait MaskPositions<B> {
    /// Keeps a position of `a` where the bit is set, and elsewhere sets it to what changes nothing that
    /// it is combined with: zero, but one for [`BitProduct::Conjunction`]. Cost a block: five transforms
    /// a prime on lattices.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::Empty`] and [`SchemeError::BlockCount`] for bits
    /// that are not one a position, [`SchemeError::PackingCannot`] for a set whose positions are no slots,
    /// [`SchemeError::NoiseBudget`] if there is no room.
    fn mask_assign(&self, a: &mut B, bits: &[u64]) -> Result<(), SchemeError>;
}

/// Sums of counts with weights; [`Combine::weighting`] says which schemes have them.
pub trait WeightedSums<B> {
    /// One block for each row by Horner's rule. A row lists `(part, block)` pairs from the highest
    /// digit down, and `bases[k]` multiplies the sum before its `k + 1`-th block is added:
    /// `((b_0 bases[0] + b_1) bases[1] + b_2) ...`. Rows may be shorter than the bases. Cost: a product
    /// with a small number and an addition for each block but a row's first.
    ///
    /// # Errors
    /// [`SchemeError::Empty`] for no part or no row, [`SchemeError::BlockCount`] for a row of nothing or of
    /// more blocks than `bases` and one, [`SchemeError::BlockIndex`] for a block that is not there;
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`] and [`SchemeError::ScaleMismatch`]
    /// for parts that do not belong together; [`SchemeError::Parameter`] for a base that is not below every
    /// prime of a lattice's modulus; [`SchemeError::NoiseBudget`] or [`SchemeError::CountBound`] if there is
    /// no room; [`SchemeError::Interrupted`].
    fn horner(
        &self,
        parts: &[&B],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<B, SchemeError>;
}

/// Moves of single positions; [`Combine::moving`] says which schemes have them.
pub trait MovePositions<B> {
    /// New blocks of single positions of others: position `i` of the result is position `q` of part `p`
    /// for `sources[i] = (p, q)`, counted through all blocks of the part, and, where there is no source,
    /// what changes nothing that it is combined with, for everyone to see. Bounds are those of all parts,
    /// used or not, so that they say nothing of the choice. Cost: a copy.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for parts that do not belong
    /// together, [`SchemeError::Empty`] for no part or no source, [`SchemeError::BlockIndex`] for a block
    /// that is not there.
    fn gather(&self, parts: &[&B], sources: &[Option<(usize, usize)>]) -> Result<B, SchemeError>;
}

/// Has a form that can only be decrypted.
pub trait Compact: Encrypt {
    /// A batch that can only be decrypted, as small as that is. Schemes whose ciphertexts do not shrink
    /// say so by the same type.
    type CompactCiphertexts: Blocks;

    /// The download form: on lattices the modulus is switched to the smallest power of two that still
    /// decrypts, or to fewer primes. Cost: one pass.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`]; [`SchemeError::CannotCompact`] if no smaller modulus decrypts.
    fn compact(&self, a: &Self::Ciphertexts) -> Result<Self::CompactCiphertexts, SchemeError>;
}
