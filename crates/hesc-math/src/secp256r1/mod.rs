//! Points of secp256r1 (NIST P-256), eight at a time.
//!
//! Its users multiply many points by scalars at once, one for each bit of a stream, so that points
//! lie side by side as residues in [`crate::wide`] do: a *group* is [`POINT_OCTETS`] octets that
//! hold eight points. Formulas are complete, so that no point is special: not the neutral one, not
//! equal ones. No operation branches on scalars or points, or indexes memory by them, unless it
//! says that they are public.

mod encoding;
mod field;
mod point;

pub use encoding::{ENCODED_BYTES, Multiples, decode, encode, on_curve};
pub use point::{FixedBase, POINT_OCTETS, add, add_generator_where, keep_where, multiply, neutral};

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::wide::{WINDOW_BITS, windows_of};

/// Bytes of a scalar.
pub const SCALAR_BYTES: usize = 32;
/// Windows of a scalar.
pub const WINDOWS: usize = (8 * SCALAR_BYTES).div_ceil(WINDOW_BITS as usize);

/// The number of points, big-endian (SEC 2, section 2.4.2).
const ORDER: [u8; SCALAR_BYTES] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6,
    0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
];

/// Whether a big-endian scalar is in `[1, order - 1]`.
pub fn is_scalar(bytes: &[u8; SCALAR_BYTES]) -> bool {
    let mut borrow = 0i16;
    for (&x, &n) in bytes.iter().zip(&ORDER).rev() {
        borrow = (i16::from(x) - i16::from(n) + borrow) >> 8;
    }
    let any = bytes.iter().fold(0, |any, byte| any | byte);
    borrow != 0 && any != 0
}

/// A uniform scalar, not zero, big-endian. Rejection tells nothing of the one that stays.
pub fn sample_scalar(rng: &mut impl CryptoRng) -> Zeroizing<[u8; SCALAR_BYTES]> {
    let mut bytes = Zeroizing::new([0; SCALAR_BYTES]);
    while !is_scalar(&bytes) {
        rng.fill_bytes(bytes.as_mut());
    }
    bytes
}

/// The windows of a scalar, lowest first.
pub fn scalar_windows(bytes: &[u8; SCALAR_BYTES]) -> Zeroizing<Vec<u8>> {
    windows_of(bytes, 8 * SCALAR_BYTES as u32)
}
