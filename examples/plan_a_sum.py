"""How many ciphertexts should a sum fill? RMSE of 1 + x + ... + x^10 over x in [-1, 1].

From one result ciphertext (the conventional sum of koseki2022hesc selects at random, ours divides
the length for the least variance) to ten (concatenation), simulated.

Run: python examples/plan_a_sum.py [--length 1024] [--seeds 10] [--plot curve.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import hesc

DEGREE = 10
GENERATORS = ("bernoulli", "sobol", "joint")


def measured(
    summation: hesc.Summation, polynomial: hesc.Polynomial, generator: str, seeds: int
) -> float:
    """RMSE of a way to sum."""
    x = np.linspace(-1, 1, 101)
    secret, public = hesc.keygen(hesc.Params.preset("bfv_2048_slots"), mode="simulate")
    squares = []
    for seed in range(seeds):
        encryptor = hesc.Encryptor(
            public,
            summation.stream_length,
            generator=generator,
            layout="one_per_block",
            random_state=seed,
        )
        y = polynomial.evaluate(polynomial.encrypt_inputs(encryptor, x), summation)
        squares.append((hesc.Decryptor(secret).decrypt(y) - polynomial(x)) ** 2)
    return float(np.sqrt(np.mean(squares)))


def main() -> None:
    """One row for each number of ciphertexts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    polynomial = hesc.Polynomial(np.ones(DEGREE + 1))
    x = np.linspace(-1, 1, 101)
    table = Table("ciphertexts", "predicted (bernoulli)", *GENERATORS, title="RMSE, degree 10")
    ways = [polynomial.summation(options.length, method="multiplexed", random_state=1)]
    ways += [
        polynomial.summation(options.length, method="mixed", ciphertexts=count)
        for count in range(1, DEGREE + 1)
    ]
    curves: dict[str, list[float]] = {name: [] for name in ("predicted (bernoulli)", *GENERATORS)}
    for summation in ways:
        found = [float(np.sqrt(np.mean(summation.predicted_error(x, generator="bernoulli") ** 2)))]
        found += [measured(summation, polynomial, name, options.seeds) for name in GENERATORS]
        name = (
            f"{summation.streams} at random"
            if summation.method == "multiplexed"
            else f"{summation.streams}"
        )
        table.add_row(name, *(f"{value:.5f}" for value in found))
        for curve, value in zip(curves.values(), found, strict=True):
            curve.append(value)
    Console().print(table)
    if options.plot is not None:
        from matplotlib import pyplot as plt

        figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
        for name, curve in curves.items():
            style = "--" if name.startswith("predicted") else "-"
            (line,) = axes.plot(range(1, DEGREE + 1), curve[1:], style, marker="o", label=name)
            axes.plot(1, curve[0], "*", markersize=12, color=line.get_color())
        axes.set_yscale("log")
        axes.set_xlabel("result ciphertexts (stars: one, by random selection)")
        axes.set_ylabel(f"RMSE of the all-one polynomial of degree {DEGREE}")
        axes.grid(alpha=0.3, which="both")
        axes.legend()
        figure.savefig(options.plot, dpi=150)


if __name__ == "__main__":
    main()
