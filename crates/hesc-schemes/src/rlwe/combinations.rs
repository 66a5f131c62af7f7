//! Sums of products at levels that a plan says: what circuits on slots are made of.
//!
//! A plan knows before it begins what becomes of the noise: [`Outline`]s go through the same operations as ciphertexts
//! will, without their words. For BGV sets whose primes are 1 modulo the plaintext modulus: all others change the
//! factor on plaintexts from level to level, and sums of ciphertexts that came down in different ways would cost room.

use hesc_math::residues::kernels;
use hesc_math::ring::Prime;

use super::buffer::Buffer;
use super::levels::Dropping;
use super::noise::Noise;
use super::products::tensor;
use super::{Ciphertext, RelinKey, Rlwe, SchemeKind, parallel};
use crate::error::refuse;
use crate::{KeyId, SchemeError, Tag};

/// A ciphertext without its words: level and noise, which decide what can be done with it.
#[derive(Debug, Clone)]
pub struct Outline(pub(super) Ciphertext);

impl Outline {
    /// Which of the set's levels it is at; the lowest is 1.
    pub fn level(&self) -> usize {
        self.0.level
    }
}

/// A product with an integer factor.
type Product<'a> = (i64, &'a Ciphertext, &'a Ciphertext);
/// A multiple of a ciphertext.
type Multiple<'a> = (i64, &'a Ciphertext);

impl Rlwe {
    /// Refuses sets that no circuit is planned for.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] unless the scheme is BGV, has special primes, and all others are 1 modulo the
    /// plaintext modulus.
    pub fn check_combines(&self) -> Result<(), SchemeError> {
        let spec = self.spec();
        if spec.scheme != SchemeKind::Bgv || spec.special_moduli.is_empty() {
            return refuse(
                "scheme",
                spec.scheme.name(),
                "circuits on slots need BGV with special primes: take a preset \"bgv_...\"",
            );
        }
        let t = spec.plaintext.modulus();
        match spec.coeff_moduli.iter().find(|&q| q % t != 1) {
            None => Ok(()),
            Some(q) => refuse(
                "coeff_moduli",
                q,
                "circuits on slots need primes that are 1 modulo the plaintext modulus, as those of presets are",
            ),
        }
    }

    /// What decides about operations on a ciphertext.
    pub fn outline(&self, a: &Ciphertext) -> Outline {
        Outline(a.shell())
    }

    /// The same of an encryption under the public key, which has more noise than one under the secret key.
    pub fn fresh_outline(&self) -> Outline {
        let (bound, scale) = (self.spec().bound, self.default_scale());
        Outline(Ciphertext {
            tag: Tag { params: self.fingerprint(), key: KeyId::from_bytes([0; 16]) },
            level: self.levels(),
            size: 2,
            words: Buffer::default(),
            scale,
            factor: 1,
            noise: self.fresh(self.public_key_deviation(), bound, scale),
        })
    }

    /// Bits of room before an operation is refused.
    pub fn outline_budget(&self, a: &Outline) -> f64 {
        self.noise_budget(&a.0)
    }

    /// How many products in sequence there is room for, each of two results of the one before.
    pub fn outline_depth(&self, a: &Outline) -> usize {
        let mut last = a.0.shell();
        std::iter::from_fn(|| {
            let product = self.product_at(&last, &last, self.product_level(&last, &last)).ok()?;
            last = self.settled_shell(product).ok()?;
            Some(())
        })
        .count()
    }

    /// Refuses ciphertexts that do not belong together, or not to the key.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`]; [`SchemeError::NotRelinearised`].
    pub fn check_inputs(&self, relin: &RelinKey, all: &[&Ciphertext]) -> Result<(), SchemeError> {
        for a in all {
            self.check_ciphertext(a)?;
            relin.0.tag.check(self.fingerprint(), Some(a.tag))?;
            Self::require_two_parts(a, "a circuit")?;
        }
        Self::check_factors(all.iter().copied())
    }

    /// Refuses a ciphertext that is no input of a circuit, or not one beside another.
    ///
    /// # Errors
    /// As [`Self::check_inputs`].
    pub fn check_bit(
        &self,
        a: &Ciphertext,
        beside: Option<&Ciphertext>,
    ) -> Result<(), SchemeError> {
        a.tag.check(self.fingerprint(), Some(beside.unwrap_or(a).tag))?;
        Self::require_two_parts(a, "a circuit")?;
        Self::check_factors(std::iter::once(a))
    }

    /// Words of a ciphertext of a level.
    pub fn ciphertext_words(&self, level: usize) -> usize {
        2 * self.ring_degree() * self.chain().level(level).len()
    }

