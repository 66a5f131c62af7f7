//! The client of a private model for JavaScript: conversion and errors alone, as `hesc-py` is for Python.
//!
//! What a client does is in `hesc-client`; `web/` has the package around this module. A secret key stays in the module's
//! memory, and leaves it sealed under a passphrase and in no other way. All that the module frees it wipes, copies of
//! arguments and results among them.

mod letters;
mod refusals;
mod said;

use hesc_client::{ClientError, ModelPlan, Table, Words};
use hesc_math::{AesCtrRng, MathError, RngSeed};
use hesc_schemes::rlwe::SecretKey;
use hesc_schemes::{SchemeError, sealing};
use rand_core::SeedableRng as _;
use wasm_bindgen::prelude::*;
use zeroize::{Zeroize as _, Zeroizing};
use zeroizing_alloc::ZeroAlloc;

use refusals::{Refused, refused};

/// Passphrases, samples and scores go through buffers that the glue of wasm-bindgen allocates and frees.
#[global_allocator]
static ALLOCATOR: ZeroAlloc<std::alloc::System> = ZeroAlloc(std::alloc::System);

/// What client and server of a model agree upon: public.
#[wasm_bindgen]
pub struct Plan(ModelPlan);

/// A secret key of a plan's set, and the public one that was made with it.
#[wasm_bindgen]
pub struct Key {
    secret: SecretKey,
    public: Vec<u8>,
}

/// An encrypted table.
#[wasm_bindgen]
pub struct Query(hesc_client::Query);

/// What an answer says, row after row.
#[wasm_bindgen]
pub struct Scores {
    numbers: Zeroizing<Vec<f64>>,
    width: usize,
}

/// The nearest records of queries.
#[wasm_bindgen]
pub struct Nearest(hesc_client::Nearest);

#[wasm_bindgen]
impl Plan {
    /// From the bytes of `client/plan.json`.
    ///
    /// # Errors
    /// `WireError`: damaged bytes, or another object's.
    #[wasm_bindgen(constructor)]
    pub fn new(document: &[u8]) -> Refused<Plan> {
        letters::give();
        ModelPlan::from_bytes(document).map(Self).map_err(refused)
    }

    /// What it says.
    pub fn said(&self) -> js_sys::Object {
        said::said(&self.0)
    }

    /// Bytes of the messages of so many samples, up and down: none for more samples than a query has.
    pub fn sizes(&self, samples: usize) -> Vec<f64> {
        said::sizes(&self.0, samples).map(Vec::from).unwrap_or_default()
    }

    /// Places of classes, one for each row of scores; nothing where a model has no classes.
    ///
    /// # Errors
    /// None of a plan that was read.
    pub fn places(&self, scores: &[f64]) -> Refused<Vec<u32>> {
        let found = self.0.conclusions().map(|own| own.predictions(scores)).transpose();
        Ok(small(found.map_err(refused)?.flatten().unwrap_or_default()))
    }

    /// A regressor's numbers for scores.
    pub fn numbers(&self, scores: &[f64]) -> Vec<f64> {
        self.0.conclusions().map(|own| own.numbers(scores)).unwrap_or_default()
    }

    /// Probabilities of all classes, a row for each row of scores.
    ///
    /// # Errors
    /// `ParameterError`: scores that give none.
    pub fn probabilities(&self, scores: &[f64]) -> Refused<Vec<f64>> {
        let own = self.0.conclusions().ok_or(ClientError::NoProbabilities);
        own.and_then(|own| own.probabilities(scores)).map_err(refused)
    }

    /// Places of so many nearest records, the nearest first, a row for each row of a search's values.
    pub fn best(&self, values: &[f64], records: usize, count: usize) -> Vec<u32> {
        small(self.0.best(values, records, count).unwrap_or_default())
    }

    /// The nearest records, and what they vote, of the values of a search.
    ///
    /// # Errors
    /// `ParameterError`: the plan of no search.
    pub fn nearest(&self, values: &[f64], records: usize) -> Refused<Nearest> {
        let found = self.0.nearest(values, records).map(Nearest);
        found.ok_or_else(|| refused(ClientError::NoProbabilities))
    }
}

#[wasm_bindgen]
impl Scores {
    /// Row after row.
    #[wasm_bindgen(getter)]
    pub fn numbers(&self) -> Vec<f64> {
        self.numbers.to_vec()
    }

    /// Numbers in a row.
    #[wasm_bindgen(getter)]
    pub fn width(&self) -> usize {
        self.width
    }
}

#[wasm_bindgen]
impl Nearest {
    /// Places of the records, the nearest first, a row for each query.
    pub fn indices(&self) -> Vec<u32> {
        small(self.0.indices.clone())
    }

    /// Their scores or distances.
    pub fn distances(&self) -> Vec<f64> {
        self.0.distances.clone()
    }

    /// Scores of classes where records vote.
    pub fn scores(&self) -> Vec<f64> {
        self.0.votes.as_ref().map(|(scores, _)| scores.clone()).unwrap_or_default()
    }

    /// Places of the classes with most votes.
    pub fn places(&self) -> Vec<u32> {
        small(self.0.votes.as_ref().map(|(_, places)| places.clone()).unwrap_or_default())
    }
}

#[wasm_bindgen]
impl Key {
    /// A new key.
    ///
    /// # Errors
    /// `HescError`: the system gives no randomness.
    pub fn generate(plan: &Plan) -> Refused<Key> {
        let (secret, public) = plan.0.generate_keys(&mut generator()?).map_err(refused)?;
        Ok(Self { secret, public })
    }

