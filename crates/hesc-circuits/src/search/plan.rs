use hesc_math::residues::packed::Packing;
use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::RingProducts;
use hesc_schemes::wire::{Kind, Reader, Writer};

use super::declared::{Declared, Entries};
use super::sizes::{SPECIAL_BITS, Sizes};
use crate::plans::{self, Declaration, PlanError, Width};

/// What both sides agree upon: what vectors are, and the sizes that follow.
pub type Plan = plans::Plan<Declared>;

impl Declaration for Declared {
    type Derived = Sizes;
    const KIND: Kind = Kind::SearchPlan;

    /// The set with the fewest bytes of a query and the answer of a full index, of those in which a score is wrong with a
    /// probability below `2^-128`.
    fn derive(&self) -> Result<(RingProducts, Sizes), PlanError> {
        self.check()?;
        let found = Sizes::smallest(self)?.ok_or(PlanError::NoRoom {
            nearest: f64::INFINITY,
            remedy: "round entries to fewer bits, declare smaller norms, or compare fewer features",
        })?;
        let special = self.expanded.then_some(SPECIAL_BITS);
        let products = RingProducts::of_sizes(found.ring_degree, &[found.prime_bits], special)?;
        Ok((products, found))
    }

    fn write(&self, writer: &mut Writer) {
        writer.u32(self.dimensions);
        match self.entries {
            Entries::Signs => _ = writer.u8(0),
            Entries::Integers { query_bits, record_bits, query_square, record_square } => {
                writer.u8(1).u8(query_bits as u8).u8(record_bits as u8);
                writer.u64(query_square).u64(record_square);
            }
        }
        writer.u64(self.most_records).u8(u8::from(self.expanded)).u8(self.shared as u8);
        writer.bytes(&self.signs);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, SchemeError> {
        let dimensions = reader.u32()?;
        let entries = match reader.u8()? {
            0 => Entries::Signs,
            1 => Entries::Integers {
                query_bits: u32::from(reader.u8()?),
                record_bits: u32::from(reader.u8()?),
                query_square: reader.u64()?,
                record_square: reader.u64()?,
            },
            _ => return Err(reader.error("its entries are of no kind that is known")),
        };
        let most_records = reader.u64()?;
        let expanded = match reader.u8()? {
            0 => false,
            1 => true,
            _ => return Err(reader.error("it has keys, or it has none")),
        };
        let (shared, signs) = (u32::from(reader.u8()?), reader.array()?);
        Ok(Self { dimensions, entries, most_records, expanded, shared, signs })
    }
}

impl Plan {
    /// What follows from what is declared.
    pub(super) fn sizes(&self) -> &Sizes {
        self.derived()
    }

    /// Ciphertexts of a query, and levels by which each is expanded.
    pub fn ciphertexts(&self) -> (usize, u32) {
        (self.sizes().ciphertexts, self.sizes().levels)
    }

    /// The bound on a score.
    pub fn bound(&self) -> u64 {
        self.declared().bound()
    }

    /// Features of a vector.
    pub fn dimensions(&self) -> usize {
        self.declared().dimensions as usize
    }

    /// Bits of a feature of a record in memory.
    pub fn word_bits(&self) -> u32 {
        self.sizes().prime_bits
    }

    /// The deviation of the noise of a score before it is rounded, and how far scores are apart.
    pub fn noise(&self) -> (f64, u64) {
        (self.sizes().square.sqrt(), self.sizes().scale)
    }

    /// How the numbers of an answer's first parts travel.
    pub(super) fn numbers(&self) -> Width {
        Width::new(self.products().modulus(), self.sizes().number_bits)
    }

    /// How a block of records lies in memory.
    pub(super) fn packing(&self) -> Packing {
        Packing::new(self.sizes().prime_bits, self.dimensions(), self.ring_degree())
    }

    /// The records of each block, of so many.
    pub(super) fn blocks(&self, records: usize) -> impl ExactSizeIterator<Item = usize> + use<> {
        let n = self.ring_degree();
        (0..records.div_ceil(n)).map(move |block| n.min(records - block * n))
    }

    /// The blocks that share a second part, and the records of each.
    pub(super) fn groups(&self, records: usize) -> Vec<Vec<usize>> {
        let counts: Vec<usize> = self.blocks(records).collect();
        counts.chunks(self.shared()).map(<[usize]>::to_vec).collect()
    }

    /// Blocks that share a second part.
    pub(super) fn shared(&self) -> usize {
        self.declared().shared as usize
    }

    /// Bytes of memory of an index of so many records: blocks of packed features.
    pub fn index_bytes(&self, records: usize) -> usize {
        records.div_ceil(self.ring_degree()) * self.packing().bytes()
    }

    /// Refuses a number of vectors that are not whole, or none.
    pub(super) fn check_count(&self, what: &str, entries: usize) -> Result<usize, PlanError> {
        let d = self.dimensions();
        if entries == 0 || !entries.is_multiple_of(d) {
            let expected = entries.div_ceil(d).max(1) * d;
            return Err(PlanError::Count { what: what.into(), expected, found: entries });
        }
        Ok(entries / d)
    }
}
