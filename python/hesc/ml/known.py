"""Whether a fitted model is still the one that was planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.ml import extraction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_SEEN: Final = 100
"""Rows that a model of trees is known by."""


class Known:
    """What a model is known by: its weights, or its scores of some rows where it has trees.

    Args:
        estimator: as it was planned.
        rows: samples.
        clear: its scores of them.

    """

    def __init__(self, estimator: Any, rows: Array, clear: Array) -> None:
        trees = extraction.has_trees(extraction.parts_of(estimator)[-1])
        self._seen = (rows[:_SEEN].copy(), clear[:_SEEN].copy()) if trees else None
        self._linear = None if trees else extraction.linear_form(estimator)

    def is_still(self, estimator: Any) -> bool:
        """Whether this estimator computes the same."""
        if self._seen is not None:
            rows, clear = self._seen
            now = extraction.clear_scores(estimator, rows)
            # Threads add trees up in any order.
            return bool(np.allclose(now, clear, rtol=1e-9, atol=1e-12))
        found = extraction.linear_form(estimator)
        return self._linear is not None and bool(
            np.array_equal(found.weights, self._linear.weights)
            and np.array_equal(found.intercepts, self._linear.intercepts)
        )
