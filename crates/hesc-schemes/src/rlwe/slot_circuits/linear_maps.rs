//! Linear maps of the values in slots, as sums of their Frobenius images with constants that are the same in all slots: what
//! [`super::unpacking`] is a case of, for maps of one's own and sums of several of them (`carpov2016packing`, section 3: an
//! affine map over the numbers is one over the conjugates).

use hesc_math::ring::Eval;

use super::work::Operations;
use crate::error::refuse;
use crate::rlwe::ciphertext::State;
use crate::rlwe::key_switching::Levels;
use crate::rlwe::keys::{GaloisKey, GaloisKeys};
use crate::rlwe::noise::{Noise, PlainSize};
use crate::rlwe::polys::Polys;
use crate::rlwe::residues::inner_products;
use crate::rlwe::{Ciphertext, Plaintext, Rlwe, Work, parallel};
use crate::{Fingerprint, SchemeError};

/// A linear map of values: the sum of the first Frobenius images, the value itself first, each times a constant.
#[derive(Debug)]
pub struct LinearMap {
    params: Fingerprint,
    /// Plaintexts of the constants.
    words: Vec<Vec<u64>>,
    /// Root mean square of the constants' norms, the largest of the other sizes.
    size: PlainSize,
}

/// A summand of an output: which input, and which map of it.
pub type MappedInput = (usize, usize);

impl LinearMap {
    /// Frobenius images that it sums.
    pub fn images(&self) -> usize {
        self.words.len()
    }
}

impl Rlwe {
    /// A map by the coordinates of its constants in the normal basis, `d` for each, of the image that has been raised to
    /// the prime not at all, once, and so on. Cost: the values of every constant at the roots of unity.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for no constant, or more than `d`; [`SchemeError::TooManyValues`],
    /// [`SchemeError::Value`] for coordinates that are none; as [`Self::field_slots`].
    pub fn linear_map(&self, constants: &[Vec<u64>]) -> Result<LinearMap, SchemeError> {
        let slots = self.field_slots()?;
        let d = slots.ring().degree();
        if !(1..=d).contains(&constants.len()) || constants.iter().any(|c| c.len() != d) {
            let remedy = "give a constant for each of the first Frobenius images, of as many coordinates as a slot has";
            return refuse("constants", constants.len(), remedy);
        }
        let plain =
            |c: &Vec<u64>| self.encode_slots(super::Basis::Normal, &c.repeat(slots.count()));
        let plain: Vec<Plaintext> = constants.iter().map(plain).collect::<Result<_, _>>()?;
        let integers = self.integers()?;
        // Constants are public: their sizes need no rounding.
        let sizes: Vec<PlainSize> = plain.iter().map(|c| integers.exact_size(&c.words)).collect();
        let most = |of: fn(&PlainSize) -> f64| sizes.iter().map(of).fold(0.0, f64::max);
        let squares: f64 = sizes.iter().map(|size| size.norm * size.norm).sum();
        let size = PlainSize {
            norm: (squares / sizes.len() as f64).sqrt(),
            sum: most(|size| size.sum),
            value: most(|size| size.value),
        };
        let words = plain.iter().map(|c| c.words.clone()).collect();
        Ok(LinearMap { params: self.fingerprint(), words, size })
    }

    /// For each output the sum of maps of some inputs, all inputs at one level, outputs there or at one below. Images are
    /// made once for an input (hoisted), and an output is divided by the special primes once. Cost: digits lifted once for
    /// an input and a product with a key for each image, two products of polynomials for each image of each map, and a
    /// division for an output; the transforms of all constants, once.
    ///
    /// # Errors
    /// As [`Self::check_combines`]; [`SchemeError::Parameter`] for an output without a summand, or of inputs or maps that
    /// are not there; [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::LevelMismatch`],
    /// [`SchemeError::NotRelinearised`]; [`SchemeError::MissingKey`] without the keys of [`Self::unpacking_elements`];
    /// [`SchemeError::LastLevel`] for a level above the inputs'; [`SchemeError::NoiseBudget`].
    pub fn linear_maps(
        &self,
        inputs: &[&Ciphertext],
        (maps, outputs): (&[&LinearMap], &[Vec<MappedInput>]),
        keys: &GaloisKeys,
        level: usize,
    ) -> Result<Vec<Ciphertext>, SchemeError> {
        self.check_combines()?;
        let Some(&first) = inputs.first() else {
            return refuse("inputs", "[]", "give at least one");
        };
        for &a in inputs {
            self.check_operands(first, a)?;
            Self::require_two_components(&a.state, "a linear map")?;
        }
        let states: Vec<State> = inputs.iter().map(|a| a.state).collect();
        let states = self.mapped_states(&states, (maps, outputs), level)?;
        let images = maps.iter().map(|map| map.images()).max().unwrap_or(1);
        let keys = (1..images)
            .map(|times| self.galois_key(first, self.frobenius_element(times as i64)?, keys))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(parallel::on_pool(first.polys.len(), || {
            let constants = self.map_constants(maps, first.level());
            let mapped: Vec<_> =
                inputs.iter().map(|a| self.mapped(a, maps, &constants, &keys)).collect();
            let levels = Levels { from: first.level(), to: level };
            let output = |(terms, &state): (&Vec<MappedInput>, &State)| {
                let polys = self.switch_sums(levels, 0, |_, target, out| {
                    let pair = |&(input, map): &MappedInput| {
                        mapped[input].residues().pair(target.index, map)
                    };
                    let mut terms = terms.iter().map(pair);
                    let Some([x, y]) = terms.next() else { return out.map(|row| row.zero()) };
                    let [c_0, c_1] = out;
                    let mut sums = [c_0.copy(x), c_1.copy(y)];
                    for term in terms {
                        sums.iter_mut().zip(term).for_each(|(sum, x)| sum.add(x, target.prime));
                    }
                    sums
                });
                Ciphertext { tag: first.tag, state, polys }
            };
            outputs.iter().zip(&states).map(output).collect()
        }))
    }

