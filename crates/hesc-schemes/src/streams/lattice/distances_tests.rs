//! Tables, wide noise, and what noise gives away.

use hesc_math::{Coeff, Eval, Poly, kernels, ntt_primes};

use super::*;
use crate::Assurance;
use crate::gaussian::correlations;
use crate::rlwe::{PlaintextSpace, SchemeKind, SecretKey, Spec};
use crate::streams::{Combine, Decrypt};
use hesc_math::RingIndex;

#[test]
fn wide_noise_is_normal() {
    let mut rng = AesCtrRng::from_seed([7; 32]);
    let mut noise = vec![0; 1 << 16];
    let deviation = 2f64.powi(50);
    sample_wide(&mut noise, deviation, &mut rng);
    let (mut mean, mut square, mut tails) = (0.0, 0.0, 0);
    for &value in &noise {
        let x = value as f64 / deviation;
        mean += x;
        square += x * x;
        tails += u32::from(x.abs() > 2.0);
    }
    let count = noise.len() as f64;
    // Six deviations of each: a false alarm in 1e8 runs, of which there is one, with a fixed seed.
    assert!((mean / count).abs() < 6.0 / count.sqrt());
    assert!((square / count - 1.0).abs() < 6.0 * (2.0 / count).sqrt());
    let expected = 0.0455 * count;
    assert!((f64::from(tails) - expected).abs() < 6.0 * expected.sqrt());
}

#[test]
fn tables_hold_all_signed_sums() {
    let q = 2_147_377_153u32;
    let mut rng = AesCtrRng::from_seed([8; 32]);
    let size = 2 * TILE;
    let mut columns = vec![0u32; 8 * size];
    for word in &mut columns {
        *word = (rand_core::Rng::next_u64(&mut rng) % u64::from(q)) as u32;
    }
    // Extremes: the largest residue, and zero.
    columns[..TILE].fill(q - 1);
    columns[size..size + TILE].fill(0);
    for width in [1, TABLE] {
        let mut tables = vec![0u32; (8 / width * TILE) << width];
        for start in [0, TILE] {
            fill_tables(&mut tables, &columns, (size, start), width, q);
            for (group, table) in tables.chunks_exact(TILE << width).enumerate() {
                for (index, entry) in table.chunks_exact(TILE).enumerate() {
                    for (at, &found) in entry.iter().enumerate() {
                        let expected: i64 = (0..width)
                            .map(|k| {
                                let word = columns[(group * width + k) * size + start + at];
                                if index >> k & 1 == 1 { -i64::from(word) } else { i64::from(word) }
                            })
                            .sum();
                        assert_eq!(i64::from(found), expected.rem_euclid(i64::from(q)));
                    }
                }
            }
        }
    }
}

/// Records of a block, and bits of a code: coefficients enough to read signs from, few enough columns to tell apart.
const DEGREE: usize = 1024;
const BITS: usize = 64;

fn roomy() -> Bfv<u32> {
    let spec = Spec {
        scheme: SchemeKind::Bfv,
        ring: RingIndex::power_of_two(DEGREE).unwrap(),
        coeff_moduli: ntt_primes(26, DEGREE, 2).unwrap(),
        special_moduli: Vec::new(),
        plaintext: PlaintextSpace::Integers { plain_modulus: 65 },
        bound: 1.0,
        packing: Some(Packing::Coefficients),
        levels: Vec::new(),
    };
    Bfv::new(spec, Assurance::Insecure).unwrap()
}

/// The noise of every coefficient of each block, as the key's owner sees it.
fn noise_of(scheme: &Bfv<u32>, key: &SecretKey<u32>, a: &Ciphertexts<u32>) -> Vec<f64> {
    let ring = scheme.ring();
    let secret = Poly::<u32, Eval, _>::new(&*key.words, ring);
    let whole = scheme.log2_modulus().exp2();
    let mut all = Vec::new();
    for block in a.words.chunks_exact(2 * ring.poly_len()) {
        let (first, second) = block.split_at(ring.poly_len());
        let mut words = second.to_vec();
        let product = Poly::<u32, Coeff, _>::new(&mut words[..], ring);
        let mut phase = product.forward(ring).mul_inverse(&secret, ring);
        phase.add_assign(&Poly::<u32, Coeff, _>::new(first, ring), ring);
        let mut fractions = vec![0.0; DEGREE];
        kernels::fraction_of_modulus(&mut fractions, &mut words, ring);
        all.extend(fractions.iter().map(|f| {
            let counts = f * 65.0;
            (counts - counts.round()) / 65.0 * whole
        }));
    }
    all
}

/// Bits of the clear code that the key's owner reads off the noise, of those that it encrypted itself.
fn bits_read_from_noise(columns: &[f64], sum: &[f64], code: u64) -> u32 {
    (0..BITS)
        .map(|j| {
            let column = &columns[j * DEGREE..][..DEGREE];
            let along: f64 = column.iter().zip(sum).map(|(a, b)| a * b).sum();
            u32::from((along < 0.0) == (code >> j & 1 == 1))
        })
        .sum()
}

