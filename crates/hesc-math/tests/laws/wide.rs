//! Residues of thousands of bits against `num-bigint`.

use hesc_math::AesCtrRng;
use hesc_math::wide::{FixedBase, JacobiSymbol, LANES, Octet, WideModulus, windows_of};
use num_bigint::BigUint;
use rand_core::{Rng, SeedableRng};

fn rng(seed: u8) -> AesCtrRng {
    AesCtrRng::from_seed([seed; 32])
}

/// A number of exactly this many bits, odd.
fn odd(bits: u32, rng: &mut AesCtrRng) -> BigUint {
    let mut bytes = vec![0; bits.div_ceil(8) as usize];
    rng.fill_bytes(&mut bytes);
    let number = BigUint::from_bytes_be(&bytes) % (BigUint::from(1u8) << (bits - 1));
    number | BigUint::from(1u8) | BigUint::from(1u8) << (bits - 1)
}

fn modulus_of(n: &BigUint) -> WideModulus {
    WideModulus::from_be_bytes(&n.to_bytes_be()).unwrap()
}

fn group(modulus: &WideModulus, numbers: &[BigUint]) -> Vec<Octet> {
    let length = modulus.byte_length();
    let mut bytes = vec![0; numbers.len() * length];
    for (number, out) in numbers.iter().zip(bytes.chunks_exact_mut(length)) {
        let be = number.to_bytes_be();
        out[length - be.len()..].copy_from_slice(&be);
    }
    let mut a = vec![Octet::ZERO; numbers.len() / LANES * modulus.limbs()];
    assert!(modulus.read_be(&mut a, &bytes));
    a
}

fn numbers(modulus: &WideModulus, a: &[Octet]) -> Vec<BigUint> {
    let mut a = a.to_vec();
    modulus.reduce_assign(&mut a);
    let length = modulus.byte_length();
    let mut bytes = vec![0; a.len() / modulus.limbs() * LANES * length];
    modulus.write_be(&mut bytes, &a);
    bytes.chunks_exact(length).map(BigUint::from_bytes_be).collect()
}

/// Values at the edges and in between.
fn sample(n: &BigUint, count: usize, rng: &mut AesCtrRng) -> Vec<BigUint> {
    let one = BigUint::from(1u8);
    let mut values = vec![one.clone(), n - &one, n >> 1, &one << (n.bits() - 1)];
    while values.len() < count {
        let mut bytes = vec![0; n.to_bytes_be().len() + 8];
        rng.fill_bytes(&mut bytes);
        values.push(BigUint::from_bytes_be(&bytes) % n);
    }
    values
}

#[test]
fn products_and_squares_are_those_of_integers() {
    let rng = &mut rng(1);
    for bits in [512, 1023, 1536, 2048, 3071, 3072, 4096, 8192] {
        // The largest modulus of a size leaves the least room.
        let largest = (BigUint::from(1u8) << bits) - 1u8;
        for n in [odd(bits, rng), largest] {
            let modulus = modulus_of(&n);
            assert_eq!(modulus.bits(), bits);
            let (x, y) = (sample(&n, 16, rng), sample(&n, 16, rng));
            let (mut a, b) = (group(&modulus, &x), group(&modulus, &y));
            modulus.to_montgomery(&mut a);
            let mut squares = a.clone();
            modulus.mul_assign(&mut a, &b);
            let expected: Vec<_> = x.iter().zip(&y).map(|(x, y)| x * y % &n).collect();
            assert_eq!(numbers(&modulus, &a), expected, "{bits} bits");
            // Squares of values that are not reduced, twice.
            modulus.square_assign(&mut squares);
            modulus.square_assign(&mut squares);
            modulus.from_montgomery(&mut squares);
            let expected: Vec<_> = x.iter().map(|x| x.modpow(&4u8.into(), &n)).collect();
            assert_eq!(numbers(&modulus, &squares), expected, "{bits} bits");
        }
    }
}

#[test]
fn powers_are_those_of_integers() {
    let rng = &mut rng(2);
    for (bits, exponent_bits) in [(1024, 61), (3072, 275)] {
        let n = odd(bits, rng);
        let modulus = modulus_of(&n);
        let base = sample(&n, 5, rng).pop().unwrap();
        let table = FixedBase::new(&modulus, &base.to_bytes_be(), exponent_bits).unwrap();
        let mut exponents = Vec::new();
        let mut digits = vec![Octet::ZERO; 2 * table.windows()];
        for lane in 0..2 * LANES {
            let mut bytes = vec![0; exponent_bits.div_ceil(8) as usize];
            if lane > 0 {
                rng.fill_bytes(&mut bytes);
            }
            let exponent =
                BigUint::from_bytes_be(&bytes) % (BigUint::from(1u8) << (5 * table.windows()));
            let windows = windows_of(&exponent.to_bytes_be(), exponent_bits);
            let group = &mut digits[lane / LANES * table.windows()..];
            for (octet, &window) in group.iter_mut().zip(windows.iter()) {
                octet.0[lane % LANES] = window.into();
            }
            exponents.push(exponent);
        }
        let mut powers = table.power(&modulus, &digits);
        modulus.from_montgomery(&mut powers);
        let expected: Vec<_> = exponents.iter().map(|e| base.modpow(e, &n)).collect();
        assert_eq!(numbers(&modulus, &powers), expected);

        let x = sample(&n, 16, rng);
        let mut a = group(&modulus, &x);
        modulus.to_montgomery(&mut a);
        let secret = &exponents[3];
        modulus.power_assign(&mut a, &windows_of(&secret.to_bytes_be(), exponent_bits));
        modulus.from_montgomery(&mut a);
        let expected: Vec<_> = x.iter().map(|x| x.modpow(secret, &n)).collect();
        assert_eq!(numbers(&modulus, &a), expected);
    }
}

