//! Hamming distances of encrypted codes to clear ones, by additions alone.
//!
//! Codes of `L` bits lie across ciphertexts: bit `j` of the codes of up to `N` records is block `j`, a record
//! a coefficient. A clear code `b` says of each of these *columns* `c_j` whether it or its complement `1 - c_j`
//! is added: the sum holds the distance of `b` to every record at once. The public `1`s are added once.
//!
//! Columns are added by tables of four: all sixteen signed sums of four columns, for as many words as stay in
//! the second-level cache with all tables, and then every code goes past them.
//!
//! What the sum's noise tells is the caller's concern: [`Lattice::hide_noise`].

use hesc_kernels::vectorised;
use hesc_math::{AesCtrRng, Modulus, RngSeed, sampling};
use rand_core::{CryptoRng, Rng as _, SeedableRng};
use zeroize::Zeroizing;

use super::{Bfv, Ciphertexts, CompactCiphertexts, Precision};
use crate::error::refuse;
use crate::gaussian::gaussian_pair;
use crate::rlwe::{PublicKey, noise};
use crate::streams::{Batch, Encrypt, Encryptions};
use crate::{Packing, SchemeError};

/// Words of a ciphertext that go past all tables together: 512 KiB of tables at 512 bits.
const TILE: usize = 64;
/// Columns of a table.
const TABLE: usize = 4;
/// Codes below which tables cost more than they save.
const FEW: usize = 12;
/// Deviations that noise of distances stays within: a Gaussian coefficient is beyond them with a probability
/// below `2^-131`, and then a distance is wrong or refused.
const DISTANCE_TAILS: f64 = 13.3;
/// The widest noise whose values have room in words of 64 bits.
const WIDEST_NOISE: f64 = (1u64 << 57) as f64;
/// Bits of statistical security of hidden noise, at least.
const LEAST_BITS: u32 = 40;

/// Which columns of a batch hold the codes of some records.
#[derive(Debug, Clone, Copy)]
pub struct Columns {
    /// The block of the first bit.
    pub first: usize,
    /// Bits of a code, a multiple of 64.
    pub bits: usize,
    /// Records, at most as many as a block has coefficients; what lies behind them is zero.
    pub records: usize,
}

/// How well the noise of distances is hidden from who decrypts them.
#[derive(Debug, Clone, Copy)]
pub struct Hiding {
    /// Coefficients that are shown in all: the same for each call under this promise.
    pub coefficients: u64,
    /// Bits of statistical security, at least 40.
    pub statistical_bits: u32,
}

/// What the randomness of one [`Bfv::hide_noise`] is made of: drawn one after the other, used on any thread, once.
pub struct NoiseSeed(Zeroizing<RngSeed>);

impl NoiseSeed {
    /// A new one.
    pub fn draw(rng: &mut impl CryptoRng) -> Self {
        Self(sampling::fresh_seed(rng).into())
    }
}

impl Bfv<u32> {
    /// Refuses a set whose counts cannot hold distances of codes so long.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for no whole words of bits, or more than the plaintext modulus holds;
    /// [`SchemeError::PackingCannot`] for slots.
    pub fn check_codes(&self, bits: usize) -> Result<(), SchemeError> {
        let packing = self.packing();
        if packing != Packing::Coefficients {
            let (operation, remedy) = ("a distance of codes", "coefficient");
            return Err(SchemeError::PackingCannot { operation, packing, remedy });
        }
        if bits == 0 || !bits.is_multiple_of(64) {
            return refuse("bits", bits, "codes have a multiple of 64 bits, at least 64");
        }
        if bits as u64 >= self.encoding().plain_modulus() {
            let remedy =
                "distances wrap at the plaintext modulus: take shorter codes, or a larger one";
            return refuse("bits", bits, remedy);
        }
        Ok(())
    }

