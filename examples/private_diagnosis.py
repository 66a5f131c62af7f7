"""A linear classifier whose server sees neither the data nor the diagnosis.

Scikit-learn's breast cancer data, 30 features. The client encrypts a stream of each. The server
has the weights in the clear and counts, of each stream, as many bits as the weight is large,
inverted where it is negative: a weighted sum without a product. It compares the count with the
threshold, on encrypted bits, and one bit goes back.

Run: python examples/private_diagnosis.py [--patients 5] [--length 8]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

import hesc
from hesc import gates
from hesc.gates.secret import decrypt_bits


def main() -> None:
    """A row for each patient, and the accuracy on all of them in the clear."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patients", type=int, default=5, help="how many are diagnosed encrypted")
    parser.add_argument("--length", type=int, default=8, help="bits of each feature's stream")
    arguments = parser.parse_args()
    data = load_breast_cancer()
    train_x, test_x, train_y, benign = train_test_split(
        data.data, data.target, test_size=1 / 3, random_state=0, stratify=data.target
    )
    scaler = MinMaxScaler((-1, 1), clip=True).fit(train_x)
    # Without a penalty large weights cancel each other, and streams have to be long.
    model = Ridge(alpha=10).fit(scaler.transform(train_x), train_y)
    features = scaler.transform(test_x)

    # What the server does, as places of bits: the first so many of each stream.
    step = np.abs(model.coef_).max() / arguments.length
    counted = np.rint(np.abs(model.coef_) / step).astype(int)
    chosen = np.arange(arguments.length) < counted[:, None]
    negative = np.broadcast_to((model.coef_ < 0)[:, None], chosen.shape)[chosen].astype(np.uint8)
    bits = len(negative)
    # Ones are negative: from so many on the score is below a half.
    too_many = int(np.clip(np.ceil((bits - (0.5 - model.intercept_) / step) / 2), 1, bits))

    # In the clear, to compare with.
    streams = hesc.Encoder(arguments.length, random_state=0).encode(features).bits
    malignant = (streams[:, chosen] ^ negative).sum(axis=1) >= too_many

    secret, public = hesc.keygen(hesc.Params.recommended("tfhe"), bootstrapping=True)  # client
    server = gates.Evaluator(public)
    circuit = gates.at_least(bits, too_many)
    table = Table("patient", "encrypted", "same streams in the clear", "truth", "seconds")
    for patient in range(arguments.patients):
        query = gates.encrypt_bits(public, streams[patient]).to_bytes()  # client

        received = gates.EncryptedBits.from_bytes(secret.params, query)  # server
        start = time.perf_counter()
        (verdict,) = server(circuit, received[chosen] ^ negative)
        answer = server.answer(verdict).to_bytes()
        seconds = time.perf_counter() - start

        (found,) = decrypt_bits(secret, gates.BitAnswer.from_bytes(secret.params, answer))  # client
        cells = (found, malignant[patient], not benign[patient])
        names = ("malignant" if cell else "benign" for cell in cells)
        table.add_row(str(patient), *names, f"{seconds:.1f}")
    console = Console()
    console.print(table)
    console.print(
        f"{bits} bits counted by {server.program(circuit).bootstraps} bootstraps; "
        f"{len(query)} bytes up, {len(answer)} down; accuracy of these streams on "
        f"{len(features)} patients {np.mean(malignant != benign):.3f}, of floating point "
        f"{np.mean((model.predict(features) > 0.5) == benign):.3f}",
        highlight=False,
    )


if __name__ == "__main__":
    main()
