//! Every operation on ciphertexts, in one table: what laws of refusal run through.

use hesc_schemes::rlwe::SchemeKind::{Bfv, Bgv, Ckks};
use hesc_schemes::rlwe::{Ciphertext, Plaintext, Rlwe, SchemeKind, SecretKey, SwitchKey};
use hesc_schemes::{SchemeError, SharedSoFar, Sharing};

use super::forged::{PARTS, spliced};
use super::party::{Party, SCALE};

/// Operands beside ciphertexts and keys.
pub struct World {
    pub party: Party,
    /// From the party's secret to itself.
    pub switch: SwitchKey,
}

impl World {
    pub fn new(mut party: Party) -> Self {
        let switch =
            party.scheme.generate_switch_key(&party.secret, &party.secret, &mut party.rng).unwrap();
        Self { party, switch }
    }

    /// A plaintext for a ciphertext; of another set's, whose level may not exist here, for the highest.
    fn operand(&self, values: &[i64], a: &Ciphertext) -> Plaintext {
        self.party.operand(values, a.level().min(self.party.scheme.levels()))
    }
}

/// Which numbers of parts an operation takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Takes {
    Any,
    Two,
    Three,
}

/// An operation: on `a` and, if it has two operands, on `b`; the set is the first world's, keys are the second
/// one's.
pub struct Operation {
    pub name: &'static str,
    pub schemes: &'static [SchemeKind],
    pub run: fn(&World, &World, &Ciphertext, &Ciphertext) -> Result<(), SchemeError>,
    pub takes: Takes,
    /// Whether `b` is an operand.
    pub binary: bool,
    /// Whether it takes a key that belongs to the ciphertext's pair.
    pub keyed: bool,
    /// Whether its result has more noise than its operand, or less room for it.
    pub grows: bool,
}

const ALL: &[SchemeKind] = &[Bfv, Bgv, Ckks];

const PLAIN: Operation = Operation {
    name: "",
    schemes: ALL,
    run: |_, _, _, _| Ok(()),
    takes: Takes::Any,
    binary: false,
    keyed: false,
    grows: true,
};

