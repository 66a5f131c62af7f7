//! The operations of plans, on ciphertexts and on what is known of them: a plan is made by going through it.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Mutex;

use hesc_schemes::rlwe::{Ciphertext, RelinKey, Rlwe, Work};
use hesc_schemes::{PlannedState, SchemeError};
use rayon::prelude::*;

use super::publics::Numbers;
use super::steps::{Making, Step, Steps};
use crate::gates::{GateError, Monitor};

/// What steps are made of, and how. Seeds are the numbers of what is made: no two are the same.
pub(super) trait Machine {
    type Value: Clone + Send + Sync;

    fn level(&self, a: &Self::Value) -> usize;
    /// Public numbers, one of the arithmetic's values.
    fn public(&self, value: usize, level: usize, seed: u64) -> Result<Self::Value, SchemeError>;
    fn lower(&self, a: &Self::Value, level: usize, seed: u64) -> Result<Self::Value, SchemeError>;
    fn sum(
        &self,
        terms: &[(i64, &Self::Value)],
        constant: i64,
        seed: u64,
    ) -> Result<Self::Value, SchemeError>;
    fn products(
        &self,
        products: &[(i64, &Self::Value, &Self::Value)],
        terms: (&[(i64, &Self::Value)], i64),
        level: usize,
        seed: u64,
    ) -> Result<Self::Value, SchemeError>;

    /// Results in the order of the steps that they are made for.
    fn each(
        &self,
        steps: &[usize],
        make: impl Fn(&Self, usize) -> Result<Self::Value, GateError> + Sync,
    ) -> Result<Vec<Self::Value>, GateError> {
        steps.iter().map(|&step| make(self, step)).collect()
    }

    /// A sum of products is made.
    fn advance(&self) {}
}

/// What is known of all that is made, by its number: evaluation looks it up.
pub(super) type Ledger = HashMap<u64, PlannedState>;

/// Levels and noise alone, and what operations cost; all of it is written down if it is to be.
pub(super) struct OnStates<'a> {
    scheme: &'a Rlwe,
    work: Cell<Work>,
    ledger: Option<RefCell<Ledger>>,
}

impl<'a> OnStates<'a> {
    pub(super) fn new(scheme: &'a Rlwe) -> Self {
        Self { scheme, work: Cell::default(), ledger: None }
    }

    /// One that writes down.
    pub(super) fn recording(scheme: &'a Rlwe) -> Self {
        Self { ledger: Some(RefCell::default()), ..Self::new(scheme) }
    }

    pub(super) fn scheme(&self) -> &'a Rlwe {
        self.scheme
    }

    pub(super) fn finish(self) -> (Work, Ledger) {
        (self.work.get(), self.ledger.map_or_else(Ledger::new, RefCell::into_inner))
    }

    fn made(&self, made: PlannedState, work: Work, seed: u64) -> PlannedState {
        self.work.set(self.work.get() + work);
        if let Some(ledger) = &self.ledger {
            ledger.borrow_mut().insert(seed, made.bounded());
        }
        made
    }
}

impl Machine for OnStates<'_> {
    type Value = PlannedState;

    fn level(&self, a: &PlannedState) -> usize {
        a.level()
    }

    fn public(&self, _: usize, level: usize, seed: u64) -> Result<PlannedState, SchemeError> {
        let work = self.scheme.work_of_public(level);
        Ok(self.made(self.scheme.planned_public(level, seed), work, seed))
    }

    fn lower(
        &self,
        a: &PlannedState,
        level: usize,
        seed: u64,
    ) -> Result<PlannedState, SchemeError> {
        let lowered = self.scheme.planned_lower(a, level, seed)?;
        let work = self.scheme.work_of_lowering(a, &lowered);
        Ok(self.made(lowered, work, seed))
    }

    fn sum(
        &self,
        terms: &[(i64, &PlannedState)],
        constant: i64,
        seed: u64,
    ) -> Result<PlannedState, SchemeError> {
        let sum = self.scheme.planned_combination(terms, constant)?;
        let work = self.scheme.work_of_sum(terms.len(), sum.level());
        Ok(self.made(sum, work, seed))
    }

    fn products(
        &self,
        products: &[(i64, &PlannedState, &PlannedState)],
        terms: (&[(i64, &PlannedState)], i64),
        level: usize,
        seed: u64,
    ) -> Result<PlannedState, SchemeError> {
        let from = products.first().map_or(level, |product| product.1.level());
        let work = self.scheme.work_of_products(products.len(), terms.0.len(), from, level);
        let made = self.scheme.planned_products(products, terms, level, seed)?;
        Ok(self.made(made, work, seed))
    }
}

