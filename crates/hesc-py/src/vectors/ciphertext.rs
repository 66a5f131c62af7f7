//! Vectors, and what is computed on them.

use hesc_circuits::vectors as circuits;
use hesc_circuits::vectors::{Integers, Label, Numbers};
use hesc_schemes::rlwe::{self, Rlwe};
use hesc_schemes::{Complex64, SchemeError};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::{
    Described, GaloisKeys, Plaintext, RelinKey, VectorParams, basis_from, content_from,
    content_name, described, detached, layout_from, layout_name,
};
use crate::workers::Compute;

#[pyclass(frozen, module = "hesc")]
pub struct Ciphertext(pub(crate) Rlwe, pub(crate) rlwe::Ciphertext);

impl Ciphertext {
    fn with(
        &self,
        py: Python<'_>,
        operation: impl FnOnce(&Rlwe) -> Result<rlwe::Ciphertext, SchemeError> + Send,
    ) -> PyResult<Self> {
        Ok(Self(self.0.clone(), detached(py, || operation(&self.0))?))
    }
}

#[pymethods]
impl Ciphertext {
    /// A ciphertext alone, without what is known of the vector in it.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, params: &VectorParams, data: &[u8]) -> PyResult<Self> {
        let ciphertext = detached(py, || params.0.ciphertext_from_bytes(data))?;
        Ok(Self(params.0.clone(), ciphertext))
    }

    /// A vector's ciphertext, its length, whether zeros are behind it, whether it is complex, and the bound of integers.
    #[staticmethod]
    fn vector_from_bytes(
        py: Python<'_>,
        params: &VectorParams,
        data: &[u8],
    ) -> PyResult<(Self, usize, bool, bool, Option<u64>)> {
        let (label, a) = detached(py, || circuits::vector_from_bytes(&params.0, data))?;
        let Label { length, zeros_behind, complex, bound } = label;
        Ok((Self(params.0.clone(), a), length, zeros_behind, complex, bound))
    }

    /// Slots from their wire form, seeded or not, and what they hold.
    #[staticmethod]
    fn slots_from_bytes(
        py: Python<'_>,
        params: &VectorParams,
        data: &[u8],
    ) -> PyResult<(Self, &'static str)> {
        let (content, a) = detached(py, || circuits::slots_from_bytes(&params.0, data))?;
        Ok((Self(params.0.clone(), a), content_name(content)))
    }

    /// Integers from their wire form, seeded or not.
    #[staticmethod]
    fn integers_from_bytes(
        py: Python<'_>,
        params: &VectorParams,
        data: &[u8],
    ) -> PyResult<(Vec<Self>, Described, &'static str)> {
        let (integers, layout, bits) =
            detached(py, || circuits::integers_from_bytes(&params.0, data))?;
        let Integers { count, width, signed, boolean } = integers;
        let bits = bits.into_iter().map(|bit| Self(params.0.clone(), bit)).collect();
        Ok((bits, (count, width, signed, boolean), layout_name(layout)))
    }

    /// The wire form of integers: ciphertexts; how many numbers, their bits, whether they have signs and whether
    /// they are truth values; and their layout.
    #[staticmethod]
    fn integers_to_bytes<'py>(
        py: Python<'py>,
        params: &VectorParams,
        bits: Vec<PyRef<'_, Self>>,
        of: Described,
        layout: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bits: Vec<_> = bits.iter().map(|bit| &bit.1).collect();
        let integers = (described(of), layout_from(layout)?);
        let bytes = py.compute(|| circuits::integers_to_bytes(&params.0, integers, &bits));
        Ok(PyBytes::new(py, &bytes))
    }

    fn add(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.with(py, |s| s.add(&self.1, &other.1))
    }
    fn sub(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.with(py, |s| s.sub(&self.1, &other.1))
    }
    fn negate(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |s| s.negate(&self.1))
    }
    fn add_plain(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<Self> {
        self.with(py, |s| s.add_plain(&self.1, &plaintext.1))
    }
    fn multiply_plain(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<Self> {
        self.with(py, |s| s.multiply_plain(&self.1, &plaintext.1))
    }
    /// A product with an operand that has [`Self::operand_scale`], which CKKS rescales.
    fn product_with_plain(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<Self> {
        self.with(py, |s| s.product_with_plain(&self.1, &plaintext.1))
    }
    /// After a sum of products with plaintexts: rescaled in CKKS, itself in the other schemes.
    fn settled(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |s| s.rescale_product(self.1.clone()))
    }
    fn multiply_scalar(&self, py: Python<'_>, scalar: i64) -> PyResult<Self> {
        self.with(py, |s| s.multiply_scalar(&self.1, scalar))
    }
    fn multiply_real(&self, py: Python<'_>, scalar: f64, scale: f64) -> PyResult<Self> {
        self.with(py, |s| s.multiply_real(&self.1, scalar, scale))
    }
    fn multiply(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.with(py, |s| s.multiply(&self.1, &other.1))
    }
    fn square(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |s| s.square(&self.1))
    }
    fn relinearise(&self, py: Python<'_>, key: &RelinKey) -> PyResult<Self> {
        self.with(py, |s| s.relinearise(&self.1, &key.1))
    }
    /// Brought back to two components and down to a level at once.
    fn relinearise_to(&self, py: Python<'_>, key: &RelinKey, level: usize) -> PyResult<Self> {
        self.with(py, |s| s.relinearise_to(&self.1, &key.1, level))
    }
    fn rotate(&self, py: Python<'_>, steps: i64, keys: &GaloisKeys) -> PyResult<Self> {
        self.with(py, |s| s.rotate(&self.1, steps, &keys.1))
    }
    fn rotate_many(
        &self,
        py: Python<'_>,
        steps: Vec<i64>,
        keys: &GaloisKeys,
    ) -> PyResult<Vec<Self>> {
        let rotated = detached(py, || self.0.rotate_many(&self.1, &steps, &keys.1))?;
        Ok(rotated.into_iter().map(|a| Self(self.0.clone(), a)).collect())
    }
    fn swap_or_conjugate(&self, py: Python<'_>, keys: &GaloisKeys) -> PyResult<Self> {
        self.with(py, |s| s.swap_or_conjugate(&self.1, &keys.1))
    }
    /// A sum, or a difference, brought to one level and scale.
    fn sum(&self, py: Python<'_>, other: &Self, subtract: bool) -> PyResult<Self> {
        self.with(py, |s| s.sum(&self.1, &other.1, subtract))
    }
    /// A product of two components, at the level that leaves the most room; a square if there is no second factor.
    #[pyo3(signature = (other, key))]
    fn product(&self, py: Python<'_>, other: Option<&Self>, key: &RelinKey) -> PyResult<Self> {
        self.with(py, |s| s.product(&key.1, &self.1, other.map(|other| &other.1)))
    }
    /// A polynomial in each of `length` numbers.
    fn polynomial(
        &self,
        py: Python<'_>,
        key: &RelinKey,
        coefficients: Values<'_>,
        length: usize,
    ) -> PyResult<Self> {
        let numbers = coefficients.numbers()?;
        self.with(py, |s| circuits::polynomial(s, &key.1, &self.1, numbers, length))
    }
    fn inner_product(
        &self,
        py: Python<'_>,
        other: &Self,
        length: usize,
        relin: &RelinKey,
        galois: &GaloisKeys,
    ) -> PyResult<Self> {
        self.with(py, |s| {
            circuits::inner_product(s, &relin.1, &galois.1, &self.1, &other.1, length)
        })
    }
    fn apply_galois(&self, py: Python<'_>, element: usize, keys: &GaloisKeys) -> PyResult<Self> {
        self.with(py, |s| s.apply_galois(&self.1, element, &keys.1))
    }
    fn apply_galois_many(
        &self,
        py: Python<'_>,
        elements: Vec<usize>,
        keys: &GaloisKeys,
    ) -> PyResult<Vec<Self>> {
        let images = detached(py, || self.0.apply_galois_many(&self.1, &elements, &keys.1))?;
        Ok(images.into_iter().map(|a| Self(self.0.clone(), a)).collect())
    }
    /// Coordinates of the values in a basis, each in a ciphertext of its own at a level.
    fn unpack(
        &self,
        py: Python<'_>,
        basis: &str,
        outputs: Vec<usize>,
        keys: &GaloisKeys,
        level: usize,
    ) -> PyResult<Vec<Self>> {
        let basis = basis_from(basis)?;
        let unpacked = detached(py, || self.0.unpack(&self.1, basis, &outputs, &keys.1, level))?;
        Ok(unpacked.into_iter().map(|a| Self(self.0.clone(), a)).collect())
    }
    /// The level at which unpacked coordinates have the most room for a product.
    fn unpacking_level(&self, py: Python<'_>, basis: &str) -> PyResult<usize> {
        let basis = basis_from(basis)?;
        detached(py, || self.0.unpacking_level(&self.1, basis))
    }
    /// One coordinate, by images of a product.
    fn extract(
        &self,
        py: Python<'_>,
        basis: &str,
        output: usize,
        keys: &GaloisKeys,
    ) -> PyResult<Self> {
        let basis = basis_from(basis)?;
        self.with(py, |s| s.extract(&self.1, basis, output, &keys.1))
    }
    /// Digits of numbers modulo a prime power, the lowest first, in the set of the prime.
    fn digits(&self, py: Python<'_>, key: &RelinKey) -> PyResult<Vec<Self>> {
        let (set, digits) = detached(py, || {
            let digits = circuits::Digits::new(&self.0)?;
            Ok((digits.set().clone(), digits.extract(&key.1, &self.1)?))
        })?;
        Ok(digits.into_iter().map(|digit| Self(set.clone(), digit)).collect())
    }
    fn slots_to_bytes<'py>(&self, py: Python<'py>, content: &str) -> PyResult<Bound<'py, PyBytes>> {
        let content = content_from(content)?;
        let bytes = py.compute(|| circuits::slots_to_bytes(&self.0, content, &self.1));
        Ok(PyBytes::new(py, &bytes))
    }
    fn mod_switch_to(&self, py: Python<'_>, level: usize) -> PyResult<Self> {
        self.with(py, |s| s.mod_switch_to(&self.1, level))
    }
    fn rescale(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |s| s.rescale(&self.1))
    }
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.compute(|| self.0.ciphertext_to_bytes(&self.1)))
    }
    #[pyo3(signature = (length, zeros_behind, complex_values, bound))]
    fn vector_to_bytes<'py>(
        &self,
        py: Python<'py>,
        length: usize,
        zeros_behind: bool,
        complex_values: bool,
        bound: Option<u64>,
    ) -> Bound<'py, PyBytes> {
        let label = Label { length, zeros_behind, complex: complex_values, bound };
        PyBytes::new(py, &py.compute(|| circuits::vector_to_bytes(&self.0, label, &self.1)))
    }
    #[getter]
    fn nbytes(&self) -> usize {
        self.1.words() * size_of::<u64>()
    }
    #[getter]
    fn level(&self) -> usize {
        self.1.level()
    }
    #[getter]
    fn size(&self) -> usize {
        self.1.components()
    }
    #[getter]
    fn scale(&self) -> f64 {
        self.1.scale()
    }
    /// The scale of operands in the clear for products with it.
    #[getter]
    fn operand_scale(&self) -> f64 {
        self.0.operand_scale(self.1.level())
    }
    #[getter]
    fn noise_budget(&self) -> f64 {
        self.0.noise_budget(&self.1)
    }
    #[getter]
    fn error_bound(&self) -> f64 {
        self.0.error_bound(&self.1)
    }
}

