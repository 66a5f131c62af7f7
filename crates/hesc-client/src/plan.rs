//! The plan of a linear model, or of trees in public bins, as its client has it.

use hesc_circuits::ring_products;
use sha2::{Digest as _, Sha256};

use crate::document::{self, Fields};
use crate::json::Json;
use crate::{ClientError, Columns, Conclusions, Fidelity, Prepared, Table};

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
    columns: Columns,
    ring: Rings,
    conclusions: Conclusions,
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
        Self::read(&document::read(data, "plan")?, Sha256::digest(data).into(), protocol)
    }

    /// Reads a document whose bytes have this digest.
    pub(crate) fn read(document: &Json, digest: [u8; 32], protocol: Protocol) -> Found<Self> {
        let fields = document::of_plan(document, protocol.name(), &FIELDS)?;
        let columns = Columns::read(&fields)?;
        let ring = Rings::read(fields.get("ring"), "ring of a plan")?;
        let outputs = ring.parts[0].layout().outputs;
        let conclusions = Conclusions::read(&fields, outputs, Some(fields.get("calibration")))?;
        let fidelity = Fidelity::read(fields.get("fidelity"))?;
        let encrypted = ring.parts[0].declared().encrypted().is_some();
        if encrypted != (protocol == Protocol::Outsourced) {
            return Err(ClientError::document(match protocol {
                Protocol::Linear => "a plan of hesc.ml for weights in the clear has encrypted ones",
                Protocol::Outsourced => "an outsourced plan of hesc.ml has weights in the clear",
            }));
        }
        if columns.steps().width() != ring.features {
            let text = "the transforms of a plan give another number of features than it has";
            return Err(ClientError::document(text));
        }
        Ok(Self { columns, ring, conclusions, fidelity, digest })
    }

    /// Columns of a sample, and what the client does with them before it encrypts.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Sizes, scales and ranges.
    pub fn ring(&self) -> &Rings {
        &self.ring
    }

    /// What follows from scores.
    pub fn conclusions(&self) -> &Conclusions {
        &self.conclusions
    }

    /// Where what is computed is not the model that was fitted: how near it comes.
    pub fn fidelity(&self) -> Option<&Fidelity> {
        self.fidelity.as_ref()
    }

    /// SHA-256 of the bytes that it was read from: what messages call it by.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Samples of one query, at most.
    pub fn rows(&self) -> usize {
        rows(&self.ring.parts[0], self.ring.parts.len())
    }

    /// Features of samples within their ranges.
    ///
    /// # Errors
    /// As [`crate::Steps::prepared`], by the names of the columns; [`ClientError::Shape`] for no sample.
    pub fn prepared(&self, table: Table<'_>, clip: bool) -> Found<Prepared> {
        self.columns.prepared(table, [&self.ring.low, &self.ring.high], clip)
    }
}