    /// The states of [`Self::linear_maps`].
    pub(crate) fn mapped_states(
        &self,
        inputs: &[State],
        (maps, outputs): (&[&LinearMap], &[Vec<MappedInput>]),
        level: usize,
    ) -> Result<Vec<State>, SchemeError> {
        for map in maps {
            self.check_params(map.params)?;
        }
        for a in inputs {
            Self::check_reachable(a, level)?;
        }
        let is_there = |&(input, map): &MappedInput| input < inputs.len() && map < maps.len();
        if outputs.iter().any(|terms| terms.is_empty() || !terms.iter().all(is_there)) {
            return refuse("outputs", "no sum of maps", "name inputs and maps that are given");
        }
        let state = |terms: &Vec<MappedInput>| {
            let of = |&(input, map): &MappedInput| self.mapped_noise(&inputs[input], maps[map]);
            let noise = terms.iter().map(of).reduce(Noise::plus);
            let a = State { noise: noise.unwrap_or_else(|| Noise::message(0.0)), ..inputs[0] };
            if level < a.level {
                return self.divided_state(&a, level);
            }
            self.checked(State { noise: a.noise.plus(self.white(self.rounding(2))), ..a })
        };
        outputs.iter().map(state).collect()
    }

    /// A map's noise before the division: that of the input in all images, which depend on each other, and that of as
    /// many keys, which do not.
    pub(super) fn mapped_noise(&self, a: &State, map: &LinearMap) -> Noise {
        self.noise_of_images(a, map.size, map.images())
    }

    /// What [`Self::linear_maps`] costs.
    pub(crate) fn work_of_maps(
        &self,
        inputs: usize,
        (maps, outputs): (&[&LinearMap], &[Vec<MappedInput>]),
        (from, to): (usize, usize),
    ) -> Work {
        let chain = self.chain();
        let (before, special) = (chain.level(from).len() as f64, chain.special().len() as f64);
        let digits = chain.digits(from).len() as f64;
        let images = maps.iter().map(|map| map.images()).max().unwrap_or(1) as f64;
        let constants: f64 = maps.iter().map(|map| map.images() as f64).sum();
        let terms: f64 = outputs.iter().map(|terms| terms.len() as f64).sum();
        let count = inputs as f64;
        let at = |targets: f64| Operations {
            transforms: (constants + count * digits) * targets,
            passes: count * targets * (2.0 * (images - 1.0) * (digits + 2.0) + 2.0 * constants)
                + 2.0 * terms * targets,
        };
        let divisions = self.work_of_key_division(from, to).times(outputs.len());
        Work { own: at(before), special: at(special) } + divisions
    }

    /// All constants of all maps modulo the target primes of a level.
    fn map_constants(&self, maps: &[&LinearMap], level: usize) -> Polys<Eval> {
        let primes: Vec<_> = self.chain().targets(level).map(|target| target.prime).collect();
        let words: Vec<&Vec<u64>> = maps.iter().flat_map(|map| &map.words).collect();
        let t = self.spec().plaintext.modulus();
        let constants = Polys::take(primes.len(), words.len(), self.ring_degree());
        constants.map_rows(0, |_, prime, constant, row| {
            let q = primes[prime];
            row.lift_centred(words[constant], t, q).forward(q)
        })
    }

