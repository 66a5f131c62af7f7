use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use hesc_circuits::Layout;
use hesc_math::Word;
use hesc_schemes::rlwe::{Assurance, Plaintext, Rlwe, Spec};
use hesc_schemes::{Bfv, Ckks, EcElgamal, Packing, Plain, Scheme, SchemeError, bfv, ckks};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use zeroize::Zeroize;

use crate::arrays::{Answer, Array, Counts, SeededArray};
use crate::encoder::BitStreams;
use crate::erased::{self, Set, SetOf};
use crate::errors::{ParameterError, scheme_to_py, to_py};

/// Longest file that is read as a secret key: above the largest ring degree's.
const MAX_KEY_FILE: u64 = 1 << 20;

#[pyclass(frozen, module = "hesc")]
pub struct Params {
    set: Arc<dyn Set>,
    /// Absent for schemes without a ring.
    spec: Option<Spec>,
    bytes: Vec<u8>,
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

fn assurance_from(name: &str) -> PyResult<Assurance> {
    match name {
        "guidelines2024" => Ok(Assurance::Guidelines2024),
        "hestd2018" => Ok(Assurance::HeStd2018),
        "insecure" => Ok(Assurance::Insecure),
        _ => Err(ParameterError::new_err(format!(
            "unknown assurance {name:?}; choose one of guidelines2024, hestd2018, insecure"
        ))),
    }
}

fn build<W: Word>(spec: &Spec, assurance: Assurance) -> Result<Arc<dyn Set>, SchemeError>
where
    bfv::BfvEncoding: hesc_schemes::rlwe::Encoding<W>,
    ckks::CkksEncoding: hesc_schemes::rlwe::Encoding<W>,
{
    Ok(match spec.plaintext {
        Plaintext::Integers { .. } => {
            let scheme: Bfv<W> = Rlwe::new(spec.clone(), assurance)?;
            Arc::new(SetOf(scheme))
        }
        Plaintext::Approximate { .. } => {
            let scheme: Ckks<W> = Rlwe::new(spec.clone(), assurance)?;
            Arc::new(SetOf(scheme))
        }
    })
}

impl Params {
    fn from_spec(spec: Spec, assurance: Assurance) -> PyResult<Self> {
        // Words of 32 bits where every modulus fits them: half the memory, twice the lanes.
        let set = if spec.coeff_moduli.iter().all(|q| q >> 31 == 0) {
            build::<u32>(&spec, assurance)
        } else {
            build::<u64>(&spec, assurance)
        };
        let bytes = spec.to_bytes();
        Ok(Self { set: set.map_err(scheme_to_py)?, spec: Some(spec), bytes })
    }

    fn from_scheme(scheme: impl Scheme, bytes: Vec<u8>) -> Self {
        Self { set: Arc::new(SetOf(scheme)), spec: None, bytes }
    }

    fn from_plain(scheme: Plain) -> Self {
        let bytes = scheme.spec_to_bytes();
        Self::from_scheme(scheme, bytes)
    }

    fn from_ec_elgamal(scheme: EcElgamal) -> Self {
        let bytes = scheme.spec_to_bytes();
        Self::from_scheme(scheme, bytes)
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
            (Some(plain_modulus), None) => Plaintext::Integers { plain_modulus },
            (None, Some(scale)) => Plaintext::Approximate { scale },
            _ => {
                return Err(ParameterError::new_err(
                    "give plain_modulus for BFV or scale for CKKS, not both",
                ));
            }
        };
        let spec = Spec { ring_degree, coeff_moduli, packing: packing_from(packing)?, plaintext };
        Self::from_spec(spec, assurance_from(assurance)?)
    }

    #[staticmethod]
    fn plain(block_length: usize, plain_modulus: u64) -> PyResult<Self> {
        Plain::new(block_length, plain_modulus).map(Self::from_plain).map_err(scheme_to_py)
    }

    #[staticmethod]
    fn ec_elgamal(max_count: u64) -> PyResult<Self> {
        EcElgamal::new(max_count).map(Self::from_ec_elgamal).map_err(scheme_to_py)
    }

    #[staticmethod]
    #[pyo3(signature = (data, *, assurance))]
    fn from_bytes(data: &[u8], assurance: &str) -> PyResult<Self> {
        let assurance = assurance_from(assurance)?;
        if let Ok(plain) = Plain::spec_from_bytes(data) {
            if assurance != Assurance::Insecure {
                return Err(ParameterError::new_err(
                    "these parameters encrypt nothing; pass assurance=\"insecure\" to load them",
                ));
            }
            return Ok(Self::from_plain(plain));
        }
        if let Ok(scheme) = EcElgamal::spec_from_bytes(data) {
            return Ok(Self::from_ec_elgamal(scheme));
        }
        let spec = Spec::from_bytes(data).map_err(scheme_to_py)?;
        Self::from_spec(spec, assurance)
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
        self.spec.as_ref().map(|spec| spec.ring_degree)
    }

    #[getter]
    fn coeff_moduli(&self) -> Vec<u64> {
        self.spec.as_ref().map_or_else(Vec::new, |spec| spec.coeff_moduli.clone())
    }

