//! Products of BFV: `round(t a b / Q)` over the integers, in two bases (Halevi, Polyakov and Shoup
//! 2019, section 4). Both factors are extended exactly from `Q` to a second base `B`; the product is
//! formed modulo `Q B`, divided by `Q / t` with the remainder's conversion, and brought back from
//! `B` to `Q`.

use hesc_math::residues::Factor;
use hesc_math::ring::{Coeff, Eval, Prime};
use hesc_math::rns::Conversion;

use super::Bfv;
use crate::SchemeError;
use crate::rlwe::chain::{Chain, inverse_of, reducers};
use crate::rlwe::domain::Domain;
use crate::rlwe::parallel;
use crate::rlwe::polys::Polys;
use crate::rlwe::products::multiply_components;
use crate::rlwe::residues::{Residues, Stored};
use crate::rlwe::scheme_operations::Multiplication;
use crate::rlwe::{Ciphertext, Rlwe};

/// The second base that products are formed in, and the tables of every level.
#[derive(Debug)]
pub(super) struct Extensions {
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

impl Extensions {
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

    /// Both bases of a level.
    fn bases<'a>(&'a self, scheme: &'a Rlwe, level: usize) -> Bases<'a> {
        let tables = &self.levels[level - 1];
        let (q, b) = (scheme.chain().level(level), &self.primes[..tables.count]);
        Bases { q, b, tables, domain: scheme.domain() }
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

    fn multiply(&self, scheme: &Rlwe, a: &Ciphertext, b: Option<&Ciphertext>) -> Polys<Stored> {
        parallel::on_pool(a.polys.len(), || multiply(scheme, &self.extensions, a, b))
    }
}

/// `round(t a b / Q)` modulo the level's primes; a square if there is no second factor.
fn multiply(
    scheme: &Rlwe,
    extensions: &Extensions,
    a: &Ciphertext,
    b: Option<&Ciphertext>,
) -> Polys<Stored> {
    let bases = extensions.bases(scheme, a.level());
    let extend = |x: &Ciphertext| bases.extend(scheme.coefficients_of(x));
    let (a, b) = (extend(a), b.map(extend));
    bases.scale_down(bases.tensor(&a, b.as_ref()))
}

/// The primes of a level, `Q`, and those of the second base `B`.
struct Bases<'a> {
    q: &'a [Prime],
    b: &'a [Prime],
    tables: &'a Tables,
    domain: Domain,
}

impl Bases<'_> {
    /// One of the primes of both, those of `Q` first.
    fn prime(&self, index: usize) -> &Prime {
        if index < self.q.len() { &self.q[index] } else { &self.b[index - self.q.len()] }
    }

    fn primes(&self) -> usize {
        self.q.len() + self.b.len()
    }

    /// Coefficients modulo `Q`, lifted to `Q B`: as evaluations.
    fn extend(&self, x: Residues<'_, Coeff>) -> Polys<Eval> {
        let prepared = x.prepare(&self.tables.extension);
        let extended = Polys::take(self.primes(), x.components(), x.ring_degree());
        extended.map_rows(0, |_, prime, i, row| {
            let row = match prime.checked_sub(self.q.len()) {
                None => row.copy(x.row(prime, i)),
                Some(target) => row.convert(&self.tables.extension, target, prepared.of(i)),
            };
            row.forward(self.prime(prime))
        })
    }

    /// The components of `x y` modulo `Q B`, of `x x` if there is no `y`: what the unscaled transform leaves of their coefficients.
    fn tensor(&self, x: &Polys<Eval>, y: Option<&Polys<Eval>>) -> Polys<Coeff> {
        let (x, y) = (x.residues(), y.map(Polys::residues));
        let components = x.components() + y.unwrap_or(x).components() - 1;
        let product = Polys::take(self.primes(), components, x.ring_degree());
        product.map_primes(1, |scratch, prime, out| {
            let (q, y) = (self.prime(prime), y.map(|y| y.at(prime)));
            let product = multiply_components(out, scratch, x.at(prime), y, q);
            product.map(|_, row| row.inverse_unscaled(q))
        })
    }

    /// `round(t x / Q)` modulo `Q`, from what the unscaled transform leaves of `x` modulo `Q B`: `(t x - [t x]_Q) / Q`
    /// modulo `B`, brought back to `Q`.
    fn scale_down(&self, mut x: Polys<Coeff>) -> Polys<Stored> {
        let tables = self.tables;
        let [modulo_q, modulo_b] = x.split_primes(self.q.len());
        let prepared = modulo_q.residues().prepare(&tables.remainder);
        let quotient = modulo_b.map_rows(1, |scratch, target, i, mut row| {
            let b = &self.b[target];
            let remainder = scratch.row().convert(&tables.remainder, target, prepared.of(i));
            row.scale(tables.scales[target], b);
            row.subtract_and_scale(remainder.row(), tables.inverses[target], b);
            row
        });
        let quotient = quotient.residues();
        let prepared = quotient.prepare(&tables.back);
        let result = Polys::take(self.q.len(), quotient.components(), quotient.ring_degree());
        result.map_rows(0, |_, prime, i, row| {
            let row = row.convert(&tables.back, prime, prepared.of(i));
            self.domain.store_coefficients(row, &self.q[prime])
        })
    }
}
