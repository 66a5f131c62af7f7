use hesc_math::ring::{Automorphism, Coeff, Eval, Prime};

use super::residues::{AtRest, Residues, Row, RowMut};

/// What the words of a ciphertext are between operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Domain {
    /// Coefficients of polynomials.
    Coefficients,
    /// Their values at the roots of unity, where products are pointwise.
    Evaluations,
}

impl Domain {
    /// Evaluations as ciphertexts have them.
    pub fn rest_evaluations<'a>(self, row: RowMut<'a, Eval>, q: &Prime) -> RowMut<'a, AtRest> {
        match self {
            Self::Coefficients => RowMut::assume(row.inverse(q).words()),
            Self::Evaluations => RowMut::assume(row.words()),
        }
    }

    /// Coefficients as ciphertexts have them.
    pub fn rest_coefficients<'a>(self, row: RowMut<'a, Coeff>, q: &Prime) -> RowMut<'a, AtRest> {
        match self {
            Self::Coefficients => RowMut::assume(row.words()),
            Self::Evaluations => RowMut::assume(row.forward(q).words()),
        }
    }

    /// What a ciphertext has, as evaluations.
    pub fn evaluations<'a>(self, row: RowMut<'a, AtRest>, q: &Prime) -> RowMut<'a, Eval> {
        match self {
            Self::Coefficients => RowMut::<Coeff>::assume(row.words()).forward(q),
            Self::Evaluations => RowMut::assume(row.words()),
        }
    }

    /// What a ciphertext has, as coefficients.
    pub fn coefficients<'a>(self, row: RowMut<'a, AtRest>, q: &Prime) -> RowMut<'a, Coeff> {
        match self {
            Self::Coefficients => RowMut::assume(row.words()),
            Self::Evaluations => RowMut::<Eval>::assume(row.words()).inverse(q),
        }
    }

    /// The image of a polynomial under an automorphism.
    pub fn set_image(
        self,
        out: RowMut<'_, AtRest>,
        of: Row<'_, AtRest>,
        under: &Automorphism,
        q: &Prime,
    ) {
        let (out, of) = (out.words(), of.words());
        match self {
            Self::Coefficients => RowMut::<Coeff>::assume(out).set_image(Row::assume(of), under, q),
            Self::Evaluations => RowMut::<Eval>::assume(out).set_image(Row::assume(of), under),
        }
    }

    /// What a ciphertext has where that is evaluations.
    pub fn evaluated(self, residues: Residues<'_, AtRest>) -> Option<Residues<'_, Eval>> {
        (self == Self::Evaluations).then(|| residues.assume_domain())
    }
}
