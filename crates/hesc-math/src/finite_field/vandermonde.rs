//! The inverse of the Vandermonde matrix of the conjugates of `Y`, four ways that differ in cost.

use super::galois_ring::GaloisRing;

/// A way to invert the Vandermonde matrix of the conjugates of `Y` ([`GaloisRing::inverse_vandermonde`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VandermondeInverse {
    /// Gaussian elimination, which takes any matrix: what HElib does.
    Elimination,
    /// What takes any Vandermonde matrix: for each `x` of the conjugates, the product of all `Z - x_k` divided by
    /// `Z - x` and by its value at `x` (Eisenberg and Fedele 2006).
    Division,
    /// The first column by the explicit formula and its images under the Frobenius map (`carpov2016packing`, equation
    /// (4) and appendix A): the paper's algorithm.
    FirstColumn,
    /// The first column as the [dual basis](GaloisRing::dual_basis), from the polynomial that `Y` is a root of, and its
    /// images under the Frobenius map.
    DualBasis,
}

impl VandermondeInverse {
    /// All of them, the costliest first.
    pub const ALL: [Self; 4] =
        [Self::Elimination, Self::Division, Self::FirstColumn, Self::DualBasis];

    /// `elimination`, `division`, `first_column` or `dual_basis`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Elimination => "elimination",
            Self::Division => "division",
            Self::FirstColumn => "first_column",
            Self::DualBasis => "dual_basis",
        }
    }

    /// Products of ring elements, as a function of the degree `d`, at least 1. Not counted: the steps of Newton's
    /// iteration in inverses (`d` of them in `Elimination`, else one), and Frobenius maps.
    pub const fn products(self, d: u64) -> u64 {
        match self {
            // The matrix; (d^3 - d) / 3 for its factors; (d^3 - d) / 6 + d (d - 1) / 2 and d^2 (d - 1) / 2 for columns.
            Self::Elimination => d * d + d * d * d - d,
            // The polynomial, the columns, and the inverses by way of one.
            Self::Division => d * (d - 1) / 2 + d * (3 * d - 2) + 3 * (d - 1),
            Self::FirstColumn => (d - 1) * d / 2 + d,
            Self::DualBasis => 3 * d - 2,
        }
    }
}

impl GaloisRing {
    /// The inverse of the matrix with entry `sigma^i(Y)^j` in row `i` and column `j`, one row after the other, `d` words
    /// for each entry. Row `i` tells the coefficient of `Y^i` from the conjugates: `x_i = sum_j a_ij sigma^j(x)`
    /// (`carpov2016packing`, equation (2)).
    ///
    /// Cost: [`VandermondeInverse::products`], `d` Frobenius maps for the conjugates of `Y` or, where columns are images
    /// of the first, about `d^2`; and `d^3` words of memory for the inverse, once more for all but the latter.
    pub fn inverse_vandermonde(&self, way: VandermondeInverse) -> Vec<u64> {
        match way {
            // Differences of conjugates are units, and so is the determinant.
            VandermondeInverse::Elimination => {
                self.eliminated(self.vandermonde()).unwrap_or_default()
            }
            VandermondeInverse::Division => self.by_division(),
            VandermondeInverse::FirstColumn => self.images_of(self.explicit_column()),
            VandermondeInverse::DualBasis => self.images_of(self.dual_basis()),
        }
    }

    /// The matrix itself.
    fn vandermonde(&self) -> Vec<Vec<Vec<u64>>> {
        let powers = |x: &Vec<u64>| {
            let next = |power: &Vec<u64>| Some(self.multiply(x, power));
            std::iter::successors(Some(self.constant(1)), next).take(self.degree()).collect()
        };
        self.conjugates(&self.root()).iter().map(powers).collect()
    }

