//! The wire forms of uploads and answers. Every size follows from the plan and the number of samples.

use hesc_schemes::wire::Kind;
use hesc_schemes::{KeyId, SchemeError};

use crate::plans::{FRAME, SEED, Second};

use super::declared::{Operand, Source};
use super::layout::Block;
use super::plan::Plan;

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

/// The ciphertexts of an upload: as many as samples take, or those of one tile.
pub(super) fn blocks_of(
    plan: &Plan,
    operand: &Operand,
    samples: usize,
) -> impl ExactSizeIterator<Item = Block> + use<> {
    let layout = plan.layout();
    layout.blocks(if operand.shared { layout.capacity() } else { samples })
}

/// Bytes of an upload of so many samples, whose number does not count where one serves all; 0 where nothing is sent.
pub fn upload_bytes(plan: &Plan, operand: &Operand, samples: usize) -> usize {
    let residues = plan.residues();
    let second = match operand.source {
        Source::Secret => SEED,
        Source::Public => residues.bytes(plan.ring_degree()),
        Source::Clear => return 0,
    };
    let blocks =
        blocks_of(plan, operand, samples).map(|block| second + residues.bytes(block.places));
    FRAME + 1 + 4 + blocks.sum::<usize>()
}

/// Bytes of an answer of so many samples.
pub fn answer_bytes(plan: &Plan, samples: usize) -> usize {
    let answers = plan.answers();
    let bytes = |block: Block| answers.bytes(plan.ring_degree()) + answers.bytes(block.places);
    FRAME + 4 + plan.layout().blocks(samples).map(bytes).sum::<usize>()
}

pub(super) fn upload_to_bytes(plan: &Plan, operand: &Operand, upload: &Upload) -> Vec<u8> {
    let size = upload_bytes(plan, operand, upload.samples);
    let mut writer = plan.message(Kind::LogarithmUpload, size, upload.key);
    writer.u8(upload.operand as u8).u32(upload.samples as u32);
    for Question { c_0, c_1 } in &upload.questions {
        plan.residues().write_both(&mut writer, c_0, c_1);
    }
    writer.finish()
}

pub(super) fn upload_from_bytes(plan: &Plan, bytes: &[u8]) -> Result<Upload, SchemeError> {
    let (mut reader, key) = plan.open(bytes, Kind::LogarithmUpload)?;
    let (number, samples) = (usize::from(reader.u8()?), reader.u32()? as usize);
    let sent = |operand: &&Operand| operand.source != Source::Clear;
    let Some(operand) = plan.declared().operands.get(number).filter(sent) else {
        return Err(reader.error("the plan has no such operand that is encrypted"));
    };
    let fits = (1..=plan.most_samples()).contains(&samples);
    if if operand.shared { samples != 0 } else { !fits } {
        return Err(reader.error("it has no samples, or others than such an operand takes"));
    }
    let residues = plan.residues();
    let mut questions = Vec::new();
    for block in blocks_of(plan, operand, samples) {
        let c_1 = match operand.source {
            Source::Secret => Second::Seed(reader.array()?),
            _ => Second::Words(residues.read(&mut reader, plan.ring_degree())?),
        };
        questions.push(Question { c_0: residues.read(&mut reader, block.places)?, c_1 });
    }
    reader.finish()?;
    Ok(Upload { key, operand: number, samples, questions })
}

pub(super) fn answer_to_bytes(
    plan: &Plan,
    key: KeyId,
    samples: usize,
    replies: &[Reply],
) -> Vec<u8> {
    let mut writer = plan.message(Kind::LogarithmAnswer, answer_bytes(plan, samples), key);
    writer.u32(samples as u32);
    for Reply { c_0, c_1 } in replies {
        plan.answers().write(&mut writer, c_1);
        plan.answers().write(&mut writer, c_0);
    }
    writer.finish()
}

pub(super) fn answer_from_bytes(
    plan: &Plan,
    bytes: &[u8],
) -> Result<(KeyId, usize, Vec<Reply>), SchemeError> {
    let (mut reader, key) = plan.open(bytes, Kind::LogarithmAnswer)?;
    let samples = reader.u32()? as usize;
    let (layout, answers) = (plan.layout(), plan.answers());
    if !(1..=plan.most_samples()).contains(&samples) {
        return Err(reader.error("it has no samples, or more than a message takes"));
    }
    let mut replies = Vec::new();
    for block in layout.blocks(samples) {
        let c_1 = answers.read(&mut reader, layout.ring_degree)?;
        replies.push(Reply { c_0: answers.read(&mut reader, block.places)?, c_1 });
    }
    reader.finish()?;
    Ok((key, samples, replies))
}