/// Ciphertexts, on all cores.
pub(super) struct OnCiphertexts<'a> {
    pub(super) scheme: &'a Rlwe,
    pub(super) relin: &'a RelinKey,
    pub(super) monitor: &'a Monitor,
    /// What is known of all that is made.
    pub(super) ledger: &'a Ledger,
    /// What public values are.
    pub(super) numbers: Numbers,
    /// One of the inputs, beside which public numbers are ciphertexts.
    pub(super) beside: &'a Ciphertext,
}

impl<'a> Machine for OnCiphertexts<'a> {
    type Value = Cow<'a, Ciphertext>;

    fn level(&self, a: &Self::Value) -> usize {
        a.level()
    }

    fn public(&self, value: usize, level: usize, seed: u64) -> Result<Self::Value, SchemeError> {
        let plain = self.scheme.encode_integers(&self.numbers[&value])?;
        self.scheme.public_ciphertext(&plain, self.beside, (level, seed)).map(Cow::Owned)
    }

    fn lower(&self, a: &Self::Value, _: usize, seed: u64) -> Result<Self::Value, SchemeError> {
        self.scheme.lower(a, &self.ledger[&seed]).map(Cow::Owned)
    }

    fn sum(
        &self,
        terms: &[(i64, &Self::Value)],
        constant: i64,
        seed: u64,
    ) -> Result<Self::Value, SchemeError> {
        let known = &self.ledger[&seed];
        self.scheme.combination(&multiples_of(terms), constant, known).map(Cow::Owned)
    }

    fn products(
        &self,
        products: &[(i64, &Self::Value, &Self::Value)],
        (terms, constant): (&[(i64, &Self::Value)], i64),
        _: usize,
        seed: u64,
    ) -> Result<Self::Value, SchemeError> {
        let products: Vec<_> = products.iter().map(|&(k, a, b)| (k, &**a, &**b)).collect();
        let (terms, known) = (multiples_of(terms), &self.ledger[&seed]);
        let sum = (&terms[..], constant);
        self.scheme.combination_of_products(self.relin, &products, sum, known).map(Cow::Owned)
    }

    fn each(
        &self,
        steps: &[usize],
        make: impl Fn(&Self, usize) -> Result<Self::Value, GateError> + Sync,
    ) -> Result<Vec<Self::Value>, GateError> {
        let make = |&step: &usize| {
            self.monitor.check()?;
            make(self, step)
        };
        // One thread takes one step at a time: within a step there is less to share.
        if rayon::current_num_threads() > 1 {
            steps.par_iter().with_max_len(1).map(make).collect()
        } else {
            steps.iter().map(make).collect()
        }
    }

    fn advance(&self) {
        self.monitor.advance();
    }
}

fn multiples_of<'a>(terms: &[(i64, &'a Cow<'_, Ciphertext>)]) -> Vec<(i64, &'a Ciphertext)> {
    terms.iter().map(|&(k, a)| (k, &**a)).collect()
}

/// What is done at one of a plan's levels.
#[derive(Debug, Clone, Default)]
pub(super) struct Phase {
    /// Sums that do not read each other, one group after the other.
    pub(super) sums: Vec<Vec<usize>>,
    pub(super) products: Vec<usize>,
    /// What those read that is from before.
    pub(super) operands: Vec<usize>,
    /// What nothing reads after it.
    pub(super) done: Vec<usize>,
}

/// The phases of steps: for each depth what is made there.
pub(super) fn phases(steps: &Steps) -> Vec<Phase> {
    let mut phases = vec![Phase::default(); steps.depth() + 1];
    let mut wave = vec![0usize; steps.steps.len()];
    let mut last: Vec<usize> = steps.steps.iter().map(Step::depth).collect();
    for (at, step) in steps.steps.iter().enumerate() {
        let phase = &mut phases[step.at];
        for operand in step.operands() {
            last[operand] = last[operand].max(step.at);
        }
        match step.making {
            Making::Input | Making::Public(_) => continue,
            Making::Products(_) => phase.products.push(at),
            Making::Sum => {
                let before = |operand: usize| {
                    let other = &steps.steps[operand];
                    let same = matches!(other.making, Making::Sum) && other.at == step.at;
                    if same { wave[operand] + 1 } else { 0 }
                };
                wave[at] = step.operands().map(before).max().unwrap_or(0);
                if phase.sums.len() <= wave[at] {
                    phase.sums.resize(wave[at] + 1, Vec::new());
                }
                phase.sums[wave[at]].push(at);
            }
        }
    }
    let mut kept = vec![false; steps.steps.len()];
    for output in steps.outputs.iter().flatten() {
        // Constants are made of the first input.
        kept[output.unwrap_or(0)] = true;
    }
    for (at, phase) in phases.iter_mut().enumerate() {
        let made = phase.sums.iter().flatten().chain(&phase.products);
        let mut operands: Vec<usize> =
            made.flat_map(|&step| steps.steps[step].operands()).collect();
        operands.sort_unstable();
        operands.dedup();
        let earlier = |operand: &usize| {
            let step = &steps.steps[*operand];
            step.depth() < at || matches!(step.making, Making::Input | Making::Public(_))
        };
        operands.retain(earlier);
        phase.operands = operands;
    }
    for (step, &last) in last.iter().enumerate() {
        if !kept[step] {
            phases[last].done.push(step);
        }
    }
    phases
}

