use zeroize::Zeroizing;

use super::RingIndex;
use super::convolution::root_of_order;
use crate::primes::primes_one_modulo;
use crate::residues::{Factor, Reducer};
use crate::{MathError, Modulus};

/// Convolution over the Galois group of an odd ring, of integers modulo a small number.
///
/// Arrays have a place for each element of the group, as coefficients and evaluations have
/// ([`RingIndex::exponents`]). Plaintexts of slots are messages convolved with one array. Computed exactly, modulo
/// a prime of 61 bits: along an axis whose length is a power of two as it stands, along others inside twice their
/// length.
#[derive(Debug, Clone)]
pub struct GroupAlgebra {
    axes: Vec<Axis>,
    modulus: Reducer,
    q: Reducer,
    /// Places of an array.
    length: usize,
    /// Words of the work that it takes.
    room: usize,
}

#[derive(Debug, Clone)]
struct Axis {
    /// Places.
    length: usize,
    /// Those it is computed with.
    size: usize,
    roots: Vec<Factor>,
    inverse_roots: Vec<Factor>,
}

/// An array that others are convolved with: its frequencies, divided by their number.
#[derive(Debug, Clone)]
pub struct Convolver(Vec<Factor>);

impl GroupAlgebra {
    /// Over the group of this ring, of integers modulo a number.
    ///
    /// # Errors
    /// [`MathError::Modulus`] for moduli so large that sums of products exceed 60 bits, about `2^22`;
    /// [`MathError::RingIndex`] for a power of two.
    pub fn new(index: RingIndex, modulus: Modulus) -> Result<Self, MathError> {
        let length = index.degree();
        if index.is_power_of_two() {
            let max = super::MAX_RING_DEGREE;
            return Err(MathError::RingIndex { index: index.value(), max });
        }
        let largest = u128::from(modulus.value()).pow(2) * length as u128;
        if largest >> 60 != 0 {
            let modulus = modulus.value();
            return Err(MathError::Modulus { modulus, max_bits: 22, step: 1 });
        }
        // Axes are shorter than 2^16, hence computed with at most 2^17 places.
        let q = Reducer::new(primes_one_modulo(1 << 17, 61, 1)?[0]);
        let of_axis = |axis: super::index::Axis| {
            let length = axis.powers.len();
            let padded = (2 * length - 1).next_power_of_two();
            let size = if length.is_power_of_two() { length } else { padded };
            let root = root_of_order(q.modulus(), size.max(2));
            let powers = |root: u64| {
                let powers = std::iter::successors(Some(1), move |x| Some(q.product(*x, root)));
                powers.take(size / 2).map(|w| q.factor(w)).collect()
            };
            let (roots, inverse_roots) = (powers(root), powers(q.modulus().inverse(root)));
            Axis { length, size, roots, inverse_roots }
        };
        let axes: Vec<Axis> = index.axes().into_iter().map(of_axis).collect();
        let room = axes.iter().map(|axis| axis.size).product();
        Ok(Self { axes, modulus: Reducer::new(modulus.value()), q, length, room })
    }

    /// An array of residues to convolve others with. Cost: one transform.
    ///
    /// # Panics
    /// If it has not a place for each element of the group.
    pub fn convolver(&self, array: &[u64]) -> Convolver {
        let mut words = self.spread(array);
        self.transform(&mut words);
        let scale = self.q.modulus().inverse(self.room as u64);
        Convolver(words.iter().map(|&x| self.q.factor(self.q.product(x, scale))).collect())
    }

    /// `sum_t array[t] kernel[s - t]` for each `s`, reduced. The array may be secret. Cost: two transforms.
    ///
    /// # Panics
    /// If the array has not a place for each element of the group.
    pub fn convolve(&self, array: &[u64], kernel: &Convolver) -> Vec<u64> {
        let mut words = self.spread(array);
        self.transform(&mut words);
        for (x, factor) in words.iter_mut().zip(&kernel.0) {
            *x = self.q.scaled(*x, *factor);
        }
        self.transform_back(&mut words);
        let mut out = vec![0u64; self.length];
        self.for_each_place(&words, |place, x| out[place] += x);
        for x in &mut out {
            *x = self.modulus.remainder(*x);
        }
        out
    }

