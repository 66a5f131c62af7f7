"""What fitted encoders of categories do: codes, ones and tables of targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hesc._native import ParameterError
from hesc._support import documents
from hesc.models.steps.missing import is_missing
from hesc.models.tables.table_steps import MISSING, Branch, Branches, Coded, Codes, Lookup, OneHot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hesc.models.tables.table_steps import TableStep

_NOWHERE = -1.0
"""A code of no place: zeros alone."""
_EXACT = 2**53
"""Whole numbers that doubles hold."""


class _Column(NamedTuple):
    """The categories of a column, those that are values and that which is none."""

    values: list[Any]
    """Python's texts and numbers, or a missing one."""
    places: list[int]
    """Places of those that are values."""
    missing: int | None
    """The place of the missing one."""

    def coded(
        self,
        codes: Sequence[float],
        *,
        unknown: float | str | None,
        missing: float | str | None,
    ) -> Coded:
        """The categories with their codes, of which there is one for each place."""
        kept = [self.values[place] for place in self.places]
        found = np.array([codes[place] for place in self.places], dtype=np.float64)
        return Coded(tuple(kept), found, unknown, missing)


def one_hot(part: Any) -> list[TableStep]:
    """What a fitted `OneHotEncoder` does."""
    rare = getattr(part, "infrequent_categories_", None)
    dropped: Any = [None] * len(part.categories_) if part.drop_idx_ is None else part.drop_idx_
    columns, sizes = [], []
    for place, column in enumerate(_columns(part)):
        groups, frequent = _grouped(column, None if rare is None else rare[place])
        drop = None if dropped[place] is None else groups[int(dropped[place])]
        size = max(groups) + 1 - (drop is not None)
        codes = [_without(group, drop) for group in groups]
        # A category that nobody met is one of the rare ones, where such are a group.
        others = _without(frequent, drop) if frequent <= max(groups) else _NOWHERE
        unknown = {"error": None, "ignore": _NOWHERE}.get(part.handle_unknown, others)
        missing = unknown if column.missing is None else codes[column.missing]
        columns.append(column.coded(codes, unknown=unknown, missing=missing))
        sizes.append(size)
    return _with_places(Codes(tuple(columns)), sizes)


def own_codes(model: Any) -> list[TableStep]:
    """What a fitted model of histograms does with a table whose categories it encodes itself.

    Columns of categories come first. What is not known has a code of no category, and so has what
    is missing, since the model sends both the same way.
    """
    encoder = model._preprocessor.named_transformers_["encoder"]  # noqa: SLF001 - no public name
    columns = []
    for column in _columns(encoder):
        codes = [float(code) for code in range(len(column.values))]
        # None is a category as others are, and NaN is none.
        gone = column.missing
        missing = _NOWHERE if gone is None or column.values[gone] is not None else codes[gone]
        columns.append(column.coded(codes, unknown=_NOWHERE, missing=missing))
    named, others = (
        tuple(np.flatnonzero(which).tolist())
        for which in (model.is_categorical_, ~model.is_categorical_)
    )
    branches = [Branch(named, (Codes(tuple(columns)),))]
    branches += [Branch(others, ())] * bool(others)
    return [Branches(model.n_features_in_, tuple(branches))]


def _with_places(codes: Codes, sizes: list[int]) -> list[TableStep]:
    """Codes and their ones; of a column with a single category and that dropped nothing is left."""
    kept = [place for place, size in enumerate(sizes) if size]
    if not kept:
        raise ParameterError(
            "OneHotEncoder drops the only category of each of its columns, so that nothing is "
            "left of them: leave these columns out, or write drop=None"
        )
    ones = OneHot(tuple(sizes[place] for place in kept))
    if len(kept) == len(sizes):
        return [codes, ones]
    return [codes, Branches(len(sizes), (Branch(tuple(kept), (ones,)),))]


def _without(group: int, drop: int | None) -> float:
    """The place of a group once another one is dropped."""
    if drop is None or group < drop:
        return float(group)
    return _NOWHERE if group == drop else float(group - 1)


