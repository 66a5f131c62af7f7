//! The plan of a search without keys, as its client has it: a vector goes up, scores of all records come back.

use std::collections::BinaryHeap;

use hesc_circuits::search::{self, Declared, Entries};
use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::SecretKey;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::document::{self, Fields};
use crate::json::Json;
use crate::labels::Classes;
use crate::vectors::{self, direction, is_beyond, length};
use crate::{ClientError, Columns, Conclusions, Link, Prepared, Table, message};

type Found<T> = Result<T, ClientError>;

/// Fields of its document, beside its format.
const FIELDS: [&str; 19] = [
    "protocol",
    "inputs",
    "names",
    "steps",
    "records",
    "metric",
    "step",
    "query_step",
    "norm",
    "query_norm",
    "dependence",
    "most_records",
    "expanded",
    "shared",
    "signs",
    "classes",
    "labels",
    "neighbours",
    "weights",
];
/// Records of an index, at most.
const MOST_RECORDS: usize = 1 << 26;
/// Blocks of records that share a part of an answer, at most.
const MOST_SHARED: usize = 8;
/// Queries of a message, at most: one pass over the records answers them.
const ROWS: usize = 16;
/// Bytes of the constants of a message's queries, but of one query at least.
const CONSTANTS: usize = 1 << 28;
/// How votes count.
const WEIGHTS: [&str; 2] = ["uniform", "distance"];

/// What is told of two vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Their inner product.
    Inner,
    /// The cosine of their angle.
    Cosine,
    /// Their distance.
    Euclidean,
    /// At how many places vectors of zeros and ones differ.
    Hamming,
}

impl Metric {
    const ALL: [Self; 4] = [Self::Inner, Self::Cosine, Self::Euclidean, Self::Hamming];
    const NAMES: [&str; 4] = ["inner", "cosine", "euclidean", "hamming"];

    /// What documents call it.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Whether less is nearer: of distances, and not of products.
    pub fn nearest_first(self) -> bool {
        matches!(self, Self::Euclidean | Self::Hamming)
    }
}

/// Records that vote for their classes.
#[derive(Debug)]
pub struct Voting {
    /// What follows from shares of votes.
    pub conclusions: Conclusions,
    /// How many vote.
    pub neighbours: usize,
    /// Whether votes count by the inverse of distances; otherwise alike.
    pub by_distance: bool,
    labels: Vec<u32>,
}

/// Public, and the same on both sides: what vectors are, how they are compared, and sizes.
#[derive(Debug)]
pub struct SearchPlan {
    columns: Columns,
    metric: Metric,
    /// What an entry of a record and of a query is counted in.
    steps: [f64; 2],
    /// The length of a record and of a query, at most.
    norms: [f64; 2],
    dependence: f64,
    index: search::Plan,
    /// What no rounded record's sum of squares is above.
    most_square: u64,
    voting: Option<Voting>,
    digest: [u8; 32],
}

/// Scores or distances of all records, a row for each query.
pub struct Values {
    /// Row after row.
    pub numbers: Zeroizing<Vec<f64>>,
    /// In a row.
    pub records: usize,
}

/// The nearest records of each query, and what they vote.
pub struct Nearest {
    /// Places of the records, the nearest first, a row for each query.
    pub indices: Vec<usize>,
    /// Their scores or distances; of cosines that vote one less the cosine.
    pub distances: Vec<f64>,
    /// Scores of classes, as shares of votes say them, and the place of the class with most votes for each query.
    pub votes: Option<(Vec<f64>, Vec<usize>)>,
}

