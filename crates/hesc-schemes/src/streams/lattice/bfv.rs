//! BFV (Fan and Vercauteren 2012), additions and plaintext products: exact counts modulo `t`.
//!
//! A count `m` is encoded as `round(q m / t)`, in the coefficients (any `t` from 2 on) or in the
//! slots (`t` a prime that is 1 modulo `2N`). With `t = 2` a position reveals the parity and
//! nothing else, which is all that inverted-bipolar products need.

use hesc_kernels::vectorised;
use hesc_math::{Coeff, Eval, Modulus, Poly, Ring, Word, is_prime, kernels, rounding};

use super::{Encoding, Mask};
use crate::error::refuse;
use crate::rlwe::{PlaintextSpace, SchemeKind, Spec, noise};
use crate::{Packing, SchemeError};
use hesc_math::ring::Roots;

/// Plaintext moduli are at most this: counts are `u32`, fractions doubles with room for the noise, and
/// the rounding in [`BfvEncoding::add_bits`] needs `t^2 < 2^50`.
const MAX_PLAIN_MODULUS: u64 = 1 << 25;

/// Counts modulo `t`.
#[derive(Debug)]
pub struct BfvEncoding {
    plain_modulus: u64,
    block_length: usize,
    /// `round(q / t)`, the encoding of 1, modulo each prime.
    one: Vec<u64>,
    /// `q / t`.
    scale: f64,
    /// `floor(q / t)` modulo each prime, and `q mod t`.
    quotient: Vec<u64>,
    remainder: u64,
    /// 1 modulo each prime.
    ones: Vec<u64>,
    /// If values sit in slots.
    slots: Option<Slots>,
}

/// The transform modulo `t`, and the one over the complex numbers.
#[derive(Debug)]
struct Slots {
    ring: Ring<u32>,
    roots: Roots,
}

/// `q mod t` for `q` the product of the moduli.
fn remainder(moduli: &[u64], t: u64) -> u64 {
    let t = Modulus::new(t);
    moduli.iter().fold(1 % t.value(), |product, &q| t.mul(product, q % t.value()))
}

impl BfvEncoding {
    /// Counts are modulo this.
    pub(super) fn plain_modulus(&self) -> u64 {
        self.plain_modulus
    }

    /// The encoding of a count of one in a coefficient, modulo each prime.
    pub(super) fn one(&self) -> &[u64] {
        &self.one
    }

    /// Slot values to plaintext coefficients below `t`, in place.
    fn slots_to_coefficients(ring: &Ring<u32>, values: &mut [u32]) {
        Poly::<u32, Eval, _>::new(values, ring).inverse(ring);
    }
}

vectorised! {
    /// Bits as numbers.
    fn unpack(values: &mut [u32], bits: &[u64]) {
        for (values, &word) in values.chunks_mut(64).zip(bits) {
            for (i, value) in values.iter_mut().enumerate() {
                *value = (word >> i) as u32 & 1;
            }
        }
    }

    /// `floor((m r + floor(t / 2)) / t)` for each `m` below `t < 2^25`, `r` below `t`.
    fn corrections(out: &mut [u32], values: &[u32], remainder: u64, plain_modulus: u64) {
        let (t, half) = (plain_modulus as f64, (plain_modulus / 2) as f64);
        let (reciprocal, remainder) = (1.0 / t, remainder as f64);
        for (out, &m) in out.iter_mut().zip(values) {
            // The numerator is an integer below 2^50; half a unit more keeps its quotient away from the
            // integers, so that the rounding of the product cannot change the floor.
            *out = ((f64::from(m as i32) * remainder + half + 0.5) * reciprocal) as i32 as u32;
        }
    }
}

impl<W: Word> Encoding<W> for BfvEncoding {
    const KIND: SchemeKind = SchemeKind::Bfv;
    type Scratch = Vec<u32>;

