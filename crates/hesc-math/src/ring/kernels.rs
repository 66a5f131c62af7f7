//! The loops over the rows of polynomials, the residues modulo one prime each.

use super::Ring;
use crate::{Word, rounding};

/// Calls `body` for each row of each polynomial in `a` with the row's index and modulus.
fn for_each_row<W: Word>(a: &mut [W], ring: &Ring<W>, mut body: impl FnMut(usize, W, &mut [W])) {
    assert!(a.len().is_multiple_of(ring.poly_len()), "a buffer holds whole polynomials");
    for poly in a.chunks_exact_mut(ring.poly_len()) {
        for (row, words) in poly.chunks_exact_mut(ring.ring_degree()).enumerate() {
            body(row, W::from_u64(ring.moduli()[row].value()), words);
        }
    }
}

/// As [`for_each_row`], with the row of `b` beside it.
fn zip_rows<W: Word>(
    a: &mut [W],
    b: &[W],
    ring: &Ring<W>,
    mut body: impl FnMut(usize, W, &mut [W], &[W]),
) {
    assert_eq!(a.len(), b.len(), "buffers of the same polynomials have the same length");
    let mut rest = b.chunks_exact(ring.ring_degree());
    for_each_row(a, ring, |row, q, words| {
        if let Some(other) = rest.next() {
            body(row, q, words, other);
        }
    });
}

/// `a += b`.
pub fn add_assign<W: Word>(a: &mut [W], b: &[W], ring: &Ring<W>) {
    zip_rows(a, b, ring, |_, q, a, b| W::add_row(a, b, q));
}

/// Appends `b + c`: reads two buffers, writes one.
pub fn append_sum<W: Word>(out: &mut Vec<W>, b: &[W], c: &[W], ring: &Ring<W>) {
    assert_eq!(b.len(), c.len(), "buffers of the same polynomials have the same length");
    assert!(b.len().is_multiple_of(ring.poly_len()), "a buffer holds whole polynomials");
    let n = ring.ring_degree();
    let moduli = ring.moduli().iter().cycle();
    for ((b, c), q) in b.chunks_exact(n).zip(c.chunks_exact(n)).zip(moduli) {
        W::append_sum_row(out, b, c, W::from_u64(q.value()));
    }
}

/// `a = -a`.
pub fn neg_assign<W: Word>(a: &mut [W], ring: &Ring<W>) {
    for_each_row(a, ring, |_, q, a| W::neg_row(a, q));
}

/// `a = a * scalar + b`, `scalar` below every modulus: the step of Horner's rule in fusion.
pub fn mul_scalar_add<W: Word>(a: &mut [W], scalar: u64, b: &[W], ring: &Ring<W>) {
    zip_rows(a, b, ring, |_, q, a, b| {
        assert!(scalar < q.to_u64(), "a scalar is reduced");
        W::mul_scalar_add_row(a, W::from_u64(scalar), b, q);
    });
}

/// `a += small` for one polynomial of small signed coefficients, the same in every row.
pub fn add_small<W: Word>(a: &mut [W], small: &[i16], ring: &Ring<W>) {
    assert_eq!(a.len(), ring.poly_len(), "a small polynomial is added to one polynomial");
    for_each_row(a, ring, |_, q, a| W::add_signed_row(a, small, q));
}

/// `a += values[row]` at the coefficients whose bit is set, for one polynomial; bit `i` is bit
/// `i % 64` of `bits[i / 64]`.
pub fn add_where<W: Word>(a: &mut [W], bits: &[u64], values: &[u64], ring: &Ring<W>) {
    assert_eq!(a.len(), ring.poly_len(), "bits are added to one polynomial");
    assert_eq!(bits.len() * 64, ring.ring_degree(), "there is a bit for each coefficient");
    for_each_row(a, ring, |row, q, a| {
        W::add_where_row(a, bits, W::from_u64(values[row]), q);
    });
}

/// `a += values * factors[row]` for one polynomial; values and factors below every modulus.
pub fn add_products<W: Word>(a: &mut [W], values: &[u32], factors: &[u64], ring: &Ring<W>) {
    assert_eq!(a.len(), ring.poly_len(), "values are added to one polynomial");
    for_each_row(a, ring, |row, q, a| {
        W::add_product_row(a, values, W::from_u64(factors[row]), q);
    });
}

