//! Unpacking (`carpov2016packing`, section 3): from one ciphertext whose slots hold elements of `GR(p^r, d)` to `d`
//! whose slots hold their coordinates.

use std::ops::Range;

use hesc_math::residues::kernels;
use hesc_math::ring::Automorphism;
use rayon::prelude::*;

use super::buffer::Buffer;
use super::domain::Domain;
use super::keys::{GaloisKey, GaloisKeys};
use super::noise::{Noise, PlainSize};
use super::{Ciphertext, Rlwe, parallel};
use crate::SchemeError;
use crate::error::refuse;

/// Words of a row that are summed at a time: rows of all images and constants stay in the second cache.
const COLUMNS: usize = 512;
/// Outputs that are made together: their sums wait for the division.
const TOGETHER: usize = 16;

/// All images of a ciphertext under the Frobenius map, times the special primes and not yet divided by them: as
/// evaluations for each target prime, image and part.
struct Images {
    level: usize,
    words: Buffer,
}

impl Rlwe {
    /// The exponents of the automorphisms that [`Self::unpack`] has to have keys for: all Frobenius maps.
    ///
    /// # Errors
    /// As [`Self::field_slots`].
    pub fn unpacking_elements(&self) -> Result<Vec<usize>, SchemeError> {
        let d = self.field_slots()?.ring().degree() as i64;
        (1..d).map(|times| self.frobenius_element(times)).collect()
    }

    /// The coordinates of the values in all slots, each in a ciphertext of its own whose slots hold numbers: for each
    /// output `i` the sum over `j` of `sigma^(i + j)(x')` times the `j`-th Frobenius image, `x'` dual to the normal
    /// basis (`carpov2016packing`, equations (2) and (4), where the basis is powers of `X` and `a_i` dual to it).
    ///
    /// Outputs are brought to a level, the ciphertext's own or one below. The images are made once (hoisted) and
    /// multiplied before they are divided by the special primes and those that the level has not, which is done once
    /// for an output. BGV. Cost: digits lifted once, `d - 1` products with keys, and for each output `2 d` products of
    /// polynomials and a division.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::MissingKey`],
    /// [`SchemeError::NotRelinearised`]; [`SchemeError::LastLevel`] for a level above the ciphertext's, or none;
    /// [`SchemeError::NotInScheme`] for BFV and CKKS; [`SchemeError::Parameter`] for an output that is not below `d`
    /// and for a set without special primes; [`SchemeError::NoiseBudget`] if an output could not be decrypted; as
    /// [`Self::field_slots`].
    pub fn unpack(
        &self,
        a: &Ciphertext,
        outputs: &[usize],
        keys: &GaloisKeys,
        level: usize,
    ) -> Result<Vec<Ciphertext>, SchemeError> {
        if self.domain() != Domain::Evaluations || self.is_approximate() {
            let (operation, scheme) = ("unpacking", self.scheme().name());
            let remedy = "take BGV, whose ciphertexts are evaluations of integers";
            return Err(SchemeError::NotInScheme { operation, scheme, remedy });
        }
        let d = self.field_slots()?.ring().degree();
        if let Some(output) = outputs.iter().find(|output| **output >= d) {
            return refuse("outputs", output, "choose coordinates below the degree of a slot");
        }
        self.check_ciphertext(a)?;
        Self::require_two_parts(a, "unpacking")?;
        if level > a.level {
            return Err(SchemeError::LastLevel { level: a.level, wanted: level });
        }
        self.check_not_last(a, level)?;
        // Slots of degree 1 need no keys, but the way here goes by the special primes.
        if self.chain().special().is_empty() {
            return refuse("special_moduli", "[]", "unpacking needs at least one special prime");
        }
        let elements = self.unpacking_elements()?;
        let keys = elements
            .iter()
            .map(|&element| self.galois_key(a, element, keys))
            .collect::<Result<Vec<_>, _>>()?;
        let (constant, size) = self.integers()?.dual()?;
        let undivided = Ciphertext { noise: self.unpacked_noise(a, *size, d)?, ..a.shell() };
        let shell =
            if level < a.level { self.divided_shell(&undivided, level)? } else { undivided };
        Ok(parallel::together(a.words.len(), || {
            let images = self.images(a, &keys);
            let constants = self.constants(constant, a.level, &keys);
            let targets = self.chain().targets(a.level).count();
            let n = self.ring_degree();
            let divided = |outputs: &[usize]| {
                let sums = self.weighted_images(&images, &constants, outputs, d);
                let of_output = |output: usize| {
                    let words = self.sum_and_divide((a.level, level), 0, |_, index, _, out| {
                        out.copy_from_slice(&sums[(output * targets + index) * 2 * n..][..2 * n]);
                    });
                    Ciphertext { words, ..shell.shell() }
                };
                (0..outputs.len()).map(of_output).collect::<Vec<_>>()
            };
            outputs.chunks(TOGETHER).flat_map(divided).collect()
        }))
    }

