//! Weights that the server has under encryption.

use hesc_schemes::rlwe::{Operand, PublicKey, SecretKey};
use hesc_schemes::{KeyId, SchemeError};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::blocks::each_block;
use super::declared::Under;
use super::plan::Plan;
use super::wire::{self, EncryptedWords, Reply, Third};
use super::{Layout, weights};
use crate::plans::{PlanError, Second, Seed};

/// A model under encryption, ready for queries under the same key pair.
pub struct EncryptedModel {
    plan: Plan,
    key: KeyId,
    weights: Operand,
    /// The seed of their second part, where they are under the secret key.
    seed: Option<Seed>,
    /// What is added to scores: `c_0` at their places, `c_1` as evaluations.
    added: Option<(Vec<u64>, Vec<u64>)>,
}

/// What is added, at the places of the scores of a full ciphertext.
fn added_polynomial(layout: Layout, added: &[i64]) -> Zeroizing<Vec<i64>> {
    let mut polynomial = Zeroizing::new(vec![0; layout.ring_degree]);
    for (place, value) in layout.scores(layout.capacity()).zip(added.iter().cycle()) {
        polynomial[place] = *value;
    }
    polynomial
}

/// Only what the scores are read from.
fn at_scores(layout: Layout, c_0: &[u64]) -> Vec<u64> {
    layout.scores(layout.capacity()).map(|place| c_0[place]).collect()
}

fn refuse_plan<T>(remedy: &'static str) -> Result<T, PlanError> {
    Err(PlanError::Declared { name: "the plan", remedy })
}

/// What a model's integers are under either key, each polynomial encrypted by `part`.
fn encrypted_words<R: CryptoRng>(
    plan: &Plan,
    weights: &[f64],
    intercepts: &[f64],
    rng: &mut R,
    mut part: impl FnMut(&[i64], &mut R) -> Result<(Vec<u64>, Second), SchemeError>,
) -> Result<EncryptedWords, PlanError> {
    let layout = plan.layout();
    let polynomial = weights::polynomial(plan, weights, rng)?;
    let added = added_polynomial(layout, &weights::added(plan, weights, intercepts)?);
    let weights = part(&polynomial, rng)?;
    let added = plan.adds().then(|| part(&added, rng)).transpose()?;
    let added = added.map(|(c_0, c_1)| (at_scores(layout, &c_0), c_1));
    Ok(EncryptedWords { weights, added })
}

/// Encrypts a model under the secret key of who asks, whose model it is: the seeded wire form that
/// [`EncryptedModel::from_bytes`] reads. Weights are rounded at random. Cost: two transforms.
///
/// # Errors
/// [`PlanError::Count`], [`PlanError::Weights`]; [`PlanError::Declared`] for a plan of other weights;
/// [`SchemeError::ParameterMismatch`] for the key of another set.
pub fn encrypt_model(
    plan: &Plan,
    key: &SecretKey,
    weights: &[f64],
    intercepts: &[f64],
    rng: &mut impl CryptoRng,
) -> Result<Vec<u8>, PlanError> {
    if plan.declared().encrypted() != Some(Under::Secret) {
        return refuse_plan("it is not for weights under the secret key; make one that is");
    }
    let products = plan.products();
    let mut workspace = products.workspace();
    let words = encrypted_words(plan, weights, intercepts, rng, |message, rng| {
        let mut c_0 = vec![0; message.len()];
        let seed = products.encrypt(key, message, &mut c_0, &mut workspace, rng)?;
        Ok((c_0, Second::Seed(seed)))
    })?;
    Ok(wire::model_to_bytes(plan, key.key_id(), &words))
}

/// The same under the public key of who asks. Cost: six transforms.
///
/// # Errors
/// As [`encrypt_model`].
pub fn encrypt_model_public(
    plan: &Plan,
    key: &PublicKey,
    weights: &[f64],
    intercepts: &[f64],
    rng: &mut impl CryptoRng,
) -> Result<Vec<u8>, PlanError> {
    if plan.declared().encrypted() != Some(Under::Public) {
        return refuse_plan("it is not for weights under the public key; make one that is");
    }
    let products = plan.products();
    let mut workspace = products.workspace();
    let words = encrypted_words(plan, weights, intercepts, rng, |message, rng| {
        let [c_0, c_1] = products.encrypt_public(key, message, &mut workspace, rng)?;
        Ok((c_0, Second::Words(c_1)))
    })?;
    Ok(wire::model_to_bytes(plan, key.key_id(), &words))
}

