//! Integers with a discrete Gaussian law: `z` with a probability proportional to `exp(-z^2 / 2 sigma^2)`, and the same over
//! the numbers of a residue class.
//!
//! Probabilities are right to `2^-110`: magnitudes are found in a table of cumulated ones with 127 bits, of which a first
//! look takes 15. Once in a thousand numbers these do not decide, and 112 more are drawn. How often that is, and how many
//! numbers a class rejects, shows in time; which ones are kept does not.

use bytemuck::cast_slice_mut;
use hesc_kernels::vectorised;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

/// Bits of a table's probabilities.
const BITS: u32 = 127;
/// Bits that are looked at first: those of a word of 16 bits beside the sign.
const FIRST: u32 = 15;
/// Numbers drawn at a time, and those of classes.
const AT_ONCE: usize = 1024;
const CHUNK: usize = 256;
/// What stands for a number whose first bits do not decide.
const UNDECIDED: i16 = i16::MIN;

/// A law of integers about zero.
#[derive(Debug, Clone)]
pub struct DiscreteGaussian {
    /// How likely magnitudes below 1, 2, ... are, in units of `2^-127`.
    below: Vec<u128>,
    /// Their first bits, each once.
    first: Vec<u16>,
}

/// The upper half of a product of fractions of 128 bits.
fn fraction_product(a: u128, b: u128) -> u128 {
    let half = |x: u128| (x >> 64, x & u128::from(u64::MAX));
    let ((a1, a0), (b1, b0)) = (half(a), half(b));
    let middle = a1 * b0 + ((a0 * b0) >> 64);
    let (high, low) = half(middle);
    a1 * b1 + high + ((a0 * b1 + low) >> 64)
}

/// `a / b` in units of `2^-127`, for `a < b` of 127 bits at most.
fn quotient(mut a: u128, b: u128) -> u128 {
    (0..BITS).fold(0, |found, _| {
        a <<= 1;
        let fits = a >= b;
        a -= if fits { b } else { 0 };
        found << 1 | u128::from(fits)
    })
}

impl DiscreteGaussian {
    /// `sigma = 4`.
    pub fn of_deviation_4() -> Self {
        // exp(-1 / 32).
        Self::new(0xf81f_ab54_45ae_bc8a_5805_5fcb_bb13_9ae8)
    }

    /// `sigma = 17 / 4`.
    fn of_deviation_17_4() -> Self {
        // exp(-8 / 289).
        Self::new(0xf902_bbdd_ea13_f9fe_fd6f_f209_fc76_86b8)
    }

