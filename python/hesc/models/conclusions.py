"""What follows from scores: classes and probabilities, as scikit-learn has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc import _native

if TYPE_CHECKING:
    from numpy.typing import NDArray

LINKS: Final = ("none", "sigmoid", "softmax", "one_against_rest", "shares")
"""How a client makes probabilities of scores, if it can."""


class Concluding:
    """What plans with scores have in common: what their clients conclude from scores."""

    if TYPE_CHECKING:

        @property
        def classes(self) -> NDArray[Any] | None:
            """A classifier's classes; None of other models."""

    def scores(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows of outputs in scikit-learn's form: a row where a model has one output."""
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def predictions(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Classes by the highest score, or numbers, which are the scores."""
        return predictions(self.classes, scores)


def predictions(classes: NDArray[Any] | None, scores: NDArray[np.float64]) -> NDArray[Any]:
    """Classes by the highest score, or the scores of a regressor themselves.

    Args:
        classes: of a classifier.
        scores: a row of outputs for each sample; one axis where there is one output.

    """
    if classes is None:
        return scores
    chosen: NDArray[Any] = classes[_native.class_places(_rows(scores))]
    return chosen


def probabilities(link: str, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of all classes, by one of `LINKS`.

    Raises:
        ParameterError: scores that give none.

    """
    return _native.probabilities(link, _rows(scores))


def _rows(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    rows = scores[:, None] if scores.ndim == 1 else scores
    return np.ascontiguousarray(rows, dtype=np.float64)
