//! Loops over single rows. Inputs are reduced and so are outputs, unless a function says
//! otherwise; slices of one call have the same length.

use hesc_kernels::vectorised;
use std::ops::Range;

use super::{Factor, Reducer};
use crate::lanes::{Kernel, LANES, Lanes, array_of};
use crate::rows;

/// What happens at each place: `I` inputs and the `O` values that are there give `O` new ones.
trait Pointwise<const I: usize, const O: usize> {
    fn lanes<L: Lanes>(&self, l: L, inputs: [L::Vector; I], old: [L::Vector; O]) -> [L::Vector; O];
    fn scalar(&self, inputs: [u64; I], old: [u64; O]) -> [u64; O];
}

struct OnLanes<'a, P, const I: usize, const O: usize> {
    operation: &'a P,
    inputs: [&'a [u64]; I],
    outputs: [&'a mut [u64]; O],
}

impl<P: Pointwise<I, O>, const I: usize, const O: usize> Kernel for OnLanes<'_, P, I, O> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let inputs = self.inputs.map(|input| input.as_chunks::<LANES>().0);
        let outputs = self.outputs.map(|output| output.as_chunks_mut::<LANES>().0);
        let length = outputs.iter().map(|output| output.len()).min().unwrap_or(0);
        let inputs = inputs.map(|input| &input[..length]);
        let mut outputs = outputs.map(|output| &mut output[..length]);
        for i in 0..length {
            let x = array_of(l.zero(), |k| l.load_words(&inputs[k][i]));
            let old = array_of(l.zero(), |k| l.load_words(&outputs[k][i]));
            let new = self.operation.lanes(l, x, old);
            for (k, output) in outputs.iter_mut().enumerate() {
                l.store_words(&mut output[i], new[k]);
            }
        }
    }
}

/// The length of all slices.
fn check_lengths<const I: usize, const O: usize>(
    inputs: [&[u64]; I],
    outputs: &[&mut [u64]; O],
) -> usize {
    let length = outputs.first().map_or(0, |output| output.len());
    assert!(
        inputs.iter().all(|x| x.len() == length) && outputs.iter().all(|x| x.len() == length),
        "rows of one ring have one length"
    );
    length
}

/// Runs an operation over whole slices.
fn run<P: Pointwise<I, O>, const I: usize, const O: usize>(
    operation: P,
    reducer: &Reducer,
    inputs: [&[u64]; I],
    outputs: [&mut [u64]; O],
) {
    let length = check_lengths(inputs, &outputs);
    // Rings of odd index have rows of which lanes leave a few words.
    let (on_lanes, hardware) = reducer.lanes_of(length, LANES);
    let inputs = inputs.map(|input| input.split_at(on_lanes));
    let mut outputs = outputs.map(|output| output.split_at_mut(on_lanes));
    if let Some(hardware) = hardware {
        let outputs = outputs.each_mut().map(|output| &mut *output.0);
        let inputs = inputs.map(|input| input.0);
        hardware.run(OnLanes { operation: &operation, inputs, outputs });
    }
    run_words(operation, inputs.map(|input| input.1), outputs.map(|output| output.1));
}

/// [`run`] for words that lanes do not hold: one by one.
fn run_words<P: Pointwise<I, O>, const I: usize, const O: usize>(
    operation: P,
    inputs: [&[u64]; I],
    mut outputs: [&mut [u64]; O],
) {
    for i in 0..check_lengths(inputs, &outputs) {
        let x = array_of(0, |k| inputs[k][i]);
        let old = array_of(0, |k| outputs[k][i]);
        let new = operation.scalar(x, old);
        for (k, output) in outputs.iter_mut().enumerate() {
            output[i] = new[k];
        }
    }
}

/// Defines an operation by its two bodies.
macro_rules! pointwise {
    (
        $name:ident { $($field:ident: $type:ty),* }, $inputs:literal => $outputs:literal,
        |$l:ident, $this:ident, $x:pat_param, $old:pat_param| $lanes:expr,
        |$sx:pat_param, $sold:pat_param| $scalar:expr $(,)?
    ) => {
        struct $name<'a> {
            q: &'a Reducer,
            $($field: $type,)*
        }

        impl Pointwise<$inputs, $outputs> for $name<'_> {
            #[inline(always)]
            fn lanes<L: Lanes>(
                &self,
                $l: L,
                $x: [L::Vector; $inputs],
                $old: [L::Vector; $outputs],
            ) -> [L::Vector; $outputs] {
                let $this = self;
                $lanes
            }

            #[inline(always)]
            fn scalar(&self, $sx: [u64; $inputs], $sold: [u64; $outputs]) -> [u64; $outputs] {
                let $this = self;
                $scalar
            }
        }
    };
}

