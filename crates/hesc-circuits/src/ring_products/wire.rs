//! The wire forms of queries and answers. Every size follows from the plan and the number of samples.

use hesc_schemes::wire::{Kind, Reader, Writer};
use hesc_schemes::{KeyId, SchemeError, Tag};

use super::plan::Plan;

/// Bytes of a frame, the names of plan and key, and the number of samples.
const FRAME: usize = 30 + 32 + 4;
/// Bytes of a seed.
const SEED: usize = 32;

/// A ciphertext on its way to the server: the seed of `c_1`, and the window of `c_0`.
pub(super) struct Question {
    pub seed: [u8; SEED],
    pub window: Vec<u64>,
}

/// One on its way back, each coefficient with the plan's bits: `c_1`, and of `c_0` the places of the scores.
pub(super) struct Reply {
    pub c_1: Vec<u64>,
    pub scores: Vec<u64>,
}

fn residue_bits(plan: &Plan) -> u32 {
    plan.products().modulus().ilog2() + 1
}

fn header(writer: &mut Writer, plan: &Plan, key: KeyId, samples: usize) {
    writer.tag(Tag { params: plan.fingerprint(), key }).u32(samples as u32);
}

fn read_header(reader: &mut Reader<'_>, plan: &Plan) -> Result<(KeyId, usize), SchemeError> {
    let tag = reader.tag(plan.fingerprint())?;
    let samples = reader.u32()? as usize;
    if !(1..=plan.most_samples()).contains(&samples) {
        return Err(reader.error("it has no samples, or more than a message takes"));
    }
    Ok((tag.key, samples))
}

/// Bytes of a frame with names and count, around values of some bits.
fn framed(bits: u32, blocks: impl Iterator<Item = (usize, usize)>) -> usize {
    let packed = |(bytes, values): (usize, usize)| bytes + (values * bits as usize).div_ceil(8);
    FRAME + blocks.map(packed).sum::<usize>()
}

/// Bytes of a query of so many samples.
pub fn query_bytes(plan: &Plan, samples: usize) -> usize {
    let layout = plan.layout();
    let blocks = layout.blocks(samples).map(|count| (SEED, layout.window(count).1));
    framed(residue_bits(plan), blocks)
}

/// Bytes of an answer to one.
pub fn answer_bytes(plan: &Plan, samples: usize) -> usize {
    let layout = plan.layout();
    // Both parts end with a whole byte; that of c_1 has no bits left over.
    let blocks = layout.blocks(samples).map(|count| {
        (layout.ring_degree / 8 * plan.answer_bits() as usize, count * layout.outputs)
    });
    framed(plan.answer_bits(), blocks)
}

pub(super) fn query_to_bytes(
    plan: &Plan,
    key: KeyId,
    samples: usize,
    questions: &[Question],
) -> Vec<u8> {
    let bits = residue_bits(plan);
    let mut writer = Writer::with_capacity(Kind::RingProductQuery, query_bytes(plan, samples));
    header(&mut writer, plan, key, samples);
    for question in questions {
        writer.bytes(&question.seed).packed(&question.window, bits);
    }
    writer.finish()
}

pub(super) fn query_from_bytes(
    plan: &Plan,
    bytes: &[u8],
) -> Result<(KeyId, usize, Vec<Question>), SchemeError> {
    let mut reader = Reader::open(bytes, Kind::RingProductQuery)?;
    let (key, samples) = read_header(&mut reader, plan)?;
    let (layout, modulus) = (plan.layout(), plan.products().modulus());
    let mut questions = Vec::new();
    for count in layout.blocks(samples) {
        let seed = reader.array()?;
        let window = reader.packed::<u64>(layout.window(count).1, residue_bits(plan))?;
        if window.iter().any(|&x| x >= modulus) {
            return Err(reader.error("a residue is not below its modulus"));
        }
        questions.push(Question { seed, window });
    }
    reader.finish()?;
    Ok((key, samples, questions))
}

pub(super) fn answer_to_bytes(
    plan: &Plan,
    key: KeyId,
    samples: usize,
    replies: &[Reply],
) -> Vec<u8> {
    let bits = plan.answer_bits();
    let mut writer = Writer::with_capacity(Kind::RingProductAnswer, answer_bytes(plan, samples));
    header(&mut writer, plan, key, samples);
    for reply in replies {
        writer.packed(&reply.c_1, bits).packed(&reply.scores, bits);
    }
    writer.finish()
}

pub(super) fn answer_from_bytes(
    plan: &Plan,
    bytes: &[u8],
) -> Result<(KeyId, usize, Vec<Reply>), SchemeError> {
    let mut reader = Reader::open(bytes, Kind::RingProductAnswer)?;
    let (key, samples) = read_header(&mut reader, plan)?;
    let (layout, bits, modulus) = (plan.layout(), plan.answer_bits(), plan.products().modulus());
    let mut replies = Vec::new();
    for count in layout.blocks(samples) {
        let c_1 = reader.packed::<u64>(layout.ring_degree, bits)?;
        let scores = reader.packed::<u64>(count * layout.outputs, bits)?;
        // Below 2^bits they are all; where no bits were lost there are more than residues.
        if plan.truncation().is_none() && c_1.iter().chain(&scores).any(|&x| x >= modulus) {
            return Err(reader.error("a residue is not below its modulus"));
        }
        replies.push(Reply { c_1, scores });
    }
    reader.finish()?;
    Ok((key, samples, replies))
}
