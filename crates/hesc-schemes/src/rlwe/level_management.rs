//! At which level operands meet, and what becomes of a product. Circuits take their
//! products of ciphertexts here, and sums of operands that may be at different levels.
//!
//! - CKKS: operands meet at the lower level, and a product is rescaled.
//! - BFV and BGV: the factors of a product are brought to the lowest level at which it has the most noise budget
//!   ([`Rlwe::product_level`]). Their noise has grown since the last product; divided by the primes that are
//!   dropped, it does not square in BGV, and fewer primes are faster in both.

use std::borrow::Cow;

use super::ciphertext::State;
use super::evaluation::SCALE_TOLERANCE;
use super::levels::SPENT_ON_SPEED;
use super::slot_circuits::evaluators::{Evaluator, FactorPair, Keyed};
use super::{Ciphertext, Encryption, Plaintext, RelinKey, Rlwe};
use crate::SchemeError;
use crate::error::refuse;

impl Rlwe {
    /// A product of two components, of factors at any levels; a square if there is no second factor. Both are
    /// brought to [`Self::product_level`], the product is relinearised, and in CKKS rescaled.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`]; [`SchemeError::NotRelinearised`] for
    /// factors of more than two components; [`SchemeError::NoiseBudget`] if the product could not be decrypted;
    /// [`SchemeError::LastLevel`] where CKKS has no prime left to rescale by.
    pub fn product(
        &self,
        relin: &RelinKey,
        a: &Ciphertext,
        b: Option<&Ciphertext>,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_pair_of(a, b.unwrap_or(a))?;
        relin.0.tag.check(self.fingerprint(), Some(a.tag))?;
        let level = self.product_level(a, b.unwrap_or(a));
        let a = self.factor_at(a, level)?;
        let product = match b {
            Some(b) => {
                let b = self.factor_at(b, level)?;
                self.multiply(&a, &b)?
            }
            None => self.square(&a)?,
        };
        self.rescale_product(self.relinearise(&product, relin)?)
    }

    /// A product that nobody needs a key for, of factors with any numbers of components at any levels
    /// ([`Self::multiply_unrelinearised`]). Both are brought to the lowest level at which it has the most noise budget.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`]; [`SchemeError::TooManyComponents`] beyond
    /// sixteen; [`SchemeError::NoiseBudget`] if the product could not be decrypted.
    pub fn product_of_components(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_pair_of(a, b)?;
        let (x, y) = (&a.state, &b.state);
        let level = self.best_level(x.level.min(y.level), |level| {
            self.product_state(&self.lowered_state(x, level)?, &self.lowered_state(y, level)?)
        });
        let (a, b) = (self.factor_at(a, level)?, self.factor_at(b, level)?);
        self.multiply_unrelinearised(&a, &b)
    }

