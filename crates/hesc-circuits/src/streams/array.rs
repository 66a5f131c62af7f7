use std::collections::HashMap;
use std::sync::Arc;

use hesc_schemes::streams::Blocks;
use hesc_schemes::{Scheme, SchemeError};
use hesc_stochastic::{BitStreams, Origin, Representation};
use rand_core::CryptoRng;

use super::factors::Factors;
use super::layout::Layout;
use super::layout::{Arranged, Place};
use crate::CircuitError;

/// Largest size of a weight or a constant: sums of very many, and their squares, are finite.
pub const MAX_WEIGHT: f64 = 1e150;

/// Refuses weights or constants that no sum can hold.
pub(crate) fn check_weights(weights: impl IntoIterator<Item = f64>) -> Result<(), CircuitError> {
    let refused = |weight: &f64| !(weight.is_finite() && weight.abs() <= MAX_WEIGHT);
    match weights.into_iter().enumerate().find(|(_, weight)| refused(weight)) {
        Some((index, value)) => Err(CircuitError::Weight { index, value }),
        None => Ok(()),
    }
}

/// One summand of an element: a stream at a place of a block, with its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Term {
    /// Which of the array's ciphertext batches.
    pub part: usize,
    /// Where in it.
    pub place: Place,
    /// The stream's factor in the element's value.
    pub weight: f64,
}

/// An array of encrypted stochastic numbers.
///
/// Each element is a weighted concatenation of terms and a constant: `value = constant + sum_t
/// weight_t * value_t`, each term a stream of `stream_length` positions whose counts' parities are
/// its bits. Constants, weights and layout are public. Concatenation, selection and products by public constants move no
/// ciphertext; arrays share them.
#[derive(Clone)]
pub struct Streams<S: Scheme> {
    pub(crate) scheme: S,
    pub(crate) parts: Vec<Arc<S::Ciphertexts>>,
    /// `elements * terms_per_element`, element by element.
    pub(crate) terms: Vec<Term>,
    pub(crate) elements: usize,
    pub(crate) stream_length: usize,
    pub(crate) representation: Representation,
    /// Identities of all factors of all terms, sorted.
    pub(crate) origins: Vec<Origin>,
    /// Which streams of them each term is a product of.
    pub(crate) factors: Factors,
    /// Bits of the streams as they were encoded, of which these are pieces.
    pub(crate) encoded_length: usize,
    /// What is added to each element; empty for nothing.
    pub(crate) constants: Vec<f64>,
    /// Largest count of a position.
    pub(crate) max_count: u64,
}

/// An array encrypted under the secret key, half the size on the wire.
#[derive(Clone)]
pub struct SeededStreams<S: Scheme> {
    pub(crate) scheme: S,
    pub(crate) blocks: S::SeededCiphertexts,
    pub(crate) places: Vec<Place>,
    pub(crate) stream_length: usize,
    pub(crate) representation: Representation,
    pub(crate) origin: Origin,
}

/// Streams in the clear and how they are to be encrypted.
#[derive(Debug, Clone, Copy)]
pub struct Plaintext<'a> {
    /// The streams.
    pub bits: &'a BitStreams,
    /// What their share of ones means.
    pub representation: Representation,
    /// What the encoder returned with them.
    pub origin: Origin,
    /// How they share ciphertexts.
    pub layout: Layout,
    /// Streams of a row; rows begin new blocks.
    pub row_length: usize,
}

impl Plaintext<'_> {
    /// Refuses empty arrays and incomplete rows, and packs the rest.
    fn arrange(&self, block_length: usize) -> Result<Arranged, CircuitError> {
        let (streams, row_length) = (self.bits.streams(), self.row_length);
        if streams == 0 || row_length == 0 {
            return Err(CircuitError::Empty);
        }
        if !streams.is_multiple_of(row_length) {
            return Err(CircuitError::Length {
                what: "streams in whole rows",
                expected: streams.div_ceil(row_length) * row_length,
                found: streams,
            });
        }
        self.layout.arrange(self.bits, row_length, block_length)
    }
}

