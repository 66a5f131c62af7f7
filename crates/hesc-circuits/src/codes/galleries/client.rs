use hesc_schemes::rlwe::{RingProducts, SecretKey};
use hesc_schemes::{SchemeError, checkpoint};
use rand_core::{CryptoRng, SeedableRng};
use zeroize::{Zeroize as _, Zeroizing};

use crate::blocks::map_blocks;
use crate::plans::Seed;

use super::plan::Plan;
use super::wire::{self, Pieces};

/// Which side of a product a code is on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Probe,
    Gallery,
}

/// Encrypts a gallery: packed rows of `bits / 64` words under the secret key, the wire form that
/// [`super::Gallery::from_bytes`] reads. Cost: a transform for each piece of [`Plan::capacity`] codes.
///
/// # Errors
/// [`SchemeError::Empty`], [`SchemeError::BlockCount`] for words that are no whole rows, [`SchemeError::Parameter`] for
/// more records than one gallery takes, [`SchemeError::ParameterMismatch`] for the key of another set;
/// [`SchemeError::Interrupted`].
pub fn encrypt_gallery<R: CryptoRng + SeedableRng + Send>(
    plan: &Plan,
    key: &SecretKey,
    codes: &[u64],
    rng: &mut R,
) -> Result<Vec<u8>, SchemeError> {
    let remedy = "cut it into several galleries, or take pieces of fewer bits";
    let records = rows(plan, codes, wire::most_records(plan), "records", remedy)?;
    let blocks: Vec<&[u64]> = codes.chunks(plan.capacity() * plan.bits() / 64).collect();
    let pieces = encrypt_all(plan, key, &blocks, Side::Gallery, rng)?;
    Ok(wire::gallery_to_bytes(plan, key.key_id(), records, &pieces))
}

/// Encrypts codes to be looked for, as [`encrypt_gallery`]: each takes [`Plan::pieces`] ciphertexts.
///
/// # Errors
/// As [`encrypt_gallery`].
pub fn encrypt_probes<R: CryptoRng + SeedableRng + Send>(
    plan: &Plan,
    key: &SecretKey,
    codes: &[u64],
    rng: &mut R,
) -> Result<Vec<u8>, SchemeError> {
    let remedy = "send several messages";
    rows(plan, codes, wire::most_probes(plan), "probes", remedy)?;
    let probes: Vec<&[u64]> = codes.chunks(plan.bits() / 64).collect();
    let pieces = encrypt_all(plan, key, &probes, Side::Probe, rng)?;
    Ok(wire::probes_to_bytes(plan, key.key_id(), &pieces))
}

/// How many rows there are.
fn rows(
    plan: &Plan,
    codes: &[u64],
    most: usize,
    name: &'static str,
    remedy: &'static str,
) -> Result<usize, SchemeError> {
    let per_code = plan.bits() / 64;
    let found = codes.len() / per_code;
    if found == 0 {
        return Err(SchemeError::Empty);
    }
    if !codes.len().is_multiple_of(per_code) {
        return Err(SchemeError::BlockCount { expected: codes.len().div_ceil(per_code), found });
    }
    if found > most {
        return Err(SchemeError::Parameter { name, value: found.to_string(), remedy });
    }
    Ok(found)
}

fn encrypt_all<R: CryptoRng + SeedableRng + Send>(
    plan: &Plan,
    key: &SecretKey,
    groups: &[&[u64]],
    side: Side,
    rng: &mut R,
) -> Result<Vec<Pieces>, SchemeError> {
    let (products, n) = (plan.products(), plan.ring_degree());
    let mut work: Vec<(&[u64], R)> =
        groups.iter().map(|&codes| (codes, R::from_rng(rng))).collect();
    let start = || (products.workspace(), Zeroizing::new(vec![0; n]));
    let one = |(workspace, message): &mut (_, Zeroizing<Vec<i64>>),
               (codes, rng): &mut (&[u64], R)| {
        let mut seed: Seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let seeds = RingProducts::seeds(seed, plan.pieces());
        let words = seeds.into_iter().enumerate().map(|(piece, seed)| {
            signs(plan, codes, piece, side, message);
            let mut c_0 = vec![0; n];
            products.encrypt_seeded(key, seed, message, &mut c_0, workspace, rng)?;
            Ok(c_0)
        });
        let words: Result<_, SchemeError> = words.collect();
        Ok::<_, SchemeError>(Pieces { seed, words: words? })
    };
    let mut all = Vec::with_capacity(groups.len());
    for some in work.chunks_mut(64) {
        checkpoint()?;
        all.extend(map_blocks(n * plan.pieces(), some, start, one)?);
    }
    Ok(all)
}

