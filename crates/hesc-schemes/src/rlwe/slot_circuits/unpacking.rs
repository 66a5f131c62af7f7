//! Packing and unpacking (`carpov2016packing`, section 3): between one ciphertext whose slots hold elements of
//! `GR(p^r, d)` and `d` whose slots hold their coordinates.

use hesc_math::ring::{Eval, Prime};

use crate::SchemeError;
use crate::error::refuse;
use crate::rlwe::chain::Target;
use crate::rlwe::ciphertext::State;
use crate::rlwe::domain::Domain;
use crate::rlwe::integers::Constant;
use crate::rlwe::key_switching::Levels;
use crate::rlwe::keys::{GaloisKey, GaloisKeys};
use crate::rlwe::noise::{Noise, PlainSize};
use crate::rlwe::polys::Polys;
use crate::rlwe::residues::{Blank, RowsMut, Stored, inner_products};
use crate::rlwe::{Basis, Ciphertext, Plaintext, Rlwe, parallel};

/// Words of the sums of outputs that are made together and wait for their division.
const WAITING: usize = 1 << 23;

/// All images of a ciphertext under the Frobenius map, times the special primes and not yet divided by them: pairs of
/// components modulo each target prime.
pub(super) struct Images {
    level: usize,
    pub(super) polys: Polys<Eval>,
}

impl Rlwe {
    /// One ciphertext of up to `d` whose slots hold numbers: the sum of `X^j` times the `j`-th, of which
    /// [`Basis::Powers`] are the coordinates. Noise adds, for monomials have none of their own. Cost: a product with a
    /// plaintext for each.
    ///
    /// # Errors
    /// [`SchemeError::TooManyValues`] for more than `d`, [`SchemeError::Parameter`] for none; those of
    /// [`Self::add`]; as [`Self::field_slots`].
    pub fn pack(&self, numbers: &[&Ciphertext]) -> Result<Ciphertext, SchemeError> {
        let d = self.field_slots()?.ring().degree();
        if numbers.len() > d {
            return Err(SchemeError::TooManyValues { found: numbers.len(), slots: d });
        }
        let Some((first, rest)) = numbers.split_first() else {
            return refuse("numbers", "[]", "give at least one ciphertext");
        };
        self.check_ciphertext(first)?;
        let mut packed = (*first).clone();
        for (j, &number) in rest.iter().enumerate() {
            // All coefficients have one sign, so that 1 instead of -1 modulo 2 is a root of unity as well.
            let t = self.spec().plaintext.modulus() as i64;
            let power = self.ring().power(j + 1).into_iter();
            let words = power.map(|x| i64::from(x).rem_euclid(t) as u64).collect();
            let power = Plaintext::integers(self.fingerprint(), words);
            self.check_ciphertext(number)?;
            let state = self.times_monomial_state(&number.state, &power)?;
            let polys = self.times_plain_polys(number, &power);
            packed = self.add(&packed, &Ciphertext { tag: number.tag, state, polys })?;
        }
        Ok(packed)
    }

    /// The state of a product with a power of `X`: values at roots of unity keep their size.
    fn times_monomial_state(&self, a: &State, power: &Plaintext) -> Result<State, SchemeError> {
        let (own, growth) = (a.noise, self.norms().monomial_growth);
        let (infinity_norm, magnitude) = (own.infinity_norm * growth, own.magnitude * growth);
        let product = self.times_plain_state(a, power)?;
        Ok(State { noise: Noise { infinity_norm, magnitude, ..own }, ..product })
    }

    /// Bits of noise budget that so many ciphertexts together lose by [`Self::pack`], at most.
    ///
    /// # Errors
    /// [`SchemeError::TooManyValues`] for more than `d`; as [`Self::field_slots`].
    pub fn packing_bits(&self, columns: usize) -> Result<f64, SchemeError> {
        let d = self.field_slots()?.ring().degree();
        if columns > d {
            return Err(SchemeError::TooManyValues { found: columns, slots: d });
        }
        // Products with monomials are refused by what is known of plaintexts with as many coefficients.
        let terms = |j: usize| self.ring().power(j).into_iter().filter(|&x| x != 0).count();
        let most = (1..columns).map(terms).max().unwrap_or(1).next_power_of_two();
        Ok((columns.max(most) as f64 * self.norms().monomial_growth).log2())
    }

    /// The exponents of the automorphisms that [`Self::unpack`] has to have keys for: all Frobenius maps.
    ///
    /// # Errors
    /// As [`Self::field_slots`].
    pub fn unpacking_elements(&self) -> Result<Vec<usize>, SchemeError> {
        let d = self.field_slots()?.ring().degree() as i64;
        (1..d).map(|times| self.frobenius_element(times)).collect()
    }

