//! What operations do to noise, and whether what is left decrypts: [`super::noise`] says what is estimated.

use super::noise::{
    LIMIT, Noise, POWER_MARGIN, PRODUCT_MARGIN, PlainSize, ROOT_TAILS, SECRET_MARGIN, SLOT_TAILS,
    TAILS, correction, public_key_deviation, rounding_deviation, secret_key_deviation,
};
use hesc_math::RingIndex;

use super::ciphertext::State;
use super::{Ciphertext, Rlwe};
#[cfg(test)]
use super::{SecretKey, values::Values};
use crate::SchemeError;
#[cfg(test)]
use hesc_math::rns::Composition;

/// Bits that a refusal names, at most: noise beyond the range of doubles has no number of them.
const MOST_NEEDED_BITS: f64 = 2048.0;

/// Factors between sizes of elements and of their coefficients: see [`RingIndex`].
#[derive(Debug)]
pub(crate) struct Norms {
    pub degree: f64,
    pub coefficient_factor: f64,
    pub embedding_factor: f64,
    pub product_growth: f64,
    pub monomial_growth: f64,
}

impl Norms {
    pub(crate) fn new(ring: RingIndex) -> Self {
        Self {
            degree: ring.degree() as f64,
            coefficient_factor: ring.coefficient_factor(),
            embedding_factor: ring.embedding_factor(),
            product_growth: ring.product_growth(),
            monomial_growth: ring.monomial_growth(),
        }
    }
}

impl Rlwe {
    pub(crate) fn degree(&self) -> f64 {
        self.norms().degree
    }

    /// `log2` of the product of the primes of a level.
    pub(crate) fn log2_level(&self, level: usize) -> f64 {
        self.chain().log2(level)
    }

    /// The factor on all noise: `t` in BGV.
    pub(crate) fn noise_factor(&self) -> f64 {
        self.chain().noise_factor() as f64
    }

    /// Noise whose coefficients are independent and alike.
    pub(crate) fn white(&self, deviation: f64) -> Noise {
        Noise {
            deviation,
            canonical_norm: self.degree().sqrt() * deviation,
            infinity_norm: TAILS * deviation * self.norms().coefficient_factor,
            magnitude: 0.0,
            degree: 1,
        }
    }

    /// The deviation of an encryption under the public key.
    pub(crate) fn public_key_deviation(&self) -> f64 {
        public_key_deviation(self.ring_degree()) * self.norms().embedding_factor
    }

    /// The deviation of an encryption under the secret key.
    pub(crate) fn secret_key_deviation(&self) -> f64 {
        secret_key_deviation() * self.norms().embedding_factor
    }

    /// The least deviation that a ciphertext can have: of an encryption under the secret key, or, in the smallest
    /// rings, of a rounding that left nothing else.
    pub(crate) fn least_deviation(&self) -> f64 {
        (self.noise_factor() * self.secret_key_deviation()).min(self.rounding(2))
    }

    /// The deviation that every set has to decrypt: of an encryption and one rounding.
    pub(crate) fn required_deviation(&self) -> f64 {
        self.public_key_deviation() + rounding_deviation(self.ring_degree())
    }

    /// The noise of an encryption with this deviation: from the parameters and the declared bound.
    pub(crate) fn fresh(&self, deviation: f64, bound: f64, scale: f64) -> Noise {
        self.white(self.noise_factor() * deviation)
            .plus(self.operations().plain_noise(self, bound, scale))
    }

