"""Which query an answer is to, and of how many samples.

Each batch of a query says how many samples it has, and each batch of an answer begins with the
digest of the query's. Who has the query checks both; who has its name alone checks that.
"""

from __future__ import annotations

import re
import struct
from hashlib import sha256
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, NamedTuple

from hesc._native import ParameterError, WireError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_COUNT: Final = struct.Struct("<I")
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

    def asked(self, samples: int, data: bytes) -> bytes:
        """One more batch of so many encrypted samples, as it lies in a file."""
        batch = Asked(samples, data).to_bytes()
        self.add(digest_of(batch))
        return batch

    @property
    def whole(self) -> str:
        """All of it, in hexadecimal digits."""
        return self._digests.hexdigest()

    def __str__(self) -> str:
        return self.whole[:_SHOWN]

    def check(self, wanted: str) -> None:
        """Refuses another name than this, whole or as it is printed.

        Raises:
            WireError: another query's.

        """
        if not self.whole.startswith(wanted):
            raise WireError(f"the answer is to query {self}, not to {wanted[:_SHOWN]}: {_TAKE}")


_TAKE: Final = (
    "take the two that belong together, with all parts of both in their order (commands that write "
    "a query or an answer print the query's name)"
)


class Asked(NamedTuple):
    """A batch of a query."""

    samples: int
    """How many, as whoever encrypted them says."""
    data: bytes
    """What is encrypted."""

    def to_bytes(self) -> bytes:
        """The batch as it lies in a file: the number of samples, then what is encrypted."""
        return _COUNT.pack(self.samples) + self.data

    @classmethod
    def from_bytes(cls, batch: bytes) -> Asked:
        """What `to_bytes` wrote.

        Raises:
            WireError: no sample, or nothing encrypted.

        """
        if len(batch) <= _COUNT.size or not (samples := _COUNT.unpack_from(batch)[0]):
            raise WireError("the query is of no sample, or of an earlier version; encrypt again")
        return cls(samples, batch[_COUNT.size :])


class Answered(NamedTuple):
    """A batch of an answer."""

    digest: bytes
    """The digest of the query's batch."""
    data: bytes
    """What decrypts."""
    samples: int | None = None
    """How many the query's batch has; None where the query is not there."""

    def to_bytes(self) -> bytes:
        """The batch as it lies in a file: the digest, then what decrypts."""
        return self.digest + self.data

    @classmethod
    def from_bytes(cls, batch: bytes) -> Answered:
        """What `to_bytes` wrote.

        Raises:
            WireError: no room for both.

        """
        if len(batch) <= _DIGEST:
            raise WireError("the answer is of a version that did not name its query; ask again")
        return cls(batch[:_DIGEST], batch[_DIGEST:])


def checked_name(name: str) -> str:
    """A query's name as somebody writes it: whole, or as many digits as are printed.

    Raises:
        ParameterError: other digits, or fewer.

    """
    found = name.strip().lower()
    if not re.fullmatch(f"[0-9a-f]{{{_SHOWN},{2 * _DIGEST}}}", found):
        raise ParameterError(
            f"--name is what hesc encrypt, join and eval print of a query: {_SHOWN} digits 0-9a-f, "
            f"or the {2 * _DIGEST} of --json"
        )
    return found


def digest_of(batch: bytes) -> bytes:
    """What an answer names a query's batch by."""
    return sha256(batch).digest()


def answers_to(query: Iterable[bytes], answers: Iterable[Answered]) -> Iterator[Answered]:
    """The same answers, while they are those to the batches of this query, in their order.

    With the number of samples that each has to be of.

    Raises:
        WireError: an answer to another query, or to a part of this one; with the names of both.

    """
    asked, answered = QueryName(), QueryName()
    same = True
    for batch, found in zip_longest(query, answers):
        digest = None if batch is None else asked.add(digest_of(batch))
        same = same and found is not None and found.digest == digest
        if found is not None:
            answered.add(found.digest)
        # What follows a difference is read for the name alone.
        if same and found is not None and batch is not None:
            yield found._replace(samples=Asked.from_bytes(batch).samples)
    if not same:
        answered.check(asked.whole)
