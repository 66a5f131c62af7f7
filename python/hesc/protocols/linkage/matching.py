"""What counts as a match, how it is found among distances, and how good it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hesc._native import OutOfRangeError, ShapeError
from hesc.codes.rows import checked, hamming
from hesc.protocols.linkage.pieces import pairs_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class MutualNearest:
    """Pairs of which each is the other's nearest, among rows of distances that come in order.

    Of equal distances the first counts. Memory: a few numbers for each record.
    """

    def __init__(self, columns: int) -> None:
        self._best = np.full(columns, np.iinfo(np.uint32).max, dtype=np.uint32)
        self._row = np.full(columns, -1, dtype=np.int64)
        self._nearest: list[NDArray[np.int64]] = []
        self._distances: list[NDArray[np.uint32]] = []
        self.rows = 0
        """Rows seen."""

    def add(self, distances: NDArray[np.uint32]) -> None:
        """Some more rows."""
        self._nearest.append(distances.argmin(axis=1).astype(np.int64))
        self._distances.append(distances.min(axis=1))
        row = distances.argmin(axis=0)
        best = distances[row, np.arange(distances.shape[1])]
        closer = best < self._best
        self._best[closer] = best[closer]
        self._row[closer] = row[closer] + self.rows
        self.rows += len(distances)

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """Pairs (column, row), and their distances."""
        nearest, distances = np.concatenate(self._nearest), np.concatenate(self._distances)
        mutual = self._row[nearest] == np.arange(self.rows)
        rows = np.flatnonzero(mutual)
        return np.stack([nearest[rows], rows], axis=1), distances[rows]


class Quality(NamedTuple):
    """How good matches are."""

    precision: float
    recall: float
    f1: float


def quality(found: ArrayLike, true: ArrayLike) -> Quality:
    """The quality of pairs that were found, against the true pairs.

    Raises:
        ShapeError: what are no rows of two numbers; no true pair.

    """
    own, wanted = (_set_of(pairs_of(pairs, "pairs")) for pairs in (found, true))
    return _quality(len(own & wanted), len(own), len(wanted))


def _set_of(pairs: NDArray[np.int64]) -> set[tuple[int, ...]]:
    return set(map(tuple, pairs.tolist()))


def _quality(right: int, found: int, true: int) -> Quality:
    """From how many there are of each."""
    if not true:
        raise ShapeError("without a true pair there is nothing to find")
    precision = right / found if found else 0.0
    recall = right / true
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return Quality(precision, recall, f1)


class Threshold(NamedTuple):
    """A distance up to which records match, and how good that was where it was chosen."""

    distance: int
    training: Quality


def choose_threshold(sent: ArrayLike, compared: ArrayLike, true: ArrayLike) -> Threshold:
    """The threshold with the best F1 on records whose matches are known; of several the middle one.

    Cost: distances of all pairs, in the clear.

    Args:
        sent: codes of the one side.
        compared: codes of the other.
        true: pairs of rows that match.

    Raises:
        ShapeError: what are no codes, or no true pair.
        OutOfRangeError: pairs of rows that are not there.

    """
    left, right = checked(sent, "sent"), checked(compared, "compared")
    pairs = pairs_of(true, "true")
    if pairs.size and (pairs.min() < 0 or (pairs >= [len(left), len(right)]).any()):
        raise OutOfRangeError("true names rows that are not there")
    nearest = MutualNearest(len(left))
    nearest.add(hamming(right, left))
    found, distances = nearest.pairs()
    wanted = _set_of(pairs)
    right = np.array([pair in wanted for pair in map(tuple, found.tolist())], dtype=bool)
    most = np.arange(64 * left.shape[1] + 1)
    counts = (_up_to(most, distances[right]), _up_to(most, distances))
    scores = [_quality(*both, len(wanted)) for both in zip(*counts, strict=True)]
    best = max(score.f1 for score in scores)
    # The first run of the best: beyond it nothing is gained, and far pairs are none.
    first = next(at for at, score in enumerate(scores) if score.f1 == best)
    last = first
    while last + 1 < len(scores) and scores[last + 1].f1 == best:
        last += 1
    # A run that goes on to the longest distance has no upper end that says anything.
    middle = first if last + 1 == len(scores) else (first + last) // 2
    return Threshold(middle, scores[middle])


def _up_to(most: NDArray[np.int64], distances: NDArray[np.uint32]) -> list[int]:
    """How many distances are at most each of these."""
    found: list[int] = np.searchsorted(np.sort(distances), most, side="right").tolist()
    return found
