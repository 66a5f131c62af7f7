//! Origins: what may not be multiplied is refused, whatever was done to it before.

use hesc_circuits::{Answer, CircuitError, Layout, SeededStreams, Streams};
use hesc_math::AesCtrRng;
use hesc_schemes::{Plain, Scheme};
use hesc_stochastic::{BitStreams, Generator, Origin, Representation, Selector};
use rand_core::SeedableRng;

use super::hostile::frames::Family;
use super::party::{Law, Party, draw, on_all_schemes, on_the_clear, plaintext};

const LENGTH: usize = 64;
const LAYOUT: Layout = Layout::OnePerBlock;
const PAIRS: [(usize, usize); 2] = [(0, 0), (1, 1)];

type Operation<S> = Box<dyn Fn(&Streams<S>) -> Result<Streams<S>, CircuitError>>;

/// Everything that makes an array of arrays. `others` have origins of their own.
fn operations<S: Scheme>(
    party: &mut Party<S>,
    others: [Streams<S>; 2],
) -> Vec<(&'static str, Operation<S>)> {
    let scheme = party.scheme.clone();
    let public: S::PublicKey = scheme.read(&scheme.write(&party.public)).unwrap();
    let representation = party.representation;
    let constants = BitStreams::from_words(vec![0x1234; 2], LENGTH).unwrap();
    let [left, right] = others;
    let and = |other: &Streams<S>| other.clone();
    let (before, behind, summed, weighed) = (and(&left), and(&left), and(&left), and(&left));
    vec![
        ("nothing", Box::new(|x: &Streams<S>| Ok(x.clone())) as Operation<S>),
        ("a product", Box::new(move |x| x.multiply(&left, &PAIRS))),
        ("a product from the right", Box::new(move |x| right.multiply(x, &PAIRS))),
        (
            "a product with bits in the clear",
            Box::new(move |x| x.multiply_bits(&constants, representation, draw(99))),
        ),
        ("negation", Box::new(|x| x.negate())),
        ("a selection", Box::new(|x| x.select(&[1, 0]))),
        ("weights", Box::new(|x| x.scale(&[0.5, -2.0]))),
        ("a concatenated sum", Box::new(|x| x.select(&[0, 1, 0, 1])?.sum_groups(2))),
        ("a sum of two", Box::new(move |x| x.add(&before, &PAIRS))),
        ("a sum from the right", Box::new(move |x| behind.add(x, &PAIRS))),
        ("a weighted sum", Box::new(move |x| Streams::weighted_sum(&[&summed, x], &[1.0, -3.0]))),
        ("appending", Box::new(move |x| weighed.append(x)?.select(&[2, 3]))),
        ("prefixes", Box::new(|x| Ok(Streams::prefix_products(&[x])?.remove(0)))),
        (
            "a selection by chance",
            Box::new(|x| {
                x.select(&[0, 1, 1, 0])?.multiplexed_sum(&[0.5, 1.0], &mut Selector::new(5))
            }),
        ),
        (
            "a combination by chance",
            Box::new(|x| {
                let mut selector = Selector::new(6);
                x.select(&[0, 1, 1, 0])?.multiplexed_combination(&[0.5, -1.0], &mut selector)
            }),
        ),
        (
            "an allocated sum",
            Box::new(|x| x.select(&[0, 1, 1, 0])?.allocated_sum(&[1.0, 0.5], &[2, 1], 2)),
        ),
        (
            "fresh ciphertexts",
            Box::new(move |x| x.rerandomise(&public, 2, &mut AesCtrRng::from_seed([7; 32]))),
        ),
        ("trimming", Box::new(|x| x.select(&[1, 1])?.trimmed())),
        ("the wire", Box::new(move |x| Streams::from_bytes(&scheme, &x.to_bytes()))),
    ]
}

fn is_correlated<T>(result: Result<T, CircuitError>) -> bool {
    matches!(result, Err(CircuitError::Correlated { .. }))
}

/// As many pieces of the array as the other consists of.
fn cut_like<S: Scheme>(array: &Streams<S>, like: &Streams<S>) -> Option<Streams<S>> {
    if array.stream_length() == like.stream_length() {
        return Some(array.clone());
    }
    array.allocated_sum(&[1.0], &[1], array.stream_length() / like.stream_length()).ok()
}

/// No operation drops an origin: a product with anything that has one of them is refused.
struct NoneIsDropped {
    /// Whether operations follow operations.
    twice: bool,
}

