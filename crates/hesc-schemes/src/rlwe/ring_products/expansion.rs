//! Constants out of one ciphertext: each coefficient of an encrypted polynomial as an encryption of a constant (Angel, Chen,
//! Laine and Setty 2018; Chen, Chillotti and Ren 2019).
//!
//! `X -> X^(N / 2^i + 1)` keeps `X^(2^i m)` for even `m` and negates it for odd `m`. From a ciphertext `c` of a polynomial in
//! `X^(2^i)` the sum of `c` and its image has twice the terms of even `m`, and the difference, divided by `X^(2^i)`, twice those
//! of odd `m`: two ciphertexts of polynomials in `X^(2^(i + 1))`. After `L` levels there are `2^L` constants, each times `2^L`.

use std::sync::{Mutex, PoisonError};

use hesc_math::RngSeed;
use hesc_math::residues::Factor;
use hesc_math::ring::{Coeff, Eval, Prime};
use rayon::prelude::*;

use super::RingProducts;
use crate::error::refuse;
use crate::rlwe::keys::{GaloisKey, GaloisKeys};
use crate::rlwe::parallel;
use crate::rlwe::residues::{Row, RowMut};
use crate::{KeyId, SchemeError};

/// Rows that a level works in.
const ROWS: usize = 4;
/// Levels that threads do together, before each takes branches of its own: those are in its cache, and few ciphertexts in
/// memory.
const TRUNK: usize = 4;

/// What expands ciphertexts of one key pair: keys of a set of one prime and a special one.
pub struct Expansion {
    products: RingProducts,
    key: KeyId,
    levels: Vec<Level>,
    /// The inverse of the special prime.
    inverse: Factor,
}

struct Level {
    key: GaloisKey,
    /// `X^(-2^i)` as evaluations.
    turn: Vec<u64>,
}

impl RingProducts {
    /// The exponents of the automorphisms of so many levels.
    pub fn expansion_elements(&self, levels: u32) -> Vec<usize> {
        let n = self.scheme().ring_degree();
        (0..levels).map(|level| (n >> level) + 1).collect()
    }

    /// What a coefficient is multiplied with before it is expanded by so many levels: the inverse of `2^levels`.
    pub fn before_expansion(&self, levels: u32) -> u64 {
        let modulus = self.primes()[0].modulus();
        modulus.inverse(modulus.pow(2, u64::from(levels)))
    }

    /// Makes keys of automorphisms ready to expand ciphertexts, by as many levels as there are keys. Cost: a transform each.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`] for keys of another set; [`SchemeError::Parameter`] for a set of two primes or
    /// without a special one, and for keys of other automorphisms than those of [`Self::expansion_elements`].
    pub fn expansion(&self, mut keys: GaloisKeys, levels: u32) -> Result<Expansion, SchemeError> {
        keys.tag.check(self.scheme().fingerprint(), None)?;
        self.scheme().check_switches()?;
        if self.primes().len() > 1 {
            return refuse(
                "coeff_moduli",
                self.primes().len(),
                "expansion takes sets of one prime",
            );
        }
        let (n, q) = (self.scheme().ring_degree(), &self.primes()[0]);
        let (key, elements) = (keys.tag.key, self.expansion_elements(levels));
        let own = elements.iter().filter_map(|element| keys.keys.remove(element));
        let own: Vec<_> = own.collect();
        if own.len() != elements.len() || !keys.keys.is_empty() {
            return refuse(
                "galois_keys",
                format_args!("{} keys", own.len() + keys.keys.len()),
                "expansion takes a key for each of its automorphisms and no other; make them for this plan",
            );
        }
        let turn = |level: usize| {
            let mut turn = vec![0; n];
            turn[n - (1 << level)] = q.value() - 1;
            RowMut::<Coeff>::assume(&mut turn).forward(q);
            turn
        };
        let levels = own.into_iter().enumerate();
        let levels = levels.map(|(i, key)| Level { key, turn: turn(i) }).collect();
        let inverse = q.factor(q.modulus().inverse(self.special().value() % q.value()));
        Ok(Expansion { products: self.clone(), key, levels, inverse })
    }

    /// The special prime, of a set that has one.
    fn special(&self) -> &Prime {
        &self.scheme().chain().special()[0]
    }
}

impl Expansion {
    /// The key pair's public name.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// Refuses another set, and another number of levels.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::Parameter`].
    pub fn check(&self, set: &RingProducts, levels: u32) -> Result<(), SchemeError> {
        set.scheme().check_params(self.products.scheme().fingerprint())?;
        if self.levels.len() != levels as usize {
            let remedy =
                "expansion takes keys for as many levels as the plan has; make them for this plan";
            return refuse("levels", self.levels.len(), remedy);
        }
        Ok(())
    }

