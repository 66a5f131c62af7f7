//! Normal numbers from a cryptographic generator.

use hesc_math::ring::Complex64;
use rand_core::CryptoRng;

/// Deviations that no number is beyond: `sqrt(2 ln 2^54)`, the largest radius of 53 bits.
pub(crate) const LARGEST: f64 = 8.66;

/// Two independent normal numbers (Box and Muller), from 53 bits each.
pub(crate) fn gaussian_pair(rng: &mut impl CryptoRng) -> Complex64 {
    let uniform = |word: u64| ((word >> 11) as f64 + 0.5) * 2f64.powi(-53);
    let radius = (-2.0 * uniform(rng.next_u64()).ln()).sqrt();
    Complex64::from_polar(radius, 2.0 * std::f64::consts::PI * uniform(rng.next_u64()))
}

/// Deviations that no number of [`long_gaussian_pair`] is beyond: `sqrt(2 ln 2^65)`.
pub(crate) const LARGEST_LONG: f64 = 9.5;

/// The same with a radius from 64 bits: what is beyond it has a probability of `2^-65`.
pub(crate) fn long_gaussian_pair(rng: &mut impl CryptoRng) -> Complex64 {
    let radius = (-2.0 * ((rng.next_u64() as f64 + 0.5) * 2f64.powi(-64)).ln()).sqrt();
    let turn = (rng.next_u64() as f64 + 0.5) * 2f64.powi(-64);
    Complex64::from_polar(radius, 2.0 * std::f64::consts::PI * turn)
}

/// How far numbers are related to those so many places behind them, in deviations of what independent ones show.
#[cfg(test)]
pub(crate) fn correlations(noise: &[f64], lags: &[usize]) -> impl Iterator<Item = (usize, f64)> {
    let square = noise.iter().map(|x| x * x).sum::<f64>() / noise.len() as f64;
    lags.iter().map(move |&lag| {
        let pairs = noise.iter().zip(&noise[lag..]);
        let sum = pairs.map(|(a, b)| a * b).sum::<f64>() / square;
        (lag, sum / ((noise.len() - lag) as f64).sqrt())
    })
}

#[cfg(test)]
mod tests {
    use hesc_math::AesCtrRng;
    use rand_core::SeedableRng;

    use super::*;

    /// Each is off by five deviations with a probability below 1e-6.
    #[test]
    fn moments_are_those_of_the_normal_law() {
        let rng = &mut AesCtrRng::from_seed([9; 32]);
        let count = 1 << 16;
        let pairs: Vec<Complex64> = (0..count).map(|_| gaussian_pair(rng)).collect();
        let mean = |of: &dyn Fn(&Complex64) -> f64| pairs.iter().map(of).sum::<f64>();
        let limit = |variance: f64| 5.0 * (f64::from(count) * variance).sqrt();
        for part in [|x: &Complex64| x.re, |x: &Complex64| x.im] {
            assert!(mean(&part).abs() < limit(1.0));
            assert!(mean(&|x| part(x).powi(2) - 1.0).abs() < limit(2.0));
            assert!(mean(&|x| part(x).powi(4) - 3.0).abs() < limit(96.0));
            assert!(pairs.iter().all(|x| part(x).abs() <= LARGEST));
        }
        assert!(mean(&|x| x.re * x.im).abs() < limit(1.0));
        assert!(mean(&|x| (x.re.powi(2) - 1.0) * (x.im.powi(2) - 1.0)).abs() < limit(4.0));
        let next = pairs.windows(2).map(|x| x[0].re * x[1].im).sum::<f64>();
        assert!(next.abs() < limit(1.0));
    }
}
