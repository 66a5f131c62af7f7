use hesc_math::AesCtrRng;
use hesc_schemes::SchemeError;
use hesc_schemes::wire::Kind;
use rand_core::{Rng as _, SeedableRng};

use super::client;
use super::tests::{Forest, bits, keys, unevenness};
use super::wire::Purpose;
use super::*;
use crate::plans::PlanError;

fn scheme(error: PlanError) -> SchemeError {
    match error {
        PlanError::Scheme(error) => error,
        other => panic!("{other}"),
    }
}

/// Both sides' shares, through their wire forms, give the sums that the trees give; sizes are the plan's.
#[test]
fn prepared_scores_are_those_of_the_trees() {
    let rng = &mut AesCtrRng::from_seed([21; 32]);
    for (shapes, edges, value) in [
        (&[(1, 0)][..], 1, 5),
        (&[(3, 3), (1, 5), (2, 2)], 40, 1000),
        (&[(30, 4)], 212, 2000),
        (&[(2, 7)], 3000, 1 << 20),
    ] {
        let forest = Forest::new(shapes, edges, value, rng);
        let plan = Plan::new(forest.declared(edges, value)).unwrap();
        let model = Model::new(&plan, forest.outputs.clone()).unwrap();
        let (secret, public) = keys(&plan, rng);
        for _ in 0..5 {
            let bits = bits(edges, rng);
            let (share, preparation) = prepare(&plan, &secret, rng).unwrap();
            let (kept, prepared) = model.prepare(&preparation, &public, rng).unwrap();
            assert_eq!(
                (preparation.len(), prepared.len()),
                (query_bytes(&plan), answer_bytes(&plan))
            );
            assert_eq!(share.name(), kept.name());
            let again = |share: ClientShare| {
                ClientShare::from_bytes(&plan, &share.to_bytes(&plan)).unwrap()
            };
            let mut share = again(share);
            share.complete(&plan, &secret, &prepared).unwrap();
            let share = again(share);
            let (share, query) = share.ask(&plan, &bits).unwrap();
            let bytes = kept.to_bytes(&plan);
            let kept = ServerShare::from_bytes(&plan, &bytes).unwrap();
            assert_eq!(kept.to_bytes(&plan), bytes);
            assert_eq!(part(&query), Some((PartKind::MaskedQuery, kept.name())));
            assert_eq!(part(&preparation), Some((PartKind::Preparation, kept.name())));
            assert_eq!(part(&prepared), Some((PartKind::Prepared, kept.name())));
            let answer = kept.answer(&plan, &query).unwrap();
            let sizes = (prepared_query_bytes(&plan), prepared_answer_bytes(&plan));
            assert_eq!((query.len(), answer.len()), sizes);
            assert_eq!(part(&answer), Some((PartKind::MaskedAnswer, share.name())));
            assert_eq!(again(share).scores(&plan, &answer).unwrap(), forest.scores(&bits));
        }
    }
}

/// What travels in the clear is uniform, whatever the sample and the model are: bits less masks, and numbers less pads. A true
/// one fails once in 10^8.
#[test]
fn what_travels_in_the_clear_is_uniform() {
    let rng = &mut AesCtrRng::from_seed([22; 32]);
    let (edges, value) = (60, 500);
    let forest = Forest::new(&[(20, 3)], edges, value, rng);
    let plan = Plan::new(forest.declared(edges, value)).unwrap();
    let model = Model::new(&plan, forest.outputs.clone()).unwrap();
    let (secret, public) = keys(&plan, rng);
    let (_, _, t) = plan.plain_moduli();
    let (mut sent, mut told) = (vec![0.0; 16], vec![0.0; 16]);
    let mut of_a_bit = vec![0.0; 16];
    let share_of = |x: u64| (16 * x / t) as usize;
    let bits = vec![true; edges];
    for _ in 0..120 {
        let (mut share, preparation) = prepare(&plan, &secret, rng).unwrap();
        let (kept, prepared) = model.prepare(&preparation, &public, rng).unwrap();
        share.complete(&plan, &secret, &prepared).unwrap();
        let (_, query) = share.ask(&plan, &bits).unwrap();
        let kind = Kind::ForestMaskedQuery;
        let (_, masked) = wire::masked_from_bytes(&plan, kind, &query, edges).unwrap();
        masked.numbers.iter().for_each(|&x| sent[share_of(x)] += 1.0);
        of_a_bit[share_of(masked.numbers[7])] += 1.0;
        let answer = kept.answer(&plan, &query).unwrap();
        let kind = Kind::ForestMaskedAnswer;
        let leaves = plan.declared().leaves();
        let (_, masked) = wire::masked_from_bytes(&plan, kind, &answer, leaves).unwrap();
        masked.numbers.iter().for_each(|&x| told[share_of(x)] += 1.0);
    }
    // What a client decrypts of leaves that look at nothing is their pads.
    let forest = Forest::new(&[(60, 0)], edges, value, rng);
    let plan = Plan::new(forest.declared(edges, value)).unwrap();
    let model = Model::new(&plan, forest.outputs.clone()).unwrap();
    let (secret, public) = keys(&plan, rng);
    let (_, _, t) = plan.plain_moduli();
    let mut pads = vec![0.0; 16];
    for _ in 0..30 {
        let (_, preparation) = prepare(&plan, &secret, rng).unwrap();
        let (_, prepared) = model.prepare(&preparation, &public, rng).unwrap();
        let (_, found) =
            client::decrypted(&plan, Purpose::Preparation, &secret, &prepared).unwrap();
        found.iter().for_each(|&x| pads[(16 * x / t) as usize] += 1.0);
    }
    for (what, counts) in
        [("bits", &sent), ("numbers", &told), ("one bit", &of_a_bit), ("pads", &pads)]
    {
        assert!(unevenness(counts) < 6.0, "{what}: {counts:?}");
    }
}

