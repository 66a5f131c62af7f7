use hesc_math::RingIndex;
use hesc_math::ring::{Embedding, wipe};
use zeroize::Zeroizing;

use hesc_math::ring::{Roots, pairs};

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

    /// The means of `|v|^2`, `|v|^4` and so on over the values, `most` of them. What it needs is wiped: the polynomial
    /// may be secret.
    pub(crate) fn even_moments(&self, coefficients: &[f64], most: usize) -> Vec<f64> {
        let mut squares: Zeroizing<Vec<f64>> = match self {
            Self::PowerOfTwo(roots) => {
                let (mut values, mut scratch) = (pairs(coefficients, 1.0), roots.scratch());
                roots.evaluate(&mut values, &mut scratch);
                let squares = values.iter().map(|value| value.norm_sqr()).collect();
                wipe(&mut values);
                wipe(&mut scratch);
                Zeroizing::new(squares)
            }
            Self::Odd(embedding) => {
                let values = Zeroizing::new(embedding.values(coefficients));
                Zeroizing::new(values.iter().map(|[re, im]| re * re + im * im).collect())
            }
        };
        let first = Zeroizing::new(squares.clone());
        let mut moments = Vec::with_capacity(most);
        for _ in 0..most {
            moments.push(squares.iter().sum::<f64>() / squares.len() as f64);
            squares.iter_mut().zip(first.iter()).for_each(|(power, square)| *power *= square);
        }
        moments
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
