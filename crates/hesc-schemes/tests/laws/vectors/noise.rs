//! The noise estimate of BFV and BGV against the noise, where factors depend on each other as much as
//! they can: equal ones, images under automorphisms, plaintexts and masks with all of their norm at one
//! root of unity. Keys and noise are seeded: the tests are reproducible.

use std::f64::consts::PI;

use super::party::{AnyRing, ODD_RINGS, Party, batching_prime, odd_sets, party, spec};
use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Ciphertext, Plaintext, SchemeKind};

/// Plaintexts that are far from random: by their coefficients.
pub fn extremes(p: &Party) -> Vec<(&'static str, Plaintext)> {
    let (ring, n, half) = (p.scheme.ring(), p.scheme.ring_degree(), p.modulus() / 2);
    // Integers modulo 2 are 0 and 1.
    let fitting = |x: i64| if p.modulus() == 2 { x.rem_euclid(2) } else { x };
    let alternating = |i: usize| fitting(if i.is_multiple_of(2) { half } else { -half });
    let conjugate = |i: usize| fitting(if i == 0 { 1 } else { -1 });
    let mut all = vec![
        ("one", vec![1]),
        ("a power of X", [vec![0; n - 1], vec![1]].concat()),
        ("ones", vec![1; n]),
        ("the conjugate of ones", (0..n).map(conjugate).collect()),
        ("largest", vec![half; n]),
        ("alternating", (0..n).map(alternating).collect()),
    ];
    if !ring.is_power_of_two() {
        // As large as it can be at one pair of roots; in the normal basis ones are a unit.
        let side = |e: usize| (2.0 * PI * e as f64 / ring.value() as f64).cos().signum() as i64;
        let largest = |e: usize| if p.modulus() == 2 { (1 + side(e)) / 2 } else { half * side(e) };
        all.push(("one root", ring.exponents().into_iter().map(largest).collect()));
    }
    all.into_iter().map(|(name, c)| (name, p.scheme.encode_coefficients(&c).unwrap())).collect()
}

/// Fails if less room is left than was claimed. Returns how many bits the claim was too low.
fn checked(p: &Party, name: &str, a: &Ciphertext) -> f64 {
    let claimed = p.scheme.noise_budget(a);
    let measured = p.scheme.measured_noise_budget(&p.secret, a).unwrap();
    assert!(claimed <= measured, "{}, {name}: {claimed} {measured}", p.scheme.scheme());
    measured - claimed
}

/// All that programs of a few operations make of a ciphertext and its images.
fn dependent(p: &Party, a: &Ciphertext) -> Vec<(String, Ciphertext)> {
    let s = &p.scheme;
    let relinearised = |c: Result<Ciphertext, SchemeError>| s.relinearise(&c?, &p.relin);
    let swapped = p.conjugated(a).unwrap();
    let rotated = p.other_image(a).unwrap();
    let sum = s.add(a, &swapped).unwrap();
    let mut all = Vec::new();
    let mut keep = |name: &str, c: Result<Ciphertext, SchemeError>| match c {
        Ok(c) => {
            all.push((name.to_owned(), c.clone()));
            Some(c)
        }
        Err(SchemeError::NoiseBudget { .. } | SchemeError::LastLevel { .. }) => None,
        Err(error) => panic!("{name}: {error}"),
    };
    keep("its image", Ok(swapped.clone()));
    keep("square of a sum", relinearised(s.square(&sum)));
    keep("times rotated", relinearised(s.multiply(a, &rotated)));
    let square = keep("square", relinearised(s.square(a)));
    let norm = keep("times its image", relinearised(s.multiply(a, &swapped)));
    for (name, c) in [("square", square), ("norm", norm)] {
        let Some(c) = c else { continue };
        keep(&format!("{name}, five times"), s.multiply_scalar(&c, 5.min(p.modulus() / 2)));
        let fourth = keep(&format!("{name}, squared"), relinearised(s.square(&c)));
        let image = p.conjugated(&c);
        let both = image.and_then(|image| s.multiply(&c, &image));
        keep(&format!("{name} times its image"), relinearised(both));
        for (mask, m) in extremes(p) {
            keep(&format!("{name} times {mask}"), s.multiply_plain(&c, &m));
        }
        if let Some(lower) = keep(&format!("{name}, a level lower"), s.mod_switch(&c)) {
            keep(&format!("{name}, lower, squared"), relinearised(s.square(&lower)));
            for (mask, m) in extremes(p) {
                keep(&format!("{name}, lower, times {mask}"), s.multiply_plain(&lower, &m));
            }
        }
        if let Some(c) = fourth {
            keep(&format!("{name}, eighth power"), relinearised(s.square(&c)));
        }
    }
    for (first, m) in extremes(p) {
        let Some(once) = keep(first, s.multiply_plain(a, &m)) else { continue };
        keep(&format!("{first}, squared"), relinearised(s.square(&once)));
        for (second, m) in extremes(p) {
            keep(&format!("{first}, then {second}"), s.multiply_plain(&once, &m));
        }
    }
    all
}

