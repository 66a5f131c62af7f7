//! The wire forms of queries and answers: sizes follow from the plan and the number of records.

use hesc_schemes::wire::{Kind, Reader, TAG, framed, packed};
use hesc_schemes::{KeyId, SchemeError};

use super::plan::Plan;
use crate::plans::{FRAME, PlanError, Seed};

/// The ciphertexts of a query: what all second parts come from, and the first parts.
pub(super) struct Query {
    pub seed: Seed,
    pub words: Vec<u64>,
}

/// Bytes of a query.
pub fn query_bytes(plan: &Plan) -> usize {
    plan.sizes().query_bytes()
}

/// Bytes of a client's keys; none where there are no such keys.
pub fn key_bytes(plan: &Plan) -> usize {
    let [expansion, sharing] = each_key_bytes(plan);
    expansion + sharing
}

/// Bytes of the keys that expand queries, and of those that share second parts.
pub(super) fn each_key_bytes(plan: &Plan) -> [usize; 2] {
    let products = plan.products();
    let expansion = match plan.sizes().levels {
        0 => 0,
        levels => products.scheme().galois_keys_length(levels as usize),
    };
    let sharing = match plan.shared() {
        1 => 0,
        count => framed(TAG + products.sharing_bytes(count)),
    };
    [expansion, sharing]
}

/// Bytes of the answer of an index of so many records.
pub fn answer_bytes(plan: &Plan, records: usize) -> usize {
    FRAME + size_of::<u64>() + parts_bytes(plan, &plan.blocks(records).collect::<Vec<usize>>())
}

/// Bytes of the parts of blocks of so many records each, the first of which shares its second part with none before.
pub(super) fn parts_bytes(plan: &Plan, counts: &[usize]) -> usize {
    counts.chunks(plan.shared()).map(|counts| group_bytes(plan, counts)).sum()
}

/// Bytes of a second part, and of the first parts of the blocks that share it.
fn group_bytes(plan: &Plan, counts: &[usize]) -> usize {
    let sizes = plan.sizes();
    let numbers = counts.iter().map(|&count| packed(count, sizes.number_bits));
    packed(sizes.ring_degree, sizes.bits) + numbers.sum::<usize>()
}

pub(super) fn query_to_bytes(plan: &Plan, key: KeyId, query: &Query) -> Vec<u8> {
    let mut writer = plan.message(Kind::SearchQuery, query_bytes(plan), key);
    writer.bytes(&query.seed);
    for c_0 in query.words.chunks_exact(plan.ring_degree()) {
        plan.residues().write(&mut writer, c_0);
    }
    writer.finish()
}

pub(super) fn query_from_bytes(plan: &Plan, bytes: &[u8]) -> Result<(KeyId, Query), SchemeError> {
    let (mut reader, key) = plan.open(bytes, Kind::SearchQuery)?;
    let mut query = Query { seed: reader.array()?, words: Vec::new() };
    for _ in 0..plan.sizes().ciphertexts {
        query.words.extend(plan.residues().read(&mut reader, plan.ring_degree())?);
    }
    reader.finish()?;
    Ok((key, query))
}

/// An answer of the parts of all blocks.
pub(super) fn answer_to_bytes(plan: &Plan, key: KeyId, records: usize, parts: &[u8]) -> Vec<u8> {
    let mut writer = plan.message(Kind::SearchAnswer, answer_bytes(plan, records), key);
    writer.u64(records as u64).bytes(parts);
    writer.finish()
}

/// One answer of those of successive parts of an index: the answer of the whole. What is in them is not looked at. Cost: a copy.
///
/// # Errors
/// [`SchemeError::Wire`] and [`SchemeError::ParameterMismatch`] for other bytes and plans, for parts that end inside of blocks
/// which share a second part, and for more records than the plan declares; [`SchemeError::KeyMismatch`] for answers under several keys.
pub fn join_answers(plan: &Plan, answers: &[&[u8]]) -> Result<Vec<u8>, PlanError> {
    let whole = plan.shared() * plan.ring_degree();
    let (mut key, mut records, mut parts) = (None, 0, Vec::new());
    for bytes in answers {
        let found = Answer::open(plan, bytes)?;
        let expected = *key.get_or_insert(found.key);
        if found.key != expected {
            return Err(SchemeError::KeyMismatch { expected, found: found.key }.into());
        }
        if records % whole != 0 {
            return Err(found.reader.error("a part before it ends inside of blocks").into());
        }
        records += found.records;
        if records as u64 > plan.declared().most_records {
            return Err(found.reader.error("together they have more records than the plan").into());
        }
        parts.extend_from_slice(found.parts()?);
    }
    let Some(key) = key else {
        let problem = "there is no part of an answer";
        return Err(SchemeError::Wire { what: "the answer of a search", problem }.into());
    };
    Ok(answer_to_bytes(plan, key, records, &parts))
}

/// An answer that is read part by part.
pub(super) struct Answer<'a> {
    plan: &'a Plan,
    reader: Reader<'a>,
    pub key: KeyId,
    pub records: usize,
}

impl<'a> Answer<'a> {
    pub fn open(plan: &'a Plan, bytes: &'a [u8]) -> Result<Self, SchemeError> {
        let (mut reader, key) = plan.open(bytes, Kind::SearchAnswer)?;
        let records = reader.u64()?;
        if !(1..=plan.declared().most_records).contains(&records) {
            return Err(reader.error("it has no records, or more than the plan declares"));
        }
        let records = records as usize;
        if bytes.len() != answer_bytes(plan, records) {
            return Err(reader.error("its length is not that of so many records"));
        }
        Ok(Self { plan, reader, key, records })
    }

    /// A second part.
    pub fn second(&mut self) -> Result<Vec<u64>, SchemeError> {
        self.plan.answers().read(&mut self.reader, self.plan.ring_degree())
    }

    /// As many numbers of a block's first part as it has records.
    pub fn numbers(&mut self, count: usize) -> Result<Vec<u64>, SchemeError> {
        self.plan.numbers().read(&mut self.reader, count)
    }

    /// The parts of all blocks, as they travel.
    pub fn parts(mut self) -> Result<&'a [u8], SchemeError> {
        let counts: Vec<usize> = self.plan.blocks(self.records).collect();
        let parts = self.reader.bytes(parts_bytes(self.plan, &counts))?;
        self.reader.finish().map(|()| parts)
    }

    pub fn finish(self) -> Result<(), SchemeError> {
        self.reader.finish()
    }
}
