use hesc_math::AesCtrRng;
use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{PublicKey, Scratch, SecretKey};
use rand_core::{Rng as _, SeedableRng};

use super::sizes::MULTIPLIER;
use super::wire::{Answer, Purpose, answer_from_bytes, answer_to_bytes, query_from_bytes};
use super::*;
use crate::plans::PlanError;

/// Complete trees of random splits over edges, and their sums in the clear.
pub(super) struct Forest {
    pub outputs: Vec<Vec<Vec<Leaf>>>,
}

fn below(rng: &mut AesCtrRng, bound: usize) -> usize {
    rng.next_u64() as usize % bound
}

/// A tree of this depth: at each node an edge that its path has not seen.
fn tree(depth: usize, edges: usize, reach: u64, rng: &mut AesCtrRng) -> Vec<Leaf> {
    let mut leaves = vec![vec![]];
    for _ in 0..depth {
        let mut next = vec![];
        for path in leaves {
            let free = |edge: &usize| path.iter().all(|&(other, _): &(usize, bool)| other != *edge);
            let Some(edge) = (0..8).map(|_| below(rng, edges)).find(free) else {
                next.push(path);
                continue;
            };
            for right in [false, true] {
                next.push([path.as_slice(), &[(edge, right)]].concat());
            }
        }
        leaves = next;
    }
    let leaf = |path: Vec<(usize, bool)>| Leaf {
        value: (rng.next_u64() % (2 * reach + 1)) as i64 - reach as i64,
        conditions: path
            .into_iter()
            .map(|(edge, right)| Condition { constant: right, terms: vec![(edge as u32, right)] })
            .collect(),
        slopes: vec![],
    };
    leaves.into_iter().map(leaf).collect()
}

fn holds(condition: &Condition, bits: &[bool]) -> bool {
    let sum: i64 = condition
        .terms
        .iter()
        .map(|&(edge, negative)| i64::from(bits[edge as usize]) * if negative { -1 } else { 1 })
        .sum();
    i64::from(condition.constant) + sum == 0
}

impl Forest {
    pub fn new(shapes: &[(usize, usize)], edges: usize, value: u64, rng: &mut AesCtrRng) -> Self {
        let mut output = |&(trees, depth): &(usize, usize)| {
            (0..trees).map(|_| tree(depth, edges, value, rng)).collect()
        };
        Self { outputs: shapes.iter().map(&mut output).collect() }
    }

    pub fn declared(&self, edges: usize, value: u64) -> Declared {
        let shape = |trees: &Vec<Vec<Leaf>>| Shape {
            trees: trees.len() as u32,
            leaves: trees.iter().map(Vec::len).sum::<usize>() as u32,
        };
        let leaves = || self.outputs.iter().flatten().flatten();
        Declared {
            edges: edges as u32,
            outputs: self.outputs.iter().map(shape).collect(),
            most_conditions: leaves().map(|leaf| leaf.conditions.len()).max().unwrap_or(0) as u32,
            reach: value * self.outputs.iter().map(Vec::len).max().unwrap_or(0) as u64,
        }
    }

    pub fn scores(&self, bits: &[bool]) -> Vec<i64> {
        let reached = |leaf: &&Leaf| leaf.conditions.iter().all(|x| holds(x, bits));
        let sum = |trees: &Vec<Vec<Leaf>>| {
            trees.iter().flatten().filter(reached).map(|leaf| leaf.value).sum()
        };
        self.outputs.iter().map(sum).collect()
    }
}

pub(super) fn bits(edges: usize, rng: &mut AesCtrRng) -> Vec<bool> {
    (0..edges).map(|_| rng.next_u64() & 1 == 1).collect()
}

pub(super) fn keys(plan: &Plan, rng: &mut AesCtrRng) -> (SecretKey, PublicKey) {
    plan.products().scheme().generate_keys(rng)
}