    /// The distances of every record to every code: a block a code, a record a coefficient, zero (as an
    /// encryption) behind the last record. `codes` are packed rows of `bits / 64` words.
    ///
    /// Columns are independent encryptions, as [`Encrypt::encrypt`] makes them: their noise is taken to add as
    /// that of independent ones does. Who sends one column twice gets wrong distances, or none.
    ///
    /// Time and memory access depend on the clear codes. Cost a code: `bits / 4` additions of ciphertexts, which
    /// are in the cache, and for all codes together four times as many as for one. On one thread.
    ///
    /// # Errors
    /// As [`Self::check_codes`]; [`SchemeError::ParameterMismatch`] for another set's batch,
    /// [`SchemeError::Parameter`] for what are no fresh encryptions and for more records than a block has
    /// coefficients, [`SchemeError::BlockIndex`] for columns that are not there, [`SchemeError::BlockCount`] and
    /// [`SchemeError::Empty`] for codes that are no whole rows, [`SchemeError::NoiseBudget`].
    pub fn distances_vartime(
        &self,
        a: &Ciphertexts<u32>,
        columns: Columns,
        codes: &[u64],
    ) -> Result<Ciphertexts<u32>, SchemeError> {
        let Columns { first, bits, records } = columns;
        self.check_codes(bits)?;
        a.tag.check(self.0.fingerprint, None)?;
        let (ring, n) = (self.ring(), self.ring().ring_degree());
        let deviation = a.state.deviation;
        if deviation != self.secret_key_deviation() && deviation != self.public_key_deviation() {
            let remedy = "columns of codes are fresh encryptions; encrypt them again";
            return refuse("columns", "computed", remedy);
        }
        if records == 0 || records > n {
            return refuse("records", records, "a block holds as many as the ring degree");
        }
        let last = first.checked_add(bits).map_or(usize::MAX, |end| end - 1);
        a.block(last)?;
        let per_code = bits / 64;
        if codes.is_empty() {
            return Err(SchemeError::Empty);
        }
        if !codes.len().is_multiple_of(per_code) {
            let (expected, found) = (codes.len().div_ceil(per_code), codes.len() / per_code);
            return Err(SchemeError::BlockCount { expected, found });
        }
        let state = Self::of_distances(a.state, bits);
        self.check_distances(state)?;

        let rows = codes.len() / per_code;
        let size = 2 * ring.poly_len();
        let mut words = vec![0u32; rows * size];
        let width = if rows < FEW { 1 } else { TABLE };
        let picks: Vec<u8> = codes.iter().flat_map(|&word| digits(word, width)).collect();
        let mut tables = vec![0u32; (bits / width * TILE) << width];
        let columns = &a.words[first * size..][..bits * size];
        for start in (0..size).step_by(TILE) {
            let q = ring.moduli()[start / n % ring.rows()].value() as u32;
            fill_tables(&mut tables, columns, (size, start), width, q);
            let picks = picks.chunks_exact(bits / width);
            for (row, picks) in words.chunks_exact_mut(size).zip(picks) {
                sum_of_picks(&mut row[start..start + TILE], &tables, picks, width, q);
            }
        }
        for (row, code) in words.chunks_exact_mut(size).zip(codes.chunks_exact(per_code)) {
            let ones: u32 = code.iter().map(|word| word.count_ones()).sum();
            let residues = row.chunks_exact_mut(n).zip(ring.moduli()).zip(self.encoding().one());
            for ((own, q), &one) in residues {
                add_constant(&mut own[..records], q.mul(u64::from(ones), one) as u32, q);
            }
        }
        Ok(Batch { tag: a.tag, words, blocks: rows, state })
    }

    /// The precision of a sum of so many columns. Encodings are rounded: each by at most a half.
    fn of_distances(column: Precision, bits: usize) -> Precision {
        let rounding = bits as f64 * 0.5 / DISTANCE_TAILS;
        Precision { deviation: column.deviation * (bits as f64).sqrt() + rounding, ..column }
    }

    /// Bytes of distances to so many codes ([`Self::distances_vartime`]) of columns encrypted so, as small as they
    /// decrypt ([`Self::compact_distances`]).
    pub fn distances_length(&self, codes: usize, bits: usize, of: Encryptions) -> usize {
        let precision = Self::of_distances(self.precision(of), bits);
        match self.compact_bits(precision, DISTANCE_TAILS, f64::hypot) {
            Ok(bits) => self.compact_length(codes, bits),
            Err(_) => self.full_length(codes),
        }
    }

