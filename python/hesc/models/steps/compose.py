"""What fitted transformers do that take columns apart: tables, unions, selections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._native import ParameterError
from hesc.models.steps.walking import WORDS, parts_of
from hesc.models.tables.table_steps import Branch, Branches
from hesc.models.transforms import Affine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hesc.models.transforms import Transform

    Walk = Callable[[Any], list[Transform]]
    """What a fitted transformer does."""


def columns(part: Any, walk: Walk) -> list[Transform]:
    """What a fitted `ColumnTransformer` does."""
    # Columns as numbers, however they were named: scikit-learn has no other name for them.
    places = part._transformer_to_input_indices  # noqa: SLF001
    taken = [
        (name, inner, [int(place) for place in places[name]])
        for name, inner, _ in part.transformers_
    ]
    inputs = int(part.n_features_in_)
    return _together(inputs, taken, part.transformer_weights, walk)


def union(part: Any, inputs: int, walk: Walk) -> list[Transform]:
    """What a fitted `FeatureUnion` does."""
    taken = [(name, inner, list(range(inputs))) for name, inner in part.transformer_list]
    return _together(inputs, taken, part.transformer_weights, walk)


def _together(
    inputs: int,
    taken: Sequence[tuple[str, Any, list[int]]],
    weights: dict[str, float] | None,
    walk: Walk,
) -> list[Transform]:
    branches = []
    for name, inner, places in taken:
        if not places or (isinstance(inner, str) and inner == "drop"):
            continue
        known = isinstance(inner, str) and inner in WORDS
        steps = [] if known else [step for each in parts_of(inner) for step in walk(each)]
        branch = Branch(tuple(places), tuple(steps))
        if weights and name in weights:
            factor = np.full(branch.width, float(weights[name]))
            branch = Branch(branch.columns, (*steps, Affine(np.zeros(len(factor)), factor)))
        branches.append(branch)
    if not branches:
        raise ParameterError("no column is left before the model: nothing depends on the samples")
    return [Branches(inputs, tuple(branches))]


def selection(part: Any) -> list[Transform]:
    """What a fitted selector of features does."""
    mask = part.get_support()
    places = tuple(int(place) for place in np.flatnonzero(mask))
    if not places:
        raise ParameterError(
            f"{type(part).__name__} keeps no feature: nothing depends on the samples"
        )
    return [Branches(len(mask), (Branch(places, ()),))]
