//! Texts as counts of their words or letters, as scikit-learn's vectorisers count them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::letters::Letters;
use super::range::Range;
use super::{WIDEST, unfit};
use crate::ClientError;
use crate::document::Fields;
use crate::json::Json;

/// What texts are cut into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Analyzer {
    /// Words of so many letters at least.
    Words(usize),
    /// Letters, across words.
    Letters,
    /// Letters of each word, with a space on both sides.
    LettersOfWords,
}

/// What becomes of letters with accents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Accents {
    Kept,
    /// Letters beyond ASCII go, after they were taken apart.
    Ascii,
    /// Marks go, after letters were taken apart.
    Unicode,
}

/// Which feature a token is counted in.
#[derive(Debug)]
enum Features {
    Vocabulary(HashMap<Box<str>, usize>),
    Hashed { features: usize, alternate: bool },
}

/// Counts of the tokens of a text.
#[derive(Debug)]
pub(crate) struct Tokens {
    letters: Letters,
    lowercase: bool,
    accents: Accents,
    analyzer: Analyzer,
    ngrams: [usize; 2],
    stop_words: HashSet<Box<str>>,
    features: Features,
    binary: bool,
}

/// Tokens of one that are joined, at most.
const LONGEST: usize = 64;

impl Tokens {
    /// How many counts there are.
    pub(crate) fn outputs(&self) -> usize {
        match &self.features {
            Features::Vocabulary(words) => words.len(),
            Features::Hashed { features, .. } => *features,
        }
    }

    /// Limits of each count.
    pub(crate) fn limits(&self) -> Range {
        match &self.features {
            _ if self.binary => Range::BIT,
            Features::Hashed { alternate: true, .. } => Range { whole: true, ..Range::UNKNOWN },
            _ => Range { low: 0.0, high: f64::INFINITY, whole: true },
        }
    }
}

const FIELDS: [&str; 10] = [
    "step",
    "lowercase",
    "accents",
    "analyzer",
    "letters",
    "ngrams",
    "stop_words",
    "vocabulary",
    "hashed",
    "binary",
];

impl Tokens {
    /// Reads a step.
    pub(crate) fn read(value: &Json) -> Result<Self, ClientError> {
        let known = Letters::known().ok_or(ClientError::NoWords)?;
        let fields = Fields::exactly(value, &FIELDS, "tokens")?;
        let accents = match fields.get("accents") {
            Json::Null => Accents::Kept,
            _ => [Accents::Ascii, Accents::Unicode]
                [fields.one_of("accents", &["ascii", "unicode"])?],
        };
        let letters = fields.whole("letters", 1, 2)?;
        let analyzers = [Analyzer::Words(letters), Analyzer::Letters, Analyzer::LettersOfWords];
        let analyzer = analyzers[fields.one_of("analyzer", &["word", "char", "char_wb"])?];
        let ngrams = match fields.list("ngrams")? {
            [Json::Whole(least), Json::Whole(most)] => {
                [least, most].map(|&n| usize::try_from(n).unwrap_or(0))
            }
            _ => [0; 2],
        };
        let words = fields.texts("stop_words")?;
        let stop_words = words.into_iter().map(Box::from).collect();
        let features = match (fields.get("vocabulary"), fields.get("hashed")) {
            (Json::List(_), Json::Null) => {
                let words = fields.texts("vocabulary")?;
                let count = words.len();
                let places = words.into_iter().zip(0..).map(|(word, at)| (word.into(), at));
                let words: HashMap<Box<str>, usize> = places.collect();
                if words.len() != count {
                    return Err(unfit("tokens"));
                }
                Features::Vocabulary(words)
            }
            (Json::Null, hashed) => {
                let hashed = Fields::exactly(hashed, &["features", "alternate"], "hashed")?;
                let features = hashed.whole("features", 1, WIDEST)?;
                Features::Hashed { features, alternate: hashed.truth("alternate")? }
            }
            _ => return Err(unfit("tokens")),
        };
        let (lowercase, binary) = (fields.truth("lowercase")?, fields.truth("binary")?);
        if !(1..=ngrams[1]).contains(&ngrams[0]) || ngrams[1] > LONGEST {
            return Err(unfit("tokens"));
        }
        let letters = known;
        Ok(Self { letters, lowercase, accents, analyzer, ngrams, stop_words, features, binary })
    }

    /// Counts the tokens of a text in a row of zeros.
    pub(crate) fn count(&self, text: &str, counts: &mut [f64]) {
        let text = self.prepared(text);
        match self.analyzer {
            Analyzer::Words(letters) => self.count_words(&text, letters, counts),
            Analyzer::Letters => self.count_letters(&single_spaced(&text), counts),
            Analyzer::LettersOfWords => self.count_letters_of_words(&text, counts),
        }
    }

