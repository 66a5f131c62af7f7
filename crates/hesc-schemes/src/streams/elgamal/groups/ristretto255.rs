use std::sync::Arc;

use curve25519_dalek::constants::{RISTRETTO_BASEPOINT_POINT, RISTRETTO_BASEPOINT_TABLE};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoBasepointTable, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use hesc_math::AesCtrRng;
use rand_core::{CryptoRng, Rng};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::Group;
use crate::streams::classical_sets::{BLOCK_LENGTH, GroupName, RISTRETTO255_BYTES as POINT};

/// Ristretto over curve25519 (RFC 9496): prime order, one encoding for each element, 32 bytes.
#[derive(Debug, Clone, Default)]
pub struct Ristretto255;

/// A scalar, not zero.
#[derive(ZeroizeOnDrop)]
pub struct Secret(Scalar);

/// Encodings of `2 m G`: twice the point, because doubling and encoding together is cheaper for a
/// batch.
pub type Powers = Arc<[CompressedRistretto]>;

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

impl Group for Ristretto255 {
    type Elements = Vec<RistrettoPoint>;
    type Exponents = Zeroizing<Vec<Scalar>>;
    type Secret = Secret;
    type Base = (RistrettoPoint, RistrettoBasepointTable);
    type Powers = Powers;

    fn scheme(&self) -> &'static str {
        "ec_elgamal"
    }

    fn name(&self) -> GroupName {
        GroupName::Ristretto255
    }

    fn exponent_bits(&self) -> usize {
        256
    }

    fn sample_exponents(&self, rng: &mut AesCtrRng) -> Zeroizing<Vec<Scalar>> {
        Zeroizing::new((0..BLOCK_LENGTH).map(|_| Scalar::random(rng)).collect())
    }

    fn sample_secret(&self, rng: &mut impl CryptoRng) -> Secret {
        let mut scalar = Scalar::random(rng);
        // Probability 2^-252, and then encryption would hide nothing.
        while scalar == Scalar::ZERO {
            scalar = Scalar::random(rng);
        }
        let secret = Secret(scalar);
        scalar.zeroize();
        secret
    }

    fn sample_elements(&self, public: &mut AesCtrRng) -> Vec<RistrettoPoint> {
        (0..BLOCK_LENGTH)
            .map(|_| {
                let mut bytes = [0; 64];
                public.fill_bytes(&mut bytes);
                RistrettoPoint::from_uniform_bytes(&bytes)
            })
            .collect()
    }

    fn generator_powers(&self, exponents: &Zeroizing<Vec<Scalar>>) -> Vec<RistrettoPoint> {
        exponents.iter().map(|r| RISTRETTO_BASEPOINT_TABLE * r).collect()
    }

    fn powers(&self, base: &Self::Base, exponents: &Zeroizing<Vec<Scalar>>) -> Vec<RistrettoPoint> {
        exponents.iter().map(|r| &base.1 * r).collect()
    }

    fn secret_powers(&self, a: &Vec<RistrettoPoint>, secret: &Secret) -> Vec<RistrettoPoint> {
        a.iter().map(|a| a * secret.0).collect()
    }

    fn multiply(&self, a: &Vec<RistrettoPoint>, b: &Vec<RistrettoPoint>) -> Vec<RistrettoPoint> {
        a.iter().zip(b).map(|(a, b)| a + b).collect()
    }

    fn multiply_generator_where(&self, a: &mut Vec<RistrettoPoint>, bits: u64) {
        for (i, a) in a.iter_mut().enumerate() {
            *a += RistrettoPoint::conditional_select(
                &RistrettoPoint::identity(),
                &RISTRETTO_BASEPOINT_POINT,
                Choice::from((bits >> i) as u8 & 1),
            );
        }
    }

    fn keep_where(&self, a: &mut Vec<RistrettoPoint>, bits: u64) {
        for (i, a) in a.iter_mut().enumerate() {
            if bits >> i & 1 == 0 {
                *a = RistrettoPoint::identity();
            }
        }
    }

    fn place(&self, a: &mut Vec<RistrettoPoint>, to: usize, b: &Vec<RistrettoPoint>, from: usize) {
        a[to] = b[from];
    }

    fn replace_where(&self, a: &mut Vec<RistrettoPoint>, b: &Vec<RistrettoPoint>, bits: u64) {
        for (i, (a, b)) in a.iter_mut().zip(b).enumerate() {
            a.conditional_assign(b, Choice::from((bits >> i) as u8 & 1));
        }
    }

    fn equal(&self, a: &Vec<RistrettoPoint>, b: &Vec<RistrettoPoint>) -> u64 {
        let bits = a.iter().zip(b).map(|(a, b)| u64::from(a.ct_eq(b).unwrap_u8()));
        bits.enumerate().fold(0, |word, (i, bit)| word | bit << i)
    }

    fn prepare_powers(&self, max: u64) -> Powers {
        let mut multiple = RistrettoPoint::identity();
        let points: Vec<RistrettoPoint> = (0..=max)
            .map(|_| {
                let this = multiple;
                multiple += RISTRETTO_BASEPOINT_POINT;
                this
            })
            .collect();
        RistrettoPoint::double_and_compress_batch(&points).into()
    }

    fn logarithms(
        &self,
        powers: &Powers,
        a: &Vec<RistrettoPoint>,
        b: &Vec<RistrettoPoint>,
        bound: u64,
    ) -> Option<[u32; BLOCK_LENGTH]> {
        let points: Zeroizing<Vec<RistrettoPoint>> =
            Zeroizing::new(a.iter().zip(b).map(|(a, b)| a - b).collect());
        let candidates = &powers[..=bound as usize];
        let mut found = [0; BLOCK_LENGTH];
        let doubled = RistrettoPoint::double_and_compress_batch(&*points);
        for (found, point) in found.iter_mut().zip(&doubled) {
            *found = find(point, candidates)?;
        }
        Some(found)
    }

    fn public_element(&self, secret: &Secret) -> Vec<u8> {
        (RISTRETTO_BASEPOINT_TABLE * &secret.0).compress().to_bytes().to_vec()
    }

    fn prepare_base(&self, bytes: &[u8]) -> Option<Self::Base> {
        let point = CompressedRistretto::from_slice(bytes).ok()?.decompress()?;
        let table = RistrettoBasepointTable::create(&point);
        (point != RistrettoPoint::identity()).then_some((point, table))
    }

    fn elements_to_bytes(&self, a: &Vec<RistrettoPoint>) -> Vec<u8> {
        a.iter().flat_map(|point| point.compress().to_bytes()).collect()
    }

    fn elements_from_bytes(&self, bytes: &[u8]) -> Option<Vec<RistrettoPoint>> {
        bytes
            .chunks_exact(POINT)
            .map(|bytes| CompressedRistretto::from_slice(bytes).ok()?.decompress())
            .collect()
    }

    fn secret_to_bytes(&self, secret: &Secret) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(secret.0.to_bytes().to_vec())
    }

    fn secret_from_bytes(&self, bytes: &[u8]) -> Option<Secret> {
        let bytes = Zeroizing::new(<[u8; POINT]>::try_from(bytes).ok()?);
        let scalar: Option<Scalar> = Scalar::from_canonical_bytes(*bytes).into();
        scalar.filter(|scalar| *scalar != Scalar::ZERO).map(Secret)
    }
}
