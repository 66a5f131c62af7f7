//! Operations repeated until they are refused: at no step is there less room than was claimed, in CKKS no error
//! beyond its bound, and the refusal comes when room is short, not before.

use std::f64::consts::PI;

use hesc_schemes::rlwe::{Ciphertext, SchemeKind};
use hesc_schemes::{Complex64, SchemeError};

use super::operations::ones;
use super::party::{CHAINS, DEGREE, Party, SCHEMES, chained, party, sets};

/// One step of an endless program: from the last result and the ciphertext it began with.
type Step = fn(&Party, &Ciphertext, &Ciphertext) -> Result<Ciphertext, SchemeError>;

/// A program, what it does to the numbers in the slots, and how many bits of room a step takes at most where it
/// takes few; none for products, which may take all that is left.
struct Program {
    name: &'static str,
    step: Step,
    clear: fn(&[Complex64], &[Complex64]) -> Vec<Complex64>,
    bits: Option<f64>,
    /// Integers that it multiplies with.
    scalars: &'static [i64],
}

fn rotated(x: &[Complex64], by: usize) -> Vec<Complex64> {
    (0..x.len()).map(|i| x[(i + by) % x.len()]).collect()
}

fn zipped(
    x: &[Complex64],
    y: &[Complex64],
    f: fn(Complex64, Complex64) -> Complex64,
) -> Vec<Complex64> {
    x.iter().zip(y).map(|(x, y)| f(*x, *y)).collect()
}

/// Back to two parts, in CKKS to a scale near the first one.
fn settled(p: &Party, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
    let s = &p.scheme;
    let two = s.relinearise(a, &p.relin)?;
    match s.scheme() {
        SchemeKind::Ckks => s.rescale(&two),
        SchemeKind::Bgv if two.level() > 1 => s.mod_switch(&two),
        _ => Ok(two),
    }
}

fn programs() -> Vec<Program> {
    vec![
        Program {
            name: "doubling",
            step: |p, a, _| p.scheme.add(a, a),
            clear: |x, _| zipped(x, x, |x, y| x + y),
            bits: Some(1.1),
            scalars: &[],
        },
        Program {
            name: "sums of images",
            step: |p, a, _| {
                let sum = p.scheme.add(a, &p.conjugated(a)?)?;
                p.scheme.add(&sum, &p.other_image(&sum)?)
            },
            clear: |x, _| {
                let both = zipped(x, x, |x, _| Complex64::new(2.0 * x.re, 0.0));
                zipped(&both, &rotated(&both, 7), |x, y| x + y)
            },
            bits: Some(3.5),
            scalars: &[],
        },
        Program {
            name: "scalars",
            step: |p, a, _| p.scheme.multiply_scalar(a, 7),
            clear: |x, _| zipped(x, x, |x, _| 7.0 * x),
            bits: Some(3.1),
            scalars: &[7],
        },
        Program {
            name: "multiply and accumulate",
            step: |p, a, first| p.scheme.add(&p.scheme.multiply_scalar(a, -3)?, first),
            clear: |x, first| zipped(x, first, |x, y| y - 3.0 * x),
            bits: Some(2.7),
            scalars: &[-3],
        },
        Program {
            name: "squares",
            step: |p, a, _| settled(p, &p.scheme.square(a)?),
            clear: |x, _| zipped(x, x, |x, y| x * y),
            bits: None,
            scalars: &[],
        },
        Program {
            name: "norms",
            step: |p, a, _| settled(p, &p.scheme.multiply(a, &p.conjugated(a)?)?),
            clear: |x, _| zipped(x, x, |x, _| Complex64::new(x.norm_sqr(), 0.0)),
            bits: None,
            scalars: &[],
        },
        Program {
            name: "powers without a key",
            step: |p, a, first| p.scheme.multiply_unrelinearised(a, first),
            clear: |x, first| zipped(x, first, |x, y| x * y),
            bits: None,
            scalars: &[],
        },
        Program {
            name: "masks",
            step: |p, a, _| p.scheme.multiply_plain(a, &extreme_mask(p, a.level())),
            clear: |x, _| zipped(x, &mask_numbers(), |x, y| x * y),
            bits: None,
            scalars: &[],
        },
    ]
}

/// An operand at the end of its range: all of its norm at one root for integers, on the unit circle for numbers.
fn extreme_mask(p: &Party, level: usize) -> hesc_schemes::rlwe::Plaintext {
    let s = &p.scheme;
    match s.scheme() {
        SchemeKind::Ckks => s.encode_complex(&mask_numbers(), 1024.0, level).unwrap(),
        _ => s.encode_coefficients(&vec![p.modulus() / 2; s.ring_degree()]).unwrap(),
    }
}

fn mask_numbers() -> Vec<Complex64> {
    (0..DEGREE / 2).map(|i| Complex64::from_polar(1.0, PI * i as f64 / 512.0)).collect()
}

