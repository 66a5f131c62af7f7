//! Products of ciphertexts, and the way back to two components under one secret.

use hesc_math::ring::{Eval, Prime};

use super::buffer::Buffer;
use super::ciphertext::State;
use super::domain::Domain;
use super::keys::{RelinKey, SwitchKey};
use super::noise::MOST_COMPONENTS;
use super::residues::{self, Row, RowMut};
use super::{Ciphertext, Rlwe, parallel};
use crate::SchemeError;

/// The components of a product modulo a prime from those of its factors, of a square if there is no second one.
/// `row` is scratch space.
pub(crate) fn multiply_components(
    out: &mut [u64],
    row: &mut [u64],
    x: &[Row<'_, Eval>],
    y: Option<&[Row<'_, Eval>]>,
    q: &Prime,
) {
    if let (&[a_0, a_1], &[b_0, b_1]) = (x, y.unwrap_or(x)) {
        let second = y.map(|_| [b_0, b_1]);
        return residues::tensor(RowMut::split(out), [a_0, a_1], second, q);
    }
    let (y, mut row) = (y.unwrap_or(x), RowMut::assume(row));
    let ring_degree = row.row().words().len();
    for (k, mut out) in RowMut::all(out, ring_degree).enumerate() {
        let first = (k + 1).saturating_sub(y.len());
        out.set_product(x[first], y[k - first], q);
        for i in first + 1..=k.min(x.len() - 1) {
            row.set_product(x[i], y[k - i], q);
            out.add(row.row(), q);
        }
    }
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
        Ok(Ciphertext { tag: a.tag, state, words: self.operations().multiply(self, a, b) })
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

    /// Products of evaluations.
    pub(crate) fn tensors(&self, a: &Ciphertext, b: Option<&Ciphertext>) -> Buffer {
        let n = self.ring_degree();
        let components = a.components() + b.unwrap_or(a).components() - 1;
        let primes = self.chain().level(a.level());
        let mut words = Buffer::take(components * n * primes.len());
        let (x, y) = (self.evaluations_of(a), b.map(|b| self.evaluations_of(b)));
        parallel::for_each_pass(&mut words, components * n, n, |row, prime, out| {
            let x: Vec<_> = x.rows(prime).collect();
            let y: Option<Vec<_>> = y.map(|y| y.rows(prime).collect());
            multiply_components(out, row, &x, y.as_deref(), &primes[prime]);
        });
        words
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
        Ok(Ciphertext { tag: a.tag, state, words: self.relinearised_words(a, key, a.level()) })
    }

    /// The words of three components relinearised, at their level; of what rests as evaluations also at one below.
    pub(crate) fn relinearised_words(
        &self,
        a: &Ciphertext,
        key: &RelinKey,
        level: usize,
    ) -> Buffer {
        let own = self.residues(a);
        parallel::together(a.words.len(), || {
            if level < a.level() {
                return self.switch_down(a, &key.0, level);
            }
            let mut words = self.switch(&self.cut(own.component(2), level), &key.0);
            let shape = (2, self.ring_degree());
            parallel::for_each_row(&mut words, shape, 0, |_, prime, component, out| {
                RowMut::assume(out)
                    .add(own.row(prime, component), &self.chain().level(level)[prime]);
            });
            words
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
        Ok(Ciphertext { tag: a.tag, state, words: self.relinearised_words(a, key, level) })
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
        let n = self.ring_degree();
        let words = parallel::together(a.words.len(), || {
            let own = self.residues(a);
            let mut words = self.switch(&self.cut(own.component(1), a.level()), key);
            parallel::for_each_chunk(&mut words, 2 * n, 0, |_, prime, out| {
                let [mut c_0, _] = RowMut::split(out);
                c_0.add(own.row(prime, 0), &self.chain().level(a.level())[prime]);
            });
            words
        });
        Ok(Ciphertext { tag: key.tag, state, words })
    }
}
