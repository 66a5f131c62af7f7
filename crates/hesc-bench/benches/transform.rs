//! Transforms of odd rings beside those of power-of-two rings of about the same degree, 50-bit primes.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use hesc_math::RingIndex;
use hesc_math::ring::Prime;

fn forward(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("transform");
    for index in [8192, 4369, 16384, 13107, 8191, 6529, 32768, 21845, 65536, 65535] {
        let ring = RingIndex::new(index).expect("a ring");
        let q = ring.ntt_primes(50, 1).expect("a prime")[0];
        let prime = Prime::new(ring, q).expect("a prime of the ring");
        let mut words: Vec<u64> = (0..ring.degree() as u64).map(|i| i * i % q).collect();
        group.bench_function(BenchmarkId::new("forward", index), |bencher| {
            bencher.iter(|| prime.forward(black_box(&mut words)));
        });
        group.bench_function(BenchmarkId::new("inverse", index), |bencher| {
            bencher.iter(|| prime.inverse(black_box(&mut words)));
        });
    }
    group.finish();
}

criterion_group!(benches, forward);
criterion_main!(benches);
