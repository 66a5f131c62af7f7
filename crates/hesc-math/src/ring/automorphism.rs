//! The automorphisms `zeta -> zeta^g` of a ring, in both domains.

use super::RingIndex;
use super::convolution::reversed;
use crate::residues::Reducer;

/// One automorphism. Cheap beside a key switch: `O(N)`.
#[derive(Debug, Clone)]
pub struct Automorphism(Moves);

#[derive(Debug, Clone)]
enum Moves {
    /// Of a power of two.
    Tables {
        /// For each coefficient of the result the one it comes from, times two, plus one if negated.
        coefficients: Vec<u32>,
        /// For each evaluation of the result the one it is.
        evaluations: Vec<u32>,
    },
    /// Of an odd index: by how many places the array is rotated along each axis, in both domains.
    Shifts(Vec<Shift>),
}

/// A rotation to the left along an axis.
#[derive(Debug, Clone, Copy)]
struct Shift {
    length: usize,
    by: usize,
}

impl Automorphism {
    /// `zeta -> zeta^element` in this ring; `X -> X^element` for powers of two.
    ///
    /// # Panics
    /// If the ring has no such automorphism: [`RingIndex::has_automorphism`].
    pub fn new(index: RingIndex, element: usize) -> Self {
        assert!(
            index.has_automorphism(element),
            "an automorphism's exponent is below the index and has no common divisor with it"
        );
        Self(if index.is_power_of_two() {
            Self::tables(index.degree(), element)
        } else {
            Self::shifts(index, element)
        })
    }

    fn tables(ring_degree: usize, element: usize) -> Moves {
        let order = 2 * ring_degree;
        let mut coefficients = vec![0; ring_degree];
        for i in 0..ring_degree {
            let image = i * element % order;
            let negated = image >= ring_degree;
            coefficients[image % ring_degree] = 2 * i as u32 + u32::from(negated);
        }
        let bits = ring_degree.ilog2();
        let reverse = |i: usize| reversed(i, bits);
        // Place i holds the value at root^(2 bitrev(i) + 1); that of the image is the value at the
        // element's power of it.
        let source = |i| reverse((2 * reverse(i) + 1) * element % order / 2) as u32;
        Moves::Tables { coefficients, evaluations: (0..ring_degree).map(source).collect() }
    }

    /// Modulo each prime of the index the element is a power of the generator: by so many places.
    fn shifts(index: RingIndex, element: usize) -> Moves {
        let shift = |axis: super::index::Axis| {
            let power = axis.powers.iter().position(|power| *power == element % axis.prime);
            Shift { length: axis.powers.len(), by: power.unwrap_or(0) }
        };
        Moves::Shifts(index.axes().into_iter().map(shift).collect())
    }

    /// The image of a row of coefficients.
    pub fn coefficients(&self, out: &mut [u64], row: &[u64], q: &Reducer) {
        let q = q.value();
        match &self.0 {
            Moves::Tables { coefficients, .. } => {
                for (out, &from) in out.iter_mut().zip(coefficients) {
                    let x = row[from as usize / 2];
                    let negated = u64::from(from & 1).wrapping_neg();
                    // q - 0 is q: reduced once more.
                    let y = (x ^ negated).wrapping_sub(negated).wrapping_add(q & negated);
                    *out = y.min(y.wrapping_sub(q));
                }
            }
            Moves::Shifts(shifts) => rotate(out, row, shifts),
        }
    }

    /// The image of a row of evaluations.
    pub fn evaluations(&self, out: &mut [u64], row: &[u64]) {
        match &self.0 {
            Moves::Tables { evaluations, .. } => {
                for (out, &from) in out.iter_mut().zip(evaluations) {
                    *out = row[from as usize];
                }
            }
            Moves::Shifts(shifts) => rotate(out, row, shifts),
        }
    }
}

/// Rotates an array along its axes, the last of which has its places next to each other.
fn rotate(out: &mut [u64], row: &[u64], shifts: &[Shift]) {
    let Some((Shift { length, by }, inner)) = shifts.split_first() else {
        out.copy_from_slice(row);
        return;
    };
    let step = row.len() / length;
    let (start, end) = row.split_at(by * step);
    let (moved, around) = out.split_at_mut(end.len());
    if inner.is_empty() {
        moved.copy_from_slice(end);
        around.copy_from_slice(start);
        return;
    }
    for (out, row) in [(moved, end), (around, start)] {
        for (out, row) in out.chunks_exact_mut(step).zip(row.chunks_exact(step)) {
            rotate(out, row, inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::definition::{Definition, INDICES, random};
    use super::*;
    use crate::ring::Prime;

    #[test]
    fn both_domains_agree_with_the_definition() {
        for index in INDICES {
            let ring = RingIndex::new(index).unwrap();
            let (n, q) = (ring.degree(), ring.ntt_primes(31, 1).unwrap()[0]);
            let (prime, definition) = (Prime::new(ring, q).unwrap(), Definition::new(index, q));
            let a = random(n, q, index as u64);
            let elements = [1, 2, 3, 4, 5, 9, 127, index / 2 + 1, index - 1];
            for element in elements.into_iter().filter(|&e| ring.has_automorphism(e)) {
                let automorphism = Automorphism::new(ring, element);
                let mut image = vec![0; n];
                automorphism.coefficients(&mut image, &a, &prime);
                let expected = definition.image(&a, element);
                assert_eq!(definition.element(&image), expected, "{index}: {element}");
                let (mut evaluated, mut permuted) = (a.clone(), vec![0; n]);
                prime.forward(&mut evaluated);
                automorphism.evaluations(&mut permuted, &evaluated);
                prime.inverse(&mut permuted);
                assert_eq!(permuted, image, "{index}: {element}");
            }
        }
    }
}
