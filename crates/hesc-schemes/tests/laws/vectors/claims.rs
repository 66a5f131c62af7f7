//! What ciphertexts say of their noise against the noise, measured with the secret key: for each operation,
//! from above and from below, so that a margin that is halved or doubled shows.
//!
//! Seeds are fixed. The root mean square of 1024 coefficients has a relative standard error of 2.2 %, and up to
//! 3 % where they are products: where the estimate is the noise itself, windows end five of these above one.
//! Keys differ in their norms by another per cent.

use hesc_schemes::Complex64;
use hesc_schemes::rlwe::{Ciphertext, SchemeKind, Spec};

use super::noise::extremes;
use super::opened::Opened;
use super::party::{
    AnyRing, CHAINS, DEGREE, LARGE_RINGS, ODD_RINGS, Party, SCHEMES, batching_prime, chained,
    odd_sets, party, spec,
};

/// What is measured, each as a share of what is claimed for it.
#[derive(Debug)]
pub struct Shares {
    /// Root mean square of the values at the roots divided by `sqrt(N)`, of the claimed one.
    pub deviation: f64,
    /// The largest value at a root, of the claimed root mean square there.
    pub values: f64,
    /// The largest coefficient, of the claimed bound; in BGV message and noise, of both bounds.
    pub peak: f64,
}

/// Measures a ciphertext of which the noiseless content is known: in CKKS the numbers, in the others nothing
/// has to be.
pub fn shares(p: &Party, o: &Opened, a: &Ciphertext, numbers: &[Complex64]) -> Shares {
    let said = o.ciphertext(&p.scheme, a);
    let root_mean = |x: &[f64]| (x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64).sqrt();
    let largest = |x: &[f64]| x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if p.scheme.scheme() == SchemeKind::Ckks {
        let plaintext = p.scheme.decrypt(&p.secret, a).unwrap();
        let decoded = p.scheme.decode_complex(&plaintext).unwrap();
        let number = |i: usize| numbers.get(i).copied().unwrap_or_default();
        let errors: Vec<f64> =
            (0..decoded.len()).map(|i| (decoded[i] - number(i)).norm() * said.scale).collect();
        let deviation = root_mean(&errors) / (DEGREE as f64).sqrt();
        return Shares {
            deviation: deviation / said.deviation,
            values: largest(&errors) / said.values,
            peak: largest(&errors) / said.scale / p.scheme.error_bound(a),
        };
    }
    let mut noise = o.noise(&said);
    let most = largest(&noise);
    if p.scheme.scheme() == SchemeKind::Bgv {
        // The message is reduced here; what products have left beyond that counts as noise.
        for x in &mut noise {
            *x -= (*x - (*x / o.t as f64).round() * o.t as f64).round();
        }
    }
    let values = o.values(&noise);
    let squares: f64 = values.iter().map(|v| v.norm_sqr()).sum();
    let deviation = squares.sqrt() / o.degree as f64;
    let values = values.iter().fold(0.0, |most: f64, v| most.max(v.norm()));
    Shares {
        deviation: deviation / said.deviation,
        values: values / said.values,
        peak: most / (said.peak + said.magnitude),
    }
}

/// An operation's result is within its claims, and its deviation within a window of them.
fn within(name: &str, shares: &Shares, window: (f64, f64)) {
    assert!(shares.peak <= 1.0, "{name}: a coefficient beyond the bound, {shares:?}");
    assert!(shares.values <= 14.0, "{name}: a value beyond fourteen deviations, {shares:?}");
    let (from, to) = window;
    assert!((from..=to).contains(&shares.deviation), "{name}: {shares:?}, not in {window:?}");
}

struct Laws {
    p: Party,
    o: Opened,
    scheme: SchemeKind,
    chain: String,
}

impl Laws {
    fn check(&self, name: &str, a: &Ciphertext, numbers: &[Complex64], window: (f64, f64)) {
        let shares = shares(&self.p, &self.o, a, numbers);
        within(&format!("{}, {}, {name}", self.scheme, self.chain), &shares, window);
    }
}

/// The sets of a chain whose noise is measured: the larger odd ring, whose root mean square is that of 4096
/// values, beside the others.
fn measurable(chain: usize) -> Vec<Spec> {
    let rings = if chain == 0 { &LARGE_RINGS[..] } else { &[] };
    let sets = SCHEMES.map(|scheme| chained(scheme, CHAINS[chain]));
    sets.into_iter().chain(odd_sets(rings, CHAINS[chain])).collect()
}

