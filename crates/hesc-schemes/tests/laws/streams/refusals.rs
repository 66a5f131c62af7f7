//! Every operation refuses what it must, by name, and leaves its operands as they were.

use hesc_schemes::streams::Blocks;
use hesc_schemes::{BitProduct, Scheme, SchemeError};

use super::parties::{Party, mask_positions, rng};

/// What an operation said.
type Outcome = (&'static str, Option<SchemeError>);

fn said<T>(name: &'static str, result: Result<T, SchemeError>) -> Outcome {
    (name, result.err())
}

#[track_caller]
fn assert_all(outcomes: Vec<Outcome>, expected: &str, fits: impl Fn(&SchemeError) -> bool) {
    for (name, outcome) in outcomes {
        assert!(
            outcome.as_ref().is_some_and(&fits),
            "{name}: expected {expected}, got {outcome:?}"
        );
    }
}

/// Blocks in all batches here.
const BLOCKS: usize = 2;

on_every_scheme!(another_key_pair_is_refused);
/// Batches of two key pairs do not meet, nor a batch and a key of another pair, not even in parts of a call that
/// no row uses.
fn another_key_pair_is_refused<S: Scheme>(party: &Party<S>) {
    let Party { scheme, secret, stranger, .. } = party;
    let rng = &mut rng(1);
    let bits = party.filled(BLOCKS, 3);
    let ours = party.encrypt(BLOCKS, 3, rng);
    let theirs = party.encrypt_as((&stranger.0, &stranger.1), BLOCKS, 3, rng);
    let both = [&ours, &theirs];
    let compact = scheme.compact(&theirs);
    let seeded = scheme.encrypt_seeded(&stranger.0, &bits, rng).unwrap();
    let expanded = scheme.expand(&seeded).unwrap();
    let mut outcomes = vec![
        said("combine", scheme.combine(&ours, &theirs)),
        said("combine, expanded", scheme.combine(&ours, &expanded)),
        said("combine_pairs", scheme.combine_pairs(&ours, &theirs, &[(0, 1)])),
        said("combine_rows", scheme.combine_rows(&both, &[vec![(0, 0), (1, 0)]])),
        said("combine_rows, rows", scheme.combine_rows(&both, &[vec![(0, 0)], vec![(1, 0)]])),
        said("combine_rows, unused", scheme.combine_rows(&both, &[vec![(0, 0)]])),
        said("arrange, unused", scheme.arrange(&both, &[(0, 0)])),
        said("rerandomise", scheme.rerandomise(&stranger.1, &ours, rng)),
        said("concatenate", scheme.concatenate(&[&ours, &theirs])),
        said("concatenate, later", scheme.concatenate(&[&ours, &ours, &theirs])),
        said("decrypt", scheme.decrypt(secret, &theirs)),
        said("measured_noise_budget", scheme.measured_noise_budget(secret, &theirs)),
    ];
    // Sets with large plaintexts have no compact form.
    if let Ok(compact) = compact {
        outcomes.push(said("decrypt_compact", scheme.decrypt(secret, &compact)));
    }
    if let Some(moving) = scheme.moving() {
        outcomes.push(said("gather", moving.gather(&both, &[Some((0, 0))])));
    }
    if let Some(weighting) = scheme.weighting() {
        outcomes.push(said("horner", weighting.horner(&both, &[vec![(0, 0), (1, 0)]], &[2])));
    }
    assert_all(outcomes, "KeyMismatch", |e| matches!(e, SchemeError::KeyMismatch { .. }));
    assert_ne!(ours.key(), theirs.key());
    assert_eq!(theirs.key(), expanded.key());
}

on_every_scheme!(another_parameter_set_is_refused);
/// Nothing of one set works in another, keys, batches of each form and what is computed from them.
fn another_parameter_set_is_refused<S: Scheme>(party: &Party<S>) {
    let Party { scheme, secret, public, sibling: Some(sibling), .. } = party else {
        // One group, one set.
        assert_eq!(party.scheme.name(), "unipolar_elgamal");
        return;
    };
    assert_ne!(scheme.fingerprint(), sibling.fingerprint());
    let rng = &mut rng(2);
    let bits = party.filled(BLOCKS, 3);
    let others = vec![3; BLOCKS * sibling.block_length() / 64];
    let mut a = party.encrypt(BLOCKS, 3, rng);
    let before = scheme.write(&a);
    let seeded = scheme.encrypt_seeded(secret, &bits, rng).unwrap();
    let compact = scheme.compact(&a);
    let mut outcomes = vec![
        said("encrypt", sibling.encrypt(public, &others, rng)),
        said("encrypt_seeded", sibling.encrypt_seeded(secret, &others, rng)),
        said("expand", sibling.expand(&seeded)),
        said("decrypt", sibling.decrypt(secret, &a)),
        said("compact", sibling.compact(&a)),
        said("combine", sibling.combine(&a, &a)),
        said("combine_pairs", sibling.combine_pairs(&a, &a, &[(0, 1)])),
        said("combine_bits_assign", sibling.combine_bits_assign(&mut a, &others)),
        said("combine_rows", sibling.combine_rows(&[&a], &[vec![(0, 0), (0, 1)]])),
        said("combine_rows, one block", sibling.combine_rows(&[&a], &[vec![(0, 0)]])),
        said("rerandomise", sibling.rerandomise(public, &a, rng)),
        said("select", sibling.select(&a, &[0])),
        said("concatenate", sibling.concatenate(&[&a])),
        said("concatenate, two", sibling.concatenate(&[&a, &a])),
        said("measured_noise_budget", sibling.measured_noise_budget(secret, &a)),
    ];
    if let Ok(compact) = compact {
        outcomes.push(said("decrypt_compact", sibling.decrypt(secret, &compact)));
    }
    if let Some(moving) = sibling.moving() {
        outcomes.push(said("gather", moving.gather(&[&a], &[Some((0, 0))])));
    }
    if let Some(weighting) = sibling.weighting() {
        outcomes.push(said("horner", weighting.horner(&[&a], &[vec![(0, 0), (0, 1)]], &[2])));
        outcomes.push(said("horner, one block", weighting.horner(&[&a], &[vec![(0, 0)]], &[])));
    }
    let masked = said("mask_assign", mask_positions(sibling, &mut a, &others));
    if !matches!(masked.1, Some(SchemeError::PackingCannot { .. })) {
        outcomes.push(masked);
    }
    let fits = |e: &SchemeError| matches!(e, SchemeError::ParameterMismatch { .. });
    assert_all(outcomes, "ParameterMismatch", fits);
    assert_eq!(scheme.write(&a), before, "refused and changed");
}

on_every_scheme!(operands_that_do_not_fit_are_refused);
/// Nothing, other numbers of blocks, and blocks and parts that are not there.
fn operands_that_do_not_fit_are_refused<S: Scheme>(party: &Party<S>) {
    let Party { scheme, secret, public, .. } = party;
    let rng = &mut rng(3);
    let mut a = party.encrypt(BLOCKS, 3, rng);
    let before = scheme.write(&a);
    let one = scheme.select(&a, &[1]).unwrap();
    let none: [&S::Ciphertexts; 0] = [];
    let mut empty = vec![
        said("encrypt_seeded", scheme.encrypt_seeded(secret, &[], rng)),
        said("combine_pairs", scheme.combine_pairs(&a, &a, &[])),
        said("combine_bits_assign", scheme.combine_bits_assign(&mut a, &[])),
        said("combine_rows, no part", scheme.combine_rows(&none, &[vec![(0, 0)]])),
        said("combine_rows, no row", scheme.combine_rows(&[&a], &[])),
        said("select", scheme.select(&a, &[])),
        said("concatenate", scheme.concatenate(&none)),
    ];
    if party.encrypts_publicly(rng) {
        empty.push(said("encrypt", scheme.encrypt(public, &[], rng)));
    }
    if let Some(moving) = scheme.moving() {
        empty.push(said("gather", moving.gather(&[&a], &[])));
        empty.push(said("gather, no part", moving.gather(&none, &[Some((0, 0))])));
    }
    if let Some(weighting) = scheme.weighting() {
        empty.push(said("horner, no part", weighting.horner(&none, &[vec![(0, 0)]], &[])));
        empty.push(said("horner, no row", weighting.horner(&[&a], &[], &[])));
    }
    assert_all(empty, "Empty", |e| matches!(e, SchemeError::Empty));

    let more = party.filled(BLOCKS + 1, 3);
    let row = |length| [vec![(0, 0); length]];
    let mut counts = vec![
        said("combine", scheme.combine(&a, &one)),
        said("combine, fewer first", scheme.combine(&one, &a)),
        said("combine_bits_assign", scheme.combine_bits_assign(&mut a, &more)),
        said("combine_rows, no block", scheme.combine_rows(&[&a], &row(0))),
    ];
    if let Some(weighting) = scheme.weighting() {
        counts.push(said("horner, no block", weighting.horner(&[&a], &row(0), &[1])));
        counts.push(said("horner, a base too few", weighting.horner(&[&a], &row(2), &[])));
        counts.push(said("horner, two too few", weighting.horner(&[&a], &row(4), &[1, 1])));
    }
    let masked = said("mask_assign", mask_positions(scheme, &mut a, &more));
    if !matches!(masked.1, Some(SchemeError::PackingCannot { .. })) {
        counts.push(masked);
    }
    // A block of one word has no parts.
    if scheme.block_length() > 64 {
        if party.encrypts_publicly(rng) {
            counts.push(said("encrypt", scheme.encrypt(public, &more[1..], rng)));
        }
        counts.push(said("encrypt_seeded", scheme.encrypt_seeded(secret, &more[1..], rng)));
    }
    assert_all(counts, "BlockCount", |e| matches!(e, SchemeError::BlockCount { .. }));

    for index in [BLOCKS, BLOCKS + 1, usize::MAX >> 16] {
        let mut indices = vec![
            said("select", scheme.select(&a, &[0, index])),
            said("combine_pairs, first", scheme.combine_pairs(&a, &a, &[(0, 0), (index, 0)])),
            said("combine_pairs, second", scheme.combine_pairs(&a, &a, &[(0, index)])),
            said("combine_rows", scheme.combine_rows(&[&a], &[vec![(0, 0), (0, index)]])),
        ];
        if let Some(moving) = scheme.moving() {
            let position = index * scheme.block_length();
            indices.push(said("gather", moving.gather(&[&a], &[Some((0, position))])));
        }
        if let Some(weighting) = scheme.weighting() {
            let fused = weighting.horner(&[&a], &[vec![(0, 0), (0, index)]], &[1]);
            indices.push(said("horner", fused));
        }
        let fits = |e: &SchemeError| matches!(e, SchemeError::BlockIndex { index: found, blocks: BLOCKS } if *found == index);
        assert_all(indices, "BlockIndex", fits);
    }
    let part = scheme.combine_rows(&[&a], &[vec![(1, 0)]]);
    assert!(matches!(part, Err(SchemeError::BlockIndex { .. })));
    let part = scheme.arrange(&[&a], &[(1, 0)]);
    assert!(matches!(part, Err(SchemeError::BlockIndex { .. })));
    assert_eq!(scheme.write(&a), before, "refused and changed");
}

/// Whether an error says that there is no room: for noise, counts or the parts of products.
fn exhausted(error: &SchemeError) -> bool {
    matches!(
        error,
        SchemeError::NoiseBudget { .. }
            | SchemeError::CountBound { .. }
            | SchemeError::TooManyComponents { .. }
    )
}

on_every_encryption!(exhausted_budgets_are_refused);
/// Once another sum is refused, every operation that needs room is, and what is left still decrypts.
fn exhausted_budgets_are_refused<S: Scheme>(party: &Party<S>) {
    let Party { scheme, secret, public, .. } = party;
    let rng = &mut rng(4);
    let quiet = party.encrypt_secretly(1, 0, rng);
    if scheme.noise_budget(&quiet).is_infinite() {
        // Parities and elements have no noise: nothing is ever used up.
        let name = scheme.name();
        assert!(["gm", "unipolar_elgamal"].contains(&name), "{name} claims a budget without end");
        return;
    }
    let full = exhaust(party, &quiet);
    let budget = scheme.noise_budget(&full);
    // What another factor would take is more than a bit.
    let products = scheme.bit_product() == BitProduct::Conjunction;
    assert!((0.0..if products { 64.0 } else { 1.0 }).contains(&budget), "{budget} bits are left");
    let mut outcomes = vec![
        said("combine", scheme.combine(&full, &full)),
        said("combine, other first", scheme.combine(&quiet, &full)),
        said("combine_pairs", scheme.combine_pairs(&full, &quiet, &[(0, 0)])),
        said("combine_rows", scheme.combine_rows(&[&full, &quiet], &[vec![(0, 0), (1, 0)]])),
    ];
    if let Some(weighting) = scheme.weighting() {
        let fused = weighting.horner(&[&full], &[vec![(0, 0), (0, 0)]], &[2]);
        outcomes.push(said("horner", fused));
    }
    // Groups rerandomise and mask without noise.
    let groups = scheme.moving().is_some();
    if !groups && !products {
        outcomes.push(said("rerandomise", scheme.rerandomise(public, &full, rng)));
    }
    let bits = party.filled(1, 0x1234);
    if scheme.name() != "tfhe" {
        // The rounding of an encoding is all that plain bits add on lattices.
        outcomes.push(until_refused("combine_bits_assign", party, &full, |a| {
            scheme.combine_bits_assign(a, &bits)
        }));
    }
    let can_mask = mask_positions(scheme, &mut quiet.clone(), &bits).is_ok();
    if !groups && can_mask {
        outcomes
            .push(until_refused("mask_assign", party, &full, |a| mask_positions(scheme, a, &bits)));
    }
    assert_all(outcomes, "NoiseBudget or CountBound", exhausted);
    let counts = scheme.decrypt(secret, &full).unwrap();
    assert!(counts.iter().all(|&count| count == 0));
}

/// Adds a batch to itself for as long as that is allowed, then ever smaller ones.
fn exhaust<S: Scheme>(party: &Party<S>, quiet: &S::Ciphertexts) -> S::Ciphertexts {
    let scheme = &party.scheme;
    let mut steps = vec![quiet.clone()];
    let error = loop {
        let last = &steps[steps.len() - 1];
        match scheme.combine(last, last) {
            Ok(sum) => steps.push(sum),
            Err(error) => break error,
        }
        assert!(steps.len() < 200, "the budget has no end");
    };
    assert!(exhausted(&error), "{error}");
    let last = steps[steps.len() - 1].clone();
    steps.iter().rev().fold(last, |mut full, step| {
        // Sums take a step once, since smaller ones together are as much again; products a few times.
        for _ in 0..16 {
            match scheme.combine(&full, step) {
                Ok(sum) => full = sum,
                Err(_) => break,
            }
        }
        full
    })
}

/// What an operation says in the end; what it refuses stays as it was.
fn until_refused<S: Scheme>(
    name: &'static str,
    party: &Party<S>,
    full: &S::Ciphertexts,
    operation: impl Fn(&mut S::Ciphertexts) -> Result<(), SchemeError>,
) -> Outcome {
    let mut a = full.clone();
    for _ in 0..100 {
        let before = party.scheme.write(&a);
        if let Err(error) = operation(&mut a) {
            assert_eq!(party.scheme.write(&a), before, "{name} refused and changed");
            return (name, Some(error));
        }
    }
    (name, None)
}