    /// The same distances in ciphertexts which tell nothing else, to who holds the secret key: neither which columns
    /// were added nor their noise. An encryption of zero is added, which hides what was added to the random
    /// part, and then Gaussian noise so wide that the noise of all before is hidden: `sqrt(12 tau) 2^(s/2)` times its
    /// deviation, `tau` the coefficients that are shown in all (Li, Micciancio, Schultz and Sorrell 2022, whose
    /// argument bounds a divergence by the second moment of what is hidden; here that is known, since encryptors
    /// are honest and keys are made as they should be). Behind the `records` of each block, which were asked about, what
    /// is there is masked by uniform numbers modulo the plaintext's (but for a bias of `2^-48`): a sender that says one
    /// record and sends many is answered about one.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for another key,
    /// [`SchemeError::Parameter`] for fewer than 40 bits or no coefficients, or fewer than these are,
    /// [`SchemeError::NoiseBudget`] if the set has no room for the noise.
    pub fn hide_noise(
        &self,
        key: &PublicKey<u32>,
        a: &Ciphertexts<u32>,
        records: usize,
        hiding: Hiding,
        seed: NoiseSeed,
    ) -> Result<Ciphertexts<u32>, SchemeError> {
        let deviation = self.hiding_deviation(a, hiding)?;
        let (ring, n) = (self.ring(), self.ring().ring_degree());
        let mut rng = AesCtrRng::from_seed(*seed.0);
        let mut hidden = self.rerandomise(key, a, &mut rng)?;
        let mut noise = Zeroizing::new(vec![0i64; n]);
        let mut masks = Zeroizing::new(vec![0u64; n.saturating_sub(records)]);
        let plain_modulus = u128::from(self.encoding().plain_modulus());
        for block in hidden.words.chunks_exact_mut(2 * ring.poly_len()) {
            sample_wide(&mut noise, deviation, &mut rng);
            for mask in masks.iter_mut() {
                *mask = ((u128::from(rng.next_u64()) * plain_modulus) >> 64) as u64;
            }
            let rows = block.chunks_exact_mut(n).zip(ring.moduli()).zip(self.encoding().one());
            for ((row, q), &one) in rows {
                for (word, &noise) in row.iter_mut().zip(noise.iter()) {
                    *word = q.add(u64::from(*word), q.reduce_signed(noise)) as u32;
                }
                for (word, &mask) in row[n - masks.len()..].iter_mut().zip(masks.iter()) {
                    *word = q.add(u64::from(*word), q.mul(mask, one)) as u32;
                }
            }
        }
        hidden.state.deviation = deviation.hypot(hidden.state.deviation);
        Ok(hidden)
    }

    /// Deviation of the noise that hides all others, if the set has room for it.
    fn hiding_deviation(&self, a: &Ciphertexts<u32>, hiding: Hiding) -> Result<f64, SchemeError> {
        let Hiding { coefficients, statistical_bits } = hiding;
        if statistical_bits < LEAST_BITS {
            return refuse("statistical_bits", statistical_bits, "take at least 40");
        }
        if coefficients < (a.blocks * self.ring().ring_degree()) as u64 {
            let remedy = "count every coefficient that will be shown, of all answers";
            return refuse("coefficients", coefficients, remedy);
        }
        let factor =
            (12.0 * coefficients as f64).sqrt() * (f64::from(statistical_bits) / 2.0).exp2();
        let deviation = factor * a.state.deviation.hypot(self.public_key_deviation());
        let state = Precision { deviation: deviation * 1.01, ..a.state };
        self.check_distances(state)?;
        if deviation > WIDEST_NOISE {
            let remedy = "show fewer: the noise has no room in words of 64 bits";
            return refuse("coefficients", coefficients, remedy);
        }
        Ok(deviation)
    }

