//! Laws of encryptions that combine bits.

mod frames;
#[macro_use]
mod parties;
mod arithmetic;
mod bounds;
mod keys;
mod lattice;
mod lengths;
mod noise;
mod pads;
mod randomness;
mod readers;
mod refusals;
mod rerandomisation;
