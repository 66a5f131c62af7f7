use std::collections::BTreeMap;

use hesc_math::ring::{Automorphism, Coeff, Eval, Prime};
use hesc_math::sampling::{self, Noise as Sampler};
use hesc_math::{AesCtrRng, RngSeed};
use rand_core::{CryptoRng, SeedableRng};
use zeroize::Zeroizing;

use super::key_pair::{self, PublicKey, SecretKey, residue_seeds};
use super::residues::{Residues, RowMut};
use super::{Rlwe, parallel};
use crate::error::refuse;
use crate::{KeyId, SchemeError, Tag};

/// For each digit of primes an encryption of `P` times another secret on the primes of the digit,
/// modulo all primes, as evaluations.
#[derive(Clone)]
pub struct SwitchKey {
    pub(crate) tag: Tag,
    pub(crate) seed: RngSeed,
    /// Prime after prime, in each digit after digit, in each `b` and `a`.
    pub(crate) words: Vec<u64>,
}

/// The key from `s^2` to `s`.
#[derive(Clone)]
pub struct RelinKey(pub(crate) SwitchKey);

/// The keys of some automorphisms.
#[derive(Clone)]
pub struct GaloisKeys {
    pub(crate) tag: Tag,
    pub(crate) keys: BTreeMap<usize, GaloisKey>,
}

/// The key of one automorphism `X -> X^g`: from `s` to `s(X^(1/g))`, so that the automorphism comes
/// last and digits serve many rotations.
#[derive(Clone)]
pub(crate) struct GaloisKey {
    pub key: SwitchKey,
    pub automorphism: Automorphism,
}

macro_rules! key_id {
    ($($key:ident => |$this:ident| $tag:expr),*) => {
        $(impl $key {
            /// The key pair's public name.
            pub fn key_id(&self) -> KeyId {
                let $this = self;
                $tag.key
            }
        })*
    };
}
key_id!(
    SwitchKey => |k| k.tag, RelinKey => |k| k.0.tag, GaloisKeys => |k| k.tag
);

impl GaloisKeys {
    /// The exponents there are keys for.
    pub fn elements(&self) -> impl Iterator<Item = usize> {
        self.keys.keys().copied()
    }
}

impl Rlwe {
    /// A key pair. Cost: four transforms a prime.
    pub fn generate_keys(&self, rng: &mut impl CryptoRng) -> (SecretKey, PublicKey) {
        let (n, chain) = (self.ring_degree(), self.chain());
        let fresh = chain.level(chain.levels());
        let add_noise = |words: &mut [u64], noise: &[i16]| {
            let mut scratch = Zeroizing::new(vec![0; n]);
            for (mut row, q) in RowMut::<Coeff>::all(words, n).zip(fresh) {
                let mut own = RowMut::assume(&mut scratch);
                own.clear();
                self.add_noise_to(&mut own, noise, q);
                row.add(own.row(), q);
            }
        };
        let params = self.fingerprint();
        key_pair::generate(params, self.ring(), (chain.primes(), fresh), add_noise, rng)
    }

    /// `e` times the factor on all noise, as coefficients, to zeros.
    pub(crate) fn add_noise_to(&self, out: &mut RowMut<'_, Coeff>, noise: &[i16], q: &Prime) {
        out.add_small(noise, q);
        if self.chain().noise_factor() != 1 {
            out.scale(q.factor(self.chain().noise_factor()), q);
        }
    }

    /// Fills the second component of each pair from a seed: `pairs` modulo each of `primes`.
    pub(crate) fn expand_uniform(
        &self,
        words: &mut [u64],
        seed: RngSeed,
        primes: usize,
        pairs: usize,
    ) {
        let n = self.ring_degree();
        let seeds = residue_seeds(seed, primes * pairs);
        parallel::for_each_chunk(words, 2 * n, 0, |_, index, pair| {
            let q = self.chain().primes()[index / pairs].value();
            sampling::fill_uniform_row(&mut pair[n..], q, &mut AesCtrRng::from_seed(seeds[index]));
        });
    }

    /// `b -= a s` in each pair.
    fn subtract_products(&self, words: &mut [u64], secret: &[u64], pairs: usize) {
        let n = self.ring_degree();
        let secret = Residues::assume(secret, 1, n);
        parallel::for_each_chunk(words, 2 * n, n, |scratch, index, pair| {
            let (q, secret) = (&self.chain().primes()[index / pairs], secret.row(index / pairs, 0));
            let [mut b, a] = RowMut::split(pair);
            let mut product = RowMut::assume(scratch);
            product.set_product(a.row(), secret, q);
            b.subtract(product.row(), q);
            product.wipe();
        });
    }

