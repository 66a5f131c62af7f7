//! Sums of products at levels that a plan says: what circuits on slots are made of. What becomes of their noise is known
//! before ([`super::planned_states`]).
//!
//! For sets whose primes are 1 modulo the plaintext modulus: all others change the factor on plaintexts from level to
//! level, and sums of ciphertexts that came down in different ways would cost noise budget.

use hesc_math::ring::{Eval, Prime};

use super::planned_states::{PlannedState, no_products, no_terms};
use super::sampled::SplitMix;
use crate::SchemeError;
use crate::error::refuse;
use crate::rlwe::buffer::KeptBuffers;
use crate::rlwe::ciphertext::State;
use crate::rlwe::levels::ModulusSwitch;
use crate::rlwe::noise::Noise;
use crate::rlwe::polys::Polys;
use crate::rlwe::residues::{Blank, Rows, RowsMut, Stored};
use crate::rlwe::{Ciphertext, Plaintext, RelinKey, Rlwe, SchemeKind};

/// A product with an integer factor.
type Product<'a> = (i64, &'a Ciphertext, &'a Ciphertext);
/// A multiple of a ciphertext.
type Multiple<'a> = (i64, &'a Ciphertext);

/// What sets without it are told.
const NEED_BGV: &str = "circuits on slots need BGV with special primes: take a preset \"bgv_...\"";

impl Rlwe {
    /// Refuses sets that no circuit is planned for.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] unless the scheme is BGV, has special primes, and all others are 1 modulo the
    /// plaintext modulus.
    pub fn check_combines(&self) -> Result<(), SchemeError> {
        let spec = self.spec();
        self.check_bgv()?;
        if spec.special_moduli.is_empty() {
            return refuse("scheme", spec.scheme.name(), NEED_BGV);
        }
        let t = spec.plaintext.modulus();
        match spec.coeff_moduli.iter().find(|&q| q % t != 1) {
            None => Ok(()),
            Some(q) => refuse(
                "coeff_moduli",
                q,
                "circuits on slots need primes that are 1 modulo the plaintext modulus, as those of presets are",
            ),
        }
    }

    /// Refuses other schemes, whose ciphertexts are coefficients or have scales.
    fn check_bgv(&self) -> Result<(), SchemeError> {
        match self.spec().scheme {
            SchemeKind::Bgv => Ok(()),
            other => refuse("scheme", other.name(), NEED_BGV),
        }
    }

    /// Public numbers as a ciphertext beside another, at a level. Coefficients are given signs at random, so that
    /// numbers that are alike do not add up to more than their size anywhere: only their residues matter.
    ///
    /// Cost: a transform for each prime.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::NoSuchLevel`].
    pub fn public_ciphertext(
        &self,
        numbers: &Plaintext,
        beside: &Ciphertext,
        (level, seed): (usize, u64),
    ) -> Result<Ciphertext, SchemeError> {
        self.check_bgv()?;
        self.check_params(numbers.params)?;
        self.check_level(level)?;
        let t = self.spec().plaintext.modulus();
        let mut generator = SplitMix::new(seed);
        // `x` or `x - t`, such that their mean is zero.
        let signed: Vec<i64> = numbers
            .words
            .iter()
            .map(|&x| if generator.below(t) < x { x as i64 - t as i64 } else { x as i64 })
            .collect();
        let primes = self.chain().level(level);
        let polys = Polys::take(primes.len(), 2, self.ring_degree());
        let polys = polys.map_pairs(0, |_, prime, _, [c_0, c_1]| {
            let q = &primes[prime];
            [self.domain().store_coefficients(c_0.reduce_signed(&signed, q), q), c_1.zero()]
        });
        let state = self.planned_public(level, seed).state;
        Ok(Ciphertext { tag: beside.tag, state, polys })
    }

    /// Refuses ciphertexts that do not belong together, or not to the key.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`]; [`SchemeError::NotRelinearised`].
    pub fn check_inputs(&self, relin: &RelinKey, all: &[&Ciphertext]) -> Result<(), SchemeError> {
        for a in all {
            self.check_ciphertext(a)?;
            relin.0.tag.check(self.fingerprint(), Some(a.tag))?;
            Self::require_two_components(&a.state, "a circuit")?;
        }
        Self::check_factors(all.iter().copied())
    }

    /// Refuses a ciphertext that is no input of a circuit, or not one beside another.
    ///
    /// # Errors
    /// As [`Self::check_inputs`].
    pub fn check_bit(
        &self,
        a: &Ciphertext,
        beside: Option<&Ciphertext>,
    ) -> Result<(), SchemeError> {
        a.tag.check(self.fingerprint(), Some(beside.unwrap_or(a).tag))?;
        Self::require_two_components(&a.state, "a circuit")?;
        Self::check_factors(std::iter::once(a))
    }

