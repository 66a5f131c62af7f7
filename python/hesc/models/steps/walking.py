"""The parts of pipelines, and of what has transformers inside, fitted or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS: Final = ("passthrough", "drop")
"""What stands for a transformer in lists of them."""


def parts_of(estimator: Any) -> list[Any]:
    """The steps of a pipeline and of those inside it, or the estimator alone."""
    if type(estimator) is not Pipeline:
        return [estimator]
    steps = [step for _, step in estimator.steps if step is not None and step != "passthrough"]
    return [part for step in steps for part in parts_of(step)]


def all_parts_of(estimator: Any) -> Iterator[Any]:
    """The parts of an estimator, each followed by those that stand inside it."""
    for part in parts_of(estimator):
        yield part
        for inner in _inside(part):
            yield from all_parts_of(inner)


def _inside(part: Any) -> list[Any]:
    if type(part) is ColumnTransformer:
        found = [item[1] for item in part.transformers] + [part.remainder]
    elif type(part) is FeatureUnion:
        found = [item[1] for item in part.transformer_list]
    else:
        return []
    return [each for each in found if not (isinstance(each, str) and each in WORDS)]
