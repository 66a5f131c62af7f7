"""Documents with something else in any place, as somebody would send who knows their form."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import hesc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STRANGE: Final[list[Any]] = [
    None,
    True,
    -1,
    0,
    2**70,
    1e308,
    "",
    "x",
    "AAAA",
    [],
    {},
    [[]],
    ["a"],
    {"a": 1},
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where values lie in a document."""
    found = [path] if path else []
    if isinstance(value, dict):
        inside: list[tuple[Any, Any]] = list(value.items())
    else:
        inside = list(enumerate(value)) if isinstance(value, list) else []
    for name, item in inside:
        found += places(item, (*path, name))
    return found


def lies(data: bytes, most: int | None = None) -> Iterator[bytes]:
    """The document with each strange value in each place, or so many of these at most."""
    pairs = list(itertools.product(places(json.loads(data)), STRANGE))
    order = np.random.default_rng(1).permutation(len(pairs))
    for path, strange in (pairs[place] for place in order[:most]):
        document = json.loads(data)
        at = document
        for name in path[:-1]:
            at = at[name]
        at[path[-1]] = strange
        yield json.dumps(document, separators=(",", ":")).encode()


def check_reader(data: bytes, read: Callable[[bytes], Any], most: int | None = None) -> int:
    """Lies are refused with an error of ours, or read as what says the same again; how many are."""
    assert read(data).to_bytes() == data
    refused = 0
    for changed in lies(data, most):
        try:
            assert read(changed).to_bytes() == changed
        except hesc.HescError:
            refused += 1
    return refused
