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
GENERATORS = ("bernoulli", "exact_weight", "lfsr", "sobol")


def error(generator: str, length: int, factors: int, seeds: int) -> float:
    """RMSE of x^k from k independent streams of x."""
    x = np.linspace(-1, 1, 41)
    squares = []
    for seed in range(seeds):
        encoder = hesc.Encoder(length, generator=generator, random_state=seed)
        product = np.bitwise_xor.reduce([encoder.encode(x).streams.words() for _ in range(factors)])
        ones = np.bitwise_count(product).sum(axis=1)
        squares.append((1 - 2 * ones / length - x**factors) ** 2)
    return float(np.sqrt(np.mean(squares)))


def main() -> None:
    """One table for each number of factors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    seeds = parser.parse_args().seeds
    for factors in FACTORS:
        table = Table("encoder", *(f"L = {length}" for length in LENGTHS), title=f"x^{factors}")
        for generator in GENERATORS:
            errors = (error(generator, length, factors, seeds) for length in LENGTHS)
            table.add_row(generator, *(f"{value:.4f}" for value in errors))
        Console().print(table)


if __name__ == "__main__":
    main()
