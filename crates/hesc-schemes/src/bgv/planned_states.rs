//! What becomes of ciphertexts, before there are any: a plan's circuit on their states. The noise of encryptions that have
//! nothing in common is sampled ([`super::sampled`]), that of others bounded.

use std::collections::HashSet;
use std::sync::Arc;

use super::operations::Operation;
use super::sampled::{MARGIN, Samples, Sum};
use crate::error::refuse;
use crate::rlwe::ciphertext::State;
use crate::rlwe::levels::{Dropping, ModulusSwitch};
use crate::rlwe::noise::Noise;
use crate::rlwe::{Basis, Ciphertext, Encryption, Rlwe, Work};
use crate::{Fingerprint, SchemeError};

/// A ciphertext without its words, of any key: level and noise, which decide what can be done with it.
#[derive(Debug, Clone)]
pub struct PlannedState {
    params: Fingerprint,
    pub(super) state: State,
    /// What its noise may be; none where it is bounded.
    samples: Option<Samples>,
    /// Primes have been dropped for nothing to come to its level.
    pub(super) dropped: bool,
    /// What it was planned for; nothing of what a plan begins with.
    pub(super) operation: Option<Arc<Operation>>,
}

impl PlannedState {
    /// Which of the set's levels it is at; the lowest is 1.
    pub fn level(&self) -> usize {
        self.state.level
    }

    /// The state of a ciphertext that this is known of.
    pub(super) fn state_of(&self, a: &State) -> State {
        State { level: self.state.level, noise: self.state.noise, ..*a }
    }

    /// The same with noise that is bounded, in all states that are made of it too.
    pub fn bounded(&self) -> Self {
        Self { samples: None, ..self.clone() }
    }

    /// Whether its noise is sampled with that of others that it has nothing in common with, and so is another's, of the same
    /// parameters and level, which has as much or more.
    pub fn is_sampled_within(&self, other: &Self) -> bool {
        let sampled = self.samples.is_some() && other.samples.is_some();
        let comparable = self.params == other.params && self.state.level == other.state.level;
        sampled && comparable && self.state.noise.is_within(other.state.noise)
    }
}

/// How much of noise may be left of products so that products of it have tails as of degree 2, or 3.
const MOST_INHERITED: [f64; 2] = [std::f64::consts::FRAC_1_SQRT_2, 2.5];

/// Encryptions under the secret key whose messages, if they are all the same, are below their noise together.
const MOST_ALIKE: usize = 256;

impl Rlwe {
    /// What decides about operations on a ciphertext, whoever has its key.
    pub fn planned(&self, a: &Ciphertext) -> PlannedState {
        PlannedState { params: a.tag.params, ..self.planned_bounded(a.state) }
    }

    /// A state whose noise is bounded.
    pub(crate) fn planned_bounded(&self, state: State) -> PlannedState {
        let params = self.fingerprint();
        PlannedState { params, state, samples: None, dropped: false, operation: None }
    }

    /// The same of several. Encryptions as they were made, none of them twice, are taken for [`Self::planned_encryptions`]:
    /// their noise is sampled. That of others is bounded, whatever depends on what.
    pub fn planned_all(&self, all: &[&Ciphertext]) -> Vec<PlannedState> {
        let any = [Encryption::SecretKey, Encryption::PublicKey];
        let under = [&any[..1], &any].into_iter().find(|under| {
            let mut seen = HashSet::new();
            all.iter().all(|a| self.is_fresh(a, under) && seen.insert(self.excerpt(a)))
        });
        match under {
            Some([only]) => self.planned_encryptions(*only, all.len()),
            Some(_) => self.planned_encryptions(Encryption::PublicKey, all.len()),
            None => all.iter().map(|a| self.planned(a)).collect(),
        }
    }

    /// Whether a ciphertext is an encryption as it was made, under one of these keys.
    fn is_fresh(&self, a: &Ciphertext, under: &[Encryption]) -> bool {
        self.fresh_key(a).is_some_and(|key| under.contains(&key))
    }