impl SearchPlan {
    /// Reads a document that `SearchPlan.to_bytes` of Python wrote, whose bytes have this digest; strict. Plans whose clients
    /// give the server keys are refused.
    pub(crate) fn read(document: &Json, digest: [u8; 32]) -> Found<Self> {
        let refused = |problem: &str| Err(ClientError::document(problem));
        let fields = document::of_plan(document, "search", &FIELDS)?;
        let columns = Columns::read(&fields)?;
        document::one_of(fields.get("records"), &["public"], "what records are")?;
        let metric = document::one_of(fields.get("metric"), &Metric::NAMES, "a metric")?;
        let metric = Metric::ALL[metric];
        let sized = |name: &str| number(&fields, name, [1e-100, 1e100]);
        let steps = [sized("step")?, sized("query_step")?];
        let norms = [sized("norm")?, sized("query_norm")?];
        let dependence = number(&fields, "dependence", [1.0, 1e6])?;
        let most_records = fields.whole("most_records", 1, MOST_RECORDS)?;
        let Json::Truth(expanded) = fields.get("expanded") else {
            return refused("expanded of a plan is true or false");
        };
        let shared = fields.whole("shared", 1, MOST_SHARED)?;
        let signs = document::bytes_of(fields.get("signs"), "signs of a plan")?;
        let Ok(signs) = <[u8; 32]>::try_from(signs) else {
            return refused("signs of a plan are 32 random bytes");
        };
        match metric {
            Metric::Euclidean if steps[0] != steps[1] => {
                return refused("distances are of records and queries of one step");
            }
            Metric::Cosine if norms != [1.0; 2] => {
                return refused("cosines are of vectors of length 1");
            }
            Metric::Hamming if steps[0] != 1.0 => return refused("bits have no step"),
            _ => {}
        }
        let voting = Voting::read(&fields, most_records)?;
        if voting.is_some() && !matches!(metric, Metric::Euclidean | Metric::Cosine) {
            return refused("votes are of distances and cosines");
        }
        if *expanded {
            return Err(ClientError::Keys);
        }
        let dimensions = columns.steps().width();
        let (entries, most_square) = match metric {
            Metric::Hamming => (Entries::Signs, dimensions as u64),
            _ => {
                let square = |side: usize| {
                    vectors::square_of(norms[side], steps[side], dimensions).ok_or_else(|| {
                        let text = "vectors of a plan have more steps than entries hold";
                        ClientError::document(text)
                    })
                };
                let [record_square, query_square] = [square(0)?, square(1)?];
                // Lengths bound entries, and nothing depends on their bits.
                let (query_bits, record_bits) = (16, 16);
                let entries =
                    Entries::Integers { query_bits, record_bits, query_square, record_square };
                (entries, record_square)
            }
        };
        let index = search::Plan::new(Declared {
            // A table's features are 2^16 at most.
            dimensions: dimensions as u32,
            entries,
            most_records: most_records as u64,
            expanded: false,
            shared: shared as u32,
            signs,
        })?;
        Ok(Self { columns, metric, steps, norms, dependence, index, most_square, voting, digest })
    }

    /// Columns of a vector, and what is done with them before they are compared.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// What is told of two vectors.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// What an entry of a record and of a query is counted in.
    pub fn steps(&self) -> [f64; 2] {
        self.steps
    }

    /// The length of a record and of a query, at most.
    pub fn norms(&self) -> [f64; 2] {
        self.norms
    }

    /// How many times as large as those of spread roundings errors of scores were among vectors planned with.
    pub fn dependence(&self) -> f64 {
        self.dependence
    }

    /// Sizes and parameters.
    pub fn index(&self) -> &search::Plan {
        &self.index
    }

    /// Records of an index, at most.
    pub fn most_records(&self) -> usize {
        // No more than 2^26.
        self.index.declared().most_records as usize
    }

    /// How records vote; none of a search.
    pub fn voting(&self) -> Option<&Voting> {
        self.voting.as_ref()
    }

    /// SHA-256 of the bytes that it was read from: what messages call it by.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// What rounding does to a score of vectors of the greatest length: the root mean square of its error, as the plan states
    /// it, and what none is off by more.
    pub fn score_error(&self) -> [f64; 2] {
        let ([own, asked], [record, query]) = (self.steps, self.norms);
        let dimensions = self.index.dimensions() as f64;
        let half = dimensions.sqrt() / 2.0;
        let spread = (1.0f64 / 12.0).sqrt();
        let [rms, bound] = match self.metric {
            Metric::Hamming => [0.0, 0.0],
            Metric::Euclidean => {
                [own.hypot(asked) * (dimensions / 12.0).sqrt(), (own + asked) * half]
            }
            Metric::Inner | Metric::Cosine => {
                let longer = record + own * half;
                let rms = (own * query).hypot(asked * longer) * spread;
                [rms, half * (own * query + asked * longer)]
            }
        };
        [(rms * self.dependence).min(bound), bound]
    }

    /// The root mean square of a score's error; none where nothing errs: distances of codes are exact, and so are votes of what
    /// was rounded.
    pub fn error(&self) -> Option<f64> {
        let exact = self.voting.is_some() || self.metric == Metric::Hamming;
        (!exact).then(|| self.score_error()[0])
    }

    /// Bytes that the constants of a query take in the server's memory.
    pub fn constants(&self) -> usize {
        2 * size_of::<u64>() * self.index.ring_degree() * self.index.dimensions()
    }

    /// Queries of a message, at most.
    pub fn rows(&self) -> usize {
        let answer = search::answer_bytes(&self.index, self.most_records());
        let room = (message::LARGEST >> 2) / answer;
        ROWS.min(room).min(CONSTANTS / self.constants()).max(1)
    }

