use curve25519_dalek::constants::{RISTRETTO_BASEPOINT_POINT, RISTRETTO_BASEPOINT_TABLE};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use hesc_math::{AesCtrRng, RngSeed, sampling};
use rand_core::{CryptoRng, Rng, SeedableRng};
use rayon::prelude::*;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, Zeroizing};

use super::{BLOCK_LENGTH, Ciphertexts, EcElgamal, Pair, PublicKey, SecretKey, SeededCiphertexts};
use crate::SchemeError;
use crate::scheme::count_blocks;

/// `b G`, by selection.
pub(super) fn lift(bit: u64) -> RistrettoPoint {
    RistrettoPoint::conditional_select(
        &RistrettoPoint::identity(),
        &RISTRETTO_BASEPOINT_POINT,
        Choice::from((bit & 1) as u8),
    )
}

impl EcElgamal {
    /// `(r G, r P + b G)`. Cost a bit: two products with tables; blocks in parallel.
    pub(super) fn encrypt_blocks(
        &self,
        key: &PublicKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts, SchemeError> {
        key.tag.check(self.fingerprint, None)?;
        count_blocks(bits, BLOCK_LENGTH)?;
        // A generator for each block, so that the result does not depend on threads.
        let seeds: Vec<Zeroizing<RngSeed>> =
            bits.iter().map(|_| sampling::fresh_seed(rng).into()).collect();
        let pairs = bits
            .par_iter()
            .zip(seeds)
            .flat_map_iter(|(&word, seed)| {
                let mut rng = AesCtrRng::from_seed(*seed);
                (0..BLOCK_LENGTH).map(move |i| {
                    let r = Zeroizing::new(Scalar::random(&mut rng));
                    [RISTRETTO_BASEPOINT_TABLE * &*r, &*key.table * &*r + lift(word >> i)]
                })
            })
            .collect();
        Ok(Ciphertexts { tag: key.tag, pairs, bound: 1 })
    }

    /// `c_1` from a seed, `c_2 = s c_1 + b G`. Cost a bit: a product, and a point from the seed.
    pub(super) fn encrypt_blocks_seeded(
        &self,
        key: &SecretKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<SeededCiphertexts, SchemeError> {
        key.tag.check(self.fingerprint, None)?;
        let blocks = count_blocks(bits, BLOCK_LENGTH)?;
        let seed = sampling::fresh_seed(rng);
        let seconds = first_points(seed, blocks)
            .into_par_iter()
            .enumerate()
            .map(|(i, first)| {
                first * key.scalar + lift(bits[i / BLOCK_LENGTH] >> (i % BLOCK_LENGTH))
            })
            .collect();
        Ok(SeededCiphertexts { tag: key.tag, seed, seconds })
    }

    /// The full form.
    pub(super) fn expand_seeded(
        &self,
        seeded: &SeededCiphertexts,
    ) -> Result<Ciphertexts, SchemeError> {
        seeded.tag.check(self.fingerprint, None)?;
        let firsts = first_points(seeded.seed, seeded.seconds.len() / BLOCK_LENGTH);
        let pairs = firsts.into_iter().zip(&seeded.seconds).map(|(a, &b)| [a, b]).collect();
        Ok(Ciphertexts { tag: seeded.tag, pairs, bound: 1 })
    }

    /// Counts. Cost a position: one product with the secret scalar and a comparison with each
    /// candidate.
    pub(super) fn decrypt_blocks(
        &self,
        key: &SecretKey,
        a: &Ciphertexts,
    ) -> Result<Vec<u32>, SchemeError> {
        key.tag.check(self.fingerprint, None)?;
        a.tag.check(self.fingerprint, Some(key.tag))?;
        let candidates = &self.multiples[..=a.bound as usize];
        let blocks: Vec<Option<Vec<u32>>> = a
            .pairs
            .par_chunks(BLOCK_LENGTH)
            .map(|block| {
                let open = |[first, second]: &Pair| second - first * key.scalar;
                let mut points: Vec<RistrettoPoint> = block.iter().map(open).collect();
                let doubled = RistrettoPoint::double_and_compress_batch(&points);
                points.zeroize();
                doubled.iter().map(|point| find(point, candidates)).collect()
            })
            .collect();
        let mut counts = Vec::with_capacity(a.pairs.len());
        for (block, found) in blocks.into_iter().enumerate() {
            counts.extend(found.ok_or(SchemeError::NotACount { block })?);
        }
        Ok(counts)
    }
}

/// The index of a point among the candidates; looks at all of them, whatever it finds.
fn find(point: &CompressedRistretto, candidates: &[CompressedRistretto]) -> Option<u32> {
    let (mut index, mut found) = (0u32, Choice::from(0));
    for (m, candidate) in candidates.iter().enumerate() {
        let equal = point.ct_eq(candidate);
        index.conditional_assign(&(m as u32), equal);
        found |= equal;
    }
    // Whether it is a count at all becomes public as the error.
    bool::from(found).then_some(index)
}

/// Uniform points from a seed; nobody knows their logarithms.
fn first_points(seed: RngSeed, blocks: usize) -> Vec<RistrettoPoint> {
    let mut rng = AesCtrRng::from_seed(seed);
    let uniform: Vec<[u8; 64]> = (0..blocks * BLOCK_LENGTH)
        .map(|_| {
            let mut bytes = [0; 64];
            rng.fill_bytes(&mut bytes);
            bytes
        })
        .collect();
    uniform.par_iter().map(RistrettoPoint::from_uniform_bytes).collect()
}
