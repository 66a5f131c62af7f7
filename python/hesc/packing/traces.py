"""Programs on slots, tried before anything is encrypted: levels, noise and cost of each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from hesc import _native
from hesc.packing.messages import NUMBERS
from hesc.packing.slots import EncryptedSlots

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hesc.params.vectors import VectorParams


class TracedSlots(EncryptedSlots):
    """`EncryptedSlots` without a ciphertext: the same operators, and refusals for want of room.

    Its `Trial` counts what they take.
    """

    def __reduce__(self) -> Any:
        raise TypeError("a trial is not pickled or copied; make it again")

    def summed(
        self,
        pairs: Sequence[tuple[EncryptedSlots, EncryptedSlots]],
        others: Sequence[EncryptedSlots],
        content: str,
    ) -> EncryptedSlots:
        """The trace of `sum_of_products`, refused where ciphertexts would be."""
        native = _native.SlotsDryValue.sum_of_products(
            [(_trace(a), None if a is b else _trace(b)) for a, b in pairs],
            [_trace(other) for other in others],
        )
        return self._traced(native, content)

    def carried(
        self, passes: EncryptedSlots, elements: Sequence[int], remedy: str
    ) -> EncryptedSlots:
        """The trace of `carries`, refused where ciphertexts would be."""
        del remedy
        native = _trace(self).carries(_trace(passes), list(elements))
        return self._traced(native, self.content)

    def _with(
        self,
        native: Any,
        content: str | None = None,
        others: Iterable[EncryptedSlots] = (),
    ) -> EncryptedSlots:
        del others  # A trial is bound to no keys.
        return self._traced(native, self.content if content is None else content)

    def _traced(self, native: _native.SlotsDryValue, content: str) -> EncryptedSlots:
        return TracedSlots(self.params, cast("Any", native), content)

    def _moved(self, element: int, remedy: str) -> EncryptedSlots:
        del remedy  # Keys are made for what a trial needs.
        trace = _trace(self)
        own = element == 1 % self.params.ring_index
        return self._traced(trace if own else trace.image(element), self.content)

    @property
    def depth(self) -> int:
        """Products in sequence that it is made of."""
        return _trace(self).depth


def _trace(slots: EncryptedSlots) -> _native.SlotsDryValue:
    return cast("_native.SlotsDryValue", slots.native)


class Trial:
    """What a program on numbers in slots takes, tried on `inputs`."""

    def __init__(self, params: VectorParams) -> None:
        self.params = params
        self.native = _native.SlotsDryRun(params)

    def input(self, of: EncryptedSlots | None = None) -> TracedSlots:
        """What stands for a ciphertext, or for an encryption under the public key."""
        trace = self.native.input(None if of is None else of.native)
        return TracedSlots(self.params, cast("Any", trace), NUMBERS)
