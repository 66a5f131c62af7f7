"""Shifts, products and quotients of numbers whose bits lie along slots, by rotations.

A number's bits come to other places by one rotation, after which those of its neighbours are
masked. A bit that decides about a whole number is brought to all of its places. Products and
quotients are sums of shifted numbers, whose carries are kept until the last sum (Wallace 1964).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hesc.integers.prefixes import Lying, equal, less, spread
from hesc.packing.slots import EncryptedSlots, carries, sum_of_products

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class Places(Lying, Protocol):
    """Where bits lie, and how far carries move."""

    @property
    def steps(self) -> list[int]:
        """How far carries move, from one step to the next."""

    def inner(self, slots: EncryptedSlots) -> EncryptedSlots:
        """All bits but the highest of each number; zero there."""

    def part(self, slots: EncryptedSlots, first: int, end: int) -> EncryptedSlots:
        """The bits from `first` on and before `end` of each number; zero elsewhere."""

    def every(self, number: int) -> NDArray[np.int64]:
        """A row of slots in which each number is this one."""


def added(
    layout: Places, a: EncryptedSlots, b: EncryptedSlots | NDArray[np.int64]
) -> EncryptedSlots:
    """The sum modulo `2**width`, its carries by Kogge and Stone (1973)."""
    summed = a + b
    if layout.kind.width == 1:
        return summed
    passes = layout.inner(summed)
    generates = layout.inner(a) * b
    return summed + carries(generates, passes, layout.steps).rotate(-1)


def moved(layout: Places, slots: EncryptedSlots, places: int) -> EncryptedSlots:
    """Numbers without sign shifted to the left, or to the right by places below zero."""
    width = layout.kind.width
    if places == 0:
        return slots
    if abs(places) >= width:
        return slots + slots
    turned = slots.rotate(-places)
    return layout.part(turned, max(places, 0), min(width, width + places))


def moved_by(layout: Places, slots: EncryptedSlots, places: int) -> EncryptedSlots:
    """Numbers shifted as `moved` does; to the right signs stay where there are some."""
    found = moved(layout, slots, places)
    if places >= 0 or not layout.kind.signed:
        return found
    width = layout.kind.width
    return found + spread(layout.highest(slots), min(-places, width))


def everywhere(layout: Places, slots: EncryptedSlots, bit: int) -> EncryptedSlots:
    """One bit of each number in all of its places; zero elsewhere."""
    width = layout.kind.width
    alone = layout.part(slots, bit, bit + 1)
    return spread(alone.rotate(bit + 1 - width), width)


def shifted(
    layout: Places, slots: EncryptedSlots, places: EncryptedSlots, *, left: bool
) -> EncryptedSlots:
    """Numbers without sign shifted by encrypted places, each by its own: zero from `width` on.

    A product for each bit of the places below `width`, and one for all bits above.
    """
    width = layout.kind.width
    inside = (width - 1).bit_length()
    for bit in range(inside):
        choice = everywhere(layout, places, bit)
        further = moved(layout, slots, 1 << bit if left else -(1 << bit))
        slots = sum_of_products([(choice, slots + further)], [slots])
    if width == inside:
        return slots
    above = layout.part(places, inside, width)
    return slots * spread(equal(layout, above, layout.every(0)), width)


def total(layout: Places, rows: Sequence[EncryptedSlots]) -> EncryptedSlots:
    """The sum of at least one number modulo `2**width`: two of three until two are left."""
    waiting = list(rows)
    while len(waiting) > 2:
        triples = len(waiting) // 3 * 3
        further = waiting[triples:]
        for at in range(0, triples, 3):
            a, b, c = waiting[at : at + 3]
            carried = sum_of_products([(a + c, b + c)], [c])
            further += [a + b + c, layout.inner(carried).rotate(-1)]
        waiting = further
    return waiting[0] if len(waiting) == 1 else added(layout, *waiting)


def multiple(layout: Places, slots: EncryptedSlots, factor: int) -> EncryptedSlots:
    """Numbers times a public one, modulo `2**width`: a shifted number for each bit that is set."""
    bits = [bit for bit in range(layout.kind.width) if factor >> bit & 1]
    rows = [moved(layout, slots, bit) for bit in bits]
    return total(layout, rows) if rows else slots + slots


def product(layout: Places, a: EncryptedSlots, b: EncryptedSlots) -> EncryptedSlots:
    """`a * b` modulo `2**width`: one shifted for each bit of the other."""
    rows = [everywhere(layout, b, bit) * moved(layout, a, bit) for bit in range(layout.kind.width)]
    return total(layout, rows)


def divided(
    layout: Places, dividend: EncryptedSlots, divisor: EncryptedSlots, digit: int, *, rest: bool
) -> tuple[EncryptedSlots, EncryptedSlots | None]:
    """Quotient and, where it is wanted, remainder of numbers without sign, digit by digit.

    What is left of the dividend is compared with all multiples of the divisor that a digit of so
    many bits has, side by side. Each multiple that is reached says so, so that a bit of the digit
    is a sum modulo 2 of these answers. Zero is reached in every place: a division by it gives all
    ones, and the dividend as its remainder.
    """
    width = layout.kind.width
    multiples = {
        factor: multiple(layout, divisor, factor) for factor in range(1, 1 << min(digit, width))
    }
    # A multiple that wraps is larger than any number.
    within = {
        factor: _not(layout, less(layout, layout.every(layout.kind.most // factor), divisor))
        for factor in multiples
        if factor > 1
    }
    left, quotient = dividend, None
    for low in reversed(range(0, width, digit)):
        above = moved(layout, left, -low)
        before, changes = above, []
        for factor in range(1, 1 << min(digit, width - low)):
            difference, short = _difference(layout, above, multiples[factor])
            reached = _not(layout, short)
            if factor > 1:
                reached = reached * within[factor]
            changes.append((spread(reached, width), difference + before))
            before = difference
            for bit in range(factor.bit_length()):
                # Of every other multiple of this bit's weight the quotient's bit is one more.
                if factor % (1 << bit) == 0:
                    placed = reached.rotate(width - 1 - low - bit)
                    quotient = placed if quotient is None else quotient + placed
        if low or rest:
            left = left + moved(layout, sum_of_products(changes), low)
    assert quotient is not None  # noqa: S101 - widths are not zero
    return quotient, left if rest else None


def _difference(
    layout: Places, a: EncryptedSlots, b: EncryptedSlots
) -> tuple[EncryptedSlots, EncryptedSlots]:
    """`a - b` modulo `2**width`, and in the highest bits whether `a < b`."""
    summed = a + b
    # Nothing passes the lowest bit, so that what reaches the highest is of one number alone.
    passes = layout.part(summed + 1, 1, layout.kind.width)
    borrowed = carries((a + 1) * b, passes, layout.steps)
    return summed + layout.inner(borrowed).rotate(-1), layout.highest(borrowed)


def _not(layout: Places, truths: EncryptedSlots) -> EncryptedSlots:
    """The opposite of truth values that lie in the highest bits."""
    kind = layout.kind
    return truths + layout.every(1 << (kind.width - 1))
