use proptest::prelude::*;

use super::*;
use crate::{Table, Words};

/// Numbers as documents have them.
fn packed(shape: &[usize], numbers: &[f64]) -> String {
    use base64::Engine as _;
    let data: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let text = base64::engine::general_purpose::STANDARD.encode(data);
    format!(r#"{{"shape": {shape:?}, "f8": "{text}"}}"#)
}

fn row(numbers: &[f64]) -> String {
    packed(&[numbers.len()], numbers)
}

fn read(text: &str, inputs: usize) -> Result<Steps, ClientError> {
    Steps::from_bytes(text.as_bytes(), inputs)
}

fn column(words: &[Option<&str>]) -> Words {
    words.iter().copied().collect()
}

/// Number columns alone.
fn numbers(steps: &Steps, numbers: &[f64]) -> Result<Vec<f64>, ClientError> {
    let rows = numbers.len() / steps.inputs();
    steps.transformed(Table { rows, numbers, words: &[] })
}

/// A table of a word, a number and a column that is dropped.
fn mixed() -> Steps {
    let codes = format!(
        r#"{{"step": "codes", "columns": [{{"categories": ["no", "yes"], "codes": {},
            "unknown": null, "missing": 2}}]}}"#,
        row(&[0.0, 1.0])
    );
    let standard =
        format!(r#"{{"step": "standard", "centre": {}, "scale": {}}}"#, row(&[1.0]), row(&[2.0]));
    let text = format!(
        r#"[{{"step": "branches", "inputs": 3, "branches": [
            {{"columns": [0], "steps": [{codes}, {{"step": "one_hot", "sizes": [3]}}]}},
            {{"columns": [1], "steps": [{{"step": "fill", "values": [5], "missing": null}}, {standard}]}},
            {{"columns": [2], "steps": [{{"step": "is_missing", "inputs": 1, "missing": null}}]}}]}}]"#
    );
    read(&text, 3).unwrap()
}

const NAN: f64 = f64::NAN;

#[test]
fn columns_go_different_ways() {
    let steps = mixed();
    assert_eq!(steps.kinds(), [Kind::Word, Kind::Number, Kind::Any]);
    let words = [column(&[Some("yes"), None])];
    let others = [NAN, 3.0, NAN, NAN, NAN, f64::INFINITY];
    let table = Table { rows: 2, numbers: &others, words: &words };
    let found = steps.transformed(table).unwrap();
    assert_eq!(found, [0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 2.0, 0.0]);
    let (low, high) = steps.limits();
    let unknown = f64::INFINITY;
    assert_eq!(low, [0.0, 0.0, 0.0, -unknown, 0.0]);
    assert_eq!(high, [1.0, 1.0, 1.0, unknown, 1.0]);
}

#[test]
fn refusals_name_the_column_of_the_table_and_no_word() {
    let steps = mixed();
    let words = [column(&[Some("yes"), Some("secret")])];
    let table = Table { rows: 2, numbers: &[0.0; 6], words: &words };
    let error = steps.transformed(table).unwrap_err();
    let names: Vec<String> = ["answer", "age", "rest"].map(String::from).into();
    assert!(error.to_string().starts_with("sample 1 in column 0 is a word that the model"));
    let named = error.with_names(&names).to_string();
    assert!(named.starts_with("sample 1 in column 'answer' is a word that"), "{named}");
    assert!(!named.contains("secret"));
    let words = [column(&[Some("no")])];
    let table = Table { rows: 1, numbers: &[0.0, f64::INFINITY, 0.0], words: &words };
    let error = steps.transformed(table).unwrap_err().with_names(&names).to_string();
    assert!(error.starts_with("features that are no finite numbers"), "{error}");
    assert!(error.ends_with("sample 0 in column 'age'"), "{error}");
}

#[test]
fn what_nothing_fills_is_refused_where_it_ends() {
    let text = r#"[{"step": "function", "inputs": 2, "function": "sqrt"}]"#;
    let steps = read(text, 2).unwrap();
    assert_eq!(numbers(&steps, &[4.0, 9.0]).unwrap(), [2.0, 3.0]);
    let error = numbers(&steps, &[1.0, 1.0, 4.0, NAN]).unwrap_err();
    assert!(
        matches!(&error, ClientError::Missing { at } if at.sample == 1 && at.column == Some(1))
    );
    // The root of a negative number is no missing one.
    let error = numbers(&steps, &[NAN, -1.0]).unwrap_err();
    assert!(matches!(&error, ClientError::NotFinite { at } if at.column == Some(1)), "{error}");
}

