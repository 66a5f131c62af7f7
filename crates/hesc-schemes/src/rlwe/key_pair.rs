//! Secret and public keys: what they are, how they are made and how they travel, for sets of every kind.

use hesc_math::residues::kernels;
use hesc_math::ring::Prime;
use hesc_math::sampling::{self, Sampler};
use hesc_math::{AesCtrRng, Coeff, Eval, Poly, Ring, RingIndex, RngSeed, Word};
use rand_core::{CryptoRng, SeedableRng};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::noise::{MOST_COMPONENTS, POWER_MARGIN};
use super::residue_wire::{read_residues, residues_length, write_residues};
use super::residues::Residues;
use super::values::Values;
use crate::wire::{Kind, Reader, SEED, TAG, Writer, framed};
use crate::{Fingerprint, KeyId, SchemeError, Tag};

/// A uniform ternary polynomial as evaluations modulo all primes of a set, prime after prime. No `Debug`, no
/// equality, no `Clone`; wiped on drop.
#[derive(ZeroizeOnDrop)]
pub struct SecretKey<W: Word = u64> {
    #[zeroize(skip)]
    pub(crate) tag: Tag,
    pub(crate) words: Vec<W>,
}

impl SecretKey {
    /// Its residues modulo all primes.
    pub(crate) fn residues(&self, ring_degree: usize) -> Residues<'_, Eval> {
        Residues::assume(&self.words, 1, ring_degree)
    }
}

impl PublicKey {
    /// The residues of `b` and `a` modulo the primes of fresh ciphertexts.
    pub(crate) fn residues(&self, ring_degree: usize) -> [Residues<'_, Eval>; 2] {
        self.components.each_ref().map(|words| Residues::assume(words, 1, ring_degree))
    }
}

/// An encryption of zero, `(b, a)` with `b = -(a s + e)`, as evaluations, prime after prime; `a` comes from
/// a seed, which is what travels.
#[derive(Clone)]
pub struct PublicKey<W: Word = u64> {
    pub(crate) tag: Tag,
    pub(crate) seed: RngSeed,
    pub(crate) components: [Vec<W>; 2],
}

impl<W: Word> SecretKey<W> {
    /// The key pair's public name.
    pub fn key_id(&self) -> KeyId {
        self.tag.key
    }

    /// From the ternary coefficients. Cost: one transform a prime.
    fn from_ternary<B: KeyModuli<W> + ?Sized>(tag: Tag, ternary: &[i16], basis: &B) -> Self {
        let mut words = vec![W::zeroed(); ternary.len() * basis.moduli().len()];
        basis.add_small(&mut words, ternary);
        basis.forward(&mut words);
        Self { tag, words }
    }

    pub(crate) fn to_bytes<B: KeyModuli<W> + ?Sized>(&self, basis: &B) -> Zeroizing<Vec<u8>> {
        let n = basis.ring_degree();
        let mut trits = Zeroizing::new(self.words.clone());
        basis.inverse(&mut trits);
        // 1 is added modulo q, which turns -1, 0, 1 to 0, 1, 2 without a branch.
        basis.add_small(&mut trits, &vec![1; n]);
        // Room for everything at once: a vector that grows leaves copies behind.
        let mut writer = Writer::with_capacity(Kind::SecretKey, 64 + n);
        writer.tag(self.tag).packed(&trits[..n], 2);
        Zeroizing::new(writer.finish())
    }

    pub(crate) fn from_bytes<B: KeyModuli<W> + ?Sized>(
        bytes: &[u8],
        params: Fingerprint,
        basis: &B,
    ) -> Result<Self, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SecretKey)?;
        let tag = reader.tag(params)?;
        let trits = Zeroizing::new(reader.packed::<u32>(basis.ring_degree(), 2)?);
        let mut ternary: Vec<i16> = trits.iter().map(|&x| x as i16 - 1).collect();
        let valid = trits.iter().fold(true, |valid, &x| valid & (x < 3));
        let key = Self::from_ternary(tag, &ternary, basis);
        ternary.zeroize();
        if !valid {
            return Err(reader.error("a coefficient is not ternary"));
        }
        reader.finish()?;
        Ok(key)
    }
}

impl<W: Word> PublicKey<W> {
    /// The key pair's public name.
    pub fn key_id(&self) -> KeyId {
        self.tag.key
    }

    /// Bytes of the wire form.
    pub(crate) fn length<B: KeyModuli<W> + ?Sized>(basis: &B) -> usize {
        let first = residues_length(basis.ring_degree(), basis.moduli().into_iter());
        framed(TAG + SEED + first)
    }

    pub(crate) fn to_bytes<B: KeyModuli<W> + ?Sized>(&self, basis: &B) -> Vec<u8> {
        let mut writer = Writer::of_length(Kind::PublicKey, Self::length(basis));
        writer.tag(self.tag).bytes(&self.seed);
        let mut first = self.components[0].clone();
        basis.inverse(&mut first);
        write_residues(&mut writer, &first, basis.ring_degree(), basis.moduli().into_iter());
        writer.finish()
    }

