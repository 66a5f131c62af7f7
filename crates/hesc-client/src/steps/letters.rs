//! What is known of letters beyond ASCII: by the tables of Unicode, which the feature `words` has, or by who binds the crate.

use std::sync::OnceLock;

/// What texts are taken apart by. A page's browser has it, and need not fetch it again.
#[derive(Debug, Clone, Copy)]
pub struct Letters {
    /// A text in small letters, with a final sigma.
    pub lowercased: fn(&str) -> String,
    /// Whether a letter is of the general categories L or N.
    pub is_word: fn(char) -> bool,
    /// The form NFKD of a text.
    pub decomposed: fn(&str) -> String,
    /// Whether a letter's canonical combining class is not zero.
    pub is_mark: fn(char) -> bool,
}

static GIVEN: OnceLock<Letters> = OnceLock::new();

impl Letters {
    /// Gives what is known of letters to all plans that are read from then on, where the feature `words` is left out. The first
    /// that is given stays.
    pub fn give(self) {
        let _ = GIVEN.set(self);
    }

    /// What there is; nothing where the feature is left out and nobody gave any.
    #[cfg(feature = "words")]
    pub(crate) fn known() -> Option<Self> {
        use unicode_normalization::UnicodeNormalization as _;
        use unicode_normalization::char::canonical_combining_class;
        use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory as _};

        Some(Self {
            lowercased: str::to_lowercase,
            is_word: |letter| {
                matches!(
                    letter.general_category_group(),
                    GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number
                )
            },
            decomposed: |text| text.nfkd().collect(),
            is_mark: |letter| canonical_combining_class(letter) != 0,
        })
    }

    /// What there is; nothing where the feature is left out and nobody gave any.
    #[cfg(not(feature = "words"))]
    pub(crate) fn known() -> Option<Self> {
        GIVEN.get().copied()
    }
}
