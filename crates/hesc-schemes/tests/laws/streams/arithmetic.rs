//! The laws of [`Scheme`], run on every scheme, every packing, both word sizes and on the scheme
//! that encrypts nothing.

use hesc_math::{AesCtrRng, ntt_primes};
use hesc_schemes::Assurance;
use hesc_schemes::elgamal::{Exponents, Ffdhe3072, Ristretto255};
use hesc_schemes::leveled::{self, SchemeKind};
use hesc_schemes::rlwe::{Plaintext, Spec};
use hesc_schemes::{
    Bfv, BitProduct, Ckks, EcElgamal, EcElgamalSecp256r1, Elgamal, Gm, Packing, Plain, Scheme,
    SchemeError, Simulated, UnipolarBfv, UnipolarElgamal, gm,
};
use rand_core::{Rng, SeedableRng};

/// Generators of tests are seeded, so that a failure can be repeated.
fn rng(seed: u8) -> AesCtrRng {
    AesCtrRng::from_seed([seed; 32])
}

fn random_blocks<S: Scheme>(scheme: &S, blocks: usize, rng: &mut AesCtrRng) -> Vec<u64> {
    (0..blocks * scheme.block_length() / 64).map(|_| rng.next_u64()).collect()
}

fn counts(bits: &[u64]) -> Vec<u32> {
    bits.iter().flat_map(|word| (0..64).map(move |i| (word >> i) as u32 & 1)).collect()
}

fn check_laws<S: Scheme>(scheme: &S, modulus: Option<u32>) {
    let rng = &mut rng(7);
    let reduce = |x: u32| modulus.map_or(x, |t| x % t);
    let (secret, public) = scheme.generate_keys(rng);
    // More blocks than one thread takes at a time.
    let blocks = 19;
    let (x, y) = (random_blocks(scheme, blocks, rng), random_blocks(scheme, blocks, rng));
    let (cx, cy) =
        (scheme.encrypt(&public, &x, rng).unwrap(), scheme.encrypt(&public, &y, rng).unwrap());
    let (nx, ny) = (counts(&x), counts(&y));
    assert_eq!(scheme.blocks(&cx), blocks);
    assert_eq!(scheme.decrypt(&secret, &cx).unwrap(), nx, "decryption inverts encryption");

    let sum = scheme.add(&cx, &cy).unwrap();
    let expected: Vec<u32> = nx.iter().zip(&ny).map(|(a, b)| reduce(a + b)).collect();
    assert_eq!(scheme.decrypt(&secret, &sum).unwrap(), expected, "sums are sums of counts");

    let pairs = [(3, 0), (0, 3), (18, 18)];
    let crossed = scheme.decrypt(&secret, &scheme.add_pairs(&cx, &cy, &pairs).unwrap()).unwrap();
    let n = scheme.block_length();
    for (k, (i, j)) in pairs.into_iter().enumerate() {
        for p in 0..n {
            assert_eq!(crossed[k * n + p], reduce(nx[i * n + p] + ny[j * n + p]));
        }
    }

    let mut shifted = cx.clone();
    scheme.add_bits_assign(&mut shifted, &y).unwrap();
    assert_eq!(scheme.decrypt(&secret, &shifted).unwrap(), expected, "plain bits add too");

    let chosen = scheme.select(&cx, &[18, 2, 2]).unwrap();
    let joined = scheme.concatenate(&[&chosen, &cy]).unwrap();
    let decrypted = scheme.decrypt(&secret, &joined).unwrap();
    assert_eq!(decrypted[..n], nx[18 * n..]);
    assert_eq!(decrypted[2 * n..3 * n], nx[2 * n..3 * n]);
    assert_eq!(decrypted[3 * n..], ny);

    let seeded = scheme.encrypt_seeded(&secret, &x, rng).unwrap();
    let bytes = scheme.seeded_to_bytes(&seeded);
    let seeded = scheme.seeded_from_bytes(&bytes).unwrap();
    let expanded = scheme.expand(&seeded).unwrap();
    assert_eq!(scheme.decrypt(&secret, &expanded).unwrap(), nx, "seeded ciphertexts expand");
    let mixed = scheme.add(&expanded, &cy).unwrap();
    assert_eq!(scheme.decrypt(&secret, &mixed).unwrap(), expected);

    let bytes = scheme.ciphertexts_to_bytes(&sum);
    let read = scheme.ciphertexts_from_bytes(&bytes).unwrap();
    assert_eq!(scheme.decrypt(&secret, &read).unwrap(), expected, "the wire form returns");
    let public_again = scheme.public_key_from_bytes(&scheme.public_key_to_bytes(&public)).unwrap();
    let secret_again = scheme.secret_key_from_bytes(&scheme.secret_key_to_bytes(&secret)).unwrap();
    let again = scheme.encrypt(&public_again, &x, rng).unwrap();
    assert_eq!(scheme.decrypt(&secret_again, &again).unwrap(), nx, "keys return");

    check_refusals(scheme, rng);
}

