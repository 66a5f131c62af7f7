"""Polynomials in place of activations, fitted where planning data lie and bounded everywhere else.

A fit on what was seen alone runs away beyond it. Here a twentieth of the weight lies evenly on all
values that a sum can have at all, so that a sample between both is a little wrong and not garbage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.polynomial import chebyshev, polynomial

from hesc.models.layers import activated, steepest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_EVENLY: Final = 0.05
"""The share of the weight that lies evenly."""
_PLACES: Final = 512
_NOTHING: Final = 1e-12
"""Terms of a slope that turn nothing, relative to the largest."""
_ROOM: Final = 1e-9
_SEEN: Final = 4096
"""Sums that a fit looks at, at most."""


def fitted(activation: str, width: float, seen: Array, degree: int) -> Array:
    """Coefficients `c` of `sum c[k] v**k`, near `activation(width * v)` for `v` in [-1, 1].

    Least squares over what was seen and, with a twentieth of the weight, over the interval. In
    Chebyshev's basis, brought into powers at the end.

    Args:
        activation: one that `hesc.models.layers.activated` knows.
        width: what the largest sum is divided by.
        seen: sums over `width`, of planning data.
        degree: 2 or more.

    """
    if activation == "square":
        return np.array([0.0, 0.0, width**2])
    step = max(1, -(-len(seen) // _SEEN))
    inside = np.sort(seen)[::step]
    evenly = np.cos(np.pi * (np.arange(_PLACES) + 0.5) / _PLACES)
    v = np.concatenate([inside, evenly])
    heavy = np.full(len(inside), (1 - _EVENLY) / max(1, len(inside)))
    weights = np.concatenate([heavy, np.full(_PLACES, _EVENLY / _PLACES)])
    target = activated(activation, width * v)
    found = chebyshev.chebfit(v, target, degree, w=np.sqrt(weights))
    coefficients = np.zeros(degree + 1)
    powers = chebyshev.cheb2poly(found)
    coefficients[: len(powers)] = powers
    return coefficients


def extremes(coefficients: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """The least and greatest values of a polynomial on each interval: at its ends and turns.

    With room of `1e-9` of the sum of its terms for roots that are found up to roundings, about
    which a polynomial hardly changes, and for leading terms that are too small to find any.
    """
    slope = polynomial.polyder(coefficients)
    slope = polynomial.polytrim(slope, _NOTHING * np.abs(slope).max())
    turns = polynomial.polyroots(slope)
    # Double roots are found with imaginary parts of about the root of a rounding.
    turns = turns.real[np.abs(turns.imag) < 1e-6]
    inside = np.clip(turns[:, None], low, high)
    values = polynomial.polyval(np.vstack([inside, low, high]), coefficients)
    sizes = np.maximum(np.abs(low), np.abs(high))
    room = _ROOM * polynomial.polyval(sizes, np.abs(coefficients))
    return values.min(axis=0) - room, values.max(axis=0) + room


def farthest(activation: str, width: float, coefficients: Array) -> float:
    """How far a fit is from its activation on [-1, 1] at most.

    On `2^14` points, and between them by the slopes of both: that of the activation is at most
    `width` times its `steepest`, that of the polynomial `degree^2` times its largest value
    (Markov's inequality).
    """
    if activation == "square":
        return 0.0
    v = np.linspace(-1, 1, 1 << 14)
    values = polynomial.polyval(v, coefficients)
    low, high = extremes(coefficients, np.array([-1.0]), np.array([1.0]))
    largest = max(-float(low[0]), float(high[0]))
    steep = (len(coefficients) - 1) ** 2 * largest + steepest(activation) * width
    apart = np.abs(values - activated(activation, width * v)).max()
    return float(apart + steep * (v[1] - v[0]) / 2)
