//! Exclusive ors as sums: of which bits, and where a sum that is too wide for the noise is cut.

use std::collections::BTreeSet;

use super::graph::{Graph, Literal, Node};

/// The sum that each node is: itself, or the nodes whose exclusive or it is, in order. Nodes that occur
/// twice cancel.
///
/// No sum has more than so many nodes. Where operands have more, the wider becomes a summand by itself,
/// which is to be looked up: a decision for each node, so that however wide an exclusive or is, the lookups
/// grow by one for each full sum. Cost: a pass over the nodes.
pub(super) fn sums(graph: &Graph, widest: usize) -> Vec<Vec<usize>> {
    let mut sums: Vec<Vec<usize>> = Vec::with_capacity(graph.nodes.len());
    let mut cut = vec![false; graph.nodes.len()];
    for (at, node) in graph.nodes.iter().enumerate() {
        let Node::Xor(a, b) = node else {
            sums.push(vec![at]);
            continue;
        };
        let (a, b) = (a.node(), b.node());
        let (wide, other) = if sums[a].len() >= sums[b].len() { (a, b) } else { (b, a) };
        let mut sum = difference(&sums[a], &sums[b]);
        // What is cut already costs nothing more.
        let order = if cut[other] && !cut[wide] { [other, wide] } else { [wide, other] };
        let mut parts = [(a, &sums[a][..]), (b, &sums[b][..])];
        let alone = [[a], [b]];
        for node in order {
            if sum.len() <= widest {
                break;
            }
            cut[node] = true;
            let which = usize::from(node == b);
            parts[which].1 = &alone[which];
            sum = difference(parts[0].1, parts[1].1);
        }
        sums.push(sum);
    }
    sums
}

/// What is in one of two ordered lists.
fn difference(a: &[usize], b: &[usize]) -> Vec<usize> {
    let mut found = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => {
                found.push(a[i]);
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                found.push(b[j]);
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                i += 1;
                j += 1;
            }
        }
    }
    found.extend_from_slice(&a[i..]);
    found.extend_from_slice(&b[j..]);
    found
}

impl Graph {
    /// The same circuit with every exclusive or of more than so many nodes, that nothing else reads the
    /// inside of, as a tree of such sums: a chain of `n` takes as many lookups as a tree, in `log n` layers
    /// instead of `n`. Cost: a pass over the nodes.
    pub(super) fn balanced(self, widest: usize) -> Self {
        let live = self.live();
        // Exclusive ors that one other reads, and nothing else.
        let mut readers = vec![0u32; self.nodes.len()];
        let mut inside = vec![false; self.nodes.len()];
        for (_, node) in self.nodes.iter().enumerate().filter(|(at, _)| live[*at]) {
            for operand in node.operands() {
                readers[operand.node()] += 1;
                inside[operand.node()] = matches!(node, Node::Xor(..))
                    && matches!(self.nodes[operand.node()], Node::Xor(..));
            }
        }
        for output in self.outputs.iter().flatten() {
            readers[output.node()] += 2;
        }
        inside.iter_mut().zip(&readers).for_each(|(inside, &readers)| *inside &= readers == 1);

        let mut trees: Vec<Option<Vec<usize>>> = vec![None; self.nodes.len()];
        let mut skipped = vec![false; self.nodes.len()];
        for root in (0..self.nodes.len()).filter(|&at| live[at] && !inside[at]) {
            if !matches!(self.nodes[root], Node::Xor(..)) {
                continue;
            }
            let (mut leaves, mut within) = (BTreeSet::new(), Vec::new());
            let mut open = vec![root];
            while let Some(at) = open.pop() {
                for operand in self.nodes[at].operands().map(Literal::node) {
                    if inside[operand] {
                        open.push(operand);
                        within.push(operand);
                    } else if !leaves.remove(&operand) {
                        leaves.insert(operand);
                    }
                }
            }
            if leaves.len() > widest {
                within.iter().for_each(|&at| skipped[at] = true);
                trees[root] = Some(leaves.into_iter().collect());
            }
        }
        if trees.iter().all(Option::is_none) {
            return self;
        }
        self.rebuilt(|at| live[at] && !skipped[at], &trees, widest)
    }

    /// The nodes to keep, some as trees of exclusive ors of nodes before them.
    fn rebuilt(
        &self,
        kept: impl Fn(usize) -> bool,
        trees: &[Option<Vec<usize>>],
        widest: usize,
    ) -> Self {
        let mut graph = self.empty();
        let mut new: Vec<Literal> = vec![Literal::ZERO; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            if matches!(node, Node::Zero | Node::Input) {
                new[at] = Literal::of(at);
            } else if kept(at) {
                let of = |literal: Literal| new[literal.node()].flipped(literal.inverted());
                new[at] = match (&trees[at], *node) {
                    (Some(leaves), _) => {
                        let mut level: Vec<Literal> =
                            leaves.iter().map(|&leaf| new[leaf]).collect();
                        while level.len() > 1 {
                            let sums = level.chunks(widest).map(|part| graph.sum(part));
                            level = sums.collect();
                        }
                        level.pop().unwrap_or(Literal::ZERO)
                    }
                    (None, Node::And(a, b)) => graph.and(of(a), of(b)),
                    (None, Node::Xor(a, b)) => graph.xor(of(a), of(b)),
                    (None, Node::Mux { choice, one, zero }) => {
                        graph.mux(of(choice), of(one), of(zero))
                    }
                    (None, Node::Zero | Node::Input) => Literal::ZERO,
                };
            }
        }
        let of = |literal: &Literal| new[literal.node()].flipped(literal.inverted());
        graph.outputs = self.outputs.iter().map(|group| group.iter().map(of).collect()).collect();
        graph
    }

    /// The exclusive or of some nodes, halves first.
    fn sum(&mut self, nodes: &[Literal]) -> Literal {
        match nodes {
            [] => Literal::ZERO,
            [one] => *one,
            _ => {
                let (low, high) = nodes.split_at(nodes.len().div_ceil(2));
                let (low, high) = (self.sum(low), self.sum(high));
                self.xor(low, high)
            }
        }
    }
}
