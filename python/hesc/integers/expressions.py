"""Integers that are computed later: operators build an expression, a plan computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Never, overload

import numpy as np

from hesc._native import ParameterError, ShapeError
from hesc._support.inputs import whole
from hesc._support.opaque import Opaque
from hesc.integers.kinds import BOOL, IntegerKind, check_range, common, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray


ROW_SORTED: Final = "sorted along the row"
"""The operation of `sort` on one array."""


class Integers(Opaque):
    """Integers that are not known here: `kind` says which they may be.

    `+ - * // % ** << >> & | ^ ~`, comparisons and `abs` are numpy's, wrapping included: results
    have the type that numpy promotes to and wrap modulo `2**width`. Public numbers are Python
    integers within the type of the other operand, or rows of integers of numpy, one for each
    encrypted number; circuits with them are cheaper. Nothing is computed until a plan, or
    `evaluate`, does it.

    A division by zero gives all ones without sign (the largest quotient), with signs -1 for
    dividends from zero on and 0 below; the remainder is the dividend.
    """

    def __init__(
        self,
        kind: IntegerKind,
        operation: str = "input",
        operands: Sequence[Integers] = (),
        argument: int = 0,
    ) -> None:
        self.kind = kind
        self.operation = operation
        self.operands = tuple(operands)
        self.argument = argument

    @property
    def dtype(self) -> str:
        """The type's name: "uint64", "int24", "bool"."""
        return str(self.kind)

    def __repr__(self) -> str:
        return f"<hesc.integers.Integers: {self.dtype}, {self.operation}>"

    # Operators

    def _binary(
        self, operation: str, other: object, *, result: IntegerKind | None = None
    ) -> Integers:
        both = _operand(other, self.kind)
        kind = common(self.kind, both.kind)
        return Integers(result or kind, operation, [self.astype(kind), both.astype(kind)])

    def _arithmetic(self, operation: str, other: object) -> Integers:
        if self.kind.boolean and (not isinstance(other, Integers) or other.kind.boolean):
            raise ParameterError(
                f"{operation} of truth values: numpy has none, or logic for them; take & | ^ ~, or "
                "astype"
            )
        return self._binary(operation, other)

    def __add__(self, other: object) -> Integers:
        return self._arithmetic("add", other)

    __radd__ = __add__

    def __sub__(self, other: object) -> Integers:
        return self._arithmetic("subtract", other)

    def __rsub__(self, other: object) -> Integers:
        return _operand(other, self.kind)._arithmetic("subtract", self)

    def __mul__(self, other: object) -> Integers:
        return self._arithmetic("multiply", other)

    __rmul__ = __mul__

    def __floordiv__(self, other: object) -> Integers:
        places = _places(other, self.kind)
        return self._arithmetic("quotient", other) if places is None else self >> places

    def __rfloordiv__(self, other: object) -> Integers:
        return _operand(other, self.kind)._arithmetic("quotient", self)

    def __mod__(self, other: object) -> Integers:
        places = _places(other, self.kind)
        if places is None:
            return self._arithmetic("remainder", other)
        return self & (1 << places) - 1

    def __rmod__(self, other: object) -> Integers:
        return _operand(other, self.kind)._arithmetic("remainder", self)

    def __divmod__(self, other: object) -> tuple[Integers, Integers]:
        return self // other, self % other

    def __rdivmod__(self, other: object) -> tuple[Integers, Integers]:
        first = _operand(other, self.kind)
        return first // self, first % self

    def __pow__(self, exponent: object) -> Integers:
        """A public power: by squarings, each a level of products deeper."""
        if isinstance(exponent, np.integer):
            # It has a type, which takes part in promotion.
            return self.astype(common(self.kind, kind_of(exponent.dtype))) ** int(exponent)
        if self.kind.boolean:
            raise ParameterError("powers of truth values: take astype('uint8') first")
        power = whole(exponent, "the exponent", 0, 1 << 16)
        if power == 0:
            return _constant(1, self.kind)
        square, result = self, None
        while True:
            if power & 1:
                result = square if result is None else result * square
            power >>= 1
            if not power:
                return self if result is None else result
            square = square * square

    def __truediv__(self, other: object) -> Never:
        raise ParameterError("/ gives fractions; // and % are for integers")

    __rtruediv__ = __truediv__

    def __and__(self, other: object) -> Integers:
        return self._binary("and", other)

    __rand__ = __and__

    def __or__(self, other: object) -> Integers:
        return self._binary("or", other)

    __ror__ = __or__

    def __xor__(self, other: object) -> Integers:
        return self._binary("xor", other)

    __rxor__ = __xor__

    def __invert__(self) -> Integers:
        return Integers(self.kind, "invert", [self])

    def __neg__(self) -> Integers:
        return _constant(0, self.kind) - self

    def __pos__(self) -> Integers:
        return self

    def __abs__(self) -> Integers:
        return Integers(self.kind, "absolute", [self]) if self.kind.signed else self

    def __lshift__(self, by: object) -> Integers:
        return self._shifted("left", by)

    def __rshift__(self, by: object) -> Integers:
        return self._shifted("right", by)

    def __rlshift__(self, other: object) -> Integers:
        return _operand(other, self.kind) << self

    def __rrshift__(self, other: object) -> Integers:
        return _operand(other, self.kind) >> self

    def _shifted(self, direction: str, by: object) -> Integers:
        if isinstance(by, np.integer):
            # It has a type, which takes part in promotion.
            kind = common(self.kind, kind_of(by.dtype))
            return self.astype(kind)._shifted(direction, int(by))  # noqa: SLF001 - its own
        if isinstance(by, np.ndarray):
            by = _operand(by, self.kind)
        if isinstance(by, Integers):
            if by.kind.signed:
                raise ParameterError("numbers of places have no sign: astype('uint8')")
            kind = common(self.kind, by.kind)
            if kind.boolean:
                raise ParameterError("shifts of truth values by such: take astype('uint8') first")
            return Integers(kind, direction, [self.astype(kind), by])
        places = whole(by, "the number of places", 0)
        number = self.astype("int64") if self.kind.boolean else self
        return Integers(number.kind, f"{direction} by", [number], min(places, number.kind.width))

    def __lt__(self, other: object) -> Integers:
        return self._binary("less", other, result=BOOL)

    def __gt__(self, other: object) -> Integers:
        return self._binary("greater", other, result=BOOL)

    def __le__(self, other: object) -> Integers:
        return ~(self > other)

    def __ge__(self, other: object) -> Integers:
        return ~(self < other)

    def __eq__(self, other: object) -> Integers:  # type: ignore[override]
        return self._binary("equal", other, result=BOOL)

    def __ne__(self, other: object) -> Integers:  # type: ignore[override]
        return ~(self == other)

    __hash__ = None

    def astype(self, dtype: IntegerKind | DTypeLike) -> Integers:
        """The same numbers as another type, wrapping as numpy does."""
        kind = kind_of(dtype)
        if kind == self.kind:
            return self
        if self.operation == "constant":
            # As numpy has it: a number modulo the new width.
            mask = (1 << kind.width) - 1
            value = int(self.argument != 0) if kind.boolean else self.argument & mask
            return _constant(
                value - (mask + 1) if kind.signed and value > kind.most else value, kind
            )
        return Integers(kind, "convert", [self])

    def bit_count(self) -> Integers:
        """How many bits are set, of the absolute value if signed, as `numpy.bitwise_count`."""
        number = abs(self)
        return Integers(IntegerKind(8 if self.kind.width < 256 else 16), "count", [number])


