//! The `tfhe` crate called directly: what gates are measured against.

use std::time::Instant;

use crate::workers::Compute;
use pyo3::prelude::*;
use tfhe::boolean::parameters::PARAMETERS_ERROR_PROB_2_POW_MINUS_165;
use tfhe::boolean::prelude::{BinaryBooleanGates, ClientKey, DEFAULT_PARAMETERS, ServerKey};

/// Keys of the crate's boolean gates.
#[pyclass(frozen, module = "hesc")]
pub struct TfheBoolean {
    client: ClientKey,
    server: ServerKey,
}

#[pymethods]
impl TfheBoolean {
    /// Keys whose gates fail with probability 2^-165, or with the crate's default.
    #[new]
    fn new(py: Python<'_>, crate_default: bool) -> Self {
        let parameters =
            if crate_default { DEFAULT_PARAMETERS } else { PARAMETERS_ERROR_PROB_2_POW_MINUS_165 };
        py.compute(|| {
            let client = ClientKey::new(&parameters);
            let server = ServerKey::new(&client);
            Self { client, server }
        })
    }

    /// Seconds that this many AND gates take, one after the other; each is checked.
    fn time_gates(&self, py: Python<'_>, gates: usize) -> f64 {
        py.compute(|| {
            let one = self.client.encrypt(true);
            let mut bit = self.client.encrypt(true);
            let start = Instant::now();
            for _ in 0..gates {
                bit = self.server.and(&bit, &one);
            }
            let seconds = start.elapsed().as_secs_f64();
            assert!(self.client.decrypt(&bit), "a conjunction of ones is one");
            seconds
        })
    }
}
