//! Loops over one row, once for each word. `min(x, x - q)` with wrap-around is the branch-free
//! conditional subtraction: `x - q` wraps to a huge value exactly when `x < q`.

macro_rules! row_kernels {
    ($word:ident, $wide:ty, $signed:ty) => {
        pub mod $word {
            use hesc_kernels::vectorised;

            #[inline(always)]
            fn reduce_once(x: $word, q: $word) -> $word {
                x.min(x.wrapping_sub(q))
            }

            vectorised! {
                pub fn add(a: &mut [$word], b: &[$word], q: $word) {
                    for (a, &b) in a.iter_mut().zip(b) {
                        *a = reduce_once(*a + b, q);
                    }
                }

                pub fn append_sum(out: &mut Vec<$word>, b: &[$word], c: &[$word], q: $word) {
                    // Fresh memory is written once: no zeros before.
                    out.extend(b.iter().zip(c).map(|(&b, &c)| reduce_once(b + c, q)));
                }

                pub fn neg(a: &mut [$word], q: $word) {
                    for a in a {
                        *a = reduce_once(q - *a, q);
                    }
                }

                /// Shoup's product by a constant: with `s' = floor(s * 2^w / q)`, the difference
                /// `a s - floor(a s' / 2^w) q` is in `[0, 2q)` (Harvey 2014, section 2).
                pub fn mul_scalar_add(a: &mut [$word], scalar: $word, b: &[$word], q: $word) {
                    let shoup = (((scalar as $wide) << $word::BITS) / q as $wide) as $word;
                    for (a, &b) in a.iter_mut().zip(b) {
                        let quotient = ((*a as $wide * shoup as $wide) >> $word::BITS) as $word;
                        let product = a.wrapping_mul(scalar).wrapping_sub(quotient.wrapping_mul(q));
                        *a = reduce_once(reduce_once(product, q) + b, q);
                    }
                }

                /// `a += values * scalar`, `values < q`, by Shoup's product as above.
                pub fn add_product(a: &mut [$word], values: &[u32], scalar: $word, q: $word) {
                    let shoup = (((scalar as $wide) << $word::BITS) / q as $wide) as $word;
                    for (a, &value) in a.iter_mut().zip(values) {
                        let value = value as $word;
                        let quotient = ((value as $wide * shoup as $wide) >> $word::BITS) as $word;
                        let product = value.wrapping_mul(scalar).wrapping_sub(quotient.wrapping_mul(q));
                        *a = reduce_once(*a + reduce_once(product, q), q);
                    }
                }

                /// Secret data passes here (noise, keys), hence the arithmetic select.
                pub fn add_signed(a: &mut [$word], signed: &[i16], q: $word) {
                    for (a, &s) in a.iter_mut().zip(signed) {
                        let wide = <$signed>::from(s);
                        let lift = q & (wide >> (<$signed>::BITS - 1)) as $word;
                        *a = reduce_once(*a + (wide as $word).wrapping_add(lift), q);
                    }
                }

                /// Adds `value` where the bit is set; bit `i` is bit `i % 64` of word `i / 64`.
                /// The bits are plaintext, hence a mask and no branch.
                pub fn add_where(a: &mut [$word], bits: &[u64], value: $word, q: $word) {
                    for (a, &word) in a.chunks_exact_mut(64).zip(bits) {
                        for (half, a) in a.chunks_exact_mut(32).enumerate() {
                            let half = (word >> (32 * half)) as u32;
                            for (j, a) in a.iter_mut().enumerate() {
                                let mask = (((half >> j) & 1) as $word).wrapping_neg();
                                *a = reduce_once(*a + (value & mask), q);
                            }
                        }
                    }
                }

                /// `(a - [b]) inverse`, `[b]` the centred residue of `b` modulo `p`: with `inverse`
                /// that of `p` modulo `q`, the number of residues `a` and `b` divided by `p` and rounded.
                pub fn divide_by_last(
                    out: &mut [$word],
                    a: &[$word],
                    b: &[$word],
                    inverse: $word,
                    q: $word,
                    p: $word,
                ) {
                    let shoup = (((inverse as $wide) << $word::BITS) / q as $wide) as $word;
                    let (half, lift) = (p / 2, q.wrapping_sub(p));
                    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
                        let negative = ((b > half) as $word).wrapping_neg();
                        let residue = b.wrapping_add(lift & negative);
                        let x = reduce_once(a + q - residue, q);
                        let quotient = ((x as $wide * shoup as $wide) >> $word::BITS) as $word;
                        let product = x.wrapping_mul(inverse).wrapping_sub(quotient.wrapping_mul(q));
                        *out = reduce_once(product, q);
                    }
                }

                /// `out += a * factor` in floating point.
                pub fn add_scaled_f64(out: &mut [f64], a: &[$word], factor: f64) {
                    for (out, &a) in out.iter_mut().zip(a) {
                        *out += a as f64 * factor;
                    }
                }
            }
        }
    };
}

