//! Prepared queries: all that is heavy before the features are known, and numbers in the clear after.
//!
//! A client encrypts uniform numbers `h` modulo `t` instead of bits, and the server answers with pads instead of constants: what the
//! client decrypts, and what the server drew, are shares of the leaves' numbers, which are linear in the bits. Later the client sends
//! `T - h` in the clear, and the server adds its products with what it drew to its share. Either side learns what it does
//! of a query and an answer.
//!
//! **A share is used once**: the difference of two samples shows under one `h`, and structure under one list of pads. Functions that use
//! one take it; who writes it into a file has to see that it is read by one process and once.

use std::hint::black_box;

use hesc_math::sampling::fill_uniform_row;
use hesc_schemes::rlwe::{PublicKey, SecretKey};
use hesc_schemes::wire::Kind;
use hesc_schemes::{Fingerprint, KeyId, SchemeError};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::client;
use super::divisor::Divisor;
use super::model::{Drawn, Model};
use super::plan::Plan;
use super::wire::{self, Masked, Names, Purpose, Side, masked_from_bytes, masked_to_bytes};
use crate::plans::PlanError;

/// What a client keeps of a preparation: secret, and used once. Neither printed nor compared; wiped.
pub struct ClientShare {
    /// That of the server's answer is the first one's until there is one.
    names: Names,
    key: KeyId,
    /// What bits are masked with; none once a sample is asked for.
    masks: Zeroizing<Vec<u64>>,
    /// Of the leaves' numbers; none before the server has answered.
    numbers: Zeroizing<Vec<u64>>,
}

/// What a server keeps of a preparation: as secret as its model, and used once. Neither printed nor compared; wiped.
pub struct ServerShare {
    names: Names,
    key: KeyId,
    drawn: Drawn,
}

/// Begins to prepare a query: what the client keeps, and what it sends. Cost: as [`super::encrypt`].
///
/// # Errors
/// [`SchemeError::ParameterMismatch`] for the key of another set.
pub fn prepare(
    plan: &Plan,
    key: &SecretKey,
    rng: &mut impl CryptoRng,
) -> Result<(ClientShare, Vec<u8>), PlanError> {
    let (_, _, t) = plan.plain_moduli();
    let mut masks = Zeroizing::new(vec![0; plan.declared().edges as usize]);
    fill_uniform_row(&mut masks, t, rng);
    let query = client::encrypted(plan, Purpose::Preparation, key, &masks, rng)?;
    let name = wire::name(&query);
    let names = Names { query: name, answer: name };
    let share = ClientShare { names, key: key.key_id(), masks, numbers: Zeroizing::default() };
    Ok((share, query))
}

impl ClientShare {
    /// The name of the preparation: a hash of what was sent.
    pub fn name(&self) -> Fingerprint {
        self.names.query
    }

    /// Adds what the server answered; after an error the share is what it was. Cost: as [`super::decrypt`].
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for other bytes, plans and keys;
    /// [`PlanError::Count`] for a share that was complete before, or used.
    pub fn complete(
        &mut self,
        plan: &Plan,
        key: &SecretKey,
        answer: &[u8],
    ) -> Result<(), PlanError> {
        self.check(plan, [true, false])?;
        if self.key != key.key_id() {
            return Err(SchemeError::KeyMismatch { expected: self.key, found: key.key_id() }.into());
        }
        let (query, numbers) = client::decrypted(plan, Purpose::Preparation, key, answer)?;
        check_same(self.names.query, query, "the answer to a preparation of a forest")?;
        self.numbers = numbers;
        self.names.answer = wire::name(answer);
        Ok(())
    }

    /// What a sample is asked for with, and what is left of the share for its answer. Cost: a subtraction for each bit.
    ///
    /// # Errors
    /// [`PlanError::Count`] for another number of bits, and for a share that is not complete or was used.
    pub fn ask(mut self, plan: &Plan, bits: &[bool]) -> Result<(Self, Vec<u8>), PlanError> {
        client::check_bits(plan, bits)?;
        self.check(plan, [true, true])?;
        let (_, _, t) = plan.plain_moduli();
        let less = |(&bit, &mask): (&bool, &u64)| {
            let x = u64::from(bit).wrapping_sub(mask);
            x.wrapping_add(t & (x >> 63).wrapping_neg())
        };
        let numbers = bits.iter().zip(self.masks.iter()).map(less).collect();
        let masked = Masked { names: self.names, numbers };
        self.masks = Zeroizing::default();
        let query = masked_to_bytes(plan, Kind::ForestMaskedQuery, self.key, &masked);
        Ok((self, query))
    }

