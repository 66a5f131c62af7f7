use proptest::prelude::*;

use super::*;

/// Numbers that are hard: equal ones, powers of two, tiny ones, zeros, the bounds.
fn number(bound: f64, rng: &mut AesCtrRng) -> f64 {
    let sign = if rng.next_u64() & 1 == 0 { 1.0 } else { -1.0 };
    sign * bound
        * match rng.next_u64() % 8 {
            0 => 0.0,
            1 => 1.0,
            2 => 0.5f64.powi((rng.next_u64() % 12) as i32),
            3 => 1e-9 * uniform(rng),
            4 => 0.37,
            _ => uniform(rng),
        }
}

fn random_operand(products: usize, first: bool, rng: &mut AesCtrRng) -> Operand {
    let source = [Source::Secret, Source::Public, Source::Clear]
        [rng.next_u64() as usize % if first { 2 } else { 3 }];
    let shared = !first && (source == Source::Clear || rng.next_u64() & 1 == 0);
    let count = 1 + rng.next_u64() as usize % (2 * products);
    let bounds = (0..count)
        .map(|_| 0.5f64.powi((rng.next_u64() % 5) as i32) * (1.0 + uniform(rng)))
        .collect();
    let recipes = (0..products).map(|_| {
        let powers = (0..rng.next_u64() % 3)
            .map(|_| ((rng.next_u64() as usize % count) as u32, 1 + (rng.next_u64() % 3) as u32));
        powers.collect::<Vec<_>>()
    });
    let recipes = Recipes::new(recipes);
    Operand { source, shared, shape: vec![count as u32], bounds, recipes }
}

fn random_sums(products: usize, rng: &mut AesCtrRng) -> Sums {
    let outputs = 1 + rng.next_u64() as usize % 4;
    let mut terms: Vec<(u32, u32, f64)> = Vec::new();
    for output in 0..outputs {
        for product in 0..products {
            let certain = product % outputs == output || outputs > products && product == 0;
            if certain || rng.next_u64().is_multiple_of(4) {
                terms.push((output as u32, product as u32, 4.0 * uniform(rng) - 2.0));
            }
        }
    }
    Sums { shape: vec![outputs as u32, 1], terms }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Against doubles, over operands, recipes, sums and numbers of samples: every product is between the ends of what
    /// roundings make of it, whatever was drawn, outputs are their sums, and sizes are those stated.
    #[test]
    fn products_are_those_in_the_clear(
        products in 1usize..40,
        factors in 1usize..6,
        samples in 1usize..50,
        fine in 0u32..8,
        seed: u64,
    ) {
        let rng = &mut generator(seed);
        let operands = (0..factors).map(|at| random_operand(products, at == 0, rng)).collect();
        let sums = random_sums(products, rng);
        let mut declared = Declared { operands, sums, error: 1.0 };
        let scales = declared.scales();
        let terms = declared.sums.terms.iter();
        let largest = terms.map(|&(_, p, w)| (scales[p as usize] * w).abs()).fold(1e-3, f64::max);
        declared.error = largest * 0.5f64.powi(fine as i32 + 1);
        let plan = Plan::new(declared.clone()).unwrap();
        prop_assert!(plan.error() <= declared.error);
        let again = Plan::from_bytes(&plan.to_bytes()).unwrap();
        prop_assert_eq!(again.fingerprint(), plan.fingerprint());
        prop_assert_eq!(again.declared(), plan.declared());
        let numbers: Vec<Vec<f64>> = declared.operands.iter().map(|operand| {
            let rows = if operand.shared { 1 } else { samples };
            (0..rows).flat_map(|_| operand.bounds.clone()).map(|bound| number(bound, rng)).collect()
        }).collect();
        let parties = Parties::new(plan.clone(), rng);
        let (evaluator, uploads) = parties.prepared(&numbers, rng).unwrap();
        let sent = declared.operands.iter().filter(|operand| operand.source != Source::Clear && !operand.shared);
        for (upload, operand) in uploads.iter().zip(sent) {
            prop_assert_eq!(upload.len(), upload_bytes(&plan, operand, samples));
        }
        let uploads: Vec<&[u8]> = uploads.iter().map(Vec::as_slice).collect();
        let answer = evaluator.evaluate(&uploads).unwrap();
        prop_assert_eq!(answer.len(), answer_bytes(&plan, samples));
        let found = decrypt(&plan, &parties.secret, &answer).unwrap();
        prop_assert_eq!(found.samples, samples);
        let expected = parties.in_the_clear(&numbers, samples);
        prop_assert_eq!(found.products.len(), expected.len());
        for (x, (clear, low, high)) in found.products.iter().zip(&expected) {
            prop_assert!((*low..=*high).contains(&x.abs()), "{} {} {}", x, low, high);
            prop_assert!(*x == 0.0 || (*x < 0.0) == (*clear < 0.0), "{} {}", x, clear);
            prop_assert!(*clear != 0.0 || *x == 0.0);
        }
        for sample in 0..samples {
            let mut outputs = vec![0.0; declared.outputs()];
            for &(output, product, weight) in &declared.sums.terms {
                outputs[output as usize] += weight * found.products[sample * products + product as usize];
            }
            for (at, output) in outputs.iter().enumerate() {
                let x = found.outputs[sample * outputs.len() + at];
                prop_assert!((x - output).abs() <= 1e-9 * largest * products as f64);
            }
        }
    }
}

