//! Wire forms. Readers check every index against what is there, so that no answer and no array
//! from a peer can make a later step fail.

use std::sync::Arc;

use hesc_schemes::streams::{Blocks, Form, Wire};
use hesc_schemes::wire::{Kind, Reader, Writer};
use hesc_schemes::{Scheme, SchemeError};
use hesc_stochastic::{BitStreams, Origin, Representation, UNKNOWN_ROW};

use super::answer::{Answer, Body};
use super::array::{MAX_WEIGHT, SeededStreams, Streams, Term};
use super::factors::Factors;
use super::layout::Place;
use super::plan::{AnswerTerm, Plan};
use crate::CircuitError;

/// More factors than any noise budget allows; a sum of two such numbers does not overflow.
const MAX_FACTORS: u64 = 1 << 32;

fn write_representation(writer: &mut Writer, representation: Representation) {
    writer.u8(match representation {
        Representation::Unipolar => 0,
        Representation::InvertedBipolar => 1,
    });
}

fn read_representation(reader: &mut Reader<'_>) -> Result<Representation, SchemeError> {
    match reader.u8()? {
        0 => Ok(Representation::Unipolar),
        1 => Ok(Representation::InvertedBipolar),
        _ => Err(reader.error("an unknown representation")),
    }
}

/// The length of the encoded streams and the rows of each term.
fn write_factors(writer: &mut Writer, encoded_length: usize, factors: &Factors) {
    writer.u32(encoded_length as u32);
    for row in factors.rows() {
        writer.u32(*row);
    }
}

fn read_encoded_length(reader: &mut Reader<'_>, length: usize) -> Result<usize, CircuitError> {
    let encoded = read_length(reader)?;
    if encoded < length || !encoded.is_multiple_of(length) {
        return Err(reader.error("its streams are no pieces of those that were encoded").into());
    }
    Ok(encoded)
}

/// Rows of so many terms. A term without a factor would have no error at all.
fn read_factors(
    reader: &mut Reader<'_>,
    terms: usize,
    origins: usize,
) -> Result<Factors, SchemeError> {
    let mut rows = Vec::new();
    for _ in 0..terms {
        let start = rows.len();
        for _ in 0..origins {
            rows.push(reader.u32()?);
        }
        if rows[start..].iter().all(|row| *row == 0) {
            return Err(reader.error("a stream is a product of nothing"));
        }
    }
    Ok(Factors::new(origins, rows))
}

/// Whether a term is the product of more streams than a position can count: who claims that could have
/// digits fused that overflow.
fn exceeds(factors: &Factors, terms: usize, max_count: u64) -> bool {
    let named = |row: &&u32| !matches!(**row, 0 | UNKNOWN_ROW);
    (0..terms).any(|term| factors.of(term).iter().filter(named).count() as u64 > max_count)
}

/// A constant for each element, or none at all.
fn write_constants(writer: &mut Writer, constants: &[f64]) {
    writer.u8(u8::from(!constants.is_empty()));
    for constant in constants {
        writer.f64(*constant);
    }
}

fn read_constants(reader: &mut Reader<'_>, elements: usize) -> Result<Vec<f64>, SchemeError> {
    match reader.u8()? {
        0 => Ok(Vec::new()),
        // Not allocated ahead: each constant read is there.
        1 => (0..elements).map(|_| read_weight(reader)).collect(),
        _ => Err(reader.error("constants are there or not")),
    }
}

fn read_length(reader: &mut Reader<'_>) -> Result<usize, CircuitError> {
    let length = reader.u32()? as usize;
    // The checked constructor knows the limits.
    BitStreams::from_words(Vec::new(), length)?;
    Ok(length)
}

fn read_origin(reader: &mut Reader<'_>) -> Result<Origin, CircuitError> {
    Ok(Origin::from_bytes(reader.array()?)?)
}

/// A weight or a constant, which sums can hold.
fn read_weight(reader: &mut Reader<'_>) -> Result<f64, SchemeError> {
    let weight = reader.f64()?;
    if weight.abs() <= MAX_WEIGHT { Ok(weight) } else { Err(reader.error("a weight is too large")) }
}

