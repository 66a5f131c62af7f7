"""Messages of any length as files: a label, batches with lengths and checksums, their number.

Batches are written and read one at a time, so that neither side needs memory for all of them. The
number at the end tells a whole file from one that was cut between batches. Checksums are against
damage, not against who means it: parts of a batch have no other.
"""

from __future__ import annotations

import os
import stat
import struct
from typing import IO, TYPE_CHECKING, Final
from zlib import crc32

from hesc._native import WireError
from hesc.streams.networks.messages import LABEL_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hesc.streams.networks.messages import Message

_NUMBER: Final = struct.Struct("<Q")
_HEAD: Final = struct.Struct("<QI")
"""A batch's length and checksum."""
LONGEST: Final = 1 << 30
"""Bytes of a batch: those of the largest ciphertexts have fewer."""


class BatchWriter:
    """Writes the batches of a message; `finish` makes the file complete."""

    def __init__(self, file: IO[bytes], message: Message) -> None:
        self._file = file
        self._batches = 0
        file.write(message.label)

    def write(self, batch: bytes) -> None:
        """Appends a batch, whose wire form is not empty."""
        self._file.write(_HEAD.pack(len(batch), crc32(batch)))
        self._file.write(batch)
        self._batches += 1

    def finish(self) -> None:
        """Writes the end. Nothing follows it."""
        self._file.write(_HEAD.pack(0, 0) + _NUMBER.pack(self._batches))


def read_batches(file: IO[bytes], message: Message, *, longest: int = LONGEST) -> Iterator[bytes]:
    """The batches of a message, one after the other; strict.

    Lengths are checked before anything is read for them.

    Args:
        file: with a name, which errors begin with.
        message: what it has to be.
        longest: bytes of a batch, at most.

    Raises:
        WireError: another message, or a file that is damaged, cut or goes on after its end.

    """
    try:
        yield from _batches(file, message, min(longest, LONGEST))
    except WireError as error:
        raise WireError(f"{file.name}: {error}") from error


def _batches(file: IO[bytes], message: Message, longest: int) -> Iterator[bytes]:
    message.check(file.read(LABEL_BYTES))
    batches = 0
    while True:
        length, check = _HEAD.unpack(_exactly(file, _HEAD.size))
        if not length:
            break
        if length > min(longest, _left(file)):
            raise WireError(
                f"batch {batches + 1} is damaged, cut off, or longer than one ever is here; get "
                f"the file again"
            )
        batch = _exactly(file, length)
        if crc32(batch) != check:
            raise WireError(
                f"batch {batches + 1} is damaged, or of an earlier version; get the file again"
            )
        yield batch
        batches += 1
    if check or _NUMBER.unpack(_exactly(file, _NUMBER.size))[0] != batches or file.read(1):
        raise WireError(f"the file does not end after {batches} batches as it says; get it again")
    if not batches:
        raise WireError("the file holds no batch")


def _exactly(file: IO[bytes], length: int) -> bytes:
    data = file.read(length)
    if len(data) < length:
        raise WireError("the file is damaged or cut off; get it again")
    return data


def _left(file: IO[bytes]) -> int:
    """Bytes that follow, where a file has a length."""
    status = os.fstat(file.fileno())
    return status.st_size - file.tell() if stat.S_ISREG(status.st_mode) else LONGEST
