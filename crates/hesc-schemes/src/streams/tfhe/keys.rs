use ::tfhe::core_crypto::commons::math::random::{Seed, Seeder};
use ::tfhe::core_crypto::prelude::{
    CiphertextModulus, Container, DecompositionBaseLog, DecompositionLevelCount,
    DynamicDistribution, Fft, FourierLweBootstrapKey, FourierLweBootstrapKeyOwned, GlweSecretKey,
    GlweSize, LweKeyswitchKeyOwned, LwePackingKeyswitchKeyOwned, LweSecretKey, LweSize,
    PolynomialSize, SeededLweBootstrapKey, SeededLweKeyswitchKey, SeededLwePackingKeyswitchKey,
    StandardDev, generate_seeded_lwe_keyswitch_key, generate_seeded_lwe_packing_keyswitch_key,
    par_convert_standard_lwe_bootstrap_key_to_fourier, par_generate_seeded_lwe_bootstrap_key,
};
use hesc_math::{AesCtrRng, RngSeed, sampling};
use rand_core::{CryptoRng, SeedableRng};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::params::Decomposition;
use super::polynomial::{self, Gaussian};
use super::{Spec, Tfhe};
use crate::streams::Encrypt;
use crate::{KeyId, SchemeError, Tag};

/// Binary secrets of both dimensions. No `Debug`, no equality, wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct SecretKey {
    #[zeroize(skip)]
    pub(super) tag: Tag,
    /// The ring's, a bit in each word.
    pub(super) ring: Vec<u64>,
    /// The small dimension's.
    pub(super) lwe: Vec<u64>,
}

/// An encryption of zero `(a, a s + e)`; `a` comes from a seed, which is what travels.
#[derive(Clone)]
pub struct PublicKey {
    pub(super) tag: Tag,
    pub(super) seed: RngSeed,
    /// `a` and `a s + e`.
    pub(super) words: Vec<u64>,
}

/// What evaluates on bits, in the form that travels: the random halves are seeds.
#[derive(Clone)]
pub struct SeededEvaluationKey {
    pub(super) tag: Tag,
    /// The random halves of three keys: bits of the small secret under the ring's, for bootstraps; of the
    /// ring's under the small one; and of the small one under the ring's again, for packing.
    pub(super) seeds: [u128; 3],
    /// The other halves.
    pub(super) words: [Vec<u64>; 3],
}

/// What evaluates on bits: 150 MB at a ring degree of 2048.
pub struct EvaluationKey {
    pub(super) tag: Tag,
    pub(super) bootstrap: FourierLweBootstrapKeyOwned,
    pub(super) keyswitch: LweKeyswitchKeyOwned<u64>,
    pub(super) packing: LwePackingKeyswitchKeyOwned<u64>,
    pub(super) fft: Fft,
}

/// The torus modulo 1 as words.
pub(super) const MODULUS: CiphertextModulus<u64> = CiphertextModulus::new_native();

/// Parts of a ring element.
pub(super) const RING: GlweSize = GlweSize(2);

/// The crate's generators, seeded by ours.
struct FromCryptoRng<'a, R>(&'a mut R);

impl<R: CryptoRng> Seeder for FromCryptoRng<'_, R> {
    fn seed(&mut self) -> Seed {
        Seed(polynomial::seed(self.0))
    }

    fn is_available() -> bool {
        true
    }
}

impl Decomposition {
    fn parts(self) -> (DecompositionBaseLog, DecompositionLevelCount) {
        (
            DecompositionBaseLog(self.base_log as usize),
            DecompositionLevelCount(self.levels as usize),
        )
    }
}

impl SecretKey {
    /// The key pair's public name.
    pub fn key_id(&self) -> KeyId {
        self.tag.key
    }
}

impl SeededEvaluationKey {
    /// Words of the three keys of a parameter set.
    pub(super) fn lengths(spec: &Spec) -> [usize; 3] {
        let digits = |decomposition: Decomposition| decomposition.levels as usize;
        [
            spec.lwe_dimension * digits(spec.bootstrap) * 2 * spec.ring_degree,
            spec.ring_degree * digits(spec.keyswitch),
            spec.lwe_dimension * digits(spec.packing) * spec.ring_degree,
        ]
    }
}

impl Tfhe {
    pub(super) fn generate_secret_key(&self, rng: &mut impl CryptoRng) -> SecretKey {
        let tag = Tag { params: self.fingerprint(), key: KeyId::random(rng) };
        let (mut ring, mut lwe) = (vec![0; self.ring_degree()], vec![0; self.spec().lwe_dimension]);
        polynomial::fill_binary(&mut ring, rng);
        polynomial::fill_binary(&mut lwe, rng);
        SecretKey { tag, ring, lwe }
    }

    pub(super) fn generate_public_key(
        &self,
        secret: &SecretKey,
        rng: &mut impl CryptoRng,
    ) -> PublicKey {
        let n = self.ring_degree();
        let seed = sampling::fresh_seed(rng);
        let mut key = self.public_key_of(secret.tag, seed, vec![0; n]);
        let (a, b) = key.words.split_at_mut(n);
        polynomial::multiply(b, a, &secret.ring);
        Gaussian::new(rng).add(b, self.spec().log2_ring_noise);
        key
    }

