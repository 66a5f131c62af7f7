//! Circuits on the schemes with multiplication against the same in the clear.

use hesc_circuits::leveled::{
    Diagonals, Numbers, dot_rotations, inner_product, matrix_rotations, polynomial,
};
use hesc_math::{AesCtrRng, ntt_primes};
use hesc_schemes::leveled::{
    Ciphertext, Complex64, GaloisKeys, Leveled, PublicKey, RelinKey, SchemeKind, SecretKey, Spec,
};
use hesc_schemes::rlwe::Plaintext;
use hesc_schemes::{Assurance, SchemeError};
use rand_core::{Rng, SeedableRng};

const DEGREE: usize = 1024;
const SIDE: usize = 16;

struct Party {
    scheme: Leveled,
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
        SchemeKind::Ckks => Plaintext::Approximate { scale: 2f64.powi(45) },
        _ => Plaintext::Integers { plain_modulus: ntt_primes(20, DEGREE, 1).unwrap()[0] },
    };
    let spec = Spec {
        scheme: kind,
        ring_degree: DEGREE,
        coeff_moduli: primes[1..].to_vec(),
        special_moduli: primes[..1].to_vec(),
        plaintext,
        bound: 1.0,
    };
    let scheme = Leveled::new(spec, Assurance::Insecure).unwrap();
    let mut rng = AesCtrRng::from_seed([levels as u8; 32]);
    let (secret, public) = scheme.generate_keys(&mut rng);
    let relin = scheme.generate_relin_key(&secret, &mut rng).unwrap();
    let steps = matrix_rotations(SIDE).into_iter().chain(dot_rotations(100));
    let elements: Vec<usize> = steps.map(|s| scheme.rotation_element(s)).collect();
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
            let Plaintext::Integers { plain_modulus } = self.scheme.spec().plaintext else {
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

#[test]
fn polynomials_agree_with_horner() {
    for kind in KINDS {
        let mut p = party(kind, 9);
        for degree in [1usize, 2, 3, 5, 8, 10, 15] {
            let integers: Vec<i64> = (0..=degree as i64)
                .map(|i| (i * 7 + 3) % 5 - 2 + i64::from(i == degree as i64))
                .collect();
            let reals: Vec<f64> = integers.iter().map(|&c| c as f64).collect();
            let xs: Vec<f64> = if kind == SchemeKind::Ckks {
                (0..20).map(|i| f64::from(i) / 10.0 - 1.0).collect()
            } else {
                vec![-2.0, -1.0, 0.0, 1.0, 2.0]
            };
            let expected: Vec<f64> =
                xs.iter().map(|x| reals.iter().rev().fold(0.0, |v, c| v * x + c)).collect();
            let x = p.encrypt(&xs);
            let numbers = if kind == SchemeKind::Ckks {
                Numbers::Reals(&reals)
            } else {
                Numbers::Integers(&integers)
            };
            let y = polynomial(&p.scheme, &p.relin, &x, numbers).unwrap();
            p.check(&y, &expected);
        }
        let x = p.encrypt(&[1.0]);
        let constant =
            if kind == SchemeKind::Ckks { Numbers::Reals(&[1.0]) } else { Numbers::Integers(&[1]) };
        assert!(matches!(polynomial(&p.scheme, &p.relin, &x, constant), Err(SchemeError::Empty)));
    }
}

#[test]
fn inner_products_and_matrices_agree_with_the_clear() {
    for kind in KINDS {
        let mut p = party(kind, 4);
        let mut next = || f64::from((p.rng.next_u32() % 21) as i32 - 10);
        let (x, y): (Vec<f64>, Vec<f64>) = (0..100).map(|_| (next(), next())).unzip();
        let matrix: Vec<f64> =
            (0..SIDE * SIDE).map(|i| if i % 7 == 3 { 0.0 } else { next() }).collect();
        let scale = if kind == SchemeKind::Ckks { 0.1 } else { 1.0 };
        let x: Vec<f64> = x.iter().map(|v| v * scale).collect();
        let (a, b) = (p.encrypt(&x), p.encrypt(&y));
        let dot = inner_product(&p.scheme, &p.relin, &p.galois, &a, &b, 100).unwrap();
        p.check(&dot, &[x.iter().zip(&y).map(|(a, b)| a * b).sum()]);

        let v = &x[..SIDE];
        let row: Vec<f64> = (0..DEGREE / 2).map(|i| v[i % SIDE]).collect();
        let a = p.encrypt(&row);
        let integers: Vec<i64> = matrix.iter().map(|&m| m as i64).collect();
        let numbers = if kind == SchemeKind::Ckks {
            Numbers::Reals(&matrix)
        } else {
            Numbers::Integers(&integers)
        };
        let diagonals = Diagonals::new(&p.scheme, numbers, SIDE, 4).unwrap();
        let product = diagonals.multiply(&p.scheme, &p.galois, &a).unwrap();
        let expected: Vec<f64> = (0..DEGREE / 2)
            .map(|i| (0..SIDE).map(|j| matrix[(i % SIDE) * SIDE + j] * v[j]).sum())
            .collect();
        p.check(&product, &expected);
        assert!(Diagonals::new(&p.scheme, numbers, 15, 4).is_err());
        let low = p.scheme.mod_switch_to(&a, 3).unwrap();
        assert!(matches!(
            diagonals.multiply(&p.scheme, &p.galois, &low),
            Err(SchemeError::LevelMismatch { .. })
        ));
    }
}
