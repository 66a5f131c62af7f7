//! Fields of documents, read strictly: what a schema has, and nothing else.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::ClientError;
use crate::json::{Json, LARGEST};

type Found<T> = Result<T, ClientError>;

/// Fields of an object that has these names and no others.
pub(crate) struct Fields<'a> {
    given: &'a BTreeMap<String, Json>,
    /// What the object is called in errors.
    pub(crate) what: &'a str,
}

impl<'a> Fields<'a> {
    /// # Errors
    /// [`ClientError::Document`] for anything else than an object of these names.
    pub(crate) fn exactly(value: &'a Json, names: &[&str], what: &'a str) -> Found<Self> {
        if let Json::Object(given) = value
            && given.len() == names.len()
            && names.iter().all(|&name| given.contains_key(name))
        {
            return Ok(Self { given, what });
        }
        Err(other_fields(names, what))
    }

    /// A field, which is there.
    pub(crate) fn get(&self, name: &str) -> &'a Json {
        self.given.get(name).unwrap_or(&Json::Null)
    }

    fn named(&self, name: &str) -> String {
        format!("{name} of {}", self.what)
    }

    /// A packed array of one axis.
    pub(crate) fn row(&self, name: &str) -> Found<Vec<f64>> {
        Ok(unpacked::<1>(self.get(name), &self.named(name))?.1)
    }

    /// A packed array of two axes: its shape, and its numbers row after row.
    pub(crate) fn matrix(&self, name: &str) -> Found<([usize; 2], Vec<f64>)> {
        unpacked::<2>(self.get(name), &self.named(name))
    }

    /// A whole number within bounds.
    pub(crate) fn whole(&self, name: &str, least: usize, most: usize) -> Found<usize> {
        match self.get(name) {
            Json::Whole(value) => usize::try_from(*value).ok(),
            _ => None,
        }
        .filter(|value| (least..=most).contains(value))
        .ok_or_else(|| {
            let what = self.named(name);
            ClientError::document(format!("{what} is a whole number from {least} to {most}"))
        })
    }

    /// A list.
    pub(crate) fn list(&self, name: &str) -> Found<&'a [Json]> {
        match self.get(name) {
            Json::List(found) => Ok(found),
            _ => Err(ClientError::document(format!("{} are a list", self.named(name)))),
        }
    }

    /// A list of texts.
    pub(crate) fn texts(&self, name: &str) -> Found<Vec<&'a str>> {
        let wrong = || ClientError::document(format!("{} are texts", self.named(name)));
        let text = |value: &'a Json| match value {
            Json::Text(text) => Ok(text.as_str()),
            _ => Err(wrong()),
        };
        self.list(name)?.iter().map(text).collect()
    }

    /// A truth value.
    pub(crate) fn truth(&self, name: &str) -> Found<bool> {
        match self.get(name) {
            Json::Truth(found) => Ok(*found),
            _ => Err(ClientError::document(format!("{} is true or false", self.named(name)))),
        }
    }

    /// One of some texts, by its place among them.
    pub(crate) fn one_of(&self, name: &str, allowed: &[&str]) -> Found<usize> {
        one_of(self.get(name), allowed, &self.named(name))
    }
}

fn other_fields(names: &[&str], what: &str) -> ClientError {
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    ClientError::document(format!("a {what} of hesc.ml has the fields {}", sorted.join(", ")))
}

/// Letters of a feature's or class's name.
pub const NAME: usize = 1000;

/// Whether a text may name a feature or a class: printable, of a name's length.
///
/// Plans are printed to be read before anybody encrypts. A line feed or an escape sequence in a name could forge lines of
/// that table, or hide some.
pub(crate) fn is_name(text: &str) -> bool {
    text.chars().count() <= NAME && text.chars().all(is_printable)
}

/// What `str.isprintable` of Python takes, by the tables of the standard library, which escapes the others. It escapes
/// marks too where they begin a text, and quotes.
fn is_printable(letter: char) -> bool {
    letter == ' '
        || matches!(letter, '\'' | '"' | '\\')
        || String::from_iter(['x', letter]).escape_debug().eq(['x', letter])
}

/// A number that equals another has its key: zero has two signs.
pub(crate) fn same(number: f64) -> u64 {
    (number + 0.0).to_bits()
}