    /// What rounding each of so many components adds, in units of the noise: deviations of
    /// `r_0 + r_1 s + r_2 s^2 + ...`, `r` uniform in [-1/2, 1/2]. A power `s^i` at a root of unity has
    /// the mean square `i! (2N/3)^i`, as that of a complex Gaussian number, and for the keys that are taken at most
    /// [`POWER_MARGIN`] times that.
    pub(crate) fn rounding(&self, components: usize) -> f64 {
        let variance = 2.0 / 3.0 * self.degree();
        let powers = (1..components).scan(1.0, |power, i| {
            *power *= i as f64 * variance;
            // The first power's mean square is the share of coefficients that are not zero.
            Some(if i == 1 { *power } else { POWER_MARGIN * *power })
        });
        self.noise_factor() * ((1.0 + powers.sum::<f64>()) / 12.0).sqrt()
    }

    /// The noise after a division by a prime, or a quotient of products of some. What was there keeps its
    /// degree unless the rounding covers a power's tails: where that is below `rounding / 2 sqrt(degree!)`, the fourth
    /// moment of both together, by Minkowski, is below what the next product allows for a deviation that is their sum.
    pub(crate) fn divided_noise(&self, a: &State, prime: f64) -> Noise {
        let rounding = self.rounding(a.components);
        let before = a.noise.times_exactly(1.0 / prime);
        let tails: f64 = (1..=a.noise.degree.min(64)).map(f64::from).product::<f64>().sqrt();
        let covered = 2.0 * before.deviation * tails < rounding;
        // The rounding itself has the powers of the secret that the components have.
        let own = a.components as u32 - 1;
        let degree = if covered { own } else { a.noise.degree.max(own) };
        let magnitude = self.operations().divided_magnitude(a.noise.magnitude, prime);
        Noise { magnitude, degree, ..before.plus(self.white(rounding)) }
    }

    /// The noise of key switching a polynomial at a level.
    pub(crate) fn switching_noise(&self, level: usize) -> Noise {
        self.white(self.key_deviation(level) + self.rounding(2))
    }

    /// What the errors of a key contribute to it, before the sum is rounded; those of other keys are independent.
    pub(crate) fn key_deviation(&self, level: usize) -> f64 {
        let chain = self.chain();
        let special: f64 = chain.special().iter().map(|p| p.value() as f64).product();
        let digits = chain.digits(level).iter().map(|digit| {
            let primes = &chain.level(level)[digit.primes.clone()];
            let size: f64 = primes.iter().map(|q| q.value() as f64).product();
            size * size / 12.0
        });
        let variance = self.degree() * digits.sum::<f64>();
        self.0.key_factor as f64 * variance.sqrt() * self.secret_key_deviation() / special
    }

    /// Bound on the dual of the basis at the roots, times `N`: a coefficient is the mean of the values times
    /// those of the dual.
    fn dual_factor(&self) -> f64 {
        self.norms().coefficient_factor.powi(2)
    }

    /// The product of two noises, which may depend on each other.
    pub(crate) fn convolved(&self, x: Noise, y: Noise) -> Noise {
        let n = self.degree();
        // Noise that is alike at all roots is a product with the secret, or with one polynomial more: its fourth
        // moment is all that the margin has to cover.
        let alike = self.is_alike(x) && self.is_alike(y);
        let margin = if alike { SECRET_MARGIN } else { PRODUCT_MARGIN };
        let factor = margin * correction(x.degree, y.degree);
        let norms = (self.norm_excess(x.degree) * self.norm_excess(y.degree)).sqrt();
        Noise {
            deviation: factor
                * (x.canonical_norm * y.deviation).min(x.deviation * y.canonical_norm),
            canonical_norm: factor * x.canonical_norm * y.canonical_norm,
            infinity_norm: norms * n * x.deviation * y.deviation * self.dual_factor(),
            magnitude: 0.0,
            degree: 1,
        }
    }

