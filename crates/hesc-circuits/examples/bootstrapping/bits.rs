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
    /// Products that slots to coefficients are cut into, and coefficients to slots.
    pub products: (usize, usize),
    /// Levels that are left for gates.
    pub gates: usize,
    pub bits: Bits,
    /// Special primes.
    pub specials: usize,
    pub assurance: Assurance,
}

/// Bits of primes.
#[derive(Clone, Copy)]
pub struct Bits {
    pub first: u32,
    pub to_coefficients: u32,
    /// Of gates and the cosine: the scale.
    pub scale: u32,
    pub to_slots: u32,
    pub special: u32,
}

/// What the scale loses on each product of slots to coefficients, in bits: they end as numbers that are small beside the first
/// prime, which leaves room for the bounds of values.
const LOST_BITS: i32 = 8;
/// What bits are off by, at most, when they come to be bootstrapped, and what the cosine is given.
const ERROR: f64 = 1.0 / 32.0;

impl Shape {
    /// Level of ciphertexts that are to be bootstrapped.
    pub fn low(&self) -> usize {
        1 + self.products.0
    }

    /// Level of what has been bootstrapped.
    pub fn high(&self) -> usize {
        self.low() + self.gates
    }

    pub fn spec(&self) -> Result<Spec, SchemeError> {
        let (ring, bits) = (RingIndex::power_of_two(self.ring_degree)?, self.bits);
        let others = [
            vec![bits.first],
            vec![bits.to_coefficients; self.products.0],
            vec![bits.to_slots; self.products.1],
            vec![bits.special; self.specials],
        ];
        let mut low = ring.ntt_primes_of_bits(&others.concat(), 1)?;
        let mut high = low.split_off(1 + self.products.0);
        let special_moduli = high.split_off(self.products.1);
        let count = self.gates + cosine::levels(self.range);
        let (scale, middle) = level_primes(ring.ntt_primes(bits.scale, 8 * count)?, count);
        let coeff_moduli = [low, middle, high].concat();
        Ok(Spec {
            scheme: SchemeKind::Ckks,
            ring,
            coeff_moduli,
            levels: Vec::new(),
            special_moduli,
            plaintext: PlaintextSpace::Approximate { scale },
            bound: 1.0,
            packing: None,
        })
    }
}

/// A scale and primes for so many levels, the lowest first: a square at each level, divided by its prime, keeps the scale. A prime of
/// the wrong size would be off by twice as much after each further square.
fn level_primes(mut pool: Vec<u64>, count: usize) -> (f64, Vec<u64>) {
    let wanted = pool[pool.len() / 2] as f64;
    let (mut scale, mut primes) = (wanted, Vec::new());
    for _ in 0..count {
        let off = |q: &u64| (scale * scale / *q as f64 - wanted).abs();
        let best = (0..pool.len()).min_by(|&i, &j| off(&pool[i]).total_cmp(&off(&pool[j])));
        let prime = pool.swap_remove(best.unwrap_or(0));
        scale *= scale / prime as f64;
        primes.push(prime);
    }
    primes.reverse();
    (wanted, primes)
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
        let (low, high) = shape.products;
        let mut elements = exponents(shape.ring_degree, low, false);
        elements.extend(exponents(shape.ring_degree, high, true));
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
        let (count, high_count) = shape.products;
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
            count: high_count,
            level: scheme.levels(),
            // Half, for the sum with the conjugates.
            factor: 0.5 / shape.range,
            scale_factor: scale.powf(1.0 / high_count as f64),
        };
        Ok(Self {
            to_coefficients: Transform::new(scheme, &order, low)?,
            to_slots: Transform::new(scheme, &order, high)?,
            cosine: Cosine::new(scheme, &keys.relin, &keys.galois, shape.range),
            scheme,
            shape,
            keys,
            order,
        })
    }

    /// Fresh encryptions of bits, at the level of what has been bootstrapped.
    pub fn encrypt(&self, bits: &[u8], rng: &mut AesCtrRng) -> Result<Pair, SchemeError> {
        let mut half = |bits: &[u8]| {
            let values: Vec<Complex64> =
                bits.iter().map(|&bit| Complex64::new(f64::from(bit), 0.0)).collect();
            let values = self.order.in_scheme(&values);
            let (scale, level) = (self.scheme.default_scale(), self.shape.high());
            let plain = self.scheme.encode_bounded(&values, scale, level, 1.0)?;
            self.scheme.encrypt(&self.keys.public, &plain, rng)
        };
        let (low, high) = bits.split_at(bits.len() / 2);
        Ok([half(low)?, half(high)?])
    }

    /// The numbers that bits have become.
    pub fn decrypt(&self, bits: &Pair) -> Result<Vec<f64>, SchemeError> {
        let mut values = Vec::new();
        for half in bits {
            let plain = self.scheme.decrypt(&self.keys.secret, half)?;
            let own = self.order.of_scheme(&self.scheme.decode_complex(&plain)?);
            values.extend(own.into_iter().map(|value| value.re));
        }
        Ok(values)
    }

    /// Conjunctions: one level.
    pub fn and(&self, a: &Pair, b: &Pair) -> Result<Pair, SchemeError> {
        let product = |i: usize| self.scheme.product(&self.keys.relin, &a[i], Some(&b[i]));
        Ok([product(0)?, product(1)?])
    }

    /// `i a`: a product with `X^(N/2)`, which loses nothing.
    fn turned(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let turn = vec![Complex64::new(0.0, 1.0); self.scheme.slot_count()];
        let plain = self.scheme.encode_complex(&self.order.in_scheme(&turn), 1.0, a.level())?;
        self.scheme.multiply_plain(a, &plain)
    }

    /// Both as one, in the coefficients of a polynomial modulo the first prime.
    pub fn in_coefficients(&self, a: &Pair) -> Result<Ciphertext, SchemeError> {
        let (scheme, [real, imaginary]) = (self.scheme, a);
        let [real, imaginary] = [(real, imaginary), (imaginary, real)].map(|(half, other)| {
            scheme.mod_switch_to(&scheme.aligned_with(half, other)?, self.shape.low())
        });
        let sum = scheme.add(&real?, &self.turned(&imaginary?)?)?;
        // Of two bits each, for an exclusive or.
        let sum = scheme.claiming(sum, 3.0, ERROR)?;
        self.to_coefficients.apply(scheme, &self.keys.galois, &sum, 3.0)
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

    /// Coefficients in slots, divided by the range and times `i`, as two ciphertexts.
    pub fn in_slots(&self, a: &Ciphertext) -> Result<Pair, SchemeError> {
        let scheme = self.scheme;
        let slots = self.to_slots.apply(scheme, &self.keys.galois, a, self.raised_bound())?;
        let conjugates = scheme.swap_or_conjugate(&slots, &self.keys.galois)?;
        let real = self.turned(&scheme.add(&slots, &conjugates)?)?;
        let imaginary = scheme.sub(&slots, &conjugates)?;
        Ok([scheme.claiming(real, 1.0, ERROR)?, scheme.claiming(imaginary, 1.0, ERROR)?])
    }

    /// Bits, or sums of two of which the parity is meant, with levels again.
    pub fn run(&self, a: &Pair) -> Result<Pair, SchemeError> {
        let [real, imaginary] = self.in_slots(&self.raised(&self.in_coefficients(a)?)?)?;
        Ok([self.cosine.bits(&real)?, self.cosine.bits(&imaginary)?])
    }
}
