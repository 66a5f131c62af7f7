//! Which gates bootstrap.
//!
//! Exclusive ors and inverters are sums of ciphertexts; anything else of up to four bits is one
//! bootstrap, if some weighted sum of the bits tells its values apart ([`super::weights`]), and two
//! functions of four bits together share one. The circuit is covered with such lookups as field-programmable
//! gate arrays are: all small cuts of each node, chosen by area flow. Every lookup and every sum of
//! outputs is checked against the noise, and exclusive ors too wide for it are trees of such sums
//! ([`super::linear`]).

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use hesc_schemes::checkpoint;

use super::graph::{Graph, Literal, Node};
use super::program::{Output, Precision, Program, Value};
use super::weights::{
    Encoding, MOST_LEAVES, Spread, Truth, Weights, assignments, exclusive_or, size,
};
use super::{GateError, Netlist, linear, program};

/// Cuts kept for each node.
const CUTS: usize = 24;
/// Lookups tried as the second of a bootstrap, those with the most bits in common first.
const PARTNERS: usize = 8;
/// What a lookup is taken to cost if another node could be looked up at the same bits, and whether
/// exclusive ors of many bits are looked up, which share with nothing.
const GUESSES: [(f64, bool); 3] = [(1.0, true), (0.5, true), (0.5, false)];
/// Bits of one sum, at most, whatever the noise: every node remembers its own.
const WIDEST: usize = 1 << 10;
/// Steps back for each bit of a sum.
const STEPS: usize = 4;
/// Deviations of a sum's noise within its margin, at least: its owner refuses noise beyond half of that, which
/// must be fifteen deviations away, and packing adds a little.
const OUTPUT_DEVIATIONS: f64 = 32.0;
/// Rounds of choosing cuts by what the others cost.
const ROUNDS: usize = 4;

/// `log2` of the probability that a Gaussian value is out by more than so many deviations, at most:
/// `2 Q(x) <= exp(-x^2 / 2)`.
pub(super) fn log2_tail(deviations: f64) -> f64 {
    -deviations * deviations / 2.0 * std::f64::consts::LOG2_E
}

/// `log2(2^a + 2^b)`.
fn log2_sum(a: f64, b: f64) -> f64 {
    let (low, high) = (a.min(b), a.max(b));
    if high.is_finite() {
        high + (low - high).exp2().ln_1p() * std::f64::consts::LOG2_E
    } else {
        high
    }
}

/// Some nodes that decide another, and how: by a truth table, or as an exclusive or.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cut {
    leaves: Vec<usize>,
    function: Function,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Truth(Truth),
    ExclusiveOr,
}

/// The cut of each node that is looked up.
type Cover = HashMap<usize, Cut>;

struct Compiler<'a> {
    graph: &'a Graph,
    weights: Weights,
    precision: Precision,
    spread: Spread,
    /// Deviations that every lookup must have room for.
    deviations: f64,
    /// Bits that a sum may have.
    widest: usize,
    /// The sum that each node is, itself where it is none.
    sums: Vec<Vec<usize>>,
    cuts: Vec<Vec<Cut>>,
}

impl Netlist {
    /// The circuit as bootstraps and sums of ciphertexts; a bootstrap for each gate where only that fits the noise.
    ///
    /// Cost: about a tenth of a second for a thousand gates.
    ///
    /// # Errors
    /// [`GateError::NoRoom`] if a gate does not fit the noise, or all together fail too often.
    pub fn compile(&self, precision: &Precision) -> Result<Program, GateError> {
        match self.covered(precision) {
            Err(error @ GateError::NoRoom { .. }) => {
                self.gate_by_gate(precision).map_err(|_| error)
            }
            found => found,
        }
    }

