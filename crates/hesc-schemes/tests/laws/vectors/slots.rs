//! Slots of odd rings: values in extensions, along dimensions, unpacked to their coordinates; against arithmetic in
//! each slot by itself.

use hesc_math::RingIndex;
use hesc_math::finite_field::Slots;
use hesc_schemes::rlwe::{
    Basis, Ciphertext, GaloisKeys, PlaintextSpace, Rlwe, SchemeKind, SecretKey, Spec,
};
use hesc_schemes::{Assurance, SchemeError};
use rand_core::Rng;

use super::party::generator;

/// Indices of all kinds (Fermat, prime, others) with plaintext moduli: prime, small and large degrees, powers.
const SETS: [(usize, u64); 8] =
    [(255, 2), (255, 8), (255, 7), (255, 1021), (127, 2), (341, 2), (4369, 2), (4369, 1024)];

struct World {
    scheme: Rlwe,
    secret: SecretKey,
    keys: GaloisKeys,
    rng: hesc_math::AesCtrRng,
}

fn set(scheme: SchemeKind, index: usize, plain_modulus: u64, specials: usize) -> Spec {
    let ring = RingIndex::new(index).unwrap();
    let primes = ring.ntt_primes(50, 3 + specials).unwrap();
    Spec {
        scheme,
        ring,
        coeff_moduli: primes[specials..].to_vec(),
        levels: Vec::new(),
        special_moduli: primes[..specials].to_vec(),
        plaintext: PlaintextSpace::Integers { plain_modulus },
        bound: 1.0,
        packing: None,
    }
}

fn world(index: usize, plain_modulus: u64, seed: u64) -> World {
    let set = set(SchemeKind::Bgv, index, plain_modulus, 1 + (seed % 2) as usize);
    let scheme = Rlwe::new(set, Assurance::Insecure).unwrap();
    let mut rng = generator(seed);
    let (secret, _) = scheme.generate_keys(&mut rng);
    let mut elements = scheme.unpacking_elements().unwrap();
    for (dimension, found) in scheme.dimensions().unwrap().iter().enumerate() {
        elements.push(scheme.dimension_element(dimension, 1).unwrap());
        elements.push(scheme.dimension_element(dimension, found.length as i64 - 1).unwrap());
    }
    let keys = scheme.generate_galois_keys(&secret, &elements, &mut rng).unwrap();
    World { scheme, secret, keys, rng }
}

impl World {
    fn slots(&self) -> &Slots {
        self.scheme.field_slots().unwrap()
    }

    fn coordinates(&mut self) -> Vec<u64> {
        let t = self.scheme.spec().plaintext.modulus();
        (0..self.scheme.ring_degree()).map(|_| self.rng.next_u64() % t).collect()
    }

    fn encrypt(&mut self, coordinates: &[u64]) -> Ciphertext {
        let plaintext = self.scheme.encode_slots(Basis::Normal, coordinates).unwrap();
        let seeded = self.scheme.encrypt_seeded(&self.secret, &plaintext, &mut self.rng).unwrap();
        self.scheme.expand(&seeded).unwrap()
    }

    fn decrypt(&self, a: &Ciphertext) -> Vec<u64> {
        self.scheme
            .decode_slots(Basis::Normal, &self.scheme.decrypt(&self.secret, a).unwrap())
            .unwrap()
    }

    /// What noise is left is what is claimed, or more.
    fn check_noise(&self, a: &Ciphertext) {
        let measured = self.scheme.measured_noise_budget(&self.secret, a).unwrap();
        let claimed = self.scheme.noise_budget(a);
        assert!(measured >= claimed, "{measured} bits are left and {claimed} claimed");
    }
}

#[test]
fn products_and_sums_are_those_of_every_slot() {
    for (seed, (index, t)) in SETS.into_iter().enumerate() {
        let mut w = world(index, t, seed as u64);
        let (x, y) = (w.coordinates(), w.coordinates());
        let (a, b) = (w.encrypt(&x), w.encrypt(&y));
        let product = w.scheme.multiply(&a, &b).unwrap();
        let sum = w.scheme.add(&a, &b).unwrap();
        let (d, slots) = (w.slots().ring().degree(), w.slots());
        let (products, sums) = (w.decrypt(&product), w.decrypt(&sum));
        for at in (0..slots.count()).map(|slot| slot * d) {
            let [u, v] = [&x, &y].map(|z| slots.value(&z[at..][..d]));
            let expected = slots.coordinates(&slots.ring().multiply(&u, &v));
            assert_eq!(products[at..][..d], expected, "{index}, {t}");
            let expected = slots.coordinates(&slots.ring().add(&u, &v));
            assert_eq!(sums[at..][..d], expected, "{index}, {t}");
        }
    }
}