    /// How far the squared Euclidean norm of noise of this degree may be beyond `N` squared deviations. The
    /// squares at the roots scatter about their mean, and those of a power have so heavy a tail that in a
    /// small ring one root may have most of the norm: [`SLOT_TAILS`] deviations of each factor, while the
    /// deviation has grown by margin and correction at each product.
    fn norm_excess(&self, degree: u32) -> f64 {
        let (n, margin) = (self.degree(), SECRET_MARGIN * SECRET_MARGIN);
        let ratio = SLOT_TAILS * SLOT_TAILS / margin;
        let largest = (1..=degree.min(64))
            .fold(margin, |largest, factor| largest * (ratio / f64::from(factor)).max(1.0));
        1.0 + TAILS * (2.0 / n).sqrt() + 2.0 / n * largest
    }

    /// Noise times a plaintext of which the size of a coefficient is known and no more.
    pub(crate) fn times_message(&self, noise: Noise, magnitude: f64) -> Noise {
        let n = self.degree();
        let size = PlainSize {
            norm: n.sqrt() * magnitude * self.norms().embedding_factor,
            sum: n * magnitude,
            value: n * magnitude,
        };
        self.times_plain(noise, size).of_message(0.0)
    }

    /// Noise, and in BGV the message, after a product with an integer plaintext, which may have
    /// been a factor before.
    pub(crate) fn times_plain(&self, noise: Noise, plain: PlainSize) -> Noise {
        let (n, ring, dual) = (self.degree(), self.norms(), self.dual_factor());
        // What a term of the plaintext makes of coefficients.
        let sum = plain.sum * ring.monomial_growth;
        let deviation =
            (noise.canonical_norm * plain.norm / n.sqrt()).min(noise.deviation * plain.value);
        let infinity_norm = if noise.degree == 1 {
            // Gaussian but for what the largest root contributes, a product of two such numbers, and for what is
            // left of products: their Euclidean norm is at most three times the infinity_norm that they are given.
            TAILS * deviation * ring.coefficient_factor
                + 2.0 * ROOT_TAILS * noise.canonical_norm * plain.value * dual / n
                + 3.0 * self.structured(noise) * plain.norm
        } else {
            n.sqrt() * noise.deviation * plain.norm * dual
        };
        Noise {
            deviation,
            canonical_norm: noise.canonical_norm * plain.value,
            infinity_norm: infinity_norm.min(noise.infinity_norm * sum),
            magnitude: noise.magnitude * sum,
            degree: noise.degree,
        }
    }

    /// Noise whose deviation is known to be another one; what its coefficients have beyond those
    /// that are alike stays.
    pub(crate) fn of_deviation(&self, noise: Noise, deviation: f64) -> Noise {
        let deviation = deviation.max(self.least_deviation());
        let values = noise.canonical_norm * deviation / noise.deviation;
        let alike = TAILS * deviation * self.norms().coefficient_factor;
        Noise {
            deviation,
            canonical_norm: values,
            infinity_norm: alike + self.structured(noise),
            ..noise
        }
    }

    /// The part of the infinity norm that coefficients which are alike do not have.
    fn structured(&self, noise: Noise) -> f64 {
        let alike = TAILS * noise.deviation * self.norms().coefficient_factor;
        if noise.infinity_norm > alike * (1.0 + 1e-9) { noise.infinity_norm - alike } else { 0.0 }
    }

    /// Whether noise is alike at all roots: nothing has been multiplied, or what was is gone.
    fn is_alike(&self, noise: Noise) -> bool {
        noise.degree == 1 && self.structured(noise) == 0.0
    }

    /// The sum of `count` images of noise, under automorphisms of one orbit of roots, each with a factor of the same
    /// size. Noise that is alike at all roots is independent at those of an orbit, or in pairs; its sums with its own
    /// images are not, but have been counted as if they were equal. Other noise may be the same in all images.
    pub(crate) fn orbit_sum(&self, product: Noise, of: Noise, count: usize) -> Noise {
        let alike = self.is_alike(of);
        let terms = count as f64;
        let sum =
            product.times_exactly(if alike { (2.0 * terms).sqrt().min(terms) } else { terms });
        // What comes out is the same at all roots of an orbit.
        Noise { magnitude: product.magnitude * terms, degree: sum.degree.max(2), ..sum }
    }

