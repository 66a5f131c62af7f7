//! Products of two encrypted polynomials on sets of [`RingProducts`], without relinearisation: three components, which
//! whoever has the secret key reads with its square.
//!
//! `(c_0 + c_1 s) (d_0 + d_1 s) = (m + e) (w + f)` modulo the prime, so that what is decrypted is
//! `m w + m f + e w + e f`: both messages lie above both noises. Where both ciphertexts were made under the secret key the third
//! component is a product of two polynomials that follow from seeds: it need not travel.

use hesc_math::RngSeed;
use hesc_math::residues::kernels;
use hesc_math::ring::{Coeff, Eval};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::{RingProducts, Workspace};
use crate::rlwe::key_pair::{PublicKey, SecretKey, residue_seeds};
use crate::rlwe::residues::RowMut;
use crate::{Fingerprint, SchemeError};

/// A ciphertext of two components as evaluations, ready for products with others.
#[derive(Clone)]
pub struct Operand {
    params: Fingerprint,
    components: [Vec<u64>; 2],
}

impl RingProducts {
    /// Encrypts integers below the prime in absolute value under the public key: both components, as coefficients.
    /// Cost: three transforms.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for the key of another set.
    ///
    /// # Panics
    /// Unless there is a number for each coefficient.
    pub fn encrypt_public(
        &self,
        key: &PublicKey,
        message: &[i64],
        workspace: &mut Workspace,
        rng: &mut impl CryptoRng,
    ) -> Result<[Vec<u64>; 2], SchemeError> {
        let mut components = [vec![0; self.words()], vec![0; self.words()]];
        let [c_0, c_1] = &mut components;
        self.rerandomise(key, c_0, c_1, workspace, rng)?;
        self.rows::<Coeff>(c_0).for_each(|(mut row, q)| row.add_signed(message, q));
        Ok(components)
    }

    /// Seeds that follow from one.
    pub fn seeds(seed: RngSeed, count: usize) -> Vec<RngSeed> {
        residue_seeds(seed, count)
    }

    /// What [`Self::encrypt`] made, ready for products. Cost: a transform.
    pub fn seeded_operand(&self, seed: RngSeed, mut c_0: Vec<u64>) -> Operand {
        let mut c_1 = vec![0; c_0.len()];
        self.uniform(seed, &mut c_1);
        self.forward(&mut c_0);
        Operand { params: self.scheme().fingerprint(), components: [c_0, c_1] }
    }

    /// What [`Self::encrypt_public`] made, ready for products. Cost: two transforms.
    pub fn operand(&self, mut components: [Vec<u64>; 2]) -> Operand {
        components.iter_mut().for_each(|component| self.forward(component));
        Operand { params: self.scheme().fingerprint(), components }
    }

    /// The three components of the sum of products, as evaluations.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for operands of another set.
    pub fn sum_of_products(
        &self,
        pairs: &[(&Operand, &Operand)],
        out: [&mut [u64]; 3],
    ) -> Result<(), SchemeError> {
        for (a, b) in pairs {
            self.scheme().check_params(a.params)?;
            self.scheme().check_params(b.params)?;
        }
        let [x, y, z] = out.map(|words| self.rows::<Eval>(words));
        for (prime, ((x, q), ((y, _), (z, _)))) in x.zip(y.zip(z)).enumerate() {
            let rows: Vec<_> = pairs
                .iter()
                .map(|(a, b)| {
                    let ([a_0, a_1], [b_0, b_1]) = (&a.components, &b.components);
                    [a_0, a_1, b_0, b_1]
                        .map(|words| self.residues::<Eval>(words).row(prime).words())
                })
                .collect();
            kernels::sum_of_tensors([x, y, z].map(RowMut::words), &rows, q);
        }
        Ok(())
    }

    /// Adds to `out` the third component of a product of operands under the secret key: `a` is the uniform polynomial of one
    /// ([`Self::uniform`]), the other's follows from its seed. `row` is scratch space.
    pub fn add_third(&self, a: &[u64], seed: RngSeed, row: &mut [u64], out: &mut [u64]) {
        self.uniform(seed, row);
        let rows = self.rows(row).zip(self.residues(a).rows());
        rows.for_each(|((mut row, q), a)| row.multiply(a, q));
        self.add(out, row);
    }

    /// Coefficients to evaluations.
    pub fn forward(&self, words: &mut [u64]) {
        self.rows::<Coeff>(words).for_each(|(row, q)| _ = row.forward(q));
    }

    /// Evaluations to coefficients.
    pub fn inverse(&self, words: &mut [u64]) {
        self.rows::<Eval>(words).for_each(|(row, q)| _ = row.inverse(q));
    }

