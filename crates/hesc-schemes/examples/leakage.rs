//! A statistical look for secrets in running times, after O. Reparaz, J. Balasch and I. Verbauwhede,
//! *dude, is my code constant time?* (DATE 2017).
//!
//! Decryption, secret-key encryption and exponentiation are timed on two classes of inputs in random order: always
//! the same, or fresh random ones. Welch's t of the two means says whether time depends on the class:
//! below 4.5 nothing was found. That proves nothing, above all not on another machine. The last line
//! shows that the test can fail: it times a loop whose length depends on the class.
//!
//! Run: `cargo run --release --package hesc-schemes --features tfhe --example leakage -- [measurements]`

use std::hint::black_box;
use std::time::Instant;

use hesc_math::secp256r1::{self, SCALAR_BYTES};
use hesc_math::wide::{WideModulus, windows_of};
use hesc_math::{AesCtrRng, ntt_primes};
use hesc_schemes::Assurance;
use hesc_schemes::rlwe::PlaintextSpace;
use hesc_schemes::rlwe::Spec;
use hesc_schemes::{Bfv, EcElgamal, EcElgamalSecp256r1, Elgamal, Gm, Packing, Scheme, SchemeError};
use rand_core::{Rng, SeedableRng};

/// Above this, time depends on the class with near certainty.
const THRESHOLD: f64 = 4.5;
/// Measurements above this share of all are interruptions, not computations.
const KEPT: f64 = 0.9;

/// Welch's t of two samples after cropping both at the same time.
fn welch(samples: &[(bool, f64)]) -> f64 {
    let mut times: Vec<f64> = samples.iter().map(|sample| sample.1).collect();
    times.sort_by(f64::total_cmp);
    let limit = times[(times.len() as f64 * KEPT) as usize];
    let moments = |class: bool| {
        let of_class: Vec<f64> =
            samples.iter().filter(|s| s.0 == class && s.1 <= limit).map(|s| s.1).collect();
        let n = of_class.len() as f64;
        let mean = of_class.iter().sum::<f64>() / n;
        let variance = of_class.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, variance / n)
    };
    let ((m0, v0), (m1, v1)) = (moments(false), moments(true));
    (m0 - m1) / (v0 + v1).sqrt()
}

/// Times `operation` on inputs that `prepare` makes for a class.
fn measure<I>(
    count: usize,
    rng: &mut AesCtrRng,
    mut prepare: impl FnMut(bool, &mut AesCtrRng) -> I,
    mut operation: impl FnMut(&I),
) -> f64 {
    let mut samples = Vec::with_capacity(count);
    for _ in 0..count {
        let class = rng.next_u32() & 1 == 1;
        let input = prepare(class, rng);
        let started = Instant::now();
        operation(black_box(&input));
        samples.push((class, started.elapsed().as_nanos() as f64));
    }
    welch(&samples)
}

fn report(what: &str, t: f64) {
    let verdict = if t.abs() < THRESHOLD { "nothing found" } else { "TIME DEPENDS ON THE CLASS" };
    println!("{what:66} t = {t:7.2}  {verdict}");
}

fn check<S: Scheme>(name: &str, scheme: &S, count: usize) -> Result<(), SchemeError> {
    let rng = &mut AesCtrRng::from_seed([1; 32]);
    let (secret, public) = scheme.generate_keys(rng);
    let words = scheme.block_length() / 64;
    let bits_of = |class: bool, rng: &mut AesCtrRng| -> Vec<u64> {
        (0..words).map(|_| if class { rng.next_u64() } else { 0 }).collect()
    };
    // A pool made beforehand, so that both classes come from memory alike.
    let mut pools: [Vec<S::Ciphertexts>; 2] = Default::default();
    for (class, pool) in [false, true].into_iter().zip(&mut pools) {
        for _ in 0..64 {
            let bits = bits_of(class, rng);
            pool.push(scheme.encrypt(&public, &bits, rng)?);
        }
    }
    let decrypt = measure(
        count,
        rng,
        |class, rng| &pools[usize::from(class)][rng.next_u32() as usize % 64],
        |ciphertexts| {
            let _ = black_box(scheme.decrypt(&secret, *ciphertexts));
        },
    );
    report(&format!("{name}: decryption of zeros or random bits"), decrypt);
    let noise = &mut AesCtrRng::from_seed([2; 32]);
    let encrypt = measure(count, rng, bits_of, |bits| {
        let _ = black_box(scheme.encrypt_seeded(&secret, bits, noise));
    });
    report(&format!("{name}: secret-key encryption of zeros or random bits"), encrypt);
    Ok(())
}

