"""Circuits on integers that take few products (xu2016integers, section 3).

Exclusive ors are free where bits are encrypted modulo 2 or as `tfhe` has them; what counts are
products (`Circuit.products`) and how many follow each other (`Circuit.product_depth`).

>>> circuit = adder(8)
>>> circuit.products, circuit.product_depth
(25, 4)
>>> int(circuit(200, 100)[0])
300

Numbers of `width` bits are unsigned words for `Circuit.__call__`, and two's complement where
`signed`. Adders are "ripple" (the fewest products, one after the other), "lookahead" (the
paper's, groups of four bits), "brent_kung", "ladner_fischer" (one more than the least depth, a
quarter fewer products), "sklansky" (the least depth) and "kogge_stone".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hesc import _native
from hesc._native import ParameterError
from hesc._support.inputs import INDEX, whole, written
from hesc.gates.circuit import Circuit, Signs, unsigned

if TYPE_CHECKING:
    from collections.abc import Callable

_BITS_OF_TABLES: Final = 5
# What is the same of signed numbers and of others, or for signed ones only.
_EITHER: Final = ("subtract", "negate", "absolute", "equal")


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise ParameterError(f"{name} is True or False; got {value!r}")
    return value


def _of_width(
    operation: str, width: int, *, adder: str = "sklansky", signed: bool = False
) -> Circuit:
    width = whole(width, "width", 0, INDEX)
    native = _native.integer_circuit(
        operation, width, written(adder, "adder"), _flag(signed, "signed")
    )
    return Circuit(native) if signed or operation in _EITHER else unsigned(native)


def adder(width: int, *, adder: str = "sklansky") -> Circuit:
    """`a + b` of `width` bits each (1 to 4096), with one bit more."""
    return _of_width("add", width, adder=adder)


def subtractor(width: int, *, adder: str = "sklansky") -> Circuit:
    """`a - b` modulo `2**width`, and whether it was borrowed (unsigned `a < b`)."""
    return _of_width("subtract", width, adder=adder)


def negation(width: int, *, adder: str = "sklansky") -> Circuit:
    """`-a` modulo `2**width`; with "ripple" the paper's chain of half adders."""
    return _of_width("negate", width, adder=adder)


def absolute(width: int, *, adder: str = "sklansky") -> Circuit:
    """`abs(a)` of a signed number; of the smallest one itself, as numpy has it."""
    return _of_width("absolute", width, adder=adder)


def less(width: int, *, signed: bool = False) -> Circuit:
    """Whether `a < b`, depth `1 + log2(width)`."""
    return _of_width("less", width, signed=signed)


def equal(width: int) -> Circuit:
    """Whether `a == b`: `width - 1` products."""
    return _of_width("equal", width)


def selection(width: int) -> Circuit:
    """`b` where the bit `a` is set, `c` elsewhere: `numpy.where`, a product a bit."""
    return _of_width("select", width)


def minimum(width: int, *, signed: bool = False) -> Circuit:
    """The smaller of two numbers."""
    return _of_width("minimum", width, signed=signed)


def maximum(width: int, *, signed: bool = False) -> Circuit:
    """The larger of two numbers."""
    return _of_width("maximum", width, signed=signed)


def bit_count(width: int, *, adder: str = "sklansky") -> Circuit:
    """How many of `width` bits are set: carries saved, as `numpy.bitwise_count`."""
    return _of_width("popcount", width, adder=adder)


def multiplier(
    width: int,
    result_width: int | None = None,
    *,
    signed: bool = False,
    adder: str = "sklansky",
    rows: str = "bits",
) -> Circuit:
    """`a * b` modulo `2**result_width`, by default with all `2 * width` bits; width 1 to 256.

    All rows at once, then carries are saved level by level: a level turns a column of `h` bits
    into `1 + (h - 1) / 2`, since sums modulo 2 have no depth. `rows` are one number for each of the
    other's "bits", or times each of its "digits" from -2 to 2 (Booth): half as many, a product
    deeper.
    """
    width = whole(width, "width", 0, INDEX)
    result = 2 * width if result_width is None else whole(result_width, "result_width", 0, INDEX)
    native = _native.integer_multiplier(
        width, result, str(adder), str(rows), _flag(signed, "signed")
    )
    # The lower half is the same of signed numbers and of others.
    return Circuit(native) if signed or result <= width else unsigned(native)


