use crate::SchemeError;
use crate::error::refuse;

/// Small primes in combinations, at most: levels are named in a byte.
const MOST_SMALL: usize = 7;

/// Some of the primes of ciphertexts, by their places in [`super::Spec::coeff_moduli`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrimeSet(u64);

impl PrimeSet {
    /// The set of these places; none is beyond 63.
    pub fn new(places: impl IntoIterator<Item = usize>) -> Self {
        Self(places.into_iter().fold(0, |bits, place| bits | 1 << place))
    }

    /// The set whose bit `i` says whether place `i` is in it.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Bit `i` says whether place `i` is in it.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether a place is in it.
    pub fn contains(self, place: usize) -> bool {
        self.0 >> place & 1 == 1
    }

    /// Whether the other has all that it has.
    pub fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// The sets of the first few of the large primes, which come first, and any of the small ones behind them,
    /// at least a bit apart; the smallest product first, all primes last.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for more large primes than there are, or more than seven small ones.
    pub fn combinations(primes: &[u64], large: usize) -> Result<Vec<Self>, SchemeError> {
        let small = primes.len().checked_sub(large);
        let Some(small) = small.filter(|small| *small <= MOST_SMALL) else {
            let remedy = "the large primes are among those given, and seven others at most";
            return refuse("large", large, remedy);
        };
        let bits = |set: &Self| set.places().map(|at| (primes[at] as f64).log2()).sum::<f64>();
        let with = |first: usize| {
            (0..1u64 << small).map(move |kept| Self(((1u64 << first) - 1) | (kept << large)))
        };
        let mut sets: Vec<Self> = (0..=large).flat_map(with).filter(|set| set.0 != 0).collect();
        sets.sort_by(|x, y| bits(y).total_cmp(&bits(x)));
        sets.dedup_by(|next, last| bits(next) > bits(last) - 1.0);
        sets.reverse();
        Ok(sets)
    }

    /// The places in ascending order.
    pub fn places(self) -> impl Iterator<Item = usize> {
        (0..64).filter(move |&place| self.contains(place))
    }
}
