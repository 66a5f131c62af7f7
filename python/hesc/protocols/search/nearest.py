"""What follows from scores of all records: the nearest, and what they vote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hesc._native import DecryptionError
from hesc._support.inputs import whole
from hesc.protocols.search import voting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.protocols.search.plan import SearchPlan


class Best(NamedTuple):
    """The nearest records to each query, a row for each, the nearest first."""

    indices: NDArray[np.intp]
    """Places of the records."""
    scores: NDArray[np.float64]
    """Scores or distances of these."""


class SearchResult(NamedTuple):
    """What an answer says, for the client's eyes: whoever it is shown to learns of the key."""

    predictions: NDArray[Any]
    """The place of the nearest record of each query; where records vote, a class."""
    scores: NDArray[np.float64]
    """A row for each query and a column for each record: scores, or distances; where records vote,
    shares of votes, of two classes that of the second less a half."""
    values: NDArray[np.float64]
    """Scores or distances of all records, whether they vote or not."""
    indices: NDArray[np.intp]
    """The records that voted, the nearest first; of a search the nearest one."""
    distances: NDArray[np.float64]
    """Theirs; of cosines one less the cosine where they vote, else their scores."""
    error: float | None
    """The root mean square of a score's error as the plan states it; None where nothing errs."""
    least: bool
    """Whether less is nearer."""

    def best(self, count: int) -> Best:
        """So many nearest records of each query; of equal ones the first is nearer.

        Raises:
            OutOfRangeError: more than there are, or none.

        """
        most = whole(count, "count", 1, self.values.shape[1])
        return self.best_or_all(most)

    def best_or_all(self, count: int) -> Best:
        """So many nearest records of each query, or all where there are fewer.

        Raises:
            OutOfRangeError: none.

        """
        most = min(whole(count, "count", 1), self.values.shape[1])
        indices = best_of(self.values, most, least=self.least)
        return Best(indices, np.take_along_axis(self.values, indices, axis=1))


def concluded(plan: SearchPlan, values: NDArray[np.float64]) -> SearchResult:
    """What follows from scores or distances.

    Args:
        plan: of the search.
        values: a row for each query, a column for each record.

    Raises:
        DecryptionError: distances that no records have.

    """
    if not np.isfinite(values).all():
        raise DecryptionError(
            "no records have such distances: the answer is altered. Tell nobody who made it"
        )
    least = plan.nearest_first
    indices = best_of(values, plan.neighbours or 1, least=least)
    distances = np.take_along_axis(values, indices, axis=1)
    if plan.labels is None or plan.classes is None:
        return SearchResult(indices[:, 0], values, values, indices, distances, plan.error, least)
    if plan.metric == "cosine":
        distances = np.maximum(1 - distances, 0.0)
    votes = voting.shares(
        indices,
        distances,
        labels=plan.labels,
        classes=len(plan.classes),
        weights=plan.weights,
    )
    predictions = voting.predicted(votes, plan.classes)
    return SearchResult(
        predictions, voting.scores_of(votes), values, indices, distances, plan.error, least
    )


def best_of(values: NDArray[np.float64], count: int, *, least: bool) -> NDArray[np.intp]:
    """Places of the best of each row, the best first; of equal ones the first is better.

    Args:
        values: a row for each query.
        count: how many, no more than there are.
        least: whether less is better.

    """
    found = np.empty((len(values), count), dtype=np.intp)
    for row, own in enumerate(values):
        signed = own if least else -own
        last = np.partition(signed, count - 1)[count - 1]
        near = np.flatnonzero(signed <= last)
        found[row] = near[np.argsort(signed[near], kind="stable")[:count]]
    return found
