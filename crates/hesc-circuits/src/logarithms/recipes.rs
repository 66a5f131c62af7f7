/// Which elements of an operand are multiplied to its factor of each product, and how often: one after the other.
/// A product that takes none has the factor 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipes {
    /// Where each product's end.
    ends: Vec<u32>,
    /// Elements and powers.
    powers: Vec<(u32, u32)>,
}

impl Recipes {
    /// From elements and powers of each product.
    pub fn new(products: impl IntoIterator<Item = Vec<(u32, u32)>>) -> Self {
        let mut recipes = Self { ends: Vec::new(), powers: Vec::new() };
        for product in products {
            recipes.powers.extend(product);
            recipes.ends.push(recipes.powers.len() as u32);
        }
        recipes
    }

    /// One element for each product.
    pub fn of_elements(elements: impl IntoIterator<Item = u32>) -> Self {
        let powers: Vec<(u32, u32)> = elements.into_iter().map(|element| (element, 1)).collect();
        Self { ends: (1..=powers.len() as u32).collect(), powers }
    }

    /// From where each product's elements end among all; None unless these are in order.
    pub fn of_ends(ends: Vec<u32>, powers: Vec<(u32, u32)>) -> Option<Self> {
        let all = ends.last().is_some_and(|&end| end as usize == powers.len());
        (all && ends.is_sorted()).then_some(Self { ends, powers })
    }

    /// Products.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Elements and powers of one product.
    pub fn of(&self, product: usize) -> &[(u32, u32)] {
        let start = product.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.powers[start..self.ends[product] as usize]
    }

    /// All of them.
    pub fn all(&self) -> &[(u32, u32)] {
        &self.powers
    }

    /// The factor that a product has of these elements: its size, and whether it is negative. Numbers within [-1, 1]
    /// give one within 1; which are multiplied how often is public.
    pub(super) fn factor(&self, product: usize, elements: &[f64]) -> (f64, u64) {
        let (mut size, mut sign) = (1.0, 0);
        for &(element, power) in self.of(product) {
            let x = elements[element as usize];
            for _ in 0..power {
                size *= x.abs();
            }
            sign ^= x.to_bits() >> 63 & u64::from(power);
        }
        (size, sign & 1)
    }
}
