//! Wire forms, taken apart with the secret key in hand: what is in them, computed here from the format's
//! description and the definition of the schemes.

use hesc_math::residues::kernels;
use hesc_math::ring::{Embedding, Prime};
use hesc_math::rns::Composition;
use hesc_math::{AesCtrRng, RingIndex, RngSeed, sampling};
use hesc_schemes::Complex64;
use hesc_schemes::rlwe::PlaintextSpace;
use hesc_schemes::rlwe::{Ciphertext, GaloisKeys, Rlwe, SchemeKind, SecretKey, SwitchKey};
use hesc_schemes::wire::{Kind, Reader};
use rand_core::SeedableRng;
use std::f64::consts::PI;

use super::party::Party;

/// Polynomials by their coefficients, for each prime.
pub type Rows = Vec<Vec<u64>>;

/// A set and a secret key as tables of this test.
pub struct Opened {
    pub ring: RingIndex,
    pub degree: usize,
    pub primes: Vec<Prime>,
    pub levels: usize,
    pub scheme: SchemeKind,
    /// The plaintext modulus; 1 in CKKS.
    pub t: u64,
    pub trits: Vec<i64>,
}

/// What a ciphertext's wire form says.
pub struct Said {
    pub scale: f64,
    pub deviation: f64,
    pub values: f64,
    pub peak: f64,
    pub magnitude: f64,
    /// Which primes it has.
    pub places: Vec<usize>,
    /// For each part its rows.
    pub parts: Vec<Rows>,
}

/// A key of pairs `(b, a)`.
pub struct Pairs {
    pub seed: RngSeed,
    /// For each digit the first parts, and the expanded second ones.
    pub digits: Vec<(Rows, Rows)>,
}

fn skip_tag(reader: &mut Reader<'_>) {
    reader.bytes(32).unwrap();
}

/// The trits of a secret key, -1 to 1.
pub fn trits(scheme: &Rlwe, key: &SecretKey) -> Vec<i64> {
    let bytes = scheme.secret_key_to_bytes(key);
    let mut reader = Reader::open(&bytes, Kind::SecretKey).unwrap();
    skip_tag(&mut reader);
    reader
        .packed::<u32>(scheme.ring_degree(), 2)
        .unwrap()
        .iter()
        .map(|&x| i64::from(x) - 1)
        .collect()
}

impl Opened {
    pub fn new(p: &Party) -> Self {
        let spec = p.scheme.spec();
        let primes = spec.coeff_moduli.iter().chain(&spec.special_moduli);
        Self {
            ring: p.scheme.ring(),
            degree: p.scheme.ring_degree(),
            primes: primes.map(|&q| Prime::new(p.scheme.ring(), q).unwrap()).collect(),
            levels: spec.coeff_moduli.len(),
            scheme: spec.scheme,
            t: match spec.plaintext {
                PlaintextSpace::Integers { plain_modulus } => plain_modulus,
                PlaintextSpace::Approximate { .. } => 1,
            },
            trits: trits(&p.scheme, &p.secret),
        }
    }

    /// The values of a polynomial at the complex roots of unity.
    pub fn values(&self, coefficients: &[f64]) -> Vec<Complex64> {
        if !self.ring.is_power_of_two() {
            let values = Embedding::new(self.ring).values(coefficients);
            return values.into_iter().map(|[re, im]| Complex64::new(re, im)).collect();
        }
        let n = coefficients.len();
        let twist = |j: usize| Complex64::from_polar(1.0, PI * j as f64 / n as f64);
        let mut values: Vec<Complex64> =
            coefficients.iter().enumerate().map(|(j, &c)| twist(j) * c).collect();
        rustfft::FftPlanner::new().plan_fft_inverse(n).process(&mut values);
        values
    }

