//! Circuits on the schemes with multiplication: what exact competitors of stochastic circuits are
//! made of.

mod linear;
mod polynomial;

use hesc_schemes::SchemeError;
use hesc_schemes::leveled::{Ciphertext, Complex64, Leveled, Plaintext, RelinKey, SchemeKind};

pub use linear::{Diagonals, dot_rotations, inner_product, matrix_rotations};
pub use polynomial::polynomial;

/// Numbers in the clear: integers for BFV and BGV, real ones for CKKS.
#[derive(Debug, Clone, Copy)]
pub enum Numbers<'a> {
    /// For BFV and BGV.
    Integers(&'a [i64]),
    /// For CKKS.
    Reals(&'a [f64]),
}

impl<'a> Numbers<'a> {
    /// How many.
    pub fn len(self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Reals(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        match self {
            Self::Integers(values) => {
                let (low, high) = values.split_at(at);
                (Self::Integers(low), Self::Integers(high))
            }
            Self::Reals(values) => {
                let (low, high) = values.split_at(at);
                (Self::Reals(low), Self::Reals(high))
            }
        }
    }

    fn is_zero(self, at: usize) -> bool {
        match self {
            Self::Integers(values) => values[at] == 0,
            Self::Reals(values) => values[at] == 0.0,
        }
    }

    /// The numbers at these places as a plaintext; `scale` and `level` matter to CKKS only.
    fn encode(
        self,
        scheme: &Leveled,
        places: impl Iterator<Item = usize>,
        scale: f64,
        level: usize,
    ) -> Result<Plaintext, SchemeError> {
        match self {
            Self::Integers(values) => {
                scheme.encode_integers(&places.map(|i| values[i]).collect::<Vec<_>>())
            }
            Self::Reals(values) => {
                let numbers: Vec<_> = places.map(|i| Complex64::new(values[i], 0.0)).collect();
                scheme.encode_complex(&numbers, scale, level)
            }
        }
    }
}

/// A product of two parts; CKKS rescaled, BGV a level lower, where its noise does not square.
fn product(
    scheme: &Leveled,
    relin: &RelinKey,
    a: &Ciphertext,
    b: Option<&Ciphertext>,
) -> Result<Ciphertext, SchemeError> {
    let product = match b {
        Some(b) => {
            let level = a.level().min(b.level());
            scheme.multiply(&scheme.mod_switch_to(a, level)?, &scheme.mod_switch_to(b, level)?)?
        }
        None => scheme.square(a)?,
    };
    let product = scheme.relinearise(&product, relin)?;
    match scheme.scheme() {
        SchemeKind::Ckks => scheme.rescale(&product),
        SchemeKind::Bgv if product.level() > 1 => scheme.mod_switch(&product),
        _ => Ok(product),
    }
}

/// A sum of what may lie at different levels and, in CKKS, scales. Different scales at one level cost
/// another level.
fn sum(scheme: &Leveled, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, SchemeError> {
    let (a, b) = (scheme.matched(a, b)?, scheme.matched(b, a)?);
    match scheme.add(&a, &b) {
        Err(SchemeError::ScaleMismatch { .. }) if a.level() > 1 => {
            // The larger scale goes down unchanged, the other one takes it on its way.
            let (a, b) = if a.scale() > b.scale() { (a, b) } else { (b, a) };
            let a = scheme.mod_switch(&a)?;
            scheme.add(&a, &scheme.matched(&b, &a)?)
        }
        result => result,
    }
}
