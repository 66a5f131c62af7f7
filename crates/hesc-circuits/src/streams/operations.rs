//! Products, negation, concatenated sums and constants.

use std::collections::HashMap;
use std::sync::Arc;

use hesc_schemes::{BitProduct, Scheme};
use hesc_stochastic::{BitStreams, Origin, Representation};

use super::array::{Streams, Term, check_weights};
use super::factors::{Factors, merge};
use super::layout::{FreePlaces, Place, copy_bits};
use crate::CircuitError;

/// The constants of sums, summand by summand, if there are any.
fn summed_constants(constants: &[f64], group: usize) -> Vec<f64> {
    constants.chunks_exact(group).map(|of_sum| of_sum.iter().sum()).collect()
}

impl<S: Scheme> Streams<S> {
    /// Refuses streams whose product is not what adding ciphertexts does to bits.
    fn check_product(&self, operation: &'static str) -> Result<(), CircuitError> {
        match (self.scheme.bit_product(), self.representation) {
            (BitProduct::ExclusiveOr, Representation::InvertedBipolar)
            | (BitProduct::Conjunction, Representation::Unipolar) => Ok(()),
            _ => Err(CircuitError::Representation { operation }),
        }
    }

    /// Refuses counts that would wrap to another parity.
    fn check_count(&self, factors: u64) -> Result<(), CircuitError> {
        if self.scheme.parity_survives_wrap() {
            return Ok(());
        }
        let max_count = self.capacity();
        if factors > max_count {
            return Err(CircuitError::CountOverflow { factors, max_count });
        }
        Ok(())
    }

    /// `self[i] * other[j]` for each pair `(i, j)`: the exclusive or of inverted-bipolar streams, the
    /// conjunction of unipolar ones where the scheme has it; one addition a block
    /// (`koseki2022hesc` Algorithm 4). Sums are multiplied out: terms pair with terms.
    ///
    /// # Errors
    /// [`CircuitError::Correlated`] if the operands share a factor's identity,
    /// [`CircuitError::Misaligned`], [`CircuitError::StreamLength`],
    /// [`CircuitError::CountOverflow`], and what the scheme refuses.
    pub fn multiply(&self, other: &Self, pairs: &[(usize, usize)]) -> Result<Self, CircuitError> {
        self.check_compatible(other)?;
        self.check_product("a product")?;
        self.check_no_constants("a product")?;
        other.check_no_constants("a product")?;
        for a in &self.origins {
            if let Some(b) = other.origins.iter().find(|b| a.correlated_with(b)) {
                return Err(CircuitError::Correlated { origin: b.to_string() });
            }
        }
        if pairs.is_empty() {
            return Err(CircuitError::Empty);
        }
        let max_count = self.max_count + other.max_count;
        self.check_count(max_count)?;

        // Each pair of blocks is added once, however many elements it serves.
        let mut sums = BlockSums::default();
        let (left, right) = (self.terms_per_element(), other.terms_per_element());
        let mut terms = Vec::with_capacity(pairs.len() * left * right);
        for &(i, j) in pairs {
            for a in self.element(i)? {
                for b in other.element(j)? {
                    if a.place.offset != b.place.offset {
                        return Err(CircuitError::Misaligned {
                            left: i,
                            left_offset: a.place.offset,
                            right: j,
                            right_offset: b.place.offset,
                        });
                    }
                    let (part, block) = sums.request(a, b, self.span());
                    let place = Place { block, offset: a.place.offset };
                    terms.push(Term { part, place, weight: a.weight * b.weight });
                }
            }
        }
        check_weights(terms.iter().map(|term| term.weight))?;
        let parts = sums
            .parts
            .into_iter()
            .map(|((a, b), pairs)| {
                Ok(Arc::new(self.scheme.combine_pairs(&self.parts[a], &other.parts[b], &pairs)?))
            })
            .collect::<Result<_, CircuitError>>()?;
        let origins = merge(&self.origins, &other.origins);
        let of_pair = |&(i, j): &(usize, usize)| {
            (i * left..(i + 1) * left)
                .flat_map(move |a| (j * right..(j + 1) * right).map(move |b| (a, b)))
        };
        let factors = Factors::products(
            &self.factors.among(&self.origins, &origins),
            &other.factors.among(&other.origins, &origins),
            pairs.iter().flat_map(of_pair),
        );
        Ok(Self {
            scheme: self.scheme.clone(),
            parts,
            terms,
            elements: pairs.len(),
            stream_length: self.stream_length,
            representation: self.representation,
            origins,
            factors,
            encoded_length: self.encoded_length.max(other.encoded_length),
            constants: Vec::new(),
            max_count,
        })
    }