class PublicIntegers(Integers):
    """A row of numbers that everyone knows, beside encrypted ones."""

    def __init__(self, kind: IntegerKind, numbers: NDArray[Any]) -> None:
        super().__init__(kind, "public")
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)


def _places(divisor: object, kind: IntegerKind) -> int | None:
    """The shift that divides by a public power of two, rounded down; None of other divisors."""
    if not isinstance(divisor, int) or isinstance(divisor, bool) or kind.boolean:
        return None
    power = 0 < divisor <= kind.most and divisor & (divisor - 1) == 0
    return divisor.bit_length() - 1 if power else None


def _constant(value: int, kind: IntegerKind) -> Integers:
    return Integers(kind, "constant", argument=value)


def _operand(value: object, kind: IntegerKind) -> Integers:
    """An operand: integers, or a public number within a kind's range.

    Raises:
        OutOfRangeError: a number that the kind does not hold.

    """
    if isinstance(value, Integers):
        return value
    if isinstance(value, np.ndarray) and not value.ndim and value.dtype.kind in "biu":
        # One number.
        value = value[()]
    if isinstance(value, bool | np.bool_):
        return _constant(int(value), BOOL)
    if isinstance(value, np.ndarray) and value.ndim:
        kind = kind_of(value.dtype)
        if value.ndim != 1 or not value.size:
            raise ShapeError(
                "public numbers are single, or a row with one for each encrypted number; got shape "
                f"{value.shape}"
            )
        # A copy: expressions are computed later.
        return PublicIntegers(kind, check_range(value, kind, "public numbers").copy())
    if isinstance(value, np.integer):
        # numpy's numbers have a type, which takes part in promotion.
        return _constant(int(value), kind_of(value.dtype))
    if not isinstance(value, int):
        raise ParameterError(
            f"an operand is {type(value).__name__}; integers go with integers and whole numbers"
        )
    if kind.boolean:
        kind = kind_of("int64")
    check_range(value, kind, f"public numbers beside {kind}")
    return _constant(value, kind)


