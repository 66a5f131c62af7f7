"""Ciphertexts and keys in one message: a head, then each part behind its length.

Their bytes are too many for a document's text. What a part means is its reader's to check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hesc._native import WireError

if TYPE_CHECKING:
    from collections.abc import Sequence

_LENGTH: Final = 8
LARGEST: Final = 1 << 30
"""Bytes of a message."""


def join(kind: str, parts: Sequence[bytes]) -> bytes:
    """A message of some kind."""
    lengths = [len(part).to_bytes(_LENGTH, "little") for part in parts]
    body = [piece for pair in zip(lengths, parts, strict=True) for piece in pair]
    return b"".join([_head(kind), *body])


def split(data: bytes, kind: str, count: int) -> list[bytes]:
    """The parts of a message, which are so many.

    Raises:
        WireError: damaged bytes, another kind, more or fewer parts.

    """
    if not isinstance(data, bytes) or len(data) > LARGEST:
        raise WireError(f"a {kind} of hesc.ml is bytes, up to {LARGEST} of them")
    head = _head(kind)
    if not data.startswith(head):
        raise WireError(f"this is no {kind} of hesc.ml, version 1; check what was sent")
    parts, at = [], len(head)
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
    return f"hesc.ml {kind} 1\n".encode()