/// Numbers in the clear, as numpy has them: 64-bit integers for exact schemes, complex for CKKS.
#[derive(FromPyObject)]
enum Values<'py> {
    Integers(PyReadonlyArray1<'py, i64>),
    Complex(PyReadonlyArray1<'py, Complex64>),
}

impl Values<'_> {
    fn numbers(&self) -> PyResult<Numbers<'_>> {
        Ok(match self {
            Self::Integers(values) => Numbers::Integers(values.as_slice()?),
            Self::Complex(values) => Numbers::Complex(values.as_slice()?),
        })
    }
}

/// The sum of products of two, squares where there is no second factor, and of others: relinearised and brought down
/// once.
#[pyfunction]
pub fn sum_of_products(
    py: Python<'_>,
    products: Vec<(PyRef<'_, Ciphertext>, Option<PyRef<'_, Ciphertext>>)>,
    others: Vec<PyRef<'_, Ciphertext>>,
    key: &RelinKey,
) -> PyResult<Ciphertext> {
    let products: Vec<_> = products.iter().map(|(a, b)| (&a.1, b.as_ref().map(|b| &b.1))).collect();
    let others: Vec<_> = others.iter().map(|c| &c.1).collect();
    let sum = detached(py, || key.0.sum_of_products(&key.1, &products, &others))?;
    Ok(Ciphertext(key.0.clone(), sum))
}

