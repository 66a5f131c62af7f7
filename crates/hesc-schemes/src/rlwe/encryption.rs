use hesc_math::residues::Factor;
use hesc_math::ring::{Coeff, Eval, Prime};
use hesc_math::rns::Composition;
use hesc_math::sampling::{self, Sampler};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::ciphertext::{Bound, State};
use super::domain::Domain;
use super::key_pair::{PublicKey, SecretKey, residue_seeds};
use super::noise::LIMIT;
use super::polys::{Phase, Polys};
use super::residues::{Blank, RowMut, Scratch, Stored};
use super::scheme_operations::Message;
use super::{Ciphertext, Plaintext, Rlwe, SeededCiphertext};
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
    pub(crate) fn add_message<'r>(
        &self,
        mut c_0: RowMut<'r, Stored>,
        scratch: RowMut<'_, Blank>,
        message: &Message<'_>,
        prime: usize,
        q: &Prime,
    ) -> RowMut<'r, Stored> {
        let domain = self.domain();
        match message {
            Message::Scaled { words, plain_modulus } => {
                let lifted = scratch.lift_centred(words, *plain_modulus, q);
                let mut sum = domain.coefficients(c_0, q);
                sum.add_scaled(lifted.row(), Self::fraction(*plain_modulus, q), q);
                lifted.wipe();
                domain.store_coefficients(sum, q)
            }
            Message::Lifted { words, plain_modulus } => {
                let lifted = scratch.lift_centred(words, *plain_modulus, q);
                let lifted = domain.store_coefficients(lifted, q);
                c_0.add(lifted.row(), q);
                lifted.wipe();
                c_0
            }
            Message::Evaluated(message) => {
                let mut sum = domain.evaluations(c_0, q);
                sum.add(message.row(prime, 0), q);
                domain.store_evaluations(sum, q)
            }
        }
    }

    /// `-1/t`, what a scaled message is multiplied with.
    fn fraction(plain_modulus: u64, prime: &Prime) -> Factor {
        let q = prime.modulus();
        prime.factor(q.neg(q.inverse(plain_modulus)))
    }

    /// Adds noise modulo a prime, and a message, which shares its transform if it has coefficients. Two rows of scratch,
    /// which are wiped.
    fn add_noise<'r>(
        &self,
        mut out: RowMut<'r, Stored>,
        scratch: Scratch<'_>,
        noise: &[i16],
        message: Option<&Message<'_>>,
        prime: usize,
        q: &Prime,
    ) -> RowMut<'r, Stored> {
        let [sum, lifted] = scratch.split();
        if self.domain() == Domain::Coefficients {
            // No transform to share: noise, which has no factor then, is added where it belongs.
            let mut sum = self.domain().coefficients(out, q);
            sum.add_small(noise, q);
            let out = self.domain().store_coefficients(sum, q);
            return match message {
                Some(message) => self.add_message(out, lifted, message, prime, q),
                None => out,
            };
        }
        let mut sum = self.noise(sum, noise, q);
        match message {
            Some(Message::Scaled { words, plain_modulus }) => {
                let lifted = lifted.lift_centred(words, *plain_modulus, q);
                sum.add_scaled(lifted.row(), Self::fraction(*plain_modulus, q), q);
                lifted.wipe();
            }
            Some(Message::Lifted { words, plain_modulus }) => {
                let lifted = lifted.lift_centred(words, *plain_modulus, q);
                sum.add(lifted.row(), q);
                lifted.wipe();
            }
            Some(message @ Message::Evaluated(_)) => {
                out = self.add_message(out, lifted, message, prime, q);
            }
            None => {}
        }
        let sum = self.domain().store_coefficients(sum, q);
        out.add(sum.row(), q);
        sum.wipe();
        out
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
        let [b, a] = key.residues(n);
        let polys = Polys::take(primes.len(), 2, n);
        let polys = polys.map_pairs(2, |mut scratch, prime, _, [c_0, c_1]| {
            let (q, place) = (&primes[prime], places[prime]);
            let mask = scratch.reborrow().row().small(u, q).forward(q);
            let c_0 = c_0.product(b.row(place, 0), mask.row(), q);
            let c_1 = c_1.product(a.row(place, 0), mask.row(), q);
            mask.wipe();
            let [c_0, c_1] = [c_0, c_1].map(|c| self.domain().store_evaluations(c, q));
            let c_0 = self.add_noise(c_0, scratch.reborrow(), e_0, Some(&message), prime, q);
            [c_0, self.add_noise(c_1, scratch, e_1, None, prime, q)]
        });
        Ok(Ciphertext { tag: key.tag, state, polys })
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
        let polys = Polys::over(vec![0; n * primes.len()], 1, n);
        let polys = polys.map_rows(2, |scratch, prime, _, c_0| {
            let q = &primes[prime];
            let mut product = c_0.uniform::<Eval>(seeds[prime], q);
            product.multiply(key.residues(n).row(places[prime], 0), q);
            product.negate(q);
            let c_0 = self.domain().store_evaluations(product, q);
            self.add_noise(c_0, scratch, e, Some(&message), prime, q)
        });
        Ok(SeededCiphertext { tag: key.tag, state, seed, polys })
    }

    /// The full form. Cost: in BFV a transform a prime, otherwise none.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`].
    pub fn expand(&self, seeded: &SeededCiphertext) -> Result<Ciphertext, SchemeError> {
        seeded.tag.check(self.fingerprint(), None)?;
        let primes = self.chain().level(seeded.state.level);
        let seeds = residue_seeds(seeded.seed, primes.len());
        let polys = Polys::take(primes.len(), 2, self.ring_degree());
        let polys = polys.map_pairs(0, |_, prime, _, [c_0, c_1]| {
            let q = &primes[prime];
            let c_1 = c_1.uniform(seeds[prime], q);
            [c_0.copy(seeded.polys.row(prime, 0)), self.domain().store_evaluations(c_1, q)]
        });
        Ok(Ciphertext { tag: seeded.tag, state: seeded.state, polys })
    }

    /// `c_0 + c_1 s + c_2 s^2 + ...`.
    pub(crate) fn phase(&self, key: &SecretKey, a: &Ciphertext) -> Result<Phase, SchemeError> {
        self.check_ciphertext(a)?;
        a.tag.check(self.fingerprint(), Some(key.tag))?;
        let n = self.ring_degree();
        let (primes, places) = (self.chain().level(a.level()), self.chain().places(a.level()));
        let own = a.residues();
        let sums = Polys::over(Zeroizing::new(vec![0; primes.len() * n]), 1, n);
        Ok(sums.map_rows(1, |scratch, prime, _, sum| {
            let q = &primes[prime];
            let secret = key.residues(n).row(places[prime], 0);
            let (mut sum, mut scratch) = (sum.zero::<Eval>(), scratch.row());
            // Horner's rule in s.
            for component in (1..a.components()).rev() {
                let row = scratch.reborrow().copy(own.row(prime, component));
                sum.add(self.domain().evaluations(row, q).row(), q);
                sum.multiply(secret, q);
            }
            let mut sum = self.domain().store_evaluations(sum, q);
            sum.add(own.row(prime, 0), q);
            sum
        }))
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

    /// Coefficients modulo the primes of a level, of what is as ciphertexts are.
    pub(crate) fn coefficients<S: AsRef<[u64]> + AsMut<[u64]>>(
        &self,
        polys: Polys<Stored, S>,
        level: usize,
    ) -> Polys<Coeff, S> {
        let primes = self.chain().level(level);
        polys.map_rows(0, |_, prime, _, row| self.domain().coefficients(row, &primes[prime]))
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
        let phase = self.coefficients(self.phase(key, a)?, a.level());
        let n = self.ring_degree();
        let primes = self.chain().level(a.level());
        let factor = self.operations().phase_factor();
        let scaled = phase.map_rows(0, |_, prime, _, mut row| {
            row.scale(primes[prime].factor(factor), &primes[prime]);
            row
        });
        let mut phase = scaled.into_words();
        let mut noise = Zeroizing::new(vec![0.0; n]);
        Composition::new(primes).centred(&mut noise, &mut phase);
        let largest = noise.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
        Ok(LIMIT.log2() + self.log2_level(a.level()) - largest.log2())
    }
}
