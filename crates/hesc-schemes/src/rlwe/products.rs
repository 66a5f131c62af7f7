//! Products of ciphertexts, and the way back to two parts under one secret.

use hesc_math::residues::{Reducer, kernels};

use super::buffer::Buffer;
use super::domain::Domain;
use super::keys::{RelinKey, SwitchKey};
use super::noise::{MOST_PARTS, Noise};
use super::{Ciphertext, Rlwe, parallel};
use crate::SchemeError;

/// The parts of a product modulo a prime, evaluations, from those of its factors; a square if there
/// is no second one. `row` is a polynomial of scratch space.
pub(crate) fn tensor(out: &mut [u64], row: &mut [u64], x: &[u64], y: Option<&[u64]>, q: &Reducer) {
    fn part(a: &[u64], n: usize, i: usize) -> &[u64] {
        &a[i * n..][..n]
    }
    let n = row.len();
    let other = y.unwrap_or(x);
    let (parts, others) = (x.len() / n, other.len() / n);
    if (parts, others) == (2, 2) {
        let (first, rest) = out.split_at_mut(n);
        let (second, third) = rest.split_at_mut(n);
        let out = [first, second, third];
        let (a, b) = (x.split_at(n).into(), other.split_at(n).into());
        match y {
            Some(_) => kernels::tensor(out, a, b, q),
            None => kernels::square_tensor(out, a, q),
        }
        return;
    }
    for (k, out) in out.chunks_exact_mut(n).enumerate() {
        let first = (k + 1).saturating_sub(others);
        kernels::multiply(out, part(x, n, first), part(other, n, k - first), q);
        for i in first + 1..=k.min(parts - 1) {
            kernels::multiply(row, part(x, n, i), part(other, n, k - i), q);
            kernels::add(out, row, q);
        }
    }
}

