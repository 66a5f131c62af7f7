//! Exact scores of one encrypted vector with many clear ones.

use std::fs::OpenOptions;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use hesc_circuits::plans::PlanError;
use hesc_circuits::search::{self, Asked, Declared, Entries, Index, Part, View};
use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::SharedSecrets;
use numpy::{PyArray1, PyArrayMethods as _, PyReadonlyArray1, ToPyArray as _};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{DecryptionError, ParameterError, plan_to_py};
use crate::inputs::Any;
use crate::interrupt::interruptible;
use crate::plans;
use crate::vectors::VectorSecretKey;
use crate::workers::Compute;

type Vectors<'py> = PyReadonlyArray1<'py, i16>;
/// A query, and the keys of its client where the plan has such.
type Query<'py> = (Bound<'py, PyBytes>, Option<PyRef<'py, SearchKeys>>);

/// What vectors are and how they are compared, and with it sizes: public, on both sides.
///
/// Args:
///     dimensions: features of a vector.
///     entries: bits of an entry of a query and of a record, and the largest sum of squares of each; none for vectors of signs.
///     most_records: of an index.
///     expanded: whether clients give keys, and queries are short.
///     shared: blocks of records whose scores share a second part.
///     signs: 32 bytes that the public signs of records come from.
///
/// Raises:
///     ParameterError, NoiseBudgetError: what cannot be declared, or has room in no set.
#[pyclass(frozen, module = "hesc._native")]
pub struct SearchPlan(search::Plan);

#[pymethods]
impl SearchPlan {
    #[new]
    fn new(
        py: Python<'_>,
        dimensions: u32,
        entries: Option<(u32, u32, u64, u64)>,
        most_records: u64,
        expanded: bool,
        shared: u32,
        signs: [u8; 32],
    ) -> PyResult<Self> {
        let integers = |(query_bits, record_bits, query_square, record_square)| Entries::Integers {
            query_bits,
            record_bits,
            query_square,
            record_square,
        };
        let entries = entries.map_or(Entries::Signs, integers);
        let declared = Declared { dimensions, entries, most_records, expanded, shared, signs };
        plans::derived(py, declared).map(Self)
    }

    /// A plan from its wire form. What it says beyond its declaration must follow from that.
    ///
    /// Raises:
    ///     WireError, ParameterError: damaged bytes, another object's, or what cannot be declared.
    #[staticmethod]
    fn from_bytes(data: &Any<'_>) -> PyResult<Self> {
        plans::read(data).map(Self)
    }

    /// The wire form.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Any<'py>, (Bound<'py, PyBytes>,))> {
        plans::reduced::<Self, _>(py, &self.0)
    }

    fn __repr__(&self) -> String {
        format!(
            "<SearchPlan: vectors of {} features, N = {}, words of {} bits>",
            self.0.dimensions(),
            self.0.ring_degree(),
            self.0.word_bits()
        )
    }

    /// The set that keys are made for.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        plans::params(py, &self.0)
    }

    /// Features of a vector.
    #[getter]
    fn dimensions(&self) -> usize {
        self.0.dimensions()
    }

    /// Records of an index, at most.
    #[getter]
    fn most_records(&self) -> u64 {
        self.0.declared().most_records
    }

    /// Whether clients give keys.
    #[getter]
    fn expanded(&self) -> bool {
        self.0.declared().expanded
    }

    /// The bound on a score's absolute value.
    #[getter]
    fn bound(&self) -> u64 {
        self.0.bound()
    }

    /// Records of a block.
    #[getter]
    fn block(&self) -> usize {
        self.0.ring_degree()
    }

    /// Bits of a feature of a record in memory.
    #[getter]
    fn word_bits(&self) -> u32 {
        self.0.word_bits()
    }

    /// Ciphertexts of a query, and levels by which they are expanded.
    #[getter]
    fn ciphertexts(&self) -> (usize, u32) {
        self.0.ciphertexts()
    }

    /// The deviation of a score's noise, and how far scores are apart.
    #[getter]
    fn noise(&self) -> (f64, u64) {
        self.0.noise()
    }

    /// Bytes of a client's keys and of a query.
    #[getter]
    fn sizes(&self) -> (usize, usize) {
        (search::key_bytes(&self.0), search::query_bytes(&self.0))
    }

    /// Bytes of the answer of an index of so many records, of its memory, and of its file.
    fn index_sizes(&self, records: u32) -> (usize, usize, usize) {
        let (plan, records) = (&self.0, records as usize);
        let answer = search::answer_bytes(plan, records);
        (answer, plan.index_bytes(records), plan.file_bytes(records))
    }

    /// The distance that a score of codes says; none where vectors are no codes.
    fn distance(&self, score: i64) -> Option<u32> {
        search::distance(&self.0, score)
    }
}

