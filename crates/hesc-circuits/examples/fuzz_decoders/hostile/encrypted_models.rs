//! Encrypted models of ring products, and the answers that they give.

use hesc_circuits::plans::PlanError;
use hesc_circuits::ring_products::{
    Declared, EncryptedModel, Plan, Protection, Under, answer_bytes, decrypt, encrypt,
    encrypt_model, encrypt_model_public, query_bytes,
};
use hesc_math::AesCtrRng;
use hesc_schemes::rlwe::SecretKey;
use rand_core::SeedableRng;

use super::frames::Family;
use super::{Asked, Object, Target};

/// A plan with its key, a model and what they exchange.
pub struct EncryptedModelTarget {
    plan: Plan,
    secret: SecretKey,
    model: EncryptedModel,
    query: Vec<u8>,
    objects: Vec<Object>,
}

impl EncryptedModelTarget {
    /// Two features and an output.
    pub fn new(under: Under) -> Result<Self, PlanError> {
        let (weights, intercepts, low, high) = ([0.5, -2.0], [0.25], [-1.0, 0.0], [1.0, 3.0]);
        let mut declared = Declared::of_model(&weights, &intercepts, &low, &high, 0.1)?;
        declared.protection = Protection::Encrypted(under);
        (declared.centres, declared.offset) = (vec![0.0], 4.0);
        let plan = Plan::new(declared)?;
        let rng = &mut AesCtrRng::from_seed([8; 32]);
        let (secret, public) = plan.products().scheme().generate_keys(rng);
        let (other, _) = plan.products().scheme().generate_keys(rng);
        let bytes = match under {
            Under::Secret => encrypt_model(&plan, &secret, &weights, &intercepts, rng)?,
            Under::Public => encrypt_model_public(&plan, &public, &weights, &intercepts, rng)?,
        };
        let model = EncryptedModel::from_bytes(&plan, &bytes)?;
        let query = encrypt(&plan, &secret, &[0.5, 1.0, -1.0, 3.0], rng)?;
        let answer = model.evaluate(&query)?;
        let mut objects = vec![plan.to_bytes(), query.clone(), answer, bytes];
        if under == Under::Secret {
            objects.push(encrypt_model(&plan, &other, &weights, &intercepts, rng)?);
        }
        let objects = objects.into_iter().map(|bytes| Object::new(Family::Rlwe, bytes)).collect();
        Ok(Self { plan, secret, model, query, objects })
    }
}

impl Target for EncryptedModelTarget {
    fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// A plan is made again from what it declares, tables and all.
    fn rarity(&self) -> usize {
        20
    }

    fn read(&self, bytes: &[u8], _: &mut AesCtrRng, asked: &mut Asked) -> bool {
        let mut accepted = false;
        if let Ok(plan) = Plan::from_bytes(bytes) {
            accepted = true;
            asked.same(&plan.to_bytes(), bytes);
            let half = plan.products().modulus() as f64 / 2.0;
            asked.that(plan.reach() <= half, "scores that come around");
        }
        if let Ok(model) = EncryptedModel::from_bytes(&self.plan, bytes) {
            accepted = true;
            let own = model.key_id() == self.secret.key_id();
            let answered = model.evaluate(&self.query);
            asked.that(answered.is_ok() == own, "a model of another key pair answers");
        }
        let layout = self.plan.layout();
        if let Ok(answer) = self.model.evaluate(bytes) {
            accepted = true;
            let most = 8 * layout.capacity();
            let samples =
                (1..=most).find(|&samples| query_bytes(&self.plan, samples) == bytes.len());
            asked.that(samples.is_some(), "a query of a size that is not the plan's");
            // All samples of a ciphertext take the same query, and one score each.
            let blocks = |samples: usize| samples.div_ceil(layout.capacity());
            let possible = samples.is_some_and(|samples| {
                let last = blocks(samples) * layout.capacity();
                let first = last - layout.capacity() + 1;
                let bytes = answer_bytes(&self.plan, first)..=answer_bytes(&self.plan, last);
                bytes.contains(&answer.len())
            });
            asked.that(possible, "an answer of a size that is not the plan's");
        }
        if let Ok(scores) = decrypt(&self.plan, &self.secret, bytes) {
            accepted = true;
            let most = self.plan.reach() / self.plan.scales().product() + 100.0;
            asked.that(scores.iter().all(|x| x.abs() <= most), "scores beyond their range");
        }
        accepted
    }
}
