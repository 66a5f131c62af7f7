"""How large a share may be that few rows were counted of."""

from __future__ import annotations

import math
from typing import Final

_DOUBT: Final = 0.01
"""The probability that the share of samples like the rows is larger than `most` says."""
_STEPS: Final = 60


def most(misses: int, rows: int, *, tried: int = 1) -> float:
    """The largest share of which so few misses among so many rows are no great surprise.

    By Chernoff's bound (Hoeffding 1963, theorem 1): fewer misses than expected by a share `p` have
    a probability below `exp(-rows KL(misses / rows, p))`.

    Args:
        misses: among the rows.
        rows: how many.
        tried: how many ways the doubt is shared among, where the rows were asked about several and
            these are the misses of one: it is as sure whichever was taken.

    """
    seen = misses / rows
    low, high = seen, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if surprise(seen, rows, middle) > math.log(tried / _DOUBT):
            high = middle
        else:
            low = middle
    return high


def misses(share: float, rows: int, *, tried: int = 1) -> int:
    """The most misses among so many rows that leave a share no larger; -1 if none does."""
    low, high = -1, rows
    while low < high:
        middle = (low + high + 1) // 2
        if most(middle, rows, tried=tried) <= share:
            low = middle
        else:
            high = middle - 1
    return low


def surprise(seen: float, rows: int, share: float) -> float:
    """How rare it is that so many rows show a share so far from the true one, in nats, at least."""
    return rows * _divergence(seen, share)


def _divergence(seen: float, share: float) -> float:
    """The divergence of two coins (Kullback and Leibler), in nats."""
    if share >= 1:
        return 0.0 if seen >= 1 else math.inf
    if share <= 0:
        return 0.0 if seen <= 0 else math.inf
    one = seen * math.log(seen / share) if seen else 0.0
    other = (1 - seen) * math.log((1 - seen) / (1 - share)) if seen < 1 else 0.0
    return one + other
