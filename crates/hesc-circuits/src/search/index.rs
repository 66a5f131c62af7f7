use std::convert::Infallible;
use std::sync::Arc;

use hesc_math::residues::packed::Packing;
use hesc_math::residues::{Reducer, kernels};

use super::memory::Memory;
use super::plan::Plan;
use super::server::{Asked, View};
use super::signs::{Signs, signed};
use crate::blocks::{each_block, map_blocks};
use crate::plans::PlanError;

/// Records of a server, packed. A clone shares the memory of blocks until one of both changes them: answers go on from it while
/// records change.
#[derive(Clone)]
pub struct Index {
    plan: Plan,
    records: usize,
    blocks: Vec<Arc<Memory>>,
}

/// A change of a block: where, and the vector that comes there, or none.
type Change<'a> = (usize, Option<&'a [i16]>);

impl Index {
    /// Without records.
    pub fn new(plan: &Plan) -> Self {
        Self { plan: plan.clone(), records: 0, blocks: Vec::new() }
    }

    /// Of a copy of records that have been packed.
    pub(super) fn of_blocks(plan: &Plan, records: usize, blocks: &[&[u8]]) -> Self {
        let blocks = blocks.iter().map(|block| Arc::new(Memory::of(block))).collect();
        Self { plan: plan.clone(), records, blocks }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many records there are.
    pub fn records(&self) -> usize {
        self.records
    }

    /// Bytes of memory that records take.
    pub fn bytes(&self) -> usize {
        self.blocks.len() * self.plan.packing().bytes()
    }

    /// What answers queries.
    pub fn view(&self) -> View<'_> {
        let blocks = self.blocks.iter().map(|block| &***block).collect();
        View { plan: self.plan.clone(), records: self.records, blocks }
    }