    /// The key that a ciphertext was encrypted under, if it has the noise of an encryption to the last digit: sums have
    /// more.
    pub(super) fn fresh_key(&self, a: &Ciphertext) -> Option<Encryption> {
        let whole = a.level() == self.levels() && a.components() == 2;
        let own = a.tag.params == self.fingerprint();
        let is_noise_of = |key: &Encryption| self.fresh_state(*key).noise == a.state.noise;
        let mut keys = [Encryption::SecretKey, Encryption::PublicKey].into_iter();
        if own && whole { keys.find(is_noise_of) } else { None }
    }

    /// The noise of an encryption under a key that has nothing in common with others, its message counted as noise.
    pub(super) fn sampled_encryption(&self, under: Encryption) -> Noise {
        let message =
            self.norms().embedding_factor * self.planned_encryption().state.noise.magnitude;
        self.white(self.noise_factor() * self.fresh_deviation(under) + message)
    }

    /// A few words of a ciphertext's second component, the same for its negative, and for its sums with public numbers.
    fn excerpt(&self, a: &Ciphertext) -> [u64; 4] {
        let q = self.chain().level(a.level())[0].value();
        let row = a.residues().row(0, 1).words();
        let words = |at: usize| row[at % row.len()];
        let negative = words(0) > q / 2;
        std::array::from_fn(|at| if negative { (q - words(at)) % q } else { words(at) })
    }

    /// What is known of an encryption under the public key, which has more noise than one under the secret key.
    pub fn planned_encryption(&self) -> PlannedState {
        self.planned_bounded(self.fresh_state(Encryption::PublicKey))
    }

    /// What is known of encryptions that have nothing in common. Messages count as noise: their coefficients are
    /// smaller, and what they could be at one root of unity, if all were chosen for it, is below the noise under a
    /// public key. Under the secret key that holds for bits modulo 2, of which there are fewer than coefficients, and for
    /// few ciphertexts, whose messages may be the same; others are taken for encryptions under the public key.
    pub fn planned_encryptions(&self, under: Encryption, count: usize) -> Vec<PlannedState> {
        let bits = self.spec().plaintext.modulus() == 2;
        let under = if bits && count <= MOST_ALIKE { under } else { Encryption::PublicKey };
        let mut planned = self.planned_encryption();
        planned.state.noise = self.sampled_encryption(under);
        let deviation = planned.state.noise.deviation;
        let sampled = |at: usize| PlannedState {
            samples: Some(Samples::of_public_key(deviation, !(at as u64))),
            ..planned.clone()
        };
        (0..count).map(sampled).collect()
    }

    /// What is known of [`Self::public_ciphertext`]: noise as large as its coefficients. The seed is one for each.
    pub fn planned_public(&self, level: usize, seed: u64) -> PlannedState {
        let mut planned = self.planned_encryption();
        let deviation = self.norms().embedding_factor * planned.state.noise.magnitude;
        // Nothing that is read claims less than an encryption has: a public number does not either.
        planned.state.noise = self.white(deviation.max(self.least_deviation()));
        planned.state.level = level;
        let samples = Some(Samples::with_secret(deviation, seed));
        PlannedState { samples, ..planned }
    }

    /// Noise that was bounded, with a deviation that was sampled.
    fn with_samples(&self, bounded: Noise, samples: Option<&Sum>) -> Noise {
        match samples {
            Some(samples) => self.of_deviation(bounded, MARGIN * samples.deviation()),
            None => bounded,
        }
    }

    /// What is known of so many outputs of [`Self::unpack`], of encryptions under the public key by
    /// [`Basis::Normal`], at a level or where they have the most noise budget as factors. Outputs of one ciphertext have its noise
    /// in common: it is bounded, whatever depends on what.
    ///
    /// # Errors
    /// As [`Self::check_combines`], [`Self::unpacking_level`] and [`Self::unpack`]; [`SchemeError::NoSuchLevel`].
    pub fn planned_unpacked(
        &self,
        count: usize,
        level: Option<usize>,
    ) -> Result<Vec<PlannedState>, SchemeError> {
        self.check_combines()?;
        let fresh = self.fresh_state(Encryption::PublicKey);
        let level = match level {
            Some(level) => level,
            None => self.level_of_unpacked(&fresh, Basis::Normal)?,
        };
        self.check_level(level)?;
        let d = self.field_slots()?.ring().degree();
        let size = self.constant_of(Basis::Normal, 0)?.size;
        let output = self.unpacked_state(&fresh, size, d, level)?;
        Ok(vec![self.planned_bounded(output); count])
    }

