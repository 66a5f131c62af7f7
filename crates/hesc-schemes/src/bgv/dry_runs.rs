//! Operations on slots without words: what becomes of level and noise, and what they cost. A plan tries a program on
//! [`DryValue`]s before anything is encrypted; what it says of noise is what ciphertexts will say.
//!
//! For sets that circuits are planned for ([`Rlwe::check_combines`]), whose plaintexts keep their factor.

use crate::SchemeError;
use crate::error::refuse;
use crate::rlwe::ciphertext::State;
use crate::rlwe::levels::Dropping;
use crate::rlwe::slot_circuits::evaluators::{DryRun, Evaluator as _};
use crate::rlwe::{Ciphertext, Encryption, LinearMap, MappedInput, Plaintext, Rlwe, Work};

/// What is known of a ciphertext, and how many products in sequence it is made of.
#[derive(Debug, Clone)]
pub struct DryValue {
    state: State,
    depth: usize,
}

impl DryValue {
    /// Which of the set's levels it is at; the lowest is 1.
    pub fn level(&self) -> usize {
        self.state.level
    }

    /// Products in sequence.
    pub fn depth(&self) -> usize {
        self.depth
    }
}

impl Rlwe {
    /// What is known of an encryption.
    ///
    /// # Errors
    /// As [`Self::check_combines`].
    pub fn dry_encryption(&self, under: Encryption) -> Result<DryValue, SchemeError> {
        self.check_combines()?;
        Ok(DryValue { state: self.fresh_state(under), depth: 0 })
    }

    /// What is known of a ciphertext that is there.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::NotRelinearised`]; as [`Self::check_combines`].
    pub fn dry_value(&self, a: &Ciphertext) -> Result<DryValue, SchemeError> {
        self.check_combines()?;
        self.check_bit(a, None)?;
        Ok(DryValue { state: a.state, depth: 0 })
    }

    /// Noise budget, in bits, before an operation is refused.
    pub fn dry_budget(&self, a: &DryValue) -> f64 {
        self.budget_of(&a.state)
    }

    /// How many products in sequence there is room for, each of two results of the one before.
    pub fn dry_depth(&self, a: &DryValue) -> usize {
        self.products_in_sequence(a.state)
    }

    /// The level at which it has the most noise budget as a factor.
    pub fn dry_level_of_product(&self, a: &DryValue) -> usize {
        self.level_of_product(&a.state, &a.state)
    }

