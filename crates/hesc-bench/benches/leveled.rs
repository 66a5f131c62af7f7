//! BFV, BGV and CKKS with multiplication, operation by operation at four parameter sets, and the
//! transforms they are made of: a bound is the number of transforms times the time of one.

use criterion::{Criterion, criterion_group, criterion_main};
use hesc_math::ring::Prime;
use hesc_math::{AesCtrRng, RingIndex};
use hesc_schemes::rlwe::PlaintextSpace;
use hesc_schemes::rlwe::{Rlwe, SchemeKind, Spec};
use hesc_schemes::{Assurance, Complex64};
use rand_core::SeedableRng;

/// As in the Python module: the system's allocator gives pages back with every ciphertext.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Ring degree, bits and number of the primes of ciphertexts, number of special primes.
const SETS: [(usize, u32, usize, usize); 4] =
    [(4096, 36, 2, 1), (8192, 43, 4, 1), (16384, 48, 7, 2), (32768, 48, 15, 3)];

fn transforms(c: &mut Criterion) {
    for (n, bits, ..) in SETS {
        let prime = RingIndex::power_of_two(n)
            .and_then(|ring| Prime::new(ring, ring.ntt_primes(bits, 1)?[0]));
        let Ok(prime) = prime else { continue };
        let mut row: Vec<u64> = (0..n as u64).collect();
        let mut group = c.benchmark_group(format!("transform/N={n},{bits} bits"));
        group.bench_function("forward", |b| b.iter(|| prime.forward(&mut row)));
        group.bench_function("inverse", |b| b.iter(|| prime.inverse(&mut row)));
        group.finish();
    }
}

fn operations(c: &mut Criterion) {
    for (n, bits, levels, specials) in SETS {
        for kind in [SchemeKind::Bfv, SchemeKind::Bgv, SchemeKind::Ckks] {
            let Ok(ring) = RingIndex::power_of_two(n) else { continue };
            let Ok(primes) = ring.ntt_primes(bits, levels + specials) else { continue };
            let Ok(plain) = ring.ntt_primes(20, 1) else { continue };
            let spec = Spec {
                scheme: kind,
                ring,
                coeff_moduli: primes[specials..].to_vec(),
                special_moduli: primes[..specials].to_vec(),
                plaintext: match kind {
                    SchemeKind::Ckks => PlaintextSpace::Approximate { scale: 2f64.powi(30) },
                    _ => PlaintextSpace::Integers { plain_modulus: plain[0] },
                },
                bound: 1.0,
                packing: None,
                levels: Vec::new(),
            };
            let Ok(scheme) = Rlwe::new(spec, Assurance::HeStd2018) else { continue };
            one_set(c, &scheme, &format!("{kind}/N={n},{levels}+{specials} primes"));
        }
    }
}

fn one_set(c: &mut Criterion, scheme: &Rlwe, name: &str) {
    let mut rng = AesCtrRng::from_seed([1; 32]);
    let (secret, public) = scheme.generate_keys(&mut rng);
    let Ok(element) = scheme.rotation_element(1) else { return };
    let (Ok(relin), Ok(galois)) = (
        scheme.generate_relin_key(&secret, &mut rng),
        scheme.generate_galois_keys(&secret, &[element], &mut rng),
    ) else {
        return;
    };
    let integers: Vec<i64> = (0..2048).collect();
    let numbers: Vec<_> = integers.iter().map(|&i| Complex64::cis(i as f64)).collect();
    let encode = || match scheme.scheme() {
        SchemeKind::Ckks => {
            scheme.encode_bounded(&numbers, scheme.default_scale(), scheme.levels(), 1.5)
        }
        _ => scheme.encode_integers(&integers),
    };
    let Ok(plaintext) = encode() else { return };
    let Ok(a) = scheme.encrypt(&public, &plaintext, &mut rng) else { return };
    let (Ok(product), Ok(decrypted)) = (scheme.square(&a), scheme.decrypt(&secret, &a)) else {
        return;
    };
    let mut group = c.benchmark_group(name);
    group.sample_size(10);
    group.bench_function("encode", |b| b.iter(encode));
    group.bench_function("decode", |b| {
        b.iter(|| match scheme.scheme() {
            SchemeKind::Ckks => scheme.decode_complex(&decrypted).map(|values| values.len()),
            _ => scheme.decode_integers(&decrypted).map(|values| values.len()),
        });
    });
    group.bench_function("encrypt", |b| b.iter(|| scheme.encrypt(&public, &plaintext, &mut rng)));
    group.bench_function("encrypt_seeded", |b| {
        b.iter(|| scheme.encrypt_seeded(&secret, &plaintext, &mut rng));
    });
    group.bench_function("decrypt", |b| b.iter(|| scheme.decrypt(&secret, &a)));
    group.bench_function("add", |b| b.iter(|| scheme.add(&a, &a)));
    group.bench_function("multiply_scalar", |b| b.iter(|| scheme.multiply_scalar(&a, 7)));
    group.bench_function("multiply_plain", |b| b.iter(|| scheme.multiply_plain(&a, &plaintext)));
    group.bench_function("multiply", |b| b.iter(|| scheme.multiply(&a, &a)));
    group.bench_function("square", |b| b.iter(|| scheme.square(&a)));
    group.bench_function("relinearise", |b| b.iter(|| scheme.relinearise(&product, &relin)));
    group.bench_function("rotate", |b| b.iter(|| scheme.rotate(&a, 1, &galois)));
    group.bench_function("mod_switch", |b| b.iter(|| scheme.mod_switch(&a)));
    group.finish();
}

criterion_group!(benches, transforms, operations);
criterion_main!(benches);
