use std::sync::{Mutex, PoisonError};

use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Multiplier, PublicKey};
use rand_core::{CryptoRng, SeedableRng};
use zeroize::Zeroizing;

use super::blocks::each_block;
use super::plan::Plan;
use super::weights;
use super::wire::{self, Reply, Third};
use crate::plans::PlanError;

/// A server's weights, ready for queries. Neither printed nor compared; wiped.
pub struct Model {
    plan: Plan,
    weights: Multiplier,
    /// What is added to each output, in coefficients.
    added: Zeroizing<Vec<u64>>,
    /// For plans that hide weights.
    hiding: Option<Hidden>,
}

struct Hidden {
    public: PublicKey,
    deviation: f64,
    left: Mutex<u64>,
}

impl Model {
    /// `outputs` rows of a weight for each feature, and what is added to each output; the public key of who asks, for
    /// plans that hide weights, which then answer nobody else. Weights are rounded at random, once for all answers. Cost: a
    /// transform.
    ///
    /// # Errors
    /// [`PlanError::Count`], [`PlanError::Weights`]; [`PlanError::Declared`] for a public key
    /// too many or missing.
    pub fn new(
        plan: &Plan,
        weights: &[f64],
        intercepts: &[f64],
        public: Option<PublicKey>,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, PlanError> {
        let declared = plan.declared();
        if declared.encrypted().is_some() {
            let remedy = "its weights are encrypted; encrypt them and read an EncryptedModel";
            return Err(PlanError::Declared { name: "the plan", remedy });
        }
        let polynomial = weights::polynomial(plan, weights, rng)?;
        let added = weights::added(plan, weights, intercepts)?;
        let lifted = |&coefficient: &i64| {
            let lift = plan.products().modulus() & (coefficient >> 63) as u64;
            (coefficient as u64).wrapping_add(lift)
        };
        let added = Zeroizing::new(added.iter().map(lifted).collect());
        let hiding = match (declared.hiding(), public, plan.flooding()) {
            (Some(hiding), Some(public), Some(deviation)) => {
                Some(Hidden { public, deviation, left: Mutex::new(hiding.answers) })
            }
            (None, None, _) => None,
            (None, Some(_), _) => {
                let remedy = "the plan hides no weights; make one that does, or give none";
                return Err(PlanError::Declared { name: "public", remedy });
            }
            (Some(_), ..) => {
                let remedy = "the plan hides weights; give the public key of who asks";
                return Err(PlanError::Declared { name: "public", remedy });
            }
        };
        let weights = plan.products().multiplier(&polynomial);
        Ok(Self { plan: plan.clone(), weights, added, hiding })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Numbers that it may still give, where its weights are hidden.
    pub fn answers_left(&self) -> Option<u64> {
        self.hiding.as_ref().map(Hidden::left)
    }

    /// The answer to a query. Cost: three transforms for each ciphertext, six where weights are hidden.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] and [`SchemeError::ParameterMismatch`] for other bytes and plans; where weights are hidden
    /// [`SchemeError::KeyMismatch`] for another key pair, and [`PlanError::Spent`].
    pub fn evaluate<R: CryptoRng + SeedableRng + Send>(
        &self,
        query: &[u8],
        rng: &mut R,
    ) -> Result<Vec<u8>, PlanError> {
        let plan = &self.plan;
        let (layout, products) = (plan.layout(), plan.products());
        let (key, samples, questions) = wire::query_from_bytes(plan, query)?;
        if let Some(hidden) = &self.hiding {
            let expected = hidden.public.key_id();
            if key != expected {
                return Err(SchemeError::KeyMismatch { expected, found: key }.into());
            }
            hidden.spend((samples * layout.outputs) as u64)?;
        }
        let n = layout.ring_degree;
        let blocks = layout.blocks(samples).zip(questions).map(|(count, question)| {
            let scores = vec![0; count * layout.outputs];
            // Public answers need no randomness.
            let rng = self.hiding.is_some().then(|| R::from_rng(rng));
            let reply = Reply { c_1: vec![0; n], scores, third: Third::None };
            (count, question, rng, reply)
        });
        let start = || (products.workspace(), Zeroizing::new(vec![0; n]));
        let done = each_block(n, blocks.collect(), start, |(workspace, c_0), block| {
            let (count, question, rng, Reply { c_1, scores, .. }) = block;
            let (first, length) = layout.window(*count);
            c_0[length..].fill(0);
            c_0[..length].copy_from_slice(&question.window);
            c_0.rotate_right(first);
            products.multiply(question.seed, c_0, c_1, &self.weights)?;
            if let (Some(hidden), Some(rng)) = (&self.hiding, rng.as_mut()) {
                products.rerandomise(&hidden.public, c_0, c_1, workspace, rng)?;
            }
            let places = layout.scores(*count).zip(self.added.iter().cycle());
            for (score, (place, added)) in scores.iter_mut().zip(places) {
                let sum = c_0[place] + added;
                *score = sum.min(sum.wrapping_sub(products.modulus()));
            }
            if let (Some(hidden), Some(rng)) = (&self.hiding, rng.as_mut()) {
                products.flood(scores, hidden.deviation, rng);
            }
            plan.answers().truncate(c_1);
            plan.answers().truncate(scores);
            Ok::<(), PlanError>(())
        })?;
        let replies: Vec<Reply> = done.into_iter().map(|block| block.3).collect();
        Ok(wire::answer_to_bytes(plan, key, samples, &replies))
    }
}

impl Hidden {
    fn left(&self) -> u64 {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts before anything is computed.
    fn spend(&self, asked: u64) -> Result<(), PlanError> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        match left.checked_sub(asked) {
            Some(rest) => {
                *left = rest;
                Ok(())
            }
            None => Err(PlanError::Spent { asked, left: *left }),
        }
    }
}
