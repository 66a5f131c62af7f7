//! BFV, BGV and CKKS with multiplication. An object keeps its parameter set, so that every method
//! finds its tables.

mod ciphertext;
mod dry_runs;
mod evaluation_keys;
mod keys;
mod plaintext;
mod plans;

use hesc_circuits::vectors::{self as circuits, Content, Integers, Layout};
use hesc_math::{AesCtrRng, RingIndex};
use hesc_schemes::rlwe::{Basis, Encryption, PlaintextSpace, PrimeSet, Rlwe, SchemeKind, Spec};
use hesc_schemes::{SchemeError, public_keys};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{ParameterError, scheme_to_py};
use crate::presets;
use crate::workers::Compute;

pub use ciphertext::{
    Ciphertext, Matrix, carries, dot_rotations, matrix_rotations, pack, sum_of_products,
};
pub use dry_runs::{SlotsDryRun, SlotsDryValue};
pub use evaluation_keys::{GaloisKeys, RelinKey};
pub use keys::{VectorPublicKey, VectorSecretKey};
pub use plaintext::Plaintext;
pub use plans::SlotPlan;

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
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    operation: impl FnOnce() -> Result<T, SchemeError> + Send,
) -> PyResult<T> {
    py.compute(operation).map_err(scheme_to_py)
}

fn ring_from(index: usize) -> PyResult<RingIndex> {
    RingIndex::new(index).map_err(|error| scheme_to_py(error.into()))
}

