//! Polynomials at the primitive `2N`-th roots of unity: slots of CKKS, and where the noise of products
//! is largest.

use std::f64::consts::PI;
use std::fmt;
use std::sync::Arc;

use rustfft::num_complex::Complex64;
use rustfft::{Fft, FftPlanner};

/// The transform of one ring degree `N`.
pub(crate) struct Roots {
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

impl Roots {
    pub(crate) fn new(ring_degree: usize) -> Self {
        let pairs = ring_degree / 2;
        let mut planner = FftPlanner::new();
        Self {
            twists: (0..pairs)
                .map(|k| Complex64::from_polar(1.0, PI * k as f64 / ring_degree as f64))
                .collect(),
            // Evaluation has positive exponents, which rustfft calls the inverse.
            forward: planner.plan_fft_inverse(pairs),
            inverse: planner.plan_fft_forward(pairs),
        }
    }

    /// Conjugate pairs of roots.
    pub(crate) fn pairs(&self) -> usize {
        self.twists.len()
    }

    /// The values of the polynomial with these coefficients times `factor` at `zeta^(4j + 1)`: of each
    /// conjugate pair of exponents one is 1 modulo 4.
    pub(crate) fn values(&self, coefficients: &[f64], factor: f64) -> Vec<Complex64> {
        let (low, high) = coefficients.split_at(self.pairs());
        let mut buffer: Vec<Complex64> = low
            .iter()
            .zip(high)
            .zip(&self.twists)
            .map(|((&re, &im), twist)| Complex64::new(re * factor, im * factor) * twist)
            .collect();
        self.forward.process(&mut buffer);
        buffer
    }

    /// Real coefficients of the polynomial with these values, as `(m_k, m_(k + N/2))` pairs, in place:
    /// see `ckks::encoding`, the transform of half size.
    pub(crate) fn interpolate(&self, values: &mut [Complex64]) {
        self.inverse.process(values);
        let norm = 1.0 / self.pairs() as f64;
        for (value, twist) in values.iter_mut().zip(&self.twists) {
            *value *= twist.conj() * norm;
        }
    }

    /// Bound on the absolute values at the roots.
    pub(crate) fn largest(&self, coefficients: &[f64]) -> f64 {
        let values = self.values(coefficients, 1.0);
        // Room for the rounding of the transform.
        values.iter().fold(0.0, |most: f64, v| most.max(v.norm())) * (1.0 + 1e-9)
    }
}
