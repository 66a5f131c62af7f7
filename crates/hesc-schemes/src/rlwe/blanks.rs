//! Blank ciphertexts and keys: zeros of the right sizes, which nobody has encrypted and no secret belongs to. Level,
//! scale and noise of a ciphertext follow from public data, so that whatever is computed on blanks claims what it will
//! claim on ciphertexts: plans try programs on them instead of making keys.

use std::collections::BTreeMap;

use hesc_math::ring::Automorphism;

use super::keys::{GaloisKey, GaloisKeys, RelinKey, SwitchKey};
use super::polys::Polys;
use super::{Ciphertext, Encryption, Rlwe};
use crate::{KeyId, SchemeError, Tag};

/// The key of blank ciphertexts and keys.
const NO_KEY: KeyId = KeyId::from_bytes([0; 16]);

impl Rlwe {
    /// What an encryption of numbers within the set's bound would say of itself, over zeros.
    pub fn blank(&self, under: Encryption) -> Ciphertext {
        let state = self.fresh_state(under);
        let primes = self.chain().level(state.level).len();
        let polys = Polys::take(primes, state.components, self.ring_degree());
        let polys = polys.map_rows(0, |_, _, _, row| row.zero());
        Ciphertext { tag: self.blank_tag(), state, polys }
    }

    fn blank_key(&self) -> Result<SwitchKey, SchemeError> {
        self.check_switches()?;
        let (primes, digits) = (self.chain().primes().len(), self.chain().key_digits().len());
        let polys = Polys::zeros(primes, 2 * digits, self.ring_degree());
        Ok(SwitchKey { tag: self.blank_tag(), seed: Default::default(), polys })
    }

    fn blank_tag(&self) -> Tag {
        Tag { params: self.fingerprint(), key: NO_KEY }
    }

    /// A relinearisation key for blank ciphertexts.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for a set without special primes.
    pub fn blank_relin_key(&self) -> Result<RelinKey, SchemeError> {
        self.blank_key().map(RelinKey)
    }

    /// Keys of these automorphisms for blank ciphertexts.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for a set without special primes, and for what is no automorphism.
    pub fn blank_galois_keys(&self, elements: &[usize]) -> Result<GaloisKeys, SchemeError> {
        let mut keys = BTreeMap::new();
        for &element in elements {
            self.check_automorphism(element)?;
            let automorphism = Automorphism::new(self.ring(), element);
            keys.insert(element, GaloisKey { key: self.blank_key()?, automorphism });
        }
        Ok(GaloisKeys { tag: self.blank_tag(), keys })
    }
}