    /// Bytes of a sum of squares of a record, which travels beside scores; none where there are none.
    fn square_bytes(&self) -> Option<usize> {
        let bytes = if self.most_square <= u64::from(u16::MAX) { 2 } else { 4 };
        (self.metric == Metric::Euclidean).then_some(bytes)
    }

    /// Bytes of a query's part, of an answer's by a full index, and of what is beside all answers.
    pub fn part_bytes(&self) -> [usize; 3] {
        let records = self.most_records();
        let beside = self.square_bytes().map_or(0, |bytes| message::PART + bytes * records);
        [search::query_bytes(&self.index), search::answer_bytes(&self.index, records), beside]
    }

    /// Queries as they are encrypted: behind the transforms, no longer than the plan declares.
    ///
    /// # Errors
    /// As [`crate::Steps::prepared`], by the names of the columns; [`ClientError::Vector`] for a longer query unless it is to
    /// be shortened, for one of zeros, which has no cosine, and for a code of other numbers than zeros and ones.
    pub fn prepared(&self, table: Table<'_>, clip: bool) -> Found<Prepared> {
        let width = self.index.dimensions();
        let [low, high] = match self.metric {
            Metric::Hamming => [0.0, 1.0],
            _ => [f64::NEG_INFINITY, f64::INFINITY],
        };
        let mut ready =
            self.columns.prepared(table, [&vec![low; width], &vec![high; width]], clip)?;
        let most = self.norms[1];
        for (sample, row) in ready.features.chunks_exact_mut(width).enumerate() {
            let refused = |problem| Err(ClientError::Vector { sample, problem });
            match self.metric {
                Metric::Cosine if row.iter().all(|&x| x == 0.0) => return refused(NO_DIRECTION),
                Metric::Hamming if row.iter().any(|&x| x != 0.0 && x != 1.0) => {
                    return refused(NO_BITS);
                }
                Metric::Cosine | Metric::Hamming => {}
                Metric::Inner | Metric::Euclidean if length(row) <= most => {}
                Metric::Inner | Metric::Euclidean if !clip => return refused(LONGER),
                Metric::Inner | Metric::Euclidean => {
                    let Some(shortened) = direction(row) else { return refused(LONGER) };
                    let shortened = Zeroizing::new(shortened);
                    row.iter_mut().zip(shortened.iter()).for_each(|(x, own)| *x = own * most);
                    ready.values += width;
                    ready.which[sample] = true;
                }
            }
        }
        Ok(ready)
    }

    /// A query as whole numbers.
    fn entries(&self, row: &[f64], sample: usize) -> Found<Zeroizing<Vec<i16>>> {
        let refused = |problem| ClientError::Vector { sample, problem };
        let step = self.steps[1];
        Ok(Zeroizing::new(match self.metric {
            Metric::Hamming => search::signs_of_bits(row.iter().map(|&bit| bit != 0.0)),
            Metric::Cosine => {
                let unit = direction(row).ok_or_else(|| refused(NO_DIRECTION))?;
                vectors::rounded(&Zeroizing::new(unit), step)
            }
            Metric::Inner | Metric::Euclidean if is_beyond(row, self.norms[1]) => {
                return Err(refused(LONGER));
            }
            Metric::Inner | Metric::Euclidean => vectors::rounded(row, step),
        }))
    }

    /// A message of queries that [`SearchPlan::prepared`] gave, under a key of the plan's set.
    ///
    /// # Errors
    /// [`ClientError::Shape`] for what are no rows, [`ClientError::Samples`] for too many of them, [`ClientError::Vector`] for
    /// vectors that the plan does not declare; [`ClientError::Plan`] for another set's key.
    pub fn encrypt(
        &self,
        secret: &SecretKey,
        features: &[f64],
        rng: &mut impl CryptoRng,
    ) -> Found<Vec<u8>> {
        let count = self.columns.count(features, self.rows())?;
        let mut parts = Vec::new();
        for (sample, row) in features.chunks_exact(self.index.dimensions()).enumerate() {
            let entries = self.entries(row, sample)?;
            parts.push(search::encrypt(&self.index, secret, &entries, rng)?);
        }
        message::query(&self.digest, count, &parts)
    }

