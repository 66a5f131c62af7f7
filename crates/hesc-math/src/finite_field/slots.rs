use std::sync::OnceLock;

use super::GaloisRing;
use super::construction::order;
use super::powers::Powers;
use super::structure::{Dimension, dimensions};
use crate::ring::{Convolver, GroupAlgebra};
use crate::{MathError, Modulus, RingIndex};

/// The slots of plaintexts modulo `p^r` in a ring of odd index `m`: `phi(m) / d` copies of `GR(p^r, d)`, `d` the
/// order of `p` modulo `m`.
///
/// A plaintext `a` has in the slot of a unit `u` the value `a(Y^u)`, `Y` the ring's root of unity; the slots of
/// `u` and `u p` have conjugate values, so that one of them stands for both. Slots are numbered along the
/// [dimensions](Self::dimensions) of the group of units modulo powers of `p`, the last dimension's next to each
/// other. A value is given by its `d` coordinates in a normal basis `x, sigma(x), ...`: then messages and plaintext
/// coefficients are the same array but for one convolution over the Galois group, by
/// `B[s] = trace(x K'[s])` and back by `trace(x' K[s])`, `K'` and `K` what coefficients and evaluations are
/// convolved with to become each other, and `x'` dual to `x`.
#[derive(Debug, Clone)]
pub struct Slots {
    ring: GaloisRing,
    dimensions: Vec<Dimension>,
    algebra: GroupAlgebra,
    /// The unit `u` of each slot, and the inverse of `p`.
    units: Vec<usize>,
    by_p: usize,
    /// For each slot and coordinate its place in the array.
    places: Vec<u32>,
    normal: Vec<u64>,
    dual: Vec<u64>,
    /// `trace(x' Y^e)` for all `e`.
    dual_traces: Vec<u64>,
    /// Made when they are wanted.
    powers: OnceLock<Powers>,
    encoder: Convolver,
    decoder: Convolver,
    /// The coordinates of the number 1, all the same, and what turns a coordinate of a number into it.
    one: u64,
    by_one: u64,
}

/// Coordinates of a slot, at most: tables take time with the cube of it, and whoever reads a set makes them.
const MOST_DEGREE: usize = 256;

/// Coordinates of a slot modulo a power of this prime: its order modulo the index, by arithmetic alone. None for a
/// power-of-two ring and for a prime that divides the index.
pub fn slot_degree(index: RingIndex, prime: u64) -> Option<usize> {
    let m = index.value() as u64;
    let has_slots = !index.is_power_of_two()
        && prime > 1
        && !index.odd_primes().any(|p| prime.is_multiple_of(p as u64));
    has_slots.then(|| order(prime % m, m))
}

impl Slots {
    /// The slots of a ring of odd index modulo `prime^power`. Cost: that of [`GaloisRing::new`] and about
    /// `m d` products of words.
    ///
    /// # Errors
    /// [`MathError::RingIndex`] for a power of two; [`MathError::GaloisRing`] for a prime that divides the index,
    /// [`MathError::SlotDegree`] for one whose order is beyond 256; [`MathError::Modulus`] for moduli beyond about `2^22`.
    pub fn new(index: RingIndex, prime: u64, power: u32) -> Result<Self, MathError> {
        let m = index.value();
        let degree = slot_degree(index, prime).filter(|degree| *degree > MOST_DEGREE);
        if let Some(degree) = degree {
            return Err(MathError::SlotDegree { degree, most: MOST_DEGREE });
        }
        let refused = MathError::GaloisRing { index: m as u64, prime, power };
        let modulus = prime.checked_pow(power).filter(|modulus| *modulus > 1).ok_or(refused)?;
        let algebra = GroupAlgebra::new(index, Modulus::new(modulus))?;
        let ring = GaloisRing::new(m as u64, prime, power)?;
        let units = index.evaluation_units();
        let p = (prime % m as u64) as usize;
        let dimensions = dimensions(m, &units, p);
        let (normal, dual) = ring.normal_basis();
        let by_p = index.inverse_element(p);
        let of_slots = units_of_slots(&dimensions, m);
        let places = places(&of_slots, &units, by_p, ring.degree());
        let encoder = algebra.convolver(&encoding_kernel(index, &ring, &normal));
        let dual_traces = traces(&ring, &dual);
        let decoder: Vec<u64> = units.iter().map(|&unit| dual_traces[unit]).collect();
        let decoder = algebra.convolver(&decoder);
        let (one, by_one) = (ring.trace(&dual), ring.trace(&normal));
        Ok(Self {
            ring,
            dimensions,
            algebra,
            units: of_slots,
            by_p,
            places,
            normal,
            dual,
            dual_traces,
            powers: OnceLock::new(),
            encoder,
            decoder,
            one,
            by_one,
        })
    }

