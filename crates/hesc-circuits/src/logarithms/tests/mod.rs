mod codes;
mod programs;
mod refusals;

use hesc_math::AesCtrRng;
use hesc_schemes::rlwe::{PublicKey, SecretKey};
use rand_core::{Rng, SeedableRng};

use crate::plans::PlanError;

use super::*;

fn generator(seed: u64) -> AesCtrRng {
    AesCtrRng::seed_from_u64(seed)
}

/// Uniform in [0, 1).
fn uniform(rng: &mut AesCtrRng) -> f64 {
    (rng.next_u64() >> 11) as f64 * 2f64.powi(-53)
}

/// An operand of one element for each product, all with one bound.
fn simple(source: Source, shared: bool, products: usize, bound: f64) -> Operand {
    Operand {
        source,
        shared,
        shape: vec![products as u32],
        bounds: vec![bound; products],
        recipes: Recipes::of_elements(0..products as u32),
    }
}

/// Every product an output of its own.
fn apart(operands: Vec<Operand>, error: f64) -> Declared {
    let count = operands[0].recipes.len() as u32;
    let terms = (0..count).map(|at| (at, at, 1.0)).collect();
    Declared { operands, sums: Sums { shape: vec![count], terms }, error }
}

/// All sides in one.
struct Parties {
    plan: Plan,
    secret: SecretKey,
    public: PublicKey,
}

impl Parties {
    fn new(plan: Plan, rng: &mut AesCtrRng) -> Self {
        let (secret, public) = plan.products().scheme().generate_keys(rng);
        Self { plan, secret, public }
    }

    fn upload(
        &self,
        number: usize,
        numbers: &[f64],
        rng: &mut AesCtrRng,
    ) -> Result<Vec<u8>, PlanError> {
        let key = match self.plan.declared().operands[number].source {
            Source::Secret => EncryptionKey::Secret(&self.secret),
            _ => EncryptionKey::Public(&self.public),
        };
        encrypt(&self.plan, number, key, numbers, rng)
    }

    /// An evaluator and the uploads for it.
    fn prepared(
        &self,
        numbers: &[Vec<f64>],
        rng: &mut AesCtrRng,
    ) -> Result<(Evaluator, Vec<Vec<u8>>), PlanError> {
        let (mut clear, mut shared, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (number, operand) in self.plan.declared().operands.iter().enumerate() {
            match (operand.source, operand.shared) {
                (Source::Clear, _) => clear.push((number, numbers[number].as_slice())),
                (_, true) => shared.push(self.upload(number, &numbers[number], rng)?),
                _ => others.push(self.upload(number, &numbers[number], rng)?),
            }
        }
        let shared: Vec<&[u8]> = shared.iter().map(Vec::as_slice).collect();
        Ok((Evaluator::new(&self.plan, &clear, &shared, rng)?, others))
    }

    fn run(&self, numbers: &[Vec<f64>], rng: &mut AesCtrRng) -> (Decrypted, Vec<u8>) {
        let (evaluator, uploads) = self.prepared(numbers, rng).unwrap();
        let uploads: Vec<&[u8]> = uploads.iter().map(Vec::as_slice).collect();
        let answer = evaluator.evaluate(&uploads).unwrap();
        (decrypt(&self.plan, &self.secret, &answer).unwrap(), answer)
    }

    /// For each product of each sample what doubles give, and the ends of what roundings may make of it.
    fn in_the_clear(&self, numbers: &[Vec<f64>], samples: usize) -> Vec<(f64, f64, f64)> {
        let declared = self.plan.declared();
        let mut all = Vec::new();
        for sample in 0..samples {
            for product in 0..declared.products() {
                let (mut true_one, mut low, mut high) = (1.0, 1.0, 1.0);
                for (operand, numbers) in declared.operands.iter().zip(numbers) {
                    let count = operand.bounds.len();
                    let row = if operand.shared { 0 } else { sample * count };
                    let (mut factor, mut bound) = (1.0, 1.0);
                    for &(element, power) in operand.recipes.of(product) {
                        factor *= numbers[row + element as usize].powi(power as i32);
                        bound *= operand.bounds[element as usize].powi(power as i32);
                    }
                    let between = self.plan.code().between((factor / bound).abs());
                    true_one *= factor;
                    low *= between.lower * bound;
                    high *= between.upper * bound;
                }
                all.push((true_one, low * (1.0 - 1e-9), high * (1.0 + 1e-9)));
            }
        }
        all
    }
}
