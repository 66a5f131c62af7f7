//! Circuits on the schemes with multiplication against the same in the clear.

use hesc_circuits::vectors::{
    Label, Matrix, Numbers, dot_rotations, inner_product, matrix_rotations, polynomial,
    vector_from_bytes, vector_to_bytes,
};
use hesc_math::{AesCtrRng, RingIndex, ntt_primes};
use hesc_schemes::rlwe::{
    Ciphertext, GaloisKeys, PlaintextSpace, PublicKey, RelinKey, Rlwe, SchemeKind, SecretKey, Spec,
};
use hesc_schemes::{Assurance, Complex64, SchemeError};
use rand_core::{Rng, SeedableRng};

const DEGREE: usize = 1024;
/// Square, tall, wide, no powers of two.
const SHAPES: [(usize, usize); 6] = [(16, 16), (5, 11), (3, 16), (1, 13), (14, 2), (9, 9)];

struct Party {
    scheme: Rlwe,
    secret: SecretKey,
    public: PublicKey,
    relin: RelinKey,
    galois: GaloisKeys,
    rng: AesCtrRng,
}

fn party(kind: SchemeKind, levels: usize) -> Party {
    // CKKS keeps its scale if that is the size of the primes it is divided by.
    let mut primes = ntt_primes(50, DEGREE, 2).unwrap();
    primes.extend(ntt_primes(45, DEGREE, levels - 1).unwrap());
    let plaintext = match kind {
        SchemeKind::Ckks => PlaintextSpace::Approximate { scale: 2f64.powi(45) },
        _ => PlaintextSpace::Integers { plain_modulus: ntt_primes(20, DEGREE, 1).unwrap()[0] },
    };
    let spec = Spec {
        scheme: kind,
        ring: RingIndex::power_of_two(DEGREE).unwrap(),
        coeff_moduli: primes[1..].to_vec(),
        special_moduli: primes[..1].to_vec(),
        plaintext,
        bound: 1.0,
        packing: None,
        levels: Vec::new(),
    };
    let scheme = Rlwe::new(spec, Assurance::Insecure).unwrap();
    let mut rng = AesCtrRng::from_seed([levels as u8; 32]);
    let (secret, public) = scheme.generate_keys(&mut rng);
    let relin = scheme.generate_relin_key(&secret, &mut rng).unwrap();
    let steps = SHAPES.iter().flat_map(|&(rows, columns)| matrix_rotations(rows, columns));
    let steps = steps.chain(dot_rotations(100));
    let elements: Vec<usize> = steps.map(|s| scheme.rotation_element(s).unwrap()).collect();
    let galois = scheme.generate_galois_keys(&secret, &elements, &mut rng).unwrap();
    Party { scheme, secret, public, relin, galois, rng }
}

impl Party {
    fn encrypt(&mut self, values: &[f64]) -> Ciphertext {
        let s = &self.scheme;
        let plaintext = if s.scheme() == SchemeKind::Ckks {
            let numbers: Vec<_> = values.iter().map(|&v| Complex64::new(v, 0.0)).collect();
            let most = numbers.iter().fold(1.0, |most: f64, v| most.max(v.norm()));
            s.encode_bounded(&numbers, s.default_scale(), s.levels(), most).unwrap()
        } else {
            let numbers: Vec<_> = values.iter().map(|&v| v as i64).collect();
            s.encode_integers(&numbers).unwrap()
        };
        s.encrypt(&self.public, &plaintext, &mut self.rng).unwrap()
    }

    fn check(&self, a: &Ciphertext, expected: &[f64]) {
        let plaintext = self.scheme.decrypt(&self.secret, a).unwrap();
        if self.scheme.scheme() == SchemeKind::Ckks {
            let bound = self.scheme.error_bound(a);
            assert!(bound < 0.01, "{bound}");
            let values = self.scheme.decode_complex(&plaintext).unwrap();
            for (v, e) in values.iter().zip(expected) {
                assert!((v.re - e).abs() < bound, "{v} {e} {bound}");
            }
        } else {
            let PlaintextSpace::Integers { plain_modulus } = self.scheme.spec().plaintext else {
                panic!()
            };
            let values = self.scheme.decode_integers(&plaintext).unwrap();
            for (v, e) in values.iter().zip(expected) {
                assert_eq!((*v - *e as i64).rem_euclid(plain_modulus as i64), 0);
            }
        }
    }
}

const KINDS: [SchemeKind; 3] = [SchemeKind::Bfv, SchemeKind::Bgv, SchemeKind::Ckks];

/// Numbers for any scheme.
struct Clear(Vec<i64>, Vec<Complex64>);

impl Clear {
    fn new(values: &[f64]) -> Self {
        let complex = values.iter().map(|&v| Complex64::new(v, 0.0)).collect();
        Self(values.iter().map(|&v| v as i64).collect(), complex)
    }

    fn numbers(&self, kind: SchemeKind) -> Numbers<'_> {
        if kind == SchemeKind::Ckks {
            Numbers::Complex(&self.1)
        } else {
            Numbers::Integers(&self.0)
        }
    }
}

/// A vector with zeros behind it, copied over all slots.
fn repeated(values: &[f64], slots: usize) -> Vec<f64> {
    let period = values.len().next_power_of_two();
    (0..slots).map(|slot| values.get(slot % period).copied().unwrap_or(0.0)).collect()
}