    /// A public key with the uniform half of its seed.
    pub(super) fn public_key_of(&self, tag: Tag, seed: RngSeed, b: Vec<u64>) -> PublicKey {
        let mut words = vec![0; b.len()];
        fill_uniform(&mut words, &mut AesCtrRng::from_seed(seed));
        words.extend(b);
        PublicKey { tag, seed, words }
    }

    /// What others need to evaluate circuits on bits of this key, in the form that travels. Cost: a
    /// second or two at a ring degree of 2048, on all cores.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for a key of another set.
    pub fn generate_evaluation_key(
        &self,
        secret: &SecretKey,
        rng: &mut impl CryptoRng,
    ) -> Result<SeededEvaluationKey, SchemeError> {
        secret.tag.check(self.fingerprint(), None)?;
        let spec = self.spec();
        let gaussian = |log2_deviation: f64| {
            DynamicDistribution::new_gaussian_from_std_dev(StandardDev(log2_deviation.exp2()))
        };
        let ring_noise = gaussian(spec.log2_ring_noise);
        let lwe_noise = gaussian(spec.log2_lwe_noise);
        // Views: the crate gets no copy of a secret.
        let ring = GlweSecretKey::from_container(
            secret.ring.as_slice(),
            PolynomialSize(self.ring_degree()),
        );
        let big = ring.as_lwe_secret_key();
        let small = LweSecretKey::from_container(secret.lwe.as_slice());
        let seeder = &mut FromCryptoRng(rng);
        let mut key = SeededEvaluationKey {
            tag: secret.tag,
            words: SeededEvaluationKey::lengths(spec).map(|length| vec![0; length]),
            seeds: [(); 3].map(|()| seeder.seed().0),
        };
        let [bootstrap, keyswitch, packing] = &mut key.words;
        par_generate_seeded_lwe_bootstrap_key(
            &small,
            &ring,
            &mut self.seeded_bootstrap(bootstrap.as_mut_slice(), key.seeds[0]),
            ring_noise,
            seeder,
        );
        generate_seeded_lwe_keyswitch_key(
            &big,
            &small,
            &mut self.seeded_keyswitch(keyswitch.as_mut_slice(), key.seeds[1]),
            lwe_noise,
            seeder,
        );
        generate_seeded_lwe_packing_keyswitch_key(
            &small,
            &ring,
            &mut self.seeded_packing(packing.as_mut_slice(), key.seeds[2]),
            ring_noise,
            seeder,
        );
        Ok(key)
    }

    /// The compute form of an evaluation key. Cost: a second at a ring degree of 2048.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for a key of another set.
    pub fn expand_evaluation_key(
        &self,
        seeded: SeededEvaluationKey,
    ) -> Result<EvaluationKey, SchemeError> {
        seeded.tag.check(self.fingerprint(), None)?;
        let [bootstrap, keyswitch, packing] = seeded.words;
        let standard = self
            .seeded_bootstrap(bootstrap, seeded.seeds[0])
            .par_decompress_into_lwe_bootstrap_key();
        let mut bootstrap = FourierLweBootstrapKey::new(
            standard.input_lwe_dimension(),
            standard.glwe_size(),
            standard.polynomial_size(),
            standard.decomposition_base_log(),
            standard.decomposition_level_count(),
        );
        par_convert_standard_lwe_bootstrap_key_to_fourier(&standard, &mut bootstrap);
        let keyswitch = self
            .seeded_keyswitch(keyswitch, seeded.seeds[1])
            .par_decompress_into_lwe_keyswitch_key();
        let packing = self
            .seeded_packing(packing, seeded.seeds[2])
            .decompress_into_lwe_packing_keyswitch_key();
        let fft = Fft::new(bootstrap.polynomial_size());
        Ok(EvaluationKey { tag: seeded.tag, bootstrap, keyswitch, packing, fft })
    }

    fn seeded_bootstrap<C: Container<Element = u64>>(
        &self,
        words: C,
        seed: u128,
    ) -> SeededLweBootstrapKey<C> {
        let (base, levels) = self.spec().bootstrap.parts();
        let degree = PolynomialSize(self.ring_degree());
        let seed = Seed(seed).into();
        SeededLweBootstrapKey::from_container(words, RING, degree, base, levels, seed, MODULUS)
    }

    fn seeded_keyswitch<C: Container<Element = u64>>(
        &self,
        words: C,
        seed: u128,
    ) -> SeededLweKeyswitchKey<C> {
        let (base, levels) = self.spec().keyswitch.parts();
        let size = LweSize(self.spec().lwe_dimension + 1);
        SeededLweKeyswitchKey::from_container(words, base, levels, size, Seed(seed).into(), MODULUS)
    }

    fn seeded_packing<C: Container<Element = u64>>(
        &self,
        words: C,
        seed: u128,
    ) -> SeededLwePackingKeyswitchKey<C> {
        let (base, levels) = self.spec().packing.parts();
        let degree = PolynomialSize(self.ring_degree());
        let seed = Seed(seed).into();
        SeededLwePackingKeyswitchKey::from_container(
            words, base, levels, RING, degree, seed, MODULUS,
        )
    }
}

/// Uniform words.
pub(super) fn fill_uniform(words: &mut [u64], rng: &mut impl CryptoRng) {
    let mut bytes = Zeroizing::new(vec![0; 8 * words.len()]);
    rng.fill_bytes(&mut bytes);
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut array = [0; 8];
        array.copy_from_slice(bytes);
        *word = u64::from_le_bytes(array);
    }
}