#[test]
fn slots_move_along_dimensions() {
    for (seed, (index, t)) in SETS.into_iter().enumerate() {
        let mut w = world(index, t, seed as u64);
        let x = w.coordinates();
        let a = w.encrypt(&x);
        let (d, count) = (w.slots().ring().degree(), w.slots().count());
        let mut step = count;
        for (number, dimension) in w.scheme.dimensions().unwrap().iter().enumerate() {
            step /= dimension.length;
            for steps in [1, dimension.length as i64 - 1, -1, 0] {
                let element = w.scheme.dimension_element(number, steps).unwrap();
                let moved = w.scheme.apply_galois(&a, element, &w.keys).unwrap();
                w.check_noise(&moved);
                let moved = w.decrypt(&moved);
                for slot in 0..count {
                    let at = slot / step % dimension.length;
                    let to = at as i64 + steps.rem_euclid(dimension.length as i64);
                    let around = to >= dimension.length as i64;
                    let from = slot - at * step + to as usize % dimension.length * step;
                    let mut expected = x[from * d..][..d].to_vec();
                    if around {
                        expected.rotate_right(dimension.twist);
                    }
                    assert_eq!(moved[slot * d..][..d], expected, "{index}, {t}, by {steps}");
                }
            }
        }
    }
}

/// Carries step by step in the clear, for any bits that generate and pass them on, at any levels.
#[test]
fn carries_move_along_slots() {
    let (mut w, mut refused) = (world(255, 2, 3), 0);
    let (relin, length) = {
        let relin = w.scheme.generate_relin_key(&w.secret, &mut w.rng).unwrap();
        (relin, w.scheme.dimensions().unwrap()[0].length)
    };
    let (slots, mut steps) = (w.slots().count(), vec![1]);
    while 2 * steps[steps.len() - 1] < length {
        steps.push(2 * steps[steps.len() - 1]);
    }
    let element = |step: &usize| w.scheme.dimension_element(0, -(*step as i64)).unwrap();
    let elements: Vec<usize> = steps.iter().map(element).collect();
    let keys = w.scheme.generate_galois_keys(&w.secret, &elements, &mut w.rng).unwrap();
    let lanes = slots / length;
    for levels in [[3, 3], [2, 3], [3, 2], [1, 1]] {
        let mut encrypted = |level: usize| {
            let bits: Vec<i64> = (0..slots).map(|_| (w.rng.next_u64() & 1) as i64).collect();
            let plain = w.scheme.encode_integers(&bits).unwrap();
            let seeded = w.scheme.encrypt_seeded(&w.secret, &plain, &mut w.rng).unwrap();
            let a = w.scheme.expand(&seeded).unwrap();
            (bits, w.scheme.mod_switch_to(&a, level).unwrap())
        };
        let [(mut g, generates), (mut p, passes)] = levels.map(&mut encrypted);
        let carries = match w.scheme.carries((&relin, &keys), &generates, &passes, &elements) {
            Ok(carries) => carries,
            Err(error) => {
                assert!(matches!(error, SchemeError::NoiseBudget { .. }), "{error}");
                refused += 1;
                continue;
            }
        };
        w.check_noise(&carries);
        for step in &steps {
            let before = |at: usize| (at + slots - step * lanes) % slots;
            let further = (0..slots).map(|at| p[at] & p[before(at)]).collect();
            g = (0..slots).map(|at| g[at] ^ (p[at] & g[before(at)])).collect();
            p = further;
        }
        let found = w.scheme.decrypt(&w.secret, &carries).unwrap();
        assert_eq!(w.scheme.decode_integers(&found).unwrap(), g, "{levels:?}");
    }
    assert!(refused <= 1, "only the lowest level has no room");
    let a = w.scheme.encode_integers(&[1]).unwrap();
    let a = w.scheme.encrypt_seeded(&w.secret, &a, &mut w.rng).unwrap();
    let a = w.scheme.expand(&a).unwrap();
    let missing = w.scheme.dimension_element(0, 3).unwrap();
    let found = w.scheme.carries((&relin, &keys), &a, &a, &[missing]);
    assert!(matches!(found, Err(SchemeError::MissingKey { .. })));
    let (other, _) = w.scheme.generate_keys(&mut w.rng);
    let others = w.scheme.generate_relin_key(&other, &mut w.rng).unwrap();
    let found = w.scheme.carries((&others, &keys), &a, &a, &elements);
    assert!(matches!(found, Err(SchemeError::KeyMismatch { .. })));
}