pointwise!(Multiply {}, 2 => 1,
    |l, this, [a, b], _| [this.q.lanes_product(l, a, b)],
    |[a, b], _| [this.q.product(a, b)]);

pointwise!(MultiplyAssign {}, 1 => 1,
    |l, this, [b], [a]| [this.q.lanes_product(l, a, b)],
    |[b], [a]| [this.q.product(a, b)]);

pointwise!(Tensor {}, 4 => 3,
|l, this, [a0, a1, b0, b1], _| {
    let low = l.add_low(l.add_low(l.zero(), a0, b1), a1, b0);
    let high = l.add_high(l.add_high(l.zero(), a0, b1), a1, b0);
    [
        this.q.lanes_product(l, a0, b0),
        this.q.lanes_reduce(l, low, high),
        this.q.lanes_product(l, a1, b1),
    ]
},
|[a0, a1, b0, b1], _| {
    let wide = |a: u64, b: u64| u128::from(a) * u128::from(b);
    [
        this.q.product(a0, b0),
        this.q.reduce(wide(a0, b1) + wide(a1, b0)),
        this.q.product(a1, b1),
    ]
});

pointwise!(SquareTensor {}, 2 => 3,
|l, this, [a0, a1], _| {
    let cross = this.q.lanes_product(l, a0, a1);
    [
        this.q.lanes_product(l, a0, a0),
        this.q.lanes_once(l, l.add(cross, cross)),
        this.q.lanes_product(l, a1, a1),
    ]
},
|[a0, a1], _| [
    this.q.product(a0, a0),
    this.q.once(2 * this.q.product(a0, a1)),
    this.q.product(a1, a1),
]);

pointwise!(Scale { factor: Factor }, 0 => 1,
    |l, this, [], [a]| [this.q.lanes_scaled(l, a, this.factor)],
    |[], [a]| [this.q.scaled(a, this.factor)]);

pointwise!(ScaleInto { factor: Factor }, 1 => 1,
    |l, this, [a], _| [this.q.lanes_scaled(l, a, this.factor)],
    |[a], _| [this.q.scaled(a, this.factor)]);

pointwise!(ScaleAdd { factor: Factor }, 1 => 1,
    |l, this, [a], [c]| [this.q.lanes_once(l, l.add(c, this.q.lanes_scaled(l, a, this.factor)))],
    |[a], [c]| [this.q.once(c + this.q.scaled(a, this.factor))]);

pointwise!(SubtractScale { factor: Factor }, 1 => 1,
    |l, this, [b], [a]| {
        let difference = l.sub(l.add(a, l.splat(this.q.value())), b);
        [this.q.lanes_scaled(l, difference, this.factor)]
    },
    |[b], [a]| [this.q.scaled(a + this.q.value() - b, this.factor)]);

pointwise!(ReduceSigned {}, 1 => 1,
    |l, this, [a], _| {
        let sign = l.sar::<63>(a);
        let size = this.q.lanes_remainder(l, l.sub(l.xor(a, sign), sign));
        let size = this.q.lanes_once(l, size);
        let lift = l.and(l.splat(this.q.value()), sign);
        [this.q.lanes_once(l, l.add(l.sub(l.xor(size, sign), sign), lift))]
    },
    |[a], _| [this.q.reduce_signed(a as i64)]);

pointwise!(Recentre { half: u64, shift: u64 }, 1 => 1,
|l, this, [a], _| {
    let rest = this.q.lanes_once(l, this.q.lanes_remainder(l, a));
    let negative = l.less(l.splat(this.half), a);
    let shift = l.select(negative, l.zero(), l.splat(this.shift));
    [this.q.lanes_once(l, l.add(rest, shift))]
},
|[a], _| {
    let negative = u64::from(a > this.half).wrapping_neg();
    [this.q.once(this.q.remainder(a) + (this.shift & negative))]
});

pointwise!(Subtract {}, 1 => 1,
    |l, this, [b], [a]| [this.q.lanes_once(l, l.sub(l.add(a, l.splat(this.q.value())), b))],
    |[b], [a]| [this.q.once(a + this.q.value() - b)]);

