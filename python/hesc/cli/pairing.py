"""Which query an answer is to: each batch of an answer begins with the digest of the query's."""

from __future__ import annotations

from hashlib import sha256
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from hesc._native import WireError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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


def digest_of(batch: bytes) -> bytes:
    """What an answer names a query's batch by."""
    return sha256(batch).digest()


def answers_in(batches: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """The digests of query batches, and the answers to them.

    Raises:
        WireError: a batch that has no room for both.

    """
    for batch in batches:
        if len(batch) <= _DIGEST:
            raise WireError("the answer is damaged, or of a version that did not name its query")
        yield batch[:_DIGEST], batch[_DIGEST:]


def answers_to(
    query: Iterable[bytes], answers: Iterable[tuple[bytes, bytes]]
) -> Iterator[tuple[bytes, bytes]]:
    """The same answers, while they are those to the batches of this query, in their order.

    Raises:
        WireError: an answer to another query, or to a part of this one.

    """
    for batch, found in zip_longest(query, answers):
        if found is None or batch is None:
            which = "does not answer all of" if found is None else "goes on after"
            raise WireError(f"the answer {which} the query; take the two that belong together")
        if found[0] != digest_of(batch):
            raise WireError(
                "the answer is to another query, or its parts are in another order; `hesc encrypt` "
                "and `hesc decrypt` print the names of both"
            )
        yield found
