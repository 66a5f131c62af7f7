//! Operations on slots without words: what becomes of level and noise, and what they cost. A plan tries a program on
//! [`Trace`]s before anything is encrypted; what it says of noise is what ciphertexts will say.
//!
//! For sets that circuits are planned for ([`Rlwe::check_combines`]), whose plaintexts keep their factor.

use super::combinations::NO_KEY;
use super::levels::Dropping;
use super::{Ciphertext, Encryption, Plaintext, Rlwe, Work};
use crate::error::refuse;
use crate::{SchemeError, Tag};

/// What is known of a ciphertext, and how many products in sequence it is made of.
#[derive(Debug, Clone)]
pub struct Trace {
    shell: Ciphertext,
    depth: usize,
}

impl Trace {
    /// Which of the set's levels it is at; the lowest is 1.
    pub fn level(&self) -> usize {
        self.shell.level
    }

    /// Products in sequence.
    pub fn depth(&self) -> usize {
        self.depth
    }

    fn with(&self, shell: Ciphertext) -> Self {
        Self { shell, depth: self.depth }
    }
}

impl Rlwe {
    /// What is known of an encryption.
    ///
    /// # Errors
    /// As [`Self::check_combines`].
    pub fn fresh_trace(&self, under: Encryption) -> Result<Trace, SchemeError> {
        self.check_combines()?;
        Ok(Trace { shell: self.fresh_shell(under), depth: 0 })
    }

    /// What is known of a ciphertext that is there.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::NotRelinearised`]; as [`Self::check_combines`].
    pub fn trace(&self, a: &Ciphertext) -> Result<Trace, SchemeError> {
        self.check_combines()?;
        self.check_bit(a, None)?;
        let tag = Tag { key: NO_KEY, ..a.tag };
        Ok(Trace { shell: Ciphertext { tag, ..a.shell() }, depth: 0 })
    }

    /// Bits of room before an operation is refused.
    pub fn trace_budget(&self, a: &Trace) -> f64 {
        self.noise_budget(&a.shell)
    }

