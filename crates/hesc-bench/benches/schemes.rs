//! Encryption, decryption and addition, a batch at a time on one thread, in bits per second; a
//! copy of the same ciphertexts beside the addition.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hesc_math::{AesCtrRng, ntt_primes};
use hesc_schemes::Assurance;
use hesc_schemes::rlwe::PlaintextSpace;
use hesc_schemes::rlwe::Spec;
use hesc_schemes::{Bfv, Ckks, EcElgamal, EcElgamalSecp256r1, Elgamal, Gm, Packing, Scheme};
use rand_core::{Rng, SeedableRng};

/// Blocks of a batch: below what a second thread takes.
const BLOCKS: usize = 16;

fn bench<S: Scheme>(c: &mut Criterion, name: &str, scheme: &S) {
    let mut rng = AesCtrRng::from_seed([1; 32]);
    let (secret, public) = scheme.generate_keys(&mut rng);
    let n = scheme.block_length();
    let bits: Vec<u64> = (0..BLOCKS * n / 64).map(|_| rng.next_u64()).collect();
    let Ok(a) = scheme.encrypt(&public, &bits, &mut rng) else { return };
    let bytes = scheme.write(&a);
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements((BLOCKS * n) as u64));
    group.bench_function("encrypt", |b| b.iter(|| scheme.encrypt(&public, &bits, &mut rng)));
    group.bench_function("encrypt_seeded", |b| {
        b.iter(|| scheme.encrypt_seeded(&secret, &bits, &mut rng));
    });
    group.bench_function("decrypt", |b| b.iter(|| scheme.decrypt(&secret, &a)));
    group.bench_function("add", |b| b.iter(|| scheme.combine(&a, &a)));
    group.bench_function("copy", |b| b.iter(|| a.clone()));
    group.bench_function("compact", |b| b.iter(|| scheme.compact(&a)));
    let read = |bytes: &[u8]| -> Result<S::Ciphertexts, _> { scheme.read(bytes) };
    group.bench_function("read", |b| b.iter(|| read(&bytes)));
    group.bench_function("write", |b| b.iter(|| scheme.write(&a)));
    group.finish();
}

fn spec(ring_degree: usize, bits: &[u32], packing: Packing, plaintext: PlaintextSpace) -> Spec {
    let mut coeff_moduli: Vec<u64> = Vec::new();
    for &bits in bits {
        coeff_moduli.extend(ntt_primes(bits, ring_degree, 1).unwrap_or_default());
    }
    Spec::streams(ring_degree, coeff_moduli, packing, plaintext).unwrap()
}

fn schemes(c: &mut Criterion) {
    let integers = |plain_modulus| PlaintextSpace::Integers { plain_modulus };
    let guidelines = Assurance::Guidelines2024;
    let set = spec(1024, &[26], Packing::Coefficients, integers(2));
    if let Ok(scheme) = Bfv::<u32>::new(set, guidelines) {
        bench(c, "bfv/N=1024/logq=26/t=2/coefficients", &scheme);
    }
    let set = spec(1024, &[27], Packing::Slots, integers(12_289));
    if let Ok(scheme) = Bfv::<u32>::new(set, Assurance::HeStd2018) {
        bench(c, "bfv/N=1024/logq=27/t=12289/slots", &scheme);
    }
    let set = spec(2048, &[26, 27], Packing::Slots, integers(12_289));
    if let Ok(scheme) = Bfv::<u32>::new(set, guidelines) {
        bench(c, "bfv/N=2048/logq=26+27/t=12289/slots", &scheme);
    }
    let set = spec(2048, &[54], Packing::Slots, integers(12_289));
    if let Ok(scheme) = Bfv::<u64>::new(set, Assurance::HeStd2018) {
        bench(c, "bfv/N=2048/logq=54/t=12289/slots", &scheme);
    }
    let scale = PlaintextSpace::Approximate { scale: 21f64.exp2() };
    let set = spec(1024, &[26], Packing::ComplexSlots, scale);
    if let Ok(scheme) = Ckks::<u32>::new(set, guidelines) {
        bench(c, "ckks/N=1024/logq=26/complex_slots", &scheme);
    }
    if let Ok(scheme) = Gm::new(3072, Assurance::Guidelines2024) {
        bench(c, "gm/3072", &scheme);
    }
    if let Ok(scheme) = Elgamal::new(64) {
        bench(c, "elgamal/ffdhe3072/max_count=64", &scheme);
    }
    if let Ok(scheme) = EcElgamal::new(64) {
        bench(c, "ec_elgamal/ristretto255/max_count=64", &scheme);
    }
    if let Ok(scheme) = EcElgamalSecp256r1::new(64) {
        bench(c, "ec_elgamal/secp256r1/max_count=64", &scheme);
    }
}

criterion_group!(benches, schemes);
criterion_main!(benches);
