"""Scales that are public where the numbers that they are for are not."""

from __future__ import annotations

import numpy as np

_UP = 1 + 1e-9
"""Against rounding in sums that are bounded."""


def power_above(size: float) -> float:
    """A power of two that is not less."""
    return float(2.0 ** np.ceil(np.log2(size * _UP))) if size > 0 else 0.0