/// The sums of the values reached, of forests of several shapes and all sizes of sets.
#[test]
fn scores_are_those_of_the_trees() {
    let rng = &mut AesCtrRng::from_seed([1; 32]);
    for (shapes, edges, value) in [
        (&[(1, 0)][..], 1, 5),
        (&[(1, 1), (2, 0)], 3, 0),
        (&[(3, 3), (1, 5), (2, 2)], 40, 1000),
        (&[(30, 4)], 212, 2000),
        (&[(2, 7)], 3000, 1 << 20),
    ] {
        let forest = Forest::new(shapes, edges, value, rng);
        let plan = Plan::new(forest.declared(edges, value)).unwrap();
        let again = Plan::from_bytes(&plan.to_bytes()).unwrap();
        assert_eq!(again.to_bytes(), plan.to_bytes());
        let model = Model::new(&again, forest.outputs.clone()).unwrap();
        let (secret, public) = keys(&plan, rng);
        for _ in 0..6 {
            let bits = bits(edges, rng);
            let query = encrypt(&plan, &secret, &bits, rng).unwrap();
            let answer = model.answer(&query, &public, rng).unwrap();
            assert_eq!((query.len(), answer.len()), (query_bytes(&plan), answer_bytes(&plan)));
            assert_eq!(decrypt(&plan, &secret, &answer).unwrap(), forest.scores(&bits));
        }
    }
}

/// A number of each leaf, and by how much its phase is off, in units of the distance to the next number.
pub(super) fn numbers(plan: &Plan, secret: &SecretKey, answer: &[u8]) -> Vec<(u64, f64)> {
    let (sizes, (_, _, t)) = (plan.sizes(), plan.plain_moduli());
    let (_, Answer { c_1, numbers, .. }) =
        answer_from_bytes(plan, Purpose::Sample, answer).unwrap();
    let n = sizes.ring_degree;
    let mut found = vec![];
    for (c_1, c_0) in c_1.chunks_exact(n).zip(numbers.chunks(sizes.rows)) {
        let mask = plan.products().unmask_bits(secret, c_1, sizes.bits).unwrap();
        for (row, &c_0) in c_0.iter().enumerate() {
            let place = row * sizes.width + sizes.width - 1;
            let c_0 = i128::from(c_0) << (sizes.bits - sizes.number_bits);
            let phase = (mask[place] + c_0).rem_euclid(1 << sizes.bits);
            let exact = phase as f64 * t as f64 / f64::from(sizes.bits).exp2();
            found.push((exact.round() as u64 % t, exact - exact.round()));
        }
    }
    found
}

/// How far a chi-square of counts that should be alike is from its mean, in deviations (Wilson and Hilferty).
pub(super) fn unevenness(counts: &[f64]) -> f64 {
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    let square: f64 = counts.iter().map(|x| (x - mean).powi(2) / mean).sum();
    let freedom = counts.len() as f64 - 1.0;
    let deviation = (2.0 / (9.0 * freedom)).sqrt();
    ((square / freedom).cbrt() - (1.0 - deviation * deviation)) / deviation
}

