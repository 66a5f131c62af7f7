//! The wire forms of galleries, probes and distances. Every size follows from the plan and from numbers of records and
//! probes.

use hesc_schemes::wire::{Kind, Reader};
use hesc_schemes::{KeyId, SchemeError};

use crate::plans::{FRAME, SEED, Seed};

use super::plan::Plan;
use super::{MOST_PROBES, MOST_RECORDS, MOST_WORDS};

/// Ciphertexts under one seed: the pieces of a probe, or of a block of a gallery. Coefficients of `c_0`.
pub(super) struct Pieces {
    pub seed: Seed,
    pub words: Vec<Vec<u64>>,
}

/// What part of all distances an answer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    /// Records of the gallery.
    pub records: usize,
    /// Probes of the message.
    pub probes: usize,
    /// Which of these.
    pub probe: usize,
    /// The first block of the gallery.
    pub first: usize,
    /// How many.
    pub blocks: usize,
}

/// Distances of one probe to the records of a block, with the plan's bits.
pub(super) struct Reply {
    pub seed: Seed,
    pub c_1: Vec<u64>,
    pub distances: Vec<u64>,
}

/// Bytes of a number of objects whose pieces are under one seed each.
fn framed(plan: &Plan, objects: usize) -> usize {
    let piece = plan.residues().bytes(plan.ring_degree());
    FRAME + 4 + objects * (SEED + plan.pieces() * piece)
}

/// Bytes of a gallery of so many records.
pub fn gallery_bytes(plan: &Plan, records: usize) -> usize {
    framed(plan, records.div_ceil(plan.capacity()))
}

/// Bytes of so many probes.
pub fn probes_bytes(plan: &Plan, probes: usize) -> usize {
    framed(plan, probes)
}

/// Bytes of the distances of a probe to so many records, from the beginning of a block.
pub fn distances_bytes(plan: &Plan, records: usize) -> usize {
    let answers = plan.answers();
    let block = |count| SEED + answers.bytes(plan.ring_degree()) + answers.bytes(count);
    FRAME + 5 * 4 + SEED + plan.blocks(records).map(block).sum::<usize>()
}

fn write_pieces(
    (kind, bytes): (Kind, usize),
    plan: &Plan,
    key: KeyId,
    count: usize,
    objects: &[Pieces],
) -> Vec<u8> {
    let mut writer = plan.message(kind, bytes, key);
    writer.u32(count as u32);
    for Pieces { seed, words } in objects {
        writer.bytes(seed);
        words.iter().for_each(|words| plan.residues().write(&mut writer, words));
    }
    writer.finish()
}

fn read_pieces(
    reader: &mut Reader<'_>,
    plan: &Plan,
    count: usize,
) -> Result<Vec<Pieces>, SchemeError> {
    let mut objects = Vec::new();
    for _ in 0..count {
        let seed = reader.array()?;
        let words = (0..plan.pieces())
            .map(|_| plan.residues().read(reader, plan.ring_degree()))
            .collect::<Result<_, _>>()?;
        objects.push(Pieces { seed, words });
    }
    Ok(objects)
}

pub(super) fn gallery_to_bytes(
    plan: &Plan,
    key: KeyId,
    records: usize,
    blocks: &[Pieces],
) -> Vec<u8> {
    write_pieces((Kind::Gallery, gallery_bytes(plan, records)), plan, key, records, blocks)
}

pub(super) fn gallery_from_bytes(
    plan: &Plan,
    bytes: &[u8],
) -> Result<(KeyId, usize, Vec<Pieces>), SchemeError> {
    let (mut reader, key) = plan.open(bytes, Kind::Gallery)?;
    let records = reader.u32()? as usize;
    if !(1..=most_records(plan)).contains(&records) {
        return Err(reader.error("it has no records, or more than memory should hold"));
    }
    let blocks = read_pieces(&mut reader, plan, records.div_ceil(plan.capacity()))?;
    reader.finish()?;
    Ok((key, records, blocks))
}

/// Records of one gallery, at most.
pub(super) fn most_records(plan: &Plan) -> usize {
    let block = 2 * plan.ring_degree() * plan.pieces();
    MOST_RECORDS.min(MOST_WORDS / block * plan.capacity())
}

/// Probes of one message, at most.
pub(super) fn most_probes(plan: &Plan) -> usize {
    MOST_PROBES.min(MOST_WORDS / (2 * plan.ring_degree() * plan.pieces()))
}

pub(super) fn probes_to_bytes(plan: &Plan, key: KeyId, probes: &[Pieces]) -> Vec<u8> {
    let count = probes.len();
    write_pieces((Kind::Probes, probes_bytes(plan, count)), plan, key, count, probes)
}

pub(super) fn probes_from_bytes(
    plan: &Plan,
    bytes: &[u8],
) -> Result<(KeyId, Vec<Pieces>), SchemeError> {
    let (mut reader, key) = plan.open(bytes, Kind::Probes)?;
    let count = reader.u32()? as usize;
    if !(1..=most_probes(plan)).contains(&count) {
        return Err(reader.error("it has no probes, or more than a message takes"));
    }
    let probes = read_pieces(&mut reader, plan, count)?;
    reader.finish()?;
    Ok((key, probes))
}

pub(super) fn distances_to_bytes(
    plan: &Plan,
    key: KeyId,
    range: Range,
    probe: &Seed,
    replies: &[Reply],
) -> Vec<u8> {
    let mut writer = plan.message(Kind::GalleryDistances, 0, key);
    for number in [range.records, range.probes, range.probe, range.first, range.blocks] {
        writer.u32(number as u32);
    }
    writer.bytes(probe);
    for reply in replies {
        writer.bytes(&reply.seed);
        plan.answers().write(&mut writer, &reply.c_1);
        plan.answers().write(&mut writer, &reply.distances);
    }
    writer.finish()
}

pub(super) fn distances_from_bytes(
    plan: &Plan,
    bytes: &[u8],
) -> Result<(KeyId, Range, Seed, Vec<Reply>), SchemeError> {
    let (mut reader, key) = plan.open(bytes, Kind::GalleryDistances)?;
    let mut numbers = [0; 5];
    for number in &mut numbers {
        *number = reader.u32()? as usize;
    }
    let [records, probes, probe, first, blocks] = numbers;
    let range = Range { records, probes, probe, first, blocks };
    let possible = (1..=most_records(plan)).contains(&records)
        && (1..=most_probes(plan)).contains(&probes)
        && probe < probes
        && blocks >= 1
        && first + blocks <= records.div_ceil(plan.capacity());
    if !possible {
        return Err(reader.error("it is no part of distances of so many probes and records"));
    }
    let seed = reader.array()?;
    let mut replies = Vec::new();
    for count in plan.blocks(records).skip(first).take(blocks) {
        let seed = reader.array()?;
        let c_1 = plan.answers().read(&mut reader, plan.ring_degree())?;
        let distances = plan.answers().read(&mut reader, count)?;
        replies.push(Reply { seed, c_1, distances });
    }
    reader.finish()?;
    Ok((key, range, seed, replies))
}
