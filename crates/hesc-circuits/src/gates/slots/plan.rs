use std::borrow::Cow;
use std::cmp::Ordering;

use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Ciphertext, Outline, RelinKey, Rlwe, Speed, Work};

use super::arithmetic::Arithmetic;
use super::machine::{Counting, Machine, OnCiphertexts, OnOutlines, Phase, outputs, phases, run};
use super::steps::{Making, Steps};
use crate::gates::{GateError, Monitor, Netlist};

/// Bits of room that a level gives up for fewer primes.
const SPENT_ON_SPEED: f64 = 0.25;

/// Products in sequence that a circuit may have beyond those of squares of squares: its noise is another.
const UNCERTAIN: usize = 4;

/// A circuit for the slots of one parameter set: what is computed, and at which levels.
#[derive(Debug)]
pub struct Plan {
    steps: Steps,
    phases: Vec<Phase>,
    /// For each phase its level.
    levels: Vec<usize>,
    work: Work,
    peak: usize,
}

impl Plan {
    /// The cheapest levels for a circuit on fresh encryptions, such that results have room for `spare` further
    /// products in sequence.
    ///
    /// # Errors
    /// [`GateError::TooDeep`] for a circuit that the noise leaves no room for; [`GateError::Scheme`] for parameters
    /// that are not for circuits ([`Rlwe::check_combines`]).
    pub fn new(circuit: &Netlist, scheme: &Rlwe, spare: usize) -> Result<Self, GateError> {
        let inputs = vec![scheme.fresh_outline(); circuit.input_wires()];
        Self::on(circuit, scheme, spare, &inputs)
    }

