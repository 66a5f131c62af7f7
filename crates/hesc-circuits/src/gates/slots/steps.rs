//! Arithmetic as steps: sums of products that are relinearised once, and sums of what there is.

use super::arithmetic::{Arithmetic, Value, centred, operands};

/// Sums that a product is made for again, at most: beyond that a relinearisation is cheaper.
const MOST_COPIES: u64 = 8;

/// What makes a ciphertext.
#[derive(Debug, Clone)]
pub(super) enum Making {
    Input,
    /// Of public numbers, one of the arithmetic's values: made wherever it is read.
    Public(usize),
    /// `constant + sum k a`: additions alone.
    Sum,
    /// The same and `sum k a b`, relinearised once.
    Products(Vec<(i64, usize, usize)>),
}

/// A ciphertext of the plan, made of those before it.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) making: Making,
    pub(super) terms: Vec<(i64, usize)>,
    pub(super) constant: i64,
    /// How many products are before the operands: at which of the plan's levels it is made.
    pub(super) at: usize,
}

impl Step {
    /// At which of the plan's levels it is first: products come down one.
    pub(super) fn depth(&self) -> usize {
        self.at + usize::from(matches!(self.making, Making::Products(_)))
    }

    /// The steps it reads; some twice.
    pub(super) fn operands(&self) -> impl Iterator<Item = usize> {
        let products = match &self.making {
            Making::Products(products) => &products[..],
            _ => &[],
        };
        let factors = products.iter().flat_map(|&(_, a, b)| [a, b]);
        factors.chain(self.terms.iter().map(|&(_, a)| a))
    }
}

/// Steps, each after those it reads, inputs first.
#[derive(Debug)]
pub(super) struct Steps {
    pub(super) steps: Vec<Step>,
    /// Groups of steps, or constants.
    pub(super) outputs: Vec<Vec<Result<usize, bool>>>,
    pub(super) inputs: usize,
}

/// What is not a ciphertext yet: products that are to be relinearised with others.
#[derive(Debug, Clone, Default)]
struct Pending {
    products: Vec<(i64, usize, usize)>,
    terms: Vec<(i64, usize)>,
    constant: i64,
}

impl Steps {
    /// Products of public numbers are none of ciphertexts.
    ///
    /// A product that nothing but one sum reads joins it, and so does such a sum of products. A product that several
    /// sums read is made for each where all of them are relinearised anyway. What reads more than that is one
    /// ciphertext for all.
    pub(super) fn new(arithmetic: &Arithmetic, modulus: u64) -> Self {
        let values = &arithmetic.values;
        let live = live(arithmetic);
        let joins = joining(arithmetic, &live);
        let is_input = |at: &usize| matches!(values[*at], Value::Input) && !arithmetic.public[*at];
        let inputs = (0..values.len()).take_while(is_input).count();
        let mut made = Self { steps: Vec::new(), outputs: Vec::new(), inputs };
        let mut places = vec![usize::MAX; values.len()];
        let mut pending: Vec<Option<Pending>> = vec![None; values.len()];
        let read = read_by_others(arithmetic, &live);
        for (at, value) in values.iter().enumerate().filter(|(at, _)| *at < inputs || live[*at]) {
            if arithmetic.public[at] {
                if read[at] {
                    places[at] = made.push(Making::Public(at), Vec::new(), 0);
                }
                continue;
            }
            let sum = match value {
                Value::Input => {
                    places[at] = made.push(Making::Input, Vec::new(), 0);
                    continue;
                }
                Value::Product(a, b) => {
                    Pending { products: vec![(1, places[*a], places[*b])], ..Pending::default() }
                }
                Value::Sum(sum) => {
                    let mut all = Pending { constant: sum.constant, ..Pending::default() };
                    for &(k, value) in &sum.terms {
                        match &pending[value] {
                            Some(joined) => all.join(k, joined),
                            None => all.terms.push((k, places[value])),
                        }
                    }
                    all.reduced(modulus as i64)
                }
            };
            if joins[at] && !sum.products.is_empty() {
                pending[at] = Some(sum);
            } else {
                places[at] = made.settle(sum);
            }
        }
        let output = |output: &Result<usize, bool>| output.map(|value| places[value]);
        made.outputs =
            arithmetic.outputs.iter().map(|group| group.iter().map(output).collect()).collect();
        made
    }

    fn push(&mut self, making: Making, terms: Vec<(i64, usize)>, constant: i64) -> usize {
        let mut step = Step { making, terms, constant, at: 0 };
        step.at = step.operands().map(|operand| self.steps[operand].depth()).max().unwrap_or(0);
        self.steps.push(step);
        self.steps.len() - 1
    }

    /// A ciphertext of its own. Summands that come after more products than the factors do are added behind: they
    /// would delay the products.
    fn settle(&mut self, mut sum: Pending) -> usize {
        if sum.products.is_empty() && sum.terms.is_empty() {
            // All has cancelled: a constant, as a ciphertext like the others.
            sum.terms.push((0, 0));
        }
        let depth = |step: usize| self.steps[step].depth();
        let factors = sum.products.iter().flat_map(|&(_, a, b)| [a, b]);
        let Some(most) = factors.map(depth).max() else {
            return self.push(Making::Sum, sum.terms, sum.constant);
        };
        let (before, mut behind): (Vec<_>, Vec<_>) =
            sum.terms.into_iter().partition(|&(_, term)| depth(term) <= most);
        let products = self.push(Making::Products(sum.products), before, sum.constant);
        if behind.is_empty() {
            return products;
        }
        behind.push((1, products));
        self.push(Making::Sum, behind, 0)
    }

