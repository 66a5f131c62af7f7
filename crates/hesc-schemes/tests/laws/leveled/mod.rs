//! Laws of BFV, BGV and CKKS with multiplication.

mod noise;
mod party;
mod programs;
