//! Allocated sums against the same pieces of streams in the clear, and how their errors compare.

use hesc_circuits::{Answer, CircuitError, Layout, Plaintext, Streams};
use hesc_math::{AesCtrRng, ntt_primes};
use hesc_schemes::Assurance;
use hesc_schemes::rlwe::PlaintextSpace;
use hesc_schemes::rlwe::Spec;
use hesc_schemes::{Bfv, BitProduct, Ckks, Packing, Plain, Scheme, Simulated};
use hesc_stochastic::{BitStreams, Encoder, EncoderConfig, Estimate, Generator, Representation};
use rand_core::SeedableRng;

const IBP: Representation = Representation::InvertedBipolar;

/// One array of all values: (streams by ciphertext, their bits). A call for each operand.
fn encrypt<S: Scheme>(
    scheme: &S,
    operands: &[Vec<f64>],
    generator: Generator,
    layout: Layout,
    stream_length: usize,
) -> (Streams<S>, Vec<BitStreams>, S::SecretKey) {
    let mut rng = AesCtrRng::from_seed([5; 32]);
    let (secret, public) = scheme.generate_keys(&mut rng);
    let mut encoder = Encoder::new(EncoderConfig {
        generator,
        representation: IBP,
        stream_length,
        first_dimension: 0,
        factors: 2,
        random_state: 1,
    });
    let mut all: Option<Streams<S>> = None;
    let mut clear = Vec::new();
    for values in operands {
        let (bits, origin) = encoder.encode(values).unwrap();
        let row_length = values.len();
        let plaintext = Plaintext { bits: &bits, representation: IBP, origin, layout, row_length };
        let streams = Streams::encrypt(scheme, &public, &plaintext, &mut rng).unwrap();
        all = Some(match all {
            None => streams,
            Some(before) => before.append(&streams).unwrap(),
        });
        clear.push(bits);
    }
    // Sum by sum: element i of every operand.
    let (count, width) = (operands.len(), operands[0].len());
    let order: Vec<usize> =
        (0..width).flat_map(|i| (0..count).map(move |k| k * width + i)).collect();
    (all.unwrap().select(&order).unwrap(), clear, secret)
}

fn read<S: Scheme>(streams: &Streams<S>, key: &S::SecretKey) -> Vec<Estimate> {
    let answer = Answer::from_bytes(streams.scheme(), &Answer::new(streams).unwrap().to_bytes());
    answer.unwrap().decrypt(key).unwrap().separate().unwrap().estimates()
}

fn check<S: Scheme>(scheme: &S, layout: Layout, length: usize) {
    let operands = [vec![0.5, -0.25, 0.75], vec![-0.5, 0.125, 0.0], vec![0.25, 0.5, -1.0]];
    let coefficients = [2.0, -1.0, 0.5];
    let (streams, clear, secret) = encrypt(scheme, &operands, Generator::Bernoulli, layout, length);
    for (pieces, granularity) in
        [([1, 1, 1], 1), ([2, 1, 1], 4), ([4, 3, 1], 4), ([4, 4, 4], 4), ([8, 3, 1], 8)]
    {
        let sum = streams.allocated_sum(&coefficients, &pieces, granularity).unwrap();
        let total: usize = pieces.iter().sum();
        assert_eq!(sum.terms_per_element(), total);
        let piece = length / granularity;
        let found = read(&sum, &secret);
        for (i, estimate) in found.iter().enumerate() {
            let (mut expected, mut line) = (0.0, 0);
            for (k, &kept) in pieces.iter().enumerate() {
                let mut ones = 0;
                for _ in 0..kept {
                    let start = line % granularity * piece;
                    ones += (start..start + piece).filter(|&at| clear[k].bit(i, at)).count();
                    line += 1;
                }
                expected += coefficients[k] * IBP.value(ones as f64 / (kept * piece) as f64);
            }
            assert!((estimate.value - expected).abs() < 1e-9, "{pieces:?} {i}");
        }
        // As many streams' worth of blocks as the pieces fill.
        let span = length.div_ceil(scheme.block_length());
        let first = streams.select(&[0, 1, 2]).unwrap();
        let one = first.allocated_sum(&coefficients, &pieces, granularity).unwrap();
        assert!(one.blocks() <= total.div_ceil(granularity) * span);
    }
    assert!(matches!(
        streams.allocated_sum(&coefficients, &[0, 1, 1], 2),
        Err(CircuitError::Pieces { .. })
    ));
    assert!(streams.allocated_sum(&coefficients, &[3, 1, 1], 2).is_err());
    assert!(streams.allocated_sum(&coefficients, &[1, 1, 1], 7).is_err());
    assert!(streams.allocated_sum(&coefficients[..2], &[1, 1], 2).is_err());
    assert!(streams.allocated_sum(&[f64::NAN, 1.0, 1.0], &[1, 1, 1], 2).is_err());
}