#[test]
fn dependent_factors_have_the_noise_they_claim() {
    let exact = [SchemeKind::Bfv, SchemeKind::Bgv];
    let sets = exact.map(|scheme| spec(scheme, 58, 6, 2, batching_prime()));
    for set in sets.into_iter().chain(odd_sets(&ODD_RINGS, (&[58; 6], &[58; 2]))) {
        let mut p = party(set, 71);
        let values = p.integers();
        let random = p.scheme.plaintext_of(&values).unwrap();
        for (name, m) in extremes(&p).into_iter().chain([("random", random)]) {
            let public = p.scheme.encrypt(&p.public, &m, &mut p.rng).unwrap();
            let seeded = p.scheme.encrypt_seeded(&p.secret, &m, &mut p.rng).unwrap();
            for a in [public, p.scheme.expand(&seeded).unwrap()] {
                for (operation, c) in dependent(&p, &a) {
                    checked(&p, &format!("{name}: {operation}"), &c);
                }
            }
        }
    }
}

/// A product of a ciphertext and its image has a coefficient near `N d^2`, and the claim is near it.
#[test]
fn the_constant_coefficient_of_a_norm_is_foreseen() {
    let mut p = party(spec(SchemeKind::Bgv, 50, 3, 1, batching_prime()), 72);
    let x = p.integers();
    let a = p.encrypt(&x);
    let s = p.scheme.clone();
    let product = s.multiply(&a, &s.swap_or_conjugate(&a, &p.galois).unwrap()).unwrap();
    let slack = checked(&p, "norm", &product);
    assert!(slack < 2.0, "{slack} bits were given away");
    // As close to the end as it goes: what is not refused is right.
    let mut last = product;
    while let Ok(next) = s.multiply_scalar(&last, 2) {
        last = next;
    }
    let claimed = s.noise_budget(&last);
    assert!((0.0..1.0).contains(&claimed));
    checked(&p, "norm at its end", &last);
    p.decrypt(&last);
}

/// Whichever factor comes first: what one message does to the other's noise is counted for both.
#[test]
fn claims_do_not_depend_on_the_order_of_factors() {
    for scheme in [SchemeKind::Bfv, SchemeKind::Bgv] {
        let mut p = party(spec(scheme, 50, 3, 1, batching_prime()), 73);
        let x = p.integers();
        let public = p.encrypt(&x);
        let plaintext = p.encoded(&x);
        let seeded = p.scheme.encrypt_seeded(&p.secret, &plaintext, &mut p.rng).unwrap();
        // Noise differs by the factor that public keys cost.
        let quiet = p.scheme.expand(&seeded).unwrap();
        let budget = |a, b| p.scheme.noise_budget(&p.scheme.multiply(a, b).unwrap());
        let (one, other) = (budget(&public, &quiet), budget(&quiet, &public));
        assert!((one - other).abs() < 1e-9, "{scheme}: {one} {other}");
        assert!(p.scheme.noise_budget(&quiet) > p.scheme.noise_budget(&public) + 2.0);
    }
}

/// Masks that meet at one root again and again make noise there that random ones of their size do not.
#[test]
fn repeated_masks_are_not_taken_for_random_ones() {
    for scheme in [SchemeKind::Bfv, SchemeKind::Bgv] {
        let mut p = party(spec(scheme, 58, 6, 2, batching_prime()), 74);
        let x = p.integers();
        let (other, mut masked) = (p.encrypt(&x), p.encrypt(&x));
        let ones = p.scheme.encode_coefficients(&vec![1; p.scheme.ring_degree()]).unwrap();
        for masks in 1..=4 {
            masked = p.scheme.multiply_plain(&masked, &ones).unwrap();
            checked(&p, &format!("{masks} masks"), &masked);
            let product = p.scheme.multiply(&masked, &other).unwrap();
            checked(&p, &format!("a product after {masks} masks"), &product);
        }
    }
}
