//! The transform of products of Fermat primes on vector lanes.
//!
//! The Galois group is a 2-group, so that the convolution over it needs roots of unity of order 256 and
//! nothing else: a group transform, a product with the Gauss sums, and the transform back. Along the axis
//! of 257 it is made of two steps of 16 points, along that of 17 of one; a step of 16 points stays in
//! registers.

#![allow(
    clippy::needless_range_loop,
    reason = "loops of constant length over arrays become straight code; closures of iterators are \
              compiled without the vector instructions"
)]

use std::fmt;

use super::RingIndex;
use super::convolution::{AxisKernels, kernels, reversed, root_of_order, spectrum};
use crate::lanes::{Hardware, Kernel, LANES, LIMB_MASK, Lanes, Octet};
use crate::residues::Reducer;

/// Points of a step, and of the axis of 17.
const STEP: usize = 16;
/// Words of a row, the axis of 257.
const ROW: usize = STEP * STEP;
/// Vectors of a row.
const ROW_VECTORS: usize = ROW / LANES;

/// A constant and what [`Words::times`] wants of it.
type Factor = [u64; 2];
/// Eight constants.
type Factors = [Octet; 2];
/// Powers of a root of order 16.
type Roots = [Factor; STEP / 2];

/// The transform of an index that 17 and 257 divide, and 3 and 5 may, modulo a prime that the 52-bit
/// multipliers take.
#[derive(Clone)]
pub(crate) struct FermatTransform {
    hardware: Hardware,
    q: u64,
    /// Rows for each place along the axis of 17: the places along those of 3 and 5.
    outer: usize,
    roots: Roots,
    inverse_roots: Roots,
    /// What joins the two steps of a row: powers of a root of order 256, by half of a step and its place.
    twiddles: Box<[Factors; 2 * STEP]>,
    inverse_twiddles: Box<[Factors; 2 * STEP]>,
    /// The Gauss sums in the order in which they are met.
    forward: Vec<Factors>,
    inverse: Vec<Factors>,
}

impl fmt::Debug for FermatTransform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FermatTransform").field("q", &self.q).finish_non_exhaustive()
    }
}

impl FermatTransform {
    /// None for other indices and primes, and where there are no lanes.
    pub(crate) fn new(index: RingIndex, reducer: &Reducer) -> Option<Self> {
        let outer = match index.value() / 4369 {
            1 => 1,
            3 => 2,
            5 => 4,
            15 => 8,
            _ => return None,
        };
        let hardware = reducer.lanes().filter(|_| index.value().is_multiple_of(4369))?;
        let q = reducer.modulus();
        let factor = |w: u64| [w, reducer.factor(w).shoup52];
        let factors = |w: [u64; LANES]| {
            let pairs = w.map(factor);
            [Octet(pairs.map(|pair| pair[0])), Octet(pairs.map(|pair| pair[1]))]
        };
        let root = root_of_order(q, ROW);
        let inverse_root = q.inverse(root);
        let roots = |root: u64| {
            let sixteenth = q.pow(root, STEP as u64);
            std::array::from_fn(|j| factor(q.pow(sixteenth, j as u64)))
        };
        let twiddles = |root: u64| {
            let power = |at: usize, lane: usize| {
                q.pow(root, ((at / STEP * LANES + lane) * reversed(at % STEP, 4)) as u64)
            };
            let of = |at| factors(std::array::from_fn(|lane| power(at, lane)));
            Box::new(std::array::from_fn(of))
        };
        // Frequencies by place: a transform leaves them bit-reversed along its axis.
        let along_row = |place: usize| reversed(place / STEP, 4) + STEP * reversed(place % STEP, 4);
        let axes = kernels(index, q);
        let sums = |kernel: fn(&AxisKernels) -> &[u64]| {
            let spectra: Vec<Vec<u64>> = (axes.iter().map(kernel))
                .map(|kernel| spectrum(kernel, q.pow(root, (ROW / kernel.len()) as u64), reducer))
                .collect();
            let [small @ .., seventeen, row] = &*spectra else { return Vec::new() };
            let of_outer = |place: usize| match small {
                [] => 1,
                [only] => only[if only.len() == 4 { reversed(place, 2) } else { place }],
                [three, five, ..] => q.mul(three[place / 4], five[reversed(place % 4, 2)]),
            };
            let mut sums = Vec::with_capacity(outer * STEP * ROW_VECTORS);
            for line in 0..outer * STEP {
                let of_line = q.mul(of_outer(line / STEP), seventeen[reversed(line % STEP, 4)]);
                for half in 0..2 {
                    for place in 0..STEP {
                        sums.push(factors(std::array::from_fn(|lane| {
                            let group = half * LANES + lane;
                            q.mul(of_line, row[along_row(group * STEP + place)])
                        })));
                    }
                }
            }
            sums
        };
        Some(Self {
            hardware,
            q: reducer.value(),
            outer,
            roots: roots(root),
            inverse_roots: roots(inverse_root),
            twiddles: twiddles(root),
            inverse_twiddles: twiddles(inverse_root),
            forward: sums(|axis| &axis.forward),
            inverse: sums(|axis| &axis.inverse),
        })
    }

