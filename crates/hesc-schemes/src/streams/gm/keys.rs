use std::sync::Arc;

use crypto_bigint::{BoxedUint, ConcatenatingMul};
use crypto_primes::hazmat::{SetBits, SmallFactorsSieveFactory};
use crypto_primes::{Flavor, is_prime, sieve_and_find};
use hesc_math::wide::{JacobiSymbol, WideModulus};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::Modulus;
use crate::KeyId;

/// The modulus.
pub type PublicKey = Arc<Modulus>;

/// The primes. No `Debug`, no equality, no `Clone`; wiped on drop.
///
/// The crates that search and test primes leave copies of them in what they free: programs that make or read these
/// keys want an allocator that wipes, as the Python module has one (docs/adr/0006-allocator.md).
pub struct SecretKey {
    pub(super) modulus: Arc<Modulus>,
    /// `p = 3 (mod 8)`.
    pub(super) p: JacobiSymbol,
    /// `q = 7 (mod 8)`.
    pub(super) q: JacobiSymbol,
}

/// Residues of the two primes modulo 8.
const RESIDUES: [u8; 2] = [3, 7];

/// A prime of `bits` bits, its two highest set, with this residue modulo 8: Miller and Rabin's test
/// to base 2 and Lucas's (Baillie, Fiori, Wagstaff 2021), which no composite is known to pass.
fn generate_prime(bits: u32, residue: u8, rng: &mut impl CryptoRng) -> Zeroizing<BoxedUint> {
    let fits = |candidate: &BoxedUint| (candidate.as_words()[0] % 8) as u8 == residue;
    loop {
        let Ok(factory) = SmallFactorsSieveFactory::new(Flavor::Any, bits, SetBits::TwoMsb) else {
            unreachable!("primes have hundreds of bits")
        };
        let found =
            sieve_and_find(rng, factory, |_, x: &BoxedUint| fits(x) && is_prime(Flavor::Any, x));
        if let Ok(Some(prime)) = found {
            return Zeroizing::new(prime);
        }
    }
}

fn name_of(modulus: &[u8]) -> KeyId {
    let mut name = [0; 16];
    name.copy_from_slice(&blake3::hash(modulus).as_bytes()[..16]);
    KeyId::from_bytes(name)
}

/// A key pair. It is named after the modulus, so that one name is one modulus.
pub(super) fn generate(
    modulus_bits: u32,
    rng: &mut impl CryptoRng,
) -> (SecretKey, PublicKey, KeyId) {
    loop {
        let primes = RESIDUES.map(|residue| {
            let prime = generate_prime(modulus_bits / 2, residue, rng);
            Zeroizing::new(prime.to_be_bytes().into_vec())
        });
        // Two highest bits of each make the product exactly as long as both together.
        if let Some((secret, key)) = from_primes(modulus_bits, &primes) {
            let modulus = secret.modulus.clone();
            return (secret, modulus, key);
        }
    }
}

fn from_primes(modulus_bits: u32, primes: &[Zeroizing<Vec<u8>>; 2]) -> Option<(SecretKey, KeyId)> {
    let [p, q] = primes;
    let product =
        number(p, modulus_bits)?.concatenating_mul(&*number(q, modulus_bits)?).to_be_bytes();
    let key = name_of(&product);
    let modulus = read_modulus(modulus_bits, &product, key)?;
    let symbol = |prime: &[u8]| Some(JacobiSymbol::new(WideModulus::from_be_bytes(prime).ok()?));
    Some((SecretKey { modulus, p: symbol(p)?, q: symbol(q)? }, key))
}

/// A number of half the modulus's size.
fn number(bytes: &[u8], modulus_bits: u32) -> Option<Zeroizing<BoxedUint>> {
    BoxedUint::from_be_slice(bytes, modulus_bits / 2).ok().map(Zeroizing::new)
}

/// A modulus of exactly this size and with this name.
pub(super) fn read_modulus(modulus_bits: u32, bytes: &[u8], key: KeyId) -> Option<Arc<Modulus>> {
    if bytes.len() != modulus_bits as usize / 8 || name_of(bytes) != key {
        return None;
    }
    let n = WideModulus::from_be_bytes(bytes).ok()?;
    if n.bits() != modulus_bits {
        return None;
    }
    Some(Arc::new(Modulus { symbol: JacobiSymbol::new(n) }))
}

pub(super) fn write_secret(key: &SecretKey) -> Zeroizing<Vec<u8>> {
    let [p, q] = [&key.p, &key.q].map(|prime| prime.modulus().to_be_bytes());
    Zeroizing::new([p.as_slice(), q.as_slice()].concat())
}

/// Reads two primes and checks that they are what the name says.
pub(super) fn read_secret(modulus_bits: u32, bytes: &[u8], key: KeyId) -> Option<SecretKey> {
    let half = modulus_bits as usize / 16;
    if bytes.len() != 2 * half {
        return None;
    }
    let primes = [&bytes[..half], &bytes[half..]].map(|prime| Zeroizing::new(prime.to_vec()));
    for (prime, residue) in primes.iter().zip(RESIDUES) {
        let fits = prime.last().is_some_and(|low| low % 8 == residue);
        if !fits || !is_prime(Flavor::Any, &*number(prime, modulus_bits)?) {
            return None;
        }
    }
    let (secret, found) = from_primes(modulus_bits, &primes)?;
    (found == key).then_some(secret)
}
