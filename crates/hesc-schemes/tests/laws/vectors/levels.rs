//! Levels and scales chosen for the user are the best there are, and what is brought to them stays what it was.

use std::cmp::Ordering;

use hesc_math::RingIndex;
use hesc_schemes::rlwe::{Ciphertext, Rlwe, SchemeKind};
use hesc_schemes::{Assurance, Complex64, SchemeError};

use super::operations::ones;
use super::party::{
    CHAINS, DEGREE, ODD_RINGS, Party, SCALE, SCHEMES, chained, odd_sets, party, sets, spec,
};

/// Bits of room that a product gives up for fewer primes.
const SPENT_ON_SPEED: f64 = 0.25;

/// The room that the product of two factors has at each level, by dividing them down to all.
fn rooms(p: &Party, a: &Ciphertext, b: &Ciphertext) -> Vec<(usize, f64)> {
    let s = &p.scheme;
    let room = |level: usize| {
        let (a, b) = (s.mod_switch_to(a, level).ok()?, s.mod_switch_to(b, level).ok()?);
        let product = s.relinearise(&s.multiply(&a, &b).ok()?, &p.relin).ok()?;
        Some((level, s.noise_budget(&product)))
    };
    (1..=a.level().min(b.level())).filter_map(room).collect()
}

/// Exact schemes lower factors before they multiply them, as far as that costs no room and no further.
#[test]
fn products_are_made_at_the_lowest_level_with_most_room() {
    for scheme in [SchemeKind::Bfv, SchemeKind::Bgv] {
        let wide = spec(scheme, 40, 7, 2, super::party::batching_prime());
        // Primes so large, and a modulus so small, that one prime is enough for a product.
        let large = spec(scheme, 60, 2, 1, 12289);
        let chains = [0, 4].map(|chain| chained(scheme, CHAINS[chain]));
        for set in chains.into_iter().chain([wide, large]) {
            let mut p = party(set, 1400);
            let s = p.scheme.clone();
            let top = s.levels();
            let mut factors = vec![ones(&mut p, top)];
            // More and more noise: the more there is, the more primes are better dropped.
            while let Ok(next) = s.multiply_scalar(factors.last().unwrap(), 1 << 6) {
                factors.push(next);
            }
            let (quiet, noisy) = (factors[0].clone(), factors[factors.len() - 1].clone());
            let lower = s.mod_switch_to(&quiet, top - 1).unwrap();
            for a in &factors {
                for b in [&quiet, &noisy, &lower] {
                    let level = s.product_level(a, b);
                    let rooms = rooms(&p, a, b);
                    let most = rooms.iter().map(|(_, room)| *room).fold(0.0, f64::max);
                    // A factor that is dropped and not divided may cost another quarter of a bit each way.
                    for (at, room) in rooms {
                        let fits = match at.cmp(&level) {
                            Ordering::Less => room < most,
                            Ordering::Equal => room >= most - 2.0 * SPENT_ON_SPEED,
                            Ordering::Greater => true,
                        };
                        assert!(fits, "{level}: {room} of {most} at {at}, {:?}", s.spec());
                    }
                }
            }
            let lowered = factors.iter().any(|a| s.product_level(a, &quiet) < top);
            assert!(matches!(top, 3 | 4) || lowered, "the choice was never one");
        }
    }
    let mut p = party(chained(SchemeKind::Ckks, CHAINS[0]), 1410);
    let (a, b) = (ones(&mut p, 3), ones(&mut p, 2));
    assert_eq!((p.scheme.product_level(&a, &a), p.scheme.product_level(&a, &b)), (3, 2));
}

/// Squares of squares by the policy, and norms, whose factors depend on each other as much: each is right, there
/// are as many as the set says, and the next is refused because no level has room for it.
#[test]
fn sets_have_the_depth_they_say() {
    for (set, norms) in
        sets(CHAINS[3]).into_iter().flat_map(|set| [(set.clone(), false), (set, true)])
    {
        let scheme = set.scheme;
        let mut p = party(set, 1460);
        let s = p.scheme.clone();
        // One is its own power and image: in all slots, or in the basis of an odd ring with three primes, where
        // every power of zeta has the coefficient -1.
        let two = p.scheme.integer_range().is_ok_and(|(least, _)| least == 0);
        let one = if s.ring().is_power_of_two() || two { 1 } else { -1 };
        let mut a = match scheme {
            SchemeKind::Ckks => p.encrypt_complex(&vec![Complex64::new(1.0, 0.0); DEGREE / 2]),
            _ => p.encrypt(&vec![one; s.ring_degree()]),
        };
        let mut done = 0;
        let refused = loop {
            let image = norms.then(|| p.conjugated(&a).unwrap());
            match s.product(&p.relin, &a, image.as_ref()) {
                Ok(square) => a = square,
                Err(refused) => break refused,
            }
            done += 1;
            if scheme == SchemeKind::Ckks {
                p.check_complex(&a, |_| Complex64::new(1.0, 0.0));
            } else {
                p.check(&a, |_| one);
            }
        };
        let named =
            matches!(refused, SchemeError::NoiseBudget { .. } | SchemeError::LastLevel { .. });
        assert!(named, "{scheme}: {refused}");
        // Rotations between products take room too.
        let found = done..=done + usize::from(norms);
        assert!(found.contains(&s.depth()) && done > 1, "{scheme}: {done} of {}", s.depth());
        if scheme != SchemeKind::Ckks {
            assert!(rooms(&p, &a, &a).is_empty(), "{scheme}: there was room");
        }
    }
    let alone = chained(SchemeKind::Bfv, (CHAINS[3].0, &[]));
    assert_eq!(Rlwe::new(alone, Assurance::Insecure).unwrap().depth(), 0);
}

