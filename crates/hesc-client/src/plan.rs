//! The plan of a linear model, or of trees in public bins, as its client has it.

use hesc_circuits::ring_products;
use sha2::{Digest as _, Sha256};

use crate::conclusions::{self, Link};
use crate::document::{self, Fields, is_name};
use crate::json::Json;
use crate::labels::Classes;
use crate::{ClientError, Prepared, Steps, Table, steps};

type Found<T> = Result<T, ClientError>;

/// Fields of its document, beside its format.
const FIELDS: [&str; 8] =
    ["protocol", "inputs", "names", "steps", "ring", "classes", "link", "fidelity"];
/// Ciphertexts of a query, at most.
const CIPHERTEXTS: usize = 64;
/// What was changed in a model that is not the one that was fitted.
const WAYS: [&str; 2] = ["bins", "additive"];

/// How near what is computed comes to the model that was fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Fidelity {
    /// What was changed: `bins` or `additive`.
    pub way: &'static str,
    /// Rows that both were compared on.
    pub rows: u64,
    /// Whether what is computed was made without these rows.
    pub unseen: bool,
    /// The share of rows that both put in the same class; none of regressors.
    pub agreement: Option<f64>,
    /// The share of the variance of the fitted model's scores; none where it has none.
    pub explained: Option<f64>,
    /// The root mean square of the difference of their scores.
    pub apart: f64,
}

/// Public, and the same on both sides: ranges, transforms, names, and the ring product's plan.
#[derive(Debug)]
pub struct Plan {
    names: Vec<String>,
    steps: Steps,
    ring: ring_products::Plan,
    classes: Option<Classes>,
    link: Link,
    fidelity: Option<Fidelity>,
    digest: [u8; 32],
}

impl Plan {
    /// Reads what `LinearPlan.to_bytes` of Python wrote; strict.
    ///
    /// # Errors
    /// [`ClientError::Document`] for damaged bytes, another document's or protocol's, and fields that do not fit;
    /// [`ClientError::Plan`] for a ring product's plan that nobody derives.
    pub fn from_bytes(data: &[u8]) -> Found<Self> {
        let document = document::read(data, "plan")?;
        let fields = document::of_kind(&document, "plan", &FIELDS)?;
        if fields.get("protocol") != &Json::Text("linear".to_owned()) {
            let text = "this plan is of another protocol than linear; check what was sent";
            return Err(ClientError::document(text));
        }
        let most = steps::WIDEST;
        let inputs = fields.whole("inputs", 1, most).map_err(|_| {
            ClientError::document(format!("inputs of a plan is a whole number from 1 to {most}"))
        })?;
        let names = read_names(fields.get("names"), inputs)?;
        let steps = Steps::read(fields.get("steps"), inputs)?;
        let ring = document::bytes_of(fields.get("ring"), "ring of a plan")?;
        let ring = ring_products::Plan::from_bytes(&ring)?;
        let classes = match fields.get("classes") {
            Json::Null => None,
            value => Some(Classes::read(value)?),
        };
        let link = Link::read(fields.get("link"), "link of a plan")?;
        let fidelity = match fields.get("fidelity") {
            Json::Null => None,
            value => Some(read_fidelity(value)?),
        };
        if ring.declared().encrypted().is_some() {
            let text = "a plan of hesc.ml for weights in the clear has encrypted ones";
            return Err(ClientError::document(text));
        }
        let layout = ring.layout();
        if steps.width() != layout.features {
            let text = "the transforms of a plan give another number of features than it has";
            return Err(ClientError::document(text));
        }
        if let Some(classes) = &classes {
            classes.check(layout.outputs)?;
        }
        let digest = Sha256::digest(data).into();
        Ok(Self { names, steps, ring, classes, link, fidelity, digest })
    }

    /// Names of the columns of a sample, or none.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What the client does with samples before it encrypts them.
    pub fn steps(&self) -> &Steps {
        &self.steps
    }

    /// Sizes, scales and ranges.
    pub fn ring(&self) -> &ring_products::Plan {
        &self.ring
    }

