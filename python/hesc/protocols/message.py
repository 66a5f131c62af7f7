"""What parties send each other: one frame for queries, answers and pieces, in memory and in files.

A message says what it is, which plan it belongs to, which query it answers, and of how many samples
it is. Its parts are ciphertexts, each in a wire form of its own. The checksum is against damage;
nobody who means to change a message is stopped by it.

    offset  bytes
         0      4   magic, `HSCM`
         4      1   version, 1
         5      1   kind, one of `Kind`
         6     16   the plan's digest, its first half
        22     16   name of the query that is answered, or whose answer a piece is of; else zeros
        38      4   samples
        42      2   parts
        44      4   CRC-32 of the bytes before it and of those behind it
        48          each part behind its length of four bytes

Numbers are little-endian. Single messages are read and written by the compiled part
(`crates/hesc-client/src/message.rs`), files here. A file is any number of messages of one kind, and
one that counts them.
"""

from __future__ import annotations

import os
import stat
from enum import IntEnum
from hashlib import sha256
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from hesc import _native
from hesc._native import WireError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MAGIC: Final = b"HSCM"
HEAD_BYTES: Final = _native.MESSAGE_HEAD
"""Bytes of a message before its parts."""
PART_BYTES: Final = _native.MESSAGE_PART
"""Bytes of a part beside its content."""
NAME_BYTES: Final = _native.MESSAGE_NAME
"""Bytes of a query's name, and of a plan's digest as messages have it."""
LARGEST: Final = _native.MESSAGE_BYTES
"""Bytes of a message, at most."""
NO_QUERY: Final = bytes(NAME_BYTES)
"""What stands in the place of a query's name where there is none."""
_NAME_AT: Final = 22
_DAMAGED: Final = "the file is damaged or cut off; get it again"


class Kind(IntEnum):
    """What a message is."""

    QUERY = 1
    """What is encrypted for whoever computes with it: samples, codes of records."""
    ANSWER = 2
    """What follows of a query: for a client encrypted scores, for parties who linked, matches."""
    PIECE = 3
    """One party's part of what is put together: columns of a query, rows of distances."""
    END = 4
    """The end of a file; its samples are the number of messages before it."""

    @property
    def description(self) -> str:
        """The kind in words, for errors."""
        return _native.message_kind(self)


class Message(NamedTuple):
    """One message between the parties of a plan."""

    kind: Kind
    """What it is."""
    plan: bytes
    """The first `NAME_BYTES` bytes of the plan's digest."""
    samples: int
    """How many samples it is of, as its sender says."""
    parts: tuple[bytes, ...]
    """Ciphertexts, each in its own wire form."""
    query: bytes = NO_QUERY
    """Name of the query that an answer, or a piece of one, is to; see `name_of`."""

    def to_bytes(self) -> bytes:
        """The wire form.

        Raises:
            ParameterError: more samples, parts or bytes than a message holds.

        """
        kind, plan, samples, parts, query = self
        return _native.write_message(kind, plan, query, samples, parts)

    @classmethod
    def from_bytes(
        cls, data: bytes, kind: Kind, *, plan: bytes, parts: int | None = None
    ) -> Message:
        """A message of one kind and one plan from its wire form; its parts are not looked at.

        Args:
            data: the wire form.
            kind: what it has to be.
            plan: the digest of the plan that it has to belong to.
            parts: how many it has to have; None takes any number from one on.

        Raises:
            WireError: damaged bytes, another kind, another plan's, other parts; it says which.

        """
        query, samples, found = _native.read_message(data, kind, plan, parts)
        return cls(kind, plan[:NAME_BYTES], samples, found, query)


def name_of(query: bytes) -> bytes:
    """Name of a query, which its answer repeats: the first bytes of SHA-256 of its wire form.

    Ciphertexts are random: no two queries have one name, and it tells nothing of samples.
    """
    return sha256(query).digest()[:NAME_BYTES]


def query_of(answer: bytes) -> bytes:
    """Name of the query that an answer is to, which `read_messages` or `from_bytes` took."""
    return answer[_NAME_AT : _NAME_AT + NAME_BYTES]


def message_size(parts: Sequence[int] | Iterator[int]) -> int:
    """Bytes of a message whose parts have so many bytes."""
    sizes = list(parts)
    return HEAD_BYTES + PART_BYTES * len(sizes) + sum(sizes)


class MessageWriter:
    """Writes messages of one plan into a file; `finish` makes the file complete.

    Args:
        file: where to.
        plan: the plan's digest.

    """

    def __init__(self, file: IO[bytes], plan: bytes) -> None:
        self._file, self._plan = file, plan
        self._messages = 0

    def write(self, message: bytes) -> None:
        """Appends a message, in its wire form."""
        self._file.write(message)
        self._messages += 1

    def finish(self) -> None:
        """Writes the end, which counts the messages. Nothing follows it."""
        self._file.write(Message(Kind.END, self._plan, self._messages, ()).to_bytes())


def read_messages(
    file: IO[bytes], kind: Kind, plan: bytes, *, longest: int = LARGEST
) -> Iterator[bytes]:
    """The messages of a file in their wire forms, one after the other; strict.

    Lengths are checked before anything is read for them. `Message.from_bytes` checks each message.

    Args:
        file: with a name, which errors begin with.
        kind: what each message has to be.
        plan: the digest of the plan that they have to belong to.
        longest: bytes of a message, at most.

    Raises:
        WireError: another kind or plan, or a file that is damaged, cut or goes on after its end.

    """
    try:
        yield from _messages(file, kind, plan, min(longest, LARGEST))
    except WireError as error:
        raise WireError(f"{file.name}: {error}") from error


def _messages(file: IO[bytes], kind: Kind, plan: bytes, longest: int) -> Iterator[bytes]:
    count = 0
    while True:
        head = file.read(HEAD_BYTES)
        if head[: len(_MAGIC)] != _MAGIC and not count:
            raise WireError(f"this is no file of hesc, where one of {kind.description} belongs")
        if len(head) < HEAD_BYTES:
            raise WireError(_DAMAGED)
        if head[:4] == _MAGIC and head[5] == Kind.END:
            break
        pieces, total = [head], HEAD_BYTES
        for _ in range(_native.message_head(head, kind, plan)[2]):
            length = _exactly(file, PART_BYTES)
            size = int.from_bytes(length, "little")
            total += PART_BYTES + size
            if total > longest or size > _left(file):
                raise WireError(
                    f"message {count + 1} is damaged, cut off, or longer than one ever is here; "
                    f"get the file again"
                )
            pieces += [length, _exactly(file, size)]
        message = b"".join(pieces)
        Message.from_bytes(message, kind, plan=plan)
        yield message
        count += 1
    if not count:
        raise WireError("the file holds no sample")
    end = Message(Kind.END, plan, count, ()).to_bytes()
    if head != end or file.read(1):
        raise WireError(f"the file does not end after {count} messages as it says; get it again")


def _exactly(file: IO[bytes], length: int) -> bytes:
    data = file.read(length)
    if len(data) < length:
        raise WireError(_DAMAGED)
    return data


def _left(file: IO[bytes]) -> int:
    """Bytes that follow, where a file has a length."""
    status = os.fstat(file.fileno())
    return status.st_size - file.tell() if stat.S_ISREG(status.st_mode) else LARGEST