    /// An array among zeros.
    fn spread(&self, array: &[u64]) -> Zeroizing<Vec<u64>> {
        assert_eq!(array.len(), self.length, "an array has a place for each element of the group");
        let mut words = Zeroizing::new(vec![0; self.room]);
        for (place, &x) in array.iter().enumerate() {
            let (mut rest, mut step, mut at) = (place, 1, 0);
            for axis in self.axes.iter().rev() {
                at += rest % axis.length * step;
                (rest, step) = (rest / axis.length, step * axis.size);
            }
            words[at] = x;
        }
        words
    }

    /// What lies beyond an axis' end belongs to its beginning.
    fn for_each_place(&self, words: &[u64], mut body: impl FnMut(usize, u64)) {
        for (at, &x) in words.iter().enumerate() {
            let (mut rest, mut step, mut place) = (at, 1, 0);
            for axis in self.axes.iter().rev() {
                place += rest % axis.size % axis.length * step;
                (rest, step) = (rest / axis.size, step * axis.length);
            }
            body(place, x);
        }
    }

    /// To frequencies, bit-reversed along each axis.
    fn transform(&self, words: &mut [u64]) {
        let q = &self.q;
        let mut step = self.room;
        for axis in &self.axes {
            step /= axis.size;
            let mut half = axis.size / 2;
            while half > 0 {
                for pair in words.chunks_exact_mut(2 * half * step) {
                    let (low, high) = pair.split_at_mut(half * step);
                    let rows = low.chunks_exact_mut(step).zip(high.chunks_exact_mut(step));
                    let roots = axis.roots.iter().step_by(axis.size / 2 / half);
                    for ((low, high), root) in rows.zip(roots) {
                        for (a, b) in low.iter_mut().zip(high) {
                            let difference = *a + q.value() - *b;
                            *a = q.once(*a + *b);
                            *b = q.scaled(difference, *root);
                        }
                    }
                }
                half /= 2;
            }
        }
    }

    /// The way back, times the number of words.
    fn transform_back(&self, words: &mut [u64]) {
        let q = &self.q;
        let mut step = 1;
        for axis in self.axes.iter().rev() {
            let mut half = 1;
            while half < axis.size {
                for pair in words.chunks_exact_mut(2 * half * step) {
                    let (low, high) = pair.split_at_mut(half * step);
                    let rows = low.chunks_exact_mut(step).zip(high.chunks_exact_mut(step));
                    let roots = axis.inverse_roots.iter().step_by(axis.size / 2 / half);
                    for ((low, high), root) in rows.zip(roots) {
                        for (a, b) in low.iter_mut().zip(high) {
                            let turned = q.scaled(*b, *root);
                            *b = q.once(*a + q.value() - turned);
                            *a = q.once(*a + turned);
                        }
                    }
                }
                half *= 2;
            }
            step *= axis.size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::definition::random;
    use super::*;

    /// Of single ones, at all places: the group's law; of others by the definition.
    #[test]
    fn convolutions_are_those_of_the_group() {
        for (index, modulus) in [(3, 2), (31, 1024), (15, 7), (77, 5), (105, 1 << 20), (255, 2)] {
            let ring = RingIndex::new(index).unwrap();
            let algebra = GroupAlgebra::new(ring, Modulus::new(modulus)).unwrap();
            let (n, units) = (ring.degree(), ring.evaluation_units());
            let place = |unit: usize| units.iter().position(|&u| u == unit).unwrap();
            let [a, b] = [1, 2].map(|seed| random(n, modulus, seed));
            let kernel = algebra.convolver(&b);
            let mut expected = vec![0; n];
            for (i, x) in a.iter().enumerate() {
                for (j, y) in b.iter().enumerate() {
                    let at = place(units[i] * units[j] % index);
                    expected[at] = (expected[at] + x * y) % modulus;
                }
            }
            assert_eq!(algebra.convolve(&a, &kernel), expected, "{index}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let ring = RingIndex::new(13107).unwrap();
        assert!(GroupAlgebra::new(ring, Modulus::new(1 << 23)).is_ok());
        assert!(matches!(
            GroupAlgebra::new(ring, Modulus::new(1 << 25)),
            Err(MathError::Modulus { .. })
        ));
        let even = RingIndex::new(1024).unwrap();
        let refused = GroupAlgebra::new(even, Modulus::new(2));
        assert!(matches!(refused, Err(MathError::RingIndex { .. })));
    }
}
