use hesc_schemes::rlwe::flooding::{LARGEST_GAUSSIAN, flooding_factor};
use hesc_schemes::rlwe::noise::{
    TAILS, public_key_square, rounding_deviation, secret_key_deviation, truncation_reach_square,
    truncation_square,
};
use rand_core::Rng;

use super::declared::{Declared, half};
use super::encrypted_noise::EncryptedWeights;
use super::layout::Layout;

/// The variance of a rounding at random, and how far it goes at most.
const ROUNDING: f64 = 0.25;
const FURTHEST: f64 = 1.5;
/// The square of what a deployment's own share of an error, in deviations, is beyond with a probability of 1 % at most: of
/// normal numbers it is 6.6, of sums of few roundings at random up to 9 was found. Rows that are all alike are the worst
/// case (Székely and Bakirov 2003, "Extremal probabilities for Gaussian quadratic forms").
const ONCE: f64 = 9.0;
/// Deviations that norms of keys and of rounded weights are not beyond, with a probability of 0.1 % each.
const NORMS: f64 = 3.1;
/// Scales of weights that are tried, to each power of two: fourths of an octave, about.
const STEPS: [f64; 4] = [1.0, 1.1875, 1.4375, 1.6875];
const OCTAVES: i32 = 50;
/// The fewest bits of an answer.
const LEAST_BITS: u32 = 6;

/// What numbers are multiplied with before they are rounded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scales {
    /// Of features in [-1, 1].
    pub feature_scale: u64,
    /// Of weights of such features.
    pub weight_scale: f64,
    /// Bits of a coefficient of an answer.
    pub bits: u32,
}

impl Scales {
    /// Of a score.
    pub fn product(&self) -> f64 {
        self.feature_scale as f64 * self.weight_scale
    }
}

/// What errors and ranges depend on beside the scales.
///
/// A score times both scales is `m w + e w` at its place: `m` and `w` rounded, `e` the noise of an encryption. To that
/// comes, where weights are hidden, an encryption of zero and the flood, and where they are encrypted what
/// [`EncryptedWeights`] says; and the roundings `r_0 + r_1 s` of both parts,
/// to fewer bits and back. Features and weights are rounded at random ([`dithered`]), so that equal ones do not add up: whatever they
/// are, what they are off by is centred, independent, and of one variance. Other roundings are uniform within 1/2. Variances add;
/// sums of such are sub-Gaussian, with the variance itself as parameter for noise and roundings, and 1 instead of 2/3
/// for ternary coefficients.
#[derive(Debug, Clone, Copy)]
pub(super) struct Demand {
    layout: Layout,
    modulus: u64,
    /// Features whose range is not a point.
    pub features: f64,
    weights_l1: f64,
    weights_l2: f64,
    offset: f64,
    /// What arithmetic in doubles is off by.
    doubles: f64,
    /// The flood's deviation in units of the bound on what it hides.
    flooding_factor: Option<f64>,
    encrypted: Option<EncryptedWeights>,
}

/// Squared norms that the error of a score depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Norms {
    /// Of the sample's features, in [-1, 1].
    pub sample: f64,
    /// Of those of all samples of the ciphertext.
    pub ciphertext: f64,
    /// Of the output's weights.
    pub row: f64,
    /// Of all weights.
    pub all: f64,
}

impl Demand {
    pub fn new(declared: &Declared, layout: Layout, modulus: u64) -> Self {
        let ranges = declared.low.iter().zip(&declared.high);
        let features = ranges.filter(|&(&low, &high)| half(low, high) > 0.0).count() as f64;
        let encrypted = declared.encrypted().map(|under| EncryptedWeights {
            under,
            ring_degree: layout.ring_degree as f64,
            features: layout.capacity() as f64 * features,
            added: declared.offset > 0.0,
        });
        Self {
            layout,
            modulus,
            features,
            weights_l1: declared.weights_l1,
            weights_l2: declared.weights_l2,
            offset: declared.offset,
            doubles: declared.largest() * 2f64.powi(-50),
            flooding_factor: declared
                .hiding()
                .map(|hiding| flooding_factor(hiding.answers, hiding.statistical_bits)),
            encrypted,
        }
    }