#[test]
fn shares_are_refused_out_of_turn_and_with_others_messages() {
    let rng = &mut AesCtrRng::from_seed([23; 32]);
    let forest = Forest::new(&[(3, 2), (1, 1)], 20, 100, rng);
    let plan = Plan::new(forest.declared(20, 100)).unwrap();
    let other = Plan::new(Declared { edges: 21, ..forest.declared(20, 100) }).unwrap();
    let model = Model::new(&plan, forest.outputs.clone()).unwrap();
    let (secret, public) = keys(&plan, rng);
    let (stranger, of_stranger) = keys(&plan, rng);
    let bits = bits(20, rng);
    let count = |found: Result<_, PlanError>| matches!(found, Err(PlanError::Count { .. }));
    let (begun, preparation) = prepare(&plan, &secret, rng).unwrap();
    let begun = begun.to_bytes(&plan);
    let begun = || ClientShare::from_bytes(&plan, &begun).unwrap();
    let (kept, prepared) = model.prepare(&preparation, &public, rng).unwrap();
    let kept = kept.to_bytes(&plan);
    let kept = || ServerShare::from_bytes(&plan, &kept).unwrap();
    // Before the server has answered, and twice.
    assert!(count(begun().ask(&plan, &bits).map(|_| ())));
    assert!(count(begun().scores(&plan, &prepared).map(|_| ())));
    let complete = || {
        let mut share = begun();
        share.complete(&plan, &secret, &prepared).unwrap();
        share
    };
    assert!(count(complete().complete(&plan, &secret, &prepared).map(|_| ())));
    assert!(count(complete().ask(&plan, &bits[1..]).map(|_| ())));
    let (used, query) = complete().ask(&plan, &bits).unwrap();
    let used = used.to_bytes(&plan);
    let used = || ClientShare::from_bytes(&plan, &used).unwrap();
    assert!(count(used().ask(&plan, &bits).map(|_| ())));
    assert!(count(used().complete(&plan, &secret, &prepared).map(|_| ())));
    let answer = kept().answer(&plan, &query).unwrap();
    assert!(count(complete().scores(&plan, &answer).map(|_| ())));
    assert_eq!(used().scores(&plan, &answer).unwrap(), forest.scores(&bits));
    // Of other keys, plans and preparations.
    let is_key = |error| matches!(scheme(error), SchemeError::KeyMismatch { .. });
    assert!(is_key(begun().complete(&plan, &stranger, &prepared).err().unwrap()));
    assert!(is_key(model.prepare(&preparation, &of_stranger, rng).err().unwrap()));
    let (mut second, preparation) = prepare(&plan, &secret, rng).unwrap();
    let (of_second, prepared) = model.prepare(&preparation, &public, rng).unwrap();
    let first_answer = begun().complete(&plan, &secret, &prepared);
    assert!(first_answer.is_err());
    second.complete(&plan, &secret, &prepared).unwrap();
    assert!(of_second.answer(&plan, &query).is_err());
    let (second, query_of_second) = second.ask(&plan, &bits).unwrap();
    assert!(second.scores(&plan, &answer).is_err());
    assert!(kept().answer(&plan, &query_of_second).is_err());
    let is_plan = |error| matches!(scheme(error), SchemeError::ParameterMismatch { .. });
    assert!(is_plan(ServerShare::from_bytes(&other, &kept().to_bytes(&plan)).err().unwrap()));
    assert!(is_plan(ClientShare::from_bytes(&other, &used().to_bytes(&plan)).err().unwrap()));
    // One message is not another: a preparation is no query, nor the other way round.
    let at_once = encrypt(&plan, &secret, &bits, rng).unwrap();
    assert_eq!(part(&preparation), Some((PartKind::Preparation, second.name())));
    assert!(matches!(part(&at_once), Some((PartKind::Query, _))));
    assert!(model.answer(&preparation, &public, rng).is_err());
    assert!(model.prepare(&at_once, &public, rng).is_err());
    assert!(decrypt(&plan, &secret, &prepared).is_err());
    let told = model.answer(&at_once, &public, rng).unwrap();
    assert!(begun().complete(&plan, &secret, &told).is_err());
    // Damage, and shares of well-formed nonsense: refused or harmless.
    for bytes in [kept().to_bytes(&plan), used().to_bytes(&plan), query, answer] {
        for at in (0..bytes.len()).step_by(1 + bytes.len() / 60) {
            let mut lie = bytes.clone();
            lie[at] ^= 1 << (rng.next_u64() % 8);
            assert!(ServerShare::from_bytes(&plan, &lie).is_err());
            assert!(ClientShare::from_bytes(&plan, &lie).is_err());
            assert!(kept().answer(&plan, &lie).is_err());
            assert!(used().scores(&plan, &lie).is_err());
            assert!(ServerShare::from_bytes(&plan, &bytes[..at]).is_err());
        }
    }
}

