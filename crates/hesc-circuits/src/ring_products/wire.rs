//! The wire forms of encrypted models, queries and answers. Every size follows from the plan and the number of samples.

use hesc_schemes::wire::{Kind, Reader, Writer};
use hesc_schemes::{KeyId, SchemeError, Tag};

use super::declared::Under;
use super::plan::Plan;

/// Bytes of a number of samples.
const COUNT: usize = 4;
/// Bytes of a frame, the names of plan and key, and the number of samples.
const FRAME: usize = 30 + 32 + COUNT;
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
    pub third: Third,
}

/// The third part of a product of ciphertexts.
pub(super) enum Third {
    /// Weights were in the clear.
    None,
    /// It is the product of the polynomials of two seeds, the query's and the weights'.
    Seeds([[u8; SEED]; 2]),
    /// Its coefficients, with bits of their own.
    Words(Vec<u64>),
}

/// The second part of a ciphertext of weights.
pub(super) enum Part {
    Seed([u8; SEED]),
    Words(Vec<u64>),
}

/// The ciphertexts of a model, each `c_0` and `c_1`, coefficients: weights, and what is added to scores, of which `c_0`
/// has the places of the scores alone.
pub(super) struct EncryptedWords {
    pub weights: (Vec<u64>, Part),
    pub added: Option<(Vec<u64>, Part)>,
}

fn residue_bits(plan: &Plan) -> u32 {
    plan.products().modulus().ilog2() + 1
}

/// So many residues of the plan's prime.
fn residues(reader: &mut Reader<'_>, plan: &Plan, count: usize) -> Result<Vec<u64>, SchemeError> {
    let words = reader.packed::<u64>(count, residue_bits(plan))?;
    if words.iter().any(|&x| x >= plan.products().modulus()) {
        return Err(reader.error("a residue is not below its modulus"));
    }
    Ok(words)
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
    let blocks = plan.layout().blocks(samples).map(|count| (SEED, plan.window(count).1));
    framed(residue_bits(plan), blocks)
}

/// Bytes of an answer to one.
pub fn answer_bytes(plan: &Plan, samples: usize) -> usize {
    let layout = plan.layout();
    let eighth = layout.ring_degree / 8;
    let third = match (plan.declared().encrypted(), plan.third()) {
        (None, _) => 0,
        (Some(_), None) => 2 * SEED,
        (Some(_), Some(third)) => eighth * third.bits as usize,
    };
    // All parts end with a whole byte; those of c_1 and c_2 have no bits left over.
    let blocks = layout
        .blocks(samples)
        .map(|count| (third + eighth * plan.answer_bits() as usize, count * layout.outputs));
    framed(plan.answer_bits(), blocks)
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
    let bytes = |values: usize| (values * residue_bits(plan) as usize).div_ceil(8);
    let second = match plan.declared().encrypted() {
        Some(Under::Public) => bytes(weights),
        _ => SEED,
    };
    let parts = std::iter::once(weights).chain(added);
    FRAME - COUNT + parts.map(|values| bytes(values) + second).sum::<usize>()
}

pub(super) fn model_to_bytes(plan: &Plan, key: KeyId, words: &EncryptedWords) -> Vec<u8> {
    let bits = residue_bits(plan);
    let mut writer = Writer::with_capacity(Kind::RingProductModel, model_bytes(plan));
    writer.tag(Tag { params: plan.fingerprint(), key });
    for (c_0, c_1) in std::iter::once(&words.weights).chain(&words.added) {
        match c_1 {
            Part::Seed(seed) => writer.bytes(seed),
            Part::Words(words) => writer.packed(words, bits),
        };
        writer.packed(c_0, bits);
    }
    writer.finish()
}

pub(super) fn model_from_bytes(
    plan: &Plan,
    bytes: &[u8],
) -> Result<(KeyId, EncryptedWords), SchemeError> {
    let mut reader = Reader::open(bytes, Kind::RingProductModel)?;
    let key = reader.tag(plan.fingerprint())?.key;
    let (weights, added) = model_coefficients(plan);
    let mut part = |values| {
        let c_1 = match plan.declared().encrypted() {
            Some(Under::Public) => Part::Words(residues(&mut reader, plan, weights)?),
            _ => Part::Seed(reader.array()?),
        };
        Ok::<_, SchemeError>((residues(&mut reader, plan, values)?, c_1))
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
    let layout = plan.layout();
    let mut questions = Vec::new();
    for count in layout.blocks(samples) {
        let seed = reader.array()?;
        let window = residues(&mut reader, plan, plan.window(count).1)?;
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
        match (&reply.third, plan.third()) {
            (Third::Seeds(seeds), _) => _ = writer.bytes(seeds.as_flattened()),
            (Third::Words(words), Some(third)) => _ = writer.packed(words, third.bits),
            (Third::None | Third::Words(_), _) => {}
        }
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
        let third = match (plan.declared().encrypted(), plan.third()) {
            (None, _) => Third::None,
            (Some(_), None) => Third::Seeds([reader.array()?, reader.array()?]),
            (Some(_), Some(third)) => {
                let words = reader.packed::<u64>(layout.ring_degree, third.bits)?;
                if third.truncation.is_none() && words.iter().any(|&x| x >= modulus) {
                    return Err(reader.error("a residue is not below its modulus"));
                }
                Third::Words(words)
            }
        };
        let c_1 = reader.packed::<u64>(layout.ring_degree, bits)?;
        let scores = reader.packed::<u64>(count * layout.outputs, bits)?;
        // Below 2^bits they are all; where no bits were lost there are more than residues.
        if plan.truncation().is_none() && c_1.iter().chain(&scores).any(|&x| x >= modulus) {
            return Err(reader.error("a residue is not below its modulus"));
        }
        replies.push(Reply { c_1, scores, third });
    }
    reader.finish()?;
    Ok((key, samples, replies))
}