/// From every level to every level below: what was encrypted, its products, their images, claims that are true,
/// and bytes that say where it is.
#[test]
fn levels_that_are_no_prefixes_keep_what_they_hold() {
    for chain in [CHAINS[0], CHAINS[3], CHAINS[4]] {
        for set in sets(chain).into_iter().filter(|set| !set.levels.is_empty()) {
            let mut p = party(set, 1480);
            let s = p.scheme.clone();
            let x = p.integers();
            let fresh = p.encrypt(&x);
            let square = s.relinearise(&s.square(&fresh).unwrap(), &p.relin).unwrap();
            let squared = p.decrypt(&square);
            for (a, values) in [(&fresh, &x), (&square, &squared)] {
                for from in (1..=s.levels()).rev() {
                    let Ok(above) = s.mod_switch_to(a, from) else { continue };
                    for to in (1..=from).rev() {
                        let Ok(low) = s.mod_switch_to(&above, to) else { continue };
                        assert_eq!(low.level(), to);
                        let read = s.ciphertext_from_bytes(&s.ciphertext_to_bytes(&low)).unwrap();
                        p.check(&read, |i| values[i]);
                        if let Ok(image) = p.conjugated(&low).and_then(|c| p.conjugated(&c)) {
                            p.check(&image, |i| values[i]);
                        }
                    }
                }
            }
            assert!(s.mod_switch_to(&fresh, 1).is_ok(), "fresh noise fits the lowest level");
            // Noise below that of a rounding: as factors these come down without a division where that
            // keeps the plaintext.
            let quiet = s.encrypt_seeded(&p.secret, &p.encoded(&x), &mut p.rng).unwrap();
            let quiet = s.expand(&quiet).unwrap();
            let mut products = 0;
            for level in 1..=s.levels() {
                let Ok(low) = s.mod_switch_to(&fresh, level) else { continue };
                for (a, b) in [(&quiet, &low), (&low, &quiet)] {
                    let Ok(product) = s.product(&p.relin, a, Some(b)) else { continue };
                    p.check(&product, |i| squared[i]);
                    products += 1;
                }
            }
            assert!(products > 2, "{products} products");
        }
    }
}

/// Of different scales at one level the smaller one is multiplied, by a 1 that the larger one's scale writes with
/// many digits; the sum errs little more than its terms.
#[test]
fn sums_of_different_scales_lose_nothing() {
    let mut p = party(chained(SchemeKind::Ckks, CHAINS[3]), 1440);
    let s = p.scheme.clone();
    let numbers: Vec<Complex64> =
        (0..DEGREE / 2).map(|i| Complex64::from_polar(1.0, i as f64 * 0.3)).collect();
    let mut at = |scale: f64| {
        let encoded = s.encode_bounded(&numbers, scale, s.levels(), 1.0).unwrap();
        s.expand(&s.encrypt_seeded(&p.secret, &encoded, &mut p.rng).unwrap()).unwrap()
    };
    let (small, large) = (at(SCALE), at(SCALE * 2f64.powi(20)));
    for (a, b) in [(&small, &large), (&large, &small)] {
        let sum = s.sum(a, b, false).unwrap();
        let (found, alone) = (s.error_bound(&sum), s.error_bound(a) + s.error_bound(b));
        assert!(found < 4.0 * alone, "{found} of {alone}");
        p.check_complex(&sum, |i| 2.0 * numbers[i]);
    }
}

