//! Coefficients to slots and back, as products with sparse matrices: the steps of a Fourier transform, some of them taken
//! together (Chen, Chillotti and Song 2019). Slots are ordered by powers of 5 here, all of whose exponents
//! are 1 modulo 4: there a polynomial's values are a linear function of the complex numbers `m_k + i m_(k + N/2)`.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use hesc_schemes::rlwe::{Ciphertext, GaloisKeys, Plaintext, Rlwe};
use hesc_schemes::{Complex64, SchemeError};

/// Where slots in the order of powers of 5 are in that of powers of 3, which the scheme has.
pub struct Order {
    /// The scheme's slot, and whether it has the conjugate.
    places: Vec<(usize, bool)>,
}

impl Order {
    pub fn new(ring_degree: usize) -> Self {
        let (slots, order) = (ring_degree / 2, 2 * ring_degree);
        let mut found = vec![(0, false); order];
        let mut power = 1;
        for slot in 0..slots {
            found[power] = (slot, false);
            found[order - power] = (slot, true);
            power = 3 * power % order;
        }
        let places = (0..slots).map(|slot| found[exponent(ring_degree, slot)]).collect();
        Self { places }
    }

    /// Numbers in this order as the scheme encodes them.
    pub fn in_scheme(&self, values: &[Complex64]) -> Vec<Complex64> {
        let mut out = vec![Complex64::default(); values.len()];
        for (value, &(slot, conjugate)) in values.iter().zip(&self.places) {
            out[slot] = if conjugate { value.conj() } else { *value };
        }
        out
    }

    /// Numbers that the scheme decoded in this order.
    pub fn of_scheme(&self, values: &[Complex64]) -> Vec<Complex64> {
        let value = |&(slot, conjugate): &(usize, bool)| {
            if conjugate { values[slot].conj() } else { values[slot] }
        };
        self.places.iter().map(value).collect()
    }
}

/// `5^times` modulo `2 N`: the automorphism that rotates slots to the left.
pub fn exponent(ring_degree: usize, times: usize) -> usize {
    let (order, mut power, mut square, mut left) = (2 * ring_degree, 1, 5, times);
    while left > 0 {
        if left % 2 == 1 {
            power = power * square % order;
        }
        square = square * square % order;
        left /= 2;
    }
    power
}

/// A sparse matrix by its diagonals: `y[s]` is the sum over `d` of `diagonal_d[s] x[s + d]`.
type Diagonals = BTreeMap<usize, Vec<Complex64>>;

/// A step of the transform on blocks of `length` of the slots: from coefficients (in bit-reversed order) to values, or back.
fn step(slots: usize, length: usize, back: bool) -> Diagonals {
    let (half, order) = (length / 2, 4 * length);
    let twiddle = |j: usize| {
        let power = exponent(order / 2, j);
        Complex64::from_polar(1.0, 2.0 * PI * power as f64 / order as f64)
    };
    let twiddles: Vec<Complex64> = (0..half).map(twiddle).collect();
    let one = Complex64::new(1.0, 0.0);
    let half_of = |value: Complex64| value * 0.5;
    let mut matrix = Diagonals::new();
    let mut add = |diagonal: usize, slot: usize, value: Complex64| {
        let empty = || vec![Complex64::default(); slots];
        matrix.entry(diagonal % slots).or_insert_with(empty)[slot] += value;
    };
    for slot in 0..slots {
        let (first, w) = (slot % length < half, twiddles[slot % half]);
        // Forwards (u + w v, u - w v), back ((x + y) / 2, (x - y) / 2 w).
        match (first, back) {
            (true, false) => (add(0, slot, one), add(half, slot, w)),
            (false, false) => (add(0, slot, -w), add(slots - half, slot, one)),
            (true, true) => (add(0, slot, half_of(one)), add(half, slot, half_of(one))),
            (false, true) => {
                (add(0, slot, -half_of(w.conj())), add(slots - half, slot, half_of(w.conj())))
            }
        };
    }
    matrix
}

/// The matrix of one step after another.
fn after(second: &Diagonals, first: &Diagonals, slots: usize) -> Diagonals {
    let mut product = Diagonals::new();
    for (i, a) in second {
        for (j, b) in first {
            let sum =
                product.entry((i + j) % slots).or_insert_with(|| vec![Complex64::default(); slots]);
            for (s, out) in sum.iter_mut().enumerate() {
                *out += a[s] * b[(s + i) % slots];
            }
        }
    }
    product
}

