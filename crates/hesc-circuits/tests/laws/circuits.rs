//! The HESC operations on every scheme, against the same operations on streams in the clear.

use hesc_circuits::{Answer, CircuitError, Fusion, Layout, Plaintext, SeededStreams, Streams};
use hesc_math::{AesCtrRng, ntt_primes};
use hesc_schemes::rlwe::{PlaintextSpace, SchemeKind, Spec};
use hesc_schemes::streams::elgamal::{Ffdhe3072, Ristretto255, Secp256r1};
use hesc_schemes::{
    Assurance, Bfv, BitProduct, EcElgamal, EcElgamalSecp256r1, Elgamal, Gm, Packing, Plain, Scheme,
    SchemeError, Simulated, UnipolarElgamal,
};
use hesc_stochastic::{BitStreams, Generator, Representation, Selector};
use rand_core::SeedableRng;

use super::party::{Party, bfv, ckks, close, decode, plaintext, unipolar, unipolar_binary};

/// What holds on any scheme.
fn check_operations<S: Scheme>(scheme: S, factors: usize) {
    let pairs: Vec<(usize, usize)> = (0..3).map(|i| (i, i)).collect();
    // Not a multiple of 64, so that offsets cross words.
    let length = 100;
    for layout in [Layout::OnePerBlock, Layout::SideBySide] {
        if layout == Layout::SideBySide && length > scheme.block_length() {
            continue;
        }
        let party = &mut Party::new(scheme.clone(), Generator::Bernoulli, length);
        let (x, bx) = party.encrypt(&[0.3, -0.7, 0.1], layout);
        assert!(close(&party.decrypt(&x), &decode(&bx)));

        let (mut product, mut bits) = (x.clone(), bx.clone());
        for _ in 1..factors {
            let (y, by) = party.encrypt(&[0.9, -0.8, 0.5], layout);
            product = product.multiply(&y, &pairs).unwrap();
            bits = bits.xor(&by).unwrap();
        }
        assert!(close(&party.decrypt(&product), &decode(&bits)), "products are exclusive ors");

        let minus: Vec<f64> = decode(&bx).iter().map(|v| -v).collect();
        assert!(close(&party.decrypt(&x.negate().unwrap()), &minus));

        let (constants, origin) = party.encoder.encode(&[0.5, 0.25, -1.0]).unwrap();
        let times = x.multiply_bits(&constants, Representation::InvertedBipolar, origin).unwrap();
        assert!(close(&party.decrypt(&times), &decode(&bx.xor(&constants).unwrap())));

        let sum = product.sum_groups(3).unwrap();
        let expected: f64 = decode(&bits).iter().sum();
        assert!(close(&party.decrypt(&sum), &[expected]), "sums are exact");
        let scaled = party.decrypt(&x.scale(&[2.0, -3.5, 0.0]).unwrap());
        let v = decode(&bx);
        assert!(close(&scaled, &[2.0 * v[0], -3.5 * v[1], 0.0]));
        let both = x.add(&product, &pairs).unwrap();
        let expected: Vec<f64> = v.iter().zip(decode(&bits)).map(|(a, b)| a + b).collect();
        assert!(close(&party.decrypt(&both), &expected));
        let chosen = x.select(&[2, 0]).unwrap().append(&x).unwrap();
        assert!(close(&party.decrypt(&chosen), &[v[2], v[0], v[0], v[1], v[2]]));

        // (a + b) c multiplies out.
        let (c, bc) = party.encrypt(&[-0.4; 3], layout);
        let distributed = x.sum_groups(3).unwrap().multiply(&c, &[(0, 0)]);
        if layout == Layout::OnePerBlock {
            let c = bc.row(0).to_vec();
            let terms = (0..3).map(|i| {
                let row = BitStreams::from_words(bx.row(i).to_vec(), 100).unwrap();
                decode(&row.xor(&BitStreams::from_words(c.clone(), 100).unwrap()).unwrap())[0]
            });
            assert!(close(&party.decrypt(&distributed.unwrap()), &[terms.sum()]));
        } else {
            assert!(matches!(distributed, Err(CircuitError::Misaligned { .. })));
        }

        let read = Streams::from_bytes(&party.scheme, &both.to_bytes()).unwrap();
        assert!(close(&party.decrypt(&read), &expected));
        let clear = plaintext(&bx, origin, layout);
        let seeded =
            SeededStreams::encrypt(&party.scheme, &party.secret, &clear, &mut party.rng).unwrap();
        let seeded = SeededStreams::from_bytes(&party.scheme, &seeded.to_bytes()).unwrap();
        assert!(close(&party.decrypt(&seeded.expand().unwrap()), &v));
        match Answer::new(&product).unwrap().compact() {
            Ok(answer) => {
                let answer = Answer::from_bytes(&party.scheme, &answer.to_bytes()).unwrap();
                assert!(close(&party.read(&answer), &decode(&bits)), "compact answers decrypt");
            }
            // Counts in slots and CKKS with its scale far below the modulus have no small modulus.
            Err(error) => {
                assert!(matches!(error, CircuitError::Scheme(SchemeError::CannotCompact { .. })));
                assert_ne!(party.scheme.packing(), Packing::Coefficients);
            }
        }
        check_refusals(party, &x, &product);
    }
}