    /// `log2` of how often the noise, with the message in BGV and CKKS, fits below what decrypts.
    pub(crate) fn budget(&self, noise: Noise, level: usize, scale: f64) -> f64 {
        let modulus = LIMIT.log2() + self.log2_level(level);
        modulus - self.operations().largest(noise, scale).log2()
    }

    /// Refuses noise that would not decrypt.
    pub(crate) fn check_noise(
        &self,
        noise: Noise,
        level: usize,
        scale: f64,
    ) -> Result<(), SchemeError> {
        let (budget, modulus) = (self.budget(noise, level, scale), self.log2_level(level));
        // Numbers of a scale below 1 or beyond the modulus are none, however small they claim to be.
        if !(1.0..=modulus.exp2()).contains(&scale) {
            let needed_bits = if scale < 1.0 { -scale.log2() } else { scale.log2() - modulus };
            let needed_bits = needed_bits.min(MOST_NEEDED_BITS);
            return Err(SchemeError::NoiseBudget { needed_bits });
        }
        // A deviation that overflowed gives no number, or an infinite one.
        let needed_bits = (-budget).min(MOST_NEEDED_BITS);
        if budget >= 0.0 { Ok(()) } else { Err(SchemeError::NoiseBudget { needed_bits }) }
    }

    /// A state, unless its noise would not decrypt.
    pub(crate) fn checked(&self, state: State) -> Result<State, SchemeError> {
        self.check_noise(state.noise, state.level, state.scale).map(|()| state)
    }

    /// Noise budget of a state, in bits, before an operation is refused.
    pub(crate) fn budget_of(&self, a: &State) -> f64 {
        self.budget(a.noise, a.level, a.scale)
    }

    /// The error that CKKS slots have, at most, the transform of decoding included. Zero for exact
    /// schemes.
    ///
    /// A slot is a sum of `N` coefficients; that of noise times secret is a product of two complex
    /// Gaussian numbers, beyond `r` deviations with probability `exp(-2 r)` about.
    pub fn error_bound(&self, a: &Ciphertext) -> f64 {
        self.operations().error_bound(self, &a.state)
    }

    /// Noise budget, in bits, before an operation is refused: from public data.
    pub fn noise_budget(&self, a: &Ciphertext) -> f64 {
        self.budget_of(&a.state)
    }
}

