use std::sync::OnceLock;

use hesc_math::finite_field::{Slots as FieldSlots, slot_degree};
use hesc_math::residues::{Reducer, kernels};
use hesc_math::ring::Prime;
use hesc_math::rns::Conversion;
use hesc_math::{MathError, Modulus, RingIndex};
use zeroize::Zeroizing;

use super::chain::Chain;
use super::ciphertext::State;
use super::ciphertext::rounded_up;
use super::noise::{LIMIT, PlainSize};
use super::polys::Phase;
use super::values::Values;
use super::{Plaintext, PlaintextSpace, Rlwe, Spec};
use crate::SchemeError;
use crate::error::refuse;

impl Spec {
    /// Refuses what no set for integers has.
    pub(crate) fn check_integers(&self) -> Result<(), SchemeError> {
        let PlaintextSpace::Integers { plain_modulus } = self.plaintext else {
            let remedy = "BFV and BGV have a plain_modulus; CKKS has approximate numbers";
            return refuse("plaintext", "approximate", remedy);
        };
        if self.bound != 1.0 {
            return refuse("bound", self.bound, "integers have the range of plain_modulus");
        }
        let primes = || self.coeff_moduli.iter().chain(&self.special_moduli);
        if plain_modulus < 2 || primes().any(|q| *q <= plain_modulus) {
            let remedy = "choose at least 2 and less than every prime of the ciphertext modulus";
            return refuse("plain_modulus", plain_modulus, remedy);
        }
        if primes().any(|q| q.is_multiple_of(plain_modulus)) {
            return refuse(
                "plain_modulus",
                plain_modulus,
                "it must not divide the ciphertext modulus",
            );
        }
        Ok(())
    }
}

/// A public plaintext: its coefficients, and what a product with it does to noise.
#[derive(Debug)]
pub(crate) struct Constant {
    pub(crate) words: Vec<u64>,
    pub(crate) size: PlainSize,
}

/// Tables for integers modulo `t`: what BFV and BGV share.
#[derive(Debug)]
pub(crate) struct Integers {
    modulus: Reducer,
    ring: RingIndex,
    slots: Option<Slots>,
    /// Those of odd rings, made when they are wanted: a fraction of a second.
    fields: OnceLock<Result<FieldSlots, MathError>>,
    /// What unpacking multiplies with: the element dual to the normal basis, and those dual to powers of `X`.
    dual: OnceLock<Constant>,
    dual_powers: OnceLock<Vec<Constant>>,
    values: Values,
    /// By level, from a ciphertext's phase to the plaintext.
    decoders: Vec<Conversion>,
}

impl Integers {
    /// `decoder` gives the conversion from a phase modulo some primes to the plaintext.
    pub(crate) fn new(
        plain_modulus: u64,
        chain: &Chain,
        decoder: fn(&[Prime], &Reducer) -> Conversion,
    ) -> Self {
        let modulus = Reducer::new(plain_modulus);
        let decoders = (1..=chain.levels()).map(|level| decoder(chain.level(level), &modulus));
        Self {
            modulus,
            ring: chain.ring(),
            slots: Slots::new(chain.ring(), plain_modulus),
            fields: OnceLock::new(),
            dual: OnceLock::new(),
            dual_powers: OnceLock::new(),
            values: Values::new(chain.ring()),
            decoders: decoders.collect(),
        }
    }

    /// The plaintext modulus.
    pub(crate) fn modulus(&self) -> &Reducer {
        &self.modulus
    }

    /// The integers that decryption tells apart, smallest and largest.
    fn range(&self) -> (i64, i64) {
        let t = self.modulus.value() as i64;
        (-((t - 1) / 2), t / 2)
    }

    /// The residue of an integer in [`Rlwe::integer_range`].
    pub(crate) fn residue(&self, value: i64, position: usize) -> Result<u64, SchemeError> {
        let (smallest, largest) = self.range();
        if !(smallest..=largest).contains(&value) {
            return Err(SchemeError::Value {
                position,
                remedy: "integers lie between minus and plus half of the plaintext modulus, or they \
                         would decrypt to others; take parameters with a larger modulus",
            });
        }
        let t = self.modulus.value();
        Ok(if value < 0 { t - value.unsigned_abs() } else { value as u64 })
    }