/// What a client finds: zeros at uniform places, whatever leaf is reached and whatever the places of the query before; of leaves
/// that are not reached numbers that are uniform, but for zero, modulo one prime, and uniform modulo the other. Errors
/// have the deviation of the law. A true model fails once in 10^8.
#[test]
fn answers_are_uniform_beside_the_score() {
    let rng = &mut AesCtrRng::from_seed([2; 32]);
    let (edges, value) = (100, 500);
    let forest = Forest::new(&[(40, 4)], edges, value, rng);
    let plan = Plan::new(forest.declared(edges, value)).unwrap();
    let model = Model::new(&plan, forest.outputs.clone()).unwrap();
    let (secret, public) = keys(&plan, rng);
    let (of_costs, of_values, t) = plan.plain_moduli();
    let bits = bits(edges, rng);
    let leaves = plan.declared().leaves();
    let (mut places, mut costs) = (vec![0.0; 16], vec![0.0; of_costs as usize - 1]);
    let (mut values, mut masked, mut both) = (vec![0.0; 16], vec![0.0; 16], vec![0.0; 4]);
    let (mut squares, mut count) = (0.0, 0.0);
    let mut before = vec![false; leaves];
    for _ in 0..150 {
        let query = encrypt(&plan, &secret, &bits, rng).unwrap();
        let answer = model.answer(&query, &public, rng).unwrap();
        let numbers = numbers(&plan, &secret, &answer);
        for (place, &(number, off)) in numbers.iter().enumerate() {
            let (cost, value) = (number % of_costs, number % of_values);
            let share = (16 * value / of_values) as usize;
            if cost == 0 {
                places[16 * place / leaves] += 1.0;
                masked[share] += 1.0;
            } else {
                costs[cost as usize - 1] += 1.0;
                values[share] += 1.0;
            }
            let reached = cost == 0;
            both[usize::from(reached) + 2 * usize::from(before[place])] += 1.0;
            before[place] = reached;
            squares += off * off;
            count += 1.0;
        }
    }
    let sizes: Vec<f64> =
        (0..16).map(|bin| (0..leaves).filter(|x| 16 * x / leaves == bin).count() as f64).collect();
    let even: Vec<f64> = places
        .iter()
        .zip(&sizes)
        .map(|(found, size)| found * leaves as f64 / (16.0 * size))
        .collect();
    for (what, counts) in
        [("places", &even), ("costs", &costs), ("values", &values), ("masks", &masked)]
    {
        assert!(unevenness(counts) < 6.0, "{what}: {counts:?}");
    }
    // Reached again as often as chance has it.
    let share = 40.0 / leaves as f64;
    let again = 40.0 * 149.0 * share;
    assert!((both[3] - again).abs() < 6.0 * again.sqrt(), "{both:?} {again}");
    // Of the query's error, of what is added, and of rounding: in the mean.
    let sizes = plan.sizes();
    let q: f64 = plan.products().moduli().map(|q| q as f64).product();
    let query =
        3.24037 * MULTIPLIER * ((sizes.blocks * sizes.ring_degree) as f64).sqrt() * t as f64;
    let unit = |bits: u32| (f64::from(bits).exp2() * 12f64.sqrt()).recip();
    let second = (2.0 / 3.0 * sizes.ring_degree as f64).sqrt() * unit(sizes.bits);
    let rounding = second.hypot(unit(sizes.number_bits));
    let law = (query.hypot(sizes.deviation) / q).hypot(rounding) * t as f64;
    let found = (squares / count).sqrt();
    assert!((found / law - 1.0).abs() < 0.05, "{found} of {law}");
}

