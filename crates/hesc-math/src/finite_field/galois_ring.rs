use super::construction::{factor, order};
use super::polynomial;
use super::quotient::{Quotient, Row};
use crate::residues::Reducer;
use crate::{MathError, Modulus, is_prime};

/// Degrees, at most: tables have `d^2` words.
const MOST_DEGREE: usize = 1024;
/// Bits of the modulus, at most.
const MOST_BITS: u32 = 56;

#[cfg(test)]
thread_local! {
    /// Products of this thread, for tests of what algorithms say they cost.
    pub(super) static PRODUCTS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// The Galois ring `GR(p^r, d)`, for `r = 1` the field `GF(p^d)`: polynomials in `Y` modulo `p^r` and a factor of
/// the `m`-th cyclotomic polynomial, `d` the order of `p` modulo `m`. `Y` is a root of unity of order `m`, and the
/// Frobenius map takes it to `Y^p`. Elements are `d` coefficients below `p^r`, the constant one first.
///
/// The slots of plaintexts modulo `p^r` in the ring of index `m` are copies of it.
///
/// ```
/// use hesc_math::GaloisRing;
///
/// let field = GaloisRing::new(17, 2, 1)?; // GF(2^8), Y^17 = 1
/// let (y, one) = (field.root(), field.constant(1));
/// assert_eq!(field.degree(), 8);
/// assert_eq!(field.power(&y, 17), one);
/// let x = field.add(&y, &one);
/// assert_eq!(field.multiply(&x, &field.inverse(&x).unwrap()), one);
/// # Ok::<(), hesc_math::MathError>(())
/// ```
#[derive(Debug, Clone)]
pub struct GaloisRing {
    index: u64,
    prime: u64,
    power: u32,
    quotient: Quotient,
    /// `Y^(p i)` for each `i` below the degree.
    images: Vec<Row>,
    /// The traces of powers of `Y`.
    traces: Vec<u64>,
}

impl GaloisRing {
    /// The ring of a root of order `index`, at least 1, modulo `prime^power`.
    ///
    /// Cost: about `d^3` products of words; a fraction of a second at degree 100, seconds at 200.
    ///
    /// # Errors
    /// [`MathError::GaloisRing`] for what is no prime or divides the index, for a power of 0, and beyond
    /// moduli of 56 bits or degrees of 1024.
    pub fn new(index: u64, prime: u64, power: u32) -> Result<Self, MathError> {
        let refused = MathError::GaloisRing { index, prime, power };
        let modulus = prime.checked_pow(power).filter(|q| power > 0 && q >> MOST_BITS == 0);
        let (Some(modulus), true) = (modulus, is_prime(prime)) else { return Err(refused) };
        let divides = |m: u64| {
            m == 0 || m >> 32 != 0 || Modulus::new(m.max(2)).inverse_of_unit(prime).is_none()
        };
        if (index != 1 && divides(index)) || (index > 1 && order(prime, index) > MOST_DEGREE) {
            return Err(refused);
        }
        let reducer = Reducer::new(modulus);
        let quotient = Quotient::new(reducer, factor(index, prime, reducer));
        let traces = quotient.traces();
        let mut ring = Self { index, prime, power, quotient, images: Vec::new(), traces };
        let image = ring.power(&ring.root(), prime);
        let images = ring.quotient.powers(&image, ring.degree());
        ring.images = images.into_iter().map(Row::new).collect();
        Ok(ring)
    }

    /// The order of `Y`.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// `p`.
    pub fn prime(&self) -> u64 {
        self.prime
    }

    /// `r`.
    pub fn exponent(&self) -> u32 {
        self.power
    }

    /// `p^r`.
    pub fn modulus(&self) -> Modulus {
        self.quotient.reducer.modulus()
    }

    /// `d`.
    pub fn degree(&self) -> usize {
        self.quotient.degree()
    }

    /// The polynomial that `Y` is a root of, without its leading coefficient, which is 1.
    pub fn polynomial(&self) -> &[u64] {
        &self.quotient.polynomial
    }

    /// A number.
    pub fn constant(&self, x: u64) -> Vec<u64> {
        self.quotient.constant(x % self.modulus().value())
    }

    /// `Y`.
    pub fn root(&self) -> Vec<u64> {
        self.quotient.root()
    }

    /// `a + b`.
    pub fn add(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        a.iter().zip(b).map(|(&x, &y)| self.modulus().add(x, y)).collect()
    }

    /// `a - b`.
    pub fn sub(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let q = self.modulus();
        a.iter().zip(b).map(|(&x, &y)| q.add(x, q.neg(y))).collect()
    }

    /// `a b`. Cost: at most `2 d^2` products of words; those by zeros of `a` are left out.
    pub fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.inner_product(std::iter::once((a, b)))
    }

    /// The sum of products, each at most `d` coefficients times `d`, with one remainder for all. Cost: `d^2` products
    /// of words for each and `d^2` for the remainder; those by zeros of first factors are left out.
    pub fn inner_product<'a>(
        &self,
        pairs: impl Iterator<Item = (&'a [u64], &'a [u64])>,
    ) -> Vec<u64> {
        #[cfg(test)]
        let pairs = pairs.inspect(|_| PRODUCTS.set(PRODUCTS.get() + 1));
        self.quotient.inner_product(pairs)
    }

    /// `a^exponent`.
    pub fn power(&self, a: &[u64], exponent: u64) -> Vec<u64> {
        self.quotient.power(a, exponent)
    }

    /// `a` times a number below the modulus.
    pub fn scaled(&self, a: &[u64], by: u64) -> Vec<u64> {
        a.iter().map(|&x| self.quotient.reducer.product(x, by)).collect()
    }

    /// The Frobenius map, `Y -> Y^p`, which keeps numbers. Cost: a product of words for each power of `Y` below `Y^d`
    /// whose image is one, `d` for each of the others.
    pub fn frobenius(&self, a: &[u64]) -> Vec<u64> {
        self.quotient.sum_of_rows(&self.images, a)
    }

    /// The sum of elements times numbers below the modulus. Cost: `d` products of words for each.
    pub fn combination(&self, elements: &[Vec<u64>], numbers: &[u64]) -> Vec<u64> {
        self.quotient.combination(elements, numbers)
    }

    /// All images of an element under the Frobenius map, itself first.
    pub fn conjugates(&self, a: &[u64]) -> Vec<Vec<u64>> {
        std::iter::successors(Some(a.to_vec()), |x| Some(self.frobenius(x)))
            .take(self.degree())
            .collect()
    }

    /// The sum of all conjugates, which is a number. Cost: `d` products of words.
    pub fn trace(&self, a: &[u64]) -> u64 {
        let terms = a.iter().zip(&self.traces);
        let sum = terms.fold(0, |sum, (&x, &y)| sum + u128::from(x) * u128::from(y));
        self.quotient.reducer.reduce(sum)
    }

    /// The inverse; none of elements that vanish modulo `p`.
    pub fn inverse(&self, a: &[u64]) -> Option<Vec<u64>> {
        let p = Modulus::new(self.prime);
        let modulo_p = |x: &[u64]| x.iter().map(|x| x % self.prime).collect::<Vec<u64>>();
        let mut monic = modulo_p(self.polynomial());
        monic.push(1);
        let mut inverse = polynomial::inverse(&modulo_p(a), &monic, p)?;
        inverse.resize(self.degree(), 0);
        Some(lifted(&self.quotient, a, inverse, self.power))
    }

    pub(super) fn reducer(&self) -> Reducer {
        self.quotient.reducer
    }
}

