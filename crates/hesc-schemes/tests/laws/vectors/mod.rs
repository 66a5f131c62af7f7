//! Laws of BFV, BGV and CKKS with multiplication, each on all three schemes and on chains of several shapes.

mod bounds;
mod claims;
mod endless;
mod forged;
mod keys;
mod lengths;
mod levels;
mod lies;
mod noise;
mod opened;
mod operations;
mod party;
mod programs;
mod raising;
mod randomness;
mod readers;
mod refusals;
mod replay;
mod rings;
mod sharing;
mod slots;
