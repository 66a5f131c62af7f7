//! Products of ciphertexts, and the way back to two components under one secret.

use hesc_math::ring::{Eval, Prime};

use super::ciphertext::State;
use super::domain::Domain;
use super::keys::{RelinKey, SwitchKey};
use super::noise::MOST_COMPONENTS;
use super::polys::Polys;
use super::residues::{Blank, Rows, RowsMut, Scratch, Stored};
use super::{Ciphertext, Rlwe, parallel};
use crate::SchemeError;

/// The components of a product modulo a prime from those of its factors, of a square if there is no second one.
pub(crate) fn multiply_components<'r>(
    out: RowsMut<'r, Blank>,
    scratch: Scratch<'_>,
    x: Rows<'_, Eval>,
    y: Option<Rows<'_, Eval>>,
    q: &Prime,
) -> RowsMut<'r, Eval> {
    if let (Some(a), Some(b)) = (x.pair(), y.unwrap_or(x).pair()) {
        return out.tensor(a, y.map(|_| b), q);
    }
    let y = y.unwrap_or(x);
    let mut scratch = scratch.row();
    out.map(|k, out| {
        let first = (k + 1).saturating_sub(y.count());
        let mut sum = out.product(x.row(first), y.row(k - first), q);
        for i in first + 1..=k.min(x.count() - 1) {
            let product = scratch.reborrow().product(x.row(i), y.row(k - i), q);
            sum.add(product.row(), q);
        }
        sum
    })
}

