//! CKKS with multiplication (Cheon, Kim, Kim and Song 2017): what differs from the other schemes of
//! [`crate::rlwe`].

pub(crate) mod encoding;
pub(crate) mod sharing;
