//! What a polynomial of an odd ring is convolved with along each axis, between coefficients and evaluations.

use super::RingIndex;
use crate::Modulus;
use crate::residues::Reducer;

/// The kernels of one axis of length `n = p - 1`: with `w` of order `p` and `g` the axis' generator,
/// `E[t] = sum_s a[s] w^(g^(t - s))` and `a[s] = sum_t E[t] (w^(-g^(t - s)) - 1) / p`, the second factor
/// being the dual basis.
pub(super) struct AxisKernels {
    /// By `t - s`.
    pub forward: Vec<u64>,
    /// By `s - t`.
    pub inverse: Vec<u64>,
    /// Words from one place of the axis to the next.
    pub step: usize,
}

/// The kernels of all axes modulo a prime that is 1 modulo [`RingIndex::modulus_step`].
pub(super) fn kernels(index: RingIndex, q: Modulus) -> Vec<AxisKernels> {
    let of_axis = |axis: super::index::Axis| {
        let (length, prime) = (axis.powers.len(), axis.prime as u64);
        let root = root_of_prime_order(q, prime);
        let by_prime = q.inverse(prime);
        let dual = |place: usize| {
            let exponent = prime - axis.powers[(length - place) % length] as u64;
            q.mul(q.add(q.pow(root, exponent), q.value() - 1), by_prime)
        };
        AxisKernels {
            forward: axis.powers.iter().map(|&power| q.pow(root, power as u64)).collect(),
            inverse: (0..length).map(dual).collect(),
            step: axis.step,
        }
    };
    index.axes().into_iter().map(of_axis).collect()
}

/// The frequencies of a kernel whose length is a power of two, `sum_u kernel[u] root^(k u)`, divided by the length:
/// what is left to do after a transform to frequencies and before the one back.
pub(super) fn spectrum(kernel: &[u64], root: u64, q: &Reducer) -> Vec<u64> {
    let modulus = q.modulus();
    let scale = modulus.inverse(kernel.len() as u64);
    let powers: Vec<u64> = std::iter::successors(Some(1), |x| Some(modulus.mul(*x, root)))
        .take(kernel.len())
        .collect();
    let frequency = |k: usize| {
        let terms = kernel.iter().enumerate();
        let sum = terms
            .fold(0, |sum, (u, &x)| modulus.add(sum, q.product(x, powers[k * u % kernel.len()])));
        modulus.mul(sum, scale)
    };
    (0..kernel.len()).map(frequency).collect()
}

/// A root of unity of prime order `p` modulo a prime that is 1 modulo it.
fn root_of_prime_order(q: Modulus, p: u64) -> u64 {
    (2..).map(|x| q.pow(x, (q.value() - 1) / p)).find(|&root| root != 1).unwrap_or(1)
}

/// A root of unity of an order that is a power of two, at least 2, modulo a prime that is 1 modulo it.
pub(super) fn root_of_order(q: Modulus, order: usize) -> u64 {
    let order = order as u64;
    let of = |x| q.pow(x, (q.value() - 1) / order);
    (2..).map(of).find(|&root| q.pow(root, order / 2) == q.value() - 1).unwrap_or(1)
}

/// The number whose `bits` bits are those of `place` in reverse.
pub(super) fn reversed(place: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { place.reverse_bits() >> (usize::BITS - bits) }
}
