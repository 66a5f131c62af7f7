"""Pieces of a query, one from each party, and the query that they are together.

A piece is a message whose first part is a head of ten bytes, the party's place among the plan's and
the number of its first row; the others are the party's ciphertexts, in the order of the features
that it has. A query has a ciphertext for each of all features, in the plan's order.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc._native import ParameterError, ShapeError, WireError
from hesc._support.inputs import whole
from hesc.protocols.message import NAME_BYTES, NO_QUERY, Kind, Message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hesc.protocols.owners.plan import OwnersPlan

_HEAD: Final = struct.Struct("<HQ")
_FIRST: Final = 1 << 50
"""Numbers of rows of a table."""


class Piece(NamedTuple):
    """One party's encrypted columns."""

    party: str
    """Whose."""
    rows: int
    """How many samples."""
    first: int
    """The number of the first of them in the party's table."""
    columns: list[bytes]
    """Ciphertexts, in the order of the plan's features."""


def write(plan: OwnersPlan, piece: Piece) -> bytes:
    """A piece as bytes."""
    head = _HEAD.pack(list(plan.parties).index(piece.party), piece.first)
    parts = (head, *piece.columns)
    return Message(Kind.PIECE, plan.digest[:NAME_BYTES], piece.rows, parts).to_bytes()


def read(plan: OwnersPlan, data: bytes) -> Piece:
    """A piece from bytes; its ciphertexts are not looked at.

    Raises:
        WireError: damaged bytes, another plan's piece, or no piece.

    """
    found = plan.opened(data, Kind.PIECE)
    if found.query != NO_QUERY:
        raise WireError("a party's piece of a query names another query, which only answers do")
    head, *columns = found.parts
    if len(head) != _HEAD.size:
        raise WireError("a party's piece does not begin with whose it is")
    place, first = _HEAD.unpack(head)
    names = list(plan.parties)
    if place >= len(names):
        raise WireError("a party's piece is of a party that the plan does not have")
    if first >= _FIRST:
        raise WireError("a party's piece begins with a row that no table has")
    if len(columns) != len(plan.side(names[place]).features):
        raise WireError("a party's piece has another number of columns than its plan says")
    return Piece(names[place], found.samples, first, columns)


def matched(plan: OwnersPlan, data: Sequence[bytes]) -> dict[str, Piece]:
    """The pieces of all parties, of the same rows, by party.

    Raises:
        WireError: damaged pieces, or another plan's.
        ParameterError: a party's piece is missing, or there twice.
        ShapeError: pieces of other rows than the others.

    """
    if not isinstance(data, list | tuple) or len(data) > len(plan.parties):
        raise ParameterError(
            f"a query has one piece of each party, {len(plan.parties)} in all; give a list of them"
        )
    found: dict[str, Piece] = {}
    for piece in (read(plan, each) for each in data):
        if piece.party in found:
            raise ParameterError(f"party {piece.party!r} sent two pieces of one query; give one")
        found[piece.party] = piece
    missing = [name for name in plan.parties if name not in found]
    if missing:
        raise ParameterError(f"the pieces of {', '.join(map(repr, missing))} are missing")
    if len({(piece.rows, piece.first) for piece in found.values()}) > 1:
        said = ", ".join(
            f"{name!r} {piece.rows} from row {piece.first}" for name, piece in found.items()
        )
        raise ShapeError(
            f"rows of parties are matched by position, and these are of different ones: {said}"
        )
    return found


def joined(plan: OwnersPlan, data: Sequence[bytes], *, first: int | None = None) -> bytes:
    """A query for the server, of the pieces of all parties in any order.

    Args:
        plan: what all agree on.
        data: the pieces.
        first: the number that their first row has to have, where that is known.

    Raises:
        WireError, ParameterError, ShapeError: as `matched`; another first row.

    """
    found = matched(plan, data)
    one = next(iter(found.values()))
    if first not in (None, one.first):
        raise ShapeError(
            f"the pieces begin at row {one.first}, where row {first} comes next: some of all "
            f"parties' rows are missing, or in another order; get the files again"
        )
    parts = in_order(plan, {name: piece.columns for name, piece in found.items()})
    return Message(Kind.QUERY, plan.digest[:NAME_BYTES], one.rows, tuple(parts)).to_bytes()


def in_order(plan: OwnersPlan, found: Mapping[str, Sequence[bytes]]) -> list[bytes]:
    """The ciphertexts of all parties in the order of the plan's features."""
    columns = [b""] * plan.shape[1]
    for name, own in found.items():
        for place, column in zip(plan.side(name).features, own, strict=True):
            columns[place] = column
    return columns


def checked_first(first: Any) -> int:
    """The number of a table's row."""
    return whole(first, "first", 0, _FIRST - 1)