/// The transform in so many products: steps of neighbouring lengths taken together, in the order in which they apply.
fn products(slots: usize, count: usize, back: bool) -> Vec<Diagonals> {
    let steps = slots.ilog2() as usize;
    let mut lengths: Vec<usize> = (1..=steps).map(|step| 1 << step).collect();
    if back {
        lengths.reverse();
    }
    let cut = |group: usize| group * steps / count;
    let group = |group: usize| {
        let own = lengths[cut(group)..cut(group + 1)].iter();
        own.map(|&length| step(slots, length, back))
            .reduce(|before, next| after(&next, &before, slots))
    };
    (0..count).filter_map(group).collect()
}

/// The rotations of one product by baby and giant steps (Halevi and Shoup 2018).
struct Steps {
    /// What all rotations are multiples of.
    stride: usize,
    baby: usize,
    slots: usize,
}

impl Steps {
    fn new(matrix: &Diagonals, slots: usize) -> Self {
        let stride = matrix.keys().filter(|&&d| d > 0).map(|d| 1 << d.trailing_zeros()).min();
        let baby = (matrix.len() as f64).sqrt().log2().round().exp2() as usize;
        Self { stride: stride.unwrap_or(1), baby, slots }
    }

    /// Giant and baby step of a diagonal. What is beyond half of the slots is a rotation to the right.
    fn of(&self, diagonal: usize) -> (usize, usize) {
        let (count, k) = (self.slots / self.stride, diagonal / self.stride);
        let right = count > 8 * self.baby && k > count / 2;
        let k = if right { k as i64 - count as i64 } else { k as i64 };
        let baby = k.rem_euclid(self.baby as i64);
        let giant = (k - baby).rem_euclid(count as i64) as usize;
        (giant * self.stride, baby as usize * self.stride)
    }
}

/// A product with a sparse matrix, encoded for a level.
struct Product {
    level: usize,
    baby_steps: Vec<usize>,
    /// By giant step: which baby steps, with their diagonals rotated to the right.
    giants: BTreeMap<usize, Vec<(usize, Plaintext)>>,
    /// Times which the largest number may grow.
    growth: f64,
}

/// A transform of slots, of some products.
pub struct Transform {
    products: Vec<Product>,
    ring_degree: usize,
}

/// Which way a transform goes, and at which levels and scales.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// From slots to coefficients otherwise.
    pub to_slots: bool,
    pub count: usize,
    /// Of the first product; each takes one.
    pub level: usize,
    /// On the whole.
    pub factor: f64,
    /// On the scale, by each product.
    pub scale_factor: f64,
}

/// Exponents of the automorphisms that a transform in so many products takes.
pub fn exponents(ring_degree: usize, count: usize, to_slots: bool) -> Vec<usize> {
    let slots = ring_degree / 2;
    let mut found = Vec::new();
    for matrix in products(slots, count, to_slots) {
        let steps = Steps::new(&matrix, slots);
        found.extend(matrix.keys().map(|&d| steps.of(d)).flat_map(|(g, b)| [g, b]));
    }
    found.retain(|&step| step > 0);
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|step| exponent(ring_degree, step)).collect()
}

impl Transform {
    pub fn new(scheme: &Rlwe, order: &Order, wanted: Wanted) -> Result<Self, SchemeError> {
        let ring_degree = scheme.ring_degree();
        let slots = ring_degree / 2;
        let mut encoded = Vec::new();
        for (i, matrix) in products(slots, wanted.count, wanted.to_slots).iter().enumerate() {
            let (level, steps) = (wanted.level - i, Steps::new(matrix, slots));
            // On each alike: the smaller the entries, the less exact.
            let factor = wanted.factor.powf(1.0 / wanted.count as f64);
            let scale = scheme.operand_scale(level) * wanted.scale_factor;
            let mut giants: BTreeMap<usize, Vec<(usize, Plaintext)>> = BTreeMap::new();
            for (&diagonal, values) in matrix {
                let (giant, baby) = steps.of(diagonal);
                let value = |s: usize| values[(s + slots - giant) % slots] * factor;
                let turned: Vec<Complex64> = (0..slots).map(value).collect();
                let plain = scheme.encode_complex(&order.in_scheme(&turned), scale, level)?;
                giants.entry(giant).or_default().push((baby, plain));
            }
            let mut baby_steps: Vec<usize> = giants.values().flatten().map(|(b, _)| *b).collect();
            baby_steps.sort_unstable();
            baby_steps.dedup();
            let row = |s: usize| matrix.values().map(|d| d[s].norm()).sum::<f64>();
            let growth = factor * (0..slots).map(row).fold(0.0, f64::max);
            encoded.push(Product { level, baby_steps, giants, growth });
        }
        Ok(Self { products: encoded, ring_degree })
    }

