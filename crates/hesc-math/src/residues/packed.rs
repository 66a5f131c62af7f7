//! Rows of residues in as few bits as these have, and sums of their products with other rows: one pass over memory, in
//! order.

use super::Reducer;
use crate::lanes::{self, Kernel, LANES, Lanes};

/// Places of a row that lie side by side: two vectors of eight words.
const COLUMN: usize = VECTORS * LANES;
const VECTORS: usize = 2;
/// Bytes that a vector is loaded from: a block has room for one behind its last word.
const LOAD: usize = 64;
/// Bits of a residue, at most: with the bits before it in its halfword it is within a lane.
pub const MOST_BITS: u32 = 49;
/// Bytes of factors that stay in the second cache while blocks pass by.
const TILE_BYTES: usize = 1 << 18;
/// How far memory is asked for ahead of its use: a page, which is where processors stop to do so by themselves.
const AHEAD: usize = 4096;
/// Parts that each row has a factor for: both of a ciphertext.
const PARTS: usize = 2;

/// How some rows of residues lie in a block of bytes: columns of 16 places one after the other, in each the words of row
/// after row, eight of `bits` bits in `bits` bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packing {
    bits: u32,
    rows: usize,
    length: usize,
}

impl Packing {
    /// Of so many rows of so many words of 1 to 49 bits.
    ///
    /// # Panics
    /// For other bits, no rows, and rows that are no multiples of 16.
    pub fn new(bits: u32, rows: usize, length: usize) -> Self {
        assert!((1..=MOST_BITS).contains(&bits), "words have 1 to 49 bits");
        assert!(rows > 0 && length.is_multiple_of(COLUMN), "rows are whole columns");
        Self { bits, rows, length }
    }

    /// Rows of a block.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Words of a row.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Bytes of a block: a multiple of 64.
    pub fn bytes(&self) -> usize {
        (self.length / COLUMN * self.run() + LOAD).next_multiple_of(LOAD)
    }

    /// Bytes of a column.
    fn run(&self) -> usize {
        self.rows * VECTORS * self.vector()
    }

    /// Bytes of eight words.
    fn vector(&self) -> usize {
        self.bits as usize
    }

    /// Where the vectors of a row begin, each eight words behind the one before.
    fn vectors(&self, row: usize) -> impl Iterator<Item = usize> {
        assert!(row < self.rows, "a block has so many rows");
        let own = *self;
        (0..self.length / LANES).map(move |vector| {
            let (column, half) = (vector / VECTORS, vector % VECTORS);
            column * own.run() + (row * VECTORS + half) * own.vector()
        })
    }

    /// Writes a row of residues below `2^bits`.
    ///
    /// # Panics
    /// For a block or a row of another length.
    pub fn write(&self, block: &mut [u8], row: usize, words: &[u64]) {
        assert!(block.len() == self.bytes() && words.len() == self.length, "a block has its size");
        debug_assert!(words.iter().all(|word| word >> self.bits == 0), "words have so many bits");
        for (at, words) in self.vectors(row).zip(words.as_chunks::<LANES>().0) {
            let out = &mut block[at..at + self.vector()];
            let (mut pending, mut held, mut end) = (0u128, 0, 0);
            for &word in words {
                pending |= u128::from(word) << held;
                held += self.bits as usize;
                while held >= 8 {
                    out[end] = pending as u8;
                    (pending, held, end) = (pending >> 8, held - 8, end + 1);
                }
            }
        }
    }

    /// Reads a row.
    ///
    /// # Panics
    /// For a block or a row of another length.
    pub fn read(&self, block: &[u8], row: usize, words: &mut [u64]) {
        assert!(block.len() == self.bytes() && words.len() == self.length, "a block has its size");
        for (at, words) in self.vectors(row).zip(words.as_chunks_mut::<LANES>().0) {
            *words = unpack(load(&block[at..]), self.bits);
        }
    }

    /// Whether the words of a block are below `q` and what is behind them is zero: no writer leaves anything else.
    ///
    /// # Panics
    /// For a block of another length.
    pub fn is_reduced(&self, block: &[u8], q: u64) -> bool {
        assert!(block.len() == self.bytes(), "a block has its size");
        let end = self.length / COLUMN * self.run();
        let mut largest = 0;
        for at in (0..end).step_by(self.vector()) {
            for word in unpack(load(&block[at..]), self.bits) {
                largest = largest.max(word);
            }
        }
        largest < q && block[end..].iter().all(|&byte| byte == 0)
    }
}