#[test]
fn a_column_is_numbers_or_words() {
    let clash = format!(
        r#"[{{"step": "branches", "inputs": 1, "branches": [
            {{"columns": [0], "steps": []}},
            {{"columns": [0], "steps": [{{"step": "codes", "columns": [{{"categories": ["a"], "codes": {},
                "unknown": 0, "missing": null}}]}}]}}]}}]"#,
        row(&[0.0])
    );
    let error = read(&clash, 1).unwrap_err().to_string();
    assert!(error.contains("column 0 for numbers and for words"), "{error}");
    let words = r#"[{"step": "fill", "values": ["a"], "missing": null}]"#;
    assert!(read(words, 1).is_err(), "words do not end as features");
}

#[test]
fn steps_are_counted_and_nested_within_bounds() {
    let nested = |depth: usize| {
        let open = r#"{"step": "branches", "inputs": 1, "branches": [{"columns": [0], "steps": ["#;
        format!("[{}{}]", open.repeat(depth), "]}]}".repeat(depth))
    };
    assert!(read(&nested(DEEPEST), 1).is_ok());
    assert!(read(&nested(DEEPEST + 1), 1).is_err());
    let many = |count: usize| {
        let one = r#"{"step": "function", "inputs": 1, "function": "abs"}"#;
        format!("[{}]", vec![one; count].join(","))
    };
    assert!(read(&many(MOST), 1).is_ok());
    assert!(read(&many(MOST + 1), 1).is_err());
    let repeated = format!(
        r#"[{{"step": "codes", "columns": [{{"categories": [0.0, -0.0], "codes": {},
            "unknown": null, "missing": null}}]}}]"#,
        row(&[0.0, 1.0])
    );
    assert!(read(&repeated, 1).is_err(), "zero has one code");
    let wide = format!(r#"[{{"step": "one_hot", "sizes": [{WIDEST}, 1]}}]"#);
    assert!(read(&wide, 2).is_err());
}

#[test]
fn rows_are_taken_a_few_at_a_time() {
    let product = format!(
        r#"{{"step": "monomials", "inputs": 1, "factors": {}}}"#,
        packed(&[1 << 12, 1], &[0.0; 1 << 12])
    );
    let sum = format!(
        r#"{{"step": "projection", "centre": {}, "matrix": {}}}"#,
        row(&[0.0; 1 << 12]),
        packed(&[1, 1 << 12], &[0.25; 1 << 12])
    );
    let steps = read(&format!("[{product}, {sum}]"), 1).unwrap();
    assert_eq!(steps.at_once(), 8);
    let given: Vec<f64> = (0..100).map(f64::from).collect();
    let expected: Vec<f64> = given.iter().map(|x| x * 1024.0).collect();
    assert_eq!(numbers(&steps, &given).unwrap(), expected);
}

