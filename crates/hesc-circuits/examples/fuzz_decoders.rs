//! Hostile bytes into every decoder: `cargo run --release --example fuzz_decoders -- CASES [SEED]`.
//!
//! Starts from valid objects of several schemes, damages them in ways that a parser trips over
//! (bits, bytes, lengths, counts, splices of two objects), repairs the checksum in most cases, and
//! uses what is accepted. A panic, an abort or a hang is a failure; so is an allocation that the
//! size of the input does not justify, which a counting allocator would see as the process's
//! memory limit (run it under `ulimit -v`).

#[cfg(feature = "tfhe")]
use hesc_circuits::gates::Packed;
use hesc_circuits::leveled::{Label, seeded_vector_to_bytes, vector_from_bytes, vector_to_bytes};
use hesc_circuits::{Answer, Fusion, Layout, Plaintext, SeededStreams, Streams};
use hesc_math::{AesCtrRng, ntt_primes};
use hesc_schemes::Assurance;
use hesc_schemes::elgamal::Secp256r1;
use hesc_schemes::leveled::{self, Leveled, SchemeKind};
use hesc_schemes::rlwe::{self, Spec};
#[cfg(feature = "tfhe")]
use hesc_schemes::tfhe::{self, Tfhe};
use hesc_schemes::{
    Bfv, BitProduct, Ckks, EcElgamal, EcElgamalSecp256r1, Elgamal, Gm, Packing, Plain, Scheme,
    Simulated, UnipolarBfv, UnipolarElgamal, gm, wire,
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

/// A scheme with multiplication, its keys and objects.
struct LeveledTarget {
    scheme: Leveled,
    secret: leveled::SecretKey,
    relin: leveled::RelinKey,
    objects: Vec<Vec<u8>>,
}

impl LeveledTarget {
    fn new(kind: SchemeKind) -> Result<Self, Box<dyn std::error::Error>> {
        let primes = ntt_primes(40, 256, 3)?;
        let plaintext = match kind {
            SchemeKind::Ckks => rlwe::Plaintext::Approximate { scale: 30f64.exp2() },
            _ => rlwe::Plaintext::Integers { plain_modulus: 7681 },
        };
        let spec = leveled::Spec {
            scheme: kind,
            ring_degree: 256,
            coeff_moduli: primes[1..].to_vec(),
            special_moduli: primes[..1].to_vec(),
            plaintext,
            bound: 1.0,
        };
        let scheme = Leveled::new(spec, Assurance::Insecure)?;
        let mut rng = AesCtrRng::from_seed([4; 32]);
        let (secret, public) = scheme.generate_keys(&mut rng);
        let relin = scheme.generate_relin_key(&secret, &mut rng)?;
        let galois = scheme.generate_galois_keys(&secret, &[3, 511], &mut rng)?;
        let switch = scheme.generate_switch_key(&secret, &secret, &mut rng)?;
        let plaintext = match kind {
            SchemeKind::Ckks => scheme.encode_bounded(&[], scheme.default_scale(), 2, 1.0)?,
            _ => scheme.encode_integers(&[1, 2])?,
        };
        let a = scheme.encrypt(&public, &plaintext, &mut rng)?;
        let seeded = scheme.encrypt_seeded(&secret, &plaintext, &mut rng)?;
        let label = Label { length: 3, zeros_behind: true, complex: kind == SchemeKind::Ckks };
        let objects = vec![
            scheme.spec().to_bytes(),
            vector_to_bytes(&scheme, label, &a),
            seeded_vector_to_bytes(&scheme, label, &seeded),
            scheme.ciphertext_to_bytes(&a),
            scheme.ciphertext_to_bytes(&scheme.square(&a)?),
            scheme.seeded_to_bytes(&seeded),
            scheme.public_key_to_bytes(&public),
            scheme.secret_key_to_bytes(&secret).to_vec(),
            scheme.relin_key_to_bytes(&relin),
            scheme.galois_keys_to_bytes(&galois),
            scheme.switch_key_to_bytes(&switch),
        ];
        Ok(Self { scheme, secret, relin, objects })
    }

    fn use_ciphertext(&self, a: &leveled::Ciphertext) {
        let s = &self.scheme;
        let _ = s.decrypt(&self.secret, a).map(|plaintext| s.decode_integers(&plaintext));
        let _ = s.add(a, a);
        let _ = s.mod_switch(a);
        let _ = s.square(a).and_then(|square| s.relinearise(&square, &self.relin));
        let _ = s.relinearise(a, &self.relin);
    }
}

impl Decode for LeveledTarget {
    fn objects(&self) -> &[Vec<u8>] {
        &self.objects
    }

    fn decode(&self, bytes: &[u8]) -> usize {
        let s = &self.scheme;
        let mut accepted = 0;
        if let Ok(a) = s.ciphertext_from_bytes(bytes) {
            accepted += 1;
            self.use_ciphertext(&a);
        }
        if let Ok((_, a)) = vector_from_bytes(s, bytes) {
            accepted += 1;
            self.use_ciphertext(&a);
        }
        if let Ok(a) = s.seeded_from_bytes(bytes).and_then(|seeded| s.expand(&seeded)) {
            accepted += 1;
            self.use_ciphertext(&a);
        }
        accepted += usize::from(s.public_key_from_bytes(bytes).is_ok());
        accepted += usize::from(s.secret_key_from_bytes(bytes).is_ok());
        accepted += usize::from(s.relin_key_from_bytes(bytes).is_ok());
        accepted += usize::from(s.galois_keys_from_bytes(bytes).is_ok());
        accepted += usize::from(s.switch_key_from_bytes(bytes).is_ok());
        if let Ok(spec) = leveled::Spec::from_bytes(bytes) {
            accepted += 1;
            // Tables of large rings take their time by right.
            if spec.ring_degree <= 256 {
                let _ = Leveled::new(spec, Assurance::Insecure);
            }
        }
        accepted
    }
}

/// Encrypted bits, and what evaluates on them.
#[cfg(feature = "tfhe")]
struct BitTarget {
    scheme: Tfhe,
    secret: tfhe::SecretKey,
    objects: Vec<Vec<u8>>,
}

#[cfg(feature = "tfhe")]
impl BitTarget {
    fn new(scheme: Tfhe) -> Result<Self, Box<dyn std::error::Error>> {
        let mut rng = AesCtrRng::from_seed([5; 32]);
        let (secret, public) = scheme.generate_keys(&mut rng);
        let blocks = scheme.encrypt(&public, &[7; 4], &mut rng)?;
        let key = scheme.generate_evaluation_key(&secret, &mut rng)?;
        let compact = Scheme::compact(&scheme, &blocks)?;
        let objects = vec![
            scheme.spec().to_bytes(),
            Packed { blocks, shape: vec![2, 100] }.to_bytes(&scheme),
            Packed { blocks: compact, shape: vec![256] }.to_bytes(&scheme),
            scheme.evaluation_key_to_bytes(&key),
        ];
        Ok(Self { scheme, secret, objects })
    }
}

#[cfg(feature = "tfhe")]
impl Decode for BitTarget {
    fn objects(&self) -> &[Vec<u8>] {
        &self.objects
    }

    fn decode(&self, bytes: &[u8]) -> usize {
        let s = &self.scheme;
        let mut accepted = 0;
        if let Ok(bits) = Packed::<tfhe::Ciphertexts>::from_bytes(s, bytes) {
            accepted += 1;
            let _ = s.decrypt(&self.secret, &bits.blocks);
            let _ = s.add(&bits.blocks, &bits.blocks);
            let positions: Vec<usize> = (0..bits.count()).collect();
            let bits = s.extract(&bits.blocks, &positions);
            let _ = bits.and_then(|bits| s.decrypt_bits(&self.secret, &bits));
        }
        if let Ok(bits) = Packed::<tfhe::CompactCiphertexts>::from_bytes(s, bytes) {
            accepted += 1;
            let _ = s.decrypt_compact(&self.secret, &bits.blocks);
        }
        if let Ok(key) = s.evaluation_key_from_bytes(bytes) {
            accepted += 1;
            let _ = s.expand_evaluation_key(key);
        }
        if let Ok(spec) = tfhe::Spec::from_bytes(bytes) {
            accepted += usize::from(Tfhe::new(spec, Assurance::Insecure).is_ok());
        }
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
    #[cfg_attr(not(feature = "tfhe"), expect(unused_mut, reason = "more follow with the feature"))]
    let mut targets: Vec<Box<dyn Decode>> = vec![
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
        Box::new(Target::new(
            UnipolarBfv::new(
                leveled::Spec {
                    scheme: SchemeKind::Bfv,
                    ring_degree: 256,
                    coeff_moduli: ntt_primes(44, 256, 2)?,
                    special_moduli: Vec::new(),
                    plaintext: rlwe::Plaintext::Integers { plain_modulus: 7681 },
                    bound: 1.0,
                },
                Assurance::Insecure,
            )?,
            None,
        )?),
        Box::new(Target::new(Gm::new(2048, gm::Assurance::Insecure)?, None)?),
        Box::new(LeveledTarget::new(SchemeKind::Bfv)?),
        Box::new(LeveledTarget::new(SchemeKind::Bgv)?),
        Box::new(LeveledTarget::new(SchemeKind::Ckks)?),
    ];
    #[cfg(feature = "tfhe")]
    {
        let digits = |base_log, levels| tfhe::Decomposition { base_log, levels };
        let spec = tfhe::Spec {
            ring_degree: 256,
            lwe_dimension: 16,
            log2_ring_noise: -50.0,
            log2_lwe_noise: -30.0,
            bootstrap: digits(23, 1),
            keyswitch: digits(3, 5),
            packing: digits(16, 1),
        };
        let scheme = Tfhe::new(spec, Assurance::Insecure)?;
        targets.push(Box::new(Target::new(scheme.clone(), None)?));
        targets.push(Box::new(BitTarget::new(scheme)?));
    }
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
