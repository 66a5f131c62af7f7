//! What products are made of.

use crate::Origin;

/// The number of a stream that is not told.
pub const UNKNOWN_ROW: u32 = u32::MAX;

/// One factor of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Factor {
    /// Which draw it comes from.
    pub origin: Origin,
    /// Which of its streams it is, or [`UNKNOWN_ROW`].
    pub row: u32,
}

/// How many factors of one jointly encoded product these are, if they are its first and no others:
/// the errors of such prefixes are differences of neighbours, so that those of `k` and `k + 1`
/// factors have a covariance of minus half their variance and others none.
pub fn joint_prefix(factors: &[Factor]) -> Option<u32> {
    let mut found = 0u64;
    let mut head = None;
    for Factor { origin, row } in factors {
        let Origin::Joint { source, first, factor, .. } = *origin else { return None };
        if *head.get_or_insert((source, first, *row)) != (source, first, *row)
            || *row == UNKNOWN_ROW
            || factor >= 64
        {
            return None;
        }
        found |= 1 << factor;
    }
    let count = factors.len() as u32;
    (count > 0 && found.trailing_ones() == count && found.count_ones() == count).then_some(count)
}