def _grouped(column: _Column, rare: Any) -> tuple[list[int], int]:
    """The group of each category, and how many are frequent: rare ones are the group after them."""
    apart = set() if rare is None else {_key(value) for value in _values(rare)}
    groups, count = [], 0
    for value in column.values:
        is_rare = _key(value) in apart
        groups.append(-1 if is_rare else count)
        count += not is_rare
    return [count if group < 0 else group for group in groups], count


def _key(value: Any) -> Any:
    return MISSING, None if is_missing(value) else value


def ordinal(part: Any) -> list[TableStep]:
    """What a fitted `OrdinalEncoder` does."""
    rare = getattr(part, "infrequent_categories_", None)
    unknown = None if part.handle_unknown == "error" else _or_missing(part.unknown_value)
    columns = []
    for place, column in enumerate(_columns(part)):
        # NaN is the last category, and counts among no group; None is one as others are.
        apart = column.missing is not None and column.values[column.missing] is not None
        counted = column._replace(values=column.values[:-1]) if apart else column
        groups, _ = _grouped(counted, None if rare is None else rare[place])
        missing = unknown
        if column.missing is not None:
            missing = _or_missing(part.encoded_missing_value) if apart else groups[column.missing]
        columns.append(column.coded(groups, unknown=unknown, missing=missing))
    return [Codes(tuple(columns))]


def _or_missing(value: Any) -> float | str:
    return MISSING if is_missing(value) else float(value)


def targets(part: Any) -> list[TableStep]:
    """What a fitted `TargetEncoder` does to rows that it was not fitted to."""
    several = len(part.classes_) if part.target_type_ == "multiclass" else 1
    means = np.atleast_1d(np.asarray(part.target_mean_, dtype=np.float64))
    columns, tables = [], []
    for place, column in enumerate(_columns(part)):
        own = part.encodings_[several * place : several * (place + 1)]
        table = np.column_stack([np.asarray(each, dtype=np.float64) for each in own])
        tables.append(np.vstack([table, means]))
        unknown = float(len(table))
        missing = unknown if column.missing is None else float(column.missing)
        codes = list(range(len(table)))
        columns.append(column.coded(codes, unknown=unknown, missing=missing))
    return [Codes(tuple(columns)), Lookup(tuple(tables))]


def _columns(part: Any) -> list[_Column]:
    names = getattr(part, "feature_names_in_", None)
    found = []
    for place, categories in enumerate(part.categories_):
        values = _values(categories)
        gone = [at for at, value in enumerate(values) if is_missing(value)]
        kept = [at for at, value in enumerate(values) if not is_missing(value)]
        called = f"column {place}" if names is None else f"column {str(names[place])[:80]!r}"
        if len(gone) > 1:
            raise ParameterError(
                f"{type(part).__name__}: {called} has None and NaN as two categories; a client has "
                f"one kind of missing cell: make them one, X.fillna(numpy.nan)"
            )
        _check(type(part).__name__, called, [values[at] for at in kept])
        for at in kept:
            if not isinstance(values[at], str):
                values[at] = float(values[at])
        found.append(_Column(values, kept, gone[0] if gone else None))
    return found


def _check(encoder: str, called: str, values: list[Any]) -> None:
    """Refuses categories that no plan holds.

    Raises:
        ParameterError: naming the column and no category.

    """
    texts = sum(isinstance(value, str) for value in values)
    if not values:
        raise ParameterError(
            f"{encoder}: {called} has no value in the training data; leave the column out"
        )
    if texts == len(values):
        if not all(documents.is_name(value) for value in values):
            raise ParameterError(
                f"{encoder}: {called} has a category that is longer than {documents.NAME} letters, "
                f"or has line feeds, tabs or control characters, which could forge what a plan "
                f"prints: clean the column before the model is fitted (str.strip, str.replace)"
            )
        return
    numbers = [value for value in values if isinstance(value, bool | int | float)]
    exact = all(np.isfinite(value) and abs(value) <= _EXACT for value in numbers)
    if len(numbers) != len(values) or not exact:
        raise ParameterError(
            f"{encoder}: {called} has categories that are neither all texts nor all numbers that "
            f"doubles hold (dates, bytes, or a mixture): make them texts, X.astype(str)"
        )


def _values(categories: NDArray[Any]) -> list[Any]:
    """Categories as Python's own texts and numbers."""
    return [
        value.item() if isinstance(value, np.generic) else value
        for value in np.asarray(categories).tolist()
    ]
