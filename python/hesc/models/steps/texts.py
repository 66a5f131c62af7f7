"""What fitted vectorizers make of texts: counts of words, weighed and normalised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import ParameterError
from hesc.models.tables.table_steps import Function, Hashed, Normalise, Tokens
from hesc.models.transforms import Affine

if TYPE_CHECKING:
    from hesc.models.transforms import Transform

WIDEST: Final = 1 << 16
"""Features that a client has between two steps."""
_PATTERNS: Final = {r"(?u)\b\w\w+\b": 2, r"(?u)\b\w+\b": 1}
"""What a word is, and its fewest letters."""
_CODE: Final = ("preprocessor", "tokenizer")


def counts(part: Any) -> list[Transform]:
    """What a fitted `CountVectorizer` does."""
    words = sorted(part.vocabulary_, key=part.vocabulary_.__getitem__)
    return [_tokens(part, words, None)]


def weighed(part: Any) -> list[Transform]:
    """What a fitted `TfidfVectorizer` does."""
    return [*counts(part), *_weights(part, len(part.vocabulary_))]


def weights(part: Any) -> list[Transform]:
    """What a fitted `TfidfTransformer` does."""
    return _weights(part, part.n_features_in_)


def hashes(part: Any) -> list[Transform]:
    """What a `HashingVectorizer` does."""
    tokens = _tokens(part, None, Hashed(int(part.n_features), bool(part.alternate_sign)))
    return [tokens, *([Normalise(int(part.n_features), part.norm)] if part.norm else [])]


def _weights(part: Any, features: int) -> list[Transform]:
    steps: list[Transform] = []
    if part.sublinear_tf:
        steps.append(Function(features, "log_counts"))
    if part.use_idf:
        steps.append(Affine(np.zeros(features), np.array(part.idf_, dtype=np.float64)))
    if part.norm:
        steps.append(Normalise(features, part.norm))
    return steps


def _tokens(part: Any, words: list[str] | None, hashed: Hashed | None) -> Tokens:
    check_vectorizer(part)
    if (found := len(words or ())) > WIDEST:
        raise ParameterError(
            f"{type(part).__name__} has a vocabulary of {found} words, of {WIDEST} at most: write "
            f"max_features= or min_df="
        )
    stop = part.get_stop_words() if part.analyzer == "word" else None
    return Tokens(
        lowercase=bool(part.lowercase),
        accents=part.strip_accents,
        analyzer=part.analyzer,
        letters=_PATTERNS[part.token_pattern] if part.analyzer == "word" else 2,
        ngrams=(int(part.ngram_range[0]), int(part.ngram_range[1])),
        stop_words=tuple(sorted(stop or ())),
        vocabulary=None if words is None else tuple(words),
        hashed=hashed,
        binary=bool(part.binary),
    )


def check_vectorizer(part: Any) -> None:
    """Refuses options of a vectorizer, fitted or not, that no client computes.

    Raises:
        ParameterError: naming the option, and what would do.

    """
    name = type(part).__name__
    code = [option for option in _CODE if getattr(part, option) is not None]
    code += [option for option in ("analyzer", "strip_accents") if callable(getattr(part, option))]
    if code:
        raise ParameterError(
            f"{name}({code[0]}=...) is code, which no client is sent; it can be applied to the "
            f"texts before hesc.ml sees them"
        )
    if part.analyzer == "word" and part.token_pattern not in _PATTERNS:
        raise ParameterError(
            f"{name}(token_pattern=...): a client knows words of two letters or more, which is the "
            f"pattern by default, and of one, token_pattern=r'(?u)\\b\\w+\\b'"
        )
    if part.input != "content":
        raise ParameterError(f"{name}(input={part.input!r}): a client has texts; read the files")
    if getattr(part, "n_features", 0) > WIDEST:
        raise ParameterError(
            f"{name}(n_features={part.n_features}): a client has {WIDEST} features at most; write "
            f"n_features=2**14, or fewer"
        )
