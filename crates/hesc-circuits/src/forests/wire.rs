//! The wire forms of queries and answers, at once and prepared: sizes follow from the plan.

use hesc_schemes::wire::{Kind, Reader, Writer};
use hesc_schemes::{Fingerprint, KeyId, SchemeError};

use super::plan::Plan;
use super::sizes::NAME;
use crate::plans::{FRAME, Seed, Width};

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
    /// The name of the query.
    pub query: Fingerprint,
    pub c_1: Vec<u64>,
    pub numbers: Vec<u64>,
}

/// What a prepared query and its answer have: names of the preparation, and numbers modulo `t` under it.
pub(super) struct Masked {
    pub names: Names,
    pub numbers: Vec<u64>,
}

/// The names of both messages of a preparation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Names {
    pub query: Fingerprint,
    pub answer: Fingerprint,
}

/// What a message's part is, as it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// A sample's bits.
    Query,
    /// The numbers of its leaves.
    Answer,
    /// Random numbers for a sample that comes later.
    Preparation,
    /// What a server makes of them.
    Prepared,
    /// A sample's bits less random numbers.
    MaskedQuery,
    /// The numbers of its leaves less a server's share.
    MaskedAnswer,
}

/// What a part says that it is, and the name of the query, or of the preparation, that it is, is to, or is under. Nothing is checked:
/// who reads the part does that. None for bytes that are no part.
pub fn part(bytes: &[u8]) -> Option<(PartKind, Fingerprint)> {
    let first = |body: &[u8]| body.first_chunk::<NAME>().copied().map(Fingerprint::from_bytes);
    let of_two =
        |body: &[u8], kinds: [PartKind; 2]| kinds.get(usize::from(*body.first()?)).copied();
    if let Some(body) = Reader::said(bytes, Kind::ForestQuery) {
        return Some((of_two(body, [PartKind::Query, PartKind::Preparation])?, name(bytes)));
    }
    if let Some(body) = Reader::said(bytes, Kind::ForestAnswer) {
        let kind = of_two(body, [PartKind::Answer, PartKind::Prepared])?;
        return Some((kind, first(&body[1..])?));
    }
    let masked = [
        (Kind::ForestMaskedQuery, PartKind::MaskedQuery),
        (Kind::ForestMaskedAnswer, PartKind::MaskedAnswer),
    ];
    masked.into_iter().find_map(|(kind, part)| Some((part, first(Reader::said(bytes, kind)?)?)))
}

/// The name of a message: its frame's checksum, a hash of all that is before it.
pub(super) fn name(bytes: &[u8]) -> Fingerprint {
    Fingerprint::from_bytes(bytes.last_chunk().copied().unwrap_or_default())
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
    FRAME + 2 * NAME + numbers(plan).bytes(plan.declared().edges as usize)
}

/// Bytes of an answer to a prepared query.
pub fn prepared_answer_bytes(plan: &Plan) -> usize {
    FRAME + 2 * NAME + numbers(plan).bytes(plan.declared().leaves())
}

/// How numbers modulo `t` travel.
pub(super) fn numbers(plan: &Plan) -> Width {
    let (_, _, t) = plan.plain_moduli();
    Width::of_residues(t)
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
    let words = Vec::with_capacity(plan.sizes().blocks * plan.products().words());
    let mut query = Query { seeds: Vec::new(), words };
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

/// An answer to a query of a sample, or to a preparation, of this name.
pub(super) fn answer_to_bytes(
    plan: &Plan,
    purpose: Purpose,
    key: KeyId,
    answer: &Answer,
) -> Vec<u8> {
    let mut writer = plan.message(Kind::ForestAnswer, answer_bytes(plan), key);
    writer.u8(purpose as u8).bytes(&answer.query.to_bytes());
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
    let query = Fingerprint::from_bytes(reader.array()?);
    let c_1 = plan.answers().read(&mut reader, plan.sizes().answers * plan.ring_degree())?;
    let width = Width::of_bits(plan.sizes().number_bits);
    let numbers = width.read(&mut reader, plan.declared().leaves())?;
    reader.finish()?;
    Ok((key, Answer { query, c_1, numbers }))
}

/// A prepared query or the answer to one, as its kind says.
pub(super) fn masked_to_bytes(plan: &Plan, kind: Kind, key: KeyId, masked: &Masked) -> Vec<u8> {
    let width = numbers(plan);
    let mut writer = plan.message(kind, FRAME + 2 * NAME + width.bytes(masked.numbers.len()), key);
    write_names(&mut writer, masked.names);
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
    let names = read_names(&mut reader)?;
    let numbers = numbers(plan).read(&mut reader, count)?;
    reader.finish()?;
    Ok((key, Masked { names, numbers }))
}

fn write_names(writer: &mut Writer, names: Names) {
    writer.bytes(&names.query.to_bytes()).bytes(&names.answer.to_bytes());
}

fn read_names(reader: &mut Reader<'_>) -> Result<Names, SchemeError> {
    let [query, answer] = [reader.array()?, reader.array()?].map(Fingerprint::from_bytes);
    Ok(Names { query, answer })
}

/// Begins a share of one side.
pub(super) fn share(plan: &Plan, side: Side, key: KeyId, names: Names) -> Writer {
    let mut writer = plan.message(Kind::ForestShare, 0, key);
    writer.u8(side as u8);
    write_names(&mut writer, names);
    writer
}

/// Begins to read a share of one side, and says of which key and preparation it is.
pub(super) fn open_share<'a>(
    plan: &Plan,
    side: Side,
    bytes: &'a [u8],
) -> Result<(Reader<'a>, KeyId, Names), SchemeError> {
    let (mut reader, key) = plan.open(bytes, Kind::ForestShare)?;
    expect(&mut reader, side as u8, "it is the share of the other side")?;
    let names = read_names(&mut reader)?;
    Ok((reader, key, names))
}
