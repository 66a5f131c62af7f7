use hesc_math::ring::{Automorphism, Coeff, Eval, Prime};

use super::residues::{Blank, Residues, Row, RowMut, Stored};

/// What the words of a ciphertext are between operations. Here, and nowhere else, [`Stored`] and the domain that it
/// stands for are taken for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Domain {
    /// Coefficients of polynomials.
    Coefficients,
    /// Their values at the roots of unity, where products are pointwise.
    Evaluations,
}

impl Domain {
    /// Evaluations as ciphertexts have them.
    #[must_use]
    pub fn store_evaluations<'a>(self, row: RowMut<'a, Eval>, q: &Prime) -> RowMut<'a, Stored> {
        RowMut::assume(match self {
            Self::Coefficients => row.inverse(q).words(),
            Self::Evaluations => row.words(),
        })
    }

    /// Coefficients as ciphertexts have them.
    #[must_use]
    pub fn store_coefficients<'a>(self, row: RowMut<'a, Coeff>, q: &Prime) -> RowMut<'a, Stored> {
        RowMut::assume(match self {
            Self::Coefficients => row.words(),
            Self::Evaluations => row.forward(q).words(),
        })
    }

    /// What a ciphertext has, as evaluations.
    #[must_use]
    pub fn evaluations<'a>(self, row: RowMut<'a, Stored>, q: &Prime) -> RowMut<'a, Eval> {
        match self {
            Self::Coefficients => RowMut::<Coeff>::assume(row.words()).forward(q),
            Self::Evaluations => RowMut::assume(row.words()),
        }
    }

    /// What a ciphertext has, as coefficients.
    #[must_use]
    pub fn coefficients<'a>(self, row: RowMut<'a, Stored>, q: &Prime) -> RowMut<'a, Coeff> {
        match self {
            Self::Coefficients => RowMut::assume(row.words()),
            Self::Evaluations => RowMut::<Eval>::assume(row.words()).inverse(q),
        }
    }

    /// The image of a polynomial under an automorphism.
    #[must_use]
    pub fn image<'a>(
        self,
        out: RowMut<'a, Blank>,
        of: Row<'_, Stored>,
        under: &Automorphism,
        q: &Prime,
    ) -> RowMut<'a, Stored> {
        let of = of.words();
        RowMut::assume(match self {
            Self::Coefficients => out.image_of_coefficients(Row::assume(of), under, q).words(),
            Self::Evaluations => out.image_of_evaluations(Row::assume(of), under).words(),
        })
    }

    /// What ciphertexts have where that is evaluations.
    pub fn as_evaluations(self, residues: Residues<'_, Stored>) -> Option<Residues<'_, Eval>> {
        (self == Self::Evaluations).then(|| residues.assume_domain())
    }

    /// What ciphertexts have where that is coefficients.
    pub fn as_coefficients(self, residues: Residues<'_, Stored>) -> Option<Residues<'_, Coeff>> {
        (self == Self::Coefficients).then(|| residues.assume_domain())
    }
}
