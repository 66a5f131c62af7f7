use crate::plans::MOST_WORDS;

/// Where products lie: one after the other, sample after sample, a coefficient each. A ciphertext has as many samples as
/// fit, or a sample takes several ciphertexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// `N`.
    pub ring_degree: usize,
    /// Products of a sample.
    pub products: usize,
}

/// The products of one ciphertext.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The sample of the first.
    pub sample: usize,
    /// Which product of that sample it is.
    pub product: usize,
    /// How many there are.
    pub places: usize,
}

impl Layout {
    /// Samples of a ciphertext, or 1 where one takes several.
    pub fn capacity(&self) -> usize {
        (self.ring_degree / self.products).max(1)
    }

    /// Ciphertexts of so many samples as [`Self::capacity`].
    pub fn ciphertexts(&self) -> usize {
        self.products.div_ceil(self.ring_degree)
    }

    /// Samples that an upload takes, at most.
    pub fn most_samples(&self) -> usize {
        (MOST_WORDS / self.ring_degree / self.ciphertexts()).max(1) * self.capacity()
    }

    /// How samples are cut into ciphertexts.
    pub fn blocks(&self, samples: usize) -> impl ExactSizeIterator<Item = Block> + use<> {
        let (layout, each) = (*self, self.ciphertexts());
        (0..samples.div_ceil(self.capacity()) * each).map(move |block| {
            let sample = block / each * layout.capacity();
            let count = layout.capacity().min(samples - sample);
            let product = block % each * layout.ring_degree;
            let places = (count * layout.products - product).min(layout.ring_degree);
            Block { sample, product, places }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every product of every sample once, in order, no ciphertext overfull, and samples not torn where they fit.
    #[test]
    fn blocks_are_all_products_in_order() {
        for (ring_degree, products) in [(8, 1), (8, 3), (8, 8), (8, 9), (8, 16), (8, 21)] {
            let layout = Layout { ring_degree, products };
            for samples in 1..20 {
                let mut next = 0;
                for block in layout.blocks(samples) {
                    assert_eq!(block.sample * products + block.product, next);
                    assert!((1..=ring_degree).contains(&block.places));
                    assert!(
                        products > ring_degree
                            || block.product == 0 && block.places % products == 0
                    );
                    next += block.places;
                }
                assert_eq!(next, samples * products);
            }
        }
    }
}
