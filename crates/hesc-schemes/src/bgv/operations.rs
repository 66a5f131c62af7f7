//! Which operation a state was planned for. Results take their noise from a plan's states, which sample it
//! ([`super::planned_states`]): ciphertexts alone do not tell what they have in common. That a state is the one which the
//! rule gives for these operands is checked before it is taken.

use crate::rlwe::noise::Noise;

/// A sum of products, multiples and a constant, by the noise of its operands; one summand is lowered where the result has
/// another level.
#[derive(Debug)]
pub(super) struct Operation {
    /// The level of all operands.
    from: usize,
    products: Vec<(i64, Noise, Noise)>,
    terms: Vec<(i64, Noise)>,
    constant: i64,
}

impl Operation {
    /// What is planned of operands at a level.
    pub(super) fn of<A>(
        from: usize,
        products: &[(i64, &A, &A)],
        terms: &[(i64, &A)],
        constant: i64,
        noise: impl Fn(&A) -> Noise,
    ) -> Self {
        let products = products.iter().map(|&(k, a, b)| (k, noise(a), noise(b))).collect();
        let terms = terms.iter().map(|&(k, a)| (k, noise(a))).collect();
        Self { from, products, terms, constant }
    }

    /// Whether it is this one. `stands_for` says whether an operand is at a level and has no more than some noise.
    pub(super) fn is<A>(
        &self,
        products: &[(i64, &A, &A)],
        terms: &[(i64, &A)],
        constant: i64,
        stands_for: impl Fn(&A, usize, Noise) -> bool,
    ) -> bool {
        let stands = |a: &A, noise: Noise| stands_for(a, self.from, noise);
        let same_products = products
            .iter()
            .zip(&self.products)
            .all(|(&(k, a, b), &(l, x, y))| k == l && stands(a, x) && stands(b, y));
        let same_terms =
            terms.iter().zip(&self.terms).all(|(&(k, a), &(l, x))| k == l && stands(a, x));
        let counts = (products.len(), terms.len()) == (self.products.len(), self.terms.len());
        counts && constant == self.constant && same_products && same_terms
    }
}

#[cfg(test)]
mod tests {
    use hesc_math::AesCtrRng;
    use rand_core::SeedableRng;

    use crate::SchemeError;
    use crate::rlwe::Ciphertext;
    use crate::rlwe::estimates::tests::set_of;

    /// States of other integers, constants, operations or operands with less noise are refused.
    #[test]
    fn states_are_taken_for_what_they_were_planned_for() {
        let s = set_of(255, 4);
        let rng = &mut AesCtrRng::from_seed([5; 32]);
        let (secret, public) = s.generate_keys(rng);
        let relin = s.generate_relin_key(&secret, rng).unwrap();
        let plain = s.encode_integers(&[1]).unwrap();
        let [a, b] = [(); 2].map(|()| s.encrypt(&public, &plain, rng).unwrap());
        let noisy = s.add(&a, &a).unwrap();
        let [x, y] = [&a, &b].map(|c| s.planned(c));
        let refused = |result: Result<Ciphertext, SchemeError>| match result {
            Err(SchemeError::Parameter { name, .. }) => name == "planned",
            _ => false,
        };
        let sum = s.planned_combination(&[(1, &x), (3, &y)], 1).unwrap();
        let low = s.planned_lower(&x, 2, 0).unwrap();
        let product = s.planned_products(&[(1, &x, &y)], (&[(1, &x)], 0), 2, 0).unwrap();
        assert!(s.combination(&[(1, &a), (3, &b)], 1, &sum).is_ok());
        assert!(s.lower(&a, &low).is_ok() && s.lower(&a, &x).is_ok());
        let products = |k, first: &Ciphertext, terms: &[(i64, &Ciphertext)], constant, planned| {
            s.combination_of_products(&relin, &[(k, first, &b)], (terms, constant), planned)
        };
        assert!(products(1, &a, &[(1, &a)], 0, &product).is_ok());
        for (terms, constant, planned) in [
            (&[(1, &a), (3, &b)][..], 0, &sum),
            (&[(1, &a), (2, &b)], 1, &sum),
            (&[(1, &a)], 1, &sum),
            (&[(1, &a), (3, &noisy)], 1, &sum),
            (&[(1, &a), (3, &b)], 1, &x),
        ] {
            assert!(refused(s.combination(terms, constant, planned)));
        }
        for (k, first, terms, constant, planned) in [
            (1, &a, &[(1, &a)][..], 1, &product),
            (-1, &a, &[(1, &a)], 0, &product),
            (1, &noisy, &[(1, &a)], 0, &product),
            (1, &a, &[], 0, &product),
            (1, &a, &[(1, &a)], 0, &low),
        ] {
            assert!(refused(products(k, first, terms, constant, planned)));
        }
        assert!(refused(s.lower(&noisy, &low)) && refused(s.lower(&noisy, &x)));
        assert!(refused(s.lower(&a, &product)));
    }
}
