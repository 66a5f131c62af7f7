//! Fusion and counts: what fits is right to the last count, and what does not fit is refused.

use hesc_circuits::{Answer, CircuitError, Fusion, Layout, Streams};
use hesc_schemes::{BitProduct, Packing, Plain, Scheme, SchemeError};
use hesc_stochastic::{BitStreams, Generator};
use proptest::prelude::*;

use super::hostile::frames::Family;
use super::party::{Law, Party, bfv, close, decode, draw, on_all_schemes};

const LENGTH: usize = 64;
const LAYOUT: Layout = Layout::OnePerBlock;
/// Beyond, arrays would be too large for a law that is held against every scheme.
const MOST: u64 = 40;

/// Streams of ones alone from so many draws: every position of their product counts as many as there can
/// be.
fn ones<S: Scheme>(party: &mut Party<S>, elements: usize, of_draw: u64) -> Streams<S> {
    let bits = BitStreams::from_words(vec![u64::MAX; elements], LENGTH).unwrap();
    party.encrypt_bits(&bits, draw(of_draw), LAYOUT)
}

fn digits<S: Scheme>(x: &Streams<S>, bases: Vec<u64>) -> Result<Answer<S>, CircuitError> {
    Answer::new(x).unwrap().fuse(&Fusion::Digits { bases })
}

/// What the scheme itself has no room for, whatever counts fit.
fn no_room<T>(result: &Result<T, CircuitError>) -> bool {
    matches!(
        result,
        Err(CircuitError::Scheme(
            SchemeError::NoiseBudget { .. }
                | SchemeError::CountBound { .. }
                | SchemeError::Parameter { .. }
        ))
    )
}

/// Digits of the smallest base, of the largest, and as many as there is room for; then one beyond each.
struct DigitsToTheLast;

impl Law for DigitsToTheLast {
    fn holds_on<S: Scheme>(&self, scheme: S, family: Family) {
        if scheme.bit_product() == BitProduct::Conjunction {
            return;
        }
        let party = &mut Party::new(scheme, Generator::Bernoulli, LENGTH);
        if party.scheme.refusal("fusion").is_some() {
            assert_eq!(refused(digits(&ones(party, 6, 0), vec![2])), Some("fusion"));
            assert_eq!(refused(digits(&ones(party, 1, 0), vec![2])), Some("fusion"));
            return;
        }
        let pairs: Vec<(usize, usize)> = (0..6).map(|i| (i, i)).collect();
        let mut product = ones(party, 6, 0);
        for factors in 1..=3u64 {
            if factors > 1 {
                match product.multiply(&ones(party, 6, factors), &pairs) {
                    Ok(longer) => product = longer,
                    result => {
                        assert!(no_room(&result) || factors > product.capacity());
                        break;
                    }
                }
            }
            let capacity = product.capacity();
            if factors > capacity {
                break;
            }
            let expected = party.decrypt(&product);
            let value = |bases: &[u64]| {
                bases.iter().fold(u128::from(factors), |value, base| {
                    value * u128::from(*base) + u128::from(factors)
                })
            };
            let mut right = 0;
            let mut check = |answer: Result<Answer<S>, CircuitError>, fits: bool| match answer {
                Ok(answer) => {
                    assert!(fits, "{}: {factors} factors", party.scheme.name());
                    assert!(close(&party.read(&answer), &expected), "{}", party.scheme.name());
                    right += 1;
                }
                Err(error) => {
                    let overflow = matches!(error, CircuitError::FusionOverflow { .. });
                    if let CircuitError::FusionOverflow { base, most, max_count, .. } = error {
                        // As many digits of the largest base as it says fit, and no more.
                        assert_eq!(max_count, capacity);
                        let digits = |count| value(&vec![base; count - 1]);
                        assert!(digits(most) <= u128::from(capacity));
                        assert!(digits(most + 1) > u128::from(capacity));
                    }
                    assert_eq!(overflow, !fits, "{factors} factors: {error}");
                    assert!(overflow || no_room::<()>(&Err(error)));
                }
            };
            // A digit of its own base would be the next digit's one.
            let base = digits(&product, vec![factors]).err();
            assert_eq!(base, Some(CircuitError::FusionBase { base: factors, max_digit: factors }));
            for digits_in_one in 2..=6 {
                let bases = vec![factors + 1; digits_in_one - 1];
                let fits = value(&bases) <= u128::from(capacity);
                check(digits(&product, bases), fits);
            }
            // The largest base that two digits have room for.
            let largest = (capacity - factors) / factors;
            if largest > factors {
                check(digits(&product, vec![largest]), true);
                check(digits(&product, vec![largest + 1]), false);
                // Of three, where only the first base grows.
                let first = (capacity - factors) / (factors + 1);
                let first = (first.saturating_sub(factors)) / factors;
                if first > factors {
                    check(digits(&product, vec![first, factors + 1]), true);
                    check(digits(&product, vec![first + 1, factors + 1]), false);
                }
            }
            if family == Family::Clear && capacity > 30 {
                assert!(right > 1, "nothing was fused");
            }
        }
    }
}