/// Operations on ciphertexts, all of them: [`super::refusals`] compares with the source.
pub fn operations() -> Vec<Operation> {
    vec![
        Operation {
            name: "add",
            run: |w, _, a, b| w.party.scheme.add(a, b).map(drop),
            binary: true,
            ..PLAIN
        },
        Operation {
            name: "sub",
            run: |w, _, a, b| w.party.scheme.sub(a, b).map(drop),
            binary: true,
            ..PLAIN
        },
        Operation {
            name: "negate",
            run: |w, _, a, _| w.party.scheme.negate(a).map(drop),
            grows: false,
            ..PLAIN
        },
        Operation {
            name: "add_plain",
            run: |w, _, a, _| w.party.scheme.add_plain(a, &w.operand(&[1], a)).map(drop),
            ..PLAIN
        },
        Operation {
            name: "multiply_plain",
            run: |w, _, a, _| w.party.scheme.multiply_plain(a, &w.operand(&[2; 9], a)).map(drop),
            ..PLAIN
        },
        Operation {
            name: "product",
            run: |w, k, a, b| w.party.scheme.product(&k.party.relin, a, Some(b)).map(drop),
            takes: Takes::Two,
            binary: true,
            keyed: true,
            ..PLAIN
        },
        Operation {
            name: "sum_of_products",
            run: |w, k, a, b| {
                let (s, products) = (&w.party.scheme, [(a, Some(b))]);
                s.sum_of_products(&k.party.relin, &products, &[]).map(drop)
            },
            takes: Takes::Two,
            binary: true,
            keyed: true,
            ..PLAIN
        },
        Operation {
            name: "combination",
            schemes: &[Bgv],
            run: |w, _, a, b| {
                let s = &w.party.scheme;
                let states = [a, b].map(|a| s.planned(a));
                let known = s.planned_combination(&[(1, &states[0]), (-1, &states[1])], 1)?;
                s.combination(&[(1, a), (-1, b)], 1, &known).map(drop)
            },
            takes: Takes::Two,
            binary: true,
            ..PLAIN
        },
        Operation {
            name: "combination_of_products",
            schemes: &[Bgv],
            run: |w, k, a, b| {
                let s = &w.party.scheme;
                let [x, y] = [a, b].map(|a| s.planned(a));
                let known = s.planned_products(&[(1, &x, &y)], (&[], 0), 1, 0)?;
                let products = [(1, a, b)];
                s.combination_of_products(&k.party.relin, &products, (&[], 0), &known).map(drop)
            },
            takes: Takes::Two,
            binary: true,
            keyed: true,
            ..PLAIN
        },
        Operation {
            name: "lower",
            schemes: &[Bgv],
            run: |w, _, a, _| {
                let s = &w.party.scheme;
                s.lower(a, &s.planned_lower(&s.planned(a), 1, 0)?).map(drop)
            },
            takes: Takes::Two,
            ..PLAIN
        },
        Operation {
            name: "check_inputs",
            schemes: &[Bgv],
            run: |w, k, a, b| w.party.scheme.check_inputs(&k.party.relin, &[a, b]),
            takes: Takes::Two,
            binary: true,
            keyed: true,
            grows: false,
        },
        Operation {
            name: "check_bit",
            schemes: &[Bgv],
            run: |w, _, a, b| w.party.scheme.check_bit(a, Some(b)),
            takes: Takes::Two,
            grows: false,
            ..PLAIN
        },
        Operation {
            name: "product_with_plain",
            run: |w, _, a, _| {
                w.party.scheme.product_with_plain(a, &w.operand(&[2; 9], a)).map(drop)
            },
            ..PLAIN
        },
        Operation {
            name: "rescale_product",
            schemes: &[Ckks],
            run: |w, _, a, _| w.party.scheme.rescale_product(a.clone()).map(drop),
            ..PLAIN
        },
        Operation {
            name: "sum",
            run: |w, _, a, b| w.party.scheme.sum(a, b, false).map(drop),
            binary: true,
            ..PLAIN
        },
        Operation {
            name: "multiply_scalar",
            run: |w, _, a, _| w.party.scheme.multiply_scalar(a, 2).map(drop),
            ..PLAIN
        },
        Operation {
            name: "multiply_real",
            schemes: &[Ckks],
            run: |w, _, a, _| w.party.scheme.multiply_real(a, 1.5, 4.0).map(drop),
            ..PLAIN
        },
        Operation {
            name: "multiply",
            run: |w, _, a, b| w.party.scheme.multiply(a, b).map(drop),
            takes: Takes::Two,
            binary: true,
            ..PLAIN
        },
        Operation {
            name: "square",
            run: |w, _, a, _| w.party.scheme.square(a).map(drop),
            takes: Takes::Two,
            ..PLAIN
        },
        Operation {
            name: "multiply_unrelinearised",
            run: |w, _, a, b| w.party.scheme.multiply_unrelinearised(a, b).map(drop),
            binary: true,
            ..PLAIN
        },
        Operation {
            name: "product_of_components",
            run: |w, _, a, b| w.party.scheme.product_of_components(a, b).map(drop),
            binary: true,
            ..PLAIN
        },
        Operation {
            name: "relinearise",
            run: |w, k, a, _| w.party.scheme.relinearise(a, &k.party.relin).map(drop),
            takes: Takes::Three,
            keyed: true,
            ..PLAIN
        },
        Operation {
            name: "relinearise_to",
            run: |w, k, a, _| w.party.scheme.relinearise_to(a, &k.party.relin, 1).map(drop),
            takes: Takes::Three,
            keyed: true,
            ..PLAIN
        },
        Operation {
            name: "switch_key",
            run: |w, k, a, _| w.party.scheme.switch_key(a, &k.switch).map(drop),
            takes: Takes::Two,
            ..PLAIN
        },
        Operation {
            name: "mod_switch",
            run: |w, _, a, _| w.party.scheme.mod_switch(a).map(drop),
            ..PLAIN
        },
        Operation {
            name: "mod_switch_to",
            run: |w, _, a, _| w.party.scheme.mod_switch_to(a, 1).map(drop),
            ..PLAIN
        },
        Operation {
            name: "rescale",
            schemes: &[Ckks],
            run: |w, _, a, _| w.party.scheme.rescale(a).map(drop),
            ..PLAIN
        },
        Operation {
            name: "raise_modulus",
            schemes: &[Ckks],
            run: |w, _, a, _| {
                let low = w.party.scheme.mod_switch_to(a, 1)?;
                w.party.scheme.raise_modulus(&low, 1, 1e4).map(drop)
            },
            takes: Takes::Two,
            grows: false,
            ..PLAIN
        },
        Operation {
            name: "claiming",
            schemes: &[Ckks],
            run: |w, _, a, _| w.party.scheme.claiming(a.clone(), 1.0, 1.0).map(drop),
            grows: false,
            ..PLAIN
        },
        Operation {
            name: "weighted_sum",
            schemes: &[Ckks],
            run: |w, _, a, b| {
                let weight = w.operand(&[1, 2], a);
                w.party.scheme.weighted_sum(&[(a, &weight), (b, &weight)]).map(drop)
            },
            takes: Takes::Two,
            binary: true,
            ..PLAIN
        },
        Operation {
            name: "aligned_with",
            run: |w, _, a, b| w.party.scheme.aligned_with(a, b).map(drop),
            binary: true,
            ..PLAIN
        },
        Operation {
            name: "apply_galois",
            run: |w, k, a, _| w.party.scheme.apply_galois(a, 3, &k.party.galois).map(drop),
            takes: Takes::Two,
            keyed: true,
            ..PLAIN
        },
        Operation {
            name: "rotate",
            run: |w, k, a, _| w.party.scheme.rotate(a, 7, &k.party.galois).map(drop),
            takes: Takes::Two,
            keyed: true,
            ..PLAIN
        },
        Operation {
            name: "rotate_many",
            run: |w, k, a, _| w.party.scheme.rotate_many(a, &[1, 7], &k.party.galois).map(drop),
            takes: Takes::Two,
            keyed: true,
            ..PLAIN
        },
        Operation {
            name: "apply_galois_many",
            run: |w, k, a, _| {
                w.party.scheme.apply_galois_many(a, &[1, 3], &k.party.galois).map(drop)
            },
            takes: Takes::Two,
            keyed: true,
            ..PLAIN
        },
        Operation {
            name: "swap_or_conjugate",
            run: |w, k, a, _| w.party.scheme.swap_or_conjugate(a, &k.party.galois).map(drop),
            takes: Takes::Two,
            keyed: true,
            ..PLAIN
        },
        Operation {
            name: "decrypt",
            run: |w, k, a, _| w.party.scheme.decrypt(&k.party.secret, a).map(drop),
            keyed: true,
            grows: false,
            ..PLAIN
        },
        Operation {
            name: "measured_noise_budget",
            run: |w, k, a, _| w.party.scheme.measured_noise_budget(&k.party.secret, a).map(drop),
            keyed: true,
            grows: false,
            ..PLAIN
        },
        Operation {
            name: "decrypt_shared",
            schemes: &[Ckks],
            run: |w, k, a, b| shared(&w.party.scheme, &k.party.secret, a, b),
            binary: true,
            keyed: true,
            grows: false,
            ..PLAIN
        },
    ]
}

