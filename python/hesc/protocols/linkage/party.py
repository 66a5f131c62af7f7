"""The party that encrypts its codes, and what both parties with records have in common."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Never

import numpy as np

from hesc._native import ShapeError
from hesc._support.inputs import of_kind
from hesc.codes.encrypted_codes import EncryptedCodes
from hesc.codes.rows import checked
from hesc.protocols.linkage import pieces
from hesc.protocols.linkage.plan import LinkagePlan
from hesc.protocols.message import Kind, name_of
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray


def _order(count: int) -> NDArray[np.int64]:
    """A random order, from the system's generator."""
    order = list(range(count))
    secrets.SystemRandom().shuffle(order)
    return np.array(order, dtype=np.int64)


class Party:
    """Records in an order that nobody else knows."""

    def __init__(self, plan: LinkagePlan, keys: bytes, codes: ArrayLike, side: int) -> None:
        remedy = "LinkagePlan(sent, compared) makes one, and from_bytes reads one"
        self.plan = of_kind(plan, "plan", LinkagePlan, remedy)
        plan.check_undivided()
        self._keys = PublicKeys.from_bytes(plan.params, keys, parts=plan.key_parts)
        rows, count = checked(codes), (plan.sent, plan.compared)[side]
        if rows.shape != (count, plan.bits // 64):
            raise ShapeError(
                f"the plan has {count} codes of {plan.bits} bits here; got {len(rows)} of "
                f"{64 * rows.shape[1]}"
            )
        self._side = side
        self._order = _order(count)
        self._codes = rows[self._order]
        self._queries: set[bytes] = set()

    def __repr__(self) -> str:
        return f"<hesc.protocols.linkage.{type(self).__name__}: {self.plan!r}>"

    def __reduce__(self) -> Never:
        raise TypeError(f"a {type(self).__name__} holds codes, and is not pickled or copied")

    def matched(self, answer: bytes) -> NDArray[np.int64]:
        """The party's own records, by their rows, of the matcher's answer.

        The rows of both parties belong together in their order.

        Raises:
            WireError: damaged bytes, matches of other queries than this party's, positions that are
                not there.

        """
        positions = pieces.read_matches(self.plan, answer, self._queries)[:, self._side]
        return self._order[positions]


class Sender(Party):
    """The party that encrypts its codes.

    Args:
        plan: what all agree on. Print it before you use it.
        keys: the matcher's `public_keys()`, from the matcher itself: **whoever puts a key of his
            own in its place can decrypt the codes**.
        codes: of its records.

    Raises:
        WireError, ParameterError: keys that are damaged, or of other parameters.
        ShapeError: codes of another number or length than the plan's.

    """

    def __init__(self, plan: LinkagePlan, keys: bytes, codes: ArrayLike) -> None:
        super().__init__(plan, keys, codes, 0)

    def messages(self) -> Iterator[bytes]:
        """The sender's codes, for the comparer **and nobody else**: the matcher could decrypt."""
        names = []
        first = 0
        for count in self.plan.batches:
            batch = EncryptedCodes.encrypt(self._keys, self._codes[first : first + count])
            message = pieces.write(self.plan, Kind.QUERY, first, [batch.to_bytes()])
            names.append(name_of(message))
            first += count
            if first == self.plan.sent:
                self._queries.add(pieces.named(names))
            yield message