    fn covered(&self, precision: &Precision) -> Result<Program, GateError> {
        let spread = Spread::of(precision);
        let graph = Graph::new(self);
        // Room for all lookups and outputs within the failure allowed; their sum is checked at the
        // end.
        let outputs = graph.outputs.iter().flatten().count();
        let allowed = precision.log2_failure - ((graph.nodes.len() + outputs) as f64).log2();
        let deviations = (-allowed / std::f64::consts::LOG2_E * 2.0).sqrt();
        let deviations = if deviations.is_finite() { deviations } else { 0.0 };
        let fits = |width: &usize| {
            let room = exclusive_or(*width).deviations(&spread) >= deviations;
            room && spread.sum_deviations(*width) >= OUTPUT_DEVIATIONS
        };
        // Two, even where the noise has no room for them: whatever needs them is refused then.
        let widest = (2..=WIDEST).take_while(fits).last().unwrap_or(2);
        let graph = graph.balanced(widest);
        let mut compiler = Compiler {
            weights: Weights::new(spread),
            precision: *precision,
            cuts: vec![Vec::new(); graph.nodes.len()],
            widest,
            sums: linear::sums(&graph, widest),
            graph: &graph,
            spread,
            deviations,
        };
        compiler.enumerate()?;
        // Which lookups share a bootstrap shows only when all are chosen: every cover is tried.
        let mut best: Option<Program> = None;
        for (shared_cost, wide) in GUESSES {
            for cover in compiler.covers(shared_cost, wide)? {
                let program = compiler.emit(self, &cover)?;
                if best.as_ref().is_none_or(|best| program.bootstraps() < best.bootstraps()) {
                    best = Some(program);
                }
            }
        }
        let Some(mut program) = best else {
            return Err(GateError::NoRoom { what: "no cover was found".to_owned() });
        };
        check_outputs(&spread, &program)?;
        program.log2_failure = log2_failure(&spread, precision, &program);
        if program.log2_failure > precision.log2_failure {
            return Err(GateError::NoRoom {
                what: format!(
                    "the circuit fails with probability 2^{:.0}, 2^{:.0} is allowed",
                    program.log2_failure, precision.log2_failure
                ),
            });
        }
        Ok(program)
    }
}

