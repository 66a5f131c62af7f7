//! Hostile bytes into every decoder: `cargo run --release --example fuzz_decoders -- CASES [SEED]`.
//!
//! Starts from valid objects of several schemes, damages them in ways that a parser trips over
//! (bits, bytes, lengths, counts, splices of two objects), repairs the checksum in most cases, and
//! uses what is accepted. A panic, an abort or a hang is a failure; so is an allocation that the
//! size of the input does not justify, which a counting allocator would see as the process's
//! memory limit (run it under `ulimit -v`).

use hesc_circuits::{Answer, Fusion, Layout, Plaintext, SeededStreams, Streams};
use hesc_math::{AesCtrRng, ntt_primes};
use hesc_schemes::Assurance;
use hesc_schemes::elgamal::Secp256r1;
use hesc_schemes::rlwe::{self, Spec};
use hesc_schemes::{
    Bfv, BitProduct, Ckks, EcElgamal, EcElgamalSecp256r1, Elgamal, Gm, Packing, Plain, Scheme,
    Simulated, UnipolarElgamal, gm, wire,
};
use hesc_stochastic::{Encoder, EncoderConfig, Generator, Representation};
use rand_core::{Rng, SeedableRng};

/// One scheme with valid objects of every kind and a reader for each.
struct Target<S: Scheme> {
    scheme: S,
    secret: S::SecretKey,
    objects: Vec<Vec<u8>>,
}

/// Reads the bytes as everything they might be; returns how many readers accepted them.
trait Decode {
    fn objects(&self) -> &[Vec<u8>];
    fn decode(&self, bytes: &[u8]) -> usize;
}

impl<S: Scheme> Target<S> {
    fn new(scheme: S, fusion: Option<&Fusion>) -> Result<Self, Box<dyn std::error::Error>> {
        let mut rng = AesCtrRng::from_seed([3; 32]);
        let (secret, public) = scheme.generate_keys(&mut rng);
        let representation = Representation::InvertedBipolar;
        let mut encoder = Encoder::new(EncoderConfig {
            generator: Generator::Sobol,
            representation,
            stream_length: 40,
            first_dimension: 0,
            factors: 2,
            random_state: 1,
        });
        let (bits, origin) = encoder.encode(&[0.5, -0.25])?;
        let layout = Layout::OnePerBlock;
        let plaintext = Plaintext { bits: &bits, representation, origin, layout, row_length: 2 };
        let x = Streams::encrypt(&scheme, &public, &plaintext, &mut rng)?;
        let seeded = SeededStreams::encrypt(&scheme, &secret, &plaintext, &mut rng)?;
        let mut objects = vec![
            x.to_bytes(),
            seeded.to_bytes(),
            scheme.public_key_to_bytes(&public),
            scheme.secret_key_to_bytes(&secret).to_vec(),
            Answer::new(&x)?.to_bytes(),
        ];
        if let Ok(compact) = Answer::new(&x)?.compact() {
            objects.push(compact.to_bytes());
        }
        if let Some(fusion) = fusion {
            objects.push(Answer::new(&x)?.fuse(fusion)?.to_bytes());
        }
        Ok(Self { scheme, secret, objects })
    }
}

impl<S: Scheme> Decode for Target<S> {
    fn objects(&self) -> &[Vec<u8>] {
        &self.objects
    }

    fn decode(&self, bytes: &[u8]) -> usize {
        let scheme = &self.scheme;
        let mut accepted = 0;
        if let Ok(streams) = Streams::from_bytes(scheme, bytes) {
            accepted += 1;
            let _ = streams.sum_groups(streams.elements());
            if let Ok(answer) = Answer::new(&streams) {
                let _ = answer.decrypt(&self.secret).and_then(|counts| counts.separate());
            }
        }
        if let Ok(seeded) = SeededStreams::from_bytes(scheme, bytes) {
            accepted += 1;
            let _ = seeded.expand();
        }
        if let Ok(answer) = Answer::from_bytes(scheme, bytes) {
            accepted += 1;
            let readout = answer.decrypt(&self.secret).and_then(|counts| counts.separate());
            let _ = readout.map(|readout| readout.estimates());
        }
        accepted += usize::from(scheme.public_key_from_bytes(bytes).is_ok());
        accepted += usize::from(scheme.secret_key_from_bytes(bytes).is_ok());
        let _ = Spec::from_bytes(bytes);
        let _ = Plain::spec_from_bytes(bytes);
        let _ = Simulated::spec_from_bytes(bytes);
        let _ = EcElgamal::spec_from_bytes(bytes);
        let _ = Gm::spec_from_bytes(bytes, gm::Assurance::Insecure);
        accepted
    }
}

