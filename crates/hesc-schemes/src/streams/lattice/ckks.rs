//! CKKS (Cheon, Kim, Kim and Song 2017), additions and plaintext products, for counts that are
//! rounded on decryption.
//!
//! Decryptions of CKKS must not be shown to anyone who could have chosen the ciphertext: the
//! unrounded error depends on the secret key (Li and Micciancio 2021). hesc returns rounded
//! counts only, and refuses values that lie between them.

use hesc_math::ring::Complex64;
use hesc_math::ring::wipe;
use hesc_math::{Coeff, Poly, Ring, Word, kernels, rounding};
use zeroize::Zeroize;

use super::{Encoding, Mask};
use crate::ckks::slots::ComplexSlots;
use crate::error::refuse;
use crate::rlwe::noise::SLOT_TAILS;
use crate::rlwe::{PlaintextSpace, SchemeKind, Spec, noise};
use crate::{Packing, SchemeError};

/// Scale of a mask: its rounding is then negligible beside a count.
const MASK_SCALE: f64 = (1u64 << 20) as f64;
/// Bits of an encoded coefficient: larger scales are multiples of a power of two, so that
/// coefficients fit 32 bits. The rounding is 2^-29 of a count, far below the noise.
const COEFFICIENT_BITS: i32 = 29;
/// Largest modulus in units of the scale: decryption knows values as fractions of the modulus, in doubles, and
/// what they round is then below a thousandth of a count, in slots too.
const LARGEST_RATIO: f64 = (1u64 << 36) as f64;
/// Largest count for which [`CkksEncoding::mask`] bounds the rounding of the mask.
const MASKED_COUNT: f64 = 16.0;

/// Counts as approximate numbers.
///
/// In coefficients a count of one is the integer `scale`; in slots a count is a number, times the scale.
#[derive(Debug)]
pub struct CkksEncoding {
    packing: Packing,
    ring_degree: usize,
    scale: f64,
    /// The scale modulo each prime.
    one: Vec<u64>,
    /// The power of two that every encoded coefficient is a multiple of.
    unit: u64,
    modulus: f64,
    slots: ComplexSlots,
}

/// Buffers of one thread.
pub struct Scratch {
    pairs: Vec<Complex64>,
    fft: Vec<Complex64>,
    positive: Vec<u32>,
    negative: Vec<u32>,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        wipe(&mut self.pairs);
        wipe(&mut self.fft);
        self.positive.zeroize();
        self.negative.zeroize();
    }
}

impl CkksEncoding {
    /// Pairs of coefficients of the polynomial whose slots hold packed bits.
    fn interpolate(&self, bits: &[u64], scratch: &mut Scratch) {
        let bit = |i: usize| ((bits[i / 64] >> (i % 64)) & 1) as f64;
        let slots = self.slots.count();
        let values = (0..slots).map(|j| {
            let both = self.packing == Packing::ComplexSlots;
            Complex64::new(bit(j), if both { bit(slots + j) } else { 0.0 })
        });
        self.slots.interpolate(values, &mut scratch.pairs, &mut scratch.fft);
    }
}

impl<W: Word> Encoding<W> for CkksEncoding {
    const KIND: SchemeKind = SchemeKind::Ckks;
    type Scratch = Scratch;

    fn new(spec: &Spec, packing: Packing, ring: &Ring<W>) -> Result<Self, SchemeError> {
        let PlaintextSpace::Approximate { scale } = spec.plaintext else {
            return refuse(
                "plaintext",
                "integers",
                "CKKS has approximate numbers with a scale; use BFV for integers",
            );
        };
        let modulus = ring.log2_modulus().exp2();
        let smallest = ring.moduli().iter().map(|q| q.value()).min().unwrap_or(0);
        // Slots are computed in doubles and reduced as small numbers; a coefficient is one number,
        // whose residues are computed once.
        let in_coefficients = packing == Packing::Coefficients;
        let most = if in_coefficients { 2f64.powi(53) } else { smallest as f64 / 2.0 };
        let least = (modulus / LARGEST_RATIO).max(1.0);
        if !(scale > least && scale < modulus / 4.0 && scale < most) {
            return refuse(
                "scale",
                scale,
                "choose one above 1 and q / 2^36, below q / 4 and, but in coefficients, below \
                         half of every prime",
            );
        }
        let excess = scale.log2().ceil() as i32 - COEFFICIENT_BITS;
        Ok(Self {
            packing,
            ring_degree: spec.ring_degree(),
            scale,
            one: ring.moduli().iter().map(|q| scale.round() as u64 % q.value()).collect(),
            unit: 1 << excess.max(0),
            modulus,
            slots: ComplexSlots::new(spec.ring_degree()),
        })
    }

    fn scratch(&self) -> Scratch {
        Scratch {
            pairs: vec![Complex64::default(); self.slots.count()],
            fft: self.slots.scratch(),
            positive: vec![0; self.ring_degree],
            negative: vec![0; self.ring_degree],
        }
    }

    fn block_length(&self) -> usize {
        match self.packing {
            Packing::Slots => self.slots.count(),
            Packing::Coefficients | Packing::ComplexSlots => self.ring_degree,
        }
    }

