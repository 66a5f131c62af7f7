"""The party that compares its codes to encrypted ones. It cannot decrypt."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import TYPE_CHECKING

from hesc._native import ParameterError, ShapeError
from hesc._support.one_process import OneProcess
from hesc._support.progress import Bar
from hesc.codes.encrypted_codes import EncryptedCodes
from hesc.protocols.linkage import pieces
from hesc.protocols.linkage.party import Party
from hesc.protocols.message import Kind, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike

    from hesc.protocols.linkage.plan import LinkagePlan


class Comparer(Party):
    """The party that compares its codes to encrypted ones. Once: answers show what was planned.

    Args:
        plan: what all agree on. Print it before you use it.
        keys: the matcher's `public_keys()`, from the matcher itself.
        codes: of its records.

    Raises:
        WireError, ParameterError: keys that are damaged, or of other parameters.
        ShapeError: codes of another number or length than the plan's.

    """

    def __init__(self, plan: LinkagePlan, keys: bytes, codes: ArrayLike) -> None:
        super().__init__(plan, keys, codes, 1)
        self._answered = False
        self._answering = Lock()
        self._counts = OneProcess(
            "a Comparer", "Answer in the process that makes it, which answers once"
        )

    def pieces(
        self, messages: Iterable[bytes], *, progress: bool | Callable[[int, int], object] = False
    ) -> Iterator[bytes]:
        """Distances for the matcher, a message for some records, in bounded memory.

        Args:
            messages: all of the sender's, in their order.
            progress: a bar, or what is called with the records that are compared and all.

        Raises:
            ParameterError: a second time: more answers would show more than their noise hides; in
                a process that was forked since; what are no messages.
            WireError, ShapeError: what is not the sender's messages, or not all of them.
            KeyMismatchError: codes under another key than the matcher's. Nothing was compared.

        """
        encrypted, query = self._read(messages)
        # Other keys are refused here, before anything counts as compared.
        piece = self._piece(encrypted, query, 0)
        self._counts.check()
        with self._answering:
            answered, self._answered = self._answered, True
        if answered:
            raise ParameterError(
                "these codes were compared already, and more answers would show more than was "
                "planned; make a new plan, and count both linkages"
            )
        self._queries.add(query)
        return self._pieces(encrypted, query, piece, progress)

    def _read(self, messages: Iterable[bytes]) -> tuple[list[EncryptedCodes], bytes]:
        """All of the sender's codes, and the name of the messages that they came in."""
        if isinstance(messages, bytes | str) or not isinstance(messages, Iterable):
            raise ParameterError("messages are all that Sender.messages() gave; give a list")
        encrypted, names, first = [], [], 0
        for message in messages:
            found = pieces.read(self.plan, message, Kind.QUERY, first)
            codes = EncryptedCodes.from_bytes(self.plan.params, found.ciphertexts[0])
            if (len(codes), codes.bits) != (found.records, self.plan.bits):
                raise ShapeError(
                    f"a message of the sender has {len(codes)} codes of {codes.bits} bits, the "
                    f"plan {found.records} of {self.plan.bits}; make both with one plan"
                )
            encrypted.append(codes)
            names.append(name_of(message))
            first += found.records
        if first != self.plan.sent:
            raise ShapeError(
                f"messages have {first} of the sender's {self.plan.sent} codes; give all of them"
            )
        return encrypted, pieces.named(names)

    def _piece(self, encrypted: list[EncryptedCodes], query: bytes, first: int) -> bytes:
        """Distances of the records from this one on, one ciphertext for each message."""
        rows = self._codes[first : first + self.plan.rows]
        distances = [
            codes.hidden_distances(
                self._keys,
                rows,
                coefficients=self.plan.coefficients,
                statistical_bits=self.plan.statistical_bits,
            ).to_bytes()
            for codes in encrypted
        ]
        return pieces.write(self.plan, Kind.PIECE, first, distances, query)

    def _pieces(
        self,
        encrypted: list[EncryptedCodes],
        query: bytes,
        piece: bytes,
        progress: bool | Callable[[int, int], object],
    ) -> Iterator[bytes]:
        with Bar("records compared", progress) as bar:
            for first in range(0, len(self._codes), self.plan.rows):
                # Who forks between two parts would have the rest twice.
                self._counts.check()
                yield piece if first == 0 else self._piece(encrypted, query, first)
                bar.show(min(first + self.plan.rows, len(self._codes)), len(self._codes))
