use crate::SchemeError;

/// Largest `log2 q` for 128-bit security against classical attacks with ternary secrets, by ring
/// degree: (N, 2024 *Security Guidelines for Implementing Homomorphic Encryption*, 2018
/// *Homomorphic Encryption Standard*).
const SECURE_MODULUS_BITS: [(usize, u32, u32); 6] = [
    (1024, 26, 27),
    (2048, 53, 54),
    (4096, 106, 109),
    (8192, 214, 218),
    (16384, 430, 438),
    (32768, 868, 881),
];

/// How secure a parameter set must be to be accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assurance {
    /// Anything: for experiments, names say `insecure_`.
    Insecure,
    /// 128 bits by the 2018 standard; names say `hestd2018_`.
    HeStd2018,
    /// 128 bits by the 2024 guidelines: the default.
    Guidelines2024,
}

impl Assurance {
    /// The strongest assurance of a ring degree and all primes that a secret is used with.
    pub fn of(ring_degree: usize, log2_modulus: f64) -> Self {
        match SECURE_MODULUS_BITS.iter().find(|row| row.0 == ring_degree) {
            Some(row) if log2_modulus <= f64::from(row.1) => Self::Guidelines2024,
            Some(row) if log2_modulus <= f64::from(row.2) => Self::HeStd2018,
            _ => Self::Insecure,
        }
    }

    /// The strongest assurance of any dimension, by the logarithm of the modulus over the noise's
    /// deviation, times the guidelines' 3.19: for schemes without rings at their small dimension.
    #[cfg(feature = "tfhe")]
    pub(crate) fn of_dimension(dimension: usize, log2_modulus: f64) -> Self {
        if log2_modulus <= Self::bits_for_dimension(dimension) {
            Self::Guidelines2024
        } else {
            Self::Insecure
        }
    }

    /// What the guidelines allow at a dimension: the line through the two ring degrees next to it.
    #[cfg(feature = "tfhe")]
    pub(crate) fn bits_for_dimension(dimension: usize) -> f64 {
        let pair = SECURE_MODULUS_BITS
            .windows(2)
            .find(|pair| dimension <= pair[1].0)
            .unwrap_or(&SECURE_MODULUS_BITS[SECURE_MODULUS_BITS.len() - 2..]);
        let [low, high] = [pair[0], pair[1]].map(|row| (row.0 as f64, f64::from(row.1)));
        low.1 + (dimension as f64 - low.0) * (high.1 - low.1) / (high.0 - low.0)
    }

    /// Refuses a set that has not this assurance.
    pub(crate) fn check(self, ring_degree: usize, log2_modulus: f64) -> Result<(), SchemeError> {
        if Self::of(ring_degree, log2_modulus) >= self {
            return Ok(());
        }
        let row = SECURE_MODULUS_BITS.iter().find(|row| row.0 == ring_degree);
        let (limit, standard) = match self {
            Self::Guidelines2024 => (row.map_or(0, |r| r.1), "the 2024 guidelines"),
            _ => (row.map_or(0, |r| r.2), "the 2018 standard"),
        };
        Err(SchemeError::Security { ring_degree, log2_modulus, limit, standard })
    }
}
