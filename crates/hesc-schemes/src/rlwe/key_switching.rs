//! Hybrid key switching (Han and Ki 2020, section 3): a polynomial is cut in digits of as many
//! primes as there are special ones, each digit is lifted to all primes and multiplied with its
//! part of the key, and the sum is divided by the special primes.

use hesc_math::ring::{Coeff, Eval};
use rayon::prelude::*;

use super::buffer::Buffer;
use super::chain::{Digit, Target};
use super::keys::SwitchKey;
use super::parallel::{self, Prepared};
use super::residues::{AtRest, Component, Residues, Row, RowMut, inner_products};
use super::{Ciphertext, Rlwe};

/// A polynomial cut in digits, before they are lifted.
pub(crate) struct Digits<'a> {
    level: usize,
    /// Of the polynomial, modulo each prime of the level.
    coefficients: Buffer,
    /// For each digit what its conversion prepared; nothing for single primes.
    prepared: Vec<Option<Prepared>>,
    /// The polynomial itself as evaluations, where it was in that form.
    evaluated: Option<Component<'a, Eval>>,
}

/// Lifted digits as evaluations, for each target prime and digit: what many rotations share.
pub(crate) struct LiftedDigits {
    level: usize,
    words: Buffer,
}

impl Rlwe {
    /// Cuts one component of a ciphertext of this level.
    pub(crate) fn cut<'a>(&self, component: Component<'a, AtRest>, level: usize) -> Digits<'a> {
        let (n, primes) = (self.ring_degree(), self.chain().level(level));
        let mut coefficients = Buffer::take(primes.len() * n);
        parallel::for_each_chunk(&mut coefficients, n, 0, |_, prime, out| {
            let mut row = RowMut::assume(out);
            row.copy(component.row(prime));
            self.domain().coefficients(row, &primes[prime]);
        });
        let all = Residues::assume(&coefficients, 1, n);
        let prepare = |digit: &Digit| {
            let first = digit.primes.start;
            let conversion = digit.conversion.as_ref()?;
            Some(parallel::prepare(conversion, 1, n, |_, i| all.row(first + i, 0)))
        };
        let prepared = self.chain().digits(level).iter().map(prepare).collect();
        let evaluated = self.domain().evaluated(component.of()).map(|of| component.within(of));
        Digits { level, coefficients, prepared, evaluated }
    }

    /// One digit modulo a target prime, as evaluations.
    fn lift(&self, out: &mut [u64], digits: &Digits<'_>, digit: usize, target: Target<'_>) {
        let (chain, level) = (self.chain(), digits.level);
        let Digit { primes, conversion, .. } = &chain.digits(level)[digit];
        let coefficients = Residues::<Coeff>::assume(&digits.coefficients, 1, self.ring_degree());
        let mut row = RowMut::assume(out);
        if let Some(own) = target.own.filter(|own| primes.contains(own)) {
            row.copy(coefficients.row(own, 0));
        } else if let (Some(conversion), Some(prepared)) = (conversion, &digits.prepared[digit]) {
            row.convert(conversion, target.place, prepared.of(0));
        } else {
            // Centred: digits in [0, q) would pile up at the roots next to 1.
            let source = chain.level(level)[primes.start].value();
            row.recentre(coefficients.row(primes.start, 0), source, target.prime);
        }
        row.forward(target.prime);
    }

    /// All digits modulo a target prime, but for one that is there already, which is read where it is.
    fn lift_all<'a>(
        &self,
        rows: &'a mut [u64],
        digits: &Digits<'a>,
        target: Target<'_>,
    ) -> Vec<Row<'a, Eval>> {
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
        let lifted = Row::all(rows, n).enumerate();
        lifted.map(|(digit, row)| there(digit).unwrap_or(row)).collect()
    }

    /// A digit modulo a prime of its own as evaluations, where the polynomial came as such.
    fn already<'a>(
        &self,
        digits: &Digits<'a>,
        digit: usize,
        target: Target<'_>,
    ) -> Option<Row<'a, Eval>> {
        let primes = &self.chain().digits(digits.level)[digit].primes;
        let own = target.own.filter(|own| primes.contains(own))?;
        digits.evaluated.map(|evaluated| evaluated.row(own))
    }

    /// All digits modulo all target primes.
    pub(crate) fn lift_everywhere(&self, digits: &Digits<'_>) -> LiftedDigits {
        let n = self.ring_degree();
        let count = self.chain().digits(digits.level).len();
        let targets: Vec<Target<'_>> = self.chain().targets(digits.level).collect();
        let mut words = Buffer::take(targets.len() * count * n);
        parallel::for_each_chunk(&mut words, count * n, 0, |_, index, rows| {
            for (digit, row) in rows.chunks_exact_mut(n).enumerate() {
                match self.already(digits, digit, targets[index]) {
                    Some(there) => RowMut::assume(row).copy(there),
                    None => self.lift(row, digits, digit, targets[index]),
                }
            }
        });
        LiftedDigits { level: digits.level, words }
    }

    /// The products of the lifted digits of a level with a key, modulo a target prime.
    fn key_products<'a>(
        &self,
        out: [RowMut<'_, Eval>; 2],
        digits: impl Iterator<Item = Row<'a, Eval>>,
        key: &'a SwitchKey,
        level: usize,
        target: Target<'_>,
    ) {
        let chain = self.chain();
        let pairs = Residues::assume(&key.words, 2 * chain.key_digits().len(), self.ring_degree());
        let pair = |digit: &Digit| [0, 1].map(|i| pairs.row(target.place, 2 * digit.index + i));
        inner_products(out, digits, chain.digits(level).iter().map(pair), target.prime);
    }

    /// Switches a key: two components at the digits' level, in the scheme's domain.
    pub(crate) fn switch(&self, digits: &Digits<'_>, key: &SwitchKey) -> Buffer {
        let level = digits.level;
        let scratch = self.chain().digits(level).len() * self.ring_degree();
        self.divided_sums(level, level, scratch, |rows, target, out| {
            let lifted = self.lift_all(rows, digits, target);
            self.key_products(out, lifted.into_iter(), key, level, target);
        })
    }

    /// Switches the key of the last of three components and brings all to a level below in one division: one rounding,
    /// and fewer transforms than a division by the special primes and another one. For what rests as evaluations.
    pub(crate) fn switch_down(&self, a: &Ciphertext, key: &SwitchKey, to: usize) -> Buffer {
        let level = a.level();
        let digits = self.cut(self.residues(a).component(2), level);
        let evaluated = self.evaluations_of(a);
        let scratch = self.chain().digits(level).len() * self.ring_degree();
        self.divided_sums(level, to, scratch, |rows, target, [mut first, mut second]| {
            let lifted = self.lift_all(rows, &digits, target);
            let sums = [first.reborrow(), second.reborrow()];
            self.key_products(sums, lifted.into_iter(), key, level, target);
            if let Some(own) = target.own {
                // The division takes the special primes away again.
                let special = self.chain().special_factor(target.prime);
                first.add_scaled(evaluated.row(own, 0), special, target.prime);
                second.add_scaled(evaluated.row(own, 1), special, target.prime);
            }
        })
    }

    /// The products of digits that were lifted before with a key, modulo the target prime at an index: undivided.
    pub(crate) fn lifted_products(
        &self,
        out: [RowMut<'_, Eval>; 2],
        digits: &LiftedDigits,
        target: Target<'_>,
        key: &SwitchKey,
    ) {
        let count = self.chain().digits(digits.level).len();
        let lifted = Residues::assume(&digits.words, count, self.ring_degree());
        self.key_products(out, lifted.rows(target.index), key, digits.level, target);
    }

    /// Switches a key with digits that were lifted before: two components at the digits' level.
    pub(crate) fn switch_lifted(&self, digits: &LiftedDigits, key: &SwitchKey) -> Buffer {
        self.divided_sums(digits.level, digits.level, 0, |_, target, out| {
            self.lifted_products(out, digits, target, key);
        })
    }

    /// Two components that `sum(scratch, target, out)` gives modulo each target prime of a level, divided by the special
    /// primes and those that another level has not, and rounded; in the scheme's domain.
    pub(crate) fn divided_sums(
        &self,
        from: usize,
        to: usize,
        scratch: usize,
        sum: impl Fn(&mut [u64], Target<'_>, [RowMut<'_, Eval>; 2]) + Send + Sync,
    ) -> Buffer {
        let (n, chain) = (self.ring_degree(), self.chain());
        let (targets, after) = (chain.targets(from).collect::<Vec<_>>(), chain.level(to));
        assert!(!chain.special().is_empty(), "keys exist only where special primes do");
        let mut kept = Buffer::take(after.len() * 2 * n);
        let division = chain.key_division(from, to);
        let mut divisors = Buffer::take(division.divisors.len() * 2 * n);
        let sum_divisors = |words: &mut [u64]| {
            parallel::for_each_chunk(words, 2 * n, scratch, |scratch, i, out| {
                let target = targets[division.divisors[i]];
                sum(scratch, target, RowMut::split(out));
                RowMut::<Eval>::all(out, n).for_each(|row| _ = row.inverse(target.prime));
            });
        };
        let sum_kept = |words: &mut [u64]| {
            parallel::for_each_chunk(words, 2 * n, scratch, |scratch, prime, out| {
                match division.kept[prime] {
                    Some(index) => sum(scratch, targets[index], RowMut::split(out)),
                    None => out.fill(0),
                }
            });
        };
        parallel::both(kept.len(), || sum_divisors(&mut divisors), || sum_kept(&mut kept));
        let divisors = Residues::assume(&divisors, 2, n);
        let prepared =
            parallel::prepare(&division.remainder, 2, n, |i, divisor| divisors.row(divisor, i));
        parallel::for_each_row(&mut kept, (2, n), n, |scratch, prime, component, out| {
            let q = &after[prime];
            let mut remainder = RowMut::assume(scratch);
            remainder.convert(&division.remainder, prime, prepared.of(component));
            let remainder = self.domain().rest_coefficients(remainder, q);
            let mut sum = self.domain().rest_evaluations(RowMut::assume(out), q);
            sum.subtract_and_scale(remainder.row(), division.inverses[prime], q);
        });
        kept
    }
}
