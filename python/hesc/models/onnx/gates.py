"""Activations that are written as products of several operators: SiLU and GELU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc.models.onnx.values import Chain, Gate, is_logistic_of, with_activation

if TYPE_CHECKING:
    from hesc.models.onnx.values import Value


def gated(operator: str, left: Value | Any, right: Value | Any) -> Value | None:
    """What an operator of two makes of parts of an activation; None of others."""
    match operator, left, right:
        case ("Mul", Chain(), Chain()) if is_logistic_of(right, left):
            found: Value | None = with_activation(left, "silu")
        case ("Mul", Chain(), Chain()) if is_logistic_of(left, right):
            found = with_activation(right, "silu")
        case ("Add", Gate(done="erf"), np.ndarray()) if np.all(right == 1):
            found = Gate(left.of, "plus")
        case ("Mul", Chain(), Gate(done="plus")) if right.of is left:
            found = Gate(left, "times")
        case ("Mul", Gate(done="times"), np.ndarray()) if np.all(right == 1 / 2):
            found = with_activation(left.of, "gelu")
        case _:
            found = None
    return found