/// What a server has of a client; neither printed, copied nor pickled.
#[pyclass(frozen, module = "hesc._native")]
pub struct SearchKeys(search::Keys);

#[pymethods]
impl SearchKeys {
    /// From what `search_keys` made.
    #[new]
    fn new(py: Python<'_>, plan: &SearchPlan, data: &[u8]) -> PyResult<Self> {
        py.compute(|| search::read_keys(&plan.0, data)).map(Self).map_err(plan_to_py)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("keys are not pickled or copied; send their bytes"))
    }
}

/// Answers of a view to some queries.
fn answers<'py>(
    py: Python<'py>,
    queries: &[Query<'py>],
    answer: impl FnOnce(&[Asked<'_>]) -> Result<Vec<Vec<u8>>, PlanError> + Send,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let asked: Vec<Asked<'_>> = queries
        .iter()
        .map(|(query, keys)| {
            let keys = keys.as_ref().map(|keys| &keys.0);
            Asked { query: query.as_bytes(), keys }
        })
        .collect();
    let found = interruptible(py, || answer(&asked), plan_to_py)?;
    Ok(found.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
}

/// A server's records, which any threads answer from while one changes them; neither printed, copied nor pickled.
#[pyclass(frozen, module = "hesc._native")]
pub struct SearchIndex {
    /// Locked for moments only: nobody computes meanwhile.
    index: Mutex<Index>,
    /// Held by who changes records.
    changing: Mutex<()>,
}

impl SearchIndex {
    fn of(index: Index) -> Self {
        Self { index: Mutex::new(index), changing: Mutex::new(()) }
    }

    fn lock(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The records of this moment, in the memory where they are.
    fn snapshot(&self) -> Index {
        self.lock().clone()
    }

    /// Changes records: what was there stays where it fails.
    fn change(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut Index) -> Result<(), PlanError> + Send,
    ) -> PyResult<()> {
        let _changing = match self.changing.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let text =
                    "another thread is changing these records; change them one after the other";
                return Err(ParameterError::new_err(text));
            }
        };
        let mut index = self.snapshot();
        py.compute(|| change(&mut index)).map_err(plan_to_py)?;
        *self.lock() = index;
        Ok(())
    }
}

#[pymethods]
impl SearchIndex {
    /// Without records.
    #[new]
    fn new(plan: &SearchPlan) -> Self {
        Self::of(Index::new(&plan.0))
    }

    /// An index of the same records, in the same memory until one of both changes.
    fn branch(&self) -> Self {
        Self::of(self.snapshot())
    }

    /// How many records there are, and the bytes that they take in memory.
    #[getter]
    fn size(&self) -> (usize, usize) {
        let index = self.lock();
        (index.records(), index.bytes())
    }

    /// Adds records, row after row.
    fn append(&self, py: Python<'_>, vectors: Vectors<'_>) -> PyResult<()> {
        let vectors = vectors.as_slice()?;
        self.change(py, |index| index.append(vectors))
    }

    /// Puts another vector in the place of a record.
    fn replace(&self, py: Python<'_>, record: usize, vector: Vectors<'_>) -> PyResult<()> {
        let vector = vector.as_slice()?;
        self.change(py, |index| index.replace(record, vector))
    }

    /// Removes a record: the last one takes its place.
    fn remove(&self, py: Python<'_>, record: usize) -> PyResult<()> {
        self.change(py, |index| index.remove(record))
    }

    /// A record.
    fn vector<'py>(&self, py: Python<'py>, record: usize) -> PyResult<Bound<'py, PyArray1<i16>>> {
        let index = self.snapshot();
        let vector = py.compute(|| index.vector(record)).map_err(plan_to_py)?;
        Ok(vector.to_pyarray(py))
    }

    /// The sum of squares of each record.
    fn squares<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        let index = self.snapshot();
        py.compute(|| index.view().squares()).to_pyarray(py)
    }

    /// Encrypted scores of all records, for each query with the keys of its client.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        queries: Vec<Query<'py>>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let index = self.snapshot();
        answers(py, &queries, |asked| index.answer(asked))
    }

    /// The noise of a query's scores before they are rounded, over the law's: for who has the key and the records.
    fn noise_over_law(
        &self,
        py: Python<'_>,
        query: Bound<'_, PyBytes>,
        keys: Option<PyRef<'_, SearchKeys>>,
        secret: &VectorSecretKey,
    ) -> PyResult<f64> {
        let index = self.snapshot();
        let (query, keys) = (query.as_bytes(), keys.as_ref().map(|keys| &keys.0));
        py.compute(|| search::noise_over_law(&index.view(), Asked { query, keys }, &secret.1))
            .map_err(plan_to_py)
    }

    /// Writes a new file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let index = self.snapshot();
        py.compute(|| {
            let file = OpenOptions::new().write(true).create_new(true).open(path)?;
            let mut out = BufWriter::new(file);
            index.view().write(&mut out)?;
            out.flush()
        })?;
        Ok(())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("an index is not pickled or copied; save it to a file"))
    }
}