impl EncryptedModel {
    /// Reads what [`encrypt_model`] or [`encrypt_model_public`] wrote; strict. Cost: up to three transforms.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] and [`SchemeError::ParameterMismatch`] for other bytes and plans; [`PlanError::Declared`]
    /// for a plan of weights that are not encrypted.
    pub fn from_bytes(plan: &Plan, bytes: &[u8]) -> Result<Self, PlanError> {
        if plan.declared().encrypted().is_none() {
            return refuse_plan("its weights are not encrypted; take a model of its weights");
        }
        let (key, EncryptedWords { weights, added }) = wire::model_from_bytes(plan, bytes)?;
        let products = plan.products();
        let (weights, seed) = match weights {
            (c_0, Second::Seed(seed)) => (products.seeded_operand(seed, c_0), Some(seed)),
            (c_0, Second::Words(c_1)) => (products.operand([c_0, c_1]), None),
        };
        let added = added.map(|(c_0, c_1)| match c_1 {
            Second::Seed(seed) => {
                let mut words = vec![0; plan.layout().ring_degree];
                products.uniform(seed, &mut words);
                (c_0, words)
            }
            Second::Words(mut words) => {
                products.forward(&mut words);
                (c_0, words)
            }
        });
        Ok(Self { plan: plan.clone(), key, weights, seed, added })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The public name of the key pair that it is under.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// The answer to a query under the same key pair. Cost: three transforms for each ciphertext, four under the public
    /// key.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] and [`SchemeError::ParameterMismatch`] for other bytes and plans,
    /// [`SchemeError::KeyMismatch`] for another key pair.
    pub fn evaluate(&self, query: &[u8]) -> Result<Vec<u8>, PlanError> {
        let plan = &self.plan;
        let (layout, products) = (plan.layout(), plan.products());
        let (found, samples, questions) = wire::query_from_bytes(plan, query)?;
        if found != self.key {
            return Err(SchemeError::KeyMismatch { expected: self.key, found }.into());
        }
        let blocks = layout.blocks(samples).zip(questions).map(|(count, question)| {
            (count, question, Reply { c_1: Vec::new(), scores: Vec::new(), third: Third::None })
        });
        let n = layout.ring_degree;
        let start = || [vec![0; n], vec![0; n], vec![0; n]];
        let done = each_block(n, blocks.collect(), start, |rows, block| {
            let (count, question, reply) = block;
            let window = std::mem::take(&mut question.window);
            let query = products.seeded_operand(question.seed, window);
            let out = rows.each_mut().map(Vec::as_mut_slice);
            products.sum_of_products(&[(&query, &self.weights)], out)?;
            let [c_0, c_1, c_2] = rows;
            if let Some((_, added)) = &self.added {
                products.add(c_1, added);
            }
            products.inverse(c_0);
            products.inverse(c_1);
            reply.c_1.clone_from(c_1);
            reply.scores = layout.scores(*count).map(|place| c_0[place]).collect();
            if let Some((added, _)) = &self.added {
                products.add_residues(&mut reply.scores, &added[..*count * layout.outputs]);
            }
            plan.answers().truncate(&mut reply.c_1);
            plan.answers().truncate(&mut reply.scores);
            reply.third = match (self.seed, plan.third()) {
                (Some(seed), _) => Third::Seeds([question.seed, seed]),
                (None, third) => {
                    products.inverse(c_2);
                    if let Some(third) = third {
                        third.truncate(c_2);
                    }
                    Third::Words(c_2.clone())
                }
            };
            Ok::<(), PlanError>(())
        })?;
        let replies: Vec<Reply> = done.into_iter().map(|block| block.2).collect();
        Ok(wire::answer_to_bytes(plan, self.key, samples, &replies))
    }
}