    pub(crate) fn from_bytes<B: KeyModuli<W> + ?Sized>(
        bytes: &[u8],
        params: Fingerprint,
        basis: &B,
    ) -> Result<Self, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::PublicKey)?;
        let tag = reader.tag(params)?;
        let seed = reader.array()?;
        let moduli = basis.moduli().into_iter();
        let mut first = read_residues(&mut reader, basis.ring_degree(), moduli)?;
        reader.finish()?;
        basis.forward(&mut first);
        Ok(Self { tag, seed, components: [first, uniform(basis, seed)] })
    }
}

/// The primes that the polynomials of keys are taken modulo, with their transforms.
pub(crate) trait KeyModuli<W: Word> {
    /// Coefficients of a polynomial.
    fn ring_degree(&self) -> usize;
    /// The primes.
    fn moduli(&self) -> Vec<u64>;
    /// `words += small`, as coefficients.
    fn add_small(&self, words: &mut [W], small: &[i16]);
    /// The product of evaluations, as coefficients in place of the first.
    fn multiply(&self, words: &mut [W], other: &[W]);
    /// `words = -words`.
    fn negate(&self, words: &mut [W]);
    /// Coefficients to evaluations.
    fn forward(&self, words: &mut [W]);
    /// Evaluations to coefficients.
    fn inverse(&self, words: &mut [W]);
}

impl<W: Word> KeyModuli<W> for Ring<W> {
    fn ring_degree(&self) -> usize {
        self.ring_degree()
    }

    fn moduli(&self) -> Vec<u64> {
        self.moduli().iter().map(|q| q.value()).collect()
    }

    fn add_small(&self, words: &mut [W], small: &[i16]) {
        Poly::<W, Coeff, _>::new(words, self).add_small(small, self);
    }

    fn multiply(&self, words: &mut [W], other: &[W]) {
        Poly::<W, Eval, _>::new(words, self)
            .mul_inverse(&Poly::<W, Eval, _>::new(other, self), self);
    }

    fn negate(&self, words: &mut [W]) {
        Poly::<W, Coeff, _>::new(words, self).neg_assign(self);
    }

    fn forward(&self, words: &mut [W]) {
        Poly::<W, Coeff, _>::new(words, self).forward(self);
    }

    fn inverse(&self, words: &mut [W]) {
        Poly::<W, Eval, _>::new(words, self).inverse(self);
    }
}

impl KeyModuli<u64> for [Prime] {
    fn ring_degree(&self) -> usize {
        self[0].ring_degree()
    }

    fn moduli(&self) -> Vec<u64> {
        self.iter().map(|prime| prime.value()).collect()
    }

    fn add_small(&self, words: &mut [u64], small: &[i16]) {
        for (row, prime) in words.chunks_exact_mut(small.len()).zip(self) {
            kernels::add_small(row, small, prime);
        }
    }

    fn multiply(&self, words: &mut [u64], other: &[u64]) {
        let n = KeyModuli::ring_degree(self);
        let rows = words.chunks_exact_mut(n).zip(other.chunks_exact(n));
        for ((row, other), prime) in rows.zip(self) {
            kernels::multiply_assign(row, other, prime);
            prime.inverse(row);
        }
    }

    fn negate(&self, words: &mut [u64]) {
        let n = KeyModuli::ring_degree(self);
        words.chunks_exact_mut(n).zip(self).for_each(|(row, prime)| kernels::negate(row, prime));
    }

    fn forward(&self, words: &mut [u64]) {
        let n = KeyModuli::ring_degree(self);
        words.chunks_exact_mut(n).zip(self).for_each(|(row, prime)| prime.forward(row));
    }

    fn inverse(&self, words: &mut [u64]) {
        let n = KeyModuli::ring_degree(self);
        words.chunks_exact_mut(n).zip(self).for_each(|(row, prime)| prime.inverse(row));
    }
}

/// Seeds of generators, one for each residue polynomial, so that they can be expanded side by side.
pub(crate) fn residue_seeds(seed: RngSeed, count: usize) -> Vec<RngSeed> {
    let mut rng = AesCtrRng::from_seed(seed);
    (0..count).map(|_| sampling::fresh_seed(&mut rng)).collect()
}

/// A uniform polynomial, prime after prime.
fn uniform<W: Word, B: KeyModuli<W> + ?Sized>(basis: &B, seed: RngSeed) -> Vec<W> {
    let (n, moduli) = (basis.ring_degree(), basis.moduli());
    let mut words = vec![W::zeroed(); n * moduli.len()];
    let seeds = residue_seeds(seed, moduli.len());
    for ((row, q), seed) in words.chunks_exact_mut(n).zip(moduli).zip(seeds) {
        sampling::fill_uniform_row(row, q, &mut AesCtrRng::from_seed(seed));
    }
    words
}

