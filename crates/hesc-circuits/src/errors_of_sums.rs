//! Errors of weighted sums of products that may share streams.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use hesc_stochastic::{ErrorLaw, Factor, Representation, UNKNOWN_ROW, joint_prefix};

use crate::answer::Plan;
use crate::factors::factors_of;

/// Most pairs of terms whose covariance is computed; beyond, errors add as if all were one.
const MOST_PAIRS: usize = 1 << 18;

/// The least share of the terms' own variances that a sum can have: what the sum of all prefixes of
/// a jointly encoded product comes down to.
const LEAST_SHARE: f64 = 0.05;

/// Bits that the laws of one answer may be measured with, some seconds: what factors there are, and how
/// long streams were, is its sender's word.
const BUDGET: u64 = 1 << 31;

/// A term as it was read.
pub(crate) struct Reading {
    /// The value of its stream, or of all that merged in it.
    pub value: f64,
    pub weight: f64,
    /// How many streams merged.
    pub merged: f64,
    /// Its bits, 64 a word; nothing for merged streams.
    pub bits: Vec<u64>,
}

/// Why the errors of two terms are dependent.
enum Dependence {
    /// They share streams of this law.
    Shared(ErrorLaw),
    /// A prefix of a jointly encoded product and the next.
    Neighbours,
}

/// What the errors of an element depend on besides the values.
struct Structure {
    laws: Vec<ErrorLaw>,
    pairs: Vec<(usize, usize, Dependence)>,
    /// Whether there are more pairs than are looked at.
    crowded: bool,
}

/// Finds the errors of the elements of an answer.
pub(crate) struct Errors<'a> {
    plan: &'a Plan,
    known: HashMap<&'a [u32], Rc<Structure>>,
    budget: u64,
}

impl<'a> Errors<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        Self { plan, known: HashMap::new(), budget: BUDGET }
    }

    /// The variance of an element whose terms were read as these.
    pub fn variance(&mut self, element: usize, terms: &[Reading]) -> f64 {
        let structure = self.structure(element, terms.len());
        let (mut own, mut bias, mut coherent) = (0.0, 0.0, 0.0);
        let mut variances = Vec::with_capacity(terms.len());
        for (term, law) in terms.iter().zip(&structure.laws) {
            let variance = law.variance_of_estimate(term.value);
            variances.push(variance);
            own += term.weight.powi(2) * term.merged * variance;
            coherent += term.weight.abs() * term.merged * variance.sqrt();
            // The sign of a product's is not known.
            let size = term.weight * term.merged * law.bias(term.value);
            bias += if law.is_single() { size } else { size.abs() };
        }
        if structure.crowded {
            return coherent.powi(2) + bias.powi(2);
        }
        let mut total = own;
        for (i, j, dependence) in &structure.pairs {
            let (a, b) = (&terms[*i], &terms[*j]);
            // What merged cannot be taken apart; its streams are of different rows.
            if a.merged > 1.0 || b.merged > 1.0 {
                continue;
            }
            let covariance = match dependence {
                Dependence::Neighbours => -0.5 * (variances[*i] * variances[*j]).sqrt(),
                Dependence::Shared(law) => self.covariance(a, b, law),
            };
            total += 2.0 * a.weight * b.weight * covariance;
        }
        total.max(LEAST_SHARE * own) + bias.powi(2)
    }

    /// The covariance of two products that share streams of that law.
    fn covariance(&self, a: &Reading, b: &Reading, shared: &ErrorLaw) -> f64 {
        let length = self.plan.stream_length as f64;
        let words = a.bits.iter().zip(&b.bits);
        let both = a.value * b.value;
        // The value of the product of the two streams, in which shared ones cancel (inverted
        // bipolar) or count once (unipolar).
        let (product, apart) = match self.plan.representation {
            Representation::InvertedBipolar => {
                let differ: u32 = words.map(|(a, b)| (a ^ b).count_ones()).sum();
                let product = 1.0 - 2.0 * f64::from(differ) / length;
                // Of what is not shared; that times the square of what is shared is `both`.
                (product, product)
            }
            Representation::Unipolar => {
                let common: u32 = words.map(|(a, b)| (a & b).count_ones()).sum();
                let product = f64::from(common) / length;
                (product, if both > 0.0 { product * product / both } else { 0.0 })
            }
        };
        if shared.is_binomial() {
            return (product - both) / length;
        }
        if product == 0.0 || apart == 0.0 {
            return 0.0;
        }
        let value = match self.plan.representation {
            Representation::InvertedBipolar => (both / product).clamp(0.0, 1.0).sqrt(),
            Representation::Unipolar => (both / product).clamp(0.0, 1.0),
        };
        apart * shared.variance(value)
    }

    /// The structure of an element, found once for all elements of its pattern.
    fn structure(&mut self, element: usize, terms: usize) -> Rc<Structure> {
        let plan = self.plan;
        let (rows, size) = (plan.factors.rows(), terms * plan.origins.len());
        let rows = if rows.len() == size { rows } else { &rows[element * size..][..size] };
        let known = self.known.entry(rows);
        Rc::clone(known.or_insert_with(|| Rc::new(Structure::new(plan, rows, &mut self.budget))))
    }
}

impl Structure {
    fn new(plan: &Plan, rows: &[u32], budget: &mut u64) -> Self {
        let of_term = |rows: &[u32]| factors_of(&plan.origins, rows);
        let terms: Vec<Vec<Factor>> = rows.chunks_exact(plan.origins.len()).map(of_term).collect();
        let mut law = |factors: &[Factor]| {
            let (encoded, length) = (plan.encoded_length, plan.stream_length);
            ErrorLaw::within(budget, factors, plan.representation, encoded, length)
        };
        let laws = terms.iter().map(|factors| law(factors)).collect();

        let mut holders: HashMap<Factor, Vec<usize>> = HashMap::new();
        for (i, factors) in terms.iter().enumerate() {
            for factor in factors.iter().filter(|factor| factor.row != UNKNOWN_ROW) {
                holders.entry(*factor).or_default().push(i);
            }
        }
        let count = |holders: &Vec<usize>| holders.len() * (holders.len() - 1) / 2;
        if holders.values().map(count).sum::<usize>() > MOST_PAIRS {
            return Self { laws, pairs: Vec::new(), crowded: true };
        }
        let mut found = HashSet::new();
        for holders in holders.values() {
            for (k, &j) in holders.iter().enumerate() {
                found.extend(holders[..k].iter().map(|&i| (i, j)));
            }
        }
        let mut found: Vec<(usize, usize)> = found.into_iter().collect();
        found.sort_unstable();
        let whole = plan.encoded_length == plan.stream_length;
        let dependence = |(i, j): (usize, usize)| {
            if whole && let (Some(a), Some(b)) = (joint_prefix(&terms[i]), joint_prefix(&terms[j]))
            {
                match a.abs_diff(b) {
                    0 => {}
                    1 => return Some((i, j, Dependence::Neighbours)),
                    _ => return None,
                }
            }
            let shared: Vec<Factor> =
                terms[i].iter().filter(|factor| terms[j].contains(factor)).copied().collect();
            Some((i, j, Dependence::Shared(law(&shared))))
        };
        Self { laws, pairs: found.into_iter().filter_map(dependence).collect(), crowded: false }
    }
}
