use hesc_math::ring::Eval;

use crate::SchemeError;
use crate::rlwe::polys::Polys;
use crate::rlwe::residues::{Row, inner_products};
use crate::rlwe::{Ciphertext, Plaintext, Rlwe};

impl Rlwe {
    /// CKKS: the sum of products with operands in the clear, slot by slot, as [`Self::multiply_plain`] and [`Self::add`] make it.
    /// Cost: one pass over ciphertexts and operands, reduced once for sixteen products, where these write and read a ciphertext
    /// for each product.
    ///
    /// # Errors
    /// [`SchemeError::NotInScheme`] for exact schemes; [`SchemeError::Parameter`] where there is nothing to sum; those of
    /// [`Self::multiply_plain`] and [`Self::add`]; [`SchemeError::NotRelinearised`].
    pub fn weighted_sum(
        &self,
        terms: &[(&Ciphertext, &Plaintext)],
    ) -> Result<Ciphertext, SchemeError> {
        self.ckks("a weighted sum", "sum products with plaintexts")?;
        let Some(&(first, weight)) = terms.first() else { return Self::nothing_to_sum() };
        for &(a, _) in terms {
            self.check_operands(first, a)?;
            Self::require_two_components(&a.state, "a weighted sum")?;
        }
        let mut state = self.times_plain_state(&first.state, weight)?;
        for &(a, weight) in &terms[1..] {
            let term = self.times_plain_state(&a.state, weight)?;
            Self::check_scales(state.scale, term.scale)?;
            state = self.sum_state(&state, &term)?;
        }
        let (n, primes) = (self.ring_degree(), self.chain().level(state.level));
        let sums = Polys::take(primes.len(), 2, n);
        let polys = sums.map_pairs(0, |_, prime, _, out| {
            let weights = terms.iter().map(|(_, weight)| weight.evaluations(n).row(prime, 0));
            let pairs = terms.iter().map(|(a, _)| {
                let own = self.evaluations_of(a);
                [0, 1].map(|component| -> Row<'_, Eval> { own.row(prime, component) })
            });
            let q = &primes[prime];
            inner_products(out, weights, pairs, q)
                .map(|row| self.domain().store_evaluations(row, q))
        });
        Ok(Ciphertext { tag: first.tag, state, polys })
    }
}