/// The bytes of a vector, and what lies behind them.
#[inline(always)]
fn load(bytes: &[u8]) -> &[u8; LOAD] {
    bytes.first_chunk().unwrap_or(&[0; LOAD])
}

/// Eight words of so many bits.
#[inline(always)]
fn unpack(bytes: &[u8; LOAD], bits: u32) -> [u64; LANES] {
    let mut words = [0; LANES];
    for (k, word) in words.iter_mut().enumerate() {
        let first = k * bits as usize;
        let long = bytes[first / 8..].first_chunk().copied().unwrap_or_default();
        *word = (u64::from_le_bytes(long) >> (first % 8)) & ((1 << bits) - 1);
    }
    words
}

/// What the rows of blocks are multiplied with: two rows of residues for each, in the order of a block.
pub struct Factors {
    rows: usize,
    length: usize,
    /// Column after column, in each row after row, of each both parts. A column is a piece of memory: allocators find room for
    /// small pieces where they had such, and megabytes somewhere else each time.
    columns: Vec<Vec<[[[u64; LANES]; VECTORS]; PARTS]>>,
}

impl Factors {
    /// Zeros.
    pub fn new(packing: &Packing) -> Self {
        let Packing { rows, length, .. } = *packing;
        let column = vec![[[[0; LANES]; VECTORS]; PARTS]; rows];
        Self { rows, length, columns: vec![column; length / COLUMN] }
    }

    /// Whether they are for blocks of this form.
    fn fit(&self, packing: &Packing) -> bool {
        self.rows == packing.rows && self.length == packing.length
    }

    /// Sets the factors of a row, reduced.
    ///
    /// # Panics
    /// For a row that is not there, and parts of another length.
    pub fn set(&mut self, row: usize, parts: [&[u64]; PARTS]) {
        assert!(row < self.rows, "there are so many rows");
        assert!(parts.iter().all(|part| part.len() == self.length), "rows have one length");
        let [first, second] = parts.map(|part| part.as_chunks::<LANES>().0.as_chunks().0);
        for (column, (first, second)) in self.columns.iter_mut().zip(first.iter().zip(second)) {
            column[row] = [*first, *second];
        }
    }
}

/// The sums over all rows of each block times its factors modulo `q`: in `out` for block after block, of each for one set
/// of factors after the other, both parts. Reads each block once.
///
/// # Panics
/// For blocks, factors and an output of other sizes, and a modulus of more bits than words have.
pub fn sums_of_products(
    out: &mut [u64],
    packing: &Packing,
    blocks: &[&[u8]],
    factors: &[&Factors],
    q: &Reducer,
) {
    let Packing { bits, length, .. } = *packing;
    assert!(q.value() >> bits == 0, "words have room for residues");
    assert!(blocks.iter().all(|block| block.len() == packing.bytes()), "blocks have one size");
    assert!(factors.iter().all(|factors| factors.fit(packing)), "a factor for each row");
    assert_eq!(out.len(), blocks.len() * factors.len() * PARTS * length, "a sum for each");
    let scan = Scan { out, packing: *packing, blocks, factors, q };
    match lanes::hardware() {
        Some(hardware) => hardware.run(scan),
        None => scan.words(),
    }
}

struct Scan<'a> {
    out: &'a mut [u64],
    packing: Packing,
    blocks: &'a [&'a [u8]],
    factors: &'a [&'a Factors],
    q: &'a Reducer,
}

/// Where words of so many bits lie in 64 bytes: halfwords for each lane, and bits before a word in them.
fn places(bits: u32) -> [[u64; LANES]; 2] {
    let (mut halfwords, mut shifts) = ([0; LANES], [0; LANES]);
    for (k, (halfwords, shift)) in halfwords.iter_mut().zip(&mut shifts).enumerate() {
        let first = k as u64 * u64::from(bits);
        *shift = first % 16;
        // Beyond the last: any, for no bits of it are taken.
        let place = |i: u64| (first / 16 + i).min(31);
        *halfwords = (0..4).fold(0, |all, i| all | (place(i) << (16 * i)));
    }
    [halfwords, shifts]
}

