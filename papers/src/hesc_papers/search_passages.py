"""Passages that every machine has, as vectors: documentation of numpy, scipy and scikit-learn."""

from __future__ import annotations

import ast
import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hesc_papers.syntax_trees import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

LIBRARIES: Final = ("numpy", "scipy", "sklearn")
WORDS: Final = 120
"""Words after which a passage ends with its line."""
SHORTEST: Final = 12
"""Words of a passage that is taken."""
QUERIES: Final = 400
"""Summaries that are taken out of their passages to be asked for."""
DOCUMENTED: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Texts(NamedTuple):
    """What is searched in, and what for."""

    passages: list[str]
    queries: list[str]


class Embedded(NamedTuple):
    """Vectors of length one."""

    records: NDArray[np.float32]
    queries: NDArray[np.float32]


def texts(
    libraries: Sequence[str] = LIBRARIES, *, words: int = WORDS, queries: int = QUERIES
) -> Texts:
    """Passages of the documentation of libraries, and summaries that were taken out of them.

    Files are read, and nothing in them is run. A passage is some lines of one docstring; none is
    there twice. Summaries are first sentences of docstrings with five to forty words, evenly spaced
    ones; what else the docstrings say that begin with them is still searched.

    Args:
        libraries: packages that are installed.
        words: how many a passage has before it ends with its line.
        queries: how many summaries are taken out.

    """
    found = dict.fromkeys(text for library in libraries for text in _documentation(library))
    summaries = {text: match for text in found if (match := _summary(text)) is not None}
    different = list(dict.fromkeys(" ".join(summary.split()) for summary in summaries.values()))
    asked = different[:: max(1, len(different) // queries)][:queries]
    taken = set(asked)
    passages: dict[str, None] = {}
    for text in found:
        summary = summaries.get(text, "")
        rest = text[len(summary) :] if " ".join(summary.split()) in taken else text
        passages |= dict.fromkeys(_passages(rest, words))
    return Texts(list(passages), asked)


def embedded(found: Texts, dimensions: int) -> Embedded:
    """Frequencies of words, by the directions in which passages differ most, of length one."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer

    model = make_pipeline(
        TfidfVectorizer(sublinear_tf=True, min_df=3, max_df=0.3, dtype=np.float32),
        TruncatedSVD(dimensions, random_state=0),
        Normalizer(),
    )
    records, queries = model.fit_transform(found.passages), model.transform(found.queries)
    # Those of no frequent word have no direction.
    return Embedded(*(rows[rows.any(axis=1)].astype(np.float32) for rows in (records, queries)))


def _documentation(library: str) -> Iterator[str]:
    """Docstrings of a library: of modules, classes and functions, and those that are added."""
    spec = find_spec(library)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{library} is not installed; hesc[ml] has it")
    for path in sorted(Path(spec.origin).parent.rglob("*.py")):
        if "tests" in path.parts:
            continue
        for node in ast.walk(parsed(path)):
            if isinstance(node, DOCUMENTED):
                yield ast.get_docstring(node) or ""
            # `add_newdoc(place, name, text)` documents what is not written in Python.
            elif isinstance(node, ast.Call) and "newdoc" in ast.dump(node.func):
                yield from (
                    part.value
                    for part in node.args[1:]
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )


def _summary(text: str) -> str | None:
    """The first sentence with white space around it, if it and what follows are long enough."""
    match = re.match(r"\s*(?:(?!\n\s*\n)[^.])+\.(?=\s)", text)
    if match is None or not 5 <= len(match[0].split()) <= 40:
        return None
    return match[0] if len(text[match.end() :].split()) >= SHORTEST else None


def _passages(text: str, most: int) -> Iterator[str]:
    """Parts of a text, each of whole lines; what is left at its end is in the last one."""
    lines: list[str] = []
    count = 0
    left = len(text.split())
    for line in text.splitlines():
        lines.append(line)
        words = len(line.split())
        count, left = count + words, left - words
        if count >= most and left >= most // 2:
            yield "\n".join(lines).strip()
            lines, count = [], 0
    if count >= SHORTEST:
        yield "\n".join(lines).strip()