    /// The coordinates of the values in all slots, each in a ciphertext of its own whose slots hold numbers: for each
    /// output `i` the sum over `j` of `sigma^j(a_i)` times the `j`-th Frobenius image, `a_i` dual to the basis
    /// (`carpov2016packing`, equations (2) and (4)).
    ///
    /// Outputs are brought to a level, the ciphertext's own or one below. The images are made once (hoisted) and
    /// multiplied before they are divided by the special primes and those that the level has not, which is done once
    /// for an output. BGV. Cost: digits lifted once, `d - 1` products with keys, and for each output `2 d` products of
    /// polynomials and a division; by powers of `X` also `d` permutations of the constant. For few outputs, or less
    /// noise, [`Self::extract`].
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::MissingKey`],
    /// [`SchemeError::NotRelinearised`]; [`SchemeError::LastLevel`] for a level above the ciphertext's, or none;
    /// [`SchemeError::NotInScheme`] for BFV and CKKS; [`SchemeError::Parameter`] for an output that is not below `d`
    /// and for a set without special primes; [`SchemeError::NoiseBudget`] if an output could not be decrypted; as
    /// [`Self::field_slots`].
    pub fn unpack(
        &self,
        a: &Ciphertext,
        basis: Basis,
        outputs: &[usize],
        keys: &GaloisKeys,
        level: usize,
    ) -> Result<Vec<Ciphertext>, SchemeError> {
        if self.domain() != Domain::Evaluations || self.is_approximate() {
            let (operation, scheme) = ("unpacking", self.scheme().name());
            let remedy = "take BGV, whose ciphertexts are evaluations of integers";
            return Err(SchemeError::NotInScheme { operation, scheme, remedy });
        }
        self.check_outputs(outputs)?;
        self.check_ciphertext(a)?;
        Self::require_two_components(&a.state, "unpacking")?;
        Self::check_reachable(&a.state, level)?;
        // Slots of degree 1 need no keys, but the way here goes by the special primes.
        if self.chain().special().is_empty() {
            return refuse("special_moduli", "[]", "unpacking needs at least one special prime");
        }
        let elements = self.unpacking_elements()?;
        let keys = elements
            .iter()
            .map(|&element| self.galois_key(a, element, keys))
            .collect::<Result<Vec<_>, _>>()?;
        let constants: Vec<&Constant> =
            outputs.iter().map(|&i| self.constant_of(basis, i)).collect::<Result<_, _>>()?;
        let states: Vec<State> = constants
            .iter()
            .map(|constant| self.unpacked_state(&a.state, constant.size, keys.len() + 1, level))
            .collect::<Result<_, _>>()?;
        Ok(parallel::on_pool(a.polys.len(), || {
            let images = self.images(a, &keys);
            let (targets, n) = (self.chain().targets(a.level()).count(), self.ring_degree());
            let rotated = match basis {
                Basis::Normal => {
                    constants.first().map(|x| self.constants(&x.words, a.level(), &keys))
                }
                Basis::Powers => None,
            };
            let together = (WAITING / (targets * 2 * n)).max(8);
            let mut unpacked = Vec::with_capacity(outputs.len());
            for (outputs, own) in outputs.chunks(together).zip(constants.chunks(together)) {
                let sums = match &rotated {
                    Some(constants) => self.weighted_images(&images, constants, outputs),
                    None => self.own_weighted_images(&images, own, &keys),
                };
                for output in 0..outputs.len() {
                    let state = states[unpacked.len()];
                    let levels = Levels { from: a.level(), to: level };
                    let polys = self.switch_sums(levels, 0, |_, target, [c_0, c_1]| {
                        let [x, y] = sums.residues().pair(target.index, output);
                        [c_0.copy(x), c_1.copy(y)]
                    });
                    unpacked.push(Ciphertext { tag: a.tag, state, polys });
                }
            }
            unpacked
        }))
    }

    /// The level at which outputs of [`Self::unpack`] have the most noise budget as factors of a product: what to divide by at
    /// once.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::NoiseBudget`] if an output could not be decrypted; as
    /// [`Self::field_slots`].
    pub fn unpacking_level(&self, a: &Ciphertext, basis: Basis) -> Result<usize, SchemeError> {
        self.check_ciphertext(a)?;
        self.level_of_unpacked(&a.state, basis)
    }

    /// [`Self::unpacking_level`] of a state.
    pub(crate) fn level_of_unpacked(&self, a: &State, basis: Basis) -> Result<usize, SchemeError> {
        let d = self.field_slots()?.ring().degree();
        let output = self.unpacked_state(a, self.constant_of(basis, 0)?.size, d, a.level)?;
        Ok(self.level_of_product(&output, &output))
    }

    /// A coordinate of the values in all slots as [`Self::unpack`] gives it, by the other formulation of
    /// `carpov2016packing`: the Frobenius images of the product with `a_i` are summed, `log2 d` automorphisms and some,
    /// each of a sum of those before. The noise of key switching is not multiplied by a constant. Cost: a product with
    /// a plaintext and at most `2 log2 d` automorphisms for an output, which is less for few of them.
    ///
    /// # Errors
    /// As [`Self::unpack`] but for the level, which is the ciphertext's, and the scheme, which may be BFV.
    pub fn extract(
        &self,
        a: &Ciphertext,
        basis: Basis,
        output: usize,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_outputs(&[output])?;
        let words = match basis {
            Basis::Normal => {
                // The images of the constant are in its coordinates.
                let slots = self.field_slots()?;
                let mut coordinates = slots.coordinates(slots.dual());
                coordinates.rotate_right(output);
                slots.encode(&coordinates.repeat(slots.count()))
            }
            Basis::Powers => self.constant_of(basis, output)?.words.clone(),
        };
        let product = self.multiply_plain(a, &Plaintext::integers(self.fingerprint(), words))?;
        let (d, level) = (self.field_slots()?.ring().degree(), a.level());
        let state = self.extracted_state(&a.state, &product.state, d)?;
        let image = |polys: &Polys<Stored>, times: usize| -> Result<_, SchemeError> {
            let element = self.frobenius_element(times as i64)?;
            Ok(self.image_polys(polys, level, self.galois_key(a, element, keys)?))
        };
        let sum = |a: &Polys<Stored>, b: &Polys<Stored>| {
            self.sum_polys(a.residues(), b.residues(), level, false)
        };
        // The sum of the first images, twice as many for each bit of their number.
        let (mut images, mut count) = (product.polys.clone(), 1);
        for bit in (0..d.ilog2()).rev() {
            images = sum(&images, &image(&images, count)?);
            count *= 2;
            if d >> bit & 1 == 1 {
                images = sum(&product.polys, &image(&images, 1)?);
                count += 1;
            }
        }
        Ok(Ciphertext { tag: a.tag, state, polys: images })
    }

    /// The state of [`Self::extract`]: the noise of the product in all images, which depend on each other, and a
    /// switch of keys for each image but the first.
    fn extracted_state(&self, a: &State, product: &State, d: usize) -> Result<State, SchemeError> {
        let switches = self.switching_noise(a.level).times_exactly((d - 1) as f64);
        let noise = self.orbit_sum(product.noise, a.noise, d).plus(switches);
        self.checked(State { noise, ..*a })
    }

    /// The exponents of the automorphisms that [`Self::extract`] has to have keys for: of those for [`Self::unpack`].
    ///
    /// # Errors
    /// As [`Self::field_slots`].
    pub fn extraction_elements(&self) -> Result<Vec<usize>, SchemeError> {
        let d = self.field_slots()?.ring().degree();
        let doubled = (1..=d.ilog2()).map(|bits| d >> bits);
        let odd = (d.count_ones() > 1).then_some(1);
        doubled.chain(odd).map(|times| self.frobenius_element(times as i64)).collect()
    }

    fn check_outputs(&self, outputs: &[usize]) -> Result<(), SchemeError> {
        let d = self.field_slots()?.ring().degree();
        match outputs.iter().find(|output| **output >= d) {
            Some(output) => {
                refuse("outputs", output, "choose coordinates below the degree of a slot")
            }
            None => Ok(()),
        }
    }

    /// What an output multiplies images with.
    pub(crate) fn constant_of(
        &self,
        basis: Basis,
        output: usize,
    ) -> Result<&Constant, SchemeError> {
        match basis {
            Basis::Normal => self.integers()?.dual(),
            Basis::Powers => Ok(&self.integers()?.dual_powers()?[output]),
        }
    }

    /// The state of an output: the ciphertext's noise in all images, which depend on each other, and
    /// that of as many keys, which do not.
    pub(crate) fn unpacked_state(
        &self,
        a: &State,
        size: PlainSize,
        d: usize,
        level: usize,
    ) -> Result<State, SchemeError> {
        let noise = self.noise_of_images(a, size, d);
        if level < a.level {
            return self.divided_state(&State { noise, ..*a }, level);
        }
        let noise = noise.plus(self.white(self.rounding(2)));
        self.checked(State { noise, ..*a })
    }

    /// The noise of a sum of so many images with constants of a size, before it is divided.
    pub(super) fn noise_of_images(&self, a: &State, size: PlainSize, images: usize) -> Noise {
        let own = self.orbit_sum(self.times_plain(a.noise, size), a.noise, images);
        let keys = self.white((images as f64).sqrt() * self.key_deviation(a.level));
        own.plus(self.times_plain(keys, size))
    }

    /// The first Frobenius images, the ciphertext itself before them.
    pub(super) fn images(&self, a: &Ciphertext, keys: &[&GaloisKey]) -> Images {
        let (chain, level) = (self.chain(), a.level());
        let lifted = self.lift_everywhere(&self.digits(a.residues().component(1), level));
        let own = self.evaluations_of(a);
        let targets: Vec<Target<'_>> = chain.targets(level).collect();
        let images = Polys::take(targets.len(), 2 * (1 + keys.len()), self.ring_degree());
        let polys = images.map_pairs(2, |scratch, index, image, [b, a]| {
            let target = targets[index];
            let q = target.prime;
            let special = chain.special_factor(q);
            let Some(key) = image.checked_sub(1).map(|other| keys[other]) else {
                // Times the special primes, which is zero modulo them.
                return match target.in_level {
                    Some(prime) => {
                        let [x, y] = own.pair(prime, 0);
                        [b.scaled(x, special, q), a.scaled(y, special, q)]
                    }
                    None => [b.zero(), a.zero()],
                };
            };
            let [mut x, y] = self.lifted_products(scratch.split(), &lifted, target, &key.key);
            if let Some(prime) = target.in_level {
                x.add_scaled(own.row(prime, 0), special, q);
            }
            [
                b.image_of_evaluations(x.row(), &key.automorphism),
                a.image_of_evaluations(y.row(), &key.automorphism),
            ]
        });
        Images { level, polys }
    }

    /// A constant and its Frobenius images modulo the target primes of a level: the images of one
    /// are its evaluations in another order.
    fn constants(&self, constant: &[u64], level: usize, keys: &[&GaloisKey]) -> Polys<Eval> {
        let targets: Vec<Target<'_>> = self.chain().targets(level).collect();
        let images = Polys::take(targets.len(), 1 + keys.len(), self.ring_degree());
        images.map_primes(0, |_, index, out| {
            self.constant_images(out, constant, targets[index].prime, keys)
        })
    }

    /// A constant and its Frobenius images modulo a prime.
    fn constant_images<'r>(
        &self,
        out: RowsMut<'r, Blank>,
        constant: &[u64],
        q: &Prime,
        keys: &[&GaloisKey],
    ) -> RowsMut<'r, Eval> {
        let t = self.spec().plaintext.modulus();
        out.first_and_others(
            |first| first.lift_centred(constant, t, q).forward(q),
            |index, first, out| out.image_of_evaluations(first, &keys[index].automorphism),
        )
    }

    /// The sums of some outputs, of one constant whose images they take in turn: pairs of components modulo each target.
    fn weighted_images(
        &self,
        images: &Images,
        constants: &Polys<Eval>,
        outputs: &[usize],
    ) -> Polys<Eval> {
        let targets: Vec<Target<'_>> = self.chain().targets(images.level).collect();
        let sums = Polys::take(targets.len(), 2 * outputs.len(), self.ring_degree());
        sums.map_primes(0, |_, index, sums| {
            let constants = constants.residues().rows(index);
            let images = images.polys.residues().pairs(index);
            sums.correlations(outputs, constants, images, targets[index].prime)
        })
    }

    /// The same of outputs with a constant each.
    fn own_weighted_images(
        &self,
        images: &Images,
        constants: &[&Constant],
        keys: &[&GaloisKey],
    ) -> Polys<Eval> {
        let targets: Vec<Target<'_>> = self.chain().targets(images.level).collect();
        let sums = Polys::take(targets.len(), 2 * constants.len(), self.ring_degree());
        sums.map_pairs(1 + keys.len(), |factors, index, output, out| {
            let q = targets[index].prime;
            let factors = self.constant_images(factors, &constants[output].words, q, keys);
            inner_products(out, factors.rows().iter(), images.polys.residues().pairs(index), q)
        })
    }
}

