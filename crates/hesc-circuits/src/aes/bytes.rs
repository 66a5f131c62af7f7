//! AES's bytes as elements of slots: the field of `2^8` elements in that of a slot, and maps of bytes as sums of their
//! conjugates.

use hesc_math::finite_field::GaloisRing;
use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{LinearMap, Rlwe};

use super::clear::{affine, times_power};

/// Bits of a byte.
pub(super) const BITS: usize = 8;
/// `x^8 + x^4 + x^3 + x + 1`, by its exponents.
const POLYNOMIAL: [u64; 5] = [8, 4, 3, 1, 0];
/// Elements that are tried as roots, one of which in 32 is; they repeat after 255.
const TRIED: u64 = 1 << BITS;

/// An element, by the powers of a slot's root.
type Element = Vec<u64>;

/// Where bytes lie in the field of a slot.
pub(super) struct Bytes<'a> {
    scheme: &'a Rlwe,
    field: &'a GaloisRing,
    /// `1, x, ..., x^7`.
    basis: Vec<Element>,
    /// The elements whose products with these have the trace 1 where they stand together, and 0 elsewhere.
    dual: Vec<Element>,
}

impl<'a> Bytes<'a> {
    /// In the slots of a set.
    pub(super) fn new(scheme: &'a Rlwe) -> Result<Self, SchemeError> {
        let field = scheme.field_slots()?.ring();
        let d = field.degree();
        if field.prime() != 2 || field.exponent() != 1 || !d.is_multiple_of(BITS) {
            return Err(SchemeError::Parameter {
                name: "params",
                value: format!("slots of GR({}^{}, {d})", field.prime(), field.exponent()),
                remedy: "bytes of AES lie in slots of GF(2^8) or extensions of it: take plaintext modulus 2 and \
                         slots of 8, 16, ... bits, as those of bgv_65535_deep",
            });
        }
        // Traces onto the smaller field span it.
        let onto = |a: &Element| {
            let images = field.conjugates(a);
            let some = images.iter().step_by(BITS).cloned();
            some.reduce(|sum, image| field.add(&sum, &image)).unwrap_or_default()
        };
        let mut spanning: Vec<Element> = Vec::new();
        for power in 0..d as u64 {
            let element = onto(&field.power(&field.root(), power));
            if spanning.len() < BITS && !sums(field, &spanning).contains(&element) {
                spanning.push(element);
            }
        }
        let is_root = |a: &Element| {
            let powers = POLYNOMIAL.iter().map(|&exponent| field.power(a, exponent));
            let value = powers.reduce(|sum, power| field.add(&sum, &power));
            value.is_some_and(|value| value.iter().all(|&x| x == 0))
        };
        let element = |number: u64| {
            let bits: Vec<u64> = (0..spanning.len()).map(|i| number >> i & 1).collect();
            field.combination(&spanning, &bits)
        };
        let root = (1..TRIED).map(element).find(is_root);
        let root = root.unwrap_or_else(|| unreachable!("the polynomial has eight roots there"));
        let basis: Vec<Element> = (0..BITS as u64).map(|i| field.power(&root, i)).collect();
        let dual = dual(field, &basis);
        Ok(Self { scheme, field, basis, dual })
    }

    /// The coordinates in a slot's normal basis of each bit, the lowest first.
    pub(super) fn coordinates(&self) -> Result<Vec<Vec<u64>>, SchemeError> {
        let slots = self.scheme.field_slots()?;
        Ok(self.basis.iter().map(|element| slots.coordinates(element)).collect())
    }

    /// A linear map of bytes, given by the elements that single bits become.
    fn map(&self, of_bits: &[Element]) -> Result<LinearMap, SchemeError> {
        let slots = self.scheme.field_slots()?;
        let duals: Vec<Vec<Element>> = self.dual.iter().map(|x| self.field.conjugates(x)).collect();
        let constant = |image: usize| {
            let terms = of_bits.iter().zip(&duals);
            let terms = terms.map(|(value, dual)| self.field.multiply(value, &dual[image]));
            let sum = terms.reduce(|sum, term| self.field.add(&sum, &term));
            slots.coordinates(&sum.unwrap_or_default())
        };
        self.scheme.linear_map(&(0..BITS).map(constant).collect::<Vec<_>>())
    }

    /// The affine map's linear part, times 1, `x` and `x + 1`: what `MixColumns` makes of it.
    pub(super) fn mixing(&self) -> Result<[LinearMap; 3], SchemeError> {
        let times = |factor: u8| {
            let of_bit = |bit: usize| {
                let byte = affine(1 << bit) as u8;
                self.element(((factor & 1) * byte) ^ ((factor >> 1) * times_power(byte, 1)))
            };
            self.map(&(0..BITS).map(of_bit).collect::<Vec<_>>())
        };
        Ok([times(1)?, times(2)?, times(3)?])
    }

    /// The bits of what the affine map's linear part makes of a byte, as numbers, the lowest first.
    pub(super) fn bits(&self) -> Result<Vec<LinearMap>, SchemeError> {
        let of_output = |output: usize| {
            let of_bit = |bit: usize| self.element((affine(1 << bit) >> output & 1) as u8);
            self.map(&(0..BITS).map(of_bit).collect::<Vec<_>>())
        };
        (0..BITS).map(of_output).collect()
    }

    fn element(&self, byte: u8) -> Element {
        let bits: Vec<u64> = (0..BITS).map(|i| u64::from(byte >> i & 1)).collect();
        self.field.combination(&self.basis, &bits)
    }
}

/// All sums of elements.
fn sums(field: &GaloisRing, elements: &[Element]) -> Vec<Element> {
    let bits =
        |number: usize| (0..elements.len()).map(|i| (number >> i & 1) as u64).collect::<Vec<_>>();
    if elements.is_empty() {
        return vec![field.constant(0)];
    }
    (0..1 << elements.len()).map(|number| field.combination(elements, &bits(number))).collect()
}

/// The basis of the smaller field that is dual to one by the trace.
fn dual(field: &GaloisRing, basis: &[Element]) -> Vec<Element> {
    let one = field.constant(1);
    let trace = |a: &Element| {
        let images = field.conjugates(a).into_iter().take(BITS);
        u64::from(images.reduce(|sum, image| field.add(&sum, &image)).as_ref() == Some(&one))
    };
    // Traces of products beside the identity, by Gauss and Jordan.
    let row = |i: usize| -> Vec<u64> {
        let own = basis.iter().map(|b| trace(&field.multiply(&basis[i], b)));
        own.chain((0..BITS).map(|j| u64::from(i == j))).collect()
    };
    let mut rows: Vec<Vec<u64>> = (0..BITS).map(row).collect();
    for i in 0..BITS {
        let pivot = (i..BITS).find(|&j| rows[j][i] == 1).unwrap_or(i);
        rows.swap(i, pivot);
        let own = rows[i].clone();
        for (_, other) in rows.iter_mut().enumerate().filter(|(j, row)| *j != i && row[i] == 1) {
            other.iter_mut().zip(&own).for_each(|(x, y)| *x ^= y);
        }
    }
    rows.iter().map(|row| field.combination(basis, &row[BITS..])).collect()
}
