"""Comparisons and choices of numbers whose bits lie along slots, by rotations.

What is to be known of a whole number is gathered where its highest bit lies: of `2^k` bits that
end in a slot it is made of two halves, the lower of which comes from `2^(k-1)` slots below. There
the bits are those of one number alone, so that nothing is masked on the way; other slots hold what
is of no use, and `highest` takes it out in the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hesc.packing.slots import EncryptedSlots, sum_of_products

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hesc.integers.kinds import IntegerKind

    Operand = EncryptedSlots | NDArray[np.int64]


class Lying(Protocol):
    """Where bits lie."""

    @property
    def kind(self) -> IntegerKind:
        """The kind of the numbers."""

    def highest(self, slots: EncryptedSlots) -> EncryptedSlots:
        """The highest bit of each number; zero elsewhere."""


def less(layout: Lying, a: Operand, b: Operand) -> EncryptedSlots:
    """Whether `a < b`, in the highest bits; one of both may be public.

    Bits decide from the highest on: those that differ have the larger one in `b`, or, where they
    are signs, in `a`. `2 log2(width)` products, `1 + log2(width)` in sequence.
    """
    width = layout.kind.width
    differ = _sum(a, b)
    # `b` without `a`; both are sums of what differs and is set.
    decided = _product(a, b) + b
    if layout.kind.signed:
        decided = decided + layout.highest(differ)
    same = differ + 1
    found: EncryptedSlots | None = None
    reach = 1
    while True:
        if width & reach:
            below = None if found is None else found.rotate(-reach)
            found = decided if below is None else sum_of_products([(same, below)], [decided])
        if 2 * reach > width:
            return layout.highest(decided if found is None else found)
        decided, before = (
            sum_of_products([(same, decided.rotate(-reach))], [decided]),
            same,
        )
        # The last is needed only above lower bits.
        if 4 * reach <= width or width & (2 * reach - 1):
            same = before * before.rotate(-reach)
        reach *= 2


def equal(layout: Lying, a: Operand, b: Operand) -> EncryptedSlots:
    """Whether `a == b`, in the highest bits: `log2(width)` products, all in sequence, or twice."""
    width = layout.kind.width
    same = _sum(a, b) + 1
    found: EncryptedSlots | None = None
    reach = 1
    while True:
        if width & reach:
            found = same if found is None else same * found.rotate(-reach)
        if 2 * reach > width:
            return layout.highest(same if found is None else found)
        same = same * same.rotate(-reach)
        reach *= 2


def spread(truths: EncryptedSlots, count: int) -> EncryptedSlots:
    """Highest bits in so many of the highest places of each number, by rotations downwards.

    The bits below them are zero.
    """
    everywhere: EncryptedSlots | None = None
    part, reach = truths, 1
    while True:
        if count & reach:
            everywhere = part if everywhere is None else part + everywhere.rotate(reach)
        if 2 * reach > count:
            break
        part = part + part.rotate(reach)
        reach *= 2
    return part if everywhere is None else everywhere


def chosen(layout: Lying, truths: EncryptedSlots, one: Operand, zero: Operand) -> EncryptedSlots:
    """`one` where the highest bits are set, `zero` elsewhere: one product.

    Highest bits come to all others by rotations the other way.
    """
    mask = spread(truths, layout.kind.width)
    if isinstance(one, EncryptedSlots) or isinstance(zero, EncryptedSlots):
        differ = _sum(one, zero)
        if isinstance(zero, EncryptedSlots):
            return sum_of_products([(mask, differ)], [zero])
        return mask * differ + zero
    return mask * ((one + zero) % 2) + zero


def _sum(a: Operand, b: Operand) -> EncryptedSlots:
    """The sum of two operands, at least one of which is encrypted."""
    return a + b if isinstance(a, EncryptedSlots) else b + a  # type: ignore[return-value]


def _product(a: Operand, b: Operand) -> EncryptedSlots:
    return a * b if isinstance(a, EncryptedSlots) else b * a  # type: ignore[return-value]
