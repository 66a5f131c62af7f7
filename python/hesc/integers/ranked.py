"""Numbers in one ciphertext in ascending order, by the rank of each among the others.

Each number is compared with all others at once: those of the other numbers are brought to it by
rotations. How many come before it is its place, to which one more rotation brings it. That takes
few products in sequence: as many as a comparison, the logarithm of the count, and one.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Protocol

from hesc.integers.prefixes import Lying, less, spread
from hesc.packing.slots import EncryptedSlots, sum_of_products

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class Arranged(Lying, Protocol):
    """Where numbers lie."""

    def only(
        self, slots: EncryptedSlots, numbers: Sequence[int], *, top: bool = False
    ) -> EncryptedSlots:
        """These numbers, or the highest bit of each; zero elsewhere."""

    def where(self, numbers: Sequence[int], *, top: bool = False) -> NDArray[np.int64]:
        """A row that is one in the bits of these numbers, or in the highest, and zero elsewhere."""

    def turns(self, origin: int, place: int) -> tuple[int, ...]:
        """Steps along each dimension that bring one number to the place of another."""


def in_order(layout: Arranged, slots: EncryptedSlots, count: int) -> EncryptedSlots:
    """The first `count` numbers in ascending order; zero elsewhere."""
    if count == 1:
        return slots
    before = [_before(layout, slots, count, apart) for apart in range(1, count)]
    ranks = _counted(before)
    width, results = layout.kind.width, []
    for apart in range(count):
        # Those that go so many places further on, and around.
        wanted: EncryptedSlots | None = None
        for rank, is_rank in enumerate(ranks):
            mine = layout.only(is_rank, [(rank - apart) % count], top=True)
            wanted = mine if wanted is None else wanted + mine
        assert wanted is not None  # noqa: S101 - there are ranks
        chosen = spread(wanted, width) * slots
        results.append(_turned(layout, chosen, count, apart))
    found = results[0]
    for result in results[1:]:
        found = found + result
    return found


def _turned(layout: Arranged, slots: EncryptedSlots, count: int, apart: int) -> EncryptedSlots:
    """Each of the first numbers in the place so many further on, the last ones in the first."""
    places = defaultdict(list)
    for place in range(count):
        places[layout.turns((place - apart) % count, place)].append(place)
    found: EncryptedSlots | None = None
    for turns, reached in places.items():
        turned = slots
        for dimension, steps in enumerate(turns):
            turned = turned.rotate(steps, dimension)
        if len(places) > 1:
            turned = layout.only(turned, reached)
        found = turned if found is None else found + turned
    assert found is not None  # noqa: S101 - there are places
    return found


def _before(layout: Arranged, slots: EncryptedSlots, count: int, apart: int) -> EncryptedSlots:
    """Whether the number so many places before each, or around, comes before it in order."""
    other = _turned(layout, slots, count, apart)
    # Of equal numbers the earlier one comes first: others come before where they are smaller,
    # earlier ones where they are not larger.
    swap = layout.only(other + slots, range(apart))
    found = less(layout, slots + swap, other + swap)
    return found + layout.where(range(apart, count), top=True)


def _counted(truths: Sequence[EncryptedSlots]) -> list[EncryptedSlots]:
    """Whether none of these is set, whether one is, and so on to all of them."""
    if len(truths) == 1:
        return [truths[0] + 1, truths[0]]
    half = len(truths) // 2
    one, other = _counted(truths[:half]), _counted(truths[half:])
    return [
        sum_of_products(
            [
                (one[first], other[number - first])
                for first in range(len(one))
                if 0 <= number - first < len(other)
            ]
        )
        for number in range(len(truths) + 1)
    ]
