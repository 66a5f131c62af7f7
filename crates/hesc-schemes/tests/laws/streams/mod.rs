//! Laws of encryptions that add bits.

mod arithmetic;
