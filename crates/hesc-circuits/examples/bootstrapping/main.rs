//! Bits in the slots of CKKS that bootstrap, a prototype: `cargo run --release --example bootstrapping`.
//!
//! Gates between bits of all slots, a bootstrap, gates on what comes out, a bootstrap; every bit is decrypted and compared with the
//! clear one. One thread with `RAYON_NUM_THREADS=1`. `--small` takes a ring that keeps nothing secret, `--rounds 8` bootstraps eight times
//! after the first, `--json` writes a line that programs read.

mod bits;
mod cosine;
mod transforms;

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use bits::{Bits, Bootstrap, Keys, Pair, Shape};
use hesc_math::ring::Prime;
use hesc_math::{AesCtrRng, RingIndex};
use hesc_schemes::Assurance;
use hesc_schemes::rlwe::Rlwe;
use rand_core::{Rng as _, SeedableRng as _};
use transforms::Transform;

/// 128 bits by the guidelines of 2024 for uniform ternary secrets: `log2 QP` of 862 of 868.
const LARGE: Shape = Shape {
    ring_degree: 32768,
    // Twelve deviations of a multiple of the first prime.
    range: 512.0,
    products: (2, 3),
    gates: 1,
    bits: Bits { first: 37, to_coefficients: 28, scale: 35, to_slots: 33, special: 36 },
    specials: 5,
    assurance: Assurance::Guidelines2024,
};

/// Nothing is secret in it: for tests.
const SMALL: Shape =
    Shape { ring_degree: 1024, range: 64.0, assurance: Assurance::Insecure, ..LARGE };

