//! Quantile transforms, and the inverse of the normal distribution.

/// How a quantile transform's values are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    Uniform,
    Normal,
}

/// What `QuantileTransformer` takes for an end of its quantiles.
const NEAR_END: f64 = 1e-7;
/// Limits of normal values, `scipy.stats.norm.ppf` of 1e-7 and of one less that, a rounding further out.
pub(crate) const NORMAL_ENDS: [f64; 2] = [-5.199337582605575, 5.19933758270342];

/// A probability that is beyond these limits, and one less that.
const BEYOND_ENDS: f64 = 1e-8;

/// `QuantileTransformer` on a number; `references` are the shares that the quantiles have.
///
/// Interpolated from both sides, of which the mean is taken: where quantiles repeat they differ.
pub(crate) fn quantile(x: f64, quantiles: &[f64], references: &[f64], output: Output) -> f64 {
    if x.is_nan() {
        return x;
    }
    let last = quantiles.len() - 1;
    let up = interpolated(x, last, |j| quantiles[j], |j| references[j]);
    let down = interpolated(-x, last, |j| -quantiles[last - j], |j| -references[last - j]);
    let share = 0.5 * (up - down);
    match output {
        Output::Uniform if x == quantiles[0] => 0.0,
        Output::Uniform if x == quantiles[last] => 1.0,
        Output::Uniform => share,
        Output::Normal if x - NEAR_END < quantiles[0] => NORMAL_ENDS[0],
        Output::Normal if x + NEAR_END > quantiles[last] => NORMAL_ENDS[1],
        Output::Normal => {
            let within = inverse_normal(share.clamp(BEYOND_ENDS, 1.0 - BEYOND_ENDS));
            within.clamp(NORMAL_ENDS[0], NORMAL_ENDS[1])
        }
    }
}

/// `numpy.interp`, in its very operations.
fn interpolated(x: f64, last: usize, at: impl Fn(usize) -> f64, of: impl Fn(usize) -> f64) -> f64 {
    if x < at(0) {
        return of(0);
    }
    // The last place that is not above.
    let (mut below, mut above) = (0, last + 1);
    while above - below > 1 {
        let middle = usize::midpoint(below, above);
        if at(middle) <= x {
            below = middle;
        } else {
            above = middle;
        }
    }
    if below == last || at(below) == x {
        return of(below);
    }
    let slope = (of(below + 1) - of(below)) / (at(below + 1) - at(below));
    let found = slope * (x - at(below)) + of(below);
    if !found.is_nan() {
        return found;
    }
    let found = slope * (x - at(below + 1)) + of(below + 1);
    if found.is_nan() && of(below) == of(below + 1) { of(below) } else { found }
}

/// The number that a normal one is below with this probability, from 1e-10 on to one less that: algorithm AS241 (Wichura
/// 1988), to about 1e-16 of its size. `scipy.stats.norm.ppf` is as near to the truth by another formula.
fn inverse_normal(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(0.180625 - q * q, &CENTRE);
    }
    let r = (-(if q < 0.0 { p } else { 1.0 - p }).ln()).sqrt();
    let x = ratio(r - 1.6, &MIDDLE);
    if q < 0.0 { -x } else { x }
}

/// A quotient of two polynomials.
fn ratio(r: f64, [above, below]: &[[f64; 8]; 2]) -> f64 {
    let value = |of: &[f64; 8]| of.iter().fold(0.0, |sum, coefficient| sum * r + coefficient);
    value(above) / value(below)
}

const CENTRE: [[f64; 8]; 2] = [
    [
        2509.0809287301227,
        33430.57558358813,
        67265.7709270087,
        45921.95393154987,
        13731.69376550946,
        1971.5909503065513,
        133.14166789178438,
        3.3871328727963665,
    ],
    [
        5226.495278852854,
        28729.085735721943,
        39307.89580009271,
        21213.794301586597,
        5394.196021424751,
        687.1870074920579,
        42.31333070160091,
        1.0,
    ],
];
const MIDDLE: [[f64; 8]; 2] = [
    [
        0.0007745450142783414,
        0.022723844989269184,
        0.2417807251774506,
        1.2704582524523684,
        3.6478483247632045,
        5.769497221460691,
        4.630337846156546,
        1.4234371107496835,
    ],
    [
        1.0507500716444169e-09,
        0.0005475938084995345,
        0.015198666563616457,
        0.14810397642748008,
        0.6897673349851,
        1.6763848301838038,
        2.053191626637759,
        1.0,
    ],
];
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_of_the_normal_distribution_is_its_tables() {
        // scipy.stats.norm.ppf.
        let known = [
            (0.5, 0.0),
            (0.975, 1.959963984540054),
            (0.1, -1.2815515655446004),
            (1e-5, -4.264890793922825),
            (2e-7, -5.068957749717791),
        ];
        for (p, x) in known {
            assert!((inverse_normal(p) - x).abs() <= 4e-15 * x.abs(), "{p}: {}", inverse_normal(p));
        }
    }

    #[test]
    fn repeated_quantiles_are_met_in_the_middle() {
        let (quantiles, references) = ([0.0, 1.0, 1.0, 1.0, 3.0], [0.0, 0.25, 0.5, 0.75, 1.0]);
        let of = |x| quantile(x, &quantiles, &references, Output::Uniform);
        assert_eq!(
            [of(-1.0), of(0.0), of(1.0), of(2.0), of(3.0), of(9.0)],
            [0.0, 0.0, 0.5, 0.875, 1.0, 1.0]
        );
        assert!(of(f64::NAN).is_nan());
    }
}
