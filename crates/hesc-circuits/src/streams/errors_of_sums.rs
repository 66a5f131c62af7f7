//! Errors of weighted sums of products that may share streams.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use hesc_stochastic::{ErrorLaw, Factor, Representation, UNKNOWN_ROW, joint_prefix};

use super::factors::{factors_of, pieces_of};
use super::plan::Plan;

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

/// Terms that are pieces of one product of streams and weigh the same: what one misses another has, so
/// that they are read together. Mostly a group is one whole stream.
struct Group {
    terms: Vec<usize>,
    law: ErrorLaw,
    /// Where the value of each factor is seen; empty if not of all.
    factors: Vec<Seen>,
}

/// Where the value of a factor is seen.
#[derive(Clone, Copy)]
enum Seen {
    /// A group is this factor alone.
    Group(usize),
    /// A pair of groups of which one has this factor besides those of the other.
    Pair { pair: usize, other: usize },
}

/// Why the errors of two groups are dependent.
enum Dependence {
    /// They are parts of the same streams, and what these err together was measured.
    Together(Box<ErrorLaw>),
    /// They are parts of the same streams, which are arranged at random or selected.
    Arranged(Box<Arranged>),
    /// They share streams.
    Shared(Box<Shared>),
    /// A prefix of a jointly encoded product and the next.
    Neighbours,
}

/// Two parts of the same streams.
struct Arranged {
    laws: [ErrorLaw; 2],
    /// Positions of both.
    common: usize,
}

/// What two groups have in common.
struct Shared {
    /// The laws of the streams that both have, where each shows them.
    laws: [ErrorLaw; 2],
    /// Where the values of these streams are seen; empty if not of all.
    factors: Vec<Seen>,
    /// Terms of each that show the same positions.
    terms: Vec<(usize, usize)>,
}

/// For each term of an element, the first that weighs the same; empty for streams that were not cut.
type Alike = Vec<u32>;

/// What the errors of an element depend on besides the values.
struct Structure {
    groups: Vec<Group>,
    pairs: Vec<(usize, usize, Dependence)>,
    /// Whether there are more pairs than are looked at.
    crowded: bool,
}

/// A group as it was read.
struct Mean {
    value: f64,
    weight: f64,
    merged: f64,
}

/// Finds the errors of the elements of an answer.
pub(crate) struct Errors<'a> {
    plan: &'a Plan,
    known: HashMap<(&'a [u32], Alike), Rc<Structure>>,
    budget: u64,
}

