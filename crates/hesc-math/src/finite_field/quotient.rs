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