/// Bits of room that so many ciphertexts together lose when they are packed, at most, and seconds on one thread.
#[pyfunction]
pub fn packing_cost(
    py: Python<'_>,
    params: &VectorParams,
    columns: usize,
    level: usize,
) -> PyResult<(f64, f64)> {
    detached(py, || {
        let work = params.0.work_of_packing(columns, level);
        Ok((params.0.packing_bits(columns)?, params.0.measured_speed().seconds(work)))
    })
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

/// A set for vectors; `hesc.Params` makes those that users have.
#[pyclass(frozen, subclass, module = "hesc")]
pub struct VectorParams(pub Rlwe);

impl VectorParams {
    /// The specification.
    pub fn spec(&self) -> &Spec {
        self.0.spec()
    }
}

#[pymethods]
impl VectorParams {
    /// The same set, which subclasses start from.
    #[new]
    fn new(of: &Self) -> Self {
        Self(of.0.clone())
    }

    /// A set of primes, at least of this assurance.
    #[staticmethod]
    #[pyo3(signature = (*, scheme, ring_index, coeff_moduli, levels, special_moduli, plain_modulus, scale, bound, assurance))]
    #[allow(clippy::too_many_arguments, reason = "keywords of the Python class")]
    fn of_primes(
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
    fn of_preset(py: Python<'_>, name: &str, bound: f64) -> PyResult<Self> {
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

    /// A set from its wire form, at least of this assurance.
    #[staticmethod]
    fn read(py: Python<'_>, data: &[u8], assurance: &str) -> PyResult<Self> {
        let assurance = presets::assurance_from(assurance)?;
        detached(py, || Rlwe::new(Spec::from_bytes(data)?, assurance)).map(Self)
    }

    /// The wire form: a few hundred bytes at most.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.spec().to_bytes())
    }

    /// The scheme's name.
    #[getter]
    fn scheme(&self) -> &'static str {
        self.0.scheme().name()
    }
    /// Whether numbers are approximate and may be complex (CKKS); integers otherwise.
    #[getter]
    fn is_approximate(&self) -> bool {
        self.0.is_approximate()
    }
    /// Coefficients of a polynomial.
    #[getter]
    fn ring_degree(&self) -> usize {
        self.0.ring_degree()
    }
    /// The order of the ring's roots of unity: twice the degree for a power of two, else odd.
    #[getter]
    fn ring_index(&self) -> usize {
        self.0.ring().value()
    }
    /// Coordinates of the value in a slot of an odd ring; None for power-of-two rings.
    ///
    /// Raises:
    ///     ParameterError: a plaintext modulus that has no slots in this ring.
    ///
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
    /// Bits of the modulus of each level, the lowest first.
    #[getter]
    fn level_bits(&self) -> Vec<f64> {
        (1..=self.0.levels()).map(|level| self.0.log2_modulus_of(level)).collect()
    }
    /// The set with a divisor of its plaintext modulus for one: its keys serve both.
    fn with_plain_modulus(&self, py: Python<'_>, plain_modulus: u64) -> PyResult<Self> {
        detached(py, || self.0.with_plain_modulus(plain_modulus)).map(Self)
    }
    /// Products in sequence that each digit of numbers in slots takes, the lowest first.
    #[getter]
    fn digit_depths(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        detached(py, || circuits::Digits::depths(&self.0))
    }
    /// Automorphisms that unpacking takes.
    fn unpacking_elements(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        detached(py, || self.0.unpacking_elements())
    }
    /// Automorphisms that extracting one coordinate takes.
    fn extraction_elements(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        detached(py, || self.0.extraction_elements())
    }
    /// The automorphism that moves slots along a dimension.
    fn dimension_element(&self, py: Python<'_>, dimension: usize, steps: i64) -> PyResult<usize> {
        detached(py, || self.0.dimension_element(dimension, steps))
    }
    /// The automorphism of so many Frobenius maps.
    fn frobenius_element(&self, py: Python<'_>, times: i64) -> PyResult<usize> {
        detached(py, || self.0.frobenius_element(times))
    }
    /// Primes whose product is the modulus of ciphertexts, `q`.
    #[getter]
    fn coeff_moduli(&self) -> Vec<u64> {
        self.0.spec().coeff_moduli.clone()
    }
    /// The primes of each level, the lowest first, by their places in `coeff_moduli`.
    #[getter]
    fn levels(&self) -> Vec<Vec<usize>> {
        (1..=self.0.levels()).map(|level| self.0.primes_of(level).places().collect()).collect()
    }
    /// Primes of keys beyond those.
    #[getter]
    fn special_moduli(&self) -> Vec<u64> {
        self.0.spec().special_moduli.clone()
    }
    /// The plaintext modulus, `t`; None for approximate numbers.
    #[getter]
    fn plain_modulus(&self) -> Option<u64> {
        match self.0.spec().plaintext {
            PlaintextSpace::Integers { plain_modulus } => Some(plain_modulus),
            PlaintextSpace::Approximate { .. } => None,
        }
    }
    /// What CKKS multiplies numbers with.
    #[getter]
    fn scale(&self) -> Option<f64> {
        match self.0.spec().plaintext {
            PlaintextSpace::Integers { .. } => None,
            PlaintextSpace::Approximate { scale } => Some(scale),
        }
    }
    /// CKKS: what absolute values stay within unless an encryption declares another bound.
    #[getter]
    fn bound(&self) -> f64 {
        self.0.spec().bound
    }
    /// BFV and BGV: the smallest and the largest integer that decryption tells apart.
    ///
    /// Half of the plaintext modulus to either side of zero. Results of vectors that could be
    /// beyond are refused, or, for those made with `wrap=True`, taken modulo it.
    ///
    /// Raises:
    ///     ParameterError: CKKS, which has no integers.
    ///
    #[getter]
    fn integer_range(&self) -> PyResult<(i64, i64)> {
        self.0.integer_range().map_err(scheme_to_py)
    }
    /// Numbers in a ciphertext.
    #[getter]
    fn slot_count(&self) -> usize {
        self.0.slot_count()
    }
    /// Products in sequence, each of two results of the one before, that there is room for.
    ///
    /// By the noise model, from numbers as they are encrypted, in CKKS within `bound`; sums and
    /// rotations between them take room too. Decryption then fails with a probability below 2^-128.
    #[getter]
    fn depth(&self) -> usize {
        self.0.depth()
    }
    /// What the set reaches: see `Params.assurance`.
    #[getter]
    fn assurance(&self) -> &'static str {
        self.0.spec().assurance().name()
    }
    /// Eight hexadecimal digits that tell sets apart.
    #[getter]
    fn fingerprint(&self) -> String {
        self.0.fingerprint().to_string()
    }

    /// Bytes of a vector at a level, 1 to the number of levels; seeded ones are fresh under the secret key.
    fn vector_length(&self, level: usize, seeded: bool) -> PyResult<usize> {
        self.0.check_level(level).map_err(scheme_to_py)?;
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
        self.0.check_level(level).map_err(scheme_to_py)?;
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
    fn blank(&self, py: Python<'_>, seeded: bool) -> Ciphertext {
        let under = if seeded { Encryption::SecretKey } else { Encryption::PublicKey };
        Ciphertext(self.0.clone(), py.compute(|| self.0.blank(under)))
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
}