impl Law for NoneIsDropped {
    fn holds_on<S: Scheme>(&self, scheme: S, family: Family) {
        let party = &mut Party::multiplying(scheme, Generator::Bernoulli, LENGTH);
        let mut next = || party.encrypt(&[0.5, 0.25], LAYOUT).0;
        let [a, b, c, d, free] = [(); 5].map(|()| next());
        let x = a.multiply(&b, &PAIRS).unwrap();
        let operations = operations(party, [c, d]);
        let mut done = Vec::new();
        for (first, f) in &operations {
            let Ok(once) = f(&x) else { continue };
            done.push(*first);
            let second = operations.iter().filter(|_| self.twice);
            let again = second.filter_map(|(name, g)| Some((*name, g(&once).ok()?)));
            for (second, result) in std::iter::once(("nothing", once.clone())).chain(again) {
                for witness in [&a, &b, &x] {
                    let Some(witness) = cut_like(witness, &result) else { continue };
                    let name = format!("{first}, then {second}");
                    assert!(is_correlated(result.multiply(&witness, &[(0, 0)])), "{name}");
                    assert!(is_correlated(witness.multiply(&result, &[(0, 0)])), "{name}");
                }
                // What has no origin in common is not called correlated.
                let Some(free) = cut_like(&free, &result) else { continue };
                assert!(!is_correlated(result.multiply(&free, &[(0, 0)])), "{first}, {second}");
            }
        }
        // Schemes cannot all of them; the ones in the clear can.
        let masks = party.scheme.masking().is_some();
        if family == Family::Clear && masks && party.representation != Representation::Unipolar {
            assert_eq!(done.len(), operations.len(), "{done:?}");
        }
        assert!(done.len() > 10, "{}: {done:?}", party.scheme.name());
    }
}

#[test]
fn no_operation_drops_an_origin() {
    on_all_schemes(&NoneIsDropped { twice: false });
}

#[test]
fn no_two_operations_drop_an_origin() {
    on_the_clear(&NoneIsDropped { twice: true });
}

/// What operations add: the origin of bits in the clear, and of choices.
struct AddedOnesCount;

impl Law for AddedOnesCount {
    fn holds_on<S: Scheme>(&self, scheme: S, _: Family) {
        let party = &mut Party::multiplying(scheme, Generator::Bernoulli, LENGTH);
        let mut next = || party.encrypt(&[0.5, 0.25], LAYOUT).0;
        let [x, y] = [(); 2].map(|()| next());
        let constants = BitStreams::from_words(vec![0x1234; 2], LENGTH).unwrap();
        let times = |streams: &Streams<S>, origin| {
            streams.multiply_bits(&constants, party.representation, origin)
        };
        let by_x = times(&x, draw(1)).unwrap();
        assert!(is_correlated(times(&by_x, draw(1))));
        assert!(!is_correlated(times(&by_x, draw(2))));
        assert!(is_correlated(by_x.multiply(&times(&y, draw(1)).unwrap(), &PAIRS)));
        assert!(!is_correlated(by_x.multiply(&times(&y, draw(2)).unwrap(), &PAIRS)));

        // One draw of choices for two sums: whichever operand passes in one passes in the other.
        let select = |streams: &Streams<S>, selector: &mut Selector| {
            streams.multiplexed_sum(&[0.5, 0.5], selector)
        };
        let mut selector = Selector::new(3);
        let Ok(first) = select(&x, &mut selector) else { return };
        let second = select(&y, &mut selector).unwrap();
        let repeated = select(&y, &mut Selector::new(3)).unwrap();
        let by_sign = y.multiplexed_combination(&[0.5, 0.5], &mut Selector::new(3)).unwrap();
        for again in [&repeated, &by_sign] {
            assert!(is_correlated(first.multiply(again, &[(0, 0)])));
            assert!(is_correlated(again.multiply(&first, &[(0, 0)])));
        }
        assert!(!is_correlated(first.multiply(&second, &[(0, 0)])));
        let other = select(&y, &mut Selector::new(4)).unwrap();
        assert!(!is_correlated(first.multiply(&other, &[(0, 0)])));
    }
}

#[test]
fn origins_that_operations_add_count() {
    on_all_schemes(&AddedOnesCount);
}

