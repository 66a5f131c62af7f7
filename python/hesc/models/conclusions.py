"""What follows from scores: classes and probabilities, as scikit-learn has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._native import ParameterError, WireError
from hesc._support import documents
from hesc._support.callers import usual_floats

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """`1 / (1 + exp(-x))`, without overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


PROBABILITIES: Final = (
    "sigmoid",
    "softmax",
    "one_against_rest",
    "shares",
    "mean_sigmoid",
    "mean_softmax",
    "mean_isotonic",
)
"""How a client makes probabilities of a classifier's scores.

Those of a mean are of several models, whose scores stand one after the other: the probabilities of
each are averaged, and the class is that of the highest average.
"""
INVERSES: Final[dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]]] = {
    "exp": np.exp,
    "expm1": np.expm1,
    "exp2": np.exp2,
    "square": np.square,
    "sqrt": np.sqrt,
    "sinh": np.sinh,
    "expit": sigmoid,
}
"""What a client applies to a regressor's scores, by name: its predictions are that of them."""
LINKS: Final = ("none", *PROBABILITIES, *INVERSES)
"""How a client makes probabilities, or a regressor's predictions, of scores."""


class Isotonic(NamedTuple):
    """Functions that rise from point to point, one for each score: isotonic regressions."""

    counts: NDArray[np.float64]
    """Points of each function."""
    scores: NDArray[np.float64]
    """Where the points are, function after function, in rising order."""
    shares: NDArray[np.float64]
    """The share of the class at each."""

    def __call__(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shares of classes for rows of scores."""
        ends = np.cumsum(self.counts.astype(np.int64))[:-1]
        places, values = np.split(self.scores, ends), np.split(self.shares, ends)
        columns = zip(scores.T, places, values, strict=True)
        return np.column_stack([np.interp(*column) for column in columns])

    def described(self) -> dict[str, Any]:
        """The points for a document."""
        return {name: documents.packed(array) for name, array in self._asdict().items()}


def read_calibration(value: object) -> Isotonic:
    """Points from a document.

    Raises:
        WireError: numbers of points that are none, or places that do not rise.

    """
    given = documents.exactly(value, set(Isotonic._fields), "calibration")
    found = Isotonic(*(documents.unpacked(given[x], 1, x) for x in Isotonic._fields))
    counts, places, shares = found
    whole = bool((counts == np.floor(counts)).all() and (counts >= 1).all())
    if not (whole and len(counts) and counts.sum() == len(places) == len(shares)):
        raise WireError("a calibration has one point or more for each of its functions")
    parts = np.split(places, np.cumsum(counts.astype(np.int64))[:-1])
    if not all((np.diff(part) > 0).all() for part in parts):
        raise WireError("the points of a calibration rise")
    if not ((shares >= 0) & (shares <= 1)).all():
        raise WireError("a calibration gives shares, from 0 to 1")
    return found


def is_mean(link: str) -> bool:
    """Whether scores are those of several models whose probabilities are averaged."""
    return link.startswith("mean_")


class Concluding:
    """What plans with scores have in common: what their clients conclude from scores."""

    if TYPE_CHECKING:
        link: str
        calibration: Isotonic | None

        @property
        def classes(self) -> NDArray[Any] | None:
            """A classifier's classes; None of other models."""

    def scores(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows of outputs in scikit-learn's form: a row where a model has one output."""
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def predictions(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Classes by the highest score or probability; a regressor's numbers, by its link."""
        return predictions(self.classes, scores, self.link, self.calibration)


def decisive(
    scores: NDArray[np.float64], link: str, classes: int, calibration: Isotonic | None = None
) -> NDArray[np.float64]:
    """What classes are chosen by: rows of one score for two classes, else of one for each.

    Args:
        scores: a row of outputs for each sample.
        link: one of `LINKS`.
        classes: how many there are.
        calibration: where the link is isotonic.

    """
    if not is_mean(link):
        return scores
    shares = probabilities(link, scores, classes=classes, calibration=calibration)
    return shares[:, 1:] - 0.5 if classes == 2 else shares


def predictions(
    classes: NDArray[Any] | None,
    scores: NDArray[np.float64],
    link: str = "none",
    calibration: Isotonic | None = None,
) -> NDArray[Any]:
    """Classes by the highest score or probability; a regressor's numbers, by its link.

    Args:
        classes: of a classifier.
        scores: a row of outputs for each sample; one axis where there is one output.
        link: one of `LINKS`.
        calibration: where the link is isotonic.

    """
    if classes is None:
        return numbers(link, scores)
    if is_mean(link):
        rows = decisive(scores, link, len(classes), calibration)
        scores = rows[:, 0] if rows.shape[1] == 1 else rows
    best = (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
    chosen: NDArray[Any] = classes[best]
    return chosen


@usual_floats
def numbers(link: str, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """A regressor's predictions, by one of `INVERSES`; others leave scores as they are."""
    if link not in INVERSES:
        return scores
    # Errors bring scores below zero, and far ones are beyond what doubles hold.
    with np.errstate(all="ignore"):
        found: NDArray[np.float64] = INVERSES[link](scores)
    return found


@usual_floats
def probabilities(
    link: str,
    scores: NDArray[np.float64],
    *,
    classes: int = 2,
    calibration: Isotonic | None = None,
) -> NDArray[np.float64]:
    """Probabilities of all classes, by one of `PROBABILITIES`.

    Args:
        link: which.
        scores: a row of outputs for each sample; one axis where there is one output.
        classes: how many there are: counts where scores are of several models.
        calibration: where the link is isotonic.

    Raises:
        ParameterError: scores that give none.

    """
    if link not in PROBABILITIES:
        raise ParameterError(
            "the scores of this model give no probabilities; LogisticRegression's do"
        )
    if is_mean(link):
        return _mean(link.removeprefix("mean_"), np.atleast_2d(scores.T).T, classes, calibration)
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


def _mean(
    each: str, scores: NDArray[np.float64], classes: int, calibration: Isotonic | None
) -> NDArray[np.float64]:
    """The average of what several models say, whose scores stand one after the other."""
    outputs = 1 if classes == 2 else classes
    shares = scores if calibration is None else calibration(scores)
    found = []
    for first in range(0, scores.shape[1], outputs):
        part = shares[:, first : first + outputs]
        if calibration is None:
            rows = part[:, 0] if outputs == 1 else part
            found.append(probabilities("one_against_rest" if each == "sigmoid" else each, rows))
        else:
            found.append(np.hstack([1 - part, part]) if outputs == 1 else _normalised(part))
    return np.asarray(np.mean(found, axis=0))


def _normalised(powers: NDArray[np.float64]) -> NDArray[np.float64]:
    total = powers.sum(axis=1, keepdims=True)
    # As scikit-learn does where no class wants a sample.
    shares: NDArray[np.float64] = np.full_like(powers, 1 / powers.shape[1])
    np.divide(powers, total, out=shares, where=total > 0)
    return shares
