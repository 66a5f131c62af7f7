//! Gate circuits: what they compute, their files, and that the compiler's programs compute the same.

use hesc_circuits::gates::integers::{self, Adder, Rows, Signs};
use hesc_circuits::gates::{
    BinaryGate, Builder, Definition, Gate, GateError, Netlist, Output, Precision, stochastic,
};
use proptest::prelude::*;

/// A precision like that of real parameters: weights and margins matter.
const PRECISION: Precision =
    Precision { bit: 9.3e-10, lookup: [1.5e-6, 4.7e-6], log2_failure: -128.0 };

/// A random circuit: gates on any earlier wires, some outputs.
pub fn circuits() -> impl Strategy<Value = Netlist> {
    let gate = (0usize..10, any::<[prop::sample::Index; 3]>());
    (
        prop::collection::vec(1usize..5, 1..4),
        prop::collection::vec(gate, 1..60),
        prop::collection::vec(any::<prop::sample::Index>(), 1..10),
    )
        .prop_map(|(inputs, gates, outputs)| {
            let (mut builder, groups) = Builder::new(&inputs);
            let mut wires: Vec<_> = groups.into_iter().flatten().collect();
            for (kind, [a, b, c]) in gates {
                let [a, b, c] = [a, b, c].map(|index| wires[index.index(wires.len())]);
                wires.push(match kind {
                    0..6 => builder.binary(BinaryGate::ALL[kind], a, b),
                    6 | 7 => builder.mux(a, b, c),
                    8 => builder.not(a),
                    _ => builder.constant(a < b),
                });
            }
            let chosen = outputs.iter().map(|index| wires[index.index(wires.len())]).collect();
            builder.finish(vec![chosen]).unwrap()
        })
}

/// Every gate by itself, one lane.
fn naive(circuit: &Netlist, inputs: &[bool]) -> Vec<bool> {
    let mut values = inputs.to_vec();
    for gate in circuit.gates() {
        values.push(match *gate {
            Gate::Constant(bit) => bit,
            Gate::Not(a) => !values[a.index()],
            Gate::Binary(gate, a, b) => {
                let (a, b) = (values[a.index()], values[b.index()]);
                match gate {
                    BinaryGate::And => a && b,
                    BinaryGate::Or => a || b,
                    BinaryGate::Xor => a != b,
                    BinaryGate::Nand => !(a && b),
                    BinaryGate::Nor => !(a || b),
                    BinaryGate::Xnor => a == b,
                }
            }
            Gate::Mux { choice, one, zero } => {
                values[if values[choice.index()] { one } else { zero }.index()]
            }
        });
    }
    circuit.outputs().iter().flatten().map(|wire| values[wire.index()]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn all_forms_of_a_circuit_agree(circuit in circuits(), seed: u64) {
        // Random lanes, more words than are computed together.
        let words = 9;
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state ^ (state >> 29)
        };
        let inputs: Vec<u64> = (0..circuit.input_wires() * words).map(|_| next()).collect();
        let found = circuit.evaluate(&inputs, words).unwrap();
        for lane in [0, 63, 64, 64 * words - 1] {
            let bit = |row: &[u64]| row[lane / 64] >> (lane % 64) & 1 == 1;
            let lane_inputs: Vec<bool> = inputs.chunks(words).map(bit).collect();
            let lane_outputs: Vec<bool> = found.chunks(words).map(bit).collect();
            prop_assert_eq!(naive(&circuit, &lane_inputs), lane_outputs);
        }
        let simplified = circuit.simplified().unwrap();
        prop_assert_eq!(simplified.evaluate(&inputs, words).unwrap(), found.clone());
        let size = |circuit: &Netlist| circuit.counts().binary() + circuit.counts().mux;
        prop_assert!(size(&simplified) <= 2 * size(&circuit));
        let text = circuit.to_bristol();
        let read = Netlist::from_bristol(&text).unwrap();
        prop_assert_eq!(read.evaluate(&inputs, words).unwrap(), found.clone());
        prop_assert_eq!(read.inputs(), circuit.inputs());
        for precision in [PRECISION, Precision::EXACT] {
            let program = circuit.compile(&precision).unwrap();
            prop_assert_eq!(program.evaluate(&inputs, words).unwrap(), found.clone());
            prop_assert!(program.bootstraps() <= circuit.bootstraps());
            prop_assert!(program.log2_failure() <= precision.log2_failure);
            let gatewise = circuit.gate_by_gate(&precision).unwrap();
            prop_assert_eq!(gatewise.evaluate(&inputs, words).unwrap(), found.clone());
            prop_assert_eq!(gatewise.bootstraps(), circuit.bootstraps());
        }
    }

    #[test]
    fn hostile_files_are_refused_or_read(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut text = integers::less(3, false).unwrap().to_bristol().into_bytes();
        for (at, byte) in damage {
            let at = at.index(text.len());
            text[at] = byte;
        }
        if let Ok(text) = String::from_utf8(text)
            && let Ok(circuit) = Netlist::from_bristol(&text)
        {
            circuit.evaluate(&vec![0; circuit.input_wires()], 1).unwrap();
        }
    }
}

