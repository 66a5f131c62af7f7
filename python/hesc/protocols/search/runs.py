"""Queries against records of a model, encrypted or in the clear, both parties in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hesc.protocols.runs import Session, all_of, prepared
from hesc.protocols.search.nearest import concluded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.samples import Clipped
    from hesc.models.tables.forms import Rows
    from hesc.protocols.search.nearest import SearchResult
    from hesc.protocols.search.plan import SearchPlan
    from hesc.ring_products.plans import Sizes


class SearchRun(NamedTuple):
    """What came out of it."""

    predictions: NDArray[Any]
    """Classes."""
    scores: NDArray[np.float64]
    """Shares of votes; of two classes that of the second less a half."""
    indices: NDArray[np.intp]
    """The nearest records, a row for each sample, by their places in the training data."""
    distances: NDArray[np.float64]
    """Distances of these after rounding; of cosines one less the cosine."""
    sizes: Sizes
    """Bytes up and down; predicted where it was simulated."""
    error: None
    """Votes of rounded features are exact."""
    clipped: int
    """Values of samples that were brought within the plan's length."""
    clipped_samples: int
    """Samples that were longer."""


def _run(found: list[SearchResult], sizes: Sizes, ready: Clipped) -> SearchRun:
    """The results of all queries together."""
    predictions, scores, indices, distances = (
        np.concatenate([getattr(result, name) for result in found])
        for name in ("predictions", "scores", "indices", "distances")
    )
    return SearchRun(
        predictions, scores, indices, distances, sizes, None, ready.values, ready.samples
    )


class SearchSession(Session):
    """A client and a server of one plan, whose keys stay."""

    def _together(self, found: list[Any], sizes: Sizes, ready: Clipped) -> SearchRun:
        return _run(found, sizes, ready)


def values_in_clear(
    plan: SearchPlan, entries: NDArray[np.float64], queries: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Scores of whole numbers in the clear: exactly what encrypted ones give.

    Args:
        plan: of the search.
        entries: whole numbers of records, a row each, as doubles: sums stay below 2^53.
        queries: those of queries.

    """
    products = np.asarray(queries @ entries.T, dtype=np.int64)
    squares = [np.square(rows).sum(axis=1) for rows in (entries, queries)]
    return plan.values_of(products, *(squares if plan.squares is not None else ()))


def simulate(
    plan: SearchPlan, entries: NDArray[np.int16], samples: Rows, *, clip: bool
) -> SearchRun:
    """What encrypted queries give, exactly: the same whole numbers are compared in the clear."""
    own = entries.astype(np.float64)
    each = max(1, _CELLS // len(own))
    found, parts = [], []
    for ready in prepared(plan, samples, clip=clip, at_once=_CELLS):
        parts.append(ready._replace(features=np.empty((0, 0))))
        rows = plan.rounded(ready.features, queries=True).astype(np.float64)
        found += [
            concluded(plan, values_in_clear(plan, own, rows[first : first + each]))
            for first in range(0, len(rows), each)
        ]
    return _run(found, plan.sizes(len(samples)), all_of(parts))


_CELLS = 1 << 24
"""Scores that are in memory at once."""
