//! A circuit as arithmetic modulo a number on bits: `a AND b = ab`, `a XOR b = a + b - 2ab`, of which the last term is
//! zero modulo 2 and for bits that are never both set.

use std::collections::{HashMap, HashSet};

use super::disjoint::Disjoint;
use crate::gates::Netlist;
use crate::gates::graph::{Graph, Literal, Node};

/// What a value is, of values before it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Value {
    Input,
    /// Of two values, the earlier first.
    Product(usize, usize),
    Sum(Sum),
}

/// `constant + sum k v`, each value once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Sum {
    pub(super) constant: i64,
    /// Multiples of values, in order.
    pub(super) terms: Vec<(i64, usize)>,
}

/// Values, each after those it is made of, inputs first; equal ones are one.
#[derive(Debug)]
pub(super) struct Arithmetic {
    pub(super) values: Vec<Value>,
    /// Groups of values, or constants.
    pub(super) outputs: Vec<Vec<Result<usize, bool>>>,
    /// Which values are made of public inputs alone: numbers of the plaintext modulus in each slot.
    pub(super) public: Vec<bool>,
    known: HashMap<Value, usize>,
    modulus: i64,
}

/// A bit as a multiple of a value and a constant: a value, its inverse, or a constant.
#[derive(Debug, Clone, Copy)]
enum Bit {
    Constant(bool),
    Value { value: usize, inverted: bool },
}

impl Arithmetic {
    /// Of a circuit whose last inputs are public.
    pub(super) fn new(circuit: &Netlist, modulus: u64, public: usize) -> Self {
        let arithmetic = Self::of_all(circuit, modulus);
        if public > 0 { arithmetic.divided(circuit.input_wires() - public) } else { arithmetic }
    }

    fn of_all(circuit: &Netlist, modulus: u64) -> Self {
        let graph = Graph::new(circuit);
        let inputs = graph.input_nodes();
        let mut arithmetic = Self {
            values: vec![Value::Input; inputs.len()],
            outputs: Vec::new(),
            public: vec![false; inputs.len()],
            known: HashMap::new(),
            modulus: modulus as i64,
        };
        let live = graph.live();
        let binary = modulus == 2;
        let mut disjoint = Disjoint::new(&graph);
        let plain = plain_pairs(&graph, &live, binary, &mut disjoint);
        let mut bits = vec![Bit::Constant(false); graph.nodes.len()];
        for node in inputs.clone() {
            bits[node] = Bit::Value { value: node - inputs.start, inverted: false };
        }
        for at in (inputs.end..graph.nodes.len()).filter(|&at| live[at]) {
            let of = |literal: Literal| bits[literal.node()].flipped(literal.inverted());
            bits[at] = match graph.nodes[at] {
                Node::Zero | Node::Input => continue,
                Node::And(a, b) if disjoint.never_both(!a, !b) => {
                    arithmetic.sum(-1, &[(1, of(a)), (1, of(b))])
                }
                Node::And(a, b) if plain.contains(&pair(a, b)) => arithmetic.by_plain(of(a), of(b)),
                Node::And(a, b) => arithmetic.product(of(a), of(b)),
                Node::Xor(a, b) if binary || disjoint.never_both(a, b) => {
                    arithmetic.sum(0, &[(1, of(a)), (1, of(b))])
                }
                Node::Xor(a, b) if disjoint.never_both(a, !b) => {
                    arithmetic.sum(0, &[(1, of(b)), (-1, of(a))])
                }
                Node::Xor(a, b) if disjoint.never_both(!a, b) => {
                    arithmetic.sum(0, &[(1, of(a)), (-1, of(b))])
                }
                Node::Xor(a, b) if disjoint.never_both(!a, !b) => {
                    arithmetic.sum(2, &[(-1, of(a)), (-1, of(b))])
                }
                Node::Xor(a, b) => arithmetic.difference(of(a), of(b)),
                Node::Mux { choice, one, zero } => {
                    let difference = arithmetic.sum(0, &[(1, of(one)), (-1, of(zero))]);
                    let chosen = arithmetic.product(of(choice), difference);
                    arithmetic.sum(0, &[(1, of(zero)), (1, chosen)])
                }
            };
        }
        for group in &graph.outputs {
            let output = |literal: &Literal| {
                let bit = bits[literal.node()].flipped(literal.inverted());
                match arithmetic.settled(bit) {
                    Bit::Constant(bit) => Err(bit),
                    Bit::Value { value, .. } => Ok(value),
                }
            };
            let group = group.iter().map(output).collect();
            arithmetic.outputs.push(group);
        }
        arithmetic.public = vec![false; arithmetic.values.len()];
        arithmetic
    }