    /// Coefficients to evaluations, in place.
    pub(crate) fn forward(&self, residues: &mut [u64]) {
        self.convolve(residues, &self.forward);
    }

    /// Evaluations to coefficients, in place.
    pub(crate) fn inverse(&self, residues: &mut [u64]) {
        self.convolve(residues, &self.inverse);
    }

    fn convolve(&self, residues: &mut [u64], sums: &[Factors]) {
        let (vectors, rest) = residues.as_chunks_mut::<LANES>();
        assert!(
            rest.is_empty() && vectors.len() == sums.len(),
            "there is a word for each coefficient of the ring"
        );
        self.hardware.run(Convolve { transform: self, vectors, sums });
    }
}

struct Convolve<'a> {
    transform: &'a FermatTransform,
    vectors: &'a mut [[u64; LANES]],
    sums: &'a [Factors],
}

impl Kernel for Convolve<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        match self.transform.outer {
            1 => self.convolve::<L, 1>(l),
            2 => self.convolve::<L, 2>(l),
            4 => self.convolve::<L, 4>(l),
            _ => self.convolve::<L, 8>(l),
        }
    }
}

impl Convolve<'_> {
    #[inline(always)]
    fn convolve<L: Lanes, const OUTER: usize>(self, l: L) {
        let Self { transform, vectors, sums } = self;
        let words = Words::new(l, transform.q);
        let (roots, inverse_roots) = (&transform.roots, &transform.inverse_roots);
        let blocks = vectors.as_chunks_mut::<ROW_VECTORS>().0.as_chunks_mut::<STEP>().0;
        // Lengths are compared before; arrays spare a check at each vector.
        let Some(blocks) = blocks.first_chunk_mut::<OUTER>() else { return };
        let mut x = [[l.zero(); STEP]; OUTER];
        for column in 0..ROW_VECTORS {
            for a in 0..OUTER {
                for i in 0..STEP {
                    x[a][i] = l.load_words(&blocks[a][i][column]);
                }
            }
            words.across(&mut x, roots);
            for a in 0..OUTER {
                words.decimate(&mut x[a], roots, false);
                for i in 0..STEP {
                    l.store_words(&mut blocks[a][i][column], x[a][i]);
                }
            }
        }
        let sums = sums.as_chunks::<ROW_VECTORS>().0;
        for (row, sums) in blocks.as_flattened_mut().iter_mut().zip(sums) {
            words.row(row, sums, transform);
        }
        for column in 0..ROW_VECTORS {
            for a in 0..OUTER {
                for i in 0..STEP {
                    x[a][i] = l.load_words(&blocks[a][i][column]);
                }
                words.interpolate(&mut x[a], inverse_roots, false);
            }
            words.back_across(&mut x, inverse_roots);
            for a in 0..OUTER {
                for i in 0..STEP {
                    let reduced = l.min(x[a][i], l.sub(x[a][i], words.q));
                    l.store_words(&mut blocks[a][i][column], reduced);
                }
            }
        }
    }
}

/// Arithmetic on residues below `2q`, `q < 2^50`.
#[derive(Clone, Copy)]
struct Words<L: Lanes> {
    l: L,
    q: L::Vector,
    /// `2^52 - q`.
    minus_q: L::Vector,
    twice: L::Vector,
    mask: L::Vector,
}

impl<L: Lanes> Words<L> {
    #[inline(always)]
    fn new(l: L, q: u64) -> Self {
        let mask = LIMB_MASK;
        Self {
            l,
            q: l.splat(q),
            minus_q: l.splat(mask + 1 - q),
            twice: l.splat(2 * q),
            mask: l.splat(mask),
        }
    }

    #[inline(always)]
    fn add(self, a: L::Vector, b: L::Vector) -> L::Vector {
        let sum = self.l.add(a, b);
        self.l.min(sum, self.l.sub(sum, self.twice))
    }