/// Exponents of zeros or random ones, on residues and on points.
fn check_exponents(count: usize, rng: &mut AesCtrRng) -> Result<(), hesc_math::MathError> {
    let exponent = |class: bool, rng: &mut AesCtrRng| {
        let mut bytes = [0; SCALAR_BYTES];
        if class {
            rng.fill_bytes(&mut bytes);
        }
        windows_of(&bytes, 256)
    };
    let modulus = WideModulus::from_be_bytes(&[0xFF; 384])?;
    let base = modulus.splat_be(&[7])?;
    let power = measure(count, rng, exponent, |windows| {
        modulus.power_assign(&mut base.clone(), windows);
    });
    report("powers of residues: exponent zero or random", power);
    let point = secp256r1::neutral(8);
    let product = measure(count, rng, exponent, |windows| {
        secp256r1::multiply(&mut point.clone(), windows);
    });
    report("multiples of points: scalar zero or random", product);
    Ok(())
}

/// Blocks of bits on the torus, and the keys that evaluate on them: one secret key or many.
#[cfg(feature = "tfhe")]
fn check_tfhe(count: usize, rng: &mut AesCtrRng) -> Result<(), SchemeError> {
    use hesc_schemes::streams::Encrypt;
    use hesc_schemes::streams::tfhe::{Spec, Tfhe};

    let digits = [(23, 1), (3, 5), (16, 1)];
    let spec = Spec::of([2048, 860], [-48.32, -18.749], digits);
    check("tfhe_2048", &Tfhe::new(spec, Assurance::Guidelines2024)?, count)?;
    let spec = Spec::of([512, 64], [-50.0, -30.0], digits);
    let scheme = Tfhe::new(spec, Assurance::Insecure)?;
    let secrets: Vec<_> = (0..64).map(|_| scheme.generate_keys(rng).0).collect();
    let randomness = &mut AesCtrRng::from_seed([4; 32]);
    let keys = measure(
        count,
        rng,
        |class, rng| &secrets[usize::from(class) * (rng.next_u32() as usize % 64)],
        |secret| {
            let _ = black_box(scheme.generate_evaluation_key(secret, randomness));
        },
    );
    report("tfhe: evaluation keys of one secret or of many", keys);
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: usize = std::env::args().nth(1).as_deref().unwrap_or("4000").parse()?;
    let plaintext = PlaintextSpace::Integers { plain_modulus: 2 };
    let moduli = ntt_primes(26, 1024, 1)?;
    let spec = Spec::streams(1024, moduli, Packing::Coefficients, plaintext)?;
    check("bfv_1024", &Bfv::<u32>::new(spec, Assurance::Guidelines2024)?, count)?;
    check("gm_3072", &Gm::new(3072, Assurance::Guidelines2024)?, count)?;
    check("elgamal_ffdhe3072", &Elgamal::new(4)?, count / 8)?;
    check("ec_elgamal_ristretto255", &EcElgamal::new(4)?, count)?;
    check("ec_elgamal_secp256r1", &EcElgamalSecp256r1::new(4)?, count)?;
    let rng = &mut AesCtrRng::from_seed([3; 32]);
    #[cfg(feature = "tfhe")]
    check_tfhe(count, rng)?;
    check_exponents(count / 8, rng)?;
    let control = measure(
        count,
        rng,
        |class, rng| 4000 + u64::from(class) * (rng.next_u64() % 2000),
        |&rounds| {
            black_box((0..rounds).fold(0u64, |sum, i| sum ^ black_box(i)));
        },
    );
    report("control: a loop whose length depends on the class", control);
    Ok(())
}