/// What must be refused, on every scheme.
fn check_refusals<S: Scheme>(scheme: &S, rng: &mut AesCtrRng) {
    let (secret, public) = scheme.generate_keys(rng);
    let (other_secret, other_public) = scheme.generate_keys(rng);
    let x = random_blocks(scheme, 2, rng);
    let a = scheme.encrypt(&public, &x, rng).unwrap();
    let b = scheme.encrypt(&other_public, &x, rng).unwrap();
    assert!(matches!(scheme.add(&a, &b), Err(SchemeError::KeyMismatch { .. })));
    assert!(matches!(scheme.decrypt(&other_secret, &a), Err(SchemeError::KeyMismatch { .. })));
    assert!(matches!(scheme.encrypt(&public, &[], rng), Err(SchemeError::Empty)));
    // A block of one word has no parts.
    if scheme.block_length() > 64 {
        let part = scheme.encrypt(&public, &x[1..], rng);
        assert!(matches!(part, Err(SchemeError::BlockCount { .. })));
    }
    let one = scheme.select(&a, &[0]).unwrap();
    assert!(matches!(scheme.add(&a, &one), Err(SchemeError::BlockCount { .. })));
    assert!(matches!(
        scheme.select(&a, &[2]),
        Err(SchemeError::BlockIndex { index: 2, blocks: 2 })
    ));
    assert!(matches!(scheme.select(&a, &[]), Err(SchemeError::Empty)));

    let bytes = scheme.ciphertexts_to_bytes(&a);
    assert!(scheme.ciphertexts_from_bytes(&bytes[..bytes.len() - 1]).is_err());
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(scheme.ciphertexts_from_bytes(&longer).is_err());
    for at in (0..bytes.len()).step_by(97) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        assert!(scheme.ciphertexts_from_bytes(&flipped).is_err(), "byte {at}");
    }
    assert!(scheme.public_key_from_bytes(&bytes).is_err());
    assert!(scheme.decrypt(&secret, &a).is_ok());
}

/// Position-wise products, where the packing has them.
fn check_masks<S: Scheme>(scheme: &S) {
    let rng = &mut rng(9);
    let (secret, public) = scheme.generate_keys(rng);
    let (x, mask) = (random_blocks(scheme, 3, rng), random_blocks(scheme, 3, rng));
    let mut a = scheme.encrypt(&public, &x, rng).unwrap();
    scheme.mask_assign(&mut a, &mask).unwrap();
    let expected: Vec<u32> = counts(&x).iter().zip(counts(&mask)).map(|(a, b)| a * b).collect();
    assert_eq!(scheme.decrypt(&secret, &a).unwrap(), expected);
    // The same mask again and again: right until it is refused, with the room that is claimed.
    for _ in 0..5 {
        match scheme.mask_assign(&mut a, &mask) {
            Err(error) => {
                assert!(matches!(error, SchemeError::NoiseBudget { .. }), "{error}");
                break;
            }
            Ok(()) => {
                assert_eq!(scheme.decrypt(&secret, &a).unwrap(), expected);
                let measured = scheme.measured_noise_budget(&secret, &a).unwrap();
                assert!(scheme.noise_budget(&a) <= measured);
            }
        }
    }
}

