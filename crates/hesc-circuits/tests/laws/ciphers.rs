//! Stream ciphers against published test vectors.

use hesc_circuits::gates::GateError;
use hesc_circuits::gates::ciphers::Cipher;

/// Bytes as bits, the lowest first.
fn bits(hex: &str) -> Vec<u64> {
    let bytes = (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap());
    bytes.flat_map(|byte| (0..8).map(move |bit| u64::from(byte >> bit & 1))).collect()
}

/// Zero keys; one bit in the key, one in the initial value, and another: those that the `tfhe` crate is tested with.
#[test]
fn keystreams_are_those_published() {
    let cases = [
        (Cipher::InsecureTrivium, "00", "00", "FBE0BF265859051B"),
        (Cipher::Kreyvium, "00", "00", "26DCF1F4BC0F1922"),
        (Cipher::Kreyvium, "01", "00", "4FD421D4DA3D2C8A"),
        (Cipher::Kreyvium, "00", "01", "C9217BA0D762ACA1"),
        (Cipher::Kreyvium, "0053A6F94C9FF24598EB", "0D74DB42A91077DE45AC", "D1F0303482061111"),
    ];
    for (cipher, key, initial, expected) in cases {
        let expected = bits(expected);
        let circuit = cipher.keystream(expected.len()).unwrap();
        let padded = |hex: &str| {
            let mut bits = bits(hex);
            bits.resize(cipher.key_bits(), 0);
            bits
        };
        let inputs: Vec<u64> = padded(key).into_iter().chain(padded(initial)).collect();
        let stream = circuit.evaluate(&inputs, 1).unwrap().into_iter().map(|word| word & 1);
        assert_eq!(stream.collect::<Vec<_>>(), expected, "{cipher:?} {key} {initial}");
    }
}

#[test]
fn lengths_of_no_stream_are_refused() {
    for bits in [0, (1 << 16) + 1] {
        let refused = Cipher::Kreyvium.keystream(bits).unwrap_err();
        assert!(matches!(refused, GateError::Size { .. }));
    }
}
