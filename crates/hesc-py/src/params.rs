use std::sync::Arc;

use hesc_circuits::Envelope;
use hesc_schemes::rlwe::{PlaintextSpace, Spec};
use hesc_schemes::streams::classical_sets::{GroupName, elgamal_bytes};
use hesc_schemes::streams::{Encryptions, Form, Visitor, open, open_bits, open_lattice};
use hesc_schemes::{Assurance, Packing, Pad, Plain, Scheme, SchemeError, Simulated, UnipolarSlots};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::bit_set::{self, Numbers};
use crate::erased::{Set, SetOf};
use crate::errors::{ParameterError, scheme_to_py};
use crate::presets;
use crate::vectors::VectorParams;
use crate::workers::Compute;

/// A set for streams; `hesc.Params` makes those that users have.
#[pyclass(frozen, subclass, module = "hesc")]
pub struct StreamParams(pub Arc<dyn Set>);

/// Takes any scheme.
struct IntoParams;

impl Visitor for IntoParams {
    type Output = StreamParams;

    fn visit(self, scheme: impl Scheme) -> StreamParams {
        StreamParams::of(scheme)
    }
}

fn packing_from(name: &str) -> PyResult<Packing> {
    match name {
        "coefficients" => Ok(Packing::Coefficients),
        "slots" => Ok(Packing::Slots),
        "complex_slots" => Ok(Packing::ComplexSlots),
        _ => Err(ParameterError::new_err(format!(
            "unknown packing {name:?}; choose one of coefficients, slots, complex_slots"
        ))),
    }
}

impl StreamParams {
    /// The set of a scheme.
    pub fn of(scheme: impl Scheme) -> Self {
        Self(Arc::new(SetOf(scheme)))
    }

    fn open(bytes: &[u8], assurance: Assurance) -> Result<Self, SchemeError> {
        open(bytes, assurance, IntoParams)
    }

    /// The scheme, if it is of this type.
    pub fn of_type<S: Scheme>(&self) -> Option<&S> {
        self.0.as_any().downcast_ref()
    }

    /// The scheme of single bits, if it is this one.
    #[cfg(feature = "tfhe")]
    pub fn tfhe(&self) -> Option<&hesc_schemes::Tfhe> {
        self.of_type()
    }

    /// Bytes of an object with batches of this set.
    pub fn length(&self, object: &Envelope, form: Form, of: Encryptions) -> PyResult<usize> {
        let length = object.length(|blocks| self.0.length(form, blocks, of));
        length.ok_or_else(|| {
            ParameterError::new_err(
                "what such an object takes on the wire depends on products that are computed first",
            )
        })
    }

    fn bit_numbers(&self) -> Option<Numbers> {
        bit_set::numbers(&*self.0)
    }
}

#[pymethods]
impl StreamParams {
    /// The same set, which subclasses start from.
    #[new]
    fn new(of: &Self) -> Self {
        Self(Arc::clone(&of.0))
    }

    /// A set of primes, at least of this assurance.
    #[staticmethod]
    #[pyo3(signature = (*, ring_degree, coeff_moduli, packing, plain_modulus, scale, assurance))]
    fn of_lattice(
        ring_degree: usize,
        coeff_moduli: Vec<u64>,
        packing: &str,
        plain_modulus: Option<u64>,
        scale: Option<f64>,
        assurance: &str,
    ) -> PyResult<Self> {
        let plaintext = match (plain_modulus, scale) {
            (Some(plain_modulus), None) => PlaintextSpace::Integers { plain_modulus },
            (None, Some(scale)) => PlaintextSpace::Approximate { scale },
            _ => {
                return Err(ParameterError::new_err(
                    "give plain_modulus for BFV or scale for CKKS, not both",
                ));
            }
        };
        let spec = Spec::streams(ring_degree, coeff_moduli, packing_from(packing)?, plaintext)
            .map_err(scheme_to_py)?;
        open_lattice(spec, presets::assurance_from(assurance)?, IntoParams).map_err(scheme_to_py)
    }

    /// BFV or BGV with products slot by slot. Who made the set has chosen how secure it is.
    #[staticmethod]
    fn of_slots(py: Python<'_>, vectors: &VectorParams) -> PyResult<Self> {
        let spec = vectors.spec().clone();
        let assurance = spec.assurance();
        py.compute(|| UnipolarSlots::new(spec, assurance)).map(Self::of).map_err(scheme_to_py)
    }

    /// Bits that bootstrap: the ring's and the small dimension, `log2` of the noise of each, and bits of a
    /// digit and digits of bootstrap, key switch and packing.
    #[staticmethod]
    #[pyo3(signature = (*, dimensions, log2_noise, digits, assurance))]
    fn of_bits(
        dimensions: [usize; 2],
        log2_noise: [f64; 2],
        digits: [(u32, u32); 3],
        assurance: &str,
    ) -> PyResult<Self> {
        open_bits(dimensions, log2_noise, digits, presets::assurance_from(assurance)?, IntoParams)
            .map_err(scheme_to_py)
    }

    /// Variances of bits and of lookups of one and of two tables; none in other schemes.
    fn bit_precision(&self) -> Option<(f64, [f64; 2])> {
        Some(self.bit_numbers()?.precision)
    }

