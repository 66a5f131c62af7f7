//! Tables and their features by scikit-learn, and documents that nobody reads: `scripts/client_vectors.py` wrote them.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use hesc_client::{ClientError, Steps, Table, Words};
use serde_json::Value;

fn stored(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/client");
    serde_json::from_slice(&fs::read(folder.join(name)).unwrap()).unwrap()
}

fn numbers(packed: &Value) -> Vec<f64> {
    let text = packed["f8"].as_str().unwrap();
    let data = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    data.chunks(8).map(|word| f64::from_le_bytes(word.try_into().unwrap())).collect()
}

fn size(value: &Value) -> usize {
    value.as_u64().unwrap().try_into().unwrap()
}

fn hold(file: &str) {
    for case in stored(file).as_array().unwrap() {
        let steps = Steps::from_bytes(&ascii(&case["steps"]), size(&case["inputs"])).unwrap();
        let words: Vec<Words> = case["words"]
            .as_array()
            .unwrap()
            .iter()
            .map(|column| column.as_array().unwrap().iter().map(Value::as_str).collect())
            .collect();
        let given = numbers(&case["numbers"]);
        let table = Table { rows: given.len() / steps.inputs(), numbers: &given, words: &words };
        let found = steps.transformed(table).unwrap_or_else(|e| panic!("{}: {e}", case["name"]));
        let expected = numbers(&case["features"]);
        let most = expected.iter().fold(1.0f64, |most, x| most.max(x.abs()));
        let room = case["tolerance"].as_f64().unwrap() * most;
        assert_eq!(found.len(), expected.len(), "{}", case["name"]);
        for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let apart = (found - expected).abs();
            assert!(apart <= room, "{}, {place}: {found} and {expected}", case["name"]);
        }
        let (low, high) = steps.limits();
        for row in found.chunks(steps.width()) {
            assert!(
                row.iter().zip(low.iter().zip(&high)).all(|(x, (low, high))| low <= x && x <= high)
            );
        }
    }
}

/// A document as Python writes it: other letters are escaped.
fn ascii(value: &Value) -> Vec<u8> {
    let mut found = String::new();
    for unit in value.to_string().encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => found.push(byte.into()),
            _ => found.push_str(&format!("\\u{unit:04x}")),
        }
    }
    found.into_bytes()
}

#[test]
fn numbers_become_features() {
    hold("numbers.json");
}

#[test]
fn functions_are_numpys() {
    hold("functions.json");
}

#[test]
fn categories_become_codes() {
    hold("words.json");
}

#[cfg(feature = "words")]
#[test]
fn texts_become_counts() {
    hold("texts.json");
}

#[cfg(not(feature = "words"))]
#[test]
fn texts_are_left_out() {
    let case = &stored("texts.json")[0];
    let read = Steps::from_bytes(&ascii(&case["steps"]), 1);
    assert_eq!(read.unwrap_err(), ClientError::NoWords);
}

#[test]
fn lies_are_refused() {
    let stored = stored("refused.json");
    let inputs = size(&stored["inputs"]);
    for case in stored["steps"].as_array().unwrap() {
        let read = Steps::from_bytes(&ascii(&case["steps"]), inputs);
        if case.get("sound").is_some() {
            assert!(read.is_ok(), "{}: {read:?}", case["name"]);
        } else {
            let refused = matches!(&read, Err(ClientError::Document { .. }));
            assert!(refused, "{}: {read:?}", case["name"]);
        }
    }
    for text in stored["texts"].as_array().unwrap() {
        let read = Steps::from_bytes(text.as_str().unwrap().as_bytes(), inputs);
        assert!(matches!(&read, Err(ClientError::Document { .. })), "{text}: {read:?}");
    }
    let lists = format!("[{}[]]", "[],".repeat(1 << 20));
    assert!(Steps::from_bytes(lists.as_bytes(), inputs).is_err());
}
