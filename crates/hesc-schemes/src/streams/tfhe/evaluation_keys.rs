//! What evaluates on bits: three keys of rows `(a, a s + e + m)`. The halves `a` of all rows are one key
//! stream, of which the seed travels.

use ::tfhe::core_crypto::prelude::{
    DecompositionBaseLog, DecompositionLevelCount, Fft, FourierLweBootstrapKey,
    FourierLweBootstrapKeyOwned, LweBootstrapKey, LweKeyswitchKey, LweKeyswitchKeyOwned,
    LwePackingKeyswitchKey, LwePackingKeyswitchKeyOwned, LweSize, PolynomialSize,
    par_convert_standard_lwe_bootstrap_key_to_fourier,
};
use hesc_math::{AesCtrRng, KeyStream, RngSeed, sampling};
use rand_core::{CryptoRng, SeedableRng};
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::keys::{MODULUS, RING, fresh_seeds};
use super::params::Decomposition;
use super::polynomial::{add_gaussian, add_scaled};
use super::{SecretKey, Spec, Tfhe};
use crate::streams::Encrypt;
use crate::threads::note_shared;
use crate::{SchemeError, Tag};

/// What evaluates on bits, in the form that travels: the random halves are a seed.
#[derive(Clone)]
pub struct SeededEvaluationKey {
    pub(super) tag: Tag,
    /// Of the random halves of three keys: bits of the small secret under the ring's, for bootstraps; of
    /// the ring's under the small one; and of the small one under the ring's again, for packing.
    pub(super) seed: RngSeed,
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

impl Decomposition {
    fn parts(self) -> (DecompositionBaseLog, DecompositionLevelCount) {
        (
            DecompositionBaseLog(self.base_log as usize),
            DecompositionLevelCount(self.levels as usize),
        )
    }

    /// A bit times each power of the base that digits count, in the order of the crate's keys: the
    /// smallest first.
    fn powers(self, bit: u64) -> impl Iterator<Item = u64> {
        (1..=self.levels).rev().map(move |level| bit << (u64::BITS - self.base_log * level))
    }
}

/// One of the three keys: how many rows, words of the random half of each and of the other, and the
/// block of the key stream where its random halves begin.
#[derive(Clone, Copy)]
struct Rows {
    count: usize,
    random: usize,
    body: usize,
    first: usize,
}

impl Rows {
    /// Of a parameter set's three keys.
    fn of(spec: &Spec) -> [Self; 3] {
        let mut first = 0;
        spec.evaluation_keys().map(|[count, random, body]| {
            let found = Self { count, random, body, first };
            first += count * found.blocks();
            found
        })
    }

    /// AES blocks of a row's random half: whole ones.
    fn blocks(&self) -> usize {
        self.random.div_ceil(2)
    }

    /// A row's random half.
    fn fill(&self, row: usize, stream: &KeyStream, random: &mut [u64]) {
        random.fill(0);
        stream.apply((self.first + row * self.blocks()) as u64, random);
    }

    /// All rows whole.
    fn expand(&self, stream: &KeyStream, bodies: &[u64]) -> Vec<u64> {
        let length = self.random + self.body;
        let mut words = vec![0; self.count * length];
        words
            .par_chunks_exact_mut(length)
            .zip(bodies.par_chunks_exact(self.body))
            .enumerate()
            .for_each(|(row, (whole, body))| {
                let (random, rest) = whole.split_at_mut(self.random);
                self.fill(row, stream, random);
                rest.copy_from_slice(body);
            });
        words
    }
}

impl SeededEvaluationKey {
    /// Words of the three keys of a parameter set.
    pub(super) fn lengths(spec: &Spec) -> [usize; 3] {
        spec.evaluation_keys().map(|[rows, _, body]| rows * body)
    }
}

impl Tfhe {
    /// What others need to evaluate circuits on bits of this key, in the form that travels. Cost: half a
    /// second of one core at a ring degree of 2048, on all cores.
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
        let seed = sampling::fresh_seed(rng);
        let stream = &KeyStream::new(&seed);
        let [bootstrap, keyswitch, packing] = Rows::of(spec);
        let mut words = [
            self.ring_zeros(&bootstrap, secret, stream, rng),
            self.small_zeros(&keyswitch, secret, stream, rng),
            self.ring_zeros(&packing, secret, stream, rng),
        ];
        // Bits are added to zeros: products with them, and no branches.
        let n = self.ring_degree();
        let of_small = |decomposition: Decomposition| {
            secret.lwe.iter().flat_map(move |bit| decomposition.powers(*bit))
        };
        for (rows, power) in words[0].chunks_exact_mut(RING.0 * n).zip(of_small(spec.bootstrap)) {
            let (of_secret, of_one) = rows.split_at_mut(n);
            add_scaled(of_secret, power.wrapping_neg(), &secret.ring);
            of_one[0] = of_one[0].wrapping_add(power);
        }
        let of_ring = secret.ring.iter().flat_map(|bit| spec.keyswitch.powers(*bit));
        for (body, power) in words[1].iter_mut().zip(of_ring) {
            *body = body.wrapping_add(power);
        }
        for (body, power) in words[2].chunks_exact_mut(n).zip(of_small(spec.packing)) {
            body[0] = body[0].wrapping_add(power);
        }
        Ok(SeededEvaluationKey { tag: secret.tag, seed, words })
    }