    /// The noise of an output: of `d` products with constants, of what key switching makes of an image.
    fn unpacked_noise(
        &self,
        a: &Ciphertext,
        size: PlainSize,
        d: usize,
    ) -> Result<Noise, SchemeError> {
        let product = self.times_plain(self.switched_noise(a)?, size);
        let noise = (1..d).fold(product, |sum, _| sum.plus(product));
        self.check_noise(noise, a.level, a.scale)?;
        Ok(noise)
    }

    /// All Frobenius images, the ciphertext itself first.
    fn images(&self, a: &Ciphertext, keys: &[&GaloisKey]) -> Images {
        let (n, chain, level) = (self.ring_degree(), self.chain(), a.level);
        let lifted = self.lift_everywhere(&self.cut(self.part(a, 1), level));
        let targets: Vec<usize> = chain.targets(level).collect();
        let (limbs, images) = (chain.places(level).len(), 1 + keys.len());
        let mut words = Buffer::take(targets.len() * images * 2 * n);
        parallel::for_each_chunk(&mut words, images * 2 * n, 2 * n, |row, index, out| {
            let target = targets[index];
            let prime = &chain.primes()[target];
            let special = super::chain::product_of(chain.special(), prime.modulus());
            let factor = prime.factor(special);
            for (image, out) in out.chunks_exact_mut(2 * n).enumerate() {
                let Some(key) = image.checked_sub(1).map(|at| keys[at]) else {
                    // Times the special primes, which is zero modulo them.
                    match (index < limbs).then(|| &a.words[index * 2 * n..][..2 * n]) {
                        Some(own) => kernels::scale_into(out, own, factor, prime),
                        None => out.fill(0),
                    }
                    continue;
                };
                self.lifted_products(row, &lifted, index, target, &key.key);
                if index < limbs {
                    let first = &a.words[index * 2 * n..][..n];
                    kernels::scale_add(&mut row[..n], first, factor, prime);
                }
                for (out, row) in out.chunks_exact_mut(n).zip(row.chunks_exact(n)) {
                    key.automorphism.evaluations(out, row);
                }
            }
        });
        Images { level, words }
    }

    /// A constant and its Frobenius images modulo the target primes of a level, as evaluations: the images of one
    /// are its evaluations in another order.
    fn constants(&self, constant: &[u64], level: usize, keys: &[&GaloisKey]) -> Buffer {
        let (n, chain) = (self.ring_degree(), self.chain());
        let targets: Vec<usize> = chain.targets(level).collect();
        let automorphisms: Vec<&Automorphism> = keys.iter().map(|key| &key.automorphism).collect();
        let images = 1 + automorphisms.len();
        let plain_modulus = self.spec().plaintext.modulus();
        let mut words = Buffer::take(targets.len() * images * n);
        parallel::for_each_chunk(&mut words, images * n, 0, |_, index, out| {
            let prime = &chain.primes()[targets[index]];
            let (first, others) = out.split_at_mut(n);
            kernels::lift_centred(first, constant, plain_modulus, prime);
            prime.forward(first);
            for (out, automorphism) in others.chunks_exact_mut(n).zip(&automorphisms) {
                automorphism.evaluations(out, first);
            }
        });
        words
    }

    /// The sums of some outputs: in each target after target, in each part after part.
    fn weighted_images(
        &self,
        images: &Images,
        constants: &[u64],
        outputs: &[usize],
        d: usize,
    ) -> Buffer {
        let (n, chain) = (self.ring_degree(), self.chain());
        let targets: Vec<usize> = chain.targets(images.level).collect();
        let mut words = Buffer::take(outputs.len() * targets.len() * 2 * n);
        // By columns first: rows of all images and constants stay in the second cache for all outputs.
        let mut by_target: Vec<Vec<&mut [u64]>> = targets.iter().map(|_| Vec::new()).collect();
        for (i, row) in words.chunks_exact_mut(2 * n).enumerate() {
            by_target[i % targets.len()].push(row);
        }
        by_target.into_par_iter().enumerate().for_each(|(index, mut sums)| {
            let prime = &chain.primes()[targets[index]];
            let constants = &constants[index * d * n..][..d * n];
            let images = &images.words[index * d * 2 * n..][..d * 2 * n];
            for start in (0..n).step_by(COLUMNS) {
                let columns: Range<usize> = start..n.min(start + COLUMNS);
                let part = |j: usize, part: usize| &images[(2 * j + part) * n..][columns.clone()];
                let [firsts, seconds]: [Vec<&[u64]>; 2] =
                    [0, 1].map(|which| (0..d).map(|j| part(j, which)).collect());
                for (output, sums) in outputs.iter().zip(&mut sums) {
                    let constant = |j: usize| &constants[(output + j) % d * n..][columns.clone()];
                    let factors: Vec<&[u64]> = (0..d).map(constant).collect();
                    let (first, second) = sums.split_at_mut(n);
                    let out = [&mut first[columns.clone()], &mut second[columns.clone()]];
                    kernels::inner_products(out, &factors, &firsts, &seconds, prime);
                }
            }
        });
        words
    }
}