    /// The first constants of a ciphertext under the secret key, as evaluations: gives `each` the number of a constant and both its
    /// parts side by side, in any order. Cost: six transforms for each constant, less one constant.
    ///
    /// # Panics
    /// For more constants than levels give, and polynomials of another length.
    pub fn expand(
        &self,
        seed: RngSeed,
        c_0: &[u64],
        constants: usize,
        each: impl FnMut(usize, &[u64]) + Send,
    ) {
        let levels = self.levels.len();
        assert!((1..=1 << levels).contains(&constants), "levels give so many constants");
        let n = self.products.scheme().ring_degree();
        let together = constants > 1 && parallel::worth_threads(constants * ROWS * n);
        let trunk = if together { levels.min(TRUNK) } else { 0 };
        let branches = constants.min(1 << trunk);
        let mut words = vec![0; branches * 2 * n];
        words[..n].copy_from_slice(c_0);
        self.products.forward(&mut words[..n]);
        self.products.uniform(seed, &mut words[n..2 * n]);
        // What a level works in, and a ciphertext for each. One size for all: allocators keep megabytes of each, for each thread.
        let room = || vec![0; ((levels - trunk) * 2 + ROWS) * n];
        self.by_levels(&self.levels[..trunk], &mut words, branches, &room);
        let each = Mutex::new(each);
        let branch = |room: &mut Vec<u64>, (number, node): (usize, &mut [u64])| {
            let (scratch, others) = room.split_at_mut(ROWS * n);
            self.descend(trunk, (number, constants), node, others, scratch, &each);
        };
        if together {
            words.par_chunks_exact_mut(2 * n).enumerate().for_each_init(room, branch);
        } else {
            branch(&mut room(), (0, &mut words));
        }
    }

    /// Some levels, the ciphertexts of each on all threads. Branches come in their order.
    fn by_levels(
        &self,
        levels: &[Level],
        words: &mut [u64],
        branches: usize,
        room: &(impl Fn() -> Vec<u64> + Sync),
    ) {
        let n = self.products.scheme().ring_degree();
        for (i, level) in levels.iter().enumerate() {
            let there = branches.min(1 << i);
            let (first, second) = words.split_at_mut(there * 2 * n);
            let mut others = second.chunks_exact_mut(2 * n);
            let pairs: Vec<_> =
                first.chunks_exact_mut(2 * n).map(|node| (node, others.next())).collect();
            pairs
                .into_par_iter()
                .for_each_init(room, |room, (node, other)| self.split(level, node, other, room));
        }
    }

    /// One branch after the other: what is worked on stays in a cache. `others` has room for a ciphertext of each level from
    /// this one on.
    fn descend(
        &self,
        level: usize,
        (number, constants): (usize, usize),
        node: &mut [u64],
        others: &mut [u64],
        scratch: &mut [u64],
        each: &Mutex<impl FnMut(usize, &[u64])>,
    ) {
        let Some(own) = self.levels.get(level) else {
            let mut each = each.lock().unwrap_or_else(PoisonError::into_inner);
            return each(number, node);
        };
        let (other, others) = others.split_at_mut(node.len());
        let next = number + (1 << level);
        let there = next < constants;
        self.split(own, node, there.then_some(&mut *other), scratch);
        self.descend(level + 1, (number, constants), node, others, scratch, each);
        if there {
            self.descend(level + 1, (next, constants), other, others, scratch, each);
        }
    }

    /// A ciphertext plus its image in its place, and the difference, divided by a power of `X`, in that of another.
    fn split(
        &self,
        level: &Level,
        node: &mut [u64],
        other: Option<&mut [u64]>,
        scratch: &mut [u64],
    ) {
        let (q, p) = (&self.products.primes()[0], self.products.special());
        let n = self.products.scheme().ring_degree();
        let key = level.key.key.polys.residues();
        let [lifted, first, second, image] = {
            let mut rows = scratch.chunks_exact_mut(n);
            std::array::from_fn(|_| rows.next().unwrap_or_default())
        };
        let (c_0, c_1) = node.split_at_mut(n);
        let digit = RowMut::over(first).copy(Row::<Eval>::assume(c_1)).inverse(q);
        // Centred: digits in [0, q) would pile up at the roots next to 1.
        let lifted = RowMut::over(lifted).recentre(digit.row(), q.value(), p).forward(p);
        let mut others = other.map(|other| other.split_at_mut(n));
        for part in 0..2 {
            let high = RowMut::over(first).product(lifted.row(), key.row(1, part), p).inverse(p);
            let rest = RowMut::over(image).recentre(high.row(), p.value(), q).forward(q);
            let own = Row::assume(c_1);
            let mut switched = RowMut::over(second).product(own, key.row(0, part), q);
            switched.subtract_and_scale(rest.row(), self.inverse, q);
            if part == 0 {
                switched.add(Row::assume(c_0), q);
            }
            let moved = &level.key.automorphism;
            let image = RowMut::over(image).image_of_evaluations(switched.row(), moved);
            let sum: &mut [u64] = if part == 0 { c_0 } else { c_1 };
            if let Some((other_0, other_1)) = &mut others {
                let out: &mut [u64] = if part == 0 { other_0 } else { other_1 };
                let out = RowMut::over(out);
                let mut out = out.difference(Row::<Eval>::assume(sum), image.row(), q);
                out.multiply(Row::assume(&level.turn), q);
            }
            RowMut::<Eval>::assume(sum).add(image.row(), q);
        }
    }
}

