//! Stream ciphers as circuits, for transciphering: the key is encrypted, and the keystream comes out encrypted.

use std::collections::VecDeque;

use super::{Builder, GateError, Netlist, Wire};

/// Rounds before the first bit of keystream.
const WARM_UP: usize = 1152;
/// Bits of keystream, at most.
const MOST_BITS: usize = 1 << 16;

/// A stream cipher of three shift registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cipher {
    /// De Cannière and Preneel 2005: a key of 80 bits, which is too short today. For comparisons only.
    InsecureTrivium,
    /// Canteaut, Carpov and others 2018 (Journal of Cryptology 31): Trivium for keys of 128 bits, made for this use.
    Kreyvium,
}

impl Cipher {
    /// Bits of the key, and of the initial value.
    pub const fn key_bits(self) -> usize {
        match self {
            Self::InsecureTrivium => 80,
            Self::Kreyvium => 128,
        }
    }

    /// The first bits of the keystream, of two inputs, the key and the initial value: bits of their bytes, the lowest
    /// of each byte first, as that of the keystream.
    ///
    /// # Errors
    /// [`GateError::Size`] for other than 1 to 65536 bits.
    pub fn keystream(self, bits: usize) -> Result<Netlist, GateError> {
        if !(1..=MOST_BITS).contains(&bits) {
            let what = "bits of keystream";
            return Err(GateError::Size { what, value: bits, least: 1, most: MOST_BITS });
        }
        let (mut builder, inputs) = Builder::new(&[self.key_bits(), self.key_bits()]);
        let mut state = State::new(self, &mut builder, &inputs[0], &inputs[1]);
        let mut stream = Vec::with_capacity(bits);
        for round in 0..WARM_UP + bits {
            let bit = state.round(&mut builder);
            if round >= WARM_UP {
                stream.push(bit);
            }
        }
        builder.finish(vec![stream])?.simplified()
    }
}

/// Shift registers, the newest bit first.
struct State {
    first: VecDeque<Wire>,
    second: VecDeque<Wire>,
    third: VecDeque<Wire>,
    /// Key and initial value, which Kreyvium adds in every round, in turns.
    added: Option<[VecDeque<Wire>; 2]>,
}

impl State {
    fn new(cipher: Cipher, builder: &mut Builder, key: &[Wire], initial: &[Wire]) -> Self {
        let (zero, one) = (builder.constant(false), builder.constant(true));
        // Registers are filled from the end of key and initial value.
        let newest = |bits: &[Wire], length: usize| -> VecDeque<Wire> {
            bits.iter().rev().copied().chain(std::iter::repeat(zero)).take(length).collect()
        };
        let constants = |zeros: usize, ones: usize| -> VecDeque<Wire> {
            std::iter::repeat_n(zero, zeros).chain(std::iter::repeat_n(one, ones)).collect()
        };
        match cipher {
            Cipher::InsecureTrivium => Self {
                first: newest(key, 93),
                second: newest(initial, 84),
                third: constants(108, 3),
                added: None,
            },
            Cipher::Kreyvium => {
                let (rest, front) = initial.split_at(44);
                let mut third = newest(rest, 44);
                third.extend(std::iter::repeat_n(one, 66));
                third.push_back(zero);
                Self {
                    first: newest(key, 93),
                    second: newest(front, 84),
                    third,
                    added: Some([key, initial].map(|bits| newest(bits, bits.len()))),
                }
            }
        }
    }

    /// One round; its bit of the stream.
    fn round(&mut self, builder: &mut Builder) -> Wire {
        let (a, b, c) = (&self.first, &self.second, &self.third);
        let from_first = builder.xor(a[65], a[92]);
        let from_second = builder.xor(b[68], b[83]);
        let mut from_third = builder.xor(c[65], c[110]);
        let next = self.added.as_mut().map(|both| {
            both.each_mut().map(|bits| {
                bits.rotate_left(1);
                bits[bits.len() - 1]
            })
        });
        if let Some([key, _]) = next {
            from_third = builder.xor(from_third, key);
        }
        let sum = builder.xor(from_first, from_second);
        let stream = builder.xor(sum, from_third);
        let mut feed = |sum: Wire, x: Wire, y: Wire, other: Wire| {
            let product = builder.and(x, y);
            let sum = builder.xor(sum, product);
            builder.xor(sum, other)
        };
        let into_second = feed(from_first, a[90], a[91], b[77]);
        let into_third = feed(from_second, b[81], b[82], c[86]);
        let into_first = feed(from_third, c[108], c[109], a[68]);
        let into_second = match next {
            Some([_, initial]) => builder.xor(into_second, initial),
            None => into_second,
        };
        let pairs = [
            (&mut self.first, into_first),
            (&mut self.second, into_second),
            (&mut self.third, into_third),
        ];
        for (register, bit) in pairs {
            register.pop_back();
            register.push_front(bit);
        }
        stream
    }
}
