"""What follows from scores: classes and probabilities, as scikit-learn has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc import _native
from hesc._support import documents

if TYPE_CHECKING:
    from numpy.typing import NDArray


PROBABILITIES: Final = _native.PROBABILITIES
"""How a client makes probabilities of a classifier's scores.

Those of a mean are of several models, whose scores stand one after the other: the probabilities of
each are averaged, and the class is that of the highest average.
"""
INVERSES: Final = _native.INVERSES
"""What a client applies to a regressor's scores, by name: its predictions are that of them."""
LINKS: Final = _native.LINKS
"""How a client makes probabilities, or a regressor's predictions, of scores."""


class Isotonic(NamedTuple):
    """Functions that rise from point to point, one for each score: isotonic regressions."""

    counts: NDArray[np.float64]
    """Points of each function."""
    scores: NDArray[np.float64]
    """Where the points are, function after function, in rising order."""
    shares: NDArray[np.float64]
    """The share of the class at each."""

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
    _native.check_calibration(found)
    return found


OUTLIERS: Final = (1, -1)
"""Classes of a model of outliers: a score above zero, and no other, is that of an outlier."""


def are_outliers(classes: NDArray[Any] | None) -> bool:
    """Whether classes are those of a model of outliers; a classifier's are in rising order."""
    return classes is not None and classes.tolist() == list(OUTLIERS)


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
    places = _native.class_places(link, _rows(scores), len(classes), calibration)
    chosen: NDArray[Any] = classes[places]
    return chosen


def numbers(link: str, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """A regressor's predictions, by one of `INVERSES`; others leave scores as they are."""
    if link not in INVERSES:
        return scores
    flat = np.ascontiguousarray(scores, dtype=np.float64).reshape(-1)
    return _native.link_numbers(link, flat).reshape(scores.shape)


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
    return _native.probabilities(link, _rows(scores), classes, calibration)


def _rows(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    rows = scores[:, None] if scores.ndim == 1 else scores
    return np.ascontiguousarray(rows, dtype=np.float64)
