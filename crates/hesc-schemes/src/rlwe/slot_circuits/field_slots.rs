//! Slots of odd rings: copies of a Galois ring (`hesc_math::finite_field`), along the dimensions of the group of slots.

use hesc_math::finite_field::{Dimension, Slots};
use zeroize::Zeroizing;

use crate::SchemeError;
use crate::error::refuse;
use crate::rlwe::integers::{Integers, check_count};
use crate::rlwe::{Plaintext, Rlwe};

/// What the coordinates of a slot's value belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// An element and its Frobenius images, the same in all slots: what messages in the clear are packed by.
    Normal,
    /// `1, X, ..., X^(d - 1)`, another root of unity in each slot: what [`Rlwe::pack`] packs ciphertexts by.
    Powers,
}

impl Rlwe {
    /// The slots of an odd ring: what each is a copy of, and along which dimensions they lie.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for a power-of-two ring; [`SchemeError::Math`] for a plaintext modulus that is no
    /// power of a prime, shares a factor with the index or is beyond `2^22`; [`SchemeError::NotInScheme`] for CKKS.
    pub fn field_slots(&self) -> Result<&Slots, SchemeError> {
        self.integers()?.fields()
    }

    /// Values of slots by their coordinates in a basis, `d` for each slot and below the plaintext modulus; the slots
    /// behind are zero. Cost: one convolution of `phi(m)` words, and by powers of `X` `d` products for each of them.
    ///
    /// # Errors
    /// [`SchemeError::TooManyValues`] for more than `phi(m)`, [`SchemeError::Value`] for a coordinate that is not
    /// below the plaintext modulus; as [`Self::field_slots`].
    pub fn encode_slots(
        &self,
        basis: Basis,
        coordinates: &[u64],
    ) -> Result<Plaintext, SchemeError> {
        let slots = self.field_slots()?;
        check_count(coordinates, self.ring_degree())?;
        let modulus = slots.ring().modulus().value();
        if let Some(position) = coordinates.iter().position(|&x| x >= modulus) {
            return Err(SchemeError::Value {
                position,
                remedy: "coordinates are residues below the plaintext modulus",
            });
        }
        let mut all = Zeroizing::new(coordinates.to_vec());
        all.resize(self.ring_degree(), 0);
        if basis == Basis::Powers {
            all = Zeroizing::new(slots.from_powers(&all));
        }
        Ok(Plaintext::integers(self.fingerprint(), slots.encode(&all)))
    }

    /// The coordinates of the values of all slots in a basis. Cost: as [`Self::encode_slots`].
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`]; as [`Self::field_slots`].
    pub fn decode_slots(
        &self,
        basis: Basis,
        plaintext: &Plaintext,
    ) -> Result<Vec<u64>, SchemeError> {
        let slots = self.field_slots()?;
        self.check_params(plaintext.params)?;
        let coordinates = slots.decode(&plaintext.words);
        Ok(match basis {
            Basis::Normal => coordinates,
            Basis::Powers => slots.to_powers(&Zeroizing::new(coordinates)),
        })
    }

    /// Integers as the values of slots.
    pub(crate) fn encode_numbers(
        &self,
        integers: &Integers,
        values: &[i64],
    ) -> Result<Plaintext, SchemeError> {
        let slots = integers.fields()?;
        check_count(values, slots.count())?;
        let d = slots.ring().degree();
        let mut coordinates = Zeroizing::new(Vec::with_capacity(self.ring_degree()));
        for (i, &value) in values.iter().enumerate() {
            let coordinate = slots.coordinate_of_number(integers.residue(value, i)?);
            coordinates.extend(std::iter::repeat_n(coordinate, d));
        }
        self.encode_slots(Basis::Normal, &coordinates)
    }

    /// The integers that are the values of slots.
    pub(crate) fn decode_numbers(
        &self,
        integers: &Integers,
        plaintext: &Plaintext,
    ) -> Result<Vec<i64>, SchemeError> {
        let slots = integers.fields()?;
        let coordinates = Zeroizing::new(self.decode_slots(Basis::Normal, plaintext)?);
        let values = coordinates.chunks_exact(slots.ring().degree());
        let numbers: Vec<Option<u64>> = values.map(|value| slots.number(value)).collect();
        let Some(numbers) = numbers.iter().copied().collect::<Option<Vec<u64>>>() else {
            return refuse(
                "plaintext",
                "a slot that holds no number",
                "values of extensions come back by decode_slots; for messages packed into coordinates unpack first",
            );
        };
        Ok(integers.centred(&numbers))
    }

    /// The cyclic factors of the group of slots, the longest first; slots are numbered along them, the last one's
    /// next to each other.
    ///
    /// # Errors
    /// As [`Self::field_slots`].
    pub fn dimensions(&self) -> Result<&[Dimension], SchemeError> {
        Ok(self.field_slots()?.dimensions())
    }

    /// The exponent of the automorphism that rotates slots along a dimension by `steps`: slot `i` gets the value of
    /// slot `i + steps`. What comes around a dimension with a twist has undergone as many Frobenius maps, which
    /// numbers do not notice.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for a dimension that is not there; as [`Self::field_slots`].
    pub fn dimension_element(&self, dimension: usize, steps: i64) -> Result<usize, SchemeError> {
        let Some(found) = self.dimensions()?.get(dimension) else {
            return refuse("dimension", dimension, "choose one of those that dimensions() lists");
        };
        Ok(self.repeated(found.generator, steps.rem_euclid(found.length as i64)))
    }

    /// The exponent of the Frobenius map, so many times: each value `v` becomes `v^(p^times)`, in the coordinates of
    /// the normal basis a rotation to the right.
    ///
    /// # Errors
    /// As [`Self::field_slots`].
    pub fn frobenius_element(&self, times: i64) -> Result<usize, SchemeError> {
        let field = self.field_slots()?.ring();
        let prime = field.prime() % self.ring().value() as u64;
        Ok(self.repeated(prime as usize, times.rem_euclid(field.degree() as i64)))
    }
}
