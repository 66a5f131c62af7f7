"""Weights in the clear as parts of a document, beside the plan that they are for."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._native import ShapeError, WireError
from hesc._support import documents
from hesc.ring_products.plans import spread, weight_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

FIELDS: Final = frozenset({"weights", "intercepts"})
"""Names of the parts."""


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

    def described(self) -> dict[str, Any]:
        """For a document."""
        return {
            "weights": documents.packed(self.weights),
            "intercepts": documents.packed(self.intercepts),
        }


def read(given: dict[str, Any], shape: tuple[int, int], what: str) -> Weights:
    """Weights from a document.

    Args:
        given: its fields, `FIELDS` among them.
        shape: outputs and features, as the plan says.
        what: whose they are.

    Raises:
        WireError: damaged numbers, or another shape.

    """
    weights = documents.unpacked(given["weights"], 2, "weights")
    intercepts = documents.unpacked(given["intercepts"], 1, "intercepts")
    if weights.shape != shape or intercepts.shape != (shape[0],):
        raise WireError(f"the weights of a {what} have another shape than its plan says")
    return Weights(np.ascontiguousarray(weights), intercepts)