/// Refuses a stream that does not lie within its blocks.
fn check_place(
    reader: &Reader<'_>,
    (block, offset): (usize, usize),
    length: usize,
    block_length: usize,
    blocks: usize,
) -> Result<(), SchemeError> {
    let span = length.div_ceil(block_length);
    let inside = if span == 1 { offset + length <= block_length } else { offset == 0 };
    if inside && block.checked_add(span).is_some_and(|end| end <= blocks) {
        Ok(())
    } else {
        Err(reader.error("a stream lies outside the ciphertexts"))
    }
}

/// What an object takes on the wire beside its batches, and the blocks of each of these: the same whatever they are
/// encrypted with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    frame: usize,
    blocks: Vec<usize>,
}

impl Envelope {
    fn of(whole: &[u8], batches: impl Iterator<Item = (usize, usize)>) -> Self {
        let (blocks, lengths): (Vec<usize>, Vec<usize>) = batches.unzip();
        Self { frame: whole.len() - lengths.iter().sum::<usize>(), blocks }
    }

    /// Bytes with batches as long as `length` says of their blocks; none where it says nothing.
    pub fn length(&self, length: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        self.blocks.iter().try_fold(self.frame, |sum, blocks| Some(sum + length(*blocks)?))
    }
}

/// The blocks of a batch, and its bytes.
fn measured<S: Wire<B>, B: Blocks>(scheme: &S, batch: &B) -> (usize, usize) {
    (batch.blocks(), scheme.write(batch).len())
}

impl<S: Scheme> Streams<S> {
    /// What the wire form takes beside its batches.
    pub fn envelope(&self) -> Envelope {
        let parts = self.parts.iter().map(|part| measured(&self.scheme, &**part));
        Envelope::of(&self.to_bytes(), parts)
    }

    /// Wire form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(Kind::Streams);
        writer.u32(self.parts.len() as u32);
        for part in &self.parts {
            writer.nested(&self.scheme.write(&**part));
        }
        writer.u32(self.stream_length as u32);
        write_representation(&mut writer, self.representation);
        writer.u64(self.max_count).u32(self.origins.len() as u32);
        for origin in &self.origins {
            writer.bytes(&origin.to_bytes());
        }
        writer.u32(self.elements as u32).u32(self.terms_per_element() as u32);
        for Term { part, place, weight } in &self.terms {
            writer.u32(*part as u32).u32(place.block as u32).u32(place.offset as u32).f64(*weight);
        }
        write_factors(&mut writer, self.encoded_length, &self.factors);
        write_constants(&mut writer, &self.constants);
        writer.finish()
    }

    /// Reads the wire form; strict.
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] and the other refusals of the
    /// scheme's reader.
    pub fn from_bytes(scheme: &S, bytes: &[u8]) -> Result<Self, CircuitError> {
        let mut reader = Reader::open(bytes, Kind::Streams)?;
        let parts = (0..reader.u32()?)
            .map(|_| Ok(Arc::new(scheme.read(reader.nested()?)?)))
            .collect::<Result<Vec<Arc<S::Ciphertexts>>, SchemeError>>()?;
        let Some(first) = parts.first() else {
            return Err(reader.error("it holds no ciphertext").into());
        };
        if parts.iter().any(|part| part.key() != first.key()) {
            return Err(reader.error("its ciphertexts belong to several keys").into());
        }
        let stream_length = read_length(&mut reader)?;
        let representation = read_representation(&mut reader)?;
        let max_count = reader.u64()?;
        let most = parts.iter().map(|part| scheme.max_count(&**part)).min().unwrap_or(0);
        let most = if scheme.parity_survives_wrap() { MAX_FACTORS } else { most };
        if !(1..=most).contains(&max_count) {
            return Err(reader.error("the largest count is not possible").into());
        }
        let origins = (0..reader.u32()?)
            .map(|_| read_origin(&mut reader))
            .collect::<Result<Vec<_>, CircuitError>>()?;
        if origins.is_empty() || !origins.is_sorted_by(|a, b| a < b) {
            return Err(reader.error("the identities are not in order").into());
        }
        let (elements, per_element) = (reader.u32()? as usize, reader.u32()? as usize);
        if elements == 0 || per_element == 0 {
            return Err(reader.error("it holds no element").into());
        }
        // Not allocated ahead: each term read is there.
        let mut terms = Vec::new();
        for _ in 0..elements as u64 * per_element as u64 {
            let part = reader.u32()? as usize;
            let place = Place { block: reader.u32()? as usize, offset: reader.u32()? as usize };
            let weight = read_weight(&mut reader)?;
            let Some(blocks) = parts.get(part).map(|part| part.blocks()) else {
                return Err(reader.error("a stream lies outside the ciphertexts").into());
            };
            let at = (place.block, place.offset);
            check_place(&reader, at, stream_length, scheme.block_length(), blocks)?;
            terms.push(Term { part, place, weight });
        }
        let encoded_length = read_encoded_length(&mut reader, stream_length)?;
        let factors = read_factors(&mut reader, terms.len(), origins.len())?;
        if exceeds(&factors, terms.len(), max_count) {
            return Err(reader.error("the largest count is not possible").into());
        }
        let constants = read_constants(&mut reader, elements)?;
        reader.finish()?;
        Ok(Self {
            scheme: scheme.clone(),
            parts,
            terms,
            elements,
            stream_length,
            representation,
            origins,
            factors,
            encoded_length,
            constants,
            max_count,
        })
    }
}

