use crate::MathError;
use crate::primes::primes_one_modulo;

/// Smallest power-of-two ring degree.
pub const MIN_RING_DEGREE: usize = 256;
/// Largest ring degree.
pub const MAX_RING_DEGREE: usize = 32768;

/// The index `m` of a cyclotomic ring `Z[X]/Phi_m(X)`: twice a power of two, where the ring is
/// `Z[X]/(X^N + 1)` with `N = m / 2`, or odd and squarefree.
///
/// The index decides everything about the ring but its modulus: the degree `phi(m)`, the
/// automorphisms `zeta -> zeta^g` (one for each `g` below `m` without a common divisor), the basis
/// that coefficients belong to ([`Self::exponents`]), and which primes have a transform
/// ([`Self::modulus_step`]).
///
/// ```
/// use hesc_math::RingIndex;
///
/// let ring = RingIndex::new(4369)?; // 17 * 257
/// assert_eq!(ring.degree(), 16 * 256);
/// assert_eq!(RingIndex::power_of_two(1024)?.value(), 2048);
/// # Ok::<(), hesc_math::MathError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RingIndex(u32);

/// One prime factor of an odd index: a polynomial is an array with an axis of `p - 1` places for
/// each, the last axis without gaps.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    /// The prime `p`.
    pub prime: usize,
    /// `g^u mod p` for `u < p - 1`, `g` the smallest generator of the residues modulo `p`.
    pub powers: Vec<usize>,
    /// Words from one place of the axis to the next.
    pub step: usize,
}

impl RingIndex {
    /// The ring of index `m`.
    ///
    /// # Errors
    /// [`MathError::RingIndex`] unless `m` is a power of two from 512 to 65536 or odd, squarefree,
    /// at least 3 and of degree at most 32768.
    pub fn new(index: usize) -> Result<Self, MathError> {
        let refused = MathError::RingIndex { index, max: MAX_RING_DEGREE };
        if index.is_power_of_two() {
            let degrees = MIN_RING_DEGREE..=MAX_RING_DEGREE;
            return if degrees.contains(&(index / 2)) {
                Ok(Self(index as u32))
            } else {
                Err(refused)
            };
        }
        // Beyond, degrees are too large: an odd m with phi(m) below m / 4 has more than ten primes.
        if index < 3 || index.is_multiple_of(2) || index > 4 * MAX_RING_DEGREE {
            return Err(refused);
        }
        let ring = Self(index as u32);
        let squarefree = ring.odd_primes().is_sorted_by(|a, b| a < b);
        if squarefree && ring.degree() <= MAX_RING_DEGREE { Ok(ring) } else { Err(refused) }
    }

    /// The ring `Z[X]/(X^N + 1)`.
    ///
    /// # Errors
    /// [`MathError::RingDegree`] unless `N` is a power of two from 256 to 32768.
    pub fn power_of_two(ring_degree: usize) -> Result<Self, MathError> {
        if ring_degree.is_power_of_two()
            && (MIN_RING_DEGREE..=MAX_RING_DEGREE).contains(&ring_degree)
        {
            return Ok(Self(2 * ring_degree as u32));
        }
        Err(MathError::RingDegree { ring_degree, min: MIN_RING_DEGREE, max: MAX_RING_DEGREE })
    }

    /// The index itself, `m`.
    pub const fn value(self) -> usize {
        self.0 as usize
    }

    /// Coefficients of a polynomial, `phi(m)`.
    pub fn degree(self) -> usize {
        if self.is_power_of_two() {
            return self.value() / 2;
        }
        self.odd_primes().map(|p| p - 1).product()
    }

    /// Whether the ring is `Z[X]/(X^N + 1)`.
    pub const fn is_power_of_two(self) -> bool {
        self.0.is_power_of_two()
    }

    /// The prime factors of an odd index, ascending; none for a power of two.
    pub fn odd_primes(self) -> impl Iterator<Item = usize> {
        let mut rest = if self.is_power_of_two() { 1 } else { self.value() };
        std::iter::from_fn(move || {
            let mut divisors = (3..).step_by(2).take_while(|d| d * d <= rest);
            let prime = divisors.find(|d| rest.is_multiple_of(*d)).unwrap_or(rest);
            rest /= prime;
            (prime > 1).then_some(prime)
        })
    }