impl<'a> Errors<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        Self { plan, known: HashMap::new(), budget: BUDGET }
    }

    /// The standard error of an element whose terms were read as these.
    pub fn of_element(&mut self, element: usize, terms: &[Reading]) -> f64 {
        // Squares of very small weights would be lost.
        let unit = terms.iter().fold(0f64, |unit, term| unit.max(term.weight.abs()));
        if unit == 0.0 {
            return 0.0;
        }
        unit * self.variance(element, terms, unit).sqrt()
    }

    /// The variance in units of a weight.
    fn variance(&mut self, element: usize, terms: &[Reading], unit: f64) -> f64 {
        let structure = self.structure(element, terms);
        let (mut own, mut bias, mut coherent) = (0.0, 0.0, 0.0);
        let mut means = Vec::with_capacity(structure.groups.len());
        for group in &structure.groups {
            means.push(Mean::of(group, terms, unit));
        }
        let products = self.products(&structure, terms);
        let values = |seen: &[Seen]| -> Vec<f64> {
            seen.iter().map(|seen| self.seen(*seen, &means, &products)).collect()
        };
        let knowing = |(group, mean): (&Group, &Mean)| {
            mean.law(group).variance_of_estimate(mean.value, &values(&group.factors))
        };
        let variances: Vec<f64> = structure.groups.iter().zip(&means).map(knowing).collect();
        for ((group, mean), variance) in structure.groups.iter().zip(&means).zip(&variances) {
            own += mean.weight.powi(2) * mean.merged * variance;
            coherent += mean.weight.abs() * mean.merged * variance.sqrt();
            bias += mean.weight * mean.merged * mean.law(group).bias(mean.value);
        }
        if structure.crowded {
            return coherent.powi(2) + bias.powi(2);
        }
        let mut total = own;
        for ((i, j, dependence), product) in structure.pairs.iter().zip(&products) {
            let (a, b) = (&means[*i], &means[*j]);
            // What merged cannot be taken apart; its streams are of different rows.
            if a.merged > 1.0 || b.merged > 1.0 {
                continue;
            }
            let between = || f64::midpoint(a.value, b.value);
            let factors = || values(&structure.groups[*i].factors);
            let covariance = match dependence {
                Dependence::Neighbours => -0.5 * (variances[*i] * variances[*j]).sqrt(),
                Dependence::Together(law) => law.variance_knowing(between(), &factors()),
                Dependence::Arranged(arranged) => {
                    let [of_a, of_b] = &arranged.laws;
                    of_a.covariance(of_b, arranged.common, between(), &factors())
                }
                Dependence::Shared(shared) => {
                    self.covariance((a, b), *product, shared, &values(&shared.factors))
                }
            };
            total += 2.0 * a.weight * b.weight * covariance;
        }
        total.max(LEAST_SHARE * own) + bias.powi(2)
    }

    /// The value of the product of the bits of each pair of groups, in which shared streams cancel
    /// (inverted bipolar) or count once (unipolar).
    fn products(&self, structure: &Structure, terms: &[Reading]) -> Vec<f64> {
        let product = |(_, _, dependence): &(usize, usize, Dependence)| {
            let Dependence::Shared(shared) = dependence else { return 0.0 };
            let pairs = shared.terms.iter().map(|&(i, j)| terms[i].bits.iter().zip(&terms[j].bits));
            let ones: u32 = match self.plan.representation {
                Representation::InvertedBipolar => {
                    pairs.flatten().map(|(a, b)| (a ^ b).count_ones()).sum()
                }
                Representation::Unipolar => {
                    pairs.flatten().map(|(a, b)| (a & b).count_ones()).sum()
                }
            };
            self.plan.representation.value(f64::from(ones) / self.positions(shared) as f64)
        };
        structure.pairs.iter().map(product).collect()
    }

    /// Positions that both groups show.
    fn positions(&self, shared: &Shared) -> usize {
        shared.terms.len() * self.plan.stream_length
    }

    /// The value of a factor.
    fn seen(&self, seen: Seen, means: &[Mean], products: &[f64]) -> f64 {
        match seen {
            Seen::Group(group) => means[group].value,
            Seen::Pair { pair, other } => match self.plan.representation {
                Representation::InvertedBipolar => products[pair],
                Representation::Unipolar if means[other].value > 0.0 => {
                    (products[pair] / means[other].value).min(1.0)
                }
                Representation::Unipolar => 0.0,
            },
        }
    }

    /// The covariance of two products that share streams, whose bits have this product.
    fn covariance(&self, (a, b): (&Mean, &Mean), product: f64, shared: &Shared, of: &[f64]) -> f64 {
        let common = self.positions(shared);
        let both = a.value * b.value;
        let [law, other] = &shared.laws;
        if law.is_binomial() {
            return (product - both) * law.overlap(other, common);
        }
        if product == 0.0 || both == 0.0 {
            return 0.0;
        }
        // What is not shared, and what is.
        let (apart, value) = match self.plan.representation {
            Representation::InvertedBipolar => (product, (both / product).clamp(0.0, 1.0).sqrt()),
            Representation::Unipolar => (product * product / both, (both / product).min(1.0)),
        };
        apart * law.covariance(other, common, value, of)
    }

    /// The structure of an element, found once for all elements of its pattern.
    fn structure(&mut self, element: usize, terms: &[Reading]) -> Rc<Structure> {
        let plan = self.plan;
        let (rows, size) = (plan.factors.rows(), terms.len() * plan.origins.len());
        let rows = if rows.len() == size { rows } else { &rows[element * size..][..size] };
        let alike = if plan.pieces() == 1 { Alike::new() } else { alike(terms) };
        let known = self.known.entry((rows, alike));
        let new = |(rows, alike): &(&[u32], Alike)| {
            Rc::new(Structure::new(plan, rows, alike, &mut self.budget))
        };
        Rc::clone(known.or_insert_with_key(new))
    }
}

fn alike(terms: &[Reading]) -> Alike {
    let mut first = HashMap::new();
    let of_term = |(term, number): (&Reading, u32)| {
        *first.entry((term.weight.to_bits(), term.merged.to_bits())).or_insert(number)
    };
    terms.iter().zip(0..).map(of_term).collect()
}

