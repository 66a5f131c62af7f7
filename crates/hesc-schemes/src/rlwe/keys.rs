use std::collections::BTreeMap;

use hesc_math::RngSeed;
use hesc_math::ring::{Automorphism, Coeff, Eval, Prime};
use hesc_math::sampling::{self, Sampler};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::Rlwe;
use super::key_pair::{self, PublicKey, SecretKey, residue_seeds};
use super::polys::Polys;
use super::residues::{Blank, Residues, Row, RowMut};
use crate::error::refuse;
use crate::{KeyId, SchemeError, Tag};

/// For each digit of primes an encryption of `P` times another secret on the primes of the digit,
/// modulo all primes, as evaluations: see the module `key_switching`.
#[derive(Clone)]
pub struct SwitchKey {
    pub(crate) tag: Tag,
    pub(crate) seed: RngSeed,
    /// The pairs `(b_d, a_d)`: modulo each prime, digit after digit.
    pub(crate) polys: Polys<Eval, Vec<u64>>,
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
                row.add(self.noise(RowMut::over(&mut scratch), noise, q).row(), q);
            }
        };
        let params = self.fingerprint();
        key_pair::generate(params, self.ring(), (chain.primes(), fresh), add_noise, rng)
    }

    /// `e` times the factor on all noise.
    pub(crate) fn noise<'r>(
        &self,
        out: RowMut<'r, Blank>,
        noise: &[i16],
        q: &Prime,
    ) -> RowMut<'r, Coeff> {
        let mut out = out.small(noise, q);
        if self.chain().noise_factor() != 1 {
            out.scale(q.factor(self.chain().noise_factor()), q);
        }
        out
    }

    /// The pairs of a switching key: `a_d` from a seed, and `b_d` as `b(scratch, prime, digit, out, a_d)` gives it.
    pub(super) fn key_pairs(
        &self,
        seed: RngSeed,
        b: impl for<'r> Fn(
            RowMut<'_, Blank>,
            usize,
            usize,
            RowMut<'r, Blank>,
            Row<'_, Eval>,
        ) -> RowMut<'r, Eval>
        + Send
        + Sync,
    ) -> Polys<Eval, Vec<u64>> {
        let (n, primes) = (self.ring_degree(), self.chain().primes());
        let digits = self.chain().key_digits().len();
        let seeds = residue_seeds(seed, primes.len() * digits);
        let pairs = Polys::over(vec![0; primes.len() * 2 * digits * n], 2 * digits, n);
        pairs.map_pairs(1, |scratch, prime, digit, [b_d, a_d]| {
            let a_d = a_d.uniform(seeds[prime * digits + digit], &primes[prime]);
            [b(scratch.row(), prime, digit, b_d, a_d.row()), a_d]
        })
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

    /// The key from one secret to another: see [`super::key_switching`].
    fn generate_switching(
        &self,
        from: Residues<'_, Eval>,
        to: Residues<'_, Eval>,
        tag: Tag,
        rng: &mut impl CryptoRng,
    ) -> Result<SwitchKey, SchemeError> {
        self.check_switches()?;
        let (primes, digits) = (self.chain().primes(), self.chain().key_digits());
        let seed = sampling::fresh_seed(rng);
        let mut samplers: Vec<Sampler> = digits.iter().map(|_| Sampler::new(self.ring())).collect();
        for sampler in &mut samplers {
            sampler.sample_centred_binomial(rng);
        }
        let polys = self.key_pairs(seed, |scratch, prime, digit, b_d, a_d| {
            let q = &primes[prime];
            let mut b_d = self.noise(b_d, samplers[digit].coefficients(), q).forward(q);
            if digits[digit].primes.contains(&prime) {
                b_d.add_scaled(from.row(prime, 0), self.chain().special_factor(q), q);
            }
            let product = scratch.product(a_d, to.row(prime, 0), q);
            b_d.subtract(product.row(), q);
            product.wipe();
            b_d
        });
        Ok(SwitchKey { tag, seed, polys })
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
        let (n, primes) = (self.ring_degree(), self.chain().primes());
        let secret_rows = secret.residues(n);
        let square = Polys::over(Zeroizing::new(vec![0; secret.words.len()]), 1, n);
        let square = square.map_rows(0, |_, prime, _, out| {
            let s = secret_rows.row(prime, 0);
            out.product(s, s, &primes[prime])
        });
        Ok(RelinKey(self.generate_switching(square.residues(), secret_rows, secret.tag, rng)?))
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
            let own = secret.residues(n);
            let image = Polys::over(Zeroizing::new(vec![0; secret.words.len()]), 1, n);
            let image = image.map_rows(0, |_, prime, _, out| {
                out.image_of_evaluations(own.row(prime, 0), &inverse)
            });
            let key = self.generate_switching(own, image.residues(), secret.tag, rng)?;
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
        let n = self.ring_degree();
        self.generate_switching(from.residues(n), to.residues(n), to.tag, rng)
    }
}