    /// The set of the scheme that encrypts nothing.
    #[staticmethod]
    fn of_plain(block_length: usize, plain_modulus: u64) -> PyResult<Self> {
        Plain::new(block_length, plain_modulus).map(Self::of).map_err(scheme_to_py)
    }

    /// One-time pads.
    #[staticmethod]
    fn of_pads(block_length: usize) -> PyResult<Self> {
        Pad::new(block_length).map(Self::of).map_err(scheme_to_py)
    }

    /// The simulation of this set: blocks of the same length that multiply in the same way.
    fn simulated(&self) -> PyResult<Self> {
        Simulated::new(self.0.block_length(), self.0.bit_product())
            .map(Self::of)
            .map_err(scheme_to_py)
    }

    /// Lifted ElGamal.
    #[staticmethod]
    #[pyo3(signature = (*, group, max_count))]
    fn of_group(group: &str, max_count: u64) -> PyResult<Self> {
        let Some(group) = GroupName::ALL.into_iter().find(|known| known.name() == group) else {
            return Err(ParameterError::new_err(format!(
                "unknown group {group:?}; choose one of {}",
                GroupName::ALL.map(GroupName::name).join(", ")
            )));
        };
        Self::open(&elgamal_bytes(group, max_count), Assurance::Guidelines2024)
            .map_err(scheme_to_py)
    }

    /// A named set of streams.
    #[staticmethod]
    fn of_preset(py: Python<'_>, name: &str) -> PyResult<Self> {
        let preset = presets::named(name, false)?;
        py.compute(|| Self::open(&preset.to_bytes()?, preset.assurance())).map_err(scheme_to_py)
    }

    /// The preset's name, or one that says how secure a set of one's own is.
    #[getter]
    fn name(&self) -> String {
        presets::name_of(&self.0.to_bytes(), self.0.name(), self.assurance())
    }

    /// A set from its wire form, at least of this assurance.
    #[staticmethod]
    fn read(data: &[u8], assurance: &str) -> PyResult<Self> {
        Self::open(data, presets::assurance_from(assurance)?).map_err(scheme_to_py)
    }

    /// The wire form: a few hundred bytes at most.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// The scheme's name.
    #[getter]
    fn scheme(&self) -> &'static str {
        self.0.name()
    }

    /// Coefficients of a polynomial, `N`; None without a ring.
    #[getter]
    fn ring_degree(&self) -> Option<usize> {
        let of_bits = || self.bit_numbers().map(|numbers| numbers.ring_degree);
        self.0.lattice().map(Spec::ring_degree).or_else(of_bits)
    }

    /// Primes whose product is the modulus of ciphertexts, `q`.
    #[getter]
    fn coeff_moduli(&self) -> Vec<u64> {
        self.0.lattice().map_or_else(Vec::new, |spec| spec.coeff_moduli.clone())
    }

    /// The plaintext modulus, `t`; None for approximate numbers and without a ring.
    #[getter]
    fn plain_modulus(&self) -> Option<u64> {
        if let Some(numbers) = self.bit_numbers() {
            return Some(numbers.plain_modulus);
        }
        match self.0.lattice()?.plaintext {
            PlaintextSpace::Integers { plain_modulus } => Some(plain_modulus),
            PlaintextSpace::Approximate { .. } => None,
        }
    }

    /// What CKKS multiplies numbers with.
    #[getter]
    fn scale(&self) -> Option<f64> {
        match self.0.lattice()?.plaintext {
            PlaintextSpace::Integers { .. } => None,
            PlaintextSpace::Approximate { scale } => Some(scale),
        }
    }

    /// Where the bits of a block sit in the plaintext polynomial.
    #[getter]
    fn packing(&self) -> String {
        self.0.packing().to_string().replace(' ', "_")
    }

    /// What the set reaches: see `Params.assurance`.
    #[getter]
    fn assurance(&self) -> &'static str {
        self.0.security().name()
    }

    /// Bits in one block: a ciphertext of the lattice schemes, 64 of the others.
    #[getter]
    fn block_length(&self) -> usize {
        self.0.block_length()
    }

    /// Eight hexadecimal digits that tell sets apart.
    #[getter]
    fn fingerprint(&self) -> String {
        self.0.fingerprint().to_string()
    }

    /// The largest count that a position holds which no mask has changed.
    #[getter]
    fn capacity(&self) -> u64 {
        self.0.capacity()
    }

    /// Bytes of integers whose bits bootstrap: as they are encrypted, or on their way back, each bit the parity of so many
    /// that bootstraps gave. None in other schemes, and where those have no room.
    #[pyo3(signature = (count, width, terms=None))]
    fn bit_integers_length(
        &self,
        count: usize,
        width: usize,
        terms: Option<usize>,
    ) -> Option<usize> {
        bit_set::integers_length(&*self.0, (count, width), terms)
    }

    /// Bytes of the public keys of bits that bootstrap; none in other schemes.
    fn bootstrapping_keys_length(&self) -> Option<usize> {
        bit_set::keys_length(&*self.0)
    }
}
