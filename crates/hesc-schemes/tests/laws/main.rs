//! What every scheme must obey, whatever its author had in mind. `docs/laws.md` says which law guards what.

mod streams;
mod vectors;
