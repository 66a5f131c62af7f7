//! Fewer primes: modulus switching and rescaling.

use hesc_math::residues::kernels;

use super::buffer::Buffer;
use super::policy::SPENT_ON_SPEED;
use super::{Ciphertext, Rlwe, parallel};
use crate::SchemeError;

/// How a ciphertext comes to a level, with everything but the words that it then has.
pub(super) enum WayDown {
    Here,
    Dropped(Ciphertext),
    Divided(Ciphertext),
}

impl WayDown {
    /// Everything but the words.
    pub(super) fn shell(&self) -> Option<&Ciphertext> {
        match self {
            Self::Here => None,
            Self::Dropped(shell) | Self::Divided(shell) => Some(shell),
        }
    }

    /// Whether primes are dropped for nothing.
    pub(super) fn is_dropped(&self) -> bool {
        matches!(self, Self::Dropped(_))
    }
}

/// When primes are dropped for nothing instead of divided by.
#[derive(Clone, Copy)]
pub(super) enum Dropping {
    Never,
    /// Where that leaves as much room, but for a quarter of a bit.
    ForSpeed,
    /// Where no part of what is known of the noise is larger then: less noise never ends as more.
    NoWorse,
}

impl Rlwe {
    /// One level down, the plaintext unchanged: [`Self::mod_switch_to`].
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::LastLevel`], [`SchemeError::NoiseBudget`].
    pub fn mod_switch(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.mod_switch_to(a, a.level.saturating_sub(1))
    }

    /// Down to a level, the plaintext unchanged. BFV and BGV divide by the primes that the level has not, and so
    /// does the noise; CKKS drops them, scale and error unchanged.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`]; [`SchemeError::LastLevel`] for a level above the ciphertext's, or
    /// none; [`SchemeError::NoiseBudget`].
    pub fn mod_switch_to(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        if level > a.level {
            return Err(SchemeError::LastLevel { level: a.level, wanted: level });
        }
        self.check_not_last(a, level)?;
        Ok(self.brought(a, self.way_down(a, level, Dropping::Never)?))
    }

    /// A factor of a product brought to a level, from 1 to its own: primes are dropped for nothing where a
    /// division would leave no more room. In BGV the plaintext's factor then depends on which was done, so that
    /// sums, which need equal factors, take [`Self::mod_switch_to`].
    pub(super) fn lowered(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, SchemeError> {
        Ok(self.brought(a, self.way_down(a, level, Dropping::ForSpeed)?))
    }

    /// What [`Self::lowered`] makes of everything but the words.
    pub(super) fn lowered_shell(
        &self,
        a: &Ciphertext,
        level: usize,
    ) -> Result<Ciphertext, SchemeError> {
        let way = self.way_down(a, level, Dropping::ForSpeed)?;
        Ok(way.shell().unwrap_or(a).shell())
    }

    pub(super) fn way_down(
        &self,
        a: &Ciphertext,
        level: usize,
        dropping: Dropping,
    ) -> Result<WayDown, SchemeError> {
        let (own, chain) = (self.differences(), self.chain());
        if level == a.level {
            return Ok(WayDown::Here);
        }
        if own.has_scale() {
            return self.dropped_shell(a, level).map(WayDown::Dropped);
        }
        let divided = self.divided_shell(a, level);
        if own.survives_drops() && chain.is_within(level, a.level) {
            let room = |shell: &Ciphertext| self.noise_budget(shell);
            let enough = |dropped: &Ciphertext| match (dropping, &divided) {
                (Dropping::Never, _) => false,
                (_, Err(_)) => true,
                (Dropping::ForSpeed, Ok(divided)) => {
                    room(dropped) >= room(divided) - SPENT_ON_SPEED
                }
                (Dropping::NoWorse, Ok(divided)) => dropped.noise.is_within(divided.noise),
            };
            if let Some(shell) = self.dropped_shell(a, level).ok().filter(enough) {
                return Ok(WayDown::Dropped(shell));
            }
        }
        divided.map(WayDown::Divided)
    }

    /// A ciphertext that has come down in one of these ways.
    fn brought(&self, a: &Ciphertext, way: WayDown) -> Ciphertext {
        match way {
            WayDown::Here => a.clone(),
            WayDown::Dropped(shell) => {
                Ciphertext { words: self.kept_words(a, shell.level), ..shell }
            }
            WayDown::Divided(shell) => {
                Ciphertext { words: self.divided_words(a, shell.level), ..shell }
            }
        }
    }

    pub(crate) fn check_not_last(&self, a: &Ciphertext, level: usize) -> Result<(), SchemeError> {
        if level == 0 {
            return Err(SchemeError::LastLevel { level: a.level, wanted: level });
        }
        Ok(())
    }

    /// At a level whose primes are among those there are: scale, message and noise as they were.
    pub(super) fn dropped_shell(
        &self,
        a: &Ciphertext,
        level: usize,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_noise(a.noise, level, a.scale)?;
        Ok(Ciphertext { level, ..a.shell() })
    }

    /// The words of the primes that a level has.
    pub(super) fn kept_words(&self, a: &Ciphertext, level: usize) -> Buffer {
        let (size, there) = (self.limb_words(a), self.chain().places(a.level));
        let wanted = self.chain().places(level);
        let mut words = Buffer::take(size * wanted.len());
        for (out, place) in words.chunks_exact_mut(size).zip(wanted) {
            let limb = there.partition_point(|other| other < place);
            out.copy_from_slice(&a.words[limb * size..][..size]);
        }
        words
    }

    /// At a level below, divided by the primes that it has not and rounded.
    pub(super) fn divided_shell(
        &self,
        a: &Ciphertext,
        level: usize,
    ) -> Result<Ciphertext, SchemeError> {
        let quotient = &self.chain().division(a.level, level).quotient;
        let mut result = Ciphertext { level, ..a.shell() };
        result.noise = self.divided_noise(a, quotient.value());
        self.differences().divide(&mut result, quotient);
        self.check_noise(result.noise, level, result.scale)?;
        Ok(result)
    }

    /// Every part divided by the last prime and rounded.
    pub(crate) fn divide_by_last(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let shell = self.divided_shell(a, a.level - 1)?;
        Ok(Ciphertext { words: self.divided_words(a, a.level - 1), ..shell })
    }

    /// The words of every part divided by the primes that a level below has not, and rounded.
    pub(super) fn divided_words(&self, a: &Ciphertext, level: usize) -> Buffer {
        let (n, chain) = (self.ring_degree(), self.chain());
        let (before, after) = (chain.level(a.level), chain.level(level));
        let division = chain.division(a.level, level);
        let room = division.remainder.prepared_words(n);
        let part_of = |limb: usize, part: usize| &a.words[(limb * a.size + part) * n..][..n];
        let mut coefficients = Buffer::take(division.divisors.len() * a.size * n);
        parallel::for_each_chunk(&mut coefficients, n, 0, |_, index, words| {
            let (limb, part) = (division.divisors[index / a.size], index % a.size);
            words.copy_from_slice(part_of(limb, part));
            self.domain().to_coefficients(words, &before[limb]);
        });
        let mut prepared = Buffer::take(a.size * room);
        parallel::prepare(&division.remainder, &mut prepared, n, |part, i| {
            &coefficients[(i * a.size + part) * n..][..n]
        });
        let mut words = Buffer::take(after.len() * a.size * n);
        parallel::for_each_chunk(&mut words, n, n, |row, index, out| {
            let (limb, part) = (index / a.size, index % a.size);
            let prime = &after[limb];
            match division.kept[limb] {
                Some(kept) => out.copy_from_slice(part_of(kept, part)),
                None => out.fill(0),
            }
            division.remainder.row(row, limb, &prepared[part * room..][..room]);
            self.domain().accept_coefficients(row, prime);
            kernels::subtract_scale(out, row, division.inverses[limb], prime);
        });
        words
    }
}
