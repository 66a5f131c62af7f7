//! The plan of a model of trees that is computed as it is, as its client has it: bits go up, sums of leaves come back.

use hesc_circuits::forests::{self, PartKind};
use hesc_schemes::rlwe::SecretKey;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::document::{self, Fields};
use crate::error::quoted;
use crate::json::Json;
use crate::{
    ClientError, Columns, Conclusions, Fidelity, Kind, Place, Prepared, Steps, Table, message,
};

type Found<T> = Result<T, ClientError>;

/// Fields of its document, beside its format.
const FIELDS: [&str; 12] = [
    "protocol",
    "inputs",
    "names",
    "steps",
    "structure",
    "forest",
    "trees",
    "finer",
    "farthest",
    "classes",
    "link",
    "fidelity",
];
/// What a client knows of trees beside edges: their numbers, or all but what leaves say.
const STRUCTURES: [&str; 2] = ["hidden", "public"];
/// Samples of a query, at most: each is a part of its own.
const ROWS: usize = 64;
/// The unit of scores is from `2^-FINEST` to `2^-COARSEST`.
const FINEST: i64 = 1000;
const COARSEST: i64 = -FINEST;
/// Letters of a column's name that are repeated.
const SHOWN: usize = 80;
/// Outputs of a plan, and trees of each, at most.
const MOST_OUTPUTS: usize = 1 << 10;
const MOST_TREES: u32 = 1 << 20;
/// The largest double that rounds to a number of single precision: the next one is infinite there.
const LARGEST_SINGLE: f64 = f64::from_bits(0x47EF_FFFF_EFFF_FFFF);
/// What no number exceeds, where a model's library refuses none as too large.
const NEVER: f64 = f64::MAX;

/// Public, and the same on both sides: edges, numbers of trees and leaves, the unit of scores.
#[derive(Debug)]
pub struct TreesPlan {
    columns: Columns,
    kinds: Vec<Kind>,
    public: bool,
    forest: forests::Plan,
    trees: Vec<u32>,
    finer: i32,
    farthest: f64,
    /// What makes the features that may be too large, if any may.
    compared: Option<Steps>,
    conclusions: Conclusions,
    fidelity: Option<Fidelity>,
    digest: [u8; 32],
}

impl TreesPlan {
    /// Reads a document that `TreesPlan.to_bytes` of Python wrote, whose bytes have this digest; strict.
    pub(crate) fn read(document: &Json, digest: [u8; 32]) -> Found<Self> {
        let fields = document::of_plan(document, "trees", &FIELDS)?;
        let columns = Columns::read(&fields)?;
        let structure = document::one_of(fields.get("structure"), &STRUCTURES, "the structure")?;
        let forest = document::bytes_of(fields.get("forest"), "forest of a plan")?;
        let forest = forests::Plan::from_bytes(&forest)?;
        let finer = read_finer(fields.get("finer"))?;
        let farthest = match fields.get("farthest") {
            Json::Number(found @ LARGEST_SINGLE..=NEVER) => *found,
            _ => return Err(ClientError::document("farthest of a plan is a number of its range")),
        };
        let outputs = forest.declared().outputs.len();
        let conclusions = Conclusions::read(&fields, outputs, None)?;
        let compared = compared(&fields, &columns, farthest)?;
        let mut kinds = columns.steps().kinds().to_vec();
        if let Some(steps) = &compared {
            steps.demanded_too(&mut kinds)?;
        }
        let found = Self {
            kinds,
            public: structure == 1,
            trees: read_trees(&fields)?,
            finer,
            farthest,
            compared,
            conclusions,
            fidelity: Fidelity::read(fields.get("fidelity"))?,
            columns,
            forest,
            digest,
        };
        found.check()?;
        Ok(found)
    }

    /// Refuses bits, trees and leaves that do not fit together.
    fn check(&self) -> Found<()> {
        let refused = |problem: &str| Err(ClientError::document(problem));
        let (declared, steps) = (self.forest.declared(), self.columns.steps());
        if steps.width() != self.edges() {
            return refused("the transforms of a plan give another number of bits than its trees");
        }
        let (low, high) = steps.limits();
        if low.iter().any(|&low| low != 0.0) || high.iter().any(|&high| high != 1.0) {
            return refused("the last transforms of a plan of trees give bits");
        }
        if self.public != steps.finds_boxes() {
            return refused("the client of a plan finds leaves where their structure is public");
        }
        let own = |(&trees, shape): (&u32, &forests::Shape)| {
            shape.trees == if self.public { 1 } else { trees }
        };
        let outputs = &declared.outputs;
        if self.trees.len() != outputs.len() || !self.trees.iter().zip(outputs).all(own) {
            return refused("a plan says how many trees it adds up, and has another number");
        }
        let several = outputs.iter().any(|shape| shape.leaves > 1);
        if self.public && (declared.most_conditions > 0 || several) {
            return refused("an output of trees of public structure is one leaf");
        }
        Ok(())
    }

