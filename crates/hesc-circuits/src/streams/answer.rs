use std::collections::HashMap;
use std::sync::Arc;

use hesc_schemes::Scheme;
use hesc_schemes::streams::Blocks;

use super::array::Streams;
use super::factors::anonymous;
use super::plan::{AnswerTerm, Plan};
use super::readout::Counts;
use crate::CircuitError;

/// How several ciphertexts become one before they go back (`koseki2022hesc` §3.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fusion {
    /// As digits: block 0 times `bases[0]` plus block 1, times `bases[1]` plus block 2, and so
    /// on; `bases.len() + 1` blocks in one. Each base must exceed the largest count, and the
    /// plaintext modulus the largest fused value.
    Digits {
        /// The base below each digit but the last.
        bases: Vec<u64>,
    },
    /// By addition, base 1: for positions that are 0 or 1, whose sum is all that is wanted. The
    /// terms of an element of one weight and offset merge.
    Ones,
}

/// The ciphertexts of an answer.
pub(crate) enum Body<S: Scheme> {
    Full(Vec<Arc<S::Ciphertexts>>),
    Compact(S::CompactCiphertexts),
}

/// What goes back to the key owner: the ciphertexts in use and how to read them.
pub struct Answer<S: Scheme> {
    pub(crate) scheme: S,
    pub(crate) body: Body<S>,
    pub(crate) plan: Plan,
}

impl<S: Scheme> Answer<S> {
    /// Collects the ciphertexts that `streams` uses, without copies where whole batches are used: whole
    /// blocks, with whatever else lies in them (see [`Streams::rerandomise`]).
    ///
    /// # Errors
    /// None that a consistent array meets.
    pub fn new(streams: &Streams<S>) -> Result<Self, CircuitError> {
        let used = streams.used_blocks();
        let mut body = Vec::new();
        for of_part in used.chunk_by(|a, b| a.0 == b.0) {
            let part = &streams.parts[of_part[0].0];
            if of_part.len() == part.blocks() {
                body.push(Arc::clone(part));
            } else {
                let blocks: Vec<usize> = of_part.iter().map(|&(_, block)| block).collect();
                body.push(Arc::new(streams.scheme.select(part, &blocks)?));
            }
        }
        let mut first = 0;
        let terms = streams.terms.iter().map(|term| {
            let block = (term.part, term.place.block);
            if used[first] != block {
                first = used.partition_point(|u| *u < block);
            }
            AnswerTerm { first, offset: term.place.offset, merged: 1, weight: term.weight }
        });
        let plan = Plan {
            elements: streams.elements,
            stream_length: streams.stream_length,
            block_length: streams.scheme.block_length(),
            representation: streams.representation,
            origins: anonymous(&streams.origins),
            factors: streams.factors.pattern(
                streams.elements,
                &streams.origins,
                streams.encoded_length / streams.stream_length,
            ),
            encoded_length: streams.encoded_length,
            constants: streams.constants.clone(),
            terms: terms.collect(),
            bases: Vec::new(),
            blocks: used.len(),
            max_count: streams.max_count,
        };
        Ok(Self { scheme: streams.scheme.clone(), body: Body::Full(body), plan })
    }

    /// Fuses. Cost: one scaled addition a block.
    ///
    /// # Errors
    /// [`CircuitError::FusionBase`], [`CircuitError::FusionOverflow`],
    /// [`CircuitError::FusionOfOnes`], [`CircuitError::Fused`] for an answer that is fused or
    /// compact already, and the scheme's error if the noise budget does not suffice.
    pub fn fuse(self, fusion: &Fusion) -> Result<Self, CircuitError> {
        let Body::Full(parts) = &self.body else { return Err(CircuitError::Fused) };
        if !self.plan.bases.is_empty() || self.plan.terms.iter().any(|term| term.merged > 1) {
            return Err(CircuitError::Fused);
        }
        if let Some(refused) = self.scheme.refusal("fusion") {
            return Err(refused.into());
        }
        match fusion {
            Fusion::Digits { bases } => self.fuse_digits(parts, bases),
            Fusion::Ones => self.fuse_ones(parts),
        }
    }

