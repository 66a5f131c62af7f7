//! Secret keys under a passphrase, for files.
//!
//! Argon2id (RFC 9106) with 64 MiB, three passes and one lane, the RFC's second recommended setting
//! but for the lanes, makes a key of the passphrase and a random salt; XChaCha20-Poly1305 encrypts
//! and authenticates the secret key's wire form with it. The costs belong to the version of the
//! format: a file cannot ask for more.

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::SchemeError;
use crate::wire::{Kind, Reader, Writer};

const MEMORY_KIB: u32 = 64 << 10;
const PASSES: u32 = 3;
const SALT: usize = 16;
const NONCE: usize = 24;
/// What the authentication covers besides the key.
const CONTEXT: &[u8] = b"hesc secret key";

fn derive(passphrase: &[u8], salt: &[u8; SALT]) -> Result<Zeroizing<[u8; 32]>, SchemeError> {
    let fail = |_| SchemeError::Passphrase { problem: "it cannot be used" };
    if passphrase.is_empty() {
        return Err(SchemeError::Passphrase { problem: "it is empty" });
    }
    let params = Params::new(MEMORY_KIB, PASSES, 1, Some(32)).map_err(fail)?;
    let mut key = Zeroizing::new([0; 32]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase, salt, key.as_mut())
        .map_err(fail)?;
    Ok(key)
}

/// A secret key's wire form under a passphrase. Cost: 64 MiB and a fraction of a second.
///
/// # Errors
/// [`SchemeError::Passphrase`] for an empty one.
pub fn seal(
    key: &[u8],
    passphrase: &[u8],
    rng: &mut impl CryptoRng,
) -> Result<Vec<u8>, SchemeError> {
    let (mut salt, mut nonce) = ([0; SALT], [0; NONCE]);
    rng.fill_bytes(&mut salt);
    rng.fill_bytes(&mut nonce);
    let cipher = XChaCha20Poly1305::new((&*derive(passphrase, &salt)?).into());
    let payload = Payload { msg: key, aad: CONTEXT };
    let sealed = cipher
        .encrypt(&XNonce::from(nonce), payload)
        .map_err(|_| SchemeError::Passphrase { problem: "the key is too long to be sealed" })?;
    let mut writer = Writer::new(Kind::SealedSecretKey);
    writer.bytes(&salt).bytes(&nonce).nested(&sealed);
    Ok(writer.finish())
}

/// Whether a key file wants a passphrase.
pub fn is_sealed(bytes: &[u8]) -> bool {
    Reader::open(bytes, Kind::SealedSecretKey).is_ok()
}

/// The wire form of the secret key in a sealed file.
///
/// # Errors
/// [`SchemeError::Passphrase`] for a wrong passphrase or an altered file; [`SchemeError::Wire`] for
/// other bytes.
pub fn open(bytes: &[u8], passphrase: &[u8]) -> Result<Zeroizing<Vec<u8>>, SchemeError> {
    let mut reader = Reader::open(bytes, Kind::SealedSecretKey)?;
    let (salt, nonce) = (reader.array::<SALT>()?, reader.array::<NONCE>()?);
    let sealed = reader.nested()?;
    reader.finish()?;
    let cipher = XChaCha20Poly1305::new((&*derive(passphrase, &salt)?).into());
    let payload = Payload { msg: sealed, aad: CONTEXT };
    let key = cipher.decrypt(&XNonce::from(nonce), payload);
    key.map(Zeroizing::new)
        .map_err(|_| SchemeError::Passphrase { problem: "it is wrong, or the file was altered" })
}

#[cfg(test)]
mod tests {
    use hesc_math::AesCtrRng;
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn only_the_passphrase_opens() {
        let rng = &mut AesCtrRng::from_seed([1; 32]);
        let sealed = seal(b"secret", b"correct horse", rng).unwrap();
        assert!(is_sealed(&sealed) && !is_sealed(b"HESC"));
        assert_eq!(*open(&sealed, b"correct horse").unwrap(), b"secret");
        assert_ne!(seal(b"secret", b"correct horse", rng).unwrap(), sealed);
        assert!(matches!(open(&sealed, b"horse"), Err(SchemeError::Passphrase { .. })));
        assert!(matches!(open(&sealed, b""), Err(SchemeError::Passphrase { .. })));
        assert!(matches!(seal(b"secret", b"", rng), Err(SchemeError::Passphrase { .. })));
        let mut altered = sealed.clone();
        altered[70] ^= 1;
        let body = altered.len() - 16;
        let checksum = crate::wire::checksum(&altered[..body]);
        altered[body..].copy_from_slice(&checksum);
        assert!(matches!(open(&altered, b"correct horse"), Err(SchemeError::Passphrase { .. })));
    }
}
