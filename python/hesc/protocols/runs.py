"""Samples through a plan, simulated or encrypted, both parties in one process."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hesc._native import OutOfRangeError
from hesc._support.progress import Bar, duration
from hesc.models import transforms
from hesc.models.samples import Clipped
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from hesc.models.tables.forms import Rows
    from hesc.protocols.client import ModelClient
    from hesc.protocols.server import Server

    Progress = bool | Callable[[int, int], object]

_FEATURES = 1 << 27
"""Features of samples that are in memory at once, of one query at least."""
_LONG = 60.0
"""Seconds of a run that nobody should begin without knowing."""


class Run(NamedTuple):
    """What came out of it."""

    predictions: NDArray[Any]
    """Classes, or a regressor's numbers."""
    scores: Any
    """Scores as `decision_function` has them; None where the client learns classes alone."""
    error: Any
    """The root mean square of a score's error that the plan states, at most; None where nothing
    errs."""
    sizes: Sizes
    """Bytes up and down; predicted where it was simulated."""
    clipped: int
    """Values that were brought within their ranges."""
    clipped_samples: int
    """Samples that had such values."""


def _warn_of_long_runs(plan: Any, samples: int) -> None:
    """Says that a run takes minutes or hours, where its plan knows, before it begins."""
    seconds = plan.seconds
    queries = -(-samples // plan.rows)
    if seconds is not None and queries > 1 and queries * seconds >= _LONG:
        warnings.warn(
            f"{samples} samples take about {duration(queries * seconds)} on one thread, in "
            f"{queries} queries one after the other. plan(X, Classes(batch={samples})) plans for "
            f"as many together, and may find what takes less",
            stacklevel=4,
        )


def prepared(
    plan: Any, samples: Rows, *, clip: bool, at_once: int = _FEATURES
) -> Iterator[Clipped]:
    """Samples as they are encrypted: all at once, unless they become very many features.

    Args:
        plan: whose samples they are.
        samples: a row of cells for each.
        clip: as `plan.prepared` has it.
        at_once: features in memory at once, those of one query at least.

    Raises:
        OutOfRangeError: as the plan's `prepared`; what was before a sample is encrypted by then
            only where memory does not hold all features.

    """
    width = transforms.width(plan.steps, plan.inputs)
    queries = max(1, at_once // (width * plan.rows))
    count = plan.rows * queries
    # No sample at all is refused as one that cannot be read.
    for first in range(0, max(1, len(samples)), count):
        try:
            yield plan.prepared(samples[first : first + count], clip=clip)
        except OutOfRangeError as error:
            if not first:
                raise
            raise OutOfRangeError(f"{error} (samples counted from {first})") from error


def all_of(parts: list[Clipped]) -> Clipped:
    """What was clipped in all parts; without features."""
    which = np.concatenate([part.which for part in parts])
    return Clipped(np.empty((0, 0)), sum(part.values for part in parts), which)


class Session:
    """A client and a server of one plan, of any protocol, whose keys stay."""

    def __init__(self, client: ModelClient[Any], server: Server[Any]) -> None:
        self._client, self._server = client, server

    def run(self, samples: Rows, *, clip: bool, progress: Progress) -> Any:
        """Samples encrypted, evaluated and decrypted."""
        plan = self._client.plan
        _warn_of_long_runs(plan, len(samples))
        up = down = done = 0
        found, parts = [], []
        with Bar("samples scored", progress) as bar:
            for ready in prepared(plan, samples, clip=clip):
                parts.append(ready._replace(features=np.empty((0, 0))))
                for first in range(0, len(ready.features), plan.rows):
                    rows = ready.features[first : first + plan.rows]
                    query = self._client.encrypted(rows)
                    answer = self._server.answer(query)
                    found.append(self._client.decrypt(answer, query=query))
                    up, down, done = up + len(query), down + len(answer), done + len(rows)
                    bar.show(done, len(samples))
        return self._together(found, Sizes(up, down), all_of(parts))

    def _together(self, found: list[Any], sizes: Sizes, ready: Clipped) -> Any:
        """What the results of all queries are together."""
        error = self._client.plan.error
        predictions = np.concatenate([result.predictions for result in found])
        scores = None
        if found[0].scores is not None:
            scores = np.concatenate([result.scores for result in found])
        return Run(predictions, scores, error, sizes, ready.values, ready.samples)
