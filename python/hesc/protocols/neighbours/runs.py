"""Samples beside records, simulated or encrypted, both parties in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hesc.codes import hamming
from hesc.protocols.runs import Session

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.samples import Clipped
    from hesc.models.tables.forms import Rows
    from hesc.protocols.neighbours.plan import NeighboursPlan
    from hesc.ring_products.plans import Sizes


class NeighboursRun(NamedTuple):
    """What came out of it."""

    predictions: NDArray[Any]
    """Classes."""
    scores: NDArray[np.float64]
    """Shares of votes; of two classes that of the second less a half."""
    indices: NDArray[np.intp]
    """The nearest records, a row for each sample, by their places in the training data."""
    angles: NDArray[np.float64]
    """Estimated angles to these, in radians."""
    sizes: Sizes
    """Bytes up and down; predicted where it was simulated."""
    error: None = None
    """Distances of codes are exact."""
    clipped: int = 0
    """Codes have no ranges."""
    clipped_samples: int = 0
    """Nor samples that are beyond them."""


class NeighboursSession(Session):
    """A client and a server of one plan, whose keys stay."""

    def _together(self, found: list[Any], sizes: Sizes, ready: Clipped) -> NeighboursRun:  # noqa: ARG002
        # Of each result what comes before its error, which is none.
        predictions, scores, indices, angles = (
            np.concatenate(parts) for parts in list(zip(*found, strict=True))[:4]
        )
        return NeighboursRun(predictions, scores, indices, angles, sizes)


def simulate(plan: NeighboursPlan, codes: NDArray[np.uint64], samples: Rows) -> NeighboursRun:
    """What encrypted codes give, exactly: the same codes are compared in the clear."""
    ready = plan.prepared(samples)
    found = plan.concluded(hamming(plan.coding.encode(ready.features), codes))
    return NeighboursRun(*found, plan.sizes(len(ready.features)))
