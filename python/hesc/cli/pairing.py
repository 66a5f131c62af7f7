"""Which query an answer is to, and of how many samples.

Each batch of a query says how many samples it has, and each batch of an answer begins with the
digest of the query's. Who has the query checks both.
"""

from __future__ import annotations

import struct
from hashlib import sha256
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, NamedTuple
from zlib import crc32

from hesc._native import WireError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_COUNT: Final = struct.Struct("<I")
_SUM: Final = struct.Struct("<I")
_DIGEST: Final = sha256().digest_size
_SHOWN: Final = 12


class QueryName:
    """The name of a query, whose batches are seen one after the other: a digest of theirs.

    Ciphertexts are random: no two queries have one name, and it tells nothing of samples.
    """

    def __init__(self) -> None:
        self._digests = sha256()

    def add(self, digest: bytes) -> bytes:
        """One more batch, by its digest, which comes back."""
        self._digests.update(digest)
        return digest

    @property
    def whole(self) -> str:
        """All of it, in hexadecimal digits."""
        return self._digests.hexdigest()

    def __str__(self) -> str:
        return self.whole[:_SHOWN]


class Asked(NamedTuple):
    """A batch of a query."""

    samples: int
    """How many, as whoever encrypted them says."""
    data: bytes
    """What is encrypted."""

    def to_bytes(self) -> bytes:
        """As it lies in a file, with a checksum: nothing else would tell a damaged number."""
        counted = _COUNT.pack(self.samples) + self.data
        return _SUM.pack(crc32(counted)) + counted

    @classmethod
    def from_bytes(cls, batch: bytes) -> Asked:
        """What `to_bytes` wrote.

        Raises:
            WireError: damaged bytes, or no sample.

        """
        counted = memoryview(batch)[_SUM.size :]
        if (
            len(counted) <= _COUNT.size
            or _SUM.unpack_from(batch)[0] != crc32(counted)
            or not (samples := _COUNT.unpack_from(counted)[0])
        ):
            raise WireError("the query is damaged, or of a version that did not count its samples")
        return cls(samples, bytes(counted[_COUNT.size :]))


class Answered(NamedTuple):
    """A batch of an answer."""

    digest: bytes
    """Of the query's batch."""
    data: bytes
    """What decrypts."""
    samples: int | None = None
    """How many the query's batch has; None where the query is not there."""


def digest_of(batch: bytes) -> bytes:
    """What an answer names a query's batch by."""
    return sha256(batch).digest()


def answers_in(batches: Iterable[bytes]) -> Iterator[Answered]:
    """The digests of query batches, and the answers to them.

    Raises:
        WireError: a batch that has no room for both.

    """
    for batch in batches:
        if len(batch) <= _DIGEST:
            raise WireError("the answer is damaged, or of a version that did not name its query")
        yield Answered(batch[:_DIGEST], batch[_DIGEST:])


def answers_to(query: Iterable[bytes], answers: Iterable[Answered]) -> Iterator[Answered]:
    """The same answers, while they are those to the batches of this query, in their order.

    With the number of samples that each has to be of.

    Raises:
        WireError: an answer to another query, or to a part of this one.

    """
    for batch, found in zip_longest(query, answers):
        if found is None or batch is None:
            which = "does not answer all of" if found is None else "goes on after"
            raise WireError(f"the answer {which} the query; take the two that belong together")
        if found.digest != digest_of(batch):
            raise WireError(
                "the answer is to another query, or its parts are in another order; `hesc encrypt` "
                "and `hesc decrypt` print the names of both"
            )
        yield found._replace(samples=Asked.from_bytes(batch).samples)
