//! Rings of odd index: what operations compute on coefficients, against products modulo `X^m - 1` that are
//! reduced by hand.

use hesc_math::RingIndex;
use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Ciphertext, SchemeKind, Spec};

use super::keys::image;
use super::party::{LARGE_RINGS, ODD_RINGS, Party, odd_sets, party};

/// The product in the ring's basis, modulo `t`.
fn product(ring: RingIndex, x: &[i64], y: &[i64], t: i64) -> Vec<i64> {
    let (m, exponents) = (ring.value(), ring.exponents());
    let mut full = vec![0i64; m];
    for (&x, i) in x.iter().zip(&exponents) {
        for (&y, j) in y.iter().zip(&exponents) {
            full[(i + j) % m] += x * y;
        }
    }
    // The powers of a p-th root of unity sum to zero: what stands at multiples of p moves to the others.
    for p in ring.odd_primes() {
        for e in (0..m).step_by(p) {
            let value = std::mem::take(&mut full[e]);
            for other in 1..p {
                full[(e + other * (m / p)) % m] -= value;
            }
        }
    }
    exponents.iter().map(|&e| full[e].rem_euclid(t)).collect()
}

struct Program {
    p: Party,
    name: String,
}

impl Program {
    fn check(&self, step: &str, a: &Ciphertext, expected: &[i64]) {
        let t = self.p.modulus();
        for (i, (found, wanted)) in self.p.decrypt(a).into_iter().zip(expected).enumerate() {
            assert_eq!((found - wanted).rem_euclid(t), 0, "{}, {step}, coefficient {i}", self.name);
        }
    }
}

fn added(x: &[i64], y: &[i64]) -> Vec<i64> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

fn laws(set: Spec, seed: u64) {
    let name = format!("{}, ring {}", set.scheme, set.ring.value());
    let mut p = party(set, seed);
    let (x, y) = (p.integers(), p.integers());
    let (a, b) = (p.encrypt(&x), p.encrypt(&y));
    let (s, t) = (p.scheme.clone(), p.modulus());
    let ring = s.ring();
    let both = product(ring, &x, &y, t);
    let plaintext = s.encode_coefficients(&y).unwrap();
    let seeded = s.encrypt_seeded(&p.secret, &plaintext, &mut p.rng).unwrap();
    let (other_secret, _) = s.generate_keys(&mut p.rng);
    let switch = s.generate_switch_key(&p.secret, &other_secret, &mut p.rng).unwrap();
    let program = Program { p, name };
    let (p, check) = (&program.p, |step: &str, c: &Ciphertext, expected: &[i64]| {
        program.check(step, c, expected);
    });
    let negated: Vec<i64> = x.iter().map(|x| -x).collect();
    check("encryption", &a, &x);
    check("seeded", &s.expand(&seeded).unwrap(), &y);
    check("sum", &s.add(&a, &b).unwrap(), &added(&x, &y));
    check("difference", &s.sub(&b, &a).unwrap(), &added(&y, &negated));
    check("negated", &s.negate(&a).unwrap(), &negated);
    let scalar = s.integer_range().unwrap().1;
    let scaled: Vec<i64> = x.iter().map(|x| scalar * x).collect();
    check("scalar", &s.multiply_scalar(&a, scalar).unwrap(), &scaled);
    check("plus plaintext", &s.add_plain(&a, &plaintext).unwrap(), &added(&x, &y));
    check("times plaintext", &s.multiply_plain(&a, &plaintext).unwrap(), &both);

    let three = s.multiply(&a, &b).unwrap();
    check("three parts", &three, &both);
    let two = s.relinearise(&three, &p.relin).unwrap();
    check("product", &two, &both);
    check("square", &s.square(&a).unwrap(), &product(ring, &x, &x, t));

    let elements: Vec<usize> = p.galois.elements().collect();
    assert_eq!(elements, [2, ring.value() - 1]);
    let many = s.apply_galois_many(&a, &[1, 2, ring.value() - 1], &p.galois).unwrap();
    for (c, element) in many.iter().zip([1, 2, ring.value() - 1]) {
        check("hoisted", c, &image(ring, &x, element));
        let alone = s.apply_galois(&a, element, &p.galois).unwrap();
        check("alone", &alone, &image(ring, &x, element));
    }

    let mut low = two.clone();
    for level in (1..s.levels()).rev() {
        low = s.mod_switch(&low).unwrap();
        check("lower", &low, &both);
        let other = s.mod_switch_to(&a, level).unwrap();
        check("lower sum", &s.add(&low, &other).unwrap(), &added(&both, &x));
        let turned = s.apply_galois(&low, 2, &p.galois).unwrap();
        check("lower image", &turned, &image(ring, &both, 2));
    }
    let level = s.levels() - 1;
    let [first, second] = [&two, &a].map(|c| s.mod_switch_to(c, level).unwrap());
    let deep = s.relinearise(&s.multiply(&first, &second).unwrap(), &p.relin).unwrap();
    check("second product", &deep, &product(ring, &both, &x, t));

    let moved = s.switch_key(&a, &switch).unwrap();
    assert!(matches!(s.decrypt(&p.secret, &moved), Err(SchemeError::KeyMismatch { .. })));
    let values = s.decode_coefficients(&s.decrypt(&other_secret, &moved).unwrap()).unwrap();
    assert!(values.iter().zip(&x).all(|(v, x)| (v - x) % t == 0));
}

#[test]
fn small_rings_keep_the_laws_of_polynomials() {
    // One and several special primes, primes on both sides of what 52-bit multipliers take.
    for (seed, chain) in [(&[50; 3][..], &[50][..]), (&[40; 6], &[40, 40]), (&[58; 3], &[58])]
        .into_iter()
        .enumerate()
    {
        for set in odd_sets(&ODD_RINGS, chain) {
            laws(set, 1500 + seed as u64);
        }
    }
}

#[test]
fn the_ring_of_4369_keeps_the_laws_of_polynomials() {
    for set in odd_sets(&LARGE_RINGS, (&[50; 3], &[50])) {
        laws(set, 1510);
    }
}

/// Other indices: a prime, three and four primes, degrees that no vector divides.
#[test]
fn any_odd_squarefree_index_is_a_ring() {
    for index in [31, 105, 1155, 1687] {
        for set in odd_sets(&[(index, 5)], (&[50; 3], &[50])) {
            laws(set, 1520);
        }
    }
}

/// The estimate is of use: within a few bits of the measured noise, as on power-of-two rings.
#[test]
fn estimates_are_not_much_larger_than_the_noise() {
    for set in odd_sets(&ODD_RINGS, (&[50; 6], &[50, 50])) {
        let scheme = set.scheme;
        let mut p = party(set, 1530);
        let x = p.integers();
        let mut a = p.encrypt(&x);
        let s = p.scheme.clone();
        for depth in 0..4 {
            let claimed = s.noise_budget(&a);
            let slack = s.measured_noise_budget(&p.secret, &a).unwrap() - claimed;
            assert!(
                (0.0..8.0 + 3.0 * f64::from(depth)).contains(&slack),
                "{scheme} {depth}: {slack}"
            );
            let Ok(square) = s.square(&a) else { break };
            a = s.relinearise(&square, &p.relin).unwrap();
            if scheme == SchemeKind::Bgv {
                a = s.mod_switch(&a).unwrap();
            }
        }
    }
}
