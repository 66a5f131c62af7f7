"""Fractions as whole multiples of a stated scale: fixed point (xu2016integers, section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._native import OutOfRangeError, ParameterError
from hesc._support.inputs import real_array, unmasked, whole
from hesc.integers.expressions import Integers
from hesc.integers.kinds import IntegerKind, kind_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

# Doubles hold whole numbers to here.
_MOST_BITS = 53


class FixedPoint:
    """Numbers `k * 2**-fraction_bits` for the integers `k` of a type.

    Sums, comparisons, `sort` and `where` of such integers are those of the fractions as they are;
    products and quotients take `multiply` and `divide`, which keep the scale.

    >>> money = FixedPoint("int16", fraction_bits=4)
    >>> money.encode([1.25, -3]).tolist()
    [20, -48]
    >>> money.decode([20, -48]).tolist()
    [1.25, -3.0]
    >>> money.resolution, money.least, money.most
    (0.0625, -2048.0, 2047.9375)

    """

    def __init__(self, dtype: DTypeLike | IntegerKind, fraction_bits: int) -> None:
        """Fixed-point numbers in integers of at most 53 bits, which doubles hold.

        Raises:
            ParameterError, OutOfRangeError: truth values, wider types, scales beyond the type.

        """
        self.kind = kind_of(dtype)
        if self.kind.boolean or self.kind.width > _MOST_BITS:
            raise ParameterError(
                f"fixed point has integers of at most {_MOST_BITS} bits, which doubles hold; "
                f"{self.kind} is none: take a narrower type"
            )
        self.fraction_bits = whole(fraction_bits, "fraction_bits", 0, self.kind.width)

    def __repr__(self) -> str:
        return f"FixedPoint({str(self.kind)!r}, fraction_bits={self.fraction_bits})"

    @property
    def resolution(self) -> float:
        """From one number to the next; what is encoded is off by half of it at most."""
        return 2.0**-self.fraction_bits

    @property
    def least(self) -> float:
        """The smallest number."""
        return self.kind.least * self.resolution

    @property
    def most(self) -> float:
        """The largest number."""
        return self.kind.most * self.resolution

    def encode(self, numbers: ArrayLike) -> NDArray[Any]:
        """The nearest multiples, halves to the even one; `encrypt(keys, these, fixed.kind)`.

        Raises:
            OutOfRangeError, ShapeError: numbers beyond the type, NaN, infinities; nothing wraps.

        """
        # What overflows is beyond the type.
        with np.errstate(over="ignore"):
            scaled = np.rint(real_array(numbers, "numbers") * 2.0**self.fraction_bits)
        if scaled.size and not (
            np.all(scaled >= self.kind.least) and np.all(scaled <= self.kind.most)
        ):
            raise OutOfRangeError(
                f"numbers lie in {self.least} to {self.most} as {self}: take a wider type or fewer "
                "fraction_bits"
            )
        return scaled.astype(self.kind.numpy)

    def decode(self, integers: ArrayLike) -> NDArray[np.float64]:
        """The fractions of decrypted integers; those of `total` beyond 53 bits are rounded.

        Raises:
            OutOfRangeError: others than whole numbers.

        """
        array = unmasked(integers, "integers").astype(object)
        if not all(isinstance(number, int) for number in array.flat):
            raise OutOfRangeError("decode takes whole numbers, as they were decrypted")
        try:
            return array.astype(np.float64) * self.resolution
        except OverflowError:
            raise OutOfRangeError("decode takes whole numbers that doubles hold") from None

    def multiply(self, a: Integers, b: Integers) -> Integers:
        """The product at the same scale, rounded to the nearest, halves up; wraps as integers."""
        wide = IntegerKind(2 * self.kind.width, self.kind.signed)
        product = self._checked(a).astype(wide) * self._checked(b).astype(wide)
        if self.fraction_bits:
            product = product + (1 << (self.fraction_bits - 1)) >> self.fraction_bits
        return product.astype(self.kind)

    def divide(self, a: Integers, b: Integers) -> Integers:
        """The quotient at the same scale, rounded down; wraps, and by zero, as integers do."""
        wide = IntegerKind(self.kind.width + self.fraction_bits + 1, self.kind.signed)
        above = self._checked(a).astype(wide) << self.fraction_bits
        return (above // self._checked(b).astype(wide)).astype(self.kind)

    def _checked(self, number: Integers) -> Integers:
        if not isinstance(number, Integers) or number.kind != self.kind:
            found = number.dtype if isinstance(number, Integers) else type(number).__name__
            raise ParameterError(f"{self} takes integers of {self.kind}, not {found}: astype")
        return number
