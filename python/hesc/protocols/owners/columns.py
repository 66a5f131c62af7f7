"""Which columns are whose, and transforms that work on columns one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._native import ParameterError, WireError
from hesc._support import documents
from hesc._support.inputs import whole
from hesc.models.transforms import Bins, PerFeature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.transforms import Transform

    Columns = dict[str, list[int]]

_REMEDY = (
    "parties= names two or more owners of columns, such as {'bank': ['income', 'debt'], 'clinic': "
    "[2, 3]}: each column once, by its name or number"
)


def resolved(parties: object, names: list[str], inputs: int) -> Columns:
    """Columns of each party by number, as the options name them.

    Args:
        parties: lists of names or numbers of columns, by party.
        names: of all columns, or none.
        inputs: how many there are.

    Raises:
        ParameterError: fewer than two parties, columns that are missing, twice, or not there.

    """
    if not isinstance(parties, Mapping):
        raise ParameterError(_REMEDY)
    found: Columns = {}
    for party, columns in parties.items():
        if isinstance(columns, str) or not isinstance(columns, Sequence | np.ndarray):
            raise ParameterError(_REMEDY)
        found[party] = [_place(column, names, inputs) for column in columns]
    problem = _problem(found, inputs)
    if problem:
        raise ParameterError(f"{problem}: {_REMEDY}")
    return found


def _place(column: object, names: list[str], inputs: int) -> int:
    if not isinstance(column, str):
        return whole(column, "a column of parties=", 0, inputs - 1)
    if column not in names:
        raise ParameterError(
            f"parties= names a column {column[:80]!r} that the model has not; it has "
            + (
                f"{', '.join(map(repr, names[:8]))}"
                if names
                else "no names: give numbers, or names="
            )
        )
    return names.index(column)


def _problem(parties: Columns, inputs: int) -> str:
    """What is wrong with the columns of parties; empty where nothing is."""
    if len(parties) < 2 or not all(documents.is_name(name) and name.strip() for name in parties):
        return "parties are two or more, with names of printable letters"
    if not all(parties.values()):
        return "a party has no column"
    columns = sorted(column for own in parties.values() for column in own)
    if len(set(columns)) < len(columns):
        return "a column is there twice"
    return "" if columns == list(range(inputs)) else "a column has no owner, or is not there"


def described(parties: Columns) -> list[dict[str, Any]]:
    """Parties for a document."""
    return [{"name": name, "columns": columns} for name, columns in parties.items()]


def read(value: object, inputs: int) -> Columns:
    """Parties from a document.

    Raises:
        WireError: others than a plan has.

    """
    if not isinstance(value, list) or len(value) > inputs:
        raise WireError("the parties of a plan are a list, no longer than its features")
    found: Columns = {}
    for item in value:
        given = documents.exactly(item, {"name", "columns"}, "party of a plan")
        name, columns = given["name"], given["columns"]
        numbers = isinstance(columns, list) and all(type(x) is int for x in columns)
        if not isinstance(name, str) or name in found or not numbers:
            raise WireError("a party of a plan has a name of its own and numbers of columns")
        found[name] = columns
    problem = _problem(found, inputs)
    if problem:
        raise WireError(f"the parties of a plan of hesc.ml: {problem}")
    return found


def restricted(steps: list[Transform], own: list[int]) -> tuple[list[Transform], list[int]]:
    """What one party does with its columns, and which features of all come out of it.

    Args:
        steps: the plan's transforms.
        own: the party's columns.

    Raises:
        ParameterError: a transform that mixes columns.

    """
    found: list[Transform] = []
    columns = np.array(own, dtype=np.intp)
    for step in steps:
        match step:
            case PerFeature():
                found.append(step.of(columns))
            case Bins() if not (step.features[:, 1] >= 0).any():
                part, columns = _own_bins(step, columns)
                found.append(part)
            case _:
                raise ParameterError(
                    f"the model's transforms mix columns ({step.name}), which several parties "
                    f"cannot compute apart: take a model on the columns themselves, behind "
                    f"scalers, or trees in public bins of single features"
                )
    return found, columns.tolist()


def _own_bins(step: Bins, columns: Any) -> tuple[Bins, Any]:
    """Bins of some columns, numbered among these, and where their ones stand among all."""
    counts, feature = step.counts[:, 0].astype(np.intp), step.features[:, 0].astype(np.intp)
    own = np.flatnonzero(np.isin(feature, columns))
    places = np.empty(step.inputs)
    places[columns] = np.arange(len(columns))
    part = Bins(
        len(columns),
        np.column_stack([places[feature[own]], np.full(len(own), -1.0)]),
        step.counts[own],
        step.edges[_runs(counts, own)],
    )
    return part, _runs(counts + 1, own)


def _runs(lengths: NDArray[np.intp], chosen: NDArray[np.intp]) -> NDArray[np.intp]:
    """Places of chosen runs among all that lie one behind the other, of these lengths."""
    starts = np.cumsum(lengths) - lengths
    runs = [np.arange(starts[at], starts[at] + lengths[at]) for at in chosen]
    return np.concatenate([np.zeros(0, dtype=np.intp), *runs])
