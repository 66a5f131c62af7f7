"""From distances of codes to the nearest records, and from their classes to shares of votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc.codes import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

METRICS: Final = ("euclidean", "cosine")
"""What is estimated."""
WEIGHTS: Final = ("uniform", "distance")
"""How votes count: alike, or by the inverse of distances."""
_CELLS: Final = 1 << 22
"""Distances that are sorted at once."""


class Nearest(NamedTuple):
    """The records that are nearest to samples, a row for each, the nearest first."""

    indices: NDArray[np.intp]
    """Places of the neighbours in the order of the model's training data."""
    angles: Array
    """Between their vectors and the sample's, in radians, as codes tell them."""


def nearest_of(distances: NDArray[np.uint32], count: int, bits: int) -> Nearest:
    """So many nearest records to each sample; of equal distances the earlier record is nearer.

    Args:
        distances: of codes, a row for each sample and a column for each record.
        count: how many are wanted.
        bits: of a code.

    """
    rows = max(1, _CELLS // distances.shape[1])
    parts = [
        nearest(distances[first : first + rows], count) for first in range(0, len(distances), rows)
    ]
    indices = np.concatenate(parts)
    chosen = np.take_along_axis(distances, indices, axis=1)
    return Nearest(indices, np.asarray(np.pi / bits * chosen, dtype=np.float64))


def apart(angles: Array, metric: str) -> Array:
    """Distances that angles stand for, up to a factor: chords, or one less the cosine."""
    return 1 - np.cos(angles) if metric == "cosine" else 2 * np.sin(angles / 2)


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
