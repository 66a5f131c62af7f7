//! Programs on encrypted bits, on all cores.

use std::borrow::Cow;
use std::collections::HashMap;

use hesc_schemes::streams::tfhe::{Bits, EvaluationKey, LookupTable, Tfhe};
use rayon::prelude::*;

use super::compiler::log2_tail;
use super::program::{GRID, HALF_GRID, Lookup, Output, Program, Table, Value};
use super::{GateError, Monitor};

/// Evaluates programs under a key.
pub struct Evaluator<'a> {
    scheme: &'a Tfhe,
    key: &'a EvaluationKey,
    monitor: &'a Monitor,
}

/// The samples of a program's values.
struct Values<'a> {
    scheme: &'a Tfhe,
    inputs: &'a [Cow<'a, Bits>],
    /// By value: the group and the wire, or the lookup and the table.
    places: Vec<(usize, usize)>,
    widths: &'a [usize],
    /// How many values are inputs.
    first: usize,
    /// By lookup and lane, table after table; empty before and after they are of use.
    results: Vec<Vec<Vec<u64>>>,
}

impl<'a> Values<'a> {
    fn new(scheme: &'a Tfhe, program: &'a Program, inputs: &'a [Cow<'a, Bits>]) -> Self {
        let groups = program.inputs().iter().enumerate();
        let mut places: Vec<(usize, usize)> =
            groups.flat_map(|(group, &width)| (0..width).map(move |wire| (group, wire))).collect();
        let first = places.len();
        for (at, lookup) in program.lookups().iter().enumerate() {
            places.extend((0..lookup.tables.len()).map(|table| (at, table)));
        }
        let results = vec![Vec::new(); program.bootstraps()];
        Self { scheme, inputs, places, widths: program.inputs(), first, results }
    }

    fn sample(&self, value: Value, lane: usize) -> &[u64] {
        let (source, at) = self.places[value.index()];
        if value.index() < self.first {
            return self.scheme.sample(&self.inputs[source], lane * self.widths[source] + at);
        }
        let words = &self.results[source][lane];
        let size = self.scheme.sample_words();
        &words[at * size..][..size]
    }
}

impl<'a> Evaluator<'a> {
    /// An evaluator that tells `monitor` how far it is.
    pub fn new(scheme: &'a Tfhe, key: &'a EvaluationKey, monitor: &'a Monitor) -> Self {
        Self { scheme, key, monitor }
    }

    /// What a program computes on encrypted bits, for any number of lanes: an input of `width` wires has
    /// `lanes * width` bits, lane after lane, and so has each output.
    ///
    /// Inputs that are parities are refreshed first, a bootstrap each. Outputs are parities. Cost: the
    /// program's bootstraps for each lane, shared among all cores.
    ///
    /// # Errors
    /// [`GateError::Inputs`] for inputs of another length; [`GateError::NoRoom`] for a program that was made
    /// for less noise; [`GateError::Cancelled`]; [`GateError::Scheme`] for bits of another key.
    pub fn evaluate(&self, program: &Program, inputs: &[&Bits]) -> Result<Vec<Bits>, GateError> {
        let noise = self.scheme.noise();
        if !program.precision.covers(noise.bit, noise.lookup) {
            let what = "the program was compiled for less noise than these parameters have";
            return Err(GateError::NoRoom { what: what.to_owned() });
        }
        let lanes = self.lanes(program, inputs)?;
        let parities = inputs.iter().filter(|bits| !bits.are_bits());
        let refreshes: usize = parities.map(|bits| self.scheme.len(bits)).sum();
        let total = refreshes + program.bootstraps() * lanes;
        self.monitor.start(total);
        let fresh = inputs
            .iter()
            .map(|bits| match bits.are_bits() {
                true => Ok(Cow::Borrowed(*bits)),
                false => self.refreshed(bits, program.precision.log2_failure).map(Cow::Owned),
            })
            .collect::<Result<Vec<_>, GateError>>()?;
        let mut values = Values::new(self.scheme, program, &fresh);
        self.look_up_all(program, &mut values, lanes)?;
        program.outputs().iter().map(|group| self.outputs(group, &values, lanes)).collect()
    }

