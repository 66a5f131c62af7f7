//! Products of encrypted polynomials of integers with polynomials in the clear, coefficient by coefficient: one prime or
//! two, and no encoding but the caller's. A special prime beside them is for keys alone.
//!
//! `c_0 = -(a s) + e + m` and `c_1 = a` from a seed, so that `c_0 w + c_1 w s = m w + e w` modulo the primes. Polynomials
//! are [`RingProducts::words`] words, prime after prime. What the coefficients mean, how large they may be and how much noise they bear is the caller's to know: nothing here
//! carries a claim.

mod blinded_sums;
mod encrypted_factors;
mod expansion;
mod sharing;

use hesc_math::ring::{Coeff, Eval, Prime};
use hesc_math::sampling::{self, Sampler};
use hesc_math::{AesCtrRng, RngSeed};
use rand_core::{CryptoRng, SeedableRng};
use zeroize::{Zeroize as _, ZeroizeOnDrop, Zeroizing};

pub use blinded_sums::{BlindedSums, Factors, Scratch};
pub use encrypted_factors::Operand;
pub use expansion::Expansion;
pub use sharing::{SharedSecrets, SharingKeys};

use crate::error::refuse;
use crate::rlwe::flooding;
use crate::rlwe::key_pair::{PublicKey, SecretKey, residue_seeds};
use crate::rlwe::residues::{Blank, Component, Residues, Row, RowDomain, RowMut, Stored};
use crate::rlwe::{PlaintextSpace, Rlwe, SchemeKind, Spec};
use crate::{Assurance, Fingerprint, SchemeError};

/// Primes of ciphertexts, at most: their product is within 128 bits.
const MOST_COEFF_PRIMES: usize = 2;

/// The scale of sets that are made for ring products, whose ciphertexts have scales of their own: vectors of CKKS
/// under the same keys have this one.
const SCALE: f64 = 65536.0;

/// A set of one or two primes over a power-of-two ring. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RingProducts(Rlwe);

/// A polynomial in the clear as its evaluations. Neither printed nor compared, and wiped: it may be a secret of its
/// owner's.
#[derive(ZeroizeOnDrop)]
pub struct Multiplier {
    #[zeroize(skip)]
    params: Fingerprint,
    words: Vec<u64>,
}

/// Scratch space for one ciphertext after the other; secrets pass through it, and it is wiped.
pub struct Workspace {
    row: Vec<u64>,
    sampler: Sampler,
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.row.zeroize();
    }
}

impl RingProducts {
    /// Ring degrees and bits of the prime that plans choose among, from what is cheapest: few, so that a key serves
    /// many plans.
    pub const SIZES: [(usize, u32); 8] = [
        (1024, 26),
        (2048, 36),
        (2048, 53),
        (4096, 36),
        (4096, 58),
        (8192, 58),
        (16384, 58),
        (32768, 58),
    ];

    /// The set of this ring degree with the largest prime of so many bits, 20 to 58 but not 51.
    ///
    /// # Errors
    /// As [`Rlwe::new`]: more bits than 128 bits of security allow, no such ring or prime.
    pub fn of_size(ring_degree: usize, bits: u32) -> Result<Self, SchemeError> {
        Self::of_sizes(ring_degree, &[bits], None)
    }

    /// The set of this ring degree with the largest primes of so many bits, and a special prime for keys.
    ///
    /// # Errors
    /// As [`Rlwe::new`] and [`Self::new`].
    pub fn of_sizes(
        ring_degree: usize,
        bits: &[u32],
        special_bits: Option<u32>,
    ) -> Result<Self, SchemeError> {
        let ring = hesc_math::RingIndex::power_of_two(ring_degree)?;
        let all: Vec<u32> = bits.iter().copied().chain(special_bits).collect();
        let mut coeff_moduli = ring.ntt_primes_of_bits(&all, 1)?;
        let special_moduli = coeff_moduli.split_off(bits.len());
        let spec = Spec {
            scheme: SchemeKind::Ckks,
            ring,
            coeff_moduli,
            levels: Vec::new(),
            special_moduli,
            plaintext: PlaintextSpace::Approximate { scale: SCALE },
            bound: 1.0,
            packing: None,
        };
        Self::new(Rlwe::new(spec, Assurance::Guidelines2024)?)
    }

