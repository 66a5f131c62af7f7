//! The laws of [`Scheme`], run on every scheme, every packing, both word sizes and on the scheme
//! that encrypts nothing.

use hesc_math::{AesCtrRng, RingIndex, ntt_primes};
use hesc_schemes::rlwe::{self, SchemeKind};
use hesc_schemes::streams::elgamal::{Exponents, Ffdhe3072, Ristretto255};
use hesc_schemes::streams::{Blocks, Combine, Decrypt, Encrypt, Wire};
use hesc_schemes::{
    Assurance, Bfv, BitProduct, Ckks, EcElgamal, EcElgamalSecp256r1, Elgamal, Gm, Packing, Plain,
    Scheme, SchemeError, Simulated, UnipolarElgamal, UnipolarSlots,
};
use rand_core::Rng;

use super::frames::{TAGGED, overwrite};
use super::parties::{
    approximate, horner, integers, mask_positions, read_ciphertexts, read_compact, read_public_key,
    read_seeded, rng, spec, unipolar, unipolar_bgv, unipolar_binary,
};

fn random_blocks<S: Scheme>(scheme: &S, blocks: usize, rng: &mut AesCtrRng) -> Vec<u64> {
    (0..blocks * scheme.block_length() / 64).map(|_| rng.next_u64()).collect()
}

pub fn counts(bits: &[u64]) -> Vec<u32> {
    bits.iter().flat_map(|word| (0..64).map(move |i| (word >> i) as u32 & 1)).collect()
}

fn check_laws<S: Scheme>(scheme: &S, modulus: Option<u32>) {
    let rng = &mut rng(7);
    let reduce = |x: u32| modulus.map_or(x, |t| x % t);
    let (secret, public) = scheme.generate_keys(rng);
    // More blocks than one thread takes at a time where that is many.
    let blocks = if scheme.block_length() == 64 { 4 } else { 19 };
    let last = blocks - 1;
    let (x, y) = (random_blocks(scheme, blocks, rng), random_blocks(scheme, blocks, rng));
    let (cx, cy) =
        (scheme.encrypt(&public, &x, rng).unwrap(), scheme.encrypt(&public, &y, rng).unwrap());
    let (nx, ny) = (counts(&x), counts(&y));
    assert_eq!(cx.blocks(), blocks);
    assert_eq!(scheme.decrypt(&secret, &cx).unwrap(), nx, "decryption inverts encryption");

    let sum = scheme.combine(&cx, &cy).unwrap();
    let expected: Vec<u32> = nx.iter().zip(&ny).map(|(a, b)| reduce(a + b)).collect();
    assert_eq!(scheme.decrypt(&secret, &sum).unwrap(), expected, "sums are sums of counts");

    let pairs = [(3, 0), (0, 3), (last, last)];
    let crossed =
        scheme.decrypt(&secret, &scheme.combine_pairs(&cx, &cy, &pairs).unwrap()).unwrap();
    let n = scheme.block_length();
    for (k, (i, j)) in pairs.into_iter().enumerate() {
        for p in 0..n {
            assert_eq!(crossed[k * n + p], reduce(nx[i * n + p] + ny[j * n + p]));
        }
    }

    let mut shifted = cx.clone();
    scheme.combine_bits_assign(&mut shifted, &y).unwrap();
    assert_eq!(scheme.decrypt(&secret, &shifted).unwrap(), expected, "plain bits add too");

    let chosen = scheme.select(&cx, &[last, 2, 2]).unwrap();
    let joined = scheme.concatenate(&[&chosen, &cy]).unwrap();
    let decrypted = scheme.decrypt(&secret, &joined).unwrap();
    assert_eq!(decrypted[..n], nx[last * n..]);
    assert_eq!(decrypted[2 * n..3 * n], nx[2 * n..3 * n]);
    assert_eq!(decrypted[3 * n..], ny);

    let seeded = scheme.encrypt_seeded(&secret, &x, rng).unwrap();
    let bytes = scheme.write(&seeded);
    let seeded = read_seeded(scheme, &bytes).unwrap();
    let expanded = scheme.expand(&seeded).unwrap();
    assert_eq!(scheme.decrypt(&secret, &expanded).unwrap(), nx, "seeded ciphertexts expand");
    let mixed = scheme.combine(&expanded, &cy).unwrap();
    assert_eq!(scheme.decrypt(&secret, &mixed).unwrap(), expected);

    let bytes = scheme.write(&sum);
    let read = read_ciphertexts(scheme, &bytes).unwrap();
    assert_eq!(scheme.decrypt(&secret, &read).unwrap(), expected, "the wire form returns");
    let public_again = read_public_key(scheme, &scheme.write(&public)).unwrap();
    let secret_again = scheme.secret_key_from_bytes(&scheme.secret_key_to_bytes(&secret)).unwrap();
    let again = scheme.encrypt(&public_again, &x, rng).unwrap();
    assert_eq!(scheme.decrypt(&secret_again, &again).unwrap(), nx, "keys return");
}

