//! Encryptions that encrypt nothing: every law and circuit runs on them without the cryptography.

pub mod plain;
pub mod simulated;

pub use plain::Plain;
pub use simulated::Simulated;
