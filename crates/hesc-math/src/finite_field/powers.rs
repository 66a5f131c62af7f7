//! Values of slots by powers of `X`, as `carpov2016packing` packs them: another basis in each slot.

use super::GaloisRing;
use super::matrix;

/// For each slot the coordinates of the powers of `X` in the normal basis, a row each, and the inverse.
#[derive(Debug, Clone)]
pub(super) struct Powers {
    rows: Vec<Vec<u64>>,
    inverses: Vec<Vec<u64>>,
}

impl Powers {
    /// From the unit of each slot, the inverse of `p`, and `trace(x' Y^e)` for each `e`.
    pub(super) fn new(ring: &GaloisRing, units: &[usize], by_p: usize, traces: &[u64]) -> Self {
        let (d, m, q) = (ring.degree(), ring.index() as usize, ring.modulus());
        let images: Vec<usize> =
            std::iter::successors(Some(1 % m), |x| Some(x * by_p % m)).take(d).collect();
        // X is Y^u in the slot of u, and the l-th coordinate of Y^e the trace of x' sigma^-l(Y^e).
        let of_slot = |unit: &usize| -> Vec<u64> {
            let power = |j: usize| unit * j % m;
            let row = |j: usize| images.iter().map(move |image| power(j) * image % m);
            (0..d).flat_map(row).map(|e| traces[e]).collect()
        };
        let rows: Vec<Vec<u64>> = units.iter().map(of_slot).collect();
        // Powers of a root of unity that generates the ring are a basis.
        let inverse = |row: &Vec<u64>| matrix::inverse(row, d, q).unwrap_or_default();
        let inverses = rows.iter().map(inverse).collect();
        Self { rows, inverses }
    }

    /// Coordinates in the normal basis from coefficients.
    pub(super) fn coordinates(&self, ring: &GaloisRing, coefficients: &[u64]) -> Vec<u64> {
        changed(ring, coefficients, &self.rows)
    }

    /// Coefficients from coordinates in the normal basis.
    pub(super) fn coefficients(&self, ring: &GaloisRing, coordinates: &[u64]) -> Vec<u64> {
        changed(ring, coordinates, &self.inverses)
    }

    /// Coordinates of what is dual to `X^i` in each slot, from those of the element dual to the normal basis.
    pub(super) fn dual(&self, ring: &GaloisRing, i: usize, dual: &[u64]) -> Vec<u64> {
        let (d, q) = (ring.degree(), ring.modulus());
        assert!(i < d, "powers of X below the degree are a basis");
        // Their coordinates in the basis dual to the normal one are columns of the inverses.
        let of_slot = |inverse: &Vec<u64>| {
            let mut coordinates = vec![0; d];
            for (l, row) in inverse.chunks_exact(d).enumerate() {
                for (k, &x) in dual.iter().enumerate() {
                    let place = (k + l) % d;
                    coordinates[place] = q.add(coordinates[place], q.mul(row[i], x));
                }
            }
            coordinates
        };
        self.inverses.iter().flat_map(of_slot).collect()
    }
}

fn changed(ring: &GaloisRing, values: &[u64], by: &[Vec<u64>]) -> Vec<u64> {
    let (d, q) = (ring.degree(), ring.modulus());
    let slots = values.chunks_exact(d).zip(by);
    slots.flat_map(|(value, matrix)| matrix::row_times(value, matrix, q)).collect()
}
