//! Arrays, answers and keys of one scheme: what readers accept is used, and what protects their user is
//! asked.

use hesc_circuits::{Answer, CircuitError, Fusion, Layout, Plaintext, SeededStreams, Streams};
use hesc_math::AesCtrRng;
use hesc_schemes::rlwe::Spec;
use hesc_schemes::{
    Assurance, BitProduct, EcElgamal, Gm, Pad, Plain, Scheme, SchemeError, Simulated,
};
use hesc_stochastic::{Encoder, EncoderConfig, Generator, Origin, Representation, Selector};
use rand_core::SeedableRng;

use super::frames::{Family, Frame};
use super::lies::below;
use super::{Asked, Object, Target};

/// Bits of the streams: no power of two, and offsets cross words.
const LENGTH: usize = 40;

type Failure = Box<dyn std::error::Error>;

/// One scheme with valid objects of every kind, and who reads them.
pub struct StreamsTarget<S: Scheme> {
    scheme: S,
    secret: S::SecretKey,
    public: S::PublicKey,
    /// An array of the reader's own, whose streams some of the objects hold too.
    own: Streams<S>,
    own_origin: Origin,
    tag: Vec<u8>,
    /// Bits of budget that nothing exceeds: those of an encryption under the secret key; of rings whose readers
    /// compare with one of nothing, a hundredth more, which is what a message's rounding takes.
    most_budget: f64,
    objects: Vec<Object>,
    family: Family,
}

/// Under the public key, or under the secret one where no other encrypts.
pub fn encrypted<S: Scheme>(
    scheme: &S,
    (secret, public): (&S::SecretKey, &S::PublicKey),
    plaintext: &Plaintext<'_>,
    rng: &mut AesCtrRng,
) -> Result<Streams<S>, CircuitError> {
    match Streams::encrypt(scheme, public, plaintext, rng) {
        Err(CircuitError::Scheme(SchemeError::NotInScheme { .. })) => {
            SeededStreams::encrypt(scheme, secret, plaintext, rng)?.expand()
        }
        fresh => fresh,
    }
}

impl<S: Scheme> StreamsTarget<S> {
    /// Objects of two key pairs; those of the other one are to lend their parts.
    pub fn new(scheme: S, family: Family, fusion: Option<&Fusion>) -> Result<Self, Failure> {
        let mut rng = AesCtrRng::from_seed([3; 32]);
        let (secret, public) = scheme.generate_keys(&mut rng);
        let representation = match scheme.bit_product() {
            BitProduct::ExclusiveOr => Representation::InvertedBipolar,
            BitProduct::Conjunction => Representation::Unipolar,
        };
        let mut encoder = Encoder::new(EncoderConfig {
            generator: Generator::Sobol,
            representation,
            stream_length: LENGTH,
            first_dimension: 0,
            factors: 2,
            random_state: 1,
        });
        let layout = Layout::OnePerBlock;
        let mut encode = || encoder.encode(&[0.5, 0.25]);
        let (bits, origin) = encode()?;
        let plaintext = Plaintext { bits: &bits, representation, origin, layout, row_length: 2 };
        let x = encrypted(&scheme, (&secret, &public), &plaintext, &mut rng)?;
        let seeded = SeededStreams::encrypt(&scheme, &secret, &plaintext, &mut rng)?;
        let (bits, origin_of_y) = encode()?;
        let of_y = Plaintext { bits: &bits, origin: origin_of_y, ..plaintext };
        let y = encrypted(&scheme, (&secret, &public), &of_y, &mut rng)?;
        let product = x.multiply(&y, &[(0, 0), (1, 1)])?;
        let sum =
            Streams::weighted_sum(&[&product, &y], &[0.5, -2.0])?.add_constants(&[1.0, 2.0])?;

        let mut bytes = vec![
            x.to_bytes(),
            seeded.to_bytes(),
            product.to_bytes(),
            sum.to_bytes(),
            scheme.write(&public),
            scheme.secret_key_to_bytes(&secret).to_vec(),
            Answer::new(&x)?.to_bytes(),
            Answer::new(&sum)?.to_bytes(),
        ];
        if let Ok(compact) = Answer::new(&x)?.compact() {
            bytes.push(compact.to_bytes());
        }
        if let Some(fusion) = fusion {
            bytes.push(Answer::new(&product)?.fuse(fusion)?.to_bytes());
            bytes.push(Answer::new(&x.sum_groups(2)?)?.fuse(&Fusion::Ones)?.to_bytes());
        }
        let (other_secret, other_public) = scheme.generate_keys(&mut rng);
        let others = (&other_secret, &other_public);
        let foreign = encrypted(&scheme, others, &plaintext, &mut rng)?;
        bytes.push(foreign.to_bytes());
        bytes.push(Answer::new(&foreign)?.to_bytes());

        let rounding = if matches!(family, Family::Rlwe) { 0.01 } else { 1e-9 };
        let most_budget = seeded.expand()?.noise_budget() + rounding;
        let objects: Vec<Object> =
            bytes.into_iter().map(|bytes| Object::new(family, bytes)).collect();
        let tag = objects[0].frame.tags().swap_remove(0);
        assert_eq!(tag[..16], scheme.fingerprint().to_bytes());
        let own_origin = origin;
        Ok(Self { scheme, secret, public, own: x, own_origin, tag, most_budget, objects, family })
    }

    /// Whether every ciphertext says that it belongs to the reader's key pair.
    fn is_own(&self, frame: &Frame) -> bool {
        frame.tags().iter().all(|tag| *tag == self.tag)
    }

