use std::ops::Range;

use hesc_math::residues::Reducer;
use hesc_math::residues::packed::{Factors, sums_of_products};
use hesc_schemes::rlwe::Expansion;
use hesc_schemes::{KeyId, SchemeError, checkpoint};

use super::client::seeds;
use super::plan::Plan;
use super::wire;
use crate::blocks::map_blocks;
use crate::plans::PlanError;

/// Blocks whose sums are in memory at a time, for each thread.
const TOGETHER: usize = 64;
/// Queries of one pass, at most: the constants of each are in memory.
const MOST_QUERIES: usize = 16;

/// A query, with the keys of its client where the plan has such.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The query's wire form.
    pub query: &'a [u8],
    /// What expands it.
    pub keys: Option<&'a Expansion>,
}

/// Records as they are packed, wherever they are in memory.
pub struct View<'a> {
    pub(super) plan: Plan,
    pub(super) records: usize,
    pub(super) blocks: Vec<&'a [u8]>,
}

/// Reads the keys that expand a client's queries. Cost: transforms.
///
/// # Errors
/// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] for other bytes and sets; [`SchemeError::Parameter`] for keys of
/// other automorphisms, and for a plan without such keys.
pub fn read_keys(plan: &Plan, bytes: &[u8]) -> Result<Expansion, PlanError> {
    let products = plan.products();
    let keys = products.scheme().galois_keys_from_bytes(bytes)?;
    Ok(products.expansion(keys, plan.sizes().levels)?)
}

impl View<'_> {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many records there are.
    pub fn records(&self) -> usize {
        self.records
    }

    /// Encrypted scores of all records, for each query: all in one pass over the records. Cost: for each query its expansion, and
    /// for each block of records two transforms and a product for each feature.
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for other bytes, plans and keys;
    /// [`SchemeError::Parameter`] for keys that are missing or not asked for; [`PlanError::Records`] for an index without
    /// records, [`PlanError::Samples`] for no queries, or more than 16.
    pub fn answer(&self, asked: &[Asked<'_>]) -> Result<Vec<Vec<u8>>, PlanError> {
        let (plan, n) = (&self.plan, self.plan.ring_degree());
        if self.records == 0 {
            let most = plan.declared().most_records as usize;
            return Err(PlanError::Records { records: 0, most });
        }
        if !(1..=MOST_QUERIES).contains(&asked.len()) {
            return Err(PlanError::Samples { samples: asked.len(), most: MOST_QUERIES });
        }
        let constants = asked.iter().map(|asked| self.constants(*asked));
        let constants: Vec<(KeyId, Factors)> = constants.collect::<Result<_, PlanError>>()?;
        let factors: Vec<&Factors> = constants.iter().map(|(_, factors)| factors).collect();
        let share = self.blocks.len().div_ceil(rayon::current_num_threads()).min(TOGETHER);
        let starts = (0..self.blocks.len()).step_by(share);
        let mut ranges: Vec<Range<usize>> =
            starts.map(|start| start..self.blocks.len().min(start + share)).collect();
        let words = share * plan.dimensions() * n;
        let parts = map_blocks(words, &mut ranges, Vec::new, |sums, range| {
            checkpoint()?;
            Ok::<_, PlanError>(self.scores(range.clone(), &factors, sums))
        })?;
        let answer = |(which, (key, _)): (usize, &(KeyId, Factors))| {
            let blocks = parts.iter().map(|parts| &parts[which]);
            wire::answer_to_bytes(plan, *key, self.records, blocks)
        };
        Ok(constants.iter().enumerate().map(answer).collect())
    }

    /// The constants of a query, both parts of each as evaluations, in the order of a block.
    pub(super) fn constants(&self, asked: Asked<'_>) -> Result<(KeyId, Factors), PlanError> {
        let plan = &self.plan;
        let (products, sizes, n) = (plan.products(), plan.sizes(), plan.ring_degree());
        let (key, mut query) = wire::query_from_bytes(plan, asked.query)?;
        let mut factors = Factors::new(&plan.packing());
        let parts = query.words.chunks_exact_mut(n).zip(seeds(query.seed, sizes.ciphertexts));
        match (asked.keys, sizes.levels) {
            (None, 0) => {
                let mut c_1 = vec![0; n];
                for (feature, (c_0, seed)) in parts.enumerate() {
                    products.forward(c_0);
                    products.uniform(seed, &mut c_1);
                    factors.set(feature, [c_0, &c_1]);
                }
            }
            (Some(keys), levels @ 1..) => {
                keys.check(products, levels)?;
                if keys.key_id() != key {
                    let expected = keys.key_id();
                    return Err(SchemeError::KeyMismatch { expected, found: key }.into());
                }
                let (most, d) = (1 << levels, plan.dimensions());
                for (at, (c_0, seed)) in parts.enumerate() {
                    let first = at * most;
                    let words = keys.expand(seed, c_0, most.min(d - first));
                    for (i, parts) in words.chunks_exact(2 * n).enumerate() {
                        let (c_0, c_1) = parts.split_at(n);
                        factors.set(first + i, [c_0, c_1]);
                    }
                }
            }
            (keys, _) => {
                let (value, remedy) = match keys {
                    None => ("none", "queries of this plan are expanded: give the client's keys"),
                    Some(_) => ("some", "queries of this plan come without keys: give none"),
                };
                return Err(
                    SchemeError::Parameter { name: "keys", value: value.into(), remedy }.into()
                );
            }
        }
        Ok((key, factors))
    }

    /// The scores of some blocks as they travel, for each query.
    fn scores(
        &self,
        range: Range<usize>,
        factors: &[&Factors],
        sums: &mut Vec<u64>,
    ) -> Vec<Vec<u8>> {
        let (plan, n) = (&self.plan, self.plan.ring_degree());
        let products = plan.products();
        sums.resize(range.len() * factors.len() * 2 * n, 0);
        let blocks = &self.blocks[range.clone()];
        let q = Reducer::new(products.modulus());
        sums_of_products(sums, &plan.packing(), blocks, factors, &q);
        let mut out = vec![Vec::new(); factors.len()];
        let counts = plan.blocks(self.records).skip(range.start);
        for (sums, count) in sums.chunks_exact_mut(factors.len() * 2 * n).zip(counts) {
            for (sums, out) in sums.chunks_exact_mut(2 * n).zip(&mut out) {
                let (c_0, c_1) = sums.split_at_mut(n);
                products.inverse(c_1);
                plan.answers().truncate(c_1);
                plan.answers().append(out, c_1);
                products.inverse(c_0);
                let (numbers, width) = (&mut c_0[..count], plan.numbers());
                width.truncate(numbers);
                width.append(out, numbers);
            }
        }
        out
    }
}
