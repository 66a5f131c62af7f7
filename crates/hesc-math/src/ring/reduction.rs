use super::RingIndex;

/// From polynomials modulo `X^m - 1` to the ring of an odd index.
///
/// Small errors are drawn as `m` independent coefficients there and reduced (Ducas and Durmus 2012):
/// their embeddings are then alike and independent, which they would not be had they been drawn in a
/// basis. By the Chinese remainder theorem the `m` powers of `X` are an array with `p` places along the
/// axis of each prime (the last prime's next to each other), and along each axis `1 = -(zeta + zeta^2 + ... + zeta^(p-1))`.
#[derive(Debug, Clone)]
pub(crate) struct Reduction {
    /// Each prime, and the places from one residue modulo it to the next.
    axes: Vec<(usize, usize)>,
    /// For each coefficient of the result its place in the array.
    places: Vec<u32>,
}

impl Reduction {
    /// For an odd index.
    pub(crate) fn new(index: RingIndex) -> Self {
        let mut step = index.value();
        let axis = |prime: usize| {
            step /= prime;
            (prime, step)
        };
        let axes: Vec<(usize, usize)> = index.odd_primes().map(axis).collect();
        let place = |exponent: usize| -> usize {
            axes.iter().map(|(prime, step)| exponent % prime * step).sum()
        };
        let places = index.exponents().into_iter().map(|e| place(e) as u32).collect();
        Self { axes, places }
    }

    /// Coefficients before the reduction, `m`.
    pub(crate) fn length(&self) -> usize {
        self.axes.iter().map(|(prime, _)| prime).product()
    }

    /// The element in the ring's basis; `array` is overwritten. Each prime at most doubles the
    /// absolute values.
    pub(crate) fn reduce(&self, out: &mut [i16], array: &mut [i16]) {
        for &(prime, step) in &self.axes {
            for block in array.chunks_exact_mut(prime * step) {
                let (first, others) = block.split_at_mut(step);
                for row in others.chunks_exact_mut(step) {
                    for (x, one) in row.iter_mut().zip(first.iter()) {
                        *x -= one;
                    }
                }
            }
        }
        for (out, &place) in out.iter_mut().zip(&self.places) {
            *out = array[place as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::definition::{Definition, INDICES, random};
    use super::*;

    #[test]
    fn the_same_element_comes_back() {
        for index in INDICES.into_iter().filter(|&index| index != 512) {
            let definition = Definition::new(index, 65537);
            let (ring, q) = (definition.index, definition.q);
            let reduction = Reduction::new(ring);
            assert_eq!(reduction.length(), index);
            let drawn: Vec<i16> = random(index, 43, 5).into_iter().map(|x| x as i16 - 21).collect();
            let mut out = vec![0; ring.degree()];
            reduction.reduce(&mut out, &mut drawn.clone());
            // The place of X^e: its residues, the last prime's in steps of one.
            let place = |e: usize| ring.odd_primes().fold(0, |place, p| place * p + e % p);
            let terms = (0..index).map(|e| (e, q.reduce_signed(i64::from(drawn[place(e)]))));
            let small: Vec<u64> = out.iter().map(|&x| q.reduce_signed(i64::from(x))).collect();
            assert_eq!(definition.element(&small), definition.reduced(terms), "{index}");
        }
    }
}
