//! The wire forms of queries and answers, at once and prepared: sizes follow from the plan.

use hesc_schemes::wire::{Kind, Reader, Writer};
use hesc_schemes::{Fingerprint, KeyId, SchemeError};

use super::plan::Plan;
use crate::plans::{FRAME, Seed, Width};

/// Bytes of the name of a preparation.
const NAME: usize = 16;

/// What a query and its answer are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Purpose {
    /// The scores of a sample.
    Sample = 0,
    /// Shares, for a sample that comes later.
    Preparation = 1,
}

/// Which side keeps a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Side {
    Client = 0,
    Server = 1,
}

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

/// What a prepared query and its answer have: the name of the preparation, and numbers modulo `t` under it.
pub(super) struct Masked {
    pub name: Fingerprint,
    pub numbers: Vec<u64>,
}

/// Bytes of a query, and of a preparation.
pub fn query_bytes(plan: &Plan) -> usize {
    plan.sizes().query_bytes()
}

/// Bytes of an answer, and of that to a preparation.
pub fn answer_bytes(plan: &Plan) -> usize {
    plan.sizes().answer_bytes(plan.declared())
}

/// Bytes of a prepared query.
pub fn prepared_query_bytes(plan: &Plan) -> usize {
    FRAME + NAME + numbers(plan).bytes(plan.declared().edges as usize)
}

/// Bytes of an answer to a prepared query.
pub fn prepared_answer_bytes(plan: &Plan) -> usize {
    FRAME + NAME + numbers(plan).bytes(plan.declared().leaves())
}

/// How numbers modulo `t` travel.
pub(super) fn numbers(plan: &Plan) -> Width {
    let (_, _, t) = plan.plain_moduli();
    Width::of_residues(t)
}

/// Whether bytes say that they are a query that is a preparation; nothing is checked.
pub(super) fn says_preparation(bytes: &[u8]) -> bool {
    let purpose = Reader::said(bytes, Kind::ForestQuery).and_then(|body| body.first());
    purpose == Some(&(Purpose::Preparation as u8))
}

/// Reads what something is for, of two that are told apart by a byte.
fn expect(reader: &mut Reader<'_>, wanted: u8, other: &'static str) -> Result<(), SchemeError> {
    if reader.u8()? == wanted { Ok(()) } else { Err(reader.error(other)) }
}

fn expect_purpose(reader: &mut Reader<'_>, purpose: Purpose) -> Result<(), SchemeError> {
    let other = match purpose {
        Purpose::Sample => "it belongs to a preparation, and to no sample",
        Purpose::Preparation => "it belongs to a sample, and to no preparation",
    };
    expect(reader, purpose as u8, other)
}

/// A query of a sample, or a preparation.
pub(super) fn query_to_bytes(plan: &Plan, purpose: Purpose, key: KeyId, query: &Query) -> Vec<u8> {
    let mut writer = plan.message(Kind::ForestQuery, query_bytes(plan), key);
    writer.u8(purpose as u8);
    let polynomials = query.words.chunks_exact(plan.products().words());
    for (seed, polynomial) in query.seeds.iter().zip(polynomials) {
        writer.bytes(seed);
        for (width, row) in plan.widths().iter().zip(polynomial.chunks_exact(plan.ring_degree())) {
            width.write(&mut writer, &row[..plan.sizes().coefficients]);
        }
    }
    writer.finish()
}

pub(super) fn query_from_bytes(
    plan: &Plan,
    purpose: Purpose,
    bytes: &[u8],
) -> Result<(KeyId, Query), SchemeError> {
    let (mut reader, key) = plan.open(bytes, Kind::ForestQuery)?;
    expect_purpose(&mut reader, purpose)?;
    let (n, coefficients) = (plan.ring_degree(), plan.sizes().coefficients);
    let mut query = Query { seeds: Vec::new(), words: Vec::new() };
    for _ in 0..plan.sizes().blocks {
        query.seeds.push(reader.array()?);
        for width in plan.widths() {
            query.words.extend(width.read(&mut reader, coefficients)?);
            query.words.resize(query.words.len() + n - coefficients, 0);
        }
    }
    reader.finish()?;
    Ok((key, query))
}

/// An answer to a query of a sample, or to a preparation.
pub(super) fn answer_to_bytes(
    plan: &Plan,
    purpose: Purpose,
    key: KeyId,
    answer: &Answer,
) -> Vec<u8> {
    let mut writer = plan.message(Kind::ForestAnswer, answer_bytes(plan), key);
    writer.u8(purpose as u8);
    plan.answers().write(&mut writer, &answer.c_1);
    Width::of_bits(plan.sizes().number_bits).write(&mut writer, &answer.numbers);
    writer.finish()
}

pub(super) fn answer_from_bytes(
    plan: &Plan,
    purpose: Purpose,
    bytes: &[u8],
) -> Result<(KeyId, Answer), SchemeError> {
    let (mut reader, key) = plan.open(bytes, Kind::ForestAnswer)?;
    expect_purpose(&mut reader, purpose)?;
    let c_1 = plan.answers().read(&mut reader, plan.sizes().answers * plan.ring_degree())?;
    let width = Width::of_bits(plan.sizes().number_bits);
    let numbers = width.read(&mut reader, plan.declared().leaves())?;
    reader.finish()?;
    Ok((key, Answer { c_1, numbers }))
}

/// A prepared query or the answer to one, as its kind says.
pub(super) fn masked_to_bytes(plan: &Plan, kind: Kind, key: KeyId, masked: &Masked) -> Vec<u8> {
    let width = numbers(plan);
    let mut writer = plan.message(kind, FRAME + NAME + width.bytes(masked.numbers.len()), key);
    write_name(&mut writer, masked.name);
    width.write(&mut writer, &masked.numbers);
    writer.finish()
}

pub(super) fn masked_from_bytes(
    plan: &Plan,
    kind: Kind,
    bytes: &[u8],
    count: usize,
) -> Result<(KeyId, Masked), SchemeError> {
    let (mut reader, key) = plan.open(bytes, kind)?;
    let name = Fingerprint::from_bytes(reader.array()?);
    let numbers = numbers(plan).read(&mut reader, count)?;
    reader.finish()?;
    Ok((key, Masked { name, numbers }))
}

fn write_name(writer: &mut Writer, name: Fingerprint) {
    writer.bytes(&name.to_bytes());
}

/// Begins a share of one side.
pub(super) fn share(plan: &Plan, side: Side, key: KeyId, name: Fingerprint) -> Writer {
    let mut writer = plan.message(Kind::ForestShare, 0, key);
    writer.u8(side as u8);
    write_name(&mut writer, name);
    writer
}

/// Begins to read a share of one side, and says of which key and preparation it is.
pub(super) fn open_share<'a>(
    plan: &Plan,
    side: Side,
    bytes: &'a [u8],
) -> Result<(Reader<'a>, KeyId, Fingerprint), SchemeError> {
    let (mut reader, key) = plan.open(bytes, Kind::ForestShare)?;
    expect(&mut reader, side as u8, "it is the share of the other side")?;
    let name = Fingerprint::from_bytes(reader.array()?);
    Ok((reader, key, name))
}
