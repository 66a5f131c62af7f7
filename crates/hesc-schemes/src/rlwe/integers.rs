use hesc_math::rns::{Prime, Reducer};

use super::SchemeKind;
use super::ciphertext::Body;
use super::{Plaintext, Rlwe};
use crate::SchemeError;

/// Integers in the slots of BFV and BGV: two rows of `N / 2`.
///
/// Slot `j` of the first row is the value at `zeta^(3^j)`, of the second at `zeta^(-3^j)`, `zeta` the
/// smallest primitive `2N`-th root of unity modulo `t`: SEAL's order, so that plaintexts are the
/// same polynomials.
#[derive(Debug)]
pub(crate) struct Slots {
    prime: Prime,
    /// For each slot its place in the transform.
    places: Vec<u32>,
}

impl Slots {
    /// Slots exist for primes that are 1 modulo `2 N`.
    pub(crate) fn new(ring_degree: usize, plain_modulus: u64) -> Option<Self> {
        let prime = Prime::new(ring_degree, plain_modulus).ok()?;
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
    /// The integers that decryption tells apart, smallest and largest: those next to zero modulo the
    /// plaintext modulus. Others would come back as other numbers and are refused wherever integers are
    /// encoded.
    ///
    /// # Errors
    /// [`SchemeError::NotInScheme`] for CKKS.
    pub fn integer_range(&self) -> Result<(i64, i64), SchemeError> {
        let t = self.require_plain()?.value() as i64;
        Ok((-((t - 1) / 2), t / 2))
    }

    /// The residue of an integer in [`Self::integer_range`].
    pub(crate) fn residue(&self, value: i64, position: usize) -> Result<u64, SchemeError> {
        let (smallest, largest) = self.integer_range()?;
        if !(smallest..=largest).contains(&value) {
            return Err(SchemeError::Value {
                value: value.to_string(),
                position,
                remedy: "integers lie between minus and plus half of the plaintext modulus, or they \
                         would decrypt to others; take parameters with a larger modulus",
            });
        }
        let t = self.require_plain()?.value();
        Ok(if value < 0 { t - value.unsigned_abs() } else { value as u64 })
    }

    fn require_plain(&self) -> Result<&Reducer, SchemeError> {
        self.plain().ok_or(SchemeError::NotInScheme {
            operation: "encoding integers",
            scheme: self.scheme().name(),
            remedy: "encode real or complex numbers",
        })
    }

    fn slots(&self) -> Result<&Slots, SchemeError> {
        self.integer_slots().ok_or(SchemeError::Parameter {
            name: "plain_modulus",
            value: self.plain().map_or(0, Reducer::value).to_string(),
            remedy: "slots need a prime that is 1 modulo twice the ring degree; or encode \
                     coefficients",
        })
    }

    /// Values a plaintext holds.
    pub fn slot_count(&self) -> usize {
        match self.scheme() {
            SchemeKind::Ckks => self.ring_degree() / 2,
            _ => self.ring_degree(),
        }
    }

    fn check_count(&self, values: usize, room: usize) -> Result<(), SchemeError> {
        if values > room {
            return Err(SchemeError::TooManyValues { found: values, slots: room });
        }
        Ok(())
    }

    /// Integers of [`Self::integer_range`] into slots, the rest of which are zero. Cost: a transform modulo `t`.
    ///
    /// # Errors
    /// [`SchemeError::Value`], [`SchemeError::TooManyValues`]; [`SchemeError::Parameter`] for sets
    /// without slots, [`SchemeError::NotInScheme`] for CKKS.
    pub fn encode_integers(&self, values: &[i64]) -> Result<Plaintext, SchemeError> {
        self.require_plain()?;
        let slots = self.slots()?;
        self.check_count(values.len(), slots.places.len())?;
        let mut words = vec![0; self.ring_degree()];
        for (i, (&value, &place)) in values.iter().zip(&slots.places).enumerate() {
            words[place as usize] = self.residue(value, i)?;
        }
        slots.prime.inverse(&mut words);
        Ok(self.integers(words))
    }

    /// Integers of [`Self::integer_range`] as coefficients: products are then products of polynomials.
    ///
    /// # Errors
    /// As [`Self::encode_integers`]; every plaintext modulus has coefficients.
    pub fn encode_coefficients(&self, values: &[i64]) -> Result<Plaintext, SchemeError> {
        self.require_plain()?;
        self.check_count(values.len(), self.ring_degree())?;
        let mut words = vec![0; self.ring_degree()];
        for (i, (word, &value)) in words.iter_mut().zip(values).enumerate() {
            *word = self.residue(value, i)?;
        }
        Ok(self.integers(words))
    }

    fn integers(&self, words: Vec<u64>) -> Plaintext {
        Plaintext::new(self.fingerprint(), Body::Integers(words))
    }

    /// Coefficients of an integer plaintext of this set.
    fn integer_body<'a>(&self, plaintext: &'a Plaintext) -> Result<&'a [u64], SchemeError> {
        self.check_params(plaintext.params)?;
        self.require_plain()?;
        match &plaintext.body {
            Body::Integers(words) => Ok(words),
            Body::Approximate { .. } => Err(SchemeError::ParameterMismatch {
                expected: self.fingerprint(),
                found: plaintext.params,
            }),
        }
    }

    fn centred(&self, words: &[u64]) -> Vec<i64> {
        let t = self.plain().map_or(2, Reducer::value);
        let half = t / 2;
        words.iter().map(|&x| if x > half { x as i64 - t as i64 } else { x as i64 }).collect()
    }

    /// The integers in the slots, next to zero.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], and as [`Self::encode_integers`].
    pub fn decode_integers(&self, plaintext: &Plaintext) -> Result<Vec<i64>, SchemeError> {
        let slots = self.slots()?;
        let mut words = self.integer_body(plaintext)?.to_vec();
        slots.prime.forward(&mut words);
        let values: Vec<u64> = slots.places.iter().map(|&place| words[place as usize]).collect();
        Ok(self.centred(&values))
    }

    /// The coefficients, next to zero.
    ///
    /// # Errors
    /// As [`Self::decode_integers`].
    pub fn decode_coefficients(&self, plaintext: &Plaintext) -> Result<Vec<i64>, SchemeError> {
        Ok(self.centred(self.integer_body(plaintext)?))
    }
}
