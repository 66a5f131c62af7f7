use hesc_schemes::rlwe::{Operand, RingProducts};
use hesc_schemes::{KeyId, SchemeError, checkpoint};

use crate::blocks::map_blocks;
use crate::plans::Seed;

use super::plan::Plan;
use super::wire::{self, Pieces, Range, Reply};

/// Encrypted codes that probes are compared to, as evaluations.
pub struct Gallery {
    plan: Plan,
    key: KeyId,
    records: usize,
    blocks: Vec<Side>,
}

/// Encrypted codes that are looked for, as evaluations.
pub struct Probes {
    plan: Plan,
    key: KeyId,
    probes: Vec<Side>,
}

/// Ciphertexts of one probe, or of one block of a gallery, and the seed that they came with.
struct Side {
    seed: Seed,
    pieces: Vec<Operand>,
}

fn sides(plan: &Plan, mut objects: Vec<Pieces>) -> Result<Vec<Side>, SchemeError> {
    let one = |(): &mut (), object: &mut Pieces| {
        let (seed, words) = (object.seed, std::mem::take(&mut object.words));
        let seeds = RingProducts::seeds(seed, plan.pieces());
        let operand = |(seed, c_0)| plan.products().seeded_operand(seed, c_0);
        Ok(Side { seed, pieces: seeds.into_iter().zip(words).map(operand).collect() })
    };
    map_blocks(plan.ring_degree() * plan.pieces(), &mut objects, || (), one)
}

impl Probes {
    /// Reads what [`super::encrypt_probes`] wrote; strict. Cost: a transform for each ciphertext.
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] for another plan.
    pub fn from_bytes(plan: &Plan, bytes: &[u8]) -> Result<Self, SchemeError> {
        let (key, probes) = wire::probes_from_bytes(plan, bytes)?;
        Ok(Self { plan: plan.clone(), key, probes: sides(plan, probes)? })
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.probes.len()
    }
}

impl Gallery {
    /// Reads what [`super::encrypt_gallery`] wrote; strict. Cost: a transform for each ciphertext.
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] for another plan.
    pub fn from_bytes(plan: &Plan, bytes: &[u8]) -> Result<Self, SchemeError> {
        let (key, records, blocks) = wire::gallery_from_bytes(plan, bytes)?;
        Ok(Self { plan: plan.clone(), key, records, blocks: sides(plan, blocks)? })
    }

    /// Codes in it.
    pub fn records(&self) -> usize {
        self.records
    }

    /// Blocks of codes that share ciphertexts.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Encrypted distances of one probe to the records of some blocks, for [`super::decrypt`]. Cost for each block: a
    /// product of ciphertexts for each piece, and two transforms; on all cores.
    ///
    /// # Errors
    /// [`SchemeError::KeyMismatch`] for probes under another key pair, [`SchemeError::ParameterMismatch`] for those of another
    /// plan, [`SchemeError::BlockIndex`] beyond what there is; [`SchemeError::Interrupted`].
    pub fn compare(
        &self,
        probes: &Probes,
        probe: usize,
        first: usize,
        blocks: usize,
    ) -> Result<Vec<u8>, SchemeError> {
        let (expected, found) = (self.plan.fingerprint(), probes.plan.fingerprint());
        if expected != found {
            return Err(SchemeError::ParameterMismatch { expected, found });
        }
        if self.key != probes.key {
            return Err(SchemeError::KeyMismatch { expected: self.key, found: probes.key });
        }
        let beyond = |index, blocks| SchemeError::BlockIndex { index, blocks };
        let own = probes.probes.get(probe).ok_or(beyond(probe, probes.count()))?;
        let some = first.checked_add(blocks).and_then(|last| self.blocks.get(first..last));
        let some = some.filter(|some| !some.is_empty());
        let some = some.ok_or(beyond(first.saturating_add(blocks), self.blocks()))?;
        let counts: Vec<usize> = self.plan.blocks(self.records).skip(first).take(blocks).collect();
        let mut replies = Vec::with_capacity(blocks);
        for (sides, counts) in some.chunks(64).zip(counts.chunks(64)) {
            checkpoint()?;
            let mut some: Vec<(&Side, usize)> = sides.iter().zip(counts.iter().copied()).collect();
            let one = |rows: &mut _, (side, count): &mut (&Side, usize)| {
                self.reply(own, side, *count, rows)
            };
            let words = self.plan.ring_degree() * self.plan.pieces();
            replies.extend(map_blocks(words, &mut some, || self.rows(), one)?);
        }
        let range = Range { records: self.records, probes: probes.count(), probe, first, blocks };
        Ok(wire::distances_to_bytes(&self.plan, self.key, range, &own.seed, &replies))
    }

    fn rows(&self) -> [Vec<u64>; 3] {
        let n = self.plan.ring_degree();
        [vec![0; n], vec![0; n], vec![0; n]]
    }

    fn reply(
        &self,
        probe: &Side,
        block: &Side,
        count: usize,
        rows: &mut [Vec<u64>; 3],
    ) -> Result<Reply, SchemeError> {
        let products = self.plan.products();
        let pairs: Vec<_> = probe.pieces.iter().zip(&block.pieces).collect();
        products.sum_of_products(&pairs, rows.each_mut().map(Vec::as_mut_slice))?;
        let [c_0, c_1, _] = rows;
        products.inverse(c_0);
        products.inverse(c_1);
        let mut distances: Vec<u64> = self.plan.places(count).map(|place| c_0[place]).collect();
        self.plan.answers().truncate(c_1);
        self.plan.answers().truncate(&mut distances);
        Ok(Reply { seed: block.seed, c_1: c_1.clone(), distances })
    }
}