    fn max_count(&self, parts: &[Arc<S::Ciphertexts>]) -> u64 {
        parts.iter().map(|part| self.scheme.max_count(&**part)).min().unwrap_or(0)
    }

    fn fuse_digits(
        &self,
        parts: &[Arc<S::Ciphertexts>],
        bases: &[u64],
    ) -> Result<Self, CircuitError> {
        let max_digit = self.plan.max_count;
        if let Some(&base) = bases.iter().find(|base| **base <= max_digit) {
            return Err(CircuitError::FusionBase { base, max_digit });
        }
        // No more digits than blocks.
        let bases = bases[..bases.len().min(self.plan.blocks - 1)].to_vec();
        let plan = Plan { bases, ..self.plan.clone() };
        let max_count = self.max_count(parts);
        let fits = plan.largest() <= u128::from(max_count);
        if fits && plan.bases.is_empty() {
            // A single block is fused with nothing.
            return Ok(self.fused(parts.to_vec(), plan));
        }
        // Without weights positions hold bits, and no digit fits beside another.
        let Some(weighting) = self.scheme.weighting().filter(|_| fits) else {
            let base = plan.bases.iter().copied().max().unwrap_or(1);
            let some_fit = |digits: &usize| {
                let bases = vec![base; digits - 1];
                Plan { bases, ..self.plan.clone() }.largest() <= u128::from(max_count)
            };
            return Err(CircuitError::FusionOverflow {
                digits: plan.bases.len() + 1,
                base,
                needed: plan.largest().to_string(),
                max_count,
                most: (1..64).take_while(some_fit).last().unwrap_or(0),
            });
        };
        let blocks = self.logical_blocks(parts);
        let groups = plan.groups();
        let rows: Vec<Vec<(usize, usize)>> =
            (0..groups).map(|g| blocks[g..].iter().step_by(groups).copied().collect()).collect();
        let parts: Vec<&S::Ciphertexts> = parts.iter().map(Arc::as_ref).collect();
        let sums = weighting.horner(&parts, &rows, &plan.bases)?;
        Ok(self.fused(vec![Arc::new(sums)], plan))
    }

