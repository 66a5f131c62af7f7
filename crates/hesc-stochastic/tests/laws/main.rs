//! What streams and the errors stated of them must obey. `docs/laws.md` says which law guards what.

mod encoders;
mod errors;
mod products;