/// Position-wise products, where the packing has them.
fn check_masks<S: Scheme>(scheme: &S) {
    let rng = &mut rng(9);
    let (secret, public) = scheme.generate_keys(rng);
    let (x, mask) = (random_blocks(scheme, 3, rng), random_blocks(scheme, 3, rng));
    let mut a = scheme.encrypt(&public, &x, rng).unwrap();
    mask_positions(scheme, &mut a, &mask).unwrap();
    let expected: Vec<u32> = counts(&x).iter().zip(counts(&mask)).map(|(a, b)| a * b).collect();
    assert_eq!(scheme.decrypt(&secret, &a).unwrap(), expected);
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
    let product = scheme.combine(&cx, &cy).unwrap();
    let read = read_ciphertexts(scheme, &scheme.write(&product)).unwrap();
    assert_eq!(scheme.decrypt(&secret, &read).unwrap(), both);
    assert!(scheme.noise_budget(&read) <= scheme.measured_noise_budget(&secret, &read).unwrap());
    let compact = scheme.write(&scheme.compact(&product).unwrap());
    let compact = read_compact(scheme, &compact).unwrap();
    assert_eq!(scheme.decrypt(&secret, &compact).unwrap(), both);
    let fresh = scheme.rerandomise(&public, &product, rng).unwrap();
    assert_eq!(scheme.decrypt(&secret, &fresh).unwrap(), both);

    let crossed = scheme.combine_pairs(&cx, &cy, &[(1, 0)]).unwrap();
    let expected: Vec<u32> = nx[n..].iter().zip(&ny).map(|(a, b)| a & b).collect();
    assert_eq!(scheme.decrypt(&secret, &crossed).unwrap(), expected);
    let mut plain = cx.clone();
    scheme.combine_bits_assign(&mut plain, &y).unwrap();
    assert_eq!(scheme.decrypt(&secret, &plain).unwrap(), both, "plain bits");
    let mut masked = cx.clone();
    mask_positions(scheme, &mut masked, &y).unwrap();
    let kept: Vec<u32> = nx.iter().zip(&ny).map(|(a, mask)| a | (1 - mask)).collect();
    assert_eq!(scheme.decrypt(&secret, &masked).unwrap(), kept, "ones where the mask is not set");

    let seeded = scheme.encrypt_seeded(&secret, &y, rng).unwrap();
    let seeded = read_seeded(scheme, &scheme.write(&seeded)).unwrap();
    let expanded = scheme.expand(&seeded).unwrap();
    let rows = [vec![(0, 0), (0, 1), (1, 0)], vec![(1, 1)]];
    let fused = scheme.combine_rows(&[&cx, &expanded], &rows).unwrap();
    let mut expected: Vec<u32> = (0..n).map(|i| nx[i] & nx[n + i] & ny[i]).collect();
    expected.extend(&ny[n..]);
    assert_eq!(scheme.decrypt(&secret, &fused).unwrap(), expected, "rows of factors");
    let joined = scheme.concatenate(&[&scheme.select(&cy, &[1, 0]).unwrap(), &cx]).unwrap();
    assert_eq!(scheme.decrypt(&secret, &joined).unwrap(), [&ny[n..], &ny[..n], &nx].concat());
}

/// The download form.
fn check_compact<S: Scheme>(scheme: &S, bytes_per_block: usize) {
    let rng = &mut rng(11);
    let (secret, public) = scheme.generate_keys(rng);
    let (x, y) = (random_blocks(scheme, 3, rng), random_blocks(scheme, 3, rng));
    let a = scheme.encrypt(&public, &x, rng).unwrap();
    let b = scheme.encrypt(&public, &y, rng).unwrap();
    let sum = scheme.combine(&a, &b).unwrap();
    let compact = scheme.compact(&sum).unwrap();
    let bytes = scheme.write(&compact);
    assert!(bytes.len() <= 3 * bytes_per_block + 100, "{}", bytes.len());
    let read = read_compact(scheme, &bytes).unwrap();
    assert_eq!(scheme.decrypt(&secret, &read).unwrap(), scheme.decrypt(&secret, &sum).unwrap());
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
    let scheme = super::parties::small_tfhe(64);
    check_laws(&scheme, Some(16));
    check_compact(&scheme, 2 * 512 * 13 / 8);
    let spec = *scheme.spec();
    assert!(hesc_schemes::Tfhe::new(spec, Assurance::Guidelines2024).is_err());
}

#[test]
fn conjunctions_obey_their_laws() {
    check_conjunctions(&Simulated::new(128, BitProduct::Conjunction).unwrap());
    check_conjunctions(&UnipolarElgamal::over(Ristretto255));
    check_conjunctions(&UnipolarSlots::new(unipolar(1024, 4), Assurance::Insecure).unwrap());
    check_conjunctions(&unipolar_bgv(1024, 4));
    check_conjunctions(&unipolar_binary(1285, 4));
}

