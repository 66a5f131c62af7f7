use std::fmt::Debug;

use bytemuck::Pod;
use zeroize::Zeroize;

use crate::{negacyclic, rows};

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// The machine words a residue can live in: `u32` (moduli below 2^31) and `u64` (below 2^62).
///
/// HESC's own parameters need moduli of at most 27 bits, where 32-bit words hold twice the lanes;
/// exact competitors need moduli up to 60 bits.
pub trait Word: sealed::Sealed + Pod + Ord + Debug + Zeroize + Send + Sync + 'static {
    /// Moduli must be below `2^MAX_MODULUS_BITS`, so that sums of two residues do not overflow
    /// and the kernels may delay one reduction.
    const MAX_MODULUS_BITS: u32;
    /// The transform of power-of-two rings.
    type Plan: Debug + Clone + Send + Sync;

    /// The low bits of `value`; residues always fit.
    fn from_u64(value: u64) -> Self;
    /// The value as `u64`.
    fn to_u64(self) -> u64;
    /// A transform, or `None` if the modulus is not an NTT prime at this degree.
    fn plan(ring_degree: usize, modulus: u64) -> Option<Self::Plan>;
    /// Coefficients to evaluations, in place.
    fn forward(plan: &Self::Plan, row: &mut [Self]);
    /// Evaluations to coefficients times `N`, in place.
    fn inverse_unscaled(plan: &Self::Plan, row: &mut [Self]);
    /// `a * b / N` pointwise: the product whose [`Word::inverse_unscaled`] is the true product.
    fn mul_assign_scaled(plan: &Self::Plan, a: &mut [Self], b: &[Self]);
    /// `a / N` pointwise.
    fn scale(plan: &Self::Plan, a: &mut [Self]);
    /// `a += b` modulo `q`.
    fn add_row(a: &mut [Self], b: &[Self], q: Self);
    /// Appends `b + c` modulo `q`.
    fn append_sum_row(out: &mut Vec<Self>, b: &[Self], c: &[Self], q: Self);
    /// `a = -a` modulo `q`.
    fn neg_row(a: &mut [Self], q: Self);
    /// `a = a * scalar + b` modulo `q`, with `scalar < q`.
    fn mul_scalar_add_row(a: &mut [Self], scalar: Self, b: &[Self], q: Self);
    /// `a += signed` modulo `q`, for `|signed| < q`.
    fn add_signed_row(a: &mut [Self], signed: &[i16], q: Self);
    /// `a += values * scalar` modulo `q`, with `values < q` and `scalar < q`.
    fn add_product_row(a: &mut [Self], values: &[u32], scalar: Self, q: Self);
    /// `a += value` modulo `q` where the bit is set.
    fn add_where_row(a: &mut [Self], bits: &[u64], value: Self, q: Self);
    /// `(a - [b]) inverse` modulo `q`, `[b]` the centred residue of `b` modulo `p < 2q`.
    fn divide_by_last_row(
        out: &mut [Self],
        a: &[Self],
        b: &[Self],
        inverse: Self,
        q: Self,
        p: Self,
    );
    /// `out += a * factor` in floating point.
    fn add_scaled_f64_row(out: &mut [f64], a: &[Self], factor: f64);
}

macro_rules! implement_word {
    ($word:ident, $bits:expr) => {
        impl Word for $word {
            const MAX_MODULUS_BITS: u32 = $bits;
            type Plan = negacyclic::$word::Plan;

            #[inline(always)]
            fn from_u64(value: u64) -> Self {
                value as $word
            }
            #[inline(always)]
            fn to_u64(self) -> u64 {
                self as u64
            }
            fn plan(ring_degree: usize, modulus: u64) -> Option<Self::Plan> {
                // The constructor below divides by smaller ones.
                if !(2..1 << $bits).contains(&modulus) {
                    return None;
                }
                negacyclic::$word::Plan::new(ring_degree, modulus as $word)
            }
            fn forward(plan: &Self::Plan, row: &mut [Self]) {
                plan.forward(row);
            }
            fn inverse_unscaled(plan: &Self::Plan, row: &mut [Self]) {
                plan.inverse(row);
            }
            fn mul_assign_scaled(plan: &Self::Plan, a: &mut [Self], b: &[Self]) {
                plan.multiply_scaled(a, b);
            }
            fn scale(plan: &Self::Plan, a: &mut [Self]) {
                plan.scale(a);
            }
            fn add_row(a: &mut [Self], b: &[Self], q: Self) {
                rows::$word::add(a, b, q);
            }
            fn append_sum_row(out: &mut Vec<Self>, b: &[Self], c: &[Self], q: Self) {
                rows::$word::append_sum(out, b, c, q);
            }
            fn neg_row(a: &mut [Self], q: Self) {
                rows::$word::neg(a, q);
            }
            fn mul_scalar_add_row(a: &mut [Self], scalar: Self, b: &[Self], q: Self) {
                rows::$word::mul_scalar_add(a, scalar, b, q);
            }
            fn add_signed_row(a: &mut [Self], signed: &[i16], q: Self) {
                rows::$word::add_signed(a, signed, q);
            }
            fn add_product_row(a: &mut [Self], values: &[u32], scalar: Self, q: Self) {
                rows::$word::add_product(a, values, scalar, q);
            }
            fn add_where_row(a: &mut [Self], bits: &[u64], value: Self, q: Self) {
                rows::$word::add_where(a, bits, value, q);
            }
            fn divide_by_last_row(
                out: &mut [Self],
                a: &[Self],
                b: &[Self],
                inverse: Self,
                q: Self,
                p: Self,
            ) {
                rows::$word::divide_by_last(out, a, b, inverse, q, p);
            }
            fn add_scaled_f64_row(out: &mut [f64], a: &[Self], factor: f64) {
                rows::$word::add_scaled_f64(out, a, factor);
            }
        }
    };
}

implement_word!(u32, 31);
implement_word!(u64, 62);
