//! Products of BFV: `round(t a b / Q)` over the integers, in two bases (Halevi, Polyakov and Shoup
//! 2019, section 4). Both factors are extended exactly from `Q` to a second base `B`; the product is
//! formed modulo `Q B`, divided by `Q / t` with the remainder's conversion, and brought back from
//! `B` to `Q`.

use hesc_math::ntt_primes;
use hesc_math::rns::{Conversion, Factor, Prime, kernels};
use rayon::prelude::*;

use super::chain::{Chain, inverse_of, reducers};
use super::{Ciphertext, Leveled, Spec, parallel};
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

/// Rows of three parts side by side.
type Parts<'a> = (&'a mut [u64], &'a mut [u64], &'a mut [u64]);

/// Three parts modulo the level's primes, coefficients, limb after limb.
pub(super) fn multiply(
    scheme: &Leveled,
    multiplier: &Multiplier,
    a: &Ciphertext,
    b: Option<&Ciphertext>,
) -> Vec<u64> {
    let (n, level) = (scheme.ring_degree(), a.level);
    let tables = &multiplier.levels[level - 1];
    let primes: Vec<&Prime> =
        scheme.chain().level(level).iter().chain(&multiplier.primes[..tables.count]).collect();
    let part_words = primes.len() * n;
    let x = extend(scheme, tables, &primes, a);
    let y = b.map(|b| extend(scheme, tables, &primes, b));
    // Part after part, limb after limb.
    let mut product = vec![0; 3 * part_words];
    let limb = |index: usize, (first, second, third): Parts<'_>| {
        let of = |words: &'_ [u64]| -> [std::ops::Range<usize>; 2] {
            let half = words.len() / 2;
            [index * n..(index + 1) * n, half + index * n..half + (index + 1) * n]
        };
        let [x_0, x_1] = of(&x);
        let out = [first, second, third];
        match &y {
            Some(y) => {
                let [y_0, y_1] = of(y);
                let (x, y) = ([&x[x_0], &x[x_1]], [&y[y_0], &y[y_1]]);
                kernels::tensor(out, x, y, primes[index]);
            }
            None => kernels::square_tensor(out, [&x[x_0], &x[x_1]], primes[index]),
        }
    };
    let (first, rest) = product.split_at_mut(part_words);
    let (second, third) = rest.split_at_mut(part_words);
    if parallel::worth_threads(part_words) {
        (
            first.par_chunks_exact_mut(n),
            second.par_chunks_exact_mut(n),
            third.par_chunks_exact_mut(n),
        )
            .into_par_iter()
            .enumerate()
            .for_each(|(index, (a, b, c))| limb(index, (a, b, c)));
    } else {
        let rows = first.chunks_exact_mut(n).zip(second.chunks_exact_mut(n));
        for (index, ((a, b), c)) in rows.zip(third.chunks_exact_mut(n)).enumerate() {
            limb(index, (a, b, c));
        }
    }
    parallel::for_each_chunk(&mut product, n, 0, |_, index, words| {
        primes[index % primes.len()].inverse_unscaled(words);
    });
    scale_down(scheme, tables, &primes, &mut product)
}

/// Both parts modulo both bases, as evaluations: part after part, limb after limb.
fn extend(scheme: &Leveled, tables: &Tables, primes: &[&Prime], a: &Ciphertext) -> Vec<u64> {
    let (n, level) = (scheme.ring_degree(), a.level);
    let room = tables.extension.prepared_limbs() * n;
    let mut words = vec![0; 2 * primes.len() * n];
    // Coefficients modulo Q first, so that conversion finds them side by side.
    for (part, words) in words.chunks_exact_mut(primes.len() * n).enumerate() {
        for (limb, out) in words.chunks_exact_mut(n).take(level).enumerate() {
            out.copy_from_slice(&a.words[(2 * limb + part) * n..][..n]);
        }
    }
    let mut prepared = vec![0; 2 * room];
    let source = &words;
    parallel::for_each_chunk(&mut prepared, room, 0, |_, part, prepared| {
        let coefficients = &source[part * primes.len() * n..][..level * n];
        tables.extension.prepare(prepared, coefficients);
    });
    parallel::for_each_chunk(&mut words, n, 0, |_, index, words| {
        let (part, limb) = (index / primes.len(), index % primes.len());
        if limb >= level {
            tables.extension.row(words, limb - level, &prepared[part * room..][..room]);
        }
        primes[limb].forward(words);
    });
    words
}

/// `round(t x / Q)` from `N x` modulo both bases, modulo `Q`: limb after limb, part after part.
fn scale_down(
    scheme: &Leveled,
    tables: &Tables,
    primes: &[&Prime],
    product: &mut [u64],
) -> Vec<u64> {
    let n = scheme.ring_degree();
    let count = tables.count;
    let level = primes.len() - count;
    let part_words = primes.len() * n;
    let room = tables.remainder.prepared_limbs() * n;
    let mut prepared = vec![0; 3 * room];
    let source = &*product;
    parallel::for_each_chunk(&mut prepared, room, 0, |_, part, prepared| {
        tables.remainder.prepare(prepared, &source[part * part_words..][..level * n]);
    });
    parallel::for_each_chunk(product, n, n, |row, index, words| {
        let (part, limb) = (index / primes.len(), index % primes.len());
        let Some(target) = limb.checked_sub(level) else { return };
        tables.remainder.row(row, target, &prepared[part * room..][..room]);
        kernels::scale(words, tables.scales[target], primes[limb]);
        kernels::subtract_scale(words, row, tables.inverses[target], primes[limb]);
    });
    let room = tables.back.prepared_limbs() * n;
    let mut prepared = vec![0; 3 * room];
    let source = &*product;
    parallel::for_each_chunk(&mut prepared, room, 0, |_, part, prepared| {
        let second_base = &source[part * part_words + level * n..][..count * n];
        tables.back.prepare(prepared, second_base);
    });
    let mut result = vec![0; 3 * level * n];
    parallel::for_each_chunk(&mut result, n, 0, |_, index, out| {
        let (limb, part) = (index / 3, index % 3);
        tables.back.row(out, limb, &prepared[part * room..][..room]);
    });
    result
}
