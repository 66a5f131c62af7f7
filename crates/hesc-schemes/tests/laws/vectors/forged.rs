//! Bytes that lie: wire forms with some of them changed and the checksum repaired.

use hesc_schemes::rlwe::{Ciphertext, Rlwe};
use hesc_schemes::wire::checksum;

/// Where the body of a frame begins, behind magic, version, kind and length.
pub const BODY: usize = 14;
/// Length of the checksum at the end.
const CHECKSUM: usize = 16;
/// Where in a ciphertext's body its numbers stand, behind the tag.
pub const LEVEL: usize = BODY + 32;
pub const PARTS: usize = LEVEL + 1;
pub const FACTOR: usize = PARTS + 1;
pub const SCALE: usize = FACTOR + 8;
pub const DEVIATION: usize = SCALE + 8;
pub const VALUES: usize = DEVIATION + 8;
pub const PEAK: usize = VALUES + 8;
pub const MAGNITUDE: usize = PEAK + 8;
pub const DEGREE_OF_NOISE: usize = MAGNITUDE + 8;
pub const WORDS: usize = DEGREE_OF_NOISE + 4;

/// Makes the header's length and the checksum those of the body that is there.
pub fn repaired(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - CHECKSUM;
    bytes[6..BODY].copy_from_slice(&((end - BODY) as u64).to_le_bytes());
    let sum = checksum(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum);
    bytes
}

/// A frame with some bytes replaced.
pub fn forged(bytes: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + new.len()].copy_from_slice(new);
    repaired(bytes)
}

/// A frame with some bytes taken out and others put in their place.
pub fn spliced(bytes: &[u8], range: std::ops::Range<usize>, new: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes.splice(range, new.iter().copied());
    repaired(bytes)
}

/// A ciphertext that claims another number than is true, if readers take it.
pub fn claiming(s: &Rlwe, a: &Ciphertext, at: usize, claim: f64) -> Option<Ciphertext> {
    let bytes = forged(&s.ciphertext_to_bytes(a), at, &claim.to_le_bytes());
    s.ciphertext_from_bytes(&bytes).ok()
}

/// The same with noise of this peak, alike in all coefficients.
pub fn as_noisy(s: &Rlwe, a: &Ciphertext, peak: f64) -> Option<Ciphertext> {
    let deviation = peak / 14.3;
    let values = deviation * (s.ring_degree() as f64).sqrt();
    let noise = [deviation, values, peak].map(f64::to_le_bytes).concat();
    s.ciphertext_from_bytes(&forged(&s.ciphertext_to_bytes(a), DEVIATION, &noise)).ok()
}

/// The largest number that readers take, next to which they take none: found by halving the interval of
/// doubles, whose bits are in order.
pub fn largest_claim(claimed: impl Fn(f64) -> Option<Ciphertext>) -> (f64, Ciphertext) {
    let (mut low, mut high) = (1.0f64.to_bits(), f64::MAX.to_bits());
    let taken = |bits| claimed(f64::from_bits(bits));
    // Readers refuse less noise than any has, too.
    while taken(low).is_none() {
        low += 1 << 52;
        assert!(low < high, "no claim is taken");
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        if taken(middle).is_some() { low = middle } else { high = middle }
    }
    (f64::from_bits(low), taken(low).unwrap())
}
