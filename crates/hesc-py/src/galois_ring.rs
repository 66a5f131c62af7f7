//! What slots of odd rings hold, and the matrices of unpacking.

use hesc_math::finite_field::VandermondeInverse;
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::{ParameterError, ShapeError, scheme_to_py};
use crate::workers::Compute;

#[pyclass(frozen, module = "hesc")]
pub struct GaloisRing(hesc_math::GaloisRing);

type Element<'py> = Bound<'py, PyArray1<u64>>;

fn way(name: &str) -> PyResult<VandermondeInverse> {
    let found = VandermondeInverse::ALL.into_iter().find(|way| way.name() == name);
    found.ok_or_else(|| {
        let names = VandermondeInverse::ALL.map(VandermondeInverse::name).join(", ");
        ParameterError::new_err(format!("no method {name:?}; choose one of {names}"))
    })
}

impl GaloisRing {
    /// Refuses what are no elements, one after the other.
    fn check(&self, length: usize, coefficients: &[u64]) -> PyResult<()> {
        let (d, modulus) = (self.0.degree(), self.0.modulus().value());
        if length != d {
            return Err(ShapeError::new_err(format!(
                "an element of {length} coefficients in a ring of degree {d}; give {d}, with zeros where they end early"
            )));
        }
        match coefficients.iter().find(|x| **x >= modulus) {
            None => Ok(()),
            Some(x) => Err(ParameterError::new_err(format!(
                "coefficient {x} is not below the modulus {modulus}; reduce it first"
            ))),
        }
    }

    /// An element's coefficients.
    fn element(&self, of: &PyReadonlyArray1<'_, u64>) -> PyResult<Vec<u64>> {
        let coefficients = of.as_array().to_vec();
        self.check(coefficients.len(), &coefficients)?;
        Ok(coefficients)
    }

    /// Elements, a row each.
    fn elements(&self, of: &PyReadonlyArray2<'_, u64>) -> PyResult<Vec<u64>> {
        let rows = of.as_array();
        let coefficients: Vec<u64> = rows.iter().copied().collect();
        self.check(rows.ncols(), &coefficients)?;
        Ok(coefficients)
    }
}

#[pymethods]
impl GaloisRing {
    #[new]
    fn new(py: Python<'_>, index: u64, prime: u64, power: u32) -> PyResult<Self> {
        let ring = py.compute(|| hesc_math::GaloisRing::new(index, prime, power));
        ring.map(Self).map_err(|error| scheme_to_py(error.into()))
    }

    #[getter]
    fn index(&self) -> u64 {
        self.0.index()
    }

    #[getter]
    fn prime(&self) -> u64 {
        self.0.prime()
    }

    #[getter]
    fn power(&self) -> u32 {
        self.0.exponent()
    }

    #[getter]
    fn degree(&self) -> usize {
        self.0.degree()
    }

    #[getter]
    fn modulus(&self) -> u64 {
        self.0.modulus().value()
    }

    #[getter]
    fn polynomial<'py>(&self, py: Python<'py>) -> Element<'py> {
        PyArray1::from_slice(py, self.0.polynomial())
    }

    fn add<'py>(
        &self,
        py: Python<'py>,
        a: PyReadonlyArray1<'py, u64>,
        b: PyReadonlyArray1<'py, u64>,
    ) -> PyResult<Element<'py>> {
        let (a, b) = (self.element(&a)?, self.element(&b)?);
        Ok(PyArray1::from_vec(py, self.0.add(&a, &b)))
    }

    fn multiply<'py>(
        &self,
        py: Python<'py>,
        a: PyReadonlyArray1<'py, u64>,
        b: PyReadonlyArray1<'py, u64>,
    ) -> PyResult<Element<'py>> {
        let (a, b) = (self.element(&a)?, self.element(&b)?);
        Ok(PyArray1::from_vec(py, py.compute(|| self.0.multiply(&a, &b))))
    }

    fn inner_product<'py>(
        &self,
        py: Python<'py>,
        a: PyReadonlyArray2<'py, u64>,
        b: PyReadonlyArray2<'py, u64>,
    ) -> PyResult<Element<'py>> {
        let (a, b) = (self.elements(&a)?, self.elements(&b)?);
        let d = self.0.degree();
        if a.len() != b.len() {
            return Err(ShapeError::new_err(format!(
                "{} elements by {}; give as many of both",
                a.len() / d,
                b.len() / d
            )));
        }
        let product = py.compute(|| self.0.inner_product(a.chunks(d).zip(b.chunks(d))));
        Ok(PyArray1::from_vec(py, product))
    }

    fn frobenius<'py>(
        &self,
        py: Python<'py>,
        a: PyReadonlyArray1<'py, u64>,
    ) -> PyResult<Element<'py>> {
        let a = self.element(&a)?;
        Ok(PyArray1::from_vec(py, py.compute(|| self.0.frobenius(&a))))
    }

    fn trace(&self, a: PyReadonlyArray1<'_, u64>) -> PyResult<u64> {
        Ok(self.0.trace(&self.element(&a)?))
    }

    fn inverse<'py>(
        &self,
        py: Python<'py>,
        a: PyReadonlyArray1<'py, u64>,
    ) -> PyResult<Option<Element<'py>>> {
        let a = self.element(&a)?;
        let inverse = py.compute(|| self.0.inverse(&a));
        Ok(inverse.map(|inverse| PyArray1::from_vec(py, inverse)))
    }

    fn dual_basis<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let d = self.0.degree();
        let basis = py.compute(|| self.0.dual_basis().concat());
        PyArray1::from_vec(py, basis).reshape([d, d])
    }

    fn normal_basis<'py>(&self, py: Python<'py>) -> (Element<'py>, Element<'py>) {
        let (normal, dual) = py.compute(|| self.0.normal_basis());
        (PyArray1::from_vec(py, normal), PyArray1::from_vec(py, dual))
    }

    fn invert_vandermonde<'py>(
        &self,
        py: Python<'py>,
        method: &str,
    ) -> PyResult<Bound<'py, PyArray3<u64>>> {
        let (d, way) = (self.0.degree(), way(method)?);
        let inverse = py.compute(|| self.0.inverse_vandermonde(way));
        PyArray1::from_vec(py, inverse).reshape([d, d, d])
    }

    /// Ring products that `invert_vandermonde` takes.
    fn vandermonde_products(&self, method: &str) -> PyResult<u64> {
        Ok(way(method)?.products(self.0.degree() as u64))
    }
}