    /// The sum of the products of the values of two polynomials with conjugates, divided by their number: in
    /// power-of-two rings that of the products of their coefficients.
    pub fn common(&self, x: &[i64], y: &[i64]) -> f64 {
        if self.ring.is_power_of_two() {
            return x.iter().zip(y).map(|(x, y)| x * y).sum::<i64>() as f64;
        }
        let [x, y] = [x, y].map(|a| self.values(&a.iter().map(|&a| a as f64).collect::<Vec<_>>()));
        x.iter().zip(&y).map(|(x, y)| (x * y.conj()).re).sum::<f64>() / self.degree as f64
    }

    /// How many times larger the variance of an error is, at a root of unity, than of a coefficient that was
    /// drawn, divided by their number: `m / N` in odd rings.
    pub fn error_factor(&self) -> f64 {
        self.ring.embedding_factor().powi(2)
    }

    /// What noise is multiplied with.
    pub fn noise_factor(&self) -> i64 {
        if self.scheme == SchemeKind::Bgv { self.t as i64 } else { 1 }
    }

    fn read_row(&self, reader: &mut Reader<'_>, row: usize) -> Vec<u64> {
        let bits = self.primes[row].value().ilog2() + 1;
        // Polynomials of a row follow each other without a gap: a multiple of eight bits each.
        reader.packed(self.degree, bits).unwrap()
    }

    /// A ciphertext by its wire form.
    pub fn ciphertext(&self, scheme: &Rlwe, a: &Ciphertext) -> Said {
        let bytes = scheme.ciphertext_to_bytes(a);
        let mut reader = Reader::open(&bytes, Kind::VectorCiphertext).unwrap();
        skip_tag(&mut reader);
        let (level, size) = (usize::from(reader.u8().unwrap()), usize::from(reader.u8().unwrap()));
        // The plaintext's factor.
        reader.u64().unwrap();
        let [scale, deviation, values, peak, magnitude] =
            std::array::from_fn(|_| reader.f64().unwrap());
        reader.u32().unwrap();
        let mut parts = vec![Rows::new(); size];
        let places: Vec<usize> = match scheme.spec().levels.get(level - 1) {
            Some(set) => set.places().collect(),
            None => (0..level).collect(),
        };
        for &place in &places {
            for part in &mut parts {
                part.push(self.read_row(&mut reader, place));
            }
        }
        reader.finish().unwrap();
        Said { scale, deviation, values, peak, magnitude, places, parts }
    }

    /// The uniform polynomial of a row, from its seed: it is drawn as evaluations.
    fn uniform(&self, seed: RngSeed, row: usize) -> Vec<u64> {
        let prime = &self.primes[row];
        let mut words = vec![0; self.degree];
        sampling::fill_uniform_row(&mut words, prime.value(), &mut AesCtrRng::from_seed(seed));
        prime.inverse(&mut words);
        words
    }

    /// The public key, as a switching key of one digit without special primes.
    pub fn public_key(&self, bytes: &[u8]) -> Pairs {
        let mut reader = Reader::open(bytes, Kind::PublicKey).unwrap();
        skip_tag(&mut reader);
        let pairs = self.pairs(&mut reader, self.levels, 1);
        reader.finish().unwrap();
        pairs
    }

    /// A key of a kind that holds one switching key.
    pub fn one_key(&self, kind: Kind, bytes: &[u8]) -> Pairs {
        let mut reader = Reader::open(bytes, kind).unwrap();
        skip_tag(&mut reader);
        let pairs = self.pairs(&mut reader, self.primes.len(), self.digit_count());
        reader.finish().unwrap();
        pairs
    }

    /// Rotation keys with their exponents.
    pub fn galois_keys(&self, scheme: &Rlwe, keys: &GaloisKeys) -> Vec<(usize, Pairs)> {
        let bytes = scheme.galois_keys_to_bytes(keys);
        let mut reader = Reader::open(&bytes, Kind::GaloisKeys).unwrap();
        skip_tag(&mut reader);
        let count = reader.u32().unwrap();
        let all = (0..count).map(|_| {
            let element = reader.u32().unwrap() as usize;
            (element, self.pairs(&mut reader, self.primes.len(), self.digit_count()))
        });
        let all = all.collect();
        reader.finish().unwrap();
        all
    }

