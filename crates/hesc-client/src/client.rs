//! A client: a plan and a secret key.

use hesc_circuits::plans::PlanError;
use hesc_circuits::ring_products;
use hesc_schemes::public_keys::{self, Part};
use hesc_schemes::rlwe::{Rlwe, SecretKey};
use rand_core::{CryptoRng, SeedableRng};
use zeroize::Zeroizing;

use crate::{ClientError, Plan, Table, message};

type Found<T> = Result<T, ClientError>;

/// Encrypts samples for a server that scores them, and reads the scores. Neither printed nor compared.
pub struct Client {
    plan: Plan,
    secret: SecretKey,
}

/// Encrypted samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// For the server.
    pub data: Vec<u8>,
    /// Values that were brought within their ranges, for the eyes of who encrypted.
    pub clipped: usize,
    /// Samples that had such values.
    pub clipped_samples: usize,
}

impl Client {
    /// A client with a new key, and what a server of hidden weights is given: [`Plan::generate_keys`].
    ///
    /// # Errors
    /// None of a plan that was read.
    pub fn generate(plan: Plan, rng: &mut impl CryptoRng) -> Found<(Self, Vec<u8>)> {
        let (secret, public) = plan.generate_keys(rng)?;
        Ok((Self { plan, secret }, public))
    }

    /// A client with a key that was kept.
    ///
    /// # Errors
    /// [`ClientError::Plan`] for other bytes, and the key of another set.
    pub fn with_secret(plan: Plan, bytes: &[u8]) -> Found<Self> {
        let read = scheme(&plan).secret_key_from_bytes(bytes);
        let secret = read.map_err(PlanError::from)?;
        Ok(Self { plan, secret })
    }

    /// The key, to be kept.
    pub fn secret(&self) -> Zeroizing<Vec<u8>> {
        scheme(&self.plan).secret_key_to_bytes(&self.secret)
    }

    /// What both sides agreed upon.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Transforms and encrypts samples, [`Plan::rows`] of them at most.
    ///
    /// # Errors
    /// As [`Plan::prepared`]; [`ClientError::Samples`] for too many of them.
    pub fn encrypt<R: CryptoRng + SeedableRng + Send>(
        &self,
        table: Table<'_>,
        clip: bool,
        rng: &mut R,
    ) -> Found<Query> {
        let ready = self.plan.prepared(table, clip)?;
        let features = Zeroizing::new(ready.features);
        let data = self.plan.encrypt(&self.secret, &features, rng)?;
        let clipped_samples = ready.which.iter().filter(|&&which| which).count();
        Ok(Query { data, clipped: ready.values, clipped_samples })
    }

    /// The scores of an answer, as [`Plan::decrypt`] reads them.
    ///
    /// # Errors
    /// Those of [`Plan::decrypt`].
    pub fn decrypt(&self, answer: &[u8], query: Option<&[u8]>) -> Found<Zeroizing<Vec<f64>>> {
        self.plan.decrypt(&self.secret, answer, query)
    }
}

/// What a plan is for whoever holds a key apart from it.
impl Plan {
    /// A new key of the plan's set, and the frame of its public one, as servers of all languages read it.
    ///
    /// # Errors
    /// None of a plan that was read.
    pub fn generate_keys(&self, rng: &mut impl CryptoRng) -> Found<(SecretKey, Vec<u8>)> {
        keys(scheme(self), rng)
    }

    /// A query of features that [`Plan::prepared`] gave, under a key of the plan's set.
    ///
    /// # Errors
    /// [`ClientError::Shape`] for what are no rows, [`ClientError::Samples`] for too many of them; [`ClientError::Plan`]
    /// for features beyond their ranges, and another set's key.
    pub fn encrypt<R: CryptoRng + SeedableRng + Send>(
        &self,
        secret: &SecretKey,
        features: &[f64],
        rng: &mut R,
    ) -> Found<Vec<u8>> {
        let ring = self.ring();
        let count = self.columns().count(features, self.rows())?;
        let parts: Vec<Vec<u8>> = match ring.parts() {
            [only] => vec![ring_products::encrypt(only, secret, features, rng)?],
            several => {
                let encrypt = |(place, part)| {
                    let own = Zeroizing::new(ring.shared(features, place));
                    ring_products::encrypt(part, secret, &own, rng)
                };
                several.iter().enumerate().map(encrypt).collect::<Result<_, _>>()?
            }
        };
        message::query(self.digest(), count, &parts)
    }

    /// The scores of an answer, a row for each sample, for the key owner's eyes.
    ///
    /// `query` is what was asked: an answer to another one is refused. Without it which samples these are, and how many, is
    /// the server's word.
    ///
    /// # Errors
    /// [`ClientError::Document`] for damaged bytes, another plan's, the answer to another query, and another number of
    /// samples; [`ClientError::Plan`] for another key's, and for scores that no declared features give: tell nobody who
    /// made it.
    pub fn decrypt(
        &self,
        secret: &SecretKey,
        answer: &[u8],
        query: Option<&[u8]>,
    ) -> Found<Zeroizing<Vec<f64>>> {
        let rings = self.ring().parts();
        let opened = message::opened(self.digest(), answer, query, Some(rings.len()))?;
        let mut total: Option<Zeroizing<Vec<f64>>> = None;
        for (ring, part) in rings.iter().zip(opened.parts) {
            let scores = ring_products::decrypt(ring, secret, part)?;
            message::as_many(scores.len() / self.conclusions().outputs(), opened.samples)?;
            match &mut total {
                None => total = Some(scores),
                Some(total) => total.iter_mut().zip(scores.iter()).for_each(|(a, b)| *a += b),
            }
        }
        Ok(total.unwrap_or_default())
    }
}

/// A new key, and the frame of its public one.
pub(crate) fn keys(scheme: &Rlwe, rng: &mut impl CryptoRng) -> Found<(SecretKey, Vec<u8>)> {
    let (secret, public) = scheme.generate_keys(rng);
    let public = scheme.public_key_to_bytes(&public);
    let framed = public_keys::join(&[(Part::Public, &public)]).map_err(PlanError::from)?;
    Ok((secret, framed))
}

/// The scheme of all ring products.
pub(crate) fn scheme(plan: &Plan) -> &Rlwe {
    plan.ring().parts()[0].products().scheme()
}
