//! Plans, queries and answers of ring products.

use hesc_circuits::plans::PlanError;
use hesc_circuits::ring_products::{
    Declared, Hiding, Model, Plan, Protection, answer_bytes, decrypt, encrypt, query_bytes,
};
use hesc_math::AesCtrRng;
use hesc_schemes::rlwe::SecretKey;
use rand_core::SeedableRng;

use super::frames::Family;
use super::{Asked, Object, Target};

/// Numbers that the hidden model gives: far more than it is asked for.
const ANSWERS: u64 = 1 << 20;

/// A plan with its key, a model and what they exchange.
pub struct RingProductTarget {
    plan: Plan,
    secret: SecretKey,
    model: Model,
    objects: Vec<Object>,
}

impl RingProductTarget {
    /// Two features and an output; with weights hidden or not.
    pub fn new(hidden: bool) -> Result<Self, PlanError> {
        let (weights, intercepts, low, high) = ([0.5, -2.0], [0.25], [-1.0, 0.0], [1.0, 3.0]);
        let mut declared = Declared::of_model(&weights, &intercepts, &low, &high, 0.1)?;
        if hidden {
            declared.error = 100.0;
            declared.protection =
                Protection::Hidden(Hiding { answers: ANSWERS, statistical_bits: 40 });
            (declared.centres, declared.offset) = (vec![0.0], 4.0);
        }
        let plan = Plan::new(declared)?;
        let rng = &mut AesCtrRng::from_seed([6; 32]);
        let (secret, public) = plan.products().scheme().generate_keys(rng);
        let (other, _) = plan.products().scheme().generate_keys(rng);
        let model = Model::new(&plan, &weights, &intercepts, hidden.then_some(public), rng)?;
        let query = encrypt(&plan, &secret, &[0.5, 1.0, -1.0, 3.0], rng)?;
        let foreign = encrypt(&plan, &other, &[0.5, 1.0], rng)?;
        let answer = model.evaluate(&query, rng)?;
        let mut bytes = vec![plan.to_bytes(), query, answer];
        // Models that hide their weights serve one key pair.
        if !hidden {
            bytes.push(foreign);
        }
        let objects = bytes.into_iter().map(|bytes| Object::new(Family::Rlwe, bytes)).collect();
        Ok(Self { plan, secret, model, objects })
    }
}

impl Target for RingProductTarget {
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
            asked.that(plan.error() <= plan.declared().error, "an error beyond what is wanted");
            let half = plan.products().modulus() as f64 / 2.0;
            asked.that(plan.reach() <= half, "scores that come around");
        }
        let layout = self.plan.layout();
        if let Ok(answer) = self.model.evaluate(bytes, rng) {
            accepted = true;
            let samples = (1..=layout.capacity())
                .find(|&samples| query_bytes(&self.plan, samples) == bytes.len());
            let length = samples.map(|samples| answer_bytes(&self.plan, samples));
            asked.that(length == Some(answer.len()), "an answer of a size that is not the plan's");
        }
        if let Ok(scores) = decrypt(&self.plan, &self.secret, bytes) {
            accepted = true;
            let most = self.plan.reach() / self.plan.scales().product() + 100.0;
            asked.that(scores.iter().all(|x| x.abs() <= most), "scores beyond their range");
        }
        accepted
    }
}