    /// What [`Self::lower`] of a ciphertext costs.
    pub fn work_of_lowering(&self, from: &PlannedState, to: &PlannedState) -> Work {
        self.work_of_switch(from.level(), to.level(), to.dropped)
    }

    /// Noise budget, in bits, before an operation is refused.
    pub fn planned_budget(&self, a: &PlannedState) -> f64 {
        self.budget_of(&a.state)
    }

    /// How many products in sequence the noise budget allows, each of two results of the one before.
    pub fn planned_depth(&self, a: &PlannedState) -> usize {
        self.products_in_sequence(a.state)
    }

    /// What is known of [`Self::lower`]'s result: primes are dropped for nothing where that leaves as much noise budget. The
    /// seed is one for each ciphertext and level.
    ///
    /// # Errors
    /// The same; [`SchemeError::NoiseBudget`].
    pub fn planned_lower(
        &self,
        a: &PlannedState,
        level: usize,
        seed: u64,
    ) -> Result<PlannedState, SchemeError> {
        self.check_params(a.params)?;
        Self::check_lower(&a.state, level)?;
        let operation = Some(planned_for(a, &[], &[(1, a)], 0));
        let Some(samples) = &a.samples else {
            let ModulusSwitch { state, dropped } =
                self.modulus_switch(&a.state, level, Dropping::NoWorse)?;
            return Ok(PlannedState { dropped, operation, ..self.planned_bounded(state) });
        };
        if level == a.level() {
            return Ok(a.clone());
        }
        let divided = self.divided_state(&a.state, level).and_then(|state| {
            self.planned_division(state, Sum::of(samples), (a.level(), self.rounding(2)), seed)
        });
        // Plans are made for what is sampled: what less noise would do does not matter.
        let dropping = Dropping::ForSpeed;
        let known = divided.as_ref().ok().map(|divided| &divided.state);
        match self.dropped_instead(&a.state, level, dropping, known) {
            Some(state) => Ok(PlannedState { state, dropped: true, operation, ..a.clone() }),
            None => Ok(PlannedState { operation, ..divided? }),
        }
    }

    /// What a division has left, with noise of a deviation that it adds to what was sampled; refused if it does not fit.
    fn planned_division(
        &self,
        state: State,
        mut samples: Sum,
        (from, rounding): (usize, f64),
        seed: u64,
    ) -> Result<PlannedState, SchemeError> {
        if from != state.level {
            samples.divide(self.chain().division(from, state.level).quotient.value());
        }
        let inherited = samples.deviation();
        samples.add(1.0, &Samples::with_secret(rounding, seed));
        let mut noise = self.with_samples(state.noise, Some(&samples));
        // Products of two, and of what is left of theirs: see `norm_excess`.
        if inherited <= MOST_INHERITED[1] * rounding {
            noise.degree = noise.degree.min(3);
        }
        if inherited <= MOST_INHERITED[0] * rounding {
            noise.degree = noise.degree.min(2);
        }
        let state = self.checked(State { noise, ..state })?;
        Ok(PlannedState { samples: Some(samples.finish()), ..self.planned_bounded(state) })
    }

    /// What [`Self::combination`] makes of states.
    ///
    /// # Errors
    /// The same, and [`SchemeError::NoiseBudget`] if the sum could not be decrypted.
    pub fn planned_combination(
        &self,
        terms: &[(i64, &PlannedState)],
        constant: i64,
    ) -> Result<PlannedState, SchemeError> {
        let Some(&(_, first)) = terms.first() else { return no_terms() };
        let (state, samples) = self.planned_sum(first, &[], terms, constant)?;
        let samples = samples.map(Sum::finish);
        let operation = Some(planned_for(first, &[], terms, constant));
        Ok(PlannedState { samples, operation, ..self.planned_bounded(state) })
    }