/// A document of some kind: its text is read, its fields are not looked at.
pub(crate) fn read(data: &[u8], kind: &str) -> Found<Json> {
    let refused = |problem: String| Err(ClientError::document(problem));
    if data.len() > LARGEST {
        return refused(format!("a {kind} is bytes, up to {LARGEST} of them"));
    }
    if !data.is_ascii() {
        return refused(format!(
            "this is no {kind} of hesc.ml: it has other letters than those of ASCII"
        ));
    }
    match Json::read(data) {
        Some(document) => Ok(document),
        None => refused(format!("this is no {kind} of hesc.ml: it is damaged, or something else")),
    }
}

/// Fields of a document of some kind and of this version, which are those named.
pub(crate) fn of_kind<'a>(document: &'a Json, kind: &'a str, names: &[&str]) -> Found<Fields<'a>> {
    let format = match document {
        Json::Object(given) => given.get("format"),
        _ => None,
    };
    if format != Some(&Json::Text(format!("hesc.ml {kind} 1"))) {
        let text = format!("this is no {kind} of hesc.ml, version 1; check what was sent");
        return Err(ClientError::document(text));
    }
    let Json::Object(given) = document else { return Fields::exactly(document, names, kind) };
    if given.len() == names.len() + 1 && names.iter().all(|&name| given.contains_key(name)) {
        return Ok(Fields { given, what: kind });
    }
    Err(other_fields(names, kind))
}

/// Fields of a plan of this protocol, which are those named.
pub(crate) fn of_plan<'a>(document: &'a Json, protocol: &str, names: &[&str]) -> Found<Fields<'a>> {
    let fields = of_kind(document, "plan", names)?;
    if fields.get("protocol") == &Json::Text(protocol.to_owned()) {
        return Ok(fields);
    }
    Err(ClientError::document(format!(
        "this plan is of another protocol than {protocol}; check what was sent"
    )))
}

/// Bytes in base64, in the one form that is written.
pub(crate) fn bytes_of(value: &Json, what: &str) -> Found<Vec<u8>> {
    let Json::Text(text) = value else {
        return Err(ClientError::document(format!("{what}: bytes in base64 were expected")));
    };
    let damaged = |_| ClientError::document(format!("{what}: damaged bytes"));
    STANDARD.decode(text).map_err(damaged)
}

/// One of some texts, by its place among them.
pub(crate) fn one_of(value: &Json, allowed: &[&str], what: &str) -> Found<usize> {
    if let Json::Text(text) = value
        && let Some(place) = allowed.iter().position(|name| name == text)
    {
        return Ok(place);
    }
    Err(ClientError::document(format!("{what} is one of {}", allowed.join(", "))))
}

/// A number, written as a whole one or not.
pub(crate) fn number(value: &Json) -> Option<f64> {
    match value {
        Json::Number(number) => Some(*number),
        // Others would be rounded.
        Json::Whole(whole) if whole.unsigned_abs() <= 1 << 53 => Some(*whole as f64),
        _ => None,
    }
}

/// Finite numbers of so many axes, none of them empty.
pub(crate) fn unpacked<const AXES: usize>(
    value: &Json,
    what: &str,
) -> Found<([usize; AXES], Vec<f64>)> {
    let refused = |problem: &str| ClientError::document(format!("{what}: {problem}"));
    let fields = Fields::exactly(value, &["shape", "f8"], what)?;
    let (Json::List(shape), Json::Text(text)) = (fields.get("shape"), fields.get("f8")) else {
        return Err(refused(&format!("an array of {AXES} axes was expected")));
    };
    let size = |value: &Json| match value {
        Json::Whole(size @ 1..=0xFFFF_FFFF) => usize::try_from(*size).ok(),
        _ => None,
    };
    let sizes: Option<Vec<usize>> = shape.iter().map(size).collect();
    let shape: [usize; AXES] = sizes
        .and_then(|sizes| sizes.try_into().ok())
        .ok_or_else(|| refused(&format!("an array of {AXES} axes was expected")))?;
    let data = STANDARD.decode(text).map_err(|_| refused("damaged bytes"))?;
    let count = shape.iter().try_fold(8usize, |product, &size| product.checked_mul(size));
    if count != Some(data.len()) {
        return Err(refused("as many numbers as its shape says were expected"));
    }
    let (words, _) = data.as_chunks::<8>();
    let numbers: Vec<f64> = words.iter().map(|&word| f64::from_le_bytes(word)).collect();
    if numbers.iter().all(|number| number.is_finite()) {
        Ok((shape, numbers))
    } else {
        Err(refused("finite numbers were expected"))
    }
}
