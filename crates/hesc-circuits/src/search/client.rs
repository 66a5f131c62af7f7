use hesc_math::sampling::fresh_seed;
use hesc_math::{Modulus, RngSeed};
use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{RingProducts, SecretKey, SharedSecrets};
use hesc_schemes::wire::Kind;
use rand_core::CryptoRng;
use zeroize::{Zeroize as _, Zeroizing};

use super::declared::Entries;
use super::plan::Plan;
use super::signs::{Signs, signed};
use super::sizes::LIMIT;
use super::wire::{self, Answer, Query};
use crate::plans::PlanError;

/// Encrypts a vector for the way to the server. Cost: a transform for each ciphertext.
///
/// # Errors
/// [`PlanError::Count`], [`PlanError::Feature`] and [`PlanError::Norm`] for vectors that the plan does not declare;
/// [`SchemeError::ParameterMismatch`] for the key of another set.
pub fn encrypt(
    plan: &Plan,
    key: &SecretKey,
    vector: &[i16],
    rng: &mut impl CryptoRng,
) -> Result<Vec<u8>, PlanError> {
    let (expected, found) = (plan.dimensions(), vector.len());
    if expected != found {
        return Err(PlanError::Count { what: "a query".into(), expected, found });
    }
    plan.declared().check_vectors(vector, true)?;
    let (products, sizes, n) = (plan.products(), plan.sizes(), plan.ring_degree());
    let q = Modulus::new(products.modulus());
    // A step between scores is one of the scale's, and expansion multiplies by a power of two.
    let unit = q.mul(sizes.scale / plan.declared().step(), products.before_expansion(sizes.levels));
    let seed = fresh_seed(rng);
    let mut query = Query { seed, words: vec![0; sizes.ciphertexts * n] };
    let mut workspace = products.workspace();
    let mut message = Zeroizing::new(vec![0; n]);
    let parts = query.words.chunks_exact_mut(n).zip(vector.chunks(1 << sizes.levels));
    for ((c_0, entries), seed) in parts.zip(seeds(seed, sizes.ciphertexts)) {
        message.as_mut_slice().zeroize();
        for (place, &x) in message.iter_mut().zip(entries) {
            let size = q.mul(unit, u64::from(x.unsigned_abs())) as i64;
            *place = signed(size, i64::from(x >> 15));
        }
        products.encrypt_seeded(key, seed, &message, c_0, &mut workspace, rng)?;
    }
    Ok(wire::query_to_bytes(plan, key.key_id(), &query))
}

/// What the second part of each ciphertext of a query comes from.
pub(super) fn seeds(seed: RngSeed, ciphertexts: usize) -> Vec<RngSeed> {
    RingProducts::seeds(seed, ciphertexts)
}

/// The secrets that blocks of records are answered under that share a second part; none where each has its own. They follow
/// from the key.
///
/// # Errors
/// [`SchemeError::ParameterMismatch`] for the key of another set.
pub fn shared_secrets(plan: &Plan, key: &SecretKey) -> Result<SharedSecrets, PlanError> {
    let count = if plan.shared() == 1 { 0 } else { plan.shared() };
    Ok(plan.products().shared_secrets(key, count)?)
}

/// The wire form of a client's keys, for a plan that has such: those that expand its queries, and behind them those that share
/// second parts. Once, for all queries.
///
/// # Errors
/// [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for keys of other sets and pairs;
/// [`SchemeError::Parameter`] for a plan without keys, and for secrets of another plan.
pub fn generate_keys(
    plan: &Plan,
    key: &SecretKey,
    shared: &SharedSecrets,
    rng: &mut impl CryptoRng,
) -> Result<Vec<u8>, PlanError> {
    let (products, scheme) = (plan.products(), plan.products().scheme());
    if plan.sizes().levels == 0 {
        let remedy = "queries of this plan come without keys: make none";
        return Err(SchemeError::Parameter { name: "keys", value: "some".into(), remedy }.into());
    }
    let elements = products.expansion_elements(plan.sizes().levels);
    let mut bytes = scheme.galois_keys_to_bytes(&scheme.generate_galois_keys(key, &elements, rng)?);
    if plan.shared() > 1 {
        check_shared(plan, shared)?;
        let sharing = products.generate_sharing(key, shared, rng)?;
        let mut writer =
            plan.message(Kind::SwitchKey, products.sharing_bytes(plan.shared()), key.key_id());
        sharing.write(&mut writer);
        bytes.extend(writer.finish());
    }
    Ok(bytes)
}

/// Refuses secrets of a plan by which other blocks share.
fn check_shared(plan: &Plan, shared: &SharedSecrets) -> Result<(), SchemeError> {
    let expected = if plan.shared() == 1 { 0 } else { plan.shared() };
    if shared.count() == expected {
        return Ok(());
    }
    let remedy = "there is one for each block that shares a part; take those of this plan";
    let value = shared.count().to_string();
    Err(SchemeError::Parameter { name: "shared_secrets", value, remedy })
}