    /// The bodies `a s + e` of rows under the ring's secret.
    fn ring_zeros(
        &self,
        rows: &Rows,
        secret: &SecretKey,
        stream: &KeyStream,
        rng: &mut impl CryptoRng,
    ) -> Vec<u64> {
        let (n, log2_noise) = (self.ring_degree(), self.spec().log2_ring_noise);
        let secret = self.products().binary(&secret.ring);
        let seeds = fresh_seeds(rows.count, rng);
        let mut bodies = vec![0; rows.count * n];
        note_shared();
        bodies.par_chunks_exact_mut(n).zip(&seeds).enumerate().for_each_init(
            || (vec![0; n], Zeroizing::new(vec![0; n])),
            |(random, room), (row, (body, seed))| {
                rows.fill(row, stream, random);
                self.products().multiply(body, random, &secret, room);
                add_gaussian(body, log2_noise, &mut AesCtrRng::from_seed(**seed));
            },
        );
        bodies
    }

    /// The bodies `a s + e` of rows under the small secret.
    fn small_zeros(
        &self,
        rows: &Rows,
        secret: &SecretKey,
        stream: &KeyStream,
        rng: &mut impl CryptoRng,
    ) -> Vec<u64> {
        let mut bodies = vec![0; rows.count];
        note_shared();
        bodies.par_iter_mut().enumerate().for_each_init(
            || vec![0; rows.random],
            |random, (row, body)| {
                rows.fill(row, stream, random);
                let products = random.iter().zip(&secret.lwe).map(|(a, s)| a.wrapping_mul(*s));
                *body = products.fold(0, u64::wrapping_add);
            },
        );
        add_gaussian(&mut bodies, self.spec().log2_lwe_noise, rng);
        bodies
    }

    /// The compute form of an evaluation key. Cost: a tenth of a second of one core at a ring degree of
    /// 2048, on all cores.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for a key of another set.
    pub fn expand_evaluation_key(
        &self,
        seeded: &SeededEvaluationKey,
    ) -> Result<EvaluationKey, SchemeError> {
        seeded.tag.check(self.fingerprint(), None)?;
        let spec = self.spec();
        let stream = &KeyStream::new(&seeded.seed);
        let degree = PolynomialSize(self.ring_degree());
        let rows = Rows::of(spec);
        let expanded = |at: usize| rows[at].expand(stream, &seeded.words[at]);
        let (base, levels) = spec.bootstrap.parts();
        let standard =
            LweBootstrapKey::from_container(expanded(0), RING, degree, base, levels, MODULUS);
        let mut bootstrap =
            FourierLweBootstrapKey::new(standard.input_lwe_dimension(), RING, degree, base, levels);
        par_convert_standard_lwe_bootstrap_key_to_fourier(&standard, &mut bootstrap);
        let (base, levels) = spec.keyswitch.parts();
        let size = LweSize(spec.lwe_dimension + 1);
        let keyswitch = LweKeyswitchKey::from_container(expanded(1), base, levels, size, MODULUS);
        let (base, levels) = spec.packing.parts();
        let packing = LwePackingKeyswitchKey::from_container(
            expanded(2),
            base,
            levels,
            RING,
            degree,
            MODULUS,
        );
        Ok(EvaluationKey { tag: seeded.tag, bootstrap, keyswitch, packing, fft: Fft::new(degree) })
    }
}