#[cfg(test)]
mod tests {
    use hesc_math::AesCtrRng;
    use rand_core::{Rng as _, SeedableRng};

    use super::*;
    use crate::rlwe::noise::expansion_square;

    /// Every constant by its definition, off by noise of the law's deviation at most, and not by much less: over keys, for as
    /// many constants as there are and fewer.
    #[test]
    fn coefficients_become_constants() {
        for (ring_degree, bits, special, levels, constants) in [
            (4096, 41, 50, 5, 32),
            (4096, 41, 50, 5, 19),
            (4096, 45, 50, 3, 1),
            (8192, 49, 50, 2, 3),
            (2048, 26, 27, 1, 2),
        ] {
            let products = RingProducts::of_sizes(ring_degree, &[bits], Some(special)).unwrap();
            let (n, q) = (ring_degree, products.modulus());
            let (mut square, keys) = (0.0, 6);
            let law = {
                let special = products.special().value();
                expansion_square(levels, n, q, special)
            };
            for seed in 0..keys {
                let rng = &mut AesCtrRng::from_seed([seed; 32]);
                let (secret, _) = products.scheme().generate_keys(rng);
                let elements = products.expansion_elements(levels);
                let scheme = products.scheme();
                let keys = scheme.generate_galois_keys(&secret, &elements, rng).unwrap();
                let keys = scheme.galois_keys_from_bytes(&scheme.galois_keys_to_bytes(&keys));
                let expansion = products.expansion(keys.unwrap(), levels).unwrap();
                assert_eq!(expansion.key_id(), secret.key_id());
                let before = u128::from(products.before_expansion(levels));
                let numbers: Vec<u64> = (0..constants).map(|_| rng.next_u64() % q).collect();
                let mut message = vec![0; n];
                for (to, &x) in message.iter_mut().zip(&numbers) {
                    *to = (u128::from(x) * before % u128::from(q)) as i64;
                }
                let mut c_0 = vec![0; n];
                let mut workspace = products.workspace();
                let seed =
                    products.encrypt(&secret, &message, &mut c_0, &mut workspace, rng).unwrap();
                let nodes = |threads| {
                    let mut nodes = vec![Vec::new(); constants];
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                    let all = || {
                        expansion.expand(seed, &c_0, constants, |number, node| {
                            assert!(nodes[number].is_empty());
                            nodes[number] = node.to_vec();
                        });
                    };
                    pool.build().unwrap().install(all);
                    nodes
                };
                let found = nodes(1);
                assert!(nodes(3) == found, "on several threads");
                for (node, &x) in found.iter().zip(&numbers) {
                    let (mut c_0, mut c_1) = (node[..n].to_vec(), node[n..].to_vec());
                    products.inverse(&mut c_0);
                    products.inverse(&mut c_1);
                    products.unmask(&secret, &mut c_1).unwrap();
                    let found = products.centred_sums(&c_0, &c_1);
                    for (place, found) in found.iter().enumerate() {
                        let exact = if place == 0 { i128::from(x) } else { 0 };
                        let off = (found - exact).rem_euclid(i128::from(q));
                        let off = off.min(i128::from(q) - off) as f64;
                        square += off * off;
                    }
                }
            }
            let count = f64::from(keys) * (constants * n) as f64;
            let ratio = (square / count / law).sqrt();
            assert!((0.7..1.02).contains(&ratio), "{ring_degree} {bits} {levels}: {ratio}");
        }
    }

    #[test]
    fn keys_of_others_are_refused() {
        let products = RingProducts::of_sizes(4096, &[41], Some(50)).unwrap();
        let other = RingProducts::of_sizes(4096, &[40], Some(50)).unwrap();
        let two = RingProducts::of_sizes(4096, &[30, 31], Some(40)).unwrap();
        let none = RingProducts::of_sizes(4096, &[41], None).unwrap();
        let rng = &mut AesCtrRng::from_seed([1; 32]);
        let mut keys = |products: &RingProducts, elements: &[usize]| {
            let (secret, _) = products.scheme().generate_keys(rng);
            products.scheme().generate_galois_keys(&secret, elements, rng).unwrap()
        };
        let elements = products.expansion_elements(2);
        let (own, few) = (keys(&products, &elements), keys(&products, &elements[1..]));
        let (strange, of_two) = (keys(&other, &elements), keys(&two, &elements));
        assert!(products.expansion(own.clone(), 2).is_ok());
        for (keys, levels) in [(&own, 1), (&own, 3), (&few, 2)] {
            let refused = products.expansion(keys.clone(), levels).err();
            assert!(matches!(refused, Some(SchemeError::Parameter { .. })), "{refused:?}");
        }
        let refused = products.expansion(strange, 2).err();
        assert!(matches!(refused, Some(SchemeError::ParameterMismatch { .. })), "{refused:?}");
        assert!(matches!(two.expansion(of_two, 2), Err(SchemeError::Parameter { .. })));
        let (secret, _) = none.scheme().generate_keys(&mut AesCtrRng::from_seed([1; 32]));
        let rng = &mut AesCtrRng::from_seed([2; 32]);
        assert!(none.scheme().generate_galois_keys(&secret, &elements, rng).is_err());
    }
}