impl Rlwe {
    /// `a * b`, of three parts: [`Self::relinearise`] brings it back to two. CKKS: scales multiply,
    /// [`Self::rescale`] brings them back.
    ///
    /// Cost: BGV and CKKS one pass; BFV seven transforms for each prime of two bases (Halevi,
    /// Polyakov and Shoup 2019).
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::LevelMismatch`];
    /// [`SchemeError::NotRelinearised`] for factors of more than two parts; [`SchemeError::NoiseBudget`] if the
    /// product could not be decrypted.
    pub fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.check_operands(a, b)?;
        Self::require_two_parts(a, "a product")?;
        Self::require_two_parts(b, "a product")?;
        self.unrelinearised(a, Some(b))
    }

    /// `a^2`; cheaper than [`Self::multiply`].
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`]; [`SchemeError::NotRelinearised`] for more than two parts;
    /// [`SchemeError::NoiseBudget`] if the square could not be decrypted.
    pub fn square(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        Self::require_two_parts(a, "a product")?;
        self.unrelinearised(a, None)
    }

    /// `a * b` of factors with any numbers of parts: it has those of both together, less one, and
    /// decrypts as it is, so that nobody needs a key to multiply. Time and size grow with the parts,
    /// the noise faster than with relinearisation.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::LevelMismatch`];
    /// [`SchemeError::TooManyParts`] beyond sixteen; [`SchemeError::NoiseBudget`] if the product could not be
    /// decrypted.
    pub fn multiply_parts(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_operands(a, b)?;
        let parts = a.size + b.size - 1;
        if parts > MOST_PARTS {
            let operation = "a ciphertext";
            return Err(SchemeError::TooManyParts { operation, parts, most: MOST_PARTS });
        }
        self.unrelinearised(a, Some(b))
    }

    /// A product of factors of one level; a square if there is no second factor.
    fn unrelinearised(
        &self,
        a: &Ciphertext,
        b: Option<&Ciphertext>,
    ) -> Result<Ciphertext, SchemeError> {
        let shell = self.product_shell(a, b.unwrap_or(a))?;
        Ok(Ciphertext { words: self.differences().multiply(self, a, b), ..shell })
    }

    /// Everything but the words of a product of factors of one level.
    pub(super) fn product_shell(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
    ) -> Result<Ciphertext, SchemeError> {
        let noise = self.differences().product_noise(self, a, b);
        let scale = a.scale * b.scale;
        self.check_noise(noise, a.level, scale)?;
        let factor = self.differences().factor(a.factor, b.factor);
        Ok(Ciphertext { size: a.size + b.size - 1, noise, scale, factor, ..a.shell() })
    }

    /// Products of evaluations.
    pub(crate) fn tensors(&self, a: &Ciphertext, b: Option<&Ciphertext>) -> Buffer {
        let n = self.ring_degree();
        let parts = a.size + b.unwrap_or(a).size - 1;
        let primes = self.chain().level(a.level);
        let mut words = Buffer::take(parts * n * primes.len());
        let one_limb = |row: &mut [u64], limb: usize, out: &mut [u64]| {
            let rows = |c: &'_ Ciphertext| limb * c.size * n..(limb + 1) * c.size * n;
            let y = b.map(|b| &b.words[rows(b)]);
            tensor(out, row, &a.words[rows(a)], y, &primes[limb]);
        };
        parallel::for_each_pass(&mut words, parts * n, n, one_limb);
        words
    }

    /// Brings a product back to two parts.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`],
    /// [`SchemeError::NoiseBudget`], and [`SchemeError::TooManyParts`] beyond three.
    pub fn relinearise(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        key.0.tag.check(self.fingerprint(), Some(a.tag))?;
        match a.size {
            2 => return Ok(a.clone()),
            3 => {}
            parts => {
                let operation = "relinearisation";
                return Err(SchemeError::TooManyParts { operation, parts, most: 3 });
            }
        }
        let noise = self.switched_noise(a)?;
        let n = self.ring_degree();
        let words = parallel::together(a.words.len(), || {
            let digits = self.cut(self.part(a, 2), a.level);
            let mut words = self.switch(&digits, &key.0);
            parallel::for_each_chunk(&mut words, 2 * n, 0, |_, limb, out| {
                let prime = &self.chain().level(a.level)[limb];
                kernels::add(out, &a.words[limb * 3 * n..][..2 * n], prime);
            });
            words
        });
        Ok(Ciphertext { size: 2, words, noise, ..a.shell() })
    }

    /// [`Self::relinearise`] and [`Self::mod_switch_to`] at once: in BGV with one division and one rounding instead
    /// of two. Sums of products of three parts take it as products do, so that they come down together.
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
        if level >= a.level || a.size != 3 || !at_once {
            return self.mod_switch_to(&self.relinearise(a, key)?, level);
        }
        self.check_ciphertext(a)?;
        key.0.tag.check(self.fingerprint(), Some(a.tag))?;
        let shell = self.relinearised_shell(a, level)?;
        let words = parallel::together(a.words.len(), || self.switch_down(a, &key.0, level));
        Ok(Ciphertext { words, ..shell })
    }

    /// What [`Self::relinearise_to`] makes of three parts, but for the words.
    pub(super) fn relinearised_shell(
        &self,
        a: &Ciphertext,
        level: usize,
    ) -> Result<Ciphertext, SchemeError> {
        let switched = Ciphertext { size: 2, noise: self.switched_noise(a)?, ..a.shell() };
        if level == a.level {
            return Ok(switched);
        }
        if level == 0 || level > a.level {
            return Err(SchemeError::LastLevel { level: a.level, wanted: level });
        }
        self.divided_shell(&switched, level)
    }

    /// The noise after switching a key, refused if it does not fit.
    pub(crate) fn switched_noise(&self, a: &Ciphertext) -> Result<Noise, SchemeError> {
        let noise = a.noise.plus(self.switching_noise(a.level));
        self.check_noise(noise, a.level, a.scale)?;
        Ok(noise)
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
        Self::require_two_parts(a, "key switching")?;
        let noise = self.switched_noise(a)?;
        let n = self.ring_degree();
        let words = parallel::together(a.words.len(), || {
            let mut words = self.switch(&self.cut(self.part(a, 1), a.level), key);
            parallel::for_each_chunk(&mut words, 2 * n, 0, |_, limb, out| {
                let prime = &self.chain().level(a.level)[limb];
                kernels::add(&mut out[..n], &a.words[limb * 2 * n..][..n], prime);
            });
            words
        });
        Ok(Ciphertext { tag: key.tag, words, noise, ..a.shell() })
    }
}