/// Samples that take several ciphertexts, with an operand that serves all of them, and bounds that differ from product to
/// product.
#[test]
fn products_take_several_ciphertexts() {
    let rng = &mut generator(4);
    for (products, samples) in [(1024, 2), (1500, 3), (2049, 1), (300, 11)] {
        let mut operands = vec![
            simple(Source::Secret, false, products, 2.0),
            simple(Source::Public, true, products, 1.0),
            simple(Source::Clear, true, products, 1.0),
        ];
        let bounds = operands[0].bounds.iter_mut().enumerate();
        bounds.for_each(|(at, bound)| *bound = 1.0 + (at % 7) as f64);
        let (first, ones) = (operands[0].bounds.repeat(samples), vec![1.0; products]);
        let plan = Plan::new(apart(operands, 1.0)).unwrap();
        let parties = Parties::new(plan, rng);
        let numbers: Vec<Vec<f64>> = [first, ones.clone(), ones]
            .map(|bounds| bounds.into_iter().map(|bound| number(bound, rng)).collect())
            .to_vec();
        let (found, _) = parties.run(&numbers, rng);
        let expected = parties.in_the_clear(&numbers, samples);
        for (x, (clear, low, high)) in found.products.iter().zip(&expected) {
            assert!((*low..=*high).contains(&x.abs()) && x * clear >= 0.0, "{x} {clear}");
        }
    }
}

/// The law of errors for numbers that somebody chooses: equal ones, between two steps, tiny ones, random ones. Sums of 400
/// products and 600 samples: z-scores of the mean error beyond 6 once in 10^9, mean squares within 30 % (they scatter by
/// 6 %, by more where few tiny ones are rounded up).
#[test]
fn errors_follow_their_law() {
    let rng = &mut generator(5);
    let (products, samples) = (400, 600);
    for factors in [1, 2, 4] {
        let mut operands: Vec<Operand> =
            (0..factors).map(|_| simple(Source::Secret, false, products, 1.0)).collect();
        if factors == 2 {
            operands[1].source = Source::Public;
        }
        let terms = (0..products as u32).map(|at| (0, at, 1.0)).collect();
        let sums = Sums { shape: vec![], terms };
        let plan = Plan::new(Declared { operands, sums, error: 0.5 }).unwrap();
        let code = plan.code();
        let parties = Parties::new(plan.clone(), rng);
        let ratio = 2f64.powf(1.0 / code.step as f64);
        let between = 2.0 / (1.0 + ratio);
        for (name, size) in [
            ("equal", Some(0.3)),
            ("between", Some(between)),
            ("tiny", Some(code.least() / 2.0)),
            ("near one", Some(0.999)),
            ("random", None),
        ] {
            let row: Vec<f64> =
                (0..products).map(|_| size.unwrap_or_else(|| uniform(rng))).collect();
            let numbers = vec![row.repeat(samples); factors];
            let (found, _) = parties.run(&numbers, rng);
            let clear: f64 = row.iter().map(|x| x.powi(factors as i32)).sum();
            let rows = vec![row.as_slice(); factors];
            let law = plan.errors_of(&rows).unwrap()[0];
            assert!(law <= plan.error() * (1.0 + 1e-9), "{name}: {law} {}", plan.error());
            let off: Vec<f64> = found.outputs.iter().map(|x| (x - clear) / law).collect();
            let mean = off.iter().sum::<f64>() / samples as f64;
            let square = off.iter().map(|x| x * x).sum::<f64>() / samples as f64;
            let z = mean * (samples as f64).sqrt();
            assert!(z.abs() < 6.0, "{factors} {name}: {z}");
            assert!((square - 1.0).abs() < 0.3, "{factors} {name}: {square}");
        }
    }
}