    /// Columns of a sample, and what the client does with them before it encrypts.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// What the cells of each column are: those that may be too large are numbers also where no tree looks at them.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Whether the client is told the trees but for what their leaves say.
    pub fn is_public(&self) -> bool {
        self.public
    }

    /// Numbers of edges, trees and leaves, and the ciphertexts that follow. Where the structure is public leaves are its
    /// edges, and an output is one leaf, a linear form of them.
    pub fn forest(&self) -> &forests::Plan {
        &self.forest
    }

    /// Trees of each output: leaves that are added up.
    pub fn trees(&self) -> &[u32] {
        &self.trees
    }

    /// The unit of scores is `2^-finer`.
    pub fn finer(&self) -> i32 {
        self.finer
    }

    /// The largest error of a score: each leaf that is added up is rounded to a unit.
    pub fn error(&self) -> f64 {
        let most = self.trees.iter().copied().max().unwrap_or(0);
        f64::from(most) * power(-self.finer) / 2.0
    }

    /// What follows from scores.
    pub fn conclusions(&self) -> &Conclusions {
        &self.conclusions
    }

    /// Where thresholds were moved: how near what is computed comes to the model.
    pub fn fidelity(&self) -> Option<&Fidelity> {
        self.fidelity.as_ref()
    }

    /// SHA-256 of the bytes that it was read from: what messages call it by.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Samples of one query, at most.
    pub fn rows(&self) -> usize {
        let [up, down] = self.part_bytes();
        (message::LARGEST / (2 * up.max(down))).clamp(1, ROWS)
    }

    /// Bytes of a sample's part of a query, and of an answer.
    pub fn part_bytes(&self) -> [usize; 2] {
        [forests::query_bytes(&self.forest), forests::answer_bytes(&self.forest)]
    }

    /// Bytes of a sample's part of a prepared query, and of its answer.
    pub fn prepared_bytes(&self) -> [usize; 2] {
        [forests::prepared_query_bytes(&self.forest), forests::prepared_answer_bytes(&self.forest)]
    }

    /// Columns whose categories the client is told, and those in which cells may be missing, in words.
    pub fn told(&self) -> [Vec<String>; 2] {
        let names = self.columns.names();
        let called = |(place, column): (usize, Option<usize>)| match column {
            Some(column) => named(column, names),
            None => format!("feature {place} behind the transforms"),
        };
        let told = self.columns.steps().told();
        [told.categories, told.missing].map(|own| own.into_iter().map(called).collect())
    }

    fn edges(&self) -> usize {
        self.forest.declared().edges as usize
    }

    /// Bits of samples, a row of ones and zeros for each.
    ///
    /// # Errors
    /// As [`Steps::prepared`], by the names of the columns; [`ClientError::TooLarge`] for a feature that the model's library
    /// refuses, unless it is to be clipped: then it counts as the largest one.
    pub fn prepared(&self, table: Table<'_>, clip: bool) -> Found<Prepared> {
        let edges = self.edges();
        let bits = [vec![0.0; edges], vec![1.0; edges]];
        let mut ready = self.columns.prepared(table, [&bits[0], &bits[1]], clip)?;
        let Some(steps) = &self.compared else { return Ok(ready) };
        let named = |error: ClientError| error.with_names(self.columns.names());
        let found = Zeroizing::new(steps.transformed(table).map_err(named)?);
        for (sample, row) in found.chunks_exact(steps.width()).enumerate() {
            let beyond = |x: &f64| x.abs() > self.farthest;
            let Some(feature) = row.iter().position(beyond) else { continue };
            if !clip {
                let column = steps.column_of(feature);
                let at = Place { sample, column, name: None, step: "the model" };
                return Err(named(ClientError::TooLarge { at, most: self.farthest }));
            }
            ready.values += row.iter().filter(|&x| beyond(x)).count();
            ready.which[sample] = true;
        }
        Ok(ready)
    }