#[test]
fn frobenius_maps_rotate_coordinates() {
    for (seed, (index, t)) in SETS.into_iter().enumerate() {
        let mut w = world(index, t, seed as u64);
        let x = w.coordinates();
        let a = w.encrypt(&x);
        let d = w.slots().ring().degree();
        let element = w.scheme.frobenius_element(1).unwrap();
        let image = w.decrypt(&w.scheme.apply_galois(&a, element, &w.keys).unwrap());
        for (found, from) in image.chunks(d).zip(x.chunks(d)) {
            let mut expected = from.to_vec();
            expected.rotate_right(1);
            assert_eq!(found, expected, "{index}, {t}");
        }
        assert_eq!(w.scheme.frobenius_element(d as i64).unwrap(), 1);
    }
}

#[test]
fn unpacking_gives_every_coordinate() {
    for (seed, (index, t)) in SETS.into_iter().enumerate() {
        let mut w = world(index, t, seed as u64);
        let x = w.coordinates();
        let a = w.encrypt(&x);
        let d = w.slots().ring().degree();
        // All of them, and some in an order of their own.
        let chosen = [d - 1, 0, d - 1];
        for (outputs, level) in [((0..d).collect::<Vec<_>>(), 3), (chosen.to_vec(), 2)] {
            let unpacked = w.scheme.unpack(&a, Basis::Normal, &outputs, &w.keys, level).unwrap();
            assert_eq!(unpacked.len(), outputs.len());
            for (output, b) in outputs.iter().zip(&unpacked) {
                w.check_noise(b);
                let plaintext = w.scheme.decrypt(&w.secret, b).unwrap();
                let found = w.scheme.decode_integers(&plaintext).unwrap();
                let numbers = found.iter().map(|x| x.rem_euclid(t as i64) as u64);
                let expected = x.chunks(d).map(|value| value[*output]);
                assert!(numbers.eq(expected), "{index}, {t}, output {output}");
            }
        }
        // A level below, too.
        let below = w.scheme.mod_switch(&a).unwrap();
        let first = &w.scheme.unpack(&below, Basis::Normal, &[0], &w.keys, 2).unwrap()[0];
        w.check_noise(first);
    }
}

/// Ciphertexts of numbers are packed by powers of X and come back one by one, in both formulations.
#[test]
fn what_is_packed_is_unpacked() {
    for (seed, (index, t)) in SETS.into_iter().enumerate() {
        let mut w = world(index, t, seed as u64);
        let (d, count) = (w.slots().ring().degree(), w.slots().count());
        let packed = d.min(9 + seed);
        let x = w.coordinates();
        let columns: Vec<Vec<u64>> =
            (0..packed).map(|j| x[j * count..][..count].to_vec()).collect();
        let numbers: Vec<Ciphertext> = columns
            .iter()
            .map(|column| {
                let by_slot = column.iter().map(|&x| w.slots().coordinate_of_number(x));
                let all: Vec<u64> = by_slot.flat_map(|x| std::iter::repeat_n(x, d)).collect();
                w.encrypt(&all)
            })
            .collect();
        let together = w.scheme.pack(&numbers.iter().collect::<Vec<_>>()).unwrap();
        w.check_noise(&together);
        let powers = w.slots().to_powers(&w.decrypt(&together));
        for (slot, value) in powers.chunks(d).enumerate() {
            let expected = (0..d).map(|j| columns.get(j).map_or(0, |column| column[slot]));
            assert!(value.iter().copied().eq(expected), "{index}, {t}");
        }
        let outputs: Vec<usize> = (0..packed).rev().collect();
        let unpacked = w.scheme.unpack(&together, Basis::Powers, &outputs, &w.keys, 2).unwrap();
        let extracted = [Basis::Powers, Basis::Normal]
            .map(|basis| w.scheme.extract(&together, basis, packed - 1, &w.keys).unwrap());
        let last = w.scheme.unpack(&together, Basis::Normal, &[packed - 1], &w.keys, 3).unwrap();
        assert_eq!(w.decrypt(&extracted[1]), w.decrypt(&last[0]), "{index}, {t}");
        let found = outputs.iter().copied().zip(&unpacked);
        for (output, b) in found.chain([(packed - 1, &extracted[0])]) {
            w.check_noise(b);
            let plaintext = w.scheme.decrypt(&w.secret, b).unwrap();
            let found = w.scheme.decode_integers(&plaintext).unwrap();
            let found: Vec<u64> = found.iter().map(|x| x.rem_euclid(t as i64) as u64).collect();
            assert_eq!(found, columns[output], "{index}, {t}, output {output}");
        }
        // These keys are enough for one output.
        let elements = w.scheme.extraction_elements().unwrap();
        let few = w.scheme.generate_galois_keys(&w.secret, &elements, &mut w.rng).unwrap();
        assert!(w.scheme.extract(&together, Basis::Powers, 0, &few).is_ok());
    }
}