impl<S: Scheme> SeededStreams<S> {
    /// What the wire form takes beside its batch.
    pub fn envelope(&self) -> Envelope {
        let batch = measured(&self.scheme, &self.blocks);
        Envelope::of(&self.to_bytes(), std::iter::once(batch))
    }

    /// Wire form: half the size of [`Streams::to_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(Kind::SeededStreams);
        writer.nested(&self.scheme.write(&self.blocks));
        writer.u32(self.stream_length as u32);
        write_representation(&mut writer, self.representation);
        writer.bytes(&self.origin.to_bytes()).u32(self.places.len() as u32);
        for place in &self.places {
            writer.u32(place.block as u32).u32(place.offset as u32);
        }
        writer.finish()
    }

    /// Reads the wire form; strict.
    ///
    /// # Errors
    /// As [`Streams::from_bytes`].
    pub fn from_bytes(scheme: &S, bytes: &[u8]) -> Result<Self, CircuitError> {
        let mut reader = Reader::open(bytes, Kind::SeededStreams)?;
        let blocks: S::SeededCiphertexts = scheme.read(reader.nested()?)?;
        let stream_length = read_length(&mut reader)?;
        let representation = read_representation(&mut reader)?;
        let origin = read_origin(&mut reader)?;
        let mut places = Vec::new();
        for _ in 0..reader.u32()? {
            let place = Place { block: reader.u32()? as usize, offset: reader.u32()? as usize };
            let at = (place.block, place.offset);
            let count = blocks.blocks();
            check_place(&reader, at, stream_length, scheme.block_length(), count)?;
            places.push(place);
        }
        if places.is_empty() {
            return Err(reader.error("it holds no element").into());
        }
        reader.finish()?;
        Ok(Self { scheme: scheme.clone(), blocks, places, stream_length, representation, origin })
    }
}

impl<S: Scheme> Answer<S> {
    /// What the wire form takes beside its batches.
    pub fn envelope(&self) -> Envelope {
        let batches = match &self.body {
            Body::Compact(blocks) => vec![measured(&self.scheme, blocks)],
            Body::Full(parts) => parts.iter().map(|part| measured(&self.scheme, &**part)).collect(),
        };
        Envelope::of(&self.to_bytes(), batches.into_iter())
    }

    /// The form of its blocks, and how often the noise of one that was fused has that of those it was fused of.
    pub fn form(&self) -> (Form, u64) {
        let form = if matches!(self.body, Body::Compact(_)) { Form::Compact } else { Form::Full };
        let merged = self.plan.terms.iter().map(|term| u64::from(term.merged)).max();
        let one = merged.unwrap_or(1);
        (form, self.plan.bases.iter().fold(one, |sum, base| sum * base + one))
    }

