use hesc_math::ring::Prime;

/// What the words of a ciphertext are between operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Domain {
    /// Coefficients of polynomials.
    Coefficients,
    /// Their values at the roots of unity, where products are pointwise.
    Evaluations,
}

impl Domain {
    /// Brings evaluations into this domain.
    pub fn accept_evaluations(self, words: &mut [u64], prime: &Prime) {
        if self == Self::Coefficients {
            prime.inverse(words);
        }
    }

    /// Brings coefficients into this domain.
    pub fn accept_coefficients(self, words: &mut [u64], prime: &Prime) {
        if self == Self::Evaluations {
            prime.forward(words);
        }
    }

    /// From this domain to evaluations.
    pub fn to_evaluations(self, words: &mut [u64], prime: &Prime) {
        if self == Self::Coefficients {
            prime.forward(words);
        }
    }

    /// From this domain to coefficients.
    pub fn to_coefficients(self, words: &mut [u64], prime: &Prime) {
        if self == Self::Evaluations {
            prime.inverse(words);
        }
    }
}
