//! How noise grows, from public data: parameters, declared bounds and the sizes of operands in the
//! clear. Nothing here looks at what is encrypted, for all of it travels with ciphertexts.
//!
//! What counts as noise:
//!
//! - BFV: `v` in `c_0 + c_1 s = (Q / t) m + v` modulo `Q`; decrypts while `|v| < Q / 2t`;
//! - BGV: `c_0 + c_1 s = m + t e` stays below `Q / 2`; the noise is `t e`, and the *magnitude* bounds
//!   the coefficients of `m`, which products do not reduce modulo `t`;
//! - CKKS: the error of `scale * m`; message and error stay below `Q / 2`, and the *magnitude* bounds
//!   the numbers in the slots.
//!
//! Three numbers describe noise, beside the message and a degree, because a polynomial whose coefficients are all alike may have a
//! product whose coefficients are not: `e(X) e(1/X)` has the constant coefficient `N d^2`, far above
//! all others, though its root mean square is about `sqrt(N) d^2`; and the polynomial of ones
//! takes almost all of its Euclidean norm from two roots of unity.
//!
//! - the *deviation*: root mean square of the values at the roots of unity, divided by `sqrt(N)`: in
//!   power-of-two rings that of the coefficients, a sub-Gaussian parameter where they are alike;
//! - the *canonical norm*: the same of the value at the worst root of unity: `sqrt(N)` deviations where they are alike, more
//!   where a product has made some of them larger;
//! - the *infinity norm*: a bound on the coefficients, which is what decryption depends on.
//!
//! In rings of odd index coefficients are larger than deviations by factors of `hesc_math::RingIndex`; in
//! power-of-two rings these are 1.
//!
//! All three add, whatever depends on what. Products take the bounds that hold for dependent factors,
//! images under automorphisms included: values multiply, deviations take the other factor's values,
//! and no coefficient exceeds the product of the Euclidean norms (Cauchy and Schwarz). A value is a
//! complex Gaussian number, whose `k`-th power has `k!` times the variance of a product of `k`
//! independent ones; the *degree* says how many such factors noise may have: powers of the secret in
//! BFV (each product adds one), of the noise itself in BGV (they add up). `tests/laws/vectors/noise.rs`
//! holds the estimates against measured noise of factors that depend as much as they can.
//!
//! Sets for streams only add, so that all coefficients stay alike and the deviation says everything: a ciphertext
//! carries that one number. It obeys the triangle inequality, so that adding deviations bounds a sum even of
//! dependent ciphertexts (`a + a`); for independent ones the true deviation grows with the square root only.

use hesc_math::sampling::NOISE_STANDARD_DEVIATION;

/// Factor on the average-case noise of a product.
pub(crate) const PRODUCT_MARGIN: f64 = 2.0;
/// The same where both noises are alike at all roots: both are products with the same secret there, whose value is a
/// complex Gaussian number with a fourth moment of twice the square of the second.
pub(crate) const SECRET_MARGIN: f64 = std::f64::consts::SQRT_2;

/// Components of a ciphertext, at most.
pub(crate) const MOST_COMPONENTS: usize = 16;

/// How far the mean square of a power of a secret may be beyond that of a complex Gaussian number's: keys with more
/// are not made.
pub(crate) const POWER_MARGIN: f64 = std::f64::consts::SQRT_2;

/// Deviations that bound a coefficient, and with it the failures of decryption: a sub-Gaussian coefficient is
/// beyond them with probability `2 exp(-14.3^2 / 2) < 2^-146`, one of the `2^16` of the largest ring with less than
/// `2^-130`, which leaves room for keys whose norm is above the average.
pub const TAILS: f64 = 14.3;
/// The same for the value at a root of unity of noise that is a product of two complex Gaussian numbers, beyond
/// `r` deviations with probability `exp(-2 r)`: one of `2^15` pairs of roots with less than `2^-129`.
pub(super) const ROOT_TAILS: f64 = 50.0;
/// Deviations that bound the value at a root of unity, a slot of CKKS, and with it an error that decryption
/// survives. There noise is `u(z) e(z) + e_1(z) s(z) + ...`, and `r_1(z) s(z)` where components are rounded: one
/// product, not a sum of many, of two complex Gaussian numbers, of which the key's is drawn once. Averaged over keys
/// it is beyond `r` deviations with probability `exp(-2 r)`: 7e-13. Some keys have a larger factor somewhere, and
/// most failures.
pub(crate) const SLOT_TAILS: f64 = 14.0;

