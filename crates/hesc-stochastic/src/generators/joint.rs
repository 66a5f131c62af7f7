//! All factors of a product, chosen together by the one who encrypts them all.

use rand_core::Rng;

use super::sobol::Sobol;
use super::uniform;

/// The streams of one product's factors, one after the other, each of `length` bits.
///
/// Factor `k` is laid over the product of the factors before it so that the overlap has just the
/// size which makes the product's weight right: of its ones, the right number falls on ones of
/// that product and the rest on zeros. Both parts are spread over the stream in proportion, 64
/// positions at a time, so that pieces of the streams are nearly as exact as the whole; which of 64
/// are taken says the order of their Sobol points, one dimension for each factor, so that streams
/// of other dimensions still meet a fair sample.
///
/// Every prefix product `x_1 ... x_k` has a weight within `k` of its value's (in practice within
/// one), each factor one within one and a half of its own, and the weights of the prefixes are
/// rounded by one systematic draw, so that the error of the sum of all prefixes stays within as many
/// bits as that of one; factors that are exactly one leave the prefix as it is. Other products of the same factors (`x_1 x_3`) err two to four times as much as those of
/// independent Sobol streams, a quarter of what random arrangements do.
///
/// Why `k` bits: with `c` ones in the product so far and `t` in the factor, every second weight from
/// `|c - t|` to `min(c + t, 2L - c - t)` can be had. The exact values of `c`, `t` and the weight
/// wanted are within these limits; `t` is rounded by at most one, or by more where that misses the
/// weight by less, so that the limits are missed by at most one more than `c` misses its value.
pub(crate) fn fill(
    rows: &mut [u64],
    length: usize,
    probabilities: impl Iterator<Item = f64>,
    dimensions: &[Sobol],
    rng: &mut impl Rng,
) {
    let words = length.div_ceil(64);
    let last = u64::MAX >> ((64 - length % 64) % 64);
    let mut product = vec![0u64; words];
    let mut ones_before = 0usize;
    let (mut sign, mut due) = (1.0, uniform(rng));
    for ((row, p), dimension) in rows.chunks_exact_mut(words).zip(probabilities).zip(dimensions) {
        if p == 0.0 {
            // A one changes no product. It would owe the rounding of the product before it once more, and the next
            // factor would make up for all that is owed.
            row.fill(0);
            continue;
        }
        sign *= 1.0 - 2.0 * p;
        due += (1.0 - sign) / 2.0 * length as f64;
        let wanted = due.floor().clamp(0.0, length as f64) as usize;
        let own = own_weight(p, length, ones_before, wanted);
        // Both conditions leave an interval that is not empty.
        let overlap = (ones_before + own).saturating_sub(wanted) / 2;
        let overlap = overlap.clamp(own.saturating_sub(length - ones_before), own.min(ones_before));

        let order = dimension.order(length, rng);
        let mut on = Share::new(overlap, ones_before, rng);
        let mut off = Share::new(own - overlap, length - ones_before, rng);
        for (block, (word, so_far)) in row.iter_mut().zip(&mut product).enumerate() {
            let here = if block + 1 == words { last } else { u64::MAX };
            let (set, clear) = (*so_far & here, !*so_far & here);
            let counts = (on.of(set.count_ones()), off.of(clear.count_ones()));
            *word = order.first_of(block, set, counts.0) | order.first_of(block, clear, counts.1);
            *so_far ^= *word;
        }
        ones_before = ones_before + own - 2 * overlap;
        // What could not be met now is owed to the next prefix.
        due -= ones_before as f64;
    }
}

/// A weight within one and a half of `p length`, of the parity that the weights of the two products
/// leave: their sum is even. Of the two next to it the one with which the product comes nearest to the
/// weight wanted, or the nearer one: among few ones the nearer may never make up for what is owed.
/// A constant keeps its own.
fn own_weight(p: f64, length: usize, before: usize, wanted: usize) -> usize {
    if p == 1.0 {
        return length;
    }
    let exact = p * length as f64;
    let nearest = exact.round() as usize;
    if nearest % 2 == (before + wanted) % 2 {
        return nearest;
    }
    let missed = |own: usize| {
        let (least, most) = (before.abs_diff(own), (before + own).min(2 * length - before - own));
        wanted.abs_diff(wanted.clamp(least, most))
    };
    let (below, above) = (nearest.checked_sub(1), Some(nearest + 1).filter(|own| *own <= length));
    let distance = |own: &usize| (*own as f64 - exact).abs();
    below
        .into_iter()
        .chain(above)
        .min_by(|a, b| missed(*a).cmp(&missed(*b)).then(distance(a).total_cmp(&distance(b))))
        .unwrap_or(nearest)
}

/// Divides a number of ones over blocks in proportion to the positions they have for them.
struct Share {
    ones: usize,
    positions: usize,
    /// Positions and ones of the blocks so far.
    passed: usize,
    given: usize,
    start: f64,
}

impl Share {
    fn new(ones: usize, positions: usize, rng: &mut impl Rng) -> Self {
        Self { ones, positions, passed: 0, given: 0, start: uniform(rng) }
    }

    /// The ones of the next block, which has so many positions for them: never more than those.
    fn of(&mut self, positions: u32) -> u32 {
        self.passed += positions as usize;
        let due = if self.passed == self.positions {
            self.ones
        } else {
            let share = self.ones as f64 / self.positions as f64 * self.passed as f64;
            ((share + self.start) as usize).min(self.ones)
        };
        // Rounding may fall short of the last block's room by one: it is made up for there.
        let room = self.given + positions as usize;
        let due = due.clamp(self.given, room);
        let here = due - self.given;
        self.given = due;
        here as u32
    }
}
