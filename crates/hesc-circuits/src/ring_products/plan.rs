use std::sync::Arc;

use hesc_schemes::rlwe::{RingProducts, Truncation};
use hesc_schemes::{Fingerprint, SchemeError};

use super::declared::{Declared, half, mid, scaled};
use super::error::RingProductError;
use super::layout::Layout;
use super::plan_wire::{declared_from_bytes, plan_to_bytes};
use super::scales::{Demand, Norms, Scales, truncation};

/// Words of a message's ciphertexts, at most: it is in memory at once.
const MOST_WORDS: usize = 1 << 22;

/// What both sides of a ring product agree upon: sizes, scales, and how noisy answers are. Public. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Plan(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    declared: Declared,
    fingerprint: Fingerprint,
    products: RingProducts,
    layout: Layout,
    demand: Demand,
    scales: Scales,
    truncation: Option<Truncation>,
    /// The same of the third part, where one travels.
    third: Option<Third>,
}

/// Bits of the coefficients of the third part of an answer, and how it comes to them if it loses some.
#[derive(Debug)]
pub(super) struct Third {
    pub bits: u32,
    pub truncation: Option<Truncation>,
}

impl Plan {
    /// The smallest set, and in it the fewest bits of an answer, with which scores have the wanted error, and are
    /// beyond their range with a probability below `2^-128`. Cost: milliseconds.
    ///
    /// # Errors
    /// [`RingProductError::Declared`], [`RingProductError::Places`], [`RingProductError::NoRoom`].
    pub fn new(declared: Declared) -> Result<Self, RingProductError> {
        declared.check()?;
        let (features, outputs) = (declared.low.len(), declared.centres.len());
        let mut nearest = f64::INFINITY;
        for (ring_degree, bits) in RingProducts::SIZES {
            let layout = Layout { ring_degree, features, outputs };
            if layout.capacity() == 0 {
                continue;
            }
            let modulus = RingProducts::modulus_of_size(ring_degree, bits)?;
            let demand = Demand::new(&declared, layout, modulus);
            match demand.scales(declared.error) {
                Ok(scales) => return Self::with(declared, layout, bits, demand, scales),
                Err(error) => nearest = nearest.min(error),
            }
        }
        Err(RingProductError::NoRoom { nearest })
    }

    fn with(
        declared: Declared,
        layout: Layout,
        bits: u32,
        demand: Demand,
        scales: Scales,
    ) -> Result<Self, RingProductError> {
        let products = RingProducts::of_size(layout.ring_degree, bits)?;
        let modulus = products.modulus();
        let third = demand.third_bits(scales.bits);
        let third = third.map(|bits| Third { bits, truncation: truncation(modulus, bits) });
        let truncation = truncation(modulus, scales.bits);
        let bytes = plan_to_bytes(&declared, layout, products.modulus(), scales);
        let fingerprint = Fingerprint::of(&bytes);
        let inner =
            Inner { declared, fingerprint, products, layout, demand, scales, truncation, third };
        Ok(Self(Arc::new(inner)))
    }

    /// Wire form.
    pub fn to_bytes(&self) -> Vec<u8> {
        plan_to_bytes(self.declared(), self.layout(), self.products().modulus(), self.scales())
    }

