//! Presets as Python sees them, the names of sets that are none, and what sets must reach.

use hesc_schemes::presets::{PRESETS, Preset};
use hesc_schemes::wire::Reader;
use hesc_schemes::{Assurance, SchemeId};
use pyo3::prelude::*;

use crate::errors::{ParameterError, scheme_to_py};

/// What a preset says of itself.
#[pyclass(frozen, get_all, module = "hesc", name = "Preset")]
pub struct Entry {
    name: &'static str,
    about: &'static str,
    is_for_vectors: bool,
    slots: usize,
    ciphertext_bytes: usize,
    switching_key_bytes: Option<usize>,
}

/// Every preset in the order of the table.
#[pyfunction]
pub fn presets() -> Vec<Entry> {
    let entry = |preset: &Preset| Entry {
        name: preset.name,
        about: preset.about,
        is_for_vectors: preset.is_for_vectors(),
        slots: preset.slots(),
        ciphertext_bytes: preset.ciphertext_bytes(),
        switching_key_bytes: preset.switching_key_bytes(),
    };
    PRESETS.iter().map(entry).collect()
}

/// The preset of this name for vectors or for streams.
pub fn named(name: &str, vectors: bool) -> PyResult<&'static Preset> {
    let found = Preset::named(name).filter(|preset| preset.is_for_vectors() == vectors);
    found.ok_or_else(|| {
        let alike = PRESETS.iter().filter(|preset| preset.is_for_vectors() == vectors);
        let names: Vec<&str> = alike.map(|preset| preset.name).collect();
        ParameterError::new_err(format!("no preset {name:?}; choose one of {}", names.join(", ")))
    })
}

/// The preset's name, or one that says how secure a set of one's own is.
pub fn name_of(bytes: &[u8], scheme: &str, assurance: &str) -> String {
    if let Some(preset) = Preset::of(bytes) {
        return preset.name.to_owned();
    }
    if matches!(Reader::scheme_of(bytes), Ok(SchemeId::Plain | SchemeId::Simulated)) {
        return format!("insecure_{scheme}");
    }
    let prefix = match assurance {
        "insecure" => "insecure_",
        "hestd2018" => "hestd2018_",
        _ => "",
    };
    format!("{prefix}{scheme}_custom")
}

/// What a set must reach, by its name.
pub fn assurance_from(name: &str) -> PyResult<Assurance> {
    name.parse().map_err(scheme_to_py)
}
