use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Ciphertext, GaloisKeys, LinearMap, MappedInput, RelinKey, Rlwe};

use super::bytes::BITS;
use super::clear::{BLOCK_BYTES, NONCE_BYTES, counter, shifted_from};
use super::plan::{AesPlan, BLOCK_BITS, Machine, columns, inverse};
use crate::gates::{GateError, Monitor};

/// Ciphertexts and keys.
struct Keyed<'a> {
    scheme: &'a Rlwe,
    relin: &'a RelinKey,
    galois: &'a GaloisKeys,
}

impl Machine for Keyed<'_> {
    type Value = Ciphertext;

    fn product(&mut self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.scheme.product(self.relin, a, Some(b))
    }

    fn product_below(&mut self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.scheme.sum_of_products(self.relin, &[(a, Some(b))], &[])
    }

    fn frobenius(&mut self, a: &Ciphertext, times: i64) -> Result<Ciphertext, SchemeError> {
        self.scheme.apply_galois(a, self.scheme.frobenius_element(times)?, self.galois)
    }
}

impl AesPlan {
    /// Bytes under the cipher in counter mode, as many blocks as there are slots at most, without it: the bits of the blocks'
    /// bytes, the lowest of the first byte first, slot by slot. What lies behind the last byte is keystream. The monitor
    /// counts inverses of bytes.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for another number of bytes, another number of key parts or parts at other levels, and
    /// counters beyond 32 bits; [`SchemeError::KeyMismatch`], [`SchemeError::MissingKey`];
    /// [`SchemeError::NoiseBudget`] for keys with more noise than fresh ones have.
    pub fn decipher(
        &self,
        (relin, galois): (&RelinKey, &GaloisKeys),
        key: &[&Ciphertext],
        (nonce, first): (&[u8; NONCE_BYTES], u32),
        bytes: &[u8],
        monitor: &Monitor,
    ) -> Result<Vec<Ciphertext>, GateError> {
        let scheme = &self.scheme;
        let blocks = bytes.len().div_ceil(BLOCK_BYTES);
        let slots = scheme.slot_count();
        if !(1..=slots).contains(&blocks) || first.checked_add(blocks as u32 - 1).is_none() {
            let problem = SchemeError::Parameter {
                name: "bytes",
                value: bytes.len().to_string(),
                remedy: "give a block for each slot at most, and not none, with counters below 2^32",
            };
            return Err(problem.into());
        }
        self.check_key(relin, key)?;
        let by = &mut Keyed { scheme, relin, galois };
        let rounds = self.rounds();
        monitor.start(rounds * BLOCK_BYTES);
        let inverses = |by: &mut Keyed<'_>, state: &[Ciphertext]| {
            let mut made = Vec::with_capacity(BLOCK_BYTES);
            for x in state {
                monitor.check()?;
                made.push(inverse(by, x)?);
                monitor.advance();
            }
            Ok::<_, GateError>(made)
        };
        let counters: Vec<_> =
            (0..slots as u32).map(|i| counter(nonce, first.wrapping_add(i))).collect();
        let mut state = Vec::with_capacity(BLOCK_BYTES);
        for (at, key) in key[..BLOCK_BYTES].iter().enumerate() {
            let column: Vec<u8> = counters.iter().map(|block| block[at]).collect();
            state.push(scheme.add_plain(key, &self.plaintext(&column)?)?);
        }
        for round in 1..rounds {
            let made = inverses(by, &state)?;
            let made: Vec<&Ciphertext> = made.iter().collect();
            let level = self.key_levels()[round];
            let maps = self.mixing.each_ref();
            let mixed = scheme.linear_maps(&made, (&maps, &columns()), galois, level)?;
            let keys = &key[round * BLOCK_BYTES..][..BLOCK_BYTES];
            state = mixed
                .iter()
                .zip(keys)
                .map(|(byte, key)| scheme.add(byte, key))
                .collect::<Result<_, _>>()?;
        }
        let made = inverses(by, &state)?;
        let maps: Vec<&LinearMap> = self.bits.iter().collect();
        let outputs: Vec<Vec<MappedInput>> = (0..BITS).map(|bit| vec![(0, bit)]).collect();
        let (level, keys) = (self.key_levels()[rounds], &key[rounds * BLOCK_BYTES..]);
        let mut bits = Vec::with_capacity(BLOCK_BITS);
        for (place, key) in keys.chunks_exact(BITS).enumerate() {
            let byte = &made[shifted_from(place)];
            let found = scheme.linear_maps(&[byte], (&maps, &outputs), galois, level)?;
            for (bit, (found, key)) in found.iter().zip(key).enumerate() {
                let row: Vec<i64> = (0..slots)
                    .map(|slot| {
                        bytes
                            .get(slot * BLOCK_BYTES + place)
                            .map_or(0, |byte| i64::from(byte >> bit & 1))
                    })
                    .collect();
                let stream = scheme.add(found, key)?;
                bits.push(scheme.add_plain(&stream, &scheme.encode_integers(&row)?)?);
            }
        }
        Ok(bits)
    }

    /// Refuses parts that are no key of the plan.
    fn check_key(&self, relin: &RelinKey, key: &[&Ciphertext]) -> Result<(), SchemeError> {
        let expected: Vec<usize> = self.key_parts().collect();
        let found: Vec<usize> = key.iter().map(|part| part.level()).collect();
        if expected != found {
            return Err(SchemeError::Parameter {
                name: "key",
                value: format!("{} parts", key.len()),
                remedy: "give all parts of a cipher's key in their order, made for this plan: its rounds and parameters",
            });
        }
        self.scheme.check_inputs(relin, key)
    }
}
