//! BFV, BGV and CKKS with multiplication. An object keeps its parameter set, so that every method
//! finds its tables.

mod ciphertext;
mod evaluation_keys;
mod keys;
mod plans;
mod traces;

use std::path::PathBuf;

use hesc_circuits::vectors as circuits;
use hesc_circuits::vectors::{Content, Integers, Label, Layout};
use hesc_math::{AesCtrRng, RingIndex};
use hesc_schemes::rlwe::{self, Basis, Encryption, Rlwe, SchemeKind, Spec};
use hesc_schemes::rlwe::{PlaintextSpace, PrimeSet};
use hesc_schemes::{Complex64, SchemeError, SharedSoFar, public_keys};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{ParameterError, scheme_to_py};
use crate::key_files::read_secret;
use crate::presets;
use crate::workers::Compute;

pub use ciphertext::{
    LeveledCiphertext, LeveledMatrix, carries, dot_rotations, matrix_rotations, pack,
    sum_of_products,
};
pub use evaluation_keys::{GaloisKeys, RelinKey};
pub use keys::{LeveledPublicKey, LeveledSecretKey};
pub use plans::SlotPlan;
pub use traces::{SlotsTrace, SlotsTrial};

pub fn generator() -> Result<AesCtrRng, SchemeError> {
    Ok(AesCtrRng::from_os()?)
}

fn scheme_from(name: &str) -> PyResult<SchemeKind> {
    SchemeKind::named(name).ok_or_else(|| {
        let names: Vec<&str> = SchemeKind::ALL.iter().map(|kind| kind.name()).collect();
        ParameterError::new_err(format!(
            "unknown scheme {name:?}; choose one of {}",
            names.join(", ")
        ))
    })
}

/// What a ciphertext's slots hold, by the names that Python has.
const CONTENTS: [(&str, Content); 3] = [
    ("numbers", Content::Numbers),
    ("normal", Content::Values(Basis::Normal)),
    ("powers", Content::Values(Basis::Powers)),
];

fn content_from(name: &str) -> PyResult<Content> {
    let found = CONTENTS.iter().find(|(own, _)| *own == name);
    found.map(|(_, content)| *content).ok_or_else(|| {
        ParameterError::new_err(format!("slots hold no {name:?}; choose numbers, normal or powers"))
    })
}

fn content_name(content: Content) -> &'static str {
    CONTENTS.iter().find(|(_, own)| *own == content).map_or("numbers", |(name, _)| name)
}

/// How many integers, their bits, whether they have signs and whether they are truth values.
type Described = (usize, usize, bool, bool);

fn described((count, width, signed, boolean): Described) -> Integers {
    Integers { count, width, signed, boolean }
}

/// The layout of a name.
fn layout_from(name: &str) -> PyResult<Layout> {
    LAYOUTS.iter().find(|(known, _)| *known == name).map(|(_, layout)| *layout).ok_or_else(|| {
        let refused = SchemeError::Parameter {
            name: "layout",
            value: name.into(),
            remedy: "choose \"sliced\", \"slotwise\" or \"packed\"",
        };
        scheme_to_py(refused)
    })
}

fn layout_name(layout: Layout) -> &'static str {
    LAYOUTS.iter().find(|(_, known)| *known == layout).map_or("sliced", |(name, _)| name)
}

const LAYOUTS: [(&str, Layout); 4] = [
    ("sliced", Layout::Sliced),
    ("slotwise", Layout::Slotwise),
    ("packed", Layout::Packed(Basis::Normal)),
    ("packed by powers", Layout::Packed(Basis::Powers)),
];

fn basis_from(name: &str) -> PyResult<Basis> {
    match content_from(name)? {
        Content::Values(basis) => Ok(basis),
        Content::Numbers => Err(ParameterError::new_err("a basis is normal or powers")),
    }
}

/// Runs an operation without the interpreter lock.
fn detached<T: Send>(
    py: Python<'_>,
    operation: impl FnOnce() -> Result<T, SchemeError> + Send,
) -> PyResult<T> {
    py.compute(operation).map_err(scheme_to_py)
}

fn ring_from(index: usize) -> PyResult<RingIndex> {
    RingIndex::new(index).map_err(|error| scheme_to_py(error.into()))
}