    /// The ring that each slot is a copy of.
    pub fn ring(&self) -> &GaloisRing {
        &self.ring
    }

    /// The cyclic factors of the group of slots, the longest first.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// Slots.
    pub fn count(&self) -> usize {
        self.places.len() / self.ring.degree()
    }

    /// The element whose conjugates are the basis of coordinates.
    pub fn normal(&self) -> &[u64] {
        &self.normal
    }

    /// The element whose conjugates are dual to it: `trace(sigma^j(dual) v)` is the `j`-th coordinate of `v`.
    pub fn dual(&self) -> &[u64] {
        &self.dual
    }

    /// Plaintext coefficients of coordinates, `d` for each slot, all below `p^r`. Cost: one convolution.
    ///
    /// # Panics
    /// If there are not `phi(m)` coordinates.
    pub fn encode(&self, coordinates: &[u64]) -> Vec<u64> {
        assert_eq!(coordinates.len(), self.places.len(), "a coordinate for each coefficient");
        let mut array = vec![0; coordinates.len()];
        for (&place, &x) in self.places.iter().zip(coordinates) {
            array[place as usize] = x;
        }
        self.algebra.convolve(&array, &self.encoder)
    }

    /// The coordinates of plaintext coefficients. Cost: one convolution.
    ///
    /// # Panics
    /// If there are not `phi(m)` coefficients.
    pub fn decode(&self, coefficients: &[u64]) -> Vec<u64> {
        let array = self.algebra.convolve(coefficients, &self.decoder);
        self.places.iter().map(|&place| array[place as usize]).collect()
    }

    fn powers(&self) -> &Powers {
        let make = || Powers::new(&self.ring, &self.units, self.by_p, &self.dual_traces);
        self.powers.get_or_init(make)
    }

    /// Coordinates, in the normal basis, of values that are given by their coefficients in `1, X, ..., X^(d - 1)`:
    /// `d` of them for each slot. `X` is another root of unity in each slot. Cost: `d^2` products for each slot, and
    /// `d^3` once.
    pub fn from_powers(&self, coefficients: &[u64]) -> Vec<u64> {
        self.powers().coordinates(&self.ring, coefficients)
    }

    /// The coefficients in `1, X, ..., X^(d - 1)` of values that are given by their coordinates: the other way.
    pub fn to_powers(&self, coordinates: &[u64]) -> Vec<u64> {
        self.powers().coefficients(&self.ring, coordinates)
    }

    /// Coordinates of the elements, one in each slot, that are dual to `X^i`: the trace of a product with them is the
    /// coefficient of `X^i` (`carpov2016packing`, equation (4)).
    ///
    /// # Panics
    /// If `i` is not below the degree of a slot.
    pub fn dual_power(&self, i: usize) -> Vec<u64> {
        self.powers().dual(&self.ring, i, &self.coordinates(&self.dual))
    }

    /// The coordinates of a value.
    pub fn coordinates(&self, value: &[u64]) -> Vec<u64> {
        let duals = self.ring.conjugates(&self.dual);
        duals.iter().map(|dual| self.ring.trace(&self.ring.multiply(dual, value))).collect()
    }

    /// The value with these coordinates.
    pub fn value(&self, coordinates: &[u64]) -> Vec<u64> {
        self.ring.combination(&self.ring.conjugates(&self.normal), coordinates)
    }

    /// The one coordinate that a number has `d` times.
    pub fn coordinate_of_number(&self, number: u64) -> u64 {
        self.ring.modulus().mul(number, self.one)
    }

    /// The number of a value with these coordinates; none where they differ.
    pub fn number(&self, coordinates: &[u64]) -> Option<u64> {
        let (first, rest) = coordinates.split_first()?;
        let alike = rest.iter().fold(0, |differences, x| differences | (x ^ first)) == 0;
        alike.then(|| self.ring.modulus().mul(*first, self.by_one))
    }
}

/// The unit of each slot, along the dimensions.
fn units_of_slots(dimensions: &[Dimension], m: usize) -> Vec<usize> {
    let mut slots = vec![1 % m];
    for dimension in dimensions {
        let along = |slot: &usize| {
            let next = move |x: &usize| Some(x * dimension.generator % m);
            std::iter::successors(Some(*slot), next).take(dimension.length).collect::<Vec<_>>()
        };
        slots = slots.iter().flat_map(along).collect();
    }
    slots
}

