//! Several ciphertexts with one second part: under as many secrets, which follow from one (Peikert, Vaikuntanathan and Waters
//! 2008, for lattices without rings).
//!
//! Ciphertexts `(c_0i, c_1i)` under `s` become `(b_1, ..., b_k, a)` with `b_v + a s_v` the message of the `v`-th, by keys
//!
//! ```text
//! (b_i1, ..., b_ik, a_i),  b_iv = -(a_i s_v) + e_iv + P [v = i] s
//! ```
//!
//! modulo the prime and the special one, `P`: `a = round(1/P sum_i c_1i a_i)` and `b_v = c_0v + round(1/P sum_i c_1i b_iv)`. The
//! keys of one `v` are ring-LWE samples under `s_v`, and nothing else is under it: one `v` after the other is uniform to whoever
//! knows the other secrets, `k` times the advantage in all.

use hesc_math::residues::Factor;
use hesc_math::ring::{Coeff, Eval, Prime};
use hesc_math::sampling::{self, Sampler};
use hesc_math::{AesCtrRng, RngSeed};
use rand_core::{CryptoRng, SeedableRng};
use zeroize::Zeroizing;

use super::RingProducts;
use crate::error::refuse;
use crate::rlwe::key_pair::{SecretKey, residue_seeds};
use crate::rlwe::residue_wire::{read_residues, residues_length, write_residues};
use crate::rlwe::residues::{Row, RowMut, inner_products};
use crate::wire::{Reader, SEED, Writer};
use crate::{KeyId, SchemeError};

/// The prime of ciphertexts, and the special one.
const PRIMES: usize = 2;

/// The secrets that follow from one.
pub struct SharedSecrets {
    key: KeyId,
    secrets: Vec<SecretKey>,
}

/// What gives ciphertexts of a key pair one second part.
pub struct SharingKeys {
    products: RingProducts,
    key: KeyId,
    seed: RngSeed,
    count: usize,
    /// For each ciphertext the key of the second part and those of all first parts, each modulo both primes.
    words: Vec<u64>,
    /// The special prime, and its inverse.
    special: Factor,
    inverse: Factor,
}

impl SharedSecrets {
    /// As many as there are.
    pub fn count(&self) -> usize {
        self.secrets.len()
    }

    /// One of them, for the secret that they follow from.
    ///
    /// # Errors
    /// [`SchemeError::KeyMismatch`] for another one.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn of(&self, key: &SecretKey, which: usize) -> Result<&SecretKey, SchemeError> {
        if key.key_id() != self.key {
            return Err(SchemeError::KeyMismatch { expected: self.key, found: key.key_id() });
        }
        Ok(&self.secrets[which])
    }
}

impl RingProducts {
    /// So many secrets that follow from one, by a hash: whoever does not know that one has no use for these. Cost: key pairs.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for the key of another set.
    pub fn shared_secrets(
        &self,
        key: &SecretKey,
        count: usize,
    ) -> Result<SharedSecrets, SchemeError> {
        key.tag.check(self.scheme().fingerprint(), None)?;
        let bytes = self.scheme().secret_key_to_bytes(key);
        let secret = |which: usize| {
            let mut material = Zeroizing::new(Vec::with_capacity(bytes.len() + size_of::<u64>()));
            material.extend_from_slice(&bytes);
            material.extend_from_slice(&(which as u64).to_le_bytes());
            let seed = Zeroizing::new(blake3::derive_key("hesc 2026 shared secrets", &material));
            self.scheme().generate_keys(&mut AesCtrRng::from_seed(*seed)).0
        };
        Ok(SharedSecrets { key: key.key_id(), secrets: (0..count).map(secret).collect() })
    }

    /// Both primes, of a set of one and a special one.
    fn sharing_primes(&self) -> Result<[&Prime; PRIMES], SchemeError> {
        self.scheme().check_switches()?;
        match self.primes() {
            [q] => Ok([q, &self.scheme().chain().special()[0]]),
            primes => refuse("coeff_moduli", primes.len(), "sharing takes sets of one prime"),
        }
    }