/// Seconds that this thread was on a processor where the system tells and there is one thread: others may work beside it.
fn now(start: Instant) -> f64 {
    let own = || {
        // Counted up to now only where a thread was taken off.
        std::thread::yield_now();
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    match own().filter(|_| rayon::current_num_threads() == 1) {
        Some(nanoseconds) => 1e-9 * nanoseconds,
        None => start.elapsed().as_secs_f64(),
    }
}

/// The seconds that a transform of 8192 points modulo a prime of 50 bits takes, which figures from other machines are compared by.
fn transform() -> Result<f64, Box<dyn Error>> {
    let ring = RingIndex::power_of_two(8192)?;
    let prime = Prime::new(ring, ring.ntt_primes(50, 1)?[0])?;
    let mut row: Vec<u64> = (0..8192).map(|i| i * i).collect();
    let clock = Instant::now();
    let repeated = |_| {
        let start = now(clock);
        (0..20).for_each(|_| prime.forward(black_box(&mut row)));
        (now(clock) - start) / 20.0
    };
    Ok((0..60).map(repeated).fold(f64::INFINITY, f64::min))
}

/// Stages with the seconds that each took.
struct Times(Vec<(&'static str, f64)>);

impl Times {
    fn time<T>(&mut self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let clock = Instant::now();
        let start = now(clock);
        let result = work();
        self.0.push((stage, now(clock) - start));
        result
    }
}

/// What a run found.
struct Report {
    lines: Vec<(&'static str, f64)>,
}

impl Report {
    fn get(&self, name: &str) -> f64 {
        self.lines.iter().find(|(line, _)| *line == name).map_or(f64::NAN, |(_, value)| *value)
    }

    fn json(&self) -> String {
        let fields: Vec<String> =
            self.lines.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
        format!("{{{}}}", fields.join(", "))
    }
}

/// How many numbers are on the wrong side of a half, and the largest error.
fn compared(found: &[f64], bits: &[u8]) -> (f64, f64) {
    let errors = found.iter().zip(bits).map(|(value, &bit)| (value - f64::from(bit)).abs());
    // What is no number is wrong.
    let wrong = errors.clone().filter(|error| error.is_nan() || *error >= 0.5).count();
    (wrong as f64, errors.fold(0.0, f64::max))
}

fn run(shape: Shape, rounds: usize) -> Result<Report, Box<dyn Error>> {
    let rng = &mut AesCtrRng::from_seed([7; 32]);
    let mut setup = Times(Vec::new());
    let spec = shape.spec()?;
    let (modulus, key_modulus) = (spec.log2_modulus(), spec.log2_key_modulus());
    let scheme = setup.time("set_s", || Rlwe::new(spec, shape.assurance))?;
    let keys = setup.time("keys_s", || Keys::new(&scheme, &shape, rng))?;
    let circuit = setup.time("constants_s", || Bootstrap::new(&scheme, shape, &keys))?;
    let n = shape.ring_degree;
    let mut draw = || -> Vec<u8> { (0..n).map(|_| (rng.next_u32() & 1) as u8).collect() };
    let (x, y) = (draw(), draw());
    let (a, b) = (circuit.encrypt(&x, rng)?, circuit.encrypt(&y, rng)?);

    let mut bits: Vec<u8> = x.iter().zip(&y).map(|(x, y)| x & y).collect();
    let gates = circuit.and(&a, &b)?;
    let (_, error_before) = compared(&circuit.decrypt(&gates)?, &bits);
    // Once for the constants of the cosine.
    circuit.run(&gates)?;
    let mut times = Times(Vec::new());
    let mut pair = staged(&circuit, &a, &b, &mut times)?;
    let (mut wrong, error) = compared(&circuit.decrypt(&pair)?, &bits);

    // Then half adders of both halves of what came out, again and again.
    let mut error_next = 0.0_f64;
    for _ in 0..rounds {
        let (low, high) = bits.split_at(n / 2);
        let both = || low.iter().zip(high);
        bits = both().map(|(x, y)| x ^ y).chain(both().map(|(x, y)| x & y)).collect();
        let [low, high] = &pair;
        let carry = scheme.product(&keys.relin, low, Some(high))?;
        pair = circuit.run(&[scheme.add(low, high)?, carry])?;
        let (more, error) = compared(&circuit.decrypt(&pair)?, &bits);
        (wrong, error_next) = (wrong + more, error_next.max(error));
    }

    let total: f64 = times.0.iter().map(|(_, seconds)| seconds).sum();
    let level = |level: usize| scheme.log2_modulus_of(level);
    let rotations = [&circuit.to_coefficients, &circuit.to_slots].map(Transform::rotations);
    let mut lines = vec![
        ("t_us", 1e6 * transform()?),
        ("ring_degree", n as f64),
        ("log2_q", modulus),
        ("log2_qp", key_modulus),
        ("primes", (scheme.levels() + shape.specials) as f64),
        ("range", shape.range),
        ("range_deviations", shape.range / (n as f64 / 18.0).sqrt()),
        ("bits", n as f64),
        ("levels_before", shape.low() as f64),
        ("levels_after", shape.high() as f64),
        ("modulus_bits_before", level(shape.low())),
        ("modulus_bits_after", level(shape.high())),
        ("key_bytes", keys.bytes(&scheme) as f64),
        (
            "constants_bytes",
            8.0 * (circuit.to_slots.words() + circuit.to_coefficients.words()) as f64,
        ),
        ("automorphisms", keys.galois.elements().count() as f64),
        ("low_rotations_hoisted", rotations[0].0 as f64),
        ("low_rotations_alone", rotations[0].1 as f64),
        ("high_rotations_hoisted", rotations[1].0 as f64),
        ("high_rotations_alone", rotations[1].1 as f64),
        ("products", 2.0 * circuit.cosine.products() as f64),
    ];
    lines.extend(setup.0);
    lines.extend(times.0);
    lines.extend([
        ("total_s", total),
        ("us_a_gate", 1e6 * total / n as f64),
        ("bootstraps", 1.0 + rounds as f64),
        ("wrong", wrong),
        ("error_before", error_before),
        ("error", error),
        ("error_next", error_next),
    ]);
    Ok(Report { lines })
}

/// A conjunction and its bootstrap, stage by stage.
fn staged(
    circuit: &Bootstrap<'_>,
    a: &Pair,
    b: &Pair,
    times: &mut Times,
) -> Result<Pair, Box<dyn Error>> {
    let gates = times.time("gates_s", || circuit.and(a, b))?;
    let low = times.time("to_coefficients_s", || circuit.in_coefficients(&gates))?;
    let raised = times.time("raising_s", || circuit.raised(&low))?;
    let [real, imaginary] = times.time("to_slots_s", || circuit.in_slots(&raised))?;
    let bits = |half| circuit.cosine.bits(half);
    let bits = times.time("cosine_s", || [bits(&real), bits(&imaginary)]);
    let [real, imaginary] = bits;
    Ok([real?, imaginary?])
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let place = |name: &str| arguments.iter().position(|argument| argument == name);
    let asked = |name: &str| place(name).is_some();
    let rounds = place("--rounds").and_then(|at| arguments.get(at + 1));
    let rounds = rounds.map_or(Ok(1), |rounds| rounds.parse())?;
    let report = run(if asked("--small") { SMALL } else { LARGE }, rounds)?;
    if asked("--json") {
        println!("{}", report.json());
        return Ok(());
    }
    for (name, value) in &report.lines {
        println!("{name:>22}  {value:.4}");
    }
    if report.get("wrong") == 0.0 { Ok(()) } else { Err("bits came out wrong".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All bits come back, again and again, with levels and an error that a further bootstrap takes.
    #[test]
    fn bits_bootstrap() {
        let report = run(SMALL, 3).unwrap();
        assert_eq!(report.get("wrong"), 0.0);
        assert!(report.get("levels_after") > report.get("levels_before"));
        for error in ["error", "error_next"] {
            assert!(report.get(error) < 1.0 / 64.0, "{error}: {}", report.get(error));
        }
    }

    /// What the table of the study says of the set: it is one of the guidelines, and its range is twelve deviations.
    #[test]
    fn the_large_set_keeps_the_guidelines() {
        let spec = LARGE.spec().unwrap();
        assert_eq!(spec.assurance(), Assurance::Guidelines2024);
        assert!(LARGE.range / (32768.0_f64 / 18.0).sqrt() > 11.9);
    }
}
