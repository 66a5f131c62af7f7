//! Plans that all sides derive: what is declared in public, the smallest set in which there is room for it, and what follows.
//!
//! A [`Declaration`] says how one kind of plan follows. A [`Plan`] has what all kinds share: the wire form, from which a reader
//! derives the plan again, its fingerprint, and the widths of what travels.

mod error;
pub(crate) mod portable;

use std::fmt::Debug;
use std::sync::Arc;

use hesc_schemes::rlwe::{RingProducts, Truncation};
use hesc_schemes::wire::{Kind, Reader, Writer, pack};
use hesc_schemes::{Fingerprint, KeyId, SchemeError, Tag};

pub use error::PlanError;

/// Words of a message's ciphertexts, at most: it is in memory at once.
pub(crate) const MOST_WORDS: usize = 1 << 22;

/// Bytes of a frame, with the names of plan and key.
pub(crate) const FRAME: usize = 30 + 32;
pub(crate) const SEED: usize = size_of::<Seed>();

/// What a uniform polynomial comes from.
pub(crate) type Seed = [u8; 32];

/// The second part of a ciphertext: what it comes from, or itself.
pub(crate) enum Second {
    Seed(Seed),
    Words(Vec<u64>),
}

/// What is declared before anybody looked at numbers to be hidden. All else in a plan follows from it.
pub trait Declaration: Debug + Sized {
    /// What follows, beside the set.
    type Derived: Derived;
    /// The kind of its plans' wire form.
    const KIND: Kind;
    /// Primes of its sets.
    const PRIMES: usize = 1;

    /// The smallest set with room for it, and what follows there. Cost: milliseconds.
    ///
    /// # Errors
    /// [`PlanError`] for what cannot be declared, or has room in no set.
    fn derive(&self) -> Result<(RingProducts, Self::Derived), PlanError>;

    /// Writes what was declared.
    fn write(&self, writer: &mut Writer);

    /// Reads it. Whether it can be declared is for [`Self::derive`] to say.
    ///
    /// # Errors
    /// [`SchemeError::Wire`].
    fn read(reader: &mut Reader<'_>) -> Result<Self, SchemeError>;
}

/// What follows from a declaration in a set.
pub trait Derived: Debug {
    /// Bytes of its wire form.
    const BYTES: usize;

    /// Bits of the coefficients of an answer.
    fn answer_bits(&self) -> u32;

    /// Writes it, without the bits of an answer.
    fn write(&self, writer: &mut Writer);
}

/// What all sides agree upon. Public. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Plan<D: Declaration>(Arc<Inner<D>>);

#[derive(Debug)]
struct Inner<D: Declaration> {
    declared: D,
    derived: D::Derived,
    products: RingProducts,
    residues: Vec<Width>,
    answers: Width,
    fingerprint: Fingerprint,
}

impl<D: Declaration> Plan<D> {
    /// What follows from a declaration. Cost: milliseconds.
    ///
    /// # Errors
    /// As [`Declaration::derive`].
    pub fn new(declared: D) -> Result<Self, PlanError> {
        let (products, derived) = declared.derive()?;
        let residues = products.moduli().map(Width::of_residues).collect();
        let answers = match D::PRIMES {
            1 => Width::new(products.modulus(), derived.answer_bits()),
            _ => Width::of_bits(derived.answer_bits()),
        };
        let fingerprint = Fingerprint::of(&bytes_of(&declared, &products, &derived));
        let inner = Inner { declared, derived, products, residues, answers, fingerprint };
        Ok(Self(Arc::new(inner)))
    }

    /// Wire form: what was declared, then the set and what else follows.
    pub fn to_bytes(&self) -> Vec<u8> {
        bytes_of(self.declared(), self.products(), self.derived())
    }

    /// Reads a plan, and makes it again: what it says beyond its declaration must follow from that.
    ///
    /// # Errors
    /// [`SchemeError::Wire`]; as [`Self::new`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PlanError> {
        let mut reader = Reader::open(bytes, D::KIND)?;
        let declared = D::read(&mut reader)?;
        // Ring, primes, what else follows, and bits of an answer.
        reader.bytes(4 + 8 * D::PRIMES + D::Derived::BYTES + 1)?;
        let wrong = reader.error("its sizes or scales do not follow from what it declares");
        reader.finish()?;
        let plan = Self::new(declared)?;
        if plan.to_bytes() == bytes { Ok(plan) } else { Err(wrong.into()) }
    }

    /// What it was made from.
    pub fn declared(&self) -> &D {
        &self.0.declared
    }

    /// What followed.
    pub(crate) fn derived(&self) -> &D::Derived {
        &self.0.derived
    }