/// A file of records where it lies, as an array of its bytes that nobody changes; checked once.
#[pyclass(frozen, module = "hesc._native")]
pub struct SearchFile {
    plan: search::Plan,
    bytes: Py<PyArray1<u8>>,
    part: Part,
    #[pyo3(get)]
    records: usize,
}

impl SearchFile {
    /// Computes with the records of the part, of a file that was checked before.
    fn with<T: Send>(
        &self,
        bytes: &[u8],
        compute: impl FnOnce(View<'_>) -> Result<T, PlanError> + Send,
    ) -> Result<T, PlanError> {
        compute(View::open_checked_before(&self.plan, bytes)?.part(self.part)?)
    }
}

#[pymethods]
impl SearchFile {
    #[new]
    #[pyo3(signature = (plan, data, part=(0, 1)))]
    fn new(
        py: Python<'_>,
        plan: &SearchPlan,
        data: PyReadonlyArray1<'_, u8>,
        part: (usize, usize),
    ) -> PyResult<Self> {
        let bytes = data.as_slice()?;
        let part = Part { which: part.0, of: part.1 };
        let records = py
            .compute(|| View::open_part(&plan.0, bytes, part).map(|view| view.records()))
            .map_err(plan_to_py)?;
        Ok(Self { plan: plan.0.clone(), bytes: data.as_unbound().clone_ref(py), part, records })
    }

    /// Encrypted scores of all records, for each query with the keys of its client.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        queries: Vec<Query<'py>>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let bytes = self.bytes.bind(py).try_readonly()?;
        let bytes = bytes.as_slice()?;
        answers(py, &queries, |asked| self.with(bytes, |view| view.answer(asked)))
    }

