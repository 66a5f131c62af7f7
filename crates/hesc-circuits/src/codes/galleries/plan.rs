use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::RingProducts;
use hesc_schemes::rlwe::noise::{TAILS, secret_key_deviation};
use hesc_schemes::wire::{Kind, Reader, Writer};

use crate::plans::{self, Declaration, Derived, PlanError, smallest};

/// Ring degrees and bits of the prime, from what is cheapest: few, so that a key serves many plans.
const SIZES: [(usize, u32); 5] = [(2048, 36), (2048, 42), (2048, 50), (4096, 42), (4096, 50)];
/// Bits of a code.
const BITS: std::ops::RangeInclusive<usize> = 64..=4096;
/// What noise may reach, as a share of half of the step from one distance to the next: what is beyond was damaged.
const LIMIT: f64 = 0.875;
/// The square of the norm of a ring's noise is at most so many times its mean, see `ring_products`.
const NORM_MARGIN: f64 = 2.0;

/// What both sides of comparisons agree upon.
pub type Plan = plans::Plan<Declared>;

/// Bits of a code, and of the pieces that it is cut in. Fewer bits to a piece: more codes to a ciphertext, smaller answers
/// and less time for each, and larger probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declared {
    /// Of a code: a multiple of 64, up to 4096.
    pub bits: usize,
    /// Of a piece: 8 at least; pieces make up a code.
    pub piece: usize,
}

/// What signs are multiplied with, and the bits of an answer's coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scales {
    probe: i64,
    gallery: i64,
    answer_bits: u32,
}

fn refuse<T>(name: &'static str, value: usize, remedy: &'static str) -> Result<T, PlanError> {
    Err(SchemeError::Parameter { name, value: value.to_string(), remedy }.into())
}

/// The scales and the fewest bits of an answer with which distances decrypt, but for a probability below `2^-128`.
fn scales(modulus: u64, n: usize, bits: usize, piece: usize) -> Option<Scales> {
    let (ring, length) = (n as f64, bits as f64);
    // The largest inner product, and one step for noise.
    let product = (modulus as f64 / 2.0 * (1.0 - 1e-9) / (length + 1.0)).floor();
    // Noise of the gallery meets the signs of one probe, that of the probe those of a whole ciphertext.
    let gallery = (product / (ring / piece as f64).sqrt()).sqrt().floor().max(1.0);
    let probe = (product / gallery).floor();
    (1..=modulus.ilog2() + 1)
        .map(|answer_bits| Scales { probe: probe as i64, gallery: gallery as i64, answer_bits })
        .find(|&scales| reach(modulus, n, bits, piece, scales) <= LIMIT * probe * gallery)
}

/// What noise stays within, but for a probability below `2^-128`.
///
/// What is decrypted is, over all pieces, `(x + e) (y + f)` with `x` and `y` signs times their scales and `e` and `f` noise:
/// `e y`, `x f` and `e f` are sub-Gaussian given `f`, whose norm is bounded. Roundings are `r_0 + r_1 s`.
fn reach(modulus: u64, n: usize, bits: usize, piece: usize, scales: Scales) -> f64 {
    let Scales { probe, gallery, answer_bits } = scales;
    let (ring, probe, gallery) = (n as f64, probe as f64, gallery as f64);
    let (length, pieces) = (bits as f64, (bits / piece) as f64);
    let deviation = secret_key_deviation();
    let own = deviation * (NORM_MARGIN * ring).sqrt();
    let noise = deviation.powi(2)
        * (pieces * (gallery * ring.sqrt() + own).powi(2) + length * probe.powi(2));
    let unit = modulus as f64 / f64::from(answer_bits).exp2();
    // The worst secret has no zeros; rounding back to residues is a unit of its own. A rounding is off by a 64th more.
    let square = if answer_bits <= modulus.ilog2() { unit * unit + 1.0 } else { 0.0 };
    let roundings = 1.04 * square * (1.0 + ring) / 12.0;
    TAILS * (noise + roundings).sqrt() + 2.0
}

impl Declaration for Declared {
    type Derived = Scales;
    const KIND: Kind = Kind::GalleryPlan;

    fn derive(&self) -> Result<(RingProducts, Scales), PlanError> {
        let Self { bits, piece } = *self;
        if !BITS.contains(&bits) || !bits.is_multiple_of(64) {
            return refuse("bits", bits, "codes have a multiple of 64 bits, up to 4096");
        }
        if piece < 8 || !bits.is_multiple_of(piece) {
            return refuse("piece", piece, "pieces have 8 bits at least, and make up a code");
        }
        let room = |n, modulus| scales(modulus, n, bits, piece).filter(|_| piece <= n);
        match smallest(&SIZES, room)? {
            Some(found) => Ok(found),
            None => refuse("bits", bits, "no set has room for such codes; take shorter ones"),
        }
    }

    fn write(&self, writer: &mut Writer) {
        writer.u32(self.bits as u32).u32(self.piece as u32);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, SchemeError> {
        Ok(Self { bits: reader.u32()? as usize, piece: reader.u32()? as usize })
    }
}

impl Derived for Scales {
    const BYTES: usize = 8 + 8;

    fn answer_bits(&self) -> u32 {
        self.answer_bits
    }

    fn write(&self, writer: &mut Writer) {
        writer.u64(self.probe as u64).u64(self.gallery as u64);
    }
}

impl Plan {
    /// Bits of a code.
    pub fn bits(&self) -> usize {
        self.declared().bits
    }

    /// Bits of a piece.
    pub fn piece(&self) -> usize {
        self.declared().piece
    }

    /// Pieces of a code: ciphertexts of a probe.
    pub fn pieces(&self) -> usize {
        self.bits() / self.piece()
    }

    /// Codes of a gallery that share ciphertexts.
    pub fn capacity(&self) -> usize {
        self.ring_degree() / self.piece()
    }

    pub(super) fn probe_scale(&self) -> i64 {
        self.derived().probe
    }

    pub(super) fn gallery_scale(&self) -> i64 {
        self.derived().gallery
    }

    /// How the records of a gallery are cut into blocks: how many each has.
    pub(super) fn blocks(&self, records: usize) -> impl ExactSizeIterator<Item = usize> + use<> {
        let capacity = self.capacity();
        (0..records.div_ceil(capacity)).map(move |block| capacity.min(records - block * capacity))
    }

    /// What noise stays within.
    #[cfg(test)]
    pub(super) fn reach(&self) -> f64 {
        let q = self.products().modulus();
        reach(q, self.ring_degree(), self.bits(), self.piece(), *self.derived())
    }

    /// Where the inner products of a block lie.
    pub(super) fn places(&self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let piece = self.piece();
        (0..count).map(move |record| record * piece + piece - 1)
    }

    /// The distance that a coefficient of a product says, unless it is off by more than noise is: then more bits than a
    /// code has.
    pub(super) fn distance(&self, coefficient: i64) -> u32 {
        let step = self.probe_scale() * self.gallery_scale();
        let bits = self.bits() as i64;
        // Below 2^53, all of it; what is near a half is refused.
        let distance = (bits * step - coefficient) as f64 / (2 * step) as f64;
        let rounded = distance.round_ties_even();
        let valid = (rounded >= 0.0)
            & (rounded <= bits as f64)
            & ((distance - rounded).abs() <= LIMIT / 2.0);
        rounded as u32 | u32::from(!valid).wrapping_neg()
    }
}
