"""What parties send and the server answers: a head that names plan and rows, then ciphertexts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Protocol

from hesc._native import ParameterError, ShapeError, WireError
from hesc._support import documents
from hesc._support.inputs import whole
from hesc.protocols import frames

if TYPE_CHECKING:
    from collections.abc import Sequence


PIECE: Final = "party piece"
QUERY: Final = "parties query"
ANSWER: Final = "parties answer"
_COLUMNS: Final = "columns"
_SCORES: Final = "score columns"
_FIRST: Final = 1 << 50
"""Numbers of rows of a table."""


class Agreed(Protocol):
    """What pieces are written and read by: `PartiesPlan` is one."""

    rows: ClassVar[int]

    @property
    def parties(self) -> dict[str, list[int]]:
        """Columns of each party, by its name."""

    @property
    def outputs(self) -> int:
        """Scores of a sample."""

    @property
    def costs(self) -> dict[str, int]:
        """Bytes of a "column" and of a "score"."""

    @property
    def digest(self) -> str:
        """The plan's digest, which pieces and answers carry."""

    def side(self, name: str) -> Any:
        """One party's part."""


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


def write(plan: Agreed, piece: Piece) -> bytes:
    """A piece as bytes."""
    head = {"plan": plan.digest, "party": piece.party, "rows": piece.rows, "first": piece.first}
    parts = [documents.write("piece head", head), frames.join(_COLUMNS, piece.columns)]
    return frames.join(PIECE, parts)


def read(plan: Agreed, data: bytes) -> Piece:
    """A piece from bytes; its ciphertexts are not looked at.

    Raises:
        WireError: damaged bytes, another plan's piece, or no piece.

    """
    head, body = frames.split(data, PIECE, 2)
    given = documents.read(head, "piece head", {"plan", "party", "rows", "first"})
    party = given["party"]
    if given["plan"] != plan.digest:
        raise WireError("a party's piece is for another plan than this one; check which it had")
    if not isinstance(party, str) or party not in plan.parties:
        raise WireError("a party's piece is of a party that the plan does not have")
    rows, first = given["rows"], given["first"]
    if type(rows) is not int or not 1 <= rows <= plan.rows:
        raise WireError(f"a party's piece has from 1 to {plan.rows} rows")
    if type(first) is not int or not 0 <= first < _FIRST:
        raise WireError("a party's piece says which row is its first, by a number from 0 on")
    count = len(plan.side(party).features)
    return Piece(party, rows, first, frames.split(body, _COLUMNS, count))


def matched(plan: Agreed, data: Sequence[bytes]) -> dict[str, Piece]:
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


def joined(plan: Agreed, data: Sequence[bytes], *, first: int | None = None) -> bytes:
    """A query for the server, of the pieces of all parties in any order.

    Args:
        plan: what all agree on.
        data: the pieces.
        first: the number that their first row has to have, where that is known.

    Raises:
        WireError, ParameterError, ShapeError: as `matched`; another first row.

    """
    found = matched(plan, data)
    there = next(iter(found.values())).first
    if first not in (None, there):
        raise ShapeError(
            f"the pieces begin at row {there}, where row {first} comes next: some of all parties' "
            f"rows are missing, or in another order; get the files again"
        )
    return frames.join(QUERY, [write(plan, found[name]) for name in plan.parties])


def split(plan: Agreed, query: bytes) -> list[bytes]:
    """The pieces of a query.

    Raises:
        WireError: damaged bytes, or no query.

    """
    return frames.split(query, QUERY, len(plan.parties))


def write_answer(plan: Agreed, rows: int, scores: list[bytes]) -> bytes:
    """An answer, of a ciphertext for each score."""
    head = documents.write("parties answer head", {"plan": plan.digest, "rows": rows})
    return frames.join(ANSWER, [head, frames.join(_SCORES, scores)])


def read_answer(plan: Agreed, data: bytes) -> tuple[int, list[bytes]]:
    """Rows of an answer and its ciphertexts.

    Raises:
        WireError: damaged bytes, another plan's answer, or none.

    """
    head, body = frames.split(data, ANSWER, 2)
    given = documents.read(head, "parties answer head", {"plan", "rows"})
    if given["plan"] != plan.digest:
        raise WireError("the answer is for another plan than this one; check what was sent")
    rows = given["rows"]
    if type(rows) is not int or not 1 <= rows <= plan.rows:
        raise WireError(f"an answer has from 1 to {plan.rows} rows")
    return rows, frames.split(body, _SCORES, plan.outputs)


def checked_first(first: Any) -> int:
    """The number of a table's row."""
    return whole(first, "first", 0, _FIRST - 1)


def joined_size(plan: Agreed, rows: int, first: int) -> int:
    """Bytes of a query."""
    size = len(frames.join(QUERY, [b""] * len(plan.parties)))
    for name in plan.parties:
        count = len(plan.side(name).features)
        size += len(write(plan, Piece(name, rows, first, [b""] * count)))
        size += plan.costs["column"] * count
    return size


def answer_size(plan: Agreed, rows: int) -> int:
    """Bytes of an answer."""
    return len(write_answer(plan, rows, [b""] * plan.outputs)) + plan.costs["score"] * plan.outputs
