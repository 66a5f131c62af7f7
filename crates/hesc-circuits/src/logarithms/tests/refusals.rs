use hesc_schemes::SchemeError;
use hesc_schemes::wire::Kind;

use super::*;

fn lie(bytes: &[u8], at: usize, value: &[u8]) -> Vec<u8> {
    let mut bytes = bytes[..bytes.len() - 16].to_vec();
    bytes[at..at + value.len()].copy_from_slice(value);
    let checksum = hesc_schemes::wire::checksum(&bytes);
    bytes.extend(checksum);
    bytes
}

fn three() -> Vec<Operand> {
    vec![
        simple(Source::Secret, false, 5, 2.0),
        simple(Source::Public, true, 5, 1.0),
        simple(Source::Clear, true, 5, 1.0),
    ]
}

#[test]
fn what_cannot_be_declared_is_refused() {
    let refused = |change: &dyn Fn(&mut Declared)| {
        let mut declared = apart(three(), 0.1);
        change(&mut declared);
        Plan::new(declared).unwrap_err().to_string()
    };
    assert!(refused(&|d| d.operands.clear()).contains("1 to 64 factors"));
    assert!(refused(&|d| d.operands = vec![d.operands[0].clone(); 65]).contains("1 to 64 factors"));
    assert!(refused(&|d| d.operands[0].shared = true).contains("for each sample"));
    assert!(refused(&|d| d.operands[2].shared = false).contains("serves all samples"));
    for bound in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e101, 1e-101] {
        assert!(refused(&|d| d.operands[0].bounds[3] = bound).contains("above zero"));
    }
    assert!(refused(&|d| (0..3).for_each(|at| d.operands[at].bounds[0] = 1e60)).contains("scale"));
    assert!(refused(&|d| d.operands[0].bounds.clear()).contains("each element"));
    assert!(refused(&|d| d.operands[1].shape = vec![2, 2]).contains("8 axes"));
    assert!(refused(&|d| d.operands[1].shape = vec![1, 1, 1, 1, 1, 1, 1, 1, 5]).contains("8 axes"));
    assert!(
        refused(&|d| d.operands[1].recipes = Recipes::of_elements(0..4))
            .contains("one for each product")
    );
    assert!(
        refused(&|d| d.operands[1].recipes = Recipes::of_elements(1..6)).contains("that there are")
    );
    let powers = |power| Recipes::new((0..5).map(|_| vec![(0, power)]));
    for power in [0, 65, u32::MAX] {
        assert!(refused(&|d| d.operands[1].recipes = powers(power)).contains("1 to 64"));
    }
    assert!(refused(&|d| d.sums.terms[1].0 = 9).contains("that there are"));
    assert!(refused(&|d| d.sums.terms[1].1 = 9).contains("that there are"));
    assert!(refused(&|d| d.sums.terms.swap(0, 1)).contains("sort them"));
    assert!(refused(&|d| d.sums.terms.push((4, 4, 1.0))).contains("sort them"));
    assert!(refused(&|d| d.sums.terms.truncate(4)).contains("every output"));
    assert!(refused(&|d| d.sums.terms[1].1 = 0).contains("every product"));
    for weight in [f64::NAN, f64::INFINITY, 1e101] {
        assert!(refused(&|d| d.sums.terms[1].2 = weight).contains("within 1e100"));
    }
    assert!(refused(&|d| d.sums.shape = vec![0]).contains("1 to 2^20"));
    for error in [0.0, -1.0, f64::NAN] {
        assert!(refused(&|d| d.error = error).contains("error"));
    }
    let refused = refused(&|d| d.error = 1e-14);
    assert!(refused.contains("no set reaches") && refused.contains("e-"), "{refused}");
}