/// Noise that is white: sums of what is equal are as noisy as claimed, those of what is independent less.
#[test]
fn white_noise_is_what_is_claimed() {
    for (seed, chain) in CHAINS.into_iter().enumerate() {
        for spec in measurable(seed) {
            let scheme = spec.scheme;
            let mut p = party(spec, 800 + seed as u64);
            let o = Opened::new(&p);
            let s = p.scheme.clone();
            let zeros = p.zeros();
            let a = s.encrypt(&p.public, &zeros, &mut p.rng).unwrap();
            let b = s.encrypt(&p.public, &zeros, &mut p.rng).unwrap();
            let c = s.expand(&s.encrypt_seeded(&p.secret, &zeros, &mut p.rng).unwrap()).unwrap();
            let key = s.generate_switch_key(&p.secret, &p.secret, &mut p.rng).unwrap();
            let small = p.scheme.integer_range().is_ok_and(|(_, most)| most < 65);
            let l = Laws { p, o, scheme, chain: format!("{chain:?}") };
            let tight = (0.8, 1.15);
            l.check("public", &a, &[], tight);
            // The rounding of a plaintext counts half, which zeros do not have.
            l.check("secret", &c, &[], (0.7, 1.15));
            l.check("equal terms", &s.add(&a, &a).unwrap(), &[], tight);
            l.check("independent terms", &s.add(&a, &b).unwrap(), &[], (0.58, 0.84));
            l.check("difference", &s.sub(&a, &b).unwrap(), &[], (0.58, 0.84));
            l.check("negated", &s.negate(&a).unwrap(), &[], tight);
            if !small {
                l.check("scalar", &s.multiply_scalar(&a, -64).unwrap(), &[], tight);
                l.check("rounded up", &s.multiply_scalar(&a, 65).unwrap(), &[], (0.42, 0.6));
            }
            // One level lower the rounding is most of the noise; in CKKS none is done.
            let window = if scheme == SchemeKind::Ckks { tight } else { (0.75, 1.15) };
            l.check("lower", &s.mod_switch(&a).unwrap(), &[], window);
            // The noise of keys beside that of an encryption under the secret key.
            let switched = (0.6, 1.15);
            for (name, result) in [
                ("switched", s.switch_key(&c, &key)),
                ("rotated", l.p.other_image(&c)),
                ("swapped", l.p.conjugated(&c)),
            ] {
                l.check(name, &result.unwrap(), &[], switched);
            }
            let elements: Vec<usize> = l.p.galois.elements().collect();
            for rotated in s.apply_galois_many(&c, &elements, &l.p.galois).unwrap() {
                l.check("rotated with others", &rotated, &[], switched);
            }
        }
    }
}

/// Errors of small odd rings are those of a ring modulo `X^m - 1`, reduced: larger than those of a ring of their
/// degree by a factor of up to 1.4, which single encryptions of 128 coefficients would hide.
#[test]
fn errors_of_small_odd_rings_are_as_large_as_claimed() {
    for (seed, set) in odd_sets(&ODD_RINGS, CHAINS[0]).into_iter().enumerate() {
        let mut p = party(set, 810 + seed as u64);
        let o = Opened::new(&p);
        let s = p.scheme.clone();
        let zeros = p.zeros();
        let count = 64;
        let (mut secret, mut public) = (0.0, 0.0);
        for _ in 0..count {
            let seeded = s.encrypt_seeded(&p.secret, &zeros, &mut p.rng).unwrap();
            secret += shares(&p, &o, &s.expand(&seeded).unwrap(), &[]).deviation.powi(2);
            let a = s.encrypt(&p.public, &zeros, &mut p.rng).unwrap();
            public += shares(&p, &o, &a, &[]).deviation.powi(2);
        }
        for (name, sum) in [("secret", secret), ("public", public)] {
            let share = (sum / f64::from(count)).sqrt();
            println!("{}, {name} key: {share:.3}", s.scheme());
            assert!((0.8..1.1).contains(&share), "{}, {name} key: {share}", s.scheme());
        }
    }
}

/// Numbers of size one, at angles that have nothing to do with each other.
fn unit_numbers() -> Vec<Complex64> {
    (0..DEGREE / 2).map(|i| Complex64::from_polar(1.0, (i * i) as f64 * 0.7)).collect()
}

/// A factor of products: as large as its bounds allow.
fn factor(p: &mut Party) -> (Ciphertext, Vec<Complex64>) {
    if p.scheme.scheme() == SchemeKind::Ckks {
        let numbers = unit_numbers();
        return (p.encrypt_complex(&numbers), numbers);
    }
    let values = p.integers();
    (p.encrypt(&values), Vec::new())
}

