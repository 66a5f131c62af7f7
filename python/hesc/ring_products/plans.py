"""What plans of ring products are told, and what they say: bounds, sizes, rows of weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hesc import _native
from hesc._native import OutOfRangeError, ShapeError
from hesc._support.inputs import real_array
from hesc.params.parameter_set import explained

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


_UP: Final = 1 + 1e-9
"""Sums in another order are a little larger."""


class Sizes(NamedTuple):
    """Bytes on the wire, the same whatever the numbers are."""

    up: int
    """Bytes of a query."""
    down: int
    """Bytes of the answer to a query."""


class Bounds(NamedTuple):
    """What a plan is told of weights that it must not give away; see `RingProductPlan.hiding`."""

    weights_l1: float
    weights_l2: float
    offset: float

    @classmethod
    @explained
    def of_model(
        cls, weights: ArrayLike, intercepts: ArrayLike = 0.0, *, low: ArrayLike, high: ArrayLike
    ) -> Bounds:
        """The least powers of two that a model keeps to, which say little of it.

        Args:
            weights: a row for each output, or one row.
            intercepts: what is added to each output, or one number for all.
            low: the least declared value of each feature, or one for all.
            high: the greatest.

        Raises:
            OutOfRangeError: scores that doubles do not hold.
            ParameterError, ShapeError: numbers, ranges or shapes that cannot be.

        """
        sizes = _native.ring_product_bounds(weights, intercepts, low, high)
        # Half of the largest double, since bounds are rounded up.
        if not all(size < 2.0**1022 for size in sizes):
            raise OutOfRangeError(
                "weights times ranges are beyond what doubles hold, or no numbers; scale features "
                "or weights"
            )
        return cls(*map(power_above, sizes))


def power_above(size: float) -> float:
    """A power of two that is not less, nor was before rounding; zero of zero."""
    return float(2.0 ** np.ceil(np.log2(size * _UP))) if size > 0 else 0.0


def weight_rows(weights: ArrayLike) -> NDArray[np.float64]:
    """A row of weights for each output, as doubles one after the other."""
    rows = real_array(weights, "weights")
    if rows.ndim == 1:
        rows = rows.reshape(1, -1)
    if rows.ndim != 2 or not rows.size:
        raise ShapeError(f"weights have a row for each output; got the shape {rows.shape}")
    return np.ascontiguousarray(rows)


def spread(values: ArrayLike, count: int, name: str) -> NDArray[np.float64]:
    """One number for each of so many, or one for all; a copy, for plans keep them."""
    array = real_array(values, name)
    if array.shape not in {(), (count,)}:
        raise ShapeError(f"{name} are {count} numbers, or one; got the shape {array.shape}")
    return np.array(np.broadcast_to(array, (count,)))