    /// [`Self::lowered`], without a copy of what is at the level.
    fn factor_at<'a>(
        &self,
        a: &'a Ciphertext,
        level: usize,
    ) -> Result<Cow<'a, Ciphertext>, SchemeError> {
        Ok(if a.level() == level { Cow::Borrowed(a) } else { Cow::Owned(self.lowered(a, level)?) })
    }

    /// A sum of products, squares where there is no second factor, and of other ciphertexts, at any levels: brought to
    /// one level, summed, relinearised once, and brought down at once to where the next product will want it
    /// ([`Self::relinearise_to`]). CKKS rescales. For circuits whose results are factors of further products.
    ///
    /// # Errors
    /// Those of [`Self::product`]; [`SchemeError::Parameter`] where there is nothing to sum.
    pub fn sum_of_products(
        &self,
        relin: &RelinKey,
        products: &[(&Ciphertext, Option<&Ciphertext>)],
        others: &[&Ciphertext],
    ) -> Result<Ciphertext, SchemeError> {
        let factors = || products.iter().flat_map(|(a, b)| std::iter::once(*a).chain(*b));
        let Some(first) = factors().chain(others.iter().copied()).next() else {
            return Self::nothing_to_sum();
        };
        for c in factors().chain(others.iter().copied()) {
            self.check_pair_of(c, first)?;
        }
        relin.0.tag.check(self.fingerprint(), Some(first.tag))?;
        for c in factors() {
            Self::require_two_components(&c.state, "a product")?;
        }
        let by = &mut Keyed { scheme: self, relin, galois: None };
        let sum = self.sum_at_one_level(by, products, others)?;
        if self.operations().has_scale() {
            return self.rescale_product(self.relinearise(&sum, relin)?);
        }
        by.relinearised(&sum, self.level_below(&sum.state)?)
    }

    /// The sum of [`Self::sum_of_products`] by an evaluator, before it is relinearised.
    pub(crate) fn sum_at_one_level<E: Evaluator>(
        &self,
        by: &mut E,
        products: &[FactorPair<'_, E::Value>],
        others: &[&E::Value],
    ) -> Result<E::Value, SchemeError> {
        let level = {
            let products: Vec<_> =
                products.iter().map(|(a, b)| (E::state(a), b.map(E::state))).collect();
            let others: Vec<_> = others.iter().map(|c| E::state(c)).collect();
            self.level_of_sum(&products, &others)
        };
        // A factor of several products comes down once.
        let factors = products.iter().flat_map(|(a, b)| std::iter::once(*a).chain(*b));
        let mut low: Vec<(&E::Value, E::Value)> = Vec::new();
        for c in factors.chain(others.iter().copied()).filter(|c| E::state(c).level != level) {
            if !low.iter().any(|(high, _)| std::ptr::eq(*high, c)) {
                low.push((c, by.lowered(c, level)?));
            }
        }
        let products: Vec<_> =
            products.iter().map(|&(a, b)| (found(&low, a), b.map(|b| found(&low, b)))).collect();
        let others: Vec<_> = others.iter().map(|c| found(&low, c)).collect();
        by.sum_of_products(&products, &others)
    }

    /// The level at which a sum of products, once it is relinearised, has the most noise budget as a factor.
    pub(crate) fn level_below(&self, sum: &State) -> Result<usize, SchemeError> {
        let switched = self.switched_state(sum)?;
        Ok(self.level_of_product(&switched, &switched))
    }

    pub(crate) fn nothing_to_sum<T>() -> Result<T, SchemeError> {
        refuse("products", "[]", "give at least one product or ciphertext")
    }

    /// The level at which products and others meet: as [`Self::product_level`], for their sum.
    fn level_of_sum(&self, products: &[FactorPair<'_, State>], others: &[&State]) -> usize {
        let factors = products.iter().flat_map(|(a, b)| std::iter::once(*a).chain(*b));
        let all = factors.chain(others.iter().copied());
        let together = all.map(|c| c.level).min().unwrap_or(1);
        self.best_level(together, |level| {
            let terms = products.iter().map(|(a, b)| self.product_at(a, b.unwrap_or(a), level));
            let mut terms = terms.chain(others.iter().map(|c| self.lowered_state(c, level)));
            let first = terms.next().unwrap_or_else(Self::nothing_to_sum)?;
            // Terms that came down in different ways have different factors: the sum's is one of them.
            terms.try_fold(first, |sum, term| self.sum_state(&sum, &term?))
        })
    }

    /// The level that the factors of a product are brought to: in CKKS the lower of both; in exact schemes the
    /// lowest at which the relinearised product has as much noise budget as at any other, but for a quarter of a bit.
    pub fn product_level(&self, a: &Ciphertext, b: &Ciphertext) -> usize {
        self.level_of_product(&a.state, &b.state)
    }

    /// [`Self::product_level`] of states.
    pub(crate) fn level_of_product(&self, a: &State, b: &State) -> usize {
        let together = a.level.min(b.level);
        self.best_level(together, |level| self.product_at(a, b, level))
    }

    /// The lowest level up to one at which a result has as much noise budget as at any other, but for a quarter of a bit.
    pub(crate) fn best_level(
        &self,
        together: usize,
        result: impl Fn(usize) -> Result<State, SchemeError>,
    ) -> usize {
        if self.operations().has_scale() {
            return together;
        }
        // Where no level has a budget, the one where the least is missing says how much.
        let budget = |level| match result(level) {
            Ok(result) => self.budget_of(&result),
            Err(SchemeError::NoiseBudget { needed_bits }) => -needed_bits,
            Err(_) => f64::NEG_INFINITY,
        };
        let budgets: Vec<f64> = (1..=together).map(budget).collect();
        let most = budgets.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let enough = budgets.iter().position(|&budget| budget >= most - SPENT_ON_SPEED);
        enough.map_or(together, |below| below + 1)
    }

    /// How many products in sequence the noise model allows: each of two results of the one
    /// before, beginning with encryptions under the public key of numbers within the set's bound. None without
    /// special primes, since no product can be relinearised.
    pub fn depth(&self) -> usize {
        if self.chain().special().is_empty() {
            return 0;
        }
        self.products_in_sequence(self.fresh_state(Encryption::PublicKey))
    }

    /// [`Self::depth`] from a state.
    pub(crate) fn products_in_sequence(&self, first: State) -> usize {
        let mut last = first;
        std::iter::from_fn(|| {
            let level = self.level_of_product(&last, &last);
            last = self.rescaled_if_scaled(self.product_at(&last, &last, level).ok()?).ok()?;
            Some(())
        })
        .count()
    }

    /// The state of [`Self::rescale_product`].
    pub(crate) fn rescaled_if_scaled(&self, product: State) -> Result<State, SchemeError> {
        if self.operations().has_scale() { self.rescaled_state(&product) } else { Ok(product) }
    }

    /// The state of the relinearised product of factors that are brought to a level.
    pub(crate) fn product_at(
        &self,
        a: &State,
        b: &State,
        level: usize,
    ) -> Result<State, SchemeError> {
        let (a, b) = (self.lowered_state(a, level)?, self.lowered_state(b, level)?);
        self.switched_state(&self.product_state(&a, &b)?)
    }

    /// A product with an operand in the clear, which CKKS rescales: encode it with [`Self::operand_scale`], and
    /// the scale stays what it was.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::LevelMismatch`]; [`SchemeError::NoiseBudget`] if the
    /// product could not be decrypted; [`SchemeError::LastLevel`] where CKKS has no prime left to rescale by.
    pub fn product_with_plain(
        &self,
        a: &Ciphertext,
        plaintext: &Plaintext,
    ) -> Result<Ciphertext, SchemeError> {
        self.rescale_product(self.multiply_plain(a, plaintext)?)
    }

    /// The scale of operands in the clear for products at a level: in CKKS the prime that rescaling divides by,
    /// 1 in exact schemes.
    pub fn operand_scale(&self, level: usize) -> f64 {
        if self.operations().has_scale() {
            self.spec().coeff_moduli[level.clamp(1, self.levels()) - 1] as f64
        } else {
            1.0
        }
    }

    /// What is left to do after products with [`Self::multiply_plain`], or after a sum of them: CKKS rescales,
    /// the others return what they are given.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::NoiseBudget`]; [`SchemeError::LastLevel`] where no
    /// prime is left to rescale by.
    pub fn rescale_product(&self, product: Ciphertext) -> Result<Ciphertext, SchemeError> {
        if self.operations().has_scale() { self.rescale(&product) } else { Ok(product) }
    }

    /// A sum, or a difference, of what may lie at different levels and, in CKKS, scales. Different scales at one
    /// level cost another level.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::NoiseBudget`];
    /// [`SchemeError::ScaleMismatch`] where no level is left.
    pub fn sum(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        subtract: bool,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_pair_of(a, b)?;
        let combined = |a: &Ciphertext, b: &Ciphertext| {
            if subtract { self.sub(a, b) } else { self.add(a, b) }
        };
        let result = if a.level() == b.level() {
            combined(a, b)
        } else {
            combined(&self.aligned_with(a, b)?, &self.aligned_with(b, a)?)
        };
        match result {
            Err(SchemeError::ScaleMismatch { .. }) if a.level() == b.level() && a.level() > 1 => {
                // The larger scale goes down unchanged, the other one takes it on its way.
                if a.scale() > b.scale() {
                    let a = self.mod_switch(a)?;
                    combined(&a, &self.aligned_with(b, &a)?)
                } else {
                    let b = self.mod_switch(b)?;
                    combined(&self.aligned_with(a, &b)?, &b)
                }
            }
            result => result,
        }
    }

    /// `a` down to the level of `target`, in CKKS also to its scale: on its way it is multiplied by 1
    /// at the scale that the rescaling turns into the other's. A ciphertext at that level or below
    /// comes back as it is.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::NoiseBudget`];
    /// [`SchemeError::Value`] for scales so far apart that 1 cannot be written between them.
    pub fn aligned_with(
        &self,
        a: &Ciphertext,
        target: &Ciphertext,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_pair_of(a, target)?;
        let same_scale = (a.scale() / target.scale() - 1.0).abs() <= SCALE_TOLERANCE;
        if a.level() <= target.level() {
            return Ok(a.clone());
        }
        if same_scale {
            return self.mod_switch_to(a, target.level());
        }
        let above = self.mod_switch_to(a, target.level() + 1)?;
        let scale = target.scale() * self.operand_scale(above.level()) / above.scale();
        self.rescale(&self.multiply_real(&above, 1.0, scale)?)
    }

    /// Refuses operands of different sets or keys, at whatever levels.
    pub(crate) fn check_pair_of(&self, a: &Ciphertext, b: &Ciphertext) -> Result<(), SchemeError> {
        self.check_ciphertext(a)?;
        b.tag.check(self.fingerprint(), Some(a.tag))
    }
}

/// What a value was brought down to, or itself.
fn found<'a, Value>(low: &'a [(&Value, Value)], value: &'a Value) -> &'a Value {
    low.iter().find(|(high, _)| std::ptr::eq(*high, value)).map_or(value, |(_, low)| low)
}
