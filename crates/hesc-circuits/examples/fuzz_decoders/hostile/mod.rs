//! Hostile objects for every reader: damaged bytes, and well-formed ones that lie. What a reader accepts is
//! used, and what protects its user must still hold: a lie never turns a protection off.
//!
//! The example runs millions of cases, the laws of this crate some thousands.

#[cfg(feature = "tfhe")]
mod bits;
mod codes;
mod damage;
mod encrypted_models;
mod forests;
pub mod frames;
mod galleries;
mod lies;
mod logarithms;
mod public_keys;
mod ring_products;
mod search;
pub mod streams;
mod vectors;

use std::time::{Duration, Instant};

use hesc_circuits::Fusion;
use hesc_circuits::ring_products::Under;
use hesc_math::{AesCtrRng, RingIndex, Word, ntt_primes};
use hesc_schemes::rlwe::Spec;
use hesc_schemes::rlwe::{self as with_products, SchemeKind};
use hesc_schemes::streams::elgamal::Secp256r1;
use hesc_schemes::{
    Assurance, Bfv, BitProduct, Ckks, EcElgamal, EcElgamalSecp256r1, Elgamal, Gm, Packing, Pad,
    Plain, Simulated, UnipolarElgamal, UnipolarSlots,
};
use rand_core::SeedableRng;

use encrypted_models::EncryptedModelTarget;
use forests::ForestTarget;
use frames::{Family, Frame};
use galleries::GalleryTarget;
use lies::below;
use logarithms::LogarithmTarget;
use public_keys::PublicKeysTarget;
use ring_products::RingProductTarget;
use search::SearchTarget;
use streams::StreamsTarget;
use vectors::VectorTarget;

/// A valid object.
pub struct Object {
    bytes: Vec<u8>,
    frame: Frame,
}

impl Object {
    fn new(family: Family, bytes: Vec<u8>) -> Self {
        Self { frame: Frame::read(family, &bytes), bytes }
    }
}

/// What reads the objects of one scheme.
pub trait Target: Sync {
    /// Valid objects.
    fn objects(&self) -> &[Object];
    /// Of so many cases that might be its own, one is: more where a case takes longer.
    fn rarity(&self) -> usize {
        1
    }
    /// Reads bytes as everything they might be and uses what a reader accepts; whether one did.
    fn read(&self, bytes: &[u8], rng: &mut AesCtrRng, asked: &mut Asked) -> bool;
}

/// Protections that were asked for.
#[derive(Debug, Default)]
pub struct Asked {
    times: u64,
}

impl Asked {
    /// A protection that must hold.
    fn that(&mut self, holds: bool, otherwise: &str) {
        self.times += 1;
        assert!(holds, "accepted: {otherwise}");
    }

    /// What was read is written again as it was: there is one form of everything.
    fn same(&mut self, again: &[u8], bytes: &[u8]) {
        self.that(again == bytes, "a second form of the same object");
    }
}

/// What happened.
#[derive(Debug, Default)]
pub struct Tally {
    pub refused: u64,
    pub accepted: u64,
    /// Protections that were asked of what was accepted, all of which held.
    pub asked: u64,
    /// The case that took longest.
    pub slowest: Duration,
}

/// Sends so many hostile objects to the readers: every second one damaged, every second one a lie; few to
/// those whose cases are costly.
pub fn attack(targets: &[Box<dyn Target>], cases: u64, seed: u64) -> Tally {
    let mut rng = AesCtrRng::seed_from_u64(seed);
    let mut tally = Tally::default();
    let mut asked = Asked::default();
    for case in 0..cases {
        let target = loop {
            let target = &targets[below(&mut rng, targets.len())];
            if below(&mut rng, target.rarity()) == 0 {
                break target;
            }
        };
        let objects = target.objects();
        let [object, other] = [0; 2].map(|_| &objects[below(&mut rng, objects.len())]);
        let bytes = if case % 2 == 0 {
            damage::damage(&object.bytes, &other.bytes, &mut rng)
        } else {
            let mut lying = object.frame.clone();
            lies::lie(&mut lying, &other.frame, &mut rng);
            lying.to_bytes()
        };
        let start = Instant::now();
        if target.read(&bytes, &mut rng, &mut asked) {
            tally.accepted += 1;
        } else {
            tally.refused += 1;
        }
        tally.slowest = tally.slowest.max(start.elapsed());
    }
    tally.asked = asked.times;
    tally
}

/// What is true is read: every valid object, by some reader.
pub fn valid_objects_are_read(targets: &[Box<dyn Target>]) {
    let mut rng = AesCtrRng::seed_from_u64(0);
    for target in targets {
        for object in target.objects() {
            let kind = object.frame.kind;
            let read = target.read(&object.bytes, &mut rng, &mut Asked::default());
            assert!(read, "a valid object of kind {kind} is refused");
        }
    }
}

type Targets = Result<Vec<Box<dyn Target>>, Box<dyn std::error::Error>>;

fn lattice(
    bits: u32,
    plaintext: hesc_schemes::rlwe::PlaintextSpace,
    packing: Packing,
) -> Result<Spec, hesc_schemes::SchemeError> {
    Spec::streams(256, ntt_primes(bits, 256, 1)?, packing, plaintext)
}