impl Scan<'_> {
    /// The factors of a column.
    fn of_column(&self, factors: usize, column: usize) -> &[[[[u64; LANES]; VECTORS]; PARTS]] {
        &self.factors[factors].columns[column]
    }

    /// The bytes of a column, with what is loaded behind it.
    fn bytes(&self, block: usize, column: usize) -> &[u8] {
        let run = self.packing.run();
        &self.blocks[block][column * run..][..run + LOAD - self.packing.vector()]
    }

    /// Where the sums of a block's column lie.
    fn place(&mut self, block: usize, factors: usize, part: usize, column: usize) -> &mut [u64] {
        let at = (block * self.factors.len() + factors) * PARTS + part;
        &mut self.out[at * self.packing.length + column * COLUMN..][..COLUMN]
    }

    /// The order in which blocks are read: `(block, blocks, column)`, two blocks at a time, so that a factor that was loaded
    /// serves both.
    fn order(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let columns = self.packing.length / COLUMN;
        // Columns whose factors stay in a cache.
        let factors = self.packing.rows * COLUMN * PARTS * size_of::<u64>();
        let (tile, blocks) = ((TILE_BYTES / factors).max(1), self.blocks.len());
        (0..columns).step_by(tile).flat_map(move |first| {
            (0..blocks).step_by(2).flat_map(move |block| {
                let count = (blocks - block).min(2);
                (first..columns.min(first + tile)).map(move |column| (block, count, column))
            })
        })
    }

    /// By 64-bit multipliers.
    fn words(mut self) {
        for (first, count, column) in self.order() {
            for block in first..first + count {
                (0..self.factors.len()).for_each(|factors| self.wide(block, column, factors));
            }
        }
    }

    /// One column of a block, by 64-bit multipliers.
    fn wide(&mut self, block: usize, column: usize, factors: usize) {
        let (bits, vector, q) = (self.packing.bits, self.packing.vector(), self.q);
        let mut sums = [[[0u128; LANES]; VECTORS]; PARTS];
        let bytes = self.bytes(block, column);
        for (row, own) in self.of_column(factors, column).iter().enumerate() {
            for half in 0..VECTORS {
                let x = unpack(load(&bytes[(row * VECTORS + half) * vector..]), bits);
                for (sums, own) in sums.iter_mut().zip(own) {
                    for ((sum, &x), &y) in sums[half].iter_mut().zip(&x).zip(&own[half]) {
                        *sum += u128::from(x) * u128::from(y);
                    }
                }
            }
        }
        for (part, sums) in sums.iter().enumerate() {
            let out = self.place(block, factors, part, column);
            out.iter_mut().zip(sums.as_flattened()).for_each(|(out, &x)| *out = q.reduce(x));
        }
    }

    /// One column of some blocks.
    #[inline(always)]
    fn column<L: Lanes, const BLOCKS: usize>(
        &mut self,
        l: L,
        (block, column): (usize, usize),
        factors: usize,
        [halfwords, shifts, mask]: [L::Vector; 3],
    ) {
        let (vector, terms) = (self.packing.vector(), self.q.lane_terms());
        let mut bytes: [&[u8]; BLOCKS] = [&[]; BLOCKS];
        for (b, bytes) in bytes.iter_mut().enumerate() {
            *bytes = self.bytes(block + b, column);
        }
        let mut sums = [[[l.zero(); VECTORS]; PARTS]; BLOCKS];
        for (group, own) in self.of_column(factors, column).chunks(terms).enumerate() {
            let (mut low, mut high) = (sums, [[[l.zero(); VECTORS]; PARTS]; BLOCKS]);
            let mut at = group * terms * VECTORS * vector;
            for own in own {
                for half in 0..VECTORS {
                    let (y, z) = (l.load_words(&own[0][half]), l.load_words(&own[1][half]));
                    for b in 0..BLOCKS {
                        let bytes = load(&bytes[b][at..]);
                        l.ask_for(bytes, AHEAD);
                        let x = l.halfwords(bytes, halfwords);
                        let x = l.and(l.shr_by(x, shifts), mask);
                        low[b][0][half] = l.add_low(low[b][0][half], x, y);
                        high[b][0][half] = l.add_high(high[b][0][half], x, y);
                        low[b][1][half] = l.add_low(low[b][1][half], x, z);
                        high[b][1][half] = l.add_high(high[b][1][half], x, z);
                    }
                    at += vector;
                }
            }
            for b in 0..BLOCKS {
                for part in 0..PARTS {
                    for half in 0..VECTORS {
                        let (low, high) = (low[b][part][half], high[b][part][half]);
                        sums[b][part][half] = self.q.lanes_reduce(l, low, high);
                    }
                }
            }
        }
        for (b, sums) in sums.iter().enumerate() {
            for (part, sums) in sums.iter().enumerate() {
                let out = self.place(block + b, factors, part, column).as_chunks_mut().0;
                for (out, sum) in out.iter_mut().zip(sums) {
                    l.store_words(out, *sum);
                }
            }
        }
    }
}

