//! The loops over residues, compiled for AVX-512, AVX2 and the portable baseline; the best that
//! the machine has is chosen at run time. With the feature `portable` only the last one exists.
//!
//! Every function works on whole buffers of polynomials: a slice of words that is a multiple of
//! [`Ring::poly_len`], limb after limb, polynomial after polynomial, each limb reduced. That is
//! the invariant on input and on output. None allocates, none branches on the data.

use crate::{Ring, Word};

/// Calls `body` for each limb of each polynomial in `a` with the limb's index and modulus.
fn for_each_limb<W: Word>(a: &mut [W], ring: &Ring<W>, mut body: impl FnMut(usize, W, &mut [W])) {
    assert!(a.len().is_multiple_of(ring.poly_len()), "a buffer holds whole polynomials");
    for poly in a.chunks_exact_mut(ring.poly_len()) {
        for (limb, words) in poly.chunks_exact_mut(ring.ring_degree()).enumerate() {
            body(limb, W::from_u64(ring.moduli()[limb].value()), words);
        }
    }
}

/// As [`for_each_limb`], with the limb of `b` beside it.
fn zip_limbs<W: Word>(
    a: &mut [W],
    b: &[W],
    ring: &Ring<W>,
    mut body: impl FnMut(usize, W, &mut [W], &[W]),
) {
    assert_eq!(a.len(), b.len(), "buffers of the same polynomials have the same length");
    let mut rest = b.chunks_exact(ring.ring_degree());
    for_each_limb(a, ring, |limb, q, words| {
        if let Some(other) = rest.next() {
            body(limb, q, words, other);
        }
    });
}

/// `a += b`.
pub fn add_assign<W: Word>(a: &mut [W], b: &[W], ring: &Ring<W>) {
    zip_limbs(a, b, ring, |_, q, a, b| W::add_limb(a, b, q));
}

/// `a = b + c`, one pass: reads two buffers, writes one.
pub fn add<W: Word>(a: &mut [W], b: &[W], c: &[W], ring: &Ring<W>) {
    assert_eq!(a.len(), c.len(), "buffers of the same polynomials have the same length");
    let mut rest = c.chunks_exact(ring.ring_degree());
    zip_limbs(a, b, ring, |_, q, a, b| {
        if let Some(c) = rest.next() {
            W::sum_limb(a, b, c, q);
        }
    });
}

/// `a = -a`.
pub fn neg_assign<W: Word>(a: &mut [W], ring: &Ring<W>) {
    for_each_limb(a, ring, |_, q, a| W::neg_limb(a, q));
}

/// `a = a * scalar + b`, `scalar` below every modulus: the step of Horner's rule in fusion.
pub fn mul_scalar_add<W: Word>(a: &mut [W], scalar: u64, b: &[W], ring: &Ring<W>) {
    zip_limbs(a, b, ring, |_, q, a, b| {
        assert!(scalar < q.to_u64(), "a scalar is reduced");
        W::mul_scalar_add_limb(a, W::from_u64(scalar), b, q);
    });
}

/// `a += small` for one polynomial of small signed coefficients, the same in every limb.
pub fn add_small<W: Word>(a: &mut [W], small: &[i16], ring: &Ring<W>) {
    assert_eq!(a.len(), ring.poly_len(), "a small polynomial is added to one polynomial");
    for_each_limb(a, ring, |_, q, a| W::add_signed_limb(a, small, q));
}

/// Coefficients to evaluations.
pub fn forward<W: Word>(a: &mut [W], ring: &Ring<W>) {
    for_each_limb(a, ring, |limb, _, words| W::forward(ring.plan(limb), words));
}

/// Evaluations to coefficients times `N`.
pub fn inverse_unscaled<W: Word>(a: &mut [W], ring: &Ring<W>) {
    for_each_limb(a, ring, |limb, _, words| W::inverse_unscaled(ring.plan(limb), words));
}