row_kernels!(u32, u64, i32);
row_kernels!(u64, u128, i64);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    /// Compares every kernel with plain `%` on wide integers.
    macro_rules! against_remainder {
        ($name:ident, $word:ident, $bits:expr) => {
            proptest! {
                #[test]
                fn $name(
                    q in 2u64..(1 << $bits),
                    raw in prop::collection::vec((any::<u64>(), any::<u64>(), -20_000i16..20_000), 1..70),
                    scalar: u64,
                ) {
                    let wide = u128::from(q);
                    let a: Vec<$word> = raw.iter().map(|r| (r.0 % q) as $word).collect();
                    let b: Vec<$word> = raw.iter().map(|r| (r.1 % q) as $word).collect();
                    // A signed summand must be smaller than the modulus.
                    let s: Vec<i16> =
                        raw.iter().map(|r| (i64::from(r.2) % q.min(20_000) as i64) as i16).collect();
                    let scalar = scalar % q;
                    let (mut sum, mut in_place) = (Vec::new(), a.clone());
                    let (mut neg, mut scaled, mut shifted) = (a.clone(), a.clone(), a.clone());
                    let q_word = q as $word;
                    super::$word::append_sum(&mut sum, &a, &b, q_word);
                    super::$word::add(&mut in_place, &b, q_word);
                    super::$word::neg(&mut neg, q_word);
                    let mut accumulated = b.clone();
                    let small: Vec<u32> =
                        a.iter().map(|&x| (x as u64 % q.min(1 << 31)) as u32).collect();
                    super::$word::add_product(&mut accumulated, &small, scalar as $word, q_word);
                    super::$word::mul_scalar_add(&mut scaled, scalar as $word, &b, q_word);
                    super::$word::add_signed(&mut shifted, &s, q_word);
                    // A second modulus of about the same size.
                    let p = q | 1;
                    let inverse = scalar as $word;
                    let last: Vec<$word> = b.iter().map(|&y| (y as u64 % p) as $word).collect();
                    let mut divided = vec![0; a.len()];
                    super::$word::divide_by_last(&mut divided, &a, &last, inverse, q_word, p as $word);
                    for i in 0..a.len() {
                        let (x, y) = (a[i] as u128, b[i] as u128);
                        prop_assert_eq!(sum[i] as u128, (x + y) % wide);
                        prop_assert_eq!(in_place[i], sum[i]);
                        prop_assert_eq!(neg[i] as u128, (wide - x) % wide);
                        let product = u128::from(small[i]) * u128::from(scalar);
                        prop_assert_eq!(accumulated[i] as u128, (product + y) % wide);
                        prop_assert_eq!(scaled[i] as u128, (x * u128::from(scalar) + y) % wide);
                        let low = last[i] as i128;
                        let centred = if low > i128::from(p / 2) { low - i128::from(p) } else { low };
                        let quotient = (x as i128 - centred).rem_euclid(wide as i128);
                        prop_assert_eq!(divided[i] as u128, quotient as u128 * u128::from(scalar) % wide);
                        let expected = (x as i128 + i128::from(s[i])).rem_euclid(wide as i128);
                        prop_assert_eq!(shifted[i] as i128, expected);
                    }
                }
            }
        };
    }

    #[test]
    fn bits_select_the_summand() {
        let bits = [0x8000_0001_0000_00F0u64, 1];
        let mut a = vec![5u32; 128];
        super::u32::add_where(&mut a, &bits, 9, 11);
        for (i, &x) in a.iter().enumerate() {
            let set = bits[i / 64] >> (i % 64) & 1 == 1;
            assert_eq!(x, if set { 3 } else { 5 });
        }
    }

    against_remainder!(u32_agrees_with_remainder, u32, 31);
    against_remainder!(u64_agrees_with_remainder, u64, 62);
}
