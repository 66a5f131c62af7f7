"""What fitted imputers and indicators of missing cells do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._native import ParameterError
from hesc._support import documents
from hesc.models.tables.table_steps import Branch, Branches, Fill, IsMissing

if TYPE_CHECKING:
    from hesc.models.tables.table_steps import Cell, TableStep


def imputer(part: Any) -> list[TableStep]:
    """What a fitted `SimpleImputer` does."""
    values = [_plain(value) for value in part.statistics_.tolist()]
    kept = [
        place
        for place, value in enumerate(values)
        if part.keep_empty_features or not (isinstance(value, float) and np.isnan(value))
    ]
    marker = marker_of(part)
    if not kept:
        raise ParameterError(
            "SimpleImputer has no value for any of its columns, which are all empty in the "
            "training data: leave them out"
        )
    fill = Fill(tuple(_filler(values[place]) for place in kept), marker)
    branches = [Branch(tuple(kept), (fill,))]
    flagged = part.indicator_.features_ if part.add_indicator else ()
    if len(flagged):
        places = tuple(int(place) for place in flagged)
        branches.append(Branch(places, (IsMissing(len(places), marker),)))
    if len(kept) == len(values) and len(branches) == 1:
        return [fill]
    return [Branches(len(values), tuple(branches))]


def indicator(part: Any) -> list[TableStep]:
    """What a fitted `MissingIndicator` does."""
    places = tuple(int(place) for place in part.features_)
    if part.error_on_new and len(places) < part.n_features_in_:
        raise ParameterError(
            "MissingIndicator refuses missing cells of columns that had none where it was fitted, "
            "and clients do not: write error_on_new=False, or SimpleImputer(add_indicator=True)"
        )
    if not places:
        raise ParameterError(
            "MissingIndicator met no missing cell, so that it gives nothing: leave it out, or "
            "write features='all'"
        )
    return [
        Branches(part.n_features_in_, (Branch(places, (IsMissing(len(places), marker_of(part)),)),))
    ]


def marker_of(part: Any) -> Cell:
    """What stands for a missing cell; None where that is a cell without a value."""
    value = _plain(part.missing_values)
    return None if is_missing(value) else _filler(value)


def is_missing(value: Any) -> bool:
    """Whether a value of scikit-learn's lists stands for a cell without one."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _filler(value: Any) -> float | str:
    if isinstance(value, str) and documents.is_name(value):
        return value
    if isinstance(value, bool | int | float) and np.isfinite(value):
        return float(value)
    raise ParameterError(
        "what stands for missing cells is a finite number, or a text of printable letters"
    )
