//! Which bits are never both set, as gates alone show: their exclusive or is their sum, modulo any number, and their
//! disjunction takes no product.

use std::collections::HashMap;

use crate::gates::graph::{Graph, Literal, Node};

/// Pairs that are looked at for one question, and for all of a circuit, at most: what is not shown within is taken for
/// unknown. Spans of 4096 bits take fewer.
const MOST_STEPS: usize = 1 << 12;
const MOST_STEPS_IN_ALL: usize = 1 << 24;

/// Answers, remembered.
pub(super) struct Disjoint<'a> {
    graph: &'a Graph,
    known: HashMap<(Literal, Literal), bool>,
    steps_left: usize,
}

impl<'a> Disjoint<'a> {
    pub(super) fn new(graph: &'a Graph) -> Self {
        Self { graph, known: HashMap::new(), steps_left: MOST_STEPS_IN_ALL }
    }

    /// Whether `a` and `b` are never both one, for certain.
    pub(super) fn never_both(&mut self, a: Literal, b: Literal) -> bool {
        let allowed = MOST_STEPS.min(self.steps_left);
        let mut steps = allowed;
        let found = self.search(a, b, &mut steps);
        self.steps_left -= allowed - steps;
        found
    }

    /// The gates above an input read it, never the other way round, so that the search ends.
    fn search(&mut self, a: Literal, b: Literal, steps: &mut usize) -> bool {
        if a == Literal::ZERO || b == Literal::ZERO || a == !b {
            return true;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        if *steps == 0 {
            return false;
        }
        *steps -= 1;
        // The one that is computed later is taken apart first.
        let (late, early) = (key.1, key.0);
        let found = self.by_parts(late, early, steps) || self.by_parts(early, late, steps);
        // An answer that was cut short is not remembered.
        if found || *steps > 0 {
            self.known.insert(key, found);
        }
        found
    }

    fn by_parts(&mut self, a: Literal, b: Literal, steps: &mut usize) -> bool {
        if let Some((x, y)) = self.conjunction(a) {
            return self.search(x, b, steps) || self.search(y, b, steps) || self.differ(x, y, b);
        }
        match (self.graph.nodes[a.node()], a.inverted()) {
            // Where an inverted conjunction is one, one of both is not.
            (Node::And(x, y), true) => self.search(!x, b, steps) && self.search(!y, b, steps),
            (Node::Xor(x, y), false) => self.search(x, b, steps) && self.search(y, b, steps),
            (Node::Mux { one, zero, .. }, inverted) => {
                self.search(one.flipped(inverted), b, steps)
                    && self.search(zero.flipped(inverted), b, steps)
            }
            _ => false,
        }
    }

    /// The two bits whose conjunction it is, if it is one: also `x XOR (x AND y)`, which is `x AND NOT y`.
    fn conjunction(&self, a: Literal) -> Option<(Literal, Literal)> {
        match (self.graph.nodes[a.node()], a.inverted()) {
            (Node::And(x, y), false) => Some((x, y)),
            (Node::Xor(x, y), false) => {
                let without = |x: Literal, both: Literal| match self.graph.nodes[both.node()] {
                    Node::And(c, d) if c == x => Some((x, !d)),
                    Node::And(c, d) if d == x => Some((x, !c)),
                    _ => None,
                };
                without(x, y).or_else(|| without(y, x))
            }
            _ => None,
        }
    }

    /// Whether `b` is the exclusive or of two bits of which it says that they are alike, or not, and `x` and `y` say
    /// the opposite.
    fn differ(&self, x: Literal, y: Literal, b: Literal) -> bool {
        let Node::Xor(c, d) = self.graph.nodes[b.node()] else { return false };
        // The operands of an exclusive or are not inverted and in order.
        let (first, last) = (x.node().min(y.node()), x.node().max(y.node()));
        (first, last) == (c.node(), d.node()) && b.inverted() == (x.inverted() != y.inverted())
    }
}

#[cfg(test)]
mod tests {
    use hesc_math::AesCtrRng;
    use rand_core::{Rng as _, SeedableRng as _};

    use super::*;
    use crate::gates::Builder;

    /// The values of a bit for all sixteen values of four inputs.
    fn table(tables: &[u16], literal: Literal) -> u16 {
        let table = tables[literal.node()];
        if literal.inverted() { !table } else { table }
    }

    /// In random circuits of all kinds of gates, operands inverted or not: bits of which it says so are never both
    /// one, and it finds more than half of those that are not.
    #[test]
    fn what_is_said_to_be_never_both_is_never_both() {
        let rng = &mut AesCtrRng::from_seed([7; 32]);
        let (mut found, mut there) = (0, 0);
        for _ in 0..400 {
            let (builder, inputs) = Builder::new(&[4]);
            let mut graph = Graph::new(&builder.finish(vec![inputs[0].clone()]).unwrap());
            let mut tables = vec![0, 0xaaaa, 0xcccc, 0xf0f0, 0xff00];
            for _ in 0..12 {
                let mut operand = || {
                    let word = rng.next_u64();
                    let node = 1 + (word >> 1) as usize % (graph.nodes.len() - 1);
                    Literal::of(node).flipped(word & 1 == 1)
                };
                let [a, b, c] = std::array::from_fn(|_| operand());
                match rng.next_u64() % 5 {
                    0 | 1 => graph.and(a, b),
                    2 | 3 => graph.xor(a, b),
                    _ => graph.mux(a, b, c),
                };
                for node in &graph.nodes[tables.len()..] {
                    let of = |literal| table(&tables, literal);
                    let values = match *node {
                        Node::Zero | Node::Input => unreachable!(),
                        Node::And(a, b) => of(a) & of(b),
                        Node::Xor(a, b) => of(a) ^ of(b),
                        Node::Mux { choice, one, zero } => {
                            of(choice) & of(one) | !of(choice) & of(zero)
                        }
                    };
                    tables.push(values);
                }
            }
            let mut disjoint = Disjoint::new(&graph);
            let literals = 2..2 * graph.nodes.len();
            for (x, y) in literals.clone().flat_map(|x| literals.clone().map(move |y| (x, y))) {
                let literal = |at: usize| Literal::of(at / 2).flipped(at % 2 == 1);
                let (a, b) = (literal(x), literal(y));
                let never = table(&tables, a) & table(&tables, b) == 0;
                let said = disjoint.never_both(a, b);
                assert!(never || !said, "{a:?} and {b:?} of {:?}", graph.nodes);
                found += usize::from(said);
                there += usize::from(never);
            }
        }
        assert!(2 * found > there, "{found} of {there}");
    }
}