impl Compiler<'_> {
    /// All small cuts of all nodes, from those of their operands.
    fn enumerate(&mut self) -> Result<(), GateError> {
        for (at, node) in self.graph.nodes.iter().enumerate() {
            checkpoint()?;
            let trivial = Cut { leaves: vec![at], function: Function::Truth(0b10) };
            let mut found: Vec<Cut> = Vec::new();
            let mut known: HashSet<Vec<usize>> = HashSet::new();
            let operands: Vec<Literal> = node.operands().collect();
            // With itself as a leaf, a node is what its readers' cuts may stop at.
            let choices: Vec<Vec<&Cut>> = operands
                .iter()
                .map(|operand| {
                    let own = &self.cuts[operand.node()];
                    own.iter().filter(|cut| matches!(cut.function, Function::Truth(_))).collect()
                })
                .collect();
            let mut pick = vec![0; operands.len()];
            'all: while !operands.is_empty() {
                let parts: Vec<&Cut> = pick.iter().zip(&choices).map(|(&i, c)| c[i]).collect();
                if let Some(cut) = combine(node, &operands, &parts)
                    && known.insert(cut.leaves.clone())
                {
                    found.push(cut);
                }
                for (digit, choices) in pick.iter_mut().zip(&choices) {
                    *digit += 1;
                    if *digit < choices.len() {
                        continue 'all;
                    }
                    *digit = 0;
                }
                break;
            }
            // Fewer leaves are the better choice on the whole; only what can be looked up counts.
            found.sort_by_key(|cut| cut.leaves.len());
            let fits = found.into_iter().filter(|cut| self.encoding(cut).is_some());
            let mut cuts: Vec<Cut> = fits.take(CUTS).collect();
            if self.sums[at].len() > MOST_LEAVES {
                let leaves = self.sums[at].clone();
                let cut = Cut { leaves, function: Function::ExclusiveOr };
                if self.encoding(&cut).is_some() {
                    cuts.push(cut);
                }
            }
            cuts.push(trivial);
            self.cuts[at] = cuts;
        }
        Ok(())
    }

    /// The encoding of a cut if the noise leaves room for it.
    fn encoding(&mut self, cut: &Cut) -> Option<Encoding> {
        let encoding = match cut.function {
            Function::ExclusiveOr => exclusive_or(cut.leaves.len()),
            Function::Truth(truth) => self.weights.best(cut.leaves.len(), &[truth])?.clone(),
        };
        self.fits(&encoding).then_some(encoding)
    }

    /// Whether the noise leaves room for an encoding.
    fn fits(&self, encoding: &Encoding) -> bool {
        encoding.deviations(&self.spread) >= self.deviations
    }

    /// The nodes whose exclusive or a node is, back to those where the search is to stop and to all that are
    /// no exclusive ors themselves; none if they do not fit a sum. A node that occurs twice cancels.
    fn sum_back_to(&self, root: usize, stop: impl Fn(usize) -> bool) -> Option<Vec<usize>> {
        let mut leaves = Vec::new();
        // The last node first: none comes back once it is done.
        let mut open = BTreeSet::from([root]);
        for _ in 0..STEPS * self.widest {
            let Some(at) = open.pop_last() else {
                leaves.sort_unstable();
                return (leaves.len() <= self.widest).then_some(leaves);
            };
            match self.graph.nodes[at] {
                Node::Xor(a, b) if at == root || !stop(at) => {
                    for operand in [a.node(), b.node()] {
                        if !open.remove(&operand) {
                            open.insert(operand);
                        }
                    }
                }
                _ => leaves.push(at),
            }
        }
        None
    }

    /// Nodes that are encrypted from the start.
    fn given(&self, at: usize) -> bool {
        matches!(self.graph.nodes[at], Node::Input | Node::Zero)
    }

    /// Outputs that are exclusive ors of inputs need no lookup at all.
    fn is_free(&self, at: usize) -> bool {
        self.sums[at].iter().all(|&leaf| self.given(leaf))
    }

    /// Covers of the circuit, each chosen by what the one before makes lookups cost.
    fn covers(&self, shared_cost: f64, wide: bool) -> Result<Vec<Cover>, GateError> {
        let nodes = self.graph.nodes.len();
        let live = self.graph.live();
        let mut readers = vec![0.0f64; nodes];
        for (_, node) in self.graph.nodes.iter().enumerate().filter(|(at, _)| live[*at]) {
            node.operands().for_each(|operand| readers[operand.node()] += 1.0);
        }
        let all = (0..nodes).filter(|&at| live[at]).flat_map(|at| &self.cuts[at]);
        let mut sharers = counted(all);
        let mut covers: Vec<Cover> = Vec::new();
        for _ in 0..ROUNDS {
            let mut flow = vec![0.0f64; nodes];
            let mut best: Vec<Option<&Cut>> = vec![None; nodes];
            for at in (0..nodes).filter(|&at| live[at] && !self.given(at)) {
                checkpoint()?;
                let before = covers.last().and_then(|cover| cover.get(&at));
                let cost = |cut: &Cut| {
                    let others = sharers.get(&cut.leaves).copied().unwrap_or(0);
                    let itself = usize::from(before.is_none_or(|before| before == cut));
                    let own = if others > itself { shared_cost } else { 1.0 };
                    own + cut.leaves.iter().map(|&leaf| flow[leaf]).sum::<f64>()
                };
                let usable = |cut: &&Cut| {
                    cut.leaves != [at] && (wide || cut.function != Function::ExclusiveOr)
                };
                let own = self.cuts[at].iter().filter(usable);
                let cut = own.min_by(|a, b| {
                    let order = cost(a).total_cmp(&cost(b));
                    order.then(a.leaves.len().cmp(&b.leaves.len()))
                });
                flow[at] = cut.map_or(f64::INFINITY, |cut| cost(cut) / readers[at].max(1.0));
                best[at] = cut;
            }
            let mut cover = Cover::new();
            let outputs = self.graph.outputs.iter().flatten().map(|output| output.node());
            let mut open: Vec<usize> = outputs.filter(|&at| !self.is_free(at)).collect();
            readers.fill(0.0);
            while let Some(at) = open.pop() {
                readers[at] += 1.0;
                if self.given(at) || cover.contains_key(&at) {
                    continue;
                }
                let cut = best[at].ok_or_else(|| GateError::NoRoom {
                    what: "a gate's noise exceeds what the parameters tell apart".to_owned(),
                })?;
                open.extend(&cut.leaves);
                cover.insert(at, cut.clone());
            }
            sharers = counted(cover.values());
            covers.push(cover);
        }
        Ok(covers)
    }

    /// Lookups in order, two to a bootstrap where their bits allow it, and the outputs' sums.
    fn emit(&mut self, circuit: &Netlist, chosen: &Cover) -> Result<Program, GateError> {
        let mut emission = Emission {
            values: self
                .graph
                .input_nodes()
                .enumerate()
                .map(|(i, at)| (at, Value(i as u32)))
                .collect(),
            next: self.graph.input_nodes().len() as u32,
            lookups: Vec::new(),
        };
        let outputs = self.output_leaves(chosen);
        let needed = self.needed(chosen, &outputs);
        let mut order: Vec<usize> = needed.iter().copied().collect();
        order.sort_unstable();
        let partners = self.partners(chosen, &order)?;
        for at in order {
            if emission.values.contains_key(&at) {
                continue;
            }
            let cut = &chosen[&at];
            match partners.of.get(&at) {
                Some((partner, encoding, leaves)) => {
                    emission.lookup(leaves, encoding, &[at, *partner]);
                }
                None => {
                    let encoding = self.encoding(cut).ok_or_else(|| GateError::NoRoom {
                        what: "a lookup does not fit the noise".to_owned(),
                    })?;
                    emission.lookup(&cut.leaves.clone(), &encoding, &[at]);
                }
            }
        }
        let mut groups = Vec::new();
        let mut leaves = outputs.into_iter();
        for group in &self.graph.outputs {
            let mut row = Vec::new();
            for (literal, leaves) in group.iter().zip(leaves.by_ref()) {
                let terms: Vec<Value> = leaves.iter().map(|leaf| emission.values[leaf]).collect();
                let inverted = literal.inverted();
                row.push(if terms.is_empty() {
                    Output::Constant(inverted)
                } else {
                    Output::Parity { terms, inverted }
                });
            }
            groups.push(row);
        }
        Ok(Program {
            inputs: circuit.inputs().to_vec(),
            lookups: emission.lookups,
            outputs: groups,
            precision: self.precision,
            log2_failure: f64::NEG_INFINITY,
        })
    }

    /// For each output the nodes whose exclusive or it is: as few steps as possible back to what is
    /// looked up anyway.
    fn output_leaves(&self, chosen: &Cover) -> Vec<Vec<usize>> {
        // Nodes that some lookup reads are there in any case.
        let read: BTreeSet<usize> =
            chosen.values().flat_map(|of| of.leaves.iter().copied()).collect();
        let there = |at: usize| self.given(at) || (read.contains(&at) && chosen.contains_key(&at));
        self.graph
            .outputs
            .iter()
            .flatten()
            .map(|literal| {
                let at = literal.node();
                match self.graph.nodes[at] {
                    Node::Zero => Vec::new(),
                    Node::Xor(..) if !there(at) => {
                        // All the way to the inputs, nodes may cancel that are not there.
                        let near = self.sum_back_to(at, there);
                        let sums = near.into_iter().chain([self.sums[at].clone()]);
                        let free = |leaves: &Vec<usize>| leaves.iter().all(|&leaf| there(leaf));
                        sums.into_iter().find(free).unwrap_or_else(|| vec![at])
                    }
                    _ => vec![at],
                }
            })
            .collect()
    }

    /// The lookups that outputs lead to.
    fn needed(&self, chosen: &Cover, outputs: &[Vec<usize>]) -> BTreeSet<usize> {
        let mut needed = BTreeSet::new();
        let mut open: Vec<usize> = outputs.iter().flatten().copied().collect();
        while let Some(at) = open.pop() {
            if let Some(of) = chosen.get(&at)
                && needed.insert(at)
            {
                open.extend(&of.leaves);
            }
        }
        needed
    }

    /// Pairs of lookups that fit one bootstrap: first those with bits in common, then any.
    fn partners(&mut self, chosen: &Cover, order: &[usize]) -> Result<Partners, GateError> {
        let mut partners = Partners::default();
        let mut by_leaf: HashMap<usize, Vec<usize>> = HashMap::new();
        for &at in order {
            for &leaf in &chosen[&at].leaves {
                by_leaf.entry(leaf).or_default().push(at);
            }
        }
        for &at in order {
            checkpoint()?;
            let own = &chosen[&at].leaves;
            let others: BTreeSet<usize> =
                own.iter().flat_map(|leaf| &by_leaf[leaf]).copied().collect();
            let shared = |other: &usize| {
                let leaves = &chosen[other].leaves;
                Reverse(leaves.iter().filter(|leaf| own.contains(leaf)).count())
            };
            let mut candidates: Vec<usize> =
                others.into_iter().filter(|&other| other > at).collect();
            candidates.sort_by_key(shared);
            self.pair(&mut partners, chosen, at, &candidates);
        }
        let alone: Vec<usize> =
            order.iter().copied().filter(|at| !partners.taken.contains(at)).collect();
        for (i, &at) in alone.iter().enumerate() {
            checkpoint()?;
            self.pair(&mut partners, chosen, at, &alone[i + 1..]);
        }
        Ok(partners)
    }

    /// Finds a partner among the first of these that have none.
    fn pair(&mut self, partners: &mut Partners, chosen: &Cover, at: usize, candidates: &[usize]) {
        if partners.taken.contains(&at) {
            return;
        }
        let free = candidates.iter().filter(|other| !partners.taken.contains(other));
        let joint = free.take(PARTNERS).find_map(|&other| {
            let (encoding, leaves) = self.joint(&chosen[&at], &chosen[&other])?;
            // All bits must be there when the first of the two is looked up.
            leaves.iter().all(|&leaf| leaf < at).then_some((other, encoding, leaves))
        });
        if let Some(joint) = joint {
            partners.taken.extend([at, joint.0]);
            partners.of.insert(at, joint);
        }
    }

    /// One encoding for two cuts.
    fn joint(&mut self, a: &Cut, b: &Cut) -> Option<(Encoding, Vec<usize>)> {
        let (Function::Truth(x), Function::Truth(y)) = (a.function, b.function) else {
            return None;
        };
        let leaves: Vec<usize> = a
            .leaves
            .iter()
            .chain(&b.leaves)
            .copied()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        if leaves.len() > MOST_LEAVES {
            return None;
        }
        let functions = [widened(x, &a.leaves, &leaves), widened(y, &b.leaves, &leaves)];
        let encoding = self.weights.best(leaves.len(), &functions)?.clone();
        self.fits(&encoding).then_some((encoding, leaves))
    }
}

