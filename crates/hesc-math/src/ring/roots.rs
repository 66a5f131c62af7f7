//! Real polynomials at the primitive `2N`-th roots of unity: slots of CKKS, and where the noise of products
//! is largest.

use std::f64::consts::PI;
use std::fmt;
use std::sync::Arc;

use rustfft::num_complex::Complex64;
use rustfft::{Fft, FftDirection};
use zeroize::Zeroize as _;

/// The transform of one ring degree `N`, a power of two. Odd rings have an [`Embedding`](super::Embedding).
///
/// Its users fill vectors of their own, so that secrets are wiped by those who know that they are some.
pub struct Roots {
    /// `zeta^j`, `j < N / 2`, for `zeta = exp(i pi / N)`.
    twists: Vec<Complex64>,
    forward: Arc<dyn Fft<f64>>,
    inverse: Arc<dyn Fft<f64>>,
}

impl fmt::Debug for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Roots").field("pairs", &self.twists.len()).finish_non_exhaustive()
    }
}

/// The best for this processor.
#[cfg(not(target_family = "wasm"))]
fn transform(pairs: usize, direction: FftDirection) -> Arc<dyn Fft<f64>> {
    rustfft::FftPlanner::new().plan_fft(pairs, direction)
}

/// Of short sums, rows by columns: a page would fetch all that the planner knows, and does few transforms.
#[cfg(target_family = "wasm")]
fn transform(pairs: usize, direction: FftDirection) -> Arc<dyn Fft<f64>> {
    use rustfft::algorithm::{Dft, MixedRadix};
    if pairs <= 8 {
        return Arc::new(Dft::new(pairs, direction));
    }
    let rows = 1 << (pairs.ilog2() / 2);
    Arc::new(MixedRadix::new(transform(rows, direction), transform(pairs / rows, direction)))
}

impl Roots {
    /// Tables of a ring degree.
    pub fn new(ring_degree: usize) -> Self {
        let pairs = ring_degree / 2;
        Self {
            twists: (0..pairs)
                .map(|k| Complex64::from_polar(1.0, PI * k as f64 / ring_degree as f64))
                .collect(),
            // Evaluation has positive exponents, which rustfft calls the inverse.
            forward: transform(pairs, FftDirection::Inverse),
            inverse: transform(pairs, FftDirection::Forward),
        }
    }

    /// Conjugate pairs of roots.
    pub fn pairs(&self) -> usize {
        self.twists.len()
    }

    /// Scratch space of the transforms.
    pub fn scratch(&self) -> Vec<Complex64> {
        let length =
            self.forward.get_inplace_scratch_len().max(self.inverse.get_inplace_scratch_len());
        vec![Complex64::default(); length]
    }

    /// Coefficients of a real polynomial as `(m_k, m_(k + N/2))` pairs to its values at `zeta^(4j + 1)`, in
    /// place: of each conjugate pair of roots one has an exponent that is 1 modulo 4.
    ///
    /// `m(zeta^(4j + 1)) = sum_k (m_k + i m_(k + N/2)) zeta^k w^(jk)` over `k < N/2`, with
    /// `w = exp(2 pi i / (N/2))`, since `zeta^((4j + 1) N/2) = i`: one transform of half size.
    pub fn evaluate(&self, pairs: &mut [Complex64], scratch: &mut [Complex64]) {
        for (value, twist) in pairs.iter_mut().zip(&self.twists) {
            *value *= twist;
        }
        self.forward.process_with_scratch(pairs, scratch);
    }

    /// The way back from values to pairs of coefficients.
    pub fn interpolate(&self, values: &mut [Complex64], scratch: &mut [Complex64]) {
        self.inverse.process_with_scratch(values, scratch);
        let norm = 1.0 / self.pairs() as f64;
        for (value, twist) in values.iter_mut().zip(&self.twists) {
            *value *= twist.conj() * norm;
        }
    }

    /// Bound on the absolute values at the roots.
    pub fn largest(&self, coefficients: &[f64]) -> f64 {
        let mut values = pairs(coefficients, 1.0);
        self.evaluate(&mut values, &mut self.scratch());
        // Room for the rounding of the transform.
        values.iter().fold(0.0, |most: f64, v| most.max(v.norm())) * (1.0 + 1e-9)
    }
}

/// Real coefficients times a factor as `(m_k, m_(k + N/2))` pairs.
pub fn pairs(coefficients: &[f64], factor: f64) -> Vec<Complex64> {
    let (low, high) = coefficients.split_at(coefficients.len() / 2);
    low.iter().zip(high).map(|(re, im)| Complex64::new(re * factor, im * factor)).collect()
}

/// Overwrites numbers that must not stay in memory.
pub fn wipe(numbers: &mut [Complex64]) {
    for number in numbers {
        number.re.zeroize();
        number.im.zeroize();
    }
}
