//! Streams as single encrypted bits, for gate circuits behind a stochastic layer.

use hesc_schemes::streams::Encrypt;
use hesc_schemes::streams::tfhe::{Bits, Tfhe};
use hesc_stochastic::Representation;

use super::array::Streams;
use super::array::Term;
use crate::CircuitError;

impl Streams<Tfhe> {
    /// The bits of all terms of each element, element after element: what a sum of streams, which is their
    /// concatenation, is counted in. Products become parities, negated streams the other bits. No
    /// bootstrap.
    ///
    /// # Errors
    /// [`CircuitError::Constant`] for arrays with constants added, [`CircuitError::Weighted`] for terms whose
    /// weight is not 1, or -1 where streams can be negated; what [`Tfhe::extract`] refuses.
    pub fn bits(&self) -> Result<Bits, CircuitError> {
        self.check_no_constants("taking single bits")?;
        let bipolar = self.representation == Representation::InvertedBipolar;
        let readable = |term: &Term| term.weight == 1.0 || (term.weight == -1.0 && bipolar);
        if let Some(term) = self.terms.iter().find(|term| !readable(term)) {
            let weight = term.weight;
            return Err(CircuitError::Weighted { operation: "taking single bits", weight });
        }
        let block_length = self.scheme.block_length();
        // Runs of terms in one batch of ciphertexts are taken out together.
        let like = |a: &Term, b: &Term| a.part == b.part && a.weight == b.weight;
        let runs = self.terms.chunk_by(like).map(|terms| {
            let positions: Vec<usize> = terms
                .iter()
                .flat_map(|term| {
                    let first = term.place.block * block_length + term.place.offset;
                    first..first + self.stream_length
                })
                .collect();
            let bits = self.scheme.extract(&self.parts[terms[0].part], &positions)?;
            Ok(if terms[0].weight < 0.0 { self.scheme.invert(bits, |_| true) } else { bits })
        });
        let runs = runs.collect::<Result<Vec<_>, CircuitError>>()?;
        Ok(self.scheme.concatenate_bits(runs)?)
    }
}
