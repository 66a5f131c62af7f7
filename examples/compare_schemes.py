"""One polynomial, f(x) = x^3 - x^2 / 2 + x, under every scheme: time, error, bytes.

Inverted-bipolar streams on [-1, 1] where adding is an exclusive or, unipolar ones on [0, 1] where
it is a conjunction.

Run: python examples/compare_schemes.py [--length 1024]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from rich.console import Console
from rich.table import Table

import hesc

SETS = (
    "bfv_1024",
    "ckks_1024",
    "bfv_2048_slots",
    "gm_3072",
    "ec_elgamal_ristretto255",
    "unipolar_elgamal_ristretto255",
    "unipolar_bfv_8192",
    "unipolar_bgv_8192",
    "unipolar_bgv_13107",
)


def main() -> None:
    """A row for each parameter set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int, default=1024)
    length = parser.parse_args().length
    # Not multiples of 1/8: on those a Sobol net of this size makes no error at all.
    values = np.linspace(-0.97, 0.93, 9)
    table = Table("parameters", "milliseconds", "RMSE", "bytes up", "bytes down")
    for name in SETS:
        secret, public = hesc.keygen(hesc.Params.preset(name))
        unipolar = name.startswith("unipolar")
        representation = "unipolar" if unipolar else "inverted_bipolar"
        encryptor = hesc.Encryptor(public, length, representation=representation)
        x = np.abs(values) if unipolar else values
        exact = x**3 - x**2 / 2 + x
        start = time.perf_counter()
        copies = encryptor.encrypt_copies(x, 3)
        first, second, third = hesc.powers(copies)
        answer = (third - second / 2 + first).answer()
        found = hesc.Decryptor(secret).decrypt(answer)
        milliseconds = (time.perf_counter() - start) * 1e3
        table.add_row(
            name,
            f"{milliseconds:.2f}",
            f"{np.sqrt(np.mean((found - exact) ** 2)):.4f}",
            f"{sum(len(copy.to_bytes()) for copy in copies):,}",
            f"{len(answer.to_bytes()):,}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