fn check_refusals<S: Scheme>(party: &mut Party<S>, x: &Streams<S>, product: &Streams<S>) {
    let squared = x.multiply(x, &[(0, 0)]).err().unwrap();
    assert!(matches!(&squared, CircuitError::Correlated { .. }));
    assert!(squared.to_string().contains("independent copy"), "{squared}");
    assert!(matches!(product.multiply(x, &[(0, 1)]), Err(CircuitError::Correlated { .. })));

    let other = &mut Party::new(party.scheme.clone(), Generator::Bernoulli, 64);
    let (short, _) = other.encrypt(&[0.5], Layout::OnePerBlock);
    let refused = x.multiply(&short, &[(0, 0)]);
    assert!(matches!(refused, Err(CircuitError::StreamLength { left: 100, right: 64 })));
    assert!(matches!(x.select(&[3]), Err(CircuitError::Element { index: 3, elements: 3 })));
    assert!(matches!(x.select(&[]), Err(CircuitError::Empty)));
    assert!(matches!(x.scale(&[f64::NAN; 3]), Err(CircuitError::Weight { index: 0, .. })));
    assert!(matches!(x.sum_groups(2), Err(CircuitError::Length { .. })));

    // Another key pair of the same parameters.
    let (secret, public) = party.scheme.generate_keys(&mut AesCtrRng::from_seed([9; 32]));
    let foreign = Answer::new(x).unwrap().decrypt(&secret).err().unwrap();
    assert!(matches!(foreign, CircuitError::Scheme(SchemeError::KeyMismatch { .. })));
    let (bits, origin) = party.encoder.encode(&[0.1; 3]).unwrap();
    let clear = plaintext(&bits, origin, Layout::OnePerBlock);
    let y = Streams::encrypt(&party.scheme, &public, &clear, &mut party.rng);
    let refused = x.multiply(&y.unwrap(), &[(0, 0)]);
    if let Err(error) = refused {
        assert!(matches!(error, CircuitError::Scheme(SchemeError::KeyMismatch { .. })));
    } else {
        panic!("ciphertexts of different keys were added");
    }

    // Unipolar streams have no product on a scheme that adds.
    let (bits, origin) = party.encoder.encode(&[0.1]).unwrap();
    let clear = plaintext(&bits, origin, Layout::OnePerBlock);
    let clear = Plaintext { representation: Representation::Unipolar, ..clear };
    let up = Streams::encrypt(&party.scheme, &party.public, &clear, &mut party.rng).unwrap();
    assert!(matches!(up.negate(), Err(CircuitError::Representation { .. })));
    assert!(matches!(x.add(&up, &[(0, 0)]), Err(CircuitError::Representations { .. })));
}

#[test]
fn operations_hold_on_plain() {
    check_operations(Plain::new(256, 2).unwrap(), 4);
    check_operations(Plain::new(1024, 64).unwrap(), 3);
}

#[test]
fn operations_hold_on_simulations() {
    let scheme = Simulated::new(320, BitProduct::ExclusiveOr).unwrap();
    check_operations(scheme.clone(), 4);
    check_multiplexing(scheme);
    check_unipolar(Simulated::new(128, BitProduct::Conjunction).unwrap());
}