/// `out = a / Q` modulo 1 for one polynomial modulo `Q`, the product of the ring's moduli: in
/// `[0, 1)` for one modulus, in `[-1/2, 1/2]` for several.
///
/// By the Chinese remainder theorem `a / Q = sum_i [a_i (Q / q_i)^-1]_{q_i} / q_i mod 1`; each of
/// the `k` terms is rounded once, so that the error is below `k 2^-52`. `a` is overwritten.
pub fn fraction_of_modulus<W: Word>(out: &mut [f64], a: &mut [W], ring: &Ring<W>) {
    assert_eq!(a.len(), ring.poly_len(), "the fraction is one polynomial's");
    out.fill(0.0);
    let zeros = ring.zeros();
    for_each_row(a, ring, |row, q, a| {
        if ring.rows() > 1 {
            let lift = W::from_u64(ring.crt_inverse(row));
            W::mul_scalar_add_row(a, lift, zeros, q);
        }
        W::add_scaled_f64_row(out, a, 1.0 / q.to_u64() as f64);
    });
    if ring.rows() > 1 {
        rounding::centre(out);
    }
}

/// `round(a / p)` modulo the first modulus for one polynomial of two rows, `p` the second modulus:
/// the modulus is switched from `q p` to `q`, and what a ciphertext says with it. `p` is below `2q`.
pub fn divide_by_second<W: Word>(out: &mut [W], a: &[W], ring: &Ring<W>) {
    let [q, p] = ring.moduli() else { panic!("a ring of two moduli has a second one") };
    assert!(p.value() < 2 * q.value(), "centred residues are below the first modulus");
    assert_eq!(a.len(), ring.poly_len(), "one polynomial is divided");
    let (first, second) = a.split_at(ring.ring_degree());
    let word = |value| W::from_u64(value);
    // (Q / q)^-1 is the inverse of the second modulus.
    let inverse = word(ring.crt_inverse(0));
    W::divide_by_last_row(out, first, second, inverse, word(q.value()), word(p.value()));
}

/// Coefficients to evaluations.
pub fn forward<W: Word>(a: &mut [W], ring: &Ring<W>) {
    for_each_row(a, ring, |row, _, words| ring.transform(row).forward(words));
}

/// Evaluations to coefficients.
pub fn inverse<W: Word>(a: &mut [W], ring: &Ring<W>) {
    for_each_row(a, ring, |row, _, words| ring.transform(row).inverse(words));
}

/// Evaluations to coefficients times `N` (powers of two) or 1.
pub fn inverse_unscaled<W: Word>(a: &mut [W], ring: &Ring<W>) {
    for_each_row(a, ring, |row, _, words| ring.transform(row).inverse_unscaled(words));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RingIndex;

    #[test]
    fn division_by_the_second_modulus_rounds() {
        let index = RingIndex::power_of_two(256).unwrap();
        let moduli = index.ntt_primes(27, 2).unwrap();
        for moduli in [moduli.clone(), moduli.into_iter().rev().collect()] {
            let ring = Ring::<u32>::new(index, &moduli).unwrap();
            let (q, p) = (moduli[0], moduli[1]);
            let whole: Vec<u64> =
                (0..256u64).map(|i| (q * p / 251 * i + i * i) % (q * p)).collect();
            let a: Vec<u32> =
                moduli.iter().flat_map(|m| whole.iter().map(move |x| (x % m) as u32)).collect();
            let mut divided = vec![0u32; 256];
            divide_by_second(&mut divided, &a, &ring);
            for (d, x) in divided.iter().zip(whole) {
                assert_eq!(u64::from(*d), (x + p / 2) / p % q);
            }
        }
    }

    #[test]
    fn the_fraction_is_that_of_the_whole_number() {
        let index = RingIndex::power_of_two(256).unwrap();
        let moduli = index.ntt_primes(27, 2).unwrap();
        let ring = Ring::<u32>::new(index, &moduli).unwrap();
        let q = moduli[0] * moduli[1];
        let whole: Vec<u64> = (0..256u64).map(|i| (q / 251 * i).wrapping_add(i * i) % q).collect();
        let mut a: Vec<u32> =
            moduli.iter().flat_map(|m| whole.iter().map(move |x| (x % m) as u32)).collect();
        let mut fraction = vec![0.0; 256];
        fraction_of_modulus(&mut fraction, &mut a, &ring);
        for (f, x) in fraction.iter().zip(whole) {
            let distance = f - x as f64 / q as f64;
            assert!((distance - distance.round()).abs() < 1e-15, "{f} {x}");
        }
    }
}
