//! What a law sees of a lattice scheme with the secret key in its hand: the noise itself.

use hesc_math::{AesCtrRng, Coeff, Eval, Modulus, Poly, Word, sampling};
use hesc_schemes::streams::lattice::{Encoding, Lattice};
use hesc_schemes::streams::{Encrypt, Wire};
use rand_core::SeedableRng;

use super::frames::{self, TAGGED};
use super::parties::{Encryption, read_public_key};

/// The secrets of one public-key encryption of zeros: the mask and the noise of both parts.
pub struct Randomness {
    pub mask: Vec<i128>,
    pub noise: [Vec<i128>; 2],
}

/// Ciphertexts that are a multiple of the secret, noise and bits.
pub trait LatticeEncryption: Encryption {
    /// The values that coefficients of secrets and masks have, alike often.
    const SMALL: &'static [i128];
    /// By how much the deviation of a batch may be off what is expected: keys' norms scatter, and samples.
    const SCATTER: f64;
    /// The deviation of the noise that keys and encryptions draw.
    fn deviation(&self) -> f64;
    /// The coefficients of the secret.
    fn secret(&self, secret: &Self::SecretKey) -> Vec<i128>;
    /// What the secret leaves of a public key.
    fn key_noise(&self, secret: &Self::SecretKey, public: &Self::PublicKey) -> Vec<i128>;
    /// What the secret leaves of each block: bits and noise.
    fn phases(&self, secret: &Self::SecretKey, a: &Self::Ciphertexts) -> Vec<Vec<i128>>;
    /// The deviation that a batch claims, in the units of its phases.
    fn claimed(&self, a: &Self::Ciphertexts) -> f64;
    /// A public key whose uniform half is this one's and whose other half is a constant: an encryption of
    /// zeros under it shows its randomness.
    fn transparent(&self, public: &Self::PublicKey) -> Self::PublicKey;
    /// The randomness of each block of zeros under [`LatticeEncryption::transparent`].
    fn randomness(&self, public: &Self::PublicKey, zeros: &Self::Ciphertexts) -> Vec<Randomness>;
}

/// Refuses samples whose deviation or mean is off by more than five standard errors, which honest noise
/// exceeds once in a million, or that reach beyond `most` deviations.
pub fn assert_noise<'a>(
    samples: impl IntoIterator<Item = &'a i128>,
    deviation: f64,
    most: f64,
    what: &str,
) {
    let samples: Vec<f64> = samples.into_iter().map(|&x| x as f64 / deviation).collect();
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    assert!(mean.abs() < 5.0 / count.sqrt(), "{what}: mean {mean} of {count}");
    let spread = (samples.iter().map(|x| x * x).sum::<f64>() / count).sqrt();
    assert!((spread - 1.0).abs() < 5.0 / (2.0 * count).sqrt(), "{what}: {spread} of {deviation}");
    let largest = samples.iter().fold(0f64, |most, x| most.max(x.abs()));
    assert!(largest <= most, "{what}: {largest} deviations");
}

/// Refuses small coefficients that are not alike often: five standard errors of each count, which honest
/// ones exceed once in a million.
pub fn assert_small(samples: &[i128], values: &[i128], what: &str) {
    let (count, share) = (samples.len() as f64, 1.0 / values.len() as f64);
    let mut found = 0;
    for value in values {
        let times = samples.iter().filter(|x| *x == value).count();
        let error = (count * share * (1.0 - share)).sqrt();
        assert!(
            (times as f64 - count * share).abs() < 5.0 * error,
            "{what}: {value} {times} times"
        );
        found += times;
    }
    assert_eq!(found, samples.len(), "{what}: another value");
}

/// The polynomials of a body, as residues row after row.
fn polynomials<W: Word, E: Encoding<W>>(
    scheme: &Lattice<W, E>,
    body: &[u8],
) -> Vec<Poly<W, Coeff>> {
    let (ring, n) = (scheme.ring(), scheme.ring().ring_degree());
    let bits: Vec<u32> = ring.moduli().iter().map(|q| q.value().ilog2() + 1).collect();
    let size = n * bits.iter().sum::<u32>() as usize / 8;
    let words = |body: &[u8]| -> Vec<W> {
        let mut at = 0;
        let mut words = Vec::with_capacity(ring.poly_len());
        for &bits in &bits {
            for _ in 0..n {
                words.push(W::from_u64(frames::read_bits(body, at, bits)));
                at += bits as usize;
            }
        }
        words
    };
    body.chunks_exact(size).map(|body| Poly::new(words(body), ring)).collect()
}