#[test]
fn operations_hold_on_bfv() {
    check_operations(bfv::<u32>(1024, 26, Packing::Coefficients, 2), 4);
    check_operations(bfv::<u32>(512, 27, Packing::Coefficients, 37), 3);
    check_operations(bfv::<u32>(1024, 27, Packing::Slots, 12_289), 2);
}

#[test]
fn operations_hold_on_ckks() {
    check_operations(ckks(Packing::ComplexSlots), 3);
    check_operations(ckks(Packing::Slots), 3);
}

#[test]
fn operations_hold_on_ec_elgamal() {
    check_operations(EcElgamal::new(16).unwrap(), 4);
    check_multiplexing(EcElgamal::new(16).unwrap());
    check_operations(EcElgamalSecp256r1::new(16).unwrap(), 4);
}

#[test]
fn operations_hold_on_elgamal() {
    check_operations(Elgamal::new(16).unwrap(), 4);
}

#[test]
fn operations_hold_on_goldwasser_micali() {
    let scheme = Gm::new(2048, Assurance::Insecure).unwrap();
    check_operations(scheme.clone(), 4);
    check_multiplexing(scheme);
}

/// Products of unipolar streams are conjunctions, sums and constants as ever.
fn check_unipolar<S: Scheme>(scheme: S) {
    let party = &mut Party::new(scheme, Generator::Bernoulli, 100);
    let rng = &mut AesCtrRng::from_seed([3; 32]);
    let mut encrypt = |party: &mut Party<S>, values: &[f64]| {
        let (bits, origin) = party.encoder.encode(values).unwrap();
        let clear = plaintext(&bits, origin, Layout::OnePerBlock);
        let clear = Plaintext { representation: Representation::Unipolar, ..clear };
        (Streams::encrypt(&party.scheme, &party.public, &clear, rng).unwrap(), bits, origin)
    };
    let (x, bx, _) = encrypt(party, &[0.5, -0.5]);
    let (y, by, _) = encrypt(party, &[0.2, -1.0]);
    let (_, bz, oz) = encrypt(party, &[0.1, 0.9]);
    let share = |words: &dyn Fn(usize, usize) -> u64, row: usize| {
        f64::from((0..2).map(|w| words(row, w).count_ones()).sum::<u32>()) / 100.0
    };
    let product = x.multiply(&y, &[(0, 0), (1, 1)]).unwrap();
    let both = |i: usize, w: usize| bx.row(i)[w] & by.row(i)[w];
    let expected = [share(&both, 0), share(&both, 1)];
    assert!(close(&party.decrypt(&product), &expected));
    let constant = product.multiply_bits(&bz, Representation::Unipolar, oz).unwrap();
    let all = |i: usize, w: usize| both(i, w) & bz.row(i)[w];
    assert!(close(&party.decrypt(&constant), &[share(&all, 0), share(&all, 1)]));
    let fresh = constant.rerandomise(&party.public, 1, &mut AesCtrRng::from_seed([4; 32])).unwrap();
    assert!(close(&party.decrypt(&fresh), &party.decrypt(&constant)));
    let mean = x.multiplexed_sum(&[1.0, 0.0], &mut Selector::new(1)).unwrap();
    assert!(close(&party.decrypt(&mean), &[share(&|i, w| bx.row(i)[w], 0)]));
    let sum = x.add(&y, &[(0, 1)]).unwrap();
    let parts = [share(&|i, w| bx.row(i)[w], 0), share(&|i, w| by.row(i)[w], 1)];
    assert!(close(&party.decrypt(&sum), &[parts[0] + parts[1]]));
    // What needs an exclusive or is refused.
    let (bits, origin) = party.encoder.encode(&[0.1, 0.2]).unwrap();
    let clear = plaintext(&bits, origin, Layout::OnePerBlock);
    let bipolar = Streams::encrypt(&party.scheme, &party.public, &clear, &mut party.rng).unwrap();
    assert!(matches!(bipolar.negate(), Err(CircuitError::Representation { .. })));
    let squared = bipolar.multiply(&bipolar, &[(0, 1)]);
    assert!(matches!(squared, Err(CircuitError::Representation { .. })));
    use Representation::{InvertedBipolar, Unipolar};
    let alike = bipolar.multiply_bits(&bz, InvertedBipolar, oz);
    assert!(matches!(alike, Err(CircuitError::Representation { .. })));
    // The same bits are other numbers in the other representation.
    let mixed = [
        x.multiply_bits(&bz, InvertedBipolar, oz),
        bipolar.multiply_bits(&bz, Unipolar, oz),
        x.multiply(&bipolar, &[(0, 0)]),
        x.add(&bipolar, &[(0, 0)]),
        x.append(&bipolar),
    ];
    assert!(mixed.iter().all(|m| matches!(m, Err(CircuitError::Representations { .. }))));
    let seeded = SeededStreams::encrypt(
        &party.scheme,
        &party.secret,
        &Plaintext { representation: Representation::Unipolar, ..clear },
        &mut party.rng,
    );
    let expanded = seeded.unwrap().expand().unwrap();
    let expected = [share(&|i, w| bits.row(i)[w], 0), share(&|i, w| bits.row(i)[w], 1)];
    assert!(close(&party.decrypt(&expanded), &expected));
}