    /// [`Self::sum`].
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`].
    pub fn traced_sum(&self, a: &Trace, b: &Trace) -> Result<(Trace, Work), SchemeError> {
        let level = a.level().min(b.level());
        let (first, before) = self.traced_down(&a.shell, level, Dropping::Never)?;
        let (second, down) = self.traced_down(&b.shell, level, Dropping::Never)?;
        let noise = first.noise.plus(second.noise);
        self.check_noise(noise, level, first.scale)?;
        let shell = Ciphertext { noise, ..first };
        let work = before + down + self.work_of_sum(1, level);
        Ok((Trace { shell, depth: a.depth.max(b.depth) }, work))
    }

    /// [`Self::add_plain`].
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`], [`SchemeError::ParameterMismatch`].
    pub fn traced_plus_plain(
        &self,
        a: &Trace,
        plaintext: &Plaintext,
    ) -> Result<(Trace, Work), SchemeError> {
        self.check_params(plaintext.params)?;
        let own = self.differences().plain_noise(self, plaintext.bound.value(), plaintext.scale);
        let noise = a.shell.noise.plus(own);
        self.check_noise(noise, a.level(), a.shell.scale)?;
        let primes = self.chain().level(a.level()).len() as f64;
        let work = Work { transforms: primes, passes: 2.0 * primes };
        Ok((a.with(Ciphertext { noise, ..a.shell.shell() }), work))
    }

    /// [`Self::multiply_plain`].
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`], [`SchemeError::ParameterMismatch`].
    pub fn traced_times_plain(
        &self,
        a: &Trace,
        plaintext: &Plaintext,
    ) -> Result<(Trace, Work), SchemeError> {
        self.check_params(plaintext.params)?;
        let noise = self.differences().plain_product_noise(self, &a.shell, plaintext);
        self.check_noise(noise, a.level(), a.shell.scale)?;
        let primes = self.chain().level(a.level()).len() as f64;
        let work = Work { transforms: primes, passes: 3.0 * primes };
        Ok((a.with(Ciphertext { noise, ..a.shell.shell() }), work))
    }

    /// [`Self::apply_galois`], of any automorphism but the identity.
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`].
    pub fn traced_image(&self, a: &Trace) -> Result<(Trace, Work), SchemeError> {
        let noise = self.switched_noise(&a.shell)?;
        let work = self.work_of_products(0, 1, a.level(), a.level());
        Ok((a.with(Ciphertext { noise, ..a.shell.shell() }), work))
    }

    /// [`Self::sum_of_products`].
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`]; [`SchemeError::Parameter`] without a product.
    pub fn traced_sum_of_products(
        &self,
        products: &[(&Trace, Option<&Trace>)],
        others: &[&Trace],
    ) -> Result<(Trace, Work), SchemeError> {
        let pairs: Vec<_> = products.iter().map(|(a, b)| (&a.shell, b.map(|b| &b.shell))).collect();
        let rest: Vec<&Ciphertext> = others.iter().map(|c| &c.shell).collect();
        let level = self.level_of_sum(&pairs, &rest);
        let mut work = Work::default();
        let mut low: Vec<(&Ciphertext, Ciphertext)> = Vec::new();
        for c in pairs
            .iter()
            .flat_map(|(a, b)| std::iter::once(*a).chain(*b))
            .chain(rest.iter().copied())
        {
            if !low.iter().any(|(high, _)| std::ptr::eq(*high, c)) {
                let (shell, down) = self.traced_down(c, level, Dropping::ForSpeed)?;
                work += down;
                low.push((c, shell));
            }
        }
        // All of them are there.
        let at_level = |c: &'_ Ciphertext| -> Option<&Ciphertext> {
            low.iter().find(|(high, _)| std::ptr::eq(*high, c)).map(|(_, low)| low)
        };
        let mut sum: Option<Ciphertext> = None;
        let mut add = |term: Ciphertext| -> Result<(), SchemeError> {
            sum = Some(match sum.take() {
                Some(sum) => {
                    let noise = sum.noise.plus(term.noise);
                    self.check_noise(noise, level, sum.scale)?;
                    Ciphertext { noise, size: sum.size.max(term.size), ..sum }
                }
                None => term,
            });
            Ok(())
        };
        for (a, b) in &pairs {
            let factor =
                |c: &'_ Ciphertext| at_level(c).map_or_else(|| c.shell(), Ciphertext::shell);
            add(self.product_shell(&factor(a), &factor(b.unwrap_or(a)))?)?;
        }
        for c in &rest {
            add(at_level(c).map_or_else(|| c.shell(), Ciphertext::shell))?;
        }
        let Some(sum) = sum.filter(|sum| sum.size == 3) else {
            return refuse("products", "[]", "give at least one product");
        };
        let switched = Ciphertext { size: 2, noise: self.switched_noise(&sum)?, ..sum.shell() };
        let below = self.product_level(&switched, &switched);
        let shell = self.relinearised_shell(&sum, below)?;
        work += self.work_of_products(products.len(), others.len(), level, below);
        let factors = products.iter().flat_map(|(a, b)| std::iter::once(*a).chain(*b));
        let within = factors.map(|a| a.depth + 1).chain(others.iter().map(|c| c.depth));
        Ok((Trace { shell, depth: within.max().unwrap_or(0) }, work))
    }

    /// [`Self::carries`] of so many automorphisms.
    ///
    /// # Errors
    /// [`SchemeError::NoiseBudget`].
    pub fn traced_carries(
        &self,
        generates: &Trace,
        passes: &Trace,
        steps: usize,
    ) -> Result<(Trace, Work), SchemeError> {
        let level = self.level_of_carries(&generates.shell, &passes.shell);
        let (mut g, first) = self.traced_down(&generates.shell, level, Dropping::ForSpeed)?;
        let (mut p, second) = self.traced_down(&passes.shell, level, Dropping::ForSpeed)?;
        let mut work = first + second;
        for left in (0..steps).rev() {
            let level = g.level;
            let rotated = |a: &Ciphertext| -> Result<Ciphertext, SchemeError> {
                Ok(Ciphertext { noise: self.switched_noise(a)?, ..a.shell() })
            };
            let product = self.product_shell(&p, &rotated(&g)?)?;
            let noise = product.noise.plus(g.noise);
            self.check_noise(noise, level, product.scale)?;
            let sum = Ciphertext { noise, ..product };
            let further = match left {
                0 => None,
                _ => Some(self.product_shell(&p, &rotated(&p)?)?),
            };
            let next = match &further {
                None => level,
                Some(further) => {
                    self.level_of_carries(&self.two_parts(&sum)?, &self.two_parts(further)?)
                }
            };
            let both = if further.is_some() { 2.0 } else { 1.0 };
            let rotation = self.work_of_products(0, 1, level, level);
            let down = self.work_of_products(1, 1, level, next);
            work += Work {
                transforms: both * (rotation.transforms + down.transforms),
                passes: both * (rotation.passes + down.passes),
            };
            g = self.relinearised_shell(&sum, next)?;
            if let Some(further) = further {
                p = self.relinearised_shell(&further, next)?;
            }
        }
        let depth = generates.depth.max(passes.depth) + steps;
        Ok((Trace { shell: g, depth }, work))
    }

    fn traced_down(
        &self,
        a: &Ciphertext,
        level: usize,
        dropping: Dropping,
    ) -> Result<(Ciphertext, Work), SchemeError> {
        let way = self.way_down(a, level, dropping)?;
        let work = self.work_of_way(a.level, level, way.is_dropped());
        Ok((way.shell().unwrap_or(a).shell(), work))
    }
}

#[cfg(test)]
mod tests {
    use hesc_math::{AesCtrRng, RingIndex};
    use rand_core::{Rng, SeedableRng};

    use super::super::{Basis, PlaintextSpace, SchemeKind, Spec};
    use super::*;
    use crate::Assurance;

    fn set(primes: usize) -> Rlwe {
        let ring = RingIndex::new(255).unwrap();
        let mut coeff_moduli = ring.ntt_primes(50, primes).unwrap();
        let special_moduli = vec![coeff_moduli.remove(0)];
        let plaintext = PlaintextSpace::Integers { plain_modulus: 2 };
        let spec = Spec {
            scheme: SchemeKind::Bgv,
            ring,
            coeff_moduli,
            levels: Vec::new(),
            special_moduli,
            plaintext,
            bound: 1.0,
            packing: None,
        };
        Rlwe::new(spec, Assurance::Insecure).unwrap()
    }

    /// Random programs: a trace knows of each result what the ciphertext says, and is refused where it is.
    #[test]
    fn traces_say_what_ciphertexts_will() {
        let s = set(3);
        let rng = &mut AesCtrRng::from_seed([9; 32]);
        let (secret, public) = s.generate_keys(rng);
        let relin = s.generate_relin_key(&secret, rng).unwrap();
        let along = s.dimension_element(0, 1).unwrap();
        let galois = s.generate_galois_keys(&secret, &[along], rng).unwrap();
        let numbers = |seed: i64| (0..s.slot_count() as i64).map(|i| i * seed % 3 % 2).collect();
        let plain =
            |seed| s.encode_integers(&Vec::<i64>::from_iter::<Vec<i64>>(numbers(seed))).unwrap();
        let (mut refused, mut made) = (0, 0);
        for program in 0..30 {
            let a = s.encrypt(&public, &plain(program), rng).unwrap();
            let b =
                s.expand(&s.encrypt_seeded(&secret, &plain(program + 1), rng).unwrap()).unwrap();
            let fresh = s.fresh_trace(Encryption::PublicKey).unwrap();
            assert_eq!(fresh.shell.noise, a.noise);
            let mut values = vec![(a.clone(), fresh), (b.clone(), s.trace(&b).unwrap())];
            for _ in 0..40 {
                let mut pick = || rng.next_u32() as usize % values.len();
                let [j, k] = [pick(), pick()];
                // Of the last one: so it goes on until there is no room.
                let i = values.len() - 1;
                let choice = rng.next_u32() % 6;
                let ((x, of_x), (y, of_y), (z, of_z)) = (&values[i], &values[j], &values[k]);
                let (found, traced) = match choice {
                    0 => (s.sum(x, y, false), s.traced_sum(of_x, of_y)),
                    1 => (s.add_plain(x, &plain(5)), s.traced_plus_plain(of_x, &plain(5))),
                    2 => (s.multiply_plain(x, &plain(7)), s.traced_times_plain(of_x, &plain(7))),
                    3 => (s.apply_galois(x, along, &galois), s.traced_image(of_x)),
                    4 => (
                        s.carries((&relin, &galois), x, y, &vec![along; 1 + k % 3]),
                        s.traced_carries(of_x, of_y, 1 + k % 3),
                    ),
                    _ => {
                        let (second, of_second) =
                            if i == j { (None, None) } else { (Some(y), Some(of_y)) };
                        (
                            s.sum_of_products(&relin, &[(x, second)], &[z]),
                            s.traced_sum_of_products(&[(of_x, of_second)], &[of_z]),
                        )
                    }
                };
                match (found, traced) {
                    (Ok(found), Ok((traced, work))) => {
                        assert_eq!(found.level(), traced.level());
                        assert_eq!(found.noise, traced.shell.noise, "operation {choice}");
                        assert!(work.passes > 0.0);
                        values.push((found, traced));
                        made += 1;
                    }
                    (Err(_), Err(_)) => refused += 1,
                    (found, traced) => {
                        panic!("{choice}: {:?} and {:?}", found.is_ok(), traced.is_ok())
                    }
                }
            }
        }
        assert!(made > 200 && refused > 0, "{made} made, {refused} refused");
    }

    /// What outlines of unpacked bits allow for is no less than unpacked bits have, and packing takes no more room than
    /// is said.
    #[test]
    fn packing_is_within_what_is_said_of_it() {
        let s = set(6);
        let rng = &mut AesCtrRng::from_seed([8; 32]);
        let (secret, public) = s.generate_keys(rng);
        let galois =
            s.generate_galois_keys(&secret, &s.unpacking_elements().unwrap(), rng).unwrap();
        let d = s.field_slots().unwrap().ring().degree();
        let bits: Vec<u64> = (0..s.ring_degree() as u64).map(|i| i * i % 7 % 2).collect();
        let plain = s.encode_slots(Basis::Normal, &bits).unwrap();
        let all: Vec<usize> = (0..d).collect();
        for level in [None, Some(3), Some(2)] {
            let outlines = s.unpacked_outlines(d, level).unwrap();
            let at = outlines[0].level();
            for a in [
                s.encrypt(&public, &plain, rng).unwrap(),
                s.expand(&s.encrypt_seeded(&secret, &plain, rng).unwrap()).unwrap(),
            ] {
                let unpacked = s.unpack(&a, Basis::Normal, &all, &galois, at).unwrap();
                for bit in &unpacked {
                    let claimed = s.outline_budget(&outlines[0]);
                    assert!(claimed <= s.noise_budget(bit) + 1e-9);
                    // As in `estimates`: a sample of roots scatters.
                    let scatter = 1.0 + 8.0 / s.degree().sqrt();
                    let measured = s.measured_deviation(&secret, bit);
                    assert!(measured <= scatter * bit.noise.deviation);
                }
                for columns in 1..=d {
                    let packed: Vec<&Ciphertext> = unpacked[..columns].iter().collect();
                    let lost =
                        s.noise_budget(&unpacked[0]) - s.noise_budget(&s.pack(&packed).unwrap());
                    assert!(lost <= s.packing_bits(columns).unwrap() + 1e-9, "{columns}: {lost}");
                }
            }
        }
        assert!(s.packing_bits(d + 1).is_err() && s.unpacked_outlines(1, Some(99)).is_err());
    }
}