    /// `-self`: the complement of every stream, by adding one to its positions. Cost: a copy and a plaintext
    /// addition a block.
    ///
    /// # Errors
    /// [`CircuitError::Representation`] for unipolar streams and schemes whose product they do not have,
    /// [`CircuitError::CountOverflow`] and [`CircuitError::Scheme`] if there is no room for another count.
    pub fn negate(&self) -> Result<Self, CircuitError> {
        if self.representation != Representation::InvertedBipolar {
            return Err(CircuitError::Representation { operation: "negation" });
        }
        self.check_product("negation")?;
        let ones = BitStreams::from_words(ones(self.stream_length), self.stream_length)?;
        let negated = self.add_bits(|_| ones.row(0))?;
        let constants = self.constants.iter().map(|constant| -constant).collect();
        Ok(Self { constants, ..negated })
    }

    /// `self[i] * constants[i]`, the constants' streams in the clear: one plaintext addition a
    /// block. In contrast to [`Streams::scale`] the receiver of the answer does not see them.
    ///
    /// # Errors
    /// As [`Streams::multiply`]; [`CircuitError::Length`] for another number of streams.
    pub fn multiply_bits(
        &self,
        constants: &BitStreams,
        representation: Representation,
        origin: Origin,
    ) -> Result<Self, CircuitError> {
        if representation != self.representation {
            let (left, right) = (self.representation, representation);
            return Err(CircuitError::Representations { left, right });
        }
        self.check_product("a product")?;
        self.check_no_constants("a product")?;
        if constants.stream_length() != self.stream_length {
            return Err(CircuitError::StreamLength {
                left: self.stream_length,
                right: constants.stream_length(),
            });
        }
        if constants.streams() != self.elements {
            return Err(CircuitError::Length {
                what: "constants",
                expected: self.elements,
                found: constants.streams(),
            });
        }
        if self.origins.iter().any(|own| own.correlated_with(&origin)) {
            return Err(CircuitError::Correlated { origin: origin.to_string() });
        }
        let origins = merge(&self.origins, &[origin]);
        let mut factors = self.factors.among(&self.origins, &origins);
        let (place, per_element) =
            (origins.binary_search(&origin).unwrap_or_default(), self.terms_per_element());
        factors.set(place, |term| (term / per_element) as u32 + 1);
        let product = self.add_bits(|element| constants.row(element))?;
        Ok(Self { origins, factors, ..product })
    }

