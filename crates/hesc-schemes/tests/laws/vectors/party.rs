//! Keys of one small set, what tests encrypt with them, and checks of what comes back.

use std::collections::BTreeMap;

use hesc_math::{AesCtrRng, RingIndex, ntt_primes};
use hesc_schemes::rlwe::PlaintextSpace;
use hesc_schemes::rlwe::{
    self, Ciphertext, GaloisKeys, PrimeSet, PublicKey, RelinKey, Rlwe, SchemeKind, SecretKey, Spec,
};
use hesc_schemes::{Assurance, Complex64, SchemeError};
use rand_core::{Rng, SeedableRng};

pub const DEGREE: usize = 1024;
pub const SCALE: f64 = (1u64 << 40) as f64;

/// Everything a test of one set needs. Rings are small, hence insecure.
pub struct Party {
    pub scheme: Rlwe,
    pub secret: SecretKey,
    pub public: PublicKey,
    pub relin: RelinKey,
    pub galois: GaloisKeys,
    pub rng: AesCtrRng,
}

pub const STEPS: [i64; 4] = [1, -1, 7, 100];

pub const SCHEMES: [SchemeKind; 3] = [SchemeKind::Bfv, SchemeKind::Bgv, SchemeKind::Ckks];

/// Chains that laws are tried on, by bits: of the primes of ciphertexts and of the special ones. One and
/// several special primes, digits of one and of several primes (full and not), primes of 30 to 61 bits, and
/// SEAL's usual chain, whose primes are on both sides of what 52-bit multipliers take.
pub const CHAINS: [(&[u32], &[u32]); 5] = [
    (&[50, 50, 50], &[50]),
    (&[60, 40, 40], &[60]),
    (&[30, 30, 30], &[30]),
    (&[40, 40, 40, 40, 40], &[40, 40]),
    (&[45, 61, 36, 36], &[61, 58, 36]),
];

/// Bits of the primes of a chain: of those of ciphertexts and of the special ones.
pub type Bits = (&'static [u32], &'static [u32]);

/// The rings of odd index that laws run on, with a plaintext modulus each. 4369, the smallest that is of use in
/// earnest, takes fifty times as long and is in fewer laws.
pub const ODD_RINGS: [(usize, u64); 2] = [(255, 7), (255, 2)];
pub const LARGE_RINGS: [(usize, u64); 2] = [(4369, 3), (4369, 2)];

/// All schemes with a chain on the power-of-two ring, and those of integers on odd ones and with levels that are
/// no prefixes.
pub fn sets(chain: Bits) -> Vec<Spec> {
    let mut sets = SCHEMES.map(|scheme| chained(scheme, chain)).to_vec();
    sets.extend(odd_sets(&ODD_RINGS, chain));
    let exact = [SchemeKind::Bfv, SchemeKind::Bgv].map(|scheme| chained(scheme, chain));
    sets.extend(exact.into_iter().chain(odd_sets(&ODD_RINGS[..1], chain)).map(pooled));
    sets
}

/// The same with levels of the last primes and of the first ones in turn: a step divides by some and brings back
/// others.
pub fn pooled(mut set: Spec) -> Spec {
    let all = set.coeff_moduli.len();
    let level = |count: usize| {
        let first = if count.is_multiple_of(2) { all - count } else { 0 };
        PrimeSet::new(first..first + count)
    };
    set.levels = (1..=all).map(level).collect();
    set
}

/// BFV and BGV on rings of odd index.
pub fn odd_sets(rings: &[(usize, u64)], chain: Bits) -> Vec<Spec> {
    let of_ring = |&(index, plain_modulus): &(usize, u64)| {
        let ring = RingIndex::new(index).unwrap();
        [SchemeKind::Bfv, SchemeKind::Bgv].map(|scheme| Spec {
            plaintext: PlaintextSpace::Integers { plain_modulus },
            ..over(ring, scheme, chain)
        })
    };
    rings.iter().flat_map(of_ring).collect()
}

