"""Writes vectors/bits.json: encrypted bits of the scheme tfhe, as they travel.

The tests decrypt them with hesc and with the second implementation. Run: python -m
scripts.bit_vectors
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import hesc
from hesc import gates

TARGET = Path(__file__).parents[1] / "vectors" / "bits.json"
# The format is that of the secure set, at an eighth of the size.
PRESET = "insecure_tfhe_512"


def main() -> None:
    """Fresh bits, a sum of two arrays, and a circuit's answer."""
    params = hesc.Params.preset(PRESET)
    secret, public = hesc.keygen(params, bootstrapping=True)
    a, b = np.random.default_rng(2026).integers(0, 2, (2, 3, 100))
    left, right = gates.encrypt_bits(public, a), gates.encrypt_bits(public, b)
    server = gates.Evaluator(public)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "secret"
        secret.save(path)
        parts = {
            "params": params.to_bytes(),
            "secret": path.read_bytes(),
            "public": public.public.to_bytes(),
            "fresh": left.to_bytes(),
            "sum": (left ^ right).to_bytes(),
            "conjunction": server.pack(server.gate("AND", left, right)).to_bytes(),
            "answer": server.answer(server.gate("AND", left, right)).to_bytes(),
        }
    stored = {name: base64.b64encode(data).decode() for name, data in parts.items()}
    TARGET.write_text(
        json.dumps({"preset": PRESET, "a": a.tolist(), "b": b.tolist(), **stored}) + "\n"
    )


if __name__ == "__main__":
    main()
