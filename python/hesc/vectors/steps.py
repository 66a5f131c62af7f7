"""Rotations of the slots of odd rings in two steps: which automorphisms need keys."""

from __future__ import annotations

from itertools import product
from math import isqrt
from typing import TYPE_CHECKING, Final

from hesc._native import ParameterError
from hesc._support.inputs import of_kind
from hesc.params.vectors import VectorParams

if TYPE_CHECKING:
    from collections.abc import Sequence


def degree_of(params: VectorParams) -> int:
    """Coordinates of a slot's value.

    Raises:
        ParameterError: a power-of-two ring, whose slots hold numbers, or a plaintext modulus that
            has no slots in this ring.

    """
    degree = params.slot_degree
    if degree is None:
        raise ParameterError(
            f"{params.name} has a power-of-two ring, whose slots hold numbers (EncryptedVector); "
            "packing needs a ring of odd index: preset bgv_4369, bgv_13107, ..."
        )
    return degree


class TwoSteps:
    """Rotations by any slot as a long one and then a short one: few keys for many slots.

    Slot `i` is at `(i_0, i_1, ...)` along the dimensions, the last one's neighbours next to each
    other. Short steps are the last places along the first dimension, long ones all the rest.
    """

    def __init__(self, params: VectorParams) -> None:
        self.params = params
        self.index = params.ring_index
        degree_of(params)
        dimensions = params.dimensions
        self.lengths = [dimension.length for dimension in dimensions]
        self.generators = [dimension.generator for dimension in dimensions]
        count = params.slot_count
        first = self.lengths[0] if self.lengths else 1
        # About as many short steps as long ones.
        self.short_count = max(1, min(first, isqrt(count)))
        long = [range(0, length, self.short_count) for length in self.lengths[:1]]
        rest = [range(length) for length in self.lengths[1:]]
        # A ring with one slot has no dimension, and one way to go nowhere.
        self.long: Final = list(product(*long, *rest))
        self.short: Final = list(range(self.short_count))

    def element(self, steps: Sequence[int]) -> int:
        """The exponent of the automorphism that rotates by these steps."""
        element = 1
        for generator, step in zip(self.generators, steps, strict=False):
            element = element * pow(generator, step, self.index) % self.index
        return element

    def slot(self, steps: Sequence[int]) -> int:
        """The slot at this place."""
        slot = 0
        for length, step in zip(self.lengths, steps, strict=True):
            slot = slot * length + step
        return slot

    def elements(self) -> list[int]:
        """The exponents of all automorphisms that have to have keys."""
        short = [self.element([step]) for step in self.short]
        long = [self.element(steps) for steps in self.long]
        return sorted({*short, *long} - {1})

    def inside(self, steps: Sequence[int], short: int) -> bool:
        """Whether a long step and a short one lead to a slot: the last long step may have fewer."""
        return not self.lengths or steps[0] + short < self.lengths[0]


def spreading_elements(params: VectorParams) -> list[int]:
    """Exponents of the automorphisms that `Spread` and `gather` need keys for.

    Raises:
        ParameterError: a power-of-two ring.

    """
    params = of_kind(params, "params", VectorParams, "give the set that the keys are for")
    return TwoSteps(params).elements()