/// Who encrypted the columns and decrypts their sum knows from its noise which of them were subtracted: the clear
/// code. Hidden, it knows as much as by guessing.
#[test]
fn noise_gives_codes_away_until_it_is_hidden() {
    let scheme = roomy();
    let mut rng = AesCtrRng::from_seed([9; 32]);
    let (secret, public) = scheme.generate_keys(&mut rng);
    let columns = scheme.encrypt(&public, &vec![0; BITS * DEGREE / 64], &mut rng).unwrap();
    let known = noise_of(&scheme, &secret, &columns);
    let codes: Vec<u64> = (0..16).map(|_| rand_core::Rng::next_u64(&mut rng)).collect();
    let all = Columns { first: 0, bits: BITS, records: DEGREE };
    let sums = scheme.distances_vartime(&columns, all, &codes).unwrap();
    let hiding = Hiding { coefficients: 16 * DEGREE as u64, statistical_bits: 40 };
    let hidden =
        scheme.hide_noise(&public, &sums, DEGREE, hiding, NoiseSeed::draw(&mut rng)).unwrap();
    let read = |a: &Ciphertexts<u32>| -> u32 {
        let noise = noise_of(&scheme, &secret, a);
        let rows = noise.chunks_exact(DEGREE).zip(&codes);
        rows.map(|(sum, &code)| bits_read_from_noise(&known, sum, code)).sum()
    };
    // A sign is off four deviations away: of 1024 bits one in thirty thousand. Ten wrong ones: less than 1e-15.
    assert!(read(&sums) > 1014, "{}", read(&sums));
    // Six deviations of 1024 guesses: 2e-9.
    assert!(read(&hidden).abs_diff(512) < 96, "{}", read(&hidden));
    // And the distances are what they were.
    assert_eq!(scheme.decrypt(&secret, &hidden), scheme.decrypt(&secret, &sums));
    // The deviation that a batch claims is the one it has, within six deviations of its own.
    let noise = noise_of(&scheme, &secret, &hidden);
    let square: f64 = noise.iter().map(|x| x * x).sum::<f64>() / noise.len() as f64;
    let ratio = square.sqrt() / hidden.state.deviation;
    assert!((ratio - 1.0).abs() < 6.0 / (2.0 * noise.len() as f64).sqrt(), "{ratio}");
    // It hides the fresh zero's noise too, and is hidden by no less than what was to be hidden.
    let floods = (12.0 * 16.0 * DEGREE as f64).sqrt() * 20f64.exp2();
    let least = floods * sums.state.deviation.hypot(columns.state.deviation);
    assert!((hidden.state.deviation / least - 1.0).abs() < 1e-9);
}

/// The noise that was really added has no relation between neighbours, next but few, or the places of two blocks: who
/// subtracts one coefficient from another has both. And the second part is a fresh one.
#[test]
fn noise_that_hides_is_drawn_for_each_coefficient() {
    let scheme = roomy();
    let mut rng = AesCtrRng::from_seed([12; 32]);
    let (secret, public) = scheme.generate_keys(&mut rng);
    let columns = scheme.encrypt(&public, &vec![0; BITS * DEGREE / 64], &mut rng).unwrap();
    let all = Columns { first: 0, bits: BITS, records: DEGREE };
    let sums = scheme.distances_vartime(&columns, all, &[5; 16]).unwrap();
    let hiding = Hiding { coefficients: 16 * DEGREE as u64, statistical_bits: 40 };
    let hidden =
        scheme.hide_noise(&public, &sums, DEGREE, hiding, NoiseSeed::draw(&mut rng)).unwrap();
    let noise = noise_of(&scheme, &secret, &hidden);
    let far = [1, 2, 3, 4, 7, 8, DEGREE - 1, DEGREE, DEGREE + 1, 8 * DEGREE];
    // Six deviations each: 2e-8 for all, seeded.
    for (lag, found) in correlations(&noise, &far) {
        assert!(found.abs() < 6.0, "{lag}: {found}");
    }
    let size = scheme.ring().poly_len();
    let parts = sums.words.chunks_exact(size).zip(hidden.words.chunks_exact(size));
    for (before, after) in parts {
        let same = before.iter().zip(after).filter(|(a, b)| a == b).count();
        assert!(same < 8, "{same} words of {size} were left as they were");
    }
}

