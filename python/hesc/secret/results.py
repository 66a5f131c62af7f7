"""What key owners read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray


class SharedNumbers(NamedTuple):
    """Numbers for others than the key's owner."""

    values: NDArray[Any]
    """With noise."""
    deviation: float
    """The deviation of the noise, in the real and in the imaginary part."""
