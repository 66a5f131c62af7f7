use crate::error::refuse;
use crate::kinds::SchemeId;
use crate::wire::{Reader, Writer};
use crate::{Assurance, Fingerprint, SchemeError};

/// Words of evaluation keys in the form that computes, at most: 4 GB. What travels may be a twentieth.
const MOST_KEY_WORDS: usize = 1 << 29;

/// The least dimension, of bits and of ring elements, that counts as secure, however wide the noise.
///
/// Both curves that noise is held against are for attacks by lattice reduction. In small dimensions, where noise is
/// wide, coded BKW (Guo, Johansson and Stankovski 2015) is faster, and evaluation keys publish samples enough to make
/// as many more as it takes. With the least noise that the curves allow the lattice estimator's formulas (commit
/// 27a581b) give 2^116 operations at dimension 308, 2^128 at 449 and 2^135 at 512, from 2^26 samples.
const LEAST_SECURE_DIMENSION: usize = 512;

/// How a word is cut into digits: `levels` of `base_log` bits, from the top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decomposition {
    /// Bits of a digit.
    pub base_log: u32,
    /// Digits; what is below the last is rounded away.
    pub levels: u32,
}

impl Decomposition {
    /// Its base.
    pub(super) fn base(self) -> f64 {
        f64::from(self.base_log).exp2()
    }
}

/// An unchecked parameter set; [`super::Tfhe::new`] checks it. The modulus is `2^64`, secrets are
/// binary, noise is Gaussian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// Coefficients of a ring element, `N`; also the dimension of bits.
    pub ring_degree: usize,
    /// The dimension that bits have while they are looked up, `n`.
    pub lwe_dimension: usize,
    /// `log2` of the deviation of the noise of ring elements, in units of the torus.
    pub log2_ring_noise: f64,
    /// `log2` of the deviation of the noise at the small dimension.
    pub log2_lwe_noise: f64,
    /// Digits of the bootstrap.
    pub bootstrap: Decomposition,
    /// Digits of the switch to the small dimension.
    pub keyswitch: Decomposition,
    /// Digits of the packing into ring elements.
    pub packing: Decomposition,
}

impl Spec {
    /// From the ring's and the small dimension, `log2` of the noise of each, and bits of a digit and digits of
    /// bootstrap, key switch and packing.
    pub fn of(
        [ring_degree, lwe_dimension]: [usize; 2],
        [log2_ring_noise, log2_lwe_noise]: [f64; 2],
        digits: [(u32, u32); 3],
    ) -> Self {
        let [bootstrap, keyswitch, packing] =
            digits.map(|(base_log, levels)| Decomposition { base_log, levels });
        Self {
            ring_degree,
            lwe_dimension,
            log2_ring_noise,
            log2_lwe_noise,
            bootstrap,
            keyswitch,
            packing,
        }
    }

    /// The strongest assurance this set has: that of the weaker of its two dimensions.
    ///
    /// The guidelines have ternary secrets and noise of deviation 3.19; what counts is the modulus over
    /// the noise. Binary secrets are a little weaker: the noise must also be that of the 132 bits
    /// that the `tfhe` crate computes with the lattice estimator for them. Neither says anything of dimensions below
    /// 512, which are not secure.
    pub fn assurance(&self) -> Assurance {
        let of = |dimension: usize, log2_noise: f64| {
            let binary =
                log2_noise >= log2_noise_132_bits(dimension) && dimension >= LEAST_SECURE_DIMENSION;
            match Assurance::of_dimension(dimension, 3.19f64.log2() - log2_noise) {
                assurance if binary => assurance,
                _ => Assurance::Insecure,
            }
        };
        of(self.ring_degree, self.log2_ring_noise).min(of(self.lwe_dimension, self.log2_lwe_noise))
    }

    /// Of the keys for bootstraps, key switches and packing: rows, and words of each row's random half and
    /// of its other one.
    pub(super) fn evaluation_keys(&self) -> [[usize; 3]; 3] {
        let (n, small) = (self.ring_degree, self.lwe_dimension);
        let rows = |bits: usize, decomposition: Decomposition| bits * decomposition.levels as usize;
        [
            // A row for each of the two components of ring elements.
            [2 * rows(small, self.bootstrap), n, n],
            [rows(n, self.keyswitch), small, 1],
            [rows(small, self.packing), n, n],
        ]
    }

