//! Values are linear in what operands are scaled with, and stay when ciphertexts are made anew.

use hesc_circuits::{CircuitError, Layout, Streams};
use hesc_math::AesCtrRng;
use hesc_schemes::{Plain, Scheme, SchemeError};
use hesc_stochastic::{BitStreams, Generator, Selector};
use rand_core::SeedableRng;

use super::hostile::frames::Family;
use super::party::{IBP, Law, Party, close, draw, on_all_schemes, on_the_clear};

const LENGTH: usize = 64;
const PAIRS: [(usize, usize); 2] = [(0, 0), (1, 1)];

type Operation<S> = Box<dyn Fn(&Streams<S>, &Streams<S>) -> Result<Streams<S>, CircuitError>>;

/// Operations and in how many of the two operands each is linear.
fn operations<S: Scheme>() -> Vec<(&'static str, Operation<S>, [i32; 2])> {
    let constants = BitStreams::from_words(vec![0x1234; 2], LENGTH).unwrap();
    let doubled = |x: &Streams<S>| x.select(&[0, 0, 1, 1]);
    vec![
        (
            "a product",
            Box::new(|x: &Streams<S>, y: &Streams<S>| x.multiply(y, &PAIRS)) as Operation<S>,
            [1, 1],
        ),
        ("a product from the right", Box::new(|x, y| y.multiply(x, &PAIRS)), [1, 1]),
        (
            "a product with bits in the clear",
            Box::new(move |x, _| x.multiply_bits(&constants, IBP, draw(99))),
            [1, 0],
        ),
        ("prefixes", Box::new(|x, y| Ok(Streams::prefix_products(&[x, y])?.remove(1))), [1, 1]),
        ("negation", Box::new(|x, _| x.negate()), [1, 0]),
        ("a selection", Box::new(|x, _| x.select(&[1, 0])), [1, 0]),
        ("a concatenated sum", Box::new(move |x, _| doubled(x)?.sum_groups(2)), [1, 0]),
        ("a weighted sum", Box::new(|x, _| Streams::weighted_sum(&[x, x], &[1.0, -3.0])), [1, 0]),
        (
            "a selection by chance",
            Box::new(|x, _| {
                x.select(&[0, 0, 1, 1])?.multiplexed_sum(&[0.5, 1.0], &mut Selector::new(5))
            }),
            [1, 0],
        ),
        (
            "a combination by chance",
            Box::new(|x, _| {
                let mut selector = Selector::new(6);
                x.select(&[0, 0, 1, 1])?.multiplexed_combination(&[0.5, -1.0], &mut selector)
            }),
            [1, 0],
        ),
        (
            "an allocated sum",
            Box::new(|x, _| x.select(&[0, 0, 1, 1])?.allocated_sum(&[1.0, 0.5], &[2, 1], 2)),
            [1, 0],
        ),
    ]
}

struct Linear;

impl Law for Linear {
    fn holds_on<S: Scheme>(&self, scheme: S, _: Family) {
        let party = &mut Party::new(scheme, Generator::Bernoulli, LENGTH);
        let (x, _) = party.encrypt(&[0.5, -0.25], Layout::OnePerBlock);
        let (y, _) = party.encrypt(&[0.75, 0.5], Layout::OnePerBlock);
        // Each element has a weight of its own.
        let (of_x, of_y) = ([3.0, -0.5], [-2.0, 1.5]);
        let (scaled_x, scaled_y) = (x.scale(&of_x).unwrap(), y.scale(&of_y).unwrap());
        for (name, operation, linear) in operations::<S>() {
            let before = operation(&x, &y).unwrap();
            let after = operation(&scaled_x, &scaled_y).unwrap();
            let expected: Vec<f64> = (party.decrypt(&before).into_iter().enumerate())
                .map(|(i, value)| {
                    // A selection turns the elements round.
                    let from = if name == "a selection" { 1 - i } else { i };
                    value * of_x[from].powi(linear[0]) * of_y[from].powi(linear[1])
                })
                .collect();
            assert!(close(&party.decrypt(&after), &expected), "{name}");
        }
    }
}

#[test]
fn what_an_operand_is_scaled_with_comes_out_of_every_operation() {
    on_the_clear(&Linear);
}

/// One bit passes at each position, which has one weight.
#[test]
fn operands_of_a_selection_have_one_weight() {
    let party = &mut Party::new(Plain::new(256, 8).unwrap(), Generator::Bernoulli, LENGTH);
    let (x, _) = party.encrypt(&[0.5, -0.25], Layout::OnePerBlock);
    let uneven = x.scale(&[1.0, 2.0]).unwrap();
    let refused = uneven.multiplexed_sum(&[0.5, 0.5], &mut Selector::new(1));
    assert!(matches!(refused, Err(CircuitError::NotSingle { element: 1 })));
    let even = x.scale(&[2.0, 2.0]).unwrap();
    assert!(even.multiplexed_sum(&[0.5, 0.5], &mut Selector::new(1)).is_ok());
}

/// Selections of one random state choose by the same numbers, whatever their probabilities.
#[test]
fn selections_of_one_random_state_are_correlated() {
    let party = &mut Party::new(Plain::new(256, 8).unwrap(), Generator::Bernoulli, LENGTH);
    let (x, _) = party.encrypt(&[0.5, -0.25], Layout::OnePerBlock);
    let (y, _) = party.encrypt(&[0.75, 0.5], Layout::OnePerBlock);
    let chosen = |array: &Streams<Plain>, probabilities: [f64; 2], state| {
        array.multiplexed_sum(&probabilities, &mut Selector::new(state)).unwrap()
    };
    let left = chosen(&x, [0.5, 0.5], 1);
    let alike = left.multiply(&chosen(&y, [0.25, 1.0], 1), &[(0, 0)]);
    assert!(matches!(alike, Err(CircuitError::Correlated { .. })));
    assert!(left.multiply(&chosen(&y, [0.25, 1.0], 2), &[(0, 0)]).is_ok());
}

struct Kept;

impl Law for Kept {
    fn holds_on<S: Scheme>(&self, scheme: S, _: Family) {
        // Several streams in a block, of which some are selected, out of order.
        let length = 16;
        let party = &mut Party::multiplying(scheme, Generator::Bernoulli, length);
        let public = party.scheme.read(&party.scheme.write(&party.public));
        let values: Vec<f64> = (0..9).map(|i| f64::from(i) / 8.0).collect();
        let (array, bits) = party.encrypt(&values, Layout::SideBySide);
        let order = [7, 2, 2, 5];
        let selected = array.select(&order).unwrap();
        let mut rng = AesCtrRng::from_seed([7; 32]);
        let fresh = match selected.rerandomise(&public.unwrap(), 2, &mut rng) {
            Err(CircuitError::Scheme(SchemeError::NotInScheme { operation, .. })) => {
                // What has no public key has nothing to do it with.
                assert_eq!((operation, party.scheme.name()), ("rerandomising", "pad"));
                return;
            }
            fresh => fresh.unwrap(),
        };
        let all = bits.values(party.representation);
        let expected: Vec<f64> = order.iter().map(|&i| all[i]).collect();
        assert!(close(&party.decrypt(&fresh), &expected), "{}", party.scheme.name());
    }
}

#[test]
fn fresh_ciphertexts_hold_what_the_old_ones_did() {
    on_all_schemes(&Kept);
}