/// `out = a b`.
pub fn multiply(out: &mut [u64], a: &[u64], b: &[u64], q: &Reducer) {
    run(Multiply { q }, q, [a, b], [out]);
}

/// `a *= b`.
pub fn multiply_assign(a: &mut [u64], b: &[u64], q: &Reducer) {
    run(MultiplyAssign { q }, q, [b], [a]);
}

/// `(a_0 b_0, a_0 b_1 + a_1 b_0, a_1 b_1)`: the product of two linear polynomials, in one pass.
pub fn tensor(out: [&mut [u64]; 3], a: [&[u64]; 2], b: [&[u64]; 2], q: &Reducer) {
    run(Tensor { q }, q, [a[0], a[1], b[0], b[1]], out);
}

/// [`tensor`] of `a` with itself.
pub fn square_tensor(out: [&mut [u64]; 3], a: [&[u64]; 2], q: &Reducer) {
    run(SquareTensor { q }, q, a, out);
}

/// The four rows of a product `(a_0, a_1) (b_0, b_1)`.
pub type TensorRows<'a> = [&'a [u64]; 4];

/// Products whose rows are read in step, and reduced together.
const TENSORS: usize = 8;
/// Vectors of a row that are read before the next products are.
const TILE: usize = 64;

/// The sum of [`tensor`]s, each part reduced once for eight of them.
///
/// # Panics
/// If the rows are not of one length.
pub fn sum_of_tensors(out: [&mut [u64]; 3], products: &[TensorRows<'_>], q: &Reducer) {
    let length = check_lengths([], &out);
    assert!(
        products.iter().flatten().all(|x| x.len() == length),
        "rows of one ring have one length"
    );
    let (on_lanes, hardware) = q.lanes_of(length, LANES);
    let [(x, x_rest), (y, y_rest), (z, z_rest)] = out.map(|out| out.split_at_mut(on_lanes));
    if let Some(hardware) = hardware {
        hardware.run(SumOfTensors { out: [x, y, z], products, q });
    }
    if on_lanes < length {
        let rows = products.iter().map(|rows| rows.map(|row| &row[on_lanes..]));
        wide_sums(x_rest, rows.clone().map(|[a, _, b, _]| (a, b)), q);
        wide_sums(y_rest, rows.clone().flat_map(|[a, c, b, d]| [(a, d), (c, b)]), q);
        wide_sums(z_rest, rows.map(|[_, c, _, d]| (c, d)), q);
    }
}

struct SumOfTensors<'a> {
    out: [&'a mut [u64]; 3],
    products: &'a [TensorRows<'a>],
    q: &'a Reducer,
}

impl Kernel for SumOfTensors<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut out = self.out.map(|out| out.as_chunks_mut::<LANES>().0);
        let products: Vec<_> =
            self.products.iter().map(|rows| rows.map(|row| row.as_chunks::<LANES>().0)).collect();
        let vectors = out[0].len();
        for first in (0..vectors).step_by(TILE) {
            for (group, products) in products.chunks(TENSORS).enumerate() {
                for i in first..vectors.min(first + TILE) {
                    // What is there has been reduced: one more residue.
                    let before = |out: &[[u64; LANES]]| match group {
                        0 => l.zero(),
                        _ => l.load_words(&out[i]),
                    };
                    let mut low: [_; 3] = array_of(l.zero(), |part| before(out[part]));
                    let mut high = [l.zero(); 3];
                    for rows in products {
                        let [a, c, b, d] = array_of(l.zero(), |k| l.load_words(&rows[k][i]));
                        for (part, x, y) in [(0, a, b), (1, a, d), (1, c, b), (2, c, d)] {
                            low[part] = l.add_low(low[part], x, y);
                            high[part] = l.add_high(high[part], x, y);
                        }
                    }
                    for (part, out) in out.iter_mut().enumerate() {
                        let sum = self.q.lanes_reduce(l, low[part], high[part]);
                        l.store_words(&mut out[i], sum);
                    }
                }
            }
        }
    }
}

/// `a *= factor`; `a` below 2^52 for primes of at most 50 bits, any word otherwise.
pub fn scale(a: &mut [u64], factor: Factor, q: &Reducer) {
    run(Scale { q, factor }, q, [], [a]);
}