/// A sender that says fewer records than it sent has no distance to the others.
#[test]
fn what_was_not_asked_about_is_masked() {
    let scheme = roomy();
    let mut rng = AesCtrRng::from_seed([13; 32]);
    let (secret, public) = scheme.generate_keys(&mut rng);
    // Ones in all places.
    let columns = scheme.encrypt(&public, &vec![u64::MAX; BITS * DEGREE / 64], &mut rng).unwrap();
    let codes = [0x0123_4567_89ab_cdef_u64; 4];
    let weight = codes[0].count_ones();
    for records in [1, 500, DEGREE] {
        let some = Columns { first: 0, bits: BITS, records };
        let sums = scheme.distances_vartime(&columns, some, &codes).unwrap();
        let hiding = Hiding { coefficients: 4 * DEGREE as u64, statistical_bits: 40 };
        let hide = |records, rng: &mut AesCtrRng| {
            let seed = NoiseSeed::draw(rng);
            let hidden = scheme.hide_noise(&public, &sums, records, hiding, seed).unwrap();
            scheme.decrypt(&secret, &hidden).unwrap()
        };
        // Behind the records what their places hold less twice the code's weight, modulo 65: whole if all are asked for.
        let (whole, asked) = (hide(DEGREE, &mut rng), hide(records, &mut rng));
        let left = DEGREE - records;
        let mut found = [0u32; 65];
        for (whole, asked) in whole.chunks_exact(DEGREE).zip(asked.chunks_exact(DEGREE)) {
            assert!(whole[..records].iter().all(|&count| count == 64 - weight));
            assert_eq!(whole[..records], asked[..records]);
            assert!(whole[records..].windows(2).all(|pair| pair[0] == pair[1]));
            asked[records..].iter().for_each(|&count| found[count as usize] += 1);
        }
        // All numbers are as frequent: seven deviations each, 2e-10 for all of them, seeded.
        let each = 4.0 * left as f64 / 65.0;
        assert!(found.iter().all(|&count| (f64::from(count) - each).abs() <= 7.0 * each.sqrt()));
    }
}

/// What has no room or no meaning is refused before anything is added.
#[test]
fn refusals_name_what_to_do() {
    let scheme = roomy();
    let mut rng = AesCtrRng::from_seed([10; 32]);
    let (_, public) = scheme.generate_keys(&mut rng);
    let columns = scheme.encrypt(&public, &vec![0; BITS * DEGREE / 64], &mut rng).unwrap();
    let all = Columns { first: 0, bits: BITS, records: DEGREE };
    let refused = |a: &Ciphertexts<u32>, of: Columns, codes: &[u64]| {
        scheme.distances_vartime(a, of, codes).unwrap_err().to_string()
    };
    assert!(refused(&columns, Columns { bits: 128, ..all }, &[0; 2]).contains("wrap"));
    assert!(refused(&columns, Columns { bits: 63, ..all }, &[0]).contains("multiple of 64"));
    assert!(refused(&columns, Columns { first: 1, ..all }, &[0]).contains("does not exist"));
    assert!(
        refused(&columns, Columns { first: usize::MAX, ..all }, &[0]).contains("does not exist")
    );
    assert!(refused(&columns, Columns { records: 1025, ..all }, &[0]).contains("ring degree"));
    assert!(refused(&columns, all, &[]).contains("empty"));
    let sum = scheme.combine(&columns, &columns).unwrap();
    assert!(refused(&sum, all, &[0]).contains("fresh"));
    let hide = |coefficients, statistical_bits| {
        let hiding = Hiding { coefficients, statistical_bits };
        scheme
            .hide_noise(&public, &columns, DEGREE, hiding, NoiseSeed(Zeroizing::new([1; 32])))
            .unwrap_err()
    };
    let enough = (BITS * DEGREE) as u64;
    assert!(hide(enough, 39).to_string().contains("at least 40"));
    assert!(hide(enough - 1, 40).to_string().contains("every coefficient"));
    assert!(matches!(hide(u64::MAX, 40), SchemeError::NoiseBudget { .. }));
    let (_, other) = scheme.generate_keys(&mut rng);
    let hiding = Hiding { coefficients: enough, statistical_bits: 40 };
    let mismatch =
        scheme.hide_noise(&other, &columns, DEGREE, hiding, NoiseSeed::draw(&mut rng)).unwrap_err();
    assert!(matches!(mismatch, SchemeError::KeyMismatch { .. }));
}

/// What lies behind the last record stays zero, whatever the codes are: their weights are not shown there.
#[test]
fn nothing_is_shown_behind_the_last_record() {
    let scheme = roomy();
    let mut rng = AesCtrRng::from_seed([11; 32]);
    let (secret, public) = scheme.generate_keys(&mut rng);
    let columns = scheme.encrypt(&public, &vec![0; BITS * DEGREE / 64], &mut rng).unwrap();
    let some = Columns { first: 0, bits: BITS, records: 100 };
    for codes in [vec![u64::MAX, 7], vec![0xffff; 20]] {
        let sums = scheme.distances_vartime(&columns, some, &codes).unwrap();
        let counts = scheme.decrypt(&secret, &sums).unwrap();
        for (row, code) in counts.chunks_exact(DEGREE).zip(&codes) {
            assert!(row[..100].iter().all(|&count| count == code.count_ones()));
            assert!(row[100..].iter().all(|&count| count == 0));
        }
    }
}