/// Whether the powers of a secret are as large as the noise of ciphertexts of many components allows for: the mean of
/// `|s|^(2i)` over the roots of unity at most [`POWER_MARGIN`] times `i! (2N/3)^i`, that of a complex Gaussian
/// number, for every power that components have. The mean of a high power is that of its largest value, which some keys
/// have far out, and then every ciphertext has noise beyond what is claimed. Others are drawn again: nine of ten
/// keys are taken in large rings, more than half in the smallest, so that a key says less than a bit of this.
/// What varies in time is whether a key is taken, not which.
fn has_typical_moments(values: &Values, secret: &[i16]) -> bool {
    let coefficients = Zeroizing::new(secret.iter().map(|&s| f64::from(s)).collect::<Vec<_>>());
    let variance = 2.0 / 3.0 * secret.len() as f64;
    let mut expected = 1.0;
    let moments = Zeroizing::new(values.even_moments(&coefficients, MOST_COMPONENTS - 1));
    moments.iter().zip(1..).fold(true, |usual, (&moment, i)| {
        expected *= f64::from(i) * variance;
        usual & (moment <= POWER_MARGIN * expected)
    })
}

/// A key pair: the secret modulo all primes of a set, the public key modulo those of fresh ciphertexts, which
/// come first. `add_noise` adds a sample of noise to coefficients.
pub(crate) fn generate<W: Word, S: KeyModuli<W> + ?Sized, P: KeyModuli<W> + ?Sized>(
    params: Fingerprint,
    ring: RingIndex,
    (all, fresh): (&S, &P),
    add_noise: impl FnOnce(&mut [W], &[i16]),
    rng: &mut impl CryptoRng,
) -> (SecretKey<W>, PublicKey<W>) {
    let tag = Tag { params, key: KeyId::random(rng) };
    // Drawn first: nothing that is public depends on how often the secret is drawn.
    let seed = sampling::fresh_seed(rng);
    let mut sampler = Sampler::new(ring);
    let values = Values::new(ring);
    loop {
        sampler.sample_ternary(rng);
        if has_typical_moments(&values, sampler.coefficients()) {
            break;
        }
    }
    let secret = SecretKey::from_ternary(tag, sampler.coefficients(), all);
    let a = uniform(fresh, seed);
    let mut b = a.clone();
    fresh.multiply(&mut b, &secret.words[..a.len()]);
    sampler.sample_centred_binomial(rng);
    add_noise(&mut b, sampler.coefficients());
    fresh.negate(&mut b);
    fresh.forward(&mut b);
    (secret, PublicKey { tag, seed, components: [b, a] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coefficients(ring: RingIndex, seed: u8) -> Vec<i16> {
        let mut sampler = Sampler::new(ring);
        sampler.sample_ternary(&mut AesCtrRng::from_seed([seed; 32]));
        sampler.coefficients().to_vec()
    }

    /// A key whose value at one root is the sum of all of its coefficients is refused, most random ones are taken.
    #[test]
    fn keys_that_are_large_somewhere_are_not_taken() {
        for index in [51, 512, 1285, 4369, 8192] {
            let ring = RingIndex::new(index).unwrap();
            let values = Values::new(ring);
            let usual = (0..40)
                .filter(|&seed| has_typical_moments(&values, &coefficients(ring, seed)))
                .count();
            assert!((15..=40).contains(&usual), "{index}: {usual}");
            // Along one root: the signs of its powers.
            let along: Vec<i16> = if ring.is_power_of_two() {
                (0..ring.degree()).map(|i| [1, 1, 0, -1][4 * i / ring.degree()]).collect()
            } else {
                let turn: usize = ring.odd_primes().map(|p| ring.value() / p).sum();
                let angle = |e: usize| (e * turn % ring.value()) as f64 / ring.value() as f64;
                let sign = |e: usize| (std::f64::consts::TAU * angle(e)).cos().round() as i16;
                ring.exponents().into_iter().map(sign).collect()
            };
            assert!(!has_typical_moments(&values, &along), "{index}");
        }
    }

    /// The moments are those of the values, by their definition.
    #[test]
    fn moments_are_those_of_the_values() {
        let ring = RingIndex::power_of_two(256).unwrap();
        let secret: Vec<f64> = coefficients(ring, 1).into_iter().map(f64::from).collect();
        let square = |k: usize| {
            let sum = secret.iter().enumerate().fold([0.0, 0.0], |[re, im], (i, s)| {
                let angle = std::f64::consts::PI * ((2 * k + 1) * i) as f64 / 256.0;
                [re + s * angle.cos(), im + s * angle.sin()]
            });
            sum[0] * sum[0] + sum[1] * sum[1]
        };
        let squares: Vec<f64> = (0..256).map(square).collect();
        for (found, i) in Values::new(ring).even_moments(&secret, 5).into_iter().zip(1..) {
            let expected = squares.iter().map(|x| x.powi(i)).sum::<f64>() / 256.0;
            assert!((found / expected - 1.0).abs() < 1e-9, "{i}: {found} {expected}");
        }
    }
}