impl Rlwe {
    /// `a * b`, of three components: [`Self::relinearise`] brings it back to two. CKKS: scales multiply,
    /// [`Self::rescale`] brings them back.
    ///
    /// Cost: BGV and CKKS one pass; BFV seven transforms for each prime of two bases (Halevi,
    /// Polyakov and Shoup 2019).
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::LevelMismatch`];
    /// [`SchemeError::NotRelinearised`] for factors of more than two components; [`SchemeError::NoiseBudget`] if the
    /// product could not be decrypted.
    pub fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.check_operands(a, b)?;
        Self::require_two_components(&a.state, "a product")?;
        Self::require_two_components(&b.state, "a product")?;
        self.unrelinearised(a, Some(b))
    }

    /// `a^2`; cheaper than [`Self::multiply`].
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`]; [`SchemeError::NotRelinearised`] for more than two components;
    /// [`SchemeError::NoiseBudget`] if the square could not be decrypted.
    pub fn square(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        Self::require_two_components(&a.state, "a product")?;
        self.unrelinearised(a, None)
    }

    /// `a * b` of factors with any numbers of components: it has those of both together, less one, and
    /// decrypts as it is, so that nobody needs a key to multiply. Time and size grow with the components,
    /// the noise faster than with relinearisation.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::LevelMismatch`];
    /// [`SchemeError::TooManyComponents`] beyond sixteen; [`SchemeError::NoiseBudget`] if the product could not be
    /// decrypted.
    pub fn multiply_unrelinearised(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_operands(a, b)?;
        let components = a.components() + b.components() - 1;
        if components > MOST_COMPONENTS {
            let operation = "a ciphertext";
            return Err(SchemeError::TooManyComponents {
                operation,
                components,
                most: MOST_COMPONENTS,
            });
        }
        self.unrelinearised(a, Some(b))
    }

    /// A product of factors of one level; a square if there is no second factor.
    fn unrelinearised(
        &self,
        a: &Ciphertext,
        b: Option<&Ciphertext>,
    ) -> Result<Ciphertext, SchemeError> {
        let state = self.product_state(&a.state, &b.unwrap_or(a).state)?;
        Ok(Ciphertext { tag: a.tag, state, polys: self.operations().multiply(self, a, b) })
    }

    /// The state of a product of factors of one level, before relinearisation.
    pub(crate) fn product_state(&self, a: &State, b: &State) -> Result<State, SchemeError> {
        let product = State {
            level: a.level,
            components: a.components + b.components - 1,
            scale: a.scale * b.scale,
            factor: self.operations().factor(a.factor, b.factor),
            noise: self.operations().product_noise(self, a, b),
        };
        self.checked(product)
    }

    /// The components of a product of ciphertexts that are evaluations.
    pub(crate) fn tensors(&self, a: &Ciphertext, b: Option<&Ciphertext>) -> Polys<Stored> {
        let (x, y) = (self.evaluations_of(a), b.map(|b| self.evaluations_of(b)));
        let components = x.components() + y.unwrap_or(x).components() - 1;
        let primes = self.chain().level(a.level());
        let products = Polys::take(primes.len(), components, x.ring_degree());
        products.map_primes_in_pass(1, |scratch, prime, out| {
            let (q, y) = (&primes[prime], y.map(|y| y.at(prime)));
            let product = multiply_components(out, scratch, x.at(prime), y, q);
            product.map(|_, row| self.domain().store_evaluations(row, q))
        })
    }

    /// Brings a product back to two components.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`],
    /// [`SchemeError::NoiseBudget`], and [`SchemeError::TooManyComponents`] beyond three.
    pub fn relinearise(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        key.0.tag.check(self.fingerprint(), Some(a.tag))?;
        match a.components() {
            2 => return Ok(a.clone()),
            3 => {}
            components => {
                let operation = "relinearisation";
                return Err(SchemeError::TooManyComponents { operation, components, most: 3 });
            }
        }
        let state = self.switched_state(&a.state)?;
        Ok(Ciphertext { tag: a.tag, state, polys: self.relinearised_polys(a, key, a.level()) })
    }

    /// Three components relinearised, at their level; of evaluations also at one below.
    pub(crate) fn relinearised_polys(
        &self,
        a: &Ciphertext,
        key: &RelinKey,
        level: usize,
    ) -> Polys<Stored> {
        let (own, primes) = (a.residues(), self.chain().level(level));
        parallel::on_pool(a.polys.len(), || {
            if level < a.level() {
                return self.switch_down(a, &key.0, level);
            }
            let switched = self.switch(&self.digits(own.component(2), level), &key.0);
            switched.map_rows(0, |_, prime, component, mut row| {
                row.add(own.row(prime, component), &primes[prime]);
                row
            })
        })
    }

    /// [`Self::relinearise`] and [`Self::mod_switch_to`] at once: in BGV with one division and one rounding instead
    /// of two. Sums of products of three components take it as products do, so that they come down together.
    ///
    /// # Errors
    /// As [`Self::relinearise`] and [`Self::mod_switch_to`].
    pub fn relinearise_to(
        &self,
        a: &Ciphertext,
        key: &RelinKey,
        level: usize,
    ) -> Result<Ciphertext, SchemeError> {
        let at_once = self.domain() == Domain::Evaluations && !self.is_approximate();
        if level >= a.level() || a.components() != 3 || !at_once {
            return self.mod_switch_to(&self.relinearise(a, key)?, level);
        }
        self.check_ciphertext(a)?;
        key.0.tag.check(self.fingerprint(), Some(a.tag))?;
        let state = self.relinearised_state(&a.state, level)?;
        Ok(Ciphertext { tag: a.tag, state, polys: self.relinearised_polys(a, key, level) })
    }

    /// The state of [`Self::relinearise_to`], of three components.
    pub(crate) fn relinearised_state(&self, a: &State, level: usize) -> Result<State, SchemeError> {
        let switched = self.switched_state(a)?;
        if level == a.level { Ok(switched) } else { self.divided_state(&switched, level) }
    }

    /// The state after switching a key, which leaves two components.
    pub(crate) fn switched_state(&self, a: &State) -> Result<State, SchemeError> {
        let noise = a.noise.plus(self.switching_noise(a.level));
        self.checked(State { components: 2, noise, ..*a })
    }

    /// `a` under another secret: re-encryption without decryption.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::NotRelinearised`],
    /// [`SchemeError::NoiseBudget`]. A key made from another secret than the ciphertext's cannot be
    /// told from the right one and gives noise.
    pub fn switch_key(&self, a: &Ciphertext, key: &SwitchKey) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        key.tag.check(self.fingerprint(), None)?;
        Self::require_two_components(&a.state, "key switching")?;
        let state = self.switched_state(&a.state)?;
        let (own, primes) = (a.residues(), self.chain().level(a.level()));
        let polys = parallel::on_pool(a.polys.len(), || {
            let switched = self.switch(&self.digits(own.component(1), a.level()), key);
            switched.map_pairs(0, |_, prime, _, [mut c_0, c_1]| {
                c_0.add(own.row(prime, 0), &primes[prime]);
                [c_0, c_1]
            })
        });
        Ok(Ciphertext { tag: key.tag, state, polys })
    }
}
