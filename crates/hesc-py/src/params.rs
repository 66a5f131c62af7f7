use std::path::PathBuf;
use std::sync::Arc;

use hesc_math::{RingIndex, Word};
use hesc_schemes::Assurance;
use hesc_schemes::rlwe::{PlaintextSpace, SchemeKind, Spec};
use hesc_schemes::streams::bitwise::{BitCipher, Bitwise};
use hesc_schemes::streams::elgamal::{
    Exponents, Ffdhe3072, Group, GroupName, LiftedElgamal, Ristretto255, Secp256r1, spec_bytes,
};
use hesc_schemes::streams::gm;
use hesc_schemes::streams::lattice::{self, Lattice};
use hesc_schemes::wire::SchemeId;
use hesc_schemes::{
    Bfv, Ckks, Gm, Packing, Plain, Scheme, SchemeError, Simulated, UnipolarBfv, UnipolarElgamal,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::{Answer, Array, SeededArray};
use crate::bit_set::{BitSet, Numbers};
use crate::erased::{Set, SetOf};
use crate::errors::{ParameterError, scheme_to_py, to_py};
use crate::interrupt::interruptible;
use crate::keys::{PublicKey, SecretKey, open_key_file};
use crate::presets;
use crate::workers::Compute;

#[pyclass(frozen, module = "hesc")]
pub struct Params {
    set: Arc<dyn Set>,
    /// Absent for schemes without a ring.
    spec: Option<Spec>,
    bytes: Vec<u8>,
    assurance: &'static str,
    /// Of single bits.
    bits: Option<BitSet>,
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

/// The ring that Python names by its degree.
pub fn power_of_two(ring_degree: usize) -> PyResult<RingIndex> {
    RingIndex::power_of_two(ring_degree).map_err(|error| scheme_to_py(error.into()))
}

pub fn assurance_from(name: &str) -> PyResult<Assurance> {
    match name {
        "guidelines2024" => Ok(Assurance::Guidelines2024),
        "hestd2018" => Ok(Assurance::HeStd2018),
        "insecure" => Ok(Assurance::Insecure),
        _ => Err(ParameterError::new_err(format!(
            "unknown assurance {name:?}; choose one of guidelines2024, hestd2018, insecure"
        ))),
    }
}

/// The name that [`assurance_from`] reads.
pub fn assurance_name(assurance: Assurance) -> &'static str {
    match assurance {
        Assurance::Guidelines2024 => "guidelines2024",
        Assurance::HeStd2018 => "hestd2018",
        Assurance::Insecure => "insecure",
    }
}

fn build<W: Word>(spec: &Spec, assurance: Assurance) -> Result<Arc<dyn Set>, SchemeError>
where
    lattice::BfvEncoding: lattice::Encoding<W>,
    lattice::CkksEncoding: lattice::Encoding<W>,
{
    Ok(match spec.plaintext {
        PlaintextSpace::Integers { .. } => {
            let scheme: Bfv<W> = Lattice::new(spec.clone(), assurance)?;
            Arc::new(SetOf(scheme))
        }
        PlaintextSpace::Approximate { .. } => {
            let scheme: Ckks<W> = Lattice::new(spec.clone(), assurance)?;
            Arc::new(SetOf(scheme))
        }
    })
}

/// 128 bits, against classical computers only.
const CLASSICAL: &str = "classical128";

fn elgamal_over<G: Group>(group: G, scheme: SchemeId, data: &[u8]) -> Result<Params, SchemeError> {
    match scheme {
        SchemeId::UnipolarElgamal => {
            UnipolarElgamal::over_from_bytes(group, data).map(Params::from_bitwise)
        }
        _ => Bitwise::<LiftedElgamal<G>>::over_from_bytes(group, data).map(Params::from_bitwise),
    }
}

/// A set of one of ElGamal's schemes, which says over which group.
fn elgamal(scheme: SchemeId, data: &[u8]) -> Result<Params, SchemeError> {
    match GroupName::of_set(data)? {
        GroupName::Ffdhe3072 => elgamal_over(Ffdhe3072::new(Exponents::Short), scheme, data),
        GroupName::Ffdhe3072FullExponents => {
            elgamal_over(Ffdhe3072::new(Exponents::Full), scheme, data)
        }
        GroupName::Ristretto255 => elgamal_over(Ristretto255, scheme, data),
        GroupName::Secp256r1 => elgamal_over(Secp256r1, scheme, data),
    }
}

impl Params {
    fn from_spec(spec: Spec, assurance: Assurance) -> Result<Self, SchemeError> {
        // Words of 32 bits where every modulus fits them: half the memory, twice the lanes.
        let set = if spec.coeff_moduli.iter().all(|q| q >> 31 == 0) {
            build::<u32>(&spec, assurance)
        } else {
            build::<u64>(&spec, assurance)
        };
        let bytes = spec.to_bytes();
        let assurance = assurance_name(spec.assurance());
        Ok(Self { set: set?, spec: Some(spec), bytes, assurance, bits: None })
    }

    fn from_unipolar_bfv(spec: Spec, assurance: Assurance) -> Result<Self, SchemeError> {
        let scheme = UnipolarBfv::new(spec, assurance)?;
        let assurance = assurance_name(scheme.spec().assurance());
        let spec = Some(scheme.spec().clone());
        let bytes = scheme.spec_to_bytes();
        Ok(Self { set: Arc::new(SetOf(scheme)), spec, bytes, assurance, bits: None })
    }

    fn from_bits(bits: BitSet) -> Self {
        let assurance = assurance_name(bits.assurance());
        Self { set: bits.erased(), spec: None, bytes: bits.to_bytes(), assurance, bits: Some(bits) }
    }

    /// The scheme of single bits, if it is this one.
    #[cfg(feature = "tfhe")]
    pub fn tfhe(&self) -> Option<&hesc_schemes::Tfhe> {
        self.bits.as_ref().map(BitSet::scheme)
    }

    fn bit_numbers(&self) -> Option<Numbers> {
        self.bits.as_ref().map(BitSet::numbers)
    }

    fn from_scheme(scheme: impl Scheme, bytes: Vec<u8>, assurance: &'static str) -> Self {
        Self { set: Arc::new(SetOf(scheme)), spec: None, bytes, assurance, bits: None }
    }

    fn from_plain(scheme: Plain) -> Self {
        let bytes = scheme.spec_to_bytes();
        Self::from_scheme(scheme, bytes, "insecure")
    }

    fn from_simulated(scheme: Simulated) -> Self {
        let bytes = scheme.spec_to_bytes();
        Self::from_scheme(scheme, bytes, "insecure")
    }

    fn from_gm(scheme: Gm) -> Self {
        let bytes = scheme.spec_to_bytes();
        let assurance = match scheme.assurance() {
            gm::Assurance::Classical128 => CLASSICAL,
            gm::Assurance::Insecure => "insecure",
        };
        Self::from_scheme(scheme, bytes, assurance)
    }

    fn from_bitwise<C: BitCipher>(scheme: Bitwise<C>) -> Self {
        let bytes = scheme.spec_to_bytes();
        Self::from_scheme(scheme, bytes, CLASSICAL)
    }

    /// A set of a scheme by its bytes.
    fn read(scheme: SchemeId, data: &[u8], assurance: Assurance) -> PyResult<Self> {
        let insecure = assurance == Assurance::Insecure;
        let set = match scheme {
            SchemeId::Bfv | SchemeId::Bgv | SchemeId::Ckks => {
                Spec::from_bytes(data).and_then(|spec| Self::from_spec(spec, assurance))
            }
            SchemeId::UnipolarBfv => UnipolarBfv::spec_from_bytes(data)
                .and_then(|spec| Self::from_unipolar_bfv(spec, assurance)),
            SchemeId::Tfhe => return BitSet::read(data, assurance).map(Self::from_bits),
            SchemeId::Gm => {
                let strength =
                    if insecure { gm::Assurance::Insecure } else { gm::Assurance::Classical128 };
                Gm::spec_from_bytes(data, strength).map(Self::from_gm)
            }
            SchemeId::Elgamal | SchemeId::UnipolarElgamal => elgamal(scheme, data),
            SchemeId::Plain => Plain::spec_from_bytes(data).map(Self::from_plain),
            SchemeId::Simulated => Simulated::spec_from_bytes(data).map(Self::from_simulated),
        };
        set.map_err(scheme_to_py)
    }
}

#[pymethods]
impl Params {
    #[staticmethod]
    #[pyo3(signature = (*, ring_degree, coeff_moduli, packing, plain_modulus, scale, assurance))]
    fn lattice(
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
        Self::from_spec(spec, assurance_from(assurance)?).map_err(scheme_to_py)
    }

    /// BFV with products slot by slot.
    #[staticmethod]
    #[pyo3(signature = (*, ring_degree, coeff_moduli, plain_modulus, assurance))]
    fn unipolar_bfv(
        py: Python<'_>,
        ring_degree: usize,
        coeff_moduli: Vec<u64>,
        plain_modulus: u64,
        assurance: &str,
    ) -> PyResult<Self> {
        let spec = Spec {
            scheme: SchemeKind::Bfv,
            ring: power_of_two(ring_degree)?,
            coeff_moduli,
            special_moduli: Vec::new(),
            plaintext: PlaintextSpace::Integers { plain_modulus },
            bound: 1.0,
            packing: None,
            levels: Vec::new(),
        };
        let assurance = assurance_from(assurance)?;
        py.compute(|| Self::from_unipolar_bfv(spec, assurance)).map_err(scheme_to_py)
    }

    /// Bits that bootstrap: the ring's and the small dimension, `log2` of the noise of each, and bits of a
    /// digit and digits of bootstrap, key switch and packing.
    #[staticmethod]
    #[pyo3(signature = (*, dimensions, log2_noise, digits, assurance))]
    fn tfhe_set(
        dimensions: (usize, usize),
        log2_noise: (f64, f64),
        digits: [(u32, u32); 3],
        assurance: &str,
    ) -> PyResult<Self> {
        let assurance = assurance_from(assurance)?;
        BitSet::choose(dimensions, log2_noise, digits, assurance).map(Self::from_bits)
    }

    /// Variances of bits and of lookups of one and of two tables; none in other schemes.
    fn bit_precision(&self) -> Option<(f64, [f64; 2])> {
        Some(self.bit_numbers()?.precision)
    }

    #[staticmethod]
    fn plain(block_length: usize, plain_modulus: u64) -> PyResult<Self> {
        Plain::new(block_length, plain_modulus).map(Self::from_plain).map_err(scheme_to_py)
    }

    /// The simulation of this set: blocks of the same length that multiply in the same way.
    fn simulated(&self) -> PyResult<Self> {
        Simulated::new(self.set.block_length(), self.set.bit_product())
            .map(Self::from_simulated)
            .map_err(scheme_to_py)
    }

    /// Lifted ElGamal.
    #[staticmethod]
    #[pyo3(signature = (*, group, max_count))]
    fn elgamal(group: &str, max_count: u64) -> PyResult<Self> {
        let Some(group) = GroupName::ALL.into_iter().find(|known| known.name() == group) else {
            return Err(ParameterError::new_err(format!(
                "unknown group {group:?}; choose one of {}",
                GroupName::ALL.map(GroupName::name).join(", ")
            )));
        };
        elgamal(SchemeId::Elgamal, &spec_bytes(group, max_count)).map_err(scheme_to_py)
    }

    /// A named set of streams.
    #[staticmethod]
    fn preset(py: Python<'_>, name: &str) -> PyResult<Self> {
        let preset = presets::named(name, false)?;
        let bytes = preset.to_bytes().map_err(scheme_to_py)?;
        py.compute(|| Self::read(preset.scheme(), &bytes, preset.assurance()))
    }

    /// The preset's name, or one that says how secure a set of one's own is.
    #[getter]
    fn name(&self) -> String {
        presets::name_of(&self.bytes, self.set.name(), self.assurance)
    }

    #[staticmethod]
    #[pyo3(signature = (data, *, assurance))]
    fn from_bytes(data: &[u8], assurance: &str) -> PyResult<Self> {
        let assurance = assurance_from(assurance)?;
        let scheme = SchemeId::of(data).map_err(scheme_to_py)?;
        let clear = matches!(scheme, SchemeId::Plain | SchemeId::Simulated);
        if clear && assurance != Assurance::Insecure {
            return Err(ParameterError::new_err(
                "these parameters encrypt nothing; pass assurance=\"insecure\" to load them",
            ));
        }
        Self::read(scheme, data, assurance)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    #[getter]
    fn scheme(&self) -> &'static str {
        self.set.name()
    }

    #[getter]
    fn ring_degree(&self) -> Option<usize> {
        let of_bits = || self.bit_numbers().map(|numbers| numbers.ring_degree);
        self.spec.as_ref().map(Spec::ring_degree).or_else(of_bits)
    }

    #[getter]
    fn coeff_moduli(&self) -> Vec<u64> {
        self.spec.as_ref().map_or_else(Vec::new, |spec| spec.coeff_moduli.clone())
    }

    #[getter]
    fn plain_modulus(&self) -> Option<u64> {
        if let Some(numbers) = self.bit_numbers() {
            return Some(numbers.plain_modulus);
        }
        match self.spec.as_ref()?.plaintext {
            PlaintextSpace::Integers { plain_modulus } => Some(plain_modulus),
            PlaintextSpace::Approximate { .. } => None,
        }
    }

    #[getter]
    fn scale(&self) -> Option<f64> {
        match self.spec.as_ref()?.plaintext {
            PlaintextSpace::Integers { .. } => None,
            PlaintextSpace::Approximate { scale } => Some(scale),
        }
    }

    #[getter]
    fn packing(&self) -> String {
        self.set.packing().to_string().replace(' ', "_")
    }

    #[getter]
    fn assurance(&self) -> &'static str {
        self.assurance
    }

    #[getter]
    fn block_length(&self) -> usize {
        self.set.block_length()
    }

    #[getter]
    fn fingerprint(&self) -> String {
        self.set.fingerprint().to_string()
    }

    fn generate_keys(&self, py: Python<'_>) -> PyResult<(SecretKey, PublicKey)> {
        let (secret, public) = py.compute(|| self.set.generate_keys()).map_err(to_py)?;
        Ok((SecretKey(secret), PublicKey(public)))
    }

    fn read_public_key(&self, py: Python<'_>, data: &[u8]) -> PyResult<PublicKey> {
        interruptible(py, || self.set.read_public(data), to_py).map(PublicKey)
    }

    /// Reads a secret key from its file, without its bytes passing through Python.
    #[pyo3(signature = (path, passphrase))]
    fn load_secret_key(
        &self,
        py: Python<'_>,
        path: PathBuf,
        passphrase: Option<&str>,
    ) -> PyResult<SecretKey> {
        py.compute(|| {
            let bytes = open_key_file(path, passphrase)?;
            self.set.read_secret(&bytes).map(SecretKey).map_err(to_py)
        })
    }

    fn read_array(&self, py: Python<'_>, data: &[u8]) -> PyResult<Array> {
        interruptible(py, || self.set.read_streams(data), to_py).map(Array)
    }

    fn read_seeded_array(&self, py: Python<'_>, data: &[u8]) -> PyResult<SeededArray> {
        interruptible(py, || self.set.read_seeded(data), to_py).map(SeededArray)
    }

    fn read_answer(&self, py: Python<'_>, data: &[u8]) -> PyResult<Answer> {
        interruptible(py, || self.set.read_answer(data), to_py).map(Answer)
    }
}