    /// Whether `zeta -> zeta^element` is an automorphism: elements are below the index and have no
    /// common divisor with it.
    pub fn has_automorphism(self, element: usize) -> bool {
        let common = |p: usize| element.is_multiple_of(p);
        let even = self.is_power_of_two() && element.is_multiple_of(2);
        element > 0 && element < self.value() && !even && !self.odd_primes().any(common)
    }

    /// The element whose automorphism undoes another's.
    ///
    /// # Panics
    /// If there is no automorphism of this element.
    pub fn inverse_element(self, element: usize) -> usize {
        assert!(self.has_automorphism(element), "{element} has no inverse modulo the index");
        let index = self.value();
        let powers = std::iter::successors(Some(element), |x| Some(x * element % index));
        // The last power before 1; 1 is its own.
        powers.take_while(|&x| x != 1).last().unwrap_or(1)
    }

    /// The exponents `e` of the basis `zeta^e` that coefficients belong to, in their order.
    ///
    /// Powers of two: `0, 1, ..., N - 1`. Odd indices: all `e` without a common divisor with `m`, a
    /// normal basis. With `g_i` the smallest generator modulo the `i`-th prime, the coefficient at
    /// place `(s_1, s_2, ...)` of the array with an axis for each prime belongs to the `e` that is
    /// `g_i^(-s_i)` modulo each: automorphisms then shift the array along its axes.
    pub fn exponents(self) -> Vec<usize> {
        if self.is_power_of_two() {
            return (0..self.degree()).collect();
        }
        self.combined(|axis, place| axis.powers[(axis.powers.len() - place) % axis.powers.len()])
    }

    /// The coefficients of `zeta^exponent` in the basis: one of them in a power-of-two ring, with its sign, and in an
    /// odd one as many as there are for each prime that divides the exponent, since there `1 = -(zeta + zeta^2 + ...)`.
    pub fn power(self, exponent: usize) -> Vec<i8> {
        let exponent = exponent % self.value();
        if self.is_power_of_two() {
            let n = self.degree();
            let mut coefficients = vec![0; n];
            coefficients[exponent % n] = if exponent < n { 1 } else { -1 };
            return coefficients;
        }
        let primes: Vec<usize> = self.odd_primes().collect();
        let coefficient = |of: usize| {
            primes.iter().fold(1, |product: i8, p| match exponent % p {
                0 => -product,
                residue if residue == of % p => product,
                _ => 0,
            })
        };
        self.exponents().into_iter().map(coefficient).collect()
    }

    /// For each evaluation of an odd ring the `u` of `zeta^u` that it is the value at: `g_i^(t_i)`
    /// modulo each prime at place `(t_1, t_2, ...)`.
    pub(crate) fn evaluation_units(self) -> Vec<usize> {
        self.combined(|axis, place| axis.powers[place])
    }

    /// For each place of the array the number below `m` that has these residues.
    fn combined(self, residue: impl Fn(&Axis, usize) -> usize) -> Vec<usize> {
        let (index, axes) = (self.value(), self.axes());
        // 1 modulo the axis' prime, 0 modulo the others.
        let unit = |p: usize| (index / p..).step_by(index / p).find(|x| x % p == 1).unwrap_or(0);
        let units: Vec<usize> = axes.iter().map(|axis| unit(axis.prime)).collect();
        let of_place = |place: usize| {
            let terms = axes.iter().zip(&units);
            terms.fold(0, |sum, (axis, unit)| {
                (sum + unit * residue(axis, place / axis.step % axis.powers.len())) % index
            })
        };
        (0..self.degree()).map(of_place).collect()
    }

    /// The axes of an odd index, in the order of its primes.
    pub(crate) fn axes(self) -> Vec<Axis> {
        let mut step = self.degree();
        let axis = |prime: usize| {
            step /= prime - 1;
            let powers_of = |g: usize| {
                std::iter::successors(Some(1), move |x| Some(x * g % prime)).take(prime - 1)
            };
            let generates = |g: &usize| powers_of(*g).skip(1).all(|x| x != 1);
            let generator = (1..prime).find(generates).unwrap_or(1);
            Axis { prime, powers: powers_of(generator).collect(), step }
        };
        self.odd_primes().map(axis).collect()
    }

