//! Plans, queries and answers of scores of trees.

use hesc_circuits::forests::{
    Condition, Declared, Leaf, Model, Plan, Shape, answer_bytes, decrypt, encrypt,
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
        let leaf = |value, conditions| Leaf { value, conditions };
        let condition = |constant| vec![Condition { constant, terms: vec![(1, constant)] }];
        let tree = vec![leaf(3, condition(true)), leaf(-7, condition(false))];
        let model = Model::new(&plan, vec![vec![tree], vec![vec![leaf(10, vec![])]]])?;
        let rng = &mut AesCtrRng::from_seed([12; 32]);
        let (secret, public) = plan.products().scheme().generate_keys(rng);
        let query = encrypt(&plan, &secret, &[true, false, true], rng)?;
        let answer = model.answer(&query, &public, rng)?;
        let objects =
            [plan.to_bytes(), query, answer].map(|bytes| Object::new(Family::Rlwe, bytes));
        Ok(Self { plan, secret, public, model, objects: objects.into() })
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
            let (_, values, _) = self.plan.plain_moduli();
            let most = (values / 2) as i64;
            asked.that(scores.len() == 2, "scores of outputs that are not there");
            asked.that(scores.iter().all(|x| x.abs() <= most), "scores beyond their modulus");
        }
        accepted
    }
}
