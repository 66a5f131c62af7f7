//! Products of BFV: `round(t a b / Q)` over the integers, in two bases (Halevi, Polyakov and Shoup
//! 2019, section 4). Both factors are extended exactly from `Q` to a second base `B`; the product is
//! formed modulo `Q B`, divided by `Q / t` with the remainder's conversion, and brought back from
//! `B` to `Q`.

use hesc_math::residues::Factor;
use hesc_math::ring::{Coeff, Eval, Prime};
use hesc_math::rns::Conversion;

use super::Bfv;
use crate::SchemeError;
use crate::rlwe::buffer::Buffer;
use crate::rlwe::chain::{Chain, inverse_of, reducers};
use crate::rlwe::domain::Domain;
use crate::rlwe::parallel;
use crate::rlwe::products::multiply_components;
use crate::rlwe::residues::{Component, Residues, RowMut};
use crate::rlwe::scheme_operations::Multiplication;
use crate::rlwe::{Ciphertext, Rlwe};

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
    /// From what the unscaled transform leaves of `x` modulo `Q` to `[t x]_Q` modulo `B`.
    remainder: Conversion,
    /// `t` modulo `B`, divided by what the unscaled transform leaves.
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
    pub(super) fn new(plain_modulus: u64, chain: &Chain) -> Result<Self, SchemeError> {
        let ring = chain.ring();
        // |t a b / Q| <= t N Q / 2 for |a|, |b| <= Q / 2, two such in the middle part; in other rings with
        // the growth of their products in the place of N.
        let excess = (plain_modulus as f64).log2() + ring.product_growth().log2() + SPARE_BITS;
        let wanted = |level: usize| {
            let bits: f64 = chain.level(level).iter().map(|q| (q.value() as f64).log2()).sum();
            ((bits + excess) / (f64::from(PRIME_BITS) - 0.01)).ceil() as usize
        };
        let most = wanted(chain.levels());
        let candidates = ring.ntt_primes(PRIME_BITS, most + chain.primes().len())?;
        let primes = candidates
            .into_iter()
            .filter(|&p| chain.primes().iter().all(|q| q.value() != p))
            .take(most)
            .map(|p| Prime::new(ring, p))
            .collect::<Result<Vec<_>, _>>()?;
        let unscaled = primes.first().map_or(1, Prime::unscaled_factor);
        let levels = (1..=chain.levels())
            .map(|level| {
                let (q, b) = (chain.level(level), &primes[..wanted(level)]);
                let t = plain_modulus;
                let rescaled = |m: hesc_math::Modulus| m.inverse(unscaled % m.value());
                Tables {
                    count: b.len(),
                    extension: Conversion::new(q, &reducers(b)),
                    remainder: Conversion::with_constants(
                        q,
                        &reducers(b),
                        |m| m.mul(t, rescaled(m)),
                        |_| 1,
                    ),
                    scales: b
                        .iter()
                        .map(|p| p.factor(p.modulus().mul(t, rescaled(p.modulus()))))
                        .collect(),
                    inverses: b.iter().map(|p| p.factor(inverse_of(q, p.modulus()))).collect(),
                    back: Conversion::new(b, &reducers(q)),
                }
            })
            .collect();
        Ok(Self { primes, levels })
    }
}

impl Multiplication for Bfv {
    /// Products extend ciphertexts to a second base, which takes coefficients.
    fn domain(&self) -> Domain {
        Domain::Coefficients
    }

    /// Plaintexts lie in the upper bits of a phase, relative to the modulus.
    fn survives_drops(&self) -> bool {
        false
    }

    fn multiply(&self, scheme: &Rlwe, a: &Ciphertext, b: Option<&Ciphertext>) -> Buffer {
        parallel::together(a.words.len(), || multiply(scheme, &self.multiplier, a, b))
    }
}

/// `round(t a b / Q)` as coefficients modulo the level's primes; a square if there is no second factor.
fn multiply(
    scheme: &Rlwe,
    multiplier: &Multiplier,
    a: &Ciphertext,
    b: Option<&Ciphertext>,
) -> Buffer {
    let (n, level) = (scheme.ring_degree(), a.level());
    let tables = &multiplier.levels[level - 1];
    let primes: Vec<&Prime> =
        scheme.chain().level(level).iter().chain(&multiplier.primes[..tables.count]).collect();
    let coefficients = |c| scheme.coefficients_of(c);
    let factors: Vec<Residues<'_, Coeff>> = std::iter::once(a).chain(b).map(coefficients).collect();
    let extended = extend(tables, &primes, &factors, n);
    let both = Residues::<Eval>::assume(&extended, extended.len() / (primes.len() * n), n);
    let components = a.components() + b.unwrap_or(a).components() - 1;
    let mut product = Buffer::take(primes.len() * components * n);
    parallel::for_each_chunk(&mut product, components * n, n, |scratch, prime, out| {
        let factors: Vec<_> = both.rows(prime).collect();
        let (x, y) = factors.split_at(a.components());
        multiply_components(out, scratch, x, b.is_some().then_some(y), primes[prime]);
        RowMut::<Eval>::all(out, n).for_each(|row| _ = row.inverse_unscaled(primes[prime]));
    });
    scale_down(tables, &primes, &mut product, n)
}

/// The components of all factors side by side, modulo the primes of both bases, as evaluations.
fn extend(tables: &Tables, primes: &[&Prime], factors: &[Residues<'_, Coeff>], n: usize) -> Buffer {
    let level = primes.len() - tables.count;
    let components: Vec<Component<'_, Coeff>> =
        factors.iter().flat_map(|x| (0..x.components()).map(|i| x.component(i))).collect();
    let prepared = parallel::prepare(&tables.extension, components.len(), n, |i, prime| {
        components[i].row(prime)
    });
    let mut words = Buffer::take(primes.len() * components.len() * n);
    parallel::for_each_row(&mut words, (components.len(), n), 0, |_, prime, i, out| {
        let mut row = RowMut::assume(out);
        match prime.checked_sub(level) {
            None => row.copy(components[i].row(prime)),
            Some(target) => row.convert(&tables.extension, target, prepared.of(i)),
        }
        row.forward(primes[prime]);
    });
    words
}

/// `round(t x / Q)` modulo `Q`, from what the unscaled transform leaves of `x` modulo both bases.
fn scale_down(tables: &Tables, primes: &[&Prime], product: &mut [u64], n: usize) -> Buffer {
    let level = primes.len() - tables.count;
    let components = product.len() / (primes.len() * n);
    let (first_base, second_base) = product.split_at_mut(level * components * n);
    let dividend = Residues::<Coeff>::assume(first_base, components, n);
    let prepared =
        parallel::prepare(&tables.remainder, components, n, |i, prime| dividend.row(prime, i));
    parallel::for_each_row(second_base, (components, n), n, |scratch, target, i, out| {
        let (q, mut quotient) = (primes[level + target], RowMut::<Coeff>::assume(out));
        let mut remainder = RowMut::assume(scratch);
        remainder.convert(&tables.remainder, target, prepared.of(i));
        quotient.scale(tables.scales[target], q);
        quotient.subtract_and_scale(remainder.row(), tables.inverses[target], q);
    });
    let quotient = Residues::<Coeff>::assume(second_base, components, n);
    let prepared =
        parallel::prepare(&tables.back, components, n, |i, prime| quotient.row(prime, i));
    let mut result = Buffer::take(level * components * n);
    parallel::for_each_row(&mut result, (components, n), 0, |_, prime, i, out| {
        RowMut::assume(out).convert(&tables.back, prime, prepared.of(i));
    });
    result
}