    /// The scores that an answer and the share give, as [`super::decrypt`] has them. Cost: an addition for each leaf.
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for other bytes, plans and keys;
    /// [`SchemeError::NoiseTooLarge`] as [`super::decrypt`]; [`PlanError::Count`] for a share that was not asked with.
    pub fn scores(&self, plan: &Plan, answer: &[u8]) -> Result<Vec<i64>, PlanError> {
        self.check(plan, [false, true])?;
        let kind = Kind::ForestMaskedAnswer;
        let (key, masked) = masked_from_bytes(plan, kind, answer, plan.declared().leaves())?;
        if key != self.key {
            return Err(SchemeError::KeyMismatch { expected: self.key, found: key }.into());
        }
        check_same(self.names, masked.names, "an answer to a prepared query of a forest")?;
        let (_, _, t) = plan.plain_moduli();
        let modulo_t = Divisor::new(t);
        let sums = masked.numbers.iter().zip(self.numbers.iter());
        let numbers =
            Zeroizing::new(sums.map(|(x, y)| modulo_t.remainder(x + y)).collect::<Vec<_>>());
        Ok(client::scores(plan, &numbers)?)
    }

    /// Wire form, **secret**: for a store of the client's own.
    pub fn to_bytes(&self, plan: &Plan) -> Vec<u8> {
        let width = wire::numbers(plan);
        let mut writer = wire::share(plan, Side::Client, self.key, self.names);
        for numbers in [&self.masks, &self.numbers] {
            writer.u32(numbers.len() as u32);
            width.write(&mut writer, numbers);
        }
        writer.finish()
    }

    /// Reads a share of this plan.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] and [`SchemeError::ParameterMismatch`] for other bytes and plans.
    pub fn from_bytes(plan: &Plan, bytes: &[u8]) -> Result<Self, PlanError> {
        let (mut reader, key, names) = wire::open_share(plan, Side::Client, bytes)?;
        let mut list = |full: usize| -> Result<_, SchemeError> {
            let count = reader.u32()? as usize;
            if count != 0 && count != full {
                return Err(reader.error("it has another number of edges or leaves than its plan"));
            }
            Ok(Zeroizing::new(wire::numbers(plan).read(&mut reader, count)?))
        };
        let masks = list(plan.declared().edges as usize)?;
        let numbers = list(plan.declared().leaves())?;
        reader.finish()?;
        Ok(Self { names, key, masks, numbers })
    }

    /// Refuses a share in another state: whether it has masks, and numbers; and one of another plan's counts.
    fn check(&self, plan: &Plan, [masks, numbers]: [bool; 2]) -> Result<(), PlanError> {
        let (edges, leaves) = (plan.declared().edges as usize, plan.declared().leaves());
        for (what, own, has, full) in
            [("masks", &self.masks, masks, edges), ("shares", &self.numbers, numbers, leaves)]
        {
            let (expected, found) = (if has { full } else { 0 }, own.len());
            if expected != found {
                let what = format!("{what} of a prepared query, which is used once");
                return Err(PlanError::Count { what, expected, found });
            }
        }
        Ok(())
    }
}

impl Model {
    /// Answers a preparation: what the server keeps, and what it sends. Cost: as [`Self::answer`].
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for other bytes, plans and keys.
    pub fn prepare(
        &self,
        preparation: &[u8],
        public: &PublicKey,
        rng: &mut impl CryptoRng,
    ) -> Result<(ServerShare, Vec<u8>), PlanError> {
        let plan = self.plan();
        let query = self.opened(Purpose::Preparation, preparation, public)?;
        let (_, _, t) = plan.plain_moduli();
        let modulo_t = Divisor::new(t);
        let mut drawn = self.drawn(rng);
        let mut pads = Zeroizing::new(vec![0; drawn.constants.len()]);
        fill_uniform_row(&mut pads, t, rng);
        let name = wire::name(preparation);
        let answer = self.encrypted((name, &query), public, &drawn, &pads, rng)?;
        for (constant, pad) in drawn.constants.iter_mut().zip(pads.iter()) {
            *constant = modulo_t.remainder(*constant + t - pad);
        }
        let key = public.key_id();
        let answer = wire::answer_to_bytes(plan, Purpose::Preparation, key, &answer);
        let names = Names { query: name, answer: wire::name(&answer) };
        Ok((ServerShare { names, key, drawn }, answer))
    }
}

/// Refuses a message under another preparation than a share's.
fn check_same<T: PartialEq>(own: T, found: T, what: &'static str) -> Result<(), SchemeError> {
    let problem = "it is under another preparation, or under another answer to this one";
    if found == own { Ok(()) } else { Err(SchemeError::Wire { what, problem }) }
}

impl ServerShare {
    /// The name of the preparation: a hash of what the client sent.
    pub fn name(&self) -> Fingerprint {
        self.names.query
    }