    /// A classifier's classes.
    pub fn classes(&self) -> Option<&Classes> {
        self.classes.as_ref()
    }

    /// How scores become probabilities.
    pub fn link(&self) -> Link {
        self.link
    }

    /// Where what is computed is not the model that was fitted: how near it comes.
    pub fn fidelity(&self) -> Option<&Fidelity> {
        self.fidelity.as_ref()
    }

    /// SHA-256 of the bytes that it was read from: what messages call it by.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Scores of a sample.
    pub fn outputs(&self) -> usize {
        self.ring.layout().outputs
    }

    /// Samples of one query, at most.
    pub fn rows(&self) -> usize {
        self.ring.most_samples().min(CIPHERTEXTS * self.ring.layout().capacity())
    }

    /// Features of samples within their ranges.
    ///
    /// # Errors
    /// As [`Steps::prepared`], by the names of the columns; [`ClientError::Shape`] for no sample.
    pub fn prepared(&self, table: Table<'_>, clip: bool) -> Found<Prepared> {
        if table.rows == 0 {
            let (inputs, found) = (self.steps.inputs(), "no row".to_owned());
            return Err(ClientError::Shape { inputs, found });
        }
        let declared = self.ring.declared();
        let ready = self.steps.prepared(table, [&declared.low, &declared.high], clip);
        ready.map_err(|error| error.with_names(&self.names))
    }

    /// Places of the classes that rows of scores are of; none of a regressor, whose predictions are its scores.
    pub fn predictions(&self, scores: &[f64]) -> Option<Vec<usize>> {
        self.classes.as_ref().map(|_| conclusions::places(scores, self.outputs()))
    }

    /// Probabilities of all classes, a row for each row of scores.
    ///
    /// # Errors
    /// [`ClientError::NoProbabilities`] for scores that give none.
    pub fn probabilities(&self, scores: &[f64]) -> Found<Vec<f64>> {
        self.link.probabilities(scores, self.outputs())
    }
}

/// Names of so many features, one for each and each another, or none.
fn read_names(value: &Json, inputs: usize) -> Found<Vec<String>> {
    let name = |value: &Json| match value {
        Json::Text(text) if is_name(text) => Some(text.clone()),
        _ => None,
    };
    let names: Option<Vec<String>> = match value {
        Json::List(values) => values.iter().map(name).collect(),
        _ => None,
    };
    let names = names.ok_or_else(|| {
        ClientError::document(format!(
            "names: a list of texts of {} printable letters at most was expected",
            document::NAME
        ))
    })?;
    if !names.is_empty() && names.len() != inputs {
        let text = "a plan of hesc.ml has a number of features, and as many names or none";
        return Err(ClientError::document(text));
    }
    let apart: std::collections::HashSet<&String> = names.iter().collect();
    if apart.len() != names.len() {
        let text = "a plan of hesc.ml has one name for several features";
        return Err(ClientError::document(text));
    }
    Ok(names)
}

fn read_fidelity(value: &Json) -> Found<Fidelity> {
    let names = ["way", "rows", "unseen", "agreement", "explained", "apart"];
    let fields = Fields::exactly(value, &names, "fidelity")?;
    let way = WAYS[document::one_of(fields.get("way"), &WAYS, "what a fidelity is of")?];
    let share = |name: &str| match fields.get(name) {
        Json::Null => Some(None),
        Json::Number(share) if *share <= 1.0 => Some(Some(*share)),
        _ => None,
    };
    let sound = || {
        let Json::Whole(rows @ 1..0x20_0000_0000_0000) = fields.get("rows") else { return None };
        let Json::Truth(unseen) = fields.get("unseen") else { return None };
        let agreement = share("agreement")?;
        let Json::Number(apart @ 0.0..) = fields.get("apart") else { return None };
        if agreement.is_some_and(|share| share < 0.0) {
            return None;
        }
        let (rows, explained) = (rows.unsigned_abs(), share("explained")?);
        Some(Fidelity { way, rows, unseen: *unseen, agreement, explained, apart: *apart })
    };
    sound().ok_or_else(|| {
        ClientError::document("the fidelity of a plan is shares up to 1, of a number of rows")
    })
}