/// `out = a factor`, `a` as in [`scale`].
pub fn scale_into(out: &mut [u64], a: &[u64], factor: Factor, q: &Reducer) {
    run(ScaleInto { q, factor }, q, [a], [out]);
}

/// `out += a factor`, `a` as in [`scale`].
pub fn scale_add(out: &mut [u64], a: &[u64], factor: Factor, q: &Reducer) {
    run(ScaleAdd { q, factor }, q, [a], [out]);
}

/// `a = (a - b) factor`: the last step of a division by primes.
pub fn subtract_scale(a: &mut [u64], b: &[u64], factor: Factor, q: &Reducer) {
    run(SubtractScale { q, factor }, q, [b], [a]);
}

/// `out = [a]_p mod q` for residues modulo another prime `p` of at most 61 bits, centred.
pub fn recentre(out: &mut [u64], a: &[u64], p: u64, q: &Reducer) {
    let shift = q.value() - p % q.value();
    let operation = Recentre { q, half: p / 2, shift };
    // Lanes hold 52 bits, whatever q is.
    if p >> 52 == 0 {
        run(operation, q, [a], [out]);
    } else {
        run_words(operation, [a], [out]);
    }
}

/// `a -= b`.
pub fn subtract(a: &mut [u64], b: &[u64], q: &Reducer) {
    run(Subtract { q }, q, [b], [a]);
}

/// `a += b`.
pub fn add(a: &mut [u64], b: &[u64], q: &Reducer) {
    assert_eq!(a.len(), b.len(), "rows of one ring have one length");
    rows::u64::add(a, b, q.value());
}

/// `out = b + c`.
pub fn add_into(out: &mut [u64], b: &[u64], c: &[u64], q: &Reducer) {
    assert!(out.len() == b.len() && b.len() == c.len(), "rows of one ring have one length");
    sum(out, b, c, q.value());
}

vectorised! {
    fn sum(out: &mut [u64], b: &[u64], c: &[u64], q: u64) {
        for ((out, &b), &c) in out.iter_mut().zip(b).zip(c) {
            *out = (b + c).min((b + c).wrapping_sub(q));
        }
    }
}

/// Columns of rows that are summed at a time.
const COLUMNS: usize = 128;

/// `out = sum plus - sum minus`, of rows, and of what is in `out` if it counts.
///
/// # Panics
/// If the rows are not as long as `out`.
pub fn sum_of_rows(out: &mut [u64], counts: bool, plus: &[&[u64]], minus: &[&[u64]], q: &Reducer) {
    let mut rows = plus.iter().chain(minus);
    assert!(rows.all(|x| x.len() == out.len()), "rows of one ring have one length");
    rows_summed(out, counts, plus, minus, q.value());
}

vectorised! {
    fn rows_summed(out: &mut [u64], counts: bool, plus: &[&[u64]], minus: &[&[u64]], q: u64) {
        for (at, out) in out.chunks_mut(COLUMNS).enumerate() {
            let columns = at * COLUMNS..at * COLUMNS + out.len();
            let (mut sums, there) = ([0; COLUMNS], out.len());
            let sums = &mut sums[..there];
            if counts {
                sums.copy_from_slice(out);
            }
            for row in plus {
                for (sum, &x) in sums.iter_mut().zip(&row[columns.clone()]) {
                    *sum = (*sum + x).min((*sum + x).wrapping_sub(q));
                }
            }
            for row in minus {
                for (sum, &x) in sums.iter_mut().zip(&row[columns.clone()]) {
                    *sum = (*sum + q - x).min((*sum + q - x).wrapping_sub(q));
                }
            }
            out.copy_from_slice(sums);
        }
    }
}

/// `out = b - c`.
pub fn subtract_into(out: &mut [u64], b: &[u64], c: &[u64], q: &Reducer) {
    assert!(out.len() == b.len() && b.len() == c.len(), "rows of one ring have one length");
    difference(out, b, c, q.value());
}

vectorised! {
    fn difference(out: &mut [u64], b: &[u64], c: &[u64], q: u64) {
        for ((out, &b), &c) in out.iter_mut().zip(b).zip(c) {
            *out = (b + q - c).min((b + q - c).wrapping_sub(q));
        }
    }
}

/// `a = -a`.
pub fn negate(a: &mut [u64], q: &Reducer) {
    rows::u64::neg(a, q.value());
}

