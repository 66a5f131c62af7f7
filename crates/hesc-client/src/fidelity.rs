//! How near what is computed comes to a model that was fitted.

use crate::ClientError;
use crate::document::{self, Fields};
use crate::json::Json;

/// What was changed in a model that is not the one that was fitted.
const WAYS: [&str; 2] = ["bins", "additive"];

/// How near what is computed comes to the model that was fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Fidelity {
    /// What was changed: `bins` or `additive`.
    pub way: &'static str,
    /// Rows that both were compared on.
    pub rows: u64,
    /// Whether what is computed was made without these rows.
    pub unseen: bool,
    /// The share of rows that both put in the same class; none of regressors.
    pub agreement: Option<f64>,
    /// The share of the variance of the fitted model's scores; none where it has none.
    pub explained: Option<f64>,
    /// The root mean square of the difference of their scores.
    pub apart: f64,
}

impl Fidelity {
    /// What a plan says of it; nothing where the model itself is computed.
    pub(crate) fn read(value: &Json) -> Result<Option<Self>, ClientError> {
        if value == &Json::Null {
            return Ok(None);
        }
        let names = ["way", "rows", "unseen", "agreement", "explained", "apart"];
        let fields = Fields::exactly(value, &names, "fidelity")?;
        let way = WAYS[document::one_of(fields.get("way"), &WAYS, "what a fidelity is of")?];
        let share = |name: &str| match fields.get(name) {
            Json::Null => Some(None),
            Json::Number(share) if *share <= 1.0 => Some(Some(*share)),
            _ => None,
        };
        let sound = || {
            let Json::Whole(rows @ 1..0x20_0000_0000_0000) = fields.get("rows") else {
                return None;
            };
            let Json::Truth(unseen) = fields.get("unseen") else { return None };
            let agreement = share("agreement")?;
            let Json::Number(apart @ 0.0..) = fields.get("apart") else { return None };
            if agreement.is_some_and(|share| share < 0.0) {
                return None;
            }
            let (rows, explained) = (rows.unsigned_abs(), share("explained")?);
            Some(Self { way, rows, unseen: *unseen, agreement, explained, apart: *apart })
        };
        sound().map(Some).ok_or_else(|| {
            ClientError::document("the fidelity of a plan is shares up to 1, of a number of rows")
        })
    }
}
