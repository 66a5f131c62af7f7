//! Answers of two models with the same public numbers and the same score are alike to a client, by tests that see slips.

use hesc_math::AesCtrRng;
use hesc_schemes::rlwe::{PublicKey, SecretKey};
use rand_core::{Rng as _, SeedableRng};

use super::tests::{keys, numbers};
use super::wire::{Purpose, query_from_bytes};
use super::*;

const EDGES: usize = 60;
const TREES: usize = 12;
const ANSWERS: usize = 500;
/// Deviations that a statistic of models that are alike is beyond once in 10^8.
const FAR: f64 = 6.0;

/// What a client counts over many answers to one sample.
struct Seen {
    costs: Vec<f64>,
    values: Vec<f64>,
    masked: Vec<f64>,
    places: Vec<f64>,
    /// Squares of what numbers are off by.
    squares: Vec<f64>,
    /// By how much larger the query's errors are at the first half of the edges than at the second.
    tilts: Vec<f64>,
}

/// Trees of four leaves over some edges: balanced, or a chain.
fn forest(edges: std::ops::Range<u32>, chain: bool, value: i64) -> Vec<Vec<Leaf>> {
    let condition =
        |edge: u32, right: bool| Condition { constant: right, terms: vec![(edge, right)] };
    (0..TREES as u32)
        .map(|tree| {
            let at = |i: u32| edges.start + (3 * tree + i) % (edges.end - edges.start);
            let (a, b, c) = (at(0), at(1), at(2));
            let paths = if chain {
                vec![
                    vec![(a, true)],
                    vec![(a, false), (b, true)],
                    vec![(a, false), (b, false), (c, true)],
                    vec![(a, false), (b, false), (c, false)],
                ]
            } else {
                vec![
                    vec![(a, true), (b, true)],
                    vec![(a, true), (b, false)],
                    vec![(a, false), (c, true)],
                    vec![(a, false), (c, false)],
                ]
            };
            let leaf = |path: Vec<(u32, bool)>| Leaf {
                value,
                conditions: path.into_iter().map(|(edge, right)| condition(edge, right)).collect(),
                slopes: vec![],
            };
            paths.into_iter().map(leaf).collect()
        })
        .collect()
}

/// The errors of a query's bits, which its client knows: phases less what is encrypted.
fn errors(plan: &Plan, secret: &SecretKey, query: &[u8], bits: &[bool]) -> Vec<f64> {
    let (products, (_, _, t)) = (plan.products(), plan.plain_moduli());
    let (_, mut words) = query_from_bytes(plan, Purpose::Sample, query).unwrap();
    let mut c_1 = vec![0; products.words()];
    products.uniform(words.seeds[0], &mut c_1);
    products.inverse(&mut c_1);
    products.unmask(secret, &mut c_1).unwrap();
    let none: Vec<u64> = bits.iter().map(|&bit| if bit { t - 1 } else { 0 }).collect();
    // Adding q (t - 1) / t to a one leaves its error, rounding apart.
    products.add_scaled(&mut words.words, &none, t);
    products.centred_sums(&words.words, &c_1)[..EDGES].iter().map(|&e| e as f64).collect()
}

fn seen(plan: &Plan, model: &Model, keys: &(SecretKey, PublicKey), rng: &mut AesCtrRng) -> Seen {
    let (of_costs, of_values, _) = plan.plain_moduli();
    let (secret, public) = keys;
    let bits: Vec<bool> = (0..EDGES).map(|edge| edge % 3 == 0).collect();
    let mut seen = Seen {
        costs: vec![0.0; of_costs as usize - 1],
        values: vec![0.0; 16],
        masked: vec![0.0; 16],
        places: vec![0.0; 4 * TREES],
        squares: vec![],
        tilts: vec![],
    };
    for _ in 0..ANSWERS {
        let query = encrypt(plan, secret, &bits, rng).unwrap();
        let errors = errors(plan, secret, &query, &bits);
        let tilt = tilt_of(&errors);
        let answer = model.answer(&query, public, rng).unwrap();
        let mut sum = 0.0;
        for (place, (number, off)) in numbers(plan, secret, &answer).into_iter().enumerate() {
            let (cost, share) =
                (number % of_costs, (16 * (number % of_values) / of_values) as usize);
            if cost == 0 {
                seen.places[place] += 1.0;
                seen.masked[share] += 1.0;
            } else {
                seen.costs[cost as usize - 1] += 1.0;
                seen.values[share] += 1.0;
            }
            sum += off * off;
        }
        seen.squares.push(sum);
        seen.tilts.push(tilt);
    }
    seen
}

/// By how much larger errors are at the first half of the edges.
fn tilt_of(errors: &[f64]) -> f64 {
    let signed = |(edge, e): (usize, &f64)| if edge < EDGES / 2 { e * e } else { -e * e };
    errors.iter().enumerate().map(signed).sum()
}