/// The signs of one piece of codes, times the side's scale: record after record forwards, or one probe backwards.
/// Without branches or indices on bits.
fn signs(plan: &Plan, codes: &[u64], piece: usize, side: Side, message: &mut [i64]) {
    let (length, per_code) = (plan.piece(), plan.bits() / 64);
    let scale = match side {
        Side::Probe => plan.probe_scale(),
        Side::Gallery => plan.gallery_scale(),
    };
    message.zeroize();
    for (code, places) in codes.chunks_exact(per_code).zip(message.chunks_exact_mut(length)) {
        for (k, place) in places.iter_mut().enumerate() {
            let bit = piece * length + k;
            let one = (code[bit / 64] >> (bit % 64) & 1) as i64;
            *place = scale - 2 * scale * one;
        }
        if side == Side::Probe {
            places.reverse();
        }
    }
}

/// A part of all distances, decrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Records of the gallery.
    pub records: usize,
    /// Probes of the message.
    pub probes: usize,
    /// The probe that was compared.
    pub probe: usize,
    /// The first record that it was compared to.
    pub first: usize,
    /// Its distances to that record and those after it.
    pub distances: Vec<u32>,
}

/// Decrypts an answer of [`super::Gallery::compare`]. Cost for each block: two transforms, and for each piece a uniform
/// polynomial and a product.
///
/// # Errors
/// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for other bytes, plans and
/// keys; [`SchemeError::NotACount`] for a block that holds anything but distances.
pub fn decrypt(plan: &Plan, key: &SecretKey, bytes: &[u8]) -> Result<Found, SchemeError> {
    let (range, blocks) = inner_products(plan, key, bytes)?;
    let mut distances = Vec::new();
    for (block, products) in blocks.iter().enumerate() {
        let found: Vec<u32> = products.iter().map(|&product| plan.distance(product)).collect();
        if found.iter().fold(false, |bad, &distance| bad | (distance == u32::MAX)) {
            return Err(SchemeError::NotACount { block: range.first + block });
        }
        distances.extend(found);
    }
    let first = range.first * plan.capacity();
    let wire::Range { records, probes, probe, .. } = range;
    Ok(Found { records, probes, probe, first, distances })
}

/// Coefficients, block after block; wiped.
type Coefficients = Zeroizing<Vec<Vec<i64>>>;

/// What the coefficients of distances are, noise included.
pub(super) fn inner_products(
    plan: &Plan,
    key: &SecretKey,
    bytes: &[u8],
) -> Result<(wire::Range, Coefficients), SchemeError> {
    let (found, range, seed, mut replies) = wire::distances_from_bytes(plan, bytes)?;
    if found != key.key_id() {
        return Err(SchemeError::KeyMismatch { expected: key.key_id(), found });
    }
    let (products, n) = (plan.products(), plan.ring_degree());
    let own: Vec<Vec<u64>> = RingProducts::seeds(seed, plan.pieces())
        .into_iter()
        .map(|seed| {
            let mut words = vec![0; n];
            products.uniform(seed, &mut words);
            words
        })
        .collect();
    let start = || (vec![0; n], vec![0; n]);
    let one = |(row, c_2): &mut (Vec<u64>, Vec<u64>), reply: &mut wire::Reply| {
        c_2.fill(0);
        for (a, seed) in own.iter().zip(RingProducts::seeds(reply.seed, plan.pieces())) {
            products.add_third(a, seed, row, c_2);
        }
        plan.answers().lift(&mut reply.c_1);
        plan.answers().lift(&mut reply.distances);
        products.unmask_square(key, &mut reply.c_1, c_2)?;
        let places = plan.places(reply.distances.len()).zip(&reply.distances);
        let found =
            places.map(|(place, &c_0)| products.centred_sum(reply.c_1[place], c_0)).collect();
        reply.c_1.zeroize();
        Ok::<_, SchemeError>(found)
    };
    let done = map_blocks(n * plan.pieces(), &mut replies, start, one)?;
    Ok((range, Zeroizing::new(done)))
}
