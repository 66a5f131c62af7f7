//! An index as a file that can be mapped into memory.
//!
//! ```text
//! "HESCINDX" | version u64 | fingerprint of the plan 16 | records u64 | blocks u64 | bytes of a block u64 | for each block 16
//! bytes of BLAKE3 over it | 16 bytes of BLAKE3 over all before | zeros to a multiple of 4096 | block after block
//! ```
//! Numbers are little-endian.

use std::io::{self, Write};

use hesc_schemes::wire::checksum;
use hesc_schemes::{Fingerprint, SchemeError};

use super::index::Index;
use super::plan::Plan;
use super::server::{Part, View};
use crate::blocks::map_blocks;
use crate::plans::PlanError;

const MAGIC: &[u8; 8] = b"HESCINDX";
const VERSION: u64 = 1;
/// Bytes of a checksum, and of a plan's name.
const NAME: usize = 16;
/// Bytes before the first checksum.
const HEADER: usize = MAGIC.len() + 4 * size_of::<u64>() + NAME;
/// Blocks begin at a page.
const PAGE: usize = 4096;

fn wrong(problem: &'static str) -> PlanError {
    SchemeError::Wire { what: "the index of a search", problem }.into()
}

/// Bytes before the first block.
fn header_bytes(blocks: usize) -> usize {
    (HEADER + (blocks + 1) * NAME).next_multiple_of(PAGE)
}

/// Bytes of the file of an index of so many records.
fn file_bytes(plan: &Plan, records: usize) -> usize {
    header_bytes(records.div_ceil(plan.ring_degree())) + plan.index_bytes(records)
}

impl Plan {
    /// Bytes of the file of an index of so many records.
    pub fn file_bytes(&self, records: usize) -> usize {
        file_bytes(self, records)
    }
}

impl<'a> View<'a> {
    /// Reads an index where it lies, as [`View::write`] wrote it, and checks all of it. Cost: a pass over its bytes.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes, a block that was changed, and residues out of range;
    /// [`SchemeError::ParameterMismatch`] for the index of another plan.
    pub fn open(plan: &Plan, bytes: &'a [u8]) -> Result<Self, PlanError> {
        Self::open_part(plan, bytes, Part::WHOLE)
    }

    /// [`Self::open`] for a part of the records: of the blocks its own are read, and no other.
    ///
    /// # Errors
    /// As there, and [`SchemeError::Parameter`] for a part that has no records.
    pub fn open_part(plan: &Plan, bytes: &'a [u8], part: Part) -> Result<Self, PlanError> {
        let (view, checksums) = Self::open_header(plan, bytes)?;
        let checksums = &checksums[part.blocks(plan, checksums.len())?];
        let view = view.part(part)?;
        let q = plan.products().modulus();
        let mut blocks: Vec<_> = view.blocks.iter().zip(checksums).collect();
        let packing = plan.packing();
        map_blocks(
            packing.bytes() / size_of::<u64>(),
            &mut blocks,
            || (),
            |(), (block, own)| {
                if checksum(block) != **own {
                    return Err(wrong("a block was changed"));
                }
                match packing.is_reduced(block, q) {
                    true => Ok(()),
                    false => Err(wrong("a residue is not below its modulus")),
                }
            },
        )?;
        Ok(view)
    }

    /// [`Self::open`] for a file that was checked before and that nobody changed since: all but the blocks is checked, and these
    /// are read when they are needed. **A changed block gives wrong scores.**
    ///
    /// # Errors
    /// As [`Self::open`], but for blocks.
    pub fn open_checked_before(plan: &Plan, bytes: &'a [u8]) -> Result<Self, PlanError> {
        Ok(Self::open_header(plan, bytes)?.0)
    }

    /// The blocks, which are not looked at, and their checksums.
    fn open_header(plan: &Plan, bytes: &'a [u8]) -> Result<(Self, &'a [[u8; NAME]]), PlanError> {
        let mut rest = bytes;
        let mut take = |count: usize| {
            let (taken, after) = rest.split_at_checked(count)?;
            rest = after;
            Some(taken)
        };
        let mut number = |what| {
            let bytes = take(size_of::<u64>()).and_then(|x| x.first_chunk());
            bytes.map(|x| u64::from_le_bytes(*x)).ok_or_else(|| wrong(what))
        };
        if number("it ends too early")? != u64::from_le_bytes(*MAGIC) {
            return Err(wrong("no index of a search"));
        }
        if number("it ends too early")? != VERSION {
            return Err(wrong("another version of the format"));
        }
        let (first, second) = (number("it ends too early")?, number("it ends too early")?);
        let name = u128::from(first) | u128::from(second) << 64;
        let found = Fingerprint::from_bytes(name.to_le_bytes());
        let expected = plan.fingerprint();
        if found != expected {
            return Err(SchemeError::ParameterMismatch { expected, found }.into());
        }
        let records = number("it ends too early")?;
        if records > plan.declared().most_records {
            return Err(wrong("it has more records than the plan declares"));
        }
        let (records, size) = (records as usize, plan.packing().bytes());
        let blocks = records.div_ceil(plan.ring_degree());
        if number("it ends too early")? != blocks as u64
            || number("it ends too early")? != size as u64
        {
            return Err(wrong("its blocks are not those of so many records"));
        }
        if bytes.len() != file_bytes(plan, records) {
            return Err(wrong("its length is not that of so many records"));
        }
        let (header, body) = bytes.split_at(header_bytes(blocks));
        let (own, padding) = header.split_at(HEADER + (blocks + 1) * NAME);
        let (framed, sum) = own.split_at(own.len() - NAME);
        if checksum(framed) != *sum || padding.iter().any(|&byte| byte != 0) {
            return Err(wrong("the checksum does not match"));
        }
        let view = Self { plan: plan.clone(), records, blocks: body.chunks_exact(size).collect() };
        Ok((view, framed[HEADER..].as_chunks().0))
    }

    /// Writes the index. Cost: a pass over its bytes.
    ///
    /// # Errors
    /// What the writer refuses.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut header = Vec::with_capacity(header_bytes(self.blocks.len()));
        header.extend_from_slice(MAGIC);
        header.extend_from_slice(&VERSION.to_le_bytes());
        header.extend_from_slice(&self.plan.fingerprint().to_bytes());
        for number in [self.records, self.blocks.len(), self.plan.packing().bytes()] {
            header.extend_from_slice(&(number as u64).to_le_bytes());
        }
        self.blocks.iter().for_each(|block| header.extend_from_slice(&checksum(block)));
        let own = checksum(&header);
        header.extend_from_slice(&own);
        header.resize(header_bytes(self.blocks.len()), 0);
        out.write_all(&header)?;
        self.blocks.iter().try_for_each(|block| out.write_all(block))
    }

    /// A copy in memory of its own, which can be changed.
    pub fn to_index(&self) -> Index {
        Index::of_blocks(&self.plan, self.records, &self.blocks)
    }
}
