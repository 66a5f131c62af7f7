"""Floating-point numbers as the integers of their bits (xu2016integers, section 5; IEEE 754)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._native import OutOfRangeError, ParameterError
from hesc._support.inputs import real_array, unmasked, whole
from hesc.integers.expressions import Integers, where
from hesc.integers.kinds import BOOL, IntegerKind, check_range

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_MOST_EXPONENT: Final = 8
_MOST_FRACTION: Final = 23


class FloatingPoint:
    """Binary floating-point formats of IEEE 754: a sign, exponent and fraction bits.

    A number is the unsigned integer of its bits: `encode` and `decode` convert, and operations are
    functions for `hesc.integers.plan`. Results are rounded to the nearest number, ties to the even
    one, and are bit by bit those of IEEE 754, with subnormal numbers, infinities (what overflows is
    one) and signed zeros; there is one NaN, `nan`. No operation tells of exceptions, which nobody
    sees.

    Args:
        exponent_bits: 2 to 8.
        fraction_bits: 1 to 23; both 5 and 10 are numpy's float16, 8 and 23 float32.

    Raises:
        OutOfRangeError, ShapeError: other numbers of bits.

    >>> half = FloatingPoint(5, 10)
    >>> half.encode([1.0, -2.5]).tolist(), half.kind
    ([15360, 49408], IntegerKind(width=16, signed=False, boolean=False))
    >>> half.decode([15360, 49408, half.nan]).tolist()
    [1.0, -2.5, nan]

    """

    def __init__(self, exponent_bits: int, fraction_bits: int) -> None:
        self.exponent_bits = whole(exponent_bits, "exponent_bits", 2, _MOST_EXPONENT)
        self.fraction_bits = whole(fraction_bits, "fraction_bits", 1, _MOST_FRACTION)
        self._size = self.exponent_bits + self.fraction_bits
        self._bias = (1 << (self.exponent_bits - 1)) - 1
        self._ones = (1 << self.exponent_bits) - 1
        #: The integers that numbers are.
        self.kind = IntegerKind(self._size + 1)
        #: The bits of plus infinity.
        self.infinity = self._ones << self.fraction_bits
        #: The bits of the NaN that operations give.
        self.nan = self.infinity | 1 << (self.fraction_bits - 1)

    def __repr__(self) -> str:
        return f"FloatingPoint({self.exponent_bits}, {self.fraction_bits})"

    @property
    def most(self) -> float:
        """The largest finite number."""
        return float(self.decode([self.infinity - 1])[0])

    # In the clear

    def encode(self, numbers: ArrayLike) -> NDArray[Any]:
        """The bits of the nearest numbers, ties to even; `encrypt(keys, these, floating.kind)`.

        Infinities and NaN are encoded as such.

        Raises:
            OutOfRangeError: finite numbers that round to an infinity.
            ShapeError: what is no array of real numbers.

        """
        given = _doubles(numbers)
        finite = np.isfinite(given)
        size = np.abs(np.where(finite, given, 0.0))
        # The exponent of the last bit: subnormal numbers have that of the smallest normal one.
        least = 1 - self._bias
        exponent = np.where(size > 0, np.maximum(np.frexp(size)[1] - 1, least), least)
        units = np.rint(np.ldexp(size, self.fraction_bits - exponent)).astype(np.int64)
        # The bit in front of the fraction counts one exponent more; so does a carry.
        fields = (exponent.astype(np.int64) + self._bias - 1) << self.fraction_bits
        bits = fields + units
        if np.any(bits >= self.infinity):
            raise OutOfRangeError(
                f"finite numbers lie in {-self.most:g} to {self.most:g} as {self}: take more "
                "exponent_bits, or give infinities"
            )
        bits = np.where(finite, bits, np.where(np.isnan(given), self.nan, self.infinity))
        signs = (np.signbit(given) & ~np.isnan(given)).astype(np.int64)
        found: NDArray[Any] = (bits | signs << self._size).astype(self.kind.numpy)
        return found

    def decode(self, integers: ArrayLike) -> NDArray[np.float64]:
        """The numbers of decrypted bits, exactly.

        Raises:
            OutOfRangeError: others than integers of `kind`.
            ShapeError: what is no array of such.

        """
        given = unmasked(integers, "bits of floating-point numbers")
        bits = check_range(given, self.kind, "bits of floating-point numbers").astype(np.int64)
        exponent = bits >> self.fraction_bits & self._ones
        fraction = bits & (1 << self.fraction_bits) - 1
        units = fraction + ((exponent > 0).astype(np.int64) << self.fraction_bits)
        places = np.maximum(exponent, 1) - self._bias - self.fraction_bits
        size = np.ldexp(units.astype(np.float64), places)
        size = np.where(exponent == self._ones, np.where(fraction == 0, np.inf, np.nan), size)
        found: NDArray[np.float64] = np.where(bits >> self._size & 1, -size, size)
        return found

    # Encrypted

    def negative(self, a: Integers) -> Integers:
        """The number with the other sign."""
        return _checked(self, a) ^ 1 << self._size

    def absolute(self, a: Integers) -> Integers:
        """The number without its sign."""
        return _checked(self, a) & (1 << self._size) - 1

    def equal(self, a: Integers, b: Integers) -> Integers:
        """Whether both are the same number: zeros are, whatever their signs, and NaN never is."""
        first, second = _Parts(self, a), _Parts(self, b)
        same = (a == b) | first.zero & second.zero
        return same & ~(first.none | second.none)

    def less(self, a: Integers, b: Integers) -> Integers:
        """Whether the first number is less; false of NaN, and of zeros whatever their signs."""
        first, second = _Parts(self, a), _Parts(self, b)
        # Of two negative numbers the one that is farther from zero.
        inside = where(first.sign, second.size < first.size, first.size < second.size)
        across = first.sign & ~(first.zero & second.zero)
        found = where(first.sign ^ second.sign, across, inside)
        return found & ~(first.none | second.none)

    def subtract(self, a: Integers, b: Integers) -> Integers:
        """The difference, rounded."""
        return self.add(a, self.negative(b))

    def add(self, a: Integers, b: Integers) -> Integers:
        """The sum, rounded; NaN of opposite infinities, and zero has a sign if both have it."""
        guarded = self.fraction_bits + 4
        first, second = _Parts(self, a), _Parts(self, b)
        swap, opposite = first.size < second.size, first.sign ^ second.sign
        exponent = where(swap, second.exponent, first.exponent)
        large = where(swap, second.units, first.units)
        small = where(swap, first.units, second.units).astype(IntegerKind(guarded - 1)) << 2
        # Both differences beside the comparison, which takes as long.
        apart = where(swap, second.exponent - first.exponent, first.exponent - second.exponent)
        # Whether any bit that is set has been moved out.
        last = where(swap, first.last(2), second.last(2))
        lost = last < apart.astype(last.kind)
        small = _down(small, apart).astype(IntegerKind(guarded)) << 1 | lost.astype(
            IntegerKind(guarded)
        )
        # A difference is a sum with the complement and one more, by a bit behind both.
        wide = IntegerKind(guarded + 2)
        complement = where(opposite, _known(wide, wide.most), _known(wide, 0))
        above = large.astype(wide) << 4 | opposite.astype(wide)
        summed = (above + (small.astype(wide) << 1 ^ complement)) >> 1
        sign = where(_any(summed), where(swap, second.sign, first.sign), first.sign & second.sign)
        both = first.special & second.special
        return self._whole(
            _Unrounded(summed.astype(IntegerKind(guarded + 1)), 0, exponent, None),
            sign,
            first.special | second.special,
            first.none | second.none | both & opposite,
        )

    def multiply(self, a: Integers, b: Integers) -> Integers:
        """The product, rounded; NaN of an infinity and zero."""
        fraction = self.fraction_bits
        first, second = _Parts(self, a), _Parts(self, b)
        product = IntegerKind(2 * fraction + 2)
        units = first.units.astype(product) * second.units.astype(product)
        # Zeros in front, down to where all that a number of the smallest exponent has is lost.
        front = fraction + 2
        most = 2 * self._ones + front
        wide = IntegerKind(most.bit_length() + 1, signed=True)
        exponent = first.exponent.astype(wide) + second.exponent.astype(wide)
        exponent = exponent + (front - self._bias)
        exponent = where(exponent < 0, 0, exponent).astype(
            IntegerKind(max(most - self._bias, 1).bit_length())
        )
        # The last bit that is set: of a product the sum of both factors' places.
        last = first.last(0), second.last(0)
        places = IntegerKind(max(last[0].kind.width, exponent.kind.width) + 3, signed=True)
        room = (front + product.width - 2 - fraction) - (
            last[0].astype(places) + last[1].astype(places)
        )
        special = first.special | second.special
        return self._whole(
            _Unrounded(units, front, exponent, room),
            first.sign ^ second.sign,
            special,
            first.none | second.none | special & (first.zero | second.zero),
        )

    def _whole(
        self, number: _Unrounded, sign: Integers, infinite: Integers, none: Integers
    ) -> Integers:
        """The number of these units, rounded, or an infinity or NaN; with its sign."""
        width = number.front + number.units.kind.width
        kind = IntegerKind(width)
        # The highest bit that is set, or where the smallest exponent has it.
        units = number.units.astype(kind)
        ends = _filled(number.units).astype(kind)
        ends = ends | _filled(_known(kind, 1 << (width - 1)) >> number.exponent)
        highest = ends ^ ends >> 1
        # It is one bit, so that exclusive ors of bits say whether it is set in the number.
        hidden = _odd(units & highest)
        places = [_odd(highest & _distances(width, bit)) for bit in range((width - 1).bit_length())]
        moved = _of_bits(places, number.exponent.kind)
        for bit, place in reversed(list(enumerate(places))):
            units = where(place, units << (1 << bit), units)
        raised = number.exponent + 1 - moved
        size = IntegerKind(self._size)
        field = where(hidden, raised, 0).astype(size) << self.fraction_bits
        behind = width - 2 - self.fraction_bits
        low = (units >> (behind + 1)).astype(IntegerKind(self.fraction_bits))
        down = field | low.astype(size)
        odd = _bit(units, behind + 1)
        if number.room is None:
            left = IntegerKind(behind + 1)
            below = units.astype(IntegerKind(behind)).astype(left)
            rest = _any(below | odd.astype(left) << behind)
        else:
            rest = (moved.astype(number.room.kind) < number.room) | odd
        up = _bit(units, behind) & rest
        overflow = ~_any(~raised.astype(IntegerKind(self.exponent_bits)))
        if raised.kind.width > self.exponent_bits:
            overflow = overflow | _any(raised >> self.exponent_bits)
        beyond = infinite | none | overflow & hidden
        # One of three, each with a bit that chooses it: the last step is one product.
        found = _chosen(up & ~beyond, down + 1) ^ _chosen(~up & ~beyond, down)
        found = found ^ _chosen(
            beyond, where(none, _known(size, self.nan), _known(size, self.infinity))
        )
        return found.astype(self.kind) | (sign & ~none).astype(self.kind) << self._size


class _Unrounded(NamedTuple):
    """A number before it is rounded: zeros, and units behind them."""

    units: Integers
    front: int
    """Zeros in front of the units."""
    exponent: Integers
    """How many places the number may move up, until its exponent is 1."""
    room: Integers | None
    """How many places it has to move up at least for nothing to be left behind the bit that is
    rounded; None where that is seen from what is left."""


class _Parts:
    """What the bits of a number say."""

    def __init__(self, of: FloatingPoint, number: Integers) -> None:
        number, fraction = _checked(of, number), of.fraction_bits
        self.sign = _bit(number, of.kind.width - 1)
        self.size = number.astype(IntegerKind(of.kind.width - 1))
        self.exponent = (self.size >> fraction).astype(IntegerKind(of.exponent_bits))
        low = self.size.astype(IntegerKind(fraction))
        self._normal, some = _any(self.exponent), _any(low)
        self.zero = ~(self._normal | some)
        #: Infinities and NaN.
        self.special = ~_any(~self.exponent)
        self.none = self.special & some
        kind = IntegerKind(fraction + 1)
        self._hidden = low.astype(kind) | 1 << fraction
        #: In units of the last place; subnormal numbers twice, as if their exponent were one less.
        self.units = where(self._normal, self._hidden, low.astype(kind) << 1)
        self._exponent_bits = of.exponent_bits

    def last(self, more: int) -> Integers:
        """The place of the last bit of `units` that is set, and `more`; of zero any beyond.

        Zeros need no care: what is lost of them would be less than half of the other's last place.
        """
        width = self._hidden.kind.width
        kind = IntegerKind(max(self._exponent_bits, (width + more).bit_length()))
        filled, step = self._hidden, 1
        while step < width:
            filled, step = filled | filled << step, 2 * step
        lowest = filled ^ filled << 1

        def place(further: int) -> Integers:
            places = range(further, further + width)
            masks = [
                sum(1 << at for at, n in enumerate(places) if n >> bit & 1)
                for bit in range(kind.width)
            ]
            return _of_bits([_odd(lowest & mask) for mask in masks], kind)

        return where(self._normal, place(more), place(more + 1))


def _doubles(numbers: ArrayLike) -> NDArray[np.float64]:
    """Numbers as doubles.

    Of two doubles beside a number that is none itself the one with an odd last bit: no further
    rounding takes it for a tie, or for an infinity, which the number is not.
    """
    given = unmasked(numbers, "numbers")
    with np.errstate(over="ignore"):
        doubles = real_array(given, "numbers")
    if given.dtype.kind == "f":
        wide = doubles.astype(given.dtype)
        above, below = given > wide, given < wide
    else:
        above, below = np.zeros(given.shape, dtype=bool), np.zeros(given.shape, dtype=bool)
        large = np.abs(doubles) >= 2.0**53
        whole_ones = np.array([int(x) for x in doubles[large]], dtype=object)
        above[large] = given[large].astype(object) > whole_ones
        below[large] = given[large].astype(object) < whole_ones
    moved = (above | below) & (doubles.view(np.int64) & 1 == 0)
    ends = np.where(above, np.inf, -np.inf)
    return np.nextafter(doubles, ends, out=doubles.copy(), where=moved)


def _checked(of: FloatingPoint, number: Integers) -> Integers:
    if not isinstance(number, Integers) or number.kind != of.kind:
        found = number.dtype if isinstance(number, Integers) else type(number).__name__
        raise ParameterError(
            f"{of} takes encrypted integers of {of.kind}, as it encodes them; not {found}"
        )
    return number


def _known(kind: IntegerKind, value: int) -> Integers:
    """A public number."""
    return Integers(kind, "constant", argument=value)


def _bit(number: Integers, place: int) -> Integers:
    """Whether one bit is set."""
    return (number >> place).astype(IntegerKind(1)).astype(BOOL)


def _any(number: Integers) -> Integers:
    """Whether any bit is set."""
    return number.astype(BOOL)


def _odd(number: Integers) -> Integers:
    """Whether an odd number of bits is set: exclusive ors."""
    return _bit(number.bit_count(), 0)


def _distances(width: int, bit: int) -> int:
    """The places whose distance from the highest one has this bit."""
    return sum(1 << (width - 1 - away) for away in range(width) if away >> bit & 1)


def _filled(number: Integers) -> Integers:
    """All bits from the highest one that is set down."""
    step = 1
    while step < number.kind.width:
        number, step = number | number >> step, 2 * step
    return number


def _chosen(choice: Integers, number: Integers) -> Integers:
    """The number where the bit is set, elsewhere 0."""
    return where(choice, number, 0)


def _of_bits(bits: list[Integers], kind: IntegerKind) -> Integers:
    """The number of these bits, lowest first, modulo the type's width."""
    found = _known(kind, 0)
    for place, bit in enumerate(bits[: kind.width]):
        found = found | bit.astype(kind) << place
    return found


def _down(number: Integers, places: Integers) -> Integers:
    """A number moved down, by encrypted places: far moves first."""
    near = (number.kind.width - 1).bit_length()
    if places.kind.width > near:
        number = where(_any(places >> near), 0, number)
    for bit in reversed(range(min(near, places.kind.width))):
        number = where(_bit(places, bit), number >> (1 << bit), number)
    return number
