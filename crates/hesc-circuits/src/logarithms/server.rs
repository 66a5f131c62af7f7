use hesc_schemes::{KeyId, SchemeError};
use rand_core::{CryptoRng, SeedableRng};

use super::blocks::each_block;
use super::client::Factors;
use super::declared::Source;
use super::plan::Plan;
use super::wire::{self, Question, Reply, Upload};
use crate::plans::{PlanError, Second};

/// Whoever multiplies: what serves all samples is added up once. Cannot decrypt.
pub struct Evaluator {
    plan: Plan,
    /// Of what serves all samples: the sums of both parts, for each of its ciphertexts.
    shared: Vec<Reply>,
    /// The key pair that this is for, where something shared is encrypted.
    key: Option<KeyId>,
    /// Which operands are in `shared`.
    held: Vec<bool>,
}

impl Evaluator {
    /// `clear` are operands in the clear, by number, which are rounded at random once for all answers; `uploads` those that
    /// are encrypted and serve all samples. Cost: a transform for each ciphertext under a secret key.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] and [`SchemeError::ParameterMismatch`] for other bytes and plans, [`SchemeError::KeyMismatch`] for
    /// uploads under several keys; [`PlanError::Operands`] where one is missing, twice, or not shared;
    /// [`PlanError::Source`], [`PlanError::Count`] and [`PlanError::Number`] for those in the clear.
    pub fn new<R: CryptoRng + SeedableRng + Send>(
        plan: &Plan,
        clear: &[(usize, &[f64])],
        uploads: &[&[u8]],
        rng: &mut R,
    ) -> Result<Self, PlanError> {
        let operands = &plan.declared().operands;
        let layout = plan.layout();
        let mut held = vec![false; operands.len()];
        let read = read_all(plan, uploads, &mut held, true)?;
        let key = common_key(&read, None)?;
        let mut sums = Vec::new();
        for &(number, numbers) in clear {
            let operand = plan.operand(number)?;
            if operand.source != Source::Clear {
                let remedy = "give its upload, or make a plan where it is clear";
                return Err(PlanError::Source {
                    operand: number,
                    declared: "is encrypted",
                    remedy,
                });
            }
            once(&mut held, number)?;
            sums.push((operand, operand.shares(number, numbers, 1)?));
        }
        let shared = operands.iter().zip(&held).position(|(operand, held)| operand.shared && !held);
        if let Some(operand) = shared {
            return Err(PlanError::Operands { operand, problem: "is missing" });
        }
        let blocks = layout.blocks(layout.capacity()).enumerate();
        let start =
            || (plan.products().workspace(), Factors::new(plan), vec![0; layout.ring_degree]);
        let blocks =
            blocks.map(|(at, block)| (at, block, R::from_rng(rng), zeros(plan, block.places)));
        let done = each_block(
            layout.ring_degree,
            blocks.collect(),
            start,
            |(workspace, factors, row), (at, block, rng, reply)| {
                for (operand, shares) in &sums {
                    factors.residues(plan, operand, shares, *block, row, rng);
                    plan.products().add_residues(&mut reply.c_0, &row[..block.places]);
                }
                add_all(plan, reply, &read, *at, workspace);
                Ok::<(), PlanError>(())
            },
        )?;
        let shared = done.into_iter().map(|block| block.3).collect();
        Ok(Self { plan: plan.clone(), shared, key, held })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The answer to the uploads of all other operands, in any order. Cost: additions, a random expansion for each ciphertext
    /// under the secret key, and a transform for each ciphertext of the answer.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] and [`SchemeError::ParameterMismatch`] for other bytes and plans, [`SchemeError::KeyMismatch`] for
    /// uploads under several keys; [`PlanError::Operands`] where one is missing or twice, and [`PlanError::Lengths`].
    pub fn evaluate(&self, uploads: &[&[u8]]) -> Result<Vec<u8>, PlanError> {
        let plan = &self.plan;
        let mut held = self.held.clone();
        let read = read_all(plan, uploads, &mut held, false)?;
        if let Some(operand) = held.iter().position(|held| !held) {
            return Err(PlanError::Operands { operand, problem: "is missing" });
        }
        let key = common_key(&read, self.key)?;
        // The plan has an operand that is encrypted for each sample.
        let [first, others @ ..] = read.as_slice() else {
            return Err(PlanError::Operands { operand: 0, problem: "is missing" });
        };
        let (key, expected) = (key.unwrap_or(first.key), first.samples);
        if let Some(other) = others.iter().find(|upload| upload.samples != expected) {
            let (operand, found) = (other.operand, other.samples);
            return Err(PlanError::Lengths { operand, expected, found });
        }
        let blocks = plan.layout().blocks(expected).enumerate();
        let blocks = blocks.map(|(at, block)| (at, zeros(plan, block.places)));
        let start = || plan.products().workspace();
        let n = plan.layout().ring_degree;
        let done = each_block(n, blocks.collect(), start, |workspace, (at, reply)| {
            add_all(plan, reply, &read, *at, workspace);
            let shared = &self.shared[*at % self.shared.len()];
            let places = reply.c_0.len();
            plan.products().add_residues(&mut reply.c_0, &shared.c_0[..places]);
            plan.products().add(&mut reply.c_1, &shared.c_1);
            plan.answers().truncate(&mut reply.c_1);
            plan.answers().truncate(&mut reply.c_0);
            Ok::<(), PlanError>(())
        })?;
        let replies: Vec<Reply> = done.into_iter().map(|block| block.1).collect();
        Ok(wire::answer_to_bytes(plan, key, expected, &replies))
    }
}

fn zeros(plan: &Plan, places: usize) -> Reply {
    Reply { c_0: vec![0; places], c_1: vec![0; plan.layout().ring_degree] }
}

/// Adds the ciphertexts of all uploads in one place to an empty sum.
fn add_all(
    plan: &Plan,
    sum: &mut Reply,
    uploads: &[Upload],
    at: usize,
    workspace: &mut hesc_schemes::rlwe::Workspace,
) {
    let products = plan.products();
    let seeds = uploads.iter().filter_map(|upload| match &upload.questions[at].c_1 {
        Second::Seed(seed) => Some(seed),
        Second::Words(_) => None,
    });
    let mut seeded = false;
    for seed in seeds {
        products.add_expanded(*seed, &mut sum.c_1, workspace);
        seeded = true;
    }
    // Evaluations first, then coefficients.
    if seeded {
        products.inverse(&mut sum.c_1);
    }
    for Question { c_0, c_1 } in uploads.iter().map(|upload| &upload.questions[at]) {
        products.add_residues(&mut sum.c_0, c_0);
        if let Second::Words(words) = c_1 {
            products.add(&mut sum.c_1, words);
        }
    }
}

fn once(held: &mut [bool], operand: usize) -> Result<(), PlanError> {
    if std::mem::replace(&mut held[operand], true) {
        return Err(PlanError::Operands { operand, problem: "is there twice" });
    }
    Ok(())
}

/// Reads uploads of operands that are not there yet, and that all serve all samples, or none.
fn read_all(
    plan: &Plan,
    uploads: &[&[u8]],
    held: &mut [bool],
    shared: bool,
) -> Result<Vec<Upload>, PlanError> {
    let mut read = Vec::with_capacity(uploads.len());
    for bytes in uploads {
        let upload = wire::upload_from_bytes(plan, bytes)?;
        let operand = upload.operand;
        if plan.operand(operand)?.shared != shared {
            let problem = if shared {
                "has numbers for each sample, and belongs to evaluate"
            } else {
                "serves all samples, and belongs to the evaluator"
            };
            return Err(PlanError::Operands { operand, problem });
        }
        once(held, operand)?;
        read.push(upload);
    }
    Ok(read)
}

/// The key of all uploads.
fn common_key(uploads: &[Upload], expected: Option<KeyId>) -> Result<Option<KeyId>, SchemeError> {
    let mut key = expected;
    for upload in uploads {
        let (expected, found) = (*key.get_or_insert(upload.key), upload.key);
        if found != expected {
            return Err(SchemeError::KeyMismatch { expected, found });
        }
    }
    Ok(key)
}