fn shared(
    s: &Rlwe,
    secret: &SecretKey,
    a: &Ciphertext,
    expected: &Ciphertext,
) -> Result<(), SchemeError> {
    let sharing = Sharing { expected, answers: 1, statistical_bits: 40 };
    let mut rng = super::party::generator(1);
    s.decrypt_shared(secret, a, 1, sharing, &SharedSoFar::default(), &mut rng).map(drop)
}

/// A ciphertext of level 1 with this many parts, some of them copies: what no program has to make first.
pub fn with_parts(s: &Rlwe, a: &Ciphertext, parts: usize) -> Ciphertext {
    assert_eq!((a.level(), a.components()), (1, 2));
    let bytes = s.ciphertext_to_bytes(a);
    let end = bytes.len() - 16;
    let part = (end - super::forged::WORDS) / 2;
    let more = bytes[end - part..end].repeat(parts - 2);
    let longer = spliced(&bytes, end..end, &more);
    let counted = super::forged::forged(&longer, PARTS, &[parts as u8]);
    s.ciphertext_from_bytes(&counted).unwrap()
}

/// An encryption of ones, brought to a level.
pub fn ones(p: &mut Party, level: usize) -> Ciphertext {
    let one = p.encoded(&[1; 16]);
    let a = p.scheme.encrypt(&p.public, &one, &mut p.rng).unwrap();
    assert!(a.scale() == 1.0 || a.scale() == SCALE);
    p.scheme.mod_switch_to(&a, level).unwrap()
}
