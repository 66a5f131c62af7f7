//! Sets that differ in their plaintext moduli alone, one a multiple of the other: a ciphertext of one is a ciphertext of the other,
//! of another number.
//!
//! In BFV `c_0 + c_1 s` is `Q / t m + v`. A multiple `m = k m'` of `k = t / t'` is there `Q / t' m' + v`: the same words are a
//! ciphertext of `m'` modulo `t'`, which is the division that [Halevi and Shoup 2015][hs] take digits by. And `k` times them
//! is `Q / t' m + k v`, one of `m` modulo `t'`. Keys have nothing of the plaintext modulus in them.
//!
//! In BGV `c_0 + c_1 s` is `m + t e`, which is one of `m` modulo `t'` as it stands, with errors that are multiples of `t'`; and of
//! `m = k m'` it is `k` times `m' + t' e`, so that the inverse of `k` modulo `Q` divides, the noise too. Errors of keys are
//! multiples of `t`, hence of `t'`: they serve the set with the divisor, which counts them with the larger factor.
//!
//! [hs]: https://eprint.iacr.org/2014/873

use std::sync::Arc;

use super::ciphertext::State;
use super::integers::inverse_modulo;
use super::polys::Polys;
use super::{Ciphertext, PlaintextSpace, RelinKey, Rlwe, SchemeKind, SecretKey, Spec};
use crate::error::refuse;
use crate::{Assurance, SchemeError, Tag};

impl Rlwe {
    /// This set with another plaintext modulus, a divisor of its own. Its keys are those of this one, under another name:
    /// [`Self::secret_key_of`], [`Self::relin_key_of`]. Cost: that of a set.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for CKKS, and for what is no divisor or 1.
    pub fn with_plain_modulus(&self, plain_modulus: u64) -> Result<Self, SchemeError> {
        // As secure as this one, which was asked.
        let mut made = Self::new(self.spec_modulo(plain_modulus)?, Assurance::Insecure)?;
        if let Some(inner) = Arc::get_mut(&mut made.0) {
            inner.key_factor = self.0.key_factor;
        }
        Ok(made)
    }

    fn spec_modulo(&self, plain_modulus: u64) -> Result<Spec, SchemeError> {
        if self.scheme() == SchemeKind::Ckks {
            let remedy = "its numbers have no plaintext modulus; take BFV or BGV";
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
    /// As there; [`SchemeError::Parameter`] for a set of BGV that was not made by [`Self::with_plain_modulus`], and counts errors
    /// of its own keys.
    pub fn relin_key_of(&self, of: &Self, key: &RelinKey) -> Result<RelinKey, SchemeError> {
        self.times(of)?;
        if self.0.key_factor < of.0.key_factor {
            let remedy = "make the set of that of the key by with_plain_modulus";
            return refuse("set", self.spec().plaintext.modulus(), remedy);
        }
        let mut own = key.clone();
        own.0.tag = self.tag_of(of, key.0.tag)?;
        Ok(own)
    }

    /// A ciphertext of a set that this one was made of, whose plaintext is a multiple of what its plaintext modulus is of this
    /// one's: the plaintext divided by that, without a product and without noise. **Of a plaintext that is no multiple nothing
    /// is left.** Cost: in BGV a pass.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for sets that differ in anything else, and another set's ciphertext.
    pub fn divided(&self, of: &Self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let times = self.times(of)?;
        if self.scheme() != SchemeKind::Bgv {
            return self.renamed(of, a);
        }
        let noise = a.state.noise.times_exactly(1.0 / times as f64);
        let primes = self.chain().level(a.level());
        let polys = Polys::take(primes.len(), a.components(), self.ring_degree());
        let polys = polys.map_primes_in_pass(0, |_, prime, out| {
            let q = &primes[prime];
            let mut divided = out.copy(a.residues().at(prime));
            divided.scale(q.factor(inverse_modulo(times, q.value())), q);
            divided
        });
        let renamed = self.renamed(of, a)?;
        Ok(Ciphertext { polys, state: State { noise, ..renamed.state }, ..renamed })
    }

    /// A ciphertext of a set that this one was made of: its plaintext modulo this one's modulus. In BFV noise grows by what the
    /// one modulus is of the other, in BGV by nothing.
    ///
    /// # Errors
    /// As [`Self::divided`]; [`SchemeError::NoiseBudget`] where there is no room.
    pub fn reduced(&self, of: &Self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let times = self.times(of)?;
        let renamed = self.renamed(of, a)?;
        if self.scheme() == SchemeKind::Bgv {
            return Ok(renamed);
        }
        self.multiply_integer(&renamed, times as i64)
    }

    /// The words of another set's ciphertext, as they stand here.
    fn renamed(&self, of: &Self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let tag = self.tag_of(of, a.tag)?;
        // What divisions have multiplied the plaintext with, modulo its own modulus.
        let factor = a.state.factor % self.spec().plaintext.modulus();
        Ok(Ciphertext { tag, state: State { factor, ..a.state }, ..a.clone() })
    }
}

#[cfg(test)]
mod tests {
    use hesc_math::{AesCtrRng, RingIndex};
    use rand_core::SeedableRng;

    use super::*;

    /// In BGV a division takes its share of the noise, a reduction none, and keys keep that of their own set.
    #[test]
    fn noise_in_bgv_is_that_of_the_words() {
        let ring = RingIndex::new(255).unwrap();
        let mut coeff_moduli = ring.ntt_primes(45, 4).unwrap();
        let special_moduli = vec![coeff_moduli.remove(0)];
        let spec = Spec {
            scheme: SchemeKind::Bgv,
            ring,
            coeff_moduli,
            levels: Vec::new(),
            special_moduli,
            plaintext: PlaintextSpace::Integers { plain_modulus: 64 },
            bound: 1.0,
            packing: None,
        };
        let s = Rlwe::new(spec, Assurance::Insecure).unwrap();
        let low = s.with_plain_modulus(2).unwrap();
        let rng = &mut AesCtrRng::from_seed([7; 32]);
        let (secret, public) = s.generate_keys(rng);
        let relin = s.generate_relin_key(&secret, rng).unwrap();
        let plain = s.encode_integers(&[0, 32, 32, 0, -32 + 64]).unwrap();
        let a = s.encrypt(&public, &plain, rng).unwrap();
        let divided = low.divided(&s, &a).unwrap();
        let gained = low.noise_budget(&divided) - s.noise_budget(&a);
        assert!((gained - 5.0).abs() < 1e-6, "{gained}");
        let reduced = low.reduced(&s, &a).unwrap();
        assert!((low.noise_budget(&reduced) - s.noise_budget(&a)).abs() < 1e-6);
        // By its own key, whose errors are multiples of the larger modulus.
        let (own, key) =
            (low.relin_key_of(&s, &relin).unwrap(), low.secret_key_of(&s, &secret).unwrap());
        let square = low.relinearise(&low.square(&divided).unwrap(), &own).unwrap();
        let found = low.decode_integers(&low.decrypt(&key, &square).unwrap()).unwrap();
        assert_eq!(found[..5], [0, 1, 1, 0, 1]);
        let excess = square.state.noise.deviation / low.measured_deviation(&key, &square);
        // As the mean square over few roots scatters.
        let scatter = 1.0 + 8.0 / low.degree().sqrt();
        assert!((1.0 / scatter..16.0).contains(&excess), "{excess}");
        for level in 1..=3 {
            assert!((low.key_deviation(level) / s.key_deviation(level) - 1.0).abs() < 1e-9);
        }
    }
}
