//! Automorphisms of slots.

use hesc_math::Modulus;

use super::keys::{GaloisKey, GaloisKeys};
use super::polys::Polys;
use super::residues::Stored;
use super::{Ciphertext, Rlwe, parallel};
use crate::{AutomorphismKey, SchemeError};

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
            let what = self.operations().inversion().into();
            return SchemeError::MissingKey { what, key: AutomorphismKey::Inversion };
        }
        let mut powers = std::iter::successors(Some(1), |power| Some(power * 3 % order)).take(row);
        match powers.position(|power| power == element) {
            Some(steps) => SchemeError::MissingKey {
                what: format!("rotations by {steps} (the same as {})", steps as i64 - row as i64),
                key: AutomorphismKey::Rotation(steps),
            },
            None => SchemeError::MissingKey {
                what: format!("the automorphism X -> X^{element}"),
                key: AutomorphismKey::Exponent(element),
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
        Ok(Ciphertext { tag: a.tag, state, polys: self.image_polys(&a.polys, a.level(), key) })
    }

    /// The image of two components at a level under the automorphism of a key.
    pub(crate) fn image_polys(
        &self,
        a: &Polys<Stored>,
        level: usize,
        key: &GaloisKey,
    ) -> Polys<Stored> {
        parallel::on_pool(a.len(), || {
            let switched = self.switch(&self.digits(a.residues().component(1), level), &key.key);
            self.automorphism_of_switched(a, switched, level, key)
        })
    }

    /// Adds `c_0` to a switched `c_1` and applies the automorphism to both.
    fn automorphism_of_switched(
        &self,
        a: &Polys<Stored>,
        switched: Polys<Stored>,
        level: usize,
        key: &GaloisKey,
    ) -> Polys<Stored> {
        let primes = self.chain().level(level);
        switched.map_rows(1, |scratch, prime, component, mut row| {
            let q = &primes[prime];
            if component == 0 {
                row.add(a.row(prime, 0), q);
            }
            let before = scratch.row().copy(row.row());
            self.domain().image(row.blank(), before.row(), &key.automorphism, q)
        })
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
        parallel::on_pool(a.polys.len(), || {
            let lifted = self.lift_everywhere(&self.digits(a.residues().component(1), a.level()));
            let rotated = elements.iter().map(|&element| {
                if element == 1 {
                    return Ok(a.clone());
                }
                let key = self.galois_key(a, element, keys)?;
                let switched = self.switch_lifted(&lifted, &key.key);
                let polys = self.automorphism_of_switched(&a.polys, switched, a.level(), key);
                Ok(Ciphertext { tag: a.tag, state, polys })
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