    /// Values that a plaintext holds: a slot each, and coefficients where odd rings have no slots.
    pub(crate) fn count(&self) -> usize {
        let fields = (!self.ring.is_power_of_two()).then(|| self.fields().ok()).flatten();
        fields.map_or(self.ring.degree(), FieldSlots::count)
    }

    /// The same by arithmetic alone, where there are slots: nothing is made for it.
    pub(crate) fn slots_expected(&self) -> Option<usize> {
        if self.ring.is_power_of_two() {
            return Some(self.ring.degree());
        }
        let (prime, power) = prime_power(self.modulus.value());
        let degree = slot_degree(self.ring, prime).filter(|_| power > 0)?;
        Some(self.ring.degree() / degree)
    }

    /// The slots of an odd ring.
    pub(crate) fn fields(&self) -> Result<&FieldSlots, SchemeError> {
        if self.ring.is_power_of_two() {
            return Err(SchemeError::without_fields(self.ring));
        }
        let made = self.fields.get_or_init(|| {
            let t = self.modulus.value();
            let (prime, power) = prime_power(t);
            FieldSlots::new(self.ring, prime, power)
        });
        made.as_ref().map_err(|error| error.clone().into())
    }

    fn slots(&self) -> Result<&Slots, SchemeError> {
        if !self.ring.is_power_of_two() {
            return Err(SchemeError::without_rows(self.ring));
        }
        self.slots.as_ref().ok_or(SchemeError::Parameter {
            name: "plain_modulus",
            value: self.modulus.value().to_string(),
            remedy: "slots need a prime that is 1 modulo twice the ring degree; or encode \
                     coefficients",
        })
    }

    /// What a plaintext does to noise. Cost: its values at the roots of unity, once.
    pub(crate) fn plain_size(&self, plaintext: &Plaintext) -> PlainSize {
        *plaintext.size.get_or_init(|| self.size(&plaintext.words))
    }

    /// Rounded up to powers of two: weights of a model may be its owner's secret, and sizes travel with results.
    fn size(&self, words: &[u64]) -> PlainSize {
        let PlainSize { norm, sum, value } = self.exact_size(words);
        let size = |size: f64| rounded_up(size.max(1.0));
        PlainSize { norm: size(norm), sum: size(sum), value: size(value) }
    }

    /// The same as it is, of public numbers.
    pub(crate) fn exact_size(&self, words: &[u64]) -> PlainSize {
        let centred: Vec<f64> = self.centred(words).into_iter().map(|m| m as f64).collect();
        let centred = Zeroizing::new(centred);
        let (norm, value) = self.values.sizes(&centred);
        PlainSize { norm, sum: centred.iter().map(|m| m.abs()).sum(), value }
    }

    /// A constant with these coordinates in the slots. Cost: its values at the roots of unity.
    fn constant(&self, slots: &FieldSlots, coordinates: &[u64]) -> Constant {
        let words = slots.encode(coordinates);
        let size = self.exact_size(&words);
        Constant { words, size }
    }

    /// The element dual to the normal basis, in every slot.
    pub(crate) fn dual(&self) -> Result<&Constant, SchemeError> {
        let slots = self.fields()?;
        Ok(self.dual.get_or_init(|| {
            let coordinates = slots.coordinates(slots.dual()).repeat(slots.count());
            self.constant(slots, &coordinates)
        }))
    }

    /// The elements dual to the powers of `X` below the degree of a slot.
    pub(crate) fn dual_powers(&self) -> Result<&[Constant], SchemeError> {
        let slots = self.fields()?;
        let constant = |i| self.constant(slots, &slots.dual_power(i));
        let constants = || (0..slots.ring().degree()).map(constant).collect();
        Ok(self.dual_powers.get_or_init(constants))
    }

    /// Centred representatives.
    pub(crate) fn centred(&self, words: &[u64]) -> Vec<i64> {
        let t = self.modulus.value();
        let half = t / 2;
        words.iter().map(|&x| if x > half { x as i64 - t as i64 } else { x as i64 }).collect()
    }

