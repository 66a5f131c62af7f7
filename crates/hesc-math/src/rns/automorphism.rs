//! The automorphisms `X -> X^g` of the ring, `g` odd, in both domains.

use super::Reducer;

/// The tables of one automorphism. Cheap beside a key switch: `O(N)`.
#[derive(Debug, Clone)]
pub struct Automorphism {
    /// For each coefficient of the result the one it comes from, times two, plus one if negated.
    coefficients: Vec<u32>,
    /// For each evaluation of the result the one it is.
    evaluations: Vec<u32>,
}

impl Automorphism {
    /// `X -> X^element` at this ring degree.
    ///
    /// # Panics
    /// If the element is even or not below twice the ring degree.
    pub fn new(ring_degree: usize, element: usize) -> Self {
        let order = 2 * ring_degree;
        assert!(
            element % 2 == 1 && element < order,
            "an automorphism has an odd exponent below 2N"
        );
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ntt_primes;
    use crate::rns::Prime;

    #[test]
    fn both_domains_agree_with_the_definition() {
        let n = 256;
        let prime = Prime::new(n, ntt_primes(30, n, 1).unwrap()[0]).unwrap();
        let q = prime.modulus();
        let a: Vec<u64> = (0..n as u64).map(|i| (i * i * i) % q.value()).collect();
        for element in [1, 3, 5, 9, 511, 255] {
            let automorphism = Automorphism::new(n, element);
            let mut expected = vec![0; n];
            for (i, &x) in a.iter().enumerate() {
                let image = i * element % (2 * n);
                expected[image % n] = if image >= n { q.neg(x) } else { x };
            }
            let mut image = vec![0; n];
            automorphism.coefficients(&mut image, &a, &prime);
            assert_eq!(image, expected);
            let (mut evaluated, mut permuted) = (a.clone(), vec![0; n]);
            prime.forward(&mut evaluated);
            automorphism.evaluations(&mut permuted, &evaluated);
            prime.inverse(&mut permuted);
            assert_eq!(permuted, expected, "{element}");
        }
    }
}
