//! Hostile objects into every reader: `cargo run --release --example fuzz_decoders -- CASES [SEED]`.
//!
//! Starts from valid objects of all schemes. Half of the cases are damaged in ways that a parser trips
//! over (bits, bytes, lengths, counts, splices of two objects), half are well-formed lies: fields with
//! other plausible values and parts of other objects. What is accepted is used, and what protects its
//! user is asked for. A panic, an abort or a hang is a failure; so is an allocation that the size of the
//! input does not justify, which shows at the process's memory limit (run it under `ulimit -v`).

mod hostile;

use hostile::{Tally, all_targets, attack, valid_objects_are_read};

/// Cases of each turn.
const TURN: u64 = 50_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let cases: u64 = arguments.next().as_deref().unwrap_or("10000").parse()?;
    let seed: u64 = arguments.next().as_deref().unwrap_or("1").parse()?;
    let threads = std::thread::available_parallelism()?.get() as u64;
    let targets = all_targets()?;
    valid_objects_are_read(&targets);
    let mut all = Tally::default();
    let turns = cases.div_ceil(TURN);
    let of_turn = |turn: u64| TURN.min(cases - turn * TURN);
    for first in (0..turns).step_by(threads as usize) {
        let tallies = std::thread::scope(|scope| {
            let turns = first..turns.min(first + threads);
            // A seed for each turn: the same cases on any number of threads.
            let attacks: Vec<_> = turns
                .map(|turn| {
                    let (targets, cases) = (&targets, of_turn(turn));
                    scope.spawn(move || attack(targets, cases, seed.wrapping_mul(1 << 32) + turn))
                })
                .collect();
            attacks.into_iter().map(|attack| attack.join()).collect::<Vec<_>>()
        });
        for tally in tallies {
            let tally = tally.map_err(|_| "a case failed; its message is above")?;
            all.refused += tally.refused;
            all.accepted += tally.accepted;
            all.asked += tally.asked;
            all.slowest = all.slowest.max(tally.slowest);
        }
        println!("{} cases", (first + threads).min(turns) * TURN.min(cases));
    }
    println!(
        "{cases} cases, seed {seed}: {} refused, {} accepted and used, {} protections asked for, all \
         held; the longest case took {:.0?}",
        all.refused, all.accepted, all.asked, all.slowest
    );
    Ok(())
}