    fn use_streams(
        &self,
        frame: &Frame,
        streams: &Streams<S>,
        rng: &mut AesCtrRng,
        asked: &mut Asked,
    ) {
        asked.that(streams.noise_budget() <= self.most_budget, "less noise than there can be");
        let origins = frame.named("origin").map(|field| {
            let mut bytes = [0; 32];
            bytes.copy_from_slice(&field.bytes);
            Origin::from_bytes(bytes).expect("the reader accepted it")
        });
        let correlated = origins.into_iter().any(|origin| origin.correlated_with(&self.own_origin));
        if let Ok(used) = self.operation(streams, rng) {
            asked.that(used.multiply(streams, &[(0, 0)]).is_err(), "a square");
            if correlated {
                let product = used.multiply(&self.own, &[(0, 0)]);
                asked.that(product.is_err(), "a product of what is correlated");
            } else {
                let _ = used.multiply(&self.own, &[(0, 0)]);
            }
        }
        if let Ok(answer) = Answer::new(streams) {
            self.use_answer(frame, &answer, rng, asked);
        }
    }

    /// Some operation on the array.
    fn operation(&self, a: &Streams<S>, rng: &mut AesCtrRng) -> Result<Streams<S>, CircuitError> {
        let elements = a.elements();
        match below(rng, 64) {
            // Costly where there is a ciphertext for each bit.
            0 => a.rerandomise(&self.public, elements, rng),
            1 => a.multiplexed_sum(&vec![1.0; elements.min(64)], &mut Selector::new(1)),
            2 => a.allocated_sum(&vec![1.0; elements.min(64)], &vec![1; elements.min(64)], 2),
            3..8 => a.negate(),
            8..16 => a.select(&[elements - 1, 0]),
            16..24 => a.sum_groups(elements),
            24..32 => a.scale(&vec![0.5; elements]),
            32..40 => a.append(a),
            40..48 => a.add(a, &[(0, elements - 1)]),
            48..56 => Streams::weighted_sum(&[a, a], &[1.0, -0.5]),
            _ => a.trimmed(),
        }
    }

    fn use_answer(
        &self,
        frame: &Frame,
        answer: &Answer<S>,
        rng: &mut AesCtrRng,
        asked: &mut Asked,
    ) {
        let counts = answer.decrypt(&self.secret);
        if !self.is_own(frame) {
            asked.that(counts.is_err(), "ciphertexts of another key pair");
            return;
        }
        let Ok(readout) = counts.and_then(|counts| counts.separate()) else { return };
        let weights: Vec<f64> = frame.named("weight").map(|field| field.double()).collect();
        let merged: Vec<f64> = frame.named("merged").map(|field| field.number() as f64).collect();
        let constants: Vec<f64> = frame.named("constant").map(|field| field.double()).collect();
        let values = readout.values();
        let per_element = (weights.len() / values.len()).max(1);
        for (element, value) in values.iter().enumerate() {
            let of_element = element * per_element..(element + 1) * per_element;
            // Seeded streams have no weights.
            let size = |term: usize| {
                weights.get(term).unwrap_or(&1.0).abs() * merged.get(term).unwrap_or(&1.0)
            };
            let most = of_element.map(size).sum::<f64>()
                + constants.get(element).copied().unwrap_or(0.0).abs();
            asked.that(value.abs() <= most * (1.0 + 1e-9), "a value outside of its range");
        }
        // Laws of what is claimed may have to be measured.
        if below(rng, 64) == 0 {
            let right = readout.estimates().iter().all(|estimate| {
                estimate.standard_error >= 0.0 && estimate.standard_error.is_finite()
            });
            asked.that(right, "an error that is no number");
        }
    }
}

impl<S: Scheme> Target for StreamsTarget<S> {
    fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Group elements take milliseconds, those of ElGamal over a prime field tenths of a second.
    fn rarity(&self) -> usize {
        match (self.family, self.scheme.name()) {
            (Family::Bitwise, "elgamal") => 256,
            (Family::Bitwise, _) => 16,
            _ => 1,
        }
    }

    fn read(&self, bytes: &[u8], rng: &mut AesCtrRng, asked: &mut Asked) -> bool {
        let scheme = &self.scheme;
        let mut accepted = false;
        if let Ok(streams) = Streams::from_bytes(scheme, bytes) {
            accepted = true;
            asked.same(&streams.to_bytes(), bytes);
            self.use_streams(&Frame::read(self.family, bytes), &streams, rng, asked);
        }
        if let Ok(seeded) = SeededStreams::from_bytes(scheme, bytes) {
            accepted = true;
            asked.same(&seeded.to_bytes(), bytes);
            if let Ok(streams) = seeded.expand() {
                self.use_streams(&Frame::read(self.family, bytes), &streams, rng, asked);
            }
        }
        if let Ok(answer) = Answer::from_bytes(scheme, bytes) {
            accepted = true;
            asked.same(&answer.to_bytes(), bytes);
            self.use_answer(&Frame::read(self.family, bytes), &answer, rng, asked);
        }
        let public: Result<S::PublicKey, _> = scheme.read(bytes);
        if let Ok(key) = public {
            accepted = true;
            asked.same(&scheme.write(&key), bytes);
        }
        if let Ok(key) = scheme.secret_key_from_bytes(bytes) {
            accepted = true;
            asked.same(&scheme.secret_key_to_bytes(&key), bytes);
        }
        if let Ok(spec) = Spec::from_bytes(bytes) {
            accepted = true;
            asked.same(&spec.to_bytes(), bytes);
        }
        let _ = Plain::spec_from_bytes(bytes);
        let _ = Pad::spec_from_bytes(bytes);
        let _ = Simulated::spec_from_bytes(bytes);
        let _ = EcElgamal::spec_from_bytes(bytes);
        let _ = Gm::spec_from_bytes(bytes, Assurance::Insecure);
        accepted
    }
}
