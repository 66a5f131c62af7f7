use hesc_schemes::rlwe::{
    Encryption, LinearMap, MappedInput, Plaintext, Rlwe, SecretKey, SeededCiphertext, Work,
};
use hesc_schemes::{DryValue, SchemeError};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::bytes::{BITS, Bytes};
use super::clear::{AesKey, BLOCK_BYTES, ROUNDS, constant, shifted_from};

/// Bits of a block.
pub(super) const BLOCK_BITS: usize = BITS * BLOCK_BYTES;
/// Inputs of a column of `MixColumns`, and the factor of each, less one: of [`Bytes::mixing`].
const COLUMN: [usize; 4] = [1, 2, 0, 0];

/// How a set computes AES on an encrypted key: at which level it takes which round's key, and what is left.
pub struct AesPlan {
    pub(super) scheme: Rlwe,
    rounds: usize,
    /// Of what a set's slots are, for each bit of a byte.
    coordinates: Vec<Vec<u64>>,
    pub(super) mixing: [LinearMap; 3],
    pub(super) bits: Vec<LinearMap>,
    /// Where each round's key is added; that of the last to bits.
    key_levels: Vec<usize>,
    depth: usize,
    room: usize,
    budget: f64,
    work: Work,
}

/// The operations of a round, on ciphertexts or without.
pub(super) trait Machine {
    type Value;
    /// Not brought down: its images take part in products too.
    fn product(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, SchemeError>;
    /// At the level where it is wanted next.
    fn product_below(
        &mut self,
        a: &Self::Value,
        b: &Self::Value,
    ) -> Result<Self::Value, SchemeError>;
    fn frobenius(&mut self, a: &Self::Value, times: i64) -> Result<Self::Value, SchemeError>;
}

/// `x^254`, the inverse where there is one. Four products, three in sequence.
pub(super) fn inverse<M: Machine>(by: &mut M, x: &M::Value) -> Result<M::Value, SchemeError> {
    let x2 = by.frobenius(x, 1)?;
    let x3 = by.product(x, &x2)?;
    let x12 = by.frobenius(&x3, 2)?;
    let x14 = by.product(&x12, &x2)?;
    let x15 = by.product(&x3, &x12)?;
    let x240 = by.frobenius(&x15, 4)?;
    by.product_below(&x240, &x14)
}

/// States instead of ciphertexts.
struct DryMachine<'a> {
    scheme: &'a Rlwe,
    work: Work,
}

impl DryMachine<'_> {
    fn noted<V>(&mut self, (value, work): (V, Work), times: usize) -> V {
        self.work += work.times(times);
        value
    }
}

/// All bytes of a block are alike: one is followed, and counted for all.
impl Machine for DryMachine<'_> {
    type Value = DryValue;

    fn product(&mut self, a: &DryValue, b: &DryValue) -> Result<DryValue, SchemeError> {
        let made = self.scheme.dry_product(a, b)?;
        Ok(self.noted(made, BLOCK_BYTES))
    }

    fn product_below(&mut self, a: &DryValue, b: &DryValue) -> Result<DryValue, SchemeError> {
        let made = self.scheme.dry_sum_of_products(&[(a, Some(b))], &[])?;
        Ok(self.noted(made, BLOCK_BYTES))
    }

    fn frobenius(&mut self, a: &DryValue, _times: i64) -> Result<DryValue, SchemeError> {
        let made = self.scheme.dry_image(a)?;
        Ok(self.noted(made, BLOCK_BYTES))
    }
}