/// `a += small` for signed coefficients smaller than the prime.
pub fn add_small(a: &mut [u64], small: &[i16], q: &Reducer) {
    rows::u64::add_signed(a, small, q.value());
}

/// `a += signed` for signed numbers smaller than the prime in absolute value.
///
/// # Panics
/// If the lengths differ.
pub fn add_signed(a: &mut [u64], signed: &[i64], q: &Reducer) {
    assert_eq!(a.len(), signed.len(), "there is a summand for each residue");
    debug_assert!(signed.iter().all(|s| s.unsigned_abs() < q.value()), "summands are small");
    lifted(a, signed, q.value());
}

vectorised! {
    /// Secret data passes here, hence the arithmetic select.
    fn lifted(a: &mut [u64], signed: &[i64], q: u64) {
        for (a, &s) in a.iter_mut().zip(signed) {
            let sum = *a + (s as u64).wrapping_add(q & (s >> 63) as u64);
            *a = sum.min(sum.wrapping_sub(q));
        }
    }
}

/// `a += constant` at every place.
pub fn add_constant(a: &mut [u64], constant: u64, q: &Reducer) {
    shift(a, constant, q.value());
}

vectorised! {
    fn shift(a: &mut [u64], constant: u64, q: u64) {
        for a in a {
            *a = (*a + constant).min((*a + constant).wrapping_sub(q));
        }
    }
}

/// `out = a mod q` for signed coefficients below `2^51` in absolute value.
pub fn reduce_small_signed(out: &mut [u64], a: &[i64], q: &Reducer) {
    run(ReduceSigned { q }, q, [bytemuck::cast_slice(a)], [out]);
}

/// `out = [a]_t mod q` for `a` reduced modulo `t < q`, centred.
pub fn lift_centred(out: &mut [u64], a: &[u64], t: u64, q: &Reducer) {
    assert!(t < q.value(), "the smaller modulus is lifted into the larger");
    lift(out, a, t, q.value());
}

vectorised! {
    fn lift(out: &mut [u64], a: &[u64], t: u64, q: u64) {
        for (out, &a) in out.iter_mut().zip(a) {
            let negative = u64::from(a > t / 2).wrapping_neg();
            *out = a + ((q - t) & negative);
        }
    }
}

/// Vectors that sums keep in registers at a time, so that a factor or row is looked up once for all.
const VECTORS: usize = 4;
/// The words of so many vectors.
type Block = [[u64; LANES]; VECTORS];

fn blocks(words: &[u64]) -> &[Block] {
    words.as_chunks().0.as_chunks().0
}

fn blocks_mut(words: &mut [u64]) -> &mut [Block] {
    words.as_chunks_mut().0.as_chunks_mut().0
}

/// Most products of 50-bit residues that one pair of 52-bit accumulators holds.
const TERMS: usize = 16;

/// `(sum_k a_k b_k, sum_k a_k c_k)`, reduced once for at least sixteen products: what key switching
/// spends its time on.
///
/// # Panics
/// If there are not as many `b` and `c` as `a`.
pub fn inner_products(out: [&mut [u64]; 2], a: &[&[u64]], b: &[&[u64]], c: &[&[u64]], q: &Reducer) {
    assert!(a.len() == b.len() && a.len() == c.len(), "a factor for each factor");
    let [first, second] = out;
    let length = first.len();
    let rows = a.iter().chain(b).chain(c);
    assert!(rows.chain([&&*second]).all(|x| x.len() == length), "rows of one ring have one length");
    let (on_lanes, hardware) = q.lanes_of(length, LANES * VECTORS);
    let (first, first_rest) = first.split_at_mut(on_lanes);
    let (second, second_rest) = second.split_at_mut(on_lanes);
    if let Some(hardware) = hardware {
        hardware.run(InnerProducts { out: [first, second], a, b, c, q });
    }
    if on_lanes < length {
        let rest = |x: &'_ [u64]| -> Range<usize> { on_lanes..x.len() };
        wide_sums(first_rest, a.iter().zip(b).map(|(a, b)| (&a[rest(a)], &b[rest(b)])), q);
        wide_sums(second_rest, a.iter().zip(c).map(|(a, c)| (&a[rest(a)], &c[rest(c)])), q);
    }
}

/// Products of residues below 2^61 that 128 bits hold the sum of, with one more residue.
const WIDE_TERMS: usize = 64;
/// Columns whose 128-bit sums are kept in the first cache.
const WIDE_COLUMNS: usize = 256;