impl Mean {
    /// The mean of a group's terms. Its weight is theirs together, in units of one.
    fn of(group: &Group, terms: &[Reading], unit: f64) -> Self {
        let of_group = || group.terms.iter().map(|&term| &terms[term]);
        let value = of_group().map(|term| term.value).sum::<f64>() / group.terms.len() as f64;
        Self {
            value,
            weight: of_group().map(|term| term.weight / unit).sum(),
            merged: terms[group.terms[0]].merged,
        }
    }

    /// The law of what was read.
    fn law<'a>(&self, group: &'a Group) -> Cow<'a, ErrorLaw> {
        if self.merged > 1.0 { Cow::Owned(group.law.merged()) } else { Cow::Borrowed(&group.law) }
    }
}

/// Pieces of a product that show different positions and weigh the same.
struct Pieces {
    factors: Vec<Factor>,
    /// Terms by piece; `None` if it is not told which piece a term is.
    terms: Vec<(Option<u32>, usize)>,
}

impl Pieces {
    /// The terms of an element, those of one product and weight together.
    fn of(plan: &Plan, rows: &[u32], alike: &[u32]) -> Vec<Self> {
        let pieces = plan.pieces();
        let mut found: Vec<Self> = Vec::new();
        let mut known: HashMap<(Vec<u32>, u32), Vec<usize>> = HashMap::new();
        for (term, rows) in rows.chunks_exact(plan.origins.len()).enumerate() {
            let told = if pieces == 1 { None } else { pieces_of(rows, pieces) };
            let Some((streams, piece)) = told else {
                let factors = factors_of(&plan.origins, rows);
                let piece = (pieces == 1).then_some(0);
                found.push(Self { factors, terms: vec![(piece, term)] });
                continue;
            };
            let factors = factors_of(&plan.origins, &streams);
            let groups = known.entry((streams, alike[term])).or_default();
            // A piece that is there twice belongs to two of them.
            let free = |group: &&usize| found[**group].terms.iter().all(|of| of.0 != Some(piece));
            if let Some(&group) = groups.iter().find(free) {
                found[group].terms.push((Some(piece), term));
            } else {
                groups.push(found.len());
                found.push(Self { factors, terms: vec![(Some(piece), term)] });
            }
        }
        found.iter_mut().for_each(|group| group.terms.sort_unstable());
        found
    }

    /// Whether it is told which pieces these are.
    fn is_told(&self) -> bool {
        self.terms[0].0.is_some()
    }

    /// The law of some factors where these pieces show them.
    fn law(&self, plan: &Plan, factors: &[Factor], budget: &mut u64) -> ErrorLaw {
        let (encoded, length) = (plan.encoded_length, plan.stream_length);
        if plan.pieces() == 1 || !self.is_told() {
            return ErrorLaw::within(budget, factors, plan.representation, encoded, length);
        }
        ErrorLaw::of_part(budget, factors, plan.representation, encoded, &self.part(plan))
    }

    /// The positions that these pieces show.
    fn part(&self, plan: &Plan) -> Vec<Range<usize>> {
        let length = plan.stream_length;
        let mut part: Vec<Range<usize>> = Vec::new();
        for piece in self.terms.iter().filter_map(|(piece, _)| *piece) {
            let start = piece as usize * length;
            match part.last_mut() {
                Some(run) if run.end == start => run.end += length,
                _ => part.push(start..start + length),
            }
        }
        part
    }

    /// The terms of the two that show the same pieces.
    fn common(&self, other: &Self) -> Vec<(usize, usize)> {
        let same = |(piece, term): &(Option<u32>, usize)| {
            let at = other.terms.binary_search_by_key(piece, |of| of.0).ok()?;
            piece.map(|_| (*term, other.terms[at].1))
        };
        self.terms.iter().filter_map(same).collect()
    }
}

