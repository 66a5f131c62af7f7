//! Sums of products at levels that a plan says: what circuits on slots are made of. What becomes of their noise is known
//! before ([`super::planned_states`]).
//!
//! For sets whose primes are 1 modulo the plaintext modulus: all others change the factor on plaintexts from level to
//! level, and sums of ciphertexts that came down in different ways would cost noise budget.

use hesc_math::residues::kernels;
use hesc_math::ring::Eval;

use super::planned_states::{PlannedState, no_products, no_terms};
use super::sampled::SplitMix;
use crate::SchemeError;
use crate::error::refuse;
use crate::rlwe::buffer::{Buffer, KeptBuffers};
use crate::rlwe::ciphertext::State;
use crate::rlwe::levels::WayDown;
use crate::rlwe::residues::{Row, RowMut};
use crate::rlwe::{Ciphertext, Plaintext, RelinKey, Rlwe, SchemeKind, parallel};

/// A product with an integer factor.
type Product<'a> = (i64, &'a Ciphertext, &'a Ciphertext);
/// A multiple of a ciphertext.
type Multiple<'a> = (i64, &'a Ciphertext);

/// What sets without it are told.
const NEED_BGV: &str = "circuits on slots need BGV with special primes: take a preset \"bgv_...\"";

impl Rlwe {
    /// Refuses sets that no circuit is planned for.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] unless the scheme is BGV, has special primes, and all others are 1 modulo the
    /// plaintext modulus.
    pub fn check_combines(&self) -> Result<(), SchemeError> {
        let spec = self.spec();
        self.check_bgv()?;
        if spec.special_moduli.is_empty() {
            return refuse("scheme", spec.scheme.name(), NEED_BGV);
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

    /// Refuses other schemes, whose ciphertexts rest as coefficients or have scales.
    fn check_bgv(&self) -> Result<(), SchemeError> {
        match self.spec().scheme {
            SchemeKind::Bgv => Ok(()),
            other => refuse("scheme", other.name(), NEED_BGV),
        }
    }

    /// Public numbers as a ciphertext beside another, at a level. Coefficients are given signs at random, so that
    /// numbers that are alike do not add up to more than their size anywhere: only their residues matter.
    ///
    /// Cost: a transform for each prime.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::NoSuchLevel`].
    pub fn public_ciphertext(
        &self,
        numbers: &Plaintext,
        beside: &Ciphertext,
        (level, seed): (usize, u64),
    ) -> Result<Ciphertext, SchemeError> {
        self.check_bgv()?;
        self.check_params(numbers.params)?;
        self.check_level(level)?;
        let t = self.spec().plaintext.modulus();
        let mut generator = SplitMix::new(seed);
        // `x` or `x - t`, such that their mean is zero.
        let signed: Vec<i64> = numbers
            .words
            .iter()
            .map(|&x| if generator.below(t) < x { x as i64 - t as i64 } else { x as i64 })
            .collect();
        let (n, primes) = (self.ring_degree(), self.chain().level(level));
        let mut words = Buffer::take(2 * n * primes.len());
        parallel::for_each_chunk(&mut words, 2 * n, 0, |_, prime, out| {
            let (first, second) = out.split_at_mut(n);
            // Primes are above the plaintext modulus.
            let q = primes[prime].value();
            for (word, &x) in first.iter_mut().zip(&signed) {
                *word = if x < 0 { q - x.unsigned_abs() } else { x as u64 };
            }
            self.domain().rest_coefficients(RowMut::assume(first), &primes[prime]);
            second.fill(0);
        });
        let state = self.planned_public(level, seed).state;
        Ok(Ciphertext { tag: beside.tag, state, words })
    }

    /// Refuses ciphertexts that do not belong together, or not to the key.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`]; [`SchemeError::NotRelinearised`].
    pub fn check_inputs(&self, relin: &RelinKey, all: &[&Ciphertext]) -> Result<(), SchemeError> {
        for a in all {
            self.check_ciphertext(a)?;
            relin.0.tag.check(self.fingerprint(), Some(a.tag))?;
            Self::require_two_components(&a.state, "a circuit")?;
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
        Self::require_two_components(&a.state, "a circuit")?;
        Self::check_factors(std::iter::once(a))
    }

    /// Keeps memory of ciphertexts that are dropped, up to so many bytes, as long as the result lives.
    pub fn keep_buffers(&self, bytes: usize) -> KeptBuffers {
        KeptBuffers::new(bytes / size_of::<u64>())
    }

    /// Words of a ciphertext of a level.
    pub fn ciphertext_words(&self, level: usize) -> usize {
        2 * self.ring_degree() * self.chain().level(level).len()
    }

    /// `a` at a level not above its own, which is that of what is known of it there: divided, or without the primes that
    /// the level has not.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`]; [`SchemeError::LastLevel`] for a level above the ciphertext's, or none;
    /// [`SchemeError::NotRelinearised`].
    pub fn lower(&self, a: &Ciphertext, known: &PlannedState) -> Result<Ciphertext, SchemeError> {
        let level = known.level();
        self.check_ciphertext(a)?;
        Self::check_lower(&a.state, level)?;
        let state = known.state_of(&a.state);
        Ok(self.brought(a, WayDown { state, dropped: known.dropped }))
    }

    pub(super) fn check_lower(a: &State, level: usize) -> Result<(), SchemeError> {
        Self::require_two_components(a, "a circuit")?;
        Self::check_reachable(a, level)
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
        known: &PlannedState,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_bgv()?;
        let Some(&(_, first)) = terms.first() else { return no_terms() };
        self.check_summands(terms.iter().map(|&(_, a)| a), first)?;
        Self::check_levels(&first.state, &known.state)?;
        let state = known.state_of(&first.state);
        let mut words = Buffer::take(self.ciphertext_words(state.level));
        self.add_multiples(&mut words, (2, false), terms, constant, state.level);
        Ok(Ciphertext { tag: first.tag, state, words })
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
        (terms, constant): (&[Multiple<'_>], i64),
        known: &PlannedState,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_bgv()?;
        let Some(&(_, first, _)) = products.first() else { return no_products() };
        relin.0.tag.check(self.fingerprint(), Some(first.tag))?;
        Self::check_lower(&first.state, known.level())?;
        let factors = products.iter().flat_map(|&(_, a, b)| [a, b]);
        self.check_summands(factors.chain(terms.iter().map(|&(_, a)| a)), first)?;
        let mut words = match *products {
            [(1, a, b)] => self.tensors(a, (!std::ptr::eq(a, b)).then_some(b)),
            _ => self.sum_of_tensors(products, first.level()),
        };
        self.add_multiples(&mut words, (3, true), terms, constant, first.level());
        let sum =
            Ciphertext { tag: first.tag, state: State { components: 3, ..first.state }, words };
        let state = known.state_of(&first.state);
        let words = self.relinearised_words(&sum, relin, state.level);
        Ok(Ciphertext { tag: first.tag, state, words })
    }

    /// Refuses what does not go into one sum, before it is made.
    fn check_summands<'a>(
        &self,
        mut all: impl Iterator<Item = &'a Ciphertext>,
        first: &Ciphertext,
    ) -> Result<(), SchemeError> {
        all.try_for_each(|a| {
            self.check_operands(first, a)?;
            Self::require_two_components(&a.state, "a circuit")
        })
    }

    /// Refuses ciphertexts with a factor, which only bytes that lie have where no prime changes it.
    fn check_factors<'a>(mut all: impl Iterator<Item = &'a Ciphertext>) -> Result<(), SchemeError> {
        match all.find(|a| a.state.factor != 1) {
            None => Ok(()),
            Some(a) => refuse(
                "factor",
                a.state.factor,
                "ciphertexts of these parameters have none: encrypt again",
            ),
        }
    }

    /// Ciphertexts of two components and a constant as words of so many components modulo each prime, added to what is there if it counts.
    fn add_multiples(
        &self,
        words: &mut [u64],
        (components, counts): (usize, bool),
        terms: &[Multiple<'_>],
        constant: i64,
        level: usize,
    ) {
        let n = self.ring_degree();
        let primes = self.chain().level(level);
        parallel::for_each_pass(words, components * n, 0, |_, prime, out| {
            let q = &primes[prime];
            let own = |a| self.residues(a).at(prime);
            let rows_of = |wanted: i64| -> Vec<&[u64]> {
                terms.iter().filter(|&&(k, _)| k == wanted).map(|&(_, a)| own(a)).collect()
            };
            let sum = &mut out[..2 * n];
            kernels::sum_of_rows(sum, counts, &rows_of(1), &rows_of(-1), q);
            for &(k, a) in terms.iter().filter(|&&(k, _)| k.abs() != 1) {
                kernels::scale_add(sum, own(a), q.factor(q.modulus().reduce_signed(k)), q);
            }
            if constant != 0 {
                let [mut c_0, _] = RowMut::split(sum);
                c_0.add_constant(q.modulus().reduce_signed(constant), q);
            }
        });
    }

    /// The sum of products with factors, of three components.
    fn sum_of_tensors(&self, products: &[Product<'_>], level: usize) -> Buffer {
        let n = self.ring_degree();
        let primes = self.chain().level(level);
        let mut factors: Vec<i64> = products.iter().map(|&(k, ..)| k).collect();
        factors.sort_unstable();
        factors.dedup();
        let mut words = Buffer::take(3 * n * primes.len());
        let one_prime = |scratch: &mut [u64], prime: usize, out: &mut [u64]| {
            let q = &primes[prime];
            for (at, &factor) in factors.iter().enumerate() {
                let own = products.iter().filter(|&&(k, ..)| k == factor);
                let rows: Vec<kernels::TensorRows<'_>> = own
                    .map(|&(_, a, b)| {
                        let pair = |c| self.evaluations_of(c).pair(prime);
                        let ([a_0, a_1], [b_0, b_1]) = (pair(a), pair(b));
                        [a_0, a_1, b_0, b_1].map(Row::words)
                    })
                    .collect();
                // One factor is all there is nearly always.
                let sum = if at == 0 { &mut *out } else { &mut *scratch };
                let components = RowMut::<Eval>::split(&mut *sum).map(RowMut::words);
                kernels::sum_of_tensors(components, &rows, q);
                if factor != 1 {
                    kernels::scale(sum, q.factor(q.modulus().reduce_signed(factor)), q);
                }
                if at > 0 {
                    kernels::add(out, scratch, q);
                }
            }
        };
        let scratch = if factors.len() > 1 { 3 * n } else { 0 };
        parallel::for_each_pass(&mut words, 3 * n, scratch, one_prime);
        words
    }
}
