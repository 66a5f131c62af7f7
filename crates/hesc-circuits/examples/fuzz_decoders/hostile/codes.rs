//! Encrypted codes and distances: what readers accept is compared and decrypted.

use hesc_circuits::codes::{Distances, EncryptedCodes, SeededCodes};
use hesc_math::AesCtrRng;
use hesc_schemes::Bfv;
use hesc_schemes::rlwe::SecretKey;
use hesc_schemes::streams::Encrypt as _;
use rand_core::SeedableRng;

use super::frames::Family;
use super::{Asked, Object, Target};

/// Bits of the codes, and records: a whole block and a few.
const BITS: usize = 64;
const RECORDS: usize = 260;

/// The plaintext modulus of the set.
pub const MODULUS: u32 = 256;

/// One set with codes under both keys, and distances.
pub struct CodesTarget {
    scheme: Bfv<u32>,
    secret: SecretKey<u32>,
    objects: Vec<Object>,
}

impl CodesTarget {
    /// Objects of two key pairs; those of the other one are to lend their parts.
    pub fn new(scheme: Bfv<u32>) -> Result<Self, Box<dyn std::error::Error>> {
        let mut rng = AesCtrRng::from_seed([5; 32]);
        let (secret, _) = scheme.generate_keys(&mut rng);
        let (other, public) = scheme.generate_keys(&mut rng);
        let codes = [0x5555_5555_0000_ffff; RECORDS];
        let mut objects = Vec::new();
        for key in [&secret, &other] {
            let seeded = SeededCodes::encrypt(&scheme, key, &codes, BITS, &mut rng)?;
            let distances = seeded.expand()?.distances_vartime(&codes[..3])?;
            objects.extend([seeded.to_bytes(), distances.to_bytes()]);
        }
        let columns = EncryptedCodes::encrypt(&scheme, &public, &codes[..9], BITS, &mut rng)?;
        objects.push(columns.to_bytes());
        let objects =
            objects.into_iter().map(|bytes| Object::new(Family::Lattice, bytes)).collect();
        Ok(Self { scheme, secret, objects })
    }

    /// Distances are read whole or refused, and never beyond the bits.
    fn decrypt(&self, distances: &Distances, asked: &mut Asked) {
        let (codes, records) = distances.shape();
        if let Ok(found) = distances.decrypt(&self.secret) {
            asked.that(found.len() == codes * records, "distances of another shape");
            asked.that(found.iter().all(|&d| d < MODULUS), "a distance that no codes have");
        }
    }

    fn compare(&self, columns: &EncryptedCodes, asked: &mut Asked) {
        let code = vec![u64::MAX; columns.bits() / 64];
        if let Ok(distances) = columns.distances_vartime(&code) {
            asked.that(distances.shape() == (1, columns.records()), "records that are not there");
            self.decrypt(&distances, asked);
        }
    }
}

impl Target for CodesTarget {
    fn objects(&self) -> &[Object] {
        &self.objects
    }

    fn rarity(&self) -> usize {
        4
    }

    fn read(&self, bytes: &[u8], _: &mut AesCtrRng, asked: &mut Asked) -> bool {
        let mut read = false;
        if let Ok(seeded) = SeededCodes::from_bytes(&self.scheme, bytes) {
            read = true;
            asked.same(&seeded.to_bytes(), bytes);
            if let Ok(columns) = seeded.expand() {
                self.compare(&columns, asked);
            }
        }
        if let Ok(columns) = EncryptedCodes::from_bytes(&self.scheme, bytes) {
            read = true;
            asked.same(&columns.to_bytes(), bytes);
            self.compare(&columns, asked);
        }
        if let Ok(distances) = Distances::from_bytes(&self.scheme, bytes) {
            read = true;
            asked.same(&distances.to_bytes(), bytes);
            self.decrypt(&distances, asked);
        }
        read
    }
}
