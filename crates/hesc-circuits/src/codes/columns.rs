use hesc_schemes::rlwe::{PublicKey, SecretKey};
use hesc_schemes::streams::Batch;
use hesc_schemes::streams::lattice::{Ciphertexts, Columns, Hiding, NoiseSeed, SeededCiphertexts};
use hesc_schemes::streams::{Blocks, Encrypt, Encryptions, Form, Lengths, Wire};
use hesc_schemes::wire::{Kind, Reader, Writer, framed, nested};
use hesc_schemes::{Bfv, SchemeError, checkpoint};
use rand_core::CryptoRng;
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::distances::Part;
use super::{Distances, GROUP, MOST_BITS, MOST_RECORDS};

/// Encrypted codes that others can compare theirs to.
#[derive(Debug, Clone)]
pub struct EncryptedCodes {
    scheme: Bfv<u32>,
    shape: Shape,
    columns: Ciphertexts<u32>,
}

/// Codes under the secret key, half as long: what their owner sends.
#[derive(Debug, Clone)]
pub struct SeededCodes {
    scheme: Bfv<u32>,
    shape: Shape,
    columns: SeededCiphertexts<u32>,
}

/// How many codes of how many bits.
#[derive(Debug, Clone, Copy)]
struct Shape {
    records: usize,
    bits: usize,
}

impl Shape {
    /// Of packed rows of `bits / 64` words.
    fn of(scheme: &Bfv<u32>, codes: &[u64], bits: usize) -> Result<Self, SchemeError> {
        scheme.check_codes(bits)?;
        let per_code = bits / 64;
        let records = codes.len() / per_code;
        if records == 0 {
            return Err(SchemeError::Empty);
        }
        if !codes.len().is_multiple_of(per_code) {
            let expected = codes.len().div_ceil(per_code);
            return Err(SchemeError::BlockCount { expected, found: records });
        }
        let shape = Self { records, bits };
        if shape.is_possible() {
            return Ok(shape);
        }
        Err(SchemeError::Parameter {
            name: "records",
            value: records.to_string(),
            remedy: "encrypt 2^24 at a time, of 2^16 bits at most",
        })
    }

    fn is_possible(self) -> bool {
        (1..=MOST_RECORDS).contains(&self.records)
            && (64..=MOST_BITS).contains(&self.bits)
            && self.bits.is_multiple_of(64)
    }

    /// Blocks that all records take, for each bit.
    fn slabs(self, n: usize) -> usize {
        self.records.div_ceil(n)
    }