/// A set of one of three schemes with a chain.
pub fn chained(scheme: SchemeKind, chain: (&[u32], &[u32])) -> Spec {
    over(RingIndex::power_of_two(DEGREE).unwrap(), scheme, chain)
}

fn over(ring: RingIndex, scheme: SchemeKind, (coefficient, special): (&[u32], &[u32])) -> Spec {
    let mut left: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    let all = coefficient.len() + special.len();
    let mut primes = |bits: &[u32]| -> Vec<u64> {
        let mut next = |&bits: &u32| {
            let of_size = || ring.ntt_primes(bits, all).unwrap();
            left.entry(bits).or_insert_with(of_size).pop().unwrap()
        };
        bits.iter().map(&mut next).collect()
    };
    let (special_moduli, coeff_moduli) = (primes(special), primes(coefficient));
    Spec {
        scheme,
        ring,
        coeff_moduli,
        special_moduli,
        plaintext: match scheme {
            SchemeKind::Ckks => PlaintextSpace::Approximate { scale: SCALE },
            _ => PlaintextSpace::Integers { plain_modulus: batching_prime() },
        },
        bound: 1.0,
        packing: None,
        levels: Vec::new(),
    }
}

/// A set of primes of one size.
pub fn spec(scheme: SchemeKind, bits: u32, levels: usize, specials: usize, t: u64) -> Spec {
    let mut spec = chained(scheme, (&vec![bits; levels], &vec![bits; specials]));
    if scheme != SchemeKind::Ckks {
        spec.plaintext = PlaintextSpace::Integers { plain_modulus: t };
    }
    spec
}

/// Generators of tests are seeded, so that a failure can be repeated.
pub fn generator(seed: u64) -> AesCtrRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    AesCtrRng::from_seed(bytes)
}

pub fn party(spec: Spec, seed: u64) -> Party {
    let scheme = Rlwe::new(spec, Assurance::Insecure).unwrap();
    let mut rng = generator(seed);
    let (secret, public) = scheme.generate_keys(&mut rng);
    let relin = scheme.generate_relin_key(&secret, &mut rng).unwrap();
    let ring = scheme.ring();
    let mut elements = vec![scheme.other_element()];
    if ring.is_power_of_two() {
        elements = STEPS.iter().map(|&s| scheme.rotation_element(s).unwrap()).collect();
    }
    elements.push(ring.value() - 1);
    let galois = scheme.generate_galois_keys(&secret, &elements, &mut rng).unwrap();
    Party { scheme, secret, public, relin, galois, rng }
}

pub fn batching_prime() -> u64 {
    ntt_primes(20, DEGREE, 1).unwrap()[0]
}

/// What every ring has, by the same names.
pub trait AnyRing {
    /// An automorphism beside the conjugation: a rotation in power-of-two rings, the Frobenius automorphism of
    /// plaintexts modulo 2 in odd ones.
    fn other_element(&self) -> usize;
    /// Integers in slots, or in coefficients where there are none.
    fn plaintext_of(&self, values: &[i64]) -> Result<rlwe::Plaintext, SchemeError>;
    fn integers_of(&self, plaintext: &rlwe::Plaintext) -> Result<Vec<i64>, SchemeError>;
}

impl AnyRing for Rlwe {
    fn other_element(&self) -> usize {
        self.rotation_element(7).unwrap_or(2)
    }

    fn plaintext_of(&self, values: &[i64]) -> Result<rlwe::Plaintext, SchemeError> {
        if self.ring().is_power_of_two() {
            self.encode_integers(values)
        } else {
            self.encode_coefficients(values)
        }
    }

    fn integers_of(&self, plaintext: &rlwe::Plaintext) -> Result<Vec<i64>, SchemeError> {
        if self.ring().is_power_of_two() {
            self.decode_integers(plaintext)
        } else {
            self.decode_coefficients(plaintext)
        }
    }
}

impl Party {
    pub fn integers(&mut self) -> Vec<i64> {
        let t = self.modulus();
        (0..self.scheme.ring_degree())
            .map(|_| (self.rng.next_u64() % t as u64) as i64 - (t - 1) / 2)
            .collect()
    }