    pub fn switch_key(&self, scheme: &Rlwe, key: &SwitchKey) -> Pairs {
        self.one_key(Kind::SwitchKey, &scheme.switch_key_to_bytes(key))
    }

    fn digit_count(&self) -> usize {
        self.levels.div_ceil(self.primes.len() - self.levels)
    }

    fn pairs(&self, reader: &mut Reader<'_>, rows: usize, digits: usize) -> Pairs {
        let seed: RngSeed = reader.array().unwrap();
        let mut seeds = AesCtrRng::from_seed(seed);
        let mut all = vec![(Rows::new(), Rows::new()); digits];
        for row in 0..rows {
            for digit in &mut all {
                digit.0.push(self.read_row(reader, row));
                digit.1.push(self.uniform(sampling::fresh_seed(&mut seeds), row));
            }
        }
        Pairs { seed, digits: all }
    }

    /// A product of polynomials modulo a prime.
    pub fn product(&self, row: usize, a: &[u64], b: &[u64]) -> Vec<u64> {
        let prime = &self.primes[row];
        let [mut a, mut b] = [a.to_vec(), b.to_vec()];
        prime.forward(&mut a);
        prime.forward(&mut b);
        kernels::multiply_assign(&mut a, &b, prime);
        prime.inverse(&mut a);
        a
    }

    /// Small integers modulo a prime.
    pub fn residues(&self, row: usize, values: &[i64]) -> Vec<u64> {
        let q = self.primes[row].value() as i64;
        values.iter().map(|v| v.rem_euclid(q) as u64).collect()
    }

    /// Centred residues.
    pub fn centred(&self, row: usize, words: &[u64]) -> Vec<i64> {
        let q = self.primes[row].value() as i64;
        let next_to_zero = |x: i64| if x > q / 2 { x - q } else { x };
        words.iter().map(|&x| next_to_zero(x as i64)).collect()
    }

    /// `c_0 + c_1 s + c_2 s^2 + ...` modulo each prime of the level.
    fn phase(&self, said: &Said) -> Rows {
        let parts = &said.parts;
        let one_row = |(row, &place): (usize, &usize)| {
            let prime = &self.primes[place];
            let secret = self.residues(place, &self.trits);
            let mut sum = parts[parts.len() - 1][row].clone();
            for part in parts.iter().rev().skip(1) {
                sum = self.product(place, &sum, &secret);
                kernels::add(&mut sum, &part[row], prime);
            }
            sum
        };
        said.places.iter().enumerate().map(one_row).collect()
    }

    /// The noise of a ciphertext, of BFV and, with the plaintext in it, of BGV and CKKS.
    pub fn noise(&self, said: &Said) -> Vec<f64> {
        let mut phase = self.phase(said);
        let primes: Vec<Prime> = said.places.iter().map(|&at| self.primes[at].clone()).collect();
        let mut divisor = 1.0;
        if self.scheme == SchemeKind::Bfv {
            // The phase is Q m / t + v, hence t times it is t v modulo Q.
            for (row, prime) in phase.iter_mut().zip(&primes) {
                kernels::scale(row, prime.factor(self.t), prime);
            }
            divisor = self.t as f64;
        }
        let mut noise = vec![0.0; self.degree];
        Composition::new(&primes).centred(&mut noise, &mut phase.concat());
        noise.iter().map(|x| x / divisor).collect()
    }

    /// `b + a s` in each row of a pair.
    pub fn remainder(&self, (b, a): &(Rows, Rows), secret: &[i64]) -> Rows {
        (0..b.len())
            .map(|row| {
                let mut sum = self.product(row, &a[row], &self.residues(row, secret));
                kernels::add(&mut sum, &b[row], &self.primes[row]);
                sum
            })
            .collect()
    }
}
