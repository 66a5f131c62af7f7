//! Hostile objects for every reader. The example `fuzz_decoders` sends millions of them.

use super::hostile::{all_targets, attack, quick_targets, valid_objects_are_read};

/// Every object of every scheme is read, and written again as it was.
#[test]
fn there_is_one_form_of_every_object() {
    valid_objects_are_read(&all_targets().unwrap());
}

/// Whatever is read, what protects its user holds: see [`super::hostile`].
#[test]
fn no_lie_turns_a_protection_off() {
    let tally = attack(&quick_targets().unwrap(), 20_000, 1);
    // Some lies are as good as the truth, most are refused.
    assert!(tally.accepted > 1000 && tally.refused > 5000, "{tally:?}");
    assert!(tally.asked > 5000, "{tally:?}");
}
