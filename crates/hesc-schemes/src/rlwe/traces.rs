//! Operations on slots without words: what becomes of level and noise, and what they cost. A plan tries a program on
//! [`Trace`]s before anything is encrypted; what it says of noise is what ciphertexts will say.
//!
//! For sets that circuits are planned for ([`Rlwe::check_combines`]), whose plaintexts keep their factor.

use super::buffer::Buffer;
use super::levels::Dropping;
use super::{Ciphertext, Encryption, Plaintext, Rlwe, Work};
use crate::error::refuse;
use crate::{KeyId, SchemeError, Tag};

/// What is known of a ciphertext, and how many products in sequence it is made of.
#[derive(Debug, Clone)]
pub struct Trace {
    shell: Ciphertext,
    depth: usize,
}

impl Trace {
    /// Which of the set's levels it is at; the lowest is 1.
    pub fn level(&self) -> usize {
        self.shell.level
    }

    /// Products in sequence.
    pub fn depth(&self) -> usize {
        self.depth
    }

    fn with(&self, shell: Ciphertext) -> Self {
        Self { shell, depth: self.depth }
    }
}

/// Traces are of any key.
const NO_KEY: KeyId = KeyId::from_bytes([0; 16]);

impl Rlwe {
    /// Everything but the words of an encryption, whoever has its key.
    pub(super) fn fresh_shell(&self, under: Encryption) -> Ciphertext {
        let (bound, scale) = (self.spec().bound, self.default_scale());
        let deviation = match under {
            Encryption::SecretKey => self.secret_key_deviation(),
            Encryption::PublicKey => self.public_key_deviation(),
        };
        Ciphertext {
            tag: Tag { params: self.fingerprint(), key: NO_KEY },
            level: self.levels(),
            size: 2,
            words: Buffer::default(),
            scale,
            factor: 1,
            noise: self.fresh(deviation, bound, scale),
        }
    }

    /// What is known of an encryption.
    ///
    /// # Errors
    /// As [`Self::check_combines`].
    pub fn fresh_trace(&self, under: Encryption) -> Result<Trace, SchemeError> {
        self.check_combines()?;
        Ok(Trace { shell: self.fresh_shell(under), depth: 0 })
    }

    /// What is known of a ciphertext that is there.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::NotRelinearised`]; as [`Self::check_combines`].
    pub fn trace(&self, a: &Ciphertext) -> Result<Trace, SchemeError> {
        self.check_combines()?;
        self.check_bit(a, None)?;
        let tag = Tag { key: NO_KEY, ..a.tag };
        Ok(Trace { shell: Ciphertext { tag, ..a.shell() }, depth: 0 })
    }

    /// Bits of room before an operation is refused.
    pub fn trace_budget(&self, a: &Trace) -> f64 {
        self.noise_budget(&a.shell)
    }

