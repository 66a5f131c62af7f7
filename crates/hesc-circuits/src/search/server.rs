use std::ops::Range;

use hesc_math::residues::Reducer;
use hesc_math::residues::packed::{Factors, sums_of_products};
use hesc_schemes::rlwe::{Expansion, SharingKeys};
use hesc_schemes::wire::Kind;
use hesc_schemes::{KeyId, SchemeError, checkpoint};

use super::client::seeds;
use super::plan::Plan;
use super::wire;
use crate::blocks::map_blocks;
use crate::plans::PlanError;

/// Blocks whose sums are in memory at a time, for each thread.
const TOGETHER: usize = 16;
/// Queries of one pass, at most: the constants of each are in memory.
const MOST_QUERIES: usize = 16;

/// A query, with the keys of its client where the plan has such.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The query's wire form.
    pub query: &'a [u8],
    /// What a server has of the client's.
    pub keys: Option<&'a Keys>,
}

/// A client's keys: what expands its queries, and what shares second parts.
pub struct Keys {
    expansion: Expansion,
    sharing: Option<SharingKeys>,
}

/// Records as they are packed, wherever they are in memory.
pub struct View<'a> {
    pub(super) plan: Plan,
    pub(super) records: usize,
    pub(super) blocks: Vec<&'a [u8]>,
}

/// One of as many parts of an index: successive blocks, about equally many in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which, from 0 on.
    pub which: usize,
    /// Of how many.
    pub of: usize,
}

impl Part {
    /// All records.
    pub const WHOLE: Self = Self { which: 0, of: 1 };

    /// The blocks of the part. Those that share a second part stay together.
    pub(super) fn blocks(self, plan: &Plan, blocks: usize) -> Result<Range<usize>, SchemeError> {
        let Self { which, of } = self;
        let groups = blocks.div_ceil(plan.shared());
        // An index without records is whole.
        if which >= of || of > groups.max(1) {
            let value = format!("{which} of {of}");
            let remedy =
                "parts are counted from 0, and each has a block of records at least: take fewer";
            return Err(SchemeError::Parameter { name: "part", value, remedy });
        }
        let end = |which: usize| (which * groups / of * plan.shared()).min(blocks);
        Ok(end(which)..end(which + 1))
    }
}

/// Reads a client's keys. Cost: transforms.
///
/// # Errors
/// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for other bytes, sets and pairs;
/// [`SchemeError::Parameter`] for keys of other automorphisms.
pub fn read_keys(plan: &Plan, bytes: &[u8]) -> Result<Keys, PlanError> {
    let products = plan.products();
    let [first, _] = wire::each_key_bytes(plan);
    if bytes.len() != wire::key_bytes(plan) {
        let problem = "their length is not that of the plan's keys";
        return Err(SchemeError::Wire { what: "the keys of a search", problem }.into());
    }
    let (expansion, sharing) = bytes.split_at(first);
    let keys = products.scheme().galois_keys_from_bytes(expansion)?;
    let expansion = products.expansion(keys, plan.sizes().levels)?;
    let sharing = match plan.shared() {
        1 => None,
        count => {
            let (mut reader, key) = plan.open(sharing, Kind::SwitchKey)?;
            if key != expansion.key_id() {
                let expected = expansion.key_id();
                return Err(SchemeError::KeyMismatch { expected, found: key }.into());
            }
            let sharing = products.read_sharing(&mut reader, key, count)?;
            reader.finish()?;
            Some(sharing)
        }
    };
    Ok(Keys { expansion, sharing })
}

impl Keys {
    /// The key pair's public name.
    pub fn key_id(&self) -> KeyId {
        self.expansion.key_id()
    }

    /// Refuses those of another plan.
    fn check(&self, plan: &Plan) -> Result<(), SchemeError> {
        self.expansion.check(plan.products(), plan.sizes().levels)?;
        let found = self.sharing.as_ref().map_or(1, SharingKeys::count);
        if found != plan.shared() {
            let remedy = "second parts are shared by other blocks; make keys for this plan";
            return Err(SchemeError::Parameter { name: "keys", value: found.to_string(), remedy });
        }
        Ok(())
    }
}

/// Some blocks, the records of each, and where their scores go, for each query.
struct Share<'a> {
    blocks: &'a [&'a [u8]],
    counts: &'a [usize],
    out: Vec<&'a mut [u8]>,
}

/// What a thread works in: few pieces, for allocators keep megabytes of each size for each thread.
#[derive(Default)]
struct Scratch {
    /// Sums of blocks, behind them the parts of those that share one, and what these are made in.
    words: Vec<u64>,
    packed: Vec<u8>,
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

