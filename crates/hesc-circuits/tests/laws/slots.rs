//! Circuits on slots: what they compute against the same circuits in the clear, for every way of arithmetic; what they
//! take; and that whatever does not fit is refused before anything is computed.

use std::sync::OnceLock;

use hesc_circuits::gates::integers::{self, Adder, Division, Rows, Signs};
use hesc_circuits::gates::slots::Plan;
use hesc_circuits::gates::{BinaryGate, Builder, GateError, Monitor, Netlist, Wire};
use hesc_math::{AesCtrRng, RingIndex};
use hesc_schemes::presets::Preset;
use hesc_schemes::rlwe::{
    Ciphertext, PlaintextSpace, PrimeSet, PublicKey, RelinKey, Rlwe, SchemeKind, SecretKey, Spec,
};
use hesc_schemes::{Assurance, SchemeError};
use proptest::prelude::*;
use rand_core::SeedableRng as _;

use crate::gates::circuits;

/// A set with its keys.
struct Party {
    scheme: Rlwe,
    secret: SecretKey,
    public: PublicKey,
    relin: RelinKey,
}

fn spec(index: usize, plain_modulus: u64, coeff: &[u32]) -> Spec {
    let ring = RingIndex::new(index).unwrap();
    let bits = [&[50], coeff].concat();
    let mut special_moduli = ring.ntt_primes_of_bits(&bits, plain_modulus).unwrap();
    let coeff_moduli = special_moduli.split_off(1);
    let levels = PrimeSet::combinations(&coeff_moduli, coeff.len() - 2).unwrap();
    Spec {
        scheme: SchemeKind::Bgv,
        ring,
        coeff_moduli,
        levels,
        special_moduli,
        plaintext: PlaintextSpace::Integers { plain_modulus },
        bound: 1.0,
        packing: None,
    }
}

impl Party {
    fn new(spec: Spec) -> Self {
        let scheme = Rlwe::new(spec, Assurance::Insecure).unwrap();
        let rng = &mut AesCtrRng::from_seed([5; 32]);
        let (secret, public) = scheme.generate_keys(rng);
        let relin = scheme.generate_relin_key(&secret, rng).unwrap();
        Self { scheme, secret, public, relin }
    }

    /// One ciphertext for each wire: bit `i` of a word in slot `i`.
    fn encrypt(&self, wires: &[u64]) -> Vec<Ciphertext> {
        let rng = &mut AesCtrRng::from_seed([6; 32]);
        let bits = |word: &u64| -> Vec<i64> {
            (0..self.slots()).map(|slot| (word >> slot & 1) as i64).collect()
        };
        let encrypt = |word: &u64| {
            let plain = self.scheme.encode_integers(&bits(word)).unwrap();
            self.scheme.encrypt(&self.public, &plain, rng).unwrap()
        };
        wires.iter().map(encrypt).collect()
    }

    /// Under the secret key, with less noise.
    fn seeded(&self, seed: u8) -> Ciphertext {
        let rng = &mut AesCtrRng::from_seed([seed; 32]);
        let plain = self.scheme.encode_integers(&[1, 0, 1]).unwrap();
        let seeded = self.scheme.encrypt_seeded(&self.secret, &plain, rng).unwrap();
        self.scheme.expand(&seeded).unwrap()
    }

    fn slots(&self) -> usize {
        self.scheme.slot_count().min(64)
    }

    /// Decrypts; anything but bits is wrong.
    fn decrypt(&self, a: &Ciphertext) -> u64 {
        let plain = self.scheme.decrypt(&self.secret, a).unwrap();
        let values = self.scheme.decode_integers(&plain).unwrap();
        assert!(values.iter().take(self.slots()).all(|value| [0, 1].contains(value)));
        (0..self.slots()).map(|slot| (values[slot] as u64) << slot).sum()
    }