/// The same in sets for streams of bits, whose decryption sees most failures: a Gaussian value is further out with
/// probability 2.6e-12, and a block of 1024 values whose bound is tight and at its limit decrypts wrongly, or is
/// refused, with probability 2.6e-9; one of 4096, the largest of a named set, with 1.05e-8.
pub const STREAM_TAILS: f64 = 7.0;
/// Share of a count's size that noise may reach. One half would still round correctly; the rest
/// lets decryption tell damaged ciphertexts, whose values fall anywhere, from good ones.
pub const LIMIT: f64 = 0.4375;

/// What is known of a ciphertext's noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Noise {
    /// Root mean square of the values at the roots of unity divided by `sqrt(N)`, at most.
    pub deviation: f64,
    /// Root mean square of the value at a root of unity, at the worst of them.
    pub canonical_norm: f64,
    /// Bound on the coefficients.
    pub infinity_norm: f64,
    /// Bound on the numbers in the slots (CKKS), on the coefficients of the plaintext before it is
    /// reduced (BGV); 0 in BFV.
    pub magnitude: f64,
    /// Factors that may be the same, see above; at least 1.
    pub degree: u32,
}

/// What a product with an integer plaintext does to noise, each to the next power of two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlainSize {
    /// Euclidean norm of the values at the roots of unity, divided by `sqrt(N)`: in power-of-two rings
    /// that of the coefficients.
    pub norm: f64,
    /// Sum of their absolute values.
    pub sum: f64,
    /// Largest absolute value at a root of unity.
    pub value: f64,
}

impl Noise {
    /// A plaintext without noise.
    pub(crate) fn message(magnitude: f64) -> Self {
        Self { deviation: 0.0, canonical_norm: 0.0, infinity_norm: 0.0, magnitude, degree: 1 }
    }

    /// Everything times a number.
    pub(crate) fn times_exactly(self, by: f64) -> Self {
        Self {
            deviation: self.deviation * by,
            canonical_norm: self.canonical_norm * by,
            infinity_norm: self.infinity_norm * by,
            magnitude: self.magnitude * by,
            ..self
        }
    }

    /// Of a sum, whatever depends on what.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            deviation: self.deviation + other.deviation,
            canonical_norm: self.canonical_norm + other.canonical_norm,
            infinity_norm: self.infinity_norm + other.infinity_norm,
            magnitude: self.magnitude + other.magnitude,
            degree: self.degree.max(other.degree),
        }
    }

    /// After a product with a number of this size.
    pub(crate) fn times(self, size: f64) -> Self {
        // Noise times zero would be none, which no reader believes.
        let by = size.max(1.0);
        Self {
            deviation: self.deviation * by,
            canonical_norm: self.canonical_norm * by,
            infinity_norm: self.infinity_norm * by,
            magnitude: self.magnitude * size,
            ..self
        }
    }

    /// Whether nothing that is known of it is larger than of other noise.
    pub(crate) fn is_within(self, other: Self) -> bool {
        self.deviation <= other.deviation
            && self.canonical_norm <= other.canonical_norm
            && self.infinity_norm <= other.infinity_norm
            && self.magnitude <= other.magnitude
            && self.degree <= other.degree
    }

    /// With another bound on the message.
    pub(crate) fn of_message(self, magnitude: f64) -> Self {
        Self { magnitude, ..self }
    }
}

/// The root of `(a + b)! / (a! b!)`: the correction for a product of noises of these degrees.
pub(crate) fn correction(a: u32, b: u32) -> f64 {
    (1..=b.min(a)).map(|i| f64::from(a.max(b) + i) / f64::from(i)).product::<f64>().sqrt()
}

/// Deviation of a public-key encryption: `e u + e_0 + e_1 s`, `u` and `s` uniform ternary
/// (variance 2/3).
pub fn public_key_deviation(ring_degree: usize) -> f64 {
    NOISE_STANDARD_DEVIATION * (4.0 / 3.0 * ring_degree as f64 + 1.0).sqrt()
}

