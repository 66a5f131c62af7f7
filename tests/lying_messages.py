"""Messages that were changed by someone who knows of their checksums."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

import hesc
from hesc.protocols.message import HEAD_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

SUM = slice(HEAD_BYTES - 4, HEAD_BYTES)


def refitted(data: bytes) -> bytes:
    """The same bytes with a checksum that fits, as far as they are as long as a message."""
    if len(data) < HEAD_BYTES:
        return data
    check = crc32(data[HEAD_BYTES:], crc32(data[: SUM.start]))
    return data[: SUM.start] + check.to_bytes(4, "little") + data[HEAD_BYTES:]


def check_reader(data: bytes, read: Callable[[bytes], object], tries: int = 200) -> int:
    """Changed messages whose checksum fits raise errors of ours or are used; how many are refused.

    Heads are changed as often as ciphertexts, whose own checksums notice what is changed in them.
    """
    read(data)
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(tries):
        changed = bytearray(data)
        end = HEAD_BYTES + 8 if rng.integers(2) else len(data)
        for _ in range(rng.integers(1, 4)):
            changed[int(rng.integers(end))] = int(rng.integers(256))
        cut = int(rng.integers(len(data))) if not rng.integers(4) else len(data)
        try:
            read(refitted(bytes(changed[:cut])))
        except hesc.HescError:
            refused += 1
    return refused