    /// Keys that are to be filled: the seconds parts' from a seed.
    fn sharing(&self, key: KeyId, seed: RngSeed, count: usize) -> Result<SharingKeys, SchemeError> {
        let primes = self.sharing_primes()?;
        let n = self.scheme().ring_degree();
        let [q, p] = primes;
        let special = p.value() % q.value();
        let mut sharing = SharingKeys {
            products: self.clone(),
            key,
            seed,
            count,
            words: vec![0; count * (count + 1) * PRIMES * n],
            special: q.factor(special),
            inverse: q.factor(q.modulus().inverse(special)),
        };
        let seeds = residue_seeds(seed, count * PRIMES);
        for (at, seed) in seeds.into_iter().enumerate() {
            let (i, prime) = (at / PRIMES, at % PRIMES);
            let row = RowMut::over(&mut sharing.words[place(n, count, i, 0, prime)..][..n]);
            let _ = row.uniform::<Eval>(seed, primes[prime]);
        }
        Ok(sharing)
    }

    /// Keys that give ciphertexts under a secret one second part, as many as secrets follow from it.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for other keys; [`SchemeError::Parameter`] for a set of
    /// two primes or without a special one.
    pub fn generate_sharing(
        &self,
        key: &SecretKey,
        shared: &SharedSecrets,
        rng: &mut impl CryptoRng,
    ) -> Result<SharingKeys, SchemeError> {
        key.tag.check(self.scheme().fingerprint(), None)?;
        let primes = self.sharing_primes()?;
        let (n, count) = (self.scheme().ring_degree(), shared.count());
        let mut sharing = self.sharing(key.key_id(), sampling::fresh_seed(rng), count)?;
        let mut sampler = Sampler::new(self.scheme().ring());
        let mut product = Zeroizing::new(vec![0; n]);
        for i in 0..count {
            for v in 0..count {
                sampler.sample_centred_binomial(rng);
                let secret = self.residues::<Eval>(&shared.of(key, v)?.words);
                for (prime, q) in primes.into_iter().enumerate() {
                    let (second, first) =
                        (place(n, count, i, 0, prime), place(n, count, i, v + 1, prime));
                    let (before, from) = sharing.words.split_at_mut(first);
                    let a = Row::assume(&before[second..][..n]);
                    let product = RowMut::over(&mut product).product(a, secret.row(prime), q);
                    let out = RowMut::over(&mut from[..n]).small(sampler.coefficients(), q);
                    let mut out = out.forward(q);
                    out.subtract(product.row(), q);
                    if v == i && prime == 0 {
                        let own = self.residues::<Eval>(&key.words);
                        out.add_scaled(own.row(0), sharing.special, q);
                    }
                }
            }
        }
        Ok(sharing)
    }

    /// Bytes of keys that give so many ciphertexts one second part, of a set with a special prime.
    pub fn sharing_bytes(&self, count: usize) -> usize {
        let moduli = self.scheme().chain().primes().iter().map(|q| q.value());
        let each = residues_length(self.scheme().ring_degree(), moduli);
        SEED + count * count * each
    }

    /// Reads what [`SharingKeys::write`] wrote.
    ///
    /// # Errors
    /// [`SchemeError::Wire`]; as [`Self::generate_sharing`].
    pub fn read_sharing(
        &self,
        reader: &mut Reader<'_>,
        key: KeyId,
        count: usize,
    ) -> Result<SharingKeys, SchemeError> {
        let primes = self.sharing_primes()?;
        let n = self.scheme().ring_degree();
        let mut sharing = self.sharing(key, reader.array()?, count)?;
        for i in 0..count {
            for v in 1..=count {
                let moduli = primes.iter().map(|q| q.value());
                let words = read_residues(reader, n, moduli)?;
                let to = &mut sharing.words[place(n, count, i, v, 0)..][..PRIMES * n];
                to.copy_from_slice(&words);
                for (row, q) in RowMut::<Coeff>::all(to, n).zip(primes) {
                    let _ = row.forward(q);
                }
            }
        }
        Ok(sharing)
    }
}

/// Where the key of a ciphertext for a part modulo a prime begins.
fn place(n: usize, count: usize, i: usize, part: usize, prime: usize) -> usize {
    ((i * (count + 1) + part) * PRIMES + prime) * n
}

impl SharingKeys {
    /// The key pair's public name.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// Ciphertexts that share a second part, at most.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Refuses another set.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`].
    pub fn check(&self, set: &RingProducts) -> Result<(), SchemeError> {
        set.scheme().check_params(self.products.scheme().fingerprint())
    }

