//! Residues of 3072 bits; a figure is for 64 of them, the bits of a block.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hesc_math::AesCtrRng;
use hesc_math::wide::{FixedBase, JacobiSymbol, LANES, Octet, WideModulus};
use rand_core::SeedableRng;

const RESIDUES: usize = 64;

fn wide(c: &mut Criterion) {
    let rng = &mut AesCtrRng::from_seed([1; 32]);
    let modulus = WideModulus::from_be_bytes(&[0xFF; 384]).unwrap();
    let mut a = vec![Octet::ZERO; RESIDUES / LANES * modulus.limbs()];
    modulus.sample(&mut a, rng);
    let (b, mut out) = (a.clone(), a.clone());
    let mut group = c.benchmark_group("3072 bits");
    group.throughput(Throughput::Elements(RESIDUES as u64));
    group.bench_function("mul", |bench| bench.iter(|| modulus.mul(&mut out, &a, &b)));
    group.bench_function("square", |bench| bench.iter(|| modulus.square_assign(&mut out)));
    group.bench_function("sample", |bench| bench.iter(|| modulus.sample(&mut out, rng)));
    let symbol = JacobiSymbol::new(WideModulus::from_be_bytes(&[0xFF; 192]).unwrap());
    group.bench_function("jacobi, 1536 bits", |bench| {
        bench.iter(|| symbol.negatives(&a, modulus.limbs()));
    });
    group.sample_size(10);
    let base = FixedBase::new(&modulus, &[2], 275).unwrap();
    let digits = vec![Octet([9; LANES]); RESIDUES / LANES * base.windows()];
    group.bench_function("power of a fixed base", |bench| {
        bench.iter(|| base.power(&modulus, &digits));
    });
    group.bench_function("power", |bench| {
        bench.iter(|| modulus.power_assign(&mut out, &vec![11; base.windows()]));
    });
    group.finish();
}

criterion_group!(benches, wide);
criterion_main!(benches);