/// Three Mersenne primes and the largest prime below 2^1024.
fn primes() -> Vec<BigUint> {
    let below = |e: u32, c: u8| (BigUint::from(1u8) << e) - c;
    vec![below(521, 1), below(607, 1), below(1279, 1), below(1024, 105)]
}

#[test]
fn symbols_are_those_of_eulers_criterion() {
    let rng = &mut rng(3);
    for p in primes() {
        let prime = modulus_of(&p);
        let symbol = JacobiSymbol::new(prime.clone());
        let half = (&p - 1u8) / 2u8;
        let mut x = sample(&p, 250, rng);
        // Small numbers, powers of two, neighbours of the prime and of its fractions.
        for i in 1u32..200 {
            x.push(i.into());
            x.push(&p - i);
            x.push(&p / (i + 1) + 1u8);
            x.push(BigUint::from(1u8) << (i * p.bits() as u32 / 200));
            x.push((&p >> 1) - i);
        }
        x.truncate(x.len() / LANES * LANES);
        let negatives = symbol.negatives(&group(&prime, &x), prime.limbs()).unwrap();
        for (i, x) in x.iter().enumerate() {
            let expected = x.modpow(&half, &p) != BigUint::from(1u8);
            assert_eq!(negatives[i / LANES] >> (i % LANES) & 1 == 1, expected, "{x} mod {p}");
        }
    }
}

#[test]
fn symbols_of_longer_residues_and_of_multiples() {
    let rng = &mut rng(4);
    let (p, q) = (&primes()[1], &primes()[0]);
    let n = p * q;
    let modulus = modulus_of(&n);
    let symbol = JacobiSymbol::new(modulus_of(p));
    let x = sample(&n, 64, rng);
    let mut a = group(&modulus, &x);
    let found = symbol.negatives(&a, modulus.limbs()).unwrap();
    let half = (p - 1u8) / 2u8;
    for (i, x) in x.iter().enumerate() {
        let expected = x.modpow(&half, p) != BigUint::from(1u8);
        assert_eq!(found[i / LANES] >> (i % LANES) & 1 == 1, expected);
    }
    // Products without their final reduction have the product's symbol.
    let copy = a.clone();
    modulus.mul_assign(&mut a, &copy);
    assert!(symbol.negatives(&a, modulus.limbs()).unwrap().iter().all(|&bits| bits == 0));
    let mut multiples = x;
    multiples[17] = p * 5u8;
    let a = group(&modulus, &multiples);
    assert!(symbol.negatives(&a, modulus.limbs()).is_none(), "a common factor is noticed");
}

#[test]
fn residues_are_checked_negated_and_compared() {
    let rng = &mut rng(5);
    let n = odd(2048, rng);
    let modulus = modulus_of(&n);
    let mut a = vec![Octet::ZERO; 3 * modulus.limbs()];
    modulus.sample(&mut a, rng);
    let x = numbers(&modulus, &a);
    assert!(x.iter().all(|x| x < &n) && x.iter().any(|x| x.bits() == n.bits()));
    let mut b = a.clone();
    modulus.negate_where(&mut b, &[0b1000_0001, 0, 0xFF]);
    let y = numbers(&modulus, &b);
    for (i, (x, y)) in x.iter().zip(&y).enumerate() {
        let negated = [0, 7].contains(&i) || i >= 16;
        assert_eq!(*y, if negated { &n - x } else { x.clone() }, "{i}");
    }
    assert_eq!(modulus.equal(&a, &b), [0b0111_1110, 0xFF, 0]);

    let length = modulus.byte_length();
    let mut bytes = vec![0; 8 * length];
    modulus.write_be(&mut bytes, &a[..modulus.limbs()]);
    let group = &mut a[..modulus.limbs()];
    assert!(modulus.read_be(group, &bytes));
    bytes[3 * length..4 * length].copy_from_slice(&n.to_bytes_be());
    assert!(!modulus.read_be(group, &bytes), "not below the modulus");
    bytes[3 * length..4 * length].fill(0);
    assert!(!modulus.read_be(group, &bytes), "zero");
}

#[test]
fn moduli_are_checked() {
    assert!(WideModulus::from_be_bytes(&[]).is_err());
    assert!(WideModulus::from_be_bytes(&[0; 300]).is_err());
    assert!(WideModulus::from_be_bytes(&[0xFE; 256]).is_err(), "even");
    assert!(WideModulus::from_be_bytes(&[0xFF; 63]).is_err(), "too small");
    assert!(WideModulus::from_be_bytes(&[0xFF; 1025]).is_err(), "too large");
    let padded = [&[0; 9][..], &[0xFF; 64]].concat();
    let modulus = WideModulus::from_be_bytes(&padded).unwrap();
    assert_eq!((modulus.bits(), modulus.byte_length()), (512, 64));
    assert!(FixedBase::new(&modulus, &[0xFF; 64], 10).is_err());
    assert!(FixedBase::new(&modulus, &[0], 10).is_err());
    assert!(modulus.splat_be(&[0; 70]).is_err());
}

#[test]
fn windows_hold_the_exponent() {
    assert_eq!(*windows_of(&[0b1000_0000, 0b0110_0001], 16), [1, 3, 0, 1]);
    assert_eq!(*windows_of(&[3], 11), [3, 0, 0]);
}
