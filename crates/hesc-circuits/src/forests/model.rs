use std::ops::Range;

use hesc_kernels::vectorised;
use hesc_math::Modulus;
use hesc_math::discrete_gaussian::{CosetGaussian, DiscreteGaussian};
use hesc_math::sampling::fill_uniform_row;
use hesc_schemes::rlwe::{BlindedSums, PublicKey, Scratch};
use hesc_schemes::{Fingerprint, SchemeError};
use rand_core::CryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::divisor::Divisor;
use super::plan::Plan;
use super::wire::{self, Answer, Purpose, Query};
use crate::plans::PlanError;

/// What a leaf asks of a sample: `constant + sum of bits, or less them`, which is 0 where it holds and 1 where not.
///
/// "The feature exceeds edge 5" is `1 - T_5`, "it does not exceed edge 7" is `T_7`. "The category is one of some" is one less the
/// sum of their bits, and "it is none of them" that sum: one of both holds, also where no bit is set.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Condition {
    /// Whether one is added.
    pub constant: bool,
    /// Edges, each with whether its bit is subtracted.
    pub terms: Vec<(u32, bool)>,
}

/// A box: what it gives to the score of those that all its conditions hold for.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Leaf {
    /// In units of the score.
    pub value: i64,
    /// No edge twice, here and among slopes.
    pub conditions: Vec<Condition>,
    /// Edges, each with what is added to the value where its bit is one: a leaf that all samples reach, without conditions, is a
    /// linear form of bits. That sums for a sample's bits stay within what the plan declares is for who makes the model.
    pub slopes: Vec<(u32, i64)>,
}

/// A server's trees, ready for queries. Neither printed nor compared; wiped.
pub struct Model {
    plan: Plan,
    outputs: Vec<Output>,
    sums: BlindedSums,
    law: DiscreteGaussian,
    coset: CosetGaussian,
}

/// What the bits of some leaves are multiplied with, where a leaf looks: places in a polynomial, by ciphertext of a query.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
struct Used {
    /// Where the places of each ciphertext end.
    ends: Vec<usize>,
    places: Vec<usize>,
    numbers: Vec<i64>,
}

/// Leaves of an output side by side, and what they have one after the other.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
struct Output {
    trees: usize,
    leaves: Vec<FlatLeaf>,
    conditions: Vec<FlatCondition>,
    /// Edges, each with all ones where its bit is subtracted.
    terms: Vec<(u32, u64)>,
    /// Edges, each with what its bit is multiplied with, modulo the prime of values.
    slopes: Vec<(u32, u64)>,
}

#[derive(Clone, Copy, Zeroize)]
struct FlatLeaf {
    tree: usize,
    /// Modulo the prime of values.
    value: u64,
    /// Where its conditions begin and end.
    conditions: [usize; 2],
    /// Where its slopes begin and end.
    slopes: [usize; 2],
}

#[derive(Clone, Copy, Zeroize)]
struct FlatCondition {
    /// All ones where one is added.
    constant: u64,
    /// Where its terms begin and end.
    terms: [usize; 2],
}

/// What is drawn for the leaves of an answer, in its order.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub(super) struct Drawn {
    /// What is encrypted of each leaf, but for the bits.
    pub constants: Vec<u64>,
    /// Where the terms of each leaf end.
    pub ends: Vec<usize>,
    /// Edges, and the classes of what their bits are multiplied with: from 0 to `t`, both included.
    pub terms: Vec<(u32, u32)>,
}

