"""Messages of any length as files: a label, then batches with their lengths, then their number.

Batches are written and read one at a time, so that neither side needs memory for all of them. The
number at the end tells a whole file from one that was cut between batches.
"""

from __future__ import annotations

import os
import stat
import struct
from typing import IO, TYPE_CHECKING, Final

from hesc._native import WireError
from hesc.networks.messages import LABEL_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hesc.networks.messages import Message

_NUMBER: Final = struct.Struct("<Q")
# A batch of the largest ciphertexts stays below.
_LONGEST: Final = 1 << 30


class BatchWriter:
    """Writes the batches of a message; `finish` makes the file complete."""

    def __init__(self, file: IO[bytes], message: Message) -> None:
        self._file = file
        self._batches = 0
        file.write(message.label)

    def write(self, batch: bytes) -> None:
        """Appends a batch, whose wire form is not empty."""
        self._file.write(_NUMBER.pack(len(batch)))
        self._file.write(batch)
        self._batches += 1

    def finish(self) -> None:
        """Writes the end. Nothing follows it."""
        self._file.write(_NUMBER.pack(0) + _NUMBER.pack(self._batches))


def read_batches(file: IO[bytes], message: Message) -> Iterator[bytes]:
    """The batches of a message, one after the other; strict.

    Lengths are checked against the file's before anything is read for them.

    Raises:
        WireError: another message, or a file that is damaged, cut or goes on after its end.

    """
    message.check(file.read(LABEL_BYTES))
    batches = 0
    while length := _number(file):
        if length > min(_LONGEST, _left(file)):
            raise WireError(f"batch {batches + 1} is damaged or cut off; get the file again")
        yield _exactly(file, length)
        batches += 1
    if _number(file) != batches or file.read(1):
        raise WireError(f"the file does not end after {batches} batches as it says; get it again")
    if not batches:
        raise WireError("the file holds no batch")


def _exactly(file: IO[bytes], length: int) -> bytes:
    data = file.read(length)
    if len(data) < length:
        raise WireError("the file is damaged or cut off; get it again")
    return data


def _number(file: IO[bytes]) -> int:
    number: int = _NUMBER.unpack(_exactly(file, _NUMBER.size))[0]
    return number


def _left(file: IO[bytes]) -> int:
    """Bytes that follow, where a file has a length."""
    status = os.fstat(file.fileno())
    return status.st_size - file.tell() if stat.S_ISREG(status.st_mode) else _LONGEST
