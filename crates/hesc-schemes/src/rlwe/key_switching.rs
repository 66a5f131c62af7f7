//! Hybrid key switching (Han and Ki 2020, section 3): a polynomial is cut in digits of as many
//! primes as there are special ones, each digit is lifted to all primes and multiplied with its
//! part of the key, and the sum is divided by the special primes.

use hesc_math::residues::kernels;
use hesc_math::ring::Prime;
use rayon::prelude::*;

use super::buffer::Buffer;
use super::chain::Digit;
use super::domain::Domain;
use super::keys::SwitchKey;
use super::parallel;
use super::{Ciphertext, Rlwe};

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

    /// All digits modulo one prime, but for one that is there already, which is read where it is.
    fn lift_all<'a>(
        &self,
        rows: &'a mut [u64],
        digits: &Digits<'a>,
        target: usize,
    ) -> Vec<&'a [u64]> {
        let n = self.ring_degree();
        let there = |digit: usize| self.already(digits, digit, target);
        let lift = |(digit, row): (usize, &mut [u64])| {
            if there(digit).is_none() {
                self.lift(row, digits, digit, target);
            }
        };
        // Nested in the loop over primes: an idle thread takes half of another's digits.
        if parallel::worth_threads(rows.len()) {
            rows.par_chunks_exact_mut(n).enumerate().for_each(lift);
        } else {
            rows.chunks_exact_mut(n).enumerate().for_each(lift);
        }
        let lifted = rows.chunks_exact(n).enumerate();
        lifted.map(|(digit, row)| there(digit).unwrap_or(row)).collect()
    }

    /// A digit modulo a prime of its own as evaluations, where the polynomial came as such.
    fn already<'a>(&self, digits: &Digits<'a>, digit: usize, target: usize) -> Option<&'a [u64]> {
        let (chain, level) = (self.chain(), digits.level);
        let limbs = chain.digits(level)[digit].limbs.clone();
        let own = limbs.into_iter().find(|&limb| chain.places(level)[limb] == target)?;
        digits.evaluated.map(|evaluated| evaluated.limb(own))
    }

    /// All digits modulo all primes.
    pub(crate) fn lift_everywhere(&self, digits: &Digits<'_>) -> LiftedDigits {
        let n = self.ring_degree();
        let count = self.chain().digits(digits.level).len();
        let targets: Vec<usize> = self.chain().targets(digits.level).collect();
        let mut words = Buffer::take(targets.len() * count * n);
        parallel::for_each_chunk(&mut words, count * n, 0, |_, index, rows| {
            let target = targets[index];
            for (digit, row) in rows.chunks_exact_mut(n).enumerate() {
                match self.already(digits, digit, target) {
                    Some(there) => row.copy_from_slice(there),
                    None => self.lift(row, digits, digit, target),
                }
            }
        });
        LiftedDigits { level: digits.level, words }
    }

    /// The products of the lifted digits of a level with a key, modulo the prime at one place.
    fn key_products(
        &self,
        out: &mut [u64],
        digits: &[&[u64]],
        key: &SwitchKey,
        (level, target): (usize, usize),
    ) {
        let (n, chain) = (self.ring_degree(), self.chain());
        let all_digits = chain.key_digits().len();
        let pairs = &key.words[target * all_digits * 2 * n..][..all_digits * 2 * n];
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for digit in chain.digits(level) {
            let (b, a) = pairs[digit.index * 2 * n..][..2 * n].split_at(n);
            first.push(b);
            second.push(a);
        }
        let (b, a) = out.split_at_mut(n);
        let prime = &chain.primes()[target];
        kernels::inner_products([b, a], digits, &first, &second, prime);
    }

    /// Switches a key: two parts at the digits' level, limb after limb, in the scheme's domain.
    pub(crate) fn switch(&self, digits: &Digits<'_>, key: &SwitchKey) -> Buffer {
        let n = self.ring_degree();
        let (level, rows) = (digits.level, self.chain().digits(digits.level).len() * n);
        self.sum_and_divide((level, level), rows, |rows, _, target, out| {
            let lifted = self.lift_all(rows, digits, target);
            self.key_products(out, &lifted, key, (level, target));
        })
    }

    /// Switches the key of the last of three parts and brings all to a level below in one division: one rounding,
    /// and fewer transforms than a division by the special primes and another one. For what rests as evaluations.
    pub(crate) fn switch_down(&self, a: &Ciphertext, key: &SwitchKey, to: usize) -> Buffer {
        let (n, chain, level) = (self.ring_degree(), self.chain(), a.level);
        let digits = self.cut(self.part(a, 2), level);
        let rows = chain.digits(level).len() * n;
        let limbs = chain.places(level).len();
        self.sum_and_divide((level, to), rows, |rows, index, target, out| {
            let lifted = self.lift_all(rows, &digits, target);
            self.key_products(out, &lifted, key, (level, target));
            if index < limbs {
                let prime = &chain.primes()[target];
                let special =
                    prime.factor(super::chain::product_of(chain.special(), prime.modulus()));
                kernels::scale_add(out, &a.words[index * 3 * n..][..2 * n], special, prime);
            }
        })
    }

    /// The products of digits that were lifted before with a key, modulo one target prime: undivided.
    pub(crate) fn lifted_products(
        &self,
        out: &mut [u64],
        digits: &LiftedDigits,
        index: usize,
        target: usize,
        key: &SwitchKey,
    ) {
        let n = self.ring_degree();
        let rows = self.chain().digits(digits.level).len() * n;
        let lifted: Vec<&[u64]> = digits.words[index * rows..][..rows].chunks_exact(n).collect();
        self.key_products(out, &lifted, key, (digits.level, target));
    }

    /// Switches a key with digits that were lifted before: two parts at the digits' level.
    pub(crate) fn switch_lifted(&self, digits: &LiftedDigits, key: &SwitchKey) -> Buffer {
        self.sum_and_divide((digits.level, digits.level), 0, |_, index, target, out| {
            self.lifted_products(out, digits, index, target, key);
        })
    }

    /// Two parts that `sum(scratch, index, place, out)` gives as evaluations for each prime of a level and then each
    /// special prime, divided by the primes that the other level has not and rounded; in the scheme's domain.
    pub(crate) fn sum_and_divide(
        &self,
        (from, to): (usize, usize),
        scratch: usize,
        sum: impl Fn(&mut [u64], usize, usize, &mut [u64]) + Send + Sync,
    ) -> Buffer {
        let (n, chain) = (self.ring_degree(), self.chain());
        let (targets, after) = (chain.targets(from).collect::<Vec<_>>(), chain.level(to));
        let mut kept = Buffer::take(after.len() * 2 * n);
        // Keys exist only where special primes do.
        if chain.special().is_empty() {
            return kept;
        }
        let division = chain.key_division(from, to);
        let mut divided = Buffer::take(division.divisors.len() * 2 * n);
        let sum_divided = |divided: &mut [u64]| {
            parallel::for_each_chunk(divided, 2 * n, scratch, |scratch, i, out| {
                let index = division.divisors[i];
                sum(scratch, index, targets[index], out);
                for part in out.chunks_exact_mut(n) {
                    chain.primes()[targets[index]].inverse(part);
                }
            });
        };
        let sum_kept = |kept: &mut [u64]| {
            parallel::for_each_chunk(kept, 2 * n, scratch, |scratch, limb, out| {
                match division.kept[limb] {
                    Some(index) => sum(scratch, index, targets[index], out),
                    None => out.fill(0),
                }
            });
        };
        parallel::both(kept.len(), || sum_divided(&mut divided), || sum_kept(&mut kept));
        let room = division.remainder.prepared_words(n);
        let mut prepared = Buffer::take(2 * room);
        parallel::prepare(&division.remainder, &mut prepared, n, |part, i| {
            &divided[(2 * i + part) * n..][..n]
        });
        parallel::for_each_chunk(&mut kept, n, n, |row, index, words| {
            let (limb, part) = (index / 2, index % 2);
            let prime = &after[limb];
            division.remainder.row(row, limb, &prepared[part * room..][..room]);
            self.match_domain(words, row, prime);
            kernels::subtract_scale(words, row, division.inverses[limb], prime);
        });
        kept
    }

    /// Brings evaluations and coefficients into the domain the scheme rests in.
    fn match_domain(&self, evaluations: &mut [u64], coefficients: &mut [u64], prime: &Prime) {
        self.domain().accept_coefficients(coefficients, prime);
        self.domain().accept_evaluations(evaluations, prime);
    }
}