    /// Words that its numbers take.
    pub fn words(&self) -> usize {
        let plain = self.products.iter().flat_map(|p| p.giants.values().flatten());
        plain.map(|(_, plain)| plain.words()).sum()
    }

    /// Rotations: hoisted ones, and those by themselves.
    pub fn rotations(&self) -> (usize, usize) {
        let others = |steps: &mut dyn Iterator<Item = usize>| steps.filter(|&s| s > 0).count();
        let baby = self.products.iter().map(|p| others(&mut p.baby_steps.iter().copied())).sum();
        let giant = self.products.iter().map(|p| others(&mut p.giants.keys().copied())).sum();
        (baby, giant)
    }

    /// The transform of what is within `bound`.
    pub fn apply(
        &self,
        scheme: &Rlwe,
        keys: &GaloisKeys,
        x: &Ciphertext,
        mut bound: f64,
    ) -> Result<Ciphertext, SchemeError> {
        let mut x = x.clone();
        for product in &self.products {
            let low = scheme.mod_switch_to(&x, product.level)?;
            bound *= product.growth;
            let y = self.product(scheme, keys, &low, product)?;
            let error = scheme.error_bound(&y);
            x = scheme.claiming(y, bound, error)?;
        }
        Ok(x)
    }

    fn product(
        &self,
        scheme: &Rlwe,
        keys: &GaloisKeys,
        x: &Ciphertext,
        product: &Product,
    ) -> Result<Ciphertext, SchemeError> {
        let element = |step: usize| exponent(self.ring_degree, step);
        let elements: Vec<usize> = product.baby_steps.iter().map(|&b| element(b)).collect();
        let babies = scheme.apply_galois_many(x, &elements, keys)?;
        let mut total: Option<Ciphertext> = None;
        for (&giant, diagonals) in &product.giants {
            let at = |baby: usize| product.baby_steps.partition_point(|&step| step < baby);
            let terms: Vec<_> =
                diagonals.iter().map(|(baby, diagonal)| (&babies[at(*baby)], diagonal)).collect();
            let inner = scheme.weighted_sum(&terms)?;
            let turned = scheme.apply_galois(&inner, element(giant), keys)?;
            total = Some(match total {
                None => turned,
                Some(total) => scheme.add(&total, &turned)?,
            });
        }
        scheme.rescale(&total.unwrap_or_else(|| x.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(matrix: &Diagonals, x: &[Complex64]) -> Vec<Complex64> {
        let n = x.len();
        (0..n).map(|s| matrix.iter().map(|(d, v)| v[s] * x[(s + d) % n]).sum()).collect()
    }

    /// The products together are the values of a polynomial at the roots of the order, and back, whatever they are cut into.
    #[test]
    fn transforms_are_values_at_the_roots() {
        let slots = 32_usize;
        let x: Vec<Complex64> =
            (0..slots).map(|k| Complex64::new((k * k) as f64, 3.0 - k as f64)).collect();
        let reversed = |k: usize| k.reverse_bits() >> (usize::BITS - slots.ilog2());
        for count in 1..=3 {
            let y = products(slots, count, false).iter().fold(x.clone(), |x, m| apply(m, &x));
            for (j, y) in y.iter().enumerate() {
                let angle = PI * exponent(2 * slots, j) as f64 / (2 * slots) as f64;
                let term = |k: usize| x[reversed(k)] * Complex64::from_polar(1.0, angle * k as f64);
                let value: Complex64 = (0..slots).map(term).sum();
                assert!((value - y).norm() < 1e-9, "{count}: {j}");
            }
            let back = products(slots, count, true).iter().fold(y, |y, m| apply(m, &y));
            assert!(back.iter().zip(&x).all(|(a, b)| (a - b).norm() < 1e-9), "{count}");
        }
    }
}
