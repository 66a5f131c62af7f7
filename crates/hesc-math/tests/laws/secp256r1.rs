//! Points eight at a time against the `p256` crate.

use hesc_math::AesCtrRng;
use hesc_math::secp256r1::{
    ENCODED_BYTES, FixedBase, Multiples, POINT_OCTETS, WINDOWS, add, add_generator_where, decode,
    encode, is_scalar, keep_where, multiply, neutral, sample_scalar, scalar_windows,
};
use hesc_math::wide::{LANES, Octet};
use p256::elliptic_curve::PrimeField;
use p256::elliptic_curve::group::GroupEncoding;
use p256::{ProjectivePoint, Scalar};
use rand_core::SeedableRng;

/// The point's encoding, the neutral one as zeros.
fn bytes_of(point: &ProjectivePoint) -> Vec<u8> {
    point.to_affine().to_bytes().to_vec()
}

fn scalar(bytes: &[u8; 32]) -> Scalar {
    Scalar::from_repr((*bytes).into()).unwrap()
}

/// Scalars at the edges and random ones, with their digits.
fn scalars(groups: usize) -> (Vec<[u8; 32]>, Vec<Octet>) {
    let rng = &mut AesCtrRng::from_seed([1; 32]);
    let edges = [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::from(2u64), -Scalar::from(2u64)];
    let mut all: Vec<[u8; 32]> = edges.iter().map(|s| s.to_repr().into()).collect();
    while all.len() < groups * LANES {
        all.push(*sample_scalar(rng));
    }
    let mut digits = vec![Octet::ZERO; groups * WINDOWS];
    for (i, bytes) in all.iter().enumerate() {
        for (w, &window) in scalar_windows(bytes).iter().enumerate() {
            digits[i / LANES * WINDOWS + w].0[i % LANES] = window.into();
        }
    }
    (all, digits)
}

fn expected(points: impl Iterator<Item = ProjectivePoint>) -> Vec<u8> {
    points.flat_map(|point| bytes_of(&point)).collect()
}

#[test]
fn multiples_sums_and_encodings_are_those_of_p256() {
    let (scalars, digits) = scalars(3);
    let points = FixedBase::generator().multiples(&digits);
    let reference: Vec<_> =
        scalars.iter().map(|s| ProjectivePoint::GENERATOR * scalar(s)).collect();
    assert_eq!(encode(&points), expected(reference.iter().copied()));
    let read = decode(&encode(&points)).unwrap();
    assert_eq!(encode(&read), encode(&points));

    // Each with each neighbour, itself, its negative and the neutral point.
    let rotate = |by: usize| -> Vec<Octet> {
        let mut bytes = encode(&points);
        bytes.rotate_left(by * ENCODED_BYTES);
        decode(&bytes).unwrap()
    };
    for by in [0, 1, 3] {
        let mut sum = neutral(3);
        add(&mut sum, &points, &rotate(by));
        let pairs = (0..reference.len()).map(|i| reference[i] + reference[(i + by) % 24]);
        assert_eq!(encode(&sum), expected(pairs), "{by}");
    }

    let mut product = points.clone();
    multiply(&mut product, &scalar_windows(&scalars[9]));
    let secret = scalar(&scalars[9]);
    assert_eq!(encode(&product), expected(reference.iter().map(|p| p * &secret)));

    let base = FixedBase::new(&points[POINT_OCTETS..2 * POINT_OCTETS]);
    let products = base.multiples(&digits);
    let of = reference[8];
    assert_eq!(encode(&products), expected(scalars.iter().map(|s| of * scalar(s))));

    let mut added = points.clone();
    add_generator_where(&mut added, &[0b1001, 0, 0xFF]);
    keep_where(&mut added, &[0xFF, 0b10, 0xFF]);
    let changed = reference.iter().enumerate().map(|(i, p)| match i {
        0 | 3 | 16.. => p + &ProjectivePoint::GENERATOR,
        8 | 10..16 => ProjectivePoint::IDENTITY,
        _ => *p,
    });
    assert_eq!(encode(&added), expected(changed));
}

#[test]
fn small_logarithms_are_found() {
    let (_, digits) = scalars(2);
    let b = FixedBase::generator().multiples(&digits);
    let mut a = b.clone();
    for (i, steps) in [(0, 3u32), (1, 9)] {
        for step in 0..steps {
            let mut bits = [0; 2];
            // Point j of group i goes up while j is at least the step.
            bits[i] = (0..8).filter(|j| *j >= step).fold(0, |bits, j| bits | 1 << j);
            add_generator_where(&mut a, &bits);
        }
    }
    let multiples = Multiples::new(20);
    let (counts, found) = multiples.logarithms(&a, &b, 20);
    assert_eq!(counts, [1, 2, 3, 3, 3, 3, 3, 3, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(found, [0xFF, 0xFF]);
    let (_, found) = multiples.logarithms(&a, &b, 2);
    assert_eq!(found, [0b11, 0b11], "no more than the bound");
    // A negative is no count.
    let (_, found) = multiples.logarithms(&b, &a, 20);
    assert_eq!(found, [0, 0]);
}

#[test]
fn only_points_in_their_one_encoding_are_read() {
    let (_, digits) = scalars(1);
    let good = encode(&FixedBase::generator().multiples(&digits));
    let with = |lane: usize, bytes: &[u8]| {
        let mut forged = good.clone();
        forged[lane * ENCODED_BYTES..][..bytes.len()].copy_from_slice(bytes);
        decode(&forged)
    };
    assert!(with(2, &[4]).is_none() && with(2, &[1]).is_none());
    assert!(with(2, &[0]).is_none(), "the neutral point is all zeros");
    assert!(with(1, &[&[2][..], &[0xFF; 32]].concat()).is_none(), "not below the prime");
    let refused = (0u8..64)
        .filter(|&x| {
            let encoding = [&[2][..], &[0; 31], &[x]].concat();
            let known =
                p256::AffinePoint::from_bytes(encoding.as_slice().try_into().unwrap()).is_some();
            assert_eq!(with(5, &encoding).is_some(), bool::from(known), "{x}");
            !bool::from(known)
        })
        .count();
    assert!((20..44).contains(&refused), "about half of all numbers are on no curve");
}

#[test]
fn scalars_are_below_the_order() {
    let order: [u8; 32] = (-Scalar::ONE).to_repr().into();
    assert!(is_scalar(&order));
    let mut next = order;
    next[31] += 1;
    assert!(!is_scalar(&next) && !is_scalar(&[0; 32]) && !is_scalar(&[0xFF; 32]));
}
