//! Products of BFV: `round(t a b / Q)` over the integers, in two bases (Halevi, Polyakov and Shoup
//! 2019, section 4). Both factors are extended exactly from `Q` to a second base `B`; the product is
//! formed modulo `Q B`, divided by `Q / t` with the remainder's conversion, and brought back from
//! `B` to `Q`.

use hesc_math::ntt_primes;
use hesc_math::rns::{Conversion, Factor, Prime, kernels};

use super::chain::{Chain, inverse_of, reducers};
use super::parallel::{self, Buffer};
use super::{Ciphertext, Leveled, Spec};
use crate::SchemeError;

/// The second base and the tables of every level.
#[derive(Debug)]
pub(super) struct Multiplier {
    primes: Vec<Prime>,
    levels: Vec<Tables>,
}

#[derive(Debug)]
struct Tables {
    /// Primes of the second base in use.
    count: usize,
    /// From `Q` to `B`.
    extension: Conversion,
    /// From `N x` modulo `Q` to `[t x]_Q` modulo `B`.
    remainder: Conversion,
    /// `t / N` modulo `B`.
    scales: Vec<Factor>,
    /// `1 / Q` modulo `B`.
    inverses: Vec<Factor>,
    /// From `B` to `Q`.
    back: Conversion,
}

/// Bits of the primes of the second base: the fast kernels' largest.
const PRIME_BITS: u32 = 50;
/// Bits that the second base has beyond the largest product, so that a quotient near one half never
/// decides.
const SPARE_BITS: f64 = 4.0;

impl Multiplier {
    pub(super) fn new(spec: &Spec, chain: &Chain, plain_modulus: u64) -> Result<Self, SchemeError> {
        let n = spec.ring_degree;
        // |t a b / Q| <= t N Q / 2 for |a|, |b| <= Q / 2, two such in the middle part.
        let excess = (plain_modulus as f64).log2() + (n as f64).log2() + SPARE_BITS;
        let wanted = |level: usize| {
            let bits: f64 = chain.level(level).iter().map(|q| (q.value() as f64).log2()).sum();
            ((bits + excess) / (f64::from(PRIME_BITS) - 0.01)).ceil() as usize
        };
        let most = wanted(chain.levels());
        let candidates = ntt_primes(PRIME_BITS, n, most + chain.primes().len())?;
        let primes = candidates
            .into_iter()
            .filter(|&p| chain.primes().iter().all(|q| q.value() != p))
            .take(most)
            .map(|p| Prime::new(n, p))
            .collect::<Result<Vec<_>, _>>()?;
        let levels = (1..=chain.levels())
            .map(|level| {
                let (q, b) = (chain.level(level), &primes[..wanted(level)]);
                let t = plain_modulus;
                let per_degree = |m: hesc_math::Modulus| m.inverse(n as u64 % m.value());
                Tables {
                    count: b.len(),
                    extension: Conversion::new(q, &reducers(b)),
                    remainder: Conversion::with_constants(
                        q,
                        &reducers(b),
                        |m| m.mul(t, per_degree(m)),
                        |_| 1,
                    ),
                    scales: b
                        .iter()
                        .map(|p| p.factor(p.modulus().mul(t, per_degree(p.modulus()))))
                        .collect(),
                    inverses: b.iter().map(|p| p.factor(inverse_of(q, p.modulus()))).collect(),
                    back: Conversion::new(b, &reducers(q)),
                }
            })
            .collect();
        Ok(Self { primes, levels })
    }
}

/// Three parts modulo the level's primes, coefficients, limb after limb; a square if there is no
/// second factor.
pub(super) fn multiply(
    scheme: &Leveled,
    multiplier: &Multiplier,
    a: &Ciphertext,
    b: Option<&Ciphertext>,
) -> Buffer {
    let (n, level) = (scheme.ring_degree(), a.level);
    let tables = &multiplier.levels[level - 1];
    let primes: Vec<&Prime> =
        scheme.chain().level(level).iter().chain(&multiplier.primes[..tables.count]).collect();
    let factors: Vec<&Ciphertext> = std::iter::once(a).chain(b).collect();
    let extended = extend(tables, &primes, &factors, n);
    let mut product = Buffer::take(3 * primes.len() * n);
    // Limb after limb, in each the parts of all factors; then those of the product.
    parallel::for_each_chunk(&mut product, 3 * n, 0, |_, limb, out| {
        let part = |index: usize| &extended[(2 * factors.len() * limb + index) * n..][..n];
        let (first, rest) = out.split_at_mut(n);
        let (second, third) = rest.split_at_mut(n);
        let parts = [first, second, third];
        if b.is_some() {
            kernels::tensor(parts, [part(0), part(1)], [part(2), part(3)], primes[limb]);
        } else {
            kernels::square_tensor(parts, [part(0), part(1)], primes[limb]);
        }
        for part in out.chunks_exact_mut(n) {
            primes[limb].inverse_unscaled(part);
        }
    });
    scale_down(tables, &primes, &mut product, n)
}

/// Both parts of each factor modulo both bases, as evaluations.
fn extend(tables: &Tables, primes: &[&Prime], factors: &[&Ciphertext], n: usize) -> Buffer {
    let level = primes.len() - tables.count;
    let parts = 2 * factors.len();
    let source =
        |part: usize, limb: usize| &factors[part / 2].words[(2 * limb + part % 2) * n..][..n];
    let room = tables.extension.prepared_words(n);
    let mut prepared = Buffer::take(parts * room);
    parallel::prepare(&tables.extension, &mut prepared, n, source);
    let mut words = Buffer::take(parts * primes.len() * n);
    parallel::for_each_chunk(&mut words, n, 0, |_, index, words| {
        let (limb, part) = (index / parts, index % parts);
        match limb.checked_sub(level) {
            None => words.copy_from_slice(source(part, limb)),
            Some(target) => {
                tables.extension.row(words, target, &prepared[part * room..][..room]);
            }
        }
        primes[limb].forward(words);
    });
    words
}

/// `round(t x / Q)` modulo `Q`, from `N x` modulo both bases.
fn scale_down(tables: &Tables, primes: &[&Prime], product: &mut [u64], n: usize) -> Buffer {
    let level = primes.len() - tables.count;
    let (first_base, second_base) = product.split_at_mut(level * 3 * n);
    let room = tables.remainder.prepared_words(n);
    let mut prepared = Buffer::take(3 * room);
    parallel::prepare(&tables.remainder, &mut prepared, n, |part, limb| {
        &first_base[(3 * limb + part) * n..][..n]
    });
    parallel::for_each_chunk(second_base, n, n, |row, index, words| {
        let (target, part) = (index / 3, index % 3);
        let prime = primes[level + target];
        tables.remainder.row(row, target, &prepared[part * room..][..room]);
        kernels::scale(words, tables.scales[target], prime);
        kernels::subtract_scale(words, row, tables.inverses[target], prime);
    });
    let room = tables.back.prepared_words(n);
    let mut prepared = Buffer::take(3 * room);
    parallel::prepare(&tables.back, &mut prepared, n, |part, limb| {
        &second_base[(3 * limb + part) * n..][..n]
    });
    let mut result = Buffer::take(3 * level * n);
    parallel::for_each_chunk(&mut result, n, 0, |_, index, out| {
        let (limb, part) = (index / 3, index % 3);
        tables.back.row(out, limb, &prepared[part * room..][..room]);
    });
    result
}
