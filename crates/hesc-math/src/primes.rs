use crate::{MathError, Modulus};

/// Whether `n` is prime: Miller-Rabin with the first twelve primes as bases, which is a proof for
/// all `n < 2^64` (Sorenson and Webster 2015).
pub fn is_prime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if n < 2 {
        return false;
    }
    for base in BASES {
        if n.is_multiple_of(base) {
            return n == base;
        }
    }
    let modulus = Modulus::new(n);
    let shift = (n - 1).trailing_zeros();
    let odd = (n - 1) >> shift;
    BASES.iter().all(|&base| {
        let mut x = modulus.pow(base, odd);
        if x == 1 || x == n - 1 {
            return true;
        }
        (1..shift).any(|_| {
            x = modulus.mul(x, x);
            x == n - 1
        })
    })
}

/// The `count` largest primes of exactly `bits` bits (2 to 62) that are 1 modulo
/// `2 * ring_degree`, in descending order: the moduli whose rings have a negacyclic NTT.
///
/// # Errors
/// [`MathError::NotEnoughPrimes`] if there are fewer.
///
/// ```
/// assert_eq!(hesc_math::ntt_primes(26, 1024, 1)?, [67_104_769]);
/// # Ok::<(), hesc_math::MathError>(())
/// ```
pub fn ntt_primes(bits: u32, ring_degree: usize, count: usize) -> Result<Vec<u64>, MathError> {
    primes_one_modulo(2 * ring_degree as u64, bits, count)
}

/// The `count` largest primes of exactly `bits` bits that are 1 modulo an even `step`, in descending
/// order.
pub(crate) fn primes_one_modulo(step: u64, bits: u32, count: usize) -> Result<Vec<u64>, MathError> {
    let too_few = |found| MathError::NotEnoughPrimes { bits, step, wanted: count, found };
    if !(2..=62).contains(&bits) || step >= 1 << bits {
        return Err(too_few(0));
    }
    let (low, high) = (1u64 << (bits - 1), 1u64 << bits);
    let largest = (high - 2) / step * step + 1;
    let primes: Vec<u64> = (0..)
        .map_while(|i: u64| largest.checked_sub(i * step))
        .take_while(|&candidate| candidate > low)
        .filter(|&candidate| is_prime(candidate))
        .take(count)
        .collect();
    if primes.len() < count {
        return Err(too_few(primes.len()));
    }
    Ok(primes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_trial_division() {
        for n in 0..20_000u64 {
            let naive = n >= 2 && (2..).take_while(|d| d * d <= n).all(|d| n % d != 0);
            assert_eq!(is_prime(n), naive, "{n}");
        }
    }

    #[test]
    fn refuses_strong_pseudoprimes() {
        // 3825123056546413051 is the least strong pseudoprime to the first nine prime bases
        // (OEIS A014233).
        assert!(!is_prime(3_825_123_056_546_413_051));
        assert!(is_prime(18_446_744_073_709_551_557));
    }

    #[test]
    fn primes_have_the_shape_asked_for() {
        for (bits, ring_degree) in [(18, 1024), (26, 1024), (27, 1024), (54, 2048), (60, 32768)] {
            for q in ntt_primes(bits, ring_degree, 2).unwrap() {
                assert_eq!(q % (2 * ring_degree as u64), 1);
                assert_eq!(64 - q.leading_zeros(), bits);
                assert!(is_prime(q));
            }
        }
        assert!(matches!(
            ntt_primes(12, 1024, 3),
            Err(MathError::NotEnoughPrimes { found: 0, .. })
        ));
    }
}
