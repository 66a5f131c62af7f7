"""Trailing scalers as parts of weights: what a client is not given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hesc.models.table_steps import Branches
from hesc.models.transforms import Scaler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hesc.models.transforms import Transform

    Array = NDArray[np.float64]


class Folded(NamedTuple):
    """Steps without scalers at their end, and weights that do what these did."""

    steps: list[Transform]
    weights: Array
    intercepts: Array


def folded(steps: Sequence[Transform], weights: Array, intercepts: Array) -> Folded:
    """Steps and a linear layer behind them that compute the same, with fewer steps.

    Args:
        steps: which a client computes. Scalers that end branches are folded, too.
        weights: a row for each output, a column for each feature after the steps.
        intercepts: one for each output.

    """
    left = list(steps)
    while left:
        last = left[-1]
        if isinstance(last, Scaler):
            left.pop()
            weights = weights * last.factor
            intercepts = intercepts - weights @ last.centre
        elif isinstance(last, Branches):
            left[-1], weights, intercepts = _of_branches(last, weights, intercepts)
            break
        else:
            break
    return Folded(left, weights, intercepts)


def _of_branches(
    step: Branches, weights: Array, intercepts: Array
) -> tuple[Branches, Array, Array]:
    ends = np.cumsum([branch.width for branch in step.branches])[:-1]
    branches, columns = [], []
    for branch, part in zip(step.branches, np.split(weights, ends, axis=1), strict=True):
        inner = folded(branch.steps, part, intercepts)
        branches.append(replace(branch, steps=tuple(inner.steps)))
        columns.append(inner.weights)
        intercepts = inner.intercepts
    return Branches(step.inputs, tuple(branches)), np.hstack(columns), intercepts
