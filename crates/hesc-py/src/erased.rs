//! The generic types of `hesc-circuits` behind trait objects: Python chooses the scheme at run
//! time.

use std::any::Any;
use std::sync::Arc;

use hesc_circuits::{
    Answer, CircuitError, Counts, Envelope, Fusion, Plaintext, SeededStreams, Streams,
};
use hesc_math::AesCtrRng;
use hesc_schemes::rlwe::Spec;
use hesc_schemes::streams::{Encryptions, Form};
use hesc_schemes::{BitProduct, Fingerprint, Packing, Scheme, SchemeError, Security, sealing};
use hesc_stochastic::{BitStreams, Origin, Representation, Selector};
use zeroize::Zeroizing;

type Outcome<T> = Result<T, CircuitError>;
pub type Array = Arc<dyn ErasedStreams>;

/// A parameter set.
pub trait Set: Send + Sync {
    /// The scheme itself.
    fn as_any(&self) -> &dyn Any;
    fn name(&self) -> &'static str;
    fn to_bytes(&self) -> Vec<u8>;
    fn security(&self) -> Security;
    fn lattice(&self) -> Option<&Spec>;
    fn block_length(&self) -> usize;
    fn packing(&self) -> Packing;
    fn bit_product(&self) -> BitProduct;
    fn fingerprint(&self) -> Fingerprint;
    fn length(&self, form: Form, blocks: usize, of: Encryptions) -> Option<usize>;
    fn capacity(&self) -> u64;
    fn generate_keys(&self) -> Outcome<(Arc<dyn Secret>, Arc<dyn Public>)>;
    fn read_public(&self, bytes: &[u8]) -> Outcome<Arc<dyn Public>>;
    fn read_secret(&self, bytes: &[u8]) -> Outcome<Arc<dyn Secret>>;
    fn read_streams(&self, bytes: &[u8]) -> Outcome<Array>;
    fn read_seeded(&self, bytes: &[u8]) -> Outcome<Arc<dyn ErasedSeeded>>;
    fn read_answer(&self, bytes: &[u8]) -> Outcome<Arc<dyn ErasedAnswer>>;
}

pub trait Public: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn encrypt(&self, plaintexts: &[Plaintext<'_>]) -> Outcome<Vec<Array>>;
    fn rerandomise(&self, array: &dyn ErasedStreams, row_length: usize) -> Outcome<Array>;
    fn to_bytes(&self) -> Vec<u8>;
}

pub trait Secret: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn encrypt(&self, plaintext: &Plaintext<'_>) -> Outcome<Arc<dyn ErasedSeeded>>;
    fn decrypt(&self, answer: &dyn ErasedAnswer) -> Outcome<Counts>;
    /// What goes into a key file: the wire form, sealed if there is a passphrase.
    fn to_file(&self, passphrase: Option<&str>) -> Outcome<Zeroizing<Vec<u8>>>;
}

pub trait ErasedSeeded: Send + Sync {
    fn expand(&self) -> Outcome<Array>;
    fn envelope(&self) -> Envelope;
    fn to_bytes(&self) -> Vec<u8>;
    fn elements(&self) -> usize;
}

pub trait ErasedAnswer: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn fingerprint(&self) -> Fingerprint;
    fn elements(&self) -> usize;
    fn blocks(&self) -> usize;
    fn form(&self) -> (Form, u64);
    fn envelope(&self) -> Envelope;
    fn to_bytes(&self) -> Vec<u8>;
}

/// What an array says of itself without a look at its ciphertexts.
pub struct Shape {
    pub elements: usize,
    pub terms_per_element: usize,
    pub stream_length: usize,
    pub representation: Representation,
    pub max_count: u64,
}

