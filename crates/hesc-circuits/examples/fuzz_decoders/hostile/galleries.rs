//! Plans, galleries, probes and distances of encrypted codes.

use hesc_circuits::codes::galleries::{
    Declared, Gallery, Plan, Probes, decrypt, distances_bytes, encrypt_gallery, encrypt_probes,
};
use hesc_circuits::plans::PlanError;
use hesc_math::AesCtrRng;
use hesc_schemes::rlwe::SecretKey;
use rand_core::SeedableRng;

use super::frames::Family;
use super::{Asked, Object, Target};

/// A plan with its key, a gallery, probes, and objects of another key to lend their parts.
pub struct GalleryTarget {
    plan: Plan,
    secret: SecretKey,
    gallery: Gallery,
    probes: Probes,
    objects: Vec<Object>,
}

impl GalleryTarget {
    /// Two blocks, and two probes.
    pub fn new() -> Result<Self, PlanError> {
        let plan = Plan::new(Declared { bits: 64, piece: 64 })?;
        let rng = &mut AesCtrRng::from_seed([9; 32]);
        let (secret, _) = plan.products().scheme().generate_keys(rng);
        let (other, _) = plan.products().scheme().generate_keys(rng);
        let codes = [0x5555_5555_0000_ffff; 40];
        let sent = encrypt_gallery(&plan, &secret, &codes, rng)?;
        let asked = encrypt_probes(&plan, &secret, &codes[..2], rng)?;
        let (gallery, probes) =
            (Gallery::from_bytes(&plan, &sent)?, Probes::from_bytes(&plan, &asked)?);
        let answer = gallery.compare(&probes, 1, 0, 2)?;
        let foreign = encrypt_probes(&plan, &other, &codes[..1], rng)?;
        let objects = [plan.to_bytes(), sent, asked, answer, foreign];
        let objects = objects.into_iter().map(|bytes| Object::new(Family::Rlwe, bytes)).collect();
        Ok(Self { plan, secret, gallery, probes, objects })
    }

    fn compare(&self, gallery: &Gallery, probes: &Probes, asked: &mut Asked) {
        if let Ok(answer) = gallery.compare(probes, 0, 0, gallery.blocks()) {
            let bytes = distances_bytes(&self.plan, gallery.records());
            asked.that(answer.len() == bytes, "distances of another size");
            self.decrypt(&answer, asked);
        }
    }

    fn decrypt(&self, bytes: &[u8], asked: &mut Asked) -> bool {
        let Ok(found) = decrypt(&self.plan, &self.secret, bytes) else { return false };
        let last = found.first + found.distances.len();
        let there = found.probe < found.probes && last <= found.records;
        asked.that(there, "records or probes that are not there");
        let within = found.distances.iter().all(|&d| d as usize <= self.plan.declared().bits);
        asked.that(within, "a distance that no codes have");
        true
    }
}

impl Target for GalleryTarget {
    fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// A plan is made again, tables and all.
    fn rarity(&self) -> usize {
        20
    }

    fn read(&self, bytes: &[u8], _: &mut AesCtrRng, asked: &mut Asked) -> bool {
        let mut accepted = false;
        if let Ok(plan) = Plan::from_bytes(bytes) {
            accepted = true;
            asked.same(&plan.to_bytes(), bytes);
        }
        if let Ok(gallery) = Gallery::from_bytes(&self.plan, bytes) {
            accepted = true;
            self.compare(&gallery, &self.probes, asked);
        }
        if let Ok(probes) = Probes::from_bytes(&self.plan, bytes) {
            accepted = true;
            self.compare(&self.gallery, &probes, asked);
        }
        accepted | self.decrypt(bytes, asked)
    }
}