/// The laws of schemes whose operation is the conjunction.
fn check_conjunctions<S: Scheme>(scheme: &S) {
    let rng = &mut rng(21);
    let (secret, public) = scheme.generate_keys(rng);
    let n = scheme.block_length();
    let (x, y) = (random_blocks(scheme, 2, rng), random_blocks(scheme, 2, rng));
    let (nx, ny) = (counts(&x), counts(&y));
    let both: Vec<u32> = nx.iter().zip(&ny).map(|(a, b)| a & b).collect();
    let cx = scheme.encrypt(&public, &x, rng).unwrap();
    let cy = scheme.encrypt(&public, &y, rng).unwrap();
    assert_eq!(scheme.bit_product(), BitProduct::Conjunction);
    let product = scheme.add(&cx, &cy).unwrap();
    let read = scheme.ciphertexts_from_bytes(&scheme.ciphertexts_to_bytes(&product)).unwrap();
    assert_eq!(scheme.decrypt(&secret, &read).unwrap(), both);
    assert!(scheme.noise_budget(&read) <= scheme.measured_noise_budget(&secret, &read).unwrap());
    let compact = scheme.compact_to_bytes(&scheme.compact(&product).unwrap());
    let compact = scheme.compact_from_bytes(&compact).unwrap();
    assert_eq!(scheme.decrypt_compact(&secret, &compact).unwrap(), both);
    let fresh = scheme.rerandomise(&public, &product, rng).unwrap();
    if scheme.name() != "simulated" {
        assert_ne!(scheme.ciphertexts_to_bytes(&fresh), scheme.ciphertexts_to_bytes(&product));
    }
    assert_eq!(scheme.decrypt(&secret, &fresh).unwrap(), both);

    let crossed = scheme.add_pairs(&cx, &cy, &[(1, 0)]).unwrap();
    let expected: Vec<u32> = nx[n..].iter().zip(&ny).map(|(a, b)| a & b).collect();
    assert_eq!(scheme.decrypt(&secret, &crossed).unwrap(), expected);
    let mut plain = cx.clone();
    scheme.add_bits_assign(&mut plain, &y).unwrap();
    assert_eq!(scheme.decrypt(&secret, &plain).unwrap(), both, "plain bits");
    let mut masked = cx.clone();
    scheme.mask_assign(&mut masked, &y).unwrap();
    let kept: Vec<u32> = nx.iter().zip(&ny).map(|(a, mask)| a | (1 - mask)).collect();
    assert_eq!(scheme.decrypt(&secret, &masked).unwrap(), kept, "ones where the mask is not set");

    let seeded = scheme.encrypt_seeded(&secret, &y, rng).unwrap();
    let seeded = scheme.seeded_from_bytes(&scheme.seeded_to_bytes(&seeded)).unwrap();
    let expanded = scheme.expand(&seeded).unwrap();
    let rows = [vec![(0, 0), (0, 1), (1, 0)], vec![(1, 1)]];
    let fused = scheme.horner(&[&cx, &expanded], &rows, &[1, 1]).unwrap();
    let mut expected: Vec<u32> = (0..n).map(|i| nx[i] & nx[n + i] & ny[i]).collect();
    expected.extend(&ny[n..]);
    assert_eq!(scheme.decrypt(&secret, &fused).unwrap(), expected, "rows of factors");
    assert!(scheme.horner(&[&cx], &rows[..1], &[1]).is_err());
    let joined = scheme.concatenate(&[&scheme.select(&cy, &[1, 0]).unwrap(), &cx]).unwrap();
    assert_eq!(scheme.decrypt(&secret, &joined).unwrap(), [&ny[n..], &ny[..n], &nx].concat());
    check_refusals(scheme, rng);
}

/// The download form.
fn check_compact<S: Scheme>(scheme: &S, bytes_per_block: usize) {
    let rng = &mut rng(11);
    let (secret, public) = scheme.generate_keys(rng);
    let (x, y) = (random_blocks(scheme, 3, rng), random_blocks(scheme, 3, rng));
    let a = scheme.encrypt(&public, &x, rng).unwrap();
    let b = scheme.encrypt(&public, &y, rng).unwrap();
    let sum = scheme.add(&a, &b).unwrap();
    let compact = scheme.compact(&sum).unwrap();
    let bytes = scheme.compact_to_bytes(&compact);
    assert!(bytes.len() <= 3 * bytes_per_block + 100, "{}", bytes.len());
    let read = scheme.compact_from_bytes(&bytes).unwrap();
    assert_eq!(
        scheme.decrypt_compact(&secret, &read).unwrap(),
        scheme.decrypt(&secret, &sum).unwrap()
    );
}

fn spec(ring_degree: usize, bits: &[u32], packing: Packing, plaintext: Plaintext) -> Spec {
    let mut coeff_moduli: Vec<u64> = Vec::new();
    for &bits in bits {
        let primes = ntt_primes(bits, ring_degree, bits.min(4) as usize).unwrap();
        coeff_moduli.extend(primes.into_iter().find(|q| !coeff_moduli.contains(q)));
    }
    Spec { ring_degree, coeff_moduli, packing, plaintext }
}

fn integers(plain_modulus: u64) -> Plaintext {
    Plaintext::Integers { plain_modulus }
}