    /// What [`Self::combination_of_products`] makes of states, at a level. The seed is one for each sum.
    ///
    /// # Errors
    /// The same; [`SchemeError::NoiseBudget`] if the sum could not be decrypted; [`SchemeError::LastLevel`] for a level
    /// above theirs.
    pub fn planned_products(
        &self,
        products: &[(i64, &PlannedState, &PlannedState)],
        (terms, constant): (&[(i64, &PlannedState)], i64),
        level: usize,
        seed: u64,
    ) -> Result<PlannedState, SchemeError> {
        let Some(&(_, first, _)) = products.first() else { return no_products() };
        let (sum, samples) = self.planned_sum(first, products, terms, constant)?;
        let state = self.relinearised_state(&sum, level)?;
        let operation = Some(planned_for(first, products, terms, constant));
        let Some(samples) = samples else {
            return Ok(PlannedState { operation, ..self.planned_bounded(state) });
        };
        // Of two roundings the first is divided with the rest.
        let (from, rounding) = (first.level(), self.rounding(2));
        let mut left = rounding + self.key_deviation(from);
        if level < from {
            left = rounding + left / self.chain().division(from, level).quotient.value();
        }
        let divided = self.planned_division(state, samples, (from, left), seed)?;
        Ok(PlannedState { operation, ..divided })
    }

    /// The state of a sum of products, multiples and a constant, before it is relinearised, and its noise, if that of all
    /// operands is sampled. Integers of circuits are public, and count as they are: [`Self::times_integer_state`] hides
    /// those of others.
    fn planned_sum(
        &self,
        first: &PlannedState,
        products: &[(i64, &PlannedState, &PlannedState)],
        terms: &[(i64, &PlannedState)],
        constant: i64,
    ) -> Result<(State, Option<Sum>), SchemeError> {
        let factors = products.iter().flat_map(|&(_, a, b)| [a, b]);
        self.check_planned(factors.chain(terms.iter().map(|&(_, a)| a)), first)?;
        let samples = self.sum_of_samples(products, terms);
        let mut noise = Noise::message(constant.unsigned_abs() as f64);
        for &(k, a) in terms {
            noise = noise.plus(a.state.noise.times(k.unsigned_abs() as f64));
        }
        for &(k, a, b) in products {
            let (a, b) = (&a.state, &b.state);
            let product = match &samples {
                Some(_) => self.product_with_constants(a, b),
                None => self.operations().product_noise(self, a, b),
            };
            noise = noise.plus(product.times(k.unsigned_abs() as f64));
        }
        let noise = self.with_samples(noise, samples.as_ref());
        let components = if products.is_empty() { 2 } else { 3 };
        Ok((self.checked(State { components, noise, ..first.state })?, samples))
    }

    /// [`Self::check_summands`] of states.
    fn check_planned<'a>(
        &self,
        mut all: impl Iterator<Item = &'a PlannedState>,
        first: &PlannedState,
    ) -> Result<(), SchemeError> {
        all.try_for_each(|a| {
            self.check_params(a.params)?;
            Self::check_levels(&first.state, &a.state)?;
            Self::require_two_components(&a.state, "a circuit")
        })
    }

    /// The noise of a product of states that are sampled: their magnitudes are those of constants, which have the same
    /// value at each root.
    fn product_with_constants(&self, a: &State, b: &State) -> Noise {
        let (x, y) = (a.noise.magnitude, b.noise.magnitude);
        let [one, other] = [a, b].map(|a| State { noise: a.noise.of_message(0.0), ..*a });
        self.operations()
            .product_noise(self, &one, &other)
            .plus(one.noise.times_exactly(y))
            .plus(other.noise.times_exactly(x))
            .plus(Noise::message(x * y))
    }

    /// Sampled noise of a sum of products and ciphertexts, if that of all is sampled.
    fn sum_of_samples(
        &self,
        products: &[(i64, &PlannedState, &PlannedState)],
        terms: &[(i64, &PlannedState)],
    ) -> Option<Sum> {
        let root = self.degree().sqrt();
        let mut sum = Sum::new();
        for &(k, a, b) in products {
            let (k, x, y) = (k as f64, a.samples.as_ref()?, b.samples.as_ref()?);
            sum.add_product(k * root, x, y);
            for (x, constant) in [(x, b.state.noise.magnitude), (y, a.state.noise.magnitude)] {
                if constant > 0.0 {
                    sum.add(k * constant, x);
                }
            }
        }
        for &(k, a) in terms {
            sum.add(k as f64, a.samples.as_ref()?);
        }
        Some(sum)
    }
}

