//! Fewer primes: modulus switching and rescaling.

use hesc_math::rns::kernels;

use super::buffer::Buffer;
use super::evaluation::SCALE_TOLERANCE;
use super::{Ciphertext, Rlwe, parallel};
use crate::SchemeError;

impl Rlwe {
    /// One level down, the plaintext unchanged. BFV and BGV divide by the last prime, and so does
    /// the noise; CKKS drops it, scale and error unchanged.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::LastLevel`], [`SchemeError::NoiseBudget`].
    pub fn mod_switch(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        self.check_not_last(a, a.level.saturating_sub(1))?;
        self.differences().mod_switch(self, a)
    }

    /// Down to a level.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`]; [`SchemeError::LastLevel`] for a level above the ciphertext's, or
    /// none; [`SchemeError::NoiseBudget`].
    pub fn mod_switch_to(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        if level > a.level {
            return Err(SchemeError::LastLevel { level: a.level, wanted: level });
        }
        self.check_not_last(a, level)?;
        let mut result = a.clone();
        while result.level > level {
            result = self.mod_switch(&result)?;
        }
        Ok(result)
    }

    /// `a` down to the level of `target`, in CKKS also to its scale: on its way it is multiplied by 1
    /// at the scale that the rescaling turns into the other's. A ciphertext at that level or below
    /// comes back as it is.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::NoiseBudget`];
    /// [`SchemeError::Value`] for scales so far apart that 1 cannot be written between them.
    pub fn matched(&self, a: &Ciphertext, target: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        target.tag.check(self.fingerprint(), Some(a.tag))?;
        let same_scale = (a.scale / target.scale - 1.0).abs() <= SCALE_TOLERANCE;
        if a.level <= target.level {
            return Ok(a.clone());
        }
        if same_scale {
            return self.mod_switch_to(a, target.level);
        }
        let above = self.mod_switch_to(a, target.level + 1)?;
        let prime = self.chain().primes()[target.level].value() as f64;
        self.rescale(&self.multiply_real(&above, 1.0, target.scale * prime / above.scale)?)
    }

    /// The level at which a product of these has most room left. BGV: its noise does not square if
    /// primes are dropped before, one or more; the highest such level. The lower of both otherwise.
    pub fn product_level(&self, a: &Ciphertext, b: &Ciphertext) -> usize {
        self.differences().product_level(self, a, b)
    }

    pub(crate) fn check_not_last(&self, a: &Ciphertext, level: usize) -> Result<(), SchemeError> {
        if level == 0 {
            return Err(SchemeError::LastLevel { level: a.level, wanted: level });
        }
        Ok(())
    }

    /// Every part divided by the last prime and rounded.
    pub(crate) fn divide_by_last(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let (n, level) = (self.ring_degree(), a.level - 1);
        let chain = self.chain();
        let last = &chain.primes()[level];
        let value = last.value() as f64;
        let mut result = Ciphertext { level, ..a.shell() };
        result.noise = self.divided_noise(a, value);
        self.differences().divide(&mut result, last.value());
        self.check_noise(result.noise, level, result.scale)?;
        let division = chain.last_division(a.level);
        let room = division.remainder.prepared_words(n);
        let (kept, dropped) = a.words.split_at(level * a.limb_words());
        let mut coefficients = Buffer::take(dropped.len());
        parallel::for_each_chunk(&mut coefficients, n, 0, |_, part, words| {
            words.copy_from_slice(&dropped[part * n..][..n]);
            self.domain().to_coefficients(words, last);
        });
        let mut prepared = Buffer::take(a.size * room);
        parallel::prepare(&division.remainder, &mut prepared, n, |part, _| {
            &coefficients[part * n..][..n]
        });
        result.words = Buffer::from(kept);
        parallel::for_each_chunk(&mut result.words, n, n, |row, index, out| {
            let (limb, part) = (index / a.size, index % a.size);
            let prime = &chain.primes()[limb];
            division.remainder.row(row, limb, &prepared[part * room..][..room]);
            self.domain().accept_coefficients(row, prime);
            kernels::subtract_scale(out, row, division.inverses[limb], prime);
        });
        Ok(result)
    }
}