fn approximate(bits: i32) -> Plaintext {
    Plaintext::Approximate { scale: 2f64.powi(bits) }
}

#[test]
fn plain_obeys_the_laws() {
    check_laws(&Plain::new(128, 2).unwrap(), Some(2));
    check_laws(&Plain::new(1024, 12289).unwrap(), None);
    check_masks(&Plain::new(256, 5).unwrap());
}

#[test]
fn simulations_obey_the_laws() {
    let scheme = Simulated::new(128, BitProduct::ExclusiveOr).unwrap();
    check_laws(&scheme, Some(2));
    check_masks(&scheme);
    for product in [BitProduct::ExclusiveOr, BitProduct::Conjunction] {
        let bytes = Simulated::new(192, product).unwrap().spec_to_bytes();
        assert_eq!(Simulated::spec_from_bytes(&bytes).unwrap().bit_product(), product);
        assert!(Plain::spec_from_bytes(&bytes).is_err());
    }
    assert!(Simulated::new(100, BitProduct::Conjunction).is_err());
}

#[test]
fn bfv_in_coefficients_obeys_the_laws() {
    for t in [2, 3, 27, 64, 12289] {
        let moduli: &[u32] = if t > 64 { &[26, 27] } else { &[26] };
        let degree = if t > 64 { 2048 } else { 1024 };
        let set = spec(degree, moduli, Packing::Coefficients, integers(t));
        check_laws(&Bfv::<u32>::new(set, Assurance::Guidelines2024).unwrap(), Some(t as u32));
    }
    let set = spec(2048, &[53], Packing::Coefficients, integers(5));
    check_laws(&Bfv::<u64>::new(set, Assurance::Guidelines2024).unwrap(), Some(5));
}

#[test]
fn bfv_in_slots_obeys_the_laws() {
    let set = spec(1024, &[27], Packing::Slots, integers(12289));
    check_laws(&Bfv::<u32>::new(set, Assurance::HeStd2018).unwrap(), None);
    let set = spec(2048, &[26, 27], Packing::Slots, integers(12289));
    let bfv = Bfv::<u32>::new(set, Assurance::Guidelines2024).unwrap();
    check_laws(&bfv, None);
    check_masks(&bfv);
    let set = spec(2048, &[54], Packing::Slots, integers(12289));
    let bfv = Bfv::<u64>::new(set, Assurance::HeStd2018).unwrap();
    check_laws(&bfv, None);
    check_masks(&bfv);
}

/// Two primes: the scale may be larger than either in coefficients, and leaves room to decrypt by
/// one of them.
#[test]
fn ckks_with_a_large_scale_obeys_the_laws() {
    for bits in [20, 38] {
        let set = spec(2048, &[27, 27], Packing::Coefficients, approximate(bits));
        check_laws(&Ckks::<u32>::new(set, Assurance::HeStd2018).unwrap(), None);
    }
    let set = spec(2048, &[27, 27], Packing::Slots, approximate(38));
    assert!(Ckks::<u32>::new(set, Assurance::HeStd2018).is_err());
}

#[test]
fn ckks_obeys_the_laws() {
    for packing in [Packing::Coefficients, Packing::ComplexSlots, Packing::Slots] {
        let set = spec(1024, &[26], packing, approximate(22));
        check_laws(&Ckks::<u32>::new(set, Assurance::Guidelines2024).unwrap(), None);
        let set = spec(2048, &[53], packing, approximate(26));
        let ckks = Ckks::<u64>::new(set, Assurance::Guidelines2024).unwrap();
        check_laws(&ckks, None);
        // Above 2^31 coefficients are multiples of a power of two.
        let set = spec(2048, &[53], packing, approximate(38));
        check_laws(&Ckks::<u64>::new(set, Assurance::Guidelines2024).unwrap(), None);
        if packing == Packing::Slots {
            check_masks(&ckks);
        }
    }
}

#[cfg(feature = "tfhe")]
#[test]
fn tfhe_obeys_the_laws() {
    use hesc_schemes::tfhe::{Decomposition, Spec, Tfhe};
    let digits = |base_log, levels| Decomposition { base_log, levels };
    let spec = Spec {
        ring_degree: 512,
        lwe_dimension: 64,
        log2_ring_noise: -50.0,
        log2_lwe_noise: -30.0,
        bootstrap: digits(23, 1),
        keyswitch: digits(3, 5),
        packing: digits(16, 1),
    };
    let scheme = Tfhe::new(spec, Assurance::Insecure).unwrap();
    check_laws(&scheme, Some(16));
    check_compact(&scheme, 2 * 512 * 13 / 8);
    assert!(Tfhe::new(spec, Assurance::Guidelines2024).is_err());
}

