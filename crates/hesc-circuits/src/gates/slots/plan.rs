use std::borrow::Cow;
use std::cmp::Ordering;

use hesc_schemes::rlwe::{Ciphertext, Encryption, RelinKey, Rlwe, Speed, Work};
use hesc_schemes::{PlannedState, SchemeError};

use super::arithmetic::Arithmetic;
use super::machine::{Ledger, Machine, OnCiphertexts, OnStates, Phase, outputs, phases, run};
use super::publics::Publics;
use super::steps::{Making, Steps};
use crate::gates::{GateError, Monitor, Netlist};

/// Bits of room that a level gives up for fewer primes.
const SPENT_ON_SPEED: f64 = 0.25;

/// Bits of room that no lower level makes up for.
const FAR_BELOW: f64 = 25.0;

/// Products in sequence that a circuit may have beyond those of squares of squares: its noise is another.
const UNCERTAIN: usize = 4;

/// A circuit for the slots of one parameter set: what is computed, and at which levels.
#[derive(Debug)]
pub struct Plan {
    steps: Steps,
    phases: Vec<Phase>,
    /// For each phase its level.
    levels: Vec<usize>,
    /// What it was made for.
    inputs: Vec<PlannedState>,
    publics: Publics,
    /// What is then known of all that is made.
    ledger: Ledger,
    work: Work,
    peak: usize,
    /// The least that any output has, in bits.
    room: f64,
}

impl Plan {
    /// The cheapest levels for a circuit on fresh encryptions, such that results have room for `spare` further
    /// products in sequence.
    ///
    /// # Errors
    /// [`GateError::TooDeep`] for a circuit that the noise leaves no room for; [`GateError::Scheme`] for parameters
    /// that are not for circuits ([`Rlwe::check_combines`]).
    pub fn new(circuit: &Netlist, scheme: &Rlwe, spare: usize) -> Result<Self, GateError> {
        let inputs = scheme.planned_encryptions(Encryption::PublicKey, circuit.input_wires());
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
        inputs: &[PlannedState],
    ) -> Result<Self, GateError> {
        Self::beside_public(circuit, scheme, spare, inputs, 0)
    }