    /// The law of which `exp(-1 / 2 sigma^2)` is given as a fraction of 128 bits.
    fn new(base: u128) -> Self {
        // exp(-k^2 / 2 sigma^2), from one to the next by exp(-(2 k + 1) / 2 sigma^2); sums stay below 2^5.
        const ROOM: u32 = 6;
        let square = fraction_product(base, base);
        let (mut weight, mut step) = (base, base);
        let mut weights = vec![u128::MAX >> ROOM];
        while weight >> ROOM > 0 {
            // Both signs.
            weights.push(2 * (weight >> ROOM));
            step = fraction_product(step, square);
            weight = fraction_product(weight, step);
        }
        let total = weights.iter().sum();
        let sums = weights.iter().scan(0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        let below: Vec<u128> =
            sums.take_while(|&sum| sum < total).map(|sum| quotient(sum, total)).collect();
        let mut first: Vec<u16> =
            below.iter().map(|below| (below >> (BITS - FIRST)) as u16).collect();
        first.dedup();
        Self { below, first }
    }

    /// Independent numbers. Cost: 2 bytes of the generator's each.
    pub fn fill(&self, out: &mut [i16], rng: &mut impl CryptoRng) {
        // Words of 64 bits, which are wiped in a quarter of the time.
        let mut words = Zeroizing::new([0u64; AT_ONCE / 4]);
        for out in out.chunks_mut(AT_ONCE) {
            let random: &mut [u16] = &mut cast_slice_mut(&mut *words)[..out.len()];
            rng.fill_bytes(cast_slice_mut(random));
            if rank(out, random, &self.first) {
                for (out, words) in out.chunks_mut(LANES).zip(random.chunks(LANES)) {
                    // Without a branch for each: most have none.
                    if out.iter().fold(false, |any, &x| any | (x == UNDECIDED)) {
                        for (out, &word) in out.iter_mut().zip(words) {
                            if *out == UNDECIDED {
                                *out = self.decided(word, rng);
                            }
                        }
                    }
                }
            }
        }
    }

    /// The number of a word with more bits behind it.
    fn decided(&self, word: u16, rng: &mut impl CryptoRng) -> i16 {
        let mut more = Zeroizing::new([0u64; 2]);
        rng.fill_bytes(cast_slice_mut(&mut *more));
        let more = u128::from(more[0]) << 64 | u128::from(more[1]);
        let magnitude =
            u128::from(word & 0x7FFF) << (BITS - FIRST) | more >> (128 - (BITS - FIRST));
        let rank: i16 = self.below.iter().map(|&below| i16::from(magnitude >= below)).sum();
        let sign = -((word >> FIRST) as i16);
        (rank ^ sign) - sign
    }
}

vectorised! {
    /// Numbers by the first bits of words, and whether there are some that these do not decide.
    fn rank(out: &mut [i16], random: &[u16], first: &[u16]) -> bool {
        let ((out, last), (random, rest)) = (out.as_chunks_mut(), random.as_chunks());
        let mut any = 0;
        for (out, random) in out.iter_mut().zip(random) {
            any |= rank_lanes(out, random, first);
        }
        // Few that are left over, beside words that nobody looks at.
        let (mut words, mut found) = ([0; LANES], [0; LANES]);
        words[..rest.len()].copy_from_slice(rest);
        rank_lanes(&mut found, &words, first);
        last.copy_from_slice(&found[..last.len()]);
        any != 0 || last.contains(&UNDECIDED)
    }
}

/// As many words as a vector has.
const LANES: usize = 32;

/// Bounds one after the other, so that words and ranks stay in registers; not zero if one does not decide.
#[inline(always)]
fn rank_lanes(out: &mut [i16; LANES], random: &[u16; LANES], first: &[u16]) -> i16 {
    // The least of differences is zero where there is a bound: a minimum takes less than a comparison and its mask.
    let (mut ranks, mut nearest) = ([0i16; LANES], [u16::MAX; LANES]);
    for &bound in first {
        for lane in 0..LANES {
            let magnitude = random[lane] & 0x7FFF;
            ranks[lane] += i16::from(magnitude > bound);
            nearest[lane] = nearest[lane].min(magnitude ^ bound);
        }
    }
    let mut any = 0;
    for lane in 0..LANES {
        let same = -i16::from(nearest[lane] == 0);
        let sign = -((random[lane] >> FIRST) as i16);
        out[lane] = (((ranks[lane] ^ sign) - sign) & !same) | (UNDECIDED & same);
        any |= same;
    }
    any
}

/// The law with `sigma = 4 t` of the numbers of a residue class modulo `t`.
pub struct CosetGaussian {
    modulus: i64,
    wider: DiscreteGaussian,
}

impl CosetGaussian {
    /// Numbers modulo `2` to `2^40`.
    ///
    /// # Panics
    /// For another modulus.
    pub fn new(modulus: u64) -> Self {
        assert!((2..=1 << 40).contains(&modulus), "a modulus of 2 to 2^40");
        Self { modulus: modulus as i64, wider: DiscreteGaussian::of_deviation_17_4() }
    }

