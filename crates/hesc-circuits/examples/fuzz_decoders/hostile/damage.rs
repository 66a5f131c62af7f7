//! Bytes as a hostile or broken peer sends them: bits, bytes, lengths and counts changed, two objects
//! spliced; the checksum is repaired in most cases.

use hesc_schemes::wire;
use rand_core::Rng;

/// A damaged copy of `bytes`, perhaps with parts of `other`.
pub fn damage(bytes: &[u8], other: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    for _ in 0..1 + rng.next_u32() % 3 {
        if damaged.is_empty() {
            break;
        }
        let mut below = |n: usize| (rng.next_u64() % n.max(1) as u64) as usize;
        // Heads hold the lengths and counts: damage them more often than residues.
        let near = if below(2) == 0 { damaged.len().min(160) } else { damaged.len() };
        let at = below(near);
        match below(7) {
            0 => damaged[at] ^= 1 << below(8),
            1 => damaged[at] = below(256) as u8,
            2 => damaged.truncate(at),
            3 => damaged.insert(at, below(256) as u8),
            4 => {
                let value = [0, 1, u64::MAX, 1 << 31, 1 << 62, 1 << below(64)][below(6)];
                let end = (at + 8).min(damaged.len());
                damaged[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
            }
            5 => {
                let from = below(other.len());
                let length = below(64).min(other.len() - from);
                let end = at.saturating_add(length).min(damaged.len());
                damaged.splice(at..end, other[from..from + length].iter().copied());
            }
            _ => {
                // The second half of a frame, so that a body ends elsewhere.
                damaged.extend_from_slice(&other[below(other.len())..]);
            }
        }
    }
    // Most hostile peers can compute a checksum and a length; some objects are damaged in transit.
    if damaged.len() >= 30 && !rng.next_u32().is_multiple_of(8) {
        let body = damaged.len() - 16;
        damaged[6..14].copy_from_slice(&((body - 14) as u64).to_le_bytes());
        let checksum = wire::checksum(&damaged[..body]);
        damaged[body..].copy_from_slice(&checksum);
    }
    damaged
}
