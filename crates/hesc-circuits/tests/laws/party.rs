//! Parties that encrypt, and every scheme that a law is held against.

use hesc_circuits::{Answer, Layout, Plaintext, Streams};
use hesc_math::{AesCtrRng, RingIndex, Word, ntt_primes};
use hesc_schemes::rlwe::Spec;
use hesc_schemes::rlwe::{self, SchemeKind};
use hesc_schemes::streams::elgamal::Secp256r1;
use hesc_schemes::{
    Assurance, Bfv, BitProduct, Ckks, EcElgamalSecp256r1, Gm, Packing, Pad, Plain, Scheme,
    Simulated, UnipolarElgamal, UnipolarSlots,
};
use hesc_stochastic::{BitStreams, Encoder, EncoderConfig, Generator, Origin, Representation};
use rand_core::SeedableRng;

use super::hostile::frames::Family;
use super::hostile::streams::encrypted;

pub const IBP: Representation = Representation::InvertedBipolar;

/// A key pair and what encrypts with it.
pub struct Party<S: Scheme> {
    pub scheme: S,
    pub secret: S::SecretKey,
    pub public: S::PublicKey,
    pub rng: AesCtrRng,
    pub encoder: Encoder,
    /// What `encrypt` and `encrypt_bits` say of the bits.
    pub representation: Representation,
}

impl<S: Scheme> Party<S> {
    /// With inverted-bipolar streams.
    pub fn new(scheme: S, generator: Generator, stream_length: usize) -> Self {
        Self::with(scheme, generator, IBP, stream_length)
    }

    /// With the streams that the scheme multiplies.
    pub fn multiplying(scheme: S, generator: Generator, stream_length: usize) -> Self {
        let representation = match scheme.bit_product() {
            BitProduct::ExclusiveOr => IBP,
            BitProduct::Conjunction => Representation::Unipolar,
        };
        Self::with(scheme, generator, representation, stream_length)
    }

    fn with(
        scheme: S,
        generator: Generator,
        representation: Representation,
        stream_length: usize,
    ) -> Self {
        // Seeded, so that a failure can be repeated.
        let mut rng = AesCtrRng::from_seed([5; 32]);
        let (secret, public) = scheme.generate_keys(&mut rng);
        let encoder = Encoder::new(EncoderConfig {
            generator,
            representation,
            stream_length,
            first_dimension: 0,
            factors: 2,
            random_state: 1,
        });
        Self { scheme, secret, public, rng, encoder, representation }
    }

    pub fn encrypt(&mut self, values: &[f64], layout: Layout) -> (Streams<S>, BitStreams) {
        let (bits, origin) = self.encoder.encode(values).unwrap();
        (self.encrypt_bits(&bits, origin, layout), bits)
    }

    pub fn encrypt_bits(
        &mut self,
        bits: &BitStreams,
        origin: Origin,
        layout: Layout,
    ) -> Streams<S> {
        let representation = self.representation;
        let plaintext = Plaintext { representation, ..plaintext(bits, origin, layout) };
        encrypted(&self.scheme, (&self.secret, &self.public), &plaintext, &mut self.rng).unwrap()
    }

    pub fn decrypt(&self, streams: &Streams<S>) -> Vec<f64> {
        self.read(&Answer::new(streams).unwrap())
    }

    pub fn read(&self, answer: &Answer<S>) -> Vec<f64> {
        let readout = answer.decrypt(&self.secret).unwrap().separate().unwrap();
        readout.estimates().iter().map(|estimate| estimate.value).collect()
    }
}

/// Inverted bipolar streams, all in one row.
pub fn plaintext(bits: &BitStreams, origin: Origin, layout: Layout) -> Plaintext<'_> {
    Plaintext { bits, representation: IBP, origin, layout, row_length: bits.streams() }
}

/// The origin of a draw that no encoder here makes.
pub fn draw(draw: u64) -> Origin {
    Origin::Draw { generator: Generator::Bernoulli, source: 0xd1ce, draw }
}

pub fn decode(bits: &BitStreams) -> Vec<f64> {
    bits.values(IBP)
}