/// What a state is planned for, of operands at the level of the first.
fn planned_for(
    first: &PlannedState,
    products: &[(i64, &PlannedState, &PlannedState)],
    terms: &[(i64, &PlannedState)],
    constant: i64,
) -> Arc<Operation> {
    let noise = |a: &PlannedState| a.state.noise;
    Arc::new(Operation::of(first.level(), products, terms, constant, noise))
}

pub(super) fn no_terms<T>() -> Result<T, SchemeError> {
    refuse("terms", "[]", "give at least one ciphertext")
}

pub(super) fn no_products<T>() -> Result<T, SchemeError> {
    refuse("products", "[]", "give at least one product")
}

#[cfg(test)]
mod tests {
    use hesc_math::{AesCtrRng, RingIndex};
    use rand_core::{Rng as _, SeedableRng as _};

    use super::super::sampled::OUTLIER;
    use super::*;
    use crate::Assurance;
    use crate::rlwe::{Plaintext, PlaintextSpace, PrimeSet, RelinKey, SchemeKind, Spec};

    /// A set for bits whose levels are near each other: much is left of products.
    fn set(index: usize, large: u32, small: u32) -> Rlwe {
        let ring = RingIndex::new(index).unwrap();
        let bits = [&[50][..], &[large; 5], &[small]].concat();
        let mut special_moduli = ring.ntt_primes_of_bits(&bits, 2).unwrap();
        let coeff_moduli = special_moduli.split_off(1);
        let levels = PrimeSet::combinations(&coeff_moduli, 5).unwrap();
        let plaintext = PlaintextSpace::Integers { plain_modulus: 2 };
        let scheme = SchemeKind::Bgv;
        let (bound, packing) = (1.0, None);
        let spec =
            Spec { scheme, ring, coeff_moduli, levels, special_moduli, plaintext, bound, packing };
        Rlwe::new(spec, Assurance::Insecure).unwrap()
    }

    /// A ciphertext and what is known of it.
    type Known = (Ciphertext, PlannedState);

    /// Operations on random operands, over and over, and some of them twice: sums with themselves, squares, products that
    /// share factors, of which much is left at every other level: more than plans leave. What is sampled is never below
    /// what is measured, and at typical roots at most a bit above.
    #[test]
    fn sampled_deviations_are_near_those_of_ciphertexts() {
        for (index, large, small, seed) in
            [(4369, 36, 24, 1), (4369, 36, 24, 2), (13107, 40, 27, 3)]
        {
            let s = set(index, large, small);
            let rng = &mut AesCtrRng::from_seed([seed; 32]);
            let (secret, public) = s.generate_keys(rng);
            let relin = s.generate_relin_key(&secret, rng).unwrap();
            let fresh = |rng: &mut AesCtrRng| {
                let bits: Vec<i64> =
                    (0..s.slot_count()).map(|_| (rng.next_u32() & 1).into()).collect();
                s.encrypt(&public, &s.encode_integers(&bits).unwrap(), rng).unwrap()
            };
            let mut all: Vec<Known> = (0..6)
                .map(|_| fresh(rng))
                .zip(s.planned_encryptions(Encryption::PublicKey, 6))
                .collect();
            let (mut made, mut compared) = (0, 0);
            for level in (1..s.levels()).rev() {
                let next: Vec<Known> = (0..8)
                    .filter_map(|_| {
                        made += 1;
                        product(&s, &relin, &all, (level, made), rng)
                    })
                    .collect();
                compared += next.len();
                let twice = next.first().cloned();
                all = all
                    .iter()
                    .enumerate()
                    .take(4)
                    .map(|(i, (a, known))| {
                        let seed = ((i as u64) << 32) + level as u64;
                        let known = s.planned_lower(known, level, seed).unwrap();
                        (s.lower(a, &known).unwrap(), known)
                    })
                    .collect();
                all.extend(next);
                all.extend(twice);
                let scatter = 1.0 + 8.0 / s.degree().sqrt();
                for (a, known) in &all {
                    let measured = s.measured_deviation(&secret, a);
                    let excess = (known.state.noise.deviation / measured).log2();
                    assert!(excess > -scatter.log2(), "{index}: {excess} bits too low");
                    let typical = Sum::of(known.samples.as_ref().unwrap()).typical();
                    let excess = (MARGIN * typical / measured).log2();
                    assert!(excess < 1.0 + scatter.log2(), "{index}: {excess} bits too high");
                }
            }
            assert!(compared >= 50, "{compared} of {made} had a noise budget");
        }
    }

