//! CKKS (Cheon, Kim, Kim and Song 2017), additions and plaintext products, for counts that are
//! rounded on decryption.
//!
//! Decryptions of CKKS must not be shown to anyone who could have chosen the ciphertext: the
//! unrounded error depends on the secret key (Li and Micciancio 2021). hesc returns rounded
//! counts only, and refuses values that lie between them.

use std::f64::consts::PI;
use std::fmt;
use std::sync::Arc;

use hesc_math::{Coeff, Poly, Ring, Word, kernels, rounding};
use rustfft::num_complex::Complex64;
use rustfft::{Fft, FftPlanner};

use super::{Encoding, Mask};
use crate::rlwe::{PlaintextSpace, Spec, deviations};
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
/// In coefficients a count of one is the integer `scale`. In slots the polynomial `m` has
/// `m(zeta^(4j + 1)) = scale * count_j` for `zeta = exp(i pi / N)`: each conjugate pair of
/// primitive `2N`-th roots of unity has one member with exponent 1 modulo 4. (HESC needs no
/// rotations, hence not the powers of 5 of the usual order.)
pub struct CkksEncoding {
    packing: Packing,
    ring_degree: usize,
    scale: f64,
    /// The scale modulo each prime.
    one: Vec<u64>,
    /// The power of two that every encoded coefficient is a multiple of.
    unit: u64,
    modulus: f64,
    /// `zeta^j`, `j < N`.
    twists: Vec<Complex64>,
    forward: Arc<dyn Fft<f64>>,
    inverse: Arc<dyn Fft<f64>>,
}

impl fmt::Debug for CkksEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CkksEncoding")
            .field("packing", &self.packing)
            .field("ring_degree", &self.ring_degree)
            .field("scale", &self.scale)
            .finish_non_exhaustive()
    }
}

/// Buffers of one thread.
pub struct Scratch {
    values: Vec<Complex64>,
    fft: Vec<Complex64>,
    positive: Vec<u32>,
    negative: Vec<u32>,
}

impl CkksEncoding {
    fn slots(&self) -> usize {
        self.ring_degree / 2
    }

    /// Slot values of packed bits.
    fn slot_values(&self, bits: &[u64], values: &mut [Complex64]) {
        let bit = |i: usize| ((bits[i / 64] >> (i % 64)) & 1) as f64;
        for (j, value) in values.iter_mut().enumerate() {
            let imaginary = match self.packing {
                Packing::ComplexSlots => bit(self.slots() + j),
                _ => 0.0,
            };
            *value = Complex64::new(bit(j), imaginary);
        }
    }

    /// `m(zeta^(4j + 1)) = values_j` to the coefficients of `m`, which come out as
    /// `(m_k, m_(k + N/2))` in the real and imaginary parts.
    ///
    /// For real `m`, `m(zeta^(4j+1)) = sum_k (m_k + i m_(k+N/2)) zeta^k w^(jk)` over `k < N/2`,
    /// with `w = exp(2 pi i / (N/2))`, since `zeta^((4j+1) N/2) = i`: one transform of half size.
    fn interpolate(&self, scratch: &mut Scratch) {
        let norm = 1.0 / self.slots() as f64;
        self.inverse.process_with_scratch(&mut scratch.values, &mut scratch.fft);
        for (value, twist) in scratch.values.iter_mut().zip(&self.twists) {
            *value *= twist.conj() * norm;
        }
    }
}

impl<W: Word> Encoding<W> for CkksEncoding {
    const NAME: &'static str = "ckks";
    type Scratch = Scratch;

