//! Sums of products of several ciphertexts that tell nothing of what these were multiplied with, but for some coefficients.

use hesc_math::RngSeed;
use hesc_math::discrete_gaussian::DiscreteGaussian;
use hesc_math::ring::{Coeff, Eval, Ring, kernels, lazy_sums};
use rand_core::CryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::RingProducts;
use crate::gaussian::long_gaussian_pair;
use crate::rlwe::key_pair::{PublicKey, SecretKey};
use crate::rlwe::residues::{Residues, Row, RowMut, inner_products};
use crate::{Fingerprint, SchemeError};

/// The largest noise that is added to a number of an answer, and the largest integer that is multiplied with.
const LARGEST: f64 = (1u64 << 51) as f64;

/// Factors whose products are added up at once.
const TOGETHER: usize = 4;

/// The deviation of the second noise of a number, in units of the first.
const FINER: f64 = 1.0 / 65536.0;

/// `q m / t` in two parts.
struct Scaling {
    /// `q / t`, rounded down.
    whole: u128,
    /// What is left, of one.
    rest: f64,
}

impl Scaling {
    fn new(q: u128, plain_modulus: u64) -> Self {
        let t = u128::from(plain_modulus);
        Self { whole: q / t, rest: (q % t) as f64 / t as f64 }
    }

    /// `q m / t` less the whole part times `m`: below `m`, off by `2^-20` at most.
    fn rest(&self, m: u64) -> f64 {
        self.rest * m as f64
    }
}

/// Ciphertexts of a query, and the public key that hides the sums, as evaluations. Both parts of each, the key last.
pub struct Factors {
    params: Fingerprint,
    words: Words,
    count: usize,
}

/// Evaluations modulo all primes.
enum Words {
    /// Of primes below 2^30: both parts of each ciphertext modulo one prime after the other.
    Narrow(Vec<u32>),
    /// For each prime a row of each ciphertext, of the first parts and of the second.
    Wide([Vec<u64>; 2]),
}

/// What sums of products are computed with: tables of transforms, and the law of masks.
pub struct BlindedSums {
    products: RingProducts,
    law: DiscreteGaussian,
    /// Where all primes are below 2^30.
    narrow: Option<Ring<u32>>,
}

/// Scratch space for sums. Secrets pass through it, and it is wiped.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub struct Scratch {
    integers: Vec<i64>,
    small: Vec<i16>,
    narrow: Vec<u32>,
    wide: Vec<u64>,
}