    /// Computes a circuit on random bits and compares.
    fn check(&self, circuit: &Netlist, seed: u64) -> Result<Plan, GateError> {
        let plan = Plan::new(circuit, &self.scheme, 0)?;
        let rng = &mut AesCtrRng::from_seed([seed as u8; 32]);
        let words: Vec<u64> = (0..circuit.input_wires()).map(|_| rng.next_u64()).collect();
        let inputs = self.encrypt(&words);
        let inputs: Vec<&Ciphertext> = inputs.iter().collect();
        let monitor = Monitor::default();
        let found = plan.evaluate(&self.scheme, &self.relin, &inputs, &[], &monitor)?;
        let expected = circuit.evaluate(&words, 1).unwrap();
        let mask = u64::MAX >> (64 - self.slots());
        let outputs = found.iter().flatten();
        for (at, (found, expected)) in outputs.zip(&expected).enumerate() {
            assert_eq!(self.decrypt(found), expected & mask, "output {at}");
            assert_eq!(found.level(), *plan.levels().last().unwrap());
        }
        assert_eq!(monitor.progress(), (plan.products(), plan.products()));
        self.check_beside_public(circuit, &words, &inputs)?;
        // What fits fresh encryptions under the public key fits those with less noise.
        let seeded: Vec<Ciphertext> = (0..words.len()).map(|at| self.seeded(at as u8)).collect();
        let seeded: Vec<&Ciphertext> = seeded.iter().collect();
        plan.evaluate(&self.scheme, &self.relin, &seeded, &[], &monitor)?;
        // The same ciphertext everywhere has noise that all depends: computed rightly, or refused.
        let same = vec![seeded[0]; words.len()];
        match plan.evaluate(&self.scheme, &self.relin, &same, &[], &monitor) {
            Ok(found) => {
                let expected = circuit.evaluate(&vec![5; words.len()], 1).unwrap();
                for (found, expected) in found.iter().flatten().zip(&expected) {
                    assert_eq!(self.decrypt(found), expected & mask);
                }
            }
            Err(error) => assert!(matches!(error, GateError::TooDeep { .. }), "{error}"),
        }
        Ok(plan)
    }
}

impl Party {
    /// The same with half of the inputs public.
    fn check_beside_public(
        &self,
        circuit: &Netlist,
        words: &[u64],
        inputs: &[&Ciphertext],
    ) -> Result<(), GateError> {
        let public = words.len() / 2;
        let (encrypted, clear) = words.split_at(words.len() - public);
        let inputs = &inputs[..encrypted.len()];
        let states = self.scheme.planned_all(inputs);
        let plan = Plan::beside_public(circuit, &self.scheme, 0, &states, public)?;
        let row = |word: &u64| -> Vec<bool> {
            (0..self.scheme.slot_count()).map(|slot| slot < 64 && word >> slot & 1 == 1).collect()
        };
        let rows: Vec<Vec<bool>> = clear.iter().map(row).collect();
        let monitor = Monitor::default();
        let run =
            |rows: &[Vec<bool>]| plan.evaluate(&self.scheme, &self.relin, inputs, rows, &monitor);
        let found = run(&rows)?;
        let expected = circuit.evaluate(words, 1).unwrap();
        let mask = u64::MAX >> (64 - self.slots());
        for (found, expected) in found.iter().flatten().zip(&expected) {
            assert_eq!(self.decrypt(found), expected & mask);
        }
        let short = [vec![vec![true]], rows.clone()].concat();
        assert!(matches!(run(&short), Err(GateError::Inputs { .. })));
        if public > 0 {
            assert!(matches!(run(&vec![vec![true]; public]), Err(GateError::Inputs { .. })));
        }
        Ok(())
    }
}