/// What is matched can be added, and is what it was.
#[test]
fn matched_operands_add() {
    for scheme in SCHEMES {
        let mut p = party(chained(scheme, CHAINS[3]), 1420);
        let s = p.scheme.clone();
        let numbers = vec![Complex64::new(0.5, -0.25); DEGREE / 2];
        let first = match scheme {
            SchemeKind::Ckks => p.encrypt_complex(&numbers),
            _ => ones(&mut p, 5),
        };
        let square = s.relinearise(&s.square(&first).unwrap(), &p.relin).unwrap();
        let lower = match scheme {
            SchemeKind::Ckks => s.rescale(&square).unwrap(),
            _ => s.mod_switch(&square).unwrap(),
        };
        // The last prime alone is no room for a scale of its size.
        let lowest = if scheme == SchemeKind::Ckks { 2 } else { 1 };
        for level in (lowest..=lower.level()).rev() {
            let target = s.mod_switch_to(&lower, level).unwrap();
            let matched = s.aligned_with(&first, &target).unwrap();
            assert_eq!(matched.level(), level);
            assert!((matched.scale() / target.scale() - 1.0).abs() < 1e-12);
            let sum = s.add(&matched, &target).unwrap();
            if scheme == SchemeKind::Ckks {
                p.check_complex(&sum, |i| numbers[i] + numbers[i] * numbers[i]);
            } else {
                p.check(&sum, |i| 2 * i64::from(i < 16));
            }
            // Already there, or below.
            let same = s.aligned_with(&target, &matched).unwrap();
            assert_eq!(s.ciphertext_to_bytes(&same), s.ciphertext_to_bytes(&target));
            let below = s.aligned_with(&target, &first).unwrap();
            assert_eq!(s.ciphertext_to_bytes(&below), s.ciphertext_to_bytes(&target));
        }
    }
}

/// Scales that differ by what is taken for rounding are added, and the difference counts as an error: of numbers
/// near `2^30` it is most of it.
#[test]
fn scales_that_are_nearly_equal_cost_their_difference() {
    let mut p = party(chained(SchemeKind::Ckks, CHAINS[3]), 1430);
    let s = p.scheme.clone();
    let large = 2f64.powi(50);
    let numbers = vec![Complex64::new(large, 0.0); DEGREE / 2];
    let encoded = s.encode_bounded(&numbers, SCALE, 5, large).unwrap();
    let a = s.expand(&s.encrypt_seeded(&p.secret, &encoded, &mut p.rng).unwrap()).unwrap();
    let scale = SCALE * (1.0 + 9e-13);
    let encoded = s.encode_bounded(&numbers, scale, 5, large).unwrap();
    let b = s.expand(&s.encrypt_seeded(&p.secret, &encoded, &mut p.rng).unwrap()).unwrap();
    let operand = s.encode_complex(&numbers, scale, 5).unwrap();
    let same = s.error_bound(&s.add(&a, &a).unwrap());
    for sum in [s.add(&a, &b), s.add_plain(&a, &operand)] {
        let sum = sum.unwrap();
        let values = s.decode_complex(&s.decrypt(&p.secret, &sum).unwrap()).unwrap();
        let bound = s.error_bound(&sum);
        assert!(bound > large * 9e-13 && bound < same + 30.0 * large * 9e-13);
        for value in values {
            assert!((value - 2.0 * large).norm() <= bound);
        }
    }
}

/// Large numbers: doubles, not noise, are what limits them, and the bound says so.
#[test]
fn errors_of_doubles_are_in_the_bound() {
    let mut p = party(chained(SchemeKind::Ckks, CHAINS[3]), 1440);
    let s = p.scheme.clone();
    for bits in [0, 20, 30, 40, 60, 80] {
        let bound = 2f64.powi(bits);
        let numbers: Vec<Complex64> =
            (0..DEGREE / 2).map(|i| Complex64::from_polar(bound, (i * i) as f64 * 0.7)).collect();
        let encoded = s.encode_bounded(&numbers, SCALE, 5, bound).unwrap();
        let a = s.expand(&s.encrypt_seeded(&p.secret, &encoded, &mut p.rng).unwrap()).unwrap();
        let operand = s.encode_complex(&numbers, SCALE, 5).unwrap();
        let sum = s.add_plain(&a, &operand).unwrap();
        for (c, times) in [(&a, 1.0), (&sum, 2.0)] {
            let claimed = s.error_bound(c);
            let values = s.decode_complex(&s.decrypt(&p.secret, c).unwrap()).unwrap();
            let errors = values.iter().zip(&numbers).map(|(v, x)| (v - times * x).norm());
            let largest = errors.fold(0.0, f64::max);
            assert!(largest <= claimed, "2^{bits}: {largest} beyond {claimed}");
            // The bound is of use: fourteen deviations, and a transform whose worst case nobody sees.
            assert!(claimed < 500.0 * largest, "2^{bits}: {largest} far below {claimed}");
        }
    }
}

