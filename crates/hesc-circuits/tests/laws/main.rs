//! What every circuit must obey, on every scheme. `docs/laws.md` says which law guards what.

mod allocation;
mod ciphers;
mod circuits;
mod codes;
mod digits;
mod errors;
mod fusion;
mod gates;
mod gates_noise;
#[path = "../../examples/fuzz_decoders/hostile/mod.rs"]
mod hostile;
mod hostile_objects;
mod integers;
mod origins;
mod party;
mod readers;
mod slots;
mod values;
mod vectors;
