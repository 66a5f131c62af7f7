//! Plans, uploads and answers of products by logarithms.

use hesc_circuits::logarithms::{
    Declared, EncryptionKey, Evaluator, Operand, Plan, Recipes, Source, Sums, answer_bytes,
    decrypt, encrypt, upload_bytes,
};
use hesc_circuits::plans::PlanError;
use hesc_math::AesCtrRng;
use hesc_schemes::rlwe::SecretKey;
use rand_core::SeedableRng;

use super::frames::Family;
use super::{Asked, Object, Target};

/// A plan with its key, an evaluator and what they exchange.
pub struct LogarithmTarget {
    plan: Plan,
    secret: SecretKey,
    evaluator: Evaluator,
    /// The upload of the other operand that is there for each sample.
    beside: Vec<u8>,
    objects: Vec<Object>,
}

const CLEAR: [f64; 2] = [0.25, -1.0];

impl LogarithmTarget {
    /// Three products of four operands, one of each kind.
    pub fn new() -> Result<Self, PlanError> {
        let operand = |source, shared| Operand {
            source,
            shared,
            shape: vec![2],
            bounds: vec![1.0, 3.0],
            recipes: Recipes::new([vec![(0, 1)], vec![(0, 2), (1, 1)], vec![]]),
        };
        let operands = vec![
            operand(Source::Secret, false),
            operand(Source::Public, false),
            operand(Source::Public, true),
            operand(Source::Clear, true),
        ];
        let terms = vec![(0, 0, 1.0), (0, 1, -2.0), (1, 2, 0.5)];
        let sums = Sums { shape: vec![2], terms };
        let plan = Plan::new(Declared { operands, sums, error: 20.0 })?;
        let rng = &mut AesCtrRng::from_seed([8; 32]);
        let (secret, public) = plan.products().scheme().generate_keys(rng);
        let (key, other) = (EncryptionKey::Secret(&secret), EncryptionKey::Public(&public));
        let upload = encrypt(&plan, 0, key, &[0.5, 1.0, -1.0, 3.0], rng)?;
        let beside = encrypt(&plan, 1, other, &[0.0, 1.0, 0.1, -3.0], rng)?;
        let shared = encrypt(&plan, 2, other, &[1.0, 1.0], rng)?;
        let evaluator = Evaluator::new(&plan, &[(3, &CLEAR)], &[&shared], rng)?;
        let answer = evaluator.evaluate(&[&upload, &beside])?;
        let bytes = [plan.to_bytes(), upload, shared, answer];
        let objects = bytes.into_iter().map(|bytes| Object::new(Family::Rlwe, bytes)).collect();
        Ok(Self { plan, secret, evaluator, beside, objects })
    }
}

impl Target for LogarithmTarget {
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
            let code = plan.code();
            asked.that(code.largest() < 1 << (code.bits - 1), "zeros that come around");
            asked.that(code.zero() > u64::from(code.factors) * code.room(), "zeros that are none");
        }
        let clear: &[(usize, &[f64])] = &[(3, &CLEAR)];
        if Evaluator::new(&self.plan, clear, &[bytes], rng).is_ok() {
            accepted = true;
            let size = upload_bytes(&self.plan, &self.plan.declared().operands[2], 1);
            asked.that(bytes.len() == size, "an operand of a size that is not the plan's");
        }
        if let Ok(answer) = self.evaluator.evaluate(&[bytes, &self.beside]) {
            accepted = true;
            let size = answer_bytes(&self.plan, 2);
            asked.that(answer.len() == size, "an answer of a size that is not the plan's");
        }
        if let Ok(found) = decrypt(&self.plan, &self.secret, bytes) {
            accepted = true;
            let most = 81.0 * 3.0 + 1.0;
            let within = found.products.iter().all(|x| x.abs() <= most);
            asked.that(within, "products beyond the bounds");
        }
        accepted
    }
}