impl RingProducts {
    /// The primes of ciphertexts.
    pub fn moduli(&self) -> impl Iterator<Item = u64> + '_ {
        self.primes().iter().map(|q| q.value())
    }

    /// What sums of products are computed with. Cost: tables of transforms.
    pub fn blinded_sums(&self) -> BlindedSums {
        let moduli: Vec<u64> = self.moduli().collect();
        let narrow = moduli.iter().all(|&q| q < 1 << lazy_sums::BITS);
        let ring = narrow.then(|| Ring::new(self.scheme().ring(), &moduli));
        BlindedSums {
            products: self.clone(),
            law: DiscreteGaussian::of_deviation_4(),
            narrow: ring.and_then(Result::ok),
        }
    }

    /// The product of all primes.
    fn product(&self) -> u128 {
        self.primes().iter().map(|q| u128::from(q.value())).product()
    }

    /// Adds `round(q m / t)` to the first residues modulo each prime, `q` the product of all, for numbers `m < t < 2^32`, `t`
    /// below each prime. No branch and no division on the numbers.
    pub fn add_scaled(&self, residues: &mut [u64], numbers: &[u64], plain_modulus: u64) {
        let scaling = Scaling::new(self.product(), plain_modulus);
        let rounded: Zeroizing<Vec<i64>> = Zeroizing::new(
            numbers.iter().map(|&m| scaling.rest(m).round_ties_even() as i64).collect(),
        );
        self.add_parts(residues, numbers, &scaling, &rounded);
    }

    /// Adds `round(q m / t + x)`, `x` normal of this deviation: rounded once, so that what rounding is off by tells nothing of
    /// `m` but what the sum tells.
    ///
    /// # Panics
    /// For deviations above 2^46; unless there are residues for each number and prime.
    pub fn add_scaled_with_noise(
        &self,
        residues: &mut [u64],
        numbers: &[u64],
        plain_modulus: u64,
        deviation: f64,
        rng: &mut impl CryptoRng,
    ) {
        assert!(deviation < LARGEST / 32.0, "noise is below 2^51");
        assert_eq!(residues.len(), numbers.len() * self.primes().len(), "a residue for each prime");
        let scaling = Scaling::new(self.product(), plain_modulus);
        let mut rounded = Zeroizing::new(Vec::with_capacity(numbers.len()));
        for pair in numbers.chunks(2) {
            // Numbers of 53 bits lie on a comb. A second noise, of 16 bits less, fills it.
            let (noise, finer) = (long_gaussian_pair(rng), long_gaussian_pair(rng));
            let noise = [(noise.re, finer.re), (noise.im, finer.im)];
            for (&m, (x, y)) in pair.iter().zip(noise) {
                let x = scaling.rest(m) + (x + y * FINER) * deviation;
                rounded.push(x.round_ties_even() as i64);
            }
        }
        self.add_parts(residues, numbers, &scaling, &rounded);
    }

    /// Adds the whole parts of `q m / t`, and what the rest was rounded to.
    fn add_parts(&self, residues: &mut [u64], numbers: &[u64], scaling: &Scaling, rounded: &[i64]) {
        let count = residues.len() / self.primes().len();
        let mut row = Zeroizing::new(vec![0; rounded.len()]);
        for (residues, q) in residues.chunks_exact_mut(count).zip(self.primes()) {
            let whole = (scaling.whole % u128::from(q.value())) as u64;
            let mut sum = RowMut::<Coeff>::assume(&mut row);
            sum.reduce_signed(rounded, q);
            sum.add_scaled(Row::assume(numbers), q.factor(whole), q);
            RowMut::<Coeff>::assume(&mut residues[..numbers.len()]).add(sum.row(), q);
        }
    }

    /// Coefficients of a polynomial at some places: residues of them modulo one prime after the other.
    pub fn at(&self, polynomial: &[u64], places: impl Iterator<Item = usize> + Clone) -> Vec<u64> {
        let rows = polynomial.chunks_exact(self.scheme().ring_degree());
        rows.flat_map(|row| places.clone().map(|place| row[place])).collect()
    }

    /// `round(2^bits x / q)` modulo `2^bits` of numbers modulo all primes, `q` their product. Cost: some products of words for
    /// each residue; no branch and no division on them.
    ///
    /// # Panics
    /// Unless `bits` are 1 to 60.
    pub fn round_to_bits(&self, residues: &[u64], bits: u32) -> Vec<u64> {
        assert!((1..=60).contains(&bits), "a word has room for it");
        let count = residues.len() / self.primes().len();
        // x / q = sum over primes of y / q_i modulo one, y = x (q / q_i)^-1 modulo q_i (Garner's other form).
        let mut sums = vec![1u64 << (63 - bits); count];
        let mut row = vec![0; count];
        let narrow = self.moduli().all(|q| q >> 32 == 0);
        for (residues, q) in residues.chunks_exact(count).zip(self.primes()) {
            let modulus = q.modulus();
            let others = (self.product() / u128::from(q.value()) % u128::from(q.value())) as u64;
            row.copy_from_slice(residues);
            RowMut::<Coeff>::assume(&mut row).scale(q.factor(modulus.inverse(others)), q);
            if narrow {
                lazy_sums::add_fractions(&mut sums, &row, (1u128 << 96) / u128::from(q.value()));
                continue;
            }
            let unit = (1u128 << 127) / u128::from(q.value());
            for (sum, &y) in sums.iter_mut().zip(&row) {
                *sum = sum.wrapping_add(((u128::from(y) * unit) >> 63) as u64);
            }
        }
        sums.iter_mut().for_each(|sum| *sum >>= 64 - bits);
        sums
    }

    /// `c_1 s` of a `c_1` modulo `2^bits`, as centred integers. Cost: two transforms for each prime.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for the key of another set.
    ///
    /// # Panics
    /// Unless the primes have room for the product of such numbers with a ternary polynomial.
    pub fn unmask_bits(
        &self,
        key: &SecretKey,
        c_1: &[u64],
        bits: u32,
    ) -> Result<Zeroizing<Vec<i128>>, SchemeError> {
        assert!(self.product() >> bits > c_1.len() as u128, "the primes have room for it");
        let signed: Vec<i64> = c_1.iter().map(|&x| centred_bits(x, bits)).collect();
        let mut words = Zeroizing::new(vec![0; self.words()]);
        for (mut row, q) in self.rows::<Coeff>(&mut words) {
            row.reduce_signed(&signed, q);
        }
        self.unmask(key, &mut words)?;
        Ok(self.centred_sums(&words, &vec![0; self.words()]))
    }
}

