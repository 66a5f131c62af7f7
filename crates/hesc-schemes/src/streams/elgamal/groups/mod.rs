//! The groups of ElGamal's schemes: 64 elements at a time, written multiplicatively whatever the
//! group.

mod ffdhe3072;
mod ristretto255;
mod secp256r1;

pub use ffdhe3072::{Exponents, Ffdhe3072};
pub use ristretto255::Ristretto255;
pub use secp256r1::Secp256r1;

use hesc_math::AesCtrRng;
use rand_core::{CryptoRng, Rng};
use zeroize::{Zeroize, Zeroizing};

use crate::streams::classical_sets::{BLOCK_LENGTH, GroupName};

/// A group of prime order in which nobody computes discrete logarithms.
///
/// Operations on exponents, elements and bits take the same time for all values, except where a
/// mask is said to be public.
pub trait Group: Clone + Send + Sync + 'static {
    /// 64 elements.
    type Elements: Clone + Send + Sync + Zeroize;
    /// 64 random exponents, wiped on drop.
    type Exponents;
    /// A secret exponent, not zero. No `Debug`, no equality, no `Clone`; wiped on drop.
    type Secret: Send + Sync;
    /// A fixed base, prepared.
    type Base: Send + Sync;
    /// The first powers of the generator, prepared for the search of logarithms.
    type Powers: Clone + Send + Sync;

    /// The scheme's name in the interface.
    fn scheme(&self) -> &'static str;
    /// The group's name.
    fn name(&self) -> GroupName;
    /// Bits of a random exponent, whose powers nobody tells from uniform elements.
    fn exponent_bits(&self) -> usize;

    /// 64 uniform exponents.
    fn sample_exponents(&self, rng: &mut AesCtrRng) -> Self::Exponents;
    /// A uniform secret exponent.
    fn sample_secret(&self, rng: &mut impl CryptoRng) -> Self::Secret;
    /// 64 uniform elements whose logarithms nobody knows.
    fn sample_elements(&self, public: &mut AesCtrRng) -> Self::Elements;
    /// `g^exponent`.
    fn generator_powers(&self, exponents: &Self::Exponents) -> Self::Elements;
    /// `base^exponent`.
    fn powers(&self, base: &Self::Base, exponents: &Self::Exponents) -> Self::Elements;
    /// `a^secret`.
    fn secret_powers(&self, a: &Self::Elements, secret: &Self::Secret) -> Self::Elements;
    /// `a b`.
    fn multiply(&self, a: &Self::Elements, b: &Self::Elements) -> Self::Elements;
    /// `a g` where the bit is set.
    fn multiply_generator_where(&self, a: &mut Self::Elements, bits: u64);
    /// The neutral element where the bit is not set; bits are public.
    fn keep_where(&self, a: &mut Self::Elements, bits: u64);
    /// Puts element `from` of `b` in place of element `to` of `a`; both places are public.
    fn place(&self, a: &mut Self::Elements, to: usize, b: &Self::Elements, from: usize);
    /// Both to the same power, of another random exponent for each of the 64. Cost: two products for each
    /// bit of an exponent.
    fn random_powers(&self, a: &[Self::Elements; 2], rng: &mut AesCtrRng) -> [Self::Elements; 2] {
        // A bit of all exponents in a word, the highest first.
        let mut exponents = Zeroizing::new(vec![0u8; 8 * self.exponent_bits()]);
        rng.fill_bytes(&mut exponents);
        a.each_ref().map(|a| {
            let mut one = a.clone();
            self.keep_where(&mut one, 0);
            exponents.as_chunks::<8>().0.iter().fold(one.clone(), |power, &bits| {
                let mut factor = one.clone();
                self.replace_where(&mut factor, a, u64::from_le_bytes(bits));
                self.multiply(&self.multiply(&power, &power), &factor)
            })
        })
    }
    /// `b` where the bit is set, `a` elsewhere.
    fn replace_where(&self, a: &mut Self::Elements, b: &Self::Elements, bits: u64);
    /// Where `a` and `b` are equal.
    fn equal(&self, a: &Self::Elements, b: &Self::Elements) -> u64;
    /// The first `max` powers of the generator.
    fn prepare_powers(&self, max: u64) -> Self::Powers;
    /// `m <= bound` with `a = b g^m`; `None` if there is none for some position.
    fn logarithms(
        &self,
        powers: &Self::Powers,
        a: &Self::Elements,
        b: &Self::Elements,
        bound: u64,
    ) -> Option<[u32; BLOCK_LENGTH]>;

    /// `g^secret`, in its wire form.
    fn public_element(&self, secret: &Self::Secret) -> Vec<u8>;
    /// Prepares a base from its wire form; `None` if it is the neutral element or not in the group.
    fn prepare_base(&self, bytes: &[u8]) -> Option<Self::Base>;
    /// Wire form of 64 elements.
    fn elements_to_bytes(&self, a: &Self::Elements) -> Vec<u8>;
    /// Reads 64 elements; `None` unless each is in the group and in its one encoding.
    fn elements_from_bytes(&self, bytes: &[u8]) -> Option<Self::Elements>;
    /// Wire form of a secret.
    fn secret_to_bytes(&self, secret: &Self::Secret) -> Zeroizing<Vec<u8>>;
    /// Reads a secret.
    fn secret_from_bytes(&self, bytes: &[u8]) -> Option<Self::Secret>;
}
