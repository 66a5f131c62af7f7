use zeroize::Zeroizing;

use super::{
    BitCipher, Bitwise, Ciphertexts, PublicKey, SecretKey, SeededCiphertexts, map_at_once,
    map_blocks,
};
use crate::SchemeError;
use crate::wire::{Kind, Reader, Writer};

impl<C: BitCipher> Bitwise<C> {
    pub(super) fn write_ciphertexts(&self, a: &Ciphertexts<C>) -> Vec<u8> {
        let length = 128 + self.cipher.block_bytes() * a.blocks.len();
        let mut writer = Writer::with_capacity(Kind::Ciphertexts, length);
        writer.tag(a.tag).u64(a.bound).u32(a.blocks.len() as u32);
        writer.bytes(&self.cipher.context_to_bytes(&a.context));
        let blocks =
            map_at_once(&a.blocks, |_, block| self.cipher.block_to_bytes(&a.context, block));
        blocks.iter().for_each(|block| {
            writer.bytes(block);
        });
        writer.finish()
    }

    pub(super) fn read_ciphertexts(&self, bytes: &[u8]) -> Result<Ciphertexts<C>, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Ciphertexts)?;
        let tag = reader.tag(self.fingerprint)?;
        let bound = reader.u64()?;
        if bound == 0 || bound != self.check_bound(bound)? {
            return Err(reader.error("the bound on counts is impossible"));
        }
        let count = reader.blocks()?;
        let context = self.read_context(&mut reader, tag.key)?;
        let blocks = read_blocks(&mut reader, count, self.cipher.block_bytes(), |bytes| {
            self.cipher.block_from_bytes(&context, bytes)
        })?;
        reader.finish()?;
        Ok(Ciphertexts { tag, context, blocks, bound })
    }

    pub(super) fn write_seeded(&self, a: &SeededCiphertexts<C>) -> Vec<u8> {
        let mut writer = Writer::new(Kind::SeededCiphertexts);
        writer.tag(a.tag).u32(a.blocks.len() as u32).bytes(&a.seed);
        writer.bytes(&self.cipher.context_to_bytes(&a.context));
        let blocks = map_at_once(&a.blocks, |_, block| self.cipher.seeded_block_to_bytes(block));
        blocks.iter().for_each(|block| {
            writer.bytes(block);
        });
        writer.finish()
    }

    pub(super) fn read_seeded(&self, bytes: &[u8]) -> Result<SeededCiphertexts<C>, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SeededCiphertexts)?;
        let tag = reader.tag(self.fingerprint)?;
        let count = reader.blocks()?;
        let seed = reader.array()?;
        let context = self.read_context(&mut reader, tag.key)?;
        let blocks = read_blocks(&mut reader, count, self.cipher.seeded_block_bytes(), |bytes| {
            self.cipher.seeded_block_from_bytes(&context, bytes)
        })?;
        reader.finish()?;
        Ok(SeededCiphertexts { tag, context, seed, blocks })
    }

    fn read_context(
        &self,
        reader: &mut Reader<'_>,
        key: crate::KeyId,
    ) -> Result<C::Context, SchemeError> {
        let bytes = reader.bytes(self.cipher.context_bytes())?;
        self.cipher
            .context_from_bytes(bytes, key)
            .ok_or_else(|| reader.error("the modulus does not belong to the key pair"))
    }

    pub(super) fn write_public_key(&self, key: &PublicKey<C>) -> Vec<u8> {
        let mut writer = Writer::new(Kind::PublicKey);
        writer.tag(key.tag).nested(&self.cipher.public_key_to_bytes(&key.key));
        writer.finish()
    }

    pub(super) fn read_public_key(&self, bytes: &[u8]) -> Result<PublicKey<C>, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::PublicKey)?;
        let tag = reader.tag(self.fingerprint)?;
        let body = reader.nested()?;
        let key = self
            .cipher
            .public_key_from_bytes(body, tag.key)
            .ok_or_else(|| reader.error("it is no key of this parameter set"))?;
        reader.finish()?;
        Ok(PublicKey { tag, key })
    }

    pub(super) fn write_secret_key(&self, key: &SecretKey<C>) -> Zeroizing<Vec<u8>> {
        let body = self.cipher.secret_key_to_bytes(&key.key);
        // Room for everything at once: a vector that grows leaves copies behind.
        let mut writer = Writer::with_capacity(Kind::SecretKey, 64 + body.len());
        writer.tag(key.tag).nested(&body);
        Zeroizing::new(writer.finish())
    }

    pub(super) fn read_secret_key(&self, bytes: &[u8]) -> Result<SecretKey<C>, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SecretKey)?;
        let tag = reader.tag(self.fingerprint)?;
        let body = reader.nested()?;
        let key = self
            .cipher
            .secret_key_from_bytes(body, tag.key)
            .ok_or_else(|| reader.error("it is no key of this parameter set"))?;
        reader.finish()?;
        Ok(SecretKey { tag, key })
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