/// Goes through one phase: brings operands to its level, makes sums, then products, which come to the next.
///
/// # Errors
/// The machine's, and [`GateError::Cancelled`].
pub(super) fn run<M: Machine>(
    machine: &M,
    steps: &Steps,
    phase: &Phase,
    values: &mut [Option<M::Value>],
    (level, next): (usize, usize),
) -> Result<(), GateError> {
    lower(machine, steps, &phase.operands, values, level)?;
    for sums in &phase.sums {
        let made = machine.each(sums, |machine, at| {
            let step = &steps.steps[at];
            Ok(machine.sum(&multiples(step, values)?, step.constant, seed(at, 0))?)
        })?;
        keep(sums, made, values);
    }
    let made = machine.each(&phase.products, |machine, at| {
        let step = &steps.steps[at];
        let Making::Products(products) = &step.making else { return Err(missing()) };
        let factors =
            |&(k, a, b): &(i64, usize, usize)| Ok((k, value(values, a)?, value(values, b)?));
        let products = products.iter().map(factors).collect::<Result<Vec<_>, GateError>>()?;
        let terms = (&multiples(step, values)?[..], step.constant);
        let made = machine.products(&products, terms, next, seed(at, 0))?;
        machine.advance();
        Ok(made)
    })?;
    keep(&phase.products, made, values);
    for &step in &phase.done {
        values[step] = None;
    }
    Ok(())
}

/// Brings values that are above a level to it; public ones are made there.
fn lower<M: Machine>(
    machine: &M,
    steps: &Steps,
    wanted: &[usize],
    values: &mut [Option<M::Value>],
    level: usize,
) -> Result<(), GateError> {
    let is_public = |step: usize| matches!(steps.steps[step].making, Making::Public(_));
    let missing = |step: &usize| match &values[*step] {
        Some(a) => machine.level(a) > level,
        None => is_public(*step),
    };
    let missing: Vec<usize> = wanted.iter().copied().filter(missing).collect();
    // What was there goes as soon as it is brought down: the next one has its memory.
    let above: Vec<Mutex<Option<M::Value>>> =
        missing.iter().map(|&step| Mutex::new(values[step].take())).collect();
    let places: Vec<usize> = (0..missing.len()).collect();
    let made = machine.each(&places, |machine, place| {
        let at = missing[place];
        let above = above[place].lock().map_or(None, |mut above| above.take());
        let made = match (&steps.steps[at].making, &above) {
            (Making::Public(number), _) => machine.public(*number, level, seed(at, level)),
            (_, Some(above)) => machine.lower(above, level, seed(at, level)),
            (_, None) => return Err(self::missing()),
        };
        Ok(made?)
    })?;
    keep(&missing, made, values);
    Ok(())
}

/// The outputs, all at one level; constants as ciphertexts like the others.
///
/// # Errors
/// The machine's, and [`GateError::Cancelled`].
pub(super) fn outputs<M: Machine>(
    machine: &M,
    steps: &Steps,
    values: &mut [Option<M::Value>],
    level: usize,
) -> Result<Vec<Vec<M::Value>>, GateError> {
    let mut wanted: Vec<usize> =
        steps.outputs.iter().flatten().map(|output| output.unwrap_or(0)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    lower(machine, steps, &wanted, values, level)?;
    let output = |output: &Result<usize, bool>| match *output {
        Ok(step) => value(values, step).cloned(),
        Err(bit) => {
            let number = seed(steps.steps.len() + usize::from(bit), 0);
            Ok(machine.sum(&[(0, value(values, 0)?)], i64::from(bit), number)?)
        }
    };
    steps.outputs.iter().map(|group| group.iter().map(output).collect()).collect()
}

/// Of a step brought to a level, or, at level 0, as it is made.
fn seed(step: usize, level: usize) -> u64 {
    (step as u64) << 8 | level as u64
}

fn keep<V>(steps: &[usize], made: Vec<V>, values: &mut [Option<V>]) {
    for (&step, made) in steps.iter().zip(made) {
        values[step] = Some(made);
    }
}

fn multiples<'a, V>(step: &Step, values: &'a [Option<V>]) -> Result<Vec<(i64, &'a V)>, GateError> {
    step.terms.iter().map(|&(k, a)| Ok((k, value(values, a)?))).collect()
}

fn value<V>(values: &[Option<V>], step: usize) -> Result<&V, GateError> {
    values[step].as_ref().ok_or_else(missing)
}

/// What steps before have not made; phases are in the order of steps, so that there is none.
fn missing() -> GateError {
    GateError::Order { wire: 0 }
}