    /// Parities, or noisy bits, as bits that programs take as they are: one bootstrap each.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub fn refresh(&self, bits: &Bits, log2_failure: f64) -> Result<Bits, GateError> {
        self.scheme.check_key(self.key, bits)?;
        self.monitor.start(self.scheme.len(bits));
        self.refreshed(bits, log2_failure)
    }

    fn refreshed(&self, bits: &Bits, log2_failure: f64) -> Result<Bits, GateError> {
        // Two positions, a quarter of the torus from where they would be mistaken.
        let count = self.scheme.len(bits);
        let weight = if bits.are_bits() { HALF_GRID as u64 } else { 1 };
        let variance = bits.variance() * weight.pow(2) as f64;
        let deviations = 0.25 / (variance + self.scheme.noise().lookup[0]).sqrt();
        if log2_tail(deviations) + (count as f64).log2() > log2_failure {
            let what = "the parities are too noisy to be refreshed";
            return Err(GateError::NoRoom { what: what.to_owned() });
        }
        let table = self.scheme.lookup_table(&[&|position| (position == 0).then_some(false)])?;
        let samples = self.in_parallel(count, |at, workspace| {
            let mut out = Vec::new();
            let terms = std::iter::once((self.scheme.sample(bits, at), weight));
            self.scheme.look_up(self.key, terms, &table, workspace, &mut out);
            out
        })?;
        Ok(self.scheme.bits_from(self.key, samples.concat()))
    }

    /// The lanes of inputs, if they fit the program and belong to the key.
    fn lanes(&self, program: &Program, inputs: &[&Bits]) -> Result<usize, GateError> {
        let (expected, found) = (program.inputs().len(), inputs.len());
        if expected != found {
            return Err(GateError::Inputs { what: "encrypted inputs", expected, found });
        }
        let mut lanes = None;
        for (bits, &width) in inputs.iter().zip(program.inputs()) {
            self.scheme.check_key(self.key, bits)?;
            if bits.are_bits() && bits.variance() > program.precision.bit {
                let what = "an input is noisier than bits of these parameters are";
                return Err(GateError::NoRoom { what: what.to_owned() });
            }
            let found = self.scheme.len(bits);
            let of_first = *lanes.get_or_insert(found / width.max(1));
            let expected = of_first * width;
            if expected != found {
                return Err(GateError::Inputs { what: "bits of an input", expected, found });
            }
        }
        Ok(lanes.unwrap_or(1))
    }

    /// Calls `bootstrap` for each of `count` tasks, on all cores, unless cancelled.
    fn in_parallel(
        &self,
        count: usize,
        bootstrap: impl Fn(usize, &mut hesc_schemes::streams::tfhe::Workspace) -> Vec<u64> + Sync,
    ) -> Result<Vec<Vec<u64>>, GateError> {
        (0..count)
            .into_par_iter()
            // A task is milliseconds: none waits behind another.
            .with_max_len(1)
            .map_init(
                || self.scheme.workspace(self.key),
                |workspace, at| {
                    self.monitor.check()?;
                    let found = bootstrap(at, workspace);
                    self.monitor.advance();
                    Ok(found)
                },
            )
            .collect()
    }

    /// Layer after layer: what a layer reads is there, and what no later one reads is dropped.
    fn look_up_all(
        &self,
        program: &Program,
        values: &mut Values<'_>,
        lanes: usize,
    ) -> Result<(), GateError> {
        let tables = self.tables(program.lookups())?;
        let layers = program.layers();
        let last = last_uses(program, &layers);
        for (layer, lookups) in layers.iter().enumerate() {
            let found = self.in_parallel(lookups.len() * lanes, |at, workspace| {
                let (lookup, lane) = (&program.lookups()[lookups[at / lanes]], at % lanes);
                let terms = lookup.terms.iter().map(|&(value, weight)| {
                    // Weights are positions; those beyond half the torus are negative.
                    let (weight, half) = (i64::from(weight), HALF_GRID as i64);
                    let signed = if weight > half { weight - GRID as i64 } else { weight };
                    (values.sample(value, lane), signed as u64)
                });
                let mut out = Vec::new();
                let table = &tables[&lookup.tables];
                self.scheme.look_up(self.key, terms, table, workspace, &mut out);
                out
            })?;
            let mut found = found.into_iter();
            for &lookup in lookups {
                values.results[lookup] = found.by_ref().take(lanes).collect();
            }
            for (lookup, last) in last.iter().enumerate() {
                if *last == Some(layer) {
                    values.results[lookup] = Vec::new();
                }
            }
        }
        Ok(())
    }

    /// Each combination of tables once.
    fn tables<'b>(
        &self,
        lookups: &'b [Lookup],
    ) -> Result<HashMap<&'b Vec<Table>, LookupTable>, GateError> {
        let mut known = HashMap::new();
        for lookup in lookups {
            if !known.contains_key(&lookup.tables) {
                let at = |i: usize| {
                    let tables = &lookup.tables;
                    move |position| tables[i].at(position)
                };
                let table = match lookup.tables.len() {
                    1 => self.scheme.lookup_table(&[&at(0)])?,
                    _ => self.scheme.lookup_table(&[&at(0), &at(1)])?,
                };
                known.insert(&lookup.tables, table);
            }
        }
        Ok(known)
    }

    /// The sums that outputs are.
    fn outputs(
        &self,
        group: &[Output],
        values: &Values<'_>,
        lanes: usize,
    ) -> Result<Bits, GateError> {
        let size = self.scheme.sample_words();
        let mut words = vec![0u64; lanes * group.len() * size];
        words.par_chunks_exact_mut(size).enumerate().for_each(|(at, sum)| {
            let (lane, output) = (at / group.len(), &group[at % group.len()]);
            let inverted = match output {
                Output::Constant(bit) => *bit,
                Output::Parity { terms, inverted } => {
                    for &term in terms {
                        let sample = values.sample(term, lane);
                        sum.iter_mut().zip(sample).for_each(|(x, y)| *x = x.wrapping_add(*y));
                    }
                    sum.iter_mut().for_each(|x| *x = x.wrapping_mul(HALF_GRID as u64));
                    *inverted
                }
            };
            sum[size - 1] = sum[size - 1].wrapping_add(u64::from(inverted) << 63);
        });
        let widest = group.iter().map(|output| match output {
            Output::Constant(_) => 0,
            Output::Parity { terms, .. } => terms.len(),
        });
        // The terms may be copies of each other: their deviations add.
        let weight = (widest.max().unwrap_or(0) * HALF_GRID) as f64;
        let variance = weight.powi(2) * self.scheme.noise().bit;
        Ok(self.scheme.parities_from(self.key, words, variance)?)
    }
}

/// The last layer that reads each lookup's results; none if an output does.
fn last_uses(program: &Program, layers: &[Vec<usize>]) -> Vec<Option<usize>> {
    let first = program.input_bits();
    let mut owners = Vec::new();
    for (at, lookup) in program.lookups().iter().enumerate() {
        owners.extend(std::iter::repeat_n(at, lookup.tables.len()));
    }
    let owner = |value: &Value| value.index().checked_sub(first).map(|at| owners[at]);
    let mut last = vec![None; program.bootstraps()];
    for (layer, lookups) in layers.iter().enumerate() {
        for &lookup in lookups {
            for read in program.lookups()[lookup].terms.iter().filter_map(|(v, _)| owner(v)) {
                last[read] = Some(layer);
            }
        }
    }
    for output in program.outputs().iter().flatten() {
        if let Output::Parity { terms, .. } = output {
            for read in terms.iter().filter_map(owner) {
                last[read] = None;
            }
        }
    }
    last
}
