"""What key owners read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SharedNumbers(NamedTuple):
    """Numbers for others than the key's owner."""

    values: NDArray[Any]
    """With noise."""
    deviation: float
    """The deviation of the noise, in the real and in the imaginary part."""


class Scores(NamedTuple):
    """What a ring product gives, for the key owner's eyes."""

    values: NDArray[np.float64]
    """A row of outputs for each sample."""
    error: float
    """The root mean square of their errors, at most, over servers: `Plan.error`."""


class Products(NamedTuple):
    """What products by logarithms give, for the key owner's eyes."""

    values: NDArray[np.float64]
    """The outputs of each sample: of the plan's shape, samples before it."""
    products: NDArray[np.float64]
    """A row of all products for each sample, without public weights."""
    error: float
    """The root mean square of the values' errors, at most: `Plan.error`."""