impl AesPlan {
    /// Tries the cipher with so many rounds, of which the standard has [`ROUNDS`], so that results have room for some further
    /// products in sequence. Cost: seconds.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for other rounds than 1 to [`ROUNDS`], and slots whose fields have no bytes;
    /// [`SchemeError::NoiseBudget`] for too many of both; as [`Rlwe::check_combines`].
    pub fn new(scheme: &Rlwe, rounds: usize, spare: usize) -> Result<Self, SchemeError> {
        if !(1..=ROUNDS).contains(&rounds) {
            let (value, remedy) =
                (rounds.to_string(), "AES-128 has 10; fewer, to measure, from 1 on");
            return Err(SchemeError::Parameter { name: "rounds", value, remedy });
        }
        scheme.check_combines()?;
        let bytes = Bytes::new(scheme)?;
        let (mixing, bits) = (bytes.mixing()?, bytes.bits()?);
        let mut by = DryMachine { scheme, work: Work::default() };
        let mut key_levels = vec![scheme.levels()];
        // With the counters, which are public.
        let public = scheme.encode_integers(&[1])?;
        let key = scheme.dry_encryption_at(scheme.levels())?;
        let made = scheme.dry_plus_plain(&key, &public)?;
        let mut state = by.noted(made, BLOCK_BYTES);
        for _ in 1..rounds {
            let inverse = inverse(&mut by, &state)?;
            let four = [&inverse; COLUMN.len()];
            let column: Vec<MappedInput> = COLUMN.into_iter().enumerate().collect();
            let maps = mixing.each_ref();
            let (mixed, _) = scheme.dry_linear_maps(&four, (&maps, &[column]), inverse.level())?;
            let all = [&inverse; BLOCK_BYTES];
            let (_, work) = scheme.dry_linear_maps(&all, (&maps, &columns()), inverse.level())?;
            by.noted(((), work), 1);
            let key = scheme.dry_encryption_at(inverse.level())?;
            key_levels.push(inverse.level());
            let sum = scheme.dry_sum(noisiest(scheme, &mixed)?, &key)?;
            state = by.noted(sum, BLOCK_BYTES);
        }
        let inverse = inverse(&mut by, &state)?;
        let maps: Vec<&LinearMap> = bits.iter().collect();
        let outputs: Vec<Vec<MappedInput>> = (0..BITS).map(|bit| vec![(0, bit)]).collect();
        let (high, _) = scheme.dry_linear_maps(&[&inverse], (&maps, &outputs), inverse.level())?;
        let level = scheme.dry_level_of_product(noisiest(scheme, &high)?);
        let made = scheme.dry_linear_maps(&[&inverse], (&maps, &outputs), level)?;
        let found = by.noted(made, BLOCK_BYTES);
        key_levels.push(level);
        let sum = scheme.dry_sum(noisiest(scheme, &found)?, &scheme.dry_encryption_at(level)?)?;
        let sum = by.noted(sum, BLOCK_BITS);
        let made = scheme.dry_plus_plain(&sum, &public)?;
        let bit = by.noted(made, BLOCK_BITS);
        let room = scheme.dry_depth(&bit);
        if room < spare {
            // As many bits as a product has taken, for each that is missing.
            let fresh = scheme.dry_budget(&scheme.dry_encryption(Encryption::SecretKey)?);
            let each = (fresh - scheme.dry_budget(&bit)) / bit.depth() as f64;
            return Err(SchemeError::NoiseBudget { needed_bits: each * (spare - room) as f64 });
        }
        Ok(Self {
            scheme: scheme.clone(),
            rounds,
            coordinates: bytes.coordinates()?,
            mixing,
            bits,
            key_levels,
            depth: bit.depth(),
            room,
            budget: scheme.dry_budget(&bit),
            work: by.work,
        })
    }

    /// Rounds of the cipher: less than the standard's have no claim to security.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Products in sequence.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Further products in sequence that results have room for.
    pub fn room(&self) -> usize {
        self.room
    }

    /// Noise budget of results, in bits.
    pub fn noise_budget(&self) -> f64 {
        self.budget
    }

    /// The level of each round's key, from the one before the first.
    pub fn key_levels(&self) -> &[usize] {
        &self.key_levels
    }

    /// Seconds on one thread for as many blocks as there are slots, by operations counted and their measured speed.
    pub fn seconds(&self) -> f64 {
        self.scheme.measured_speed().seconds(self.work)
    }