def divider(
    width: int, *, digit: int | None = 1, table: bool = False, adder: str = "sklansky"
) -> Circuit:
    """`a // b` and `a % b` of unsigned numbers of 1 to 256 bits.

    Division by zero gives the largest quotient and the dividend as the remainder.

    Args:
        width: bits of each.
        digit: bits of the quotient found at once, 1 to 4; None for the paper's way, where what is
            left may be negative.
        table: whether the upper half of the quotient is looked up, for 2, 4, 6, 8 or 10 bits.
        adder: how differences are made.

    """
    width = whole(width, "width", 0, INDEX)
    bits = None if digit is None else whole(digit, "digit", 0, INDEX)
    return unsigned(_native.integer_divider(width, bits, _flag(table, "table"), str(adder)))


def left_shifter(width: int, amount_width: int) -> Circuit:
    """`a << b`, the number of places encrypted too; zeros from `width` places on."""
    return _shifter(width, amount_width, left=True, signed=False)


def right_shifter(width: int, amount_width: int, *, signed: bool = False) -> Circuit:
    """`a >> b`, the number of places encrypted too; signed numbers keep their sign."""
    return _shifter(width, amount_width, left=False, signed=signed)


def _shifter(width: int, amount_width: int, *, left: bool, signed: bool) -> Circuit:
    width = whole(width, "width", 0, INDEX)
    amount = whole(amount_width, "amount_width", 0, INDEX)
    native = _native.integer_shifter(width, amount, left, _flag(signed, "signed"))
    # Amounts are not signed.
    return (
        Circuit(native, signs=Signs([True, False], [True])) if left or signed else unsigned(native)
    )


def _of_many(operation: str, count: int, width: int, adder: str, *, signed: bool) -> Circuit:
    count, width = whole(count, "count", 0, INDEX), whole(width, "width", 0, INDEX)
    native = _native.integers_circuit(
        operation, count, width, written(adder, "adder"), _flag(signed, "signed")
    )
    if not signed:
        return unsigned(native)
    # A place is not signed.
    outputs = [True, False] if operation == "largest" else [True] * len(native.outputs)
    return Circuit(native, signs=Signs([True] * count, outputs))


def total(count: int, width: int, *, adder: str = "sklansky") -> Circuit:
    """The sum of `count` unsigned numbers with all of its bits: carries saved."""
    return _of_many("sum", count, width, adder, signed=False)


def sorter(count: int, width: int, *, signed: bool = False) -> Circuit:
    """`count` numbers (1 to 1024) in ascending order, by Batcher's odd-even merge sort."""
    return _of_many("sort", count, width, "sklansky", signed=signed)


def largest(count: int, width: int, *, signed: bool = False) -> Circuit:
    """The largest of `count` numbers and its place, the first of several: `max` and `argmax`."""
    return _of_many("largest", count, width, "sklansky", signed=signed)


def table(width: int, result_width: int, function: Callable[[int, int], int]) -> Circuit:
    """Any function of two numbers of up to five bits, by its polynomial: the least depth.

    >>> table(4, 4, lambda a, b: a // b if b else 15).product_depth
    3
    """
    width = whole(width, "width", 1, _BITS_OF_TABLES)
    result = whole(result_width, "result_width", 1, 64)
    numbers = range(1 << width)
    values = [whole(function(a, b), "a value", 0, 2**result - 1) for b in numbers for a in numbers]
    return unsigned(_native.integer_table(width, result, values))
