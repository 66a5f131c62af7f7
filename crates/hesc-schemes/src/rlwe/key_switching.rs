//! Hybrid key switching (Han and Ki 2020, section 3): from a secret `s'` to `s`.
//!
//! The primes `q_i` of a level are taken in digits `d` of as many as there are special primes, whose product is `P`. For each
//! digit a key has, modulo all primes,
//!
//! ```text
//! (b_d, a_d),  b_d = -(a_d s) + e_d + P [q_i in d] s'
//! ```
//!
//! where `[q_i in d]` is 1 modulo the primes of the digit and 0 modulo all others. A polynomial `x` is cut: `x_d` is `x` modulo
//! the primes of `d`, lifted to all primes. Then `sum_d x_d b_d + (sum_d x_d a_d) s = P x s' + sum_d x_d e_d`, and
//!
//! ```text
//! (c_0, c_1) = round(1/P (sum_d x_d b_d, sum_d x_d a_d))
//! ```
//!
//! is an encryption of `x s'` under `s`.

use std::ops::Range;

use hesc_math::ring::{Coeff, Eval};

use super::chain::{Digit, Target};
use super::keys::SwitchKey;
use super::parallel;
use super::polys::{Polys, Prepared};
use super::residues::{Blank, Component, Row, RowMut, Scratch, Stored, inner_products};
use super::{Ciphertext, Rlwe};

/// A polynomial in digits, before they are lifted.
pub(crate) struct Digits<'a> {
    level: usize,
    /// Of the polynomial, modulo each prime of the level.
    coefficients: Polys<Coeff>,
    /// For each digit what its conversion prepared; nothing for single primes.
    prepared: Vec<Option<Prepared>>,
    /// The polynomial itself as evaluations, where it was in that form.
    evaluated: Option<Component<'a, Eval>>,
}

/// Lifted digits as evaluations, for each target prime and digit: what many rotations share.
pub(crate) struct LiftedDigits {
    level: usize,
    polys: Polys<Eval>,
}

/// The level that a polynomial is switched at, and the level of the result: the same, or one below.
#[derive(Clone, Copy)]
pub(crate) struct Levels {
    pub from: usize,
    pub to: usize,
}

impl Levels {
    fn same(level: usize) -> Self {
        Self { from: level, to: level }
    }
}

/// Two components before the division by the special primes and those that the result has not.
struct Accumulated {
    /// Modulo the primes divided by.
    divisors: Polys<Coeff>,
    /// Modulo the primes of the result; zero modulo those that join.
    kept: Polys<Eval>,
}