    /// The exponents of the automorphisms that a server has to have keys for: Frobenius maps.
    ///
    /// # Errors
    /// As [`Rlwe::field_slots`].
    pub fn elements(&self) -> Result<Vec<usize>, SchemeError> {
        (1..BITS as i64).map(|times| self.scheme.frobenius_element(times)).collect()
    }

    /// Ciphertexts of a key: a byte in all slots of each for all rounds but the last, whose key is bits.
    pub fn key_parts(&self) -> impl Iterator<Item = usize> {
        let bytes = self.key_levels[..self.rounds].iter();
        let bits = self.key_levels[self.rounds..].iter();
        bytes
            .flat_map(|&level| [level; BLOCK_BYTES])
            .chain(bits.flat_map(|&level| [level; BLOCK_BITS]))
    }

    /// A key under a secret one, for a server: once, by [`Self::key_parts`].
    ///
    /// # Errors
    /// Those of encryption.
    pub fn encrypt_key(
        &self,
        key: &AesKey,
        secret: &SecretKey,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<SeededCiphertext>, SchemeError> {
        let keys = key.round_keys(self.rounds);
        let slots = self.scheme.slot_count();
        let mut parts = Vec::with_capacity(BLOCK_BYTES * self.rounds + BLOCK_BITS);
        let (last, before) = keys.split_last().expect("a key before the first round");
        for (round, key) in before.iter().enumerate() {
            for &byte in key {
                // What the affine map of the round before adds.
                let byte = byte ^ if round == 0 { 0 } else { constant() };
                let plain = self.plaintext(&Zeroizing::new(vec![byte; slots]))?;
                parts.push(self.scheme.encrypt_seeded_at(
                    secret,
                    &plain,
                    self.key_levels[round],
                    rng,
                )?);
            }
        }
        for at in 0..BLOCK_BITS {
            let byte = last[at / BITS] ^ constant();
            let row = Zeroizing::new(vec![i64::from(byte >> (at % BITS) & 1); slots]);
            let plain = self.scheme.encode_integers(&row)?;
            parts.push(self.scheme.encrypt_seeded_at(
                secret,
                &plain,
                self.key_levels[self.rounds],
                rng,
            )?);
        }
        Ok(parts)
    }

    /// A byte in each slot.
    pub(super) fn plaintext(&self, bytes: &[u8]) -> Result<Plaintext, SchemeError> {
        let d = self.coordinates[0].len();
        let mut all = Zeroizing::new(vec![0; d * bytes.len()]);
        for (slot, &byte) in all.chunks_exact_mut(d).zip(bytes) {
            for (bit, coordinates) in self.coordinates.iter().enumerate() {
                let mask = u64::from(byte >> bit & 1).wrapping_neg();
                slot.iter_mut().zip(coordinates).for_each(|(x, y)| *x ^= y & mask);
            }
        }
        self.scheme.encode_slots(hesc_schemes::rlwe::Basis::Normal, &all)
    }
}

/// That of some values which has the least noise budget: constants of maps have different sizes.
fn noisiest<'a>(scheme: &Rlwe, values: &'a [DryValue]) -> Result<&'a DryValue, SchemeError> {
    let budget = |a: &&DryValue| scheme.dry_budget(a);
    let least = values.iter().min_by(|a, b| budget(a).total_cmp(&budget(b)));
    least.ok_or(SchemeError::LastLevel { level: 0, wanted: 1 })
}

/// The summands of each byte after `ShiftRows` and `MixColumns`: which inverse, and which map of it.
pub(super) fn columns() -> Vec<Vec<MappedInput>> {
    let summands = |place: usize| {
        let terms = COLUMN.into_iter().enumerate();
        let from = |by: usize| shifted_from(place / 4 * 4 + (place + by) % 4);
        terms.map(|(by, map)| (from(by), map)).collect()
    };
    (0..BLOCK_BYTES).map(summands).collect()
}
