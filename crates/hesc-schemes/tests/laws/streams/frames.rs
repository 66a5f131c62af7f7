//! Bytes on the wire as an adversary sees them: cut open, changed and sealed again with a checksum that fits.

use hesc_schemes::wire::checksum;

/// Magic, version, kind and length.
pub const HEADER: usize = 14;
/// Where the names of the parameter set and of the key pair end.
pub const TAGGED: usize = HEADER + 32;
const CHECKSUM: usize = 16;

/// What a frame holds from this offset on.
pub fn body(frame: &[u8], from: usize) -> &[u8] {
    &frame[from..frame.len() - CHECKSUM]
}

/// A frame changed and sealed again: its length and its checksum are right.
pub fn forge(frame: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut forged = frame[..frame.len() - CHECKSUM].to_vec();
    change(&mut forged);
    let length = (forged.len() - HEADER) as u64;
    forged[6..HEADER].copy_from_slice(&length.to_le_bytes());
    let seal = checksum(&forged);
    forged.extend(seal);
    forged
}

/// The same with other bytes at one place.
pub fn overwrite(frame: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    forge(frame, |frame| frame[at..at + bytes.len()].copy_from_slice(bytes))
}

/// The value of so many bits at this bit of a packed body.
pub fn read_bits(body: &[u8], at: usize, bits: u32) -> u64 {
    (0..bits as usize).fold(0, |value, i| {
        let bit = u64::from(body[(at + i) / 8] >> ((at + i) % 8) & 1);
        value | bit << i
    })
}

/// Puts a value of so many bits at this bit.
pub fn write_bits(frame: &mut [u8], at: usize, bits: u32, value: u64) {
    for i in 0..bits as usize {
        let (byte, mask) = ((at + i) / 8, 1u8 << ((at + i) % 8));
        frame[byte] = frame[byte] & !mask | if value >> i & 1 == 1 { mask } else { 0 };
    }
}

/// The frames in a frame that is a list of them.
pub fn nested(frame: &[u8]) -> Vec<&[u8]> {
    let mut rest = body(frame, HEADER + 4);
    let mut found = Vec::new();
    while let Some((length, behind)) = rest.split_first_chunk::<8>() {
        let (inner, behind) = behind.split_at(u64::from_le_bytes(*length) as usize);
        found.push(inner);
        rest = behind;
    }
    found
}

/// A double in a frame.
pub fn read_f64(frame: &[u8], at: usize) -> f64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&frame[at..at + 8]);
    f64::from_le_bytes(bytes)
}
