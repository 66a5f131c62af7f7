use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{PublicKey, SecretKey};
use rand_core::{CryptoRng, Rng, SeedableRng};
use zeroize::{Zeroize as _, Zeroizing};

use super::blocks::each_block;
use super::code::encode_all;
use super::declared::{Operand, Source};
use super::layout::Block;
use super::plan::Plan;
use super::wire::{self, Question, Upload, blocks_of};
use crate::plans::{PlanError, Second};

/// What an operand is encrypted under.
#[derive(Clone, Copy)]
pub enum EncryptionKey<'a> {
    /// The key owner's.
    Secret(&'a SecretKey),
    /// Anyone's.
    Public(&'a PublicKey),
}

/// What an answer holds.
pub struct Decrypted {
    /// Samples.
    pub samples: usize,
    /// Every product of every sample, in units of its own, without weights.
    pub products: Zeroizing<Vec<f64>>,
    /// Every output of every sample.
    pub outputs: Zeroizing<Vec<f64>>,
}

/// Room for the factors of a block on their way to residues; secrets pass through it, and it is wiped.
pub(super) struct Factors {
    sizes: Zeroizing<Vec<f64>>,
    signs: Zeroizing<Vec<u64>>,
}

impl Factors {
    pub fn new(plan: &Plan) -> Self {
        let n = plan.layout().ring_degree;
        Self { sizes: Zeroizing::new(vec![0.0; n]), signs: Zeroizing::new(vec![0; n]) }
    }

    /// Writes the codes of an operand's factors as residues, one for each place of a block: each of them rounded at random
    /// by itself, number and residue. `shares` are elements within [-1, 1], those of sample after sample, or of one for all.
    pub fn residues(
        &mut self,
        plan: &Plan,
        operand: &Operand,
        shares: &[f64],
        block: Block,
        words: &mut [u64],
        rng: &mut impl Rng,
    ) {
        let (products, count) = (plan.layout().products, operand.bounds.len());
        let (mut sample, mut product) = (block.sample, block.product);
        let (sizes, signs) = (&mut self.sizes[..block.places], &mut self.signs[..block.places]);
        for (size, sign) in sizes.iter_mut().zip(signs.iter_mut()) {
            let row = if operand.shared { shares } else { &shares[sample * count..][..count] };
            (*size, *sign) = operand.recipes.factor(product, row);
            product += 1;
            if product == products {
                (sample, product) = (sample + 1, 0);
            }
        }
        let words = &mut words[..block.places];
        words.iter_mut().for_each(|word| *word = rng.next_u64());
        encode_all(&plan.code(), sizes, signs, words);
        words.iter_mut().for_each(|word| *word = plan.dithered(*word, rng));
    }
}

/// Encrypts one operand's numbers, a row of elements for each sample, or one row where it serves all. Cost: a transform or
/// three for each ciphertext.
///
/// # Errors
/// [`PlanError::NoOperand`], [`PlanError::Source`] for another key than it takes, [`PlanError::Samples`],
/// [`PlanError::Count`], [`PlanError::Number`]; [`SchemeError::ParameterMismatch`] for the key of another set.
pub fn encrypt<R: CryptoRng + SeedableRng + Send>(
    plan: &Plan,
    number: usize,
    key: EncryptionKey<'_>,
    numbers: &[f64],
    rng: &mut R,
) -> Result<Vec<u8>, PlanError> {
    let operand = plan.operand(number)?;
    let refuse = |declared, remedy| PlanError::Source { operand: number, declared, remedy };
    let key_id = match (operand.source, key) {
        (Source::Secret, EncryptionKey::Secret(key)) => key.key_id(),
        (Source::Public, EncryptionKey::Public(key)) => key.key_id(),
        (Source::Secret, _) => {
            let remedy = "encrypt it with the secret key, or make a plan where it is public";
            return Err(refuse("is encrypted by the key owner", remedy));
        }
        (Source::Public, _) => {
            let remedy = "encrypt it with the public keys, or make a plan where it is the owner's";
            return Err(refuse("is encrypted under the public keys", remedy));
        }
        (Source::Clear, _) => {
            let remedy = "give its numbers to the evaluator";
            return Err(refuse("is in the clear", remedy));
        }
    };
    let (layout, products) = (plan.layout(), plan.products());
    let samples = if operand.shared { 1 } else { numbers.len() / operand.bounds.len() };
    let most = plan.most_samples();
    if !(1..=most).contains(&samples) {
        return Err(PlanError::Samples { samples, most });
    }
    let shares = operand.shares(number, numbers, samples)?;
    let blocks = blocks_of(plan, operand, samples).map(|block| {
        let question = Question { c_0: vec![0; block.places], c_1: Second::Seed([0; 32]) };
        (block, R::from_rng(rng), question)
    });
    let n = layout.ring_degree;
    let start = || {
        let (message, signed) = (Zeroizing::new(vec![0u64; n]), Zeroizing::new(vec![0i64; n]));
        (products.workspace(), Factors::new(plan), message, signed)
    };
    let done =
        each_block(n, blocks.collect(), start, |(workspace, factors, message, signed), block| {
            let (block, rng, question) = block;
            message.as_mut_slice().zeroize();
            factors.residues(plan, operand, &shares, *block, message, rng);
            signed.iter_mut().zip(message.iter()).for_each(|(to, from)| *to = *from as i64);
            match key {
                EncryptionKey::Secret(key) => {
                    let seed = products.encrypt(key, signed, message, workspace, rng)?;
                    question.c_1 = Second::Seed(seed);
                }
                EncryptionKey::Public(key) => {
                    let [c_0, c_1] = products.encrypt_public(key, signed, workspace, rng)?;
                    message.copy_from_slice(&c_0);
                    question.c_1 = Second::Words(c_1);
                }
            }
            question.c_0.copy_from_slice(&message[..block.places]);
            Ok::<(), PlanError>(())
        })?;
    let questions = done.into_iter().map(|block| block.2).collect();
    let samples = if operand.shared { 0 } else { samples };
    let upload = Upload { key: key_id, operand: number, samples, questions };
    Ok(wire::upload_to_bytes(plan, operand, &upload))
}

/// Every product and every output of an answer, for the key owner's eyes. Cost: two transforms for each ciphertext.
///
/// # Errors
/// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for other bytes, plans
/// and keys; [`SchemeError::NoiseTooLarge`] for products that no declared numbers have.
pub fn decrypt(plan: &Plan, key: &SecretKey, answer: &[u8]) -> Result<Decrypted, PlanError> {
    let (found, samples, replies) = wire::answer_from_bytes(plan, answer)?;
    if found != key.key_id() {
        return Err(SchemeError::KeyMismatch { expected: key.key_id(), found }.into());
    }
    let (layout, products, code) = (plan.layout(), plan.products(), plan.code());
    let blocks = layout
        .blocks(samples)
        .zip(replies)
        .map(|(block, reply)| (block, reply, Zeroizing::new(vec![0.0; block.places])));
    let done = each_block(
        layout.ring_degree,
        blocks.collect(),
        || (),
        |(), (block, reply, values)| {
            plan.answers().lift(&mut reply.c_1);
            plan.answers().lift(&mut reply.c_0);
            products.unmask(key, &mut reply.c_1)?;
            let mut valid = true;
            let scales = plan.scales().iter().cycle().skip(block.product);
            let words = reply.c_0.iter().zip(&reply.c_1);
            for ((value, (&c_0, &c_1)), scale) in values.iter_mut().zip(words).zip(scales) {
                let residue = products.centred_sum(c_0, c_1);
                let (plaintext, near) = plan.rounded(residue);
                let (share, possible) = code.decode(plaintext);
                valid &= near & possible;
                *value = share * scale;
            }
            reply.c_1.zeroize();
            if valid { Ok(()) } else { Err(PlanError::from(SchemeError::NoiseTooLarge)) }
        },
    )?;
    let mut all = Zeroizing::new(Vec::with_capacity(samples * layout.products));
    done.iter().for_each(|block| all.extend_from_slice(&block.2));
    let count = plan.declared().outputs();
    let mut outputs = Zeroizing::new(vec![0.0; samples * count]);
    for (row, products) in outputs.chunks_exact_mut(count).zip(all.chunks_exact(layout.products)) {
        for &(output, product, weight) in &plan.declared().sums.terms {
            row[output as usize] += products[product as usize] * weight;
        }
    }
    Ok(Decrypted { samples, products: all, outputs })
}