/// The scores of an answer, of all records in their order. For the key owner's eyes: whether an answer is refused tells who
/// made it up of the key. Cost: two transforms for each block of records.
///
/// # Errors
/// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for other bytes, plans and keys;
/// [`SchemeError::NoiseTooLarge`] for an answer with numbers that are no scores; [`SchemeError::Parameter`] for secrets of another
/// plan.
pub fn decrypt(
    plan: &Plan,
    key: &SecretKey,
    shared: &SharedSecrets,
    answer: &[u8],
) -> Result<Zeroizing<Vec<i64>>, PlanError> {
    check_shared(plan, shared)?;
    let mut answer = Answer::open(plan, answer)?;
    let (products, declared) = (plan.products(), plan.declared());
    if answer.key != key.key_id() {
        return Err(SchemeError::KeyMismatch { expected: key.key_id(), found: answer.key }.into());
    }
    let (scale, step) = (plan.sizes().scale as i64, declared.step() as i64);
    // Scores of signs are odd where there are an odd number of them, or even.
    let offset = if step == 1 { 0 } else { i64::from(declared.dimensions) };
    let (shift, bound) = (offset * (scale / step), plan.bound() as i64);
    let limit = (LIMIT / 2.0 * scale as f64) as i64 + 1;
    let (numbers, signs) = (plan.numbers(), Signs::new(&declared.signs, plan.ring_degree()));
    let mut scores = Zeroizing::new(Vec::with_capacity(answer.records));
    let mut whole = true;
    let mut block = 0;
    for counts in plan.groups(answer.records) {
        let mut c_1 = answer.second()?;
        plan.answers().lift(&mut c_1);
        for (which, count) in counts.into_iter().enumerate() {
            let secret = if plan.shared() == 1 { key } else { shared.of(key, which)? };
            let mut mask = Zeroizing::new(c_1.clone());
            products.unmask(secret, &mut mask)?;
            let mut c_0 = answer.numbers(count)?;
            numbers.lift(&mut c_0);
            let masks = signs.of_block(block);
            for ((&a, &b), sign) in c_0.iter().zip(mask.iter()).zip(masks) {
                let phase = products.centred_sum(a, b) - shift;
                let steps = (phase as f64 / scale as f64).round_ties_even() as i64;
                let score = steps * step + offset;
                whole &= ((phase - steps * scale).abs() <= limit) & (score.abs() <= bound);
                scores.push(signed(score, sign));
            }
            block += 1;
        }
    }
    answer.finish()?;
    if whole { Ok(scores) } else { Err(SchemeError::NoiseTooLarge.into()) }
}

/// The vector of a query, for who asked it: distances are told by it, beside scores. For the key owner's eyes. Cost: three
/// transforms for each ciphertext.
///
/// # Errors
/// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for other bytes, plans and keys;
/// [`SchemeError::NoiseTooLarge`] for a query of no vector that the plan declares.
pub fn decrypt_query(
    plan: &Plan,
    key: &SecretKey,
    query: &[u8],
) -> Result<Zeroizing<Vec<i16>>, PlanError> {
    let (found, query) = wire::query_from_bytes(plan, query)?;
    if found != key.key_id() {
        return Err(SchemeError::KeyMismatch { expected: key.key_id(), found }.into());
    }
    let (products, sizes, declared) = (plan.products(), plan.sizes(), plan.declared());
    let q = Modulus::new(products.modulus());
    let unit = (sizes.scale / declared.step()) as i64;
    let mut vector = Zeroizing::new(Vec::with_capacity(plan.dimensions()));
    let mut mask = Zeroizing::new(vec![0; plan.ring_degree()]);
    let mut whole = true;
    let parts = query.words.chunks_exact(plan.ring_degree());
    for (c_0, seed) in parts.zip(seeds(query.seed, sizes.ciphertexts)) {
        products.uniform(seed, &mut mask);
        products.inverse(&mut mask);
        products.unmask(key, &mut mask)?;
        let entries = (plan.dimensions() - vector.len()).min(1 << sizes.levels);
        for (&a, &b) in c_0.iter().zip(mask.iter()).take(entries) {
            // What encryption divided by, and the noise with it.
            let phase = products.centred_sum(q.mul(q.add(a, b), 1 << sizes.levels), 0);
            let entry = (phase as f64 / unit as f64).round_ties_even() as i64;
            whole &= (phase - entry * unit).abs() <= unit / 4;
            whole &= entry == i64::from(entry as i16);
            vector.push(entry as i16);
        }
    }
    if whole && declared.check_vectors(&vector, true).is_ok() {
        Ok(vector)
    } else {
        Err(SchemeError::NoiseTooLarge.into())
    }
}

/// The vector of a code: 1 for a bit that is not set, -1 for one that is.
pub fn signs_of_bits(bits: impl IntoIterator<Item = bool>) -> Vec<i16> {
    bits.into_iter().map(|bit| 1 - 2 * i16::from(bit)).collect()
}

/// The Hamming distance that a score of codes says; none where vectors are no codes.
pub fn distance(plan: &Plan, score: i64) -> Option<u32> {
    match plan.declared().entries {
        Entries::Signs => Some(((plan.dimensions() as i64 - score) / 2) as u32),
        Entries::Integers { .. } => None,
    }
}
