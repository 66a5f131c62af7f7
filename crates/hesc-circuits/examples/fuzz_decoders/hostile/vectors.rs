//! Ciphertexts, vectors, slots, keys and parameter sets of the schemes with multiplication.

use hesc_circuits::transciphering::{Message, Shape};
use hesc_circuits::vectors::{
    Content, Integers, Label, Layout, integers_from_bytes, integers_to_bytes,
    seeded_integers_to_bytes, seeded_slots_to_bytes, seeded_vector_to_bytes, slots_from_bytes,
    slots_to_bytes, vector_from_bytes, vector_to_bytes,
};
use hesc_math::{AesCtrRng, RingIndex};
use hesc_schemes::Assurance;
use hesc_schemes::rlwe::PlaintextSpace;
use hesc_schemes::rlwe::noise::{LIMIT, rounding_deviation, secret_key_deviation};
use hesc_schemes::rlwe::{self, Basis, PrimeSet, Rlwe, SchemeKind};
use rand_core::SeedableRng;

use super::frames::{Family, Frame};
use super::lies::below;
use super::{Asked, Object, Target};

/// The largest ring that a set from elsewhere may have here.
const DEGREE: usize = 256;
/// Deviations of a coefficient that the bound on all of them has room for.
const TAILS: f64 = 14.3;
/// Deviations of a slot within the stated error.
const SLOT_TAILS: f64 = 14.0;
/// The flag of a seeded vector.
const SEEDED: u64 = 4;

/// A scheme with multiplication, its keys and objects.
pub struct VectorTarget {
    scheme: Rlwe,
    plain_modulus: u64,
    secret: rlwe::SecretKey,
    relin: rlwe::RelinKey,
    tag: Vec<u8>,
    /// Bits of budget that nothing exceeds, and the least error of a CKKS number times its scale.
    most_budget: f64,
    least_error: f64,
    objects: Vec<Object>,
}