/// For each slot of unit `u` and each coordinate `j` the place of `u p^-j`.
fn places(slots: &[usize], units: &[usize], by_p: usize, d: usize) -> Vec<u32> {
    let m = units.iter().max().map_or(1, |largest| largest + 1);
    let mut place_of = vec![0; m];
    units.iter().enumerate().for_each(|(place, &unit)| place_of[unit] = place as u32);
    let coordinates = |slot: &usize| {
        let places = std::iter::successors(Some(*slot), |x| Some(x * by_p % m)).take(d);
        places.map(|unit| place_of[unit]).collect::<Vec<_>>()
    };
    slots.iter().flat_map(coordinates).collect()
}

/// `trace(x Y^e)` for each `e` below the order of `Y`: a linear recurrence.
fn traces(ring: &GaloisRing, x: &[u64]) -> Vec<u64> {
    let (d, m, q) = (ring.degree(), ring.index() as usize, ring.modulus());
    let powers = std::iter::successors(Some(x.to_vec()), |x| Some(ring.multiply(x, &ring.root())));
    let mut traces: Vec<u64> = powers.take(d.min(m)).map(|x| ring.trace(&x)).collect();
    while traces.len() < m {
        let terms = ring.polynomial().iter().zip(&traces[traces.len() - d..]);
        let sum = terms.fold(0, |sum, (&c, &t)| q.add(sum, q.mul(c, t)));
        traces.push(q.neg(sum));
    }
    traces
}

