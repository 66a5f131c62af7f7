"""Messages of a linkage: the sender's codes, the comparer's distances, the matcher's matches.

A query has some of the sender's codes, a piece the distances of some of the comparer's to all of
the sender's. Both begin with a part of four bytes, the number of the first record that they are of,
and come in order. A query has one ciphertext behind it, and a piece one for each query. Pieces and
the answer name all queries together. The answer's only part has matches, which the matcher knows in
the clear: pairs of positions, the sender's and the comparer's, of four bytes each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hesc._native import ShapeError, WireError
from hesc._support.inputs import whole_array
from hesc.protocols.linkage.plan import FIRST
from hesc.protocols.message import NAME_BYTES, NO_QUERY, Kind, Message, name_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from hesc.protocols.linkage.plan import LinkagePlan


class Part(NamedTuple):
    """A query or a piece."""

    records: int
    """Records that it is of."""
    ciphertexts: tuple[bytes, ...]
    """What stands behind the number of the first record."""
    query: bytes
    """Name of all queries, in pieces."""


def write(
    plan: LinkagePlan, kind: Kind, first: int, ciphertexts: list[bytes], query: bytes = NO_QUERY
) -> bytes:
    """A query or a piece, from the record with this number on."""
    parts = (first.to_bytes(FIRST, "little"), *ciphertexts)
    count = plan.count(kind, first)
    return Message(kind, plan.digest[:NAME_BYTES], count, parts, query).to_bytes()


def read(plan: LinkagePlan, data: bytes, kind: Kind, first: int) -> Part:
    """The query or piece that comes next; its ciphertexts are not looked at.

    Raises:
        WireError: damaged bytes, another plan's, another than the next, or one whose ciphertexts
            have other lengths than the plan's.

    """
    found = plan.opened(data, kind)
    head, *ciphertexts = found.parts
    if head != first.to_bytes(FIRST, "little"):
        at = int.from_bytes(head[:FIRST], "little")
        raise WireError(
            f"{kind.description} from record {at} on, where that from {first} on comes next: read "
            f"each once, in the order in which they were made"
        )
    if found.samples != plan.count(kind, first):
        raise WireError(
            f"{kind.description} of {found.samples} records, where this plan has one of "
            f"{plan.count(kind, first)}: it is of another linkage"
        )
    if list(map(len, ciphertexts)) != plan.lengths(kind, first):
        raise WireError(f"{kind.description} has other lengths than its plan's: make it anew")
    return Part(found.samples, tuple(ciphertexts), found.query)


def named(queries: Iterable[bytes]) -> bytes:
    """Name of all queries of a linkage, of the name of each in their order."""
    return name_of(b"".join(queries))


def write_matches(plan: LinkagePlan, pairs: NDArray[np.int64], query: bytes) -> bytes:
    """The answer to all queries: matches, by the comparer's positions in order."""
    parts = (pairs.astype("<u4").tobytes(),)
    return Message(Kind.ANSWER, plan.digest[:NAME_BYTES], plan.sent, parts, query).to_bytes()


def read_matches(plan: LinkagePlan, data: bytes, queries: set[bytes]) -> NDArray[np.int64]:
    """Pairs of positions, of an answer to one of these queries.

    Raises:
        WireError: damaged bytes, another plan's or query's; positions that are not there, or twice.

    """
    found = plan.opened(data, Kind.ANSWER, 1)
    if found.query not in queries:
        raise WireError("these matches are of other queries; take those of this linkage")
    (body,) = found.parts
    if len(body) % 8 or found.samples != plan.sent:
        raise WireError("an answer of a linkage has pairs of positions; get it again")
    pairs = np.frombuffer(body, dtype="<u4").reshape(-1, 2).astype(np.int64)
    beyond = pairs >= [plan.sent, plan.compared]
    twice = len(np.unique(pairs[:, 0])) < len(pairs) or (np.diff(pairs[:, 1]) <= 0).any()
    if beyond.any() or twice:
        raise WireError(
            "matches name records that are not there, one twice, or not in order; get them again"
        )
    return pairs


def pairs_of(pairs: ArrayLike, name: str) -> NDArray[np.int64]:
    """Rows of two positions, or none.

    Raises:
        ShapeError: rows of another shape.

    """
    rows = whole_array(pairs, name)
    if not rows.size:
        return np.empty((0, 2), dtype=np.int64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ShapeError(f"{name} are rows of two positions; got shape {rows.shape}")
    return rows