/// `out = sum_k a_k b_k` by 64-bit multipliers, some columns of each row after the other: as many
/// rows in step are more streams than memory reads ahead.
fn wide_sums<'a, B: Row + 'a>(
    out: &mut [u64],
    rows: impl Iterator<Item = (&'a [u64], B)> + Clone,
    q: &Reducer,
) {
    let mut sums = [0u128; WIDE_COLUMNS];
    for (at, out) in out.chunks_mut(WIDE_COLUMNS).enumerate() {
        let columns = at * WIDE_COLUMNS..at * WIDE_COLUMNS + out.len();
        let sums = &mut sums[..out.len()];
        sums.fill(0);
        for (i, (a, b)) in rows.clone().enumerate() {
            if i % WIDE_TERMS == WIDE_TERMS - 1 {
                sums.iter_mut().for_each(|sum| *sum = u128::from(q.reduce(*sum)));
            }
            let b = b.columns(columns.clone());
            for ((sum, &a), &b) in sums.iter_mut().zip(&a[columns.clone()]).zip(b) {
                *sum += u128::from(a) * u128::from(b);
            }
        }
        for (out, &sum) in out.iter_mut().zip(sums.iter()) {
            *out = q.reduce(sum);
        }
    }
}

/// A factor of each column, or one for all.
trait Row {
    fn columns(&self, columns: Range<usize>) -> impl Iterator<Item = &u64>;
}

impl Row for &[u64] {
    fn columns(&self, columns: Range<usize>) -> impl Iterator<Item = &u64> {
        self[columns].iter()
    }
}

impl Row for u64 {
    fn columns(&self, columns: Range<usize>) -> impl Iterator<Item = &u64> {
        std::iter::repeat_n(self, columns.len())
    }
}

struct InnerProducts<'a> {
    out: [&'a mut [u64]; 2],
    a: &'a [&'a [u64]],
    b: &'a [&'a [u64]],
    c: &'a [&'a [u64]],
    q: &'a Reducer,
}

impl Kernel for InnerProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let [first, second] = self.out;
        let (first, second) = (blocks_mut(first), blocks_mut(second));
        let rows: Vec<[&[Block]; 3]> = self
            .a
            .iter()
            .zip(self.b)
            .zip(self.c)
            .map(|((a, b), c)| [blocks(a), blocks(b), blocks(c)])
            .collect();
        for (i, (first, second)) in first.iter_mut().zip(second).enumerate() {
            let (mut x, mut y) = ([l.zero(); VECTORS], [l.zero(); VECTORS]);
            for rows in rows.chunks(self.q.lane_terms()) {
                let (mut low, mut high) = ([x, y], [[l.zero(); VECTORS]; 2]);
                for [a, b, c] in rows {
                    let blocks = [&a[i], &b[i], &c[i]];
                    for k in 0..VECTORS {
                        let [a, b, c] = array_of(l.zero(), |row| l.load_words(&blocks[row][k]));
                        low[0][k] = l.add_low(low[0][k], a, b);
                        low[1][k] = l.add_low(low[1][k], a, c);
                        high[0][k] = l.add_high(high[0][k], a, b);
                        high[1][k] = l.add_high(high[1][k], a, c);
                    }
                }
                for k in 0..VECTORS {
                    x[k] = self.q.lanes_reduce(l, low[0][k], high[0][k]);
                    y[k] = self.q.lanes_reduce(l, low[1][k], high[1][k]);
                }
            }
            for k in 0..VECTORS {
                l.store_words(&mut first[k], x[k]);
                l.store_words(&mut second[k], y[k]);
            }
        }
    }
}

/// `out = sum_k a_k factors_k` for words of any primes and factors below this one: a step of base
/// conversion. Words are below 2^50 where this prime has at most 50 bits and `lanes` says so.
pub(crate) fn combine(out: &mut [u64], a: &[&[u64]], factors: &[u64], narrow: bool, q: &Reducer) {
    assert_eq!(a.len(), factors.len(), "a factor for each summand");
    assert!(a.iter().all(|x| x.len() == out.len()), "rows of one ring have one length");
    let whole = out.len().is_multiple_of(LANES * VECTORS);
    if let Some(hardware) = q.lanes().filter(|_| narrow && whole) {
        return hardware.run(Combine { out, a, factors, q });
    }
    wide_sums(out, a.iter().zip(factors).map(|(&a, &factor)| (a, factor)), q);
}