    /// Roundings of weights, one for each.
    fn roundings(&self) -> f64 {
        self.features * self.layout.outputs as f64
    }

    /// The parameter of everything that a flood hides: `e w`, and `e u + e_0 + e_1 s` where there is a flood. Where
    /// weights are encrypted, of `e (w + f)`.
    fn hidden_square(&self, weight_scale: f64) -> f64 {
        let noise = self.encrypted.map_or(0.0, EncryptedWeights::norm);
        let weights = self.weights_l2 * weight_scale + FURTHEST * self.roundings().sqrt() + noise;
        let zero = match self.flooding_factor {
            None => 0.0,
            Some(_) => public_key_square(self.layout.ring_degree),
        };
        secret_key_deviation() * secret_key_deviation() * weights * weights + zero
    }

    /// The deviation of the flood.
    pub fn flooding(&self, weight_scale: f64) -> Option<f64> {
        self.flooding_factor.map(|factor| factor * TAILS * self.hidden_square(weight_scale).sqrt())
    }

    /// What noise stays within, but for a probability below 2^-128.
    fn noise_reach(&self, weight_scale: f64, bits: u32) -> f64 {
        let roundings = truncation_reach_square(self.modulus, bits, self.layout.ring_degree)
            + 1.04 * self.third_square(bits)[1];
        let flood = self.flooding(weight_scale).unwrap_or(0.0);
        let added = self.encrypted.map_or(0.0, EncryptedWeights::added_square);
        TAILS * (self.hidden_square(weight_scale) + added + roundings).sqrt()
            + LARGEST_GAUSSIAN * flood
            + 2.0
    }

    /// Bits of the coefficients of the third part of an answer of so many bits, where one travels.
    pub fn third_bits(&self, bits: u32) -> Option<u32> {
        let more = self.encrypted?.third_bits()?;
        Some((bits + more).min(self.modulus.ilog2() + 1))
    }

    /// The variance of the rounding of the third part, and the square of its largest parameter.
    fn third_square(&self, bits: u32) -> [f64; 2] {
        let third = self.encrypted.zip(self.third_bits(bits));
        third.map_or([0.0; 2], |(encrypted, bits)| {
            encrypted.third_square(truncation_square(self.modulus, bits))
        })
    }

    /// What the coefficient of a score grows by with the scale of features: weights and what is added, rounded, and
    /// noise of encrypted weights.
    fn per_feature_scale(&self, weight_scale: f64) -> f64 {
        let noise = self
            .encrypted
            .map_or(0.0, |encrypted| TAILS * encrypted.parameter() * encrypted.features.sqrt());
        (self.weights_l1 + self.offset) * weight_scale + FURTHEST * self.features.max(1.0) + noise
    }

    /// The most that a coefficient of a score is.
    pub fn reach(&self, scales: Scales) -> f64 {
        (scales.feature_scale as f64 + 1.0) * self.per_feature_scale(scales.weight_scale)
            + self.noise_reach(scales.weight_scale, scales.bits)
    }

    /// The norms of features at the ends of their ranges and weights at the declared bounds.
    pub fn largest(&self) -> Norms {
        let square = self.weights_l2 * self.weights_l2;
        let ciphertext = self.encrypted.map_or(0.0, |encrypted| encrypted.features);
        Norms { sample: self.features, ciphertext, row: square, all: square }
    }

    /// The variance of a score's error: of queries, keys and models that are drawn each time.
    pub fn variance(&self, scales: Scales, norms: Norms) -> f64 {
        let [each, once] = self.variances(scales, norms);
        each + once
    }

    /// What the mean square of a score's errors over the rows of one deployment, whose key and rounded or encrypted weights
    /// are drawn once, stays within with a probability of 99 %, however these rows are spread within their ranges.
    pub fn variance_of_one(&self, scales: Scales) -> f64 {
        let norms = self.largest();
        let [each, once] = self.variances(scales, norms);
        // The noise is as large as the key's norm, and that of the weights as they were rounded.
        let key = NORMS / (2.0 * self.layout.ring_degree as f64).sqrt();
        let weights = NORMS / (norms.all.sqrt() * scales.weight_scale);
        each * (1.0 + key + weights) + ONCE * once
    }

