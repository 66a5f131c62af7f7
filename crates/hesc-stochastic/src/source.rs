//! Factors as their errors see them: two with equal sources err alike.

use crate::factor::{Factor, UNKNOWN_ROW};
use crate::generators::rows::Rows;
use crate::selection_law::SelectionLaw;
use crate::{Generator, Origin};

/// A factor as far as its errors go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Source {
    Random {
        exact_weight: bool,
    },
    Selected {
        law: SelectionLaw,
    },
    Dimension {
        generator: Generator,
        dimension: u32,
    },
    Deterministic {
        generator: Generator,
        factors: u32,
        factor: u32,
    },
    /// `product` tells jointly encoded products apart.
    Joint {
        product: u32,
        first: u32,
        factor: u32,
        dimension: u32,
    },
}

impl Source {
    /// The factors of a product, in order.
    pub fn of(factors: &[Factor]) -> Vec<Self> {
        let mut products = Vec::new();
        let mut sorted = factors.to_vec();
        sorted.sort_unstable();
        let mut sources: Vec<Self> = sorted
            .into_iter()
            .map(|Factor { origin, row }| match origin {
                Origin::Draw { generator, .. } => {
                    Self::Random { exact_weight: generator == Generator::ExactWeight }
                }
                Origin::Selection { law, .. } => Self::Selected { law },
                Origin::Dimension { generator, dimension } => {
                    Self::Dimension { generator, dimension }
                }
                Origin::Deterministic { generator, factors, factor } => {
                    Self::Deterministic { generator, factors, factor }
                }
                Origin::Joint { source, first, .. } if may_belong(factors, source, first, row) => {
                    Self::Random { exact_weight: true }
                }
                Origin::Joint { source, first, factor, dimension } => {
                    let of = (source, first, row);
                    let product = products.iter().position(|p| *p == of).unwrap_or_else(|| {
                        products.push(of);
                        products.len() - 1
                    });
                    Self::Joint { product: product as u32, first, factor, dimension }
                }
            })
            .collect();
        sources.sort_unstable();
        sources
    }

    /// What encodes it, for all but joint factors.
    pub fn rows(self, length: usize) -> Option<Rows> {
        let (generator, dimension, factors) = match self {
            Self::Random { exact_weight: true } => (Generator::ExactWeight, 0, 1),
            // What is selected errs no more than independent bits.
            Self::Random { .. } | Self::Selected { .. } => (Generator::Bernoulli, 0, 1),
            Self::Dimension { generator, dimension } => (generator, dimension, 1),
            Self::Deterministic { generator, factors, factor } => (generator, factor, factors),
            Self::Joint { .. } => return None,
        };
        Rows::of(generator, dimension, factors, length).ok()
    }

    /// Whether its streams follow a sequence, which other streams may follow as well.
    pub fn is_sequence(self) -> bool {
        !matches!(self, Self::Random { .. } | Self::Selected { .. })
    }

    /// The dimension of which all rows compare with the same points.
    pub fn plain_dimension(self) -> Option<u32> {
        match self {
            Self::Dimension { generator: Generator::PlainSobol, dimension } => Some(dimension),
            _ => None,
        }
    }
}

/// Whether a jointly encoded factor is one of several of its product's encoding, and it is not told
/// whether their rows are equal.
fn may_belong(factors: &[Factor], source: u128, first: u32, row: u32) -> bool {
    let mut alike = factors.iter().filter(|other| {
        matches!(other.origin, Origin::Joint { source: s, first: f, .. } if (s, f) == (source, first))
    });
    alike.clone().count() > 1 && (row == UNKNOWN_ROW || alike.any(|other| other.row == UNKNOWN_ROW))
}