struct Combine<'a> {
    out: &'a mut [u64],
    a: &'a [&'a [u64]],
    factors: &'a [u64],
    q: &'a Reducer,
}

impl Kernel for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let rows: Vec<(&[Block], u64)> =
            self.a.iter().zip(self.factors).map(|(a, &factor)| (blocks(a), factor)).collect();
        for (i, out) in blocks_mut(self.out).iter_mut().enumerate() {
            let mut x = [l.zero(); VECTORS];
            for rows in rows.chunks(TERMS) {
                let (mut low, mut high) = (x, [l.zero(); VECTORS]);
                for &(row, factor) in rows {
                    let factor = l.splat(factor);
                    for (k, words) in row[i].iter().enumerate() {
                        let a = l.load_words(words);
                        low[k] = l.add_low(low[k], a, factor);
                        high[k] = l.add_high(high[k], a, factor);
                    }
                }
                for k in 0..VECTORS {
                    x[k] = self.q.lanes_reduce(l, low[k], high[k]);
                }
            }
            for (k, words) in out.iter_mut().enumerate() {
                l.store_words(words, x[k]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ntt_primes;

    /// Words that lanes leave some of.
    const LENGTH: usize = 45;

    fn row(raw: &[u64], salt: u64, q: u64) -> Vec<u64> {
        raw.iter().map(|x| x.rotate_left(salt as u32 * 7) % q).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn kernels_agree_with_remainders(
            bits in prop::sample::select(vec![14u32, 20, 36, 49, 50, 51, 55, 60, 61]),
            which in 0usize..3,
            raw in prop::collection::vec(any::<u64>(), LENGTH),
            terms in 1usize..140,
            signed in prop::collection::vec(any::<i64>(), LENGTH),
        ) {
            let primes = ntt_primes(bits, 256, 3).or_else(|_| ntt_primes(bits, 256, 1)).unwrap();
            let prime = Reducer::new(primes[which % primes.len()]);
            let q = prime.value();
            let wide = u128::from(q);
            // The largest residues are where reductions fail.
            let top = vec![q - 1; LENGTH];
            for (a, b, c, d) in [
                (row(&raw, 0, q), row(&raw, 1, q), row(&raw, 2, q), row(&raw, 3, q)),
                (top.clone(), top.clone(), top.clone(), top.clone()),
            ] {
                let factor = prime.factor(b[0]);
                let fresh = || vec![0u64; LENGTH];
                let (mut product, mut assigned) = (fresh(), a.clone());
                multiply(&mut product, &a, &b, &prime);
                multiply_assign(&mut assigned, &b, &prime);
                let (mut scaled, mut scaled_into, mut scale_added) = (a.clone(), fresh(), c.clone());
                scale(&mut scaled, factor, &prime);
                scale_into(&mut scaled_into, &a, factor, &prime);
                scale_add(&mut scale_added, &a, factor, &prime);
                let (mut divided, mut difference) = (a.clone(), a.clone());
                subtract_scale(&mut divided, &c, factor, &prime);
                subtract(&mut difference, &c, &prime);
                let (mut t0, mut t1, mut t2) = (fresh(), fresh(), fresh());
                tensor([&mut t0, &mut t1, &mut t2], [&a, &b], [&c, &d], &prime);
                let (mut s0, mut s1, mut s2) = (fresh(), fresh(), fresh());
                square_tensor([&mut s0, &mut s1, &mut s2], [&a, &b], &prime);
                let mut tensors = [fresh(), fresh(), fresh()];
                let products: Vec<TensorRows<'_>> = vec![[&a, &b, &c, &d]; terms];
                sum_of_tensors(tensors.each_mut().map(|x| &mut x[..]), &products, &prime);
                let (mut rows_summed, mut rows_added) = (fresh(), d.clone());
                let (plus, minus) = (vec![&a[..]; terms], vec![&b[..]; terms / 2]);
                sum_of_rows(&mut rows_summed, false, &plus, &minus, &prime);
                sum_of_rows(&mut rows_added, true, &plus, &minus, &prime);
                let (rows_a, rows_b, rows_c) =
                    (vec![&a[..]; terms], vec![&b[..]; terms], vec![&c[..]; terms]);
                let (mut first, mut second, mut combined) = (fresh(), fresh(), fresh());
                inner_products([&mut first, &mut second], &rows_a, &rows_b, &rows_c, &prime);
                combine(&mut combined, &rows_a, &b[..].iter().cycle().take(terms).copied().collect::<Vec<_>>(), bits <= 50, &prime);
                let (mut summed, mut subtracted) = (fresh(), fresh());
                add_into(&mut summed, &a, &c, &prime);
                subtract_into(&mut subtracted, &a, &c, &prime);
                prop_assert_eq!(&subtracted, &difference);
                let mut shifted = a.clone();
                add_constant(&mut shifted, b[0], &prime);
                for i in 0..LENGTH {
                    let [x, y, z, w] = [a[i], b[i], c[i], d[i]].map(u128::from);
                    let f = u128::from(b[0]);
                    let at = |v: u128| (v % wide) as u64;
                    prop_assert_eq!(product[i], at(x * y));
                    prop_assert_eq!(summed[i], at(x + z));
                    prop_assert_eq!(assigned[i], at(x * y));
                    prop_assert_eq!(scaled[i], at(x * f));
                    prop_assert_eq!(scaled_into[i], at(x * f));
                    prop_assert_eq!(scale_added[i], at(x * f % wide + z));
                    prop_assert_eq!(difference[i], at(x + wide - z));
                    prop_assert_eq!(divided[i], at((x + wide - z) % wide * f));
                    prop_assert_eq!([t0[i], t1[i], t2[i]], [at(x * z), at(x * w % wide + y * z % wide), at(y * w)]);
                    prop_assert_eq!([s0[i], s1[i], s2[i]], [at(x * x), at(2 * (x * y % wide)), at(y * y)]);
                    let count = terms as u128;
                    let parts = [x * z % wide, (x * w % wide + y * z % wide) % wide, y * w % wide];
                    prop_assert_eq!(tensors.each_ref().map(|part| part[i]), parts.map(|part| at(part * count)));
                    let expected = count * x + (count / 2) * (wide - y);
                    prop_assert_eq!([rows_summed[i], rows_added[i]], [at(expected), at(expected + w)]);
                    prop_assert_eq!(first[i], at(x * y % wide * terms as u128));
                    prop_assert_eq!(second[i], at(x * z % wide * terms as u128));
                    prop_assert_eq!(shifted[i], at(x + f));
                    let expected = (0..terms).map(|k| x * u128::from(b[k % LENGTH]) % wide).sum::<u128>();
                    prop_assert_eq!(combined[i], at(expected));
                }
            }
            // Primes of a chain may differ in size.
            let others: Vec<(u64, Vec<u64>, Vec<u64>)> = [30, 51, 52, 53, 55, 61]
                .into_iter()
                .map(|below| {
                    let (p, words) = ((1 << below) - 1, raw.iter().map(|x| x >> (64 - below)));
                    let (words, mut recentred) = (words.collect::<Vec<_>>(), vec![0; LENGTH]);
                    recentre(&mut recentred, &words, p, &prime);
                    (p, words, recentred)
                })
                .collect();
            let shifted: Vec<i64> = signed.iter().map(|x| x >> 12).collect();
            let mut small_signed = vec![0; LENGTH];
            reduce_small_signed(&mut small_signed, &shifted, &prime);
            let q_of = |x: i128| x.rem_euclid(i128::from(q)) as u64;
            let summands: Vec<i64> = signed.iter().map(|x| x % q as i64).collect();
            let base = row(&raw, 0, q);
            let mut sums = base.clone();
            add_signed(&mut sums, &summands, &prime);
            let t = q / 3;
            let mut lifted = vec![0; LENGTH];
            let small = row(&raw, 4, t);
            lift_centred(&mut lifted, &small, t, &prime);
            for i in 0..LENGTH {
                prop_assert_eq!(lifted[i], q_of(i128::from(crate::Modulus::new(t).centre(small[i]))));
                for (p, words, recentred) in &others {
                    prop_assert_eq!(recentred[i], q_of(i128::from(crate::Modulus::new(*p).centre(words[i]))));
                }
                prop_assert_eq!(sums[i], q_of(i128::from(base[i]) + i128::from(summands[i])));
                prop_assert_eq!(small_signed[i], q_of(i128::from(signed[i] >> 12)));
            }
        }
    }
}
