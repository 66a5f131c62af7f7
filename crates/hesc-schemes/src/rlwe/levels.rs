//! Fewer primes: modulus switching and rescaling.

use hesc_math::ring::{Coeff, Prime};

use super::chain::Division;
use super::ciphertext::State;
use super::polys::Polys;
use super::residues::{RowDomain, RowMut, Stored};
use super::{Ciphertext, Rlwe};
use crate::SchemeError;

/// Bits of noise budget that a product gives up for fewer primes: what rounding adds to noise that is larger.
pub(crate) const SPENT_ON_SPEED: f64 = 0.25;

/// The state that a ciphertext has at a lower level, and how it comes there.
#[derive(Clone, Copy)]
pub(crate) struct ModulusSwitch {
    pub state: State,
    /// Whether primes are dropped for nothing instead of divided by.
    pub dropped: bool,
}

/// When primes are dropped for nothing instead of divided by.
#[derive(Clone, Copy)]
pub(crate) enum Dropping {
    Never,
    /// Where that leaves as much noise budget, but for a quarter of a bit.
    ForSpeed,
    /// Where no part of what is known of the noise is larger then: less noise never ends as more.
    NoWorse,
}

impl Rlwe {
    /// Refuses a level that the set does not have.
    ///
    /// # Errors
    /// [`SchemeError::NoSuchLevel`].
    pub fn check_level(&self, level: usize) -> Result<(), SchemeError> {
        let levels = self.levels();
        if (1..=levels).contains(&level) {
            Ok(())
        } else {
            Err(SchemeError::NoSuchLevel { level, levels })
        }
    }

    /// Refuses a level that a ciphertext cannot be brought to: above its own, or none.
    pub(crate) fn check_reachable(a: &State, level: usize) -> Result<(), SchemeError> {
        if (1..=a.level).contains(&level) {
            Ok(())
        } else {
            Err(SchemeError::LastLevel { level: a.level, wanted: level })
        }
    }

