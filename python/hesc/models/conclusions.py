"""What follows from scores: classes and probabilities, as scikit-learn has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import ParameterError
from hesc._support.callers import usual_floats

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
    best = (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
    chosen: NDArray[Any] = classes[best]
    return chosen


@usual_floats
def probabilities(link: str, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of all classes, by one of `LINKS`.

    Raises:
        ParameterError: scores that give none.

    """
    if link == "none":
        raise ParameterError(
            "the scores of this model give no probabilities; LogisticRegression's do"
        )
    if link == "shares":
        # Scores are probabilities, of two classes less 1/2; errors bring some below zero.
        both = np.column_stack([0.5 - scores, 0.5 + scores]) if scores.ndim == 1 else scores
        return _normalised(np.maximum(both, 0))
    if scores.ndim == 1:
        high = sigmoid(scores)
        return np.column_stack([1 - high, high])
    if link == "softmax":
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    else:
        powers = sigmoid(scores)
    return _normalised(powers)


def _normalised(powers: NDArray[np.float64]) -> NDArray[np.float64]:
    total = powers.sum(axis=1, keepdims=True)
    # As scikit-learn does where no class wants a sample.
    shares: NDArray[np.float64] = np.full_like(powers, 1 / powers.shape[1])
    np.divide(powers, total, out=shares, where=total > 0)
    return shares


def sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """`1 / (1 + exp(-x))`, without overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))
