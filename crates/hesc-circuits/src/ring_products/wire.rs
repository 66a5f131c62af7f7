//! The wire forms of encrypted models, queries and answers. Every size follows from the plan and the number of samples.

use hesc_schemes::wire::{Kind, Reader};
use hesc_schemes::{KeyId, SchemeError};

use crate::plans::{FRAME, SEED, Second, Seed};

use super::declared::Under;
use super::plan::Plan;

/// Bytes of a number of samples.
const COUNT: usize = 4;

/// A ciphertext on its way to the server: the seed of `c_1`, and the window of `c_0`.
pub(super) struct Question {
    pub seed: Seed,
    pub window: Vec<u64>,
}

/// One on its way back, each coefficient with the plan's bits: `c_1`, and of `c_0` the places of the scores.
pub(super) struct Reply {
    pub c_1: Vec<u64>,
    pub scores: Vec<u64>,
    pub third: Third,
}

/// The third part of a product of ciphertexts.
pub(super) enum Third {
    /// Weights were in the clear.
    None,
    /// It is the product of the polynomials of two seeds, the query's and the weights'.
    Seeds([Seed; 2]),
    /// Its coefficients, with bits of their own.
    Words(Vec<u64>),
}

/// The ciphertexts of a model, each `c_0` and `c_1`, coefficients: weights, and what is added to scores, of which `c_0`
/// has the places of the scores alone.
pub(super) struct EncryptedWords {
    pub weights: (Vec<u64>, Second),
    pub added: Option<(Vec<u64>, Second)>,
}

/// Begins to read a message of samples, and says how many.
fn open<'a>(
    plan: &Plan,
    bytes: &'a [u8],
    kind: Kind,
) -> Result<(Reader<'a>, KeyId, usize), SchemeError> {
    let (mut reader, key) = plan.open(bytes, kind)?;
    let samples = reader.u32()? as usize;
    if !(1..=plan.most_samples()).contains(&samples) {
        return Err(reader.error("it has no samples, or more than a message takes"));
    }
    Ok((reader, key, samples))
}

/// Bytes of a query of so many samples.
pub fn query_bytes(plan: &Plan, samples: usize) -> usize {
    let bytes = |count| SEED + plan.residues().bytes(plan.window(count).1);
    FRAME + COUNT + plan.layout().blocks(samples).map(bytes).sum::<usize>()
}

/// Bytes of an answer to one.
pub fn answer_bytes(plan: &Plan, samples: usize) -> usize {
    let (layout, answers) = (plan.layout(), plan.answers());
    let third = match (plan.declared().encrypted(), plan.third()) {
        (None, _) => 0,
        (Some(_), None) => 2 * SEED,
        (Some(_), Some(third)) => third.bytes(layout.ring_degree),
    };
    let whole = third + answers.bytes(layout.ring_degree);
    let bytes = |count| whole + answers.bytes(count * layout.outputs);
    FRAME + COUNT + layout.blocks(samples).map(bytes).sum::<usize>()
}

/// Coefficients of an encrypted model: of `c_0` of weights and of what is added, where there is that.
fn model_coefficients(plan: &Plan) -> (usize, Option<usize>) {
    let layout = plan.layout();
    let scores = plan.adds().then_some(layout.capacity() * layout.outputs);
    (layout.ring_degree, scores)
}

/// Bytes of a model under encryption.
pub fn model_bytes(plan: &Plan) -> usize {
    let (weights, added) = model_coefficients(plan);
    let second = match plan.declared().encrypted() {
        Some(Under::Public) => plan.residues().bytes(weights),
        _ => SEED,
    };
    let parts = std::iter::once(weights).chain(added);
    FRAME + parts.map(|values| plan.residues().bytes(values) + second).sum::<usize>()
}

pub(super) fn model_to_bytes(plan: &Plan, key: KeyId, words: &EncryptedWords) -> Vec<u8> {
    let mut writer = plan.message(Kind::RingProductModel, model_bytes(plan), key);
    for (c_0, c_1) in std::iter::once(&words.weights).chain(&words.added) {
        plan.residues().write_both(&mut writer, c_0, c_1);
    }
    writer.finish()
}

pub(super) fn model_from_bytes(
    plan: &Plan,
    bytes: &[u8],
) -> Result<(KeyId, EncryptedWords), SchemeError> {
    let (mut reader, key) = plan.open(bytes, Kind::RingProductModel)?;
    let (weights, added) = model_coefficients(plan);
    let mut part = |values| {
        let c_1 = match plan.declared().encrypted() {
            Some(Under::Public) => Second::Words(plan.residues().read(&mut reader, weights)?),
            _ => Second::Seed(reader.array()?),
        };
        Ok::<_, SchemeError>((plan.residues().read(&mut reader, values)?, c_1))
    };
    let words = EncryptedWords { weights: part(weights)?, added: added.map(part).transpose()? };
    reader.finish()?;
    Ok((key, words))
}

pub(super) fn query_to_bytes(
    plan: &Plan,
    key: KeyId,
    samples: usize,
    questions: &[Question],
) -> Vec<u8> {
    let mut writer = plan.message(Kind::RingProductQuery, query_bytes(plan, samples), key);
    writer.u32(samples as u32);
    for question in questions {
        writer.bytes(&question.seed);
        plan.residues().write(&mut writer, &question.window);
    }
    writer.finish()
}

pub(super) fn query_from_bytes(
    plan: &Plan,
    bytes: &[u8],
) -> Result<(KeyId, usize, Vec<Question>), SchemeError> {
    let (mut reader, key, samples) = open(plan, bytes, Kind::RingProductQuery)?;
    let layout = plan.layout();
    let mut questions = Vec::new();
    for count in layout.blocks(samples) {
        let seed = reader.array()?;
        let window = plan.residues().read(&mut reader, plan.window(count).1)?;
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
    let mut writer = plan.message(Kind::RingProductAnswer, answer_bytes(plan, samples), key);
    writer.u32(samples as u32);
    for reply in replies {
        match (&reply.third, plan.third()) {
            (Third::Seeds(seeds), _) => _ = writer.bytes(seeds.as_flattened()),
            (Third::Words(words), Some(third)) => third.write(&mut writer, words),
            (Third::None | Third::Words(_), _) => {}
        }
        plan.answers().write(&mut writer, &reply.c_1);
        plan.answers().write(&mut writer, &reply.scores);
    }
    writer.finish()
}

pub(super) fn answer_from_bytes(
    plan: &Plan,
    bytes: &[u8],
) -> Result<(KeyId, usize, Vec<Reply>), SchemeError> {
    let (mut reader, key, samples) = open(plan, bytes, Kind::RingProductAnswer)?;
    let (layout, answers) = (plan.layout(), plan.answers());
    let mut replies = Vec::new();
    for count in layout.blocks(samples) {
        let third = match (plan.declared().encrypted(), plan.third()) {
            (None, _) => Third::None,
            (Some(_), None) => Third::Seeds([reader.array()?, reader.array()?]),
            (Some(_), Some(third)) => Third::Words(third.read(&mut reader, layout.ring_degree)?),
        };
        let c_1 = answers.read(&mut reader, layout.ring_degree)?;
        let scores = answers.read(&mut reader, count * layout.outputs)?;
        replies.push(Reply { c_1, scores, third });
    }
    reader.finish()?;
    Ok((key, samples, replies))
}
