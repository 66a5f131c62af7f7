use std::sync::Arc;

use hesc_math::AesCtrRng;
use hesc_math::secp256r1::{self as curve, ENCODED_BYTES, FixedBase, SCALAR_BYTES, WINDOWS};
use hesc_math::wide::{LANES, Octet, copy_number, replace_where};
use rand_core::{CryptoRng, Rng};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::Group;
use crate::streams::classical_sets::{BLOCK_LENGTH, GroupName, SECP256R1_BYTES};

// Builds without the curve know its size too.
const _: () = assert!(ENCODED_BYTES == SECP256R1_BYTES);

/// The curve secp256r1, NIST P-256: prime order, 33 bytes compressed.
#[derive(Debug, Clone, Default)]
pub struct Secp256r1;

const GROUPS: usize = BLOCK_LENGTH / LANES;

/// 64 points.
pub type Elements = Box<[Octet]>;

/// Digits in windows.
type Digits = Zeroizing<Vec<Octet>>;

/// A scalar, not zero, big-endian.
#[derive(ZeroizeOnDrop)]
pub struct Secret([u8; SCALAR_BYTES]);

/// A scalar for each point of whole groups.
fn digits_of<'a>(scalars: impl Iterator<Item = &'a [u8; SCALAR_BYTES]>, groups: usize) -> Digits {
    let mut digits = Zeroizing::new(vec![Octet::ZERO; groups * WINDOWS]);
    for (i, scalar) in scalars.enumerate() {
        let group = &mut digits[i / LANES * WINDOWS..];
        for (octet, &window) in group.iter_mut().zip(curve::scalar_windows(scalar).iter()) {
            octet.0[i % LANES] = window.into();
        }
    }
    digits
}

impl Group for Secp256r1 {
    type Elements = Elements;
    type Exponents = Digits;
    type Secret = Secret;
    type Base = FixedBase;
    type Powers = Arc<curve::Multiples>;

    fn scheme(&self) -> &'static str {
        "ec_elgamal"
    }

    fn name(&self) -> GroupName {
        GroupName::Secp256r1
    }

    fn exponent_bits(&self) -> usize {
        8 * SCALAR_BYTES
    }

    fn sample_exponents(&self, rng: &mut AesCtrRng) -> Digits {
        let scalars: Zeroizing<Vec<[u8; SCALAR_BYTES]>> =
            Zeroizing::new((0..BLOCK_LENGTH).map(|_| *curve::sample_scalar(rng)).collect());
        digits_of(scalars.iter(), GROUPS)
    }

    fn sample_secret(&self, rng: &mut impl CryptoRng) -> Secret {
        Secret(*curve::sample_scalar(rng))
    }

    /// Points whose first coordinate is drawn: half of all numbers have one.
    fn sample_elements(&self, public: &mut AesCtrRng) -> Elements {
        let mut encodings = Vec::with_capacity(BLOCK_LENGTH * ENCODED_BYTES);
        let mut candidates = [0; LANES * ENCODED_BYTES];
        while encodings.len() < BLOCK_LENGTH * ENCODED_BYTES {
            public.fill_bytes(&mut candidates);
            for encoding in candidates.as_chunks_mut::<ENCODED_BYTES>().0 {
                encoding[0] = 2 + (encoding[0] & 1);
            }
            for (encoding, on_curve) in
                candidates.as_chunks::<ENCODED_BYTES>().0.iter().zip(curve::on_curve(&candidates))
            {
                if on_curve && encodings.len() < BLOCK_LENGTH * ENCODED_BYTES {
                    encodings.extend_from_slice(encoding);
                }
            }
        }
        let Some(points) = curve::decode(&encodings) else {
            unreachable!("each was found on the curve")
        };
        points.into()
    }

    fn generator_powers(&self, exponents: &Digits) -> Elements {
        FixedBase::generator().multiples(exponents).into()
    }

    fn powers(&self, base: &FixedBase, exponents: &Digits) -> Elements {
        base.multiples(exponents).into()
    }

    fn secret_powers(&self, a: &Elements, secret: &Secret) -> Elements {
        let mut powers = a.clone();
        curve::multiply(&mut powers, &curve::scalar_windows(&secret.0));
        powers
    }

    fn multiply(&self, a: &Elements, b: &Elements) -> Elements {
        let mut sum = vec![Octet::ZERO; a.len()];
        curve::add(&mut sum, a, b);
        sum.into()
    }

    fn multiply_generator_where(&self, a: &mut Elements, bits: u64) {
        curve::add_generator_where(a, &bits.to_le_bytes());
    }

    fn keep_where(&self, a: &mut Elements, bits: u64) {
        curve::keep_where(a, &bits.to_le_bytes());
    }

    fn place(&self, a: &mut Elements, to: usize, b: &Elements, from: usize) {
        copy_number(a, to, b, from, GROUPS);
    }

    fn replace_where(&self, a: &mut Elements, b: &Elements, bits: u64) {
        replace_where(a, b, &bits.to_le_bytes());
    }

    fn equal(&self, a: &Elements, b: &Elements) -> u64 {
        let (_, found) = curve::Multiples::none().logarithms(a, b, 0);
        found.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
    }

    fn prepare_powers(&self, max: u64) -> Arc<curve::Multiples> {
        Arc::new(curve::Multiples::new(max))
    }

    fn logarithms(
        &self,
        powers: &Arc<curve::Multiples>,
        a: &Elements,
        b: &Elements,
        bound: u64,
    ) -> Option<[u32; BLOCK_LENGTH]> {
        let (counts, found) = powers.logarithms(a, b, bound);
        // Whether all are counts becomes public as the error.
        if found.iter().any(|&bits| bits != u8::MAX) {
            return None;
        }
        counts.try_into().ok()
    }

    fn public_element(&self, secret: &Secret) -> Vec<u8> {
        let digits = digits_of(std::iter::repeat_n(&secret.0, LANES), 1);
        let mut bytes = curve::encode(&FixedBase::generator().multiples(&digits));
        bytes.truncate(ENCODED_BYTES);
        bytes
    }

    fn prepare_base(&self, bytes: &[u8]) -> Option<FixedBase> {
        if bytes.len() != ENCODED_BYTES || bytes[0] == 0 {
            return None;
        }
        curve::decode(&bytes.repeat(LANES)).map(|point| FixedBase::new(&point))
    }

    fn elements_to_bytes(&self, a: &Elements) -> Vec<u8> {
        curve::encode(a)
    }

    fn elements_from_bytes(&self, bytes: &[u8]) -> Option<Elements> {
        curve::decode(bytes).map(Into::into)
    }

    fn secret_to_bytes(&self, secret: &Secret) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(secret.0.to_vec())
    }

    fn secret_from_bytes(&self, bytes: &[u8]) -> Option<Secret> {
        let bytes = Zeroizing::new(<[u8; SCALAR_BYTES]>::try_from(bytes).ok()?);
        curve::is_scalar(&bytes).then(|| Secret(*bytes))
    }
}