#[cfg(test)]
mod tests {
    use hesc_math::AesCtrRng;
    use hesc_math::rns::Composition;
    use rand_core::SeedableRng;

    use super::*;
    use crate::rlwe::estimates::tests::set;

    /// Products with monomials make coefficients larger than those of the factor: noise and messages of one size, with
    /// signs that all add up in one coefficient, are within what packing claims of them.
    #[test]
    fn packing_claims_what_monomials_make_of_the_worst_signs() {
        const SIZE: i64 = 1 << 20;
        for index in [255, 4369] {
            let s = set(index);
            let rng = &mut AesCtrRng::from_seed([index as u8; 32]);
            let (secret, public) = s.generate_keys(rng);
            let plain = s.encode_slots(Basis::Normal, &[0]).unwrap();
            let Ciphertext { tag, state, .. } = s.encrypt(&public, &plain, rng).unwrap();
            let d = s.field_slots().unwrap().ring().degree();
            let (n, exponents) = (s.ring_degree(), s.ring().exponents());
            let primes = s.chain().level(state.level);
            // Numbers as a ciphertext that hides nothing.
            let clear = |coefficients: &[i64], noise: Noise| {
                let polys = Polys::take(primes.len(), 2, n);
                let polys = polys.map_pairs(0, |_, prime, _, [c_0, c_1]| {
                    let q = &primes[prime];
                    let c_0 = c_0.reduce_signed(coefficients, q);
                    [s.domain().store_coefficients(c_0, q), c_1.zero()]
                });
                Ciphertext { tag, state: State { noise, ..state }, polys }
            };
            let nothing = clear(&vec![0; n], s.white(s.least_deviation()));
            let mut grown = 0.0f64;
            for j in 1..d {
                // What each coefficient gives to each of the product.
                let rows: Vec<Vec<i8>> = exponents.iter().map(|e| s.ring().power(e + j)).collect();
                let terms = |k: usize| rows.iter().filter(|row| row[k] != 0).count();
                let worst = (0..n).max_by_key(|&k| terms(k)).unwrap();
                let signs: Vec<i64> = rows.iter().map(|row| SIZE * i64::from(row[worst])).collect();
                let known = s.white(s.least_deviation());
                let size = SIZE as f64;
                for noise in [Noise { infinity_norm: size, ..known }, known.of_message(size)] {
                    let mut all = vec![&nothing; j + 1];
                    let a = clear(&signs, noise);
                    all[j] = &a;
                    let packed = s.pack(&all).unwrap();
                    let phase = s.phase(&secret, &packed).unwrap();
                    let mut phase = s.coefficients(phase, packed.level()).into_words();
                    let mut found = vec![0.0; n];
                    Composition::new(primes).centred(&mut found, &mut phase);
                    let largest = found.iter().fold(0.0f64, |most, x| most.max(x.abs()));
                    grown = grown.max(largest / size);
                    let claimed = packed.state.noise.infinity_norm + packed.state.noise.magnitude;
                    assert!(
                        largest <= claimed,
                        "{index}, {j}: {largest} where {claimed} is claimed"
                    );
                }
            }
            assert_eq!(grown, s.norms().monomial_growth, "{index}");
        }
    }