    /// A key that was sealed, here or by Python, and the public one kept beside it, or nothing.
    ///
    /// # Errors
    /// `DecryptionError`: another passphrase. `WireError`, `KeyMismatchError`: other bytes, and the key of another set.
    pub fn open(plan: &Plan, sealed: &[u8], passphrase: String, public: Vec<u8>) -> Refused<Key> {
        let bytes = sealing::open(sealed, passphrase.as_bytes()).map_err(of_scheme)?;
        let secret = plan.0.scheme().secret_key_from_bytes(&bytes).map_err(of_scheme)?;
        Ok(Self { secret, public })
    }

    /// The key under a passphrase, as a file of Python's `SecretKey.save` has it.
    ///
    /// # Errors
    /// `DecryptionError`: an empty passphrase. `HescError`: the system gives no randomness.
    pub fn seal(&self, plan: &Plan, passphrase: String) -> Refused<Vec<u8>> {
        let bytes = plan.0.scheme().secret_key_to_bytes(&self.secret);
        sealing::seal(&bytes, passphrase.as_bytes(), &mut generator()?).map_err(of_scheme)
    }

    /// What a server of hidden weights is given.
    pub fn public(&self) -> Vec<u8> {
        self.public.clone()
    }

    /// Transforms and encrypts rows.
    ///
    /// `numbers` has a row of all columns for each; words come column by column, `text` with all of them in UTF-8 and
    /// `lengths` with the bytes of each, or -1 where a cell is missing.
    ///
    /// # Errors
    /// `OutOfRangeError`: values beyond their ranges unless they are clipped, missing ones, unknown categories.
    /// `ShapeError`: other numbers of cells, too many rows.
    pub fn encrypt(
        &self,
        plan: &Plan,
        rows: usize,
        numbers: &[f64],
        text: &[u8],
        lengths: &[i32],
        clip: bool,
    ) -> Refused<Query> {
        let words = columns(rows, text, lengths).map_err(refused)?;
        let ready =
            plan.0.prepared(Table { rows, numbers, words: &words }, clip).map_err(refused)?;
        let clipped_samples = ready.which.iter().filter(|&&which| which).count();
        let (features, secret) = (Zeroizing::new(ready.features), &self.secret);
        let mut rng = generator()?;
        let data = plan.0.encrypt(secret, &features, &mut rng).map_err(refused)?;
        Ok(Query(hesc_client::Query { data, clipped: ready.values, clipped_samples }))
    }

    /// Scores of the answer to a query, row after row; of a search the scores of all records.
    ///
    /// # Errors
    /// `WireError`: damaged bytes, another plan's, the answer to another query. `KeyMismatchError`: another key's.
    /// `DecryptionError`: what no declared features give; tell nobody who made the answer.
    pub fn decrypt(&self, plan: &Plan, answer: &[u8], query: &[u8]) -> Refused<Scores> {
        let found = plan.0.decrypt(&self.secret, answer, Some(query));
        found.map(|(numbers, width)| Scores { numbers, width }).map_err(refused)
    }
}

#[wasm_bindgen]
impl Query {
    /// For the server.
    #[wasm_bindgen(getter)]
    pub fn data(&self) -> Vec<u8> {
        self.0.data.clone()
    }

    /// Values that were brought within their ranges.
    #[wasm_bindgen(getter)]
    pub fn clipped(&self) -> usize {
        self.0.clipped
    }

    /// Samples that had such values.
    #[wasm_bindgen(getter, js_name = clippedSamples)]
    pub fn clipped_samples(&self) -> usize {
        self.0.clipped_samples
    }
}

/// Features of rows after a plan's steps, for tests of them: nothing is encrypted.
///
/// # Errors
/// `WireError`: steps that are none. Those of [`Key::encrypt`].
#[wasm_bindgen]
pub fn transformed(
    steps: &[u8],
    inputs: usize,
    rows: usize,
    numbers: &[f64],
    text: &[u8],
    lengths: &[i32],
) -> Refused<Vec<f64>> {
    letters::give();
    let steps = hesc_client::Steps::from_bytes(steps, inputs).map_err(refused)?;
    let words = columns(rows, text, lengths).map_err(refused)?;
    steps.transformed(Table { rows, numbers, words: &words }).map_err(refused)
}

/// A generator that `crypto.getRandomValues` seeds: the one of `hesc-math` asks a clock, which WebAssembly has not.
fn generator() -> Refused<AesCtrRng> {
    let mut seed = RngSeed::default();
    getrandom::fill(&mut seed).map_err(|_| of_scheme(MathError::NoEntropy.into()))?;
    let made = AesCtrRng::from_seed(seed);
    seed.zeroize();
    Ok(made)
}

/// Places, which are fewer than 2^32.
fn small(places: Vec<usize>) -> Vec<u32> {
    places.into_iter().map(|place| place as u32).collect()
}

fn of_scheme(error: SchemeError) -> JsValue {
    refused(hesc_circuits::plans::PlanError::from(error).into())
}

/// Columns of words, of so many rows each.
fn columns(rows: usize, text: &[u8], lengths: &[i32]) -> Result<Vec<Words>, ClientError> {
    let shape = || ClientError::Shape {
        inputs: rows,
        found: "words that do not fit their lengths".to_owned(),
    };
    let mut rest = text;
    let mut words = Vec::with_capacity(lengths.len());
    for &length in lengths {
        words.push(match usize::try_from(length) {
            Err(_) => None,
            Ok(length) => {
                let (word, behind) = rest.split_at_checked(length).ok_or_else(shape)?;
                rest = behind;
                Some(std::str::from_utf8(word).map_err(|_| shape())?)
            }
        });
    }
    if !rest.is_empty() || (rows == 0 && !words.is_empty()) {
        return Err(shape());
    }
    let found = words.chunks(rows.max(1)).map(|column| column.iter().copied().collect());
    Ok(found.collect())
}
