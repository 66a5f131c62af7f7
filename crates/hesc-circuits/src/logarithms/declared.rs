use super::recipes::Recipes;
use crate::plans::PlanError;

/// Factors of a product, at most.
pub(super) const MOST_FACTORS: usize = 64;
/// Products of a sample, and elements of an operand.
pub(super) const MOST_PLACES: usize = 1 << 20;
/// Elements that all recipes of an operand name, and the powers of one.
pub(super) const MOST_NAMED: usize = 1 << 22;
const MOST_POWER: u32 = 64;
/// Axes of a shape.
pub(super) const MOST_AXES: usize = 8;
/// Nothing declared is larger, and no size of a product times its weight.
const LARGEST: f64 = 1e100;

/// How an operand's numbers come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Encrypted by the key owner: a seed and half the size.
    Secret,
    /// Encrypted under the public key, by anyone.
    Public,
    /// In the clear, at whoever computes.
    Clear,
}

/// What one side multiplies with.
#[derive(Debug, Clone, PartialEq)]
pub struct Operand {
    /// How it comes.
    pub source: Source,
    /// Whether one set of numbers serves all samples.
    pub shared: bool,
    /// Axes, for whoever sees its numbers as an array.
    pub shape: Vec<u32>,
    /// The largest absolute value of each element.
    pub bounds: Vec<f64>,
    /// What its factor of each product is.
    pub recipes: Recipes,
}

/// How products are added up by the key owner.
#[derive(Debug, Clone, PartialEq)]
pub struct Sums {
    /// Axes of the outputs.
    pub shape: Vec<u32>,
    /// Outputs, products in them, and what these are multiplied with; in order, each pair once.
    pub terms: Vec<(u32, u32, f64)>,
}

/// What all sides know, declared before anybody looked at numbers to be hidden.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// One for each factor of a product.
    pub operands: Vec<Operand>,
    /// What is done with the products.
    pub sums: Sums,
    /// The root mean square of an output's error that is wanted.
    pub error: f64,
}

pub(super) fn elements(shape: &[u32]) -> usize {
    shape.iter().fold(1usize, |product, &axis| product.saturating_mul(axis as usize))
}

impl Declared {
    /// Products of a sample.
    pub fn products(&self) -> usize {
        self.operands.first().map_or(0, |operand| operand.recipes.len())
    }

    /// Outputs of a sample.
    pub fn outputs(&self) -> usize {
        elements(&self.sums.shape)
    }

    /// What each product of factors in [-1, 1] is multiplied with, without its weight.
    pub(super) fn scales(&self) -> Vec<f64> {
        let of_product = |product| {
            let factors = self.operands.iter().map(|operand| {
                let powers = operand.recipes.of(product).iter();
                powers.fold(1.0, |scale: f64, &(element, power)| {
                    let bound = operand.bounds[element as usize];
                    (0..power).fold(scale, |scale, _| scale * bound)
                })
            });
            factors.product()
        };
        (0..self.products()).map(of_product).collect()
    }

    /// How many factors of each product are not 1.
    pub(super) fn depths(&self) -> Vec<u32> {
        let depth = |product| {
            let of_operand = |operand: &&Operand| !operand.recipes.of(product).is_empty();
            self.operands.iter().filter(of_operand).count() as u32
        };
        (0..self.products()).map(depth).collect()
    }

