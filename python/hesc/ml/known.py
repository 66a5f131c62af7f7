"""Whether a fitted model is still the one that was planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.ml import documents, extraction, transforms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_SEEN: Final = 100
"""Rows that a model of trees is known by."""


class Known:
    """What a model is known by: its transforms, and its weights or of trees scores of some rows.

    All of it is copied, since a model may be edited where its numbers lie.

    Args:
        estimator: as it was planned.
        rows: samples.
        clear: its scores of them.

    """

    def __init__(self, estimator: Any, rows: Array, clear: Array) -> None:
        trees = extraction.has_trees(extraction.parts_of(estimator)[-1])
        self._seen = (rows[:_SEEN].copy(), clear[:_SEEN].copy()) if trees else None
        self._exactly = _numbers(estimator)

    def is_still(self, estimator: Any) -> bool:
        """Whether this estimator computes the same."""
        if _numbers(estimator) != self._exactly:
            return False
        if self._seen is None:
            return True
        rows, clear = self._seen
        now = extraction.clear_scores(estimator, rows)
        # Threads add trees up in any order.
        return bool(np.allclose(now, clear, rtol=1e-9, atol=1e-12))


def _numbers(estimator: Any) -> list[Any]:
    """Transforms, and the weights of a linear model, as parts of documents: equal if they are."""
    steps, linear = extraction.linear_parts_of(estimator)
    found: list[Any] = transforms.described(steps)
    if linear is not None:
        found += [documents.packed(linear.weights), documents.packed(linear.intercepts)]
    return found