    /// Noise at a root where the secret and remainders are as large as they get, which is what Euclidean norms allow
    /// for: where `u` and `v_1 ... v_m` are sizes of complex Gaussian numbers, all `u^2 + v_1^2 + ... + v_m^2` have a
    /// probability of `2^-128` to be 89 and more. What is left of a product of `m` remainders with one secret is
    /// largest there for `u^2 = m v_i^2`.
    #[test]
    fn what_is_left_of_products_has_no_longer_tails_than_claimed() {
        const SUM_OF_SQUARES: f64 = 128.0 * std::f64::consts::LN_2;
        let s = set(255, 36, 24);
        let (level, rounding) = (s.levels(), s.rounding(2));
        let mut degrees = Vec::new();
        for factors in [2, 3, 4] {
            let product = (1..factors).fold(Samples::with_secret(1.0, 1), |product, seed| {
                let mut sum = Sum::new();
                sum.add_product(1.0, &product, &Samples::with_secret(1.0, 1 + seed));
                sum.finish()
            });
            for share in (1..=60).map(|tenths| 0.1 * f64::from(tenths)) {
                let mut left = Sum::new();
                left.add(1.0, &product);
                left.divide(left.deviation() / (share * rounding));
                left.divide(left.deviation() / (share * rounding));
                let most = left.deviation();
                assert!((most / (share * rounding) - 1.0).abs() < 1e-9 && left.typical() < most);
                let degree = 2 * factors as u32;
                let state = State {
                    noise: Noise { degree, ..s.white(most) },
                    ..s.fresh_state(Encryption::PublicKey)
                };
                let known = s.planned_division(state, left, (level, rounding), 99).unwrap();
                let noise = known.state.noise;
                degrees.push(noise.degree);
                // At roots with |s(z)| = OUTLIER it is `2 OUTLIER` times what counts.
                let m = f64::from(factors as u32);
                let (u, v) = ((SUM_OF_SQUARES / 2.0).sqrt(), (SUM_OF_SQUARES / (2.0 * m)).sqrt());
                let largest = 2.0 * OUTLIER * most * (u / OUTLIER).powf(m) * v.powf(m);
                // A pair of conjugate roots has that.
                let norm = 2.0 / s.degree() * largest * largest;
                let squared = s.norms().coefficient_factor.powi(2) * s.degree();
                let claimed = s.convolved(noise, noise).infinity_norm / squared;
                assert!(
                    norm <= claimed,
                    "{factors}, {share:.1}: {norm} where {claimed} is claimed"
                );
            }
        }
        for degree in [2, 3, 4, 6, 8] {
            assert!(degrees.contains(&degree), "{degree}");
        }
    }

    /// Encryptions that share nothing; of all others the noise is bounded.
    #[test]
    fn only_encryptions_that_share_nothing_are_sampled() {
        let s = set(255, 36, 24);
        let rng = &mut AesCtrRng::from_seed([9; 32]);
        let (secret, public) = s.generate_keys(rng);
        let plain = s.encode_integers(&[1, 0, 1]).unwrap();
        let [a, b] = [(); 2].map(|()| s.encrypt(&public, &plain, rng).unwrap());
        let own = s.expand(&s.encrypt_seeded(&secret, &plain, rng).unwrap()).unwrap();
        let sampled = |all: &[&Ciphertext]| s.planned_all(all).iter().all(|a| a.samples.is_some());
        assert!(sampled(&[&a, &b]) && sampled(&[&a, &own]) && sampled(&[&own]));
        let negative = s.negate(&a).unwrap();
        let added = s.add_plain(&a, &plain).unwrap();
        for again in [&a, &negative, &added] {
            assert!(!sampled(&[&a, &b, again]));
        }
        // Nor where its bytes say that it has the noise of an encryption.
        let said = Ciphertext { state: a.state, ..added };
        assert!(!sampled(&[&a, &b, &said]));
        let sum = s.add(&own, &own).unwrap();
        let lower = s.mod_switch(&a).unwrap();
        for other in [&sum, &lower, &s.square(&a).unwrap()] {
            assert!(!sampled(&[other]));
        }
        // What is made for the secret key's noise is for no other.
        let [less, more] = [Encryption::SecretKey, Encryption::PublicKey].map(|under| {
            let mut states = s.planned_encryptions(under, 1);
            states.remove(0)
        });
        assert!(less.is_sampled_within(&more) && !more.is_sampled_within(&less));
        // Nor is what is bounded for one that is sampled, whatever little noise it has.
        assert!(!s.planned(&a).is_sampled_within(&more));
        assert!(
            !less.bounded().is_sampled_within(&more) && !more.is_sampled_within(&more.bounded())
        );
        // Of multiples the bound is one, and with what they have in common.
        let bounded = s.planned(&own);
        let known = s.planned_combination(&[(-2, &bounded), (3, &bounded)], 1).unwrap();
        assert!(known.state.noise.deviation >= 4.99 * bounded.state.noise.deviation);
        // What is known of a sum at one level is known of none at another.
        let result = s.combination(&[(-2, &lower), (3, &lower)], 1, &known).map(drop);
        let levels = [lower.level(), known.level()];
        assert_eq!(
            result,
            Err(SchemeError::LevelMismatch { expected: levels[0], found: levels[1] })
        );
    }

