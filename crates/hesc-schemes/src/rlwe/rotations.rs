//! Automorphisms of slots.

use hesc_math::Modulus;

use super::buffer::Buffer;
use super::ciphertext::State;
use super::keys::{GaloisKey, GaloisKeys};
use super::residues::RowMut;
use super::{Ciphertext, Rlwe, parallel};
use crate::SchemeError;

impl Rlwe {
    /// Refuses keys of another pair than the ciphertext's, whether they are needed or not.
    fn check_pair(&self, a: &Ciphertext, keys: &GaloisKeys) -> Result<(), SchemeError> {
        self.check_ciphertext(a)?;
        keys.tag.check(self.fingerprint(), Some(a.tag))
    }

    pub(crate) fn galois_key<'a>(
        &self,
        a: &Ciphertext,
        element: usize,
        keys: &'a GaloisKeys,
    ) -> Result<&'a GaloisKey, SchemeError> {
        self.check_pair(a, keys)?;
        Self::require_two_components(&a.state, "a rotation")?;
        keys.keys.get(&element).ok_or_else(|| self.missing_key(element))
    }

    /// The error that names what a user asked for, not the automorphism that does it.
    pub(crate) fn missing_key(&self, element: usize) -> SchemeError {
        let order = self.ring().value();
        let row = if self.ring().is_power_of_two() { order / 4 } else { 0 };
        if row > 0 && element == order - 1 {
            let what = self.operations().inversion();
            return SchemeError::MissingKey { what: what.into(), remedy: "conjugate=True".into() };
        }
        let mut powers = std::iter::successors(Some(1), |power| Some(power * 3 % order)).take(row);
        match powers.position(|power| power == element) {
            Some(steps) => SchemeError::MissingKey {
                what: format!("rotations by {steps} (the same as {})", steps as i64 - row as i64),
                remedy: format!("rotations=[{steps}]"),
            },
            None => SchemeError::MissingKey {
                what: format!("the automorphism X -> X^{element}"),
                remedy: "generate_galois_keys".into(),
            },
        }
    }

    /// The exponent of the rotation of each row of slots by `steps` to the left: `3^steps` modulo
    /// `2 N`, as in SEAL.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for a ring that is no power of two.
    pub fn rotation_element(&self, steps: i64) -> Result<usize, SchemeError> {
        let order = self.two_rows()?;
        Ok(self.repeated(3, steps.rem_euclid(order as i64 / 4)))
    }

    /// The exponent of an automorphism applied so many times.
    pub(crate) fn repeated(&self, element: usize, times: i64) -> usize {
        let order = Modulus::new(self.ring().value() as u64);
        order.pow(element as u64, times.unsigned_abs()) as usize
    }

    /// The index of a ring that has rows of slots to rotate and exchange.
    fn two_rows(&self) -> Result<usize, SchemeError> {
        let ring = self.ring();
        if ring.is_power_of_two() { Ok(ring.value()) } else { Err(SchemeError::without_rows(ring)) }
    }

    /// The image under the automorphism `zeta -> zeta^element`; `a(X^element)` for powers of two.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::MissingKey`],
    /// [`SchemeError::NotRelinearised`], [`SchemeError::NoiseBudget`].
    pub fn apply_galois(
        &self,
        a: &Ciphertext,
        element: usize,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, SchemeError> {
        if element == 1 {
            self.check_pair(a, keys)?;
            return Ok(a.clone());
        }
        let key = self.galois_key(a, element, keys)?;
        let state = self.switched_state(&a.state)?;
        Ok(parallel::together(a.words.len(), || {
            let switched =
                self.switch(&self.cut(self.residues(a).component(1), a.level()), &key.key);
            self.finish_galois(a, switched, key, state)
        }))
    }

    /// Adds `c_0` to a switched `c_1` and applies the automorphism to both.
    fn finish_galois(
        &self,
        a: &Ciphertext,
        mut switched: Buffer,
        key: &GaloisKey,
        state: State,
    ) -> Ciphertext {
        let (n, own) = (self.ring_degree(), self.residues(a));
        parallel::for_each_chunk(&mut switched, 2 * n, n, |scratch, prime, out| {
            let q = &self.chain().level(a.level())[prime];
            let [mut c_0, c_1] = RowMut::split(out);
            c_0.add(own.row(prime, 0), q);
            let mut before = RowMut::assume(scratch);
            for component in [c_0, c_1] {
                before.copy(component.row());
                self.domain().set_image(component, before.row(), &key.automorphism, q);
            }
        });
        Ciphertext { tag: a.tag, state, words: switched }
    }

    /// Slots rotated by `steps` to the left, in each of two rows of `N / 2` (BFV, BGV) or in the one
    /// of CKKS.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::MissingKey`],
    /// [`SchemeError::NotRelinearised`], [`SchemeError::NoiseBudget`]; [`SchemeError::Parameter`] for a ring that
    /// is no power of two.
    pub fn rotate(
        &self,
        a: &Ciphertext,
        steps: i64,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, SchemeError> {
        self.apply_galois(a, self.rotation_element(steps)?, keys)
    }

    /// Several rotations of one ciphertext, see [`Self::apply_galois_many`].
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::MissingKey`],
    /// [`SchemeError::NotRelinearised`], [`SchemeError::NoiseBudget`]; [`SchemeError::Parameter`] for a ring that
    /// is no power of two.
    pub fn rotate_many(
        &self,
        a: &Ciphertext,
        steps: &[i64],
        keys: &GaloisKeys,
    ) -> Result<Vec<Ciphertext>, SchemeError> {
        let elements = steps.iter().map(|&s| self.rotation_element(s));
        self.apply_galois_many(a, &elements.collect::<Result<Vec<_>, _>>()?, keys)
    }

    /// Several automorphisms of one ciphertext: digits are lifted once for all (hoisting, Halevi and
    /// Shoup 2018), which is where an automorphism spends most of its time.
    ///
    /// # Errors
    /// As [`Self::apply_galois`].
    pub fn apply_galois_many(
        &self,
        a: &Ciphertext,
        elements: &[usize],
        keys: &GaloisKeys,
    ) -> Result<Vec<Ciphertext>, SchemeError> {
        for &element in elements.iter().filter(|&&element| element != 1) {
            self.galois_key(a, element, keys)?;
        }
        self.check_pair(a, keys)?;
        Self::require_two_components(&a.state, "a rotation")?;
        let state = self.switched_state(&a.state)?;
        parallel::together(a.words.len(), || {
            let lifted = self.lift_everywhere(&self.cut(self.residues(a).component(1), a.level()));
            let rotated = elements.iter().map(|&element| {
                if element == 1 {
                    return Ok(a.clone());
                }
                let key = self.galois_key(a, element, keys)?;
                let switched = self.switch_lifted(&lifted, &key.key);
                Ok(self.finish_galois(a, switched, key, state))
            });
            rotated.collect()
        })
    }

    /// BFV and BGV: the two rows of slots exchanged. CKKS: complex conjugates.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::MissingKey`],
    /// [`SchemeError::NotRelinearised`], [`SchemeError::NoiseBudget`]; [`SchemeError::Parameter`] for a ring that
    /// is no power of two.
    pub fn swap_or_conjugate(
        &self,
        a: &Ciphertext,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, SchemeError> {
        self.apply_galois(a, self.two_rows()? - 1, keys)
    }
}