/// Bits modulo 2 in an odd ring, modulo a small prime, and modulo 65537.
fn parties() -> &'static [Party; 3] {
    static PARTIES: OnceLock<[Party; 3]> = OnceLock::new();
    PARTIES.get_or_init(|| {
        let primes = [vec![48; 12], vec![36, 30]].concat();
        let wide = [vec![50; 16], vec![45, 40]].concat();
        [spec(255, 2, &primes), spec(512, 7681, &wide), spec(512, 65537, &wide)].map(Party::new)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn circuits_compute_what_they_compute_in_the_clear(circuit in circuits(), seed: u64) {
        for party in parties() {
            match party.check(&circuit, seed) {
                Ok(plan) => prop_assert!(plan.depth() <= circuit.depth()),
                // Random gates may be deeper than any set.
                Err(GateError::TooDeep { depth, room }) => prop_assert!(room < depth && depth > 6),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

fn named_circuits() -> Vec<(&'static str, Netlist)> {
    let table = |a: u64, b: u64| a.checked_div(b).unwrap_or(7);
    vec![
        ("sum", integers::adder(Adder::Sklansky, 13).unwrap()),
        ("chained", integers::adder(Adder::Ripple, 5).unwrap()),
        ("lookahead", integers::adder(Adder::Lookahead, 8).unwrap()),
        ("difference", integers::subtractor(Adder::LadnerFischer, 8).unwrap()),
        ("less", integers::less(16, true).unwrap()),
        ("equal", integers::equal(9).unwrap()),
        ("minimum", integers::minimum(8, false).unwrap()),
        (
            "product",
            integers::multiplier(Adder::Sklansky, Rows::Bits, 4, 8, Signs::Signed).unwrap(),
        ),
        (
            "product of digits",
            integers::multiplier(Adder::BrentKung, Rows::Digits, 5, 10, Signs::Unsigned).unwrap(),
        ),
        ("table", integers::table(3, 3, table).unwrap()),
        ("quotient", integers::divider(Division::Table { digit: 2 }, Adder::Sklansky, 4).unwrap()),
        ("maximum", integers::largest(3, 4, false).unwrap()),
        ("absolute", integers::absolute(Adder::Sklansky, 6).unwrap()),
        ("count", integers::popcount(Adder::Sklansky, 9).unwrap()),
    ]
}

#[test]
fn integers_are_computed_in_slots() {
    for (name, circuit) in named_circuits() {
        for (at, party) in parties().iter().enumerate() {
            if let Err(error) = party.check(&circuit, at as u64) {
                panic!("{name} modulo {}: {error}", party.scheme.spec().plaintext.modulus());
            }
        }
    }
}

/// A sum beside a quotient, whose plan ends at a low level with little room: rare roots, where the secret is large, once
/// grew from level to level until two of the quotient's bits were noise in every third run.
#[test]
fn results_have_the_room_that_plans_say() {
    let sum = integers::adder(Adder::LadnerFischer, 8).unwrap();
    let division = Division::Table { digit: 2 };
    let divider = integers::divider(division, Adder::LadnerFischer, 8).unwrap();
    let (mut builder, inputs) = Builder::new(&[8, 8]);
    let one: Vec<_> = (0..8).map(|bit| builder.constant(bit == 0)).collect();
    let mut both = |circuit: &Netlist, a: &[Wire], b: &[Wire]| {
        builder.append(circuit, &[&a[..8], &b[..8]].concat()).unwrap().remove(0)
    };
    let (added, divisor) = (both(&sum, &inputs[0], &inputs[1]), both(&sum, &inputs[1], &one));
    let quotient = both(&divider, &inputs[0], &divisor);
    let circuit = builder.finish(vec![added[..8].to_vec(), quotient]).unwrap();
    results_have_their_room(&preset("bgv_21845_deep"), &circuit);
}

/// A chain of carries, of whose products much is left where levels are a bit apart.
#[test]
fn results_of_chains_have_the_room_that_plans_say() {
    let divider = integers::divider(Division::NonRestoring, Adder::Ripple, 4).unwrap();
    let primes = [vec![50; 9], vec![34, 31]].concat();
    let scheme = Rlwe::new(spec(18631, 2, &primes), Assurance::Insecure).unwrap();
    results_have_their_room(&scheme, &divider);
}

fn results_have_their_room(scheme: &Rlwe, circuit: &Netlist) {
    let plan = Plan::new(circuit, scheme, 0).unwrap();
    for seed in 0..3 {
        let rng = &mut AesCtrRng::from_seed([seed; 32]);
        let (secret, public) = scheme.generate_keys(rng);
        let relin = scheme.generate_relin_key(&secret, rng).unwrap();
        let plain = scheme.encode_integers(&[1, 0, 1]).unwrap();
        let inputs: Vec<Ciphertext> = (0..circuit.input_wires())
            .map(|_| scheme.encrypt(&public, &plain, rng).unwrap())
            .collect();
        let inputs: Vec<&Ciphertext> = inputs.iter().collect();
        let found = plan.evaluate(scheme, &relin, &inputs, &[], &Monitor::default()).unwrap();
        for a in found.iter().flatten() {
            let measured = scheme.measured_noise_budget(&secret, a).unwrap();
            // Coefficients are below 7 deviations but for 2^-20 of the time; room is for 13.
            assert!(measured > scheme.noise_budget(a) + 0.8, "{measured} bits");
        }
    }
}

fn preset(name: &str) -> Rlwe {
    let preset = Preset::named(name).unwrap();
    Rlwe::new(preset.vectors(1.0).unwrap().unwrap(), preset.assurance()).unwrap()
}

/// Relinearisations, products and depth: exclusive ors are sums modulo 2, and modulo a prime where gates show that
/// both bits are never set; products that one sum reads are relinearised together.
#[test]
fn plans_take_as_many_products_as_they_say() {
    let (binary, prime) = (preset("bgv_21845"), preset("bgv_16384"));
    let counts = |circuit: &Result<Netlist, GateError>, scheme: &Rlwe| {
        let plan = Plan::new(circuit.as_ref().unwrap(), scheme, 0).unwrap();
        (plan.products(), plan.tensors(), plan.depth())
    };
    let both =
        |circuit: Result<Netlist, GateError>| [counts(&circuit, &binary), counts(&circuit, &prime)];
    assert_eq!(both(integers::adder(Adder::Sklansky, 64)), [(250, 385, 7), (339, 442, 8)]);
    assert_eq!(both(integers::less(64, false)), [(121, 184, 7), (153, 184, 7)]);
    assert_eq!(both(integers::minimum(64, false)), [(185, 248, 8), (217, 248, 8)]);
    assert_eq!(both(integers::equal(64)), [(63, 63, 6), (127, 127, 7)]);
    let full = |width, rows| {
        let circuit =
            integers::multiplier(Adder::Sklansky, rows, width, 2 * width, Signs::Unsigned);
        counts(&circuit, &binary)
    };
    assert_eq!(full(8, Rows::Bits), (141, 157, 8));
    assert_eq!(full(8, Rows::Digits), (115, 162, 8));
    assert_eq!(full(16, Rows::Digits).2, 10);
    let division = integers::divider(Division::Table { digit: 2 }, Adder::Sklansky, 8);
    assert_eq!(counts(&division, &binary).2, 14);
}

/// Equal circuits take equal plans, and inputs that are results take their noise into account.
#[test]
fn results_are_inputs_of_further_circuits() {
    let [party, ..] = parties();
    let adder = integers::adder(Adder::Sklansky, 4).unwrap();
    let first = Plan::new(&adder, &party.scheme, 5).unwrap();
    let inputs = party.encrypt(&[3, 5, 7, 9, 11, 13, 15, 17]);
    let inputs: Vec<&Ciphertext> = inputs.iter().collect();
    let monitor = Monitor::default();
    let sums =
        first.evaluate(&party.scheme, &party.relin, &inputs, &[], &monitor).unwrap().remove(0);
    assert!(sums.iter().all(|sum| party.scheme.planned_depth(&party.scheme.planned(sum)) >= 5));
    let less = integers::less(5, false).unwrap();
    let both: Vec<&Ciphertext> = sums.iter().chain(&sums).collect();
    let states: Vec<_> = both.iter().map(|a| party.scheme.planned(a)).collect();
    let second = Plan::on(&less, &party.scheme, 0, &states).unwrap();
    let result = second.evaluate(&party.scheme, &party.relin, &both, &[], &monitor).unwrap();
    assert_eq!(party.decrypt(&result[0][0]), 0);
    // What was planned for fresh encryptions may have no room for results.
    let fresh = Plan::new(&less, &party.scheme, 8).unwrap();
    let refused = fresh.evaluate(&party.scheme, &party.relin, &both, &[], &monitor);
    assert!(matches!(refused, Err(GateError::TooDeep { .. })), "{:?}", refused.map(|_| ()));
}

#[test]
fn constants_and_inputs_are_outputs_too() {
    let (mut builder, inputs) = Builder::new(&[2]);
    let (a, b) = (inputs[0][0], inputs[0][1]);
    let one = builder.constant(true);
    let zero = builder.binary(BinaryGate::Xor, a, a);
    let not = builder.not(b);
    let circuit = builder.finish(vec![vec![one, zero, a, a, not], vec![]]).unwrap();
    for party in parties() {
        let plan = party.check(&circuit, 1).unwrap();
        assert_eq!((plan.products(), plan.depth(), plan.outputs()), (0, 0, vec![5, 0]));
        // Without products results have room for those that were asked for, too.
        let plan = Plan::new(&circuit, &party.scheme, 3).unwrap();
        let inputs = party.encrypt(&[1, 2]);
        let inputs: Vec<&Ciphertext> = inputs.iter().collect();
        let monitor = Monitor::default();
        let found = plan.evaluate(&party.scheme, &party.relin, &inputs, &[], &monitor).unwrap();
        let room = |a: &Ciphertext| party.scheme.planned_depth(&party.scheme.planned(a));
        assert!(found.iter().flatten().all(|a| room(a) >= 3));
    }
    let (builder, _) = Builder::new(&[]);
    let nothing = builder.finish(vec![]).unwrap();
    let refused = Plan::new(&nothing, &parties()[0].scheme, 0).unwrap_err();
    assert!(matches!(refused, GateError::Size { .. }));
}

#[test]
fn what_does_not_fit_is_refused() {
    let [party, other, _] = parties();
    let circuit = integers::equal(2).unwrap();
    let plan = Plan::new(&circuit, &party.scheme, 3).unwrap();
    let inputs = party.encrypt(&[1, 2, 3, 4]);
    let run = |inputs: &[&Ciphertext], relin: &RelinKey| {
        plan.evaluate(&party.scheme, relin, inputs, &[], &Monitor::default()).map(|_| ())
    };
    let all: Vec<&Ciphertext> = inputs.iter().collect();
    assert_eq!(run(&all, &party.relin), Ok(()));
    let found = run(&all[1..], &party.relin).unwrap_err();
    assert!(matches!(found, GateError::Inputs { expected: 4, found: 3, .. }));
    // Another key, other parameters, parts that were not brought back, primes that are gone.
    let stranger = Party::new(Spec { ..party.scheme.spec().clone() });
    let rng = &mut AesCtrRng::from_seed([9; 32]);
    let (secret, _) = stranger.scheme.generate_keys(rng);
    let relin = stranger.scheme.generate_relin_key(&secret, rng).unwrap();
    let mismatch = run(&all, &relin).unwrap_err();
    assert!(matches!(mismatch, GateError::Scheme(SchemeError::KeyMismatch { .. })));
    let foreign = other.encrypt(&[0]);
    let mixed = [&foreign[0], all[1], all[2], all[3]];
    let mismatch = run(&mixed, &party.relin).unwrap_err();
    assert!(matches!(mismatch, GateError::Scheme(SchemeError::ParameterMismatch { .. })));
    let square = party.scheme.square(all[0]).unwrap();
    let parts = run(&[&square, all[1], all[2], all[3]], &party.relin).unwrap_err();
    assert!(matches!(parts, GateError::Scheme(SchemeError::NotRelinearised { .. })));
    let low = party.scheme.mod_switch_to(all[0], 1).unwrap();
    let deep = run(&[&low, all[1], all[2], all[3]], &party.relin).unwrap_err();
    assert!(matches!(deep, GateError::TooDeep { .. }));
    // Cancelled before it begins.
    let monitor = Monitor::default();
    monitor.cancel();
    let cancelled = plan.evaluate(&party.scheme, &party.relin, &all, &[], &monitor).unwrap_err();
    assert_eq!(cancelled, GateError::Cancelled);
}

#[test]
fn sets_and_depths_that_no_circuit_fits_are_refused() {
    let adder = integers::adder(Adder::Sklansky, 8).unwrap();
    for name in ["bfv_8192", "ckks_8192"] {
        let refused = Plan::new(&adder, &preset(name), 0).unwrap_err();
        let text = refused.to_string();
        assert!(text.contains("BGV"), "{text}");
    }
    // Primes that change the factor on plaintexts.
    let mut changing = spec(512, 65537, &[50, 45, 40]);
    changing.coeff_moduli = RingIndex::new(512).unwrap().ntt_primes(49, 3).unwrap();
    let changing = Rlwe::new(Spec { levels: Vec::new(), ..changing }, Assurance::Insecure).unwrap();
    let text = Plan::new(&adder, &changing, 0).unwrap_err().to_string();
    assert!(text.contains("1 modulo the plaintext modulus"), "{text}");
    // Too deep, by itself or with what is to follow.
    let small = preset("bgv_4369");
    let refused = Plan::new(&adder, &small, 0).unwrap_err();
    assert!(matches!(refused, GateError::TooDeep { depth: 4, room } if room < 4), "{refused}");
    let equal = integers::equal(4).unwrap();
    assert!(Plan::new(&equal, &small, 0).is_ok());
    assert!(matches!(Plan::new(&equal, &small, 3), Err(GateError::TooDeep { .. })));
}
