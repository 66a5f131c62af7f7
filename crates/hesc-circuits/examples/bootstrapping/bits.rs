//! Bits in the slots of CKKS that bootstrap: the set, the keys, and the circuit.

use hesc_math::{AesCtrRng, RingIndex};
use hesc_schemes::rlwe::{
    Ciphertext, GaloisKeys, PlaintextSpace, PublicKey, RelinKey, Rlwe, SchemeKind, SecretKey, Spec,
};
use hesc_schemes::{Assurance, Complex64, SchemeError};

use super::cosine::{self, Cosine};
use super::transforms::{Order, Transform, Wanted, exponents};

/// What a set is made of.
#[derive(Clone, Copy)]
pub struct Shape {
    pub ring_degree: usize,
    /// What multiples of the first prime stay within.
    pub range: f64,
    /// Products that each transform is cut into.
    pub products: usize,
    /// Levels that are left for gates.
    pub gates: usize,
    /// Bits of the primes of gates, cosine and coefficients to slots, and of the special ones.
    pub bits: (u32, u32),
    /// Special primes.
    pub specials: usize,
    pub assurance: Assurance,
}

/// Bits of the first prime, and of those of slots to coefficients.
const LOW_BITS: (u32, u32) = (49, 42);
/// What the scale loses on each product of slots to coefficients, in bits: they end as numbers that are small beside the first
/// prime, which leaves room for the bounds of values.
const LOST_BITS: i32 = 7;
/// What bits are off by, at most, when they come to be bootstrapped.
const ERROR: f64 = 1.0 / 64.0;

impl Shape {
    /// Level of ciphertexts that are to be bootstrapped.
    pub fn low(&self) -> usize {
        1 + self.products
    }

    /// Level of what has been bootstrapped.
    pub fn high(&self) -> usize {
        self.low() + self.gates
    }

    pub fn spec(&self) -> Result<Spec, SchemeError> {
        let ring = RingIndex::power_of_two(self.ring_degree)?;
        let above = self.gates + cosine::levels(self.range) + self.products;
        let first = ring.ntt_primes(LOW_BITS.0, 1)?;
        let low = ring.ntt_primes(LOW_BITS.1, self.products)?;
        let high = ring.ntt_primes(self.bits.0, above)?;
        Ok(Spec {
            scheme: SchemeKind::Ckks,
            ring,
            coeff_moduli: [first, low, high].concat(),
            levels: Vec::new(),
            special_moduli: ring.ntt_primes(self.bits.1, self.specials)?,
            plaintext: PlaintextSpace::Approximate { scale: f64::from(self.bits.0).exp2() },
            bound: 1.0,
            packing: None,
        })
    }
}

/// Keys, of which a server has all but the first.
pub struct Keys {
    pub secret: SecretKey,
    pub public: PublicKey,
    pub relin: RelinKey,
    pub galois: GaloisKeys,
}

impl Keys {
    pub fn new(scheme: &Rlwe, shape: &Shape, rng: &mut AesCtrRng) -> Result<Self, SchemeError> {
        let (secret, public) = scheme.generate_keys(rng);
        let relin = scheme.generate_relin_key(&secret, rng)?;
        let mut elements = exponents(shape.ring_degree, shape.products);
        elements.push(2 * shape.ring_degree - 1);
        let galois = scheme.generate_galois_keys(&secret, &elements, rng)?;
        Ok(Self { secret, public, relin, galois })
    }

    /// Bytes that travel to a server.
    pub fn bytes(&self, scheme: &Rlwe) -> usize {
        scheme.relin_key_length() + scheme.galois_keys_length(self.galois.elements().count())
    }
}

/// Bits in two ciphertexts, real numbers in the slots of each.
pub type Pair = [Ciphertext; 2];

/// The circuit that bootstraps the bits of a pair.
pub struct Bootstrap<'a> {
    pub scheme: &'a Rlwe,
    pub shape: Shape,
    keys: &'a Keys,
    order: Order,
    pub to_coefficients: Transform,
    pub to_slots: Transform,
    pub cosine: Cosine<'a>,
}

impl<'a> Bootstrap<'a> {
    pub fn new(scheme: &'a Rlwe, shape: Shape, keys: &'a Keys) -> Result<Self, SchemeError> {
        let order = Order::new(shape.ring_degree);
        let count = shape.products;
        let low = Wanted {
            to_slots: false,
            count,
            level: shape.low(),
            factor: 1.0,
            scale_factor: f64::from(-LOST_BITS).exp2(),
        };
        // The raised ciphertext has the first prime as its scale.
        let scale = scheme.default_scale() / scheme.operand_scale(1);
        let high = Wanted {
            to_slots: true,
            count,
            level: scheme.levels(),
            // Half, for the sum with the conjugates.
            factor: 0.5 / shape.range,
            scale_factor: scale.powf(1.0 / count as f64),
        };
        Ok(Self {
            to_coefficients: Transform::new(scheme, &order, low)?,
            to_slots: Transform::new(scheme, &order, high)?,
            cosine: Cosine::new(scheme, &keys.relin, shape.range),
            scheme,
            shape,
            keys,
            order,
        })
    }

