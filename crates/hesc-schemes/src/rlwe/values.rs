use hesc_math::RingIndex;
use hesc_math::ring::Embedding;

use crate::roots::Roots;

/// The values of one ring's polynomials.
#[derive(Debug)]
pub(crate) enum Values {
    PowerOfTwo(Roots),
    Odd(Embedding),
}

impl Values {
    pub(crate) fn new(ring: RingIndex) -> Self {
        if ring.is_power_of_two() {
            Self::PowerOfTwo(Roots::new(ring.degree()))
        } else {
            Self::Odd(Embedding::new(ring))
        }
    }

    /// The Euclidean norm of the values divided by the root of their number, and a bound on the largest
    /// absolute value.
    pub(crate) fn sizes(&self, coefficients: &[f64]) -> (f64, f64) {
        match self {
            // The norm of the values is that of the coefficients.
            Self::PowerOfTwo(roots) => {
                let norm = coefficients.iter().map(|x| x * x).sum::<f64>().sqrt();
                (norm, roots.largest(coefficients))
            }
            Self::Odd(embedding) => {
                let values = embedding.values(coefficients);
                let squares = values.iter().map(|[re, im]| re * re + im * im);
                let (sum, most) = squares.fold((0.0, 0.0), |(sum, most): (f64, f64), square| {
                    (sum + square, most.max(square))
                });
                // Room for the rounding of sums.
                ((sum / values.len() as f64).sqrt(), most.sqrt() * (1.0 + 1e-9))
            }
        }
    }
}
