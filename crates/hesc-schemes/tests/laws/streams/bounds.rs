//! Bounds hold exactly: what is at them is right, and one beyond is refused or wraps as it says.

use hesc_schemes::streams::bitwise::{BitCipher, Bitwise};
use hesc_schemes::streams::{Combine, Decrypt, Encrypt};
use hesc_schemes::{
    Assurance, Bfv, Ckks, EcElgamal, Packing, Plain, Scheme, SchemeError, UnipolarSlots,
};

use super::parties::{self, Party, approximate, horner, integers, rng, spec, unipolar};

/// Counts at the largest that decrypts, by every way there, and one beyond.
fn check_counts<C: BitCipher>(party: &Party<Bitwise<C>>) {
    let Party { scheme, secret, .. } = party;
    let max = scheme.cipher().max_count();
    assert_eq!(max, 16);
    let one = party.encrypt(1, u64::MAX, &mut rng(1));
    let times = |count: usize| scheme.combine_rows(&[&one], &[vec![(0, 0); count]]);
    let beyond = |result: Result<_, SchemeError>| match result {
        Err(SchemeError::CountBound { count: 17, max_count: 16 }) => {}
        other => panic!("{:?}", other.map(|_: <Bitwise<C> as Encrypt>::Ciphertexts| "a result")),
    };
    let (eight, fifteen) = (times(8).unwrap(), times(15).unwrap());
    let mut bits = fifteen.clone();
    scheme.combine_bits_assign(&mut bits, &[u64::MAX]).unwrap();
    for full in [
        times(16).unwrap(),
        scheme.combine(&eight, &eight).unwrap(),
        scheme.combine_pairs(&fifteen, &one, &[(0, 0)]).unwrap(),
        horner(scheme, &[&one], &[vec![(0, 0), (0, 0)]], &[15]).unwrap(),
        bits,
    ] {
        assert!(scheme.decrypt(secret, &full).unwrap().iter().all(|&count| count == 16));
        beyond(scheme.combine(&full, &one));
        let mut more = full;
        beyond(scheme.combine_bits_assign(&mut more, &[1]).map(|()| one.clone()));
    }
    // The part and the row with most say what the bound is, wherever they are.
    for (parts, at) in [([&one, &eight], 1), ([&eight, &one], 0)] {
        let sum = horner(scheme, &parts, &[vec![(at, 0), (at, 0)]], &[1]).unwrap();
        assert!(scheme.decrypt(secret, &sum).unwrap().iter().all(|&count| count == 16));
    }
    for parts in [[&one, &eight], [&eight, &one]] {
        let both = scheme.concatenate(&parts).unwrap();
        assert_eq!(scheme.noise_budget(&both), scheme.noise_budget(&eight));
    }
    for rows in [[vec![(0, 0); 2], vec![(0, 0)]], [vec![(0, 0)], vec![(0, 0); 2]]] {
        assert_eq!(scheme.noise_budget(&horner(scheme, &[&eight], &rows, &[1]).unwrap()), 0.0);
    }
    beyond(times(17));
    beyond(horner(scheme, &[&one], &[vec![(0, 0), (0, 0)]], &[16]));
}

#[test]
fn counts_of_group_elements_end_at_the_largest() {
    check_counts(parties::ec_elgamal());
    check_counts(parties::ec_elgamal_secp256r1());
    check_counts(parties::elgamal());
    assert!(EcElgamal::new(1).is_ok() && EcElgamal::new(4096).is_ok());
    for max in [0, 4097] {
        let refused = EcElgamal::new(max);
        assert!(matches!(refused, Err(SchemeError::Parameter { name: "max_count", .. })));
    }
}

/// Counts at the largest that a plaintext modulus holds, and one beyond: zero again, with the parity that the
/// scheme says.
fn check_wrap<S: Scheme>(party: &Party<S>, modulus: u32) {
    let Party { scheme, secret, .. } = party;
    let one = party.encrypt_secretly(1, u64::MAX, &mut rng(2));
    assert_eq!(scheme.max_count(&one), u64::from(modulus) - 1);
    let times = |count: usize| {
        let sum = scheme.combine_rows(&[&one], &[vec![(0, 0); count]]).unwrap();
        let counts = scheme.decrypt(secret, &sum).unwrap();
        assert!(counts.iter().all(|&count| count == counts[0]));
        counts[0]
    };
    let modulus = modulus as usize;
    assert_eq!(times(modulus - 1) as usize, modulus - 1);
    assert_eq!((times(modulus), times(modulus + 1)), (0, 1));
    assert_eq!(scheme.parity_survives_wrap(), modulus.is_multiple_of(2));
}

#[test]
fn counts_wrap_at_the_plaintext_modulus() {
    check_wrap(parties::bfv_coefficients(), 27);
    check_wrap(parties::plain(), 11);
    #[cfg(feature = "tfhe")]
    check_wrap(parties::torus(), 16);
}

