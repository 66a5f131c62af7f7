use hesc_math::AesCtrRng;
use hesc_math::residues::Factor;
use hesc_math::ring::{Coeff, Eval, Prime};
use hesc_math::rns::Composition;
use hesc_math::sampling::{self, Noise as Sampler};
use rand_core::{CryptoRng, SeedableRng};
use zeroize::{Zeroize, Zeroizing};

use super::buffer::Buffer;
use super::ciphertext::{Bound, State};
use super::domain::Domain;
use super::key_pair::{PublicKey, SecretKey, residue_seeds};
use super::noise::LIMIT;
use super::residues::{AtRest, Residues, RowMut};
use super::scheme_operations::Message;
use super::{Ciphertext, Plaintext, Rlwe, SeededCiphertext, parallel};
use crate::SchemeError;
use crate::error::refuse;

/// How something is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// By the owner of the key: the least noise.
    SecretKey,
    /// By anyone.
    PublicKey,
}

impl Rlwe {
    pub(crate) fn fresh_deviation(&self, under: Encryption) -> f64 {
        match under {
            Encryption::SecretKey => self.secret_key_deviation(),
            Encryption::PublicKey => self.public_key_deviation(),
        }
    }

    /// The state of an encryption of numbers within the set's bound, whoever has its key.
    pub(crate) fn fresh_state(&self, under: Encryption) -> State {
        let (bound, scale) = (self.spec().bound, self.default_scale());
        let noise = self.fresh(self.fresh_deviation(under), bound, scale);
        State { level: self.levels(), components: 2, scale, factor: 1, noise }
    }

    /// The state of an encryption of a plaintext at a level: from the parameters and the declared bound alone, for it
    /// travels.
    fn encrypted_state(
        &self,
        under: Encryption,
        plaintext: &Plaintext,
        level: usize,
    ) -> Result<State, SchemeError> {
        let Bound::Declared(bound) = plaintext.bound else {
            return refuse(
                "plaintext",
                "an operand in the clear",
                "encode what is to be encrypted with a declared bound",
            );
        };
        let scale = plaintext.scale();
        let noise = self.fresh(self.fresh_deviation(under), bound, scale);
        self.checked(State { level, scale, noise, ..self.fresh_state(under) })
    }