/// What makes an array of an array, and of others of its type.
pub enum Operation<'a> {
    Multiply(&'a dyn ErasedStreams, &'a [(usize, usize)]),
    MultiplyBits(&'a BitStreams, Representation, Origin),
    Negate,
    Scale(&'a [f64]),
    AddConstants(&'a [f64]),
    Add(&'a dyn ErasedStreams, &'a [(usize, usize)]),
    Append(&'a dyn ErasedStreams),
    Select(&'a [usize]),
    SumGroups(usize),
    /// Coefficients, and what selects by them.
    Multiplexed(&'a [f64], &'a mut Selector),
    /// Coefficients, the pieces that each operand keeps, and of how many.
    Allocated(&'a [f64], &'a [usize], usize),
    /// Arrays beside the first, and the weights of all.
    WeightedSum(&'a [&'a dyn ErasedStreams], &'a [f64]),
}

pub trait ErasedStreams: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn fingerprint(&self) -> Fingerprint;
    fn shape(&self) -> Shape;
    fn blocks(&self) -> usize;
    fn capacity(&self) -> u64;
    fn noise_budget(&self) -> f64;
    fn apply(&self, operation: Operation<'_>) -> Outcome<Array>;
    /// This array and others times each other, see [`Streams::prefix_products`].
    fn prefix_products(&self, others: &[&dyn ErasedStreams]) -> Outcome<Vec<Array>>;
    fn answer(&self, fusion: Option<&Fusion>, compact: bool) -> Outcome<Arc<dyn ErasedAnswer>>;
    /// What the wire form of the ciphertexts in use takes beside them.
    fn envelope(&self) -> Outcome<Envelope>;
    /// The wire form of the ciphertexts in use.
    fn to_bytes(&self) -> Outcome<Vec<u8>>;
}

fn mismatch(expected: Fingerprint, found: Fingerprint) -> CircuitError {
    SchemeError::ParameterMismatch { expected, found }.into()
}

/// Randomness of the operating system's.
pub fn os_rng() -> Outcome<AesCtrRng> {
    AesCtrRng::from_os().map_err(|error| SchemeError::from(error).into())
}

/// The same type inside `other`.
fn operand<'a, S: Scheme>(
    own: &Streams<S>,
    other: &'a dyn ErasedStreams,
) -> Outcome<&'a Streams<S>> {
    let expected = own.scheme().fingerprint();
    other.as_any().downcast_ref().ok_or_else(|| mismatch(expected, other.fingerprint()))
}

/// An array and others of its type.
fn operands<'a, S: Scheme>(
    own: &'a Streams<S>,
    others: &[&'a dyn ErasedStreams],
) -> Outcome<Vec<&'a Streams<S>>> {
    std::iter::once(Ok(own)).chain(others.iter().map(|other| operand(own, *other))).collect()
}

pub struct SetOf<S: Scheme>(pub S);

pub struct PublicOf<S: Scheme> {
    pub scheme: S,
    pub key: S::PublicKey,
}

pub struct SecretOf<S: Scheme> {
    pub scheme: S,
    pub key: S::SecretKey,
}

impl<S: Scheme> Set for SetOf<S> {
    fn as_any(&self) -> &dyn Any {
        &self.0
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.0.spec_to_bytes()
    }

    fn security(&self) -> Security {
        self.0.security()
    }

    fn lattice(&self) -> Option<&Spec> {
        self.0.lattice()
    }

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn block_length(&self) -> usize {
        self.0.block_length()
    }

    fn packing(&self) -> Packing {
        self.0.packing()
    }

    fn bit_product(&self) -> BitProduct {
        self.0.bit_product()
    }

    fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint()
    }

    fn length(&self, form: Form, blocks: usize, of: Encryptions) -> Option<usize> {
        self.0.length(form, blocks, of)
    }

    fn capacity(&self) -> u64 {
        self.0.capacity()
    }

    fn generate_keys(&self) -> Outcome<(Arc<dyn Secret>, Arc<dyn Public>)> {
        let scheme = &self.0;
        let (secret, public) = scheme.generate_keys(&mut os_rng()?);
        Ok((
            Arc::new(SecretOf { scheme: scheme.clone(), key: secret }),
            Arc::new(PublicOf { scheme: scheme.clone(), key: public }),
        ))
    }

    fn read_public(&self, bytes: &[u8]) -> Outcome<Arc<dyn Public>> {
        let key = self.0.read(bytes)?;
        Ok(Arc::new(PublicOf { scheme: self.0.clone(), key }))
    }

    fn read_secret(&self, bytes: &[u8]) -> Outcome<Arc<dyn Secret>> {
        let key = self.0.secret_key_from_bytes(bytes)?;
        Ok(Arc::new(SecretOf { scheme: self.0.clone(), key }))
    }

    fn read_streams(&self, bytes: &[u8]) -> Outcome<Array> {
        Ok(Arc::new(Streams::from_bytes(&self.0, bytes)?))
    }

    fn read_seeded(&self, bytes: &[u8]) -> Outcome<Arc<dyn ErasedSeeded>> {
        Ok(Arc::new(SeededStreams::from_bytes(&self.0, bytes)?))
    }

    fn read_answer(&self, bytes: &[u8]) -> Outcome<Arc<dyn ErasedAnswer>> {
        Ok(Arc::new(Answer::from_bytes(&self.0, bytes)?))
    }
}

impl<S: Scheme> Public for PublicOf<S> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn encrypt(&self, plaintexts: &[Plaintext<'_>]) -> Outcome<Vec<Array>> {
        let arrays = Streams::encrypt_all(&self.scheme, &self.key, plaintexts, &mut os_rng()?)?;
        Ok(arrays.into_iter().map(|array| Arc::new(array) as Array).collect())
    }

    fn rerandomise(&self, array: &dyn ErasedStreams, row_length: usize) -> Outcome<Array> {
        let expected = self.scheme.fingerprint();
        let array: &Streams<S> =
            array.as_any().downcast_ref().ok_or_else(|| mismatch(expected, array.fingerprint()))?;
        Ok(Arc::new(array.rerandomise(&self.key, row_length, &mut os_rng()?)?))
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.scheme.write(&self.key)
    }
}

