//! Noise is what is claimed: never more, and not much less, at every step until a step is refused.

use std::ops::Range;

use hesc_math::Word;
use hesc_schemes::streams::bitwise::{BitCipher, Bitwise};
use hesc_schemes::streams::lattice::{Encoding, Lattice};
use hesc_schemes::streams::{Combine, Compact, Decrypt, Encrypt, Wire};
use hesc_schemes::{Assurance, BitProduct, Packing, SchemeError, UnipolarSlots};
use rand_core::Rng;

use super::arithmetic::counts;
use super::frames::{self, TAGGED};
use super::lattice::LatticeEncryption;
use super::parties::{self, Party, horner, mask_positions, rng, unipolar};

/// Blocks of the batches whose noise is measured.
const BLOCKS: usize = 4;

/// The measured deviation of zeros.
fn measured<S: LatticeEncryption>(party: &Party<S>, zeros: &S::Ciphertexts) -> f64 {
    let phases = party.scheme.phases(&party.secret, zeros);
    let squares: f64 = phases.iter().flatten().map(|&x| (x as f64).powi(2)).sum();
    (squares / phases.iter().map(Vec::len).sum::<usize>() as f64).sqrt()
}

/// Refuses a claim that is not the measured deviation but for what honest ones scatter.
#[track_caller]
fn assert_claim<S: LatticeEncryption>(party: &Party<S>, zeros: &S::Ciphertexts, what: &str) {
    let ratio = measured(party, zeros) / party.scheme.claimed(zeros);
    assert!((ratio - 1.0).abs() < S::SCATTER, "{what}: {ratio} of what is claimed");
}

on_every_lattice!(claims_are_what_is_measured);
/// The deviation of zeros under each key, rerandomised, added to themselves until that is refused, and fused
/// with bases: dependent noise, which is as large as is claimed.
fn claims_are_what_is_measured<S: LatticeEncryption>(party: &Party<S>) {
    let Party { scheme, public, .. } = party;
    let rng = &mut rng(1);
    let (fresh, quiet) = (party.encrypt(BLOCKS, 0, rng), party.encrypt_secretly(BLOCKS, 0, rng));
    assert_claim(party, &fresh, "public key");
    assert_claim(party, &quiet, "secret key");
    assert_claim(party, &scheme.rerandomise(public, &quiet, rng).unwrap(), "rerandomised");
    let own: Vec<_> = (0..BLOCKS).map(|i| (i, i)).collect();
    assert_claim(party, &scheme.combine_pairs(&fresh, &fresh, &own).unwrap(), "pairs");
    assert_claim(party, &scheme.concatenate(&[&fresh, &fresh]).unwrap(), "concatenated");
    let rows: Vec<Vec<_>> = (0..BLOCKS).map(|i| vec![(0, i), (1, i), (0, i)]).collect();
    assert_claim(party, &horner(scheme, &[&fresh, &fresh], &rows, &[3, 2]).unwrap(), "fused");
    let mut sum = fresh;
    let mut doublings = 0;
    let error = loop {
        match scheme.combine(&sum, &sum) {
            Ok(double) => sum = double,
            Err(error) => break error,
        }
        doublings += 1;
        assert_claim(party, &sum, &format!("doubled {doublings} times"));
        assert!(doublings < 120, "the budget has no end");
    };
    assert!(matches!(error, SchemeError::NoiseBudget { .. }), "{error}");
    // The loudest part and the loudest row say what the noise of a batch is, wherever they are.
    for parts in [[&quiet, &sum], [&sum, &quiet]] {
        assert_eq!(scheme.claimed(&scheme.concatenate(&parts).unwrap()), scheme.claimed(&sum));
    }
    let (one, three) = (vec![(0, 0)], vec![(0, 0); 3]);
    let loudest =
        scheme.claimed(&horner(scheme, &[&quiet], std::slice::from_ref(&three), &[2, 2]).unwrap());
    for rows in [[one.clone(), three.clone()], [three, one]] {
        let claimed = scheme.claimed(&horner(scheme, &[&quiet], &rows, &[2, 2]).unwrap());
        assert_eq!(claimed, loudest);
    }
}

