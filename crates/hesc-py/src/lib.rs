//! Python bindings: conversion and error mapping only. What they convert is documented in
//! `python/hesc/_native.pyi`; the face that users see is the package `hesc`.

use mimalloc::MiMalloc;
use zeroizing_alloc::ZeroAlloc;

mod aes;
mod arrays;
mod bit_set;
#[cfg(feature = "tfhe")]
mod bits;
mod client;
mod client_plan;
mod codes;
mod encoder;
mod erased;
mod errors;
mod forests;
mod galleries;
mod galois_ring;
mod gates;
mod inputs;
mod integer_circuits;
mod interrupt;
mod key_files;
mod keys;
mod logarithms;
mod messages;
mod params;
#[cfg(feature = "peers")]
mod peer;
#[cfg(feature = "peer-integers")]
mod peer_integers;
mod plans;
mod presets;
mod processor;
mod public_keys;
mod ring_products;
mod search;
mod transciphering;
#[cfg(feature = "peers")]
mod transforms;
mod vectors;
mod workers;

/// Batches of ciphertexts are megabytes that come and go with every operation. The system's
/// allocator returns each to the kernel and pays for every page again (docs/adr/0006-allocator.md).
/// Whatever is freed is wiped: copies of keys lie where vectors grew, numbers of other crates were, and threads were
/// handed work.
#[global_allocator]
static ALLOCATOR: ZeroAlloc<MiMalloc> = ZeroAlloc(MiMalloc);

/// The compiled part of `hesc`.
#[pyo3::pymodule]
mod _native {
    use hesc_client::{limits, message};

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        crate::processor::kernels()?;
        crate::workers::remember_home();
        crate::client::add_links(module)?;
        crate::errors::panics_are_exceptions(module.py())
    }

    // What clients and who writes for them have at most, once for all languages.
    #[pymodule_export]
    use crate::aes::{AesDecipherer, AesKey};
    #[pymodule_export]
    const DOCUMENT_BYTES: usize = limits::DOCUMENT_BYTES;
    #[pymodule_export]
    const DOCUMENT_PARTS: usize = limits::DOCUMENT_PARTS;
    #[pymodule_export]
    const NAME_LETTERS: usize = limits::NAME_LETTERS;
    #[pymodule_export]
    const MOST_CLASSES: usize = limits::CLASSES;
    #[pymodule_export]
    const MOST_INPUTS: usize = limits::INPUTS;
    #[pymodule_export]
    const MOST_STEPS: usize = limits::STEPS;
    #[pymodule_export]
    const MOST_RING_PRODUCTS: usize = limits::RING_PRODUCTS;
    #[pymodule_export]
    const RING_PLACES: usize = limits::RING_PLACES;
    #[pymodule_export]
    const MESSAGE_BYTES: usize = message::LARGEST;
    #[pymodule_export]
    const MESSAGE_HEAD: usize = message::HEAD;
    #[pymodule_export]
    const MESSAGE_PART: usize = message::PART;
    #[pymodule_export]
    const MESSAGE_NAME: usize = message::NAME;

    #[pymodule_export]
    use crate::arrays::{Answer, Array, Counts, Readout, SeededArray};
    #[cfg(feature = "tfhe")]
    #[pymodule_export]
    use crate::bits::{
        BitAnswer, EncryptedBits, EvaluationKey, Evaluator, bit_noise, decrypt_bit_answer,
        decrypt_bits, encrypt_bits, evaluation_key,
    };
    #[pymodule_export]
    use crate::client::{
        Steps, check_calibration, class_places, link_numbers, probabilities, read_classes,
    };
    #[pymodule_export]
    use crate::client_plan::{ClientPlan, query_rows};
    #[pymodule_export]
    use crate::codes::{
        EncryptedCodes, EncryptedDistances, SeededCodes, codes_lengths, decrypt_distances,
    };
    #[pymodule_export]
    use crate::encoder::{BitStreams, Encoder, Selector, scc, sobol_points};
    #[pymodule_export]
    use pyo3::panic::PanicException;

    #[pymodule_export]
    use crate::errors::{
        CircuitError, CorrelationError, DecryptionError, FusionError, HescError, KeyMismatchError,
        NoiseBudgetError, OutOfRangeError, ParameterError, SecurityError, ShapeError, WireError,
    };
    #[pymodule_export]
    use crate::forests::{
        ForestClientShare, ForestModel, ForestPlan, ForestServerShare, decrypt_sums, encrypt_edges,
        forest_part,
    };
    #[pymodule_export]
    use crate::galleries::{
        EncryptedGallery, GalleryPlan, GalleryProbes, decrypt_gallery_distances, encrypt_gallery,
        encrypt_probes,
    };
    #[pymodule_export]
    use crate::galois_ring::GaloisRing;
    #[pymodule_export]
    use crate::gates::{Builder, Circuit, Program};
    #[pymodule_export]
    use crate::integer_circuits::{
        integer_circuit, integer_divider, integer_multiplier, integer_shifter, integer_table,
        integers_circuit,
    };
    #[pymodule_export]
    use crate::key_files::wants_passphrase;
    #[pymodule_export]
    use crate::keys::{StreamPublicKey, StreamSecretKey};
    #[pymodule_export]
    use crate::logarithms::{
        Factor, LogarithmEvaluator, LogarithmPlan, decrypt_logarithms, encrypt_logarithms,
    };
    #[pymodule_export]
    use crate::messages::{message_head, message_kind, read_message, write_message};
    #[pymodule_export]
    use crate::params::StreamParams;
    #[cfg(feature = "peers")]
    #[pymodule_export]
    use crate::peer::{TfheBoolean, time_tfhe_keys};
    #[cfg(feature = "peer-integers")]
    #[pymodule_export]
    use crate::peer_integers::{TfheIntegers, time_tfhe_kreyvium};
    #[pymodule_export]
    use crate::presets::{Entry, presets};
    #[pymodule_export]
    use crate::processor::kernels;
    #[pymodule_export]
    use crate::public_keys::{join_keys, split_keys};
    #[pymodule_export]
    use crate::ring_products::{
        RingProductEncryptedModel, RingProductModel, RingProductPlan, decrypt_scores,
        encrypt_features, encrypt_model, ring_product_bounds,
    };
    #[pymodule_export]
    use crate::search::{
        SearchFile, SearchIndex, SearchKeys, SearchPlan, SearchSecrets, decrypt_search,
        decrypt_search_query, encrypt_vector, join_search_answers, search_keys,
    };
    #[pymodule_export]
    use crate::transciphering::{CipherKey, Message, decipherer, keystream};
    #[cfg(feature = "peers")]
    #[pymodule_export]
    use crate::transforms::Transform;
    #[pymodule_export]
    use crate::vectors::{
        Ciphertext, GaloisKeys, Matrix, Plaintext, RelinKey, SlotPlan, SlotsDryRun, SlotsDryValue,
        VectorParams, VectorPublicKey, VectorSecretKey, carries, combined_levels, dot_rotations,
        matrix_rotations, pack, packing_cost, primes_of_bits, sum_of_products,
    };
}