pub fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-9)
}

pub fn bfv<W: Word>(ring_degree: usize, bits: u32, packing: Packing, plain_modulus: u64) -> Bfv<W> {
    let coeff_moduli = ntt_primes(bits, ring_degree, 1).unwrap();
    let plaintext = rlwe::PlaintextSpace::Integers { plain_modulus };
    Bfv::new(
        Spec::streams(ring_degree, coeff_moduli, packing, plaintext).unwrap(),
        Assurance::Insecure,
    )
    .unwrap()
}

pub fn ckks(packing: Packing) -> Ckks<u64> {
    let coeff_moduli = ntt_primes(53, 2048, 1).unwrap();
    let plaintext = rlwe::PlaintextSpace::Approximate { scale: 2f64.powi(25) };
    let spec = Spec::streams(2048, coeff_moduli, packing, plaintext).unwrap();
    Ckks::new(spec, Assurance::Guidelines2024).unwrap()
}

/// Bits in the slots of BFV or BGV.
pub fn unipolar(scheme: SchemeKind) -> UnipolarSlots {
    let spec = rlwe::Spec {
        scheme,
        ring: RingIndex::power_of_two(256).unwrap(),
        coeff_moduli: ntt_primes(44, 256, 4).unwrap(),
        special_moduli: Vec::new(),
        plaintext: rlwe::PlaintextSpace::Integers { plain_modulus: 12289 },
        bound: 1.0,
        packing: None,
        levels: Vec::new(),
    };
    UnipolarSlots::new(spec, Assurance::Insecure).unwrap()
}

/// Bits in the binary slots of an odd ring.
pub fn unipolar_binary() -> UnipolarSlots {
    let ring = RingIndex::new(1285).unwrap();
    let spec = rlwe::Spec {
        ring,
        coeff_moduli: ring.ntt_primes_of_bits(&[44; 4], 1).unwrap(),
        plaintext: rlwe::PlaintextSpace::Integers { plain_modulus: 2 },
        ..unipolar(SchemeKind::Bgv).spec().clone()
    };
    UnipolarSlots::new(spec, Assurance::Insecure).unwrap()
}

/// What holds on every scheme.
pub trait Law {
    fn holds_on<S: Scheme>(&self, scheme: S, family: Family);
}

/// A law on every scheme, with and without masks, noise, parities that wrap and conjunctions.
pub fn on_all_schemes(law: &impl Law) {
    use Family::{Bitwise, Clear, Lattice, Rlwe};
    on_the_clear(law);
    law.holds_on(Simulated::new(128, BitProduct::Conjunction).unwrap(), Clear);
    law.holds_on(bfv::<u32>(1024, 26, Packing::Coefficients, 2), Lattice);
    law.holds_on(bfv::<u32>(512, 27, Packing::Coefficients, 37), Lattice);
    law.holds_on(bfv::<u64>(2048, 53, Packing::Slots, 12_289), Lattice);
    law.holds_on(ckks(Packing::ComplexSlots), Lattice);
    law.holds_on(ckks(Packing::Slots), Lattice);
    // Of the groups one: to circuits they are alike.
    law.holds_on(EcElgamalSecp256r1::new(8).unwrap(), Bitwise);
    law.holds_on(Gm::new(2048, Assurance::Insecure).unwrap(), Bitwise);
    law.holds_on(UnipolarElgamal::over(Secp256r1), Bitwise);
    law.holds_on(unipolar(SchemeKind::Bfv), Rlwe);
    law.holds_on(unipolar(SchemeKind::Bgv), Rlwe);
    law.holds_on(unipolar_binary(), Rlwe);
    law.holds_on(Pad::new(320).unwrap(), Clear);
}

/// A law on schemes that encrypt nothing and refuse nothing: all operations are there.
pub fn on_the_clear(law: &impl Law) {
    law.holds_on(Plain::new(256, 2).unwrap(), Family::Clear);
    law.holds_on(Plain::new(128, 32).unwrap(), Family::Clear);
    law.holds_on(Simulated::new(320, BitProduct::ExclusiveOr).unwrap(), Family::Clear);
}
