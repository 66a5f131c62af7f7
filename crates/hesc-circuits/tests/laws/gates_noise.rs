//! Noise of compiled gates: the stated probability against the variance of every lookup and output, worked
//! out here from the formulas, and against how often noisy programs are wrong.

use hesc_circuits::gates::integers::{self, Adder, Rows, Signs};
use hesc_circuits::gates::{
    BinaryGate, Builder, GRID, GateError, HALF_GRID, Netlist, Output, Precision, Program, Table,
    Wire, stochastic,
};
use hesc_math::AesCtrRng;
use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};

use super::gates::{chain, circuits};

/// `log2` of the probability that a Gaussian value is out by more than so many deviations, by Laplace's
/// continued fraction.
fn log2_both_tails(deviations: f64) -> f64 {
    let x = deviations;
    let fraction = (1..200).rev().fold(x, |below, k| x + f64::from(k) / below);
    let density =
        (2.0 / std::f64::consts::PI).sqrt().log2() - x * x / 2.0 * std::f64::consts::LOG2_E;
    density - fraction.log2()
}

/// Half of the least distance on the torus of two positions with different bits.
fn room_of(table: &Table) -> f64 {
    let reached: Vec<(usize, bool)> =
        (0..GRID).filter_map(|position| Some((position, table.at(position)?))).collect();
    let mut least = GRID;
    for &(p, bit) in &reached {
        for &(q, _) in reached.iter().filter(|(_, other)| *other != bit) {
            least = least.min(p.abs_diff(q)).min(GRID - p.abs_diff(q));
        }
    }
    least as f64 / GRID as f64 / 2.0
}

/// Weights beyond half of the torus are negative ones.
fn signed(weight: u8) -> f64 {
    let weight = f64::from(weight);
    if weight > HALF_GRID as f64 { weight - GRID as f64 } else { weight }
}

/// The deviations that every lookup and every output has room for. A bit of any of them may be a copy of any
/// other: their deviations add.
fn deviations(program: &Program, precision: &Precision) -> Vec<f64> {
    let of_bit = precision.bit.sqrt();
    let lookup = |lookup: &hesc_circuits::gates::Lookup| {
        let size: f64 = lookup.terms.iter().map(|&(_, weight)| signed(weight).abs()).sum();
        let variance = (size * of_bit).powi(2) + precision.lookup[lookup.tables.len() - 1];
        let room = lookup.tables.iter().map(room_of).fold(f64::INFINITY, f64::min);
        room / variance.sqrt()
    };
    let output = |output: &Output| match output {
        Output::Constant(_) => None,
        // Zero and half of the torus; the owner refuses noise beyond an eighth.
        Output::Parity { terms, .. } => {
            Some(1.0 / 8.0 / (terms.len() as f64 * HALF_GRID as f64 * of_bit))
        }
    };
    let outputs = program.outputs().iter().flatten().filter_map(output);
    program.lookups().iter().map(lookup).chain(outputs).collect()
}

fn precision(bit: f64, lookup: f64, second: f64, log2_failure: f64) -> Precision {
    Precision { bit: bit.exp2(), lookup: [lookup.exp2(), second.exp2()], log2_failure }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    /// Right to five bits of a hundred: the bound on a Gaussian's tails is that far from the tails.
    #[test]
    fn stated_probabilities_are_those_of_the_variances(
        circuit in circuits(),
        bit in -34.0..-22.0f64,
        lookup in -24.0..-14.5f64,
        more in 0.0..2.0f64,
        log2_failure in -130.0..-80.0f64,
    ) {
        let precision = precision(bit, lookup, lookup + more, log2_failure);
        for program in [circuit.compile(&precision), circuit.gate_by_gate(&precision)] {
            let Ok(program) = program else { continue };
            let stated = program.log2_failure();
            prop_assert!(stated <= log2_failure);
            let tails = deviations(&program, &precision).into_iter().map(log2_both_tails);
            let exact = tails.map(f64::exp2).sum::<f64>().log2();
            if exact > -900.0 {
                prop_assert!(exact <= stated && stated <= exact + 6.0, "{exact} {stated}");
            }
        }
    }
}

