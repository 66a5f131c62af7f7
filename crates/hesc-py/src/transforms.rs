//! Transforms by themselves: the unit in which times on rings are stated, and what they are measured against.

use std::time::Instant;

use hesc_math::RingIndex;
use hesc_math::ring::Prime;
use pyo3::prelude::*;

use crate::errors::scheme_to_py;
use crate::workers::Compute;

/// The transform of a ring modulo its largest prime of a size: for a power of two that of the `tfhe-ntt` crate.
#[pyclass(frozen, module = "hesc")]
pub struct Transform(Prime);

#[pymethods]
impl Transform {
    #[new]
    fn new(ring_index: usize, bits: u32) -> PyResult<Self> {
        let made = || {
            let ring = RingIndex::new(ring_index)?;
            let primes = ring.ntt_primes(bits, 1)?;
            Prime::new(ring, primes[0])
        };
        made().map(Self).map_err(|error| scheme_to_py(error.into()))
    }

    /// Seconds of so many transforms one after the other, each of the one before.
    fn seconds(&self, py: Python<'_>, count: usize) -> f64 {
        py.compute(|| {
            let mut words: Vec<u64> = (0..self.0.ring_degree() as u64).collect();
            let start = Instant::now();
            for _ in 0..count {
                self.0.forward(&mut words);
            }
            start.elapsed().as_secs_f64()
        })
    }
}