    /// Replaces each residue, below the modulus, by a number of its class.
    ///
    /// A quotient `z` from the law with `17 / 4` is kept with a probability proportional to `exp(z^2 / 2 (17 / 4)^2 -
    /// (z + f)^2 / 2 4^2)`, `f` the number's fraction of the modulus: nine in ten are.
    pub fn fill(&self, numbers: &mut [i64], rng: &mut impl CryptoRng) {
        let mut quotients = Zeroizing::new([0i16; CHUNK]);
        let mut uniform = Zeroizing::new([0u64; CHUNK]);
        let mut left = Zeroizing::new([0i64; CHUNK]);
        let mut found = Zeroizing::new([0i64; CHUNK]);
        let mut kept = [0u64; CHUNK];
        for numbers in numbers.chunks_mut(CHUNK) {
            let mut count = numbers.len();
            let mut places: [usize; CHUNK] = std::array::from_fn(|place| place);
            left[..count].copy_from_slice(numbers);
            while count > 0 {
                self.wider.fill(&mut quotients[..count], rng);
                rng.fill_bytes(cast_slice_mut(&mut uniform[..count]));
                let drawn = (&quotients[..count], &uniform[..count]);
                tried(&mut *found, &mut kept, &left[..count], drawn, self.modulus);
                let mut again = 0;
                for at in 0..count {
                    numbers[places[at]] = found[at];
                    // Those that are refused come to the front.
                    (places[again], left[again]) = (places[at], left[at]);
                    again += usize::from(kept[at] == 0);
                }
                count = again;
            }
        }
    }
}

vectorised! {
    /// Numbers of classes by quotients, and which of them are kept.
    fn tried(found: &mut [i64], kept: &mut [u64], residues: &[i64], drawn: (&[i16], &[u64]), modulus: i64) {
        const INNER: f64 = 1.0 / 32.0;
        const OUTER: f64 = 8.0 / 289.0;
        // The largest exponent, at f = 1/2: f^2 / 2 ((17 / 4)^2 - 4^2).
        const LARGEST: f64 = 0.25 / (2.0 * (289.0 / 16.0 - 16.0));
        let unit = 1.0 / (modulus as f64 * modulus as f64);
        let drawn = residues.iter().zip(drawn.0).zip(drawn.1);
        for ((found, kept), ((&residue, &quotient), &uniform)) in found.iter_mut().zip(kept).zip(drawn) {
            // Centred, so that the fraction is at most one half.
            let above = i64::from(residue > modulus / 2);
            let x = residue + (i64::from(quotient) - above) * modulus;
            let quotient = f64::from(quotient);
            let inner = x as f64 * x as f64 * unit * INNER;
            let share = exponential(quotient * quotient * OUTER - inner - LARGEST);
            *found = x;
            *kept = u64::from((uniform as f64) < share * 2f64.powi(64));
        }
    }
}

/// `exp(x)` for `x` from -700 to 0, without a call: within `2^-51` of itself.
#[inline(always)]
fn exponential(x: f64) -> f64 {
    /// Brings integers into the low bits of a double.
    const MAGIC: f64 = 3.0 * (1u64 << 51) as f64;
    // ln 2 in two parts, the first with twenty bits of zeros behind it.
    const HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
    const LOW: f64 = f64::from_bits(0x3DEA_39EF_3579_3C76);
    let shifted = x * std::f64::consts::LOG2_E + MAGIC;
    let whole = shifted - MAGIC;
    let rest = x - whole * HIGH - whole * LOW;
    // Taylor's series: what follows is below 2^-57.
    let mut sum = 1.0 / 6_227_020_800.0;
    for factor in [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        sum = sum * rest + factor;
    }
    let power = shifted.to_bits().wrapping_add(1023) << 52;
    sum * f64::from_bits(power)
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;
    use crate::AesCtrRng;

    /// Probabilities as decimal arithmetic of 80 digits has them, at both ends and between.
    #[test]
    fn tables_are_those_of_the_law() {
        let four = [
            (0, 0x0cc4_2299_ea1b_2846_87e5_9e28_05d5_c718),
            (1, 0x2583_4e3a_eed9_f4b8_ba63_b171_eabb_976b),
            (9, 0x7dca_8b7d_8cad_10e6_8daa_3689_2ad4_34ae),
            (20, 0x7fff_fdac_715a_4b35_6705_53a9_bc39_5e17),
            (40, 0x7fff_ffff_ffff_ffff_fffe_004a_149e_da01),
        ];
        let wider = [
            (0, 0x0c03_e454_a019_8f51_70d8_1c61_e75f_ca71),
            (1, 0x2363_b833_5522_a1fb_fa13_1d04_80fc_a1be),
            (9, 0x7cca_ce63_e9c4_1463_4cca_55d3_19e7_5e2e),
            (20, 0x7fff_f4ce_d488_8d5a_8731_667f_348b_a570),
            (40, 0x7fff_ffff_ffff_ffff_fcf4_c5a3_f376_c2ac),
        ];
        let laws = [
            (DiscreteGaussian::of_deviation_4(), four),
            (DiscreteGaussian::of_deviation_17_4(), wider),
        ];
        for (law, known) in laws {
            for (at, expected) in known {
                let off = law.below[at].abs_diff(expected);
                assert!(off < 1 << (BITS - 110), "{at}: {:x} {expected:x}", law.below[at]);
            }
            assert!(law.below.is_sorted() && law.below.len() > 48);
            // Ranks of first bits count each bound once: those that coincide are the last.
            assert_eq!(law.first.last(), Some(&0x7FFF));
        }
    }

    /// Beside the library's, which is right to a bit.
    #[test]
    fn exponentials_are_right_to_the_last_bits() {
        for i in 0..200_000 {
            let x = -f64::from(i) * 0.003_499_3;
            let (found, expected) = (exponential(x), x.exp());
            assert!((found / expected - 1.0).abs() < 2f64.powi(-51), "{x}: {found} {expected}");
        }
        assert!((exponential(0.0) - 1.0).abs() < f64::EPSILON);
    }

    /// Chi-square over magnitudes and signs, where the first bits decide and where they do not: a true sampler fails
    /// once in 10^9.
    #[test]
    fn numbers_have_the_law() {
        let law = DiscreteGaussian::of_deviation_4();
        let rng = &mut AesCtrRng::from_seed([5; 32]);
        let mut numbers = vec![0i16; 1 << 20];
        law.fill(&mut numbers, rng);
        assert_chi_square(numbers.iter().map(|&x| i64::from(x)), 16.0, 0.0, 22);
    }

    /// The same of residue classes, in units of the modulus about the class's own fractions.
    #[test]
    fn cosets_have_the_law() {
        let rng = &mut AesCtrRng::from_seed([6; 32]);
        for (modulus, residue) in
            [(2u64, 1), (1009, 0), (1009, 1), (1009, 504), (1009, 505), (1 << 26, 1 << 25)]
        {
            let law = CosetGaussian::new(modulus);
            let mut numbers = vec![residue; 1 << 19];
            law.fill(&mut numbers, rng);
            let t = modulus as i64;
            assert!(numbers.iter().all(|x| x.rem_euclid(t) == residue));
            let fraction = residue as f64 / modulus as f64;
            assert_chi_square(numbers.iter().map(|x| x.div_euclid(t)), 16.0, fraction, 20);
        }
    }

    fn assert_chi_square(
        numbers: impl ExactSizeIterator<Item = i64>,
        variance: f64,
        fraction: f64,
        reach: i64,
    ) {
        let count = numbers.len() as f64;
        let mut found = vec![0.0; 2 * reach as usize + 1];
        numbers.for_each(|x| found[(x.clamp(-reach, reach) + reach) as usize] += 1.0);
        let weight = |k: i64| (-(k as f64 + fraction).powi(2) / (2.0 * variance)).exp();
        let total: f64 = (-60..=60).map(weight).sum();
        let expected = |k: i64| match k {
            k if k == reach => (reach..=60).map(weight).sum::<f64>(),
            k if k == -reach => (-60..=-reach).map(weight).sum::<f64>(),
            k => weight(k),
        };
        let square: f64 = (-reach..=reach)
            .zip(&found)
            .map(|(k, found)| {
                let expected = count * expected(k) / total;
                (found - expected).powi(2) / expected.max(1e-9)
            })
            .sum();
        // Wilson and Hilferty: six deviations.
        let freedom = 2.0 * reach as f64;
        let deviation = (2.0 / (9.0 * freedom)).sqrt();
        let z = ((square / freedom).cbrt() - (1.0 - deviation * deviation)) / deviation;
        assert!(z < 6.0, "{square} of {freedom}, z = {z}");
    }

    /// First bits that do not decide are found again: each bound's own word, with both signs.
    #[test]
    fn words_at_bounds_are_decided_by_more_bits() {
        let law = DiscreteGaussian::of_deviation_4();
        let rng = &mut AesCtrRng::from_seed([7; 32]);
        for (rank_below, &bound) in (0i16..).zip(&law.first[..17]) {
            let mut out = [0i16; 3];
            assert!(rank(&mut out, &[bound, bound - 1, bound + 1], &law.first));
            assert_eq!(out[0], UNDECIDED);
            let found: Vec<i16> = (0..400).map(|_| law.decided(bound, rng)).collect();
            assert!(found.iter().all(|&x| x == rank_below || x == rank_below + 1), "{found:?}");
            let negative = law.decided(bound | 0x8000, rng);
            assert!(negative == -rank_below || negative == -rank_below - 1);
        }
    }
}
