//! Polynomials over the integers modulo a prime, lowest coefficient first, without zeros at the top.

use crate::Modulus;

/// Without zeros at the top.
pub(super) fn trimmed(mut a: Vec<u64>) -> Vec<u64> {
    while a.last() == Some(&0) {
        a.pop();
    }
    a
}

/// `a - factor X^shift b`.
fn subtract_shifted(a: &mut [u64], b: &[u64], factor: u64, shift: usize, p: Modulus) {
    for (x, &y) in a[shift..].iter_mut().zip(b) {
        *x = p.add(*x, p.neg(p.mul(factor, y)));
    }
}

/// Quotient and remainder; the divisor is not zero.
fn divided(mut a: Vec<u64>, b: &[u64], p: Modulus) -> (Vec<u64>, Vec<u64>) {
    let Some((&top, _)) = b.split_last() else { return (Vec::new(), a) };
    let by_top = p.inverse(top);
    let mut quotient = vec![0; (a.len() + 1).saturating_sub(b.len())];
    for shift in (0..quotient.len()).rev() {
        quotient[shift] = p.mul(a[shift + b.len() - 1], by_top);
        subtract_shifted(&mut a, b, quotient[shift], shift, p);
    }
    (quotient, trimmed(a))
}

/// `a - b c`.
fn minus_product(a: &[u64], b: &[u64], c: &[u64], p: Modulus) -> Vec<u64> {
    let mut out = a.to_vec();
    out.resize(a.len().max((b.len() + c.len()).saturating_sub(1)), 0);
    for (shift, &factor) in b.iter().enumerate() {
        subtract_shifted(&mut out, c, factor, shift, p);
    }
    trimmed(out)
}

/// The inverse of `a` modulo `f`, by Euclid's algorithm; none where they have a common factor.
pub(super) fn inverse(a: &[u64], f: &[u64], p: Modulus) -> Option<Vec<u64>> {
    let mut remainders = (trimmed(f.to_vec()), divided(trimmed(a.to_vec()), f, p).1);
    let mut factors = (Vec::new(), vec![1 % p.value()]);
    while remainders.1.len() > 1 {
        let (quotient, rest) = divided(remainders.0, &remainders.1, p);
        let factor = minus_product(&factors.0, &quotient, &factors.1, p);
        remainders = (remainders.1, rest);
        factors = (factors.1, factor);
    }
    let constant = p.inverse(*remainders.1.first()?);
    Some(factors.1.iter().map(|&x| p.mul(x, constant)).collect())
}