    /// `a` at a level not above its own: divided, or without the primes that the level has not where that leaves as
    /// much room.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`]; [`SchemeError::LastLevel`] for a level above the ciphertext's, or none;
    /// [`SchemeError::NotRelinearised`]; [`SchemeError::NoiseBudget`].
    pub fn lower(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, SchemeError> {
        self.check_lower(a, level)?;
        self.lowered_with(a, level, Dropping::NoWorse)
    }

    /// What [`Self::lower`] makes of an outline.
    ///
    /// # Errors
    /// The same.
    pub fn lower_outline(&self, a: &Outline, level: usize) -> Result<Outline, SchemeError> {
        self.check_lower(&a.0, level)?;
        self.lowered_shell_with(&a.0, level, Dropping::NoWorse).map(Outline)
    }

    fn check_lower(&self, a: &Ciphertext, level: usize) -> Result<(), SchemeError> {
        self.check_ciphertext(a)?;
        Self::require_two_parts(a, "a circuit")?;
        if level == 0 || level > a.level {
            return Err(SchemeError::LastLevel { level: a.level, wanted: level });
        }
        Ok(())
    }

    /// `sum k_i a_i + constant`, the constant in every slot; all at one level.
    ///
    /// Cost: a pass for each summand.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] without summands; [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`],
    /// [`SchemeError::LevelMismatch`], [`SchemeError::NotRelinearised`]; [`SchemeError::NoiseBudget`] if the sum could
    /// not be decrypted.
    pub fn combination(
        &self,
        terms: &[Multiple<'_>],
        constant: i64,
    ) -> Result<Ciphertext, SchemeError> {
        let shell = self.combination_shell(terms, constant)?;
        let (first, rest) = terms.split_at(1);
        let mut words = match *first {
            [(1, a)] => Buffer::from(&*a.words),
            [(k, a)] => self.scaled_words(a, k),
            _ => Buffer::default(),
        };
        self.add_multiples(&mut words, 2, rest, constant, shell.level);
        Ok(Ciphertext { words, ..shell })
    }

    /// What [`Self::combination`] makes of outlines.
    ///
    /// # Errors
    /// The same.
    pub fn combination_outline(
        &self,
        terms: &[(i64, &Outline)],
        constant: i64,
    ) -> Result<Outline, SchemeError> {
        let terms: Vec<_> = terms.iter().map(|&(k, a)| (k, &a.0)).collect();
        self.combination_shell(&terms, constant).map(Outline)
    }

    fn combination_shell(
        &self,
        terms: &[Multiple<'_>],
        constant: i64,
    ) -> Result<Ciphertext, SchemeError> {
        let Some(&(_, first)) = terms.first() else {
            return refuse("terms", "[]", "give at least one ciphertext");
        };
        let all = terms.iter().map(|&(_, a)| a);
        self.check_summands(all.clone(), first)?;
        let noise = self.noise_of_multiples(terms, constant);
        self.check_noise(noise, first.level, first.scale)?;
        Self::check_factors(all)?;
        Ok(Ciphertext { noise, ..first.shell() })
    }

    /// `sum k_i a_i b_i + sum k_i a_i + constant`, all at one level: relinearised once, and brought down to another
    /// level in the same division.
    ///
    /// Cost: a pass for each product and summand, then [`Self::relinearise_to`].
    ///
    /// # Errors
    /// As [`Self::combination`], of which [`SchemeError::Parameter`] is without products; [`SchemeError::LastLevel`]
    /// for a level above theirs.
    pub fn combination_of_products(
        &self,
        relin: &RelinKey,
        products: &[Product<'_>],
        terms: &[Multiple<'_>],
        constant: i64,
        level: usize,
    ) -> Result<Ciphertext, SchemeError> {
        let shell = self.products_shell(products, terms, constant)?;
        let from = shell.level;
        let mut words = match *products {
            [(1, a, b)] => self.tensors(a, (!std::ptr::eq(a, b)).then_some(b)),
            _ => self.sum_of_tensors(products, from),
        };
        self.add_multiples(&mut words, 3, terms, constant, from);
        self.relinearise_to(&Ciphertext { words, ..shell }, relin, level)
    }

    /// What [`Self::combination_of_products`] makes of outlines.
    ///
    /// # Errors
    /// The same.
    pub fn products_outline(
        &self,
        products: &[(i64, &Outline, &Outline)],
        terms: &[(i64, &Outline)],
        constant: i64,
        level: usize,
    ) -> Result<Outline, SchemeError> {
        let products: Vec<_> = products.iter().map(|&(k, a, b)| (k, &a.0, &b.0)).collect();
        let terms: Vec<_> = terms.iter().map(|&(k, a)| (k, &a.0)).collect();
        let sum = self.products_shell(&products, &terms, constant)?;
        self.relinearised_shell(&sum, level).map(Outline)
    }

    fn products_shell(
        &self,
        products: &[Product<'_>],
        terms: &[Multiple<'_>],
        constant: i64,
    ) -> Result<Ciphertext, SchemeError> {
        let Some(&(_, first, _)) = products.first() else {
            return refuse("products", "[]", "give at least one product");
        };
        let factors = products.iter().flat_map(|&(_, a, b)| [a, b]);
        let all = factors.chain(terms.iter().map(|&(_, a)| a));
        self.check_summands(all.clone(), first)?;
        let mut noise = self.noise_of_multiples(terms, constant);
        for &(k, a, b) in products {
            noise = noise.plus(self.product_shell(a, b)?.noise.times(k.unsigned_abs() as f64));
        }
        self.check_noise(noise, first.level, first.scale)?;
        Self::check_factors(all)?;
        Ok(Ciphertext { size: 3, noise, ..first.shell() })
    }

    /// Refuses what does not go into one sum, before it is made.
    fn check_summands<'a>(
        &self,
        mut all: impl Iterator<Item = &'a Ciphertext>,
        first: &Ciphertext,
    ) -> Result<(), SchemeError> {
        all.try_for_each(|a| {
            self.check_operands(first, a)?;
            Self::require_two_parts(a, "a circuit")
        })
    }

    /// Refuses ciphertexts with a factor, which only bytes that lie have where no prime changes it.
    fn check_factors<'a>(mut all: impl Iterator<Item = &'a Ciphertext>) -> Result<(), SchemeError> {
        match all.find(|a| a.factor != 1) {
            None => Ok(()),
            Some(a) => refuse(
                "factor",
                a.factor,
                "ciphertexts of these parameters have none: encrypt again",
            ),
        }
    }

    fn noise_of_multiples(&self, terms: &[Multiple<'_>], constant: i64) -> Noise {
        let constant = Noise::message(constant.unsigned_abs() as f64);
        terms.iter().fold(constant, |sum, &(k, a)| sum.plus(a.noise.times(k.unsigned_abs() as f64)))
    }

    /// Adds ciphertexts of two parts and a constant to words of some parts a limb.
    fn add_multiples(
        &self,
        words: &mut [u64],
        parts: usize,
        terms: &[Multiple<'_>],
        constant: i64,
        level: usize,
    ) {
        let n = self.ring_degree();
        let primes = self.chain().level(level);
        let one_limb = |_: &mut [u64], limb: usize, out: &mut [u64]| {
            let prime = &primes[limb];
            for &(k, a) in terms {
                let row = &a.words[limb * 2 * n..][..2 * n];
                add_multiple(&mut out[..2 * n], k, row, prime);
            }
            if constant != 0 {
                // One is 1 at every root.
                let constant = prime.modulus().reduce_signed(constant);
                kernels::add_constant(&mut out[..n], constant, prime);
            }
        };
        parallel::for_each_pass(words, parts * n, 0, one_limb);
    }

    /// The sum of products with factors, of three parts.
    fn sum_of_tensors(&self, products: &[Product<'_>], level: usize) -> Buffer {
        let n = self.ring_degree();
        let primes = self.chain().level(level);
        let mut words = Buffer::take(3 * n * primes.len());
        let one_limb = |scratch: &mut [u64], limb: usize, out: &mut [u64]| {
            let prime = &primes[limb];
            let (product, row) = scratch.split_at_mut(3 * n);
            out.fill(0);
            for &(k, a, b) in products {
                let here = limb * 2 * n..(limb + 1) * 2 * n;
                let y = (!std::ptr::eq(a, b)).then(|| &b.words[here.clone()]);
                tensor(product, row, &a.words[here], y, prime);
                add_multiple(out, k, product, prime);
            }
        };
        parallel::for_each_pass(&mut words, 3 * n, 4 * n, one_limb);
        words
    }
}

/// `out += k row`.
fn add_multiple(out: &mut [u64], k: i64, row: &[u64], prime: &Prime) {
    match k {
        1 => kernels::add(out, row, prime),
        -1 => kernels::subtract(out, row, prime),
        _ => {
            let factor = prime.factor(prime.modulus().reduce_signed(k));
            kernels::scale_add(out, row, factor, prime);
        }
    }
}