    fn blocks(self, n: usize) -> usize {
        self.slabs(n) * self.bits
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, SchemeError> {
        let shape = Self { records: reader.u32()? as usize, bits: reader.u32()? as usize };
        if shape.is_possible() {
            return Ok(shape);
        }
        Err(reader.error("there are no codes of such a shape"))
    }
}

/// Bits of records as bits of columns: block `j` of a slab has bit `j` of the slab's records. Without branches or
/// indices on them.
fn transposed(codes: &[u64], shape: Shape, n: usize) -> Zeroizing<Vec<u64>> {
    let (words, per_code) = (n / 64, shape.bits / 64);
    let mut columns = Zeroizing::new(vec![0u64; shape.blocks(n) * words]);
    for (record, code) in codes.chunks_exact(per_code).enumerate() {
        let (slab, place) = (record / n, record % n);
        let first = slab * shape.bits * words + place / 64;
        for bit in 0..shape.bits {
            columns[first + bit * words] |= (code[bit / 64] >> (bit % 64) & 1) << (place % 64);
        }
    }
    columns
}

impl SeededCodes {
    /// Encrypts packed rows of `bits / 64` words under the secret key. Cost: a transform for each bit of each ring
    /// degree of records.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for codes that the set has no room for, [`SchemeError::Empty`],
    /// [`SchemeError::BlockCount`] for words that are no whole rows, [`SchemeError::ParameterMismatch`].
    pub fn encrypt(
        scheme: &Bfv<u32>,
        key: &SecretKey<u32>,
        codes: &[u64],
        bits: usize,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SchemeError> {
        let shape = Shape::of(scheme, codes, bits)?;
        let columns = transposed(codes, shape, scheme.block_length());
        let columns = scheme.encrypt_seeded(key, &columns, rng)?;
        Ok(Self { scheme: scheme.clone(), shape, columns })
    }

    /// The form that others compute on. Cost: a transform a block.
    ///
    /// # Errors
    /// None for what was read or made here.
    pub fn expand(&self) -> Result<EncryptedCodes, SchemeError> {
        let columns = self.scheme.expand(&self.columns)?;
        Ok(EncryptedCodes { scheme: self.scheme.clone(), shape: self.shape, columns })
    }

    /// Wire form.
    pub fn to_bytes(&self) -> Vec<u8> {
        write(Kind::SeededCodes, self.shape, &self.scheme.write(&self.columns))
    }

    /// Reads some; strict.
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`], [`SchemeError::Parameter`] for codes that the set
    /// has no room for.
    pub fn from_bytes(scheme: &Bfv<u32>, bytes: &[u8]) -> Result<Self, SchemeError> {
        let (shape, columns) = read(Kind::SeededCodes, scheme, bytes)?;
        Ok(Self { scheme: scheme.clone(), shape, columns })
    }
}

/// Bytes of the frame of columns of so many.
fn length(columns: usize) -> usize {
    framed(4 + 4 + nested(columns))
}

/// Bytes of so many codes under the secret key.
pub fn seeded_length(scheme: &Bfv<u32>, records: usize, bits: usize) -> usize {
    let blocks = Shape { records, bits }.blocks(scheme.block_length());
    length(scheme.length(Form::Seeded, blocks, Encryptions::default()).unwrap_or(0))
}

fn write(kind: Kind, shape: Shape, columns: &[u8]) -> Vec<u8> {
    let mut writer = Writer::of_length(kind, length(columns.len()));
    writer.u32(shape.records as u32).u32(shape.bits as u32).nested(columns);
    writer.finish()
}

fn read<T, S>(
    kind: Kind,
    scheme: &Bfv<u32>,
    bytes: &[u8],
) -> Result<(Shape, Batch<T, S>), SchemeError>
where
    Bfv<u32>: Wire<Batch<T, S>>,
    Batch<T, S>: Blocks,
{
    let mut reader = Reader::open(bytes, kind)?;
    let shape = Shape::read(&mut reader)?;
    scheme.check_codes(shape.bits)?;
    let columns: Batch<T, S> = scheme.read(reader.nested()?)?;
    if columns.blocks() != shape.blocks(scheme.block_length()) {
        return Err(reader.error("its ciphertexts are not those of so many codes"));
    }
    reader.finish()?;
    Ok((shape, columns))
}

impl EncryptedCodes {
    /// Encrypts packed rows of `bits / 64` words under the public key. Cost: three transforms for each bit of each
    /// ring degree of records.
    ///
    /// # Errors
    /// As [`SeededCodes::encrypt`].
    pub fn encrypt(
        scheme: &Bfv<u32>,
        key: &PublicKey<u32>,
        codes: &[u64],
        bits: usize,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SchemeError> {
        let shape = Shape::of(scheme, codes, bits)?;
        let columns = transposed(codes, shape, scheme.block_length());
        let columns = scheme.encrypt(key, &columns, rng)?;
        Ok(Self { scheme: scheme.clone(), shape, columns })
    }

    /// How many.
    pub fn records(&self) -> usize {
        self.shape.records
    }

    /// Bits of each.
    pub fn bits(&self) -> usize {
        self.shape.bits
    }

    /// Coefficients that the distances to so many codes have, those behind the last record included, whose noise is
    /// shown too: what [`Hiding::coefficients`] counts.
    pub fn coefficients(&self, codes: usize) -> u64 {
        let n = self.scheme.block_length();
        (self.shape.slabs(n) * n) as u64 * codes as u64
    }

    /// Distances to clear codes, packed rows of `bits / 64` words, for who may know these: their noise tells them.
    /// Cost: see [`Bfv::distances_vartime`]; on all cores.
    ///
    /// # Errors
    /// Those of [`Bfv::distances_vartime`], [`SchemeError::Interrupted`].
    pub fn distances_vartime(&self, codes: &[u64]) -> Result<Distances, SchemeError> {
        let parts = vec![(); self.parts(codes)];
        self.compared(codes, parts, |(), sums, _| Ok(sums))
    }

    /// Distances to clear codes which tell who decrypts nothing but distances to the records that there are: see
    /// [`Bfv::hide_noise`]. It also costs an encryption and as much wide noise for each ring degree of distances.
    ///
    /// # Errors
    /// Those of [`Self::distances_vartime`] and [`Bfv::hide_noise`].
    pub fn hidden_distances_vartime(
        &self,
        key: &PublicKey<u32>,
        codes: &[u64],
        hiding: Hiding,
        rng: &mut impl CryptoRng,
    ) -> Result<Distances, SchemeError> {
        let seeds = (0..self.parts(codes)).map(|_| NoiseSeed::draw(rng)).collect();
        self.compared(codes, seeds, |seed, sums, records| {
            self.scheme.hide_noise(key, &sums, records, hiding, seed)
        })
    }

    /// Parts of the distances to these codes.
    fn parts(&self, codes: &[u64]) -> usize {
        let slabs = self.shape.slabs(self.scheme.block_length());
        (codes.len() / (self.shape.bits / 64)).div_ceil(GROUP) * slabs
    }

    /// Sums of a group of codes and a slab of records at a time, finished by `finish` with what each part has of
    /// its own, and how many records that are.
    fn compared<T: Send>(
        &self,
        codes: &[u64],
        own: Vec<T>,
        finish: impl Fn(T, Ciphertexts<u32>, usize) -> Result<Ciphertexts<u32>, SchemeError> + Sync,
    ) -> Result<Distances, SchemeError> {
        let Shape { records, bits } = Shape::of(&self.scheme, codes, self.shape.bits)?;
        let (n, per_code) = (self.scheme.block_length(), bits / 64);
        let slabs = self.shape.slabs(n);
        let part = |(index, own): (usize, T)| {
            let (group, slab) = (index / slabs, index % slabs);
            let last = codes.len().min((group + 1) * GROUP * per_code);
            let here = (self.shape.records - slab * n).min(n);
            let columns = Columns { first: slab * bits, bits, records: here };
            let codes = &codes[group * GROUP * per_code..last];
            let sums = self.scheme.distances_vartime(&self.columns, columns, codes)?;
            Part::of(&self.scheme, finish(own, sums, here)?)
        };
        let mut parts = Vec::with_capacity(own.len());
        let mut left = own.into_iter().enumerate();
        // As many at a time as keep the threads busy; between them the caller may end it.
        let stride = 4 * rayon::current_num_threads();
        loop {
            checkpoint()?;
            let some: Vec<_> = left.by_ref().take(stride).collect();
            if some.is_empty() {
                break;
            }
            let made: Result<Vec<_>, _> = some.into_par_iter().map(part).collect();
            parts.extend(made?);
        }
        Ok(Distances::new(&self.scheme, (records, self.shape.records, bits), parts))
    }

    /// Wire form.
    pub fn to_bytes(&self) -> Vec<u8> {
        write(Kind::EncryptedCodes, self.shape, &self.scheme.write(&self.columns))
    }

    /// Reads some; strict.
    ///
    /// # Errors
    /// As [`SeededCodes::from_bytes`].
    pub fn from_bytes(scheme: &Bfv<u32>, bytes: &[u8]) -> Result<Self, SchemeError> {
        let (shape, columns) = read(Kind::EncryptedCodes, scheme, bytes)?;
        Ok(Self { scheme: scheme.clone(), shape, columns })
    }
}