fn bfv<W: Word>(
    bits: u32,
    plain_modulus: u64,
    packing: Packing,
) -> Result<Bfv<W>, Box<dyn std::error::Error>> {
    let plaintext = hesc_schemes::rlwe::PlaintextSpace::Integers { plain_modulus };
    Ok(Bfv::new(lattice(bits, plaintext, packing)?, Assurance::Insecure)?)
}

fn ckks(bits: u32, scale: f64, packing: Packing) -> Result<Ckks<u64>, Box<dyn std::error::Error>> {
    let plaintext = hesc_schemes::rlwe::PlaintextSpace::Approximate { scale };
    Ok(Ckks::new(lattice(bits, plaintext, packing)?, Assurance::Insecure)?)
}

/// Readers of all schemes whose cases take microseconds.
pub fn quick_targets() -> Targets {
    use Family::{Bitwise, Clear, Lattice, Rlwe};
    let digits = Fusion::Digits { bases: vec![3] };
    let two = Some(&digits);
    let unipolar = with_products::Spec {
        scheme: SchemeKind::Bfv,
        ring: RingIndex::power_of_two(256)?,
        coeff_moduli: ntt_primes(44, 256, 2)?,
        special_moduli: Vec::new(),
        plaintext: hesc_schemes::rlwe::PlaintextSpace::Integers { plain_modulus: 7681 },
        bound: 1.0,
        packing: None,
        levels: Vec::new(),
    };
    // Binary slots of an odd ring, a word of them.
    let odd = RingIndex::new(1285)?;
    let binary = with_products::Spec {
        scheme: SchemeKind::Bgv,
        ring: odd,
        coeff_moduli: odd.ntt_primes_of_bits(&[44, 44], 1)?,
        plaintext: hesc_schemes::rlwe::PlaintextSpace::Integers { plain_modulus: 2 },
        ..unipolar.clone()
    };
    let slots = |spec| UnipolarSlots::new(spec, Assurance::Insecure);
    let simulated = |product| Simulated::new(64, product);
    Ok(vec![
        Box::new(StreamsTarget::new(Plain::new(64, 32)?, Clear, two)?),
        Box::new(StreamsTarget::new(Pad::new(64)?, Clear, None)?),
        Box::new(StreamsTarget::new(simulated(BitProduct::ExclusiveOr)?, Clear, None)?),
        Box::new(StreamsTarget::new(simulated(BitProduct::Conjunction)?, Clear, None)?),
        Box::new(StreamsTarget::new(bfv::<u32>(27, 32, Packing::Coefficients)?, Lattice, two)?),
        Box::new(StreamsTarget::new(bfv::<u64>(50, 7681, Packing::Slots)?, Lattice, two)?),
        Box::new(StreamsTarget::new(
            ckks(40, 21f64.exp2(), Packing::Coefficients)?,
            Lattice,
            None,
        )?),
        Box::new(StreamsTarget::new(ckks(60, 25f64.exp2(), Packing::Slots)?, Lattice, None)?),
        Box::new(StreamsTarget::new(EcElgamal::new(16)?, Bitwise, two)?),
        Box::new(StreamsTarget::new(slots(unipolar)?, Rlwe, None)?),
        Box::new(StreamsTarget::new(slots(binary)?, Rlwe, None)?),
        Box::new(codes::CodesTarget::new(bfv::<u32>(
            30,
            u64::from(codes::MODULUS),
            Packing::Coefficients,
        )?)?),
        Box::new(VectorTarget::new(SchemeKind::Bfv, 512, 7681)?),
        Box::new(VectorTarget::new(SchemeKind::Bgv, 512, 7681)?),
        Box::new(VectorTarget::new(SchemeKind::Ckks, 512, 0)?),
        Box::new(VectorTarget::new(SchemeKind::Bfv, 255, 2)?),
        Box::new(VectorTarget::new(SchemeKind::Bgv, 255, 7)?),
        Box::new(RingProductTarget::new(false)?),
        Box::new(RingProductTarget::new(true)?),
        Box::new(EncryptedModelTarget::new(Under::Secret)?),
        Box::new(EncryptedModelTarget::new(Under::Public)?),
        Box::new(ForestTarget::new()?),
        Box::new(GalleryTarget::new()?),
        Box::new(LogarithmTarget::new()?),
        Box::new(PublicKeysTarget::new()?),
        Box::new(SearchTarget::new(false)?),
        Box::new(SearchTarget::new(true)?),
    ])
}

/// Readers of all schemes.
pub fn all_targets() -> Targets {
    use Family::Bitwise;
    let digits = Fusion::Digits { bases: vec![3] };
    let two = Some(&digits);
    let mut targets = quick_targets()?;
    targets.push(Box::new(StreamsTarget::new(EcElgamalSecp256r1::new(16)?, Bitwise, two)?));
    targets.push(Box::new(StreamsTarget::new(Elgamal::new(16)?, Bitwise, two)?));
    targets.push(Box::new(StreamsTarget::new(UnipolarElgamal::over(Secp256r1), Bitwise, None)?));
    let gm = Gm::new(2048, Assurance::Insecure)?;
    targets.push(Box::new(StreamsTarget::new(gm, Bitwise, None)?));
    #[cfg(feature = "tfhe")]
    {
        use hesc_schemes::streams::tfhe::{self, Tfhe};
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
        targets.push(Box::new(StreamsTarget::new(scheme.clone(), Family::Torus, None)?));
        targets.push(Box::new(bits::BitTarget::new(scheme)?));
    }
    Ok(targets)
}