/// Which bit a leaf looks at is read off an answer whose multipliers are the numbers drawn alone, by the error of the query that
/// the client knows: error over multiplier is the error of that bit. Gaussian multipliers and noise leave chance.
#[test]
fn errors_tell_which_bits_are_looked_at_unless_they_are_hidden() {
    let rng = &mut AesCtrRng::from_seed([3; 32]);
    let edges = 60;
    let declared = Declared {
        edges: edges as u32,
        outputs: vec![Shape { trees: 1, leaves: 2 }],
        most_conditions: 1,
        // Large beside the noise of the encryption of zero.
        reach: 1 << 16,
    };
    let plan = Plan::new(declared).unwrap();
    let (products, sizes, (_, _, t)) = (plan.products(), plan.sizes(), plan.plain_moduli());
    assert_eq!(sizes.blocks, 1);
    let (secret, public) = keys(&plan, rng);
    let n = sizes.ring_degree;
    let q: f64 = products.moduli().map(|q| q as f64).product();
    let looked_at = 17;
    let condition =
        |negative| Condition { constant: negative, terms: vec![(looked_at as u32, negative)] };
    let leaves = [false, true].map(|negative| Leaf {
        value: 5,
        conditions: vec![condition(negative)],
        slopes: vec![],
    });
    let model = Model::new(&plan, vec![vec![leaves.to_vec()]]).unwrap();
    let (mut plain, mut hidden, mut chance) = (0, 0, 0.0);
    let count = 60;
    for _ in 0..count {
        let query = encrypt(&plan, &secret, &[false; 60], rng).unwrap();
        let (_, words) = query_from_bytes(&plan, Purpose::Sample, &query).unwrap();
        // The error: the phase of bits that are zero.
        let mut c_1 = vec![0; products.words()];
        products.uniform(words.seeds[0], &mut c_1);
        products.inverse(&mut c_1);
        products.unmask(&secret, &mut c_1).unwrap();
        let errors = products.centred_sums(&words.words, &c_1);
        let errors: Vec<i64> = errors.iter().map(|&e| e as i64).collect();
        assert!(errors.iter().all(|e| e.abs() <= 21));
        chance += errors[..edges].iter().filter(|&&e| e == errors[looked_at]).count() as f64
            / edges as f64;
        // A multiplier at one place: the error is its product with the error of that bit, and of the mask.
        let class = 1 + rng.next_u64() as i64 % (t as i64 - 1);
        let place = sizes.width - 1;
        let mut polynomial = vec![0; n];
        polynomial[place - looked_at] = class.abs();
        let sums = products.blinded_sums();
        let factors = sums.factors(&public, &[words.seeds[0]], &words.words).unwrap();
        let (mut c_0, mut c_1) = (vec![0; products.words()], vec![0; products.words()]);
        let given = |_: usize, out: &mut [i64], _: &mut AesCtrRng| out.copy_from_slice(&polynomial);
        let scratch = &mut Scratch::default();
        sums.compute(&factors, given, [&mut c_0, &mut c_1], scratch, rng).unwrap();
        products.unmask(&secret, &mut c_1).unwrap();
        let error = products.centred_sums(&c_0, &c_1)[place] as f64;
        plain += i32::from((error / class.abs() as f64).round() as i64 == errors[looked_at]);
        // The model's own answer: the number of the leaf that is not reached is its multiplier plus what is known.
        let answer = model.answer(&query, &public, rng).unwrap();
        for (number, off) in numbers(&plan, &secret, &answer) {
            let multiplier = if number > t / 2 { number as f64 - t as f64 } else { number as f64 };
            let guess = off * q / t as f64 / multiplier;
            hidden += i32::from(guess.round() as i64 == errors[looked_at]);
        }
    }
    assert!(plain >= count * 9 / 10, "{plain} of {count}");
    // Two numbers an answer, each right by chance at most: errors are spread far beyond those of a bit.
    let most = 2.0 * chance;
    assert!(f64::from(hidden) < most + 6.0 * most.sqrt(), "{hidden}, by chance {most}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let rng = &mut AesCtrRng::from_seed([4; 32]);
    let forest = Forest::new(&[(3, 2), (1, 1)], 20, 100, rng);
    let declared = forest.declared(20, 100);
    let plan = Plan::new(declared.clone()).unwrap();
    let other = Plan::new(Declared { edges: 21, ..declared.clone() }).unwrap();
    let (secret, public) = keys(&plan, rng);
    let model = Model::new(&plan, forest.outputs.clone()).unwrap();
    for lie in [
        Declared { edges: 0, ..declared.clone() },
        Declared { edges: 1 << 20, ..declared.clone() },
        Declared { outputs: vec![], ..declared.clone() },
        Declared { outputs: vec![Shape { trees: 2, leaves: 1 }], ..declared.clone() },
        Declared { outputs: vec![Shape { trees: 1, leaves: 1 << 21 }], ..declared.clone() },
        Declared { most_conditions: 1 << 11, ..declared.clone() },
        Declared { reach: 1 << 30, ..declared.clone() },
        Declared { reach: u64::MAX, ..declared.clone() },
    ] {
        let refused = Plan::new(lie).err();
        assert!(matches!(refused, Some(PlanError::Declared { .. })), "{refused:?}");
    }
    // Another number of trees, more conditions, larger values, edges that are not there, and twice.
    let edited = |edit: fn(&mut Vec<Vec<Vec<Leaf>>>)| {
        let mut outputs = forest.outputs.clone();
        edit(&mut outputs);
        Model::new(&plan, outputs).err()
    };
    let twice = |leaf: &mut Leaf| {
        let first = leaf.conditions[0].clone();
        leaf.conditions[1] = first;
    };
    assert!(matches!(edited(|x| _ = x.pop()), Some(PlanError::Count { .. })));
    assert!(matches!(edited(|x| _ = x[0].pop()), Some(PlanError::Count { .. })));
    assert!(matches!(edited(|x| _ = x[0][0].pop()), Some(PlanError::Count { .. })));
    assert!(matches!(edited(|x| x[0][0][0].value = 1000), Some(PlanError::Weights { .. })));
    assert!(matches!(edited(|x| x[0][0][0].value = i64::MIN), Some(PlanError::Weights { .. })));
    assert!(matches!(
        edited(|x| x[0][0][0].conditions[0].terms[0].0 = 20),
        Some(PlanError::Weights { .. })
    ));
    let mut outputs = forest.outputs.clone();
    twice(&mut outputs[0][0][0]);
    assert!(matches!(Model::new(&plan, outputs), Err(PlanError::Weights { .. })));
    // Bits, keys, plans.
    let bits = bits(20, rng);
    assert!(matches!(encrypt(&plan, &secret, &bits[1..], rng), Err(PlanError::Count { .. })));
    let query = encrypt(&plan, &secret, &bits, rng).unwrap();
    let answer = model.answer(&query, &public, rng).unwrap();
    let (stranger, of_stranger) = keys(&plan, rng);
    let scheme = |error: PlanError| match error {
        PlanError::Scheme(error) => error,
        other => panic!("{other}"),
    };
    let refused = scheme(model.answer(&query, &of_stranger, rng).unwrap_err());
    assert!(matches!(refused, SchemeError::KeyMismatch { .. }));
    let refused = scheme(decrypt(&plan, &stranger, &answer).unwrap_err());
    assert!(matches!(refused, SchemeError::KeyMismatch { .. }));
    let refused = scheme(decrypt(&other, &secret, &answer).unwrap_err());
    assert!(matches!(refused, SchemeError::ParameterMismatch { .. }), "{refused}");
    let of_other = encrypt(&other, &secret, &[true; 21], rng).unwrap();
    let refused = scheme(model.answer(&of_other, &public, rng).unwrap_err());
    assert!(matches!(refused, SchemeError::ParameterMismatch { .. }), "{refused}");
    // Any byte changed, any length: refused by the frame.
    for at in (0..query.len()).step_by(query.len() / 50) {
        let mut lie = query.clone();
        lie[at] ^= 1;
        assert!(model.answer(&lie, &public, rng).is_err());
        assert!(model.answer(&query[..at], &public, rng).is_err());
    }
    // Well-formed answers of other numbers: not as many leaves reached as there are trees.
    let (key, mut lie) = answer_from_bytes(&plan, Purpose::Sample, &answer).unwrap();
    lie.c_1.iter_mut().for_each(|word| *word ^= rng.next_u64() & 0xFF00);
    let refused = scheme(
        decrypt(&plan, &secret, &answer_to_bytes(&plan, Purpose::Sample, key, &lie)).unwrap_err(),
    );
    assert!(matches!(refused, SchemeError::NoiseTooLarge), "{refused}");
    let bytes = plan.to_bytes();
    for at in 0..bytes.len() {
        let mut lie = bytes.clone();
        lie[at] ^= 0x10;
        assert!(Plan::from_bytes(&lie).is_err(), "{at}");
    }
}