    /// Keeps memory of ciphertexts that are dropped, up to so many bytes, as long as the result lives.
    pub fn keep_buffers(&self, bytes: usize) -> KeptBuffers {
        KeptBuffers::new(bytes / size_of::<u64>())
    }

    /// Words of a ciphertext of a level.
    pub fn ciphertext_words(&self, level: usize) -> usize {
        2 * self.ring_degree() * self.chain().level(level).len()
    }

    /// `a` at a level not above its own, that of its [`Self::planned_lower`]: divided, or without the primes that
    /// the level has not.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`]; [`SchemeError::LastLevel`] for a level above the ciphertext's, or none;
    /// [`SchemeError::NotRelinearised`]; [`SchemeError::Parameter`] for a state that was not planned for this.
    pub fn lower(&self, a: &Ciphertext, planned: &PlannedState) -> Result<Ciphertext, SchemeError> {
        let level = planned.level();
        self.check_ciphertext(a)?;
        Self::check_lower(&a.state, level)?;
        let at_level = level == a.level() && self.stands_for(a, planned.state.noise);
        if !at_level {
            self.check_planned_for(planned, &[], &[(1, a)], 0)?;
        }
        let state = planned.state_of(&a.state);
        Ok(self.apply_switch(a, ModulusSwitch { state, dropped: planned.dropped }))
    }

