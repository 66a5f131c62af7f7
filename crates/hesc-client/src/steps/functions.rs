//! Functions of single numbers, in scikit-learn's, numpy's and scipy's formulas.

use super::range::Range;

/// Names of the functions, as documents have them.
pub(crate) const NAMES: [&str; 20] = [
    "abs",
    "arctan",
    "cbrt",
    "cos",
    "exp",
    "expm1",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_counts",
    "logit",
    "negative",
    "reciprocal",
    "sigmoid",
    "sin",
    "sqrt",
    "square",
    "tan",
    "tanh",
];

/// A function of one number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Function(pub(crate) usize);

impl Function {
    pub(crate) fn name(self) -> &'static str {
        NAMES[self.0]
    }

    /// Its values, NaN or infinite where it has none.
    pub(crate) fn call(self) -> fn(f64) -> f64 {
        match self.name() {
            "abs" => f64::abs,
            "arctan" => f64::atan,
            "cbrt" => f64::cbrt,
            "cos" => f64::cos,
            "exp" => f64::exp,
            "expm1" => f64::exp_m1,
            "log" => f64::ln,
            "log10" => f64::log10,
            "log1p" => f64::ln_1p,
            "log2" => f64::log2,
            "log_counts" => log_counts,
            "logit" => logit,
            "negative" => |x| -x,
            "reciprocal" => |x| 1.0 / x,
            "sigmoid" => sigmoid,
            "sin" => f64::sin,
            "sqrt" => f64::sqrt,
            "square" => |x| x * x,
            "tan" => f64::tan,
            _ => f64::tanh,
        }
    }

    /// Limits of its values.
    pub(crate) fn limits(self, of: Range) -> Range {
        let call = self.call();
        let ends = |low: f64, high: f64| Range::of(low, high);
        match self.name() {
            "abs" if of.low >= 0.0 => of,
            "abs" => Range { whole: of.whole, ..ends(0.0, of.high.max(-of.low)) },
            "square" => {
                let least = if of.low > 0.0 { of.low } else { (-of.high).max(0.0) };
                Range { whole: of.whole, ..ends(call(least), call(of.high.max(-of.low))) }
            }
            "negative" => Range { whole: of.whole, ..ends(-of.high, -of.low) },
            "reciprocal" if of.low > 0.0 || of.high < 0.0 => ends(call(of.high), call(of.low)),
            "sin" | "cos" => ends(-1.0, 1.0),
            "tanh" => of.monotone(call).within(-1.0, 1.0),
            "sigmoid" => of.monotone(call).within(0.0, 1.0),
            "exp" => of.monotone(call).within(0.0, f64::INFINITY),
            // Of counts from one on it is one at least.
            "log_counts" if of.whole => of.monotone(call).within(0.0, f64::INFINITY),
            "log_counts" | "reciprocal" | "tan" => Range::UNKNOWN,
            "sqrt" => of.within(0.0, f64::INFINITY).monotone(call).within(0.0, f64::INFINITY),
            _ => of.monotone(call),
        }
    }
}

/// `TfidfTransformer(sublinear_tf=True)`: of zero, which sparse matrices do not hold, zero.
fn log_counts(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.ln() + 1.0 }
}

/// `scipy.special.logit`, in two forms as there.
fn logit(x: f64) -> f64 {
    if (0.3..=0.65).contains(&x) {
        let s = 2.0 * (x - 0.5);
        s.ln_1p() - (-s).ln_1p()
    } else {
        (x / (1.0 - x)).ln()
    }
}

/// `1 / (1 + exp(-x))`, without overflow.
pub(crate) fn sigmoid(x: f64) -> f64 {
    let small = (-x.abs()).exp();
    if x >= 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) }
}

/// Power transforms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Power {
    YeoJohnson,
    BoxCox,
}

impl Power {
    /// The transform with this parameter.
    pub(crate) fn of(self, lambda: f64, x: f64) -> f64 {
        match self {
            Self::YeoJohnson => yeo_johnson(lambda, x),
            // scikit-learn refuses what is not positive.
            Self::BoxCox if x <= 0.0 => f64::NAN,
            Self::BoxCox => box_cox(lambda, x),
        }
    }
}

/// `scipy.stats.yeojohnson`.
fn yeo_johnson(lambda: f64, x: f64) -> f64 {
    if x >= 0.0 {
        if lambda.abs() < f64::EPSILON { x.ln_1p() } else { (lambda * x.ln_1p()).exp_m1() / lambda }
    } else if (lambda - 2.0).abs() > f64::EPSILON {
        -((2.0 - lambda) * (-x).ln_1p()).exp_m1() / (2.0 - lambda)
    } else {
        -(-x).ln_1p()
    }
}

/// `scipy.special.boxcox`.
fn box_cox(lambda: f64, x: f64) -> f64 {
    let scaled = lambda * x.ln();
    if lambda.abs() < 1e-19 {
        x.ln()
    } else if scaled < 709.78 {
        scaled.exp_m1() / lambda
    } else {
        lambda.signum() * (scaled - lambda.abs().ln()).exp() - 1.0 / lambda
    }
}
