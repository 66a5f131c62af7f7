//! Plans, queries, keys and answers of searches.

use hesc_circuits::plans::PlanError;
use hesc_circuits::search::{
    Asked as Query, Declared, Entries, Index, Keys, Plan, answer_bytes, decrypt, encrypt,
    generate_keys, read_keys, shared_secrets,
};
use hesc_math::AesCtrRng;
use hesc_schemes::rlwe::{SecretKey, SharedSecrets};
use rand_core::SeedableRng;

use super::frames::Family;
use super::{Asked, Object, Target};

/// A plan with its keys, an index and what is exchanged.
pub struct SearchTarget {
    plan: Plan,
    secret: SecretKey,
    shared: SharedSecrets,
    keys: Option<Keys>,
    query: Vec<u8>,
    index: Index,
    objects: Vec<Object>,
}

impl SearchTarget {
    /// Two records of two features.
    pub fn new(expanded: bool) -> Result<Self, PlanError> {
        let entries = Entries::Integers {
            query_bits: 4,
            record_bits: 4,
            query_square: 40,
            record_square: 30,
        };
        let (dimensions, most_records, signs) = (2, 5, [1; 32]);
        let declared = Declared { dimensions, entries, most_records, expanded, shared: 1, signs };
        let plan = Plan::new(declared)?;
        let rng = &mut AesCtrRng::from_seed([13; 32]);
        let (secret, _) = plan.products().scheme().generate_keys(rng);
        let shared = shared_secrets(&plan, &secret)?;
        let mut index = Index::new(&plan);
        index.append(&[1, 2, -5, 0])?;
        let query = encrypt(&plan, &secret, &[6, -1], rng)?;
        let mut bytes = vec![plan.to_bytes(), query.clone()];
        let mut keys = None;
        if expanded {
            let own = generate_keys(&plan, &secret, &shared, rng)?;
            keys = Some(read_keys(&plan, &own)?);
            bytes.push(own);
        }
        bytes.extend(index.answer(&[Query { query: &query, keys: keys.as_ref() }])?);
        let objects = bytes.into_iter().map(|bytes| Object::new(Family::Rlwe, bytes)).collect();
        Ok(Self { plan, secret, shared, keys, query, index, objects })
    }
}

impl Target for SearchTarget {
    fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// A plan is made again from what it declares, tables and all.
    fn rarity(&self) -> usize {
        20
    }

    fn read(&self, bytes: &[u8], _: &mut AesCtrRng, asked: &mut Asked) -> bool {
        let mut accepted = false;
        if let Ok(plan) = Plan::from_bytes(bytes) {
            accepted = true;
            asked.same(&plan.to_bytes(), bytes);
            let (deviation, scale) = plan.noise();
            asked
                .that(14.3 * deviation < 0.4375 * scale as f64, "noise beyond the steps of scores");
            let reach = u128::from(plan.bound()) * u128::from(scale);
            let modulus = u128::from(plan.products().modulus());
            let codes = plan.declared().entries == Entries::Signs;
            asked.that(reach * if codes { 1 } else { 2 } < modulus, "scores that come around");
        }
        let length = answer_bytes(&self.plan, self.index.records());
        let answers = |query: &[u8], keys: Option<&Keys>, asked: &mut Asked| {
            let answer = self.index.answer(&[Query { query, keys }]);
            let same = |answers: &Vec<Vec<u8>>| answers[0].len() == length;
            answer.is_ok_and(|answers| {
                asked.that(same(&answers), "an answer of a size that is not the plan's");
                true
            })
        };
        accepted |= answers(bytes, self.keys.as_ref(), asked);
        if self.keys.is_some()
            && let Ok(keys) = read_keys(&self.plan, bytes)
        {
            accepted |=
                answers(&self.query, Some(&keys), asked) || keys.key_id() != self.secret.key_id();
        }
        if let Ok(scores) = decrypt(&self.plan, &self.secret, &self.shared, bytes) {
            accepted = true;
            let most = self.plan.bound() as i64;
            asked.that((1..=5).contains(&scores.len()), "scores of records that are not there");
            asked.that(scores.iter().all(|x| x.abs() <= most), "scores beyond their bound");
        }
        accepted
    }
}