    /// Refuses a state that was planned for another operation, or for operands with less noise.
    fn check_planned_for(
        &self,
        planned: &PlannedState,
        products: &[Product<'_>],
        terms: &[Multiple<'_>],
        constant: i64,
    ) -> Result<(), SchemeError> {
        let stands = |a: &Ciphertext, level, noise| a.level() == level && self.stands_for(a, noise);
        match &planned.operation {
            Some(operation) if operation.is(products, terms, constant, stands) => Ok(()),
            _ => refuse(
                "planned",
                format!("a state at level {}", planned.level()),
                "give the state that was planned for this operation and these operands",
            ),
        }
    }

    /// Whether a ciphertext has the noise that a plan counts on, or less. That of an encryption as it was made is planned by
    /// [`Self::planned_encryptions`].
    fn stands_for(&self, a: &Ciphertext, noise: Noise) -> bool {
        let fresh = || self.fresh_key(a).map(|key| self.sampled_encryption(key));
        a.state.noise.is_within(noise) || fresh().is_some_and(|fresh| fresh.is_within(noise))
    }

    pub(super) fn check_lower(a: &State, level: usize) -> Result<(), SchemeError> {
        Self::require_two_components(a, "a circuit")?;
        Self::check_reachable(a, level)
    }

    /// `sum k_i a_i + constant`, the constant in every slot; all at one level.
    ///
    /// Cost: a pass for each summand.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] without summands, and for a state that was not planned for this sum
    /// ([`Self::planned_combination`], [`Self::planned_products`]); [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`],
    /// [`SchemeError::LevelMismatch`], [`SchemeError::NotRelinearised`]; [`SchemeError::NoiseBudget`] if the sum could
    /// not be decrypted.
    pub fn combination(
        &self,
        terms: &[Multiple<'_>],
        constant: i64,
        planned: &PlannedState,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_bgv()?;
        let Some(&(_, first)) = terms.first() else { return no_terms() };
        self.check_summands(terms.iter().map(|&(_, a)| a), first)?;
        Self::check_levels(&first.state, &planned.state)?;
        self.check_planned_for(planned, &[], terms, constant)?;
        let state = planned.state_of(&first.state);
        let primes = self.chain().level(state.level);
        let sum = Polys::take(primes.len(), 2, self.ring_degree());
        let polys = sum.map_primes_in_pass(0, |_, prime, out| {
            let (plus, minus) = units(terms, prime);
            let sum = out.sum(&plus, &minus, &primes[prime]);
            self.add_multiples(sum, terms, constant, prime, &primes[prime])
        });
        Ok(Ciphertext { tag: first.tag, state, polys })
    }

    /// `sum k_i a_i b_i + sum k_i a_i + constant`, all at one level: relinearised once, and brought down to another
    /// level in the same division.
    ///
    /// Cost: a pass for each product and summand, then [`Self::relinearise_to`].
    ///
    /// # Errors
    /// As [`Self::combination`], of which [`SchemeError::Parameter`] is without products; [`SchemeError::LastLevel`]
    /// for a level above theirs.
    pub fn combination_of_products(
        &self,
        relin: &RelinKey,
        products: &[Product<'_>],
        (terms, constant): (&[Multiple<'_>], i64),
        planned: &PlannedState,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_bgv()?;
        let Some(&(_, first, _)) = products.first() else { return no_products() };
        relin.0.tag.check(self.fingerprint(), Some(first.tag))?;
        Self::check_lower(&first.state, planned.level())?;
        let factors = products.iter().flat_map(|&(_, a, b)| [a, b]);
        self.check_summands(factors.chain(terms.iter().map(|&(_, a)| a)), first)?;
        self.check_planned_for(planned, products, terms, constant)?;
        let sum = match *products {
            [(1, a, b)] => self.tensors(a, (!std::ptr::eq(a, b)).then_some(b)),
            _ => self.sum_of_tensors(products, first.level()),
        };
        let primes = self.chain().level(first.level());
        let polys = sum.map_primes_in_pass(0, |_, prime, mut rows| {
            let ((mut sum, _), (plus, minus)) = (rows.reborrow().split_at(2), units(terms, prime));
            sum.add_rows(&plus, &minus, &primes[prime]);
            let _ = self.add_multiples(sum, terms, constant, prime, &primes[prime]);
            rows
        });
        let sum =
            Ciphertext { tag: first.tag, state: State { components: 3, ..first.state }, polys };
        let state = planned.state_of(&first.state);
        let polys = self.relinearised_polys(&sum, relin, state.level);
        Ok(Ciphertext { tag: first.tag, state, polys })
    }

    /// Refuses what does not go into one sum, before it is made.
    fn check_summands<'a>(
        &self,
        mut all: impl Iterator<Item = &'a Ciphertext>,
        first: &Ciphertext,
    ) -> Result<(), SchemeError> {
        all.try_for_each(|a| {
            self.check_operands(first, a)?;
            Self::require_two_components(&a.state, "a circuit")
        })
    }

    /// Refuses ciphertexts with a factor, which only bytes that lie have where no prime changes it.
    fn check_factors<'a>(mut all: impl Iterator<Item = &'a Ciphertext>) -> Result<(), SchemeError> {
        match all.find(|a| a.state.factor != 1) {
            None => Ok(()),
            Some(a) => refuse(
                "factor",
                a.state.factor,
                "ciphertexts of these parameters have none: encrypt again",
            ),
        }
    }

    /// Adds multiples by other integers than 1 and -1, and a constant, modulo a prime.
    fn add_multiples<'r>(
        &self,
        mut sum: RowsMut<'r, Stored>,
        terms: &[Multiple<'_>],
        constant: i64,
        prime: usize,
        q: &Prime,
    ) -> RowsMut<'r, Stored> {
        for &(k, a) in terms.iter().filter(|&&(k, _)| k.abs() != 1) {
            sum.add_scaled(a.residues().at(prime), q.factor(q.modulus().reduce_signed(k)), q);
        }
        if constant == 0 {
            return sum;
        }
        sum.map_first(|c_0| {
            let mut c_0 = self.domain().evaluations(c_0, q);
            c_0.add_constant(q.modulus().reduce_signed(constant), q);
            self.domain().store_evaluations(c_0, q)
        })
    }

    /// The sum of products with factors, of three components.
    fn sum_of_tensors(&self, products: &[Product<'_>], level: usize) -> Polys<Stored> {
        let primes = self.chain().level(level);
        let mut factors: Vec<i64> = products.iter().map(|&(k, ..)| k).collect();
        factors.sort_unstable();
        factors.dedup();
        let Some((&first, others)) = factors.split_first() else { unreachable!() };
        // One factor is all there is nearly always.
        let scratch = if others.is_empty() { 0 } else { 3 };
        let sums = Polys::take(primes.len(), 3, self.ring_degree());
        sums.map_primes_in_pass(scratch, |mut scratch, prime, out| {
            let q = &primes[prime];
            let mut sum = self.products_with(first, products, out, prime, q);
            for &factor in others {
                let more = self.products_with(factor, products, scratch.reborrow(), prime, q);
                sum.add_rows(&[more.rows()], &[], q);
            }
            sum.map(|_, row| self.domain().store_evaluations(row, q))
        })
    }

    /// The sum of the products with one factor, modulo a prime.
    fn products_with<'r>(
        &self,
        factor: i64,
        products: &[Product<'_>],
        out: RowsMut<'r, Blank>,
        prime: usize,
        q: &Prime,
    ) -> RowsMut<'r, Eval> {
        let own = products.iter().filter(|&&(k, ..)| k == factor);
        let pair = |c| self.evaluations_of(c).pair(prime, 0);
        let mut sum = out.sum_of_tensors(own.map(|&(_, a, b)| [pair(a), pair(b)]), q);
        if factor != 1 {
            sum.scale(q.factor(q.modulus().reduce_signed(factor)), q);
        }
        sum
    }
}

/// Ciphertexts that are added, and those that are subtracted, modulo a prime.
fn units<'a>(
    terms: &[Multiple<'a>],
    prime: usize,
) -> (Vec<Rows<'a, Stored>>, Vec<Rows<'a, Stored>>) {
    let of = |wanted: i64| {
        let some = terms.iter().filter(|&&(k, _)| k == wanted);
        some.map(|&(_, a)| a.residues().at(prime)).collect()
    };
    (of(1), of(-1))
}
