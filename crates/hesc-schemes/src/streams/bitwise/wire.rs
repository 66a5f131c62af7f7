use super::{
    BitCipher, Bitwise, Bounded, Ciphertexts, Named, Seeded, SeededCiphertexts, map_at_once,
    map_blocks,
};
use crate::streams::{Batch, Encryptions, Form, Lengths, Wire};
use crate::wire::{COUNT, Kind, Reader, SEED, TAG, WORD, Writer, framed};
use crate::{KeyId, SchemeError};

impl<C: BitCipher> Bitwise<C> {
    fn full_length(&self, blocks: usize) -> usize {
        framed(
            TAG + WORD + COUNT + self.cipher.context_bytes() + self.cipher.block_bytes() * blocks,
        )
    }

    fn seeded_length(&self, blocks: usize) -> usize {
        let blocks = self.cipher.seeded_block_bytes() * blocks;
        framed(TAG + COUNT + SEED + self.cipher.context_bytes() + blocks)
    }
}

impl<C: BitCipher> Lengths for Bitwise<C> {
    fn length(&self, form: Form, blocks: usize, _of: Encryptions) -> Option<usize> {
        Some(match form {
            Form::Full | Form::Compact => self.full_length(blocks),
            Form::Seeded => self.seeded_length(blocks),
        })
    }

    fn capacity(&self) -> u64 {
        self.cipher.max_count()
    }
}

impl<C: BitCipher> Wire<Ciphertexts<C>> for Bitwise<C> {
    fn write(&self, a: &Ciphertexts<C>) -> Vec<u8> {
        let mut writer = Writer::of_length(Kind::Ciphertexts, self.full_length(a.blocks));
        writer.tag(a.tag).u64(a.state.bound).u32(a.blocks as u32);
        writer.bytes(&self.cipher.context_to_bytes(&a.state.context));
        let blocks =
            map_at_once(&a.words, |_, block| self.cipher.block_to_bytes(&a.state.context, block));
        blocks.iter().for_each(|block| {
            writer.bytes(block);
        });
        writer.finish()
    }

    fn read(&self, bytes: &[u8]) -> Result<Ciphertexts<C>, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Ciphertexts)?;
        let tag = reader.tag(self.fingerprint)?;
        let bound = reader.u64()?;
        if bound == 0 || bound != self.check_bound(bound)? {
            return Err(reader.error("the bound on counts is impossible"));
        }
        let count = reader.blocks()?;
        let context = self.read_context(&mut reader, tag.key)?;
        let words = read_blocks(&mut reader, count, self.cipher.block_bytes(), |bytes| {
            self.cipher.block_from_bytes(&context, bytes)
        })?;
        reader.finish()?;
        Ok(Batch { tag, words, blocks: count, state: Bounded { context, bound } })
    }
}

impl<C: BitCipher> Wire<SeededCiphertexts<C>> for Bitwise<C> {
    fn write(&self, a: &SeededCiphertexts<C>) -> Vec<u8> {
        let length = self.seeded_length(a.blocks);
        let mut writer = Writer::of_length(Kind::SeededCiphertexts, length);
        writer.tag(a.tag).u32(a.blocks as u32).bytes(&a.state.seed);
        writer.bytes(&self.cipher.context_to_bytes(&a.state.context));
        let blocks = map_at_once(&a.words, |_, block| self.cipher.seeded_block_to_bytes(block));
        blocks.iter().for_each(|block| {
            writer.bytes(block);
        });
        writer.finish()
    }

    fn read(&self, bytes: &[u8]) -> Result<SeededCiphertexts<C>, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SeededCiphertexts)?;
        let tag = reader.tag(self.fingerprint)?;
        let count = reader.blocks()?;
        let seed = reader.array()?;
        let context = self.read_context(&mut reader, tag.key)?;
        let words = read_blocks(&mut reader, count, self.cipher.seeded_block_bytes(), |bytes| {
            self.cipher.seeded_block_from_bytes(&context, bytes)
        })?;
        reader.finish()?;
        Ok(Batch { tag, words, blocks: count, state: Seeded { context, seed } })
    }
}

impl<C: BitCipher> Wire<Named<C::PublicKey>> for Bitwise<C> {
    fn write(&self, key: &Named<C::PublicKey>) -> Vec<u8> {
        let mut writer = Writer::new(Kind::PublicKey);
        writer.tag(key.tag).nested(&self.cipher.public_key_to_bytes(&key.key));
        writer.finish()
    }

    fn read(&self, bytes: &[u8]) -> Result<Named<C::PublicKey>, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::PublicKey)?;
        let tag = reader.tag(self.fingerprint)?;
        let body = reader.nested()?;
        let key = self
            .cipher
            .public_key_from_bytes(body, tag.key)
            .ok_or_else(|| reader.error("it is no key of this parameter set"))?;
        reader.finish()?;
        Ok(Named { tag, key })
    }
}

impl<C: BitCipher> Bitwise<C> {
    fn read_context(&self, reader: &mut Reader<'_>, key: KeyId) -> Result<C::Context, SchemeError> {
        let bytes = reader.bytes(self.cipher.context_bytes())?;
        self.cipher
            .context_from_bytes(bytes, key)
            .ok_or_else(|| reader.error("the modulus does not belong to the key pair"))
    }
}

/// Blocks of a fixed size, read in parallel; the bytes are there before anything is allocated.
fn read_blocks<B: Send>(
    reader: &mut Reader<'_>,
    count: usize,
    size: usize,
    read: impl Fn(&[u8]) -> Option<B> + Send + Sync,
) -> Result<Vec<B>, SchemeError> {
    let length = count.checked_mul(size).ok_or_else(|| reader.error("a count is too large"))?;
    let bytes = reader.bytes(length)?;
    let chunks: Vec<&[u8]> = bytes.chunks_exact(size).collect();
    map_blocks(&chunks, |_, bytes| read(bytes))?
        .into_iter()
        .collect::<Option<_>>()
        .ok_or_else(|| reader.error("an element is not in the group"))
}