#[test]
fn digits_fit_to_the_last_count_and_not_beyond() {
    on_all_schemes(&DigitsToTheLast);
}

/// The operation that a scheme does not have.
fn refused<T>(result: Result<T, CircuitError>) -> Option<&'static str> {
    match result.err()? {
        CircuitError::Scheme(SchemeError::NotInScheme { operation, .. }) => Some(operation),
        _ => None,
    }
}

/// As many streams in one block as it has room for, and one more.
struct OnesToTheLast;

impl Law for OnesToTheLast {
    fn holds_on<S: Scheme>(&self, scheme: S, _: Family) {
        let party = &mut Party::new(scheme, Generator::Bernoulli, LENGTH);
        let capacity = ones(party, 1, 0).capacity();
        if capacity > MOST || party.scheme.bit_product() == BitProduct::Conjunction {
            return;
        }
        if party.scheme.refusal("fusion").is_some() {
            let sum = ones(party, 2, 0).sum_groups(2).unwrap();
            assert_eq!(refused(Answer::new(&sum).unwrap().fuse(&Fusion::Ones)), Some("fusion"));
            return;
        }
        for elements in [capacity, capacity + 1] {
            let sum = ones(party, elements as usize, 0).sum_groups(elements as usize).unwrap();
            let fused = Answer::new(&sum).unwrap().fuse(&Fusion::Ones);
            match fused {
                // A single stream is fused with nothing.
                Err(CircuitError::FusionOfOnes { .. }) => assert_eq!(elements, 1),
                Err(CircuitError::FusionOverflow { max_count, most, .. }) => {
                    assert_eq!((max_count, most as u64), (capacity, capacity));
                    assert_eq!(elements, capacity + 1);
                }
                Ok(answer) => {
                    assert_eq!((answer.blocks(), elements), (1, capacity));
                    assert!(close(&party.read(&answer), &[-(capacity as f64)]));
                }
                Err(error) => panic!("{}: {error}", party.scheme.name()),
            }
        }
    }
}

#[test]
fn positions_hold_as_many_ones_as_they_say() {
    on_all_schemes(&OnesToTheLast);
}

/// Products of as many factors as counts have room for, then one more: refused, or the parity survives.
struct FactorsToTheLast;

impl Law for FactorsToTheLast {
    fn holds_on<S: Scheme>(&self, scheme: S, _: Family) {
        let party = &mut Party::new(scheme, Generator::Bernoulli, LENGTH);
        let survives = party.scheme.parity_survives_wrap();
        let mut product = ones(party, 1, 0);
        let capacity = product.capacity();
        if party.scheme.bit_product() == BitProduct::Conjunction || capacity > MOST {
            return;
        }
        for factors in 2..=capacity + 2 {
            assert_eq!(product.max_count(), factors - 1);
            // An exclusive or with ones in the clear counts as much as a factor.
            for longer in [product.multiply(&ones(party, 1, factors), &[(0, 0)]), product.negate()]
            {
                match longer {
                    Ok(longer) => {
                        assert!(survives || factors <= capacity, "{}", party.scheme.name());
                        let sign = if factors % 2 == 0 { 1.0 } else { -1.0 };
                        assert!(close(&party.decrypt(&longer), &[sign]), "{factors}");
                    }
                    Err(CircuitError::CountOverflow { factors: refused, max_count }) => {
                        assert_eq!((refused, max_count), (capacity + 1, capacity));
                        assert!(!survives && factors == capacity + 1);
                    }
                    result => assert!(no_room(&result), "{}: {factors}", party.scheme.name()),
                }
            }
            match product.multiply(&ones(party, 1, factors), &[(0, 0)]) {
                Ok(longer) => product = longer,
                Err(_) => break,
            }
        }
    }
}

#[test]
fn factors_count_to_the_last() {
    on_all_schemes(&FactorsToTheLast);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Any bases that are large enough, any number of blocks, in both forms of the wire.
    #[test]
    fn fusion_and_separation_return_the_counts(
        elements in 1usize..9,
        bases in prop::collection::vec(3u64..6, 0..4),
        compact: bool,
    ) {
        let party =
            &mut Party::new(bfv::<u64>(256, 45, Packing::Coefficients, 1024), Generator::Bernoulli, 90);
        let values: Vec<f64> = (0..elements).map(|i| i as f64 / 10.0 - 0.4).collect();
        let (x, _) = party.encrypt(&values, Layout::OnePerBlock);
        let (y, _) = party.encrypt(&values, Layout::OnePerBlock);
        let pairs: Vec<_> = (0..elements).map(|i| (i, i)).collect();
        let product = x.multiply(&y, &pairs).unwrap();
        let expected = party.decrypt(&product);
        let mut fused =
            Answer::new(&product).unwrap().fuse(&Fusion::Digits { bases: bases.clone() }).unwrap();
        prop_assert_eq!(fused.blocks(), elements.div_ceil((bases.len() + 1).min(elements)));
        if compact {
            fused = fused.compact().unwrap();
        }
        let read = Answer::from_bytes(&party.scheme, &fused.to_bytes()).unwrap();
        prop_assert!(close(&party.read(&read), &expected));
    }
}