    pub fn modulus(&self) -> i64 {
        let PlaintextSpace::Integers { plain_modulus } = self.scheme.spec().plaintext else {
            panic!()
        };
        plain_modulus as i64
    }

    pub fn numbers(&mut self) -> Vec<Complex64> {
        let mut next = || (self.rng.next_u64() >> 11) as f64 / 2f64.powi(52) - 1.0;
        (0..DEGREE / 2).map(|_| Complex64::new(next(), next()) * 0.7).collect()
    }

    pub fn encrypt(&mut self, values: &[i64]) -> Ciphertext {
        let plaintext = self.encoded(values);
        self.scheme.encrypt(&self.public, &plaintext, &mut self.rng).unwrap()
    }

    pub fn encrypt_complex(&mut self, values: &[Complex64]) -> Ciphertext {
        let levels = self.scheme.levels();
        let plaintext = self.scheme.encode_bounded(values, SCALE, levels, 1.0).unwrap();
        self.scheme.encrypt(&self.public, &plaintext, &mut self.rng).unwrap()
    }

    pub fn decrypt(&self, a: &Ciphertext) -> Vec<i64> {
        // The estimate never claims more room than there is.
        let measured = self.scheme.measured_noise_budget(&self.secret, a).unwrap();
        let claimed = self.scheme.noise_budget(a);
        assert!(claimed <= measured, "claimed {claimed}, measured {measured}");
        let plaintext = self.scheme.decrypt(&self.secret, a).unwrap();
        self.scheme.integers_of(&plaintext).unwrap()
    }

    /// The image under complex conjugation.
    pub fn conjugated(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.scheme.apply_galois(a, self.scheme.ring().value() - 1, &self.galois)
    }

    /// The image under an automorphism that is a rotation in power-of-two rings.
    pub fn other_image(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.scheme.apply_galois(a, self.scheme.other_element(), &self.galois)
    }

    /// Zeros, ready to be encrypted by any of the schemes.
    pub fn zeros(&self) -> rlwe::Plaintext {
        self.encoded(&[])
    }

    /// Small integers in slots, or in coefficients where there are none, as numbers of that size in CKKS; to be
    /// encrypted.
    pub fn encoded(&self, values: &[i64]) -> rlwe::Plaintext {
        let s = &self.scheme;
        if s.scheme() != SchemeKind::Ckks {
            return s.plaintext_of(values).unwrap();
        }
        let values: Vec<Complex64> =
            values.iter().map(|&v| Complex64::new(v as f64, 0.0)).collect();
        let bound = values.iter().fold(1.0, |most: f64, v| most.max(v.norm()));
        s.encode_bounded(&values, SCALE, s.levels(), bound).unwrap()
    }

    /// The same as an operand in the clear for ciphertexts of a level.
    pub fn operand(&self, values: &[i64], level: usize) -> rlwe::Plaintext {
        let s = &self.scheme;
        if s.scheme() != SchemeKind::Ckks {
            return s.plaintext_of(values).unwrap();
        }
        let values: Vec<Complex64> =
            values.iter().map(|&v| Complex64::new(v as f64, 0.0)).collect();
        s.encode_complex(&values, SCALE, level).unwrap()
    }

    pub fn check(&self, a: &Ciphertext, expected: impl Fn(usize) -> i64) {
        let t = self.modulus();
        for (i, value) in self.decrypt(a).into_iter().enumerate() {
            assert_eq!((value - expected(i)).rem_euclid(t), 0, "slot {i}");
        }
    }

    pub fn check_complex(&self, a: &Ciphertext, expected: impl Fn(usize) -> Complex64) {
        let plaintext = self.scheme.decrypt(&self.secret, a).unwrap();
        let bound = self.scheme.error_bound(a);
        assert!(bound < 1e-2, "the bound {bound} says nothing");
        for (i, value) in self.scheme.decode_complex(&plaintext).unwrap().into_iter().enumerate() {
            let error = (value - expected(i)).norm();
            assert!(error < bound, "slot {i}: error {error}, bound {bound}");
        }
    }
}