    /// Adds a stream in the clear to every term of every element. Terms that share a place get
    /// blocks of their own, so that no position is changed twice.
    fn add_bits<'a>(&self, bits_of: impl Fn(usize) -> &'a [u64]) -> Result<Self, CircuitError> {
        let max_count = self.max_count + 1;
        self.check_count(max_count)?;
        let words = self.scheme.block_length() / 64;
        let span = self.span();
        let per_element = self.terms_per_element();
        // One new part for each old one: copies of blocks, and the bits to add to each.
        let mut copies: Vec<Copies> = vec![Copies::default(); self.parts.len()];
        let mut terms = Vec::with_capacity(self.terms.len());
        for (i, term) in self.terms.iter().enumerate() {
            let copy = &mut copies[term.part];
            let block = copy.place(term.place, span);
            copy.bits.resize(copy.blocks.len() * words, 0);
            let row = bits_of(i / per_element);
            copy_bits(row, self.stream_length, &mut copy.bits[block * words..], term.place.offset);
            terms.push(Term { place: Place { block, ..term.place }, ..*term });
        }
        let mut parts = Vec::with_capacity(self.parts.len());
        for (part, copy) in self.parts.iter().zip(copies) {
            if copy.blocks.is_empty() {
                parts.push(Arc::clone(part));
                continue;
            }
            let mut blocks = self.scheme.select(part, &copy.blocks)?;
            self.scheme.combine_bits_assign(&mut blocks, &copy.bits)?;
            parts.push(Arc::new(blocks));
        }
        Ok(Self { parts, terms, max_count, ..self.clone() })
    }

    /// `self[i] * factors[i]` with public real factors of any size: exact, free, and visible to
    /// whoever holds the array.
    ///
    /// # Errors
    /// [`CircuitError::Length`], or [`CircuitError::Weight`] for a factor, or a product of factors, that is not
    /// finite or beyond [`MAX_WEIGHT`](crate::MAX_WEIGHT).
    pub fn scale(&self, factors: &[f64]) -> Result<Self, CircuitError> {
        if factors.len() != self.elements {
            return Err(CircuitError::Length {
                what: "factors",
                expected: self.elements,
                found: factors.len(),
            });
        }
        check_weights(factors.iter().copied())?;
        let per_element = self.terms_per_element();
        let terms = self
            .terms
            .iter()
            .enumerate()
            .map(|(i, term)| Term { weight: term.weight * factors[i / per_element], ..*term });
        let constants = self.constants.iter().zip(factors).map(|(c, factor)| c * factor);
        self.with_terms(terms.collect(), constants.collect(), self.elements).bounded()
    }

    /// `self[i] + constants[i]` with public real constants: exact, free, and visible to whoever
    /// holds the array. Products come before: they work on streams.
    ///
    /// # Errors
    /// [`CircuitError::Length`], or [`CircuitError::Weight`] for a constant that is not finite or beyond
    /// [`MAX_WEIGHT`](crate::MAX_WEIGHT).
    pub fn add_constants(&self, constants: &[f64]) -> Result<Self, CircuitError> {
        if constants.len() != self.elements {
            return Err(CircuitError::Length {
                what: "constants",
                expected: self.elements,
                found: constants.len(),
            });
        }
        check_weights(constants.iter().copied())?;
        let before = self.constants.iter().copied().chain(std::iter::repeat(0.0));
        let constants = constants.iter().zip(before).map(|(c, old)| c + old).collect();
        Self { constants, ..self.clone() }.bounded()
    }

    /// The elements of these indices, in this order; repetitions allowed. No ciphertext moves.
    ///
    /// # Errors
    /// [`CircuitError::Empty`] for no index, [`CircuitError::Element`] for one that is not there.
    pub fn select(&self, indices: &[usize]) -> Result<Self, CircuitError> {
        if indices.is_empty() {
            return Err(CircuitError::Empty);
        }
        let mut terms = Vec::with_capacity(indices.len() * self.terms_per_element());
        for &index in indices {
            terms.extend_from_slice(self.element(index)?);
        }
        let constants = self.constants_of(indices.iter().copied());
        let per_element = self.terms_per_element();
        let chosen = indices.iter().flat_map(|i| i * per_element..(i + 1) * per_element);
        let factors = self.factors.select(chosen);
        Ok(Self { factors, ..self.with_terms(terms, constants, indices.len()) })
    }

    /// Sums of consecutive groups of `group` elements, by concatenation: exact, the length grows
    /// instead of the error (`koseki2022hesc` §3.2.2). No ciphertext moves.
    ///
    /// # Errors
    /// [`CircuitError::Length`] if the elements do not divide into groups.
    pub fn sum_groups(&self, group: usize) -> Result<Self, CircuitError> {
        if group == 0 || !self.elements.is_multiple_of(group) {
            return Err(CircuitError::Length {
                what: "elements in whole groups",
                expected: self.elements.next_multiple_of(group.max(1)),
                found: self.elements,
            });
        }
        let constants = summed_constants(&self.constants, group);
        self.with_terms(self.terms.clone(), constants, self.elements / group).bounded()
    }

    /// `self[i] + other[j]` for each pair, by concatenation. No ciphertext moves.
    ///
    /// # Errors
    /// [`CircuitError::StreamLength`], [`CircuitError::Element`].
    pub fn add(&self, other: &Self, pairs: &[(usize, usize)]) -> Result<Self, CircuitError> {
        self.check_compatible(other)?;
        if pairs.is_empty() {
            return Err(CircuitError::Empty);
        }
        let moved = |term: &Term| Term { part: term.part + self.parts.len(), ..*term };
        let mut terms = Vec::new();
        for &(i, j) in pairs {
            terms.extend_from_slice(self.element(i)?);
            terms.extend(other.element(j)?.iter().map(moved));
        }
        let constants = self.constants_with(other, pairs.iter().map(|&(i, j)| [Some(i), Some(j)]));
        let joined = self.joined(other, terms, constants, pairs.len());
        let (left, right) = (self.terms_per_element(), other.terms_per_element());
        let own = self.terms.len();
        let in_order = pairs.iter().flat_map(|&(i, j)| {
            (i * left..(i + 1) * left).chain(own + j * right..own + (j + 1) * right)
        });
        Self { factors: joined.factors.select(in_order), ..joined }.bounded()
    }

    /// `[x_1, x_1 x_2, x_1 x_2 x_3, ...]`, element by element: the powers of copies of one array, or
    /// any products that share their prefixes. Cost: one product for each factor but the first.
    ///
    /// # Errors
    /// [`CircuitError::Empty`], and as [`Streams::multiply`].
    pub fn prefix_products(factors: &[&Self]) -> Result<Vec<Self>, CircuitError> {
        let (first, rest) = factors.split_first().ok_or(CircuitError::Empty)?;
        let mut products = vec![(*first).clone()];
        for factor in rest {
            let last = &products[products.len() - 1];
            let (expected, found) = (last.elements, factor.elements);
            if expected != found {
                return Err(CircuitError::Length { what: "elements", expected, found });
            }
            let pairs: Vec<(usize, usize)> = (0..expected).map(|i| (i, i)).collect();
            products.push(last.multiply(factor, &pairs)?);
        }
        Ok(products)
    }

    /// `sum_k weights[k] arrays[k]`, element by element, by concatenation: exact and free.
    ///
    /// # Errors
    /// [`CircuitError::Empty`], [`CircuitError::Length`] for arrays of different sizes or another
    /// number of weights, [`CircuitError::Weight`], [`CircuitError::StreamLength`].
    pub fn weighted_sum(arrays: &[&Self], weights: &[f64]) -> Result<Self, CircuitError> {
        let first = *arrays.first().ok_or(CircuitError::Empty)?;
        let differ = |what, expected, found| Err(CircuitError::Length { what, expected, found });
        if weights.len() != arrays.len() {
            return differ("weights", arrays.len(), weights.len());
        }
        check_weights(weights.iter().copied())?;
        let mut sum = Self { parts: Vec::new(), terms: Vec::new(), ..first.clone() };
        let has_constants = arrays.iter().any(|array| !array.constants.is_empty());
        sum.constants = if has_constants { vec![0.0; first.elements] } else { Vec::new() };
        let mut first_part = Vec::with_capacity(arrays.len());
        for (array, weight) in arrays.iter().zip(weights) {
            first.check_compatible(array)?;
            if array.elements != first.elements {
                return differ("elements", first.elements, array.elements);
            }
            first_part.push(sum.parts.len());
            sum.parts.extend(array.parts.iter().map(Arc::clone));
            sum.encoded_length = sum.encoded_length.max(array.encoded_length);
            sum.max_count = sum.max_count.max(array.max_count);
            sum.origins.extend_from_slice(&array.origins);
            for (total, constant) in sum.constants.iter_mut().zip(&array.constants) {
                *total += weight * constant;
            }
        }
        sum.origins.sort_unstable();
        sum.origins.dedup();
        let mut rows = Vec::new();
        let factors: Vec<Factors> =
            arrays.iter().map(|array| array.factors.among(&array.origins, &sum.origins)).collect();
        for element in 0..first.elements {
            for (array, factors) in arrays.iter().zip(&factors) {
                let per_element = array.terms_per_element();
                for term in element * per_element..(element + 1) * per_element {
                    rows.extend_from_slice(factors.of(term));
                }
            }
            for ((array, weight), offset) in arrays.iter().zip(weights).zip(&first_part) {
                sum.terms.extend(array.element(element)?.iter().map(|term| Term {
                    part: term.part + offset,
                    weight: term.weight * weight,
                    ..*term
                }));
            }
        }
        sum.factors = Factors::new(sum.origins.len(), rows);
        sum.bounded()
    }

    /// All elements of `self`, then all of `other`, which must have as many terms.
    ///
    /// # Errors
    /// [`CircuitError::StreamLength`], [`CircuitError::Length`].
    pub fn append(&self, other: &Self) -> Result<Self, CircuitError> {
        self.check_compatible(other)?;
        if self.terms_per_element() != other.terms_per_element() {
            return Err(CircuitError::Length {
                what: "terms of an element",
                expected: self.terms_per_element(),
                found: other.terms_per_element(),
            });
        }
        let moved = |term: &Term| Term { part: term.part + self.parts.len(), ..*term };
        let terms = self.terms.iter().copied().chain(other.terms.iter().map(moved)).collect();
        let own = (0..self.elements).map(|i| [Some(i), None]);
        let others = (0..other.elements).map(|j| [None, Some(j)]);
        let constants = self.constants_with(other, own.chain(others));
        Ok(self.joined(other, terms, constants, self.elements + other.elements))
    }

    /// The sum of the constants of an element of each array, or of one of them.
    fn constants_with(
        &self,
        other: &Self,
        elements: impl Iterator<Item = [Option<usize>; 2]>,
    ) -> Vec<f64> {
        if self.constants.is_empty() && other.constants.is_empty() {
            return Vec::new();
        }
        let of = |array: &Self, element: Option<usize>| {
            element.and_then(|element| array.constants.get(element).copied()).unwrap_or(0.0)
        };
        elements.map(|[i, j]| of(self, i) + of(other, j)).collect()
    }

    /// An array over the ciphertexts of both, with the factors of one after those of the other.
    fn joined(&self, other: &Self, terms: Vec<Term>, constants: Vec<f64>, elements: usize) -> Self {
        let origins = merge(&self.origins, &other.origins);
        let mut factors = self.factors.among(&self.origins, &origins);
        factors.append(&other.factors.among(&other.origins, &origins));
        Self {
            scheme: self.scheme.clone(),
            parts: self.parts.iter().chain(&other.parts).map(Arc::clone).collect(),
            terms,
            elements,
            stream_length: self.stream_length,
            representation: self.representation,
            origins,
            factors,
            encoded_length: self.encoded_length.max(other.encoded_length),
            constants,
            max_count: self.max_count.max(other.max_count),
        }
    }
}

