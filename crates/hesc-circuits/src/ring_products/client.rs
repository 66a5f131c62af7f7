use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::SecretKey;
use rand_core::{CryptoRng, SeedableRng};
use zeroize::{Zeroize as _, Zeroizing};

use super::blocks::each_block;
use super::declared::{half, mid};
use super::plan::Plan;
use super::scales::dithered;
use super::wire::{self, Question, Reply, Third};
use crate::plans::PlanError;

/// Encrypts samples, a row of features each, for the way to the server. Cost: a transform for each ciphertext,
/// [`super::Layout::capacity`] samples in each.
///
/// # Errors
/// [`PlanError::Samples`], [`PlanError::Count`], [`PlanError::Feature`];
/// [`SchemeError::ParameterMismatch`] for the key of another set.
pub fn encrypt<R: CryptoRng + SeedableRng + Send>(
    plan: &Plan,
    key: &SecretKey,
    features: &[f64],
    rng: &mut R,
) -> Result<Vec<u8>, PlanError> {
    let layout = plan.layout();
    let samples = features.len() / layout.features;
    check_samples(plan, samples)?;
    plan.declared().check_features(features, samples)?;
    let products = plan.products();
    let scale = plan.scales().feature_scale as f64;
    let declared = plan.declared();
    // The middle of each range, and what a distance from it is multiplied with.
    let maps: Vec<(f64, f64)> = declared
        .low
        .iter()
        .zip(&declared.high)
        .map(|(&low, &high)| {
            let width = half(low, high);
            (mid(low, high), if width > 0.0 { scale / width } else { 0.0 })
        })
        .collect();
    let blocks = layout.blocks(samples).enumerate().map(|(block, count)| {
        let (seed, window) = ([0; 32], vec![0; plan.window(count).1]);
        (block, count, R::from_rng(rng), Question { seed, window })
    });
    let n = layout.ring_degree;
    let start = || (products.workspace(), Zeroizing::new(vec![0; n]), vec![0; n]);
    let done = each_block(n, blocks.collect(), start, |(workspace, message, c_0), block| {
        let (block, count, rng, question) = block;
        message.as_mut_slice().zeroize();
        let rows = features.chunks_exact(layout.features).skip(*block * layout.capacity());
        for (sample, row) in rows.take(*count).enumerate() {
            let places = &mut message[layout.sample(sample)..][..layout.features];
            for ((place, x), (mid, by)) in places.iter_mut().zip(row).zip(&maps) {
                // Where a range is wide beside its numbers the product may be a rounding above the scale. A
                // feature that is always the same has nothing to be rounded.
                let x = ((x - mid) * by).clamp(-scale, scale);
                *place = if *by > 0.0 { dithered(x, rng) } else { 0 };
            }
        }
        question.seed = products.encrypt(key, message, c_0, workspace, rng)?;
        let (first, _) = plan.window(*count);
        for (at, word) in question.window.iter_mut().enumerate() {
            *word = c_0[(first + at) % n];
        }
        Ok::<(), PlanError>(())
    })?;
    let questions: Vec<Question> = done.into_iter().map(|block| block.3).collect();
    Ok(wire::query_to_bytes(plan, key.key_id(), samples, &questions))
}

/// The scores of an answer, a row of outputs for each sample, for the key owner's eyes: their errors depend on the
/// secret key. Cost: two transforms for each ciphertext, three where weights are under the public key.
///
/// # Errors
/// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for other bytes, plans
/// and keys; [`SchemeError::NoiseTooLarge`] for scores that no declared features and weights have.
pub fn decrypt(
    plan: &Plan,
    key: &SecretKey,
    answer: &[u8],
) -> Result<Zeroizing<Vec<f64>>, PlanError> {
    let (found, samples, replies) = wire::answer_from_bytes(plan, answer)?;
    if found != key.key_id() {
        return Err(SchemeError::KeyMismatch { expected: key.key_id(), found }.into());
    }
    let (layout, products) = (plan.layout(), plan.products());
    let (scale, reach) = (plan.scales().product(), plan.reach());
    let blocks = layout
        .blocks(samples)
        .zip(replies)
        .map(|(count, reply)| (count, reply, Zeroizing::new(vec![0.0; count * layout.outputs])));
    let done = each_block(
        layout.ring_degree,
        blocks.collect(),
        || (),
        |(), (count, reply, values)| {
            plan.answers().lift(&mut reply.c_1);
            plan.answers().lift(&mut reply.scores);
            unmask(plan, key, reply)?;
            let mut largest = 0.0f64;
            let centres = plan.declared().centres.iter().cycle();
            let places = layout.scores(*count).zip(&reply.scores);
            for ((value, (place, &c_0)), centre) in values.iter_mut().zip(places).zip(centres) {
                let coefficient = products.centred_sum(reply.c_1[place], c_0) as f64;
                largest = largest.max(coefficient.abs());
                *value = coefficient / scale + centre;
            }
            reply.c_1.zeroize();
            if largest <= reach { Ok(()) } else { Err(PlanError::from(SchemeError::NoiseTooLarge)) }
        },
    )?;
    let mut scores = Zeroizing::new(Vec::with_capacity(samples * layout.outputs));
    done.iter().for_each(|block| scores.extend_from_slice(&block.2));
    Ok(scores)
}

/// `c_1 s`, and `c_2 s^2` where there is one, in place of `c_1`.
fn unmask(plan: &Plan, key: &SecretKey, reply: &mut Reply) -> Result<(), SchemeError> {
    let products = plan.products();
    match &mut reply.third {
        Third::None => products.unmask(key, &mut reply.c_1),
        Third::Seeds([own, other]) => {
            let n = reply.c_1.len();
            let [mut a, mut row, mut c_2] = [vec![0; n], vec![0; n], vec![0; n]];
            products.uniform(*own, &mut a);
            products.add_third(&a, *other, &mut row, &mut c_2);
            products.unmask_square(key, &mut reply.c_1, &c_2)
        }
        Third::Words(c_2) => {
            if let Some(third) = plan.third() {
                third.lift(c_2);
            }
            products.forward(c_2);
            products.unmask_square(key, &mut reply.c_1, c_2)
        }
    }
}

/// Refuses none, and more samples than a message takes.
fn check_samples(plan: &Plan, samples: usize) -> Result<(), PlanError> {
    let most = plan.most_samples();
    if (1..=most).contains(&samples) {
        return Ok(());
    }
    Err(PlanError::Samples { samples, most })
}