/// A function of bits, the lowest first.
type Function = fn(usize) -> bool;

/// The gate as a circuit, and as the function of so many bits.
fn gates() -> [(Netlist, usize, Function); 3] {
    let build = |bits: usize, of: &dyn Fn(&mut Builder, &[Wire]) -> Wire| {
        let (mut builder, inputs) = Builder::new(&[bits]);
        let out = of(&mut builder, &inputs[0]);
        builder.finish(vec![vec![out]]).unwrap()
    };
    [
        (build(2, &|b, w| b.and(w[0], w[1])), 2, |a| a == 3),
        (build(3, &|b, w| b.mux(w[0], w[1], w[2])), 3, |a| {
            if a & 1 == 1 { a >> 1 & 1 == 1 } else { a >> 2 & 1 == 1 }
        }),
        (
            build(3, &|b, w| {
                let (both, either) = (b.and(w[0], w[1]), b.binary(BinaryGate::Or, w[0], w[1]));
                b.mux(w[2], either, both)
            }),
            3,
            |a| a.count_ones() >= 2,
        ),
    ]
}

/// The most deviations that any weights leave for a function, found by trying all of them.
fn best_deviations(leaves: usize, function: Function, precision: &Precision) -> f64 {
    let mut best = 0.0f64;
    for choice in 0..GRID.pow(leaves as u32) {
        let weights: Vec<usize> = (0..leaves).map(|i| choice / GRID.pow(i as u32) % GRID).collect();
        let mut bits = [None; GRID];
        let possible = (0..1 << leaves).all(|assignment: usize| {
            let term = |(i, weight): (usize, &usize)| (assignment >> i & 1) * weight;
            let position = weights.iter().enumerate().map(term).sum::<usize>() % GRID;
            let (bit, opposite) = (function(assignment), (position + HALF_GRID) % GRID);
            let free = bits[position].is_none_or(|known| known == bit);
            (bits[position], bits[opposite]) = (Some(bit), Some(!bit));
            free
        });
        if !possible {
            continue;
        }
        let mut least = GRID;
        for p in 0..GRID {
            for q in 0..GRID {
                if let (Some(a), Some(b)) = (bits[p], bits[q])
                    && a != b
                {
                    least = least.min(p.abs_diff(q)).min(GRID - p.abs_diff(q));
                }
            }
        }
        let size: f64 = weights.iter().map(|&weight| signed(weight as u8).abs()).sum();
        let variance = size.powi(2) * precision.bit + precision.lookup[0];
        best = best.max(least as f64 / GRID as f64 / 2.0 / variance.sqrt());
    }
    best
}

/// A gate compiles for as long as the best weights have room for it, to a few bits of the probability.
#[test]
fn gates_compile_while_there_is_room() {
    for (circuit, leaves, function) in gates() {
        let (mut compiled, mut refused) = (0, 0);
        for step in 0..60 {
            let noise = precision(-40.0, -20.0 + f64::from(step) / 5.0, -10.0, -128.0);
            let tail = log2_both_tails(best_deviations(leaves, function, &noise));
            match circuit.compile(&noise) {
                Ok(program) if program.bootstraps() == 1 => {
                    assert!(tail <= -128.0, "{tail}");
                    compiled += 1;
                }
                // Refused, or as gates with more room for each.
                result => {
                    let no_room = |error| matches!(error, GateError::NoRoom { .. });
                    assert!(result.err().is_none_or(no_room));
                    assert!(tail > -138.0, "{tail}");
                    refused += 1;
                }
            }
        }
        assert!(compiled > 10 && refused > 10);
    }
}

/// Lookups of many bits are not chosen where they leave too little room for all together: whatever fits with a
/// bootstrap for each gate compiles.
#[test]
fn what_fits_gate_by_gate_compiles() {
    for circuit in [
        integers::adder(Adder::Ripple, 4),
        integers::multiplier(Adder::Ripple, Rows::Bits, 3, 6, Signs::Unsigned),
        integers::less(4, false),
    ] {
        let circuit = circuit.unwrap();
        let (mut compiled, mut refused) = (0, 0);
        for step in 0..80 {
            let noise = precision(-40.0, -20.0 + f64::from(step) / 6.0, -10.0, -128.0);
            match (circuit.gate_by_gate(&noise), circuit.compile(&noise)) {
                (Ok(_), program) => {
                    assert!(program.unwrap().log2_failure() <= -128.0);
                    compiled += 1;
                }
                (Err(_), _) => refused += 1,
            }
        }
        assert!(compiled > 10 && refused > 10, "{compiled} {refused}");
    }
}

