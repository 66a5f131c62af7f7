"""Steps of tables in a plan's document, which `hesc._native.Steps` has checked."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._support import documents
from hesc.models.tables.table_steps import (
    Branch,
    Branches,
    Coded,
    Codes,
    Fill,
    Function,
    Hashed,
    IsMissing,
    Lookup,
    Normalise,
    OneHot,
    Power,
    Quantiles,
    TableStep,
    Tokens,
)

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS: Final[dict[str, type[TableStep]]] = {
    kind.name: kind
    for kind in (
        Branches,
        Codes,
        OneHot,
        Lookup,
        Fill,
        IsMissing,
        Function,
        Power,
        Quantiles,
        Normalise,
        Tokens,
    )
}
"""Steps of tables by name."""
_PARTS: Final[dict[str, type]] = {"branches": Branch, "columns": Coded, "hashed": Hashed}
"""What parts of steps are objects of, by the name of their field."""


def written(value: Any) -> Any:
    """A step, or part of one, for a document."""
    if isinstance(value, np.ndarray):
        return documents.packed(value)
    if isinstance(value, tuple | list):
        return [written(each) for each in value]
    if not is_dataclass(value):
        return value
    named = {"step": value.name} if hasattr(value, "name") else {}
    return named | {field.name: written(getattr(value, field.name)) for field in fields(value)}


def made(item: dict[str, Any], step: Callable[[dict[str, Any]], Any]) -> TableStep:
    """A step of `KINDS` from a document that was checked.

    Args:
        item: what JSON holds.
        step: makes a step of any kind, for those inside branches.

    """

    def part(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return tuple(part(name, each) for each in value)
        if not isinstance(value, dict):
            return value
        if "step" in value:
            return step(value)
        if "f8" in value:
            return documents.unpacked(value, len(value["shape"]), name)
        return _PARTS[name](**{inner: part(inner, each) for inner, each in value.items()})

    parts = {name: part(name, value) for name, value in item.items() if name != "step"}
    return KINDS[item["step"]](**parts)
