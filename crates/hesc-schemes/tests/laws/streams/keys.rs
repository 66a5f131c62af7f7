//! Keys: secrets are random, public halves hide them under noise of the right size.

use std::collections::HashSet;

use super::frames::{self, TAGGED};
use super::lattice::{LatticeEncryption, assert_noise, assert_small};
use super::parties::{Encryption, Party, rng};

on_every_lattice!(public_keys_are_noise_beside_the_secret);
/// `b + a s` of sixteen key pairs: small, not zero, not the secret or its negative, different for each pair
/// and the same integer modulo every prime; of the right deviation from below and above (five standard errors,
/// exceeded once in a million). Coefficients of secrets are alike often, within the same.
fn public_keys_are_noise_beside_the_secret<S: LatticeEncryption>(party: &Party<S>) {
    let scheme = &party.scheme;
    let rng = &mut rng(1);
    let (mut all_noise, mut all_secrets) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for _ in 0..16 {
        let (secret, public) = scheme.generate_keys(rng);
        let (noise, secret) = (scheme.key_noise(&secret, &public), scheme.secret(&secret));
        let negative: Vec<i128> = secret.iter().map(|x| -x).collect();
        assert!(noise != secret && noise != negative, "the noise is the secret");
        all_noise.extend_from_slice(&noise);
        all_secrets.extend_from_slice(&secret);
        assert!(seen.insert(noise) && seen.insert(secret), "two keys are alike");
    }
    // No more than the largest of 33,000 Gaussian values is but once in 40,000.
    assert_noise(&all_noise, scheme.deviation(), 7.0, "public keys");
    assert_small(&all_secrets, S::SMALL, "secrets");
}

on_every_encryption!(key_pairs_have_nothing_in_common);
/// Secret keys, public keys and names of two pairs differ, in each sixteen bytes of them: a secret that is short
/// or partly constant has zeros or the same bytes in one of them. False alarm below 1e-20.
fn key_pairs_have_nothing_in_common<S: Encryption>(party: &Party<S>) {
    let Party { scheme, secret, public, stranger, .. } = party;
    let name = |frame: &[u8]| frame[TAGGED - 16..TAGGED].to_vec();
    let owner = scheme.secret_key_to_bytes(secret);
    let other = scheme.secret_key_to_bytes(&stranger.0);
    let (public, others) = (scheme.write(public), scheme.write(&stranger.1));
    assert_eq!(name(&owner), name(&public), "both keys of a pair have its name");
    assert_ne!(name(&owner), name(&other));
    for (a, b) in [(&*owner, &*other), (&public, &others)] {
        // Behind the length of the key, where it has one.
        let [a, b] = [a, b].map(|frame| frames::body(frame, TAGGED + 8));
        for (a, b) in a.chunks_exact(16).zip(b.chunks_exact(16)) {
            assert!(a != b && a != [0; 16], "keys of two pairs are alike");
        }
    }
}
