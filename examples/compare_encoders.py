"""Which encoder for a product of k factors? RMSE over x in [-1, 1], in the clear.

Run: python examples/compare_encoders.py [--seeds 20]
"""

from __future__ import annotations

import argparse

import numpy as np
from rich.console import Console
from rich.table import Table

import hesc

LENGTHS = (64, 256, 1024, 4096)
FACTORS = (1, 2, 3, 5)
GENERATORS = (
    *("bernoulli", "exact_weight", "lfsr", "sobol", "halton", "hammersley", "lattice"),
    *("joint", "rotation"),
)


def error(generator: str, length: int, factors: int, seeds: int) -> float:
    """RMSE of x^k from k independent streams of x."""
    x = np.linspace(-1, 1, 41)
    squares = []
    for seed in range(seeds):
        encoder = hesc.Encoder(length, generator=generator, factors=factors, random_state=seed)
        product, *rest = encoder.encode_factors(np.broadcast_to(x, (factors, *x.shape)))
        for factor in rest:
            product *= factor
        squares.append((product.values - x**factors) ** 2)
    return float(np.sqrt(np.mean(squares)))


def main() -> None:
    """One table for each number of factors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    seeds = parser.parse_args().seeds
    for factors in FACTORS:
        table = Table("encoder", *(f"L = {length}" for length in LENGTHS), title=f"x^{factors}")
        for generator in GENERATORS:
            cells = []
            for length in LENGTHS:
                try:
                    cells.append(f"{error(generator, length, factors, seeds):.4f}")
                except hesc.ShapeError:
                    # Deterministic products have lengths of their own.
                    cells.append("-")
            table.add_row(generator, *cells)
        Console().print(table)


if __name__ == "__main__":
    main()
