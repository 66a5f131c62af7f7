//! The wire forms of queries and answers: sizes follow from the plan.

use hesc_schemes::wire::Kind;
use hesc_schemes::{KeyId, SchemeError};

use super::plan::Plan;
use crate::plans::{Seed, Width};

/// The ciphertexts of a query: seeds, and polynomials modulo one prime after the other.
pub(super) struct Query {
    pub seeds: Vec<Seed>,
    pub words: Vec<u64>,
}

/// The ciphertexts of an answer, modulo powers of two: all second parts, and of the first the numbers of leaves.
pub(super) struct Answer {
    pub c_1: Vec<u64>,
    pub numbers: Vec<u64>,
}

/// Bytes of a query.
pub fn query_bytes(plan: &Plan) -> usize {
    plan.sizes().query_bytes()
}

/// Bytes of an answer.
pub fn answer_bytes(plan: &Plan) -> usize {
    plan.sizes().answer_bytes(plan.declared())
}

pub(super) fn query_to_bytes(plan: &Plan, key: KeyId, query: &Query) -> Vec<u8> {
    let mut writer = plan.message(Kind::ForestQuery, query_bytes(plan), key);
    let polynomials = query.words.chunks_exact(plan.products().words());
    for (seed, polynomial) in query.seeds.iter().zip(polynomials) {
        writer.bytes(seed);
        for (width, row) in plan.widths().iter().zip(polynomial.chunks_exact(plan.ring_degree())) {
            width.write(&mut writer, row);
        }
    }
    writer.finish()
}

pub(super) fn query_from_bytes(plan: &Plan, bytes: &[u8]) -> Result<(KeyId, Query), SchemeError> {
    let (mut reader, key) = plan.open(bytes, Kind::ForestQuery)?;
    let mut query = Query { seeds: Vec::new(), words: Vec::new() };
    for _ in 0..plan.sizes().blocks {
        query.seeds.push(reader.array()?);
        for width in plan.widths() {
            query.words.extend(width.read(&mut reader, plan.ring_degree())?);
        }
    }
    reader.finish()?;
    Ok((key, query))
}

pub(super) fn answer_to_bytes(plan: &Plan, key: KeyId, answer: &Answer) -> Vec<u8> {
    let mut writer = plan.message(Kind::ForestAnswer, answer_bytes(plan), key);
    plan.answers().write(&mut writer, &answer.c_1);
    Width::of_bits(plan.sizes().number_bits).write(&mut writer, &answer.numbers);
    writer.finish()
}

pub(super) fn answer_from_bytes(plan: &Plan, bytes: &[u8]) -> Result<(KeyId, Answer), SchemeError> {
    let (mut reader, key) = plan.open(bytes, Kind::ForestAnswer)?;
    let c_1 = plan.answers().read(&mut reader, plan.sizes().answers * plan.ring_degree())?;
    let width = Width::of_bits(plan.sizes().number_bits);
    let numbers = width.read(&mut reader, plan.declared().leaves())?;
    reader.finish()?;
    Ok((key, Answer { c_1, numbers }))
}
