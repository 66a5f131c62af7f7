//! Hybrid key switching (Han and Ki 2020, section 3): a polynomial is cut in digits of as many
//! primes as there are special ones, each digit is lifted to all primes and multiplied with its
//! part of the key, and the sum is divided by the special primes.

use hesc_math::residues::kernels;
use hesc_math::ring::Prime;
use rayon::prelude::*;

use super::Rlwe;
use super::buffer::Buffer;
use super::chain::Digit;
use super::domain::Domain;
use super::keys::SwitchKey;
use super::parallel;

/// Limbs of one part of a ciphertext.
#[derive(Clone, Copy)]
pub(crate) struct Limbs<'a> {
    pub words: &'a [u64],
    /// Words from one limb to the next.
    pub step: usize,
    /// Words before the part.
    pub at: usize,
    pub ring_degree: usize,
}

impl<'a> Limbs<'a> {
    pub fn limb(&self, index: usize) -> &'a [u64] {
        &self.words[index * self.step + self.at..][..self.ring_degree]
    }
}

/// A polynomial cut in digits, before they are lifted.
pub(crate) struct Digits<'a> {
    level: usize,
    coefficients: Buffer,
    /// For each digit what its conversion prepared; nothing for single primes.
    prepared: Vec<Buffer>,
    /// The polynomial itself as evaluations, where it was in that form.
    evaluated: Option<Limbs<'a>>,
}

/// Lifted digits as evaluations, for each target prime and digit: what many rotations share.
pub(crate) struct LiftedDigits {
    level: usize,
    words: Buffer,
}