/// Under the secret key and in batches too.
#[test]
fn no_encryption_drops_an_origin() {
    let party = &mut Party::new(Plain::new(64, 8).unwrap(), Generator::Bernoulli, LENGTH);
    let (bits, origin) = party.encoder.encode(&[0.5, 0.25]).unwrap();
    let (more, other) = party.encoder.encode(&[0.5, 0.25]).unwrap();
    let x = party.encrypt_bits(&bits, origin, LAYOUT);
    let clear = plaintext(&bits, origin, LAYOUT);
    let seeded =
        SeededStreams::encrypt(&party.scheme, &party.secret, &clear, &mut party.rng).unwrap();
    let read = SeededStreams::from_bytes(&party.scheme, &seeded.to_bytes()).unwrap();
    let clear = [plaintext(&more, other, LAYOUT), clear];
    let batch = Streams::encrypt_all(&party.scheme, &party.public, &clear, &mut party.rng).unwrap();
    for same in [&seeded.expand().unwrap(), &read.expand().unwrap(), &batch[1]] {
        assert!(is_correlated(x.multiply(same, &PAIRS)));
    }
    assert!(x.multiply(&batch[0], &PAIRS).is_ok());
}

/// One sequence under several names.
#[test]
fn other_names_of_an_origin_are_no_other_origins() {
    use Generator::{Bernoulli, ExactWeight, Halton, Hammersley, Lattice, PlainSobol, Sobol};
    let named = |generator| Origin::Draw { generator, source: 7, draw: 3 };
    let dimension = |generator, dimension| Origin::Dimension { generator, dimension };
    let joint = |dimension| Origin::Joint { source: 2, first: 0, factor: 1, dimension };
    let party = &mut Party::new(Plain::new(64, 8).unwrap(), Generator::Bernoulli, LENGTH);
    let bits = BitStreams::from_words(vec![0x1234_5678; 2], LENGTH).unwrap();
    for (left, right, refused) in [
        (named(Bernoulli), named(ExactWeight), true),
        (named(Bernoulli), Origin::Draw { generator: Bernoulli, source: 7, draw: 4 }, false),
        (named(Bernoulli), Origin::Draw { generator: Bernoulli, source: 8, draw: 3 }, false),
        (dimension(Sobol, 5), dimension(PlainSobol, 5), true),
        (dimension(Sobol, 5), dimension(Sobol, 6), false),
        (dimension(Sobol, 0), dimension(Halton, 0), true),
        (dimension(Lattice, 0), dimension(Hammersley, 1), true),
        (dimension(Halton, 3), dimension(Hammersley, 4), true),
        (joint(4), dimension(PlainSobol, 4), true),
        (joint(4), joint(5), false),
    ] {
        let x = party.encrypt_bits(&bits, left, LAYOUT);
        let y = party.encrypt_bits(&bits, right, LAYOUT);
        for (a, b, of_b) in [(&x, &y, right), (&y, &x, left)] {
            assert_eq!(is_correlated(a.multiply(b, &PAIRS)), refused, "{left}, {right}");
            let in_the_clear = a.multiply_bits(&bits, party.representation, of_b);
            assert_eq!(is_correlated(in_the_clear), refused, "{left}, {right}");
        }
    }
}

/// What passes at each position of a selection by chance: bits of streams of zeros and of ones.
fn choices(party: &mut Party<Plain>, sums: usize, selector: &mut Selector) -> Vec<Vec<u32>> {
    let words: Vec<u64> = (0..2 * sums).map(|i| (i as u64 % 2).wrapping_neg()).collect();
    let bits = BitStreams::from_words(words, LENGTH).unwrap();
    let streams = party.encrypt_bits(&bits, draw(0), LAYOUT);
    let sum = streams.multiplexed_sum(&[0.5, 0.5], selector).unwrap();
    let counts = Answer::new(&sum).unwrap().decrypt(&party.secret).unwrap();
    let readout = counts.separate().unwrap();
    readout.counts().chunks(LENGTH).map(<[u32]>::to_vec).collect()
}

/// Each sum of each call chooses anew. Two of 30 random rows of 64 bits are equal with a probability
/// below 2^-54.
#[test]
fn selections_differ_between_calls_and_sums() {
    let party = &mut Party::new(Plain::new(64, 8).unwrap(), Generator::Bernoulli, LENGTH);
    let mut selector = Selector::new(9);
    let mut all: Vec<Vec<u32>> = (0..10).flat_map(|_| choices(party, 3, &mut selector)).collect();
    assert_eq!(all[..3], choices(party, 3, &mut Selector::new(9)), "a random state repeats");
    all.sort_unstable();
    assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
}
