//! Operations composed of others, written once: [`Keyed`] does them on ciphertexts, [`DryRun`] by the rules of states
//! alone, and counts what they cost.

use crate::SchemeError;
use crate::rlwe::ciphertext::State;
use crate::rlwe::keys::{GaloisKeys, RelinKey};
use crate::rlwe::levels::Dropping;
use crate::rlwe::{Ciphertext, Rlwe, Work};

/// A product, or a square where there is no second factor.
pub(crate) type FactorPair<'a, Value> = (&'a Value, Option<&'a Value>);

/// What composed operations are made of.
pub(crate) trait Evaluator {
    /// A ciphertext, or its state.
    type Value: Clone;

    /// The state of a value.
    fn state(a: &Self::Value) -> &State;

    /// A factor at a level not above its own: [`Rlwe::lowered`].
    fn lowered(&mut self, a: &Self::Value, level: usize) -> Result<Self::Value, SchemeError>;

    /// The sum of products and others of one level, not relinearised; at least one product.
    fn sum_of_products(
        &mut self,
        products: &[FactorPair<'_, Self::Value>],
        others: &[&Self::Value],
    ) -> Result<Self::Value, SchemeError>;

    /// Two components again, at a level: [`Rlwe::relinearise_to`].
    fn relinearised(&mut self, a: &Self::Value, level: usize) -> Result<Self::Value, SchemeError>;

    /// The image under an automorphism, not the identity.
    fn image(&mut self, a: &Self::Value, element: usize) -> Result<Self::Value, SchemeError>;
}

/// Ciphertexts and the keys of their pair.
pub(crate) struct Keyed<'a> {
    pub scheme: &'a Rlwe,
    pub relin: &'a RelinKey,
    pub galois: Option<&'a GaloisKeys>,
}

impl Evaluator for Keyed<'_> {
    type Value = Ciphertext;

    fn state(a: &Ciphertext) -> &State {
        &a.state
    }

    fn lowered(&mut self, a: &Ciphertext, level: usize) -> Result<Ciphertext, SchemeError> {
        self.scheme.lowered(a, level)
    }

    fn sum_of_products(
        &mut self,
        products: &[FactorPair<'_, Ciphertext>],
        others: &[&Ciphertext],
    ) -> Result<Ciphertext, SchemeError> {
        let products = products.iter().map(|&(a, b)| match b {
            Some(b) => self.scheme.multiply(a, b),
            None => self.scheme.square(a),
        });
        let mut sum: Option<Ciphertext> = None;
        for product in products {
            sum = Some(match sum {
                Some(sum) => self.scheme.add(&sum, &product?)?,
                None => product?,
            });
        }
        let mut others = others.iter();
        let first = sum.or_else(|| others.next().map(|&first| first.clone()));
        let first = first.map_or_else(Rlwe::nothing_to_sum, Ok)?;
        others.try_fold(first, |sum, other| self.scheme.add(&sum, other))
    }

    fn relinearised(&mut self, a: &Ciphertext, level: usize) -> Result<Ciphertext, SchemeError> {
        self.scheme.relinearise_to(a, self.relin, level)
    }

    fn image(&mut self, a: &Ciphertext, element: usize) -> Result<Ciphertext, SchemeError> {
        match self.galois {
            Some(keys) => self.scheme.apply_galois(a, element, keys),
            None => Err(self.scheme.missing_key(element)),
        }
    }
}

/// States instead of ciphertexts, and the work that operations on ciphertexts would be.
pub(crate) struct DryRun<'a> {
    pub scheme: &'a Rlwe,
    pub work: Work,
}

impl<'a> DryRun<'a> {
    pub(crate) fn of(scheme: &'a Rlwe) -> Self {
        Self { scheme, work: Work::default() }
    }

    /// A summand or factor brought to a level.
    pub(crate) fn down(
        &mut self,
        a: &State,
        level: usize,
        dropping: Dropping,
    ) -> Result<State, SchemeError> {
        let way = self.scheme.modulus_switch(a, level, dropping)?;
        self.work += self.scheme.work_of_switch(a.level, level, way.dropped);
        Ok(way.state)
    }
}

impl Evaluator for DryRun<'_> {
    type Value = State;

    fn state(a: &State) -> &State {
        a
    }

    fn lowered(&mut self, a: &State, level: usize) -> Result<State, SchemeError> {
        self.down(a, level, Dropping::ForSpeed)
    }

    fn sum_of_products(
        &mut self,
        products: &[FactorPair<'_, State>],
        others: &[&State],
    ) -> Result<State, SchemeError> {
        let mut terms = products
            .iter()
            .map(|&(a, b)| self.scheme.product_state(a, b.unwrap_or(a)))
            .chain(others.iter().map(|&&other| Ok(other)));
        let first = terms.next().unwrap_or_else(Rlwe::nothing_to_sum)?;
        let sum = terms.try_fold(first, |sum, term| self.scheme.sum_state(&sum, &term?))?;
        self.work += self.scheme.work_of_tensors(products.len(), sum.level);
        self.work += self.scheme.work_of_sum(others.len(), sum.level);
        Ok(sum)
    }

    fn relinearised(&mut self, a: &State, level: usize) -> Result<State, SchemeError> {
        let state = self.scheme.relinearised_state(a, level)?;
        self.work += self.scheme.work_of_relinearising(a.level, level);
        Ok(state)
    }

    fn image(&mut self, a: &State, _element: usize) -> Result<State, SchemeError> {
        let state = self.scheme.switched_state(a)?;
        self.work += self.scheme.work_of_products(0, 1, a.level, a.level);
        Ok(state)
    }
}
