//! A client and a server of ring products: samples go up, scores come back, and whatever does not belong together is refused.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hesc_circuits::plans::PlanError;
use hesc_circuits::ring_products::{self, Declared, Hiding, Model, Protection};
use hesc_client::{Classes, Client, ClientError, Link, Plan, Protocol, Table, message};
use hesc_math::AesCtrRng;
use rand_core::SeedableRng as _;

const WEIGHTS: [f64; 6] = [1.0, -2.0, 0.5, 0.25, 3.0, -1.0];
const INTERCEPTS: [f64; 3] = [0.5, -0.5, 2.0];
const SAMPLES: [f64; 6] = [3.0, 1.0, 1.0, 2.0, 2.0, 0.0];

fn packed(numbers: &[f64]) -> String {
    let data: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    format!(r#"{{"shape":[{}],"f8":"{}"}}"#, numbers.len(), STANDARD.encode(data))
}

fn ring() -> ring_products::Plan {
    let declared = Declared::of_model(&WEIGHTS, &INTERCEPTS, &[-1.0; 2], &[1.0; 2], 1e-3).unwrap();
    ring_products::Plan::new(declared).unwrap()
}

/// A document with one field replaced, and one more where that is named otherwise.
fn document(field: &str, value: &str) -> Vec<u8> {
    let ring = format!("\"{}\"", STANDARD.encode(ring().to_bytes()));
    let steps = format!(
        r#"[{{"step":"standard","centre":{},"scale":{}}}]"#,
        packed(&[2.0, 1.0]),
        packed(&[1.0, 1.0])
    );
    let mut fields = vec![
        ("format", r#""hesc.ml plan 1""#),
        ("protocol", r#""linear""#),
        ("inputs", "2"),
        ("names", r#"["age","weight"]"#),
        ("steps", &steps),
        ("ring", &ring),
        ("classes", r#"{"type":"str","values":["a","b","c"]}"#),
        ("link", r#""softmax""#),
        ("calibration", "null"),
        ("fidelity", "null"),
    ];
    match fields.iter_mut().find(|(name, _)| *name == field) {
        Some(own) => own.1 = value,
        None if field.is_empty() => {}
        None => fields.push((field, value)),
    }
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", fields.join(",")).into_bytes()
}

fn linear(document: &[u8]) -> Result<Plan, ClientError> {
    Plan::from_bytes(document, Protocol::Linear)
}

fn table(numbers: &[f64]) -> Table<'_> {
    Table { rows: numbers.len() / 2, numbers, words: &[] }
}

/// What a server makes of a query.
fn answered(plan: &Plan, query: &[u8]) -> Vec<u8> {
    let mut rng = AesCtrRng::seed_from_u64(7);
    let model = Model::new(&plan.ring().parts()[0], &WEIGHTS, &INTERCEPTS, None, &mut rng).unwrap();
    let (head, parts) = message::read(query, message::QUERY, plan.digest(), Some(1)).unwrap();
    let part = model.evaluate(parts[0], &mut rng).unwrap();
    let (parts, name) = ([part.as_slice()], message::name_of(query));
    let mut data = vec![0; message::size(&parts).unwrap()];
    message::write(&mut data, message::ANSWER, plan.digest(), &name, head.samples, &parts).unwrap();
    data
}

#[test]
fn samples_go_up_and_scores_come_back() {
    let mut rng = AesCtrRng::seed_from_u64(1);
    let (client, _) = Client::generate(linear(&document("", "")).unwrap(), &mut rng).unwrap();
    let query = client.encrypt(table(&SAMPLES), false, &mut rng).unwrap();
    assert_eq!((query.clipped, query.clipped_samples), (0, 0));
    let answer = answered(client.plan(), &query.data);
    let scores = client.decrypt(&answer, Some(&query.data)).unwrap();
    let expected: Vec<f64> = SAMPLES
        .chunks(2)
        .flat_map(|x| {
            let rows = WEIGHTS.chunks(2).zip(INTERCEPTS);
            rows.map(move |(w, b)| w[0] * (x[0] - 2.0) + w[1] * (x[1] - 1.0) + b)
        })
        .collect();
    for (found, expected) in scores.iter().zip(&expected) {
        assert!(
            (found - expected).abs() < 7.0 * client.plan().ring().parts()[0].error(),
            "{found}, {expected}"
        );
    }
    let places = client.plan().conclusions().predictions(&scores).unwrap();
    assert_eq!(places, client.plan().conclusions().predictions(&expected).unwrap());
    assert_eq!(client.plan().conclusions().link(), Link::Softmax);
    let shares = client.plan().conclusions().probabilities(&scores).unwrap();
    assert!(shares.chunks(3).all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-12));
    // The key that was kept reads it too, another does not.
    let plan = || linear(&document("", "")).unwrap();
    let kept = Client::with_secret(plan(), &client.secret()).unwrap();
    assert_eq!(kept.decrypt(&answer, None).unwrap(), scores);
    let (other, _) = Client::generate(plan(), &mut rng).unwrap();
    assert!(matches!(other.decrypt(&answer, None), Err(ClientError::Plan(PlanError::Scheme(_)))));
}

#[test]
fn parts_of_a_model_add_up() {
    const OWN: [[f64; 2]; 2] = [[1.0, 2.0], [-0.5, 0.0]];
    let mut rng = AesCtrRng::seed_from_u64(3);
    let part = |weights: &[f64; 2], last: f64| {
        let (low, high) = ([-1.0, -last], [1.0, last]);
        let declared = Declared::of_model(weights, &[0.25], &low, &high, 1e-3).unwrap();
        ring_products::Plan::new(declared).unwrap()
    };
    let rings = [part(&OWN[0], 1.0), part(&OWN[1], 0.0)];
    let listed = rings.each_ref().map(|ring| format!("\"{}\"", STANDARD.encode(ring.to_bytes())));
    let text = String::from_utf8(document(
        "ring",
        &format!(r#"{{"features":3,"parts":[{}]}}"#, listed.join(",")),
    ))
    .unwrap();
    let (from, to) = (text.find("\"inputs\"").unwrap(), text.find("\"ring\"").unwrap());
    let text = format!("{}\"inputs\":3,\"names\":[],\"steps\":[],{}", &text[..from], &text[to..]);
    let classes = r#"{"type":"str","values":["a","b","c"]}"#;
    let text = text.replace(classes, "null").replace("softmax", "none");
    let (client, _) = Client::generate(linear(text.as_bytes()).unwrap(), &mut rng).unwrap();
    // 64 ciphertexts in all.
    assert_eq!(client.plan().rows(), 32 * rings[0].layout().capacity());
    let samples = [0.5, -0.25, 1.0, -1.0, 1.0, 0.0];
    let table = Table { rows: 2, numbers: &samples, words: &[] };
    let query = client.encrypt(table, false, &mut rng).unwrap().data;
    let (head, parts) =
        message::read(&query, message::QUERY, client.plan().digest(), Some(2)).unwrap();
    let answers: Vec<Vec<u8>> = rings
        .iter()
        .zip(OWN)
        .zip(parts)
        .map(|((ring, own), part)| {
            Model::new(ring, &own, &[0.25], None, &mut rng)
                .unwrap()
                .evaluate(part, &mut rng)
                .unwrap()
        })
        .collect();
    let answers: Vec<&[u8]> = answers.iter().map(Vec::as_slice).collect();
    let (name, digest) = (message::name_of(&query), client.plan().digest());
    let mut data = vec![0; message::size(&answers).unwrap()];
    message::write(&mut data, message::ANSWER, digest, &name, head.samples, &answers).unwrap();
    let scores = client.decrypt(&data, Some(&query)).unwrap();
    for (row, score) in samples.chunks(3).zip(scores.iter()) {
        let expected = row[0] - 0.5 * row[1] + 2.0 * row[2] + 0.5;
        assert!((score - expected).abs() < 0.02, "{score}, {expected}");
    }
}

fn said<T>(found: Result<T, ClientError>) -> String {
    found.err().unwrap().to_string()
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let mut rng = AesCtrRng::seed_from_u64(2);
    let (client, _) = Client::generate(linear(&document("", "")).unwrap(), &mut rng).unwrap();
    let query = client.encrypt(table(&SAMPLES), false, &mut rng).unwrap().data;
    let answer = answered(client.plan(), &query);
    let again = client.encrypt(table(&SAMPLES), false, &mut rng).unwrap().data;
    assert!(said(client.decrypt(&answer, Some(&again))).contains("to another query"));
    let fewer = client.encrypt(table(&SAMPLES[..2]), false, &mut rng).unwrap().data;
    assert!(said(client.decrypt(&answer, Some(&fewer))).contains("of 3 samples, the query of 1"));
    let parts = message::read(&answer, message::ANSWER, client.plan().digest(), Some(2));
    assert!(said(parts).contains("than its plan says, 1 instead of 2"));
    let mut damaged = answer.clone();
    *damaged.last_mut().unwrap() ^= 1;
    assert!(said(client.decrypt(&damaged, None)).contains("is damaged"));
    let text = String::from_utf8(document("classes", "null")).unwrap();
    let regressor = linear(text.replace("softmax", "square").as_bytes()).unwrap();
    assert_eq!(regressor.conclusions().predictions(&[0.0; 3]), Ok(None));
    assert_eq!(regressor.conclusions().numbers(&[-3.0, 0.0, 1.0]), [9.0, 0.0, 1.0]);
    let (other, _) = Client::generate(regressor, &mut rng).unwrap();
    assert!(said(other.decrypt(&answer, None)).contains("of another plan"));
    let error = client.encrypt(table(&[3.0, 9.0]), false, &mut rng).unwrap_err();
    assert!(error.to_string().starts_with("feature 1 ('weight') of sample 0"), "{error}");
    let clipped = client.encrypt(table(&[3.0, 9.0]), true, &mut rng).unwrap();
    assert_eq!((clipped.clipped, clipped.clipped_samples), (1, 1));
    let many = vec![2.0; 2 * (client.plan().rows() + 1)];
    assert!(
        client
            .encrypt(table(&many), true, &mut rng)
            .unwrap_err()
            .to_string()
            .contains("send them as")
    );
    assert!(client.encrypt(table(&[]), true, &mut rng).is_err());
    let secret = ring().products().scheme().generate_keys(&mut rng).0;
    let halved = client.plan().encrypt(&secret, &[0.0; 3], &mut rng);
    assert!(said(halved).contains("rows of 2 features; got 3 numbers"));
}

#[test]
fn plans_that_lie_are_refused() {
    let plan = linear(&document("", "")).unwrap();
    assert_eq!(
        plan.conclusions().classes(),
        Some(&Classes::Texts(["a", "b", "c"].map(String::from).into()))
    );
    assert_eq!(
        (plan.columns().names().len(), plan.conclusions().outputs(), plan.fidelity()),
        (2, 3, None)
    );
    let hidden = Declared {
        protection: Protection::Hidden(Hiding { answers: 100, statistical_bits: 40 }),
        ..ring().declared().clone()
    };
    let encrypted = Declared {
        protection: Protection::Encrypted(ring_products::Under::Secret),
        ..ring().declared().clone()
    };
    let coded = |declared| {
        let ring = ring_products::Plan::new(declared).unwrap();
        format!("\"{}\"", STANDARD.encode(ring.to_bytes()))
    };
    assert!(linear(&document("ring", &coded(hidden))).is_ok());
    let outsourced = |document: &[u8]| {
        let text = String::from_utf8(document.to_vec()).unwrap();
        let text = text.replace(r#""linear""#, r#""outsourced""#);
        Plan::from_bytes(text.as_bytes(), Protocol::Outsourced)
    };
    assert!(outsourced(&document("ring", &coded(encrypted.clone()))).is_ok());
    let clear = outsourced(&document("", "")).unwrap_err();
    assert!(clear.to_string().contains("has weights in the clear"));
    let other = Plan::from_bytes(&document("", ""), Protocol::Outsourced).unwrap_err();
    assert!(other.to_string().contains("of another protocol than outsourced"));
    for protocol in [Protocol::Linear, Protocol::Outsourced] {
        assert_eq!(Protocol::named(protocol.name()), Some(protocol));
    }
    let near =
        r#"{"way":"bins","rows":9,"unseen":true,"agreement":0.5,"explained":null,"apart":0.25}"#;
    let found = linear(&document("fidelity", near)).unwrap();
    assert_eq!(found.fidelity().unwrap().agreement, Some(0.5));
    let calibration = format!(
        r#"{{"counts":{},"scores":{},"shares":{}}}"#,
        packed(&[1.0]),
        packed(&[0.0]),
        packed(&[1.0])
    );
    let several = |count: usize, features: usize| {
        let parts = vec![coded(ring().declared().clone()); count].join(",");
        format!(r#"{{"features":{features},"parts":[{parts}]}}"#)
    };
    let lies = [
        ("more", "1".to_owned(), "has the fields calibration, classes"),
        ("format", "\"hesc.ml plan 2\"".to_owned(), "no plan of hesc.ml, version 1"),
        ("protocol", "\"classes\"".to_owned(), "of another protocol than linear"),
        ("inputs", "0".to_owned(), "inputs of a plan is a whole number from 1 to 65536"),
        ("inputs", "3".to_owned(), "as many names or none"),
        ("names", r#"["a","a"]"#.to_owned(), "one name for several"),
        ("names", r#"["a","b\n"]"#.to_owned(), "printable letters"),
        ("names", r#"["a","\u202e"]"#.to_owned(), "printable letters"),
        ("steps", "[]".to_owned(), ""),
        ("steps", "{}".to_owned(), "are a list"),
        ("ring", "\"AAAA\"".to_owned(), ""),
        ("ring", "\"AAA\"".to_owned(), "damaged bytes"),
        ("ring", coded(encrypted.clone()), "has encrypted ones"),
        ("classes", r#"{"type":"int","values":[1,2]}"#.to_owned(), "another number of classes"),
        ("classes", r#"{"type":"int","values":[1,2,2]}"#.to_owned(), "each another"),
        (
            "classes",
            r#"{"type":"int","values":[1,2,99999999999999999999]}"#.to_owned(),
            "of 64 bits",
        ),
        ("classes", r#"{"type":"float","values":[0.0,-0.0,1.0]}"#.to_owned(), "each another"),
        ("classes", r#"{"type":"int","values":[1,2,3.5]}"#.to_owned(), "of the type that is named"),
        (
            "classes",
            r#"{"type":"bytes","values":[1,2,3]}"#.to_owned(),
            "a type of classes is one of",
        ),
        ("link", "\"cube\"".to_owned(), "link of a plan is one of none, sigmoid"),
        ("link", "\"exp\"".to_owned(), "has a link of numbers"),
        ("link", "\"mean_isotonic\"".to_owned(), "a calibration where its link is isotonic"),
        ("calibration", calibration.clone(), "a calibration where its link is isotonic"),
        ("ring", several(2, 3), "more features than it says"),
        ("ring", several(2, 4), "another number of features"),
        ("ring", several(2, 2), "do not have as many features"),
        ("ring", several(1, 2), "2 to 64 parts"),
        ("ring", several(65, 130), "2 to 64 parts"),
        ("fidelity", near.replace("0.5", "1.5"), "shares up to 1"),
        ("fidelity", near.replace("0.25", "-0.25"), "shares up to 1"),
        ("fidelity", near.replace('9', "0"), "shares up to 1"),
    ];
    for (field, lie, said) in lies {
        match (field, linear(&document(field, &lie))) {
            ("steps", Ok(_)) if lie == "[]" => {}
            (_, Ok(_)) => panic!("{field}: {lie} is read"),
            (_, Err(error)) => assert!(error.to_string().contains(said), "{field}: {lie}: {error}"),
        }
    }
}

/// Sizes that are as large as a field holds, on 32 bits too, where fewer of them fit.
#[test]
fn rings_that_lie_of_sizes_are_refused() {
    let sound = ring().to_bytes();
    for (at, length) in (0..sound.len()).flat_map(|at| [4, 8].map(|length| (at, length))) {
        for byte in [0x7F, 0xFF] {
            let mut changed = sound.clone();
            changed.iter_mut().skip(at).take(length).for_each(|own| *own = byte);
            let coded = format!("\"{}\"", STANDARD.encode(&changed));
            let read = linear(&document("ring", &coded));
            assert!(read.is_err() || changed == sound || read.unwrap().rows() > 0);
        }
    }
}