    pub(super) fn check(&self) -> Result<(), PlanError> {
        let refuse = |name, remedy| Err(PlanError::Declared { name, remedy });
        if !(1..=MOST_FACTORS).contains(&self.operands.len()) {
            return refuse(
                "operands",
                "give 1 to 64 factors; multiply what one side knows in the clear",
            );
        }
        let products = self.products();
        if !(1..=MOST_PLACES).contains(&products) {
            return refuse("products", "give 1 to 2^20 of them; make plans for groups");
        }
        for operand in &self.operands {
            operand.check(products)?;
        }
        let encrypted = |operand: &&Operand| operand.source != Source::Clear;
        if !self.operands.iter().filter(encrypted).any(|operand| !operand.shared) {
            return refuse("operands", "one that is encrypted has numbers for each sample");
        }
        let (outputs, terms) = (self.outputs(), &self.sums.terms);
        if self.sums.shape.len() > MOST_AXES || !(1..=MOST_PLACES).contains(&outputs) {
            return refuse("outputs", "give 8 axes at most, and 1 to 2^20 of them");
        }
        let scales = self.scales();
        if !scales.iter().all(|scale| (1.0 / LARGEST..=LARGEST).contains(scale)) {
            return refuse(
                "bounds",
                "their products are within 1e-100 and 1e100; scale the numbers",
            );
        }
        if terms.len() > MOST_NAMED {
            return refuse("terms", "give 2^22 of them at most; make plans for groups of outputs");
        }
        let (mut used, mut summed) = (vec![false; products], vec![false; outputs]);
        for &(output, product, weight) in terms {
            let (output, product) = (output as usize, product as usize);
            if output >= outputs || product >= products {
                return refuse("terms", "they are of outputs and products that there are");
            }
            (summed[output], used[product]) = (true, true);
            if !((scales[product] * weight).abs() <= LARGEST && weight.abs() <= LARGEST) {
                return refuse(
                    "weights",
                    "give numbers within 1e100, times their products as well",
                );
            }
        }
        if summed.contains(&false) || used.contains(&false) {
            return refuse("terms", "every output has one, and every product is in one");
        }
        if !terms.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)) {
            return refuse("terms", "sort them by output and product, each pair once");
        }
        if !(1.0 / LARGEST..=LARGEST).contains(&self.error) {
            return refuse("error", "give the root mean square that you want, above zero");
        }
        Ok(())
    }
}

impl Operand {
    fn check(&self, products: usize) -> Result<(), PlanError> {
        let refuse = |name, remedy| Err(PlanError::Declared { name, remedy });
        let count = self.bounds.len();
        if !(1..=MOST_PLACES).contains(&count) {
            return refuse("bounds", "give one for each element, 1 to 2^20 of them");
        }
        if self.shape.len() > MOST_AXES || elements(&self.shape) != count {
            return refuse("shape", "give 8 axes at most, with a bound for each element");
        }
        if !self.bounds.iter().all(|bound| (1.0 / LARGEST..=LARGEST).contains(bound)) {
            return refuse("bounds", "give numbers above zero, from 1e-100 to 1e100");
        }
        if self.source == Source::Clear && !self.shared {
            return refuse("operands", "one in the clear serves all samples");
        }
        if self.recipes.len() != products {
            return refuse("recipes", "give one for each product");
        }
        let named = self.recipes.all();
        let possible = |&(element, power): &(u32, u32)| {
            (element as usize) < count && (1..=MOST_POWER).contains(&power)
        };
        if named.len() > MOST_NAMED || !named.iter().all(possible) {
            return refuse("recipes", "they name elements that there are, to powers from 1 to 64");
        }
        Ok(())
    }

    /// The numbers as shares of their bounds; refuses another count, and numbers beyond. Which is the first one shows in the
    /// time this takes: it is its owner's own.
    pub(super) fn shares(
        &self,
        operand: usize,
        numbers: &[f64],
        samples: usize,
    ) -> Result<zeroize::Zeroizing<Vec<f64>>, PlanError> {
        let count = self.bounds.len();
        let (expected, found) = (count.saturating_mul(samples), numbers.len());
        if expected != found {
            return Err(PlanError::Count { what: format!("operand {operand}"), expected, found });
        }
        let bounds = || self.bounds.iter().cycle();
        // Without a branch where all are well; what is no number is not inside.
        let inside = |(x, bound): (&f64, &f64)| x.abs() <= *bound;
        if !numbers.iter().zip(bounds()).fold(true, |all, at| all & inside(at)) {
            let at = numbers.iter().zip(bounds()).position(|at| !inside(at)).unwrap_or(0);
            let (sample, element) = (at / count, at % count);
            return Err(PlanError::Number { operand, sample, element });
        }
        let shares = numbers.iter().zip(bounds()).map(|(x, bound)| x / bound);
        Ok(zeroize::Zeroizing::new(shares.collect()))
    }
}
