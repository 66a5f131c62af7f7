use crate::residues::Reducer;
use hesc_kernels::vectorised;

/// An element that others are sums of multiples of. Where the polynomial is cyclotomic, most powers of `Y` are a power
/// below the degree, which costs one product and not one for each coefficient.
#[derive(Debug, Clone)]
pub(super) enum Row {
    /// `value Y^place`.
    Term { place: usize, value: u64 },
    /// Any coefficients.
    Dense(Vec<u64>),
}

impl Row {
    pub(super) fn new(coefficients: Vec<u64>) -> Self {
        let mut terms = coefficients.iter().enumerate().filter(|(_, x)| **x != 0);
        match (terms.next(), terms.next()) {
            (Some((place, &value)), None) => Self::Term { place, value },
            _ => Self::Dense(coefficients),
        }
    }

    /// The coefficient of `Y^place`.
    fn coefficient(&self, at: usize) -> u64 {
        match self {
            Self::Term { place, value } => {
                if *place == at {
                    *value
                } else {
                    0
                }
            }
            Self::Dense(coefficients) => coefficients[at],
        }
    }

    /// Adds a multiple to sums that have room for a product more.
    fn add_multiple<S: Sum>(&self, sums: &mut [S], by: u64) {
        match self {
            Self::Term { place, value } => sums[*place].add_product(by, *value),
            Self::Dense(coefficients) => S::accumulate(sums, &[by], coefficients),
        }
    }
}

/// Sums of products that are reduced once in the end.
trait Sum: Copy + Default {
    /// Adds the coefficients of the polynomial `a b` to sums.
    fn accumulate(sums: &mut [Self], a: &[u64], b: &[u64]);
    fn add_product(&mut self, x: u64, y: u64);
    fn reduce(self, reducer: &Reducer) -> u64;
    /// A residue to add further products to.
    fn of_residue(x: u64) -> Self;
}

impl Sum for u64 {
    fn accumulate(sums: &mut [Self], a: &[u64], b: &[u64]) {
        accumulate_halves(sums, a, b);
    }

    fn add_product(&mut self, x: u64, y: u64) {
        *self += x * y;
    }

    fn reduce(self, reducer: &Reducer) -> u64 {
        reducer.remainder(self)
    }

    fn of_residue(x: u64) -> Self {
        x
    }
}

impl Sum for u128 {
    fn accumulate(sums: &mut [Self], a: &[u64], b: &[u64]) {
        for (i, &x) in a.iter().enumerate().filter(|(_, x)| **x != 0) {
            for (sum, &y) in sums[i..].iter_mut().zip(b) {
                sum.add_product(x, y);
            }
        }
    }

    fn add_product(&mut self, x: u64, y: u64) {
        *self += Self::from(x) * Self::from(y);
    }

    fn reduce(self, reducer: &Reducer) -> u64 {
        reducer.reduce(self)
    }

    fn of_residue(x: u64) -> Self {
        Self::from(x)
    }
}

vectorised! {
    /// [`Sum::accumulate`] for factors of at most 32 bits: the masks say so to the compiler, which then takes the
    /// processor's products of half words.
    fn accumulate_halves(sums: &mut [u64], a: &[u64], b: &[u64]) {
        for (i, &x) in a.iter().enumerate().filter(|(_, x)| **x != 0) {
            for (sum, &y) in sums[i..].iter_mut().zip(b) {
                *sum += (x & HALF) * (y & HALF);
            }
        }
    }
}

const HALF: u64 = u32::MAX as u64;
/// Products of elements between two reductions that are worth sums of 64 bits instead of 128.
const FEWEST_TERMS: u64 = 16;

/// Products modulo a monic polynomial over the integers modulo `q < 2^56`, coefficients lowest first.
#[derive(Debug, Clone)]
pub(super) struct Quotient {
    pub reducer: Reducer,
    /// The coefficients below the leading one.
    pub polynomial: Vec<u64>,
    /// The remainders of `Y^d, Y^(d + 1), ..., Y^(2d - 2)`.
    folds: Vec<Row>,
}

impl Quotient {
    /// Modulo `Y^d + polynomial`, `d` its length, 1 to 1024.
    pub(super) fn new(reducer: Reducer, polynomial: Vec<u64>) -> Self {
        let q = reducer.modulus();
        let mut fold: Vec<u64> = polynomial.iter().map(|&x| q.neg(x)).collect();
        let mut folds = Vec::with_capacity(polynomial.len());
        for _ in 1..polynomial.len() {
            let top = fold[fold.len() - 1];
            let shifted: Vec<u64> = std::iter::once(0).chain(fold.iter().copied()).collect();
            let next = shifted.iter().zip(&polynomial);
            let next = next.map(|(&x, &c)| q.add(x, q.neg(reducer.product(top, c)))).collect();
            folds.push(Row::new(std::mem::replace(&mut fold, next)));
        }
        Self { reducer, polynomial, folds }
    }

    /// `d`.
    pub(super) fn degree(&self) -> usize {
        self.polynomial.len()
    }

    /// Products of coefficients that a sum of 64 bits holds, with factors of 32.
    fn room_in_words(&self) -> u64 {
        let largest = self.reducer.value() - 1;
        if largest > HALF { 0 } else { u64::MAX / (largest * largest) }
    }

    /// Whether sums of 64 bits hold enough products.
    fn is_narrow(&self) -> bool {
        self.room_in_words() / self.degree() as u64 >= FEWEST_TERMS
    }