    /// Reads a plan, and makes it again: what it says of sizes and scales must be what follows from the rest.
    ///
    /// # Errors
    /// [`SchemeError::Wire`]; as [`Self::new`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RingProductError> {
        let declared = declared_from_bytes(bytes)?;
        let plan = Self::new(declared)?;
        if plan.to_bytes() == bytes {
            return Ok(plan);
        }
        let (what, problem) =
            ("the plan of a ring product", "its scales do not follow from what it declares");
        Err(SchemeError::Wire { what, problem }.into())
    }

    /// What it was made from.
    pub fn declared(&self) -> &Declared {
        &self.0.declared
    }

    /// Its hash, which queries and answers carry.
    pub fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }

    /// The set.
    pub fn products(&self) -> &RingProducts {
        &self.0.products
    }

    /// Where what lies.
    pub fn layout(&self) -> Layout {
        self.0.layout
    }

    /// What numbers are multiplied with.
    pub fn scales(&self) -> Scales {
        self.0.scales
    }

    /// Bits of the coefficients of an answer.
    pub fn answer_bits(&self) -> u32 {
        self.scales().bits
    }

    /// How an answer loses bits, if it does.
    pub(super) fn truncation(&self) -> Option<&Truncation> {
        self.0.truncation.as_ref()
    }

    /// The third part of an answer, where one travels.
    pub(super) fn third(&self) -> Option<&Third> {
        self.0.third.as_ref()
    }

    /// The coefficients of `c_0` that a query of so many samples has: all where weights are encrypted, whose ciphertexts
    /// have no zeros.
    pub(super) fn window(&self, samples: usize) -> (usize, usize) {
        match self.declared().encrypted() {
            Some(_) => (0, self.layout().ring_degree),
            None => self.layout().window(samples),
        }
    }

    /// Whether a ciphertext of what is added to scores comes with encrypted weights.
    pub(super) fn adds(&self) -> bool {
        self.declared().encrypted().is_some() && self.declared().offset > 0.0
    }

    /// The most that a coefficient of a score is, noise included.
    pub fn reach(&self) -> f64 {
        self.0.demand.reach(self.0.scales)
    }

    /// The deviation of the noise that hides weights, in coefficients.
    pub(super) fn flooding(&self) -> Option<f64> {
        self.0.demand.flooding(self.0.scales.weight_scale)
    }

    /// Samples that a query takes, at most.
    pub fn most_samples(&self) -> usize {
        (MOST_WORDS / self.layout().ring_degree).max(1) * self.layout().capacity()
    }

    /// The root mean square of a score's error: over noise and roundings, of weights too, hence over servers; at features
    /// at the ends of their ranges and weights at the declared bounds, where it is largest.
    pub fn error(&self) -> f64 {
        self.0.demand.variance(self.scales(), self.0.demand.largest()).sqrt()
    }

    /// What the root mean square of a score's errors over the rows of one deployment stays within with a probability of
    /// 99 %: its weights are rounded, or encrypted, once for all rows, and its key is one.
    pub fn deployment_error(&self) -> f64 {
        self.0.demand.variance_of_one(self.scales()).sqrt()
    }

    /// The law itself: the root mean square of the errors of the scores of samples that share a ciphertext, for weights that
    /// are given, over servers as [`Self::error`]. Where these are encrypted, the errors of one sample depend on the others'.
    ///
    /// # Errors
    /// As encryption refuses features and a model weights; more samples than a ciphertext takes.
    pub fn errors_of(
        &self,
        weights: &[f64],
        features: &[f64],
    ) -> Result<Vec<f64>, RingProductError> {
        let Declared { low, high, .. } = self.declared();
        let (samples, most) = (features.len() / low.len(), self.layout().capacity());
        if !(1..=most).contains(&samples) {
            return Err(RingProductError::Samples { samples, most });
        }
        self.declared().check_features(features, samples)?;
        self.declared().check_weights(weights)?;
        let in_units = |(x, (&low, &high)): (&f64, (&f64, &f64))| match half(low, high) {
            0.0 => 0.0,
            width => (x - mid(low, high)) / width,
        };
        let square = |row: &[f64]| -> f64 {
            let units = row.iter().zip(low.iter().zip(high)).map(in_units);
            units.map(|u| u * u).sum()
        };
        let samples: Vec<f64> = features.chunks_exact(low.len()).map(square).collect();
        let rows: Vec<f64> = weights
            .chunks_exact(low.len())
            .map(|row| scaled(row, low, high).map(|w| w * w).sum())
            .collect();
        let (ciphertext, all) = (samples.iter().sum(), rows.iter().sum());
        let law = |norms| self.0.demand.variance(self.scales(), norms).sqrt();
        let of_sample =
            |&sample| rows.iter().map(move |&row| law(Norms { sample, ciphertext, row, all }));
        Ok(samples.iter().flat_map(of_sample).collect())
    }
}
