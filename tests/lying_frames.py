"""Messages of `hesc.ml` that were changed by someone who knows of their checksums."""

from __future__ import annotations

import re
from zlib import crc32

HEAD = re.compile(rb"hesc\.ml [a-z ]+ 2\n")
SUM, LENGTH = 4, 8


def refitted(data: bytes) -> bytes:
    """The same message with checksums that fit, of messages within it too, as far as it is one."""
    head = HEAD.match(data)
    if head is None or len(data) < head.end() + SUM:
        return data
    body = data[head.end() + SUM :]
    parts, at = [], 0
    while at + LENGTH <= len(body):
        size = int.from_bytes(body[at : at + LENGTH], "little")
        parts += [body[at : at + LENGTH], refitted(body[at + LENGTH : at + LENGTH + size])]
        at += LENGTH + size
    body = b"".join([*parts, body[at:]])
    return data[: head.end()] + crc32(body).to_bytes(SUM, "little") + body