    /// One level down, the plaintext unchanged: [`Self::mod_switch_to`].
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::LastLevel`], [`SchemeError::NoiseBudget`].
    pub fn mod_switch(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.mod_switch_to(a, a.level().saturating_sub(1))
    }

    /// Down to a level, the plaintext unchanged. BFV and BGV divide by the primes that the level has not, and so
    /// does the noise; CKKS drops them, scale and error unchanged.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`]; [`SchemeError::LastLevel`] for a level above the ciphertext's, or
    /// none; [`SchemeError::NoiseBudget`].
    pub fn mod_switch_to(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        Self::check_reachable(&a.state, level)?;
        Ok(self.apply_switch(a, self.modulus_switch(&a.state, level, Dropping::Never)?))
    }

    /// A factor of a product brought to a level, from 1 to its own: primes are dropped for nothing where a
    /// division would leave no more noise budget. In BGV the plaintext's factor then depends on which was done, so that
    /// sums, which need equal factors, take [`Self::mod_switch_to`].
    pub(crate) fn lowered(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, SchemeError> {
        Ok(self.apply_switch(a, self.modulus_switch(&a.state, level, Dropping::ForSpeed)?))
    }

    /// The state of [`Self::lowered`].
    pub(crate) fn lowered_state(&self, a: &State, level: usize) -> Result<State, SchemeError> {
        Ok(self.modulus_switch(a, level, Dropping::ForSpeed)?.state)
    }

    /// How a ciphertext comes to a level not above its own.
    pub(crate) fn modulus_switch(
        &self,
        a: &State,
        level: usize,
        dropping: Dropping,
    ) -> Result<ModulusSwitch, SchemeError> {
        if level == a.level {
            return Ok(ModulusSwitch { state: *a, dropped: false });
        }
        if self.operations().has_scale() {
            return Ok(ModulusSwitch { state: self.dropped_state(a, level)?, dropped: true });
        }
        let divided = self.divided_state(a, level);
        match self.dropped_instead(a, level, dropping, divided.as_ref().ok()) {
            Some(state) => Ok(ModulusSwitch { state, dropped: true }),
            None => Ok(ModulusSwitch { state: divided?, dropped: false }),
        }
    }

    /// The state where primes are dropped for nothing, if that is as good as what a division leaves, or the division
    /// leaves nothing that decrypts.
    pub(crate) fn dropped_instead(
        &self,
        a: &State,
        level: usize,
        dropping: Dropping,
        divided: Option<&State>,
    ) -> Option<State> {
        if !self.operations().survives_drops() || !self.chain().is_within(level, a.level) {
            return None;
        }
        let budget = |state: &State| self.budget_of(state);
        let enough = |dropped: &State| match (dropping, divided) {
            (Dropping::Never, _) => false,
            (_, None) => true,
            (Dropping::ForSpeed, Some(divided)) => {
                budget(dropped) >= budget(divided) - SPENT_ON_SPEED
            }
            (Dropping::NoWorse, Some(divided)) => dropped.noise.is_within(divided.noise),
        };
        self.dropped_state(a, level).ok().filter(enough)
    }

    /// A ciphertext at the level of a switch.
    pub(crate) fn apply_switch(&self, a: &Ciphertext, switch: ModulusSwitch) -> Ciphertext {
        let ModulusSwitch { state, dropped } = switch;
        let polys = if state.level == a.level() {
            a.polys.clone()
        } else if dropped {
            self.dropped_polys(a, state.level)
        } else {
            self.divided_polys(a, state.level)
        };
        Ciphertext { tag: a.tag, state, polys }
    }

    /// At a level whose primes are among those there are: scale, message and noise as they were.
    pub(crate) fn dropped_state(&self, a: &State, level: usize) -> Result<State, SchemeError> {
        self.checked(State { level, ..*a })
    }

    /// What a ciphertext has modulo the primes of a level, which are among its own.
    pub(crate) fn dropped_polys(&self, a: &Ciphertext, level: usize) -> Polys<Stored> {
        let own = a.residues();
        let (present, wanted) = (self.chain().places(a.level()), self.chain().places(level));
        let kept = Polys::take(wanted.len(), own.components(), own.ring_degree());
        kept.map_primes_in_pass(0, |_, prime, out| {
            out.copy(own.at(present.partition_point(|&place| place < wanted[prime])))
        })
    }

    /// At a level below, divided by the primes that it has not and rounded.
    pub(crate) fn divided_state(&self, a: &State, level: usize) -> Result<State, SchemeError> {
        Self::check_reachable(a, level)?;
        let quotient = &self.chain().division(a.level, level).quotient;
        let noise = self.divided_noise(a, quotient.value());
        let mut divided = State { level, noise, ..*a };
        self.operations().divide(&mut divided, quotient);
        self.checked(divided)
    }

    /// Every component divided by the primes that a level below has not, and rounded.
    pub(crate) fn divided_polys(&self, a: &Ciphertext, level: usize) -> Polys<Stored> {
        let (chain, own) = (self.chain(), a.residues());
        let (before, after) = (chain.level(a.level()), chain.level(level));
        let division = chain.division(a.level(), level);
        let (components, n) = (own.components(), own.ring_degree());
        let divisors = Polys::take(division.divisors.len(), components, n);
        let divisors = divisors.map_rows(0, |_, divisor, component, row| {
            let prime = division.divisors[divisor];
            self.domain().coefficients(row.copy(own.row(prime, component)), &before[prime])
        });
        let kept = Polys::take(after.len(), components, n);
        self.divide_rounded(division, after, divisors, kept, |prime, component, row| {
            let kept = division.kept[prime].map(|before| own.row(before, component));
            if let Some(kept) = kept { row.copy(kept) } else { row.zero() }
        })
    }

    /// `(A x - [A x]_D) / D` modulo the primes `after` a division by those of `D`, see [`Division`]: `divisors` is `x` modulo
    /// `D`, and `stored` gives `x` modulo a prime that stays, zero modulo one that joins, from a row of `kept`.
    pub(super) fn divide_rounded<D: RowDomain>(
        &self,
        division: &Division,
        after: &[Prime],
        divisors: Polys<Coeff>,
        kept: Polys<D>,
        stored: impl for<'r> Fn(usize, usize, RowMut<'r, D>) -> RowMut<'r, Stored> + Send + Sync,
    ) -> Polys<Stored> {
        let prepared = divisors.residues().prepare(&division.remainder);
        kept.map_rows(1, |scratch, prime, component, row| {
            let q = &after[prime];
            let mut quotient = stored(prime, component, row);
            let remainder =
                scratch.row().convert(&division.remainder, prime, prepared.of(component));
            let remainder = self.domain().store_coefficients(remainder, q);
            quotient.subtract_and_scale(remainder.row(), division.inverses[prime], q);
            quotient
        })
    }
}
