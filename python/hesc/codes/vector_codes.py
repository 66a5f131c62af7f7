"""Codes of vectors."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from hesc._native import OutOfRangeError, ShapeError
from hesc._support.inputs import real_array, unmasked, whole
from hesc._support.memory import make_room
from hesc.codes.rows import packed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class SignProjection:
    """Signs of random projections: the distance of two codes tells the angle of two vectors.

    Each bit differs with probability `angle / pi` (Charikar 2002, "Similarity estimation
    techniques from rounding algorithms"), independently of the others over the random
    projections, so that an angle is read from `bits` with a deviation of at most
    `pi / (2 sqrt(bits))`. The projections are public.

    Args:
        dimension: numbers of a vector.
        bits: of a code, a multiple of 64.
        random_state: what the projections are drawn from; both sides use the same.

    """

    def __init__(self, dimension: int, *, bits: int = 512, random_state: int) -> None:
        self.dimension = whole(dimension, "dimension", 1, 1 << 20)
        self.bits = whole(bits, "bits", 64, 1 << 16)
        if self.bits % 64:
            raise ShapeError(f"bits is {bits}; codes have a multiple of 64")
        make_room(8 * self.dimension * self.bits, f"{self.bits:,} projections")
        rng = np.random.Generator(np.random.PCG64(whole(random_state, "random_state", 0)))
        self._projections = rng.standard_normal((self.dimension, self.bits))
        self._projections.flags.writeable = False

    @property
    def projections(self) -> NDArray[np.float64]:
        """What was drawn, (dimension, bits), for whoever has the random state."""
        return self._projections

    @property
    def digest(self) -> str:
        """SHA-256 of the signs of all that was drawn, in hexadecimal digits.

        Versions of numpy may draw other projections from the same state, whose codes do not
        compare; those of two sides that have the same digest do.
        """
        signs = np.packbits(self._projections > 0, bitorder="little")
        return hashlib.sha256(signs.tobytes()).hexdigest()

    def encode(self, vectors: ArrayLike) -> NDArray[np.uint64]:
        """The codes of vectors, a row for each.

        Raises:
            OutOfRangeError: NaN, infinities, and vectors of zeros, which have no direction.
            ShapeError: no rows, or of another length.

        """
        rows = real_array(vectors, "vectors")
        if rows.ndim != 2 or rows.shape[1] != self.dimension or not len(rows):
            raise ShapeError(
                f"vectors of shape {rows.shape}; give rows of {self.dimension} numbers each"
            )
        make_room(8 * len(rows) * (self.dimension + self.bits), f"{len(rows):,} codes")
        if not np.isfinite(rows).all():
            raise OutOfRangeError("vectors hold NaN or infinities; remove them")
        largest = np.abs(rows).max(axis=1, keepdims=True)
        if not largest.all():
            raise OutOfRangeError("a vector of zeros has no direction; leave it out")
        # The angle is the same, and nothing overflows.
        with np.errstate(under="ignore"):
            return packed((rows / largest) @ self._projections > 0)

    def angles(self, distances: ArrayLike) -> NDArray[np.float64]:
        """The angles that distances of these codes stand for, in radians.

        Raises:
            OutOfRangeError: a distance beyond the bits of a code.

        """
        array = unmasked(distances, "distances")
        if array.dtype.kind not in "ui":
            raise ShapeError("distances are whole numbers")
        if array.size and (array.min() < 0 or array.max() > self.bits):
            raise OutOfRangeError(f"distances of codes of {self.bits} bits are 0 to {self.bits}")
        return np.asarray(np.pi / self.bits * array)
