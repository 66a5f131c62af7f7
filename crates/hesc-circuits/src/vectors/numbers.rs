use hesc_schemes::rlwe::{Ciphertext, Plaintext, Rlwe};
use hesc_schemes::{Complex64, SchemeError};

/// Numbers in the clear: integers for BFV and BGV, complex ones for CKKS.
#[derive(Debug, Clone, Copy)]
pub enum Numbers<'a> {
    /// For BFV and BGV.
    Integers(&'a [i64]),
    /// For CKKS.
    Complex(&'a [Complex64]),
}

impl<'a> Numbers<'a> {
    /// How many.
    pub fn len(self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Complex(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    pub(super) fn split_at(self, at: usize) -> (Self, Self) {
        match self {
            Self::Integers(values) => {
                let (low, high) = values.split_at(at);
                (Self::Integers(low), Self::Integers(high))
            }
            Self::Complex(values) => {
                let (low, high) = values.split_at(at);
                (Self::Complex(low), Self::Complex(high))
            }
        }
    }

    pub(super) fn is_zero(self, at: usize) -> bool {
        match self {
            Self::Integers(values) => values[at] == 0,
            Self::Complex(values) => values[at] == Complex64::default(),
        }
    }

    /// A number for each slot as a plaintext: those at these places, zero where there is no place.
    /// `scale` and `level` matter to CKKS only.
    pub(super) fn encode(
        self,
        scheme: &Rlwe,
        place: impl Fn(usize) -> Option<usize>,
        scale: f64,
        level: usize,
    ) -> Result<Plaintext, SchemeError> {
        let slots = 0..scheme.slot_count();
        match self {
            Self::Integers(values) => {
                let numbers: Vec<_> = slots.map(|s| place(s).map_or(0, |i| values[i])).collect();
                scheme.encode_integers(&numbers)
            }
            Self::Complex(values) => {
                let zero = Complex64::default();
                let numbers: Vec<_> = slots.map(|s| place(s).map_or(zero, |i| values[i])).collect();
                scheme.encode_complex(&numbers, scale, level)
            }
        }
    }

    /// `a` times the number at this place. CKKS: rescaled, to the set's scale.
    pub(super) fn scaled(
        self,
        scheme: &Rlwe,
        a: &Ciphertext,
        at: usize,
    ) -> Result<Ciphertext, SchemeError> {
        match self {
            Self::Integers(values) => scheme.multiply_scalar(a, values[at]),
            Self::Complex(values) => {
                let scale = scheme.default_scale() * scheme.operand_scale(a.level()) / a.scale();
                // A real number is one pass, unless it is too large for a word.
                let number = values[at];
                let term = if number.im == 0.0 && (number.re * scale).abs() < 2f64.powi(62) {
                    scheme.multiply_real(a, number.re, scale)?
                } else {
                    let factor = self.encode(scheme, |_| Some(at), scale, a.level())?;
                    scheme.multiply_plain(a, &factor)?
                };
                scheme.rescale_product(term)
            }
        }
    }
}