#[test]
fn conjunctions_obey_their_laws() {
    check_conjunctions(&Simulated::new(128, BitProduct::Conjunction).unwrap());
    check_conjunctions(&UnipolarElgamal::over(Ristretto255));
    check_conjunctions(&UnipolarBfv::new(unipolar(1024, 4), Assurance::Insecure).unwrap());
}

fn unipolar(ring_degree: usize, primes: usize) -> leveled::Spec {
    leveled::Spec {
        scheme: SchemeKind::Bfv,
        ring_degree,
        coeff_moduli: ntt_primes(43, ring_degree, primes).unwrap(),
        special_moduli: Vec::new(),
        plaintext: integers(65537),
        bound: 1.0,
    }
}

/// Products of ever more factors, one after the other and pair by pair, are right until they are
/// refused; the estimate of noise is never above the truth, nor far below it.
#[test]
fn unipolar_bfv_multiplies_until_it_refuses() {
    let scheme = UnipolarBfv::new(unipolar(4096, 8), Assurance::Insecure).unwrap();
    let rng = &mut rng(22);
    let (secret, public) = scheme.generate_keys(rng);
    // Bits are mostly ones, so that products are not all zero.
    let x: Vec<u64> = (0..16 * 64).map(|_| (0..3).fold(0, |w, _| w | rng.next_u64())).collect();
    let bits = counts(&x);
    let fresh = scheme.encrypt(&public, &x, rng).unwrap();
    let conjunction = |factors: usize| -> Vec<u32> {
        (0..4096).map(|i| (0..factors).fold(1, |all, block| all & bits[4096 * block + i])).collect()
    };
    let check = |a: &_, factors: usize| {
        assert_eq!(scheme.decrypt(&secret, a).unwrap(), conjunction(factors));
        let (claimed, measured) =
            (scheme.noise_budget(a), scheme.measured_noise_budget(&secret, a).unwrap());
        assert!((0.0..2.0 * factors as f64).contains(&(measured - claimed)), "{factors} factors");
    };
    let mut chain = scheme.select(&fresh, &[0]).unwrap();
    let mut factors = 1;
    let error = loop {
        match scheme.add_pairs(&chain, &fresh, &[(0, factors)]) {
            Ok(next) => chain = next,
            Err(error) => break error,
        }
        factors += 1;
        check(&chain, factors);
    };
    assert!(matches!(error, SchemeError::NoiseBudget { .. }), "{error}");
    assert!((9..16).contains(&factors), "{factors}");
    let mut most = 0;
    for factors in 2..=15 {
        let row = (0..factors).map(|block| (0, block)).collect();
        match scheme.horner(&[&fresh], &[row], &[1; 15]) {
            Ok(product) => {
                check(&product, factors);
                most = factors;
            }
            Err(error) => assert!(matches!(error, SchemeError::NoiseBudget { .. }), "{error}"),
        }
    }
    assert!(most >= factors, "pairs go at least as far: {most}, {factors}");
}

#[test]
fn unipolar_bfv_refuses_what_it_has_no_room_for() {
    let set = unipolar(1024, 12);
    let scheme = UnipolarBfv::new(set.clone(), Assurance::Insecure).unwrap();
    let rng = &mut rng(23);
    let (_, public) = scheme.generate_keys(rng);
    let fresh = scheme.encrypt(&public, &random_blocks(&scheme, 1, rng), rng).unwrap();
    assert!(matches!(
        scheme.horner(&[&fresh], &[vec![(0, 0); 16]], &[1; 15]),
        Err(SchemeError::TooManyParts { parts: 17, most: 16, .. })
    ));
    assert_eq!(UnipolarBfv::spec_from_bytes(&scheme.spec_to_bytes()).unwrap(), set);
    assert!(UnipolarBfv::spec_from_bytes(&set.to_bytes()).is_err());
    let refused = |set: leveled::Spec| UnipolarBfv::new(set, Assurance::Insecure).err().unwrap();
    let special_moduli = ntt_primes(40, 1024, 1).unwrap();
    assert!(matches!(
        refused(leveled::Spec { special_moduli, ..set.clone() }),
        SchemeError::Parameter { name: "special_moduli", .. }
    ));
    assert!(matches!(
        refused(leveled::Spec { plaintext: integers(65539), ..set.clone() }),
        SchemeError::Parameter { name: "plain_modulus", .. }
    ));
    assert!(matches!(
        refused(leveled::Spec { scheme: SchemeKind::Bgv, ..set }),
        SchemeError::Parameter { name: "scheme", .. }
    ));
}