impl VectorTarget {
    /// On the ring of an index, with a plaintext modulus that CKKS does not have.
    pub fn new(
        kind: SchemeKind,
        index: usize,
        plain_modulus: u64,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let ring = RingIndex::new(index)?;
        let primes = ring.ntt_primes(40, 3)?;
        let plaintext = match kind {
            SchemeKind::Ckks => PlaintextSpace::Approximate { scale: 30f64.exp2() },
            _ => PlaintextSpace::Integers { plain_modulus },
        };
        // Levels that are no prefixes, on the rings of odd index.
        let levels = if index % 2 == 1 { vec![1..2, 0..2] } else { Vec::new() };
        let levels = levels.into_iter().map(PrimeSet::new).collect();
        let spec = rlwe::Spec {
            scheme: kind,
            ring,
            coeff_moduli: primes[1..].to_vec(),
            special_moduli: primes[..1].to_vec(),
            plaintext,
            bound: 1.0,
            packing: None,
            levels,
        };
        let scheme = Rlwe::new(spec, Assurance::Insecure)?;
        let mut rng = AesCtrRng::from_seed([4; 32]);
        let (secret, public) = scheme.generate_keys(&mut rng);
        let relin = scheme.generate_relin_key(&secret, &mut rng)?;
        let galois = scheme.generate_galois_keys(&secret, &[3 - index % 2, index - 1], &mut rng)?;
        let switch = scheme.generate_switch_key(&secret, &secret, &mut rng)?;
        let plaintext = match kind {
            SchemeKind::Ckks => scheme.encode_bounded(&[], scheme.default_scale(), 2, 1.0)?,
            _ if ring.is_power_of_two() => scheme.encode_integers(&[1, 2])?,
            _ => scheme.encode_coefficients(&[1, 0, 1])?,
        };
        let a = scheme.encrypt(&public, &plaintext, &mut rng)?;
        let seeded = scheme.encrypt_seeded(&secret, &plaintext, &mut rng)?;
        let (_, other) = scheme.generate_keys(&mut rng);
        let foreign = scheme.encrypt(&other, &plaintext, &mut rng)?;
        let complex = kind == SchemeKind::Ckks;
        let bound = (!complex && ring.is_power_of_two()).then_some(1);
        let label = Label { length: 3, zeros_behind: true, complex, bound };
        let bytes = [
            scheme.spec().to_bytes(),
            vector_to_bytes(&scheme, label, &a),
            seeded_vector_to_bytes(&scheme, label, &seeded),
            scheme.ciphertext_to_bytes(&a),
            scheme.ciphertext_to_bytes(&scheme.square(&a)?),
            scheme.ciphertext_to_bytes(&scheme.mod_switch(&a)?),
            scheme.seeded_to_bytes(&seeded),
            scheme.public_key_to_bytes(&public),
            scheme.secret_key_to_bytes(&secret).to_vec(),
            scheme.relin_key_to_bytes(&relin),
            scheme.galois_keys_to_bytes(&galois),
            scheme.switch_key_to_bytes(&switch),
            scheme.ciphertext_to_bytes(&foreign),
        ];
        let mut bytes = bytes.to_vec();
        if scheme.field_slots().is_ok() {
            let values = [Basis::Normal, Basis::Powers].map(Content::Values);
            bytes.extend(values.map(|content| slots_to_bytes(&scheme, content, &a)));
            bytes.push(seeded_slots_to_bytes(&scheme, Content::Numbers, &seeded));
        }
        if scheme.check_combines().is_ok() {
            let integers = Integers { count: 3, width: 2, signed: true, boolean: false };
            let sliced = (integers, Layout::Sliced);
            bytes.push(integers_to_bytes(&scheme, sliced, &[&a, &a]));
            let bits = [seeded.clone(), seeded.clone()];
            bytes.push(seeded_integers_to_bytes(&scheme, sliced, &bits));
            for layout in
                [Layout::Slotwise, Layout::Packed(Basis::Normal), Layout::Packed(Basis::Powers)]
            {
                if let Ok(count) = integers.ciphertexts(&scheme, layout) {
                    bytes.push(integers_to_bytes(&scheme, (integers, layout), &vec![&a; count]));
                    let seeded = vec![seeded.clone(); count];
                    bytes.push(seeded_integers_to_bytes(&scheme, (integers, layout), &seeded));
                }
            }
            let shape = Shape { slots: 2, blocks: 1 };
            let rows = vec![3, 1, 1, 0];
            bytes.push(Message { nonce: [7; 12], integers, shape, rows }.to_bytes());
        }
        let objects: Vec<Object> =
            bytes.into_iter().map(|bytes| Object::new(Family::Rlwe, bytes)).collect();
        let modulus: f64 = primes[1..].iter().map(|&q| (q as f64).log2()).sum();
        let plain = match kind {
            SchemeKind::Ckks => 0.0,
            _ => (plain_modulus as f64).log2(),
        };
        // A rounding that left nothing else has less noise than an encryption in the smallest rings.
        let degree = scheme.ring_degree();
        let least = secret_key_deviation().min(rounding_deviation(degree));
        Ok(Self {
            tag: objects[3].frame.tags().swap_remove(0),
            most_budget: LIMIT.log2() + modulus - plain - (TAILS * least).log2(),
            least_error: SLOT_TAILS * (degree as f64).sqrt() * secret_key_deviation(),
            scheme,
            plain_modulus,
            secret,
            relin,
            objects,
        })
    }

    fn use_ciphertext(
        &self,
        frame: &Frame,
        a: &rlwe::Ciphertext,
        rng: &mut AesCtrRng,
        asked: &mut Asked,
    ) {
        let s = &self.scheme;
        asked.that(s.noise_budget(a) <= self.most_budget + 1e-9, "less noise than there can be");
        if s.scheme() == SchemeKind::Ckks {
            let least = self.least_error / a.scale();
            asked.that(
                s.error_bound(a) >= least * (1.0 - 1e-9),
                "a smaller error than there can be",
            );
        }
        let plaintext = s.decrypt(&self.secret, a);
        if frame.tags().iter().any(|tag| *tag != self.tag) {
            asked.that(plaintext.is_err(), "a ciphertext of another key pair");
        } else if let Ok(plaintext) = plaintext {
            if s.scheme() == SchemeKind::Ckks {
                // What is larger than was claimed may be refused.
                let numbers = s.decode_complex(&plaintext).unwrap_or_default();
                let finite = numbers.iter().all(|z| z.norm().is_finite());
                asked.that(finite, "a value that is no number");
            } else {
                let most = self.plain_modulus as i64 / 2;
                let values = match s.ring().is_power_of_two() {
                    true => s.decode_integers(&plaintext),
                    false => s.decode_coefficients(&plaintext),
                };
                let values = values.unwrap_or_default();
                let inside = values.iter().all(|value| (-most..=most).contains(value));
                asked.that(inside, "a value outside of its range");
            }
        }
        let results = [s.add(a, a), s.mod_switch(a), s.square(a), s.relinearise(a, &self.relin)];
        for result in results.into_iter().flatten() {
            let budget = s.noise_budget(&result);
            let possible = (0.0..=self.most_budget + 1e-9).contains(&budget);
            asked.that(possible, "an exhausted budget");
        }
        let _ = s.square(a).and_then(|square| s.relinearise(&square, &self.relin));
        // Whatever it claimed: an end comes.
        if below(rng, 16) == 0 {
            let mut sum = a.clone();
            let mut additions = 0;
            while let Ok(longer) = s.add(&sum, &sum) {
                sum = longer;
                additions += 1;
                asked.that(f64::from(additions) <= self.most_budget + 2.0, "sums without an end");
            }
        }
    }
}