/// Sums of products of operands at any levels, squares among them and others beside: slot by slot those of the
/// field, and with noise below the claim.
#[test]
fn sums_of_products_are_those_of_every_slot() {
    for (seed, (index, t)) in SETS.into_iter().enumerate() {
        let mut w = world(index, t, 40 + seed as u64);
        let relin = w.scheme.generate_relin_key(&w.secret, &mut w.rng).unwrap();
        let x: Vec<Vec<u64>> = (0..3).map(|_| w.coordinates()).collect();
        let fresh: Vec<Ciphertext> = x.iter().map(|x| w.encrypt(x)).collect();
        let low = w.scheme.mod_switch(&fresh[2]).unwrap();
        let (a, b, c) = (&fresh[0], &fresh[1], &low);
        let products = [(a, Some(b)), (c, None), (a, Some(c))];
        let sum = w.scheme.sum_of_products(&relin, &products, &[b, c, b]).unwrap();
        w.check_noise(&sum);
        let again = w.scheme.sum_of_products(&relin, &[(&sum, Some(a))], &[]);
        let (slots, d) = (w.slots(), w.slots().ring().degree());
        let ring = slots.ring();
        let found = w.decrypt(&sum);
        let found_again = again.ok().map(|again| w.decrypt(&again));
        for at in (0..slots.count()).map(|slot| slot * d) {
            let [a, b, c] = [0, 1, 2].map(|i| slots.value(&x[i][at..][..d]));
            let terms = [ring.multiply(&c, &c), ring.multiply(&a, &c), b.clone(), c, b.clone()];
            let expected = terms.iter().fold(ring.multiply(&a, &b), |sum, x| ring.add(&sum, x));
            assert_eq!(found[at..][..d], slots.coordinates(&expected), "{index}, {t}");
            if let Some(found) = &found_again {
                let expected = slots.coordinates(&ring.multiply(&expected, &a));
                assert_eq!(found[at..][..d], expected, "{index}, {t}");
            }
        }
        let alone = w.scheme.sum_of_products(&relin, &[], &[a]).unwrap();
        assert_eq!(w.decrypt(&alone), x[0]);
        assert!(w.scheme.sum_of_products(&relin, &[], &[]).is_err());
        let unfinished = w.scheme.multiply(a, b).unwrap();
        let refused = w.scheme.sum_of_products(&relin, &[(&unfinished, None)], &[]);
        assert!(matches!(refused, Err(SchemeError::NotRelinearised { .. })));
    }
}

#[test]
fn numbers_fill_slots() {
    let mut w = world(255, 7, 3);
    let count = w.slots().count();
    assert_eq!(w.scheme.slot_count(), count);
    let numbers: Vec<i64> = (0..count as i64).map(|x| x % 7 - 3).collect();
    let plaintext = w.scheme.encode_integers(&numbers).unwrap();
    assert_eq!(w.scheme.decode_integers(&plaintext).unwrap(), numbers);
    let (x, limit) = (w.coordinates(), count + 1);
    let values = w.scheme.encode_slots(Basis::Normal, &x).unwrap();
    let refused = w.scheme.decode_integers(&values).unwrap_err();
    assert!(refused.to_string().contains("decode_slots"), "{refused}");
    let many = w.scheme.encode_integers(&vec![0; limit]).err();
    assert_eq!(many, Some(SchemeError::TooManyValues { found: limit, slots: count }));
}

