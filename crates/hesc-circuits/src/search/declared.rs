use crate::plans::{PlanError, Seed};

/// Features of a vector, at most.
const MOST_DIMENSIONS: u32 = 1 << 12;
/// Bits of an entry.
const ENTRY_BITS: std::ops::RangeInclusive<u32> = 2..=16;
/// Blocks of records whose scores share a second part, at most: keys grow with the square.
const MOST_SHARED: u32 = 8;
/// Records of an index, at most.
const MOST_RECORDS: u64 = 1 << 26;

/// What vectors are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entries {
    /// Signed integers of so many bits, and bounds on the sum of a vector's squares: of queries, and of records.
    Integers {
        /// Bits of an entry of a query, 2 to 16.
        query_bits: u32,
        /// Bits of an entry of a record.
        record_bits: u32,
        /// Bound on the sum of squares of a query.
        query_square: u64,
        /// Bound on that of a record.
        record_square: u64,
    },
    /// Bits as signs, 1 for zero and -1 for one: the score is the number of bits less twice the Hamming distance.
    Signs,
}

/// What both sides know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declared {
    /// Features of a vector.
    pub dimensions: u32,
    /// Their values.
    pub entries: Entries,
    /// Records of an index, at most.
    pub most_records: u64,
    /// Whether clients give keys that expand their queries, which are short then.
    pub expanded: bool,
    /// Blocks of records whose scores share a second part, 1 where each has its own: answers are shorter, keys longer. More than
    /// 1 takes keys, and 8 are the most.
    pub shared: u32,
    /// What the public signs of records come from: random, and chosen before the records.
    pub signs: Seed,
}

impl Declared {
    /// Codes of so many bits, which are compared by Hamming distance, without sharing.
    pub fn of_codes(bits: u32, most_records: u64, expanded: bool, signs: Seed) -> Self {
        let (dimensions, entries) = (bits, Entries::Signs);
        Self { dimensions, entries, most_records, expanded, shared: 1, signs }
    }

    /// Refuses what cannot be declared.
    pub(super) fn check(&self) -> Result<(), PlanError> {
        let refuse = |name, remedy| Err(PlanError::Declared { name, remedy });
        if !(1..=MOST_DIMENSIONS).contains(&self.dimensions) {
            return refuse("dimensions", "1 to 4096 are compared; project vectors to fewer");
        }
        if !(1..=MOST_RECORDS).contains(&self.most_records) {
            return refuse("most_records", "1 to 2^26 are answered at once; split the index");
        }
        if !(1..=MOST_SHARED).contains(&self.shared) || (self.shared > 1 && !self.expanded) {
            return refuse("shared", "1 to 8 blocks share a part, and more than 1 take keys");
        }
        if let Entries::Integers { query_bits, record_bits, query_square, record_square } =
            self.entries
        {
            if [query_bits, record_bits].iter().any(|bits| !ENTRY_BITS.contains(bits)) {
                return refuse("bits", "entries have 2 to 16; round them to fewer");
            }
            if query_square == 0 || record_square == 0 {
                return refuse("norms", "a vector with entries has one; declare at least 1");
            }
        }
        Ok(())
    }

    /// The largest sum of squares of a vector, of queries and of records: what is declared, or what entries of so many bits
    /// have.
    pub(super) fn squares(&self) -> [u64; 2] {
        let all = u64::from(self.dimensions);
        match self.entries {
            Entries::Signs => [all; 2],
            Entries::Integers { query_bits, record_bits, query_square, record_square } => {
                let of = |bits: u32, square: u64| square.min(all << (2 * (bits - 1)));
                [of(query_bits, query_square), of(record_bits, record_square)]
            }
        }
    }

    /// The bound on a score (Cauchy and Schwarz).
    pub(super) fn bound(&self) -> u64 {
        let [query, record] = self.squares().map(u128::from);
        (query * record).isqrt() as u64
    }

    /// What two scores differ by, at least.
    pub(super) fn step(&self) -> u64 {
        match self.entries {
            Entries::Integers { .. } => 1,
            Entries::Signs => 2,
        }
    }

    /// Refuses entries beyond their bits, and vectors longer than their bound.
    pub(super) fn check_vectors(&self, vectors: &[i16], queries: bool) -> Result<(), PlanError> {
        let width = self.dimensions as usize;
        let side = usize::from(!queries);
        let most = self.squares()[side];
        for (vector, entries) in vectors.chunks_exact(width).enumerate() {
            let wrong = match self.entries {
                Entries::Signs => entries.iter().position(|x| x.unsigned_abs() != 1),
                Entries::Integers { query_bits, record_bits, .. } => {
                    let half = 1i32 << ([query_bits, record_bits][side] - 1);
                    entries.iter().position(|&x| !(-half..half).contains(&i32::from(x)))
                }
            };
            if let Some(feature) = wrong {
                return Err(PlanError::Feature { sample: vector, feature });
            }
            let square: u64 = entries.iter().map(|&x| u64::from(x.unsigned_abs()).pow(2)).sum();
            if square > most {
                return Err(PlanError::Norm { vector });
            }
        }
        Ok(())
    }
}
