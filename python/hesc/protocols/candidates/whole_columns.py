"""Scores by BFV, exactly, of features and weights as whole numbers.

What is left of an error is rounding. Features are rounded at random, up or down with probabilities
that leave their mean where it was: errors of features are then independent, whatever the samples
are, and their squares add.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.planner.estimates import ROUNDING
from hesc.protocols.candidates.columns import Columns, Numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.params.vectors import VectorParams
    from hesc.planner.tasks import ScoreProblem

    Reals = NDArray[np.float64]

_TRIED: Final = 4
"""Sizes of features that are tried in each octave."""
_LEVEL: Final = 1
"""The level of answers: after products with numbers the lowest level has room."""


class WholeColumns(Columns):
    """Whole numbers of BFV, as large as its plaintext modulus takes."""

    def numbers(self, params: VectorParams, problem: ScoreProblem) -> Numbers | str:
        """See `Columns`."""
        middle, half = (problem.high + problem.low) / 2, (problem.high - problem.low) / 2
        weights = problem.weights * half
        added = problem.weights @ middle + problem.intercepts
        room = params.integer_range[1]
        best: tuple[float, int, float] | None = None
        for most in sorted({int(2 ** (at / _TRIED)) for at in range(_TRIED * room.bit_length())}):
            scale = _scale(weights, added, most, room)
            if scale > 0:
                error = _error(weights, added, most, scale)
                if best is None or error < best[0]:
                    best = error, most, scale
        if best is None:
            return f"sums of {problem.features} products do not fit its integers, up to {room:,}"
        error, most, scale = best
        unit = most * scale
        wide = np.where(half > 0, half, 1.0)

        def columns(x: Reals) -> NDArray[np.int64]:
            inside = np.clip((x - middle) / wide, -1, 1) * most
            lower = np.floor(inside)
            up = np.random.default_rng().random(inside.shape) < inside - lower
            return (lower + up).astype(np.int64)

        def results(found: NDArray[Any]) -> Reals:
            return found.astype(np.float64) / unit

        return Numbers(
            columns,
            np.rint(weights * scale).astype(np.int64).tolist(),
            np.rint(added * unit).astype(np.int64).tolist(),
            results,
            error + ROUNDING * problem.largest,
            _LEVEL,
        )


def _scale(weights: Reals, added: Reals, most: int, room: int) -> float:
    """What weights are multiplied by, where features are whole numbers up to `most`.

    Rounded weights are larger by a half at most, and what is added is too.
    """
    largest = float((np.abs(weights).sum(axis=1) + np.abs(added)).max())
    left = room - 1 - most * weights.shape[1] / 2
    return left / (most * largest) if largest > 0 and left > 0 else float(left > 0)


def _error(weights: Reals, added: Reals, most: int, scale: float) -> float:
    """Root mean square, at most, whatever the samples.

    A feature rounded at random is off by half a step (root mean square) at most, independently.
    Rounded weights are off by what is known, and features are at their worst. Results of rounded
    weights: `r = sum w' z'`, with `E z' = z`.
    """
    rounded = np.rint(weights * scale) / scale
    features = np.linalg.norm(rounded, axis=1) / (2 * most)
    fixed = np.abs(rounded - weights).sum(axis=1)
    fixed += np.abs(np.rint(added * most * scale) / (most * scale) - added)
    # A mean that is off, and a deviation around it: squares add.
    return float(np.hypot(features, fixed).max())
