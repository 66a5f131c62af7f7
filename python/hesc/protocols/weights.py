"""Weights in the clear, as servers and owners of linear models hold them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hesc._native import ShapeError
from hesc.protocols import wire
from hesc.ring_products.plans import spread, weight_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

FIELDS: Final = {"weights": wire.array(2), "intercepts": wire.array(1)}
"""Fields of `Weights` in a document, beside the plan that they are for."""


class Weights(NamedTuple):
    """Weights and intercepts of a linear model, on features after its plan's transforms."""

    weights: NDArray[np.float64]
    """A row for each output."""
    intercepts: NDArray[np.float64]
    """One for each output."""

    @classmethod
    def of(cls, weights: ArrayLike, intercepts: ArrayLike, shape: tuple[int, int]) -> Weights:
        """Weights of a shape: outputs and features.

        Raises:
            ShapeError: another shape.
            ParameterError: what are no numbers.

        """
        rows = weight_rows(weights)
        if rows.shape != shape:
            raise ShapeError(f"the plan is for weights of shape {shape}; got {rows.shape}")
        # A copy, as it was planned: the caller's array may be edited where it lies.
        return cls(rows.copy(), spread(intercepts, shape[0], "intercepts"))

    @property
    def fingerprint(self) -> bytes:
        """SHA-256 of shape and numbers: what a model is the same by, however it is planned.

        Who has it can try weights on it, so that it is written nowhere.
        """
        digest = hashlib.sha256(str(self.weights.shape).encode())
        for numbers in self:
            # Less than nothing is nothing.
            digest.update(np.ascontiguousarray(numbers + 0.0, dtype="<f8").tobytes())
        return digest.digest()