    fn fuse_ones(&self, parts: &[Arc<S::Ciphertexts>]) -> Result<Self, CircuitError> {
        if self.plan.max_count != 1 {
            return Err(CircuitError::FusionOfOnes {
                problem: "these streams are products, whose positions are counts",
            });
        }
        // Blocks merge if they hold the same terms at the same offsets with the same weights.
        type Signature = Vec<(usize, usize, u64, usize)>;
        let per_element = self.plan.terms.len() / self.plan.elements;
        let mut signatures: Vec<Signature> = vec![Vec::new(); self.plan.blocks];
        for (i, term) in self.plan.terms.iter().enumerate() {
            for k in 0..self.plan.span() {
                signatures[term.first + k].push((
                    i / per_element,
                    term.offset,
                    term.weight.to_bits(),
                    k,
                ));
            }
        }
        // Classes in order of their first block keep the blocks of a long stream neighbours.
        let mut classes: Vec<Vec<usize>> = Vec::new();
        let mut class_of: HashMap<&Signature, usize> = HashMap::new();
        for (block, signature) in signatures.iter().enumerate() {
            let class = *class_of.entry(signature).or_insert_with(|| {
                classes.push(Vec::new());
                classes.len() - 1
            });
            classes[class].push(block);
        }
        let merged = classes[0].len();
        if merged == 1 || classes.iter().any(|class| class.len() != merged) {
            return Err(CircuitError::FusionOfOnes {
                problem: "these streams do not lie in blocks of the same arrangement",
            });
        }
        let max_count = self.max_count(parts);
        if merged as u64 > max_count {
            return Err(CircuitError::FusionOverflow {
                digits: merged,
                base: 1,
                needed: merged.to_string(),
                max_count,
                most: max_count as usize,
            });
        }
        let mut terms = Vec::with_capacity(self.plan.terms.len() / merged);
        for (i, term) in self.plan.terms.iter().enumerate() {
            // The class of a block stands for all its members: keep the term of the first.
            let class = class_of[&signatures[term.first]];
            if classes[class][0] == term.first {
                terms.push((
                    i / per_element,
                    i,
                    AnswerTerm { first: class, merged: merged as u32, ..*term },
                ));
            }
        }
        terms.sort_by_key(|(element, _, _)| *element);
        let kept = terms.iter().map(|(_, of, _)| *of);
        let factors = self.plan.factors_of_all().select(kept).pattern(
            self.plan.elements,
            &self.plan.origins,
            self.plan.pieces(),
        );
        let plan = Plan {
            factors,
            terms: terms.into_iter().map(|(_, _, term)| term).collect(),
            blocks: classes.len(),
            max_count: merged as u64,
            ..self.plan.clone()
        };
        let blocks = self.logical_blocks(parts);
        let rows: Vec<Vec<(usize, usize)>> =
            classes.iter().map(|class| class.iter().map(|&u| blocks[u]).collect()).collect();
        let parts: Vec<&S::Ciphertexts> = parts.iter().map(Arc::as_ref).collect();
        let sums = self.scheme.combine_rows(&parts, &rows)?;
        Ok(self.fused(vec![Arc::new(sums)], plan))
    }

    /// (part, block) of each logical block.
    fn logical_blocks(&self, parts: &[Arc<S::Ciphertexts>]) -> Vec<(usize, usize)> {
        let blocks_of = |(part, blocks): (usize, &Arc<S::Ciphertexts>)| {
            (0..blocks.blocks()).map(move |block| (part, block))
        };
        parts.iter().enumerate().flat_map(blocks_of).collect()
    }

    fn fused(&self, parts: Vec<Arc<S::Ciphertexts>>, plan: Plan) -> Self {
        Self { scheme: self.scheme.clone(), body: Body::Full(parts), plan }
    }

    /// The download form: the modulus switched to the smallest that still decrypts. It can only
    /// be decrypted.
    ///
    /// # Errors
    /// The scheme's error if it has no smaller modulus.
    pub fn compact(self) -> Result<Self, CircuitError> {
        let body = match self.body {
            Body::Full(parts) if parts.len() == 1 => Body::Compact(self.scheme.compact(&parts[0])?),
            Body::Full(parts) => {
                let parts: Vec<&S::Ciphertexts> = parts.iter().map(Arc::as_ref).collect();
                Body::Compact(self.scheme.compact(&self.scheme.concatenate(&parts)?)?)
            }
            compact @ Body::Compact(_) => compact,
        };
        Ok(Self { body, ..self })
    }

    /// Decrypts to counts.
    ///
    /// # Errors
    /// The scheme's: wrong key, altered ciphertexts.
    pub fn decrypt(&self, key: &S::SecretKey) -> Result<Counts, CircuitError> {
        let counts = match &self.body {
            Body::Compact(blocks) => self.scheme.decrypt(key, blocks)?,
            Body::Full(parts) => {
                let mut counts = self.scheme.decrypt(key, &*parts[0])?;
                for part in &parts[1..] {
                    counts.extend(self.scheme.decrypt(key, &**part)?);
                }
                counts
            }
        };
        Ok(Counts::new(counts, self.plan.clone()))
    }

    /// The scheme.
    pub fn scheme(&self) -> &S {
        &self.scheme
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.plan.elements
    }

    /// Ciphertexts.
    pub fn blocks(&self) -> usize {
        self.plan.groups()
    }
}