/// The centred representative of a number modulo `2^bits`.
fn centred_bits(x: u64, bits: u32) -> i64 {
    (x << (64 - bits)) as i64 >> (64 - bits)
}

impl BlindedSums {
    /// Ciphertexts from the seeds of their `c_1`, and their `c_0`, polynomial after polynomial, and the public key that hides what
    /// they are multiplied with. Cost: a transform for each prime and ciphertext.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for the key of another set.
    ///
    /// # Panics
    /// Unless there is a polynomial for each seed.
    pub fn factors(
        &self,
        key: &PublicKey,
        seeds: &[RngSeed],
        polynomials: &[u64],
    ) -> Result<Factors, SchemeError> {
        let (products, params) = (&self.products, self.products.scheme().fingerprint());
        key.tag.check(params, None)?;
        let (n, size, count) = (products.scheme().ring_degree(), products.words(), seeds.len());
        assert_eq!(polynomials.len(), count * size, "there is a polynomial for each seed");
        let mut uniform = vec![0; size];
        let words = if let Some(ring) = &self.narrow {
            let mut words = Vec::with_capacity(2 * (count + 1) * size);
            let narrow = |&x: &u64| x as u32;
            for (polynomial, &seed) in polynomials.chunks_exact(size).zip(seeds) {
                let start = words.len();
                words.extend(polynomial.iter().map(narrow));
                kernels::forward(&mut words[start..], ring);
                products.uniform(seed, &mut uniform);
                words.extend(uniform.iter().map(narrow));
            }
            key.components.iter().for_each(|part| words.extend(part[..size].iter().map(narrow)));
            Words::Narrow(words)
        } else {
            let [mut c_0, mut c_1] = [(); 2].map(|()| vec![0; (count + 1) * size]);
            for factor in 0..=count {
                let own = match seeds.get(factor) {
                    Some(&seed) => {
                        products.uniform(seed, &mut uniform);
                        [&polynomials[factor * size..][..size], &uniform]
                    }
                    None => [&key.components[0][..size], &key.components[1][..size]],
                };
                for (prime, q) in products.primes().iter().enumerate() {
                    let (of_prime, to) =
                        (prime * n..(prime + 1) * n, (prime * (count + 1) + factor) * n);
                    c_0[to..][..n].copy_from_slice(&own[0][of_prime.clone()]);
                    if factor < count {
                        RowMut::<Coeff>::assume(&mut c_0[to..][..n]).forward(q);
                    }
                    c_1[to..][..n].copy_from_slice(&own[1][of_prime]);
                }
            }
            Words::Wide([c_0, c_1])
        };
        Ok(Factors { params, words, count })
    }