    /// Wire form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(Kind::Answer);
        match &self.body {
            Body::Compact(blocks) => {
                writer.u32(0).nested(&self.scheme.write(blocks));
            }
            Body::Full(parts) => {
                writer.u32(parts.len() as u32);
                for part in parts {
                    writer.nested(&self.scheme.write(&**part));
                }
            }
        }
        let plan = &self.plan;
        writer.u32(plan.stream_length as u32);
        write_representation(&mut writer, plan.representation);
        writer.u64(plan.max_count).u32(plan.blocks as u32).u32(plan.bases.len() as u32);
        for base in &plan.bases {
            writer.u64(*base);
        }
        writer.u32(plan.elements as u32).u32((plan.terms.len() / plan.elements) as u32);
        for term in &plan.terms {
            writer.u32(term.first as u32).u32(term.offset as u32).u32(term.merged).f64(term.weight);
        }
        writer.u32(plan.origins.len() as u32);
        for origin in &plan.origins {
            writer.bytes(&origin.to_bytes());
        }
        let patterns =
            plan.factors.rows().len() * plan.elements / (plan.origins.len() * plan.terms.len());
        writer.u32(patterns as u32);
        write_factors(&mut writer, plan.encoded_length, &plan.factors);
        write_constants(&mut writer, &plan.constants);
        writer.finish()
    }

    /// Reads the wire form; strict.
    ///
    /// # Errors
    /// As [`Streams::from_bytes`].
    pub fn from_bytes(scheme: &S, bytes: &[u8]) -> Result<Self, CircuitError> {
        let mut reader = Reader::open(bytes, Kind::Answer)?;
        let (body, physical, most) = match reader.u32()? {
            0 => {
                let blocks: S::CompactCiphertexts = scheme.read(reader.nested()?)?;
                let (count, most) = (blocks.blocks(), scheme.max_count(&blocks));
                (Body::Compact(blocks), count, most)
            }
            parts => {
                let parts = (0..parts)
                    .map(|_| Ok(Arc::new(scheme.read(reader.nested()?)?)))
                    .collect::<Result<Vec<Arc<S::Ciphertexts>>, SchemeError>>()?;
                let count = parts.iter().map(|part| part.blocks()).sum();
                let most = parts.iter().map(|part| scheme.max_count(&**part)).min().unwrap_or(0);
                (Body::Full(parts), count, most)
            }
        };
        let stream_length = read_length(&mut reader)?;
        let representation = read_representation(&mut reader)?;
        let max_count = reader.u64()?;
        let blocks = reader.u32()? as usize;
        let bases = (0..reader.u32()?).map(|_| reader.u64()).collect::<Result<Vec<_>, _>>()?;
        let (elements, per_element) = (reader.u32()? as usize, reader.u32()? as usize);
        let mut plan = Plan {
            elements,
            stream_length,
            block_length: scheme.block_length(),
            representation,
            origins: Vec::new(),
            factors: Factors::new(1, Vec::new()),
            encoded_length: stream_length,
            constants: Vec::new(),
            terms: Vec::new(),
            bases,
            blocks,
            max_count,
        };
        let wraps = plan.bases.is_empty() && scheme.parity_survives_wrap();
        let most = if wraps { MAX_FACTORS } else { most };
        if max_count == 0
            || plan.bases.iter().any(|base| *base <= max_count)
            || plan.largest() > u128::from(most)
        {
            return Err(reader.error("the fusion is not possible").into());
        }
        if elements == 0 || per_element == 0 || plan.groups() != physical {
            return Err(reader.error("its counts of elements and blocks do not agree").into());
        }
        for _ in 0..elements as u64 * per_element as u64 {
            let term = AnswerTerm {
                first: reader.u32()? as usize,
                offset: reader.u32()? as usize,
                merged: reader.u32()?,
                weight: read_weight(&mut reader)?,
            };
            let at = (term.first, term.offset);
            check_place(&reader, at, stream_length, plan.block_length, blocks)?;
            if term.merged == 0 || (term.merged > 1 && u64::from(term.merged) != max_count) {
                return Err(reader.error("the fusion is not possible").into());
            }
            plan.terms.push(term);
        }
        plan.origins = (0..reader.u32()?)
            .map(|_| read_origin(&mut reader))
            .collect::<Result<Vec<_>, CircuitError>>()?;
        let patterns = reader.u32()? as usize;
        if plan.origins.is_empty() || (patterns != 1 && patterns != elements) {
            return Err(reader.error("its factors are not those of its terms").into());
        }
        plan.encoded_length = read_encoded_length(&mut reader, stream_length)?;
        plan.factors = read_factors(&mut reader, patterns * per_element, plan.origins.len())?;
        if exceeds(&plan.factors, patterns * per_element, max_count) {
            return Err(reader.error("the largest count is not possible").into());
        }
        plan.constants = read_constants(&mut reader, elements)?;
        reader.finish()?;
        Ok(Self { scheme: scheme.clone(), body, plan })
    }
}
