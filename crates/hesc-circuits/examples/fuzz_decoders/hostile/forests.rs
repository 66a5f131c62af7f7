//! Plans, queries, answers and shares of scores of trees.

use hesc_circuits::forests::{
    ClientShare, Condition, Declared, Leaf, Model, Plan, ServerShare, Shape, answer_bytes, decrypt,
    encrypt, prepare, prepared_answer_bytes,
};
use hesc_circuits::plans::PlanError;
use hesc_math::AesCtrRng;
use hesc_schemes::rlwe::{PublicKey, SecretKey};
use rand_core::SeedableRng;

use super::frames::Family;
use super::{Asked, Object, Target};

/// A plan with its keys, a model and what they exchange.
pub struct ForestTarget {
    plan: Plan,
    secret: SecretKey,
    public: PublicKey,
    model: Model,
    /// What a client keeps of one preparation at first and at last, and its server, and what is asked under it.
    shares: [Vec<u8>; 3],
    asked: Vec<u8>,
    objects: Vec<Object>,
}

impl ForestTarget {
    /// A tree of two leaves, and one of a single leaf.
    pub fn new() -> Result<Self, PlanError> {
        let shape = |trees, leaves| Shape { trees, leaves };
        let plan = Plan::new(Declared {
            edges: 3,
            outputs: vec![shape(1, 2), shape(1, 1)],
            most_conditions: 1,
            reach: 10,
        })?;
        let leaf = |value, conditions| Leaf { value, conditions, slopes: vec![] };
        let condition = |constant| vec![Condition { constant, terms: vec![(1, constant)] }];
        let tree = vec![leaf(3, condition(true)), leaf(-7, condition(false))];
        let model = Model::new(&plan, vec![vec![tree], vec![vec![leaf(10, vec![])]]])?;
        let rng = &mut AesCtrRng::from_seed([12; 32]);
        let (secret, public) = plan.products().scheme().generate_keys(rng);
        let query = encrypt(&plan, &secret, &[true, false, true], rng)?;
        let answer = model.answer(&query, &public, rng)?;
        let (begun, preparation) = prepare(&plan, &secret, rng)?;
        let (kept, prepared) = model.prepare(&preparation, &public, rng)?;
        let (begun, kept) = (begun.to_bytes(&plan), kept.to_bytes(&plan));
        let mut complete = ClientShare::from_bytes(&plan, &begun)?;
        complete.complete(&plan, &secret, &prepared)?;
        let (used, asked) = complete.ask(&plan, &[true, false, true])?;
        let told = ServerShare::from_bytes(&plan, &kept)?.answer(&plan, &asked)?;
        let used = used.to_bytes(&plan);
        let own = [begun.clone(), used.clone(), kept.clone()];
        let others = [preparation, prepared, told, begun];
        let objects = [plan.to_bytes(), query, answer, used, kept, asked.clone()]
            .into_iter()
            .chain(others)
            .map(|bytes| Object::new(Family::Rlwe, bytes));
        let objects = objects.collect();
        Ok(Self { plan, secret, public, model, shares: own, asked, objects })
    }
}

impl Target for ForestTarget {
    fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// A plan is made again from what it declares, tables and all.
    fn rarity(&self) -> usize {
        20
    }

    fn read(&self, bytes: &[u8], rng: &mut AesCtrRng, asked: &mut Asked) -> bool {
        let mut accepted = false;
        if let Ok(plan) = Plan::from_bytes(bytes) {
            accepted = true;
            asked.same(&plan.to_bytes(), bytes);
            let (costs, values, _) = plan.plain_moduli();
            let declared = plan.declared();
            asked.that(costs > u64::from(declared.most_conditions), "costs that come around");
            asked.that(values > 2 * declared.reach, "scores that come around");
        }
        if let Ok(answer) = self.model.answer(bytes, &self.public, rng) {
            accepted = true;
            let length = answer_bytes(&self.plan);
            asked.that(length == answer.len(), "an answer of a size that is not the plan's");
        }
        if let Ok(scores) = decrypt(&self.plan, &self.secret, bytes) {
            accepted = true;
            self.check_scores(&scores, asked);
        }
        self.read_prepared(bytes, rng, asked) || accepted
    }
}

impl ForestTarget {
    /// Reads bytes as each of a prepared query's messages and shares.
    fn read_prepared(&self, bytes: &[u8], rng: &mut AesCtrRng, asked: &mut Asked) -> bool {
        let (plan, mut accepted) = (&self.plan, false);
        if let Ok((_, answer)) = self.model.prepare(bytes, &self.public, rng) {
            accepted = true;
            asked.that(answer.len() == answer_bytes(plan), "an answer of another size");
        }
        if let Ok(share) = ServerShare::from_bytes(plan, bytes) {
            accepted = true;
            asked.same(&share.to_bytes(plan), bytes);
            if let Ok(answer) = share.answer(plan, &self.asked) {
                asked
                    .that(answer.len() == prepared_answer_bytes(plan), "an answer of another size");
            }
        }
        if let Ok(mut share) = ClientShare::from_bytes(plan, bytes) {
            accepted = true;
            asked.same(&share.to_bytes(plan), bytes);
            // Whatever state it is in: each step is taken or refused.
            let complete = share.complete(plan, &self.secret, bytes);
            asked.that(complete.is_err(), "a share that a share completes");
        }
        let [begun, client, server] = &self.shares;
        if let Ok(mut share) = ClientShare::from_bytes(plan, begun) {
            accepted |= share.complete(plan, &self.secret, bytes).is_ok();
        }
        if let Ok(share) = ClientShare::from_bytes(plan, client)
            && let Ok(scores) = share.scores(plan, bytes)
        {
            accepted = true;
            self.check_scores(&scores, asked);
        }
        if let Ok(share) = ServerShare::from_bytes(plan, server) {
            accepted |= share.answer(plan, bytes).is_ok();
        }
        accepted
    }

    fn check_scores(&self, scores: &[i64], asked: &mut Asked) {
        let (_, values, _) = self.plan.plain_moduli();
        let most = (values / 2) as i64;
        asked.that(scores.len() == 2, "scores of outputs that are not there");
        asked.that(scores.iter().all(|x| x.abs() <= most), "scores beyond their modulus");
    }
}