/// Refuses outputs whose noise leaves no room to decrypt them.
pub(super) fn check_outputs(spread: &Spread, program: &Program) -> Result<(), GateError> {
    let wide = |output: &Output| match output {
        Output::Constant(_) => false,
        Output::Parity { terms, .. } => spread.sum_deviations(terms.len()) < OUTPUT_DEVIATIONS,
    };
    match program.outputs.iter().flatten().any(wide) {
        true => {
            Err(GateError::NoRoom { what: "an output is too noisy to be decrypted".to_owned() })
        }
        false => Ok(()),
    }
}

/// `log2` of the probability that something goes wrong, by the union bound.
pub(super) fn log2_failure(spread: &Spread, precision: &Precision, program: &Program) -> f64 {
    if precision.log2_failure == f64::NEG_INFINITY {
        return f64::NEG_INFINITY;
    }
    let lookup = |lookup: &program::Lookup| {
        let total = lookup.terms.iter().map(|&(_, weight)| size(weight)).sum();
        let margin = lookup.tables.iter().map(program::Table::margin).min().unwrap_or(0);
        log2_tail(spread.room(margin, total, lookup.tables.len()).sqrt())
    };
    let output = |output: &Output| match output {
        Output::Constant(_) => f64::NEG_INFINITY,
        // Beyond half of its margin it is refused.
        Output::Parity { terms, .. } => log2_tail(spread.sum_deviations(terms.len()) / 2.0),
    };
    let all = program.lookups.iter().map(lookup);
    all.chain(program.outputs.iter().flatten().map(output)).fold(f64::NEG_INFINITY, log2_sum)
}

