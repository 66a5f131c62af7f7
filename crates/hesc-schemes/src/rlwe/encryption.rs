use hesc_math::AesCtrRng;
use hesc_math::residues::{Factor, kernels};
use hesc_math::ring::Prime;
use hesc_math::rns::Composition;
use hesc_math::sampling::{self, Noise as Sampler};
use rand_core::{CryptoRng, SeedableRng};
use zeroize::{Zeroize, Zeroizing};

use super::buffer::Buffer;
use super::ciphertext::Bound;
use super::differences::Message;
use super::domain::Domain;
use super::key_pair::{PublicKey, SecretKey, limb_seeds};
use super::noise::{LIMIT, Noise};
use super::{Ciphertext, Plaintext, Rlwe, SeededCiphertext, parallel};
use crate::SchemeError;
use crate::error::refuse;

impl Rlwe {
    /// A plaintext as a ciphertext of this level and factor wants it.
    pub(crate) fn message<'a>(
        &self,
        plaintext: &'a Plaintext,
        level: usize,
        factor: u64,
    ) -> Result<Message<'a>, SchemeError> {
        self.check_params(plaintext.params)?;
        Self::check_level(plaintext, level)?;
        Ok(self.differences().message(self.chain(), plaintext, level, factor))
    }

    /// Refuses a plaintext that was encoded for another level.
    pub(crate) fn check_level(plaintext: &Plaintext, level: usize) -> Result<(), SchemeError> {
        match plaintext.level {
            Some(found) if found != level => {
                Err(SchemeError::LevelMismatch { expected: level, found })
            }
            _ => Ok(()),
        }
    }

    /// Adds a message to a limb of `c_0`. `row` is scratch space.
    pub(crate) fn add_message(
        c_0: &mut [u64],
        row: &mut [u64],
        message: &Message<'_>,
        limb: usize,
        prime: &Prime,
    ) {
        let n = c_0.len();
        let row = &mut row[..n];
        match message {
            Message::Scaled { words, plain_modulus } => {
                kernels::lift_centred(row, words, *plain_modulus, prime);
                kernels::scale_add(c_0, row, Self::fraction(*plain_modulus, prime), prime);
                row.zeroize();
            }
            Message::Lifted { words, plain_modulus } => {
                kernels::lift_centred(row, words, *plain_modulus, prime);
                prime.forward(row);
                kernels::add(c_0, row, prime);
                row.zeroize();
            }
            Message::Evaluated(words) => kernels::add(c_0, &words[limb * n..][..n], prime),
        }
    }

    /// `-1/t`, what a scaled message is multiplied with.
    fn fraction(plain_modulus: u64, prime: &Prime) -> Factor {
        let q = prime.modulus();
        prime.factor(q.neg(q.inverse(plain_modulus)))
    }

    /// Adds noise, times the factor on all of it, to a limb; with the message, which shares its transform.
    fn add_noise(
        &self,
        out: &mut [u64],
        row: &mut [u64],
        noise: &[i16],
        message: Option<(&Message<'_>, usize)>,
        prime: &Prime,
    ) {
        if self.domain() == Domain::Coefficients {
            kernels::add_small(out, noise, prime);
            if let Some((message, limb)) = message {
                Self::add_message(out, row, message, limb, prime);
            }
            return;
        }
        let (row, lifted) = row.split_at_mut(out.len());
        row.fill(0);
        kernels::add_small(row, noise, prime);
        if self.chain().noise_factor() != 1 {
            kernels::scale(row, prime.factor(self.chain().noise_factor()), prime);
        }
        match message {
            Some((Message::Scaled { words, plain_modulus }, _)) => {
                kernels::lift_centred(lifted, words, *plain_modulus, prime);
                kernels::scale_add(row, lifted, Self::fraction(*plain_modulus, prime), prime);
                lifted.zeroize();
            }
            Some((Message::Lifted { words, plain_modulus }, _)) => {
                kernels::lift_centred(lifted, words, *plain_modulus, prime);
                kernels::add(row, lifted, prime);
                lifted.zeroize();
            }
            Some((message @ Message::Evaluated(_), limb)) => {
                Self::add_message(out, lifted, message, limb, prime);
            }
            None => {}
        }
        prime.forward(row);
        kernels::add(out, row, prime);
        row.zeroize();
    }

    fn fresh_level(&self, plaintext: &Plaintext) -> usize {
        plaintext.level().unwrap_or(self.chain().levels())
    }

    /// The noise of an encryption: from the parameters and the declared bound alone, for it travels.
    fn fresh_noise(&self, plaintext: &Plaintext, deviation: f64) -> Result<Noise, SchemeError> {
        let Bound::Declared(bound) = plaintext.bound else {
            return refuse(
                "plaintext",
                "an operand in the clear",
                "encode what is to be encrypted with a declared bound",
            );
        };
        Ok(self.fresh(deviation, bound, plaintext.scale()))
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
        let noise = self.fresh_noise(plaintext, self.public_key_deviation())?;
        self.check_noise(noise, level, plaintext.scale())?;
        let message = self.message(plaintext, level, 1)?;
        let mut samplers: [Sampler; 3] = std::array::from_fn(|_| Sampler::new(self.ring()));
        samplers[0].sample_ternary(rng);
        samplers[1].sample_centred_binomial(rng);
        samplers[2].sample_centred_binomial(rng);
        let [u, e_0, e_1] = samplers.each_ref().map(Sampler::coefficients);
        let (primes, places) = (self.chain().level(level), self.chain().places(level));
        let mut words = Buffer::take(2 * n * primes.len());
        parallel::for_each_chunk(&mut words, 2 * n, 2 * n, |scratch, limb, out| {
            let prime = &primes[limb];
            let (c_0, c_1) = out.split_at_mut(n);
            let [b, a] = key.parts.each_ref().map(|part| &part[places[limb] * n..][..n]);
            let mask = &mut scratch[..n];
            mask.fill(0);
            kernels::add_small(mask, u, prime);
            prime.forward(mask);
            kernels::multiply(c_0, b, mask, prime);
            kernels::multiply(c_1, a, mask, prime);
            self.domain().accept_evaluations(c_0, prime);
            self.domain().accept_evaluations(c_1, prime);
            self.add_noise(c_0, scratch, e_0, Some((&message, limb)), prime);
            self.add_noise(c_1, scratch, e_1, None, prime);
            scratch.zeroize();
        });
        Ok(Ciphertext {
            tag: key.tag,
            level,
            size: 2,
            words,
            scale: plaintext.scale(),
            factor: 1,
            noise,
        })
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

    /// The same at a level below, which takes fewer bytes and has room for fewer products. Integers; plaintexts of
    /// CKKS are encoded for a level.
    ///
    /// # Errors
    /// As [`Self::encrypt_seeded`]; [`SchemeError::LevelMismatch`] for a plaintext of CKKS at another level,
    /// [`SchemeError::LastLevel`] for a level that does not exist.
    pub fn encrypt_seeded_at(
        &self,
        key: &SecretKey,
        plaintext: &Plaintext,
        level: usize,
        rng: &mut impl CryptoRng,
    ) -> Result<SeededCiphertext, SchemeError> {
        key.tag.check(self.fingerprint(), None)?;
        self.check_params(plaintext.params)?;
        if !(1..=self.levels()).contains(&level) {
            return Err(SchemeError::LastLevel { level: self.levels(), wanted: level });
        }
        Self::check_level(plaintext, level)?;
        let n = self.ring_degree();
        let noise = self.fresh_noise(plaintext, self.secret_key_deviation())?;
        self.check_noise(noise, level, plaintext.scale())?;
        let message = self.message(plaintext, level, 1)?;
        let seed = sampling::fresh_seed(rng);
        let (primes, places) = (self.chain().level(level), self.chain().places(level));
        let seeds = limb_seeds(seed, primes.len());
        let mut sampler = Sampler::new(self.ring());
        sampler.sample_centred_binomial(rng);
        let e = sampler.coefficients();
        let mut words = vec![0; n * primes.len()];
        parallel::for_each_chunk(&mut words, n, 2 * n, |scratch, limb, c_0| {
            let prime = &primes[limb];
            let mut uniform = AesCtrRng::from_seed(seeds[limb]);
            sampling::fill_uniform_limb(c_0, prime.value(), &mut uniform);
            kernels::multiply_assign(c_0, &key.words[places[limb] * n..][..n], prime);
            kernels::negate(c_0, prime);
            self.domain().accept_evaluations(c_0, prime);
            self.add_noise(c_0, scratch, e, Some((&message, limb)), prime);
        });
        let scale = plaintext.scale();
        Ok(SeededCiphertext { tag: key.tag, level, seed, words, scale, noise })
    }

    /// The full form. Cost: in BFV a transform a prime, otherwise none.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`].
    pub fn expand(&self, seeded: &SeededCiphertext) -> Result<Ciphertext, SchemeError> {
        seeded.tag.check(self.fingerprint(), None)?;
        let (n, level) = (self.ring_degree(), seeded.level);
        let primes = self.chain().level(level);
        let seeds = limb_seeds(seeded.seed, primes.len());
        let mut words = Buffer::take(2 * n * primes.len());
        parallel::for_each_chunk(&mut words, 2 * n, 0, |_, limb, out| {
            let prime = &primes[limb];
            let (c_0, c_1) = out.split_at_mut(n);
            c_0.copy_from_slice(&seeded.words[limb * n..][..n]);
            let mut uniform = AesCtrRng::from_seed(seeds[limb]);
            sampling::fill_uniform_limb(c_1, prime.value(), &mut uniform);
            self.domain().accept_evaluations(c_1, prime);
        });
        Ok(Ciphertext {
            tag: seeded.tag,
            level,
            size: 2,
            words,
            scale: seeded.scale,
            factor: 1,
            noise: seeded.noise,
        })
    }

    /// `c_0 + c_1 s + c_2 s^2 + ...`, in the scheme's domain.
    pub(super) fn phase(
        &self,
        key: &SecretKey,
        a: &Ciphertext,
    ) -> Result<Zeroizing<Vec<u64>>, SchemeError> {
        self.check_ciphertext(a)?;
        a.tag.check(self.fingerprint(), Some(key.tag))?;
        let n = self.ring_degree();
        let (primes, places) = (self.chain().level(a.level), self.chain().places(a.level));
        let mut words = Zeroizing::new(vec![0; primes.len() * n]);
        parallel::for_each_chunk(&mut words, n, n, |row, limb, out| {
            let prime = &primes[limb];
            let secret = &key.words[places[limb] * n..][..n];
            let parts = &a.words[limb * a.size * n..][..a.size * n];
            // Horner's rule in s.
            for (i, part) in parts.chunks_exact(n).enumerate().skip(1).rev() {
                row.copy_from_slice(part);
                self.domain().to_evaluations(row, prime);
                if i + 1 < a.size {
                    kernels::add(out, row, prime);
                } else {
                    out.copy_from_slice(row);
                }
                kernels::multiply_assign(out, secret, prime);
            }
            self.domain().accept_evaluations(out, prime);
            kernels::add(out, &parts[..n], prime);
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
        self.differences().decode(self, phase, a)
    }

    /// Coefficients modulo the primes of a level, from the scheme's domain.
    pub(crate) fn to_coefficients(&self, words: &mut [u64], level: usize) {
        parallel::for_each_chunk(words, self.ring_degree(), 0, |_, limb, words| {
            self.domain().to_coefficients(words, &self.chain().level(level)[limb]);
        });
    }

    /// Bits of room that are really left, measured with the secret key: `log2` of how often the
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
        self.to_coefficients(&mut phase, a.level);
        let n = self.ring_degree();
        let primes = self.chain().level(a.level);
        let factor = self.differences().phase_factor();
        if factor != 1 {
            for (limb, prime) in phase.chunks_exact_mut(n).zip(primes) {
                kernels::scale(limb, prime.factor(factor), prime);
            }
        }
        let mut noise = Zeroizing::new(vec![0.0; n]);
        Composition::new(primes).centred(&mut noise, &mut phase);
        let largest = noise.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
        Ok(LIMIT.log2() + self.log2_level(a.level) - largest.log2())
    }
}
