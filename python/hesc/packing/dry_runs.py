"""Dry runs of programs on slots, before anything is encrypted: levels, noise, cost of each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from hesc import _native
from hesc.packing.messages import NUMBERS
from hesc.packing.slots import EncryptedSlots

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hesc.params.vectors import VectorParams


class DrySlots(EncryptedSlots):
    """`EncryptedSlots` without a ciphertext: the same operators, and refusals for want of room.

    Its `DryRun` counts what they take.
    """

    def __init__(
        self, params: VectorParams, native: _native.SlotsDryValue, content: str, moves: list[int]
    ) -> None:
        super().__init__(params, cast("Any", native), content)
        self._moves = moves

    def __reduce__(self) -> Any:
        raise TypeError("a run is not pickled or copied; make it again")

    def summed(
        self,
        pairs: Sequence[tuple[EncryptedSlots, EncryptedSlots]],
        others: Sequence[EncryptedSlots],
        content: str,
    ) -> EncryptedSlots:
        """The value of `sum_of_products`, refused where ciphertexts would be."""
        native = _native.SlotsDryValue.sum_of_products(
            [(_value_of(a), None if a is b else _value_of(b)) for a, b in pairs],
            [_value_of(other) for other in others],
        )
        return self._dry(native, content)

    def carried(
        self, passes: EncryptedSlots, elements: Sequence[int], remedy: str
    ) -> EncryptedSlots:
        """The value of `carries`, refused where ciphertexts would be."""
        del remedy
        native = _value_of(self).carries(_value_of(passes), list(elements))
        # What passes carries on is not needed after the last step.
        self._moves.append(2 * len(elements) - 1)
        return self._dry(native, self.content)

    def _with(
        self,
        native: Any,
        content: str | None = None,
        others: Iterable[EncryptedSlots] = (),
    ) -> EncryptedSlots:
        del others  # A run is bound to no keys.
        return self._dry(native, self.content if content is None else content)

    def _dry(self, native: _native.SlotsDryValue, content: str) -> EncryptedSlots:
        return DrySlots(self.params, native, content, self._moves)

    def _moved(self, element: int, remedy: str) -> EncryptedSlots:
        del remedy  # Keys are made for what a run needs.
        value = _value_of(self)
        own = element == 1 % self.params.ring_index
        if not own:
            self._moves.append(1)
        return self._dry(value if own else value.image(element), self.content)

    @property
    def depth(self) -> int:
        """Products in sequence that it is made of."""
        return _value_of(self).depth


def _value_of(slots: EncryptedSlots) -> _native.SlotsDryValue:
    return cast("_native.SlotsDryValue", slots.native)


class DryRun:
    """What a program on numbers in slots takes, by a dry run on `inputs`."""

    def __init__(self, params: VectorParams) -> None:
        self.params = params
        self.native = _native.SlotsDryRun(params)
        self._moves: list[int] = []

    def input(self, of: EncryptedSlots | None = None) -> DrySlots:
        """What stands for a ciphertext, or for an encryption under the public key."""
        value = self.native.input(None if of is None else of.native)
        return DrySlots(self.params, value, NUMBERS, self._moves)

    @property
    def rotations(self) -> int:
        """Automorphisms, one for each rotation along a dimension."""
        return sum(self._moves)
