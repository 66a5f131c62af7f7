use std::ops::Range;
use std::sync::OnceLock;

use hesc_math::residues::{Factor, Reducer};
use hesc_math::ring::Prime;
use hesc_math::rns::Conversion;
use hesc_math::{Modulus, RingIndex};

use super::Spec;
use super::prime_set::PrimeSet;
use crate::SchemeError;

/// The primes of a set and what moving between them takes: all tables that depend on the level. Keys are for all
/// primes; a level uses the residues and digits of keys that it has.
#[derive(Debug)]
pub(crate) struct Chain {
    ring: RingIndex,
    /// `coeff_moduli`, then `special_moduli`.
    primes: Vec<Prime>,
    coefficient: usize,
    levels: Vec<Level>,
    /// Rounded division from each level to each not above, made when it is wanted: few of the many pairs are.
    divisions: Vec<OnceLock<Box<Division>>>,
    /// The same from a level and the special primes.
    key_divisions: Vec<OnceLock<Box<Division>>>,
    noise_factor: u64,
}

/// A set of primes.
#[derive(Debug)]
struct Level {
    set: PrimeSet,
    places: Vec<usize>,
    primes: Vec<Prime>,
    log2: f64,
    digits: Vec<Digit>,
}

/// What key switching cuts a polynomial in: the primes that a level has of a few neighbours among all.
#[derive(Debug)]
pub(crate) struct Digit {
    /// Which digit of a key it is.
    pub index: usize,
    /// Its primes, by their order in the level.
    pub primes: Range<usize>,
    /// From its primes to all primes; none in sets with digits of a single prime, whose residue is lifted as it is.
    pub conversion: Option<Conversion>,
}

/// A prime that key switching at a level works modulo: the level's primes, then the special ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    pub prime: &'a Prime,
    /// Its order among the targets.
    pub index: usize,
    /// Its order among all primes of the set, which keys have.
    pub in_key: usize,
    /// Its order in the level; none for special primes.
    pub in_level: Option<usize>,
}

/// What a rounded division by some primes `D` takes, after a product with others `A`: `(A x - [A x]_D) / D`. For
/// BGV the remainder is a multiple of the plaintext modulus, so that the plaintext changes by the factor `A / D`
/// only. Primes of `A` join those that stay.
#[derive(Debug)]
pub(crate) struct Division {
    /// The primes divided by, by their order before.
    pub divisors: Vec<usize>,
    /// For each prime of the result its order before; none for primes that join.
    pub kept: Vec<Option<usize>>,
    /// From the primes divided by to those of the result, divided by `A` for those that stay.
    pub remainder: Conversion,
    /// `D^-1` modulo those, times `A` for those that stay.
    pub inverses: Vec<Factor>,
    /// `D / A`.
    pub quotient: Quotient,
}

/// A quotient of products of primes.
#[derive(Debug)]
pub(crate) struct Quotient {
    pub divisors: Vec<Prime>,
    pub added: Vec<Prime>,
}

impl Quotient {
    /// How many times smaller a division makes a number.
    pub fn value(&self) -> f64 {
        let product = |primes: &[Prime]| primes.iter().map(|p| p.value() as f64).product::<f64>();
        product(&self.divisors) / product(&self.added)
    }
}