#[test]
fn limits_follow_what_rises_and_what_falls() {
    let of = |step: &str| {
        let clip =
            format!(r#"{{"step": "clip", "low": {}, "high": {}}}"#, row(&[-1.0]), row(&[2.0]));
        let steps = read(&format!("[{clip}, {step}]"), 1).unwrap();
        let (low, high) = steps.limits();
        (low[0], high[0])
    };
    let stretch =
        format!(r#"{{"step": "stretch", "factor": {}, "offset": {}}}"#, row(&[-2.0]), row(&[1.0]));
    assert_eq!(of(&stretch), (-3.0, 3.0));
    let function =
        |name| of(&format!(r#"{{"step": "function", "inputs": 1, "function": "{name}"}}"#));
    assert_eq!(function("square"), (0.0, 4.0));
    assert_eq!(function("abs"), (0.0, 2.0));
    assert_eq!(function("negative"), (-2.0, 1.0));
    assert_eq!(function("reciprocal"), (f64::NEG_INFINITY, f64::INFINITY));
    let (low, high) = function("expm1");
    assert!(low < (-1.0f64).exp_m1() && low > -0.633 && high > 2.0f64.exp_m1() && high < 6.39);
}

#[test]
fn features_beyond_their_ranges_are_counted() {
    let steps = read("[]", 2).unwrap();
    let table = Table { rows: 2, numbers: &[0.0, 1.0, 5.0, -5.0], words: &[] };
    let ranges = [&[0.0, 0.0][..], &[1.0, 1.0][..]];
    let error = steps.prepared(table, ranges, false).unwrap_err();
    let names = ["it's".to_owned(), "b".to_owned()];
    let expected =
        "feature 0 (\"it's\") of sample 1 is beyond the plan's range for it; 2 of 4 values are.";
    let text = error.with_names(&names).to_string();
    assert!(text.starts_with(expected), "{text}");
    let found = steps.prepared(table, ranges, true).unwrap();
    assert_eq!(found.features, [0.0, 1.0, 1.0, 0.0]);
    assert_eq!((found.values, found.which), (2, vec![false, true]));
}

#[cfg(feature = "words")]
#[test]
fn texts_are_counted_as_scikit_learn_counts_them() {
    let text = |analyzer: &str, vocabulary: &str| {
        format!(
            r#"[{{"step": "tokens", "lowercase": true, "accents": "unicode", "analyzer": "{analyzer}",
                "letters": 2, "ngrams": [1, 2], "stop_words": ["the"], "vocabulary": {vocabulary},
                "hashed": null, "binary": false}}]"#
        )
    };
    let counted = |analyzer: &str, vocabulary: &str, given: &str| {
        let steps = read(&text(analyzer, vocabulary), 1).unwrap();
        let words = [column(&[Some(given)])];
        steps.transformed(Table { rows: 1, numbers: &[NAN], words: &words }).unwrap()
    };
    let found = counted("word", r#"["cafe", "cafe cafe", "a"]"#, "The CAF\u{c9} the caf\u{e9}, a");
    assert_eq!(found, [2.0, 1.0, 0.0]);
    assert_eq!(counted("char", r#"["a ", " b", "b"]"#, "a \t\n b"), [1.0, 1.0, 1.0]);
    assert_eq!(counted("char_wb", r#"[" a", "a ", " "]"#, "a"), [1.0, 1.0, 2.0]);
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![4 => -1e3..1e3f64, 1 => Just(0.0), 1 => Just(NAN)]
}

/// Steps of single numbers that take anything.
fn each() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(format!(
            r#"{{"step": "affine", "centre": {}, "factor": {}}}"#,
            row(&[1.0, -2.0]),
            row(&[0.5, -3.0])
        )),
        Just(format!(
            r#"{{"step": "stretch", "factor": {}, "offset": {}}}"#,
            row(&[-1.0, 2.0]),
            row(&[0.5, -3.0])
        )),
        Just(format!(
            r#"{{"step": "clip", "low": {}, "high": {}}}"#,
            row(&[-1.0, 0.0]),
            row(&[0.5, 3.0])
        )),
        Just(format!(
            r#"{{"step": "power", "method": "yeo_johnson", "lambdas": {}}}"#,
            row(&[0.3, 1.7])
        )),
        Just(format!(
            r#"{{"step": "quantiles", "references": {}, "quantiles": {}, "output": "normal"}}"#,
            row(&[0.0, 0.5, 1.0]),
            packed(&[3, 2], &[-1.0, -5.0, 0.0, 0.0, 2.0, 7.0])
        )),
        prop::sample::select(
            &["abs", "arctan", "cbrt", "cos", "negative", "sigmoid", "sin", "square", "tanh"][..]
        )
        .prop_map(|name| format!(r#"{{"step": "function", "inputs": 2, "function": "{name}"}}"#)),
        Just(r#"{"step": "fill", "values": [1.5, -2], "missing": null}"#.to_owned()),
    ]
}

proptest! {
    /// Limits hold, and a sample's features are the same alone and among others, however many there are.
    #[test]
    fn samples_are_taken_alone(
        steps in prop::collection::vec(each(), 0..5),
        sums in any::<bool>(),
        given in prop::collection::vec(number(), 2..60),
    ) {
        let given = &given[..given.len() / 2 * 2];
        let mut steps = steps;
        if sums {
            let matrix = packed(&[3, 2], &[1.0, 0.3, -0.1, 1e-3, 7.0, 1.0 / 3.0]);
            steps.push(format!(r#"{{"step": "projection", "centre": {}, "matrix": {matrix}}}"#, row(&[0.1, 0.2])));
            steps.push(r#"{"step": "normalise", "inputs": 3, "norm": "l2"}"#.to_owned());
        }
        let steps = read(&format!("[{}]", steps.join(",")), 2).unwrap();
        let all = numbers(&steps, given);
        let alone: Result<Vec<Vec<f64>>, ClientError> =
            given.chunks(2).map(|sample| numbers(&steps, sample)).collect();
        prop_assert_eq!(alone.is_ok(), all.is_ok());
        if let Ok(all) = all {
            prop_assert_eq!(&alone.unwrap().concat(), &all);
            let (low, high) = steps.limits();
            for row in all.chunks(steps.width()) {
                for ((x, low), high) in row.iter().zip(&low).zip(&high) {
                    prop_assert!(low <= x && x <= high, "{low} <= {x} <= {high}");
                }
            }
        }
    }

    /// Whatever bytes come in, steps are read or refused.
    #[test]
    fn damaged_documents_are_refused(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let text = format!(
            r#"[{{"step": "bins", "inputs": 2, "features": {}, "counts": {}, "edges": {}}}]"#,
            packed(&[1, 2], &[0.0, 1.0]), packed(&[1, 2], &[1.0, 2.0]), row(&[0.0, 1.0, 2.0])
        );
        let mut data = text.into_bytes();
        let at = at.index(data.len());
        data[at] = byte;
        if let Ok(steps) = Steps::from_bytes(&data, 2) {
            prop_assert!(steps.width() <= WIDEST);
            let _ = numbers(&steps, &[0.5, 1.5]);
        }
    }
}
