use std::str::FromStr;

use crate::SchemeError;

/// Largest `log2 q` for 128-bit security against classical attacks with ternary secrets, by ring
/// degree: (N, 2024 *Security Guidelines for Implementing Homomorphic Encryption*, 2018
/// *Homomorphic Encryption Standard*). Bits for each dimension increase from row to row.
const SECURE_MODULUS_BITS: [(usize, u32, u32); 6] = [
    (1024, 26, 27),
    (2048, 53, 54),
    (4096, 106, 109),
    (8192, 214, 218),
    (16384, 430, 438),
    (32768, 868, 881),
];

/// What the guidelines and the standard allow for a ring of any degree, none below the smallest listed: as
/// many bits for each dimension as the next lower degree listed has, rounded down. A line between two
/// rows would allow more than the curve through them, which bends upwards.
fn secure_bits(ring_degree: usize) -> Option<[u32; 2]> {
    let row = SECURE_MODULUS_BITS.iter().rev().find(|row| row.0 <= ring_degree)?;
    let share = |bits: u32| (ring_degree * bits as usize / row.0) as u32;
    Some([share(row.1), share(row.2)])
}

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

/// What a parameter set keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    /// What the tables say of a lattice, or nothing.
    Of(Assurance),
    /// 128 bits against classical computers alone, as NIST SP 800-57 counts moduli and curves: where factors or
    /// logarithms are the secret. RFC 7919 gives ffdhe3072 125.
    Classical128,
    /// 128 bits against quantum computers too, by a block cipher with a key of 256 bits.
    Symmetric128,
}

impl Security {
    /// The name in the interface.
    pub fn name(self) -> &'static str {
        match self {
            Self::Of(assurance) => assurance.name(),
            Self::Classical128 => "classical128",
            Self::Symmetric128 => "symmetric128",
        }
    }
}

impl FromStr for Assurance {
    type Err = SchemeError;

    fn from_str(name: &str) -> Result<Self, SchemeError> {
        let all = [Self::Insecure, Self::HeStd2018, Self::Guidelines2024];
        let known = all.into_iter().find(|assurance| assurance.name() == name);
        known.ok_or_else(|| SchemeError::Parameter {
            name: "assurance",
            value: name.into(),
            remedy: "choose one of guidelines2024, hestd2018, insecure",
        })
    }
}

impl Assurance {
    /// The name in the interface.
    pub fn name(self) -> &'static str {
        match self {
            Self::Insecure => "insecure",
            Self::HeStd2018 => "hestd2018",
            Self::Guidelines2024 => "guidelines2024",
        }
    }

    /// The strongest assurance of a ring degree and all primes that a secret is used with.
    pub fn of(ring_degree: usize, log2_modulus: f64) -> Self {
        match secure_bits(ring_degree) {
            Some([guidelines, _]) if log2_modulus <= f64::from(guidelines) => Self::Guidelines2024,
            Some([_, standard]) if log2_modulus <= f64::from(standard) => Self::HeStd2018,
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

    /// What the guidelines allow at a dimension: that of a ring of this degree, and below the smallest
    /// ring the line through the two smallest, which is below a curve that bends upwards.
    #[cfg(feature = "tfhe")]
    pub(crate) fn bits_for_dimension(dimension: usize) -> f64 {
        if let Some([guidelines, _]) = secure_bits(dimension) {
            return f64::from(guidelines);
        }
        let [low, high] =
            [0, 1].map(|i| SECURE_MODULUS_BITS[i]).map(|row| (row.0 as f64, f64::from(row.1)));
        low.1 + (dimension as f64 - low.0) * (high.1 - low.1) / (high.0 - low.0)
    }

    /// Refuses a set that has not this assurance.
    pub(crate) fn check(self, ring_degree: usize, log2_modulus: f64) -> Result<(), SchemeError> {
        if Self::of(ring_degree, log2_modulus) >= self {
            return Ok(());
        }
        let [guidelines, standard] = secure_bits(ring_degree).unwrap_or_default();
        let (limit, standard) = match self {
            Self::Guidelines2024 => (guidelines, "the 2024 guidelines"),
            _ => (standard, "the 2018 standard"),
        };
        Err(SchemeError::Security { ring_degree, log2_modulus, limit, standard })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows, and degrees of rings that are used elsewhere: 6528, 8190, 9718, 15004 and others.
    #[test]
    fn degrees_between_the_rows_have_the_lower_rows_share() {
        for (degree, bits) in [
            (1024, 26),
            (2047, 51),
            (4096, 106),
            (6528, 168),
            (8190, 211),
            (9718, 253),
            (10_584, 276),
            (15_004, 391),
            (16_384, 430),
            (27_000, 708),
            (32_768, 868),
        ] {
            let bits = f64::from(bits);
            assert_eq!(Assurance::of(degree, bits), Assurance::Guidelines2024, "{degree}");
            assert!(Assurance::of(degree, bits.next_up()) < Assurance::Guidelines2024, "{degree}");
        }
        for degree in [0, 1, 128, 1023] {
            assert_eq!(Assurance::of(degree, 1.0), Assurance::Insecure, "{degree}");
        }
    }

    #[test]
    fn bits_for_each_dimension_increase() {
        for pair in SECURE_MODULUS_BITS.windows(2) {
            let bits = |row: (usize, u32, u32)| [row.1, row.2].map(|b| f64::from(b) / row.0 as f64);
            let [low, high] = [pair[0], pair[1]].map(bits);
            assert!(low[0] <= high[0] && low[1] <= high[1], "{pair:?}");
        }
    }
}
