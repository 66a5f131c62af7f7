"""Networks of dense layers as arrays: what scikit-learn and ONNX files have in common."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


_LARGEST: Final = 1 << 24
"""Numbers of a matrix that two are multiplied to, unless one of them is larger."""
SLOPE: Final = 0.01
"""The slope of `leaky_relu` below zero, which is PyTorch's default."""
_ROOT: Final = 0.5**0.5


def _erf(x: Array) -> Array:
    found: Array = np.vectorize(math.erf, otypes=[np.float64])(x)
    return found


def _sigmoid(x: Array) -> Array:
    """`1 / (1 + exp(-x))`, without overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


ACTIVATIONS: Final[dict[str, Callable[[Array], Array]]] = {
    "identity": lambda x: x,
    "square": lambda x: x * x,
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "logistic": _sigmoid,
    "leaky_relu": lambda x: np.where(x >= 0, x, SLOPE * x),
    "silu": lambda x: x * _sigmoid(x),
    "gelu": lambda x: x * (1 + _erf(x * _ROOT)) / 2,
    "gelu_tanh": lambda x: x * _sigmoid(2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)),
}
"""What a layer does with its sums, by scikit-learn's names, `square`, and PyTorch's names."""
STEEPEST: Final = {
    "relu": 1.0,
    "tanh": 1.0,
    "logistic": 0.25,
    "leaky_relu": 1.0,
    "silu": 1.1,
    "gelu": 1.13,
    "gelu_tanh": 1.13,
}
"""What no slope of these activations is above, up or down."""
PROPORTIONAL: Final = frozenset({"relu", "leaky_relu"})
"""Activations that are as many times as large where their sums are, for any positive number."""
_LEAKY: Final = "leaky_relu"


def leaky(slope: float) -> str:
    """The activation `leaky_relu` of any slope below zero, as `activated` and others know it."""
    return _LEAKY if slope == SLOPE else f"{_LEAKY} {float(slope)!r}"


def _slope(name: str) -> float | None:
    """The slope of a `leaky_relu` that names one; None of other activations."""
    kind, _, slope = name.partition(" ")
    return float(slope) if kind == _LEAKY and slope else None


def activated(name: str, x: Array) -> Array:
    """What an activation makes of sums: of `ACTIVATIONS`, or of `leaky`."""
    slope = _slope(name)
    return ACTIVATIONS[name](x) if slope is None else np.where(x >= 0, x, slope * x)


def steepest(name: str) -> float:
    """What no slope of an activation but squares is above, up or down."""
    slope = _slope(name)
    return STEEPEST[name] if slope is None else max(1.0, abs(slope))


def is_proportional(name: str) -> bool:
    """Whether an activation is one of `PROPORTIONAL`, of whichever slope."""
    return name in PROPORTIONAL or _slope(name) is not None


@dataclass(frozen=True, eq=False)
class Layer:
    """`activation(x @ weights.T + intercepts)`.

    Raises:
        ShapeError: weights and intercepts that do not go together.
        OutOfRangeError: numbers that are not finite.
        ParameterError: another activation than those of `ACTIVATIONS` and `leaky`.

    """

    weights: Array
    """Outputs by inputs."""
    intercepts: Array
    """One for each output."""
    activation: str = "identity"

    def __post_init__(self) -> None:
        if self.weights.ndim != 2 or self.intercepts.shape != self.weights.shape[:1]:
            raise ShapeError("a layer has a row of weights and an intercept for each output")
        if not self.weights.size:
            raise ShapeError("a layer has an input and an output")
        if not (np.isfinite(self.weights).all() and np.isfinite(self.intercepts).all()):
            raise OutOfRangeError("weights and intercepts of a layer are finite numbers")
        if self.activation not in ACTIVATIONS and _slope(self.activation) is None:
            raise ParameterError(f"activations are {', '.join(ACTIVATIONS)}")

    def sums(self, x: Array) -> Array:
        """Before the activation."""
        return x @ self.weights.T + self.intercepts

    def __call__(self, x: Array) -> Array:
        """A row of outputs for each row."""
        return activated(self.activation, self.sums(x))


@dataclass(frozen=True, eq=False)
class DenseNetwork:
    """Layers one after the other; the last one's outputs are the scores.

    Raises:
        ShapeError: no layers, or such as do not follow upon each other.

    """

    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        widths = [layer.weights.shape for layer in self.layers]
        follow = all(a[0] == b[1] for a, b in itertools.pairwise(widths))
        if not widths or not follow:
            raise ShapeError("each layer of a network takes what the layer before it gives")

    @property
    def inputs(self) -> int:
        """Features of a sample."""
        return int(self.layers[0].weights.shape[1])

    @property
    def outputs(self) -> int:
        """Numbers of a score."""
        return int(self.layers[-1].weights.shape[0])

    @property
    def is_linear(self) -> bool:
        """Whether there is but one layer, without an activation."""
        return len(self.layers) == 1 and self.layers[0].activation == "identity"

    def scores(self, x: Array) -> Array:
        """A row of outputs for each row, in double precision."""
        for layer in self.layers:
            x = layer(x)
        return x

    def same_as(self, other: object) -> bool:
        """Whether both have the very same layers."""
        if not isinstance(other, DenseNetwork) or len(other.layers) != len(self.layers):
            return False
        return all(
            a.activation == b.activation
            and np.array_equal(a.weights, b.weights)
            and np.array_equal(a.intercepts, b.intercepts)
            for a, b in zip(self.layers, other.layers, strict=True)
        )

    def folded(self) -> DenseNetwork:
        """The same scores with as few layers: one that has no activation is part of the next.

        Raises:
            ParameterError: layers whose product is a matrix much larger than both.
            OutOfRangeError: products that are no finite numbers.

        """
        layers = [self.layers[0]]
        for layer in self.layers[1:]:
            before = layers[-1]
            if before.activation != "identity":
                layers.append(layer)
                continue
            rows, columns = len(layer.weights), before.weights.shape[1]
            if rows * columns > max(_LARGEST, layer.weights.size, before.weights.size):
                raise ParameterError(
                    f"two layers without an activation between them are one matrix of {rows} by "
                    f"{columns} numbers here, of {_LARGEST} at most; apply the first one before"
                )
            # What overflows is no layer.
            with np.errstate(over="ignore", invalid="ignore"):
                weights = layer.weights @ before.weights
                intercepts = layer.weights @ before.intercepts + layer.intercepts
            layers[-1] = Layer(weights, intercepts, layer.activation)
        return DenseNetwork(tuple(layers))
