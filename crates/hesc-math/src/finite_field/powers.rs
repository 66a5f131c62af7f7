//! Values of slots by powers of `X`, as `carpov2016packing` packs them: another basis in each slot.

use super::Slots;
use super::matrix;

/// For each slot the coordinates of the powers of `X` in the normal basis, a row each, and the inverse.
#[derive(Debug, Clone)]
pub(super) struct Powers {
    rows: Vec<Vec<u64>>,
    inverses: Vec<Vec<u64>>,
}

impl Powers {
    pub(super) fn new(slots: &Slots) -> Self {
        let (d, m) = (slots.ring().degree(), slots.ring().index() as usize);
        let traces = slots.dual_traces();
        let by_p = slots.by_p();
        let images: Vec<usize> =
            std::iter::successors(Some(1 % m), |x| Some(x * by_p % m)).take(d).collect();
        // X is Y^u in the slot of u, and the l-th coordinate of Y^e the trace of x' sigma^-l(Y^e).
        let of_slot = |unit: &usize| -> Vec<u64> {
            let power = |j: usize| unit * j % m;
            let row = |j: usize| images.iter().map(move |image| power(j) * image % m);
            (0..d).flat_map(row).map(|e| traces[e]).collect()
        };
        let rows: Vec<Vec<u64>> = slots.units().iter().map(of_slot).collect();
        let q = slots.ring().modulus();
        // Powers of a root of unity that generates the ring are a basis.
        let inverse = |row: &Vec<u64>| matrix::inverse(row, d, q).unwrap_or_default();
        let inverses = rows.iter().map(inverse).collect();
        Self { rows, inverses }
    }
}

impl Slots {
    /// Coordinates, in the normal basis, of values that are given by their coefficients in `1, X, ..., X^(d - 1)`:
    /// `d` of them for each slot. `X` is another root of unity in each slot. Cost: `d^2` products for each slot, and
    /// `d^3` once.
    pub fn from_powers(&self, coefficients: &[u64]) -> Vec<u64> {
        self.changed(coefficients, &self.powers().rows)
    }

    /// The coefficients in `1, X, ..., X^(d - 1)` of values that are given by their coordinates: the other way.
    pub fn to_powers(&self, coordinates: &[u64]) -> Vec<u64> {
        self.changed(coordinates, &self.powers().inverses)
    }

    fn changed(&self, values: &[u64], by: &[Vec<u64>]) -> Vec<u64> {
        let (d, q) = (self.ring().degree(), self.ring().modulus());
        let slots = values.chunks_exact(d).zip(by);
        slots.flat_map(|(value, matrix)| matrix::row_times(value, matrix, q)).collect()
    }

    /// Coordinates of the elements, one in each slot, that are dual to `X^i`: the trace of a product with them is the
    /// coefficient of `X^i` (`carpov2016packing`, equation (4)).
    ///
    /// # Panics
    /// If `i` is not below the degree of a slot.
    pub fn dual_power(&self, i: usize) -> Vec<u64> {
        let (d, q) = (self.ring().degree(), self.ring().modulus());
        assert!(i < d, "powers of X below the degree are a basis");
        let dual = self.coordinates(self.dual());
        // Their coordinates in the basis dual to the normal one are columns of the inverses.
        let of_slot = |inverse: &Vec<u64>| {
            let mut coordinates = vec![0; d];
            for (l, row) in inverse.chunks_exact(d).enumerate() {
                for (k, &x) in dual.iter().enumerate() {
                    let place = (k + l) % d;
                    coordinates[place] = q.add(coordinates[place], q.mul(row[i], x));
                }
            }
            coordinates
        };
        self.powers().inverses.iter().flat_map(of_slot).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RingIndex;
    use crate::residues::Reducer;
    use crate::ring::Automorphism;

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