impl Rlwe {
    /// One component of a ciphertext of this level in digits.
    pub(crate) fn digits<'a>(&self, x: Component<'a, Stored>, level: usize) -> Digits<'a> {
        let primes = self.chain().level(level);
        let coefficients = Polys::take(primes.len(), 1, self.ring_degree());
        let coefficients = coefficients.map_rows(0, |_, prime, _, row| {
            self.domain().coefficients(row.copy(x.row(prime)), &primes[prime])
        });
        let prepare = |digit: &Digit| {
            let residues = coefficients.residues().of_primes(digit.primes.clone());
            Some(residues.prepare(digit.conversion.as_ref()?))
        };
        let prepared = self.chain().digits(level).iter().map(prepare).collect();
        let evaluated = self.domain().as_evaluations(x.of()).map(|of| x.within(of));
        Digits { level, coefficients, prepared, evaluated }
    }

    /// One digit modulo a target prime.
    fn lift<'r>(
        &self,
        row: RowMut<'r, Blank>,
        digits: &Digits<'_>,
        digit: usize,
        target: Target<'_>,
    ) -> RowMut<'r, Eval> {
        let (chain, level) = (self.chain(), digits.level);
        let Digit { primes, conversion, .. } = &chain.digits(level)[digit];
        let row = if let Some(index) = within(target, primes) {
            row.copy(digits.coefficients.row(index, 0))
        } else if let (Some(conversion), Some(prepared)) = (conversion, &digits.prepared[digit]) {
            row.convert(conversion, target.in_key, prepared.of(0))
        } else {
            // Centred: digits in [0, q) would pile up at the roots next to 1.
            let source = chain.level(level)[primes.start].value();
            row.recentre(digits.coefficients.row(primes.start, 0), source, target.prime)
        };
        row.forward(target.prime)
    }

    /// All digits modulo a target prime; one that needs no lifting is read where it is.
    fn lift_all<'a>(
        &self,
        rows: Scratch<'a>,
        digits: &Digits<'a>,
        target: Target<'_>,
    ) -> Vec<Row<'a, Eval>> {
        // Nested in the loop over primes: an idle thread takes half of another's digits.
        rows.each_in_parallel(|(digit, row)| match self.evaluated(digits, digit, target) {
            Some(evaluated) => evaluated,
            None => self.lift(row, digits, digit, target).into_row(),
        })
    }

    /// A digit modulo a prime of its own as evaluations, where the polynomial came as such.
    fn evaluated<'a>(
        &self,
        digits: &Digits<'a>,
        digit: usize,
        target: Target<'_>,
    ) -> Option<Row<'a, Eval>> {
        let index = within(target, &self.chain().digits(digits.level)[digit].primes)?;
        digits.evaluated.map(|evaluated| evaluated.row(index))
    }

    /// All digits modulo all target primes.
    pub(crate) fn lift_everywhere(&self, digits: &Digits<'_>) -> LiftedDigits {
        let targets: Vec<Target<'_>> = self.chain().targets(digits.level).collect();
        let count = self.chain().digits(digits.level).len();
        let lifted = Polys::take(targets.len(), count, self.ring_degree());
        let polys = lifted.map_primes(0, |_, index, rows| {
            rows.map(|digit, row| match self.evaluated(digits, digit, targets[index]) {
                Some(evaluated) => row.copy(evaluated),
                None => self.lift(row, digits, digit, targets[index]),
            })
        });
        LiftedDigits { level: digits.level, polys }
    }

    /// `(sum_d x_d b_d, sum_d x_d a_d)` of the lifted digits of a level, modulo a target prime.
    fn key_products<'r, 'a>(
        &self,
        out: [RowMut<'r, Blank>; 2],
        digits: impl Iterator<Item = Row<'a, Eval>>,
        key: &'a SwitchKey,
        level: usize,
        target: Target<'_>,
    ) -> [RowMut<'r, Eval>; 2] {
        let pairs = key.polys.residues();
        let pair = |digit: &Digit| pairs.pair(target.in_key, digit.index);
        inner_products(out, digits, self.chain().digits(level).iter().map(pair), target.prime)
    }

    /// Switches a key: two components at the digits' level.
    pub(crate) fn switch(&self, digits: &Digits<'_>, key: &SwitchKey) -> Polys<Stored> {
        let level = digits.level;
        let rows = self.chain().digits(level).len();
        self.switch_sums(Levels::same(level), rows, |rows, target, out| {
            let lifted = self.lift_all(rows, digits, target);
            self.key_products(out, lifted.into_iter(), key, level, target)
        })
    }

    /// Switches the key of the last of three components and brings all to a level below in one division: one rounding,
    /// and fewer transforms than a division by the special primes and another one. For ciphertexts that are evaluations.
    pub(crate) fn switch_down(&self, a: &Ciphertext, key: &SwitchKey, to: usize) -> Polys<Stored> {
        let from = a.level();
        let digits = self.digits(a.residues().component(2), from);
        let evaluations = self.evaluations_of(a);
        let rows = self.chain().digits(from).len();
        self.switch_sums(Levels { from, to }, rows, |rows, target, out| {
            let lifted = self.lift_all(rows, &digits, target);
            let [mut b, mut a] = self.key_products(out, lifted.into_iter(), key, from, target);
            if let Some(index) = target.in_level {
                // The division takes the special primes away again.
                let special = self.chain().special_factor(target.prime);
                b.add_scaled(evaluations.row(index, 0), special, target.prime);
                a.add_scaled(evaluations.row(index, 1), special, target.prime);
            }
            [b, a]
        })
    }

    /// The products of digits that were lifted before with a key, modulo a target prime: undivided.
    pub(crate) fn lifted_products<'r>(
        &self,
        out: [RowMut<'r, Blank>; 2],
        digits: &LiftedDigits,
        target: Target<'_>,
        key: &SwitchKey,
    ) -> [RowMut<'r, Eval>; 2] {
        let lifted = digits.polys.residues().rows(target.index);
        self.key_products(out, lifted, key, digits.level, target)
    }

    /// Switches a key with digits that were lifted before: two components at the digits' level.
    pub(crate) fn switch_lifted(&self, digits: &LiftedDigits, key: &SwitchKey) -> Polys<Stored> {
        self.switch_sums(Levels::same(digits.level), 0, |_, target, out| {
            self.lifted_products(out, digits, target, key)
        })
    }

    /// Two components that `sum(scratch, target, out)` gives modulo each target prime, divided by the special
    /// primes and those that the result has not, and rounded.
    pub(crate) fn switch_sums(
        &self,
        levels: Levels,
        scratch: usize,
        sum: impl for<'r> Fn(Scratch<'_>, Target<'_>, [RowMut<'r, Blank>; 2]) -> [RowMut<'r, Eval>; 2]
        + Send
        + Sync,
    ) -> Polys<Stored> {
        let Accumulated { divisors, kept } = self.accumulate(levels, scratch, sum);
        let (division, after) =
            (self.chain().key_division(levels.from, levels.to), self.chain().level(levels.to));
        self.divide_rounded(division, after, divisors, kept, |prime, _, row| {
            self.domain().store_evaluations(row, &after[prime])
        })
    }

    /// The sums of [`Self::switch_sums`], undivided.
    fn accumulate(
        &self,
        levels: Levels,
        scratch: usize,
        sum: impl for<'r> Fn(Scratch<'_>, Target<'_>, [RowMut<'r, Blank>; 2]) -> [RowMut<'r, Eval>; 2]
        + Send
        + Sync,
    ) -> Accumulated {
        let (n, chain) = (self.ring_degree(), self.chain());
        assert!(!chain.special().is_empty(), "keys exist only where special primes do");
        let targets = chain.targets(levels.from).collect::<Vec<_>>();
        let division = chain.key_division(levels.from, levels.to);
        let kept = Polys::take(division.kept.len(), 2, n);
        let divisors = Polys::take(division.divisors.len(), 2, n);
        let words = kept.len();
        let sum_divisors = || {
            divisors.map_pairs(scratch, |scratch, divisor, _, out| {
                let target = targets[division.divisors[divisor]];
                sum(scratch, target, out).map(|row| row.inverse(target.prime))
            })
        };
        let sum_kept = || {
            kept.map_pairs(scratch, |scratch, prime, _, out| match division.kept[prime] {
                Some(index) => sum(scratch, targets[index], out),
                None => out.map(RowMut::zero),
            })
        };
        let (divisors, kept) = parallel::both(words, sum_divisors, sum_kept);
        Accumulated { divisors, kept }
    }
}

/// The order of a target prime in the level, if it is one of these.
fn within(target: Target<'_>, primes: &Range<usize>) -> Option<usize> {
    target.in_level.filter(|index| primes.contains(index))
}
