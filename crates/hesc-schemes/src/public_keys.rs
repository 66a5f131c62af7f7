//! What a key owner gives away, in one frame: the public key, and what servers compute with.
//!
//! ```text
//! number of parts u8 | for each part: which u8 | length u64 | its own frame
//! ```
//! Parts come in the order of [`Part::ALL`], each once, the public key always, and all are of one key pair. Readers
//! open those that they need.

use crate::wire::{BYTE, Kind, Reader, Writer, framed, nested, tag_of};
use crate::{SchemeError, Tag};

/// One of the keys that a frame may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Part {
    /// Encrypts.
    Public = 1,
    /// Brings products back to two parts.
    Relinearisation = 2,
    /// Moves values between slots.
    Rotations = 3,
    /// Bootstraps bits.
    Bootstrapping = 4,
}

impl Part {
    /// All of them, in the order of the frame.
    pub const ALL: [Self; 4] =
        [Self::Public, Self::Relinearisation, Self::Rotations, Self::Bootstrapping];

    /// The part's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Relinearisation => "relinearisation",
            Self::Rotations => "rotations",
            Self::Bootstrapping => "bootstrapping",
        }
    }

    /// The part of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }
}

/// Bytes of a frame of keys of these lengths.
pub fn length(keys: &[usize]) -> usize {
    framed(BYTE + keys.iter().map(|key| BYTE + nested(*key)).sum::<usize>())
}

/// One frame of the wire forms of keys of one pair, given in the order of [`Part::ALL`].
///
/// # Errors
/// As [`split`]: a frame that it would not read is not written.
pub fn join(parts: &[(Part, &[u8])]) -> Result<Vec<u8>, SchemeError> {
    let lengths: Vec<usize> = parts.iter().map(|(_, key)| key.len()).collect();
    let mut writer = Writer::of_length(Kind::PublicKeys, length(&lengths));
    writer.u8(parts.len() as u8);
    for (part, key) in parts {
        writer.u8(*part as u8).nested(key);
    }
    let bytes = writer.finish();
    split(&bytes)?;
    Ok(bytes)
}

/// The wire forms of keys in a frame. They are not opened: who reads one checks it.
///
/// # Errors
/// [`SchemeError::Wire`] for damaged bytes, parts that are unknown, out of order or there twice, and a frame without a
/// public key; [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for parts of several sets or pairs.
pub fn split(bytes: &[u8]) -> Result<Vec<(Part, &[u8])>, SchemeError> {
    let mut reader = Reader::open(bytes, Kind::PublicKeys)?;
    let count = reader.u8()?;
    let mut parts: Vec<(Part, &[u8])> = Vec::new();
    let mut first: Option<Tag> = None;
    for _ in 0..count {
        let which = reader.u8()?;
        let part = Part::ALL.into_iter().find(|part| *part as u8 == which);
        let part = part.ok_or_else(|| reader.error("a part is unknown"))?;
        if parts.last().is_some_and(|(before, _)| *before >= part) {
            return Err(reader.error("a part is there twice, or out of order"));
        }
        let key = reader.nested()?;
        let tag = tag_of(key).ok_or_else(|| reader.error("a part is no key"))?;
        tag.check(first.unwrap_or(tag).params, first)?;
        first = Some(tag);
        parts.push((part, key));
    }
    reader.finish()?;
    match parts.first() {
        Some((Part::Public, _)) => Ok(parts),
        _ => Err(SchemeError::Wire { what: "public keys", problem: "the public key is missing" }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Fingerprint, KeyId};

    fn key(params: u8, pair: u8) -> Vec<u8> {
        let mut writer = Writer::new(Kind::PublicKey);
        writer.tag(Tag {
            params: Fingerprint::from_bytes([params; 16]),
            key: KeyId::from_bytes([pair; 16]),
        });
        writer.finish()
    }

    fn frame(parts: &[(u8, &[u8])]) -> Vec<u8> {
        let mut writer = Writer::new(Kind::PublicKeys);
        writer.u8(parts.len() as u8);
        for (which, key) in parts {
            writer.u8(*which).nested(key);
        }
        writer.finish()
    }

    fn problem(bytes: &[u8]) -> String {
        split(bytes).unwrap_err().to_string()
    }

    #[test]
    fn parts_return_by_name() {
        let own = key(1, 1);
        for set in [&[Part::Public][..], &[Part::Public, Part::Rotations], &Part::ALL] {
            let parts: Vec<_> = set.iter().map(|part| (*part, own.as_slice())).collect();
            assert_eq!(split(&join(&parts).unwrap()).unwrap(), parts);
        }
        assert!(Part::ALL.into_iter().all(|part| Part::named(part.name()) == Some(part)));
        assert_eq!(Part::named("secret"), None);
    }

    #[test]
    fn what_no_honest_writer_sends_is_refused() {
        let own = key(1, 1);
        let own = own.as_slice();
        assert!(problem(&frame(&[])).contains("missing"));
        assert!(problem(&frame(&[(2, own)])).contains("missing"));
        assert!(problem(&frame(&[(1, own), (1, own)])).contains("twice"));
        assert!(problem(&frame(&[(2, own), (1, own)])).contains("order"));
        assert!(problem(&frame(&[(1, own), (5, own)])).contains("unknown"));
        assert!(problem(&frame(&[(0, own)])).contains("unknown"));
        assert!(problem(&frame(&[(1, &own[..40])])).contains("no key"));
        assert!(matches!(
            split(&frame(&[(1, own), (2, &key(1, 2))])),
            Err(SchemeError::KeyMismatch { .. })
        ));
        assert!(matches!(
            split(&frame(&[(1, own), (2, &key(2, 1))])),
            Err(SchemeError::ParameterMismatch { .. })
        ));
        assert!(join(&[(Part::Rotations, own)]).is_err());
        let mut writer = Writer::new(Kind::PublicKeys);
        writer.u8(1).u8(1).nested(own).u8(0);
        assert!(problem(&writer.finish()).contains("left over"));
        let mut writer = Writer::new(Kind::PublicKeys);
        writer.u8(2).u8(1).nested(own).u8(2).u64(u64::MAX);
        assert!(split(&writer.finish()).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(body in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut writer = Writer::new(Kind::PublicKeys);
            writer.bytes(&body);
            let _ = split(&writer.finish());
        }
    }
}