    /// The plaintext in the phase of a ciphertext, given in the scheme's domain.
    ///
    /// # Errors
    /// [`SchemeError::NoiseTooLarge`] where it lies too far from the lattice of plaintexts.
    pub(crate) fn decode(
        &self,
        scheme: &Rlwe,
        phase: Phase,
        a: &State,
    ) -> Result<Plaintext, SchemeError> {
        let (n, plain) = (scheme.ring_degree(), &self.modulus);
        let decoder = &self.decoders[a.level - 1];
        let phase = scheme.coefficients(phase, a.level);
        let mut prepared = Zeroizing::new(vec![0; decoder.prepared_words(n)]);
        let distance = decoder.prepare(&mut prepared, |prime| phase.row(prime, 0).words());
        if distance > LIMIT {
            return Err(SchemeError::NoiseTooLarge);
        }
        let mut coefficients = vec![0; n];
        decoder.row(&mut coefficients, 0, &prepared);
        if a.factor != 1 {
            let inverse = inverse_modulo(a.factor, plain.value());
            kernels::scale(&mut coefficients, plain.factor(inverse), plain);
        }
        Ok(Plaintext::integers(scheme.fingerprint(), coefficients))
    }
}

/// The smallest prime that divides a number of at least 2, and the power of it that the number would be: 0 for
/// numbers that are none.
fn prime_power(t: u64) -> (u64, u32) {
    // What is larger than the square of the last candidate has no slots, prime or not.
    let candidates = (2..1 << 12).take_while(|d| d * d <= t);
    let prime = candidates.into_iter().find(|d| t.is_multiple_of(*d)).unwrap_or(t);
    let power = t.ilog(prime);
    (prime, if prime.checked_pow(power) == Some(t) { power } else { 0 })
}

/// The inverse of `a` modulo `m`, 0 where they have a common divisor. Variable time, for public numbers.
pub(crate) fn inverse_modulo(a: u64, m: u64) -> u64 {
    Modulus::new(m).inverse_of_unit(a).unwrap_or(0)
}

/// Integers in the slots of BFV and BGV: two rows of `N / 2`.
///
/// Slot `j` of the first row is the value at `zeta^(3^j)`, of the second at `zeta^(-3^j)`, `zeta` the
/// smallest primitive `2N`-th root of unity modulo `t`: SEAL's order, so that plaintexts are the
/// same polynomials.
#[derive(Debug)]
struct Slots {
    prime: Prime,
    /// For each slot its place in the transform.
    places: Vec<u32>,
}

impl Slots {
    /// Slots exist in power-of-two rings for primes that are 1 modulo `2 N`.
    fn new(ring: RingIndex, plain_modulus: u64) -> Option<Self> {
        if !ring.is_power_of_two() {
            return None;
        }
        let prime = Prime::new(ring, plain_modulus).ok()?;
        let ring_degree = ring.degree();
        let (modulus, root) = (prime.modulus(), prime.root());
        let square = modulus.mul(root, root);
        let order = 2 * ring_degree;
        let (mut power, mut smallest, mut exponent) = (root, root, 1);
        for odd in (3..order).step_by(2) {
            power = modulus.mul(power, square);
            if power < smallest {
                (smallest, exponent) = (power, odd);
            }
        }
        let bits = ring_degree.ilog2();
        let place = |exponent: usize| {
            let odd = exponent % order;
            ((odd / 2).reverse_bits() >> (usize::BITS - bits)) as u32
        };
        let powers: Vec<usize> =
            std::iter::successors(Some(1), |p| Some(p * 3 % order)).take(ring_degree / 2).collect();
        let first = powers.iter().map(|p| place(exponent * p));
        let second = powers.iter().map(|p| place(exponent * (order - p)));
        let places = first.chain(second).collect();
        Some(Self { prime, places })
    }
}

impl Rlwe {
    pub(crate) fn integers(&self) -> Result<&Integers, SchemeError> {
        self.operations().integers().ok_or(SchemeError::NotInScheme {
            operation: "encoding integers",
            scheme: self.scheme().name(),
            remedy: "encode real or complex numbers",
        })
    }