    /// Its hash, which all that is made under it carries.
    pub fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }

    /// The set.
    pub fn products(&self) -> &RingProducts {
        &self.0.products
    }

    /// Coefficients of a polynomial.
    pub fn ring_degree(&self) -> usize {
        self.products().scheme().ring_degree()
    }

    /// Bits of the coefficients of an answer.
    pub fn answer_bits(&self) -> u32 {
        self.answers().bits()
    }

    /// Begins a message of so many bytes under this plan and a key.
    pub(crate) fn message(&self, kind: Kind, bytes: usize, key: KeyId) -> Writer {
        let mut writer = Writer::with_capacity(kind, bytes);
        writer.tag(Tag { params: self.fingerprint(), key });
        writer
    }

    /// Begins to read a message under this plan, and says under which key it is.
    pub(crate) fn open<'a>(
        &self,
        bytes: &'a [u8],
        kind: Kind,
    ) -> Result<(Reader<'a>, KeyId), SchemeError> {
        let mut reader = Reader::open(bytes, kind)?;
        let key = reader.tag(self.fingerprint())?.key;
        Ok((reader, key))
    }

    /// How residues modulo the first prime travel: the only one but of kinds with two.
    pub(crate) fn residues(&self) -> &Width {
        &self.0.residues[0]
    }

    /// How residues modulo each prime travel.
    pub(crate) fn widths(&self) -> &[Width] {
        &self.0.residues
    }

    /// How the coefficients of an answer travel.
    pub(crate) fn answers(&self) -> &Width {
        &self.0.answers
    }
}

fn bytes_of<D: Declaration>(
    declared: &D,
    products: &RingProducts,
    derived: &D::Derived,
) -> Vec<u8> {
    let mut writer = Writer::new(D::KIND);
    declared.write(&mut writer);
    writer.u32(products.scheme().ring_degree() as u32);
    products.moduli().for_each(|modulus| _ = writer.u64(modulus));
    derived.write(&mut writer);
    writer.u8(derived.answer_bits() as u8);
    writer.finish()
}

/// The first set of some sizes, from what is cheapest, in which there is room: by ring degree and modulus.
pub(crate) fn smallest<T>(
    sizes: &[(usize, u32)],
    mut room: impl FnMut(usize, u64) -> Option<T>,
) -> Result<Option<(RingProducts, T)>, SchemeError> {
    for &(ring_degree, bits) in sizes {
        if let Some(found) = room(ring_degree, RingProducts::modulus_of_size(ring_degree, bits)?) {
            return Ok(Some((RingProducts::of_size(ring_degree, bits)?, found)));
        }
    }
    Ok(None)
}

/// How residues travel: with so many bits, rounded to these where they are fewer than the modulus has.
#[derive(Debug)]
pub(crate) struct Width {
    bits: u32,
    /// What numbers are less than.
    below: u64,
    pub truncation: Option<Truncation>,
}

impl Width {
    pub fn new(modulus: u64, bits: u32) -> Self {
        if bits > modulus.ilog2() {
            return Self { bits, below: modulus, truncation: None };
        }
        Self { bits, below: 1 << bits, truncation: Some(Truncation::new(modulus, bits)) }
    }

    /// Of residues modulo a power of two.
    pub fn of_bits(bits: u32) -> Self {
        Self { bits, below: 1 << bits, truncation: None }
    }

    pub fn of_residues(modulus: u64) -> Self {
        Self::new(modulus, modulus.ilog2() + 1)
    }

    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Bytes of so many numbers.
    pub fn bytes(&self, count: usize) -> usize {
        (count * self.bits as usize).div_ceil(8)
    }

    /// So many numbers, all of them in range.
    pub fn read(&self, reader: &mut Reader<'_>, count: usize) -> Result<Vec<u64>, SchemeError> {
        let words = reader.packed::<u64>(count, self.bits)?;
        // All of them, without a branch for each.
        if words.iter().fold(false, |above, &x| above | (x >= self.below)) {
            return Err(reader.error("a residue is not below its modulus"));
        }
        Ok(words)
    }

    pub fn write(&self, writer: &mut Writer, words: &[u64]) {
        writer.packed(words, self.bits);
    }

    /// Appends what [`Self::write`] writes.
    pub fn append(&self, bytes: &mut Vec<u8>, words: &[u64]) {
        pack(bytes, words, self.bits);
    }

    /// Writes both parts of a ciphertext of residues, the second first.
    pub fn write_both(&self, writer: &mut Writer, c_0: &[u64], c_1: &Second) {
        match c_1 {
            Second::Seed(seed) => _ = writer.bytes(seed),
            Second::Words(words) => self.write(writer, words),
        }
        self.write(writer, c_0);
    }

    /// From residues to what travels.
    pub fn truncate(&self, words: &mut [u64]) {
        if let Some(truncation) = &self.truncation {
            words.iter_mut().for_each(|word| *word = truncation.truncate(*word));
        }
    }

    /// From what travels to residues.
    pub fn lift(&self, words: &mut [u64]) {
        if let Some(truncation) = &self.truncation {
            words.iter_mut().for_each(|word| *word = truncation.lift(*word));
        }
    }
}