/// Products of random factors, equal ones and images of each other: the estimate holds for the worst of them,
/// and gives away what its margin says.
#[test]
fn products_are_as_noisy_as_claimed() {
    for (seed, chain) in CHAINS.into_iter().enumerate() {
        for spec in measurable(seed) {
            let scheme = spec.scheme;
            let mut p = party(spec, 820 + seed as u64);
            let o = Opened::new(&p);
            let s = p.scheme.clone();
            let ((a, x), (b, y)) = (factor(&mut p), factor(&mut p));
            let l = Laws { p, o, scheme, chain: format!("{chain:?}") };
            let times = |x: &[Complex64], y: &[Complex64]| -> Vec<Complex64> {
                x.iter().zip(y).map(|(x, y)| x * y).collect()
            };
            let conjugated: Vec<Complex64> = x.iter().map(Complex64::conj).collect();
            // Thirty bits are too few for a product.
            let Ok(product) = s.multiply(&a, &b) else {
                assert_eq!(chain.0[0], 30);
                continue;
            };
            // BFV's margin is two, and its factors may depend on each other. The other schemes take messages for
            // as large as they may be.
            let of = |bfv| if scheme == SchemeKind::Bfv { bfv } else { (0.001, 1.15) };
            let square = s.square(&a).unwrap();
            l.check("product", &product, &times(&x, &y), of((0.2, 0.42)));
            l.check("square", &square, &times(&x, &x), of((0.3, 0.6)));
            let equals = s.multiply(&a, &a).unwrap();
            l.check("product of equals", &equals, &times(&x, &x), of((0.3, 0.6)));
            let image = l.p.conjugated(&a).unwrap();
            let norm = s.multiply(&a, &image).unwrap();
            l.check("norm", &norm, &times(&x, &conjugated), of((0.16, 0.34)));
            let two = s.relinearise(&square, &l.p.relin).unwrap();
            l.check("relinearised", &two, &times(&x, &x), of((0.3, 0.6)));
            if let Ok(lower) = s.mod_switch(&two) {
                l.check("lower", &lower, &times(&x, &x), of((0.3, 1.15)));
            }
            if scheme == SchemeKind::Ckks {
                let operand = s.encode_complex(&y, super::party::SCALE, a.level()).unwrap();
                let masked = s.multiply_plain(&a, &operand).unwrap();
                l.check("masked", &masked, &times(&x, &y), (0.001, 1.15));
                let real = s.multiply_real(&a, -0.75, super::party::SCALE).unwrap();
                let scaled: Vec<Complex64> = x.iter().map(|x| x * -0.75).collect();
                l.check("real", &real, &scaled, (0.001, 1.15));
            } else {
                let values = l.p.modulus() / 2;
                let random: Vec<i64> =
                    (0..l.o.degree as i64).map(|i| i * i * i * 7919 % (values + 1)).collect();
                // Of a product with ones almost all is the noise at two roots, anything from one time to the next.
                for (name, mask, window) in [
                    ("a random mask", s.plaintext_of(&random), (0.4, 0.8)),
                    ("a mask of ones", s.encode_coefficients(&vec![1; l.o.degree]), (0.0, 6.0)),
                    ("a large monomial", s.encode_coefficients(&[0, 0, values]), (0.8, 1.15)),
                ] {
                    let window = if scheme == SchemeKind::Bfv { window } else { (0.0, 6.0) };
                    let masked = s.multiply_plain(&a, &mask.unwrap()).unwrap();
                    l.check(name, &masked, &[], window);
                }
            }
        }
    }
}

/// Plaintexts with all of their norm at one root, as factors of noise that has its own there already, and of
/// ciphertexts that hold such a plaintext: neither coefficients nor values are beyond what is claimed.
#[test]
fn noise_at_one_root_is_foreseen() {
    for scheme in [SchemeKind::Bfv, SchemeKind::Bgv] {
        let mut p = party(spec(scheme, 58, 6, 2, batching_prime()), 860);
        let o = Opened::new(&p);
        let s = p.scheme.clone();
        let zeros = p.zeros();
        let a = s.encrypt(&p.public, &zeros, &mut p.rng).unwrap();
        let extremes = extremes(&p);
        let held: Vec<Ciphertext> = (extremes.iter())
            .map(|(_, m)| {
                let seeded = s.encrypt_seeded(&p.secret, m, &mut p.rng).unwrap();
                s.expand(&seeded).unwrap()
            })
            .collect();
        let l = Laws { p, o, scheme, chain: "one root".into() };
        for (first, m) in &extremes {
            let once = s.multiply_plain(&a, m).unwrap();
            for ((second, m), c) in extremes.iter().zip(&held) {
                let name = format!("{first}, then {second}");
                if let Ok(twice) = s.multiply_plain(&once, m) {
                    l.check(&name, &twice, &[], (0.0, 1.15));
                }
                if let Ok(product) = s.multiply(&once, c) {
                    l.check(&format!("{name} encrypted"), &product, &[], (0.0, 1.15));
                }
            }
        }
    }
}