    /// Cost: `d^2` products of words, and at most as many for the remainder; `2 d` where the polynomial is cyclotomic and
    /// the index prime.
    pub(super) fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.inner_product(std::iter::once((a, b)))
    }

    /// The sum of products, with one remainder for all. Factors may be shorter than `d`.
    pub(super) fn inner_product<'a>(
        &self,
        pairs: impl Iterator<Item = (&'a [u64], &'a [u64])>,
    ) -> Vec<u64> {
        if self.is_narrow() {
            self.sum_of_products::<u64>(pairs, self.room_in_words())
        } else {
            // Products are below 2^112.
            self.sum_of_products::<u128>(pairs, 1 << 16)
        }
    }

    /// [`inner_product`](Self::inner_product) by sums with room for so many products of coefficients.
    fn sum_of_products<'a, S: Sum>(
        &self,
        pairs: impl Iterator<Item = (&'a [u64], &'a [u64])>,
        room: u64,
    ) -> Vec<u64> {
        let d = self.degree();
        // One pair's room is left for residues and the remainder.
        let terms = room / d as u64 - 1;
        let mut sums = vec![S::default(); 2 * d - 1];
        let mut left = terms;
        for (a, b) in pairs {
            if left == 0 {
                left = terms;
                sums.iter_mut().for_each(|sum| *sum = S::of_residue(sum.reduce(&self.reducer)));
            }
            left -= 1;
            S::accumulate(&mut sums, a, b);
        }
        let (low, high) = sums.split_at_mut(d);
        for (top, fold) in high.iter().zip(&self.folds) {
            fold.add_multiple(low, top.reduce(&self.reducer));
        }
        low.iter().map(|sum| sum.reduce(&self.reducer)).collect()
    }

    /// The sum of rows times numbers, as many as `d` at most.
    pub(super) fn sum_of_rows(&self, rows: &[Row], numbers: &[u64]) -> Vec<u64> {
        fn sum<S: Sum>(rows: &[Row], numbers: &[u64], reducer: &Reducer) -> Vec<u64> {
            let mut sums = vec![S::default(); numbers.len()];
            for (row, &by) in rows.iter().zip(numbers) {
                row.add_multiple(&mut sums, by);
            }
            sums.iter().map(|sum| sum.reduce(reducer)).collect()
        }
        let sum = if self.is_narrow() { sum::<u64> } else { sum::<u128> };
        sum(rows, numbers, &self.reducer)
    }

    /// The traces of `1, Y, ..., Y^(d - 1)`: sums of the diagonals of the matrices that multiply by them.
    pub(super) fn traces(&self) -> Vec<u64> {
        let (d, q) = (self.degree(), self.reducer.modulus());
        let trace = |i: usize| {
            // Lower powers of Y are not their own images.
            let images = (d.saturating_sub(i)..d).map(|k| self.folds[i + k - d].coefficient(k));
            images.fold(0, |sum, x| q.add(sum, x))
        };
        let own = self.reducer.remainder(d as u64);
        (0..d).map(|i| if i == 0 { own } else { trace(i) }).collect()
    }

    /// The number `x`.
    pub(super) fn constant(&self, x: u64) -> Vec<u64> {
        let mut out = vec![0; self.degree()];
        out[0] = x;
        out
    }

    /// `Y`.
    pub(super) fn root(&self) -> Vec<u64> {
        let mut root = self.constant(0);
        match root.get_mut(1) {
            Some(first) => *first = 1,
            None => root[0] = self.reducer.modulus().neg(self.polynomial[0]),
        }
        root
    }

    /// `1, a, a^2, ...`, so many of them.
    pub(super) fn powers(&self, a: &[u64], count: usize) -> Vec<Vec<u64>> {
        // What is mostly zeros comes first: often a power of Y.
        let next = |x: &Vec<u64>| Some(self.multiply(a, x));
        std::iter::successors(Some(self.constant(1)), next).take(count).collect()
    }

    /// The sum of elements times numbers. Cost: `d` products of words for each.
    pub(super) fn combination(&self, elements: &[Vec<u64>], numbers: &[u64]) -> Vec<u64> {
        let numbers = numbers.iter().map(std::slice::from_ref);
        self.inner_product(numbers.zip(elements.iter().map(Vec::as_slice)))
    }

    /// `a^exponent`. Variable time.
    pub(super) fn power(&self, a: &[u64], mut exponent: u64) -> Vec<u64> {
        let (mut result, mut square) = (self.constant(1), a.to_vec());
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.multiply(&result, &square);
            }
            exponent >>= 1;
            if exponent > 0 {
                square = self.multiply(&square, &square);
            }
        }
        result
    }
}

/// The smallest prime modulo which candidates are scattered.
const SCATTERED: u64 = 64;

/// The candidates of a search, one for each number: by the number's digits, so that simple ones come first, and modulo
/// larger primes scattered, for of the simple ones all that differ by a number only may fail.
pub(super) fn candidate(number: u64, p: u64, d: usize) -> Vec<u64> {
    if p < SCATTERED {
        return digits(number, p, d);
    }
    let word = |i: u64| {
        // The finalizer of SplitMix64.
        let mut x =
            number.wrapping_mul(d as u64).wrapping_add(i).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (x ^ (x >> 31)) % p
    };
    (0..d as u64).map(word).collect()
}

/// The digits of a number to a base, the lowest first, and zeros: what searches number elements by.
pub(super) fn digits(mut number: u64, base: u64, count: usize) -> Vec<u64> {
    let digit = |_| {
        let digit = number % base;
        number /= base;
        digit
    };
    (0..count).map(digit).collect()
}
