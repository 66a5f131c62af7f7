use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Ciphertext, GaloisKeys, Plaintext, RelinKey, Rlwe};

use super::{Numbers, row_length};

/// Steps of the rotations that [`inner_product`] needs. Vectors that do not fit a row of slots have
/// both rows, which are exchanged besides.
pub fn dot_rotations(length: usize) -> Vec<i64> {
    doublings(1, length.next_power_of_two())
}

/// Steps of the rotations that a product with a matrix of this shape needs.
pub fn matrix_rotations(rows: usize, columns: usize) -> Vec<i64> {
    let shape = Shape::new(rows, columns);
    let baby = shape.baby_steps();
    let giants = (1..shape.diagonals().div_ceil(baby)).map(|j| (j * baby) as i64);
    (1..baby as i64).chain(giants).chain(shape.folds()).collect()
}

/// `from`, twice that, ... below `end`.
fn doublings(from: usize, end: usize) -> Vec<i64> {
    let steps = std::iter::successors(Some(from), |step| Some(2 * step));
    steps.take_while(|&step| step < end).map(|step| step as i64).collect()
}

/// The inner product of two vectors of this length, in every slot. What is behind the numbers is
/// zero in one of them. One product of ciphertexts and a rotation for each bit of the length.
///
/// # Errors
/// Those of products and rotations; [`SchemeError::MissingKey`] for a step of [`dot_rotations`], or
/// for exchanging rows if the vectors have both.
pub fn inner_product(
    scheme: &Rlwe,
    relin: &RelinKey,
    galois: &GaloisKeys,
    x: &Ciphertext,
    y: &Ciphertext,
    length: usize,
) -> Result<Ciphertext, SchemeError> {
    let mut total = scheme.product(relin, x, Some(y))?;
    for step in dot_rotations(length.min(row_length(scheme))) {
        total = scheme.add(&total, &scheme.rotate(&total, step, galois)?)?;
    }
    if length > row_length(scheme) {
        total = scheme.add(&total, &scheme.swap_or_conjugate(&total, galois)?)?;
    }
    Ok(total)
}

/// A matrix's shape, and what follows for its diagonals. Rows and columns are filled up to the
/// periods of the vectors that come out and go in.
#[derive(Debug, Clone, Copy)]
struct Shape {
    rows: usize,
    columns: usize,
}

impl Shape {
    fn new(rows: usize, columns: usize) -> Self {
        Self { rows, columns }
    }

    /// Period of the result.
    fn height(self) -> usize {
        self.rows.next_power_of_two()
    }

    /// Period of the vector.
    fn width(self) -> usize {
        self.columns.next_power_of_two()
    }

    fn diagonals(self) -> usize {
        self.height().min(self.width())
    }

    /// Rotations of the vector itself: about the root of the number of diagonals.
    fn baby_steps(self) -> usize {
        (self.diagonals() as f64).sqrt().ceil() as usize
    }

    /// Rotations that bring the pieces of a wide matrix together.
    fn folds(self) -> Vec<i64> {
        doublings(self.height(), self.width())
    }

    /// Where diagonal `k` has its number for a slot, in a matrix written row after row.
    fn place(self, slot: usize, k: usize) -> Option<usize> {
        let (row, column) = (slot % self.height(), (slot + k) % self.width());
        (row < self.rows && column < self.columns).then_some(row * self.columns + column)
    }
}

/// A matrix in the clear by its diagonals, encoded: `M x` for a vector with copies of itself (Halevi
/// and Shoup 2014), by baby and giant steps (Halevi and Shoup 2018): `2 sqrt(d)` rotations, the baby
/// ones hoisted, for `d` diagonals, the smaller one of both periods. A wide matrix has pieces side by
/// side, summed at the end (Juvekar, Vaikuntanathan and Chandrakasan 2018): a rotation for each bit
/// of their number.
pub struct Matrix {
    shape: Shape,
    /// That of its diagonals; none for integers, which fit every level.
    level: Option<usize>,
    /// Diagonal `k`, rotated to the right by its giant step; none if it is zero.
    encoded: Vec<Option<Plaintext>>,
}

impl Matrix {
    /// Encodes a matrix, row after row, for vectors of this level or above; `level` is for CKKS. Each side fits a
    /// row of slots.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for sides that do not fit, and those of encoding.
    pub fn new(
        scheme: &Rlwe,
        matrix: Numbers<'_>,
        (rows, columns): (usize, usize),
        level: usize,
    ) -> Result<Self, SchemeError> {
        let (shape, row) = (Shape::new(rows, columns), row_length(scheme));
        let fits = |side: usize| (1..=row).contains(&side);
        if !fits(rows) || !fits(columns) || matrix.len() != rows * columns {
            return Err(SchemeError::Parameter {
                name: "shape",
                value: format!("({rows}, {columns})"),
                remedy: "give a matrix of at least one number whose rows and columns fit a row of \
                         slots: half the ring degree",
            });
        }
        let baby = shape.baby_steps();
        let scale = scheme.operand_scale(level);
        let period = shape.height().max(shape.width());
        let encode = |k: usize| {
            let giant = k / baby * baby;
            if (0..period).all(|slot| shape.place(slot, k).is_none_or(|at| matrix.is_zero(at))) {
                return Ok(None);
            }
            let place = |slot: usize| shape.place(slot % row + row - giant, k);
            matrix.encode(scheme, place, scale, level).map(Some)
        };
        let encoded = (0..shape.diagonals()).map(encode).collect::<Result<_, _>>()?;
        let level = matches!(matrix, Numbers::Complex(_)).then_some(level);
        Ok(Self { shape, level, encoded })
    }

    /// The level of the vectors that it takes, and of those above; none if it takes all.
    pub fn level(&self) -> Option<usize> {
        self.level
    }

    /// `M x`, again with copies that fill the slots, and zeros behind its numbers. CKKS: rescaled.
    ///
    /// # Errors
    /// [`SchemeError::LastLevel`] for a vector below [`Self::level`],
    /// [`SchemeError::MissingKey`] for a step of [`matrix_rotations`], and those of products.
    pub fn multiply(
        &self,
        scheme: &Rlwe,
        galois: &GaloisKeys,
        x: &Ciphertext,
    ) -> Result<Ciphertext, SchemeError> {
        let lowered = self.level.map(|level| scheme.mod_switch_to(x, level)).transpose()?;
        let x = lowered.as_ref().unwrap_or(x);
        let baby = self.shape.baby_steps();
        let steps: Vec<i64> = (0..baby as i64).collect();
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
        // A matrix of zeros.
        let Some(mut total) = total else { return scheme.sub(x, x) };
        for step in self.shape.folds() {
            total = scheme.add(&total, &scheme.rotate(&total, step, galois)?)?;
        }
        scheme.rescale_product(total)
    }
}
