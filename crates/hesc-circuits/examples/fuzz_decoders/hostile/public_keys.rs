//! Public keys in one frame, whole and by part.

use hesc_math::{AesCtrRng, RingIndex, ntt_primes};
use hesc_schemes::Assurance;
use hesc_schemes::public_keys::{self, Part};
use hesc_schemes::rlwe::{self, PlaintextSpace, Rlwe, SchemeKind};
use rand_core::SeedableRng;

use super::frames::{Family, HEADER};
use super::{Asked, Object, Target};

/// A set, and frames of two key pairs: all parts, some, the public key alone.
pub struct PublicKeysTarget {
    scheme: Rlwe,
    objects: Vec<Object>,
}

impl PublicKeysTarget {
    /// Of a small ring.
    pub fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let ring = RingIndex::power_of_two(256)?;
        let primes = ntt_primes(40, 256, 3)?;
        let spec = rlwe::Spec {
            scheme: SchemeKind::Bfv,
            ring,
            coeff_moduli: primes[1..].to_vec(),
            special_moduli: primes[..1].to_vec(),
            plaintext: PlaintextSpace::Integers { plain_modulus: 7681 },
            bound: 1.0,
            packing: None,
            levels: Vec::new(),
        };
        let scheme = Rlwe::new(spec, Assurance::Insecure)?;
        let mut rng = AesCtrRng::from_seed([6; 32]);
        let mut objects = Vec::new();
        for _ in 0..2 {
            let (secret, public) = scheme.generate_keys(&mut rng);
            let relin = scheme.generate_relin_key(&secret, &mut rng)?;
            let galois = scheme.generate_galois_keys(&secret, &[3], &mut rng)?;
            let keys = [
                (Part::Public, scheme.public_key_to_bytes(&public)),
                (Part::Relinearisation, scheme.relin_key_to_bytes(&relin)),
                (Part::Rotations, scheme.galois_keys_to_bytes(&galois)),
            ];
            let parts: Vec<_> = keys.iter().map(|(part, key)| (*part, key.as_slice())).collect();
            for some in [&parts[..], &parts[..2], &parts[..1], &[parts[0], parts[2]]] {
                objects.push(Object::new(Family::Rlwe, public_keys::join(some)?));
            }
        }
        Ok(Self { scheme, objects })
    }
}

impl Target for PublicKeysTarget {
    fn objects(&self) -> &[Object] {
        &self.objects
    }

    fn read(&self, bytes: &[u8], _: &mut AesCtrRng, asked: &mut Asked) -> bool {
        let s = &self.scheme;
        let Ok(parts) = public_keys::split(bytes) else { return false };
        asked.that(public_keys::join(&parts).is_ok_and(|again| again == bytes), "another form");
        asked.that(parts[0].0 == Part::Public, "keys without a public one");
        let tag_of = |key: &[u8]| key.get(HEADER..HEADER + 32).map(<[u8]>::to_vec);
        let tag = tag_of(parts[0].1);
        for (part, key) in parts {
            asked.that(tag_of(key) == tag, "keys of several pairs");
            let again = match part {
                Part::Public => s.public_key_from_bytes(key).map(|k| s.public_key_to_bytes(&k)),
                Part::Relinearisation => {
                    s.relin_key_from_bytes(key).map(|k| s.relin_key_to_bytes(&k))
                }
                Part::Rotations => {
                    s.galois_keys_from_bytes(key).map(|k| s.galois_keys_to_bytes(&k))
                }
                // The set has none; what is called so here is something else.
                Part::Bootstrapping => continue,
            };
            if let Ok(again) = again {
                asked.same(&again, key);
            }
        }
        true
    }
}
