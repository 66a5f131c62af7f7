use super::sources::Source;
use super::{Ciphertexts, NONCE, Pad, SeededCiphertexts, Sources};
use crate::streams::{Batch, Encrypt, Encryptions, Form, Lengths, Wire};
use crate::wire::{BYTE, COUNT, Kind, Reader, TAG, WORD, Writer, framed};
use crate::{SchemeError, Tag};

/// Bytes of a pad's name: which nonce, which block.
const SOURCE: usize = 2 * COUNT;

impl Pad {
    /// Bytes of blocks under pads of so many nonces, and so many of them over all blocks.
    fn full_length(&self, blocks: usize, nonces: usize, pads: usize) -> usize {
        let words = WORD * self.words() * blocks;
        framed(TAG + COUNT + COUNT + NONCE * nonces + BYTE * blocks + SOURCE * pads + words)
    }

    fn seeded_length(&self, blocks: usize) -> usize {
        framed(TAG + COUNT + NONCE + WORD * self.words() * blocks)
    }
}

impl Lengths for Pad {
    fn length(&self, form: Form, blocks: usize, of: Encryptions) -> Option<usize> {
        Some(match form {
            Form::Full | Form::Compact => self.full_length(blocks, of.count(), of.count() * blocks),
            Form::Seeded => self.seeded_length(blocks),
        })
    }

    fn capacity(&self) -> u64 {
        1
    }
}

impl Wire<Ciphertexts> for Pad {
    fn write(&self, a: &Ciphertexts) -> Vec<u8> {
        let Sources { nonces, pads, .. } = &a.state;
        let length = self.full_length(a.blocks, nonces.len(), pads.len());
        let mut writer = Writer::of_length(Kind::Ciphertexts, length);
        writer.tag(a.tag).u32(a.blocks as u32).u32(nonces.len() as u32);
        for nonce in nonces {
            writer.bytes(nonce);
        }
        for block in 0..a.blocks {
            let pads = a.state.of(block);
            writer.u8(pads.len() as u8);
            for source in pads {
                writer.u32(source.nonce).u32(source.index);
            }
        }
        writer.words(&a.words);
        writer.finish()
    }

    fn read(&self, bytes: &[u8]) -> Result<Ciphertexts, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Ciphertexts)?;
        let tag = reader.tag(self.fingerprint())?;
        let blocks = reader.blocks()?;
        let state = read_sources(&mut reader, blocks)?;
        let words = read_words(&mut reader, blocks, self.words())?;
        reader.finish()?;
        Ok(Batch { tag, words, blocks, state })
    }
}

impl Wire<SeededCiphertexts> for Pad {
    fn write(&self, a: &SeededCiphertexts) -> Vec<u8> {
        let length = self.seeded_length(a.blocks);
        let mut writer = Writer::of_length(Kind::SeededCiphertexts, length);
        writer.tag(a.tag).u32(a.blocks as u32).bytes(&a.state).words(&a.words);
        writer.finish()
    }

    fn read(&self, bytes: &[u8]) -> Result<SeededCiphertexts, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SeededCiphertexts)?;
        let tag = reader.tag(self.fingerprint())?;
        let blocks = reader.blocks()?;
        let state = reader.array()?;
        let words = read_words(&mut reader, blocks, self.words())?;
        reader.finish()?;
        Ok(Batch { tag, words, blocks, state })
    }
}

impl Wire<Tag> for Pad {
    fn write(&self, key: &Tag) -> Vec<u8> {
        let mut writer = Writer::new(Kind::PublicKey);
        writer.tag(*key);
        writer.finish()
    }

    fn read(&self, bytes: &[u8]) -> Result<Tag, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::PublicKey)?;
        let tag = reader.tag(self.fingerprint())?;
        reader.finish()?;
        Ok(tag)
    }
}

fn read_words(
    reader: &mut Reader<'_>,
    blocks: usize,
    size: usize,
) -> Result<Vec<u64>, SchemeError> {
    let length = blocks.checked_mul(size).ok_or_else(|| reader.error("a count is too large"))?;
    reader.words(length)
}

/// Which pads lie on blocks: in the one form that this content has.
fn read_sources(reader: &mut Reader<'_>, blocks: usize) -> Result<Sources, SchemeError> {
    let count = reader.u32()? as usize;
    let length = count.checked_mul(NONCE).ok_or_else(|| reader.error("a count is too large"))?;
    let nonces = reader.bytes(length)?.as_chunks::<NONCE>().0.to_vec();
    if !nonces.is_sorted_by(|a, b| a < b) {
        return Err(reader.error("its nonces do not ascend"));
    }
    let (mut pads, mut ends) = (Vec::new(), Vec::new());
    let mut used = vec![false; count];
    for _ in 0..blocks {
        let first = pads.len();
        for _ in 0..reader.u8()? {
            let source = Source { nonce: reader.u32()?, index: reader.u32()? };
            let nonce = used.get_mut(source.nonce as usize);
            *nonce.ok_or_else(|| reader.error("a pad is of no nonce that it has"))? = true;
            pads.push(source);
        }
        if !pads[first..].is_sorted_by(|a, b| a < b) {
            return Err(reader.error("the pads of a block do not ascend"));
        }
        ends.push(pads.len());
    }
    if used.contains(&false) {
        return Err(reader.error("it has nonces without blocks"));
    }
    Ok(Sources { nonces, pads, ends })
}
