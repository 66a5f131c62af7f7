"""Times to invert the Vandermonde matrix of conjugates: `carpov2016packing` figures 1 and 2.

Seconds of the processor, of which everything here takes one thread: they do not count what other
processes take, as a clock does.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc._native import GaloisRing

ELIMINATION: Final = "elimination"
DUAL_BASIS: Final = "dual_basis"
# The costliest first; its ratios are to the others.
METHODS: Final = (ELIMINATION, "division", "first_column", DUAL_BASIS)
LABELS: Final = {
    ELIMINATION: "Gaussian elimination",
    "division": "any Vandermonde matrix: division by each factor",
    "first_column": "the paper's: explicit first column, Frobenius maps",
    DUAL_BASIS: "hesc: dual basis, Frobenius maps",
}
COLOURS: Final = dict(zip(METHODS, ("black", "tab:orange", "tab:blue", "tab:green"), strict=True))
# What takes longer by its count of products is computed from it.
MOST_SECONDS: Final = 60.0
MOST_SECONDS_QUICK: Final = 0.5
# Runs end after so many seconds or so many of them.
RUNS: Final = (1.0, 15)


@dataclass(frozen=True)
class Inversions:
    """Times in one ring."""

    seconds: dict[str, float]
    product: float
    """Seconds of a product of two elements within a sum of products, as elimination takes them."""
    computed: float
    """Seconds that elimination takes by the count of its products."""
    measured: bool
    """Whether elimination was measured; all others were."""
    agree: bool
    """Whether all measured inverses are the same."""

    def ratio(self, method: str) -> float:
        """The time of elimination over that of another method."""
        return self.seconds[ELIMINATION] / self.seconds[method]

    def row(self) -> dict[str, Any]:
        """Columns of a table."""
        return {
            **self.seconds,
            "from": "measured" if self.measured else "products",
            "ratio": self.ratio(DUAL_BASIS),
            "product, us": self.product * 1e6,
            "agree": self.agree,
        }


def _product_seconds(ring: GaloisRing) -> float:
    """Seconds of a product in a sum of as many as elimination's sums have on average.

    Products by zeros are left out: what a sum of such takes is the call's, not theirs.
    """
    rng = np.random.default_rng(0)
    length = max(1, ring.degree // 3)
    a, b = rng.integers(0, ring.modulus, (2, length, ring.degree), dtype=np.uint64)
    zeros = np.zeros_like(a)
    times = []
    for _ in range(200):
        start = time.process_time()
        ring.inner_product(zeros, b)
        middle = time.process_time()
        ring.inner_product(a, b)
        times.append(time.process_time() - middle - (middle - start))
    return statistics.median(times) / length


def invert(ring: GaloisRing, *, quick: bool) -> Inversions:
    """Measures all methods in a ring, medians of runs within a second; elimination if it ends."""
    product = _product_seconds(ring)
    computed = ring.vandermonde_products(ELIMINATION) * product
    measured = computed <= (MOST_SECONDS_QUICK if quick else MOST_SECONDS)
    seconds: dict[str, float] = {}
    inverses: list[NDArray[np.uint64]] = []
    agree = True
    for method in METHODS:
        if method == ELIMINATION and not measured:
            seconds[method] = computed
            continue
        times: list[float] = []
        while not times or (sum(times) < RUNS[0] and len(times) < RUNS[1]):
            start = time.process_time()
            inverse = ring.invert_vandermonde(method)
            times.append(time.process_time() - start)
        # Only the first is kept: they may be of half a gigabyte.
        inverses = inverses or [inverse]
        agree &= np.array_equal(inverses[0], inverse)
        seconds[method] = statistics.median(times)
    return Inversions(seconds, product, computed, measured, agree)


def draw(
    axes: Any, x: list[float], rows: list[dict[str, Any]], line: str, suffix: str = ""
) -> None:
    """A curve for each method on logarithmic seconds, hollow where computed."""
    for method in METHODS:
        label = f"{LABELS[method]}{suffix}"
        seconds = [row[method] for row in rows]
        axes.plot(x, seconds, line, marker="o", ms=5, color=COLOURS[method], label=label)
    for place, row in zip(x, rows, strict=True):
        if row["from"] != "measured":
            axes.plot(place, row[ELIMINATION], "o", ms=5, mfc="white", color=COLOURS[ELIMINATION])
    axes.set_yscale("log")
    axes.set_ylabel("processor seconds an inverse; hollow: computed from products")
    axes.grid(alpha=0.3, which="both")
    axes.legend(fontsize=8)