    /// The same for a circuit whose last input wires, so many, are public: numbers that are known when it is
    /// evaluated, another in each slot. What is made of them alone costs nothing.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn beside_public(
        circuit: &Netlist,
        scheme: &Rlwe,
        spare: usize,
        inputs: &[PlannedState],
        public: usize,
    ) -> Result<Self, GateError> {
        scheme.check_combines()?;
        if inputs.is_empty() {
            let what = "the number of encrypted input wires";
            return Err(GateError::Size { what, value: 0, least: 1, most: usize::MAX });
        }
        let given = inputs.len().saturating_add(public);
        if given != circuit.input_wires() {
            let (expected, found) = (circuit.input_wires(), given);
            return Err(GateError::Inputs { what: "input bits", expected, found });
        }
        let modulus = scheme.spec().plaintext.modulus();
        let arithmetic = Arithmetic::new(circuit, modulus, public);
        let publics = Publics::new(&arithmetic, modulus);
        let early = Steps::new(&arithmetic, modulus);
        // What is far beyond is refused without a search for levels.
        let key = |input: &&PlannedState| (input.level(), scheme.planned_budget(input));
        let best =
            inputs.iter().max_by(|x, y| key(x).partial_cmp(&key(y)).unwrap_or(Ordering::Equal));
        let room = best.map_or(0, |input| scheme.planned_depth(input));
        if early.depth() > room + UNCERTAIN {
            return Err(GateError::TooDeep { depth: early.depth(), room });
        }
        let late = early.late();
        let speed = scheme.measured_speed();
        let levelled = |steps: Steps| {
            let phases = phases(&steps);
            Self::levelled(steps, phases, (scheme, spare), inputs)
        };
        let plan = match rayon::join(|| levelled(early), || levelled(late)) {
            (Ok(early), Ok(late)) => {
                if late.seconds(&speed) < early.seconds(&speed) {
                    late
                } else {
                    early
                }
            }
            (Ok(plan), Err(_)) | (Err(_), Ok(plan)) => plan,
            (Err(error), Err(_)) => return Err(error),
        };
        Ok(Self { publics, ..plan })
    }

    /// The lowest level to start from that leads to the end, and the levels that follow.
    fn levelled(
        steps: Steps,
        phases: Vec<Phase>,
        (scheme, spare): (&Rlwe, usize),
        inputs: &[PlannedState],
    ) -> Result<Self, GateError> {
        let from = |start: usize| levels_from(start, (&steps, &phases), (scheme, spare), inputs);
        let (mut low, mut high) = (0, inputs.iter().map(PlannedState::level).min().unwrap_or(1));
        let mut levels = from(high)?;
        while high - low > 1 {
            let middle = low.midpoint(high);
            match from(middle) {
                Ok(found) => (high, levels) = (middle, found),
                Err(GateError::TooDeep { .. }) => low = middle,
                Err(error) => return Err(error),
            }
        }
        let inputs = inputs.to_vec();
        let (publics, ledger, work) = (Publics::default(), Ledger::new(), Work::default());
        let mut plan =
            Self { steps, phases, levels, inputs, publics, ledger, work, peak: 0, room: 0.0 };
        plan.count(scheme)?;
        Ok(plan)
    }

    /// Goes through the plan to count what it takes.
    fn count(&mut self, scheme: &Rlwe) -> Result<(), GateError> {
        let machine = OnStates::recording(scheme);
        let bytes = |level: usize| scheme.ciphertext_words(level) * size_of::<u64>();
        let inputs = &self.inputs;
        let mut values: Vec<Option<PlannedState>> = inputs.iter().cloned().map(Some).collect();
        values.resize(self.steps.steps.len(), None);
        for (at, phase) in self.phases.iter().enumerate() {
            let next = self.levels.get(at + 1).copied().unwrap_or(self.levels[at]);
            let levels = (self.levels[at], next);
            run(&machine, &self.steps, phase, &mut values, levels)?;
            // What is done with has been there until now; inputs are others' until they are brought down.
            let own = |(step, value): (usize, &Option<PlannedState>)| {
                let level = value.as_ref().map(PlannedState::level);
                level.filter(|&level| inputs.get(step).is_none_or(|a| a.level() != level))
            };
            let there: usize = values.iter().enumerate().filter_map(own).map(bytes).sum();
            self.peak = self.peak.max(there + phase.done.len() * bytes(levels.0));
        }
        let last = self.levels[self.levels.len() - 1];
        let outputs = outputs(&machine, &self.steps, &mut values, last)?;
        let rooms = outputs.iter().flatten().map(|output| scheme.planned_budget(output));
        self.room = rooms.fold(f64::INFINITY, f64::min);
        (self.work, self.ledger) = machine.finish();
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

    /// Bits of room that all outputs have before an operation is refused.
    pub fn room(&self) -> f64 {
        self.room
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
        self.known(scheme, relin, inputs).map(drop)
    }

    /// What is known of all that is made of these inputs: what the plan was made with, if they are as it says.
    fn known(
        &self,
        scheme: &Rlwe,
        relin: &RelinKey,
        inputs: &[&Ciphertext],
    ) -> Result<Cow<'_, Ledger>, GateError> {
        if inputs.len() != self.steps.inputs {
            let (expected, found) = (self.steps.inputs, inputs.len());
            return Err(GateError::Inputs { what: "encrypted bits", expected, found });
        }
        scheme.check_inputs(relin, inputs)?;
        if inputs.iter().any(|a| a.level() < self.start()) {
            return Err(GateError::TooDeep { depth: self.depth(), room: 0 });
        }
        let found = scheme.planned_all(inputs);
        if found.iter().zip(&self.inputs).all(|(found, made)| found.is_sampled_within(made)) {
            return Ok(Cow::Borrowed(&self.ledger));
        }
        let machine = OnStates::recording(scheme);
        self.walk(&machine, inputs.iter().map(|a| Some(scheme.planned(a))).collect())?;
        Ok(Cow::Owned(machine.finish().1))
    }

    /// The outputs of a circuit, group after group, of inputs wire after wire. All are at [`Self::levels`]' last.
    ///
    /// Cost: [`Self::work`], on all cores.
    ///
    /// # Errors
    /// [`GateError::Inputs`] for another number of inputs, or other public rows than one of as many bits as there are
    /// slots for each public wire; [`GateError::TooDeep`] for inputs with more noise, or at a
    /// lower level, than it was made for, before anything is computed; [`GateError::Cancelled`]; [`GateError::Scheme`]
    /// for ciphertexts of other parameters or another key.
    pub fn evaluate(
        &self,
        scheme: &Rlwe,
        relin: &RelinKey,
        inputs: &[&Ciphertext],
        public: &[Vec<bool>],
        monitor: &Monitor,
    ) -> Result<Vec<Vec<Ciphertext>>, GateError> {
        let ledger = self.known(scheme, relin, inputs)?;
        let numbers = self.publics.numbers(public, scheme.slot_count())?;
        monitor.start(self.products());
        let kept = scheme.keep_buffers(self.peak);
        let (ledger, beside) = (&ledger, inputs[0]);
        let machine = OnCiphertexts { scheme, relin, monitor, ledger, numbers, beside };
        let values = inputs.iter().map(|&a| Some(Cow::Borrowed(a))).collect();
        let outputs = self.walk(&machine, values)?;
        drop(kept);
        // Copies: what was made has memory of larger ciphertexts.
        let copied =
            |group: &Vec<Cow<'_, Ciphertext>>| group.iter().map(|a| (**a).clone()).collect();
        Ok(outputs.iter().map(copied).collect())
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
    inputs: &[PlannedState],
) -> Result<Vec<usize>, GateError> {
    let machine = OnStates::new(scheme);
    let mut values: Vec<Option<PlannedState>> = inputs.iter().cloned().map(Some).collect();
    values.resize(steps.steps.len(), None);
    let mut levels = vec![start];
    let last = phases.len() - 1;
    if last == 0 {
        room_of_outputs(&machine, steps, &phases[0], values.clone(), (start, spare))
            .map_err(|error| no_room(error, 0, 0))?;
    }
    for at in 0..last {
        let level = levels[at];
        let mut best: Option<(f64, usize, Vec<Option<PlannedState>>)> = None;
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
                // Far below the best there is less and less.
                Ok(room) if best.as_ref().is_some_and(|(most, ..)| room < most - FAR_BELOW) => {
                    break;
                }
                Err(_) if best.is_some() => break,
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
    machine: &OnStates<'_>,
    steps: &Steps,
    phase: &Phase,
    mut values: Vec<Option<PlannedState>>,
    level: usize,
) -> Result<f64, GateError> {
    let kept = Phase { done: Vec::new(), ..phase.clone() };
    run(machine, steps, &kept, &mut values, (level, level))?;
    let budget = |&step: &usize| values[step].as_ref().map(|a| machine.scheme().planned_budget(a));
    Ok(phase.products.iter().filter_map(budget).fold(f64::INFINITY, f64::min))
}

/// Nothing, if all outputs have room for some products at a level.
fn room_of_outputs(
    machine: &OnStates<'_>,
    steps: &Steps,
    phase: &Phase,
    mut values: Vec<Option<PlannedState>>,
    (level, spare): (usize, usize),
) -> Result<f64, GateError> {
    run(machine, steps, phase, &mut values, (level, level))?;
    let outputs = outputs(machine, steps, &mut values, level)?;
    let enough =
        |output: &PlannedState| spare == 0 || machine.scheme().planned_depth(output) >= spare;
    if outputs.iter().flatten().all(enough) {
        Ok(0.0)
    } else {
        Err(SchemeError::NoiseTooLarge.into())
    }
}