#[test]
fn unipolar_streams_multiply_on_multiplicative_elgamal() {
    check_unipolar(UnipolarElgamal::over(Ristretto255));
    check_unipolar(UnipolarElgamal::over(Secp256r1));
    check_unipolar(UnipolarElgamal::over(Ffdhe3072::default()));
}

#[test]
fn unipolar_streams_multiply_in_slots() {
    check_unipolar(unipolar(SchemeKind::Bfv));
    check_unipolar(unipolar(SchemeKind::Bgv));
    check_unipolar(unipolar_binary());
}

#[test]
fn rerandomised_ciphertexts_differ_and_decrypt_alike() {
    fn check<S: Scheme>(scheme: S) {
        let party = &mut Party::new(scheme, Generator::Sobol, 64);
        let (x, _) = party.encrypt(&[0.5, -0.25], Layout::OnePerBlock);
        let fresh = x.rerandomise(&party.public, 1, &mut AesCtrRng::from_seed([5; 32])).unwrap();
        assert!(close(&party.decrypt(&fresh), &party.decrypt(&x)));
        assert_ne!(fresh.to_bytes(), x.to_bytes());
        let (_, stranger) = party.scheme.generate_keys(&mut AesCtrRng::from_seed([6; 32]));
        let refused = x.rerandomise(&stranger, 1, &mut AesCtrRng::from_seed([5; 32]));
        assert!(matches!(refused, Err(CircuitError::Scheme(SchemeError::KeyMismatch { .. }))));
    }
    check(EcElgamalSecp256r1::new(2).unwrap());
    check(Gm::new(2048, Assurance::Insecure).unwrap());
    check(bfv::<u32>(1024, 26, Packing::Coefficients, 2));
}

#[test]
fn streams_longer_than_a_block_spread() {
    let party =
        &mut Party::new(bfv::<u32>(256, 26, Packing::Coefficients, 64), Generator::Sobol, 700);
    let (x, bx) = party.encrypt(&[0.5, -0.25], Layout::OnePerBlock);
    let (y, by) = party.encrypt(&[0.75, 0.5], Layout::OnePerBlock);
    let product = x.multiply(&y, &[(0, 1), (1, 0)]).unwrap();
    assert_eq!(product.blocks(), 6);
    let values = party.decrypt(&product);
    let crossed = [by.row(1), by.row(0)].concat();
    let expected = bx.xor(&BitStreams::from_words(crossed, 700).unwrap()).unwrap();
    assert!(close(&values, &decode(&expected)));
    // Digits may cut a stream in two.
    let fused = Answer::new(&product).unwrap().fuse(&Fusion::Digits { bases: vec![3; 2] });
    assert!(close(&party.read(&fused.unwrap()), &values));
    let (bits, origin) = party.encoder.encode(&[0.5]).unwrap();
    let clear = plaintext(&bits, origin, Layout::SideBySide);
    let result = Streams::encrypt(&party.scheme, &party.public, &clear, &mut party.rng);
    assert!(matches!(result, Err(CircuitError::DoesNotFit { .. })));
}

