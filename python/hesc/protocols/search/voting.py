"""From the classes of the nearest records to shares of votes, as scikit-learn counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

METRICS: Final = ("euclidean", "cosine")
"""Distances by which records vote."""
WEIGHTS: Final = ("uniform", "distance")
"""How votes count: alike, or by the inverse of distances."""


def shares(
    indices: NDArray[np.intp],
    distances: Array,
    *,
    labels: NDArray[np.intp],
    classes: int,
    weights: str,
) -> Array:
    """Shares of votes for each class, (samples, classes), as scikit-learn counts them.

    With weights by distance a record at distance zero outvotes all that are not.

    Args:
        indices: records that vote, a row for each sample.
        distances: theirs.
        labels: the place of each record's class.
        classes: how many there are.
        weights: one of `WEIGHTS`.

    """
    count = np.ones_like(distances)
    if weights == "distance":
        none = distances == 0
        with np.errstate(divide="ignore"):
            inverse = 1 / distances
        count = np.where(none.any(axis=1, keepdims=True), none.astype(np.float64), inverse)
    votes = np.zeros((len(indices), classes))
    rows = np.arange(len(indices))
    for place in range(indices.shape[1]):
        votes[rows, labels[indices[:, place]]] += count[:, place]
    found: Array = votes / votes.sum(axis=1, keepdims=True)
    return found


def scores_of(votes: Array) -> Array:
    """Shares as scores: of two classes that of the second less a half, on one axis."""
    return votes[:, 1] - 0.5 if votes.shape[1] == 2 else votes


def predicted(votes: Array, classes: NDArray[Any]) -> NDArray[Any]:
    """The class with most votes; of equal ones the first, as scikit-learn takes it."""
    chosen: NDArray[Any] = classes[votes.argmax(axis=1)]
    return chosen