    /// All maps of an input, times the special primes and not yet divided by them: pairs of components modulo each target.
    fn mapped(
        &self,
        a: &Ciphertext,
        maps: &[&LinearMap],
        constants: &Polys<Eval>,
        keys: &[&GaloisKey],
    ) -> Polys<Eval> {
        let images = self.images(a, keys);
        let primes: Vec<_> = self.chain().targets(a.level()).map(|target| target.prime).collect();
        let first = |map: usize| maps[..map].iter().map(|map| map.images()).sum::<usize>();
        let mapped = Polys::take(primes.len(), 2 * maps.len(), self.ring_degree());
        mapped.map_pairs(0, |_, index, map, out| {
            let count = maps[map].images();
            let own = constants.residues().rows(index).skip(first(map)).take(count);
            let pairs = images.polys.residues().pairs(index).take(count);
            inner_products(out, own, pairs, primes[index])
        })
    }
}

#[cfg(test)]
mod tests {
    use hesc_math::AesCtrRng;
    use rand_core::SeedableRng;

    use super::*;
    use crate::rlwe::Basis;
    use crate::rlwe::estimates::tests::set_of;

    /// Maps of values are what they are on elements of the field, for sums of several too, and have no more noise than is
    /// claimed, nor much less.
    #[test]
    fn maps_are_sums_of_images_with_constants() {
        for index in [255, 4369] {
            let s = set_of(index, 4);
            let rng = &mut AesCtrRng::from_seed([index as u8; 32]);
            let (secret, public) = s.generate_keys(rng);
            let elements = s.unpacking_elements().unwrap();
            let galois = s.generate_galois_keys(&secret, &elements, rng).unwrap();
            let slots = s.field_slots().unwrap();
            let (field, d) = (slots.ring(), slots.ring().degree());
            let bits = |seed: usize, count: usize| -> Vec<u64> {
                (0..count).map(|i| (((i * i + seed) * 0x9e37) >> 5 & 1) as u64).collect()
            };
            let rows = [1, 2].map(|seed| bits(seed, s.ring_degree()));
            let inputs = rows.each_ref().map(|row| {
                let plain = s.encode_slots(Basis::Normal, row).unwrap();
                s.encrypt(&public, &plain, rng).unwrap()
            });
            let constants =
                [3, 4].map(|seed| [bits(seed, d), bits(seed + 9, d), bits(seed + 5, d)]);
            let maps = constants.each_ref().map(|c| s.linear_map(c).unwrap());
            let maps = maps.each_ref();
            let outputs = [vec![(0, 1)], vec![(0, 0), (1, 1), (1, 0)]];
            let value = |row: &[u64], slot: usize| slots.value(&row[slot * d..][..d]);
            let of = |x: &[u64], constants: &[Vec<u64>]| {
                let images = field.conjugates(x);
                let terms = constants.iter().zip(&images);
                let terms = terms.map(|(c, image)| field.multiply(&slots.value(c), image));
                terms.reduce(|sum, term| field.add(&sum, &term)).unwrap()
            };
            for level in [3, 2] {
                let both: Vec<_> = inputs.iter().collect();
                let found = s.linear_maps(&both, (&maps, &outputs), &galois, level).unwrap();
                for (output, terms) in found.iter().zip(&outputs) {
                    assert_eq!(output.level(), level);
                    let plain = s.decrypt(&secret, output).unwrap();
                    let decoded = s.decode_slots(Basis::Normal, &plain).unwrap();
                    for slot in [0, 1, s.slot_count() - 1] {
                        let terms =
                            terms.iter().map(|&(i, m)| of(&value(&rows[i], slot), &constants[m]));
                        let sum = terms.reduce(|sum, term| field.add(&sum, &term)).unwrap();
                        assert_eq!(value(&decoded, slot), sum, "{index}, {level}, {slot}");
                    }
                    let excess =
                        output.state.noise.deviation / s.measured_deviation(&secret, output);
                    assert!((0.8..5.0).contains(&excess), "{index}, {level}: {excess}");
                }
            }
            // Neither nothing to sum nor what is not there, nor another level.
            let [a, b] = inputs.each_ref();
            for (outputs, level) in [
                (vec![vec![]], 3),
                (vec![vec![(2, 0)]], 3),
                (vec![vec![(0, 2)]], 3),
                (vec![vec![(0, 0)]], 4),
            ] {
                assert!(s.linear_maps(&[a, b], (&maps, &outputs), &galois, level).is_err());
            }
            assert!(s.linear_maps(&[], (&maps, &[vec![(0, 0)]]), &galois, 3).is_err());
            let lower = s.mod_switch(b).unwrap();
            assert!(s.linear_maps(&[a, &lower], (&maps, &[vec![(0, 0)]]), &galois, 2).is_err());
            let few = s.generate_galois_keys(&secret, &elements[..1], rng).unwrap();
            let missing = s.linear_maps(&[a], (&maps, &[vec![(0, 0)]]), &few, 3);
            assert!(matches!(missing, Err(SchemeError::MissingKey { .. })));
            assert!(s.linear_map(&[]).is_err() && s.linear_map(&[vec![0; d - 1]]).is_err());
        }
    }
}
