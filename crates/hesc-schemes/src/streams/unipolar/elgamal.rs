//! ElGamal's encryption as it is, multiplicative: a one is the neutral element, a zero a random one, and a product of ciphertexts encrypts
//! the conjunction of bits.
//!
//! A product that contains a zero is a random element too, and the neutral one by chance: a one
//! that should be a zero has the probability `1 / order`, 2^-252 and less.
//!
//! The decrypted element of a product is the product of its operands' elements, so that a key owner who
//! knows one of those, as of its own encryptions, sees whether the other is neutral. Rerandomising raises
//! the element to a random power as well: of what is not neutral nothing is left.
//!
//! The paper also names RSA as a multiplicative scheme. Without padding it is deterministic: two
//! encryptions of the neutral element are equal, so that anyone reads the bits. It is not offered.

use hesc_math::AesCtrRng;
use zeroize::Zeroizing;

use crate::kinds::SchemeId;
use crate::streams::bitwise::Bitwise;
use crate::streams::classical_sets::{BLOCK_LENGTH, unipolar_elgamal_bytes};
use crate::streams::elgamal::{ElgamalCipher, Embedding, Group, keep_where};
use crate::wire::Reader;
use crate::{BitProduct, SchemeError};

/// Unipolar HESC over a group.
pub type UnipolarElgamal<G> = Bitwise<ElgamalCipher<G, Neutral>>;

/// A one is the neutral element, a zero a random one.
#[derive(Debug, Clone)]
pub struct Neutral;

impl<G: Group> UnipolarElgamal<G> {
    /// The scheme over a group.
    pub fn over(group: G) -> Self {
        Self::of(ElgamalCipher::new(group, Neutral))
    }

    /// Reads the wire form of the parameter set over this group.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes.
    pub fn over_from_bytes(group: G, bytes: &[u8]) -> Result<Self, SchemeError> {
        let mut reader = Reader::open_params(bytes, SchemeId::UnipolarElgamal)?;
        if [reader.u32()?, reader.u32()?] != group.name().identifier() {
            return Err(reader.error("it is the set of another scheme"));
        }
        reader.finish()?;
        Ok(Self::over(group))
    }
}

impl<G: Group> Embedding<G> for Neutral {
    const BIT_PRODUCT: BitProduct = BitProduct::Conjunction;

    fn scheme(&self, _group: &G) -> &'static str {
        "unipolar_elgamal"
    }

    fn spec_to_bytes(&self, group: &G) -> Vec<u8> {
        unipolar_elgamal_bytes(group.name())
    }

    fn max_count(&self) -> u64 {
        1
    }

    fn counts_parity(&self) -> bool {
        true
    }

    /// `h^r` stays for a one and becomes `g^u` for a zero. Cost a bit: a power of a prepared base.
    fn embed(&self, group: &G, shared: &mut G::Elements, bits: u64, rng: &mut AesCtrRng) {
        let random = Zeroizing::new(group.generator_powers(&group.sample_exponents(rng)));
        group.replace_where(shared, &random, !bits);
    }

    fn extract(
        &self,
        group: &G,
        element: &G::Elements,
        shared: &G::Elements,
        _bound: u64,
    ) -> Option<[u32; BLOCK_LENGTH]> {
        let ones = group.equal(shared, element);
        Some(std::array::from_fn(|i| (ones >> i) as u32 & 1))
    }

    fn combine_bits(&self, group: &G, block: &mut [G::Elements; 2], bits: u64) {
        // A zero that everyone knows: (1, g).
        keep_where(group, block, bits);
        group.multiply_generator_where(&mut block[1], !bits);
    }

    fn blind(&self, group: &G, a: &[G::Elements; 2], rng: &mut AesCtrRng) -> [G::Elements; 2] {
        group.random_powers(a, rng)
    }
}

#[cfg(test)]
mod tests {
    use curve25519_dalek::ristretto::RistrettoPoint;
    use curve25519_dalek::traits::Identity;
    use rand_core::SeedableRng;

    use super::*;
    use crate::streams::bitwise::BitCipher;
    use crate::streams::elgamal::Ristretto255;

    /// Who holds the key and knows one factor of a product learns nothing of the other where its own bit is
    /// zero.
    #[test]
    fn a_rerandomised_zero_is_another_element() {
        let group = Ristretto255;
        let cipher = ElgamalCipher::new(group.clone(), Neutral);
        let rng = &mut AesCtrRng::from_seed([1; 32]);
        let (secret, public, _) = cipher.generate(rng);
        let known = cipher.encrypt(&public, 0x0F0F_0F0F_0F0F_0F0F, rng);
        let other = cipher.encrypt(&public, 0x00FF_00FF_00FF_00FF, rng);
        let product = cipher.combine(&(), &known, &other);
        let fresh = cipher.rerandomise(&public, &(), &product, rng);
        // What the bit was embedded as.
        let elements = |[first, second]: &[Vec<RistrettoPoint>; 2]| -> Vec<RistrettoPoint> {
            let shared = group.secret_powers(first, &secret);
            second.iter().zip(&shared).map(|(a, b)| a - b).collect()
        };
        let [known, product, fresh] = [&known, &product, &fresh].map(elements);
        let mut telling = 0;
        for i in 0..BLOCK_LENGTH {
            let (mine, theirs) = (0x0F0Fu64 >> (i % 16) & 1 == 1, 0x00FFu64 >> (i % 16) & 1 == 1);
            assert_eq!(fresh[i] == RistrettoPoint::identity(), mine && theirs);
            telling += usize::from(!mine && known[i] == product[i]);
            if !(mine && theirs) {
                assert!(fresh[i] != product[i] && fresh[i] != known[i]);
            }
        }
        // As it was before: equal where the other bit is one.
        assert_eq!(telling, 16);
    }
}