/// Deviations that a count keeps from its neighbours, and how near it may come to half of the way: what a budget
/// is counted from. Written down once more, so that no constant changes unnoticed: seven deviations of a Gaussian
/// coefficient, fourteen of a slot of CKKS, a product of two Gaussian numbers, and fifteen on the torus.
fn deviations_kept<W: Word, E: Encoding<W>>(scheme: &Lattice<W, E>) -> f64 {
    let spec = scheme.spec();
    match spec.plaintext {
        hesc_schemes::rlwe::PlaintextSpace::Integers { .. } => 7.0,
        _ if spec.packing == Some(Packing::Coefficients) => 7.0,
        _ => 14.0 * (spec.ring_degree() as f64).sqrt(),
    }
}

/// Share of a count's size that noise may reach.
const LIMIT: f64 = 0.4375;

fn check_budgets<W: Word, E: Encoding<W>>(party: &Party<Lattice<W, E>>) {
    let Party { scheme, secret, .. } = party;
    let mut a = party.encrypt(BLOCKS, 0, &mut rng(2));
    loop {
        let scale = frames::read_f64(&scheme.write(&a), TAGGED + 8);
        let budget = (LIMIT * scale / (deviations_kept(scheme) * scheme.claimed(&a))).log2();
        assert!((scheme.noise_budget(&a) - budget).abs() < 1e-9);
        // Of the largest of 4096 values, or of as many in slots: never beyond what is kept, and some way there.
        let room = scheme.measured_noise_budget(secret, &a).unwrap() - budget;
        let most = if deviations_kept(scheme) > 7.0 { 2.6 } else { 1.3 };
        assert!((0.0..most).contains(&room), "{room} bits more than claimed");
        match scheme.combine(&a, &a) {
            Ok(sum) => a = sum,
            Err(_) => break,
        }
        check_compact(party, &a, scale);
    }
}

/// The compact form has the smallest modulus that leaves noise its room: measured, a bit less would not do.
fn check_compact<W: Word, E: Encoding<W>>(
    party: &Party<Lattice<W, E>>,
    zeros: &<Lattice<W, E> as Encrypt>::Ciphertexts,
    scale: f64,
) {
    let Party { scheme, secret, .. } = party;
    let Ok(compact) = scheme.compact(zeros) else { return };
    assert!(scheme.decrypt(secret, &compact).unwrap().iter().all(|&count| count == 0));
    let frame = scheme.write(&compact);
    let (bits, n) = (u32::from(frame[TAGGED + 4]), scheme.spec().ring_degree());
    let body = frames::body(&frame, TAGGED + 13);
    let word = |i: usize| frames::read_bits(body, i * bits as usize, bits) as i64;
    let ternary = scheme.secret(secret);
    let mut phase: Vec<i64> = (0..n).map(word).collect();
    for (at, &sign) in ternary.iter().enumerate().filter(|(_, sign)| **sign != 0) {
        for i in 0..n {
            let sign = if at + i < n { sign } else { -sign } as i64;
            phase[(at + i) % n] += sign * word(n + i);
        }
    }
    let modulus = 1i64 << bits;
    let centred = |x: &i64| ((x + modulus / 2).rem_euclid(modulus) - modulus / 2) as f64;
    let spread = (phase.iter().map(|x| centred(x).powi(2)).sum::<f64>() / n as f64).sqrt();
    let relative = scale / scheme.spec().coeff_moduli.iter().map(|&q| q as f64).product::<f64>();
    let kept = deviations_kept(scheme) * spread;
    let room = (LIMIT * relative * modulus as f64 / kept).log2();
    // 1024 samples scatter by two per cent, the key's norm by as much: a seventh of a bit is five deviations.
    assert!((-0.2..1.2).contains(&room), "{room} bits of room at {bits} bits");
}

