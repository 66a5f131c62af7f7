"""A linear classifier whose server sees neither the data nor the diagnosis.

The regression of hsiao2022sche figure 4 on scikit-learn's breast cancer data. The client encrypts
streams of 30 features; the server, which has the weights in the clear, multiplies (exclusive ors
with public bits), sums (concatenation), counts ones and compares with the threshold, on encrypted
bits. One bit goes back.

Run: python examples/private_diagnosis.py [--patients 3] [--length 16]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from rich.console import Console
from rich.table import Table

import hesc
from hesc import gates
from hesc.papers.hsiao2022sche_figure_4 import train


def main() -> None:
    """A row for each patient, and the accuracy on all of them in the clear."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patients", type=int, default=3, help="how many are diagnosed encrypted")
    parser.add_argument("--length", type=int, default=16, help="bits of each feature's stream")
    arguments = parser.parse_args()
    model = train()
    # Benign from a half on: so many ones among all bits are too many.
    threshold = (0.5 - model.intercept) / model.scale / len(model.weights)
    bits = len(model.weights) * arguments.length
    too_many = int(np.clip(np.ceil(bits * (1 - threshold) / 2), 1, bits))

    # In the clear, to compare with.
    encoder = hesc.Encoder(arguments.length, random_state=0)
    features, weights = encoder.encode(model.features).bits, encoder.encode(model.weights).bits
    ones = (features ^ weights).reshape(len(features), bits).sum(axis=1)
    accuracy = np.mean((ones < too_many) == model.classes)

    secret, public = hesc.keygen(hesc.Params.recommended("tfhe"))  # client
    server = gates.Evaluator(secret.evaluation_key())  # has the key that evaluates, no secret
    circuit = gates.at_least(bits, too_many)
    table = Table("patient", "encrypted", "same streams in the clear", "truth", "seconds")
    names = {True: "benign", False: "malignant"}
    for patient in range(arguments.patients):
        query = gates.encrypt_bits(public, features[patient]).to_bytes()  # client

        received = gates.EncryptedBits.from_bytes(secret.params, query)  # server
        start = time.perf_counter()
        products = (received ^ weights).reshape(bits)
        (malignant,) = server(circuit, products)
        answer = server.answer(malignant).to_bytes()
        seconds = time.perf_counter() - start

        found = secret.decrypt_bits(gates.BitAnswer.from_bytes(secret.params, answer))  # client
        table.add_row(
            str(patient),
            names[not found[0]],
            names[bool(ones[patient] < too_many)],
            names[bool(model.classes[patient])],
            f"{seconds:.1f}",
        )
    console = Console()
    console.print(table)
    console.print(
        f"{server.program(circuit).bootstraps} bootstraps; {len(query)} bytes up, "
        f"{len(answer)} down; accuracy of these streams on {len(features)} patients "
        f"{accuracy:.3f}, "
        f"of floating point {model.score(model.outputs(model.features @ model.weights))[1]:.3f}",
        highlight=False,
    )


if __name__ == "__main__":
    main()