    /// A query of bits that [`TreesPlan::prepared`] gave, under a key of the plan's set.
    ///
    /// # Errors
    /// [`ClientError::Shape`] for what are no rows, [`ClientError::Samples`] for too many of them; [`ClientError::Plan`]
    /// for another set's key.
    pub fn encrypt(
        &self,
        secret: &SecretKey,
        bits: &[f64],
        rng: &mut impl CryptoRng,
    ) -> Found<Vec<u8>> {
        let count = self.columns.count(bits, self.rows())?;
        let mut parts = Vec::new();
        for row in bits.chunks_exact(self.edges()) {
            let row = Zeroizing::new(row.iter().map(|&bit| bit != 0.0).collect::<Vec<_>>());
            parts.push(forests::encrypt(&self.forest, secret, &row, rng)?);
        }
        message::query(&self.digest, count, &parts)
    }

    /// The scores of an answer, a row for each sample, for the key owner's eyes.
    ///
    /// `query` is what was asked: an answer to another one is refused. Without it which samples these are, and how many, is
    /// the server's word.
    ///
    /// # Errors
    /// [`ClientError::Document`] for damaged bytes, another plan's, the answer to another query or to a prepared one, and
    /// another number of samples; [`ClientError::Plan`] for another key's, and for numbers that no trees of this plan give:
    /// tell nobody who made it.
    pub fn decrypt(
        &self,
        secret: &SecretKey,
        answer: &[u8],
        query: Option<&[u8]>,
    ) -> Found<Zeroizing<Vec<f64>>> {
        let opened = message::opened(&self.digest, answer, query, None)?;
        opened.check_samples(self.rows())?;
        if opened.parts.len() != opened.samples {
            return Err(ClientError::document(format!(
                "a message of this plan has a part for each sample; this one has {} for {}",
                opened.parts.len(),
                opened.samples
            )));
        }
        if let Some(asked) = &opened.asked {
            let belong = |(sent, found): (&&[u8], &&[u8])| {
                let (sent, found) = (forests::part(sent), forests::part(found));
                let (Some((PartKind::Query, sent)), Some((PartKind::Answer, found))) =
                    (sent, found)
                else {
                    return false;
                };
                sent == found
            };
            if asked.len() != opened.parts.len() || !asked.iter().zip(&opened.parts).all(belong) {
                return Err(message::of_another_query());
            }
        }
        let unit = power(-self.finer);
        let mut scores = Zeroizing::new(Vec::new());
        for part in opened.parts {
            let sums = Zeroizing::new(forests::decrypt(&self.forest, secret, part)?);
            scores.extend(sums.iter().map(|&sum| sum as f64 * unit));
        }
        Ok(scores)
    }
}

/// A column in words: by its name, or where it stands.
fn named(column: usize, names: &[String]) -> String {
    match names.get(column) {
        Some(name) => {
            let shown: String = name.chars().take(SHOWN).collect();
            format!("column {}", quoted(&shown))
        }
        None => format!("column {column}"),
    }
}

/// A power of two, exactly, of exponents up to [`FINEST`].
fn power(exponent: i32) -> f64 {
    f64::from_bits(u64::from((1023 + exponent).unsigned_abs()) << 52)
}

fn read_finer(value: &Json) -> Found<i32> {
    match value {
        Json::Whole(found @ COARSEST..=FINEST) => Ok(*found as i32),
        _ => Err(ClientError::document(format!(
            "finer of a plan is a whole number from {COARSEST} to {FINEST}"
        ))),
    }
}

fn read_trees(fields: &Fields<'_>) -> Found<Vec<u32>> {
    let tree = |value: &Json| match value {
        Json::Whole(found) => {
            u32::try_from(*found).ok().filter(|found| (1..=MOST_TREES).contains(found))
        }
        _ => None,
    };
    let found: Option<Vec<u32>> = match fields.get("trees") {
        Json::List(found) if found.len() <= MOST_OUTPUTS => found.iter().map(tree).collect(),
        _ => None,
    };
    found.filter(|found| !found.is_empty()).ok_or_else(|| {
        ClientError::document(format!(
            "trees of a plan are 1 to {MOST_OUTPUTS} whole numbers from 1 to {MOST_TREES}"
        ))
    })
}

/// What makes features to look at, with zeros for missing ones; none where none is too large.
fn compared(fields: &Fields<'_>, columns: &Columns, farthest: f64) -> Found<Option<Steps>> {
    if farthest == NEVER {
        return Ok(None);
    }
    let steps = Steps::before_bits(fields.get("steps"), columns.steps().inputs())?;
    Ok((!steps.are_within(farthest)).then_some(steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_two() {
        for exponent in [-1000, -17, 0, 1, 1000] {
            assert_eq!(power(exponent), 2f64.powi(exponent));
        }
        assert_eq!(LARGEST_SINGLE, (f64::from(f32::MAX) + 2f64.powi(103)).next_down());
    }
}