    /// The set's hash.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.to_bytes())
    }

    pub(super) fn check(&self, assurance: Assurance) -> Result<(), SchemeError> {
        if !(256..=8192).contains(&self.ring_degree) || !self.ring_degree.is_power_of_two() {
            let remedy = "choose a power of two from 256 to 8192";
            return refuse("ring_degree", self.ring_degree, remedy);
        }
        if !(16..=self.ring_degree).contains(&self.lwe_dimension) {
            let remedy = "choose one from 16 to the ring degree";
            return refuse("lwe_dimension", self.lwe_dimension, remedy);
        }
        for (name, noise) in
            [("log2_ring_noise", self.log2_ring_noise), ("log2_lwe_noise", self.log2_lwe_noise)]
        {
            if !(-62.0..=-5.0).contains(&noise) {
                return refuse(name, noise, "choose one from -62 to -5");
            }
        }
        for (name, digits) in [
            ("bootstrap", self.bootstrap),
            ("keyswitch", self.keyswitch),
            ("packing", self.packing),
        ] {
            let Decomposition { base_log, levels } = digits;
            let bits = base_log.saturating_mul(levels);
            if base_log == 0 || levels == 0 || bits > 60 {
                let value = format!("{levels} digits of {base_log} bits");
                return refuse(name, value, "choose at least one digit and at most 60 bits in all");
            }
        }
        let keys = self.evaluation_keys();
        let words: usize = keys.map(|[rows, random, body]| rows * (random + body)).iter().sum();
        if words > MOST_KEY_WORDS {
            let value = format!("{} GB once they are expanded", words >> 27);
            return refuse(
                "evaluation keys",
                value,
                "choose fewer digits, for keys of 4 GB at most",
            );
        }
        if self.assurance() >= assurance {
            return Ok(());
        }
        if self.lwe_dimension < LEAST_SECURE_DIMENSION {
            return Err(SchemeError::Weak {
                set: "a small dimension below 512, where combining samples beats lattice reduction,",
                remedy: "take lwe_dimension=512 or more",
            });
        }
        Err(SchemeError::Security {
            ring_degree: self.lwe_dimension,
            log2_modulus: 3.19f64.log2() - self.log2_lwe_noise.min(self.log2_ring_noise),
            limit: Assurance::bits_for_dimension(self.lwe_dimension) as u32,
            standard: "the 2024 guidelines",
        })
    }

    /// The wire form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::params(SchemeId::Tfhe);
        writer.u32(self.ring_degree as u32).u32(self.lwe_dimension as u32);
        writer.f64(self.log2_ring_noise).f64(self.log2_lwe_noise);
        for digits in [self.bootstrap, self.keyswitch, self.packing] {
            writer.u32(digits.base_log).u32(digits.levels);
        }
        writer.finish()
    }

    /// Reads the wire form; the set is still to be checked.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SchemeError> {
        let mut reader = Reader::open_params(bytes, SchemeId::Tfhe)?;
        let dimensions = [reader.u32()? as usize, reader.u32()? as usize];
        let log2_noise = [reader.f64()?, reader.f64()?];
        let mut digits = || Ok::<_, SchemeError>((reader.u32()?, reader.u32()?));
        let digits = [digits()?, digits()?, digits()?];
        reader.finish()?;
        Ok(Self::of(dimensions, log2_noise, digits))
    }
}

/// `log2` of the deviation of Gaussian noise that gives binary secrets 132 bits, as the `tfhe` crate has
/// it from the lattice estimator; never below two bits of the word.
fn log2_noise_132_bits(dimension: usize) -> f64 {
    use ::tfhe::core_crypto::commons::noise_formulas::secure_noise::minimal_lwe_variance_for_132_bits_security_gaussian_impl as variance;
    // The sets are given to a thousandth of a bit.
    variance(dimension as f64, 64f64.exp2()).log2() / 2.0 - 1e-3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_whose_keys_no_machine_holds_are_refused() {
        let all = Decomposition { base_log: 1, levels: 60 };
        let one = Decomposition { base_log: 23, levels: 1 };
        let spec = crate::streams::tfhe::tests::secure();
        let large = Spec { ring_degree: 8192, lwe_dimension: 1200, ..spec };
        assert!(large.check(Assurance::Insecure).is_ok());
        for digits in [[all, one, one], [one, all, one], [one, one, all]] {
            let [bootstrap, keyswitch, packing] = digits;
            let refused =
                Spec { bootstrap, keyswitch, packing, ..large }.check(Assurance::Insecure);
            assert!(matches!(refused, Err(SchemeError::Parameter { .. })), "{digits:?}");
        }
    }

    /// However wide the noise, which both curves ask little of.
    #[test]
    fn small_dimensions_are_not_secure() {
        let spec = crate::streams::tfhe::tests::secure();
        for dimension in [16, 308, 449, 450, 511] {
            let small = Spec { lwe_dimension: dimension, log2_lwe_noise: -5.0, ..spec };
            assert_eq!(small.assurance(), Assurance::Insecure, "{dimension}");
            let refused = small.check(Assurance::Guidelines2024);
            assert!(matches!(refused, Err(SchemeError::Weak { .. })), "{dimension}");
            assert!(small.check(Assurance::Insecure).is_ok());
        }
        let least = Spec { lwe_dimension: 512, log2_lwe_noise: -9.0, ..spec };
        assert_eq!(least.assurance(), Assurance::Guidelines2024);
        let ring = Spec { ring_degree: 256, lwe_dimension: 256, log2_ring_noise: -5.0, ..least };
        assert_eq!(ring.assurance(), Assurance::Insecure);
    }

    #[test]
    fn less_noise_is_less_secure() {
        let spec = crate::streams::tfhe::tests::secure();
        assert_eq!(spec.assurance(), Assurance::Guidelines2024);
        for weaker in [
            Spec { log2_lwe_noise: spec.log2_lwe_noise - 0.1, ..spec },
            Spec { log2_ring_noise: spec.log2_ring_noise - 0.1, ..spec },
            Spec { lwe_dimension: spec.lwe_dimension - 8, ..spec },
        ] {
            assert_eq!(weaker.assurance(), Assurance::Insecure);
            let refused = weaker.check(Assurance::Guidelines2024);
            assert!(matches!(refused, Err(SchemeError::Security { .. })));
        }
    }
}