    /// The same with inputs from one on public: what sums have of them is one value.
    fn divided(self, first: usize) -> Self {
        let inputs = self.values.iter().take_while(|value| matches!(value, Value::Input)).count();
        let mut divided = Self {
            values: vec![Value::Input; inputs],
            public: (0..inputs).map(|input| input >= first).collect(),
            outputs: Vec::new(),
            known: HashMap::new(),
            modulus: self.modulus,
        };
        let mut places: Vec<usize> = (0..inputs).collect();
        for value in &self.values[inputs..] {
            places.push(match value {
                Value::Input => continue,
                Value::Product(a, b) => {
                    let (a, b) = (places[*a], places[*b]);
                    divided.push_divided(Value::Product(a.min(b), a.max(b)))
                }
                Value::Sum(sum) => {
                    let terms = sum.terms.iter().map(|&(k, value)| (k, places[value]));
                    let (public, mut rest): (Vec<_>, Vec<_>) =
                        terms.partition(|&(_, value)| divided.public[value]);
                    if rest.is_empty() || public.len() < 2 {
                        rest.extend(public);
                    } else {
                        let sum = Sum { constant: 0, terms: sorted(public) };
                        rest.push((1, divided.push_divided(Value::Sum(sum))));
                    }
                    let sum = Sum { constant: sum.constant, terms: sorted(rest) };
                    divided.push_divided(Value::Sum(sum))
                }
            });
        }
        let output = |output: &Result<usize, bool>| output.map(|value| places[value]);
        divided.outputs =
            self.outputs.iter().map(|group| group.iter().map(output).collect()).collect();
        divided
    }

    fn push_divided(&mut self, value: Value) -> usize {
        let public = operands(&value).iter().all(|&operand| self.public[operand]);
        let place = self.push(value);
        if place == self.public.len() {
            self.public.push(public);
        }
        place
    }

    fn push(&mut self, value: Value) -> usize {
        let values = &mut self.values;
        *self.known.entry(value.clone()).or_insert_with(|| {
            values.push(value);
            values.len() - 1
        })
    }

    /// The bit as a value by itself.
    fn settled(&mut self, bit: Bit) -> Bit {
        match bit {
            Bit::Value { value, inverted: true } => {
                let sum = Sum { constant: 1, terms: vec![(-1, value)] };
                let value = self.pushed_sum(sum);
                Bit::Value { value, inverted: false }
            }
            bit => bit,
        }
    }

    fn pushed_sum(&mut self, mut sum: Sum) -> usize {
        sum.constant = centred(sum.constant, self.modulus);
        for (k, _) in &mut sum.terms {
            *k = centred(*k, self.modulus);
        }
        self.push(Value::Sum(sum))
    }

    fn product(&mut self, a: Bit, b: Bit) -> Bit {
        match (self.settled(a), self.settled(b)) {
            (Bit::Constant(bit), other) | (other, Bit::Constant(bit)) => {
                if bit {
                    other
                } else {
                    Bit::Constant(false)
                }
            }
            (Bit::Value { value: a, .. }, Bit::Value { value: b, .. }) => {
                let value = self.push(Value::Product(a.min(b), a.max(b)));
                Bit::Value { value, inverted: false }
            }
        }
    }

    /// The product by that of both without their inversions.
    fn by_plain(&mut self, a: Bit, b: Bit) -> Bit {
        let (Bit::Value { value: x, inverted: not_a }, Bit::Value { value: y, inverted: not_b }) =
            (a, b)
        else {
            return self.product(a, b);
        };
        let (x, y) = (Bit::plain(x), Bit::plain(y));
        let both = self.product(x, y);
        match (not_a, not_b) {
            (false, false) => both,
            (true, false) => self.sum(0, &[(1, y), (-1, both)]),
            (false, true) => self.sum(0, &[(1, x), (-1, both)]),
            (true, true) => self.sum(1, &[(-1, x), (-1, y), (1, both)]),
        }
    }