    /// The sum of factors times polynomials of integers, plus an encryption of zero under the public key, as coefficients. `c_1` is
    /// pseudorandom then, whatever the polynomials are.
    ///
    /// `polynomial` writes one for each factor, of integers below each prime in absolute value, and below 2^51.
    ///
    /// The encryption of zero is `(b u, a u + e)` with Gaussian `u` and `e` of deviation 4. Its `c_0` has no error of its own: who
    /// sends coefficients of it adds noise to them first ([`RingProducts::add_scaled_with_noise`]). Cost: a transform for each polynomial
    /// and prime, three for each prime besides.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for factors of another set.
    ///
    /// # Panics
    /// Unless both sums have room for a polynomial.
    pub fn compute<R: CryptoRng>(
        &self,
        factors: &Factors,
        mut polynomial: impl FnMut(usize, &mut [i64], &mut R),
        [c_0, c_1]: [&mut [u64]; 2],
        scratch: &mut Scratch,
        rng: &mut R,
    ) -> Result<(), SchemeError> {
        let products = &self.products;
        products.scheme().check_params(factors.params)?;
        let (n, count) = (products.scheme().ring_degree(), factors.count);
        scratch.integers.resize(n, 0);
        scratch.small.resize(n, 0);
        let mut next = |factor: usize, integers: &mut [i64], small: &mut [i16], rng: &mut R| {
            if factor < count {
                return polynomial(factor, integers, rng);
            }
            // The mask times the key is one term more.
            self.law.fill(small, rng);
            integers.iter_mut().zip(small).for_each(|(x, &mut small)| *x = i64::from(small));
        };
        match (&factors.words, &self.narrow) {
            (Words::Narrow(words), Some(ring)) => {
                let size = products.words();
                scratch.narrow.resize(TOGETHER * size, 0);
                let Scratch { integers, small, narrow, .. } = &mut *scratch;
                let mut terms = 0;
                c_0.fill(0);
                c_1.fill(0);
                for (group, pairs) in words.chunks(2 * size * TOGETHER).enumerate() {
                    let own = &mut narrow[..pairs.len() / 2];
                    for (factor, polynomial) in own.chunks_exact_mut(size).enumerate() {
                        next(group * TOGETHER + factor, integers, small, rng);
                        for (row, q) in polynomial.chunks_exact_mut(n).zip(products.moduli()) {
                            lazy_sums::residues(row, integers, q);
                        }
                        kernels::forward(polynomial, ring);
                    }
                    // What is reduced counts as none: it is below a modulus.
                    terms += own.len() / size;
                    if terms > lazy_sums::MOST_TERMS {
                        self.reduce(c_0);
                        self.reduce(c_1);
                        terms = own.len() / size;
                    }
                    lazy_sums::add_products(c_0, own, pairs, 2 * size);
                    lazy_sums::add_products(c_1, own, &pairs[size..], 2 * size);
                }
                let narrow = &mut narrow[..size];
                for sums in [&mut *c_0, &mut *c_1] {
                    self.reduce(sums);
                    narrow.iter_mut().zip(&*sums).for_each(|(x, &sum)| *x = sum as u32);
                    kernels::inverse(narrow, ring);
                    sums.iter_mut().zip(&*narrow).for_each(|(sum, &x)| *sum = u64::from(x));
                }
            }
            (Words::Wide(parts), _) => {
                scratch.wide.resize((count + 1) * products.words(), 0);
                let Scratch { integers, small, wide, .. } = &mut *scratch;
                for factor in 0..=count {
                    next(factor, integers, small, rng);
                    let rows = RowMut::<Coeff>::all(wide, n).skip(factor).step_by(count + 1);
                    for (mut row, q) in rows.zip(products.primes()) {
                        row.reduce_signed(integers, q);
                        row.forward(q);
                    }
                }
                let [first, second] =
                    parts.each_ref().map(|x| Residues::<Eval>::assume(x, count + 1, n));
                let weights = Residues::<Eval>::assume(wide, count + 1, n);
                let sums = products.rows::<Eval>(c_0).zip(products.rows::<Eval>(c_1)).enumerate();
                for (prime, ((mut x, q), (mut y, _))) in sums {
                    let pairs = first.rows(prime).zip(second.rows(prime)).map(|(a, b)| [a, b]);
                    inner_products([x.reborrow(), y.reborrow()], weights.rows(prime), pairs, q);
                    x.inverse(q);
                    y.inverse(q);
                }
            }
            (Words::Narrow(_), None) => unreachable!("factors of this set are made so"),
        }
        self.law.fill(&mut scratch.small, rng);
        for (mut row, q) in products.rows::<Coeff>(c_1) {
            row.add_small(&scratch.small, q);
        }
        Ok(())
    }

