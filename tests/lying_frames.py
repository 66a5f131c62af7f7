"""Messages that were changed by someone who knows of their checksum."""

from __future__ import annotations

from zlib import crc32

from hesc.protocols.message import HEAD_BYTES

SUM = 4


def refitted(data: bytes) -> bytes:
    """The same message with a checksum that fits, as far as it is one."""
    if len(data) < HEAD_BYTES or not data.startswith(b"HSCM"):
        return data
    head, body = data[: HEAD_BYTES - SUM], data[HEAD_BYTES:]
    return head + crc32(body, crc32(head)).to_bytes(SUM, "little") + body
