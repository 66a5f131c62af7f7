/// Where features, weights and scores lie.
///
/// Feature `j` of sample `i` is the coefficient of `X^(i o d + j)`, the weight of feature `j` in output `k` that of
/// `X^(k d + d - 1 - j)`, so that the score is that of `X^(i o d + k d + d - 1)`: samples are `o d` apart, hence no two
/// products of different samples or outputs meet there, and with `i o d + o d <= N` none comes around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// `N`.
    pub ring_degree: usize,
    /// `d`.
    pub features: usize,
    /// `o`.
    pub outputs: usize,
}

impl Layout {
    /// Samples of a ciphertext.
    pub fn capacity(&self) -> usize {
        self.ring_degree / self.places()
    }

    /// Coefficients of a sample.
    pub fn places(&self) -> usize {
        self.features * self.outputs
    }

    /// Where a sample's features begin.
    pub fn sample(&self, sample: usize) -> usize {
        sample * self.places()
    }

    /// Where a weight lies.
    pub fn weight(&self, output: usize, feature: usize) -> usize {
        output * self.features + self.features - 1 - feature
    }

    /// Where the scores of so many samples lie, sample after sample.
    pub fn scores(&self, samples: usize) -> impl Iterator<Item = usize> + use<> {
        let layout = *self;
        let of_sample = move |sample| {
            (0..layout.outputs)
                .map(move |output| layout.sample(sample) + (output + 1) * layout.features - 1)
        };
        (0..samples).flat_map(of_sample)
    }

    /// The coefficients of `c_0` that the scores of so many samples depend on: the first, and how many follow it
    /// around the ring. A score at `i` takes those from `i - (o d - 1)` to `i`, as far as the weights reach.
    pub fn window(&self, samples: usize) -> (usize, usize) {
        let before = (self.outputs - 1) * self.features;
        let length = (self.sample(samples) + before).min(self.ring_degree);
        ((self.ring_degree - before) % self.ring_degree, length)
    }

    /// How samples are cut into ciphertexts: how many each has.
    pub fn blocks(&self, samples: usize) -> impl ExactSizeIterator<Item = usize> + use<> {
        let capacity = self.capacity();
        (0..samples.div_ceil(capacity)).map(move |block| capacity.min(samples - block * capacity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition of the product: each score is the inner product, and reads no coefficient outside its
    /// window.
    #[test]
    fn scores_are_inner_products_and_read_the_window_alone() {
        for (n, features, outputs) in
            [(64, 5, 3), (64, 8, 8), (64, 64, 1), (64, 1, 64), (64, 1, 1), (64, 7, 4), (64, 30, 1)]
        {
            let layout = Layout { ring_degree: n, features, outputs };
            for samples in 1..=layout.capacity() {
                let x = |i: usize, j: usize| (100 * i + j + 1) as i64;
                let w = |k: usize, j: usize| (1000 + 37 * k + j * j) as i64;
                let (start, length) = layout.window(samples);
                // Outside of the window there is something else, which must not count.
                let mut first = vec![1 << 40; n];
                for at in 0..length {
                    first[(start + at) % n] = 0;
                }
                let mut second = vec![0; n];
                for i in 0..samples {
                    for j in 0..features {
                        first[layout.sample(i) + j] = x(i, j);
                    }
                }
                for k in 0..outputs {
                    for j in 0..features {
                        second[layout.weight(k, j)] = w(k, j);
                    }
                }
                let mut product = vec![0; n];
                for (i, a) in first.iter().enumerate() {
                    for (j, b) in second.iter().enumerate() {
                        product[(i + j) % n] += if i + j < n { a * b } else { -a * b };
                    }
                }
                for (at, place) in layout.scores(samples).enumerate() {
                    let (i, k) = (at / outputs, at % outputs);
                    let expected: i64 = (0..features).map(|j| x(i, j) * w(k, j)).sum();
                    assert_eq!(product[place], expected, "{layout:?}, {samples} samples, {i}, {k}");
                }
            }
            let total: usize = layout.blocks(100).sum();
            assert_eq!(total, 100);
        }
    }
}