    fn fresh_scale(&self) -> f64 {
        self.scale
    }

    fn scales(&self) -> impl Iterator<Item = f64> {
        // Only slots can be masked.
        let scales = if self.packing == Packing::Slots { usize::MAX } else { 1 };
        std::iter::successors(Some(self.scale), |scale| Some(scale * MASK_SCALE)).take(scales)
    }

    fn max_count(&self, scale: f64) -> u64 {
        // A coefficient is at most the largest slot in absolute value, sqrt(2) times a count if
        // both parts are used, and must stay below q / 2 with the noise.
        let parts = if self.packing == Packing::ComplexSlots { 2f64.sqrt() } else { 1.0 };
        (self.modulus / (2.0 * scale * parts) - 1.0).max(0.0) as u64
    }

    fn parity_survives_wrap(&self) -> bool {
        false
    }

    fn reach(&self) -> f64 {
        match self.packing {
            Packing::Coefficients => noise::STREAM_TAILS,
            // At a root of unity coefficients add up to `sqrt(N)` deviations, in real and imaginary part together.
            Packing::Slots | Packing::ComplexSlots => SLOT_TAILS * (self.ring_degree as f64).sqrt(),
        }
    }

    fn rounding(&self) -> f64 {
        match self.packing {
            // A count of one is the scale, rounded.
            Packing::Coefficients => 0.5,
            Packing::Slots | Packing::ComplexSlots => self.unit as f64 / 2.0,
        }
    }

    fn add_bits(
        &self,
        poly: &mut Poly<W, Coeff, &mut [W]>,
        bits: &[u64],
        scratch: &mut Scratch,
        ring: &Ring<W>,
    ) {
        if self.packing == Packing::Coefficients {
            kernels::add_where(poly.words_mut(), bits, &self.one, ring);
            return;
        }
        self.interpolate(bits, scratch);
        let half = self.slots.count();
        for (k, value) in scratch.pairs.iter().enumerate() {
            for (at, coefficient) in [(k, value.re), (k + half, value.im)] {
                // |coefficient| <= sqrt(2): with scale below half of every prime it fits.
                let scaled = (coefficient * (self.scale / self.unit as f64)).round();
                scratch.positive[at] = scaled.max(0.0) as u32;
                scratch.negative[at] = (-scaled).max(0.0) as u32;
            }
        }
        let plus = vec![self.unit; ring.rows()];
        let minus: Vec<u64> = ring.moduli().iter().map(|q| q.value() - self.unit).collect();
        kernels::add_products(poly.words_mut(), &scratch.positive, &plus, ring);
        kernels::add_products(poly.words_mut(), &scratch.negative, &minus, ring);
    }

    fn mask(&self, bits: &[u64], ring: &Ring<W>) -> Result<Mask<W>, SchemeError> {
        if self.packing != Packing::Slots {
            return Err(SchemeError::PackingCannot {
                operation: "a product with a mask",
                packing: self.packing,
                remedy: "slot",
            });
        }
        let mut scratch = Encoding::<W>::scratch(self);
        self.interpolate(bits, &mut scratch);
        let real = scratch.pairs.iter().map(|v| v.re);
        let imaginary = scratch.pairs.iter().map(|v| v.im);
        let coefficients: Vec<i64> =
            real.chain(imaginary).map(|x| (x * MASK_SCALE).round() as i64).collect();
        let words = ring
            .moduli()
            .iter()
            .flat_map(|q| coefficients.iter().map(|&m| W::from_u64(q.reduce_signed(m))))
            .collect();
        Ok(Mask {
            poly: Poly::new(words, ring),
            // Bits, and what the rounding of the coefficients may add to them.
            value: MASK_SCALE + self.ring_degree as f64 / 2.0,
            scale: MASK_SCALE,
            // Rounding errors of variance 1/12 times counts, relative to the mask's scale.
            rounding: MASKED_COUNT / (12f64.sqrt() * MASK_SCALE),
        })
    }

    fn decode(
        &self,
        fractions: &mut [f64],
        scale: f64,
        counts: &mut [u32],
        scratch: &mut Scratch,
    ) -> f64 {
        rounding::centre(fractions);
        let reciprocal = 1.0 / scale;
        let distance = if self.packing == Packing::Coefficients {
            rounding::round_scaled(counts, fractions, reciprocal)
        } else {
            let (low, high) = fractions.split_at_mut(self.slots.count());
            for ((pair, re), im) in scratch.pairs.iter_mut().zip(&*low).zip(&*high) {
                *pair = Complex64::new(*re, *im);
            }
            let values = self.slots.evaluate(&mut scratch.pairs, &mut scratch.fft);
            for ((value, re), im) in values.zip(low).zip(high) {
                (*re, *im) = (value.re, value.im);
            }
            let used = counts.len();
            rounding::round_scaled(counts, &fractions[..used], reciprocal)
        };
        // A count is not negative.
        if counts.iter().any(|&count| count >> 31 == 1) { f64::INFINITY } else { distance }
    }
}