    /// Appends its seed, and the coefficients of what does not follow from that.
    pub fn write(&self, writer: &mut Writer) {
        let primes = [&self.products.primes()[0], self.special_prime()];
        let n = self.products.scheme().ring_degree();
        writer.bytes(&self.seed);
        for i in 0..self.count {
            for v in 1..=self.count {
                let from = &self.words[place(n, self.count, i, v, 0)..][..PRIMES * n];
                let mut words = from.to_vec();
                for (row, q) in RowMut::<Eval>::all(&mut words, n).zip(primes) {
                    let _ = row.inverse(q);
                }
                write_residues(writer, &words, n, primes.iter().map(|q| q.value()));
            }
        }
    }

    fn special_prime(&self) -> &Prime {
        &self.products.scheme().chain().special()[0]
    }

    fn key(&self, i: usize, part: usize, prime: usize) -> Row<'_, Eval> {
        let n = self.products.scheme().ring_degree();
        Row::assume(&self.words[place(n, self.count, i, part, prime)..][..n])
    }

    /// Ciphertexts, both parts of each as evaluations, as coefficients of one second part and of a first part for each. Cost: four
    /// transforms for each, and two.
    ///
    /// # Panics
    /// For more ciphertexts than there are keys for, or none, an output that has not a polynomial more than there are, and less
    /// scratch than two more than that.
    pub fn share(&self, ciphertexts: &[&[u64]], out: &mut [u64], scratch: &mut [u64]) {
        let (q, p) = (&self.products.primes()[0], self.special_prime());
        let n = self.products.scheme().ring_degree();
        let parts: Vec<_> = ciphertexts.iter().map(|parts| parts.split_at(n)).collect();
        let count = parts.len();
        assert!((1..=self.count).contains(&count), "there is a key for each ciphertext");
        assert_eq!(out.len(), (count + 1) * n, "a first part for each, and a second one");
        let (lifted, rest) = scratch[..(count + 3) * n].split_at_mut(count * n);
        for (out, (_, c_1)) in lifted.chunks_exact_mut(n).zip(&parts) {
            let digit = RowMut::over(&mut rest[..n]).copy(Row::<Eval>::assume(c_1)).inverse(q);
            let _ = RowMut::over(out).recentre(digit.row(), q.value(), p).forward(p);
        }
        let lifted = &*lifted;
        let (high, rest) = rest.split_at_mut(2 * n);
        let mut spare = vec![0; n];
        for (pair, out) in out.chunks_mut(2 * n).enumerate() {
            // The last of an odd number of parts comes with itself.
            let [first, second] = [2 * pair, (2 * pair + 1).min(count)];
            let (out, other) = out.split_at_mut(n);
            let other = if other.is_empty() { &mut spare[..] } else { other };
            let keys = |prime| {
                (0..count).map(move |i| [self.key(i, first, prime), self.key(i, second, prime)])
            };
            let own = parts.iter().map(|(_, c_1)| Row::assume(c_1));
            let sums = [&mut *out, other].map(RowMut::over);
            let sums = inner_products(sums, own, keys(0), q);
            let (x, y) = high.split_at_mut(n);
            let own = lifted.chunks_exact(n).map(Row::assume);
            let of_special = inner_products([x, y].map(RowMut::over), own, keys(1), p);
            for ((mut sum, of_special), part) in
                sums.into_iter().zip(of_special).zip([first, second])
            {
                if let Some((c_0, _)) = part.checked_sub(1).map(|block| parts[block]) {
                    sum.add_scaled(Row::assume(c_0), self.special, q);
                }
                let of_special = of_special.inverse(p);
                let rest = RowMut::over(rest).recentre(of_special.row(), p.value(), q);
                sum.inverse(q).subtract_and_scale(rest.row(), self.inverse, q);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rlwe::noise::switch_square;
    use crate::wire::Kind;

    /// As many messages as there are secrets, and fewer, each read with its own: off by the law's noise.
    #[test]
    fn messages_are_read_with_secrets_of_their_own() {
        for (ring_degree, bits, count) in [(4096, 41, 4), (4096, 45, 1), (8192, 49, 3)] {
            let products = RingProducts::of_sizes(ring_degree, &[bits], Some(50)).unwrap();
            let (n, q) = (ring_degree, products.modulus() as i64);
            let rng = &mut AesCtrRng::from_seed([count as u8; 32]);
            let (secret, _) = products.scheme().generate_keys(rng);
            let shared = products.shared_secrets(&secret, count).unwrap();
            let sharing = products.generate_sharing(&secret, &shared, rng).unwrap();
            let mut writer = Writer::new(Kind::SwitchKey);
            sharing.write(&mut writer);
            let bytes = writer.finish();
            assert_eq!(bytes.len(), 30 + products.sharing_bytes(count));
            let mut reader = Reader::open(&bytes, Kind::SwitchKey).unwrap();
            let sharing = products.read_sharing(&mut reader, secret.key_id(), count).unwrap();
            reader.finish().unwrap();
            sharing.check(&products).unwrap();
            let (mut workspace, mut scratch) = (products.workspace(), vec![0; (count + 3) * n]);
            for some in 1..=count {
                let mut words = vec![0; some * 2 * n];
                let mut messages = Vec::new();
                for parts in words.chunks_exact_mut(2 * n) {
                    let (c_0, c_1) = parts.split_at_mut(n);
                    let size = q / 3 - messages.len() as i64;
                    let message: Vec<i64> = (0..n as i64).map(|i| size - i * i).collect();
                    let seed =
                        products.encrypt(&secret, &message, c_0, &mut workspace, rng).unwrap();
                    products.forward(c_0);
                    products.uniform(seed, c_1);
                    messages.push(message);
                }
                let mut out = vec![0; (some + 1) * n];
                let ciphertexts: Vec<&[u64]> = words.chunks_exact(2 * n).collect();
                sharing.share(&ciphertexts, &mut out, &mut scratch);
                let (a, firsts) = out.split_at(n);
                let special = sharing.special_prime().value();
                let law = switch_square(some, n, products.modulus(), special);
                let law = law + crate::rlwe::noise::secret_key_deviation().powi(2);
                for (v, (b, message)) in firsts.chunks_exact(n).zip(&messages).enumerate() {
                    let mut mask = a.to_vec();
                    products.unmask(shared.of(&secret, v).unwrap(), &mut mask).unwrap();
                    let found = products.centred_sums(b, &mask);
                    let off = found.iter().zip(message).map(|(x, &m)| (*x - i128::from(m)) as f64);
                    let square = off.map(|x| x * x).sum::<f64>() / n as f64;
                    let ratio = (square / law).sqrt();
                    assert!((0.7..1.05).contains(&ratio), "{bits} bits, {some}, {v}: {ratio}");
                }
            }
        }
    }

    #[test]
    fn secrets_of_others_are_refused() {
        let products = RingProducts::of_sizes(4096, &[41], Some(50)).unwrap();
        let other = RingProducts::of_sizes(4096, &[40], Some(50)).unwrap();
        let none = RingProducts::of_sizes(4096, &[41], None).unwrap();
        let rng = &mut AesCtrRng::from_seed([1; 32]);
        let (secret, _) = products.scheme().generate_keys(rng);
        let (stranger, _) = products.scheme().generate_keys(rng);
        let shared = products.shared_secrets(&secret, 2).unwrap();
        // The same again, and none that is the other's.
        let again = products.shared_secrets(&secret, 2).unwrap();
        assert!(shared.of(&secret, 1).unwrap().words == again.of(&secret, 1).unwrap().words);
        assert!(shared.of(&secret, 1).unwrap().words != shared.of(&secret, 0).unwrap().words);
        assert!(matches!(shared.of(&stranger, 0), Err(SchemeError::KeyMismatch { .. })));
        let refused = products.generate_sharing(&stranger, &shared, rng).err();
        assert!(matches!(refused, Some(SchemeError::KeyMismatch { .. })), "{refused:?}");
        let refused = other.shared_secrets(&secret, 2).err();
        assert!(matches!(refused, Some(SchemeError::ParameterMismatch { .. })), "{refused:?}");
        let sharing = products.generate_sharing(&secret, &shared, rng).unwrap();
        assert!(sharing.check(&other).is_err());
        let (secret, _) = none.scheme().generate_keys(rng);
        let shared = none.shared_secrets(&secret, 2).unwrap();
        assert!(none.generate_sharing(&secret, &shared, rng).is_err());
    }
}
