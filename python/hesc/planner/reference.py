"""How fast this processor is at the moment: one fixed ring product, timed beside other work.

Processors change their speed from second to second, with their clock and with what else they run.
Times that were measured at one moment are compared with those of another by what the same work
took at both.
"""

from __future__ import annotations

import statistics
import time
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from hesc.ring_products import Model, RingProductPlan
from hesc.ring_products.secret import decrypt_scores, encrypt_features
from hesc.secret import keygen

if TYPE_CHECKING:
    from collections.abc import Callable

_FEATURES: Final = 32
_ROUNDS: Final = 3
"""At least, in one reading."""


def reading(lasting: float = 0.0) -> float:
    """Seconds of a round trip now: the median of rounds for so many seconds, of three at least.

    A round trip encrypts 32 features, multiplies them by weights and decrypts the score, in the
    smallest ring: some 50 microseconds.
    """
    round_trip = _round_trip()
    found: list[float] = []
    begin = time.perf_counter()
    while len(found) < _ROUNDS or time.perf_counter() - begin < lasting:
        start = time.perf_counter()
        round_trip()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


@cache
def _round_trip() -> Callable[[], object]:
    weights = np.linspace(-1, 1, _FEATURES)[None, :]
    plan = RingProductPlan.of_model(weights, 0.0, low=-1.0, high=1.0, error=0.1)
    secret, _ = keygen(plan.params, products=False)
    model = Model(plan, weights, [0.0])
    x = np.zeros((1, _FEATURES))

    def once() -> object:
        query = encrypt_features(secret, plan, x)
        return decrypt_scores(secret, plan, model.evaluate(query))

    # Caches and predictors take some rounds to warm.
    for _ in range(200):
        once()
    return once
