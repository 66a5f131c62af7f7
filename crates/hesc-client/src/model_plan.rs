//! Plans of all protocols that a client here has.

use hesc_schemes::rlwe::{Rlwe, SecretKey};
use rand_core::CryptoRng;
use sha2::{Digest as _, Sha256};

use crate::json::Json;
use crate::{
    ClientError, Columns, Conclusions, Kind, Plan, Prepared, Protocol, SearchPlan, Table,
    TreesPlan, client, document,
};

/// What client and server of a model agree upon: of the protocol that its document names.
#[derive(Debug)]
pub enum ModelPlan {
    /// Linear scores, or those of trees in public bins.
    Scores(Plan),
    /// Trees that are computed as they are.
    Trees(TreesPlan),
    /// Scores of a vector with all records.
    Search(SearchPlan),
}

impl ModelPlan {
    /// Reads `client/plan.json`, strictly.
    ///
    /// # Errors
    /// [`ClientError::Document`] for damaged bytes, another document's, fields that do not fit, and protocols that no client here
    /// has; [`ClientError::Keys`] for a search whose clients give keys; [`ClientError::Plan`] for what nobody derives.
    pub fn from_bytes(data: &[u8]) -> Result<Self, ClientError> {
        let read = document::read(data, "plan")?;
        let digest = Sha256::digest(data).into();
        let protocol = match &read {
            Json::Object(given) => given.get("protocol"),
            _ => None,
        };
        match protocol {
            Some(Json::Text(name)) if name == "trees" => {
                TreesPlan::read(&read, digest).map(Self::Trees)
            }
            Some(Json::Text(name)) if name == "search" => {
                SearchPlan::read(&read, digest).map(Self::Search)
            }
            _ => Plan::read(&read, digest, Protocol::Linear).map(Self::Scores),
        }
    }

    /// What its document calls the protocol.
    pub fn protocol(&self) -> &'static str {
        match self {
            Self::Scores(_) => Protocol::Linear.name(),
            Self::Trees(_) => "trees",
            Self::Search(_) => "search",
        }
    }

    /// Columns of a sample, and what the client does with them before it encrypts.
    pub fn columns(&self) -> &Columns {
        match self {
            Self::Scores(plan) => plan.columns(),
            Self::Trees(plan) => plan.columns(),
            Self::Search(plan) => plan.columns(),
        }
    }

    /// What the cells of each column are.
    pub fn kinds(&self) -> &[Kind] {
        match self {
            Self::Trees(plan) => plan.kinds(),
            _ => self.columns().steps().kinds(),
        }
    }

    /// What follows from scores; none of a search in which nobody votes.
    pub fn conclusions(&self) -> Option<&Conclusions> {
        match self {
            Self::Scores(plan) => Some(plan.conclusions()),
            Self::Trees(plan) => Some(plan.conclusions()),
            Self::Search(plan) => plan.voting().map(|voting| &voting.conclusions),
        }
    }

    /// Samples of one query, at most.
    pub fn rows(&self) -> usize {
        match self {
            Self::Scores(plan) => plan.rows(),
            Self::Trees(plan) => plan.rows(),
            Self::Search(plan) => plan.rows(),
        }
    }

    /// The scheme of its keys.
    pub fn scheme(&self) -> &Rlwe {
        match self {
            Self::Scores(plan) => client::scheme(plan),
            Self::Trees(plan) => plan.forest().products().scheme(),
            Self::Search(plan) => plan.index().products().scheme(),
        }
    }

    /// A new key of the plan's set, and the frame of its public one, as servers of all languages read it.
    ///
    /// # Errors
    /// None of a plan that was read.
    pub fn generate_keys(
        &self,
        rng: &mut impl CryptoRng,
    ) -> Result<(SecretKey, Vec<u8>), ClientError> {
        client::keys(self.scheme(), rng)
    }

    /// Samples as they are encrypted.
    ///
    /// # Errors
    /// As [`Plan::prepared`], [`TreesPlan::prepared`] and [`SearchPlan::prepared`].
    pub fn prepared(&self, table: Table<'_>, clip: bool) -> Result<Prepared, ClientError> {
        match self {
            Self::Scores(plan) => plan.prepared(table, clip),
            Self::Trees(plan) => plan.prepared(table, clip),
            Self::Search(plan) => plan.prepared(table, clip),
        }
    }
}