/// A leaf that is a linear form of bits: sums equal to the definition, one output and several, at once and prepared; of a single
/// output no more coefficients travel than there are bits.
#[test]
fn linear_forms_are_sums_of_slopes() {
    let rng = &mut AesCtrRng::from_seed([24; 32]);
    for (outputs, edges, reach) in
        [(1, 1, 3), (1, 546, 60_000), (3, 40, 1 << 20), (10, 300, 5_000), (1, 9000, 60_000)]
    {
        let declared = Declared {
            edges,
            outputs: vec![Shape { trees: 1, leaves: 1 }; outputs],
            most_conditions: 0,
            reach,
        };
        let plan = Plan::new(declared).unwrap();
        let most = reach as i64 / i64::from(edges + 1);
        let mut number = || (rng.next_u64() % (2 * most as u64 + 1)) as i64 - most;
        let forms: Vec<Vec<Vec<Leaf>>> = (0..outputs)
            .map(|_| {
                let slopes = (0..edges).map(|edge| (edge, number())).collect();
                vec![vec![Leaf { value: number(), conditions: vec![], slopes }]]
            })
            .collect();
        let model = Model::new(&plan, forms.clone()).unwrap();
        let (secret, public) = keys(&plan, rng);
        for _ in 0..4 {
            let bits = bits(edges as usize, rng);
            let expected: Vec<i64> = forms
                .iter()
                .map(|form| {
                    let leaf = &form[0][0];
                    let chosen = leaf.slopes.iter().filter(|slope| bits[slope.0 as usize]);
                    leaf.value + chosen.map(|slope| slope.1).sum::<i64>()
                })
                .collect();
            let query = encrypt(&plan, &secret, &bits, rng).unwrap();
            let answer = model.answer(&query, &public, rng).unwrap();
            assert_eq!((query.len(), answer.len()), (query_bytes(&plan), answer_bytes(&plan)));
            assert_eq!(decrypt(&plan, &secret, &answer).unwrap(), expected);
            let (mut share, preparation) = prepare(&plan, &secret, rng).unwrap();
            let (kept, prepared) = model.prepare(&preparation, &public, rng).unwrap();
            share.complete(&plan, &secret, &prepared).unwrap();
            let (share, query) = share.ask(&plan, &bits).unwrap();
            let answer = kept.answer(&plan, &query).unwrap();
            assert_eq!(share.scores(&plan, &answer).unwrap(), expected);
        }
        if (outputs, edges) == (1, 546) {
            assert!(
                query_bytes(&plan) + answer_bytes(&plan) < 12_500,
                "{}",
                query_bytes(&plan) + answer_bytes(&plan)
            );
        }
        let mut lie = forms.clone();
        lie[0][0][0].slopes[0].1 = 2 * reach as i64 + 1;
        assert!(matches!(Model::new(&plan, lie), Err(PlanError::Weights { .. })));
        let mut lie = forms;
        let twice = lie[0][0][0].slopes[0];
        lie[0][0][0].slopes.push(twice);
        assert!(matches!(Model::new(&plan, lie), Err(PlanError::Weights { .. })));
    }
}