    /// The exclusive or by the product of both without their inversions.
    fn difference(&mut self, a: Bit, b: Bit) -> Bit {
        let (Bit::Value { value: x, inverted: not_a }, Bit::Value { value: y, inverted: not_b }) =
            (a, b)
        else {
            return self.sum(0, &[(1, a), (1, b)]);
        };
        let (x, y) = (Bit::plain(x), Bit::plain(y));
        let both = self.product(x, y);
        self.sum(0, &[(1, x), (1, y), (-2, both)]).flipped(not_a != not_b)
    }

    /// `constant + sum k bit`, which is a bit or a difference of two.
    fn sum(&mut self, constant: i64, terms: &[(i64, Bit)]) -> Bit {
        let mut sum = Sum { constant, terms: Vec::new() };
        for &(k, bit) in terms {
            match bit {
                Bit::Constant(bit) => sum.constant += k * i64::from(bit),
                Bit::Value { value, inverted } => {
                    let k = if inverted {
                        sum.constant += k;
                        -k
                    } else {
                        k
                    };
                    match sum.terms.iter_mut().find(|term| term.1 == value) {
                        Some(term) => term.0 += k,
                        None => sum.terms.push((k, value)),
                    }
                }
            }
        }
        sum.constant = sum.constant.rem_euclid(self.modulus);
        sum.terms.retain(|term| term.0 % self.modulus != 0);
        sum.terms.sort_by_key(|term| term.1);
        let inverse = self.modulus - 1;
        match (sum.constant, &sum.terms[..]) {
            (constant, []) if constant <= 1 => Bit::Constant(constant == 1),
            (0, &[(1, value)]) => Bit::Value { value, inverted: false },
            (1, &[(k, value)]) if k.rem_euclid(self.modulus) == inverse => {
                Bit::Value { value, inverted: true }
            }
            _ => Bit::Value { value: self.pushed_sum(sum), inverted: false },
        }
    }
}

impl Bit {
    fn plain(value: usize) -> Self {
        Self::Value { value, inverted: false }
    }

    fn flipped(self, flip: bool) -> Self {
        match self {
            Self::Constant(bit) => Self::Constant(bit != flip),
            Self::Value { value, inverted } => Self::Value { value, inverted: inverted != flip },
        }
    }
}

/// What a value is made of.
pub(super) fn operands(value: &Value) -> Vec<usize> {
    match value {
        Value::Input => Vec::new(),
        Value::Product(a, b) => vec![*a, *b],
        Value::Sum(sum) => sum.terms.iter().map(|term| term.1).collect(),
    }
}

fn sorted(mut terms: Vec<(i64, usize)>) -> Vec<(i64, usize)> {
    terms.sort_by_key(|term| term.1);
    terms
}

/// The representative of a residue class that is nearest to zero.
pub(super) fn centred(k: i64, modulus: i64) -> i64 {
    let k = k.rem_euclid(modulus);
    if k > modulus / 2 { k - modulus } else { k }
}

/// Two nodes in order.
fn pair(a: Literal, b: Literal) -> (usize, usize) {
    (a.node().min(b.node()), a.node().max(b.node()))
}

/// The pairs of nodes of which several products are wanted, by whether operands are inverted: one is enough for all.
fn plain_pairs(
    graph: &Graph,
    live: &[bool],
    binary: bool,
    disjoint: &mut Disjoint<'_>,
) -> HashSet<(usize, usize)> {
    let mut kinds: HashMap<(usize, usize), HashSet<(bool, bool)>> = HashMap::new();
    for (at, node) in graph.nodes.iter().enumerate().filter(|(at, _)| live[*at]) {
        let (a, b) = match *node {
            Node::And(a, b) => (a, b),
            Node::Xor(a, b) if !binary => (a, b),
            _ => continue,
        };
        // Sums take none.
        let is_sum = match graph.nodes[at] {
            Node::And(..) => disjoint.never_both(!a, !b),
            _ => [(a, b), (a, !b), (!a, b), (!a, !b)]
                .into_iter()
                .any(|(a, b)| disjoint.never_both(a, b)),
        };
        if !is_sum {
            let (first, last) = if a.node() <= b.node() { (a, b) } else { (b, a) };
            kinds.entry(pair(a, b)).or_default().insert((first.inverted(), last.inverted()));
        }
    }
    kinds.into_iter().filter(|(_, kinds)| kinds.len() > 1).map(|(pair, _)| pair).collect()
}
