//! Dry runs of programs on slots, without ciphertexts.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hesc_schemes::DryValue;
use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Encryption, Rlwe, Work};
use pyo3::prelude::*;

use super::{Ciphertext, Plaintext, RelinKey, VectorParams, detached};
use crate::workers::Compute;

/// What a program has taken so far.
#[derive(Default)]
struct Tally {
    work: Work,
    products: usize,
    elements: BTreeSet<usize>,
}

/// What a program takes, by a dry run of it.
#[pyclass(frozen, module = "hesc")]
pub struct SlotsDryRun {
    scheme: Rlwe,
    tally: Arc<Mutex<Tally>>,
}

/// A ciphertext of slots without its words: the operations of ciphertexts, which are counted.
#[pyclass(frozen, module = "hesc")]
pub struct SlotsDryValue {
    scheme: Rlwe,
    value: DryValue,
    tally: Arc<Mutex<Tally>>,
}

fn locked(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl SlotsDryRun {
    #[new]
    fn new(params: &VectorParams) -> Self {
        Self { scheme: params.0.clone(), tally: Arc::default() }
    }

    /// An encryption under the public key, or what is known of a ciphertext.
    #[pyo3(signature = (of=None))]
    fn input(&self, py: Python<'_>, of: Option<&Ciphertext>) -> PyResult<SlotsDryValue> {
        let value = detached(py, || match of {
            Some(a) => self.scheme.dry_value(&a.1),
            None => self.scheme.dry_encryption(Encryption::PublicKey),
        })?;
        Ok(SlotsDryValue { scheme: self.scheme.clone(), value, tally: self.tally.clone() })
    }

    /// Refuses ciphertexts that do not belong together, or not to the key.
    fn check(
        &self,
        py: Python<'_>,
        key: &RelinKey,
        inputs: Vec<PyRef<'_, Ciphertext>>,
    ) -> PyResult<()> {
        let inputs: Vec<_> = inputs.iter().map(|a| &a.1).collect();
        detached(py, || self.scheme.check_inputs(&key.1, &inputs))
    }

    /// Seconds on one thread, by operations counted and their measured speed.
    fn seconds(&self, py: Python<'_>) -> f64 {
        let work = locked(&self.tally).work;
        py.compute(|| self.scheme.measured_speed().seconds(work))
    }
    /// Sums of products, each relinearised once.
    #[getter]
    fn products(&self) -> usize {
        locked(&self.tally).products
    }
    /// Of the automorphisms that need keys.
    #[getter]
    fn elements(&self) -> Vec<usize> {
        locked(&self.tally).elements.iter().copied().collect()
    }
    /// Bytes of a ciphertext of the highest level.
    #[getter]
    fn ciphertext_bytes(&self) -> usize {
        self.scheme.ciphertext_words(self.scheme.levels()) * size_of::<u64>()
    }
}

impl SlotsDryValue {
    fn made(&self, (value, work): (DryValue, Work)) -> Self {
        locked(&self.tally).work += work;
        Self { scheme: self.scheme.clone(), value, tally: self.tally.clone() }
    }

    fn with(
        &self,
        py: Python<'_>,
        operation: impl FnOnce(&Rlwe) -> Result<(DryValue, Work), SchemeError> + Send,
    ) -> PyResult<Self> {
        Ok(self.made(detached(py, || operation(&self.scheme))?))
    }
}

#[pymethods]
impl SlotsDryValue {
    fn negate(&self) -> Self {
        // Modulo 2, the plaintext's only modulus here, nothing is to be done.
        self.made((self.value.clone(), Work::default()))
    }
    fn sum(&self, py: Python<'_>, other: &Self, _subtract: bool) -> PyResult<Self> {
        self.with(py, |s| s.dry_sum(&self.value, &other.value))
    }
    fn add_plain(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<Self> {
        self.with(py, |s| s.dry_plus_plain(&self.value, &plaintext.1))
    }
    fn multiply_plain(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<Self> {
        self.with(py, |s| s.dry_times_plain(&self.value, &plaintext.1))
    }
    fn image(&self, py: Python<'_>, element: usize) -> PyResult<Self> {
        let image = self.with(py, |s| s.dry_image(&self.value))?;
        locked(&self.tally).elements.insert(element);
        Ok(image)
    }
    /// The carries of bits that this one says generate them.
    fn carries(&self, py: Python<'_>, passes: &Self, elements: Vec<usize>) -> PyResult<Self> {
        let steps = elements.len();
        let carries = self.with(py, |s| s.dry_carries(&self.value, &passes.value, steps))?;
        let mut tally = locked(&self.tally);
        // The last step has no more to pass on.
        tally.products += 2 * steps - steps.min(1);
        tally.elements.extend(elements);
        drop(tally);
        Ok(carries)
    }
    /// The sum of products of two, squares where there is no second factor, and of others.
    #[staticmethod]
    fn sum_of_products(
        py: Python<'_>,
        products: Vec<(PyRef<'_, Self>, Option<PyRef<'_, Self>>)>,
        others: Vec<PyRef<'_, Self>>,
    ) -> PyResult<Self> {
        let Some(first) = products.first().map(|(a, _)| &**a) else {
            return Err(pyo3::exceptions::PyValueError::new_err("give at least one product"));
        };
        let products: Vec<_> =
            products.iter().map(|(a, b)| (&a.value, b.as_ref().map(|b| &b.value))).collect();
        let others: Vec<_> = others.iter().map(|c| &c.value).collect();
        let sum = first.with(py, |s| s.dry_sum_of_products(&products, &others))?;
        locked(&first.tally).products += 1;
        Ok(sum)
    }
    #[getter]
    fn level(&self) -> usize {
        self.value.level()
    }
    #[getter]
    fn noise_budget(&self) -> f64 {
        self.scheme.dry_budget(&self.value)
    }
    /// Products in sequence.
    #[getter]
    fn depth(&self) -> usize {
        self.value.depth()
    }
}
