"""Messages that were changed by someone who knows of their checksums."""

from __future__ import annotations

from zlib import crc32

from hesc.protocols.message import HEAD_BYTES

SUM = slice(HEAD_BYTES - 4, HEAD_BYTES)


def refitted(data: bytes) -> bytes:
    """The same bytes with a checksum that fits, as far as they are as long as a message."""
    if len(data) < HEAD_BYTES:
        return data
    check = crc32(data[HEAD_BYTES:], crc32(data[: SUM.start]))
    return data[: SUM.start] + check.to_bytes(4, "little") + data[HEAD_BYTES:]
