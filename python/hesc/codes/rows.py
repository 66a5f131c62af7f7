"""Codes in the clear: rows of bits in words of 64, and their distances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hesc._native import OutOfRangeError, ShapeError
from hesc._support.inputs import unmasked, whole
from hesc._support.memory import make_room

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Distances of a block of codes, in words that are counted at once.
_BLOCK = 1 << 21


def packed(bits: ArrayLike) -> NDArray[np.uint64]:
    """Rows of bits as codes: bit `i` of a row is bit `i % 64` of its word `i // 64`.

    Args:
        bits: zeros and ones, a row for each code, a multiple of 64 long.

    Raises:
        OutOfRangeError: anything but zeros and ones.
        ShapeError: no rows, or of another length.

    """
    array = unmasked(bits, "bits")
    if array.dtype.kind not in "bui":
        raise ShapeError(f"bits must be whole numbers or truth values, got dtype {array.dtype}")
    if array.ndim != 2 or array.size == 0 or array.shape[1] % 64:
        raise ShapeError(
            f"bits of shape {array.shape} are no codes; give a row for each, a multiple of 64 long"
        )
    if array.min() < 0 or array.max() > 1:
        raise OutOfRangeError("bits are 0 and 1")
    # Bytes little end first whatever the machine has.
    rows = np.packbits(array.astype(bool), axis=1, bitorder="little")
    return rows.view("<u8").astype(np.uint64)


def unpacked(codes: ArrayLike) -> NDArray[np.uint8]:
    """The bits of codes, a row for each."""
    rows = checked(codes).astype("<u8").view(np.uint8)
    return np.unpackbits(rows, axis=1, bitorder="little")


def checked(codes: ArrayLike, name: str = "codes") -> NDArray[np.uint64]:
    """Codes as the compiled part takes them.

    Raises:
        ShapeError: what is no array of uint64 with a row for each code, or empty.

    """
    array = unmasked(codes, name)
    if array.dtype != np.uint64 or array.ndim != 2 or array.size == 0:
        raise ShapeError(
            f"{name} are rows of uint64, as coders and hesc.codes.packed make them; got shape "
            f"{array.shape} of {array.dtype}"
        )
    make_room(8 * array.size * (not array.flags.c_contiguous), f"{len(array):,} {name}")
    return np.ascontiguousarray(array)


def hamming(a: ArrayLike, b: ArrayLike) -> NDArray[np.uint32]:
    """Distances of every code of `a` (rows) to every one of `b` (columns), in the clear.

    Raises:
        ShapeError: codes of different lengths.

    """
    left, right = checked(a, "a"), checked(b, "b")
    if left.shape[1] != right.shape[1]:
        raise ShapeError(
            f"codes of {64 * left.shape[1]} and {64 * right.shape[1]} bits have no distance; make "
            f"both with one coder"
        )
    make_room(4 * len(left) * len(right), f"{len(left):,} by {len(right):,} distances")
    distances = np.empty((len(left), len(right)), dtype=np.uint32)
    rows = max(1, _BLOCK // right.size)
    for first in range(0, len(left), rows):
        block = left[first : first + rows]
        total = np.zeros((len(block), len(right)), dtype=np.uint32)
        for word in range(left.shape[1]):
            total += np.bitwise_count(block[:, word, None] ^ right[None, :, word])
        distances[first : first + rows] = total
    return distances


def nearest(distances: ArrayLike, count: int) -> NDArray[np.intp]:
    """Positions of the smallest distances along the last axis, the smallest first.

    Of equal ones the first counts as smaller.

    Raises:
        OutOfRangeError: more than there are, or none.

    """
    array = unmasked(distances, "distances")
    if array.ndim == 0 or array.dtype.kind not in "ui":
        raise ShapeError("distances are an array of whole numbers")
    most = whole(count, "count", 1, array.shape[-1])
    return np.argsort(array, axis=-1, kind="stable")[..., :most]
