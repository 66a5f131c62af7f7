//! Clients of trees and of searches: exact scores come back, and damaged or lying bytes are refused without a panic.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hesc_circuits::forests::{self, Leaf, Shape};
use hesc_circuits::search::{Asked, Index};
use hesc_client::{ClientError, ModelPlan, SearchPlan, Table, TreesPlan, message};
use hesc_math::AesCtrRng;
use hesc_schemes::public_keys;
use proptest::prelude::*;
use rand_core::SeedableRng as _;

fn packed(numbers: &[f64]) -> String {
    let data: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    format!(r#"{{"shape":[{}],"f8":"{}"}}"#, numbers.len(), STANDARD.encode(data))
}

/// Two leaves beside the first: one above two, one between one and two.
fn trees() -> Vec<u8> {
    let outputs = vec![Shape { trees: 1, leaves: 1 }];
    let declared = forests::Declared { edges: 2, outputs, most_conditions: 0, reach: 1 << 14 };
    let forest = STANDARD.encode(forests::Plan::new(declared).unwrap().to_bytes());
    let [features, counts, missing, edges] = [&[0.0][..], &[2.0], &[0.0], &[1.0, 2.0]].map(packed);
    let exceeds = format!(
        r#"{{"step":"exceeds","inputs":1,"features":{features},"counts":{counts},"missing":{missing},"edges":{edges}}}"#
    );
    let [conditions, negated, terms, columns] =
        [&[1.0, 2.0][..], &[1.0, 1.0, 0.0], &[1.0; 3], &[1.0, 0.0, 1.0]].map(packed);
    let inside = format!(
        r#"{{"step":"inside","inputs":2,"conditions":{conditions},"negated":{negated},"terms":{terms},"columns":{columns}}}"#
    );
    format!(
        r#"{{"format":"hesc.ml plan 1","protocol":"trees","inputs":1,"names":["age"],"steps":[{exceeds},{inside}],"structure":"public","forest":"{forest}","trees":[2],"finer":3,"farthest":3.4028235677973362e+38,"classes":null,"link":"none","fidelity":null}}"#
    )
    .into_bytes()
}

fn search(metric: &str, votes: bool) -> Vec<u8> {
    let labels = STANDARD.encode([0u32, 1, 1, 1].map(u32::to_le_bytes).concat());
    let (classes, labels, neighbours) = match votes {
        true => (r#"{"type":"str","values":["a","b"]}"#, format!("\"{labels}\""), 3),
        false => ("null", "null".to_owned(), 0),
    };
    let (step, signs) =
        (if metric == "hamming" { "1.0" } else { "0.125" }, STANDARD.encode([7; 32]));
    format!(
        r#"{{"format":"hesc.ml plan 1","protocol":"search","inputs":2,"names":[],"steps":[],"records":"public","metric":"{metric}","step":{step},"query_step":{step},"norm":1.0,"query_norm":1.0,"dependence":1.0,"most_records":4,"expanded":false,"shared":1,"signs":"{signs}","classes":{classes},"labels":{labels},"neighbours":{neighbours},"weights":"distance"}}"#
    )
    .into_bytes()
}

fn forest_of(data: &[u8]) -> TreesPlan {
    match ModelPlan::from_bytes(data).unwrap() {
        ModelPlan::Trees(plan) => plan,
        other => panic!("{} is read", other.protocol()),
    }
}

fn search_of(data: &[u8]) -> SearchPlan {
    match ModelPlan::from_bytes(data).unwrap() {
        ModelPlan::Search(plan) => plan,
        other => panic!("{} is read", other.protocol()),
    }
}

fn table(numbers: &[f64], width: usize) -> Table<'_> {
    Table { rows: numbers.len() / width, numbers, words: &[] }
}

/// The answer to a query of parts that are answered one by one.
fn answered(digest: &[u8], query: &[u8], parts: &[Vec<u8>]) -> Vec<u8> {
    let (head, _) = message::read(query, message::QUERY, digest, None).unwrap();
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    let mut data = vec![0; message::size(&parts).unwrap()];
    let name = message::name_of(query);
    message::write(&mut data, message::ANSWER, digest, &name, head.samples, &parts).unwrap();
    data
}

#[test]
fn leaves_that_samples_reach_are_added_up() {
    let mut rng = AesCtrRng::seed_from_u64(1);
    let data = trees();
    let (read, plan) = (ModelPlan::from_bytes(&data).unwrap(), forest_of(&data));
    let (secret, framed) = read.generate_keys(&mut rng).unwrap();
    let [(_, public)] = public_keys::split(&framed).unwrap().try_into().unwrap();
    let public = read.scheme().public_key_from_bytes(public).unwrap();
    let slopes = vec![(0, 800), (1, -16)];
    let leaf = Leaf { value: 8, conditions: Vec::new(), slopes };
    let model = forests::Model::new(plan.forest(), vec![vec![vec![leaf]]]).unwrap();
    let samples = [0.5, 1.5, 2.5];
    let ready = plan.prepared(table(&samples, 1), false).unwrap();
    assert_eq!(ready.features, [0.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
    let query = plan.encrypt(&secret, &ready.features, &mut rng).unwrap();
    let (_, parts) = message::read(&query, message::QUERY, plan.digest(), Some(3)).unwrap();
    let own: Vec<Vec<u8>> =
        parts.iter().map(|part| model.answer(part, &public, &mut rng).unwrap()).collect();
    let answer = answered(plan.digest(), &query, &own);
    let scores = plan.decrypt(&secret, &answer, Some(&query)).unwrap();
    assert_eq!(**scores, [1.0, -1.0, 101.0]);
    assert_eq!((plan.error(), plan.finer(), plan.is_public()), (0.125, 3, true));
    // Answers of two samples in each other's places.
    let swapped =
        answered(plan.digest(), &query, &[own[1].clone(), own[0].clone(), own[2].clone()]);
    let said = plan.decrypt(&secret, &swapped, Some(&query)).unwrap_err().to_string();
    assert!(said.contains("to another query"), "{said}");
    let fewer = answered(plan.digest(), &query, &own[..2]);
    let said = plan.decrypt(&secret, &fewer, Some(&query)).unwrap_err().to_string();
    assert!(said.contains("has 2 for 3"), "{said}");
}

#[test]
fn what_the_library_refuses_is_refused() {
    let plan = forest_of(&trees());
    let most = f64::from(f32::MAX);
    assert!(plan.prepared(table(&[-most], 1), false).is_ok());
    let error = plan.prepared(table(&[0.0, 2.0 * most], 1), false).unwrap_err();
    assert!(error.to_string().starts_with("sample 1 in column 'age' is too large"), "{error}");
    let clipped = plan.prepared(table(&[0.0, 2.0 * most], 1), true).unwrap();
    assert_eq!((clipped.values, clipped.which), (1, vec![false, true]));
    assert_eq!(plan.told(), [Vec::<String>::new(), Vec::new()]);
}

#[test]
fn the_nearest_records_are_found_and_vote() {
    let mut rng = AesCtrRng::seed_from_u64(2);
    for (metric, votes, values) in [
        ("cosine", false, [1.0, 0.0, -1.0, 0.0]),
        ("euclidean", true, [0.0, 2f64.sqrt(), 2.0, 2f64.sqrt()]),
        ("hamming", false, [0.0, 1.0, 2.0, 1.0]),
    ] {
        let data = search(metric, votes);
        let (read, plan) = (ModelPlan::from_bytes(&data).unwrap(), search_of(&data));
        let (secret, _) = read.generate_keys(&mut rng).unwrap();
        let (records, sample) = match metric {
            "hamming" => ([1, 1, -1, 1, -1, -1, 1, -1], [0.0, 0.0]),
            _ => ([8, 0, 0, 8, -8, 0, 0, -8], [1.0, 0.0]),
        };
        let mut index = Index::new(plan.index());
        index.append(&records).unwrap();
        let ready = plan.prepared(table(&sample, 2), false).unwrap();
        let query = plan.encrypt(&secret, &ready.features, &mut rng).unwrap();
        let (_, parts) = message::read(&query, message::QUERY, plan.digest(), Some(1)).unwrap();
        let asked = [Asked { query: parts[0], keys: None }];
        let mut own = index.answer(&asked).unwrap();
        if metric == "euclidean" {
            own.push([64u16; 4].map(u16::to_le_bytes).concat());
        }
        let answer = answered(plan.digest(), &query, &own);
        let found = plan.decrypt(&secret, &answer, Some(&query)).unwrap();
        assert_eq!((&**found.numbers, found.records), (&values[..], 4), "{metric}");
        let nearest = plan.nearest(&found.numbers, 4);
        assert_eq!(plan.best(&found.numbers, 4, 9), [0, 1, 3, 2], "{metric}");
        if votes {
            // A record at distance zero outvotes all others.
            assert_eq!(nearest.indices, [0, 1, 3]);
            assert_eq!(nearest.votes, Some((vec![-0.5], vec![0])));
            let alone = plan.decrypt(&secret, &answer, None);
            assert_eq!(alone.err(), Some(ClientError::NoQuery));
            let short = answered(plan.digest(), &query, &own[..1]);
            assert!(plan.decrypt(&secret, &short, Some(&query)).is_err());
        } else {
            assert_eq!(nearest.indices, [0]);
        }
    }
}

#[test]
fn vectors_that_no_plan_declares_are_refused() {
    let cosine = search_of(&search("cosine", false));
    let inner = search_of(&search("inner", false));
    let codes = search_of(&search("hamming", false));
    for (plan, sample, said) in [
        (&cosine, [0.0, 0.0], "all zeros"),
        (&inner, [1.0, 1e-7], "longer"),
        (&inner, [f64::MAX, f64::MAX], "longer"),
        (&codes, [0.5, 0.0], "zeros and ones"),
    ] {
        let error = plan.prepared(table(&sample, 2), false).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let shortened = inner.prepared(table(&[3.0, 4.0], 2), true).unwrap();
    assert_eq!((shortened.features, shortened.values), (vec![0.6, 0.8], 2));
    let keyed = String::from_utf8(search("cosine", false)).unwrap();
    let keyed = keyed.replace(r#""expanded":false"#, r#""expanded":true"#);
    assert_eq!(ModelPlan::from_bytes(keyed.as_bytes()).err(), Some(ClientError::Keys));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// What is read is used: it gives sizes, and takes a sample or says why not.
    #[test]
    fn damaged_plans_are_refused_or_read(
        which in 0usize..4,
        at in 0.0f64..1.0,
        length in 0usize..40,
        with in prop::collection::vec(32u8..127, 0..40),
    ) {
        let sound = match which {
            0 => trees(),
            1 => search("euclidean", true),
            2 => search("inner", false),
            _ => search("hamming", false),
        };
        let start = (at * sound.len() as f64) as usize;
        let end = (start + length).min(sound.len());
        let mut lie = sound[..start].to_vec();
        lie.extend(with);
        lie.extend(&sound[end..]);
        if let Ok(plan) = ModelPlan::from_bytes(&lie) {
            prop_assert!(plan.rows() > 0);
            let row = vec![0.25; plan.columns().steps().inputs()];
            let table = Table { rows: 1, numbers: &row, words: &[] };
            if let Ok(ready) = plan.prepared(table, true) {
                prop_assert_eq!(ready.features.len(), plan.columns().steps().width());
            }
        }
    }

    /// Parts of answers that are anything are refused.
    #[test]
    fn damaged_answers_are_refused(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..4)) {
        let mut rng = AesCtrRng::seed_from_u64(3);
        for data in [trees(), search("euclidean", true), search("hamming", false)] {
            let plan = ModelPlan::from_bytes(&data).unwrap();
            let (secret, _) = plan.generate_keys(&mut rng).unwrap();
            let sample = vec![0.0; plan.columns().steps().inputs()];
            let sample = if matches!(&plan, ModelPlan::Search(own) if own.voting().is_some()) { vec![1.0, 0.0] } else { sample };
            let rows = Table { rows: 1, numbers: &sample, words: &[] };
            let features = plan.prepared(rows, false).unwrap().features;
            let refused = match &plan {
                ModelPlan::Trees(plan) => {
                    let query = plan.encrypt(&secret, &features, &mut rng).unwrap();
                    plan.decrypt(&secret, &answered(plan.digest(), &query, &parts), Some(&query)).is_err()
                }
                ModelPlan::Search(plan) => {
                    let query = plan.encrypt(&secret, &features, &mut rng).unwrap();
                    plan.decrypt(&secret, &answered(plan.digest(), &query, &parts), Some(&query)).is_err()
                }
                ModelPlan::Scores(_) => false,
            };
            prop_assert!(refused);
        }
    }
}
