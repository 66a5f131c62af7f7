"""Noise that a server adds to scores, so that they say no more than their stated error."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def normal(count: int) -> NDArray[np.complex128]:
    """Complex numbers whose parts are normal of deviation one, from the system's generator.

    By the transform of Box and Muller (1958) on 53 random bits each, so that none is beyond 8.6.
    The generator is the system's: whoever could foresee it would subtract the noise.
    """
    words = np.frombuffer(os.urandom(16 * count), dtype=np.uint64) >> np.uint64(11)
    first, second = (words.astype(np.float64) * 2.0**-53).reshape(2, count)
    # One less what is below one: above zero, and at most one.
    radius = np.sqrt(-2 * np.log(1 - first))
    found: NDArray[np.complex128] = radius * np.exp(2j * np.pi * second)
    return found