    fn new(spec: &Spec, packing: Packing, ring: &Ring<W>) -> Result<Self, SchemeError> {
        let PlaintextSpace::Approximate { scale } = spec.plaintext else {
            return Err(SchemeError::Parameter {
                name: "plaintext",
                value: "integers".into(),
                remedy: "CKKS has approximate numbers with a scale; use BFV for integers",
            });
        };
        let modulus = ring.log2_modulus().exp2();
        let smallest = ring.moduli().iter().map(|q| q.value()).min().unwrap_or(0);
        // Slots are computed in doubles and reduced as small numbers; a coefficient is one number,
        // whose residues are computed once.
        let in_coefficients = packing == Packing::Coefficients;
        let most = if in_coefficients { 2f64.powi(53) } else { smallest as f64 / 2.0 };
        let least = (modulus / LARGEST_RATIO).max(1.0);
        if !(scale > least && scale < modulus / 4.0 && scale < most) {
            return Err(SchemeError::Parameter {
                name: "scale",
                value: scale.to_string(),
                remedy: "choose one above 1 and q / 2^36, below q / 4 and, but in coefficients, below \
                         half of every prime",
            });
        }
        let excess = scale.log2().ceil() as i32 - COEFFICIENT_BITS;
        let slots = spec.ring_degree() / 2;
        let mut planner = FftPlanner::new();
        Ok(Self {
            packing,
            ring_degree: spec.ring_degree(),
            scale,
            one: ring.moduli().iter().map(|q| scale.round() as u64 % q.value()).collect(),
            unit: 1 << excess.max(0),
            modulus,
            twists: (0..slots)
                .map(|k| Complex64::from_polar(1.0, PI * k as f64 / spec.ring_degree() as f64))
                .collect(),
            // Evaluation has positive exponents, which rustfft calls the inverse.
            forward: planner.plan_fft_inverse(slots),
            inverse: planner.plan_fft_forward(slots),
        })
    }

    fn scratch(&self) -> Scratch {
        let fft =
            self.forward.get_inplace_scratch_len().max(self.inverse.get_inplace_scratch_len());
        Scratch {
            values: vec![Complex64::default(); self.slots()],
            fft: vec![Complex64::default(); fft],
            positive: vec![0; self.ring_degree],
            negative: vec![0; self.ring_degree],
        }
    }

    fn block_length(&self) -> usize {
        match self.packing {
            Packing::Slots => self.slots(),
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
            Packing::Coefficients => deviations::TAILS,
            // The real part of a slot is a sum of N coefficients times cosines, whose squares add up to
            // N / 2; so is the imaginary part.
            Packing::Slots | Packing::ComplexSlots => {
                deviations::SLOT_TAILS * (self.ring_degree as f64 / 2.0).sqrt()
            }
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
        self.slot_values(bits, &mut scratch.values);
        self.interpolate(scratch);
        let half = self.slots();
        for (k, value) in scratch.values.iter().enumerate() {
            for (at, coefficient) in [(k, value.re), (k + half, value.im)] {
                // |coefficient| <= sqrt(2): with scale below half of every prime it fits.
                let scaled = (coefficient * (self.scale / self.unit as f64)).round();
                scratch.positive[at] = scaled.max(0.0) as u32;
                scratch.negative[at] = (-scaled).max(0.0) as u32;
            }
        }
        let plus = vec![self.unit; ring.limbs()];
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
        self.slot_values(bits, &mut scratch.values);
        self.interpolate(&mut scratch);
        let real = scratch.values.iter().map(|v| v.re);
        let imaginary = scratch.values.iter().map(|v| v.im);
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
            let (low, high) = fractions.split_at_mut(self.slots());
            for (((value, &mut re), &mut im), twist) in
                scratch.values.iter_mut().zip(&mut *low).zip(&mut *high).zip(&self.twists)
            {
                *value = Complex64::new(re, im) * twist;
            }
            self.forward.process_with_scratch(&mut scratch.values, &mut scratch.fft);
            for ((value, re), im) in scratch.values.iter().zip(low).zip(high) {
                (*re, *im) = (value.re, value.im);
            }
            let used = counts.len();
            rounding::round_scaled(counts, &fractions[..used], reciprocal)
        };
        // A count is not negative.
        if counts.iter().any(|&count| count >> 31 == 1) { f64::INFINITY } else { distance }
    }
}
