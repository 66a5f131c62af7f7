//! The layers of butterflies, for any arithmetic.

/// Places that a butterfly's loop takes at a time, and the side of a [`Tile`].
pub const SIDE: usize = 8;
/// Words of a [`Tile`]: the least degree.
pub const TILE: usize = SIDE * SIDE;

/// A word for each of so many neighbouring parts of the ring, of eight places each.
type Row<W> = [W; SIDE];

/// A root and what multiplies with it fast.
#[derive(Debug, Clone, Copy)]
pub struct Root<W> {
    pub word: W,
    pub aid: W,
}

/// Residues in some form, and butterflies on them.
pub trait Arithmetic: Copy {
    type Word: Copy + Default;
    /// Whether words are multiplied one by one: vectors have no such products. Loops are then unrolled by hand.
    const SINGLE: bool;

    /// The root with its aid.
    fn root(self, root: Self::Word) -> Root<Self::Word>;
    /// A reduced residue in this form.
    fn enter(self, x: Self::Word) -> Self::Word;
    /// The reduced residue, from what butterflies leave.
    fn leave(self, x: Self::Word) -> Self::Word;
    /// `(a + b root, a - b root)`; every second layer is even.
    fn forward<const EVEN: bool>(
        self,
        a: Self::Word,
        b: Self::Word,
        root: Root<Self::Word>,
    ) -> (Self::Word, Self::Word);
    /// `(a + b, (a - b) root)`.
    fn inverse(
        self,
        a: Self::Word,
        b: Self::Word,
        root: Root<Self::Word>,
    ) -> (Self::Word, Self::Word);
    /// The product of two residues in this form, as [`scale`](Self::scale) takes it.
    fn product(self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// The product with a root, as [`leave`](Self::leave) takes it.
    fn scale(self, x: Self::Word, root: Root<Self::Word>) -> Self::Word;
}

/// The last three layers of eight neighbouring parts: as many roots as there are butterflies in a part, for each.
#[derive(Debug, Clone)]
struct Tile<W> {
    words: [Row<W>; SIDE - 1],
    aids: [Row<W>; SIDE - 1],
}

/// The roots of all layers.
#[derive(Debug, Clone)]
pub struct Roots<W> {
    outer: Vec<Root<W>>,
    tiles: Vec<Tile<W>>,
}

impl<W: Copy + Default> Roots<W> {
    /// Of powers of the root in bit-reversed order.
    pub fn new<A: Arithmetic<Word = W>>(powers: &[W], arithmetic: A) -> Self {
        let n = powers.len();
        let all: Vec<Root<W>> = powers.iter().map(|&x| arithmetic.root(x)).collect();
        let tiles = (0..n / TILE).map(|tile| {
            // Butterfly `h` of layer `l` of part `p` has the root n / 8 2^l + p 2^l + h.
            let at = |row: usize, lane: usize| {
                let layer = (row + 1).ilog2();
                let (parts, part) = (n / SIDE, tile * SIDE + lane);
                all[((parts + part) << layer) + row + 1 - (1 << layer)]
            };
            Tile {
                words: std::array::from_fn(|i| std::array::from_fn(|j| at(i, j).word)),
                aids: std::array::from_fn(|i| std::array::from_fn(|j| at(i, j).aid)),
            }
        });
        Self { tiles: tiles.collect(), outer: all[..n / SIDE].to_vec() }
    }
}

#[inline(always)]
fn transposed<W: Copy + Default>(tile: &[W; TILE]) -> [Row<W>; SIDE] {
    let mut rows = [[W::default(); SIDE]; SIDE];
    for i in 0..SIDE {
        for (j, row) in rows.iter_mut().enumerate() {
            row[i] = tile[i * SIDE + j];
        }
    }
    rows
}

#[inline(always)]
fn put_back<W: Copy>(tile: &mut [W; TILE], rows: &[Row<W>; SIDE]) {
    for i in 0..SIDE {
        for (j, row) in rows.iter().enumerate() {
            tile[i * SIDE + j] = row[i];
        }
    }
}

/// Applies a butterfly to two rows, with a root for each place.
#[inline(always)]
fn rows<W: Copy>(
    all: &mut [Row<W>; SIDE],
    [first, second]: [usize; 2],
    roots: (&Row<W>, &Row<W>),
    butterfly: impl Fn(W, W, Root<W>) -> (W, W),
) {
    let [mut x, mut y] = [all[first], all[second]];
    for k in 0..SIDE {
        (x[k], y[k]) = butterfly(x[k], y[k], Root { word: roots.0[k], aid: roots.1[k] });
    }
    (all[first], all[second]) = (x, y);
}

/// Applies a butterfly to the halves of a block.
#[inline(always)]
fn block<A: Arithmetic>(
    block: &mut [A::Word],
    root: Root<A::Word>,
    butterfly: impl Fn(A::Word, A::Word, Root<A::Word>) -> (A::Word, A::Word),
) {
    let (low, high) = block.split_at_mut(block.len() / 2);
    if A::SINGLE {
        let (low, high) = (low.as_chunks_mut::<SIDE>().0, high.as_chunks_mut::<SIDE>().0);
        for (low, high) in low.iter_mut().zip(high) {
            for k in 0..SIDE {
                (low[k], high[k]) = butterfly(low[k], high[k], root);
            }
        }
        return;
    }
    for (low, high) in low.iter_mut().zip(high) {
        (*low, *high) = butterfly(*low, *high, root);
    }
}

/// Pairs of rows and the root's row, for each layer of a tile.
const PAIRS: [[([usize; 2], usize); SIDE / 2]; 3] = [
    [([0, 4], 0), ([1, 5], 0), ([2, 6], 0), ([3, 7], 0)],
    [([0, 2], 1), ([1, 3], 1), ([4, 6], 2), ([5, 7], 2)],
    [([0, 1], 3), ([2, 3], 4), ([4, 5], 5), ([6, 7], 6)],
];

/// Coefficients to values at odd powers of the root, in bit-reversed order
/// (Longa and Naehrig 2016, algorithm 1).
#[inline(always)]
pub fn forward<A: Arithmetic>(a: &mut [A::Word], roots: &Roots<A::Word>, f: A) {
    for x in a.iter_mut() {
        *x = f.enter(*x);
    }
    let (n, mut even) = (a.len(), false);
    let mut half = n / 2;
    while half >= SIDE {
        let first = n / (2 * half);
        for (part, &root) in a.chunks_exact_mut(2 * half).zip(&roots.outer[first..]) {
            if even {
                block::<A>(part, root, |x, y, root| f.forward::<true>(x, y, root));
            } else {
                block::<A>(part, root, |x, y, root| f.forward::<false>(x, y, root));
            }
        }
        (half, even) = (half / 2, !even);
    }
    for (tile, roots) in a.as_chunks_mut::<TILE>().0.iter_mut().zip(&roots.tiles) {
        let mut all = transposed(tile);
        for (layer, pairs) in PAIRS.iter().enumerate() {
            for &(pair, root) in pairs {
                let root = (&roots.words[root], &roots.aids[root]);
                if layer == 1 {
                    rows(&mut all, pair, root, |x, y, root| f.forward::<true>(x, y, root));
                } else {
                    rows(&mut all, pair, root, |x, y, root| f.forward::<false>(x, y, root));
                }
            }
        }
        for row in &mut all {
            for x in row {
                *x = f.leave(*x);
            }
        }
        put_back(tile, &all);
    }
}

/// Values to coefficients times the degree: algorithm 2 there, without its last factor.
#[inline(always)]
pub fn inverse<A: Arithmetic>(a: &mut [A::Word], roots: &Roots<A::Word>, f: A) {
    let n = a.len();
    for (tile, roots) in a.as_chunks_mut::<TILE>().0.iter_mut().zip(&roots.tiles) {
        let mut all = transposed(tile);
        for row in &mut all {
            for x in row {
                *x = f.enter(*x);
            }
        }
        for pairs in PAIRS.iter().rev() {
            for &(pair, root) in pairs {
                let root = (&roots.words[root], &roots.aids[root]);
                rows(&mut all, pair, root, |x, y, root| f.inverse(x, y, root));
            }
        }
        put_back(tile, &all);
    }
    let mut half = SIDE;
    while half < n {
        let first = n / (2 * half);
        for (part, &root) in a.chunks_exact_mut(2 * half).zip(&roots.outer[first..]) {
            block::<A>(part, root, |x, y, root| f.inverse(x, y, root));
        }
        half *= 2;
    }
    for x in a.iter_mut() {
        *x = f.leave(*x);
    }
}
