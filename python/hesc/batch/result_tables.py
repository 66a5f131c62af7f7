"""Columns of what answers say, for tables of Arrow and lines of CSV alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hesc.models.conclusions import INVERSES

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ResultColumn(NamedTuple):
    """A value for each sample."""

    name: str
    values: NDArray[Any]


def result_columns(plan: Any, found: Any, probabilities: Any | None) -> list[ResultColumn]:
    """Predictions, scores, their error and probabilities.

    Args:
        plan: of the model.
        found: what an answer says.
        probabilities: of all classes, where they are wished for.

    """
    columns: list[ResultColumn] = []
    labels = [] if plan.classes is None else [str(name) for name in plan.classes.tolist()]
    columns += _apart("prediction", found.predictions, [])
    apart = plan.classes is not None or plan.link in INVERSES
    if apart and found.scores is not None:
        columns += _apart("score", found.scores, labels)
    if found.error is not None:
        columns.append(ResultColumn("error", np.full(len(found.predictions), found.error)))
    if probabilities is not None:
        columns += _apart("probability", probabilities, labels)
    return columns


def _apart(what: str, values: Any, labels: list[str]) -> list[ResultColumn]:
    """A column for each of the values of a sample."""
    array = np.asarray(values)
    if array.ndim == 1:
        return [ResultColumn(what, array)]
    width = array.shape[1]
    ends = labels if len(labels) == width else [str(place) for place in range(width)]
    return [
        ResultColumn(f"{what} {end}", column) for end, column in zip(ends, array.T, strict=True)
    ]