/// Approximate counts are right up to the largest, put together by Horner's rule from its bits; two beyond fall
/// outside the modulus (one may be in what is left for noise), and that is noticed.
#[test]
fn approximate_counts_end_at_the_largest() {
    let party = parties::ckks_coefficients();
    let Party { scheme, secret, .. } = party;
    let rng = &mut rng(3);
    let digits = [party.encrypt_secretly(1, 0, rng), party.encrypt_secretly(1, u64::MAX, rng)];
    let most = scheme.max_count(&digits[1]);
    let bits = most.ilog2() as usize + 1;
    let row = (0..bits).rev().map(|bit| ((most >> bit & 1) as usize, 0)).collect();
    let full = horner(scheme, &[&digits[0], &digits[1]], &[row], &vec![2; bits]).unwrap();
    let counts = scheme.decrypt(secret, &full).unwrap();
    assert!(counts.iter().all(|&count| u64::from(count) == most));
    let two = scheme.combine(&digits[1], &digits[1]).unwrap();
    let beyond = scheme.combine(&full, &two).unwrap();
    assert!(matches!(scheme.decrypt(secret, &beyond), Err(SchemeError::NotACount { block: 0 })));
}

/// Bases up to the smallest prime.
#[test]
fn bases_stay_below_every_prime() {
    let party = parties::bfv_slots();
    let one = party.encrypt(1, 0, &mut rng(4));
    let prime = *party.scheme.spec().coeff_moduli.iter().min().unwrap();
    let fuse = |base| horner(&party.scheme, &[&one], &[vec![(0, 0); 3]], &[base; 2]).err().unwrap();
    assert!(matches!(fuse(prime), SchemeError::Parameter { name: "base", .. }));
    assert!(matches!(fuse(prime - 1), SchemeError::NoiseBudget { .. }));
}

/// Sixteen parts, the most that a ciphertext has, and one more.
#[test]
fn unipolar_slots_refuse_what_they_have_no_room_for() {
    let set = unipolar(1024, 12);
    let scheme = UnipolarSlots::new(set.clone(), Assurance::Insecure).unwrap();
    let rng = &mut rng(5);
    let (secret, public) = scheme.generate_keys(rng);
    let ones = vec![u64::MAX; scheme.block_length() / 64];
    let fresh = scheme.encrypt(&public, &ones, rng).unwrap();
    let product = |factors| scheme.combine_rows(&[&fresh], &[vec![(0, 0); factors]]);
    let most = product(15).unwrap();
    assert!(scheme.decrypt(&secret, &most).unwrap().iter().all(|&one| one == 1));
    for beyond in [product(16), scheme.combine(&most, &fresh)] {
        let refused = beyond.err();
        let fits = matches!(
            refused,
            Some(SchemeError::TooManyComponents { components: 17, most: 16, .. })
        );
        assert!(fits, "{refused:?}");
    }
    assert_eq!(UnipolarSlots::spec_from_bytes(&scheme.spec_to_bytes()).unwrap(), set);
    assert!(UnipolarSlots::spec_from_bytes(&set.to_bytes()).is_err());
}

/// Plaintext moduli and block lengths at both ends.
#[test]
fn parameters_end_where_they_say() {
    let of = |t| {
        Bfv::<u64>::new(spec(2048, &[54], Packing::Coefficients, integers(t)), Assurance::Insecure)
    };
    let refused = |t| matches!(of(t), Err(SchemeError::Parameter { name: "plain_modulus", .. }));
    assert!(of(2).is_ok() && of(1 << 25).is_ok());
    assert!(refused(0) && refused(1) && refused((1 << 25) + 1));
    assert!(Plain::new(64, 2).is_ok() && Plain::new(1 << 20, 1 << 31).is_ok());
    for (length, modulus) in [(0, 2), (63, 2), ((1 << 20) + 64, 2), (64, 1), (64, (1 << 31) + 1)] {
        assert!(matches!(Plain::new(length, modulus), Err(SchemeError::Parameter { .. })));
    }
    // The smallest scale beside a modulus of 58 bits still decrypts.
    let of = |scale| {
        let set = spec(2048, &[29, 29], Packing::Slots, approximate(scale));
        Ckks::<u64>::new(set, Assurance::Insecure)
    };
    let refused = of(21).err();
    assert!(matches!(refused, Some(SchemeError::Parameter { name: "scale", .. })), "{refused:?}");
    let rng = &mut rng(6);
    let scheme = of(22).unwrap();
    let (secret, public) = scheme.generate_keys(rng);
    let ones = scheme.encrypt(&public, &[u64::MAX; 16], rng).unwrap();
    assert!(scheme.decrypt(&secret, &ones).unwrap().iter().all(|&one| one == 1));
}