/// An exclusive or of so many bits is a sum up to the noise that its owner can decrypt, and not beyond.
#[test]
fn sums_are_as_wide_as_the_noise_allows() {
    for bits in 2..60 {
        // A quarter of the torus is 32 deviations.
        let most = 0.25 / 32.0 / (bits as f64 * HALF_GRID as f64);
        let of = |deviation: f64| {
            let lookup = [1e-12; 2];
            chain(bits, false).compile(&Precision {
                bit: deviation.powi(2),
                lookup,
                log2_failure: -128.0,
            })
        };
        assert_eq!(of(most * (1.0 - 1e-9)).unwrap().bootstraps(), 0, "{bits}");
        let beyond = of(most * (1.0 + 1e-9));
        assert!(beyond.is_ok_and(|program| program.bootstraps() > 0) || bits == 2, "{bits}");
    }
}

/// A Gaussian value, by Box and Muller.
fn gaussian(rng: &mut impl Rng) -> f64 {
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let radius = (-2.0 * (1.0 - uniform()).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform()).cos()
}

/// A program on noisy bits; of a lookup's bits all have the same noise, as copies of one another do, with
/// the signs that make it worst. What a lookup finds is the bit of the nearest position.
fn noisy(
    program: &Program,
    precision: &Precision,
    inputs: &[bool],
    rng: &mut impl Rng,
) -> Vec<bool> {
    let mut values = inputs.to_vec();
    for lookup in program.lookups() {
        let weighted = lookup.terms.iter().map(|&(value, weight)| (values[value.index()], weight));
        let (mut position, mut size) = (0.0, 0.0);
        for (bit, weight) in weighted {
            position += f64::from(u8::from(bit)) * f64::from(weight) / GRID as f64;
            size += signed(weight).abs();
        }
        position += size * precision.bit.sqrt() * gaussian(rng);
        position += precision.lookup[lookup.tables.len() - 1].sqrt() * gaussian(rng);
        for table in &lookup.tables {
            let distance = |at: usize| {
                let apart = (position - at as f64 / GRID as f64).rem_euclid(1.0);
                apart.min(1.0 - apart)
            };
            let reached = (0..GRID).filter_map(|at| Some((distance(at), table.at(at)?)));
            let nearest = reached.min_by(|a, b| a.0.total_cmp(&b.0));
            values.push(nearest.unwrap().1);
        }
    }
    let output = |output: &Output| match output {
        Output::Constant(bit) => *bit,
        Output::Parity { terms, inverted } => {
            terms.iter().fold(*inverted, |sum, term| sum ^ values[term.index()])
        }
    };
    program.outputs().iter().flatten().map(output).collect()
}

/// Noise so large that programs are often wrong: as often as they say, at most and within a factor. A right
/// compiler fails here with a probability below 1e-6: six deviations of the number of wrong lanes.
#[test]
fn noisy_programs_are_wrong_as_often_as_they_say() {
    let rng = &mut AesCtrRng::from_seed([8; 32]);
    let lanes = 60_000;
    for circuit in [
        integers::adder(Adder::Ripple, 1).unwrap(),
        integers::less(2, false).unwrap(),
        stochastic::popcount(3).unwrap(),
        gates()[0].0.clone(),
        gates()[1].0.clone(),
    ] {
        // The most noise that compiles: a wrong lane in a few hundred.
        let noises = (0..60).map(|step| {
            let lookup = -6.0 - f64::from(step) / 4.0;
            precision(-24.0, lookup, lookup, -7.0)
        });
        let (program, noise) =
            noises.filter_map(|noise| Some((circuit.compile(&noise).ok()?, noise))).next().unwrap();
        let mut wrong = 0u32;
        for _ in 0..lanes {
            let random = rng.next_u64();
            let inputs: Vec<bool> =
                (0..program.input_bits()).map(|i| random >> i & 1 == 1).collect();
            let words: Vec<u64> = inputs.iter().map(|&bit| u64::from(bit)).collect();
            let right: Vec<bool> =
                circuit.evaluate(&words, 1).unwrap().iter().map(|word| word & 1 == 1).collect();
            wrong += u32::from(noisy(&program, &noise, &inputs, rng) != right);
        }
        let (found, stated) = (f64::from(wrong), program.log2_failure().exp2() * f64::from(lanes));
        assert!(found <= stated + 6.0 * stated.sqrt(), "{found} wrong, {stated} stated");
        assert!(found + 6.0 * found.sqrt() >= stated / 32.0, "{found} wrong, {stated} stated");
    }
}