/// The centred integers with these residues modulo one or two primes.
fn centred<W: Word, E: Encoding<W>>(scheme: &Lattice<W, E>, poly: &Poly<W, Coeff>) -> Vec<i128> {
    let ring = scheme.ring();
    let residues: Vec<&[W]> = poly.words().chunks_exact(ring.ring_degree()).collect();
    let value = |i: usize| match (ring.moduli(), &*residues) {
        ([p], [x]) => centre(x[i].to_u64().into(), p.value().into()),
        ([p, q], [x, y]) => {
            let (x, y) = (x[i].to_u64(), y[i].to_u64());
            let gap = q.add(y, q.neg(x % q.value()));
            let times = q.mul(gap, q.inverse(p.value() % q.value()));
            let value = u128::from(x) + u128::from(p.value()) * u128::from(times);
            centre(value, u128::from(p.value()) * u128::from(q.value()))
        }
        _ => panic!("laws have one or two primes"),
    };
    (0..ring.ring_degree()).map(value).collect()
}

fn centre(value: u128, modulus: u128) -> i128 {
    if value > modulus / 2 { value as i128 - modulus as i128 } else { value as i128 }
}

fn small<W: Word, E: Encoding<W>>(scheme: &Lattice<W, E>, coefficients: &[i128]) -> Poly<W, Eval> {
    let coefficients: Vec<i16> = coefficients.iter().map(|&x| x as i16).collect();
    let mut poly = Poly::<W, Coeff>::zero(scheme.ring());
    poly.set_small(&coefficients, scheme.ring());
    poly.forward(scheme.ring())
}

/// The uniform half of a public key, as both sides expand it.
fn uniform<W: Word, E: Encoding<W>>(scheme: &Lattice<W, E>, public: &[u8]) -> Poly<W, Eval> {
    let mut seed = [0; 32];
    seed.copy_from_slice(&public[TAGGED..TAGGED + 32]);
    let mut uniform = Poly::<W, Eval>::zero(scheme.ring());
    let seeds = &mut AesCtrRng::from_seed(seed);
    let rows = uniform.words_mut().chunks_exact_mut(scheme.ring().ring_degree());
    for (row, q) in rows.zip(scheme.ring().moduli()) {
        let rng = &mut AesCtrRng::from_seed(sampling::fresh_seed(seeds));
        sampling::fill_uniform_row(row, q.value(), rng);
    }
    uniform
}

/// What masks are multiplied with: more than twice the largest noise, less than any prime.
const TRANSPARENT: i128 = 1 << 20;

impl<W: Word, E: Encoding<W>> LatticeEncryption for Lattice<W, E> {
    const SMALL: &'static [i128] = &[-1, 0, 1];
    // Norms by two per cent, samples by one: false alarm below 1e-9.
    const SCATTER: f64 = 0.16;

    fn deviation(&self) -> f64 {
        sampling::NOISE_STANDARD_DEVIATION
    }

    fn secret(&self, secret: &Self::SecretKey) -> Vec<i128> {
        let frame = self.secret_key_to_bytes(secret);
        let trit = |i| i128::from(frames::read_bits(frames::body(&frame, TAGGED), 2 * i, 2)) - 1;
        (0..self.ring().ring_degree()).map(trit).collect()
    }

    fn key_noise(&self, secret: &Self::SecretKey, public: &Self::PublicKey) -> Vec<i128> {
        let frame = self.write(public);
        let secret = small(self, &self.secret(secret));
        let mut sum = uniform(self, &frame).mul_inverse(&secret, self.ring());
        sum.add_assign(&polynomials(self, frames::body(&frame, TAGGED + 32))[0], self.ring());
        centred(self, &sum)
    }

    fn phases(&self, secret: &Self::SecretKey, a: &Self::Ciphertexts) -> Vec<Vec<i128>> {
        let frame = self.write(a);
        let secret = small(self, &self.secret(secret));
        let polynomials = polynomials(self, frames::body(&frame, TAGGED + 20));
        let phase = |block: &[Poly<W, Coeff>]| {
            let product = block[1].clone().forward(self.ring());
            let mut sum = product.mul_inverse(&secret, self.ring());
            sum.add_assign(&block[0], self.ring());
            centred(self, &sum)
        };
        polynomials.chunks_exact(2).map(phase).collect()
    }

    fn claimed(&self, a: &Self::Ciphertexts) -> f64 {
        frames::read_f64(&self.write(a), TAGGED)
    }

    fn transparent(&self, public: &Self::PublicKey) -> Self::PublicKey {
        let n = self.ring().ring_degree();
        let bits = |q: &Modulus| q.value().ilog2() + 1;
        let forged = frames::forge(&self.write(public), |frame| {
            frame[TAGGED + 32..].fill(0);
            let mut at = 8 * (TAGGED + 32);
            for q in self.ring().moduli() {
                frames::write_bits(frame, at, bits(q), TRANSPARENT as u64);
                at += n * bits(q) as usize;
            }
        });
        read_public_key(self, &forged).unwrap()
    }

