//! What stands in a page for transforms of odd rings: nothing that a client does there needs one, and with rustfft's planner
//! they were a quarter of its module. Nobody can make a value of these types, and compilers leave out what works on them.

use super::RingIndex;
use crate::Word;

/// None.
#[derive(Debug, Clone)]
pub(crate) enum AxisTransforms {}

impl AxisTransforms {
    pub(crate) fn forward<W: Word>(&self, _: &mut [W]) {
        match *self {}
    }

    pub(crate) fn inverse<W: Word>(&self, _: &mut [W]) {
        match *self {}
    }

    pub(crate) fn multiply_assign<W: Word>(&self, _: &mut [W], _: &[W]) {
        match *self {}
    }
}

/// None.
#[derive(Debug, Clone)]
pub(crate) enum FermatTransform {}

impl FermatTransform {
    pub(crate) fn forward(&self, _: &mut [u64]) {
        match *self {}
    }

    pub(crate) fn inverse(&self, _: &mut [u64]) {
        match *self {}
    }
}

#[derive(Debug, Clone)]
enum Nobody {}

/// None: WebAssembly has no odd rings.
#[derive(Debug, Clone)]
pub struct Embedding(Nobody);

impl Embedding {
    /// # Panics
    /// Always. Rings are made first, and an odd one is refused.
    pub fn new(index: RingIndex) -> Self {
        unreachable!("a ring of index {} was made", index.value())
    }

    /// Of nothing.
    pub fn values(&self, _: &[f64]) -> Vec<[f64; 2]> {
        match self.0 {}
    }
}
