//! A uniformly random arrangement of a given number of ones.

use rand_core::Rng;

use super::bernoulli::Probability;
use super::round_at_random;

/// Sets exactly `p length` bits of a zeroed row, rounded at random to an integer.
///
/// Independent bits first, then uniformly chosen positions are set or cleared until the weight is
/// right. Independent bits of a given weight are a uniformly random subset, and adding or
/// removing uniformly random members keeps it one, so that every arrangement is equally likely;
/// a shuffle would cost a random number for each bit.
pub(crate) fn fill(row: &mut [u64], length: usize, p: f64, rng: &mut impl Rng) {
    let wanted = round_at_random(p * length as f64, rng).min(length as u64);
    // Eight digits suffice: the weight is corrected below.
    let draw = Probability::new(((wanted as f64 / length as f64) * 256.0).round() / 256.0);
    row.fill_with(|| draw.word(rng));
    if let Some(last) = row.last_mut() {
        *last &= u64::MAX >> ((64 - length % 64) % 64);
    }
    let mut weight: u64 = row.iter().map(|word| u64::from(word.count_ones())).sum();
    while weight != wanted {
        // The bias of the product below 2^-40 for the longest stream.
        let at = ((u128::from(rng.next_u64()) * length as u128) >> 64) as usize;
        let (word, bit) = (&mut row[at / 64], 1u64 << (at % 64));
        let set = *word & bit != 0;
        if set != (weight < wanted) {
            *word ^= bit;
            weight = if set { weight - 1 } else { weight + 1 };
        }
    }
}