impl Target for VectorTarget {
    fn objects(&self) -> &[Object] {
        &self.objects
    }

    fn read(&self, bytes: &[u8], rng: &mut AesCtrRng, asked: &mut Asked) -> bool {
        let s = &self.scheme;
        let mut accepted = false;
        let frame = || Frame::read(Family::Rlwe, bytes);
        if let Ok(a) = s.ciphertext_from_bytes(bytes) {
            accepted = true;
            asked.same(&s.ciphertext_to_bytes(&a), bytes);
            self.use_ciphertext(&frame(), &a, rng, asked);
        }
        if let Ok((label, a)) = vector_from_bytes(s, bytes) {
            accepted = true;
            let frame = frame();
            // A seeded one is expanded when it is read.
            if frame.named("flags").all(|flags| flags.number() & SEEDED == 0) {
                asked.same(&vector_to_bytes(s, label, &a), bytes);
            }
            self.use_ciphertext(&frame, &a, rng, asked);
        }
        if let Ok((content, a)) = slots_from_bytes(s, bytes) {
            accepted = true;
            let frame = frame();
            if frame.named("flags").all(|flags| flags.number() & SEEDED == 0) {
                asked.same(&slots_to_bytes(s, content, &a), bytes);
            }
            self.use_ciphertext(&frame, &a, rng, asked);
        }
        if let Ok((integers, layout, bits)) = integers_from_bytes(s, bytes) {
            accepted = true;
            let frame = frame();
            let expected = integers.ciphertexts(s, layout).ok();
            asked.that(expected == Some(bits.len()), "more or fewer bits than it says");
            if frame.named("flags").all(|flags| flags.number() & SEEDED == 0) {
                let bits: Vec<_> = bits.iter().collect();
                asked.same(&integers_to_bytes(s, (integers, layout), &bits), bytes);
            }
            for bit in &bits {
                self.use_ciphertext(&frame, bit, rng, asked);
            }
        }
        if let Ok(message) = Message::from_bytes(bytes) {
            accepted = true;
            asked.same(&message.to_bytes(), bytes);
        }
        if let Ok(seeded) = s.seeded_from_bytes(bytes) {
            accepted = true;
            asked.same(&s.seeded_to_bytes(&seeded), bytes);
            if let Ok(a) = s.expand(&seeded) {
                self.use_ciphertext(&frame(), &a, rng, asked);
            }
        }
        let mut key = |again: Option<Vec<u8>>| {
            if let Some(again) = again {
                accepted = true;
                asked.same(&again, bytes);
            }
        };
        key(s.public_key_from_bytes(bytes).ok().map(|key| s.public_key_to_bytes(&key)));
        key(s.secret_key_from_bytes(bytes).ok().map(|key| s.secret_key_to_bytes(&key).to_vec()));
        key(s.relin_key_from_bytes(bytes).ok().map(|key| s.relin_key_to_bytes(&key)));
        key(s.galois_keys_from_bytes(bytes).ok().map(|keys| s.galois_keys_to_bytes(&keys)));
        key(s.switch_key_from_bytes(bytes).ok().map(|key| s.switch_key_to_bytes(&key)));
        if let Ok(spec) = rlwe::Spec::from_bytes(bytes) {
            key(Some(spec.to_bytes()));
            // Tables of large rings take their time by right.
            if spec.ring_degree() <= DEGREE {
                let _ = Rlwe::new(spec, Assurance::Insecure);
            }
        }
        accepted
    }
}
