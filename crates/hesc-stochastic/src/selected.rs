//! How far a sum by selection is from its value.
//!
//! At each position one operand's bit passes. Given the operands' bits, those that pass are independent:
//! they scatter by what the operands differ at a position. What the operands err themselves adds to that.
//! With shares `p_k`, values `m_k`, `f = sum p_k m_k` and `v(x)` the variance of a bit:
//!
//! `L var = v(f) - sum_kl p_k p_l (c_kl - L e_kl)`,
//!
//! `c_kl` the covariance of two operands' bits at one position and `e_kl` that of their errors. For
//! independent bits both are the same and `v(f)` is left, the law of `koseki2022hesc` Algorithm 3; for all
//! others `e_kl` is next to nothing, and a sum that takes mostly one operand errs as little as that.
//!
//! Whoever reads the sum sees `f` and not the operands, and need not know the shares: the law is the
//! mean over operands that have the sum `f`, at ten values of it.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use crate::factor::{Factor, UNKNOWN_ROW};
use crate::generators::{row_rng, uniform};
use crate::laws::ErrorLaw;
use crate::measured::keep;
use crate::sample::STATE;
use crate::selection_law::{KNOTS, STEPS, SelectionLaw};
use crate::source::Source;
use crate::{Origin, Representation};

/// Sums that are drawn, at most and at least, and what all of them may cost: factors of pairs of operands.
const SUMS: (usize, usize) = (128, 2048);
const COST: usize = 1 << 21;

/// Widths, in values of the sum, over which sums are taken together.
const WIDTH: f64 = 0.1;

/// An operand: its share, negative if its complement passes, and what it is a product of.
pub type Operand = (f64, Vec<Factor>);

type Key = (Vec<(u64, Vec<(Source, u32)>)>, Representation, usize, usize);

static KNOWN: LazyLock<RwLock<HashMap<Key, SelectionLaw>>> = LazyLock::new(RwLock::default);

impl SelectionLaw {
    /// The law of a selection among streams of `length` bits, pieces of such as were encoded with
    /// `encoded`. Shares need not sum to one.
    ///
    /// Cost: what the operands' laws cost, and a few milliseconds; once a process for each combination.
    pub fn of(
        operands: &[Operand],
        representation: Representation,
        encoded: usize,
        length: usize,
    ) -> Self {
        let drawn = |(_, factors): &Operand| {
            ErrorLaw::of(factors, representation, encoded, length).is_binomial()
        };
        if operands.iter().all(drawn) {
            return Self::INDEPENDENT;
        }
        let key = (named(operands), representation, encoded, length);
        if let Some(known) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return *known;
        }
        let law = Mixture::new(operands, representation, encoded, length).law();
        keep(&KNOWN, key, law);
        law
    }
}

/// Operands under names that are the same whenever they are alike: streams are numbered as they appear.
fn named(operands: &[Operand]) -> Vec<(u64, Vec<(Source, u32)>)> {
    let mut numbers = HashMap::new();
    let mut next = 0;
    let mut number = |row: u32| {
        let fresh = || {
            next += 1;
            next
        };
        if row == UNKNOWN_ROW { UNKNOWN_ROW } else { *numbers.entry(row).or_insert_with(fresh) }
    };
    let mut of_operand = |(share, factors): &Operand| {
        let sources = factors.iter().map(|factor| (Source::of(&[*factor])[0], number(factor.row)));
        (share.to_bits(), sources.collect())
    };
    operands.iter().map(&mut of_operand).collect()
}

/// Operands that share streams, or one by itself.
struct Pair {
    /// Twice the product of the shares, once for an operand with itself.
    weight: f64,
    /// Streams that one of the two has, and that both have, by number.
    apart: Vec<usize>,
    common: Vec<usize>,
    /// The law of what both have.
    law: ErrorLaw,
}

struct Mixture {
    representation: Representation,
    length: f64,
    /// Share and streams of each operand.
    operands: Vec<(f64, Vec<usize>)>,
    pairs: Vec<Pair>,
    streams: usize,
}