/// What squares of numbers' errors and tilts have in common.
fn products(squares: &[f64], tilts: &[f64]) -> Vec<f64> {
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    squares.iter().zip(tilts).map(|(square, tilt)| (square - mean) * tilt).collect()
}

/// How far two counts of equally many things are apart, in deviations (chi-square; Wilson and Hilferty).
fn counts_apart(a: &[f64], b: &[f64]) -> f64 {
    let pairs = a.iter().zip(b).filter(|(a, b)| **a + **b > 0.0);
    let square: f64 = pairs.clone().map(|(a, b)| (a - b).powi(2) / (a + b)).sum();
    let freedom = (pairs.count() as f64 - 1.0).max(1.0);
    let deviation = (2.0 / (9.0 * freedom)).sqrt();
    ((square / freedom).cbrt() - (1.0 - deviation * deviation)) / deviation
}

/// How far two means are apart, in deviations.
fn means_apart(a: &[f64], b: &[f64]) -> f64 {
    let moments = |x: &[f64]| {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64;
        (mean, variance / x.len() as f64)
    };
    let ((a, of_a), (b, of_b)) = (moments(a), moments(b));
    (a - b).abs() / (of_a + of_b).sqrt()
}

/// Balanced trees over one half of the edges and chains over the other, of other values and the same score.
#[test]
fn two_models_of_one_score_give_answers_that_are_alike() {
    let rng = &mut AesCtrRng::from_seed([31; 32]);
    let half = EDGES as u32 / 2;
    let declared = Declared {
        edges: EDGES as u32,
        outputs: vec![Shape { trees: TREES as u32, leaves: 4 * TREES as u32 }],
        most_conditions: 3,
        reach: 1 << 12,
    };
    let plan = Plan::new(declared).unwrap();
    assert_eq!(plan.ciphertexts().0, 1);
    let keys = keys(&plan, rng);
    let model = |outputs| Model::new(&plan, vec![outputs]).unwrap();
    // The last tree says what makes both scores 24.
    let with_last = |mut trees: Vec<Vec<Leaf>>, last: i64| {
        trees[TREES - 1].iter_mut().for_each(|leaf| leaf.value = last);
        trees
    };
    let first = model(with_last(forest(0..half, false, 2), 24 - 22));
    let second = model(with_last(forest(half..2 * half, true, -90), 24 + 990));
    let (a, b) = (seen(&plan, &first, &keys, rng), seen(&plan, &second, &keys, rng));
    for (what, apart) in [
        ("costs", counts_apart(&a.costs, &b.costs)),
        ("values", counts_apart(&a.values, &b.values)),
        ("masked", counts_apart(&a.masked, &b.masked)),
        ("places", counts_apart(&a.places, &b.places)),
        ("errors", means_apart(&a.squares, &b.squares)),
        (
            "errors by edges",
            means_apart(&products(&a.squares, &a.tilts), &products(&b.squares, &b.tilts)),
        ),
    ] {
        assert!(apart < FAR, "{what}: {apart}");
    }
}

/// The same statistics of what slips would show: multipliers that are zero where a leaf does not look, costs that are not masked,
/// leaves in the trees' order.
#[test]
fn slips_would_be_seen() {
    let rng = &mut AesCtrRng::from_seed([32; 32]);
    let mut normal =
        || (0..12).map(|_| (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0;
    // Of each leaf the sum of three errors times classes, at one half of the edges.
    let mut plain = |from: usize| -> Vec<f64> {
        let (mut squares, mut tilts) = (vec![], vec![]);
        for _ in 0..ANSWERS {
            let e: Vec<f64> = (0..EDGES).map(|_| 3.24 * normal()).collect();
            let mut leaf = |at: usize| {
                (0..3).map(|i| e[from + (3 * at + i) % (EDGES / 2)] * normal()).sum::<f64>()
            };
            squares.push((0..4 * TREES).map(|at| leaf(at).powi(2)).sum());
            tilts.push(tilt_of(&e));
        }
        products(&squares, &tilts)
    };
    let (a, b) = (plain(0), plain(EDGES / 2));
    assert!(means_apart(&a, &b) > FAR);
    // Costs as they are: a balanced tree has none of three, a chain has. Places of the first leaf of each tree.
    let n = (ANSWERS * TREES) as f64;
    assert!(counts_apart(&[2.0 * n, n, 0.0], &[1.5 * n, n, 0.5 * n]) > FAR);
    let order = |at: usize| {
        (0..4 * TREES)
            .map(|place| if place % 4 == at { ANSWERS as f64 } else { 0.0 })
            .collect::<Vec<_>>()
    };
    assert!(counts_apart(&order(0), &order(2)) > FAR);
}