    /// The inverse of a matrix, entry after entry; none where a column has no unit to divide by, which regular matrices
    /// have.
    ///
    /// `P A = L U` in Crout's order and a solution for each column: the `d^3` products of the textbook's steps, but as
    /// sums with one remainder each.
    fn eliminated(&self, mut a: Vec<Vec<Vec<u64>>>) -> Option<Vec<u64>> {
        let d = a.len();
        let mut order: Vec<usize> = (0..d).collect();
        let mut inverses = Vec::with_capacity(d);
        // Below and on the diagonal L, above it U, whose diagonal is 1.
        for k in 0..d {
            for i in k..d {
                let sum = self.inner_product((0..k).map(|s| (&a[i][s][..], &a[s][k][..])));
                a[i][k] = self.sub(&a[i][k], &sum);
            }
            let (pivot, inverse) =
                (k..d).find_map(|i| self.inverse(&a[i][k]).map(|inverse| (i, inverse)))?;
            a.swap(k, pivot);
            order.swap(k, pivot);
            for j in k + 1..d {
                let sum = self.inner_product((0..k).map(|s| (&a[k][s][..], &a[s][j][..])));
                a[k][j] = self.multiply(&inverse, &self.sub(&a[k][j], &sum));
            }
            inverses.push(inverse);
        }
        let mut out = vec![0; d * d * self.degree()];
        for (first, &column) in order.iter().enumerate() {
            // Zeros before the first: the right side is one there and zero elsewhere.
            let mut x = vec![self.constant(0); d];
            x[first].clone_from(&inverses[first]);
            for i in first + 1..d {
                let terms = a[i][first..i].iter().zip(&x[first..i]);
                let sum = self.inner_product(terms.map(|(l, x)| (&l[..], &x[..])));
                x[i] = self.sub(&x[i], &self.multiply(&inverses[i], &sum));
            }
            for i in (0..d).rev() {
                let terms = a[i][i + 1..].iter().zip(&x[i + 1..]);
                let sum = self.inner_product(terms.map(|(u, x)| (&u[..], &x[..])));
                x[i] = self.sub(&x[i], &sum);
            }
            self.put_column(&mut out, column, &x);
        }
        Some(out)
    }

    /// [`VandermondeInverse::Division`].
    fn by_division(&self) -> Vec<u64> {
        let roots = self.conjugates(&self.root());
        let polynomial = self.with_roots(&roots);
        let divided = |root: &Vec<u64>| self.divided_by_root(&polynomial, root);
        let (columns, values): (Vec<_>, Vec<_>) = roots.iter().map(divided).unzip();
        let mut out = vec![0; self.degree().pow(3)];
        for (j, (column, inverse)) in columns.iter().zip(self.inverses(&values)).enumerate() {
            let column: Vec<_> = column.iter().map(|b| self.multiply(b, &inverse)).collect();
            self.put_column(&mut out, j, &column);
        }
        out
    }

    /// The inverses of units, by one inverse and three products for each of the others (Montgomery).
    fn inverses(&self, units: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let mut products = units[..1].to_vec();
        for unit in &units[1..] {
            products.push(self.multiply(&products[products.len() - 1], unit));
        }
        let mut inverse = self.inverse(&products[products.len() - 1]).unwrap_or_default();
        for i in (1..units.len()).rev() {
            products[i] = self.multiply(&inverse, &products[i - 1]);
            inverse = self.multiply(&inverse, &units[i]);
        }
        products[0] = inverse;
        products
    }

    /// The first column by the explicit formula: the product of `Z - x_k` for all conjugates but `Y`, by its value at
    /// `Y`.
    fn explicit_column(&self) -> Vec<Vec<u64>> {
        let roots = self.conjugates(&self.root());
        let mut column = self.with_roots(&roots[1..]);
        column.push(self.constant(1));
        let differences = roots[1..].iter().map(|x| self.sub(&roots[0], x));
        let value = differences.fold(self.constant(1), |value, x| self.multiply(&value, &x));
        let inverse = self.inverse(&value).unwrap_or_default();
        column.iter().map(|a| self.multiply(a, &inverse)).collect()
    }

    /// The product of `Z - x` for all of these, lowest coefficient first, without the leading one, which is 1.
    fn with_roots(&self, roots: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let mut product: Vec<Vec<u64>> = Vec::with_capacity(roots.len());
        for x in roots {
            let mut below = self.constant(0);
            for coefficient in &mut product {
                let new = self.sub(&below, &self.multiply(x, coefficient));
                below = std::mem::replace(coefficient, new);
            }
            product.push(self.sub(&below, x));
        }
        product
    }

    /// The matrix with this first column whose others are its images under the Frobenius map.
    fn images_of(&self, column: Vec<Vec<u64>>) -> Vec<u64> {
        let mut out = Vec::with_capacity(self.degree().pow(3));
        for mut entry in column {
            for _ in 1..self.degree() {
                let image = self.frobenius(&entry);
                out.append(&mut std::mem::replace(&mut entry, image));
            }
            out.append(&mut entry);
        }
        out
    }