#[test]
fn polynomials_agree_with_horner() {
    for kind in KINDS {
        let mut p = party(kind, 9);
        for degree in [0usize, 1, 2, 3, 5, 8, 10, 15] {
            let coefficients: Vec<f64> = (0..=degree)
                .map(|i| ((i * 7 + 3) % 5) as f64 - 2.0 + f64::from(u8::from(i == degree)))
                .collect();
            let xs: Vec<f64> = if kind == SchemeKind::Ckks {
                (0..20).map(|i| f64::from(i) / 10.0 - 1.0).collect()
            } else {
                vec![-2.0, -1.0, 0.0, 1.0, 2.0]
            };
            let expected: Vec<f64> =
                xs.iter().map(|x| coefficients.iter().rev().fold(0.0, |v, c| v * x + c)).collect();
            let x = p.encrypt(&repeated(&xs, p.scheme.slot_count()));
            let clear = Clear::new(&coefficients);
            let numbers = clear.numbers(kind);
            let y = polynomial(&p.scheme, &p.relin, &x, numbers, xs.len()).unwrap();
            // What is behind the numbers stays zero.
            p.check(&y, &repeated(&expected, p.scheme.slot_count()));
        }
        let x = p.encrypt(&[1.0]);
        let none = Clear::new(&[]);
        let result = polynomial(&p.scheme, &p.relin, &x, none.numbers(kind), 1);
        assert!(matches!(result, Err(SchemeError::Empty)));
    }
}

#[test]
fn inner_products_and_matrices_agree_with_the_clear() {
    for kind in KINDS {
        let mut p = party(kind, 4);
        let mut next = || f64::from((p.rng.next_u32() % 21) as i32 - 10);
        let (x, y): (Vec<f64>, Vec<f64>) = (0..100).map(|_| (next(), next())).unzip();
        let scale = if kind == SchemeKind::Ckks { 0.1 } else { 1.0 };
        let x: Vec<f64> = x.iter().map(|v| v * scale).collect();
        let slots = p.scheme.slot_count();
        let (a, b) = (p.encrypt(&repeated(&x, slots)), p.encrypt(&repeated(&y, slots)));
        let dot = inner_product(&p.scheme, &p.relin, &p.galois, &a, &b, 100).unwrap();
        p.check(&dot, &vec![x.iter().zip(&y).map(|(a, b)| a * b).sum(); slots]);

        for (rows, columns) in SHAPES {
            let mut next = || f64::from((p.rng.next_u32() % 21) as i32 - 10);
            let matrix: Vec<f64> =
                (0..rows * columns).map(|i| if i % 7 == 3 { 0.0 } else { next() }).collect();
            let v = &x[..columns];
            let a = p.encrypt(&repeated(v, slots));
            let clear = Clear::new(&matrix);
            let numbers = clear.numbers(kind);
            let encoded = Matrix::new(&p.scheme, numbers, (rows, columns), 4).unwrap();
            let result = encoded.multiply(&p.scheme, &p.galois, &a).unwrap();
            let expected: Vec<f64> = matrix
                .chunks(columns)
                .map(|row| row.iter().zip(v).map(|(m, v)| m * v).sum())
                .collect();
            p.check(&result, &repeated(&expected, slots));
            assert!(Matrix::new(&p.scheme, numbers, (rows + 1, columns), 4).is_err());
            let low = p.scheme.mod_switch_to(&a, 3).unwrap();
            let again = encoded.multiply(&p.scheme, &p.galois, &low);
            if kind == SchemeKind::Ckks {
                assert!(matches!(again, Err(SchemeError::LastLevel { level: 3, wanted: 4 })));
                let encoded = Matrix::new(&p.scheme, numbers, (rows, columns), 3).unwrap();
                let lowered = encoded.multiply(&p.scheme, &p.galois, &a).unwrap();
                p.check(&lowered, &repeated(&expected, slots));
            } else {
                p.check(&again.unwrap(), &repeated(&expected, slots));
            }
        }
    }
}

#[test]
fn vectors_travel_with_what_is_known_of_them() {
    for kind in KINDS {
        let mut p = party(kind, 3);
        let a = p.encrypt(&[1.0, 2.0, 3.0, 0.0]);
        let complex = kind == SchemeKind::Ckks;
        let label =
            Label { length: 3, zeros_behind: false, complex, bound: (!complex).then_some(3) };
        let bytes = vector_to_bytes(&p.scheme, label, &a);
        let (found, b) = vector_from_bytes(&p.scheme, &bytes).unwrap();
        assert_eq!(found, label);
        p.check(&b, &[1.0, 2.0, 3.0, 0.0]);
        let too_long = Label { length: p.scheme.slot_count() + 1, ..label };
        // Nothing is behind four numbers.
        let full = Label { length: 4, ..label };
        for wrong in [too_long, full, Label { length: 0, ..label }] {
            let bytes = vector_to_bytes(&p.scheme, wrong, &a);
            assert!(matches!(vector_from_bytes(&p.scheme, &bytes), Err(SchemeError::Wire { .. })));
        }
        // Bounds are of integers that there are: the last one, and one beyond.
        let most = p.scheme.integer_range().map_or(0, |(smallest, _)| smallest.unsigned_abs());
        let [largest, beyond] = [most, most + 1].map(|bound| Label { bound: Some(bound), ..label });
        let read = |label| vector_from_bytes(&p.scheme, &vector_to_bytes(&p.scheme, label, &a));
        assert!(complex || read(largest).unwrap().0 == largest);
        assert!(matches!(read(beyond), Err(SchemeError::Wire { .. })));
        if !complex {
            let bytes = vector_to_bytes(&p.scheme, Label { complex: true, ..label }, &a);
            assert!(vector_from_bytes(&p.scheme, &bytes).is_err());
        }
    }
}