/// The largest primes of these sizes, none twice, in the ring of an index: twice the degree for a power of two.
#[pyfunction]
pub fn primes_of_bits(ring_index: usize, bits: Vec<u32>) -> PyResult<Vec<u64>> {
    let primes = ring_from(ring_index)?.ntt_primes_of_bits(&bits, 1);
    primes.map_err(|error| scheme_to_py(error.into()))
}

/// Sets of the first few primes, of which so many are large, and any of the others: levels about a bit apart and
/// more, by places.
#[pyfunction]
pub fn combined_levels(primes: Vec<u64>, large: usize) -> PyResult<Vec<Vec<usize>>> {
    let levels = PrimeSet::combinations(&primes, large).map_err(scheme_to_py)?;
    Ok(levels.into_iter().map(|set| set.places().collect()).collect())
}

#[pyclass(frozen, module = "hesc")]
pub struct LeveledParams(pub Rlwe);

impl LeveledParams {
    /// The specification.
    pub fn spec(&self) -> &Spec {
        self.0.spec()
    }

    fn check_level(&self, level: usize) -> PyResult<()> {
        let levels = self.0.levels();
        if (1..=levels).contains(&level) {
            return Ok(());
        }
        Err(ParameterError::new_err(format!("levels are from 1 to {levels}; got {level}")))
    }
}

#[pymethods]
impl LeveledParams {
    #[new]
    #[pyo3(signature = (*, scheme, ring_index, coeff_moduli, levels, special_moduli, plain_modulus, scale, bound, assurance))]
    #[allow(clippy::too_many_arguments, reason = "keywords of the Python class")]
    fn new(
        py: Python<'_>,
        scheme: &str,
        ring_index: usize,
        coeff_moduli: Vec<u64>,
        levels: Vec<Vec<usize>>,
        special_moduli: Vec<u64>,
        plain_modulus: Option<u64>,
        scale: Option<f64>,
        bound: f64,
        assurance: &str,
    ) -> PyResult<Self> {
        let plaintext = match (plain_modulus, scale) {
            (Some(plain_modulus), None) => PlaintextSpace::Integers { plain_modulus },
            (None, Some(scale)) => PlaintextSpace::Approximate { scale },
            _ => return Err(ParameterError::new_err("give either plain_modulus or scale")),
        };
        let scheme = scheme_from(scheme)?;
        let (ring, packing) = (ring_from(ring_index)?, None);
        if levels.iter().flatten().any(|&place| place >= coeff_moduli.len()) {
            return Err(ParameterError::new_err("levels are lists of places in coeff_moduli"));
        }
        let levels = levels.into_iter().map(PrimeSet::new).collect();
        let spec =
            Spec { scheme, ring, coeff_moduli, levels, special_moduli, plaintext, bound, packing };
        let assurance = presets::assurance_from(assurance)?;
        detached(py, || Rlwe::new(spec, assurance)).map(Self)
    }

    /// A named set of vectors.
    #[staticmethod]
    fn preset(py: Python<'_>, name: &str, bound: f64) -> PyResult<Self> {
        let preset = presets::named(name, true)?;
        let spec = preset.vectors(bound).map_err(scheme_to_py)?;
        let spec = spec.ok_or_else(|| ParameterError::new_err("it is a set for streams"))?;
        detached(py, || Rlwe::new(spec, preset.assurance())).map(Self)
    }