impl Structure {
    fn new(plan: &Plan, rows: &[u32], alike: &[u32], budget: &mut u64) -> Self {
        let all = Pieces::of(plan, rows, alike);
        let group = |of: &Pieces| {
            let terms = of.terms.iter().map(|(_, term)| *term).collect();
            Group { terms, law: of.law(plan, &of.factors, budget), factors: Vec::new() }
        };
        let mut groups: Vec<Group> = all.iter().map(group).collect();

        let mut holders: HashMap<Factor, Vec<usize>> = HashMap::new();
        for (i, group) in all.iter().enumerate() {
            for factor in group.factors.iter().filter(|factor| factor.row != UNKNOWN_ROW) {
                holders.entry(*factor).or_default().push(i);
            }
        }
        let count = |holders: &Vec<usize>| holders.len() * (holders.len() - 1) / 2;
        if holders.values().map(count).sum::<usize>() > MOST_PAIRS {
            return Self { groups, pairs: Vec::new(), crowded: true };
        }
        let mut found = HashSet::new();
        for holders in holders.values() {
            for (k, &j) in holders.iter().enumerate() {
                found.extend(holders[..k].iter().map(|&i| (i, j)));
            }
        }
        let mut found: Vec<(usize, usize)> = found.into_iter().collect();
        found.sort_unstable();
        let whole = |group: &Pieces| group.terms.len() == plan.pieces();
        let dependence = |(i, j): (usize, usize)| {
            let (a, b) = (&all[i], &all[j]);
            if whole(a)
                && whole(b)
                && let (Some(a), Some(b)) = (joint_prefix(&a.factors), joint_prefix(&b.factors))
            {
                match a.abs_diff(b) {
                    0 => {}
                    1 => return Some((i, j, Dependence::Neighbours)),
                    _ => return None,
                }
            }
            // Prefixes of a jointly encoded product err next to nothing, whatever their factors err.
            let prefix = |of: &Pieces| joint_prefix(&of.factors).is_some_and(|factors| factors > 1);
            if prefix(a) != prefix(b) && whole(a) && whole(b) {
                return None;
            }
            let terms = a.common(b);
            // Pieces of one sequence make up for each other; independent bits know nothing of others.
            if a.factors == b.factors && a.is_told() && b.is_told() && !groups[i].law.is_binomial()
            {
                let together = ErrorLaw::between_parts(
                    budget,
                    &a.factors,
                    plan.representation,
                    plan.encoded_length,
                    [&a.part(plan), &b.part(plan)],
                );
                let arranged = || {
                    let laws = [groups[i].law.clone(), groups[j].law.clone()];
                    let common = terms.len() * plan.stream_length;
                    Dependence::Arranged(Box::new(Arranged { laws, common }))
                };
                let dependence =
                    together.map_or_else(arranged, |law| Dependence::Together(Box::new(law)));
                return Some((i, j, dependence));
            }
            if terms.is_empty() {
                return None;
            }
            let both = a.factors.iter().filter(|factor| b.factors.contains(factor));
            let both: Vec<Factor> = both.copied().collect();
            let laws = [a.law(plan, &both, budget), b.law(plan, &both, budget)];
            let factors = Vec::new();
            Some((i, j, Dependence::Shared(Box::new(Shared { laws, factors, terms }))))
        };
        let mut pairs: Vec<_> = found.into_iter().filter_map(dependence).collect();
        let seen = seen_factors(&all, &pairs);
        let where_seen = |factors: &[Factor]| -> Vec<Seen> {
            let all: Option<Vec<Seen>> = factors.iter().map(|f| seen.get(f).copied()).collect();
            all.unwrap_or_default()
        };
        for (group, of) in groups.iter_mut().zip(&all).filter(|(_, of)| of.factors.len() > 1) {
            group.factors = where_seen(&of.factors);
        }
        for (i, j, dependence) in &mut pairs {
            if let Dependence::Shared(shared) = dependence {
                let both = all[*i].factors.iter().filter(|f| all[*j].factors.contains(f));
                let both: Vec<Factor> = both.copied().collect();
                if both.len() > 1 {
                    shared.factors = where_seen(&both);
                }
            }
        }
        Self { groups, pairs, crowded: false }
    }
}

/// Where the values of single factors can be seen: powers of one number show them all.
fn seen_factors(groups: &[Pieces], pairs: &[(usize, usize, Dependence)]) -> HashMap<Factor, Seen> {
    let mut seen = HashMap::new();
    for (pair, (i, j, dependence)) in pairs.iter().enumerate() {
        if !matches!(dependence, Dependence::Shared(_)) {
            continue;
        }
        for (long, short) in [(*i, *j), (*j, *i)] {
            let (more, less) = (&groups[long].factors, &groups[short].factors);
            let mut new = more.iter().filter(|factor| !less.contains(factor));
            if more.len() == less.len() + 1
                && let (Some(factor), None) = (new.next(), new.next())
            {
                seen.insert(*factor, Seen::Pair { pair, other: short });
            }
        }
    }
    for (number, group) in groups.iter().enumerate() {
        if let [factor] = group.factors[..] {
            seen.insert(factor, Seen::Group(number));
        }
    }
    seen
}