impl Mixture {
    fn new(
        operands: &[Operand],
        representation: Representation,
        encoded: usize,
        length: usize,
    ) -> Self {
        let total: f64 = operands.iter().map(|(share, _)| share.abs()).sum();
        let mut numbers: HashMap<(Origin, u32), usize> = HashMap::new();
        let mut streams = 0;
        let mut number = |factor: &Factor| {
            let mut fresh = || {
                streams += 1;
                streams - 1
            };
            // Streams that are not told are taken for different ones.
            if factor.row == UNKNOWN_ROW {
                return fresh();
            }
            *numbers.entry((factor.origin, factor.row)).or_insert_with(fresh)
        };
        let numbered: Vec<(f64, Vec<usize>)> = operands
            .iter()
            .map(|(share, factors)| (share / total, factors.iter().map(&mut number).collect()))
            .collect();
        let mut pairs = Vec::new();
        for (j, (share, own)) in numbered.iter().enumerate() {
            for (i, (other_share, others)) in numbered[..=j].iter().enumerate() {
                let shared = |stream: &&usize| others.contains(stream);
                let common: Vec<usize> = own.iter().filter(shared).copied().collect();
                if common.is_empty() {
                    continue;
                }
                let factors = operands[j].1.iter().zip(own);
                let factors = factors.filter(|(_, stream)| others.contains(stream));
                let factors: Vec<Factor> = factors.map(|(factor, _)| *factor).collect();
                let apart = own.iter().chain(others).filter(|stream| !common.contains(stream));
                pairs.push(Pair {
                    weight: share * other_share * if i == j { 1.0 } else { 2.0 },
                    apart: apart.copied().collect(),
                    law: ErrorLaw::of(&factors, representation, encoded, length),
                    common,
                });
            }
        }
        Self { representation, length: length as f64, operands: numbered, pairs, streams }
    }

    /// Means over sums that are drawn.
    fn law(&self) -> SelectionLaw {
        let lowest = self.representation.lowest();
        let cost: usize =
            self.pairs.iter().map(|pair| pair.apart.len() + pair.common.len() + 4).sum();
        let sums = (COST / cost.max(1)).clamp(SUMS.0, SUMS.1);
        let mut found = [(0.0, 0.0); KNOTS];
        for sum in 0..sums {
            let (value, bits, own) = self.drawn(sum);
            for (knot, (true_ones, of_bits)) in found.iter_mut().enumerate() {
                let far = (value - SelectionLaw::knot(knot, lowest)) / (WIDTH * (1.0 - lowest));
                // A trace of all others, where no sum is near.
                let near = (-far * far).exp() + 1e-9;
                *true_ones += near * own;
                *of_bits += near * bits;
            }
        }
        SelectionLaw(found.map(|(own, bits)| {
            let share = (own / bits).clamp((-255.0 / STEPS).exp2(), 1.0);
            (-share.log2() * STEPS).round() as u8
        }))
    }

    /// The value of a sum of random operands, the variance of independent bits of that value, and its own.
    ///
    /// Half of the sums have operands spread evenly over the range, the others such as lie together
    /// somewhere in it, so that all values of a sum are there and equal operands as well.
    fn drawn(&self, sum: usize) -> (f64, f64, f64) {
        let mut rng = row_rng(STATE, u64::MAX - 64, sum as u64);
        let lowest = self.representation.lowest();
        let (centre, width) = (uniform(&mut rng), uniform(&mut rng));
        let width = if sum.is_multiple_of(2) { 1.0 } else { width };
        let mut value = || {
            let share = centre + width * (uniform(&mut rng) - centre);
            lowest + (1.0 - lowest) * share
        };
        let values: Vec<f64> = (0..self.streams).map(|_| value()).collect();
        let product = |streams: &[usize]| streams.iter().map(|&s| values[s]).product::<f64>();
        // The complement of a unipolar stream is no product: shares of those are never negative.
        let of_operand = |(share, streams): &(f64, Vec<usize>)| share * product(streams);
        let found: f64 = self.operands.iter().map(of_operand).sum();
        let bits = self.representation.variance_of_value(found);
        let less = |pair: &Pair| {
            let shared = product(&pair.common);
            let errors = pair.law.variance(shared) + pair.law.bias(shared).powi(2);
            pair.weight
                * product(&pair.apart)
                * (self.representation.variance_of_value(shared) - self.length * errors)
        };
        let own = bits - self.pairs.iter().map(less).sum::<f64>();
        (found, bits, own.clamp(0.0, bits))
    }
}
