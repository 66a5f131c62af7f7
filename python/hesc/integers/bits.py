"""Numbers as rows of bits, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._native import DecryptionError, ShapeError
from hesc._support.inputs import not_endless
from hesc._support.memory import make_room
from hesc.integers.kinds import IntegerKind, check_range, kind_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray


def numbers_in(
    numbers: ArrayLike, dtype: DTypeLike | IntegerKind | None
) -> tuple[IntegerKind, NDArray[Any]]:
    """A row of numbers within a type."""
    not_endless(numbers, "numbers")
    try:
        array = np.asarray(numbers)
    except ValueError as error:
        raise ShapeError(f"integers are a row, and these form no array: {error}") from None
    kind = kind_of(array.dtype if dtype is None else dtype)
    shape = array.shape
    if len(shape) != 1 or not shape[0]:
        raise ShapeError(f"integers are a row of at least one; got shape {shape}")
    # A word for each bit, in whichever layout.
    make_room(8 * array.size * kind.width, f"{array.size:,} integers of {kind}")
    return kind, check_range(numbers, kind, "numbers")


def bits_of(numbers: NDArray[Any], kind: IntegerKind) -> NDArray[np.int64]:
    """Row `i` has bit `i` of each number."""
    mask = (1 << kind.width) - 1
    words = [int(number) & mask for number in numbers]
    size = -(-kind.width // 8)
    data = np.frombuffer(b"".join(word.to_bytes(size, "little") for word in words), dtype=np.uint8)
    rows = np.unpackbits(data.reshape(len(words), size), axis=1, bitorder="little")
    return np.ascontiguousarray(rows[:, : kind.width].T, dtype=np.int64)


def numbers_of(rows: NDArray[np.int64], kind: IntegerKind) -> NDArray[Any]:
    """What `bits_of` was given; the inverse."""
    if rows.size and bool(np.any((rows != 0) & (rows != 1))):
        raise DecryptionError(
            "there are other numbers than bits: the integers were damaged, or encrypted as others"
        )
    size = 8 * -(-kind.width // 8)
    bits = np.zeros((rows.shape[1], size), dtype=np.uint8)
    bits[:, : kind.width] = rows.T
    data = np.packbits(bits, axis=1, bitorder="little")
    words = [int.from_bytes(row.tobytes(), "little") for row in data]
    signed = [word - (1 << kind.width) if word > kind.most else word for word in words]
    return np.array(signed, dtype=kind.numpy)