#[test]
fn goldwasser_micali_obeys_the_laws() {
    let scheme = Gm::new(2048, gm::Assurance::Insecure).unwrap();
    check_laws(&scheme, Some(2));
    check_masks(&scheme);
    check_laws(&Gm::new(3072, gm::Assurance::Classical128).unwrap(), Some(2));
}

#[test]
fn ec_elgamal_obeys_the_laws() {
    let scheme = EcElgamal::new(64).unwrap();
    check_laws(&scheme, None);
    check_masks(&scheme);
    let scheme = EcElgamalSecp256r1::new(64).unwrap();
    check_laws(&scheme, None);
    check_masks(&scheme);
}

#[test]
fn elgamal_obeys_the_laws() {
    let scheme = Elgamal::new(64).unwrap();
    check_laws(&scheme, None);
    check_masks(&scheme);
    let full = Elgamal::over(Ffdhe3072::new(Exponents::Full), 2).unwrap();
    let rng = &mut rng(8);
    let (secret, public) = full.generate_keys(rng);
    let x = random_blocks(&full, 1, rng);
    let a = full.encrypt(&public, &x, rng).unwrap();
    assert_eq!(full.decrypt(&secret, &full.add(&a, &a).unwrap()).unwrap(), {
        counts(&x).iter().map(|bit| 2 * bit).collect::<Vec<_>>()
    });
    // The length of exponents is part of the parameters.
    assert!(scheme.ciphertexts_from_bytes(&full.ciphertexts_to_bytes(&a)).is_err());
}

#[test]
fn elgamal_refuses_what_is_not_in_its_group() {
    let scheme = Elgamal::new(4).unwrap();
    let rng = &mut rng(9);
    let (_, public) = scheme.generate_keys(rng);
    let a = scheme.encrypt(&public, &[5], rng).unwrap();
    let bytes = scheme.ciphertexts_to_bytes(&a);
    // Minus one is no square modulo a safe prime.
    let prime = scheme.cipher().group().prime_be();
    let mut minus_one = prime.clone();
    minus_one[383] -= 1;
    for foreign in [prime, minus_one, vec![0; 384]] {
        let mut forged = bytes.clone();
        forged[14 + 32 + 12 + 384 * 9..][..384].copy_from_slice(&foreign);
        let body = forged.len() - 16;
        let checksum = hesc_schemes::wire::checksum(&forged[..body]);
        forged[body..].copy_from_slice(&checksum);
        assert!(matches!(
            scheme.ciphertexts_from_bytes(&forged),
            Err(SchemeError::Wire { problem: "an element is not in the group", .. })
        ));
    }
}

#[test]
fn ec_elgamal_fuses_digits_and_bounds_counts() {
    let scheme = EcElgamal::new(26).unwrap();
    let rng = &mut rng(29);
    let (secret, public) = scheme.generate_keys(rng);
    let x = random_blocks(&scheme, 3, rng);
    let a = scheme.encrypt(&public, &x, rng).unwrap();
    let sum = scheme.add(&a, &a).unwrap();
    let fused = scheme.horner(&[&sum], &[vec![(0, 0), (0, 1), (0, 2)]], &[3, 3]).unwrap();
    let digits = counts(&x);
    let expected: Vec<u32> =
        (0..64).map(|i| 2 * (9 * digits[i] + 3 * digits[64 + i] + digits[128 + i])).collect();
    assert_eq!(scheme.decrypt(&secret, &fused).unwrap(), expected);
    // The bound is public data, and no operation goes beyond it.
    assert!(matches!(
        scheme.add(&fused, &fused),
        Err(SchemeError::CountBound { count: 52, max_count: 26 })
    ));
    assert!(matches!(
        scheme.horner(&[&sum], &[vec![(0, 0), (0, 1), (0, 2)]], &[3, 4]),
        Err(SchemeError::CountBound { .. })
    ));
    assert!((scheme.noise_budget(&a) - 26f64.log2()).abs() < 1e-12);
    assert!(EcElgamal::new(0).is_err() && EcElgamal::new(4097).is_err());
    // A count outside the bound that a ciphertext claims is noticed, not misread.
    let bytes = scheme.ciphertexts_to_bytes(&sum);
    let mut lying = bytes.clone();
    lying[14 + 32] = 1;
    let body = lying.len() - 16;
    let checksum = hesc_schemes::wire::checksum(&lying[..body]);
    lying[body..].copy_from_slice(&checksum);
    let lying = scheme.ciphertexts_from_bytes(&lying).unwrap();
    assert!(matches!(scheme.decrypt(&secret, &lying), Err(SchemeError::NotACount { .. })));
}