    /// Scores or distances of all records that an answer says, for the key owner's eyes.
    ///
    /// `query` is what was asked: an answer to another one is refused. Euclidean distances are from the samples in it.
    ///
    /// # Errors
    /// [`ClientError::NoQuery`] for Euclidean distances without their query;
    /// [`ClientError::Document`] for damaged bytes, another plan's, the answer to another query, another number of queries or
    /// records; [`ClientError::Plan`] for another key's, and for scores that no records have: tell nobody who made it.
    pub fn decrypt(
        &self,
        secret: &SecretKey,
        answer: &[u8],
        query: Option<&[u8]>,
    ) -> Found<Values> {
        let opened = message::opened(&self.digest, answer, query, None)?;
        opened.check_samples(self.rows())?;
        let (parts, beside) = match self.square_bytes() {
            Some(bytes) => (opened.parts.split_last(), Some(bytes)),
            None => (Some((&&[][..], &opened.parts[..])), None),
        };
        let (squares, parts) = match parts {
            Some((squares, parts)) if parts.len() == opened.samples => (squares, parts),
            _ => {
                let text = "an answer has a part for each query; this one has others";
                return Err(ClientError::document(text));
            }
        };
        let shared = search::shared_secrets(&self.index, secret)?;
        let mut products: Vec<Zeroizing<Vec<i64>>> = Vec::with_capacity(parts.len());
        for part in parts {
            let own = search::decrypt(&self.index, secret, &shared, part)?;
            if products.first().is_some_and(|first| first.len() != own.len()) {
                let text = "the parts of this answer are of different numbers of records";
                return Err(ClientError::document(text));
            }
            products.push(own);
        }
        let records = products.first().map_or(0, |first| first.len());
        if self.voting.as_ref().is_some_and(|voting| voting.labels.len() != records) {
            let text = "this answer is of other records than the plan's";
            return Err(ClientError::document(text));
        }
        let squares = match beside {
            Some(bytes) if squares.len() == bytes * records => Some(numbers_of(squares, bytes)),
            Some(_) => {
                let text = "this answer has sums of squares of other records than its scores";
                return Err(ClientError::document(text));
            }
            None => None,
        };
        let mut numbers = Zeroizing::new(Vec::with_capacity(products.len() * records));
        if let Some(squares) = &squares {
            let asked = opened.asked.ok_or(ClientError::NoQuery)?;
            if asked.len() != opened.samples {
                let text = "this query has another number of parts than of samples";
                return Err(ClientError::document(text));
            }
            for (own, part) in products.iter().zip(asked) {
                let entries = search::decrypt_query(&self.index, secret, part)?;
                let square: i64 = entries.iter().map(|&x| i64::from(x).pow(2)).sum();
                // Sums of whole numbers below 2^53, exactly.
                let distance = |(product, other): (&i64, &f64)| {
                    (square as f64 + other - (2 * product) as f64).sqrt() * self.steps[0]
                };
                numbers.extend(own.iter().zip(squares).map(distance));
            }
        } else {
            let values = products.iter().flat_map(|own| own.iter());
            numbers.extend(values.map(|&product| self.value(product)));
        }
        if numbers.iter().all(|number| number.is_finite()) {
            Ok(Values { numbers, records })
        } else {
            Err(ClientError::Plan(SchemeError::NoiseTooLarge.into()))
        }
    }

    /// The score of an inner product of whole numbers, or the distance of codes.
    fn value(&self, product: i64) -> f64 {
        if self.metric == Metric::Hamming {
            return (self.index.dimensions() as i64 - product) as f64 / 2.0;
        }
        product as f64 * (self.steps[0] * self.steps[1])
    }

    /// Places of so many nearest records of each query, the nearest first; of equal ones the first is nearer. All of them where
    /// there are fewer.
    pub fn best(&self, values: &[f64], records: usize, count: usize) -> Vec<usize> {
        let count = count.min(records);
        let sign = if self.metric.nearest_first() { 1.0 } else { -1.0 };
        let mut found = Vec::new();
        for row in values.chunks_exact(records.max(1)) {
            // The farthest of those that are kept is on top.
            let mut kept = BinaryHeap::with_capacity(count);
            for (place, value) in row.iter().enumerate() {
                let own = (ordered(sign * value), place);
                if kept.len() < count {
                    kept.push(own);
                } else if let Some(mut farthest) = kept.peek_mut()
                    && own < *farthest
                {
                    *farthest = own;
                }
            }
            found.extend(kept.into_sorted_vec().into_iter().map(|(_, place)| place));
        }
        found
    }

    /// The nearest records of each query, and what they vote where they do.
    pub fn nearest(&self, values: &[f64], records: usize) -> Nearest {
        let each = self.voting.as_ref().map_or(1, |voting| voting.neighbours).min(records);
        let indices = self.best(values, records, each);
        let rows = values.chunks_exact(records.max(1)).zip(indices.chunks_exact(each.max(1)));
        let own = rows.flat_map(|(row, places)| places.iter().map(|&place| row[place]));
        let mut distances: Vec<f64> = own.collect();
        let Some(voting) = &self.voting else { return Nearest { indices, distances, votes: None } };
        if self.metric == Metric::Cosine {
            distances.iter_mut().for_each(|x| *x = (1.0 - *x).max(0.0));
        }
        let votes = Some(voting.counted(&indices, &distances, each));
        Nearest { indices, distances, votes }
    }
}