    fn new(spec: &Spec, packing: Packing, ring: &Ring<W>) -> Result<Self, SchemeError> {
        let PlaintextSpace::Integers { plain_modulus } = spec.plaintext else {
            return refuse(
                "plaintext",
                "approximate",
                "BFV has integers modulo plain_modulus; use CKKS for approximate numbers",
            );
        };
        let refuse_modulus = |remedy| refuse("plain_modulus", plain_modulus, remedy);
        if !(2..=MAX_PLAIN_MODULUS).contains(&plain_modulus) {
            return refuse_modulus("choose 2 to 2^25");
        }
        if ring.moduli().iter().any(|q| q.value() <= plain_modulus) {
            return refuse_modulus("it must be smaller than every prime of the ciphertext modulus");
        }
        let slots = match packing {
            Packing::Coefficients => None,
            Packing::Slots => {
                if !is_prime(plain_modulus) {
                    return refuse_modulus(
                        "slots need a prime that is 1 modulo 2N; or pack coefficients",
                    );
                }
                match Ring::new(ring.index(), &[plain_modulus]) {
                    Ok(ring) => Some(Slots { ring, roots: Roots::new(spec.ring_degree()) }),
                    Err(_) => {
                        return refuse_modulus(
                            "slots need a prime that is 1 modulo 2N; or pack coefficients",
                        );
                    }
                }
            }
            Packing::ComplexSlots => {
                return refuse("packing", packing, "BFV packs into coefficients or slots");
            }
        };
        let remainder = remainder(&spec.coeff_moduli, plain_modulus);
        // floor(q / t) = (q - q mod t) / t, and q = 0 modulo each prime.
        let quotient: Vec<u64> = ring
            .moduli()
            .iter()
            .map(|&q| q.mul(q.neg(remainder), q.inverse(plain_modulus)))
            .collect();
        // round(r / t) is 1 if r is at least half of t.
        let rounding = u64::from(2 * remainder >= plain_modulus);
        let one = quotient.iter().zip(ring.moduli()).map(|(&x, q)| q.add(x, rounding)).collect();
        Ok(Self {
            plain_modulus,
            block_length: spec.ring_degree(),
            one,
            scale: ring.log2_modulus().exp2() / plain_modulus as f64,
            quotient,
            remainder,
            ones: vec![1; ring.rows()],
            slots,
        })
    }

    fn scratch(&self) -> Vec<u32> {
        if self.slots.is_some() { vec![0; 2 * self.block_length] } else { Vec::new() }
    }

    fn block_length(&self) -> usize {
        self.block_length
    }

    fn fresh_scale(&self) -> f64 {
        self.scale
    }

    fn scales(&self) -> impl Iterator<Item = f64> {
        std::iter::once(self.scale)
    }

    fn max_count(&self, _scale: f64) -> u64 {
        self.plain_modulus - 1
    }

    fn parity_survives_wrap(&self) -> bool {
        self.plain_modulus.is_multiple_of(2)
    }

    fn reach(&self) -> f64 {
        noise::STREAM_TAILS
    }

    fn rounding(&self) -> f64 {
        0.5
    }

    fn add_bits(
        &self,
        poly: &mut Poly<W, Coeff, &mut [W]>,
        bits: &[u64],
        scratch: &mut Vec<u32>,
        ring: &Ring<W>,
    ) {
        let Some(slots) = &self.slots else {
            kernels::add_where(poly.words_mut(), bits, &self.one, ring);
            return;
        };
        let (values, rounded) = scratch.split_at_mut(self.block_length);
        unpack(values, bits);
        Self::slots_to_coefficients(&slots.ring, values);
        // round(q m / t) = m floor(q / t) + floor((m r + floor(t / 2)) / t) with r = q mod t.
        corrections(rounded, values, self.remainder, self.plain_modulus);
        kernels::add_products(poly.words_mut(), values, &self.quotient, ring);
        kernels::add_products(poly.words_mut(), rounded, &self.ones, ring);
    }

    fn mask(&self, bits: &[u64], ring: &Ring<W>) -> Result<Mask<W>, SchemeError> {
        let Some(slots) = &self.slots else {
            return Err(SchemeError::PackingCannot {
                operation: "a product with a mask",
                packing: Packing::Coefficients,
                remedy: "slot",
            });
        };
        let mut values = vec![0; self.block_length];
        unpack(&mut values, bits);
        Self::slots_to_coefficients(&slots.ring, &mut values);
        let t = Modulus::new(self.plain_modulus);
        let centred: Vec<i64> = values.iter().map(|&m| t.centre(u64::from(m))).collect();
        let words = ring
            .moduli()
            .iter()
            .flat_map(|q| centred.iter().map(|&m| W::from_u64(q.reduce_signed(m))))
            .collect();
        let coefficients: Vec<f64> = centred.iter().map(|&m| m as f64).collect();
        let value = slots.roots.largest(&coefficients).max(1.0);
        Ok(Mask { poly: Poly::new(words, ring), value, scale: 1.0, rounding: 0.0 })
    }

    fn decode(
        &self,
        fractions: &mut [f64],
        _scale: f64,
        counts: &mut [u32],
        _scratch: &mut Vec<u32>,
    ) -> f64 {
        let distance = rounding::round_scaled(counts, fractions, self.plain_modulus as f64);
        rounding::wrap(counts, self.plain_modulus as u32);
        if let Some(slots) = &self.slots {
            Poly::<u32, Coeff, _>::new(counts, &slots.ring).forward(&slots.ring);
        }
        distance
    }
}