    /// Products in sequence.
    pub(super) fn depth(&self) -> usize {
        self.steps.iter().map(Step::depth).max().unwrap_or(0)
    }

    /// The same steps, each as late as what reads it allows: at lower levels, where all is cheaper, though operands
    /// have to come down further.
    pub(super) fn late(&self) -> Self {
        let last = self.depth();
        let mut latest = vec![last; self.steps.len()];
        let mut steps = self.steps.clone();
        for at in (0..steps.len()).rev() {
            let step = &mut steps[at];
            let before = match &step.making {
                Making::Input | Making::Public(_) => continue,
                Making::Sum => latest[at],
                Making::Products(_) => latest[at] - 1,
            };
            step.at = before;
            for operand in step.operands() {
                latest[operand] = latest[operand].min(before);
            }
        }
        // Sums come down together, and have then less noise than sums of what came down.
        for at in 0..steps.len() {
            if matches!(steps[at].making, Making::Sum) {
                let depth = |operand: usize| steps[operand].depth();
                steps[at].at = steps[at].operands().map(depth).max().unwrap_or(0);
            }
        }
        Self { steps, outputs: self.outputs.clone(), inputs: self.inputs }
    }
}

impl Pending {
    fn join(&mut self, k: i64, other: &Self) {
        self.products.extend(other.products.iter().map(|&(j, a, b)| (k * j, a, b)));
        self.terms.extend(other.terms.iter().map(|&(j, a)| (k * j, a)));
        self.constant += k * other.constant;
    }

    /// Multiples of the same together, modulo the plaintext modulus and centred.
    fn reduced(mut self, modulus: i64) -> Self {
        let centred = |k: i64| centred(k, modulus);
        self.terms.sort_by_key(|term| term.1);
        let mut terms: Vec<(i64, usize)> = Vec::with_capacity(self.terms.len());
        for (k, step) in self.terms {
            match terms.last_mut() {
                Some(last) if last.1 == step => last.0 += k,
                _ => terms.push((k, step)),
            }
        }
        for term in &mut terms {
            term.0 = centred(term.0);
        }
        terms.retain(|term| term.0 != 0);
        for product in &mut self.products {
            product.0 = centred(product.0);
        }
        self.products.retain(|product| product.0 != 0);
        Self { terms, products: self.products, constant: centred(self.constant) }
    }
}

/// Which values an output needs.
fn live(arithmetic: &Arithmetic) -> Vec<bool> {
    let mut live = vec![false; arithmetic.values.len()];
    for value in arithmetic.outputs.iter().flatten().flatten() {
        live[*value] = true;
    }
    for (at, value) in arithmetic.values.iter().enumerate().rev() {
        if live[at] {
            operands(value).into_iter().for_each(|operand| live[operand] = true);
        }
    }
    live
}

/// Which public values are operands of others, or outputs.
fn read_by_others(arithmetic: &Arithmetic, live: &[bool]) -> Vec<bool> {
    let mut read = vec![false; live.len()];
    let others = (0..live.len()).filter(|&at| live[at] && !arithmetic.public[at]);
    others.flat_map(|at| operands(&arithmetic.values[at])).for_each(|operand| read[operand] = true);
    arithmetic.outputs.iter().flatten().flatten().for_each(|&value| read[value] = true);
    read
}

/// Which products, and sums of them, join the sums that read them instead of being relinearised.
fn joining(arithmetic: &Arithmetic, live: &[bool]) -> Vec<bool> {
    let values = &arithmetic.values;
    // How many sums read each value; others count for more than all, on machines of 32 bits too.
    const OTHER: u64 = 1 << 32;
    let mut readers = vec![0; values.len()];
    for (_, value) in values.iter().enumerate().filter(|(at, _)| live[*at]) {
        let weight = if matches!(value, Value::Sum(_)) { 1 } else { OTHER };
        operands(value).into_iter().for_each(|operand| readers[operand] += weight);
    }
    for value in arithmetic.outputs.iter().flatten().flatten() {
        readers[*value] += OTHER;
    }
    let mut joins: Vec<bool> = readers.iter().map(|&readers| readers == 1).collect();
    // Sums that have products of their own, by those that only they read, or sums that they alone read.
    let mut relinearised = vec![false; values.len()];
    for (at, value) in values.iter().enumerate() {
        relinearised[at] = match value {
            _ if arithmetic.public[at] => false,
            Value::Input => false,
            Value::Product(..) => true,
            Value::Sum(sum) => sum.terms.iter().any(|term| joins[term.1] && relinearised[term.1]),
        };
    }
    for (joins, public) in joins.iter_mut().zip(&arithmetic.public) {
        *joins &= !public;
    }
    let mut shared = vec![true; values.len()];
    for (at, value) in values.iter().enumerate().filter(|(at, _)| live[*at]) {
        for operand in operands(value) {
            shared[operand] &= matches!(value, Value::Sum(_)) && relinearised[at];
        }
    }
    for (at, value) in values.iter().enumerate() {
        let few = (2..=MOST_COPIES).contains(&readers[at]);
        joins[at] |=
            matches!(value, Value::Product(..)) && few && shared[at] && !arithmetic.public[at];
    }
    joins
}