/// How many cuts with a truth table have the same leaves.
fn counted<'a>(cuts: impl Iterator<Item = &'a Cut>) -> HashMap<Vec<usize>, usize> {
    let mut counts = HashMap::new();
    for cut in cuts.filter(|cut| cut.function != Function::ExclusiveOr) {
        *counts.entry(cut.leaves.clone()).or_default() += 1;
    }
    counts
}

/// Lookups that share a bootstrap.
#[derive(Default)]
struct Partners {
    taken: HashSet<usize>,
    /// By the first of a pair: the second, their encoding and their bits.
    of: HashMap<usize, (usize, Encoding, Vec<usize>)>,
}

/// A program as it grows.
struct Emission {
    values: HashMap<usize, Value>,
    next: u32,
    lookups: Vec<program::Lookup>,
}

impl Emission {
    /// Looks up some nodes at the sum of others.
    fn lookup(&mut self, leaves: &[usize], encoding: &Encoding, nodes: &[usize]) {
        let terms: Vec<Value> = leaves.iter().map(|leaf| self.values[leaf]).collect();
        for (node, value) in nodes.iter().zip(self.push(&terms, encoding)) {
            self.values.insert(*node, value);
        }
    }

    fn push(&mut self, terms: &[Value], encoding: &Encoding) -> Vec<Value> {
        let weighted = terms.iter().copied().zip(encoding.weights.iter().copied());
        let terms = weighted.filter(|&(_, weight)| weight != 0).collect();
        self.lookups.push(program::Lookup { terms, tables: encoding.tables.clone() });
        let first = self.next;
        self.next += encoding.tables.len() as u32;
        (first..self.next).map(Value).collect()
    }
}