    /// Refuses a set whose keys nothing can be switched with.
    pub(crate) fn check_switches(&self) -> Result<(), SchemeError> {
        if self.chain().special().is_empty() {
            return refuse(
                "special_moduli",
                "[]",
                "key switching needs at least one special prime",
            );
        }
        Ok(())
    }

    /// Refuses what is no automorphism of the ring.
    pub(crate) fn check_automorphism(&self, element: usize) -> Result<(), SchemeError> {
        if !self.ring().has_automorphism(element) {
            return refuse(
                "element",
                element,
                "automorphisms have exponents below the ring's index without a common divisor with it: \
                         odd ones below 2N for powers of two",
            );
        }
        Ok(())
    }

    /// The key from `from` (evaluations modulo all primes) to `to`.
    fn generate_switching(
        &self,
        from: &[u64],
        to: &[u64],
        tag: Tag,
        rng: &mut impl CryptoRng,
    ) -> Result<SwitchKey, SchemeError> {
        self.check_switches()?;
        let chain = self.chain();
        let (n, primes) = (self.ring_degree(), chain.primes().len());
        let digits = chain.key_digits().len();
        let seed = sampling::fresh_seed(rng);
        let mut samplers: Vec<Sampler> = (0..digits).map(|_| Sampler::new(self.ring())).collect();
        for sampler in &mut samplers {
            sampler.sample_centred_binomial(rng);
        }
        let mut words = vec![0; 2 * n * digits * primes];
        let from = Residues::assume(from, 1, n);
        parallel::for_each_chunk(&mut words, 2 * n, 0, |_, index, pair| {
            let (prime, digit) = (index / digits, index % digits);
            let q = &chain.primes()[prime];
            let [mut b, _] = RowMut::split(pair);
            self.add_noise_to(&mut b, samplers[digit].coefficients(), q);
            let mut b = b.forward(q);
            if chain.key_digits()[digit].primes.contains(&prime) {
                b.add_scaled(from.row(prime, 0), chain.special_factor(q), q);
            }
        });
        self.expand_uniform(&mut words, seed, primes, digits);
        self.subtract_products(&mut words, to, digits);
        Ok(SwitchKey { tag, seed, words })
    }

    /// The key that brings products back to two components.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for a set without special primes; [`SchemeError::ParameterMismatch`].
    pub fn generate_relin_key(
        &self,
        secret: &SecretKey,
        rng: &mut impl CryptoRng,
    ) -> Result<RelinKey, SchemeError> {
        secret.tag.check(self.fingerprint(), None)?;
        let n = self.ring_degree();
        let mut square = Zeroizing::new(vec![0; secret.words.len()]);
        let primes = self.chain().primes().iter().zip(secret.residues(n).component(0).rows());
        for (mut out, (q, row)) in RowMut::all(&mut square, n).zip(primes) {
            out.set_product(row, row, q);
        }
        Ok(RelinKey(self.generate_switching(&square, &secret.words, secret.tag, rng)?))
    }

    /// Keys for automorphisms `zeta -> zeta^g`. [`Self::rotation_element`] gives the exponent of a
    /// rotation, the index less 1 (`2 N - 1`) swaps rows or conjugates.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`]; [`SchemeError::Parameter`] for a set without special primes, and for
    /// an exponent without an automorphism.
    pub fn generate_galois_keys(
        &self,
        secret: &SecretKey,
        elements: &[usize],
        rng: &mut impl CryptoRng,
    ) -> Result<GaloisKeys, SchemeError> {
        secret.tag.check(self.fingerprint(), None)?;
        let n = self.ring_degree();
        let mut keys = BTreeMap::new();
        for &element in elements {
            self.check_automorphism(element)?;
            if keys.contains_key(&element) {
                continue;
            }
            let inverse = Automorphism::new(self.ring(), self.ring().inverse_element(element));
            let mut image = Zeroizing::new(vec![0; secret.words.len()]);
            let rows = secret.residues(n).component(0).rows();
            for (mut out, row) in RowMut::<Eval>::all(&mut image, n).zip(rows) {
                out.set_image(row, &inverse);
            }
            let key = self.generate_switching(&secret.words, &image, secret.tag, rng)?;
            keys.insert(
                element,
                GaloisKey { key, automorphism: Automorphism::new(self.ring(), element) },
            );
        }
        Ok(GaloisKeys { tag: secret.tag, keys })
    }

    /// The key that brings ciphertexts under `from` under `to`.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for a set without special primes; [`SchemeError::ParameterMismatch`].
    pub fn generate_switch_key(
        &self,
        from: &SecretKey,
        to: &SecretKey,
        rng: &mut impl CryptoRng,
    ) -> Result<SwitchKey, SchemeError> {
        from.tag.check(self.fingerprint(), None)?;
        to.tag.check(self.fingerprint(), None)?;
        self.generate_switching(&from.words, &to.words, to.tag, rng)
    }
}