impl Kernel for Scan<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        let [halfwords, shifts] = places(self.packing.bits);
        let mask = l.splat((1 << self.packing.bits) - 1);
        let how = [l.load_words(&halfwords), l.load_words(&shifts), mask];
        for (block, count, column) in self.order() {
            for factors in 0..self.factors.len() {
                match count {
                    2 => self.column::<L, 2>(l, (block, column), factors, how),
                    _ => self.column::<L, 1>(l, (block, column), factors, how),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::Portable;
    use crate::ntt_primes;

    struct Words(u64);

    impl Words {
        fn below(&mut self, q: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 3) % q
        }

        fn rows(&mut self, rows: usize, length: usize, q: u64, largest: bool) -> Vec<Vec<u64>> {
            let mut word = || if largest { q - 1 } else { self.below(q) };
            (0..rows).map(|_| (0..length).map(|_| word()).collect()).collect()
        }
    }

    fn packed(packing: &Packing, rows: &[Vec<u64>]) -> Vec<u8> {
        let mut block = vec![0; packing.bytes()];
        rows.iter().enumerate().for_each(|(row, words)| packing.write(&mut block, row, words));
        block
    }

    /// All ways of computing, by the definition: for all bits, more rows than sums hold without reduction, even and odd
    /// numbers of blocks, several sets of factors, and largest residues.
    #[test]
    fn sums_are_those_of_the_products() {
        let mut words = Words(7);
        for (bits, rows, length, count, sets) in [
            (20, 3, 256, 1, 1),
            (26, 17, 256, 2, 2),
            (28, 5, 512, 3, 1),
            (33, 2500, 256, 1, 1),
            (41, 130, 256, 4, 1),
            (45, 2100, 256, 3, 2),
            (46, 2100, 256, 2, 1),
            (47, 600, 256, 3, 1),
            (49, 100, 256, 5, 3),
        ] {
            let q = Reducer::new(ntt_primes(bits, 256, 1).unwrap()[0]);
            let packing = Packing::new(bits, rows, length);
            for largest in [false, true] {
                let blocks: Vec<_> =
                    (0..count).map(|_| words.rows(rows, length, q.value(), largest)).collect();
                let bytes: Vec<_> = blocks.iter().map(|rows| packed(&packing, rows)).collect();
                let bytes: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
                let parts: Vec<[_; PARTS]> = (0..sets)
                    .map(|_| [(); PARTS].map(|()| words.rows(rows, length, q.value(), largest)))
                    .collect();
                let factors: Vec<_> = parts
                    .iter()
                    .map(|parts| {
                        let mut factors = Factors::new(&packing);
                        let both = parts[0].iter().zip(&parts[1]).enumerate();
                        both.for_each(|(row, (x, y))| factors.set(row, [x, y]));
                        factors
                    })
                    .collect();
                let factors: Vec<_> = factors.iter().collect();
                let mut expected = Vec::new();
                for (block, parts) in blocks.iter().flat_map(|b| parts.iter().map(move |p| (b, p)))
                {
                    for part in parts {
                        expected.extend((0..length).map(|i| {
                            let products = block.iter().zip(part);
                            let sum: u128 =
                                products.map(|(x, y)| u128::from(x[i]) * u128::from(y[i])).sum();
                            (sum % u128::from(q.value())) as u64
                        }));
                    }
                }
                let mut out = vec![1; expected.len()];
                sums_of_products(&mut out, &packing, &bytes, &factors, &q);
                assert!(out == expected, "{bits} bits");
                for portable in [false, true] {
                    out.fill(2);
                    let (blocks, factors) = (&bytes[..], &factors[..]);
                    let scan = Scan { out: &mut out, packing, blocks, factors, q: &q };
                    if portable {
                        scan.run(Portable)
                    } else {
                        scan.words()
                    }
                    assert!(out == expected, "{bits} bits");
                }
            }
        }
    }

    /// Rows come back, whatever their neighbours are; blocks with words of `q` and beyond, or anything behind them, are told.
    #[test]
    fn words_return() {
        let mut words = Words(3);
        for bits in 1..=MOST_BITS {
            let (packing, q) = (Packing::new(bits, 3, 64), (1 << bits) - 1);
            assert!(packing.bytes() < 3 * 64 * bits as usize / 8 + 2 * LOAD);
            let rows = words.rows(3, 64, q.max(1), false);
            let mut block = packed(&packing, &rows);
            let other = words.rows(1, 64, q.max(1), true).remove(0);
            packing.write(&mut block, 1, &other);
            for (row, expected) in [&rows[0], &other, &rows[2]].into_iter().enumerate() {
                let mut found = vec![0; 64];
                packing.read(&block, row, &mut found);
                assert_eq!(found, *expected, "{bits} bits");
            }
            assert!(packing.is_reduced(&block, q.max(1)));
            let mut longer = block.clone();
            *longer.last_mut().unwrap() = 1;
            assert!(!packing.is_reduced(&longer, q.max(1)));
            for place in [0, 17, 63] {
                let mut wrong = other.clone();
                wrong[place] = q;
                packing.write(&mut block, 1, &wrong);
                assert!(!packing.is_reduced(&block, q), "{bits} bits");
            }
        }
    }

    /// What a pass reaches, of a gigabyte: `cargo test --release -p hesc-math scan_speed -- --ignored --nocapture`.
    #[test]
    #[ignore = "a measurement"]
    fn scan_speed() {
        for (bits, rows, length, count) in
            [(41, 128, 4096, 1), (41, 128, 4096, 25), (41, 128, 4096, 245), (26, 512, 1024, 488)]
        {
            let q = Reducer::new(ntt_primes(bits, length, 1).unwrap()[0]);
            let packing = Packing::new(bits, rows, length);
            let own = Words(1).rows(rows, length, q.value(), false);
            let block = packed(&packing, &own);
            let blocks: Vec<_> = (0..count).map(|_| block.clone()).collect();
            let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
            let mut factors = Factors::new(&packing);
            own.iter().enumerate().for_each(|(row, x)| factors.set(row, [x, x]));
            for sets in [1, 2] {
                let factors = vec![&factors; sets];
                let mut out = vec![0; count * sets * PARTS * length];
                let mut least = f64::INFINITY;
                for _ in 0..9 {
                    let start = std::time::Instant::now();
                    sums_of_products(&mut out, &packing, &blocks, &factors, &q);
                    least = least.min(start.elapsed().as_secs_f64());
                }
                let bytes = (count * packing.bytes()) as f64;
                // As fast as sums of words are read, by the loops of this crate.
                let mut read = f64::INFINITY;
                for _ in 0..5 {
                    let start = std::time::Instant::now();
                    let mut all = 0;
                    for block in &blocks {
                        let sum = block.as_chunks::<8>().0.iter().map(|x| u64::from_le_bytes(*x));
                        all ^= sum.fold(0, |a, b| a ^ b);
                    }
                    std::hint::black_box(all);
                    read = read.min(start.elapsed().as_secs_f64());
                }
                println!(
                    "{count} blocks of {rows} rows of {length} words of {bits} bits, {sets} sets: {:.2} ms, {:.1} GB/s, read alone {:.1} GB/s",
                    1e3 * least,
                    1e-9 * bytes / least,
                    1e-9 * bytes / read
                );
            }
        }
    }
}