#[test]
fn budgets_count_the_deviations_that_are_kept() {
    check_budgets(parties::bfv_coefficients());
    check_budgets(parties::bfv_slots());
    check_budgets(parties::ckks_coefficients());
    check_budgets(parties::ckks_complex_slots());
    check_budgets(parties::ckks_wide_slots());
}

/// Masks that are the same for blocks of positions of every length a power of two: among them one whose
/// polynomial is as large at every root, so that noise grows by all that is claimed.
fn check_masks<W: Word, E: Encoding<W>>(party: &Party<Lattice<W, E>>, least: f64) {
    let scheme = &party.scheme;
    let rng = &mut rng(3);
    let fresh = party.encrypt(1, 0, rng);
    let positions = scheme.block_length();
    let every = |bit: &dyn Fn(usize) -> bool| -> Vec<u64> {
        (0..positions / 64)
            .map(|w| (0..64).fold(0, |word, i| word | u64::from(bit(64 * w + i)) << i))
            .collect()
    };
    let mut tightest = 0f64;
    let periods = (0..positions.ilog2()).map(|k| every(&|i| i >> k & 1 == 1));
    let others = [every(&|_| true), every(&|i| i == 5), every(&|_| false)];
    for mask in periods.chain(others) {
        let mut a = fresh.clone();
        let (mut before, mut claimed) = (measured(party, &a), scheme.claimed(&a));
        for step in 1.. {
            match mask_positions(scheme, &mut a, &mask) {
                Ok(()) => {}
                Err(SchemeError::NoiseBudget { .. }) => break,
                Err(error) => panic!("{error}"),
            }
            let growth = scheme.claimed(&a) / claimed;
            let found = measured(party, &a);
            // Noise that a mask has bent to itself grows by all that is claimed when it meets it again.
            assert!(found <= 1.16 * scheme.claimed(&a), "step {step}");
            assert!(found <= 1.001 * growth * before, "step {step}: {}", found / before / growth);
            tightest = tightest.max(found / before / growth);
            (before, claimed) = (found, scheme.claimed(&a));
            if step == 6 {
                // Masks that cost nothing are never refused.
                break;
            }
        }
    }
    // The loudest block says what the noise of a batch is.
    let (costly, free) = (every(&|i| i % 3 == 0), every(&|_| true));
    let of = |masks: &[u64]| {
        let mut a = party.encrypt(2, 0, &mut parties::rng(8));
        mask_positions(scheme, &mut a, masks).unwrap();
        scheme.claimed(&a)
    };
    let loudest = of(&[&*costly, &costly].concat());
    for masks in [[&*costly, &free], [&*free, &costly]] {
        assert_eq!(of(&masks.concat()), loudest);
    }
    assert!(tightest > least, "masks are said to cost {} times too much", 1.0 / tightest);
}

#[test]
fn masks_cost_what_is_claimed() {
    check_masks(parties::bfv_slots(), 0.95);
    check_masks(parties::bfv_wide_slots(), 0.95);
    // Masks of approximate numbers are rounded, by what counts of up to sixteen would suffer.
    check_masks(parties::ckks_wide_slots(), 0.75);
}

/// What counts add up to is what the bound says: all ones, added to themselves and fused, are at the bound.
fn check_bounds<C: BitCipher>(party: &Party<Bitwise<C>>) {
    let Party { scheme, secret, .. } = party;
    let mut a = party.encrypt(1, u64::MAX, &mut rng(4));
    let mut ones = 1u32;
    loop {
        let counts = scheme.decrypt(secret, &a).unwrap();
        assert!(counts.iter().all(|&count| count == ones));
        let room = (scheme.max_count(&a) as f64 / f64::from(ones)).log2();
        assert!((scheme.noise_budget(&a) - room).abs() < 1e-12);
        assert_eq!(scheme.measured_noise_budget(secret, &a).unwrap(), scheme.noise_budget(&a));
        match horner(scheme, &[&a], &[vec![(0, 0), (0, 0)]], &[2]) {
            Ok(fused) => a = fused,
            Err(SchemeError::CountBound { count, .. }) => {
                assert_eq!(count, 3 * u64::from(ones));
                break;
            }
            Err(error) => panic!("{error}"),
        }
        ones *= 3;
    }
}