#[test]
fn streams_are_multiplied_added_and_counted() {
    let (a, b, w) = (0b1101_0110_1011u64, 0b0111_0011_0101, 0b1010_1100_0011);
    let run = |circuit: Netlist, inputs: &[&[u64]]| circuit.evaluate_numbers(inputs).unwrap()[0][0];
    let product = |gate| stochastic::multiplier(gate, 12).unwrap();
    assert_eq!(run(product(BinaryGate::And), &[&[a], &[b]]), a & b);
    assert_eq!(run(product(BinaryGate::Xor), &[&[a], &[b]]), a ^ b);
    assert_eq!(product(BinaryGate::Xor).depth(), 1);
    let half = stochastic::scaled_adder(12).unwrap();
    assert_eq!(half.gates().len(), 0);
    assert_eq!(run(half, &[&[a], &[b]]), (a & 0x555) | (b & 0xaaa));
    let weighted = stochastic::weighted_adder(12).unwrap();
    assert_eq!(run(weighted, &[&[a], &[b], &[w]]), (a & w) | (b & !w & 0xfff));
    for length in [1, 2, 3, 12, 64] {
        let popcount = stochastic::popcount(length).unwrap();
        let value = 0x9e37_79b9_7f4a_7c15u64 >> (64 - length);
        assert_eq!(run(popcount.clone(), &[&[value]]), u64::from(value.count_ones()));
        assert!(popcount.counts().binary() < 5 * length);
    }
}

#[test]
fn the_compiler_needs_a_fraction_of_the_bootstraps() {
    for n in [4, 8] {
        let adder = integers::adder(Adder::Ripple, n).unwrap();
        let program = adder.compile(&PRECISION).unwrap();
        assert!(4 * program.bootstraps() <= adder.bootstraps(), "adder {}", program.bootstraps());
        let multiplier =
            integers::multiplier(Adder::Ripple, Rows::Bits, n, 2 * n, Signs::Unsigned).unwrap();
        let program = multiplier.compile(&PRECISION).unwrap();
        assert!(4 * program.bootstraps() <= multiplier.bootstraps(), "{}", program.bootstraps());
    }
    let popcount = stochastic::popcount(256).unwrap();
    assert!(popcount.compile(&PRECISION).unwrap().bootstraps() <= 256);
    // Inverted-bipolar products are sums of ciphertexts.
    let product = stochastic::multiplier(BinaryGate::Xor, 256).unwrap();
    let program = product.compile(&PRECISION).unwrap();
    assert_eq!(program.bootstraps(), 0);
    assert!(matches!(&program.outputs()[0][7], Output::Parity { terms, .. } if terms.len() == 2));
}