    /// The sum of squares of each record.
    fn squares<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let bytes = self.bytes.bind(py).try_readonly()?;
        let bytes = bytes.as_slice()?;
        let squares =
            py.compute(|| self.with(bytes, |view| Ok(view.squares()))).map_err(plan_to_py)?;
        Ok(squares.to_pyarray(py))
    }

    /// A copy in memory, which can be changed: of all records.
    fn to_index(&self, py: Python<'_>) -> PyResult<SearchIndex> {
        let bytes = self.bytes.bind(py).try_readonly()?;
        let bytes = bytes.as_slice()?;
        let index = py
            .compute(|| View::open_checked_before(&self.plan, bytes).map(|view| view.to_index()))
            .map_err(plan_to_py)?;
        Ok(SearchIndex::of(index))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("the file of an index is not pickled or copied; open it again"))
    }
}

/// The answer of a whole index, of those of its parts in their order. Cost: a copy.
///
/// Raises:
///     WireError, ParameterError, KeyMismatchError: other bytes, another plan's, or under several keys.
#[pyfunction]
pub fn join_search_answers<'py>(
    py: Python<'py>,
    plan: &SearchPlan,
    answers: Vec<Bound<'py, PyBytes>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let parts: Vec<&[u8]> = answers.iter().map(|part| part.as_bytes()).collect();
    let joined = py.compute(|| search::join_answers(&plan.0, &parts)).map_err(plan_to_py)?;
    Ok(PyBytes::new(py, &joined))
}

/// The secrets that follow from a key for a plan whose blocks share second parts. Neither printed, copied nor pickled.
#[pyclass(frozen, module = "hesc._native")]
pub struct SearchSecrets(SharedSecrets);

#[pymethods]
impl SearchSecrets {
    #[new]
    fn new(py: Python<'_>, plan: &SearchPlan, secret: &VectorSecretKey) -> PyResult<Self> {
        let found = py.compute(|| search::shared_secrets(&plan.0, &secret.1));
        found.map(Self).map_err(plan_to_py)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("secrets are not pickled or copied; they follow from the key"))
    }
}

/// The wire form of what a server needs of a client.
#[pyfunction]
pub fn search_keys<'py>(
    py: Python<'py>,
    plan: &SearchPlan,
    secret: &VectorSecretKey,
    shared: &SearchSecrets,
) -> PyResult<Bound<'py, PyBytes>> {
    plans::bytes(py, |rng| search::generate_keys(&plan.0, &secret.1, &shared.0, rng))
}

/// A query of one vector.
#[pyfunction]
pub fn encrypt_vector<'py>(
    py: Python<'py>,
    plan: &SearchPlan,
    secret: &VectorSecretKey,
    vector: Vectors<'_>,
) -> PyResult<Bound<'py, PyBytes>> {
    let vector = vector.as_slice()?;
    plans::bytes(py, |rng| search::encrypt(&plan.0, &secret.1, vector, rng))
}

/// The vector of a query, for who asked it.
#[pyfunction]
pub fn decrypt_search_query<'py>(
    py: Python<'py>,
    plan: &SearchPlan,
    secret: &VectorSecretKey,
    query: &[u8],
) -> PyResult<Bound<'py, PyArray1<i16>>> {
    let found = py.compute(|| search::decrypt_query(&plan.0, &secret.1, query));
    let vector = found.map_err(|error| match error {
        PlanError::Scheme(SchemeError::NoiseTooLarge) => DecryptionError::new_err(
            "this query is of no vector that the plan declares: it is altered",
        ),
        other => plan_to_py(other),
    })?;
    Ok(vector.to_pyarray(py))
}

/// The scores of all records.
#[pyfunction]
pub fn decrypt_search<'py>(
    py: Python<'py>,
    plan: &SearchPlan,
    secret: &VectorSecretKey,
    shared: &SearchSecrets,
    answer: &[u8],
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let found = py.compute(|| search::decrypt(&plan.0, &secret.1, &shared.0, answer));
    let scores = found.map_err(|error| match error {
        PlanError::Scheme(SchemeError::NoiseTooLarge) => DecryptionError::new_err(
            "no records of this plan have such scores: the answer is altered. Tell nobody who made it",
        ),
        other => plan_to_py(other),
    })?;
    Ok(scores.to_pyarray(py))
}