    /// What is drawn for each query, and what is drawn once for a model, as it is rounded or encrypted.
    fn variances(&self, scales: Scales, norms: Norms) -> [f64; 2] {
        let square = |x: f64| x * x;
        let (x, w) = (square(scales.feature_scale as f64), square(scales.weight_scale));
        let n = self.layout.ring_degree as f64;
        let noise = square(secret_key_deviation()) * (norms.all * w + ROUNDING * self.roundings());
        let zero = match self.flooding_factor {
            None => 0.0,
            Some(_) => square(secret_key_deviation()) * (4.0 / 3.0 * n + 1.0),
        };
        let flood = self.flooding(scales.weight_scale).map_or(0.0, square);
        let message = norms.ciphertext * x
            + self.encrypted.map_or(0.0, |encrypted| ROUNDING * encrypted.features);
        let [encrypted, of_model] =
            self.encrypted.map_or([0.0; 2], |encrypted| encrypted.variances_of(message));
        let answer = truncation_square(self.modulus, scales.bits)
            * square(rounding_deviation(self.layout.ring_degree))
            + self.third_square(scales.bits)[0];
        let added = if self.offset > 0.0 { 1.0 / 12.0 } else { 0.0 };
        let both = ROUNDING * ROUNDING * self.features;
        let each = (noise + zero + encrypted + flood + answer + both) / (x * w)
            + ROUNDING * norms.row / x
            + square(self.doubles);
        [each, (of_model + added) / (x * w) + ROUNDING * norms.sample / w]
    }

    /// The largest scale of features that keeps scores within half of the modulus.
    fn feature_scale(&self, weight_scale: f64, bits: u32) -> Option<u64> {
        let half = self.modulus as f64 / 2.0 * (1.0 - 1e-9);
        let room = half - self.noise_reach(weight_scale, bits);
        let most = (room / self.per_feature_scale(weight_scale)).floor() - 1.0;
        (most >= 1.0).then_some((most as u64).min(self.modulus / 4))
    }

    /// The fewest bits of an answer, and scales, with which errors are as wanted; or the least error.
    pub fn scales(&self, error: f64) -> Result<Scales, f64> {
        let mut least = f64::INFINITY;
        for bits in LEAST_BITS..=self.modulus.ilog2() + 1 {
            let (scales, variance) = self.best(bits);
            if variance <= error * error {
                return Ok(scales);
            }
            least = least.min(variance.sqrt());
        }
        Err(least)
    }

    /// The scales of least error for answers of so many bits.
    fn best(&self, bits: u32) -> (Scales, f64) {
        let mut best = (Scales { feature_scale: 1, weight_scale: 1.0, bits }, f64::INFINITY);
        // Exact, whatever the machine: powers of two, and products of two numbers.
        let unit = below(1.0 / (self.weights_l1 + self.offset));
        for octave in 0..OCTAVES {
            for step in STEPS {
                let weight_scale = unit * step * 2f64.powi(octave);
                let Some(feature_scale) = self.feature_scale(weight_scale, bits) else { break };
                let scales = Scales { feature_scale, weight_scale, bits };
                let variance = self.variance(scales, self.largest());
                if variance < best.1 {
                    best = (scales, variance);
                }
            }
        }
        best
    }
}

/// The power of two that is at most this normal number.
fn below(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & (0x7FF << 52))
}

/// `x` rounded after two uniform numbers of width 1 have been added: off by 0 in the mean with a variance of 1/4, whatever
/// `x` is (Schuchman 1964; Wannamaker and others 2000, "A Theory of Nonsubtractive Dither").
pub(super) fn dithered(x: f64, rng: &mut impl Rng) -> i64 {
    let word = rng.next_u64();
    let sum = (word >> 32) + (word & u64::from(u32::MAX));
    // Each of both is in the middle of its step of 2^-32, hence within 1/2.
    let dither = (sum as f64 + 1.0) * 2f64.powi(-32) - 1.0;
    (x + dither).round_ties_even() as i64
}
