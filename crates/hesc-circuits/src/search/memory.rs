use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// Bytes from which a block is in pages of its own: the last page is then within 3 % of it.
const LARGE: usize = 1 << 17;

/// The bytes of a block, zeros at first. Large ones are in pages of the system's: allocators round megabytes up, to a tenth more
/// with what lies between, and huge pages bring all of that into memory.
pub(super) enum Memory {
    /// Pages.
    Pages(MmapMut),
    /// What the allocator gives: small blocks, and all where the system has no pages to give.
    Heap(Vec<u8>),
}

impl Memory {
    /// So many zeros.
    pub fn new(bytes: usize) -> Self {
        let pages = if bytes < LARGE { None } else { MmapMut::map_anon(bytes).ok() };
        let Some(pages) = pages else {
            return Self::Heap(vec![0; bytes]);
        };
        // Fewer faults and fewer misses of the processor's own tables; without them it works as well.
        #[cfg(target_os = "linux")]
        let _ = pages.advise(memmap2::Advice::HugePage);
        Self::Pages(pages)
    }

    /// A copy.
    pub fn of(bytes: &[u8]) -> Self {
        let mut own = Self::new(bytes.len());
        own.copy_from_slice(bytes);
        own
    }
}

impl Clone for Memory {
    fn clone(&self) -> Self {
        Self::of(self)
    }
}

impl Deref for Memory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Pages(pages) => pages,
            Self::Heap(bytes) => bytes,
        }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Pages(pages) => pages,
            Self::Heap(bytes) => bytes,
        }
    }
}