    /// The prime of [`Self::of_size`]. Cost: a search, no tables.
    ///
    /// # Errors
    /// [`SchemeError::Math`] where there is no such ring or prime.
    pub fn modulus_of_size(ring_degree: usize, bits: u32) -> Result<u64, SchemeError> {
        Ok(hesc_math::RingIndex::power_of_two(ring_degree)?.ntt_primes(bits, 1)?[0])
    }

    /// On a set that is there.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for more than two primes or one special prime, and a ring of odd index.
    pub fn new(scheme: Rlwe) -> Result<Self, SchemeError> {
        let spec = scheme.spec();
        let (primes, special) = (spec.coeff_moduli.len(), spec.special_moduli.len());
        if primes > MOST_COEFF_PRIMES {
            return refuse("coeff_moduli", primes, "ring products take sets of one prime or two");
        }
        if special > 1 {
            return refuse(
                "special_moduli",
                special,
                "ring products take one special prime at most",
            );
        }
        if !spec.ring.is_power_of_two() {
            return refuse("ring", spec.ring.value(), "ring products take power-of-two rings");
        }
        Ok(Self(scheme))
    }

    /// The set.
    pub fn scheme(&self) -> &Rlwe {
        &self.0
    }

    /// The first prime: the only one but in sets of two.
    pub fn modulus(&self) -> u64 {
        self.primes()[0].value()
    }

    /// Words of a polynomial: residues modulo one prime after the other.
    pub fn words(&self) -> usize {
        self.primes().len() * self.0.ring_degree()
    }

    /// The primes of ciphertexts.
    pub(super) fn primes(&self) -> &[Prime] {
        self.0.chain().level(self.0.levels())
    }

