//! What arithmetic must obey, beside implementations that are not ours. `docs/laws.md` says which law guards what.

mod sampling;
mod secp256r1;
mod wide;
