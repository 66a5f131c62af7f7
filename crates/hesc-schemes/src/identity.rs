use std::fmt;

use rand_core::CryptoRng;

use crate::SchemeError;

macro_rules! identity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name([u8; 16]);

        impl $name {
            /// From its 16 bytes.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }
            /// Its 16 bytes.
            pub const fn to_bytes(self) -> [u8; 16] {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // Eight hexadecimal digits tell two apart in a message.
                self.0[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

identity! {
    /// Hash of a parameter set: the first 16 bytes of BLAKE3 over its wire form. Every key and
    /// ciphertext carries it.
    Fingerprint
}
identity! {
    /// Random public name of a key pair. Both keys and every ciphertext carry it, so that a
    /// ciphertext meets the wrong key with an error and not with noise. It links the ciphertexts
    /// of one key pair, as the public key itself does.
    KeyId
}

impl Fingerprint {
    /// The fingerprint of a parameter set's wire form.
    pub fn of(bytes: &[u8]) -> Self {
        let mut first = [0; 16];
        first.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
        Self(first)
    }
}

impl KeyId {
    /// A new random name.
    pub fn random(rng: &mut impl CryptoRng) -> Self {
        let mut bytes = [0; 16];
        rng.fill_bytes(&mut bytes);
        Self(bytes)
    }
}

/// Which parameters and which key pair an object belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag {
    /// The parameter set.
    pub params: Fingerprint,
    /// The key pair.
    pub key: KeyId,
}

impl Tag {
    /// Refuses an object of another parameter set or, if `key` is given, of another key pair.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`].
    pub fn check(self, params: Fingerprint, key: Option<Tag>) -> Result<(), SchemeError> {
        for of in std::iter::once(self).chain(key) {
            if of.params != params {
                return Err(SchemeError::ParameterMismatch { expected: params, found: of.params });
            }
        }
        match key {
            Some(expected) if expected.key != self.key => {
                Err(SchemeError::KeyMismatch { expected: expected.key, found: self.key })
            }
            _ => Ok(()),
        }
    }
}
