//! The `tfhe` crate called directly: what gates are measured against.

use std::time::Instant;

use crate::bits::other_scheme;
use crate::params::StreamParams;
use crate::workers::Compute;
use hesc_schemes::streams::tfhe::{Decomposition, Spec};
use pyo3::prelude::*;
use tfhe::boolean::parameters::PARAMETERS_ERROR_PROB_2_POW_MINUS_165;
use tfhe::boolean::prelude::{BinaryBooleanGates, ClientKey, DEFAULT_PARAMETERS, ServerKey};
use tfhe::core_crypto::prelude::*;

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

/// Seconds in which the crate generates keys of this set that evaluate on bits, and in which it expands
/// them.
#[pyfunction]
pub fn time_tfhe_keys(py: Python<'_>, params: &StreamParams) -> PyResult<(f64, f64)> {
    let spec = *params.tfhe().ok_or_else(other_scheme)?.spec();
    Ok(py.compute(|| time_keys(&spec)))
}

fn time_keys(spec: &Spec) -> (f64, f64) {
    let mut seeder = new_seeder();
    let seeder = seeder.as_mut();
    let mut generator = SecretRandomGenerator::<DefaultRandomGenerator>::new(seeder.seed());
    let degree = PolynomialSize(spec.ring_degree);
    let ring: GlweSecretKeyOwned<u64> =
        allocate_and_generate_new_binary_glwe_secret_key(GlweDimension(1), degree, &mut generator);
    let small = LweDimension(spec.lwe_dimension);
    let small: LweSecretKeyOwned<u64> =
        allocate_and_generate_new_binary_lwe_secret_key(small, &mut generator);
    let noise = |log2_deviation: f64| {
        DynamicDistribution::<u64>::new_gaussian_from_std_dev(StandardDev(log2_deviation.exp2()))
    };
    let (ring_noise, lwe_noise) = (noise(spec.log2_ring_noise), noise(spec.log2_lwe_noise));
    let digits = |of: Decomposition| {
        let levels = DecompositionLevelCount(of.levels as usize);
        (DecompositionBaseLog(of.base_log as usize), levels)
    };
    let modulus = CiphertextModulus::new_native();
    let start = Instant::now();
    let (base, levels) = digits(spec.bootstrap);
    let bootstrap = par_allocate_and_generate_new_seeded_lwe_bootstrap_key(
        &small, &ring, base, levels, ring_noise, modulus, seeder,
    );
    let (base, levels) = digits(spec.keyswitch);
    let big = ring.as_lwe_secret_key();
    let keyswitch = allocate_and_generate_new_seeded_lwe_keyswitch_key(
        &big, &small, base, levels, lwe_noise, modulus, seeder,
    );
    let (base, levels) = digits(spec.packing);
    let packing = allocate_and_generate_new_seeded_lwe_packing_keyswitch_key(
        &small, &ring, base, levels, ring_noise, modulus, seeder,
    );
    let generated = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let standard = bootstrap.par_decompress_into_lwe_bootstrap_key();
    let mut fourier = FourierLweBootstrapKey::new(
        standard.input_lwe_dimension(),
        standard.glwe_size(),
        degree,
        standard.decomposition_base_log(),
        standard.decomposition_level_count(),
    );
    par_convert_standard_lwe_bootstrap_key_to_fourier(&standard, &mut fourier);
    let keys = (
        keyswitch.par_decompress_into_lwe_keyswitch_key(),
        packing.decompress_into_lwe_packing_keyswitch_key(),
    );
    let expanded = start.elapsed().as_secs_f64();
    drop(keys);
    (generated, expanded)
}