#[test]
fn what_was_not_declared_is_refused() {
    let rng = &mut generator(1);
    let parties = Parties::new(Plan::new(apart(three(), 0.1)).unwrap(), rng);
    let inside = vec![0.5; 10];
    for value in [f64::NAN, f64::INFINITY, -f64::INFINITY, 2.0 + 1e-12, -2.0 - 1e-12] {
        let mut numbers = inside.clone();
        numbers[8] = value;
        let refused = parties.upload(0, &numbers, rng).unwrap_err();
        assert_eq!(refused, PlanError::Number { operand: 0, sample: 1, element: 3 });
        assert!(!refused.to_string().contains(&value.to_string()));
    }
    for count in [0, 3, 7] {
        assert!(parties.upload(0, &inside[..count], rng).is_err());
    }
    assert!(
        parties.upload(1, &inside, rng).unwrap_err().to_string().contains("10 numbers are not 5")
    );
    let many = vec![0.0; 5 * (parties.plan.most_samples() + 1)];
    assert!(matches!(parties.upload(0, &many, rng), Err(PlanError::Samples { .. })));
    let secret = EncryptionKey::Secret(&parties.secret);
    let public = EncryptionKey::Public(&parties.public);
    for (operand, key, text) in [
        (0, public, "by the key owner"),
        (1, secret, "under the public keys"),
        (2, public, "give its numbers to the evaluator"),
        (3, public, "operands 0 to 2"),
    ] {
        let refused = encrypt(&parties.plan, operand, key, &inside[..5], rng).unwrap_err();
        assert!(refused.to_string().contains(text), "{refused}");
    }
    // A key of another set.
    let fine = Plan::new(apart(three(), 1e-6)).unwrap();
    assert_ne!(fine.products().modulus(), parties.plan.products().modulus());
    for (operand, key) in [(0, secret), (1, public)] {
        let refused = encrypt(&fine, operand, key, &inside[..5], rng).unwrap_err();
        assert!(matches!(refused, PlanError::Scheme(SchemeError::ParameterMismatch { .. })));
    }
}

#[test]
fn evaluators_take_every_operand_once() {
    let rng = &mut generator(2);
    let parties = Parties::new(Plan::new(apart(three(), 0.1)).unwrap(), rng);
    let others = Parties::new(parties.plan.clone(), rng);
    let (x, w) = (vec![0.5; 10], vec![0.5; 5]);
    let upload = parties.upload(0, &x, rng).unwrap();
    let shared = parties.upload(1, &w, rng).unwrap();
    let clear: &[(usize, &[f64])] = &[(2, &w)];
    let mut new = |clear: &[(usize, &[f64])], uploads: &[&[u8]]| {
        Evaluator::new(&parties.plan, clear, uploads, rng).err().map(|error| error.to_string())
    };
    assert_eq!(new(clear, &[&shared]), None);
    assert!(new(&[], &[&shared]).unwrap().contains("operand 2 is missing"));
    assert!(new(clear, &[]).unwrap().contains("operand 1 is missing"));
    assert!(new(clear, &[&shared, &shared]).unwrap().contains("operand 1 is there twice"));
    assert!(new(&[(2, &w), (2, &w)], &[&shared]).unwrap().contains("operand 2 is there twice"));
    assert!(new(clear, &[&shared, &upload]).unwrap().contains("belongs to evaluate"));
    assert!(new(&[(1, &w)], &[]).unwrap().contains("is encrypted"));
    assert!(new(&[(3, &w)], &[&shared]).unwrap().contains("operands 0 to 2"));
    assert!(new(&[(2, &x)], &[&shared]).unwrap().contains("not 5"));
    assert!(new(&[(2, &[2.0; 5])], &[&shared]).unwrap().contains("within the declared bound"));
    let rng = &mut generator(3);
    let evaluator = Evaluator::new(&parties.plan, clear, &[&shared], rng).unwrap();
    let refused = |uploads: &[&[u8]]| evaluator.evaluate(uploads).unwrap_err().to_string();
    assert!(refused(&[]).contains("operand 0 is missing"));
    assert!(refused(&[&upload, &upload]).contains("operand 0 is there twice"));
    assert!(refused(&[&upload, &shared]).contains("belongs to the evaluator"));
    let foreign = others.upload(0, &x, rng).unwrap();
    let mismatch = evaluator.evaluate(&[&foreign]).unwrap_err();
    assert!(matches!(mismatch, PlanError::Scheme(SchemeError::KeyMismatch { .. })));
    // An answer is no factor of another product.
    let answer = evaluator.evaluate(&[&upload]).unwrap();
    assert!(refused(&[&answer]).contains("another kind"));
    let mismatch = decrypt(&parties.plan, &others.secret, &answer).err().unwrap();
    assert!(matches!(mismatch, PlanError::Scheme(SchemeError::KeyMismatch { .. })));
    let other = Plan::new(apart(three(), 0.11)).unwrap();
    assert_eq!(other.products().modulus(), parties.plan.products().modulus());
    assert!(decrypt(&other, &parties.secret, &answer).is_err());
    let both = vec![simple(Source::Secret, false, 5, 1.0), simple(Source::Public, false, 5, 1.0)];
    let parties = Parties::new(Plan::new(apart(both, 0.1)).unwrap(), rng);
    let evaluator = Evaluator::new(&parties.plan, &[], &[], rng).unwrap();
    let uploads = [parties.upload(0, &x, rng).unwrap(), parties.upload(1, &w, rng).unwrap()];
    let refused = evaluator.evaluate(&[&uploads[0], &uploads[1]]).unwrap_err();
    assert_eq!(refused, PlanError::Lengths { operand: 1, expected: 2, found: 1 });
}

