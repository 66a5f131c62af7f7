use std::ops::Range;

use hesc_math::rns::{Conversion, Factor, Prime, Reducer};
use hesc_math::{Modulus, RingIndex};

use super::Spec;
use crate::SchemeError;

/// The primes of a set and what moving between them takes: all tables that depend on the level.
#[derive(Debug)]
pub(crate) struct Chain {
    ring: RingIndex,
    /// `coeff_moduli`, then `special_moduli`.
    primes: Vec<Prime>,
    levels: usize,
    /// For each digit and number of its primes in use, from those to all primes; empty where a
    /// digit is a single prime, whose residue is lifted as it is.
    digits: Vec<Vec<Conversion>>,
    /// Rounded division by the special primes.
    specials: Option<Division>,
    /// Rounded division by the last prime, by level; none at level 1.
    drops: Vec<Division>,
}

/// What a rounded division by some primes `D` takes: `(x - [x]_D) / D`. For BGV the remainder is a
/// multiple of the plaintext modulus, so that the plaintext changes by the factor `1 / D` only.
#[derive(Debug)]
pub(crate) struct Division {
    /// From the primes divided by to those that stay.
    pub remainder: Conversion,
    /// `D^-1` modulo those.
    pub inverses: Vec<Factor>,
}

impl Division {
    fn new(divisors: &[Prime], stay: &[Prime], spec: &Spec) -> Self {
        let targets = reducers(stay);
        // t [x / t]_D is congruent to x modulo D and to 0 modulo t, the factor on all noise.
        let t = spec.noise_factor();
        let inverse = |q: Modulus| q.inverse(t % q.value());
        let remainder = Conversion::with_constants(divisors, &targets, inverse, |_| t);
        let inverses = stay.iter().map(|prime| prime.factor(inverse_of(divisors, prime.modulus())));
        Self { remainder, inverses: inverses.collect() }
    }
}

/// The reductions of primes, without their transforms.
pub(crate) fn reducers(primes: &[Prime]) -> Vec<Reducer> {
    primes.iter().map(|prime| **prime).collect()
}

/// The product of primes modulo `q`.
pub(crate) fn product_of(primes: &[Prime], q: Modulus) -> u64 {
    primes.iter().fold(1 % q.value(), |product, p| q.mul(product, p.value() % q.value()))
}

/// The inverse of the product of primes modulo a prime `q`.
pub(crate) fn inverse_of(primes: &[Prime], q: Modulus) -> u64 {
    q.inverse(product_of(primes, q))
}

impl Chain {
    pub(crate) fn new(spec: &Spec) -> Result<Self, SchemeError> {
        let ring = spec.ring;
        let primes = spec
            .coeff_moduli
            .iter()
            .chain(&spec.special_moduli)
            .map(|&q| Prime::new(ring, q))
            .collect::<Result<Vec<_>, _>>()?;
        let levels = spec.coeff_moduli.len();
        let (coefficient, special) = primes.split_at(levels);
        let all = reducers(&primes);
        let mut digits = Vec::new();
        if special.len() > 1 {
            for digit in coefficient.chunks(special.len()) {
                let conversion = |count| Conversion::new(&digit[..count], &all);
                digits.push((1..=digit.len()).map(conversion).collect());
            }
        }
        let specials = (!special.is_empty()).then(|| Division::new(special, coefficient, spec));
        let drops = (1..levels)
            .map(|last| Division::new(&primes[last..=last], &primes[..last], spec))
            .collect();
        Ok(Self { ring, levels, digits, specials, drops, primes })
    }

    /// The ring that the primes are of.
    pub(crate) fn ring(&self) -> RingIndex {
        self.ring
    }

    /// All primes: `coeff_moduli`, then `special_moduli`.
    pub(crate) fn primes(&self) -> &[Prime] {
        &self.primes
    }

    /// The primes in use at a level.
    pub(crate) fn level(&self, level: usize) -> &[Prime] {
        &self.primes[..level]
    }

    /// Primes of fresh ciphertexts.
    pub(crate) fn levels(&self) -> usize {
        self.levels
    }

    /// The special primes.
    pub(crate) fn special(&self) -> &[Prime] {
        &self.primes[self.levels..]
    }

    /// Indices of the primes that key switching at a level works with.
    pub(crate) fn targets(&self, level: usize) -> impl Iterator<Item = usize> + Clone + use<'_> {
        (0..level).chain(self.levels..self.primes.len())
    }

    /// Digits of a ciphertext at a level.
    pub(crate) fn digit_count(&self, level: usize) -> usize {
        level.div_ceil(self.special().len().max(1))
    }

    /// The primes of a digit at a level.
    pub(crate) fn digit(&self, digit: usize, level: usize) -> Range<usize> {
        let size = self.special().len().max(1);
        digit * size..((digit + 1) * size).min(level)
    }

    /// From a digit to all primes; none for a digit of a single prime in a set of such.
    pub(crate) fn digit_conversion(&self, digit: usize, level: usize) -> Option<&Conversion> {
        self.digits.get(digit).map(|by_count| &by_count[self.digit(digit, level).len() - 1])
    }

    /// Division by the special primes, if there are any.
    pub(crate) fn special_division(&self) -> Option<&Division> {
        self.specials.as_ref()
    }

    /// Division by the last prime of a level above 1.
    pub(crate) fn last_division(&self, level: usize) -> &Division {
        &self.drops[level - 2]
    }
}