    /// `(c_1 + c_2 s) s` as coefficients, in place of `c_1`, whose coefficients it takes, and evaluations of `c_2`.
    /// Cost: two transforms. What comes out is wiped by whoever has it.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for the key of another set.
    pub fn unmask_square(
        &self,
        key: &SecretKey,
        c_1: &mut [u64],
        c_2: &[u64],
    ) -> Result<(), SchemeError> {
        key.tag.check(self.scheme().fingerprint(), None)?;
        let mut third = Zeroizing::new(c_2.to_vec());
        let secret = || self.residues(&key.words).rows();
        let rows = self.rows(&mut third).zip(self.rows::<Coeff>(c_1)).zip(secret());
        for (((mut third, q), (row, _)), secret) in rows {
            third.multiply(secret, q);
            let mut sum = row.forward(q);
            sum.add(third.row(), q);
            sum.multiply(secret, q);
            sum.inverse(q);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use hesc_math::AesCtrRng;
    use rand_core::SeedableRng;

    use super::*;

    /// A sparse polynomial, and its norm.
    fn sparse(n: usize, step: usize, size: i64) -> (Vec<i64>, f64) {
        let mut polynomial = vec![0; n];
        for i in 0..50 {
            polynomial[(i * step + 3) % n] += size - (i as i64 % 7) * size / 5;
        }
        let norm = polynomial.iter().map(|&x| (x as f64).powi(2)).sum::<f64>().sqrt();
        (polynomial, norm)
    }

    fn product(a: &[i64], b: &[i64]) -> Vec<i64> {
        let n = a.len();
        let mut out = vec![0; n];
        for (i, x) in a.iter().enumerate().filter(|(_, x)| **x != 0) {
            for (j, y) in b.iter().enumerate().filter(|(_, y)| **y != 0) {
                let (place, wrapped) = ((i + j) % n, i + j >= n);
                out[place] += if wrapped { -x * y } else { x * y };
            }
        }
        out
    }

    /// Against the product by its definition, of several pairs, under either key: off by noise of the deviation that the
    /// messages make, within 15 % of 2048 coefficients' mean square (false alarms below 10^-9), seeds fixed.
    #[test]
    fn sums_of_products_are_those_of_the_messages() {
        for (ring_degree, bits, public) in [
            (2048, &[36][..], false),
            (2048, &[50], false),
            (2048, &[53], false),
            (2048, &[53], true),
            (4096, &[50, 49], false),
            (4096, &[50, 49], true),
        ] {
            let products = RingProducts::of_sizes(ring_degree, bits, None).unwrap();
            let (n, words) = (ring_degree, products.words());
            let rng = &mut AesCtrRng::from_seed([bits[0] as u8 + u8::from(public); 32]);
            let (secret, key) = products.scheme().generate_keys(rng);
            let mut workspace = products.workspace();
            let (mut operands, mut seeds, mut expected) = (Vec::new(), Vec::new(), vec![0; n]);
            let of_public = (4.0 / 3.0 * n as f64 + 1.0).sqrt();
            let (own, other) = (3.24f64, if public { 3.24 * of_public } else { 3.24 });
            let mut square = 0.0;
            for k in 0..10 {
                let (m, m_norm) = sparse(n, 37 + k, 1000);
                let (w, w_norm) = sparse(n, 91 + k, 1500);
                let mut c_0 = vec![0; words];
                let seed = products.encrypt(&secret, &m, &mut c_0, &mut workspace, rng).unwrap();
                let a = products.seeded_operand(seed, c_0);
                let b = if public {
                    let components =
                        products.encrypt_public(&key, &w, &mut workspace, rng).unwrap();
                    products.operand(components)
                } else {
                    let mut d_0 = vec![0; words];
                    let own = products.encrypt(&secret, &w, &mut d_0, &mut workspace, rng).unwrap();
                    seeds.push([seed, own]);
                    products.seeded_operand(own, d_0)
                };
                operands.push((a, b));
                expected.iter_mut().zip(product(&m, &w)).for_each(|(sum, x)| *sum += x);
                square += (own * w_norm).powi(2)
                    + (other * m_norm).powi(2)
                    + n as f64 * (own * other).powi(2);
            }
            let pairs: Vec<_> = operands.iter().map(|(a, b)| (a, b)).collect();
            let mut out = [(); 3].map(|()| vec![0; words]);
            products.sum_of_products(&pairs, out.each_mut().map(Vec::as_mut_slice)).unwrap();
            let [mut c_0, mut c_1, c_2] = out;
            if !public {
                let [mut a, mut row, mut third] = [(); 3].map(|()| vec![0; words]);
                for [own, other] in seeds {
                    products.uniform(own, &mut a);
                    products.add_third(&a, other, &mut row, &mut third);
                }
                assert_eq!(third, c_2);
            }
            products.inverse(&mut c_0);
            products.inverse(&mut c_1);
            products.unmask_square(&secret, &mut c_1, &c_2).unwrap();
            let sums = products.centred_sums(&c_0, &c_1);
            let off = sums.iter().zip(&expected).map(|(x, &y)| (x - i128::from(y)) as f64);
            let found = off.map(|x| x * x).sum::<f64>() / n as f64;
            let ratio = (found / square).sqrt();
            assert!((0.85..1.15).contains(&ratio), "{bits:?} bits, public {public}: {ratio}");
        }
    }

    #[test]
    fn seeds_that_follow_from_one_are_all_different() {
        let mut seeds = RingProducts::seeds([7; 32], 64);
        seeds.extend(RingProducts::seeds([8; 32], 64));
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 128);
    }

    #[test]
    fn operands_and_keys_of_other_sets_are_refused() {
        let [small, large] = [25, 26].map(|bits| RingProducts::of_size(1024, bits).unwrap());
        let rng = &mut AesCtrRng::from_seed([2; 32]);
        let (secret, public) = large.scheme().generate_keys(rng);
        let [own, other] = [&small, &large].map(|set| set.seeded_operand([1; 32], vec![0; 1024]));
        let mut rows = [vec![0; 1024], vec![0; 1024], vec![0; 1024]];
        for pair in [(&own, &other), (&other, &own)] {
            let out = rows.each_mut().map(Vec::as_mut_slice);
            assert!(small.sum_of_products(&[(&own, &own), pair], out).is_err());
        }
        let mut workspace = small.workspace();
        assert!(small.encrypt_public(&public, &[0; 1024], &mut workspace, rng).is_err());
        let [c_1, c_2, _] = &mut rows;
        let refused = small.unmask_square(&secret, c_1, c_2).unwrap_err();
        assert!(matches!(refused, SchemeError::ParameterMismatch { .. }), "{refused}");
    }
}
