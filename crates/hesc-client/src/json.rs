//! JSON from others: each name once, numbers that are numbers, a bounded number of parts.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Bytes of a document, at most.
pub const LARGEST: usize = 1 << 26;
/// Parts of a document, as `parts` counts them, at most: lists of nothing take three bytes each and fifty in memory.
pub const MOST_PARTS: usize = 1 << 20;

/// What a text in JSON says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Truth(bool),
    /// A whole number of 64 bits, written as one.
    Whole(i64),
    /// Another number, finite.
    Number(f64),
    Text(String),
    List(Vec<Self>),
    Object(BTreeMap<String, Self>),
}

/// No fewer than a text has values, and names of them. Those inside texts are counted too.
fn parts(data: &[u8]) -> usize {
    1 + data.iter().filter(|byte| b",:[{".contains(byte)).count()
}

impl Json {
    /// Reads a text, or says nothing of why it is none: it is damaged, or too long, or has too many parts or too deep ones,
    /// letters beyond ASCII, a name twice, or a number that is not finite.
    pub(crate) fn read(data: &[u8]) -> Option<Self> {
        if data.len() > LARGEST || !data.is_ascii() || parts(data) > MOST_PARTS {
            return None;
        }
        serde_json::from_slice(data).ok()
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Truth(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Whole(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(i64::try_from(value).map_or(Json::Number(value as f64), Json::Whole))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        if value.is_finite() { Ok(Json::Number(value)) } else { Err(E::custom("not finite")) }
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut found = Vec::new();
        while let Some(value) = list.next_element()? {
            found.push(value);
        }
        Ok(Json::List(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Json, A::Error> {
        let mut found = BTreeMap::new();
        while let Some((name, value)) = object.next_entry()? {
            if found.insert(name, value).is_some() {
                return Err(A::Error::custom("a name appears twice"));
            }
        }
        Ok(Json::Object(found))
    }
}