    /// The same for inputs with these levels and this noise, or less, wire after wire.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn on(
        circuit: &Netlist,
        scheme: &Rlwe,
        spare: usize,
        inputs: &[Outline],
    ) -> Result<Self, GateError> {
        scheme.check_combines()?;
        if circuit.input_wires() == 0 {
            let what = "the number of input wires";
            return Err(GateError::Size { what, value: 0, least: 1, most: usize::MAX });
        }
        if inputs.len() != circuit.input_wires() {
            let (expected, found) = (circuit.input_wires(), inputs.len());
            return Err(GateError::Inputs { what: "encrypted bits", expected, found });
        }
        let modulus = scheme.spec().plaintext.modulus();
        let early = Steps::new(&Arithmetic::new(circuit, modulus), modulus);
        // What is far beyond is refused without a search for levels.
        let key = |input: &&Outline| (input.level(), scheme.outline_budget(input));
        let best =
            inputs.iter().max_by(|x, y| key(x).partial_cmp(&key(y)).unwrap_or(Ordering::Equal));
        let room = best.map_or(0, |input| scheme.outline_depth(input));
        if early.depth() > room + UNCERTAIN {
            return Err(GateError::TooDeep { depth: early.depth(), room });
        }
        let late = early.late();
        let speed = scheme.measured_speed();
        let plans = [early, late].map(|steps| {
            let phases = phases(&steps);
            Self::levelled(steps, phases, (scheme, spare), inputs)
        });
        let [early, late] = plans;
        match (early, late) {
            (Ok(early), Ok(late)) => {
                Ok(if late.seconds(&speed) < early.seconds(&speed) { late } else { early })
            }
            (Ok(plan), Err(_)) | (Err(_), Ok(plan)) => Ok(plan),
            (Err(error), Err(_)) => Err(error),
        }
    }

    /// The lowest level to start from that leads to the end, and the levels that follow.
    fn levelled(
        steps: Steps,
        phases: Vec<Phase>,
        (scheme, spare): (&Rlwe, usize),
        inputs: &[Outline],
    ) -> Result<Self, GateError> {
        let from = |start: usize| levels_from(start, (&steps, &phases), (scheme, spare), inputs);
        let (mut low, mut high) = (0, inputs.iter().map(Outline::level).min().unwrap_or(1));
        let mut levels = from(high)?;
        while high - low > 1 {
            let middle = low.midpoint(high);
            match from(middle) {
                Ok(found) => (high, levels) = (middle, found),
                Err(GateError::TooDeep { .. }) => low = middle,
                Err(error) => return Err(error),
            }
        }
        let mut plan = Self { steps, phases, levels, work: Work::default(), peak: 0 };
        plan.count(scheme, inputs)?;
        Ok(plan)
    }

    /// Goes through the plan to count what it takes.
    fn count(&mut self, scheme: &Rlwe, inputs: &[Outline]) -> Result<(), GateError> {
        let machine = Counting::new(scheme);
        let bytes = |level: usize| scheme.ciphertext_words(level) * size_of::<u64>();
        let mut values: Vec<Option<usize>> = inputs.iter().map(|a| Some(a.level())).collect();
        values.resize(self.steps.steps.len(), None);
        for (at, phase) in self.phases.iter().enumerate() {
            let next = self.levels.get(at + 1).copied().unwrap_or(self.levels[at]);
            let levels = (self.levels[at], next);
            run(&machine, &self.steps, phase, &mut values, levels)?;
            // What is done with has been there until now; inputs are others' until they are brought down.
            let own = |(step, level): (usize, &Option<usize>)| {
                level.filter(|&level| inputs.get(step).is_none_or(|a| a.level() != level))
            };
            let there: usize = values.iter().enumerate().filter_map(own).map(bytes).sum();
            self.peak = self.peak.max(there + phase.done.len() * bytes(levels.0));
        }
        let last = self.levels[self.levels.len() - 1];
        outputs(&machine, &self.steps, &mut values, last)?;
        self.work = machine.work();
        Ok(())
    }

    /// Sums of products, each relinearised once.
    pub fn products(&self) -> usize {
        self.phases.iter().map(|phase| phase.products.len()).sum()
    }

    /// Products of ciphertexts.
    pub fn tensors(&self) -> usize {
        let count = |making: &Making| match making {
            Making::Products(products) => products.len(),
            _ => 0,
        };
        self.steps.steps.iter().map(|step| count(&step.making)).sum()
    }

    /// Products in sequence.
    pub fn depth(&self) -> usize {
        self.steps.depth()
    }

    /// The level that inputs are brought to.
    pub fn start(&self) -> usize {
        self.levels[0]
    }

    /// The level before each product, and that of the results.
    pub fn levels(&self) -> &[usize] {
        &self.levels
    }

    /// Wires of each output.
    pub fn outputs(&self) -> Vec<usize> {
        self.steps.outputs.iter().map(Vec::len).collect()
    }

    /// Operations it takes.
    pub fn work(&self) -> Work {
        self.work
    }

    /// Seconds on one thread, as counted.
    pub fn seconds(&self, speed: &Speed) -> f64 {
        speed.seconds(self.work)
    }

    /// Bytes of ciphertexts that there are at once, at most; inputs are their owner's.
    pub fn peak_bytes(&self) -> usize {
        self.peak
    }

    /// Refuses inputs that [`Self::evaluate`] would refuse, by what is known of them. Cost: a fraction of a millisecond
    /// for a hundred products.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub fn check(
        &self,
        scheme: &Rlwe,
        relin: &RelinKey,
        inputs: &[&Ciphertext],
    ) -> Result<(), GateError> {
        if inputs.len() != self.steps.inputs {
            let (expected, found) = (self.steps.inputs, inputs.len());
            return Err(GateError::Inputs { what: "encrypted bits", expected, found });
        }
        scheme.check_inputs(relin, inputs)?;
        if inputs.iter().any(|a| a.level() < self.start()) {
            return Err(GateError::TooDeep { depth: self.depth(), room: 0 });
        }
        let outlines = inputs.iter().map(|a| Some(scheme.outline(a))).collect();
        self.walk(&OnOutlines(scheme), outlines).map(drop)
    }

    /// The outputs of a circuit, group after group, of inputs wire after wire. All are at [`Self::levels`]' last.
    ///
    /// Cost: [`Self::work`], on all cores.
    ///
    /// # Errors
    /// [`GateError::Inputs`] for another number of inputs; [`GateError::TooDeep`] for inputs with more noise, or at a
    /// lower level, than it was made for, before anything is computed; [`GateError::Cancelled`]; [`GateError::Scheme`]
    /// for ciphertexts of other parameters or another key.
    pub fn evaluate(
        &self,
        scheme: &Rlwe,
        relin: &RelinKey,
        inputs: &[&Ciphertext],
        monitor: &Monitor,
    ) -> Result<Vec<Vec<Ciphertext>>, GateError> {
        self.check(scheme, relin, inputs)?;
        monitor.start(self.products());
        let values = inputs.iter().map(|&a| Some(Cow::Borrowed(a))).collect();
        let outputs = self.walk(&OnCiphertexts { scheme, relin, monitor }, values)?;
        Ok(outputs
            .into_iter()
            .map(|group| group.into_iter().map(Cow::into_owned).collect())
            .collect())
    }

    /// Goes through all phases.
    fn walk<M: Machine>(
        &self,
        machine: &M,
        inputs: Vec<Option<M::Value>>,
    ) -> Result<Vec<Vec<M::Value>>, GateError> {
        let mut values = inputs;
        values.resize(self.steps.steps.len(), None);
        for (at, phase) in self.phases.iter().enumerate() {
            let next = self.levels.get(at + 1).copied().unwrap_or(self.levels[at]);
            run(machine, &self.steps, phase, &mut values, (self.levels[at], next))
                .map_err(|error| no_room(error, self.depth(), at))?;
        }
        let last = self.levels[self.levels.len() - 1];
        outputs(machine, &self.steps, &mut values, last)
            .map_err(|error| no_room(error, self.depth(), self.depth()))
    }
}