    fn randomness(&self, public: &Self::PublicKey, zeros: &Self::Ciphertexts) -> Vec<Randomness> {
        let ring = self.ring();
        let uniform = uniform(self, &self.write(public));
        let frame = self.write(zeros);
        let polynomials = polynomials(self, frames::body(&frame, TAGGED + 20));
        let open = |block: &[Poly<W, Coeff>]| {
            let first = centred(self, &block[0]);
            let mask: Vec<i128> =
                first.iter().map(|x| (x + TRANSPARENT / 2).div_euclid(TRANSPARENT)).collect();
            let product = first.iter().zip(&mask).map(|(x, u)| x - TRANSPARENT * u).collect();
            let mut rest = uniform.clone().mul_inverse(&small(self, &mask), ring);
            rest.neg_assign(ring);
            rest.add_assign(&block[1], ring);
            Randomness { mask, noise: [product, centred(self, &rest)] }
        };
        polynomials.chunks_exact(2).map(open).collect()
    }
}

#[cfg(feature = "tfhe")]
mod torus {
    use hesc_schemes::Tfhe;
    use rand_core::Rng;

    use super::*;

    fn words(body: &[u8]) -> Vec<u64> {
        body.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
    }

    /// `a s` for a binary `s`, modulo `X^N + 1` and `2^64`.
    fn product(a: &[u64], s: &[i128]) -> Vec<u64> {
        let n = a.len();
        let mut sum = vec![0u64; n];
        for at in (0..n).filter(|&at| s[at] == 1) {
            for (i, &x) in a.iter().enumerate() {
                let (to, term) = ((at + i) % n, if at + i < n { x } else { x.wrapping_neg() });
                sum[to] = sum[to].wrapping_add(term);
            }
        }
        sum
    }

    fn difference(a: &[u64], b: &[u64]) -> Vec<i128> {
        a.iter().zip(b).map(|(a, b)| i128::from(a.wrapping_sub(*b) as i64)).collect()
    }

    /// What masks are multiplied with, far above the noise.
    const CONSTANT: u32 = 60;

    fn uniform(public: &[u8], n: usize) -> Vec<u64> {
        let mut seed = [0; 32];
        seed.copy_from_slice(&public[TAGGED..TAGGED + 32]);
        let mut bytes = vec![0; 8 * n];
        AesCtrRng::from_seed(seed).fill_bytes(&mut bytes);
        words(&bytes)
    }

    impl LatticeEncryption for Tfhe {
        const SMALL: &'static [i128] = &[0, 1];
        // Binary masks and secrets have means, and partial sums of noise scatter by ten per cent.
        const SCATTER: f64 = 0.4;

        fn deviation(&self) -> f64 {
            (self.spec().log2_ring_noise + 64.0).exp2()
        }

        fn secret(&self, secret: &Self::SecretKey) -> Vec<i128> {
            let frame = self.secret_key_to_bytes(secret);
            let bit = |i| i128::from(frames::read_bits(frames::body(&frame, TAGGED), i, 1));
            (0..self.spec().ring_degree).map(bit).collect()
        }

        fn key_noise(&self, secret: &Self::SecretKey, public: &Self::PublicKey) -> Vec<i128> {
            let frame = self.write(public);
            let body = words(frames::body(&frame, TAGGED + 32));
            difference(&body, &product(&uniform(&frame, body.len()), &self.secret(secret)))
        }

        fn phases(&self, secret: &Self::SecretKey, a: &Self::Ciphertexts) -> Vec<Vec<i128>> {
            let (n, secret) = (self.spec().ring_degree, self.secret(secret));
            let all = words(frames::body(&self.write(a), TAGGED + 21));
            let phase = |block: &[u64]| difference(&block[n..], &product(&block[..n], &secret));
            all.chunks_exact(2 * n).map(phase).collect()
        }

        fn claimed(&self, a: &Self::Ciphertexts) -> f64 {
            let variance = frames::read_f64(&self.write(a), TAGGED + 13);
            variance.sqrt() * 64f64.exp2()
        }

        fn transparent(&self, public: &Self::PublicKey) -> Self::PublicKey {
            let forged = frames::forge(&self.write(public), |frame| {
                frame[TAGGED + 32..].fill(0);
                frame[TAGGED + 32..][..8].copy_from_slice(&(1u64 << CONSTANT).to_le_bytes());
            });
            read_public_key(self, &forged).unwrap()
        }

        fn randomness(
            &self,
            public: &Self::PublicKey,
            zeros: &Self::Ciphertexts,
        ) -> Vec<Randomness> {
            let n = self.spec().ring_degree;
            let uniform = uniform(&self.write(public), n);
            let all = words(frames::body(&self.write(zeros), TAGGED + 21));
            let open = |block: &[u64]| {
                let rounded = |x: &u64| x.wrapping_add(1 << (CONSTANT - 1)) >> CONSTANT;
                let mask: Vec<i128> = block[n..].iter().map(|x| rounded(x).into()).collect();
                let times: Vec<u64> = mask.iter().map(|&u| (u as u64) << CONSTANT).collect();
                let second = difference(&block[n..], &times);
                let first = difference(&block[..n], &product(&uniform, &mask));
                Randomness { mask, noise: [first, second] }
            };
            all.chunks_exact(2 * n).map(open).collect()
        }
    }
}
