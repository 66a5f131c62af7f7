//! Fewer primes: modulus switching and rescaling.

use super::buffer::Buffer;
use super::ciphertext::State;
use super::residues::{Residues, RowMut};
use super::{Ciphertext, Rlwe, parallel};
use crate::SchemeError;

/// Bits of noise budget that a product gives up for fewer primes: what rounding adds to noise that is larger.
pub(crate) const SPENT_ON_SPEED: f64 = 0.25;

/// A ciphertext's state at a level, and how it comes there.
#[derive(Clone, Copy)]
pub(crate) struct WayDown {
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
        Ok(self.brought(a, self.way_down(&a.state, level, Dropping::Never)?))
    }

    /// A factor of a product brought to a level, from 1 to its own: primes are dropped for nothing where a
    /// division would leave no more noise budget. In BGV the plaintext's factor then depends on which was done, so that
    /// sums, which need equal factors, take [`Self::mod_switch_to`].
    pub(crate) fn lowered(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, SchemeError> {
        Ok(self.brought(a, self.way_down(&a.state, level, Dropping::ForSpeed)?))
    }

    /// The state of [`Self::lowered`].
    pub(crate) fn lowered_state(&self, a: &State, level: usize) -> Result<State, SchemeError> {
        Ok(self.way_down(a, level, Dropping::ForSpeed)?.state)
    }

    /// How a ciphertext comes to a level not above its own.
    pub(crate) fn way_down(
        &self,
        a: &State,
        level: usize,
        dropping: Dropping,
    ) -> Result<WayDown, SchemeError> {
        if level == a.level {
            return Ok(WayDown { state: *a, dropped: false });
        }
        if self.operations().has_scale() {
            return Ok(WayDown { state: self.dropped_state(a, level)?, dropped: true });
        }
        let divided = self.divided_state(a, level);
        match self.dropped_instead(a, level, dropping, divided.as_ref().ok()) {
            Some(state) => Ok(WayDown { state, dropped: true }),
            None => Ok(WayDown { state: divided?, dropped: false }),
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

    /// A ciphertext that has come down this way.
    pub(crate) fn brought(&self, a: &Ciphertext, way: WayDown) -> Ciphertext {
        let WayDown { state, dropped } = way;
        let words = if state.level == a.level() {
            a.words.clone()
        } else if dropped {
            self.kept_words(a, state.level)
        } else {
            self.divided_words(a, state.level)
        };
        Ciphertext { tag: a.tag, state, words }
    }

    /// At a level whose primes are among those there are: scale, message and noise as they were.
    pub(crate) fn dropped_state(&self, a: &State, level: usize) -> Result<State, SchemeError> {
        self.checked(State { level, ..*a })
    }

    /// The words of the primes that a level has.
    pub(crate) fn kept_words(&self, a: &Ciphertext, level: usize) -> Buffer {
        let (own, length) = (self.residues(a), a.components() * self.ring_degree());
        let (there, wanted) = (self.chain().places(a.level()), self.chain().places(level));
        let mut words = Buffer::take(length * wanted.len());
        for (out, place) in words.chunks_exact_mut(length).zip(wanted) {
            out.copy_from_slice(own.at(there.partition_point(|other| other < place)));
        }
        words
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

    /// The words of every component divided by the primes that a level below has not, and rounded.
    pub(crate) fn divided_words(&self, a: &Ciphertext, level: usize) -> Buffer {
        let (n, chain, components) = (self.ring_degree(), self.chain(), a.components());
        let (before, after) = (chain.level(a.level()), chain.level(level));
        let division = chain.division(a.level(), level);
        let own = self.residues(a);
        let mut divisors = Buffer::take(division.divisors.len() * components * n);
        parallel::for_each_row(&mut divisors, (components, n), 0, |_, divisor, component, out| {
            let (prime, mut row) = (division.divisors[divisor], RowMut::assume(out));
            row.copy(own.row(prime, component));
            self.domain().coefficients(row, &before[prime]);
        });
        let divisors = Residues::assume(&divisors, components, n);
        let prepared =
            parallel::prepare(&division.remainder, components, n, |component, divisor| {
                divisors.row(divisor, component)
            });
        let mut words = Buffer::take(after.len() * components * n);
        parallel::for_each_row(&mut words, (components, n), n, |scratch, prime, component, out| {
            let (q, mut out) = (&after[prime], RowMut::assume(out));
            match division.kept[prime] {
                Some(kept) => out.copy(own.row(kept, component)),
                None => out.clear(),
            }
            let mut remainder = RowMut::assume(scratch);
            remainder.convert(&division.remainder, prime, prepared.of(component));
            let remainder = self.domain().rest_coefficients(remainder, q);
            out.subtract_and_scale(remainder.row(), division.inverses[prime], q);
        });
        words
    }
}