/// `trace(x K'[s])`, with `K'[s]` the product over the primes of the index of `(w^-e - 1) / p`, written out: a sum
/// over sets of primes of signed powers of `Y`.
fn encoding_kernel(index: RingIndex, ring: &GaloisRing, x: &[u64]) -> Vec<u64> {
    let (m, q) = (index.value(), ring.modulus());
    let traces = traces(ring, x);
    // 1 modulo one prime, 0 modulo the others.
    let unit = |p: usize| (m / p..m).step_by(m / p).find(|x| x % p == 1).unwrap_or(1);
    let terms: Vec<(usize, bool)> = index.odd_primes().fold(vec![(0, false)], |terms, p| {
        let with = terms.iter().map(|&(sum, sign)| ((sum + unit(p)) % m, sign));
        let without = terms.iter().map(|&(sum, sign)| (sum, !sign));
        with.chain(without).collect()
    });
    let by_index = q.inverse_of_unit(m as u64).unwrap_or(1);
    let entry = |exponent: usize| {
        let term = |sum, &(unit, negated): &(usize, bool)| {
            let trace = traces[(m - exponent * unit % m) % m];
            q.add(sum, if negated { q.neg(trace) } else { trace })
        };
        q.mul(terms.iter().fold(0, term), by_index)
    };
    index.exponents().into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residues::Reducer;
    use crate::ring::Automorphism;

    const SETS: [(usize, u64, u32); 8] = [
        (3, 2, 1),
        (15, 2, 3),
        (31, 2, 1),
        (255, 2, 1),
        (77, 3, 2),
        (105, 2, 2),
        (51, 103, 1),
        (4369, 2, 1),
    ];

    fn random(count: usize, modulus: u64) -> Vec<u64> {
        let next = |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        let words = std::iter::successors(Some(count as u64), next).skip(1);
        words.take(count).map(|x| (x >> 9) % modulus).collect()
    }

    /// A plaintext's value at a power of Y, by the definition.
    fn value_at(slots: &Slots, index: RingIndex, coefficients: &[u64], unit: usize) -> Vec<u64> {
        let (ring, m) = (slots.ring(), index.value());
        let powers =
            std::iter::successors(Some(ring.constant(1)), |x| Some(ring.multiply(x, &ring.root())));
        let powers: Vec<Vec<u64>> = powers.take(m).collect();
        let terms = index.exponents().into_iter().zip(coefficients);
        terms.fold(ring.constant(0), |sum, (e, &c)| {
            ring.add(&sum, &ring.scaled(&powers[e * unit % m], c))
        })
    }

    #[test]
    fn slots_have_the_values_that_were_encoded() {
        for (index, prime, power) in SETS {
            let index = RingIndex::new(index).unwrap();
            let slots = Slots::new(index, prime, power).unwrap();
            let (n, d) = (index.degree(), slots.ring().degree());
            assert_eq!(slots.count() * d, n);
            let coordinates = random(n, slots.ring().modulus().value());
            let coefficients = slots.encode(&coordinates);
            assert_eq!(slots.decode(&coefficients), coordinates, "{}", index.value());
            let mut unit = 1;
            for (i, of_slot) in coordinates.chunks(d).enumerate().take(5) {
                let expected = slots.value(of_slot);
                assert_eq!(value_at(&slots, index, &coefficients, unit), expected, "{i}");
                assert_eq!(slots.coordinates(&expected), of_slot);
                let along = slots.dimensions().last().map_or(1, |last| last.generator);
                unit = unit * along % index.value();
                if slots.dimensions().last().is_none_or(|last| i + 1 == last.length) {
                    break;
                }
            }
        }
    }

    /// An automorphism by a generator rolls the slots along its dimension; what comes around is twisted.
    #[test]
    fn rotations_are_rotations() {
        for (index, prime, power) in SETS {
            let index = RingIndex::new(index).unwrap();
            let slots = Slots::new(index, prime, power).unwrap();
            let (d, modulus) = (slots.ring().degree(), slots.ring().modulus().value());
            let coordinates = random(index.degree(), modulus);
            let coefficients = slots.encode(&coordinates);
            let reducer = Reducer::new(modulus);
            let mut step = slots.count();
            for dimension in slots.dimensions() {
                step /= dimension.length;
                let automorphism = Automorphism::new(index, dimension.generator);
                let mut image = vec![0; coefficients.len()];
                automorphism.coefficients(&mut image, &coefficients, &reducer);
                let image = slots.decode(&image);
                for slot in 0..slots.count() {
                    let at = slot / step % dimension.length;
                    let last = at + 1 == dimension.length;
                    let from = if last { slot - at * step } else { slot + step };
                    let mut expected = coordinates[from * d..][..d].to_vec();
                    if last {
                        expected.rotate_right(dimension.twist);
                    }
                    assert_eq!(image[slot * d..][..d], expected, "{} {slot}", index.value());
                }
            }
        }
    }

    #[test]
    fn numbers_have_equal_coordinates() {
        for (index, prime, power) in SETS {
            let index = RingIndex::new(index).unwrap();
            let slots = Slots::new(index, prime, power).unwrap();
            let (d, modulus) = (slots.ring().degree(), slots.ring().modulus().value());
            for number in [0, 1, modulus - 1] {
                let coordinates = vec![slots.coordinate_of_number(number); d];
                assert_eq!(slots.value(&coordinates), slots.ring().constant(number));
                assert_eq!(slots.number(&coordinates), Some(number));
            }
            // Two values in any places among the first eight: differences of several coordinates do not cancel.
            for places in 1..(1u32 << d.min(8)) - u32::from(d <= 8) {
                let mut coordinates = vec![modulus - 1; d];
                coordinates[..d.min(8)].iter_mut().enumerate().for_each(|(place, x)| {
                    *x = if places >> place & 1 == 1 { 0 } else { *x };
                });
                assert_eq!(slots.number(&coordinates), None, "{places:b}");
            }
        }
    }

    /// Values by powers of X are those of the plaintext with these coefficients, and what is dual to a power has its
    /// coefficient as trace: all by plaintexts, whose products are those of polynomials.
    #[test]
    fn powers_are_those_of_x_in_every_slot() {
        for (m, p, r) in [(31, 2, 1), (31, 2, 10), (255, 2, 1), (77, 3, 2), (51, 2, 3), (3, 7, 1)] {
            let index = RingIndex::new(m).unwrap();
            let slots = Slots::new(index, p, r).unwrap();
            let (d, t) = (slots.ring().degree(), slots.ring().modulus());
            let reducer = Reducer::new(t.value());
            for j in 0..d {
                let power = index.power(j);
                let words: Vec<u64> =
                    power.iter().map(|&x| if x < 0 { t.neg(1) } else { x as u64 }).collect();
                let mut expected = vec![0; d];
                expected[j] = 1;
                let coordinates = slots.decode(&words);
                assert_eq!(
                    slots.to_powers(&coordinates),
                    expected.repeat(slots.count()),
                    "{m}: {j}"
                );
                assert_eq!(slots.from_powers(&expected.repeat(slots.count())), coordinates);
                for i in 0..d {
                    let value = |all: &[u64], slot: usize| slots.value(&all[slot * d..][..d]);
                    let dual = slots.dual_power(i);
                    for slot in 0..slots.count() {
                        let [a, b] = [&dual, &coordinates].map(|x| value(x, slot));
                        let trace = slots.ring().trace(&slots.ring().multiply(&a, &b));
                        assert_eq!(trace, u64::from(i == j), "{m}: {i}, {j} in {slot}");
                    }
                }
            }
            // The image of X under an automorphism is a power of X.
            let element = slots.dimensions().first().map_or(1, |first| first.generator);
            let automorphism = Automorphism::new(index, element);
            let x: Vec<u64> =
                index.power(1).iter().map(|&x| if x < 0 { t.neg(1) } else { x as u64 }).collect();
            let mut image = vec![0; x.len()];
            automorphism.coefficients(&mut image, &x, &reducer);
            let expected: Vec<u64> = index
                .power(element)
                .iter()
                .map(|&x| if x < 0 { t.neg(1) } else { x as u64 })
                .collect();
            assert_eq!(image, expected);
        }
    }
}