    /// Public numbers that are all equal have as many signs of either kind as chance gives: 64 of 128, for a random
    /// seed within six deviations but for 2e-9.
    #[test]
    fn public_numbers_have_signs_at_random() {
        let s = set(255, 36, 24);
        let rng = &mut AesCtrRng::from_seed([4; 32]);
        let (_, public) = s.generate_keys(rng);
        let beside = s.encrypt(&public, &s.encode_integers(&[1]).unwrap(), rng).unwrap();
        let ones = Plaintext::integers(s.fingerprint(), vec![1; s.ring_degree()]);
        let made = s.public_ciphertext(&ones, &beside, (1, 7)).unwrap();
        let prime = &s.chain().level(1)[0];
        let mut row = made.polys.row(0, 0).words().to_vec();
        prime.inverse(&mut row);
        assert!(row.iter().all(|&x| x == 1 || x == prime.value() - 1));
        let positive = row.iter().filter(|&&x| x == 1).count();
        assert!(positive.abs_diff(64) < 34, "{positive}");
    }

    /// Messages of more than 256 encryptions, which may all be the same, would be above their noise under the secret key.
    #[test]
    fn many_encryptions_under_the_secret_key_are_taken_for_public_ones() {
        let s = set(255, 36, 24);
        let deviation = |under, count| s.planned_encryptions(under, count)[0].state.noise.deviation;
        for (count, few) in [(1, true), (256, true), (257, false), (1000, false)] {
            let own = deviation(Encryption::SecretKey, count);
            let public = deviation(Encryption::PublicKey, count);
            assert_eq!(own < public, few, "{count}");
            assert!(own <= public);
        }
    }

    /// A sum of products of sums of what there is, one level down.
    fn product(
        s: &Rlwe,
        relin: &RelinKey,
        all: &[Known],
        (level, seed): (usize, u64),
        rng: &mut AesCtrRng,
    ) -> Option<Known> {
        let sum = |rng: &mut AesCtrRng| {
            let terms: Vec<&Known> = (0..=rng.next_u32() % 4)
                .map(|_| &all[rng.next_u32() as usize % all.len()])
                .collect();
            let states: Vec<_> = terms.iter().map(|(_, known)| (1, known)).collect();
            let words: Vec<_> = terms.iter().map(|(a, _)| (1, a)).collect();
            let known = s.planned_combination(&states, 1).unwrap();
            (s.combination(&words, 1, &known).unwrap(), known)
        };
        let factors: Vec<(Known, Known)> =
            (0..=rng.next_u32() % 2).map(|_| (sum(rng), sum(rng))).collect();
        let terms = sum(rng);
        let states: Vec<_> = factors.iter().map(|(a, b)| (1, &a.1, &b.1)).collect();
        let words: Vec<_> = factors.iter().map(|(a, b)| (1, &a.0, &b.0)).collect();
        let known = s.planned_products(&states, (&[(1, &terms.1)], 0), level, seed).ok()?;
        let made = s.combination_of_products(relin, &words, (&[(1, &terms.0)], 0), &known).unwrap();
        Some((made, known))
    }
}