#[test]
fn goldwasser_micali_obeys_the_laws() {
    let scheme = Gm::new(2048, Assurance::Insecure).unwrap();
    check_laws(&scheme, Some(2));
    check_masks(&scheme);
    check_laws(&Gm::new(3072, Assurance::Guidelines2024).unwrap(), Some(2));
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
    assert_eq!(full.decrypt(&secret, &full.combine(&a, &a).unwrap()).unwrap(), {
        counts(&x).iter().map(|bit| 2 * bit).collect::<Vec<_>>()
    });
    // The length of exponents is part of the parameters.
    assert!(read_ciphertexts(&scheme, &full.write(&a)).is_err());
}

#[test]
fn ec_elgamal_fuses_digits() {
    let scheme = EcElgamal::new(26).unwrap();
    let rng = &mut rng(29);
    let (secret, public) = scheme.generate_keys(rng);
    let x = random_blocks(&scheme, 3, rng);
    let a = scheme.encrypt(&public, &x, rng).unwrap();
    let sum = scheme.combine(&a, &a).unwrap();
    let fused = horner(&scheme, &[&sum], &[vec![(0, 0), (0, 1), (0, 2)]], &[3, 3]).unwrap();
    let digits = counts(&x);
    let expected: Vec<u32> =
        (0..64).map(|i| 2 * (9 * digits[i] + 3 * digits[64 + i] + digits[128 + i])).collect();
    assert_eq!(scheme.decrypt(&secret, &fused).unwrap(), expected);
    // A count outside the bound that a ciphertext claims is noticed, not misread.
    let lying = overwrite(&scheme.write(&sum), TAGGED, &[1]);
    let lying = read_ciphertexts(&scheme, &lying).unwrap();
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
    mask_positions(&scheme, &mut a, &[0]).unwrap();
    scheme.combine_bits_assign(&mut a, &[0b10]).unwrap();
    let bytes = scheme.write(&scheme.combine(&a, &a).unwrap());
    let hex = |at: usize| -> String {
        let start = 14 + 32 + 8 + 4 + 32 * at;
        bytes[start..start + 32].iter().map(|b| format!("{b:02x}")).collect()
    };
    // First points, then second points of a block.
    let points = [0, 1, 64, 65].map(hex);
    assert_eq!(points, [0, 0, 0, 2].map(|m| MULTIPLES[m].to_owned()));
    let once = scheme.write(&a);
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
    let fused = horner(&scheme, &[&all], &rows, &[6; 4]).unwrap();
    let mut expected = vec![0u32; scheme.block_length()];
    for digit in &digits {
        for (e, d) in expected.iter_mut().zip(counts(digit)) {
            *e = *e * 6 + d;
        }
    }
    expected.extend(counts(&digits[3]));
    assert_eq!(scheme.decrypt(&secret, &fused).unwrap(), expected);
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
fn masks_need_slots() {
    let set = spec(1024, &[26], Packing::Coefficients, integers(2));
    let scheme = Bfv::<u32>::new(set, Assurance::Guidelines2024).unwrap();
    let rng = &mut rng(29);
    let (_, public) = scheme.generate_keys(rng);
    let mut x = scheme.encrypt(&public, &[0; 16], rng).unwrap();
    let error = mask_positions(&scheme, &mut x, &[0; 16]).unwrap_err();
    assert!(error.to_string().contains("needs slot packing"), "{error}");
}

#[test]
fn sets_of_unipolar_slots_are_checked() {
    let set = unipolar(1024, 2);
    let refused = |set: rlwe::Spec| UnipolarSlots::new(set, Assurance::Insecure).err().unwrap();
    let special_moduli = ntt_primes(40, 1024, 1).unwrap();
    assert!(matches!(
        refused(rlwe::Spec { special_moduli, ..set.clone() }),
        SchemeError::Parameter { name: "special_moduli", .. }
    ));
    assert!(matches!(
        refused(rlwe::Spec { plaintext: integers(65539), ..set.clone() }),
        SchemeError::Parameter { name: "plain_modulus", .. }
    ));
    assert!(matches!(
        refused(rlwe::Spec { scheme: SchemeKind::Ckks, ..set.clone() }),
        SchemeError::Parameter { name: "scheme", .. }
    ));
    // Sixteen slots.
    let ring = RingIndex::new(255).unwrap();
    let coeff_moduli = ring.ntt_primes_of_bits(&[40], 1).unwrap();
    let few =
        rlwe::Spec { scheme: SchemeKind::Bgv, ring, coeff_moduli, plaintext: integers(2), ..set };
    assert!(matches!(refused(few), SchemeError::Parameter { name: "slots", .. }));
}
