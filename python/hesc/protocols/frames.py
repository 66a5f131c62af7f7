"""Ciphertexts and keys in one message: a head, a checksum, then each part behind its length.

Their bytes are too many for a document's text. What a part means is its reader's to check; the
checksum is against damage to parts that have none, such as a number of rows, and against nobody who
means it.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final
from zlib import crc32

from hesc._native import WireError

if TYPE_CHECKING:
    from collections.abc import Sequence

_LENGTH: Final = 8
_SUM: Final = 4
LARGEST: Final = 1 << 30
"""Bytes of a message."""


def join(kind: str, parts: Sequence[bytes]) -> bytes:
    """A message of some kind."""
    lengths = [len(part).to_bytes(_LENGTH, "little") for part in parts]
    body = [piece for pair in zip(lengths, parts, strict=True) for piece in pair]
    check = reduce(lambda check, piece: crc32(piece, check), body, 0)
    return b"".join([_head(kind), check.to_bytes(_SUM, "little"), *body])


def split(data: bytes, kind: str, count: int) -> list[bytes]:
    """The parts of a message, which are so many.

    Raises:
        WireError: damaged bytes, another kind, more or fewer parts.

    """
    if not isinstance(data, bytes) or len(data) > LARGEST:
        raise WireError(f"a {kind} of hesc.ml is bytes, up to {LARGEST} of them")
    head = _head(kind)
    if not data.startswith(head):
        raise WireError(f"this is no {kind} of hesc.ml, version 2; check what was sent")
    at = len(head) + _SUM
    if crc32(memoryview(data)[at:]) != int.from_bytes(data[len(head) : at], "little"):
        raise WireError(f"a {kind} of hesc.ml is damaged; get it again")
    parts: list[bytes] = []
    while at < len(data) and len(parts) < count:
        size = int.from_bytes(data[at : at + _LENGTH], "little")
        at += _LENGTH
        if size > len(data) - at:
            raise WireError(f"a {kind} of hesc.ml ends before its parts do")
        parts.append(data[at : at + size])
        at += size
    if at != len(data) or len(parts) != count:
        raise WireError(f"a {kind} of hesc.ml has {count} parts here, and these are others")
    return parts


def _head(kind: str) -> bytes:
    return f"hesc.ml {kind} 2\n".encode()