/// Says of noise that has grown too large how far the circuit came.
fn no_room(error: GateError, depth: usize, room: usize) -> GateError {
    match error {
        GateError::Scheme(SchemeError::NoiseBudget { .. } | SchemeError::NoiseTooLarge) => {
            GateError::TooDeep { depth, room }
        }
        error => error,
    }
}

/// The levels from one on, each the lowest at which the next products have as much room as at any other, but for a
/// quarter of a bit; the last is the lowest that results decrypt at, or have room for further products.
fn levels_from(
    start: usize,
    (steps, phases): (&Steps, &[Phase]),
    (scheme, spare): (&Rlwe, usize),
    inputs: &[Outline],
) -> Result<Vec<usize>, GateError> {
    let machine = OnOutlines(scheme);
    let mut values: Vec<Option<Outline>> = inputs.iter().cloned().map(Some).collect();
    values.resize(steps.steps.len(), None);
    let mut levels = vec![start];
    let last = phases.len() - 1;
    if last == 0 {
        room_of_outputs(&machine, steps, &phases[0], values.clone(), (start, spare))
            .map_err(|error| no_room(error, 0, 0))?;
    }
    for at in 0..last {
        let level = levels[at];
        let mut best: Option<(f64, usize, Vec<Option<Outline>>)> = None;
        let mut refused = None;
        for next in (1..=level).rev() {
            let mut after = values.clone();
            let found =
                run(&machine, steps, &phases[at], &mut after, (level, next)).and_then(|()| {
                    if at + 1 < last {
                        room(&machine, steps, &phases[at + 1], after.clone(), next)
                    } else {
                        room_of_outputs(
                            &machine,
                            steps,
                            &phases[last],
                            after.clone(),
                            (next, spare),
                        )
                    }
                });
            match found {
                // All levels that results fit are alike: the lowest is the smallest.
                Ok(room)
                    if best.as_ref().is_none_or(|(most, ..)| room >= most - SPENT_ON_SPEED) =>
                {
                    let most = best.map_or(room, |(most, ..)| most.max(room));
                    best = Some((most, next, after));
                }
                Ok(_) => {}
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        let Some((_, next, after)) = best else {
            let nothing = GateError::TooDeep { depth: steps.depth(), room: at };
            return Err(no_room(refused.unwrap_or(nothing), steps.depth(), at));
        };
        levels.push(next);
        values = after;
    }
    Ok(levels)
}

/// The least room that any product of a phase has at a level.
fn room(
    machine: &OnOutlines<'_>,
    steps: &Steps,
    phase: &Phase,
    mut values: Vec<Option<Outline>>,
    level: usize,
) -> Result<f64, GateError> {
    let kept = Phase { done: Vec::new(), ..phase.clone() };
    run(machine, steps, &kept, &mut values, (level, level))?;
    let budget = |&step: &usize| values[step].as_ref().map(|a| machine.0.outline_budget(a));
    Ok(phase.products.iter().filter_map(budget).fold(f64::INFINITY, f64::min))
}

/// Nothing, if all outputs have room for some products at a level.
fn room_of_outputs(
    machine: &OnOutlines<'_>,
    steps: &Steps,
    phase: &Phase,
    mut values: Vec<Option<Outline>>,
    (level, spare): (usize, usize),
) -> Result<f64, GateError> {
    run(machine, steps, phase, &mut values, (level, level))?;
    let outputs = outputs(machine, steps, &mut values, level)?;
    let enough = |output: &Outline| spare == 0 || machine.0.outline_depth(output) >= spare;
    if outputs.iter().flatten().all(enough) {
        Ok(0.0)
    } else {
        Err(SchemeError::NoiseTooLarge.into())
    }
}