/// The paper's own W = 6, N = 6 at t = 12289: 6^6 wraps. It is refused, and five digits fit.
#[test]
fn the_papers_fusion_overflows_and_is_refused() {
    let party =
        &mut Party::new(bfv::<u32>(1024, 27, Packing::Slots, 12_289), Generator::Bernoulli, 64);
    let values = [0.1; 6];
    let (x, _) = party.encrypt(&values, Layout::OnePerBlock);
    let answer = || Answer::new(&x).unwrap();
    // Counts up to 5, the six factors of its Iris network less one, need base 6: five digits of
    // largest count 1 are far below that, so the bound is tested on the scheme without noise.
    let plain = &mut Party::new(Plain::new(1024, 12_289).unwrap(), Generator::Bernoulli, 64);
    let (mut product, _) = plain.encrypt(&values, Layout::OnePerBlock);
    let pairs: Vec<_> = (0..6).map(|i| (i, i)).collect();
    for _ in 1..5 {
        let (factor, _) = plain.encrypt(&[0.9; 6], Layout::OnePerBlock);
        product = product.multiply(&factor, &pairs).unwrap();
    }
    let refused =
        Answer::new(&product).unwrap().fuse(&Fusion::Digits { bases: vec![6; 5] }).err().unwrap();
    let expected = CircuitError::FusionOverflow {
        digits: 6,
        base: 6,
        needed: "46655".to_owned(),
        max_count: 12_288,
        most: 5,
    };
    assert_eq!(refused, expected);
    let five = Answer::new(&product).unwrap().fuse(&Fusion::Digits { bases: vec![6; 4] }).unwrap();
    assert!(close(&plain.read(&five), &plain.decrypt(&product)));

    let base = answer().fuse(&Fusion::Digits { bases: vec![1] });
    assert!(matches!(base, Err(CircuitError::FusionBase { base: 1, max_digit: 1 })));
    let once = answer().fuse(&Fusion::Digits { bases: vec![2] }).unwrap();
    assert!(matches!(once.fuse(&Fusion::Ones), Err(CircuitError::Fused)));
    // The noise of ten thousandfold scaling does not fit 27 bits.
    let noisy = answer().fuse(&Fusion::Digits { bases: vec![1000] });
    assert!(matches!(noisy, Err(CircuitError::Scheme(SchemeError::NoiseBudget { .. }))));
}

#[test]
fn fusion_of_ones_adds_positions() {
    let party =
        &mut Party::new(bfv::<u32>(512, 26, Packing::Coefficients, 16), Generator::Sobol, 600);
    let (x, bx) = party.encrypt(&[0.5, -0.25, 0.125, 1.0], Layout::OnePerBlock);
    let sum = x.sum_groups(4).unwrap();
    let fused = Answer::new(&sum).unwrap().fuse(&Fusion::Ones).unwrap();
    assert_eq!((Answer::new(&sum).unwrap().blocks(), fused.blocks()), (8, 2));
    let fused = Answer::from_bytes(&party.scheme, &fused.to_bytes()).unwrap();
    assert!(close(&party.read(&fused), &[decode(&bx).iter().sum()]));
    // Four sums of different elements share no arrangement; products are counts.
    let apart = Answer::new(&x).unwrap().fuse(&Fusion::Ones);
    assert!(matches!(apart, Err(CircuitError::FusionOfOnes { .. })));
    let (y, _) = party.encrypt(&[0.5; 4], Layout::OnePerBlock);
    let product = x.multiply(&y, &[(0, 0), (1, 1)]).unwrap().sum_groups(2).unwrap();
    let counts = Answer::new(&product).unwrap().fuse(&Fusion::Ones);
    assert!(matches!(counts, Err(CircuitError::FusionOfOnes { .. })));
    // More than the plaintext modulus holds.
    let (many, _) = party.encrypt(&[0.5; 20], Layout::OnePerBlock);
    let overflow = Answer::new(&many.sum_groups(20).unwrap()).unwrap().fuse(&Fusion::Ones);
    assert!(matches!(overflow, Err(CircuitError::FusionOverflow { max_count: 15, .. })));
}
