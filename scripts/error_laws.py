"""Measures the laws `c L^-a` of products (crates/hesc-stochastic/src/laws.rs).

For each structured generator and 1 to 10 factors the error of `x^k` is measured over random inputs
at lengths from 64 to 8192, divided by the shape that exact-weight streams have (the unit of
`ErrorLaw::variance`), and a line is fitted to the logarithms. `--check` prints how far the measured
errors are from the fit instead of writing it.

Run: python -m scripts.error_laws
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import hesc

if TYPE_CHECKING:
    from numpy.typing import NDArray

TARGET = Path(__file__).parents[1] / "crates" / "hesc-stochastic" / "data" / "error_laws.rs"
GENERATORS = ("lfsr", "sobol", "plain_sobol", "halton", "hammersley", "lattice")
LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
FACTORS = 10
INPUTS = 500
DRAWS = 20
# First dimensions that are tried: as many as the shortest streams have to spare.
FIRST = {"halton": 4, "lattice": 6, "lfsr": 6, "hammersley": 1}


def shape(x: NDArray[np.float64], factors: int) -> NDArray[np.float64]:
    """The exact-weight variance of `x^k` in units of `1 / L`; a constant for one factor."""
    if factors == 1:
        return np.ones_like(x)
    m = np.abs(x) ** factors
    return 1 + (factors - 1) * m**2 - factors * m ** (2 - 2 / factors)


def measured(generator: str, length: int) -> NDArray[np.float64]:
    """The error of products of 1 to `FACTORS` factors, in units of the shape."""
    squares, shapes = np.zeros(FACTORS), np.zeros(FACTORS)
    rng = np.random.default_rng(length)
    for draw in range(DRAWS):
        x = rng.uniform(-1, 1, INPUTS)
        first = draw % FIRST.get(generator, DRAWS)
        encoder = hesc.Encoder(
            length, generator=generator, first_dimension=first, random_state=draw
        )
        product = encoder.encode(x)
        for factors in range(1, FACTORS + 1):
            squares[factors - 1] += np.sum((product.values - x**factors) ** 2)
            shapes[factors - 1] += np.sum(shape(x, factors))
            if factors < FACTORS:
                product ^= encoder.encode(x)
    return np.sqrt(squares / shapes)


def main() -> None:
    """Writes the constants, or compares them with what is measured now."""
    lines = []
    for generator in GENERATORS:
        errors = np.array([measured(generator, length) for length in LENGTHS])
        slopes, starts = np.polyfit(np.log(LENGTHS), np.log(errors), 1)
        fit = np.exp(starts + np.outer(np.log(LENGTHS), slopes))
        worst = np.abs(errors / fit - 1).max(axis=0)
        print(
            f"{generator}: measured over fit, farthest from 1 for 1 to 10 factors: {worst.round(2)}"
        )
        pairs = ", ".join(
            f"({c:.4g}, {-a:.4f})" for c, a in zip(np.exp(starts), slopes, strict=True)
        )
        lines.append(f"const {generator.upper()}: Constants = [{pairs}];\n")
    if "--check" not in sys.argv:
        TARGET.write_text("".join(lines))


if __name__ == "__main__":
    main()
