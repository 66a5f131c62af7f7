"""Matrices in the clear, and the rotations that products need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc import _native
from hesc._native import ShapeError
from hesc._support.inputs import of_kind, whole
from hesc._support.memory import make_room
from hesc.params.vectors import VectorParams
from hesc.vectors.bounds import size_of
from hesc.vectors.numbers import coefficients_of, plain_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# No parameter set has more slots.
_MOST: int = 1 << 16


def _checked(size: int) -> int:
    if not 1 <= whole(size, "a length or side", -(2**63)) <= _MOST:
        raise ShapeError(f"lengths and sides are from 1 to {_MOST}; got {size}")
    return size


def dot_rotations(length: int) -> list[int]:
    """Steps of the rotations that inner products of vectors of this length need."""
    return _native.dot_rotations(_checked(length))


def matrix_rotations(rows: int, columns: int | None = None) -> list[int]:
    """Steps of the rotations that matrices of this shape need; a square one without `columns`."""
    return _native.matrix_rotations(_checked(rows), _checked(rows if columns is None else columns))


class Matrix:
    """A matrix in the clear, encoded for products with vectors.

    Any shape of at most a row of slots (half the ring degree) each way; `matrix @ vector` needs
    rotation keys for `hesc.vectors.matrix_rotations(rows, columns)`. Both sides are filled up to
    powers of two; with `d` the smaller one of these, a product takes `d` products with plaintexts
    and about `2 sqrt(d)` rotations, a wide matrix some more.

    Args:
        params: the parameter set of the vectors.
        values: whole numbers for BFV and BGV, real or complex ones for CKKS.
        level: CKKS: that of the vectors, or below; the highest by default. Integers fit every
            level.

    """

    def __init__(
        self, params: VectorParams, values: ArrayLike, *, level: int | None = None
    ) -> None:
        of_kind(params, "params", VectorParams, "hesc.Params.preset makes a set for vectors")
        array = plain_array(values)
        if array.ndim != 2:
            raise ShapeError(f"a matrix has two dimensions; got shape {array.shape}")
        row = params.ring_degree // 2
        if not all(1 <= side <= row for side in array.shape):
            raise ShapeError(
                f"a matrix has from 1 to {row} rows and columns, as many as a row of slots; got "
                f"shape {array.shape}"
            )
        # Diagonals of the filled matrix, each a plaintext.
        diagonals = 1 << (min(array.shape) - 1).bit_length()
        needed = 8 * diagonals * params.ring_degree * len(params.coeff_moduli)
        make_room(needed, f"a matrix of shape {array.shape}")
        numbers = coefficients_of(params, array)
        self.params = params
        self.shape: tuple[int, int] = (array.shape[0], array.shape[1])
        self.complex_values = array.dtype.kind == "c"
        # One number times a column needs no rotation.
        self.column = None
        if self.shape[1] == 1:
            self.column = numbers[:, 0] if self.complex_values else numbers.real[:, 0]
        level = (
            len(params.levels) if level is None else whole(level, "level", 1, len(params.levels))
        )
        self.native = _native.Matrix(params, numbers.reshape(-1), self.shape, level)
        # None if it takes vectors of all levels.
        self.level = self.native.level
        # What rows add up to at most, of integers.
        self.row_sum = 0 if params.is_approximate else _largest_row_sum(numbers)


def _largest_row_sum(numbers: NDArray[Any]) -> int:
    """The largest sum of the absolute values of a row, exactly."""
    sizes = np.abs(numbers)
    # Python's integers where 64 bits could wrap.
    exact = sizes if size_of(sizes) * sizes.shape[1] < 2**63 else sizes.astype(object)
    return int(exact.sum(axis=1).max())
