//! Names of classes.

use std::collections::HashSet;
use std::hash::Hash;

use crate::ClientError;
use crate::document::{Fields, is_name, same};
use crate::json::Json;

/// Classes of a plan, at most.
pub const MOST: usize = 1 << 15;
/// Numbers from here on do not fit 64 bits with a sign.
const BEYOND: f64 = (1u64 << 63) as f64;

/// Labels of a classifier: two or more of one kind, each another.
#[derive(Debug, Clone, PartialEq)]
pub enum Classes {
    /// Truth values.
    Truths(Vec<bool>),
    /// Whole numbers.
    Wholes(Vec<i64>),
    /// Numbers, which are finite.
    Numbers(Vec<f64>),
    /// Texts that can be printed.
    Texts(Vec<String>),
}

impl Classes {
    /// How many there are.
    #[expect(clippy::len_without_is_empty, reason = "there are two at least")]
    pub fn len(&self) -> usize {
        match self {
            Self::Truths(values) => values.len(),
            Self::Wholes(values) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    /// Reads classes from a document of their own.
    ///
    /// # Errors
    /// [`ClientError::Document`] for fewer than two, of another type, or one of them twice.
    pub fn from_bytes(data: &[u8]) -> Result<Self, ClientError> {
        // Half a pair of surrogates is no letter, and no other value is infinite.
        Self::read(&Json::read(data).ok_or_else(not_apart)?)
    }

    /// A classifier's classes; none of a regressor.
    pub(crate) fn read_or_none(value: &Json) -> Result<Option<Self>, ClientError> {
        match value {
            Json::Null => Ok(None),
            value => Self::read(value).map(Some),
        }
    }

    fn read(value: &Json) -> Result<Self, ClientError> {
        let fields = Fields::exactly(value, &["type", "values"], "list of classes")?;
        let types = ["bool", "int", "float", "str"];
        let kind = crate::document::one_of(fields.get("type"), &types, "a type of classes")?;
        let values = match fields.get("values") {
            Json::List(values) if values.len() >= 2 => values,
            _ => return Err(other_type()),
        };
        if !values.iter().all(|value| is_of(value, kind)) {
            return Err(other_type());
        }
        if values.len() > MOST {
            let text = format!("a plan has up to {MOST} classes; these are {}", values.len());
            return Err(ClientError::document(text));
        }
        let truth = |value: &Json| if let Json::Truth(value) = value { Some(*value) } else { None };
        let whole = |value: &Json| if let Json::Whole(value) = value { Some(*value) } else { None };
        let number =
            |value: &Json| if let Json::Number(value) = value { Some(*value) } else { None };
        let text = |value: &Json| match value {
            Json::Text(text) if is_name(text) => Some(text.clone()),
            _ => None,
        };
        let found = match kind {
            0 => apart(values, truth, |value| *value).map(Self::Truths),
            1 => apart(values, whole, |value| *value).map(Self::Wholes),
            2 => apart(values, number, |value| same(*value)).map(Self::Numbers),
            _ => apart(values, text, String::clone).map(Self::Texts),
        };
        found.ok_or_else(not_apart)
    }
}

fn other_type() -> ClientError {
    ClientError::document("the classes of a plan are two or more, of the type that is named")
}

fn not_apart() -> ClientError {
    ClientError::document(
        "the classes of a plan are numbers of 64 bits, or names of printable letters, each another",
    )
}

/// Whether a value has the type of this place among the types; whole numbers may be too large here.
fn is_of(value: &Json, kind: usize) -> bool {
    match value {
        Json::Truth(_) => kind == 0,
        Json::Whole(_) => kind == 1,
        Json::Number(number) => kind == 2 || (kind == 1 && number.abs() >= BEYOND),
        Json::Text(_) => kind == 3,
        _ => false,
    }
}

/// Values of one kind, each another.
fn apart<T, K: Eq + Hash>(
    values: &[Json],
    read: impl Fn(&Json) -> Option<T>,
    key: impl Fn(&T) -> K,
) -> Option<Vec<T>> {
    let found: Vec<T> = values.iter().map(read).collect::<Option<_>>()?;
    let keys: HashSet<K> = found.iter().map(key).collect();
    (keys.len() == found.len()).then_some(found)
}
