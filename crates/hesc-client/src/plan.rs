//! The plan of a linear model, or of trees in public bins, as its client has it.

use std::sync::Arc;

use hesc_circuits::ring_products;
use sha2::{Digest as _, Sha256};

use crate::conclusions::{Calibration, Concluding, Link, check_calibration};
use crate::document::{self, Fields, is_name};
use crate::json::Json;
use crate::labels::Classes;
use crate::{ClientError, Prepared, Steps, Table, steps};

type Found<T> = Result<T, ClientError>;

/// Fields of its document, beside its format.
const FIELDS: [&str; 9] =
    ["protocol", "inputs", "names", "steps", "ring", "classes", "link", "calibration", "fidelity"];
/// Ciphertexts of a query, at most: enough that seeds and heads do not count, few enough to show progress.
const CIPHERTEXTS: usize = 64;
/// Ring products of a model, at most: a query has a ciphertext for each and every sample.
pub const MOST_PARTS: usize = 64;
/// Features times outputs of one ring product, at most.
pub const PLACES: usize = 1 << 15;
/// What was changed in a model that is not the one that was fitted.
const WAYS: [&str; 2] = ["bins", "additive"];

/// Who has the weights that a plan of linear scores is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// The server, in the clear.
    Linear,
    /// The server, under the client's key.
    Outsourced,
}

impl Protocol {
    /// The protocol of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Linear, Self::Outsourced].into_iter().find(|protocol| protocol.name() == name)
    }

    /// What documents call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Outsourced => "outsourced",
        }
    }
}

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

/// One ring product, or several whose scores add up: every one takes each n-th feature.
#[derive(Debug)]
pub struct Rings {
    features: usize,
    parts: Vec<ring_products::Plan>,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Rings {
    fn read(value: &Json, what: &str) -> Found<Self> {
        let part = |value: &Json| -> Found<ring_products::Plan> {
            Ok(ring_products::Plan::from_bytes(&document::bytes_of(value, what)?)?)
        };
        if !matches!(value, Json::Object(_)) {
            let only = part(value)?;
            let features = only.layout().features;
            return Self::of(features, vec![only], what);
        }
        let fields = Fields::exactly(value, &["features", "parts"], what)?;
        let (Json::List(listed), Ok(features)) =
            (fields.get("parts"), fields.whole("features", 2, MOST_PARTS * PLACES))
        else {
            return Err(Self::counts(what));
        };
        if !(2..=MOST_PARTS).contains(&listed.len()) {
            return Err(Self::counts(what));
        }
        Self::of(features, listed.iter().map(part).collect::<Found<_>>()?, what)
    }

    fn counts(what: &str) -> ClientError {
        ClientError::document(format!(
            "{what} has a number of features, and 2 to {MOST_PARTS} parts"
        ))
    }

    fn of(features: usize, parts: Vec<ring_products::Plan>, what: &str) -> Found<Self> {
        let count = parts.len();
        let (first, set) = (parts[0].layout(), parts[0].products().scheme().spec());
        let alike = parts.iter().all(|part| {
            let layout = part.layout();
            let shape = (layout.features, layout.outputs) == (first.features, first.outputs);
            shape && part.products().scheme().spec() == set
        });
        let clear = count == 1
            || parts.iter().all(|part| {
                part.declared().encrypted().is_none() && part.declared().hiding().is_none()
            });
        if !alike || !clear {
            return Err(ClientError::document(format!(
                "the parts of {what} do not fit: ring products that add up have weights in the clear, \
                 one shape and one set"
            )));
        }
        if first.features != features.div_ceil(count) || (count > 1 && features <= first.features) {
            return Err(ClientError::document(format!(
                "the parts of {what} do not fit: ring products that add up do not have as many features"
            )));
        }
        let end = |place: usize, of: fn(&ring_products::Declared) -> &[f64]| {
            of(parts[place % count].declared())[place / count]
        };
        // What a part has beyond the features is always zero.
        let beyond = features..first.features * count;
        if beyond
            .clone()
            .any(|place| end(place, |x| &x.low) != 0.0 || end(place, |x| &x.high) != 0.0)
        {
            return Err(ClientError::document(format!(
                "the parts of {what} have more features than it says"
            )));
        }
        let low = (0..features).map(|place| end(place, |x| &x.low)).collect();
        let high = (0..features).map(|place| end(place, |x| &x.high)).collect();
        Ok(Self { features, parts, low, high })
    }

    /// Features of a sample, over all ring products.
    pub fn features(&self) -> usize {
        self.features
    }

    /// The ring products, in their order.
    pub fn parts(&self) -> &[ring_products::Plan] {
        &self.parts
    }

    /// The least and the greatest value of each feature.
    pub fn ranges(&self) -> (&[f64], &[f64]) {
        (&self.low, &self.high)
    }

    /// The root mean square of a score's error, at most: errors of all ring products are apart.
    pub fn error(&self) -> f64 {
        self.together(ring_products::Plan::error)
    }

    /// What one server's errors stay within with a probability of 99 %.
    pub fn deployment_error(&self) -> f64 {
        self.together(ring_products::Plan::deployment_error)
    }

    fn together(&self, error: fn(&ring_products::Plan) -> f64) -> f64 {
        self.parts.iter().map(|part| error(part).powi(2)).sum::<f64>().sqrt()
    }

    /// Features of a part of samples, row after row.
    pub(crate) fn shared(&self, features: &[f64], place: usize) -> Vec<f64> {
        let (count, each) = (self.parts.len(), self.parts[0].layout().features);
        let mut found = Vec::with_capacity(features.len() / self.features * each);
        for row in features.chunks_exact(self.features) {
            let own = row.iter().skip(place).step_by(count).copied();
            found.extend(own.chain(std::iter::repeat(0.0)).take(each));
        }
        found
    }
}

/// Samples of one query, at most, for so many ring products like this one.
pub fn rows(first: &ring_products::Plan, count: usize) -> usize {
    let capacity = first.layout().capacity();
    let most = capacity.max(first.most_samples() / count);
    most.min((CIPHERTEXTS / count).max(1) * capacity)
}

/// Public, and the same on both sides: ranges, transforms, names, and the ring product's plan.
#[derive(Debug)]
pub struct Plan {
    names: Vec<String>,
    steps: Arc<Steps>,
    ring: Rings,
    classes: Option<Classes>,
    link: Link,
    calibration: Option<Calibration>,
    fidelity: Option<Fidelity>,
    digest: [u8; 32],
}

impl Plan {
    /// Reads what `LinearPlan.to_bytes` of Python wrote, or for encrypted weights `OutsourcedPlan.to_bytes`; strict.
    ///
    /// # Errors
    /// [`ClientError::Document`] for damaged bytes, another document's or protocol's, and fields that do not fit;
    /// [`ClientError::Plan`] for a ring product's plan that nobody derives.
    pub fn from_bytes(data: &[u8], protocol: Protocol) -> Found<Self> {
        let document = document::read(data, "plan")?;
        let fields = document::of_kind(&document, "plan", &FIELDS)?;
        let name = protocol.name();
        if fields.get("protocol") != &Json::Text(name.to_owned()) {
            return Err(ClientError::document(format!(
                "this plan is of another protocol than {name}; check what was sent"
            )));
        }
        let most = steps::WIDEST;
        let inputs = fields.whole("inputs", 1, most).map_err(|_| {
            ClientError::document(format!("inputs of a plan is a whole number from 1 to {most}"))
        })?;
        let names = read_names(fields.get("names"), inputs)?;
        let steps = Arc::new(Steps::read(fields.get("steps"), inputs)?);
        let ring = Rings::read(fields.get("ring"), "ring of a plan")?;
        let classes = match fields.get("classes") {
            Json::Null => None,
            value => Some(Classes::read(value)?),
        };
        let link = Link::read(fields.get("link"), "link of a plan")?;
        let calibration = match fields.get("calibration") {
            Json::Null => None,
            value => Some(Calibration::read(value)?),
        };
        let fidelity = match fields.get("fidelity") {
            Json::Null => None,
            value => Some(read_fidelity(value)?),
        };
        let encrypted = ring.parts[0].declared().encrypted().is_some();
        if encrypted != (protocol == Protocol::Outsourced) {
            return Err(ClientError::document(match protocol {
                Protocol::Linear => "a plan of hesc.ml for weights in the clear has encrypted ones",
                Protocol::Outsourced => "an outsourced plan of hesc.ml has weights in the clear",
            }));
        }
        if steps.width() != ring.features {
            let text = "the transforms of a plan give another number of features than it has";
            return Err(ClientError::document(text));
        }
        let digest = Sha256::digest(data).into();
        let plan = Self { names, steps, ring, classes, link, calibration, fidelity, digest };
        plan.check_conclusions()?;
        Ok(plan)
    }