impl Rlwe {
    /// Cuts one part of a ciphertext of this level.
    pub(crate) fn cut<'a>(&self, part: Limbs<'a>, level: usize) -> Digits<'a> {
        let n = self.ring_degree();
        let chain = self.chain();
        let mut coefficients = Buffer::take(chain.level(level).len() * n);
        let evaluated = (self.domain() == Domain::Evaluations).then_some(part);
        parallel::for_each_chunk(&mut coefficients, n, 0, |_, limb, words| {
            words.copy_from_slice(part.limb(limb));
            self.domain().to_coefficients(words, &chain.level(level)[limb]);
        });
        let prepared = (chain.digits(level).iter())
            .map(|digit| {
                let Some(conversion) = &digit.conversion else {
                    return Buffer::take(0);
                };
                let first = digit.limbs.start;
                let mut prepared = Buffer::take(conversion.prepared_words(n));
                parallel::prepare(conversion, &mut prepared, n, |_, i| {
                    &coefficients[(first + i) * n..][..n]
                });
                prepared
            })
            .collect();
        Digits { level, coefficients, prepared, evaluated }
    }

    /// One digit modulo the prime at one place, as evaluations.
    fn lift(&self, row: &mut [u64], digits: &Digits<'_>, digit: usize, target: usize) {
        let n = self.ring_degree();
        let (chain, level) = (self.chain(), digits.level);
        let prime = &chain.primes()[target];
        let Digit { limbs, conversion, .. } = &chain.digits(level)[digit];
        let coefficients = |limb: usize| &digits.coefficients[limb * n..][..n];
        if let Some(own) = limbs.clone().find(|&limb| chain.places(level)[limb] == target) {
            if let Some(evaluated) = digits.evaluated {
                row.copy_from_slice(evaluated.limb(own));
                return;
            }
            row.copy_from_slice(coefficients(own));
        } else if let Some(conversion) = conversion {
            conversion.row(row, target, &digits.prepared[digit]);
        } else {
            // Centred: digits in [0, q) would pile up at the roots next to 1.
            let source = chain.level(level)[limbs.start].value();
            kernels::recentre(row, coefficients(limbs.start), source, prime);
        }
        prime.forward(row);
    }

    /// All digits modulo one prime.
    fn lift_all(&self, rows: &mut [u64], digits: &Digits<'_>, target: usize) {
        let n = self.ring_degree();
        // Nested in the loop over primes: an idle thread takes half of another's digits.
        if parallel::worth_threads(rows.len()) {
            rows.par_chunks_exact_mut(n)
                .enumerate()
                .for_each(|(digit, row)| self.lift(row, digits, digit, target));
        } else {
            for (digit, row) in rows.chunks_exact_mut(n).enumerate() {
                self.lift(row, digits, digit, target);
            }
        }
    }

    /// All digits modulo all primes.
    pub(crate) fn lift_everywhere(&self, digits: &Digits<'_>) -> LiftedDigits {
        let n = self.ring_degree();
        let count = self.chain().digits(digits.level).len();
        let targets: Vec<usize> = self.chain().targets(digits.level).collect();
        let mut words = Buffer::take(targets.len() * count * n);
        parallel::for_each_chunk(&mut words, count * n, 0, |_, index, rows| {
            self.lift_all(rows, digits, targets[index]);
        });
        LiftedDigits { level: digits.level, words }
    }

    /// The products of the lifted digits of a level with a key, modulo the prime at one place.
    fn key_products(
        &self,
        out: &mut [u64],
        rows: &[u64],
        key: &SwitchKey,
        (level, target): (usize, usize),
    ) {
        let (n, chain) = (self.ring_degree(), self.chain());
        let all_digits = chain.key_digits().len();
        let pairs = &key.words[target * all_digits * 2 * n..][..all_digits * 2 * n];
        let digits: Vec<&[u64]> = rows.chunks_exact(n).collect();
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for digit in chain.digits(level) {
            let (b, a) = pairs[digit.index * 2 * n..][..2 * n].split_at(n);
            first.push(b);
            second.push(a);
        }
        let (b, a) = out.split_at_mut(n);
        let prime = &chain.primes()[target];
        kernels::inner_products([b, a], &digits, &first, &second, prime);
    }

    /// Switches a key: two parts at the digits' level, limb after limb, in the scheme's domain.
    pub(crate) fn switch(&self, digits: &Digits<'_>, key: &SwitchKey) -> Buffer {
        let n = self.ring_degree();
        let rows = self.chain().digits(digits.level).len() * n;
        self.sum_and_divide(digits.level, rows, |rows, _, target, out| {
            self.lift_all(rows, digits, target);
            self.key_products(out, rows, key, (digits.level, target));
        })
    }

    /// Switches a key with digits that were lifted before: two parts at the digits' level.
    pub(crate) fn switch_lifted(&self, digits: &LiftedDigits, key: &SwitchKey) -> Buffer {
        let rows = self.chain().digits(digits.level).len() * self.ring_degree();
        self.sum_and_divide(digits.level, 0, |_, index, target, out| {
            let rows = &digits.words[index * rows..][..rows];
            self.key_products(out, rows, key, (digits.level, target));
        })
    }

    /// Two parts that `sum(scratch, index, place, out)` gives as evaluations for each target prime,
    /// divided by the special primes and rounded; in the scheme's domain.
    fn sum_and_divide(
        &self,
        level: usize,
        scratch: usize,
        sum: impl Fn(&mut [u64], usize, usize, &mut [u64]) + Send + Sync,
    ) -> Buffer {
        let n = self.ring_degree();
        let chain = self.chain();
        let places = chain.places(level);
        let mut kept = Buffer::take(places.len() * 2 * n);
        // Keys exist only where special primes do.
        let Some(division) = chain.special_division() else { return kept };
        let mut special = Buffer::take(chain.special().len() * 2 * n);
        let sum_special = |special: &mut [u64]| {
            parallel::for_each_chunk(special, 2 * n, scratch, |scratch, index, out| {
                let place = chain.primes().len() - chain.special().len() + index;
                sum(scratch, places.len() + index, place, out);
                for part in out.chunks_exact_mut(n) {
                    chain.special()[index].inverse(part);
                }
            });
        };
        let sum_kept = |kept: &mut [u64]| {
            parallel::for_each_chunk(kept, 2 * n, scratch, |scratch, limb, out| {
                sum(scratch, limb, places[limb], out);
            });
        };
        parallel::both(kept.len(), || sum_special(&mut special), || sum_kept(&mut kept));
        let room = division.remainder.prepared_words(n);
        let mut prepared = Buffer::take(2 * room);
        parallel::prepare(&division.remainder, &mut prepared, n, |part, i| {
            &special[(2 * i + part) * n..][..n]
        });
        parallel::for_each_chunk(&mut kept, n, n, |row, index, words| {
            let (place, part) = (places[index / 2], index % 2);
            let prime = &chain.primes()[place];
            division.remainder.row(row, place, &prepared[part * room..][..room]);
            self.match_domain(words, row, prime);
            kernels::subtract_scale(words, row, division.inverses[place], prime);
        });
        kept
    }

    /// Brings evaluations and coefficients into the domain the scheme rests in.
    fn match_domain(&self, evaluations: &mut [u64], coefficients: &mut [u64], prime: &Prime) {
        self.domain().accept_coefficients(coefficients, prime);
        self.domain().accept_evaluations(evaluations, prime);
    }
}
