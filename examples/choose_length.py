"""Which stream length, which parameter set? Errors, bytes and times of one task for each.

The first table is the root mean square error of one stream, of products of two parties' streams and
of polynomials of one party's, by stream length; what is below a wanted error is long enough. The
second has a weighted sum of sixteen encrypted numbers with encrypted weights on sets that add, at
one length: bytes up and down, and milliseconds of each party.

Run: python examples/choose_length.py [--draws 64] [--length 256]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from rich.console import Console
from rich.table import Table

import hesc

LENGTHS = (64, 256, 1024, 4096)
POLYNOMIALS = {
    "x^2": hesc.Polynomial([0, 0, 1]),
    "1 - x/2 + 2 x^3": hesc.Polynomial([1, -0.5, 0, 2]),
    "1 + x + ... + x^5": hesc.Polynomial(np.ones(6)),
    "1 + x + ... + x^10": hesc.Polynomial(np.ones(11)),
    "Chebyshev's T5": hesc.Polynomial(np.polynomial.Chebyshev([0, 0, 0, 0, 0, 1])),
}
SETS = (
    *("bfv_1024", "bfv_1024_fusion", "ckks_1024", "bfv_2048_slots", "ckks_2048"),
    *("unipolar_bgv_4096", "ec_elgamal_ristretto255", "gm_3072"),
)


def rms(errors: np.ndarray) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(np.square(errors))))


def errors(draws: int) -> Table:
    """By stream length."""
    table = Table("streams", *map(str, LENGTHS), title="RMSE by stream length, x over [-1, 1]")
    x = np.linspace(-1, 1, 41)
    for name, factors in (("x", 1), ("x y of two parties", 2), ("x y z of three", 3)):
        found = [
            rms(hesc.Encoder(length, random_state=0).predicted_error(x, factors))
            for length in LENGTHS
        ]
        table.add_row(name, *(f"{value:.5f}" for value in found))
    for name, polynomial in POLYNOMIALS.items():
        for generator in (None, "sobol"):
            found = [
                rms(
                    polynomial.summation(length).predicted_error(
                        x, draws=draws, generator=generator
                    )
                )
                for length in LENGTHS
            ]
            label = name if generator is None else f"  the same, {generator}"
            table.add_row(label, *(f"{value:.5f}" for value in found))
    return table


def sets(length: int) -> Table:
    """By parameter set: `(x * w).sum()` of sixteen numbers."""
    columns = ("bytes up", "bytes down", "not compact", "encrypt", "evaluate", "decrypt")
    title = f"a weighted sum of 16 numbers, {length} bits each; milliseconds"
    table = Table("set", *columns, title=title)
    rng = np.random.default_rng(0)
    x, w = rng.uniform(0, 1, (2, 16))
    for name in SETS:
        secret, public = hesc.keygen(hesc.Params.preset(name))
        unipolar = name.startswith("unipolar")
        representation = "unipolar" if unipolar else "inverted_bipolar"
        owner = hesc.SecretEncryptor(secret, length, representation=representation)
        other = hesc.Encryptor(
            public, length, representation=representation, first_dimension=1
        ).encrypt(w)
        best = np.full(3, np.inf)
        for _ in range(5 if secret.params.ring_degree else 1):
            marks = [time.perf_counter()]
            query = owner.encrypt(x).to_bytes()
            marks.append(time.perf_counter())
            total = (hesc.EncryptedArray.from_bytes(secret.params, query) * other).sum()
            answer = total.answer().to_bytes()
            marks.append(time.perf_counter())
            read = hesc.Answer.from_bytes(secret.params, answer)
            value, error = hesc.Decryptor(secret).decrypt(read, return_std=True)
            marks.append(time.perf_counter())
            best = np.minimum(best, np.diff(marks) * 1e3)
            owner = hesc.SecretEncryptor(secret, length, representation=representation)
        if abs(value - x @ w) > 6 * error + 0.1:
            raise RuntimeError(f"{name} is wrong: {value}, not {x @ w}")
        full = len(total.answer(compact=False).to_bytes())
        table.add_row(
            name, f"{len(query):,}", f"{len(answer):,}", f"{full:,}", *(f"{t:.3g}" for t in best)
        )
    return table


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=64)
    parser.add_argument("--length", type=int, default=256)
    options = parser.parse_args()
    console = Console(width=110)
    console.print(errors(options.draws))
    console.print(sets(options.length))


if __name__ == "__main__":
    main()
