"""The two parties that have records."""

from __future__ import annotations

import secrets
from threading import Lock
from typing import TYPE_CHECKING, Never

import numpy as np

from hesc._native import ParameterError, ShapeError
from hesc._support.inputs import of_kind, whole_array
from hesc._support.one_process import OneProcess
from hesc._support.progress import Bar
from hesc.codes.encrypted import EncryptedCodes
from hesc.codes.rows import checked
from hesc.protocols.linkage.plan import ROWS, LinkagePlan, numbered, pairs_of
from hesc.streams.encryptor import stream_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from hesc.vectors.keys import PublicKeys


def _order(count: int) -> NDArray[np.int64]:
    """A random order, from the system's generator."""
    order = list(range(count))
    secrets.SystemRandom().shuffle(order)
    return np.array(order, dtype=np.int64)


def _plan(plan: object) -> LinkagePlan:
    return of_kind(plan, "plan", LinkagePlan, "LinkagePlan(sent, compared)")


class _Party:
    """Records in an order that nobody else knows."""

    def __init__(self, plan: LinkagePlan, public: PublicKeys, codes: ArrayLike, count: int) -> None:
        self.plan = plan
        self._public = stream_keys(public)
        if public.params != plan.params():
            raise ParameterError(
                f"this key is not of the plan's parameters, {plan.preset}; the matcher makes its "
                f"keys with hesc.keygen(plan.params())"
            )
        rows = checked(codes)
        if rows.shape != (count, plan.bits // 64):
            raise ShapeError(
                f"the plan has {count} codes of {plan.bits} bits here; got {len(rows)} of "
                f"{64 * rows.shape[1]}"
            )
        self._order = _order(count)
        self._codes = rows[self._order]

    def _own(self, positions: ArrayLike) -> NDArray[np.int64]:
        places = whole_array(positions, "positions")
        if places.size and (places.min() < 0 or places.max() >= len(self._order)):
            raise ShapeError("matches name records that are not there; they are of another linkage")
        return self._order[places]


class Sender(_Party):
    """The party that encrypts its codes.

    Args:
        plan: what all agree on.
        public: the matcher's public key.
        codes: of its records.

    """

    def __init__(self, plan: LinkagePlan, public: PublicKeys, codes: ArrayLike) -> None:
        super().__init__(_plan(plan), public, codes, plan.sent)

    def message(self) -> bytes:
        """The sender's codes, for the comparer **and nobody else**: the matcher could decrypt."""
        return EncryptedCodes.encrypt(self._public, self._codes).to_bytes()

    def matched(self, matches: ArrayLike) -> NDArray[np.int64]:
        """The sender's records, by their rows, of the matches that the matcher sent."""
        return self._own(pairs_of(matches, "matches")[:, 0])


class Comparer(_Party):
    """The party that compares its codes to encrypted ones. Once: answers show what was planned.

    Args:
        plan: what all agree on.
        public: the matcher's public key.
        codes: of its records.

    """

    def __init__(self, plan: LinkagePlan, public: PublicKeys, codes: ArrayLike) -> None:
        super().__init__(_plan(plan), public, codes, plan.compared)
        self._answered = False
        self._answering = Lock()
        self._counts = OneProcess(
            "a Comparer", "Answer in the process that makes it, which answers once"
        )

    def __reduce__(self) -> Never:
        raise TypeError("a Comparer answers once, and is not pickled or copied")

    def answers(
        self, message: bytes, *, progress: bool | Callable[[int, int], object] = False
    ) -> Iterator[bytes]:
        """Messages for the matcher, one after the other, in bounded memory.

        Raises:
            ParameterError: a second time: more answers would show more than their noise hides; in
                a process that was forked since.
            WireError, ShapeError: what is not the sender's message.

        """
        encrypted = EncryptedCodes.from_bytes(self._public.params, message)
        if (len(encrypted), encrypted.bits) != (self.plan.sent, self.plan.bits):
            raise ShapeError(
                f"the sender's message has {len(encrypted)} codes of {encrypted.bits} bits, the "
                f"plan {self.plan.sent} of {self.plan.bits}; make both with one plan"
            )
        self._counts.check()
        with self._answering:
            answered, self._answered = self._answered, True
        if answered:
            raise ParameterError(
                "these codes were compared already, and more answers would show more than was "
                "planned; make a new plan, and count both linkages"
            )
        return self._answers(encrypted, progress)

    def _answers(
        self, encrypted: EncryptedCodes, progress: bool | Callable[[int, int], object]
    ) -> Iterator[bytes]:
        with Bar("records compared", progress) as bar:
            for first in range(0, len(self._codes), ROWS):
                # Who forks between two parts would have the rest twice.
                self._counts.check()
                distances = encrypted.hidden_distances(
                    self._public,
                    self._codes[first : first + ROWS],
                    coefficients=self.plan.coefficients,
                    statistical_bits=self.plan.statistical_bits,
                )
                yield numbered(first, distances.to_bytes())
                bar.show(min(first + ROWS, len(self._codes)), len(self._codes))

    def matched(self, matches: ArrayLike) -> NDArray[np.int64]:
        """The comparer's records, by their rows, of the matches that the matcher sent."""
        return self._own(pairs_of(matches, "matches")[:, 1])