/// The group's own test vectors (RFC 9496, appendix A.1): multiples of the generator.
#[test]
fn ec_elgamal_counts_are_multiples_of_the_standard_generator() {
    const MULTIPLES: [&str; 3] = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76",
        "6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919",
    ];
    let scheme = EcElgamal::new(4).unwrap();
    let rng = &mut rng(31);
    let (secret, public) = scheme.generate_keys(rng);
    // A masked position is (0, 0); plain bits are added to the second point alone.
    let mut a = scheme.encrypt(&public, &[0], rng).unwrap();
    scheme.mask_assign(&mut a, &[0]).unwrap();
    scheme.add_bits_assign(&mut a, &[0b10]).unwrap();
    let bytes = scheme.ciphertexts_to_bytes(&scheme.add(&a, &a).unwrap());
    let hex = |at: usize| -> String {
        let start = 14 + 32 + 8 + 4 + 32 * at;
        bytes[start..start + 32].iter().map(|b| format!("{b:02x}")).collect()
    };
    // First points, then second points of a block.
    let points = [0, 1, 64, 65].map(hex);
    assert_eq!(points, [0, 0, 0, 2].map(|m| MULTIPLES[m].to_owned()));
    let once = scheme.ciphertexts_to_bytes(&a);
    assert!(
        once.windows(32)
            .any(|w| { w.iter().map(|b| format!("{b:02x}")).collect::<String>() == MULTIPLES[1] })
    );
    assert_eq!(scheme.decrypt(&secret, &a).unwrap()[..3], [0, 1, 0]);
}

#[test]
fn downloads_are_compact() {
    // Eight or nine bits a coefficient instead of 26.
    let set = spec(1024, &[26], Packing::Coefficients, integers(2));
    check_compact(&Bfv::<u32>::new(set, Assurance::Guidelines2024).unwrap(), 2 * 1024 * 9 / 8);
    let set = spec(1024, &[26], Packing::Coefficients, integers(27));
    check_compact(&Bfv::<u32>::new(set, Assurance::Guidelines2024).unwrap(), 2 * 1024 * 13 / 8);
    let set = spec(2048, &[26, 27], Packing::Coefficients, integers(2));
    check_compact(&Bfv::<u32>::new(set, Assurance::Guidelines2024).unwrap(), 2 * 2048 * 9 / 8);
    let set = spec(2048, &[53], Packing::Coefficients, approximate(30));
    check_compact(&Ckks::<u64>::new(set, Assurance::Guidelines2024).unwrap(), 2 * 2048 * 33 / 8);
}

#[test]
fn horner_fuses_digits() {
    let set = spec(2048, &[26, 27], Packing::Slots, integers(12289));
    let scheme = Bfv::<u32>::new(set, Assurance::Guidelines2024).unwrap();
    let rng = &mut rng(13);
    let (secret, public) = scheme.generate_keys(rng);
    let digits: Vec<_> = (0..5).map(|_| random_blocks(&scheme, 1, rng)).collect();
    let all = scheme.encrypt(&public, &digits.concat(), rng).unwrap();
    let rows = [(0..5).map(|i| (0, i)).collect(), vec![(0, 3)]];
    let fused = scheme.horner(&[&all], &rows, &[6; 4]).unwrap();
    let mut expected = vec![0u32; scheme.block_length()];
    for digit in &digits {
        for (e, d) in expected.iter_mut().zip(counts(digit)) {
            *e = *e * 6 + d;
        }
    }
    expected.extend(counts(&digits[3]));
    assert_eq!(scheme.decrypt(&secret, &fused).unwrap(), expected);
    assert!(scheme.horner(&[&all], &rows, &[6; 3]).is_err());
    assert!(scheme.horner(&[&all], &[vec![(0, 5)]], &[6]).is_err());
}