    /// Fresh encryptions of bits, at the level of what has been bootstrapped.
    pub fn encrypt(&self, bits: &[u8], rng: &mut AesCtrRng) -> Result<Pair, SchemeError> {
        let half = |bits: &[u8]| {
            let values: Vec<Complex64> =
                bits.iter().map(|&bit| Complex64::new(f64::from(bit), 0.0)).collect();
            let values = self.order.to_scheme(&values);
            let (scale, level) = (self.scheme.default_scale(), self.shape.high());
            let plain = self.scheme.encode_bounded(&values, scale, level, 1.0)?;
            self.scheme.encrypt(&self.keys.public, &plain, rng)
        };
        let (low, high) = bits.split_at(bits.len() / 2);
        let mut half = half;
        Ok([half(low)?, half(high)?])
    }

    /// The numbers that bits have become.
    pub fn decrypt(&self, bits: &Pair) -> Result<Vec<f64>, SchemeError> {
        let mut values = Vec::new();
        for half in bits {
            let plain = self.scheme.decrypt(&self.keys.secret, half)?;
            let own = self.order.from_scheme(&self.scheme.decode_complex(&plain)?);
            values.extend(own.into_iter().map(|value| value.re));
        }
        Ok(values)
    }

    /// Conjunctions: one level.
    pub fn and(&self, a: &Pair, b: &Pair) -> Result<Pair, SchemeError> {
        let product = |i: usize| self.scheme.product(&self.keys.relin, &a[i], Some(&b[i]));
        Ok([product(0)?, product(1)?])
    }

    /// Numbers whose parities are exclusive ors: bootstrapping takes parities.
    pub fn xor(&self, a: &Pair, b: &Pair) -> Result<Pair, SchemeError> {
        let sum = |i: usize| self.scheme.add(&a[i], &b[i]);
        Ok([sum(0)?, sum(1)?])
    }

    /// `i a`, of which all slots are multiplied with the same: nothing is lost.
    fn turned(&self, a: &Ciphertext, turn: Complex64) -> Result<Ciphertext, SchemeError> {
        let turn = vec![turn; self.scheme.slot_count()];
        let plain = self.scheme.encode_complex(&self.order.to_scheme(&turn), 1.0, a.level())?;
        self.scheme.multiply_plain(a, &plain)
    }

    /// At the level where bootstrapping begins; at the set's scale, if it was above.
    fn lowered(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let (scheme, low) = (self.scheme, self.shape.low());
        if a.level() <= low {
            return Ok(a.clone());
        }
        let above = scheme.mod_switch_to(a, low + 1)?;
        let scale = scheme.default_scale() * scheme.operand_scale(low + 1) / above.scale();
        scheme.rescale(&scheme.multiply_real(&above, 1.0, scale)?)
    }

    /// Both as one, in the coefficients of a polynomial modulo the first prime.
    pub fn in_coefficients(&self, a: &Pair) -> Result<Ciphertext, SchemeError> {
        let [real, imaginary] = [&a[0], &a[1]].map(|half| self.lowered(half));
        let turned = self.turned(&imaginary?, Complex64::new(0.0, 1.0))?;
        // Of two bits each, for an exclusive or.
        let sum = self.scheme.claiming(self.scheme.add(&real?, &turned)?, 3.0, ERROR)?;
        self.to_coefficients.apply(self.scheme, &self.keys.galois, &sum, 3.0)
    }

    /// The same modulo all primes: half a bit each, and an integer.
    pub fn raised(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let times = (self.scheme.operand_scale(1) / 2.0 / a.scale()).round() as u64;
        self.scheme.raise_modulus(a, times, self.raised_bound())
    }

    /// What the values of a polynomial with uniform multiples stay within: sixteen deviations.
    fn raised_bound(&self) -> f64 {
        let n = self.shape.ring_degree as f64;
        16.0 * (n / 18.0).sqrt() * n.sqrt()
    }

    /// Coefficients in slots, divided by the range, as two ciphertexts of real numbers.
    pub fn in_slots(&self, a: &Ciphertext) -> Result<Pair, SchemeError> {
        let scheme = self.scheme;
        let slots = self.to_slots.apply(scheme, &self.keys.galois, a, self.raised_bound())?;
        let conjugates = scheme.swap_or_conjugate(&slots, &self.keys.galois)?;
        let real = scheme.add(&slots, &conjugates)?;
        let imaginary = scheme.sub(&slots, &conjugates)?;
        let imaginary = self.turned(&imaginary, Complex64::new(0.0, -1.0))?;
        let claimed = |half: Ciphertext| {
            let error = scheme.error_bound(&half).min(1.0 / 64.0);
            scheme.claiming(half, 1.0, error)
        };
        Ok([claimed(real)?, claimed(imaginary)?])
    }

    /// Bits, or sums of two of which the parity is meant, with levels again.
    pub fn run(&self, a: &Pair) -> Result<Pair, SchemeError> {
        let [real, imaginary] = self.in_slots(&self.raised(&self.in_coefficients(a)?)?)?;
        Ok([self.cosine.bits(&real)?, self.cosine.bits(&imaginary)?])
    }
}
