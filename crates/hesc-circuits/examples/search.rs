//! Times of searches, beside that of a transform: `cargo run --release --example search -- 1000000`.
//!
//! Every score is decrypted and compared with the clear one. One thread with `RAYON_NUM_THREADS=1`.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use hesc_circuits::search::{
    Asked, Declared, Entries, Index, Plan, answer_bytes, decrypt, encrypt, generate_keys,
    key_bytes, query_bytes, read_keys, shared_secrets, signs_of_bits,
};
use hesc_math::ring::Prime;
use hesc_math::{AesCtrRng, RingIndex};
use rand_core::{Rng as _, SeedableRng};

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

/// The least of some times, in milliseconds, and what was computed last.
fn least<T>(times: usize, mut work: impl FnMut() -> T) -> (f64, T) {
    let mut time = f64::INFINITY;
    let mut found = None;
    for _ in 0..times {
        let clock = Instant::now();
        let start = now(clock);
        found = Some(black_box(work()));
        time = time.min(1e3 * (now(clock) - start));
    }
    (time, found.unwrap_or_else(work))
}

/// The time of a transform of 8192 points modulo a prime of 50 bits, in milliseconds.
fn transform() -> Result<f64, Box<dyn Error>> {
    let ring = RingIndex::power_of_two(8192)?;
    let prime = Prime::new(ring, ring.ntt_primes(50, 1)?[0])?;
    let mut row: Vec<u64> = (0..8192).map(|i| i * i).collect();
    let repeated = least(60, || (0..20).for_each(|_| prime.forward(&mut row)));
    Ok(repeated.0 / 20.0)
}

/// Entries of -15 to 15, with sums of squares up to a bound.
fn vector(d: usize, square: i64, rng: &mut AesCtrRng) -> Vec<i16> {
    let mut left = square;
    let entry = |_| {
        let x = (rng.next_u32() % 31) as i64 - 15;
        let x = if x * x <= left { x } else { 0 };
        left -= x * x;
        x as i16
    };
    (0..d).map(entry).collect()
}

fn run(name: &str, declared: Declared, records: usize, t: f64) -> Result<(), Box<dyn Error>> {
    let plan = Plan::new(declared)?;
    let (d, rng) = (plan.dimensions(), &mut AesCtrRng::from_seed([1; 32]));
    let mut draw = || match declared.entries {
        Entries::Signs => signs_of_bits((0..d).map(|_| rng.next_u32() & 1 == 1)),
        Entries::Integers { record_square, .. } => vector(d, record_square as i64, rng),
    };
    let query = draw();
    // A few thousand, again and again: drawing takes longer than searching.
    let some: Vec<i16> = (0..4099).flat_map(|_| draw()).collect();
    let mut index = Index::new(&plan);
    let start = Instant::now();
    let mut rows = Vec::new();
    while rows.len() / d < records {
        let more = (records - rows.len() / d).min(some.len() / d);
        rows.extend_from_slice(&some[..more * d]);
    }
    let drawn = start.elapsed();
    rows.chunks(64 * plan.ring_degree() * d).try_for_each(|rows| index.append(rows))?;
    let packed = (start.elapsed() - drawn).as_secs_f64();
    let (secret, _) = plan.products().scheme().generate_keys(rng);
    let shared = shared_secrets(&plan, &secret)?;
    let keys = match declared.expanded {
        true => Some(read_keys(&plan, &generate_keys(&plan, &secret, &shared, rng)?)?),
        false => None,
    };
    let (asking, bytes) = least(5, || encrypt(&plan, &secret, &query, rng));
    let bytes = bytes?;
    let asked = [Asked { query: &bytes, keys: keys.as_ref() }];
    let mut one = Index::new(&plan);
    one.append(&rows[..d])?;
    let (alone, _) = least(9, || one.answer(&asked));
    let (server, answer) = least(if records > 500_000 { 5 } else { 9 }, || index.answer(&asked));
    let answer = answer?.remove(0);
    let (client, scores) = least(1, || decrypt(&plan, &secret, &shared, &answer));
    let scores = scores?;
    let exact = |row: &[i16]| {
        row.iter().zip(&query).map(|(&x, &y)| i64::from(x) * i64::from(y)).sum::<i64>()
    };
    let wrong =
        rows.chunks_exact(d).zip(scores.iter()).filter(|(row, score)| exact(row) != **score);
    let (ciphertexts, levels) = plan.ciphertexts();
    println!(
        "{name}, {records} records: {server:.2} ms = {:.0} T on {} threads (a block alone {alone:.2} ms), {} wrong",
        server / t,
        rayon::current_num_threads(),
        wrong.count() + records.abs_diff(scores.len()),
    );
    println!(
        "  N = {}, q of {} bits, {ciphertexts} ciphertexts, {levels} levels; {} bytes up, {} down ({:.2} a record), keys {}; \
         {:.0} MB in memory, packed in {packed:.2} s; client {asking:.2} and {client:.1} ms",
        plan.ring_degree(),
        plan.word_bits(),
        query_bytes(&plan),
        answer_bytes(&plan, records),
        answer_bytes(&plan, records) as f64 / records as f64,
        key_bytes(&plan),
        1e-6 * index.bytes() as f64,
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let most = std::env::args().nth(1).map_or(Ok(100_000), |most| most.parse())?;
    let t = transform()?;
    println!("T = {:.1} us", 1e3 * t);
    let integers = |expanded, shared| Declared {
        dimensions: 128,
        entries: Entries::Integers {
            query_bits: 6,
            record_bits: 6,
            query_square: 10_240,
            record_square: 10_240,
        },
        most_records: 1_000_000,
        expanded,
        shared,
        signs: [7; 32],
    };
    for records in [10_000, 100_000, 1_000_000].into_iter().filter(|records| *records <= most) {
        run("128 x 6 bits, four blocks share", integers(true, 4), records, t)?;
        run("128 x 6 bits", integers(true, 1), records, t)?;
        run("128 x 6 bits, keyless", integers(false, 1), records, t)?;
        let codes = |expanded| Declared::of_codes(512, 1_000_000, expanded, [7; 32]);
        run("codes of 512 bits, keyless", codes(false), records, t)?;
        run("codes of 512 bits", codes(true), records, t)?;
    }
    Ok(())
}