fn check_multiplexing<S: Scheme>(scheme: S) {
    let length = 2048;
    let party = &mut Party::new(scheme, Generator::ExactWeight, length);
    let values = [0.9, -0.5, 0.25, 0.1, 0.2, 0.3];
    let (x, _) = party.encrypt(&values, Layout::OnePerBlock);
    let mut selector = Selector::new(4);
    let sums = x.multiplexed_combination(&[0.5, -1.5, 2.0], &mut selector).unwrap();
    assert_eq!((sums.elements(), sums.terms_per_element()), (2, 1));
    let expected = [0.45 + 0.75 + 0.5, 0.05 - 0.3 + 0.6];
    for (value, expected) in party.decrypt(&sums).iter().zip(expected) {
        // Weight 4, at most one standard deviation of 1/sqrt(L) each; five of them.
        assert!((value - expected).abs() < 5.0 * 4.0 / (length as f64).sqrt(), "{value}");
    }
    let concatenated = x.sum_groups(2).unwrap();
    let refused = concatenated.multiplexed_sum(&[1.0; 3], &mut selector);
    assert!(matches!(refused, Err(CircuitError::NotSingle { .. })));
    let refused = x.multiplexed_sum(&[0.0, 0.0], &mut selector);
    assert!(matches!(refused, Err(CircuitError::Stochastic(_))));
    let refused = x.multiplexed_sum(&[1.0; 4], &mut selector);
    assert!(matches!(refused, Err(CircuitError::Length { .. })));
}

#[test]
fn multiplexed_sums_select_by_weight() {
    check_multiplexing(Plain::new(2048, 2).unwrap());
    let coeff_moduli = ntt_primes(53, 2048, 1).unwrap();
    let plaintext = PlaintextSpace::Integers { plain_modulus: 12_289 };
    let spec = Spec::streams(2048, coeff_moduli, Packing::Slots, plaintext).unwrap();
    check_multiplexing(Bfv::<u64>::new(spec, Assurance::Guidelines2024).unwrap());
    let party =
        &mut Party::new(bfv::<u32>(256, 26, Packing::Coefficients, 2), Generator::Sobol, 64);
    let (x, _) = party.encrypt(&[0.1, 0.2], Layout::OnePerBlock);
    let refused = x.multiplexed_sum(&[1.0, 1.0], &mut Selector::new(0));
    assert!(matches!(refused, Err(CircuitError::Scheme(SchemeError::PackingCannot { .. }))));
}

#[test]
fn counts_that_would_wrap_are_refused() {
    let party =
        &mut Party::new(bfv::<u32>(256, 26, Packing::Coefficients, 3), Generator::Sobol, 64);
    let (x, _) = party.encrypt(&[0.1], Layout::OnePerBlock);
    let (y, _) = party.encrypt(&[0.2], Layout::OnePerBlock);
    let (z, _) = party.encrypt(&[0.3], Layout::OnePerBlock);
    let two = x.multiply(&y, &[(0, 0)]).unwrap();
    let three = two.multiply(&z, &[(0, 0)]).err().unwrap();
    assert_eq!(three, CircuitError::CountOverflow { factors: 3, max_count: 2 });
}

/// Additions until the budget is gone: the refusal comes while decryption is still right.
#[test]
fn too_many_factors_are_refused_before_decryption_fails() {
    // t = 2^14 is even: only noise limits the factors.
    let scheme = bfv::<u32>(1024, 26, Packing::Coefficients, 1 << 14);
    let party = &mut Party::new(scheme, Generator::Bernoulli, 64);
    let (mut product, mut bits) = party.encrypt(&[0.9], Layout::OnePerBlock);
    let refusal = loop {
        let (factor, of_factor) = party.encrypt(&[0.9], Layout::OnePerBlock);
        match product.multiply(&factor, &[(0, 0)]) {
            Ok(longer) => product = longer,
            Err(error) => break error,
        }
        bits = bits.xor(&of_factor).unwrap();
    };
    assert!(matches!(refusal, CircuitError::Scheme(SchemeError::NoiseBudget { .. })));
    assert!(product.noise_budget() < 2.0);
    assert!(close(&party.decrypt(&product), &decode(&bits)));
}
