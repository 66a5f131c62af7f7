//! BGV on rings of odd index, plaintext modulus 2: products, their way down, and unpacking, by one thread. Times
//! are to be held against the transform of 8192 points modulo a 50-bit prime, which comes first.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use hesc_math::ring::Prime;
use hesc_math::{AesCtrRng, RingIndex};
use hesc_schemes::Assurance;
use hesc_schemes::rlwe::{
    Basis, Ciphertext, GaloisKeys, PlaintextSpace, RelinKey, Rlwe, SchemeKind, Spec,
};
use rand_core::SeedableRng;

struct World {
    scheme: Rlwe,
    relin: RelinKey,
    galois: GaloisKeys,
    fresh: Ciphertext,
}

/// Primes of so many bits, of which the last is the special one.
fn world(index: usize, bits: u32, primes: usize) -> World {
    let ring = RingIndex::new(index).expect("a ring");
    let mut coeff_moduli = ring.ntt_primes(bits, primes + 1).expect("primes");
    let special_moduli = vec![coeff_moduli.remove(0)];
    let spec = Spec {
        scheme: SchemeKind::Bgv,
        ring,
        coeff_moduli,
        levels: Vec::new(),
        special_moduli,
        plaintext: PlaintextSpace::Integers { plain_modulus: 2 },
        bound: 1.0,
        packing: None,
    };
    let scheme = Rlwe::new(spec, Assurance::Insecure).expect("a set");
    let rng = &mut AesCtrRng::from_seed([3; 32]);
    let (secret, _) = scheme.generate_keys(rng);
    let relin = scheme.generate_relin_key(&secret, rng).expect("a key");
    let elements = scheme.unpacking_elements().expect("slots");
    let galois = scheme.generate_galois_keys(&secret, &elements, rng).expect("keys");
    let bits: Vec<u64> = (0..scheme.ring_degree() as u64).map(|i| i * i % 3 % 2).collect();
    let plaintext = scheme.encode_slots(Basis::Normal, &bits).expect("bits");
    let seeded = scheme.encrypt_seeded(&secret, &plaintext, rng).expect("a ciphertext");
    let fresh = scheme.expand(&seeded).expect("a ciphertext");
    World { scheme, relin, galois, fresh }
}

fn rings(criterion: &mut Criterion) {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("one thread");
    let mut group = criterion.benchmark_group("rings");
    let ring = RingIndex::power_of_two(8192).expect("a ring");
    let prime = Prime::new(ring, ring.ntt_primes(50, 1).expect("a prime")[0]).expect("a prime");
    let mut words: Vec<u64> = (0..8192).collect();
    group.bench_function("T", |bencher| bencher.iter(|| prime.forward(black_box(&mut words))));
    group.sample_size(20);
    for primes in 1..=4 {
        let w = world(13107, 44, primes);
        group.bench_function(format!("product 13107, {primes} primes"), |bencher| {
            bencher.iter(|| {
                let product = w.scheme.multiply(&w.fresh, &w.fresh).expect("a product");
                let below = (primes - 1).max(1);
                w.scheme.relinearise_to(&product, &w.relin, below).expect("two parts")
            });
        });
    }
    group.sample_size(10);
    for (index, bits, primes) in [(13107, 44, 3), (8191, 44, 3), (6529, 46, 2)] {
        let w = world(index, bits, primes);
        let outputs: Vec<usize> = (0..w.galois.elements().count() + 1).collect();
        group.bench_function(format!("unpack {index}, {primes} primes"), |bencher| {
            bencher.iter(|| {
                w.scheme
                    .unpack(&w.fresh, Basis::Normal, &outputs, &w.galois, primes - 1)
                    .expect("outputs")
            });
        });
    }
    group.finish();
}

criterion_group!(benches, rings);
criterion_main!(benches);