    /// A polynomial's residues modulo each prime.
    pub(super) fn rows<'a, D: RowDomain>(
        &'a self,
        words: &'a mut [u64],
    ) -> impl Iterator<Item = (RowMut<'a, D>, &'a Prime)> {
        assert_eq!(words.len(), self.words(), "a polynomial has a residue for each prime");
        RowMut::all(words, self.0.ring_degree()).zip(self.primes())
    }

    /// Residues of a polynomial, or of a key of all primes, special ones last.
    pub(super) fn residues<'a, D: RowDomain>(&self, words: &'a [u64]) -> Component<'a, D> {
        Residues::assume(words, 1, self.0.ring_degree()).component(0)
    }

    /// Scratch space.
    pub fn workspace(&self) -> Workspace {
        let (row, sampler) = (vec![0; self.words()], Sampler::new(self.0.ring()));
        Workspace { row, sampler }
    }

    /// Encrypts integers below the prime in absolute value: `c_0`, and the seed of `c_1`. Cost: a transform.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for the key of another set.
    ///
    /// # Panics
    /// Unless there is a number for each coefficient.
    pub fn encrypt(
        &self,
        key: &SecretKey,
        message: &[i64],
        c_0: &mut [u64],
        workspace: &mut Workspace,
        rng: &mut impl CryptoRng,
    ) -> Result<RngSeed, SchemeError> {
        let seed = sampling::fresh_seed(rng);
        self.encrypt_seeded(key, seed, message, c_0, workspace, rng)?;
        Ok(seed)
    }

    /// [`Self::encrypt`] with the seed of `c_1` given. **One seed, one message**: of two under one seed everybody sees the
    /// difference.
    ///
    /// # Errors
    /// As [`Self::encrypt`].
    ///
    /// # Panics
    /// Unless there is a number for each coefficient.
    pub fn encrypt_seeded(
        &self,
        key: &SecretKey,
        seed: RngSeed,
        message: &[i64],
        c_0: &mut [u64],
        workspace: &mut Workspace,
        rng: &mut impl CryptoRng,
    ) -> Result<(), SchemeError> {
        key.tag.check(self.0.fingerprint(), None)?;
        self.uniform(seed, c_0);
        workspace.sampler.sample_centred_binomial(rng);
        let secret = self.residues(&key.words).rows();
        for ((mut product, q), secret) in self.rows(c_0).zip(secret) {
            product.multiply(secret, q);
            let mut sum = product.inverse(q);
            sum.negate(q);
            sum.add_small(workspace.sampler.coefficients(), q);
            sum.add_signed(message, q);
        }
        Ok(())
    }

    /// The uniform polynomial of a seed, as evaluations.
    pub fn uniform(&self, seed: RngSeed, words: &mut [u64]) {
        let seeds = match self.primes().len() {
            1 => vec![seed],
            primes => residue_seeds(seed, primes),
        };
        for ((row, q), seed) in self.rows::<Eval>(words).zip(seeds) {
            sampling::fill_uniform_row(row.words(), q.value(), &mut AesCtrRng::from_seed(seed));
        }
    }

    /// Adds the evaluations of the second component that a seed stands for.
    pub fn add_expanded(&self, seed: RngSeed, evaluations: &mut [u64], workspace: &mut Workspace) {
        self.uniform(seed, &mut workspace.row);
        self.add(evaluations, &workspace.row);
    }

    /// `a += b`, of polynomials.
    ///
    /// # Panics
    /// Unless both have a residue for each prime.
    pub fn add(&self, a: &mut [u64], b: &[u64]) {
        assert_eq!(b.len(), self.words(), "a polynomial has a residue for each prime");
        let rows = self.rows::<Stored>(a).zip(self.residues(b).rows());
        rows.for_each(|((mut a, q), b)| a.add(b, q));
    }

    /// `a += b`, of some coefficients modulo the first prime.
    pub fn add_residues(&self, a: &mut [u64], b: &[u64]) {
        RowMut::<Coeff>::assume(a).add(Row::assume(b), &self.primes()[0]);
    }

    /// A polynomial in the clear, of integers below 2^51 in absolute value. Cost: a transform.
    ///
    /// # Panics
    /// Unless there is a number for each coefficient.
    pub fn multiplier(&self, polynomial: &[i64]) -> Multiplier {
        let mut words = vec![0; self.words()];
        for (row, q) in self.rows::<Blank>(&mut words) {
            row.reduce_signed(polynomial, q).forward(q);
        }
        Multiplier { params: self.0.fingerprint(), words }
    }

    /// Both components of a seeded ciphertext times a polynomial, as coefficients: `c_0` in place, `c_1` from the seed.
    /// Cost: three transforms.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for a multiplier of another set.
    pub fn multiply(
        &self,
        seed: RngSeed,
        c_0: &mut [u64],
        c_1: &mut [u64],
        by: &Multiplier,
    ) -> Result<(), SchemeError> {
        self.0.check_params(by.params)?;
        self.uniform(seed, c_1);
        self.forward(c_0);
        for component in [c_0, c_1] {
            for ((mut row, q), by) in self.rows(component).zip(self.residues(&by.words).rows()) {
                row.multiply(by, q);
                row.inverse(q);
            }
        }
        Ok(())
    }

    /// Adds an encryption of zero under the public key, `(b u + e_0, a u + e_1)`: `c_1` then tells nothing of what it
    /// was multiplied with. Cost: three transforms.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for the key of another set.
    pub fn rerandomise(
        &self,
        key: &PublicKey,
        c_0: &mut [u64],
        c_1: &mut [u64],
        workspace: &mut Workspace,
        rng: &mut impl CryptoRng,
    ) -> Result<(), SchemeError> {
        key.tag.check(self.0.fingerprint(), None)?;
        let mut mask = Zeroizing::new(vec![0; self.words()]);
        workspace.sampler.sample_ternary(rng);
        for (row, q) in self.rows::<Blank>(&mut mask) {
            row.small(workspace.sampler.coefficients(), q).forward(q);
        }
        for (component, by) in [c_0, c_1].into_iter().zip(&key.components) {
            workspace.sampler.sample_centred_binomial(rng);
            let factors = self.residues(by).rows().zip(self.residues(&mask).rows());
            let scratch = self.rows::<Blank>(&mut workspace.row);
            for (((mut out, q), (of_key, mask)), (row, _)) in
                self.rows(component).zip(factors).zip(scratch)
            {
                out.add(row.product(of_key, mask, q).inverse(q).row(), q);
                out.add_small(workspace.sampler.coefficients(), q);
            }
        }
        Ok(())
    }

    /// Adds Gaussian noise of this deviation, of which each prime has room for [`flooding::LARGEST_GAUSSIAN`].
    pub fn flood(&self, words: &mut [u64], deviation: f64, rng: &mut impl CryptoRng) {
        flooding::flood(words, deviation, self.primes(), rng);
    }

    /// `c_1 s` as coefficients, in place. Cost: two transforms. What comes out is wiped by whoever has it.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for the key of another set.
    pub fn unmask(&self, key: &SecretKey, c_1: &mut [u64]) -> Result<(), SchemeError> {
        key.tag.check(self.0.fingerprint(), None)?;
        for ((row, q), secret) in self.rows::<Coeff>(c_1).zip(self.residues(&key.words).rows()) {
            let mut product = row.forward(q);
            product.multiply(secret, q);
            product.inverse(q);
        }
        Ok(())
    }

    /// The centred representatives of `a + b`, of all coefficients of two polynomials: `x_0 + q_0 y` for centred `x_0` modulo
    /// the first prime and `y = (x_1 - x_0) / q_0` modulo the second (Garner 1959). They depend on what was encrypted: no
    /// branch is taken on them.
    pub fn centred_sums(&self, a: &[u64], b: &[u64]) -> Zeroizing<Vec<i128>> {
        let mut sums = Zeroizing::new(b.to_vec());
        self.add(&mut sums, a);
        let mut rows = self.rows::<Coeff>(&mut sums);
        let Some((first, q)) = rows.next() else { return Zeroizing::default() };
        let mut found: Zeroizing<Vec<i128>> = Zeroizing::new(
            first.row().words().iter().map(|&x| i128::from(centred(x, q.value()))).collect(),
        );
        if let Some((mut quotient, second)) = rows.next() {
            let mut lifted = Zeroizing::new(vec![0; found.len()]);
            let lifted = RowMut::over(&mut lifted).recentre(first.row(), q.value(), second);
            let modulus = second.modulus();
            let inverse = second.factor(modulus.inverse(q.value() % second.value()));
            quotient.subtract_and_scale(lifted.row(), inverse, second);
            let quotients = quotient.row().words().iter().map(|&y| centred(y, second.value()));
            for (x, y) in found.iter_mut().zip(quotients) {
                *x += i128::from(q.value()) * i128::from(y);
            }
        }
        found
    }

    /// The centred representative of `a + b` for two residues modulo the first prime, without a branch.
    pub fn centred_sum(&self, a: u64, b: u64) -> i64 {
        let q = self.modulus();
        centred((a + b).min((a + b).wrapping_sub(q)), q)
    }
}

