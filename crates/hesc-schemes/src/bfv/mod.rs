//! BFV with multiplication (Brakerski 2012, Fan and Vercauteren 2012): what differs from the other
//! schemes of [`crate::rlwe`].

pub(crate) mod multiplication;
