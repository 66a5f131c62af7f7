use hesc_schemes::rlwe::SecretKey;
use hesc_schemes::{Fingerprint, SchemeError};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::divisor::Divisor;
use super::plan::Plan;
use super::wire::{self, Purpose, Query};
use crate::plans::PlanError;

/// Encrypts a sample's bits, one for each edge, for the way to the server. Cost: a transform for each ciphertext and prime.
///
/// # Errors
/// [`PlanError::Count`] for another number of bits; [`SchemeError::ParameterMismatch`] for the key of another set.
pub fn encrypt(
    plan: &Plan,
    key: &SecretKey,
    bits: &[bool],
    rng: &mut impl CryptoRng,
) -> Result<Vec<u8>, PlanError> {
    check_bits(plan, bits)?;
    let numbers = Zeroizing::new(bits.iter().map(|&bit| u64::from(bit)).collect::<Vec<_>>());
    Ok(encrypted(plan, Purpose::Sample, key, &numbers, rng)?)
}

/// The scores of an answer, for each output the sum of the values of the leaves that are reached. For the key owner's eyes: whether
/// an answer is refused tells who made it up of the key. Cost: two transforms for each ciphertext and prime.
///
/// # Errors
/// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for other bytes, plans and keys;
/// [`SchemeError::NoiseTooLarge`] for an answer in which an output has not as many leaves reached as it has trees.
pub fn decrypt(plan: &Plan, key: &SecretKey, answer: &[u8]) -> Result<Vec<i64>, PlanError> {
    let (_, numbers) = decrypted(plan, Purpose::Sample, key, answer)?;
    Ok(scores(plan, &numbers)?)
}

/// Refuses another number of bits than the plan has edges.
pub(super) fn check_bits(plan: &Plan, bits: &[bool]) -> Result<(), PlanError> {
    let (expected, found) = (plan.declared().edges as usize, bits.len());
    match expected == found {
        true => Ok(()),
        false => Err(PlanError::Count { what: "bits".into(), expected, found }),
    }
}

/// A message of numbers modulo `t`, one for each edge.
pub(super) fn encrypted(
    plan: &Plan,
    purpose: Purpose,
    key: &SecretKey,
    numbers: &[u64],
    rng: &mut impl CryptoRng,
) -> Result<Vec<u8>, SchemeError> {
    let (products, sizes) = (plan.products(), plan.sizes());
    let (_, _, plain_modulus) = plan.plain_moduli();
    let mut query = Query { seeds: Vec::new(), words: vec![0; sizes.blocks * products.words()] };
    let mut workspace = products.workspace();
    let none = vec![0; sizes.ring_degree];
    let polynomials = query.words.chunks_exact_mut(products.words());
    for (c_0, numbers) in polynomials.zip(numbers.chunks(sizes.width)) {
        query.seeds.push(products.encrypt(key, &none, c_0, &mut workspace, rng)?);
        products.add_scaled(c_0, numbers, plain_modulus);
    }
    Ok(wire::query_to_bytes(plan, purpose, key.key_id(), &query))
}

/// The name of the query that an answer is to, and the numbers of all leaves modulo `t`.
pub(super) fn decrypted(
    plan: &Plan,
    purpose: Purpose,
    key: &SecretKey,
    answer: &[u8],
) -> Result<(Fingerprint, Zeroizing<Vec<u64>>), SchemeError> {
    let (found, answer) = wire::answer_from_bytes(plan, purpose, answer)?;
    if found != key.key_id() {
        return Err(SchemeError::KeyMismatch { expected: key.key_id(), found });
    }
    let (products, sizes) = (plan.products(), plan.sizes());
    let (_, _, t) = plan.plain_moduli();
    let (n, modulo_t) = (sizes.ring_degree, Divisor::new(t));
    let mut numbers = Zeroizing::new(Vec::with_capacity(answer.numbers.len()));
    for (c_1, c_0) in answer.c_1.chunks_exact(n).zip(answer.numbers.chunks(sizes.rows)) {
        let mask = products.unmask_bits(key, c_1, sizes.bits)?;
        let places = (sizes.width - 1..n).step_by(sizes.width);
        for (place, &c_0) in places.zip(c_0) {
            let c_0 = i128::from(c_0) << (sizes.bits - sizes.number_bits);
            let phase = (mask[place] + c_0) as u64 & ((1 << sizes.bits) - 1);
            let number =
                (u128::from(phase) * u128::from(t) + (1 << (sizes.bits - 1))) >> sizes.bits;
            // One half below the next multiple is rounded up to `t`.
            numbers.push(modulo_t.remainder(number as u64));
        }
    }
    Ok((answer.query, numbers))
}

/// The scores that the numbers of all leaves add up to.
pub(super) fn scores(plan: &Plan, numbers: &[u64]) -> Result<Vec<i64>, SchemeError> {
    let (of_costs, of_values, _) = plan.plain_moduli();
    let (cost, value) = (Divisor::new(of_costs), Divisor::new(of_values));
    let mut scores = Vec::with_capacity(plan.declared().outputs.len());
    let (mut rest, mut whole) = (numbers, true);
    for shape in &plan.declared().outputs {
        let (own, others) = rest.split_at(shape.leaves as usize);
        rest = others;
        let (mut reached, mut sum) = (0, 0);
        for &number in own {
            // All ones where the leaf is reached.
            let open = (cost.remainder(number).wrapping_sub(1) >> 63).wrapping_neg();
            reached += open & 1;
            sum = value.remainder(sum + (open & value.remainder(number)));
        }
        whole &= reached == u64::from(shape.trees);
        let negative = (u64::from(sum > of_values / 2)).wrapping_neg();
        scores.push(sum.wrapping_sub(of_values & negative) as i64);
    }
    if whole { Ok(scores) } else { Err(SchemeError::NoiseTooLarge) }
}
