use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::RingProducts;
use hesc_schemes::wire::{Kind, Reader, Writer};

use crate::plans::{self, Declaration, MOST_WORDS, PlanError, Width, smallest};

use super::declared::{Declared, half, mid, scaled};
use super::layout::Layout;
use super::plan_wire;
use super::scales::{Demand, Norms, Scales};

/// What both sides of a ring product agree upon: sizes, scales, and how noisy answers are.
pub type Plan = plans::Plan<Declared>;

/// What follows from ranges, bounds and a wanted error.
#[derive(Debug)]
pub struct Derived {
    layout: Layout,
    demand: Demand,
    scales: Scales,
    /// How the third part of an answer travels, where one does.
    third: Option<Width>,
}

impl Declaration for Declared {
    type Derived = Derived;
    const KIND: Kind = Kind::RingProductPlan;

    /// The smallest set, and in it the fewest bits of an answer, with which scores have the wanted error, and are
    /// beyond their range with a probability below `2^-128`.
    fn derive(&self) -> Result<(RingProducts, Derived), PlanError> {
        self.check()?;
        let (features, outputs) = (self.low.len(), self.centres.len());
        let mut nearest = f64::INFINITY;
        let found = smallest(&RingProducts::SIZES, |ring_degree, modulus| {
            let layout = Layout { ring_degree, features, outputs };
            if layout.capacity() == 0 {
                return None;
            }
            let demand = Demand::new(self, layout, modulus);
            let scales =
                demand.scales(self.error).map_err(|error| nearest = nearest.min(error)).ok()?;
            let third = demand.third_bits(scales.bits).map(|bits| Width::new(modulus, bits));
            Some(Derived { layout, demand, scales, third })
        })?;
        let remedy = if nearest.is_finite() {
            "ask for a larger error, declare narrower ranges, or plan for fewer hidden answers"
        } else {
            "plan for fewer hidden answers or fewer statistical bits, or score groups of features under plans of their own"
        };
        found.ok_or(PlanError::NoRoom { nearest, remedy })
    }

    fn write(&self, writer: &mut Writer) {
        plan_wire::write(self, writer);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, SchemeError> {
        plan_wire::read(reader)
    }
}

impl plans::Derived for Derived {
    const BYTES: usize = 8 + 8;

    fn answer_bits(&self) -> u32 {
        self.scales.bits
    }

    fn write(&self, writer: &mut Writer) {
        writer.u64(self.scales.feature_scale).f64(self.scales.weight_scale);
    }
}

impl Plan {
    /// Where what lies.
    pub fn layout(&self) -> Layout {
        self.derived().layout
    }

    /// What numbers are multiplied with.
    pub fn scales(&self) -> Scales {
        self.derived().scales
    }

    /// How the third part of an answer travels, where one does.
    pub(super) fn third(&self) -> Option<&Width> {
        self.derived().third.as_ref()
    }

    /// The coefficients of `c_0` that a query of so many samples has: all where weights are encrypted, whose ciphertexts
    /// have no zeros.
    pub(super) fn window(&self, samples: usize) -> (usize, usize) {
        match self.declared().encrypted() {
            Some(_) => (0, self.ring_degree()),
            None => self.layout().window(samples),
        }
    }

    /// Whether a ciphertext of what is added to scores comes with encrypted weights.
    pub(super) fn adds(&self) -> bool {
        self.declared().encrypted().is_some() && self.declared().offset > 0.0
    }

    /// The most that a coefficient of a score is, noise included.
    pub fn reach(&self) -> f64 {
        self.derived().demand.reach(self.derived().scales)
    }

    /// The deviation of the noise that hides weights, in coefficients.
    pub(super) fn flooding(&self) -> Option<f64> {
        self.derived().demand.flooding(self.derived().scales.weight_scale)
    }

    /// Samples that a query takes, at most.
    pub fn most_samples(&self) -> usize {
        (MOST_WORDS / self.ring_degree()).max(1) * self.layout().capacity()
    }

    /// The root mean square of a score's error: over noise and roundings, of weights too, hence over servers; at features
    /// at the ends of their ranges and weights at the declared bounds, where it is largest.
    pub fn error(&self) -> f64 {
        self.derived().demand.variance(self.scales(), self.derived().demand.largest()).sqrt()
    }

    /// What the root mean square of a score's errors over the rows of one deployment stays within with a probability of
    /// 99 %: its weights are rounded, or encrypted, once for all rows, and its key is one.
    pub fn deployment_error(&self) -> f64 {
        self.derived().demand.variance_of_one(self.scales()).sqrt()
    }

    /// The law itself: the root mean square of the errors of the scores of samples that share a ciphertext, for weights that
    /// are given, over servers as [`Self::error`]. Where these are encrypted, the errors of one sample depend on the others'.
    ///
    /// # Errors
    /// As encryption refuses features and a model weights; more samples than a ciphertext takes.
    pub fn errors_of(&self, weights: &[f64], features: &[f64]) -> Result<Vec<f64>, PlanError> {
        let Declared { low, high, .. } = self.declared();
        let (samples, most) = (features.len() / low.len(), self.layout().capacity());
        if !(1..=most).contains(&samples) {
            return Err(PlanError::Samples { samples, most });
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
        let law = |norms| self.derived().demand.variance(self.scales(), norms).sqrt();
        let of_sample =
            |&sample| rows.iter().map(move |&row| law(Norms { sample, ciphertext, row, all }));
        Ok(samples.iter().flat_map(of_sample).collect())
    }
}