/// The carries of bits along slots, by automorphisms one after the other.
#[pyfunction]
pub fn carries(
    py: Python<'_>,
    generates: &Ciphertext,
    passes: &Ciphertext,
    elements: Vec<usize>,
    relin: &RelinKey,
    keys: &GaloisKeys,
) -> PyResult<Ciphertext> {
    let both = (&relin.1, &keys.1);
    let carries = detached(py, || relin.0.carries(both, &generates.1, &passes.1, &elements))?;
    Ok(Ciphertext(relin.0.clone(), carries))
}

/// One ciphertext of up to as many as a slot's value has coordinates, by powers of X.
#[pyfunction]
pub fn pack(
    py: Python<'_>,
    params: &VectorParams,
    numbers: Vec<PyRef<'_, Ciphertext>>,
) -> PyResult<Ciphertext> {
    let numbers: Vec<_> = numbers.iter().map(|c| &c.1).collect();
    let packed = detached(py, || params.0.pack(&numbers))?;
    Ok(Ciphertext(params.0.clone(), packed))
}

/// Steps of the rotations for inner products of this length.
#[pyfunction]
pub fn dot_rotations(length: usize) -> Vec<i64> {
    circuits::dot_rotations(length)
}

/// Steps of the rotations for matrices of this shape.
#[pyfunction]
pub fn matrix_rotations(rows: usize, columns: usize) -> Vec<i64> {
    circuits::matrix_rotations(rows, columns)
}

/// A matrix, encoded for vectors of one level or above.
#[pyclass(frozen, module = "hesc")]
pub struct Matrix(circuits::Matrix);

#[pymethods]
impl Matrix {
    #[new]
    fn new(
        py: Python<'_>,
        params: &VectorParams,
        values: Values<'_>,
        shape: (usize, usize),
        level: usize,
    ) -> PyResult<Self> {
        let numbers = values.numbers()?;
        let matrix = detached(py, || circuits::Matrix::new(&params.0, numbers, shape, level))?;
        Ok(Self(matrix))
    }

    /// The lowest level of vectors that it takes; none if it takes all.
    #[getter]
    fn level(&self) -> Option<usize> {
        self.0.level()
    }

    fn multiply(
        &self,
        py: Python<'_>,
        vector: &Ciphertext,
        keys: &GaloisKeys,
    ) -> PyResult<Ciphertext> {
        vector.with(py, |s| self.0.multiply(s, &keys.1, &vector.1))
    }
}