#[test]
fn noise_is_refused_before_it_corrupts() {
    let set = spec(1024, &[27], Packing::Slots, integers(12289));
    let scheme = Bfv::<u32>::new(set, Assurance::HeStd2018).unwrap();
    let rng = &mut rng(17);
    let (secret, public) = scheme.generate_keys(rng);
    let fresh = scheme.encrypt(&public, &random_blocks(&scheme, 1, rng), rng).unwrap();
    let mut sum = fresh.clone();
    let mut additions = 0;
    let error = loop {
        match scheme.add(&sum, &fresh) {
            Ok(next) => sum = next,
            Err(error) => break error,
        }
        // What was allowed decrypts.
        scheme.decrypt(&secret, &sum).unwrap();
        additions += 1;
        assert!(additions < 100);
    };
    assert!(matches!(error, SchemeError::NoiseBudget { .. }));
    // The five-factor products of the Iris network must fit.
    assert!(additions >= 4, "{additions}");
    assert!(matches!(
        scheme.horner(&[&fresh], &[vec![(0, 0), (0, 0)]], &[6]),
        Err(SchemeError::NoiseBudget { .. })
    ));
}

#[test]
fn measured_noise_follows_the_formula() {
    let set = spec(1024, &[26], Packing::Coefficients, integers(2));
    let scheme = Bfv::<u32>::new(set, Assurance::Guidelines2024).unwrap();
    let rng = &mut rng(19);
    let (secret, public) = scheme.generate_keys(rng);
    let a = scheme.encrypt(&public, &random_blocks(&scheme, 64, rng), rng).unwrap();
    let bits = scheme.measured_noise_budget(&secret, &a).unwrap() - scheme.noise_budget(&a);
    // The largest of 2^16 Gaussian values is between 3.7 and 5.7 deviations with probability
    // 1 - 1e-3 either way; the budget allows for 7.
    let deviations = 7.0 / bits.exp2();
    assert!((3.7..5.7).contains(&deviations), "{deviations}");
}

#[test]
fn parameters_are_checked() {
    let new = |set| Bfv::<u32>::new(set, Assurance::Guidelines2024).err().unwrap();
    assert!(matches!(
        new(spec(1024, &[27], Packing::Coefficients, integers(2))),
        SchemeError::Security { limit: 26, .. }
    ));
    assert!(matches!(
        new(spec(1024, &[26], Packing::Slots, integers(64))),
        SchemeError::Parameter { name: "plain_modulus", .. }
    ));
    assert!(matches!(
        new(spec(1024, &[26], Packing::Coefficients, integers(1))),
        SchemeError::Parameter { name: "plain_modulus", .. }
    ));
    assert!(matches!(
        new(spec(1024, &[26], Packing::Coefficients, integers(1 << 20))),
        SchemeError::NoiseBudget { .. }
    ));
    assert!(matches!(
        new(spec(1024, &[26], Packing::Coefficients, approximate(10))),
        SchemeError::Parameter { name: "plaintext", .. }
    ));
    // The paper's CKKS at 18 bits: a fresh ciphertext cannot be told from a wrong one.
    let paper = spec(1024, &[18], Packing::ComplexSlots, approximate(14));
    assert!(matches!(
        Ckks::<u32>::new(paper, Assurance::Guidelines2024),
        Err(SchemeError::NoiseBudget { .. })
    ));
}

#[test]
fn ciphertexts_of_another_set_are_refused() {
    let rng = &mut rng(23);
    let [a, b] = [2, 3].map(|t| {
        let set = spec(1024, &[26], Packing::Coefficients, integers(t));
        Bfv::<u32>::new(set, Assurance::Guidelines2024).unwrap()
    });
    let (secret, public) = a.generate_keys(rng);
    let x = a.encrypt(&public, &random_blocks(&a, 1, rng), rng).unwrap();
    assert!(matches!(b.decrypt(&secret, &x), Err(SchemeError::ParameterMismatch { .. })));
    assert!(matches!(
        b.encrypt(&public, &[0; 16], rng),
        Err(SchemeError::ParameterMismatch { .. })
    ));
    let bytes = a.ciphertexts_to_bytes(&x);
    assert!(matches!(b.ciphertexts_from_bytes(&bytes), Err(SchemeError::ParameterMismatch { .. })));
}

#[test]
fn masks_need_slots() {
    let set = spec(1024, &[26], Packing::Coefficients, integers(2));
    let scheme = Bfv::<u32>::new(set, Assurance::Guidelines2024).unwrap();
    let rng = &mut rng(29);
    let (_, public) = scheme.generate_keys(rng);
    let mut x = scheme.encrypt(&public, &[0; 16], rng).unwrap();
    let error = scheme.mask_assign(&mut x, &[0; 16]).unwrap_err();
    assert!(error.to_string().contains("needs slot packing"), "{error}");
}