impl Model {
    /// Trees of each output, the leaves of each tree such that exactly one is reached, whatever the sample.
    ///
    /// # Errors
    /// [`PlanError::Count`] for other numbers of outputs, trees and leaves than the plan declares; [`PlanError::Weights`] for
    /// more conditions, larger values, edges that are not there, and an edge twice in a leaf.
    pub fn new(plan: &Plan, outputs: Vec<Vec<Vec<Leaf>>>) -> Result<Self, PlanError> {
        let declared = plan.declared();
        let count = |what: &str, expected, found| match expected == found {
            true => Ok(()),
            false => Err(PlanError::Count { what: what.into(), expected, found }),
        };
        let beyond = |what| Err(PlanError::Weights { what });
        count("outputs", declared.outputs.len(), outputs.len())?;
        for (shape, trees) in declared.outputs.iter().zip(&outputs) {
            count("trees", shape.trees as usize, trees.len())?;
            count("leaves", shape.leaves as usize, trees.iter().map(Vec::len).sum())?;
            let largest =
                |tree: &Vec<Leaf>| tree.iter().map(|leaf| leaf.value.unsigned_abs()).max();
            let reach = trees.iter().map(|tree| largest(tree).unwrap_or(0));
            if reach.fold(0, u64::saturating_add) > declared.reach {
                return beyond("values of leaves add up to numbers");
            }
            for leaf in trees.iter().flatten() {
                let largest = leaf.slopes.iter().map(|slope| slope.1.unsigned_abs()).max();
                // From one value within reach to another.
                if largest > Some(2 * declared.reach) {
                    return beyond("slopes of leaves are numbers");
                }
                if leaf.conditions.len() > declared.most_conditions as usize {
                    return beyond("leaves have numbers of conditions");
                }
                let mut edges: Vec<u32> = leaf.edges().collect();
                edges.sort_unstable();
                if edges.last().is_some_and(|&last| last >= declared.edges) {
                    return beyond("leaves look at edges");
                }
                if edges.windows(2).any(|pair| pair[0] == pair[1]) {
                    return beyond("a leaf looks at an edge twice: conditions are");
                }
            }
        }
        let (_, _, t) = plan.plain_moduli();
        let (law, coset) = (DiscreteGaussian::of_deviation_4(), CosetGaussian::new(t));
        let sums = plan.products().blinded_sums();
        let (_, of_values, _) = plan.plain_moduli();
        let outputs = outputs.iter().map(|trees| Output::new(trees, of_values)).collect();
        Ok(Self { plan: plan.clone(), outputs, sums, law, coset })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The answer to a query under a client's public key. Cost: for each ciphertext of the answer and each prime a transform for
    /// each ciphertext of the query, and a number drawn for each of their coefficients.
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for other bytes, plans and keys.
    pub fn answer(
        &self,
        query: &[u8],
        public: &PublicKey,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u8>, PlanError> {
        let name = wire::name(query);
        let query = self.opened(Purpose::Sample, query, public)?;
        let drawn = self.drawn(rng);
        let answer = self.encrypted((name, &query), public, &drawn, &drawn.constants, rng)?;
        Ok(wire::answer_to_bytes(&self.plan, Purpose::Sample, public.key_id(), &answer))
    }

    /// A query for this purpose under a client's key.
    pub(super) fn opened(
        &self,
        purpose: Purpose,
        query: &[u8],
        public: &PublicKey,
    ) -> Result<Query, SchemeError> {
        let (found, query) = wire::query_from_bytes(&self.plan, purpose, query)?;
        let expected = public.key_id();
        if found == expected {
            Ok(query)
        } else {
            Err(SchemeError::KeyMismatch { expected, found })
        }
    }

    /// The numbers of all leaves, for the query of this name: constants, and what was drawn times what is encrypted.
    pub(super) fn encrypted(
        &self,
        (name, query): (Fingerprint, &Query),
        public: &PublicKey,
        drawn: &Drawn,
        constants: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Answer, SchemeError> {
        let (products, sizes) = (self.plan.products(), self.plan.sizes());
        let (_, _, t) = self.plan.plain_moduli();
        let factors = self.sums.factors(public, &query.seeds, &query.words)?;
        let n = sizes.ring_degree;
        let [mut c_0, mut c_1] = [(); 2].map(|()| Zeroizing::new(vec![0; products.words()]));
        // Beyond coefficients that travel there is nothing to multiply.
        let mut quotients = Zeroizing::new(vec![0i16; sizes.coefficients]);
        let mut scratch = Scratch::default();
        let [c_1s, numbers] = [sizes.answers * n, constants.len()].map(Vec::with_capacity);
        let mut answer = Answer { query: name, c_1: c_1s, numbers };
        for (turn, constants) in constants.chunks(sizes.rows).enumerate() {
            let first = turn * sizes.rows;
            let used = self.used(drawn, first..first + constants.len(), rng);
            let multipliers = |block: usize, polynomial: &mut [i64], rng: &mut _| {
                self.law.fill(&mut quotients, rng);
                multiples(polynomial, &quotients, t);
                polynomial[quotients.len()..].fill(0);
                used.set(block, polynomial);
            };
            let sums = [&mut **c_0, &mut **c_1];
            self.sums.compute(&factors, multipliers, sums, &mut scratch, rng)?;
            let places = (sizes.width - 1..n).step_by(sizes.width).take(constants.len());
            let mut found = products.at(&c_0, places);
            products.add_scaled_with_noise(&mut found, constants, t, sizes.deviation, rng);
            answer.numbers.extend(products.round_to_bits(&found, sizes.number_bits));
            answer.c_1.extend(products.round_to_bits(&c_1, sizes.bits));
        }
        Ok(answer)
    }

    /// All leaves, those of each output in an order of their own, with what is drawn for them.
    pub(super) fn drawn(&self, rng: &mut impl CryptoRng) -> Drawn {
        let (of_costs, of_values, t) = self.plan.plain_moduli();
        // Numbers that are 1 modulo one of both and 0 modulo the other.
        let inverse = Modulus::new(of_costs).inverse(of_values % of_costs);
        let cost = of_values * inverse;
        let value = (t + 1 - cost) % t;
        // Below 2^63: t is below 2^31, and what it is multiplied with below 2^32.
        let modulo_t = Divisor::new(t);
        let number = |r: u64, rho: u64| modulo_t.remainder(cost * r + value * rho);
        let terms = |output: &Output| output.terms.len() + output.slopes.len();
        let all: usize = self.outputs.iter().map(terms).sum();
        let leaves = self.plan.declared().leaves();
        let mut drawn = Drawn {
            constants: Vec::with_capacity(leaves),
            ends: Vec::with_capacity(leaves),
            terms: Vec::with_capacity(all),
        };
        for output in &self.outputs {
            let mut masks = Zeroizing::new(vec![0u64; output.trees]);
            let (last, others) = masks.split_last_mut().unwrap_or_else(|| unreachable!("trees"));
            fill_uniform_row(others, of_values, rng);
            *last = (u64::MAX / of_values * of_values - others.iter().sum::<u64>()) % of_values;
            let mut order: Vec<&FlatLeaf> = output.leaves.iter().collect();
            shuffle(&mut order, rng);
            let mut costs = Zeroizing::new(vec![0u64; order.len()]);
            fill_uniform_row(&mut costs, of_costs - 1, rng);
            // As many as leaves of most conditions take: time does not tell how many there are.
            let most = self.plan.declared().most_conditions as usize;
            let mut multiples = Zeroizing::new(vec![0u64; order.len() * most]);
            fill_uniform_row(&mut multiples, of_values, rng);
            for (place, (leaf, r)) in order.into_iter().zip(costs.iter()).enumerate() {
                let mut constant = number(0, leaf.value + masks[leaf.tree]);
                let [first, end] = leaf.conditions;
                let conditions = output.conditions[first..end].iter();
                for (condition, &rho) in conditions.zip(&multiples[place * most..]) {
                    let class = number(r + 1, rho);
                    constant += class & condition.constant;
                    let [first, end] = condition.terms;
                    drawn.terms.extend(output.terms[first..end].iter().map(|&(edge, negated)| {
                        let class =
                            ((class ^ negated).wrapping_sub(negated)).wrapping_add(t & negated);
                        (edge, class as u32)
                    }));
                }
                let [first, end] = leaf.slopes;
                let slopes = output.slopes[first..end].iter();
                drawn.terms.extend(slopes.map(|&(edge, slope)| (edge, number(0, slope) as u32)));
                drawn.constants.push(modulo_t.remainder(constant));
                drawn.ends.push(drawn.terms.len());
            }
        }
        drawn
    }

    /// What the bits that some leaves look at are multiplied with: Gaussian numbers of the classes drawn.
    fn used(&self, drawn: &Drawn, leaves: Range<usize>, rng: &mut impl CryptoRng) -> Used {
        let sizes = self.plan.sizes();
        let start = |leaf: usize| leaf.checked_sub(1).map_or(0, |before| drawn.ends[before]);
        let terms = &drawn.terms[start(leaves.start)..start(leaves.end)];
        // Edges are below 2^15, and quotients of such numbers are right so.
        let inverse = (1u32 << 31) / sizes.width as u32 + 1;
        let block = |edge: u32| ((u64::from(edge) * u64::from(inverse)) >> 31) as usize;
        let mut ends = vec![0; sizes.blocks];
        terms.iter().for_each(|&(edge, _)| ends[block(edge)] += 1);
        let mut next = 0;
        for end in &mut ends {
            next += std::mem::replace(end, next);
        }
        // As many as leaves of most conditions take, those of several bits apart.
        let most = leaves.len() * self.plan.declared().most_conditions as usize;
        let (mut places, mut numbers) = (vec![0; terms.len()], vec![0; terms.len().max(most)]);
        let mut at = start(leaves.start);
        for (row, leaf) in leaves.enumerate() {
            let end = drawn.ends[leaf];
            for &(edge, class) in &drawn.terms[at..end] {
                let block = block(edge);
                let to = ends[block];
                places[to] = (row + 1) * sizes.width - 1 - (edge as usize - block * sizes.width);
                numbers[to] = i64::from(class);
                ends[block] += 1;
            }
            at = end;
        }
        self.coset.fill(&mut numbers, rng);
        Used { ends, places, numbers }
    }
}

impl Output {
    /// The leaves of trees.
    fn new(trees: &[Vec<Leaf>], of_values: u64) -> Self {
        let mut output = Self::default();
        output.trees = trees.len();
        for (tree, leaf) in trees
            .iter()
            .enumerate()
            .flat_map(|(tree, leaves)| leaves.iter().map(move |x| (tree, x)))
        {
            let first = output.conditions.len();
            for condition in &leaf.conditions {
                let begin = output.terms.len();
                let mask = |bit: bool| u64::from(bit).wrapping_neg();
                output.terms.extend(condition.terms.iter().map(|&(edge, less)| (edge, mask(less))));
                let terms = [begin, output.terms.len()];
                output.conditions.push(FlatCondition { constant: mask(condition.constant), terms });
            }
            let residue = |x: i64| x.rem_euclid(of_values as i64) as u64;
            let conditions = [first, output.conditions.len()];
            let first = output.slopes.len();
            output.slopes.extend(leaf.slopes.iter().map(|&(edge, slope)| (edge, residue(slope))));
            let slopes = [first, output.slopes.len()];
            output.leaves.push(FlatLeaf { tree, value: residue(leaf.value), conditions, slopes });
        }
        output
    }
}

impl Used {
    /// Puts the numbers of a ciphertext in their places.
    fn set(&self, block: usize, polynomial: &mut [i64]) {
        let first = block.checked_sub(1).map_or(0, |before| self.ends[before]);
        let own = first..self.ends[block];
        for (&place, &number) in self.places[own.clone()].iter().zip(&self.numbers[own]) {
            polynomial[place] = number;
        }
    }
}

vectorised! {
    /// Quotients times the modulus, which is below 2^31.
    fn multiples(polynomial: &mut [i64], quotients: &[i16], t: u64) {
        let t = t as i32;
        for (x, &quotient) in polynomial.iter_mut().zip(quotients) {
            *x = i64::from(i32::from(quotient)) * i64::from(t);
        }
    }
}

impl Leaf {
    fn edges(&self) -> impl Iterator<Item = u32> + '_ {
        let terms = self.conditions.iter().flat_map(|condition| &condition.terms);
        terms.map(|&(edge, _)| edge).chain(self.slopes.iter().map(|&(edge, _)| edge))
    }
}

/// Any order, each with the same probability (Fisher and Yates).
fn shuffle<T>(items: &mut [T], rng: &mut impl CryptoRng) {
    for last in (1..items.len()).rev() {
        let mut at = [0u64];
        fill_uniform_row(&mut at, last as u64 + 1, rng);
        items.swap(last, at[0] as usize);
    }
}