#[test]
fn bounds_are_what_counts_reach() {
    check_bounds(parties::ec_elgamal());
    check_bounds(parties::ec_elgamal_secp256r1());
    check_bounds(parties::elgamal());
}

/// Products of ever more factors, one after the other and pair by pair, are right until they are
/// refused; the estimate of noise is never above the truth, nor far below it.
fn check_multiplies_until_it_refuses(
    scheme: &UnipolarSlots,
    bits_a_factor: f64,
    expected: [Range<usize>; 2],
) {
    let length = scheme.block_length();
    let rng = &mut rng(22);
    let (secret, public) = scheme.generate_keys(rng);
    // Bits are mostly ones, so that products are not all zero.
    let x: Vec<u64> =
        (0..16 * length / 64).map(|_| (0..3).fold(0, |w, _| w | rng.next_u64())).collect();
    let bits = counts(&x);
    let fresh = scheme.encrypt(&public, &x, rng).unwrap();
    let conjunction = |factors: usize| -> Vec<u32> {
        let product = |i| (0..factors).fold(1, |all, block| all & bits[length * block + i]);
        (0..length).map(product).collect()
    };
    let check = |a: &_, factors: usize| {
        assert_eq!(scheme.decrypt(&secret, a).unwrap(), conjunction(factors));
        let (claimed, measured) =
            (scheme.noise_budget(a), scheme.measured_noise_budget(&secret, a).unwrap());
        let room = measured - claimed;
        assert!((0.0..bits_a_factor * factors as f64).contains(&room), "{factors}: {room} bits");
    };
    let mut chain = scheme.select(&fresh, &[0]).unwrap();
    let mut factors = 1;
    let error = loop {
        match scheme.combine_pairs(&chain, &fresh, &[(0, factors)]) {
            Ok(next) => chain = next,
            Err(error) => break error,
        }
        factors += 1;
        check(&chain, factors);
    };
    assert!(matches!(error, SchemeError::NoiseBudget { .. }), "{error}");
    assert!(expected[0].contains(&factors), "{factors} one after the other");
    let mut most = 0;
    for factors in 2..=15 {
        let row = (0..factors).map(|block| (0, block)).collect();
        match scheme.combine_rows(&[&fresh], &[row]) {
            Ok(product) => {
                check(&product, factors);
                most = factors;
            }
            Err(error) => assert!(matches!(error, SchemeError::NoiseBudget { .. }), "{error}"),
        }
    }
    assert!(expected[1].contains(&most), "{most} in pairs");
}

#[test]
fn unipolar_slots_multiply_until_they_refuse() {
    let bfv = UnipolarSlots::new(unipolar(4096, 8), Assurance::Insecure).unwrap();
    check_multiplies_until_it_refuses(&bfv, 2.0, [11..13, 15..16]);
    check_multiplies_until_it_refuses(&parties::unipolar_bgv(4096, 8), 4.0, [10..12, 15..16]);
    check_multiplies_until_it_refuses(&parties::unipolar_binary(4369, 4), 4.0, [9..11, 12..14]);
}

/// Squares of squares, masks and public factors of all ones or of few, rerandomised in between, until each is
/// refused: as in the clear, with no less room than is claimed, and at most seventeen bits more. Only where one
/// plaintext multiplies BGV again and again is the claim far off, up to twelve bits a product: each may have all
/// of its size where the noise has.
#[test]
fn dependent_factors_leave_the_room_that_is_claimed() {
    check_dependent_factors(parties::unipolar_bfv_slots(), 15.0);
    check_dependent_factors(parties::unipolar_bgv_slots(), f64::INFINITY);
    check_dependent_factors(parties::unipolar_binary_slots(), f64::INFINITY);
}

