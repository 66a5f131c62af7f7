"""Names of files of queries, and the answers that belong to them.

Each message of a query has a name, which its answer repeats; see `hesc.protocols.message`. The name
of a whole file is a digest of the names of its messages, in their order.
"""

from __future__ import annotations

import re
from hashlib import sha256
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from hesc._native import ParameterError, WireError
from hesc.protocols.message import name_of, query_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DIGITS: Final = 2 * sha256().digest_size
_SHOWN: Final = 12


class QueryName:
    """Name of a file of queries, whose messages are seen one after the other.

    Ciphertexts are random: no two files have one name, and it tells nothing of samples.
    """

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        """Names of its messages, in their order."""

    @property
    def whole(self) -> str:
        """All of it, in hexadecimal digits."""
        return sha256(b"".join(self.messages)).hexdigest()

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


def checked_name(name: str) -> str:
    """A query's name as somebody writes it: whole, or as many digits as are printed.

    Raises:
        ParameterError: other digits, or fewer.

    """
    found = name.strip().lower()
    if not re.fullmatch(f"[0-9a-f]{{{_SHOWN},{_DIGITS}}}", found):
        raise ParameterError(
            f"--name is what hesc encrypt, join and eval print of a query: {_SHOWN} digits 0-9a-f, "
            f"or the {_DIGITS} of --json"
        )
    return found


def answers_to(queries: Iterable[bytes], answers: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Answers with the queries that they are to, while they are in the queries' order.

    Raises:
        WireError: an answer to another query, or to a part of this one; with the names of both.

    """
    asked, answered = QueryName(), QueryName()
    same = True
    for query, answer in zip_longest(queries, answers):
        if query is not None:
            asked.messages.append(name_of(query))
        if answer is not None:
            answered.messages.append(query_of(answer))
        # What follows a difference is read for the name alone.
        same = same and None not in (query, answer) and query_of(answer) == name_of(query)
        if same:
            yield query, answer
    if not same:
        answered.check(asked.whole)