/// The centred representative of a residue, without a branch.
fn centred(residue: u64, q: u64) -> i64 {
    residue.wrapping_sub(q & u64::from(residue > q / 2).wrapping_neg()) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaussian::correlations;

    /// Against the product by its definition: what is decrypted is that but for noise that small numbers bound.
    #[test]
    fn products_are_those_of_the_polynomials() {
        for (ring_degree, bits, special, hidden) in [
            (1024, &[26][..], None, false),
            (2048, &[50], None, true),
            (2048, &[53], None, true),
            (4096, &[42, 49], None, false),
            (4096, &[42, 42], None, true),
            (4096, &[47], Some(58), false),
            (4096, &[49], Some(50), true),
            (8192, &[58, 58], Some(58), true),
        ] {
            let products = RingProducts::of_sizes(ring_degree, bits, special).unwrap();
            let rng = &mut AesCtrRng::from_seed([bits[0] as u8; 32]);
            let (secret, public) = products.scheme().generate_keys(rng);
            let mut message = vec![0; ring_degree];
            let mut clear = vec![0; ring_degree];
            for i in 0..40 {
                message[(i * 37) % ring_degree] = 1000 - 50 * i as i64;
                clear[(i * 91 + 5) % ring_degree] = 3 * i as i64 - 60;
            }
            let (mut c_0, mut c_1) = (vec![0; products.words()], vec![0; products.words()]);
            let mut workspace = products.workspace();
            let seed = products.encrypt(&secret, &message, &mut c_0, &mut workspace, rng).unwrap();
            let by = products.multiplier(&clear);
            products.multiply(seed, &mut c_0, &mut c_1, &by).unwrap();
            if hidden {
                products.rerandomise(&public, &mut c_0, &mut c_1, &mut workspace, rng).unwrap();
            }
            products.unmask(&secret, &mut c_1).unwrap();
            let mut expected = vec![0i64; ring_degree];
            for (i, &m) in message.iter().enumerate() {
                for (j, &w) in clear.iter().enumerate() {
                    let (place, wrapped) = ((i + j) % ring_degree, i + j >= ring_degree);
                    expected[place] += if wrapped { -m * w } else { m * w };
                }
            }
            // 14 deviations: beyond them one coefficient in 2^140.
            let norm = clear.iter().map(|w| (w * w) as f64).sum::<f64>();
            let public_key = if hidden { 4.0 / 3.0 * ring_degree as f64 + 1.0 } else { 0.0 };
            let most = 14.0 * 3.25 * (norm + public_key).sqrt();
            let found = products.centred_sums(&c_0, &c_1);
            let off = found.iter().zip(&expected).map(|(x, &y)| (x - i128::from(y)).abs() as f64);
            let (least, largest) = (most / 14.0, off.fold(0.0, f64::max));
            assert!(least < largest && largest < most, "{ring_degree}: {largest} of {most}");
        }
    }

    /// Encryptions under both keys, added up: what comes out is the sum but for their noise, 14 deviations at most.
    #[test]
    fn encryptions_under_both_keys_add_up() {
        let products = RingProducts::of_size(1024, 26).unwrap();
        let rng = &mut AesCtrRng::from_seed([3; 32]);
        let (secret, public) = products.scheme().generate_keys(rng);
        let message: Vec<i64> = (0..1024).map(|i| 10_000 * i - 5_000_000).collect();
        let (mut c_0, mut c_1) = (vec![0; 1024], vec![0; 1024]);
        let mut workspace = products.workspace();
        for _ in 0..2 {
            let mut seeded = vec![0; 1024];
            let seed =
                products.encrypt(&secret, &message, &mut seeded, &mut workspace, rng).unwrap();
            products.add_expanded(seed, &mut c_1, &mut workspace);
            products.add(&mut c_0, &seeded);
        }
        products.inverse(&mut c_1);
        let other: Vec<i64> = (0..1024).map(|i| 30_000 * i).collect();
        let [first, second] =
            products.encrypt_public(&public, &other, &mut workspace, rng).unwrap();
        products.add(&mut c_0, &first);
        products.add(&mut c_1, &second);
        products.unmask(&secret, &mut c_1).unwrap();
        let (deviation, mut largest) = (3.25 * (2.0 + 4.0 / 3.0 * 1024.0 + 1.0f64).sqrt(), 0.0f64);
        for (i, &sum) in message.iter().enumerate() {
            let expected = 2 * sum + 30_000 * i as i64;
            let q = products.modulus() as i64;
            let off = (products.centred_sum(c_0[i], c_1[i]) - expected).rem_euclid(q);
            largest = largest.max(off.min(q - off) as f64);
        }
        assert!(deviation < largest && largest < 14.0 * deviation, "{largest} {deviation}");
    }

    #[test]
    fn other_sets_and_keys_are_refused() {
        let refused = RingProducts::of_size(1024, 27).unwrap_err();
        assert!(matches!(refused, SchemeError::Security { .. }), "{refused}");
        let [small, large] = [26, 25].map(|bits| RingProducts::of_size(1024, bits).unwrap());
        let rng = &mut AesCtrRng::from_seed([1; 32]);
        let (secret, public) = large.scheme().generate_keys(rng);
        let (mut a, mut b) = (vec![0; 1024], vec![0; 1024]);
        let mut workspace = small.workspace();
        let by = large.multiplier(&[0; 1024]);
        let refusals = [
            small.encrypt(&secret, &[0; 1024], &mut a, &mut workspace, rng).err(),
            small.multiply([0; 32], &mut a, &mut b, &by).err(),
            small.rerandomise(&public, &mut a, &mut b, &mut workspace, rng).err(),
            small.encrypt_public(&public, &[0; 1024], &mut workspace, rng).err(),
            small.unmask(&secret, &mut a).err(),
        ];
        for refusal in refusals {
            assert!(matches!(refusal, Some(SchemeError::ParameterMismatch { .. })), "{refusal:?}");
        }
        let refused = |bits: &[u32], specials: usize| {
            let mut spec = small.scheme().spec().clone();
            spec.ring = hesc_math::RingIndex::power_of_two(8192).unwrap();
            spec.coeff_moduli = spec.ring.ntt_primes_of_bits(bits, 1).unwrap();
            spec.special_moduli = spec.coeff_moduli.split_off(bits.len() - specials);
            let set = Rlwe::new(spec, Assurance::Guidelines2024).unwrap();
            RingProducts::new(set).unwrap_err().to_string()
        };
        assert!(refused(&[30, 30, 30], 0).contains("one prime or two"));
        assert!(refused(&[30, 30, 30, 30], 2).contains("one special prime"));
    }

    /// Every number is what it was: the edges of the product of both primes, and one off.
    #[test]
    fn centred_sums_are_those_of_both_primes() {
        let products = RingProducts::of_sizes(4096, &[42, 49], None).unwrap();
        let q: Vec<i128> = products.primes().iter().map(|q| i128::from(q.value())).collect();
        let half = q[0] * q[1] / 2;
        let numbers: Vec<i128> = (0..4096)
            .map(|i| match i {
                0..8 => [0, 1, -1, half, -half, half - 1, 1 - half, q[0]][i],
                _ => (i as i128 * 0x9e37_79b9_7f4a_7c15_f39c) % (2 * half + 1) - half,
            })
            .collect();
        let residues = |off: i128| -> Vec<u64> {
            let row = |&q: &i128| numbers.iter().map(move |x| (x - off).rem_euclid(q) as u64);
            q.iter().flat_map(row).collect()
        };
        assert_eq!(*products.centred_sums(&residues(0), &vec![0; 8192]), numbers);
        let five = vec![5; 8192];
        assert_eq!(*products.centred_sums(&residues(5), &five), numbers);
    }

    /// A flood of two primes is of the same numbers modulo both.
    #[test]
    fn floods_are_one_noise_modulo_both_primes() {
        let products = RingProducts::of_sizes(4096, &[49, 49], None).unwrap();
        let rng = &mut AesCtrRng::from_seed([8; 32]);
        let mut words = vec![0; products.words()];
        products.flood(&mut words, 1e9, rng);
        let found = products.centred_sums(&words, &vec![0; products.words()]);
        assert!(found.iter().all(|x| x.unsigned_abs() < 9_000_000_000));
        assert!(found.iter().any(|x| x.unsigned_abs() > 1_000_000_000));
    }

    /// Mean and deviation of a thousand million's noise: a true sampler fails once in 10^9.
    #[test]
    fn floods_have_the_deviation_stated() {
        let products = RingProducts::of_size(2048, 53).unwrap();
        let rng = &mut AesCtrRng::from_seed([9; 32]);
        let (count, deviation) = (20_001, 1e12);
        let mut words = vec![5; count];
        products.flood(&mut words, deviation, rng);
        let noise: Vec<f64> = words
            .iter()
            .map(|&word| (products.centred_sum(word, 0) - 5) as f64 / deviation)
            .collect();
        let mean = noise.iter().sum::<f64>() / count as f64;
        let square = noise.iter().map(|x| x * x).sum::<f64>() / count as f64;
        assert!(mean.abs() < 6.2 / (count as f64).sqrt(), "{mean}");
        assert!((square - 1.0).abs() < 6.2 * (2.0 / count as f64).sqrt(), "{square}");
        assert!(noise.iter().all(|x| x.abs() < flooding::LARGEST_GAUSSIAN));
        // Each has a draw of its own: neighbours and others are not related. Six deviations each: 2e-8 for all.
        for (lag, found) in correlations(&noise, &[1, 2, 3, 4, 7, 8, 1023, 2047, 2048, 2049]) {
            assert!(found.abs() < 6.0, "{lag}: {found}");
        }
    }
}