    /// A part of the records, whose answers [`join_answers`](super::join_answers) makes one.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for a part that has no records.
    pub fn part(mut self, part: Part) -> Result<Self, PlanError> {
        let own = part.blocks(&self.plan, self.blocks.len())?;
        let n = self.plan.ring_degree();
        self.records = self.records.min(own.end * n) - own.start * n;
        self.blocks = self.blocks[own].to_vec();
        Ok(self)
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
        let sharing: Vec<_> =
            asked.iter().map(|asked| asked.keys.and_then(|keys| keys.sharing.as_ref())).collect();
        // Blocks that share a second part stay together.
        let share = self.blocks.len().div_ceil(rayon::current_num_threads()).min(TOGETHER);
        let share = share.next_multiple_of(plan.shared());
        let counts: Vec<usize> = plan.blocks(self.records).collect();
        let mut answers = vec![vec![0; wire::parts_bytes(plan, &counts)]; asked.len()];
        let mut rest: Vec<&mut [u8]> = answers.iter_mut().map(Vec::as_mut_slice).collect();
        let mut shares: Vec<Share<'_>> = counts
            .chunks(share)
            .enumerate()
            .map(|(at, counts)| {
                let bytes = wire::parts_bytes(plan, counts);
                let out = rest.iter_mut().filter_map(|rest| rest.split_off_mut(..bytes)).collect();
                let blocks = &self.blocks[at * share..][..counts.len()];
                Share { blocks, counts, out }
            })
            .collect();
        let words = share * plan.dimensions() * n;
        map_blocks(words, &mut shares, Scratch::default, |scratch, share| {
            checkpoint()?;
            self.scores(share, &factors, &sharing, scratch);
            Ok::<(), PlanError>(())
        })?;
        // Constants take more than answers do: they go before these are put together.
        let keys: Vec<KeyId> = constants.into_iter().map(|(key, _)| key).collect();
        let answers = keys.into_iter().zip(answers);
        Ok(answers
            .map(|(key, parts)| wire::answer_to_bytes(plan, key, self.records, &parts))
            .collect())
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
                keys.check(plan)?;
                if keys.key_id() != key {
                    let expected = keys.key_id();
                    return Err(SchemeError::KeyMismatch { expected, found: key }.into());
                }
                let (most, d) = (1 << levels, plan.dimensions());
                for (at, (c_0, seed)) in parts.enumerate() {
                    let first = at * most;
                    let constants = most.min(d - first);
                    keys.expansion.expand(seed, c_0, constants, |number, parts| {
                        let (c_0, c_1) = parts.split_at(n);
                        factors.set(first + number, [c_0, c_1]);
                    });
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
        share: &mut Share<'_>,
        factors: &[&Factors],
        sharing: &[Option<&SharingKeys>],
        scratch: &mut Scratch,
    ) {
        let (plan, n) = (&self.plan, self.plan.ring_degree());
        let sums = share.blocks.len() * factors.len() * 2 * n;
        let parts = (plan.shared() + 1) * n;
        scratch.words.resize(sums + 2 * parts + 2 * n, 0);
        let (sums, own) = scratch.words.split_at_mut(sums);
        let (own, switched) = own.split_at_mut(parts);
        let q = Reducer::new(plan.products().modulus());
        sums_of_products(sums, &plan.packing(), share.blocks, factors, &q);
        for (which, (sharing, out)) in sharing.iter().zip(&mut share.out).enumerate() {
            let sums = sums.chunks_exact(2 * n).skip(which).step_by(factors.len());
            let sums: Vec<&[u64]> = sums.collect();
            let groups = sums.chunks(plan.shared()).zip(share.counts.chunks(plan.shared()));
            let mut rest = &mut **out;
            for (sums, counts) in groups {
                let own = &mut own[..(sums.len() + 1) * n];
                match sharing {
                    Some(sharing) => sharing.share(sums, own, switched),
                    None => sums.iter().for_each(|sums| self.both(sums, own)),
                }
                scratch.packed.clear();
                write_parts(plan, own, counts, &mut scratch.packed);
                let (own, others) = rest.split_at_mut(scratch.packed.len());
                own.copy_from_slice(&scratch.packed);
                rest = others;
            }
        }
    }

    /// The coefficients of both parts, the second first.
    fn both(&self, sums: &[u64], out: &mut [u64]) {
        let (c_0, c_1) = sums.split_at(sums.len() / 2);
        let (second, first) = out.split_at_mut(c_1.len());
        second.copy_from_slice(c_1);
        first.copy_from_slice(c_0);
        self.plan.products().inverse(second);
        self.plan.products().inverse(first);
    }
}

/// Rounds parts to the bits that travel, of the first ones the numbers of records.
fn write_parts(plan: &Plan, parts: &mut [u64], counts: &[usize], out: &mut Vec<u8>) {
    let (second, firsts) = parts.split_at_mut(plan.ring_degree());
    plan.answers().truncate(second);
    plan.answers().append(out, second);
    let width = plan.numbers();
    for (first, &count) in firsts.chunks_exact_mut(plan.ring_degree()).zip(counts) {
        let numbers = &mut first[..count];
        width.truncate(numbers);
        width.append(out, numbers);
    }
}
