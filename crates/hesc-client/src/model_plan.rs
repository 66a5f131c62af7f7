//! Plans of all protocols that a client here has.

use hesc_schemes::rlwe::{Rlwe, SecretKey};
use rand_core::{CryptoRng, SeedableRng};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::json::Json;
use crate::{
    ClientError, Columns, Conclusions, Kind, Nearest, Plan, Prepared, Protocol, SearchPlan, Table,
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

/// What a plan says that plans of all protocols say in the same words.
macro_rules! said {
    ($plan:expr, $own:ident => $what:expr) => {
        match $plan {
            Self::Scores($own) => $what,
            Self::Trees($own) => $what,
            Self::Search($own) => $what,
        }
    };
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
        said!(self, plan => plan.columns())
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
        said!(self, plan => plan.rows())
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
    /// As `prepared` of the plan of its protocol.
    pub fn prepared(&self, table: Table<'_>, clip: bool) -> Result<Prepared, ClientError> {
        said!(self, plan => plan.prepared(table, clip))
    }

    /// A query of what [`ModelPlan::prepared`] gave, under a key of the plan's set.
    ///
    /// # Errors
    /// As `encrypt` of the plan of its protocol.
    pub fn encrypt<R: CryptoRng + SeedableRng + Send>(
        &self,
        secret: &SecretKey,
        features: &[f64],
        rng: &mut R,
    ) -> Result<Vec<u8>, ClientError> {
        said!(self, plan => plan.encrypt(secret, features, rng))
    }

    /// What an answer says, row after row, and how many numbers a row has: scores, and of a search those of all records.
    ///
    /// # Errors
    /// As `decrypt` of the plan of its protocol.
    pub fn decrypt(
        &self,
        secret: &SecretKey,
        answer: &[u8],
        query: Option<&[u8]>,
    ) -> Result<(Zeroizing<Vec<f64>>, usize), ClientError> {
        let scores = match self {
            Self::Scores(plan) => plan.decrypt(secret, answer, query)?,
            Self::Trees(plan) => plan.decrypt(secret, answer, query)?,
            Self::Search(plan) => {
                let found = plan.decrypt(secret, answer, query)?;
                return Ok((found.numbers, found.records));
            }
        };
        Ok((scores, self.conclusions().map_or(1, Conclusions::outputs)))
    }

    /// Places of so many nearest records, the nearest first, a row for each row of a search's numbers; none of other plans.
    pub fn best(&self, numbers: &[f64], records: usize, count: usize) -> Option<Vec<usize>> {
        match self {
            Self::Search(plan) => Some(plan.best(numbers, records, count)),
            _ => None,
        }
    }

    /// The nearest records, and what they vote, of a search's numbers; none of other plans.
    pub fn nearest(&self, numbers: &[f64], records: usize) -> Option<Nearest> {
        match self {
            Self::Search(plan) => Some(plan.nearest(numbers, records)),
            _ => None,
        }
    }
}
