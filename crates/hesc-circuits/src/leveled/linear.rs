use hesc_schemes::SchemeError;
use hesc_schemes::leveled::{Ciphertext, GaloisKeys, Leveled, RelinKey, SchemeKind};

use super::{Numbers, product};

/// Steps of the rotations that [`inner_product`] needs.
pub fn dot_rotations(length: usize) -> Vec<i64> {
    std::iter::successors(Some(1i64), |step| Some(2 * step))
        .take_while(|&step| (step as usize) < length.next_power_of_two())
        .collect()
}

/// Steps of the rotations that a product with a square matrix of this side needs.
pub fn matrix_rotations(side: usize) -> Vec<i64> {
    let baby = baby_steps(side);
    let giants = (1..side.div_ceil(baby)).map(|j| (j * baby) as i64);
    (1..baby as i64).chain(giants).collect()
}

/// Rotations of the vector itself: about the root of the side.
fn baby_steps(side: usize) -> usize {
    (side as f64).sqrt().ceil() as usize
}

/// The inner product of the first `length` slots of each row, in slot 0 of the row; the slots after
/// `length` are zero in one of the factors up to the next power of two. One product of ciphertexts
/// and a rotation for each bit of the length.
///
/// # Errors
/// Those of products and rotations; [`SchemeError::MissingKey`] for a step of [`dot_rotations`].
pub fn inner_product(
    scheme: &Leveled,
    relin: &RelinKey,
    galois: &GaloisKeys,
    x: &Ciphertext,
    y: &Ciphertext,
    length: usize,
) -> Result<Ciphertext, SchemeError> {
    let mut total = product(scheme, relin, x, Some(y))?;
    for step in dot_rotations(length) {
        total = scheme.add(&total, &scheme.rotate(&total, step, galois)?)?;
    }
    Ok(total)
}

/// A square matrix in the clear by its diagonals, encoded: `M x` for vectors that fill a row of
/// slots with copies of themselves (Halevi and Shoup 2014), by baby and giant steps (Halevi and
/// Shoup 2018): `2 sqrt(n)` rotations, the baby ones hoisted.
pub struct Diagonals {
    side: usize,
    level: usize,
    /// Diagonal `k`, rotated to the right by its giant step; none if it is zero.
    encoded: Vec<Option<hesc_schemes::leveled::Plaintext>>,
}

impl Diagonals {
    /// Encodes a matrix, row after row, for vectors of this level. The side divides a row of slots.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for a side that does not fit, and those of encoding.
    pub fn new(
        scheme: &Leveled,
        matrix: Numbers<'_>,
        side: usize,
        level: usize,
    ) -> Result<Self, SchemeError> {
        let row = row_length(scheme);
        if side == 0 || !row.is_multiple_of(side) || matrix.len() != side * side {
            return Err(SchemeError::Parameter {
                name: "side",
                value: side.to_string(),
                remedy: "give a square matrix whose side divides a row of slots: a power of two",
            });
        }
        let baby = baby_steps(side);
        // The prime that the rescaling takes: scales stay what they were.
        let scale = match scheme.scheme() {
            SchemeKind::Ckks => {
                scheme.spec().coeff_moduli[level.clamp(1, scheme.levels()) - 1] as f64
            }
            _ => 1.0,
        };
        let encode = |k: usize| {
            let giant = k / baby * baby;
            // Slot i of the diagonal is M[i][i + k]; all rotated to the right by the giant step.
            let place = |slot: usize| {
                let i = (slot % row + side - giant % side) % side;
                i * side + (i + k) % side
            };
            if (0..side).all(|slot| matrix.is_zero(place(slot))) {
                return Ok(None);
            }
            let places = (0..scheme.slot_count()).map(place);
            matrix.encode(scheme, places, scale, level).map(Some)
        };
        let encoded = (0..side).map(encode).collect::<Result<_, _>>()?;
        Ok(Self { side, level, encoded })
    }

    /// `M x`, again with copies that fill the row. CKKS: rescaled.
    ///
    /// # Errors
    /// [`SchemeError::LevelMismatch`] for a vector of another level than the matrix was encoded for,
    /// [`SchemeError::MissingKey`] for a step of [`matrix_rotations`], [`SchemeError::Empty`] for a
    /// matrix of zeros, and those of products.
    pub fn multiply(
        &self,
        scheme: &Leveled,
        galois: &GaloisKeys,
        x: &Ciphertext,
    ) -> Result<Ciphertext, SchemeError> {
        if x.level() != self.level {
            return Err(SchemeError::LevelMismatch { expected: self.level, found: x.level() });
        }
        let baby = baby_steps(self.side);
        let steps: Vec<i64> = (0..baby.min(self.side) as i64).collect();
        let rotated = scheme.rotate_many(x, &steps, galois)?;
        let mut total: Option<Ciphertext> = None;
        for (giant, diagonals) in self.encoded.chunks(baby).enumerate() {
            let mut inner: Option<Ciphertext> = None;
            for (diagonal, x) in diagonals.iter().zip(&rotated) {
                let Some(diagonal) = diagonal else { continue };
                let term = scheme.multiply_plain(x, diagonal)?;
                inner = Some(match inner {
                    None => term,
                    Some(inner) => scheme.add(&inner, &term)?,
                });
            }
            let Some(inner) = inner else { continue };
            let turned = scheme.rotate(&inner, (giant * baby) as i64, galois)?;
            total = Some(match total {
                None => turned,
                Some(total) => scheme.add(&total, &turned)?,
            });
        }
        let total = total.ok_or(SchemeError::Empty)?;
        if scheme.scheme() == SchemeKind::Ckks { scheme.rescale(&total) } else { Ok(total) }
    }
}

/// Slots that a rotation moves in a circle.
fn row_length(scheme: &Leveled) -> usize {
    scheme.ring_degree() / 2
}
