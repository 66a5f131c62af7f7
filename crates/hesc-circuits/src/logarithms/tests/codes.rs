use super::*;

fn all_codes() -> impl Iterator<Item = Code> {
    (3..22).flat_map(|bits| {
        [1, 2, 3, 5, 10, 64].into_iter().flat_map(move |factors| {
            [1, 2, 3, 7, 12]
                .into_iter()
                .filter_map(move |octaves| Code::new(bits, factors, octaves))
        })
    })
}

/// Sizes that are hard: the ends, powers of two, those of codes and beside them, what is hardly there.
fn hard_sizes(code: Code, rng: &mut AesCtrRng) -> Vec<f64> {
    let mut sizes = vec![0.0, 1.0, f64::MIN_POSITIVE, 5e-324, 1e-200, code.least()];
    for octave in 0..=code.octaves as i32 + 2 {
        sizes.extend([2f64.powi(-octave), 0.7 * 2f64.powi(-octave)]);
    }
    for _ in 0..20 {
        sizes.push(uniform(rng));
        sizes.push(2f64.powf(-uniform(rng) * (f64::from(code.octaves) + 2.0)));
        let steps = rng.next_u64() % (code.room() + 1);
        sizes.push(2f64.powf(-(steps as f64) / code.step as f64));
    }
    let beside: Vec<f64> = sizes
        .iter()
        .flat_map(|&x: &f64| [x, x * (1.0 - 1e-15), (x * (1.0 + 1e-15)).min(1.0)])
        .collect();
    beside
}

/// What is added never comes around into what it is not: all sums of codes for few bits, the ends of all others.
#[test]
fn sums_of_codes_are_products() {
    for code in all_codes() {
        let (zero, half) = (code.zero(), 1u64 << (code.bits - 1));
        assert!(code.largest() < half);
        let k = u64::from(code.factors);
        for zeros in 0..=k {
            let most = (k - zeros) * code.room();
            let few: Vec<u64> =
                if most < 500 { (0..=most).collect() } else { vec![0, 1, most / 2, most] };
            for steps in few {
                for sign in [0, half] {
                    let (value, possible) = code.decode(zeros * zero + steps + sign);
                    assert!(possible);
                    let size =
                        if zeros > 0 { 0.0 } else { 2f64.powf(-(steps as f64) / code.step as f64) };
                    assert!((value.abs() - size).abs() <= 1e-12 * size, "{code:?} {zeros} {steps}");
                    assert_eq!(value.is_sign_negative(), sign > 0 && zeros == 0);
                }
            }
        }
        assert!(code.largest() + 1 == half || !code.decode(code.largest() + 1).1);
    }
}

/// The two codes around a size, whose mean it is; and the law of that, against the definition.
#[test]
fn sizes_are_the_means_of_their_codes() {
    let rng = &mut generator(1);
    for code in all_codes() {
        for size in hard_sizes(code, rng) {
            let super::super::code::Between { steps, upper, lower } = code.between(size);
            let nearly = 1e-12 * size;
            assert!(lower - nearly <= size && size <= upper + nearly, "{code:?} {size}");
            assert!(lower < upper && steps <= code.room());
            let share = ((size - lower) / (upper - lower)).clamp(0.0, 1.0);
            assert!((share * upper + (1.0 - share) * lower - size).abs() <= nearly + 1e-300);
            // Of two values with these shares.
            let law = share * (1.0 - share) * (upper - lower) * (upper - lower);
            let off = (code.variance(size) - law).abs();
            assert!(off <= 1e-9 * law + nearly * (upper - lower), "{code:?} {size}");
            for sign in 0..=1 {
                let (value, possible) = code.decode(code.encode(size, sign, rng.next_u64()));
                let near = |end: f64| (value.abs() - end).abs() <= 1e-12 * end;
                assert!(possible && (near(upper) || near(lower)), "{code:?} {size} {value}");
                assert_eq!(value.is_sign_negative(), sign == 1 && value != 0.0);
            }
        }
        for exact in [0.0, 1.0] {
            for _ in 0..50 {
                assert_eq!(code.decode(code.encode(exact, 0, rng.next_u64())).0, exact);
            }
        }
    }
}