fn check_dependent_factors(party: &Party<UnipolarSlots>, most_of_plain: f64) {
    let Party { scheme, secret, public, .. } = party;
    assert_eq!(scheme.bit_product(), BitProduct::Conjunction);
    let rng = &mut rng(5);
    for word in [u64::MAX, 0x8000_0000_0000_0001] {
        let bits = party.filled(1, word);
        type Step<'a, C> = Box<dyn FnMut(&mut C) -> Result<(), SchemeError> + 'a>;
        let steps: [Step<'_, <UnipolarSlots as Encrypt>::Ciphertexts>; 4] = [
            Box::new(|a| scheme.combine(a, a).map(|product| *a = product)),
            Box::new(|a| scheme.combine_bits_assign(a, &bits)),
            Box::new(|a| {
                // Ones where the mask is not set are taken away again.
                mask_positions(scheme, a, &bits)?;
                scheme.combine_bits_assign(a, &bits)
            }),
            Box::new(|a| scheme.rerandomise(public, a, rng).map(|fresh| *a = fresh)),
        ];
        let fresh = party.encrypt(1, word, &mut super::parties::rng(6));
        for (kind, mut step) in steps.into_iter().enumerate() {
            let mut a = fresh.clone();
            for count in 0..40 {
                match step(&mut a) {
                    Ok(()) => {}
                    Err(
                        SchemeError::NoiseBudget { .. } | SchemeError::TooManyComponents { .. },
                    ) => {
                        break;
                    }
                    Err(error) => panic!("step {kind}: {error}"),
                }
                assert_eq!(scheme.decrypt(secret, &a).unwrap(), counts(&bits), "step {kind}");
                let (claimed, measured) =
                    (scheme.noise_budget(&a), scheme.measured_noise_budget(secret, &a).unwrap());
                let room = measured - claimed;
                let most = if matches!(kind, 1 | 2) { most_of_plain } else { 17.0 };
                assert!((0.0..most).contains(&room), "step {kind}, {count}: {room} bits");
            }
        }
    }
}

#[cfg(feature = "tfhe")]
#[test]
fn budgets_on_the_torus_keep_fifteen_deviations() {
    let party = parties::torus();
    let Party { scheme, secret, .. } = party;
    let mut a = party.encrypt(BLOCKS, 0, &mut rng(7));
    loop {
        let budget = |deviation: f64| (64f64.exp2() / 64.0 / (15.0 * deviation)).log2();
        assert!((scheme.noise_budget(&a) - budget(scheme.claimed(&a))).abs() < 1e-9);
        // The worst of four blocks of 512 values, whose noise shares factors: -0.22 bits over 60 draws, with a deviation
        // of 0.11. Seven of them.
        let room = scheme.measured_noise_budget(secret, &a).unwrap() - budget(measured(party, &a));
        assert!((-1.0..0.001).contains(&room), "{room}");
        // The compact form: the fewest bits that keep as many deviations, rounding included.
        let compact = scheme.compact(&a).unwrap();
        assert!(scheme.decrypt(secret, &compact).unwrap().iter().all(|&count| count == 0));
        let bits = scheme.write(&compact)[TAGGED + 5];
        let with_rounding = |bits: u8| {
            let rounding = (64.0 - f64::from(bits)).exp2() * (257.0 / 12.0f64).sqrt();
            budget(measured(party, &a).hypot(rounding))
        };
        assert!(with_rounding(bits) > -0.25 && with_rounding(bits - 1) < 0.25);
        match scheme.combine(&a, &a) {
            Ok(sum) => a = sum,
            Err(_) => break,
        }
    }
}