/// A damaged copy of `bytes`, perhaps with parts of `other`.
fn damage(bytes: &[u8], other: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    for _ in 0..1 + rng.next_u32() % 3 {
        if damaged.is_empty() {
            break;
        }
        let mut below = |n: usize| (rng.next_u64() % n.max(1) as u64) as usize;
        // Heads hold the lengths and counts: damage them more often than residues.
        let near = if below(2) == 0 { damaged.len().min(160) } else { damaged.len() };
        let at = below(near);
        match below(7) {
            0 => damaged[at] ^= 1 << below(8),
            1 => damaged[at] = below(256) as u8,
            2 => damaged.truncate(at),
            3 => damaged.insert(at, below(256) as u8),
            4 => {
                let value = [0, 1, u64::MAX, 1 << 31, 1 << 62, 1 << below(64)][below(6)];
                let end = (at + 8).min(damaged.len());
                damaged[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
            }
            5 => {
                let from = below(other.len());
                let length = below(64).min(other.len() - from);
                let end = at.saturating_add(length).min(damaged.len());
                damaged.splice(at..end, other[from..from + length].iter().copied());
            }
            _ => {
                // The second half of a frame, so that a body ends elsewhere.
                damaged.extend_from_slice(&other[below(other.len())..]);
            }
        }
    }
    // Most hostile peers can compute a checksum and a length; some objects are damaged in transit.
    if damaged.len() >= 30 && !rng.next_u32().is_multiple_of(8) {
        let body = damaged.len() - 16;
        damaged[6..14].copy_from_slice(&((body - 14) as u64).to_le_bytes());
        let checksum = wire::checksum(&damaged[..body]);
        damaged[body..].copy_from_slice(&checksum);
    }
    damaged
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let cases: u64 = arguments.next().as_deref().unwrap_or("10000").parse()?;
    let seed: u64 = arguments.next().as_deref().unwrap_or("1").parse()?;
    let lattice = |bits, plaintext, packing| -> Result<Spec, hesc_math::MathError> {
        Ok(Spec { ring_degree: 256, coeff_moduli: ntt_primes(bits, 256, 1)?, packing, plaintext })
    };
    let integers = rlwe::Plaintext::Integers { plain_modulus: 32 };
    let approximate = rlwe::Plaintext::Approximate { scale: 21f64.exp2() };
    let digits = Fusion::Digits { bases: vec![3] };
    let targets: Vec<Box<dyn Decode>> = vec![
        Box::new(Target::new(Plain::new(64, 32)?, Some(&digits))?),
        Box::new(Target::new(Simulated::new(64, BitProduct::ExclusiveOr)?, None)?),
        Box::new(Target::new(
            Bfv::<u32>::new(lattice(27, integers, Packing::Coefficients)?, Assurance::Insecure)?,
            Some(&digits),
        )?),
        Box::new(Target::new(
            Ckks::<u64>::new(lattice(40, approximate, Packing::Slots)?, Assurance::Insecure)?,
            None,
        )?),
        Box::new(Target::new(EcElgamal::new(16)?, Some(&digits))?),
        Box::new(Target::new(EcElgamalSecp256r1::new(16)?, Some(&digits))?),
        Box::new(Target::new(Elgamal::new(16)?, Some(&digits))?),
        Box::new(Target::new(UnipolarElgamal::over(Secp256r1), None)?),
        Box::new(Target::new(Gm::new(2048, gm::Assurance::Insecure)?, None)?),
    ];
    let mut rng = AesCtrRng::seed_from_u64(seed);
    let (mut accepted, mut refused) = (0u64, 0u64);
    for case in 0..cases {
        let target = &targets[(rng.next_u64() % targets.len() as u64) as usize];
        let objects = target.objects();
        let mut pick = || &objects[(rng.next_u64() % objects.len() as u64) as usize];
        let (bytes, other) = (pick(), pick());
        let damaged = damage(bytes, other, &mut rng);
        if target.decode(&damaged) > 0 {
            accepted += 1;
        } else {
            refused += 1;
        }
        if (case + 1).is_multiple_of(100_000) {
            println!("{} cases", case + 1);
        }
    }
    println!(
        "{cases} cases, seed {seed}: {refused} refused, {accepted} accepted and used, none crashed"
    );
    Ok(())
}
