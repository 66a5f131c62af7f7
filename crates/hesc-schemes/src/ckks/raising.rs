//! What bootstrapping takes that no other circuit does: more primes for a ciphertext that has one, and bounds that
//! whoever wrote the circuit knows and no estimate finds.

use hesc_math::ring::Coeff;

use crate::SchemeError;
use crate::error::refuse;
use crate::rlwe::ciphertext::State;
use crate::rlwe::noise::SLOT_TAILS;
use crate::rlwe::polys::Polys;
use crate::rlwe::residues::Row;
use crate::rlwe::{Ciphertext, Rlwe};

impl Rlwe {
    /// CKKS: `times` what a ciphertext of the lowest level encrypts, at the highest level, but for multiples of the first
    /// prime `q_0` (Cheon, Han, Kim, Kim and Song 2018). The result's scale is `q_0`: where `m` is a coefficient of the
    /// numbers times their scale, the result has `times m / q_0 + I` with an integer `I`, whose standard deviation is about
    /// `sqrt(N / 18)` for uniform ternary secrets. `bound` is on the numbers in its slots, and public. Cost: a transform
    /// for each prime and component.
    ///
    /// # Errors
    /// [`SchemeError::NotInScheme`] for exact schemes, [`SchemeError::ParameterMismatch`],
    /// [`SchemeError::NotRelinearised`]; [`SchemeError::LevelMismatch`] for a level above the lowest;
    /// [`SchemeError::Parameter`] for a factor or bound that is not positive; [`SchemeError::NoiseBudget`] for a bound too large for the modulus.
    pub fn raise_modulus(
        &self,
        a: &Ciphertext,
        times: u64,
        bound: f64,
    ) -> Result<Ciphertext, SchemeError> {
        self.ckks("raising the modulus", "products leave exact schemes where they are")?;
        self.check_ciphertext(a)?;
        Self::require_two_components(&a.state, "raising the modulus")?;
        if a.level() != 1 {
            return Err(SchemeError::LevelMismatch { expected: 1, found: a.level() });
        }
        let first = &self.chain().level(1)[0];
        if !(1..first.value()).contains(&times) {
            return refuse("times", times, "choose a number from 1 and below the first prime");
        }
        check_bound("bound", bound)?;
        let (n, level) = (self.ring_degree(), self.levels());
        let (scale, noise) = (first.value() as f64, a.state.noise.times(times as f64));
        let state =
            self.checked(State { level, scale, noise: noise.of_message(bound), ..a.state })?;
        let own = a.residues();
        let low = Polys::take(1, own.components(), n).map_rows(0, |_, _, component, row| {
            let mut row = self.domain().coefficients(row.copy(own.row(0, component)), first);
            row.scale(first.factor(times), first);
            row
        });
        let primes = self.chain().level(level);
        let polys =
            Polys::take(level, own.components(), n).map_rows(0, |_, prime, component, row| {
                let low: Row<'_, Coeff> = low.row(0, component);
                let q = &primes[prime];
                self.domain().store_coefficients(row.recentre(low, first.value(), q), q)
            });
        Ok(Ciphertext { tag: a.tag, state, polys })
    }

    /// CKKS: the same ciphertext, said to hold numbers within `bound` that are at most `error` off. Estimates bound a polynomial
    /// by its terms, which cancel, and do not know that a cosine is flat at its ends: here stands what the author of a circuit
    /// has proved or measured. Decoding refuses numbers beyond; an error beyond is not noticed.
    ///
    /// # Errors
    /// [`SchemeError::NotInScheme`] for exact schemes, [`SchemeError::ParameterMismatch`];
    /// [`SchemeError::Parameter`] for claims that are not positive and finite; [`SchemeError::NoiseBudget`] for claims beyond the modulus.
    pub fn claiming(
        &self,
        mut a: Ciphertext,
        bound: f64,
        error: f64,
    ) -> Result<Ciphertext, SchemeError> {
        self.ckks("claiming a bound", "bounds of integers are labels of vectors")?;
        self.check_ciphertext(&a)?;
        check_bound("bound", bound)?;
        check_bound("error", error)?;
        let noise = self.in_slots(error * a.scale() / SLOT_TAILS, bound);
        a.state = self.checked(State { noise, ..a.state })?;
        Ok(a)
    }
}

fn check_bound(name: &'static str, bound: f64) -> Result<(), SchemeError> {
    if bound > 0.0 && bound.is_finite() {
        return Ok(());
    }
    refuse(name, bound, "choose a positive finite number")
}