#[test]
fn pieces_are_those_of_the_streams() {
    check(&Plain::new(256, 5).unwrap(), Layout::OnePerBlock, 104);
    check(&Simulated::new(320, BitProduct::ExclusiveOr).unwrap(), Layout::SideBySide, 104);
    // Streams over several blocks.
    check(&Simulated::new(320, BitProduct::ExclusiveOr).unwrap(), Layout::OnePerBlock, 1280);
    let coeff_moduli = ntt_primes(53, 2048, 1).unwrap();
    let plaintext = PlaintextSpace::Integers { plain_modulus: 12_289 };
    let spec = Spec::streams(2048, coeff_moduli, Packing::Slots, plaintext).unwrap();
    let bfv = Bfv::<u64>::new(spec, Assurance::Guidelines2024);
    check(&bfv.unwrap(), Layout::SideBySide, 104);
    // Masks change the scale of CKKS, of all blocks or of none.
    let coeff_moduli = ntt_primes(53, 2048, 1).unwrap();
    let plaintext = PlaintextSpace::Approximate { scale: 2f64.powi(25) };
    let spec = Spec::streams(2048, coeff_moduli, Packing::Slots, plaintext).unwrap();
    let ckks = Ckks::<u64>::new(spec, Assurance::Guidelines2024);
    check(&ckks.unwrap(), Layout::SideBySide, 104);
}

#[test]
fn ordered_streams_are_refused_in_parts() {
    let scheme = Simulated::new(1024, BitProduct::ExclusiveOr).unwrap();
    for generator in [Generator::Rotation, Generator::Hammersley] {
        let operands = [vec![0.5], vec![0.25]];
        let (streams, ..) = encrypt(&scheme, &operands, generator, Layout::OnePerBlock, 1024);
        let refused = streams.allocated_sum(&[1.0, 1.0], &[1, 1], 2);
        assert!(matches!(refused, Err(CircuitError::Ordered)), "{generator}");
        assert!(streams.allocated_sum(&[1.0, 1.0], &[1, 1], 1).is_ok());
    }
}

/// Constants travel with the streams, and products with them are refused.
#[test]
fn public_constants_are_added_exactly() {
    let scheme = Plain::new(64, 8).unwrap();
    let operands = [vec![0.5, -0.5], vec![1.0, 1.0]];
    let (streams, _, secret) =
        encrypt(&scheme, &operands, Generator::Sobol, Layout::OnePerBlock, 64);
    let values = |streams: &Streams<Plain>| -> Vec<f64> {
        let bytes = streams.to_bytes();
        let read_again = Streams::from_bytes(&scheme, &bytes).unwrap();
        read(&read_again, &secret).iter().map(|estimate| estimate.value).collect()
    };
    let x = streams.select(&[0, 2]).unwrap();
    let more = x.add_constants(&[1.0, 2.0]).unwrap().add_constants(&[0.25, 0.0]).unwrap();
    assert_eq!(values(&more), [1.75, 1.5]);
    assert_eq!(values(&more.negate().unwrap()), [-1.75, -1.5]);
    assert_eq!(values(&more.scale(&[2.0, -1.0]).unwrap()), [3.5, -1.5]);
    assert_eq!(values(&more.select(&[1, 1, 0]).unwrap()), [1.5, 1.5, 1.75]);
    assert_eq!(values(&more.sum_groups(2).unwrap()), [3.25]);
    assert_eq!(values(&more.add(&x, &[(0, 1), (1, 1)]).unwrap()), [1.25, 1.0]);
    assert_eq!(values(&x.append(&more).unwrap()), [0.5, -0.5, 1.75, 1.5]);
    assert_eq!(values(&more.allocated_sum(&[1.0, 2.0], &[1, 1], 1).unwrap()), [4.75]);
    let one = streams.select(&[1, 3]).unwrap();
    let refused = more.multiply(&one, &[(0, 0)]).err().unwrap();
    assert!(matches!(refused, CircuitError::Constant { .. }));
    assert!(refused.to_string().contains("add constants last"));
    assert!(x.add_constants(&[1.0]).is_err());
    assert!(matches!(x.add_constants(&[f64::INFINITY; 2]), Err(CircuitError::Weight { .. })));
}