/// Lies with a repaired checksum: another plan, other counts and operands, residues that are none, codes that do not follow.
#[test]
fn readers_believe_nothing() {
    let rng = &mut generator(4);
    let parties = Parties::new(Plan::new(apart(three(), 0.1)).unwrap(), rng);
    let plan = &parties.plan;
    let upload = parties.upload(0, &[0.5; 15], rng).unwrap();
    let shared = parties.upload(1, &[0.5; 5], rng).unwrap();
    let clear: &[(usize, &[f64])] = &[(2, &[0.5; 5])];
    let evaluator = Evaluator::new(plan, clear, &[&shared], rng).unwrap();
    let answer = evaluator.evaluate(&[&upload]).unwrap();
    const OPERAND: usize = 14 + 32;
    for operand in [1u8, 2, 3, 255] {
        assert!(evaluator.evaluate(&[&lie(&upload, OPERAND, &[operand])]).is_err());
        if operand != 1 {
            let lied = lie(&shared, OPERAND, &[operand]);
            assert!(Evaluator::new(plan, clear, &[&lied], rng).is_err());
        }
    }
    for count in [0u32, 1, 2, 4, 1 << 20, u32::MAX] {
        let count = count.to_le_bytes();
        assert!(evaluator.evaluate(&[&lie(&upload, OPERAND + 1, &count)]).is_err());
        assert!(decrypt(plan, &parties.secret, &lie(&answer, OPERAND, &count)).is_err());
        if count != [0; 4] {
            let lied = lie(&shared, OPERAND + 1, &count);
            assert!(Evaluator::new(plan, clear, &[&lied], rng).is_err());
        }
    }
    assert!(evaluator.evaluate(&[&lie(&upload, OPERAND + 5 + 32, &[0xFF; 8])]).is_err());
    assert!(Evaluator::new(plan, clear, &[&lie(&shared, OPERAND + 5, &[0xFF; 8])], rng).is_err());
    assert!(decrypt(plan, &parties.secret, &upload).is_err());
    // What nobody computed is beyond what noise is: one in a hundred such answers is not.
    let last = answer.len() - 16 - (15 * plan.answer_bits() as usize).div_ceil(8) + 1;
    let noise: Vec<u8> = (0..30).map(|at| (37 * at % 251) as u8).collect();
    let refused = decrypt(plan, &parties.secret, &lie(&answer, last, &noise)).err().unwrap();
    assert_eq!(refused, SchemeError::NoiseTooLarge.into());
    let bytes = plan.to_bytes();
    for at in 14..bytes.len() - 16 {
        let changed = lie(&bytes, at, &[bytes[at] ^ 1]);
        if let Ok(read) = Plan::from_bytes(&changed) {
            assert_ne!(read.fingerprint(), plan.fingerprint());
            assert_eq!(read.to_bytes(), changed);
        }
    }
    assert_eq!(bytes[5], Kind::LogarithmPlan as u8);
}
