"""What counts as a match, how it is found among distances, and how good it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from hesc import _native
from hesc._native import OutOfRangeError, ShapeError, WireError
from hesc._support.inputs import of_kind, whole
from hesc.codes.encrypted import EncryptedDistances
from hesc.codes.rows import checked, hamming
from hesc.protocols.linkage.plan import LinkagePlan, numbers_of, pairs_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class SecretKey(Protocol):
    """What the matcher needs of `hesc.SecretKey`, which this package does not import."""

    params: Any

    @property
    def native(self) -> Any:
        """The compiled key."""


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


class Matcher:
    """The third party: it decrypts distances, and tells matches and nothing else.

    Args:
        plan: what all agree on.
        secret: its `hesc.SecretKey`, of `hesc.keygen(plan.params())`.

    """

    def __init__(self, plan: LinkagePlan, secret: SecretKey) -> None:
        self.plan = of_kind(plan, "plan", LinkagePlan, "LinkagePlan(sent, compared)")
        self._secret = secret
        self._nearest = MutualNearest(plan.sent)

    def read(self, answer: bytes) -> None:
        """An answer of the comparer's, in the order in which they were made.

        Raises:
            WireError: what is no answer of this linkage; more records than the plan has.
            DecryptionError, KeyMismatchError: what does not decrypt.

        """
        first, data = numbers_of(answer)
        if first != self._nearest.rows:
            raise WireError(
                f"an answer from record {first} on, where that from {self._nearest.rows} on comes "
                "next: read each once, in the order in which they were made"
            )
        distances = EncryptedDistances.from_bytes(self._secret.params, data)
        codes, records = distances.shape
        if records != self.plan.sent or self._nearest.rows + codes > self.plan.compared:
            raise WireError(
                f"an answer of {codes} by {records} distances after {self._nearest.rows} is not of "
                f"a plan of {self.plan.compared} by {self.plan.sent}: it is of another linkage"
            )
        self._nearest.add(_native.decrypt_distances(self._secret.native, distances))

    def matches(self, threshold: int) -> NDArray[np.int64]:
        """Pairs of positions, the sender's and the comparer's, up to this distance.

        Each is the other's nearest. Positions are those of the orders that only the parties know.

        Raises:
            ShapeError: answers are missing.

        """
        most = whole(threshold, "threshold", 0, self.plan.bits)
        if self._nearest.rows != self.plan.compared:
            raise ShapeError(
                f"distances of {self._nearest.rows} of {self.plan.compared} records were read; "
                f"read every answer first"
            )
        pairs, distances = self._nearest.pairs()
        return pairs[distances <= most]


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
    both = [pairs_of(pairs, "pairs") for pairs in (found, true)]
    sets = [set(map(tuple, pairs.tolist())) for pairs in both]
    if not sets[1]:
        raise ShapeError("without a true pair there is nothing to find")
    right = len(sets[0] & sets[1])
    precision = right / len(sets[0]) if sets[0] else 0.0
    recall = right / len(sets[1])
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
    scores = [quality(found[distances <= most], pairs) for most in range(64 * left.shape[1] + 1)]
    best = max(score.f1 for score in scores)
    # The first run of the best: beyond it nothing is gained, and far pairs are none.
    first = next(at for at, score in enumerate(scores) if score.f1 == best)
    last = first
    while last + 1 < len(scores) and scores[last + 1].f1 == best:
        last += 1
    # A run that goes on to the longest distance has no upper end that says anything.
    middle = first if last + 1 == len(scores) else (first + last) // 2
    return Threshold(middle, scores[middle])