    fn check_conclusions(&self) -> Found<()> {
        if let Some(concluding) = self.concluding() {
            return concluding.check();
        }
        if self.link.has_probabilities() {
            let text = "a plan has another number of classes than of scores";
            return Err(ClientError::document(text));
        }
        check_calibration(self.link, self.outputs(), self.calibration.as_ref())
    }

    /// How classes follow from scores; none of a regressor.
    fn concluding(&self) -> Option<Concluding<'_>> {
        self.classes.as_ref().map(|classes| Concluding {
            link: self.link,
            outputs: self.outputs(),
            classes: classes.len(),
            calibration: self.calibration.as_ref(),
        })
    }

    /// Names of the columns of a sample, or none.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What the client does with samples before it encrypts them.
    pub fn steps(&self) -> &Arc<Steps> {
        &self.steps
    }

    /// Sizes, scales and ranges.
    pub fn ring(&self) -> &Rings {
        &self.ring
    }

    /// A classifier's classes.
    pub fn classes(&self) -> Option<&Classes> {
        self.classes.as_ref()
    }

    /// What is made of scores.
    pub fn link(&self) -> Link {
        self.link
    }

    /// Functions of scores whose values are shares of classes, where the link is isotonic.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
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
        self.ring.parts[0].layout().outputs
    }

    /// Samples of one query, at most.
    pub fn rows(&self) -> usize {
        rows(&self.ring.parts[0], self.ring.parts.len())
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
        let ready = self.steps.prepared(table, [&self.ring.low, &self.ring.high], clip);
        ready.map_err(|error| error.with_names(&self.names))
    }

    /// Places of the classes that rows of scores are of; none of a regressor, see [`Plan::numbers`].
    ///
    /// # Errors
    /// None of a plan that was read.
    pub fn predictions(&self, scores: &[f64]) -> Found<Option<Vec<usize>>> {
        self.concluding().map(|concluding| concluding.places(scores)).transpose()
    }

    /// A regressor's numbers for scores.
    pub fn numbers(&self, scores: &[f64]) -> Vec<f64> {
        scores.iter().map(|&score| self.link.number(score)).collect()
    }

    /// Probabilities of all classes, a row for each row of scores.
    ///
    /// # Errors
    /// [`ClientError::NoProbabilities`] for scores that give none.
    pub fn probabilities(&self, scores: &[f64]) -> Found<Vec<f64>> {
        self.concluding().ok_or(ClientError::NoProbabilities)?.probabilities(scores)
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