    #[getter]
    fn plain_modulus(&self) -> Option<u64> {
        match self.spec.as_ref()?.plaintext {
            Plaintext::Integers { plain_modulus } => Some(plain_modulus),
            Plaintext::Approximate { .. } => None,
        }
    }

    #[getter]
    fn scale(&self) -> Option<f64> {
        match self.spec.as_ref()?.plaintext {
            Plaintext::Integers { .. } => None,
            Plaintext::Approximate { scale } => Some(scale),
        }
    }

    #[getter]
    fn packing(&self) -> String {
        self.spec
            .as_ref()
            .map_or_else(|| "slots".to_owned(), |spec| spec.packing.to_string().replace(' ', "_"))
    }

    #[getter]
    fn assurance(&self) -> &'static str {
        match self.spec.as_ref().map(Spec::assurance) {
            Some(Assurance::Guidelines2024) => "guidelines2024",
            Some(Assurance::HeStd2018) => "hestd2018",
            // The group gives 128 bits, against classical computers only.
            None if self.set.name() == "ec_elgamal" => "classical128",
            Some(Assurance::Insecure) | None => "insecure",
        }
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
        let (secret, public) = py.detach(|| self.set.generate_keys()).map_err(to_py)?;
        Ok((SecretKey(secret), PublicKey(public)))
    }

    fn read_public_key(&self, py: Python<'_>, data: &[u8]) -> PyResult<PublicKey> {
        py.detach(|| self.set.read_public(data)).map(PublicKey).map_err(to_py)
    }

    /// Reads a secret key from its file, without its bytes passing through Python.
    fn load_secret_key(&self, py: Python<'_>, path: PathBuf) -> PyResult<SecretKey> {
        py.detach(|| {
            let file = OpenOptions::new().read(true).open(path)?;
            let length = file.metadata()?.len().min(MAX_KEY_FILE);
            // Reserved whole, so that no partial copy stays behind; wiped below.
            let mut bytes = Vec::with_capacity(length as usize + 1);
            file.take(length).read_to_end(&mut bytes)?;
            let key = self.set.read_secret(&bytes);
            bytes.zeroize();
            key.map(SecretKey).map_err(to_py)
        })
    }

    fn read_array(&self, py: Python<'_>, data: &[u8]) -> PyResult<Array> {
        py.detach(|| self.set.read_streams(data)).map(Array).map_err(to_py)
    }

    fn read_seeded_array(&self, py: Python<'_>, data: &[u8]) -> PyResult<SeededArray> {
        py.detach(|| self.set.read_seeded(data)).map(SeededArray).map_err(to_py)
    }

    fn read_answer(&self, py: Python<'_>, data: &[u8]) -> PyResult<Answer> {
        py.detach(|| self.set.read_answer(data)).map(Answer).map_err(to_py)
    }
}

fn layout_from(name: &str) -> PyResult<Layout> {
    match name {
        "one_per_block" => Ok(Layout::OnePerBlock),
        "side_by_side" => Ok(Layout::SideBySide),
        _ => Err(ParameterError::new_err(format!(
            "unknown layout {name:?}; choose one of one_per_block, side_by_side"
        ))),
    }
}

fn plaintext<'a>(
    streams: &'a BitStreams,
    layout: &str,
    row_length: usize,
) -> PyResult<hesc_circuits::Plaintext<'a>> {
    Ok(hesc_circuits::Plaintext {
        bits: &streams.streams,
        representation: streams.representation,
        origin: streams.origin,
        layout: layout_from(layout)?,
        row_length,
    })
}

#[pyclass(frozen, module = "hesc")]
pub struct PublicKey(Arc<dyn erased::Public>);

#[pymethods]
impl PublicKey {
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    fn encrypt(
        &self,
        py: Python<'_>,
        streams: &BitStreams,
        layout: &str,
        row_length: usize,
    ) -> PyResult<Array> {
        let plaintext = plaintext(streams, layout, row_length)?;
        py.detach(|| self.0.encrypt(&plaintext)).map(Array).map_err(to_py)
    }
}

/// No equality, no representation of its content, no pickling.
#[pyclass(frozen, module = "hesc")]
pub struct SecretKey(Arc<dyn erased::Secret>);

#[pymethods]
impl SecretKey {
    /// Writes a new file that only its owner can read; an existing one is never overwritten.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let mut file = options.open(path)?;
        Ok(self.0.with_bytes(&mut |bytes| file.write_all(bytes))?)
    }

    fn encrypt(
        &self,
        py: Python<'_>,
        streams: &BitStreams,
        layout: &str,
        row_length: usize,
    ) -> PyResult<SeededArray> {
        let plaintext = plaintext(streams, layout, row_length)?;
        py.detach(|| self.0.encrypt(&plaintext)).map(SeededArray).map_err(to_py)
    }

    fn decrypt(&self, py: Python<'_>, answer: &Answer) -> PyResult<Counts> {
        let counts = py.detach(|| self.0.decrypt(answer.0.as_ref())).map_err(to_py)?;
        Ok(Counts(Some(counts)))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a secret key is not pickled or copied; write it with hesc.save_secret_key",
        ))
    }
}
