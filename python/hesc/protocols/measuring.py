"""A run of a plan on encrypted samples beside the model in the clear, as the report tells it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._native import OutOfRangeError
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.tables.forms import Rows
    from hesc.protocols.client import ModelClient
    from hesc.protocols.server import Server


SAMPLE: Final = 256
"""Rows that the report's run encrypts, at most, unless told otherwise."""


class MeasuredRun(NamedTuple):
    """What came out. Nothing in it says what a sample, a score or a weight was."""

    samples: int
    """How many were run."""
    beyond: int
    """How many were left out, since they are beyond the declared ranges."""
    same: int | None
    """Samples whose class is that in the clear; None of regressors."""
    errors: NDArray[np.float64] | None
    """Errors of all scores in units of the stated one, in an order that says nothing; None where
    nothing errs."""
    sizes: Sizes
    """Bytes up and down."""
    seconds: dict[str, float]
    """What encryption, evaluation and decryption took."""


def measure(
    client: ModelClient[Any],
    server: Server[Any],
    rows: Rows,
    scores: NDArray[np.float64],
    predictions: NDArray[Any],
) -> MeasuredRun | None:
    """Encrypts, evaluates and decrypts rows within their ranges; None where there are none.

    Args:
        client: with a key.
        server: of the same plan.
        rows: samples.
        scores: the clear model's, of these rows.
        predictions: the clear model's.

    """
    plan = server.plan
    inside = np.array([_is_inside(plan, rows[at : at + 1]) for at in range(len(rows))], dtype=bool)
    rows, scores, predictions = rows[inside], scores[inside], predictions[inside]
    if not len(rows):
        return None
    seconds = dict.fromkeys(("encrypt", "evaluate", "decrypt"), 0.0)
    up = down = 0
    found = []
    for first in range(0, len(rows), plan.rows):
        start = time.perf_counter()
        some = rows[first : first + plan.rows]
        query = client.encrypt(some).data
        encrypted = time.perf_counter()
        answer = server.answer(query)
        answered = time.perf_counter()
        found.append(client.decrypt(answer, query=query))
        decrypted = time.perf_counter()
        seconds["encrypt"] += encrypted - start
        seconds["evaluate"] += answered - encrypted
        seconds["decrypt"] += decrypted - answered
        up, down = up + len(query), down + len(answer)
    same = None
    if plan.classes is not None:
        same = int(sum((np.concatenate([r.predictions for r in found]) == predictions).tolist()))
    errors = None
    if plan.error:
        apart = np.concatenate([r.scores for r in found]) - scores.reshape(
            len(rows), *found[0].scores.shape[1:]
        )
        # Sorted, so that no error belongs to a row.
        errors = np.sort(apart.reshape(-1)) / plan.error
    beyond = int((~inside).sum())
    return MeasuredRun(len(rows), beyond, same, errors, Sizes(up, down), seconds)


def _is_inside(plan: Any, row: Rows) -> bool:
    try:
        plan.prepared(row)
    except OutOfRangeError:
        return False
    return True


def spread_out(rows: Rows, most: int) -> Rows:
    """Rows at even distances, so many at most; a copy."""
    places = np.unique(np.linspace(0, len(rows) - 1, most).astype(np.intp))
    return rows[places].copy()