/// A number that is ordered as a value is; zeros of both signs are one.
fn ordered(value: f64) -> i64 {
    let bits = (value + 0.0).to_bits().cast_signed();
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

const LONGER: &str = "is longer after the transforms than the plan declares; clip=True, or --clip, shortens it, and a plan for \
                      longer ones takes it as it is";
const NO_DIRECTION: &str = "is all zeros, which has no direction and no cosine; leave it out";
const NO_BITS: &str = "has other numbers than zeros and ones, which Hamming distances are of";

impl Voting {
    /// Reads the fields of a plan of so many records; none where records do not vote.
    fn read(fields: &Fields<'_>, records: usize) -> Found<Option<Self>> {
        let refused = |problem: &str| Err(ClientError::document(problem));
        let classes = Classes::read_or_none(fields.get("classes"))?;
        let labels = match fields.get("labels") {
            Json::Null => None,
            value => Some(document::bytes_of(value, "labels of a plan")?),
        };
        let neighbours = fields.whole("neighbours", 0, MOST_RECORDS)?;
        let by_distance =
            document::one_of(fields.get("weights"), &WEIGHTS, "how votes count")? == 1;
        let (classes, labels) = match (classes, labels) {
            (None, None) if neighbours == 0 => return Ok(None),
            (Some(classes), Some(labels)) if neighbours > 0 => (classes, labels),
            _ => {
                return refused(
                    "records vote where they have classes and labels, and one at least",
                );
            }
        };
        if neighbours >= records {
            return refused("fewer records vote than there are");
        }
        let (labels, rest) = labels.as_chunks::<4>();
        if labels.len() != records || !rest.is_empty() {
            return refused("labels of a plan are one for each record");
        }
        let labels: Vec<u32> = labels.iter().map(|&label| u32::from_le_bytes(label)).collect();
        if labels.iter().any(|&label| label as usize >= classes.len()) {
            return refused("labels of a plan are places of classes");
        }
        let conclusions = Conclusions::of_classes(classes, Link::Shares)?;
        Ok(Some(Self { conclusions, neighbours, by_distance, labels }))
    }

    /// Shares of votes as scores: of two classes that of the second less a half; and the place of the class with most votes.
    fn counted(&self, indices: &[usize], distances: &[f64], each: usize) -> (Vec<f64>, Vec<usize>) {
        let classes = self.conclusions.classes().map_or(0, Classes::len);
        let (mut scores, mut chosen) = (Vec::new(), Vec::new());
        let each = each.max(1);
        for (places, distances) in indices.chunks_exact(each).zip(distances.chunks_exact(each)) {
            // A record at distance zero outvotes all that are not.
            let some = distances.contains(&0.0);
            let mut votes = vec![0.0; classes];
            for (&place, &distance) in places.iter().zip(distances) {
                votes[self.labels[place] as usize] += match (self.by_distance, some) {
                    (false, _) => 1.0,
                    (true, true) => f64::from(u8::from(distance == 0.0)),
                    (true, false) => 1.0 / distance,
                };
            }
            let total = vectors::sum(&votes);
            votes.iter_mut().for_each(|vote| *vote /= total);
            // Of equal ones the first.
            let most = |best: usize, at: usize| if votes[at] > votes[best] { at } else { best };
            chosen.push((1..classes).fold(0, most));
            match votes[..] {
                [_, second] => scores.push(second - 0.5),
                _ => scores.extend(votes),
            }
        }
        (scores, chosen)
    }
}

/// A finite number within bounds, written as one.
fn number(fields: &Fields<'_>, name: &str, [least, most]: [f64; 2]) -> Found<f64> {
    match fields.get(name) {
        Json::Number(found) if (least..=most).contains(found) => Ok(*found),
        _ => Err(ClientError::document(format!(
            "{name} of a plan is a number from {least:e} to {most:e}"
        ))),
    }
}

/// Whole numbers of two or four bytes each.
fn numbers_of(data: &[u8], bytes: usize) -> Vec<f64> {
    let number =
        |word: &[u8]| word.iter().rev().fold(0u32, |sum, &byte| sum << 8 | u32::from(byte));
    data.chunks_exact(bytes).map(|word| f64::from(number(word))).collect()
}