    /// Sums modulo each prime.
    fn reduce(&self, sums: &mut [u64]) {
        let rows = sums.chunks_exact_mut(self.products.scheme().ring_degree());
        rows.zip(self.products.moduli()).for_each(|(row, q)| lazy_sums::reduce(row, q));
    }
}

#[cfg(test)]
mod tests {
    use hesc_math::AesCtrRng;
    use rand_core::{Rng as _, SeedableRng};

    use super::*;

    /// Sums of products by their definition, plus the encryption of zero: the phase is that sum but for noise.
    #[test]
    fn sums_are_those_of_the_polynomials() {
        // Narrow primes with more terms than a sum has room for at once, and wide ones.
        for (ring_degree, primes, blocks) in [
            (2048, &[27, 26][..], 31),
            (4096, &[30, 30], 14),
            (4096, &[58], 3),
            (4096, &[34, 33], 3),
        ] {
            let products = RingProducts::of_sizes(ring_degree, primes, None).unwrap();
            let rng = &mut AesCtrRng::from_seed([ring_degree as u8 + primes[0] as u8; 32]);
            let (secret, public) = products.scheme().generate_keys(rng);
            let (t, g) = (1009, 30);
            let mut workspace = products.workspace();
            let (mut seeds, mut words, mut messages) = (vec![], vec![], vec![]);
            for block in 0..blocks {
                let mut c_0 = vec![0; products.words()];
                let none = vec![0; ring_degree];
                seeds
                    .push(products.encrypt(&secret, &none, &mut c_0, &mut workspace, rng).unwrap());
                let message: Vec<u64> = (0..g).map(|i| (i * i + 7 * block) % t).collect();
                products.add_scaled(&mut c_0, &message, t);
                words.extend(c_0);
                messages.push(message);
            }
            let sums = products.blinded_sums();
            let factors = sums.factors(&public, &seeds, &words).unwrap();
            let polynomials: Vec<i64> =
                (0..blocks as usize * ring_degree).map(|_| rng.next_u64() as i64 >> 50).collect();
            let (mut c_0, mut c_1) = (vec![0; products.words()], vec![0; products.words()]);
            let given = |block: usize, out: &mut [i64], _: &mut AesCtrRng| {
                out.copy_from_slice(&polynomials[block * ring_degree..][..ring_degree]);
            };
            let scratch = &mut Scratch::default();
            sums.compute(&factors, given, [&mut c_0, &mut c_1], scratch, rng).unwrap();
            // The sum modulo t of the definition.
            let n = ring_degree;
            let mut expected = vec![0i64; n];
            for (block, message) in messages.iter().enumerate() {
                for (i, &m) in message.iter().enumerate() {
                    for (j, &w) in polynomials[block * n..][..n].iter().enumerate() {
                        let sign = if i + j < n { 1 } else { -1 };
                        expected[(i + j) % n] += sign * m as i64 * w;
                    }
                }
            }
            let places = (g as usize - 1..n).step_by(g as usize);
            let mut answer = products.at(&c_0, places.clone());
            let none = vec![0; answer.len() / products.moduli().count()];
            products.add_scaled_with_noise(&mut answer, &none, t, 1e6, rng);
            let bits = 30;
            let (low, c_1) =
                (products.round_to_bits(&answer, bits), products.round_to_bits(&c_1, bits));
            let masks = products.unmask_bits(&secret, &c_1, bits).unwrap();
            for (place, low) in places.zip(low) {
                let phase = (masks[place] + i128::from(low)).rem_euclid(1 << bits);
                let number = ((phase * i128::from(t) + (1 << (bits - 1))) >> bits) as i64;
                let expected = expected[place].rem_euclid(t as i64);
                assert_eq!(number % t as i64, expected, "{ring_degree} {primes:?} {place}");
            }
        }
    }

