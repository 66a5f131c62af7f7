use hesc_schemes::rlwe::SecretKey;
use hesc_schemes::streams::lattice::{Ciphertexts, CompactCiphertexts};
use hesc_schemes::streams::{Blocks, Decrypt, Encrypt, Encryptions, Wire};
use hesc_schemes::wire::{Kind, Reader, Writer, framed, nested};
use hesc_schemes::{Bfv, KeyId, SchemeError};

use super::{GROUP, MOST_BITS, MOST_RECORDS};

/// A group of codes and a ring degree of records.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// Modulo a power of two, where that decrypts.
    Compact(CompactCiphertexts),
    /// As it was computed.
    Whole(Ciphertexts<u32>),
}

impl Part {
    /// As small as it decrypts.
    pub(super) fn of(scheme: &Bfv<u32>, sums: Ciphertexts<u32>) -> Result<Self, SchemeError> {
        match scheme.compact_distances(&sums) {
            Ok(compact) => Ok(Self::Compact(compact)),
            // Rings too small for a smaller modulus: public, as all that decides it.
            Err(SchemeError::CannotCompact { .. }) => Ok(Self::Whole(sums)),
            Err(error) => Err(error),
        }
    }

    fn blocks(&self) -> usize {
        match self {
            Self::Compact(part) => part.blocks(),
            Self::Whole(part) => part.blocks(),
        }
    }

    fn key(&self) -> KeyId {
        match self {
            Self::Compact(part) => part.key(),
            Self::Whole(part) => part.key(),
        }
    }

    fn decrypt(&self, scheme: &Bfv<u32>, key: &SecretKey<u32>) -> Result<Vec<u32>, SchemeError> {
        match self {
            Self::Compact(part) => scheme.decrypt(key, part),
            Self::Whole(part) => scheme.decrypt(key, part),
        }
    }

    fn to_bytes(&self, scheme: &Bfv<u32>) -> Vec<u8> {
        match self {
            Self::Compact(part) => scheme.write(part),
            Self::Whole(part) => scheme.write(part),
        }
    }

    fn from_bytes(scheme: &Bfv<u32>, bytes: &[u8]) -> Result<Self, SchemeError> {
        if Reader::open(bytes, Kind::Ciphertexts).is_ok() {
            return Ok(Self::Whole(scheme.read(bytes)?));
        }
        Ok(Self::Compact(scheme.read(bytes)?))
    }
}

/// Encrypted distances of every code to every record, for who has the secret key.
#[derive(Debug, Clone)]
pub struct Distances {
    scheme: Bfv<u32>,
    codes: usize,
    records: usize,
    bits: usize,
    /// Groups of codes one after the other, for each all records.
    parts: Vec<Part>,
}

/// Bytes of the frame of parts of these lengths.
fn length(parts: impl Iterator<Item = usize>) -> usize {
    framed(4 + 4 + 4 + parts.map(nested).sum::<usize>())
}

/// Bytes of the distances of so many codes to so many records that came under the secret key, not hidden.
pub fn distances_length(scheme: &Bfv<u32>, codes: usize, records: usize, bits: usize) -> usize {
    let of = Encryptions { secret: 1, public: 0 };
    let slabs = records.div_ceil(scheme.block_length());
    let groups = (0..codes).step_by(GROUP).map(|group| GROUP.min(codes - group));
    length(
        groups
            .flat_map(|group| std::iter::repeat_n(scheme.distances_length(group, bits, of), slabs)),
    )
}

impl Distances {
    pub(super) fn new(
        scheme: &Bfv<u32>,
        (codes, records, bits): (usize, usize, usize),
        parts: Vec<Part>,
    ) -> Self {
        Self { scheme: scheme.clone(), codes, records, bits, parts }
    }

    /// Codes and records.
    pub fn shape(&self) -> (usize, usize) {
        (self.codes, self.records)
    }

    /// The distances, a row of all records for each code. Cost a ring degree of them: two transforms.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], and [`SchemeError::NotACount`] for a part
    /// that holds anything but distances.
    pub fn decrypt(&self, key: &SecretKey<u32>) -> Result<Vec<u32>, SchemeError> {
        let n = self.scheme.block_length();
        let slabs = self.records.div_ceil(n);
        let mut rows = vec![0u32; self.codes * self.records];
        for (index, part) in self.parts.iter().enumerate() {
            let (group, slab) = (index / slabs, index % slabs);
            let counts = zeroize::Zeroizing::new(part.decrypt(&self.scheme, key)?);
            let here = (self.records - slab * n).min(n);
            let first = rows.chunks_exact_mut(self.records).skip(group * GROUP);
            for (row, block) in first.zip(counts.chunks_exact(n)) {
                if block[..here].iter().any(|&count| count as usize > self.bits) {
                    return Err(SchemeError::NotACount { block: index });
                }
                row[slab * n..][..here].copy_from_slice(&block[..here]);
            }
        }
        Ok(rows)
    }

    /// Wire form: its length follows from the numbers of codes and records.
    pub fn to_bytes(&self) -> Vec<u8> {
        let parts: Vec<Vec<u8>> =
            self.parts.iter().map(|part| part.to_bytes(&self.scheme)).collect();
        let mut writer = Writer::of_length(Kind::CodeDistances, length(parts.iter().map(Vec::len)));
        writer.u32(self.codes as u32).u32(self.records as u32).u32(self.bits as u32);
        for part in &parts {
            writer.nested(part);
        }
        writer.finish()
    }

    /// Reads some; strict.
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`], [`SchemeError::Parameter`] for codes that the set has
    /// no room for, [`SchemeError::NoiseBudget`] for what does not decrypt.
    pub fn from_bytes(scheme: &Bfv<u32>, bytes: &[u8]) -> Result<Self, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::CodeDistances)?;
        let mut number = || Ok::<_, SchemeError>(reader.u32()? as usize);
        let (codes, records, bits) = (number()?, number()?, number()?);
        let counts = 1..=MOST_RECORDS;
        if !counts.contains(&codes) || !counts.contains(&records) || bits > MOST_BITS {
            return Err(reader.error("there are no distances of such a shape"));
        }
        scheme.check_codes(bits)?;
        let slabs = records.div_ceil(scheme.block_length());
        let mut parts: Vec<Part> = Vec::new();
        for group in (0..codes).step_by(GROUP) {
            for _ in 0..slabs {
                let part = Part::from_bytes(scheme, reader.nested()?)?;
                if part.blocks() != GROUP.min(codes - group) {
                    return Err(reader.error("a part has not the distances of its codes"));
                }
                if parts.first().is_some_and(|first| first.key() != part.key()) {
                    return Err(reader.error("its parts are of different key pairs"));
                }
                parts.push(part);
            }
        }
        reader.finish()?;
        Ok(Self { scheme: scheme.clone(), codes, records, bits, parts })
    }
}