impl<S: Scheme> Secret for SecretOf<S> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn encrypt(&self, plaintext: &Plaintext<'_>) -> Outcome<Arc<dyn ErasedSeeded>> {
        Ok(Arc::new(SeededStreams::encrypt(&self.scheme, &self.key, plaintext, &mut os_rng()?)?))
    }

    fn decrypt(&self, answer: &dyn ErasedAnswer) -> Outcome<Counts> {
        let expected = self.scheme.fingerprint();
        let answer: &Answer<S> = answer
            .as_any()
            .downcast_ref()
            .ok_or_else(|| mismatch(expected, answer.fingerprint()))?;
        answer.decrypt(&self.key)
    }

    fn to_file(&self, passphrase: Option<&str>) -> Outcome<Zeroizing<Vec<u8>>> {
        let bytes = self.scheme.secret_key_to_bytes(&self.key);
        let Some(passphrase) = passphrase else { return Ok(bytes) };
        Ok(sealing::seal(&bytes, passphrase.as_bytes(), &mut os_rng()?).map(Zeroizing::new)?)
    }
}

impl<S: Scheme> ErasedSeeded for SeededStreams<S> {
    fn expand(&self) -> Outcome<Array> {
        Ok(Arc::new(self.expand()?))
    }

    fn envelope(&self) -> Envelope {
        self.envelope()
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes()
    }

    fn elements(&self) -> usize {
        self.elements()
    }
}

impl<S: Scheme> ErasedAnswer for Answer<S> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn fingerprint(&self) -> Fingerprint {
        self.scheme().fingerprint()
    }

    fn elements(&self) -> usize {
        self.elements()
    }

    fn blocks(&self) -> usize {
        self.blocks()
    }

    fn form(&self) -> (Form, u64) {
        self.form()
    }

    fn envelope(&self) -> Envelope {
        self.envelope()
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes()
    }
}

impl<S: Scheme> ErasedStreams for Streams<S> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn fingerprint(&self) -> Fingerprint {
        self.scheme().fingerprint()
    }

    fn shape(&self) -> Shape {
        Shape {
            elements: self.elements(),
            terms_per_element: self.terms_per_element(),
            stream_length: self.stream_length(),
            representation: self.representation(),
            max_count: self.max_count(),
        }
    }

    fn blocks(&self) -> usize {
        self.blocks()
    }

    fn capacity(&self) -> u64 {
        self.capacity()
    }

    fn noise_budget(&self) -> f64 {
        self.noise_budget()
    }

    fn apply(&self, operation: Operation<'_>) -> Outcome<Array> {
        let result = match operation {
            Operation::Multiply(other, pairs) => self.multiply(operand(self, other)?, pairs),
            Operation::MultiplyBits(constants, representation, origin) => {
                self.multiply_bits(constants, representation, origin)
            }
            Operation::Negate => self.negate(),
            Operation::Scale(factors) => self.scale(factors),
            Operation::AddConstants(constants) => self.add_constants(constants),
            Operation::Add(other, pairs) => self.add(operand(self, other)?, pairs),
            Operation::Append(other) => self.append(operand(self, other)?),
            Operation::Select(indices) => self.select(indices),
            Operation::SumGroups(group) => self.sum_groups(group),
            Operation::Multiplexed(coefficients, selector) => {
                self.multiplexed_combination(coefficients, selector)
            }
            Operation::Allocated(coefficients, pieces, granularity) => {
                self.allocated_sum(coefficients, pieces, granularity)
            }
            Operation::WeightedSum(others, weights) => {
                Streams::weighted_sum(&operands(self, others)?, weights)
            }
        };
        Ok(Arc::new(result?))
    }

    fn prefix_products(&self, others: &[&dyn ErasedStreams]) -> Outcome<Vec<Array>> {
        let products = Streams::prefix_products(&operands(self, others)?)?;
        Ok(products.into_iter().map(|product| Arc::new(product) as Array).collect())
    }

    fn answer(&self, fusion: Option<&Fusion>, compact: bool) -> Outcome<Arc<dyn ErasedAnswer>> {
        let mut answer = Answer::new(self)?;
        if let Some(fusion) = fusion {
            answer = answer.fuse(fusion)?;
        }
        if compact {
            answer = answer.compact()?;
        }
        Ok(Arc::new(answer))
    }

    fn envelope(&self) -> Outcome<Envelope> {
        Ok(self.trimmed()?.envelope())
    }

    fn to_bytes(&self) -> Outcome<Vec<u8>> {
        Ok(self.trimmed()?.to_bytes())
    }
}