    fn put_column(&self, matrix: &mut [u64], place: usize, column: &[Vec<u64>]) {
        let rows = matrix.chunks_mut(column.len() * self.degree());
        for (row, entry) in rows.zip(column) {
            row[place * self.degree()..][..self.degree()].copy_from_slice(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::galois_ring::PRODUCTS;
    use super::*;

    const RINGS: [(u64, u64, u32); 15] = [
        (1, 2, 1),
        (1, 3, 4),
        (3, 2, 1),
        (5, 2, 3),
        (7, 2, 10),
        (17, 2, 1),
        (51, 2, 3),
        (7, 3, 1),
        (11, 3, 3),
        (13, 3, 10),
        (5, 1033, 1),
        (7, 1033, 3),
        (29, 1033, 1),
        // Beyond sums of 64 bits.
        (5, 1033, 5),
        (7, (1 << 31) - 1, 1),
    ];

    fn ring(of: (u64, u64, u32)) -> GaloisRing {
        GaloisRing::new(of.0, of.1, of.2).unwrap()
    }

    /// Whether a matrix times another, given entry after entry, is the identity.
    fn is_inverse(ring: &GaloisRing, matrix: &[Vec<Vec<u64>>], inverse: &[u64]) -> bool {
        let d = ring.degree();
        matrix.iter().enumerate().all(|(i, row)| {
            (0..matrix.len()).all(|j| {
                let column = inverse.chunks(d).skip(j).step_by(matrix.len());
                let terms = row.iter().zip(column).map(|(a, b)| ring.multiply(a, b));
                let sum = terms.fold(ring.constant(0), |sum, x| ring.add(&sum, &x));
                sum == ring.constant(u64::from(i == j))
            })
        })
    }

    #[test]
    fn all_ways_agree_at_their_costs() {
        for of in RINGS {
            let ring = ring(of);
            let expected = ring.inverse_vandermonde(VandermondeInverse::DualBasis);
            assert!(is_inverse(&ring, &ring.vandermonde(), &expected), "{of:?}");
            for way in VandermondeInverse::ALL {
                PRODUCTS.set(0);
                assert!(ring.inverse_vandermonde(way) == expected, "{of:?}: {way:?}");
                let expected = way.products(ring.degree() as u64);
                assert_eq!(PRODUCTS.get(), expected, "{of:?}: {way:?}");
            }
        }
    }

    #[test]
    fn rows_tell_coefficients_from_conjugates() {
        let ring = ring((13, 3, 10));
        let x: Vec<u64> = (0..ring.degree() as u64).map(|i| i * i + 1).collect();
        let conjugates = ring.conjugates(&x);
        let inverse = ring.inverse_vandermonde(VandermondeInverse::DualBasis);
        for (row, &coefficient) in inverse.chunks(ring.degree().pow(2)).zip(&x) {
            let terms = row.chunks(ring.degree()).zip(&conjugates);
            let sum = ring.inner_product(terms.map(|(a, b)| (a, &b[..])));
            assert_eq!(sum, ring.constant(coefficient));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        /// Vandermonde matrices have units where elimination looks first; others have not.
        #[test]
        fn elimination_inverts_what_is_regular(
            of in prop::sample::select(RINGS.to_vec()),
            size in 1..6usize,
            seed: u64,
        ) {
            let ring = ring(of);
            let next = |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
            let mut words = std::iter::successors(Some(seed), next);
            let mut entry = || -> Vec<u64> {
                let words = words.by_ref().skip(1).take(ring.degree());
                words.map(|x| (x >> 7) % ring.modulus().value()).collect()
            };
            let mut matrix: Vec<Vec<Vec<u64>>> =
                (0..size).map(|_| (0..size).map(|_| entry()).collect()).collect();
            // No unit, though not zero in a ring.
            matrix[0][0] = ring.scaled(&matrix[0][0], ring.prime() % ring.modulus().value());
            if let Some(inverse) = ring.eliminated(matrix.clone()) {
                prop_assert!(is_inverse(&ring, &matrix, &inverse));
            }
            // Two rows alike.
            let last = matrix[size - 1].clone();
            matrix.push(last);
            matrix.iter_mut().for_each(|row| row.push(ring.constant(1)));
            prop_assert_eq!(ring.eliminated(matrix), None);
        }
    }
}
