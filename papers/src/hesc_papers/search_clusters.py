"""Balanced clusters of vectors: blocks of so many records, of which a client asks for a few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROUNDS: Final = 12
"""Rounds of k-means."""
STEPS: Final = 60
"""Steps in which full blocks become dearer, in each round."""


class Clusters:
    """Blocks of records by the angle between them, and their public centres.

    Args:
        records: vectors of length one.
        block: records of a block, at most.

    """

    def __init__(self, records: NDArray[np.float32], block: int) -> None:
        count = -(-len(records) // block)
        self.centres = _centres(records, count)
        near = records @ self.centres.T
        self.blocks = _fitted(near - _prices(near, len(records) / count), block)

    def holds(self, queries: NDArray[np.float32], most: int) -> NDArray[np.bool_]:
        """Whether each query finds each record in the `most` blocks nearest to it."""
        near = np.argsort(-(queries @ self.centres.T), axis=1)[:, :most]
        asked = np.zeros((len(queries), len(self.centres)), dtype=bool)
        np.put_along_axis(asked, near, values=True, axis=1)
        found: NDArray[np.bool_] = asked[:, self.blocks]
        return found


def _centres(records: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Means of about equally many records each, of length one, by rounds of k-means."""
    rng = np.random.default_rng(0)
    centres = records[rng.choice(len(records), count, replace=False)]
    for _ in range(ROUNDS):
        near = records @ centres.T
        own = np.argmax(near - _prices(near, len(records) / count), axis=1)
        sums = np.zeros((count, records.shape[1]), dtype=np.float32)
        np.add.at(sums, own, records)
        centres = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return centres


def _prices(near: NDArray[np.float32], share: float) -> NDArray[np.float32]:
    """What a block costs, so that all are chosen about equally often."""
    prices = np.zeros(near.shape[1], dtype=np.float32)
    step = 0.1
    for _ in range(STEPS):
        chosen = np.bincount(np.argmax(near - prices, axis=1), minlength=len(prices))
        over = np.clip(chosen / share - 1, -1, 1)
        prices += np.float32(step) * over.astype(np.float32)
        step *= 0.93
    return prices


def _fitted(near: NDArray[np.float32], block: int) -> NDArray[np.int64]:
    """The nearest block with room for each record; the farther its second one, the earlier."""
    own: NDArray[np.int64] = np.argmax(near, axis=1)
    if near.shape[1] > 1:
        two = np.partition(near, -2, axis=1)[:, -2:]
        left = np.full(near.shape[1], block)
        for record in np.argsort(two[:, 0] - two[:, 1]):
            if not left[own[record]]:
                own[record] = np.argmax(np.where(left > 0, near[record], -np.inf))
            left[own[record]] -= 1
    return own