    /// Distances as small as they decrypt with their tails: see [`crate::streams::Compact::compact`].
    ///
    /// # Errors
    /// As there.
    pub fn compact_distances(
        &self,
        a: &Ciphertexts<u32>,
    ) -> Result<CompactCiphertexts, SchemeError> {
        // What is cut off is independent of the noise: variances add.
        self.compact_within(a, DISTANCE_TAILS, f64::hypot)
    }

    fn check_distances(
        &self,
        Precision { deviation, scale }: Precision,
    ) -> Result<(), SchemeError> {
        let budget = noise::budget(deviation, DISTANCE_TAILS, scale);
        if budget < 0.0 { Err(SchemeError::NoiseBudget { needed_bits: -budget }) } else { Ok(()) }
    }
}

/// The digits of `width` bits of a word.
fn digits(word: u64, width: usize) -> impl Iterator<Item = u8> {
    (0..64).step_by(width).map(move |at| (word >> at) as u8 & ((1 << width) - 1))
}

/// For each group of `width` columns all signed sums of their words at one place: bit `k` of an index says that
/// column `k` is subtracted.
fn fill_tables(
    tables: &mut [u32],
    columns: &[u32],
    (size, start): (usize, usize),
    width: usize,
    q: u32,
) {
    let groups = columns.chunks_exact(width * size);
    for (table, group) in tables.chunks_exact_mut(TILE << width).zip(groups) {
        let column = |k: usize| &group[k * size + start..][..TILE];
        table[..TILE].copy_from_slice(column(0));
        for k in 1..width {
            add_tile(&mut table[..TILE], column(k), q);
        }
        for k in 0..width {
            // All sums with column k subtracted, from those without.
            let (done, rest) = table.split_at_mut(TILE << k);
            for (out, of) in rest.chunks_exact_mut(TILE).zip(done.chunks_exact(TILE)) {
                out.copy_from_slice(of);
                subtract_tile(out, column(k), q);
                subtract_tile(out, column(k), q);
            }
        }
    }
}

vectorised! {
    /// `a += b` modulo `q < 2^31`.
    fn add_tile(a: &mut [u32], b: &[u32], q: u32) {
        for (a, &b) in a.iter_mut().zip(b) {
            let sum = *a + b;
            *a = sum.min(sum.wrapping_sub(q));
        }
    }

    /// `a -= b` modulo `q < 2^31`.
    fn subtract_tile(a: &mut [u32], b: &[u32], q: u32) {
        for (a, &b) in a.iter_mut().zip(b) {
            let difference = a.wrapping_sub(b);
            *a = difference.min(difference.wrapping_add(q));
        }
    }

    /// The sum of one entry of each table.
    fn sum_of_picks(out: &mut [u32], tables: &[u32], picks: &[u8], width: usize, q: u32) {
        let mut sums = [0u32; TILE];
        for (table, &pick) in tables.chunks_exact(TILE << width).zip(picks) {
            let entry = &table[usize::from(pick) * TILE..][..TILE];
            for (sum, &word) in sums.iter_mut().zip(entry) {
                let next = *sum + word;
                *sum = next.min(next.wrapping_sub(q));
            }
        }
        out.copy_from_slice(&sums);
    }
}

/// `a += constant` modulo `q`.
fn add_constant(a: &mut [u32], constant: u32, q: &Modulus) {
    let q = q.value() as u32;
    for a in a {
        let sum = *a + constant;
        *a = sum.min(sum.wrapping_sub(q));
    }
}

/// Integers next to normal numbers of this deviation, at most `2^57`: nothing is beyond nine of them. Doubles are
/// coarser than integers far from zero; what is shown is rounded to far less than they have.
fn sample_wide(out: &mut [i64], deviation: f64, rng: &mut impl CryptoRng) {
    for pair in out.chunks_mut(2) {
        let noise = gaussian_pair(rng);
        for (out, part) in pair.iter_mut().zip([noise.re, noise.im]) {
            *out = (deviation * part).round_ties_even() as i64;
        }
    }
}

#[cfg(test)]
#[path = "distances_tests.rs"]
mod tests;