    /// An extraction claims what all images of its product have, and a switch of keys for each image but the first.
    #[test]
    fn extraction_claims_all_images_and_every_switch() {
        for index in [255, 4369] {
            let s = set(index);
            let rng = &mut AesCtrRng::from_seed([index as u8; 32]);
            let (secret, public) = s.generate_keys(rng);
            let elements = s.extraction_elements().unwrap();
            let keys = s.generate_galois_keys(&secret, &elements, rng).unwrap();
            let plain = s.encode_slots(Basis::Normal, &vec![1; s.ring_degree()]).unwrap();
            let a = s.encrypt(&public, &plain, rng).unwrap();
            let d = s.field_slots().unwrap().ring().degree();
            for output in [0, d - 1] {
                let extracted = s.extract(&a, Basis::Powers, output, &keys).unwrap();
                let words = s.constant_of(Basis::Powers, output).unwrap().words.clone();
                let constant = Plaintext::integers(s.fingerprint(), words);
                let product = s.multiply_plain(&a, &constant).unwrap();
                let images = s.orbit_sum(product.state.noise, a.state.noise, d).deviation;
                let switches = extracted.state.noise.deviation - images;
                let each = s.switching_noise(a.level()).deviation;
                let found = switches / each;
                assert!((found - (d - 1) as f64).abs() < 1e-6, "{index}: {found} of {d}");
            }
        }
    }
}
