//! Sets of every scheme by their bytes: the one place that knows all schemes of streams.

use hesc_math::Word;

use super::lattice::{BfvEncoding, CkksEncoding, Encoding, Lattice};
#[cfg(feature = "classical")]
use super::{
    Gm, UnipolarElgamal,
    bitwise::Bitwise,
    classical_sets::GroupName,
    elgamal::{Exponents, Ffdhe3072, Group, LiftedElgamal, Ristretto255, Secp256r1},
};
use super::{Pad, Plain, Scheme, Simulated, UnipolarSlots};
use crate::kinds::SchemeId;
use crate::rlwe::{SchemeKind, Spec};
use crate::wire::Reader;
use crate::{Assurance, SchemeError};

/// What is done with a scheme whose type the bytes decide.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Takes the scheme.
    fn visit(self, scheme: impl Scheme) -> Self::Output;
}

/// Reads a parameter set of streams, checks it as its maker did, and hands the scheme to `visitor`. Cost: the
/// tables of the scheme, milliseconds.
///
/// # Errors
/// [`SchemeError::Wire`] for other bytes; [`SchemeError::Security`] and [`SchemeError::Weak`] below
/// `assurance`; [`SchemeError::Parameter`], [`SchemeError::Math`] and [`SchemeError::NoiseBudget`] for
/// values that no set has, and for schemes that the build leaves out.
pub fn open<V: Visitor>(
    bytes: &[u8],
    assurance: Assurance,
    visitor: V,
) -> Result<V::Output, SchemeError> {
    let scheme = Reader::scheme_of(bytes)?;
    let clear = matches!(scheme, SchemeId::Plain | SchemeId::Simulated);
    if clear && assurance != Assurance::Insecure {
        return Err(SchemeError::Weak {
            set: "a set that encrypts nothing",
            remedy: "take another",
        });
    }
    Ok(match scheme {
        SchemeId::Ring(_) => return open_lattice(Spec::from_bytes(bytes)?, assurance, visitor),
        SchemeId::UnipolarSlots => {
            visitor.visit(UnipolarSlots::new(UnipolarSlots::spec_from_bytes(bytes)?, assurance)?)
        }
        SchemeId::Tfhe => return tfhe(bytes, assurance, visitor),
        SchemeId::Gm | SchemeId::Elgamal | SchemeId::UnipolarElgamal => {
            return classical(scheme, bytes, assurance, visitor);
        }
        SchemeId::Pad => visitor.visit(Pad::spec_from_bytes(bytes)?),
        SchemeId::Plain => visitor.visit(Plain::spec_from_bytes(bytes)?),
        SchemeId::Simulated => visitor.visit(Simulated::spec_from_bytes(bytes)?),
    })
}

/// Checks a lattice's set, with words of 32 bits where every modulus fits them: half the memory, twice the
/// lanes.
///
/// # Errors
/// As [`Lattice::new`].
pub fn open_lattice<V: Visitor>(
    spec: Spec,
    assurance: Assurance,
    visitor: V,
) -> Result<V::Output, SchemeError> {
    if spec.coeff_moduli.iter().all(|q| q >> 31 == 0) {
        of_words::<u32, V>(spec, assurance, visitor)
    } else {
        of_words::<u64, V>(spec, assurance, visitor)
    }
}

fn of_words<W: Word, V: Visitor>(
    spec: Spec,
    assurance: Assurance,
    visitor: V,
) -> Result<V::Output, SchemeError>
where
    BfvEncoding: Encoding<W>,
    CkksEncoding: Encoding<W>,
{
    Ok(match spec.scheme {
        SchemeKind::Ckks => visitor.visit(Lattice::<W, CkksEncoding>::new(spec, assurance)?),
        // What is of neither is refused there.
        _ => visitor.visit(Lattice::<W, BfvEncoding>::new(spec, assurance)?),
    })
}

/// Checks a set of single bits that bootstrap: the ring's and the small dimension, `log2` of the noise of each,
/// and bits of a digit and digits of bootstrap, key switch and packing.
///
/// # Errors
/// [`SchemeError::Parameter`] for a set that does not work, or if the build leaves the scheme out;
/// [`SchemeError::Security`] below `assurance`.
pub fn open_bits<V: Visitor>(
    dimensions: [usize; 2],
    log2_noise: [f64; 2],
    digits: [(u32, u32); 3],
    assurance: Assurance,
    visitor: V,
) -> Result<V::Output, SchemeError> {
    #[cfg(feature = "tfhe")]
    {
        use super::tfhe::{Spec, Tfhe};
        Ok(visitor.visit(Tfhe::new(Spec::of(dimensions, log2_noise, digits), assurance)?))
    }
    #[cfg(not(feature = "tfhe"))]
    {
        let _ = (dimensions, log2_noise, digits, assurance, visitor);
        Err(SchemeError::left_out("tfhe"))
    }
}

#[cfg(feature = "tfhe")]
fn tfhe<V: Visitor>(
    bytes: &[u8],
    assurance: Assurance,
    visitor: V,
) -> Result<V::Output, SchemeError> {
    use super::tfhe::{Spec, Tfhe};
    Ok(visitor.visit(Tfhe::new(Spec::from_bytes(bytes)?, assurance)?))
}

#[cfg(not(feature = "tfhe"))]
fn tfhe<V: Visitor>(_: &[u8], _: Assurance, _: V) -> Result<V::Output, SchemeError> {
    Err(SchemeError::left_out("tfhe"))
}

/// A set of Goldwasser and Micali's or of one of ElGamal's schemes, which says over which group.
#[cfg(feature = "classical")]
fn classical<V: Visitor>(
    scheme: SchemeId,
    bytes: &[u8],
    assurance: Assurance,
    visitor: V,
) -> Result<V::Output, SchemeError> {
    if scheme == SchemeId::Gm {
        return Ok(visitor.visit(Gm::spec_from_bytes(bytes, assurance)?));
    }
    match GroupName::of_set(bytes)? {
        GroupName::Ffdhe3072 => over(Ffdhe3072::new(Exponents::Short), scheme, bytes, visitor),
        GroupName::Ffdhe3072FullExponents => {
            over(Ffdhe3072::new(Exponents::Full), scheme, bytes, visitor)
        }
        GroupName::Ristretto255 => over(Ristretto255, scheme, bytes, visitor),
        GroupName::Secp256r1 => over(Secp256r1, scheme, bytes, visitor),
    }
}

#[cfg(feature = "classical")]
fn over<G: Group, V: Visitor>(
    group: G,
    scheme: SchemeId,
    bytes: &[u8],
    visitor: V,
) -> Result<V::Output, SchemeError> {
    Ok(match scheme {
        SchemeId::UnipolarElgamal => visitor.visit(UnipolarElgamal::over_from_bytes(group, bytes)?),
        _ => visitor.visit(Bitwise::<LiftedElgamal<G>>::over_from_bytes(group, bytes)?),
    })
}

#[cfg(not(feature = "classical"))]
fn classical<V: Visitor>(
    scheme: SchemeId,
    _: &[u8],
    _: Assurance,
    _: V,
) -> Result<V::Output, SchemeError> {
    Err(SchemeError::left_out(if scheme == SchemeId::Gm { "gm" } else { "elgamal" }))
}