#[test]
fn what_slots_do_not_have_is_refused() {
    let name = |error: SchemeError| match error {
        SchemeError::Parameter { name, .. } => name.to_owned(),
        other => other.to_string(),
    };
    let mut w = world(255, 2, 5);
    let x = w.coordinates();
    let a = w.encrypt(&x);
    let d = w.slots().ring().degree();
    let empty = w.scheme.generate_galois_keys(&w.secret, &[], &mut w.rng).unwrap();
    assert_eq!(name(w.scheme.unpack(&a, Basis::Normal, &[d], &w.keys, 1).unwrap_err()), "outputs");
    let missing = w.scheme.unpack(&a, Basis::Normal, &[0], &empty, 1);
    assert!(matches!(missing, Err(SchemeError::MissingKey { .. })));
    let many = vec![&a; d + 1];
    let refused = w.scheme.pack(&many).err();
    assert_eq!(refused, Some(SchemeError::TooManyValues { found: d + 1, slots: d }));
    assert_eq!(name(w.scheme.pack(&[]).unwrap_err()), "numbers");
    let extracted = w.scheme.extract(&a, Basis::Powers, d, &w.keys);
    assert_eq!(name(extracted.unwrap_err()), "outputs");
    let extracted = w.scheme.extract(&a, Basis::Powers, 0, &empty);
    assert!(matches!(extracted, Err(SchemeError::MissingKey { .. })));
    assert_eq!(name(w.scheme.dimension_element(99, 1).unwrap_err()), "dimension");
    assert_eq!(name(w.scheme.rotation_element(1).unwrap_err()), "ring");
    let too_large = w.scheme.encode_slots(Basis::Normal, &[0, 2]).err();
    assert!(matches!(too_large, Some(SchemeError::Value { position: 1, .. })));
    let too_many = w.scheme.encode_slots(Basis::Normal, &vec![0; w.scheme.ring_degree() + 1]).err();
    assert!(matches!(too_many, Some(SchemeError::TooManyValues { .. })));
    let mut other = world(255, 2, 6);
    let foreign = world(255, 8, 7);
    let theirs = other.encrypt(&x);
    let unpacked = w.scheme.unpack(&theirs, Basis::Normal, &[0], &w.keys, 1);
    assert!(matches!(unpacked, Err(SchemeError::ParameterMismatch { .. })));
    let unpacked = foreign.scheme.unpack(&a, Basis::Normal, &[0], &foreign.keys, 1);
    assert!(matches!(unpacked, Err(SchemeError::ParameterMismatch { .. })));
    let (secret, _) = w.scheme.generate_keys(&mut w.rng);
    let elements = w.scheme.unpacking_elements().unwrap();
    let strange = w.scheme.generate_galois_keys(&secret, &elements, &mut w.rng).unwrap();
    let unpacked = w.scheme.unpack(&a, Basis::Normal, &[0], &strange, 1);
    assert!(matches!(unpacked, Err(SchemeError::KeyMismatch { .. })));
    let plaintext = foreign.scheme.encode_slots(Basis::Normal, &[1]).unwrap();
    let decoded = w.scheme.decode_slots(Basis::Normal, &plaintext);
    assert!(matches!(decoded, Err(SchemeError::ParameterMismatch { .. })));
    let square = w.scheme.multiply(&a, &a).unwrap();
    let parts = w.scheme.unpack(&square, Basis::Normal, &[0], &w.keys, 1);
    assert!(matches!(parts, Err(SchemeError::NotRelinearised { .. })));
    // No power of a prime; a factor of the index; a power-of-two ring.
    for (index, t) in [(255, 14), (255, 3), (1024, 2)] {
        let scheme = Rlwe::new(set(SchemeKind::Bgv, index, t, 1), Assurance::Insecure).unwrap();
        assert!(scheme.field_slots().is_err(), "{index}, {t}");
        assert!(
            scheme.encode_slots(Basis::Normal, &[1]).is_err()
                && scheme.unpacking_elements().is_err()
        );
    }
    // Slots of degree 1 need no keys, hence no special primes to make them with.
    let plain = Rlwe::new(set(SchemeKind::Bgv, 255, 1021, 0), Assurance::Insecure).unwrap();
    let (secret, public) = plain.generate_keys(&mut w.rng);
    let a = plain
        .encrypt(&public, &plain.encode_slots(Basis::Normal, &[1]).unwrap(), &mut w.rng)
        .unwrap();
    let keys = plain.generate_galois_keys(&secret, &[], &mut w.rng).unwrap();
    assert_eq!(
        name(plain.unpack(&a, Basis::Normal, &[0], &keys, 1).unwrap_err()),
        "special_moduli"
    );
    let bfv = Rlwe::new(set(SchemeKind::Bfv, 255, 2, 1), Assurance::Insecure).unwrap();
    let (secret, public) = bfv.generate_keys(&mut w.rng);
    let a =
        bfv.encrypt(&public, &bfv.encode_slots(Basis::Normal, &x).unwrap(), &mut w.rng).unwrap();
    let elements = bfv.unpacking_elements().unwrap();
    let keys = bfv.generate_galois_keys(&secret, &elements, &mut w.rng).unwrap();
    let refused = bfv.unpack(&a, Basis::Normal, &[0], &keys, 1);
    assert!(matches!(refused, Err(SchemeError::NotInScheme { .. })));
    assert_eq!(bfv.decode_slots(Basis::Normal, &bfv.decrypt(&secret, &a).unwrap()).unwrap(), x);
}
