"""How near what is computed comes to the model that was fitted: under errors, and where it differs.

Errors of scores change a class where another score is close. A model that is not the fitted one,
as of bins, is measured beside it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import ParameterError, WireError
from hesc._support import documents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_WORDS: Final = {
    "bins": "thresholds moved to the nearest public edges",
    "additive": "AN ADDITIVE RE-FIT, NOT THE MODEL THAT WAS TRAINED",
}
WAYS: Final = tuple(_WORDS)
"""What was changed."""


@dataclass(frozen=True)
class Fidelity:
    """Two models on the same rows: what is computed, and what was fitted."""

    way: str
    """One of `WAYS`."""
    rows: int
    """Rows that both were compared on."""
    unseen: bool
    """Whether what is computed was made without these rows."""
    agreement: float | None
    """The share of rows that both models put in the same class; None of regressors."""
    explained: float | None
    """The share of the variance of the fitted model's scores (R^2); None where it has none."""
    apart: float
    """The root mean square of the difference of their scores."""

    @property
    def share(self) -> float:
        """What is held against a wanted fidelity: agreement of classifiers, otherwise R^2."""
        share = self.explained if self.agreement is None else self.agreement
        # Scores that are all alike have no variance: then they are the same or not.
        return (1.0 if self.apart == 0 else 0.0) if share is None else share

    def __str__(self) -> str:
        which = "rows that it was not made from" if self.unseen else "rows planned with"
        same = []
        if self.agreement is not None:
            same.append(f"{100 * self.agreement:.2f} % have the same class")
        if self.explained is not None:
            same.append(f"R^2 of scores {self.explained:.4f}")
        same.append(f"scores {self.apart:.3g} apart (root mean square)")
        return f"{_WORDS[self.way]}; of {self.rows} {which} {', '.join(same)}"

    def described(self) -> dict[str, Any]:
        """For a document."""
        return asdict(self)


def measured(
    way: str,
    found: Array,
    clear: Array,
    classes: tuple[NDArray[Any], NDArray[Any]] | None,
    **of: Any,
) -> Fidelity:
    """The fidelity of scores.

    Args:
        way: one of `WAYS`.
        found: rows of outputs of what is computed.
        clear: those of the fitted model.
        classes: of a classifier: what both conclude.
        of: whether the rows are `unseen`.

    """
    apart = float(np.sqrt(((found - clear) ** 2).mean()))
    deviation = float(np.sqrt(((clear - clear.mean(axis=0)) ** 2).mean()))
    alike = ROUNDINGS * float(np.abs(clear).max())
    return Fidelity(
        way,
        len(found),
        agreement=None if classes is None else float(np.mean(classes[0] == classes[1])),
        explained=1 - (apart / deviation) ** 2 if deviation > alike else None,
        # Beside scores that are alike, but for roundings, differences are roundings as well.
        apart=apart if deviation > alike or apart > alike else 0.0,
        **of,
    )


def read(value: object) -> Fidelity:
    """A fidelity from a document.

    Raises:
        WireError: anything else.

    """
    given = documents.exactly(value, {field.name for field in fields(Fidelity)}, "fidelity")
    documents.one_of(given["way"], WAYS, "what a fidelity is of")
    rows, unseen = given["rows"], given["unseen"]
    agreement, explained, apart = given["agreement"], given["explained"], given["apart"]
    sound = (
        type(rows) is int
        and 0 < rows < 1 << 53
        and type(unseen) is bool
        and (agreement is None or (type(agreement) is float and 0 <= agreement <= 1))
        and (explained is None or (type(explained) is float and explained <= 1))
        and type(apart) is float
        and apart >= 0
    )
    if not sound:
        raise WireError("the fidelity of a plan is shares up to 1, of a number of rows")
    return Fidelity(**given)


ROUNDINGS: Final = 1e-12
"""What scores that are alike differ by, beside the largest."""


def kept(
    scores: NDArray[np.float64], errors: NDArray[np.float64], clear: NDArray[np.float64]
) -> float:
    """The expected share of rows whose class is that in the clear, or more.

    The class changes if another score overtakes the highest: by the sum of probabilities over all
    others, with deviations added as if the two errors always worked together.

    Args:
        scores: a row of outputs for each sample, without errors.
        errors: the deviations of their errors, which are taken for normal.
        clear: scores of the same samples, not clipped: rows that have another class count as lost.

    """
    if scores.shape[1] == 1:
        same = (scores[:, 0] > 0) == (clear[:, 0] > 0)
        changed = _beyond(np.abs(scores[:, 0]), errors[:, 0])
    else:
        rows = np.arange(len(scores))
        best = scores.argmax(axis=1)
        same = best == clear.argmax(axis=1)
        gaps = scores[rows, best][:, None] - scores
        each = _beyond(gaps, errors + errors[rows, best][:, None])
        each[rows, best] = 0
        changed = np.minimum(each.sum(axis=1), 1)
    return float(((1 - changed) * same).mean())


def margins_of(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each row is from another class: the size of a single score, or what leads by."""
    if scores.shape[1] == 1:
        return np.asarray(np.abs(scores[:, 0]))
    second, first = np.partition(scores, -2, axis=1)[:, -2:].T
    return np.asarray(first - second)


def typical_of(scores: NDArray[np.float64], *, margins: bool) -> float:
    """What errors of scores are held against where nobody says which are wanted.

    Args:
        scores: a row of outputs for each sample.
        margins: whether it is the median margin between classes, or else the deviation of scores:
            of several outputs that of the one that varies least, which one error has to do for.

    Raises:
        ParameterError: scores that are alike, but for roundings.

    """
    found = float(np.median(margins_of(scores)) if margins else scores.std(axis=0).min())
    if not found > ROUNDINGS * np.abs(scores).max():
        raise ParameterError(
            "no error follows from the scores of these rows, which are alike; give max_error="
        )
    return found


def _beyond(gaps: NDArray[np.float64], errors: NDArray[np.float64]) -> NDArray[np.float64]:
    tail = np.vectorize(lambda x: 0.5 * math.erfc(x / math.sqrt(2)), otypes=[np.float64])
    # Gaps of more deviations than doubles hold, or tails that are less than any.
    with np.errstate(over="ignore", under="ignore"):
        beyond: NDArray[np.float64] = tail(gaps / np.maximum(errors, np.finfo(np.float64).tiny))
    return beyond