    #[inline(always)]
    fn sub(self, a: L::Vector, b: L::Vector) -> L::Vector {
        let difference = self.l.sub(a, b);
        self.l.min(difference, self.l.add(difference, self.twice))
    }

    /// Below `4q`.
    #[inline(always)]
    fn sub_lazily(self, a: L::Vector, b: L::Vector) -> L::Vector {
        self.l.sub(self.l.add(a, self.twice), b)
    }

    /// For any `a` below 2^52 (Shoup).
    #[inline(always)]
    fn product(self, a: L::Vector, w: L::Vector, shoup: L::Vector) -> L::Vector {
        let l = self.l;
        let quotient = l.add_high(l.zero(), a, shoup);
        let low = l.add_low(l.zero(), a, w);
        l.and(l.add_low(low, quotient, self.minus_q), self.mask)
    }

    #[inline(always)]
    fn times(self, a: L::Vector, factor: Factor) -> L::Vector {
        self.product(a, self.l.splat(factor[0]), self.l.splat(factor[1]))
    }

    #[inline(always)]
    fn times_each(self, a: L::Vector, factors: &Factors) -> L::Vector {
        self.product(a, self.l.load(&factors[0]), self.l.load(&factors[1]))
    }

    /// Sums and differences at a distance, and what follows a difference.
    #[inline(always)]
    fn split<const HALF: usize>(self, x: &mut [L::Vector; STEP], roots: &Roots) {
        for pair in 0..STEP / 2 {
            let j = pair % HALF;
            let i = (pair - j) * 2 + j;
            let (a, b) = (x[i], x[i + HALF]);
            x[i] = self.add(a, b);
            x[i + HALF] = if j == 0 {
                self.sub(a, b)
            } else {
                self.times(self.sub_lazily(a, b), roots[j * (STEP / 2 / HALF)])
            };
        }
    }

    /// The way back from [`Self::split`], by inverse roots and times 2.
    #[inline(always)]
    fn join<const HALF: usize>(self, x: &mut [L::Vector; STEP], roots: &Roots, lazy: bool) {
        for pair in 0..STEP / 2 {
            let j = pair % HALF;
            let i = (pair - j) * 2 + j;
            let (a, mut b) = (x[i], x[i + HALF]);
            if j != 0 {
                b = self.times(b, roots[j * (STEP / 2 / HALF)]);
            }
            (x[i], x[i + HALF]) = self.both(a, b, lazy);
        }
    }

    /// Sixteen points to their frequencies in bit-reversed order. `lazy` leaves them below `4q`, for what
    /// multiplies them next.
    #[inline(always)]
    fn decimate(self, x: &mut [L::Vector; STEP], roots: &Roots, lazy: bool) {
        self.split::<8>(x, roots);
        self.split::<4>(x, roots);
        self.split::<2>(x, roots);
        for i in (0..STEP).step_by(2) {
            let (a, b) = (x[i], x[i + 1]);
            (x[i], x[i + 1]) = self.both(a, b, lazy);
        }
    }

    /// The way back, times 16.
    #[inline(always)]
    fn interpolate(self, x: &mut [L::Vector; STEP], inverse_roots: &Roots, lazy: bool) {
        self.join::<1>(x, inverse_roots, false);
        self.join::<2>(x, inverse_roots, false);
        self.join::<4>(x, inverse_roots, false);
        self.join::<8>(x, inverse_roots, lazy);
    }

    /// Sum and difference, below `4q` if `lazy`.
    #[inline(always)]
    fn both(self, a: L::Vector, b: L::Vector, lazy: bool) -> (L::Vector, L::Vector) {
        if lazy {
            (self.l.add(a, b), self.sub_lazily(a, b))
        } else {
            (self.add(a, b), self.sub(a, b))
        }
    }

    /// Frequencies along the axes of 3 (two points) and 5 (four points, bit-reversed).
    #[inline(always)]
    fn across<const OUTER: usize>(self, x: &mut [[L::Vector; STEP]; OUTER], roots: &Roots) {
        for i in 0..STEP {
            if OUTER == 2 || OUTER == 8 {
                for a in 0..OUTER / 2 {
                    let (p, r) = (x[a][i], x[a + OUTER / 2][i]);
                    (x[a][i], x[a + OUTER / 2][i]) = (self.add(p, r), self.sub(p, r));
                }
            }
            if OUTER >= 4 {
                for first in (0..OUTER).step_by(4) {
                    let (p, r) = (x[first][i], x[first + 1][i]);
                    let (s, t) = (x[first + 2][i], x[first + 3][i]);
                    let (even, odd) = (self.add(p, s), self.add(r, t));
                    let (other, turned) =
                        (self.sub(p, s), self.times(self.sub_lazily(r, t), roots[4]));
                    x[first][i] = self.add(even, odd);
                    x[first + 1][i] = self.sub(even, odd);
                    x[first + 2][i] = self.add(other, turned);
                    x[first + 3][i] = self.sub(other, turned);
                }
            }
        }
    }

