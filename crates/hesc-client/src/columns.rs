//! What a plan says of samples: columns, their names, and what is done with them.

use std::collections::HashSet;
use std::sync::Arc;

use crate::document::{self, Fields, is_name};
use crate::json::Json;
use crate::{ClientError, Prepared, Steps, Table, steps};

type Found<T> = Result<T, ClientError>;

/// Columns of a sample, and how they become what is encrypted.
#[derive(Debug)]
pub struct Columns {
    names: Vec<String>,
    steps: Arc<Steps>,
}

impl Columns {
    /// Reads the fields `inputs`, `names` and `steps` of a plan.
    pub(crate) fn read(fields: &Fields<'_>) -> Found<Self> {
        let most = steps::WIDEST;
        let inputs = fields.whole("inputs", 1, most).map_err(|_| {
            ClientError::document(format!("inputs of a plan is a whole number from 1 to {most}"))
        })?;
        let names = read_names(fields.get("names"), inputs)?;
        Ok(Self { names, steps: Arc::new(Steps::read(fields.get("steps"), inputs)?) })
    }

    /// Names of the columns of a sample, or none.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What the client does with samples before it encrypts them.
    pub fn steps(&self) -> &Arc<Steps> {
        &self.steps
    }

    /// How many samples these features are of.
    ///
    /// # Errors
    /// [`ClientError::Shape`] for what are no rows, [`ClientError::Samples`] for more than so many.
    pub(crate) fn count(&self, features: &[f64], most: usize) -> Found<u32> {
        let inputs = self.steps.width();
        if !features.len().is_multiple_of(inputs) {
            let found = format!("{} numbers", features.len());
            return Err(ClientError::Shape { inputs, found });
        }
        let samples = features.len() / inputs;
        let count = u32::try_from(samples).ok().filter(|_| samples <= most);
        count.ok_or(ClientError::Samples { samples, most })
    }

    /// Features of samples within ranges.
    ///
    /// # Errors
    /// As [`Steps::prepared`], by the names of the columns; [`ClientError::Shape`] for no sample.
    pub(crate) fn prepared(
        &self,
        table: Table<'_>,
        ranges: [&[f64]; 2],
        clip: bool,
    ) -> Found<Prepared> {
        if table.rows == 0 {
            let (inputs, found) = (self.steps.inputs(), "no row".to_owned());
            return Err(ClientError::Shape { inputs, found });
        }
        let ready = self.steps.prepared(table, ranges, clip);
        ready.map_err(|error| error.with_names(&self.names))
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
    let apart: HashSet<&String> = names.iter().collect();
    if apart.len() != names.len() {
        let text = "a plan of hesc.ml has one name for several features";
        return Err(ClientError::document(text));
    }
    Ok(names)
}
