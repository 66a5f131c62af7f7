//! The automorphisms `zeta -> zeta^g` of a ring, in both domains.

use super::RingIndex;
use crate::residues::Reducer;

/// The tables of one automorphism. Cheap beside a key switch: `O(N)`.
#[derive(Debug, Clone)]
pub struct Automorphism {
    /// For each coefficient of the result the one it comes from, times two, plus one if negated.
    coefficients: Vec<u32>,
    /// For each evaluation of the result the one it is.
    evaluations: Vec<u32>,
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
        if index.is_power_of_two() {
            Self::of_power_of_two(index.degree(), element)
        } else {
            Self::of_odd_index(index, element)
        }
    }

    fn of_power_of_two(ring_degree: usize, element: usize) -> Self {
        let order = 2 * ring_degree;
        let mut coefficients = vec![0; ring_degree];
        for i in 0..ring_degree {
            let image = i * element % order;
            let negated = image >= ring_degree;
            coefficients[image % ring_degree] = 2 * i as u32 + u32::from(negated);
        }
        let bits = ring_degree.ilog2();
        let reverse = |i: usize| i.reverse_bits() >> (usize::BITS - bits);
        // Place i holds the value at root^(2 bitrev(i) + 1); that of the image is the value at the
        // element's power of it.
        let source = |i| reverse((2 * reverse(i) + 1) * element % order / 2) as u32;
        Self { coefficients, evaluations: (0..ring_degree).map(source).collect() }
    }

    /// Shifts along the axes, found by the exponents themselves.
    fn of_odd_index(index: RingIndex, element: usize) -> Self {
        let exponents = index.exponents();
        let places = places_of(&exponents, index.value());
        let mut coefficients = vec![0; exponents.len()];
        for (i, exponent) in exponents.iter().enumerate() {
            coefficients[places[exponent * element % index.value()] as usize] = 2 * i as u32;
        }
        let units = index.evaluation_units();
        let places = places_of(&units, index.value());
        let source = |unit: &usize| places[unit * element % index.value()];
        Self { coefficients, evaluations: units.iter().map(source).collect() }
    }

    /// The image of a limb of coefficients.
    pub fn coefficients(&self, out: &mut [u64], limb: &[u64], q: &Reducer) {
        let q = q.value();
        for (out, &from) in out.iter_mut().zip(&self.coefficients) {
            let x = limb[from as usize / 2];
            let negated = u64::from(from & 1).wrapping_neg();
            // q - 0 is q: reduced once more.
            let y = (x ^ negated).wrapping_sub(negated).wrapping_add(q & negated);
            *out = y.min(y.wrapping_sub(q));
        }
    }

    /// The image of a limb of evaluations.
    pub fn evaluations(&self, out: &mut [u64], limb: &[u64]) {
        for (out, &from) in out.iter_mut().zip(&self.evaluations) {
            *out = limb[from as usize];
        }
    }
}

/// Where in a list each number below `end` is; zero for those that are not there.
fn places_of(numbers: &[usize], end: usize) -> Vec<u32> {
    let mut places = vec![0; end];
    for (place, &number) in numbers.iter().enumerate() {
        places[number] = place as u32;
    }
    places
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
