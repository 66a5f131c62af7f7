"""Integers as rows of bits, lowest first, and back; negative ones in two's complement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, ShapeError
from hesc._support.inputs import of_kind, unmasked, whole
from hesc._support.memory import make_room

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_WORD = 64


def words_of(
    numbers: ArrayLike, width: int | None = None, *, signed: bool = False
) -> NDArray[np.uint64]:
    """Integers as words of 64 bits, within `width` bits if that is given.

    Raises:
        OutOfRangeError: what is no integer or does not fit; negative ones where they have no sign.

    """
    array = unmasked(numbers, "numbers")
    if not isinstance(signed, bool):
        raise ParameterError(f"signed is True or False; got {type(signed).__name__}")
    kind = array.dtype.kind
    if kind not in "ui" or (not signed and kind == "i" and np.any(array < 0)):
        raise OutOfRangeError(
            "inputs of a circuit are non-negative integers, or any with signed=True; give bits as "
            "0 and 1"
        )
    bits = _WORD if width is None else min(width, _WORD)
    # Python's integers: no type of numpy's holds all limits of all others.
    least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if array.size and not least <= int(array.min()) <= int(array.max()) <= most:
        what = "signed number" if signed else "number"
        raise OutOfRangeError(f"a {what} does not fit {bits} bits; take a larger width")
    return array.astype(np.int64).astype(np.uint64) if signed else array.astype(np.uint64)


def to_bits(numbers: ArrayLike, width: int, *, signed: bool = False) -> NDArray[np.uint8]:
    """Bits of integers, lowest first, along a new last axis of `width`.

    Where `signed`, they are those of two's complement, and the numbers from `-2**(width - 1)` to
    `2**(width - 1) - 1`.

    >>> to_bits([5, -2], 4, signed=True).tolist()
    [[1, 0, 1, 0], [0, 1, 1, 1]]

    Raises:
        OutOfRangeError: for a number that is negative and not `signed`, no integer or too wide.

    """
    width = whole(width, "width", 1, 2**20)
    # A word for each bit, before it is a byte.
    count = np.size(unmasked(numbers, "numbers"))
    make_room(8 * count * width, f"{count:,} numbers of {width:,} bits")
    array = words_of(numbers, width, signed=signed)
    places = np.arange(width, dtype=np.uint64)
    # Shifts beyond a word are not defined; the sign goes on there.
    low = array[..., None] >> np.minimum(places, np.uint64(_WORD - 1))
    return np.where((places < _WORD) | signed, low & np.uint64(1), 0).astype(np.uint8)


@overload
def to_numbers(bits: ArrayLike, *, signed: Literal[False] = False) -> NDArray[np.uint64]: ...
@overload
def to_numbers(bits: ArrayLike, *, signed: bool) -> NDArray[Any]: ...
def to_numbers(bits: ArrayLike, *, signed: bool = False) -> NDArray[Any]:
    """The numbers whose bits lie along the last axis, lowest first; at most 64.

    Where `signed`, the last bit is that of the sign, and the numbers are of the type int64.

    Raises:
        OutOfRangeError: for what is neither 0 nor 1.

    """
    of_kind(signed, "signed", bool, "it is True or False")
    array = bit_array(bits).astype(np.uint64)
    if np.ndim(bits) == 0 or array.shape[-1] > _WORD:
        raise ShapeError("numbers have their bits along the last axis, at most 64")
    places = np.arange(array.shape[-1], dtype=np.uint64)
    numbers: NDArray[np.uint64] = np.asarray(np.bitwise_or.reduce(array << places, axis=-1))
    return (signed_of(numbers, array.shape[-1]) if signed else numbers)[()]


def signed_of(numbers: NDArray[np.uint64], width: int) -> NDArray[np.int64]:
    """Words of so many bits as the signed numbers that they are in two's complement."""
    away = np.int64(_WORD - width)
    # Up to the top, where the sign is, and down with it.
    found: NDArray[np.int64] = np.asarray((numbers.astype(np.int64) << away) >> away)
    return found


def bit_array(bits: ArrayLike) -> NDArray[np.uint8]:
    """Zeros and ones, contiguous, at least one."""
    array = unmasked(bits, "bits")
    if array.dtype.kind not in "bui" or array.size == 0 or np.any((array < 0) | (array > 1)):
        raise OutOfRangeError(
            "bits are zeros and ones, at least one; to_bits makes them of numbers"
        )
    return np.ascontiguousarray(array.astype(np.uint8))
