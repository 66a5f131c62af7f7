//! New arrangements of the same ones. For streams in the clear only: positions of a ciphertext
//! stay where they are.

use rand_core::Rng;

use crate::generators::{Purpose, row_rng};
use crate::{BitStreams, Generator, Origin};

impl BitStreams {
    /// Every stream turned around by `positions`: an isolator (Gaines 1969). Removes the
    /// correlation of Bernoulli streams with themselves; that of structured ones may stay.
    pub fn delayed(&self, positions: usize) -> Self {
        let length = self.stream_length();
        let start = length - positions % length;
        Self::from_bits(self.streams(), length, |stream, at| {
            self.bit(stream, (at + start) % length)
        })
    }

    /// Every stream with its bits in a random order, independent of all others: exact-weight
    /// streams of the same weights, with the identity of their draw.
    pub fn shuffled(&self, random_state: u64) -> (Self, Origin) {
        let length = self.stream_length();
        let mut order: Vec<u32> = (0..length as u32).collect();
        let mut of_stream = usize::MAX;
        let shuffled = Self::from_bits(self.streams(), length, |stream, at| {
            if stream != of_stream {
                of_stream = stream;
                let mut rng = row_rng(random_state, Purpose::Shuffle.draw(0), stream as u64);
                for i in (1..length).rev() {
                    // The bias of the product is below 2^-40 for the longest stream.
                    let j = (u128::from(rng.next_u64()) * (i as u128 + 1)) >> 64;
                    order.swap(i, j as usize);
                }
            }
            self.bit(stream, order[at] as usize)
        });
        let source = Purpose::Shuffle.source(random_state);
        (shuffled, Origin::Draw { generator: Generator::ExactWeight, source, draw: 0 })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Encoder, EncoderConfig, Generator, Representation, scc};

    #[test]
    fn decorrelated_streams_keep_their_values() {
        for generator in [Generator::Bernoulli, Generator::Sobol] {
            let (streams, origin) = Encoder::new(EncoderConfig {
                generator,
                representation: Representation::Unipolar,
                stream_length: 4000,
                first_dimension: 3,
                factors: 2,
                random_state: 2,
            })
            .encode(&[0.3; 20])
            .unwrap();
            let (shuffled, new) = streams.shuffled(9);
            assert!(!new.correlated_with(&origin));
            let delayed = streams.delayed(17);
            for i in 0..20 {
                assert_eq!(streams.ones(i), shuffled.ones(i));
                assert_eq!(streams.ones(i), delayed.ones(i));
                assert_eq!(streams.bit(i, 100), delayed.bit(i, 117));
            }
            // Standard deviation about 0.025: a false alarm below one in a million.
            assert!(scc(&streams, &shuffled).unwrap().iter().all(|c| c.abs() < 0.2));
            if generator == Generator::Bernoulli {
                assert!(scc(&streams, &delayed).unwrap().iter().all(|c| c.abs() < 0.2));
            }
            assert_eq!(streams.delayed(4000), streams);
        }
    }
}
