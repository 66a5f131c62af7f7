//! Sets that differ in their plaintext moduli alone, one a multiple of the other: a ciphertext of one is a ciphertext of the other,
//! of another number.
//!
//! In BFV `c_0 + c_1 s` is `Q / t m + v`. A multiple `m = k m'` of `k = t / t'` is there `Q / t' m' + v`: the same words are a
//! ciphertext of `m'` modulo `t'`, which is the division that [Halevi and Shoup 2015][hs] take digits by. And `k` times them
//! is `Q / t' m + k v`, one of `m` modulo `t'`. Keys have nothing of the plaintext modulus in them. In BGV errors of keys are
//! multiples of it, and what they add would not be what the set with the divisor counts.
//!
//! [hs]: https://eprint.iacr.org/2014/873

use super::{Ciphertext, PlaintextSpace, RelinKey, Rlwe, SchemeKind, SecretKey, Spec};
use crate::error::refuse;
use crate::{Assurance, SchemeError, Tag};

impl Rlwe {
    /// This set with another plaintext modulus, a divisor of its own. Its keys are those of this one, under another name:
    /// [`Self::secret_key_of`], [`Self::relin_key_of`]. Cost: that of a set.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for another scheme than BFV, and for what is no divisor or 1.
    pub fn with_plain_modulus(&self, plain_modulus: u64) -> Result<Self, SchemeError> {
        // As secure as this one, which was asked.
        Self::new(self.spec_modulo(plain_modulus)?, Assurance::Insecure)
    }

    fn spec_modulo(&self, plain_modulus: u64) -> Result<Spec, SchemeError> {
        if self.scheme() != SchemeKind::Bfv {
            let remedy = "keys of other schemes are of one plaintext modulus; take BFV";
            return refuse("scheme", self.scheme(), remedy);
        }
        if plain_modulus < 2 || !self.spec().plaintext.modulus().is_multiple_of(plain_modulus) {
            let remedy = "take a divisor of the set's plaintext modulus, from 2 on";
            return refuse("plain_modulus", plain_modulus, remedy);
        }
        let plaintext = PlaintextSpace::Integers { plain_modulus };
        Ok(Spec { plaintext, ..self.spec().clone() })
    }

    /// How many times this set's plaintext modulus that of a set is, which this one was made of.
    fn times(&self, of: &Self) -> Result<u64, SchemeError> {
        let plain_modulus = self.spec().plaintext.modulus();
        self.check_params(of.spec_modulo(plain_modulus)?.fingerprint())?;
        Ok(of.spec().plaintext.modulus() / plain_modulus)
    }

    /// The name in this set of what has a name in another.
    fn tag_of(&self, of: &Self, tag: Tag) -> Result<Tag, SchemeError> {
        tag.check(of.fingerprint(), None)?;
        Ok(Tag { params: self.fingerprint(), ..tag })
    }

    /// The secret key of a set that this one was made of by [`Self::with_plain_modulus`], as a key of this one.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for sets that differ in anything else, and another set's key.
    pub fn secret_key_of(&self, of: &Self, key: &SecretKey) -> Result<SecretKey, SchemeError> {
        self.times(of)?;
        Ok(SecretKey { tag: self.tag_of(of, key.tag)?, words: key.words.clone() })
    }

    /// [`Self::secret_key_of`] for the key that relinearises.
    ///
    /// # Errors
    /// As there.
    pub fn relin_key_of(&self, of: &Self, key: &RelinKey) -> Result<RelinKey, SchemeError> {
        self.times(of)?;
        let mut own = key.clone();
        own.0.tag = self.tag_of(of, key.0.tag)?;
        Ok(own)
    }

    /// A ciphertext of a set that this one was made of, whose plaintext is a multiple of what its plaintext modulus is of this
    /// one's: the plaintext divided by that, without a product and without noise. **Of a plaintext that is no multiple nothing
    /// is left.**
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for sets that differ in anything else, and another set's ciphertext.
    pub fn divided(&self, of: &Self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.times(of)?;
        Ok(Ciphertext { tag: self.tag_of(of, a.tag)?, ..a.clone() })
    }

    /// A ciphertext of a set that this one was made of: its plaintext modulo this one's modulus. Noise grows by what the one
    /// modulus is of the other.
    ///
    /// # Errors
    /// As [`Self::divided`]; [`SchemeError::NoiseBudget`] where there is no room.
    pub fn reduced(&self, of: &Self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let times = self.times(of)?;
        self.multiply_integer(&self.divided(of, a)?, times as i64)
    }
}