    /// [`Self::sum`].
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`].
    pub fn dry_sum(&self, a: &DryValue, b: &DryValue) -> Result<(DryValue, Work), SchemeError> {
        let (level, by) = (a.level().min(b.level()), &mut DryRun::of(self));
        let [x, y] = [a, b].map(|c| by.down(&c.state, level, Dropping::Never));
        let state = self.sum_state(&x?, &y?)?;
        let depth = a.depth.max(b.depth);
        Ok((DryValue { state, depth }, by.work + self.work_of_sum(1, level)))
    }

    /// [`Self::add_plain`].
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`], [`SchemeError::ParameterMismatch`].
    pub fn dry_plus_plain(
        &self,
        a: &DryValue,
        plaintext: &Plaintext,
    ) -> Result<(DryValue, Work), SchemeError> {
        let state = self.plus_plain_state(&a.state, plaintext)?;
        let primes = self.chain().level(state.level).len() as f64;
        Ok((DryValue { state, ..*a }, Work::of(primes, 2.0 * primes)))
    }

    /// [`Self::multiply_plain`].
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`], [`SchemeError::ParameterMismatch`].
    pub fn dry_times_plain(
        &self,
        a: &DryValue,
        plaintext: &Plaintext,
    ) -> Result<(DryValue, Work), SchemeError> {
        let state = self.times_plain_state(&a.state, plaintext)?;
        let primes = self.chain().level(state.level).len() as f64;
        Ok((DryValue { state, ..*a }, Work::of(primes, 3.0 * primes)))
    }

    /// [`Self::apply_galois`], of any automorphism but the identity.
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`].
    pub fn dry_image(&self, a: &DryValue) -> Result<(DryValue, Work), SchemeError> {
        let by = &mut DryRun::of(self);
        let state = by.image(&a.state, 0)?;
        Ok((DryValue { state, ..*a }, by.work))
    }

    /// [`Self::product`].
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`].
    pub fn dry_product(&self, a: &DryValue, b: &DryValue) -> Result<(DryValue, Work), SchemeError> {
        let level = self.level_of_product(&a.state, &b.state);
        let by = &mut DryRun::of(self);
        let [x, y] = [by.lowered(&a.state, level)?, by.lowered(&b.state, level)?];
        let product = by.sum_of_products(&[(&x, Some(&y))], &[])?;
        let state = by.relinearised(&product, level)?;
        Ok((DryValue { state, depth: a.depth.max(b.depth) + 1 }, by.work))
    }

    /// [`Self::linear_maps`].
    ///
    /// # Errors
    /// Those of states alone.
    pub fn dry_linear_maps(
        &self,
        inputs: &[&DryValue],
        (maps, outputs): (&[&LinearMap], &[Vec<MappedInput>]),
        level: usize,
    ) -> Result<(Vec<DryValue>, Work), SchemeError> {
        self.check_combines()?;
        let Some(first) = inputs.first() else {
            return refuse("inputs", "[]", "give at least one");
        };
        let states: Vec<State> = inputs.iter().map(|a| a.state).collect();
        for a in &states {
            Self::check_levels(&first.state, a)?;
        }
        let made = self.mapped_states(&states, (maps, outputs), level)?;
        let work = self.work_of_maps(inputs.len(), (maps, outputs), (first.level(), level));
        let depth =
            |terms: &Vec<MappedInput>| terms.iter().map(|&(input, _)| inputs[input].depth).max();
        let depths = outputs.iter().map(|terms| depth(terms).unwrap_or(0));
        Ok((
            made.into_iter().zip(depths).map(|(state, depth)| DryValue { state, depth }).collect(),
            work,
        ))
    }

    /// A fresh encryption at a level, under the secret key.
    ///
    /// # Errors
    /// As [`Self::check_combines`]; [`SchemeError::NoSuchLevel`].
    pub fn dry_encryption_at(&self, level: usize) -> Result<DryValue, SchemeError> {
        self.check_combines()?;
        self.check_level(level)?;
        let state = State { level, ..self.fresh_state(Encryption::SecretKey) };
        Ok(DryValue { state, depth: 0 })
    }

    /// [`Self::sum_of_products`].
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`]; [`SchemeError::Parameter`] without a product.
    pub fn dry_sum_of_products(
        &self,
        products: &[(&DryValue, Option<&DryValue>)],
        others: &[&DryValue],
    ) -> Result<(DryValue, Work), SchemeError> {
        if products.is_empty() {
            return refuse("products", "[]", "give at least one product");
        }
        let states: Vec<_> =
            products.iter().map(|(a, b)| (&a.state, b.map(|b| &b.state))).collect();
        let rest: Vec<_> = others.iter().map(|c| &c.state).collect();
        let by = &mut DryRun::of(self);
        let sum = self.sum_at_one_level(by, &states, &rest)?;
        let state = by.relinearised(&sum, self.level_below(&sum)?)?;
        let factors = products.iter().flat_map(|(a, b)| std::iter::once(*a).chain(*b));
        let depths = factors.map(|a| a.depth + 1).chain(others.iter().map(|c| c.depth));
        Ok((DryValue { state, depth: depths.max().unwrap_or(0) }, by.work))
    }

    /// [`Self::carries`] of so many automorphisms.
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`].
    pub fn dry_carries(
        &self,
        generates: &DryValue,
        passes: &DryValue,
        steps: usize,
    ) -> Result<(DryValue, Work), SchemeError> {
        let by = &mut DryRun::of(self);
        let state = self.carries_by(by, &generates.state, &passes.state, &vec![0; steps])?;
        let depth = generates.depth.max(passes.depth) + steps;
        Ok((DryValue { state, depth }, by.work))
    }
}

#[cfg(test)]
mod tests {
    use hesc_math::AesCtrRng;
    use rand_core::{Rng, SeedableRng};

    use super::*;
    use crate::rlwe::Basis;
    use crate::rlwe::estimates::tests::set_of;

    /// Random programs: a dry run knows of each result what the ciphertext says, and is refused where it is.
    #[test]
    fn traces_say_what_ciphertexts_will() {
        let s = set_of(255, 3);
        let rng = &mut AesCtrRng::from_seed([9; 32]);
        let (secret, public) = s.generate_keys(rng);
        let relin = s.generate_relin_key(&secret, rng).unwrap();
        let along = s.dimension_element(0, 1).unwrap();
        let galois = s.generate_galois_keys(&secret, &[along], rng).unwrap();
        let numbers = |seed: i64| (0..s.slot_count() as i64).map(|i| i * seed % 3 % 2).collect();
        let plain =
            |seed| s.encode_integers(&Vec::<i64>::from_iter::<Vec<i64>>(numbers(seed))).unwrap();
        let (mut refused, mut made) = (0, 0);
        for program in 0..30 {
            let a = s.encrypt(&public, &plain(program), rng).unwrap();
            let b =
                s.expand(&s.encrypt_seeded(&secret, &plain(program + 1), rng).unwrap()).unwrap();
            let fresh = s.dry_encryption(Encryption::PublicKey).unwrap();
            assert_eq!(fresh.state.noise, a.state.noise);
            let mut values = vec![(a.clone(), fresh), (b.clone(), s.dry_value(&b).unwrap())];
            for _ in 0..40 {
                let mut pick = || rng.next_u32() as usize % values.len();
                let [j, k] = [pick(), pick()];
                // Of the last one: so it goes on until there is no noise budget.
                let i = values.len() - 1;
                let choice = rng.next_u32() % 6;
                let ((x, of_x), (y, of_y), (z, of_z)) = (&values[i], &values[j], &values[k]);
                let (found, traced) = match choice {
                    0 => (s.sum(x, y, false), s.dry_sum(of_x, of_y)),
                    1 => (s.add_plain(x, &plain(5)), s.dry_plus_plain(of_x, &plain(5))),
                    2 => (s.multiply_plain(x, &plain(7)), s.dry_times_plain(of_x, &plain(7))),
                    3 => (s.apply_galois(x, along, &galois), s.dry_image(of_x)),
                    4 => (
                        s.carries((&relin, &galois), x, y, &vec![along; 1 + k % 3]),
                        s.dry_carries(of_x, of_y, 1 + k % 3),
                    ),
                    _ => {
                        let (second, of_second) =
                            if i == j { (None, None) } else { (Some(y), Some(of_y)) };
                        (
                            s.sum_of_products(&relin, &[(x, second)], &[z]),
                            s.dry_sum_of_products(&[(of_x, of_second)], &[of_z]),
                        )
                    }
                };
                match (found, traced) {
                    (Ok(found), Ok((traced, work))) => {
                        assert_eq!(found.level(), traced.level());
                        assert_eq!(found.state.noise, traced.state.noise, "operation {choice}");
                        assert!(work.own.passes > 0.0);
                        values.push((found, traced));
                        made += 1;
                    }
                    (Err(_), Err(_)) => refused += 1,
                    (found, traced) => {
                        panic!("{choice}: {:?} and {:?}", found.is_ok(), traced.is_ok())
                    }
                }
            }
        }
        assert!(made > 200 && refused > 0, "{made} made, {refused} refused");
    }

    /// What states of unpacked bits allow for is no less than unpacked bits have, and packing takes no more noise budget than
    /// is said.
    #[test]
    fn packing_is_within_what_is_said_of_it() {
        let s = set_of(255, 6);
        let rng = &mut AesCtrRng::from_seed([8; 32]);
        let (secret, public) = s.generate_keys(rng);
        let galois =
            s.generate_galois_keys(&secret, &s.unpacking_elements().unwrap(), rng).unwrap();
        let d = s.field_slots().unwrap().ring().degree();
        let bits: Vec<u64> = (0..s.ring_degree() as u64).map(|i| i * i % 7 % 2).collect();
        let plain = s.encode_slots(Basis::Normal, &bits).unwrap();
        let all: Vec<usize> = (0..d).collect();
        for level in [None, Some(3), Some(2)] {
            let states = s.planned_unpacked(d, level).unwrap();
            let at = states[0].level();
            for a in [
                s.encrypt(&public, &plain, rng).unwrap(),
                s.expand(&s.encrypt_seeded(&secret, &plain, rng).unwrap()).unwrap(),
            ] {
                let unpacked = s.unpack(&a, Basis::Normal, &all, &galois, at).unwrap();
                for bit in &unpacked {
                    let claimed = s.planned_budget(&states[0]);
                    assert!(claimed <= s.noise_budget(bit) + 1e-9);
                    // As in `estimates`: a sample of roots scatters.
                    let scatter = 1.0 + 8.0 / s.degree().sqrt();
                    let measured = s.measured_deviation(&secret, bit);
                    assert!(measured <= scatter * bit.state.noise.deviation);
                }
                for columns in 1..=d {
                    let packed: Vec<&Ciphertext> = unpacked[..columns].iter().collect();
                    let lost =
                        s.noise_budget(&unpacked[0]) - s.noise_budget(&s.pack(&packed).unwrap());
                    assert!(lost <= s.packing_bits(columns).unwrap() + 1e-9, "{columns}: {lost}");
                }
            }
        }
        assert!(s.packing_bits(d + 1).is_err() && s.planned_unpacked(1, Some(99)).is_err());
    }
}