    /// The integers that decryption tells apart, smallest and largest: the centred representatives modulo
    /// the plaintext modulus. Others would come back as other numbers and are refused wherever integers
    /// are encoded.
    ///
    /// # Errors
    /// [`SchemeError::NotInScheme`] for CKKS.
    pub fn integer_range(&self) -> Result<(i64, i64), SchemeError> {
        Ok(self.integers()?.range())
    }

    /// Values that a plaintext holds.
    pub fn slot_count(&self) -> usize {
        self.operations().slots(self.ring_degree())
    }

    /// [`Self::slot_count`] by arithmetic alone, where the set has slots.
    pub(crate) fn slots_expected(&self) -> Option<usize> {
        self.integers().ok()?.slots_expected()
    }

    /// Integers of [`Self::integer_range`] into slots, the rest of which are zero. Cost: a transform modulo `t`.
    ///
    /// # Errors
    /// [`SchemeError::Value`], [`SchemeError::TooManyValues`]; [`SchemeError::Parameter`] for sets
    /// without slots, [`SchemeError::NotInScheme`] for CKKS.
    pub fn encode_integers(&self, values: &[i64]) -> Result<Plaintext, SchemeError> {
        let integers = self.integers()?;
        if !self.ring().is_power_of_two() {
            return self.encode_numbers(integers, values);
        }
        let slots = integers.slots()?;
        check_count(values, self.slot_count())?;
        let mut words = vec![0; self.ring_degree()];
        for (i, (&value, &place)) in values.iter().zip(&slots.places).enumerate() {
            words[place as usize] = integers.residue(value, i)?;
        }
        slots.prime.inverse(&mut words);
        Ok(Plaintext::integers(self.fingerprint(), words))
    }

    /// Integers of [`Self::integer_range`] as coefficients in the ring's basis
    /// ([`RingIndex::exponents`]): products are then products of polynomials. Every ring and plaintext
    /// modulus has coefficients.
    ///
    /// # Errors
    /// [`SchemeError::Value`], [`SchemeError::TooManyValues`]; [`SchemeError::NotInScheme`] for CKKS.
    pub fn encode_coefficients(&self, values: &[i64]) -> Result<Plaintext, SchemeError> {
        let integers = self.integers()?;
        check_count(values, self.ring_degree())?;
        let mut words = vec![0; self.ring_degree()];
        for (i, (word, &value)) in words.iter_mut().zip(values).enumerate() {
            *word = integers.residue(value, i)?;
        }
        Ok(Plaintext::integers(self.fingerprint(), words))
    }

    /// The integers in the slots, centred.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`]; [`SchemeError::Parameter`] for sets without slots, and for a slot of an
    /// odd ring whose value is no number; [`SchemeError::NotInScheme`] for CKKS.
    pub fn decode_integers(&self, plaintext: &Plaintext) -> Result<Vec<i64>, SchemeError> {
        let integers = self.integers()?;
        if !self.ring().is_power_of_two() {
            return self.decode_numbers(integers, plaintext);
        }
        let slots = integers.slots()?;
        self.check_params(plaintext.params)?;
        let mut words = Zeroizing::new(plaintext.words.clone());
        slots.prime.forward(&mut words);
        let values: Vec<u64> = slots.places.iter().map(|&place| words[place as usize]).collect();
        Ok(integers.centred(&values))
    }

    /// The coefficients, centred.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`]; [`SchemeError::NotInScheme`] for CKKS.
    pub fn decode_coefficients(&self, plaintext: &Plaintext) -> Result<Vec<i64>, SchemeError> {
        let integers = self.integers()?;
        self.check_params(plaintext.params)?;
        Ok(integers.centred(&plaintext.words))
    }
}

/// Refuses more values than there are places.
pub(crate) fn check_count<T>(values: &[T], places: usize) -> Result<(), SchemeError> {
    if values.len() > places {
        return Err(SchemeError::TooManyValues { found: values.len(), slots: places });
    }
    Ok(())
}
