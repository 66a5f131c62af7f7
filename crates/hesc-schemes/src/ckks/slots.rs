//! Where the slots of CKKS are.

use hesc_math::ring::Complex64;

use hesc_math::ring::Roots;

/// Complex numbers in the slots of CKKS: slot `j` of `N / 2` is the value at `zeta^(3^j)`,
/// `zeta = exp(i pi / N)`: SEAL's order.
#[derive(Debug)]
pub(crate) struct ComplexSlots {
    roots: Roots,
    /// For each slot its place in a transform over the exponents 1 modulo 4, and whether that holds
    /// the conjugate.
    places: Vec<(u32, bool)>,
}

impl ComplexSlots {
    pub(crate) fn new(ring_degree: usize) -> Self {
        let (slots, order) = (ring_degree / 2, 2 * ring_degree);
        let powers = std::iter::successors(Some(1), |p| Some(p * 3 % order)).take(slots);
        // Of each conjugate pair of exponents one is 1 modulo 4.
        let place = |p: usize| {
            if p % 4 == 1 { ((p / 4) as u32, false) } else { (((order - p) / 4) as u32, true) }
        };
        Self { roots: Roots::new(ring_degree), places: powers.map(place).collect() }
    }

    /// Slots of a polynomial.
    pub(crate) fn count(&self) -> usize {
        self.places.len()
    }

    /// Scratch space of the transforms.
    pub(crate) fn scratch(&self) -> Vec<Complex64> {
        self.roots.scratch()
    }

    /// Real coefficients of the polynomial with these values in its first slots and zeros in the others, as
    /// `(m_k, m_(k + N/2))` pairs.
    pub(crate) fn interpolate(
        &self,
        values: impl IntoIterator<Item = Complex64>,
        pairs: &mut [Complex64],
        scratch: &mut [Complex64],
    ) {
        pairs.fill(Complex64::default());
        for (value, &(place, conjugate)) in values.into_iter().zip(&self.places) {
            pairs[place as usize] = if conjugate { value.conj() } else { value };
        }
        self.roots.interpolate(pairs, scratch);
    }

    /// The values in the slots of the polynomial with these pairs of coefficients, which are overwritten.
    pub(crate) fn evaluate<'a>(
        &'a self,
        pairs: &'a mut [Complex64],
        scratch: &mut [Complex64],
    ) -> impl Iterator<Item = Complex64> + 'a {
        self.roots.evaluate(pairs, scratch);
        let pairs = &*pairs;
        self.places.iter().map(|&(place, conjugate)| {
            let value = pairs[place as usize];
            if conjugate { value.conj() } else { value }
        })
    }
}