/// The same with bootstraps whose keys are noisy; for optimised builds. The program says `exp(-x^2/2)` for a noise
/// that may be `x` deviations, of which one side is beyond the table: about 55 of 240,000 lanes are wrong. Beyond
/// six deviations of that number and a quarter, for what one key's noise is off, with a probability below 1e-8.
#[cfg(feature = "tfhe")]
#[test]
#[ignore = "a quarter of a million bootstraps"]
fn noisy_bootstraps_are_wrong_as_often_as_programs_say() {
    use hesc_circuits::gates::{Evaluator, Monitor};
    use hesc_schemes::Assurance;
    use hesc_schemes::streams::Encrypt;
    use hesc_schemes::streams::tfhe::{Decomposition, Spec, Tfhe};

    let digits = |base_log, levels| Decomposition { base_log, levels };
    let and = gates()[0].0.clone();
    let (rounds, lanes) = (60, 4000);
    let noisy = (0..40).map(|step| {
        let spec = Spec {
            ring_degree: 512,
            lwe_dimension: 64,
            log2_ring_noise: -50.0,
            log2_lwe_noise: -11.0 - f64::from(step) / 20.0,
            bootstrap: digits(23, 1),
            keyswitch: digits(3, 5),
            packing: digits(16, 1),
        };
        Tfhe::new(spec, Assurance::Insecure).unwrap()
    });
    let compiled = |scheme: Tfhe| {
        let noise = scheme.noise();
        let precision = Precision { bit: noise.bit, lookup: noise.lookup, log2_failure: -6.0 };
        Some((and.compile(&precision).ok()?, scheme))
    };
    let (program, scheme) = noisy.into_iter().find_map(compiled).unwrap();
    let rng = &mut AesCtrRng::from_seed([9; 32]);
    let (secret, public) = scheme.generate_keys(rng);
    let key = scheme.generate_evaluation_key(&secret, rng).unwrap();
    let key = scheme.expand_evaluation_key(&key).unwrap();
    let monitor = Monitor::default();
    let mut wrong = 0u32;
    for _ in 0..rounds {
        let packed: Vec<u64> =
            (0..usize::div_ceil(2 * lanes, 512) * 8).map(|_| rng.next_u64()).collect();
        let blocks = scheme.encrypt(&public, &packed, rng).unwrap();
        let positions: Vec<usize> = (0..2 * lanes).collect();
        let bits = scheme.extract(&blocks, &positions).unwrap();
        let found = Evaluator::new(&scheme, &key, &monitor).evaluate(&program, &[&bits]).unwrap();
        let found = scheme.decrypt_bits(&secret, &found[0]).unwrap();
        for (lane, bit) in found.iter().enumerate() {
            let of = |at: usize| packed[at / 64] >> (at % 64) & 1 == 1;
            wrong += u32::from(*bit != (of(2 * lane) && of(2 * lane + 1)));
        }
    }
    let (found, all) = (f64::from(wrong), f64::from(rounds * lanes as u32));
    let deviations = (-2.0 * program.log2_failure() * std::f64::consts::LN_2).sqrt();
    let expected = log2_both_tails(deviations).exp2() / 2.0 * all;
    println!("{found} wrong, {expected:.1} expected");
    assert!(found <= program.log2_failure().exp2() * all, "{found} wrong: more than was stated");
    assert!((found - expected).abs() <= 6.0 * expected.sqrt() + 0.25 * expected, "{found} wrong");
}
