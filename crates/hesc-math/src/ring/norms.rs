//! How large elements of a ring are. Noise is measured by its values at the roots of unity, the embedding,
//! where products are products: its *deviation* is their root mean square divided by `sqrt(phi(m))`, which
//! for powers of two is the root mean square of the coefficients. What follows relates it to coefficients
//! in the basis of [`RingIndex::exponents`]; for powers of two all factors are trivial.

use super::RingIndex;

impl RingIndex {
    /// Coefficients of an element whose values at the roots are alike and independent, by the
    /// deviation: `sqrt(prod 2 (p - 1) / p)`, for the basis' dual has elements of size
    /// `prod sqrt(2 / p)` on the average.
    pub fn coefficient_factor(self) -> f64 {
        self.odd_primes().map(|p| 2.0 * (p - 1) as f64 / p as f64).product::<f64>().sqrt()
    }

    /// The deviation of an element by its coefficients: at most `sqrt(m / phi(m))` times their root mean
    /// square. With `m` independent coefficients modulo `X^m - 1` it is that times theirs.
    pub fn embedding_factor(self) -> f64 {
        self.odd_primes().map(|p| p as f64 / (p - 1) as f64).product::<f64>().sqrt()
    }

    /// Bound on the coefficients of a product of two elements whose coefficients are within 1: along
    /// an axis `p - 2` products meet in each, and `p - 1` more, subtracted, for `zeta^p = 1`.
    pub fn product_growth(self) -> f64 {
        if self.is_power_of_two() {
            return self.degree() as f64;
        }
        self.odd_primes().map(|p| (2 * p - 3) as f64).product()
    }

    /// The same for a product with a root of unity: at most two meet along each axis.
    pub fn monomial_growth(self) -> f64 {
        self.odd_primes().map(|_| 2.0).product()
    }
}

#[cfg(test)]
mod tests {
    use super::super::definition::{Definition, INDICES};
    use super::*;
    use crate::ring::Prime;

    /// Sums of the absolute values in the multiplication table of the basis.
    #[test]
    fn growth_is_that_of_the_multiplication_table() {
        for index in INDICES.into_iter().filter(|&index| index < 200) {
            let ring = RingIndex::new(index).unwrap();
            let n = ring.degree();
            let prime = Prime::new(ring, ring.ntt_primes(31, 1).unwrap()[0]).unwrap();
            let definition = Definition::new(index, prime.value());
            let unit = |i: usize| (0..n).map(|j| u64::from(i == j)).collect::<Vec<_>>();
            let mut sums = vec![0.0; n];
            for i in 0..n {
                let mut largest = vec![0.0; n];
                for j in 0..n {
                    let [mut a, mut b] = [unit(i), unit(j)];
                    prime.forward(&mut a);
                    prime.forward(&mut b);
                    crate::residues::kernels::multiply_assign(&mut a, &b, &prime);
                    prime.inverse(&mut a);
                    for (k, &x) in a.iter().enumerate() {
                        let size = definition.q.centre(x).abs() as f64;
                        sums[k] += size;
                        largest[k] += size;
                    }
                }
                assert!(largest.iter().all(|&x| x <= ring.monomial_growth()), "{index}");
            }
            assert_eq!(sums, vec![ring.product_growth(); n], "{index}");
        }
    }

    /// The largest deviation that coefficients give: that of an element with one of them is 1, of a root.
    #[test]
    fn coefficients_give_no_larger_deviations() {
        for index in INDICES.into_iter().filter(|&index| index != 512) {
            let ring = RingIndex::new(index).unwrap();
            let (n, embedding) = (ring.degree(), super::super::Embedding::new(ring));
            let deviation = |coefficients: &[f64]| {
                let values = embedding.values(coefficients);
                let squares: f64 = values.iter().map(|[re, im]| re * re + im * im).sum();
                let norm: f64 = coefficients.iter().map(|x| x * x).sum();
                (squares / n as f64 / norm).sqrt()
            };
            // Along each axis the largest is any whose coefficients add to zero.
            let alternating: Vec<f64> = (0..n).map(|i| signs(&ring.axes(), i)).collect();
            let most = deviation(&alternating);
            assert!((most / ring.embedding_factor() - 1.0).abs() < 1e-9, "{index}: {most}");
            for seed in 0..9 {
                let some: Vec<f64> =
                    (0..n).map(|i| ((i * i * 7 + seed * i) % 11) as f64 - 1.5).collect();
                assert!(deviation(&some) <= ring.embedding_factor() * (1.0 + 1e-9), "{index}");
            }
        }
    }

    fn signs(axes: &[super::super::index::Axis], i: usize) -> f64 {
        let odd = axes.iter().filter(|axis| i / axis.step % 2 == 1).count();
        if odd.is_multiple_of(2) { 1.0 } else { -1.0 }
    }
}
