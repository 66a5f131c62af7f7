//! Parameter sets of single bits. Builds without the feature `tfhe` refuse to make them, and with them
//! everything that starts from one: keys, encrypted bits, evaluators.

#[cfg(not(feature = "tfhe"))]
pub use absent::BitSet;
#[cfg(feature = "tfhe")]
pub use present::BitSet;

/// What a set says of itself.
pub struct Numbers {
    pub ring_degree: usize,
    pub plain_modulus: u64,
    /// Variances of bits and of lookups of one and of two tables.
    pub precision: (f64, [f64; 2]),
}

#[cfg(feature = "tfhe")]
mod present {
    use std::sync::Arc;

    use hesc_schemes::Assurance;
    use hesc_schemes::streams::tfhe::{Decomposition, GRID, Spec, Tfhe};
    use pyo3::PyResult;

    use super::Numbers;
    use crate::erased::{Set, SetOf};
    use crate::errors::scheme_to_py;

    /// A set of single bits.
    pub struct BitSet {
        scheme: Tfhe,
        spec: Spec,
    }

    impl BitSet {
        fn new(spec: Spec, assurance: Assurance) -> PyResult<Self> {
            let scheme = Tfhe::new(spec, assurance).map_err(scheme_to_py)?;
            Ok(Self { scheme, spec })
        }

        /// The ring's and the small dimension, `log2` of the noise of each, and bits of a digit and
        /// digits of bootstrap, key switch and packing.
        pub fn choose(
            (ring_degree, lwe_dimension): (usize, usize),
            (log2_ring_noise, log2_lwe_noise): (f64, f64),
            digits: [(u32, u32); 3],
            assurance: Assurance,
        ) -> PyResult<Self> {
            let [bootstrap, keyswitch, packing] =
                digits.map(|(base_log, levels)| Decomposition { base_log, levels });
            let spec = Spec {
                ring_degree,
                lwe_dimension,
                log2_ring_noise,
                log2_lwe_noise,
                bootstrap,
                keyswitch,
                packing,
            };
            Self::new(spec, assurance)
        }

        pub fn read(data: &[u8], assurance: Assurance) -> PyResult<Self> {
            Self::new(Spec::from_bytes(data).map_err(scheme_to_py)?, assurance)
        }

        pub fn to_bytes(&self) -> Vec<u8> {
            self.spec.to_bytes()
        }

        pub fn assurance(&self) -> Assurance {
            self.spec.assurance()
        }

        pub fn erased(&self) -> Arc<dyn Set> {
            Arc::new(SetOf(self.scheme.clone()))
        }

        pub fn scheme(&self) -> &Tfhe {
            &self.scheme
        }

        pub fn numbers(&self) -> Numbers {
            let noise = self.scheme.noise();
            Numbers {
                ring_degree: self.spec.ring_degree,
                plain_modulus: GRID,
                precision: (noise.bit, noise.lookup),
            }
        }
    }
}

#[cfg(not(feature = "tfhe"))]
mod absent {
    use std::sync::Arc;

    use hesc_schemes::Assurance;
    use pyo3::PyResult;

    use super::Numbers;
    use crate::erased::Set;
    use crate::errors::ParameterError;

    /// There is none.
    pub enum BitSet {}

    impl BitSet {
        pub fn choose(
            _: (usize, usize),
            _: (f64, f64),
            _: [(u32, u32); 3],
            _: Assurance,
        ) -> PyResult<Self> {
            Self::refuse()
        }

        pub fn read(_: &[u8], _: Assurance) -> PyResult<Self> {
            Self::refuse()
        }

        fn refuse() -> PyResult<Self> {
            Err(ParameterError::new_err(
                "this build of hesc leaves out the scheme tfhe, which takes minutes to compile: \
                 build it with the feature tfhe (make build)",
            ))
        }

        pub fn to_bytes(&self) -> Vec<u8> {
            match *self {}
        }

        pub fn assurance(&self) -> Assurance {
            match *self {}
        }

        pub fn erased(&self) -> Arc<dyn Set> {
            match *self {}
        }

        pub fn numbers(&self) -> Numbers {
            match *self {}
        }
    }
}