def where(condition: Integers, one: object, zero: object) -> Integers:
    """`one` where the truth value `condition` is set, `zero` elsewhere: `numpy.where`."""
    if not isinstance(condition, Integers) or not condition.kind.boolean:
        raise ParameterError("where takes a truth value first: a comparison, or astype(bool)")
    first = one if isinstance(one, Integers) else zero
    if not isinstance(first, Integers):
        raise ParameterError("where takes integers; one of both must be encrypted")
    both = [_operand(one, first.kind), _operand(zero, first.kind)]
    kind = common(both[0].kind, both[1].kind)
    return Integers(kind, "where", [condition, both[0].astype(kind), both[1].astype(kind)])


def minimum(a: object, b: object) -> Integers:
    """The smaller of both, number by number."""
    return _chosen("minimum", a, b)


def maximum(a: object, b: object) -> Integers:
    """The larger of both, number by number."""
    return _chosen("maximum", a, b)


def _chosen(operation: str, a: object, b: object) -> Integers:
    first = a if isinstance(a, Integers) else b
    if not isinstance(first, Integers):
        raise ParameterError(f"{operation} takes integers; one of both must be encrypted")
    other = b if first is a else a
    return first._binary(operation, other)  # noqa: SLF001 - of this module


def _checked_list(numbers: object) -> None:
    if isinstance(numbers, Integers | np.ndarray) or not hasattr(numbers, "__len__"):
        raise ShapeError("these are several integers, in a list: one for each place to compare")


def _together(
    numbers: Sequence[object], beside: IntegerKind | None = None
) -> tuple[list[Integers], IntegerKind]:
    """Several as one kind; public ones beside those that are encrypted, or beside another kind."""
    _checked_list(numbers)
    kinds = [number.kind for number in numbers if isinstance(number, Integers)]
    first = kinds[0] if kinds else beside
    if first is None:
        raise ParameterError("these are several integers, in a list; one of them is encrypted")
    several = [_operand(number, first) for number in numbers]
    kind = several[0].kind
    for number in several[1:]:
        kind = common(kind, number.kind)
    return [number.astype(kind) for number in several], kind


@overload
def sort(numbers: Integers) -> Integers: ...
@overload
def sort(numbers: Sequence[object]) -> list[Integers]: ...
def sort(numbers: Integers | Sequence[object]) -> Integers | list[Integers]:
    """Several integers in ascending order, number by number: `numpy.sort(axis=0)` of a stack.

    One array alone is sorted along its row, `numpy.sort`: in the layout "slotwise", where all of
    its numbers are in one ciphertext.
    """
    if isinstance(numbers, Integers):
        if numbers.kind.boolean or isinstance(numbers, PublicIntegers):
            raise ParameterError("a row that is sorted has encrypted numbers, not truth values")
        return Integers(numbers.kind, ROW_SORTED, [numbers])
    several, kind = _together(numbers)
    return [Integers(kind, "sorted", several, place) for place in range(len(several))]


def median(numbers: Sequence[object]) -> Integers:
    """The one in the middle, the lower of two: a number that is there, not a mean of two."""
    return sort(numbers)[(len(numbers) - 1) // 2]


def total(numbers: Sequence[object]) -> Integers:
    """The sum of several, with all of its bits: it cannot wrap."""
    several, kind = _together(numbers)
    kind = IntegerKind(kind.width + (len(several) - 1).bit_length(), kind.signed)
    return Integers(kind, "total", [number.astype(kind) for number in several])


def dot(a: Sequence[object], b: Sequence[object]) -> Integers:
    """`sum(x * y)` with all of its bits; one of both may be public."""
    for factors in (a, b):
        _checked_list(factors)
    if len(a) != len(b):
        raise ShapeError(f"dot takes as many factors of both; got {len(a)} and {len(b)}")
    kinds = [number.kind for number in (*a, *b) if isinstance(number, Integers)]
    beside = kinds[0] if kinds else None
    (left, first), (right, second) = _together(a, beside), _together(b, beside)
    kind = IntegerKind(first.width + second.width, first.signed or second.signed)
    pairs = zip(left, right, strict=True)
    return total([x.astype(kind) * y.astype(kind) for x, y in pairs])
