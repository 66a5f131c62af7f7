use crate::residues::Reducer;

/// Products modulo a monic polynomial over the integers modulo `q < 2^56`, coefficients lowest first.
#[derive(Debug, Clone)]
pub(super) struct Quotient {
    pub reducer: Reducer,
    /// The coefficients below the leading one.
    pub polynomial: Vec<u64>,
    /// The remainders of `Y^d, Y^(d + 1), ..., Y^(2d - 2)`.
    folds: Vec<Vec<u64>>,
}

impl Quotient {
    /// Modulo `Y^d + polynomial`, `d` its length and at least 1.
    pub(super) fn new(reducer: Reducer, polynomial: Vec<u64>) -> Self {
        let q = reducer.modulus();
        let mut fold: Vec<u64> = polynomial.iter().map(|&x| q.neg(x)).collect();
        let mut folds = Vec::with_capacity(polynomial.len());
        for _ in 1..polynomial.len() {
            let top = fold[fold.len() - 1];
            let shifted: Vec<u64> = std::iter::once(0).chain(fold.iter().copied()).collect();
            let next = shifted.iter().zip(&polynomial);
            let next = next.map(|(&x, &c)| q.add(x, q.neg(reducer.product(top, c)))).collect();
            folds.push(std::mem::replace(&mut fold, next));
        }
        Self { reducer, polynomial, folds }
    }

    /// `d`.
    pub(super) fn degree(&self) -> usize {
        self.polynomial.len()
    }

    /// Cost: `2 d^2` products of words.
    pub(super) fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let d = self.degree();
        // Products are below 2^112, so that 2^16 of them fit.
        let mut wide = vec![0u128; 2 * d - 1];
        for (i, &x) in a.iter().enumerate().filter(|(_, x)| **x != 0) {
            for (sum, &y) in wide[i..].iter_mut().zip(b) {
                *sum += u128::from(x) * u128::from(y);
            }
        }
        let (low, high) = wide.split_at_mut(d);
        for (&top, fold) in high.iter().zip(&self.folds) {
            let top = self.reducer.reduce(top);
            for (sum, &y) in low.iter_mut().zip(fold).filter(|_| top != 0) {
                *sum += u128::from(top) * u128::from(y);
            }
        }
        low.iter().map(|&sum| self.reducer.reduce(sum)).collect()
    }

    /// The traces of `1, Y, ..., Y^(d - 1)`: sums of the diagonals of the matrices that multiply by them.
    pub(super) fn traces(&self) -> Vec<u64> {
        let (d, q) = (self.degree(), self.reducer.modulus());
        let trace = |i: usize| {
            // Lower powers of Y are not their own images.
            let images = (d.saturating_sub(i)..d).map(|k| self.folds[i + k - d][k]);
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
        let next = |x: &Vec<u64>| Some(self.multiply(x, a));
        std::iter::successors(Some(self.constant(1)), next).take(count).collect()
    }

    /// The sum of elements times numbers. Cost: `d` products of words for each.
    pub(super) fn combination(&self, elements: &[Vec<u64>], numbers: &[u64]) -> Vec<u64> {
        let mut sums = vec![0u128; self.degree()];
        for (element, &by) in elements.iter().zip(numbers).filter(|(_, by)| **by != 0) {
            for (sum, &x) in sums.iter_mut().zip(element) {
                *sum += u128::from(x) * u128::from(by);
            }
        }
        sums.iter().map(|&sum| self.reducer.reduce(sum)).collect()
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

/// The digits of a number to a base, the lowest first, and zeros: what searches number elements by.
pub(super) fn digits(mut number: u64, base: u64, count: usize) -> Vec<u64> {
    let digit = |_| {
        let digit = number % base;
        number /= base;
        digit
    };
    (0..count).map(digit).collect()
}