    fn prepared<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text: Cow<'a, str> =
            if self.lowercase { (self.letters.lowercased)(text).into() } else { text.into() };
        match self.accents {
            _ if text.is_ascii() => text,
            Accents::Kept => text,
            Accents::Ascii => self.bare(&text, |letter| letter.is_ascii()).into(),
            Accents::Unicode => self.bare(&text, |letter| !(self.letters.is_mark)(letter)).into(),
        }
    }

    /// What `\w` is to Python: letters, numbers and the underscore, and no marks.
    fn is_word(&self, letter: char) -> bool {
        if letter.is_ascii() {
            return letter.is_ascii_alphanumeric() || letter == '_';
        }
        (self.letters.is_word)(letter)
    }

    /// Letters that are kept of those that a text is taken apart into.
    fn bare(&self, text: &str, kept: impl Fn(char) -> bool) -> String {
        (self.letters.decomposed)(text).chars().filter(|&letter| kept(letter)).collect()
    }

    fn add(&self, token: &str, counts: &mut [f64]) {
        let (at, by) = match &self.features {
            Features::Vocabulary(words) => match words.get(token) {
                Some(&at) => (at, 1.0),
                None => return,
            },
            Features::Hashed { features, alternate } => {
                let hash = murmur3(token.as_bytes());
                // As scikit-learn: `abs(h) % n`, and 2^31, which has no absolute value of 32 bits, in its own way.
                let at = hash.unsigned_abs() as usize % features;
                (at, if *alternate && hash < 0 { -1.0 } else { 1.0 })
            }
        };
        counts[at] = if self.binary { 1.0 } else { counts[at] + by };
    }

    fn count_words(&self, text: &str, letters: usize, counts: &mut [f64]) {
        let words = text.split(|letter| !self.is_word(letter)).filter(|word| {
            word.chars().take(letters).count() == letters && !self.stop_words.contains(*word)
        });
        if self.ngrams == [1, 1] {
            return words.for_each(|word| self.add(word, counts));
        }
        let words: Vec<&str> = words.collect();
        for length in self.ngrams[0]..=self.ngrams[1].min(words.len()) {
            words.windows(length).for_each(|some| self.add(&some.join(" "), counts));
        }
    }

    fn count_letters(&self, text: &str, counts: &mut [f64]) {
        let ends = boundaries(text);
        for length in self.ngrams[0]..=self.ngrams[1].min(ends.len() - 1) {
            for start in 0..ends.len() - length {
                self.add(&text[ends[start]..ends[start + length]], counts);
            }
        }
    }

    fn count_letters_of_words(&self, text: &str, counts: &mut [f64]) {
        for word in text.split(is_space).filter(|word| !word.is_empty()) {
            let word = format!(" {word} ");
            let ends = boundaries(&word);
            let letters = ends.len() - 1;
            for length in self.ngrams[0]..=self.ngrams[1] {
                for start in 0..=letters.saturating_sub(length) {
                    self.add(&word[ends[start]..ends[(start + length).min(letters)]], counts);
                }
                // A short word is counted once.
                if length >= letters {
                    break;
                }
            }
        }
    }
}

/// Where letters begin, and the end.
fn boundaries(text: &str) -> Vec<usize> {
    text.char_indices().map(|(at, _)| at).chain([text.len()]).collect()
}

/// Two spaces or more as one of its own kind, ` `.
fn single_spaced(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if is_space(letter) && letters.next_if(|&next| is_space(next)).is_some() {
            while letters.next_if(|&next| is_space(next)).is_some() {}
            found.push(' ');
        } else {
            found.push(letter);
        }
    }
    found
}

/// What `\s` is to Python: also the four separators of ASCII.
fn is_space(letter: char) -> bool {
    letter.is_whitespace() || ('\x1c'..='\x1f').contains(&letter)
}

/// MurmurHash3 of 32 bits with seed 0 (Appleby, public domain), with a sign.
fn murmur3(bytes: &[u8]) -> i32 {
    let mixed =
        |word: u32| word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let (words, rest) = bytes.as_chunks::<4>();
    let mut hash = words.iter().fold(0u32, |hash, &word| {
        let hash = (hash ^ mixed(u32::from_le_bytes(word))).rotate_left(13);
        hash.wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    let tail = rest.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
    hash ^= mixed(tail);
    // Lengths are taken modulo 2^32.
    hash ^= bytes.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    (hash ^ hash >> 16).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_scikit_learns() {
        // sklearn.utils.murmurhash3_32(text, seed=0).
        let known = [
            ("", 0),
            ("a", 1009084850),
            ("foo", -156908512),
            ("hello", 613153351),
            ("häuser", 1790279870),
        ];
        for (text, hash) in known {
            assert_eq!(murmur3(text.as_bytes()), hash, "{text}");
        }
    }

    #[cfg(feature = "words")]
    #[test]
    fn marks_are_no_letters_of_words() {
        let Letters { is_word, is_mark, .. } = Letters::known().unwrap();
        assert!(is_word('ä') && is_word('²') && is_word('一') && is_mark('\u{301}'));
        assert!(!is_word('\u{301}') && !is_word('\u{1F600}') && !is_mark('ä'));
    }

    #[test]
    fn spaces_are_pythons() {
        assert!(is_space('\x1d') && is_space('\u{a0}') && !is_space('\u{200b}'));
    }
}