    /// [`View::answer`].
    ///
    /// # Errors
    /// As there.
    pub fn answer(&self, asked: &[Asked<'_>]) -> Result<Vec<Vec<u8>>, PlanError> {
        self.view().answer(asked)
    }

    /// Adds records behind those that are there, row after row. Cost: a transform for each feature and block.
    ///
    /// # Errors
    /// [`PlanError::Count`], [`PlanError::Feature`] and [`PlanError::Norm`] for vectors that the plan does not declare,
    /// [`PlanError::Records`] for more than it declares: nothing is added then.
    pub fn append(&mut self, vectors: &[i16]) -> Result<(), PlanError> {
        let count = self.plan.check_count("records", vectors.len())?;
        self.plan.declared().check_vectors(vectors, false)?;
        let (records, most) = (self.records + count, self.plan.declared().most_records);
        if records as u64 > most {
            return Err(PlanError::Records { records, most: most as usize });
        }
        let (n, d) = (self.plan.ring_degree(), self.plan.dimensions());
        // What the last block has room for.
        let room = (self.blocks.len() * n - self.records).min(count);
        let (first, others) = vectors.split_at(room * d);
        if room > 0 {
            let changes = first.chunks_exact(d).zip(self.records % n..);
            let changes: Vec<Change<'_>> = changes.map(|(vector, at)| (at, Some(vector))).collect();
            self.change(self.records / n, &changes);
        }
        let before = self.blocks.len();
        let size = self.plan.packing().bytes();
        let fresh = others.chunks(n * d).enumerate();
        let fresh = fresh.map(|(i, rows)| (before + i, rows, Memory::new(size))).collect();
        let signs = self.signs();
        let done = each_block(
            n * d,
            fresh,
            || Rows::new(&self.plan),
            |rows, (block, vectors, out)| {
                rows.pack(out, vectors, &signs.of_block(*block));
                Ok::<(), PlanError>(())
            },
        )?;
        self.blocks.extend(done.into_iter().map(|(_, _, block)| Arc::new(block)));
        self.records = records;
        Ok(())
    }

    /// Puts another vector in the place of a record. Cost: two transforms for each feature.
    ///
    /// # Errors
    /// [`PlanError::Record`] for a record that is not there; [`PlanError::Count`], [`PlanError::Feature`] and
    /// [`PlanError::Norm`] for a vector that the plan does not declare.
    pub fn replace(&mut self, record: usize, vector: &[i16]) -> Result<(), PlanError> {
        let (block, at) = self.place(record)?;
        let (expected, found) = (self.plan.dimensions(), vector.len());
        if expected != found {
            return Err(PlanError::Count { what: "a record".into(), expected, found });
        }
        self.plan.declared().check_vectors(vector, false)?;
        self.change(block, &[(at, Some(vector))]);
        Ok(())
    }

    /// Removes a record; **the last one takes its place**, so that all others keep theirs. Nothing is left of it in memory that
    /// the index has.
    ///
    /// # Errors
    /// [`PlanError::Record`] for a record that is not there.
    pub fn remove(&mut self, record: usize) -> Result<(), PlanError> {
        let (block, at) = self.place(record)?;
        let last = self.records - 1;
        if record != last {
            let vector = self.vector(last)?;
            self.change(block, &[(at, Some(&vector))]);
        }
        let (block, at) = self.place(last)?;
        if at == 0 {
            self.blocks.truncate(block);
        } else {
            self.change(block, &[(at, None)]);
        }
        self.records = last;
        Ok(())
    }

    /// A record. Cost: a transform for each feature.
    ///
    /// # Errors
    /// [`PlanError::Record`] for a record that is not there.
    pub fn vector(&self, record: usize) -> Result<Vec<i16>, PlanError> {
        let (block, at) = self.place(record)?;
        let mask = self.signs().of_block(block)[at];
        let mut rows = Rows::new(&self.plan);
        let entry = |feature| {
            rows.read(&self.blocks[block], feature);
            let (x, q) = (rows.words[at] as i64, rows.q.value() as i64);
            signed(if x > q / 2 { x - q } else { x }, mask) as i16
        };
        Ok((0..self.plan.dimensions()).map(entry).collect())
    }

    /// The block of a record, and its place there.
    fn place(&self, record: usize) -> Result<(usize, usize), PlanError> {
        if record >= self.records {
            return Err(PlanError::Record { record, records: self.records });
        }
        let n = self.plan.ring_degree();
        Ok((record / n, record % n))
    }

    fn signs(&self) -> Signs {
        Signs::new(&self.plan.declared().signs, self.plan.ring_degree())
    }

    /// Changes some records of a block.
    fn change(&mut self, block: usize, changes: &[Change<'_>]) {
        let signs = self.signs().of_block(block);
        let mut rows = Rows::new(&self.plan);
        let block = Arc::make_mut(&mut self.blocks[block]);
        for feature in 0..self.plan.dimensions() {
            rows.read(block, feature);
            for &(at, vector) in changes {
                let x = vector.map_or(0, |vector| i64::from(vector[feature]));
                let q = rows.q.value() as i64;
                rows.words[at] = signed(x, signs[at]).rem_euclid(q) as u64;
            }
            rows.write(block, feature);
        }
    }
}

impl View<'_> {
    /// The sum of squares of each record, in their order. Cost: a transform for each feature of each block.
    pub fn squares(&self) -> Vec<u64> {
        let (n, d) = (self.plan.ring_degree(), self.plan.dimensions());
        let mut blocks = self.blocks.clone();
        let sums = map_blocks(
            n * d,
            &mut blocks,
            || Rows::new(&self.plan),
            |rows, block| {
                let mut sums = vec![0; n];
                for feature in 0..d {
                    rows.read(block, feature);
                    let q = rows.q.value();
                    for (sum, &word) in sums.iter_mut().zip(&rows.words) {
                        *sum += word.min(q - word).pow(2);
                    }
                }
                Ok::<_, Infallible>(sums)
            },
        );
        let mut sums = match sums {
            Ok(sums) => sums.concat(),
            Err(never) => match never {},
        };
        sums.truncate(self.records);
        sums
    }
}

/// A feature of the records of a block, in and out of its packed form.
struct Rows<'a> {
    plan: &'a Plan,
    packing: Packing,
    q: Reducer,
    words: Vec<u64>,
    numbers: Vec<i64>,
}

impl<'a> Rows<'a> {
    fn new(plan: &'a Plan) -> Self {
        let (n, q) = (plan.ring_degree(), Reducer::new(plan.products().modulus()));
        Self { plan, packing: plan.packing(), q, words: vec![0; n], numbers: vec![0; n] }
    }

    /// The coefficients of a feature.
    fn read(&mut self, block: &[u8], feature: usize) {
        self.packing.read(block, feature, &mut self.words);
        self.plan.products().inverse(&mut self.words);
    }

    /// Packs the coefficients of a feature, which are evaluations afterwards.
    fn write(&mut self, block: &mut [u8], feature: usize) {
        self.plan.products().forward(&mut self.words);
        self.packing.write(block, feature, &self.words);
    }

    /// Packs vectors, row after row.
    fn pack(&mut self, block: &mut [u8], vectors: &[i16], signs: &[i64]) {
        let d = self.plan.dimensions();
        self.numbers.fill(0);
        for feature in 0..d {
            let column = vectors.iter().skip(feature).step_by(d);
            for ((number, &x), &mask) in self.numbers.iter_mut().zip(column).zip(signs) {
                *number = signed(i64::from(x), mask);
            }
            kernels::reduce_small_signed(&mut self.words, &self.numbers, &self.q);
            self.write(block, feature);
        }
    }
}
