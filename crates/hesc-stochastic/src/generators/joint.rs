//! All factors of a product, chosen together by the one who encrypts them all.

use rand_core::Rng;

use super::sobol::Sobol;
use super::uniform;

/// The streams of one product's factors, one after the other, each of `length` bits.
///
/// Factor `k` is laid over the product of the factors before it so that the overlap has just the
/// size which makes the product's weight right: of its ones, the right number falls on ones of
/// that product and the rest on zeros. In both parts the positions with the least Sobol points are
/// taken, one dimension for each factor, so that streams of other dimensions still meet a fair
/// sample. Every prefix product `x_1 ... x_k` has a weight within `k` of its value's (in practice
/// within one), each factor one within one of its own, and the weights of the prefixes are rounded
/// by one systematic draw, so that the error of the sum of all prefixes stays within as many bits
/// as that of one.
///
/// Other products (`x_1 x_3`) are those of independent Sobol streams.
pub(crate) fn fill(
    rows: &mut [u64],
    length: usize,
    probabilities: impl Iterator<Item = f64>,
    dimensions: &[Sobol],
    rng: &mut impl Rng,
) {
    let words = length.div_ceil(64);
    let mut product = vec![0u64; words];
    let mut ones_before = 0usize;
    let (mut sign, mut due) = (1.0, uniform(rng));
    let (mut on, mut off) = (Vec::with_capacity(length), Vec::with_capacity(length));
    for ((row, p), dimension) in rows.chunks_exact_mut(words).zip(probabilities).zip(dimensions) {
        sign *= 1.0 - 2.0 * p;
        due += (1.0 - sign) / 2.0 * length as f64;
        let wanted = due.floor().clamp(0.0, length as f64) as usize;

        // A weight next to `p length` of the parity that the two others leave: their sum is even.
        let exact = p * length as f64;
        let parity = (ones_before + wanted) % 2;
        let mut own = exact.round() as usize;
        if own % 2 != parity {
            own = if (own as f64) < exact || own == 0 { own + 1 } else { own - 1 };
        }
        let own = if p == 0.0 { 0 } else { own.min(length) };
        // Both conditions leave an interval that is not empty.
        let overlap = (ones_before + own).saturating_sub(wanted) / 2;
        let overlap = overlap.clamp(own.saturating_sub(length - ones_before), own.min(ones_before));

        on.clear();
        off.clear();
        let points = dimension.points(length, rng);
        for (i, &point) in points.iter().enumerate() {
            let key = u64::from(point) << 32 | i as u64;
            let part = if product[i / 64] >> (i % 64) & 1 == 1 { &mut on } else { &mut off };
            part.push(key);
        }
        for (part, count) in [(&mut on, overlap), (&mut off, own - overlap)] {
            if (1..part.len()).contains(&count) {
                part.select_nth_unstable(count - 1);
            }
            for &key in &part[..count] {
                let i = key as u32 as usize;
                row[i / 64] |= 1 << (i % 64);
            }
        }
        product.iter_mut().zip(&*row).for_each(|(a, b)| *a ^= b);
        ones_before = ones_before + own - 2 * overlap;
        // What could not be met now is owed to the next prefix.
        due -= ones_before as f64;
    }
}
