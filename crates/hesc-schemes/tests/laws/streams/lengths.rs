//! What batches are said to take on the wire is what they take.

use hesc_schemes::streams::{Blocks, Encryptions, Form, Wire};
use hesc_schemes::{Scheme, SchemeError};

use super::parties::{Party, rng};

/// Asserts the length of a batch, where one is told; whether it was.
fn check<S: Scheme + Wire<B>, B: Blocks>(
    scheme: &S,
    form: Form,
    batch: &B,
    of: Encryptions,
) -> bool {
    let told = scheme.length(form, batch.blocks(), of);
    told.is_none_or(|length| {
        assert_eq!(length, scheme.write(batch).len(), "{form:?} of {of:?}");
        true
    }) && told.is_some()
}

fn batches_are_as_long_as_told<S: Scheme>(party: &Party<S>) {
    let (scheme, rng) = (&party.scheme, &mut rng(61));
    let publicly = party.encrypts_publicly(rng);
    for blocks in [1, 3] {
        let bits = party.filled(blocks, 5);
        let seeded = scheme.encrypt_seeded(&party.secret, &bits, rng).unwrap();
        let secret = Encryptions { secret: 1, public: 0 };
        assert!(check(scheme, Form::Seeded, &seeded, secret));
        let mut sum = scheme.expand(&seeded).unwrap();
        assert!(check(scheme, Form::Full, &sum, secret));
        let mut of = secret;
        for _ in 0..3 {
            match scheme.compact(&sum) {
                Ok(compact) => {
                    check(scheme, Form::Compact, &compact, of);
                }
                Err(SchemeError::CannotCompact { .. }) => {
                    assert_eq!(scheme.length(Form::Compact, blocks, of), None);
                }
                Err(error) => panic!("{error}"),
            }
            let Ok(next) = scheme.combine(&sum, &party.encrypt(blocks, 3, rng)) else { break };
            sum = next;
            if publicly {
                of.public += 1;
            } else {
                of.secret += 1;
            }
            check(scheme, Form::Full, &sum, of);
        }
    }
}
on_every_scheme!(batches_are_as_long_as_told);

fn capacities_are_those_of_fresh_batches<S: Scheme>(party: &Party<S>) {
    let fresh = party.encrypt(1, 0, &mut rng(62));
    assert_eq!(party.scheme.capacity(), party.scheme.max_count(&fresh));
}
on_every_scheme!(capacities_are_those_of_fresh_batches);