/// Automorphisms have odd exponents below twice the degree.
#[test]
fn automorphisms_are_odd() {
    for scheme in SCHEMES {
        let mut p = party(chained(scheme, CHAINS[0]), 1450);
        let s = p.scheme.clone();
        for element in [0, 2, 2 * DEGREE - 2, 2 * DEGREE, 2 * DEGREE + 1, usize::MAX] {
            let keys = s.generate_galois_keys(&p.secret, &[3, element], &mut p.rng).map(drop);
            assert!(
                matches!(keys, Err(SchemeError::Parameter { name: "element", .. })),
                "{element}"
            );
        }
        let ends = [1, 2 * DEGREE - 1, 3, 3];
        let keys = s.generate_galois_keys(&p.secret, &ends, &mut p.rng).unwrap();
        assert_eq!(keys.elements().collect::<Vec<_>>(), [1, 3, 2 * DEGREE - 1]);
        let row = DEGREE as i64 / 2;
        for steps in [-row, -1, 0, 1, 5, row - 1] {
            let [here, there] =
                [steps, steps + row].map(|steps| s.rotation_element(steps).unwrap());
            assert_eq!(here, there, "{steps}");
        }
        assert_eq!([0, 2].map(|steps| s.rotation_element(steps).unwrap()), [1, 9]);
    }
}

/// Rings of odd index have automorphisms and coefficients; what needs rows of slots says so.
#[test]
fn odd_rings_refuse_what_needs_rows() {
    for spec in odd_sets(&ODD_RINGS, CHAINS[0]) {
        let mut p = party(spec, 1460);
        let s = p.scheme.clone();
        for element in [0, 3, 51, 255, 256, usize::MAX] {
            let keys = s.generate_galois_keys(&p.secret, &[2, element], &mut p.rng).map(drop);
            assert!(
                matches!(keys, Err(SchemeError::Parameter { name: "element", .. })),
                "{element}"
            );
        }
        let a = p.encrypt(&[1]);
        let refused = [
            s.rotation_element(1).map(drop),
            s.rotate(&a, 1, &p.galois).map(drop),
            s.rotate_many(&a, &[1], &p.galois).map(drop),
            s.swap_or_conjugate(&a, &p.galois).map(drop),
        ];
        for result in refused {
            let named = matches!(result, Err(SchemeError::Parameter { name: "ring", .. }));
            assert!(named, "{result:?}");
        }
        let missing = s.apply_galois(&a, 4, &p.galois).map(drop);
        assert!(matches!(missing, Err(SchemeError::MissingKey { .. })), "{missing:?}");
    }
    let mut approximate = chained(SchemeKind::Ckks, CHAINS[0]);
    approximate.ring = RingIndex::new(4369).unwrap();
    let refused = Rlwe::new(approximate, Assurance::Insecure).map(drop);
    assert!(matches!(refused, Err(SchemeError::Parameter { name: "ring", .. })), "{refused:?}");
}

/// A product relinearised and brought down at once is the product relinearised and brought down: its plaintext and
/// factor, and noise that keeps what is claimed. Sums of products too.
#[test]
fn products_come_down_at_once() {
    let exact = sets(CHAINS[3]).into_iter().filter(|set| set.scheme != SchemeKind::Ckks);
    for (seed, spec) in exact.enumerate() {
        let mut p = party(spec, 1480 + seed as u64);
        let s = p.scheme.clone();
        let x = p.encrypt(&[1]);
        let product = s.multiply(&x, &x).unwrap();
        let Ok(sum) = s.add(&product, &product) else { continue };
        for level in 1..=s.levels() {
            let one_by_one =
                s.relinearise(&sum, &p.relin).and_then(|two| s.mod_switch_to(&two, level));
            let at_once = s.relinearise_to(&sum, &p.relin, level);
            let (Ok(slow), Ok(fast)) = (one_by_one, at_once) else { continue };
            assert_eq!((fast.level(), fast.components()), (level, 2));
            assert_eq!(p.decrypt(&slow), p.decrypt(&fast), "level {level}");
            let claimed = s.noise_budget(&fast);
            let measured = s.measured_noise_budget(&p.secret, &fast).unwrap();
            assert!(claimed <= measured, "{claimed} bits claimed, {measured} left");
        }
        let above = s.relinearise_to(&product, &p.relin, s.levels() + 1).map(drop);
        assert!(matches!(above, Err(SchemeError::LastLevel { .. })), "{above:?}");
        let none = s.relinearise_to(&product, &p.relin, 0).map(drop);
        assert!(matches!(none, Err(SchemeError::LastLevel { .. })), "{none:?}");
    }
}