/// The plan's room beside what noise there is: the deviation of sums is what the model says, in 5 %, and 14 of them fit.
#[test]
fn noise_has_the_room_that_plans_leave() {
    let rng = &mut generator(6);
    for (sources, products) in [
        (vec![Source::Secret, Source::Secret], 1024),
        (vec![Source::Secret, Source::Public], 1024),
        (vec![Source::Public; 5], 2048),
    ] {
        let operands: Vec<Operand> =
            sources.iter().map(|&source| simple(source, false, products, 1.0)).collect();
        let factors = operands.len();
        let plan = Plan::new(apart(operands, if factors > 2 { 1e-3 } else { 0.01 })).unwrap();
        let n = plan.layout().ring_degree as f64;
        let parties = Parties::new(plan.clone(), rng);
        // Ones have the code zero, so that residues are noise.
        let numbers = vec![vec![1.0; products * 20]; factors];
        let (_, answer) = parties.run(&numbers, rng);
        let (_, _, replies) = super::super::wire::answer_from_bytes(&plan, &answer).unwrap();
        let truncation = plan.answers().truncation.as_ref().unwrap();
        let (mut sum, mut count, mut largest) = (0.0, 0.0, 0.0f64);
        for mut reply in replies {
            let words = reply.c_1.iter_mut().chain(&mut reply.c_0);
            words.for_each(|word| *word = truncation.lift(*word));
            plan.products().unmask(&parties.secret, &mut reply.c_1).unwrap();
            for (&c_0, &c_1) in reply.c_0.iter().zip(&reply.c_1) {
                let noise = plan.products().centred_sum(c_0, c_1) as f64;
                sum += noise * noise;
                count += 1.0;
                largest = largest.max(noise.abs());
            }
        }
        let public = sources.iter().filter(|source| **source == Source::Public).count() as f64;
        let secret = factors as f64 - public;
        let unit = plan.products().modulus() as f64 / f64::from(plan.answer_bits()).exp2();
        let fresh = 10.5 * (secret + public * (4.0 / 3.0 * n + 1.0));
        let fresh = fresh + factors as f64 / 4.0;
        let expected = fresh + unit * unit * (1.0 + 2.0 / 3.0 * n) / 12.0;
        let found: f64 = sum / count;
        assert!((found / expected - 1.0).abs() < 0.1, "{sources:?}: {found} {expected}");
        let room = plan.products().modulus() as f64 / f64::from(plan.code().bits).exp2() / 2.0;
        assert!(largest < room && 11.0 * expected.sqrt() < room, "{} {room}", expected.sqrt());
    }
}

/// What is left of a code when it becomes a residue has one mean and one variance whatever the code is: means of 40,000 beyond
/// 6.5 deviations once in 10^10, and squares, which scatter by 0.6 %, within 5 %.
#[test]
fn remainders_tell_nothing_of_codes() {
    let rng = &mut generator(8);
    for source in [Source::Secret, Source::Public] {
        let plan = Plan::new(apart(vec![simple(source, false, 1, 1.0)], 0.01)).unwrap();
        let (q, t) = (plan.products().modulus() as f64, f64::from(plan.code().bits).exp2());
        let codes = (0..40).map(|at| if at < 8 { at } else { rng.next_u64() % t as u64 });
        for code in codes.collect::<Vec<_>>() {
            let exact = code as f64 * q / t;
            let count = 40_000.0;
            let (mut sum, mut square) = (0.0, 0.0);
            for _ in 0..count as usize {
                let residue = plan.dithered(code, rng);
                assert!(residue < plan.products().modulus());
                let off = residue as f64 - exact;
                let off = off - q * (off / q).round();
                assert!(off.abs() <= 1.5);
                sum += off;
                square += off * off;
            }
            assert!((sum / count).abs() < 6.5 * 0.5 / f64::sqrt(count), "{code}: {}", sum / count);
            assert!((square / count - 0.25).abs() < 0.0125, "{code}: {}", square / count);
        }
    }
}

/// All that uploads of one operand differ in are residues and seeds, and answers likewise; and with the fewest bits: one
/// less has no room.
#[test]
fn sizes_and_names_tell_nothing_of_the_numbers() {
    let rng = &mut generator(7);
    for source in [Source::Secret, Source::Public] {
        let operands = vec![simple(source, false, 10, 1.0), simple(Source::Clear, true, 10, 1.0)];
        let plan = Plan::new(apart(operands, 0.01)).unwrap();
        let parties = Parties::new(plan, rng);
        let clear = vec![0.5; 10];
        let mut heads = Vec::new();
        for numbers in [vec![0.0; 30], vec![1.0; 30], (0..30).map(|_| number(1.0, rng)).collect()] {
            let upload = parties.upload(0, &numbers, rng).unwrap();
            let (_, answer) = parties.run(&[numbers, clear.clone()], rng);
            heads.push((
                upload[..14 + 32 + 5].to_vec(),
                upload.len(),
                answer[..14 + 36].to_vec(),
                answer.len(),
            ));
        }
        assert!(heads.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