/// The inverse modulo `p^power` from that modulo `p`, by Newton's iteration.
pub(super) fn lifted(ring: &Quotient, a: &[u64], mut inverse: Vec<u64>, power: u32) -> Vec<u64> {
    let q = ring.reducer.modulus();
    let mut known = 1;
    while known < power {
        // x (2 - a x)
        let mut rest: Vec<u64> = ring.multiply(a, &inverse).iter().map(|&x| q.neg(x)).collect();
        rest[0] = q.add(rest[0], 2 % q.value());
        inverse = ring.multiply(&inverse, &rest);
        known *= 2;
    }
    inverse
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RINGS: [(u64, u64, u32); 9] = [
        (17, 2, 1),
        (17, 2, 10),
        (257, 2, 1),
        (1, 2, 3),
        (3, 7, 2),
        (31, 3, 4),
        (5, 31, 1),
        (89, 3, 5),
        (4369, 2, 1),
    ];

    fn element(ring: &GaloisRing, seed: u64) -> Vec<u64> {
        let next = |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        let words = std::iter::successors(Some(seed), next).skip(1);
        words.take(ring.degree()).map(|x| (x >> 7) % ring.modulus().value()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn laws_of_rings_and_of_the_frobenius_map(
            (index, prime, power) in prop::sample::select(RINGS.to_vec()),
            seeds: [u64; 3],
        ) {
            let ring = GaloisRing::new(index, prime, power).unwrap();
            let [a, b, c] = seeds.map(|seed| element(&ring, seed));
            let product = |x: &[u64], y: &[u64]| ring.multiply(x, y);
            prop_assert_eq!(product(&a, &ring.add(&b, &c)), ring.add(&product(&a, &b), &product(&a, &c)));
            prop_assert_eq!(product(&a, &product(&b, &c)), product(&product(&a, &b), &c));
            prop_assert_eq!(product(&a, &b), product(&b, &a));
            let image = |x: &[u64]| ring.frobenius(x);
            prop_assert_eq!(image(&product(&a, &b)), product(&image(&a), &image(&b)));
            prop_assert_eq!(image(ring.conjugates(&a).last().unwrap()), a.clone());
            // In a field the map is the power; in a ring so modulo p.
            let modulo = |x: &[u64]| x.iter().map(|x| x % prime).collect::<Vec<_>>();
            prop_assert_eq!(modulo(&image(&a)), modulo(&ring.power(&a, prime)));
            let sum = ring.conjugates(&a).iter().fold(ring.constant(0), |sum, x| ring.add(&sum, x));
            prop_assert_eq!(sum, ring.constant(ring.trace(&a)));
            match ring.inverse(&a) {
                Some(inverse) => prop_assert_eq!(product(&a, &inverse), ring.constant(1)),
                None => prop_assert!(a.iter().all(|x| x % prime == 0)),
            }
        }
    }

    #[test]
    fn the_root_has_the_order_of_the_index() {
        for (index, prime, power) in RINGS {
            let ring = GaloisRing::new(index, prime, power).unwrap();
            let root = ring.root();
            assert_eq!(ring.power(&root, index), ring.constant(1), "{index}");
            for l in (2..=index).filter(|l| index % l == 0 && is_prime(*l)) {
                assert_ne!(ring.power(&root, index / l), ring.constant(1), "{index}, {l}");
            }
            assert_eq!(ring.degree(), if index == 1 { 1 } else { order(prime, index) });
        }
    }

    /// Sums of 64 bits and of 128, of more products than they hold without a remainder between.
    #[test]
    fn inner_products_are_of_any_length() {
        for (prime, length) in [(1033, 100), ((1 << 29) - 3, 100), ((1 << 56) - 5, 100_000)] {
            let ring = GaloisRing::new(3, prime, 1).unwrap();
            let a = vec![prime - 1; ring.degree()];
            let sum = ring.inner_product((0..length).map(|_| (&a[..], &a[..])));
            assert_eq!(sum, ring.scaled(&ring.multiply(&a, &a), length % prime), "{prime}");
        }
    }

    #[test]
    fn what_is_no_ring_is_refused() {
        let all =
            [(17, 4, 1), (17, 17, 1), (34, 2, 1), (17, 2, 0), (17, 2, 56), (17, 1, 1), (17, 0, 1)];
        for (index, prime, power) in
            all.into_iter().chain([(0, 2, 1), (10007, 5, 1), (1 << 40, 3, 1)])
        {
            let refused = Err(MathError::GaloisRing { index, prime, power });
            assert_eq!(GaloisRing::new(index, prime, power).map(|_| ()), refused);
        }
    }
}
