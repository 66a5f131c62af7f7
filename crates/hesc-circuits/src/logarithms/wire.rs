//! The wire forms of uploads and answers. Every size follows from the plan and the number of samples.

use hesc_schemes::wire::{Kind, Reader, Writer};
use hesc_schemes::{KeyId, SchemeError, Tag};

use super::declared::{Operand, Source};
use super::layout::Block;
use super::plan::Plan;

/// Bytes of a frame, and of the names of plan and key.
const FRAME: usize = 30 + 32;
/// Bytes of a seed.
const SEED: usize = 32;

/// The second part of a ciphertext: what it comes from, or itself.
pub(super) enum Second {
    Seed([u8; SEED]),
    Words(Vec<u64>),
}

/// A ciphertext on its way to who computes: of `c_0` the places of products.
pub(super) struct Question {
    pub c_0: Vec<u64>,
    pub c_1: Second,
}

/// What one side sent.
pub(super) struct Upload {
    pub key: KeyId,
    pub operand: usize,
    /// 0 for one that serves all samples.
    pub samples: usize,
    pub questions: Vec<Question>,
}

/// A ciphertext on its way back.
pub(super) struct Reply {
    pub c_0: Vec<u64>,
    pub c_1: Vec<u64>,
}

fn residue_bits(plan: &Plan) -> u32 {
    plan.products().modulus().ilog2() + 1
}

/// The ciphertexts of an upload: as many as samples take, or those of one tile.
pub(super) fn blocks_of(
    plan: &Plan,
    operand: &Operand,
    samples: usize,
) -> impl ExactSizeIterator<Item = Block> + use<> {
    let layout = plan.layout();
    layout.blocks(if operand.shared { layout.capacity() } else { samples })
}

fn packed(values: usize, bits: u32) -> usize {
    (values * bits as usize).div_ceil(8)
}

/// Bytes of an upload of so many samples, whose number does not count where one serves all; 0 where nothing is sent.
pub fn upload_bytes(plan: &Plan, operand: &Operand, samples: usize) -> usize {
    let bits = residue_bits(plan);
    let second = match operand.source {
        Source::Secret => SEED,
        Source::Public => packed(plan.layout().ring_degree, bits),
        Source::Clear => return 0,
    };
    let blocks = blocks_of(plan, operand, samples).map(|block| second + packed(block.places, bits));
    FRAME + 1 + 4 + blocks.sum::<usize>()
}

/// Bytes of an answer of so many samples.
pub fn answer_bytes(plan: &Plan, samples: usize) -> usize {
    let (layout, bits) = (plan.layout(), plan.answer_bits());
    let blocks = layout.blocks(samples);
    FRAME
        + 4
        + blocks
            .map(|block| packed(layout.ring_degree, bits) + packed(block.places, bits))
            .sum::<usize>()
}

pub(super) fn upload_to_bytes(plan: &Plan, operand: &Operand, upload: &Upload) -> Vec<u8> {
    let (bits, size) = (residue_bits(plan), upload_bytes(plan, operand, upload.samples));
    let mut writer = Writer::with_capacity(Kind::LogarithmUpload, size);
    writer.tag(Tag { params: plan.fingerprint(), key: upload.key });
    writer.u8(upload.operand as u8).u32(upload.samples as u32);
    for Question { c_0, c_1 } in &upload.questions {
        match c_1 {
            Second::Seed(seed) => writer.bytes(seed),
            Second::Words(words) => writer.packed(words, bits),
        };
        writer.packed(c_0, bits);
    }
    writer.finish()
}

pub(super) fn upload_from_bytes(plan: &Plan, bytes: &[u8]) -> Result<Upload, SchemeError> {
    let mut reader = Reader::open(bytes, Kind::LogarithmUpload)?;
    let key = reader.tag(plan.fingerprint())?.key;
    let (number, samples) = (usize::from(reader.u8()?), reader.u32()? as usize);
    let sent = |operand: &&Operand| operand.source != Source::Clear;
    let Some(operand) = plan.declared().operands.get(number).filter(sent) else {
        return Err(reader.error("the plan has no such operand that is encrypted"));
    };
    let fits = (1..=plan.most_samples()).contains(&samples);
    if if operand.shared { samples != 0 } else { !fits } {
        return Err(reader.error("it has no samples, or others than such an operand takes"));
    }
    let (layout, modulus, bits) = (plan.layout(), plan.products().modulus(), residue_bits(plan));
    let mut questions = Vec::new();
    for block in blocks_of(plan, operand, samples) {
        let c_1 = match operand.source {
            Source::Secret => Second::Seed(reader.array()?),
            _ => Second::Words(residues(&mut reader, layout.ring_degree, bits, modulus)?),
        };
        questions.push(Question { c_0: residues(&mut reader, block.places, bits, modulus)?, c_1 });
    }
    reader.finish()?;
    Ok(Upload { key, operand: number, samples, questions })
}

fn residues(
    reader: &mut Reader<'_>,
    count: usize,
    bits: u32,
    modulus: u64,
) -> Result<Vec<u64>, SchemeError> {
    let words = reader.packed::<u64>(count, bits)?;
    if words.iter().any(|&x| x >= modulus) {
        return Err(reader.error("a residue is not below its modulus"));
    }
    Ok(words)
}

pub(super) fn answer_to_bytes(
    plan: &Plan,
    key: KeyId,
    samples: usize,
    replies: &[Reply],
) -> Vec<u8> {
    let bits = plan.answer_bits();
    let mut writer = Writer::with_capacity(Kind::LogarithmAnswer, answer_bytes(plan, samples));
    writer.tag(Tag { params: plan.fingerprint(), key }).u32(samples as u32);
    for Reply { c_0, c_1 } in replies {
        writer.packed(c_1, bits).packed(c_0, bits);
    }
    writer.finish()
}

pub(super) fn answer_from_bytes(
    plan: &Plan,
    bytes: &[u8],
) -> Result<(KeyId, usize, Vec<Reply>), SchemeError> {
    let mut reader = Reader::open(bytes, Kind::LogarithmAnswer)?;
    let key = reader.tag(plan.fingerprint())?.key;
    let samples = reader.u32()? as usize;
    let (layout, bits) = (plan.layout(), plan.answer_bits());
    if !(1..=plan.most_samples()).contains(&samples) {
        return Err(reader.error("it has no samples, or more than a message takes"));
    }
    // Below 2^bits they are all; where no bits were lost there are more than residues.
    let below = plan.truncation().map_or(plan.products().modulus(), |_| 1 << bits);
    let mut replies = Vec::new();
    for block in layout.blocks(samples) {
        let c_1 = residues(&mut reader, layout.ring_degree, bits, below)?;
        replies.push(Reply { c_0: residues(&mut reader, block.places, bits, below)?, c_1 });
    }
    reader.finish()?;
    Ok((key, samples, replies))
}
