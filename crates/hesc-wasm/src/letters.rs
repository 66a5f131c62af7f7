//! What JavaScript knows of letters, in place of tables that a page would fetch.

use hesc_client::Letters;
use js_sys::{JsString, RegExp};

/// The mark of the highest canonical combining class: those of lower ones are put before it, and what is no mark stays.
const LAST: char = '\u{345}';

thread_local! {
    static WORD: RegExp = RegExp::new(r"^[\p{L}\p{N}]$", "u");
}

/// Gives it to the plans that are read from then on.
pub fn give() {
    Letters { lowercased, is_word, decomposed, is_mark }.give();
}

fn lowercased(text: &str) -> String {
    JsString::from(text).to_lower_case().into()
}

fn is_word(letter: char) -> bool {
    WORD.with(|word| word.test(letter.encode_utf8(&mut [0; 4])))
}

fn decomposed(text: &str) -> String {
    JsString::from(text).normalize("NFKD").into()
}

/// Of a letter that nothing decomposes.
fn is_mark(letter: char) -> bool {
    let ordered = JsString::from(String::from_iter([LAST, letter])).normalize("NFD");
    letter == LAST || !String::from(ordered).starts_with(LAST)
}