    /// The way back, times `OUTER`.
    #[inline(always)]
    fn back_across<const OUTER: usize>(
        self,
        x: &mut [[L::Vector; STEP]; OUTER],
        inverse_roots: &Roots,
    ) {
        for i in 0..STEP {
            if OUTER >= 4 {
                for first in (0..OUTER).step_by(4) {
                    let (p, r) = (x[first][i], x[first + 1][i]);
                    let (s, t) = (x[first + 2][i], x[first + 3][i]);
                    let (even, odd) = (self.add(p, r), self.sub(p, r));
                    let (other, turned) =
                        (self.add(s, t), self.times(self.sub_lazily(s, t), inverse_roots[4]));
                    x[first][i] = self.add(even, other);
                    x[first + 1][i] = self.add(odd, turned);
                    x[first + 2][i] = self.sub(even, other);
                    x[first + 3][i] = self.sub(odd, turned);
                }
            }
            if OUTER == 2 || OUTER == 8 {
                for a in 0..OUTER / 2 {
                    let (p, r) = (x[a][i], x[a + OUTER / 2][i]);
                    (x[a][i], x[a + OUTER / 2][i]) = (self.add(p, r), self.sub(p, r));
                }
            }
        }
    }

    /// A row's cyclic convolution: 256 points as 16 steps of 16 and 16 more, products with the Gauss
    /// sums, and back.
    #[inline(always)]
    fn row(
        self,
        row: &mut [[u64; LANES]; ROW_VECTORS],
        sums: &[Factors; ROW_VECTORS],
        transform: &FermatTransform,
    ) {
        let l = self.l;
        let mut x = [l.zero(); STEP];
        for half in 0..2 {
            for i in 0..STEP {
                x[i] = l.load_words(&row[2 * i + half]);
            }
            self.decimate(&mut x, &transform.roots, true);
            let first = l.min(x[0], l.sub(x[0], self.twice));
            l.store_words(&mut row[half], first);
            for i in 1..STEP {
                let twiddled = self.times_each(x[i], &transform.twiddles[half * STEP + i]);
                l.store_words(&mut row[2 * i + half], twiddled);
            }
        }
        for half in 0..2 {
            // Eight steps side by side, a step in each lane.
            self.turn(&mut x, row, half);
            self.decimate(&mut x, &transform.roots, true);
            for i in 0..STEP {
                x[i] = self.times_each(x[i], &sums[half * STEP + i]);
            }
            self.interpolate(&mut x, &transform.inverse_roots, true);
            self.turn_back(&x, row, half);
        }
        for half in 0..2 {
            x[0] = l.load_words(&row[half]);
            x[0] = l.min(x[0], l.sub(x[0], self.twice));
            for i in 1..STEP {
                let word = l.load_words(&row[2 * i + half]);
                x[i] = self.times_each(word, &transform.inverse_twiddles[half * STEP + i]);
            }
            self.interpolate(&mut x, &transform.inverse_roots, false);
            for i in 0..STEP {
                l.store_words(&mut row[2 * i + half], x[i]);
            }
        }
    }

    /// Eight steps of a row, a step in each lane.
    #[inline(always)]
    fn turn(self, x: &mut [L::Vector; STEP], row: &[[u64; LANES]; ROW_VECTORS], half: usize) {
        let l = self.l;
        for part in 0..2 {
            let mut block = [l.zero(); LANES];
            for g in 0..LANES {
                block[g] = l.load_words(&row[half * STEP + 2 * g + part]);
            }
            let block = l.transpose(block);
            for g in 0..LANES {
                x[part * LANES + g] = block[g];
            }
        }
    }

    #[inline(always)]
    fn turn_back(self, x: &[L::Vector; STEP], row: &mut [[u64; LANES]; ROW_VECTORS], half: usize) {
        let l = self.l;
        for part in 0..2 {
            let mut block = [l.zero(); LANES];
            for g in 0..LANES {
                block[g] = x[part * LANES + g];
            }
            let block = l.transpose(block);
            for g in 0..LANES {
                l.store_words(&mut row[half * STEP + 2 * g + part], block[g]);
            }
        }
    }
}