    /// What noise and rounding are off by is centred and of one deviation, whatever the number is: rounded first, thirds
    /// of one would be left of some. A true sampler fails once in 10^8.
    #[test]
    fn numbers_with_noise_are_off_by_the_noise_alone() {
        let products = RingProducts::of_sizes(4096, &[42, 49], None).unwrap();
        let rng = &mut AesCtrRng::from_seed([11; 32]);
        let q = products.product() as f64;
        let (t, count, deviation) = (6, 40_000, 3.0);
        for m in 0..t {
            let exact = products.product() / u128::from(t) * u128::from(m);
            let rest = (products.product() % u128::from(t)) as f64 * m as f64 / t as f64;
            let mut residues = vec![0; 2 * count];
            products.add_scaled_with_noise(&mut residues, &vec![m; count], t, deviation, rng);
            let moduli: Vec<u128> = products.moduli().map(u128::from).collect();
            // Below both primes.
            let off: Vec<f64> = residues[..count]
                .iter()
                .zip(&residues[count..])
                .map(|(&x, &y)| {
                    let [x, y] = [(x, moduli[0]), (y, moduli[1])].map(|(x, q)| {
                        let off = (u128::from(x) + q - exact % q) % q;
                        if off > q / 2 { off as f64 - q as f64 } else { off as f64 }
                    });
                    assert!((x - y).abs() < 0.5, "{x} {y} of {q}");
                    x - rest
                })
                .collect();
            let mean = off.iter().sum::<f64>() / count as f64;
            let square = off.iter().map(|x| x * x).sum::<f64>() / count as f64;
            let law = deviation * deviation + 1.0 / 12.0;
            assert!(mean.abs() < 6.0 * (law / count as f64).sqrt(), "{m}: {mean}");
            assert!(
                (square / law - 1.0).abs() < 6.0 * (2.0 / count as f64).sqrt(),
                "{m}: {square}"
            );
        }
    }

    /// Rounding of numbers modulo both primes: by the definition, ends included.
    #[test]
    fn numbers_are_rounded_to_the_nearest() {
        let products = RingProducts::of_sizes(4096, &[42, 49], None).unwrap();
        let q: Vec<u128> = products.moduli().map(u128::from).collect();
        let whole = q[0] * q[1];
        let numbers: Vec<u128> = (0..500u128)
            .map(|i| match i {
                0..6 => [0, 1, whole / 2, whole - 1, whole / 2 + 1, q[0]][i as usize],
                _ => (i * i * 0x9e37_79b9_7f4a_7c15_f39c) % whole,
            })
            .collect();
        let residues: Vec<u64> =
            q.iter().flat_map(|q| numbers.iter().map(move |x| (x % q) as u64)).collect();
        for bits in [1, 20, 36] {
            for (x, found) in numbers.iter().zip(products.round_to_bits(&residues, bits)) {
                let expected = ((x << bits) + whole / 2) / whole % (1 << bits);
                assert_eq!(u128::from(found), expected, "{x} {bits}");
            }
        }
    }
}