/// What programs begin with: in CKKS numbers on the unit circle, all equal, with all of their polynomial's norm
/// in few coefficients, or in few slots; integers that are extreme in coefficients.
fn beginnings(p: &mut Party) -> Vec<(Ciphertext, Vec<Complex64>)> {
    let s = p.scheme.clone();
    if s.scheme() != SchemeKind::Ckks {
        let half = p.modulus() / 2;
        let all = [vec![half; s.ring_degree()], vec![1], vec![(1 - p.modulus()) / 2, half]];
        let encode = |c: &Vec<i64>| s.encode_coefficients(c).unwrap();
        let all = all.iter().map(encode).collect::<Vec<_>>();
        return all
            .iter()
            .map(|m| (s.encrypt(&p.public, m, &mut p.rng).unwrap(), Vec::new()))
            .collect();
    }
    let n = DEGREE / 2;
    let alternating = |i: usize| Complex64::new(if i.is_multiple_of(2) { 1.0 } else { -1.0 }, 0.0);
    let circle = |i: usize| Complex64::from_polar(1.0, (i * i) as f64 * 0.37);
    let all: [Vec<Complex64>; 4] = [
        vec![Complex64::new(1.0, 0.0); n],
        (0..n).map(alternating).collect(),
        (0..n).map(circle).collect(),
        (0..n).map(|i| Complex64::new(f64::from(u8::from(i == 0)), 0.0)).collect(),
    ];
    all.into_iter().map(|x| (p.encrypt_complex(&x), x)).collect()
}

/// Fails where a claim is not true; what is right is returned, as bits of room.
fn truthful(p: &Party, name: &str, a: &Ciphertext, numbers: &[Complex64]) -> f64 {
    let s = &p.scheme;
    let claimed = s.noise_budget(a);
    let measured = s.measured_noise_budget(&p.secret, a).unwrap();
    assert!(0.0 <= claimed && claimed <= measured, "{name}: {claimed} of {measured}");
    let plaintext = s.decrypt(&p.secret, a).unwrap();
    if s.scheme() == SchemeKind::Ckks {
        let bound = s.error_bound(a);
        for (i, value) in s.decode_complex(&plaintext).unwrap().into_iter().enumerate() {
            let error = (value - numbers[i]).norm();
            // The numbers of this test are rounded too.
            let rounding = 1e-13 * numbers[i].norm();
            assert!(error <= bound + rounding, "{name}, slot {i}: {error} beyond {bound}");
        }
    }
    claimed
}

/// Claims at every step of every program, on every chain: seeded, so that they hold always or never. An honest
/// estimate is exceeded by one of some ten million coefficients and slots with probability below 1e-5.
#[test]
fn claims_are_true_until_the_refusal() {
    // Short moduli for what takes few bits a step, and long ones for products.
    for (seed, linear) in [(1, false), (2, true), (3, false)] {
        let chain = CHAINS[seed];
        for spec in sets(chain) {
            let scheme = spec.scheme;
            let mut p = party(spec, 1200 + seed as u64);
            let range = p.scheme.integer_range().unwrap_or((-7, 7));
            for (first, begun) in beginnings(&mut p) {
                let chosen = programs().into_iter().filter(|p| p.bits.is_some() == linear);
                // Scalars are integers that the plaintexts hold.
                let chosen =
                    chosen.filter(|p| p.scalars.iter().all(|s| (range.0..=range.1).contains(s)));
                for Program { name, step, clear, bits, .. } in chosen {
                    let name = format!("{scheme}, {chain:?}, {name}");
                    let (mut a, mut numbers, mut steps) = (first.clone(), begun.clone(), 0);
                    let mut room = truthful(&p, &name, &a, &numbers);
                    let error = loop {
                        match step(&p, &a, &first) {
                            Err(error) => break error,
                            Ok(next) => a = next,
                        }
                        steps += 1;
                        numbers = clear(&numbers, &begun);
                        room = truthful(&p, &name, &a, &numbers);
                    };
                    let named = matches!(
                        error,
                        SchemeError::NoiseBudget { .. }
                            | SchemeError::LastLevel { .. }
                            | SchemeError::TooManyComponents { .. }
                    );
                    assert!(named, "{name}: {error}");
                    assert!(steps < 400, "{name}: never refused");
                    if let Some(bits) = bits {
                        assert!(room < bits, "{name}: refused with {room} bits left");
                    }
                }
            }
        }
    }
}

/// Sums of many dependent terms: rotations of one ciphertext, added with weights.
#[test]
fn sums_of_many_dependent_terms_keep_their_claims() {
    for scheme in SCHEMES {
        let mut p = party(chained(scheme, CHAINS[3]), 1230);
        let s = p.scheme.clone();
        let first = ones(&mut p, s.levels());
        let rotations = s.rotate_many(&first, &[1, -1, 7, 100, 0], &p.galois).unwrap();
        let mut numbers = vec![Complex64::default(); DEGREE / 2];
        let mut sum: Option<Ciphertext> = None;
        for round in 0..40 {
            for (c, by) in rotations.iter().zip([1i64, -1, 7, 100, 0]) {
                let weight = round % 5 - 2;
                let term = s.multiply_scalar(c, weight).unwrap();
                sum = Some(sum.map_or(Ok(term.clone()), |sum| s.add(&sum, &term)).unwrap());
                for (i, number) in numbers.iter_mut().enumerate() {
                    let from = (i as i64 + by).rem_euclid(DEGREE as i64 / 2);
                    *number += if from < 16 { weight as f64 } else { 0.0 };
                }
            }
            truthful(&p, &format!("{scheme}, sums"), sum.as_ref().unwrap(), &numbers);
        }
    }
}
