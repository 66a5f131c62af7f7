//! Encoding (B2S) and decoding (S2B) in bits per second on one thread.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hesc_stochastic::{Encoder, EncoderConfig, Generator, Representation};

fn encoders(c: &mut Criterion) {
    let values: Vec<f64> = (0..64).map(|i| f64::from(i) / 32.0 - 1.0).collect();
    for stream_length in [64, 256, 1024, 8192] {
        let mut group = c.benchmark_group(format!("stochastic/L={stream_length}/streams=64"));
        group.throughput(Throughput::Elements((values.len() * stream_length) as u64));
        for generator in Generator::ALL {
            let config = EncoderConfig {
                generator,
                representation: Representation::InvertedBipolar,
                stream_length,
                first_dimension: 1,
                factors: 2,
                random_state: 1,
            };
            group.bench_function(BenchmarkId::new("encode", generator), |b| {
                b.iter(|| Encoder::new(config).encode(&values));
            });
            if generator == Generator::Sobol
                && let Ok((streams, _)) = Encoder::new(config).encode(&values)
            {
                group.bench_function("decode", |b| {
                    b.iter(|| streams.values(Representation::InvertedBipolar));
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, encoders);
criterion_main!(benches);