/// Two indices: of batches, or of blocks in them.
type Pair = (usize, usize);

/// Additions of blocks, each pair of batches collected into one new batch.
#[derive(Default)]
struct BlockSums {
    parts: Vec<(Pair, Vec<Pair>)>,
    known: HashMap<(Pair, Pair), Pair>,
    /// The last request and its answer: streams of one block follow one another.
    last: Option<((Pair, Pair), Pair)>,
}

impl BlockSums {
    /// (part, block) where the sum of two streams' blocks will be.
    fn request(&mut self, a: &Term, b: &Term, span: usize) -> Pair {
        let key = ((a.part, a.place.block), (b.part, b.place.block));
        if let Some((_, known)) = self.last.filter(|(last, _)| *last == key) {
            return known;
        }
        let known = match self.known.get(&key) {
            Some(&known) => known,
            None => {
                let new = self.add(a, b, span);
                self.known.insert(key, new);
                new
            }
        };
        self.last = Some((key, known));
        known
    }

    /// Notes an addition that was not asked for before.
    fn add(&mut self, a: &Term, b: &Term, span: usize) -> Pair {
        let batches = (a.part, b.part);
        let part = self.parts.iter().position(|(of, _)| *of == batches).unwrap_or_else(|| {
            self.parts.push((batches, Vec::new()));
            self.parts.len() - 1
        });
        let pairs = &mut self.parts[part].1;
        let block = pairs.len();
        pairs.extend((0..span).map(|k| (a.place.block + k, b.place.block + k)));
        (part, block)
    }
}

/// Copies of blocks of one part.
#[derive(Default, Clone)]
struct Copies {
    /// Which block each copy is of.
    blocks: Vec<usize>,
    /// Bits to add to the copies.
    bits: Vec<u64>,
    /// The copies of each old block.
    places: FreePlaces<usize>,
}

impl Copies {
    /// A copy of the stream's blocks in which its place is still free.
    fn place(&mut self, place: Place, span: usize) -> usize {
        let blocks = &mut self.blocks;
        self.places.place(place.block, place.offset, || {
            blocks.extend(place.block..place.block + span);
            blocks.len() - span
        })
    }
}

/// A packed stream of ones.
fn ones(length: usize) -> Vec<u64> {
    let mut words = vec![u64::MAX; length.div_ceil(64)];
    if let Some(last) = words.last_mut()
        && !length.is_multiple_of(64)
    {
        *last >>= 64 - length % 64;
    }
    words
}
