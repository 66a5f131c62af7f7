/// Remainders of numbers without a division and without a branch, by numbers below 2^31.
pub(super) struct Divisor {
    value: u64,
    /// `2^64 / value`, rounded down.
    inverse: u64,
}

impl Divisor {
    pub fn new(value: u64) -> Self {
        Self { value, inverse: ((1u128 << 64) / u128::from(value)) as u64 }
    }

    pub fn remainder(&self, x: u64) -> u64 {
        // Below by one at most.
        let quotient = ((u128::from(x) * u128::from(self.inverse)) >> 64) as u64;
        let rest = x - quotient * self.value;
        let less = rest.wrapping_sub(self.value);
        less.wrapping_add(self.value & (less >> 63).wrapping_neg())
    }
}

#[cfg(test)]
mod tests {
    use super::Divisor;

    #[test]
    fn remainders_are_those_of_division() {
        for value in [2, 3, 13, 131_101, (1 << 30) - 35, (1 << 31) - 1] {
            let divisor = Divisor::new(value);
            let ends = [0, 1, value - 1, value, 2 * value - 1, u64::from(u32::MAX), u64::MAX];
            let multiples = (1..1000).map(|i| u64::MAX / value / i * value);
            for x in ends.into_iter().chain(multiples.flat_map(|x| [x - 1, x, x.wrapping_add(1)])) {
                assert_eq!(divisor.remainder(x), x % value, "{x} by {value}");
            }
        }
    }
}