#[test]
fn wide_exclusive_ors_are_refreshed_where_noise_demands_it() {
    let (mut builder, inputs) = Builder::new(&[1000]);
    let mut wires = inputs[0].iter();
    let first = *wires.next().unwrap();
    let sum = wires.fold(first, |sum, &wire| builder.xor(sum, wire));
    let circuit = builder.finish(vec![vec![sum]]).unwrap();
    let quiet = circuit.compile(&Precision { bit: 9e-13, ..PRECISION }).unwrap();
    assert_eq!(quiet.bootstraps(), 0);
    let noisy = circuit.compile(&Precision { bit: 4e-8, ..PRECISION }).unwrap();
    assert!(noisy.bootstraps() > 0);
    assert!(noisy.log2_failure() < -128.0);
    let inputs: Vec<u64> = (0..1000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    assert_eq!(noisy.evaluate(&inputs, 1).unwrap(), circuit.evaluate(&inputs, 1).unwrap());
    let hopeless = circuit.compile(&Precision { bit: 1e-3, ..PRECISION });
    assert!(matches!(hopeless, Err(GateError::NoRoom { .. })));
}

/// Exclusive ors of so many bits, one after the other, and all of them as outputs or the last alone.
pub fn chain(bits: usize, all: bool) -> Netlist {
    let (mut builder, inputs) = Builder::new(&[bits]);
    let mut sums = vec![inputs[0][0]];
    for &bit in &inputs[0][1..] {
        sums.push(builder.xor(sums[sums.len() - 1], bit));
    }
    let outputs = if all { sums } else { vec![sums[bits - 1]] };
    builder.finish(vec![outputs]).unwrap()
}

/// No width where bootstraps jump: one more for each full sum, in as many layers as a tree has.
#[test]
fn a_chain_takes_what_a_tree_takes() {
    let mut before = 0;
    for bits in [2, 20, 40, 300, 1024, 1025, 1026, 4096] {
        let circuit = chain(bits, false);
        let program = circuit.compile(&PRECISION).unwrap();
        let inputs: Vec<u64> =
            (0..bits as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        assert_eq!(program.evaluate(&inputs, 1).unwrap(), circuit.evaluate(&inputs, 1).unwrap());
        assert!(program.bootstraps() <= bits / 25, "{bits}: {}", program.bootstraps());
        assert!(program.bootstraps() <= before + bits / 20 + 2);
        assert!(program.layers().len() <= 2, "{bits}: {}", program.layers().len());
        before = program.bootstraps();
    }
    assert_eq!(chain(1024, false).compile(&Precision::EXACT).unwrap().bootstraps(), 0);
    // All prefixes share their lookups.
    let (bits, circuit) = (600, chain(600, true));
    let program = circuit.compile(&PRECISION).unwrap();
    let inputs: Vec<u64> = (0..bits as u64).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    assert_eq!(program.evaluate(&inputs, 1).unwrap(), circuit.evaluate(&inputs, 1).unwrap());
    assert!(program.bootstraps() <= bits / 25, "{}", program.bootstraps());
}

/// Each wire is the exclusive or of the two before: read as sums of inputs, without cancelling on the
/// way, the last would have more terms than there are atoms.
#[test]
fn exclusive_ors_that_cancel_compile_in_no_time() {
    let (mut builder, inputs) = Builder::new(&[2]);
    let mut wires = inputs[0].clone();
    for i in 2..600 {
        wires.push(builder.xor(wires[i - 1], wires[i - 2]));
    }
    let circuit = builder.finish(vec![vec![wires[599]]]).unwrap();
    let program = circuit.compile(&PRECISION).unwrap();
    assert_eq!(program.bootstraps(), 0);
    let inputs = [0b0011, 0b0101];
    assert_eq!(program.evaluate(&inputs, 1).unwrap(), circuit.evaluate(&inputs, 1).unwrap());
}

/// A conjunction that cancels in an output, seen through an exclusive or that another gate reads.
#[test]
fn outputs_whose_conjunctions_cancel_need_no_lookup() {
    let (mut builder, inputs) = Builder::new(&[5]);
    let [a, b, c, d, e] = inputs[0][..] else { panic!() };
    let and = builder.and(a, b);
    let (left, right) = (builder.xor(c, and), builder.xor(and, d));
    let sum = builder.xor(left, right);
    let reader = builder.mux(left, e, d);
    let reader = builder.and(reader, e);
    let circuit = builder.finish(vec![vec![sum, left, reader]]).unwrap();
    let inputs = [0xff00, 0xf0f0, 0xcccc, 0xaaaa, 0x6996];
    for precision in [PRECISION, Precision::EXACT] {
        let program = circuit.compile(&precision).unwrap();
        assert_eq!(program.evaluate(&inputs, 1).unwrap(), circuit.evaluate(&inputs, 1).unwrap());
    }
}

#[test]
fn mistakes_are_named() {
    let (mut builder, inputs) = Builder::new(&[2]);
    let [a, b] = inputs[0][..] else { panic!() };
    let and = builder.and(a, b);
    let circuit = builder.clone().finish(vec![vec![and]]).unwrap();
    let (mut other, _) = Builder::new(&[9]);
    let far = other.constant(true);
    assert!(matches!(
        builder.clone().finish(vec![vec![far]]),
        Err(GateError::Dangling { wire: 9 })
    ));
    let ahead = Netlist::new(vec![1], vec![Gate::Not(b)], vec![]);
    assert!(matches!(ahead, Err(GateError::Order { wire: 1 })));
    assert!(matches!(circuit.evaluate(&[1], 1), Err(GateError::Inputs { .. })));
    assert!(matches!(circuit.evaluate_numbers(&[]), Err(GateError::Inputs { .. })));
    assert!(matches!(circuit.evaluate_numbers(&[&[4]]), Err(GateError::Number { value: 4, .. })));
    assert!(matches!(integers::adder(Adder::Ripple, 0), Err(GateError::Size { .. })));
    assert!(matches!(stochastic::popcount(1 << 21), Err(GateError::Size { .. })));

    let define = |gates: &[(usize, Gate)]| {
        let (mut probe, wires) = Builder::new(&[2 + gates.len()]);
        let _ = probe.constant(false);
        let definitions: Vec<_> =
            gates.iter().map(|&(at, gate)| (wires[0][at], Definition::Gate(gate))).collect();
        Netlist::from_definitions(vec![2], &definitions, &[])
    };
    let (_, wires) = Builder::new(&[9]);
    let w = &wires[0];
    let xor = |a: usize, b: usize| Gate::Binary(BinaryGate::Xor, w[a], w[b]);
    // Any order is fine, a loop is not.
    assert_eq!(define(&[(3, Gate::Not(w[2])), (2, xor(0, 1))]).unwrap().gates().len(), 2);
    assert!(matches!(define(&[(2, xor(0, 3)), (3, xor(1, 2))]), Err(GateError::Cycle { .. })));
    assert!(matches!(define(&[(2, xor(0, 2))]), Err(GateError::Cycle { wire: 2 })));
    assert!(matches!(define(&[(2, xor(0, 7))]), Err(GateError::Dangling { wire: 7 })));
    assert!(matches!(
        define(&[(2, xor(0, 1)), (2, xor(0, 1))]),
        Err(GateError::DrivenTwice { wire: 2 })
    ));
    assert!(matches!(define(&[(1, xor(0, 1))]), Err(GateError::DrivenTwice { wire: 1 })));

    let read = |body: &str| Netlist::from_bristol(&format!("1 3\n1 2\n1 1\n\n{body}\n"));
    assert!(read("2 1 0 1 2 AND").is_ok());
    assert!(matches!(read("2 1 0 1 2 FROB"), Err(GateError::UnknownGate { .. })));
    assert!(matches!(read("1 1 0 2 AND"), Err(GateError::Arity { expected: 2, inputs: 1, .. })));
    assert!(matches!(read("2 1 0 1 3 AND"), Err(GateError::Bristol { line: 5, .. })));
    assert!(matches!(read("2 1 0 -1 2 AND"), Err(GateError::Bristol { .. })));
    assert!(matches!(read("2 1 0 2 2 AND"), Err(GateError::Cycle { wire: 2 })));
    assert!(matches!(read("1 1 7 2 EQ"), Err(GateError::Bristol { .. })));
    assert!(matches!(read(""), Err(GateError::Bristol { .. })));
    let huge = Netlist::from_bristol("1 99999999999\n1 99999999998\n1 1\n\n1 1 0 1 INV\n");
    assert!(matches!(huge, Err(GateError::Bristol { problem, .. }) if problem.contains("length")));
}

/// A file by another hand: the half adder of the format's description, gates out of order.
#[test]
fn files_of_others_are_read() {
    let text = "3 6\n2 1 1\n2 1 1\n\n1 1 3 4 EQW\n2 1 0 1 3 XOR\n2 1 0 1 5 AND\n";
    let adder = Netlist::from_bristol(text).unwrap();
    assert_eq!(
        adder.evaluate_numbers(&[&[0, 1, 0, 1], &[0, 0, 1, 1]]).unwrap(),
        [[0, 1, 1, 0], [0, 0, 0, 1]]
    );
}