    /// The preset's name, or one that says how secure a set of one's own is.
    #[getter]
    fn name(&self) -> String {
        let assurance = self.0.spec().assurance().name();
        presets::name_of(&self.0.spec().to_bytes(), self.0.scheme().name(), assurance)
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8], assurance: &str) -> PyResult<Self> {
        let assurance = presets::assurance_from(assurance)?;
        detached(py, || Rlwe::new(Spec::from_bytes(data)?, assurance)).map(Self)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.spec().to_bytes())
    }

    #[getter]
    fn scheme(&self) -> &'static str {
        self.0.scheme().name()
    }
    #[getter]
    fn is_approximate(&self) -> bool {
        self.0.is_approximate()
    }
    #[getter]
    fn ring_degree(&self) -> usize {
        self.0.ring_degree()
    }
    /// The index of the ring's roots of unity: twice the degree for a power of two.
    #[getter]
    fn ring_index(&self) -> usize {
        self.0.ring().value()
    }
    /// Coordinates of a slot's value: none in power-of-two rings, whose slots are numbers.
    #[getter]
    fn slot_degree(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        if self.0.ring().is_power_of_two() {
            return Ok(None);
        }
        detached(py, || Ok(self.0.field_slots()?.ring().degree())).map(Some)
    }
    /// Generator, length and twist of each dimension of the slots of an odd ring.
    #[getter]
    fn dimensions(&self, py: Python<'_>) -> PyResult<Vec<(usize, usize, usize)>> {
        let found = detached(py, || Ok(self.0.dimensions()?.to_vec()))?;
        Ok(found.iter().map(|d| (d.generator, d.length, d.twist)).collect())
    }
    /// Bits of the modulus of each level.
    #[getter]
    fn level_bits(&self) -> Vec<f64> {
        (1..=self.0.levels()).map(|level| self.0.log2_modulus_of(level)).collect()
    }
    fn unpacking_elements(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        detached(py, || self.0.unpacking_elements())
    }
    fn extraction_elements(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        detached(py, || self.0.extraction_elements())
    }
    fn dimension_element(&self, py: Python<'_>, dimension: usize, steps: i64) -> PyResult<usize> {
        detached(py, || self.0.dimension_element(dimension, steps))
    }
    fn frobenius_element(&self, py: Python<'_>, times: i64) -> PyResult<usize> {
        detached(py, || self.0.frobenius_element(times))
    }
    #[getter]
    fn coeff_moduli(&self) -> Vec<u64> {
        self.0.spec().coeff_moduli.clone()
    }
    /// The primes of each level, by their places in `coeff_moduli`.
    #[getter]
    fn levels(&self) -> Vec<Vec<usize>> {
        (1..=self.0.levels()).map(|level| self.0.primes_of(level).places().collect()).collect()
    }
    #[getter]
    fn special_moduli(&self) -> Vec<u64> {
        self.0.spec().special_moduli.clone()
    }
    #[getter]
    fn plain_modulus(&self) -> Option<u64> {
        match self.0.spec().plaintext {
            PlaintextSpace::Integers { plain_modulus } => Some(plain_modulus),
            PlaintextSpace::Approximate { .. } => None,
        }
    }
    #[getter]
    fn scale(&self) -> Option<f64> {
        match self.0.spec().plaintext {
            PlaintextSpace::Integers { .. } => None,
            PlaintextSpace::Approximate { scale } => Some(scale),
        }
    }
    #[getter]
    fn bound(&self) -> f64 {
        self.0.spec().bound
    }
    /// The smallest and the largest integer that plaintexts hold.
    #[getter]
    fn integer_range(&self) -> PyResult<(i64, i64)> {
        self.0.integer_range().map_err(scheme_to_py)
    }
    #[getter]
    fn slot_count(&self) -> usize {
        self.0.slot_count()
    }
    /// Products in sequence that it has room for.
    #[getter]
    fn depth(&self) -> usize {
        self.0.depth()
    }
    #[getter]
    fn assurance(&self) -> &'static str {
        self.0.spec().assurance().name()
    }
    #[getter]
    fn fingerprint(&self) -> String {
        self.0.fingerprint().to_string()
    }

    /// Bytes of a vector at a level, 1 to the number of levels; seeded ones are fresh under the secret key.
    fn vector_length(&self, level: usize, seeded: bool) -> PyResult<usize> {
        self.check_level(level)?;
        Ok(circuits::vector_length(&self.0, level, seeded))
    }

    /// The same of integers; see `integers_to_bytes`.
    fn integers_length(
        &self,
        of: Described,
        layout: &str,
        level: usize,
        seeded: bool,
    ) -> PyResult<usize> {
        self.check_level(level)?;
        let integers = (described(of), layout_from(layout)?);
        circuits::integers_length(&self.0, integers, level, seeded).map_err(scheme_to_py)
    }

    /// Bytes of public keys with the key for products or without, and with keys of so many automorphisms, if any.
    fn keys_length(&self, products: bool, automorphisms: usize) -> usize {
        let scheme = &self.0;
        let mut keys = vec![scheme.public_key_length()];
        keys.extend(products.then(|| scheme.relin_key_length()));
        keys.extend((automorphisms > 0).then(|| scheme.galois_keys_length(automorphisms)));
        public_keys::length(&keys)
    }

    /// What encryptions under the secret key, or under the public one, say of themselves: over zeros, and without a key.
    fn blank(&self, py: Python<'_>, seeded: bool) -> LeveledCiphertext {
        let under = if seeded { Encryption::SecretKey } else { Encryption::PublicKey };
        LeveledCiphertext(self.0.clone(), py.compute(|| self.0.blank(under)))
    }

    /// Keys that blank ciphertexts are tried with: for products, and for rotations by these steps.
    fn blank_keys(&self, py: Python<'_>, steps: Vec<i64>) -> PyResult<(RelinKey, GaloisKeys)> {
        detached(py, || {
            let elements = steps.iter().map(|&step| self.0.rotation_element(step));
            let elements = elements.collect::<Result<Vec<_>, _>>()?;
            let relin = RelinKey(self.0.clone(), self.0.blank_relin_key()?);
            Ok((relin, GaloisKeys(self.0.clone(), self.0.blank_galois_keys(&elements)?)))
        })
    }

    fn generate_keys(&self, py: Python<'_>) -> PyResult<(LeveledSecretKey, LeveledPublicKey)> {
        let (secret, public) = detached(py, || Ok(self.0.generate_keys(&mut generator()?)))?;
        let scheme = self.0.clone();
        let secret = LeveledSecretKey(scheme.clone(), secret, SharedSoFar::default());
        Ok((secret, LeveledPublicKey(scheme, public)))
    }

    fn encode_integers(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, i64>,
        coefficients: bool,
    ) -> PyResult<LeveledPlaintext> {
        let values = values.as_slice()?;
        let plaintext = detached(py, || {
            if coefficients {
                self.0.encode_coefficients(values)
            } else {
                self.0.encode_integers(values)
            }
        })?;
        Ok(LeveledPlaintext(self.0.clone(), plaintext))
    }

    /// Values of the slots of an odd ring by their coordinates, slot after slot.
    fn encode_slots(
        &self,
        py: Python<'_>,
        coordinates: PyReadonlyArray1<'_, u64>,
        basis: &str,
    ) -> PyResult<LeveledPlaintext> {
        let (coordinates, basis) = (coordinates.as_slice()?, basis_from(basis)?);
        let plaintext = detached(py, || self.0.encode_slots(basis, coordinates))?;
        Ok(LeveledPlaintext(self.0.clone(), plaintext))
    }

    /// Slots from their wire form, seeded or not, and what they hold.
    fn slots_from_bytes(
        &self,
        py: Python<'_>,
        data: &[u8],
    ) -> PyResult<(LeveledCiphertext, &'static str)> {
        let (content, a) = detached(py, || circuits::slots_from_bytes(&self.0, data))?;
        Ok((LeveledCiphertext(self.0.clone(), a), content_name(content)))
    }

    /// The wire form of integers: ciphertexts; how many numbers, their bits, whether they have signs and whether
    /// they are truth values; and their layout.
    fn integers_to_bytes<'py>(
        &self,
        py: Python<'py>,
        bits: Vec<PyRef<'_, LeveledCiphertext>>,
        of: Described,
        layout: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bits: Vec<_> = bits.iter().map(|bit| &bit.1).collect();
        let integers = (described(of), layout_from(layout)?);
        let bytes = py.compute(|| circuits::integers_to_bytes(&self.0, integers, &bits));
        Ok(PyBytes::new(py, &bytes))
    }

    /// Bits of room that so many ciphertexts together lose when they are packed, at most, and seconds on one thread.
    fn packing(&self, py: Python<'_>, columns: usize, level: usize) -> PyResult<(f64, f64)> {
        detached(py, || {
            let work = self.0.work_of_packing(columns, level);
            Ok((self.0.packing_bits(columns)?, self.0.measured_speed().seconds(work)))
        })
    }

    /// Integers from their wire form, seeded or not.
    fn integers_from_bytes(
        &self,
        py: Python<'_>,
        data: &[u8],
    ) -> PyResult<(Vec<LeveledCiphertext>, Described, &'static str)> {
        let (integers, layout, bits) =
            detached(py, || circuits::integers_from_bytes(&self.0, data))?;
        let Integers { count, width, signed, boolean } = integers;
        let bits = bits.into_iter().map(|bit| LeveledCiphertext(self.0.clone(), bit)).collect();
        Ok((bits, (count, width, signed, boolean), layout_name(layout)))
    }

    /// An operand in the clear, which cannot be encrypted.
    fn encode_complex(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, Complex64>,
        scale: f64,
        level: usize,
    ) -> PyResult<LeveledPlaintext> {
        let values = values.as_slice()?;
        let plaintext = detached(py, || self.0.encode_complex(values, scale, level))?;
        Ok(LeveledPlaintext(self.0.clone(), plaintext))
    }

    /// Numbers to be encrypted, within a public bound.
    fn encode_bounded(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, Complex64>,
        bound: f64,
    ) -> PyResult<LeveledPlaintext> {
        let values = values.as_slice()?;
        let (scale, level) = (self.0.default_scale(), self.0.levels());
        let plaintext = detached(py, || self.0.encode_bounded(values, scale, level, bound))?;
        Ok(LeveledPlaintext(self.0.clone(), plaintext))
    }

    fn secret_key_from_file(
        &self,
        py: Python<'_>,
        path: PathBuf,
        passphrase: Option<&str>,
        shared: f64,
    ) -> PyResult<LeveledSecretKey> {
        let shared = SharedSoFar::starting_at(shared).map_err(scheme_to_py)?;
        let key = read_secret(py, &path, passphrase, |bytes| {
            self.0.secret_key_from_bytes(bytes).map_err(scheme_to_py)
        })?;
        Ok(LeveledSecretKey(self.0.clone(), key, shared))
    }

    fn public_key_from_bytes(&self, py: Python<'_>, data: &[u8]) -> PyResult<LeveledPublicKey> {
        let key = detached(py, || self.0.public_key_from_bytes(data))?;
        Ok(LeveledPublicKey(self.0.clone(), key))
    }

    fn relin_key_from_bytes(&self, py: Python<'_>, data: &[u8]) -> PyResult<RelinKey> {
        let key = detached(py, || self.0.relin_key_from_bytes(data))?;
        Ok(RelinKey(self.0.clone(), key))
    }

    fn galois_keys_from_bytes(&self, py: Python<'_>, data: &[u8]) -> PyResult<GaloisKeys> {
        let keys = detached(py, || self.0.galois_keys_from_bytes(data))?;
        Ok(GaloisKeys(self.0.clone(), keys))
    }

    /// A ciphertext alone, without what is known of the vector in it.
    fn ciphertext_from_bytes(&self, py: Python<'_>, data: &[u8]) -> PyResult<LeveledCiphertext> {
        let ciphertext = detached(py, || self.0.ciphertext_from_bytes(data))?;
        Ok(LeveledCiphertext(self.0.clone(), ciphertext))
    }

    /// A vector's ciphertext, its length, whether zeros are behind it, whether it is complex, and the bound of integers.
    fn vector_from_bytes(
        &self,
        py: Python<'_>,
        data: &[u8],
    ) -> PyResult<(LeveledCiphertext, usize, bool, bool, Option<u64>)> {
        let (label, a) = detached(py, || circuits::vector_from_bytes(&self.0, data))?;
        let Label { length, zeros_behind, complex, bound } = label;
        Ok((LeveledCiphertext(self.0.clone(), a), length, zeros_behind, complex, bound))
    }
}

#[pyclass(frozen, module = "hesc")]
pub struct LeveledPlaintext(Rlwe, rlwe::Plaintext);

#[pymethods]
impl LeveledPlaintext {
    fn decode_integers<'py>(
        &self,
        py: Python<'py>,
        coefficients: bool,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let values = detached(py, || {
            if coefficients {
                self.0.decode_coefficients(&self.1)
            } else {
                self.0.decode_integers(&self.1)
            }
        })?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// The coordinates of the values in the slots of an odd ring, slot after slot.
    fn decode_slots<'py>(
        &self,
        py: Python<'py>,
        basis: &str,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let basis = basis_from(basis)?;
        let coordinates = detached(py, || self.0.decode_slots(basis, &self.1))?;
        Ok(PyArray1::from_vec(py, coordinates))
    }

    fn decode_complex<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        Ok(PyArray1::from_vec(py, detached(py, || self.0.decode_complex(&self.1))?))
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.1.words() * size_of::<u64>()
    }
    #[getter]
    fn scale(&self) -> f64 {
        self.1.scale()
    }
    #[getter]
    fn level(&self) -> Option<usize> {
        self.1.level()
    }
}