impl Division {
    /// From some primes to others, of which those that were not there join.
    fn new(from: &[Prime], to: &[Prime], noise_factor: u64) -> Self {
        let at = |prime: &Prime, primes: &[Prime]| {
            primes.iter().position(|other| other.value() == prime.value())
        };
        let divisors: Vec<usize> =
            (0..from.len()).filter(|&i| at(&from[i], to).is_none()).collect();
        let divided: Vec<Prime> = divisors.iter().map(|&i| from[i].clone()).collect();
        let kept: Vec<Option<usize>> = to.iter().map(|prime| at(prime, from)).collect();
        let joins = |(prime, kept): (&Prime, &Option<usize>)| kept.is_none().then(|| prime.clone());
        let added: Vec<Prime> = to.iter().zip(&kept).filter_map(joins).collect();
        // t [x / t]_D is congruent to x modulo D and to 0 modulo t, the factor on all noise.
        let t = noise_factor;
        let before = |q: Modulus| q.mul(q.inverse(t % q.value()), product_of(&added, q));
        // Modulo a prime that joins A is zero: there is nothing but the remainder.
        let gained = |q: Modulus| match product_of(&added, q) {
            0 => 1,
            product => product,
        };
        let after = |q: Modulus| q.mul(t % q.value(), q.inverse(gained(q)));
        let inverse = |prime: &Prime| {
            let q = prime.modulus();
            prime.factor(q.mul(inverse_of(&divided, q), gained(q)))
        };
        Self {
            remainder: Conversion::with_constants(&divided, &reducers(to), before, after),
            inverses: to.iter().map(inverse).collect(),
            divisors,
            kept,
            quotient: Quotient { divisors: divided, added },
        }
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
    pub(crate) fn new(spec: &Spec, noise_factor: u64) -> Result<Self, SchemeError> {
        let ring = spec.ring;
        let primes = spec
            .coeff_moduli
            .iter()
            .chain(&spec.special_moduli)
            .map(|&q| Prime::new(ring, q))
            .collect::<Result<Vec<_>, _>>()?;
        let (coefficient, special) = primes.split_at(spec.coeff_moduli.len());
        let all = reducers(&primes);
        let levels: Vec<Level> = spec
            .level_sets()
            .into_iter()
            .map(|set| Level::new(set, coefficient, special.len(), &all))
            .collect();
        let pairs = levels.len() * (levels.len() + 1) / 2;
        let cells = || (0..pairs).map(|_| OnceLock::new()).collect();
        let (divisions, key_divisions) = (cells(), cells());
        let coefficient = coefficient.len();
        Ok(Self { ring, coefficient, levels, divisions, key_divisions, noise_factor, primes })
    }

    /// The factor on all noise: `t` in BGV.
    pub(crate) fn noise_factor(&self) -> u64 {
        self.noise_factor
    }

    /// The ring that the primes are of.
    pub(crate) fn ring(&self) -> RingIndex {
        self.ring
    }

    /// All primes: `coeff_moduli`, then `special_moduli`.
    pub(crate) fn primes(&self) -> &[Prime] {
        &self.primes
    }

    fn at(&self, level: usize) -> &Level {
        &self.levels[level - 1]
    }

    /// The primes in use at a level, by their places.
    pub(crate) fn set(&self, level: usize) -> PrimeSet {
        self.at(level).set
    }

    /// The primes in use at a level.
    pub(crate) fn level(&self, level: usize) -> &[Prime] {
        &self.at(level).primes
    }

    /// Where the primes of a level stand among all.
    pub(crate) fn places(&self, level: usize) -> &[usize] {
        &self.at(level).places
    }

    /// `log2` of the product of the primes of a level.
    pub(crate) fn log2(&self, level: usize) -> f64 {
        self.at(level).log2
    }

    /// Levels; the highest, of fresh ciphertexts, has all primes but the special ones.
    pub(crate) fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The special primes.
    pub(crate) fn special(&self) -> &[Prime] {
        &self.primes[self.coefficient..]
    }

    /// The primes that key switching at a level works modulo.
    pub(crate) fn targets(&self, level: usize) -> impl Iterator<Item = Target<'_>> {
        let places = self.places(level).iter().copied();
        let coefficient = places.len();
        let all = places.chain(self.coefficient..self.primes.len()).enumerate();
        all.map(move |(index, place)| {
            let in_level = (index < coefficient).then_some(index);
            Target { prime: &self.primes[place], index, in_key: place, in_level }
        })
    }

    /// The product of the special primes modulo another prime, or one of them.
    pub(crate) fn special_factor(&self, q: &Prime) -> Factor {
        q.factor(product_of(self.special(), q.modulus()))
    }

    /// Digits of a ciphertext at a level.
    pub(crate) fn digits(&self, level: usize) -> &[Digit] {
        &self.at(level).digits
    }

    /// Digits of a key.
    pub(crate) fn key_digits(&self) -> &[Digit] {
        self.digits(self.levels())
    }

    /// Whether a level has no prime that the other has not.
    pub(crate) fn is_within(&self, level: usize, other: usize) -> bool {
        self.at(level).set.is_within(self.at(other).set)
    }

    /// Division from a level to one below.
    pub(crate) fn division(&self, from: usize, to: usize) -> &Division {
        let cell = &self.divisions[from * (from - 1) / 2 + to - 1];
        cell.get_or_init(|| {
            Box::new(Division::new(self.level(from), self.level(to), self.noise_factor))
        })
    }

    /// Division from a level and the special primes to that level, or to one below.
    pub(crate) fn key_division(&self, from: usize, to: usize) -> &Division {
        let cell = &self.key_divisions[from * (from - 1) / 2 + to - 1];
        cell.get_or_init(|| {
            let all = [self.level(from), self.special()].concat();
            Box::new(Division::new(&all, self.level(to), self.noise_factor))
        })
    }
}

impl Level {
    fn new(set: PrimeSet, pool: &[Prime], specials: usize, all: &[Reducer]) -> Self {
        let places: Vec<usize> = set.places().collect();
        let primes: Vec<Prime> = places.iter().map(|&place| pool[place].clone()).collect();
        let size = specials.max(1);
        let digits = (0..pool.len().div_ceil(size)).filter_map(|index| {
            let first = places.partition_point(|&place| place < index * size);
            let own = first..places.partition_point(|&place| place < (index + 1) * size);
            let conversion = || Conversion::new(&primes[own.clone()], all);
            let conversion = (specials > 1 && !own.is_empty()).then(conversion);
            (!own.is_empty()).then_some(Digit { index, primes: own, conversion })
        });
        let digits = digits.collect();
        let log2 = primes.iter().map(|q| (q.value() as f64).log2()).sum();
        Self { set, places, digits, log2, primes }
    }
}
