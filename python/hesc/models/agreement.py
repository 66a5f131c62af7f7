"""How often a class stays the same under the errors of scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from hesc._native import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