/// Deviation of a secret-key encryption: the noise itself.
pub fn secret_key_deviation() -> f64 {
    NOISE_STANDARD_DEVIATION
}

/// The square of the norm of a ring's noise is at most so many times its mean: at `N = 1024` it is beyond with a
/// probability below 2^-128.
pub const NORM_MARGIN: f64 = 2.0;

/// The sub-Gaussian parameter, squared, of a public-key encryption's noise `e u + e_0 + e_1 s`, with 1 for ternary
/// coefficients instead of their variance of 2/3: what tails are taken of.
pub fn public_key_square(ring_degree: usize) -> f64 {
    let deviation = secret_key_deviation();
    deviation * deviation * ((1.0 + NORM_MARGIN) * ring_degree as f64 + 1.0)
}

/// The square of the unit of residues that lost all but so many bits, with that of the rounding on the way back; zero
/// where no bits are lost.
pub fn truncation_square(modulus: u64, bits: u32) -> f64 {
    if bits > modulus.ilog2() {
        return 0.0;
    }
    let unit = modulus as f64 / (1u64 << bits) as f64;
    unit * unit + 1.0
}

/// The sub-Gaussian parameter, squared, of what [`truncation_square`] does to a decryption, for the worst secret, which has
/// no zeros. A rounding is off by a 64th more.
pub fn truncation_reach_square(modulus: u64, bits: u32, ring_degree: usize) -> f64 {
    1.04 * truncation_square(modulus, bits) * (1 + ring_degree) as f64 / 12.0
}

/// Deviation that rounding both components to integers adds: `r_0 + r_1 s`, `r` uniform in
/// [-1/2, 1/2] (variance 1/12).
pub fn rounding_deviation(ring_degree: usize) -> f64 {
    ((1.0 + 2.0 / 3.0 * ring_degree as f64) / 12.0).sqrt()
}

/// The sub-Gaussian parameter, squared, of the noise of constants that a ciphertext under the secret key is expanded to by so
/// many automorphisms, each of which adds what a key's noise becomes and a rounding: in the mean over coefficients, for the
/// worst secret, which has no zeros.
pub fn expansion_square(levels: u32, ring_degree: usize, modulus: u64, special: u64) -> f64 {
    let constants = f64::from(levels).exp2();
    let switch = switch_square(1, ring_degree, modulus, special);
    constants * secret_key_deviation().powi(2) + (constants - 1.0) * switch
}

/// The same of what a switch of so many polynomials to another secret adds, by one digit each.
pub fn switch_square(count: usize, ring_degree: usize, modulus: u64, special: u64) -> f64 {
    let (n, fresh) = (ring_degree as f64, secret_key_deviation().powi(2));
    let of_keys = count as f64 * n / 12.0 * fresh * (modulus as f64 / special as f64).powi(2);
    of_keys + (1.0 + n) / 12.0
}

/// Mean square of the norm of `s^2`, and what no key that is made has more of: that of its values at the roots of
/// unity, whose fourth moment is that of a complex Gaussian number, at most `POWER_MARGIN` times that.
pub fn square_of_secret(ring_degree: usize) -> (f64, f64) {
    let mean = 2.0 * (2.0 / 3.0 * ring_degree as f64).powi(2);
    (mean, POWER_MARGIN * mean)
}

/// `log2` of how often `reach` deviations fit below the limit; negative if it does not.
pub fn budget(deviation: f64, reach: f64, scale: f64) -> f64 {
    (LIMIT * scale / (reach * deviation)).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of the numbers that describe noise counts by itself.
    #[test]
    fn noise_is_within_other_noise_in_every_number() {
        let noise = Noise {
            deviation: 2.0,
            canonical_norm: 3.0,
            infinity_norm: 5.0,
            magnitude: 7.0,
            degree: 2,
        };
        assert!(noise.is_within(noise));
        for larger in [
            Noise { deviation: 2.5, ..noise },
            Noise { canonical_norm: 3.5, ..noise },
            Noise { infinity_norm: 5.5, ..noise },
            Noise { magnitude: 7.5, ..noise },
            Noise { degree: 3, ..noise },
        ] {
            assert!(noise.is_within(larger) && !larger.is_within(noise));
        }
    }
}