/// The cut of a node from one of each operand; none if it has too many leaves.
fn combine(node: &Node, operands: &[Literal], parts: &[&Cut]) -> Option<Cut> {
    let mut leaves: Vec<usize> = parts.iter().flat_map(|cut| cut.leaves.iter().copied()).collect();
    leaves.sort_unstable();
    leaves.dedup();
    if leaves.len() > MOST_LEAVES {
        return None;
    }
    let mut inputs = operands.iter().zip(parts).map(|(literal, cut)| {
        let Function::Truth(truth) = cut.function else { return 0 };
        let wide = widened(truth, &cut.leaves, &leaves);
        if literal.inverted() { !wide } else { wide }
    });
    let mut next = || inputs.next().unwrap_or(0);
    let truth = match node {
        Node::Zero | Node::Input => return None,
        Node::And(..) => next() & next(),
        Node::Xor(..) => next() ^ next(),
        Node::Mux { .. } => {
            let (choice, one, zero) = (next(), next(), next());
            (choice & one) | (!choice & zero)
        }
    };
    let mask = ((1u32 << assignments(leaves.len())) - 1) as Truth;
    Some(Cut { leaves, function: Function::Truth(truth & mask) })
}

/// A function of some leaves as one of more.
fn widened(truth: Truth, from: &[usize], to: &[usize]) -> Truth {
    let places: Vec<usize> =
        from.iter().map(|leaf| to.iter().position(|other| other == leaf).unwrap_or(0)).collect();
    (0..assignments(to.len())).fold(0, |wide, assignment| {
        let narrow = places.iter().enumerate().map(|(i, &place)| (assignment >> place & 1) << i);
        wide | (truth >> narrow.sum::<usize>() & 1) << assignment
    })
}