/// The loop on vectors gives what each number gives by itself.
#[test]
fn many_codes_are_those_of_each() {
    let rng = &mut generator(9);
    for code in all_codes() {
        let sizes = hard_sizes(code, rng);
        let signs: Vec<u64> = sizes.iter().map(|_| rng.next_u64() & 1).collect();
        let words: Vec<u64> = sizes.iter().map(|_| rng.next_u64()).collect();
        let mut codes = words.clone();
        super::super::code::encode_all(&code, &sizes, &signs, &mut codes);
        for (at, found) in codes.into_iter().enumerate() {
            assert_eq!(found, code.encode(sizes[at], signs[at], words[at]), "{code:?}");
        }
    }
}

/// The logarithm and the power beside those of the standard library, in units of the last place.
#[test]
fn logarithms_and_powers_are_right() {
    let rng = &mut generator(10);
    let (log2, exp2) = (super::super::code::log2, super::super::code::exp2);
    for _ in 0..20_000 {
        let x = f64::exp2(-1000.0 * uniform(rng) * uniform(rng)) * (1.0 - 0.4 * uniform(rng));
        assert!((log2(x) - x.log2()).abs() <= 4.0 * f64::EPSILON * x.log2().abs().max(0.25), "{x}");
        let y = -900.0 * uniform(rng) * uniform(rng);
        assert!((exp2(y) / y.exp2() - 1.0).abs() <= 4.0 * f64::EPSILON, "{y}");
    }
    for whole in -1022..=0 {
        let power = f64::exp2(f64::from(whole));
        assert_eq!((log2(power), exp2(f64::from(whole))), (f64::from(whole), power));
    }
    assert_eq!(exp2(-1e9), f64::exp2(-1022.0));
    assert!(log2(0.0) <= -1022.0 && log2(5e-324) <= -1000.0);
}

/// Means of 100,000 roundings: beyond 6.5 deviations one of 10^10, for 180 sizes.
#[test]
fn roundings_have_no_bias() {
    let rng = &mut generator(2);
    for code in [Code::new(12, 2, 5), Code::new(9, 3, 2), Code::new(16, 10, 4)].map(Option::unwrap)
    {
        for _ in 0..60 {
            let size = 2f64.powf(-uniform(rng) * (f64::from(code.octaves) + 2.0));
            let count = 100_000;
            let sum: f64 =
                (0..count).map(|_| code.decode(code.encode(size, 0, rng.next_u64())).0).sum();
            let variance = code.variance(size);
            let z = (sum / f64::from(count) - size) / (variance / f64::from(count)).sqrt();
            assert!(z.abs() < 6.5, "{code:?} {size}: {z}");
        }
    }
}

/// No product of sizes has a larger variance than the worst that is stated, and some have nearly that.
#[test]
fn the_worst_is_the_worst() {
    let rng = &mut generator(3);
    for code in all_codes().filter(|code| code.factors <= 10) {
        for factors in 0..=code.factors {
            let stated = code.worst(factors);
            let mut found = 0.0f64;
            for trial in 0..300 {
                let sizes = (0..factors).map(|at| match (trial % 3, at) {
                    // Between two steps near the end, which is worst for those above the smallest.
                    (0, _) | (1, 1..) => {
                        let upper =
                            2f64.powf(-((trial % 7) as f64 / 7.0).floor() / code.step as f64);
                        let ratio = 2f64.powf(1.0 / code.step as f64);
                        upper * 2.0 / (1.0 + ratio)
                    }
                    (1, _) => code.least() * uniform(rng),
                    _ => uniform(rng),
                });
                let (mut moment, mut square) = (1.0, 1.0);
                for size in sizes {
                    moment *= size * size + code.variance(size);
                    square *= size * size;
                }
                found = found.max(moment - square);
            }
            assert!(found <= stated * (1.0 + 1e-9) + 1e-15, "{code:?} {factors}: {found} {stated}");
            // Sizes just below 1 count a little less than the bound has them.
            let coarse = (1.0 + f64::from(factors)) / code.step as f64;
            assert!(
                found >= stated * (0.9 - coarse) - 1e-15,
                "{code:?} {factors}: {found} {stated}"
            );
        }
    }
}