    /// Primes with a transform are 1 modulo this number: `2N` for powers of two. For odd indices a
    /// multiple of `m` that also has roots of unity for the cyclic convolution over each axis: of
    /// order `p - 1` where that is a power of two, and otherwise of twice the power of two in which
    /// the convolution fits when padded, `2(p - 1) - 1` and more.
    pub fn modulus_step(self) -> u64 {
        let order = |p: usize| {
            let length = p - 1;
            if length.is_power_of_two() { length } else { 2 * (2 * length - 1).next_power_of_two() }
        };
        self.odd_primes().map(order).max().unwrap_or(1) as u64 * self.value() as u64
    }

    /// The `count` largest primes of exactly `bits` bits (2 to 62) with a transform, in descending
    /// order.
    ///
    /// # Errors
    /// [`MathError::NotEnoughPrimes`] if there are fewer.
    pub fn ntt_primes(self, bits: u32, count: usize) -> Result<Vec<u64>, MathError> {
        primes_one_modulo(self.modulus_step(), bits, count)
    }

    /// The largest primes of these sizes with a transform that are 1 modulo a prime, or 1 for any; none twice, in the
    /// order of the sizes.
    ///
    /// # Errors
    /// [`MathError::NotEnoughPrimes`] if a size has fewer.
    pub fn ntt_primes_of_bits(self, bits: &[u32], one_modulo: u64) -> Result<Vec<u64>, MathError> {
        let step = self.modulus_step();
        let step = if step.is_multiple_of(one_modulo) { step } else { step * one_modulo };
        let prime = |(i, &size): (usize, &u32)| {
            let before = bits[..i].iter().filter(|&&other| other == size).count();
            Ok(primes_one_modulo(step, size, before + 1)?[before])
        };
        bits.iter().enumerate().map(prime).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common_divisor(a: usize, b: usize) -> usize {
        if b == 0 { a } else { common_divisor(b, a % b) }
    }

    #[test]
    fn degrees_and_automorphisms_are_those_of_the_units() {
        for index in [3, 5, 15, 21, 255, 1001, 4369, 512, 2048] {
            let ring = RingIndex::new(index).unwrap();
            let units: Vec<usize> = (0..index).filter(|&x| common_divisor(x, index) == 1).collect();
            assert_eq!(ring.degree(), units.len(), "{index}");
            for element in 0..index + 2 {
                let unit = element < index && common_divisor(element, index) == 1;
                assert_eq!(ring.has_automorphism(element), unit, "{index}: {element}");
            }
            for &unit in units.iter().take(20) {
                assert_eq!(unit * ring.inverse_element(unit) % index, 1);
            }
            let mut exponents = ring.exponents();
            exponents.sort_unstable();
            let expected = if ring.is_power_of_two() { (0..index / 2).collect() } else { units };
            assert_eq!(exponents, expected, "{index}");
        }
    }

    #[test]
    fn indices_that_no_ring_has_are_refused() {
        for index in [0, 1, 2, 4, 6, 9, 45, 256, 257 * 257, 1000, 4370, 65537, 1 << 17, usize::MAX]
        {
            assert_eq!(
                RingIndex::new(index),
                Err(MathError::RingIndex { index, max: MAX_RING_DEGREE })
            );
        }
        for index in [512, 65536, 65535, 8191, 13107, 15015] {
            assert_eq!(RingIndex::new(index).unwrap().value(), index);
        }
        for ring_degree in [0, 1, 128, 1000, 1 << 16] {
            assert!(matches!(
                RingIndex::power_of_two(ring_degree),
                Err(MathError::RingDegree { .. })
            ));
        }
    }

    #[test]
    fn primes_have_roots_for_every_axis() {
        for (index, step) in [(2048, 2048), (255, 255 * 16), (4369, 4369 * 256), (31, 31 * 128)] {
            let ring = RingIndex::new(index).unwrap();
            assert_eq!(ring.modulus_step(), step);
            for q in ring.ntt_primes(30, 2).unwrap() {
                assert!(crate::is_prime(q) && q % step == 1 && q.ilog2() == 29);
            }
        }
    }
}
