//! Hybrid key switching (Han and Ki 2020, section 3): a polynomial is cut in digits of as many
//! primes as there are special ones, each digit is lifted to all primes and multiplied with its
//! part of the key, and the sum is divided by the special primes.

use hesc_math::rns::{Prime, kernels};
use rayon::prelude::*;

use super::keys::SwitchKey;
use super::{Leveled, parallel};

/// Limbs of one part of a ciphertext.
#[derive(Clone, Copy)]
pub(super) struct Limbs<'a> {
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
pub(super) struct Digits<'a> {
    level: usize,
    coefficients: Vec<u64>,
    /// For each digit what its conversion prepared; nothing for single primes.
    prepared: Vec<Vec<u64>>,
    /// The polynomial itself as evaluations, where it was in that form.
    evaluated: Option<Limbs<'a>>,
}

/// Lifted digits as evaluations, for each target prime and digit: what many rotations share.
pub(super) struct LiftedDigits {
    level: usize,
    words: Vec<u64>,
}

impl Leveled {
    /// Cuts one part of a ciphertext of this level.
    pub(super) fn cut<'a>(&self, part: Limbs<'a>, level: usize) -> Digits<'a> {
        let n = self.ring_degree();
        let chain = self.chain();
        let mut coefficients = Vec::with_capacity(level * n);
        for limb in 0..level {
            coefficients.extend_from_slice(part.limb(limb));
        }
        let evaluated = self.scheme().evaluated().then_some(part);
        if evaluated.is_some() {
            parallel::for_each_chunk(&mut coefficients, n, 0, |_, limb, words| {
                chain.primes()[limb].inverse(words);
            });
        }
        let prepare = |digit: usize| {
            let Some(conversion) = chain.digit_conversion(digit, level) else {
                return Vec::new();
            };
            let range = chain.digit(digit, level);
            let mut prepared = vec![0; conversion.prepared_limbs() * n];
            conversion.prepare(&mut prepared, &coefficients[range.start * n..range.end * n]);
            prepared
        };
        let digits = 0..chain.digit_count(level);
        let prepared = if parallel::worth_threads(coefficients.len()) {
            digits.into_par_iter().map(prepare).collect()
        } else {
            digits.map(prepare).collect()
        };
        Digits { level, coefficients, prepared, evaluated }
    }

    /// One digit modulo one prime, as evaluations.
    fn lift(&self, row: &mut [u64], digits: &Digits<'_>, digit: usize, target: usize) {
        let n = self.ring_degree();
        let chain = self.chain();
        let prime = &chain.primes()[target];
        let range = chain.digit(digit, digits.level);
        let own = |limb: usize| &digits.coefficients[limb * n..][..n];
        if range.contains(&target) {
            if let Some(evaluated) = digits.evaluated {
                row.copy_from_slice(evaluated.limb(target));
                return;
            }
            row.copy_from_slice(own(target));
        } else if let Some(conversion) = chain.digit_conversion(digit, digits.level) {
            conversion.row(row, target, &digits.prepared[digit]);
        } else {
            // Next to zero: digits in [0, q) would pile up at the roots next to 1.
            let source = chain.primes()[range.start].value();
            kernels::recentre(row, own(range.start), source, prime);
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
    pub(super) fn lift_everywhere(&self, digits: &Digits<'_>) -> LiftedDigits {
        let n = self.ring_degree();
        let count = self.chain().digit_count(digits.level);
        let targets: Vec<usize> = self.chain().targets(digits.level).collect();
        let mut words = vec![0; targets.len() * count * n];
        parallel::for_each_chunk(&mut words, count * n, 0, |_, index, rows| {
            self.lift_all(rows, digits, targets[index]);
        });
        LiftedDigits { level: digits.level, words }
    }

    /// The products of lifted digits with a key, modulo one prime.
    fn key_products(&self, out: &mut [u64], rows: &[u64], key: &SwitchKey, target: usize) {
        let n = self.ring_degree();
        let all_digits = self.chain().digit_count(self.chain().levels());
        let pairs = &key.words[target * all_digits * 2 * n..][..all_digits * 2 * n];
        let digits: Vec<&[u64]> = rows.chunks_exact(n).collect();
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for pair in pairs.chunks_exact(2 * n).take(digits.len()) {
            let (b, a) = pair.split_at(n);
            first.push(b);
            second.push(a);
        }
        let (b, a) = out.split_at_mut(n);
        let prime = &self.chain().primes()[target];
        kernels::inner_products([b, a], &digits, &first, &second, prime);
    }

    /// Switches a key: two parts at the digits' level, limb after limb, in the scheme's domain.
    pub(super) fn switch(&self, digits: &Digits<'_>, key: &SwitchKey) -> Vec<u64> {
        let n = self.ring_degree();
        let count = self.chain().digit_count(digits.level);
        let targets: Vec<usize> = self.chain().targets(digits.level).collect();
        let mut sums = vec![0; targets.len() * 2 * n];
        parallel::for_each_chunk(&mut sums, 2 * n, count * n, |rows, index, out| {
            self.lift_all(rows, digits, targets[index]);
            self.key_products(out, rows, key, targets[index]);
        });
        self.divide_by_specials(sums, digits.level)
    }

    /// As [`Self::switch`], with digits that were lifted before.
    pub(super) fn switch_lifted(&self, digits: &LiftedDigits, key: &SwitchKey) -> Vec<u64> {
        let n = self.ring_degree();
        let count = self.chain().digit_count(digits.level);
        let targets: Vec<usize> = self.chain().targets(digits.level).collect();
        let mut sums = vec![0; targets.len() * 2 * n];
        parallel::for_each_chunk(&mut sums, 2 * n, 0, |_, index, out| {
            let rows = &digits.words[index * count * n..][..count * n];
            self.key_products(out, rows, key, targets[index]);
        });
        self.divide_by_specials(sums, digits.level)
    }

    /// Two parts modulo the primes of a level and the special ones, as evaluations, divided by the
    /// special primes and rounded; in the scheme's domain.
    fn divide_by_specials(&self, mut sums: Vec<u64>, level: usize) -> Vec<u64> {
        let n = self.ring_degree();
        let chain = self.chain();
        // Keys exist only where special primes do.
        let Some(division) = chain.special_division() else { return sums };
        let (kept, special) = sums.split_at_mut(level * 2 * n);
        parallel::for_each_chunk(special, n, 0, |_, index, words| {
            chain.special()[index / 2].inverse(words);
        });
        let room = division.remainder.prepared_limbs() * n;
        let mut prepared = vec![0; 2 * room];
        let special = &*special;
        let one_part = |part: usize, prepared: &mut [u64]| {
            let mut limbs = Vec::with_capacity(special.len() / 2);
            for pair in special.chunks_exact(2 * n) {
                limbs.extend_from_slice(&pair[part * n..][..n]);
            }
            division.remainder.prepare(prepared, &limbs);
        };
        parallel::for_each_chunk(&mut prepared, room, 0, |_, part, words| one_part(part, words));
        parallel::for_each_chunk(kept, n, n, |row, index, words| {
            let (limb, part) = (index / 2, index % 2);
            let prime = &chain.primes()[limb];
            division.remainder.row(row, limb, &prepared[part * room..][..room]);
            self.match_domain(words, row, prime);
            kernels::subtract_scale(words, row, division.inverses[limb], prime);
        });
        sums.truncate(level * 2 * n);
        sums
    }

    /// Brings evaluations and coefficients into the domain the scheme rests in.
    fn match_domain(&self, evaluations: &mut [u64], coefficients: &mut [u64], prime: &Prime) {
        if self.scheme().evaluated() {
            prime.forward(coefficients);
        } else {
            prime.inverse(evaluations);
        }
    }
}
