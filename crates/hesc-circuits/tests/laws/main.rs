//! What every circuit must obey, on every scheme. `docs/laws.md` says which law guards what.

mod allocation;
mod circuits;
mod errors;
mod gates;
mod leveled;
