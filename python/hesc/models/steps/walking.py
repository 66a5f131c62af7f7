"""The parts of pipelines, and of what has transformers inside, fitted or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, RANSACRegressor
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.semi_supervised import SelfTrainingClassifier

from hesc._native import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS: Final = ("passthrough", "drop")
"""What stands for a transformer in lists of them."""


_SEARCH: Final = "SearchCV"
"""What names of searches end with: some of them are imported by asking for experiments."""
KEEPERS: Final = (SelfTrainingClassifier, RANSACRegressor)
"""What keeps the estimator that it predicts by, beside searches and frozen estimators."""


def unwrapped(estimator: Any) -> Any:
    """What an estimator predicts by, where that is another one which it found or keeps.

    Raises:
        ParameterError: a search that does not fit what it finds.

    """
    kind = type(estimator)
    own = getattr(estimator, "__dict__", {})
    given = own.get("estimator")
    if kind.__name__.endswith(_SEARCH):
        if own.get("refit", True) is False and "best_estimator_" not in own:
            raise ParameterError(
                f"this {kind.__name__} has refit=False, and fits nothing with what it finds: "
                f"write refit=True, or fit an estimator with its best_params_"
            )
        inner = own.get("best_estimator_", given)
    elif kind is FrozenEstimator:
        inner = given
    elif kind in KEEPERS:
        inner = own.get("estimator_", given)
        inner = LinearRegression() if inner is None and kind is RANSACRegressor else inner
    else:
        return estimator
    return unwrapped(inner)


def parts_of(estimator: Any) -> list[Any]:
    """The steps of a pipeline and of those inside it, or the estimator alone.

    A search, or what keeps another estimator, is that one.
    """
    estimator = unwrapped(estimator)
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