    /// A plaintext as a ciphertext of this level and factor wants it.
    pub(crate) fn message<'a>(
        &self,
        plaintext: &'a Plaintext,
        level: usize,
        factor: u64,
    ) -> Result<Message<'a>, SchemeError> {
        self.check_params(plaintext.params)?;
        Self::check_plain_level(plaintext, level)?;
        Ok(self.operations().message(self.chain(), plaintext, level, factor))
    }

    /// Refuses a plaintext that was encoded for another level.
    pub(crate) fn check_plain_level(
        plaintext: &Plaintext,
        level: usize,
    ) -> Result<(), SchemeError> {
        match plaintext.level {
            Some(found) if found != level => {
                Err(SchemeError::LevelMismatch { expected: level, found })
            }
            _ => Ok(()),
        }
    }

    /// Adds a message to `c_0` modulo a prime. `scratch` is wiped.
    pub(crate) fn add_message(
        c_0: &mut [u64],
        scratch: &mut [u64],
        message: &Message<'_>,
        prime: usize,
        q: &Prime,
    ) {
        let n = c_0.len();
        let mut lifted = RowMut::assume(&mut scratch[..n]);
        match message {
            Message::Scaled { words, plain_modulus } => {
                lifted.lift_centred(words, *plain_modulus, q);
                let fraction = Self::fraction(*plain_modulus, q);
                RowMut::<Coeff>::assume(c_0).add_scaled(lifted.row(), fraction, q);
                lifted.wipe();
            }
            Message::Lifted { words, plain_modulus } => {
                lifted.lift_centred(words, *plain_modulus, q);
                let lifted = lifted.forward(q);
                RowMut::<Eval>::assume(c_0).add(lifted.row(), q);
                lifted.wipe();
            }
            Message::Evaluated(words) => {
                RowMut::<Eval>::assume(c_0).add(Residues::assume(words, 1, n).row(prime, 0), q);
            }
        }
    }

    /// `-1/t`, what a scaled message is multiplied with.
    fn fraction(plain_modulus: u64, prime: &Prime) -> Factor {
        let q = prime.modulus();
        prime.factor(q.neg(q.inverse(plain_modulus)))
    }

    /// Adds noise, times the factor on all of it, modulo a prime; with the message, which shares its transform.
    fn add_noise(
        &self,
        out: &mut [u64],
        scratch: &mut [u64],
        noise: &[i16],
        message: Option<(&Message<'_>, usize)>,
        q: &Prime,
    ) {
        if self.domain() == Domain::Coefficients {
            RowMut::<Coeff>::assume(out).add_small(noise, q);
            if let Some((message, prime)) = message {
                Self::add_message(out, scratch, message, prime, q);
            }
            return;
        }
        let (row, lifted) = scratch.split_at_mut(out.len());
        let mut sum = RowMut::<Coeff>::assume(row);
        sum.clear();
        self.add_noise_to(&mut sum, noise, q);
        match message {
            Some((Message::Scaled { words, plain_modulus }, _)) => {
                let mut lifted = RowMut::assume(lifted);
                lifted.lift_centred(words, *plain_modulus, q);
                sum.add_scaled(lifted.row(), Self::fraction(*plain_modulus, q), q);
                lifted.wipe();
            }
            Some((Message::Lifted { words, plain_modulus }, _)) => {
                let mut lifted = RowMut::assume(lifted);
                lifted.lift_centred(words, *plain_modulus, q);
                sum.add(lifted.row(), q);
                lifted.wipe();
            }
            Some((message @ Message::Evaluated(_), prime)) => {
                Self::add_message(out, lifted, message, prime, q);
            }
            None => {}
        }
        let sum = sum.forward(q);
        RowMut::assume(out).add(sum.row(), q);
        sum.wipe();
    }

    fn fresh_level(&self, plaintext: &Plaintext) -> usize {
        plaintext.level().unwrap_or(self.chain().levels())
    }

    /// Public-key encryption, `(b u + e_0 + m, a u + e_1)`. Cost: three transforms a prime.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`]; [`SchemeError::Parameter`] for an operand in the clear;
    /// [`SchemeError::NoiseBudget`] if it could not be decrypted.
    pub fn encrypt(
        &self,
        key: &PublicKey,
        plaintext: &Plaintext,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, SchemeError> {
        key.tag.check(self.fingerprint(), None)?;
        self.check_params(plaintext.params)?;
        let (n, level) = (self.ring_degree(), self.fresh_level(plaintext));
        let state = self.encrypted_state(Encryption::PublicKey, plaintext, level)?;
        let message = self.message(plaintext, level, state.factor)?;
        let mut samplers: [Sampler; 3] = std::array::from_fn(|_| Sampler::new(self.ring()));
        samplers[0].sample_ternary(rng);
        samplers[1].sample_centred_binomial(rng);
        samplers[2].sample_centred_binomial(rng);
        let [u, e_0, e_1] = samplers.each_ref().map(Sampler::coefficients);
        let (primes, places) = (self.chain().level(level), self.chain().places(level));
        let mut words = Buffer::take(2 * n * primes.len());
        parallel::for_each_chunk(&mut words, 2 * n, 2 * n, |scratch, prime, out| {
            let q = &primes[prime];
            let mut mask = RowMut::<Coeff>::assume(&mut scratch[..n]);
            mask.clear();
            mask.add_small(u, q);
            let mask = mask.forward(q);
            for (out, component) in out.chunks_exact_mut(n).zip(&key.components) {
                let mut product = RowMut::assume(out);
                product.set_product(
                    Residues::assume(component, 1, n).row(places[prime], 0),
                    mask.row(),
                    q,
                );
                self.domain().rest_evaluations(product, q);
            }
            let (c_0, c_1) = out.split_at_mut(n);
            self.add_noise(c_0, scratch, e_0, Some((&message, prime)), q);
            self.add_noise(c_1, scratch, e_1, None, q);
            scratch.zeroize();
        });
        Ok(Ciphertext { tag: key.tag, state, words })
    }

    /// Secret-key encryption, `(-a s + e + m, a)`: half the size and a seed, less noise. Cost: a
    /// transform a prime.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`]; [`SchemeError::Parameter`] for an operand in the clear;
    /// [`SchemeError::NoiseBudget`] if it could not be decrypted.
    pub fn encrypt_seeded(
        &self,
        key: &SecretKey,
        plaintext: &Plaintext,
        rng: &mut impl CryptoRng,
    ) -> Result<SeededCiphertext, SchemeError> {
        self.encrypt_seeded_at(key, plaintext, self.fresh_level(plaintext), rng)
    }

    /// The same at a level below, which takes fewer bytes and allows fewer products. Integers; plaintexts of
    /// CKKS are encoded for a level.
    ///
    /// # Errors
    /// As [`Self::encrypt_seeded`]; [`SchemeError::LevelMismatch`] for a plaintext of CKKS at another level,
    /// [`SchemeError::NoSuchLevel`].
    pub fn encrypt_seeded_at(
        &self,
        key: &SecretKey,
        plaintext: &Plaintext,
        level: usize,
        rng: &mut impl CryptoRng,
    ) -> Result<SeededCiphertext, SchemeError> {
        key.tag.check(self.fingerprint(), None)?;
        self.check_params(plaintext.params)?;
        self.check_level(level)?;
        Self::check_plain_level(plaintext, level)?;
        let n = self.ring_degree();
        let state = self.encrypted_state(Encryption::SecretKey, plaintext, level)?;
        let message = self.message(plaintext, level, state.factor)?;
        let seed = sampling::fresh_seed(rng);
        let (primes, places) = (self.chain().level(level), self.chain().places(level));
        let seeds = residue_seeds(seed, primes.len());
        let mut sampler = Sampler::new(self.ring());
        sampler.sample_centred_binomial(rng);
        let e = sampler.coefficients();
        let mut words = vec![0; n * primes.len()];
        parallel::for_each_chunk(&mut words, n, 2 * n, |scratch, prime, c_0| {
            let q = &primes[prime];
            let mut uniform = AesCtrRng::from_seed(seeds[prime]);
            sampling::fill_uniform_row(c_0, q.value(), &mut uniform);
            let mut product = RowMut::assume(&mut *c_0);
            product.multiply(key.residues(n).row(places[prime], 0), q);
            product.negate(q);
            self.domain().rest_evaluations(product, q);
            self.add_noise(c_0, scratch, e, Some((&message, prime)), q);
        });
        Ok(SeededCiphertext { tag: key.tag, state, seed, words })
    }

    /// The full form. Cost: in BFV a transform a prime, otherwise none.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`].
    pub fn expand(&self, seeded: &SeededCiphertext) -> Result<Ciphertext, SchemeError> {
        seeded.tag.check(self.fingerprint(), None)?;
        let (n, level) = (self.ring_degree(), seeded.state.level);
        let primes = self.chain().level(level);
        let seeds = residue_seeds(seeded.seed, primes.len());
        let mut words = Buffer::take(2 * n * primes.len());
        let first = Residues::<AtRest>::assume(&seeded.words, 1, n);
        parallel::for_each_chunk(&mut words, 2 * n, 0, |_, prime, out| {
            let q = &primes[prime];
            let (c_0, c_1) = out.split_at_mut(n);
            RowMut::assume(c_0).copy(first.row(prime, 0));
            let mut uniform = AesCtrRng::from_seed(seeds[prime]);
            sampling::fill_uniform_row(c_1, q.value(), &mut uniform);
            self.domain().rest_evaluations(RowMut::assume(c_1), q);
        });
        Ok(Ciphertext { tag: seeded.tag, state: seeded.state, words })
    }

    /// `c_0 + c_1 s + c_2 s^2 + ...`, in the scheme's domain.
    pub(crate) fn phase(
        &self,
        key: &SecretKey,
        a: &Ciphertext,
    ) -> Result<Zeroizing<Vec<u64>>, SchemeError> {
        self.check_ciphertext(a)?;
        a.tag.check(self.fingerprint(), Some(key.tag))?;
        let n = self.ring_degree();
        let (primes, places) = (self.chain().level(a.level()), self.chain().places(a.level()));
        let mut words = Zeroizing::new(vec![0; primes.len() * n]);
        let own = self.residues(a);
        parallel::for_each_chunk(&mut words, n, n, |scratch, prime, out| {
            let q = &primes[prime];
            let secret = key.residues(n).row(places[prime], 0);
            let mut sum = RowMut::assume(out);
            // Horner's rule in s.
            for component in (1..a.components()).rev() {
                let mut row = RowMut::assume(&mut *scratch);
                row.copy(own.row(prime, component));
                sum.add(self.domain().evaluations(row, q).row(), q);
                sum.multiply(secret, q);
            }
            let mut sum = self.domain().rest_evaluations(sum, q);
            sum.add(own.row(prime, 0), q);
        });
        Ok(words)
    }

    /// The plaintext of a ciphertext. CKKS: with its error, which depends on the secret key; show
    /// it to nobody ([`Self::decrypt_shared`] is for that). Whether it keeps the bound that the
    /// ciphertext claims shows when it is decoded.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], and
    /// [`SchemeError::NoiseTooLarge`] where integers lie too far from the lattice of plaintexts.
    pub fn decrypt(&self, key: &SecretKey, a: &Ciphertext) -> Result<Plaintext, SchemeError> {
        let phase = self.phase(key, a)?;
        self.operations().decode(self, phase, &a.state)
    }

    /// Coefficients modulo the primes of a level, from the scheme's domain.
    pub(crate) fn to_coefficients(&self, words: &mut [u64], level: usize) {
        parallel::for_each_chunk(words, self.ring_degree(), 0, |_, prime, row| {
            self.domain().coefficients(RowMut::assume(row), &self.chain().level(level)[prime]);
        });
    }

    /// The noise budget that is really left, in bits, measured with the secret key: `log2` of how often the
    /// noise (CKKS: message and noise) fits below the limit.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`].
    pub fn measured_noise_budget(
        &self,
        key: &SecretKey,
        a: &Ciphertext,
    ) -> Result<f64, SchemeError> {
        let mut phase = self.phase(key, a)?;
        self.to_coefficients(&mut phase, a.level());
        let n = self.ring_degree();
        let primes = self.chain().level(a.level());
        let factor = self.operations().phase_factor();
        if factor != 1 {
            for (mut row, q) in RowMut::<Coeff>::all(&mut phase, n).zip(primes) {
                row.scale(q.factor(factor), q);
            }
        }
        let mut noise = Zeroizing::new(vec![0.0; n]);
        Composition::new(primes).centred(&mut noise, &mut phase);
        let largest = noise.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
        Ok(LIMIT.log2() + self.log2_level(a.level()) - largest.log2())
    }
}