#[cfg(test)]
impl Rlwe {
    /// The root mean square of the noise at the roots of unity, divided by `sqrt(N)`: what
    /// [`Noise::deviation`] estimates.
    pub(crate) fn measured_deviation(&self, key: &SecretKey, a: &Ciphertext) -> f64 {
        let phase = self.phase(key, a).unwrap();
        let mut phase = self.coefficients(phase, a.level()).into_words();
        let mut noise = vec![0.0; self.ring_degree()];
        Composition::new(self.chain().level(a.level())).centred(&mut noise, &mut phase);
        // What is left of the plaintext is 0 or 1.
        noise.iter_mut().for_each(|x| *x -= x.rem_euclid(2.0));
        Values::new(self.ring()).sizes(&noise).0 / self.degree().sqrt()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use hesc_math::AesCtrRng;
    use rand_core::SeedableRng;

    use super::super::{Basis, PlaintextSpace, SchemeKind, Spec};
    use super::*;
    use crate::Assurance;

    /// A set for bits in the ring of an index, of three primes and a special one.
    pub(in crate::rlwe) fn set(index: usize) -> Rlwe {
        set_of(index, 4)
    }

    /// A set for bits in the ring of an index, of so many primes, one of them special.
    pub(crate) fn set_of(index: usize, primes: usize) -> Rlwe {
        let ring = RingIndex::new(index).unwrap();
        let mut coeff_moduli = ring.ntt_primes(50, primes).unwrap();
        let special_moduli = vec![coeff_moduli.remove(0)];
        let spec = Spec {
            scheme: SchemeKind::Bgv,
            ring,
            coeff_moduli,
            levels: Vec::new(),
            special_moduli,
            plaintext: PlaintextSpace::Integers { plain_modulus: 2 },
            bound: 1.0,
            packing: None,
        };
        Rlwe::new(spec, Assurance::Insecure).unwrap()
    }

    /// Deviations are never below what is measured, but for what a sample of roots scatters by, and at most 1.5 bits
    /// above: for every operation on one ciphertext, with itself, its image and others. Sums of many are bounded as
    /// if they were alike, which `d` outputs of packing are not: those are said below.
    #[test]
    fn deviations_are_near_the_estimates() {
        for index in [255, 4369, 13107, 8191, 21845] {
            let s = set(index);
            let rng = &mut AesCtrRng::from_seed([index as u8; 32]);
            let (secret, public) = s.generate_keys(rng);
            let relin = s.generate_relin_key(&secret, rng).unwrap();
            let d = s.field_slots().unwrap().ring().degree();
            let mut elements = s.unpacking_elements().unwrap();
            let along = s.dimension_element(0, 1).unwrap();
            elements.push(along);
            let galois = s.generate_galois_keys(&secret, &elements, rng).unwrap();
            let bits: Vec<u64> = (0..s.ring_degree() as u64).map(|i| i * i % 7 % 2).collect();
            let plain = s.encode_slots(Basis::Normal, &bits).unwrap();
            let a = s.encrypt(&public, &plain, rng).unwrap();
            let b = s.expand(&s.encrypt_seeded(&secret, &plain, rng).unwrap()).unwrap();
            let c = s.encrypt(&public, &plain, rng).unwrap();
            let image = s.apply_galois(&a, along, &galois).unwrap();
            let product = |x: &Ciphertext, y: &Ciphertext| s.multiply(x, y).unwrap();
            let square = s.square(&a).unwrap();
            let relinearised = s.relinearise(&square, &relin).unwrap();
            let unpacked = |basis| s.unpack(&a, basis, &[d - 1], &galois, 3).unwrap().remove(0);
            let cases = [
                ("public", a.clone()),
                ("secret", b.clone()),
                ("a + a", s.add(&a, &a).unwrap()),
                ("a + c", s.add(&a, &c).unwrap()),
                ("image", image.clone()),
                ("a + image", s.add(&a, &image).unwrap()),
                ("a a", square.clone()),
                ("a c", product(&a, &c)),
                ("a image", product(&a, &image)),
                ("relinearised", relinearised.clone()),
                ("down", s.mod_switch(&relinearised).unwrap()),
                ("down at once", s.relinearise_to(&square, &relin, 2).unwrap()),
                ("fresh down", s.mod_switch(&a).unwrap()),
                ("with a plaintext", s.multiply_plain(&a, &plain).unwrap()),
                ("unpacked", unpacked(Basis::Normal)),
                ("unpacked by powers", unpacked(Basis::Powers)),
                (
                    "unpacked, down",
                    s.unpack(&a, Basis::Normal, &[0], &galois, 2).unwrap().remove(0),
                ),
                ("extracted", s.extract(&a, Basis::Normal, 1, &galois).unwrap()),
                ("packed", s.pack(&[&a, &c]).unwrap()),
            ];
            // Four deviations of a mean square over half as many pairs of conjugate roots, heavier tails of products.
            let scatter = 1.0 + 8.0 / s.degree().sqrt();
            for (name, a) in &cases {
                let excess = (a.state.noise.deviation / s.measured_deviation(&secret, a)).log2();
                println!("{index} {name}: {excess:.2}");
                assert!(excess > -scatter.log2(), "{index}, {name}: {excess} bits too low");
                assert!(excess < 1.5 + scatter.log2(), "{index}, {name}: {excess} bits too high");
            }
        }
    }
}