    /// The answer to the sample that is asked for under this preparation. Cost: a product of words for each condition that a leaf may
    /// have.
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`] and [`SchemeError::KeyMismatch`] for other bytes, plans and keys, and
    /// for a query under another preparation.
    pub fn answer(self, plan: &Plan, query: &[u8]) -> Result<Vec<u8>, PlanError> {
        let kind = Kind::ForestMaskedQuery;
        let (key, masked) = masked_from_bytes(plan, kind, query, plan.declared().edges as usize)?;
        if key != self.key {
            return Err(SchemeError::KeyMismatch { expected: self.key, found: key }.into());
        }
        check_same(self.names, masked.names, "a prepared query of a forest")?;
        let mut numbers = self.drawn.constants.clone();
        self.add_products(plan, &masked.numbers, &mut numbers);
        let masked = Masked { names: self.names, numbers };
        Ok(masked_to_bytes(plan, Kind::ForestMaskedAnswer, key, &masked))
    }

    /// Adds what bits less masks make of each leaf's number.
    fn add_products(&self, plan: &Plan, bits: &[u64], numbers: &mut [u64]) {
        let (_, _, t) = plan.plain_moduli();
        let (modulo_t, terms) = (Divisor::new(t), &self.drawn.terms);
        // No edge is twice in a leaf: where products of all edges have no room they are reduced one by one.
        let narrow = (u128::from(t).pow(2) * bits.len() as u128) >> 64 == 0;
        let product = |&(edge, class): &(u32, u32)| bits[edge as usize] * u64::from(class);
        let sum = |terms: &[(u32, u32)]| match narrow {
            true => terms.iter().map(product).sum::<u64>(),
            false => terms.iter().map(|term| modulo_t.remainder(product(term))).sum(),
        };
        let mut first = 0;
        for (number, &end) in numbers.iter_mut().zip(&self.drawn.ends) {
            *number = modulo_t.remainder(*number + modulo_t.remainder(sum(&terms[first..end])));
            first = end;
        }
        // As many as leaves of most conditions take: time does not tell how many there are.
        let most = numbers.len() * plan.declared().most_conditions as usize;
        let mut more = if terms.is_empty() { 0 } else { most.saturating_sub(terms.len()) };
        while more > 0 {
            let some = more.min(terms.len());
            black_box(sum(&terms[..some]));
            more -= some;
        }
    }

    /// Wire form, **as secret as the model**: for a store of the server's own.
    pub fn to_bytes(&self, plan: &Plan) -> Vec<u8> {
        let Drawn { constants, ends, terms } = &self.drawn;
        let width = wire::numbers(plan);
        let mut writer = wire::share(plan, Side::Server, self.key, self.names);
        width.write(&mut writer, constants);
        let mut first = 0;
        for &end in ends {
            writer.u32((end - first) as u32);
            first = end;
        }
        // Classes of terms that are subtracted are not reduced.
        let (_, _, t) = plan.plain_moduli();
        let modulo_t = Divisor::new(t);
        let (edges, classes): (Vec<u32>, Vec<u64>) =
            terms.iter().map(|&(edge, class)| (edge, modulo_t.remainder(u64::from(class)))).unzip();
        let (edges, classes) = (Zeroizing::new(edges), Zeroizing::new(classes));
        writer.packed(&edges, EDGE_BITS);
        width.write(&mut writer, &classes);
        writer.finish()
    }

    /// Reads a share of this plan.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] and [`SchemeError::ParameterMismatch`] for other bytes and plans.
    pub fn from_bytes(plan: &Plan, bytes: &[u8]) -> Result<Self, PlanError> {
        let (mut reader, key, names) = wire::open_share(plan, Side::Server, bytes)?;
        let (leaves, width) = (plan.declared().leaves(), wire::numbers(plan));
        let mut drawn = Drawn::default();
        drawn.constants = width.read(&mut reader, leaves)?;
        let mut all = 0usize;
        for _ in 0..leaves {
            let count = reader.u32()?;
            // No edge is twice in a leaf.
            if count > plan.declared().edges {
                return Err(reader.error("a leaf has more bits than its plan").into());
            }
            all += count as usize;
            drawn.ends.push(all);
        }
        let edges = Zeroizing::new(reader.packed::<u32>(all, EDGE_BITS)?);
        if edges.iter().any(|&edge| edge >= plan.declared().edges) {
            return Err(reader.error("it has edges that its plan has not").into());
        }
        let classes = Zeroizing::new(width.read(&mut reader, all)?);
        reader.finish()?;
        drawn.terms =
            edges.iter().copied().zip(classes.iter().map(|&class| class as u32)).collect();
        Ok(Self { names, key, drawn })
    }
}

/// Bits of an edge's number.
const EDGE_BITS: u32 = 15;