    /// [`Self::sum`].
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`].
    pub fn traced_sum(&self, a: &Trace, b: &Trace) -> Result<(Trace, Work), SchemeError> {
        let level = a.level().min(b.level());
        let (first, before) = self.traced_down(&a.shell, level, Dropping::Never)?;
        let (second, down) = self.traced_down(&b.shell, level, Dropping::Never)?;
        let noise = first.noise.plus(second.noise);
        self.check_noise(noise, level, first.scale)?;
        let shell = Ciphertext { noise, ..first };
        let work = before + down + self.work_of_sum(1, level);
        Ok((Trace { shell, depth: a.depth.max(b.depth) }, work))
    }

    /// [`Self::add_plain`].
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`], [`SchemeError::ParameterMismatch`].
    pub fn traced_plus_plain(
        &self,
        a: &Trace,
        plaintext: &Plaintext,
    ) -> Result<(Trace, Work), SchemeError> {
        self.check_params(plaintext.params)?;
        let own = self.differences().plain_noise(self, plaintext.bound.value(), plaintext.scale);
        let noise = a.shell.noise.plus(own);
        self.check_noise(noise, a.level(), a.shell.scale)?;
        let primes = self.chain().level(a.level()).len() as f64;
        let work = Work { transforms: primes, passes: 2.0 * primes };
        Ok((a.with(Ciphertext { noise, ..a.shell.shell() }), work))
    }

    /// [`Self::multiply_plain`].
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`], [`SchemeError::ParameterMismatch`].
    pub fn traced_times_plain(
        &self,
        a: &Trace,
        plaintext: &Plaintext,
    ) -> Result<(Trace, Work), SchemeError> {
        self.check_params(plaintext.params)?;
        let noise = self.differences().plain_product_noise(self, &a.shell, plaintext);
        self.check_noise(noise, a.level(), a.shell.scale)?;
        let primes = self.chain().level(a.level()).len() as f64;
        let work = Work { transforms: primes, passes: 3.0 * primes };
        Ok((a.with(Ciphertext { noise, ..a.shell.shell() }), work))
    }

    /// [`Self::apply_galois`], of any automorphism but the identity.
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`].
    pub fn traced_image(&self, a: &Trace) -> Result<(Trace, Work), SchemeError> {
        let noise = self.switched_noise(&a.shell)?;
        let work = self.work_of_products(0, 1, a.level(), a.level());
        Ok((a.with(Ciphertext { noise, ..a.shell.shell() }), work))
    }

    /// [`Self::sum_of_products`].
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`]; [`SchemeError::Parameter`] without a product.
    pub fn traced_sum_of_products(
        &self,
        products: &[(&Trace, Option<&Trace>)],
        others: &[&Trace],
    ) -> Result<(Trace, Work), SchemeError> {
        let pairs: Vec<_> = products.iter().map(|(a, b)| (&a.shell, b.map(|b| &b.shell))).collect();
        let rest: Vec<&Ciphertext> = others.iter().map(|c| &c.shell).collect();
        let level = self.level_of_sum(&pairs, &rest);
        let mut work = Work::default();
        let mut low: Vec<(&Ciphertext, Ciphertext)> = Vec::new();
        for c in pairs
            .iter()
            .flat_map(|(a, b)| std::iter::once(*a).chain(*b))
            .chain(rest.iter().copied())
        {
            if !low.iter().any(|(high, _)| std::ptr::eq(*high, c)) {
                let (shell, down) = self.traced_down(c, level, Dropping::ForSpeed)?;
                work += down;
                low.push((c, shell));
            }
        }
        // All of them are there.
        let at_level = |c: &'_ Ciphertext| -> Option<&Ciphertext> {
            low.iter().find(|(high, _)| std::ptr::eq(*high, c)).map(|(_, low)| low)
        };
        let mut sum: Option<Ciphertext> = None;
        let mut add = |term: Ciphertext| -> Result<(), SchemeError> {
            sum = Some(match sum.take() {
                Some(sum) => {
                    let noise = sum.noise.plus(term.noise);
                    self.check_noise(noise, level, sum.scale)?;
                    Ciphertext { noise, size: sum.size.max(term.size), ..sum }
                }
                None => term,
            });
            Ok(())
        };
        for (a, b) in &pairs {
            let factor =
                |c: &'_ Ciphertext| at_level(c).map_or_else(|| c.shell(), Ciphertext::shell);
            add(self.product_shell(&factor(a), &factor(b.unwrap_or(a)))?)?;
        }
        for c in &rest {
            add(at_level(c).map_or_else(|| c.shell(), Ciphertext::shell))?;
        }
        let Some(sum) = sum.filter(|sum| sum.size == 3) else {
            return refuse("products", "[]", "give at least one product");
        };
        let switched = Ciphertext { size: 2, noise: self.switched_noise(&sum)?, ..sum.shell() };
        let below = self.product_level(&switched, &switched);
        let shell = self.relinearised_shell(&sum, below)?;
        work += self.work_of_products(products.len(), others.len(), level, below);
        let factors = products.iter().flat_map(|(a, b)| std::iter::once(*a).chain(*b));
        let within = factors.map(|a| a.depth + 1).chain(others.iter().map(|c| c.depth));
        Ok((Trace { shell, depth: within.max().unwrap_or(0) }, work))
    }

    fn traced_down(
        &self,
        a: &Ciphertext,
        level: usize,
        dropping: Dropping,
    ) -> Result<(Ciphertext, Work), SchemeError> {
        let way = self.way_down(a, level, dropping)?;
        let work = self.work_of_way(a.level, level, way.is_dropped());
        Ok((way.shell().unwrap_or(a).shell(), work))
    }
}
