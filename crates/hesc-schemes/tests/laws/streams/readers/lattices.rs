//! Numbers of lattice schemes that no honest peer sends.

use hesc_math::Word;
use hesc_schemes::SchemeError;
use hesc_schemes::streams::lattice::{Encoding, Lattice};
use hesc_schemes::streams::{Encrypt, Wire};

use super::super::frames::{self, TAGGED, forge, overwrite};
use super::super::parties::{self, Party, rng};
use super::{Ciphertexts, Compact, Frames, NO_NUMBERS, Object, PublicKey, SecretKey, Seeded};

/// A residue equal to its modulus, in every row of every polynomial.
fn residues<W: Word, E: Encoding<W>>(
    frames: &Frames<'_, Lattice<W, E>>,
    object: Object,
    start: usize,
) {
    let ring = frames.party.scheme.ring();
    let frame = frames.get(object);
    let mut at = 8 * start;
    for q in ring.moduli().iter().cycle() {
        let bits = q.value().ilog2() + 1;
        let end = at + ring.ring_degree() * bits as usize;
        if end > 8 * (frame.len() - 16) {
            break;
        }
        for place in [at, end - bits as usize] {
            let with = |value| forge(frame, |f| frames::write_bits(f, place, bits, value));
            let problem = "a residue is not below its modulus";
            frames.assert_problem(object, &with(q.value()), &[problem]);
            frames.assert_problem(object, &with((1 << bits) - 1), &[problem]);
            assert_eq!(frames.refused(object, &with(q.value() - 1)), None);
        }
        at = end;
    }
}

fn check<W: Word, E: Encoding<W>>(party: &Party<Lattice<W, E>>) {
    let frames = Frames::of(party);
    residues(&frames, Ciphertexts, TAGGED + 20);
    residues(&frames, Seeded, TAGGED + 36);
    residues(&frames, PublicKey, TAGGED + 32);
    for trit in [0, party.scheme.ring().ring_degree() - 1] {
        let three = forge(frames.get(SecretKey), |frame| {
            frames::write_bits(frame, 8 * TAGGED + 2 * trit, 2, 3);
        });
        frames.assert_problem(SecretKey, &three, &["a coefficient is not ternary"]);
    }
    promises(&frames);
    compact(&frames);
}

/// Noise and scale that a batch claims.
fn promises<W: Word, E: Encoding<W>>(frames: &Frames<'_, Lattice<W, E>>) {
    let Party { scheme, secret, .. } = frames.party;
    let bits = frames.party.filled(1, 5);
    let seeded = scheme.encrypt_seeded(secret, &bits, &mut rng(3)).unwrap();
    let quiet = scheme.write(&scheme.expand(&seeded).unwrap());
    let (least, scale) = (frames::read_f64(&quiet, TAGGED), frames::read_f64(&quiet, TAGGED + 8));
    let claim = |noise: f64| overwrite(&quiet, TAGGED, &noise.to_le_bytes());
    assert_eq!(frames.refused(Ciphertexts, &claim(least)), None);
    assert_eq!(frames.refused(Ciphertexts, &claim(1.5 * least)), None);
    for less in [0.999 * least, 1e-300, 0.0, -least] {
        let problem = "it claims less noise than an encryption has";
        frames.assert_problem(Ciphertexts, &claim(less), &[problem]);
    }
    for beyond in [scale, 1e300] {
        let refused = frames.refused(Ciphertexts, &claim(beyond));
        assert!(matches!(refused, Some(SchemeError::NoiseBudget { .. })), "{refused:?}");
    }
    let claim = |scale: f64| overwrite(&quiet, TAGGED + 8, &scale.to_le_bytes());
    for other in [scale.next_up(), scale.next_down(), 2.0 * scale, 0.5 * scale, 0.0, -scale, 1e300]
    {
        frames.assert_problem(Ciphertexts, &claim(other), &["the scale is not the scheme's"]);
    }
    for no_number in NO_NUMBERS {
        for at in [TAGGED, TAGGED + 8] {
            let bytes = no_number.to_le_bytes();
            frames.assert_overwritten(Ciphertexts, at, &bytes, "a number is not finite");
        }
    }
}

/// The modulus and the scale of a compact batch.
fn compact<W: Word, E: Encoding<W>>(frames: &Frames<'_, Lattice<W, E>>) {
    if !frames.objects().any(|object| object == Compact) {
        return;
    }
    let frame = frames.get(Compact);
    for bits in [0, 1, 32, 255] {
        frames.assert_overwritten(Compact, TAGGED + 4, &[bits], "the modulus is out of range");
    }
    // Too few bits for the scale that it has.
    let refused = frames.refused(Compact, &overwrite(frame, TAGGED + 4, &[2]));
    assert!(matches!(refused, Some(SchemeError::NoiseBudget { .. })), "{refused:?}");
    let scale = frames::read_f64(frame, TAGGED + 5);
    for other in [scale.next_up(), 2.0 * scale, 0.0, -scale] {
        let bytes = other.to_le_bytes();
        frames.assert_overwritten(Compact, TAGGED + 5, &bytes, "the scale is not the scheme's");
    }
    for no_number in NO_NUMBERS {
        let bytes = no_number.to_le_bytes();
        frames.assert_overwritten(Compact, TAGGED + 5, &bytes, "a number is not finite");
    }
}

#[test]
fn hostile_numbers_are_refused_by_name() {
    check(parties::bfv_coefficients());
    check(parties::bfv_slots());
    check(parties::bfv_wide_slots());
    check(parties::ckks_coefficients());
    check(parties::ckks_complex_slots());
    check(parties::ckks_wide_slots());
}