impl<S: Scheme> Streams<S> {
    /// Encrypts streams under the public key.
    ///
    /// # Errors
    /// [`CircuitError::Empty`], [`CircuitError::Length`] for incomplete rows,
    /// [`CircuitError::DoesNotFit`] for streams longer than a block side by side, and what the
    /// scheme refuses.
    pub fn encrypt(
        scheme: &S,
        key: &S::PublicKey,
        plaintext: &Plaintext<'_>,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, CircuitError> {
        let arranged = plaintext.arrange(scheme.block_length())?;
        let blocks = Arc::new(scheme.encrypt(key, &arranged.bits, rng)?);
        let Plaintext { bits, representation, origin, .. } = *plaintext;
        let length = bits.stream_length();
        Ok(Self::fresh(scheme, blocks, &arranged.places, length, representation, origin))
    }

    /// Encrypts several arrays at once, in one batch of ciphertexts that they share: faster than one
    /// by one where each is small. [`Streams::trimmed`] takes one out.
    ///
    /// # Errors
    /// As [`Streams::encrypt`].
    pub fn encrypt_all(
        scheme: &S,
        key: &S::PublicKey,
        plaintexts: &[Plaintext<'_>],
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<Self>, CircuitError> {
        let (n, mut bits) = (scheme.block_length(), Vec::new());
        let mut places = Vec::with_capacity(plaintexts.len());
        for plaintext in plaintexts {
            let mut arranged = plaintext.arrange(n)?;
            let first = bits.len() * 64 / n;
            arranged.places.iter_mut().for_each(|place| place.block += first);
            bits.append(&mut arranged.bits);
            places.push(arranged.places);
        }
        let blocks = Arc::new(scheme.encrypt(key, &bits, rng)?);
        let array = |(plaintext, places): (&Plaintext<'_>, Vec<Place>)| {
            let Plaintext { bits, representation, origin, .. } = *plaintext;
            let length = bits.stream_length();
            Self::fresh(scheme, Arc::clone(&blocks), &places, length, representation, origin)
        };
        Ok(plaintexts.iter().zip(places).map(array).collect())
    }

    fn fresh(
        scheme: &S,
        blocks: Arc<S::Ciphertexts>,
        places: &[Place],
        stream_length: usize,
        representation: Representation,
        origin: Origin,
    ) -> Self {
        Self {
            scheme: scheme.clone(),
            parts: vec![blocks],
            terms: places.iter().map(|&place| Term { part: 0, place, weight: 1.0 }).collect(),
            elements: places.len(),
            stream_length,
            representation,
            origins: vec![origin],
            factors: Factors::fresh(places.len()),
            encoded_length: stream_length,
            constants: Vec::new(),
            max_count: 1,
        }
    }

    /// The same streams in fresh ciphertexts.
    ///
    /// With a ciphertext for each bit they also lie in fresh places, those of a fresh array of these
    /// elements in rows of `row_length`: whoever knows the operands of a selection ([`Streams::select`],
    /// [`Streams::multiplexed_sum`]) cannot tell, even with the secret key, which of them it took, nor read
    /// what it left behind; the result's values, weights and constants apart, which remain. Reported
    /// errors are then those of products of all factors that the array has. On lattices
    /// ciphertexts hold many streams and stay as they lie: places tell what was selected, streams that share a
    /// block with a selected one are still in it, and the noise remembers what was added. Cost: an
    /// encryption and an addition a block.
    ///
    /// # Errors
    /// What the scheme refuses: another key, no noise budget left; [`CircuitError::Length`] for elements
    /// that are no whole rows.
    pub fn rerandomise(
        &self,
        key: &S::PublicKey,
        row_length: usize,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, CircuitError> {
        let (mut fresh, factors) = match self.gathered(row_length)? {
            // Whether a product or one of its factors was selected must not show either.
            Some(gathered) => (gathered, self.factors.hidden()),
            None => (self.clone(), self.factors.forgotten()),
        };
        for part in &mut fresh.parts {
            *part = Arc::new(self.scheme.rerandomise(key, part, rng)?);
        }
        Ok(Self { factors, ..fresh })
    }

    /// The same streams where those of a fresh array of this shape lie, and nothing else; nothing where
    /// positions do not move.
    fn gathered(&self, row_length: usize) -> Result<Option<Self>, CircuitError> {
        let (length, n) = (self.stream_length, self.scheme.block_length());
        let row = row_length * self.terms_per_element();
        if row == 0 {
            return Err(CircuitError::Empty);
        }
        if !self.terms.len().is_multiple_of(row) {
            return Err(CircuitError::Length {
                what: "elements in whole rows",
                expected: self.elements.div_ceil(row_length) * row_length,
                found: self.elements,
            });
        }
        let Some(moving) = self.scheme.moving() else { return Ok(None) };
        let rows = Layout::automatic(length, n).rows(length, row, n)?;
        let blocks = self.terms.len() / row * rows.blocks_per_row();
        let mut sources = vec![None; blocks * n];
        let mut terms = self.terms.clone();
        for (stream, term) in terms.iter_mut().enumerate() {
            let (old, new) = (term.place, rows.place(stream));
            let first = old.block * n + old.offset;
            let moved = (first..first + length).map(|at| Some((term.part, at)));
            sources
                .iter_mut()
                .skip(new.block * n + new.offset)
                .zip(moved)
                .for_each(|(s, m)| *s = m);
            (term.part, term.place) = (0, new);
        }
        let parts: Vec<&S::Ciphertexts> = self.parts.iter().map(Arc::as_ref).collect();
        let blocks = Arc::new(moving.gather(&parts, &sources)?);
        Ok(Some(Self { parts: vec![blocks], terms, ..self.clone() }))
    }

    /// The scheme.
    pub fn scheme(&self) -> &S {
        &self.scheme
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Summands of each element.
    pub fn terms_per_element(&self) -> usize {
        self.terms.len() / self.elements
    }

    /// Bits of a stream.
    pub fn stream_length(&self) -> usize {
        self.stream_length
    }

    /// What a stream's share of ones means.
    pub fn representation(&self) -> Representation {
        self.representation
    }

    /// Largest count a position may hold: the number of factors multiplied.
    pub fn max_count(&self) -> u64 {
        self.max_count
    }

    /// Largest count that a position of these ciphertexts can hold.
    pub fn capacity(&self) -> u64 {
        self.parts.iter().map(|part| self.scheme.max_count(&**part)).min().unwrap_or(0)
    }

    /// Ciphertexts in use.
    pub fn blocks(&self) -> usize {
        self.used_blocks().len()
    }

    /// Bits of noise budget left in the fullest batch, from public data.
    pub fn noise_budget(&self) -> f64 {
        self.parts.iter().map(|part| self.scheme.noise_budget(part)).fold(f64::INFINITY, f64::min)
    }

    /// The ciphertexts in use, (batch, block), in order: blocks of one stream stay neighbours.
    pub(crate) fn used_blocks(&self) -> Vec<(usize, usize)> {
        // Most terms lie in the block of the term before.
        let mut used: Vec<(usize, usize)> = Vec::new();
        for block in self.terms.iter().flat_map(|term| self.blocks_of(term)) {
            if used.last() != Some(&block) {
                used.push(block);
            }
        }
        used.sort_unstable();
        used.dedup();
        used
    }

    /// The same array without the ciphertexts that it does not use: what goes on the wire. An element that
    /// a selection left behind stays behind if no element in use shares a block with it; otherwise it is
    /// still there for who decrypts the block, wherever the terms say that the others lie. Cost: copies of
    /// batches that are used in part.
    ///
    /// # Errors
    /// None that a consistent array meets.
    pub fn trimmed(&self) -> Result<Self, CircuitError> {
        let used = self.used_blocks();
        let whole: usize = self.parts.iter().map(|part| part.blocks()).sum();
        if used.len() == whole {
            return Ok(self.clone());
        }
        let mut parts = Vec::new();
        let mut place_of = HashMap::new();
        for of_part in used.chunk_by(|a, b| a.0 == b.0) {
            let blocks: Vec<usize> = of_part.iter().map(|&(_, block)| block).collect();
            for (new, old) in of_part.iter().enumerate() {
                place_of.insert(*old, (parts.len(), new));
            }
            parts.push(Arc::new(self.scheme.select(&self.parts[of_part[0].0], &blocks)?));
        }
        let mut terms = self.terms.clone();
        for term in &mut terms {
            (term.part, term.place.block) = place_of[&(term.part, term.place.block)];
        }
        Ok(Self { parts, terms, ..self.clone() })
    }

    /// Blocks that a stream spreads over.
    pub(crate) fn span(&self) -> usize {
        self.stream_length.div_ceil(self.scheme.block_length())
    }

    /// (part, block) of a term.
    pub(crate) fn blocks_of(&self, term: &Term) -> impl Iterator<Item = (usize, usize)> + use<S> {
        let (part, block) = (term.part, term.place.block);
        (block..block + self.span()).map(move |block| (part, block))
    }

    /// The terms of one element.
    pub(crate) fn element(&self, index: usize) -> Result<&[Term], CircuitError> {
        if index >= self.elements {
            return Err(CircuitError::Element { index, elements: self.elements });
        }
        let terms = self.terms_per_element();
        Ok(&self.terms[index * terms..][..terms])
    }

    /// The same terms with other weights or in other groups, and other constants.
    pub(crate) fn with_terms(
        &self,
        terms: Vec<Term>,
        constants: Vec<f64>,
        elements: usize,
    ) -> Self {
        Self { terms, constants, elements, ..self.clone() }
    }

    /// The array, if no weight and no constant has grown beyond what sums can hold.
    pub(crate) fn bounded(self) -> Result<Self, CircuitError> {
        check_weights(self.terms.iter().map(|term| term.weight))?;
        check_weights(self.constants.iter().copied())?;
        Ok(self)
    }

    /// The constant of each of these elements; nothing if there is none at all.
    pub(crate) fn constants_of(&self, elements: impl Iterator<Item = usize>) -> Vec<f64> {
        if self.constants.is_empty() {
            return Vec::new();
        }
        elements.map(|element| self.constants[element]).collect()
    }

    /// Refuses operations on the streams alone.
    pub(crate) fn check_no_constants(&self, operation: &'static str) -> Result<(), CircuitError> {
        if self.constants.is_empty() { Ok(()) } else { Err(CircuitError::Constant { operation }) }
    }

    /// Refuses arrays that cannot be combined.
    pub(crate) fn check_compatible(&self, other: &Self) -> Result<(), CircuitError> {
        let (expected, found) = (self.scheme.fingerprint(), other.scheme.fingerprint());
        if expected != found {
            return Err(SchemeError::ParameterMismatch { expected, found }.into());
        }
        // What is added to what the other key encrypts nobody can decrypt.
        let (own, others) = (self.parts[0].key(), other.parts[0].key());
        if own != others {
            return Err(SchemeError::KeyMismatch { expected: own, found: others }.into());
        }
        if self.stream_length != other.stream_length {
            return Err(CircuitError::StreamLength {
                left: self.stream_length,
                right: other.stream_length,
            });
        }
        if self.representation != other.representation {
            let (left, right) = (self.representation, other.representation);
            return Err(CircuitError::Representations { left, right });
        }
        Ok(())
    }
}

impl<S: Scheme> SeededStreams<S> {
    /// Encrypts streams under the secret key: half the size on the wire, and less noise than under the
    /// public one.
    ///
    /// # Errors
    /// [`CircuitError::Empty`], [`CircuitError::Length`] for incomplete rows,
    /// [`CircuitError::DoesNotFit`] for streams longer than a block side by side, and what the
    /// scheme refuses.
    pub fn encrypt(
        scheme: &S,
        key: &S::SecretKey,
        plaintext: &Plaintext<'_>,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, CircuitError> {
        let arranged = plaintext.arrange(scheme.block_length())?;
        Ok(Self {
            scheme: scheme.clone(),
            blocks: scheme.encrypt_seeded(key, &arranged.bits, rng)?,
            places: arranged.places,
            stream_length: plaintext.bits.stream_length(),
            representation: plaintext.representation,
            origin: plaintext.origin,
        })
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.places.len()
    }

    /// The form that can be computed on. Cost a block: one transform.
    ///
    /// # Errors
    /// [`CircuitError::Scheme`] if it is interrupted.
    pub fn expand(&self) -> Result<Streams<S>, CircuitError> {
        let blocks = Arc::new(self.scheme.expand(&self.blocks)?);
        Ok(Streams::fresh(
            &self.scheme,
            blocks,
            &self.places,
            self.stream_length,
            self.representation,
            self.origin,
        ))
    }
}
